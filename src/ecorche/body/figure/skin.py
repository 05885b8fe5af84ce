"""The built-in figure's first skin: one smooth surface over its bones' and muscles' solids.

The field is the smooth union of soft solids and template muscles, kept within limits, less a layer of fat,
with hollows and swellings of face and trunk added as Gaussian bells. It is sampled on a grid that is drawn
out round arms, head and feet, polygonised as a surface net, its vertices then spread evenly and drawn onto
the surface by Newton's method. The left half is made, and mirrored.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from ecorche.base.smooth_step import smooth_step
from ecorche.base.surface_nets import surface_net
from ecorche.body.figure.solids import FAR, Solids, distance

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

SPACING = 0.0144
"""Of the grid [m], where it is not drawn out."""
SOFTNESS = 0.012
"""How softly solids are joined [m], where nothing else is said."""
FAT = 0.003
"""Skin and fat [m], where nothing else is said."""
MARGIN = 0.12
"""How far the skin may be from the points that mark where it is [m]."""
CLEAR = 0.035
"""Blocks of the grid all of whose corners are this far from the skin are not passed by it [m]."""
SLIGHT = 2e-4
"""By how much points are moved to find the field's slope [m]."""
SMOOTHING, SMOOTHINGS = 0.4, 10
"""How far towards their neighbours' mean vertices go to smooth the skin, and how often."""
SOLE = 0.012
"""How far the sole's edge is rounded [m]."""
ROUNDS = 12
"""How often vertices are moved towards their neighbours' mean."""


@dataclass(frozen=True)
class Lens:
    """A place where the grid is finer: within ``inner`` it is enlarged, beyond ``outer`` it is as it was."""

    centre: tuple[float, float, float]
    inner: float
    outer: float
    power: float

    def enlarged(self, points: Floats) -> Floats:
        """From the body's space to the grid's."""
        return self._mapped(points, (0.0, self.inner, self.outer), (0.0, self.power * self.inner, self.outer))

    def reduced(self, points: Floats) -> Floats:
        """From the grid's space to the body's."""
        return self._mapped(points, (0.0, self.power * self.inner, self.outer), (0.0, self.inner, self.outer))

    def _mapped(self, points: Floats, before: tuple[float, ...], after: tuple[float, ...]) -> Floats:
        offset = points - np.array(self.centre)
        away = np.linalg.norm(offset, axis=-1)
        # beyond the outer radius nothing moves, to the bit
        share = np.where(away < self.outer, np.interp(away, before, after) / np.maximum(away, 1e-12), 1.0)
        share = np.where(away < before[1], after[1] / before[1], share)
        places: Floats = np.array(self.centre) + share[..., None] * offset
        return places


@dataclass(frozen=True)
class Detail:
    """A place of small forms, where solids are joined less softly and fat is thin: within ``radius``, and
    fading over half as much again; ``share`` is what is left of softness and fat."""

    centre: tuple[float, float, float]
    radius: float
    share: float

    def factor(self, points: Floats) -> Floats:
        """What softness and fat are multiplied by at points (n, 3)."""
        away = np.linalg.norm(points - np.array(self.centre), axis=-1) / self.radius
        factor: Floats = self.share + (1.0 - self.share) * smooth_step((away - 1.0) / 0.5)
        return factor


@dataclass(frozen=True)
class Bell:
    """A swelling, or a hollow where ``height`` is negative: Gaussian, of half-widths along the axes [m]."""

    centre: tuple[float, float, float]
    widths: tuple[float, float, float]
    height: float


@dataclass(frozen=True, eq=False)
class SkinField:
    """How far points of the left half are outside the skin.

    Attributes:
        solids: What lies under it.
        limits: What it must stay within, but for fat.
        bells: Fat, swellings and hollows.
        details: Where forms are small.
    """

    solids: Solids
    limits: Solids
    bells: tuple[Bell, ...]
    details: tuple[Detail, ...]
    ground: float = 0.001

    def share(self, points: Floats) -> Floats:
        """What is left of softness and fat at points (n, 3)."""
        left = np.ones(len(points))
        for detail in self.details:
            left *= detail.factor(points)
        return left

    def __call__(self, points: Floats) -> Floats:
        """Distances [m] (n,) of points (n, 3), positive outside."""
        share = self.share(points)
        found = distance(self.solids, points, SOFTNESS * share)
        near = np.flatnonzero(found < FAR)
        most = distance(self.limits, points[near], SOFTNESS * share[near])
        found[near] = _smooth_larger(found[near], most, 0.5 * SOFTNESS * share[near])
        found -= FAT * share
        near = np.flatnonzero(found < FAR - 2.0 * FAT)
        for bell in self.bells:
            q = (points[near] - np.array(bell.centre)) / np.array(bell.widths)
            found[near] -= bell.height * np.exp(-0.5 * np.sum(q * q, axis=1))
        # the sole is flat
        return _smooth_larger(found, self.ground - points[:, 1], np.full(len(points), SOLE))


