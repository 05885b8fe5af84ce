"""Shot lists are read as they are meant, and refused in words where they cannot be."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import Command
from ecorche.cli.bake import Feet
from ecorche.cli.bake_options import bake_options, shot_options
from ecorche.cli.dynamics import Swing
from ecorche.errors import EcorcheError
from ecorche.farm.shot_list import read_shots
from farm_people import stage as stage

TOML = """
[defaults]
character = "man.ecorche"
feet = "planted"

[[shot]]
name = "walk, first take"
motion = "walk.bvh"
frames = "20-25"

[[shot]]
name = "Läufer 走る"
motion = "jump.bvh"
feet = "directions"
rate = 24
coupling = ["fascia", "subdivision=1"]
limits = true
with-muscles = false
format = "npz"
"""

CSV = """\ufeffname,character,motion,frames,rate,coupling,limits,feet,format
"walk, first take",man.ecorche,walk.bvh,20-25,,,,planted,

Läufer 走る,man.ecorche,jump.bvh,,24,fascia; subdivision=1,yes,directions,.npz
"""


@pytest.mark.parametrize(("name", "text"), [("list.toml", TOML), ("list.csv", CSV)])
def test_both_kinds_of_list_say_the_same(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    one, two = read_shots(tmp_path / name)
    assert [one.file_name(), two.file_name()] == ["walk, first take.usdc", "Läufer 走る.npz"]
    options = shot_options(one.settings, tmp_path, one.where)
    assert options["character"] == tmp_path / "man.ecorche"
    assert (options["feet"], options["frames"], options["rate"]) == (Feet.planted, "20-25", None)
    assert options["dynamics"] is Swing.off
    settings = {key: value for key, value in two.settings.items() if key != "format"}
    options = shot_options(settings, tmp_path, two.where)
    assert (options["feet"], options["frames"], options["rate"]) == (Feet.directions, None, 24.0)
    assert (options["coupling"], options["limits"]) == (["fascia", "subdivision=1"], True)


def test_semicolons_as_some_spreadsheets_write_them(tmp_path: Path) -> None:
    (tmp_path / "list.csv").write_text("name;motion\nwalk;a.bvh\n")
    (shot,) = read_shots(tmp_path / "list.csv")
    assert shot.settings == {"motion": "a.bvh"}


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("l.csv", "name,motion\nwalk,a\nWALK,b\n", r"line 3: the shot 'WALK' is there already \(line 2\)"),
        ("l.csv", "name\ncafé\ncafe\u0301\n", "is there already"),
        ("l.csv", "name,motion\nwalk\n", "line 2: has 1 cells, the first line 2"),
        ("l.csv", "shot,motion\nwalk,a\n", "has no column 'name'"),
        ("l.csv", "name,rate,rate\na,1,2\n", "two columns 'rate'"),
        ("l.csv", "name,motion\n ,a\n", "line 2: has no name"),
        ("l.csv", "name,motion\na/b,a\n", "the name 'a/b' has '/'"),
        ("l.csv", "name,motion\n", "there is no shot in it"),
        ("l.csv", b"name\n\xff\xfe\n", "is not UTF-8"),
        ("l.toml", "[[shot]\n", "is not TOML"),
        ("l.toml", "[[shots]]\nname = 'a'\n", "Did you mean 'shot'"),
        ("l.toml", "[[shot]]\nname = 3\n", "shot 1: has no name"),
        ("l.toml", "[[shot]]\nname = '.hidden'\n", "begins or ends with a full stop"),
        ("l.txt", "", "none of a shot list"),
    ],
)
def test_bad_lists_are_told_by_row(tmp_path: Path, name: str, text: str | bytes, message: str) -> None:
    (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(EcorcheError, match=message):
        read_shots(tmp_path / name)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"moton": "a.bvh"}, "there is no setting 'moton'. Did you mean 'motion'"),
        ({"feet": "plnted"}, "feet: there is no 'plnted'. Did you mean 'planted'"),
        ({"rate": "fast"}, "rate: 'fast' is no number from 0.1 to 10000"),
        ({"samples": "1.5"}, "samples: '1.5' is no whole number from 1 to 64"),
        ({"samples": 99}, "samples: 99 is no whole number"),
        ({"limits": "perhaps"}, "limits: 'perhaps' is neither yes nor no"),
        ({"motion": True}, "motion: True is not a value"),
        ({"threads": 2}, "'threads' is not for a shot to say"),
    ],
)
def test_bad_settings_are_told_by_shot(tmp_path: Path, settings: dict[str, object], message: str) -> None:
    with pytest.raises(EcorcheError, match=message):
        shot_options(settings, tmp_path, "list.csv, line 7")


def test_every_option_of_bake_can_be_a_setting() -> None:
    options = bake_options()
    assert {"character", "motion", "coupling", "usd-as", "dynamics", "preroll", "mesh"} <= set(options)
    assert all(isinstance(option.kind, type) or option.kind == list[str] for option in options.values())


def test_what_cannot_be_done_is_refused_before_anything_is(
    stage: Path, tmp_path: Path, ecorche: Command
) -> None:
    listed = tmp_path / "list.csv"

    def told(text: str, *options: object) -> str:
        listed.write_text(text)
        return ecorche("shots", listed, *options, code=2)

    man = stage / "man.glb"
    assert "there is no such file: " in told(f"name,character\na,{man}\nb,{tmp_path}/nobody.glb\n")
    assert "list.csv, line 2, format: the suffix '.avi'" in told(f"name,character,format\na,{man},avi\n")
    assert "exclude each other" in told("name\na\n", "--resume", "--again")
    assert "have been started already" in told("name\na\n", "--cluster", "tcp://a:1", "--workers", 2)
    assert [path.name for path in tmp_path.iterdir()] == ["list.csv"]


def test_a_dry_run_prints_commands_that_do_the_same(stage: Path, tmp_path: Path, ecorche: Command) -> None:
    listed = tmp_path / "list.toml"
    text = TOML
    for name in ("man.ecorche", "walk.bvh", "jump.bvh"):
        text = text.replace(f'"{name}"', f'"{stage / name}"')
    listed.write_text(text)
    one, two = ecorche("shots", listed, "--dry-run").splitlines()
    assert one == (
        f"ecorche bake {stage}/man.ecorche --output '{tmp_path}/list/walk, first take.usdc'"
        f" --motion {stage}/walk.bvh --feet planted --frames 20-25"
    )
    assert two.endswith("--rate 24.0 --limits --coupling fascia --coupling subdivision=1")
    assert list(tmp_path.iterdir()) == [listed]
