"""Keyframe files: bind exactly at zero, smooth between keys, loops that join, and readable refusals."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from ecorche.errors import EcorcheError, MotionError, ReadError
from ecorche.io.formats import read_character
from ecorche.io.formats import read_motion as read_any_motion
from ecorche.io.keyframes import read_keyframes, read_motion
from ecorche.skeleton.naming import recognise
from ecorche.skeleton.resample import resample
from ecorche.skeleton.retarget import retarget
from ecorche.skeleton.skeleton import Skeleton
from ecorche.skeleton.standing import STATURE, standing_figure

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
NOD = """clip nod
rate 20
at 0
    skullbase 0 0 0
    move 0 0 0
at 0.4
    skullbase 25 10 -5
    move 0.1 -0.01 0.2
at 1
    skullbase 0 0 0
    move 0 0 0
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "clip.pose"
    path.write_text(text)
    return path


def turned(skeleton: Skeleton, seed: int = 5) -> Skeleton:
    """The same joints in other, random axes of their own, and scaled: only names and places stay."""
    random = np.random.default_rng(seed)
    world = skeleton.bind_world.copy()
    axes = Rotation.from_quat(random.normal(size=(len(world), 4))).as_matrix()
    world[:, :3, :3] = axes * 0.01
    local = world.copy()
    for j, p in enumerate(skeleton.parents):
        if p >= 0:
            local[j] = np.linalg.inv(world[p]) @ world[j]
    return Skeleton(skeleton.names, skeleton.parents, local, local, np.full((len(world), 3), np.nan))


def test_zero_is_bind_bit_for_bit_and_a_little_is_a_little(tmp_path: Path) -> None:
    skeleton = turned(standing_figure())
    motion = read_keyframes(written(tmp_path, NOD), skeleton)
    assert motion.name == "nod"
    assert (motion.local[[0, -1]] == skeleton.bind_local).all()
    assert not (motion.local[8] == skeleton.bind_local).all()
    tiny = read_keyframes(written(tmp_path, "at 0\n l_knee 5e-5 0 0\n move 0 0 0\n"), skeleton)
    change = np.abs(tiny.world() - skeleton.bind_world)[0]
    assert 0.0 < change.max() < 1e-6


def test_angles_are_about_the_character_axes_whatever_the_joint_axes(tmp_path: Path) -> None:
    """SciPy turns the head about left, up and forward; our joints of random axes must agree."""
    skeleton = turned(standing_figure())
    motion = read_keyframes(written(tmp_path, NOD), skeleton)
    head = skeleton.index("skullbase")
    expected = Rotation.from_euler("XZY", [25, -5, 10], degrees=True).as_matrix()
    measured = motion.world()[8, head, :3, :3] @ np.linalg.inv(skeleton.bind_world[head, :3, :3])
    np.testing.assert_allclose(measured, expected, atol=1e-12)
    way = motion.world()[8, head, :3, 3] - skeleton.bind_world[head, :3, 3]
    np.testing.assert_allclose(way, [0.1, -0.01, 0.2], atol=1e-12)


def test_left_and_forward_follow_the_facing(tmp_path: Path) -> None:
    """A character that faces -X bows towards -X."""
    figure = standing_figure()
    turn = np.eye(4)
    turn[:3, :3] = Rotation.from_euler("y", -90, degrees=True).as_matrix()
    local = figure.bind_local.copy()
    local[0] = turn @ local[0]
    facing = Skeleton(figure.names, figure.parents, local, local, figure.tails)
    motion = read_keyframes(written(tmp_path, "at 0\n trunk 40 0 0\n move 0 0 0.5\n"), facing)
    heads = motion.world()[0, :, :3, 3]
    top, hip = heads[facing.index("skullbase")], heads[facing.index("l_hip")]
    assert top[0] < hip[0] - 0.2
    np.testing.assert_allclose(heads[0] - facing.bind_world[0, :3, 3], [-0.5, 0, 0], atol=1e-12)


def test_smooth_never_overshoots_and_has_no_jump_in_speed(tmp_path: Path) -> None:
    angles = {0: 0, 0.3: 60, 0.5: 62, 1: 0}
    text = "rate 1000\n" + "".join(f"at {t}\n l_knee {a} 0 0\n" for t, a in angles.items())
    motion = read_keyframes(written(tmp_path, text), standing_figure())
    knee = motion.local[:, motion.skeleton.index("l_knee"), :3, :3]
    angle = np.degrees(Rotation.from_matrix(knee).as_rotvec()[:, 0])
    assert angle.min() > -1e-9
    assert angle.max() < 62.0 + 1e-9
    assert angle[300] == pytest.approx(60.0, abs=1e-9)
    speed = np.diff(angle) * 1000.0
    assert np.abs(np.diff(speed)).max() < 0.02 * np.abs(speed).max()


