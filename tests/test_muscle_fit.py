"""Muscles fitted under real people's skins; libigl's winding number judges what is inside."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import igl
import numpy as np
import numpy.typing as npt
import pytest

from ecorche.base.signed_distance import SignedSurface
from ecorche.base.signed_pieces import SignedPieces
from ecorche.body.character import Character
from ecorche.errors import EcorcheError, MeshError
from ecorche.io.formats import read_character
from ecorche.muscles.fit import TISSUE, FitReport, fit_to_skin
from ecorche.muscles.growing_muscles import MOST_GROWTH
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
    assert 0.25 < report.width.min() < 1.0 < report.width.max() < MOST_GROWTH + 1e-9
    assert 0.5 < report.thickness.min() < 1.0 < report.thickness.max() < MOST_GROWTH + 1e-9
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


@pytest.mark.parametrize("name", PEOPLE)
def test_left_and_right_agree_on_the_people_as_they_are(data: Path, name: str) -> None:
    """To a millimetre and 5 %: triangles are not mirrored, nor are the collar bones of one rig."""
    muscles = _fitted(data / "human" / f"{name}.glb")[0].muscles
    number = {muscle.name: muscle for muscle in muscles}
    for right in muscles:
        if right.name.endswith("right"):
            left = number[right.name.removesuffix("right") + "left"]
            assert np.abs(right.positions * (-1.0, 1.0, 1.0) - left.positions).max() < 1e-3, right.name
            assert (right.outward * (-1.0, 1.0, 1.0)) @ left.outward > 0.99, right.name
            one, other = (np.array([1.0, m.scale]) * m.thickness[0, 3] for m in (right, left))
            np.testing.assert_allclose(one, other, rtol=0.05, atol=1e-3, err_msg=right.name)


def test_bulge_directions_point_to_the_skin_they_lie_under(data: Path) -> None:
    for name in PEOPLE:
        path = data / "human" / f"{name}.glb"
        _, _, points, triangles = _person(path)
        muscles, _ = _fitted(path)
        belly = np.array([muscle.belly for muscle in muscles.muscles])[:, None]
        centres, _, out = (x[:, 0] for x in muscles.frames.bind.at(belly))
        outward = SignedSurface(points, triangles).depth(centres)[1]
        cosine = np.sum(outward * out, axis=1)
        assert (cosine > 0.0).mean() > 0.95, [muscles.names[m] for m in np.flatnonzero(cosine <= 0.0)]
        assert np.median(cosine) > 0.9


def _areas(muscles: Musculature, *names: str) -> float:
    """Cross-section at the belly of the named muscles, both sides together [m²]."""
    chosen = [m for m in muscles.muscles if m.name.startswith(names)]
    assert len(chosen) >= 2 * len(names)
    return sum(float(np.pi * m.scale * m.thickness[0, 3] ** 2) for m in chosen)


def test_where_the_muscular_man_has_more_room_his_muscles_are_thicker(data: Path) -> None:
    """His upper arm, shoulder, front of the thigh and calf muscle are; the outside of his thigh is slimmer
    than the slim man's in these files (79 mm from bone to skin against 91), and so must the muscle be."""
    strong, slim = (_fitted(data / "human" / f"male_{kind}_cmu_mb.glb")[0] for kind in ("muscular", "slim"))
    assert _areas(strong, "biceps brachii") > 1.3 * _areas(slim, "biceps brachii")
    assert _areas(strong, "brachialis") > 1.3 * _areas(slim, "brachialis")
    assert _areas(strong, "deltoid") > 1.05 * _areas(slim, "deltoid")
    for name in ("rectus femoris", "vastus medialis"):
        assert _areas(strong, name) > 1.05 * _areas(slim, name), name
    assert _areas(strong, "gastrocnemius") > _areas(slim, "gastrocnemius")
    assert _areas(strong, "vastus lateralis") < _areas(slim, "vastus lateralis")


