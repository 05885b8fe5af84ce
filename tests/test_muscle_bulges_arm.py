"""Arms and shoulders of real people: what works when, what bulges where and how much, what must not move."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import igl
import numpy as np
import numpy.typing as npt
import pytest

from conftest import ROOT, Figure
from ecorche.body.evaluate import LiveFrames
from ecorche.io.formats import read_motion
from ecorche.muscles.activation import JointDriven
from ecorche.muscles.sections import path_sections
from ecorche.muscles.template.forearm import FOREARM_AND_HAND
from ecorche.muscles.template.neck import NECK_MUSCLES
from ecorche.muscles.template.shoulder_and_arm import SHOULDER_AND_ARM
from ecorche.muscles.template.trunk import TRUNK_MUSCLES
from ecorche.muscles.volume import contract
from ecorche.skeleton.kinematics import difference_from_bind
from ecorche.skeleton.motion import bind_pose
from ecorche.skeleton.naming import recognise
from ecorche.skeleton.retarget import retarget
from ecorche.skeleton.standing import standing_figure
from limb_in_pose import limb_at, moving, muscles_of, share_of, skinned

Floats = npt.NDArray[np.float64]

PEOPLE = (
    "male_muscular_cmu_mb",
    "male_average_cmu_mb",
    "male_slim_cmu_mb",
    "female_average_cmu_mb",
    "male_muscular_mixamo",
    "male_dressed_mixamo",
)
CURLED, RAISED, CLENCHED = 1.8, 1.9, 1.3
"""When the examples' elbows are bent, arms up and hands closed [s]."""

UPPER = {m.muscle for m in (*NECK_MUSCLES, *SHOULDER_AND_ARM, *FOREARM_AND_HAND, *TRUNK_MUSCLES)}
DEEP = {m.muscle for m in (*NECK_MUSCLES, *SHOULDER_AND_ARM) if m.deep}


def _example(data: Path, name: str, pose: str) -> LiveFrames:
    return moving(data / "human" / f"{name}.glb", ROOT / "examples" / f"{pose}.pose")


@pytest.mark.parametrize("side", ["r", "l"])
@pytest.mark.parametrize("name", PEOPLE)
def test_a_bent_arm_bulges_most_over_the_biceps(data: Path, name: str, side: str, figure: Figure) -> None:
    arm = limb_at(_example(data, name, "curl"), CURLED, f"{side}_shoulder", f"{side}_elbow")
    assert arm.outward[arm.peak] > 0.004
    assert arm.is_over_a_belly(arm.peak, "biceps brachii")
    growth = arm.growth(arm.plain[arm.peak])
    figure(f"girth at the biceps against plain skinning, {name} {side}", growth, 0.02, "share")
    assert 0.02 < growth < 0.10
    dent = arm.outward[np.isfinite(arm.outward)].min()
    assert dent > -0.8 * arm.outward[arm.peak]  # no furrow beside the bulge comes near its height


@pytest.mark.parametrize("name", PEOPLE)
def test_muscles_work_when_an_animator_expects_them_to(data: Path, name: str) -> None:
    expected = {
        ("curl", CURLED): ({"biceps brachii", "brachialis", "brachioradialis"}, {"triceps brachii"}),
        ("raise", RAISED): ({"deltoid", "trapezius", "serratus anterior"}, {"biceps brachii"}),
        ("fist", CLENCHED): (
            {"flexor digitorum superficialis", "extensor carpi ulnaris", "flexor carpi ulnaris"},
            {"trapezius", "triceps brachii"},
        ),
    }
    for (pose, time), (working, resting) in expected.items():
        frames = _example(data, name, pose)
        index = int(np.abs(frames.times - time).argmin())
        assert frames.activation is not None
        muscles = muscles_of(frames).musculature.muscles
        for muscle, active in zip(muscles, frames.activation[index], strict=True):
            if muscle.muscle in working:
                assert active > 0.35, (pose, muscle.name, active)
            if muscle.muscle in resting:
                assert active < 0.15, (pose, muscle.name, active)


@pytest.mark.parametrize("name", PEOPLE)
def test_standing_at_ease_works_nothing_but_straight_elbows(data: Path, name: str) -> None:
    """Characters are bound with arms out and elbows bent: a hanging arm must not look like hard work.

    Where a thumb rests differs from rig to rig.
    """
    frames = _example(data, name, "curl")
    skeleton = frames.body.character.skeleton
    motion = retarget(bind_pose(standing_figure()), skeleton).motion
    muscles = muscles_of(frames).musculature.muscles
    driven = JointDriven(skeleton, recognise(skeleton), [muscle.actions for muscle in muscles])
    for muscle, active in zip(muscles, driven.over(motion)[0], strict=True):
        if muscle.muscle in UPPER:
            most = {"elbow extensors": 0.6, "thenar muscles": 0.2}.get(muscle.group, 0.05)
            assert active < most, (muscle.name, active)
    assert not driven.over(bind_pose(skeleton)).any()


