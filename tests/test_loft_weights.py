"""Which skin follows which muscle found in it: all of it over the belly, none behind, without steps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest

import ecorche.skin.loft_weights
from characters import tube
from ecorche.body.character import Character
from ecorche.muscles.lofted import LoftedMuscle, Rings
from ecorche.muscles.lofted_posing import Lofts
from ecorche.skin.loft_weights import SkinOver, carriers, loft_weights, skin_over

Floats = npt.NDArray[np.float64]

LENGTH, RADIUS = 1.0, 0.1
OUT = np.array([0.0, 0.0, 1.0])


def _limb(rings: int = 65, around: int = 48) -> Character:
    """A tube along +Y of two bones, 1 m long and 0.1 m in radius."""
    return tube(rings=rings, around=around)


def _muscle(wide: float = 0.04, thick: float = 0.03, **changes: object) -> LoftedMuscle:
    """A muscle below the front of the tube, +Z, which its ellipses touch."""
    u = np.linspace(0.2, 0.8, 7)
    swell = np.sin(np.pi * (u - 0.05) / 0.9)
    half = np.column_stack([thick * swell, wide * swell])
    root = RADIUS - thick
    centre = np.column_stack([RADIUS - thick * swell - root, np.zeros(7)])
    made = LoftedMuscle(
        name="front",
        muscle="front",
        group="tube",
        joints=(0, 1),
        ends=np.array([[0.0, 0.1, root], [0.0, 0.9, root]]),
        outward=OUT,
        rings=Rings(u, centre, half, np.zeros(7)),
        reach=(0, 1),
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def _over(character: Character, *muscles: LoftedMuscle, painted: dict[int, Floats] | None = None) -> SkinOver:
    mesh = character.meshes[0].mesh
    return skin_over(mesh.points, mesh.triangles(), Lofts(muscles, character.skeleton), painted or {})


def _angle(points: Floats) -> Floats:
    """From the front, round the tube [rad]."""
    return np.abs(np.arctan2(points[:, 0], points[:, 2]))


def test_the_tube_is_as_these_tests_take_it() -> None:
    points = _limb().meshes[0].mesh.points
    np.testing.assert_allclose(np.linalg.norm(points[:, [0, 2]], axis=1), RADIUS, atol=1e-6)
    assert np.ptp(points[:, 1]) == pytest.approx(LENGTH)


def test_skin_over_the_belly_follows_wholly_and_the_far_side_not_at_all() -> None:
    character = _limb()
    points = character.meshes[0].mesh.points.astype(np.float64)
    weight = _over(character, _muscle()).weight[0]
    middle = np.abs(points[:, 1] - 0.5) < 0.12
    assert (middle & (_angle(points) < 0.15)).sum() > 20
    assert (weight[middle & (_angle(points) < 0.15)] > 0.98).all()
    assert (weight[middle & (_angle(points) < 0.3)] > 0.92).all()
    assert (weight[_angle(points) > np.radians(100.0)] == 0.0).all()
    assert (weight[(points[:, 1] < 0.1) | (points[:, 1] > 0.9)] == 0.0).all()
    assert ((weight >= 0.0) & (weight <= 1.0)).all()


def test_a_muscle_that_fills_its_limb_does_not_move_the_skin_behind_it() -> None:
    """Of a thin limb the far side is as near to the ellipse as the near one."""
    character = _limb()
    points = character.meshes[0].mesh.points.astype(np.float64)
    weight = _over(character, _muscle(wide=0.095, thick=0.095)).weight[0]
    middle = np.abs(points[:, 1] - 0.5) < 0.12
    assert (weight[middle & (_angle(points) < 0.5)] > 0.95).all()
    assert (weight[middle & (_angle(points) > np.radians(150.0))] == 0.0).all()


def test_a_broad_muscle_reaches_no_further_beyond_its_edge_than_a_narrow_one_as_thick() -> None:
    character = _limb()
    points = character.meshes[0].mesh.points.astype(np.float64)
    row = np.abs(points[:, 1] - 0.5) < 0.01

    def edge(wide: float) -> float:
        """How far round the tube the muscle moves skin, beyond where its ellipse ends [m]."""
        weight = _over(character, _muscle(wide=wide, thick=0.02)).weight[0]
        return float((RADIUS * np.sin(_angle(points)))[row & (weight > 0.05)].max() - wide)

    assert edge(0.05) < edge(0.025) + 0.012


def test_weights_are_even_along_every_edge_also_on_a_coarse_skin(monkeypatch: pytest.MonkeyPatch) -> None:
    def step(rings: int, around: int) -> float:
        """The largest difference of weights along an edge."""
        corners = _limb(rings, around).meshes[0].mesh.triangles()
        weight = _over(_limb(rings, around), _muscle()).weight[0]
        assert weight.max() > 0.7
        return max(float(np.abs(weight[corners[:, k]] - weight[corners[:, k - 1]]).max()) for k in range(3))

    assert step(257, 192) < 0.65 * step(129, 96)  # nothing is cut off
    assert step(17, 14) < 0.4  # edges of 4 to 8 cm, on a muscle 8 cm wide
    monkeypatch.setattr(ecorche.skin.loft_weights, "EVENED", 0)
    assert step(17, 14) > 0.6


def test_seams_have_the_same_weights_on_both_sides() -> None:
    """Every triangle with vertices of its own, as files with flat shading have them."""
    mesh = _limb().meshes[0].mesh
    whole = _over(_limb(), _muscle()).weight[0]
    corners = mesh.triangles().reshape(-1)
    lofts = Lofts([_muscle()], _limb().skeleton)
    apart = skin_over(mesh.points[corners], np.arange(len(corners)).reshape(-1, 3), lofts, {})
    assert apart.weight[0].tobytes() == whole[corners].tobytes()


def test_small_features_of_the_skin_are_moved_as_a_whole() -> None:
    """A wart's normals point everywhere; its weights are those of the skin round it."""
    character = _limb()
    mesh = character.meshes[0].mesh
    points = mesh.points.astype(np.float64)
    smooth = _over(character, _muscle()).weight[0]
    wart = int(np.argmin(np.linalg.norm(points - [0.0, 0.5, RADIUS], axis=1)))
    points[wart] += 0.004 * OUT
    lofts = Lofts([_muscle()], character.skeleton)
    rough = skin_over(points, mesh.triangles(), lofts, {}).weight[0]
    np.testing.assert_allclose(rough, smooth, atol=0.02)


