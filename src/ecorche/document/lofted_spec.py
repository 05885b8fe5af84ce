"""What a rig file says about muscles found in the skin, field by field. Metres, degrees and newtons."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from ecorche.document.fields import Degrees, Direction, MapName, Positive, Spec, Vector, refusal
from ecorche.document.muscle_spec import ActionSpec, PathPointSpec, require_two_joints

Inside = Annotated[float, Field(gt=0.0, lt=1.0)]
"""A share of a muscle's length, neither end."""


class WrapSpec(Spec):
    """What a muscle bends round: a sphere at a hinge, a ball in its socket, or a cylinder along a bone."""

    shape: Literal["sphere", "cylinder", "ball"]
    """Round a ball it takes the shorter way, as a shoulder or hip turns every way."""
    joint: str
    """The joint it moves with; of a ball the one its socket is in."""
    centre: Vector
    """Its centre, or a point of its axis, in that joint's own frame [m]."""
    axis: Direction
    """In world axes at bind: from origin to insertion the muscle goes round it right-handed. The opposite
    direction is the other side."""
    radius: Positive
    """Of the sphere, ball or cylinder [m]."""


class RingSpec(Spec):
    """An elliptic section of a muscle."""

    u: Inside
    """Where it lies, as a share of the length from the origin."""
    centre: tuple[float, float] = (0.0, 0.0)
    """Of the ellipse, off the line from origin to insertion: outwards and sideways [m]."""
    half_axes: tuple[Positive, Positive]
    """Both half-axes [m]."""
    angle: Degrees = 0.0
    """Of the first half-axis, from outwards towards sideways."""


def _require_rising(rings: tuple[RingSpec, ...]) -> tuple[RingSpec, ...]:
    for row, (one, next_one) in enumerate(pairwise(rings)):
        if one.u >= next_one.u:
            raise refusal(
                f"the rings {row} and {row + 1} lie at {one.u:g} and {next_one.u:g}: they have to follow"
                " each other from the origin to the insertion",
                "Order them by u, each once",
                place=(row + 1, "u"),
            )
    return rings


class LoftedInfluenceSpec(Spec):
    """Which part of the skin a muscle found in it moves."""

    joints: tuple[str, ...] = ()
    """The joints whose skin it may move."""
    painted: MapName | None = None
    """A map of weights, 0 to 1, that takes the place of those found; see `maps`."""


class LoftedMuscleSpec(Spec):
    """A muscle found in the skin: ellipses along a line that bends round a joint or a bone."""

    muscle: str = ""
    """What it is a part of, such as "biceps brachii"."""
    group: str = ""
    """What it is one of; gains are given by group."""
    path: Annotated[tuple[PathPointSpec, PathPointSpec], AfterValidator(require_two_joints)]
    """Origin and insertion."""
    wrap: WrapSpec | None = None
    """What it bends round; None where it is straight."""
    outward: Direction
    """Towards the skin at bind, in world axes, before it is made perpendicular to the line."""
    rings: Annotated[tuple[RingSpec, ...], Field(min_length=1), AfterValidator(_require_rising)]
    """Its sections, from the origin on; beyond the first and the last it tapers to its ends."""
    crossing: Inside = 0.5
    """Where along it the joint lies that it crosses: there the skin gives way when its length changes."""
    joins: str | None = None
    """The muscle it branches from."""
    prominence: Annotated[float, Field(ge=0.0)] = 0.0
    """How far the skin over it stands out [m]; 0 where nobody measured it."""
    largest_bulge: Annotated[float, Field(ge=1.0, le=3.0)] = 1.15
    """The bulge at full activation; 1 does not bulge."""
    max_force: Annotated[float, Field(ge=0.0)] = 0.0
    """The force at full activation [N]."""
    influence: LoftedInfluenceSpec = LoftedInfluenceSpec()
    """Which skin it moves."""
    actions: tuple[ActionSpec, ...] = ()
    """What it does to joints, strongest first."""
