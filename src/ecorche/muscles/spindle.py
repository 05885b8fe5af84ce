"""The spindle: a muscle's shape from two curves and a few numbers: ellipses swept along its path.

J. Ramos and C. Larboulette, "A Muscle Model for Enhanced Character Skinning", 2013, section 3.1: a
thickness curve and a sweeping curve, each two cubic Béziers joined at the belly centre. Changed here:
both halves are evaluated in one branch-free form about the belly, ``b + m w + w₋²(P + Q w₋) + w₊²(R + S w₊)``
with ``w = t − t_c``, ``w₋ = min(w, 0)``, ``w₊ = max(w, 0)``. It equals the two Béziers, needs the same six
numbers as a cubic with a correction behind the belly, and does not cancel when the belly lies near an end.

Section frame: ``along`` from origin to insertion, ``out`` = S_d, ``side`` = S = along × out, so that
(out, side, along) is right-handed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ecorche.errors import EcorcheError

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

JOIN_TOLERANCE = 1e-6
"""How far the two halves may miss each other at the belly, as a part of the largest control value: numbers
typed or rounded in a file still pass."""


@dataclass(frozen=True, eq=False)
class Spindles:
    """The shapes of some muscles at bind; over M muscles, in metres.

    Control values lie evenly over each half of the muscle, origin half first. At the belly the halves meet
    in value and slope: ``thickness[:, 0, 3] == thickness[:, 1, 0]``, and the controls beside it are in line.

    Attributes:
        thickness: Half-axis along S [m], control values, shape (M, 2, 4), none negative.
        sweep: Offset of the section's centre from the path along (S_d, S) [m], shape (M, 2, 4, 2), zero
            at both ends of the muscle.
        belly: Where the belly centre lies between origin 0 and insertion 1, shape (M,).
        scale: Half-axis along S_d as a multiple of the one along S, shape (M,).
        bind_length: Length of the path at bind [m], shape (M,).
    """

    thickness: Floats
    sweep: Floats
    belly: Floats
    scale: Floats
    bind_length: Floats

    def __post_init__(self) -> None:
        count = len(self.belly)
        for name, tail in (
            ("thickness", (2, 4)),
            ("sweep", (2, 4, 2)),
            ("belly", ()),
            ("scale", ()),
            ("bind_length", ()),
        ):
            value = getattr(self, name)
            if value.shape != (count, *tail) or value.dtype != np.float64:
                raise EcorcheError(
                    f"the spindles' {name} is {value.dtype} of shape {value.shape}",
                    remedy=f"Give float64 of shape {(count, *tail)}",
                )
            refuse_where(
                ~np.isfinite(value.reshape(count, *tail, 1)).all(axis=tuple(range(1, value.ndim + 1))),
                f"the {name} is not a finite number",
                "Give finite numbers, in metres",
            )
        refuse_where(
            (self.belly <= 0.0) | (self.belly >= 1.0),
            "the belly centre does not lie between origin and insertion",
            "Give a belly above 0 (origin) and below 1 (insertion)",
        )
        refuse_where(
            self.scale <= 0.0, "the scale of its sections is not positive", "Give a scale above 0; 1 is round"
        )
        refuse_where(
            self.bind_length <= 0.0,
            "its length at bind is not positive",
            "Move origin and insertion apart; lengths are in metres",
        )
        refuse_where(
            self.thickness.min(axis=(1, 2)) < 0.0,
            "a control value of its thickness is negative",
            "Give thicknesses of 0 or more, and a smaller slope at the belly",
        )
        refuse_where(
            self.thickness[:, 0, 3] == 0.0, "its belly has no thickness", "Give a belly thickness above 0"
        )
        refuse_where(
            (self.sweep[:, 0, 0] != 0.0).any(axis=1) | (self.sweep[:, 1, 3] != 0.0).any(axis=1),
            "its sweep is not zero at origin and insertion",
            "Give zero offsets there: move the attachment instead",
        )
        for name, controls in (
            ("thickness", self.thickness[..., None]),
            ("sweep", self.sweep),
        ):
            size = np.abs(controls).max(axis=(1, 2, 3))
            refuse_where(
                (np.abs(controls[:, 0, 3] - controls[:, 1, 0]) > JOIN_TOLERANCE * size[:, None]).any(axis=1),
                f"the two halves of its {name} do not meet at the belly",
                "Make the last control value of the origin half and the first of the insertion half equal",
            )
            left = (controls[:, 0, 3] - controls[:, 0, 2]) * (1.0 - self.belly[:, None])
            right = (controls[:, 1, 1] - controls[:, 1, 0]) * self.belly[:, None]
            refuse_where(
                (np.abs(left - right) > JOIN_TOLERANCE * size[:, None]).any(axis=1),
                f"its {name} has a crease at the belly",
                "Put the control values before, at and after the belly in one line",
            )

    def __len__(self) -> int:
        return len(self.belly)

    def thickness_at(self, t: npt.ArrayLike) -> Floats:
        """Half-axis along S at bind [m], shape (M, K), at t of shape (K,) or (M, K), held within 0 … 1."""
        return curve(self.thickness, self.belly).at(t)

    def sweep_at(self, t: npt.ArrayLike) -> Floats:
        """Offset of the section's centre along (S_d, S) [m], shape (M, K, 2), at t (K,) or (M, K)."""
        both = curve(np.moveaxis(self.sweep, -1, 0), self.belly).at(t)
        return np.moveaxis(both, 0, -1)


