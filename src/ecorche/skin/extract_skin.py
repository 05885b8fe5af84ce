"""A skin round bones and muscles: closed, even, with fat by region.

Thesis, 5.3: rays from the bones find the outermost muscle in a pose in which limbs are apart; fat is added,
more rays go where the surface is hollow, as at the armpit, and the mesh is smoothed. Changed here: instead of
from bones outwards, which asks for a bone in the middle of everything, rays go inwards from a closed surface
that is there first. That surface bounds what a ball cannot enter that rolls over the écorché and its fat (a
morphological closing): all places nearer than the ball's radius are filled up from outside, and the filling
is taken off again by as much. So gaps between muscles are bridged and cavities stay hidden. The ball is
smaller at hands and face (`LayersBeneath.span`), and so are the mesh's edges there (`Lens`).
Vertices are then spread evenly and each is let down along its normal on the fat by `settle_skin`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import ndimage, sparse
from scipy.sparse.csgraph import connected_components

from ecorche.base.closest_point import TriangleSurface
from ecorche.base.lens_grid import Lens, LensGrid, grid_round
from ecorche.base.surface_nets import Net, surface_net
from ecorche.errors import MeshError
from ecorche.skin.layers_beneath import LayersBeneath
from ecorche.skin.settle_skin import settled

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

MOST_NODES = 40_000_000
"""Of the grid: more would not fit into memory."""


@dataclass(frozen=True, eq=False, repr=False)
class SkinSurface:
    """The skin's shape.

    Attributes:
        points: Vertices [m], (vertices, 3).
        quads: Vertex fours, counter-clockwise from outside, (quads, 4).
        mirror: The vertex that is each one's mirror image at x = 0, (vertices,); its own number where the
            skin was not made symmetric.
        inner: Nodes of the grid inside it [m], (nodes, 3).
        links: Neighbours among them, each pair once, (links, 2).
    """

    points: Floats
    quads: Ints
    mirror: Ints
    inner: Floats
    links: Ints

    @property
    def triangles(self) -> Ints:
        """Its triangles, two of each quad, (2 quads, 3)."""
        return _halved(self.quads)


def extract_skin(
    beneath: LayersBeneath,
    edge: float,
    *,
    lenses: Sequence[Lens] = (),
    symmetric: bool = False,
) -> SkinSurface:
    """The skin over bones, muscles and fat.

    Args:
        beneath: What lies beneath it, in a pose in which limbs do not touch.
        edge: How long its edges shall be [m].
        lenses: Where they shall be shorter.
        symmetric: Whether left (x > 0) and right are mirror images: then they are so bit for bit in the skin,
            and only what is to the left counts.
    """
    grid = grid_round(beneath.points, edge, beneath.widest, lenses, half=symmetric)
    if float(np.prod(grid.count.astype(np.float64))) > MOST_NODES:
        raise MeshError(
            f"a skin of {1000.0 * edge:.3g} mm over a body of this size needs a grid of"
            f" {np.prod(grid.count.astype(np.float64)):.3g} nodes",
            where="skin extraction",
            remedy="Ask for longer edges, and check that the body is in metres",
        )
    field = _closed_field(beneath, grid, symmetric)
    net = _outermost(surface_net(field), grid, symmetric)
    points = settled(net.points, net.quads, beneath, net.mirror if symmetric else None)
    inner, links = _inside(field, skipped=2 if symmetric else 0)
    return SkinSurface(points, net.quads, net.mirror, grid.placed(inner), links)


@dataclass(frozen=True, eq=False)
class _Outer:
    """The outermost surface of a field, of both halves."""

    points: Floats
    quads: Ints
    mirror: Ints


def _closed_field(beneath: LayersBeneath, grid: LensGrid, symmetric: bool) -> Floats:
    """How far nodes are outside the écorché with its fat and gaps bridged [m], (nx, ny, nz)."""
    places = grid.nodes()
    if symmetric:
        places[:, 0] = np.abs(places[:, 0])
    reach = beneath.widest + 4.0 * grid.step
    outside, span = beneath.outside_and_span(places, reach, signed=True)
    filled = _solid(np.minimum(outside - span, reach).reshape(grid.count))
    outer = _outermost(surface_net(filled), grid, symmetric)
    # taken off again: what is nearer to the filling's outside than its thickness
    inside = np.flatnonzero(filled.ravel() < 0.0)
    depth = TriangleSurface(outer.points, _halved(outer.quads)).closest(places[inside], within=2.0 * reach)
    field = np.minimum(outside, reach)
    field[inside] = np.minimum(np.maximum(span[inside] - depth.distances, -reach), field[inside])
    return _solid(field.reshape(grid.count))


def _solid(field: Floats) -> Floats:
    """The field with everything that its outside does not reach made inside."""
    named, _ = ndimage.label(field > 0.0)
    return np.where(named == named[-1, -1, -1], field, -np.maximum(np.abs(field), 1e-9))


def _outermost(net: Net, grid: LensGrid, symmetric: bool) -> _Outer:
    """The largest piece of a surface, and where it is symmetric both halves of it."""
    half = _largest(len(net.points), net.quads)
    middle = np.zeros(len(half), bool)
    if symmetric:
        half &= net.cells[:, 0] >= 1
        middle = half & (net.cells[:, 0] == 1)
    number = np.full(len(half), -1, np.int64)
    number[half] = np.arange(half.sum())
    quads = number[net.quads[half[net.quads].all(axis=1)]]
    points, middle = grid.placed(net.points[half]), middle[half]
    if not symmetric:
        return _Outer(points, quads, np.arange(len(points)))
    points[middle, 0] = 0.0
    other = np.arange(len(points))
    other[~middle] = len(points) + np.arange(int((~middle).sum()))
    return _Outer(
        np.concatenate([points, points[~middle] * (-1.0, 1.0, 1.0)]),
        np.concatenate([quads, other[quads[:, ::-1]]]),
        np.concatenate([other, np.flatnonzero(~middle)]),
    )


def _halved(quads: Ints) -> Ints:
    return np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])


def _largest(count: int, quads: Ints) -> npt.NDArray[np.bool_]:
    """Which vertices belong to the largest piece."""
    ends = quads[:, [0, 1, 1, 2, 2, 3]].reshape(-1, 2).T
    _, piece = connected_components(
        sparse.coo_array((np.ones(ends.shape[1]), ends), (count, count)), directed=False
    )
    return np.asarray(piece == np.bincount(piece).argmax())


def _inside(field: Floats, skipped: int) -> tuple[Ints, Ints]:
    """Nodes inside, without the first layers (n, 3), and which of them are neighbours, diagonals too."""
    within = field < 0.0
    within[:skipped] = False
    nodes = np.argwhere(within)
    row = np.full(field.shape, -1, np.int64)
    row[within] = np.arange(len(nodes))
    steps = [s - 1 for s in np.indices((3, 3, 3)).reshape(3, -1).T[14:]]
    pairs = [np.stack([np.arange(len(nodes)), row[tuple((nodes + s).T)]], axis=1) for s in steps]
    links = np.concatenate(pairs)
    return nodes, links[links[:, 1] >= 0]
