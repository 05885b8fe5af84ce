"""A real person with muscles and a few frames of real motions, for tests of farms."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT


@pytest.fixture(scope="session")
def stage(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with ``man.ecorche``, ``man.glb``, ``walk.bvh`` and ``jump.bvh``."""
    from ecorche.body.rig import create_rig
    from ecorche.document.files import write_rig
    from ecorche.io.formats import read_character

    folder = tmp_path_factory.mktemp("stage")
    shutil.copy(data / "human" / "male_muscular_cmu_mb.glb", folder / "man.glb")
    shutil.copy(data / "cmu" / "02_01.bvh", folder / "walk.bvh")
    shutil.copy(data / "cmu" / "13_13.bvh", folder / "jump.bvh")
    rig = folder / "man.ecorche"
    write_rig(rig, create_rig(read_character(folder / "man.glb"), folder / "man.glb", rig))
    return folder


def start(*arguments: object, **environment: str) -> subprocess.Popen[str]:
    """The command in a process of its own."""
    path = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    return subprocess.Popen(
        [sys.executable, "-m", "ecorche", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": path, "NO_COLOR": "1", **environment},
    )
