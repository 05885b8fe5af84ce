"""In a deep squat the muscles of hip, thigh and calf go where the skin goes, and stay inside it."""

from __future__ import annotations

from pathlib import Path

import igl
import numpy as np
import numpy.typing as npt
import pytest
from benchmarks.muscle_people import PEOPLE, Pair, motion_file, performed

from conftest import Figure
from ecorche.muscles.spindle_mesh import Stations, spindle_surfaces
from ecorche.skeleton.kinematics import difference_from_bind

Floats = npt.NDArray[np.float64]

GOING_DOWN, SQUATTING = 24, 47
"""Frames of examples/squat.pose: on the way, and down."""
LIMITS = {
    "hip extensors": 0.008,
    "knee extensors": 0.006,
    "knee flexors": 0.011,
    "hip adductors": 0.009,
    "ankle plantarflexors": 0.010,
}
"""How far outside the skin a group may come [m]. Of the last three it is tendons and heads in the hollow of
the knee, where linear skinning caves in."""


def _outside(pair: Pair, index: int) -> Floats:
    """How far each muscle comes through the skin in a frame [m], (muscles,)."""
    muscles, character = pair.muscles.musculature, pair.muscled.body.character
    difference = difference_from_bind(character.skeleton, pair.muscled.motion.local[index])
    assert pair.muscled.activation is not None
    surfaces = spindle_surfaces(muscles.spindles)
    frames, states = muscles.posed(difference, pair.muscles.bulge(pair.muscled.activation[index]))
    points = surfaces.points(states, Stations(*frames.at(surfaces.t)))
    skin, _ = pair.skins(index)
    triangles = character.meshes[pair.muscles.skin].mesh.triangles().astype(np.int64)
    outside = igl.fast_winding_number(skin, triangles, points) < 0.5
    gap = np.zeros(len(points))
    if outside.any():
        gap[outside] = np.sqrt(igl.point_mesh_squared_distance(points[outside], skin, triangles)[0])
    return np.maximum.reduceat(gap, surfaces.vertex_starts[:-1])


@pytest.mark.parametrize("person", PEOPLE)
def test_no_muscle_of_the_leg_is_left_behind_by_the_skin(data: Path, person: str, figure: Figure) -> None:
    """The gluteus maximus above all: the skin over it goes down and forward as the hip bends."""
    pair = performed(data / "human" / f"{PEOPLE[person]}.glb", motion_file(data, "squat"))
    worst = np.maximum(_outside(pair, GOING_DOWN), _outside(pair, SQUATTING))
    muscles = pair.muscles.musculature.muscles
    for group, limit in LIMITS.items():
        of_group = [n for n, muscle in enumerate(muscles) if muscle.group == group]
        assert len(of_group) >= 4
        name = muscles[of_group[int(worst[of_group].argmax())]].name
        figure(f"{group} outside the skin in a squat, {person}", worst[of_group].max(), limit, "m")
        assert worst[of_group].max() < limit, name
