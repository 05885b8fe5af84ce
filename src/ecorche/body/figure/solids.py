"""Soft solids: tubes of elliptic sections, and the smooth union of many of them as one field.

A tube runs through stations, each an ellipse given by two half-axes, and ends round. A muscle, a limb, an
ear and a ball are such tubes. How far a point is outside one is estimated to first order, by the value over
the slope of the quadric's root; near the surface that is the distance.

The union: with weights ``w ∝ exp(−d/s)``, the mean of the distances less ``s h(H)``, H the weights' entropy.
With ``h(H) = H`` that is the well-known ``−s log Σ exp(−d/s)``, which fills the crease between two solids but
swells where many overlap, as muscles do; ``h(H) = H / (1 + 0.6 H)`` swells by less and is as smooth.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numba
import numpy as np
import numpy.typing as npt
from scipy.interpolate import PchipInterpolator

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

FAR = 0.05
"""Distances are told up to this [m]."""
Line = Floats | Sequence[npt.ArrayLike]
"""Places [m], (stations, 3)."""

DEEP = -0.04
"""Points deeper than this in one solid are not asked about the others [m]."""


@dataclass(frozen=True, eq=False)
class Tube:
    """A solid of elliptic sections.

    Attributes:
        centres: Middles of the sections [m], shape (stations, 3), at least one.
        first: One half-axis of each section [m], shape (stations, 3).
        second: The other, perpendicular to it [m], shape (stations, 3).
        cap: How far it bulges beyond its first and last station [m].
    """

    centres: Floats
    first: Floats
    second: Floats
    cap: tuple[float, float]


def ball(centre: npt.ArrayLike, half_axes: npt.ArrayLike, axes: npt.ArrayLike | None = None) -> Tube:
    """An ellipsoid: half-axes [m] (3,) along the world's axes, or along the columns of ``axes`` (3, 3)."""
    x, y, z = np.asarray(half_axes, np.float64)
    turn = np.eye(3) if axes is None else np.asarray(axes, np.float64)
    return Tube(np.asarray(centre, np.float64)[None], (x * turn[:, 0])[None], (z * turn[:, 2])[None], (y, y))


def rod(points: Line, radii: npt.ArrayLike) -> Tube:
    """A round tube through points [m] (stations, 3) with radii [m], one or (stations,)."""
    places = np.array([np.asarray(point, np.float64) for point in points])
    size = np.broadcast_to(np.asarray(radii, np.float64), (len(places),))
    first, second = _across(places)
    return Tube(places, size[:, None] * first, size[:, None] * second, (float(size[0]), float(size[-1])))


def sections(
    points: Line, fronts: npt.ArrayLike, half_front: npt.ArrayLike, half_side: npt.ArrayLike
) -> Tube:
    """A tube through points [m] (stations, 3) whose first half-axis leans to ``fronts`` (3,)."""
    places = np.array([np.asarray(point, np.float64) for point in points])
    front, side = _across(places, np.asarray(fronts, np.float64))
    a, b = (np.broadcast_to(np.asarray(h, np.float64), (len(places),)) for h in (half_front, half_side))
    cap = tuple(0.7 * float(min(a[i], b[i])) for i in (0, -1))
    return Tube(places, a[:, None] * front, b[:, None] * side, (cap[0], cap[1]))


def moved(place: Floats, x: float, y: float, z: float) -> Floats:
    """A place [m] (3,), moved."""
    there: Floats = place + np.array([x, y, z])
    return there


def refined(tube: Tube, count: int) -> Tube:
    """The same tube on ``count`` stations, bent evenly instead of at its own stations (monotone cubics)."""
    before, after = np.linspace(0.0, 1.0, len(tube.centres)), np.linspace(0.0, 1.0, count)
    curves = [PchipInterpolator(before, rows)(after) for rows in (tube.centres, tube.first, tube.second)]
    return Tube(curves[0], curves[1], curves[2], tube.cap)


def _across(places: Floats, wanted: Floats | None = None) -> tuple[Floats, Floats]:
    """Two unit vectors (stations, 3) perpendicular to a line, the first towards ``wanted``."""
    along = np.gradient(places, axis=0) if len(places) > 1 else np.array([[0.0, 1.0, 0.0]])
    along = along / np.linalg.norm(along, axis=1, keepdims=True)
    if wanted is None:
        wanted = np.eye(3)[int(np.argmin(np.abs(along).max(axis=0)))]
    first = wanted - along * (along @ wanted)[:, None]
    first = first / np.linalg.norm(first, axis=1, keepdims=True)
    return first, np.cross(along, first)


@dataclass(frozen=True, eq=False)
class Solids:
    """Tubes packed for `distance`.

    Attributes:
        rows: A segment a row: start, step, both half-axes at the start and their change, caps,
            and a sphere round it; (segments, 24).
        starts: First segment of each tube and, last, their number, shape (tubes + 1,).
        bounds: Centre and radius of a sphere round each tube, shape (tubes, 4).
    """

    rows: Floats
    starts: Ints
    bounds: Floats


