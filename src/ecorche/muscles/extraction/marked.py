"""A muscle where a person has marked the skin, however little it stands out there.

Text 001, "Muscle Extraction": the user marks a region and the system ensures that a muscle is found there.
The region's own sections are taken; in each of them what is marked is the bump, and all else goes its usual
way: ellipses, rings, ends, name.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from ecorche.base.closest_point import TriangleSurface
from ecorche.base.mesh import coincident_groups
from ecorche.errors import EcorcheError
from ecorche.muscles.extraction.bump import Bump, Cut
from ecorche.muscles.extraction.regions import Region, skin_regions
from ecorche.muscles.extraction.rings import space_rings
from ecorche.muscles.extraction.template_names import TemplateNames
from ecorche.muscles.lofted import LoftedMuscle
from ecorche.skeleton.naming import Naming
from ecorche.skeleton.skeleton import Skeleton

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

MARKED = 0.5
"""A vertex with more than this share of the mask's largest value is marked."""
FEWEST_SECTIONS = 4
"""That a marked region has to reach over."""
NARROWEST = 5
"""Points of a section that a marked stretch has at least."""
WIDEST = 0.6
"""Of a closed section at most this share is one muscle."""
LEAST_SHARE = 0.3
"""Of what is marked, this share at least lies on the region whose muscle it becomes."""
LEAST_WEIGHT = 0.05
"""Weight of the points at the ends of a marked stretch."""


@dataclass(frozen=True, eq=False)
class Marked:
    """A muscle in a marked region.

    Attributes:
        muscle: The muscle.
        region: Name of the region of the skin it lies in.
        notes: What a person should know, a sentence each.
    """

    muscle: LoftedMuscle
    region: str
    notes: tuple[str, ...]


def marked_muscle(
    name: str,
    mask: npt.ArrayLike,
    points: npt.ArrayLike,
    triangles: npt.ArrayLike,
    weights: tuple[npt.ArrayLike, npt.ArrayLike],
    skeleton: Skeleton,
    naming: Naming,
) -> Marked:
    """The muscle that a mark on the skin asks for; refused where the mark is on no limb or trunk region.

    Args:
        name: Its name.
        mask: How much each vertex is marked, shape (V,).
        points, triangles, weights, skeleton, naming: As for `extract_muscles`.
    """
    places, corners = np.asarray(points, np.float64), np.asarray(triangles, np.int64).reshape(-1, 3)
    values = np.asarray(mask, np.float64)
    if not values.max(initial=0.0) > 0.0:
        raise EcorcheError("nothing is marked", where=name, remedy="Paint a region of the skin, up to 1")
    on, notes = _largest_piece(values > MARKED * values.max(), places, corners)
    area = _marked_area(on, places, corners)
    if area <= 0.0:
        raise EcorcheError(
            "no whole face of the skin is marked", where=name, remedy="Mark a region, not single vertices"
        )
    regions, left_out = skin_regions(points, triangles, weights, skeleton, naming)
    surface = TriangleSurface(places, corners)
    best: tuple[float, Region, list[Bump]] | None = None
    for region in regions:
        bumps = [b for n, c in enumerate(region.cuts) if (b := _bump(n, c, surface, corners, on)) is not None]
        bumps = _one_each_rank(region.cuts, bumps)
        share = _covered(region.cuts, bumps) / area
        if best is None or share > best[0]:
            best = share, region, bumps
    if best is None or best[0] < LEAST_SHARE:
        moved_by = skeleton.names[_dominant(on, weights)]
        reason = next((f": {why}" for part, why in left_out if moved_by in part.split(", ")), "")
        raise EcorcheError(
            f"what is marked moves mostly with {moved_by!r}, where no muscles are sought{reason}",
            where=name,
            remedy=f"Mark a part of: {'; '.join(r.name for r in regions)}",
        )
    share, region, bumps = best
    if len(bumps) < FEWEST_SECTIONS:
        raise EcorcheError(
            f"what is marked reaches over {len(bumps)} sections of {region.name}, a muscle over"
            f" {FEWEST_SECTIONS} at least",
            where=name,
            remedy="Mark a longer region",
        )
    wide = [region.cuts[b.cut].closed and b.last - b.first + 1 >= _most(region.cuts[b.cut]) for b in bumps]
    if 2 * sum(wide) > len(bumps):
        raise EcorcheError(
            f"what is marked goes all round {region.name}, or nearly so",
            where=name,
            remedy="Mark the side of it where the muscle lies",
        )
    if share < 0.7:
        notes.append(f"{100.0 * share:.0f} % of what is marked lie in {region.name}, whose muscle it is.")
    rings = space_rings(region.cuts, bumps, [region.ellipse(region.cuts[b.cut], b) for b in bumps])
    muscle = region.muscle(rings)
    if isinstance(muscle, str):
        raise EcorcheError(
            f"what is marked in {region.name} makes no muscle: {muscle}",
            where=name,
            remedy="Mark up to nearer a joint, or draw it: --add NAME --between JOINT JOINT --radius METRES",
        )
    (muscle,) = TemplateNames(skeleton, naming).named([muscle], [rings])
    known = name if muscle.muscle == muscle.name else muscle.muscle
    return Marked(replace(muscle, name=name, muscle=known), region.name, tuple(notes))


