"""Muscles in rigs: exact there and back, fitted to whole and partial people, every slip told with remedy."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from typer.testing import CliRunner

import altered_people
from ecorche.base.mesh import triangle_mesh
from ecorche.base.rotations import xyzw_from_axis_angle
from ecorche.base.transforms import compose, transform_points
from ecorche.body.as_lines import as_lines
from ecorche.body.character import Character, SkinnedMesh
from ecorche.body.muscle_specs import muscle_specs, muscles_of
from ecorche.body.place_muscles import (
    DECIMALS,
    rig_placement,
    template_placement,
    with_manner_of,
    with_muscles,
)
from ecorche.body.rig import check_rig, create_rig
from ecorche.cli.main import app
from ecorche.cli.rig import muscle_gains
from ecorche.document.files import Rig, read_rig, spec_from_text, text_from_spec, write_rig
from ecorche.document.muscle_spec import MuscleSpec
from ecorche.errors import DocumentError, EcorcheError, MeshError, SkeletonError
from ecorche.io.formats import read_character
from ecorche.muscles.activation import JointDriven
from ecorche.muscles.musculature import musculature
from ecorche.muscles.spindle import Spindles
from ecorche.skeleton.naming import recognise
from ecorche.skeleton.skeleton import Skeleton
from ecorche.skin.weights import weights_from_entries
from rigged_people import BICEPS, edited, person, rigged

PEOPLE = ("male_average_cmu_mb", "male_dressed_mixamo")


@pytest.fixture
def man(data: Path) -> Character:
    return person(data / "human" / "male_average_cmu_mb.glb")


@pytest.fixture
def rig(data: Path) -> Rig:
    return rigged(data / "human" / "male_average_cmu_mb.glb")


def scaled(character: Character, by: float) -> Character:
    """The character in another unit."""
    skeleton = character.skeleton
    local = skeleton.bind_local.copy()
    local[:, :3, 3] *= by
    meshes = tuple(
        replace(m, mesh=replace(m.mesh, points=m.mesh.points * np.float32(by))) for m in character.meshes
    )
    return replace(
        character, skeleton=replace(skeleton, bind_local=local, rest_local=local), meshes=meshes, source=""
    )


def part_of(character: Character, canonical: set[str]) -> Character:
    """The character without the joints that have these names, all below them, and their skin."""
    skeleton, naming = character.skeleton, recognise(character.skeleton)
    gone = np.zeros(skeleton.joint_count, bool)
    for joint, parent in enumerate(skeleton.parents):
        gone[joint] = naming.canonical[joint] in canonical or (parent >= 0 and gone[parent])
    kept = np.flatnonzero(~gone)
    number = np.full(skeleton.joint_count, -1)
    number[kept] = np.arange(len(kept))
    body = character.body()
    assert body.weights is not None
    joints, table = body.weights.padded()
    lost = (table * gone[joints]).sum(axis=1) > 0.5
    index = np.cumsum(~lost) - 1
    triangles = body.mesh.triangles()
    triangles = index[triangles[~lost[triangles].any(axis=1)]]
    joints, table = joints[~lost], np.where(gone[joints], 0.0, table)[~lost]
    row = np.repeat(np.arange(len(joints)), joints.shape[1])
    entries = table.ravel() > 0.0
    weights = weights_from_entries(
        row[entries], number[joints.ravel()[entries]], table.ravel()[entries], len(joints), len(kept), "part"
    )
    mesh = triangle_mesh("Body", body.mesh.points[~lost], triangles)
    parents = np.where(skeleton.parents[kept] >= 0, number[skeleton.parents[kept]], -1).astype(np.int32)
    return Character(
        "part",
        Skeleton(
            tuple(skeleton.names[j] for j in kept),
            parents,
            skeleton.bind_local[kept],
            skeleton.rest_local[kept],
            skeleton.tails[kept],
        ),
        (SkinnedMesh(mesh, weights),),
    )


# there and back


@pytest.mark.parametrize("name", PEOPLE)
def test_muscles_come_back_from_the_text_as_they_were(data: Path, name: str) -> None:
    character = person(data / "human" / f"{name}.glb")
    placement = template_placement(character, recognise(character.skeleton))
    named, blades = muscle_specs(placement.muscles, placement.scapulae, character.skeleton)
    plain = create_rig(character, "man.glb", "man.ecorche", muscles=False)
    spec = plain.spec.model_copy(
        update={
            "muscles": plain.spec.muscles.model_copy(update={"named": named}),
            "skeleton": plain.spec.skeleton.model_copy(update={"virtual_scapulae": blades}),
        }
    )
    again = spec_from_text(text_from_spec(spec), "man.ecorche")
    assert again == spec
    muscles, scapulae = muscles_of(replace(plain, spec=again), character.skeleton)
    assert len(muscles) >= 150
    for one, other in zip(muscles, placement.muscles, strict=True):
        np.testing.assert_allclose(one.positions, other.positions, rtol=0.0, atol=1e-12)
        for array in ("outward", "thickness", "sweep"):
            assert np.array_equal(getattr(one, array), getattr(other, array)), one.name
        for value in (
            "name", "muscle", "group", "joints", "belly", "scale", "reach", "max_force", "force_source",
            "largest_bulge", "actions",
        ):  # fmt: skip
            assert getattr(one, value) == getattr(other, value), (one.name, value)
    for blade, placed in zip(scapulae, placement.scapulae, strict=True):
        assert (blade.name, blade.girdle, blade.thorax, blade.arm) == (
            placed.name, placed.girdle, placed.thorax, placed.arm,
        )  # fmt: skip
        for array in ("pivot", "axis", "hanging", "arm_direction"):
            assert np.array_equal(getattr(blade, array), getattr(placed, array))
    assert muscle_specs(muscles, scapulae, character.skeleton)[1] == blades


def test_a_rig_with_muscles_is_an_ordinary_rig(man: Character, rig: Rig, tmp_path: Path) -> None:
    write_rig(tmp_path / "man.ecorche", rig)
    text = (tmp_path / "man.ecorche").read_text()
    back = read_rig(tmp_path / "man.ecorche")
    assert back.spec.muscles == rig.spec.muscles
    # text for people: a path point and an action on one line each, numbers of at most nine decimals
    assert '{"joint": "virtual scapula, right", "at": [' in text
    assert not any(len(number.split(".")[-1]) > DECIMALS + 4 for number in text.split() if "." in number[:4])
    muscles, scapulae = muscles_of(back, man.skeleton)
    joined = musculature(muscles, man.skeleton, scapulae)
    assert (joined.frames.paths.bind.lengths > 0.01).all()
    write_rig(tmp_path / "again.ecorche", back)
    assert (tmp_path / "again.ecorche").read_text().replace("again.", "man.") == text


def test_the_same_character_gives_the_same_bytes(man: Character, rig: Rig) -> None:
    again = create_rig(man, "man.glb", "man.ecorche")
    assert (
        text_from_spec(again.spec).partition('"body"')[2] == text_from_spec(rig.spec).partition('"body"')[2]
    )


def test_gains_are_kept_and_a_rig_may_have_no_muscles(man: Character) -> None:
    made = create_rig(man, "man.glb", "man.ecorche", gains={"elbow flexors": 1.5})
    assert made.spec.muscles.gains == {"elbow flexors": 1.5}
    plain = create_rig(man, "man.glb", "man.ecorche", muscles=False)
    assert plain.spec.muscles.named == {}
    assert plain.spec.skeleton.virtual_scapulae == {}
    assert plain.spec.notes == ()


# whom it serves


def test_a_bust_and_one_arm_get_what_they_can_have(data: Path) -> None:
    whole = person(data / "human" / "male_dressed_mixamo.glb")
    everything = set(rigged(data / "human" / "male_dressed_mixamo.glb").spec.muscles.named)
    bust = part_of(whole, {"l_hip", "r_hip"})
    made = set(create_rig(bust, "bust.glb", "bust.ecorche").spec.muscles.named)
    assert made < everything
    assert BICEPS in made
    assert not any("gastrocnemius" in name or "rectus femoris" in name for name in made)
    one_armed = part_of(whole, {"l_sternoclavicular"})
    rig, report = with_muscles(
        create_rig(one_armed, "arm.glb", "arm.ecorche", muscles=False),
        one_armed,
        template_placement(one_armed, recognise(one_armed.skeleton)),
    )
    arm = set(rig.spec.muscles.named)
    assert {BICEPS, "rectus femoris, left"} <= arm
    assert "biceps brachii, long head, left" not in arm
    assert report.placed == len(arm)
    assert "biceps brachii, long head, left" in {left.name for left in report.left_out}
    told = " ".join(rig.spec.notes)
    assert f"{len(arm)} muscles placed" in told
    assert f"{len(report.left_out)} left out" in told
    assert len(rig.spec.notes) <= 6


def test_other_creatures_are_told_what_to_do(data: Path) -> None:
    horse = person(data / "mesh2motion" / "horse-animations.glb")
    with pytest.raises(SkeletonError, match="is no humanoid") as caught:
        create_rig(horse, "horse.glb", "horse.ecorche")
    for way in ("four-legged", "--mapping", "--template RIG", "--without-muscles"):
        assert way in str(caught.value)
    assert create_rig(horse, "horse.glb", "horse.ecorche", muscles=False).spec.muscles.named == {}


def test_a_map_of_joint_names_makes_a_humanoid_of_strange_names(man: Character) -> None:
    """A trunk with one arm, of which neither names nor shape tell what it is."""
    arm = part_of(man, {"l_sternoclavicular", "l_hip", "r_hip", "vc4", "vc7", "skullbase"})
    strange = replace(
        arm, skeleton=replace(arm.skeleton, names=tuple(f"bone{i}" for i in range(arm.skeleton.joint_count)))
    )
    with pytest.raises(SkeletonError, match="is no humanoid"):
        create_rig(strange, "x.glb", "x.ecorche")
    known = dict(zip(man.skeleton.names, recognise(man.skeleton).canonical, strict=True))
    mapping = {f"bone{i}": c for i, n in enumerate(arm.skeleton.names) if (c := known[n]) is not None}
    made = create_rig(strange, "x.glb", "x.ecorche", mapping=mapping)
    assert BICEPS in made.spec.muscles.named
    with pytest.raises(SkeletonError, match=r"no joint 'bone_1'.*Did you mean"):
        create_rig(strange, "x.glb", "x.ecorche", mapping={"bone_1": "r_elbow"})


@pytest.mark.parametrize(
    ("by", "told"),
    [
        (100.0, ["m tall", "as the file says 1 m a unit", "seem to be centimetres", "scale it by 0.01"]),
        (1000.0, ["seem to be millimetres", "scale it by 0.001"]),
        (39.37, ["seem to be inches", "scale it by 0.0254"]),
        (0.01, ["seem to have been divided by 100", "scale it by 100"]),
    ],
)
def test_another_unit_is_told(man: Character, by: float, told: list[str]) -> None:
    with pytest.raises(SkeletonError) as caught:
        create_rig(scaled(man, by), "man.glb", "man.ecorche")
    for part in told:
        assert part in str(caught.value)


@pytest.mark.parametrize("by", [0.1, 3.0])
def test_elves_and_giants_have_muscles(man: Character, by: float) -> None:
    made = create_rig(scaled(man, by), "man.glb", "man.ecorche")
    assert len(made.spec.muscles.named) == 160


def test_skin_far_from_the_skeleton_is_told(man: Character) -> None:
    body = man.body()
    away = replace(body, mesh=replace(body.mesh, points=body.mesh.points + np.array([0, 0, 1], np.float32)))
    with pytest.raises(MeshError, match=r"mesh 'Body': the skin is far from the skeleton: .*apply their"):
        create_rig(replace(man, meshes=(away,)), "man.glb", "man.ecorche")


def test_a_mesh_that_is_not_in_the_bind_pose_is_told(man: Character) -> None:
    """Arms modelled hanging, bones stretched out: here the skin's arms are turned by 50 degrees."""
    skeleton, body = man.skeleton, man.body()
    assert body.weights is not None
    joints, table = body.weights.padded()
    shoulder = skeleton.index("RightArm")
    below = np.zeros(skeleton.joint_count, bool)
    for joint, parent in enumerate(skeleton.parents):
        below[joint] = joint == shoulder or (parent >= 0 and below[parent])
    share = (table * below[joints]).sum(axis=1)[:, None]
    pivot = skeleton.bind_world[shoulder, :3, 3]
    turn = compose(np.zeros(3), xyzw_from_axis_angle([0.0, 0.0, 1.0], np.radians(50.0)))
    points = body.mesh.points.astype(np.float64)
    turned = transform_points(turn, points - pivot) + pivot
    posed = replace(
        body, mesh=replace(body.mesh, points=(points + share * (turned - points)).astype(np.float32))
    )
    with pytest.raises(MeshError, match=r"is not in the bind pose: the skin of joint 'Right.*Bind the skel"):
        create_rig(replace(man, meshes=(posed,)), "man.glb", "man.ecorche")


