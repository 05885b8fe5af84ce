"""Real-time action lines: adhering, mobile and pushed nodes, drawn tight over ellipsoids."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from ecorche.base.rotations import (
    matrix_from_xyzw,
    multiply_xyzw,
    slerp_xyzw,
    swing_twist_xyzw,
    xyzw_from_axis_angle,
    xyzw_from_rotation_vector,
)
from ecorche.base.threads import at_most_threads
from ecorche.errors import EcorcheError
from ecorche.muscles.lines.admissible import (
    AdmissibleLine,
    AdmissiblePaths,
    BoundNode,
    CollisionNode,
    line_through,
)
from ecorche.muscles.lines.fields import FieldEllipsoid
from ecorche.muscles.lines.mobile import Freedom
from ecorche.muscles.lines.moment_arms import (
    line_lengths,
)
from ecorche.skeleton.joints import Revolute
from hanging_arm import (
    ARM,
    DOWN,
    ELBOW,
    IDENTITY,
    INSERTION,
    ORIGIN,
    any_pose,
    ball,
    bent,
    carried,
    depth,
    mobile,
    over_the_elbow,
    paths,
    turned,
)

Floats = npt.NDArray[np.float64]

# ---- adherence


def test_full_adherence_is_rigid_and_none_is_the_parent() -> None:
    rng = np.random.default_rng(1)
    place = np.array([0.03, -0.42, 0.02])
    line = paths(
        BoundNode(ORIGIN, 1),
        BoundNode(place, 2),
        BoundNode(place, 2, 0.0, 0.0),
        BoundNode(place, 2, 1.0, 1.0 - 1e-13),
    )
    for _ in range(50):
        moved = any_pose(rng)
        nodes = line.nodes(moved)
        np.testing.assert_allclose(nodes[1], carried(moved, 2, place), atol=1e-15)
        np.testing.assert_allclose(nodes[2], carried(moved, 1, place), atol=1e-14)
        np.testing.assert_allclose(nodes[3], nodes[1], atol=1e-12)


def test_a_share_of_swing_and_of_twist_is_what_slerp_gives() -> None:
    rng = np.random.default_rng(2)
    place, swing, twist = np.array([0.03, -0.42, 0.02]), 0.7, 0.25
    line = paths(BoundNode(ORIGIN, 1), BoundNode(place, 2, swing, twist))
    for _ in range(50):
        q = xyzw_from_rotation_vector(rng.normal(size=3) * 0.7)
        above = xyzw_from_rotation_vector(rng.normal(size=3))
        whole, about = swing_twist_xyzw(q, DOWN)
        part = multiply_xyzw(slerp_xyzw(IDENTITY, whole, swing), slerp_xyzw(IDENTITY, about, twist))
        expected = matrix_from_xyzw(above) @ (ELBOW + matrix_from_xyzw(part) @ (place - ELBOW))
        np.testing.assert_allclose(line.nodes(turned(IDENTITY, above, q))[1], expected, atol=1e-13)


def test_pronation_leaves_a_node_behind_by_its_twist_alone() -> None:
    place = ELBOW + 0.1 * DOWN + np.array([0.02, 0.0, 0.0])
    line = paths(BoundNode(ORIGIN, 1), BoundNode(place, 2, 1.0, 0.5))
    node = line.nodes(bent(1.2, DOWN))[1]
    np.testing.assert_allclose(
        node,
        ELBOW + 0.1 * DOWN + matrix_from_xyzw(xyzw_from_axis_angle(DOWN, 0.6)) @ [0.02, 0.0, 0.0],
        atol=1e-15,
    )


def test_scaled_joints_are_followed_by_the_share_of_the_swing() -> None:
    place = np.array([0.03, -0.42, 0.02])
    q = xyzw_from_rotation_vector([0.3, 0.2, 0.4])
    line = paths(BoundNode(ORIGIN, 1), BoundNode(place, 2, 1.0, 1.0 - 1e-13), BoundNode(place, 2))
    nodes = line.nodes(turned(IDENTITY, q, q, scale=1.2))
    np.testing.assert_allclose(nodes[1], nodes[2], atol=1e-12)


# ---- mobile nodes


@pytest.mark.parametrize("shape", ["linear", "parabolic"])
def test_a_mobile_node_goes_both_ways_from_rest_and_stops_at_the_ends(shape: str) -> None:
    node = mobile(shape=shape, rest=0.5)
    line = paths(BoundNode(ORIGIN, 1), node, BoundNode(INSERTION, 2))
    power = 2 if shape == "parabolic" else 1
    for angle, extreme, t in (
        (0.5, node.at_high, 0.0),
        (1.25, node.at_high, 0.5),
        (2.0, node.at_high, 1.0),
        (2.7, node.at_high, 1.0),
        (-0.25, node.at_low, 0.5),
        (-1.0, node.at_low, 1.0),
        (-1.4, node.at_low, 1.0),
    ):
        expected = node.at_rest + t**power * (extreme - node.at_rest)
        np.testing.assert_allclose(line.nodes(bent(angle, -DOWN))[1], expected, atol=1e-14)


def test_a_mobile_node_passes_rest_without_a_jump_and_a_parabola_without_a_kink() -> None:
    for shape, kink in (("linear", False), ("parabolic", True)):
        line = paths(BoundNode(ORIGIN, 1), mobile(shape=shape, rest=0.5), BoundNode(INSERTION, 2))
        before, at, after = (line.nodes(bent(0.5 + d, -DOWN))[1] for d in (-1e-6, 0.0, 1e-6))
        assert np.abs(before - at).max() < 1e-7
        assert (np.abs(after - 2.0 * at + before).max() < 1e-12) == kink


def test_swing_components_lead_a_mobile_node() -> None:
    for kind, axis in (("swing_x", [1.0, 0.0, 0.0]), ("swing_y", [0.0, 0.0, -1.0])):
        line = paths(BoundNode(ORIGIN, 1), mobile(kind), BoundNode(INSERTION, 2))
        q = multiply_xyzw(xyzw_from_rotation_vector(0.8 * np.array(axis)), xyzw_from_axis_angle(-DOWN, 0.9))
        node, moved = mobile(kind), turned(IDENTITY, IDENTITY, q)
        expected = node.at_rest + 0.4 * (node.at_high - node.at_rest)
        np.testing.assert_allclose(line.nodes(moved)[1], expected, atol=1e-14)


def test_a_joint_models_own_angles_lead_a_mobile_node() -> None:
    names = (None, "l_shoulder", "l_elbow")
    frame = tuple(xyzw_from_axis_angle([0.0, 1.0, 0.0], np.pi / 2))  # z of the hinge along +x
    hinge = Revolute(low=0.0, high=2.5, anatomical_frame_xyzw=frame)
    freedom = Freedom.of_model(2, "angle", hinge, ARM, names)
    line = paths(BoundNode(ORIGIN, 1), mobile(freedom=freedom, low=-2.0), BoundNode(INSERTION, 2))
    node = mobile()
    for angle in (-0.9, 0.4, 1.6):
        q = hinge.rotation([angle])
        t, extreme = (angle / 2.0, node.at_high) if angle > 0 else (-angle / 2.0, node.at_low)
        expected = node.at_rest + t * (extreme - node.at_rest)
        np.testing.assert_allclose(line.nodes(turned(IDENTITY, IDENTITY, q))[1], expected, atol=1e-12)
    with pytest.raises(EcorcheError, match="has no 'twist'"):
        Freedom.of_model(2, "twist", hinge, ARM, names)


# ---- deflection


def test_bind_is_bind_to_the_last_bit() -> None:
    places = np.array(
        [[0.0, -0.1, 0.05], [0.01, -0.2, 0.06], [0.0, -0.31, 0.045], [0.0, -0.4, 0.05], [0.0, -0.5, 0.03]]
    )
    line = line_through(
        "t", places, [1, 1, 2, 2, 2], [True, False, False, False, True], deflectors=[ball(0.03)]
    )
    lines = AdmissiblePaths(ARM, [line], subdivisions=3)
    still = np.zeros((3, 4, 4))
    np.testing.assert_array_equal(lines.nodes(still), lines.bind)
    np.testing.assert_allclose(lines.bind[::3], places, atol=1e-15)
    slid = lines.tendons.slid(lines.bind)
    np.testing.assert_array_equal(slid.nodes, lines.bind[::3])
    np.testing.assert_array_equal(slid.lengths, lines.tendons.lengths)


def test_a_node_found_inside_a_bone_stays_there_at_bind() -> None:
    places = np.array([ORIGIN, [0.0, -0.3, 0.02], INSERTION])
    line = line_through("t", places, [1, 1, 2], [True, False, True], deflectors=[ball(0.03)])
    lines = AdmissiblePaths(ARM, [line])
    np.testing.assert_allclose(lines.bind, places, atol=1e-15)
    nodes = lines.nodes(bent(1.0))
    assert np.linalg.norm(nodes[1] - ELBOW) >= 0.02 - 1e-9


def test_nodes_leave_the_union_of_ellipsoids() -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        deflectors = []
        for _ in range(4):
            axes = matrix_from_xyzw(xyzw_from_rotation_vector(rng.normal(size=3)))
            centre = ELBOW + rng.normal(size=3) * 0.02
            deflectors.append(
                FieldEllipsoid(centre, rng.uniform(0.01, 0.05, 3), axes, joint=int(rng.integers(1, 3)))
            )
        side = rng.normal(size=3) if rng.random() < 0.5 else None
        line = over_the_elbow(9, *deflectors, side=side)
        for _ in range(10):
            moved = any_pose(rng)
            assert depth(line, moved, deflectors) < 1e-15


def test_a_line_keeps_its_flesh_off_bones_between_those_it_is_held_by() -> None:
    """From the trunk past the elbow to the forearm, 40 mm before it at bind, drawn to it by a bend."""
    start, end, out = np.array([0.0, 0.05, 0.04]), np.array([0.0, -0.5, 0.04]), np.array([0.0, 0.0, 1.0])
    inner = tuple(CollisionNode(k / 8.0, np.zeros(3), out) for k in range(1, 8))
    nodes: tuple[BoundNode | CollisionNode, ...] = (BoundNode(start, 0), *inner, BoundNode(end, 2))
    moved = bent(0.9)
    gaps = {}
    for joint, flesh in ((1, 0.0), (1, 0.012), (2, 0.012)):
        bone = ball(0.01, joint)
        line = AdmissiblePaths(ARM, [AdmissibleLine("line", nodes, (), (bone,), flesh)])
        assert (line.bind == line.nodes(np.zeros((3, 4, 4)))).all()
        gaps[joint, flesh] = float(np.linalg.norm(line.nodes(moved) - ELBOW, axis=1).min()) - 0.01
    assert gaps[1, 0.0] < 0.003
    assert gaps[1, 0.012] > 0.012 - 1e-6
    assert gaps[2, 0.012] < 0.003  # the forearm holds the line: it is no bone on the way


def test_a_node_just_inside_is_pushed_squarely_to_the_surface() -> None:
    radii = np.array([0.05, 0.03, 0.02])
    rng = np.random.default_rng(4)
    for _ in range(50):
        u = rng.normal(size=3)
        surface = u / np.linalg.norm(u) * radii
        normal = surface / radii**2
        normal /= np.linalg.norm(normal)
        inside = surface - 1e-5 * normal
        line = paths(
            BoundNode(inside + ELBOW + [0.0, 0.2, 0.0], 1),
            CollisionNode(0.5),
            BoundNode(inside + ELBOW - [0.0, 0.2, 0.0], 1),
            deflectors=[FieldEllipsoid(ELBOW, radii, joint=1)],
            tightening=0,
        )
        np.testing.assert_allclose(line.bind[1] - ELBOW, surface, atol=1e-8)


@pytest.mark.parametrize("side", [None, np.array([0.0, 0.0, 1.0])], ids=["free", "held"])
@pytest.mark.parametrize("about", [(1.0, 0.0, 0.0), (1.0, 0.1, 0.05), (0.8, 0.5, 0.3)])
def test_lines_move_continuously_over_a_union(side: Floats | None, about: tuple[float, ...]) -> None:
    """Shrinking the steps of a pose shrinks those of nodes as much: nothing jumps.

    A free line is driven in as far as the middle of its ellipsoids, a held one far beyond.
    """
    farthest = 0.3 if side is None else 2.5
    deflectors = [
        ball(),
        FieldEllipsoid(np.array([0.0, -0.33, 0.02]), np.array([0.02, 0.04, 0.02]), joint=2),
        FieldEllipsoid(np.array([0.01, -0.26, 0.02]), np.array([0.02, 0.05, 0.02]), joint=1),
    ]
    line = over_the_elbow(9, *deflectors, side=side)
    largest = []
    for step in (4e-3, 1e-3):
        angles = np.arange(-1.0, farthest, step)
        poses = np.array([bent(angle, about) for angle in angles])
        nodes = line.nodes(poses)
        largest.append(float(np.linalg.norm(np.diff(nodes, axis=0), axis=2).max()) / step)
    assert largest[-1] < 1.4 * largest[0]
    assert largest[-1] < 4.0  # metres a radian


def test_a_held_line_stays_behind_the_elbow_and_is_as_long_as_the_wrapped_one() -> None:
    """Against line, arc and line round the ball in the plane of the bend."""
    radius = 0.03
    line = over_the_elbow(39, side=np.array([0.0, 0.0, 1.0]), tightening=40)
    for angle in (0.3, 0.6, 1.0, 1.5, 2.0):
        moved = bent(angle)
        nodes = line.nodes(moved)
        a, b = ORIGIN - ELBOW, carried(moved, 2, INSERTION) - ELBOW
        away = np.linalg.norm(a), np.linalg.norm(b)
        full = np.arctan2(a[2], a[1]) - np.arctan2(b[2], b[1])
        full = -full % (2.0 * np.pi)  # from origin to insertion by way of the back
        tangents = [np.sqrt(d * d - radius * radius) for d in away]
        arc = full - sum(np.arctan2(t, radius) for t in tangents)
        truth = sum(tangents) + radius * arc if arc > 0 else float(np.linalg.norm(a - b))
        length = float(line_lengths(nodes, line.starts)[0])
        assert length == pytest.approx(truth, rel=3e-3)


def test_a_body_that_turns_as_a_whole_takes_its_lines_along() -> None:
    line = over_the_elbow(9, ball(), ball(0.02, 2, [0.0, -0.33, 0.02]), side=np.array([0.0, 0.0, 1.0]))
    bend = xyzw_from_rotation_vector([1.0, 0.2, 0.1])
    whole = xyzw_from_rotation_vector([0.4, -1.1, 0.6])
    still, moved = turned(IDENTITY, IDENTITY, bend), turned(whole, IDENTITY, bend)
    np.testing.assert_allclose(line.nodes(moved), line.nodes(still) @ matrix_from_xyzw(whole).T, atol=1e-9)


def test_frames_together_are_frames_one_by_one() -> None:
    line = over_the_elbow(9, side=None)
    poses = np.array([bent(a) for a in (0.0, 0.7, 1.4)])
    np.testing.assert_array_equal(line.nodes(poses), [line.nodes(pose) for pose in poses])


def test_lines_are_the_same_on_any_number_of_threads() -> None:
    rng = np.random.default_rng(5)
    places = np.linspace(ORIGIN, INSERTION, 9) + rng.normal(size=(24, 9, 3)) * 0.004
    held = [True, *[False] * 7, True]
    lines = [
        line_through(f"line {k}", p, [1] * 9 if k % 3 else [1] * 8 + [2], held, deflectors=[ball()] * (k % 4))
        for k, p in enumerate(places)
    ]
    together, moved = AdmissiblePaths(ARM, lines), any_pose(rng)
    with at_most_threads(1):
        alone = together.nodes(moved)
    np.testing.assert_array_equal(together.nodes(moved), alone)
    # and lines know nothing of each other
    np.testing.assert_array_equal(AdmissiblePaths(ARM, lines[7:8]).nodes(moved), alone[63:72])
