"""The four joint models: chain, angles, limits, mirror images, plain values."""

from __future__ import annotations

from typing import Any

import hypothesis.strategies as st
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import assume, given, settings
from hypothesis.extra.numpy import arrays
from scipy.spatial.transform import Rotation

from ecorche.base.rotations import (
    inverse_xyzw,
    multiply_xyzw,
    rotate_xyzw,
    rotation_vector_from_xyzw,
    xyzw_from_axis_angle,
)
from ecorche.errors import SkeletonError
from ecorche.skeleton.human_limits import human_joint
from ecorche.skeleton.joint_angles import knee_angles, mirror_xyzw
from ecorche.skeleton.joint_values import joint_from_values, values_from_joint
from ecorche.skeleton.joints import BallAndSocket, Joint, Knee, Revolute, Swing
from ecorche.skeleton.limits import nearest_in_range
from ecorche.skeleton.spherical_polygon import SphericalPolygon, angle_between
from ecorche.skeleton.twist_field import TwistField

Floats = npt.NDArray[np.float64]

calm = settings(max_examples=30)
Z = np.array([0.0, 0.0, 1.0])


def random_rotations(seed: int, count: int = 300) -> Floats:
    return np.asarray(Rotation.random(count, random_state=seed).as_quat())


def frames(seed: int) -> dict[str, Any]:
    a, f = random_rotations(seed, 2)
    return {"anatomical_frame_xyzw": tuple(a), "canonical_offset_xyzw": tuple(f)}


def a_polygon() -> SphericalPolygon:
    """Not convex, and larger than a hemisphere on one side."""
    swings = np.radians([(80, 0), (20, 20), (0, 120), (-60, 30), (-70, -40), (0, -30), (40, -60)])
    vectors = np.concatenate([swings, np.zeros((7, 1))], axis=1)
    return SphericalPolygon(Rotation.from_rotvec(vectors).apply(Z))


def a_field() -> TwistField:
    keys = np.radians(
        [(0, 0, -60, 40), (80, 0, -20, 50), (0, 120, -90, 10), (-70, -40, -10, 5), (40, -60, -130, 100)]
    )
    return TwistField(keys[:, :2], keys[:, 2], keys[:, 3])


JOINTS: dict[str, Joint] = {
    "revolute": Revolute(low=-0.2, high=2.4, **frames(1)),
    "lax revolute": Revolute(low=-2.9, high=2.9, play=0.3, **frames(2)),
    "knee": Knee(flexion_low=-0.1, flexion_high=2.5, twist_low=-0.5, twist_high=0.7, **frames(3)),
    "lax knee": Knee(
        flexion_low=0.0,
        flexion_high=2.5,
        twist_low=-0.5,
        twist_high=0.7,
        narrowing=0.0,
        play=0.2,
        **frames(4),
    ),
    "swing": Swing(polygon=a_polygon(), **frames(5)),
    "lax swing": Swing(polygon=a_polygon(), play=0.4, **frames(6)),
    "ball and socket": BallAndSocket(polygon=a_polygon(), twist=a_field(), **frames(7)),
    "shoulder": human_joint("l_shoulder"),
    "hip": human_joint("r_hip"),
}
every_joint = pytest.mark.parametrize("joint", JOINTS.values(), ids=JOINTS.keys())


def distance(a: Floats, b: Floats) -> Floats:
    """Angle [rad] between rotations."""
    return np.asarray(np.linalg.norm(rotation_vector_from_xyzw(multiply_xyzw(a, inverse_xyzw(b))), axis=-1))


@every_joint
def test_no_angles_is_the_canonical_pose(joint: Joint) -> None:
    canonical = joint.rotation(np.zeros(len(joint.parameter_names)))
    assert distance(canonical, np.array(joint.canonical_offset_xyzw)) < 1e-12


@every_joint
@calm
@given(data=st.data())
def test_angles_give_a_rotation_and_the_rotation_its_angles(joint: Joint, data: st.DataObject) -> None:
    angles = data.draw(
        arrays(np.float64, (4, len(joint.parameter_names)), elements=st.floats(-2.0, 2.0, width=32))
    )
    q = joint.rotation(angles)
    np.testing.assert_allclose(np.linalg.norm(q, axis=-1), 1.0, atol=1e-14)
    np.testing.assert_allclose(joint.parameters(q), angles, atol=1e-9)
    np.testing.assert_allclose(joint.parameters(-q), angles, atol=1e-9)


