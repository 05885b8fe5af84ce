"""First and second neighbours of vertices."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from ecorche.skin.two_rings import TwoRings, two_rings


def test_neighbours_are_those_of_two_steps_along_edges_by_the_shortest_way() -> None:
    rng = np.random.default_rng(3)
    fan = np.stack([np.zeros(149, np.int64), np.arange(1, 150), np.arange(2, 151)], axis=1)
    triangles = np.concatenate([fan, rng.integers(20, 60, (30, 3))])
    points = np.concatenate([rng.normal(size=(151, 3)), [[9.0, 9.0, 9.0]]])  # the last has no triangle
    rings = two_rings(points, triangles)
    edges: dict[int, dict[int, float]] = {vertex: {} for vertex in range(152)}
    for corners in triangles.tolist():
        for a, b in zip(corners, corners[1:] + corners[:1], strict=True):
            if a != b:
                edges[a][b] = edges[b][a] = float(np.linalg.norm(points[a] - points[b]))
    place = rings.place
    for vertex in range(152):
        way = dict(edges[vertex])
        for near, first in edges[vertex].items():
            for beyond, second in edges[near].items():
                way[beyond] = min(way.get(beyond, np.inf), first + second)
        way[vertex] = 0.5 * min(edges[vertex].values(), default=1.0)
        wanted = sorted(way.items(), key=lambda one: one[1])[:96]
        row = slice(rings.starts[place[vertex]], rings.starts[place[vertex] + 1])
        assert rings.members[row].tolist() == [int(place[number]) for number, _ in wanted]
        np.testing.assert_allclose(rings.weights[row], [1.0 / way for _, way in wanted], rtol=1e-6)


def grid(count: int) -> TwoRings:
    x, y = np.meshgrid(np.arange(count), np.arange(count), indexing="ij")
    a = np.arange(count * count).reshape(count, count)[:-1, :-1].ravel()
    triangles = np.concatenate(
        [np.stack([a, a + count, a + 1], 1), np.stack([a + 1, a + count, a + count + 1], 1)]
    )
    return two_rings(np.stack([x, y, np.zeros_like(x)], -1).reshape(-1, 3), triangles)


def test_a_part_far_enough_from_its_border_is_filtered_like_the_whole() -> None:
    rings, rng = grid(21), np.random.default_rng(4)
    values = rng.normal(size=441).astype(np.float32)
    shown = np.zeros(441, np.bool_)
    shown[[220, 221, 180]] = True
    near = rings.around(shown, 3)
    by_hand = shown.copy()
    for _ in range(3):
        row = np.repeat(np.arange(441), np.diff(rings.near_starts))
        by_hand |= np.bincount(row, by_hand[rings.near], 441) > 0
    np.testing.assert_array_equal(near, by_hand)
    part, inside = rings.part(near), shown[near]
    sure = np.ones(441, np.bool_)
    np.testing.assert_array_equal(
        part.median(values[near], sure[near])[0][inside], rings.median(values, sure)[0][shown]
    )
    np.testing.assert_array_equal(
        part.smoothed(values[near], 0.5, 3)[inside], rings.smoothed(values, 0.5, 3)[shown]
    )
    total = np.add.reduceat(part.near_weights, part.near_starts[:-1])
    np.testing.assert_allclose(total, 1.0, atol=1e-6)


def test_a_median_stands_in_the_middle_of_the_weights_in_order_also_among_equal_values() -> None:
    rings, rng = grid(15), np.random.default_rng(9)
    values = rng.integers(0, 5, 225).astype(np.float32)
    sure = (rng.random(225) * (rng.random(225) < 0.8)).astype(np.float32)
    found, _ = rings.median(values, sure)
    for place in range(225):
        row = slice(rings.starts[place], rings.starts[place + 1])
        own = rings.members[row][sure[rings.members[row]] > 0.0]
        weight = (rings.weights[row] * sure[rings.members[row]])[sure[rings.members[row]] > 0.0]
        order = np.argsort(values[own], kind="stable")
        stands = np.cumsum(weight[order]) - 0.5 * weight[order]
        wanted = np.interp(0.5 * weight.sum(), stands, values[own][order])
        assert found[place] == pytest.approx(wanted, abs=1e-5)


def test_values_are_believed_unless_far_from_their_median() -> None:
    rings, rng = grid(15), np.random.default_rng(6)
    values = (0.1 * rng.normal(size=225)).astype(np.float32)
    values[rng.choice(225, 8, replace=False)] += np.float32(3.0)
    sure = rng.random(225) < 0.9
    values[~sure] = 0.0
    median, known = rings.median(values, sure)
    wanted = np.where(sure & (np.abs(values - median) <= 1.0), values, np.where(known, median, 0.0))
    np.testing.assert_allclose(rings.believed(values, sure, 1.0), wanted, atol=1e-6)
    assert (np.abs(wanted - values)[sure] > 1.0).any()


def test_what_is_believed_goes_over_smoothly_as_values_stray_and_become_unsure() -> None:
    rings, rng = grid(15), np.random.default_rng(8)
    values = (0.1 * rng.normal(size=225)).astype(np.float32)
    sure = np.ones(225, np.float32)
    shares = np.linspace(0.0, 1.0, 301)

    def largest_step(found: list[npt.NDArray[np.float32]]) -> float:
        return float(np.abs(np.diff(found, axis=0)).max())

    straying = []
    for share in shares:
        astray = values.copy()
        astray[112] += np.float32(4.0 * share)
        straying.append(rings.believed(astray, sure, 1.0))
    assert largest_step(straying) < 0.04
    assert abs(straying[-1][112]) < 0.3
    vanishing, everyone = [], []
    for share in shares:
        unsure = sure.copy()
        unsure[112] = 1.0 - share
        vanishing.append(rings.believed(values, unsure, 1.0))
        everyone.append(rings.believed(values, np.full(225, 1.0 - share, np.float32), 1.0))
    assert largest_step(vanishing) < 0.01
    assert largest_step(everyone) < 0.1
    gone = sure.copy()
    gone[112] = 0.0
    np.testing.assert_allclose(vanishing[-1], rings.believed(values, gone, 1.0), atol=1e-6)
    assert not everyone[-1].any()


def test_single_values_are_smoothed_as_if_all_places_were() -> None:
    rings = grid(21)
    values = np.zeros(441, np.float32)
    values[[100, 330]] = 1.0
    wanted = values.copy()
    row = np.repeat(np.arange(441), np.diff(rings.near_starts))
    for _ in range(5):
        wanted += 0.7 * (np.bincount(row, rings.near_weights * wanted[rings.near], 441) - wanted)
    np.testing.assert_allclose(rings.smoothed(values, 0.7, 5), wanted, atol=1e-7)


def test_many_rounds_spread_as_far_as_counts() -> None:
    rings = grid(101)
    values = np.zeros(101 * 101, np.float32)
    values[101 * 50 + 50] = 1.0
    wanted = values.astype(np.float64)
    row = np.repeat(np.arange(len(values)), np.diff(rings.near_starts))
    for _ in range(90):
        wanted = np.bincount(row, rings.near_weights * wanted[rings.near], len(values)).astype(np.float64)
    found = rings.smoothed(values, 1.0, 90)
    np.testing.assert_allclose(found, wanted, atol=1e-6 * wanted.max())


def test_places_apart_stand_round_all_others() -> None:
    rings = grid(12)
    some = np.arange(rings.place_count) % 5 != 0
    for edges in (1, 3):
        chosen = rings.apart(some, edges)
        assert some[chosen].all()
        marked = np.zeros(rings.place_count, np.bool_)
        marked[chosen] = True
        assert rings.around(marked, edges)[some].all()
        for one in chosen:
            alone = np.arange(rings.place_count) == one
            assert (rings.around(alone, edges) & marked).sum() == 1
