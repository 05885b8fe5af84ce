"""How far every joint of the target turns, given how far the source's joints did.

A *turn* D is a joint's world rotation since bind, so a joint that keeps its place in its parent has
its parent's turn. Turns and bind positions give all positions and, at the end, local matrices.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecorche.base.rotations import (
    inverse_xyzw,
    matrix_from_xyzw,
    multiply_xyzw,
    normalise,
    rotate_xyzw,
    shortest_arc_xyzw,
    slerp_xyzw,
    xyzw_from_matrix,
)
from ecorche.base.transforms import nearest_rotation, transform_points
from ecorche.skeleton.motion import Motion
from ecorche.skeleton.retarget.figure import Figure
from ecorche.skeleton.skeleton import Skeleton

Floats = npt.NDArray[np.float64]

_PELVIC = ("humanoid_root", "sacroiliac")
_SHOULDER_GIRDLE = ("sternoclavicular", "acromioclavicular")


@dataclass(frozen=True, eq=False)
class Performed:
    """A motion's joints over time: positions [m] (frames, joints, 3) and turns xyzw (frames, joints, 4)."""

    positions: Floats
    turns: Floats


def performed(motion: Motion, upright: Floats | None = None) -> Performed:
    """Positions and turns of a motion; ``upright`` (xyzw) turns the whole world, None leaves it."""
    world = motion.world()
    turns = xyzw_from_matrix(nearest_rotation(world[..., :3, :3]))
    bind = xyzw_from_matrix(nearest_rotation(motion.skeleton.bind_world[:, :3, :3]))
    turns = multiply_xyzw(turns, inverse_xyzw(bind))
    positions = world[..., :3, 3]
    if upright is not None:
        turns, positions = multiply_xyzw(upright, turns), rotate_xyzw(upright, positions)
    return Performed(positions, turns)


def body_turns(
    source: Figure, moved: Performed, target: Figure, corrections: Mapping[str, Floats], body: Floats
) -> tuple[Floats, dict[int, int]]:
    """Turns of all joints of the target, (frames, joints, 4), and the source joint each follows.

    ``body`` is the correction of the whole figure, for joints that are not aimed. Spines are
    matched as chains of any lengths and then bent as a whole so that trunk and neck run as the
    source's do; joints that neither chain nor vocabulary knows keep their place in their parent,
    or the motion of the source's joint of the same name.
    """
    frames = len(moved.turns)
    canonical = {j: name for name, j in target.joints.items()}
    spine = _spine_turns(source, moved, target, body)
    same_name = {name: j for j, name in enumerate(source.skeleton.names)}
    unnamed = set(range(source.skeleton.joint_count)) - set(source.joints.values())
    turns = np.empty((frames, target.skeleton.joint_count, 4))
    lean = spine.pop(-1)
    leader: dict[int, int] = {}
    for j, parent in enumerate(target.skeleton.parents):
        name = canonical.get(j)
        above = turns[:, parent] if parent >= 0 else np.array([0.0, 0.0, 0.0, 1.0])
        twin = same_name.get(target.skeleton.names[j])
        if j in spine:
            turns[:, j] = spine[j]
            leader[j] = _leader_in_chain(source, target, j)
        elif name is not None and name in corrections:
            leader[j] = _leader_by_name(source, target, name)
            turns[:, j] = multiply_xyzw(moved.turns[:, leader[j]], corrections[name])
            if name[2:] in _SHOULDER_GIRDLE:
                turns[:, j] = multiply_xyzw(lean, turns[:, j])
        elif name in _PELVIC or j == target.pelvis:
            leader[j] = source.pelvis
            turns[:, j] = multiply_xyzw(moved.turns[:, source.pelvis], body)
        elif name is None and twin in unnamed and source.skeleton.parents[twin] >= 0 and parent >= 0:
            # seen from its parent, a helper moves as the source's helper does seen from its own
            leader[j] = twin
            turns_above = moved.turns[:, source.skeleton.parents[twin]]
            aligned = multiply_xyzw(inverse_xyzw(turns_above), above)
            inside = multiply_xyzw(inverse_xyzw(turns_above), moved.turns[:, twin])
            turns[:, j] = multiply_xyzw(
                above, multiply_xyzw(inverse_xyzw(aligned), multiply_xyzw(inside, aligned))
            )
        else:
            turns[:, j] = above
    return turns, leader


def _leader_by_name(source: Figure, target: Figure, name: str) -> int:
    """The source's joint of that name; for a wrist its palm, where that bends and the target's does not."""
    side, _, base = name.partition("_")
    palm = source.palm(side) if base == "radiocarpal" and target.palm(side) is None else None
    return source.joints[name] if palm is None else palm


def _leader_in_chain(source: Figure, target: Figure, joint: int) -> int:
    """The source's spine joint at about the same place in its chain."""
    chain, theirs = (target.trunk, source.trunk) if joint in target.trunk else (target.neck, source.neck)
    if not theirs:
        return source.joints["skullbase"]
    return theirs[round((chain.index(joint) + 1) / len(chain) * len(theirs)) - 1]


def carried_along(figure: Figure, old: Floats, new: Floats, settled: Collection[int] = ()) -> Floats:
    """Turns where joints without a canonical name keep their place in parents that got ``new`` turns.

    Joints in ``settled`` keep the new turn they have.
    """
    result = new.copy()
    named = set(figure.joints.values())
    for j, parent in enumerate(figure.skeleton.parents):
        if j in named or j in settled or parent < 0 or np.array_equal(result[:, parent], old[:, parent]):
            continue
        if np.array_equal(old[:, j], old[:, parent]):
            result[:, j] = result[:, parent]
        else:
            inside = multiply_xyzw(inverse_xyzw(old[:, parent]), old[:, j])
            result[:, j] = multiply_xyzw(result[:, parent], inside)
    return result


