"""Muscles follow their character: they stay on their bones, wait for joints that are gone, and it is told."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from ecorche.base.rotations import xyzw_from_axis_angle
from ecorche.base.transforms import compose
from ecorche.body.character import Character
from ecorche.body.muscle_specs import muscles_of
from ecorche.body.rebind import RebindReport, rebind
from ecorche.body.rig import check_rig, create_rig
from ecorche.document.files import Rig
from ecorche.document.spec import MapRef
from ecorche.io.formats import read_character
from ecorche.muscles.muscle import Muscle
from ecorche.skeleton.kinematics import difference_from_bind
from ecorche.skin.linear import LinearSkinning
from test_rig_muscles import part_of, scaled

Floats = npt.NDArray[np.float64]

GASTROCNEMIUS = "gastrocnemius, medial, right"
BICEPS = "biceps brachii, long head, right"


@cache
def person(path: Path) -> Character:
    return read_character(path)


@cache
def rigged(path: Path) -> Rig:
    return create_rig(person(path), "old.glb", "man.ecorche")


@pytest.fixture
def man(data: Path) -> Character:
    return person(data / "human" / "male_average_cmu_mb.glb")


@pytest.fixture
def rig(data: Path) -> Rig:
    return rigged(data / "human" / "male_average_cmu_mb.glb")


def rebound(rig: Rig, character: Character) -> tuple[Rig, RebindReport]:
    return rebind(rig, character, "new.glb", "man.ecorche")


def rebuilt(character: Character, local: Floats) -> Character:
    """The character bound in another pose, its skin moved there by linear skinning."""
    skeleton, body = character.skeleton, character.body()
    assert body.weights is not None
    points = LinearSkinning(body.mesh.points, body.weights).apply(difference_from_bind(skeleton, local))
    return replace(
        character,
        skeleton=replace(skeleton, bind_local=local, rest_local=local),
        meshes=(replace(body, mesh=replace(body.mesh, points=points, normals=None)),),
    )


def by_name(rig: Rig, character: Character) -> dict[str, Muscle]:
    return {muscle.name: muscle for muscle in muscles_of(rig, character.skeleton)[0]}


def test_nothing_changed_leaves_every_digit(man: Character, rig: Rig) -> None:
    after, report = rebind(rig, man, "old.glb", "man.ecorche")
    assert after.spec == rig.spec
    assert report.lines() == ["mesh 'Body': unchanged.", "160 muscles went with their joints"]


def test_raised_arms_take_their_muscles_along(man: Character, rig: Rig) -> None:
    """The joints' frames turn, so the text stays; directions of the world do not."""
    skeleton = man.skeleton
    local = skeleton.bind_local.copy()
    arm = skeleton.index("RightArm")
    axis = skeleton.bind_world[arm, :3, :3].T @ [0.0, 0.0, 1.0]
    local[arm] = local[arm] @ compose(np.zeros(3), xyzw_from_axis_angle(axis, -0.5))
    raised = rebuilt(man, local)
    after, report = rebound(rig, raised)
    old, new = by_name(rig, man), by_name(after, raised)
    turn = compose(np.zeros(3), xyzw_from_axis_angle([0.0, 0.0, 1.0], -0.5))[:3, :3]
    shoulder = skeleton.bind_world[arm, :3, 3]
    for name in ("triceps brachii, medial head, right", "brachialis, right", "brachioradialis, right"):
        expected = (old[name].positions - shoulder) @ turn.T + shoulder
        np.testing.assert_allclose(new[name].positions, expected, atol=2e-6, err_msg=name)
        np.testing.assert_allclose(new[name].outward, turn @ old[name].outward, atol=1e-4, err_msg=name)
        flexion, before = new[name].actions[0], old[name].actions[0]
        np.testing.assert_allclose(flexion.axis, turn @ before.axis, atol=1e-4, err_msg=name)
    for name in (GASTROCNEMIUS, "biceps brachii, long head, left"):
        assert after.spec.muscles.named[name] == rig.spec.muscles.named[name]
    assert "joint 'RightArm' is turned by 29 degrees" in str(report)
    assert check_rig(after, raised) == []


def test_a_longer_shank_takes_its_points_along(man: Character, rig: Rig) -> None:
    skeleton = man.skeleton
    local = skeleton.bind_local.copy()
    local[skeleton.index("RightFoot"), :3, 3] *= 1.2
    tall = rebuilt(man, local)
    after, report = rebound(rig, tall)
    old, new = by_name(rig, man)[GASTROCNEMIUS], by_name(after, tall)[GASTROCNEMIUS]
    knee, foot = skeleton.index("RightLeg"), skeleton.index("RightFoot")

    def shares(muscle: Muscle, character: Character) -> Floats:
        heads = character.skeleton.bind_world[:, :3, 3]
        along = heads[foot] - heads[knee]
        on_shank = np.array(muscle.joints) == knee
        return np.asarray((muscle.positions[on_shank] - heads[knee]) @ along / (along @ along))

    assert len(shares(old, man)) >= 1
    np.testing.assert_allclose(shares(new, tall), shares(old, man), atol=1e-6)
    np.testing.assert_array_equal(new.thickness, old.thickness)  # the body is of the same size
    moved = report.muscle_points_moved_mm
    assert 1.0 < max(moved) < 0.2 * 500.0
    assert "where bones changed their length" in str(report)
    assert after.spec.muscles.named[BICEPS] == rig.spec.muscles.named[BICEPS]


