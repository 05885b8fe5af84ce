"""Muscles mirrored to the other side: on it they are what they were, and twice mirrored themselves."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from typer.testing import CliRunner

from ecorche.base.names import other_side, side_of
from ecorche.body.character import Character
from ecorche.body.compile import compile_body
from ecorche.body.edit_any_muscle import renamed
from ecorche.body.edit_muscles import removed, resized
from ecorche.body.edit_spindles import moved_point, moved_sweep_control, moved_thickness_control, one_spindle
from ecorche.body.mirror_muscles import mirrored, mirrored_side
from ecorche.body.muscle_summary import skin_moved_by
from ecorche.body.painting import with_weights
from ecorche.body.rig import check_rig
from ecorche.cli.main import app
from ecorche.document.files import Rig, read_rig, write_rig
from ecorche.document.muscle_spec import MuscleSpec
from ecorche.errors import DocumentError, EcorcheError
from ecorche.skeleton.naming.recognise import recognise
from ecorche.skeleton.symmetry import symmetry_of
from extracted_people import extracted
from rigged_people import BICEPS, person, rigged

Floats = npt.NDArray[np.float64]

LEFT_BICEPS = BICEPS.replace("right", "left")


@pytest.fixture
def man(data: Path) -> Character:
    return person(data / "human" / "male_average_cmu_mb.glb")


@pytest.fixture
def rig(data: Path) -> Rig:
    return rigged(data / "human" / "male_average_cmu_mb.glb")


def edited(rig: Rig, man: Character) -> Rig:
    """A biceps with everything about it changed that a side can tell."""
    place = one_spindle(rig, man, BICEPS).frames.paths.bind_points[-1] + [0.004, -0.01, 0.006]
    made = moved_point(rig, man, BICEPS, -1, place).rig
    made = moved_thickness_control(made, man, BICEPS, 1, 2, 0.011).rig
    return moved_sweep_control(made, man, BICEPS, 0, 3, 0.003, 0.005).rig


def test_the_other_side_of_a_name() -> None:
    pairs = {
        "LeftArm": "RightArm", "LThumb": "RThumb", "l_knee": "r_knee", "arm.R": "arm.L", "Bip01 L Thigh":
        "Bip01 R Thigh", "deltoid, middle, right": "deltoid, middle, left", "LEFT": "RIGHT",
    }  # fmt: skip
    for one, other in pairs.items():
        assert (other_side(one), other_side(other)) == (other, one)
    assert [other_side(name) for name in ("Lower", "Rib", "bright", "rightmost", "")] == [None] * 5
    assert side_of("mixamorig:RightLeg") == "right"


def test_joints_are_paired_and_the_plane_lies_between(man: Character) -> None:
    symmetry = symmetry_of(man.skeleton, recognise(man.skeleton))
    names = man.skeleton.names
    pairs = {name: names[symmetry.partner[j]] for j, name in enumerate(names) if symmetry.partner[j] >= 0}
    assert pairs["LeftArm"] == "RightArm"
    assert pairs["RHipJoint"] == "LHipJoint"
    assert pairs["Spine"] == "Spine"
    heads = man.skeleton.bind_world[:, :3, 3]
    assert symmetry.side(heads[names.index("LeftHand")]) > 0.3
    assert np.abs(symmetry.side(heads[names.index("Spine")])) < 0.01
    turned = symmetry.image_of_axis(symmetry.normal)
    np.testing.assert_allclose(turned, symmetry.normal)  # turning about the plane's normal looks the same


def test_a_mirrored_spindle_is_its_image(man: Character, rig: Rig) -> None:
    made = edited(rig, man)
    both = mirrored(made, man, [BICEPS])
    assert both.lines == (f"{BICEPS!r} mirrored: {LEFT_BICEPS!r} replaced",)
    assert check_rig(both.rig, man) == []
    assert both.rig.spec.muscles.named[BICEPS] == made.spec.muscles.named[BICEPS]
    symmetry = symmetry_of(man.skeleton, recognise(man.skeleton))
    right, left = (one_spindle(both.rig, man, name) for name in (BICEPS, LEFT_BICEPS))
    t = np.linspace(0.0, 1.0, 9)
    (p, _, _), (q, _, _) = (one.frames.bind.at(t) for one in (right, left))
    # the sides of this body are the same to a millimetre or two
    np.testing.assert_allclose(symmetry.image(p[0]), q[0], atol=0.004)
    np.testing.assert_allclose(left.spindles.thickness, right.spindles.thickness, atol=1e-8)
    np.testing.assert_allclose(left.spindles.sweep, right.spindles.sweep * [1.0, -1.0], atol=1e-8)
    (here, there) = (both.rig.spec.muscles.named[name] for name in (BICEPS, LEFT_BICEPS))
    assert [a.joint for a in there.actions] == [other_side(a.joint) for a in here.actions]
    assert set(there.influence.joints) == {other_side(j) for j in here.influence.joints}


def test_mirrored_actions_are_those_of_the_template(man: Character, rig: Rig) -> None:
    """The template was mirrored on segments, this is on the plane: both say the same of the other side."""
    both = mirrored(rig, man, [BICEPS, "deltoid, anterior, right"]).rig
    for name in (LEFT_BICEPS, "deltoid, anterior, left"):
        for one, other in zip(
            rig.spec.muscles.named[name].actions, both.spec.muscles.named[name].actions, strict=True
        ):
            assert (one.joint, one.degrees, one.weight) == (other.joint, other.degrees, other.weight)
            assert np.dot(one.axis, other.axis) > 0.98


def test_mirrored_twice_it_is_itself(man: Character, rig: Rig) -> None:
    made = edited(rig, man)
    there = mirrored(made, man, [BICEPS]).rig
    back = mirrored(removed(there, [BICEPS]).rig, man, [LEFT_BICEPS]).rig
    close(back.spec.muscles.named[BICEPS], made.spec.muscles.named[BICEPS])


def close(one: MuscleSpec, other: MuscleSpec) -> None:
    """The same muscle, to what a file's rounding may do."""
    a, b = one.model_dump(), other.model_dump()
    for key in ("outward", "thickness", "sweep", "belly", "scale"):
        np.testing.assert_allclose(a[key], b[key], atol=1e-8, err_msg=key)
    assert [p["joint"] for p in a["path"]] == [p["joint"] for p in b["path"]]
    np.testing.assert_allclose([p["at"] for p in a["path"]], [p["at"] for p in b["path"]], atol=1e-7)
    assert (a["muscle"], a["group"], a["max_force"]) == (b["muscle"], b["group"], b["max_force"])
    assert sorted(a["influence"]["joints"]) == sorted(b["influence"]["joints"])
    assert [x["joint"] for x in a["actions"]] == [x["joint"] for x in b["actions"]]


