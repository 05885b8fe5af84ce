"""Muscles give way to bones: a sheet that a ball is pressed into, and one that it stands in."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from anatomy_shapes import ball
from ecorche.base.threads import at_most_threads
from ecorche.muscles.bone import Bone
from ecorche.muscles.lines.attached import Attached
from ecorche.muscles.lines.frames import line_frames
from ecorche.muscles.lines.line_mesh import LineMeshes
from ecorche.muscles.lines.muscle_on_lines import muscle_on_lines
from line_muscles import mesh_volume

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

LONG, WIDE, THICK = 0.12, 0.08, 0.003
RADIUS = 0.012
ABOVE = 0.03
"""How high the ball is over the sheet at bind [m]."""


def sheet() -> tuple[Floats, Ints]:
    """A closed sheet in the xz plane, 3 mm thick, [m]."""
    columns, rows = 31, 21
    x, z = np.meshgrid(np.linspace(0.0, LONG, columns), np.linspace(-0.5, 0.5, rows) * WIDE, indexing="ij")
    flat = np.stack([x, np.zeros_like(x), z], axis=-1).reshape(-1, 3)
    up = np.array([0.0, 0.5 * THICK, 0.0])
    points = np.concatenate([flat + up, flat - up])
    number = np.arange(columns * rows).reshape(columns, rows)
    a, b, c, d = (
        number[:-1, :-1].ravel(),
        number[1:, :-1].ravel(),
        number[:-1, 1:].ravel(),
        number[1:, 1:].ravel(),
    )
    top = np.concatenate([np.stack([a, c, b], 1), np.stack([b, c, d], 1)])
    rim = np.concatenate([number[:, 0], number[-1, 1:], number[-2::-1, -1], number[0, -2:0:-1]])
    after, below = np.roll(rim, -1), columns * rows
    side = np.concatenate(
        [np.stack([rim, after, rim + below], 1), np.stack([after, after + below, rim + below], 1)]
    )
    return points, np.concatenate([top, top[:, ::-1] + below, side])


def pressed(bones: bool = True, flat: float = 1.0, above: float = ABOVE) -> LineMeshes:
    """The sheet held at both ends by joint 0, and a ball on joint 1 above its middle, so flat and so high."""
    points, triangles = sheet()
    nodes = np.stack([np.linspace(0.0, LONG, 7), np.zeros(7), np.zeros(7)], axis=1)
    lines = line_frames(
        [0, 7], nodes, np.array([[0, 0]], np.int32), outward=[[0.0, 1.0, 0.0]], names=("sheet",)
    )
    ends = np.flatnonzero((points[:, 0] < 0.01) | (points[:, 0] > LONG - 0.01))
    muscle = muscle_on_lines(
        "sheet", points, triangles, lines, [0], attached=[Attached(ends.astype(np.int32), 0, 0.01)]
    )
    mesh = ball(np.array([0.5 * LONG, above, 0.0]), np.array([1.0, flat, 1.0]) * RADIUS)
    bone = Bone("ball", 1, mesh.points, mesh.triangles.astype(np.int32))
    # a body of a metre: what is small and near is told by its extent
    far = Bone("far", 0, mesh.points - (1.0, 0.0, 0.0), mesh.triangles.astype(np.int32))
    return LineMeshes(lines, [muscle], [bone, far] if bones else [])


def posed(meshes: LineMeshes, down: float, aside: float = 0.0) -> Floats:
    """The sheet's vertices with the ball so far down and aside [m], (V, 3)."""
    moved = np.zeros((2, 4, 4))
    moved[1, :3, 3] = aside, -down, 0.0
    nodes = meshes.lines.nodes
    return meshes.posed(nodes, meshes.lines.posed(nodes, moved).frames, moved).points


def depth(points: Floats, down: float, aside: float = 0.0) -> Floats:
    """How deep vertices lie in the ball [m], (V,)."""
    centre = np.array([0.5 * LONG + aside, ABOVE - down, 0.0])
    return np.asarray(RADIUS - np.linalg.norm(points - centre, axis=1))


def normals(points: Floats, triangles: npt.NDArray[np.integer]) -> Floats:
    a, b, c = np.moveaxis(points[triangles], 1, 0)
    across = np.cross(b - a, c - a)
    return np.asarray(across / np.linalg.norm(across, axis=1, keepdims=True))


@pytest.fixture(scope="module")
def flesh() -> LineMeshes:
    return pressed()


