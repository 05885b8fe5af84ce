"""A bust or an arm takes the motion of the joints it has, and the report says what was left."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from benchmarks.muscle_people import EXAMPLES, motion_file

from altered_people import part
from ecorche.body.character import Character
from ecorche.body.perform import perform
from ecorche.body.rig import create_rig
from ecorche.io.formats import read_character, read_motion
from ecorche.io.keyframes import read_keyframes
from ecorche.skeleton.motion import Motion, bind_pose
from ecorche.skeleton.retarget import retarget
from ecorche.skeleton.skeleton import Skeleton

Floats = npt.NDArray[np.float64]
BUST = ("Head", "Neck1", "Spine1", "LeftArm", "RightArm", "LeftForeArm", "RightForeArm")
ARM = ("RightArm", "RightForeArm", "RightHand")


@pytest.fixture(scope="module")
def man(data: Path) -> Character:
    return read_character(data / "human" / "male_average_cmu_mb.glb")


@pytest.fixture(scope="module")
def jump(data: Path) -> Motion:
    motion = read_motion(motion_file(data, "jump"))
    return motion.part(1, 200)


def _renamed(skeleton: Skeleton) -> Skeleton:
    """The same joints under their names in another convention, so that equal names do not help."""
    names = {"Hips": "mixamorig:Hips", "Neck1": "mixamorig:Neck1"}
    return Skeleton(
        tuple(names.get(n, f"mixamorig:{n}") for n in skeleton.names),
        skeleton.parents,
        skeleton.bind_local,
        skeleton.rest_local,
        skeleton.tails,
    )


def _direction(motion: Motion, start: str, end: str) -> Floats:
    places = motion.world()[..., :3, 3]
    along = places[:, motion.skeleton.index(end)] - places[:, motion.skeleton.index(start)]
    return np.asarray(along / np.linalg.norm(along, axis=1, keepdims=True))


@pytest.mark.parametrize("joints", [BUST, ARM], ids=["bust", "arm"])
def test_its_limbs_point_as_those_of_the_whole_person(
    man: Character, jump: Motion, joints: tuple[str, ...]
) -> None:
    rest = part(man, joints, joints)
    whole = retarget(jump, man.skeleton).motion
    moved = retarget(jump, rest.skeleton)
    assert moved.report.mode == "directions"
    limbs = [("RightArm", "RightForeArm")]
    limbs += (
        [("RightForeArm", "RightHand")] if joints is ARM else [("LeftArm", "LeftForeArm"), ("Neck1", "Head")]
    )
    for start, end in limbs:
        np.testing.assert_allclose(
            _direction(moved.motion, start, end), _direction(whole, start, end), atol=1e-3
        )
    assert moved.report.worst_direction_error < 0.1
    # it turns with the person and stays where it was set up
    hips = rest.skeleton.index("Hips")
    np.testing.assert_allclose(
        moved.motion.world()[:, hips, :3, :3], whole.world()[:, man.skeleton.index("Hips"), :3, :3], atol=1e-9
    )
    assert np.ptp(moved.motion.world()[:, hips, :3, 3], axis=0).max() == 0.0
    note = next(n for n in moved.report.notes if "part of a body" in n)
    assert "left out is that of" in note
    assert "LeftUpLeg" in note or "LHipJoint" in note
    assert {"LeftFoot", "RightFoot"} <= set(moved.report.unmatched_source)
    assert "no feet are planted" in retarget(jump, rest.skeleton, mode="planted").report.notes


def test_a_part_of_the_same_rig_takes_its_matrices_as_they_are(man: Character, jump: Motion) -> None:
    rest = part(man, BUST, BUST)
    whole = retarget(jump, man.skeleton).motion
    moved = retarget(whole, rest.skeleton)
    assert moved.report.mode == "names"
    kept = [man.skeleton.index(name) for name in rest.skeleton.names]
    assert (moved.motion.local == whole.local[:, kept]).all()


def test_bind_stays_bind(man: Character) -> None:
    rest = part(man, BUST, BUST)
    still = bind_pose(man.skeleton)
    moved = retarget(Motion("bind", _renamed(man.skeleton), still.times, still.local), rest.skeleton)
    assert moved.report.mode == "directions"
    np.testing.assert_allclose(moved.motion.local[0], rest.skeleton.bind_local, atol=1e-12)


def test_a_bust_turned_round_is_aligned_by_its_shoulders(man: Character, jump: Motion) -> None:
    rest = part(man, BUST, BUST).skeleton
    about = np.diag([-1.0, 1.0, -1.0, 1.0])
    local = rest.bind_local.copy()
    local[0] = about @ local[0]
    turned = Skeleton(rest.names, rest.parents, local, local, rest.tails)
    ways = [_direction(retarget(jump, s).motion, "LeftArm", "LeftForeArm") for s in (rest, turned)]
    np.testing.assert_allclose(ways[1], ways[0], atol=1e-9)


def test_a_bare_arm_says_that_its_front_is_a_guess(man: Character, jump: Motion) -> None:
    whole = man.skeleton
    chain = [whole.index(name) for name in ARM]
    local = whole.bind_local[chain].copy()
    local[0] = whole.bind_world[chain[0]]
    arm = Skeleton(ARM, np.array([-1, 0, 1], np.int32), local, local, whole.tails[chain])
    moved = retarget(jump, arm)
    assert any("face +z" in note for note in moved.report.notes)
    expected = _direction(retarget(jump, whole).motion, "RightArm", "RightForeArm")
    np.testing.assert_allclose(_direction(moved.motion, "RightArm", "RightForeArm"), expected, atol=1e-3)


def test_a_bust_performs_with_muscles(man: Character) -> None:
    rest = part(man, BUST, ("Head", "Neck1", "Spine1", "LeftArm", "RightArm"))
    rig = create_rig(rest, "bust.glb", "bust.ecorche")
    curl = read_keyframes(EXAMPLES / "raise.pose", rest.skeleton)
    done = perform(rest, curl, rig=rig)
    assert done.take.frames is not None
    assert np.isfinite(done.take.frames[40].points[0]).all()
    start, raised = (done.take.frames[f].points[0] for f in (0, 60))
    assert np.linalg.norm(raised - start, axis=1).max() > 0.2
