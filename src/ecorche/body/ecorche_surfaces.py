"""The écorché in a frame: closed surfaces of all muscles of a body, whatever kind they are of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np
import numpy.typing as npt

from ecorche.muscles.line_musculature import LineMusculature
from ecorche.muscles.loft_mesh import loft_surfaces
from ecorche.muscles.lofted_posing import Lofts
from ecorche.muscles.musculature import Musculature
from ecorche.muscles.spindle import curve
from ecorche.muscles.spindle_mesh import Stations, spindle_surfaces
from ecorche.muscles.spindles_in_flesh import SpindlesInFlesh
from ecorche.skin.flesh_weights import SkinRound
from ecorche.skin.fold_planes import FoldPlanes

if TYPE_CHECKING:
    from ecorche.body.compile import Body

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]

RINGS, SIDES = 28, 20
"""Sections along a muscle and vertices round each, of muscles that are no meshes."""


class _Surfaces(Protocol):
    """Surfaces of one kind of muscles, one muscle after another.

    Attributes:
        names: What each muscle is a part of, (M,).
        triangles: Vertex triples.
        starts: First vertex of each muscle and, last, their number, (M + 1,).
        width: Of the muscle at each vertex, share of its greatest.
    """

    names: tuple[str, ...]
    triangles: Ints
    starts: Ints
    width: Floats


class _Posed(_Surfaces, Protocol):
    """Surfaces that joints and bulge alone decide."""

    def points(self, difference: Floats, bulge: Floats) -> Floats: ...


class EcorcheSurfaces:
    """Surfaces of all muscles of a body, posed frame by frame.

    Args:
        musculature: Muscles of the template, or like them; None for a body without.
        lofts: Muscles found in the skin, which come after them; None for a body without.
        lines: Muscles that are meshes, which come last; None for a body without.
        skin: The body's skin at bind, in whose flesh muscles of the template are; None puts them on their
            paths.
        rings, sides: How finely muscles that are no meshes are divided.

    Attributes:
        names: What each muscle is a part of, (M,).
        triangles: Vertex triples, (triangles, 3), counter-clockwise seen from outside.
        muscle: Of each vertex, (vertices,).
        width: Of the muscle at each vertex, share of its greatest.
        folds: Where muscles of limbs that fold press each other flat; None lets them pass through each other.
    """

    folds: FoldPlanes | None = None

    def __init__(
        self,
        musculature: Musculature | None,
        lofts: Lofts | None = None,
        lines: LineMusculature | None = None,
        *,
        skin: SkinRound | None = None,
        rings: int = RINGS,
        sides: int = SIDES,
    ) -> None:
        posed: list[_Posed] = []
        if musculature is not None and len(musculature.muscles):
            posed.append(_SpindleShapes(musculature, skin, rings, sides))
        if lofts is not None and len(lofts.muscles):
            posed.append(_LoftShapes(lofts, rings, sides))
        self._posed = posed
        parts: list[_Surfaces] = [*posed]
        if lines is not None and len(lines.muscles):
            parts.append(_LineShapes(lines))
        firsts = np.cumsum([0, *(int(part.starts[-1]) for part in parts)])
        self.vertex_count = int(firsts[-1])
        self.triangles: Ints = np.concatenate(
            [np.zeros((0, 3), np.int32)]
            + [part.triangles + first for part, first in zip(parts, firsts, strict=False)]
        ).astype(np.int32)
        sizes = [np.diff(part.starts) for part in parts]
        self.names = tuple(name for part in parts for name in part.names)
        self.muscle = np.repeat(np.arange(len(self.names)), np.concatenate([np.zeros(0, np.int32), *sizes]))
        self.width = np.concatenate([np.zeros(0), *(part.width for part in parts)])

    def points(
        self, difference: Floats, bulge: Floats, meshes: Floats | None = None
    ) -> npt.NDArray[np.float32]:
        """Vertices [m] (vertices, 3) in a frame.

        Args:
            difference: ``M − I`` of the joints, (joints, 4, 4).
            bulge: T of the muscles that are no meshes, (muscles,).
            meshes: Vertices of those that are, which may have a history, (V, 3).
        """
        posed = sum(int(part.starts[-1]) for part in self._posed)
        points = np.empty((posed + (0 if meshes is None else len(meshes)), 3), np.float32)
        first = at = 0
        for part in self._posed:
            last, end = first + len(part.names), at + int(part.starts[-1])
            points[at:end] = part.points(difference, bulge[first:last])
            first, at = last, end
        if meshes is not None:
            points[posed:] = meshes
        if self.folds is not None:
            self.folds.lay(points, difference)
        return points


def surfaces_of(
    body: Body, *, folds: FoldPlanes | None = None, rings: int = RINGS, sides: int = SIDES
) -> EcorcheSurfaces:
    """The surfaces of all muscles of a compiled body; where its limbs fold, by default, its coupling says."""
    surfaces = EcorcheSurfaces(
        None if body.muscles is None else body.muscles.musculature,
        None if body.lofts is None else body.lofts.lofts,
        None if body.lines is None else body.lines.musculature,
        skin=None if body.muscles is None else body.muscles.skin_round,
        rings=rings,
        sides=sides,
    )
    if folds is None and body.coupling is not None:
        folds = body.coupling.folds
    if folds is not None:
        surfaces.folds = folds.beneath(points_at_bind(surfaces, body))
    return surfaces


def points_at_bind(surfaces: EcorcheSurfaces, body: Body) -> npt.NDArray[np.float32]:
    """Vertices of a body's surfaces at bind [m], (vertices, 3)."""
    still = np.zeros((body.character.skeleton.joint_count, 4, 4))
    return surfaces.points(still, body.bulge(None), None if body.lines is None else body.lines.points(still))


