"""Other programs play what we write as USD: UsdSkel itself, and Blender."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from characters import bending, tube
from conftest import ROOT, Figure, skip_or_fail
from ecorche.io import bvh, gltf
from ecorche.io.formats import WriteOptions
from ecorche.io.usd import read_character, write_take
from ecorche.skeleton.motion import Motion
from ecorche.skeleton.retarget import retarget
from usd_takes import POINTS, SKELETON, played, rich_character, swinging


def usdskel_points(path: Path) -> dict[str, list[npt.NDArray[np.float32]]]:
    """Points of every mesh at every frame, as UsdSkel itself bakes them."""
    from pxr import Gf, Sdf, Usd, UsdGeom, UsdSkel

    stage = Usd.Stage.Open(Sdf.Layer.OpenAsAnonymous(str(path)))
    codes = range(int(stage.GetStartTimeCode()), int(stage.GetEndTimeCode()) + 1)
    UsdSkel.BakeSkinning(UsdSkel.Root(stage.GetDefaultPrim()), Gf.Interval.GetFullInterval())
    meshes = [UsdGeom.Mesh(p) for p in stage.Traverse() if p.IsA(UsdGeom.Mesh)]
    return {
        str(m.GetPrim().GetDisplayName() or m.GetPrim().GetName()): [
            np.array(m.GetPointsAttr().Get(code)) for code in codes
        ]
        for m in meshes
    }


@pytest.mark.parametrize("skinning", ["linear", "dual_quaternion", "contour"])
def test_usdskel_plays_our_skeleton_files(tmp_path: Path, skinning: str) -> None:
    """Blend shapes, helper joints and departures included; the error is as small as we say."""
    character = rich_character()
    motion = replace(
        swinging(character.skeleton), morph_weights={"the body/Größer": np.linspace(0.0, 1.0, 10)}
    )
    take = played(character, motion, skinning)
    assert take.frames is not None
    written = write_take(tmp_path / "out.usdc", take, SKELETON)
    theirs = usdskel_points(tmp_path / "out.usdc")
    for number, mesh in enumerate(character.meshes):
        for frame in range(10):
            assert np.abs(theirs[mesh.name][frame] - take.frames[frame].points[number]).max() < 1.1e-5
    assert any("departs" in note for note in written.notes) == (skinning != "linear")
    assert any("helper joints" in note for note in written.notes)


def test_dual_quaternions_stay_what_they_are(tmp_path: Path) -> None:
    character = tube()
    asked = replace(character, meshes=tuple(replace(m, skinning="dual_quaternion") for m in character.meshes))
    take = played(asked, replace(bending(asked), skeleton=asked.skeleton))
    assert write_take(tmp_path / "out.usdc", take, SKELETON).notes == ()
    back = read_character(tmp_path / "out.usdc")
    assert back.meshes[0].skinning == "dual_quaternion"
    assert back.meshes[0].mesh.morphs == ()


def test_a_scaled_armature_keeps_its_size(tmp_path: Path) -> None:
    """Scale 0.01 in half precision would be off by a fifth of a millimetre a metre."""
    character = tube()
    small = np.diag([0.01, 0.01, 0.01, 1.0])
    local = character.skeleton.bind_local.copy()
    local[0] = small
    local[1, :3, 3] *= 100.0
    skeleton = replace(character.skeleton, bind_local=local, rest_local=local)
    scaled = replace(character, skeleton=skeleton)
    motion = swinging(skeleton)
    take = played(scaled, motion)
    assert take.frames is not None
    written = write_take(tmp_path / "out.usdc", take, SKELETON)
    assert any("bind scale" in note for note in written.notes)
    theirs = usdskel_points(tmp_path / "out.usdc")["tube"]
    assert max(np.abs(theirs[f] - take.frames[f].points[0]).max() for f in range(10)) < 1e-6
    write_take(tmp_path / "points.usdc", take, POINTS)
    assert np.array_equal(read_character(tmp_path / "points.usdc").motions[0].local, motion.local)


EVERY_FRAME = "male_average_cmu_mb"
"""On this person all frames are compared, on the others twelve of each clip."""


@pytest.mark.parametrize("clip", ["02_01", "02_03", "13_13", "13_39"])
def test_people_are_skinned_as_usdskel_skins(data: Path, tmp_path: Path, clip: str, figure: Figure) -> None:
    source = bvh.read_motion(data / "cmu" / f"{clip}.bvh")
    people = sorted((data / "human").glob("*.glb"))
    assert len(people) == 6
    worst = 0.0
    for person in people:
        character = gltf.read_character(person)
        local = retarget(source, character.skeleton).motion.local
        if person.stem != EVERY_FRAME:
            local = local[:: len(local) // 12][:12]
        take = played(character, Motion(clip, character.skeleton, np.arange(len(local)) / 12.0, local))
        assert take.frames is not None
        write_take(tmp_path / "out.usdc", take, SKELETON)
        theirs = usdskel_points(tmp_path / "out.usdc")
        for frame in range(len(local)):
            for mesh, ours in zip(character.meshes, take.frames[frame].points, strict=True):
                worst = max(worst, float(np.abs(theirs[mesh.name][frame] - ours).max()))
    figure("UsdSkel's own skinning, six people on four CMU motions", worst * 1e3, 1e-2, "mm")
    assert worst < 1e-5


@pytest.mark.parametrize("options", [POINTS, SKELETON])
def test_blender_agrees(data: Path, tmp_path: Path, options: WriteOptions, figure: Figure) -> None:
    python = os.environ.get("ECORCHE_BPY", str(ROOT / ".venv-bpy" / "bin" / "python"))
    if not Path(python).exists():
        skip_or_fail("no Blender: set ECORCHE_BPY to a Python that has bpy")
    character = gltf.read_character(data / "human" / "male_dressed_mixamo.glb")
    take = played(character, swinging(character.skeleton, frames=28), "dual_quaternion")
    assert take.frames is not None
    write_take(tmp_path / "out.usdc", take, options)
    frames = range(0, 28, 3)
    script = Path(__file__).parent / "blender" / "read_usd.py"
    listed = ",".join(str(f) for f in frames)
    subprocess.run(
        [python, script, tmp_path / "out.usdc", tmp_path / "out.npz", listed, "30"],
        check=True,
        capture_output=True,
        timeout=120,
    )
    assert len(frames) == 10
    worst = 0.0
    with np.load(tmp_path / "out.npz") as theirs:
        for number, mesh in enumerate(character.meshes):
            for frame in frames:
                apart = theirs[f"{mesh.name}/{frame}"] - take.frames[frame].points[number]
                worst = max(worst, float(np.abs(apart).max()))
    figure(f"USD ({options.usd_as}) in Blender 4.5, ten frames", worst * 1e3, 0.1, "mm")
    assert worst < 1e-4
