"""Measured curves smoothed without delay, and their rates.

A Butterworth low-pass of the second order, run forwards and then backwards: together of the fourth order, and
without delay. Two runs would let through half, not 1/√2, of a wave at the cut-off of each; that of each run
is therefore raised, so that what is asked for is the frequency at which the *result* has 1/√2 of a wave:

    tan(π f_run / rate) = tan(π f / rate) / (2^(1/2) − 1)^(1/4)

Rates are those of the quintic spline through the samples, so that accelerations are smooth.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.interpolate import make_interp_spline
from scipy.signal import butter, sosfiltfilt

from ecorche.errors import MotionError

Floats = npt.NDArray[np.float64]

ORDER = 2
"""Of each of the two runs."""
LEAST_SAMPLES = 13
"""Shorter curves are all ends."""
MIRRORED = 5.0
"""Waves at the cut-off by which a curve is carried on beyond its ends, so that what is straight stays so."""


def run_cutoff(cutoff: float, rate: float) -> float:
    """The cut-off [Hz] of each run, so that both together have the cut-off asked for [Hz]."""
    raised = np.tan(np.pi * cutoff / rate) / (np.sqrt(2.0) - 1.0) ** (1.0 / (2 * ORDER))
    return float(np.arctan(raised) * rate / np.pi)


def low_pass(values: npt.ArrayLike, rate: float, cutoff: float) -> Floats:
    """Curves (samples, ...) at a rate [Hz], without what is faster than the cut-off [Hz]."""
    curves = np.asarray(values, np.float64)
    if not 0.0 < cutoff < 0.5 * rate:
        raise MotionError(
            f"a cut-off of {cutoff:g} Hz does not suit {rate:g} samples a second",
            remedy=f"Choose one above 0 and below {0.5 * rate:g} Hz",
        )
    if len(curves) < LEAST_SAMPLES:
        raise MotionError(
            f"{len(curves)} samples are too few to smooth", remedy=f"Give {LEAST_SAMPLES} or more"
        )
    _require_whole(curves)
    sections = butter(ORDER, run_cutoff(cutoff, rate), fs=rate, output="sos")
    beyond = min(len(curves) - 1, int(np.ceil(MIRRORED * rate / cutoff)))
    return np.asarray(sosfiltfilt(sections, curves, axis=0, padtype="odd", padlen=beyond), np.float64)


def rates(times: Floats, values: npt.ArrayLike) -> tuple[Floats, Floats]:
    """First and second derivative of curves (samples, ...) by time [s], both like the curves."""
    curves = np.asarray(values, np.float64)
    if len(curves) < 6:
        raise MotionError(f"{len(curves)} samples are too few for accelerations", remedy="Give six or more")
    _require_whole(curves)
    spline = make_interp_spline(times, curves, k=5, axis=0)
    return np.asarray(spline(times, nu=1)), np.asarray(spline(times, nu=2))


def _require_whole(curves: Floats) -> None:
    bad = ~np.isfinite(curves).reshape(len(curves), -1).all(axis=1)
    if bad.any():
        raise MotionError(
            f"sample {int(np.argmax(bad))} of a curve to smooth is a gap ({int(bad.sum())} are)",
            remedy="Solve for the pose first, which takes gaps, and smooth the coordinates",
        )
