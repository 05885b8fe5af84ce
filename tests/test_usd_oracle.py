"""OpenUSD's own skinning tests and their baked answers, which nobody here wrote."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from conftest import Figure
from ecorche.io.usd import read_character
from ecorche.skeleton.kinematics import difference_from_bind
from ecorche.skin.methods import make_skinning


@pytest.mark.parametrize(("name", "tolerance"), [("lbs", 1e-6), ("dqs", 1e-5)])
def test_skinning_equals_the_baked_answer(data: Path, name: str, tolerance: float, figure: Figure) -> None:
    character = read_character(data / "usdskel" / f"{name}.usda")
    baked = read_character(data / "usdskel" / f"{name}.baked.usda")
    assert baked.cache is not None
    assert len(baked.cache) == character.motions[0].frame_count == 30
    worst = 0.0
    for number, mesh in enumerate(character.meshes):
        assert mesh.weights is not None
        assert mesh.skinning == ("dual_quaternion" if name == "dqs" else None)
        skinning = make_skinning(
            mesh.skinning or "linear", mesh.mesh.points, mesh.weights, character.skeleton
        )
        for frame in range(30):
            moved = difference_from_bind(character.skeleton, character.motions[0].local[frame])
            apart = skinning.apply(moved) - baked.cache[frame].points[number]
            worst = max(worst, float(np.abs(apart).max()))
    # in the file's own unit, in which its answers are two units tall
    worst /= character.metres_per_unit
    figure(f"OpenUSD's own baked answers, {name}, 30 frames", worst, tolerance, "units")
    assert worst < tolerance


@pytest.mark.parametrize("name", ["lbs", "dqs"])
def test_a_baked_file_keeps_its_binding(data: Path, name: str) -> None:
    character = read_character(data / "usdskel" / f"{name}.usda")
    baked = read_character(data / "usdskel" / f"{name}.baked.usda")
    assert baked.skeleton.names == character.skeleton.names
    assert np.array_equal(baked.skeleton.bind_world, character.skeleton.bind_world)
    assert np.array_equal(baked.motions[0].local, character.motions[0].local)
    assert np.array_equal(baked.motions[0].times, baked.cache.times if baked.cache else [])
    for ours, theirs in zip(character.meshes, baked.meshes, strict=True):
        assert ours.weights is not None
        assert theirs.weights is not None
        assert np.array_equal(ours.weights.weights, theirs.weights.weights)
        assert np.array_equal(ours.mesh.points, theirs.mesh.points)
