"""Found muscles go with the flesh they lie in: under the posed skin, of the same volume, exact at bind."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
import trimesh

from characters import tube
from conftest import Figure
from ecorche.base.rotations import matrix_from_xyzw, normalise, xyzw_from_axis_angle
from ecorche.base.threads import at_most_threads
from ecorche.base.transforms import compose
from ecorche.muscles.loft_flesh import SIDES, STATIONS, Flesh
from ecorche.muscles.loft_mesh import loft_surfaces
from ecorche.muscles.lofted import LoftedMuscle, Rings
from ecorche.muscles.lofted_posing import Lofts
from ecorche.muscles.ring_volume import volume_within
from ecorche.skin.flesh_weights import SkinRound, flesh_round
from ecorche.skin.weights import weights_from_table
from posed_found_muscles import ANGLES, PLACES, POSES, drawn, held, outside_skin, posed_muscles

Floats = npt.NDArray[np.float64]

PEOPLE = ("male_muscular", "male_slim", "female_average", "male_average")


def file(data: Path, who: str) -> Path:
    return data / "human" / f"{who}_cmu_mb.glb"


@pytest.fixture(scope="module")
def front() -> tuple[LoftedMuscle, Lofts, Lofts]:
    """A muscle below the front of a tube of two bones, on its root curve and in the tube's flesh."""
    limb = tube(rings=65, around=48)
    u = np.linspace(0.2, 0.8, 7)
    swell = np.sin(np.pi * (u - 0.05) / 0.9)
    half = np.column_stack([0.03 * swell, 0.04 * swell])
    ends = np.array([[0.0, 0.1, 0.07], [0.0, 0.9, 0.07]])
    centre = np.column_stack([0.027 - 0.03 * swell, np.zeros(7)])
    muscle = LoftedMuscle(
        "front",
        "front",
        "tube",
        (0, 1),
        ends,
        np.array([0.0, 0.0, 1.0]),
        Rings(u, centre, half, np.zeros(7)),
        reach=(0, 1),
    )
    on_curve, mesh = Lofts([muscle], limb.skeleton), limb.meshes[0]
    assert mesh.weights is not None
    flesh = flesh_round(SkinRound(mesh.mesh.points, mesh.mesh.triangles(), mesh.weights), on_curve)
    return muscle, on_curve, on_curve.within(lambda: flesh)


def bent(lofts: Lofts, degrees: float) -> Floats:
    """``M − I`` of the tube's joints, the upper one turned about x where it is."""
    turn = matrix_from_xyzw(xyzw_from_axis_angle(np.array([1.0, 0.0, 0.0]), np.radians(degrees)))
    centre = np.array([0.0, 0.5, 0.0])
    difference = np.zeros((lofts.curves.joint_count, 4, 4))
    difference[1:, :3, :3] = turn - np.eye(3)
    difference[1:, :3, 3] = centre - turn @ centre
    return difference


def test_bind_is_that_of_the_root_curve_and_a_moved_body_moves_its_muscles(
    front: tuple[LoftedMuscle, Lofts, Lofts],
) -> None:
    _, on_curve, in_flesh = front
    still = np.zeros((on_curve.curves.joint_count, 4, 4))
    at_bind = in_flesh.posed(still)
    assert at_bind.dilation[0] == 0.0
    wanted = on_curve.posed(still).rings(0, PLACES, ANGLES)
    np.testing.assert_allclose(at_bind.rings(0, PLACES, ANGLES), wanted, atol=1e-15)
    rigid = compose([0.3, -1.0, 2.0], normalise(np.array([0.3, -0.5, 0.2, 0.7])))
    moved = in_flesh.posed(np.tile(rigid - np.eye(4), (len(still), 1, 1)))
    np.testing.assert_allclose(
        moved.rings(0, PLACES, ANGLES), wanted @ rigid[:3, :3].T + rigid[:3, 3], atol=1e-12
    )
    assert abs(moved.dilation[0]) < 1e-12


