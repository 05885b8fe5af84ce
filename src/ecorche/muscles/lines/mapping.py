"""Which place of an action line each vertex of a muscle belongs to, and which way it faces there.

From section 4.4.3 of text 002. The XY planes of the nodes' frames cut space into slabs, one a segment. A
vertex at the distances d₁ and d₂ from the two planes that enclose it belongs to the place ``t = d₁ / (d₁ +
d₂)`` of that segment, and is kept in the frame there. (Text 002 prints the weights of its origin swapped.)
Where a bent line encloses a vertex more than once, the place nearest to it counts. A vertex beyond an end
belongs to that end and moves rigidly with it. One that lies in no slab and beyond both ends, because the
line curls round it, is *lost*: it goes with the nearer end, and the report names it.

What is changed: text 002 takes plane and frame at a node or place itself. A vertex on the inner side of a
bend then turns over as soon as it is farther from the line than the bend's radius, and at bind such planes
cross inside broad muscles. Here a vertex at the distance r from the line takes the *mean over the stretch of
line within r*; so a bend is felt over as much of the line as the muscle is broad. On the dog, every muscle
on one line bent by 30°, 0.01 % of the triangles turn over instead of 0.37 %. The nearer the line, the nearer
to text 002, and on it the same: the mean over no length is the blend of the two nodes with t. Weights of the
nodes are numbers of bind; their quaternions are summed and brought to unit length, which differs from a
slerp by a fifth of a degree where two nodes are 60° apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
from numba import njit

from ecorche.base.rotations import normalise
from ecorche.muscles.lines.cubic import node_turns, points_on_lines
from ecorche.muscles.lines.frames import LineFrames

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False, repr=False)
class Mapping:
    """Places on one action line of n nodes for V vertices at bind.

    Attributes:
        node: Number of the node before each place among all nodes, (V,).
        t: Share of the way from that node to the next, (V,).
        place: On the line [m], (V, 3).
        blend: How much each node of the line counts in the vertex's frame, (V, n).
        turn: That frame as a quaternion x, y, z, w, (V, 4).
        distance: Of the vertex from the place [m], (V,).
        along: How far along the line the place is, segments by their chords [m], (V,).
        end: −1 for vertices that belong to the origin's end, 1 to the insertion's, else 0, (V,).
        lost: Which are beyond both ends and enclosed by no planes, (V,).
    """

    node: Ints
    t: Floats
    place: Floats
    blend: Floats
    turn: Floats
    distance: Floats
    along: Floats
    end: npt.NDArray[np.int8]
    lost: Bools


def map_to_line(points: Floats, lines: LineFrames, line: int) -> Mapping:
    """Where vertices (V, 3) [m] belong on one of the lines at bind."""
    first, end = int(lines.starts[line]), int(lines.starts[line + 1])
    nodes, axes = lines.nodes[first:end], lines.frames[first:end, :, 2]
    count, segments = len(points), end - first - 1
    reached = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(nodes, axis=0), axis=1))])
    radius = _distance_to_polyline(points, nodes)
    height = np.stack(
        [
            np.sum(
                (points - nodes[k]) * normalise(mean_weights(reached, np.full(count, at), radius) @ axes),
                axis=1,
            )
            for k, at in enumerate(reached)
        ],
        axis=1,
    )
    inside = (height[:, :-1] >= 0.0) & (height[:, 1:] <= 0.0)
    span = height[:, :-1] - height[:, 1:]
    share = np.where(span > 0.0, height[:, :-1] / np.where(span > 0.0, span, 1.0), 0.5)
    # one candidate a segment that encloses the vertex, and the two ends
    node = np.concatenate([np.arange(segments), [0, segments - 1]]).astype(np.int32) + first
    t = np.concatenate([share, np.zeros((count, 1)), np.ones((count, 1))], axis=1)
    before, after = height[:, 0] < 0.0, height[:, -1] > 0.0
    # a vertex on the near side of both ends is in a slab: somewhere its heights change sign
    allowed = np.concatenate([inside, before[:, None], after[:, None]], axis=1)
    owner, candidate = np.nonzero(allowed)
    turns = np.empty((len(lines.nodes), 4))
    node_turns(lines.starts, lines.frames, turns)
    curved = bool(lines.curved[line])
    place = points_on_lines(lines.nodes, turns, node[candidate], t[owner, candidate], curved)
    apart = np.full(allowed.shape, np.inf)
    apart[owner, candidate] = np.linalg.norm(points[owner] - place, axis=1)
    best = np.argmin(apart, axis=1)
    row = np.full(allowed.shape, -1)
    row[owner, candidate] = np.arange(len(owner))
    rows = np.arange(count)
    at, own, distance = t[rows, best], node[best], apart[rows, best]
    along = reached[own - first] + at * (reached[own - first + 1] - reached[own - first])
    blend = mean_weights(reached, along, radius)
    return Mapping(
        node=own,
        t=at,
        place=place[row[rows, best]],
        blend=blend,
        turn=normalise(blend @ turns[first:end]),
        distance=distance,
        along=along,
        end=np.where(best == segments, -1, np.where(best == segments + 1, 1, 0)).astype(np.int8),
        # beyond both ends at once: the line curls round the vertex
        lost=before & after & ~inside.any(axis=1),
    )


def _distance_to_polyline(points: Floats, nodes: Floats) -> Floats:
    """Of each point from the nearest place of a line [m], (V,)."""
    nearest = np.full(len(points), np.inf)
    for a, b in pairwise(nodes):
        way = b - a
        share = np.clip((points - a) @ way / max(float(way @ way), 1e-300), 0.0, 1.0)
        nearest = np.minimum(nearest, np.linalg.norm(points - a - share[:, None] * way, axis=1))
    return nearest


def mean_weights(at: Floats, along: Floats, reach: Floats) -> Floats:
    """How values at knots count in the mean of the polygon through them over ``along`` ± ``reach``, (V, n).

    Args:
        at: Knots, ascending, (n,).
        along: Middles of the stretches, (V,); what lies past the first and last knot does not count.
        reach: Half lengths of the stretches, (V,).
    """
    weights = np.zeros((len(along), len(at)))
    _mean_weights(at, along, reach, weights)
    return weights


@njit(cache=True)  # type: ignore[untyped-decorator]
def _mean_weights(at: Floats, along: Floats, reach: Floats, weights: Floats) -> None:
    last = len(at) - 1
    for v in range(len(along)):
        low, high = max(along[v] - reach[v], at[0]), min(along[v] + reach[v], at[last])
        whole = 0.0
        for k in range(last):
            left, right = at[k], at[k + 1]
            if right > left:
                # of the part of this segment that is in the stretch: its length and its middle
                a, b = min(max(low, left), right), min(max(high, left), right)
                share = (0.5 * (a + b) - left) / (right - left)
                weights[v, k] += (b - a) * (1.0 - share)
                weights[v, k + 1] += (b - a) * share
                whole += b - a
        if whole > 1e-9 * (at[last] - at[0]):
            for k in range(last + 1):
                weights[v, k] /= whole
            continue
        # a stretch of no length: the polygon there
        k = min(max(np.searchsorted(at, along[v], "right") - 1, 0), last - 1)
        size = at[k + 1] - at[k]
        share = min(max((along[v] - at[k]) / size, 0.0), 1.0) if size > 0.0 else 0.0
        weights[v] = 0.0
        weights[v, k], weights[v, k + 1] = 1.0 - share, share
