"""A rig follows its character: what changed is told, maps and edits arrive where they belong."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from characters import tube
from ecorche.base.mesh import coincident_groups, triangle_mesh
from ecorche.base.rotations import xyzw_from_axis_angle
from ecorche.base.transforms import compose, transform_points
from ecorche.body.character import Character, SkinnedMesh
from ecorche.body.rebind import RebindReport, rebind
from ecorche.body.rig import check_rig, create_rig, joint_models, relative_path, require_bound
from ecorche.body.transfer import plan_transfer
from ecorche.document.bind import BindMesh
from ecorche.document.files import Rig, read_rig, write_rig
from ecorche.document.joint_spec import HingeLimits, KneeLimits, KneeSpec, RevoluteSpec
from ecorche.document.spec import MapRef
from ecorche.errors import DocumentError
from ecorche.io.formats import read_character
from ecorche.skeleton.kinematics import difference_from_bind
from ecorche.skeleton.naming.recognise import recognise
from ecorche.skeleton.skeleton import Skeleton, local_from_world
from ecorche.skin.weights import weights_from_table

Floats = npt.NDArray[np.float64]
People = Callable[[str], Character]


@pytest.fixture(scope="module")
def people(data: Path) -> People:
    """Real characters by file name, each read once."""
    known: dict[str, Character] = {}

    def person(name: str) -> Character:
        if name not in known:
            folder = "mesh2motion" if name in ("human-male", "horse-animations") else "human"
            known[name] = read_character(data / folder / f"{name}.glb")
        return known[name]

    return person


def painted(character: Character, **maps: tuple[npt.NDArray[Any], str]) -> Rig:
    """A rig of the character's body with maps of (values, kind)."""
    rig = create_rig(character, "old.glb", "man.ecorche", muscles=False)
    body = character.body().name
    refs = {name: MapRef.model_validate({"mesh": body, "values": kind}) for name, (_, kind) in maps.items()}
    spec = rig.spec.model_copy(update={"maps": refs})
    return replace(rig, spec=spec, maps={name: values for name, (values, _) in maps.items()})


def smooth(points: npt.NDArray[np.floating]) -> npt.NDArray[np.float32]:
    """A map a person could have painted: waves of some 40 cm."""
    return np.asarray(np.sin(15.0 * points[:, 1]) + np.cos(12.0 * points[:, 0]), np.float32)


def rebound(rig: Rig, character: Character, **options: Any) -> tuple[Rig, RebindReport]:
    return rebind(rig, character, "new.glb", "man.ecorche", **options)


def test_same_topology_keeps_maps_bit_for_bit(people: People) -> None:
    old, new = people("male_average_cmu_mb"), people("male_muscular_cmu_mb")
    values = smooth(old.body().mesh.points)
    rig, report = rebound(painted(old, fat=(values, "continuous")), new)
    assert np.array_equal(rig.maps["fat"], values)
    moved = 1000.0 * np.linalg.norm(
        new.body().mesh.points.astype(np.float64) - old.body().mesh.points, axis=1
    )
    (body,) = report.meshes
    assert body.how == "refit"
    assert body.mean_mm == pytest.approx(moved.mean())
    assert body.max_mm == pytest.approx(moved.max())
    assert body.near == "Spine1"  # the chest is where the muscular man differs most
    assert not report.joints_missing
    assert not report.joints_added
    assert not report.joints_renamed
    assert report.joints_moved_mm["Neck1"] == max(report.joints_moved_mm.values())
    assert check_rig(rig, new) == []
    assert "same topology" in str(report)
    assert "mm" in str(report)


def test_nothing_changed_is_told_and_changes_nothing(people: People) -> None:
    old = people("male_slim_cmu_mb")
    before = painted(old, fat=(smooth(old.body().mesh.points), "continuous"))
    after, report = rebind(before, old, "old.glb", "man.ecorche")
    assert after.spec == before.spec
    assert report.lines() == ["mesh 'Body': unchanged. Maps carried: fat."]


