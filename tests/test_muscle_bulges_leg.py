"""Legs of real people in a squat and on tiptoe: what bulges where, by how much, and what must not move."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import pytest
import trimesh

from conftest import ROOT, Figure
from ecorche.body.compile import Body
from ecorche.body.evaluate import LiveFrames
from ecorche.body.muscles import BodyMuscles
from ecorche.body.perform import perform
from ecorche.body.rig import create_rig
from ecorche.io.formats import read_character, read_motion
from ecorche.muscles.sections import path_sections
from ecorche.muscles.volume import contract
from ecorche.skeleton.kinematics import difference_from_bind
from ecorche.skeleton.naming import recognise
from ecorche.skeleton.retarget import retarget

Floats = npt.NDArray[np.float64]

PEOPLE = (
    "male_muscular_cmu_mb",
    "male_average_cmu_mb",
    "male_slim_cmu_mb",
    "female_average_cmu_mb",
    "male_muscular_mixamo",
    "male_dressed_mixamo",
)
SQUATTING, ON_TIPTOE = 1.5, 4.0
"""When the example's body is down and held, and when it stands on its toes [s]."""
LEG_GROUPS = (
    "hip extensors",
    "hip abductors",
    "hip flexors",
    "hip adductors",
    "knee extensors",
    "knee flexors",
    "ankle dorsiflexors",
    "ankle plantarflexors",
    "ankle evertors",
    "toe extensors",
    "toe flexors",
    "foot arch muscles",
)
THIGH, SHANK = ("hip", "knee"), ("knee", "talocrural")
"""Joints at both ends of a limb."""


class Leg(NamedTuple):
    """One limb of a person in one pose, by linear skinning and with muscles."""

    body: Body
    muscles: BodyMuscles
    plain: Floats  # (vertices, 3)
    muscled: Floats
    outward: Floats  # by how much the muscles moved each vertex along its normal [m], -inf off the limb
    share: Floats  # of the limb in each vertex's skin weights
    near_end: Floats  # where the limb's bone begins and ends in the pose
    far_end: Floats
    activation: Floats


@cache
def _person(path: Path) -> LiveFrames:
    """The squat on a person with the template's muscles, computed when asked for."""
    character = read_character(path)
    rig = create_rig(character, path, path.with_suffix(".ecorche"))
    motion = read_motion(ROOT / "examples" / "squat.pose")
    frames = perform(character, motion, rig=rig, skinning="linear").take.frames
    assert isinstance(frames, LiveFrames)
    return frames


def _muscles(frames: LiveFrames) -> BodyMuscles:
    muscles = frames.body.muscles
    assert muscles is not None
    return muscles


def _skinned(frames: LiveFrames, difference: Floats) -> npt.NDArray[np.float32]:
    skinning = frames.body.skinnings[_muscles(frames).skin]
    assert skinning is not None
    return skinning.apply(difference)


def _shares(frames: LiveFrames, joint: int) -> Floats:
    """How much of each vertex's skin weight is a joint's, (vertices,)."""
    mesh = frames.body.character.meshes[_muscles(frames).skin]
    assert mesh.weights is not None
    vertex = np.repeat(np.arange(len(mesh.mesh.points)), np.diff(mesh.weights.starts))
    own = mesh.weights.weights * (mesh.weights.joints == joint)
    return np.asarray(np.bincount(vertex, own, minlength=len(mesh.mesh.points)), np.float64)


def _leg(path: Path, time: float, side: str, limb: tuple[str, str]) -> Leg:
    frames = _person(path)
    body, muscles = frames.body, _muscles(frames)
    skeleton = body.character.skeleton
    naming = recognise(skeleton)
    near, far = (naming.joint(f"{side}_{name}") for name in limb)
    assert near is not None
    assert far is not None
    index = int(np.abs(frames.times - time).argmin())
    difference = difference_from_bind(skeleton, frames.motion.local[index])
    ends = skeleton.bind_world[[near, far], :3, 3]
    moved = np.eye(4) + difference[[near, near]]
    near_end, far_end = np.einsum("nij,nj->ni", moved[:, :3, :3], ends) + moved[:, :3, 3]
    plain = _skinned(frames, difference).astype(np.float64)
    muscled = frames[index].points[muscles.skin].astype(np.float64)
    triangles = body.character.meshes[muscles.skin].mesh.triangles()
    normals = trimesh.Trimesh(plain, triangles, process=False).vertex_normals
    share = _shares(frames, near)
    outward = np.where(share > 0.5, np.sum((muscled - plain) * normals, axis=1), -np.inf)
    assert frames.activation is not None
    active = frames.activation[index]
    return Leg(body, muscles, plain, muscled, outward, share, near_end, far_end, active)


def _growth(leg: Leg, point: Floats) -> float:
    """By what part the limb's girth grows at the height of a point, against plain skinning."""
    along = leg.far_end - leg.near_end
    along /= np.linalg.norm(along)
    centre = leg.near_end + along * float(along @ (point - leg.near_end))
    triangles = leg.body.character.meshes[leg.muscles.skin].mesh.triangles()
    own = triangles[(leg.share[triangles] > 0.5).all(axis=1)]
    plain, muscled = (
        np.linalg.norm(np.diff(trimesh.intersections.mesh_plane(skin, along, centre), axis=1), axis=-1).sum()
        for skin in (trimesh.Trimesh(p, own, process=False) for p in (leg.plain, leg.muscled))
    )
    return float(muscled / plain - 1.0)