def test_a_thicker_limb_gets_thicker_muscles(data: Path) -> None:
    """The same man with the skin of his arms and legs blown up by a tenth, away from their bones."""
    path = data / "human" / f"{PEOPLE[1]}.glb"
    character, placement, points, triangles = _person(path)
    body = character.meshes[0]
    assert body.weights is not None
    names = character.skeleton.names
    heads, tails = character.skeleton.bind_world[:, :3, 3], character.skeleton.tail_positions()
    joints, weights = body.weights.padded()
    thick = points.copy()
    for name in ("RightArm", "LeftArm", "RightLeg", "LeftLeg"):
        joint = names.index(name)
        share = np.where(joints == joint, weights, 0.0).sum(axis=1)[:, None]
        bone = (tails[joint] - heads[joint]) / np.linalg.norm(tails[joint] - heads[joint])
        away = points - heads[joint]
        thick += 0.1 * share * (away - (away @ bone)[:, None] * bone)
    thicker, _ = fit_to_skin(placement.muscles, placement.skeleton, thick, triangles)
    plain = _fitted(path)[0].muscles
    grown = {
        before.name: float(after.thickness[0, 3] / before.thickness[0, 3])
        for before, after in zip(plain, thicker, strict=True)
    }
    for name in ("biceps brachii, long head", "brachialis", "triceps brachii, lateral head"):
        assert 1.05 < grown[f"{name}, right"] < 1.15, name
    for name in ("gastrocnemius, medial", "gastrocnemius, lateral", "fibularis longus"):
        assert 1.05 < grown[f"{name}, left"] < 1.15, name
    assert grown["rectus abdominis, right"] == pytest.approx(1.0, abs=1e-9)


def test_moved_points_are_told_with_their_distance(data: Path) -> None:
    path = data / "human" / f"{PEOPLE[3]}.glb"
    _, placement, _, _ = _person(path)
    muscles, report = _fitted(path)
    told = {(m.muscle, m.point): m.distance for m in report.moved}
    assert len(told) == len(report.moved) == len(report.notes) > 0
    for before, after in zip(placement.muscles, muscles.muscles, strict=True):
        for point, way in enumerate(np.linalg.norm(after.positions - before.positions, axis=1)):
            assert told.get((before.name, point), 0.0) == pytest.approx(way, abs=1e-6)


def _ball(centre: tuple[float, float, float], radius: float) -> tuple[Floats, Ints]:
    """A closed ball of 14 by 7 faces round a place."""
    across, down = np.meshgrid(np.arange(14) * np.pi / 7.0, np.arange(1, 7) * np.pi / 7.0)
    rings = np.stack([np.sin(down) * np.cos(across), np.cos(down), -np.sin(down) * np.sin(across)], axis=-1)
    points = np.concatenate([rings.reshape(-1, 3), [(0.0, 1.0, 0.0), (0.0, -1.0, 0.0)]])
    faces: list[tuple[int, int, int]] = []
    for i in range(14):
        j = (i + 1) % 14
        faces += [(84, i, j), (85, 70 + j, 70 + i)]
        for row in range(0, 70, 14):
            faces += [(row + i, row + 14 + i, row + 14 + j), (row + i, row + 14 + j, row + j)]
    return radius * points + centre, np.array(faces)


def test_pieces_are_one_body_where_they_overlap() -> None:
    one, faces = _ball((0.0, 0.0, 0.0), 1.0)
    other, _ = _ball((1.2, 0.0, 0.0), 0.9)
    eye, _ = _ball((-0.3, 0.0, 0.0), 0.1)
    points = np.concatenate([one, other, eye, [(0, 3, 0), (1, 3, 0), (0, 3, 1)]])
    sheet = [[258, 259, 260]]
    triangles = np.concatenate([faces, faces[:, ::-1] + 86, faces + 172, sheet])
    pieces = SignedPieces(points, triangles)
    assert not pieces.inside_out
    assert (pieces.pieces, pieces.left_out, pieces.turned) == (4, 1, 1)
    assert "inside out" in pieces.notes[-1]
    queries = np.random.default_rng(3).uniform((-1.5, -1.5, -1.5), (2.7, 1.5, 1.5), (4000, 3))
    depth, outward = pieces.depth(queries)
    alone = [SignedSurface(p, faces).depth(queries)[0] for p in (one, other, eye)]
    np.testing.assert_allclose(depth, np.max(alone, axis=0), atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(outward, axis=1), 1.0, atol=1e-9)
    away = pieces.depth(queries + 1e-4 * outward)[0]
    assert np.mean(np.abs(depth - away - 1e-4) < 1e-7) > 0.95  # outwards is where depth falls fastest


