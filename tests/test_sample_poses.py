"""Drawn poses: within the limits of every joint that has some, and near bind where a joint only helps."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ecorche.base import rotations, transforms
from ecorche.body.character import Character
from ecorche.body.perform import perform
from ecorche.body.rig import check_rig, create_rig
from ecorche.body.sample_poses import BESIDE, UNKNOWN, sample_poses
from ecorche.document.files import Rig
from ecorche.document.joint_spec import RevoluteSpec
from ecorche.skeleton.motion import Motion
from rigged_people import person, rigged

Floats = npt.NDArray[np.float64]

KNEE = "front_leg_lower_l"


def turned(motion: Motion) -> Floats:
    """How far each joint is turned from bind by its own doing, in degrees (frames, joints)."""
    since_bind = np.linalg.inv(motion.skeleton.bind_local) @ motion.local
    xyzw = transforms.decompose(since_bind)[1]
    return np.asarray(np.degrees(np.linalg.norm(rotations.rotation_vector_from_xyzw(xyzw), axis=-1)))


def hinged(rig: Rig, joint: str, low: float, high: float) -> Rig:
    """The rig with limits of a hinge on one joint."""
    hinge = RevoluteSpec.model_validate({"model": "revolute", "limits": {"range": (low, high)}})
    skeleton = rig.spec.skeleton.model_copy(update={"joints": {joint: hinge}})
    return replace(rig, spec=rig.spec.model_copy(update={"skeleton": skeleton}))


def horse(data: Path) -> tuple[Character, Rig]:
    character = person(data / "mesh2motion" / "horse-animations.glb")
    return character, create_rig(character, "horse.glb", "horse.ecorche", muscles=False)


def test_a_creatures_own_limits_hold(data: Path) -> None:
    character, free = horse(data)
    limited = hinged(free, KNEE, -20.0, 15.0)
    assert check_rig(limited, character) == []
    joint = character.skeleton.index(KNEE)
    before, after = (sample_poses(character, rig, 200, motions=()) for rig in (free, limited))
    assert turned(before)[:, joint].max() > 30.0
    assert 15.0 < turned(after)[:, joint].max() < 20.0 + 1e-6
    others = np.arange(character.skeleton.joint_count) != joint
    np.testing.assert_array_equal(after.local[:, others], before.local[:, others])


def test_a_creatures_own_limits_are_enforced_in_a_performance(data: Path) -> None:
    character, free = horse(data)
    still = hinged(free, KNEE, -1.0, 1.0)
    joint = character.skeleton.index(KNEE)
    clip = character.motions[0]
    assert turned(clip)[:, joint].max() > 5.0
    done = perform(character, clip, rig=still, limits=True).take.motion
    assert done is not None
    assert turned(done)[:, joint].max() < 1.0 + 1e-6


def test_joints_without_names_and_limits_turn_by_the_stated_range(data: Path) -> None:
    character, rig = horse(data)
    angles = turned(sample_poses(character, rig, 200, motions=())).max(axis=0)
    leaves = np.array([name.endswith("leaf") for name in character.skeleton.names])
    assert 0.8 * np.degrees(UNKNOWN) < angles.max() <= np.degrees(UNKNOWN) + 1e-6
    assert 0.0 < angles[leaves].max() <= np.degrees(BESIDE) + 1e-6


def test_a_persons_helper_joints_hardly_turn(data: Path) -> None:
    path = data / "human" / "male_muscular_cmu_mb.glb"
    names = person(path).skeleton.names
    angles = turned(sample_poses(person(path), rigged(path), 200, motions=())).max(axis=0)
    for helper in ("LHipJoint", "RHipJoint"):
        assert 0.5 * np.degrees(BESIDE) < angles[names.index(helper)] <= np.degrees(BESIDE) + 1e-6
    assert angles[names.index("LeftLeg")] > np.degrees(UNKNOWN)  # a knee has limits, and they are wide
