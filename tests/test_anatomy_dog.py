"""A real dog from its folder: 147 muscles, 172 bones, 503 sites with slips in their names."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from anatomy_shapes import chain
from ecorche.base.signed_distance import SignedSurface
from ecorche.body.character import Character
from ecorche.errors import ReadError
from ecorche.io.anatomy_folder import bones_of_character, read_anatomy_folder
from ecorche.io.mujoco import read_character
from ecorche.muscles.anatomy.anatomy_muscle import AnatomyMuscle
from ecorche.muscles.anatomy.bones import deflectors_near
from ecorche.muscles.anatomy.build_muscle import Surroundings, build_muscle
from ecorche.muscles.anatomy.mirror import limb_joints
from ecorche.muscles.anatomy.musculature_from_folder import FolderMusculature, musculature_from_folder
from ecorche.muscles.anatomy.sites import matched_sites

Dog = tuple[Character, FolderMusculature]


@pytest.fixture(scope="module")
def dog(data: Path) -> Dog:
    pytest.importorskip("mujoco")
    character = read_character(data / "dog" / "dog.xml")
    folder = read_anatomy_folder(data / "dog", character.up_axis)
    assert (len(folder.muscles), len(folder.bones), len(folder.sites)) == (147, 172, 503)
    return character, musculature_from_folder(folder, character.skeleton, bones_of_character(character))


def named(dog: Dog, name: str) -> AnatomyMuscle:
    return next(muscle for muscle in dog[1].muscles if muscle.name == f"MUSC{name}")


def test_every_muscle_has_an_origin_and_an_insertion_on_named_bones(dog: Dog) -> None:
    character, body = dog
    assert not body.left_out
    assert len(body.muscles) == 149  # two that one side lacked were made
    bones = set(body.bones.names)
    for muscle in body.muscles:
        assert muscle.origin
        assert muscle.insertion
        for hold in (*muscle.origin, *muscle.insertion):
            assert hold.bone in bones
            assert character.skeleton.names[hold.joint]
            assert len(hold.vertices)
            assert hold.vertices.max() < len(muscle.mesh.points)
        for line in muscle.lines:
            assert {line.origin_bone, line.insertion_bone} <= bones
            assert np.isfinite(line.nodes).all()


def test_an_end_is_guessed_only_where_no_site_tells_and_every_guess_is_told(dog: Dog) -> None:
    for muscle in dog[1].muscles:
        sources = [{hold.source for hold in end} for end in (muscle.origin, muscle.insertion)]
        told = "; ".join(muscle.report)
        if {"site"} in sources and sources != [{"site"}, {"site"}]:
            assert "has sites at one end only" in told, muscle.name
        elif {"site"} not in sources:
            assert "has no site" in told, muscle.name
        else:
            assert "site" not in told, muscle.name
    by_sites = [
        muscle
        for muscle in dog[1].muscles
        if all(hold.source == "site" for hold in (*muscle.origin, *muscle.insertion))
    ]
    assert len(by_sites) >= 100


@pytest.mark.parametrize(
    ("muscle", "origin", "insertion", "lines"),
    [
        ("m.biceps_brachii_L", {"Scapula_L"}, {"Radius_L", "Ulna_L"}, (1, 2)),
        ("m.triceps_brachii_long_L", {"Scapula_L"}, {"Ulna_L"}, (1, 1)),
        ("m.supraspinatus_L", {"Scapula_L"}, {"humerus_L"}, (1, 1)),
        ("m.infraspinatus_L", {"Scapula_L"}, {"humerus_L"}, (1, 2)),
        ("m.sternocephalicus_R", {"Ribcage"}, {"MergedSkull"}, (1, 1)),
        ("m.rhomboideus_L", {"C_4", "Ribcage"}, {"Scapula_L"}, (3, 5)),
        (
            "Mm.thoracis_serratus_ventr_R",
            {"Ribcage", "C_3", "C_4", "C_5", "C_6", "C_7"},
            {"Scapula_R"},
            (4, 5),
        ),
        ("m.latissimus_dors_L", {"Ribcage"}, {"humerus_L"}, (2, 5)),
        ("m.masseter_L", {"MergedSkull"}, {"Jaw"}, (1, 3)),
        ("m.pterygoideus_lat_R", {"MergedSkull"}, {"Jaw"}, (1, 2)),  # its site stands on the left
    ],
)
def test_known_muscles_are_where_anatomists_have_them(
    dog: Dog, muscle: str, origin: set[str], insertion: set[str], lines: tuple[int, int]
) -> None:
    found = named(dog, muscle)
    assert {hold.bone.removeprefix("BONE") for hold in found.origin} <= origin
    assert {hold.bone.removeprefix("BONE") for hold in found.insertion} <= insertion
    assert lines[0] <= len(found.lines) <= lines[1]


def test_each_finger_has_its_tendon(dog: Dog) -> None:
    extensor = named(dog, "m.extensor_digitorum_communis_L")
    assert {line.insertion_bone for line in extensor.lines} == {
        f"BONEPhalanx_distalis_digiti_{digit}_L" for digit in ("II", "III", "IV", "V")
    }
    for line in extensor.lines:
        assert line.tendon[-4:].all()  # long tendons in the paw
        assert not line.tendon[len(line.tendon) // 4]  # the belly


def test_heads_on_two_bones_leave_flesh_between_them(dog: Dog) -> None:
    """Patches on humerus and ulna that met turned triangles over in a bent elbow."""
    flexor = named(dog, "m.flexor_digitorum_profundus_L")
    one, other = (flexor.mesh.points[hold.vertices] for hold in flexor.origin)
    assert {hold.bone for hold in flexor.origin} == {"BONEUlna_L", "BONEhumerus_L"}
    assert np.linalg.norm(one[:, None] - other, axis=2).min() > 0.005


def test_halves_that_meet_in_the_middle_are_held_there(dog: Dog) -> None:
    """The seam of the breast's muscle, free above the breastbone, went across with either arm."""
    pectoral = named(dog, "m.pectorales_superficiales_1")
    torso = dog[0].skeleton.index("torso")
    held = np.concatenate([hold.vertices for hold in pectoral.origin if hold.joint == torso])
    middle = np.flatnonzero(np.abs(pectoral.mesh.points[:, 2]) < 1e-4)
    assert len(middle) > 10
    assert np.isin(middle, held).all()


