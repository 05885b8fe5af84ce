"""Muscles added one at a time: of the template, between two points, from a mesh, found in the skin again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from arm_anatomy import write_arm
from ecorche.body.add_mesh_muscle import added_from_mesh
from ecorche.body.add_spindles import End, added_between, added_from_template, template_names
from ecorche.body.anatomy_rig import with_anatomy
from ecorche.body.character import Character
from ecorche.body.compile import compile_body
from ecorche.body.edit_muscles import removed
from ecorche.body.edit_spindles import one_spindle
from ecorche.body.edit_wraps import with_wrap
from ecorche.body.find_muscles_again import found_again
from ecorche.body.lofted_specs import lofted_muscles_of
from ecorche.body.muscle_summary import skin_moved_by
from ecorche.body.rig import check_rig, create_rig
from ecorche.body.under_skin import outside, skin_of
from ecorche.document.files import Rig, read_rig, write_rig
from ecorche.errors import DocumentError, EcorcheError
from ecorche.io.anatomy_folder import read_anatomy_folder
from ecorche.muscles.anatomy.folder import AnatomyMesh
from extracted_people import extracted, extraction_report
from rigged_people import BICEPS, person, rigged

MAN = "male_average_cmu_mb.glb"


@pytest.fixture
def man(data: Path) -> Character:
    return person(data / "human" / MAN)


@pytest.fixture
def rig(data: Path) -> Rig:
    return rigged(data / "human" / MAN)


def bare(data: Path, man: Character) -> Rig:
    path = data / "human" / MAN
    return create_rig(man, path, path.with_suffix(".ecorche"), muscles=False)


def vertex(man: Character, place: list[float]) -> tuple[float, float, float]:
    """A point of the skin, as a click gives it."""
    points = man.body().mesh.points.astype(np.float64)
    x, y, z = points[np.argmin(np.linalg.norm(points - place, axis=1))].tolist()
    return x, y, z


def test_a_muscle_of_the_template_is_the_one_of_the_whole(data: Path, man: Character, rig: Rig) -> None:
    empty = bare(data, man)
    names = [BICEPS, "trapezius, middle, left"]
    edited = added_from_template(empty, man, names)
    for name in names:
        assert edited.rig.spec.muscles.named[name] == rig.spec.muscles.named[name]
    joints = {p.joint for n in names for p in edited.rig.spec.muscles.named[n].path}
    blades = edited.rig.spec.skeleton.virtual_scapulae
    assert set(blades) == {j for j in joints if j.startswith("virtual")}
    assert check_rig(edited.rig, man) == []
    assert compile_body(man, rig=edited.rig).muscles is not None
    assert BICEPS not in template_names(edited.rig, man)
    with pytest.raises(DocumentError, match="already"):
        added_from_template(rig, man, [BICEPS])
    with pytest.raises(EcorcheError, match="Did you mean"):
        added_from_template(empty, man, ["biceps brachii, long hed, right"])
    with pytest.raises(EcorcheError, match="has no place here: the rig lacks"):
        added_from_template(empty, man, ["abductor pollicis brevis, right"])


def test_a_muscle_beside_others_leaves_them_as_they_are(man: Character, rig: Rig) -> None:
    few = removed(rig, [BICEPS]).rig
    edited = added_from_template(few, man, [BICEPS]).rig
    assert dict(edited.spec.muscles.named) == dict(rig.spec.muscles.named)
    assert edited.spec.notes == few.spec.notes


def test_two_clicks_make_a_muscle_that_bends_the_elbow(data: Path, man: Character) -> None:
    rig = bare(data, man)
    heads = dict(zip(man.skeleton.names, man.skeleton.bind_world[:, :3, 3], strict=True))
    shoulder, elbow, wrist = (heads[n] for n in ("LeftArm", "LeftForeArm", "LeftHand"))
    forward = np.array([0.0, 0.0, 0.06])
    origin = End(vertex(man, list(shoulder + 0.3 * (elbow - shoulder) + forward)))
    insertion = End(vertex(man, list(elbow + 0.2 * (wrist - elbow) + forward)))
    edited = added_between(rig, man, "my <biceps>", origin, insertion)
    spec = edited.rig.spec.muscles.named["my <biceps>"]
    assert [p.joint for p in spec.path] == ["LeftArm", "LeftForeArm"]
    assert [a.joint for a in spec.actions] == ["LeftForeArm"]
    assert spec.outward[2] > 0.5  # it bulges forwards
    assert {"LeftArm", "LeftForeArm"} & set(spec.influence.joints)
    assert not {"Spine", "Spine1", "RightArm"} & set(spec.influence.joints)
    assert 0.008 < spec.thickness[0][3] < 0.05
    one = one_spindle(edited.rig, man, "my <biceps>")
    skin, tissue = skin_of(man, edited.rig)
    assert (skin.depth(one.frames.paths.bind_points)[0] > 0.5 * tissue).all()
    assert (skin_moved_by(compile_body(man, rig=edited.rig), "my <biceps>") > 0.1).sum() > 20
    assert check_rig(edited.rig, man) == []
    with pytest.raises(DocumentError, match="already"):
        added_between(edited.rig, man, "my <biceps>", origin, insertion)
    with pytest.raises(EcorcheError, match="both ends move with 'LeftArm'"):
        added_between(rig, man, "short", origin, replace(insertion, joint="LeftArm"))
    with pytest.raises(EcorcheError, match="there is no joint 'LeftArn'"):
        added_between(rig, man, "short", replace(origin, joint="LeftArn"), insertion)
    with pytest.raises(EcorcheError, match="needs a name"):
        added_between(rig, man, " ", origin, insertion)


def test_muscles_are_found_again_in_one_region(data: Path) -> None:
    man, rig = extracted(data / "human" / "male_muscular_cmu_mb.glb")
    found = extraction_report(data / "human" / "male_muscular_cmu_mb.glb")[1].extraction
    region = found.regions[found.tracks[0].region]
    own = [
        muscle.name
        for muscle, track in zip(found.muscles, found.tracks, strict=True)
        if found.regions[track.region] == region
    ]
    few = removed(rig, own[:1]).rig
    edited = found_again(few, man, [region])
    assert edited.rig.spec.muscles.lofted.keys() == rig.spec.muscles.lofted.keys()
    assert f"{len(own)} muscles found in {region}" in edited.lines[0]
    others = {n: m for n, m in few.spec.muscles.lofted.items() if n not in own}
    assert {n: edited.rig.spec.muscles.lofted[n] for n in others} == others


def test_a_region_that_is_none_is_told(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = extraction_report(data / "human" / "male_muscular_cmu_mb.glb")[1].extraction
    monkeypatch.setattr("ecorche.body.find_muscles_again.found_in_skin", lambda *_: found)
    man, rig = extracted(data / "human" / "male_muscular_cmu_mb.glb")
    with pytest.raises(EcorcheError, match="no region 'upper arn, left'"):
        found_again(rig, man, ["upper arn, left"])


@pytest.mark.parametrize("shape", ["sphere", "cylinder", "ball", "none"])
def test_a_wrap_changes_and_the_muscle_stays_where_it_is(data: Path, shape: str) -> None:
    man, rig = extracted(data / "human" / "male_muscular_cmu_mb.glb")
    name = "upper arm front, left"
    before = lofted_muscles_of(rig, man.skeleton)
    edited = with_wrap(rig, man, name, shape)  # type: ignore[arg-type]
    spec = edited.rig.spec.muscles.lofted[name]
    assert (spec.wrap is None) == (shape == "none")
    assert spec.wrap is None or spec.wrap.shape == shape
    assert compile_body(man, rig=edited.rig).lofts is not None
    assert outside(edited.rig, man, name) < outside(rig, man, name) + 0.004
    assert len(before) == len(edited.rig.spec.muscles.lofted)


def test_numbers_of_a_wrap(data: Path) -> None:
    man, rig = extracted(data / "human" / "male_muscular_cmu_mb.glb")
    name = "upper arm front, left"
    round_ = with_wrap(rig, man, name, "sphere").rig
    held = round_.spec.muscles.lofted[name].wrap
    assert held is not None
    smaller = with_wrap(round_, man, name, radius=0.7 * held.radius).rig.spec.muscles.lofted[name].wrap
    assert smaller is not None
    assert smaller.radius == pytest.approx(0.7 * held.radius)
    assert (smaller.centre, smaller.axis) == (held.centre, held.axis)
    joint = man.skeleton.names.index(held.joint)
    place = man.skeleton.bind_world[joint, :3, 3] + [0.0, 0.004, 0.0]
    moved = with_wrap(round_, man, name, centre=place).rig.spec.muscles.lofted[name].wrap
    assert moved is not None
    frame = man.skeleton.bind_world[joint]
    np.testing.assert_allclose(frame[:3, :3] @ moved.centre + frame[:3, 3], place, atol=1e-8)
    turned = with_wrap(round_, man, name, other_side=True).rig.spec.muscles.lofted[name].wrap
    assert turned is not None
    np.testing.assert_allclose(turned.axis, -np.array(held.axis), atol=1e-9)
    with pytest.raises(EcorcheError, match="is no radius"):
        with_wrap(round_, man, name, radius=-1.0)
    with pytest.raises(EcorcheError, match="bends round nothing"):
        with_wrap(rig, man, name, "none", radius=0.03)
    with pytest.raises(DocumentError, match="there is no muscle"):
        with_wrap(rig, man, "nobody", "sphere")


def test_a_mesh_joins_those_that_are_there(man: Character, data: Path, tmp_path: Path) -> None:
    folder = read_anatomy_folder(write_arm(tmp_path / "arm", man, np.eye(3)), "Y", 1.0)
    rig = with_anatomy(bare(data, man), man, folder, {})[0]
    (first,) = rig.spec.muscles.lines
    shape = folder.muscles[0]
    mesh = AnatomyMesh("second <b>", np.add(shape.points, [0.0, 0.0, 0.003]), shape.triangles)
    edited = added_from_mesh(rig, man, mesh)
    assert list(edited.rig.spec.muscles.lines) == [first, "second <b>"]
    assert edited.rig.spec.muscles.lines[first] == rig.spec.muscles.lines[first]
    assert set(rig.spec.muscles.fields) <= set(edited.rig.spec.muscles.fields)
    assert {p.bone for p in edited.rig.spec.muscles.lines["second <b>"].attachments} == {"humerus", "forearm"}
    assert check_rig(edited.rig, man) == []
    lines = compile_body(man, rig=edited.rig).lines
    assert lines is not None
    assert len(lines.musculature.muscles) == 2
    write_rig(tmp_path / "arm.ecorche", edited.rig)
    assert read_rig(tmp_path / "arm.ecorche").spec.muscles == edited.rig.spec.muscles
    with pytest.raises(DocumentError, match="already"):
        added_from_mesh(edited.rig, man, mesh)


def test_a_mesh_needs_bones(man: Character, rig: Rig) -> None:
    points = np.array([[0.0, 0, 0], [0.01, 0, 0], [0, 0.1, 0]])
    mesh = AnatomyMesh("my muscle", points, np.array([[0, 1, 2]]))
    with pytest.raises(EcorcheError, match="neither the rig nor its character has bones"):
        added_from_mesh(rig, man, mesh)
