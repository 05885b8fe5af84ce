"""Twist joints along a limb: each takes a part of the limb's twist, as far as it is along it.

Skin that is bound to one joint from end to end wrings like a towel where that joint turns about its own
bone. Rigs have twist joints against that, which usual motions do not move. A thigh or an upper arm
does not turn where it leaves the trunk and turns fully at its far end; a shank or a forearm turns with
the foot or the hand at its far end and not at all at its near one. In between, in proportion.

Only twist joints are moved: what a motion put into elbow and shoulder stays there. A twist joint in line,
which carries the elbow or the knee itself, keeps its place in its parent.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecorche.base.rotations import (
    inverse_xyzw,
    multiply_xyzw,
    normalise,
    swing_twist_xyzw,
    xyzw_from_axis_angle,
)
from ecorche.skeleton.retarget.figure import Figure
from ecorche.skeleton.retarget.turns import carried_along

Floats = npt.NDArray[np.float64]

_UPPER = {"shoulder": "elbow", "hip": "knee"}
_FAR_END = {**_UPPER, "elbow": "radiocarpal", "knee": "talocrural"}


@dataclass(frozen=True, eq=False)
class TwistShare:
    """One twist joint and what it shares.

    Attributes:
        joint: The twist joint.
        limb: The limb's joint, which the twist joint hangs on.
        against: The two joints whose turn against each other is shared.
        share: How much of that turn the joint has beyond the limb's joint; negative takes it back.
        axis: The limb's direction at bind, shape (3,).
    """

    joint: int
    limb: int
    against: tuple[int, int]
    share: float
    axis: Floats


def twist_shares(figure: Figure, led: Collection[int]) -> list[TwistShare]:
    """What each twist joint of a figure's limbs shares, but those in ``led``, which have a motion."""
    names = {j: name for name, j in figure.joints.items()}
    found = []
    for joint in figure.twists:
        limb = _named_above(figure, joint, names)
        if joint in led or limb is None:
            continue
        side, _, base = names[limb].partition("_")
        end = figure.joint(f"{side}_{_FAR_END.get(base)}")
        above = _named_above(figure, limb, names)
        if end is None or above is None or (base in _UPPER and _is_above(figure, joint, end)):
            continue
        bone = figure.heads[end] - figure.heads[limb]
        if not bone.any():
            continue
        along = float(np.clip((figure.heads[joint] - figure.heads[limb]) @ bone / (bone @ bone), 0.0, 1.0))
        against, share = ((above, limb), along - 1.0) if base in _UPPER else ((limb, end), along)
        found.append(TwistShare(joint, limb, against, share, normalise(bone)))
    return found


def with_shared_twists(figure: Figure, turns: Floats, shares: list[TwistShare]) -> Floats:
    """Turns (frames, joints, 4) in which twist joints have their share, and carry what hangs on them."""
    result = turns.copy()
    for part in shares:
        between = multiply_xyzw(inverse_xyzw(turns[:, part.against[0]]), turns[:, part.against[1]])
        twist = swing_twist_xyzw(between, part.axis)[1]
        angle = 2.0 * np.arctan2(twist[:, :3] @ part.axis, twist[:, 3])
        # unwrapped in time, or a part of the twist would jump where the whole passes half a turn
        shared = xyzw_from_axis_angle(part.axis, part.share * np.unwrap(angle))
        result[:, part.joint] = multiply_xyzw(turns[:, part.limb], shared)
    return carried_along(figure, turns, result, settled={part.joint for part in shares})


def _named_above(figure: Figure, joint: int, names: Collection[int]) -> int | None:
    """The nearest joint above that has a canonical name."""
    above = int(figure.skeleton.parents[joint])
    while above >= 0 and above not in names:
        above = int(figure.skeleton.parents[above])
    return above if above >= 0 else None


def _is_above(figure: Figure, joint: int, below: int) -> bool:
    while below > joint:
        below = int(figure.skeleton.parents[below])
    return below == joint