def _spine_turns(source: Figure, moved: Performed, target: Figure, body: Floats) -> dict[int, Floats]:
    """Turns of the target's spine joints by joint; under -1 how the trunk leans beyond the source's turns."""
    chest = source.trunk[-1] if source.trunk else source.pelvis
    lean = np.tile([0.0, 0.0, 0.0, 1.0], (len(moved.turns), 1))
    result: dict[int, Floats] = {}
    if source.trunk and target.trunk:
        turns = _along(moved, [source.pelvis, *source.trunk], len(target.trunk), body, ends_open=False)
        lean = _lean(
            source,
            moved,
            source.trunk[0],
            source.neck_base(),
            target,
            target.trunk,
            target.neck_base(),
            turns,
        )
        result |= {j: multiply_xyzw(lean, t) for j, t in zip(target.trunk, turns, strict=True)}
    skull = source.joint("skullbase")
    if target.neck and (source.neck or skull is not None):
        knots = [chest, *source.neck] if source.neck else [chest, skull or 0]
        turns = _along(moved, knots, len(target.neck), body, ends_open=not source.neck)
        start = source.neck[0] if source.neck else None
        bend = _lean(source, moved, start, skull, target, target.neck, target.joint("skullbase"), turns)
        result |= {j: multiply_xyzw(bend, t) for j, t in zip(target.neck, turns, strict=True)}
    result[-1] = lean
    return result


def _along(
    moved: Performed, knots: Sequence[int], count: int, body: Floats, *, ends_open: bool
) -> list[Floats]:
    """Turns of ``count`` joints spread evenly along a chain of knots, the first of which is below it.

    Chains of equal length match joint by joint, and the last joint always takes the last one's
    turn, because it carries what is above; with ``ends_open`` the last knot itself is above.
    """
    places = (np.arange(count) + 1.0) / (count + 1.0 if ends_open else count) * (len(knots) - 1)
    result = []
    for place in places:
        low = min(int(np.floor(place + 1e-9)), len(knots) - 2)
        part = place - low
        a, b = moved.turns[:, knots[low]], moved.turns[:, knots[low + 1]]
        turn = b if part > 1.0 - 1e-9 else a if part < 1e-9 else slerp_xyzw(a, b, np.full(len(a), part))
        result.append(multiply_xyzw(turn, body))
    return result


def _lean(
    source: Figure,
    moved: Performed,
    start: int | None,
    end: int | None,
    target: Figure,
    chain: Sequence[int],
    chain_end: int | None,
    turns: Sequence[Floats],
) -> Floats:
    """The smallest turn that makes the target's chain run from end to end as the source's does."""
    still = np.tile([0.0, 0.0, 0.0, 1.0], (len(moved.turns), 1))
    if start is None or end is None or chain_end is None:
        return still
    least = 0.02 * source.leg_length
    theirs = moved.positions[:, end] - moved.positions[:, start]
    stops = [*chain[1:], chain_end]
    ours = sum(
        rotate_xyzw(turn, target.heads[b] - target.heads[a])
        for a, b, turn in zip(chain, stops, turns, strict=True)
    )
    if np.linalg.norm(theirs, axis=-1).min() < least or np.linalg.norm(ours, axis=-1).min() < 1e-6:
        return still
    return shortest_arc_xyzw(normalise(ours), normalise(theirs))


def positions_of(skeleton: Skeleton, turns: Floats, carrier: int, shift: Floats) -> Floats:
    """Joint positions (frames, joints, 3) for turns, with ``carrier`` moved by ``shift`` (frames, 3)."""
    heads = skeleton.bind_world[:, :3, 3]
    positions = np.empty((*turns.shape[:-1], 3))
    for j, parent in enumerate(skeleton.parents):
        if parent < 0:
            positions[:, j] = heads[j]
        else:
            positions[:, j] = positions[:, parent] + rotate_xyzw(turns[:, parent], heads[j] - heads[parent])
        if j == carrier:
            positions[:, j] += shift
    return positions


def local_of(skeleton: Skeleton, turns: Floats, carrier: int, place: Floats) -> Floats:
    """Local matrices (frames, joints, 4, 4) for turns, with ``carrier`` at ``place`` (frames, 3) [m].

    Written as a difference from bind, ``B + B M⁻¹ (R − I) M`` with R the turn within the parent:
    a joint that does not turn there keeps its bind matrix bit for bit, scale and shear included.
    """
    local = np.tile(skeleton.bind_local, (len(turns), 1, 1, 1))
    for j, parent in enumerate(skeleton.parents):
        inside = turns[:, j]
        if parent >= 0:
            if np.array_equal(turns[:, j], turns[:, parent]):
                inside = np.array([0.0, 0.0, 0.0, 1.0])
            else:
                inside = multiply_xyzw(inverse_xyzw(turns[:, parent]), turns[:, j])
        change = matrix_from_xyzw(inside) - np.eye(3)
        before = skeleton.bind_local[j, :3, :3] @ skeleton.bind_inverse[j, :3, :3]
        local[:, j, :3, :3] += before @ change @ skeleton.bind_world[j, :3, :3]
    parent = skeleton.parents[carrier]
    if parent >= 0:
        # the joints above the carrier stay at bind
        place = transform_points(skeleton.bind_inverse[parent], place)
    local[:, carrier, :3, 3] = place
    return local
