"""Skins and skeletons as they come: each is handled, or refused region by region with the reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from benchmarks.extraction import found as extraction_of
from benchmarks.extraction import person

import altered_people
from ecorche.base.mesh import triangle_mesh
from ecorche.base.rotations import matrix_from_xyzw, xyzw_from_rotation_vector
from ecorche.base.signed_pieces import SignedPieces
from ecorche.body.character import Character
from ecorche.errors import EcorcheError, MeshError
from ecorche.io.formats import read_character
from ecorche.muscles.extraction.build import Extraction, extract_muscles
from ecorche.muscles.extraction.limb_ends import limb_end
from ecorche.muscles.extraction.redrawn import surface_of
from ecorche.muscles.extraction.regions import joined
from ecorche.skeleton.naming import recognise
from ecorche.skeleton.skeleton import Skeleton, local_from_world, world_from_local
from ecorche.skin.weights import weights_from_table

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def man(data: Path) -> Character:
    return person(data / "human" / "male_muscular_cmu_mb.glb")


def found(character: Character) -> Extraction:
    body = character.body()
    assert body.weights is not None
    return checked(
        extract_muscles(
            body.mesh.points,
            body.mesh.triangles(),
            body.weights.padded(),
            character.skeleton,
            recognise(character.skeleton),
        )
    )


def checked(extraction: Extraction) -> Extraction:
    assert all(region and len(reason) > 10 for region, reason in extraction.left_out)
    for muscle in extraction.muscles:
        rings = muscle.rings
        arrays = (rings.u, rings.centre, rings.half_axes, rings.angle, muscle.ends, muscle.outward)
        assert all(np.isfinite(a).all() for a in arrays), muscle.name
        assert (rings.half_axes > 0.0).all(), muscle.name
    return extraction


def found_on_man(data: Path) -> Extraction:
    return checked(extraction_of(data / "human" / "male_muscular_cmu_mb.glb"))


def names(extraction: Extraction) -> list[str]:
    return [m.name for m in extraction.muscles]


def muscles(extraction: Extraction) -> set[str]:
    return {m.muscle for m in extraction.muscles}


def turned_by(rotation_vector: Floats) -> Floats:
    return matrix_from_xyzw(xyzw_from_rotation_vector(rotation_vector))


def changed(character: Character, points: npt.ArrayLike, triangles: npt.ArrayLike) -> Character:
    """With another skin of as many vertices."""
    body = character.body()
    mesh = triangle_mesh(body.name, np.asarray(points, np.float64), np.asarray(triangles))
    return replace(character, meshes=(replace(body, mesh=mesh),), motions=())


def moved(character: Character, world: Floats) -> Character:
    """All of a character turned and moved by a rigid transform (4, 4)."""
    skeleton = character.skeleton
    bind = world @ skeleton.bind_world
    local = local_from_world(skeleton.parents, bind)
    points = character.body().mesh.points.astype(np.float64) @ world[:3, :3].T + world[:3, 3]
    turned = Skeleton(skeleton.names, skeleton.parents, local, local, skeleton.tails)
    return replace(changed(character, points, character.body().mesh.triangles()), skeleton=turned)


def posed(character: Character, turns: Mapping[str, Floats]) -> Character:
    """Bound anew in another pose: some joints turned by rotation vectors in the world [rad]."""
    skeleton, body = character.skeleton, character.body()
    assert body.weights is not None
    local = skeleton.bind_local.copy()
    for name, turn in turns.items():
        joint = skeleton.index(name)
        upright = skeleton.bind_world[joint, :3, :3]
        local[joint, :3, :3] = local[joint, :3, :3] @ upright.T @ turned_by(turn) @ upright
    world = world_from_local(skeleton.parents, local)
    difference = world @ skeleton.bind_inverse
    joints, weights = body.weights.padded()
    blended = np.einsum("vk,vkxy->vxy", weights.astype(np.float64), difference[joints])
    points = body.mesh.points.astype(np.float64)
    points = np.einsum("vxy,vy->vx", blended[:, :3, :3], points) + blended[:, :3, 3]
    bound = Skeleton(skeleton.names, skeleton.parents, local, local, skeleton.tails)
    return replace(changed(character, points, body.mesh.triangles()), skeleton=bound)


def with_joints(
    character: Character,
    names: tuple[str, ...],
    parents: npt.NDArray[np.integer],
    local: Floats,
    tails: Floats,
) -> Character:
    """On another skeleton whose first joints are its own."""
    skeleton = Skeleton(names, np.asarray(parents, np.int32), local, local, tails)
    return replace(character, skeleton=skeleton)


def test_lying_down_or_in_any_attitude_the_same_muscles_are_found(data: Path) -> None:
    world = np.eye(4)
    world[:3, :3] = turned_by(np.array([-1.3, 0.4, 0.9]))
    world[:3, 3] = 0.3, -2.0, 5.0
    there, here = found(moved(man(data), world)), found_on_man(data)
    assert names(there) == names(here)
    for a, b in zip(there.muscles, here.muscles, strict=True):
        np.testing.assert_allclose(a.ends, b.ends @ world[:3, :3].T + world[:3, 3], atol=1e-3)


def test_numbers_in_centimetres_or_a_dwarf_change_nothing(data: Path) -> None:
    for times in (100.0, 0.1):
        assert names(found(altered_people.scaled(man(data), times))) == names(found_on_man(data))


@pytest.mark.parametrize("name", ["T", "arms down", "arms up and twisted"])
def test_other_bind_poses_still_show_the_chest(data: Path, name: str) -> None:
    lift = {"T": 0.85, "arms down": -0.6, "arms up and twisted": 1.6}[name]
    turns = {"LeftArm": np.array([0.0, 0.0, lift]), "RightArm": np.array([0.0, 0.0, -lift])}
    if name == "arms up and twisted":
        turns |= {"Spine": np.array([0.2, 0.5, 0.0]), "LeftUpLeg": np.array([-0.8, 0.0, 0.3])}
    extraction = found(posed(man(data), turns))
    chest = {m.name.rsplit(", ")[-1] for m in extraction.muscles if m.muscle == "pectoralis major"}
    assert chest == {"left", "right"} or (chest and name == "arms up and twisted")


def test_an_open_skin_shows_what_it_has(data: Path) -> None:
    body = man(data).body()
    points, triangles = body.mesh.points, body.mesh.triangles()
    holes = np.linalg.norm(points[triangles].mean(axis=1) - [0.1, 1.2, 0.1], axis=1) > 0.04
    bitten = found(changed(man(data), points, triangles[holes]))
    assert {"pectoralis major", "deltoid", "trapezius"} <= muscles(bitten)
    torn = triangles[np.random.default_rng(3).random(len(triangles)) > 0.2]
    found(changed(man(data), points, torn))  # in tatters: whatever is found is whole


def test_a_bust_and_a_single_arm_say_what_they_lack(data: Path) -> None:
    arm = ["LeftArm", "LeftForeArm", "LeftHand"]
    lone = found(altered_people.part(man(data), arm, arm))
    assert not any("right" in name for name in names(lone))
    assert any("no axis to cut along" in reason for _, reason in lone.left_out)
    upper = ["Head", "Neck1", "Neck", "Spine1", "LeftShoulder", "RightShoulder", "LeftArm", "RightArm"]
    bust = found(altered_people.part(man(data), [*upper, "LeftForeArm", "RightForeArm"], upper))
    assert not any("thigh" in name or "leg" in name for name in names(bust))
    assert "trapezius" in muscles(bust)


def test_several_shells_one_inside_the_other_are_told_apart(data: Path) -> None:
    body = man(data).body()
    assert body.weights is not None
    points, triangles = body.mesh.points.astype(np.float64), body.mesh.triangles()
    middle = points.mean(axis=0)
    inner = middle + 0.8 * (points - middle)
    joints, weights = body.weights.padded()
    both = replace(
        body,
        mesh=triangle_mesh(
            body.name, np.vstack([points, inner]), np.vstack([triangles, triangles + len(points)])
        ),
        weights=weights_from_table(
            np.vstack([joints, joints]), np.vstack([weights, weights]), man(data).skeleton.joint_count, "both"
        ),
    )
    extraction = found(replace(man(data), meshes=(both,)))
    assert {"pectoralis major", "trapezius"} <= muscles(extraction)


def test_a_skin_that_crosses_itself_or_is_inside_out(data: Path) -> None:
    body = man(data).body()
    points, triangles = body.mesh.points.astype(np.float64), body.mesh.triangles()
    inside_out = found(changed(man(data), points, triangles[:, ::-1]))
    assert names(inside_out) == names(found_on_man(data))
    crossed = posed(man(data), {"LeftArm": np.array([0.0, 0.0, -1.1]), "RightArm": np.array([0.0, 0.0, 1.1])})
    found(crossed)  # the arms reach into the trunk


def test_seams_flat_triangles_and_loose_vertices_change_nothing(data: Path) -> None:
    body = man(data).body()
    assert body.weights is not None
    points, triangles = body.mesh.points.astype(np.float64), body.mesh.triangles()
    split = points[triangles].reshape(-1, 3)  # every triangle has corners of its own
    joints, weights = (a[triangles.reshape(-1)] for a in body.weights.padded())
    own = np.arange(len(split)).reshape(-1, 3)
    flat = np.vstack([own, own[:50][:, [0, 0, 1]]])
    seams = replace(
        body,
        mesh=triangle_mesh(body.name, split, flat),
        weights=weights_from_table(joints, weights, man(data).skeleton.joint_count, "seams"),
    )
    assert names(found(replace(man(data), meshes=(seams,)))) == names(found_on_man(data))


def test_helper_joints_and_missing_tips_change_nothing(data: Path) -> None:
    skeleton = man(data).skeleton
    count = skeleton.joint_count
    hung = [skeleton.index(n) for n in ("LeftArm", "Spine", "Hips", "RightForeArm")]
    away = np.tile(np.eye(4), (len(hung), 1, 1))
    away[:, :3, 3] = 0.02
    helped = with_joints(
        man(data),
        (*skeleton.names, *(f"ik_helper_{n}" for n in range(len(hung)))),
        np.concatenate([skeleton.parents, hung]),
        np.concatenate([skeleton.bind_local, away]),
        np.full((count + len(hung), 3), np.nan),
    )
    assert {"pectoralis major", "deltoid", "trapezius", "biceps brachii"} <= muscles(found(helped))


ARM = {"upper arm front, left", "upper arm back inner, left", "forearm inner, left", "forearm outer, left"}
SHOULDER = {f"shoulder {where}, left" for where in ("front", "side", "back", "cap back")}
NECK = {f"{part}, {side}" for part in ("neck side", "neck to shoulder side") for side in ("left", "right")}


@pytest.mark.parametrize(
    ("name", "lost", "told"),
    [
        (
            "LeftForeArm",
            ARM | SHOULDER,
            {"upper arm, left", "forearm, left", "left shoulder", "left shoulder cap"},
        ),
        ("Neck1", NECK, {"left neck", "right neck", "left neck to shoulder", "right neck to shoulder"}),
        (
            "LeftLeg",
            {f"lower leg {where}, left" for where in ("inner", "outer")},
            {"lower leg, left", "left hip"},
        ),
    ],
)
def test_a_bone_without_length_costs_what_it_carries_alone_and_says_why(
    data: Path, name: str, lost: set[str], told: set[str]
) -> None:
    skeleton = man(data).skeleton
    local = skeleton.bind_local.copy()
    local[skeleton.index(name), :3, 3] = 0.0
    if name == "Neck1":
        local[skeleton.index("Head"), :3, 3] = 0.0
    extraction = found(with_joints(man(data), skeleton.names, skeleton.parents, local, skeleton.tails))
    assert set(names(found_on_man(data))) - set(names(extraction)) == lost
    said = dict(extraction.left_out)
    assert told <= set(said)
    assert all("no length" in said[region] or "closed sections" in said[region] for region in told)
    assert any("no length" in said[region] for region in told)


def test_a_shoulder_that_lies_in_its_collar_bone_leaves_the_other_arm_and_both_legs(data: Path) -> None:
    skeleton = man(data).skeleton
    local = skeleton.bind_local.copy()
    local[skeleton.index("LeftArm"), :3, 3] = 0.0
    extraction = found(with_joints(man(data), skeleton.names, skeleton.parents, local, skeleton.tails))
    limbs = {
        n for n in names(found_on_man(data)) if n.startswith(("upper arm", "forearm", "thigh", "lower leg"))
    }
    assert limbs - set(names(extraction)) == ARM  # skin and bones of that arm lie apart
    assert {"upper arm, left", "forearm, left"} <= {region for region, _ in extraction.left_out}


HANDS_AND_FEET = "Hand", "Thumb", "Finger", "Foot", "Toe"


@pytest.mark.parametrize("tips", [True, False])
def test_without_joints_of_hands_and_feet_calves_and_forearms_are_found(data: Path, tips: bool) -> None:
    """File or skin say where forearm and lower leg end; hands and feet are skin of theirs then."""
    fewer = altered_people.without_joints(man(data), HANDS_AND_FEET)
    if not tips:
        blunt = replace(fewer.skeleton, tails=np.full_like(fewer.skeleton.tails, np.nan))
        fewer = replace(fewer, skeleton=blunt)
    extraction = found(fewer)
    assert names(extraction) == names(found_on_man(data))
    before = {m.name: m for m in found_on_man(data).muscles}
    for muscle in extraction.muscles:
        if muscle.name.startswith(("forearm", "lower leg")):
            assert muscle.joints[0] != muscle.joints[1]  # it changes its length
            thickest = [m.rings.half_axes.max() for m in (muscle, before[muscle.name])]
            assert thickest[0] == pytest.approx(thickest[1], abs=4e-3)
    said = dict(extraction.left_out)
    for limb in ("forearm, left", "forearm, right", "lower leg, left", "lower leg, right"):
        assert "hand or foot if any" in said[f"what follows {limb}"]


@pytest.mark.parametrize(
    ("joint", "end", "off"), [("LeftForeArm", "LeftHand", 0.02), ("RightLeg", "RightFoot", 0.07)]
)
def test_a_limb_ends_where_its_skin_is_thinnest(data: Path, joint: str, end: str, off: float) -> None:
    """Which at a leg is a hand's breadth above the joint of the ankle."""
    whole = man(data).skeleton
    fewer = altered_people.without_joints(man(data), HANDS_AND_FEET)
    blunt = replace(fewer.skeleton, tails=np.full_like(fewer.skeleton.tails, np.nan))
    body = fewer.body()
    assert body.weights is not None
    skin = joined(body.mesh.points, body.mesh.triangles(), body.weights.padded())
    number = blunt.index(joint)
    weights = skin.joints, skin.shares
    there = limb_end(blunt, number, skin.points, skin.triangles, weights)
    assert there is not None
    assert np.linalg.norm(there - whole.bind_world[whole.index(end), :3, 3]) < off
    nobody = np.zeros_like(skin.shares)
    assert limb_end(blunt, number, skin.points, skin.triangles, (skin.joints, nobody)) is None
    tip = limb_end(fewer.skeleton, number, skin.points, skin.triangles, weights)
    assert tip is not None
    np.testing.assert_allclose(tip, fewer.skeleton.tail_positions()[number], atol=1e-9)


