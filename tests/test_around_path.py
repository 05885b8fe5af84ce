"""Cylindrical coordinates round a path: there and back, carried without twist, refused where undefined."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from scipy.spatial.transform import Rotation

from ecorche.errors import EcorcheError
from ecorche.muscles.around_path import PathFrames, carried_axis

Floats = npt.NDArray[np.float64]


def bent_path(seed: int, frames: int = 5, nodes: int = 4) -> Floats:
    rng = np.random.default_rng(seed)
    places = np.zeros((frames, nodes, 3))
    places[..., 2] = np.linspace(0.0, 0.3, nodes)
    return places + rng.normal(0.0, 0.02, places.shape)


def test_places_and_coordinates_are_each_other_s_inverse() -> None:
    path = PathFrames(bent_path(1), [1.0, 0.0, 0.0], [0.6, 0.8, 0.0])
    rng = np.random.default_rng(2)
    along, theta = rng.uniform(0.02, 0.98, 50), rng.uniform(-3.1, 3.1, 50)
    distance = rng.uniform(1e-4, 3e-3, 50)  # near enough that no other segment is nearer
    found = path.around(path.places(along, theta, distance))
    near_node = (
        np.abs(along[None, :, None] * path.lengths[:, None, None] - path.reached[:, None]) < 5e-3
    ).any(2)
    keep = ~near_node
    assert keep.mean() > 0.7
    np.testing.assert_allclose(found.along[keep], np.broadcast_to(along, keep.shape)[keep], atol=1e-12)
    np.testing.assert_allclose(found.theta[keep], np.broadcast_to(theta, keep.shape)[keep], atol=1e-9)
    np.testing.assert_allclose(found.distance[keep], np.broadcast_to(distance, keep.shape)[keep], atol=1e-14)
    assert not found.past[keep].any()


def test_a_rigid_motion_changes_no_coordinate() -> None:
    nodes = bent_path(3)
    points = np.random.default_rng(4).normal(0.0, 0.1, (5, 30, 3))
    turn = Rotation.from_rotvec([0.3, -1.0, 0.7]).as_matrix()
    shift = np.array([1.0, -2.0, 0.5])
    polar = np.array([1.0, 0.1, 0.2])
    here = PathFrames(nodes, polar).around(points)
    there = PathFrames(nodes @ turn.T + shift, turn @ polar).around(points @ turn.T + shift)
    np.testing.assert_allclose(there.along, here.along, atol=1e-12)
    np.testing.assert_allclose(there.distance, here.distance, atol=1e-12)
    np.testing.assert_allclose(np.cos(there.theta - here.theta), 1.0, atol=1e-12)
    np.testing.assert_array_equal(there.past, here.past)


def test_the_distance_is_the_least_to_any_place_of_the_path() -> None:
    path = PathFrames(bent_path(5, nodes=6), [1.0, 0.0, 0.0])
    points = np.random.default_rng(6).normal([0.0, 0.0, 0.15], 0.1, (40, 3))
    dense = path.places(np.linspace(0.0, 1.0, 4001), np.zeros(4001), np.zeros(4001))
    dense = np.concatenate([dense, path.nodes], axis=1)
    least = np.linalg.norm(points[None, :, None] - dense[:, None], axis=3).min(axis=2)
    np.testing.assert_allclose(path.around(points).distance, least, atol=1e-6)


def test_the_axis_is_square_to_the_path_and_in_a_plane_does_not_twist() -> None:
    flat = bent_path(7, nodes=9)
    flat[..., 0] = 0.0
    path = PathFrames(flat, [1.0, 0.0, 0.0])
    np.testing.assert_allclose(path.axes, np.broadcast_to([1.0, 0.0, 0.0], path.axes.shape), atol=1e-12)
    bent = PathFrames(bent_path(8, nodes=9), [1.0, 0.0, 0.0])
    np.testing.assert_allclose(np.einsum("fnc,fnc->fn", bent.axes, bent.tangents), 0.0, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(bent.axes, axis=2), 1.0, atol=1e-12)


def test_what_both_bones_say_is_met_at_both_ends_and_spread_between() -> None:
    straight = np.zeros((9, 5, 3))
    straight[..., 2] = np.linspace(0.0, 0.4, 5)
    angle = np.linspace(0.0, 2.0 * np.pi, 9)  # the insertion's bone turns once round
    end = np.stack([np.cos(angle), np.sin(angle), 0.0 * angle], axis=1)
    axes = PathFrames(straight, [1.0, 0.0, 0.0], end).axes
    np.testing.assert_allclose(axes[:, 0], np.broadcast_to([1.0, 0.0, 0.0], (9, 3)), atol=1e-12)
    np.testing.assert_allclose(axes[:, -1], end, atol=1e-12)
    np.testing.assert_allclose(axes[-1, 1, :2], [np.cos(2 * np.pi / 3), np.sin(2 * np.pi / 3)], atol=1e-12)


def test_points_past_an_end_are_told() -> None:
    path = PathFrames([[[0.0, 0, 0], [0, 0, 0.2]]], [1.0, 0.0, 0.0])
    found = path.around([[0.01, 0, -0.01], [0.01, 0, 0.0], [0.01, 0, 0.1], [0.01, 0, 0.21]])
    assert found.past[0].tolist() == [True, False, False, True]


def test_a_carried_axis_follows_its_bone_and_stays_off_the_path() -> None:
    angle = np.linspace(0.0, 2.0, 20)
    turns = Rotation.from_rotvec(angle[:, None] * np.array([0.0, 0.0, 1.0])).as_matrix()
    axis = carried_axis([1.0, 0.0, 0.0], turns, [0.0, 0.0, 1.0], np.tile([0.0, 0.0, 1.0], (20, 1)))
    np.testing.assert_allclose(axis[:, :2], np.stack([np.cos(angle), np.sin(angle)], axis=1), atol=1e-12)
    # the path swings right over to where the axis was
    swing = np.stack([np.sin(angle), 0.0 * angle, np.cos(angle)], axis=1)
    axis = carried_axis([1.0, 0.0, 0.0], np.tile(np.eye(3), (20, 1, 1)), [0.0, 0.0, 1.0], swing)
    np.testing.assert_allclose(np.linalg.norm(axis, axis=1), 1.0, atol=1e-12)
    np.testing.assert_allclose(np.einsum("fc,fc->f", axis, swing), 0.0, atol=1e-12)


def test_paths_without_coordinates_are_refused() -> None:
    good = bent_path(9, frames=3, nodes=3)
    nan, zero, doubled, back = (good.copy() for _ in range(4))
    nan[2, 1, 0] = np.nan
    zero[1] = 0.1
    doubled[1, 1] = doubled[1, 0]
    back[0] = np.array([[0, 0, 0], [0, 0, 0.2], [0, 0, 0.1]])
    for nodes, polar, message in (
        (nan, [1.0, 0, 0], "muscle 'calf', frame 2: its path is not finite"),
        (zero, [1.0, 0, 0], "muscle 'calf', frame 1: it has no length: origin and insertion coincide"),
        (doubled, [1.0, 0, 0], "muscle 'calf', frame 1: two of its nodes coincide"),
        (back, [1.0, 0, 0], "muscle 'calf', frame 0: its path turns right back on itself"),
        (good[0], [1.0, 0, 0], r"its path has shape \(3, 3\)"),
        (good, good[:, 1] - good[:, 0], "its polar axis runs along the path"),
        (good, [np.nan, 0, 0], "its polar axis is not finite"),
    ):
        with pytest.raises(EcorcheError, match=message):
            PathFrames(nodes, polar, name="calf")
    with pytest.raises(EcorcheError, match="frame 0: the path points back along its bone"):
        carried_axis([1.0, 0, 0], np.eye(3)[None], [0.0, 0, 1.0], np.array([[0.0, 0, -1.0]]))
