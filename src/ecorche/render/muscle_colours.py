"""A colour for every muscle, the same in every picture and on both sides, and one for what is no muscle."""

from __future__ import annotations

import colorsys
import re
from collections.abc import Sequence

import numpy as np

from ecorche.render.colour_bar import Colours

NO_MUSCLE = (232, 232, 232)
"""Pale grey: what was looked at and is no muscle."""
_GOLDEN = 0.6180339887498949


def muscle_colours(names: Sequence[str]) -> Colours:
    """sRGB colours of muscles, (names, 3): hues far apart one after another, in three lightnesses in turn.

    Names that differ only in their side, such as ``"biceps, left"`` or ``"arm_L front"``, share one.
    """
    rows: dict[str, list[int]] = {}
    for name in names:
        both = _both_sides(name)
        if both not in rows:
            number = len(rows)
            lightness = (0.48, 0.36, 0.62)[number % 3]
            hue = colorsys.hls_to_rgb((0.02 + number * _GOLDEN) % 1.0, lightness, 0.72)
            rows[both] = [round(255.0 * channel) for channel in hue]
    return np.array([rows[_both_sides(name)] for name in names], np.uint8).reshape(-1, 3)


def _both_sides(name: str) -> str:
    return re.sub(r"(, (left|right)$)|(_[LRlr](?=[ _.,]|$))", "", name)
