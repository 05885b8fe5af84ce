"""Real bodies with mesh muscles, and the ranges of their joints: a dog, and a man's leg from MRI.

The dog's ranges are those its model states. The leg is five bones, four muscles and a skin; its joints are
put at the top of femur and tibia and in the middle of the talus, and its skin goes over from shank to foot
evenly within `ANKLE` of that. Its ankle goes through 50°: from 20° up to 30° down.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ecorche.base.mesh import triangle_mesh
from ecorche.base.rotations import normalise, rotate_xyzw
from ecorche.base.smooth_step import smooth_step
from ecorche.body.anatomy_rig import with_anatomy
from ecorche.body.character import Character, Material, SkinnedMesh
from ecorche.body.lines import BodyLines, compile_lines
from ecorche.body.rig import create_rig
from ecorche.document.files import Rig
from ecorche.io.anatomy_folder import bones_of_character, read_anatomy_folder
from ecorche.io.mujoco import read_character
from ecorche.io.surfaces import read_mesh
from ecorche.muscles.anatomy.folder import AnatomyFolder
from ecorche.skeleton.skeleton import Skeleton, local_from_world
from ecorche.skin.weights import rigid_weights, weights_from_table

Floats = npt.NDArray[np.float64]

DATA = Path(os.environ.get("ECORCHE_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
ANKLE = 0.04
"""How far from the ankle the leg's skin goes over from shank to foot [m]."""
BONE = (0.89, 0.85, 0.76, 1.0)
OF_LEG = {"femur": 0, "tibia": 1, "fibula": 1, "talus": 2, "calcaneus": 2}


@dataclass(frozen=True, eq=False)
class Hinge:
    """One axis that a joint turns about, in the joint's own frame.

    Attributes:
        joint: The joint it turns.
        axis: Unit, (3,).
        anchor: A place on it [m], (3,).
        low, high: Its range [rad], 0 at bind.
    """

    joint: int
    axis: Floats
    anchor: Floats
    low: float
    high: float

    def turned(self, share: float) -> Floats:
        """What a joint's local matrix is multiplied by on the right, (4, 4); −1 lowest, 0 bind, 1 highest."""
        half = 0.5 * (share * self.high if share > 0.0 else -share * self.low)
        quaternion = np.array([*(np.sin(half) * self.axis), np.cos(half)])
        matrix = np.eye(4)
        matrix[:3, :3] = rotate_xyzw(quaternion, np.eye(3)).T
        matrix[:3, 3] = self.anchor - matrix[:3, :3] @ self.anchor
        return matrix


@dataclass(frozen=True, eq=False)
class RangedBody:
    """A body with mesh muscles whose joints go through their range.

    Attributes:
        character: Skin and bones.
        rig: With the muscles.
        ranges: By what people call it, the hinges that go together: those of both sides.
    """

    character: Character
    rig: Rig
    ranges: Mapping[str, tuple[Hinge, ...]]

    @cached_property
    def lines(self) -> BodyLines:
        """The muscles, compiled."""
        lines = compile_lines(self.character, self.rig)
        assert lines is not None
        return lines

    def posed(self, shares: Mapping[str, float]) -> Floats:
        """Local matrices (joints, 4, 4), told by shares of ranges: −1 lowest, 0 bind, 1 highest."""
        local = self.character.skeleton.bind_local.copy()
        for what, share in shares.items():
            for hinge in self.ranges[what]:
                local[hinge.joint] = local[hinge.joint] @ hinge.turned(share)
        return local

    def alone(self, steps: int) -> Iterator[dict[str, float]]:
        """Each range alone, in so many steps from end to end, bind left out."""
        for what in self.ranges:
            yield from ({what: float(share)} for share in np.linspace(-1.0, 1.0, steps) if share != 0.0)

    def corners(self) -> Iterator[dict[str, float]]:
        """All ranges at their ends, in every combination."""
        for corner in product((-1.0, 1.0), repeat=len(self.ranges)):
            yield dict(zip(self.ranges, corner, strict=True))


