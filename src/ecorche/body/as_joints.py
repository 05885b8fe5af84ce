"""A character whose muscles are joints: plays in any engine that skins a mesh, without our code.

The result is an ordinary `Character` with more joints and more weights, so every writer can write it, and a
way to bring motions to it. Muscle joints are leaves: nothing hangs below what dilates, so nothing is sheared.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ecorche.base import transforms
from ecorche.base.names import unique
from ecorche.body.character import Character, SkinnedMesh
from ecorche.body.compile import Body, compile_body, skinned_points
from ecorche.body.lofts import compile_lofts, worn_entries
from ecorche.body.rig import require_bound
from ecorche.body.sample_poses import sample_poses
from ecorche.document.files import Rig
from ecorche.errors import MotionError, SkeletonError
from ecorche.muscles.muscle_joints import JoinedMuscles, JointedMuscles
from ecorche.skeleton.kinematics import difference_from_bind
from ecorche.skeleton.motion import Motion, held
from ecorche.skeleton.skeleton import Skeleton
from ecorche.skin.hybrid_weights import MuscleWeights, hybrid_weights
from ecorche.skin.influence_budget import limited
from ecorche.skin.layout import Points
from ecorche.skin.linear import LinearSkinning
from ecorche.skin.spindle_joints import JOINTS_PER_MUSCLE, SpindleJoints
from ecorche.skin.weights import SkinWeights

Floats = npt.NDArray[np.float64]

INFLUENCES = 4
"""What every engine reads."""
POSES = 48
"""Poses that decide which influences are kept."""
SHEARED = 1e-4
"""Shear from which on a joint is refused, 0.01 mm at skin 10 cm away; rounding in files makes a tenth."""


@dataclass(frozen=True, eq=False, repr=False)
class JointedCharacter:
    """A character with its muscles as joints, and how they move.

    Attributes:
        character: Skeleton and muscle joints, meshes with weights on both; without motions.
        body: What it stands for: the character's own body with its muscles.
        muscles: The muscles, which know their joints.
        unlimited: Weights of every mesh before the budget of influences; None for meshes that stand still
            or hang on one joint.
        influences: The budget; None for as many as there are.
    """

    character: Character
    body: Body
    muscles: JointedMuscles
    unlimited: tuple[SkinWeights | None, ...]
    influences: int | None

    def __repr__(self) -> str:
        return f"JointedCharacter({self.character.name!r}, {self.muscles.joints})"

    @property
    def skin(self) -> int:
        """Number of the mesh that is the body."""
        muscles = self.body.muscles or self.body.lofts
        assert muscles is not None  # a body with muscles
        return muscles.skin

    def activation(self, motion: Motion) -> Floats:
        """How active the rig says each muscle is over a motion, (frames, muscles)."""
        assert self.body.activation is not None  # a body with muscles
        return self.body.activation.over(motion)

    def difference(self, local: Floats, activation: Floats | None = None) -> Floats:
        """``M − I`` of all joints, (J + K, 4, 4), of local matrices (J, 4, 4) of the skeleton's own.

        Args:
            local: ``parent_from_joint`` of the character's own joints.
            activation: Of each muscle; None takes what a body that holds this pose has.
        """
        skeleton = self.body.character.skeleton
        moved = difference_from_bind(skeleton, np.asarray(local, np.float64))
        if activation is None:
            activation = self.activation(held(skeleton, local))[0]
        return np.concatenate([moved, self.muscles.difference(moved, self.body.bulge(activation))])

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
        active = self.activation(motion) if activation is None else activation
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
        posed = transforms.compose(*transforms.decompose(posed))  # as files say it
        return replace(
            motion, skeleton=self.character.skeleton, local=np.concatenate([motion.local, posed], axis=1)
        )

    def limited(self, influences: int, poses: Motion) -> JointedCharacter:
        """The same with at most so many influences a vertex, chosen as it shows least in given poses.

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
    joints_per_muscle: int | None = None,
    influences: int | None = INFLUENCES,
    poses: Motion | None = None,
) -> JointedCharacter:
    """A character with its rig's muscles as joints.

    Args:
        character: The character.
        rig: Its rig; it must have muscles.
        joints_per_muscle: At most so many along a muscle on each limb that its skin follows; None takes what
            suits each kind of muscle.
        influences: At most so many a vertex; None keeps all.
        poses: Which poses decide what is kept within the budget; None draws some.
    """
    require_bound(rig, character, rig.source)
    require_jointable(rig)
    body = compile_body(character, skinning="linear", rig=rig)
    if body.muscles is None and body.lofts is None:
        raise SkeletonError(
            "the rig has no muscles to be joints",
            where=rig.source,
            remedy="Make one with muscles: ecorche rig CHARACTER",
        )
    character = body.character  # of the type the rig says
    kinds = _kinds(body, rig, joints_per_muscle)
    muscles = JoinedMuscles([(kind.muscles, kind.muscle_count) for kind in kinds])
    bigger = with_muscle_joints(character.skeleton, muscles)
    entries = _joined_entries(kinds)
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


