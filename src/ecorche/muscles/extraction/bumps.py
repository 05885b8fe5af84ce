"""Bumps of closed sections: how far a limb swells over itself without muscles, and which stretch of it does.

Text 001, "Identification of Potential Muscles": a constrained Delaunay triangulation of the section, whose
triangles are terminal (two outer edges), sleeve (one) or junction (none); from each terminal triangle on
triangles are merged while the merged stretch stays within the semicircle over its chord (Igarashi et al.,
1999), up to a junction. The text takes every merged stretch for a muscle. On a smooth section, round or
oval, these stretches say little: any polygon has terminal triangles. So here they tell where a bump lies,
and how far the skin swells tells whether it is one. The measure is ours: the limb without muscles is the
straight taper from its first section to its last, each taken about its own middle; a bump's height is how
far the section stands out over that. A cylinder or cone of any section, round, oval or cornered, has no
bump.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import shapely

from ecorche.muscles.extraction.bump import Bump, Cut

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

ENDS = 2
"""So many sections at each end of a region, averaged, are the ends of its taper."""
MOST_TAPER = 1.7
"""Of a limb without muscles, thick end over thin one: where a haunch is thicker, the rest is flesh."""
SWOLLEN = 0.3
"""How much points that stand out count, against 1 of the others, where a section's middle is sought."""
GRAIN = 1.5
"""Width of the Gaussian, in points of the section and in sections, that takes the mesh's facets out."""
VALLEY = 0.2
"""Two tops are two bumps if the valley between them lies below the lower by this share of its height."""
FAR, FAR_VALLEY = 0.3, 0.05
"""Between tops further apart than this share of the section, a valley of this share is enough."""
LEAST = 0.02
"""Heights under this share of the section's mean radius are none."""
NARROWEST = 0.06
"""A bump reaches at least this share of the section's length to either side of its top."""
WIDEST = 0.2
"""And at most this share: two fifths of the section in all."""
LEAST_WEIGHT = 0.05
"""Weight of the points at a bump's ends."""


def swelling(cuts: Sequence[Cut]) -> Floats:
    """How far each point of a region's closed sections stands out over the straight taper [m], (C, P)."""
    flats = np.stack([cut.flat for cut in cuts])
    middles = flats.mean(axis=1, keepdims=True)
    around = flats - middles
    angles = np.arctan2(around[..., 1], around[..., 0])
    radii = np.linalg.norm(around, axis=-1)
    count = flats.shape[1]
    even = 2.0 * np.pi * np.arange(count) / count
    at_angles = np.stack([_interpolated(even, a, r) for a, r in zip(angles, radii, strict=True)])
    at_angles = _smooth_along(_smooth_round(at_angles))
    along = np.array([cut.along for cut in cuts])
    first, last = at_angles[:ENDS].mean(axis=0), at_angles[-ENDS:].mean(axis=0)
    first, last = (
        first * min(1.0, MOST_TAPER * last.mean() / first.mean()),
        last * min(1.0, MOST_TAPER * first.mean() / last.mean()),
    )
    start, end = along[:ENDS].mean(), along[-ENDS:].mean()
    share = np.clip((along - start) / max(end - start, 1e-12), 0.0, 1.0)[:, None]
    over = _about_what_does_not_swell(at_angles - (first + share * (last - first)), even)
    return np.stack([_interpolated(a, even, o) for a, o in zip(angles, over, strict=True)])


def _about_what_does_not_swell(over: Floats, angles: Floats) -> Floats:
    """Heights (C, P) at angles (P,) about a middle moved to where the parts that do not swell have it.

    A muscle on one side draws a section's own middle towards it. So the middle is sought by least squares in
    which what stands out counts little.
    """
    ways = np.column_stack([np.cos(angles), np.sin(angles)])
    shift = np.zeros((len(over), 2))
    for _ in range(20):
        rest = over - shift @ ways.T
        pull = np.where(rest > 0.0, SWOLLEN, 1.0)
        normal = np.einsum("cp,pi,pj->cij", pull, ways, ways)
        shift = np.linalg.solve(normal, np.einsum("cp,cp,pi->ci", pull, over, ways)[..., None])[..., 0]
    return np.asarray(over - shift @ ways.T)