def test_a_muscle_bends_with_its_limb_and_keeps_its_volume(
    front: tuple[LoftedMuscle, Lofts, Lofts], figure: Figure
) -> None:
    """On its straight root curve it would stand a hand's breadth away from the bent limb."""
    _, on_curve, in_flesh = front
    surfaces = loft_surfaces(in_flesh, rings=96, sides=48)

    def volume(degrees: float) -> float:
        points = surfaces.points(in_flesh.posed(bent(in_flesh, degrees)))
        return float(trimesh.Trimesh(points, surfaces.triangles, process=False).volume)

    worst = max(abs(volume(degrees) / volume(0.0) - 1.0) for degrees in (-80.0, -40.0, 30.0, 60.0, 90.0))
    figure("volume of a muscle in the flesh of a bent tube", 100.0 * worst, 1.0, "%")
    assert worst < 0.01
    straight = on_curve.posed(bent(on_curve, -80.0)).axes(0, [0.5]).points[0]
    bowed = in_flesh.posed(bent(in_flesh, -80.0))
    hinge = np.array([0.0, 0.5, 0.0])
    assert np.linalg.norm(bowed.axes(0, [0.5]).points[0] - hinge) < 0.08
    assert np.linalg.norm(straight - hinge) > 0.15
    np.testing.assert_allclose(bowed.volumes(), in_flesh.posed(bent(in_flesh, 0.0)).volumes(), rtol=1e-9)


