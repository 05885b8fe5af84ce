"""Fat that swings, asked for on the command line: in pictures as in bakes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image
from typer.testing import CliRunner

from ecorche.body.take import Take
from ecorche.cli.main import app
from ecorche.document.files import write_rig
from ecorche.io.formats import read_character, write_take
from soft_ball import ball, hopping, soft_rig


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


def test_what_fat_moves_is_a_layer_of_a_body_without_muscles(rig: Path, tmp_path: Path) -> None:
    file = tmp_path / "difference.png"
    run("render", rig, "-o", file, "--dynamics", "fat", "--layers", "difference", "--frame", 12)
    assert pixels(file).std() > 1.0
    done = CliRunner().invoke(app, ["render", str(rig), "-o", str(file), "--layers", "difference"])
    assert done.exit_code == 2
