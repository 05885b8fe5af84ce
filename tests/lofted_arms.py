"""A biceps and a triceps drawn by hand on people's arms, as if found in their skin; and arms that bend."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ecorche.base.rotations import (
    matrix_from_xyzw,
    normalise,
    xyzw_from_axis_angle,
    xyzw_from_rotation_vector,
)
from ecorche.base.transforms import compose
from ecorche.body.character import Character
from ecorche.io.formats import read_character
from ecorche.muscles.lofted import LoftedMuscle, Rings, Wrap
from ecorche.skeleton.kinematics import difference_from_bind
from ecorche.skeleton.naming import recognise
from ecorche.skeleton.skeleton import Skeleton

Floats = npt.NDArray[np.float64]

BICEPS = Rings(
    np.array([0.2, 0.35, 0.5, 0.65, 0.78]),
    np.array([[0.004, 0.0], [0.006, 0.001], [0.006, 0.002], [0.005, 0.001], [0.002, 0.0]]),
    np.array([[0.020, 0.026], [0.027, 0.033], [0.030, 0.035], [0.024, 0.028], [0.014, 0.016]]),
    np.array([0.1, 0.2, 0.3, 0.2, 0.0]),
)
TRICEPS = Rings(
    np.array([0.15, 0.3, 0.5, 0.7]),
    np.array([[0.004, 0.0], [0.008, 0.0], [0.008, -0.002], [0.004, 0.0]]),
    np.array([[0.022, 0.032], [0.027, 0.042], [0.025, 0.040], [0.016, 0.030]]),
    np.zeros(4),
)


@cache
def person(path: Path) -> Character:
    return read_character(path)


class Arm:
    """One arm: its joints, where it bends, and two muscles."""

    def __init__(self, skeleton: Skeleton, side: str = "r") -> None:
        naming = recognise(skeleton)
        found = [naming.joint(f"{side}_{name}") for name in ("shoulder", "elbow", "radiocarpal")]
        self.skeleton = skeleton
        self.shoulder, self.elbow, self.wrist = (int(j) for j in found if j is not None)
        top, self.centre, end = skeleton.bind_world[[self.shoulder, self.elbow, self.wrist], :3, 3]
        upper, fore = normalise(self.centre - top), normalise(end - self.centre)
        self.reach = float(np.linalg.norm(self.centre - top))
        self.hinge = normalise(np.cross(upper, fore))
        """Turning the forearm about it bends the elbow."""
        front, inner = np.cross(self.hinge, upper), np.cross(self.hinge, fore)
        self.bent_at_bind = float(np.degrees(np.arccos(np.clip(upper @ fore, -1.0, 1.0))))
        joints = (self.shoulder, self.elbow)
        biceps = np.array([top + 0.06 * upper + 0.028 * front, self.centre + 0.05 * fore + 0.012 * inner])
        triceps = np.array([top + 0.07 * upper - 0.03 * front, self.centre - 0.005 * fore - 0.027 * inner])
        self.biceps = LoftedMuscle(
            name=f"biceps, {side}",
            muscle="biceps",
            group="arm",
            joints=joints,
            ends=biceps,
            outward=front,
            rings=BICEPS,
            wrap=Wrap("cylinder", self.elbow, self.centre, self._side(biceps), 0.02),
            crossing=0.85,
        )
        self.triceps = LoftedMuscle(
            name=f"triceps, {side}",
            muscle="triceps",
            group="arm",
            joints=joints,
            ends=triceps,
            outward=-front,
            rings=TRICEPS,
            wrap=Wrap("sphere", self.shoulder, self.centre, self._side(triceps), 0.024),
            crossing=0.92,
        )

    def _side(self, ends: Floats) -> Floats:
        return normalise(np.cross(ends[0] - self.centre, ends[1] - self.centre))

    @property
    def muscles(self) -> tuple[LoftedMuscle, LoftedMuscle]:
        return self.biceps, self.triceps

    def bent(self, degrees: npt.ArrayLike) -> Floats:
        """``M − I`` (..., joints, 4, 4) with the elbow bent by so much more than at bind."""
        angle = np.asarray(degrees, np.float64)
        world = np.tile(np.eye(4), (*angle.shape, 1, 1))
        turn = matrix_from_xyzw(xyzw_from_axis_angle(self.hinge, np.radians(angle)))
        world[..., :3, :3] = turn
        world[..., :3, 3] = self.centre - turn @ self.centre
        difference = np.zeros((*angle.shape, self.skeleton.joint_count, 4, 4))
        below = {self.elbow}
        for joint, parent in enumerate(self.skeleton.parents):
            if int(parent) in below:
                below.add(joint)
        difference[..., sorted(below), :, :] = (world - np.eye(4))[..., None, :, :]
        return difference


def random_poses(skeleton: Skeleton, count: int, size: float, seed: int = 0) -> Floats:
    """``M − I`` (count, joints, 4, 4) with every joint turned at random."""
    random = np.random.default_rng(seed)
    turn = xyzw_from_rotation_vector(size * random.normal(size=(count, skeleton.joint_count, 3)))
    return difference_from_bind(skeleton, skeleton.bind_local @ compose(np.zeros(3), turn))


def branch(trunk: LoftedMuscle, name: str = "branch") -> LoftedMuscle:
    """A second head that leaves a muscle in its middle and ends beside its insertion."""
    middle = 0.45 * trunk.ends[0] + 0.55 * trunk.ends[1]
    across = np.cross(trunk.ends[1] - trunk.ends[0], trunk.outward)
    across = 0.05 * across / np.linalg.norm(across)
    rings = Rings(
        np.array([0.45, 0.65]), np.zeros((2, 2)), np.array([[0.014, 0.016], [0.012, 0.013]]), np.zeros(2)
    )
    ends = np.array([middle, trunk.ends[1] + across])
    return replace(trunk, name=name, ends=ends, rings=rings, wrap=None, joins=trunk.name, crossing=0.7)