def test_tension_thickens_a_muscle_towards_the_skin_that_follows_it(data: Path) -> None:
    """As much as it moves the skin; its far side gives way, so that its volume stays."""
    lofts = drawn(file(data, "male_muscular"))
    biceps = lofts.names.index("upper arm front, left")
    still, shape = np.zeros((lofts.curves.joint_count, 4, 4)), lofts.shapes[biceps]
    u = float(shape.knots[len(shape.knots) // 2])
    tense = np.where(np.arange(len(lofts.muscles)) == biceps, 1.2, 1.0)
    before, after = (lofts.posed(still, bulge) for bulge in (1.0, tense))
    top = np.sum(
        (after.rings(biceps, [u], [0.0]) - before.rings(biceps, [u], [0.0]))[0, 0]
        * before.axes(biceps, [u]).out[0]
    )
    whole = 0.2 * np.linalg.norm(shape.at([u])[0][0, 0])
    assert 0.7 * whole < top < 1.1 * whole
    np.testing.assert_allclose(after.volumes(), before.volumes(), rtol=1e-9)


def test_skin_across_a_gap_does_not_move_the_flesh() -> None:
    """Two limbs a finger apart, each on a joint of its own."""
    limb = tube(rings=65, around=48).meshes[0].mesh
    beside = np.array([0.0, 0.0, 0.21])
    points = np.concatenate([limb.points, limb.points + beside])
    triangles = np.concatenate([limb.triangles(), limb.triangles() + len(limb.points)])
    joint = np.repeat([0, 1], len(limb.points))
    weights = weights_from_table(joint[:, None], np.ones((len(joint), 1)), 2, "two limbs")
    muscle = LoftedMuscle(
        "near the gap",
        "near the gap",
        "tube",
        (0, 0),
        np.array([[0.0, 0.1, 0.07], [0.0, 0.9, 0.07]]),
        np.array([0.0, 0.0, 1.0]),
        Rings(np.array([0.5]), np.zeros((1, 2)), np.array([[0.028, 0.03]]), np.zeros(1)),
    )
    lofts = Lofts([muscle], tube().skeleton)
    (flesh,) = flesh_round(SkinRound(points, triangles, weights), lofts)
    assert list(flesh.joints) == [0]
    np.testing.assert_allclose(flesh.weights, 1.0)


def test_what_tapers_out_of_the_skin_is_drawn_in_to_it(front: tuple[LoftedMuscle, Lofts, Lofts]) -> None:
    """At bind, where it stays as it is elsewhere, and in a pose."""
    muscle, ends = front[0], np.array([[0.0, 0.1, 0.13], [0.0, 0.9, 0.07]])
    limb = tube(rings=65, around=48)
    lofts, mesh = Lofts([replace(muscle, ends=ends)], limb.skeleton), limb.meshes[0]
    assert mesh.weights is not None
    flesh = flesh_round(SkinRound(mesh.mesh.points, mesh.mesh.triangles(), mesh.weights), lofts)
    still = np.zeros((lofts.curves.joint_count, 4, 4))
    before, after = (
        one.posed(still).rings(0, PLACES, ANGLES) for one in (lofts, lofts.within(lambda: flesh))
    )
    radius = np.linalg.norm(before[..., [0, 2]], axis=-1)
    assert radius.max() > 0.12
    assert np.linalg.norm(after[..., [0, 2]], axis=-1).max() < 0.1002
    inside = (np.linalg.norm(flesh[0].inset, axis=-1) == 0.0).all(axis=1)
    deep = np.interp(PLACES, np.linspace(0.0, 1.0, len(inside)), inside) == 1.0
    assert deep.any()
    assert not deep.all()
    np.testing.assert_allclose(after[deep], before[deep], atol=1e-15)


def test_all_muscles_at_once_are_each_by_itself_on_any_number_of_threads(data: Path) -> None:
    who = file(data, "male_muscular")
    posed = posed_muscles(who, held(who, "raise"))
    count, sides = len(posed.lofts.muscles), 11
    u = np.sort(np.random.default_rng(0).uniform(size=(count, 21)), axis=1)
    together = posed.all_rings(u, sides)
    with at_most_threads(1):
        again = posed.lofts.posed(posed.difference, posed.bulge).all_rings(u, sides)
    assert together.tobytes() == again.tobytes()
    angle = 2.0 * np.pi * np.arange(sides) / sides
    for number in range(0, count, 3):
        np.testing.assert_allclose(together[number], posed.rings(number, u[number], angle), atol=1e-12)


def test_other_flesh_is_not_taken_for_what_was_known_before(front: tuple[LoftedMuscle, Lofts, Lofts]) -> None:
    muscle, _, in_flesh = front
    lofts = Lofts([muscle], tube(rings=65, around=48).skeleton)
    assert lofts.flesh == ()
    (flesh,) = in_flesh.flesh
    first = lofts.within(lambda: (flesh,))
    pose = bent(lofts, 60.0)
    stiff = first.within(lambda: (Flesh(flesh.joints, 0.0 * flesh.weights, flesh.inset),))
    u = np.linspace(0.0, 1.0, 9)[None]
    moved, still = (one.posed(pose).all_rings(u, 8) for one in (first, stiff))
    np.testing.assert_allclose(still, stiff.posed(np.zeros_like(pose)).all_rings(u, 8), atol=1e-15)
    assert np.abs(moved - still).max() > 0.1


def test_a_body_without_such_muscles_has_no_surfaces() -> None:
    limb = tube(rings=9, around=8)
    none = Lofts([], limb.skeleton)
    for lofts in (none, none.within(tuple)):
        posed = lofts.posed(np.zeros((limb.skeleton.joint_count, 4, 4)))
        assert loft_surfaces(lofts).points(posed).shape == (0, 3)
        assert posed.volumes().shape == (0,)


def test_the_volume_within_rings_is_that_of_their_closed_mesh() -> None:
    rng = np.random.default_rng(4)
    angle = 2.0 * np.pi * np.arange(SIDES) / SIDES
    radius = 1.0 + 0.3 * rng.random((STATIONS, SIDES))
    height = np.linspace(0.0, 3.0, STATIONS)[:, None] + 0.02 * rng.random((STATIONS, SIDES))
    rings = np.stack([radius * np.cos(angle), radius * np.sin(angle), height], axis=-1)
    points = np.concatenate([rings.reshape(-1, 3), rings[:1].mean(axis=1), rings[-1:].mean(axis=1)])
    faces = []
    for k in range(STATIONS - 1):
        for j in range(SIDES):
            a, b = k * SIDES + j, k * SIDES + (j + 1) % SIDES
            faces += [[a, b, b + SIDES], [a, b + SIDES, a + SIDES]]
    last = (STATIONS - 1) * SIDES
    for j in range(SIDES):
        faces += [[len(points) - 2, (j + 1) % SIDES, j], [len(points) - 1, last + j, last + (j + 1) % SIDES]]
    mesh = trimesh.Trimesh(points, faces, process=False)
    assert mesh.is_watertight
    assert volume_within(rings) == pytest.approx(mesh.volume, rel=1e-12)


@pytest.mark.parametrize("pose", POSES)
@pytest.mark.parametrize("who", PEOPLE)
def test_found_muscles_stay_under_the_posed_skin(data: Path, figure: Figure, who: str, pose: str) -> None:
    outside = outside_skin(file(data, who), held(file(data, who), pose))
    common = {name: float(np.percentile(gaps, 95.0)) for name, gaps in outside.items()}
    worst = max(gaps.max() for gaps in outside.values())
    figure(f"found muscles of {who} outside the skin, {pose}, farthest", 1e3 * worst, 4.0, "mm")
    figure("the same, 95 of 100 points of each muscle within", 1e3 * max(common.values()), 1.0, "mm")
    assert worst < 0.004
    for name, gap in common.items():
        assert gap < 0.001, name


def test_muscles_of_a_posed_man_keep_their_volume(data: Path, figure: Figure) -> None:
    lofts = drawn(file(data, "male_muscular"))
    surfaces = loft_surfaces(lofts, rings=64, sides=36)
    parts = np.split(surfaces.triangles, surfaces.triangle_starts[1:-1])

    def volumes(points: Floats) -> Floats:
        return np.array([trimesh.Trimesh(points, part, process=False).volume for part in parts])

    at_bind = volumes(surfaces.points(lofts.posed(np.zeros((lofts.curves.joint_count, 4, 4)))))
    worst = 0.0
    for pose in POSES:
        posed = posed_muscles(file(data, "male_muscular"), held(file(data, "male_muscular"), pose))
        worst = max(worst, float(np.abs(volumes(surfaces.points(posed)) / at_bind - 1.0).max()))
    figure("volume of the meshes of a posed man's muscles", 100.0 * worst, 1.0, "%")
    assert worst < 0.01


def test_nothing_jumps_while_a_man_squats(data: Path) -> None:
    """Half the step between two poses moves every muscle about half as far."""
    lofts = drawn(file(data, "male_average"))
    moved = posed_muscles(file(data, "male_average"), held(file(data, "male_average"), "squat")).difference
    for share in (0.3, 0.6, 0.9):
        a, b, c = (lofts.posed(moved * (share + step)) for step in (0.0, 0.005, 0.01))
        for number in range(len(lofts.muscles)):
            first, middle, last = (posed.rings(number, PLACES, ANGLES[::4]) for posed in (a, b, c))
            assert np.abs(first - 2.0 * middle + last).max() < 5e-4


def test_a_muscle_moved_by_one_joint_goes_with_it(front: tuple[LoftedMuscle, Lofts, Lofts]) -> None:
    muscle, _, in_flesh = front
    flesh = in_flesh.flesh[0]
    one = replace(flesh, joints=np.array([1]), weights=np.ones((STATIONS, SIDES, 1)), bows=None)
    lofts = Lofts([replace(muscle, joints=(1, 1))], tube().skeleton).within(lambda: (one,))
    difference = bent(lofts, 50.0)
    wanted = lofts.posed(np.zeros_like(difference)).rings(0, PLACES, ANGLES)
    wanted = wanted + wanted @ difference[1, :3, :3].T + difference[1, :3, 3]
    np.testing.assert_allclose(lofts.posed(difference).rings(0, PLACES, ANGLES), wanted, atol=1e-12)
