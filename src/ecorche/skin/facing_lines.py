"""Lines along normals that meet skin which faces them: gaps, and how both ends of one give way.

How much a line counts has no steps. The more it grazes what it meets the less it counts, so that it has no
weight when it comes off the edge of a limb; nor has it at the end of its reach, where it meets skin that is
crumpled, where other skin ahead of it is as near as that behind, or where it meets the skin it begins at.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from ecorche.base.ray_tree import Hits

Points = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int32]

FULLY, FARTHEST = 0.2, 0.35
"""How far back lines count fully and how far at all, as a share of how thick the body is there at bind."""
AHEAD = 1.5
"""How much farther than skin behind a vertex skin ahead of it must be for that behind to count fully."""
_GRAZING, _FACING = np.float32(0.15), np.float32(0.5)
"""Cosines between a line and the normal it meets from which on it counts, and counts fully."""
_UPRIGHT = np.float32(0.3)
"""Cosine between a normal and the triangles round it from which on the skin is not crumpled."""


@dataclass(frozen=True, eq=False)
class FacingLines:
    """Lines that met skin in one pose.

    Attributes:
        places: Where they begin, (n,).
        corners, shares: Places of the triangles that they met, and how near each corner is, (n, 3) each.
        gaps: How far ahead it is, less than 0 behind [m], as far as the line counts, (n,).
        give: Which share of what is missing the beginning gives way, (n,).
    """

    places: Ints
    corners: Ints
    shares: Points
    gaps: Points
    give: Points

    def given_way(self, moved: Points, rounds: int) -> Points:
        """How far places have moved along their normals [m], (places,), after both ends gave way."""
        return np.asarray(
            _give_way(self.places, self.corners, self.shares, self.gaps, self.give, moved, rounds)
        )


def fans(corners: npt.NDArray[np.integer], count: int) -> tuple[Ints, Ints]:
    """Triangles round each place, in rows, (places + 1,), (3 triangles,); ``corners`` are places."""
    at = corners.ravel()
    starts = np.concatenate([[0], np.cumsum(np.bincount(at, minlength=count))])
    return starts.astype(np.int32), (np.argsort(at, kind="stable") // 3).astype(np.int32)


def met(
    looking: Ints,
    hits: Hits,
    ahead: Points,
    triangles: Ints,
    fan: tuple[Ints, Ints],
    points: Points,
    normals: Points,
    reach: Points,
    place: Ints,
    gives: Points,
    resting: Points,
    room: float,
) -> FacingLines:
    """The lines that count at all.

    Args:
        looking: Vertices that lines begin at, (n,).
        hits: What they met, ahead or behind.
        ahead: How far ahead something is for those that met something behind [m], (n,).
        triangles: Of the skin, (triangles, 3).
        fan: See `fans`.
        points: Of the skin [m], (vertices, 3).
        normals: Directions of the lines, (vertices, 3).
        reach: How far lines go [m], (vertices,).
        place: Of each vertex, (vertices,).
        gives: How much each place gives way, (places,).
        resting: How far each is behind skin at bind, which does not count [m], (places,).
        room: How far ahead nothing matters [m].
    """
    found = _met(
        looking, hits.distances, ahead, hits.triangles, triangles, *fan, points, normals, reach, place, gives,
        resting, np.float32(room),
    )  # fmt: skip
    return FacingLines(*found)


@njit(forceinline=True)  # type: ignore[untyped-decorator]
def _ramp(x: float) -> Any:
    part: Any = min(max(x, np.float32(0.0)), np.float32(1.0))
    return part * part * (np.float32(3.0) - np.float32(2.0) * part)


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _met(
    looking: Ints,
    distances: Points,
    ahead: Points,
    hit: Ints,
    triangles: Ints,
    starts: Ints,
    fan: Ints,
    points: Points,
    normals: Points,
    reach: Points,
    place: Ints,
    gives: Points,
    resting: Points,
    room: float,
) -> tuple[Ints, Ints, Points, Points, Points]:
    count = 0
    for row in range(len(looking)):
        count += hit[row] >= 0 and distances[row] < room
    places, gaps, give = np.empty(count, np.int32), np.empty(count, np.float32), np.empty(count, np.float32)
    corners, shares = np.empty((count, 3), np.int32), np.empty((count, 3), np.float32)
    # normals of places as the skin is now, and the least cosine with the triangles round them
    known, normal = np.full((len(starts) - 1, 4), np.float32(np.nan)), np.empty(3, np.float32)
    line = 0
    for row in range(len(looking)):
        if hit[row] < 0 or distances[row] >= room:
            continue
        vertex, way, corner = looking[row], distances[row], triangles[hit[row]]
        _write_shares(points, corner, points[vertex], normals[vertex], way, shares[line])
        normal[:] = 0.0
        against, length, held, sound = np.float32(0.0), np.float32(0.0), np.float32(0.0), np.float32(0.0)
        far = np.float32(0.0)
        for k in range(3):
            at, share = place[corner[k]], shares[line, k]
            if np.isnan(known[at, 3]):
                _look_round(at, triangles, starts, fan, points, known)
            for axis in range(3):
                normal[axis] += share * known[at, axis]
            sound += share * _ramp(known[at, 3] / _UPRIGHT)
            held += share * gives[at]
            far += share * reach[corner[k]]
            corners[line, k] = at
        for axis in range(3):
            against -= normal[axis] * normals[vertex, axis]
            length += normal[axis] ** 2
        counts = _ramp((against / max(np.sqrt(length), np.float32(1e-12)) - _GRAZING) / (_FACING - _GRAZING))
        if way < 0.0:
            # nothing is deeper in a thin limb than that is thick, even if it is thick itself
            far = min(far, reach[vertex])
            counts *= sound * _ramp((far + way) / (far * np.float32(1.0 - FULLY / FARTHEST)))
            counts *= _ramp((-ahead[row] / way - np.float32(1.0)) / np.float32(AHEAD - 1.0))
        # triangles round the beginning itself that are turned over: whether they are met is up to rounding
        own = place[vertex]
        if own == corners[line, 0] or own == corners[line, 1] or own == corners[line, 2]:
            counts = np.float32(0.0)
        if counts <= 0.0:
            continue
        places[line], give[line] = place[vertex], np.float32(1.0) / (np.float32(1.0) + held)
        gaps[line] = (counts * way if way < 0.0 else way / counts) + resting[places[line]]
        line += 1
    return places[:line], corners[:line], shares[:line], gaps[:line], give[:line]


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _look_round(here: int, triangles: Ints, starts: Ints, fan: Ints, points: Points, known: Points) -> None:
    """Write the normal of a place and the least cosine with the triangles round it, (places, 4)."""
    x, y, z = np.float32(0.0), np.float32(0.0), np.float32(0.0)
    for entry in range(starts[here], starts[here + 1]):
        area = _area(triangles, fan[entry], points)
        x, y, z = x + area[0], y + area[1], z + area[2]
    length = max(np.sqrt(x * x + y * y + z * z), np.float32(1e-20))
    known[here, 0], known[here, 1], known[here, 2] = x / length, y / length, z / length
    known[here, 3] = _least_along(here, triangles, starts, fan, points, known[here])


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _least_along(here: int, triangles: Ints, starts: Ints, fan: Ints, points: Points, normal: Points) -> Any:
    """The least cosine between a normal and the triangles round a place."""
    least = np.float32(1.0)
    for entry in range(starts[here], starts[here + 1]):
        x, y, z = _area(triangles, fan[entry], points)
        length = np.sqrt(x * x + y * y + z * z)
        if length > 0.0:
            least = min(least, (x * normal[0] + y * normal[1] + z * normal[2]) / length)
    return least


@njit(inline="always")  # type: ignore[untyped-decorator]
def _area(triangles: Ints, number: int, points: Points) -> Any:
    """The vector area of a triangle, twice."""
    a, b, c = triangles[number, 0], triangles[number, 1], triangles[number, 2]
    ex, ey, ez = points[b, 0] - points[a, 0], points[b, 1] - points[a, 1], points[b, 2] - points[a, 2]
    fx, fy, fz = points[c, 0] - points[a, 0], points[c, 1] - points[a, 1], points[c, 2] - points[a, 2]
    return ey * fz - ez * fy, ez * fx - ex * fz, ex * fy - ey * fx


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _write_shares(
    points: Points, corner: Ints, begin: Points, direction: Points, way: float, share: Points
) -> None:
    """Barycentric coordinates in a triangle of the end of a line."""
    ee, ef, ff, ge, gf = np.float32(0.0), np.float32(0.0), np.float32(0.0), np.float32(0.0), np.float32(0.0)
    for k in range(3):
        a = points[corner[0], k]
        e, f, g = points[corner[1], k] - a, points[corner[2], k] - a, begin[k] + way * direction[k] - a
        ee, ef, ff, ge, gf = ee + e * e, ef + e * f, ff + f * f, ge + g * e, gf + g * f
    area = ee * ff - ef * ef
    if area <= 0.0:
        share[:] = np.float32(1.0 / 3.0)
        return
    share[1] = min(max((ff * ge - ef * gf) / area, np.float32(0.0)), np.float32(1.0))
    share[2] = min(max((ee * gf - ef * ge) / area, np.float32(0.0)), np.float32(1.0) - share[1])
    share[0] = np.float32(1.0) - share[1] - share[2]


@njit(cache=True)  # type: ignore[untyped-decorator]
def _give_way(
    places: Ints, corners: Ints, shares: Points, gaps: Points, give: Points, moved: Points, rounds: int
) -> Points:
    """Rounds in which the beginning of every line that is missing some gap gives way by its share."""
    now, less = moved.copy(), np.zeros(len(places), np.float32)
    for _ in range(rounds):
        for line in range(len(places)):
            missing = now[places[line]] - gaps[line]
            for k in range(3):
                missing += shares[line, k] * now[corners[line, k]]
            less[line] = give[line] * max(missing, np.float32(0.0))
        for line in range(len(places)):
            now[places[line]] -= less[line]
    return now


@njit(cache=True)  # type: ignore[untyped-decorator]
def filled(
    values: Points,
    near_starts: Ints,
    near: Ints,
    weights: Points,
    speakers: Ints,
    triangles: Ints,
    starts: Ints,
    fan: Ints,
    points: Points,
    normals: Points,
) -> Points:
    """Values (places,), none less than 0, where skin is not crumpled; else what those near say that are not.

    Args:
        values: Of places.
        near_starts, near, weights: Places near each, in rows, and how much they say.
        speakers: The first vertex at every place, (places,).
        triangles, points, normals: As `met` has them.
        starts, fan: See `fans`.
    """
    sure, found = np.full(len(values), np.float32(-1.0)), values.copy()
    for place in range(len(values)):
        if values[place] > 0.0:
            for entry in range(near_starts[place], near_starts[place + 1]):
                here = near[entry]
                if sure[here] < 0.0:
                    least = _least_along(here, triangles, starts, fan, points, normals[speakers[here]])
                    sure[here] = _ramp(least / _UPRIGHT)
    for place in range(len(values)):
        if sure[place] < 0.0 or sure[place] == 1.0:
            continue
        total, whole = np.float32(0.0), np.float32(1e-12)
        for entry in range(near_starts[place], near_starts[place + 1]):
            weight = weights[entry] * abs(sure[near[entry]])
            total += weight * values[near[entry]]
            whole += weight
        found[place] += (np.float32(1.0) - sure[place]) * (total / whole - values[place])
    return found
