"""Joints as plain values, the way a rig file holds them: lists of numbers, angles in degrees.

    revolute          limits: range [min, max], play
    knee              limits: flexion [min, max], twist [min, max], narrowing, play
    swing             limits: polygon [[x, y, z], …], play
    ball_and_socket   limits: polygon [[x, y, z], …], twist_keys [[swing_x, swing_y, min, max], …]

beside ``model``, ``anatomical_frame`` and ``canonical_offset`` (quaternions xyzw). Polygon
directions are in the anatomical frame, where the limb in the canonical pose is (0, 0, 1).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ecorche.base.names import suggestion
from ecorche.errors import SkeletonError
from ecorche.skeleton.joints import IDENTITY, BallAndSocket, Joint, Knee, Quaternion, Revolute, Swing
from ecorche.skeleton.spherical_polygon import SphericalPolygon
from ecorche.skeleton.twist_field import TwistField

Floats = npt.NDArray[np.float64]


def joint_from_values(values: Mapping[str, Any]) -> Joint:
    """Make a joint from plain values, see the head of this file."""
    fields = ("model", "anatomical_frame", "canonical_offset", "limits")
    _require_fields(values, fields, required=("model", "limits"), where="joint")
    model = values["model"]
    if model not in _READERS:
        raise SkeletonError(
            f"there is no joint model {model!r}", where="joint", remedy=suggestion(str(model), _READERS)
        )
    limits = values["limits"]
    if not isinstance(limits, Mapping):
        raise SkeletonError("the limits are no mapping", where=f"{model} joint")
    frames = {
        "anatomical_frame_xyzw": _quaternion(values.get("anatomical_frame", IDENTITY), "anatomical_frame"),
        "canonical_offset_xyzw": _quaternion(values.get("canonical_offset", IDENTITY), "canonical_offset"),
    }
    return _READERS[model](limits, frames)


def values_from_joint(joint: Joint) -> dict[str, Any]:
    """The plain values a joint is made of; `joint_from_values` makes it again."""
    return {
        "model": joint.model,
        "anatomical_frame": list(joint.anatomical_frame_xyzw),
        "canonical_offset": list(joint.canonical_offset_xyzw),
        "limits": _limits(joint),
    }


def _limits(joint: Joint) -> dict[str, Any]:
    match joint:
        case Revolute():
            return {"range": _degrees(joint.low, joint.high), "play": _degree(joint.play)}
        case Knee():
            return {
                "flexion": _degrees(joint.flexion_low, joint.flexion_high),
                "twist": _degrees(joint.twist_low, joint.twist_high),
                "narrowing": _degree(joint.narrowing),
                "play": _degree(joint.play),
            }
        case Swing():
            return {"polygon": joint.polygon.corners.tolist(), "play": _degree(joint.play)}
        case BallAndSocket():
            field = joint.twist
            keys = np.column_stack([field.swings, field.low, field.high])
            return {
                "polygon": joint.polygon.corners.tolist(),
                "twist_keys": [_degrees(*key) for key in keys.tolist()],
            }
        case _:
            raise SkeletonError(f"a {joint.model} joint has no plain values")


def _revolute(limits: Mapping[str, Any], frames: dict[str, Quaternion]) -> Joint:
    _require_fields(limits, ("range", "play"), required=("range",), where="revolute limits")
    low, high = _radians(limits, "range", (2,)).tolist()
    return Revolute(low=low, high=high, play=_radian(limits, "play", 0.0), **frames)


def _knee(limits: Mapping[str, Any], frames: dict[str, Quaternion]) -> Joint:
    fields = ("flexion", "twist", "narrowing", "play")
    _require_fields(limits, fields, required=("flexion", "twist"), where="knee limits")
    flexion_low, flexion_high = _radians(limits, "flexion", (2,)).tolist()
    twist_low, twist_high = _radians(limits, "twist", (2,)).tolist()
    return Knee(
        flexion_low=flexion_low,
        flexion_high=flexion_high,
        twist_low=twist_low,
        twist_high=twist_high,
        narrowing=_radian(limits, "narrowing", 20.0),
        play=_radian(limits, "play", 0.0),
        **frames,
    )


def _swing(limits: Mapping[str, Any], frames: dict[str, Quaternion]) -> Joint:
    _require_fields(limits, ("polygon", "play"), required=("polygon",), where="swing limits")
    polygon = SphericalPolygon(_numbers(limits, "polygon", (-1, 3)))
    return Swing(polygon=polygon, play=_radian(limits, "play", 0.0), **frames)


def _ball_and_socket(limits: Mapping[str, Any], frames: dict[str, Quaternion]) -> Joint:
    fields = ("polygon", "twist_keys")
    _require_fields(limits, fields, required=fields, where="ball_and_socket limits")
    keys = _radians(limits, "twist_keys", (-1, 4))
    return BallAndSocket(
        polygon=SphericalPolygon(_numbers(limits, "polygon", (-1, 3))),
        twist=TwistField(keys[:, :2], keys[:, 2], keys[:, 3]),
        **frames,
    )


_READERS: dict[str, Callable[[Mapping[str, Any], dict[str, Quaternion]], Joint]] = {
    Revolute.model: _revolute,
    Knee.model: _knee,
    Swing.model: _swing,
    BallAndSocket.model: _ball_and_socket,
}


def _require_fields(
    values: Mapping[str, Any], known: tuple[str, ...], *, required: tuple[str, ...], where: str
) -> None:
    for name in values:
        if name not in known:
            raise SkeletonError(
                f"there is no field {name!r}", where=where, remedy=suggestion(str(name), known)
            )
    for name in required:
        if name not in values:
            raise SkeletonError(f"the field {name!r} is missing", where=where, remedy="Add it")


def _numbers(values: Mapping[str, Any], name: str, shape: tuple[int, ...]) -> Floats:
    """A field as an array of the given shape, where −1 stands for any length but zero."""
    try:
        numbers = np.array(values[name], np.float64)
    except (TypeError, ValueError):
        numbers = np.empty(0)
    fits = numbers.ndim == len(shape) and all(
        n > 0 if want < 0 else n == want for n, want in zip(numbers.shape, shape, strict=False)
    )
    if not fits:
        wanted = f"rows of {shape[-1]} numbers" if len(shape) == 2 else f"{shape[-1]} numbers"
        raise SkeletonError(f"{name!r} is not {wanted}", where="joint", remedy=f"Give {wanted}")
    return numbers


def _radians(limits: Mapping[str, Any], name: str, shape: tuple[int, ...]) -> Floats:
    return np.radians(_numbers(limits, name, shape))


def _radian(limits: Mapping[str, Any], name: str, default: float) -> float:
    return float(np.radians(_numbers({name: [limits.get(name, default)]}, name, (1,))[0]))


def _quaternion(value: object, name: str) -> Quaternion:
    x, y, z, w = (float(v) for v in _numbers({name: value}, name, (4,)))
    return (x, y, z, w)


def _degree(angle: float) -> float:
    """Degrees of an angle [rad], to 1e-10°: a file then says 150, not 149.99999999999997."""
    return round(float(np.degrees(angle)), 10)


def _degrees(*angles: float) -> list[float]:
    return [_degree(a) for a in angles]