def test_a_dressed_body_with_seams_gets_the_map(people: People) -> None:
    old, new = people("male_average_cmu_mb"), people("male_dressed_mixamo")
    values = smooth(old.body().mesh.points)
    rig, report = rebound(painted(old, fat=(values, "continuous")), new)
    points = new.body().mesh.points
    error = np.abs(rig.maps["fat"].astype(np.float64) - smooth(points))
    assert error.max() < 1e-6  # the same man under his clothes: every vertex finds itself
    assert report.meshes_added == ("Tights",)
    (body,) = report.meshes
    assert body.how == "transfer"
    assert body.max_mm < 1e-3
    group = coincident_groups(points)
    assert group.max() + 1 < len(points)
    first = np.zeros(group.max() + 1, np.int64)
    first[group[::-1]] = np.arange(len(group))[::-1]
    np.testing.assert_array_equal(rig.maps["fat"], rig.maps["fat"][first[group]])


LIMBS = {
    "l_arm": ("l_shoulder", "l_elbow", "l_radiocarpal"),
    "r_arm": ("r_shoulder", "r_elbow", "r_radiocarpal"),
    "l_leg": ("l_hip", "l_knee", "l_talocrural"),
    "r_leg": ("r_hip", "r_knee", "r_talocrural"),
    "head": ("skullbase",),
}


def limbs(character: Character) -> npt.NDArray[np.uint8]:
    """Which limb each body vertex mostly hangs on, by the character's own weights; 0 is the trunk."""
    skeleton = character.skeleton
    canonical = recognise(skeleton).canonical
    limb = np.zeros(skeleton.joint_count, np.uint8)
    for joint, parent in enumerate(skeleton.parents):
        limb[joint] = limb[parent] if parent >= 0 else 0
        for number, names in enumerate(LIMBS.values(), 1):
            if canonical[joint] in names:
                limb[joint] = number
    weights = character.body().weights
    assert weights is not None
    joints, shares = weights.padded()
    totals = np.stack([(shares * (limb[joints] == n)).sum(axis=1) for n in range(len(LIMBS) + 1)], axis=1)
    return np.asarray(np.argmax(totals, axis=1), np.uint8)


def test_limbs_arrive_on_limbs_of_a_stranger(people: People) -> None:
    """Another mesh, rig, pose (T for A) and height: still arm goes to arm, left to left."""
    old, new = people("male_average_cmu_mb"), people("human-male")
    values = limbs(old)
    rig, report = rebound(painted(old, limb=(values, "labels")), new)
    carried, truth = np.asarray(rig.maps["limb"], np.uint8), limbs(new)
    assert set(np.unique(carried)) == set(np.unique(values)) == set(range(6))
    sides = (truth > 0) & (truth < 5) & (carried > 0) & (carried < 5)
    assert (carried[sides] == truth[sides]).all()
    assert (carried == truth).mean() > 0.95  # where a shoulder begins is each rig's own opinion
    assert report.meshes[0].old == "Body"
    assert report.meshes[0].new == "Mannequin"
    assert report.meshes[0].mean_mm < 25.0
    assert rig.spec.body == rig.spec.maps["limb"].mesh == "Mannequin"
    assert report.joints_renamed["LeftArm"] == "upperarm_l"
    assert check_rig(rig, new) == []


def reshaped(
    character: Character, matrices: Floats, seed: int = 5
) -> tuple[Character, npt.NDArray[np.int64]]:
    """The character bound anew with each joint moved by a matrix (joints, 4, 4), vertices shuffled.

    The second value says which old vertex each new one is.
    """
    skin = character.body()
    assert skin.weights is not None
    joints, weights = skin.weights.padded()
    blended = np.einsum("vk,vkij->vij", weights.astype(np.float64), matrices[joints])
    points = transform_points(blended, skin.mesh.points[:, None])[:, 0]
    order = np.random.default_rng(seed).permutation(len(points))
    place = np.argsort(order)
    mesh = triangle_mesh(skin.name, points[order], place[skin.mesh.triangles()])
    names, parents = character.skeleton.names, character.skeleton.parents
    local = local_from_world(parents, matrices @ character.skeleton.bind_world)
    skeleton = Skeleton(names, parents, local, local, character.skeleton.tails)
    table = weights_from_table(joints[order], weights[order], len(names), "test")
    return replace(character, skeleton=skeleton, meshes=(SkinnedMesh(mesh, table),)), order


