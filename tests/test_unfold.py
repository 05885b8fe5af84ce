"""Triangles that are turned over are laid open again: a net of which one knot is drawn past others."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from ecorche.base.threads import at_most_threads
from ecorche.muscles.lines.attached import Attached
from ecorche.muscles.lines.flesh_surface import Surface, surface_of
from ecorche.muscles.lines.frames import line_frames
from ecorche.muscles.lines.muscle_on_lines import muscle_on_lines
from ecorche.muscles.lines.unfold import OPEN, unfold

Floats = npt.NDArray[np.float64]

COUNT, EDGE = 15, 0.01
MIDDLE = COUNT // 2 * COUNT + COUNT // 2


@pytest.fixture(scope="module")
def net() -> Surface:
    """A net of squares in the xz plane, cut along its diagonals; a joint holds one of its sides."""
    number = np.arange(COUNT * COUNT).reshape(COUNT, COUNT)
    x, z = np.meshgrid(np.arange(COUNT) * EDGE, np.arange(COUNT) * EDGE, indexing="ij")
    points = np.stack([x, np.zeros_like(x), z], axis=-1).reshape(-1, 3)
    a, b, c, d = (
        part.ravel() for part in (number[:-1, :-1], number[1:, :-1], number[:-1, 1:], number[1:, 1:])
    )
    triangles = np.concatenate([np.stack([a, c, b], 1), np.stack([b, c, d], 1)])
    nodes = np.stack([np.linspace(0.0, x.max(), 5), np.zeros(5), np.full(5, 0.5 * z.max())], axis=1)
    lines = line_frames(
        [0, 5], nodes, np.array([[0, 0]], np.int32), outward=[[0.0, 1.0, 0.0]], names=("net",)
    )
    side = [Attached(number[0].astype(np.int32), 0, 2.0 * EDGE)]
    muscle = muscle_on_lines("net", points, triangles, lines, [0], attached=side)
    return surface_of([muscle.part], np.array([0, len(points)], np.int32), points)


def opened(net: Surface, points: Floats) -> tuple[int, Floats]:
    """How many triangles ask for it, and the vertices then, of frames that have not turned."""
    out = np.zeros_like(points)
    still = np.tile([0.0, 0.0, 0.0, 1.0], (len(points), 1))
    return unfold(net, still, points, out), points + out


def shown(net: Surface, points: Floats) -> Floats:
    """The area of each triangle from above, over that at bind; negative where it is turned over."""
    a, b, c = np.moveaxis(points[net.triangles], 1, 0)
    return np.asarray(np.sum(net.normals * np.cross(b - a, c - a), axis=1) / net.areas)


def drawn(net: Surface, vertex: int, much: float) -> Floats:
    points = net.bind.copy()
    points[vertex] += (much * EDGE, 0.0, 0.3 * much * EDGE)
    return points


def test_a_knot_drawn_past_its_neighbours_is_let_back_and_nothing_else_moves(net: Surface) -> None:
    points = drawn(net, MIDDLE, 1.6)
    assert (shown(net, points) < 0.0).sum() >= 2
    asking, now = opened(net, points)
    assert asking >= 2
    assert shown(net, now).min() > 0.1 * OPEN
    moved = np.linalg.norm(now - points, axis=1)
    assert moved.max() < EDGE
    assert (moved[np.linalg.norm(net.bind - net.bind[MIDDLE], axis=1) > 4.0 * EDGE] == 0.0).all()


def test_what_lies_open_does_not_change_by_a_bit(net: Surface) -> None:
    for points in (net.bind, drawn(net, MIDDLE, 0.5), 0.3 * net.bind, net.bind * (1.0, 1.0, 0.2)):
        asking, now = opened(net, points)
        assert asking == 0
        assert (now == points).all()


def test_what_a_bone_holds_stays(net: Surface) -> None:
    held = int(np.flatnonzero(net.held)[COUNT // 2])
    points = drawn(net, held, 1.6)
    asking, now = opened(net, points)
    assert asking > 0
    assert (now[net.held] == points[net.held]).all()
    assert shown(net, now).min() > 0.0


def test_it_comes_without_a_jump(net: Surface) -> None:
    frames = np.array([opened(net, drawn(net, MIDDLE, much))[1] for much in np.linspace(0.0, 1.8, 181)])
    assert np.linalg.norm(np.diff(frames, axis=0), axis=2).max() < 0.03 * EDGE  # drawn 0.01 at a time


def test_the_number_of_threads_does_not_matter(net: Surface) -> None:
    points = drawn(net, MIDDLE, 1.6)
    with at_most_threads(1):
        one = opened(net, points)[1]
    assert (opened(net, points)[1] == one).all()