def _dominant(on: Bools, weights: tuple[npt.ArrayLike, npt.ArrayLike]) -> int:
    """The joint that moves the marked vertices most."""
    joints, shares = np.asarray(weights[0], np.int64)[on], np.asarray(weights[1], np.float64)[on]
    return int(np.argmax(np.bincount(joints.ravel(), shares.ravel())))


def _largest_piece(on: Bools, points: Floats, triangles: Ints) -> tuple[Bools, list[str]]:
    """The largest connected piece of what is marked, and a note where there are more."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    same = coincident_groups(points).astype(np.int64)
    count = int(same.max(initial=-1)) + 1
    marked = np.zeros(count, bool)
    marked[same[on]] = True
    edges = same[triangles][:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
    edges = edges[marked[edges].all(axis=1)]
    graph = coo_array((np.ones(len(edges), np.int8), (edges[:, 0], edges[:, 1])), shape=(count, count))
    label = connected_components(graph, directed=False)[1]
    sizes = np.bincount(label[marked], minlength=int(label.max()) + 1)
    pieces = int((sizes > 0).sum())
    kept = on & (label[same] == int(sizes.argmax()))
    if pieces < 2:
        return kept, []
    return kept, [
        f"What is marked is {pieces} pieces: the largest became the muscle,"
        f" {int(on.sum() - kept.sum())} other marked vertices were left out."
    ]


def _marked_area(on: Bools, points: Floats, triangles: Ints) -> float:
    """Of the faces all of whose corners are marked [m²]."""
    corners = points[triangles[on[triangles].all(axis=1)]]
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    return float(0.5 * np.linalg.norm(across, axis=1).sum())


def _bump(number: int, cut: Cut, surface: TriangleSurface, triangles: Ints, on: Bools) -> Bump | None:
    """What is marked of a section as a bump: its longest stretch; None where nothing is."""
    near = surface.closest(cut.points)
    value = np.sum(on[triangles[near.triangles]] * near.barycentric, axis=1)
    run = _longest_run(value > MARKED, cut.closed)
    if run is None:
        return None
    count = len(cut.points)
    first, last = run
    short = NARROWEST - (last - first + 1)
    if short > 0:
        first, last = first - (short + 1) // 2, last + (short + 1) // 2
    while last - first + 1 > _most(cut):
        first, last = first + 1, last - 1
    if not cut.closed:
        first, last = max(first, 0), min(last, count - 1)
    if last - first + 1 < NARROWEST:
        return None
    rounds = (first // count) * count
    first, last = first - rounds, last - rounds
    own = cut.flat[np.arange(first, last + 1) % count]
    chord = own[-1] - own[0]
    # the body is on the left of the curve: outwards is to its right
    outward = np.array([chord[1], -chord[0]]) / max(float(np.linalg.norm(chord)), 1e-12)
    height = (own - own[0]) @ outward
    top = int(np.argmax(height[1:-1])) + 1
    places = np.arange(len(own))
    away = np.where(places < top, (top - places) / top, (places - top) / (len(own) - 1 - top))
    weights = np.maximum((1.0 - away**2) ** 2, LEAST_WEIGHT)
    return Bump(number, first, last, first + top, max(float(height[top]), 0.0), weights)


def _most(cut: Cut) -> int:
    """Points of a section that one muscle has at most."""
    return int(WIDEST * len(cut.points)) if cut.closed else len(cut.points)


def _longest_run(on: Bools, closed: bool) -> tuple[int, int] | None:
    """First and last of the longest row of marked points; ``last`` may be past the end of a closed curve."""
    count = len(on)
    if not on.any():
        return None
    if on.all():
        return 0, count - 1
    line = np.concatenate([on, on]) if closed else on
    steps = np.diff(np.concatenate([[False], line, [False]]).astype(np.int8))
    starts, stops = np.flatnonzero(steps == 1), np.flatnonzero(steps == -1)
    longest = int(np.argmax(stops - starts))
    return int(starts[longest]), int(stops[longest]) - 1


def _one_each_rank(cuts: Sequence[Cut], bumps: Sequence[Bump]) -> list[Bump]:
    """Of the bumps in sections of one level the widest, by rising rank."""
    widest: dict[int, Bump] = {}
    for bump in bumps:
        rank = cuts[bump.cut].rank
        if rank not in widest or bump.last - bump.first > widest[rank].last - widest[rank].first:
            widest[rank] = bump
    return [widest[rank] for rank in sorted(widest)]


def _covered(cuts: Sequence[Cut], bumps: Sequence[Bump]) -> float:
    """About how much skin lies in bumps of neighbouring sections [m²]."""
    total = 0.0
    for one, other in pairwise(bumps):
        a, b = cuts[one.cut], cuts[other.cut]
        if b.rank - a.rank > 1:
            continue
        widths = [_width(c, x) for c, x in ((a, one), (b, other))]
        tops = [c.points[x.top % len(c.points)] for c, x in ((a, one), (b, other))]
        apart = abs(float((tops[1] - tops[0]) @ a.normal(one.top)))
        total += 0.5 * sum(widths) * apart
    return total


def _width(cut: Cut, bump: Bump) -> float:
    """Along a bump [m]."""
    own = cut.points[np.arange(bump.first, bump.last + 1) % len(cut.points)]
    return float(np.linalg.norm(np.diff(own, axis=0), axis=1).sum())