def test_a_taller_man_elsewhere_with_shuffled_vertices_gets_the_map_exactly(people: People) -> None:
    old = people("male_average_cmu_mb")
    move = compose([3.0, 0.2, -1.0], xyzw_from_axis_angle([0.0, 1.0, 0.0], 2.0), [1.3, 1.3, 1.3])
    new, order = reshaped(old, np.repeat(move[None], old.skeleton.joint_count, axis=0))
    values = smooth(old.body().mesh.points)
    rig, report = rebound(painted(old, fat=(values, "continuous"), zone=(limbs(old), "labels")), new)
    np.testing.assert_allclose(rig.maps["fat"].astype(np.float64), values[order], atol=1e-4)
    assert (rig.maps["zone"] == limbs(old)[order]).mean() > 0.999
    assert report.meshes[0].how == "transfer"
    assert report.meshes[0].max_mm < 0.01


def test_raised_arms_and_longer_legs_are_undone_before_the_map_moves(people: People) -> None:
    old = people("male_average_cmu_mb")
    skeleton = old.skeleton
    local = skeleton.bind_local.copy()
    for name, angle in (("LeftArm", 0.6), ("RightArm", -0.6)):
        joint = skeleton.index(name)
        frame = skeleton.bind_world[skeleton.parents[joint], :3, :3]
        axis = frame.T @ [0.0, 0.0, 1.0] / np.linalg.norm(frame.T @ [0.0, 0.0, 1.0])
        local[joint, :3, :3] = (
            compose(np.zeros(3), xyzw_from_axis_angle(axis, angle))[:3, :3] @ local[joint, :3, :3]
        )
    for name in ("LeftLeg", "RightLeg", "LeftFoot", "RightFoot"):
        local[skeleton.index(name), :3, 3] *= 1.15
    new, order = reshaped(old, np.eye(4) + difference_from_bind(skeleton, local))
    values = smooth(old.body().mesh.points)
    rig, report = rebound(painted(old, fat=(values, "continuous")), new)
    error = np.abs(rig.maps["fat"].astype(np.float64) - values[order])
    assert np.median(error) < 0.02  # of a map that spans 4
    assert np.quantile(error, 0.99) < 0.5
    assert report.joints_moved_mm["LeftHand"] > 200.0


def test_another_build_gets_the_map_nearly_where_it_was(people: People) -> None:
    """The muscular man has the average man's topology, hence a truth by vertex number: hide it."""
    old, new = people("male_average_cmu_mb"), people("male_muscular_cmu_mb")
    still = np.repeat(np.eye(4)[None], new.skeleton.joint_count, axis=0)
    shuffled, order = reshaped(new, still)
    values = smooth(old.body().mesh.points)
    rig, report = rebound(painted(old, fat=(values, "continuous")), shuffled)
    error = np.abs(rig.maps["fat"].astype(np.float64) - values[order])
    # skin that bulges also slides: up to some 20 mm, over which the map changes by a quarter
    assert np.quantile(error, 0.5) < 0.001
    assert np.quantile(error, 0.9) < 0.06
    assert np.quantile(error, 0.99) < 0.3
    assert report.meshes[0].filled == 0
    assert report.meshes[0].max_mm < 30.0