def packed(tubes: Sequence[Tube]) -> Solids:
    """Tubes made ready to be asked."""
    rows, starts, bounds = [], [0], []
    for tube in tubes:
        last = max(len(tube.centres) - 1, 1)
        for k in range(last):
            n = min(k + 1, len(tube.centres) - 1)
            parts = [tube.centres, tube.first, tube.second]
            values = np.concatenate([np.concatenate([p[k], p[n] - p[k]]) for p in parts])
            # inner ends are round too: they close the wedge between two segments that meet at an angle
            round_ends = [
                0.9 * min(np.linalg.norm(tube.first[i]), np.linalg.norm(tube.second[i])) for i in (k, n)
            ]
            caps = (tube.cap[0] if k == 0 else round_ends[0], tube.cap[1] if k == last - 1 else round_ends[1])
            ends = tube.centres[[k, n]]
            thick = max(
                *(float(np.linalg.norm(axis[i])) for axis in (tube.first, tube.second) for i in (k, n)), *caps
            )
            radius = thick + 0.5 * float(np.linalg.norm(ends[1] - ends[0]))
            rows.append(np.concatenate([values, caps, ends.mean(axis=0), [radius]]))
        starts.append(len(rows))
        middle = 0.5 * (tube.centres.min(axis=0) + tube.centres.max(axis=0))
        wide = np.maximum(np.linalg.norm(tube.first, axis=1), np.linalg.norm(tube.second, axis=1))
        wide = np.maximum(wide, max(tube.cap))
        bounds.append([*middle, float((np.linalg.norm(tube.centres - middle, axis=1) + wide).max())])
    return Solids(np.array(rows), np.array(starts, np.int64), np.array(bounds))


def distance(solids: Solids, points: npt.ArrayLike, softness: npt.ArrayLike) -> Floats:
    """How far points (n, 3) are outside the union [m] (n,), at most `FAR`; ``softness`` s [m], (n,)."""
    places = np.ascontiguousarray(points, np.float64)
    soft = np.ascontiguousarray(np.broadcast_to(np.asarray(softness, np.float64), (len(places),)))
    found = np.empty(len(places))
    _union(places, soft, solids.rows, solids.starts, solids.bounds, found)
    return found


@numba.njit(cache=True)
def _tube(x, y, z, rows, begin, end, reach):  # type: ignore[no-untyped-def]
    """Distance of one point from one tube, where it is below ``reach``."""
    best = reach
    for s in range(begin, end):
        r = rows[s]
        mx, my, mz = x - r[20], y - r[21], z - r[22]
        limit = r[23] + max(best, 0.0)
        if mx * mx + my * my + mz * mz > limit * limit:
            continue
        px, py, pz = x - r[0], y - r[1], z - r[2]
        ex, ey, ez = r[3], r[4], r[5]
        ee = ex * ex + ey * ey + ez * ez
        t = 0.0
        beyond = 0.0
        cap = max(r[18], 1e-4)
        if ee > 1e-18:
            raw = (px * ex + py * ey + pz * ez) / ee
            t = min(max(raw, 0.0), 1.0)
            beyond = (raw - t) * np.sqrt(ee)
            if raw > 1.0:
                cap = max(r[19], 1e-4)
        ax, ay, az = r[6] + t * r[9], r[7] + t * r[10], r[8] + t * r[11]
        bx, by, bz = r[12] + t * r[15], r[13] + t * r[16], r[14] + t * r[17]
        a, b = np.sqrt(ax * ax + ay * ay + az * az), np.sqrt(bx * bx + by * by + bz * bz)
        qx, qy, qz = px - t * ex, py - t * ey, pz - t * ez
        u, v = (qx * ax + qy * ay + qz * az) / a, (qx * bx + qy * by + qz * bz) / b
        if ee <= 1e-18:
            beyond = (qx * (ay * bz - az * by) + qy * (az * bx - ax * bz) + qz * (ax * by - ay * bx)) / (
                a * b
            )
        u, v, w = u / a, v / b, beyond / cap
        k = np.sqrt(u * u + v * v + w * w)
        slope = np.sqrt(u * u / (a * a) + v * v / (b * b) + w * w / (cap * cap))
        d = -min(a, b) if slope < 1e-9 else k * (k - 1.0) / slope
        best = min(best, d)
    return best


@numba.njit(parallel=True, cache=True)
def _union(places, soft, rows, starts, bounds, found):  # type: ignore[no-untyped-def]
    for i in numba.prange(len(places)):
        x, y, z = places[i]
        s = soft[i]
        reach, nearest = FAR, FAR
        total, excess = 0.0, 0.0  # Σ exp(−e/s) and Σ e exp(−e/s), e = distance less the nearest
        for tube in range(len(bounds)):
            dx, dy, dz = x - bounds[tube, 0], y - bounds[tube, 1], z - bounds[tube, 2]
            limit = bounds[tube, 3] + reach
            if dx * dx + dy * dy + dz * dz > limit * limit:
                continue
            d = _tube(x, y, z, rows, starts[tube], starts[tube + 1], reach)
            if d >= reach:
                continue
            if d < nearest:
                less = np.exp((d - nearest) / s)
                excess = less * (excess + (nearest - d) * total)
                total = less * total + 1.0
                nearest = d
                reach = min(FAR, max(d, 0.0) + 9.0 * s)
            else:
                weight = np.exp((nearest - d) / s)
                total += weight
                excess += (d - nearest) * weight
            if nearest < DEEP:
                break
        if total == 0.0:
            found[i] = FAR
        else:
            entropy = np.log(total) + excess / (s * total)
            found[i] = nearest + excess / total - s * entropy / (1.0 + 0.6 * entropy)
