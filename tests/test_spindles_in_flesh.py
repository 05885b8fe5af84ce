"""Muscles of the template, drawn in the flesh: under the posed skin, exact at bind, with their volume."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from benchmarks.muscle_people import PEOPLE, motion_file, performed
from benchmarks.muscles_outside import HELD, worst

from conftest import Figure
from ecorche.muscles.spindle_mesh import Stations, spindle_surfaces
from ecorche.muscles.spindles_in_flesh import SpindlesInFlesh
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
