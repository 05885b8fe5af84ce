"""The neighbourhood a muscle gets where nobody names one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from characters import tube
from ecorche.base.signed_distance import SignedSurface
from ecorche.body.muscles import _neighbourhoods
from ecorche.io.formats import read_character
from ecorche.muscles.fit import fit_to_skin
from ecorche.muscles.muscle import Reach
from ecorche.muscles.musculature import musculature
from ecorche.muscles.template import TEMPLATE, place
from ecorche.skeleton.naming import recognise
from ecorche.skin.neighbourhood import suitable_neighbourhoods


def test_a_muscle_that_fills_its_limb_thickens_it_all_round_and_a_belly_moves_what_is_over_it() -> None:
    mesh = tube(rings=17, around=32, radius=0.1).meshes[0].mesh
    skin = SignedSurface(mesh.points, mesh.triangles())
    out = np.tile([0.0, 0.0, 1.0], (2, 1))
    centres = np.array([[0.0, 0.5, 0.0], [0.0, 0.5, 0.05]])
    assert suitable_neighbourhoods(centres, out, np.array([0.08, 0.03]), skin) == ["radial", "fitted"]


def test_almost_all_muscles_of_a_human_move_what_is_over_them(data: Path) -> None:
    character = read_character(data / "human" / "male_average_cmu_mb.glb")
    mesh = character.body().mesh
    placed = place(TEMPLATE, character.skeleton, recognise(character.skeleton))
    fitted, _ = fit_to_skin(placed.muscles, placed.skeleton, mesh.points, mesh.triangles())
    nobody_says = [replace(m, reach=Reach(joints=m.reach.joints)) for m in fitted]
    body = musculature(nobody_says, character.skeleton, placed.scapulae)
    found = dict(zip(body.names, _neighbourhoods(body, mesh.points, mesh.triangles()), strict=True))
    assert found["biceps brachii, long head, right"] == found["vastus lateralis, left"] == "fitted"
    assert list(found.values()).count("radial") < 0.1 * len(found)