class Curve(NamedTuple):
    """Curves of two cubics in the branch-free form about the belly; fields of shape (…, M)."""

    belly: Floats
    value: Floats  # at the belly
    slope: Floats  # there, per unit of t
    origin_square: Floats  # what is added before the belly, by powers of t - belly
    origin_cube: Floats
    insertion_square: Floats  # and after it
    insertion_cube: Floats

    def at(self, t: npt.ArrayLike) -> Floats:
        """Values (…, M, K) at t of shape (K,) or (…, M, K), held within 0 … 1."""
        belly, value, slope, square_o, cube_o, square_i, cube_i = (field[..., None] for field in self)
        w = np.clip(np.asarray(t, np.float64), 0.0, 1.0) - belly
        before, after = np.minimum(w, 0.0), np.maximum(w, 0.0)
        result: Floats = value + slope * w
        result += before * before * (square_o + cube_o * before)
        result += after * after * (square_i + cube_i * after)
        return result


def curve(controls: Floats, belly: Floats) -> Curve:
    """The branch-free form of control values (…, M, 2, 4) with belly centres (M,)."""
    p0, p1, p2, p3 = np.moveaxis(controls[..., 0, :], -1, 0)
    q0, q1, q2, q3 = np.moveaxis(controls[..., 1, :], -1, 0)
    rest = 1.0 - belly
    return Curve(
        belly=belly,
        value=p3,
        slope=3.0 * (p3 - p2) / belly,
        origin_square=3.0 * (p3 - 2.0 * p2 + p1) / belly**2,
        origin_cube=(p3 - p0 + 3.0 * (p1 - p2)) / belly**3,
        insertion_square=3.0 * (q0 - 2.0 * q1 + q2) / rest**2,
        insertion_cube=(q3 - q0 + 3.0 * (q1 - q2)) / rest**3,
    )