def test_lines_lie_inside_their_muscle_and_bend_gently(dog: Dog) -> None:
    deepest, sharp = 0.0, 0
    for muscle in dog[1].muscles:
        surface = SignedSurface(muscle.mesh.points, muscle.mesh.triangles)
        for line in muscle.lines:
            deepest = min(deepest, float(surface.depth(line.nodes)[0].min()))
            steps = np.diff(line.nodes, axis=0)
            steps /= np.linalg.norm(steps, axis=1, keepdims=True)
            sharp += int(np.sum(steps[1:] * steps[:-1], axis=1).min() < 0.5)
    assert deepest > -0.001
    assert sharp <= 4  # of 294: round the eye, and behind the coronoid


def test_left_and_right_mirror_each_other(dog: Dog) -> None:
    character, body = dog
    plane = body.plane
    assert plane is not None
    assert abs(plane.normal[2]) > 1.0 - 1e-9  # the dog's sagittal plane is z = 0
    assert abs(plane.offset) < 1e-6
    lines = [line.nodes for muscle in body.muscles for line in muscle.lines]
    ends = np.array([[nodes[0], nodes[-1]] for nodes in lines])
    for nodes, image in zip(lines, plane.mirrored(ends), strict=True):
        apart = np.abs(ends - image).max(axis=(1, 2))
        assert any(
            len(lines[k]) == len(nodes) and np.abs(plane.mirrored(nodes) - lines[k]).max() < 1e-5
            for k in np.flatnonzero(apart < 1e-5)
        )
    sides = [character.skeleton.names[line.joints[-1]][-2:] for m in body.muscles for line in m.lines]
    assert sides.count("_L") == sides.count("_R")


def test_a_side_built_for_itself_agrees_with_the_other(dog: Dog, data: Path) -> None:
    character, body = dog
    assert body.plane is not None
    folder = read_anatomy_folder(data / "dog", character.up_axis)
    sites, _ = matched_sites(folder.sites, folder.muscles, body.bones, folder.extent)
    heads = character.skeleton.bind_world[:, :3, 3]
    limbs = limb_joints(heads, character.skeleton.parents, body.plane, folder.extent)
    around = Surroundings(body.bones, character.skeleton, tuple(limbs))
    number = {mesh.name: k for k, mesh in enumerate(folder.muscles)}
    for name in ("m.biceps_brachii", "m.teres_major", "m.supinator", "m.omotransversarius"):
        built = []
        for side in "LR":
            k = number[f"MUSC{name}_{side}"]
            built.append(build_muscle(folder.muscles[k], [s for s in sites if s.muscle == k], around))
        left, right = built
        assert len(left.lines) == len(right.lines)
        for line in left.lines:
            image = body.plane.mirrored(line.nodes)
            far = [np.abs(image - o.nodes).max() for o in right.lines if len(o.nodes) == len(image)]
            assert min(far) < 0.002


