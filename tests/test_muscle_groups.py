"""Groups of eight vertices over the same muscles: all there, each once, and few rows for nothing."""

from __future__ import annotations

from itertools import combinations, pairwise
from typing import Any

import numpy as np

from ecorche.base.lanes import EIGHT
from ecorche.skin.influence import Influences
from ecorche.skin.linear import LinearSkinning
from ecorche.skin.muscle_groups import GROUP, ROW, STATION, _best_cuts, group_by_muscles
from ecorche.skin.weights import weights_from_table


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
    return Influences(starts, muscle.astype(np.int32), weights, t, place, a, fat, side, np.ones_like(side), a)


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
        moved = np.flatnonzero(np.diff(found.starts))
        # only a group's highest vertex comes again, and only there
        step = np.diff(groups.vertices, axis=1)
        assert (step >= 0).all()
        assert ((step > 0) | (groups.vertices[:, 1:] == groups.vertices[:, -1:])).all()
        once = np.concatenate([np.unique(group) for group in groups.vertices])
        np.testing.assert_array_equal(np.sort(once), moved)


def test_no_cut_of_the_row_is_better_than_the_ones_found() -> None:
    rng = np.random.default_rng(3)
    for _ in range(5):
        count = 7
        muscles = rng.integers(0, 3, count).astype(np.int32)
        place = rng.uniform(0.0, 8.0, count).astype(np.float32)
        starts, order = np.arange(count + 1, dtype=np.int32), np.arange(count)

        def cost(ends: tuple[int, ...], muscles: Any = muscles, place: Any = place) -> float:
            total = 0.0
            for first, last in pairwise((0, *ends)):
                total += GROUP
                for muscle in set(muscles[first:last]):
                    at = place[first:last][muscles[first:last] == muscle]
                    total += ROW + STATION * (np.ceil(at).max() - np.floor(at).min() + 1)
            return total

        inner = range(1, count)
        cuts = [(*some, count) for n in range(count) for some in combinations(inner, n)]
        found = tuple(_best_cuts(order, starts, muscles, place, 3).tolist())
        assert found in cuts
        assert cost(found) <= min(map(cost, cuts)) + 1e-9


def test_a_group_that_is_filled_up_leaves_the_gap_in_it_alone() -> None:
    # vertices 0 to 15 without 7: fifteen lanes that span sixteen vertices
    other = np.isin(np.arange(31), [7, *range(16, 31)])
    points = np.random.default_rng(0).random((31, 3)).astype(np.float32)
    weights = weights_from_table(other.astype(np.int64)[:, None], np.ones((31, 1)), 2, "two patches")
    assert LinearSkinning(points, weights).apply(np.zeros((2, 4, 4))).tobytes() == points.tobytes()


def test_few_lanes_work_for_nothing() -> None:
    found = patches(20_000, 60)
    groups = group_by_muscles(found, 60)
    assert len(groups.muscles) * EIGHT < 1.15 * len(found.muscles)
    again = group_by_muscles(found, 60)
    assert again.entries.tobytes() == groups.entries.tobytes()


def test_skin_without_muscles_has_no_groups() -> None:
    empty = patches(100, 4)
    no = empty.t[:0]
    none = Influences(np.zeros(101, np.int32), empty.muscles[:0], no, no, no, no, no, no, no, no)
    groups = group_by_muscles(none, 4)
    assert len(groups.vertices) == len(groups.muscles) == 0
    assert groups.starts.tolist() == [0]
