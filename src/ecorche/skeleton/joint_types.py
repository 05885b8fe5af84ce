"""A joint model made into another type: the frame is kept, and as much of the limits as the other can hold.

A knee's x axis is a hinge's z axis, so between these two the frame is turned and nothing else changes. A
hinge along its limb, such as that of the forearm, is a twist for the other types. A polygon and bending
about x say the same of the plane of bending; what one of them cannot say is left out or opened by the play.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from ecorche.base.names import suggestion
from ecorche.base.rotations import multiply_xyzw, normalise, rotate_xyzw, xyzw_from_axis_angle
from ecorche.errors import SkeletonError
from ecorche.skeleton.joint_angles import swing_from_vector
from ecorche.skeleton.joints import (
    X_AXIS,
    Y_AXIS,
    Z_AXIS,
    BallAndSocket,
    Joint,
    Knee,
    Quaternion,
    Revolute,
    Swing,
)
from ecorche.skeleton.reach import anatomical_frame, elliptic_polygon, same_twist
from ecorche.skeleton.spherical_polygon import SphericalPolygon
from ecorche.skeleton.twist_field import TwistField

Floats = npt.NDArray[np.float64]

ALONG = 0.7
"""A hinge whose axis is so much along its limb (cosine) is a twist to the other types."""
LEAST = np.radians(5.0)
"""Half a polygon's width where a hinge has less play than that [rad]: a polygon cannot be a line."""
MOST = np.radians(170.0)
"""A limb bent further than that points opposite to where it began, which no polygon holds [rad]."""
STEPS = 8
"""Corners along each long side of the polygon made of a hinge's range."""

X_FOR_Z = (np.sqrt(0.5), 0.0, np.sqrt(0.5), 0.0)
"""The half-turn that exchanges x and z."""

MODELS: tuple[str, ...] = (Revolute.model, Knee.model, Swing.model, BallAndSocket.model)


def new_joint(model: str, limb: npt.ArrayLike) -> Joint:
    """A joint of a type where nothing is known but the limb's direction in the default pose, (3,).

    It bends about the character's left axis, or about forward where the limb lies along that, by 45° either
    way; where it can twist, by 45° too.
    """
    direction = normalise(limb)
    if not direction.any():
        direction = np.array([0.0, -1.0, 0.0])
    side = X_AXIS if abs(direction[0]) < 0.9 else Z_AXIS
    ball = BallAndSocket(
        anatomical_frame_xyzw=anatomical_frame(limb=direction, x=side),
        polygon=elliptic_polygon(45, 45, 45, 45),
        twist=same_twist(-45, 45),
    )
    return changed_type(ball, model, direction)


def changed_type(joint: Joint, model: str, limb: npt.ArrayLike) -> Joint:
    """The joint as one of another type.

    Args:
        joint: The joint as it is.
        model: ``"revolute"``, ``"knee"``, ``"swing"`` or ``"ball_and_socket"``.
        limb: Where the bone points in the default pose, a direction (3,).
    """
    if model not in MODELS:
        raise SkeletonError(f"there is no joint model {model!r}", remedy=suggestion(model, MODELS))
    if joint.model == model:
        return joint
    if isinstance(joint, Revolute):
        return _from_hinge(joint, model, np.asarray(limb, np.float64))
    return _MAKERS[model](joint)


def _from_hinge(hinge: Revolute, model: str, limb: Floats) -> Joint:
    canonical = rotate_xyzw(hinge.canonical_offset_xyzw, normalise(limb))
    axis = rotate_xyzw(hinge.anatomical_frame_xyzw, Z_AXIS)
    if abs(float(axis @ canonical)) > ALONG or not canonical.any():
        width = float(np.degrees(np.clip(hinge.play, LEAST, 0.5 * MOST)))
        turning = BallAndSocket(
            anatomical_frame_xyzw=hinge.anatomical_frame_xyzw,
            canonical_offset_xyzw=hinge.canonical_offset_xyzw,
            polygon=elliptic_polygon(width, width, width, width),
            twist=TwistField(np.zeros((1, 2)), np.array([hinge.low]), np.array([hinge.high])),
        )
        return turning if model == turning.model else _MAKERS[model](turning)
    along = normalise(canonical - float(axis @ canonical) * axis)
    bent = Knee(
        anatomical_frame_xyzw=anatomical_frame(limb=along, x=axis),
        canonical_offset_xyzw=hinge.canonical_offset_xyzw,
        flexion_low=hinge.low,
        flexion_high=hinge.high,
        twist_low=0.0,
        twist_high=0.0,
        narrowing=0.0,
        play=hinge.play,
    )
    return bent if model == bent.model else _MAKERS[model](bent)


def _hinge(joint: Joint) -> Joint:
    """Bending about x alone: the frame is turned so that z is the hinge."""
    low, high, _, _, play = _bending(joint)
    return Revolute(
        anatomical_frame_xyzw=_quaternion(multiply_xyzw(joint.anatomical_frame_xyzw, X_FOR_Z)),
        canonical_offset_xyzw=joint.canonical_offset_xyzw,
        low=low,
        high=high,
        play=play,
    )


