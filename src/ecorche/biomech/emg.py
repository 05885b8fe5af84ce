"""Measured muscle activity (EMG): from the raw signal to activation of named muscles.

A raw signal is (1) band-passed, which takes away drift and noise, (2) rectified, (3) low-passed, which
leaves its envelope, (4) divided by its value at full effort, or where none was measured by its largest value.
Filters are Butterworth's, run forwards and backwards, so that nothing is late; the order stated is that of
one run. Signals that are envelopes already (never negative but for what a filter swings below zero, with next
to nothing above `FAST`) keep their shape: they are only normalised, and the result says so.

Which muscles a channel lies on, a person says in a table, one row a channel and muscle:

    channel,muscle,side
    gastrocnemius,gasmed,right
    gastrocnemius,gaslat,right

The muscle is the model's name without its side; the side is right, left or both, and is appended as ``_r`` or
``_l``. With an empty side the name stands as it is written.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy import signal

from ecorche.base.names import suggestion
from ecorche.errors import EcorcheError, ReadError

Floats = npt.NDArray[np.float64]
Kind = Literal["bandpass", "lowpass"]

BAND, ENVELOPE, ORDER = (20.0, 450.0), 6.0, 4
"""Corners of the band-pass and the low-pass [Hz], and the order of both."""
FAST, MOST_FAST = 40.0, 1e-3
"""An envelope has at most this share of its variance above so many hertz."""
SWING = 0.05
"""How far below zero an envelope may swing, as a share of its largest value; it is cut there, and told."""
SIDES = {"right": ("_r",), "left": ("_l",), "both": ("_r", "_l"), "": ("",)}


@dataclass(frozen=True, eq=False)
class Emg:
    """Envelopes of channels.

    Attributes:
        times: [s], (samples,).
        channels: Their names.
        activity: 0 to 1, (samples, channels).
        notes: What was done to each channel, in words.
    """

    times: Floats
    channels: tuple[str, ...]
    activity: Floats
    notes: tuple[str, ...]


def envelopes(
    times: npt.ArrayLike,
    signals: npt.ArrayLike,
    channels: Sequence[str],
    *,
    full_effort: Mapping[str, float] | None = None,
    band: tuple[float, float] = BAND,
    low_pass: float = ENVELOPE,
) -> Emg:
    """Envelopes, 0 to 1, of raw or already enveloped signals.

    Args:
        times: Evenly spaced [s], (samples,).
        signals: In any unit, (samples, channels).
        channels: Their names.
        full_effort: Envelope of channels at full effort, in the signal's unit; others by their largest value.
        band: Corners of the band-pass [Hz].
        low_pass: Corner of the low-pass [Hz].
    """
    when, raw = np.asarray(times, np.float64), np.asarray(signals, np.float64)
    rate = _check(when, raw, channels)
    for name in full_effort or {}:
        if name not in channels:
            raise EcorcheError(f"no channel {name!r}", where="full effort", remedy=suggestion(name, channels))
    activity, notes = np.empty(raw.shape), []
    for c, name in enumerate(channels):
        column = raw[:, c]
        if is_envelope(column, rate):
            shape, what = np.maximum(column, 0.0), "is an envelope already, kept as it is"
            if column.min() < 0.0:
                what += f" but for {-column.min() / column.max():.1%} of its largest value below zero, cut"
        else:
            if not 0.0 < low_pass < band[0] < band[1] < 0.5 * rate:
                raise EcorcheError(
                    f"a band from {band[0]:g} to {band[1]:g} Hz and a low-pass of {low_pass:g} Hz"
                    f" do not fit {rate:g} samples a second",
                    where=f"EMG channel {name!r}",
                    remedy=f"Choose low-pass < band, and a band below {0.5 * rate:g} Hz",
                )
            passed = _filtered(column, band, "bandpass", rate)
            shape = np.maximum(_filtered(np.abs(passed), low_pass, "lowpass", rate), 0.0)
            what = f"band-passed {band[0]:g} to {band[1]:g} Hz, rectified, low-passed {low_pass:g} Hz"
        top = float(shape.max()) if full_effort is None or name not in full_effort else full_effort[name]
        if not (np.isfinite(top) and top > 0.0):
            raise EcorcheError(
                "it has no activity to normalise by", where=f"EMG channel {name!r}", remedy="Leave it out"
            )
        if shape.max() > top * (1.0 + 1e-9):
            raise EcorcheError(
                f"its envelope reaches {shape.max():.4g}, above its full effort {top:.4g}",
                where=f"EMG channel {name!r}, {when[int(np.argmax(shape))]:.4g} s",
                remedy="Give the larger value as full effort, or cut the artefact out",
            )
        activity[:, c] = np.minimum(shape / top, 1.0)
        by = "full effort" if full_effort is not None and name in full_effort else "its largest value"
        notes.append(f"{name}: {what}, normalised by {by} ({top:.4g})")
    return Emg(when, tuple(channels), activity, tuple(notes))


def is_envelope(column: Floats, rate: float) -> bool:
    """Whether a signal is hardly ever negative and has next to nothing above `FAST` hertz."""
    if column.min() < -SWING * column.max():
        return False
    if 0.5 * rate <= FAST:
        return True
    window = 0.5 - 0.5 * np.cos(2.0 * np.pi * np.arange(len(column)) / len(column))
    line = np.polynomial.Polynomial.fit(np.arange(len(column)), column, 1)
    power = np.abs(np.fft.rfft(window * (column - line(np.arange(len(column)))))) ** 2
    frequency, total = np.fft.rfftfreq(len(column), 1.0 / rate), float(power.sum())
    return total == 0.0 or float(power[frequency > FAST].sum()) <= MOST_FAST * total


def _filtered(column: Floats, corner: float | tuple[float, float], kind: Kind, rate: float) -> Floats:
    sections: Any = signal.butter(ORDER, corner, kind, fs=rate, output="sos")
    return np.asarray(signal.sosfiltfilt(sections, column))


def _check(times: Floats, raw: Floats, channels: Sequence[str]) -> float:
    """The sample rate [Hz] of signals that can be used."""
    if times.ndim != 1 or raw.shape != (len(times), len(channels)) or len(times) < 64:
        raise EcorcheError(
            f"{times.shape} times and signals {raw.shape} do not fit {len(channels)} channels",
            where="EMG",
            remedy="Give at least 64 times and signals (samples, channels)",
        )
    if not np.isfinite(raw).all():
        sample, channel = (int(k) for k in np.argwhere(~np.isfinite(raw))[0])
        raise EcorcheError(
            "the signal is not a number",
            where=f"EMG channel {channels[channel]!r}, {times[sample]:.6g} s",
            remedy="Cut the channel or the time out",
        )
    steps = np.diff(times)
    if not (np.isfinite(steps).all() and steps.min() > 0.0 and np.ptp(steps) < 0.01 * steps.mean()):
        place = int(np.argmax(np.abs(steps - np.median(steps)))) if np.isfinite(steps).all() else 0
        raise EcorcheError(
            "times are not evenly spaced", where=f"EMG, {times[place]:.6g} s", remedy="Resample the signals"
        )
    return float(1.0 / steps.mean())


@dataclass(frozen=True)
class Placement:
    """A channel that lies on a muscle of a model."""

    channel: str
    muscle: str


def read_placements(path: Path) -> tuple[Placement, ...]:
    """The table of channels and muscles of a CSV file with the columns channel, muscle, side."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        raise ReadError(
            "the table cannot be read", where=path, remedy="Give a CSV file in UTF-8"
        ) from problem
    rows = list(csv.reader(text.splitlines()))
    if not rows or [cell.strip() for cell in rows[0]] != ["channel", "muscle", "side"]:
        raise ReadError(
            "the table has no columns channel, muscle, side",
            where=f"{path}, line 1",
            remedy="Begin it with the line channel,muscle,side",
        )
    placements: list[Placement] = []
    for line, row in enumerate(rows[1:], start=2):
        cells = [cell.strip() for cell in row]
        if not any(cells):
            continue
        where = f"{path}, line {line}"
        if len(cells) != 3 or not cells[0] or not cells[1]:
            raise ReadError(f"{row} is not channel, muscle, side", where=where, remedy="Write all three")
        if cells[2] not in SIDES:
            raise ReadError(
                f"the side {cells[2]!r} is unknown", where=where, remedy="Write right, left, both, or nothing"
            )
        for ending in SIDES[cells[2]]:
            placement = Placement(cells[0], cells[1] + ending)
            if placement in placements:
                raise ReadError(
                    f"{cells[0]!r} lies on {placement.muscle!r} twice", where=where, remedy="Leave one"
                )
            placements.append(placement)
    return tuple(placements)


