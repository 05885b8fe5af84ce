"""An elastic line that does not come to rest is named and counted by every command that asks where it is."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from characters import bending, tube
from ecorche.body.rig import create_rig
from ecorche.body.take import Take
from ecorche.cli.main import app
from ecorche.document.files import read_rig, write_rig
from ecorche.io.formats import read_character, write_take

FIXTURE = Path(__file__).parent / "fixtures" / "tube-version-5.ecorche"
CALM, STIFF, OTHER = "mesh one, left", "mesh two, left", "mesh three, left"


def made(folder: Path, stiffness: float) -> Path:
    """A rig of a tube that bends, one of whose three muscles has springs of a stiffness [N/m]."""
    character = tube()
    write_take(folder / "tube.glb", Take(replace(character, motions=(bending(character),))))
    character = read_character(folder / "tube.glb")
    rig = create_rig(character, folder / "tube.glb", folder / "tube.ecorche", muscles=False)
    kept = read_rig(FIXTURE)
    lines = dict(kept.spec.muscles.lines)
    path = lines[STIFF].path.model_copy(update={"stiffness": stiffness})
    lines[STIFF] = lines[STIFF].model_copy(update={"path": path})
    muscles = kept.spec.muscles.model_copy(update={"named": {}, "lofted": {}, "gains": {}, "lines": lines})
    spec = rig.spec.model_copy(update={"muscles": muscles})
    write_rig(folder / "tube.ecorche", replace(rig, spec=spec, surfaces=kept.surfaces))
    return folder / "tube.ecorche"


def told(*arguments: object) -> str:
    done = CliRunner().invoke(app, [str(a) for a in arguments])
    assert done.exit_code == 0, done.output
    return " ".join(done.output.split())


@pytest.fixture(scope="module")
def restless(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Rounding alone moves nodes on springs of 10¹² N/m by more than they may be away from rest."""
    return made(tmp_path_factory.mktemp("restless"), 1e12)


# rounding decides in which frames
NOTE = f"note: Line '{STIFF}' did not come to rest in [1-5] of 5 frames .first in frame [0-4], up to 0[.]"


def test_bake_tells_it_even_quietly_and_writes_every_muscle(restless: Path) -> None:
    output = restless.with_suffix(".npz")
    said = told("bake", restless, "-o", output, "--with-muscles", "--quiet")
    assert re.match(NOTE, said)
    assert said.count("did not come to rest") == 1
    calm = made(restless.parent, 250.0).with_suffix(".npz")
    with np.load(output) as arrays:
        found = {name: arrays[f"Muscles/{name}/points"] for name in (CALM, STIFF, OTHER)}
    assert told("bake", restless, "-o", calm, "--with-muscles", "--quiet") == ""
    with np.load(calm) as arrays:
        for name in (CALM, OTHER):
            assert np.array_equal(arrays[f"Muscles/{name}/points"], found[name])
    assert np.isfinite(found[STIFF]).all()


def test_render_tells_it_where_muscles_are_drawn(tmp_path: Path) -> None:
    rig, picture = made(tmp_path, 1e12), tmp_path / "tube.png"
    options = ("-o", picture, "--frame", 4, "--size", "64x64", "--layers")
    assert re.search(NOTE, told("render", rig, *options, "muscles"))
    assert "come to rest" not in told("render", rig, *options, "plain")


def test_info_tells_it(tmp_path: Path) -> None:
    said = told("info", made(tmp_path, 1e12))
    assert f"Line '{STIFF}' did not come to rest in " in said
    assert said.count("did not come to rest") == 1
