"""A take whose skin is written finer than it is computed: subdivision, the last of the skin's filters."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import sparse

from ecorche.body.character import Character, SkinnedMesh
from ecorche.body.frames import Frame, Frames
from ecorche.body.spool import Remembering
from ecorche.body.take import Take
from ecorche.skin.normals import Normals
from ecorche.skin.subdivision import Subdivision, subdivided, subdivision
from ecorche.skin.weights import SkinWeights, weights_from_entries


class FinerFrames:
    """Frames of which one mesh is finer.

    Args:
        coarse: The frames as they are computed.
        number: Which mesh.
        fine: How it is divided.
        normals: The plan for its normals.
    """

    def __init__(self, coarse: Frames, number: int, fine: Subdivision, normals: Normals) -> None:
        self.coarse, self._number, self._fine, self._normals = coarse, number, fine, normals
        self.times = coarse.times

    def __len__(self) -> int:
        return len(self.coarse)

    def state(self) -> bytes | None:
        """What is remembered of the frames asked for so far, see `LiveFrames.state`."""
        return self.coarse.state() if isinstance(self.coarse, Remembering) else None

    def go_on_from(self, state: bytes) -> None:
        """Stand where a state was taken."""
        assert isinstance(self.coarse, Remembering)
        self.coarse.go_on_from(state)

    def __getitem__(self, index: int) -> Frame:
        frame, number = self.coarse[index], self._number
        points, normals = list(frame.points), list(frame.normals)
        points[number] = self._fine.points(points[number])
        (normals[number],) = self._normals.apply([points[number]])
        return Frame(frame.time, tuple(points), tuple(normals))


def with_finer_skin(take: Take) -> Take:
    """The take with its body's skin divided as often as its rig says (`coupling.subdivision`)."""
    levels = 0 if take.rig is None else take.rig.spec.coupling.subdivision
    if not levels or take.rig is None:
        return take
    body = take.character.body(take.rig.spec.body)
    number, fine = take.character.meshes.index(body), subdivision(body.mesh, levels)
    finer = _finer(body, fine, take.character)
    meshes = list(take.character.meshes)
    meshes[number] = finer
    character = replace(take.character, meshes=tuple(meshes), cache=None)
    if take.frames is None:
        return replace(take, character=character)
    frames = FinerFrames(take.frames, number, fine, Normals([finer.mesh]))
    return replace(take, character=character, frames=frames)


def _finer(body: SkinnedMesh, fine: Subdivision, character: Character) -> SkinnedMesh:
    joints = character.skeleton.joint_count
    weights = None if body.weights is None else _weights(body.weights, fine, joints, body.name)
    return replace(body, mesh=subdivided(body.mesh, fine), weights=weights)


def _weights(weights: SkinWeights, fine: Subdivision, joints: int, where: object) -> SkinWeights:
    """Each fine vertex goes with the joints of the coarse ones that it comes from."""
    coarse = sparse.csr_matrix(
        (weights.weights.astype(np.float64), weights.joints, weights.starts), (weights.vertex_count, joints)
    )
    found = (fine.vertices @ coarse).tocoo()
    return weights_from_entries(found.row, found.col, found.data, found.shape[0], joints, where)
