"""Spindles edited by hand: points dragged, curves drawn; what cannot be a muscle is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from ecorche.body.character import Character
from ecorche.body.compile import compile_body
from ecorche.body.edit_any_muscle import (
    duplicated,
    renamed,
    with_influence,
    with_largest_bulge,
    with_max_force,
    with_words,
)
from ecorche.body.edit_spindles import (
    added_via,
    moved_belly,
    moved_point,
    moved_sweep_control,
    moved_thickness_control,
    one_spindle,
    removed_via,
    scaled,
    turned_outward,
)
from ecorche.body.muscle_over_length import muscle_over_length
from ecorche.body.muscle_summary import skin_moved_by
from ecorche.body.painting import with_weights
from ecorche.body.rig import check_rig
from ecorche.document.files import Rig, read_rig, write_rig
from ecorche.errors import DocumentError, EcorcheError
from ecorche.muscles.spindle_controls import moved_thickness, with_belly
from extracted_people import extracted
from rigged_people import BICEPS, person, rigged

Floats = npt.NDArray[np.float64]

DELTOID = "deltoid, middle, right"


@pytest.fixture
def man(data: Path) -> Character:
    return person(data / "human" / "male_average_cmu_mb.glb")


@pytest.fixture
def rig(data: Path) -> Rig:
    return rigged(data / "human" / "male_average_cmu_mb.glb")


def points_of(rig: Rig, man: Character, name: str) -> Floats:
    return one_spindle(rig, man, name).frames.paths.bind_points


def smooth_at_belly(rig: Rig, name: str) -> None:
    """The halves meet in value and slope; `MuscleSpec` asks the same to a millionth."""
    spec = rig.spec.muscles.named[name]
    (a, b) = np.array(spec.thickness)
    assert a[3] == b[0]
    np.testing.assert_allclose((a[3] - a[2]) / spec.belly, (b[1] - b[0]) / (1.0 - spec.belly), atol=1e-7)
    assert min(a.min(), b.min()) >= 0.0


def test_a_dragged_insertion_is_where_it_was_dragged_and_all_else_stays(man: Character, rig: Rig) -> None:
    before = points_of(rig, man, BICEPS)
    place = before[-1] + [0.0, -0.01, 0.005]
    edited = moved_point(rig, man, BICEPS, -1, place)
    after = points_of(edited.rig, man, BICEPS)
    np.testing.assert_allclose(after[-1], place, atol=1e-8)
    np.testing.assert_array_equal(after[:-1], before[:-1])
    others = {n: m for n, m in rig.spec.muscles.named.items() if n != BICEPS}
    assert {n: m for n, m in edited.rig.spec.muscles.named.items() if n != BICEPS} == others
    assert list(edited.rig.spec.muscles.named) == list(rig.spec.muscles.named)
    assert edited.lines == (f"the insertion of {BICEPS!r} moved by 11.2 mm",)
    assert check_rig(edited.rig, man) == []


def test_an_end_on_another_joint_acts_on_what_lies_between(man: Character, rig: Rig) -> None:
    place = points_of(rig, man, "brachialis, right")[0]
    trunk = man.skeleton.names.index("Spine1")
    edited = moved_point(rig, man, "brachialis, right", 0, place, joint="RightShoulder")
    spec = edited.rig.spec.muscles.named["brachialis, right"]
    assert spec.path[0].joint == "RightShoulder"
    np.testing.assert_allclose(points_of(edited.rig, man, "brachialis, right")[0], place, atol=1e-8)
    assert {a.joint for a in spec.actions} <= {"RightArm", "RightForeArm"}
    assert spec.actions
    assert "it works at" in edited.lines[1]
    outside = man.skeleton.bind_world[trunk, :3, 3] + [0.0, 0.0, 1.0]
    assert "outside the skin" in moved_point(rig, man, BICEPS, 0, outside).lines[-1]
    with pytest.raises(EcorcheError, match="there is no joint 'RightFoorArm'"):
        moved_point(rig, man, BICEPS, 0, place, joint="RightFoorArm")
    with pytest.raises(EcorcheError, match="no place"):
        moved_point(rig, man, BICEPS, 0, [np.nan, 0.0, 0.0])
    with pytest.raises(EcorcheError, match="has no point 9"):
        moved_point(rig, man, BICEPS, 9, place)
    held = points_of(rig, man, BICEPS)
    with pytest.raises(EcorcheError):
        moved_point(rig, man, BICEPS, 0, held[1])  # no two points in one place
    inner = removed_via(rig, man, "brachialis, right", 1).rig
    with pytest.raises(DocumentError, match="both ends move with one joint"):
        moved_point(inner, man, "brachialis, right", 0, place, joint="RightForeArm")


def test_actions_read_off_a_path_are_those_of_the_template(man: Character, rig: Rig) -> None:
    """An elbow flexor whose origin moves to the shoulder girdle and back bends the elbow as before."""
    name = "brachialis, right"
    spec = rig.spec.muscles.named[name]
    there = moved_point(rig, man, name, 0, points_of(rig, man, name)[0], joint="RightShoulder").rig
    back = moved_point(there, man, name, 0, points_of(rig, man, name)[0], joint=spec.path[0].joint).rig
    (before, *_), (found, *_) = spec.actions, back.spec.muscles.named[name].actions
    assert found.joint == before.joint
    assert np.dot(found.axis, before.axis) > 0.8


def test_via_points_come_and_go(man: Character, rig: Rig) -> None:
    before = points_of(rig, man, BICEPS)
    more = added_via(rig, man, BICEPS, 0)
    after = points_of(more.rig, man, BICEPS)
    np.testing.assert_allclose(after[1], before[:2].mean(axis=0), atol=1e-8)
    assert len(after) == len(before) + 1
    again = removed_via(more.rig, man, BICEPS, 1)
    assert again.rig.spec.muscles.named[BICEPS].path == rig.spec.muscles.named[BICEPS].path
    with pytest.raises(EcorcheError, match=r"the origin of .* cannot be taken out"):
        removed_via(rig, man, BICEPS, 0)
    with pytest.raises(EcorcheError, match=r"no point of .* can follow"):
        added_via(rig, man, BICEPS, len(before) - 1)


@pytest.mark.parametrize(("half", "number"), [(h, n) for h in (0, 1) for n in range(4)])
def test_thickness_stays_a_spindle_whatever_is_dragged(
    man: Character, rig: Rig, half: int, number: int
) -> None:
    for value in (0.0, 0.004, 0.031, -0.01):
        edited = moved_thickness_control(rig, man, BICEPS, half, number, value)
        smooth_at_belly(edited.rig, BICEPS)
        found = edited.rig.spec.muscles.named[BICEPS].thickness[half][number]
        assert found == pytest.approx(
            max(value, 1e-5 if (half, number) in ((0, 3), (1, 0)) else 0.0), abs=1e-9
        )
        assert (value < 0.0) <= any("held at" in line for line in edited.lines)


def test_a_handle_beside_the_belly_moves_its_partner(man: Character, rig: Rig) -> None:
    spec = rig.spec.muscles.named[BICEPS]
    top = spec.thickness[0][3]
    edited = moved_thickness_control(rig, man, BICEPS, 0, 2, top - 0.004)
    (_, after) = edited.rig.spec.muscles.named[BICEPS].thickness
    assert after[1] == pytest.approx(top + 0.004 * (1.0 - spec.belly) / spec.belly, abs=1e-8)
    raised = moved_thickness_control(edited.rig, man, BICEPS, 1, 0, top + 0.003).rig
    before, after = raised.spec.muscles.named[BICEPS].thickness
    assert before[3] == after[0] == pytest.approx(top + 0.003)
    assert before[2] == pytest.approx(top - 0.001)  # the slope stays
    smooth_at_belly(raised, BICEPS)


def test_a_partner_is_held_at_zero_and_that_is_told() -> None:
    thickness = np.array([[0.0, 0.01, 0.02, 0.02], [0.02, 0.02, 0.01, 0.0]])
    found = moved_thickness(thickness, 0.5, 0, 2, 0.05)
    assert found.values[1, 1] == 0.0
    assert found.values[0, 2] == pytest.approx(0.04)
    assert found.held == ("the value on the other side of the belly is held at 0 mm",)


def test_sweep_is_zero_at_the_ends_and_bends_smoothly(man: Character, rig: Rig) -> None:
    edited = moved_sweep_control(rig, man, BICEPS, 0, 3, 0.012, -0.003)
    sweep = np.array(edited.rig.spec.muscles.named[BICEPS].sweep)
    np.testing.assert_allclose(sweep[0, 3], [0.012, -0.003])
    np.testing.assert_array_equal(sweep[0, 3], sweep[1, 0])
    assert not sweep[0, 0].any()
    assert not sweep[1, 3].any()
    moved_sweep_control(edited.rig, man, BICEPS, 1, 1, 0.02, 0.0)  # checked whole: no crease
    for half, number in ((0, 0), (1, 3)):
        with pytest.raises(EcorcheError, match="sweep is zero at the"):
            moved_sweep_control(rig, man, BICEPS, half, number, 0.01, 0.0)


@pytest.mark.parametrize("share", [0.02, 0.35, 0.5, 0.9])
def test_a_belly_moves_and_its_curves_stay_curves(man: Character, rig: Rig, share: float) -> None:
    bent = moved_thickness_control(rig, man, BICEPS, 0, 2, 0.006).rig  # a slope at the belly
    bent = moved_sweep_control(bent, man, BICEPS, 0, 2, 0.004, 0.002).rig
    edited = moved_belly(bent, man, BICEPS, share)
    spec = edited.rig.spec.muscles.named[BICEPS]
    assert spec.belly == share
    smooth_at_belly(edited.rig, BICEPS)
    assert spec.thickness[0][3] == bent.spec.muscles.named[BICEPS].thickness[0][3]
    with pytest.raises(EcorcheError, match="belly's centre cannot lie at 1"):
        moved_belly(bent, man, BICEPS, 1.0)


def test_a_belly_at_either_end_is_held_above_nothing() -> None:
    steep = np.array([[0.0, 0.0, 0.0, 0.02], [0.02, 0.04, 0.0, 0.0]])
    thickness, _ = with_belly(steep, np.zeros((2, 4, 2)), 0.5, 0.95)
    assert thickness.values.min() >= 0.0
    assert thickness.held


def test_numbers_of_any_kind(man: Character, rig: Rig) -> None:
    assert scaled(rig, man, BICEPS, 1.5).rig.spec.muscles.named[BICEPS].scale == 1.5
    with pytest.raises(DocumentError, match="scale"):
        scaled(rig, man, BICEPS, 0.0)
    strong = with_max_force(rig, BICEPS, 900.0).rig.spec.muscles.named[BICEPS]
    assert (strong.max_force, strong.force_source) == (900.0, "")
    with pytest.raises(DocumentError):
        with_max_force(rig, BICEPS, -1.0)
    assert with_largest_bulge(rig, BICEPS, 1.8).rig.spec.muscles.named[BICEPS].largest_bulge == 1.8
    with pytest.raises(DocumentError, match="at least 1"):
        with_largest_bulge(rig, BICEPS, 0.5)
    shown = with_words(rig, BICEPS, group="show muscles").rig.spec.muscles.named[BICEPS]
    assert (shown.group, shown.muscle) == ("show muscles", "biceps brachii")


def test_the_bulge_turns_to_where_it_is_told_or_to_the_skin(man: Character, rig: Rig) -> None:
    edited = turned_outward(rig, man, BICEPS, [0.0, 0.0, 5.0])
    np.testing.assert_allclose(edited.rig.spec.muscles.named[BICEPS].outward, [0.0, 0.0, 1.0])
    skin = turned_outward(rig, man, BICEPS).rig.spec.muscles.named[BICEPS].outward
    assert np.dot(skin, rig.spec.muscles.named[BICEPS].outward) > 0.5  # fitting turned it there too
    one = one_spindle(rig, man, BICEPS)
    along = one.frames.bind.at(one.spindles.belly[:, None])[1][0, 0]
    with pytest.raises(EcorcheError, match="runs that way"):
        turned_outward(rig, man, BICEPS, along)
    with pytest.raises(EcorcheError, match="no direction"):
        turned_outward(rig, man, BICEPS, 0.0 * along)


def test_whose_skin_it_moves(man: Character, rig: Rig) -> None:
    deep = with_influence(rig, man, DELTOID, joints=[])
    assert not skin_moved_by(compile_body(man, rig=deep.rig), DELTOID).any()
    assert "deep muscle" in deep.lines[0]
    wide = with_influence(rig, man, DELTOID, neighbourhood="radial", radius=0.2).rig
    more, before = (skin_moved_by(compile_body(man, rig=r), DELTOID) for r in (wide, rig))
    assert (more > 0.0).sum() > (before > 0.0).sum() > 0
    with pytest.raises(EcorcheError, match="there is no joint 'RightArn'"):
        with_influence(rig, man, DELTOID, joints=["RightArn"])


def test_names_and_copies(man: Character, rig: Rig) -> None:
    count = man.body().mesh.vertex_count
    painted = with_weights(rig, BICEPS, np.full(count, 0.25))
    called = renamed(painted, BICEPS, "show biceps").rig
    assert list(called.spec.muscles.named).index("show biceps") == list(rig.spec.muscles.named).index(BICEPS)
    assert called.spec.muscles.named["show biceps"] == painted.spec.muscles.named[BICEPS]
    np.testing.assert_array_equal(skin_moved_by(compile_body(man, rig=called), "show biceps"), 0.25)
    twice = duplicated(painted, BICEPS).rig
    assert f"{BICEPS}.2" in twice.spec.muscles.named
    assert twice.spec.muscles.named[f"{BICEPS}.2"] == painted.spec.muscles.named[BICEPS]
    with pytest.raises(DocumentError, match="already"):
        renamed(rig, BICEPS, DELTOID)
    with pytest.raises(DocumentError, match="already"):
        duplicated(rig, BICEPS, DELTOID)
    with pytest.raises(DocumentError, match="Did you mean"):
        renamed(rig, BICEPS[:-1], "x")


def test_edits_are_kept_by_the_file(man: Character, rig: Rig, tmp_path: Path) -> None:
    edited = moved_thickness_control(rig, man, BICEPS, 0, 2, 0.0071).rig
    edited = moved_belly(edited, man, BICEPS, 0.41).rig
    moved = moved_point(edited, man, BICEPS, 0, points_of(edited, man, BICEPS)[0] + 0.002)
    edited = renamed(moved.rig, BICEPS, "<b>").rig
    write_rig(tmp_path / "a.ecorche", edited)
    assert read_rig(tmp_path / "a.ecorche").spec.muscles == edited.spec.muscles


def test_volume_holds_over_length_and_bind_is_bind(man: Character, rig: Rig) -> None:
    rows = muscle_over_length(rig, man, BICEPS)
    assert [row.share for row in rows] == [0.5, 0.75, 1.0, 1.25, 1.5]
    still = rows[2]
    for row in rows:
        assert row.held or row.volume == pytest.approx(still.volume, rel=1e-9)
    assert rows[0].half_axes[1] > still.half_axes[1] > rows[3].half_axes[1]
    spec = rig.spec.muscles.named[BICEPS]
    assert still.half_axes[1] == pytest.approx(max(map(max, spec.thickness)), rel=0.05)
    tense = muscle_over_length(rig, man, BICEPS, [1.0], bulge=1.3)[0]
    assert tense.half_axes[0] == pytest.approx(1.3 * still.half_axes[0])
    assert tense.half_axes[1] == pytest.approx(still.half_axes[1] / 1.3)
    with pytest.raises(EcorcheError, match="not above 0"):
        muscle_over_length(rig, man, BICEPS, [0.0])


def test_muscles_found_in_the_skin_say_what_they_cannot(data: Path) -> None:
    man, rig = extracted(data / "human" / "male_muscular_cmu_mb.glb")
    front = "upper arm front, left"
    with pytest.raises(DocumentError, match="neither via points nor curves"):
        moved_belly(rig, man, front, 0.4)
    with pytest.raises(EcorcheError, match="found in the skin"):
        with_influence(rig, man, front, neighbourhood="radial")
    rows = muscle_over_length(rig, man, front)
    assert all(row.held or row.volume == pytest.approx(rows[2].volume, rel=1e-9) for row in rows)
    assert rows[0].half_axes[0] > rows[2].half_axes[0] > rows[4].half_axes[0]
    back = "upper arm back inner, left"
    lofted = {**rig.spec.muscles.lofted}
    lofted[back] = lofted[back].model_copy(update={"joins": front})
    muscles = rig.spec.muscles.model_copy(update={"lofted": lofted})
    branched = replace(rig, spec=rig.spec.model_copy(update={"muscles": muscles}))
    changed = renamed(branched, front, "trunk of all").rig.spec.muscles.lofted
    assert changed[back].joins == "trunk of all"
    assert front not in changed
