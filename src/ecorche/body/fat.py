"""Fat of a body, compiled: voxels between écorché and skin, what holds them, and the skin on them.

Thesis, 5.4.4. A region of fat lives in the frame of the bone that carries most of what holds it, in which the
bind pose is at rest. Nodes that are held go with the bones as the skin over them does and, where a muscle
lies beside them, with its surface. Bind is exact: everything is kept as what differs from it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ecorche.body.ecorche_surfaces import EcorcheSurfaces
from ecorche.body.frames import PointSet
from ecorche.fat.below_skin import BelowSkin, cross
from ecorche.fat.elastic_grid import ElasticGrid
from ecorche.fat.skin_on_nodes import SkinOnNodes
from ecorche.skin.delta_transfer import DeltaTransfer
from ecorche.skin.evened import EvenedPatch

if TYPE_CHECKING:
    from ecorche.body.fat_contact import FatContact

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Holding:
    """How held nodes go with the muscles beside them.

    Attributes:
        muscles: Where some of the held nodes go with the écorché's surface.
        bind: Where they are at bind [m], (beside, 3).
        nodes: Which of the held nodes they are, (beside,).
        spread: How much all held nodes go with each of them, (held, beside).
        most: How far, at most, muscles carry a node away from where bones do [m].
    """

    muscles: BelowSkin
    bind: Floats
    nodes: Ints
    spread: sparse.csr_matrix
    most: float


@dataclass(frozen=True, eq=False, repr=False)
class FatPart:
    """One region of fat; constant over time but for the state of its grid, which is at rest.

    Attributes:
        name: Of the region.
        grid: Its voxels; places are measured from `centre`, along the axes of the world at bind.
        joint: The joint it goes with.
        centre: Where the frame begins at bind [m], (3,).
        carriers: The joints that carry nodes, (K,).
        shares: How much each carries each node, (nodes, K).
        holding: How muscles carry held nodes too; None where there are none beside them.
        vertices: Of the body's skin that go with it, (n,).
        skin: How they do.
        shown: How much of it is shown, (n,).
        most: How far fat carries the skin away from where it is without, at most [m], (n,).
        evening: What evens what is asked of vertices that are near each other.
        sag: How much of its weight acts at bind too.
    """

    name: str
    grid: ElasticGrid
    joint: int
    centre: Floats
    carriers: Ints
    shares: Floats
    holding: Holding | None
    vertices: Ints
    skin: SkinOnNodes
    shown: Floats
    most: Floats
    evening: EvenedPatch
    sag: float

    def __repr__(self) -> str:
        return f"FatPart({self.name!r}, {self.grid}, {len(self.vertices)} vertices)"

    def frame(self, moved: Floats) -> tuple[Floats, Floats]:
        """How the frame is turned (..., 3, 3), and where it begins [m] (..., 3).

        ``moved`` is ``M − I`` of the character's joints, (..., joints, 4, 4).
        """
        difference = moved[..., self.joint, :, :]
        turned = difference[..., :3, :3] + np.eye(3)
        return upright(turned[..., 0], turned[..., 1]), self.centre + _moved(difference, self.centre)

    def carried(self, moved: Floats, beneath: Floats | None = None) -> Floats:
        """Where bones and muscles carry the nodes, from rest, in the frame [m], (nodes, 3).

        Args:
            moved: ``M − I`` of the joints, (joints, 4, 4).
            beneath: Points of the muscles' surfaces [m]; None for a body without.
        """
        way = self._by_bones(moved, slice(None))
        way[self.grid.held] = self._by_all(moved, beneath)
        return self._in_frame(way, moved, self.grid.rest)

    def held_to(self, moved: Floats, beneath: Floats | None = None) -> Floats:
        """The same of the held nodes alone, (held, 3)."""
        return self._in_frame(self._by_all(moved, beneath), moved, self.grid.rest[self.grid.held])

    def _by_bones(self, moved: Floats, nodes: slice | npt.NDArray[np.bool_]) -> Floats:
        """The way bones carry nodes from bind, in the world [m]."""
        matrices = self.shares[nodes] @ moved[self.carriers, :3].reshape(len(self.carriers), 12)
        blended = matrices.reshape(-1, 3, 4)
        at_bind = self.grid.rest[nodes] + self.centre
        return np.asarray((blended[:, :, :3] @ at_bind[:, :, None])[:, :, 0] + blended[:, :, 3])

    def _by_all(self, moved: Floats, beneath: Floats | None) -> Floats:
        """The way bones and muscles carry held nodes from bind, in the world [m]."""
        way, kept = self._by_bones(moved, self.grid.held), self.holding
        if kept is not None and beneath is not None:
            further = kept.muscles.at(beneath) - kept.bind - way[kept.nodes]
            further /= np.hypot(1.0, np.linalg.norm(further, axis=1, keepdims=True) / kept.most)
            way += kept.spread @ further
        return way

    def _in_frame(self, way: Floats, moved: Floats, rest: Floats) -> Floats:
        """What a way in the world is from rest in the frame."""
        turned, origin = self.frame(moved)
        return np.asarray(rest @ (turned - np.eye(3)) + (way - (origin - self.centre)) @ turned)

    def offsets(self, displacements: Floats, moved: Floats, gone: Floats) -> Floats:
        """How far the skin is from where it would be without fat that moves [m], (n, 3).

        Args:
            displacements: Of the nodes from rest [m], (nodes, 3).
            moved: ``M − I`` of the joints, (joints, 4, 4).
            gone: How far its skin has gone since bind without [m], (n, 3).
        """
        away = self.moved_skin(displacements, moved) - gone
        length = np.linalg.norm(away, axis=1, keepdims=True) / self.most[:, None]
        # in deep folds nothing but the skin there knows where it may be
        bounded = away / (1.0 + length**4) ** 0.25
        return np.asarray(self.shown[:, None] * self.evening.of(bounded))

    @cached_property
    def _skin_at_rest(self) -> Floats:
        """Where its skin is in the frame at bind [m], (n, 3)."""
        return self.skin.at(self.grid.rest)

    def moved_skin(self, displacements: Floats, moved: Floats) -> Floats:
        """How far its skin has gone since bind [m], (n, 3), with nodes displaced (nodes, 3) from rest."""
        turned, origin = self.frame(moved)
        now = self.skin.at(self.grid.rest + displacements)
        return np.asarray((origin - self.centre) + now @ (turned - np.eye(3)).T + (now - self._skin_at_rest))


@dataclass(frozen=True, eq=False, repr=False)
class BodyFat:
    """All fat of a body that moves.

    Attributes:
        parts: The regions.
        mesh: Number of the mesh that is the body.
        bind: Its points at bind [m], (vertices, 3).
        garments: For every mesh, how it follows the body's skin; None for the body and what stands still.
        gravity: [m/s²], (3,).
        surfaces: The muscles' surfaces that nodes are held by; None for a body without.
        contact: What presses on it; None where skin shall not meet skin.
        notes: What was left out and why, a sentence each.
    """

    parts: tuple[FatPart, ...]
    mesh: int
    bind: PointSet
    garments: tuple[DeltaTransfer | None, ...]
    gravity: Floats
    surfaces: EcorcheSurfaces | None
    contact: FatContact | None = None
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"BodyFat({', '.join(map(repr, self.parts))})"

    def displaced(
        self,
        points: tuple[PointSet, ...],
        still: PointSet,
        moved: Floats,
        displacements: list[Floats],
        held: npt.NDArray[np.float32] | None = None,
    ) -> tuple[PointSet, ...]:
        """Points of every mesh [m] whose skin goes with the fat.

        Args:
            points: Of every mesh without fat that moves, each (vertices, 3).
            still: The same of the body's mesh, without blend shapes.
            moved: ``M − I`` of the joints, (joints, 4, 4).
            displacements: Of the nodes of every part from rest [m], each (nodes, 3).
            held: How firmly the skin is held where it folds, 0 to 1, (vertices,); None: nowhere.
        """
        deltas = self.further(still, moved, displacements)
        if held is not None:
            deltas = deltas - held[:, None] * deltas
        result = list(points)
        for number, garment in enumerate(self.garments):
            if garment is not None:
                result[number] = garment.apply(deltas, points[number])
        result[self.mesh] = points[self.mesh] + deltas
        return tuple(result)

    def further(self, still: PointSet, moved: Floats, displacements: list[Floats]) -> PointSet:
        """How far fat that moves carries the body's skin from where it is without [m], (vertices, 3)."""
        further = np.zeros(self.bind.shape)
        for part, displaced in zip(self.parts, displacements, strict=True):
            own = part.vertices
            gone = still[own].astype(np.float64) - self.bind[own]
            further[own] += part.offsets(displaced, moved, gone)
        return further.astype(np.float32)

    def feed(self, update: Callable[[bytes], object]) -> None:
        """Give everything that the fat depends on to a hash, so that a bake knows its own."""
        update(self.bind.tobytes() + self.gravity.tobytes() + repr(self.contact is None).encode())
        for part in self.parts:
            grid = part.grid
            told = part.name, part.joint, part.sag, grid.tissue, grid.size, grid.step, grid.voxels.shape
            update(repr(told).encode())
            for array in (grid.voxels, grid.held, grid.stiffness, part.centre, part.carriers, part.shares):
                update(np.ascontiguousarray(array).tobytes())
            update(part.vertices.tobytes() + part.shown.tobytes() + part.most.tobytes())
            if part.holding is not None:
                update(part.holding.bind.tobytes() + part.holding.spread.data.tobytes())


def upright(x: Floats, y: Floats) -> Floats:
    """The rotations (..., 3, 3) whose first axis is along x (..., 3) and whose second is nearest to y."""
    first = x / np.linalg.norm(x, axis=-1, keepdims=True)
    second = y - np.sum(y * first, axis=-1, keepdims=True) * first
    second /= np.linalg.norm(second, axis=-1, keepdims=True)
    return np.stack([first, second, cross(first, second)], axis=-1)


def _moved(difference: Floats, point: Floats) -> Floats:
    """``(M − I)`` of a point, (..., 3)."""
    return np.asarray(difference[..., :3, :3] @ point + difference[..., :3, 3])