def test_the_chain_is_the_one_written_down() -> None:
    """R = A S T A⁻¹ F, with SciPy's matrices."""
    joint = JOINTS["ball and socket"]
    a, f = (Rotation.from_quat(q) for q in (joint.anatomical_frame_xyzw, joint.canonical_offset_xyzw))
    swing, twist = Rotation.from_rotvec([0.4, -0.3, 0.0]), Rotation.from_rotvec([0.0, 0.0, 0.9])
    expected = a * swing * twist * a.inv() * f
    found = Rotation.from_quat(joint.rotation([0.4, -0.3, 0.9]))
    np.testing.assert_allclose(found.as_matrix(), expected.as_matrix(), atol=1e-14)


@every_joint
def test_clamping_lands_within_the_limits_and_stays(joint: Joint) -> None:
    q = random_rotations(11, 4000)
    clamped, excess = joint.clamp(q)
    again, none = joint.clamp(clamped)
    assert excess.beyond.any()
    np.testing.assert_array_equal(again, clamped)
    assert not none.beyond.any()
    # what was within is the same bits, also as −q
    np.testing.assert_array_equal(clamped[~excess.beyond], q[~excess.beyond])
    np.testing.assert_allclose(joint.clamp(-q)[0], -clamped, atol=1e-12)
    # nothing is reported that did not move, and nothing moved further than reported
    moved = distance(clamped, q)
    assert (moved[excess.beyond] > 0.0).all()


@every_joint
def test_what_a_joint_can_do_is_left_alone(joint: Joint) -> None:
    inside, _ = joint.clamp(random_rotations(12, 2000))
    kept, excess = joint.clamp(inside)
    np.testing.assert_array_equal(kept, inside)
    assert (excess.swing == 0.0).all()
    assert (excess.twist == 0.0).all()


@pytest.mark.parametrize("name", ["swing", "ball and socket", "shoulder", "hip"])
def test_direction_and_twist_each_go_to_their_nearest(name: str) -> None:
    joint = JOINTS[name]
    assert isinstance(joint, Swing | BallAndSocket)
    q = random_rotations(13, 400)
    clamped, excess = joint.clamp(q)
    before, after = joint._anatomical(q), joint._anatomical(clamped)
    moved = angle_between(rotate_xyzw(before, Z), rotate_xyzw(after, Z))
    np.testing.assert_allclose(moved, excess.swing, atol=1e-9)
    # no admissible direction among many is nearer
    many = rotate_xyzw(random_rotations(14, 20000), Z)
    many = many[joint.polygon.contains(many)]
    best = np.arccos(np.clip((rotate_xyzw(before, Z) @ many.T).max(axis=1), -1.0, 1.0))
    assert (excess.swing <= best + 1e-9).all()
    assert (excess.swing >= best - 0.1).all()
    if isinstance(joint, BallAndSocket):
        wanted = joint.parameters(q)[:, 2]
        swing = joint.parameters(clamped)[:, :2]
        twist = joint.parameters(clamped)[:, 2]
        low, high = joint.twist.limits(swing)
        choices = low[:, None] + np.linspace(0.0, 1.0, 2001) * (high - low)[:, None]
        gaps = np.abs(np.angle(np.exp(1j * (choices - wanted[:, None])))).min(axis=1)
        np.testing.assert_allclose(np.abs(np.angle(np.exp(1j * (twist - wanted)))), gaps, atol=2e-3)


def test_a_hinge_goes_to_the_nearest_rotation_it_can_make() -> None:
    joint = JOINTS["revolute"]
    assert isinstance(joint, Revolute)
    q = random_rotations(15, 300)
    clamped, _ = joint.clamp(q)
    choices = joint.rotation(np.linspace(joint.low, joint.high, 4001)[:, None])
    best = 2.0 * np.arccos(np.clip(np.abs(q @ choices.T).max(axis=1), 0.0, 1.0))
    np.testing.assert_allclose(distance(clamped, q), best, atol=1e-5)


def test_a_knee_free_of_limits_goes_to_the_nearest_rotation_it_can_make() -> None:
    free = Knee(
        flexion_low=-np.pi, flexion_high=np.pi, twist_low=-np.pi, twist_high=np.pi, narrowing=0.0, **frames(8)
    )
    q = random_rotations(16, 200)
    clamped, _ = free.clamp(q)
    turn = np.linspace(-np.pi, np.pi, 241)
    choices = free.rotation(np.stack(np.meshgrid(turn, turn), axis=-1).reshape(-1, 2))
    best = 2.0 * np.arccos(np.clip(np.abs(q @ choices.T).max(axis=1), 0.0, 1.0))
    found = distance(clamped, q)
    assert (found <= best + 1e-9).all()
    np.testing.assert_allclose(found, best, atol=0.03)