@cache
def _poses(frames: LiveFrames, motion: Path) -> tuple[Floats, ...]:
    """Differences from bind of some frames of a motion, (joints, 4, 4) each."""
    skeleton = frames.body.character.skeleton
    local = retarget(read_motion(motion), skeleton).motion.local
    chosen = np.linspace(0.05 * len(local), 0.95 * len(local), 5).astype(int)
    return tuple(difference_from_bind(skeleton, local[i]) for i in chosen)


def _all_poses(frames: LiveFrames, data: Path) -> list[Floats]:
    examples = [ROOT / "examples" / f"{pose}.pose" for pose in ("curl", "raise", "fist")]
    clips = [data / "cmu" / f"{clip}.bvh" for clip in ("02_01", "02_03", "13_13", "13_39")]
    return [difference for motion in (*examples, *clips) for difference in _poses(frames, motion)]


@pytest.mark.parametrize("name", PEOPLE)
def test_paths_neither_bowstring_nor_drag_the_skin(data: Path, name: str, figure: Figure) -> None:
    """With shapes held as at bind, what moves the skin is where the path went: it must go with the limb."""
    frames = _example(data, name, "curl")
    body = muscles_of(frames)
    joined = body.musculature
    naming = recognise(frames.body.character.skeleton)
    limbs = [naming.joint(f"{side}_{joint}") for side in "rl" for joint in ("shoulder", "elbow")]
    rigid = np.stack([share_of(frames, joint) for joint in limbs if joint is not None]).max(axis=0) > 0.995
    upper = np.array([muscle.muscle in UPPER for muscle in joined.muscles])
    still = contract(joined.spindles, joined.spindles.bind_length)
    ratios, errors = [], []
    for difference in _all_poses(frames, data):
        posed, _ = joined.posed(difference)
        ratios.append((posed.path.lengths / joined.spindles.bind_length)[upper])
        plain = skinned(frames, difference)
        moved = body.sliding.apply(path_sections(posed, still), plain) - plain
        errors.append(np.linalg.norm(moved, axis=1)[rigid])
    figure(f"shortest muscle of the arm over its bind length, {name}", float(np.min(ratios)), 0.6, "share")
    figure(f"longest muscle of the arm over its bind length, {name}", float(np.max(ratios)), 1.5, "share")
    figure(f"path error over rigid skin of the arm, {name}", float(np.max(errors)), 0.006, "m")
    assert np.min(ratios) > 0.6
    assert np.max(ratios) < 1.5
    assert np.max(errors) < 0.006
    assert np.percentile(errors, 95.0) < 0.002


@pytest.mark.parametrize("name", PEOPLE)
def test_no_vertex_moves_by_more_than_the_muscle_below_is_thick(data: Path, name: str) -> None:
    """Half its thickness along S_d at bind, anywhere on the body, whether joints drive it or all is tense."""
    frames = _example(data, name, "curl")
    body = muscles_of(frames)
    found, shapes = body.influences, body.musculature.spindles
    entry = np.repeat(np.arange(found.vertex_count), np.diff(found.starts))
    place = np.concatenate([shapes.thickness_at([t])[m] for m, t in zip(found.muscles, found.t, strict=True)])
    thick = np.zeros(found.vertex_count)
    np.maximum.at(thick, entry, shapes.scale[found.muscles] * np.maximum(place, 0.0))
    tense = np.full(len(body.musculature.muscles), 1.0)
    for difference in _all_poses(frames, data):
        points = [mesh.mesh.points for mesh in frames.body.character.meshes]
        points[body.skin] = skinned(frames, difference)
        moved = body.displaced(points, difference, tense)[body.skin] - points[body.skin]
        assert np.isfinite(moved).all()
        assert (np.linalg.norm(moved, axis=1) <= thick + 1e-5).all()


@pytest.mark.parametrize("name", PEOPLE)
def test_posed_paths_stay_inside_the_posed_skin(data: Path, name: str, figure: Figure) -> None:
    """Linear skinning folds armpits and elbows inwards: there a few places come out, bellies do not."""
    frames = _example(data, name, "curl")
    body = muscles_of(frames)
    triangles = frames.body.character.meshes[body.skin].mesh.triangles().astype(np.int64)
    shown = np.array([m.muscle in UPPER - DEEP for m in body.musculature.muscles])
    inside = []
    for difference in _all_poses(frames, data):
        posed, _ = body.musculature.posed(difference)
        points = posed.path.at(np.linspace(0.1, 0.9, 9))[0][shown]
        skin = skinned(frames, difference).astype(np.float64)
        turns = igl.fast_winding_number(skin, triangles, points.reshape(-1, 3))
        inside.append(np.asarray(turns) > 0.5)
    share = float(np.mean(inside))
    figure(f"posed places of the arm's and trunk's muscles inside the skin, {name}", share, 0.95, "share")
    assert share > 0.95