# muscles edited by hand


@pytest.mark.parametrize(
    ("edit", "told"),
    [
        (
            lambda s: {"path": (*s["path"][:2], {"joint": "RightForArm", "at": (0.0, 0.1, 0.0)})},
            r'man\.ecorche, muscles\.named\["biceps brachii, long head, right"\]\.path\[2\]\.joint:'
            r" there is no joint 'RightForArm'. Did you mean 'RightForeArm'\?",
        ),
        (
            lambda s: {"actions": ({**s["actions"][0], "joint": "Elbow"},)},
            r"\.actions\[0\]\.joint: there is no joint 'Elbow'",
        ),
        (
            lambda s: {"influence": {**s["influence"], "joints": ("RightArn",)}},
            r"\.influence\.joints\[0\]: there is no joint 'RightArn'. Did you mean 'RightArm'\?",
        ),
    ],
)
def test_unknown_joints_are_told_with_their_field(
    man: Character, rig: Rig, edit: Callable[[dict[str, Any]], dict[str, Any]], told: str
) -> None:
    values = rig.spec.muscles.named[BICEPS].model_dump()
    with pytest.raises(DocumentError, match=told):
        muscles_of(edited(rig, BICEPS, **edit(values)), man.skeleton)


def test_a_muscle_without_length_is_told(man: Character, rig: Rig) -> None:
    """Two points on two joints, in one place of the world: only the skeleton can tell."""
    skeleton = man.skeleton
    elbow = skeleton.bind_world[skeleton.index("RightForeArm"), :3, 3]
    inverse = skeleton.bind_inverse[skeleton.index("RightArm")]
    path = (
        {"joint": "RightForeArm", "at": (0.0, 0.0, 0.0)},
        {"joint": "RightArm", "at": tuple((inverse @ [*elbow, 1.0])[:3].tolist())},
    )
    with pytest.raises(DocumentError, match=r"path\[1\]\.at: .*has no length there. Move them apart"):
        muscles_of(edited(rig, BICEPS, path=path), man.skeleton)