@calm
@given(st.integers(0, 10**6))
def test_knee_angles_are_scipys(seed: int) -> None:
    q = random_rotations(seed, 50)
    expected = Rotation.from_quat(q).as_euler("XYZ")
    found = np.stack(knee_angles(q), axis=-1)
    assume((np.abs(expected[:, 1]) < 1.56).all())
    np.testing.assert_allclose(np.angle(np.exp(1j * (found - expected))), 0.0, atol=1e-9)


def test_the_knee_locks_as_it_extends() -> None:
    knee = Knee(flexion_low=0.0, flexion_high=np.radians(140), twist_low=-0.5, twist_high=0.7)
    low, high = knee.twist_range(np.radians([0.0, 5.0, 10.0, 20.0, 90.0]))
    np.testing.assert_allclose(low, [0.0, -0.125, -0.25, -0.5, -0.5])
    np.testing.assert_allclose(high, [0.0, 0.175, 0.35, 0.7, 0.7])
    extended, excess = knee.clamp(knee.rotation([0.0, 0.4]))
    np.testing.assert_allclose(knee.parameters(extended), [0.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(excess.twist, 0.4)
    bent, excess = knee.clamp(knee.rotation([1.0, 0.4]))
    np.testing.assert_array_equal(bent, knee.rotation([1.0, 0.4]))
    assert not excess.beyond


def test_a_swing_joint_is_a_ball_and_socket_without_twist() -> None:
    swing = JOINTS["swing"]
    assert isinstance(swing, Swing)
    still = BallAndSocket(
        polygon=swing.polygon,
        twist=TwistField(np.zeros((1, 2)), np.zeros(1), np.zeros(1)),
        anatomical_frame_xyzw=swing.anatomical_frame_xyzw,
        canonical_offset_xyzw=swing.canonical_offset_xyzw,
    )
    q = random_rotations(17)
    np.testing.assert_array_equal(swing.clamp(q)[0], still.clamp(q)[0])


@pytest.mark.parametrize("name", ["lax revolute", "knee", "lax knee", "lax swing", "ball and socket", "hip"])
def test_clamping_is_continuous_where_the_nearest_is(name: str) -> None:
    """Along random paths; a jump is allowed only where two borders are equally near, that is far out."""
    joint = JOINTS[name]
    rng = np.random.default_rng(18)
    worst = 0.0
    for _ in range(20):
        centre = joint.clamp(random_rotations(int(rng.integers(10**6)), 1))[0][0]
        path = Rotation.from_rotvec(np.linspace(0.0, 0.5, 2001)[:, None] * rng.normal(size=3))
        q = np.asarray((Rotation.from_quat(centre) * path).as_quat())
        clamped, excess = joint.clamp(q)
        near = (excess.swing < 0.2) & (excess.twist < 0.2)
        steps, moved = distance(q[1:], q[:-1]), distance(clamped[1:], clamped[:-1])
        both = near[1:] & near[:-1]
        if isinstance(joint, Swing | BallAndSocket):
            # a dent in the polygon is equally near from two sides; convex ones have their own test
            both &= (excess.swing[1:] == 0.0) & (excess.swing[:-1] == 0.0)
        worst = max(worst, float((moved - 30.0 * steps)[both].max(initial=-1.0)))
    assert worst <= 1e-9


@every_joint
def test_the_other_side_is_the_mirror_image(joint: Joint) -> None:
    q = random_rotations(19, 500)
    other = joint.mirrored()
    here, excess = joint.clamp(q)
    there, excess_there = other.clamp(mirror_xyzw(q))
    np.testing.assert_allclose(distance(there, mirror_xyzw(here)), 0.0, atol=1e-7)
    np.testing.assert_allclose(excess_there.swing, excess.swing, atol=1e-9)
    np.testing.assert_allclose(excess_there.twist, excess.twist, atol=1e-9)
    twice, _ = other.mirrored().clamp(q)
    np.testing.assert_allclose(distance(twice, here), 0.0, atol=1e-7)


@calm
@given(st.floats(-9.0, 9.0), st.floats(-3.0, 3.0), st.floats(0.0, 2.0 * np.pi))
def test_angles_go_to_the_nearest_end_round_the_circle(angle: float, low: float, span: float) -> None:
    nearest, excess = nearest_in_range(angle, low, low + span)
    choices = np.append(low + np.linspace(0.0, 1.0, 100001) * span, [low, low + span])
    gap = np.abs(np.angle(np.exp(1j * (choices - angle)))).min()
    assert abs(excess - gap) < 1e-4
    assert abs(abs(np.angle(np.exp(1j * (nearest - angle)))) - excess) < 1e-9
    assert nearest_in_range(nearest, low, low + span)[1] == 0.0


@every_joint
def test_plain_values_make_the_joint_again(joint: Joint) -> None:
    values = values_from_joint(joint)
    again = joint_from_values(values)
    assert values_from_joint(again) == values
    q = random_rotations(20, 500)
    np.testing.assert_allclose(distance(again.clamp(q)[0], joint.clamp(q)[0]), 0.0, atol=1e-7)


def test_plain_values_read_as_a_person_writes_them() -> None:
    joint = joint_from_values({"model": "knee", "limits": {"flexion": [0, 140], "twist": [-30, 40]}})
    assert isinstance(joint, Knee)
    np.testing.assert_allclose(np.degrees([joint.flexion_high, joint.narrowing, joint.play]), [140, 20, 0])
    elbow = values_from_joint(human_joint("r_elbow"))
    assert elbow["model"] == "revolute"
    assert elbow["limits"] == {"range": [-10.0, 150.0], "play": 35.0}


SQUARE = [[1, 0, 1], [0, 1, 1], [-1, 0, 1], [0, -1, 1]]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"limits": {}}, "the field 'model' is missing"),
        ({"model": "hinge", "limits": {}}, "there is no joint model 'hinge'"),
        ({"model": "revolut", "limits": {}}, "Did you mean 'revolute'"),
        ({"model": "knee", "limit": {}}, "no field 'limit'. Did you mean 'limits'"),
        ({"model": "knee", "limits": {"flexion": [0, 140]}}, "knee limits: the field 'twist' is missing"),
        ({"model": "knee", "limits": {"flexion": [0, 1], "twist": [5, 9]}}, "does not hold zero"),
        ({"model": "revolute", "limits": {"range": [50, 10]}}, "from 50° to 10°. Give the smaller"),
        ({"model": "revolute", "limits": {"range": [0, "x"]}}, "'range' is not 2 numbers"),
        ({"model": "revolute", "limits": {"range": [0, 400]}}, "spans 400°"),
        ({"model": "revolute", "limits": {"range": [0, 1], "play": -3}}, "the play is -3°"),
        ({"model": "swing", "limits": {"polygon": [[1, 0], [0, 1]]}}, "'polygon' is not rows of 3 numbers"),
        ({"model": "ball_and_socket", "limits": {"polygon": SQUARE}}, "the field 'twist_keys' is missing"),
        (
            {"model": "swing", "anatomical_frame": [0, 0, 0, 2], "limits": {"polygon": SQUARE}},
            "is no unit quaternion",
        ),
        ({"model": "swing", "limits": 3}, "the limits are no mapping"),
    ],
)
def test_bad_values_are_refused(values: dict[str, Any], message: str) -> None:
    with pytest.raises(SkeletonError, match=message):
        joint_from_values(values)


