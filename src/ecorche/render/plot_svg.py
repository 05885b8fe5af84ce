"""Plots as SVG: curves over a time that all plots of a page share, with a cursor that its script moves."""

from __future__ import annotations

import html
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecorche.biomech.result_panels import Panel

Floats = npt.NDArray[np.float64]

WIDTH, HEIGHT = 270, 150
LEFT, RIGHT, TOP, BOTTOM = 44, 12, 15, 30
"""Of the frame in which curves are drawn, in the plot's own units; the page's script knows them too."""


@dataclass(frozen=True, eq=False)
class TimeAxis:
    """The horizontal axis of all plots of a page.

    Attributes:
        label: With its unit.
        low, high: Its ends, in that unit.
        marks: Moments that are marked by a line, in that unit, with a few letters.
        unsure: Spans that are hatched, in that unit.
    """

    label: str
    low: float
    high: float
    marks: tuple[tuple[float, str], ...] = ()
    unsure: tuple[tuple[float, float], ...] = ()

    def at(self, value: float) -> float:
        """Where a value is drawn."""
        return LEFT + (value - self.low) / (self.high - self.low) * (WIDTH - LEFT - RIGHT)


def plot(panel: Panel, axis: TimeAxis) -> str:
    """A panel as an SVG element; numbers are those of the panel, evenly spaced over the axis."""
    low, high = _limits(panel)
    ticks = _ticks(low, high)
    low, high = min(low, ticks[0]), max(high, ticks[-1])

    def y(value: float) -> float:
        return TOP + (high - value) / (high - low) * (HEIGHT - TOP - BOTTOM)

    floor, right = HEIGHT - BOTTOM, WIDTH - RIGHT
    name = html.escape(panel.title)
    parts = [f'<svg class="plot" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{name}">']
    for begin, end in axis.unsure:
        a, b = axis.at(max(begin, axis.low)), axis.at(min(end, axis.high))
        parts.append(
            f'<rect class="unsure" x="{a:.1f}" y="{TOP}" width="{b - a:.1f}" height="{floor - TOP}"/>'
        )
    for tick in ticks:
        kind = "zero" if tick == 0.0 else "grid"
        parts.append(f'<path class="{kind}" d="M{LEFT} {y(tick):.1f}H{right}"/>')
        parts.append(f'<text class="tick end" x="{LEFT - 4}" y="{y(tick) + 3:.1f}">{_written(tick)}</text>')
    for moment, letters in axis.marks:
        x = axis.at(moment)
        parts.append(f'<path class="mark" d="M{x:.1f} {TOP}V{floor}"/>')
        parts.append(f'<text class="tick mid" x="{x:.1f}" y="{TOP - 4}">{html.escape(letters)}</text>')
    for value, words in panel.guides:
        if low <= value <= high:
            below = y(value) < TOP + 12  # where letters of marks stand
            at = y(value) + (9 if below else -3)
            parts.append(f'<path class="guide" d="M{LEFT} {y(value):.1f}H{right}"/>')
            parts.append(f'<text class="tick end" x="{right - 2}" y="{at:.1f}">{html.escape(words)}</text>')
    for curve in panel.curves:
        path = _path(np.linspace(LEFT, right, len(curve.values)), curve.values, y)
        if curve.kind == "emg":
            parts.append(f'<path class="area" d="{path}V{y(0.0):.1f}H{LEFT}Z"/>')
        parts.append(f'<path class="curve {curve.kind}" d="{path}"/>')
    parts.append(f'<path class="axis" d="M{LEFT} {TOP}V{floor}H{right}"/>')
    parts.extend(
        f'<text class="tick mid" x="{axis.at(tick):.1f}" y="{floor + 12}">{_written(tick)}</text>'
        for tick in _ticks(axis.low, axis.high)
        if axis.low - 1e-9 <= tick <= axis.high + 1e-9
    )
    middle = 0.5 * (LEFT + right)
    parts.append(
        f'<text class="label mid" x="{middle:.0f}" y="{HEIGHT - 5}">{html.escape(axis.label)}</text>'
        f'<text class="label mid" transform="translate(11 {0.5 * (TOP + floor):.0f}) rotate(-90)">'
        f"{html.escape(panel.unit)}</text>"
        f'<path class="cursor" d="M0 {TOP}V{floor}" transform="translate({LEFT} 0)"/></svg>'
    )
    return "".join(parts)


def _path(x: Floats, values: Floats, y: Callable[[float], float]) -> str:
    """The commands of a line; a gap where there is no number."""
    found, pen = [], "M"
    for at, value in zip(x, values, strict=True):
        if np.isfinite(value):
            found.append(f"{pen}{at:.1f} {y(float(value)):.1f}")
            pen = "L"
        else:
            pen = "M"
    return "".join(found)


def _limits(panel: Panel) -> tuple[float, float]:
    if panel.limits is not None:
        return panel.limits
    values = np.concatenate([curve.values for curve in panel.curves] or [np.zeros(1)])
    values = values[np.isfinite(values)]
    low, high = (float(f(values, initial=0.0)) for f in (np.min, np.max))
    return (low, high) if high - low > 1e-9 else (low - 1.0, high + 1.0)


def _ticks(low: float, high: float) -> list[float]:
    """Three to six round numbers that hold a range."""
    rough = (high - low) / 4.0
    power = 10.0 ** np.floor(np.log10(rough))
    step = next(s * power for s in (1.0, 2.0, 2.5, 5.0, 10.0) if s * power >= rough * (1.0 - 1e-9))
    first, last = np.floor(low / step + 1e-9), np.ceil(high / step - 1e-9)
    return [float(round(k * step, 10)) for k in np.arange(first, last + 1)]


def _written(value: float) -> str:
    return f"{value:g}".replace("-", "−")
