"""A first skin made even and let down on the fat: rays, a membrane, smoothing.

A ray goes inwards from above each vertex, by the distance to what is beneath as often as it takes
(J. Hart, "Sphere Tracing", 1996): it ends where the fat over the outermost part begins. Where the skin is
hollow, as at the armpit, rays spread apart on their way in; there more are sent, from the middles of edges
and faces, and the shortest counts. On what they found lies a membrane, which bridges what is between
(`skin.fascia`). G. Taubin's filter ("A Signal Processing Approach to Fair Surface Design", 1995) takes out
what is shorter than a few edges and does not shrink; a last round of rays lifts out again what it pressed in.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ecorche.base.closest_point import TriangleSurface
from ecorche.skin.layers_beneath import LayersBeneath

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

ROUNDS = 12
"""How often vertices are moved towards their neighbours' mean along the surface."""
ABOVE = 0.5
"""How far above the first skin rays begin, in edges."""
BELOW, INTO = 0.2, 0.4
"""How far the membrane is drawn below it where nothing holds it, in edges; and how much farther where gaps
narrower than an edge are not bridged: the first skin is too coarse to enter them."""
HOLLOW = 0.08
"""How far the neighbours' mean must be above a vertex for more rays, in edges."""
MARCHES = 12
"""Steps of a ray."""
NEAR = 1e-5
"""A ray this near to its end has arrived [m]."""
MIDDLES = ([0, 1], [1, 2], [2, 3], [3, 0], [0, 2], [1, 3])
"""Corners of a quad between which its skin is looked at too."""
LEFT, LIFTS = 0.6, 3
"""Share of the fat that must be left beneath all of the skin, and rounds in which it is seen to."""
OUT = 6
"""Rounds in which vertices that were pushed into a part beside, as between fingers, go to their neighbours'
mean, and in the last half, where that is no better, the shortest way out."""
RELAXATIONS, PULL = 20, 0.06
"""Of the membrane: rounds, and how strongly it is drawn in, (edge / 2 ℓ)² of `skin.fascia`."""
SMOOTHING, SMOOTHINGS = 0.4, 10
"""How far towards their neighbours' mean vertices go to smooth the skin, and how often."""


def settled(points: Floats, quads: Ints, beneath: LayersBeneath, mirror: Ints | None) -> Floats:
    """Vertices [m] (vertices, 3) of the skin; with ``mirror`` (vertices,) both halves stay mirror images."""

    def even(places: Floats) -> Floats:
        if mirror is None:
            return places
        # the mean of both halves is the same from either side, bit for bit
        return np.asarray(0.5 * (places + places[mirror] * (-1.0, 1.0, 1.0)))

    surface = TriangleSurface(points, np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]]))
    means = _means(quads, len(points))
    for step in range(ROUNDS):
        shift = 0.6 * (means @ points - points)
        normal = vertex_normals(points, quads)
        shift -= normal * np.sum(normal * shift, axis=1, keepdims=True)
        points = even(points + shift)
        if step % 4 == 3:
            hit = surface.closest(points)
            points = even(np.einsum("vc,vcx->vx", hit.barycentric, surface.corners[hit.triangles]))
    for _ in range(2):
        edge = _edges(points, means)
        _, span = beneath.outside_and_span(points, float(edge.max()))
        below = (BELOW + INTO * np.maximum(1.0 - span / edge, 0.0)) * edge
        points = even(_let_down(points, quads, means, beneath, below))
    edge = _edges(points, means)
    strength = np.minimum(edge / np.percentile(edge, 90.0), 1.0)[:, None]
    for part in (SMOOTHING, -1.03 * SMOOTHING) * SMOOTHINGS:
        points = even(points + part * strength * (means @ points - points))
    points = even(_let_down(points, quads, means, beneath, np.zeros(len(points))))
    for _ in range(LIFTS):
        points = even(_lifted(points, quads, beneath))
    for step in range(OUT):
        held = np.flatnonzero(beneath.holds(points))
        if not len(held):
            break
        points = points.copy()
        points[held] = (means @ points)[held] if step < OUT // 2 else beneath.way_out(points[held], LEFT)
        points = even(points)
    return points


