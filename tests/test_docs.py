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


def _shortened(source: Path, target: Path, frames: int) -> None:
    """The first frames of a BVH file: what a program in the README does with it takes long enough."""
    head, rows = re.split(r"Frame Time:.*\n", source.read_text())
    head = re.sub(r"Frames:\s*\d+", f"Frames: {frames}", head)
    target.write_text(head + "Frame Time: 0.0083333\n" + "\n".join(rows.splitlines()[:frames]) + "\n")


def test_the_readme_tour_runs(data: Path, tmp_path: Path) -> None:
    pytest.importorskip("pyvista")
    readme = (ROOT / "README.md").read_text()
    commands = re.findall(r"^\$ (ecorche .*?)(?:\s+#.*)?$", readme, flags=re.MULTILINE)
    program = re.search(r"```python\n(.*?)```", readme, flags=re.DOTALL)
    assert len(commands) >= 8
    assert program is not None

    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    _shortened(data / "cmu" / "02_01.bvh", tmp_path / "walk.bvh", frames=40)
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
    rig_page = re.search(r"```python\n(.*?)```", (ROOT / "docs" / "rig-file.md").read_text(), flags=re.DOTALL)
    assert rig_page is not None
    done = subprocess.run(
        [sys.executable, "-c", program[1] + rig_page[1]], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert "unchanged" in done.stdout
    for made in ("man.glb", "walk.usdc", "walk.png", "walk.glb", "man.ecorche", "walk.mp4"):
        assert (tmp_path / made).stat().st_size > 1000, made


def test_options_that_pages_name_exist() -> None:
    from typer.main import get_command

    from ecorche.cli.main import app

    verbs = get_command(app).commands  # type: ignore[attr-defined]
    known = {verb: {o for p in c.params for o in p.opts} | {"--help"} for verb, c in verbs.items()}
    for page in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
        text = page.read_text()
        for verb, rest in re.findall(r"^\s*(?:\$ )?ecorche (\w+)(.*?)(?:#.*)?$", text, flags=re.MULTILINE):
            assert set(re.findall(r"(?<!\S)--?[a-z][a-z-]*", rest)) <= known[verb], (
                f"{page.name}: {verb}{rest}"
            )
        for option in re.findall(r"`(--[a-z-]+)", text):
            assert any(option in options for options in known.values()), f"{page.name}: {option}"


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
