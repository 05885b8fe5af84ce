"""Retargeting between human figures: limb directions kept, or feet planted."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ecorche.base.rotations import normalise, rotate_xyzw, shortest_arc_xyzw, xyzw_from_matrix
from ecorche.skeleton.motion import Motion
from ecorche.skeleton.retarget.align import corrections, foot_vector
from ecorche.skeleton.retarget.feet import bend_leg, hinge_at_bind, lifted_toes, pelvis_drop, wanted_ankles
from ecorche.skeleton.retarget.figure import Figure
from ecorche.skeleton.retarget.limbs import direction_errors
from ecorche.skeleton.retarget.report import RetargetReport
from ecorche.skeleton.retarget.scene import Scene, Solved
from ecorche.skeleton.retarget.soles import lowest, settling, skate
from ecorche.skeleton.retarget.turns import body_turns, carried_along, local_of, performed, positions_of
from ecorche.skeleton.retarget.twists import twist_shares, with_shared_twists

Floats = npt.NDArray[np.float64]


def retarget_human(
    motion: Motion, source: Figure, target: Figure, mode: str
) -> tuple[Motion, RetargetReport]:
    """The motion of one human figure on another, and what was done to it."""
    upright, told = upright_turn(source)
    notes = list(told)
    scene = Scene.of(motion, source, target, performed(motion, upright))
    directions = _keep_directions(scene)
    result = directions if mode == "directions" else _plant_feet(scene, directions.leader)
    place = result.positions[:, scene.carrier]
    shares = twist_shares(target, result.leader)
    turns = with_shared_twists(target, result.turns, shares)
    local = local_of(target.skeleton, turns, scene.carrier, place)
    moved = Motion(motion.name, target.skeleton, motion.times, local, motion.morph_weights)
    notes += _stretch_note(motion, source)
    if scene.leaps_in:
        notes.append(
            "frame 0 leaps into the motion, as a reference pose does: leave it out unless it is wanted"
        )
    twisting = {part.joint for part in shares}
    return moved, _report(scene, moved, directions, result, twisting, mode, notes)


def upright_turn(source: Figure) -> tuple[Floats | None, tuple[str, ...]]:
    """The turn (xyzw) of the world that stands a motion's figure upright, with a note; None where it does."""
    up = source.axes[:, 1]
    if up[1] >= 0.5:
        return None, ()
    axis = "-" * int(up.sum() < 0) + "xyz"[int(np.argmax(np.abs(up)))]
    note = f"the motion's figure stands along {axis} and was turned upright"
    return shortest_arc_xyzw(up, np.array([0.0, 1.0, 0.0])), (note,)


def _keep_directions(scene: Scene) -> Solved:
    fixed = corrections(scene.source, scene.target, scene.soles, flat_feet=False)
    turns, leader = body_turns(scene.source, scene.moved, scene.target, fixed, scene.body)
    skeleton = scene.target.skeleton
    solved = Solved(turns, positions_of(skeleton, turns, scene.carrier, np.zeros((len(turns), 3))), leader)
    theirs, ours = scene.hip_centres(solved.positions)
    shift = scene.scale * theirs - ours
    shift[:, 1] = scene.floor + scene.height_above_floor() - lowest(solved.places(scene))
    return Solved(turns, positions_of(skeleton, turns, scene.carrier, shift), leader)