def dog(only: frozenset[str] | None = None) -> RangedBody:
    """The dog with its front muscles from its folder, or with those whose names hold one of some words."""
    path = DATA / "dog" / "dog.xml"
    character = read_character(path)
    folder = _some(read_anatomy_folder(DATA / "dog", character.up_axis), only)
    bare = create_rig(character, path, path.with_suffix(".ecorche"), muscles=False)
    rig, _ = with_anatomy(bare, character, folder, bones_of_character(character))
    hinges = _hinges(path, character.skeleton)
    named = {"shoulder": "shoulder_{}_extend", "elbow": "elbow_{}", "wrist": "wrist_{}"}
    ranges = {what: tuple(hinges[name.format(side)] for side in "LR") for what, name in named.items()}
    return RangedBody(character, rig, ranges)


def _some(folder: AnatomyFolder, only: frozenset[str] | None) -> AnatomyFolder:
    if only is None:
        return folder
    return replace(folder, muscles=tuple(m for m in folder.muscles if any(word in m.name for word in only)))


def _hinges(path: Path, skeleton: Skeleton) -> dict[str, Hinge]:
    """All hinges of a MuJoCo model by name; its reference pose is bind."""
    import mujoco

    model = mujoco.MjSpec.from_file(str(path)).compile()
    found = {}
    for number in range(model.njnt):
        if model.jnt_type[number] == mujoco.mjtJoint.mjJNT_HINGE:
            name = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_JOINT, number)
            body = mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_BODY, int(model.jnt_bodyid[number]))
            low, high = (float(end) for end in model.jnt_range[number])
            axis, anchor = np.array(model.jnt_axis[number]), np.array(model.jnt_pos[number])
            found[name] = Hinge(skeleton.index(body), normalise(axis), anchor, low, high)
    return found


def leg(only: frozenset[str] | None = None) -> RangedBody:
    """The leg with its four muscles from its folder, or with those whose names hold one of some words."""
    folder = _some(read_anatomy_folder(DATA / "leg", "Z", 0.001), only)
    bones = {mesh.name: OF_LEG[mesh.name.split("_")[1]] for mesh in folder.bones}
    part = {mesh.name.split("_")[1]: mesh for mesh in folder.bones}
    heads = [part[name].points[part[name].points[:, 1].argmax()] for name in ("femur", "tibia")]
    world = np.tile(np.eye(4), (3, 1, 1))
    world[:, :3, 3] = [*heads, part["talus"].centre]
    parents = np.array([-1, 0, 1], np.int32)
    local = local_from_world(parents, world)
    skeleton = Skeleton(("hip", "knee", "ankle"), parents, local, local.copy(), np.full((3, 3), np.nan))
    path = DATA / "leg" / "skin_right_leg.stl"
    skin = read_mesh(path, 0.001)
    x, y, z = skin.points.T.astype(np.float64)
    points = np.stack([x, z, -y], axis=1)
    foot = smooth_step((world[2, 1, 3] + ANKLE - points[:, 1]) / (2.0 * ANKLE))
    shank = smooth_step((world[1, 1, 3] + ANKLE - points[:, 1]) / (2.0 * ANKLE))
    table = np.stack([1.0 - shank, shank * (1.0 - foot), shank * foot], axis=1)
    weights = weights_from_table(np.tile(np.arange(3), (len(points), 1)), table, 3, path)
    bone_meshes = [
        SkinnedMesh(
            replace(triangle_mesh(mesh.name, mesh.points, mesh.triangles), material=0),
            rigid_weights(len(mesh.points), bones[mesh.name]),
        )
        for mesh in folder.bones
    ]
    character = Character(
        name="leg",
        skeleton=skeleton,
        meshes=(SkinnedMesh(triangle_mesh("skin", points, skin.triangles()), weights), *bone_meshes),
        materials=(Material("bone", BONE),),
        source=str(path),
    )
    bare = create_rig(character, path, path.with_suffix(".ecorche"), muscles=False)
    rig, _ = with_anatomy(bare, character, folder, bones)
    # the heel is behind: about this axis it goes down and the toes go up
    behind = part["calcaneus"].centre - part["talus"].centre
    axis = normalise(np.cross((0.0, 1.0, 0.0), behind * (1.0, 0.0, 1.0)))
    ankle = Hinge(2, axis, np.zeros(3), -np.radians(30.0), np.radians(20.0))
    return RangedBody(character, rig, {"ankle": (ankle,)})
