"""Colour bars: numbers as colours on a surface, and the bar with words and units that explains them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecorche.errors import EcorcheError
from ecorche.render.sheet import INK, Picture, require_pillow, text_font

Colours = npt.NDArray[np.uint8]
Anchors = tuple[tuple[int, int, int], ...]

_SUNK: Anchors = ((22, 44, 110), (46, 104, 178), (134, 178, 214))
_RISEN: Anchors = ((238, 170, 118), (204, 78, 52), (118, 14, 34))
INWARD_TO_OUTWARD: Anchors = (*_SUNK, (230, 230, 230), *_RISEN)
"""Blue where the skin sank, pale grey where it stayed, red where it rose; alike in lightness both ways."""

REST_TO_FULL: Anchors = ((62, 74, 104), (118, 72, 124), (190, 62, 84), (238, 116, 44), (255, 216, 92))
"""From a muscle at rest, cool and dark, to a fully active one, warm and bright."""

YELLOW_TO_RED: Anchors = ((255, 240, 170), (254, 205, 96), (247, 140, 50), (214, 47, 39), (128, 0, 38))
"""From a limb that did not grow to one that grew most, ever darker."""
BLANK = (176, 180, 186)
"""Of surface that was not measured."""


@dataclass(frozen=True)
class ColourBar:
    """A range of numbers and the colours they are shown in.

    Attributes:
        label: What the numbers are, with their unit.
        low, high: The range; numbers beyond are shown as its ends, which the bar then says.
        anchors: sRGB colours at even steps from low to high, linear between.
        ticks: How many numbers stand under the bar.
        signed: Whether positive numbers are written with their sign.
        exceeded: Whether there are numbers beyond the range.
    """

    label: str
    low: float
    high: float
    anchors: Anchors
    ticks: int = 5
    signed: bool = False
    exceeded: bool = False

    def colours(self, values: npt.ArrayLike) -> Colours:
        """sRGB colours (..., 3) of numbers (...); NaN is `BLANK`."""
        share = (np.asarray(values, np.float64) - self.low) / (self.high - self.low)
        table = np.asarray(self.anchors, np.float64)
        steps = np.arange(len(table)) / (len(table) - 1)
        found = np.stack([np.rint(np.interp(share, steps, c)) for c in table.T], axis=-1)
        return np.where(np.isnan(share)[..., None], BLANK, found).astype(np.uint8)

    def numbers(self) -> list[str]:
        """What is written under the bar, low to high."""
        values = np.linspace(self.low, self.high, self.ticks)
        step = abs(values[1] - values[0])
        digits = next(d for d in range(7) if abs(np.round(step, d) - step) < 1e-6 * step or d == 6)
        texts = [_written(value, digits, self.signed) for value in values]
        if self.exceeded:
            texts[0], texts[-1] = f"≤ {texts[0]}", f"≥ {texts[-1]}"
        return texts

    def drawn(self, height: int) -> Picture:
        """The bar with its label and numbers, dark on white, ``height`` pixels high."""
        image, draw_module, _ = require_pillow()
        size = 0.28 * height
        font = text_font(size)
        length = round(7.0 * height)
        margin = round(2.2 * size)
        picture = image.new("RGB", (length + 2 * margin, height), "white")
        draw = draw_module.Draw(picture)
        draw.text((margin, 0.18 * height), self.label, fill=INK, font=font, anchor="lm")
        top, bottom = round(0.38 * height), round(0.6 * height)
        ramp = self.colours(np.linspace(self.low, self.high, length))
        picture.paste(image.fromarray(np.tile(ramp, (bottom - top, 1, 1))), (margin, top))
        for place, text in zip(np.linspace(0, length - 1, self.ticks), self.numbers(), strict=True):
            x = margin + round(place)
            draw.line([(x, bottom), (x, bottom + round(0.05 * height))], fill=INK)
            draw.text((x, 0.82 * height), text, fill=INK, font=font, anchor="mm")
        return np.asarray(picture)


def _written(value: float, digits: int, signed: bool) -> str:
    """A number with a true minus sign; zero has no sign."""
    if abs(value) < 0.5 * 10.0**-digits:
        return f"{0.0:.{digits}f}"
    return (f"{value:+.{digits}f}" if signed else f"{value:.{digits}f}").replace("-", "−")


def activation_bar() -> ColourBar:
    """The bar of activation, 0 to 1."""
    return ColourBar("activation α", 0.0, 1.0, REST_TO_FULL)


def displacement_bar(greatest: float, limit: float | None = None) -> ColourBar:
    """The bar of outward displacement [mm], zero in its middle.

    Args:
        greatest: The greatest displacement either way that will be shown [mm].
        limit: The end of the range [mm]; None takes a round number that holds all of it.
    """
    limit = _end(greatest, limit)
    exceeded = greatest > limit
    return ColourBar(
        "outward displacement [mm]", -limit, limit, INWARD_TO_OUTWARD, signed=True, exceeded=exceeded
    )


def perimeter_bar(least: float, greatest: float, since: str, limit: float | None = None) -> ColourBar:
    """The bar of how much further it is round a limb [mm], from zero up; one that shrank is at its low end.

    Args:
        least, greatest: Of the growths that will be shown [mm].
        since: What they are growths since, such as ``"bind"``.
        limit: The end of the range [mm]; None takes a round number that holds all of it.
    """
    limit = _end(greatest, limit)
    exceeded = greatest > limit or least < -0.05 * limit
    return ColourBar(f"perimeter since {since} [mm]", 0.0, limit, YELLOW_TO_RED, exceeded=exceeded)


def _end(greatest: float, limit: float | None) -> float:
    """The end of a range that a person asked for [mm], or a round number that holds the greatest."""
    if limit is not None and not 1e-3 <= limit <= 1e6:
        raise EcorcheError(
            f"a scale of {limit:g} mm is asked for",
            where="colour bar",
            remedy="Give a length above 0, such as 10",
        )
    return _round_above(greatest) if limit is None else limit


def _round_above(value: float) -> float:
    """The least round number that is not below a value; 1 for nothing at all."""
    if not value > 1e-3:
        return 1.0
    power = 10.0 ** np.floor(np.log10(value))
    steps = (1.0, 1.2, 1.6, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0)
    return float(next(s * power for s in steps if s * power >= value * (1.0 - 1e-9)))
