"""The flesh round a muscle found in the skin: what moves it, and where that takes the muscle.

Flesh moves by the weights of the skin round it, as skinning moves that: by joints of the skeleton and by
muscle joints; linearly, or by another method that it is bound by (`flesh_carrier`).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ecorche.muscles.flesh_carrier import Binding, Carrier, carried

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

STATIONS, SIDES = 33, 12
"""Places along a muscle, from origin to insertion, and round each section, whose weights are told."""
KEPT = 16
"""For so many sets of places it is remembered what carries them."""


@dataclass(frozen=True, eq=False, repr=False)
class Flesh:
    """What moves the flesh round one muscle.

    Attributes:
        joints: Joints, those of muscles with the numbers after the skeleton's, (n,).
        weights: Their shares at stations and sides, together 1, (STATIONS, SIDES, n).
        inset: By how much the muscle is drawn in there to be under the skin [m], (STATIONS, SIDES, 3).
        binding: Binds it to the joints by the method that carries it; None blends linearly.
    """

    joints: Ints
    weights: Floats
    inset: Floats
    binding: Binding | None = None
    _bound: dict[tuple[bytes, bytes], Carrier] = field(default_factory=dict, init=False)

    def middle(self, difference: Floats, u: Floats, points: Floats) -> Floats:
        """``M − I`` of the flesh at shares u (K,) of the muscle's length, the mean round it, (K, 3, 4).

        Args:
            difference: ``M − I`` of all joints, (joints, 4, 4).
            u: The shares.
            points: Of the muscle's path there, at bind [m], (K, 3).
        """
        shares = _along(self.weights, u).mean(axis=1)
        if self.binding is None:
            return self._matrices(difference, shares)
        # every method carries a place's surroundings by one matrix: told by four points each
        four = points + np.concatenate([np.zeros((1, 1, 3)), np.eye(3)[:, None]])
        carrier = self._carrier(self.binding, (u.tobytes(), b""), np.stack([points] * 4), [shares] * 4)
        steps = carried(carrier, difference, four) - four
        linear = np.moveaxis(steps[1:] - steps[0], 0, -1)
        return np.concatenate([linear, steps[0][..., None] - linear @ points[..., None]], axis=-1)

    def at(self, u: Floats, angle: Floats) -> tuple[Floats, Floats]:
        """Shares (K, A, n) and inset [m] (K, A, 3) at shares u (K,) of the length and angles (A,)."""
        shares, inset = (_round(_along(values, u), angle) for values in (self.weights, self.inset))
        return shares, inset

    def carried(self, difference: Floats, u: Floats, angle: Floats, still: Floats, points: Floats) -> Floats:
        """Points of a section at bind, dilated as in the pose, where the flesh takes them [m], (K, A, 3).

        Args:
            difference: ``M − I`` of all joints, (joints, 4, 4).
            u: Shares of the muscle's length, (K,).
            angle: Angles round it [rad], (A,).
            still: The points as they are at bind [m], (K, A, 3).
            points: The same dilated.
        """
        shares, inset = self.at(u, angle)
        if self.binding is None:
            return moved(self._matrices(difference, shares), points + inset)
        carrier = self._carrier(self.binding, (u.tobytes(), angle.tobytes()), still + inset, [shares])
        return carried(carrier, difference, points + inset)

    def _carrier(
        self, binding: Binding, asked: tuple[bytes, bytes], points: Floats, shares: list[Floats]
    ) -> Carrier:
        """What carries points [m] (..., 3); kept for places that are asked for frame after frame."""
        if asked not in self._bound:
            if len(self._bound) >= KEPT:
                self._bound.clear()
            self._bound[asked] = binding(points.reshape(-1, 3), [(self.joints, own) for own in shares])
        return self._bound[asked]

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