@pytest.mark.parametrize(("kind", "expected"), [("linear", 15.0), ("step", 0.0)])
def test_other_interpolations(tmp_path: Path, kind: str, expected: float) -> None:
    text = f"rate 10\ninterpolation {kind}\nat 0\n l_knee 0 0 0\nat 1\n l_knee 30 0 0\n"
    motion = read_keyframes(written(tmp_path, text), standing_figure())
    knee = motion.local[:, motion.skeleton.index("l_knee"), :3, :3]
    angle = np.degrees(Rotation.from_matrix(knee).as_rotvec()[:, 0])
    assert angle[5] == pytest.approx(expected, abs=1e-9)
    assert angle[10] == pytest.approx(30.0)


def test_a_loop_joins_and_a_move_goes_on(tmp_path: Path) -> None:
    keys = "at 0\n l_hip 20 0 0\n move 0 0 0\nat 0.5\n l_hip -20 0 0\nat 1\n move 0 0 1.5\n"
    text = "rate 100\nloop yes\nrepeat 3\n" + keys
    motion = read_keyframes(written(tmp_path, text), standing_figure())
    assert motion.frame_count == 301
    np.testing.assert_allclose(motion.local[100:201, 1:], motion.local[:101, 1:], atol=1e-9)
    forward = motion.local[:, 0, 2, 3]
    np.testing.assert_allclose(forward[[0, 100, 200, 300]] - forward[0], [0, 1.5, 3.0, 4.5], atol=1e-9)
    speed = np.diff(forward)
    assert np.abs(np.diff(speed)).max() < 1e-3


def test_an_end_between_two_frames_is_kept(tmp_path: Path) -> None:
    motion = read_keyframes(written(tmp_path, NOD.replace("at 1\n", "at 1.03\n")), standing_figure())
    assert motion.times[-2:] == pytest.approx([1.0, 1.03])
    assert (motion.local[-1] == motion.skeleton.bind_local).all()


def test_trunk_bends_spines_of_any_length_alike(data: Path, tmp_path: Path) -> None:
    path = written(tmp_path, "at 0\n trunk 30 0 0\n")
    for file in ("human/male_average_cmu_mb.glb", "mesh2motion/human-male.glb"):
        skeleton = read_character(data / file).skeleton
        motion = read_keyframes(path, skeleton)
        naming = recognise(skeleton)
        shoulder = naming.joint("l_shoulder")
        turn = motion.world()[0, shoulder, :3, :3] @ np.linalg.inv(skeleton.bind_world[shoulder, :3, :3])
        expected = Rotation.from_euler("x", 30, degrees=True).as_matrix()
        np.testing.assert_allclose(turn, expected, atol=1e-6)


def test_own_names_and_old_spellings(data: Path, tmp_path: Path) -> None:
    skeleton = read_character(data / "human" / "male_average_cmu_mb.glb").skeleton
    by_own = read_keyframes(written(tmp_path, "at 0\n LeftFoot -10 0 0\n"), skeleton)
    by_old = read_keyframes(written(tmp_path, "at 0\n l_ankle -10 0 0\n"), skeleton)
    assert (by_own.local == by_old.local).all()


def test_the_standing_figure_stands() -> None:
    figure = standing_figure()
    naming = recognise(figure)
    assert set(naming.canonical) == set(figure.names)
    tips = figure.tail_positions()
    assert tips[:, 1].max() == pytest.approx(STATURE)
    assert 0.0 < tips[:, 1].min() < 0.03
    mirrored = figure.bind_world[
        [figure.index(n.replace("l_", "r_", 1)) for n in figure.names if n[:2] == "l_"]
    ]
    left = figure.bind_world[[j for j, n in enumerate(figure.names) if n[:2] == "l_"]]
    np.testing.assert_allclose(mirrored[:, :3, 3] * [-1, 1, 1], left[:, :3, 3], atol=1e-15)


