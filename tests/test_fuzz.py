"""Every reader survives damaged files: no hang, no crash, no traceback. Longer: ECORCHE_FUZZ_SECONDS."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from characters import bending, tube
from conftest import ROOT, skip_or_fail
from ecorche.base.recordings import MarkerRecording
from ecorche.body.perform import perform
from ecorche.body.rig import create_rig
from ecorche.document.files import write_rig
from ecorche.io.formats import MODULES, write_take
from ecorche.io.opensim_storage import write_table
from ecorche.io.trc import write_trc
from fuzz import RECORDINGS
from test_c3d import trial
from test_mujoco import SKIN_XML
from test_x3d import VRML

SECONDS = float(os.environ.get("ECORCHE_FUZZ_SECONDS", "1.5"))

WRITTEN = (".glb", ".gltf", ".usda", ".usdc", ".usdz", ".x3d", ".pc2", ".npz", ".obj", ".ply")
"""Formats whose sample our own writer makes."""

TEXTS = {
    ".pose": (ROOT / "examples" / "walk.pose").read_text(),
    ".wrl": VRML,
    ".xml": SKIN_XML,
}

REAL = {
    ".bvh": "cmu/02_03.bvh",
    ".stl": "leg/bone_fibula_FMA24480.stl",
    ".skn": "dog/dog_skin.skn",
}


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory, data: Path) -> Path:
    """A folder a format, each with one small valid file and what it needs beside it."""
    root = tmp_path_factory.mktemp("samples")
    character = tube(rings=5, around=6)
    take = perform(character, bending(character, frames=3)).take
    for suffix in WRITTEN:
        folder = root / suffix[1:]
        folder.mkdir()
        write_take(folder / f"sample{suffix}", take)
    for suffix, text in TEXTS.items():
        (root / suffix[1:]).mkdir()
        (root / suffix[1:] / f"sample{suffix}").write_text(text)
    for suffix, name in REAL.items():
        (root / suffix[1:]).mkdir()
        shutil.copy(data / name, root / suffix[1:] / f"sample{suffix}")
    (root / "ecorche").mkdir()
    glb = root / "ecorche" / "character.glb"
    shutil.copy(root / "glb" / "sample.glb", glb)
    rig = root / "ecorche" / "sample.ecorche"
    write_rig(rig, create_rig(character, glb, rig, muscles=False))
    return root


@pytest.fixture(scope="module")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Small valid files of what laboratories write."""
    root = tmp_path_factory.mktemp("recordings")
    rng = np.random.default_rng(0)
    times, names = np.arange(4) / 100.0, ("heel", "toe", "knee")
    write_trc(root / "sample.trc", MarkerRecording(names, times, rng.normal(size=(4, 3, 3))))
    write_table(root / "sample.mot", "forces", times, {name: rng.normal(size=4) for name in names})
    return root


@pytest.mark.parametrize("suffix", sorted(RECORDINGS))
def test_damaged_recordings_are_refused_in_words(recordings: Path, suffix: str) -> None:
    if suffix == ".c3d":
        if find_spec("ezc3d") is None:
            skip_or_fail("the package ezc3d is not installed")
        trial(recordings / "sample.c3d", 2)
    _survives(recordings / f"sample{suffix}")


@pytest.mark.parametrize("suffix", [*WRITTEN, *TEXTS, *REAL, ".ecorche"])
def test_damaged_files_are_refused_in_words(samples: Path, suffix: str) -> None:
    _survives(samples / suffix[1:] / f"sample{suffix}")


def _survives(sample: Path) -> None:
    done = subprocess.run(
        [sys.executable, Path(__file__).with_name("fuzz.py"), sample, str(SECONDS), "1"],
        capture_output=True,
        text=True,
        timeout=SECONDS * 3 + 120,
    )
    assert done.returncode == 0, done.stdout + done.stderr[-4000:]


def test_no_format_escapes() -> None:
    # .usd is .usda or .usdc within, FBX is Blender's to read (test_fbx.py), Alembic is not read
    assert set(MODULES) - {".usd", ".fbx", ".abc"} == {*WRITTEN, *TEXTS, *REAL}
