"""Groups of sixteen vertices over the same muscles: all there, each once, and few rows for nothing."""

from __future__ import annotations

import numpy as np

from ecorche.base.lanes import WIDTH
from ecorche.skin.influence import Influences
from ecorche.skin.muscle_groups import group_by_muscles


def patches(vertices: int, muscles: int, seed: int = 0) -> Influences:
    """Muscles over runs of vertices that overlap, and gaps between."""
    rng = np.random.default_rng(seed)
    over = np.zeros((vertices, muscles), bool)
    for number in range(muscles):
        first, length = rng.integers(vertices), rng.integers(1, vertices // 5)
        over[first : first + length, number] = True
    over[::9] = False
    vertex, muscle = np.nonzero(over)
    starts = np.searchsorted(vertex, np.arange(vertices + 1)).astype(np.int32)
    weights, t, place, a, fat = rng.random((5, len(vertex))).astype(np.float32)
    side = np.ones(len(vertex), np.float32)
    return Influences(starts, muscle.astype(np.int32), weights, t, place, a, fat, side, np.ones_like(side))


def test_every_entry_stands_in_its_vertex_lane_once() -> None:
    for vertices, muscles in ((1000, 30), (400, 130), (17, 3)):
        found = patches(vertices, muscles)
        groups = group_by_muscles(found, muscles)
        rows = np.repeat(np.arange(len(groups.vertices)), np.diff(groups.starts))
        row, lane = np.nonzero(groups.entries >= 0)
        entry = groups.entries[row, lane]
        np.testing.assert_array_equal(found.vertices()[entry], groups.vertices[rows[row], lane])
        np.testing.assert_array_equal(found.muscles[entry], groups.muscles[row])
        np.testing.assert_array_equal(np.unique(entry), np.arange(len(found.muscles)))
        # only the vertex that fills up the last group comes again
        lanes = groups.vertices.reshape(-1)
        moved = np.flatnonzero(np.diff(found.starts))
        np.testing.assert_array_equal(np.unique(lanes), moved)
        assert len(lanes) - len(moved) < WIDTH
        assert (np.diff(groups.vertices, axis=1) >= 0).all()


def test_few_lanes_work_for_nothing() -> None:
    found = patches(20_000, 60)
    groups = group_by_muscles(found, 60)
    assert len(groups.muscles) * WIDTH < 1.15 * len(found.muscles)
    again = group_by_muscles(found, 60)
    assert again.entries.tobytes() == groups.entries.tobytes()


def test_skin_without_muscles_has_no_groups() -> None:
    empty = patches(100, 4)
    no = empty.t[:0]
    none = Influences(np.zeros(101, np.int32), empty.muscles[:0], no, no, no, no, no, no, no)
    groups = group_by_muscles(none, 4)
    assert len(groups.vertices) == len(groups.muscles) == 0
    assert groups.starts.tolist() == [0]
