"""Where the tests find their data, and what absence means."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

# the same examples in every run, however busy the machine is
settings.register_profile("ecorche", deadline=None, derandomize=True)
settings.load_profile("ecorche")

ROOT = Path(__file__).resolve().parent.parent


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


Figure = Callable[[str, float, float, str], None]
"""Records what was compared, how far apart it was, what was asked for, and the unit."""


@pytest.fixture(scope="session")
def figure() -> Figure:
    """Keep a measured figure for the results, where ECORCHE_FIGURES names a file to add it to."""

    def record(what: str, measured: float, asked: float, unit: str) -> None:
        if "ECORCHE_FIGURES" in os.environ:
            with Path(os.environ["ECORCHE_FIGURES"]).open("a") as file:
                line = {"what": what, "measured": measured, "asked": asked, "unit": unit}
                file.write(json.dumps(line) + "\n")

    return record