def spindle_from_numbers(
    length: npt.ArrayLike,
    thickness: npt.ArrayLike,
    *,
    belly: npt.ArrayLike = 0.5,
    scale: npt.ArrayLike = 1.0,
    tendon_origin: npt.ArrayLike = 0.0,
    tendon_insertion: npt.ArrayLike = 0.0,
    fullness_origin: npt.ArrayLike = 0.5,
    fullness_insertion: npt.ArrayLike = 0.5,
    slope: npt.ArrayLike = 0.0,
    arch: npt.ArrayLike = 0.0,
    lean: npt.ArrayLike = 0.0,
) -> Spindles:
    """Muscle shapes from a few numbers each; every argument is one number or one for each muscle.

    Args:
        length: From origin to insertion at bind [m].
        thickness: Half-axis of the belly along S [m]: half the muscle's width if `scale` is below 1.
        belly: Where the belly centre lies, between 0 at the origin and 1 at the insertion.
        scale: Half-axis along S_d as a multiple of the one along S.
        tendon_origin: Half-axis along S where the muscle begins [m].
        tendon_insertion: The same where it ends [m].
        fullness_origin: 0 for a long thin tendon at the origin, 1 for a half that fills out at once.
        fullness_insertion: The same at the insertion.
        slope: Change of thickness at the belly, per unit of t [m]; 0 makes the belly the thickest place.
        arch: How far the belly's centre lies off the path along S_d [m].
        lean: The same along S [m].
    """
    numbers = (
        length, thickness, belly, scale, tendon_origin, tendon_insertion, fullness_origin,
        fullness_insertion, slope, arch, lean,
    )  # fmt: skip
    rows = [np.atleast_1d(np.asarray(number, np.float64)) for number in numbers]
    try:
        rows = [row.copy() for row in np.broadcast_arrays(*rows)]
    except ValueError:
        sizes = sorted({row.shape for row in rows})
        raise EcorcheError(
            f"the numbers of the spindles are of different shapes {sizes}",
            remedy="Give one number for all muscles, or one for each",
        ) from None
    if rows[0].ndim != 1:
        raise EcorcheError(
            f"the numbers of the spindles have shape {rows[0].shape}",
            remedy="Give one number for all muscles, or one for each",
        )
    lengths, b, t_c, scales, begin, end, full_o, full_i, m, out, side = rows
    for full in (full_o, full_i):
        refuse_where(
            ~((full >= 0.0) & (full <= 1.0)),
            "its fullness is not within 0 and 1",
            "Give 0 (thin) to 1 (full)",
        )
    before = np.stack([begin, begin + full_o * (b - begin), b - m * t_c / 3.0, b], axis=1)
    after = np.stack([b, b + m * (1.0 - t_c) / 3.0, end + full_i * (b - end), end], axis=1)
    # each half of the arch is the parabola that leaves the path's end and is level at the belly
    rise = np.stack([out, side], axis=1)[:, None] * np.array([0.0, 2.0 / 3.0, 1.0, 1.0])[:, None]
    return Spindles(
        thickness=np.stack([before, after], axis=1),
        sweep=np.stack([rise, rise[:, ::-1]], axis=1),
        belly=t_c,
        scale=scales,
        bind_length=lengths,
    )


def joined(parts: Sequence[Spindles]) -> Spindles:
    """The muscles of several sets, one set after another."""
    return Spindles(
        thickness=np.concatenate([part.thickness for part in parts]),
        sweep=np.concatenate([part.sweep for part in parts]),
        belly=np.concatenate([part.belly for part in parts]),
        scale=np.concatenate([part.scale for part in parts]),
        bind_length=np.concatenate([part.bind_length for part in parts]),
    )


def refuse_where(bad: Bools, what: str, remedy: str) -> None:
    """Refuse a set of muscles if ``bad`` (…, M) holds anywhere, naming the first muscle."""
    if bad.any():
        place = np.unravel_index(int(np.argmax(bad)), bad.shape)
        frame = "" if bad.ndim == 1 else f", frame {', '.join(str(int(i)) for i in place[:-1])}"
        others = int(bad.sum()) - 1
        more = f" (and {others} more)" if others else ""
        raise EcorcheError(f"{what}{more}", where=f"muscle {int(place[-1])}{frame}", remedy=remedy)
