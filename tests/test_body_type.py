"""Bodies of other types: more muscular, leaner, heavier."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from typer.testing import CliRunner

from altered_people import scaled
from ecorche.base.ray_tree import RayTree
from ecorche.body.as_lines import as_lines
from ecorche.body.body_type import Shaped, _beneath, shaped, with_bulk, with_type
from ecorche.body.character import Character
from ecorche.body.compile import compile_body
from ecorche.body.perform import perform
from ecorche.body.rig import create_rig
from ecorche.cli.main import app
from ecorche.document.files import Rig, read_rig
from ecorche.errors import DocumentError
from ecorche.io.formats import read_character
from ecorche.skin.height_field import nearest_beneath
from ecorche.skin.normals import Normals

Floats = npt.NDArray[np.float64]


@pytest.fixture(scope="module")
def woman(data: Path) -> tuple[Character, Rig]:
    path = data / "human" / "female_average_cmu_mb.glb"
    character = read_character(path)
    return character, create_rig(character, path, "woman.ecorche")


@pytest.fixture(scope="module")
def heavy(woman: tuple[Character, Rig]) -> Shaped:
    return shaped(woman[0], with_type(woman[1], fat=2.0))


def skin(character: Character) -> Floats:
    return character.body().mesh.points.astype(np.float64)


def turned_over(before: Character, after: Character) -> int:
    """Triangles that face the other way."""
    triangles = before.body().mesh.triangles()
    areas = []
    for one in (before, after):
        a, b, c = skin(one)[triangles].transpose(1, 0, 2)
        areas.append(np.cross(b - a, c - a))
    return int((np.einsum("ij,ij->i", *areas) < 0.0).sum())


def girth(character: Character, joint: str, share: float) -> float:
    """Of the section so far along a bone [m]: the outline of its hull."""
    from scipy.spatial import ConvexHull

    skeleton, body = character.skeleton, character.body()
    assert body.weights is not None
    start = skeleton.bind_world[skeleton.index(joint), :3, 3]
    end = skeleton.tail_positions()[skeleton.index(joint)]
    along = (end - start) / np.linalg.norm(end - start)
    joints, weights = body.weights.padded()
    own = np.where(joints == skeleton.index(joint), weights, 0.0).sum(axis=1) > 0.4
    near = own & (np.abs((skin(character) - start) @ along - share * np.linalg.norm(end - start)) < 0.012)
    across = np.linalg.svd(np.eye(3) - np.outer(along, along))[0][:, :2]
    return float(ConvexHull(skin(character)[near] @ across).area)


def test_a_body_as_modelled_is_the_same_character(woman: tuple[Character, Rig]) -> None:
    character, rig = woman
    same = shaped(character, rig)
    assert same.character is character
    assert same.rig is rig
    assert compile_body(character, rig=rig).character is character


def test_heavy_people_are_heavy_where_people_are(woman: tuple[Character, Rig], heavy: Shaped) -> None:
    character, _ = woman
    assert 0.018 < heavy.fat < 0.03  # a woman of 1.6 m
    assert heavy.muscle == 0.0
    assert turned_over(character, heavy.character) == 0
    more = {
        (joint, share): girth(heavy.character, joint, share) - girth(character, joint, share)
        for joint, share in (
            ("LowerBack", 0.5), ("LeftUpLeg", 0.3), ("LeftArm", 0.5), ("LeftLeg", 0.9), ("LeftForeArm", 0.9),
        )
    }  # fmt: skip
    waist, thigh, arm, ankle, wrist = more.values()
    assert waist > 0.2
    assert 0.08 < thigh < waist
    assert 0.05 < arm < thigh
    assert max(ankle, wrist) < 0.025
    moved = np.linalg.norm(skin(heavy.character) - skin(character), axis=1)
    body = character.body()
    assert body.weights is not None
    joints, weights = body.weights.padded()
    names = np.array(character.skeleton.names)[joints[np.arange(len(joints)), weights.argmax(axis=1)]]
    fingers = np.array(["Finger" in name or "Thumb" in name for name in names])
    assert fingers.sum() > 500
    assert moved[fingers].max() < 0.003
    eyes_and_mouth = (
        (names == "Head") & (np.abs(skin(character)[:, 0]) < 0.02) & (skin(character)[:, 2] > 0.1)
    )
    assert moved[eyes_and_mouth].max() < 0.004
    # left as right
    left, right = (girth(heavy.character, f"{side}UpLeg", 0.3) for side in ("Left", "Right"))
    assert left == pytest.approx(right, abs=0.004)


def test_lean_skin_does_not_come_into_muscles(woman: tuple[Character, Rig]) -> None:
    character, rig = woman
    lean = shaped(character, with_type(rig, fat=-1.0))
    assert -0.012 < lean.fat < -0.005
    assert turned_over(character, lean.character) == 0
    muscles = _beneath(character, rig, rig)
    assert muscles is not None
    tree, body = RayTree(muscles.before, muscles.triangles), character.body()
    heights = []
    for one in (character, lean.character):
        normals = Normals([body.mesh]).apply([one.body().mesh.points])[0]
        assert normals is not None
        heights.append(nearest_beneath(one.body().mesh.points, normals, tree, 0.06).distances)
    before, after = heights
    outside = np.isfinite(before) & (before > 0.0)
    came_in = outside & (after < -0.0005)
    assert came_in.sum() <= 0.001 * outside.sum()
    both = outside & np.isfinite(after)
    assert np.percentile(before[both] - after[both], 95) > 0.002


def test_bulk_moves_the_skin_as_far_as_muscles_come_out(woman: tuple[Character, Rig]) -> None:
    character, rig = woman
    strong = shaped(character, with_type(rig, bulk=1.25))
    slight = shaped(character, with_type(rig, bulk=0.8))
    assert 0.002 < strong.muscle < 0.006
    assert -0.006 < slight.muscle < -0.002
    assert strong.fat == slight.fat == 0.0
    assert turned_over(character, strong.character) == 0
    one = rig.spec.muscles.named["biceps brachii, long head, left"]
    thick = strong.rig.spec.muscles.named["biceps brachii, long head, left"]
    assert thick.thickness[0][3] == pytest.approx(1.25 * one.thickness[0][3])
    assert thick.thickness[0][0] == one.thickness[0][0]  # attachments stay
    assert girth(strong.character, "LeftArm", 0.5) > girth(character, "LeftArm", 0.5) + 0.008
    assert girth(slight.character, "LeftArm", 0.5) < girth(character, "LeftArm", 0.5) - 0.008
    assert np.abs(skin(strong.character) - skin(character)).max() < 0.03


def test_everything_but_points_stays(woman: tuple[Character, Rig], heavy: Shaped) -> None:
    character, _ = woman
    before, after = character.body(), heavy.character.body()
    assert heavy.character.skeleton is character.skeleton
    assert after.weights is before.weights
    assert after.mesh.face_indices is before.mesh.face_indices
    assert after.mesh.morphs is before.mesh.morphs
    assert (after.mesh.normals is None) == (before.mesh.normals is None)


def test_a_performance_is_of_the_shaped_body(woman: tuple[Character, Rig], heavy: Shaped) -> None:
    character, rig = woman
    fat = with_type(rig, fat=2.0)
    for muscles in (True, False):
        take = perform(character, rig=fat, muscles=muscles).take
        assert take.frames is not None
        np.testing.assert_array_equal(take.character.body().mesh.points, heavy.character.body().mesh.points)
        shown = take.frames[0].points[character.meshes.index(character.body())]
        np.testing.assert_allclose(shown, heavy.character.body().mesh.points, atol=1e-6)


def test_what_is_worn_follows(data: Path) -> None:
    path = data / "human" / "male_dressed_mixamo.glb"
    character = read_character(path)
    rig = with_type(create_rig(character, path, "man.ecorche", muscles=False), fat=1.0)
    worn = shaped(character, rig).character
    moved = np.linalg.norm(worn.mesh("Tights").mesh.points - character.mesh("Tights").mesh.points, axis=1)
    assert np.percentile(moved, 90) > 0.01
    assert moved.max() < 0.05


def test_a_giant_gains_as_a_giant(woman: tuple[Character, Rig]) -> None:
    character, _ = woman
    giant = scaled(character, 3.0)
    of_giant = with_type(create_rig(giant, "giant.glb", "giant.ecorche", muscles=False), fat=1.0)
    of_woman = with_type(create_rig(character, "w.glb", "w.ecorche", muscles=False), fat=1.0)
    assert shaped(giant, of_giant).fat == pytest.approx(27.0 * shaped(character, of_woman).fat, rel=0.01)


def test_a_creature_gets_fat_where_it_is_thick(data: Path) -> None:
    character = read_character(data / "mesh2motion" / "horse-animations.glb")
    rig = with_type(create_rig(character, "horse.glb", "horse.ecorche", muscles=False), fat=1.0)
    fat = shaped(character, rig)
    assert "even over what is thick" in fat.lines()[1]
    assert fat.fat > 0.0
    assert turned_over(character, fat.character) == 0
    moved = np.linalg.norm(skin(fat.character) - skin(character), axis=1)
    height = skin(character)[:, 1] / skin(character)[:, 1].max()
    legs, trunk = height < 0.25, (height > 0.55) & (height < 0.7)
    assert np.median(moved[trunk]) > 4.0 * np.median(moved[legs])


def test_muscles_of_every_kind_become_thicker(woman: tuple[Character, Rig]) -> None:
    found = read_rig(Path(__file__).parent / "fixtures" / "tube-version-5.ecorche")
    before = found.spec.muscles.lofted["bulge, left"].rings
    after = with_bulk(with_type(found, bulk=1.5)).spec.muscles.lofted["bulge, left"].rings
    for one, other in zip(before, after, strict=True):
        assert other.half_axes == pytest.approx([1.5 * half for half in one.half_axes])
        assert other.centre == one.centre
    character, rig = woman
    lines, _ = as_lines(rig, character, "admissible", only=frozenset({"biceps brachii, long head, left"}))
    only = lines.spec.muscles.model_copy(update={"named": {}, "gains": {}})
    lone = replace(lines, spec=lines.spec.model_copy(update={"muscles": only}))
    strong = shaped(character, with_type(lone, bulk=1.4))
    moved = np.linalg.norm(skin(strong.character) - skin(character), axis=1)
    assert moved.max() > 0.002
    at = skin(character)[moved > 0.001]
    shoulder, elbow = (
        character.skeleton.bind_world[character.skeleton.index(n), :3, 3] for n in ("LeftArm", "LeftForeArm")
    )
    assert np.linalg.norm(at - 0.5 * (shoulder + elbow), axis=1).max() < 0.2


def test_other_numbers_are_refused(woman: tuple[Character, Rig]) -> None:
    with pytest.raises(DocumentError):
        with_type(woman[1], fat=-2.0)
    assert with_bulk(woman[1]) is woman[1]


def test_the_rig_command_takes_bulk_and_fat(data: Path, tmp_path: Path) -> None:
    person = data / "human" / "male_slim_cmu_mb.glb"
    target = tmp_path / "slim.ecorche"
    done = CliRunner().invoke(
        app, ["rig", str(person), "-o", str(target), "--bulk", "1.2", "--fat", "0.5", "--without-muscles"]
    )
    assert done.exit_code == 0, done.output
    assert "litres by muscle" in done.output
    said = read_rig(target).spec.body_type
    assert (said.bulk, said.fat) == (1.2, 0.5)
