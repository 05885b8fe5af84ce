"""What production files look like goes through whole: read, moved, baked, converted, checked."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from ecorche.body.compile import compile_body
from ecorche.body.live_frames import LiveFrames
from ecorche.cli import main as cli
from ecorche.io.formats import read_character
from ecorche.io.keyframes import read_keyframes

DOG_BOWS = """clip bow
rate 10
zero bind
at 0
    C_4            0   0    0
    skull          0   0    0
    upper_leg_L    0   0    0
at 0.5
    C_4            0   20  -20
    skull         30   0    15
    upper_leg_L    0   0    40
"""


def ecorche(*arguments: object) -> None:
    """Run a command that must succeed."""
    before, sys.argv = sys.argv, ["ecorche", *map(str, arguments)]
    try:
        with pytest.raises(SystemExit) as stop:
            cli.run()
    finally:
        sys.argv = before
    assert not stop.value.code, arguments


def goes_through(character: Path, folder: Path, *motion: object) -> None:
    """Bake to USD, convert to glTF and back, and find the same skin everywhere within 0.1 mm."""
    usd, glb, npz = (folder / f"take{s}" for s in (".usdc", ".glb", ".npz"))
    ecorche("bake", character, "-o", usd, *motion)
    ecorche("convert", usd, glb)
    ecorche("convert", usd, npz)
    source, baked, played = read_character(character), read_character(usd), read_character(glb)
    assert baked.cache is not None
    assert (
        [m.name for m in baked.meshes] == [m.name for m in source.meshes] == [m.name for m in played.meshes]
    )
    replay = LiveFrames(compile_body(played), played.motions[0])
    assert len(replay) == len(baked.cache) > 1
    for index in (0, len(replay) // 2, len(replay) - 1):
        for ours, theirs in zip(baked.cache[index].points, replay[index].points, strict=True):
            np.testing.assert_allclose(theirs[: len(ours)], ours, atol=1e-4)
    for mesh, again in zip(source.meshes, baked.meshes, strict=True):
        np.testing.assert_array_equal(mesh.mesh.points, again.mesh.points)
        np.testing.assert_array_equal(mesh.mesh.face_indices, again.mesh.face_indices)
        assert [a.name for a in mesh.mesh.attributes] == [a.name for a in again.mesh.attributes]
        assert [m.name for m in mesh.mesh.morphs] == [m.name for m in again.mesh.morphs]
    assert [m.name for m in source.materials] == [m.name for m in baked.materials]


def test_the_dressed_man_runs(data: Path, tmp_path: Path) -> None:
    run = data / "cmu" / "02_03.bvh"
    goes_through(data / "human" / "male_dressed_mixamo.glb", tmp_path, "--motion", run, "--frames", "20-39")


def test_the_horse_trots(data: Path, tmp_path: Path) -> None:
    goes_through(data / "mesh2motion" / "horse-animations.glb", tmp_path, "--clip", "Trot")


def test_the_dog_bows(data: Path, tmp_path: Path) -> None:
    dog = read_character(data / "dog" / "dog.xml")
    motion = tmp_path / "bow.pose"
    motion.write_text(DOG_BOWS)
    moved = read_keyframes(motion, dog.skeleton)
    assert np.abs(moved.local[-1] - moved.local[0]).max() > 0.1
    goes_through(data / "dog" / "dog.xml", tmp_path, "--motion", motion)
