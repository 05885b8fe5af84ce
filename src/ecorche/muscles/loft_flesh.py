"""The flesh round a muscle found in the skin: what moves it, and where that takes the muscle.

Flesh moves by the weights of the skin round it, as linear skinning moves that: by joints of the skeleton and
by muscle joints.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

STATIONS, SIDES = 33, 12
"""Places along a muscle, from origin to insertion, and round each section, whose weights are told."""


class Flesh(NamedTuple):
    """What moves the flesh round one muscle.

    Attributes:
        joints: Joints, those of muscles with the numbers after the skeleton's, (n,).
        weights: Their shares at stations and sides, together 1, (STATIONS, SIDES, n).
        inset: By how much the muscle is drawn in there to be under the skin [m], (STATIONS, SIDES, 3).
    """

    joints: Ints
    weights: Floats
    inset: Floats

    def middle(self, difference: Floats, u: Floats) -> Floats:
        """``M − I`` of the flesh at shares u (K,) of the muscle's length, the mean round it, (K, 3, 4).

        Args:
            difference: ``M − I`` of all joints, (joints, 4, 4).
            u: The shares.
        """
        return self._matrices(difference, _along(self.weights, u).mean(axis=1))

    def at(self, u: Floats, angle: Floats) -> tuple[Floats, Floats]:
        """Shares (K, A, n) and inset [m] (K, A, 3) at shares u (K,) of the length and angles (A,)."""
        shares, inset = (_round(_along(values, u), angle) for values in (self.weights, self.inset))
        return shares, inset

    def carried(self, difference: Floats, u: Floats, angle: Floats, points: Floats) -> Floats:
        """Points at bind (K, A, 3) [m], at shares u (K,) and angles (A,) round the muscle, as posed."""
        shares, inset = self.at(u, angle)
        return moved(self._matrices(difference, shares), points + inset)

    def _matrices(self, difference: Floats, shares: Floats) -> Floats:
        """``M − I`` (..., 3, 4) of flesh that the joints move by shares (..., n)."""
        rows = np.ascontiguousarray(difference[self.joints, :3]).reshape(-1, 12)
        return np.asarray((shares @ rows).reshape(*shares.shape[:-1], 3, 4))


def moved(carried: Floats, points: Floats) -> Floats:
    """Points (..., 3) after ``M − I`` of their own, (..., 3, 4)."""
    step = (carried[..., :3] @ points[..., None])[..., 0]
    return np.asarray(points + (step + carried[..., 3]))


def _along(values: Floats, u: Floats) -> Floats:
    """Values at stations (STATIONS, ...) between them, at shares u (K,) of the length, (K, ...)."""
    place = np.clip(u, 0.0, 1.0) * (STATIONS - 1)
    low = np.minimum(place.astype(np.int64), STATIONS - 2)
    part = (place - low)[:, None, None]
    return np.asarray(values[low] + part * (values[low + 1] - values[low]))


def _round(values: Floats, angle: Floats) -> Floats:
    """Values at sides (K, SIDES, ...) between them, at angles (A,) [rad], (K, A, ...)."""
    turns = angle * (SIDES / (2.0 * np.pi))
    side = np.floor(turns).astype(np.int64)
    part = (turns - side)[:, None]
    return np.asarray((1.0 - part) * values[:, side % SIDES] + part * values[:, (side + 1) % SIDES])
