"""Where the tests find their data, and what absence means."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

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
