"""What the muscles promise, shown on real people in real motions, through the door everyone uses."""

from __future__ import annotations

from pathlib import Path

import igl
import numpy as np
import numpy.typing as npt
import pytest
from benchmarks.muscle_people import (
    CAPTURED,
    KEYED,
    PEOPLE,
    Pair,
    half_axes,
    motion_file,
    performed,
    rigged,
)
from benchmarks.template_volume import LENGTHS, drift

from altered_people import in_centimetres, part, scaled
from conftest import Figure
from ecorche.body.character import Character
from ecorche.body.live_frames import LiveFrames
from ecorche.body.muscle_specs import muscles_of
from ecorche.body.perform import perform
from ecorche.body.rig import create_rig
from ecorche.document.files import Rig
from ecorche.io.formats import read_character, read_motion
from ecorche.muscles.musculature import Musculature, musculature
from ecorche.muscles.spindle_mesh import Stations, spindle_surfaces
from ecorche.skeleton.motion import Motion

Floats = npt.NDArray[np.float64]

ARM = ("RightArm", "RightForeArm", "RightHand", "RThumb", "RightFingerBase", "RightHandFinger1")
BUST = ("Spine", "Spine1", "Neck", "Neck1", "Head", "LeftShoulder", "RightShoulder", "LeftArm", "RightArm")


def _musculature(character: Character, rig: Rig) -> Musculature:
    muscles, scapulae = muscles_of(rig, character.skeleton)
    return musculature(muscles, character.skeleton, scapulae, volume=rig.spec.muscles.volume)


def _displaced(pair: Pair, index: int) -> Floats:
    muscled, plain = pair.skins(index)
    assert np.isfinite(muscled).all()
    return np.asarray(np.linalg.norm(muscled - plain, axis=1))


@pytest.mark.parametrize("person", PEOPLE)
def test_no_vertex_leaves_by_more_than_half_the_muscles_thickness(
    data: Path, person: str, figure: Figure
) -> None:
    path = data / "human" / f"{PEOPLE[person]}.glb"
    worst = 0.0
    for name, activation in [*((n, None) for n in (*CAPTURED, *KEYED)), ("fist", 1.0)]:
        pair = performed(path, motion_file(data, name), activation)
        limits = half_axes(pair.muscles)
        most = 0.0
        for index in range(0, len(pair.muscled), 20 if name in CAPTURED else 12):
            moved = _displaced(pair, index)
            assert (moved[limits == 0.0] == 0.0).all()  # no muscle, no displacement, to the last bit
            most = max(most, float(moved.max()))
            worst = max(worst, float((moved[limits > 0.0] / limits[limits > 0.0]).max()))
        assert most > 2e-3, name  # something is seen
    assert worst <= 1.0 + 1e-5
    figure(f"muscles: displacement over the half-axis, {person}", worst, 1.0, "")


def test_the_studies_look_at_what_a_bake_writes(data: Path) -> None:
    path, curl = data / "human" / f"{PEOPLE['dressed man']}.glb", motion_file(data, "curl")
    character, rig = rigged(path)
    studied = performed(path, curl)
    for muscles, frames in ((True, studied.muscled), (False, studied.plain)):
        baked = perform(character, read_motion(curl), rig=rig, muscles=muscles).take.frames
        assert baked is not None
        for a, b in zip(baked[60].points, frames[60].points, strict=True):
            assert a.tobytes() == b.tobytes()


@pytest.mark.parametrize("person", PEOPLE)
def test_the_bind_pose_is_exact_and_every_muscle_lies_inside_the_skin(data: Path, person: str) -> None:
    character, rig = rigged(data / "human" / f"{PEOPLE[person]}.glb")
    muscled, plain = (perform(character, rig=rig, muscles=with_them).take for with_them in (True, False))
    assert muscled.frames is not None
    assert plain.frames is not None
    for a, b in zip(muscled.frames[0].points, plain.frames[0].points, strict=True):
        assert a.tobytes() == b.tobytes()
    found = _musculature(character, rig)
    assert len(found.muscles) >= 160
    surfaces = spindle_surfaces(found.spindles, rings=32, sides=24)
    frames, states = found.posed(np.zeros((character.skeleton.joint_count, 4, 4)))
    points = surfaces.points(states, Stations(*frames.at(surfaces.t)))
    skin = character.body().mesh
    winding = igl.fast_winding_number(
        skin.points.astype(np.float64), skin.triangles().astype(np.int64), points
    )
    muscle = np.searchsorted(surfaces.vertex_starts, np.flatnonzero(winding < 0.5), side="right") - 1
    assert {found.names[m] for m in muscle} == set()


