"""A body's skin as one small program that any processor runs: what is the same in every frame.

Text 000, section 5: the muscles of a character are played by one vertex program from a handful of numbers a
muscle and frame. Here that program is skinning by joints, muscle joints among them; sliding over muscles;
what is worn takes over what moved below it; normals. All meshes are one, their vertices counted through, and
everything is told vertex by vertex: what lays sixteen of them side by side is up to whoever runs it.

What a frame brings is in `payload`. What cannot be played from that says so here, and is baked.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ecorche.body.compile import Body
from ecorche.body.muscles import BodyMuscles
from ecorche.errors import EcorcheError
from ecorche.skin.hybrid import HybridSkinning
from ecorche.skin.linear import LinearSkinning
from ecorche.skin.normals import NormalPlaces
from ecorche.skin.sliding import SlidingEntries
from ecorche.skin.sliding_groups import KEPT
from ecorche.skin.weights import SkinWeights

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]
Points = npt.NDArray[np.float32]


class WornEntries(NamedTuple):
    """Skin that vertices of what is worn follow: vertex i owns ``starts[i]`` to ``starts[i+1]``.

    Attributes:
        starts: Borders of the vertices' entries, (vertices + 1,).
        vertices: Of the body, counted through all meshes, (entries,).
        parts: How much of its displacement is taken over, (entries,).
    """

    starts: Ints
    vertices: Ints
    parts: Points


@dataclass(frozen=True, eq=False, repr=False)
class VertexProgram:
    """All meshes of a body as one, constant over time.

    Attributes:
        body: What it was made of.
        borders: Where the vertices of each mesh begin, and the end, (meshes + 1,).
        points: At bind [m], (vertices, 3).
        weights: On the skeleton's joints and then on the muscle joints; a vertex without any stands still.
        sliding: The muscles below each vertex.
        worn: The skin that each vertex of what is worn follows.
        places: What has a normal; its vertices are counted through all meshes.
        place_borders: Where the places of each mesh begin, and the end, (meshes + 1,); a subdivision cage has
            none.
    """

    body: Body
    borders: Ints
    points: Points
    weights: SkinWeights
    sliding: SlidingEntries
    worn: WornEntries
    places: NormalPlaces
    place_borders: Ints

    def __repr__(self) -> str:
        return (
            f"VertexProgram({len(self.points)} vertices, {self.joint_count} joints,"
            f" {self.muscle_count} muscles, {self.muscle_joint_count} muscle joints)"
        )

    @property
    def joint_count(self) -> int:
        """Of the skeleton."""
        return self.body.character.skeleton.joint_count

    @property
    def spindle_count(self) -> int:
        """Of the muscles that the skin slides over."""
        return 0 if self.body.muscles is None else len(self.body.muscles.musculature.muscles)

    @property
    def muscle_count(self) -> int:
        """Of the muscles that the skin slides over, and then of those it follows as joints."""
        return self.spindle_count + (0 if self.body.lofts is None else len(self.body.lofts.lofts.muscles))

    @property
    def muscle_joint_count(self) -> int:
        """Of the muscles found in the skin."""
        return 0 if self.body.lofts is None else len(self.body.lofts.lofts.joint_places)

    def of_muscles(
        self, given: npt.ArrayLike | None, otherwise: float, count: int, what: str, out: Floats | None = None
    ) -> Floats:
        """A number for each muscle of so many instances, (count, muscles); what is given extends to it."""
        shape = (count, self.muscle_count)
        values = np.asarray(otherwise if given is None else given, np.float64)
        out = np.empty(shape) if out is None else out
        try:
            np.copyto(out, values)
        except ValueError:
            raise EcorcheError(
                f"the {what} have shape {values.shape} for {count} instances of {shape[1]} muscles",
                remedy=f"Give shape {shape}",
            ) from None
        return out


def vertex_program(body: Body) -> VertexProgram:
    """The program of a body; an error tells what of it cannot be played so."""
    _require_playable(body)
    meshes = body.character.meshes
    borders = np.cumsum([0, *(mesh.mesh.vertex_count for mesh in meshes)]).astype(np.int32)
    shaded = [mesh.mesh.subdivision == "none" for mesh in meshes]
    counts = np.zeros(len(meshes), np.int64)
    counts[shaded] = np.diff(body.normals.borders)
    return VertexProgram(
        body=body,
        borders=borders,
        points=np.concatenate([np.zeros((0, 3), np.float32), *(mesh.mesh.points for mesh in meshes)]),
        weights=_weights(body),
        sliding=_sliding(body.muscles, borders),
        worn=_worn(body.muscles, borders),
        places=_places(body.normals.places, borders, shaded),
        place_borders=np.concatenate([[0], np.cumsum(counts)]).astype(np.int32),
    )


def _require_playable(body: Body) -> None:
    where = body.character.source or body.character.name
    remedy = "Bake it on the processor: `ecorche bake --device cpu`"
    beyond = {
        "a coupling (fascia, height field) binds its skin": body.coupling,
        "fat swings below its skin": body.fat,
        "its muscles and skin are masses on springs": body.springs,
        "it has muscles that are meshes": body.lines,
    }
    for why, there in beyond.items():
        if there is not None:
            raise EcorcheError(f"it cannot be played in real time: {why}", where=where, remedy=remedy)
    for mesh, skinning in zip(body.character.meshes, body.skinnings, strict=True):
        linear = isinstance(skinning, LinearSkinning | None)
        if isinstance(skinning, HybridSkinning):
            linear = skinning.weights is not None
        if not linear:
            raise EcorcheError(
                "it cannot be played in real time: its skinning is not linear",
                where=f"{where}, mesh {mesh.name!r}",
                remedy="Choose linear skinning (`--skinning linear`), or bake it with `--device cpu`",
            )
        shown = [morph.name for morph in mesh.mesh.morphs if morph.weight]
        if shown:
            raise EcorcheError(
                f"it cannot be played in real time: its blend shape {shown[0]!r} is not at zero",
                where=f"{where}, mesh {mesh.name!r}",
                remedy="Set it to zero or apply it, or bake it with `--device cpu`",
            )
        if mesh.own_bind is not None:
            raise EcorcheError(
                "it cannot be played in real time: it was bound in another pose than the character",
                where=f"{where}, mesh {mesh.name!r}",
                remedy="Bind all meshes in one pose, or bake it with `--device cpu`",
            )


def _weights(body: Body) -> SkinWeights:
    """Of all meshes, one after another."""
    starts, joints, weights = [np.zeros(1, np.int32)], [np.zeros(0, np.int32)], [np.zeros(0, np.float32)]
    end = 0
    for mesh, skinning in zip(body.character.meshes, body.skinnings, strict=True):
        found = skinning.weights if isinstance(skinning, HybridSkinning) else mesh.weights
        if found is None:
            starts.append(np.full(mesh.mesh.vertex_count, end, np.int32))
            continue
        starts.append((found.starts[1:] + end).astype(np.int32))
        joints.append(found.joints)
        weights.append(found.weights)
        end += len(found.joints)
    return SkinWeights(np.concatenate(starts), np.concatenate(joints), np.concatenate(weights))


def _sliding(muscles: BodyMuscles | None, borders: Ints) -> SlidingEntries:
    count = int(borders[-1])
    if muscles is None:
        none = np.zeros(0, np.int32)
        return SlidingEntries(
            np.zeros(count + 1, np.int32),
            none,
            none,
            none,
            np.zeros((0, 2), np.float32),
            np.zeros((0, KEPT), np.float32),
        )
    found, first = muscles.sliding.entries(), int(borders[muscles.skin])
    starts = np.zeros(count + 1, np.int32)
    starts[first : first + len(found.starts)] = found.starts
    starts[first + len(found.starts) :] = found.starts[-1]
    return found._replace(starts=starts)


def _worn(muscles: BodyMuscles | None, borders: Ints) -> WornEntries:
    starts = np.zeros(int(borders[-1]) + 1, np.int32)
    vertices, parts = [np.zeros(0, np.int32)], [np.zeros(0, np.float32)]
    for number, garment in enumerate(() if muscles is None else muscles.garments):
        if garment is not None and muscles is not None:
            matrix, first = garment.matrix, int(borders[number])
            starts[first + 1 : first + 1 + matrix.shape[0]] = np.diff(matrix.indptr)
            vertices.append((matrix.indices + borders[muscles.skin]).astype(np.int32))
            parts.append(matrix.data)
    np.cumsum(starts, out=starts)
    return WornEntries(starts, np.concatenate(vertices), np.concatenate(parts))


def _places(places: NormalPlaces, borders: Ints, shaded: list[bool]) -> NormalPlaces:
    """Places whose vertices are counted through all meshes, not only those that have normals."""
    ranges = [np.arange(first, last) for first, last in pairwise(borders)]
    through = np.concatenate(
        [np.zeros(0, np.int64), *(r for r, yes in zip(ranges, shaded, strict=True) if yes)]
    ).astype(np.int32)
    return places._replace(
        vertices=through[places.vertices],
        pairs=through[places.pairs],
        neighbours=through[places.neighbours],
    )
