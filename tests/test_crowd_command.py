"""`ecorche crowd`: films, pictures and USD of many, and what it cannot do it says."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from conftest import ROOT, Command, Figure, skip_or_fail
from crowds import coarse, crowd, man, with_cast
from ecorche.body.crowd_cast import drawn_cast
from ecorche.body.lod import Level, lod_programs
from ecorche.body.take import Take
from ecorche.io.formats import write_take
from ecorche.io.motion_folder import read_motion_folder
from ecorche.io.usd import compliance_problems
from ecorche.io.usd.write_crowd import jointed_types, write_crowd
from ecorche.skeleton.kinematics import difference_from_bind
from ecorche.skin.linear import LinearSkinning
from rigged_people import person

Floats = npt.NDArray[np.float64]


@pytest.fixture(scope="module")
def folder(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A rig, its character, two motions and a coarser mesh."""
    from typer.testing import CliRunner

    from ecorche.cli.main import app

    made = tmp_path_factory.mktemp("crowd")
    shutil.copy(man(data), made / "man.glb")
    done = CliRunner().invoke(app, ["rig", str(made / "man.glb")])
    assert done.exit_code == 0, done.output
    (made / "moves").mkdir()
    for clip in ("02_01", "02_03"):
        shutil.copy(data / "cmu" / f"{clip}.bvh", made / "moves")
    (made / "moves" / "notes.txt").write_text("not a motion")
    write_take(made / "far.glb", Take(coarse(data)))
    return made


def _usdskel(path: Path, member: str, code: float) -> Floats:
    """Points of a member where UsdSkel itself puts them, through its instance [m]."""
    from pxr import Usd, UsdGeom, UsdSkel

    stage = Usd.Stage.Open(str(path))
    root = UsdSkel.Root(stage.GetPrimAtPath(f"/Crowd/{member}/Body"))
    cache, through = UsdSkel.Cache(), Usd.TraverseInstanceProxies()
    cache.Populate(root, through)
    (binding,) = cache.ComputeSkelBindings(root, through)
    moved = cache.GetSkelQuery(binding.GetSkeleton()).ComputeSkinningTransforms(code)
    (skin,) = binding.GetSkinningTargets()
    points = UsdGeom.Mesh(skin.GetPrim()).GetPointsAttr().Get()
    assert skin.ComputeSkinnedPoints(moved, points, code)
    world = np.array(UsdGeom.XformCache(code).GetLocalToWorldTransform(skin.GetPrim()))
    return np.asarray(np.array(points, np.float64) @ world[:3, :3] + world[3, :3])


def test_usdskel_skins_instances_as_we_do(data: Path, tmp_path: Path, figure: Figure) -> None:
    found = crowd(data, travelling=False)  # members with headings of their own
    jointed = jointed_types(found, influences=4)
    times = np.arange(6) / 24.0
    path = tmp_path / "crowd.usdc"
    written = write_crowd(path, found, jointed, times)
    assert any("half precision" in note for note in written.notes)
    assert compliance_problems(path) == []
    from pxr import Usd

    stage = Usd.Stage.Open(str(path))
    assert len(stage.GetPrototypes()) == 2
    assert stage.GetPrimAtPath("/Crowd/Member_07/Body").IsInstance()
    assert [p.GetName() for p in stage.GetDefaultPrim().GetChildren()] == [
        f"Member_{n:02}" for n in range(20)
    ]
    assert (stage.GetStartTimeCode(), stage.GetEndTimeCode(), stage.GetTimeCodesPerSecond()) == (0, 5, 24)
    worst = 0.0
    for member in (0, 7, 19):
        one, kind = np.array([member]), int(found.cast.body_type[member])
        character = jointed[kind]
        mesh = character.character.meshes[0]
        assert mesh.weights is not None
        for frame in (0, 5):
            moved = difference_from_bind(found.skeleton, found.local(one, times[frame])[0])
            bulge = character.body.bulge(found.activation(one, times[frame])[0])
            everything = np.concatenate([moved, character.muscles.difference(moved, bulge)])
            ours = LinearSkinning(mesh.mesh.points, mesh.weights).apply(everything)
            theirs = _usdskel(path, f"Member_{member:02}", float(frame))
            worst = max(worst, float(np.abs(theirs - ours).max()))
    figure("UsdSkel's skinning of a crowd's instances", 1e3 * worst, 0.3, "mm")
    assert worst < 3e-4
    write_crowd(tmp_path / "again.usdc", found, jointed, times)
    assert path.read_bytes() == (tmp_path / "again.usdc").read_bytes()


