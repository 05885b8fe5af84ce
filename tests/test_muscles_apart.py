"""Muscles that press on each other: both give way, at bind neither does."""

from __future__ import annotations

import igl
import numpy as np
import numpy.typing as npt
import trimesh

from conftest import Figure
from ecorche.base.threads import at_most_threads
from ecorche.muscles.muscles_apart import MusclesApart
from ecorche.muscles.pressed_surfaces import PressedSurfaces

Floats = npt.NDArray[np.float64]
Singles = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]

RADIUS = 0.02
GAP = 0.003


def two(between: float) -> tuple[Floats, Ints, Ints]:
    """Two muscles 16 cm long, one above the other, so far apart [m]; points, triangles, muscle of a point."""
    ball = trimesh.creation.icosphere(3)
    one = ball.vertices * [0.08, RADIUS, RADIUS]
    points = np.concatenate([one, one + np.array([0.0, 2.0 * RADIUS + between, 0.0])])
    faces = np.asarray(ball.faces, np.int64)
    return points, np.concatenate([faces, faces + len(one)]), np.repeat([0, 1], len(one))


def pair(between: float = GAP) -> MusclesApart:
    points, triangles, owner = two(between)
    return MusclesApart(
        PressedSurfaces(points, triangles, owner[triangles[:, 0]]), owner, np.ones(len(points))
    )


def deepest(points: Singles, triangles: Ints, owner: Ints) -> float:
    """How deep a vertex of one muscle is in the other [m]."""
    at, worst = points.astype(np.float64), 0.0
    for m in (0, 1):
        own = triangles[owner[triangles[:, 0]] == m]
        asked = at[owner != m]
        inside = igl.fast_winding_number(at, own, asked) > 0.5
        far = igl.point_mesh_squared_distance(asked[inside], at, own)[0]
        worst = max(worst, float(np.sqrt(far.max(initial=0.0))))
    return worst


def pressed(by: float) -> tuple[Singles, Ints, Ints]:
    points, triangles, owner = two(-by)
    return points.astype(np.float32), triangles, owner


def test_at_bind_and_apart_nothing_moves() -> None:
    muscles = pair()
    for between in (GAP, 0.001, 0.02):
        points = two(between)[0].astype(np.float32)
        assert muscles.apart(points) is points


def test_both_give_way_alike_and_are_out_of_each_other(figure: Figure) -> None:
    points, triangles, owner = pressed(0.006)
    moved = pair().apart(points)
    assert deepest(points, triangles, owner) > 0.005
    left = deepest(moved, triangles, owner)
    figure("two muscles pressed by 6 mm: left in each other", 1e3 * left, 1.0, "mm")
    assert left < 0.001
    step = moved - points
    top, bottom = int(points[owner == 0, 1].argmax()), int(points[owner == 1, 1].argmin())
    lower, upper = step[owner == 0][top, 1], step[owner == 1][bottom, 1]
    assert -0.004 < lower < -0.002
    assert abs(lower + upper) < 0.0005  # as far as each other, in both directions
    ends = np.abs(points[:, 0]) > 0.07
    assert np.abs(step[ends]).max() < 0.1 * np.abs(step).max()


def test_a_muscle_is_not_squeezed_to_nothing() -> None:
    points, triangles, owner = pressed(0.03)
    moved = pair().apart(points)
    for m in (0, 1):
        own = triangles[owner[triangles[:, 0]] == m]
        before, after = (
            float(np.sum(np.cross(p[own[:, 0]], p[own[:, 1]]) * p[own[:, 2]]))
            for p in (points.astype(np.float64), moved.astype(np.float64))
        )
        assert 0.85 < after / before < 1.0


def test_muscles_that_lie_in_each_other_at_bind_stay_so() -> None:
    points, triangles, owner = two(-0.006)
    muscles = MusclesApart(
        PressedSurfaces(points, triangles, owner[triangles[:, 0]]), owner, np.ones(len(points))
    )
    still = points.astype(np.float32)
    assert muscles.apart(still) is still


def test_tendons_do_not_press() -> None:
    points, triangles, owner = two(GAP)
    muscles = MusclesApart(
        PressedSurfaces(points, triangles, owner[triangles[:, 0]]), owner, np.zeros(len(points))
    )
    now = pressed(0.006)[0]
    assert muscles.apart(now) is now


def test_it_goes_without_jumps_and_is_the_same_on_one_thread() -> None:
    muscles = pair()
    found = [muscles.apart(pressed(by)[0]) for by in np.arange(-0.001, 0.006, 0.0001)]
    assert np.abs(np.diff(found, 2, axis=0)).max() < 0.0006
    with at_most_threads(1):
        alone = muscles.apart(pressed(0.005)[0])
    assert alone.tobytes() == muscles.apart(pressed(0.005)[0]).tobytes()
