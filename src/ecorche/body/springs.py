"""Muscles and skin of a body as masses on springs, compiled.

Text 004, 3.3. Masses are on the vertices of the skin and of the muscles' surfaces. A vertex of the skin has
springs to its neighbours and to muscles and bones below it; one of a muscle to its neighbours, to the skin,
and to where the muscle is without dynamics. The skin without dynamics, whatever it is bound by, is its rest.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ecorche.body.bone_points import BonePoints
from ecorche.body.ecorche_surfaces import EcorcheSurfaces
from ecorche.body.frames import PointSet
from ecorche.dynamics.springs import Springs
from ecorche.skin.delta_transfer import DeltaTransfer

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Blow:
    """A force on some of the skin for a while.

    Attributes:
        points: On which of the masses, (n,).
        forces: On each at its strongest [N], (n, 3).
        start, seconds: When it begins and how long it takes [s].
    """

    points: Ints
    forces: Floats
    start: float
    seconds: float

    def mean(self, begin: float, end: float) -> float:
        """How strong it is on average from one time to another, of its strongest: sin π t between 0 and 1."""
        a, b = (np.clip((t - self.start) / self.seconds, 0.0, 1.0) for t in (begin, end))
        return float((np.cos(np.pi * a) - np.cos(np.pi * b)) / np.pi * self.seconds / (end - begin))


@dataclass(frozen=True, eq=False)
class Ball:
    """A ball that moves.

    Attributes:
        radius: [m].
        times: Of its keys [s], (K,).
        places: Of its centre [m], (K, 3).
    """

    radius: float
    times: Floats
    places: Floats

    def at(self, time: float) -> Floats:
        """Where its centre is [m], (3,)."""
        if len(self.times) == 1:
            return np.asarray(self.places[0])
        from scipy.interpolate import CubicSpline

        # it comes from rest and comes to rest, so that what holds before and after goes on smoothly
        curve = CubicSpline(self.times, self.places, bc_type=((1, np.zeros(3)), (1, np.zeros(3))))
        return np.asarray(curve(np.clip(time, self.times[0], self.times[-1])))


@dataclass(frozen=True, eq=False, repr=False)
class BodySprings:
    """All masses and springs of a body; constant over time.

    Points are in the order skin, muscles, bones.

    Attributes:
        springs: Between all points.
        bind: Places of all points at bind [m], (N, 3).
        mesh: Number of the mesh that is the body.
        follows: How much each vertex of it goes with each mass on skin, (vertices, skin): with one, which
            vertices in one place share, or with a few around it, where masses stand for patches.
        first: A vertex for each of these masses, (skin,).
        surfaces: The muscles' surfaces; None for a body without.
        thinner: What takes the points of those surfaces to where masses are; None leaves them.
        bones: The points of bones that have a spring.
        muscle: Number of each muscle point's muscle, (muscles,).
        tension: How many times as stiff a muscle is at full activation.
        contact: How stiff each point is against balls [N/m], (N,).
        blows, balls: What comes from outside.
        shown: How much of the motion is shown.
        garments: For every mesh, how it follows the body's skin; None for the body and what stands still.
        notes: A sentence each.
    """

    springs: Springs
    bind: Floats
    mesh: int
    follows: sparse.csr_matrix
    first: Ints
    surfaces: EcorcheSurfaces | None
    thinner: sparse.csr_matrix | None
    bones: BonePoints
    muscle: Ints
    tension: float
    contact: Floats
    blows: tuple[Blow, ...]
    balls: tuple[Ball, ...]
    shown: float
    garments: tuple[DeltaTransfer | None, ...]
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return (
            f"BodySprings({len(self.first)} masses on skin, {len(self.muscle)} on muscles,"
            f" {self.springs.spring_count} springs)"
        )

    def places(self, skin: PointSet, moved: Floats, beneath: Floats | None) -> Floats:
        """Where all points are without dynamics [m], (N, 3).

        Args:
            skin: The body's mesh [m], (vertices, 3).
            moved: ``M − I`` of the joints, (joints, 4, 4).
            beneath: Points of the muscles' surfaces [m]; None for a body without.
        """
        muscles = np.zeros((0, 3)) if beneath is None else beneath.astype(np.float64)
        if self.thinner is not None:
            muscles = self.thinner @ muscles
        return np.concatenate([skin[self.first].astype(np.float64), muscles, self.bones.posed(moved)])

    def stiffening(self, activation: Floats | None) -> Floats:
        """How many times as stiff each point is held as at rest, of the muscles' activation (M,), (N,)."""
        result = np.ones(len(self.bind))
        if activation is not None and len(self.muscle):
            own = slice(len(self.first), len(self.first) + len(self.muscle))
            result[own] += (self.tension - 1.0) * np.clip(activation[self.muscle], 0.0, 1.0)
        return result

    def displaced(self, points: tuple[PointSet, ...], offsets: Floats) -> tuple[PointSet, ...]:
        """Points of every mesh [m] whose skin goes with its masses.

        Args:
            points: Of every mesh without dynamics, each (vertices, 3).
            offsets: Of all masses from where they are without [m], (N, 3).
        """
        deltas = (self.shown * self.on_skin(offsets)).astype(np.float32)
        result = list(points)
        for number, garment in enumerate(self.garments):
            if garment is not None:
                result[number] = garment.apply(deltas, points[number])
        result[self.mesh] = points[self.mesh] + deltas
        return tuple(result)

    def on_skin(self, offsets: Floats) -> Floats:
        """How far each vertex of the body's mesh goes with offsets of all masses [m], (vertices, 3)."""
        return np.asarray(self.follows @ offsets[: len(self.first)])

    def feed(self, update: Callable[[bytes], object]) -> None:
        """Give everything that the springs depend on to a hash, so that a bake knows its own."""
        springs = self.springs
        for array in (
            springs.masses,
            springs.pairs,
            springs.stiffness,
            springs.damping,
            springs.own_stiffness,
            springs.own_damping,
            self.bind,
            self.contact,
            self.follows.indices,
            self.follows.data,
        ):
            update(np.ascontiguousarray(array).tobytes())
        update(repr((self.tension, self.shown)).encode())
        for blow in self.blows:
            update(blow.points.tobytes() + blow.forces.tobytes() + repr((blow.start, blow.seconds)).encode())
        for ball in self.balls:
            update(ball.times.tobytes() + ball.places.tobytes() + repr(ball.radius).encode())
