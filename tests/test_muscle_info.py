"""What is told of a rig's muscles in numbers: lengths, volumes, vertices and forces."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from ecorche.body.character import Character
from ecorche.body.compile import compile_body
from ecorche.body.extract_muscles import with_lofted
from ecorche.body.muscle_specs import muscles_of
from ecorche.body.muscle_summary import summarise_muscles
from ecorche.cli.activation import activation_source
from ecorche.cli.main import app
from ecorche.cli.subject import Subject
from ecorche.document.files import Rig, write_rig
from ecorche.io.bvh import read_motion
from ecorche.muscles.musculature import musculature
from ecorche.skeleton.kinematics import difference_from_bind
from ecorche.skeleton.motion import bind_pose
from ecorche.skeleton.retarget import retarget
from extracted_people import extracted
from rigged_people import BICEPS, edited, person, rigged


@pytest.fixture
def man(data: Path) -> Character:
    return person(data / "human" / "male_average_cmu_mb.glb")


@pytest.fixture
def rig(data: Path) -> Rig:
    return rigged(data / "human" / "male_average_cmu_mb.glb")


def test_lengths_are_told_over_the_joints_limits(man: Character, rig: Rig) -> None:
    summary = summarise_muscles(man, rig)
    assert summary is not None
    assert summary.over == "each joint's limits, one joint at a time from bind"
    rows = {row.name: row for row in summary.muscles}
    assert list(rows) == list(rig.spec.muscles.named)
    body = compile_body(man, rig=rig).muscles
    assert body is not None
    for number, row in enumerate(summary.muscles):
        assert row.shortest <= row.length <= row.longest
        assert row.volume_error < 1e-9  # the exact rule
        assert row.held == 0.0
        assert row.vertices == len(np.unique(body.influences.vertices()[body.influences.muscles == number]))
    # bent elbows shorten the biceps and lengthen the triceps, by more than anything at the wrist does
    biceps, triceps = rows[BICEPS], rows["triceps brachii, lateral head, right"]
    assert biceps.shortest < 0.85 * biceps.length
    assert triceps.longest > 1.08 * triceps.length
    assert biceps.vertices > 0
    assert biceps.max_force == rig.spec.muscles.named[BICEPS].max_force


def test_lengths_are_told_over_a_motion(data: Path, man: Character, rig: Rig) -> None:
    still = bind_pose(man.skeleton)
    summary = summarise_muscles(man, rig, still)
    assert summary is not None
    assert all(row.shortest == row.length == row.longest for row in summary.muscles)
    assert summary.poses == 1
    walk = retarget(read_motion(data / "cmu" / "02_01.bvh"), man.skeleton).motion
    summary = summarise_muscles(man, rig, walk)
    assert summary is not None
    muscles, scapulae = muscles_of(rig, man.skeleton)
    moved = difference_from_bind(man.skeleton, walk.local)
    lengths = musculature(muscles, man.skeleton, scapulae).posed(moved[::7])[0].path.lengths
    for row, over in zip(summary.muscles, lengths.T, strict=True):
        assert row.shortest <= over.min()
        assert row.longest >= over.max()
        assert row.longest - row.shortest > 1e-4
    assert summary.poses == walk.frame_count


def test_muscles_that_cannot_keep_their_volume_are_told(man: Character, rig: Rig) -> None:
    """A steep belly: its thin side has no more to give when the muscle is stretched."""
    belly = rig.spec.muscles.named[BICEPS].belly
    after = 0.02 + 0.0199 * (1.0 - belly) / belly
    steep = edited(
        rig, BICEPS, thickness=((0.002, 0.002, 0.0001, 0.02), (0.02, after, 0.01, 0.002)), sweep=None
    )
    rows = {row.name: row for row in summarise_muscles(man, steep).muscles}  # type: ignore[union-attr]
    assert rows[BICEPS].held > 0.0
    assert rows[BICEPS].volume_error > 1e-3
    two_cone = rig.spec.muscles.model_copy(update={"volume": "two_cone"})
    published = summarise_muscles(man, replace(rig, spec=rig.spec.model_copy(update={"muscles": two_cone})))
    assert published is not None
    assert max(row.volume_error for row in published.muscles) > 1e-3


def test_info_lists_the_muscles_for_people_and_programs(rig: Rig, data: Path, tmp_path: Path) -> None:
    man = tmp_path / "man.glb"
    shutil.copy(data / "human" / "male_average_cmu_mb.glb", man)
    spec = rig.spec.model_copy(
        update={"character": rig.spec.character.model_copy(update={"path": "man.glb"})}
    )
    write_rig(tmp_path / "man.ecorche", replace(rig, spec=spec))
    run = CliRunner()
    walk = str(data / "cmu" / "02_01.bvh")
    told = run.invoke(app, ["info", str(tmp_path / "man.ecorche"), "-m", walk]).output
    assert "160 muscles; ranges over motion '02_01'" in told
    row = next(line for line in told.splitlines() if line.startswith(BICEPS))
    assert "elbow flexors" in row
    assert "0.00 %" in row
    assert row.endswith(" 624")
    as_json = json.loads(run.invoke(app, ["info", str(tmp_path / "man.ecorche"), "--json"]).output)
    assert len(as_json["muscles"]["muscles"]) == 160
    assert as_json["muscles"]["over"].startswith("each joint's limits")
    biceps = next(m for m in as_json["muscles"]["muscles"] if m["name"] == BICEPS)
    assert biceps["length"] == pytest.approx(0.3, abs=0.02)
    assert "muscles" not in json.loads(run.invoke(app, ["info", str(man), "--json"]).output)
    refused = run.invoke(app, ["info", str(man), "-m", walk])
    assert refused.exit_code != 0


def test_muscles_found_in_the_skin_are_told_too(data: Path, tmp_path: Path) -> None:
    path = data / "human" / "male_muscular_cmu_mb.glb"
    strong, found = extracted(path)
    rig = with_lofted(rigged(path), found.spec.muscles.lofted)
    summary = summarise_muscles(strong, rig)
    assert summary is not None
    rows = {row.name: row for row in summary.muscles}
    assert list(rows) == [*rig.spec.muscles.named, *rig.spec.muscles.lofted]
    lofts = compile_body(strong, rig=rig).lofts
    assert lofts is not None
    for number, name in enumerate(rig.spec.muscles.lofted):
        row = rows[name]
        assert row.found
        assert row.prominence == rig.spec.muscles.lofted[name].prominence > 0.0
        assert row.shortest <= row.length <= row.longest
        assert row.vertices == int((lofts.over.weight[number] > 0.0).sum())
        if 0.5 * row.length < row.shortest and row.longest < 1.5 * row.length:
            assert row.volume_error < 0.01
    biceps = rows["upper arm front, left"]
    assert biceps.shortest < 0.85 * biceps.length
    assert not rows[BICEPS].found
    # the same lengths as the muscles themselves tell over a motion
    walk = retarget(read_motion(data / "cmu" / "02_01.bvh"), strong.skeleton).motion
    moved = summarise_muscles(strong, rig, walk)
    assert moved is not None
    lengths = lofts.lofts.lengths(difference_from_bind(strong.skeleton, walk.local))
    for row, over in zip(moved.muscles[len(rig.spec.muscles.named) :], lengths.T, strict=True):
        assert row.shortest == pytest.approx(min(over.min(), row.length), abs=1e-9)
        assert row.longest == pytest.approx(max(over.max(), row.length), abs=1e-9)
    # the commands, of some muscles
    shutil.copy(path, tmp_path / "man.glb")
    reference = rig.spec.character.model_copy(update={"path": "man.glb"})
    file = tmp_path / "man.ecorche"
    write_rig(file, replace(rig, spec=rig.spec.model_copy(update={"character": reference})))
    run = CliRunner()
    told = run.invoke(app, ["info", str(file), "--muscle", "biceps BRACHII"]).output
    assert "4 muscles; ranges over" in told
    assert "2 muscles found in the skin; ranges over" in told
    as_json = json.loads(run.invoke(app, ["info", str(file), "--json", "--muscle", "biceps brachii"]).output)
    assert {m["name"] for m in as_json["muscles"]["muscles"] if m["found"]} == {
        "upper arm front, left",
        "upper arm front, right",
    }
    refused = run.invoke(app, ["info", str(file), "--muscle", "bicepz brachii"])
    assert refused.exit_code == 2
    assert "Did you mean 'biceps brachii'?" in refused.output
    shown = run.invoke(app, ["weights", str(file), "upper arm front, left"]).output
    assert shown.startswith(f"'upper arm front, left' moves {biceps.vertices:,} of")
    mask = tmp_path / "mask.npy"
    assert run.invoke(app, ["weights", str(file), "upper arm front, left", "-o", str(mask)]).exit_code == 0
    number = lofts.lofts.names.index("upper arm front, left")
    np.testing.assert_allclose(np.load(mask), lofts.over.weight[number], atol=1e-6)
    run.invoke(app, ["weights", str(file), "upper arm front, left", "--from", str(mask)])
    assert "(painted)" in run.invoke(app, ["weights", str(file), "upper arm front, left"]).output


def test_found_muscles_are_activated_by_name(data: Path, tmp_path: Path) -> None:
    """Spindles come first, then what was found; a curve for a group moves muscles of both kinds."""
    path = data / "human" / "male_muscular_cmu_mb.glb"
    strong, found = extracted(path)
    rig = with_lofted(rigged(path), found.spec.muscles.lofted)
    curves = tmp_path / "curves.csv"
    curves.write_text('time,"upper arm front, left",elbow extensors\n0,1,0.25\n')
    source = activation_source(str(curves), Subject(strong, rig))
    assert source is not None
    values = source.over(bind_pose(strong.skeleton))[0]
    names = [*rig.spec.muscles.named, *rig.spec.muscles.lofted]
    assert values.shape == (len(names),)
    assert values[names.index("upper arm front, left")] == 1.0
    for number, (_, muscle) in enumerate(rig.spec.muscles.each()):
        if muscle.group == "elbow extensors":
            assert values[number] == 0.25
    half = activation_source("0.5", Subject(strong, found))
    assert half is not None
    assert (half.over(bind_pose(strong.skeleton)) == 0.5).all()