def test_a_scapula_must_not_take_a_joint_s_name(man: Character, rig: Rig) -> None:
    blades = rig.spec.skeleton.virtual_scapulae
    spoilt = {"RightArm": blades["virtual scapula, right"]}
    skeleton = rig.spec.skeleton.model_copy(update={"virtual_scapulae": spoilt})
    bad = replace(rig, spec=rig.spec.model_copy(update={"skeleton": skeleton}))
    with pytest.raises(DocumentError, match=r"virtual_scapulae\.RightArm: the character has a joint"):
        muscles_of(bad, man.skeleton)


@given(
    before=st.lists(st.floats(0.0, 0.05), min_size=4, max_size=4),
    after=st.lists(st.floats(0.0, 0.05), min_size=2, max_size=2),
    belly=st.floats(0.05, 0.95),
    off=st.sampled_from([0.0, 0.0, 1e-9, 1e-4, -1e-3]),
    crease=st.sampled_from([0.0, 0.0, 1e-9, 1e-4, -1e-3]),
)
@settings(max_examples=200, deadline=None)
def test_the_file_refuses_the_shapes_that_no_muscle_can_have(
    before: list[float], after: list[float], belly: float, off: float, crease: float
) -> None:
    """And only those: what the spindles take, the file takes."""
    start = before[3] + off
    second = start + (before[3] - before[2]) * (1.0 - belly) / belly + crease
    halves = (tuple(before), (start, second, *after))
    path = ({"joint": "a", "at": (0.0, 0.0, 0.0)}, {"joint": "b", "at": (0.0, 0.3, 0.0)})
    outcomes = []
    for make in (
        lambda: MuscleSpec.model_validate(
            {"path": path, "outward": (1.0, 0.0, 0.0), "belly": belly, "thickness": halves}
        ),
        lambda: Spindles(
            np.array([halves]), np.zeros((1, 2, 4, 2)), np.array([belly]), np.ones(1), np.array([0.3])
        ),
    ):
        try:
            make()
        except (ValidationError, EcorcheError):
            outcomes.append("refused")
        else:
            outcomes.append("taken")
    assert outcomes[0] == outcomes[1]


