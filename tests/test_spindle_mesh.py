"""The surface round a spindle is closed, faces outwards, and holds the muscle's volume ever more exactly."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
import trimesh

from ecorche.errors import EcorcheError
from ecorche.muscles.spindle import Spindles, spindle_from_numbers
from ecorche.muscles.spindle_mesh import (
    SpindleSurfaces,
    Stations,
    ring_places,
    spindle_surfaces,
    straight_stations,
)
from ecorche.muscles.volume import contract, exact_volume
from spindle_shapes import random_spindles

Floats = npt.NDArray[np.float64]


def parts(surfaces: SpindleSurfaces, points: Floats) -> list[trimesh.Trimesh]:
    """One mesh a muscle, with nothing merged or mended."""
    meshes = []
    for i in range(len(surfaces.t)):
        rows = slice(surfaces.vertex_starts[i], surfaces.vertex_starts[i + 1])
        faces = surfaces.triangles[surfaces.triangle_starts[i] : surfaces.triangle_starts[i + 1]]
        meshes.append(trimesh.Trimesh(points[rows], faces - surfaces.vertex_starts[i], process=False))
    return meshes


def somewhere(spindles: Spindles, t: Floats, seed: int = 0) -> Stations:
    """Straight paths of the bind lengths, anywhere and in any direction."""
    rng = np.random.default_rng(seed)
    count = len(spindles)
    span = rng.normal(size=(count, 3))
    span *= spindles.bind_length[:, None] / np.linalg.norm(span, axis=1, keepdims=True)
    start = rng.normal(size=(count, 3))
    return straight_stations(start, start + span, rng.normal(size=(count, 3)), t)


def arc(length: float, angle: float, t: Floats, out: str = "radial") -> Stations:
    """One path along a circle in the xy plane; S_d points to its centre or along z."""
    radius = length / angle
    turn = t * angle
    radial = np.stack([np.cos(turn), np.sin(turn), np.zeros_like(turn)], axis=-1)
    along = np.stack([-np.sin(turn), np.cos(turn), np.zeros_like(turn)], axis=-1)
    axis = np.broadcast_to([0.0, 0.0, 1.0], radial.shape)
    return Stations(radius * radial, along, radial if out == "radial" else axis)


@pytest.mark.parametrize(("rings", "sides"), [(3, 3), (4, 7), (24, 16)])
def test_every_surface_is_closed_and_faces_outwards(rings: int, sides: int) -> None:
    spindles = random_spindles(60, 21)
    surfaces = spindle_surfaces(spindles, rings=rings, sides=sides)
    states = contract(spindles, spindles.bind_length, bulge=1.2)
    pointed = (spindles.thickness[:, 0, 0] == 0.0).astype(int) + (spindles.thickness[:, 1, 3] == 0.0)
    assert set(pointed) == {0, 1, 2}
    points = surfaces.points(states, somewhere(spindles, surfaces.t))
    assert len(points) == surfaces.vertex_starts[-1]
    for i, mesh in enumerate(parts(surfaces, points)):
        assert mesh.is_watertight
        assert mesh.is_winding_consistent
        assert mesh.euler_number == 2
        assert mesh.volume > 0.0
        assert len(mesh.vertices) == (rings - pointed[i]) * sides + 2
        assert mesh.area_faces.min() > 0.0
        assert len(np.unique(mesh.faces)) == len(mesh.vertices)


def test_the_frame_is_right_handed_and_the_half_axes_lie_as_said() -> None:
    """Muscle along z, S_d along x: then S = along × out is y."""
    spindles = spindle_from_numbers(0.4, 0.02, belly=0.5, scale=2.0, arch=0.01, lean=0.03)
    surfaces = spindle_surfaces(spindles, rings=5, sides=4)
    stations = straight_stations([[0, 0, 0]], [[0, 0, 0.4]], [[3.0, 0, 1.0]], surfaces.t)
    side = np.cross(stations.along, stations.out)
    np.testing.assert_allclose(side[0, 0], [0, 1, 0])
    np.testing.assert_allclose(np.cross(stations.out, side), stations.along, atol=1e-15)
    points = surfaces.points(contract(spindles, [0.4], bulge=1.25), stations)
    # a point, three rings, a point: the belly is the middle ring, from S_d towards S
    np.testing.assert_allclose(
        points[5:9] - [0.01, 0.03, 0.2],
        [[0.05, 0, 0], [0, 0.016, 0], [-0.05, 0, 0], [0, -0.016, 0]],
        atol=1e-16,
    )


def test_rings_stand_evenly_on_both_sides_of_the_belly() -> None:
    places = ring_places(np.array([0.5, 0.01, 0.97, 0.3]), 9)
    np.testing.assert_array_equal(places[:, [0, -1]], np.tile([0.0, 1.0], (4, 1)))
    assert np.all(np.diff(places, axis=1) > 0.0)
    for row, belly in zip(places, (0.5, 0.01, 0.97, 0.3), strict=True):
        assert belly in row
    np.testing.assert_allclose(places[0], np.linspace(0, 1, 9))


def test_the_volume_converges_with_the_second_power() -> None:
    spindles = random_spindles(12, 22)
    states = contract(spindles, spindles.bind_length, bulge=1.3)
    exact = exact_volume(spindles.thickness, spindles.belly, spindles.scale, spindles.bind_length)
    errors = []
    for n in (32, 64, 128):
        surfaces = spindle_surfaces(spindles, rings=n + 1, sides=n)
        points = surfaces.points(states, somewhere(spindles, surfaces.t))
        volumes = np.array([mesh.volume for mesh in parts(surfaces, points)])
        errors.append(np.abs(volumes / exact - 1.0))
    order = np.log2(np.array(errors[:-1]) / np.array(errors[1:]))
    assert np.abs(order - 2.0).max() < 0.15
    assert errors[-1].max() < 2e-3


@pytest.mark.parametrize("out", ["radial", "axial"])
def test_a_bent_muscle_holds_what_the_straight_one_holds(out: str) -> None:
    """Pappus: the sections' centres are on the path, so bending about a circle keeps the volume."""
    spindles = spindle_from_numbers(0.3, 0.03, belly=0.4, scale=0.7, tendon_origin=0.005)
    exact = exact_volume(spindles.thickness, spindles.belly, spindles.scale, spindles.bind_length)[0]
    errors = []
    for n in (32, 64, 128):
        surfaces = spindle_surfaces(spindles, rings=n + 1, sides=n)
        points = surfaces.points(contract(spindles, [0.3]), arc(0.3, 1.8, surfaces.t, out))
        (mesh,) = parts(surfaces, points)
        assert mesh.is_watertight
        assert mesh.is_winding_consistent
        errors.append(abs(mesh.volume / exact - 1.0))
    assert np.abs(np.log2(np.array(errors[:-1]) / np.array(errors[1:])) - 2.0).max() < 0.1
    assert errors[-1] < 1e-3