def _is_over_a_belly(leg: Leg, vertex: int, group: str) -> bool:
    """Whether a vertex lies over the belly of a muscle of a group, under its width."""
    found, shapes = leg.muscles.influences, leg.muscles.musculature.spindles
    for entry in range(found.starts[vertex], found.starts[vertex + 1]):
        number = int(found.muscles[entry])
        muscle, t = leg.muscles.musculature.muscles[number], float(found.t[entry])
        width = shapes.thickness_at([t])[number, 0]
        if muscle.group == group and abs(t - muscle.belly) <= 0.2 and abs(found.a[entry]) < width:
            return True
    return False


@pytest.mark.parametrize("side", ["r", "l"])
@pytest.mark.parametrize(
    ("time", "limb", "group"),
    [(SQUATTING, THIGH, "knee extensors"), (ON_TIPTOE, SHANK, "ankle plantarflexors")],
    ids=["squat", "tiptoe"],
)
@pytest.mark.parametrize("name", PEOPLE)
def test_the_limb_bulges_most_over_the_belly_at_work(
    data: Path, name: str, time: float, limb: tuple[str, str], group: str, side: str, figure: Figure
) -> None:
    leg = _leg(data / "human" / f"{name}.glb", time, side, limb)
    working = [m for m, muscle in enumerate(leg.muscles.musculature.muscles) if muscle.group == group]
    assert leg.activation[working].max() > 0.85
    peak = int(leg.outward.argmax())
    assert leg.outward[peak] > 0.004
    assert _is_over_a_belly(leg, peak, group)
    growth = _growth(leg, leg.plain[peak])
    figure(f"girth at the {group} against plain skinning, {name} {side}", growth, 0.02, "share")
    assert 0.02 < growth < 0.10
    dent = leg.outward[leg.share > 0.5].min()
    assert dent > -leg.outward[peak]  # no furrow beside a bulge is as deep as the bulge is high


@pytest.mark.parametrize("name", PEOPLE)
def test_no_vertex_moves_by_more_than_the_muscle_below_is_thick(data: Path, name: str) -> None:
    """Half its thickness along S_d at bind, on both legs in the deepest poses."""
    for time, limb in ((SQUATTING, THIGH), (SQUATTING, SHANK), (ON_TIPTOE, SHANK)):
        leg = _leg(data / "human" / f"{name}.glb", time, "r", limb)
        found, shapes = leg.muscles.influences, leg.muscles.musculature.spindles
        moved = np.linalg.norm(leg.muscled - leg.plain, axis=1)
        for vertex in np.flatnonzero(np.isfinite(leg.outward) & (moved > 0.001)):
            entries = slice(found.starts[vertex], found.starts[vertex + 1])
            thick = [
                shapes.scale[m] * shapes.thickness_at([t])[m, 0]
                for m, t in zip(found.muscles[entries], found.t[entries], strict=True)
            ]
            assert moved[vertex] <= max(thick), (vertex, moved[vertex])


@cache
def _poses(path: Path, motion: Path) -> tuple[Floats, ...]:
    """Differences from bind of some frames of a motion, (joints, 4, 4) each."""
    frames = _person(path)
    local = retarget(read_motion(motion), frames.body.character.skeleton).motion.local
    chosen = np.linspace(0.05 * len(local), 0.95 * len(local), 5).astype(int)
    return tuple(difference_from_bind(frames.body.character.skeleton, local[i]) for i in chosen)


@pytest.mark.parametrize("name", PEOPLE)
def test_paths_neither_bowstring_nor_drag_the_skin(data: Path, name: str, figure: Figure) -> None:
    """With shapes held as at bind, what moves the skin is where the path went: it must go with the limb.

    What remains on rigid skin is the rectus femoris, whose belly slides towards the knee as the hip bends.
    """
    path = data / "human" / f"{name}.glb"
    frames = _person(path)
    muscles = _muscles(frames)
    naming = recognise(frames.body.character.skeleton)
    limbs = [naming.joint(f"{side}_{joint}") for side in "rl" for joint in ("hip", "knee")]
    shares = np.stack([_shares(frames, joint) for joint in limbs if joint is not None])
    rigid, leg = shares.max(axis=0) > 0.995, shares.sum(axis=0) > 0.5
    joined = muscles.musculature
    own = np.array([muscle.group in LEG_GROUPS for muscle in joined.muscles])
    still = contract(joined.spindles, joined.spindles.bind_length)
    ratios, on_limb, on_leg = [], [], []
    motions = (ROOT / "examples" / "squat.pose", data / "cmu" / "02_01.bvh", data / "cmu" / "13_39.bvh")
    for motion in motions:
        for difference in _poses(path, motion):
            posed, _ = joined.posed(difference)
            ratios.append((posed.path.lengths / joined.spindles.bind_length)[own])
            skinned = _skinned(frames, difference)
            moved = np.linalg.norm(
                muscles.sliding.apply(path_sections(posed, still), skinned) - skinned, axis=1
            )
            on_limb.append(moved[rigid])
            on_leg.append(moved[leg])
    figure(f"shortest muscle of the leg over its bind length, {name}", float(np.min(ratios)), 0.6, "share")
    figure(f"path error over rigid skin of the leg, {name}", float(np.max(on_limb)), 0.006, "m")
    assert np.min(ratios) > 0.6
    assert np.max(ratios) < 1.5
    assert np.max(on_limb) < 0.006
    assert np.percentile(on_limb, 99.0) < 0.002
    assert np.max(on_leg) < 0.010  # where linear skinning folds the groin
