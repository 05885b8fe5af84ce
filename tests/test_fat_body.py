"""Fat that moves in a body: exact at bind, swinging in a motion, at rest after it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from ecorche.base.mesh import Morph
from ecorche.body.body_type import with_type
from ecorche.body.character import Character
from ecorche.body.compile import compile_body
from ecorche.body.compile_fat import compile_fat
from ecorche.body.fat_motion import FatMotion
from ecorche.body.fat_places import place_shares
from ecorche.body.fit_for_muscles import times_a_person
from ecorche.body.live_frames import LiveFrames
from ecorche.body.perform import perform
from ecorche.body.rig import create_rig
from ecorche.document.fat_spec import FatRegionSpec, FatSpec
from ecorche.document.files import Rig
from ecorche.errors import DocumentError, EcorcheError
from ecorche.io.formats import read_character
from ecorche.skeleton.motion import Motion, bind_pose
from ecorche.skeleton.naming.recognise import recognise
from soft_ball import ball, hopping, soft_rig, turned

Floats = npt.NDArray[np.float64]


@pytest.fixture(scope="module")
def character() -> Character:
    return ball()


@pytest.fixture(scope="module")
def rig(character: Character) -> Rig:
    return soft_rig(character)


def frames_of(character: Character, motion: Motion, rig: Rig | None, **said: Any) -> LiveFrames:
    frames = perform(character, motion, rig=rig, **said).take.frames
    assert isinstance(frames, LiveFrames)
    return frames


def moved(character: Character, motion: Motion, rig: Rig, **said: Any) -> Floats:
    """How far each vertex is from where it is without dynamics [m], (frames, vertices, 3)."""
    return away_from_still(frames_of(character, motion, rig, dynamics="fat", **said))


def away_from_still(frames: LiveFrames) -> Floats:
    """How far each vertex is from where it is without dynamics [m], (frames, vertices, 3)."""
    without = LiveFrames(replace(frames.body, fat=None), frames.motion)
    pairs = ((frames[n].points[0], without[n].points[0]) for n in range(len(without)))
    return np.array([a.astype(np.float64) - b for a, b in pairs])


def test_bind_is_exact_and_stays_so(character: Character, rig: Rig) -> None:
    still = bind_pose(character.skeleton)
    motion = replace(still, times=np.arange(20) / 30.0, local=np.repeat(still.local, 20, axis=0))
    frames = frames_of(character, motion, rig, dynamics="fat")
    for number in (0, 1, 19):
        np.testing.assert_array_equal(frames[number].points[0], character.meshes[0].mesh.points)


def test_a_hop_swings_the_top_and_then_it_rests(character: Character, rig: Rig) -> None:
    away = moved(character, hopping(character, 3.0), rig)
    points = character.meshes[0].mesh.points
    top = int(np.argmax(points[:, 1]))
    swing = away[:, top, 1]
    # what goes down fast is left behind above, and then it swings through
    assert 0.002 < swing.max() < 0.05
    assert -0.05 < swing.min() < -0.002
    assert np.abs(away[-1]).max() < 0.02 * np.abs(away).max()
    assert np.abs(away[:, points[:, 1] < 0.96]).max() == 0.0
    assert np.abs(away[:, :, [0, 2]]).max() < 0.5 * np.abs(away[:, :, 1]).max()


def test_stiff_fat_swings_less_and_thin_fat_not_at_all(character: Character, rig: Rig) -> None:
    motion = hopping(character, 1.0)
    usual = np.abs(moved(character, motion, rig)).max()
    assert np.abs(moved(character, motion, soft_rig(character, stiffness=8.0))).max() < 0.3 * usual
    with pytest.raises(EcorcheError, match="nowhere thicker than 70 mm"):
        frames_of(character, motion, soft_rig(character, least=0.07), dynamics="fat")


def test_upside_down_it_hangs_and_after_a_whole_turn_it_is_back(character: Character, rig: Rig) -> None:
    share = np.clip(np.arange(180) / 120.0, 0.0, 1.0)
    angles = 2.0 * np.pi * (share - np.sin(2.0 * np.pi * share) / (2.0 * np.pi))
    motion = turned(character, angles)
    away = moved(character, motion, rig)
    top = int(np.argmax(character.meshes[0].mesh.points[:, 1]))
    half = int(np.argmin(np.abs(angles - np.pi)))
    assert away[half, top, 1] < -0.001
    assert np.abs(away[0]).max() == 0.0
    assert np.abs(away[-1]).max() < 1e-4
    assert np.abs(away).max() > 0.002


def test_it_begins_settled_in_the_first_pose_with_a_preroll_or_without(
    character: Character, rig: Rig
) -> None:
    motion = turned(character, np.full(40, 2.0))
    at_once, rolled = moved(character, motion, rig), moved(character, motion, rig, preroll=2.0)
    assert np.abs(at_once[0]).max() > 0.001
    for away in (at_once, rolled):
        assert np.abs(away - away[0]).max() < 2e-4
    np.testing.assert_allclose(rolled[-1], at_once[-1], atol=2e-4)


def test_a_part_is_a_part_of_the_whole_and_frames_come_in_any_order(character: Character, rig: Rig) -> None:
    motion = hopping(character)
    whole = frames_of(character, motion, rig, dynamics="fat")
    in_order = [whole[n].points[0] for n in range(len(whole))]
    part = frames_of(character, motion, rig, dynamics="fat", frames=(35, 50))
    for number in (7, 0, 15):
        np.testing.assert_array_equal(part[number].points[0], in_order[35 + number])
    for number in (40, 3, 33, 60):
        np.testing.assert_array_equal(whole[number].points[0], in_order[number])


def test_moments_between_frames_leave_the_frames_alone(character: Character, rig: Rig) -> None:
    motion = hopping(character, 1.0)
    plain, fine = moved(character, motion, rig), moved(character, motion, rig, samples=3)
    assert len(fine) == 3 * 30 + 1
    assert np.abs(fine[::3] - plain).max() < 0.02 * np.abs(plain).max()
    # between two frames it is between them, and moves on
    assert np.abs(np.diff(fine, axis=0)).max() < 0.6 * np.abs(np.diff(plain, axis=0)).max()


def test_the_frame_rate_hardly_matters(character: Character, rig: Rig) -> None:
    slow, fast = (moved(character, hopping(character, 1.5, rate), rig) for rate in (30.0, 120.0))
    assert np.abs(fast[::4] - slow).max() < 0.15 * np.abs(fast).max()


def test_painted_maps_say_where_how_stiff_how_thick_and_how_much(character: Character) -> None:
    points, motion = character.meshes[0].mesh.points, hopping(character, 1.0)
    left = (points[:, 0] < 0.0).astype(np.float64)
    maps = {"left": left, "depth": np.full(len(points), 1.0), "stiff": 0.25 + 0.75 * left}
    shown = moved(character, motion, soft_rig(character, maps, intensity="left"))
    assert np.abs(shown[:, points[:, 0] > 0.0]).max() == 0.0
    assert np.abs(shown).max() > 0.003
    deep = soft_rig(character, maps, thickness="depth")  # 1 is 5 cm
    (part,) = compile_fat(compile_body(character), deep).parts
    assert np.linalg.norm(part.grid.rest + part.centre - [0.0, 1.0, 0.0], axis=1).min() > 0.1 - 0.05 - 0.02
    (part,) = compile_fat(compile_body(character), soft_rig(character, maps, stiffness="stiff")).parts
    assert set(np.unique(part.grid.stiffness)) == {0.0, 0.5, 2.0}


def test_forces_on_the_skin_press_the_fat(character: Character, rig: Rig) -> None:
    body = compile_body(character)
    motion = turned(character, np.zeros(60))
    points = character.meshes[0].mesh.points
    top = points[:, 1] > 1.08
    pressed = np.zeros((len(points), 3))
    pressed[top, 1] = -2.0 / top.sum()  # two newtons in all
    fat = compile_fat(body, rig)
    motion_of = FatMotion(fat, motion, outside=lambda _frame: pressed)
    (last,) = motion_of.at(59)
    (part,) = fat.parts
    middle = np.abs(part.grid.rest + part.centre - [0.0, 1.1, 0.0]).max(axis=1) < 0.03
    assert last[middle, 1].mean() < -0.002
    assert fat.parts[0].skin.forces_on_nodes(pressed[part.vertices]).sum() == pytest.approx(-2.0, rel=1e-6)


def test_blend_shapes_stay_on_top_of_what_swings(character: Character, rig: Rig) -> None:
    mesh = character.meshes[0].mesh
    offsets = (0.1 * (mesh.points - [0.0, 1.0, 0.0])).astype(np.float32)
    out = Morph("out", np.arange(len(mesh.points), dtype=np.int32), offsets)
    shaped = replace(character, meshes=(replace(character.meshes[0], mesh=replace(mesh, morphs=(out,))),))
    motion = hopping(shaped, 1.0)
    grown = replace(motion, morph_weights={"ball/out": np.linspace(0.0, 1.0, motion.frame_count)})
    np.testing.assert_allclose(moved(shaped, grown, rig), moved(shaped, motion, rig), atol=1e-6)


def test_what_cannot_be_is_refused_in_words(character: Character) -> None:
    with pytest.raises(EcorcheError, match="no fat that could move"):
        perform(character, hopping(character), dynamics="fat")
    painted = {"wild": np.full(len(character.meshes[0].mesh.points), 1.5)}
    with pytest.raises(EcorcheError, match=r"weight of vertex 0 is 1\.5"):
        compile_fat(compile_body(character), soft_rig(character, painted, intensity="wild"))
    with pytest.raises(EcorcheError, match="belly are not found by its joints"):
        compile_fat(compile_body(character), soft_rig(character, place="belly"))
    with pytest.raises(EcorcheError, match="no tissue 'jelly'"):
        compile_fat(compile_body(character), soft_rig(character, material="jelly"))
    with pytest.raises(DocumentError, match="no map 'gone'"):
        compile_fat(compile_body(character), soft_rig(character, thickness="gone"))


def test_a_teleport_is_survived(character: Character, rig: Rig) -> None:
    motion = hopping(character, 1.0)
    local = motion.local.copy()
    local[15:, 0, 0, 3] += 3.0  # three metres in a thirtieth of a second, as a reference pose leaps
    away = moved(character, replace(motion, local=local), rig)
    assert np.isfinite(away).all()
    assert np.abs(away).max() < 0.3


@pytest.fixture(scope="module")
def woman(data: Path) -> Character:
    return read_character(data / "human" / "female_average_cmu_mb.glb")


def test_places_of_a_woman_are_where_they_should_be(woman: Character) -> None:
    body = woman.meshes[0]
    assert body.weights is not None
    points = body.mesh.points.astype(np.float64)
    normals = compile_body(woman).normals.apply([m.mesh.points for m in woman.meshes])[0]
    assert normals is not None
    naming = recognise(woman.skeleton)
    size = times_a_person(woman.skeleton, naming)
    middles = {}
    for place in ("breasts", "belly", "buttocks", "thighs", "upper_arms"):
        found = place_shares(
            place, points, normals.astype(np.float64), body.weights, woman.skeleton, naming, size
        )
        for side, share in found.items():
            assert share.min() >= 0.0
            assert share.max() > 0.99
            middles[place, side] = (share[:, None] * points).sum(axis=0) / share.sum()
    heads = woman.skeleton.bind_world[:, :3, 3]
    hip, knee, arm = (heads[woman.skeleton.index(n)] for n in ("LeftUpLeg", "LeftLeg", "LeftArm"))
    for (place, side), (x, y, z) in middles.items():
        assert np.sign(x) == {"left": 1.0, "right": -1.0}.get(side, np.sign(x))
        low, high, front = {
            "breasts": (hip[1] + 0.25, arm[1], 0.05),
            "belly": (hip[1], hip[1] + 0.25, 0.05),
            "buttocks": (hip[1] - 0.1, hip[1] + 0.15, -0.02),
            "thighs": (knee[1], hip[1], 0.0),
            "upper_arms": (arm[1] - 0.3, arm[1] + 0.1, 0.0),
        }[place]
        assert low < y < high
        assert z > front if front > 0.0 else z < front if front < 0.0 else abs(z) < 0.15
        if side == "right":
            np.testing.assert_allclose([-x, y, z], middles[place, "left"], atol=0.004)


def test_a_womans_breast_lags_in_a_jump_and_comes_to_rest(woman: Character) -> None:
    times = np.arange(46) / 30.0
    local = np.tile(woman.skeleton.bind_local, (46, 1, 1, 1))
    local[:, 0, 1, 3] += np.where(times < 0.5, 0.25 * np.sin(np.pi * times / 0.5) ** 2, 0.0)
    motion = Motion("jump", woman.skeleton, times, local)
    with_fat, without = (perform(woman, motion, dynamics=name).take.frames for name in ("fat", "off"))
    assert isinstance(with_fat, LiveFrames)
    assert without is not None
    fat = with_fat.body.fat
    assert fat is not None
    assert {p.name for p in fat.parts} == {
        "breasts, left", "breasts, right", "belly", "buttocks, left", "buttocks, right"
    }  # fmt: skip
    np.testing.assert_array_equal(with_fat[0].points[0], without[0].points[0])
    away = np.array([with_fat[n].points[0] - without[n].points[0] for n in range(46)])
    part = fat.parts[0]
    nipple = part.vertices[np.argmax(woman.meshes[0].mesh.points[part.vertices, 2])]
    assert 0.01 < np.abs(away[:, nipple, 1]).max() < 0.06
    assert np.abs(away[-1]).max() < 0.1 * np.abs(away).max()
    moving = np.abs(away).max(axis=(0, 2)) > 0.0
    shown = np.zeros(len(moving), np.bool_)
    for one in fat.parts:
        shown[one.vertices] = True
    assert not (moving & ~shown).any()


def test_a_heavier_body_has_more_fat_and_it_swings_farther(data: Path, woman: Character) -> None:
    path = data / "human" / "female_average_cmu_mb.glb"
    rig = create_rig(woman, path, path.with_suffix(".ecorche"))
    belly = FatSpec(regions={"belly": FatRegionSpec(place="belly")})
    rig = replace(rig, spec=rig.spec.model_copy(update={"fat": belly}))
    motion = hopping(woman, 0.7)
    nodes, swings = [], []
    for fat in (0.0, 2.0):
        heavy = with_type(rig, fat=fat)
        frames = frames_of(woman, motion, heavy, dynamics="fat")
        away = away_from_still(frames)
        assert frames.body.fat is not None
        (part,) = frames.body.fat.parts
        assert part.holding is not None
        nodes.append(len(part.grid.rest))
        swings.append(np.abs(away).max())
        np.testing.assert_array_equal(away[0], 0.0)
    assert nodes[1] > 1.5 * nodes[0]
    assert 0.05 > swings[1] > 2.0 * swings[0] > 0.001


def test_one_pose_alone_hangs_as_it_would_at_rest(character: Character, rig: Rig) -> None:
    pose = turned(character, [np.pi])
    away = moved(character, pose, rig)
    assert away.shape[0] == 1
    top = int(np.argmax(character.meshes[0].mesh.points[:, 1]))
    assert away[0, top, 1] < -0.001
    rolled = moved(character, pose, rig, preroll=1.5, samples=2)
    np.testing.assert_allclose(rolled, away, atol=3e-4)


def test_sagging_is_for_skins_modelled_without_weight(character: Character) -> None:
    still = turned(character, np.zeros(3))
    sagging = moved(character, still, soft_rig(character, sag=1.0))
    top = int(np.argmax(character.meshes[0].mesh.points[:, 1]))
    assert sagging[0, top, 1] < -0.0005
    half = moved(character, still, soft_rig(character, sag=0.5))
    assert half[0, top, 1] == pytest.approx(0.5 * sagging[0, top, 1], rel=0.1)
