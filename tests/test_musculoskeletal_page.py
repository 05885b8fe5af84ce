"""The page on musculoskeletal models: its program runs, on a measured walk."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT
from osim_models import opensim_package
from test_docs import _follow


def test_the_program_of_the_page_runs(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (program,) = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "musculoskeletal.md").read_text(), re.S)
    for name, copy in (
        ("subject_walk_scaled.osim", "subject.osim"),
        ("markers_walk.trc", "walk.trc"),
        ("grf_walk.xml", "forces.xml"),
        ("grf_walk.mot", "grf_walk.mot"),
    ):
        shutil.copyfile(data / "walk" / name, tmp_path / copy)
    with opensim_package(tmp_path):
        monkeypatch.chdir(tmp_path)
        exec(compile(program, "musculoskeletal.md", "exec"), {})
    said = capsys.readouterr().out
    assert "mm rms, worst " in said
    assert re.search(r"knee: up to \d\d N m", said)
    assert "Left at the root: " in said
    assert "exchanged" not in said


def test_the_arm_of_the_page_tenses(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyvista")
    monkeypatch.chdir(tmp_path)
    shutil.copy(data / "human" / "male_muscular_cmu_mb.glb", tmp_path / "man.glb")
    shutil.copy(data / "arm26" / "arm26.osim", tmp_path / "arm26.osim")
    subprocess.run([sys.executable, ROOT / "examples" / "co_contraction.py"], check=True, timeout=60)
    page = (ROOT / "docs" / "musculoskeletal.md").read_text()
    (section,) = re.findall(r"^## An arm that tenses.*?(?=^## )", page, flags=re.MULTILINE | re.DOTALL)
    with opensim_package(tmp_path):
        assert len(_follow(section, tmp_path)) == 4
    assert (tmp_path / "co_contraction.png").stat().st_size > 50_000
    told = (tmp_path / "tensed.html").read_text(encoding="utf-8")
    assert "perimeter since the first frame [mm]" in told
    assert "activation [0 to 1]" in told