# the command


def test_the_command_places_muscles_and_says_how_to_go_on(data: Path, tmp_path: Path) -> None:
    man = data / "human" / "male_average_cmu_mb.glb"
    out = tmp_path / "man.ecorche"
    done = CliRunner().invoke(
        app, ["rig", str(man), "-o", str(out), "--gain", "elbow flexors=1.5", "--gain", "knee extensors=0.5"]
    )
    assert done.exit_code == 0, done.output
    for part in ("160 muscles placed", "4 left out", "drawn in under the skin", "ecorche bake", " s\n"):
        assert part in done.output
    spec = read_rig(out).spec
    assert len(spec.muscles.named) == 160
    assert spec.muscles.gains == {"elbow flexors": 1.5, "knee extensors": 0.5}


# another rig as the template

HORSE = {"Hips": "hips", "LowerBack": "spine_1", "Spine": "spine_2", "Spine1": "spine_3", "Head": "head"} | {
    f"{side}{there}": f"{here}_{side[0].lower()}"
    for side in ("Left", "Right")
    for there, here in {
        "Shoulder": "front_scapula",
        "Arm": "front_humerus",
        "ForeArm": "front_leg_upper",
        "Hand": "front_leg_lower",
        "UpLeg": "back_leg_upper",
        "Leg": "back_leg_lower",
        "Foot": "back_leg_ankle",
    }.items()
}