def test_an_open_skin_ends_at_its_cut() -> None:
    """A tube of radius 0.1 from z = 0 to 1, open at both ends."""
    angle = 2.0 * np.pi * np.arange(32) / 32
    ring = np.stack([0.1 * np.cos(angle), 0.1 * np.sin(angle), 0.0 * angle], axis=1)
    points = np.concatenate([ring + np.array([0.0, 0.0, z]) for z in np.linspace(0.0, 1.0, 21)])
    i, row = np.meshgrid(np.arange(32), 32 * np.arange(20))
    a, b = row + i, row + (i + 1) % 32
    triangles = np.concatenate(
        [np.stack(c, axis=-1).reshape(-1, 3) for c in ((a, b, b + 32), (a, b + 32, a + 32))]
    )
    tube = SignedSurface(points, triangles)
    depth = tube.depth(
        [(0.0, 0.0, 0.5), (0.0, 0.0, 1.05), (0.0, 0.0, 1.2), (0.0, 0.0, 5.0), (0.2, 0.0, 0.5)]
    )[0]
    assert 0.09 < depth[0] < 0.1 < depth[1] < 0.12
    assert (depth[2:] < 0.0).all()
    assert depth[3] == pytest.approx(-np.hypot(4.0, 0.1), abs=1e-3)
    holed = np.delete(triangles, [320, 960], axis=0)  # one face is missing
    inside = SignedSurface(points, holed).depth([(0.0, 0.0, z) for z in np.linspace(0.1, 0.9, 33)])[0]
    assert (inside > 0.09).all()


def test_a_bust_gets_the_muscles_it_can_have(data: Path) -> None:
    _, placement, points, triangles = _person(data / "human" / f"{PEOPLE[1]}.glb")
    corners = points[triangles]
    bust = triangles[(corners[..., 1] > 1.2).all(axis=1) & (np.abs(corners[..., 0]) < 0.25).all(axis=1)]
    muscles, report = fit_to_skin(placement.muscles, placement.skeleton, points, bust)
    left_out = {left.name for left in report.left_out}
    kept = {muscle.name for muscle in muscles}
    assert kept | left_out == {muscle.name for muscle in placement.muscles}
    assert not kept & left_out
    assert {"pectoralis major, sternal, left", "trapezius, upper, right"} <= kept
    assert {"soleus, medial, left", "flexor carpi ulnaris, right", "rectus femoris, right"} <= left_out
    assert any("no skin" in note for note in report.notes)
    surface = np.concatenate([muscle.positions for muscle in muscles])
    assert surface[:, 1].min() > 1.1


def test_a_body_of_separate_limbs_is_fitted_as_one(data: Path) -> None:
    character = read_character(data / "mesh2motion" / "human-male.glb")
    mesh = character.body().mesh
    placement = place(TEMPLATE, character.skeleton, recognise(character.skeleton))
    muscles, report = fit_to_skin(placement.muscles, placement.skeleton, mesh.points, mesh.triangles())
    assert len(muscles) == len(placement.muscles) >= 150
    assert "57 pieces" in report.notes[0]
    small = {muscles[m].name for m in np.flatnonzero(np.minimum(report.width, report.thickness) < 0.25)}
    assert small == {name for name, _ in report.squeezed}  # across the gaps between trunk and limbs
    assert np.median(report.thickness) > 0.8
    inside = _inside(
        mesh.points.astype(np.float64),
        mesh.triangles().astype(np.int64),
        _surface(musculature(muscles, character.skeleton, placement.scapulae)).reshape(-1, 3),
    )
    assert inside.mean() > 0.995  # a few, where limbs leave gaps between them


def test_a_skin_without_triangles_is_refused(data: Path) -> None:
    _, placement, points, _ = _person(data / "human" / f"{PEOPLE[0]}.glb")
    with pytest.raises(EcorcheError, match="triangles have shape"):
        fit_to_skin(placement.muscles, placement.skeleton, points, np.zeros((0, 3), np.int64))


@pytest.mark.parametrize(
    ("scale", "shift", "message"),
    [
        (100.0, 0.0, "the skin is 1[0-9]{2} times as large as the skeleton's muscles.*in one unit"),
        (0.01, 0.0, "the skin is [89][0-9] times smaller than the skeleton's muscles.*in one unit"),
        (1.0, 1.0, "the skin is not where the skeleton is.*beyond them.*in one place"),
        (1.0, 0.3, "the skin is not where the skeleton is"),
        (-1.0, 0.0, "inside out.*clockwise.*Flip its faces"),
    ],
)
def test_a_skin_of_another_size_or_place_or_inside_out_is_refused(
    data: Path, scale: float, shift: float, message: str
) -> None:
    _, placement, points, triangles = _person(data / "human" / f"{PEOPLE[0]}.glb")
    moved = abs(scale) * points + (shift, 0.0, 0.0)
    faces = triangles if scale > 0.0 else triangles[:, ::-1]
    with pytest.raises(MeshError, match=message):
        fit_to_skin(placement.muscles, placement.skeleton, moved, faces)
