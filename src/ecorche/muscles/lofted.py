"""A muscle found in the skin, at bind: ellipses along a root curve, and nothing derived.

Text 001 (Yang and Zhang, 2006), "Construction of 3D Muscle Models": every section of such a muscle is an
ellipse; the root curve carries them, and bends round a joint or a bone where one lies in its way.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from ecorche.muscles.activation import Action

Floats = npt.NDArray[np.float64]

FOUND_BULGE = 1.15
"""T_max of a muscle found in the skin: its ellipse reaches the skin, so all of its bulge shows."""


@dataclass(frozen=True, eq=False)
class Wrap:
    """What a root curve bends round: a sphere at a hinge, a ball in its socket, or a cylinder along a bone.

    Attributes:
        shape: Which of the three. Round a ball it takes the shorter way, as that joint turns every way.
        joint: The joint it moves with; of a ball the one its socket is in.
        centre: Its centre, or a point of its axis, at bind [m], shape (3,).
        axis: Unit direction at bind, shape (3,): from origin to insertion the curve goes round it
            right-handed. This is the stored side; the other side has the opposite axis. A cylinder lies along
            it; of a sphere, whose curve lies in the plane of both ends and the centre, only the sense counts;
            of a ball only where the curve runs close to the centre.
        radius: Of the sphere, ball or cylinder [m].
    """

    shape: Literal["sphere", "cylinder", "ball"]
    joint: int
    centre: Floats
    axis: Floats
    radius: float


@dataclass(frozen=True, eq=False)
class Rings:
    """The ellipses of one muscle, from origin to insertion; beyond the first and last it tapers to its ends.

    Attributes:
        u: Where each lies on the root curve, share of its length from the origin, rising within (0, 1), (R,).
        centre: Of the ellipse, off the root curve along (out, side) [m], shape (R, 2).
        half_axes: Both half-axes [m], positive, shape (R, 2).
        angle: Of the first half-axis, from out towards side [rad], shape (R,).
    """

    u: Floats
    centre: Floats
    half_axes: Floats
    angle: Floats


@dataclass(frozen=True, eq=False)
class LoftedMuscle:
    """One muscle found in a skin, or drawn by hand like one.

    Attributes:
        name: Its own name.
        muscle: What it is a part of.
        group: What it is one of; gains are given by group.
        joints: The joints that origin and insertion move with.
        ends: Origin and insertion at bind [m], shape (2, 3).
        wrap: What the root curve bends round; None where it is straight.
        outward: Towards the skin at bind, before it is made perpendicular to the root curve, shape (3,).
        rings: Its ellipses.
        crossing: Where along the root curve the joint lies that the muscle crosses, share of its length:
            there, and not along the limbs, the skin gives way when the muscle changes length.
        joins: Name of the muscle it branches from; empty for none.
        painted: Name of a painted map that takes the place of the weights found; empty for none.
        reach: The joints whose skin it may move, first the one it lies on; empty is the origin's.
        max_force: F_max [N].
        largest_bulge: T_max, the bulge at full activation.
        actions: What it does to joints, strongest first.
        prominence: How far the skin over it stands out [m]; 0 where nobody measured it.
    """

    name: str
    muscle: str
    group: str
    joints: tuple[int, int]
    ends: Floats
    outward: Floats
    rings: Rings
    wrap: Wrap | None = None
    crossing: float = 0.5
    joins: str = ""
    painted: str = ""
    reach: tuple[int, ...] = ()
    max_force: float = 0.0
    largest_bulge: float = FOUND_BULGE
    actions: tuple[Action, ...] = field(default=())
    prominence: float = 0.0

    @property
    def carrier(self) -> int:
        """The joint it lies on: with it the muscle twists."""
        return (*self.reach, *self.joints)[0]