def test_edits_follow_renamed_joints_and_wait_for_missing_ones(people: People) -> None:
    cmu, mixamo = people("male_average_cmu_mb"), people("male_muscular_mixamo")
    knee = KneeSpec(model="knee", limits=KneeLimits(flexion=(0.0, 100.0), twist=(-5.0, 5.0)))
    neck = RevoluteSpec(model="revolute", limits=HingeLimits(range=(-20.0, 30.0)))
    rig = painted(cmu)
    skeleton = rig.spec.skeleton.model_copy(
        update={
            "joints": {"LeftLeg": knee, "Neck1": neck},
            "mapping": {**rig.spec.skeleton.mapping, "Neck1": "vc3"},
            "limits": "enforce",
        }
    )
    rig = replace(rig, spec=rig.spec.model_copy(update={"skeleton": skeleton, "notes": ("mine",)}))
    there, report = rebound(rig, mixamo)
    assert there.spec.skeleton.joints == {"mixamorig:LeftLeg": knee}
    assert there.spec.skeleton.mapping["mixamorig:LeftLeg"] == "l_knee"
    assert there.spec.skeleton.set_aside is not None
    assert there.spec.skeleton.set_aside.joints == {"Neck1": neck}
    assert there.spec.skeleton.set_aside.mapping == {"Neck1": "vc3"}
    assert there.spec.skeleton.limits == "enforce"
    assert there.spec.notes == ("mine",)
    assert report.edits_set_aside == ("Neck1",)
    assert report.joints_missing == ("Neck1", "LHipJoint", "LeftFingerBase", "RHipJoint", "RightFingerBase")
    assert "mixamorig:LeftHandPinky3" in report.joints_added
    assert "edits set aside, their joint is gone: Neck1" in str(report)
    assert check_rig(there, mixamo) == []
    assert list(joint_models(there)) == ["mixamorig:LeftLeg"]

    back, report = rebound(there, cmu)
    assert back.spec.skeleton.joints == {"LeftLeg": knee, "Neck1": neck}
    assert back.spec.skeleton.mapping["Neck1"] == "vc3"
    assert back.spec.skeleton.set_aside is None
    assert report.edits_restored == ("Neck1",)


def test_a_rig_folder_that_is_a_link(data: Path, tmp_path: Path) -> None:
    """``..`` out of a linked folder leads to where the link points, not to where it stands."""
    real, link = tmp_path / "far" / "away" / "rigs", tmp_path / "rigs"
    real.mkdir(parents=True)
    link.symlink_to(real, target_is_directory=True)
    man = tmp_path / "man.glb"
    shutil.copy(data / "human" / "male_average_cmu_mb.glb", man)
    assert relative_path(man, link / "man.ecorche") == "../../../man.glb"
    assert (link / relative_path(man, link / "man.ecorche")).samefile(man)
    version = tmp_path / "man_v2.glb"  # a link to a file keeps its own name: it may point elsewhere tomorrow
    version.symlink_to(man)
    assert relative_path(version, tmp_path / "man.ecorche") == "man_v2.glb"


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"mapping": {"LeftLeg": "l_kne"}}, "skeleton.mapping: 'l_kne' is no canonical joint name. Did you"),
        ({"mapping": {"LeftLeg": "l_knee", "Head": "l_knee"}}, "two joints are mapped to 'l_knee'"),
        (
            {"joints": {"Tip": RevoluteSpec(model="revolute", limits=HingeLimits(range=(0.0, 9.0)))}},
            "skeleton.joints names a joint 'Tip' that the character does not have",
        ),
    ],
)
def test_edits_that_cannot_be_used_are_found(people: People, change: dict[str, Any], problem: str) -> None:
    man = people("male_average_cmu_mb")
    rig = create_rig(man, "man.glb", "man.ecorche", muscles=False)
    spec = rig.spec.model_copy(update={"skeleton": rig.spec.skeleton.model_copy(update=change)})
    found = check_rig(replace(rig, spec=spec), man)
    assert len(found) == 1
    assert problem in found[0]


def test_the_old_file_is_not_needed(data: Path, tmp_path: Path) -> None:
    man, path = tmp_path / "characters" / "man.glb", tmp_path / "rigs" / "man.ecorche"
    man.parent.mkdir()
    path.parent.mkdir()
    shutil.copy(data / "human" / "male_average_cmu_mb.glb", man)
    character = read_character(man)
    write_rig(path, create_rig(character, man, path, muscles=False))
    assert read_rig(path).spec.character.path == "../characters/man.glb"
    require_bound(read_rig(path), character, path)

    shutil.copy(data / "human" / "male_dressed_mixamo.glb", man)
    changed = read_character(man)
    problems = check_rig(read_rig(path), changed)
    assert "The topology changed: 13,380 vertices then, 16,034 now." in problems
    assert "ecorche rebind" in problems[-1]
    with pytest.raises(DocumentError, match=r"man\.ecorche: The bind points changed"):
        require_bound(read_rig(path), changed, path)
    rig, _ = rebind(read_rig(path), changed, man, path)
    write_rig(path, rig)
    require_bound(read_rig(path), changed, path)
    assert len(list(path.parent.iterdir())) == 2


