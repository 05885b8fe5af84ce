"""Ranges of angles, and how far a rotation was beyond a joint's limits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecorche.errors import SkeletonError

Floats = npt.NDArray[np.float64]

TOLERANCE = 1e-9
"""What counts as on the limit [rad]: far above rounding, far below anything visible.

Without it a rotation just clamped could be found a rounding error outside and be clamped again.
"""


@dataclass(frozen=True, eq=False)
class Excess:
    """How far rotations were beyond a joint's limits [rad], each of shape (...); zero when within.

    Attributes:
        swing: Angle between the frame's z axis (the limb; a hinge's axis) before and after.
        twist: How far the turn about that axis was moved.
    """

    swing: Floats
    twist: Floats

    @property
    def beyond(self) -> npt.NDArray[np.bool_]:
        """Where anything had to be changed, shape (...)."""
        return (self.swing > 0.0) | (self.twist > 0.0)


def nearest_in_range(angles: npt.ArrayLike, low: npt.ArrayLike, high: npt.ArrayLike) -> tuple[Floats, Floats]:
    """The nearest angle in ``[low, high]``, and how far away that is; all [rad] and of one shape.

    Angles are points of a circle: −170° is 80° from 110°, not 280°. Where both ends are equally
    far, the high end is taken. Angles within are returned as they are.
    """
    angles, low, high = np.broadcast_arrays(
        np.asarray(angles, np.float64), np.asarray(low, np.float64), np.asarray(high, np.float64)
    )
    turn = 2.0 * np.pi
    above = np.mod(angles - high, turn)
    below = np.mod(low - angles, turn)
    inside = np.mod(angles - low, turn) <= high - low
    excess = np.where(inside, 0.0, np.minimum(above, below))
    within = excess <= TOLERANCE
    nearest = np.where(within, angles, np.where(above <= below, high, low))
    return nearest, np.where(within, 0.0, excess)


def require_range(low: float, high: float, what: str) -> None:
    """Refuse a range of angles that is no range."""
    if not (np.isfinite(low) and np.isfinite(high)):
        raise SkeletonError(
            f"{what} has a limit that is not a finite number", remedy="Give two angles in degrees"
        )
    if low > high:
        raise SkeletonError(
            f"{what} goes from {np.degrees(low):g}° to {np.degrees(high):g}°",
            remedy="Give the smaller angle first",
        )
    if high - low > 2.0 * np.pi + TOLERANCE:
        raise SkeletonError(
            f"{what} spans {np.degrees(high - low):g}°",
            remedy="A rotation cannot tell more than one turn: give at most 360°",
        )