def _smooth_larger(a: Floats, b: Floats, width: Floats) -> Floats:
    """The larger of two values (n,), rounded where they differ by less than ``width`` (n,)."""
    gap = np.maximum(width - np.abs(a - b), 0.0) / width
    larger: Floats = np.maximum(a, b) + gap * gap * gap * width / 6.0
    return larger


@dataclass(frozen=True, eq=False)
class SkinSurface:
    """The skin's shape.

    Attributes:
        points: Vertices [m], shape (vertices, 3).
        quads: Vertex fours, counter-clockwise from outside, shape (quads, 4).
        mirror: The number of each vertex's mirror image, shape (vertices,).
        inner: Nodes of the grid inside the left half [m], shape (nodes, 3).
        links: Neighbours among them, each pair once, shape (links, 2).
    """

    points: Floats
    quads: Ints
    mirror: Ints
    inner: Floats
    links: Ints


def skin_surface(field: SkinField, lenses: tuple[Lens, ...], reach: Floats) -> SkinSurface:
    """The skin's surface; ``reach`` (n, 3) are points whose surroundings hold the left half of it."""
    for lens in reversed(lenses):
        reach = lens.enlarged(reach)
    start, end = reach.min(axis=0) - MARGIN, reach.max(axis=0) + MARGIN
    start[0] = -1.5 * SPACING  # the middle plane runs through the middle of the second layer of cells
    count = 2 * np.ceil(0.5 * (end - start) / SPACING).astype(int) + 1
    values = _sampled(field, lenses, start, count)
    net = surface_net(values)
    numbers, links = _inside(values)

    def placed(nodes: Floats | Ints) -> Floats:
        places: Floats = start + SPACING * nodes
        for lens in lenses:
            places = lens.reduced(places)
        return places

    half = (net.cells[:, 0] >= 1) & _largest(len(net.points), net.quads)
    middle = net.cells[half, 0] == 1
    points = placed(net.points[half])
    points[middle, 0] = 0.0
    number = np.full(len(half), -1, np.int64)
    number[half] = np.arange(half.sum())
    left = number[net.quads[half[net.quads].all(axis=1)]]
    # the other half: middle vertices are their own mirror images
    mirror = np.arange(len(points))
    mirror[~middle] = len(points) + np.arange(int((~middle).sum()))
    quads = np.concatenate([left, mirror[left[:, ::-1]]])
    points = _settled(points, quads, field, middle)
    inverse = np.concatenate([mirror, np.flatnonzero(~middle)])
    return SkinSurface(_both_halves(points, middle), quads, inverse, placed(numbers), links)


def _largest(count: int, quads: Ints) -> npt.NDArray[np.bool_]:
    """Which vertices belong to the largest piece: a gap between muscles deep inside is no skin."""
    ends = quads[:, [0, 1, 1, 2, 2, 3]].reshape(-1, 2).T
    _, piece = connected_components(
        sparse.coo_array((np.ones(ends.shape[1]), ends), (count, count)), directed=False
    )
    return np.asarray(piece == np.bincount(piece).argmax())


def _inside(values: Floats) -> tuple[Ints, Ints]:
    """Nodes inside, beyond the middle plane (n, 3), and which of them are neighbours, diagonals too."""
    within = values < 0.0
    within[:2] = False
    nodes = np.argwhere(within)
    row = np.full(values.shape, -1, np.int64)
    row[within] = np.arange(len(nodes))
    steps = [s - 1 for s in np.indices((3, 3, 3)).reshape(3, -1).T[14:]]
    pairs = [np.stack([np.arange(len(nodes)), row[tuple((nodes + s).T)]], axis=1) for s in steps]
    links = np.concatenate(pairs)
    return nodes, links[links[:, 1] >= 0]


