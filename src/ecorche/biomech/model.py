"""What inverse kinematics, dynamics and tensions ask of a musculoskeletal model, whoever wrote its file.

Text 004, section 3.1: a skeleton with masses, muscles on paths through points fixed to bones, and what holds
passively, tendons and ligaments. A model here is a thing that answers questions about one pose `q`:

    model = OpensimModel("subject.osim")            # or MujocoModel("body.xml")
    q = model.defaults()                            # (coordinates,), rad or m
    model.marker_positions(q)                       # (markers, 3), m
    model.moment_arms(q)                            # (muscles, coordinates)

`q` has a number for each coordinate that is free to move by itself. A joint that follows others (a knee cap,
the parts of a shoulder) has none: it is put where it belongs, and what acts on it acts on those it follows.

Frames: all places and forces are in the model's own ground frame, metres and newtons; OpenSim's is +Y up,
MuJoCo's +Z up. A moment arm is minus the derivative of a path's length, so a muscle that pulls with force F
turns the coordinate by arm times F: N m for a turn [m], N for a shift [no unit].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from ecorche.base.names import listed, suggestion
from ecorche.biomech.muscle_state import MuscleState
from ecorche.errors import EcorcheError, MotionError

Floats = npt.NDArray[np.float64]
Unit = Literal["rad", "m"]

LEAST_MASS = 1e-6
"""A model all of whose bodies weigh less [kg] together has no masses."""


@dataclass(frozen=True)
class Coordinate:
    """A degree of freedom that moves by itself.

    Attributes:
        name: Unique in the model.
        unit: ``"rad"`` of a turn, ``"m"`` of a shift.
        low, high: Its range [unit]; infinite where the model names none.
        default: Where it stands by itself [unit].
        locked: Whether it stays there.
    """

    name: str
    unit: Unit
    low: float
    high: float
    default: float
    locked: bool = False


@dataclass(frozen=True)
class Body:
    """A rigid part.

    Attributes:
        name: Unique in the model.
        mass: [kg].
        centre_of_mass: In the body's frame [m].
        parent: The body it hangs on; None if that is the ground.
    """

    name: str
    mass: float
    centre_of_mass: tuple[float, float, float]
    parent: str | None = None


@dataclass(frozen=True)
class Marker:
    """A point on a body that a camera sees.

    Attributes:
        name: Unique in the model.
        body: The body it is on.
        place: In the body's frame [m].
    """

    name: str
    body: str
    place: tuple[float, float, float]


@dataclass(frozen=True)
class Muscle:
    """What a muscle can do; where it runs is asked of the model.

    Attributes:
        name: Unique in the model.
        max_force: Isometric, at optimal length [N].
        optimal_fibre_length: [m].
        tendon_slack_length: [m]; below 0 in MuJoCo models whose curves leave no room for a tendon.
        pennation: Of the fibres at optimal length [rad]; 0 where the model knows none.
        max_velocity: Of contraction [optimal fibre lengths per second].
    """

    name: str
    max_force: float
    optimal_fibre_length: float
    tendon_slack_length: float
    pennation: float
    max_velocity: float


@dataclass(frozen=True)
class PassivePath:
    """A ligament, or a tendon that no muscle pulls.

    Attributes:
        name: Unique among passive paths.
        kind: What it is.
        rest_length: Where it begins to pull [m].
    """

    name: str
    kind: Literal["ligament", "tendon"]
    rest_length: float


@dataclass(frozen=True, eq=False)
class PathPoints:
    """Where a path runs in one pose.

    Attributes:
        points: In the ground's frame [m], (points, 3), origin first; where it leaves or touches a surface
            that it wraps round, that is a point too.
        bodies: The body that each point lies on.
    """

    points: Floats
    bodies: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class ExternalForce:
    """What the world does to a body, at one time, in the ground's frame.

    Attributes:
        body: By name.
        force: [N], (3,).
        point: Where it acts [m], (3,).
        moment: A free moment besides [N m], (3,).
    """

    body: str
    force: Floats
    point: Floats
    moment: Floats


@runtime_checkable
class MusculoskeletalModel(Protocol):
    """A body with coordinates, markers and muscles; see the head of this file for units and frames."""

    @property
    def name(self) -> str:
        """Of the model, for messages."""

    @property
    def coordinates(self) -> tuple[Coordinate, ...]:
        """What `q` holds, in its order."""

    @property
    def root(self) -> tuple[str, ...]:
        """Names of the six coordinates by which the body floats; none of a body fixed to the ground."""

    @property
    def bodies(self) -> tuple[Body, ...]:
        """All but the ground."""

    @property
    def markers(self) -> tuple[Marker, ...]:
        """In the order of `marker_positions`."""

    @property
    def muscles(self) -> tuple[Muscle, ...]:
        """In the order of `muscle_lengths`."""

    @property
    def passive_paths(self) -> tuple[PassivePath, ...]:
        """Ligaments, and tendons without a muscle."""

    @property
    def gravity(self) -> tuple[float, float, float]:
        """In the ground's frame [m/s²]."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What the file holds and the model does not."""

    def defaults(self) -> Floats:
        """The model's own pose, (coordinates,)."""

    def marker_positions(self, q: Floats) -> Floats:
        """Where markers are [m], (markers, 3)."""

    def marker_jacobian(self, q: Floats) -> Floats:
        """Derivative of the marker positions, (markers, 3, coordinates)."""

    def muscle_lengths(self, q: Floats) -> Floats:
        """Lengths of muscles with their tendons [m], (muscles,)."""

    def moment_arms(self, q: Floats) -> Floats:
        """Of muscles about coordinates [m or 1], (muscles, coordinates)."""

    def passive_lengths(self, q: Floats) -> Floats:
        """Lengths of passive paths [m], (passive paths,)."""

    def passive_moment_arms(self, q: Floats) -> Floats:
        """Of passive paths about coordinates [m or 1], (passive paths, coordinates)."""

    def passive_moments(self, q: Floats, qd: Floats) -> Floats:
        """What holds without a muscle does to the coordinates [N m or N], (coordinates,).

        Ligaments and tendons that no muscle pulls, by the model's own force–length curve or stiffness;
        cartilage, as bushings and springs between bones; springs, dampers and limits of coordinates.
        """

    def muscle_paths(self, q: Floats) -> dict[str, PathPoints]:
        """Where muscles run, by name."""

    def passive_path_points(self, q: Floats) -> dict[str, PathPoints]:
        """Where ligaments and passive tendons run, by name."""

    def body_transforms(self, q: Floats) -> Floats:
        """``ground_from_body`` of each body, (bodies, 4, 4)."""

    def inverse_dynamics(
        self, q: Floats, qd: Floats, qdd: Floats, external_forces: Sequence[ExternalForce] = ()
    ) -> Floats:
        """Forces of the coordinates [N m or N], (coordinates,), that give speeds qd and accelerations qdd.

        Gravity and the external forces are taken into account. Muscles, ligaments, springs, dampers, limits
        and contacts are not: what they do is part of the answer.
        """