def test_stumps_are_limbs_up_to_their_ends_and_none_where_no_skin_is(data: Path) -> None:
    upper = ["Head", "LeftForeArm", "RightForeArm", "LeftLeg", "RightLeg"]
    for skin_goes, count in ((HANDS_AND_FEET, 4), ((*HANDS_AND_FEET, "ForeArm", "LeftLeg", "RightLeg"), 0)):
        rest = [name for name in man(data).skeleton.names if not any(word in name for word in skin_goes)]
        cut = altered_people.part(man(data), upper, rest)
        blunt = replace(cut.skeleton, tails=np.full_like(cut.skeleton.tails, np.nan))
        extraction = found(replace(cut, skeleton=blunt))
        ends = {n.rsplit(" ", 2)[0] for n in names(extraction) if "lower leg" in n or "forearm" in n}
        assert len(ends) == count // 2
        refused = [name for name, reason in extraction.left_out if "no joint says where it ends" in reason]
        assert refused == ([] if count else ["LeftForeArm", "LeftLeg", "RightForeArm", "RightLeg"])


def test_what_is_refused_on_one_side_costs_the_other_nothing(data: Path) -> None:
    """An elbow that lies in its shoulder: the left one cannot be cut, the right one is as it was."""
    skeleton = man(data).skeleton
    local = skeleton.bind_local.copy()
    local[skeleton.index("LeftForeArm"), :3, 3] = 0.0
    short = found(with_joints(man(data), skeleton.names, skeleton.parents, local, skeleton.tails))
    assert {"left shoulder", "left shoulder cap"} <= {region for region, _ in short.left_out}
    right = {n for n in names(found_on_man(data)) if n.startswith("shoulder") and n.endswith("right")}
    assert right
    assert right <= set(names(short))