def _sampled(field: SkinField, lenses: tuple[Lens, ...], start: Floats, count: Ints) -> Floats:
    """The field on the grid (nx, ny, nz).

    Every second node is asked first; blocks of cells that are wholly inside or outside by more than they are
    wide need no more than that.
    """

    def ask(nodes: Ints) -> Floats:
        places = start + SPACING * nodes
        for lens in lenses:
            places = lens.reduced(places)
        places[:, 0] = np.abs(places[:, 0])
        return field(places)

    blocks = (count - 1) // 2
    coarse = ask(2 * np.indices(tuple(blocks + 1)).reshape(3, -1).T).reshape(blocks + 1)
    corners = np.stack(
        [coarse[tuple(slice(c >> a & 1, (c >> a & 1) + blocks[a]) for a in range(3))] for c in range(8)]
    )
    passed = np.argwhere(np.abs(corners).min(axis=0) < CLEAR)
    values = np.repeat(np.repeat(np.repeat(coarse, 2, axis=0), 2, axis=1), 2, axis=2)[:-1, :-1, :-1]
    fine = np.zeros(count, bool)
    for step in np.indices((3, 3, 3)).reshape(3, -1).T:
        fine[tuple((2 * passed + step).T)] = True
    asked = np.argwhere(fine)
    values[fine] = ask(asked)
    return values


def _both_halves(points: Floats, middle: npt.NDArray[np.bool_]) -> Floats:
    return np.concatenate([points, points[~middle] * (-1.0, 1.0, 1.0)])


def _settled(points: Floats, quads: Ints, field: SkinField, middle: npt.NDArray[np.bool_]) -> Floats:
    """The left half's vertices spread evenly, put on the surface, and smoothed where forms are not small.

    Smoothed by G. Taubin's filter ("A Signal Processing Approach to Fair Surface Design", 1995), which takes
    out what is shorter than a few edges, such as the ends of muscles, and does not shrink.
    """
    total, half = int(quads.max()) + 1, len(middle)
    ends = np.concatenate([quads[:, [i, (i + 1) % 4]] for i in range(4)])
    links = sparse.coo_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), (total, total)).tocsr()
    links = ((links + links.T) > 0).astype(np.float64)
    degree = np.asarray(links.sum(axis=1)).ravel()
    for step in range(ROUNDS):
        everywhere = _both_halves(points, middle)
        mean = (links[:half] @ everywhere) / degree[:half, None]
        normal = _normals(everywhere, quads)[:half]
        shift = 0.6 * (mean - points)
        shift -= normal * np.sum(normal * shift, axis=1, keepdims=True)
        points = points + shift
        points[middle, 0] = 0.0
        if step % 4 == 3:
            points = _drawn_on(points, field)
            points[middle, 0] = 0.0
    share = field.share(points)[:, None]
    for part in (SMOOTHING, -1.03 * SMOOTHING) * SMOOTHINGS:
        mean = (links[:half] @ _both_halves(points, middle)) / degree[:half, None]
        points = points + part * share * (mean - points)
        points[middle, 0] = 0.0
    points[:, 0] = np.where(middle, 0.0, np.maximum(points[:, 0], 1e-4))
    return points


def _drawn_on(points: Floats, field: SkinField) -> Floats:
    """Points moved onto the surface by two steps of Newton's method, each at most half a cell."""
    for _ in range(2):
        asked = np.concatenate([points, *(points + SLIGHT * e for e in np.eye(3))])
        asked[:, 0] = np.abs(asked[:, 0])
        values = field(asked).reshape(4, -1)
        slope = (values[1:] - values[0]).T / SLIGHT
        size = np.maximum(np.sum(slope * slope, axis=1), 0.04)
        move = -(values[0] / size)[:, None] * slope
        far = np.linalg.norm(move, axis=1, keepdims=True)
        points = points + move * np.minimum(1.0, 0.5 * SPACING / np.maximum(far, 1e-12))
    return points


def _normals(points: Floats, quads: Ints) -> Floats:
    """Unit vertex normals (vertices, 3): quads' diagonals crossed, added up."""
    area = np.cross(points[quads[:, 2]] - points[quads[:, 0]], points[quads[:, 3]] - points[quads[:, 1]])
    total = np.stack(
        [np.bincount(quads.ravel(), np.repeat(area[:, a], 4), len(points)) for a in range(3)], axis=1
    )
    return np.asarray(total / np.maximum(np.linalg.norm(total, axis=1, keepdims=True), 1e-30), np.float64)
