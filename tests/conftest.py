"""Where the tests find their data, and what absence means."""

from __future__ import annotations

import gc
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

from ecorche.cli import main as cli
from farm_people import stage as stage
from farm_people import wholes as wholes

# the same examples in every run, however busy the machine is
settings.register_profile("ecorche", deadline=None, derandomize=True)
settings.load_profile("ecorche")

ROOT = Path(__file__).resolve().parent.parent


FIRST = (
    "pages", "blender_extension", "studio_muscles", "anatomy_rig", "add_muscles", "studio_page",
    "studio_files", "extraction_bad_input", "cluster", "studio_motion", "studio_lines", "studio_joints",
    "studio_files_page", "studio_five_minutes", "laid_skin", "bad_skins", "coupling", "body_springs",
    "tensions_opensim", "limp_lines", "crowd_command", "found_muscles_inside", "studio",
    "line_muscle_range", "integrators", "shots", "web_player",
)  # fmt: skip
"""Files of tests that take longest: they begin first, so that no worker is left with one at the end."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The order of files; within each, tests stay as they are written."""
    places = {f"test_{name}": place for place, name in enumerate(FIRST)}
    items.sort(key=lambda item: places.get(item.path.stem, len(FIRST)))


def pytest_collection_finish() -> None:
    """What thousands of tests are described by stays to the end: no search for garbage goes through it."""
    gc.freeze()


def skip_or_fail(reason: str) -> None:
    """Skip with a reason on a person's machine; fail where CI=true promised everything is there."""
    if os.environ.get("CI") == "true":
        pytest.fail(f"with CI=true nothing may be skipped: {reason}")
    pytest.skip(reason)


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real characters, motions and anatomy."""
    folder = Path(os.environ.get("ECORCHE_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        skip_or_fail("no real data: set ECORCHE_DATA to the folder that holds human/, cmu/, dog/")
    return folder


Command = Callable[..., str]
"""The command with its arguments, and the exit code that is expected: what it prints."""
Figure = Callable[[str, float, float, str], None]
"""Records what was compared, how far apart it was, what was asked for, and the unit."""


@pytest.fixture(scope="session")
def figure() -> Figure:
    """Keep a measured figure for the results, where ECORCHE_FIGURES names a file to add it to."""

    def record(what: str, measured: float, asked: float, unit: str) -> None:
        if "ECORCHE_FIGURES" in os.environ:
            with Path(os.environ["ECORCHE_FIGURES"]).open("a") as file:
                line = {"what": what, "measured": float(measured), "asked": asked, "unit": unit}
                file.write(json.dumps(line) + "\n")

    return record


@pytest.fixture
def ecorche(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    """Run the command in this process: what it printed, or with code 2 what it said was wrong.

    Any exit code but the expected one fails.
    """

    def run(*arguments: object, code: int = 0) -> str:
        monkeypatch.setattr(sys, "argv", ["ecorche", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            cli.run()
        printed = capsys.readouterr()
        assert int(stop.value.code or 0) == code, printed.out + printed.err
        assert "Traceback" not in printed.err
        return printed.err if code == 2 else printed.out

    return run
