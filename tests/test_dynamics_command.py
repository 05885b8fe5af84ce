"""Fat that swings, asked for on the command line: in pictures as in bakes."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image
from typer.testing import CliRunner

from ecorche.body.bake import FRAMES_A_CHUNK
from ecorche.body.fat_motion import FatMotion
from ecorche.body.take import Take
from ecorche.cli.main import app
from ecorche.document.files import read_rig, write_rig
from ecorche.io.formats import read_character, write_take
from soft_ball import ball, hopping, soft_rig

KILLED = """
import os, signal
from ecorche.body.spool import Spool
from ecorche.cli.main import run
packed, number = Spool._packed, 0

def last(spool, frame):
    global number
    number += 1
    if number > 55:  # in the midst of the fourth sixteen
        os.kill(os.getpid(), signal.SIGKILL)
    return packed(spool, frame)

Spool._packed = last
run()
"""


@pytest.fixture(scope="module")
def rig(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A soft ball that hops, as files."""
    folder = tmp_path_factory.mktemp("ball")
    character = ball()
    hops = hopping(character, 0.6)
    write_take(folder / "ball.glb", Take(replace(character, motions=(hops,)), hops))
    read = read_character(folder / "ball.glb")
    write_rig(folder / "ball.ecorche", soft_rig(read))
    return folder / "ball.ecorche"


def run(*arguments: object) -> str:
    done = CliRunner().invoke(app, [str(a) for a in arguments])
    assert done.exit_code == 0, done.output
    return done.output


def pixels(file: Path) -> npt.NDArray[np.float64]:
    return np.asarray(Image.open(file).convert("RGB"), np.float64)


def test_a_picture_shows_what_a_bake_writes(rig: Path, tmp_path: Path) -> None:
    still, swung, baked = (tmp_path / f"{n}.png" for n in ("still", "swung", "baked"))
    size = ("--frame", 12, "--size", "120x120")
    run("render", rig, "-o", still, *size)
    run("render", rig, "-o", swung, *size, "--dynamics", "fat", "--preroll", 0.2)
    run("bake", rig, "-o", tmp_path / "hop.usdc", "--dynamics", "fat", "--preroll", 0.2)
    run("render", tmp_path / "hop.usdc", "-o", baked, *size)
    assert np.abs(pixels(swung) - pixels(still)).max() > 20
    assert np.abs(pixels(swung) - pixels(baked)).mean() < 0.1


def test_muscles_that_are_no_meshes_do_not_swing_and_it_is_said(rig: Path, tmp_path: Path) -> None:
    said = ["bake", str(rig), "-o", str(tmp_path / "a.npz"), "--dynamics", "oscillation"]
    done = CliRunner().invoke(app, said)
    assert done.exit_code == 2
    assert "there are no muscles that could swing" in done.output
    assert "leave out --dynamics oscillation" in done.output
    assert not (tmp_path / "a.npz").exists()


def test_what_fat_moves_is_a_layer_of_a_body_without_muscles(rig: Path, tmp_path: Path) -> None:
    file = tmp_path / "difference.png"
    run("render", rig, "-o", file, "--dynamics", "fat", "--layers", "difference", "--frame", 12)
    assert pixels(file).std() > 1.0
    done = CliRunner().invoke(app, ["render", str(rig), "-o", str(file), "--layers", "difference"])
    assert done.exit_code == 2


def test_a_bake_that_was_killed_goes_on_with_the_same_settings_alone(
    rig: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = ["--rate", "240", "--dynamics", "fat"]
    target, whole = tmp_path / "hop.npz", tmp_path / "whole.npz"
    run("bake", rig, "-o", whole, *settings)
    frames = len(np.load(whole)["points"])
    child = subprocess.run([sys.executable, "-c", KILLED, "bake", rig, "-o", target, *settings], check=False)
    assert child.returncode == -9
    state = tmp_path / ".hop.npz.baking" / "state.json"
    assert not target.exists()
    done = json.loads(state.read_text())["done"]
    assert done == 3 * FRAMES_A_CHUNK < frames
    # with another map, though of the same name, nothing is gone on with
    shutil.copytree(state.parent, tmp_path / ".other.npz.baking")
    painted = read_rig(rig)
    maps = {**painted.maps, "upper": 0.9 * np.asarray(painted.maps["upper"], np.float32)}
    write_rig(rig.with_name("other.ecorche"), replace(painted, maps=maps))
    told = run("bake", rig.with_name("other.ecorche"), "-o", tmp_path / "other.npz", *settings)
    assert f"{done} frames of an interrupted bake with other settings could not be used" in told
    run("bake", rig.with_name("other.ecorche"), "-o", tmp_path / "fresh.npz", *settings)
    assert (tmp_path / "other.npz").read_bytes() == (tmp_path / "fresh.npz").read_bytes()
    assert (tmp_path / "other.npz").read_bytes() != whole.read_bytes()
    passed: list[int] = []
    go_on = FatMotion._pass_on

    def counted(motion: FatMotion, number: int) -> None:
        passed.append(number)
        go_on(motion, number)

    monkeypatch.setattr(FatMotion, "_pass_on", counted)
    assert "interrupted" not in run("bake", rig, "-o", target, *settings)
    assert target.read_bytes() == whole.read_bytes()
    assert len(passed) == frames - done
    assert not state.parent.exists()
