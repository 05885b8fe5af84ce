"""What hybrid skinning costs over plain skinning, and what a budget of influences costs at the skin.

Plain skinning *at the same influence count* is linear skinning of the same vertices with as many influences
each, all of them joints of the skeleton: every muscle joint stands for a joint that the vertex does not have
yet. Hybrid skinning also computes where the muscle joints are.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from benchmarks.bodies import DATA
from benchmarks.muscle_people import motion_file
from benchmarks.timing import by_turns
from ecorche.body.as_joints import jointed_character
from ecorche.body.extract_muscles import with_extracted_muscles
from ecorche.body.joint_error import joint_errors
from ecorche.body.perform import perform
from ecorche.body.rig import create_rig
from ecorche.body.sample_poses import sample_poses
from ecorche.io.formats import read_character, read_motion
from ecorche.skeleton.kinematics import difference_from_bind
from ecorche.skin.linear import LinearSkinning
from ecorche.skin.normals import Normals
from ecorche.skin.weights import SkinWeights, weights_from_entries

PERSON = DATA / "human" / "male_muscular_cmu_mb.glb"
ROUNDS = 400
POSES = 48


def section() -> str:
    """The section of the report."""
    if not PERSON.exists():
        return "## Muscles as joints\n\nNot measured: the data is not here."
    character = read_character(PERSON)
    rig = create_rig(character, PERSON, PERSON.with_suffix(".ecorche"), muscles=False)
    rig, _ = with_extracted_muscles(rig, character)
    poses = sample_poses(character, rig, POSES)
    jointed = jointed_character(character, rig, poses=poses)
    assert jointed.body.lofts is not None
    lofts, skin = jointed.body.lofts, jointed.skin
    mesh = jointed.character.meshes[skin]
    assert mesh.weights is not None
    hybrid = LinearSkinning(mesh.mesh.points, mesh.weights)
    plain = LinearSkinning(
        mesh.mesh.points, without_muscle_joints(mesh.weights, jointed.body.character.skeleton.joint_count)
    )
    moved = difference_from_bind(character.skeleton, poses.local[7])
    active = np.full(len(lofts.lofts.muscles), 0.5)
    out, normals = np.empty_like(mesh.mesh.points), Normals([mesh.mesh])
    timings = by_turns(
        {
            "plain skinning": lambda: plain.apply(moved, out=out),
            "normals": lambda: normals.apply([out]),
            "hybrid skinning, muscle joints computed": lambda: hybrid.apply(
                lofts.extended(moved, active), out=out
            ),
            "of it muscle joints": lambda: lofts.extended(moved, active),
        },
        ROUNDS,
    )
    more = timings["hybrid skinning, muscle joints computed"].median - timings["plain skinning"].median
    alone = 100.0 * more / timings["plain skinning"].median
    with_normals = 100.0 * more / (timings["plain skinning"].median + timings["normals"].median)
    lines = [
        "## Muscles as joints",
        "",
        f"The muscular man, {len(mesh.mesh.points):,} vertices, {len(lofts.lofts.muscles)} muscles found in"
        f" his skin as {len(lofts.lofts.joints.names)} joints, at most {jointed.influences} influences"
        " a vertex.",
        "",
        "| step | median [ms] | range [ms] |",
        "|---|---|---|",
        *(f"| {name} | {t.median:.3f} | {t.fastest:.3f} – {t.slowest:.3f} |" for name, t in timings.items()),
        "",
        f"Hybrid skinning costs **{alone:.0f} %** more than plain skinning at the same influence count, and"
        f" {with_normals:.0f} % more where normals are computed too.",
        "",
        "What a budget of influences costs at the skin, over motions:",
        "",
    ]
    for name in ("curl", "squat", "walk"):
        motion = perform(character, read_motion(motion_file(DATA, name)), rig=rig).take.motion
        assert motion is not None
        motion = motion.part(0, min(motion.frame_count, 150) - 1)
        lines += [f"- {name}, {error}" for error in joint_errors(jointed, motion, poses)]
    return "\n".join(lines)


def without_muscle_joints(weights: SkinWeights, joint_count: int) -> SkinWeights:
    """The same weights with every muscle joint replaced by a joint of the skeleton the vertex lacks."""
    vertex = np.repeat(np.arange(weights.vertex_count), np.diff(weights.starts))
    joints: npt.NDArray[np.int64] = weights.joints.astype(np.int64)
    for v in np.unique(vertex[joints >= joint_count]):
        row = slice(weights.starts[v], weights.starts[v + 1])
        has = set(joints[row].tolist())
        # neighbours in number: such sets are as common among vertices as real ones
        free = iter(j for j in range(joint_count) if j not in has)
        joints[row] = [j if j < joint_count else next(free) for j in joints[row].tolist()]
    return weights_from_entries(
        vertex, joints, weights.weights.astype(np.float64), weights.vertex_count, joint_count, "plain"
    )
