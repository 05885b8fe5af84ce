"""Real muscles through the range of joints: a dog's arm, a man's calf; the whole dog is in the benchmarks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from benchmarks import line_muscle_bodies
from benchmarks.line_muscle_bodies import dog, leg
from benchmarks.line_muscle_shapes import Measured, worst

from conftest import Figure

FORMERLY_BAD = frozenset({"m.extensor_digitorum_lat_L", "pectorales_superficiales_1"})
"""They crumpled in bent arms, and folded at the breastbone."""
LONG_HEAD = "triceps_brachii_long"
"""It went into the humerus of a stretched arm."""


@pytest.fixture(scope="module")
def arm(data: Path) -> Measured:
    pytest.importorskip("mujoco")
    assert data.resolve() == line_muscle_bodies.DATA.resolve()
    return Measured(dog(FORMERLY_BAD | {LONG_HEAD}))


@pytest.fixture(scope="module")
def ribs(data: Path) -> Measured:
    pytest.importorskip("mujoco")
    assert data.resolve() == line_muscle_bodies.DATA.resolve()
    return Measured(dog(frozenset({"intercostals_int.L"})))


@pytest.fixture(scope="module")
def fingers(data: Path) -> Measured:
    pytest.importorskip("mujoco")
    assert data.resolve() == line_muscle_bodies.DATA.resolve()
    return Measured(dog(frozenset({"flexor_digitorum_superficialis_R", "pronator_teres_R"})))


@pytest.fixture(scope="module")
def calf(data: Path) -> Measured:
    assert data.resolve() == line_muscle_bodies.DATA.resolve()
    return Measured(leg(frozenset({"gastrocnemius", "soleus"})))


def test_a_dogs_arm_at_the_ends_of_its_range(arm: Measured, figure: Figure) -> None:
    poses = [
        {"shoulder": -1.0, "elbow": -1.0, "wrist": -1.0},
        {"shoulder": 1.0, "elbow": 1.0, "wrist": -1.0},
    ]
    found = worst(arm, poses)
    figure("dog's worst arm muscles at extremes: volume", 100.0 * found.volume, 1.0, "%")
    figure("dog's worst arm muscles at extremes: attachments off their bones", 1e3 * found.off, 1.0, "mm")
    others = np.array([LONG_HEAD not in name for name in arm.names])
    turned = max(int(arm.shape(arm.body.posed(pose)).turned[others].sum()) for pose in poses)
    turned_share = turned / int(arm.triangles[others].sum())
    figure("dog's worst arm muscles at extremes: triangles turned over", 100.0 * turned_share, 0.1, "%")
    assert found.finite
    assert found.volume < 1e-6
    assert found.published > 0.02  # the exact rule has something to do
    assert found.off < 1e-9
    assert turned_share < 0.001
    assert found.too_deep == {}


def test_intercostals_give_way_to_the_arm_that_is_laid_on_them(ribs: Measured, figure: Figure) -> None:
    shape = ribs.shape(ribs.body.posed({"shoulder": 1.0}))
    figure(
        "intercostals under an arm laid back: too deep in bones",
        1e3 * float(ribs.too_deep(shape).max()),
        0.0,
        "mm",
    )
    assert ribs.too_deep(shape).max() < 0.0  # 2.0 mm too deep before
    assert np.abs(shape.volume - 1.0).max() < 1e-6
    assert shape.off.max() < 1e-9
    assert shape.turned.sum() == 0
    before = ribs.shape(ribs.body.posed({})).points  # the ribs themselves do not move
    aside = shape.points - before
    far = np.linalg.norm(aside, axis=1) > 0.003
    assert 10 < far.sum() < 0.1 * len(aside)


def test_muscles_do_not_flicker_while_an_arm_swings(fingers: Measured, figure: Figure) -> None:
    poses = [dict.fromkeys(fingers.body.ranges, 0.7 + step / 300.0) for step in range(16)]
    frames = np.array([fingers.points(fingers.body.posed(pose)) for pose in poses])
    jerk = np.linalg.norm(np.diff(frames, 2, axis=0), axis=2)
    figure("dog's flexors in a swing: second difference", 1e3 * float(jerk.max()), 8.0, "mm")
    assert jerk.max() < 0.008  # 17 mm where a patch of a muscle keeps its side of a bone


def test_intercostals_are_out_of_an_arm_that_goes_through_the_ribs(ribs: Measured) -> None:
    shape = ribs.shape(ribs.body.posed({"shoulder": 1.0, "elbow": 1.0}))
    assert ribs.too_deep(shape).max() < 0.0
    assert shape.turned.sum() == 0


def test_flesh_passes_by_the_bone_of_a_stretched_arm(arm: Measured) -> None:
    shape = arm.shape(arm.body.posed({"shoulder": -1.0, "elbow": 1.0}))
    assert arm.too_deep(shape).max() < 0.0
    assert shape.turned.sum() == 0


def test_a_mans_calf_keeps_volume_between_bone_and_skin_as_the_ankle_turns(
    calf: Measured, figure: Figure
) -> None:
    still = calf.character.skeleton.bind_local
    before = calf.outside(calf.shape(still).points, still)
    for share in (-1.0, -0.5, 1.0):
        local = calf.body.posed({"ankle": share})
        shape = calf.shape(local)
        outside = calf.outside(shape.points, local)
        figure(f"calf, ankle at {share:+g}: out of the skin", 1e3 * float(outside.max()), 1.0, "mm")
        assert shape.finite
        assert np.abs(shape.volume - 1.0).max() < 1e-6
        assert shape.turned.sum() <= 0.001 * calf.triangles.sum()
        assert calf.too_deep(shape).max() < 0.0
        assert (outside - np.maximum(before, 0.0)).max() < 0.001  # 4.1 mm when they swelled evenly
