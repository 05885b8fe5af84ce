"""A skeleton seen as a human figure: which joint is which, which way it faces, how long its legs are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecorche.base.rotations import normalise
from ecorche.skeleton.naming import Naming
from ecorche.skeleton.naming.vocabulary import NECK, TRUNK
from ecorche.skeleton.skeleton import Skeleton

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Figure:
    """A humanoid skeleton at bind.

    Attributes:
        skeleton: Its joints.
        joints: Canonical name to joint number.
        trunk, neck: Spine joints from below, as many as there are.
        twists: Twist joints.
        pelvis: The joint that carries both hips.
        heads: Joint positions at bind [m], shape (joints, 3).
        tips: Bone tips at bind [m], shape (joints, 3).
        axes: Unit columns left, up, forward of the body at bind, shape (3, 3).
        leg_length: Hip to knee to ankle, mean of both sides [m].
    """

    skeleton: Skeleton
    joints: dict[str, int]
    trunk: tuple[int, ...]
    neck: tuple[int, ...]
    twists: tuple[int, ...]
    pelvis: int
    heads: Floats
    tips: Floats
    axes: Floats
    leg_length: float

    def joint(self, canonical: str) -> int | None:
        """The joint of that canonical name, or None."""
        return self.joints.get(canonical)

    def palm(self, side: str) -> int | None:
        """The joint that bends a palm in one piece (CMU's finger base), a second wrist; else None."""
        joints = [self.joint(f"{side}_carpometacarpal_{ray}") for ray in (2, 3, 4, 5)]
        found = [joint for joint in joints if joint is not None]
        return found[0] if len(found) == 1 else None

    def neck_base(self) -> int | None:
        """Where the trunk ends: the lowest neck joint, else the head."""
        return self.neck[0] if self.neck else self.joint("skullbase")


def figure_of(skeleton: Skeleton, naming: Naming) -> Figure | None:
    """The human figure in a skeleton, or None where it has no pair of hips with knees and ankles."""
    joints = {name: j for j, name in enumerate(naming.canonical) if name is not None}
    legs = [joints.get(f"{side}_{part}") for side in "lr" for part in ("hip", "knee", "talocrural")]
    if None in legs:
        return None
    heads = skeleton.bind_world[:, :3, 3]
    l_hip, l_knee, l_ankle, r_hip, r_knee, r_ankle = (leg for leg in legs if leg is not None)
    lengths = [
        np.linalg.norm(heads[b] - heads[a])
        for a, b in ((l_hip, l_knee), (l_knee, l_ankle), (r_hip, r_knee), (r_knee, r_ankle))
    ]
    leg_length = 0.5 * float(np.sum(lengths))
    if leg_length <= 0.0:
        return None
    top = joints.get("skullbase", joints.get("l_shoulder"))
    ankles = 0.5 * (heads[l_ankle] + heads[r_ankle])
    up = (heads[top] if top is not None else 0.5 * (heads[l_hip] + heads[r_hip])) - ankles
    left = heads[l_hip] - heads[r_hip]
    if "l_shoulder" in joints and "r_shoulder" in joints:
        left = normalise(left) + normalise(heads[joints["l_shoulder"]] - heads[joints["r_shoulder"]])
    pelvis = common_ancestor(skeleton, [l_hip, r_hip])
    axes = body_axes(up, left)
    return None if axes is None else figure_in(skeleton, naming, pelvis, axes, leg_length)


def figure_in(skeleton: Skeleton, naming: Naming, pelvis: int, axes: Floats, leg_length: float) -> Figure:
    """The figure of a skeleton whose pelvis, axes and length of legs are known."""
    joints = {name: j for j, name in enumerate(naming.canonical) if name is not None}
    return Figure(
        skeleton,
        joints,
        tuple(joints[v] for v in TRUNK if v in joints),
        tuple(joints[v] for v in NECK if v in joints),
        tuple(j for j, role in enumerate(naming.roles) if role == "twist"),
        pelvis,
        skeleton.bind_world[:, :3, 3],
        skeleton.tail_positions(),
        axes,
        leg_length,
    )


def body_axes(up: Floats, left: Floats) -> Floats | None:
    """Left, up and forward: up is the world axis the figure stands along, not its slouch.

    None where left has no part across it.
    """
    along = int(np.argmax(np.abs(up)))
    vertical = np.eye(3)[along] * np.sign(up[along])
    across = left - vertical * (left @ vertical)
    if not np.linalg.norm(across) > 1e-9:
        return None
    left = normalise(across)
    return np.column_stack([left, vertical, np.cross(left, vertical)])


def common_ancestor(skeleton: Skeleton, joints: list[int]) -> int:
    """The lowest joint above (or among) all of these; the first root where they share none."""
    chains = []
    for joint in joints:
        chain = [joint]
        while skeleton.parents[chain[-1]] >= 0:
            chain.append(int(skeleton.parents[chain[-1]]))
        chains.append(chain)
    return next((j for j in chains[0] if all(j in chain for chain in chains)), chains[0][-1])
