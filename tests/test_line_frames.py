"""Frames along action lines: exact at bind, equivariant, never flipping, next to text 002's least turning."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pytest
from scipy.integrate import quad
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation

from ecorche.errors import EcorcheError
from ecorche.muscles.lines.cubic import (
    cubic_point,
    node_turns,
    place_on_line,
    places_on_lines,
    segment_lengths,
)
from ecorche.muscles.lines.frames import LineFrames, line_frames

Floats = npt.NDArray[np.float64]
STILL = np.zeros((2, 4, 4))


def random_lines(seed: int, count: int = 6, bend: float = 0.4) -> LineFrames:
    """Lines of two to nine nodes that wind at random."""
    random = np.random.default_rng(seed)
    lines = []
    for _ in range(count):
        steps = normalised(np.array([0.0, 0.0, 1.0]) + bend * random.normal(size=(random.integers(1, 9), 3)))
        lines.append(np.vstack([np.zeros(3), np.cumsum(0.03 * steps, axis=0)]) + random.normal(size=3))
    starts = np.cumsum([0, *map(len, lines)])
    return line_frames(starts, np.concatenate(lines), np.tile([0, 1], (count, 1)))


def normalised(v: Floats) -> Floats:
    return np.asarray(v / np.linalg.norm(v, axis=-1, keepdims=True))


def moved_by(rotation: Rotation, shift: npt.ArrayLike = (0.0, 0.0, 0.0)) -> Floats:
    """``M − I`` of one joint."""
    moved = np.zeros((4, 4))
    moved[:3, :3], moved[:3, 3] = rotation.as_matrix() - np.eye(3), shift
    return moved


def turning(a: Floats, b: Floats) -> Floats:
    """Angles between frames (..., 3, 3) [rad]."""
    apart = np.linalg.norm(a - b, axis=(-2, -1)) / np.sqrt(8.0)
    return np.asarray(2.0 * np.arcsin(np.clip(apart, 0.0, 1.0)))


def test_frames_at_bind_are_those_of_bind_to_the_last_bit() -> None:
    for seed in range(20):
        lines = random_lines(seed)
        posed = lines.posed(lines.nodes, STILL)
        assert (posed.frames == lines.frames).all()
        assert (posed.twist == 0.0).all()
        np.testing.assert_allclose(
            np.swapaxes(lines.frames, 1, 2) @ lines.frames,
            np.tile(np.eye(3), (len(lines.nodes), 1, 1)),
            atol=1e-14,
        )
        assert (np.linalg.det(lines.frames) > 0.0).all()


def test_z_halves_the_corner_and_x_points_outward() -> None:
    nodes = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 1.0]])
    lines = line_frames([0, 3], nodes, [[0, 1]], outward=[0.3, 0.0, 5.0])
    half = np.sqrt(0.5)
    np.testing.assert_allclose(lines.frames[:, :, 2], [[0, 0, 1], [0, half, half], [0, 1, 0]], atol=1e-15)
    np.testing.assert_allclose(lines.frames[:, :, 0], np.tile([1.0, 0.0, 0.0], (3, 1)), atol=1e-15)


def test_a_rigid_motion_of_everything_turns_all_frames() -> None:
    for seed in range(20):
        lines, random = random_lines(seed), np.random.default_rng(seed)
        rotation, shift = Rotation.random(random_state=seed), random.normal(size=3)
        posed = lines.posed(
            rotation.apply(lines.nodes) + shift, np.tile(moved_by(rotation, shift), (2, 1, 1))
        )
        np.testing.assert_allclose(posed.frames, rotation.as_matrix() @ lines.frames, atol=1e-13)
        np.testing.assert_allclose(posed.twist, 0.0, atol=1e-13)


def test_the_ends_follow_their_reference_joints_and_the_twist_is_shared_by_distance() -> None:
    nodes = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 0.1], [0.0, 0.0, 0.4]])
    twist = Rotation.from_rotvec([0.0, 0.0, 2.0])
    moved = np.stack([np.zeros((4, 4)), moved_by(twist), np.zeros((4, 4))])
    lines = line_frames([0, 3], nodes, [[0, 1]], outward=[1.0, 0.0, 0.0])
    angle = np.arctan2(*lines.posed(nodes, moved).frames[:, [1, 0], 0].T)
    np.testing.assert_allclose(angle, [0.0, 0.5, 2.0], atol=1e-14)
    chosen = line_frames([0, 3], nodes, [[0, 1]], outward=[1.0, 0.0, 0.0], ratio=0.8)
    angle = np.arctan2(*chosen.posed(nodes, moved).frames[:, [1, 0], 0].T)
    np.testing.assert_allclose(angle, [0.0, 1.6, 2.0], atol=1e-14)
    # a joint that does not twist carries the insertion's frame: nothing twists
    other = line_frames([0, 3], nodes, [[0, 1]], references=[[0, 2]])
    assert (other.posed(nodes, moved).frames == other.frames).all()


def random_motion(seed: int, steps: int, turns: float) -> tuple[LineFrames, Floats, Floats]:
    """A line whose insertion swings and twists smoothly, ``turns`` about itself at most; nodes and joints."""
    random = np.random.default_rng(seed)
    lines = random_lines(seed, count=1)
    time = np.linspace(0.0, 1.0, steps)[:, None]
    waves = 0.5 * random.normal(size=(3, 3)), random.uniform(0.0, 7.0, (3, 3))
    wobble = sum(
        a * (np.sin((k + 1) * time + p) - np.sin(p)) for k, (a, p) in enumerate(zip(*waves, strict=True))
    )
    axis = lines.frames[-1, :, 2]
    rotation = Rotation.from_rotvec(wobble) * Rotation.from_rotvec(2.0 * np.pi * turns * time * axis)
    last = lines.nodes[-1]
    nodes = np.tile(lines.nodes, (steps, 1, 1))
    share = lines.ratio[:, None]
    for k in range(steps):
        # nodes swing along; they do not wind up with the twist
        nodes[k] = (1.0 - share) * lines.nodes + share * Rotation.from_rotvec(wobble[k]).apply(
            lines.nodes - last
        )
        nodes[k] += share * last
    moved = np.zeros((steps, 2, 4, 4))
    moved[:, 1, :3, :3] = rotation.as_matrix() - np.eye(3)
    return lines, nodes, moved


@pytest.mark.parametrize("turns", [0.3, 0.7, 3.0])
def test_frames_never_flip_over_continuous_motions(turns: float) -> None:
    """Halving the time step halves the largest step of any frame: what jumps does not."""
    for seed in range(8):
        largest = []
        for steps in (201, 401):
            lines, nodes, moved = random_motion(seed, steps, turns)
            frames = lines.through(nodes, moved).frames
            largest.append(turning(frames[1:], frames[:-1]).max())
        assert largest[1] < 0.6 * largest[0]


def test_without_history_frames_are_a_function_of_the_pose_within_half_a_turn() -> None:
    for seed in range(10):
        lines, nodes, moved = random_motion(seed, 101, 0.3)
        followed = lines.through(nodes, moved)
        if np.abs(followed.twist).max() < np.pi:
            np.testing.assert_array_equal(lines.posed(nodes, moved).frames, followed.frames)
    lines, nodes, moved = random_motion(3, 401, 1.0)
    alone, followed = lines.posed(nodes, moved), lines.through(nodes, moved)
    whole = (followed.twist - alone.twist) / (2.0 * np.pi)
    np.testing.assert_allclose(whole, np.round(whole), atol=1e-12)
    assert np.abs(followed.twist).max() > np.pi > np.abs(alone.twist).max()


def quaternions(z: Floats, theta: Floats) -> Floats:
    """(4.1): the frames with these Z and angles, (n, 4)."""
    swing = np.concatenate([np.cross([0.0, 0.0, 1.0], z), 1.0 + z[:, 2:]], axis=1)
    twist = np.concatenate([z * np.sin(theta / 2.0)[:, None], np.cos(theta / 2.0)[:, None]], axis=1)
    return np.asarray((Rotation.from_quat(twist) * Rotation.from_quat(swing)).as_quat())


def angles_of(frames: Floats) -> Floats:
    """θ of (4.1) for frames (n, 3, 3), unwrapped along the line."""
    x = Rotation.from_quat(quaternions(frames[:, :, 2], np.zeros(len(frames)))).as_matrix()[:, :, 0]
    y = np.cross(frames[:, :, 2], x)
    own = frames[:, :, 0]
    return np.unwrap(np.arctan2(np.sum(y * own, axis=1), np.sum(x * own, axis=1)))


def total_turning(z: Floats, theta: Floats) -> float:
    """(4.4)."""
    q = quaternions(z, theta)
    return float(np.arccos(np.clip(np.abs(np.sum(q[1:] * q[:-1], axis=1)), 0.0, 1.0)).sum())


def least(z: Floats, theta: Floats, before: Floats | None = None) -> Floats:
    """The angles that minimise (4.4), or (4.5) with the angles of the moment before; both ends fixed."""

    def cost(inner: Floats) -> float:
        full = np.concatenate([theta[:1], inner, theta[-1:]])
        apart = 0.0
        if before is not None:
            step = np.abs(full - before) % (2.0 * np.pi)
            apart = float(np.minimum(step, 2.0 * np.pi - step).sum())
        return apart + total_turning(z, full)

    found = minimize(
        cost, theta[1:-1], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12, "maxiter": 9000}
    )
    return np.concatenate([theta[:1], found.x, theta[-1:]])


def arc(count: int = 6, angle: float = 2.0) -> LineFrames:
    """Nodes evenly on a circle, away from where (4.3) is singular."""
    a = np.linspace(-angle / 2.0, angle / 2.0, count)
    nodes = 0.1 * np.stack([np.cos(a), np.zeros(count), np.sin(a)], axis=1)
    return line_frames([0, count], nodes, [[0, 1]])


def test_without_twist_frames_turn_least() -> None:
    """Any other angles cost more in (4.4)."""
    random = np.random.default_rng(0)
    for seed in range(10):
        lines = random_lines(seed, count=1, bend=0.3)
        z, theta = lines.frames[:, :, 2], angles_of(lines.frames)
        ours = total_turning(z, theta)
        for _ in range(200):
            other = theta + random.normal(size=len(theta)) * random.choice([1e-3, 0.1, 1.0])
            other[[0, -1]] = theta[[0, -1]]
            assert total_turning(z, other) >= ours - 1e-9


@pytest.mark.parametrize("twist", [0.5, 1.5, 3.0])
def test_with_twist_frames_are_next_to_the_least_turning(twist: float) -> None:
    """Within 2 % of the minimum of (4.4), which shares twist by the bend; we share it by the way."""
    lines = arc()
    last = Rotation.from_rotvec(twist * lines.frames[-1, :, 2])
    frames = lines.posed(lines.nodes, np.stack([np.zeros((4, 4)), moved_by(last)])).frames
    z, theta = frames[:, :, 2], angles_of(frames)
    best = least(z, theta)
    assert total_turning(z, theta) < 1.02 * total_turning(z, best)
    assert np.abs(theta - best).max() < 0.1 * twist


def test_over_a_motion_frames_turn_less_than_by_the_minimum_of_4_5() -> None:
    """Text 002's minimisation with its term of the moment before, followed over a twist of 170°.

    As printed that term outweighs the other: inner frames stay where they were, and all the twist gathers
    between the last two nodes.
    """
    lines = arc()
    start = angles_of(lines.frames)
    before, ratios = start, []
    for twist in np.linspace(0.0, np.deg2rad(170.0), 18)[1:]:
        last = Rotation.from_rotvec(twist * lines.frames[-1, :, 2])
        frames = lines.posed(lines.nodes, np.stack([np.zeros((4, 4)), moved_by(last)])).frames
        theta = angles_of(frames)
        guess = before.copy()
        guess[-1] = theta[-1]
        before = least(frames[:, :, 2], guess, before)
        ratios.append(total_turning(frames[:, :, 2], theta) / total_turning(frames[:, :, 2], before))
    assert max(ratios) < 1.0
    assert min(ratios) < 0.8
    np.testing.assert_allclose(before[:-1], start[:-1], atol=1e-6)


def test_maximising_x_alone_agrees_to_second_order_and_then_turns_over() -> None:
    def shadow(x: Floats, z: Floats) -> Floats:
        return normalised(x - (x @ z) * z)

    for angle, allowed in ((0.1, 0.003), (0.4, 0.05)):
        lines = arc(count=3, angle=angle)
        random = np.random.default_rng(1)
        for _ in range(20):
            outward = random.normal(size=3)
            frames = line_frames([0, 3], lines.nodes, [[0, 1]], outward=outward).frames
            for a, b in pairwise(frames):
                assert np.arccos(np.clip(shadow(a[:, 0], b[:, 2]) @ b[:, 0], -1.0, 1.0)) < allowed
    sharp = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.3, 0.0, 0.0], [-0.43, 0.0, 0.68]])
    frames = line_frames([0, 4], sharp, [[0, 1]], outward=[1.0, 0.0, 0.0]).frames
    assert any(shadow(a[:, 0], b[:, 2]) @ b[:, 0] < 0.0 for a, b in pairwise(frames))


def test_nodes_at_one_place_share_a_direction_and_a_line_without_length_is_refused() -> None:
    nodes = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 1.0]])
    lines = line_frames([0, 4], nodes, [[0, 1]])
    assert (lines.frames[:, :, 2] == [0.0, 0.0, 1.0]).all()
    with pytest.raises(
        EcorcheError, match=r"action line 'biceps': all its nodes are at one place\. Move its origin"
    ):
        line_frames([0, 2], np.zeros((2, 3)), [[0, 1]], names=["biceps"])
    with pytest.raises(EcorcheError, match="'line 1': a node is not a number"):
        lines.posed(np.full((4, 3), np.nan), STILL)
    with pytest.raises(EcorcheError, match="reference joint 1 does not exist: the pose has 1 joints"):
        lines.posed(nodes, STILL[:1])
    with pytest.raises(EcorcheError, match="outward direction points along the line"):
        line_frames([0, 4], nodes, [[0, 1]], outward=[0.0, 0.0, 2.0])
    with pytest.raises(EcorcheError, match="blend ratio is 2"):
        line_frames([0, 4], nodes, [[0, 1]], ratio=2.0)
    with pytest.raises(EcorcheError, match="fewer than two nodes"):
        line_frames([0, 1, 4], nodes, [[0, 1], [0, 1]])


def turns_of(lines: LineFrames) -> Floats:
    turns = np.empty((len(lines.nodes), 4))
    node_turns(lines.starts, lines.frames, turns)
    return turns


def test_the_curve_is_c1_and_passes_its_nodes_with_their_tangents() -> None:
    lines = random_lines(5, count=1)
    turns = turns_of(lines)
    for n in range(len(lines.nodes) - 1):
        length = np.linalg.norm(lines.nodes[n + 1] - lines.nodes[n])
        for k, t in ((n, 0.0), (n + 1, 1.0)):
            place, speed = cubic_point(lines.nodes, turns, n, t)
            np.testing.assert_allclose(place, lines.nodes[k], atol=1e-15)
            np.testing.assert_allclose(np.array(speed) / length, lines.frames[k, :, 2], atol=1e-13)
        h = 1e-6
        for t in (0.2, 0.5, 0.9):
            ahead, behind = (np.array(cubic_point(lines.nodes, turns, n, t + s)[0]) for s in (h, -h))
            _, speed = cubic_point(lines.nodes, turns, n, t)
            np.testing.assert_allclose((ahead - behind) / (2.0 * h), speed, atol=1e-8)
            _, turn = place_on_line(lines.nodes, turns, n, t, True)
            z = Rotation.from_quat(turn).as_matrix()[:, 2]
            np.testing.assert_allclose(z, normalised(np.array(speed)), atol=1e-12)


def _speed(t: float, nodes: Floats, turns: Floats, n: int) -> float:
    return float(np.linalg.norm(cubic_point(nodes, turns, n, t)[1]))


def test_arc_lengths_are_true() -> None:
    for lines, exact in ((random_lines(8, bend=0.6), 1e-5), (arc(count=5, angle=np.pi), 1e-9)):
        turns, lengths = turns_of(lines), np.empty(len(lines.nodes) - lines.line_count)
        segment_lengths(lines.starts, lines.curved, lines.nodes, turns, lengths)
        k = 0
        for first, end in pairwise(lines.starts):
            for n in range(first, end - 1):
                whole = quad(_speed, 0.0, 1.0, (lines.nodes, turns, n))[0]
                assert abs(lengths[k] - whole) < exact * whole
                k += 1
    # four pieces are the half circle, but for their end tangents, which are chords
    assert abs(lengths.sum() / (0.1 * np.pi) - 1.0) < 0.02
    straight = line_frames(lines.starts, lines.nodes, [[0, 1]], curved=False)
    segment_lengths(straight.starts, straight.curved, straight.nodes, turns, lengths)
    np.testing.assert_allclose(lengths, np.linalg.norm(np.diff(lines.nodes, axis=0), axis=1), rtol=1e-14)


def test_places_on_a_polyline_are_shares_of_its_segments() -> None:
    lines = random_lines(2, count=1)
    places, _ = places_on_lines(
        lines.nodes, turns_of(lines), np.array([0, 1], np.int32), np.array([0.25, 1.0]), np.zeros(2, bool)
    )
    np.testing.assert_allclose(places[0], 0.75 * lines.nodes[0] + 0.25 * lines.nodes[1], atol=1e-15)
    np.testing.assert_allclose(places[1], lines.nodes[2], atol=1e-15)
