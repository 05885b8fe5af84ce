"""The commands the README shows work as shown."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import ROOT


def test_the_readme_tour_runs(data: Path, tmp_path: Path) -> None:
    pytest.importorskip("pyvista")
    readme = (ROOT / "README.md").read_text()
    commands = re.findall(r"^\$ (ecorche .*?)(?:\s+#.*)?$", readme, flags=re.MULTILINE)
    program = re.search(r"```python\n(.*?)```", readme, flags=re.DOTALL)
    assert len(commands) >= 8
    assert program is not None

    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    shutil.copy(data / "cmu" / "02_03.bvh", tmp_path / "walk.bvh")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for command in commands:
        done = subprocess.run(
            command,
            shell=True,
            cwd=tmp_path,
            env={**os.environ, "PATH": path},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    done = subprocess.run([sys.executable, "-c", program[1]], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for made in ("man.glb", "walk.usdc", "walk.png", "walk.glb", "man.ecorche", "walk.mp4"):
        assert (tmp_path / made).stat().st_size > 1000, made


def test_links_lead_somewhere() -> None:
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")]:
        for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
            assert (page.parent / link).exists(), f"{page.name}: {link}"


def test_the_readme_shows_the_results_that_were_measured() -> None:
    from benchmarks.readme import table

    results = (ROOT / "benchmarks" / "RESULTS.md").read_text()
    shown = re.search(
        r"<!-- results -->\n(.*?)\n<!-- /results -->", (ROOT / "README.md").read_text(), re.DOTALL
    )
    assert shown is not None
    assert shown[1] == table(results)
    assert shown[1].count("\n") >= 8
