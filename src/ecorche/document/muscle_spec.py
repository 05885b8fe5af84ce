"""What a rig file says about muscles, field by field. Metres, degrees and newtons.

What cannot be a muscle is refused here already, with its field and what mends it: the code that moves
muscles knows numbers, not names.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Annotated, Literal, TypeVar

from pydantic import AfterValidator, Field, ValidationInfo, field_validator

from ecorche.document.fields import Degrees, Direction, MapName, Positive, Share, Spec, Vector, refusal

JOIN_TOLERANCE = 1e-6
"""How far the two halves of a curve may miss each other at the belly, as a part of the largest control
value; the spindles themselves ask for the same."""

HalfAxis = Annotated[float, Field(ge=0.0)]
HalfCurve = tuple[HalfAxis, HalfAxis, HalfAxis, HalfAxis]
"""Four control values of one half of a muscle, from its origin's side to its insertion's."""
Offset = tuple[float, float]
HalfSweep = tuple[Offset, Offset, Offset, Offset]
Name = Annotated[str, Field(min_length=1)]


def _require_working_range(degrees: tuple[float, float]) -> tuple[float, float]:
    start, end = degrees
    if not (abs(start) < 180.0 and abs(end) < 180.0 and start != end):
        raise refusal(
            f"the range {start:g} to {end:g} degrees is empty or reaches half a turn",
            "Give two different angles between -180 and 180",
        )
    return degrees


class PathPointSpec(Spec):
    """A point of a muscle's path."""

    joint: str
    """The joint, or virtual scapula, it moves with."""
    at: Vector
    """Where it is at bind, in that joint's own frame [m]."""


AnyPath = TypeVar("AnyPath", bound=tuple[PathPointSpec, ...])


def require_two_joints(path: AnyPath) -> AnyPath:
    """A path that changes its length: its points move with two joints or more, no two are the same."""
    if len({point.joint for point in path}) == 1:
        raise refusal(
            f"both ends move with one joint, {path[0].joint!r}: the muscle would never change its length",
            "Attach one end to the bone it moves",
        )
    for row, (one, next_one) in enumerate(pairwise(path)):
        if one == next_one:
            raise refusal(
                f"the points {row} and {row + 1} are the same: nothing lies between them",
                "Move them apart, or take one out",
                place=(row + 1,),
            )
    return path


Path = Annotated[tuple[PathPointSpec, ...], Field(min_length=2), AfterValidator(require_two_joints)]


class ActionSpec(Spec):
    """A direction in which a muscle moves a joint: turning it that way makes the muscle work."""

    joint: str
    """The character's joint."""
    axis: Direction
    """What it turns about, in world axes at bind, right-handed."""
    degrees: Annotated[tuple[Degrees, Degrees], AfterValidator(_require_working_range)]
    """From bind: where the muscle begins to work, and where it works fully."""
    weight: Share = 1.0
    """How active it is then."""


class InfluenceSpec(Spec):
    """Which part of the skin a muscle moves, and how much."""

    neighbourhood: Literal["automatic", "fitted", "half_space", "radial"] = "automatic"
    """The vertices over the muscle, on its outer side, or round it; automatic takes what suits it."""
    weighting: Literal["binary", "spline"] = "spline"
    """All alike, or as much as the muscle is thick there."""
    radius: Positive | None = None
    """How far a radial neighbourhood reaches [m]; None is half as much again as the muscle."""
    joints: tuple[str, ...] = ()
    """The joints whose skin it may move."""
    painted: MapName | None = None
    """A map of weights, 0 to 1, that takes the place of those found; see `maps`."""


class MuscleSpec(Spec):
    """A muscle: a spindle on a path. Several of one flat or many-headed muscle share `muscle`."""

    muscle: str = ""
    """What it is a part of, such as "deltoid"."""
    group: str = ""
    """What it is one of, such as "elbow flexors"; gains are given by group."""
    path: Path
    """Origin, via points, insertion."""
    outward: Direction
    """Towards the skin at bind, in world axes: the direction in which it bulges, before it is made
    perpendicular to the path."""
    belly: Annotated[float, Field(gt=0.0, lt=1.0)] = 0.5
    """Where the two halves meet, as a share of the length from the origin."""
    scale: Positive = 1.0
    """Half-axis of the section towards the skin, over the one across; below 1 is flat."""
    thickness: tuple[HalfCurve, HalfCurve]
    """Control values of the half-axis across [m], from the origin to the belly and on to the insertion."""
    sweep: tuple[HalfSweep, HalfSweep] | None = None
    """Control offsets of the section's centre from the path, outwards and sideways [m]; None is none."""
    largest_bulge: Annotated[float, Field(ge=1.0, le=3.0)] = 1.3
    """The bulge at full activation; 1 does not bulge."""
    max_force: Annotated[float, Field(ge=0.0)] = 0.0
    """The force at full activation [N]."""
    force_source: str = ""
    """Where that force is from."""
    influence: InfluenceSpec = InfluenceSpec()
    """Which skin it moves."""
    actions: tuple[ActionSpec, ...] = ()
    """What it does to joints, strongest first."""

    @field_validator("thickness")
    @classmethod
    def _require_thickness(
        cls, halves: tuple[HalfCurve, HalfCurve], info: ValidationInfo
    ) -> tuple[HalfCurve, HalfCurve]:
        if halves[0][3] == 0.0:
            raise refusal("the belly has no thickness", "Give it one, in metres", place=(0, 3))
        _require_smooth_belly(halves[0], halves[1], info, max(map(max, halves)), ())
        return halves

    @field_validator("sweep")
    @classmethod
    def _require_sweep(
        cls, halves: tuple[HalfSweep, HalfSweep] | None, info: ValidationInfo
    ) -> tuple[HalfSweep, HalfSweep] | None:
        if halves is None:
            return None
        for half, end in ((0, 0), (1, 3)):
            if halves[half][end] != (0.0, 0.0):
                word = "origin" if half == 0 else "insertion"
                raise refusal(
                    f"the section's centre is off the {word}",
                    "Write [0.0, 0.0] there, and move the path's point instead",
                    place=(half, end),
                )
        largest = max(abs(value) for half in halves for offset in half for value in offset)
        for side in (0, 1):
            before, after = ([offset[side] for offset in half] for half in halves)
            _require_smooth_belly(before, after, info, largest, (side,))
        return halves


def _require_smooth_belly(
    before: Sequence[float],
    after: Sequence[float],
    info: ValidationInfo,
    largest: float,
    side: tuple[int, ...],
) -> None:
    """The halves of a curve meet at the belly, and run on there without a crease."""
    if abs(before[3] - after[0]) > JOIN_TOLERANCE * largest:
        raise refusal(
            f"the two halves do not meet at the belly: {before[3]:g} before it, {after[0]:g} after it",
            "Make the last value of the first half and the first of the second equal",
            place=(1, 0, *side),
        )
    belly = info.data.get("belly")
    if belly is None:  # refused already
        return
    slope = (before[3] - before[2]) / belly
    if abs(slope * (1.0 - belly) - (after[1] - after[0])) * belly > JOIN_TOLERANCE * largest:
        straight = after[0] + slope * (1.0 - belly)
        raise refusal(
            f"there is a crease at the belly: {after[1]:g} does not go on as the first half ends",
            f"Write {straight:.9g} there, or give the values beside the belly its own",
            place=(1, 1, *side),
        )
