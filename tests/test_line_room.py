"""Mesh muscles swell where they have room: not out of the skin they lie under."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from ecorche.muscles.lines.line_mesh import LineMeshes
from ecorche.muscles.lines.muscle_on_lines import muscle_on_lines
from ecorche.muscles.lines.room import SWELLS, swelling_share
from line_muscles import bent, mesh_volume, spindle, straight_line

Floats = npt.NDArray[np.float64]
SKIN = 0.021
"""The skin is the plane x = this [m], a millimetre beside a spindle along z."""


def spindle_under_skin(room: bool) -> LineMeshes:
    points, triangles = spindle()
    lines = straight_line()
    way = np.zeros_like(points)
    way[:, 0] = SKIN - points[:, 0]
    bound = muscle_on_lines("calf", points, triangles, lines, [0], room=way if room else None)
    return LineMeshes(lines, [bound])


def shortened(meshes: LineMeshes, shorter: float) -> Floats:
    nodes, moved = bent(meshes.lines, 0.0, shorter)
    return meshes.posed(nodes, meshes.lines.posed(nodes, moved).frames, moved).points


def test_what_lies_close_under_the_skin_swells_less_and_the_rest_more() -> None:
    free, under = spindle_under_skin(False), spindle_under_skin(True)
    assert (shortened(under, 1.0) == under.bind).all()
    one, other = shortened(free, 0.6), shortened(under, 0.6)
    assert one[:, 0].max() > SKIN + 0.003
    assert other[:, 0].max() < SKIN
    assert other[:, 0].min() < one[:, 0].min() - 0.001
    volumes = [mesh_volume(points, under.muscles[0].triangles) for points in (under.bind, other)]
    assert volumes[1] == pytest.approx(volumes[0], rel=1e-9)


def test_nothing_that_swells_as_much_as_foreseen_leaves_its_room() -> None:
    dice = np.random.default_rng(3)
    growth, room = dice.normal(size=(500, 3)), dice.normal(size=(500, 3)) * dice.uniform(0, 1, (500, 1))
    share = swelling_share(growth, room)
    size = np.linalg.norm(room, axis=1)
    went = SWELLS * share * np.sum(growth * room, axis=1) / size
    assert (went < size).all()
    away = np.sum(growth * room, axis=1) <= 0.0
    assert (share[away] == 1.0).all()
    assert (share[~away] < 1.0).all()
    assert (swelling_share(growth, np.zeros_like(growth)) == 1.0).all()