def test_a_horse_takes_a_man_s_muscles_through_a_joint_map(data: Path, rig: Rig, tmp_path: Path) -> None:
    template, names = tmp_path / "man.ecorche", tmp_path / "horse.json"
    manner = {"volume": "two_cone", "gains": {"knee extensors": 1.5, "interossei": 2.0}}
    write_rig(template, with_changed_muscles(rig, **manner))
    names.write_text(json.dumps(HORSE))
    horse = tmp_path / "horse.glb"
    shutil.copy(data / "mesh2motion" / "horse-animations.glb", horse)
    done = CliRunner().invoke(
        app,
        [
            "rig",
            str(horse),
            "--template",
            str(template),
            "--joint-map",
            str(names),
            "--gain",
            "hip flexors=0.5",
        ],
        catch_exceptions=False,
    )
    assert done.exit_code == 0, done.output
    assert "gains left out, of groups without a muscle here: 'interossei'\n" in done.output
    made = read_rig(tmp_path / "horse.ecorche")
    assert made.spec.muscles.volume == "two_cone"
    assert made.spec.muscles.gains == {"knee extensors": 1.5, "hip flexors": 0.5}
    assert len(made.spec.muscles.named) > 120
    thigh = made.spec.muscles.named["rectus femoris, right"]
    assert {point.joint for point in thigh.path} <= {"hips", "back_leg_upper_r", "back_leg_lower_r"}
    character = read_character(horse)
    assert check_rig(made, character) == []
    muscles, scapulae = muscles_of(made, character.skeleton)
    bind = musculature(muscles, character.skeleton, scapulae).frames.paths.bind_points
    points = character.body().mesh.points
    assert (bind > points.min(axis=0)).all()
    assert (bind < points.max(axis=0)).all()
    # joint-driven activation finds the horse's own joints
    source = JointDriven(character.skeleton, recognise(character.skeleton), [m.actions for m in muscles])
    assert source.notes == ()
    assert source.over(character.motions[0]).max() > 0.1