def measured_activation(
    emg: Emg, placements: Sequence[Placement], muscles: Sequence[str], times: npt.ArrayLike
) -> Floats:
    """Activation of all muscles at some times, NaN where nothing was measured, (frames, M).

    Muscles under several channels get their mean.
    """
    when = np.asarray(times, np.float64)
    if when.size and (when.min() < emg.times[0] - 1e-9 or when.max() > emg.times[-1] + 1e-9):
        raise EcorcheError(
            f"the motion runs from {when.min():.4g} to {when.max():.4g} s",
            where=f"EMG, {emg.times[0]:.4g} to {emg.times[-1]:.4g} s",
            remedy="Cut the motion to the time of the EMG",
        )
    sums, counts = np.zeros((len(when), len(muscles))), np.zeros(len(muscles))
    for one in placements:
        for name, known, what in ((one.channel, emg.channels, "channel"), (one.muscle, muscles, "muscle")):
            if name not in known:
                raise EcorcheError(f"no {what} {name!r}", where="EMG table", remedy=suggestion(name, known))
        m = list(muscles).index(one.muscle)
        sums[:, m] += np.interp(when, emg.times, emg.activity[:, emg.channels.index(one.channel)])
        counts[m] += 1.0
    return np.asarray(np.where(counts > 0.0, sums / np.maximum(counts, 1.0), np.nan))
