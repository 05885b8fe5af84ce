"""Muscles as joints: skinning alone plays nearly what the muscles do, and exactly where they do nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from altered_people import scaled
from conftest import Figure
from ecorche.base import transforms
from ecorche.body.as_joints import jointed_character, skinned_as, with_muscle_joints
from ecorche.body.joint_error import half_scale_error, joint_errors, least_move
from ecorche.body.sample_poses import sample_poses
from ecorche.errors import SkeletonError
from ecorche.skeleton.kinematics import difference_from_bind
from ecorche.skeleton.motion import bind_pose
from ecorche.skin.linear import LinearSkinning
from extracted_people import extracted
from jointed_people import DRESSED, MAN, captured, jointed
from rigged_people import person, rigged

CLIP = "cmu/13_39.bvh"


def test_at_bind_nothing_has_moved(data: Path) -> None:
    made = jointed(data / MAN)
    own = made.body.character.skeleton
    still = np.zeros((own.joint_count, 4, 4))
    assert not made.muscles.difference(still, made.body.bulge(None)).any()
    played = made.motion(bind_pose(own), np.zeros((1, len(made.activation(bind_pose(own))[0]))))
    assert np.array_equal(played.local[0], made.character.skeleton.bind_local)


def test_muscle_joints_are_leaves_that_dilate_across_and_never_along(data: Path) -> None:
    made = jointed(data / MAN)
    joints, own = made.muscles.joints, made.body.character.skeleton
    assert len(set(made.character.skeleton.names)) == own.joint_count + len(joints.names)
    assert max(len(name.encode()) for name in joints.names) <= 63  # what Blender keeps
    assert (joints.parents < own.joint_count).all()
    for local in captured(data / MAN, data / CLIP).local[::5]:
        moved = made.muscle_local(local)
        assert transforms.shear(moved).max() < 1e-12
        scale = transforms.decompose(moved)[2]
        np.testing.assert_allclose(scale[:, 0], 1.0, atol=1e-12)
        assert scale.min() > 0.5
        assert scale.max() < 2.0


def test_muscle_joints_that_go_with_their_parents_are_plain_skinning(data: Path) -> None:
    made, whole = jointed(data / MAN), jointed(data / MAN, None)
    own = made.body.character.skeleton
    mesh = made.body.character.meshes[made.skin]
    assert mesh.weights is not None
    plain = LinearSkinning(mesh.mesh.points, mesh.weights)
    for local in sample_poses(made.body.character, None, 6, seed=3).local:
        moved = difference_from_bind(own, local)
        riding = np.concatenate([moved, moved[made.muscles.joints.parents]])
        for one in (whole, made):
            on_joints = one.character.meshes[made.skin]
            assert on_joints.weights is not None
            ours = LinearSkinning(mesh.mesh.points, on_joints.weights).apply(skinned_as(on_joints, riding))
            np.testing.assert_allclose(ours, plain.apply(moved), atol=2e-6, rtol=0)


@pytest.mark.parametrize("name", [MAN, DRESSED])
def test_joints_are_near_what_the_muscles_do_with_any_budget(data: Path, name: str, figure: Figure) -> None:
    """Garments are counted too: they take of the muscle joints as much as the skin below them."""
    made = jointed(data / name)
    motion = captured(data / name, data / CLIP)
    poses = sample_poses(made.body.character, rigged(data / name), 24)
    four, eight, every = joint_errors(made, motion, poses)
    for error in (four, eight, every):
        assert error.rms < 0.5 * error.displaced[0], error
        assert error.percentile < 0.003
        assert error.worst.shape == (sum(m.mesh.vertex_count for m in made.character.meshes),)
    assert every.rms <= eight.rms * 1.001
    assert four.rms < 1.15 * every.rms
    figure(f"{Path(name).stem}: muscles as joints, four influences, rms", four.rms * 1e3, 0.5, "mm")
    figure(f"{Path(name).stem}: muscles as joints, four influences, largest", four.largest * 1e3, 6.0, "mm")


def test_the_budget_is_kept(data: Path) -> None:
    for influences in (4, 8):
        for mesh in jointed(data / MAN, influences).character.meshes:
            assert mesh.weights is not None
            assert np.diff(mesh.weights.starts).max() <= influences


def test_half_precision_of_scales_is_told_and_small(data: Path) -> None:
    made = jointed(data / MAN)
    apart = half_scale_error(made, made.motion(captured(data / MAN, data / CLIP)))
    assert 1e-7 < apart < 5e-5


def test_the_same_rig_gives_the_same_bytes(data: Path) -> None:
    one = jointed(data / MAN)
    again = jointed_character(person(data / MAN), rigged(data / MAN))
    assert again.character.skeleton.bind_local.tobytes() == one.character.skeleton.bind_local.tobytes()
    for a, b in zip(one.character.meshes, again.character.meshes, strict=True):
        assert a.weights is not None
        assert b.weights is not None
        assert a.weights.weights.tobytes() == b.weights.weights.tobytes()
        assert a.weights.joints.tobytes() == b.weights.joints.tobytes()


def test_limbs_that_a_motion_scales_unevenly_shear_no_muscle_joint(data: Path) -> None:
    """A muscle joint is scaled with its limb, by the limb's own node: its own parts say only what it does."""
    made, motion = jointed(data / MAN), captured(data / MAN, data / CLIP).part(0, 3)
    uneven = motion.local.copy()
    uneven[:, :, :3, :3] = uneven[:, :, :3, :3] * [1.0, 1.02, 1.0]
    played = made.motion(replace(motion, local=uneven))
    assert transforms.shear(played.local[:, made.body.character.skeleton.joint_count :]).max() < 1e-5


def test_the_rounding_of_a_file_is_no_shear(data: Path) -> None:
    """The horse's bind matrices are off a rotation by some millionths, and its muscle joints hang below."""
    horse, rig = extracted(data / "mesh2motion" / "horse-animations.glb")
    made = jointed_character(horse, rig, influences=None)
    assert transforms.shear(made.character.skeleton.bind_local).max() < 1e-6
    for clip in horse.motions:
        played = made.motion(clip.part(0, min(12, clip.frame_count - 1)))
        assert transforms.shear(played.local).max() < 1e-12


def test_limbs_that_are_scaled_unevenly_at_bind_are_refused(data: Path) -> None:
    own = jointed(data / MAN).body.character.skeleton
    scaled = own.bind_local.copy()
    scaled[0, :3, :3] *= [1.0, 1.2, 1.0]
    with pytest.raises(SkeletonError, match="unevenly"):
        with_muscle_joints(replace(own, bind_local=scaled), jointed(data / MAN).muscles)


def test_what_counts_as_moved_goes_with_the_characters_size(data: Path) -> None:
    made = jointed(data / MAN)
    assert least_move(made) == pytest.approx(1e-5, rel=0.15)
    dwarf = replace(made, character=scaled(made.character, 0.01))
    assert least_move(dwarf) == pytest.approx(0.01 * least_move(made), rel=1e-5)
