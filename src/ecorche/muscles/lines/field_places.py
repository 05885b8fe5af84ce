"""Where the ellipsoids of force fields are in a pose: carried by joints, or by lines that have come to rest.

A joint takes its ellipsoids along; where it is scaled their radii are, each along its own axis.
A line takes them along with a place on it: a point of one of its segments, as the line was designed. They
turn as the joint of the line's first attachment does and from there by the smallest rotation that takes the
segment to where it is, so a body that turns as a whole turns them as a whole, twist included.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

from ecorche.muscles.lines.fields import CENTRE, RADII
from ecorche.muscles.triples import cross, dot, plus, scaled, unit

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]


class FieldBinding(NamedTuple):
    """What carries E ellipsoids.

    Attributes:
        centres: At bind [m], shape (E, 3).
        axes: At bind, as columns, shape (E, 3, 3).
        radii: At bind [m], shape (E, 3).
        joints: That carry or, of those on lines, turn them, shape (E,).
        segments: Points before and after the place on a line, −1 of those on joints, shape (E, 2).
        shares: Of the way between these points, shape (E,).
        directions: From the one to the other at bind, units, shape (E, 3).
        offsets: Of those on lines: centre less the place on the line at bind [m], shape (E, 3).
    """

    centres: Floats
    axes: Floats
    radii: Floats
    joints: Ints
    segments: Ints
    shares: Floats
    directions: Floats
    offsets: Floats


@njit(inline="always")  # type: ignore[untyped-decorator]
def moved_by(moved: Floats, j: int, x: float, y: float, z: float) -> Any:
    """Where a joint, moved by ``moved[j] = M − I``, takes a point [m] of its at bind."""
    m = moved[j]
    return (
        x + (m[0, 0] * x + m[0, 1] * y + m[0, 2] * z + m[0, 3]),
        y + (m[1, 0] * x + m[1, 1] * y + m[1, 2] * z + m[1, 3]),
        z + (m[2, 0] * x + m[2, 1] * y + m[2, 2] * z + m[2, 3]),
    )


@njit(inline="always")  # type: ignore[untyped-decorator]
def _turned_by(moved: Floats, j: int, a: Any) -> Any:
    m = moved[j]
    return (
        a[0] + (m[0, 0] * a[0] + m[0, 1] * a[1] + m[0, 2] * a[2]),
        a[1] + (m[1, 0] * a[0] + m[1, 1] * a[1] + m[1, 2] * a[2]),
        a[2] + (m[2, 0] * a[0] + m[2, 1] * a[1] + m[2, 2] * a[2]),
    )


@njit(forceinline=True)  # type: ignore[untyped-decorator]
def _turned_least(a: Any, b: Any, v: Any) -> Any:
    """v, turned by the smallest rotation that takes unit a to unit b; between opposites nothing turns."""
    whole = 1.0 + dot(a, b)
    if not whole > 1e-12:
        return v
    both = plus(a, 1.0, b)
    return plus(plus(v, -dot(both, v) / whole, both), 2.0 * dot(a, v), b)


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def place_ellipsoid(binding: FieldBinding, n: int, moved: Floats, points: Floats, placed: Floats) -> None:
    """Pose ellipsoid n, a row of ``placed`` (E, PLACED), by joints moved since bind and points of lines."""
    j, before = binding.joints[n], binding.segments[n, 0]
    a, r, c = binding.axes[n], binding.radii[n], binding.centres[n]
    x = _turned_by(moved, j, (a[0, 0], a[1, 0], a[2, 0]))
    y = _turned_by(moved, j, (a[0, 1], a[1, 1], a[2, 1]))
    z = _turned_by(moved, j, (a[0, 2], a[1, 2], a[2, 2]))
    if before >= 0:
        after, share = binding.segments[n, 1], binding.shares[n]
        p = (points[before, 0], points[before, 1], points[before, 2])
        along = plus((points[after, 0], points[after, 1], points[after, 2]), -1.0, p)
        d, o = binding.directions[n], binding.offsets[n]
        old, new = unit(_turned_by(moved, j, (d[0], d[1], d[2]))), unit(along)
        x, y, z = _turned_least(old, new, x), _turned_least(old, new, y), _turned_least(old, new, z)
        offset = _turned_least(old, new, _turned_by(moved, j, (o[0], o[1], o[2])))
        centre = plus(plus(p, share, along), 1.0, offset)
    else:
        centre = moved_by(moved, j, c[0], c[1], c[2])
    placed[n, RADII] = r[0] * np.sqrt(dot(x, x))
    placed[n, RADII + 1] = r[1] * np.sqrt(dot(y, y))
    placed[n, RADII + 2] = r[2] * np.sqrt(dot(z, z))
    x = unit(x)
    y = unit(plus(y, -dot(x, y), x))
    z = scaled(-1.0 if dot(cross(x, y), z) < 0.0 else 1.0, cross(x, y))
    for i in range(3):
        placed[n, i], placed[n, 3 + i], placed[n, 6 + i] = x[i], y[i], z[i]
        placed[n, CENTRE + i] = centre[i]
