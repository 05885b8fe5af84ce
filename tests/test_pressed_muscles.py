"""Muscles that give way to skin which is pressed into them."""

from __future__ import annotations

import igl
import numpy as np
import numpy.typing as npt
import trimesh

from ecorche.base.threads import at_most_threads
from ecorche.muscles.pressed_surfaces import PressedSurfaces
from ecorche.skin.pressed_muscles import PressedMuscles

Floats = npt.NDArray[np.float64]
Singles = npt.NDArray[np.float32]


def muscle(
    radius: float, at: tuple[float, float, float] = (0.0, 0.0, 0.0)
) -> tuple[Floats, npt.NDArray[np.int64]]:
    """A muscle 16 cm long along x."""
    ball = trimesh.creation.icosphere(3)
    return ball.vertices * [0.08, radius, radius] + np.array(at), np.asarray(ball.faces, np.int64)


def sheet(height: float, dent: float = 0.0) -> tuple[Singles, Singles]:
    """Skin above that faces up and is pressed down at its middle, 2 cm wide [m]; points and normals."""
    x, z = (v.ravel() for v in np.meshgrid(np.linspace(-0.1, 0.1, 41), np.linspace(-0.03, 0.03, 13)))
    down = dent * np.exp(-(x**2 + z**2) / 0.02**2)
    points = np.stack([x, height - down, z], axis=1).astype(np.float32)
    return points, np.tile(np.array([0.0, 1.0, 0.0], np.float32), (len(points), 1))


def alone(points: Floats, triangles: npt.NDArray[np.integer]) -> PressedSurfaces:
    return PressedSurfaces(points, triangles, np.zeros(len(triangles)))


def pressed(radius: float, height: float) -> tuple[PressedMuscles, Singles, npt.NDArray[np.int64]]:
    points, triangles = muscle(radius)
    skin, up = sheet(height)
    own = PressedMuscles(alone(points, triangles), skin, up, np.arange(len(skin)))
    return own, points.astype(np.float32), triangles.astype(np.int64)


def depth(points: Singles, triangles: npt.NDArray[np.int64], skin: Singles) -> float:
    at, asked = points.astype(np.float64), skin.astype(np.float64)
    inside = igl.fast_winding_number(at, triangles, asked) > 0.5
    return float(np.sqrt(igl.point_mesh_squared_distance(asked[inside], at, triangles)[0].max(initial=0.0)))


def test_nothing_moves_where_skin_is_not_in_a_muscle() -> None:
    own, points, _ = pressed(0.02, 0.025)
    assert own.give_way(points, *sheet(0.025)) is points
    assert own.give_way(points, *sheet(0.021)) is points


def test_a_thick_muscle_is_dented_and_a_thin_one_goes_aside() -> None:
    for radius in (0.03, 0.008):
        own, points, triangles = pressed(radius, radius + 0.002)
        skin, up = sheet(radius + 0.002, 0.01)
        assert depth(points, triangles, skin) > 0.007
        moved = own.give_way(points, skin, up)
        assert depth(moved, triangles, skin) < 0.0004
        step = moved - points
        top = int(points[:, 1].argmax())
        bottom, end = int(points[:, 1].argmin()), int(points[:, 0].argmax())
        assert step[top, 1] < -0.007
        assert abs(step[end]).max() < 1e-6
        # the far side stays with a thick one
        assert step[bottom, 1] > -0.0005 if radius > 0.01 else step[bottom, 1] < -0.004


def test_skin_in_a_muscle_at_bind_does_not_press() -> None:
    points, triangles = muscle(0.02)
    skin, up = sheet(0.015)
    middle = np.flatnonzero((np.abs(skin[:, 0]) < 0.03) & (np.abs(skin[:, 2]) < 0.008))
    own = PressedMuscles(alone(points, triangles), skin, up, middle)
    still = points.astype(np.float32)
    assert own.give_way(still, *sheet(0.012)) is still


def test_it_gives_way_to_the_side_where_the_skin_was_not() -> None:
    # deeper than half the muscle: the nearest way out would be through its other side
    own, points, triangles = pressed(0.006, 0.008)
    skin, up = sheet(0.008, 0.0095)
    assert depth(points, triangles, skin) > 0.003
    moved = own.give_way(points, skin, up)
    assert (moved[:, 1] - points[:, 1]).max() < 1e-5
    assert moved[points[:, 1].argmax(), 1] < -0.001


def test_it_goes_with_the_depth_without_jumps_and_is_the_same_on_one_thread() -> None:
    own, points, _ = pressed(0.015, 0.017)
    found = [own.give_way(points, *sheet(0.017, dent)) for dent in np.arange(0.0, 0.012, 0.0002)]
    steps = np.abs(np.diff(found, axis=0)).max(axis=(1, 2))
    assert steps.max() < 0.0003
    with at_most_threads(1):
        alone = own.give_way(points, *sheet(0.017, 0.01))
    assert alone.tobytes() == own.give_way(points, *sheet(0.017, 0.01)).tobytes()


def test_each_muscle_gives_way_by_itself() -> None:
    first, triangles = muscle(0.015)
    second, _ = muscle(0.015, (0.0, -0.035, 0.0))
    skin, up = sheet(0.017)
    both = PressedSurfaces(
        np.concatenate([first, second]),
        np.concatenate([triangles, triangles + len(first)]),
        np.repeat([0, 1], len(triangles)),
    )
    own = PressedMuscles(both, skin, up, np.arange(len(skin)))
    points = np.concatenate([first, second]).astype(np.float32)
    moved = own.give_way(points, *sheet(0.017, 0.008))
    assert np.abs(moved - points)[: len(first)].max() > 0.005
    assert moved[len(first) :].tobytes() == points[len(first) :].tobytes()


def test_a_muscle_pressed_from_both_sides_gives_way_to_both() -> None:
    # a sleeve of skin winds to and fro and the muscle in it does not: going out of the way of one side it
    # comes over the other
    radius = 0.006
    points, triangles = muscle(radius)
    x, angle = (v.ravel() for v in np.meshgrid(np.linspace(-0.075, 0.075, 41), np.arange(24) * np.pi / 12.0))
    up = np.stack([np.zeros_like(x), np.cos(angle), np.sin(angle)], axis=1)
    skin = np.stack([x, 0.0 * x, 0.0 * x], axis=1)
    skin += (radius * np.sqrt(1.0 - (x / 0.09) ** 2) + 0.002)[:, None] * up
    wound = skin + np.stack([0.0 * x, 0.01 * np.sin(2.0 * np.pi * x / 0.1), 0.0 * x], axis=1)
    skin, wound, up = (v.astype(np.float32) for v in (skin, wound, up))
    own = PressedMuscles(alone(points, triangles), skin, up, np.arange(len(skin)))
    still, corners = points.astype(np.float32), triangles.astype(np.int64)
    assert depth(still, corners, wound) > 0.005
    assert depth(own.give_way(still, wound, up), corners, wound) < 0.0004
