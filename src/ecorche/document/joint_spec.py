"""What a rig file says about joints, field by field: how far they move, and shoulder blades a rig lacks."""

from __future__ import annotations

import math
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from ecorche.document.fields import Degrees, Direction, Spec, refusal


def _require_unit(q: tuple[float, float, float, float]) -> tuple[float, float, float, float]:
    length = math.hypot(*q)
    if abs(length - 1.0) > 1e-3:
        raise refusal(
            f"the quaternion has length {length:.4g}, not 1", "Divide its four numbers by that length"
        )
    return q


def _require_order(limits: tuple[float, float]) -> tuple[float, float]:
    if limits[0] > limits[1]:
        raise refusal(f"the least angle {limits[0]:g} exceeds the greatest {limits[1]:g}", "Exchange the two")
    return limits


def _require_key_order(key: tuple[float, float, float, float]) -> tuple[float, float, float, float]:
    _require_order((key[2], key[3]))
    return key


UnitQuaternion = Annotated[tuple[float, float, float, float], AfterValidator(_require_unit)]
"""A rotation as x, y, z, w."""
Polygon = Annotated[tuple[Direction, ...], Field(min_length=3)]
"""A loop of limb directions in the anatomical frame, z along the limb; the limb stays inside."""
Range = Annotated[tuple[Degrees, Degrees], AfterValidator(_require_order)]
"""The least and the greatest angle."""
Play = Annotated[float, Field(ge=0.0, le=180.0)]
TwistKey = Annotated[tuple[Degrees, Degrees, Degrees, Degrees], AfterValidator(_require_key_order)]
"""Swing x, swing y, least twist, greatest twist."""


class HingeLimits(Spec):
    """How far a hinge bends [degrees]."""

    range: Range
    play: Play = 0.0
    """How far the hinge's axis may tilt."""


class KneeLimits(Spec):
    """How far a knee bends, and how far it twists when bent [degrees]."""

    flexion: Range
    twist: Range
    narrowing: Annotated[float, Field(ge=0.0, le=180.0)] = 20.0
    """The twist range narrows to nothing over this last part of the extension."""
    play: Play = 0.0
    """How far it may tilt sideways, and twist beyond its range."""


class SwingLimits(Spec):
    """The directions a limb may point in."""

    polygon: Polygon
    play: Play = 0.0
    """How far it may twist nevertheless [degrees]."""


class BallLimits(Spec):
    """The directions a limb may point in, and how far it may twist in each."""

    polygon: Polygon
    twist_keys: Annotated[tuple[TwistKey, ...], Field(min_length=1)]
    """At swing (x, y) the twist may go from a least to a greatest angle, all in degrees."""


class _Joint(Spec):
    model: str
    anatomical_frame: UnitQuaternion = (0.0, 0.0, 0.0, 1.0)
    """Turns z into the limb's direction in the canonical pose, xyzw; a hinge turns about that z."""
    canonical_offset: UnitQuaternion = (0.0, 0.0, 0.0, 1.0)
    """What takes the default pose, standing with arms down, to the canonical pose, xyzw."""


class RevoluteSpec(_Joint):
    """A hinge: one angle about z."""

    model: Literal["revolute"]
    limits: HingeLimits


class KneeSpec(_Joint):
    """A hinge that also twists when bent."""

    model: Literal["knee"]
    limits: KneeLimits


class SwingSpec(_Joint):
    """A limb that points in a direction and does not twist."""

    model: Literal["swing"]
    limits: SwingLimits


class BallAndSocketSpec(_Joint):
    """A limb that points in a direction and twists about itself."""

    model: Literal["ball_and_socket"]
    limits: BallLimits


JointSpec = Annotated[RevoluteSpec | KneeSpec | SwingSpec | BallAndSocketSpec, Field(discriminator="model")]


class VirtualScapulaSpec(Spec):
    """A shoulder blade the rig lacks: it rides on the girdle and turns up as the arm rises."""

    girdle: str
    """The joint that carries it: a collar bone where there is one, else the chest."""
    thorax: str
    """The joint of the chest, on which the arm's elevation is measured."""
    arm: str
    """The joint of the upper arm, whose place it turns about."""
    axis: Direction
    """Axis of upward rotation at bind, right-handed."""
    hanging: Direction
    """Where a hanging arm points, at bind."""
    arm_direction: Direction
    """Where the upper arm points at bind."""
