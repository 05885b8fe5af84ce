"""Lofts of ellipses: through their rings, C1, closed, and of the same volume at any length and tension."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import pairwise

import igl
import numpy as np
import numpy.typing as npt
import pytest
import trimesh
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from ecorche.errors import EcorcheError
from ecorche.muscles.loft import THINNEST, Loft, loft
from ecorche.muscles.loft_mesh import DRAWN_IN, LoftSurfaces, loft_surfaces
from ecorche.muscles.lofted import LoftedMuscle, Rings, Wrap
from ecorche.muscles.lofted_posing import Lofts
from ecorche.muscles.posed_lofts import PosedLofts
from ecorche.muscles.wrapping import ANGLE
from ecorche.skeleton.skeleton import Skeleton

Floats = npt.NDArray[np.float64]
STILL = np.zeros((2, 4, 4))


def random_rings(seed: int, roughness: float = 0.8) -> Rings:
    """Up to a dozen ellipses of wildly different sizes and directions."""
    random = np.random.default_rng(seed)
    count = int(random.integers(1, 13))
    u = np.sort(random.uniform(0.03, 0.97, count))
    u = np.linspace(0.1, 0.9, count) if (np.diff(u) < 2e-3).any() else u
    return Rings(
        u,
        0.01 * random.normal(size=(count, 2)),
        0.01 * np.exp(roughness * random.normal(size=(count, 2))),
        random.uniform(-7.0, 7.0, count),
    )


def muscle(rings: Rings, name: str = "muscle", wrap: Wrap | None = None) -> LoftedMuscle:
    ends = np.array([[0.0, 0.0, 0.0], [0.0, 0.3, 0.0]])
    return LoftedMuscle(name, name, name, (0, 1), ends, np.array([0.0, 0.2, 1.0]), rings, wrap)


@cache
def two_bones() -> Skeleton:
    local = np.tile(np.eye(4), (2, 1, 1))
    local[1, 1, 3] = 0.15
    return Skeleton(("upper", "lower"), np.array([-1, 0], np.int32), local, local, np.full((2, 3), np.nan))


def stretched(relative: float) -> Floats:
    """The insertion moved along the muscle, which is 0.3 m long at bind."""
    difference = np.zeros((2, 4, 4))
    difference[1, 1, 3] = 0.3 * (relative - 1.0)
    return difference


def test_a_loft_goes_through_its_rings_and_ends_in_points() -> None:
    for seed in range(50):
        rings = random_rings(seed)
        shape = loft(rings)
        stretch, centre = shape.at(rings.u)
        np.testing.assert_allclose(centre, rings.centre, atol=1e-15)
        sizes = np.sort(np.linalg.eigvalsh(stretch), axis=1)
        np.testing.assert_allclose(sizes, np.sort(rings.half_axes, axis=1), rtol=1e-9)
        longer = np.where(
            (rings.half_axes[:, 0] >= rings.half_axes[:, 1])[:, None],
            np.stack([np.cos(rings.angle), np.sin(rings.angle)], axis=1),
            np.stack([-np.sin(rings.angle), np.cos(rings.angle)], axis=1),
        )
        longest = np.linalg.norm((stretch @ longer[..., None])[..., 0], axis=1)
        np.testing.assert_allclose(longest, rings.half_axes.max(axis=1), rtol=1e-9)
        ends, off = shape.at([0.0, 1.0])
        assert np.abs(ends).max() < 1e-16
        assert np.abs(off).max() < 1e-16


def test_the_same_ellipse_told_otherwise_gives_the_same_loft() -> None:
    """Half-axes swapped and turned by a quarter, or the angle turned by half a turn."""
    rings = random_rings(3)
    swapped = replace(rings, half_axes=rings.half_axes[:, ::-1], angle=rings.angle + 0.5 * np.pi)
    turned = replace(rings, angle=rings.angle + np.pi * np.arange(len(rings.u)))
    u = np.linspace(0.0, 1.0, 101)
    for other in (swapped, turned):
        np.testing.assert_allclose(loft(other).at(u)[0], loft(rings).at(u)[0], atol=1e-15)


def test_no_section_is_thinner_than_nothing_and_none_leaves_its_rings() -> None:
    u = np.linspace(0.0, 1.0, 4001)
    for seed in range(200):
        rings = random_rings(seed)
        stretch, _ = loft(rings).at(u)
        sizes = np.linalg.eigvalsh(stretch)
        assert sizes[1:-1].min() > 0.0
        assert sizes.max() <= rings.half_axes.max() * 1.2
        # monotone: each number of S and of the centre stays between those of the rings on both sides
        knots = np.concatenate([[0.0], rings.u, [1.0]])
        there = loft(rings).at(knots)
        for here, nodes in zip(loft(rings).at(u), there, strict=True):
            for first, last in pairwise(range(len(knots))):
                inside = (u >= knots[first]) & (u <= knots[last])
                low, high = np.minimum(nodes[first], nodes[last]), np.maximum(nodes[first], nodes[last])
                assert (here[inside] >= low - 1e-12).all()
                assert (here[inside] <= high + 1e-12).all()


def test_a_loft_has_no_corner() -> None:
    for seed in range(20):
        rings = random_rings(seed)
        shape = loft(rings)
        h = 1e-7
        for knot in rings.u:
            (a, ca), (b, cb), (c, cc) = (shape.at([knot + d]) for d in (-h, 0.0, h))
            np.testing.assert_allclose(
                (b - a) / h,
                (c - b) / h,
                atol=1e-3 * np.abs(b).max() / np.diff(np.concatenate([[0.0], rings.u, [1.0]])).min(),
            )
            np.testing.assert_allclose((cb - ca) / h, (cc - cb) / h, atol=1e-2)


def test_the_volume_is_that_of_quadrature() -> None:
    for seed in range(5):
        shape = loft(random_rings(seed))
        for kappa in (-0.5, 0.0, 0.7):

            def area(u: float, shape: Loft = shape, kappa: float = kappa) -> float:
                grown = (1.0 + kappa * float(shape.bulging(u))) ** 2
                return float(np.pi * np.linalg.det(shape.at(u)[0]) * grown)

            whole = quad(area, 0.0, 1.0, points=list(shape.knots[1:-1]), limit=400, epsabs=0.0, epsrel=1e-12)
            assert float(shape.volume(0.3, kappa)) == pytest.approx(0.3 * whole[0], rel=1e-11)


@given(st.integers(0, 10_000))
def test_volume_is_kept_from_half_to_half_again_the_length(seed: int) -> None:
    shape = loft(random_rings(seed))
    relative = np.linspace(0.5, 1.5, 41)
    kappa = shape.dilation(relative)
    volume = shape.volume(0.3 * relative, kappa)
    np.testing.assert_allclose(volume, shape.volume(0.3), rtol=1e-12)
    assert (np.diff(kappa) < 0.0).all()
    assert kappa.min() > THINNEST
    assert shape.dilation(1.0) == 0.0


def test_a_muscle_stretched_beyond_all_measure_is_held_and_one_of_no_length_is_finite() -> None:
    shape = loft(random_rings(1))
    assert shape.dilation(1000.0) == THINNEST
    assert np.isfinite(shape.dilation(1e-9))
    assert shape.dilation(1e-9) == shape.dilation(0.05)


def test_tension_changes_no_volume_and_no_area() -> None:
    lofts = Lofts([muscle(random_rings(4))], two_bones())
    u = np.linspace(0.0, 1.0, 33)
    rest, tense = (lofts.posed(stretched(0.8), bulge).sections(0, u) for bulge in (1.0, 1.35))
    np.testing.assert_allclose(np.linalg.det(tense[1]), np.linalg.det(rest[1]), rtol=1e-12)
    circle = np.array([1.0, 0.0])
    np.testing.assert_allclose((tense[1] @ circle)[:, 0], 1.35 * (rest[1] @ circle)[:, 0], rtol=1e-12)
    np.testing.assert_allclose((tense[1] @ circle)[:, 1], (rest[1] @ circle)[:, 1] / 1.35, rtol=1e-12)


def mesh_volume(surfaces: LoftSurfaces, posed: PosedLofts, number: int = 0) -> float:
    return float(surface(surfaces, posed, number).volume)


def surface(surfaces: LoftSurfaces, posed: PosedLofts, number: int) -> trimesh.Trimesh:
    triangles = surfaces.triangles[surfaces.triangle_starts[number] : surfaces.triangle_starts[number + 1]]
    first, last = surfaces.vertex_starts[number : number + 2]
    return trimesh.Trimesh(surfaces.points(posed)[first:last], triangles - first, process=False)


def test_the_mesh_is_closed_and_its_volume_tends_to_the_exact_one() -> None:
    for seed in range(6):
        lofts = Lofts([muscle(random_rings(seed, 0.4))], two_bones())
        posed = lofts.posed(stretched(0.7), 1.2)
        exact = posed.volumes()[0]
        assert exact == pytest.approx(float(lofts.shapes[0].volume(0.3)), rel=1e-12)
        errors = []
        for resolution in (16, 32, 64):
            surfaces = loft_surfaces(lofts, rings=8 * resolution, sides=resolution)
            mesh = surface(surfaces, posed, 0)
            assert mesh.is_watertight
            assert mesh.is_winding_consistent
            assert mesh.euler_number == 2
            errors.append(1.0 - mesh.volume / exact)
        assert 0.0 < errors[2] < 4e-3
        assert errors[0] / errors[2] > 10.0  # second order would be 16
        assert surfaces.uv.min() >= 0.0
        assert surfaces.uv.max() <= 1.0


def test_every_resolution_lies_on_the_same_surface() -> None:
    lofts = Lofts([muscle(random_rings(7))], two_bones())
    posed = lofts.posed(STILL)
    coarse, fine = loft_surfaces(lofts, rings=3, sides=4), loft_surfaces(lofts, rings=7, sides=8)
    a, b = coarse.points(posed)[1:-1].reshape(3, 4, 3), fine.points(posed)[1:-1].reshape(7, 8, 3)
    np.testing.assert_allclose(a, b[1::2, ::2], atol=1e-15)


def test_a_mesh_bent_over_a_joint_has_the_volume_that_pappus_says() -> None:
    """That of the straightened muscle, and more where sections lie outside of the curve that bends."""
    size = np.array([0.02, 0.03])
    over = Wrap("sphere", 0, np.array([0.0, 0.15, -0.04]), np.array([-1.0, 0.0, 0.0]), 0.04)
    places = np.array([0.1, 0.3, 0.5, 0.7, 0.9])
    for off in (0.0, 0.006):
        rings = Rings(places, np.tile([off, 0.0], (5, 1)), np.tile(size, (5, 1)), np.zeros(5))
        lofts = Lofts([replace(muscle(rings, wrap=over), outward=np.array([0.0, 0.0, 1.0]))], two_bones())
        surfaces = loft_surfaces(lofts, rings=400, sides=64)
        at_bind = mesh_volume(surfaces, lofts.posed(STILL))
        for angle in np.radians([40.0, 100.0]):
            c, s = np.cos(angle), np.sin(angle)
            turn = np.array([[1.0, 0.0, 0.0], [0.0, c, s], [0.0, -s, c]])
            difference = np.zeros((2, 4, 4))
            difference[1, :3, :3] = turn - np.eye(3)
            difference[1, :3, 3] = over.centre - turn @ over.centre
            posed = lofts.posed(difference)
            assert posed.curves.rows[0, ANGLE] == pytest.approx(angle)
            # the belly is even where it bends
            _, stretch, _ = posed.sections(0, [0.5])
            more = np.pi * np.linalg.det(stretch[0]) * off * angle
            assert mesh_volume(surfaces, posed) == pytest.approx(at_bind + more, rel=2e-4)


@pytest.mark.parametrize("backwards", [False, True])
def test_a_branch_starts_inside_its_trunk_without_a_hole(backwards: bool) -> None:
    """Both are closed, and every place on the way out of the trunk is inside one of them."""
    plain = Rings(np.linspace(0.2, 0.8, 5), np.zeros((5, 2)), np.tile([0.02, 0.025], (5, 1)), np.zeros(5))
    trunk = muscle(plain, "trunk")
    ends = np.array([[0.0, 0.13, 0.0], [0.08, 0.3, 0.0]])
    rings = Rings(np.array([0.5, 0.7]), np.zeros((2, 2)), np.full((2, 2), 0.012), np.zeros(2))
    branch = replace(trunk, name="branch", ends=ends, rings=rings, joins="trunk")
    if backwards:
        flipped = replace(rings, u=1.0 - rings.u[::-1])
        branch = replace(branch, ends=ends[::-1], rings=flipped, joints=(1, 0))
    lofts = Lofts([trunk, branch], two_bones())
    surfaces = loft_surfaces(lofts, rings=40, sides=24)
    for pose in (STILL, stretched(0.8), stretched(1.2)):
        posed = lofts.posed(pose)
        meshes = [surface(surfaces, posed, number) for number in range(2)]
        for mesh in meshes:
            assert mesh.is_watertight
            assert mesh.is_winding_consistent
            assert mesh.volume > 0.0
        # from where the branch leaves the trunk on along the branch's own middle
        rings_of_branch = meshes[1].vertices[1:-1].reshape(40, 24, 3)
        middles = rings_of_branch.mean(axis=1)
        apart = igl.winding_number(
            *(np.asarray(a) for a in (meshes[1].vertices, meshes[1].faces)), middles[1:-1]
        )
        np.testing.assert_allclose(apart, 1.0, atol=1e-6)
        # its cap lies in the trunk
        cap = rings_of_branch[-1 if backwards else 0]
        inside = igl.winding_number(np.asarray(meshes[0].vertices), np.asarray(meshes[0].faces), cap)
        np.testing.assert_allclose(inside, 1.0, atol=1e-6)
        far = igl.winding_number(
            np.asarray(meshes[1].vertices),
            np.asarray(meshes[1].faces),
            middles[1:-1] + np.array([0.0, 0.0, 0.1]),
        )
        np.testing.assert_allclose(far, 0.0, atol=1e-6)
    assert np.cos(np.pi / 20.0) > DRAWN_IN  # of the usual polygon, too


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"u": np.array([0.2, 0.2])}, "do not rise"),
        ({"u": np.array([0.0, 0.5])}, "do not rise"),
        ({"u": np.array([0.5, 1.0])}, "do not rise"),
        ({"half_axes": np.array([[0.01, 0.01], [0.01, 0.0]])}, "ring 1 has a half-axis of 0 m"),
        ({"half_axes": np.array([[0.01, 0.01], [0.01, np.nan]])}, "a half-axis of ring"),
        ({"centre": np.zeros((3, 2))}, "shape"),
        ({"u": np.zeros(0)}, "at least one ring"),
    ],
)
def test_rings_that_give_no_shape_are_refused(change: dict[str, Floats], message: str) -> None:
    rings = Rings(np.array([0.3, 0.6]), np.zeros((2, 2)), np.full((2, 2), 0.01), np.zeros(2))
    with pytest.raises(EcorcheError, match=message):
        Lofts([muscle(replace(rings, **change))], two_bones())


def test_surfaces_of_too_few_rings_or_of_other_muscles_are_refused() -> None:
    lofts = Lofts([muscle(random_rings(0))], two_bones())
    two = Lofts([muscle(random_rings(0), "a"), muscle(random_rings(0), "b")], two_bones())
    with pytest.raises(EcorcheError, match="enclose no muscle"):
        loft_surfaces(lofts, rings=2)
    with pytest.raises(EcorcheError, match="does not fit surfaces of 1"):
        loft_surfaces(lofts).points(two.posed(STILL))
