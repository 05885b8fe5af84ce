"""The picture scripts are asked in one way, and say what is wrong with what they are asked."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType

import pytest

from conftest import ROOT

KNOWN = {"who": ("dog", "horse"), "what": ("elbow", "knee")}


@pytest.fixture
def options(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    module = importlib.import_module("picture_options")
    (tmp_path / "human").mkdir()
    monkeypatch.setattr(module, "DATA", tmp_path)
    return module


def test_everything_is_drawn_unless_names_are_chosen(
    options: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["script"])
    assert options.asked("Help.", "sheets", KNOWN) == (
        Path("out/sheets"),
        {"who": ["dog", "horse"], "what": ["elbow", "knee"]},
    )
    monkeypatch.setattr("sys.argv", ["script", "there", "--what", "knee, elbow"])
    assert options.asked("Help.", "sheets", KNOWN) == (
        Path("there"),
        {"who": ["dog", "horse"], "what": ["knee", "elbow"]},
    )


@pytest.mark.parametrize(
    ("line", "needed", "said"),
    [
        (["--who", "dog,cat"], ("human",), "there is no 'cat'; known: dog, horse"),
        ([], ("human", "cmu"), "no cmu/; set ECORCHE_DATA"),
    ],
)
def test_what_cannot_be_drawn_is_refused_in_words(
    line: list[str],
    needed: tuple[str, ...],
    said: str,
    options: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("sys.argv", ["script", *line])
    with pytest.raises(SystemExit, match="2"):
        options.asked("Help.", "sheets", KNOWN, needed)
    assert said in capsys.readouterr().err