def _knee(joint: Joint) -> Joint:
    low, high, twist_low, twist_high, play = _bending(joint)
    return Knee(
        anatomical_frame_xyzw=joint.anatomical_frame_xyzw,
        canonical_offset_xyzw=joint.canonical_offset_xyzw,
        flexion_low=low,
        flexion_high=high,
        twist_low=min(twist_low, 0.0),
        twist_high=max(twist_high, 0.0),
        narrowing=0.0,
        play=play,
    )


def _swing(joint: Joint) -> Joint:
    polygon, _, play = _pointing(joint)
    return Swing(
        anatomical_frame_xyzw=joint.anatomical_frame_xyzw,
        canonical_offset_xyzw=joint.canonical_offset_xyzw,
        polygon=polygon,
        play=play,
    )


def _ball_and_socket(joint: Joint) -> Joint:
    polygon, twist, _ = _pointing(joint)
    return BallAndSocket(
        anatomical_frame_xyzw=joint.anatomical_frame_xyzw,
        canonical_offset_xyzw=joint.canonical_offset_xyzw,
        polygon=polygon,
        twist=twist,
    )


_MAKERS: dict[str, Callable[[Joint], Joint]] = {
    Revolute.model: _hinge,
    Knee.model: _knee,
    Swing.model: _swing,
    BallAndSocket.model: _ball_and_socket,
}


def _bending(joint: Joint) -> tuple[float, float, float, float, float]:
    """Lowest and highest bending about x, lowest and highest twist, and play [rad]."""
    match joint:
        case Knee():
            return joint.flexion_low, joint.flexion_high, joint.twist_low, joint.twist_high, joint.play
        case Swing():
            low, high = _along_x(joint.polygon)
            return low, high, -joint.play, joint.play, joint.play
        case BallAndSocket():
            low, high = _along_x(joint.polygon)
            twist_low, twist_high = joint.twist.limits([0.5 * (low + high), 0.0])
            return low, high, float(twist_low), float(twist_high), 0.0
    raise SkeletonError(f"a {joint.model} joint cannot be made another")


def _along_x(polygon: SphericalPolygon) -> tuple[float, float]:
    """How far a polygon reaches on either side of its canonical direction about x [rad].

    Where it does not hold that direction, its extent about x anywhere.
    """
    angles = np.radians(np.arange(-175.0, 175.5, 0.5))
    swings = np.stack([angles, np.zeros_like(angles)], axis=-1)
    within = polygon.contains(rotate_xyzw(swing_from_vector(swings), Z_AXIS))
    if not within.any():
        tilt = np.arctan2(-polygon.corners[:, 1], polygon.corners[:, 2])
        return float(tilt.min()), float(tilt.max())
    middle = int(np.argmin(np.where(within, np.abs(angles), np.inf)))
    first = middle - int(np.argmin(np.append(within[middle::-1], False))) + 1
    last = middle + int(np.argmin(np.append(within[middle:], False))) - 1
    return float(angles[first]), float(angles[last])


def _pointing(joint: Joint) -> tuple[SphericalPolygon, TwistField, float]:
    """Where the limb may point, how far it may twist, and the play that a swing joint leaves it [rad]."""
    match joint:
        case Swing():
            reach = np.array([joint.play])
            return joint.polygon, TwistField(np.zeros((1, 2)), -reach, reach), joint.play
        case BallAndSocket():
            return joint.polygon, joint.twist, 0.0
        case Knee():
            low, high = (float(np.clip(a, -MOST, MOST)) for a in (joint.flexion_low, joint.flexion_high))
            if high - low < LEAST:
                low, high = low - 0.5 * LEAST, high + 0.5 * LEAST
            width = float(np.clip(joint.play, LEAST, 0.5 * MOST))
            twist_low, twist_high = (
                np.array([joint.twist_low - joint.play]),
                np.array([joint.twist_high + joint.play]),
            )
            field = TwistField(np.zeros((1, 2)), twist_low, twist_high)
            return _strip(low, high, width), field, joint.play
    raise SkeletonError(f"a {joint.model} joint cannot be made another")


def _strip(low: float, high: float, width: float) -> SphericalPolygon:
    """The directions bent about x from ``low`` to ``high`` and tilted sideways by no more than ``width``."""
    bent = np.linspace(low, high, STEPS)
    angles = np.concatenate([bent, bent[::-1]])
    sideways = np.repeat([width, -width], STEPS)
    q = multiply_xyzw(xyzw_from_axis_angle(X_AXIS, angles), xyzw_from_axis_angle(Y_AXIS, sideways))
    return SphericalPolygon(rotate_xyzw(q, Z_AXIS))


def _quaternion(q: Floats) -> Quaternion:
    return (float(q[0]), float(q[1]), float(q[2]), float(q[3]))