def test_blender_plays_a_crowd_without_instances(data: Path, tmp_path: Path, figure: Figure) -> None:
    python = os.environ.get("ECORCHE_BPY", str(ROOT / ".venv-bpy" / "bin" / "python"))
    if not Path(python).exists():
        skip_or_fail("no Blender: set ECORCHE_BPY to a Python that has bpy")
    found = crowd(data)
    few = with_cast(found, drawn_cast([clip.reach for clip in found.clips], 2, 3, seed=1))
    times, path = np.arange(5) / 24.0, tmp_path / "crowd.usdc"
    write_crowd(path, few, jointed_types(few, influences=4), times, instanced=False)
    assert compliance_problems(path) == []
    script = ROOT / "tests" / "blender" / "read_usd.py"
    subprocess.run(
        [python, script, path, tmp_path / "out.npz", "0,4", "24"],
        check=True,
        capture_output=True,
        timeout=120,
    )
    worst = 0.0
    with np.load(tmp_path / "out.npz") as theirs:
        for frame in (0, 4):
            seen = [theirs[name] for name in theirs.files if name.endswith(f"/{frame}")]
            assert len(seen) == 3
            for member in range(3):
                expected = _usdskel(path, f"Member_{member}", float(frame))
                worst = max(worst, min(float(np.abs(one - expected).max()) for one in seen))
    figure("a crowd in USD without instances, in Blender 4.5", 1e3 * worst, 0.3, "mm")
    assert worst < 3e-4


def test_a_crowd_becomes_usd(folder: Path, tmp_path: Path, ecorche: Command) -> None:
    said = ecorche(
        *("crowd", folder / "man.ecorche", "--motions", folder / "moves", "--count", 3, "--body-types", 1),
        *("--seconds", 0.2, "--rate", 10, "--joints-per-muscle", 1, "-o", tmp_path / "c.usda"),
    )
    assert "3 members, 1 body type, 2 clips, 2 frames" in said
    assert "skipped notes.txt: files of its kind hold no motion" in said
    assert "muscle joints beside 31 joints" in said
    text = (tmp_path / "c.usda").read_text()
    assert text.count("instanceable = true") == 3
    assert text.count("skel:animationSource") == 3
    assert text.count("def Mesh") == 1


def test_a_crowd_becomes_a_film_or_a_sheet(folder: Path, tmp_path: Path, ecorche: Command) -> None:
    pytest.importorskip("pyvista")
    common = ("crowd", folder / "man.ecorche", "--motions", folder / "moves", "--count", 4, "--body-types", 1)
    said = ecorche(*common, "--seconds", 0.1, "--size", "160x90", "-o", tmp_path / "c.mp4")
    assert "4 members, 1 body type, 2 clips, 3 pictures" in said
    assert "ms for skin and muscles and" in said
    assert "02_01: frames 72-336 in a loop of 2.20 s, 1.23 m/s" in said
    assert (tmp_path / "c.mp4").stat().st_size > 1000
    lod = f"{folder / 'far.glb'}@5"
    said = ecorche(*common, "--sheet", 2, "--lod", lod, "--size", "80x60", "-q", "-o", tmp_path / "sheet.png")
    assert said == ""
    assert (tmp_path / "sheet.png").stat().st_size > 1000
    assert list(tmp_path.glob(".*")) == []


def test_pictures_are_the_same_again_and_show_what_was_asked_for(data: Path, tmp_path: Path) -> None:
    pytest.importorskip("pyvista")
    from PIL import Image

    from ecorche.render.crowd_pictures import CrowdShots, render_crowd_picture

    found = crowd(data)
    far = Level("far", 15.0, lod_programs(found.character, found.rigs, coarse(data)))
    shots = {
        "whole": CrowdShots(found),
        "again": CrowdShots(found),
        "eye": CrowdShots(found, camera="eye"),
        "back": CrowdShots(found, view="back"),
        "lod": CrowdShots(found, [far]),
        "place": CrowdShots(crowd(data, travelling=False)),
    }
    pictures = {}
    for name, shot in shots.items():
        told = render_crowd_picture(tmp_path / f"{name}.png", shot, time=0.5, size=(320, 180))
        assert len(told.drawn) == 1
        pictures[name] = np.asarray(Image.open(tmp_path / f"{name}.png")).astype(int)
        assert pictures[name].shape == (180, 320, 3)
    assert np.array_equal(pictures["whole"], pictures["again"])
    for name in ("eye", "back", "place"):
        assert np.abs(pictures[name] - pictures["whole"]).max() > 40, name
    assert 0 < np.abs(pictures["lod"] - pictures["whole"]).mean() < 0.5  # a coarser mesh is hardly seen