def require_jointable(rig: Rig) -> None:
    """Refuse a rig none of whose muscles can be joints."""
    muscles = rig.spec.muscles
    if muscles.named or muscles.lofted:
        return
    if muscles.lines:
        raise SkeletonError(
            f"its {len(muscles.lines)} muscles are meshes on action lines, which are no joints",
            where=rig.source,
            remedy="Make a rig with --muscles template or extract, or bake the skin's points: ecorche bake",
        )
    raise SkeletonError(
        "the rig has no muscles to be joints",
        where=rig.source,
        remedy="Make one with muscles: ecorche rig CHARACTER",
    )


def not_as_joints(rig: Rig) -> list[str]:
    """What a rig says of its skin that joints do not show, a sentence each."""
    told = []
    couplings = dict.fromkeys([rig.spec.coupling.everywhere, *rig.spec.coupling.regions.values()])
    others = [name for name in couplings if name != "muscles"]
    if others:
        told.append(
            f"the rig's coupling ({', '.join(others)}) is no part of joints: they move the skin as each"
            " muscle does by itself, and errors are against the coupled skin"
        )
    if rig.spec.muscles.lines:
        told.append(f"{len(rig.spec.muscles.lines)} muscles on action lines are no joints and are left out")
    return told


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
        body.character.skeleton.joint_count,
        joints_per_muscle=joints_per_muscle,
    )


class _Kind(NamedTuple):
    """The muscles of one kind as joints, how many there are, and what their joints take of every mesh."""

    muscles: JointedMuscles
    muscle_count: int
    entries: tuple[MuscleWeights | None, ...]


def _kinds(body: Body, rig: Rig, joints_per_muscle: int | None) -> list[_Kind]:
    """The muscles under the skin, then those found in it: the order of a body's activations."""
    found = []
    if body.muscles is not None:
        spindles = _spindle_joints(body, joints_per_muscle or JOINTS_PER_MUSCLE)
        worn = worn_entries(spindles.weights, body.muscles.skin, body.muscles.garments)
        found.append(_Kind(spindles, len(body.muscles.musculature.muscles), worn))
    if body.lofts is not None:
        lofts = body.lofts
        if joints_per_muscle is not None:
            still = body.lofts.at_rest(np.zeros((body.character.skeleton.joint_count, 4, 4)))
            bind = skinned_points(body, still, (None,) * len(body.character.meshes))
            lofts = compile_lofts(body.character, rig, bind, joints_per_muscle=joints_per_muscle) or lofts
        found.append(_Kind(lofts.lofts, len(lofts.lofts.muscles), lofts.entries))
    return found


def _joined_entries(kinds: list[_Kind]) -> list[MuscleWeights | None]:
    """What the joints of all kinds together take of every mesh; all kinds take it from their parents."""
    firsts = np.cumsum([0, *(len(kind.muscles.joints.names) for kind in kinds)])
    joined: list[MuscleWeights | None] = []
    for of_mesh in zip(*(kind.entries for kind in kinds), strict=True):
        some = [(e, first) for e, first in zip(of_mesh, firsts, strict=False) if e is not None]
        joined.append(
            MuscleWeights(
                np.concatenate([e.vertices for e, _ in some]),
                np.concatenate([e.joints + first for e, first in some]),
                np.concatenate([e.weights for e, _ in some]),
                from_parent=all(e.from_parent for e, _ in some),
            )
            if some
            else None
        )
    return joined


def with_muscle_joints(skeleton: Skeleton, muscles: JointedMuscles) -> Skeleton:
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
    local = transforms.compose(*transforms.decompose(local))  # as files say it: parents may be off by dust
    taken = set(skeleton.names)
    return Skeleton(
        (*skeleton.names, *(unique(name, taken) for name in joints.names)),
        np.concatenate([skeleton.parents, joints.parents.astype(np.int32)]),
        np.concatenate([skeleton.bind_local, local]),
        np.concatenate([skeleton.rest_local, local]),
        np.concatenate([skeleton.tails, np.full((len(local), 3), np.nan)]),
    )
