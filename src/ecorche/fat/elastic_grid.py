"""Fat as an elastic solid: voxels on a grid, some of whose nodes are held; the others move freely.

Thesis, 5.4. Displacements are measured in a frame that goes with the body, so that numbers stay small however
far it walks, and what the frame does acts as inertia. Forces are those of `voxel_forces`, time passes in
`explicit_steps`.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecorche.errors import EcorcheError
from ecorche.fat.elasticity import Tissue
from ecorche.fat.explicit_steps import stable_step, take_steps
from ecorche.fat.grid_layout import GridLayout
from ecorche.fat.voxel_forces import add_forces
from ecorche.fat.voxel_volumes import voxel_corners, voxel_volumes

Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]

_HALVINGS = 6
"""How often a step is halved that turns out too long: a solid that is pressed hard gets stiffer."""
_TOLERANCE = 1e-3
"""Of the search for the fastest mode, relative."""


@dataclass(frozen=True)
class FrameMotion:
    """How the frame moves that displacements are measured in, at one moment; all vectors in its own axes.

    Attributes:
        acceleration: Of its origin, less the gravity that acts, [m/s²], (3,).
        turning: Angular velocity [rad/s], (3,).
        turning_faster: Angular acceleration [rad/s²], (3,).
    """

    acceleration: Doubles
    turning: Doubles
    turning_faster: Doubles

    @property
    def row(self) -> Doubles:
        """The three in a row, (9,)."""
        return np.concatenate([self.acceleration, self.turning, self.turning_faster])


class ElasticGrid:
    """Voxels of one or several tissues, and the state of their nodes.

    Args:
        voxels: Which are there, (X, Y, Z).
        size: Of a voxel's edge h [m].
        tissue: What they are made of.
        held: Which nodes are moved from outside, (X + 1, Y + 1, Z + 1); the others are free.
        corner: Where node (0, 0, 0) lies in the body's frame [m], (3,).
        stiffness: Young's modulus of each voxel as a share of the tissue's, (X, Y, Z); None: 1.

    Attributes:
        places: Grid numbers of the nodes there are, (nodes, 3), in order.
        rest: Where they lie [m], (nodes, 3).
        held: Which of them are held, (nodes,).
        masses: Of them [kg], (nodes,).
        stiffness: Of each voxel as a share of the tissue's, 0 where there is none, (X, Y, Z).
        step: The time step that is stable [s].
    """

    def __init__(
        self,
        voxels: npt.NDArray[np.bool_],
        size: float,
        tissue: Tissue,
        held: npt.NDArray[np.bool_],
        *,
        corner: npt.ArrayLike = (0.0, 0.0, 0.0),
        stiffness: npt.ArrayLike | None = None,
    ) -> None:
        alive = np.asarray(voxels, np.bool_)
        if alive.ndim != 3 or not alive.any():
            raise EcorcheError("there is no voxel", where="fat", remedy="Choose smaller ones, or more fat")
        if not size > 0.0:
            raise EcorcheError(f"voxels measure {size:g} m", where="fat", remedy="Give some 0.01 m")
        shape = tuple(n + 1 for n in alive.shape)
        if held.shape != shape:
            raise EcorcheError(
                f"held nodes of shape {held.shape} do not fit voxels of {alive.shape}",
                where="fat",
                remedy=f"Give shape {shape}",
            )
        self.voxels, self.size, self.tissue = alive, float(size), tissue
        self._layout = layout = GridLayout(alive)
        share = np.ones(alive.shape) if stiffness is None else np.broadcast_to(stiffness, alive.shape)
        self.stiffness = np.where(alive, share, 0.0)
        self._shear = layout.spread(tissue.shear * size / 16.0 * self.stiffness)
        self._bulk = layout.spread((tissue.bulk + tissue.shear) * size / 16.0 * self.stiffness)
        mass = np.zeros(shape)
        for i, j, k in np.ndindex(2, 2, 2):
            mass[i : i + alive.shape[0], j : j + alive.shape[1], k : k + alive.shape[2]] += alive
        self.places = layout.places
        self._corners = voxel_corners(alive, layout.places)
        self.masses = tissue.density * size**3 / 8.0 * mass[tuple(self.places.T)]
        self.rest = np.asarray(corner, np.float64) + size * self.places
        self.held = held[tuple(self.places.T)]
        self._free = layout.flat[~self.held]
        self._inverse = np.zeros(layout.whole, np.float32)
        self._inverse[self._free] = 1.0 / self.masses[~self.held]
        self._rest = layout.vectors(self.rest)
        self.displacement, self.velocity = (np.zeros(3 * layout.whole, np.float32) for _ in range(2))
        self._outside, self._room = np.zeros_like(self.velocity), np.zeros(alive.shape)
        self._memory = tuple(np.zeros_like(self.velocity) for _ in range(4))
        self._touching, self._planes = np.zeros(0, np.int32), np.zeros((0, 5), np.float32)
        self.step = self._stable_step()

    def __repr__(self) -> str:
        return (
            f"ElasticGrid({len(self.rest)} nodes, {int(self.held.sum())} held, step {1e3 * self.step:.3f} ms)"
        )

    def at_rest(self) -> ElasticGrid:
        """The same solid with a state of its own, at rest."""
        other = copy.copy(self)
        other.displacement, other.velocity = np.zeros_like(self.displacement), np.zeros_like(self.velocity)
        other._outside, other._room = np.zeros_like(self.velocity), np.zeros_like(self._room)
        other._memory = tuple(np.zeros_like(self.velocity) for _ in range(4))
        other._touching, other._planes = np.zeros(0, np.int32), np.zeros((0, 5), np.float32)
        return other

    @property
    def displacements(self) -> Doubles:
        """Of the nodes from rest [m], (nodes, 3)."""
        return self._layout.of_nodes(self.displacement)

    @property
    def velocities(self) -> Doubles:
        """Of the nodes [m/s], (nodes, 3)."""
        return self._layout.of_nodes(self.velocity)

    def displace(self, displacements: npt.ArrayLike, velocities: npt.ArrayLike | None = None) -> None:
        """Put all nodes somewhere, (nodes, 3) [m], with velocities [m/s], at rest where none are given."""
        self._layout.vectors(displacements, self.displacement)
        self._layout.vectors(
            np.zeros((len(self.rest), 3)) if velocities is None else velocities, self.velocity
        )

    def push(self, forces: npt.ArrayLike) -> None:
        """Let forces from outside act on the nodes [N], (nodes, 3), until others do."""
        self._layout.vectors(forces, self._outside)

    def grown_in(self, shape: npt.ArrayLike) -> Doubles:
        """By how much voxels are larger than at rest in a shape, displaced from it [m], (nodes, 3), (V,).

        A share of their size; 0 of those that are smaller, and less than 1.
        """
        grown = np.maximum(self._volumes(np.asarray(shape, np.float64)) - 1.0, 0.0)
        return np.asarray(grown / np.sqrt(np.sqrt(1.0 + np.square(grown * grown))))

    def fill(self, grown: Doubles) -> None:
        """Let voxels hold so much more than at rest, a share of their size, (V,), until they hold other."""
        self._room[self.voxels] = grown

    def meet(self, nodes: npt.ArrayLike, ways: npt.ArrayLike, stiffness: npt.ArrayLike) -> None:
        """Let nodes be pressed by something that does not move, until something else does.

        Args:
            nodes: Their numbers, (T,).
            ways: How far they must go from where they are now to be out of it [m], (T, 3).
            stiffness: Force on each by the way that is missing [N/m], (T,).
        """
        chosen, way = np.asarray(nodes, np.int64), np.asarray(ways, np.float64).reshape(-1, 3)
        far = np.linalg.norm(way, axis=1)
        unit = way / np.maximum(far, 1e-12)[:, None]
        goal = far + np.sum(unit * self.displacements[chosen], axis=1)
        out = self._layout.turned(unit).reshape(-1, 3)
        self._touching = self._layout.flat[chosen]
        self._planes = np.column_stack([out, goal, stiffness]).astype(np.float32)

    def forces(self) -> Doubles:
        """Elastic forces on the nodes where they are now [N], (nodes, 3)."""
        return self._layout.of_nodes(self._elastic(self.displacement))

    def energy(self) -> float:
        """Elastic energy of the nodes' displacements [J], as `voxel_forces` has it."""
        terms = self._terms() / self.size
        gradient = 2.0 * np.stack([terms[4], terms[2], terms[1]], axis=-1)[self.voxels]
        deformation = gradient + np.eye(3)
        swelling = np.linalg.det(deformation) - 1.0
        bent = (8.0 / 3.0) * (terms[3] ** 2 + terms[5] ** 2 + terms[6] ** 2) + (4.0 / 3.0) * terms[7] ** 2
        squares = (deformation**2).sum(axis=(1, 2)) - 3.0 + bent.sum(axis=-1)[self.voxels]
        stiff = self.stiffness[self.voxels]
        shear, bulk = stiff * self.tissue.shear, stiff * (self.tissue.bulk + self.tissue.shear)
        drawn = (deformation**2).sum(axis=(1, 2)) - 3.0 - 2.0 * swelling
        pressed = (1.0 + swelling) / (1.0 + self._room[self.voxels]) - 1.0
        dense = 0.5 * shear * squares - shear * swelling + 0.5 * bulk * pressed**2
        dense += 0.25 * self.tissue.stiffening * shear * drawn**2
        return float(self.size**3 * dense.sum())

    def kinetic_energy(self) -> float:
        """Of the free nodes, in the body's frame [J]."""
        free = ~self.held
        return float(0.5 * (self.masses[free, None] * self.velocities[free] ** 2).sum())

    def volume(self) -> float:
        """Of all voxels as they are now, each by the gradient at its middle [m³]."""
        return float(self.size**3 * self._volumes(self.displacements).sum())

    def _volumes(self, displacements: Doubles) -> Doubles:
        """Of the voxels there are, as shares of those at rest, of nodes displaced so [m], (nodes, 3)."""
        return np.asarray(voxel_volumes(self._corners, np.ascontiguousarray(displacements), self.size))

    def _terms(self) -> Doubles:
        """The terms c_s of `voxel_forces` of all voxels' displacements [m], (8, X, Y, Z, 3)."""
        values = np.zeros((1, *(n + 1 for n in self.voxels.shape), 3))
        values[(0, *self.places.T)] = self.displacements
        for axis in (3, 2, 1):
            before, after = (np.take(values, range(f, values.shape[axis] - 1 + f), axis) for f in (0, 1))
            values = np.stack([before + after, after - before], axis=1).reshape(-1, *before.shape[1:])
        return values[[0, 4, 2, 6, 1, 5, 3, 7]] / 8.0

    def _solid(
        self, bulk: Floats | None = None
    ) -> tuple[Ints, int, int, int, float, float, Floats, Floats, Floats]:
        """What kernels ask for first."""
        at, room = self._layout, self._layout.spread(self._room)
        # what has grown is pressed over a longer way, or its waves were too fast for the step
        bulk = (self._bulk if bulk is None else bulk) / (np.float32(1.0) + room) ** 2
        stiffening = float(self.tissue.stiffening)
        return at.voxel_runs, at.row, at.slab, at.whole, self.size, stiffening, self._shear, bulk, room

    def _elastic(self, displacement: Floats, bulk: Floats | None = None) -> Floats:
        near, far = np.zeros_like(displacement), np.zeros_like(displacement)
        add_forces(*self._solid(bulk), displacement, displacement, near, far)
        return near + far

    def _stable_step(self) -> float:
        """From the fastest modes of the free nodes, with and without pressure."""
        if not len(self._free):
            return np.inf
        # viscosity is that of a solid without λ
        whole, shear = self._fastest(self._bulk), self._fastest(self._shear)
        return stable_step(whole, shear, self.tissue.viscosity)

    def _fastest(self, bulk: Floats) -> float:
        """The largest angular frequency ω [rad/s] of the free nodes."""
        from scipy.sparse.linalg import LinearOperator, eigsh

        free, lightness = self._free, np.sqrt(self._inverse[self._free].astype(np.float64))
        small = 1e-4 * self.size  # so that the forces are linear

        def pulled(mode: Doubles) -> Doubles:
            moved = np.zeros((3, self._layout.whole), np.float32)
            moved[:, free] = small * mode.reshape(3, -1) * lightness / lightness.max()
            force = self._elastic(moved.ravel(), bulk).reshape(3, -1)[:, free]
            return np.asarray(-force * (lightness * lightness.max() / small)).ravel()

        count = 3 * len(free)
        operator = LinearOperator((count, count), pulled, dtype=np.float64)
        start = np.random.default_rng(0).normal(size=count)
        largest = eigsh(operator, 1, which="LA", v0=start, tol=_TOLERANCE, return_eigenvectors=False)
        return float(np.sqrt(largest[0] * (1.0 + 2.0 * _TOLERANCE)))

    def advance(
        self,
        seconds: float,
        *,
        motion: FrameMotion | None = None,
        held_to: npt.ArrayLike | None = None,
        step: float | None = None,
        drag: float = 0.0,
    ) -> int:
        """Let time pass; returns how many steps were taken.

        Args:
            seconds: How long.
            motion: Of the frame, constant over this time; None stands still without gravity.
            held_to: Where held nodes are at the end [m from rest], (held, 3); they go there evenly.
            step: Another largest step than the stable one [s].
            drag: What share of their velocity in the frame free nodes lose [1/s]: none, but to settle.
        """
        row = np.zeros((1, 9)) if motion is None else motion.row[None]
        goal = self.displacements[self.held] if held_to is None else held_to
        goals = np.asarray(goal, np.float64).reshape(1, -1, 3)
        return self.advance_through(seconds, row, goals, np.full(1, drag), step=step)

    def advance_through(
        self,
        seconds: float,
        motions: Doubles,
        held_to: Doubles,
        drag: Doubles,
        *,
        step: float | None = None,
    ) -> int:
        """Let P equal pieces of time pass; returns how many steps were taken.

        Args:
            seconds: How long, all together.
            motions: Of the frame in each piece, as `FrameMotion.row`, (P, 9).
            held_to: Where held nodes are at the end of each [m from rest], (P, held, 3).
            drag: In each, see `advance`, (P,).
            step: Another largest step than the stable one [s].
        """
        layout, largest = self._layout, self.step if step is None else step
        piece = seconds / len(motions)
        count = max(1, int(np.ceil(piece / largest - 1e-9)))
        rows = layout.turned(motions.reshape(-1, 3, 3)).reshape(-1, 9)
        goals = layout.turned(held_to).reshape(*held_to.shape).swapaxes(1, 2)
        before = self.displacement.copy(), self.velocity.copy()
        for _ in range(_HALVINGS + 1):
            fine = take_steps(
                self._solid(),
                layout.node_runs,
                layout.flat[self.held],
                np.ascontiguousarray(goals),
                self._inverse,
                self._rest,
                self._outside,
                self._touching,
                self._planes,
                rows,
                np.float32(self.tissue.viscosity),
                drag.astype(np.float32),
                np.float32(piece / count),
                count,
                self.displacement,
                self.velocity,
                *self._memory,
            )
            if fine:
                return count * len(motions)
            self.displacement[:], self.velocity[:] = before
            count *= 2
        raise EcorcheError(
            f"the solid flies apart even at a step of {500.0 * piece / count:.3g} ms",
            where="fat",
            remedy="Move what holds it less suddenly, or give it a stiffer tissue",
        )
