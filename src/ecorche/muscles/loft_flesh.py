"""The flesh round a muscle found in the skin: what moves it, where that takes the muscle, how much it holds.

Flesh moves by the weights of the skin round it, as linear skinning moves that: by joints of the skeleton and
by muscle joints.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ecorche.muscles.loft import THINNEST

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

STATIONS, SIDES = 33, 12
"""Places along a muscle, from origin to insertion, and round each section, whose weights are told."""
_TRIED = np.array([-0.5, 0.0, 0.5, 1.0])
_ITERATIONS = 30
_MOST = 1.5
"""The greatest κ: flesh that a fold presses together further does not come out elsewhere."""


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

    def carried(self, difference: Floats, u: Floats, angle: Floats, points: Floats) -> Floats:
        """Points at bind (K, A, 3) [m], at shares u (K,) and angles (A,) round the muscle, as posed."""
        shares, inset = (_round(_along(values, u), angle) for values in (self.weights, self.inset))
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


def dilation_of(still: Floats, at_rest: Floats, by_dilation: Floats) -> float:
    """κ with which rings ``at_rest + κ by_dilation`` (K, A, 3) hold as much as rings ``still`` did."""
    wanted, tried = volume_within(still), [volume_within(at_rest + k * by_dilation) for k in _TRIED]
    missing = np.array(tried) - wanted
    if missing[1] == 0.0:
        return 0.0
    cubic = np.linalg.solve(np.vander(_TRIED), missing)
    slope = np.polyder(cubic)
    kappa = 0.0
    for _ in range(_ITERATIONS):
        steep = float(np.polyval(slope, kappa))
        if not steep > 0.0:
            break
        step = float(np.polyval(cubic, kappa)) / steep
        kappa = float(np.clip(kappa - step, THINNEST, _MOST))
    return kappa


def volume_within(rings: Floats) -> float:
    """Of the closed surface through rings (K, A, 3), with their middles at both ends [m³]."""
    middle = rings.mean(axis=(0, 1))
    low, high = rings[:-1] - middle, rings[1:] - middle
    low_on, high_on = np.roll(low, -1, axis=1), np.roll(high, -1, axis=1)
    six = np.sum(low * np.cross(low_on, high_on)) + np.sum(low * np.cross(high_on, high))
    first, last = rings[0] - middle, rings[-1] - middle
    six -= np.sum(first.mean(axis=0) * np.cross(first, np.roll(first, -1, axis=0)))
    six += np.sum(last.mean(axis=0) * np.cross(last, np.roll(last, -1, axis=0)))
    return float(six) / 6.0