def test_a_horse_is_no_man_and_that_is_said(people: People) -> None:
    old, horse = people("male_average_cmu_mb"), people("horse-animations")
    _, report = rebound(painted(old, fat=(smooth(old.body().mesh.points), "continuous")), horse)
    assert "Most of mesh 'Horse' has no place on the old surface" in str(report)
    assert len(report.joints_missing) == old.skeleton.joint_count


def test_hand_written_names_that_do_not_exist_are_told(people: People) -> None:
    man = people("male_average_cmu_mb")
    rig = painted(man)
    hinge = RevoluteSpec(model="revolute", limits=HingeLimits(range=(0.0, 1.0)))
    skeleton = rig.spec.skeleton.model_copy(
        update={"joints": {"LeftLegg": hinge}, "mapping": {"Hip": "l_hip"}}
    )
    spec = rig.spec.model_copy(update={"skeleton": skeleton, "body": "Bod"})
    problems = check_rig(replace(rig, spec=spec), man)
    assert any("joint 'LeftLegg'" in p and "Did you mean 'LeftLeg'?" in p for p in problems)
    assert any("joint 'Hip'" in p and "Did you mean 'Hips'?" in p for p in problems)
    assert any("mesh 'Bod'" in p and "Did you mean 'Body'?" in p for p in problems)
    assert len(problems) == 3


def test_a_map_without_a_mesh_to_go_to_is_refused_and_can_be_sent() -> None:
    old = tube()
    shirt = SkinnedMesh(triangle_mesh("shirt", np.eye(3), [[0, 1, 2]]), None)
    old = replace(old, meshes=(*old.meshes, shirt))
    rig = painted(old)
    spec = rig.spec.model_copy(update={"maps": {"stain": MapRef(mesh="shirt")}})
    rig = replace(rig, spec=spec, maps={"stain": np.ones(3, np.float32)})
    coat = SkinnedMesh(triangle_mesh("coat", [*np.eye(3), [1, 1, 1]], [[0, 1, 2], [1, 3, 2]]), None)
    new = replace(old, meshes=(old.meshes[0], coat))
    with pytest.raises(DocumentError, match="the map 'stain' is painted on mesh 'shirt'") as caught:
        rebound(rig, new)
    assert "Say which mesh does" in str(caught.value)
    sent, report = rebound(rig, new, meshes={"shirt": "coat"})
    assert sent.spec.maps["stain"].mesh == "coat"
    np.testing.assert_array_equal(sent.maps["stain"], np.ones(4, np.float32))
    assert [m.new for m in report.meshes] == ["tube", "coat"]


def test_a_file_name_that_a_rig_cannot_hold_is_refused() -> None:
    with pytest.raises(DocumentError, match="forward slashes") as caught:
        create_rig(tube(), "odd\\name.glb", "tube.ecorche", muscles=False)
    assert str(caught.value).startswith("tube.ecorche")
    rig = create_rig(tube(), "tube.glb", "tube.ecorche", muscles=False)
    with pytest.raises(DocumentError, match="forward slashes"):
        rebind(rig, tube(), "odd\\name.glb", "tube.ecorche")


def test_empty_meshes_are_no_harm_unless_painted() -> None:
    empty = SkinnedMesh(triangle_mesh("loose", np.zeros((0, 3)), np.zeros((0, 3))), None)
    points = SkinnedMesh(triangle_mesh("loose", np.zeros((2, 3)), np.zeros((0, 3))), None)
    old = replace(tube(), meshes=(*tube().meshes, points))
    rig = painted(old)
    _, report = rebound(rig, replace(old, meshes=(*tube().meshes, empty)))
    assert [m.how for m in report.meshes] == ["unchanged", "transfer"]
    assert report.meshes[1].max_mm == 0.0
    spec = rig.spec.model_copy(update={"maps": {"dirt": MapRef(mesh="loose")}})
    rig = replace(rig, spec=spec, maps={"dirt": np.ones(2, np.float32)})
    with pytest.raises(DocumentError, match="the map 'dirt' cannot move"):
        rebound(rig, replace(old, meshes=(*tube().meshes, empty)))


