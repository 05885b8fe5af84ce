"""Real people made larger or smaller, cut to a bust or an arm, or written in centimetres."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ecorche.base.mesh import triangle_mesh
from ecorche.body.character import Character
from ecorche.body.perform import perform
from ecorche.io.formats import write_take
from ecorche.skeleton.skeleton import Skeleton
from ecorche.skin.weights import weights_from_table

Floats = npt.NDArray[np.float64]


def scaled(character: Character, times: float) -> Character:
    """The same person, so many times as tall."""
    skeleton = character.skeleton
    larger = Skeleton(
        skeleton.names,
        skeleton.parents,
        _moved_apart(skeleton.bind_local, times),
        _moved_apart(skeleton.rest_local, times),
        skeleton.tails * times,
    )
    meshes = tuple(
        replace(m, mesh=triangle_mesh(m.name, times * m.mesh.points.astype(np.float64), m.mesh.triangles()))
        for m in character.meshes
    )
    return replace(character, skeleton=larger, meshes=meshes, motions=(), cache=None)


def in_centimetres(character: Character, path: Path) -> Path:
    """A USD file of the character whose numbers are centimetres, as its stage says."""
    from pxr import Usd, UsdGeom

    write_take(path, perform(scaled(character, 100.0)).take)
    stage = Usd.Stage.Open(str(path))
    UsdGeom.SetStageMetersPerUnit(stage, 0.01)
    stage.GetRootLayer().Save()
    return path


def part(character: Character, joints: Sequence[str], skin: Sequence[str]) -> Character:
    """What remains of a person with some joints only, and the skin of some of them.

    Args:
        character: A person of one skinned mesh.
        joints: The joints kept, with all above them.
        skin: Those whose skin is kept: triangles of which every corner follows them by more than half.
    """
    skeleton, body = character.skeleton, character.body()
    assert body.weights is not None
    kept = sorted({above for name in joints for above in _chain(skeleton, skeleton.index(name))})
    new = {old: number for number, old in enumerate(kept)}
    fewer = Skeleton(
        tuple(skeleton.names[j] for j in kept),
        np.array([new.get(int(skeleton.parents[j]), -1) for j in kept], np.int32),
        skeleton.bind_local[kept],
        skeleton.rest_local[kept],
        skeleton.tails[kept],
    )
    table = np.zeros((body.weights.vertex_count, skeleton.joint_count))
    rows = np.repeat(np.arange(len(table)), np.diff(body.weights.starts))
    table[rows, body.weights.joints] = body.weights.weights
    shown = table[:, [skeleton.index(name) for name in skin]].sum(axis=1) > 0.5
    triangles = body.mesh.triangles()
    used, corners = np.unique(triangles[shown[triangles].all(axis=1)], return_inverse=True)
    weights = table[used][:, kept]
    assert (weights.sum(axis=1) > 0.0).all()
    cut = replace(
        body,
        mesh=triangle_mesh(body.name, body.mesh.points[used].astype(np.float64), corners.reshape(-1, 3)),
        weights=weights_from_table(
            np.tile(np.arange(len(kept)), (len(used), 1)),
            weights / weights.sum(axis=1, keepdims=True),
            len(kept),
            body.name,
        ),
    )
    return replace(character, skeleton=fewer, meshes=(cut,), motions=(), cache=None)


def without_joints(character: Character, words: Sequence[str]) -> Character:
    """A person of one skinned mesh without the joints that have a word in their names, nor any below them.

    Their skin follows the joint above.
    """
    skeleton, body = character.skeleton, character.body()
    assert body.weights is not None
    gone = np.zeros(skeleton.joint_count, bool)
    for joint, name in enumerate(skeleton.names):
        parent = int(skeleton.parents[joint])
        gone[joint] = any(word in name for word in words) or (parent >= 0 and gone[parent])
    heir = np.arange(skeleton.joint_count)
    for joint in np.flatnonzero(gone).tolist():
        heir[joint] = heir[skeleton.parents[joint]]
    kept = np.flatnonzero(~gone)
    new = np.cumsum(~gone) - 1
    parents = skeleton.parents[kept]
    fewer = Skeleton(
        tuple(skeleton.names[j] for j in kept),
        np.where(parents >= 0, new[parents], -1).astype(np.int32),
        skeleton.bind_local[kept],
        skeleton.rest_local[kept],
        skeleton.tails[kept],
    )
    joints, weights = body.weights.padded()
    table = weights_from_table(new[heir[joints]], weights, len(kept), body.name)
    return replace(character, skeleton=fewer, meshes=(replace(body, weights=table),), motions=(), cache=None)


def _chain(skeleton: Skeleton, joint: int) -> list[int]:
    """A joint and all above it."""
    chain = [joint]
    while skeleton.parents[chain[-1]] >= 0:
        chain.append(int(skeleton.parents[chain[-1]]))
    return chain


def _moved_apart(matrices: Floats, times: float) -> Floats:
    larger = matrices.copy()
    larger[..., :3, 3] *= times
    return larger
