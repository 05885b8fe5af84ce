"""Muscles fitted under real people's skins; libigl's winding number judges what is inside."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import igl
import numpy as np
import numpy.typing as npt
import pytest

from ecorche.base.signed_distance import SignedSurface
from ecorche.body.character import Character
from ecorche.errors import EcorcheError
from ecorche.io.formats import read_character
from ecorche.muscles.fit import MOST_GROWTH, TISSUE, FitReport, fit_to_skin
from ecorche.muscles.musculature import Musculature, musculature
from ecorche.muscles.spindle_mesh import Stations, spindle_surfaces
from ecorche.muscles.template import TEMPLATE, Placement, place
from ecorche.skeleton.naming import recognise

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

PEOPLE = (
    "male_muscular_cmu_mb",
    "male_average_cmu_mb",
    "male_slim_cmu_mb",
    "female_average_cmu_mb",
    "male_muscular_mixamo",
)


@cache
def _person(path: Path) -> tuple[Character, Placement, Floats, Ints]:
    character = read_character(path)
    mesh = character.meshes[0].mesh
    placement = place(TEMPLATE, character.skeleton, recognise(character.skeleton))
    return character, placement, mesh.points.astype(np.float64), mesh.triangles().astype(np.int64)


@cache
def _fitted(path: Path) -> tuple[Musculature, FitReport]:
    character, placement, points, triangles = _person(path)
    fitted, report = fit_to_skin(placement.muscles, placement.skeleton, points, triangles)
    return musculature(fitted, character.skeleton, placement.scapulae), report


def _surface(muscles: Musculature, rings: int = 24, sides: int = 16) -> Floats:
    joints = muscles.frames.paths.skeleton.joint_count - len(muscles.scapulae)
    still = np.zeros((joints, 4, 4))
    frames, states = muscles.posed(still)
    surfaces = spindle_surfaces(muscles.spindles, rings=rings, sides=sides)
    return surfaces.points(states, Stations(*frames.at(surfaces.t)))


def _inside(points: Floats, triangles: Ints, queries: Floats) -> npt.NDArray[np.bool_]:
    inside: npt.NDArray[np.bool_] = np.asarray(igl.fast_winding_number(points, triangles, queries)) > 0.5
    return inside


def test_depth_agrees_with_another_library_on_a_human_with_seams(data: Path) -> None:
    _, _, points, triangles = _person(data / "human" / f"{PEOPLE[0]}.glb")
    rng = np.random.default_rng(1)
    queries = points[rng.integers(len(points), size=2000)] + rng.normal(scale=0.01, size=(2000, 3))
    depth, outward = SignedSurface(points, triangles).depth(queries)
    theirs = np.sqrt(igl.point_mesh_squared_distance(queries, points, triangles)[0])
    np.testing.assert_allclose(np.abs(depth), theirs, atol=1e-12)
    np.testing.assert_array_equal(depth > 0.0, _inside(points, triangles, queries))
    np.testing.assert_allclose(np.linalg.norm(outward, axis=1), 1.0, atol=1e-6)


@pytest.mark.parametrize("name", PEOPLE)
def test_no_muscle_leaves_the_skin_and_none_becomes_a_thread(data: Path, name: str) -> None:
    path = data / "human" / f"{name}.glb"
    _, placement, points, triangles = _person(path)
    muscles, report = _fitted(path)
    assert len(muscles.names) == len(placement.muscles) >= 150
    assert _inside(points, triangles, _surface(muscles)).all()
    assert _inside(points, triangles, muscles.frames.paths.bind_points).all()
    assert report.exposed == ()
    assert 0.25 < report.width.min() < 1.0 < report.width.max() <= MOST_GROWTH
    assert 0.5 < report.thickness.min() < 1.0 < report.thickness.max() <= MOST_GROWTH
    assert np.median(report.thickness) > 1.0
    assert np.degrees(report.turned.max()) < 45.0


def test_without_fitting_thousands_of_points_stand_out(data: Path) -> None:
    """So that the test above is known to be able to fail."""
    character, placement, points, triangles = _person(data / "human" / f"{PEOPLE[0]}.glb")
    bare = _surface(musculature(placement.muscles, character.skeleton, placement.scapulae))
    assert (~_inside(points, triangles, bare)).sum() > 2000


def test_the_tissue_is_kept_and_bulge_directions_lie_across(data: Path) -> None:
    path = data / "human" / f"{PEOPLE[2]}.glb"
    _, _, points, triangles = _person(path)
    muscles, _ = _fitted(path)
    surface = _surface(muscles)[::7]
    assert SignedSurface(points, triangles).depth(surface)[0].min() > TISSUE - 2e-5
    assert np.abs(np.sum(muscles.frames.out * muscles.frames.bind.along, axis=-1)).max() < 1e-12
    hints = np.array([muscle.outward for muscle in muscles.muscles])
    np.testing.assert_allclose(hints, muscles.frames.out, atol=1e-12)


def test_left_and_right_agree_to_a_millimetre_on_a_symmetric_skin(data: Path) -> None:
    """The files' quads are cut into triangles without regard to sides: here one half is mirrored."""
    character, placement, points, triangles = _person(data / "human" / f"{PEOPLE[1]}.glb")
    half = triangles[(points[triangles, 0] > -1e-5).all(axis=1)]
    points = np.where(np.abs(points) < 1e-5, 0.0, points)
    both = np.concatenate([points, points * (-1.0, 1.0, 1.0)])
    skin = np.concatenate([half, half[:, ::-1] + len(points)])
    fitted, _ = fit_to_skin(placement.muscles, placement.skeleton, both, skin)
    muscles = musculature(fitted, character.skeleton, placement.scapulae)
    number = {name: i for i, name in enumerate(muscles.names)}
    t = np.linspace(0.0, 1.0, 21)
    thickness = muscles.spindles.thickness_at(t)
    for name, right in number.items():
        if name.endswith("right"):
            left = number[name.removesuffix("right") + "left"]
            there = muscles.muscles[right].positions * (-1.0, 1.0, 1.0)
            assert np.abs(there - muscles.muscles[left].positions).max() < 1e-3, name
            assert np.abs(thickness[right] - thickness[left]).max() < 1e-3, name


def test_moved_points_are_told_with_their_distance(data: Path) -> None:
    path = data / "human" / f"{PEOPLE[3]}.glb"
    _, placement, _, _ = _person(path)
    muscles, report = _fitted(path)
    told = {(m.muscle, m.point): m.distance for m in report.moved}
    assert len(told) == len(report.moved) == len(report.notes) > 0
    for before, after in zip(placement.muscles, muscles.muscles, strict=True):
        for point, way in enumerate(np.linalg.norm(after.positions - before.positions, axis=1)):
            assert told.get((before.name, point), 0.0) == pytest.approx(way, abs=1e-6)


def test_a_skin_without_triangles_is_refused(data: Path) -> None:
    _, placement, points, _ = _person(data / "human" / f"{PEOPLE[0]}.glb")
    with pytest.raises(EcorcheError, match="triangles have shape"):
        fit_to_skin(placement.muscles, placement.skeleton, points, np.zeros((0, 3), np.int64))