def test_all_of_a_side_and_names_without_one(man: Character, rig: Rig) -> None:
    made = renamed(rig, BICEPS, "show biceps").rig
    few = removed(made, [n for n in made.spec.muscles.named if n.endswith("left")]).rig
    both = mirrored_side(few, man, "right")
    named = both.rig.spec.muscles.named
    assert "show biceps, left" in named
    assert len(named) == 2 * len(few.spec.muscles.named)
    assert any(len(m.path) > 2 and m.path[0].joint == "virtual scapula, left" for m in named.values())
    with pytest.raises(EcorcheError, match="no muscle lies on the left"):
        mirrored_side(few, man, "left")
    with pytest.raises(EcorcheError, match="is no side"):
        mirrored_side(few, man, "middle")


def test_what_cannot_be_mirrored_says_why(man: Character, rig: Rig) -> None:
    with pytest.raises(DocumentError, match="each other's partners"):
        mirrored(rig, man, [BICEPS, LEFT_BICEPS])
    with pytest.raises(DocumentError, match="Did you mean"):
        mirrored(rig, man, ["biceps brachii, long hed, right"])
    name = "rectus abdominis, right"
    middle = rig
    for row in range(len(rig.spec.muscles.named[name].path)):
        place = one_spindle(middle, man, name).frames.paths.bind_points[row].copy()
        place[0] = 0.0
        middle = moved_point(middle, man, name, row, place).rig
    with pytest.raises(EcorcheError, match="lies on the midline"):
        mirrored(middle, man, [name])


def test_painted_weights_are_mirrored_over_the_skin(man: Character, rig: Rig) -> None:
    points = man.body().mesh.points
    weights = np.clip((-points[:, 0] - 0.15) / 0.3, 0.0, 1.0).astype(np.float64)
    both = mirrored(with_weights(rig, BICEPS, weights), man, [BICEPS]).rig
    found = skin_moved_by(compile_body(man, rig=both), LEFT_BICEPS)
    wanted = np.clip((points[:, 0] - 0.15) / 0.3, 0.0, 1.0)
    assert np.abs(found - wanted).max() < 0.05
    assert found.max() > 0.5
    np.testing.assert_allclose(skin_moved_by(compile_body(man, rig=both), BICEPS), weights, atol=1e-6)


def test_muscles_found_in_the_skin_are_mirrored_with_their_wraps(data: Path) -> None:
    man, rig = extracted(data / "human" / "male_muscular_cmu_mb.glb")
    front = "upper arm front, left"
    thick = resized(rig, man, front, 0.8).rig
    both = mirrored(thick, man, [front]).rig
    assert check_rig(both, man) == []
    here, there = (both.spec.muscles.lofted[name] for name in (front, front.replace("left", "right")))
    assert [r.half_axes for r in here.rings] == [r.half_axes for r in there.rings]
    assert there.path[0].joint == other_side(here.path[0].joint)
    body = compile_body(man, rig=both)
    assert body.lofts is not None
    by_name = dict(zip(body.lofts.lofts.names, body.lofts.lofts.curves.bind.lengths, strict=True))
    assert by_name[front] == pytest.approx(by_name[front.replace("left", "right")], rel=0.01)
    back = mirrored(both, man, [front.replace("left", "right")]).rig.spec.muscles.lofted[front]
    if here.wrap is not None and back.wrap is not None:
        np.testing.assert_allclose(back.wrap.axis, here.wrap.axis, atol=1e-6)
    np.testing.assert_allclose([r.centre for r in back.rings], [r.centre for r in here.rings], atol=1e-7)


def test_on_the_command_line(data: Path, rig: Rig, tmp_path: Path) -> None:
    (tmp_path / "man.glb").write_bytes((data / "human" / "male_average_cmu_mb.glb").read_bytes())
    few = removed(rig, [LEFT_BICEPS, "deltoid, middle, left"]).rig
    write_rig(tmp_path / "man.ecorche", few)
    names = ["--mirror", BICEPS, "--mirror", "deltoid, middle, right"]
    result = CliRunner().invoke(app, ["muscles", str(tmp_path / "man.ecorche"), *names])
    assert result.exit_code == 0, result.output
    assert f"{BICEPS!r} mirrored: {LEFT_BICEPS!r}" in result.output
    named = read_rig(tmp_path / "man.ecorche").spec.muscles.named
    assert {LEFT_BICEPS, "deltoid, middle, left"} <= named.keys()