def test_clothes_worn_over_the_body_leave_the_body_as_it_is(data: Path) -> None:
    """His limbs show what those of the same man show who wears none, and his tights none of it."""
    dressed = read_character(data / "human" / "male_dressed_mixamo.glb")
    assert [mesh.name for mesh in dressed.meshes] == ["Body", "Tights"]
    extraction = found(dressed)
    bare = checked(extraction_of(data / "human" / "male_average_cmu_mb.glb"))
    limbs = "upper arm", "forearm", "thigh", "lower leg"
    shown, expected = ({n for n in names(e) if n.startswith(limbs)} for e in (extraction, bare))
    assert shown == expected
    assert {"pectoralis major", "trapezius", "vastus lateralis", "gastrocnemius"} <= muscles(extraction)
    skin = SignedPieces(dressed.body().mesh.points, dressed.body().mesh.triangles())
    for muscle in extraction.muscles:
        shown_part = surface_of(muscle, np.linspace(muscle.rings.u[0], muscle.rings.u[-1], 9), 16)
        assert float(skin.depth(shown_part)[0].min()) > -2e-3, muscle.name


def test_nothing_at_all_is_refused_by_region(data: Path) -> None:
    body, skeleton = man(data).body(), man(data).skeleton
    assert body.weights is not None
    points = body.mesh.points.astype(np.float64)
    naming = recognise(skeleton)
    empty = extract_muscles(points, np.zeros((0, 3), np.int64), body.weights.padded(), skeleton, naming)
    assert not empty.muscles
    assert empty.left_out
    nobody = np.zeros((0, 3)), np.zeros((0, 3), np.int64)
    none = np.zeros((0, 1), np.int64), np.zeros((0, 1))
    assert not extract_muscles(*nobody, none, skeleton, naming).muscles
    hips = np.zeros((len(points), 1), np.int64), np.ones((len(points), 1))
    rigid = extract_muscles(points, body.mesh.triangles(), hips, skeleton, naming)
    assert rigid.left_out