def test_lines_of_a_muscle_agree_on_tendons_and_are_held_together_along_the_limb(dog: Dog) -> None:
    character, body = dog
    for muscle in body.muscles:
        ends = {(bool(line.tendon[0]), bool(line.tendon[-1])) for line in muscle.lines}
        if "two halves" not in " ".join(muscle.report):
            assert len(ends) == 1, muscle.name
    arm = character.skeleton.index("lower_arm_L")
    for name in ("m.extensor_digitorum_communis_L", "m.flexor_digitorum_superficialis_L"):
        for line in named(dog, name).lines:
            along = line.joints == arm
            assert along.sum() > 4
            assert line.held[along].all(), name
            beside = line.above >= 0  # round elbow and wrist they go over from bone to bone
            assert beside.any()
            assert (line.share[~beside] == 1.0).all()
            wrist = beside & (line.above == arm)
            assert (np.diff(line.share[wrist]) > 0.0).all()


def test_deflectors_spare_every_line_at_bind(dog: Dog) -> None:
    _, body = dog
    assert len(body.ellipsoids) >= len(body.bones.names)
    for muscle in body.muscles[::7]:
        for line in muscle.lines:
            near = deflectors_near(body.ellipsoids, line.nodes)
            assert all(ellipsoid.level(line.nodes[1:-1]).min() > 1.0 for ellipsoid in near)
            assert len(near) < 60


def test_a_leg_in_millimetres_without_sites_or_sides(data: Path) -> None:
    folder = read_anatomy_folder(data / "leg", "Z", 0.001)
    assert 0.7 < folder.extent < 1.0
    bone = {mesh.name.split("_")[1]: mesh for mesh in folder.bones}
    top = {name: tuple(mesh.points[mesh.points[:, 1].argmax()]) for name, mesh in bone.items()}
    skeleton = chain(top["femur"], top["tibia"], tuple(bone["talus"].centre))
    joints = {"femur": 0, "tibia": 1, "fibula": 1, "talus": 2, "calcaneus": 2}
    body = musculature_from_folder(folder, skeleton, {mesh.name: joints[name] for name, mesh in bone.items()})
    assert body.plane is None
    held = {
        muscle.name.split("_FMA")[0]: ({h.joint for h in muscle.origin}, {h.joint for h in muscle.insertion})
        for muscle in body.muscles
    }
    assert held == {
        "muscle_gastrocnemius_lateral": ({0}, {2}),
        "muscle_gastrocnemius_medial": ({0}, {2}),
        "muscle_soleus": ({1}, {2}),
        "muscle_tibialis_anterior": ({1}, {2}),
    }
    calf = body.muscles[0]
    assert "a tendon is drawn across the gap" in " ".join(calf.report)
    assert calf.insertion[0].bone.startswith("bone_calcaneus")
    assert all(line.tendon[-2:].all() for line in calf.lines)


def test_folders_that_are_none(tmp_path: Path, data: Path) -> None:
    with pytest.raises(ReadError, match="there is no such folder"):
        read_anatomy_folder(tmp_path / "nowhere")
    (tmp_path / "muscles").mkdir()
    (tmp_path / "bones").mkdir()
    with pytest.raises(ReadError, match="the anatomy has no muscles"):
        read_anatomy_folder(tmp_path)
    (tmp_path / "muscles" / "torn.stl").write_bytes(b"solid")
    for kind, name in (("muscles", "MUSCm.anconeus_L"), ("bones", "BONEUlna_L")):
        (tmp_path / kind / f"{name}.stl").write_bytes((data / "dog" / kind / f"{name}.stl").read_bytes())
    folder = read_anatomy_folder(tmp_path)
    assert [mesh.name for mesh in folder.muscles] == ["MUSCm.anconeus_L"]
    assert "The muscle torn.stl was left out" in folder.notes[0]
