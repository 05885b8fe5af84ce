"""How a shoulder blade follows the arm: a virtual one on a rig that has none, a real one that is left still.

Inman, Saunders and Abbott (1944, J. Bone Joint Surg. 26:1) found that of every 15 degrees by which the arm
rises, 10 happen between humerus and scapula and 5 between scapula and trunk, after a setting phase in the
first 30 degrees where the scapula hardly moves. We take a third of the elevation beyond the setting phase,
and in it the cubic that starts at rest and meets that line in value and slope.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecorche.base.rotations import matrix_from_xyzw, normalise, xyzw_from_axis_angle, xyzw_from_matrix
from ecorche.base.transforms import nearest_rotation
from ecorche.skeleton.skeleton import Skeleton

Floats = npt.NDArray[np.float64]

SETTING_PHASE = np.radians(30.0)
SCAPULAR_SHARE = 1.0 / 3.0


@dataclass(frozen=True, eq=False)
class VirtualScapula:
    """A shoulder blade: it rides on a joint of the girdle and turns as the arm rises.

    Attributes:
        name: What the joint is called, such as ``"virtual scapula, right"``.
        girdle: The joint that carries it: a clavicle where there is one, else the thorax.
        thorax: The joint of the trunk, on which elevation is measured.
        arm: The joint of the upper arm.
        pivot: What it turns about at bind [m], the shoulder joint, shape (3,).
        axis: Unit axis of upward rotation at bind, right-handed, shape (3,).
        hanging: Unit direction of a hanging arm at bind, shape (3,).
        arm_direction: Unit direction of the upper arm at bind, shape (3,).
    """

    name: str
    girdle: int
    thorax: int
    arm: int
    pivot: Floats
    axis: Floats
    hanging: Floats
    arm_direction: Floats

    def angle(self, difference: Floats) -> Floats:
        """How far it turns upward on its girdle since bind [rad] (...), of all joints' (..., joints, 4, 4).

        Its upward rotation on the thorax is the rhythm's, less what it had at bind and less what the
        girdle has turned about the same axis by itself: an animated collar bone is not counted twice.
        """
        turn = nearest_rotation(np.eye(3) + difference[..., [self.thorax, self.girdle, self.arm], :3, :3])
        thorax, girdle, arm = np.moveaxis(turn, -3, 0)
        on_thorax = np.swapaxes(thorax, -1, -2)
        direction = (on_thorax @ arm @ self.arm_direction[:, None])[..., 0]
        rhythm = scapula_upward_rotation(_angle(self.hanging, direction)) - scapula_upward_rotation(
            _angle(self.hanging, self.arm_direction)
        )
        q = xyzw_from_matrix(on_thorax @ girdle)
        q = np.where(q[..., 3:] < 0.0, -q, q)
        own = 2.0 * np.arctan2(q[..., :3] @ self.axis, q[..., 3])
        return np.asarray(rhythm - own)

    def about(self, angle: Floats) -> Floats:
        """``R − I`` (..., 4, 4) of a turn by angles [rad] (...) about its axis at bind."""
        rotation = matrix_from_xyzw(xyzw_from_axis_angle(self.axis, angle))
        about = np.zeros((*rotation.shape[:-2], 4, 4))
        about[..., :3, :3] = rotation - np.eye(3)
        about[..., :3, 3] = -(about[..., :3, :3] @ self.pivot)
        return about

    def moved(self, difference: Floats) -> Floats:
        """Its own ``M − I`` (..., 4, 4), of all joints' (..., joints, 4, 4)."""
        about = self.about(self.angle(difference))
        # (I + G)(I + A) − I, kept as a difference
        carried = difference[..., self.girdle, :, :]
        return np.asarray(carried + about + carried @ about)


def with_scapulae(skeleton: Skeleton, scapulae: Sequence[VirtualScapula]) -> Skeleton:
    """The skeleton with its virtual scapulae as further joints, after all others."""
    if not scapulae:
        return skeleton
    local = np.tile(np.eye(4), (len(scapulae), 1, 1))
    for row, scapula in zip(local, scapulae, strict=True):
        row[:3, 3] = scapula.pivot
        row[...] = skeleton.bind_inverse[scapula.girdle] @ row
    girdles = np.array([scapula.girdle for scapula in scapulae], np.int32)
    return Skeleton(
        names=(*skeleton.names, *(scapula.name for scapula in scapulae)),
        parents=np.concatenate([skeleton.parents, girdles]),
        bind_local=np.concatenate([skeleton.bind_local, local]),
        rest_local=np.concatenate([skeleton.rest_local, local]),
        tails=np.concatenate([skeleton.tails, np.full((len(scapulae), 3), np.nan)]),
    )


def difference_with(difference: Floats, scapulae: Sequence[VirtualScapula]) -> Floats:
    """``M − I`` of all joints and after them of the virtual scapulae, (..., joints + scapulae, 4, 4)."""
    if not scapulae:
        return difference
    own = np.stack([scapula.moved(difference) for scapula in scapulae], axis=-3)
    return np.concatenate([difference, own], axis=-3)


def _angle(a: Floats, b: Floats) -> Floats:
    """The angle between unit vectors [rad], accurate at any size."""
    a, b = np.broadcast_arrays(normalise(a), normalise(b))
    return np.asarray(2.0 * np.arctan2(np.linalg.norm(a - b, axis=-1), np.linalg.norm(a + b, axis=-1)))


def scapula_upward_rotation(elevation: npt.ArrayLike) -> Floats:
    """How far the scapula has turned upward on the trunk [rad] when the arm is raised by ``elevation`` [rad].

    Elevation is the angle between the hanging and the present direction of the upper arm, on the trunk, in
    any plane; below zero (the arm pressed to the body) the scapula rests. Any shape.
    """
    raised = np.maximum(np.asarray(elevation, np.float64), 0.0)
    u = np.minimum(raised / SETTING_PHASE, 1.0)
    setting = SETTING_PHASE * u * u * (2.0 - u)
    return np.asarray(SCAPULAR_SHARE * (setting + np.maximum(raised - SETTING_PHASE, 0.0)))