def test_what_is_painted_counts_as_it_is_painted_and_is_placed_along_the_muscle() -> None:
    character = _limb()
    points = character.meshes[0].mesh.points.astype(np.float64)
    painted = np.where(points[:, 2] < 0.0, 0.7, 0.0)  # the far side, where nothing would be found
    over = _over(character, _muscle(), painted={0: painted})
    assert over.weight[0].tobytes() == painted.tobytes()
    on_it = (painted > 0.0) & (points[:, 1] > 0.15) & (points[:, 1] < 0.85)
    np.testing.assert_allclose(over.place[0][on_it], (points[on_it, 1] - 0.1) / 0.8, atol=0.03)


def test_muscle_joints_share_all_of_the_weight_on_each_limb_that_carries_the_muscle() -> None:
    character = _limb()
    weights = character.meshes[0].weights
    assert weights is not None
    over = _over(character, _muscle())
    hung = carriers(over, weights, Lofts([_muscle()], character.skeleton))
    assert hung == [(0, 1)]  # the muscle crosses the joint in the middle of the tube
    lofts = Lofts([_muscle()], character.skeleton, carriers=hung)
    found = loft_weights(over, lofts)
    for carrier in hung[0]:
        own = lofts.joints.parents[found.joints] == carrier
        total = np.bincount(found.vertices[own], found.weights[own], minlength=len(over.weight[0]))
        np.testing.assert_allclose(total, over.weight[0], atol=1e-12)
    # at most the two muscle joints of each limb that a vertex lies between
    assert np.bincount(found.vertices).max() <= 4
    assert found.from_parent


def test_a_joint_that_the_muscle_may_not_move_carries_none_of_it() -> None:
    character = _limb()
    weights = character.meshes[0].weights
    assert weights is not None
    muscle = _muscle(reach=(1,))
    assert carriers(_over(character, muscle), weights, Lofts([muscle], character.skeleton)) == [(1,)]


def test_skin_far_from_any_muscle_is_left_alone() -> None:
    character = _limb()
    mesh = character.meshes[0].mesh
    lofts = Lofts([_muscle()], character.skeleton)
    over = skin_over(mesh.points + np.float32(10.0), mesh.triangles(), lofts, {})
    assert not over.weight.any()
    assert len(loft_weights(over, lofts).vertices) == 0
