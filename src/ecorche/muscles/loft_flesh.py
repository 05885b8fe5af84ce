"""The flesh round a muscle found in the skin: what moves it, where that takes the muscle, how much it holds.

Flesh moves by the weights of the skin round it, as linear skinning moves the skin itself.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ecorche.base.rotations import normalise
from ecorche.muscles.loft import THINNEST

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

STATIONS, SIDES = 33, 12
"""Places along a muscle, from origin to insertion, and round each section, whose weights are told."""
_TRIED = np.array([-0.5, 0.0, 0.5, 1.0])
_ITERATIONS = 30
_MOST = 1.5
"""The greatest κ: flesh that a fold presses together further does not come out elsewhere."""


class Line(NamedTuple):
    """Where K sections are carried to.

    Attributes:
        start, end: Their places on the line through the muscle, as flesh and as in the pose [m], (K, 3).
        turn: Rotations from the one to the other, (K, 3, 3).
        carried: ``M − I`` of the flesh there, (K, 3, 4).
    """

    start: Floats
    end: Floats
    turn: Floats
    carried: Floats


class Flesh(NamedTuple):
    """What moves the flesh round one muscle.

    Attributes:
        joints: The joints, (n,).
        weights: Their shares at stations and sides, together 1, (STATIONS, SIDES, n).
        shown: How much the skin at the stations follows the muscle, 0 to 1, (STATIONS,).
    """

    joints: Ints
    weights: Floats
    shown: Floats

    def over(self, u: Floats) -> Floats:
        """How much the skin follows the muscle at shares u (K,) of its length, (K,)."""
        low, part = _station(u)
        return np.asarray(self.shown[low] + part * (self.shown[low + 1] - self.shown[low]))

    def line(
        self,
        difference: Floats,
        u: Floats,
        at_bind: tuple[Floats, Floats],
        on_curve: tuple[Floats, Floats],
        follows: Floats,
    ) -> Line:
        """Where sections at shares u (K,) go.

        Args:
            difference: ``M − I`` of the joints, (joints, 4, 4).
            u: The shares.
            at_bind: Points [m] and unit tangents of the root curve there at bind, (K, 3).
            on_curve: The same of the posed curve where the sections have slid to.
            follows: How much of the way to there they go, (K,).
        """
        carried = self._matrices(difference, self._weights(u).mean(axis=1))
        points, tangents = at_bind
        start = _moved(carried, points)
        along = normalise(tangents + np.einsum("kij,kj->ki", carried[:, :, :3], tangents))
        wanted = normalise(along + follows[:, None] * (on_curve[1] - along))
        end = start + follows[:, None] * (on_curve[0] - start)
        return Line(start, end, _smallest_rotation(along, wanted), carried)

    def carried(self, difference: Floats, u: Floats, angle: Floats, points: Floats, line: Line) -> Floats:
        """Points (K, A, 3) [m] of sections at bind at shares u (K,) and angles (A,), where they are posed."""
        turns = angle * (SIDES / (2.0 * np.pi))
        side = np.floor(turns).astype(np.int64)
        part, weights = (turns - side)[:, None], self._weights(u)
        shares = (1.0 - part) * weights[:, side % SIDES] + part * weights[:, (side + 1) % SIDES]
        moved = _moved(self._matrices(difference, shares), points)
        away = moved - line.start[:, None]
        # as a change of the points at bind, so that they are exact there
        turned = away @ np.swapaxes(line.turn - np.eye(3), 1, 2)
        return np.asarray(moved + (turned + (line.end - line.start)[:, None]))

    def _weights(self, u: Floats) -> Floats:
        """At shares u (K,), (K, SIDES, n)."""
        low, part = _station(u)
        return np.asarray(
            self.weights[low] + part[:, None, None] * (self.weights[low + 1] - self.weights[low])
        )

    def _matrices(self, difference: Floats, shares: Floats) -> Floats:
        """``M − I`` (..., 3, 4) of flesh that the joints move by shares (..., n)."""
        rows = np.ascontiguousarray(difference[self.joints, :3]).reshape(-1, 12)
        return np.asarray((shares @ rows).reshape(*shares.shape[:-1], 3, 4))


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


def _station(u: Floats) -> tuple[Ints, Floats]:
    """The station before each share of a muscle's length, and the part of the way to the next."""
    place = np.clip(u, 0.0, 1.0) * (STATIONS - 1)
    low = np.minimum(place.astype(np.int64), STATIONS - 2)
    return low, place - low


def _moved(carried: Floats, points: Floats) -> Floats:
    """Points (..., 3) after ``M − I`` of their own, (..., 3, 4)."""
    step = (carried[..., :3] @ points[..., None])[..., 0]
    return np.asarray(points + (step + carried[..., 3]))


def _smallest_rotation(a: Floats, b: Floats) -> Floats:
    """Rotations (K, 3, 3) that take unit vectors a to b, (K, 3); none where they are opposite."""
    axis, cosine = np.cross(a, b), np.sum(a * b, axis=-1)
    over = np.where(cosine > -0.999999, 1.0 / np.maximum(1.0 + cosine, 1e-6), 0.0)
    x, y, z = axis.T
    zero = np.zeros_like(x)
    skew = np.stack([zero, -z, y, z, zero, -x, -y, x, zero], axis=-1).reshape(-1, 3, 3)
    skew = np.where((cosine > -0.999999)[:, None, None], skew, 0.0)
    return np.asarray(np.eye(3) + skew + over[:, None, None] * (skew @ skew))
