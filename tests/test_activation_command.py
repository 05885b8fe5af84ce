"""`ecorche activation` on a real person: curves of a motion, edited, in two formats, and baked with again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from conftest import ROOT
from ecorche.body.muscle_specs import muscles_of
from ecorche.body.muscles import named_activation
from ecorche.body.perform import perform
from ecorche.body.rig import create_rig
from ecorche.cli.activation import activation_source
from ecorche.cli.main import app
from ecorche.cli.subject import Subject
from ecorche.document.files import Rig, write_rig
from ecorche.io.activation import read_activation
from ecorche.io.formats import read_motion
from ecorche.skeleton.motion import Motion
from rigged_people import person

FLEXOR = "biceps brachii, long head, right"


@pytest.fixture(scope="module")
def man(data: Path) -> Path:
    return data / "human" / "male_average_cmu_mb.glb"


@pytest.fixture(scope="module")
def rig_file(man: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Rig]:
    path = tmp_path_factory.mktemp("rig") / "man.ecorche"
    rig = create_rig(person(man), man, path)
    write_rig(path, rig)
    return path, rig


@pytest.fixture(scope="module")
def run(data: Path, man: Path) -> Motion:
    """A captured run on the man's joints."""
    motion = perform(person(man), read_motion(data / "cmu" / "02_03.bvh")).take.motion
    assert motion is not None
    return motion


def _said(*arguments: object, code: int = 0) -> str:
    done = CliRunner().invoke(app, ["activation", *map(str, arguments)])
    assert done.exit_code == code, done.output
    return " ".join(done.output.split())


def test_curves_of_a_motion_are_written_edited_and_baked_with(
    rig_file: tuple[Path, Rig], run: Motion, data: Path, man: Path, tmp_path: Path
) -> None:
    path, rig = rig_file
    motion = data / "cmu" / "02_03.bvh"
    table, storage, more = tmp_path / "run.csv", tmp_path / "run.sto", tmp_path / "more.csv"
    muscles = muscles_of(rig, person(man).skeleton)[0]
    names = [muscle.name for muscle in muscles]
    assert f"{len(names)} curves" in _said(path, "-m", motion, "-o", table)
    expected = named_activation("motion", person(man), rig, muscles).over(run)
    assert list(read_activation(table)) == names
    subject = Subject(person(man), rig)
    baked = activation_source(str(table), subject)
    assert baked is not None
    assert np.abs(baked.over(run) - expected).max() < 0.0101
    assert expected.max() > 0.3  # it is a run
    # a table becomes storage, with the same curves
    _said(path, "-m", motion, "--activation", table, "--tolerance", 0, "-o", storage)
    from_storage = activation_source(str(storage), subject)
    assert from_storage is not None
    assert np.abs(from_storage.over(run) - baked.over(run)).max() < 1e-3
    _said(path, "-m", motion, "--only", "elbow flexors", "--gain", 2, "--shift", 0.25, "-o", more)
    edited = read_activation(more)
    assert FLEXOR in edited
    assert len(edited) == sum(muscle.group == "elbow flexors" for muscle in muscles)
    times, values = read_activation(table)[FLEXOR]
    assert np.array_equal(edited[FLEXOR][0], times + 0.25)
    assert np.abs(edited[FLEXOR][1] - np.minimum(2.0 * values, 1.0)).max() < 2e-4


def test_what_cannot_be_written_is_told(rig_file: tuple[Path, Rig], man: Path, tmp_path: Path) -> None:
    path, _ = rig_file
    curl = ROOT / "examples" / "curl.pose"
    assert "no muscle's name or group" in _said(
        path, "-m", curl, "--only", "wing", "-o", tmp_path / "a.csv", code=2
    )
    assert "there is no motion" in _said(path, "-o", tmp_path / "a.csv", code=2)
    assert "is no rig" in _said(man, "-m", curl, "-o", tmp_path / "a.csv", code=2)
    assert "no kind of file" in _said(
        path, "-m", curl, "--only", "biceps brachii", "-o", tmp_path / "a.txt", code=2
    )
    assert not list(tmp_path.iterdir())
