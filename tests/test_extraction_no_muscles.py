"""What stands out in a skin and is no muscle: jaw, mane, feet, what one side alone or two pieces show."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from benchmarks.extraction import extracted

from ecorche.base.closest_point import TriangleSurface
from ecorche.io.formats import read_character
from ecorche.muscles.extraction.build import Extraction
from ecorche.muscles.extraction.bump import Bump, Cut
from ecorche.muscles.extraction.linking import linked
from ecorche.muscles.extraction.pairs import lone
from ecorche.muscles.extraction.pieces import pieces_of
from ecorche.muscles.extraction.rings import SpaceRings


@cache
def found(path: Path) -> Extraction:
    return extracted(read_character(path))


@pytest.mark.parametrize("who", ["slim", "average"])
def test_the_corner_of_a_jaw_is_none(data: Path, who: str) -> None:
    man = found(data / "human" / f"male_{who}_cmu_mb.glb")
    assert not [m.name for m in man.muscles if m.name.startswith("neck side")]
    assert any("corner of jaw" in note for note in man.notes)


def test_a_horse_has_none_in_its_mane_and_below_hock_and_carpus(data: Path) -> None:
    horse = found(data / "mesh2motion" / "horse-animations.glb")
    assert not [m.name for m in horse.muscles if m.name.startswith("neck to shoulder back")]
    assert any("mane" in reason for _, reason in horse.left_out)
    assert not [m.name for m in horse.muscles if m.name.startswith(("back_leg_ankle", "front_leg_lower"))]
    below = [part for part, reason in horse.left_out if reason.startswith("hand or foot")]
    assert sum(part.startswith(("back_leg_ankle", "front_leg_lower")) for part in below) == 4
    assert any(m.name.startswith("front_leg_upper") for m in horse.muscles)


def test_the_mannequins_trunk_has_none_on_one_side_only(data: Path) -> None:
    names = [m.name for m in found(data / "mesh2motion" / "human-male.glb").muscles]
    sides = Counter(name.split(", ")[1] for name in names if name.startswith(("hip", "abdomen", "shoulder")))
    assert sides["left"] == sides["right"] > 0


def test_the_mannequins_limbs_show_the_same_on_both_sides(data: Path) -> None:
    """His skin is even to the last bit."""
    mannequin = found(data / "mesh2motion" / "human-male.glb")
    told = {
        (m.name, len(t.bumps), round(1e4 * t.prominence))
        for m, t in zip(mannequin.muscles, mannequin.tracks, strict=True)
        if m.name.startswith(("upper arm", "forearm", "thigh", "lower leg"))
    }
    left = {(name.removesuffix(", left"), *rest) for name, *rest in told if name.endswith(", left")}
    right = {(name.removesuffix(", right"), *rest) for name, *rest in told if name.endswith(", right")}
    assert len(left) > 10
    assert left == right


def rings_at(x: float, y: float) -> SpaceRings:
    """Six rings along z, 1 cm wide."""
    top = np.column_stack([np.full(6, x), np.full(6, y), np.linspace(0.0, 0.1, 6)])
    form = np.tile(np.diag([1e-4, 1e-5, 0.0]), (6, 1, 1))
    outward = np.tile([0.0, 1.0, 0.0], (6, 1))
    return SpaceRings(top, top - 0.005 * outward, form, outward, np.linspace(0.0, 1.0, 6))


def test_one_side_alone_counts_where_the_other_is_other_skin() -> None:
    corners = np.array([[-1.0, 0.0, -1.0], [1.0, 0.0, -1.0], [1.0, 0.0, 1.0], [-1.0, 0.0, 1.0]])
    flat = TriangleSurface(corners, np.array([[0, 2, 1], [0, 3, 2]]))
    midplane = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    pair = [rings_at(0.3, 0.0), rings_at(-0.3, 0.0), rings_at(0.1, 0.0)]
    assert lone(pair, [1, -1, 1], midplane, flat) == [2]
    assert lone(pair, [1, -1, 0], midplane, flat) == []  # a limb's
    assert lone([rings_at(0.3, 0.05)], [1], midplane, flat) == []  # the other side does not bulge so


def test_no_muscle_goes_from_one_piece_of_skin_to_another() -> None:
    triangles = np.array([[0, 1, 2], [2, 1, 3], [4, 5, 6]])
    pieces = pieces_of(triangles, 7)
    assert (pieces[:4] == pieces[0]).all()
    assert pieces[4] != pieces[0]
    turn = 2.0 * np.pi * np.arange(16) / 16
    ring = np.column_stack([np.cos(turn), np.sin(turn)]) * 0.1
    cuts = [
        Cut(
            0,
            rank,
            rank / 11.0,
            np.array([0.0, 0.0, 0.01 * rank]),
            np.eye(3),
            np.column_stack([ring, np.full(16, 0.01 * rank)]),
            ring,
            True,
        )
        for rank in range(12)
    ]
    bumps = [Bump(rank, 2, 6, 4, 0.02, np.ones(5)) for rank in range(12)]
    assert len(linked(cuts, bumps).tracks) == 1
    apart = [replace(cut, piece=int(cut.rank >= 6)) for cut in cuts]
    assert [len(t.bumps) for t in linked(apart, bumps).tracks] == [6, 6]
