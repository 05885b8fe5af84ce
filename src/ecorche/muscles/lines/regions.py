"""Which one or two action lines each vertex of a muscle follows: regions grown over the mesh.

From sections 4.4.3 and 4.5.4 of text 002. The nearest line in space is the wrong one where a muscle is
folded: in a deltoid, whose section is a U, vertices of the front lie nearer to the line of the back. So
every line has one connected *region* on the mesh. Each vertex begins with the line nearest to it; of the
patches of a line that are not joined, the one that most places of the line lie next to is its region, and
the others go to their next best line, until nothing changes. (Text 002 merges numbered regions over ever
worse lines; as printed that ends with every region everywhere.)

Between two lines a vertex follows both. The second line is one whose region meets the vertex's own beside it
and is not much farther over the surface than any other, and its weight is *how far the vertex lies on the
way from the one line to the other*, ``u = (V − C₁) · (C₂ − C₁) / ‖C₂ − C₁‖²`` within 0 and 1, slower where
the vertex is farther off than the lines are apart. On a thin
plate that is text 002's (4.7); on the border, outside the lines, it is 0, which is text 002's border rule;
and over thick muscles it stays continuous, where (4.7) with a threshold of the angle jumps. ``border_angle``
asks for text 002's own two rules.

Where a belly branches into tendons, vertices of the tendons follow their own line only (``exclusive``
segments); a second line fades out over the first such segment.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecorche.base.smooth_step import smooth_step
from ecorche.muscles.lines.frames import LineFrames
from ecorche.muscles.lines.mapping import Mapping
from ecorche.muscles.lines.surface_graph import SurfaceGraph

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

SAMPLES = 8
"""Places a segment where a line is asked which vertex is next to it."""
ROUNDS = 100
"""Rounds of growing after which what is left is taken as it is: ten are many."""


@dataclass(frozen=True, eq=False, repr=False)
class Regions:
    """The lines of each vertex, as positions in the muscle's own list of lines.

    Attributes:
        first: The line whose region the vertex is in, (V,).
        second: The other line, or −1, (V,).
        weight: Of the second line, 0 to 1, (V,).
    """

    first: Ints
    second: Ints
    weight: Floats


def grow_regions(
    graph: SurfaceGraph,
    lines: LineFrames,
    own: Sequence[int],
    mappings: Sequence[Mapping],
    *,
    border_angle: float | None = None,
    exclusive: Bools | None = None,
) -> Regions:
    """One or two lines for each vertex of a mesh.

    Args:
        graph: The mesh.
        lines: All lines of the body.
        own: Those that drive this muscle.
        mappings: Of the vertices to each of them.
        border_angle: Where the two lines are seen under a smaller angle [rad], the vertex is on the border
            and follows one line, with text 002's weights (π/2 is its default); None is the rule above.
        exclusive: Segments whose vertices follow no second line, packed, (N − L,).
    """
    count = len(graph.points)
    first = _first_lines(graph, lines, own, mappings)
    second, weight = np.full(count, -1), np.zeros(count)
    if len(own) == 1:
        return Regions(first, second, weight)
    place = np.stack([m.place for m in mappings], axis=1)
    distance = np.stack([m.distance for m in mappings], axis=1)
    rows = np.arange(count)
    here = place[rows, first]
    nearby = _nearby(graph, first, len(own)) * _meeting(graph, lines, own, mappings, first)
    best = np.zeros(count)
    for other in range(len(own)):
        usable = (first != other) & (nearby[:, other] > 0.0)
        way = place[:, other] - here
        if border_angle is None:
            part = np.clip(_way_across(graph.points - here, way), 0.0, 1.0) * nearby[:, other]
            score = part
        else:
            part = _published_weight(graph.points, here, place[:, other], border_angle)
            score = np.where(part > 0.0, 1.0 / np.maximum(distance[:, other], 1e-12), 0.0)
        better = usable & (score > best)
        best, second, weight = (
            np.where(better, score, best),
            np.where(better, other, second),
            np.where(better, part, weight),
        )
    if exclusive is not None:
        weight = weight * _shared(lines, own, mappings, first, exclusive)
        second = np.where(weight > 0.0, second, -1)
    return Regions(first, second, weight)


def _way_across(offset: Floats, way: Floats) -> Floats:
    """How far vertices lie on the way from one line to another, (V,): 0 at the one, 1 at the other.

    The way is at least as long as they are off it: two lines that begin close together turn apart, and what
    lies far from both goes over from the one to the other over as long a stretch.
    """
    length = np.linalg.norm(way, axis=1)
    along = np.sum(offset * way, axis=1) / np.where(length > 1e-9, length, np.inf)
    beside = np.sqrt(np.maximum(np.sum(offset * offset, axis=1) - along * along, 0.0))
    wide = np.maximum(np.maximum(length, beside), 1e-9)
    return np.asarray(0.5 + (along - 0.5 * length) / wide)


def _published_weight(points: Floats, here: Floats, there: Floats, border_angle: float) -> Floats:
    """Of the second line by (4.7), zero on the border, (V,)."""
    a, b = here - points, there - points
    near, far = np.linalg.norm(a, axis=1), np.linalg.norm(b, axis=1)
    cosine = np.sum(a * b, axis=1) / np.maximum(near * far, 1e-300)
    weight = near / np.maximum(near + far, 1e-300)
    return np.where(np.arccos(np.clip(cosine, -1.0, 1.0)) < border_angle, 0.0, weight)


def _first_lines(
    graph: SurfaceGraph, lines: LineFrames, own: Sequence[int], mappings: Sequence[Mapping]
) -> Ints:
    """The region each vertex is in, (V,)."""
    count = len(graph.points)
    if len(own) == 1:
        return np.zeros(count, np.int64)
    distance = np.stack([m.distance for m in mappings], axis=1)
    beside = [_vertices_beside(graph.points, lines, line) for line in own]
    runs = np.zeros((graph.piece_count, len(own)), bool)
    for k, vertices in enumerate(beside):
        runs[graph.piece[vertices], k] = True
    runs[~runs.any(axis=1)] = True
    allowed = runs[graph.piece]
    first = np.zeros(count, np.int64)
    for _ in range(ROUNDS):
        first = np.argmin(np.where(allowed, distance, np.inf), axis=1)
        before = int(allowed.sum())
        for k in range(len(own)):
            of_line = first == k
            part = graph.components(of_line)
            touched = np.bincount(part[beside[k][of_line[beside[k]]]], minlength=part.max() + 1)
            size = np.bincount(part[of_line], minlength=part.max() + 1)
            for piece in np.unique(graph.piece[of_line]):
                inside = of_line & (graph.piece == piece)
                parts = np.unique(part[inside])
                kept = max(parts, key=lambda p: (touched[p], size[p], -p))
                lose = inside & (part != kept) & (allowed.sum(axis=1) > 1)
                allowed[lose, k] = False
        if int(allowed.sum()) == before:
            break
    return first


def _vertices_beside(points: Floats, lines: LineFrames, line: int) -> Ints:
    """The vertex next to each of some places of a line."""
    from scipy.spatial import cKDTree

    nodes = lines.nodes[lines.starts[line] : lines.starts[line + 1]]
    share = (np.arange(SAMPLES * (len(nodes) - 1)) + 0.5) / SAMPLES
    k = share.astype(np.int64)
    places = nodes[k] + (share - k)[:, None] * (nodes[k + 1] - nodes[k])
    return np.asarray(cKDTree(points).query(places)[1], np.int64)


def _nearby(graph: SurfaceGraph, first: Ints, count: int) -> Floats:
    """How near over the surface each other region is, (V, lines): 1 the nearest, 0 from twice as far on."""
    ways = np.stack([graph.ways(np.flatnonzero(first == k)) for k in range(count)], axis=1)
    ways[np.arange(len(first)), first] = np.inf
    nearest = ways.min(axis=1, keepdims=True)
    known = np.isfinite(ways) & (nearest > 0.0)
    far = np.divide(ways, nearest, out=np.full(ways.shape, np.inf), where=known)
    return 1.0 - smooth_step((far - 1.25) / 0.75)


def _meeting(
    graph: SurfaceGraph, lines: LineFrames, own: Sequence[int], mappings: Sequence[Mapping], first: Ints
) -> Floats:
    """How near along its own line each vertex is to where its region meets the others', (V, lines), 0 to 1.

    One at the height of a common border, falling to nothing one longest segment away: the tip where all lines
    of a fan come together does not make its two outer lines neighbours all the way.
    """
    at = np.zeros(int(graph.merged.max(initial=-1)) + 1, np.int64)
    at[graph.merged] = np.arange(len(first))
    edges = at[graph.edges]
    ends = first[edges]
    found = np.zeros((len(first), len(own)))
    for k, line in enumerate(own):
        nodes = lines.nodes[lines.starts[line] : lines.starts[line + 1]]
        reach = float(np.linalg.norm(np.diff(nodes, axis=0), axis=1).max())
        members = np.flatnonzero(first == k)
        asked = mappings[k].along[members]
        for other in range(len(own)):
            one, two = (ends == (k, other)).all(axis=1), (ends == (other, k)).all(axis=1)
            heights = np.sort(mappings[k].along[np.concatenate([edges[one, 0], edges[two, 1]])])
            if other == k or not len(heights):
                continue
            right = np.searchsorted(heights, asked).clip(0, len(heights) - 1)
            gap = np.minimum(np.abs(heights[right] - asked), np.abs(heights[(right - 1).clip(0)] - asked))
            found[members, other] = 1.0 - smooth_step(gap / reach)
    return found


def _shared(
    lines: LineFrames, own: Sequence[int], mappings: Sequence[Mapping], first: Ints, exclusive: Bools
) -> Floats:
    """How much of a second line each vertex may follow, (V,): 1, falling to 0 over exclusive segments."""
    shared = np.ones(len(first))
    for k, line in enumerate(own):
        begin, end = int(lines.starts[line]), int(lines.starts[line + 1])
        alone = exclusive[begin - line : end - 1 - line]
        # a node is shared where it touches a segment that is; so a fade lies inside the tendon
        node = np.ones(end - begin)
        node[:-1] = node[1:] = 0.0
        node[:-1] += ~alone
        node[1:] += ~alone
        node = np.minimum(node, 1.0)
        members = np.flatnonzero(first == k)
        n, t = mappings[k].node[members] - begin, smooth_step(mappings[k].t[members])
        shared[members] = (1.0 - t) * node[n] + t * node[n + 1]
    return shared