class _SpindleShapes:
    """Surfaces of the template's muscles."""

    def __init__(self, musculature: Musculature, skin: SkinRound | None, rings: int, sides: int) -> None:
        self._musculature = musculature
        self._surfaces = surfaces = spindle_surfaces(musculature.spindles, rings=rings, sides=sides)
        self._in_flesh = (
            None if skin is None else SpindlesInFlesh(musculature, surfaces, skin.shares, skin.binding)
        )
        self.names = tuple(m.muscle for m in musculature.muscles)
        self.triangles, self.starts = surfaces.triangles, surfaces.vertex_starts
        own = np.repeat(np.arange(len(self.names)), np.diff(self.starts))
        t = np.zeros(int(self.starts[-1]))
        t[surfaces.triangles] = surfaces.uv[..., 1]
        spindles = musculature.spindles
        width = curve(spindles.thickness[own], spindles.belly[own]).at(t[:, None])[:, 0]
        self.width = np.asarray(width / spindles.thickness[own, 0, 3])

    def points(self, difference: Floats, bulge: Floats) -> Floats:
        if self._in_flesh is not None:
            return self._in_flesh.points(difference, bulge)
        frames, states = self._musculature.posed(difference, bulge)
        return self._surfaces.points(states, Stations(*frames.at(self._surfaces.t)))


class _LoftShapes:
    """Surfaces of muscles found in the skin."""

    def __init__(self, lofts: Lofts, rings: int, sides: int) -> None:
        self._lofts = lofts
        self._surfaces = surfaces = loft_surfaces(lofts, rings=rings, sides=sides)
        self.names = tuple(m.muscle for m in lofts.muscles)
        self.triangles, self.starts = surfaces.triangles, surfaces.vertex_starts
        u = np.zeros(int(self.starts[-1]))
        u[surfaces.triangles] = surfaces.uv[..., 1]
        widths = []
        for shape, first, last in zip(lofts.shapes, self.starts[:-1], self.starts[1:], strict=True):
            area = np.linalg.det(shape.at(u[first:last])[0])
            widths.append(np.sqrt(np.maximum(area, 0.0) / shape.largest))
        self.width = np.concatenate(widths)

    def points(self, difference: Floats, bulge: Floats) -> Floats:
        return self._surfaces.points(self._lofts.posed(difference, bulge))


class _LineShapes:
    """Meshes on action lines; they are pale where a line's tendon runs through them."""

    def __init__(self, lines: LineMusculature) -> None:
        meshes = lines.meshes
        self.names = tuple(m.muscle or m.name for m in lines.muscles)
        self.starts = meshes.starts
        self.triangles = np.concatenate(
            [m.triangles + first for m, first in zip(meshes.muscles, meshes.starts, strict=False)]
        ).astype(np.int32)
        line_of_node = np.repeat(np.arange(lines.frames.line_count), np.diff(lines.frames.starts))
        node = np.concatenate([m.node[:, 0] for m in meshes.muscles])
        self.width = np.where(lines.tendon[node - line_of_node[node]], 0.0, 1.0)
