"""Muscles found in the skin are attached where a body has them, so that joints stretch them as they would."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from benchmarks.extraction import found as extraction_of
from benchmarks.extraction import person as read_once
from benchmarks.muscle_people import PEOPLE

from anatomical_poses import AnatomicalPoses
from conftest import Figure
from ecorche.body.character import Character
from ecorche.muscles.extraction.build import Extraction
from ecorche.muscles.extraction.stretch import SWING, stretch
from ecorche.muscles.extraction.trunk_plan import TrunkPlan, plan_trunk
from ecorche.muscles.lofted import LoftedMuscle, Rings
from ecorche.muscles.root_curves import root_curves
from ecorche.skeleton.naming import recognise

Floats = npt.NDArray[np.float64]

WORKING = 0.6, 1.6
"""Least and greatest length of a muscle in poses, share of that at bind."""
EVERYDAY = {
    "arm raised": (("r_shoulder", "flexion", 120.0),),
    "arm aside": (("r_shoulder", "abduction", 90.0),),
    "arm back": (("r_shoulder", "extension", 40.0),),
    "thigh raised": (("r_hip", "flexion", 90.0),),
}
NECK_AND_HEAD = 1, 2
"""Of `TrunkPlan.part`."""
CREATURES = "dog/dog.xml", "mesh2motion/horse-animations.glb", "mesh2motion/human-male.glb"


@cache
def found(path: Path) -> tuple[Character, Extraction, TrunkPlan]:
    character = read_once(path)
    body, skeleton = character.body(), character.skeleton
    assert body.weights is not None
    joints, shares = body.weights.padded()
    dominant = joints[np.arange(len(joints)), np.argmax(shares, axis=1)].astype(np.int64)
    plan = plan_trunk(skeleton, recognise(skeleton), body.mesh.points.astype(np.float64), dominant)
    assert not isinstance(plan, str)
    return character, extraction_of(path), plan


def lengths(path: Path, muscle: LoftedMuscle, differences: list[Floats]) -> Floats:
    """Of a muscle in poses, shares of its length at bind."""
    curves = root_curves([muscle], found(path)[0].skeleton.joint_count)
    return np.asarray(curves.moved(np.stack(differences)).lengths[:, 0] / curves.bind.lengths[0])


def person(data: Path, name: str) -> Path:
    return data / "human" / f"{PEOPLE[name]}.glb"


@pytest.mark.parametrize("name", PEOPLE)
def test_everyday_poses_stretch_no_muscle_beyond_what_muscles_bear(
    data: Path, name: str, figure: Figure
) -> None:
    path = person(data, name)
    character, extraction, _ = found(path)
    poses = AnatomicalPoses(character.skeleton, recognise(character.skeleton))
    differences = [poses.difference(turns) for turns in EVERYDAY.values()]
    range_of = {m.name: lengths(path, m, differences) for m in extraction.muscles}
    most = max(range_of, key=lambda n: range_of[n].max())
    figure(f"longest found muscle in everyday poses, {name}", float(range_of[most].max()), WORKING[1], "")
    assert range_of[most].max() < WORKING[1], (most, range_of[most])
    least = min(range_of, key=lambda n: range_of[n].min())
    assert range_of[least].min() > WORKING[0], (least, range_of[least])


@pytest.mark.parametrize("name", [*(f"human/{p}.glb" for p in PEOPLE.values()), *CREATURES])
def test_joints_of_the_trunk_change_muscles_by_what_they_bear(data: Path, name: str) -> None:
    character, extraction, plan = found(data / name)
    balls, axes = {r.ball for r in plan.roots}, np.stack([plan.left, plan.front, plan.axis])
    for muscle, track in zip(extraction.muscles, extraction.tracks, strict=True):
        if not extraction.regions[track.region].startswith(("left ", "right ")):
            continue  # of a limb
        least, most = stretch(muscle, character.skeleton, balls, axes)
        assert WORKING[0] <= least <= 1.0 <= most <= WORKING[1], muscle.name


def test_a_muscle_across_a_shoulder_is_stretched_as_one_measures_by_hand(data: Path) -> None:
    """A thread from one centimetre beside the joint to the bone below it, without an obstacle."""
    character, _, plan = found(person(data, "average man"))
    skeleton, root = character.skeleton, plan.roots[0]
    ball = skeleton.bind_world[root.ball, :3, 3]
    ends = np.stack([ball + 0.01 * plan.left, ball - 0.05 * plan.left])
    joints = int(skeleton.parents[root.ball]), root.ball
    bare = Rings(np.zeros(0), np.zeros((0, 2)), np.zeros((0, 2)), np.zeros(0))
    thread = LoftedMuscle("thread", "thread", "", joints, ends, plan.front, bare)
    least, most = stretch(thread, skeleton, {root.ball}, np.stack([plan.left, plan.front, plan.axis]))
    turned = np.hypot(0.01 + 0.05 * np.cos(SWING), 0.05 * np.sin(SWING))
    assert least == pytest.approx(turned / 0.06, abs=1e-9)
    assert most == pytest.approx(1.0, abs=1e-9)  # it is straight at bind


@pytest.mark.parametrize("name", PEOPLE)
def test_what_lies_over_a_shoulder_comes_from_the_girdle_and_not_from_the_neck(data: Path, name: str) -> None:
    _, extraction, plan = found(person(data, name))
    over_joints = {(r.girdle, r.ball) for r in plan.roots}
    for muscle in extraction.muscles:
        if muscle.name.startswith("shoulder"):
            assert not np.isin(plan.part[list(muscle.joints)], NECK_AND_HEAD).any(), muscle.name
        if muscle.name.startswith("shoulder cap"):
            assert muscle.joints in over_joints, muscle.name


@pytest.mark.parametrize("name", ["average man", "dressed man"])
def test_the_trapezius_ends_on_the_shoulder_and_not_on_the_arm(data: Path, name: str) -> None:
    _, extraction, plan = found(person(data, name))
    above = [m for m in extraction.muscles if m.name.startswith("shoulder side")]
    assert len(above) == 2
    assert {m.joints[0] for m in above} == {r.girdle for r in plan.roots if r.kind == "shoulder"}


def test_the_biceps_has_a_biceps_lever(data: Path, figure: Figure) -> None:
    """About 2 to 5 cm from the straight elbow to the bent one; it loses a quarter of its length."""
    path = person(data, "muscular man")
    character, extraction, _ = found(path)
    poses = AnatomicalPoses(character.skeleton, recognise(character.skeleton))
    angles = np.arange(0.0, 131.0, 10.0)
    differences = [poses.difference([("r_elbow", "flexion", float(angle))]) for angle in angles]
    by_name = {m.name: m for m in extraction.muscles}
    biceps, triceps = by_name["upper arm front, right"], by_name["upper arm back inner, right"]
    over = lengths(path, biceps, differences)
    metres = root_curves([biceps], character.skeleton.joint_count).bind.lengths[0]
    lever = -np.gradient(over * metres, np.radians(angles))
    assert lever.min() > 0.02
    assert lever.max() < 0.05
    figure("found biceps, bent elbow over straight", float(over[-1] / over[0]), 0.8, "")
    assert 0.7 < over[-1] / over[0] < 0.8
    forearm = character.skeleton.bind_world[triceps.joints[1], :3, 3]
    assert np.linalg.norm(triceps.ends[1] - forearm) < 0.025  # the olecranon
    assert np.linalg.norm(biceps.ends[1] - forearm) > 0.035  # the radius' tuberosity


@pytest.mark.parametrize("name", [*(f"human/{p}.glb" for p in PEOPLE.values()), *CREATURES])
def test_no_muscle_is_a_plate(data: Path, name: str) -> None:
    for muscle in found(data / name)[1].muscles:
        half = muscle.rings.half_axes
        assert np.median(half.min(axis=1) / half.max(axis=1)) >= 0.15, muscle.name


def test_what_was_refused_is_told(data: Path) -> None:
    told = found(data / "dog" / "dog.xml")[1].notes
    assert any("left hip cap" in line and "times as long" in line for line in told)
