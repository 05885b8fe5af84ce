"""The page on musculoskeletal models: its program runs, on a measured walk."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from conftest import ROOT
from osim_models import opensim_package


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
