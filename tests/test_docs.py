"""What the pages show works as shown: commands, files, links, options, paths."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from itertools import combinations
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from conftest import ROOT, skip_or_fail
from ecorche.body.payload import payload_type

FENCED = re.compile(r"^```(\w+)(?: +([^\n]+))?\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)
"""Blocks of a page: their language, what is said beside it, and their text."""
EDITED = "biceps brachii, long head, right"
"""The muscle that the page on muscles edits."""


def _shortened(source: Path, target: Path, frames: int) -> None:
    """The first frames of a BVH file: what a program in the README does with it takes long enough."""
    head, rows = re.split(r"Frame Time:.*\n", source.read_text())
    head = re.sub(r"Frames:\s*\d+", f"Frames: {frames}", head)
    target.write_text(head + "Frame Time: 0.0083333\n" + "\n".join(rows.splitlines()[:frames]) + "\n")


def _program(text: str, folder: Path) -> str:
    """What a Python program says that succeeds."""
    done = subprocess.run([sys.executable, "-c", text], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, f"{text}\n{done.stderr}"
    return done.stdout


def _command(command: str) -> str:
    """What an ``ecorche`` command says that succeeds: without starting Python, in a quarter of the time."""
    from typer.testing import CliRunner

    from ecorche.cli.main import app

    program, *arguments = shlex.split(command)
    assert program == "ecorche"
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, f"{command}\n{done.output}"
    return done.output


def _as_shown(line: str) -> str:
    """A line of output without what differs from build to build: numbers, quoted names, width of columns."""
    line = re.sub(r"'[^']*'", "'…'", line)
    return " ".join(re.sub(r"[-+]?[\d.,]*\d", "0", line).split())


def _follow(page: str, folder: Path) -> list[str]:
    """Do in a folder what a page says, block after block; the commands that ran.

    Commands must succeed and say the lines shown below them. A block with a file's name beside its language
    is put into that file, one called ``edit`` is put into the muscle `EDITED` of ``man.ecorche``.
    """
    ran: list[str] = []
    for language, beside, text in FENCED.findall(page):
        if language == "console":
            said: set[str] = set()
            for line in text.splitlines():
                if line.startswith("$ "):
                    ran.append(re.sub(r"\s+#.*", "", line.removeprefix("$ ")))
                    output = _command(ran[-1])
                    said = {_as_shown(told) for told in output.splitlines()}
                elif line:
                    assert _as_shown(line) in said, f"{ran[-1]} does not say: {line}\n{output}"
        elif language == "python":
            _program(text, folder)
        elif beside == "edit":
            rig = json.loads((folder / "man.ecorche").read_text())
            rig["muscles"]["named"][EDITED] |= json.loads(text)
            (folder / "man.ecorche").write_text(json.dumps(rig))
        elif beside:
            (folder / beside).write_text(text)
    return ran


def test_the_readme_tour_runs(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyvista")
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    _shortened(data / "cmu" / "02_01.bvh", tmp_path / "walk.bvh", frames=40)
    commands = _follow((ROOT / "README.md").read_text(), tmp_path)
    assert len(commands) >= 9
    rig_page = re.search(r"```python\n(.*?)```", (ROOT / "docs" / "rig-file.md").read_text(), flags=re.DOTALL)
    assert rig_page is not None
    assert "unchanged" in _program(rig_page[1], tmp_path)
    for made in ("man.glb", "man.ecorche", "curl.usdc", "curl.png", "muscles.png", "curl.glb", "walk.mp4"):
        assert (tmp_path / made).stat().st_size > 1000, made


def test_the_tutorial_runs_in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyvista")
    monkeypatch.chdir(tmp_path)
    commands = _follow((ROOT / "docs" / "tutorial.md").read_text(), tmp_path)
    assert len(commands) == 11
    for made in ("muscles.png", "flexed.png", "arm.usdc", "arm.glb", "sheet.png", "hero.png"):
        assert (tmp_path / made).stat().st_size > 10_000, made


def test_commands_that_stand_by_themselves_run(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Indented commands of pages that need no more than a person and a motion, in one folder, once each."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(data / "human" / "male_average_cmu_mb.glb", tmp_path / "man.glb")
    shutil.copy(data / "human" / "male_average_cmu_mb.glb", tmp_path / "creature.glb")
    _shortened(data / "cmu" / "02_01.bvh", tmp_path / "walk.bvh", frames=12)
    keyframes = (ROOT / "docs" / "keyframes.md").read_text()
    nod = re.search(r"^    # a nod.*?(?=^\S)", keyframes, flags=re.MULTILINE | re.DOTALL)
    assert nod is not None
    (tmp_path / "nod.pose").write_text(re.sub(r"^    ", "", nod[0], flags=re.MULTILINE))
    (tmp_path / "names.json").write_text('{"LeftUpLeg": "l_hip"}')
    first = {"index.md": 2, "rig-file.md": 5, "keyframes.md": 1, "guide.md": 1}
    ran: list[str] = []
    for page, count in first.items():
        shown = re.findall(
            r"^    (ecorche .*?)(?:\s+#.*)?$", (ROOT / "docs" / page).read_text(), re.MULTILINE
        )
        ran += [command for command in shown[:count] if command not in ran]
    lines = (ROOT / "docs" / "action_lines.md").read_text()
    ran += re.findall(r"^    (ecorche activation .*?)(?:\s+#.*)?$", lines, flags=re.MULTILINE)
    assert len(ran) == 10
    for command in ran:
        _command(command)


def test_the_page_on_browsers_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    page = (ROOT / "docs" / "web.md").read_text()
    assert len(_follow(page, tmp_path)) == 3
    named = re.findall(r"`([\w-]+\.(?:html|glb|js|d\.ts|txt))`", page)
    assert {path.name for path in (tmp_path / "page").iterdir()} == {*named, "README.md"}
    # the library offers what the page calls
    declared = (tmp_path / "page" / "ecorche-player.d.ts").read_text()
    for name in (
        "loadFigure",
        "requireWebGPU",
        "Crowd",
        "onLost",
        "actors",
        "play",
        "blend",
        "tension",
        "update",
    ):
        assert re.search(rf"\b{name}\b", declared), name


def test_the_page_on_pipelines_runs_and_says_what_it_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = os.environ.get("ECORCHE_BPY", str(ROOT / ".venv-bpy" / "bin" / "python"))
    if not Path(python).exists():
        skip_or_fail("no Blender: set ECORCHE_BPY to a Python that has bpy")
    monkeypatch.setenv("ECORCHE_BLENDER_PYTHON", python)
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    commands = _follow((ROOT / "docs" / "pipeline.md").read_text(), tmp_path)
    assert len(commands) == 10
    for made in ("layers.usdc", "shot.usda", "clips.usdc", "again.glb", "curl.fbx", "curl.abc"):
        assert (tmp_path / made).stat().st_size > 500, made


def test_the_page_on_muscles_runs_and_says_what_it_shows(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pyvista")
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    shutil.copy(data / "human" / "male_dressed_mixamo.glb", tmp_path / "dressed.glb")
    shutil.copy(data / "mesh2motion" / "horse-animations.glb", tmp_path / "horse.glb")
    commands = _follow((ROOT / "docs" / "muscles.md").read_text(), tmp_path)
    assert len(commands) >= 20

    def points(name: str) -> npt.NDArray[np.float32]:
        with np.load(tmp_path / f"{name}.npz") as file:
            return np.asarray(file["points"])

    ways = ["joints", "motion", "anticipating", "half", "rest", "plain", "tense", "edited"]
    for one, other in combinations(ways, 2):  # each way of activation, and the edit, is seen in the skin
        assert 1e-4 < np.abs(points(one) - points(other)).max() < 0.05, f"{one}, {other}"


def test_the_page_on_action_lines_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    commands = _follow((ROOT / "docs" / "action_lines.md").read_text(), tmp_path)
    assert len(commands) == 4
    assert (tmp_path / "arms.ecorche").is_file()
    with np.load(tmp_path / "curl.npz") as file:
        assert file["points"].shape[0] == 1


def test_the_page_on_skin_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyvista")
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    commands = _follow((ROOT / "docs" / "skin.md").read_text(), tmp_path)
    assert len(commands) == 5
    assert '"everywhere": "fascia"' in (tmp_path / "man.ecorche").read_text()
    for made in ("skin.png", "figure.png", "bare.glb"):
        assert (tmp_path / made).stat().st_size > 10_000


def test_the_page_on_springs_runs(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyvista")
    monkeypatch.chdir(tmp_path)
    shutil.copy(data / "human" / "male_muscular_cmu_mb.glb", tmp_path / "man.glb")
    shutil.copy(data / "cmu" / "13_13.bvh", tmp_path / "jump.bvh")
    page = (ROOT / "docs" / "springs.md").read_text()
    # three of its frames: what is shown takes longer
    assert len(_follow(page.replace("--frames 130-147", "--frames 145-147"), tmp_path)) == 3
    assert (tmp_path / "springs.png").stat().st_size > 10_000
    (shown,) = (text for language, _, text in FENCED.findall(page) if language == "json")
    rig = json.loads((tmp_path / "man.ecorche").read_text()) | json.loads(shown)
    (tmp_path / "man.ecorche").write_text(json.dumps(rig))
    assert "problem" not in _command("ecorche check man.ecorche")


def test_the_page_on_real_time_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs" / "realtime.md").read_text()
    assert len(_follow(page, tmp_path)) == 2
    sizes = [payload_type(31, muscles).itemsize for muscles in (56, 0)]
    assert (
        f"{sizes[0]:,} for 31 joints and 56 muscles, of which the muscles take {sizes[0] - sizes[1]}" in page
    )


def test_the_page_on_crowds_runs(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyvista")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "moves").mkdir()
    for clip, name in {"02_01": "walk", "02_03": "run", "13_13": "jump"}.items():
        shutil.copy(data / "cmu" / f"{clip}.bvh", tmp_path / "moves" / f"{name}.bvh")
    assert len(_follow((ROOT / "docs" / "crowds.md").read_text(), tmp_path)) == 5
    for made in ("crowd.mp4", "crowd.png", "crowd.usdc"):
        assert (tmp_path / made).stat().st_size > 10_000


def test_pictures_of_pages_are_small_and_made_by_the_pages_own_commands() -> None:
    shown = []
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
        text = page.read_text()
        for link in re.findall(r"!\[[^\]]+\]\((\S+\.(?:png|jpg))\)", text):
            picture = page.parent / link
            shown.append(picture.name)
            assert picture.stat().st_size < 300_000
            made = rf"\$ ecorche (?:render|crowd) .*-o {picture.name}"
            if picture.suffix == ".jpg":  # of a report, as a browser shows it
                made = rf"    ecorche report .*-o {picture.stem}.html"
            assert re.search(rf"^{made}$", text, flags=re.MULTILINE), link
    assert sorted(shown) == sorted(file.name for file in (ROOT / "docs" / "pictures").iterdir())


def test_the_pictures_of_found_muscles_are_drawn_as_their_page_says(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(data / "human" / "male_muscular_cmu_mb.glb", tmp_path / "muscular.glb")
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    page = (ROOT / "docs" / "extraction.md").read_text()
    section = re.search(r"^## How to read the pictures\n(.*?)(?=^## )", page, flags=re.MULTILINE | re.DOTALL)
    assert section is not None
    assert len(_follow(section[1], tmp_path)) == 3
    assert (tmp_path / "extraction.png").stat().st_size > 50_000
    assert (tmp_path / "hybrid.png").stat().st_size > 50_000


def test_paths_that_the_house_is_told_by_exist() -> None:
    """Folders, files and tests that pages name in code marks, from the root, the package or the tests."""
    homes = [ROOT, ROOT / "src" / "ecorche", ROOT / "tests", ROOT / "src" / "ecorche" / "muscles"]
    for page in ("CONTRIBUTING.md", "docs/muscles.md", "docs/guide.md"):
        named = re.findall(r"`([a-z_]+(?:/[a-z_]+)*(?:/|\.py))`", (ROOT / page).read_text())
        for path in named:
            assert any((home / path).exists() for home in homes), f"{page}: {path}"
        assert len(named) >= (10 if page == "CONTRIBUTING.md" else 1)
    for layer in re.findall(r"`(base < [^`]+)`", (ROOT / "CONTRIBUTING.md").read_text()):
        for folder in re.split(r" < |, ", layer):
            assert (ROOT / "src" / "ecorche" / folder).is_dir(), folder


def test_options_that_pages_name_exist() -> None:
    from typer.main import get_command

    from ecorche.cli.main import app

    verbs = get_command(app).commands  # type: ignore[attr-defined]
    known = {verb: {o for p in c.params for o in p.opts} | {"--help"} for verb, c in verbs.items()}
    for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        text = page.read_text()
        for verb, rest in re.findall(r"^\s*(?:\$ )?ecorche (\w+)(.*?)(?:#.*)?$", text, flags=re.MULTILINE):
            assert set(re.findall(r"(?<!\S)--?[a-z][a-z-]*", rest)) <= known[verb], (
                f"{page.name}: {verb}{rest}"
            )
        for option in re.findall(r"`(--[a-z-]+)", text):
            assert any(option in options for options in known.values()), f"{page.name}: {option}"


def test_links_lead_somewhere() -> None:
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]:
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