@runtime_checkable
class OwnMuscleCurves(Protocol):
    """A model whose file says what its muscles can do at a length and speed, without a tendon of Hill's."""

    def muscle_state(self, lengths: Floats, speeds: Floats) -> MuscleState:
        """At lengths and speeds of paths [m, m/s], (..., muscles)."""


def upright_from(model: MusculoskeletalModel) -> Floats:
    """What turns the model's ground frame to +Y up, (3, 3), by the smallest turn, if it has gravity."""
    pull = float(np.linalg.norm(model.gravity))
    up = -np.asarray(model.gravity) / pull if pull > 0.0 else np.array([0.0, 1.0, 0.0])
    axis = np.cross(up, [0.0, 1.0, 0.0])
    if np.linalg.norm(axis) > 1e-12:
        x = np.array([[0.0, -axis[2], axis[1]], [axis[2], 0.0, -axis[0]], [-axis[1], axis[0], 0.0]])
        return np.asarray(np.eye(3) + x + x @ x / (1.0 + up[1]))
    return np.diag([1.0, -1.0, -1.0]) if up[1] < 0.0 else np.eye(3)


def checked_pose(model: MusculoskeletalModel, q: npt.ArrayLike, what: str = "pose") -> Floats:
    """Numbers for all coordinates, (coordinates,), finite, or one clear message."""
    values = np.asarray(q, np.float64)
    count = len(model.coordinates)
    if values.shape != (count,):
        raise MotionError(
            f"a {what} of shape {values.shape} for {count} coordinates",
            where=model.name,
            remedy=f"Give {count} numbers, in the order of the model's coordinates",
        )
    if not np.isfinite(values).all():
        bad = [c.name for c, value in zip(model.coordinates, values, strict=True) if not np.isfinite(value)]
        raise MotionError(
            f"the {what} has no number for {listed(bad, 5)}",
            where=model.name,
            remedy="Fill the gap first, or leave this frame out",
        )
    return values


def require_masses(model: MusculoskeletalModel) -> None:
    """Refuse dynamics of a model that weighs nothing."""
    if not sum(body.mass for body in model.bodies) > LEAST_MASS:
        raise EcorcheError(
            "no body of the model has a mass, so there are no joint moments",
            where=model.name,
            remedy="Give its bodies masses and inertias, or scale a model that has them",
        )


def index_of(name: str, known: Sequence[str], what: str, where: str) -> int:
    """The number of a name, or a message with the nearest one."""
    if name not in known:
        raise EcorcheError(f"there is no {what} {name!r}", where=where, remedy=suggestion(name, known))
    return list(known).index(name)
