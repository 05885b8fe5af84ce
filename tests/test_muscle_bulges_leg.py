"""Legs of real people in a squat and on tiptoe: what bulges where, by how much, and what must not move."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from conftest import ROOT, Figure
from limb_in_pose import (
    PEOPLE,
    Limb,
    carried,
    limb_at,
    moving,
    muscles_of,
    person,
    poses,
    shares,
    thickness_below,
)

SQUAT = ROOT / "examples" / "squat.pose"
SQUATTING, ON_TIPTOE = 1.5, 4.0
"""When the example's body is down and held, and when it stands on its toes [s]."""
LEG_GROUPS = (
    "hip extensors",
    "hip abductors",
    "hip flexors",
    "hip adductors",
    "knee extensors",
    "knee flexors",
    "ankle dorsiflexors",
    "ankle plantarflexors",
    "ankle evertors",
    "toe extensors",
    "toe flexors",
    "foot arch muscles",
)
THIGH, SHANK = ("hip", "knee"), ("knee", "talocrural")
"""Joints at both ends of a limb."""


def _limb(data: Path, name: str, time: float, side: str, limb: tuple[str, str]) -> Limb:
    frames = moving(data / "human" / f"{name}.glb", SQUAT)
    return limb_at(frames, time, *(f"{side}_{joint}" for joint in limb))


@pytest.mark.parametrize("side", ["r", "l"])
@pytest.mark.parametrize(
    ("time", "limb", "group"),
    [(SQUATTING, THIGH, "knee extensors"), (ON_TIPTOE, SHANK, "ankle plantarflexors")],
    ids=["squat", "tiptoe"],
)
@pytest.mark.parametrize("name", PEOPLE)
def test_the_limb_bulges_most_over_the_belly_at_work(
    data: Path, name: str, time: float, limb: tuple[str, str], group: str, side: str, figure: Figure
) -> None:
    leg = _limb(data, name, time, side, limb)
    working = [m for m, muscle in enumerate(leg.muscles.musculature.muscles) if muscle.group == group]
    assert leg.activation[working].max() > 0.85
    assert leg.outward[leg.peak] > 0.004
    assert leg.is_over_a_belly(leg.peak, group)
    growth = leg.growth(leg.plain[leg.peak])
    figure(f"girth at the {group} against plain skinning, {name} {side}", growth, 0.02, "share")
    assert 0.02 < growth < 0.10
    assert leg.dent > -leg.outward[leg.peak]  # no furrow beside a bulge is as deep as the bulge is high


@pytest.mark.parametrize("name", PEOPLE)
def test_no_vertex_moves_by_more_than_the_muscle_below_is_thick(data: Path, name: str) -> None:
    """Half its thickness along S_d at bind, anywhere on the body in the deepest poses."""
    for time, limb in ((SQUATTING, THIGH), (ON_TIPTOE, SHANK)):
        leg = _limb(data, name, time, "r", limb)
        moved = np.linalg.norm(leg.muscled - leg.plain, axis=1)
        assert moved.max() > 0.004
        assert (moved <= thickness_below(person(data / "human" / f"{name}.glb")) + 1e-5).all()


@pytest.mark.parametrize("name", PEOPLE)
def test_paths_neither_bowstring_nor_drag_the_skin(data: Path, name: str, figure: Figure) -> None:
    """With shapes held as at bind, what moves the skin is where the path went: it must go with the limb.

    What remains on rigid skin is the rectus femoris, whose belly slides towards the knee as the hip bends.
    """
    path = data / "human" / f"{name}.glb"
    body = person(path)
    parts = shares(body, "hip", "knee")
    rigid, leg = parts.max(axis=0) > 0.995, parts.sum(axis=0) > 0.5
    own = np.array([muscle.group in LEG_GROUPS for muscle in muscles_of(body).musculature.muscles])
    ratios, on_limb, on_leg = [], [], []
    for motion in (SQUAT, data / "cmu" / "02_01.bvh", data / "cmu" / "13_39.bvh"):
        for difference in poses(path, motion, 5):
            moved, lengths = carried(body, difference)
            ratios.append(lengths[own])
            on_limb.append(moved[rigid])
            on_leg.append(moved[leg])
    figure(f"shortest muscle of the leg over its bind length, {name}", float(np.min(ratios)), 0.6, "share")
    figure(f"path error over rigid skin of the leg, {name}", float(np.max(on_limb)), 0.006, "m")
    assert np.min(ratios) > 0.6
    assert np.max(ratios) < 1.5
    assert np.max(on_limb) < 0.006
    assert np.percentile(on_limb, 99.0) < 0.002
    assert np.max(on_leg) < 0.010  # where linear skinning folds the groin