def test_a_template_s_gains_for_muscles_without_skin_are_told(man: Character, rig: Rig) -> None:
    gains = {"ankle plantarflexors": 1.5, "elbow flexors": 1.2}
    template = with_changed_muscles(rig, gains=gains)
    names = man.skeleton.names
    legless = altered_people.part(man, names, [name for name in names if not re.search("Leg|Foot|Toe", name)])
    placement = rig_placement(template, legless, recognise(legless.skeleton))
    assert {*gains} <= {muscle.group for muscle in placement.muscles}
    plain = create_rig(legless, "bust.glb", "bust.ecorche", muscles=False)
    made, report = with_muscles(with_manner_of(plain, template), legless, placement)
    assert made.spec.muscles.gains == {"elbow flexors": 1.2}
    assert report.lost_gains == ("ankle plantarflexors",)
    assert any("'ankle plantarflexors'" in note for note in made.spec.notes)


def test_a_template_gives_no_meshes_on_action_lines(man: Character, rig: Rig, data: Path) -> None:
    """They are made for one body, so the other keeps its own, and none of the template's."""
    lines = as_lines(rig, man, "admissible")[0]
    woman = person(data / "human" / "female_average_cmu_mb.glb")
    with pytest.raises(DocumentError, match="has only meshes on action lines to give"):
        rig_placement(lines, woman, recognise(woman.skeleton))
    kept = {name: muscle for name, muscle in lines.spec.muscles.lines.items() if name != BICEPS}
    mixed = with_changed_muscles(lines, named={BICEPS: rig.spec.muscles.named[BICEPS]}, lines=kept)
    plain = create_rig(woman, "woman.glb", "woman.ecorche", muscles=False)
    placement = rig_placement(mixed, woman, recognise(woman.skeleton))
    muscles = with_muscles(with_manner_of(plain, mixed), woman, placement)[0].spec.muscles
    assert [*muscles.named] == [BICEPS]
    assert not muscles.lines
    assert not muscles.fields


def with_changed_muscles(rig: Rig, **changes: Any) -> Rig:
    """The rig with other entries beside each other under "muscles"."""
    muscles = rig.spec.muscles.model_copy(update=changes)
    return replace(rig, spec=rig.spec.model_copy(update={"muscles": muscles}))


def test_a_template_that_does_not_fit_is_told(data: Path, man: Character, rig: Rig) -> None:
    horse = person(data / "mesh2motion" / "horse-animations.glb")
    naming = recognise(horse.skeleton)
    with pytest.raises(SkeletonError, match=r"0 of the template's 31 joints have a partner.*joint map"):
        rig_placement(rig, horse, naming)
    with pytest.raises(SkeletonError, match=r"a joint 'Hip' that the template does not have.*'Hips'"):
        rig_placement(rig, horse, naming, {"Hip": "hips"})
    with pytest.raises(SkeletonError, match=r"there is no joint 'hip'.*'hips'"):
        rig_placement(rig, horse, naming, {"Hips": "hip"})
    plain = create_rig(man, "man.glb", "man.ecorche", muscles=False)
    with pytest.raises(DocumentError, match=r"man\.ecorche: has no muscles to give"):
        rig_placement(plain, man, recognise(man.skeleton))


def test_options_that_contradict_each_other_are_told(data: Path, tmp_path: Path) -> None:
    man = str(data / "human" / "male_average_cmu_mb.glb")
    for more in (["--without-muscles", "--gain", "x=1"], ["--joint-map", "x.json"]):
        done = CliRunner().invoke(app, ["rig", man, "-o", str(tmp_path / "m.ecorche"), *more])
        assert done.exit_code != 0
    assert not list(tmp_path.iterdir())


def test_bad_gains_are_told(man: Character) -> None:
    for text in (
        "elbow flexors",
        "elbow flexors=much",
        "=2",
        "elbow flexors=-1",
        "elbow flexors=nan",
        "x=11",
    ):
        with pytest.raises(EcorcheError, match=r"--gain: .* is no group with a number from 0 to 10"):
            muscle_gains([text])
    with pytest.raises(EcorcheError, match=r"no muscle is one of the 'elbow flexor'.*'elbow flexors'"):
        create_rig(man, "man.glb", "man.ecorche", gains={"elbow flexor": 1.5})
