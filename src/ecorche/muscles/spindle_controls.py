"""The curves of a spindle edited by one control value at a time, so that they stay curves of a spindle.

Text 000, section 3.1: the control points are constrained. The two halves of each curve meet at the belly in
value and slope, half-axes are never negative, and the sweep is zero at origin and insertion. So the two
values
beside the belly move against each other, the belly's own takes both along, and the others move alone. A value
that would have to be negative is held at zero, and that is told.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecorche.errors import EcorcheError

Floats = npt.NDArray[np.float64]

THINNEST = 1e-5
"""The least half-axis of a belly [m]: no thickness at all is no muscle."""


@dataclass(frozen=True, eq=False)
class Curve:
    """Control values of one curve after an edit, and what was held back, a sentence each."""

    values: Floats
    held: tuple[str, ...] = ()


def moved_thickness(thickness: Floats, belly: float, half: int, number: int, value: float) -> Curve:
    """A thickness curve with one control value changed.

    Args:
        thickness: Control values of the half-axis across [m], shape (2, 4).
        belly: Where the halves meet, 0 to 1.
        half: 0 from origin to belly, 1 from there to the insertion.
        number: Of the control value in its half, 0 to 3.
        value: What it shall be [m].
    """
    _require_control(half, number)
    _require_number(value)
    held = []
    if value < 0.0:
        value, held = 0.0, ["held at 0 mm: a half-axis is not negative"]
    if _is_belly(half, number) and value < THINNEST:
        value, held = THINNEST, [f"held at {1e3 * THINNEST:g} mm: a belly has some thickness"]
    found = _moved(np.array(thickness, np.float64), belly, half, number, value)
    at_belly = found[0, 3]
    if found[0, 2] < 0.0 or found[1, 1] < 0.0:
        # the slope at the belly as steep as both values beside it allow
        slope = float(np.clip(_slope(found, belly), -at_belly / (1.0 - belly), at_belly / belly))
        found = _with_slope(found, belly, slope)
        held.append("the value on the other side of the belly is held at 0 mm")
    return Curve(found, tuple(held))


def moved_sweep(
    sweep: Floats, belly: float, half: int, number: int, outwards: float, sideways: float
) -> Curve:
    """A sweep curve with one control offset changed; arguments as for `moved_thickness`, (2, 4, 2) [m]."""
    _require_control(half, number)
    _require_number(outwards)
    _require_number(sideways)
    if (half, number) in ((0, 0), (1, 3)):
        raise EcorcheError(
            f"the sweep is zero at the {'insertion' if half else 'origin'}",
            remedy="Move the attachment itself instead",
        )
    found = np.array(sweep, np.float64)
    for axis, value in enumerate((outwards, sideways)):
        found[:, :, axis] = _moved(found[:, :, axis], belly, half, number, value)
    return Curve(found)


def with_belly(thickness: Floats, sweep: Floats, before: float, after: float) -> tuple[Curve, Curve]:
    """Both curves of a spindle whose belly's centre moves from one share of its length to another.

    All control values but those beside the belly stay; there the slope per length stays, so that the halves
    still meet without a crease.
    """
    if not 0.0 < after < 1.0:
        raise EcorcheError(
            f"the belly's centre cannot lie at {after:g} of the length",
            remedy="Give a share between 0 (origin) and 1 (insertion), neither of them",
        )
    slope = _slope(thickness, before)
    top = float(thickness[0, 3])
    bound = float(np.clip(slope, -top / (1.0 - after), top / after))
    held = () if bound == slope else ("the curve is less steep at the belly, to stay above 0 mm",)
    swept = np.array(sweep, np.float64)
    for axis in (0, 1):
        swept[:, :, axis] = _with_slope(swept[:, :, axis], after, _slope(swept[:, :, axis], before))
    return Curve(_with_slope(np.array(thickness, np.float64), after, bound), held), Curve(swept)


def _moved(values: Floats, belly: float, half: int, number: int, value: float) -> Floats:
    found = values.copy()
    if _is_belly(half, number):
        slope = _slope(values, belly)
        found[0, 3] = found[1, 0] = value
        return _with_slope(found, belly, slope)
    found[half, number] = value
    if (half, number) == (0, 2):
        return _with_slope(found, belly, (found[0, 3] - value) / belly)
    if (half, number) == (1, 1):
        return _with_slope(found, belly, (value - found[1, 0]) / (1.0 - belly))
    return found


def _slope(values: Floats, belly: float) -> float:
    """A third of the slope at the belly, per unit of length, from the longer half: it is told more
    exactly."""
    if belly >= 0.5:
        return float((values[0, 3] - values[0, 2]) / belly)
    return float((values[1, 1] - values[1, 0]) / (1.0 - belly))


def _with_slope(values: Floats, belly: float, slope: float) -> Floats:
    found = values.copy()
    found[0, 2] = found[0, 3] - slope * belly
    found[1, 1] = found[1, 0] + slope * (1.0 - belly)
    # what was held at zero is not left a rounding below it
    found[[0, 1], [2, 1]] = np.where(np.abs(found[[0, 1], [2, 1]]) < 1e-15, 0.0, found[[0, 1], [2, 1]])
    return found


def _is_belly(half: int, number: int) -> bool:
    return (half, number) in ((0, 3), (1, 0))


def _require_control(half: int, number: int) -> None:
    if half not in (0, 1) or number not in (0, 1, 2, 3):
        raise EcorcheError(
            f"there is no control value {number} in half {half}",
            remedy="Choose half 0 (origin) or 1 (insertion) and a value from 0 to 3",
        )


def _require_number(value: float) -> None:
    if not np.isfinite(value):
        raise EcorcheError(f"{value} is no length", remedy="Give a number, in metres")