def test_a_folder_gives_all_its_motions_and_names_what_is_none(data: Path, tmp_path: Path) -> None:
    skeleton = person(man(data)).skeleton
    shutil.copy(data / "mesh2motion" / "horse-animations.glb", tmp_path / "horse.glb")
    shutil.copy(man(data), tmp_path / "man.glb")
    (tmp_path / "deeper").mkdir()
    (tmp_path / ".hidden").write_text("")
    found = read_motion_folder(tmp_path, skeleton)
    assert len(found.motions) == 14
    assert [line.split(":")[0] for line in found.skipped] == ["deeper", "man.glb"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("--count", 0), "--count: a crowd of 0 is none"),
        (("--count", 10_000_000), "--count: 10,000,000 members of 13,380 vertices take about"),
        (("--body-types", 9), "9 body types are asked for. Give 1 to 8"),
        (("--seed", -1), "the seed -1 is below zero"),
        (("-o", "c.obj"), "'.obj' is no film, picture or USD file. Use .mp4, .gif, .png or .usdc"),
        (("-o", "missing/c.mp4"), "the folder 'missing' does not exist"),
        (("--motions", "nowhere"), "nowhere: there is no such folder"),
        (("--motions", "empty"), "empty: there is no motion in the folder, it is empty"),
        (
            ("--motions", "texts"),
            "no motion in the folder; skipped: a.txt: files of its kind hold no motion",
        ),
        (("--motions", "broken"), "bad.bvh"),
        (("--lod", "far.glb"), "--lod: 'far.glb' is no mesh with a distance. Write it as coarse.glb@15"),
        (("--lod", "far.glb@0"), "a level of detail from 0 m on cannot be shown"),
        (("--lod", "stranger.glb@5"), "stranger.glb: it is on another skeleton: it lacks"),
        (("--lod", "far.glb@5", "-o", "c.usdc"), "--lod: a USD file has no camera"),
        (("--time", 1, "-o", "c.mp4"), "--time: is of a picture. Write a .png"),
        (("--rate", 10), "--rate: is of a film"),
        (("--seconds", 2), "--seconds: is of a film"),
        (("--time", "inf"), "inf seconds are asked for"),
        (("--sheet", 2, "--seconds", -5), "-5 seconds are asked for"),
        (("--size", "90x60", "-o", "c.usdc"), "--size: a USD file has no picture for it"),
        (("--influences", 4, "-o", "c.mp4"), "--influences: is of a USD file"),
        (("--seconds", 0, "-o", "c.mp4"), "0 seconds are asked for"),
        (("--size", "8000x9000"), "a picture of 8000 x 9000 pixels is asked for"),
    ],
)
def test_bad_input_is_told(
    folder: Path,
    data: Path,
    tmp_path: Path,
    ecorche: Command,
    monkeypatch: pytest.MonkeyPatch,
    change: tuple[object, ...],
    said: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("empty", "texts", "broken"):
        (tmp_path / name).mkdir()
    (tmp_path / "texts" / "a.txt").write_text("")
    (tmp_path / "broken" / "bad.bvh").write_text("HIERARCHY\nROOT Hips\n{")
    shutil.copy(folder / "far.glb", tmp_path)
    shutil.copy(data / "human" / "male_muscular_mixamo.glb", tmp_path / "stranger.glb")
    given: dict[object, object] = {
        "--motions": folder / "moves",
        "--count": 2,
        "--body-types": 1,
        "-o": "c.png",
        "--size": "64x36",
    }
    given |= dict(zip(change[::2], change[1::2], strict=True))
    told = ecorche("crowd", folder / "man.ecorche", *(v for pair in given.items() for v in pair), code=2)
    assert said in " ".join(told.split())
    assert not [file for file in tmp_path.iterdir() if file.name.startswith((".c", "c."))]


def test_a_motion_is_not_written_over(folder: Path, tmp_path: Path, ecorche: Command) -> None:
    motion = tmp_path / "walk.usdc"
    motion.write_text("whatever it holds")
    told = ecorche("crowd", folder / "man.ecorche", "--motions", tmp_path, "-o", motion, code=2)
    assert "walk.usdc: would be written over, and is read" in " ".join(told.split())
    assert motion.read_text() == "whatever it holds"


def test_a_rig_that_must_be_baked_says_so(folder: Path, tmp_path: Path, ecorche: Command) -> None:
    for file in (*folder.glob("man.*"), folder / "man.glb"):
        shutil.copy(file, tmp_path)
    rig = json.loads((tmp_path / "man.ecorche").read_text())
    rig["skinning"] = {"method": "dual_quaternion"}
    (tmp_path / "man.ecorche").write_text(json.dumps(rig))
    common = ("--motions", folder / "moves", "--count", 2, "--body-types", 1, "-o", tmp_path / "c.png")
    told = ecorche("crowd", tmp_path / "man.ecorche", *common, code=2)
    assert "it cannot be played in real time: its skinning is not linear" in " ".join(told.split())
    assert "or bake it" in told
    told = ecorche("crowd", folder / "man.glb", *common, code=2)
    assert "is no rig" in told
