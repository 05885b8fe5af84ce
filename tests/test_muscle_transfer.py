"""Muscles taken from one character to another: humans, creatures, spines of other lengths."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from ecorche.base.rotations import matrix_from_xyzw, xyzw_from_axis_angle
from ecorche.errors import SkeletonError
from ecorche.io.formats import read_character
from ecorche.muscles.activation import Action
from ecorche.muscles.muscle import Muscle, Reach
from ecorche.muscles.template import TEMPLATE, place
from ecorche.muscles.transfer import Figure, transferred
from ecorche.skeleton.naming import recognise
from ecorche.skeleton.skeleton import Skeleton, local_from_world

Floats = npt.NDArray[np.float64]


def _figure(path: Path) -> Figure:
    skeleton = read_character(path).skeleton
    return Figure(skeleton, recognise(skeleton))


@pytest.mark.parametrize(
    "path",
    ["human/female_average_cmu_mb.glb", "human/male_muscular_mixamo.glb", "mesh2motion/human-male.glb"],
)
def test_a_human_rig_lands_where_the_template_itself_would(data: Path, path: str) -> None:
    """Other rigs, proportions, bind poses and numbers of spine joints."""
    here, there = _figure(data / "human" / "male_muscular_cmu_mb.glb"), _figure(data / path)
    own = place(TEMPLATE, here.skeleton, here.naming)
    moved = transferred(own.muscles, own.scapulae, here, there)
    expected = {m.name: m for m in place(TEMPLATE, there.skeleton, there.naming).muscles}
    assert moved.left_out == ()
    assert len(moved.muscles) == len(own.muscles)
    for muscle in moved.muscles:
        wanted = expected[muscle.name]
        kept = len(muscle.positions)  # the target may have fingers that the source lacks
        if muscle.muscle in ("extensor digitorum", "flexor digitorum superficialis"):
            kept -= 1  # the source's one finger joint stands for the middle finger, elsewhere it is the index
        np.testing.assert_allclose(
            muscle.positions[:kept], wanted.positions[:kept], atol=1e-9, err_msg=muscle.name
        )
        assert muscle.joints[:kept] == wanted.joints[:kept], muscle.name
        assert muscle.outward @ wanted.outward > 0.9, muscle.name
        assert 0.7 < muscle.thickness[0, 3] / wanted.thickness[0, 3] < 1.3, muscle.name
        joints = {action.joint for action in muscle.actions}
        for action in wanted.actions:
            if action.joint in joints:
                agree = [np.dot(a.axis, action.axis) for a in muscle.actions if a.joint == action.joint]
                assert max(agree) > 0.97, (muscle.name, action)


def _on_legs(skeleton: Skeleton) -> list[Muscle]:
    """A muscle along every joint that has one child, from beside its bone to beside the child's."""
    heads = skeleton.bind_world[:, :3, 3]
    muscles = []
    for joint, below in enumerate(skeleton.children):
        if len(below) == 1 and np.linalg.norm(heads[below[0]] - heads[joint]) > 0.05:
            middle = 0.5 * (heads[joint] + heads[below[0]])
            aside = np.cross(heads[below[0]] - heads[joint], (0.3, 0.2, 1.0))
            aside *= 0.03 / np.linalg.norm(aside)
            muscles.append(
                Muscle(
                    f"along {skeleton.names[joint]}",
                    "test",
                    "test",
                    (joint, below[0]),
                    np.array([middle + aside, heads[below[0]] + 0.5 * aside]),
                    aside,
                    np.full((2, 4), 0.02),
                    np.zeros((2, 4, 2)),
                    0.5,
                    1.0,
                    reach=Reach(joints=(joint,)),
                    actions=(Action(skeleton.names[below[0]], (1.0, 0.0, 0.0), (5.0, 60.0)),),
                )
            )
    return muscles


def test_a_creature_keeps_its_muscles_when_it_is_scaled_turned_and_renamed(data: Path) -> None:
    horse = read_character(data / "mesh2motion" / "horse-animations.glb").skeleton
    turn, scale = matrix_from_xyzw(xyzw_from_axis_angle(np.array([0.0, 1.0, 0.0]), 1.1)), 1.4
    world = np.array(horse.bind_world)
    world[:, :3, :3] = turn @ world[:, :3, :3]
    world[:, :3, 3] = scale * world[:, :3, 3] @ turn.T + (1.0, 0.2, -3.0)
    local = local_from_world(horse.parents, world)
    other = Skeleton(
        tuple(f"copy of {name}" for name in horse.names), horse.parents, local, local, horse.tails * scale
    )
    here, there = Figure(horse, recognise(horse)), Figure(other, recognise(other))
    muscles = _on_legs(horse)
    assert len(muscles) > 10
    pairs = {name: f"copy of {name}" for name in horse.names}
    moved = transferred(muscles, (), here, there, pairs)
    assert moved.left_out == ()
    for before, after in zip(muscles, moved.muscles, strict=True):
        expected = scale * before.positions @ turn.T + (1.0, 0.2, -3.0)
        np.testing.assert_allclose(after.positions, expected, atol=1e-6)
        np.testing.assert_allclose(after.thickness, scale * before.thickness, rtol=1e-6)
        np.testing.assert_allclose(after.outward, turn @ before.outward / 0.03, atol=1e-6)
        assert after.joints == before.joints
        np.testing.assert_allclose(after.actions[0].axis, turn @ before.actions[0].axis, atol=1e-6)


def test_a_joint_without_a_partner_stands_for_the_one_above_it(data: Path) -> None:
    horse = read_character(data / "mesh2motion" / "horse-animations.glb").skeleton
    here = Figure(horse, recognise(horse))
    muscles = _on_legs(horse)
    first = muscles[0]
    gone = horse.names[first.joints[1]]
    pairs = {name: name for name in horse.names if name != gone}
    renamed = replace(horse, names=tuple("?" if name == gone else name for name in horse.names))
    moved = transferred(muscles[:2], (), here, Figure(renamed, recognise(renamed)), pairs)
    assert [left.name for left in moved.left_out] == [first.name]
    assert "one joint" in moved.left_out[0].reason


def test_strangers_are_refused(data: Path) -> None:
    horse = read_character(data / "mesh2motion" / "horse-animations.glb").skeleton
    other = replace(horse, names=tuple(f"x{n}" for n in range(horse.joint_count)))
    here = Figure(horse, recognise(horse))
    nobody = replace(recognise(other), canonical=(None,) * horse.joint_count)
    with pytest.raises(SkeletonError, match=r"0 of the template's .* joints have a partner"):
        transferred(_on_legs(horse), (), here, Figure(other, nobody))
    with pytest.raises(SkeletonError, match="does not have"):
        transferred(_on_legs(horse), (), here, here, {"no such joint": horse.names[0]})


def test_painted_weights_stay_behind_and_are_told(data: Path) -> None:
    here = _figure(data / "human" / "male_muscular_cmu_mb.glb")
    there = _figure(data / "human" / "female_average_cmu_mb.glb")
    own = place(TEMPLATE, here.skeleton, here.naming)
    painted = replace(own.muscles[0], reach=replace(own.muscles[0].reach, painted="mine"))
    moved = transferred([painted], own.scapulae, here, there)
    assert moved.muscles[0].reach.painted == ""
    assert painted.name in moved.notes[0]