def _let_down(
    points: Floats, quads: Ints, means: sparse.csr_array, beneath: LayersBeneath, below: Floats
) -> Floats:
    """Vertices moved along their normals onto the membrane over the fat, ``below`` [m] where nothing is."""
    normal = vertex_normals(points, quads)
    edge = _edges(points, means)
    above = ABOVE * edge
    start = points + above[:, None] * normal
    depth = _rays(beneath, start, normal, 2.0 * above)
    hollow = np.sum(normal * (means @ points - points), axis=1) > HOLLOW * edge
    for corners in MIDDLES:
        between = quads[:, corners]
        between = between[hollow[between].any(axis=1)]
        middle, way = start[between].mean(axis=1), normal[between].mean(axis=1)
        way /= np.linalg.norm(way, axis=1, keepdims=True)
        found = _rays(beneath, middle, way, 2.0 * above[between].mean(axis=1))
        for corner in range(len(corners)):
            np.minimum.at(depth, between[:, corner], found)
    limit = depth - above
    moved = np.minimum(limit, below)
    for _ in range(RELAXATIONS):
        drawn = (means @ moved + PULL * below) / (1.0 + PULL)
        moved = np.minimum(0.5 * (moved + drawn), limit)
    return np.asarray(points - moved[:, None] * normal)


def _lifted(points: Floats, quads: Ints, beneath: LayersBeneath) -> Floats:
    """Vertices moved out where the middle of an edge or a face has too little fat beneath it."""
    lift = np.zeros(len(points))
    for corners in MIDDLES:
        between = quads[:, corners]
        out = beneath.outside(points[between].mean(axis=1), 0.0, LEFT)
        for corner in range(len(corners)):
            np.maximum.at(lift, between[:, corner], -np.minimum(out, 0.0))
    return np.asarray(points + lift[:, None] * vertex_normals(points, quads))


def _rays(beneath: LayersBeneath, starts: Floats, outwards: Floats, longest: Floats) -> Floats:
    """How far rays go inwards until they meet the fat [m] (rays,), at most ``longest`` (rays,)."""
    gone = np.zeros(len(starts))
    going, within = np.arange(len(starts)), float(longest.max(initial=0.0))
    for _ in range(MARCHES):
        if not len(going):
            break
        far = beneath.outside(starts[going] - gone[going, None] * outwards[going], within)
        far = np.minimum(far, within)
        gone[going] += far
        going = going[(np.abs(far) > NEAR) & (gone[going] < longest[going])]
    return np.minimum(gone, longest)


def _means(quads: Ints, count: int) -> sparse.csr_array:
    """The mean over the neighbours of each vertex, (vertices, vertices)."""
    ends = np.concatenate([quads[:, [i, (i + 1) % 4]] for i in range(4)])
    links = sparse.coo_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), (count, count)).tocsr()
    links = ((links + links.T) > 0).astype(np.float64)
    return sparse.csr_array(sparse.diags_array(1.0 / np.asarray(links.sum(axis=1)).ravel()) @ links)


def _edges(points: Floats, means: sparse.csr_array) -> Floats:
    """How long the edges at each vertex are [m] (vertices,): root of their mean square."""
    square = np.sum(points * points, axis=1)
    return np.asarray(
        np.sqrt(np.maximum(means @ square - 2.0 * np.sum(points * (means @ points), axis=1) + square, 0.0))
    )


def vertex_normals(points: Floats, quads: Ints) -> Floats:
    """Unit vertex normals (vertices, 3): quads' diagonals crossed, added up."""
    area = np.cross(points[quads[:, 2]] - points[quads[:, 0]], points[quads[:, 3]] - points[quads[:, 1]])
    total = np.stack(
        [np.bincount(quads.ravel(), np.repeat(area[:, a], 4), len(points)) for a in range(3)], axis=1
    )
    return np.asarray(total / np.maximum(np.linalg.norm(total, axis=1, keepdims=True), 1e-30), np.float64)
