"""The flesh round a muscle found in the skin: what moves it, and where that takes the muscle.

Flesh moves by the weights of the skin round it, as skinning moves that: by joints of the skeleton and by
muscle joints; linearly, or by another method that it is bound by (`flesh_carrier`).

Where skin is coarse that is not all. Between vertices that turn about different joints weights change
smoothly, and a place that went by its own would go on a bow; but the skin is a straight triangle there, and
cuts the bow off by centimetres. So flesh below a triangle goes as the mean of what its corners would make of
it: ``Σ_k b_k M_k (p_k + p − q)``, with q the place on the skin that p lies below. Against ``Σ_k b_k M_k p``
that is short of the bow ``Σ_j M_j c_j``, with ``c_j = Σ_k b_k w_kj (q − p_k)``, which is nothing at bind.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ecorche.base.rotations import normalise
from ecorche.muscles.flesh_carrier import Binding, Carrier, carried

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

STATIONS, SIDES = 33, 12
"""Places along a muscle, from origin to insertion, and round each section, whose weights are told."""
FINE_STATIONS, FINE_SIDES = 97, 24
"""Places where it is told how far a muscle is drawn in."""
TAKEN = 0.5
"""Of the way to the skin a place takes no more than this share where its section dilates to twice its size:
folds press flesh together."""
KEPT = 16
"""For so many sets of places it is remembered what carries them."""


@dataclass(frozen=True, eq=False, repr=False)
class Flesh:
    """What moves the flesh round one muscle.

    Attributes:
        joints: Joints, those of muscles with the numbers after the skeleton's, (n,).
        weights: Their shares at stations and sides, together 1, (STATIONS, SIDES, n).
        inset: By how much the muscle is drawn in to be under the skin [m], at any number of places along and
            round it, (K, A, 3).
        binding: Binds it to the joints by the method that carries it; None blends linearly.
        bows: c of the joints [m], together 0, (STATIONS, SIDES, n, 3), where it is blended linearly; None is
            flesh without bows.
        room: The way to the skin and how far it is [m], where the inset is told, (K, A, 4); None is far.
        draw_in: By how much rings of places (K, A, 3) at bind are drawn in to be under the skin [m]; None is
            not at all.
    """

    joints: Ints
    weights: Floats
    inset: Floats
    binding: Binding | None = None
    bows: Floats | None = None
    room: Floats | None = None
    draw_in: Callable[[Floats], Floats] | None = None
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
            matrices = self._matrices(difference, shares)
            if self.bows is not None:
                bows = _along(self.bows.reshape(STATIONS, SIDES, -1), u).mean(axis=1)
                matrices[..., 3] -= self._bow(difference, bows)
            return matrices
        # every method carries a place's surroundings by one matrix: told by four points each
        four = points + np.concatenate([np.zeros((1, 1, 3)), np.eye(3)[:, None]])
        carrier = self._carrier(self.binding, (u.tobytes(), b""), np.stack([points] * 4), [shares] * 4)
        steps = carried(carrier, difference, four) - four
        linear = np.moveaxis(steps[1:] - steps[0], 0, -1)
        return np.concatenate([linear, steps[0][..., None] - linear @ points[..., None]], axis=-1)

    def at(self, u: Floats, angle: Floats) -> tuple[Floats, Floats]:
        """Shares (K, A, n) and inset [m] (K, A, 3) at shares u (K,) of the length and angles (A,)."""
        shares, inset = (between(values, u, angle) for values in (self.weights, self.inset))
        return shares, inset

    def bows_at(self, u: Floats, angle: Floats) -> Floats | None:
        """Bows [m] there, (K, A, 3 n); None without any."""
        if self.bows is None or self.binding is not None:
            return None
        return between(self.bows.reshape(STATIONS, SIDES, -1), u, angle)

    def held_in(self, u: Floats, angle: Floats, steps: Floats) -> Floats:
        """Steps [m] (K, A, 3) of places on sections, no further towards the skin than it is away."""
        if self.room is None:
            return steps
        room = between(self.room, u, angle)
        outward = normalise(room[..., :3])
        over = np.maximum(np.sum(steps * outward, axis=-1) - TAKEN * room[..., 3], 0.0)
        return np.asarray(steps - over[..., None] * outward)

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
            there = moved(self._matrices(difference, shares), points + inset)
            bows = self.bows_at(u, angle)
            return there if bows is None else there - self._bow(difference, bows)
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

    def _bow(self, difference: Floats, bows: Floats) -> Floats:
        """How far bows (..., 3 n) reach in a pose [m], (..., 3)."""
        turned = np.moveaxis(difference[self.joints, :3, :3], 1, -1).reshape(-1, 3)  # (3 n, 3)
        return np.asarray(bows @ turned)

    def _matrices(self, difference: Floats, shares: Floats) -> Floats:
        """``M − I`` (..., 3, 4) of flesh that the joints move by shares (..., n)."""
        rows = np.ascontiguousarray(difference[self.joints, :3]).reshape(-1, 12)
        return np.asarray((shares @ rows).reshape(*shares.shape[:-1], 3, 4))


def moved(carried: Floats, points: Floats) -> Floats:
    """Points (..., 3) after ``M − I`` of their own, (..., 3, 4)."""
    step = (carried[..., :3] @ points[..., None])[..., 0]
    return np.asarray(points + (step + carried[..., 3]))


def between(values: Floats, u: Floats, angle: Floats) -> Floats:
    """Values told evenly along and round a muscle (stations, sides, n), at shares u and angles, (K, A, n)."""
    return _round(_along(values, u), angle)


def _along(values: Floats, u: Floats) -> Floats:
    """Values at stations (stations, ...) between them, at shares u (K,) of the length, (K, ...)."""
    place = np.clip(u, 0.0, 1.0) * (len(values) - 1)
    low = np.minimum(place.astype(np.int64), len(values) - 2)
    part = (place - low)[:, None, None]
    return np.asarray(values[low] + part * (values[low + 1] - values[low]))


def _round(values: Floats, angle: Floats) -> Floats:
    """Values at sides (K, sides, ...) between them, at angles (A,) [rad], (K, A, ...)."""
    sides = values.shape[1]
    turns = angle * (sides / (2.0 * np.pi))
    side = np.floor(turns).astype(np.int64)
    part = (turns - side)[:, None]
    return np.asarray((1.0 - part) * values[:, side % sides] + part * values[:, (side + 1) % sides])
