"""Value clips: a bake in ranges of frames, which USD plays as if it were one file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from pxr import Usd, UsdGeom

from conftest import Command
from ecorche.errors import WriteError
from ecorche.io.formats import WriteOptions, read_character, write_take
from ecorche.io.usd import compliance_problems
from rigged_people import person
from usd_takes import POINTS, played, swinging

CLIPS = WriteOptions(usd_clips=4)


@pytest.mark.parametrize("suffix", [".usda", ".usdc"])
def test_clips_play_as_one_file_does(data: Path, tmp_path: Path, suffix: str) -> None:
    character = person(data / "human" / "male_dressed_mixamo.glb")
    take = played(character, swinging(character.skeleton, 10))
    whole, clipped = tmp_path / "whole.usdc", tmp_path / f"clip ped{suffix}"
    write_take(whole, take, POINTS)
    for _ in range(2):  # over an older one too
        written = write_take(clipped, take, CLIPS)
    assert "3 clips of 4 frames stand in clip ped_clips" in written.notes
    assert clipped.stat().st_size < 0.01 * whole.stat().st_size
    assert compliance_problems(clipped) == []
    one, other = Usd.Stage.Open(str(whole)), Usd.Stage.Open(str(clipped))
    assert other.GetStartTimeCode() == one.GetStartTimeCode()
    assert other.GetEndTimeCode() == one.GetEndTimeCode()
    meshes = [UsdGeom.Mesh(prim) for prim in one.Traverse() if prim.IsA(UsdGeom.Mesh)]
    assert len(meshes) == 2
    for mesh in meshes:
        theirs = UsdGeom.Mesh(other.GetPrimAtPath(mesh.GetPath()))
        assert list(theirs.GetPointsAttr().GetTimeSamples()) == list(mesh.GetPointsAttr().GetTimeSamples())
        for name in ("points", "velocities", "extent", "normals", "faceVertexIndices"):
            # moments between frames too, also between clips
            for code in (0.0, 1.0, 3.0, 3.5, 4.0, 7.25, 8.0, 9.0):
                a, b = (np.array(m.GetPrim().GetAttribute(name).Get(code)) for m in (mesh, theirs))
                np.testing.assert_array_equal(a, b, err_msg=f"{name} at {code}")
    back = read_character(clipped)
    assert back.cache is not None
    assert take.frames is not None
    np.testing.assert_array_equal(back.cache[7].points[0], take.frames[7].points[0])
    assert back.meshes[0].weights is not None


def test_what_has_no_clips_is_refused(data: Path, tmp_path: Path, ecorche: Command) -> None:
    character = person(data / "human" / "male_average_cmu_mb.glb")
    take = played(character, swinging(character.skeleton, 3))
    for options, name in (
        (WriteOptions(usd_clips=2, usd_as="skeleton"), "a.usdc"),
        (WriteOptions(usd_clips=2), "a.usdz"),
    ):
        with pytest.raises(WriteError, match="clips are ranges of frames of points"):
            write_take(tmp_path / name, take, options)
    (tmp_path / "a_clips").mkdir()
    (tmp_path / "a_clips" / "notes.txt").write_text("mine")
    with pytest.raises(WriteError, match="holds other files than clips: notes"):
        write_take(tmp_path / "a.usdc", take, CLIPS)
    assert (tmp_path / "a_clips" / "notes.txt").read_text() == "mine"
    assert not (tmp_path / "a.usdc").exists()
    man = data / "human" / "male_average_cmu_mb.glb"
    said = ecorche("bake", man, "-o", tmp_path / "a.glb", "--usd-clips", 4, code=2)
    assert "only USD has clips" in said
