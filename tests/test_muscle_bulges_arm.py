"""Arms and shoulders of real people: what works when, what bulges where and how much, what must not move."""

from __future__ import annotations

from pathlib import Path

import igl
import numpy as np
import numpy.typing as npt
import pytest

from conftest import ROOT, Figure
from ecorche.body.live_frames import LiveFrames
from ecorche.muscles.activation import JointDriven
from ecorche.muscles.template.forearm import FOREARM_AND_HAND
from ecorche.muscles.template.neck import NECK_MUSCLES
from ecorche.muscles.template.shoulder_and_arm import SHOULDER_AND_ARM
from ecorche.muscles.template.trunk import TRUNK_MUSCLES
from ecorche.skeleton.motion import bind_pose
from ecorche.skeleton.naming import recognise
from ecorche.skeleton.retarget import retarget
from ecorche.skeleton.standing import standing_figure
from limb_in_pose import (
    PEOPLE,
    carried,
    limb_at,
    moving,
    muscles_of,
    person,
    poses,
    shares,
    skinned,
    thickness_below,
)

Floats = npt.NDArray[np.float64]

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
    assert arm.dent > -0.8 * arm.outward[arm.peak]  # no furrow beside the bulge comes near its height


@pytest.mark.parametrize("side", ["r", "l"])
@pytest.mark.parametrize("name", PEOPLE)
def test_a_fist_swells_the_forearm_a_little(data: Path, name: str, side: str, figure: Figure) -> None:
    """Most over the flexor of the fingers; as much as on a real forearm, whose girth grows by 1 to 3 %."""
    arm = limb_at(_example(data, name, "fist"), CLENCHED, f"{side}_elbow", f"{side}_radiocarpal")
    assert arm.outward[arm.peak] > 0.002
    assert arm.is_over_a_belly(arm.peak, "flexor digitorum superficialis")
    growth = arm.growth(arm.plain[arm.peak])
    figure(f"girth of the forearm in a fist against plain skinning, {name} {side}", growth, 0.01, "share")
    assert 0.01 < growth < 0.035


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
        muscles = muscles_of(frames.body).musculature.muscles
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
    body = person(data / "human" / f"{name}.glb")
    skeleton = body.character.skeleton
    motion = retarget(bind_pose(standing_figure()), skeleton).motion
    muscles = muscles_of(body).musculature.muscles
    driven = JointDriven(skeleton, recognise(skeleton), [muscle.actions for muscle in muscles])
    for muscle, active in zip(muscles, driven.over(motion)[0], strict=True):
        if muscle.muscle in UPPER:
            most = {"elbow extensors": 0.6, "thenar muscles": 0.2}.get(muscle.group, 0.05)
            assert active < most, (muscle.name, active)
    assert not driven.over(bind_pose(skeleton)).any()


def _all_poses(data: Path, name: str) -> list[Floats]:
    """Moments of the examples of the arm and of the recorded motions, as differences from bind."""
    examples = [ROOT / "examples" / f"{pose}.pose" for pose in ("curl", "raise", "fist")]
    clips = [data / "cmu" / f"{clip}.bvh" for clip in ("02_01", "02_03", "13_13", "13_39")]
    path = data / "human" / f"{name}.glb"
    return [difference for motion in (*examples, *clips) for difference in poses(path, motion)]


@pytest.mark.parametrize("name", PEOPLE)
def test_paths_neither_bowstring_nor_drag_the_skin(data: Path, name: str, figure: Figure) -> None:
    """With shapes held as at bind, what moves the skin is where the path went: it must go with the limb."""
    body = person(data / "human" / f"{name}.glb")
    rigid = shares(body, "shoulder", "elbow").max(axis=0) > 0.995
    upper = np.array([muscle.muscle in UPPER for muscle in muscles_of(body).musculature.muscles])
    ratios, errors = [], []
    for difference in _all_poses(data, name):
        moved, lengths = carried(body, difference)
        ratios.append(lengths[upper])
        errors.append(moved[rigid])
    figure(f"shortest muscle of the arm over its bind length, {name}", float(np.min(ratios)), 0.6, "share")
    figure(f"longest muscle of the arm over its bind length, {name}", float(np.max(ratios)), 1.5, "share")
    figure(f"path error over rigid skin of the arm, {name}", float(np.max(errors)), 0.006, "m")
    assert np.min(ratios) > 0.6
    assert np.max(ratios) < 1.5
    assert np.max(errors) < 0.006
    assert np.percentile(errors, 95.0) < 0.002


@pytest.mark.parametrize("name", PEOPLE)
def test_no_vertex_moves_by_more_than_the_muscle_below_is_thick(data: Path, name: str) -> None:
    """Half its thickness along S_d at bind, anywhere on the body, with all muscles tense."""
    body = person(data / "human" / f"{name}.glb")
    muscles, thick = muscles_of(body), thickness_below(body)
    tense = np.full(len(muscles.musculature.muscles), 1.0)
    for difference in _all_poses(data, name):
        points = [mesh.mesh.points for mesh in body.character.meshes]
        points[muscles.skin] = skinned(body, difference)
        moved = muscles.displaced(points, difference, tense)[muscles.skin] - points[muscles.skin]
        assert np.isfinite(moved).all()
        assert (np.linalg.norm(moved, axis=1) <= thick + 1e-5).all()


@pytest.mark.parametrize("name", PEOPLE)
def test_posed_paths_stay_inside_the_posed_skin(data: Path, name: str, figure: Figure) -> None:
    """Linear skinning folds armpits and elbows inwards: there a few places come out, bellies do not."""
    body = person(data / "human" / f"{name}.glb")
    muscles = muscles_of(body)
    triangles = body.character.meshes[muscles.skin].mesh.triangles().astype(np.int64)
    shown = np.array([m.muscle in UPPER - DEEP for m in muscles.musculature.muscles])
    inside = []
    for difference in _all_poses(data, name):
        posed, _ = muscles.musculature.posed(difference)
        points = posed.path.at(np.linspace(0.1, 0.9, 9))[0][shown]
        skin = skinned(body, difference).astype(np.float64)
        turns = igl.fast_winding_number(skin, triangles, points.reshape(-1, 3))
        inside.append(np.asarray(turns) > 0.5)
    share = float(np.mean(inside))
    figure(f"posed places of the arm's and trunk's muscles inside the skin, {name}", share, 0.95, "share")
    assert share > 0.95
