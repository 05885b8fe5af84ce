"""The template as a whole body of muscles, on real people in real motion."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ecorche.body.character import Character
from ecorche.io.formats import read_character, read_motion
from ecorche.muscles.musculature import Musculature, musculature
from ecorche.muscles.template import TEMPLATE, place
from ecorche.skeleton.kinematics import difference_from_bind
from ecorche.skeleton.naming import recognise
from ecorche.skeleton.retarget import retarget


@pytest.fixture(scope="module")
def man(data: Path) -> Character:
    return read_character(data / "human" / "male_muscular_cmu_mb.glb")


@pytest.fixture(scope="module")
def muscles(man: Character) -> Musculature:
    placement = place(TEMPLATE, man.skeleton, recognise(man.skeleton))
    return musculature(placement.muscles, man.skeleton, placement.scapulae)


def test_every_placed_muscle_is_there_by_name(muscles: Musculature) -> None:
    assert len(muscles.names) == len(set(muscles.names)) >= 100
    assert {"biceps brachii, long head, right", "vastus lateralis, left"} <= set(muscles.names)


def test_bind_is_exact(man: Character, muscles: Musculature) -> None:
    frames, states = muscles.posed(difference_from_bind(man.skeleton, man.skeleton.bind_local))
    np.testing.assert_array_equal(frames.path.points, muscles.frames.paths.bind_points)
    np.testing.assert_array_equal(frames.out, muscles.frames.out)
    np.testing.assert_array_equal(states.thickness, muscles.spindles.thickness)


@pytest.mark.parametrize("clip", ["02_01", "02_03", "13_13", "13_39"])
def test_muscles_keep_their_volume_in_motion(
    data: Path, man: Character, muscles: Musculature, clip: str
) -> None:
    motion = retarget(read_motion(data / "cmu" / f"{clip}.bvh"), man.skeleton).motion
    frames, states = muscles.posed(difference_from_bind(man.skeleton, motion.local[1::8]), bulge=1.2)
    assert np.isfinite(frames.out).all()
    assert np.isfinite(states.thickness).all()
    bind = contracted_at_bind(muscles)
    drift = np.abs(states.volumes() / bind - 1.0)
    assert drift[~states.held].max() < 1e-9
    assert states.held.mean() < 0.01


def contracted_at_bind(muscles: Musculature) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    count = muscles.frames.paths.skeleton.joint_count - len(muscles.scapulae)
    return muscles.posed(np.zeros((count, 4, 4)))[1].volumes()


def test_a_bent_elbow_shortens_and_thickens_the_biceps(man: Character, muscles: Musculature) -> None:
    local = man.skeleton.bind_local.copy()
    elbow = man.skeleton.index("LeftForeArm")
    hand = man.skeleton.bind_world[man.skeleton.index("LeftHand"), :3, 3]
    shoulder = man.skeleton.bind_world[man.skeleton.index("LeftArm"), :3, 3]
    centre = man.skeleton.bind_world[elbow, :3, 3]
    axis = np.cross(shoulder - centre, hand - centre)
    axis = man.skeleton.bind_world[elbow, :3, :3].T @ (axis / np.linalg.norm(axis))
    skew = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    angle = np.radians(-50.0)
    local[elbow, :3, :3] @= np.eye(3) + np.sin(angle) * skew + (1 - np.cos(angle)) * skew @ skew
    frames, states = muscles.posed(difference_from_bind(man.skeleton, local))
    number = next(
        i for i, n in enumerate(muscles.names) if n.startswith("biceps brachii") and n.endswith("left")
    )
    assert frames.path.lengths[number] < 0.95 * muscles.spindles.bind_length[number]
    assert states.thickness[number, 0, 3] > 1.02 * muscles.spindles.thickness[number, 0, 3]
