"""The four joint models: revolute, knee, swing, ball-and-socket (thesis 3.3).

A joint rotation R is relative to the H-Anim default pose (upright, arms at the sides, palms inward,
toes forward), in axes aligned with the world in that pose: +X to the character's left, +Y up,
+Z forward. The chain is

    R = A · S · T · A⁻¹ · F,    so    S · T = A⁻¹ · R · F⁻¹ · A,

with A the anatomical frame (z along the limb in the canonical pose; for a revolute joint, z along
the hinge), F the canonical offset (what takes the default pose to the canonical pose), T the twist
about z and S the swing. The thesis's (3.1)–(3.8) do not return the identity and turn in the
other order; with twist first, the limb's direction depends on swing alone.

Limits move a direction and a twist each to its nearest admissible value. The pair is then not the
nearest admissible rotation, and need not be: an animator sees direction and twist apart.

Added to the thesis: ``play``, how far a rotation may stray from what a model of fewer than three
degrees of freedom allows. Living hinges are lax by some degrees, and a rig's axes are not the
anatomist's; zero play gives the thesis's joints.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np
import numpy.typing as npt

from ecorche.base.rotations import (
    inverse_xyzw,
    multiply_xyzw,
    normalise,
    rotate_xyzw,
    rotation_vector_from_xyzw,
    shortest_arc_xyzw,
    swing_twist_xyzw,
    xyzw_from_axis_angle,
    xyzw_from_rotation_vector,
)
from ecorche.errors import SkeletonError
from ecorche.skeleton.joint_angles import knee_angles, mirror_xyzw, swing_from_vector, twist_angle
from ecorche.skeleton.limits import Excess, nearest_in_range, require_range
from ecorche.skeleton.spherical_polygon import SphericalPolygon, angle_between
from ecorche.skeleton.twist_field import TwistField

Floats = npt.NDArray[np.float64]
Quaternion = tuple[float, float, float, float]

IDENTITY: Quaternion = (0.0, 0.0, 0.0, 1.0)
X_AXIS = np.array([1.0, 0.0, 0.0])
Y_AXIS = np.array([0.0, 1.0, 0.0])
Z_AXIS = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True, kw_only=True)
class Joint(ABC):
    """What the four models share: the frame, the chain, and clamping as one sentence.

    Attributes:
        anatomical_frame_xyzw: A, from anatomical axes to world axes in the default pose.
        canonical_offset_xyzw: F, the joint's rotation in the canonical pose.
    """

    model: ClassVar[str]
    parameter_names: ClassVar[tuple[str, ...]]

    anatomical_frame_xyzw: Quaternion = IDENTITY
    canonical_offset_xyzw: Quaternion = IDENTITY

    def __post_init__(self) -> None:
        for field in ("anatomical_frame_xyzw", "canonical_offset_xyzw"):
            object.__setattr__(self, field, _unit(getattr(self, field), field))

    def parameters(self, rotation_xyzw: npt.ArrayLike) -> Floats:
        """The joint's angles [rad], shape (..., degrees of freedom), of rotations (..., 4).

        What the model cannot express is left out; `clamp` says how much that is.
        """
        return self._parameters(self._anatomical(rotation_xyzw))

    def rotation(self, parameters: npt.ArrayLike) -> Floats:
        """The rotations (..., 4) with the given angles [rad], shape (..., degrees of freedom)."""
        values = np.asarray(parameters, np.float64)
        if values.shape[-1:] != (len(self.parameter_names),):
            raise SkeletonError(
                f"a {self.model} joint was given angles of shape {values.shape}",
                remedy=f"Give {', '.join(self.parameter_names)} along the last axis",
            )
        return self._from_anatomical(self._from_parameters(values))

    def in_frame(self, rotation_xyzw: npt.ArrayLike) -> Floats:
        """Swing and twist, ``S · T`` in the anatomical frame, xyzw (..., 4), of rotations (..., 4)."""
        return self._anatomical(rotation_xyzw)

    def turned_to(self, rotation_xyzw: npt.ArrayLike, parameters: npt.ArrayLike) -> Floats:
        """Rotations (..., 4) with other angles [rad], (..., degrees of freedom), that keep the rest.

        The rest is what the model cannot express and its play may allow: without it a limb that is bound
        a little askew would jump when one of its angles is touched.
        """
        after = self._anatomical(self.rotation(parameters))
        return self._from_anatomical(self._keeping_rest(self._anatomical(rotation_xyzw), after))

    def clamp(self, rotation_xyzw: npt.ArrayLike) -> tuple[Floats, Excess]:
        """Rotations (..., 4) within the limits, and how far [rad] they were beyond.

        Rotations within the limits are returned bit for bit; the others keep their quaternion's sign.
        """
        given = np.asarray(rotation_xyzw, np.float64)
        nearest, excess = self._clamp(self._anatomical(given))
        nearest = self._from_anatomical(nearest)
        opposite = np.sum(nearest * given, axis=-1, keepdims=True) < 0.0
        nearest = np.where(opposite, -nearest, nearest)
        return np.where(excess.beyond[..., None], nearest, given), excess

    @abstractmethod
    def mirrored(self) -> Self:
        """The same joint on the other side of the body (x ↔ −x)."""

    @abstractmethod
    def _parameters(self, local: Floats) -> Floats:
        """Angles of ``S · T`` (..., 4)."""

    @abstractmethod
    def _from_parameters(self, parameters: Floats) -> Floats:
        """``S · T`` (..., 4) of angles."""

    @abstractmethod
    def _clamp(self, local: Floats) -> tuple[Floats, Excess]:
        """``S · T`` (..., 4) within the limits."""

    def _keeping_rest(self, local: Floats, after: Floats) -> Floats:
        """``S · T`` (..., 4) with the angles of ``after`` and the rest of ``local``; a twist comes first."""
        before = self._from_parameters(self._parameters(local))
        return multiply_xyzw(after, multiply_xyzw(inverse_xyzw(before), local))

    def _anatomical(self, rotation_xyzw: npt.ArrayLike) -> Floats:
        """``S · T = A⁻¹ R F⁻¹ A``."""
        a, f = self.anatomical_frame_xyzw, self.canonical_offset_xyzw
        after = multiply_xyzw(inverse_xyzw(f), a)
        return multiply_xyzw(multiply_xyzw(inverse_xyzw(a), rotation_xyzw), after)

    def _from_anatomical(self, local: Floats) -> Floats:
        """``R = A S T A⁻¹ F``."""
        a, f = self.anatomical_frame_xyzw, self.canonical_offset_xyzw
        after = multiply_xyzw(inverse_xyzw(a), f)
        return normalise(multiply_xyzw(multiply_xyzw(a, local), after))


@dataclass(frozen=True, kw_only=True)
class Revolute(Joint):
    """A hinge or a pivot: one angle about the frame's z axis.

    Attributes:
        low, high: The angle's range [rad].
        play: How far the hinge's axis may tilt [rad].
    """

    model: ClassVar[str] = "revolute"
    parameter_names: ClassVar[tuple[str, ...]] = ("angle",)

    low: float
    high: float
    play: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        require_range(self.low, self.high, "the angle")
        _require_play(self.play)

    def mirrored(self) -> Self:
        """The hinge on the other side, with the same range: bending stays positive."""
        half_turn = (0.0, 1.0, 0.0, 0.0)
        return replace(
            self,
            anatomical_frame_xyzw=_tuple(multiply_xyzw(mirror_xyzw(self.anatomical_frame_xyzw), half_turn)),
            canonical_offset_xyzw=_tuple(mirror_xyzw(self.canonical_offset_xyzw)),
        )

    def _parameters(self, local: Floats) -> Floats:
        return twist_angle(swing_twist_xyzw(local)[1])[..., None]

    def _from_parameters(self, parameters: Floats) -> Floats:
        return xyzw_from_axis_angle(Z_AXIS, parameters[..., 0])

    def _keeping_rest(self, local: Floats, after: Floats) -> Floats:
        return multiply_xyzw(swing_twist_xyzw(local)[0], after)

    def _clamp(self, local: Floats) -> tuple[Floats, Excess]:
        swing, twist = swing_twist_xyzw(local)
        angle, twist_excess = nearest_in_range(twist_angle(twist), self.low, self.high)
        tilt = rotation_vector_from_xyzw(swing)
        size = np.linalg.norm(tilt, axis=-1)
        _, swing_excess = nearest_in_range(size, 0.0, self.play)
        kept = np.where(swing_excess > 0.0, self.play / np.where(size > 0.0, size, 1.0), 1.0)
        swing = xyzw_from_rotation_vector(kept[..., None] * tilt)
        return multiply_xyzw(swing, xyzw_from_axis_angle(Z_AXIS, angle)), Excess(swing_excess, twist_excess)


@dataclass(frozen=True, kw_only=True)
class Knee(Joint):
    """Flexion about x, then a twist about the limb that locks as the joint extends.

    Any rotation is ``Rx(flexion) · Ry(sideways) · Rz(twist)``: Grood and Suntay's knee angles (1983).
    Dropping the sideways tilt gives the nearest rotation this joint can make, which dropping the
    sideways part of the swing would not.

    Attributes:
        flexion_low, flexion_high: Flexion's range [rad]; full extension is the low end.
        twist_low, twist_high: Twist's range [rad] of the bent joint.
        narrowing: The twist's range shrinks linearly to zero over this last part of extension [rad].
        play: How far the joint may tilt sideways, and twist beyond its range [rad].
    """

    model: ClassVar[str] = "knee"
    parameter_names: ClassVar[tuple[str, ...]] = ("flexion", "twist")

    flexion_low: float
    flexion_high: float
    twist_low: float
    twist_high: float
    narrowing: float = np.radians(20.0)
    play: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        require_range(self.flexion_low, self.flexion_high, "flexion")
        require_range(self.twist_low, self.twist_high, "twist")
        _require_play(self.play)
        if not self.twist_low <= 0.0 <= self.twist_high:
            raise SkeletonError(
                "the twist's range does not hold zero, to which it narrows",
                remedy="Turn the anatomical frame so that the extended joint has no twist",
            )
        if not 0.0 <= self.narrowing < np.inf:
            raise SkeletonError(
                f"the narrowing is {np.degrees(self.narrowing):g}°", remedy="Give zero or a positive angle"
            )

    def twist_range(self, flexion: npt.ArrayLike) -> tuple[Floats, Floats]:
        """Lowest and highest twist [rad], each (...), at given flexion [rad] (...)."""
        bent = np.asarray(flexion, np.float64) - self.flexion_low
        free = np.clip(bent / self.narrowing, 0.0, 1.0) if self.narrowing > 0.0 else np.ones_like(bent)
        return free * self.twist_low - self.play, free * self.twist_high + self.play

    def mirrored(self) -> Self:
        """The knee of the other leg: bending and its sign stay, inward and outward change sides."""
        return replace(
            self,
            anatomical_frame_xyzw=_tuple(mirror_xyzw(self.anatomical_frame_xyzw)),
            canonical_offset_xyzw=_tuple(mirror_xyzw(self.canonical_offset_xyzw)),
            twist_low=-self.twist_high,
            twist_high=-self.twist_low,
        )

    def _parameters(self, local: Floats) -> Floats:
        flexion, _, twist = knee_angles(local)
        return np.stack([flexion, twist], axis=-1)

    def _from_parameters(self, parameters: Floats) -> Floats:
        bent = xyzw_from_axis_angle(X_AXIS, parameters[..., 0])
        return multiply_xyzw(bent, xyzw_from_axis_angle(Z_AXIS, parameters[..., 1]))

    def _keeping_rest(self, local: Floats, after: Floats) -> Floats:
        _, sideways, _ = knee_angles(local)
        flexion, _, twist = knee_angles(after)
        return multiply_xyzw(_bent_and_tilted(flexion, sideways), xyzw_from_axis_angle(Z_AXIS, twist))

    def _clamp(self, local: Floats) -> tuple[Floats, Excess]:
        flexion, sideways, twist = knee_angles(local)
        kept_flexion, flexion_excess = nearest_in_range(flexion, self.flexion_low, self.flexion_high)
        kept_sideways, sideways_excess = nearest_in_range(sideways, -self.play, self.play)
        kept_twist, twist_excess = nearest_in_range(twist, *self.twist_range(kept_flexion))
        before = _bent_and_tilted(flexion, sideways)
        after = _bent_and_tilted(kept_flexion, kept_sideways)
        moved = angle_between(rotate_xyzw(before, Z_AXIS), rotate_xyzw(after, Z_AXIS))
        beyond = (flexion_excess > 0.0) | (sideways_excess > 0.0)
        return (
            multiply_xyzw(after, xyzw_from_axis_angle(Z_AXIS, kept_twist)),
            Excess(np.where(beyond, moved, 0.0), twist_excess),
        )


@dataclass(frozen=True, kw_only=True)
class Swing(Joint):
    """A limb that points anywhere within a polygon but does not turn about itself.

    Attributes:
        polygon: The admissible directions of the limb.
        play: How far it may twist nevertheless [rad].
    """

    model: ClassVar[str] = "swing"
    parameter_names: ClassVar[tuple[str, ...]] = ("swing_x", "swing_y")

    polygon: SphericalPolygon
    play: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        _require_play(self.play)

    def mirrored(self) -> Self:
        """The joint of the other side."""
        return replace(
            self,
            anatomical_frame_xyzw=_tuple(mirror_xyzw(self.anatomical_frame_xyzw)),
            canonical_offset_xyzw=_tuple(mirror_xyzw(self.canonical_offset_xyzw)),
            polygon=_mirrored_polygon(self.polygon),
        )

    def _parameters(self, local: Floats) -> Floats:
        return rotation_vector_from_xyzw(swing_twist_xyzw(local)[0])[..., :2]

    def _from_parameters(self, parameters: Floats) -> Floats:
        return swing_from_vector(parameters)

    def _clamp(self, local: Floats) -> tuple[Floats, Excess]:
        swing, twist, swing_excess = _clamp_direction(local, self.polygon)
        angle, twist_excess = nearest_in_range(twist, -self.play, self.play)
        return multiply_xyzw(swing, xyzw_from_axis_angle(Z_AXIS, angle)), Excess(swing_excess, twist_excess)


@dataclass(frozen=True, kw_only=True)
class BallAndSocket(Joint):
    """A limb that points anywhere within a polygon and turns about itself, how far depending on where.

    Attributes:
        polygon: The admissible directions of the limb.
        twist: The admissible twists, by swing.
    """

    model: ClassVar[str] = "ball_and_socket"
    parameter_names: ClassVar[tuple[str, ...]] = ("swing_x", "swing_y", "twist")

    polygon: SphericalPolygon
    twist: TwistField

    def mirrored(self) -> Self:
        """The joint of the other side."""
        return replace(
            self,
            anatomical_frame_xyzw=_tuple(mirror_xyzw(self.anatomical_frame_xyzw)),
            canonical_offset_xyzw=_tuple(mirror_xyzw(self.canonical_offset_xyzw)),
            polygon=_mirrored_polygon(self.polygon),
            twist=TwistField(self.twist.swings * (1.0, -1.0), -self.twist.high, -self.twist.low),
        )

    def _parameters(self, local: Floats) -> Floats:
        swing, twist = swing_twist_xyzw(local)
        vector = rotation_vector_from_xyzw(swing)
        return np.concatenate([vector[..., :2], twist_angle(twist)[..., None]], axis=-1)

    def _from_parameters(self, parameters: Floats) -> Floats:
        turned = xyzw_from_axis_angle(Z_AXIS, parameters[..., 2])
        return multiply_xyzw(swing_from_vector(parameters[..., :2]), turned)

    def _clamp(self, local: Floats) -> tuple[Floats, Excess]:
        swing, twist, swing_excess = _clamp_direction(local, self.polygon)
        limits = self.twist.limits(rotation_vector_from_xyzw(swing)[..., :2])
        angle, twist_excess = nearest_in_range(twist, *limits)
        return multiply_xyzw(swing, xyzw_from_axis_angle(Z_AXIS, angle)), Excess(swing_excess, twist_excess)


def _clamp_direction(local: Floats, polygon: SphericalPolygon) -> tuple[Floats, Floats, Floats]:
    """Swing (..., 4) within a polygon, the twist [rad] (...) as it was, and the angle moved [rad] (...)."""
    swing, twist = swing_twist_xyzw(local)
    direction, angle = polygon.nearest(rotate_xyzw(swing, Z_AXIS))
    swing = np.where(angle[..., None] > 0.0, shortest_arc_xyzw(Z_AXIS, direction), swing)
    return swing, twist_angle(twist), angle


def _bent_and_tilted(flexion: Floats, sideways: Floats) -> Floats:
    return multiply_xyzw(xyzw_from_axis_angle(X_AXIS, flexion), xyzw_from_axis_angle(Y_AXIS, sideways))


def _mirrored_polygon(polygon: SphericalPolygon) -> SphericalPolygon:
    return SphericalPolygon(polygon.corners * (-1.0, 1.0, 1.0))


def _tuple(q: Floats) -> Quaternion:
    x, y, z, w = (float(v) for v in q)
    return (x, y, z, w)


def _unit(q: npt.ArrayLike, field: str) -> Quaternion:
    values = np.asarray(q, np.float64)
    if values.shape != (4,) or not np.isfinite(values).all() or abs(np.linalg.norm(values) - 1.0) > 1e-3:
        raise SkeletonError(
            f"{field} {np.array2string(values, separator=', ')} is no unit quaternion",
            remedy="Give four numbers x, y, z, w whose squares sum to one",
        )
    return _tuple(normalise(values))


def _require_play(play: float) -> None:
    if not 0.0 <= play <= np.pi:
        raise SkeletonError(f"the play is {np.degrees(play):g}°", remedy="Give an angle between 0° and 180°")
