"""A ball on two joints whose upper half is fat, painted on it: the smallest body with fat that moves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import trimesh

from ecorche.base.mesh import triangle_mesh
from ecorche.body.character import Character, SkinnedMesh
from ecorche.body.rig import create_rig
from ecorche.document.fat_spec import FatRegionSpec, FatSpec
from ecorche.document.files import Rig
from ecorche.document.spec import MapRef
from ecorche.skeleton.motion import Motion
from ecorche.skeleton.skeleton import Skeleton
from ecorche.skin.weights import rigid_weights

Floats = npt.NDArray[np.float64]

VOXEL = 0.02


def ball() -> Character:
    """A ball of 10 cm radius one metre above the ground, on the second of two joints."""
    shape = trimesh.creation.icosphere(3, radius=0.1)
    points = np.asarray(shape.vertices) + np.array([0.0, 1.0, 0.0])
    local = np.tile(np.eye(4), (2, 1, 1))
    local[1, 1, 3] = 0.9
    skeleton = Skeleton(
        ("root", "ball"), np.array([-1, 0], np.int32), local, local.copy(), np.full((2, 3), np.nan)
    )
    mesh = triangle_mesh("ball", points, np.asarray(shape.faces, np.int64))
    return Character("ball", skeleton, (SkinnedMesh(mesh, rigid_weights(len(points), 1)),))


def soft_rig(character: Character, maps: Mapping[str, npt.ArrayLike] | None = None, **said: Any) -> Rig:
    """A rig whose fat is the upper half of the ball; fields of its region and further maps may be given."""
    points = character.meshes[0].mesh.points
    painted = {"upper": np.clip(0.5 + (points[:, 1] - 1.0) / 0.04, 0.0, 1.0), **(maps or {})}
    fields = {"mask": "upper", "thickness": 0.06, "voxel": VOXEL, "young": 3_000.0, "poisson": 0.45, **said}
    rig = create_rig(character, "ball.glb", "ball.ecorche", muscles=False)
    spec = rig.spec.model_copy(
        update={
            "fat": FatSpec(regions={"top": FatRegionSpec(**fields)}),
            "maps": {name: MapRef(mesh="ball") for name in painted},
        }
    )
    arrays = {name: np.asarray(values, np.float32) for name, values in painted.items()}
    return replace(rig, spec=spec, maps=arrays)


def hopping(character: Character, seconds: float = 2.0, rate: float = 30.0) -> Motion:
    """Two hops within the first second, then a rest, in the bind pose."""
    times = np.arange(int(seconds * rate) + 1) / rate
    local = np.tile(character.skeleton.bind_local, (len(times), 1, 1, 1))
    local[:, 0, 1, 3] += np.where(times < 1.0, 0.06 * np.sin(2.0 * np.pi * times) ** 2, 0.0)
    return Motion("hops", character.skeleton, times, local)


def turned(character: Character, angles: npt.ArrayLike, rate: float = 30.0) -> Motion:
    """The ball turned about z by angles [rad], a frame each."""
    angle = np.asarray(angles, np.float64)
    turn = np.zeros((len(angle), 4, 4))
    turn[:, 0, 0] = turn[:, 1, 1] = np.cos(angle)
    turn[:, 1, 0], turn[:, 0, 1] = np.sin(angle), -np.sin(angle)
    turn[:, 2, 2] = turn[:, 3, 3] = 1.0
    local = np.tile(character.skeleton.bind_local, (len(angle), 1, 1, 1))
    local[:, 1] = character.skeleton.bind_local[1] @ turn
    return Motion("turn", character.skeleton, np.arange(len(angle)) / rate, local)
