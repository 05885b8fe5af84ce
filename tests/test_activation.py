"""Activation, force and bulge: their ranges, their continuity, and nothing depends on the frame rate."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ecorche.base.rotations import normalise, xyzw_from_axis_angle
from ecorche.base.smooth_step import smooth_step
from ecorche.base.transforms import compose
from ecorche.errors import EcorcheError
from ecorche.io.bvh import read_motion
from ecorche.io.formats import read_character
from ecorche.muscles.activation import (
    Action,
    ActivationSource,
    Anticipating,
    Constant,
    Curves,
    JointAngles,
    JointDriven,
    activation_from_force,
    bulge_from_activation,
    force_from_activation,
    table_for,
)
from ecorche.skeleton.motion import Motion, bind_pose
from ecorche.skeleton.naming import Naming, recognise
from ecorche.skeleton.resample import resample
from ecorche.skeleton.retarget import retarget
from ecorche.skeleton.skeleton import Skeleton, world_from_local
from rigs import skeleton_at

Floats = npt.NDArray[np.float64]
FLEXION = Action("l_elbow", (0.0, -2.0, 0.0), (10.0, 130.0))
EXTENSION = Action("l_elbow", (0.0, 1.0, 0.0), (0.0, 90.0))
SUPINATION = Action("l_elbow", (1.0, 0.0, 0.0), (0.0, 90.0), 0.5)
BICEPS, TRICEPS = 0, 1
TABLE = ((FLEXION, SUPINATION), (EXTENSION,))


def arm() -> tuple[Skeleton, Naming]:
    """An upper arm, a twist joint in the middle of it, and a forearm, along +x."""
    names = ["LeftShoulder", "LeftArm", "twist", "LeftForeArm"]
    skeleton = skeleton_at(names, [-1, 0, 1, 2], [[0, 1.4, 0], [0.1, 1.4, 0], [0.2, 1.4, 0], [0.4, 1.4, 0]])
    naming = Naming("given", ("l_sternoclavicular", "l_shoulder", None, "l_elbow"), ("joint",) * 4, ())
    return skeleton, naming


def bending(angles: Floats, times: Floats, axis: tuple[float, float, float] = (0.0, -1.0, 0.0)) -> Motion:
    """The forearm turned about an axis by angles [rad] at times."""
    skeleton, _ = arm()
    local = np.tile(skeleton.bind_local, (len(times), 1, 1, 1))
    turn = xyzw_from_axis_angle(normalise(axis), angles)
    local[:, 3] = skeleton.bind_local[3] @ compose(np.zeros(3), turn)
    return Motion("bending", skeleton, times, local)


def curl(
    rate: float, start: float = 1.0, length: float = 0.8, angle: float = 2.0, end: float = 3.0
) -> Motion:
    """Still, then a smooth curl by ``angle`` [rad] from ``start`` on, then still."""
    times = np.arange(round(end * rate) + 1) / rate
    return bending(angle * smooth_step((times - start) / length), times)


def _differences(motion: Motion) -> Floats:
    skeleton = motion.skeleton
    world = world_from_local(skeleton.parents, motion.local)
    return np.asarray((world - skeleton.bind_world) @ skeleton.bind_inverse)


# the three words


def test_bulge_follows_activation_and_activation_follows_force() -> None:
    np.testing.assert_allclose(bulge_from_activation([0.0, 0.5, 1.0]), [1.0, 1.15, 1.3], rtol=1e-15)
    np.testing.assert_allclose(bulge_from_activation([[0.5, 1.0]], [1.2, 2.0]), [[1.1, 2.0]], rtol=1e-15)
    assert bulge_from_activation(0.0).item() == 1.0
    np.testing.assert_array_equal(activation_from_force([[0.0, 300.0]], [100.0, 600.0]), [[0.0, 0.5]])
    np.testing.assert_array_equal(force_from_activation([0.25, 1.0], [100.0, 600.0]), [25.0, 600.0])


@given(st.lists(st.floats(0.0, 1.0), min_size=1), st.floats(1.0, 3.0), st.floats(1.0, 1e4))
def test_ranges_of_the_three_words(alpha: list[float], largest: float, strongest: float) -> None:
    bulge = bulge_from_activation(alpha, largest)
    assert ((bulge >= 1.0) & (bulge <= largest * (1 + 1e-15))).all()
    force = force_from_activation(alpha, strongest)
    np.testing.assert_allclose(np.minimum(force / strongest, 1.0), alpha, rtol=1e-14, atol=1e-300)
    order = np.argsort(alpha)
    assert (np.diff(bulge[order]) >= 0.0).all()


def test_words_out_of_range_are_refused() -> None:
    for bad in (-0.1, 1.1, np.nan):
        with pytest.raises(EcorcheError, match="is not between 0 and 1"):
            bulge_from_activation([0.5, bad])
        with pytest.raises(EcorcheError, match="is not between 0 and 1"):
            Constant([bad])
    for worse in (0.9, 0.0, np.nan, np.inf):
        with pytest.raises(EcorcheError, match="largest bulge is below 1"):
            bulge_from_activation(0.5, worse)
    with pytest.raises(EcorcheError, match=r"force 700 N of muscle 1 .* raise F_max"):
        activation_from_force([[10.0, 700.0]], [100.0, 600.0])
    with pytest.raises(EcorcheError, match="force -1 N of muscle 0"):
        activation_from_force([-1.0], [100.0])
    with pytest.raises(EcorcheError, match="F_max is not positive"):
        activation_from_force([1.0], [0.0])


# constant and keyed


def test_constant_holds() -> None:
    motion = curl(30.0)
    alpha = Constant([0.2, 1.0]).over(motion)
    assert alpha.shape == (motion.frame_count, 2)
    assert (alpha == [0.2, 1.0]).all()


@given(
    st.lists(
        st.tuples(st.integers(0, 1000), st.floats(0.0, 1.0)), min_size=1, max_size=8, unique_by=lambda k: k[0]
    ),
    st.sampled_from(["smooth", "linear"]),
)
@settings(max_examples=60, deadline=None)
def test_curves_hit_their_keys_and_never_overshoot(keys: list[tuple[int, float]], how: str) -> None:
    keys = sorted(keys)
    times, values = np.array([k[0] for k in keys]) / 100.0, np.array([k[1] for k in keys])
    curves = Curves([(times, values)], how)  # type: ignore[arg-type]
    np.testing.assert_allclose(curves.at(times)[:, 0], values, atol=1e-15)
    for a, b in pairwise(range(len(keys))):
        inside = curves.at(np.linspace(times[a], times[b], 50))[:, 0]
        rising = np.diff(inside) * np.sign(values[b] - values[a])
        assert (rising >= -1e-12).all()
    beyond = curves.at([times[0] - 1.0, times[-1] + 1.0])[:, 0]
    np.testing.assert_allclose(beyond, [values[0], values[-1]], atol=1e-15)
    dense = curves.at(np.linspace(-1.0, 11.0, 500))
    assert ((dense >= values.min()) & (dense <= values.max())).all()


def test_bad_curves_are_refused() -> None:
    with pytest.raises(EcorcheError, match="activation curve 1: its times do not rise"):
        Curves([([0.0], [0.5]), ([0.0, 0.0], [0.5, 0.6])])
    with pytest.raises(EcorcheError, match="2 times for 1 values"):
        Curves([([0.0, 1.0], [0.5])])
    with pytest.raises(EcorcheError, match=r"activation curve 0: the activation 1\.5"):
        Curves([([0.0], [1.5])])
    with pytest.raises(EcorcheError, match=r"no interpolation 'smoth'.*smooth"):
        Curves([], "smoth")  # type: ignore[arg-type]


# driven by the joints


def test_bending_the_elbow_works_the_biceps_over_its_range() -> None:
    source = JointDriven(*arm(), TABLE)
    degrees = np.array([0.0, 10.0, 40.0, 70.0, 130.0, 140.0])
    alpha = source.at(_differences(bending(np.radians(degrees), np.arange(6.0))))
    np.testing.assert_allclose(alpha[:, BICEPS], smooth_step((degrees - 10.0) / 120.0), atol=1e-12)
    assert not alpha[:, TRICEPS].any()
    back = source.at(_differences(bending(np.radians([-45.0, -90.0]), np.arange(2.0))))
    np.testing.assert_allclose(back, [[0.0, 0.5], [0.0, 1.0]], atol=1e-12)


def test_several_actions_add_up_and_never_pass_one() -> None:
    source = JointDriven(*arm(), [[FLEXION, FLEXION], [SUPINATION], [SUPINATION, SUPINATION], []])
    alpha = source.over(bending(np.radians([130.0]), np.zeros(1)))
    assert alpha[0, 0] == pytest.approx(1.0, abs=1e-12)
    alpha = source.over(bending(np.radians([90.0]), np.zeros(1), (1.0, 0.0, 0.0)))
    np.testing.assert_allclose(alpha[0], [0.0, 0.5, 0.75, 0.0], atol=1e-12)


def test_bind_and_rigid_motion_work_no_muscle_and_twist_joints_do_not_count() -> None:
    skeleton, naming = arm()
    source = JointDriven(skeleton, naming, TABLE)
    assert not source.over(bind_pose(skeleton)).any()
    local = skeleton.bind_local.copy()
    local[0] = compose([1.0, 2.0, 3.0], xyzw_from_axis_angle(normalise([1.0, -2.0, 0.5]), 2.0)) @ local[0]
    np.testing.assert_allclose(source.over(Motion("r", skeleton, np.zeros(1), local[None])), 0.0, atol=1e-12)
    # half of the bend in the twist joint above, half in the elbow: the whole counts
    half = compose(np.zeros(3), xyzw_from_axis_angle([0.0, -1.0, 0.0], np.radians(35.0)))
    local = skeleton.bind_local.copy()
    local[2], local[3] = local[2] @ half, local[3] @ half
    alpha = source.over(Motion("split", skeleton, np.zeros(1), local[None]))
    assert alpha[0, BICEPS] == pytest.approx(0.5, abs=1e-12)


@given(
    axis=st.tuples(*[st.floats(-1.0, 1.0)] * 3).filter(lambda a: np.linalg.norm(a) > 0.1),
    start=st.floats(-165.0, 165.0),
    end=st.floats(-165.0, 165.0),
)
@settings(max_examples=30, deadline=None)
def test_any_turn_gives_a_continuous_activation_from_zero_to_one(
    axis: tuple[float, float, float], start: float, end: float
) -> None:
    """Twice round about any axis, past every wrap of the angle."""
    assume(abs(end - start) >= 20.0)
    source = JointDriven(*arm(), [[Action("l_elbow", (0.0, -1.0, 0.0), (start, end))]])
    turns = np.linspace(-2.0 * np.pi, 2.0 * np.pi, 4001)
    alpha = source.over(bending(turns, np.arange(4001.0), axis))[:, 0]
    assert ((alpha >= 0.0) & (alpha <= 1.0)).all()
    # a jump would be of the order of one; the steepest smooth rise is 1.5 a range of 15 degrees or so,
    # faster only where another axis passes near its half turn
    fine = np.linspace(turns[(worst := int(np.argmax(np.abs(np.diff(alpha)))))], turns[worst + 1], 2001)
    closer = source.over(bending(fine, np.arange(2001.0), axis))[:, 0]
    assert np.abs(np.diff(closer)).max() < 0.02


def test_angles_are_those_about_the_axis_and_lose_meaning_half_a_turn_away() -> None:
    skeleton, naming = arm()
    angles = JointAngles(skeleton, naming, [[FLEXION]])
    swung = bending(np.radians([90.0, 149.0, 179.9]), np.arange(3.0), (1.0, 0.0, 0.0))
    angle, defined = angles.over(swung)
    np.testing.assert_allclose(angle[:, 0], 0.0, atol=1e-12)
    assert (defined[:2] == 1.0).all()
    assert defined[2, 0] < 1e-4
    angle, _ = angles.over(bending(np.radians([-100.0, 33.0]), np.arange(2.0)))
    np.testing.assert_allclose(np.degrees(angle[:, 0]), [-100.0, 33.0], atol=1e-10)


def test_where_the_angle_means_nothing_no_muscle_works() -> None:
    """Half a turn about x tilted a little: the angle about y whips round, activation stays away."""
    skeleton, naming = arm()
    tilt = np.linspace(-0.01, 0.01, 2001)
    axes = np.stack([np.cos(tilt), -np.sin(tilt), np.zeros(2001)], axis=-1)
    local = np.tile(skeleton.bind_local, (2001, 1, 1, 1))
    local[:, 3] = local[:, 3] @ compose(np.zeros(3), xyzw_from_axis_angle(axes, np.radians(179.9)))
    motion = Motion("whip", skeleton, np.arange(2001.0), local)
    angle, _ = JointAngles(skeleton, naming, [[FLEXION]]).over(motion)
    assert np.ptp(angle) > 4.0
    assert JointDriven(skeleton, naming, [[FLEXION]]).over(motion).max() < 0.01


def test_missing_joints_are_told_and_unknown_names_refused() -> None:
    skeleton, naming = arm()
    source = JointDriven(skeleton, naming, [[Action("l_knee", (1.0, 0.0, 0.0), (0.0, 90.0)), FLEXION]])
    assert source.notes == ("no joint is 'l_knee': actions on it are left out",)
    assert source.over(bending(np.array([2.0]), np.zeros(1)))[0, 0] > 0.5
    assert JointDriven(skeleton, naming, [[Action("l_elbw", (1.0, 0.0, 0.0), (0.0, 90.0))]]).notes
    with pytest.raises(EcorcheError, match="its axis has no direction"):
        Action("l_elbow", (0.0, 0.0, 0.0), (0.0, 90.0))
    with pytest.raises(EcorcheError, match="empty or beyond half a turn"):
        Action("l_elbow", (1.0, 0.0, 0.0), (0.0, 200.0))
    with pytest.raises(EcorcheError, match=r"weight 1\.5 is not"):
        Action("l_elbow", (1.0, 0.0, 0.0), (0.0, 90.0), 1.5)
    with pytest.raises(EcorcheError, match=r"no muscle 'bicep'.*biceps"):
        table_for(["biceps"], {"bicep": [FLEXION]})
    assert table_for(["biceps", "triceps"], {"triceps": [EXTENSION]}) == ((), (EXTENSION,))
    other = skeleton_at(["a", "b"], [-1, 0], [[0, 0, 0], [0, 1, 0]])
    with pytest.raises(EcorcheError, match=r"made for another skeleton.*Retarget"):
        source.over(bind_pose(other))


def test_the_character_s_own_names_come_before_canonical_ones() -> None:
    skeleton, naming = arm()
    own = replace(FLEXION, joint="LeftForeArm")
    angles = JointAngles(skeleton, naming, [[own, FLEXION, replace(FLEXION, joint="twist")]])
    assert angles.joints.tolist() == [3, 3, 2]
    assert angles.above.tolist() == [1, 1, 1]  # the elbow's twist joint does not count
    assert not angles.notes


def test_a_creature_without_canonical_names_works_by_its_own() -> None:
    """Joints turn on the next joint above that is no twist joint."""
    skeleton, _ = arm()
    naming = Naming("unknown", (None,) * 4, ("joint", "joint", "twist", "joint"), ())
    source = JointDriven(skeleton, naming, [[replace(FLEXION, joint="LeftForeArm")]])
    assert source.angles.above.tolist() == [1]
    assert source.over(bending(np.radians([130.0]), np.zeros(1)))[0, 0] == pytest.approx(1.0, abs=1e-12)
    assert JointDriven(skeleton, naming, TABLE).notes == (
        "no joint is 'l_elbow': actions on it are left out",
    )


# anticipation


def test_activation_rises_before_the_motion_and_is_gone_when_it_ends() -> None:
    motion = curl(120.0)
    alpha = Anticipating(*arm(), TABLE, lead=0.3).over(motion)[:, BICEPS]
    time = motion.times
    assert alpha[time < 0.6].max() == 0.0
    at_start = alpha[np.searchsorted(time, 1.0)]
    assert at_start > 0.1  # tense before any bone has moved
    peak = time[np.argmax(alpha)]
    assert 1.0 < peak < 1.4  # before the middle of the motion, where speed is greatest
    assert alpha.max() > 0.6
    after = alpha[(time > peak) & (time < 1.9)]
    assert (np.diff(after) <= 1e-12).all()  # released as the bones move
    assert alpha[time > 1.85].max() == 0.0
    assert not Anticipating(*arm(), TABLE).over(motion)[:, TRICEPS].any()


def test_the_way_back_works_the_antagonist() -> None:
    there = curl(120.0)
    back = Motion("back", there.skeleton, there.times, there.local[::-1].copy())
    alpha = Anticipating(*arm(), TABLE).over(back)
    assert alpha[:, TRICEPS].max() > 0.6
    assert not alpha[:, BICEPS].any()


@pytest.mark.parametrize("rate", [30.0, 60.0, 240.0])
def test_anticipation_is_the_same_at_any_frame_rate(rate: float) -> None:
    source = Anticipating(*arm(), TABLE)
    fine, coarse = curl(480.0), curl(rate)
    expected = np.interp(coarse.times, fine.times, source.over(fine)[:, BICEPS])
    np.testing.assert_allclose(source.over(coarse)[:, BICEPS], expected, atol=0.005)


@given(
    start=st.floats(0.5, 1.5),
    length=st.floats(0.1, 1.0),
    angle=st.floats(-3.0, 3.0),
    lead=st.floats(0.1, 0.6),
)
@settings(max_examples=30, deadline=None)
def test_anticipation_is_continuous_and_within_range(
    start: float, length: float, angle: float, lead: float
) -> None:
    """No faster than a window of the lead time lets it: 2 / lead a second."""
    alpha = Anticipating(*arm(), TABLE, lead=lead).over(curl(240.0, start, length, angle))
    assert ((alpha >= 0.0) & (alpha <= 1.0)).all()
    assert np.abs(np.diff(alpha, axis=0)).max() <= 2.1 / lead / 240.0


def test_a_joint_that_spins_on_is_anticipated_without_a_break() -> None:
    """Twice round at one speed: nothing happens where the angle passes half a turn."""
    times = np.arange(481) / 120.0
    alpha = Anticipating(*arm(), [[FLEXION]]).over(bending(np.pi * times, times))[:, 0]
    steady = alpha[(times > 0.3) & (times < 3.6)]
    np.testing.assert_allclose(steady, smooth_step((180.0 - 15.0) / 225.0), atol=1e-9)


def test_stillness_and_a_single_frame_work_no_muscle() -> None:
    skeleton, naming = arm()
    source = Anticipating(skeleton, naming, TABLE)
    assert not source.over(bind_pose(skeleton)).any()
    assert not source.over(curl(30.0, angle=0.0)).any()
    slow = curl(30.0, start=0.0, length=3.0, angle=np.radians(20.0))
    assert not source.over(slow).any()  # 10 degrees a second at most


def test_bad_anticipation_is_refused() -> None:
    for lead in (0.0, -1.0, np.nan):
        with pytest.raises(EcorcheError, match="lead time"):
            Anticipating(*arm(), TABLE, lead=lead)
    with pytest.raises(EcorcheError, match="do not rise"):
        Anticipating(*arm(), TABLE, speeds=(100.0, 50.0))


# on real motion


@pytest.mark.parametrize("clip", ["02_01", "02_03", "13_13", "13_39"])
def test_captured_motion_works_muscles_smoothly_at_any_rate(data: Path, clip: str) -> None:
    skeleton = read_character(data / "human" / "male_average_cmu_mb.glb").skeleton
    naming = recognise(skeleton)
    table = [
        [Action(f"{side}_knee", (sign, 0.0, 0.0), (0.0, 100.0))] for side in "lr" for sign in (1.0, -1.0)
    ]
    motion = retarget(read_motion(data / "cmu" / f"{clip}.bvh"), skeleton).motion
    motion = motion.part(1, motion.frame_count - 1)  # the first frame is a T-pose, a cut away
    sources: list[tuple[ActivationSource, float]] = [
        (JointDriven(skeleton, naming, table), 0.03),
        (Anticipating(skeleton, naming, table), 0.03),
    ]
    for source, allowed in sources:
        alpha = source.over(motion)
        assert ((alpha >= 0.0) & (alpha <= 1.0)).all()
        assert alpha.max() > 0.2
        assert np.abs(np.diff(alpha, axis=0)).max() < 0.1
        for rate in (60.0, 30.0, 24.0):
            slower = resample(motion, rate=rate)
            # what is left out at the end would be looked ahead to: end both at the same moment
            same = motion.part(0, int(np.searchsorted(motion.times, slower.times[-1] - 1e-6)))
            alpha = source.over(same)
            expected = np.stack([np.interp(slower.times, same.times, a) for a in alpha.T], axis=-1)
            assert np.abs(source.over(slower) - expected).max() < allowed


def test_a_pose_alone_gives_the_same_as_one_that_is_held() -> None:
    skeleton, naming = arm()
    source = JointDriven(skeleton, naming, TABLE)
    motion = bending(np.full(9, 1.2), np.arange(9) / 30.0)
    alone = source.at(_differences(motion)[4])
    assert alone[BICEPS] > 0.3
    np.testing.assert_allclose(alone, source.over(motion)[4], atol=1e-12)
    # and while it moves, what the poses within a twentieth of a second give on the mean
    motion = curl(120.0)
    np.testing.assert_allclose(source.over(motion), source.at(_differences(motion)), atol=0.02)
