"""Muscle paths: exact at bind, rigid with the root, mirrored in a mirror, and right in their derivatives."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import mujoco
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from characters import mirrored_matrices
from ecorche.base.rotations import matrix_from_xyzw, normalise, xyzw_from_axis_angle, xyzw_from_matrix
from ecorche.base.transforms import compose
from ecorche.errors import EcorcheError
from ecorche.muscles.paths import Paths, paths_at
from ecorche.skeleton.kinematics import difference_from_bind
from ecorche.skeleton.skeleton import Skeleton, local_from_world, world_from_local

Floats = npt.NDArray[np.float64]
PARENTS = np.array([-1, 0, 1, 2, 1], np.int32)


def arm(seed: int = 0) -> Skeleton:
    """Five joints with axes of their own, the last a branch."""
    random = np.random.default_rng(seed)
    world = np.tile(np.eye(4), (5, 1, 1))
    world[:, :3, :3] = matrix_from_xyzw(normalise(random.normal(size=(5, 4))))
    heads = [[0.0, 1.0, 0.0], [0.1, 1.3, 0.0], [0.4, 1.3, 0.1], [0.7, 1.2, 0.0], [0.0, 1.6, 0.0]]
    world[:, :3, 3] = np.array(heads)
    local = local_from_world(PARENTS, world)
    names = ("root", "chest", "elbow", "hand", "head")
    return Skeleton(names, PARENTS, local, local.copy(), np.full((5, 3), np.nan))


def muscles(skeleton: Skeleton, rounding: float = 0.5) -> Paths:
    return paths_at(
        skeleton,
        [
            [(1, [0.1, 1.35, 0.05]), (2, [0.5, 1.3, 0.1])],
            [(0, [0.0, 1.1, 0.1]), (1, [0.2, 1.36, 0.1]), (2, [0.45, 1.33, 0.12]), (3, [0.8, 1.2, 0.0])],
            [(4, [-0.0, 1.7, 0.0]), (1, [0.05, 1.4, 0.1]), (1, [0.1, 1.2, 0.1])],
            [(2, [0.5, 1.3, 0.1]), (2, [0.6, 1.25, 0.1])],
        ],
        ["short", "long", "neck", "still"],
        rounding=rounding,
    )


def poses(skeleton: Skeleton, count: int, seed: int = 1, size: float = 0.6) -> Floats:
    random = np.random.default_rng(seed)
    shape = (count, skeleton.joint_count)
    axis = normalise(random.normal(size=(*shape, 3)))
    turn = compose(np.zeros(3), xyzw_from_axis_angle(axis, random.uniform(-size, size, shape)))
    return np.asarray(skeleton.bind_local @ turn)


def test_bind_is_exact_bit_for_bit() -> None:
    skeleton = arm()
    paths = muscles(skeleton)
    by_world = paths.posed(skeleton.bind_world)
    batch = paths.posed(np.tile(skeleton.bind_world, (2, 3, 1, 1, 1)))
    by_difference = paths.moved(difference_from_bind(skeleton, skeleton.bind_local))
    t = np.linspace(0.0, 1.0, 33)
    for posed in (by_world, by_difference):
        assert posed.points.tobytes() == paths.bind_points.tobytes()
        assert posed.lengths.tobytes() == paths.bind.lengths.tobytes()
        for now, then in zip(posed.at(t), paths.bind.at(t), strict=True):
            assert now.tobytes() == then.tobytes()
    assert batch.points.shape == (2, 3, 11, 3)
    assert batch.points[1, 2].tobytes() == paths.bind_points.tobytes()
    assert batch.lengths[1, 2].tobytes() == paths.bind.lengths.tobytes()


def test_a_coordinate_of_minus_zero_keeps_its_sign_at_bind() -> None:
    skeleton = arm()
    paths = muscles(skeleton)
    paths.bind_points[4] = [-0.0, 1.1, -0.0]
    assert paths.posed(skeleton.bind_world).points.tobytes() == paths.bind_points.tobytes()


def test_nodes_ride_on_their_joints_and_lengths_are_sums_of_segments() -> None:
    """Against the plain product world · local, and distances node by node."""
    skeleton = arm()
    paths = muscles(skeleton)
    world = world_from_local(PARENTS, poses(skeleton, 7))
    posed = paths.posed(world)
    for frame in range(7):
        for node, joint in enumerate(paths.joints):
            here = world[frame, joint] @ [*paths.local[node], 1.0]
            np.testing.assert_allclose(posed.points[frame, node], here[:3], atol=1e-14)
        for m in range(paths.muscle_count):
            points = posed.points[frame, paths.starts[m] : paths.starts[m + 1]]
            length = sum(np.linalg.norm(b - a) for a, b in pairwise(points))
            assert posed.lengths[frame, m] == pytest.approx(length, rel=1e-14)


def test_a_batch_is_its_frames_bit_for_bit() -> None:
    skeleton = arm()
    paths = muscles(skeleton)
    world = world_from_local(PARENTS, poses(skeleton, 6))
    difference = paths.difference(world)
    batch, t = paths.moved(difference), np.linspace(0.0, 1.0, 9)
    for frame in range(6):
        one = paths.moved(difference[frame])
        assert one.lengths.tobytes() == batch.lengths[frame].tobytes()
        assert one.at(t)[0].tobytes() == batch.at(t)[0][frame].tobytes()


def test_rigid_root_motion_commutes() -> None:
    skeleton = arm()
    paths = muscles(skeleton)
    world = world_from_local(PARENTS, poses(skeleton, 4))
    rigid = compose([3.0, -2.0, 0.5], xyzw_from_axis_angle(normalise([1.0, 2.0, -1.0]), 2.0))
    still, moved = paths.posed(world), paths.posed(rigid @ world)
    t = np.linspace(0.0, 1.0, 17)
    np.testing.assert_allclose(moved.lengths, still.lengths, rtol=1e-13)
    np.testing.assert_allclose(moved.at(t)[0], still.at(t)[0] @ rigid[:3, :3].T + rigid[:3, 3], atol=1e-13)
    np.testing.assert_allclose(moved.at(t)[1], still.at(t)[1] @ rigid[:3, :3].T, atol=1e-12)


def test_a_mirrored_pose_gives_the_mirrored_path() -> None:
    skeleton = arm()
    paths = muscles(skeleton)
    bind = mirrored_matrices(skeleton.bind_local)
    twin = replace(skeleton, bind_local=bind, rest_local=bind)
    mirror = np.array([-1.0, 1.0, 1.0])
    other = Paths(twin, paths.starts, paths.joints, paths.local * mirror)
    local = poses(skeleton, 4)
    a = paths.posed(world_from_local(PARENTS, local))
    b = other.posed(world_from_local(PARENTS, mirrored_matrices(local)))
    t = np.linspace(0.0, 1.0, 9)
    np.testing.assert_allclose(b.points, a.points * mirror, atol=1e-15)
    np.testing.assert_allclose(b.lengths, a.lengths, rtol=1e-14)
    np.testing.assert_allclose(b.at(t)[1], a.at(t)[1] * mirror, atol=1e-13)


@pytest.mark.parametrize("joint", range(5))
def test_moment_arms_are_minus_the_derivative_of_the_length(joint: int) -> None:
    """Central differences of the length while the joint turns about each world axis where it stands."""
    skeleton = arm()
    paths = muscles(skeleton)
    local = poses(skeleton, 3)
    world = world_from_local(PARENTS, local)
    centre = world[:, joint, :3, 3]
    arms = paths.posed(world).moment_arms(joint, centre)
    h = 1e-5
    for i, axis in enumerate(np.eye(3)):
        lengths = []
        for angle in (h, -h):
            turned = world.copy()
            spin = matrix_from_xyzw(xyzw_from_axis_angle(axis, angle))
            turned[:, joint, :3, :3] = spin @ world[:, joint, :3, :3]
            again = local.copy()
            again[:, joint] = local_from_world(PARENTS, turned)[:, joint]
            lengths.append(paths.posed(world_from_local(PARENTS, again)).lengths)
        slope = (lengths[0] - lengths[1]) / (2.0 * h)
        np.testing.assert_allclose(arms[..., i], -slope, atol=1e-9)
    assert np.abs(arms[:, 3]).max() < 1e-15  # both ends on one joint: no joint lengthens it
    if joint == 0:
        assert np.abs(arms).max() < 1e-14  # the root carries everything


def test_a_flexor_has_a_positive_moment_arm_about_the_flexion_axis() -> None:
    """In front of the elbow, forearm along +x, front +z: bending forwards is about −y."""
    local = np.tile(np.eye(4), (2, 1, 1))
    local[1, 0, 3] = 0.3
    skeleton = Skeleton(
        ("upper", "fore"), np.array([-1, 0], np.int32), local, local.copy(), np.full((2, 3), np.nan)
    )
    paths = paths_at(skeleton, [[(0, [0.0, 0.0, 0.03]), (1, [0.35, 0.0, 0.03])]])
    arms = paths.bind.moment_arms(1, [0.3, 0.0, 0.0])
    np.testing.assert_allclose(arms[0], [0.0, -0.03, 0.0], atol=1e-15)


def test_lengths_and_moment_arms_are_those_of_mujocos_tendons() -> None:
    """An independent implementation: spatial tendons through sites, turned by hinges."""
    skeleton = arm()
    paths = muscles(skeleton)
    # a hinge for each joint, in the frames of the skeleton at bind
    axes = normalise(np.random.default_rng(3).normal(size=(5, 3)))
    spec = mujoco.MjSpec()
    bodies: list[Any] = []
    for joint, parent in enumerate(PARENTS):
        above = spec.worldbody if parent < 0 else bodies[parent]
        x, y, z, w = xyzw_from_matrix(skeleton.bind_local[joint, :3, :3])
        body = above.add_body(pos=skeleton.bind_local[joint, :3, 3], quat=[w, x, y, z])
        body.add_geom(size=[0.01, 0.0, 0.0])
        body.add_joint(type=mujoco.mjtJoint.mjJNT_HINGE, axis=axes[joint], name=f"hinge {joint}")
        bodies.append(body)
    for node, joint in enumerate(paths.joints):
        bodies[joint].add_site(name=f"node {node}", pos=paths.local[node])
    for m, name in enumerate(paths.names):
        tendon = spec.add_tendon(name=name)
        for node in range(paths.starts[m], paths.starts[m + 1]):
            tendon.wrap_site(f"node {node}")
    model = spec.compile()
    state = mujoco.MjData(model)
    order = [model.joint(f"hinge {joint}").qposadr[0] for joint in range(5)]
    for angles in np.random.default_rng(8).uniform(-1.0, 1.0, (5, 5)):
        state.qpos[order] = angles
        mujoco.mj_forward(model, state)
        turn = compose(np.zeros(3), xyzw_from_axis_angle(axes, angles))
        world = world_from_local(PARENTS, np.asarray(skeleton.bind_local @ turn))
        posed = paths.posed(world)
        by_name = [model.tendon(name).id for name in paths.names]
        np.testing.assert_allclose(posed.lengths, state.ten_length[by_name], atol=1e-13)
        for joint in range(5):
            # the speed of the length while this hinge alone turns by one radian a second
            state.qvel[:] = np.arange(5) == order[joint]
            mujoco.mj_forward(model, state)
            arms = posed.moment_arms(joint, world[joint, :3, 3]) @ (world[joint, :3, :3] @ axes[joint])
            np.testing.assert_allclose(arms, -state.ten_velocity[by_name], atol=1e-12)


def test_points_run_from_origin_to_insertion_and_straight_paths_are_straight() -> None:
    skeleton = arm()
    posed = muscles(skeleton).posed(world_from_local(PARENTS, poses(skeleton, 5)))
    points, tangents = posed.at([0.0, 0.25, 1.0])
    np.testing.assert_allclose(points[:, :, 0], posed.origins, atol=1e-15)
    np.testing.assert_allclose(points[:, :, 2], posed.insertions, atol=1e-15)
    np.testing.assert_allclose(np.linalg.norm(tangents, axis=-1), 1.0, atol=1e-14)
    short = posed.insertions[:, 0] - posed.origins[:, 0]
    np.testing.assert_allclose(points[:, 0, 1], posed.origins[:, 0] + 0.25 * short, atol=1e-15)
    np.testing.assert_allclose(tangents[:, 0, 1], normalise(short), atol=1e-15)


@given(seed=st.integers(0, 10_000), rounding=st.floats(0.05, 0.5))
@settings(max_examples=25, deadline=None)
def test_rounded_corners_are_continuously_differentiable(seed: int, rounding: float) -> None:
    """The derivative of the points is along the tangents everywhere; neither jumps."""
    skeleton = arm(seed)
    paths = muscles(skeleton, rounding)
    posed = paths.posed(world_from_local(PARENTS, poses(skeleton, 1, seed, 0.5))[0])
    t = np.linspace(0.0, 1.0, 4001)
    points, tangents = posed.at(t)
    steps = np.diff(points, axis=1)
    size = np.linalg.norm(steps, axis=-1)
    assert (size <= posed.lengths[:, None] / 4000 * (1 + 1e-9)).all()  # never faster than the polyline
    cosine = np.sum(normalise(steps) * normalise(tangents[:, 1:] + tangents[:, :-1]), axis=-1)
    assert cosine.min() > 1.0 - 1e-4
    # the tangent's turn a step is bounded by corner / reach, far from a jump of the whole corner
    whole = np.linalg.norm(np.diff(tangents, axis=1), axis=-1).max()
    assert whole < 0.06 * 0.5 / rounding
    # it stays within a quarter of the reach of the polyline
    straight = replace(paths, rounding=0.0)
    polyline, _ = straight.moved(paths.difference(skeleton.bind_world)).at(t)
    off = np.linalg.norm(paths.bind.at(t)[0] - polyline, axis=-1).max()
    assert 0.0 < off < 0.5 * rounding * posed.segment_lengths.max()


def test_parameters_of_each_muscle_may_differ() -> None:
    posed = muscles(arm()).bind
    t = np.array([[0.1, 0.9], [0.2, 0.8], [0.3, 0.7], [0.4, 0.6]])
    points, _ = posed.at(t)
    for m in range(4):
        np.testing.assert_array_equal(points[m], posed.at(t[m])[0][m])


def test_both_ends_on_one_joint_is_noted() -> None:
    notes = muscles(arm()).notes
    assert notes == ("muscle 'still' has both ends on joint 'elbow': its length never changes",)


def test_no_muscles_at_all() -> None:
    skeleton = arm()
    posed = paths_at(skeleton, []).posed(skeleton.bind_world)
    assert posed.lengths.shape == (0,)
    assert posed.at([0.5])[0].shape == (0, 1, 3)


def test_bad_paths_are_refused_in_words() -> None:
    skeleton = arm()
    here, there = [0.1, 1.2, 0.0], [0.4, 1.2, 0.0]
    with pytest.raises(EcorcheError, match=r"'b' has zero length at bind.*Move its origin"):
        paths_at(skeleton, [[(0, here), (1, there)], [(0, here), (1, here)]], "ab")
    with pytest.raises(EcorcheError, match="'a' has no distance between its nodes 1 and 2 at bind"):
        paths_at(skeleton, [[(0, here), (1, there), (2, there)]], "a")
    with pytest.raises(EcorcheError, match="fewer than two nodes"):
        paths_at(skeleton, [[(0, here)]])
    with pytest.raises(EcorcheError, match="only 0 to 4 exist"):
        paths_at(skeleton, [[(0, here), (5, there)]])
    with pytest.raises(EcorcheError, match="not a finite number"):
        paths_at(skeleton, [[(0, here), (1, [np.nan, 0, 0])]])
    with pytest.raises(EcorcheError, match="1 names for 2 muscles"):
        paths_at(skeleton, [[(0, here), (1, there)]] * 2, ["a"])
    with pytest.raises(EcorcheError, match=r"not between 0 and 0\.5"):
        muscles(skeleton, 0.7)
    paths = muscles(skeleton)
    with pytest.raises(EcorcheError, match="do not fit 5 joints"):
        paths.posed(skeleton.bind_world[:4])
    with pytest.raises(EcorcheError, match="not between 0 and 1"):
        paths.bind.at([1.1])
    with pytest.raises(EcorcheError, match="starts from 0"):
        replace(paths, starts=paths.starts[:-1], names=())
    collapsed = np.tile(skeleton.bind_world, (3, 1, 1, 1))
    collapsed[2, :, :3, :3] = 0.0
    collapsed[2, :, :3, 3] = 0.0
    with pytest.raises(EcorcheError, match="'short' has zero length in a pose, frame 2"):
        paths.posed(collapsed)
