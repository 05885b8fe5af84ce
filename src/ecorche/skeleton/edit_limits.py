"""Limits of a joint edited piece by piece: corners of the polygon, ranges of angles, keys of the twist.

Every function gives a whole joint, checked as any other: a polygon whose sides would meet, or a range that
ends before it begins, is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ecorche.base.names import suggestion
from ecorche.base.rotations import normalise, rotate_xyzw
from ecorche.errors import SkeletonError
from ecorche.skeleton.joint_angles import swing_from_vector
from ecorche.skeleton.joint_values import joint_from_values, values_from_joint
from ecorche.skeleton.joints import Z_AXIS, BallAndSocket, Joint, Swing
from ecorche.skeleton.spherical_polygon import SphericalPolygon
from ecorche.skeleton.twist_field import TwistField

Floats = npt.NDArray[np.float64]

RANGES = ("range", "flexion", "twist")
ANGLES = ("play", "narrowing")


def moved_corner(joint: Joint, corner: int, direction: npt.ArrayLike) -> Joint:
    """The joint with one corner of its polygon in another direction (3,), in the anatomical frame."""
    corners = _polygon(joint).corners.copy()
    corners[_numbered(corner, len(corners), "corner")] = _direction(direction)
    return _with_corners(joint, corners)


def direction_of_swing(swing: npt.ArrayLike) -> Floats:
    """Where a limb points that is swung about x and y [degrees], (2,), in the anatomical frame.

    A swing of a half-turn or more is refused: it would point to another place than its numbers say.
    """
    angles = np.asarray(swing, np.float64)
    size = float(np.linalg.norm(angles))
    if angles.shape != (2,) or not size < 180.0:
        raise SkeletonError(
            f"a swing of {size:.0f}° is a half-turn or more",
            remedy="Give angles about x and y whose squares add up to less than 180²",
        )
    direction: Floats = rotate_xyzw(swing_from_vector(np.radians(angles)), Z_AXIS)
    return direction


def added_corner(joint: Joint, side: int, direction: npt.ArrayLike | None = None) -> Joint:
    """The joint with one more corner, on the side that begins at corner ``side``.

    Args:
        joint: The joint.
        side: Number of the side.
        direction: Where the corner is, (3,), in the anatomical frame; None is the middle of the side.
    """
    corners = _polygon(joint).corners
    first = _numbered(side, len(corners), "side")
    middle = normalise(corners[first] + corners[(first + 1) % len(corners)])
    added = middle if direction is None else _direction(direction)
    return _with_corners(joint, np.insert(corners, first + 1, added, axis=0))


def removed_corner(joint: Joint, corner: int) -> Joint:
    """The joint with one corner of its polygon less; the last three stay."""
    corners = _polygon(joint).corners
    number = _numbered(corner, len(corners), "corner")
    if len(corners) <= 3:
        raise SkeletonError(
            "its polygon has three corners only", remedy="Move one of them, or add another first"
        )
    return _with_corners(joint, np.delete(corners, number, axis=0))


def with_angles(joint: Joint, angles: Mapping[str, Any]) -> Joint:
    """The joint with other ranges and angles [degrees].

    ``range``, ``flexion`` and ``twist`` are two angles each, ``play`` and ``narrowing`` one; which of them
    there are depends on the model.
    """
    values = values_from_joint(joint)
    known = [name for name in values["limits"] if name in (*RANGES, *ANGLES)]
    for name, value in angles.items():
        if name not in known:
            raise SkeletonError(
                f"a {joint.model} joint has no limit {name!r}", remedy=suggestion(name, known)
            )
        values["limits"][name] = value
    return joint_from_values(values)


def with_twist_key(joint: Joint, key: int | None, values: npt.ArrayLike) -> Joint:
    """The joint with a key of its twist at other values, or with one more.

    Args:
        joint: The joint.
        key: Number of the key; None for one more.
        values: Swing x, swing y, lowest and highest twist [degrees], shape (4,).
    """
    ball = _ball(joint)
    row = np.radians(np.asarray(values, np.float64))
    if row.shape != (4,):
        raise SkeletonError(
            f"a key of the twist has shape {row.shape}",
            remedy="Give swing x, swing y, lowest and highest twist",
        )
    table = np.column_stack([ball.twist.swings, ball.twist.low, ball.twist.high])
    if key is None:
        table = np.concatenate([table, row[None]])
    else:
        table[_numbered(key, len(table), "key")] = row
    return replace(ball, twist=TwistField(table[:, :2], table[:, 2], table[:, 3]))


def without_twist_key(joint: Joint, key: int) -> Joint:
    """The joint with one key of its twist less; the last one stays."""
    ball = _ball(joint)
    field = ball.twist
    number = _numbered(key, len(field.low), "key")
    if len(field.low) == 1:
        raise SkeletonError("its twist has one key only", remedy="Change the key's values")
    kept = np.arange(len(field.low)) != number
    return replace(ball, twist=TwistField(field.swings[kept], field.low[kept], field.high[kept]))


def _polygon(joint: Joint) -> SphericalPolygon:
    if isinstance(joint, Swing | BallAndSocket):
        return joint.polygon
    raise SkeletonError(
        f"a {joint.model} joint has no polygon", remedy="Change its range, or make it a ball-and-socket joint"
    )


def _ball(joint: Joint) -> BallAndSocket:
    if isinstance(joint, BallAndSocket):
        return joint
    raise SkeletonError(
        f"a {joint.model} joint has no keys of twist", remedy="Make it a ball-and-socket joint"
    )


def _with_corners(joint: Joint, corners: Floats) -> Joint:
    assert isinstance(joint, Swing | BallAndSocket)
    return replace(joint, polygon=SphericalPolygon(corners))


def _numbered(number: int, count: int, what: str) -> int:
    if not 0 <= number < count:
        raise SkeletonError(f"there is no {what} {number}", remedy=f"Count from 0 to {count - 1}")
    return number


def _direction(direction: npt.ArrayLike) -> Floats:
    found = np.asarray(direction, np.float64)
    if found.shape != (3,):
        raise SkeletonError(f"a corner has shape {found.shape}", remedy="Give a direction of three numbers")
    return found