def test_a_skeleton_of_one_joint_or_a_snake_has_no_trunk(data: Path) -> None:
    body = man(data).body()
    points = body.mesh.points.astype(np.float64)
    for count in (1, 20):
        local = np.tile(np.eye(4), (count, 1, 1))
        local[1:, 1, 3] = 1.8 / count
        snake = Skeleton(
            tuple(f"bone_{n}" for n in range(count)),
            np.arange(-1, count - 1, dtype=np.int32),
            local,
            local,
            np.full((count, 3), np.nan),
        )
        rows = np.clip((points[:, 1:2] / 1.8 * count).astype(np.int64), 0, count - 1)
        refused = extract_muscles(
            points, body.mesh.triangles(), (rows, np.ones(rows.shape)), snake, recognise(snake)
        )
        assert all(m.name.startswith("bone_") for m in refused.muscles)  # a chain alone counts as a limb
        assert any(region == "trunk" and "limbs" in reason for region, reason in refused.left_out)


def test_numbers_that_are_none_are_refused_and_named(data: Path) -> None:
    body, skeleton = man(data).body(), man(data).skeleton
    assert body.weights is not None
    points = body.mesh.points.astype(np.float64)
    points[7, 1] = np.nan
    with pytest.raises(MeshError, match="7"):
        extract_muscles(points, body.mesh.triangles(), body.weights.padded(), skeleton, recognise(skeleton))
    beyond = body.mesh.triangles().copy()
    beyond[3, 1] = len(points) + 5
    with pytest.raises(EcorcheError):
        extract_muscles(body.mesh.points, beyond, body.weights.padded(), skeleton, recognise(skeleton))