def test_texture_coordinates_run_round_once_and_along_once() -> None:
    spindles = random_spindles(10, 23)
    surfaces = spindle_surfaces(spindles, rings=6, sides=8)
    u, v = surfaces.uv[..., 0], surfaces.uv[..., 1]
    assert surfaces.uv.shape == (len(surfaces.triangles), 3, 2)
    assert (u.min(), u.max(), v.min(), v.max()) == (0.0, 1.0, 0.0, 1.0)
    # no triangle spans the cut, and the unwrapped tube is not folded
    assert np.ptp(u, axis=1).max() <= 1.0 / 8.0 + 1e-15
    edge, other = surfaces.uv[:, 1] - surfaces.uv[:, 0], surfaces.uv[:, 2] - surfaces.uv[:, 0]
    assert (edge[:, 0] * other[:, 1] - edge[:, 1] * other[:, 0]).min() >= 0.0


def test_the_same_triangles_serve_every_frame() -> None:
    spindles = random_spindles(20, 24)
    surfaces = spindle_surfaces(spindles, rings=12, sides=8)
    for stretch in (0.5, 1.4):
        states = contract(spindles, stretch * spindles.bind_length)
        points = surfaces.points(states, somewhere(spindles, surfaces.t))
        assert all(mesh.is_watertight and mesh.volume > 0.0 for mesh in parts(surfaces, points))


def test_no_muscles_make_an_empty_surface() -> None:
    nothing = spindle_from_numbers(np.zeros(0), 0.03)
    surfaces = spindle_surfaces(nothing)
    stations = Stations(*(np.zeros((0, 24, 3)) for _ in range(3)))
    assert surfaces.points(contract(nothing, np.zeros(0)), stations).shape == (0, 3)
    assert surfaces.triangles.shape == (0, 3)


def test_impossible_surfaces_are_refused() -> None:
    spindles = spindle_from_numbers([0.3, 0.3], 0.03)
    with pytest.raises(EcorcheError, match="2 rings of 8 sides enclose no muscle"):
        spindle_surfaces(spindles, rings=2, sides=8)
    surfaces = spindle_surfaces(spindles, rings=5, sides=4)
    ends = np.zeros((2, 3)), np.array([[0, 0.3, 0], [0, 0, 0.0]])
    with pytest.raises(EcorcheError, match="muscle 1: origin and insertion coincide"):
        straight_stations(*ends, np.tile([1.0, 0, 0], (2, 1)), surfaces.t)
    ends[1][1] = [0.3, 0, 0]
    with pytest.raises(EcorcheError, match="muscle 1: its direction S_d runs along the muscle"):
        straight_stations(*ends, np.tile([1.0, 0, 0], (2, 1)), surfaces.t)
    stations = straight_stations(*ends, np.tile([0, 0, 1.0], (2, 1)), surfaces.t)
    with pytest.raises(EcorcheError, match="one frame of the 2 muscles"):
        surfaces.points(contract(spindles, [[0.3, 0.3]]), stations)
    state = contract(spindles, [0.3, 0.3])
    with pytest.raises(EcorcheError, match=r"Give shape \(2, 5, 3\)"):
        surfaces.points(state, Stations(stations.points[:, 1:], stations.along, stations.out))
    broken = stations.points.copy()
    broken[1, 2, 0] = np.nan
    with pytest.raises(EcorcheError, match="muscle 1: the points of its stations are not finite"):
        surfaces.points(state, Stations(broken, stations.along, stations.out))
