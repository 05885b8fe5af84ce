"""Muscles and skin that jiggle, asked for on the command line: in pictures as in bakes, and interrupted."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image
from typer.testing import CliRunner

from ecorche.body.rig import create_rig
from ecorche.body.spool import Spool
from ecorche.body.spring_motion import SpringMotion
from ecorche.body.take import Take
from ecorche.cli.main import app
from ecorche.document.fat_spec import FatSpec
from ecorche.document.files import read_rig, write_rig
from ecorche.document.spec import MapRef
from ecorche.document.springs_spec import SpringsSpec
from ecorche.io.formats import read_character, write_take
from soft_ball import ball, hopping

SLAP = {"joint": "ball", "along": 0.0, "radius": 0.2, "force": (0.0, 0.0, -30.0)}
FAT = {"mask": "all", "thickness": 0.05, "voxel": 0.02}


@pytest.fixture(scope="module")
def rig(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ball on springs that hops, as files."""
    folder = tmp_path_factory.mktemp("ball")
    character = ball()
    hops = hopping(character, 1.2)
    write_take(folder / "ball.glb", Take(replace(character, motions=(hops,)), hops))
    read = read_character(folder / "ball.glb")
    made = create_rig(read, folder / "ball.glb", folder / "ball.ecorche", muscles=False)
    springs = SpringsSpec(tissue=8000.0, skin=2.0)
    write_rig(folder / "ball.ecorche", replace(made, spec=made.spec.model_copy(update={"springs": springs})))
    return folder / "ball.ecorche"


def run(*arguments: object) -> str:
    done = CliRunner().invoke(app, [str(a) for a in arguments])
    assert done.exit_code == 0, done.output
    return done.output


def pixels(file: Path) -> npt.NDArray[np.float64]:
    return np.asarray(Image.open(file).convert("RGB"), np.float64)


def test_a_picture_shows_what_a_bake_writes(rig: Path, tmp_path: Path) -> None:
    pytest.importorskip("pyvista")
    still, swung, baked = (tmp_path / f"{n}.png" for n in ("still", "swung", "baked"))
    size = ("--frame", 12, "--size", "120x120")
    asked = ("--dynamics", "springs", "--preroll", 0.2)
    run("render", rig, "-o", still, *size)
    run("render", rig, "-o", swung, *size, *asked)
    run("bake", rig, "-o", tmp_path / "hop.usdc", *asked)
    run("render", tmp_path / "hop.usdc", "-o", baked, *size)
    assert np.abs(pixels(swung) - pixels(still)).max() > 20
    assert np.abs(pixels(swung) - pixels(baked)).mean() < 0.1


def test_an_interrupted_bake_goes_on_and_is_the_same_to_the_byte(
    rig: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, broken = tmp_path / "whole.npz", tmp_path / "broken.npz"
    run("bake", rig, "-o", whole, "--dynamics", "springs")
    packed, count = Spool._packed, 0

    def last(spool: Spool, frame: Any) -> bytes:
        nonlocal count
        count += 1
        if count > 25:  # in the midst of the second sixteen
            raise KeyboardInterrupt
        return packed(spool, frame)

    with monkeypatch.context() as patched:
        patched.setattr(Spool, "_packed", last)
        assert (
            CliRunner().invoke(app, ["bake", str(rig), "-o", str(broken), "--dynamics", "springs"]).exit_code
        )
    assert not broken.exists()
    went_on: list[bytes] = []
    go_on = SpringMotion.go_on_from

    def told(motion: SpringMotion, state: bytes) -> None:
        went_on.append(state)
        go_on(motion, state)

    monkeypatch.setattr(SpringMotion, "go_on_from", told)
    run("bake", rig, "-o", broken, "--dynamics", "springs")
    assert went_on
    assert broken.read_bytes() == whole.read_bytes()


@pytest.mark.parametrize(
    ("part", "said", "told"),
    [
        (
            "springs",
            {"blows": {"slap": {**SLAP, "joint": "bal"}}},
            "springs.blows.slap.joint: there is no joint",
        ),
        (
            "springs",
            {"blows": {"slap": {**SLAP, "radius": 1e-4}}},
            "springs.blows: the blow 'slap' meets no skin",
        ),
        ("springs", {"blows": {"slap": SLAP}}, "ok"),
        ("fat", {"regions": {"top": {**FAT, "voxel": 2e-4}}}, "fat: voxels of 0.2 mm would be"),
        (
            "fat",
            {"regions": {"top": {**FAT, "mask": None, "place": "belly"}}},
            "fat.regions.top.place: this character's belly are not found",
        ),
        ("fat", {"regions": {"top": FAT}}, "ok"),
    ],
)
def test_check_tells_blows_and_fat_that_a_bake_refuses(
    rig: Path, tmp_path: Path, part: str, said: dict[str, Any], told: str
) -> None:
    made, here = read_rig(rig), tmp_path / "ball.ecorche"
    shutil.copy(rig.with_suffix(".glb"), tmp_path)
    everywhere = np.ones(len(ball().meshes[0].mesh.points), np.float32)
    spec = FatSpec.model_validate(said) if part == "fat" else SpringsSpec.model_validate(said)
    changed = {part: spec, "maps": {"all": MapRef(mesh="ball")}}
    write_rig(here, replace(made, spec=made.spec.model_copy(update=changed), maps={"all": everywhere}))
    done = CliRunner().invoke(app, ["check", str(here)])
    assert done.exit_code == int(told != "ok"), done.output
    (line,) = done.output.splitlines()
    assert line.startswith(f"{here}: {told}")


def test_an_unknown_dynamics_names_springs(rig: Path, tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["bake", str(rig), "-o", str(tmp_path / "x.npz"), "--dynamics", "sprngs"])
    assert done.exit_code != 0
    assert "springs" in done.output
