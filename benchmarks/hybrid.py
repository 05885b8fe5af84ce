"""What hybrid skinning costs over plain skinning, and what a budget of influences costs at the skin.

Plain skinning *at the same influence count* is linear skinning by the very same weights, in which the muscle
joints are rigid ones whose matrices are at hand, as an engine has them. Over that, hybrid skinning computes
where the muscle joints are. Over the character as it came it also has more influences a vertex.

Where memory happens to lie decides whether an ordinary skin just fits into a processor's cache, some 10 µs:
everything is laid out anew several times, and the median taken.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import numpy.typing as npt

from benchmarks.bodies import DATA
from benchmarks.muscle_people import motion_file, refined
from benchmarks.timing import by_turns
from ecorche.body.as_joints import JointedCharacter, jointed_character
from ecorche.body.character import Character
from ecorche.body.extract_muscles import with_extracted_muscles
from ecorche.body.joint_error import joint_errors
from ecorche.body.perform import perform
from ecorche.body.rig import create_rig
from ecorche.body.sample_poses import sample_poses
from ecorche.io.formats import read_character, read_motion
from ecorche.skeleton.kinematics import difference_from_bind
from ecorche.skin.active import ActiveSkinning
from ecorche.skin.linear import LinearSkinning
from ecorche.skin.normals import Normals

Floats = npt.NDArray[np.float64]

PERSON = DATA / "human" / "male_muscular_cmu_mb.glb"
LAYOUTS, ROUNDS = 5, 150
SAME = 3e-6  # m, by which a skin on muscle joints of float32 may differ from one on float64
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
    lofts, moved = jointed.body.lofts, difference_from_bind(character.skeleton, poses.local[7])
    lines = [
        "## Muscles as joints",
        "",
        f"The muscular man, {len(lofts.lofts.muscles)} muscles found in his skin as"
        f" {len(lofts.lofts.joints.names)} joints, at most {jointed.influences} influences a vertex; his skin"
        " as it is, and subdivided once and twice. *The same weights* are plain skinning at the same"
        " influence count: the muscle joints are rigid, their matrices at hand.",
        "",
        "| vertices | his own weights [ms] | the same weights [ms] | hybrid [ms]"
        " | muscle joints by themselves, float64 [ms] | normals [ms] | hybrid over the same weights"
        " | over his own | with normals |",
        "|---|---|---|---|---|---|---|---|---|",
        *(_costs(character, jointed, moved, times) for times in range(3)),
        "",
        "Asked: at most 15 % over plain skinning at the same influence count. Muscle joints take the same"
        " time whatever the skin.",
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


def _costs(character: Character, jointed: JointedCharacter, moved: Floats, times: int) -> str:
    """A row of the table: the skin subdivided so many times."""
    lofts = jointed.body.lofts
    assert lofts is not None
    own, extended = character.meshes[jointed.skin], jointed.character.meshes[jointed.skin]
    if times:
        own, extended = (refined(one, times).meshes[0] for one in (character, jointed.character))
    assert own.weights is not None
    assert extended.weights is not None
    active, rigid = np.full(len(lofts.lofts.muscles), 0.5), lofts.at_rest(moved)
    found: dict[str, list[float]] = {}
    for _ in range(LAYOUTS):
        # each after another skinning, with arrays of its own: who shares them finds them in the cache, and
        # who comes after something else finds threads asleep
        awake, plain = (LinearSkinning(own.mesh.points, own.weights) for _ in range(2))
        same, at_hand = (LinearSkinning(extended.mesh.points, extended.weights) for _ in range(2))
        hybrid = ActiveSkinning(at_hand, lofts.lofts)
        out, normals = np.empty_like(own.mesh.points), Normals([own.mesh])
        wanted = at_hand.apply(lofts.extended(moved, active))
        assert np.abs(hybrid.apply(moved, active) - wanted).max() < SAME
        taken = by_turns(
            {
                "awake": partial(awake.apply, moved, out=out),
                "own": partial(plain.apply, moved, out=out),
                "same": partial(same.apply, rigid, out=out),
                "hybrid": partial(hybrid.apply, moved, active, out=out),
                "joints": partial(lofts.extended, moved, active),
                "normals": partial(normals.apply, [out]),
            },
            ROUNDS,
        )
        for name, one in taken.items():
            found.setdefault(name, []).append(one.median)
    median = {name: float(np.median(values)) for name, values in found.items() if name != "awake"}
    over_same, over_own = (100.0 * (median["hybrid"] / median[peer] - 1.0) for peer in ("same", "own"))
    more = 100.0 * (median["hybrid"] - median["same"]) / (median["same"] + median["normals"])
    cells = [
        f"{len(own.mesh.points):,}",
        *(f"{value:.3f}" for value in median.values()),
        f"**{over_same:.0f} %**",
        f"{over_own:.0f} %",
        f"{more:.0f} %",
    ]
    return f"| {' | '.join(cells)} |"