def test_a_larger_body_has_larger_muscles(man: Character, rig: Rig) -> None:
    giant = scaled(man, 2.0)
    after, _ = rebound(rig, giant)
    old, new = by_name(rig, man), by_name(after, giant)
    for name, muscle in old.items():
        np.testing.assert_allclose(new[name].positions, 2.0 * muscle.positions, atol=1e-6, err_msg=name)
        np.testing.assert_allclose(new[name].thickness, 2.0 * muscle.thickness, rtol=1e-6, err_msg=name)


def test_another_build_keeps_its_muscles(data: Path, man: Character, rig: Rig) -> None:
    strong = person(data / "human" / "male_muscular_cmu_mb.glb")
    after, report = rebound(rig, strong)
    assert report.muscles == 160
    old, new = by_name(rig, man), by_name(after, strong)
    far = max(float(np.abs(new[name].positions - old[name].positions).max()) for name in old)
    assert far < 0.03  # joints moved by 14 mm at most
    assert check_rig(after, strong) == []


def test_muscles_follow_renamed_joints_and_wait_for_missing_ones(
    data: Path, man: Character, rig: Rig
) -> None:
    other = person(data / "human" / "male_muscular_mixamo.glb")
    there, report = rebound(rig, other)
    assert check_rig(there, other) == []
    arm = there.spec.muscles.named[BICEPS]
    assert [p.joint for p in arm.path][-1] == "mixamorig:RightForeArm"
    assert arm.influence.joints == ("mixamorig:RightArm",)
    assert there.spec.skeleton.virtual_scapulae["virtual scapula, right"].arm == "mixamorig:RightArm"
    assert len(there.spec.muscles.named) + len(report.muscles_set_aside) == 160
    back, report = rebound(there, man)
    assert len(back.spec.muscles.named) == 160
    assert set(report.muscles_restored) == set(
        there.spec.skeleton.set_aside.muscles if there.spec.skeleton.set_aside else ()
    )
    old, new = by_name(rig, man), by_name(back, man)
    for name in old:
        np.testing.assert_allclose(new[name].positions, old[name].positions, atol=2e-4, err_msg=name)


def test_muscles_of_a_lost_arm_are_set_aside_and_come_back(man: Character, rig: Rig) -> None:
    one_armed = part_of(man, {"r_sternoclavicular"})
    there, report = rebound(rig, one_armed)
    assert BICEPS in report.muscles_set_aside
    assert "biceps brachii, long head, left" in there.spec.muscles.named
    aside = there.spec.skeleton.set_aside
    assert aside is not None
    assert aside.muscles[BICEPS] == rig.spec.muscles.named[BICEPS]
    assert set(aside.virtual_scapulae) == {"virtual scapula, right"}
    assert "muscles set aside, a joint of theirs is gone (" in str(report)
    assert check_rig(there, one_armed) == []
    back, report = rebound(there, man)
    assert BICEPS in report.muscles_restored
    assert back.spec.skeleton.set_aside is None
    assert back.spec.muscles.named[BICEPS] == rig.spec.muscles.named[BICEPS]
    assert back.spec.skeleton.virtual_scapulae == rig.spec.skeleton.virtual_scapulae
    assert set(back.spec.muscles.named) == set(rig.spec.muscles.named)


def test_painted_weights_go_with_the_skin(man: Character, rig: Rig) -> None:
    body = man.body()
    weights = np.linspace(0.0, 1.0, body.mesh.vertex_count).astype(np.float32)
    muscle = rig.spec.muscles.named[BICEPS]
    painted = muscle.model_copy(update={"influence": muscle.influence.model_copy(update={"painted": "arm"})})
    spec = rig.spec.model_copy(
        update={
            "maps": {"arm": MapRef(mesh=body.name)},
            "muscles": rig.spec.muscles.model_copy(
                update={"named": {**rig.spec.muscles.named, BICEPS: painted}}
            ),
        }
    )
    after, report = rebound(replace(rig, spec=spec, maps={"arm": weights}), scaled(man, 1.1))
    assert after.spec.muscles.named[BICEPS].influence.painted == "arm"
    np.testing.assert_array_equal(after.maps["arm"], weights)
    assert "Maps carried: arm" in str(report)


def test_check_tells_what_is_wrong_with_muscles(man: Character, rig: Rig) -> None:
    muscle = rig.spec.muscles.named[BICEPS]
    wrong = muscle.model_copy(
        update={"path": (*muscle.path[:-1], muscle.path[-1].model_copy(update={"joint": "RightForArm"}))}
    )
    named = {**rig.spec.muscles.named, BICEPS: wrong}
    spec = rig.spec.model_copy(update={"muscles": rig.spec.muscles.model_copy(update={"named": named})})
    (problem,) = check_rig(replace(rig, spec=spec), man)
    assert problem.startswith(f'muscles.named["{BICEPS}"].path[')
    assert "there is no joint 'RightForArm'. Did you mean 'RightForeArm'?" in problem
