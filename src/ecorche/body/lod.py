"""Coarser meshes of a character, for where it is far away: on the same joints, moved by the same muscles.

A mesh of another level of detail is a character file of its own, whose joints are those of the rig's
character: the same names, the same tree, the same bind. Its skin gets the rig's muscles as if the rig had
been made for it, so that one rig, one motion and one activation serve all levels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ecorche.body.character import Character, SkinnedMesh
from ecorche.body.compile import compile_body
from ecorche.body.evaluator import Evaluator
from ecorche.body.vertex_program import VertexProgram, vertex_program
from ecorche.document.files import Rig
from ecorche.errors import EcorcheError, MeshError, SkeletonError
from ecorche.skeleton.skeleton import Skeleton
from ecorche.skin.weights import SkinWeights

Floats = npt.NDArray[np.float64]

SAME_BIND = 1e-3
"""Joints may stand so far apart at bind [m], and so far turned [rad], and still be the same."""


@dataclass(frozen=True, eq=False)
class Level:
    """A level of detail.

    Attributes:
        name: What to call it.
        beyond: It is shown from so far on [m].
        programs: Its vertex program, of each body type.
    """

    name: str
    beyond: float
    programs: tuple[VertexProgram, ...]


def lod_programs(character: Character, rigs: Sequence[Rig], lod: Character) -> tuple[VertexProgram, ...]:
    """The vertex programs of a coarser mesh, of each body type.

    Args:
        character: The rig's own character.
        rigs: The rig, of each body type.
        lod: The mesh of another level of detail, on the same joints.
    """
    where = lod.source or lod.name
    moved = on_same_joints(lod, character.skeleton)
    body = _body(rigs[0], moved, where)
    if rigs[0].spec.maps:
        raise MeshError(
            f"the rig's painted maps ({', '.join(map(repr, rigs[0].spec.maps))}) are of its own mesh",
            where=where,
            remedy="Use a rig without painted maps for meshes of other detail",
        )
    made = []
    for rig in rigs:
        own = replace(rig, spec=rig.spec.model_copy(update={"body": body}))
        made.append(vertex_program(compile_body(moved, rig=own)))
    return tuple(made)


def on_same_joints(lod: Character, skeleton: Skeleton) -> Character:
    """The character on another's skeleton, which must be the same but for the order of its joints."""
    where, own = lod.source or lod.name, lod.skeleton
    missing = [name for name in skeleton.names if name not in own.names]
    added = [name for name in own.names if name not in skeleton.names]
    remedy = "Export it with the skeleton of the rig's character"
    if missing or added:
        told = " and ".join(
            f"{what} {', '.join(map(repr, names[:4]))}{' …' if len(names) > 4 else ''}"
            for what, names in (("lacks", missing), ("adds", added))
            if names
        )
        raise SkeletonError(f"it is on another skeleton: it {told}", where=where, remedy=remedy)
    there = np.array([skeleton.names.index(name) for name in own.names], np.int32)
    for joint, name in enumerate(own.names):
        above = None if own.parents[joint] < 0 else own.names[own.parents[joint]]
        wanted = int(skeleton.parents[there[joint]])
        if above != (None if wanted < 0 else skeleton.names[wanted]):
            raise SkeletonError(
                f"it is on another skeleton: joint {name!r} hangs on {above!r}", where=where, remedy=remedy
            )
    apart = np.abs(own.bind_world - skeleton.bind_world[there]).max(axis=(1, 2))
    if apart.max() > SAME_BIND:
        worst = int(np.argmax(apart))
        raise SkeletonError(
            f"it is bound in another pose: joint {own.names[worst]!r} is off by {apart[worst]:.3g} at bind",
            where=where,
            remedy=remedy,
        )
    meshes = tuple(_renumbered(mesh, there) for mesh in lod.meshes)
    return replace(lod, skeleton=skeleton, meshes=meshes, motions=(), cache=None)


def lod_distance(full: VertexProgram, coarse: VertexProgram, moved: Floats, active: Floats) -> Floats:
    """How far vertices of a coarser skin are from the full one's surface in n poses [m], (n, vertices).

    Args:
        full: Of the full mesh.
        coarse: Of the coarser one.
        moved: ``M − I`` of the joints, (n, joints, 4, 4).
        active: Activations, (n, muscles).
    """
    from ecorche.base.closest_point import TriangleSurface

    skins = []
    for program in (full, coarse):
        points = np.empty((len(moved), len(program.points), 3), np.float32)
        Evaluator(program).apply(moved, active, points=points)
        skins.append(points)
    triangles = _triangles(full)
    return np.stack(
        [
            TriangleSurface(whole, triangles).closest(part).distances
            for whole, part in zip(*skins, strict=True)
        ]
    )


def _triangles(program: VertexProgram) -> npt.NDArray[np.int32]:
    meshes = program.body.character.meshes
    parts = [m.mesh.triangles() + first for m, first in zip(meshes, program.borders, strict=False)]
    return np.concatenate(parts).astype(np.int32)


def _renumbered(mesh: SkinnedMesh, there: npt.NDArray[np.int32]) -> SkinnedMesh:
    """The mesh on joints of other numbers, rising within a vertex again."""
    weights = mesh.weights
    if weights is None or (there == np.arange(len(there))).all():
        return mesh
    joints = there[weights.joints]
    vertex = np.repeat(np.arange(weights.vertex_count), np.diff(weights.starts))
    order = np.lexsort((joints, vertex))
    sorted_weights = SkinWeights(weights.starts, joints[order], weights.weights[order])
    return replace(mesh, weights=sorted_weights)


def _body(rig: Rig, lod: Character, where: str) -> str:
    """Name of the mesh that is the body: the rig's, or the only one that is skinned."""
    skinned = [mesh.name for mesh in lod.meshes if mesh.weights is not None]
    if rig.spec.body in skinned:
        return str(rig.spec.body)
    if len(skinned) == 1:
        return skinned[0]
    raise MeshError(
        f"nobody knows which of its {len(skinned)} skinned meshes is the body",
        where=where,
        remedy=f"Name one {rig.spec.body!r}, as the rig does",
    )


def require_distances(distances: Sequence[float]) -> None:
    """Refuse levels that begin nowhere, or two at one distance."""
    for number, beyond in enumerate(distances):
        if not (np.isfinite(beyond) and beyond > 0.0) or beyond in distances[:number]:
            raise EcorcheError(
                f"a level of detail from {beyond:g} m on cannot be shown",
                where="lod",
                remedy="Give each another distance above zero; the rig's own mesh is shown before them",
            )