def _interpolated(at: Floats, angles: Floats, values: Floats) -> Floats:
    return np.interp(at % (2.0 * np.pi), angles % (2.0 * np.pi), values, period=2.0 * np.pi)


def _kernel() -> Floats:
    reach = np.arange(-int(3 * GRAIN), int(3 * GRAIN) + 1)
    bell: Floats = np.exp(-0.5 * (reach / GRAIN) ** 2)
    return np.asarray(bell / bell.sum())


def _smooth_round(rows: Floats) -> Floats:
    """Rows smoothed as closed curves, (…, P)."""
    kernel = _kernel()
    reach = len(kernel) // 2
    turned = np.stack([np.roll(rows, shift, axis=-1) for shift in range(-reach, reach + 1)])
    return np.asarray(np.tensordot(kernel, turned, axes=1))


def _smooth_along(rows: Floats) -> Floats:
    """Rows smoothed from one to the next, the first and last going on as they are, (C, P)."""
    kernel = _kernel()
    reach = len(kernel) // 2
    padded = np.concatenate([np.repeat(rows[:1], reach, axis=0), rows, np.repeat(rows[-1:], reach, axis=0)])
    return np.stack([kernel @ padded[n : n + len(kernel)] for n in range(len(rows))])


def merged_stretches(flat: Floats) -> list[tuple[int, int, int]]:
    """The stretches (first, tip, last) of a closed curve that the semicircle rule merges from its tips.

    Points from first to last belong to it; ``tip`` and ``last`` may be past the end and are counted round.
    Empty where the curve crosses itself. ``flat`` is counter-clockwise, (P, 2).
    """
    polygon = shapely.Polygon(flat)
    if not polygon.is_valid or polygon.area <= 0.0:
        return []
    number = {(float(x), float(y)): n for n, (x, y) in enumerate(flat)}
    triangles = [
        tuple(number[corner] for corner in list(t.exterior.coords)[:3])
        for t in shapely.constrained_delaunay_triangles(polygon).geoms
    ]
    count = len(flat)
    over: dict[tuple[int, int], list[int]] = {}
    for n, triangle in enumerate(triangles):
        for a, b in zip(triangle, (*triangle[1:], triangle[0]), strict=True):
            if (a - b) % count not in (1, count - 1):  # an inner edge
                over.setdefault((min(a, b), max(a, b)), []).append(n)
    inner = [[edge for edge in _edges(t) if edge in over] for t in triangles]
    stretches = []
    for start, edges in enumerate(inner):
        if len(edges) != 1:
            continue
        tip = next(c for c in triangles[start] if c not in edges[0])
        edge, here = edges[0], start
        first, last = _stretch(edge, tip, count)
        while _within_semicircle(flat, first, last):
            onward = [n for n in over[edge] if n != here]
            if not onward or len(inner[onward[0]]) != 2:
                break
            here = onward[0]
            edge = next(e for e in inner[here] if e != edge)
            first, last = _stretch(edge, tip, count)
        stretches.append((first, first + (tip - first) % count, last))
    return sorted(stretches)


def _edges(triangle: Sequence[int]) -> list[tuple[int, int]]:
    return [(min(a, b), max(a, b)) for a, b in zip(triangle, (*triangle[1:], triangle[0]), strict=True)]


def _stretch(edge: tuple[int, int], tip: int, count: int) -> tuple[int, int]:
    """The points from one end of a chord to the other by way of the tip."""
    low, high = edge
    return (low, high) if low < tip < high else (high, low + count)


def _within_semicircle(flat: Floats, first: int, last: int) -> bool:
    count = len(flat)
    points = flat[np.arange(first, last + 1) % count]
    middle, radius = 0.5 * (points[0] + points[-1]), 0.5 * np.linalg.norm(points[-1] - points[0])
    return bool((np.linalg.norm(points - middle, axis=1) <= radius * (1.0 + 1e-9)).all())


