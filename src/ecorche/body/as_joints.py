"""A character whose muscles are joints: plays in any engine that skins a mesh, without our code.

The result is an ordinary `Character` with more joints and more weights, so every writer can write it, and a
way to bring motions to it. Muscle joints are leaves: nothing hangs below what dilates, so nothing is sheared.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ecorche.base import transforms
from ecorche.base.names import unique
from ecorche.body.character import Character, SkinnedMesh
from ecorche.body.compile import Body, compile_body
from ecorche.body.rig import require_bound
from ecorche.body.sample_poses import sample_poses
from ecorche.document.files import Rig
from ecorche.errors import MotionError, SkeletonError
from ecorche.muscles.muscle_joints import JointedMuscles
from ecorche.skeleton.kinematics import difference_from_bind
from ecorche.skeleton.motion import Motion, held
from ecorche.skeleton.skeleton import Skeleton
from ecorche.skin.hybrid_weights import MuscleWeights, hybrid_weights, limited
from ecorche.skin.layout import Points
from ecorche.skin.linear import LinearSkinning
from ecorche.skin.spindle_joints import JOINTS_PER_MUSCLE, SpindleJoints
from ecorche.skin.weights import SkinWeights

Floats = npt.NDArray[np.float64]

INFLUENCES = 4
"""What every engine reads."""
POSES = 48
"""Poses that decide which influences are folded."""
SHEARED = 1e-5
"""Shear from which on a joint is refused."""


@dataclass(frozen=True, eq=False, repr=False)
class JointedCharacter:
    """A character with its muscles as joints, and how they move.

    Attributes:
        character: Skeleton and muscle joints, meshes with weights on both; without motions.
        body: What it stands for: the character's own body with its muscles.
        muscles: The muscles, which know their joints.
        unlimited: Weights of every mesh before the budget of influences; None for meshes that stand still.
        influences: The budget; None for as many as there are.
    """

    character: Character
    body: Body
    muscles: JointedMuscles
    unlimited: tuple[SkinWeights | None, ...]
    influences: int | None

    def __repr__(self) -> str:
        return f"JointedCharacter({self.character.name!r}, {self.muscles.joints})"

    def difference(self, local: Floats, activation: Floats | None = None) -> Floats:
        """``M − I`` of all joints, (J + K, 4, 4), of local matrices (J, 4, 4) of the skeleton's own.

        Args:
            local: ``parent_from_joint`` of the character's own joints.
            activation: Of each muscle; None takes what a body that holds this pose has.
        """
        skeleton = self.body.character.skeleton
        moved = difference_from_bind(skeleton, np.asarray(local, np.float64))
        assert self.body.muscles is not None
        if activation is None:
            activation = self.body.muscles.activation.over(held(skeleton, local))[0]
        return np.concatenate([moved, self.muscles.difference(moved, self.body.muscles.bulge(activation))])

    def motion(self, motion: Motion, activation: Floats | None = None) -> Motion:
        """A motion of the character's own joints with what the muscle joints do to it.

        Args:
            motion: On the character's own skeleton.
            activation: Of each muscle, (frames, muscles); None takes what the rig says of this motion.
        """
        if motion.skeleton is not self.body.character.skeleton:
            raise MotionError(
                f"motion {motion.name!r} is made for another skeleton",
                where=self.character.name,
                remedy="Retarget it to this character first",
            )
        assert self.body.muscles is not None
        active = self.body.muscles.activation.over(motion) if activation is None else activation
        posed = np.stack(
            [self.muscle_local(local, alpha) for local, alpha in zip(motion.local, active, strict=True)]
        )
        shear = float(transforms.shear(posed).max(initial=0.0))
        if shear > SHEARED:
            raise MotionError(
                f"motion {motion.name!r} scales joints unevenly: muscle joints below them would be sheared by"
                f" {shear:.2g}, which no file can say",
                where=self.character.name,
                remedy="Use a motion without uneven scales",
            )
        return replace(
            motion, skeleton=self.character.skeleton, local=np.concatenate([motion.local, posed], axis=1)
        )

    def limited(self, influences: int, poses: Motion) -> JointedCharacter:
        """The same with at most so many influences a vertex, folded as it shows least in given poses.

        Args:
            influences: At most so many.
            poses: On the character's own skeleton.
        """
        parents = self.muscles.joints.parents
        limbs = np.concatenate([np.arange(self.body.character.skeleton.joint_count), parents])
        moved = np.stack([self.difference(local) for local in poses.local])
        meshes = tuple(
            mesh
            if weights is None
            else replace(
                mesh, weights=limited(weights, influences, limbs, mesh.mesh.points, skinned_as(mesh, moved))
            )
            for mesh, weights in zip(self.character.meshes, self.unlimited, strict=True)
        )
        return replace(self, character=replace(self.character, meshes=meshes), influences=influences)

    def muscle_local(self, local: Floats, activation: Floats | None = None) -> Floats:
        """``parent_from_joint`` of the muscle joints, (K, 4, 4), of one pose; see `difference`."""
        own, joints = self.body.character.skeleton, self.muscles.joints
        moved = self.difference(local, activation)
        above = (np.eye(4) + moved[joints.parents]) @ own.bind_world[joints.parents]
        world = (np.eye(4) + moved[own.joint_count :]) @ joints.bind_world
        return np.asarray(transforms.inverse(above) @ world)


def jointed_character(
    character: Character,
    rig: Rig,
    *,
    joints_per_muscle: int = JOINTS_PER_MUSCLE,
    influences: int | None = INFLUENCES,
    poses: Motion | None = None,
) -> JointedCharacter:
    """A character with its rig's muscles as joints.

    Args:
        character: The character.
        rig: Its rig; it must have muscles.
        joints_per_muscle: At most so many along a muscle on each limb that its skin follows.
        influences: At most so many a vertex; None keeps all.
        poses: Which poses decide what is folded to stay within the budget; None draws some.
    """
    require_bound(rig, character, rig.source)
    body = compile_body(character, skinning="linear", rig=rig)
    if body.muscles is None:
        raise SkeletonError(
            "the rig has no muscles to be joints",
            where=rig.source,
            remedy="Make one with muscles: ecorche rig CHARACTER",
        )
    muscles = _spindle_joints(body, joints_per_muscle)
    bigger = _with_joints(character.skeleton, muscles)
    entries = _entries_of_meshes(body, muscles.weights)
    parents, count = muscles.joints.parents, character.skeleton.joint_count
    unlimited = tuple(
        None if mesh.weights is None or found is None else hybrid_weights(mesh.weights, found, parents, count)
        for mesh, found in zip(character.meshes, entries, strict=True)
    )
    made = replace(
        character,
        skeleton=bigger,
        meshes=tuple(_on_joints(m, w, parents) for m, w in zip(character.meshes, unlimited, strict=True)),
        motions=(),
        cache=None,
    )
    whole = JointedCharacter(made, body, muscles, unlimited, None)
    if influences is None:
        return whole
    samples = sample_poses(character, rig, POSES) if poses is None else poses
    return whole.limited(influences, samples)


def skinned_as(mesh: SkinnedMesh, difference: Floats) -> Floats:
    """``M − I`` of the joints (..., joints, 4, 4) for a mesh that may be bound in a pose of its own."""
    if mesh.own_bind is None:
        return difference
    return np.asarray(difference @ mesh.own_bind + (mesh.own_bind - np.eye(4)))


def _on_joints(mesh: SkinnedMesh, weights: SkinWeights | None, parents: npt.NDArray[np.int64]) -> SkinnedMesh:
    """A mesh on more joints; one bound in a pose of its own is bound to muscle joints as to their parents."""
    own = mesh.own_bind
    own_bind = None if own is None else np.concatenate([own, own[parents]])
    return replace(mesh, weights=weights or mesh.weights, own_bind=own_bind, skinning=None)


def _spindle_joints(body: Body, joints_per_muscle: int) -> SpindleJoints:
    """The joints of a body's spindles."""
    assert body.muscles is not None
    skin = body.character.meshes[body.muscles.skin]
    assert skin.weights is not None
    skinning = LinearSkinning(skin.mesh.points, skin.weights)

    def skinned(difference: Floats) -> Points:
        return skinning.apply(skinned_as(skin, difference))

    return SpindleJoints(
        body.muscles.musculature,
        body.muscles.influences,
        body.muscles.sliding,
        skinned,
        skinned(np.zeros((body.character.skeleton.joint_count, 4, 4))),
        skin.weights,
        body.character.skeleton.names,
        joints_per_muscle=joints_per_muscle,
    )