def test_angles_of_another_joint_are_refused() -> None:
    with pytest.raises(SkeletonError, match="Give flexion, twist along the last axis"):
        JOINTS["knee"].rotation([0.0, 0.0, 0.0])


def test_any_batch_shape_goes_through() -> None:
    q = random_rotations(21, 24).reshape(2, 3, 4, 4)
    for joint in JOINTS.values():
        clamped, excess = joint.clamp(q)
        assert clamped.shape == (2, 3, 4, 4)
        assert excess.swing.shape == excess.twist.shape == (2, 3, 4)
        one, _ = joint.clamp(q[1, 2, 3])
        np.testing.assert_allclose(one, clamped[1, 2, 3], atol=1e-14)
        assert joint.parameters(q).shape == (2, 3, 4, len(joint.parameter_names))


def test_the_limb_pointing_opposite_is_brought_back() -> None:
    """At −z, where swing and twist cannot be told apart, the answer is still finite and admissible."""
    joint = JOINTS["ball and socket"]
    half_turns = xyzw_from_axis_angle([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.6, -0.8, 0.0]], np.full(3, np.pi))
    clamped, excess = joint.clamp(joint._from_anatomical(half_turns))
    assert excess.beyond.all()
    assert not joint.clamp(clamped)[1].beyond.any()
