"""Bumps, ellipses and links on limbs made by hand, where the answer is known."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecorche.muscles.extraction.bump import Bump, Cut
from ecorche.muscles.extraction.bumps import _hills, limb_bumps, merged_stretches, swelling
from ecorche.muscles.extraction.ellipses import bump_ellipse, fitted_ellipse
from ecorche.muscles.extraction.limbs import LimbBone, limb_cuts
from ecorche.muscles.extraction.linking import ENDING, linked

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

BONE = LimbBone(
    "tube",
    "",
    (1,),
    np.zeros(3),
    np.array([0.0, 0.0, 0.4]),
    0,
    2,
    np.array([1.0, 0.0, 0.0]),
    np.array([0.0, 1.0, 0.0]),
)


def tube(radius: npt.ArrayLike, around: int = 90, up: int = 121) -> tuple[Floats, Ints]:
    """A tube along z from −5 to 45 cm of a given radius (up, around) or (up, 1) [m], open at both ends."""
    height = np.linspace(-0.05, 0.45, up)
    angle = 2.0 * np.pi * np.arange(around) / around
    r = np.broadcast_to(np.asarray(radius, float), (up, around))
    points = np.stack(
        [r * np.cos(angle), r * np.sin(angle), np.broadcast_to(height[:, None], r.shape)], axis=-1
    )
    first = (np.arange(up - 1)[:, None] * around + np.arange(around)).ravel()
    right = first - first % around + (first + 1) % around
    triangles = np.vstack(
        [
            np.column_stack([first, right, right + around]),
            np.column_stack([first, right + around, first + around]),
        ]
    )
    return points.reshape(-1, 3), triangles


def cuts_of(radius: npt.ArrayLike) -> list[Cut]:
    points, triangles = tube(radius)
    cuts = limb_cuts(BONE, points, triangles, np.ones(len(points)), 0)
    assert not isinstance(cuts, str), cuts
    return cuts


HEIGHT = np.linspace(-0.05, 0.45, 121)[:, None]
ANGLE = (2.0 * np.pi * np.arange(90) / 90)[None]
SHAPES = {
    "cylinder": 0.05 + 0.0 * HEIGHT,
    "cone": 0.06 - 0.04 * HEIGHT,
    "oval": (0.05 - 0.02 * HEIGHT) * (1.0 + 0.2 * np.cos(2.0 * ANGLE)),
    "cornered": 0.05 * (1.0 + 0.08 * np.cos(3.0 * ANGLE) + 0.05 * np.cos(5.0 * ANGLE)) + 0.0 * HEIGHT,
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_straight_limb_of_any_section_has_no_bump(shape: str) -> None:
    cuts = cuts_of(SHAPES[shape])
    assert len(cuts) >= 30
    assert np.abs(swelling(cuts)).max() < 5e-4
    assert linked(cuts, limb_bumps(cuts)).tracks == ()


@pytest.mark.parametrize("direction", [0.0, 100.0, 250.0])
def test_a_belly_is_found_where_it_is_and_as_prominent_as_it_is(direction: float) -> None:
    way = np.radians(direction)
    aside = np.angle(np.exp(1j * (ANGLE - way)))
    belly = 0.012 * np.exp(-((HEIGHT - 0.22) ** 2) / 0.06**2) * np.exp(-(aside**2) / 0.5**2)
    cuts = cuts_of(0.05 - 0.02 * HEIGHT + belly)
    bumps = limb_bumps(cuts)
    (track,) = linked(cuts, bumps).tracks
    own = [bumps[n] for n in track.bumps]
    best = max(own, key=lambda b: b.prominence)
    top = cuts[best.cut].points[best.top % 64]
    assert top[2] == pytest.approx(0.22, abs=0.015)
    assert abs(np.angle(np.exp(1j * (np.arctan2(top[1], top[0]) - way)))) < np.radians(8.0)
    assert 0.6 * 0.012 < track.prominence <= 0.012  # the middle gives way to it a little
    assert cuts[own[0].cut].origin[2] < 0.16
    assert cuts[own[-1].cut].origin[2] > 0.28
    for bump in own:
        assert len(bump.weights) == bump.last - bump.first + 1
        assert bump.first <= bump.top <= bump.last
        assert bump.weights[bump.top - bump.first] == 1.0 == bump.weights.max()


def test_two_bellies_are_two_muscles_and_a_branch_knows_its_trunk() -> None:
    def belly(way: float, low: float, high: float) -> Floats:
        aside = np.angle(np.exp(1j * (ANGLE - np.radians(way))))
        along = np.clip((HEIGHT - low) / 0.05, 0.0, 1.0) * np.clip((high - HEIGHT) / 0.05, 0.0, 1.0)
        return np.asarray(0.012 * along * np.exp(-(aside**2) / 0.35**2))

    cuts = cuts_of(0.05 + belly(90.0, 0.05, 0.35) + belly(270.0, 0.05, 0.35))
    tracks = linked(cuts, limb_bumps(cuts)).tracks
    assert len(tracks) == 2
    assert [t.joins for t in tracks] == [-1, -1]
    # a second belly that leans into the first ends against its flank
    lean = np.radians(130.0) - np.clip((HEIGHT - 0.15) / 0.12, 0.0, 1.0) * np.radians(40.0)
    aside = np.angle(np.exp(1j * (ANGLE - lean)))
    branch = 0.012 * np.clip((HEIGHT - 0.03) / 0.05, 0.0, 1.0) * np.clip((0.27 - HEIGHT) / 0.03, 0.0, 1.0)
    cuts = cuts_of(0.05 + np.maximum(belly(70.0, 0.03, 0.38), branch * np.exp(-(aside**2) / 0.2**2)))
    tracks = linked(cuts, limb_bumps(cuts)).tracks
    assert len(tracks) == 2
    longer = int(np.argmax([len(t.bumps) for t in tracks]))
    assert tracks[1 - longer].joins == longer
    assert tracks[longer].joins == -1


def test_the_semicircle_rule_merges_the_arms_of_a_cross_up_to_its_junction() -> None:
    corners = [(3, -0.5), (3, 0.5), (0.5, 0.5), (0.5, 3), (-0.5, 3), (-0.5, 0.5), (-3, 0.5), (-3, -0.5)]
    outline = np.array([*corners, (-0.5, -0.5), (-0.5, -3), (0.5, -3), (0.5, -0.5)], float)
    ahead = np.roll(outline, -1, axis=0)
    fine = np.concatenate([np.linspace(a, b, 6)[:-1] for a, b in zip(outline, ahead, strict=True)])
    fine = np.round(fine, 6)
    stretches = merged_stretches(fine)
    tips = [fine[tip % len(fine)] for _, tip, _ in stretches]
    for way in ([1, 0], [0, 1], [-1, 0], [0, -1]):
        assert max(np.array(way) @ tip for tip in tips) > 2.9  # every arm's end is one
    for first, _, last in stretches:
        own = fine[np.arange(first, last + 1) % len(fine)]
        middle = 0.5 * (own[0] + own[-1])
        before = own[1:-1]  # what was merged before the last chord lay within its semicircle
        assert len(before) >= 1
        assert (
            np.linalg.norm(own - middle, axis=1).max() < 3.0
        )  # none runs over the junction into another arm
    bowtie = np.array([[0.0, 0.0], [1.0, 1.0], [1.0, 0.0], [0.0, 1.0]])
    assert merged_stretches(bowtie) == []


PLACE = st.floats(-1.0, 1.0)


@given(PLACE, PLACE, st.floats(0.5, 2.0), st.floats(0.2, 0.9), st.floats(0.0, 3.1), st.floats(2.0, 6.2))
def test_points_of_an_ellipse_give_it_back_whatever_their_weights(
    x: float, y: float, long: float, ratio: float, angle: float, arc: float
) -> None:
    t = np.linspace(0.0, arc, 25)
    turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    points = np.array([x, y]) + np.column_stack([long * np.cos(t), long * ratio * np.sin(t)]) @ turn
    fit = fitted_ellipse(points, np.linspace(0.1, 1.0, 25))
    assert fit is not None
    np.testing.assert_allclose(fit.centre, [x, y], atol=1e-5)
    np.testing.assert_allclose(fit.half_axes, [long, long * ratio], rtol=1e-5)
    assert abs(np.sin(fit.angle - angle)) < 1e-4 / (1.0 - ratio)


def test_an_ellipse_touches_the_skin_and_stays_within_the_section() -> None:
    import shapely

    rng = np.random.default_rng(5)
    for _ in range(40):
        angle = 2.0 * np.pi * np.arange(64) / 64
        sizes, starts = rng.normal(0.0, 0.05, 5) / np.arange(1, 6), rng.uniform(0.0, 6.0, 5)
        radius = 0.05 * (1.0 + sizes @ np.cos(np.arange(1, 6)[:, None] * angle + starts[:, None]))
        flat = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
        top, reach = int(rng.integers(64)), int(rng.integers(4, 13))
        first = (top - reach) % 64
        weights = np.maximum(1.0 - (np.arange(-reach, reach + 1) / reach) ** 2, 0.05)
        cut = Cut(0, 0, 0.5, np.zeros(3), np.eye(3), np.column_stack([flat, np.zeros(64)]), flat, True)
        ellipse = bump_ellipse(cut, Bump(0, first, first + 2 * reach, first + reach, 0.01, weights))
        section = shapely.Polygon(flat)
        assert section.buffer(0.0015).contains(shapely.Polygon(ellipse.points()))
        assert (ellipse.half_axes > 0.001).all()
        gap = np.linalg.norm(ellipse.points(400) - flat[top], axis=1).min()
        assert gap <= 0.25 * np.linalg.norm(flat.mean(axis=0) - flat[top])
    assert fitted_ellipse(np.column_stack([np.arange(9.0), np.zeros(9)]), np.ones(9)) is None


def _bumps_at(rows: list[list[tuple[float, float]]]) -> tuple[list[Cut], list[Bump]]:
    """Sections, 1 cm apart, of a round limb with bumps at (degrees, prominence) each."""
    angle = 2.0 * np.pi * np.arange(360) / 360
    flat = 0.05 * np.column_stack([np.cos(angle), np.sin(angle)])
    cuts, bumps = [], []
    for rank, row in enumerate(rows):
        points = np.column_stack([flat, np.full(360, 0.01 * rank)])
        cuts.append(Cut(0, rank, rank / len(rows), points.mean(axis=0), np.eye(3), points, flat, True))
        bumps += [Bump(rank, int(d) - 10, int(d) + 10, int(d), p, np.ones(21)) for d, p in row]
    return cuts, bumps


def test_links_are_the_cheapest_of_all_and_do_not_depend_on_the_order() -> None:
    rng = np.random.default_rng(11)
    for _ in range(30):
        rows = [
            [(float(rng.integers(20, 90)), float(rng.uniform(0.004, 0.008))) for _ in range(3)]
            for _ in range(2)
        ]
        cuts, bumps = _bumps_at(rows)

        def cost(a: Bump, b: Bump) -> float:
            apart = 2.0 * np.sin(np.radians(abs(a.top - b.top)) / 2.0)
            return float(apart + 0.3 * abs(np.log(a.prominence / b.prominence))) if apart <= 0.6 else np.inf

        best = min(
            sum(min(cost(bumps[k], bumps[3 + p]), ENDING) for k, p in enumerate(order))
            for order in permutations(range(3))
        )
        found = linked(cuts, bumps, prominent=0.0, long=0.0)
        pairs = _paths(cuts, bumps)
        ours = sum(cost(bumps[a], bumps[b]) for a, b in pairs) + ENDING * (3 - len(pairs))
        assert ours == pytest.approx(best, abs=1e-9)
        assert found.tracks == ()  # two sections are too few for a muscle
        assert found.short + found.slight == 6 - len(pairs)


def _paths(cuts: list[Cut], bumps: list[Bump]) -> list[tuple[int, int]]:
    """The links between two sections, seen by letting each go on by itself for long enough to be kept."""
    longer, more = list(cuts), list(bumps)
    for rank in (2, 3, 4):
        longer.append(replace(cuts[1], rank=rank, points=cuts[1].points + 0.01 * (rank - 1) * np.eye(3)[2]))
        more += [replace(b, cut=rank) for b in bumps if b.cut == 1]
    return [
        (t.bumps[0], t.bumps[1])
        for t in linked(longer, more, prominent=0.0, long=0.0).tracks
        if more[t.bumps[0]].cut == 0
    ]


def test_a_missing_bump_is_bridged_and_what_is_slight_or_short_is_counted() -> None:
    rows = [[(60.0, 0.006), (200.0, 0.002)] for _ in range(12)]
    rows[5] = [(200.0, 0.002)]
    rows[8].append((300.0, 0.006))
    cuts, bumps = _bumps_at(rows)
    found = linked(cuts, bumps)
    (track,) = found.tracks
    assert [bumps[n].cut for n in track.bumps] == [0, 1, 2, 3, 4, 6, 7, 8, 9, 10, 11]
    assert (found.slight, found.short) == (1, 1)
    assert track.prominence == 0.006
    shuffled = [bumps[n] for n in np.random.default_rng(2).permutation(len(bumps))]
    again = linked(cuts, shuffled).tracks[0]
    assert [shuffled[n] for n in again.bumps] == [bumps[n] for n in track.bumps]


def test_a_row_of_bumps_with_a_waist_is_two_muscles_and_a_shallow_or_single_dip_does_not_part_it() -> None:
    def rows(low: list[float]) -> list[list[tuple[float, float]]]:
        return [[(60.0, height)] for height in [0.008] * 7 + low + [0.006] * 7]

    for low, parts in (([0.002, 0.002, 0.002], 2), ([0.004, 0.004, 0.004], 1), ([0.002], 1)):
        cuts, bumps = _bumps_at(rows(low))
        tracks = linked(cuts, bumps).tracks
        assert len(tracks) == parts, low
        assert sorted(b for t in tracks for b in t.bumps) == list(range(len(bumps)))


def test_hills_are_the_same_whichever_way_round() -> None:
    """Low tops between two high ones: which of them count does not hang on where the walk begins."""
    random = np.random.default_rng(2)
    turn = 2.0 * np.pi * np.arange(64) / 64
    for _ in range(300):
        waves = random.normal(size=(2, 7)) / np.arange(1, 8)
        height = 4.0 + sum(a * np.cos(k * turn + b) for k, (a, b) in enumerate(waves.T, start=2))
        there = [top % 64 for _, top, _ in _hills(height, 0.1)]
        back = [63 - top % 64 for _, top, _ in _hills(height[::-1], 0.1)]
        assert sorted(there) == sorted(back)