def limb_bumps(cuts: Sequence[Cut], first_cut: int = 0) -> list[Bump]:
    """The bumps in a region's closed sections; ``first_cut`` is the number of its first section."""
    heights = swelling(cuts)
    bumps: list[Bump] = []
    for number, (cut, height) in enumerate(zip(cuts, heights, strict=True)):
        radius = float(np.linalg.norm(cut.flat - cut.flat.mean(axis=0), axis=1).mean())
        smooth = _smooth_round(cut.flat.T).T
        stretches = merged_stretches(smooth)
        for low, top, high in _hills(height, LEAST * radius):
            bumps.append(_bump(first_cut + number, height, low, top, high, stretches))
    return bumps


def _bump(
    cut: int, height: Floats, low: int, top: int, high: int, stretches: Sequence[tuple[int, int, int]]
) -> Bump:
    """The bump of a hill: as far as the merged stretches on it reach, else where it has half its height."""
    count = len(height)
    reach = max(round(NARROWEST * count), 2)
    first, last = top, top
    for begin, tip, end in stretches:
        on_hill = low + (tip - low) % count
        if on_hill <= high:
            first = min(first, max(on_hill - (tip - begin), low))
            last = max(last, min(on_hill + (end - tip), high))
    half = 0.5 * height[top % count]
    while first > low and height[(first - 1) % count] >= half:
        first -= 1
    while last < high and height[(last + 1) % count] >= half:
        last += 1
    most = max(round(WIDEST * count), reach)
    first, last = min(max(first, top - most), top - reach), max(min(last, top + most), top + reach)
    rounds = (first // count) * count
    places = np.arange(first, last + 1)
    away = np.where(places < top, (top - places) / max(top - first, 1), (places - top) / max(last - top, 1))
    weights = np.maximum((1.0 - away**2) ** 2, LEAST_WEIGHT)
    return Bump(cut, first - rounds, last - rounds, top - rounds, float(height[top % count]), weights)


def _hills(height: Floats, least: float) -> list[tuple[int, int, int]]:
    """Hills (first, top, last) of a height round a closed curve, those with shallow valleys between as one.

    Points of a hill have positive height; the numbers may be past the end and are counted round.
    """
    count = len(height)
    if height.max() <= least:
        return []
    begin = int(np.argmin(height))  # the lowest point is no hill's middle
    line = height[(begin + np.arange(count + 1)) % count]
    tops = [
        n for n in range(1, count) if line[n] > line[n - 1] and line[n] >= line[n + 1] and line[n] > least
    ]
    hills: list[int] = []
    for top in sorted(tops, key=lambda n: -line[n]):  # the same whichever way round the curve is walked
        if all(_apart(line, min(top, hill), max(top, hill)) for hill in _beside(hills, top)):
            hills.append(top)
    hills.sort()
    found = []
    for n, top in enumerate(hills):
        before = hills[n - 1] if n else 0
        behind = hills[n + 1] if n + 1 < len(hills) else count
        low = before + int(np.argmin(line[before : top + 1]))
        high = top + int(np.argmin(line[top : behind + 1]))
        while line[low] <= 0.0 and low < top:
            low += 1
        while line[high] <= 0.0 and high > top:
            high -= 1
        found.append((begin + low, begin + top, begin + high))
    return found


def _beside(hills: Sequence[int], top: int) -> list[int]:
    """The next hill before a top and the next behind it, where there is one."""
    before, behind = [h for h in hills if h < top], [h for h in hills if h > top]
    return [*([max(before)] if before else []), *([min(behind)] if behind else [])]


def _apart(line: Floats, first: int, last: int) -> bool:
    """Whether a valley parts two tops of a closed curve (P + 1,)."""
    count = len(line) - 1
    lower = min(line[first], line[last])
    deep = FAR_VALLEY if FAR * count <= last - first <= (1.0 - FAR) * count else VALLEY
    return bool(lower - max(line[first : last + 1].min(), 0.0) >= deep * lower)
