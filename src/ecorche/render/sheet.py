"""Contact sheets: pictures in rows, each with a caption below it, where it hides no foot."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ecorche.errors import MissingPackageError

Picture = npt.NDArray[np.uint8]

GAP = 4
INK = (32, 36, 44)


def arranged(pictures: list[Picture], captions: list[str], columns: int | None = None) -> Picture:
    """Pictures of one size (height, width, 3) in rows on white; None chooses the columns."""
    image, draw_module, _ = require_pillow()
    height, width = pictures[0].shape[:2]
    columns = columns or _columns(len(pictures), width / height)
    strip = caption_height(height)
    row, column = height + strip + GAP, width + GAP
    rows = -(-len(pictures) // columns)
    sheet = image.new("RGB", (columns * column - GAP, rows * row - GAP), "white")
    draw = draw_module.Draw(sheet)
    font = text_font(0.6 * strip)
    longest = max(font.getlength(caption) for caption in captions)
    font = text_font(0.6 * strip * min(1.0, (width - strip // 2) / max(longest, 1.0)))
    for place, (picture, caption) in enumerate(zip(pictures, captions, strict=True)):
        left, top = (place % columns) * column, (place // columns) * row
        sheet.paste(image.fromarray(picture), (left, top))
        draw.text((left + strip // 4, top + height + strip // 2), caption, fill=INK, font=font, anchor="lm")
    return np.asarray(sheet)


def caption_height(height: int) -> int:
    """How high the strip below a picture of that height is [pixels]."""
    return max(18, height // 16)


def with_bars(page: Picture, bars: list[Picture]) -> Picture:
    """A page with colour bars below it, side by side while they fit, else below one another."""
    if not bars:
        return page
    rows: list[list[Picture]] = [[]]
    for bar in bars:
        if rows[-1] and sum(b.shape[1] for b in rows[-1]) + bar.shape[1] > page.shape[1]:
            rows.append([])
        rows[-1].append(bar)
    strips = [np.concatenate(row, axis=1) for row in rows]
    width = max(page.shape[1], *(strip.shape[1] for strip in strips))
    gap = np.full((GAP, width, 3), 255, np.uint8)
    parts = [_widened(page, width), *(part for strip in strips for part in (gap, _widened(strip, width)))]
    return np.concatenate(parts)


def _widened(picture: Picture, width: int) -> Picture:
    """White to the right of a picture, up to that width."""
    return np.pad(picture, ((0, 0), (0, width - picture.shape[1]), (0, 0)), constant_values=255)


def _columns(count: int, aspect: float) -> int:
    """Columns that leave few places empty and make the sheet about as wide as a screen, 16 to 10."""
    columns = np.arange(1, count + 1)
    rows = -(-count // columns)
    shape = np.abs(np.log(columns * aspect / rows / 1.6))
    return int(columns[np.argmin(shape + (rows * columns - count) / count)])


def text_font(size: float) -> Any:
    """The font of captions and bars, DejaVu Sans, which has α and − and is the same on every machine."""
    spec = find_spec("matplotlib")
    if spec is None or spec.origin is None:
        raise MissingPackageError(
            "captions need the package matplotlib, for its font",
            remedy='Run: pip install "ecorche[render]"',
        )
    file = Path(spec.origin).parent / "mpl-data" / "fonts" / "ttf" / "DejaVuSans.ttf"
    return require_pillow()[2].truetype(file, size)


def require_pillow() -> tuple[Any, Any, Any]:
    """Pillow's modules Image, ImageDraw and ImageFont, or the command that installs them."""
    try:
        from PIL import Image, ImageDraw, ImageFont
    except ImportError:
        raise MissingPackageError(
            "pictures need the package pillow", remedy='Run: pip install "ecorche[render]"'
        ) from None
    return Image, ImageDraw, ImageFont