def _plant_feet(scene: Scene, leader: dict[int, int]) -> Solved:
    source, target, skeleton = scene.source, scene.target, scene.target.skeleton
    fixed = corrections(source, target, scene.soles, flat_feet=True)
    turns, _ = body_turns(source, scene.moved, target, fixed, scene.body)
    still = np.zeros((len(turns), 3))
    theirs, ours = scene.hip_centres(positions_of(skeleton, turns, scene.carrier, still))
    ankle_heights = [np.mean([np.linalg.norm(sole.heel) for sole in pair]) for pair in scene.soles]
    shift = scene.scale * theirs - ours
    above_ankle = theirs[:, 1] - scene.source_floor - ankle_heights[0]
    settled = [
        settling(places, planted, scene.source_floor, scene.clock)
        for places, planted in zip(scene.source_places, scene.planted(), strict=True)
    ]
    above_ankle -= np.mean(settled, axis=0)
    shift[:, 1] = scene.floor + ankle_heights[1] + scene.scale * above_ankle - ours[:, 1]

    positions = positions_of(skeleton, turns, scene.carrier, shift)
    ankles, hips, lengths = [], [], []
    for side, sole, places, low in zip("lr", scene.soles[1], scene.source_places, settled, strict=True):
        h, k = target.joints[f"{side}_hip"], target.joints[f"{side}_knee"]
        ankles.append(
            wanted_ankles(
                places, scene.source_floor + low, target, sole, turns, scene.scale, scene.floor, scene.clock
            )
        )
        hips.append(positions[:, h])
        heads = target.heads
        lengths.append(
            float(np.linalg.norm(heads[k] - heads[h]) + np.linalg.norm(heads[sole.ankle] - heads[k]))
        )
    shift[:, 1] -= pelvis_drop(hips, ankles, lengths, scene.clock)
    positions = positions_of(skeleton, turns, scene.carrier, shift)

    bent, short = turns.copy(), 0.0
    for side, sole, ankle in zip("lr", scene.soles[1], ankles, strict=True):
        h, k = target.joints[f"{side}_hip"], target.joints[f"{side}_knee"]
        hinge = hinge_at_bind(target, side, turns, positions)
        bent[:, h], bent[:, k], missing = bend_leg(target, side, turns, positions[:, h], ankle, hinge)
        short = max(short, float(missing.max()))
        if sole.toe != sole.ankle:
            bent[:, sole.toe] = lifted_toes(target, sole, turns, ankle, scene.floor)
    bent = carried_along(target, turns, bent)
    return Solved(bent, positions_of(skeleton, bent, scene.carrier, shift), leader, short)


def _report(
    scene: Scene,
    moved: Motion,
    directions: Solved,
    result: Solved,
    twisting: set[int],
    mode: str,
    notes: list[str],
) -> RetargetReport:
    source, target = scene.source.skeleton, scene.target.skeleton
    planted = scene.planted()
    off = np.where(scene.standing(), lowest(result.places(scene)) - scene.floor, 0.0)
    tilt = _foot_tilt(scene)
    if mode == "directions" and tilt > 8.0:
        notes.append(
            f"the character's foot bones slope {tilt:.0f} degrees otherwise than the motion's, so its"
            " soles are tilted; planted feet keep them flat"
        )
    led = set(result.leader.values())
    # a palm's turn holds that of the wrist it hangs on
    led |= {j for s in "lr" if scene.source.palm(s) in led and (j := scene.source.joint(f"{s}_radiocarpal"))}
    return RetargetReport(
        mode,
        scene.scale,
        tuple((source.names[i], target.names[j]) for j, i in result.leader.items()),
        tuple(name for i, name in enumerate(source.names) if i not in led),
        tuple(name for j, name in enumerate(target.names) if j not in result.leader and j not in twisting),
        tuple(target.names[j] for j in sorted(twisting)),
        direction_errors(scene.source, scene.moved.positions, scene.target, moved.world()[..., :3, 3]),
        scene.floor,
        float(off[int(np.argmax(np.abs(off)))]),
        result.out_of_reach,
        skate(scene.source_places, planted, scene.times, scene.scale),
        skate(directions.places(scene), planted, scene.times),
        skate(result.places(scene), planted, scene.times),
        tuple(notes),
    )


def _foot_tilt(scene: Scene) -> float:
    """How differently the foot bones of both figures slope above a flat sole, at worst [deg]."""
    angles = []
    for theirs, ours in zip(*scene.soles, strict=True):
        flat = xyzw_from_matrix(theirs.axes @ ours.axes.T)
        a = normalise(foot_vector(scene.source, theirs))
        b = normalise(rotate_xyzw(flat, foot_vector(scene.target, ours)))
        angles.append(np.degrees(np.arctan2(np.linalg.norm(np.cross(a, b)), a @ b)))
    return float(max(angles))


def _stretch_note(motion: Motion, source: Figure) -> list[str]:
    """A note where source bones change their length, which a rigid retargeting cannot carry."""
    travelling = {source.pelvis}
    while (above := int(motion.skeleton.parents[min(travelling)])) >= 0:
        travelling.add(above)
    change = (motion.local - motion.skeleton.bind_local)[..., :3, 3]
    stretched = np.linalg.norm(change, axis=-1).max(axis=0) > 0.05 * source.leg_length
    moving = [motion.skeleton.names[j] for j in np.flatnonzero(stretched) if j not in travelling]
    if not moving:
        return []
    return [
        f"the motion moves {len(moving)} joint(s) within their parents, such as {moving[0]!r}:"
        " not carried over"
    ]
