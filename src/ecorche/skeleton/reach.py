"""Polygons, twist fields and frames drawn from the few angles that anatomists publish [degrees]."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
import numpy.typing as npt

from ecorche.base.rotations import normalise, rotate_xyzw, xyzw_from_matrix
from ecorche.skeleton.joint_angles import swing_from_vector
from ecorche.skeleton.joints import Z_AXIS, Quaternion
from ecorche.skeleton.spherical_polygon import SphericalPolygon
from ecorche.skeleton.twist_field import TwistField

Floats = npt.NDArray[np.float64]

CORNERS_A_QUARTER = 6


def anatomical_frame(*, limb: npt.ArrayLike, x: npt.ArrayLike) -> Quaternion:
    """The frame with z along ``limb`` and x as near as can be to ``x``, both in world axes."""
    z = normalise(limb)
    y = normalise(np.cross(z, np.asarray(x, np.float64)))
    q = xyzw_from_matrix(np.stack([np.cross(y, z), y, z], axis=1))
    return (float(q[0]), float(q[1]), float(q[2]), float(q[3]))


@cache
def elliptic_polygon(x_high: float, x_low: float, y_high: float, y_low: float) -> SphericalPolygon:
    """Quarter-ellipses in the swing plane through four ranges [degrees], all given as positive angles.

    ``x_high`` is how far the limb swings about +x, ``x_low`` about −x, and so on.
    """
    around = np.arange(4 * CORNERS_A_QUARTER) * (0.5 * np.pi / CORNERS_A_QUARTER)
    cosine, sine = np.cos(around), np.sin(around)
    swings = np.stack(
        [cosine * np.where(cosine > 0.0, x_high, x_low), sine * np.where(sine > 0.0, y_high, y_low)], axis=1
    )
    return polygon_of_swings(swings)


def polygon_of_swings(swings: npt.ArrayLike) -> SphericalPolygon:
    """The polygon whose corners are reached by the given swing vectors (corners, 2) [degrees]."""
    return SphericalPolygon(rotate_xyzw(swing_from_vector(np.radians(swings)), Z_AXIS))


def same_twist(low: float, high: float) -> TwistField:
    """One range of twist [degrees] for all directions."""
    return TwistField(np.zeros((1, 2)), np.radians([low]), np.radians([high]))


def twist_keys(keys: Sequence[tuple[float, float, float, float]]) -> TwistField:
    """Twist limits from rows of swing x, swing y, lowest and highest twist [degrees]."""
    table = np.radians(np.array(keys, np.float64))
    return TwistField(table[:, :2], table[:, 2], table[:, 3])