def grid(columns: int, rows: int) -> tuple[Floats, npt.NDArray[np.int32]]:
    x, y = np.meshgrid(np.arange(columns + 1.0), np.arange(rows + 1.0))
    points = np.stack([x, y, np.zeros_like(x)], axis=-1).reshape(-1, 3) * 0.1
    i, j = np.meshgrid(np.arange(columns), np.arange(rows))
    a = (i + j * (columns + 1)).reshape(-1)
    quads = np.stack([a, a + 1, a + columns + 2, a + columns + 1], axis=1)
    return points, np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]]).astype(np.int32)


def bind_mesh(points: Floats, triangles: npt.NDArray[np.int32]) -> BindMesh:
    return BindMesh(
        "m", points.astype(np.float32), np.full(len(triangles), 3, np.int32), triangles.reshape(-1)
    )


def test_vertices_without_a_place_are_filled_smoothly_from_their_neighbours() -> None:
    old_points, old_faces = grid(10, 4)
    points, faces = grid(10, 12)  # the new sheet goes on where the old one ends
    old, new = bind_mesh(old_points, old_faces), bind_mesh(points, faces)
    plan = plan_transfer(old, new, points)
    near = points[:, 1] < 0.4 + 0.05 * np.hypot(1.0, 0.4)
    np.testing.assert_array_equal(plan.trusted, near)
    values = old_points[:, 0].astype(np.float32)
    carried = plan.carry(values).astype(np.float64)
    np.testing.assert_allclose(carried[near], points[near, 0], atol=1e-6)
    neighbours: list[set[int]] = [set() for _ in points]
    for a, b, c in faces:
        for i, j in ((a, b), (b, c), (c, a)):
            neighbours[i].add(j)
            neighbours[j].add(i)
    for vertex in np.flatnonzero(~near):
        around = list(neighbours[vertex])
        assert carried[vertex] == pytest.approx(np.mean(carried[around]), abs=1e-6)
    labels = plan.carry((old_points[:, 0] > 0.45).astype(np.bool_))
    np.testing.assert_array_equal(labels, points[:, 0] > 0.45)


def test_a_surface_that_faces_the_other_way_gives_nothing() -> None:
    """Two sheets back to back, 1 mm apart, as lips or sleeves: each takes from its own side."""
    points, faces = grid(6, 6)
    depth = np.array([0.0, 0.0, 0.001])
    back = points - depth
    both = np.concatenate([points, back])
    shell = bind_mesh(both, np.concatenate([faces, faces[:, ::-1] + len(points)]))
    values = np.repeat(np.array([1.0, 2.0], np.float32), len(points))
    swollen = np.concatenate([points - 2.0 * depth, back + 2.0 * depth])  # they now cross
    fine = bind_mesh(both, np.concatenate([faces, faces[:, [1, 0, 2]] + len(points)]))
    np.testing.assert_array_equal(plan_transfer(shell, fine, swollen).carry(values), values)


def test_whole_numbers_stay_whole_and_vectors_stay_vectors() -> None:
    points, faces = grid(4, 4)
    old = bind_mesh(points, faces)
    shifted = points * [0.9, 0.9, 1.0] + [0.02, 0.02, 0.0]
    plan = plan_transfer(old, bind_mesh(shifted, faces[::-1].copy()), shifted)
    counts = plan.carry(np.rint(1000 * points[:, 0]).astype(np.uint16))
    assert counts.dtype == np.uint16
    np.testing.assert_allclose(counts.astype(np.float64), 1000 * shifted[:, 0], atol=0.51)
    colours = plan.carry(points.astype(np.float32))
    assert colours.shape == shifted.shape
    np.testing.assert_allclose(colours.astype(np.float64), shifted, atol=1e-6)