@pytest.mark.parametrize("person", PEOPLE)
def test_the_templates_volumes_are_kept_from_half_to_one_and_a_half_lengths(data: Path, person: str) -> None:
    character, rig = rigged(data / "human" / f"{PEOPLE[person]}.glb")
    spindles = _musculature(character, rig).spindles
    exact, cones = drift(spindles, "exact"), drift(spindles, "two_cone")
    assert LENGTHS[0] == 0.5
    assert LENGTHS[-1] == 1.5
    assert not exact.held.any()  # none is too long to keep its volume
    assert exact.worst.max() < 1e-12  # asked for: 0.01
    assert exact.isometric < 1e-12
    # the text says 10 % and 1 % of its own muscles: ours are fuller than two cones
    assert 0.2 < cones.miss.mean() < 0.27
    assert 0.04 < cones.worst.mean() < 0.07


@pytest.mark.parametrize("times", [0.5, 3.0 / 1.75])
def test_a_child_and_a_giant_bulge_in_proportion(data: Path, times: float) -> None:
    path, curl = data / "human" / f"{PEOPLE['average man']}.glb", motion_file(data, "curl")
    usual = performed(path, curl)
    other = _pair(scaled(rigged(path)[0], times), read_motion(curl))
    assert len(other.muscles.musculature.muscles) == len(usual.muscles.musculature.muscles)
    moved, expected = _displaced(other, 60), _displaced(usual, 60)
    assert expected.max() > 8e-3
    np.testing.assert_allclose(moved, times * expected, atol=2e-5 * times)


def test_a_file_in_centimetres_is_in_metres_inside(data: Path, tmp_path: Path) -> None:
    path, curl = data / "human" / f"{PEOPLE['average man']}.glb", motion_file(data, "curl")
    read = read_character(in_centimetres(rigged(path)[0], tmp_path / "man.usdc"))
    assert read.metres_per_unit == 0.01
    assert 1.7 < float(np.ptp(read.body().mesh.points[:, 1])) < 1.8
    moved = _displaced(_pair(read, read_motion(curl)), 60)
    np.testing.assert_allclose(moved, _displaced(performed(path, curl), 60), atol=2e-6)


def test_a_mannequin_of_pieces_gets_the_whole_template(data: Path) -> None:
    character, rig = rigged(data / "mesh2motion" / "human-male.glb")
    assert len(rig.spec.muscles.named) >= 160
    told = " ".join(rig.spec.notes)
    assert "57 pieces" in told
    assert "too little room" in told
    for name in ("squat", "walk"):
        pair = _pair(character, read_motion(motion_file(data, name)))
        limits = half_axes(pair.muscles)
        moved = _displaced(pair, 50)
        assert moved.max() > 2e-3
        assert (moved <= limits * (1.0 + 1e-5)).all()


@pytest.mark.parametrize(
    ("skin", "joints", "there", "missing"),
    [
        (
            ARM,
            ARM,
            ("biceps brachii, long head, right", "brachioradialis, right"),
            ("left", "rectus femoris"),
        ),
        (BUST, (*BUST, "LeftForeArm", "RightForeArm"), ("pectoralis major, sternal, left",), ("soleus",)),
    ],
    ids=["one arm", "a bust"],
)
def test_a_part_of_a_person_gets_the_muscles_it_can_have(
    data: Path,
    skin: tuple[str, ...],
    joints: tuple[str, ...],
    there: tuple[str, ...],
    missing: tuple[str, ...],
) -> None:
    whole = performed(data / "human" / f"{PEOPLE['average man']}.glb", motion_file(data, "curl")).muscled
    man = whole.body.character
    rest = part(man, joints, skin)
    rig = create_rig(rest, "part.glb", "part.ecorche")
    assert set(there) <= set(rig.spec.muscles.named)
    assert not [n for n in rig.spec.muscles.named if any(word in n for word in missing)]
    assert any("left out" in note for note in rig.spec.notes)
    kept = [man.skeleton.index(name) for name in rest.skeleton.names]
    motion = Motion("curl", rest.skeleton, whole.motion.times, whole.motion.local[:, kept])
    pair = _pair(rest, motion, rig)
    moved = _displaced(pair, 60)
    assert moved.max() > 1e-3  # a bust has no biceps, and in a curl its deltoids hardly work
    assert (moved <= half_axes(pair.muscles) * (1.0 + 1e-5)).all()


def _pair(character: Character, motion: Motion, rig: Rig | None = None) -> Pair:
    rig = rig or create_rig(character, "somebody.glb", "somebody.ecorche")
    frames = [perform(character, motion, rig=rig, muscles=muscles).take.frames for muscles in (True, False)]
    muscled, plain = frames
    assert isinstance(muscled, LiveFrames)
    assert isinstance(plain, LiveFrames)
    return Pair(muscled, plain)