def _entries_of_meshes(body: Body, found: MuscleWeights) -> list[MuscleWeights | None]:
    """What muscle joints take of every mesh: of what is worn, as much as of the skin below it."""
    from scipy import sparse

    assert body.muscles is not None
    entries: list[MuscleWeights | None] = []
    for number, garment in enumerate(body.muscles.garments):
        if number == body.muscles.skin:
            entries.append(found)
        elif garment is None:
            entries.append(None)
        else:
            shape = (garment.matrix.shape[1], int(found.joints.max(initial=-1)) + 1)
            on_skin = sparse.csr_matrix((found.weights, (found.vertices, found.joints)), shape)
            worn = (garment.matrix @ on_skin).tocoo()
            order = np.lexsort((worn.col, worn.row))
            entries.append(
                MuscleWeights(
                    worn.row[order].astype(np.int64),
                    worn.col[order].astype(np.int64),
                    worn.data[order].astype(np.float64),
                    found.from_parent,
                )
            )
    return entries


def _with_joints(skeleton: Skeleton, muscles: JointedMuscles) -> Skeleton:
    """The skeleton with the muscle joints as leaves."""
    joints = muscles.joints
    above = skeleton.bind_world[joints.parents]
    local = transforms.inverse(above) @ joints.bind_world
    uneven = transforms.shear(above) > SHEARED
    lengths = np.linalg.norm(above[:, :3, :3], axis=-2)
    uneven |= lengths.max(axis=-1) > (1.0 + SHEARED) * lengths.min(axis=-1)
    if uneven.any():
        name = skeleton.names[int(joints.parents[int(np.argmax(uneven))])]
        raise SkeletonError(
            f"joint {name!r} is scaled unevenly at bind: muscle joints below it would be sheared",
            remedy="Apply the scale in the program the character is from, and export again",
        )
    taken = set(skeleton.names)
    return Skeleton(
        (*skeleton.names, *(unique(name, taken) for name in joints.names)),
        np.concatenate([skeleton.parents, joints.parents.astype(np.int32)]),
        np.concatenate([skeleton.bind_local, local]),
        np.concatenate([skeleton.rest_local, local]),
        np.concatenate([skeleton.tails, np.full((len(local), 3), np.nan)]),
    )
