"""The command, verb by verb, on real characters."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from conftest import Command
from ecorche.io.formats import read_character


@pytest.fixture(scope="module")
def man(data: Path) -> Path:
    return data / "human" / "male_average_cmu_mb.glb"


def test_help_names_every_verb() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "ecorche", "--help"], capture_output=True, text=True, check=True
    )
    for verb in ("sample", "info", "bake", "render", "convert", "check", "rig", "rebind", "skin"):
        assert re.search(rf"\b{verb}\b", done.stdout)


def test_info_names_joints_meshes_and_size(ecorche: Command, man: Path) -> None:
    text = ecorche("info", man)
    assert re.search(r"LeftForeArm\s+l_elbow", text)
    assert "13,380" in text
    assert "Body (body)" in text
    assert re.search(r"1\.[67]\d m tall", text)


def test_info_lists_joints_below_their_parents(ecorche: Command, data: Path) -> None:
    told = json.loads(ecorche("info", "--json", data / "human" / "male_dressed_mixamo.glb"))["joints"]
    skeleton = read_character(data / "human" / "male_dressed_mixamo.glb").skeleton
    above: list[str] = []
    for joint in told:
        del above[joint["depth"] :]
        parent = skeleton.parents[skeleton.index(joint["name"])]
        assert (above[-1] if above else None) == (skeleton.names[parent] if parent >= 0 else None)
        above.append(joint["name"])
    assert len(told) == skeleton.joint_count


def test_a_narrow_terminal_cuts_no_name() -> None:
    from rich.console import Console

    from ecorche.cli.tables import text_table

    table = text_table("joint", "canonical", counts=("vertices",))
    table.add_row("mixamorig:LeftHandMiddle3", "l_carpal_distal_interphalangeal_3", "1,234")
    console = Console(width=40)
    with console.capture() as text:
        console.print(table)
    assert "…" not in text.get()
    letters = sorted(re.sub(r"\s", "", text.get()))
    assert letters == sorted(
        "jointcanonicalverticesmixamorig:LeftHandMiddle3l_carpal_distal_interphalangeal_31,234"
    )


def test_a_reader_that_goes_away_is_no_error(man: Path) -> None:
    command = [sys.executable, "-m", "ecorche", "check", *[str(man)] * 3]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stderr is not None
    child.stdout.close()
    assert child.stderr.read() == ""
    assert child.wait(60) == 0
    child.stderr.close()


def test_info_for_programs(ecorche: Command, data: Path) -> None:
    told = json.loads(ecorche("info", "--json", data / "human" / "male_dressed_mixamo.glb"))
    assert [m["name"] for m in told["meshes"]] == ["Body", "Tights"]
    assert [m["is_body"] for m in told["meshes"]] == [True, False]
    assert {j["canonical"] for j in told["joints"]} >= {"l_shoulder", "r_knee", "skullbase"}


def test_bake_convert_and_check_agree(ecorche: Command, man: Path, data: Path, tmp_path: Path) -> None:
    usd, glb, npz = (tmp_path / f"walk{s}" for s in (".usdc", ".glb", ".npz"))
    walk = data / "cmu" / "02_01.bvh"
    said = ecorche("bake", man, "--motion", walk, "-o", usd, "--frames", "100-139")
    assert "40 frames" in said
    ecorche("bake", man, "--motion", walk, "-o", npz, "--frames", "100-139")
    ecorche("convert", usd, glb)
    assert "ok" in ecorche("check", usd, glb, npz)

    with np.load(npz) as baked:
        points, faces, times = baked["points"], baked["faces"], baked["times"]
    assert points.shape == (40, 13380, 3)
    assert faces.shape[1] == 3
    assert times[0] == pytest.approx(100 / 120, abs=1e-3)
    cache = read_character(usd).cache
    assert cache is not None
    np.testing.assert_array_equal(cache[17].points[0], points[17])


def test_bake_without_a_motion_is_the_bind_pose(ecorche: Command, man: Path, tmp_path: Path) -> None:
    ecorche("bake", man, "-o", tmp_path / "man.npz")
    with np.load(tmp_path / "man.npz") as baked:
        np.testing.assert_array_equal(baked["points"][0], read_character(man).meshes[0].mesh.points)


@pytest.mark.parametrize("threads", [1, 2])
def test_threads_do_not_change_a_byte(
    ecorche: Command, man: Path, data: Path, tmp_path: Path, threads: int
) -> None:
    import numba

    if numba.config.NUMBA_NUM_THREADS < 2:
        pytest.skip("one processor only: there is nothing to compare")
    target = tmp_path / "run.usdc"
    try:
        ecorche(
            "bake",
            man,
            "-m",
            data / "cmu" / "02_03.bvh",
            "-o",
            target,
            "--threads",
            threads,
            "--frames",
            "0-9",
        )
        first = target.read_bytes()
        ecorche(
            "bake",
            man,
            "-m",
            data / "cmu" / "02_03.bvh",
            "-o",
            target,
            "--frames",
            "0-9",
            "--threads",
            3 - threads,
        )
        assert target.read_bytes() == first
    finally:
        numba.set_num_threads(numba.config.NUMBA_NUM_THREADS)


def test_a_clip_of_the_character_itself(ecorche: Command, data: Path, tmp_path: Path) -> None:
    horse = data / "mesh2motion" / "horse-animations.glb"
    said = ecorche("bake", horse, "--clip", "Trot", "-o", tmp_path / "trot.usdc")
    assert "frames in" in said
    assert read_character(tmp_path / "trot.usdc").motions[0].name == "Trot"
    assert "note: clip 'Death', the first of 14; --clip chooses another: Eating" in ecorche(
        "bake", horse, "-o", tmp_path / "first.npz", "--frames", "0"
    )
    assert "57 joints, 14 motions" in ecorche("convert", horse, tmp_path / "horse.glb")


def test_limits_report_what_was_clamped(ecorche: Command, man: Path, data: Path, tmp_path: Path) -> None:
    said = ecorche(
        "bake",
        man,
        "-m",
        data / "cmu" / "13_13.bvh",
        "-o",
        tmp_path / "jump.npz",
        "--limits",
        "--frames",
        "0-200",
    )
    assert "°" in said
    assert "clamped" in said or "within" in said


def test_a_rig_is_made_checked_and_rebound(ecorche: Command, data: Path, tmp_path: Path) -> None:
    man = tmp_path / "man.glb"
    man.write_bytes((data / "human" / "male_average_cmu_mb.glb").read_bytes())
    rig = tmp_path / "man.ecorche"
    assert "of 31 joints have canonical names" in ecorche("rig", man)
    assert "ok" in ecorche("check", rig)
    ecorche("rig", man, code=2)  # it may hold edits by now
    man.write_bytes((data / "human" / "male_muscular_cmu_mb.glb").read_bytes())
    assert "rebind" in ecorche("check", rig, code=1)
    said = ecorche("rebind", rig, man)
    assert "mm" in said
    assert "ok" in ecorche("check", rig)
    ecorche("bake", rig, "-o", tmp_path / "man.npz")
    assert "LeftForeArm" in ecorche("info", rig)


def test_the_body_a_rig_names_is_the_one_that_is_baked(ecorche: Command, data: Path, tmp_path: Path) -> None:
    rig = tmp_path / "man.ecorche"
    ecorche("rig", data / "human" / "male_dressed_mixamo.glb", "-o", rig)
    rig.write_text(rig.read_text().replace('"body": "Body"', '"body": "Tights"'))
    ecorche("bake", rig, "-o", tmp_path / "man.npz")
    with np.load(tmp_path / "man.npz") as baked:
        assert baked["points"].shape[1] == 1458


def test_render_picture_and_sheet(ecorche: Command, man: Path, tmp_path: Path) -> None:
    pytest.importorskip("pyvista")
    ecorche("render", man, "-o", tmp_path / "man.png", "--size", "320x480")
    assert (tmp_path / "man.png").read_bytes().startswith(b"\x89PNG")
    ecorche("render", man, "-o", tmp_path / "man.gif", "--size", "64x64")
    assert (tmp_path / "man.gif").read_bytes().startswith(b"GIF8")