def test_a_ball_makes_a_dent_that_fades_and_holds_volume_and_ends(flesh: LineMeshes) -> None:
    down = ABOVE - RADIUS + 0.004  # its lowest place is 2.5 mm below the upper side, 0.5 mm above the lower
    plain, dented = posed(pressed(bones=False), down), posed(flesh, down)
    triangles = flesh.muscles[0].triangles
    assert depth(plain, down).max() > 0.004
    assert depth(dented, down).max() < 0.0015
    assert mesh_volume(dented, triangles) == pytest.approx(mesh_volume(flesh.bind, triangles), rel=1e-9)
    held = flesh.muscles[0].hold.max(axis=1) >= 1.0 - 1e-12
    assert np.abs(dented - flesh.bind)[held].max() < 1e-12
    moved = np.linalg.norm(dented - flesh.bind, axis=1)
    away = np.linalg.norm((flesh.bind - (0.5 * LONG, 0.0, 0.0))[:, [0, 2]], axis=1)
    assert moved[away < 0.004].min() > 0.0025
    assert moved[away > 0.04].max() < 0.1 * moved.max()
    assert np.sum(normals(dented, triangles) * normals(flesh.bind, triangles), axis=1).min() > 0.3


def test_both_sides_of_the_sheet_go_together(flesh: LineMeshes) -> None:
    dented = posed(flesh, ABOVE - RADIUS + 0.004)
    upper, lower = np.split(dented, 2)
    thick = np.linalg.norm(upper - lower, axis=1)
    assert thick.min() > 0.5 * THICK  # 0.05 where its sides are not neighbours
    middle = np.argmin(np.linalg.norm(flesh.bind[: len(upper)] - (0.5 * LONG, 0.5 * THICK, 0.0), axis=1))
    assert lower[middle, 1] < -0.5 * THICK - 0.002


def test_where_a_ball_stands_in_the_sheet_all_of_it_leaves_by_one_side(flesh: LineMeshes) -> None:
    down = ABOVE - 0.002  # its middle is 2 mm above that of the sheet
    dented = posed(flesh, down)
    assert depth(posed(pressed(bones=False), down), down).max() > 0.009
    assert depth(dented, down).max() < 0.006
    moved = dented - flesh.bind
    far = np.linalg.norm(moved, axis=1) > 0.002
    assert far.sum() > 20
    assert (moved[far, 1] < 0.0).mean() > 0.9
    triangles = flesh.muscles[0].triangles
    assert (np.sum(normals(dented, triangles) * normals(flesh.bind, triangles), axis=1) > 0.0).all()


def test_a_ball_that_is_through_leaves_all_of_the_sheet_behind(flesh: LineMeshes) -> None:
    dented = posed(flesh, ABOVE + 0.007)  # its middle is 7 mm past that of the sheet
    moved = dented - flesh.bind
    far = np.linalg.norm(moved, axis=1) > 0.0015
    assert far.sum() > 20
    assert (moved[far, 1] > 0.0).all()


def test_a_ball_that_does_not_touch_changes_not_a_bit(flesh: LineMeshes) -> None:
    assert (posed(flesh, 0.0) == flesh.bind).all()
    assert (posed(flesh, 0.01) == posed(pressed(bones=False), 0.01)).all()


def test_a_dent_comes_and_goes_without_a_jump(flesh: LineMeshes) -> None:
    ways = np.arange(ABOVE - RADIUS - 0.003, ABOVE - RADIUS + 0.004, 1e-4)
    frames = np.array([posed(flesh, float(down)) for down in ways])
    step = np.linalg.norm(np.diff(frames, axis=0), axis=2).max(axis=1)
    assert step.max() < 5e-4  # the ball goes 0.1 mm at a time
    slid = np.array([posed(flesh, float(ways[-1]), float(aside)) for aside in np.arange(0.0, 0.01, 2e-4)])
    assert np.linalg.norm(np.diff(slid, axis=0), axis=2).max() < 1.5e-3


def test_what_lay_in_a_bone_at_bind_may_stay_as_deep() -> None:
    points, triangles = sheet()
    nodes = np.stack([np.linspace(0.0, LONG, 7), np.zeros(7), np.zeros(7)], axis=1)
    lines = line_frames(
        [0, 7], nodes, np.array([[0, 0]], np.int32), outward=[[0.0, 1.0, 0.0]], names=("sheet",)
    )
    muscle = muscle_on_lines("sheet", points, triangles, lines, [0])
    mesh = ball(np.array([0.5 * LONG, 0.005, 0.0]), np.full(3, RADIUS))
    meshes = LineMeshes(lines, [muscle], [Bone("ball", 1, mesh.points, mesh.triangles.astype(np.int32))])
    assert (posed(meshes, 0.0) == meshes.bind).all()


def test_the_number_of_threads_does_not_matter(flesh: LineMeshes) -> None:
    down = ABOVE - RADIUS + 0.003
    with at_most_threads(1):
        one = posed(flesh, down)
    assert (posed(flesh, down) == one).all()
