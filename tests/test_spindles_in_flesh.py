"""Muscles of the template, drawn in the flesh: under the posed skin, exact at bind, with their volume."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from benchmarks.muscle_people import PEOPLE, motion_file, performed
from benchmarks.muscles_outside import HELD, worst

from conftest import Figure
from ecorche.base.threads import at_most_threads
from ecorche.errors import EcorcheError
from ecorche.muscles.even_rings import evened
from ecorche.muscles.loft import THINNEST
from ecorche.muscles.musculature import Musculature
from ecorche.muscles.ring_volume import MOST as WIDEST
from ecorche.muscles.spindle_mesh import SpindleSurfaces, Stations, spindle_surfaces
from ecorche.muscles.spindles_in_flesh import EVENED, SpindlesInFlesh
from ecorche.skeleton.kinematics import difference_from_bind

FAR, MOST = 0.005, 0.001
"""How far outside the posed skin one point of a muscle may be, and 95 of 100 of its points [m]."""


@pytest.mark.parametrize("motion", ["raise", "squat"])
@pytest.mark.parametrize("person", ["muscular man", "slim man", "woman"])
def test_muscles_stay_under_the_posed_skin(data: Path, person: str, motion: str, figure: Figure) -> None:
    rows = list(worst(data, person, motion))
    assert len(rows) > 100
    far, most = max(rows, key=lambda row: row[1]), max(rows, key=lambda row: row[2])
    figure(f"worst point outside the posed skin, {person}, {motion}", far[1], FAR, "m")
    figure(f"95 of 100 points outside the posed skin, {person}, {motion}", most[2], MOST, "m")
    assert far[1] < FAR, far
    assert most[2] < MOST, most


def test_drawn_muscles_are_the_spindles_at_bind_and_keep_their_volume(data: Path) -> None:
    pair = performed(data / "human" / f"{PEOPLE['muscular man']}.glb", motion_file(data, "raise"))
    muscles, skeleton = pair.muscles.musculature, pair.muscled.body.character.skeleton
    surfaces = spindle_surfaces(muscles.spindles, rings=20, sides=12)
    drawn = SpindlesInFlesh(muscles, surfaces, pair.muscles.skin_round.shares)
    still, rest = np.zeros((skeleton.joint_count, 4, 4)), np.ones(len(muscles.muscles))
    frames, states = muscles.posed(still, rest)
    on_paths = surfaces.points(states, Stations(*frames.at(surfaces.t)))
    np.testing.assert_allclose(drawn.points(still, rest), on_paths, atol=1e-12)
    moved = difference_from_bind(skeleton, pair.muscled.motion.local[HELD["raise"]])
    before, after = (
        np.array([_volume(points, surfaces.triangles, surfaces.triangle_starts, m) for m in range(len(rest))])
        for points in (on_paths, drawn.points(moved, rest))
    )
    off = np.abs(after / before - 1.0)
    assert np.mean(off < 0.01) > 0.97
    assert off.max() < 0.1  # flesh that a fold presses together does not come out elsewhere


def _volume(points: np.ndarray, triangles: np.ndarray, starts: np.ndarray, muscle: int) -> float:
    a, b, c = np.moveaxis(points[triangles[starts[muscle] : starts[muscle + 1]]], 1, 0)
    middle = a.mean(axis=0)
    return float(np.sum((a - middle) * np.cross(b - middle, c - middle)) / 6.0)


@pytest.mark.parametrize(("rings", "sides"), [(16, 12), (9, 7)])
def test_drawn_muscles_are_those_of_a_plain_reference_on_any_number_of_threads(
    data: Path, rings: int, sides: int
) -> None:
    pair = performed(data / "human" / f"{PEOPLE['muscular man']}.glb", motion_file(data, "raise"))
    muscles, skeleton = pair.muscles.musculature, pair.muscled.body.character.skeleton
    surfaces = spindle_surfaces(muscles.spindles, rings=rings, sides=sides)
    drawn = SpindlesInFlesh(muscles, surfaces, pair.muscles.skin_round.shares)
    bulge = 1.0 + 0.3 * np.random.default_rng(0).uniform(size=len(muscles.muscles))
    moved = difference_from_bind(skeleton, pair.muscled.motion.local[HELD["raise"]])
    points = drawn.points(moved, bulge)
    with at_most_threads(1):
        assert points.tobytes() == drawn.points(moved, bulge).tobytes()
    for number in range(0, len(bulge), 9):
        wanted = _one_by_one(muscles, surfaces, pair.muscles.skin_round.shares, moved, bulge, number)
        part = slice(*surfaces.vertex_starts[number : number + 2])
        np.testing.assert_allclose(points[part], wanted, atol=1e-9)


def _one_by_one(
    muscles: Musculature,
    surfaces: SpindleSurfaces,
    shares: Callable[[np.ndarray], np.ndarray],
    moved: np.ndarray,
    bulge: np.ndarray,
    number: int,
) -> np.ndarray:
    """One muscle, point by point: carried from bind, then dilated until its mesh holds what it should."""
    frames, at_bind = muscles.posed(np.zeros_like(moved))
    states, stations = muscles.posed(moved, bulge)[1], Stations(*frames.at(surfaces.t))
    still, tensed = (surfaces.ring_points(state, stations)[number] for state in (at_bind, states))
    table = evened(shares(still.reshape(-1, 3)).reshape(*still.shape[:2], -1), EVENED)
    carried = np.empty_like(tensed)
    for ring, side in np.ndindex(tensed.shape[:2]):
        blended = np.eye(4) + np.tensordot(table[ring, side], moved[: table.shape[-1]], 1)
        carried[ring, side] = (blended @ [*tensed[ring, side], 1.0])[:3]
    swelling = 4.0 * surfaces.t[number] * (1.0 - surfaces.t[number])
    growth = swelling[:, None, None] * (carried - carried[:, :1])
    wanted = _closed_volume(still) * states.volumes()[number] / at_bind.volumes()[number]
    low, high = THINNEST, WIDEST
    if _closed_volume(carried + high * growth) < wanted:
        low = high
    for _ in range(60):
        middle = 0.5 * (low + high)
        too_small = _closed_volume(carried + middle * growth) < wanted
        low, high = (middle, high) if too_small else (low, middle)
    rings = carried + low * growth
    used = rings[surfaces.used_rings[number, 0] : surfaces.used_rings[number, 1] + 1]
    return np.concatenate([rings[:1].mean(axis=1), used.reshape(-1, 3), rings[-1:].mean(axis=1)])


def _closed_volume(rings: np.ndarray) -> float:
    """Of the closed mesh through rings (R, A, 3) and their middles at the ends, by tetrahedra."""
    rings = rings - rings.mean(axis=(0, 1))
    a, b, on = rings[:-1], rings[1:], np.roll(rings, -1, axis=1)
    corners = [(a, on[:-1], on[1:]), (a, on[1:], b)]
    for end, way in ((0, -1), (-1, 1)):
        middle = np.broadcast_to(rings[end].mean(axis=0), rings[end].shape)
        first, second = (rings[end], on[end])[::way]
        corners.append((middle, first, second))
    return sum(float(np.linalg.det(np.stack(three, axis=-2)).sum()) for three in corners) / 6.0


def test_what_cannot_be_posed_is_refused_in_words(data: Path) -> None:
    pair = performed(data / "human" / f"{PEOPLE['muscular man']}.glb", motion_file(data, "raise"))
    muscles, skeleton = pair.muscles.musculature, pair.muscled.body.character.skeleton
    surfaces = spindle_surfaces(muscles.spindles, rings=5, sides=4)
    drawn = SpindlesInFlesh(muscles, surfaces, pair.muscles.skin_round.shares)
    still, rest = np.zeros((skeleton.joint_count, 4, 4)), np.ones(len(muscles.muscles))
    with pytest.raises(EcorcheError, match="bulge"):
        drawn.points(still, np.where(np.arange(len(rest)) == 3, 0.0, 1.0))
    still[-1, 0, 0] = np.nan
    with pytest.raises(EcorcheError, match="finite"):
        drawn.points(still, rest)


def test_tension_shows_where_the_muscle_bulges(data: Path) -> None:
    pair = performed(data / "human" / f"{PEOPLE['muscular man']}.glb", motion_file(data, "curl"))
    muscles, skeleton = pair.muscles.musculature, pair.muscled.body.character.skeleton
    surfaces = spindle_surfaces(muscles.spindles, rings=20, sides=12)
    drawn = SpindlesInFlesh(muscles, surfaces, pair.muscles.skin_round.shares)
    biceps = muscles.names.index("biceps brachii, long head, left")
    still, tense = np.zeros((skeleton.joint_count, 4, 4)), np.ones(len(muscles.muscles))
    tense[biceps] = 1.3
    part = slice(*surfaces.vertex_starts[biceps : biceps + 2])
    way = drawn.points(still, tense)[part] - drawn.points(still, np.ones(len(tense)))[part]
    assert 0.002 < np.linalg.norm(way, axis=1).max() < 0.02