def test_the_walk_walks(data: Path) -> None:
    """The example loops, steps at human speed, keeps its feet on the floor and hardly slides."""
    motion = read_any_motion(EXAMPLES / "walk.pose")
    cycle = round(1.1 * 30)
    np.testing.assert_allclose(motion.local[cycle:, 1:], motion.local[:-cycle, 1:], atol=1e-9)
    speed = (motion.local[-1, 0, 2, 3] - motion.local[0, 0, 2, 3]) / motion.times[-1]
    assert 1.0 < speed < 1.6
    target = read_character(data / "human" / "male_average_cmu_mb.glb").skeleton
    moved = retarget(motion, target)
    assert moved.report.worst_direction_error < 0.01
    assert abs(moved.report.floor_offset) < 1e-9
    assert moved.report.skate is not None
    assert moved.report.skate.planted > 2.5
    assert moved.report.skate.mean_speed < 15.0


def test_the_flex_begins_and_ends_in_bind_with_elbows_bent_between(data: Path) -> None:
    skeleton = read_character(data / "human" / "male_muscular_cmu_mb.glb").skeleton
    motion = read_keyframes(EXAMPLES / "flex.pose", skeleton)
    assert (motion.local[[0, -1]] == skeleton.bind_local).all()
    heads = resample(motion, times=[2.2]).world()[0, :, :3, 3]
    for side in ("Left", "Right"):
        arm, elbow, hand = (heads[skeleton.index(f"{side}{n}")] for n in ("Arm", "ForeArm", "Hand"))
        upper, fore = elbow - arm, hand - elbow
        bend = np.degrees(np.arccos(upper @ fore / np.linalg.norm(upper) / np.linalg.norm(fore)))
        assert 110.0 < bend < 135.0
        assert hand[1] > elbow[1] + 0.1
        assert abs(elbow[1] - arm[1]) < 0.1


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "skullbase 25",
            "scullbase 25",
            "line 7: the character has no joint 'scullbase'. Did you mean 'sku",
        ),
        ("25 10 -5", "25 10", r"'skullbase 25 10' is not|'skullbase' needs three numbers"),
        ("25 10 -5", "25 ten -5", "line 7: '25 ten -5' is not 3 finite numbers"),
        ("25 10 -5", "25 nan -5", "is not 3 finite numbers"),
        ("at 0.4", "at 0", "line 6: 0 s is not later than 0 s"),
        ("at 0\n", "at 0.1\n", "line 3: the first key is at 0.1 s"),
        ("at 1\n", "at soon\n", "'soon' is not 1 finite number"),
        ("rate 20", "rate 0", "the rate 0 is not above zero"),
        ("rate 20", "rat 20", "line 2: 'rat' is no setting. Did you mean 'rate'"),
        ("rate 20", "zero bindd", "zero 'bindd' is not known. Did you mean 'bind'"),
        ("rate 20", "loop maybe", "loop 'maybe' is not known"),
        ("rate 20", "repeat -1", "repeat '-1' is no count"),
        ("rate 20", "rate 1e5\nloop yes\nrepeat 1000000", "too many frames"),
        ("clip nod", "clip", "the clip has no name"),
        ("    move 0.1", "    skullbase 0.1", "line 8: 'skullbase' is keyed twice at 0.4 s"),
    ],
)
def test_slips_of_the_pen_are_named(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in NOD
    with pytest.raises(EcorcheError, match=message):
        read_keyframes(written(tmp_path, NOD.replace(old, new, 1)), standing_figure())


def test_loops_that_do_not_join_and_empty_files(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="'l_hip' ends its loop in other angles"):
        read_keyframes(
            written(tmp_path, "loop yes\nat 0\n l_hip 0 0 0\nat 1\n l_hip 1 0 0\n"), standing_figure()
        )
    with pytest.raises(ReadError, match="loops but is not keyed at 0 s"):
        read_keyframes(written(tmp_path, "loop yes\nat 0\nat 1\n l_hip 1 0 0\n"), standing_figure())
    with pytest.raises(ReadError, match="it has no keys"):
        read_keyframes(written(tmp_path, "# nothing\n"), standing_figure())
    with pytest.raises(ReadError, match="no joint is keyed"):
        read_keyframes(written(tmp_path, "at 0\n"), standing_figure())
    with pytest.raises(MotionError, match="'l_talocrural' and 'l_ankle' are the same"):
        read_keyframes(written(tmp_path, "at 0\n l_ankle 0 0 0\n l_talocrural 0 0 0\n"), standing_figure())


def test_a_bind_file_needs_a_character(tmp_path: Path) -> None:
    with pytest.raises(MotionError, match="count from the bind pose of a character"):
        read_motion(written(tmp_path, NOD))
    with pytest.raises(MotionError, match="no clip 'run'"):
        read_motion(EXAMPLES / "walk.pose", "run")
