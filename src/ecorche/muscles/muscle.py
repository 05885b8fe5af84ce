"""One muscle on one character at bind: every number a person can edit, and nothing derived.

The template, a transferred rig and a rig file all give such muscles; `Musculature` makes them move.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from ecorche.muscles.activation import LARGEST_BULGE, Action

Floats = npt.NDArray[np.float64]

Neighbourhood = Literal["automatic", "fitted", "half_space", "radial"]
"""Which vertices a muscle may move: what suits it, those over it, on its outer side, or round it."""
Weighting = Literal["binary", "spline"]
"""Whether it moves all of them alike, or as much as it is thick there."""


@dataclass(frozen=True)
class Reach:
    """Which part of the skin a muscle moves.

    Attributes:
        neighbourhood: Which vertices.
        weighting: How much.
        joints: The joints whose skin it may move: an arm never claims the flank.
        radius: How far a radial neighbourhood reaches [m]; None is half as much again as the muscle.
        painted: Name of a painted map that takes the place of the weights found; empty for none.
    """

    neighbourhood: Neighbourhood = "automatic"
    weighting: Weighting = "spline"
    joints: tuple[int, ...] = ()
    radius: float | None = None
    painted: str = ""


@dataclass(frozen=True, eq=False)
class Muscle:
    """A spindle on a path; several of one flat or many-headed muscle share ``muscle``.

    Attributes:
        name: Its own name, such as ``"deltoid, middle, right"``.
        muscle: What it is a part of, such as ``"deltoid"``.
        group: What it is one of, such as ``"shoulder abductors"``.
        joints: The joint each path point moves with, origin first; numbers of the musculature's skeleton.
        positions: Path points at bind [m], shape (points, 3).
        outward: Towards the skin at bind, S_d before it is made perpendicular to the path, shape (3,).
        thickness: Control values of the half-axis along S [m], origin and insertion half, shape (2, 4).
        sweep: Control offsets of the centre curve along S_d and S [m], shape (2, 4, 2).
        belly: Where the belly's centre lies, t_c in (0, 1).
        scale: Half-axis along S_d over the one along S, s_f.
        reach: Which skin it moves.
        max_force: F_max [N].
        force_source: Where F_max is from.
        largest_bulge: T_max, the bulge at full activation.
        actions: What it does to joints, strongest first.
    """

    name: str
    muscle: str
    group: str
    joints: tuple[int, ...]
    positions: Floats
    outward: Floats
    thickness: Floats
    sweep: Floats
    belly: float
    scale: float
    reach: Reach = field(default_factory=Reach)
    max_force: float = 0.0
    force_source: str = ""
    largest_bulge: float = LARGEST_BULGE
    actions: tuple[Action, ...] = ()
