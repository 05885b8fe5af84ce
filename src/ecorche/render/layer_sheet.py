"""The layers of one or several takes from several sides: one picture, a sheet, or a film.

render_layers("curl.png", take, layers=("plain", "muscles", "result", "difference"))
render_layers("people.png", {"slim": slim, "muscular": muscular}, layers=("result",), frame=40)
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from ecorche.base.files import require_folder
from ecorche.body.take import Take
from ecorche.errors import EcorcheError
from ecorche.render.camera import direction, facing, seen_aspect
from ecorche.render.colour_bar import ColourBar, displacement_bar, perimeter_bar
from ecorche.render.film import ENCODERS, check_film, write_film
from ecorche.render.focus import Focus, find_part
from ecorche.render.layers import LAYERS, Layer, Layers, range_text
from ecorche.render.pictures import PICTURE_PIXELS, film_frames, png_path, save_png
from ecorche.render.sheet import arranged, caption_height, with_bars
from ecorche.render.shots import (
    FOLLOW_SECONDS,
    Progress,
    frame_number,
    joints_of,
    set_up,
    shots,
    suitable_size,
)
from ecorche.render.studio import Picture
from ecorche.render.survey import survey

Floats = npt.NDArray[np.float64]
_Cell = TypeVar("_Cell")

CELL_PIXELS = 400 * 600
"""How many pixels each picture of a sheet has, when nobody says a size."""
MOST_CELLS = 400


def render_layers(
    path: str | os.PathLike[str],
    subjects: Take | Layers | Mapping[str, Take | Layers],
    *,
    layers: Sequence[str] = LAYERS,
    views: Sequence[str] = ("front", "side", "back"),
    frame: int | Sequence[int] = 0,
    size: tuple[int, int] | None = None,
    focus: Focus | None = None,
    colouring: str = "tissue",
    scale: float | None = None,
    skeleton: bool = False,
    rate: float = 30.0,
    progress: Progress | None = None,
) -> None:
    """Draw layers of takes side by side on one sheet.

    Takes and layers stand side by side, and moments and views below one another, so that the eye compares
    what differs; the other way round where there are more moments and views. At one moment from one side
    several takes stand side by side, and their layers below one another.
    Differences of one sheet share one scale, which a focus takes from what it looks at; what colours mean
    stands on a bar below.

    Args:
        path: A ``.png``, or an ``.mp4`` or ``.gif`` in which all of it moves.
        subjects: A take, or several by the names to write under them.
        layers: Of ``"plain"``, ``"muscles"``, ``"result"``, ``"difference"``, ``"perimeter"``,
            ``"superimposed"`` and, of muscles found in the skin, ``"sections"`` and ``"ellipses"``.
        views: Of ``"front"``, ``"side"``, ``"back"`` and ``"three_quarter"``. With a focus on the right half
            of the body ``"side"`` and ``"three_quarter"`` look from the right.
        frame: For a picture, which frame or frames, from 0; negative numbers count from the end.
        size: Width and height of each picture [pixels]; None takes a shape that suits the subjects.
        focus: A part of the body to look at from near; None shows all of it.
        colouring: Of muscles: ``"tissue"``, by ``"activation"``, or one colour for every ``"muscle"``.
        scale: Ends of the bars of differences and perimeters [mm]; None takes those that hold all of it.
        skeleton: Draw the bones over everything.
        rate: Pictures a second of a film.
        progress: Told of every picture.
    """
    path = Path(path)
    moving = path.suffix.lower() in ENCODERS
    if not moving:
        path = png_path(path)
    require_folder(path)
    named = {"": subjects} if isinstance(subjects, Take | Layers) else dict(subjects)
    takes = {name: s if isinstance(s, Layers) else Layers(s) for name, s in named.items()}
    _require_some(takes, layers, views)
    numbers = {
        name: film_frames(t.frames.times, rate, path) if moving else _numbers(frame, t)
        for name, t in takes.items()
    }
    bars = shared_bars(takes, numbers, layers, focus, scale)
    made = {
        (name, layer): t.layer(layer, colouring=colouring, bar=bars.get(layer))
        for name, t in takes.items()
        for layer in layers
    }
    moments = 1 if moving else max(len(n) for n in numbers.values())
    if len(views) * moments == 1 and len(takes) > 1:
        made = {(name, layer): made[name, layer] for layer in layers for name in takes}
        columns = len(takes)
    else:
        columns = max(len(made), len(views) * moments)
    sheet = _Sheet(takes, numbers, made, tuple(views), focus, skeleton, moving, columns)
    pixels = size or sheet.size(PICTURE_PIXELS if sheet.cells == 1 else CELL_PIXELS)
    if sheet.cells > MOST_CELLS:
        raise EcorcheError(
            f"{sheet.cells} pictures on one sheet are asked for",
            where=path,
            remedy=f"Give up to {MOST_CELLS}",
        )
    if moving:
        pages = sheet.film(pixels, progress)
        first = next(pages)
        whole = (first.shape[1], first.shape[0])
        check_film(path, whole)
        write_film(path, _and_more(first, pages), whole, rate)
    else:
        save_png(sheet.still(pixels, progress), path)


@dataclass(frozen=True, eq=False)
class _Sheet:
    """Pictures of takes and layers, of each its moments and views, in so many columns."""

    takes: Mapping[str, Layers]
    numbers: Mapping[str, Sequence[int]]
    layers: Mapping[tuple[str, str], Layer]
    views: Sequence[str]
    focus: Focus | None
    skeleton: bool
    moving: bool
    columns: int

    @property
    def cells(self) -> int:
        """Pictures on the sheet."""
        moments = 1 if self.moving else max(len(n) for n in self.numbers.values())
        return len(self.layers) * len(self.views) * moments

    def size(self, pixels: int) -> tuple[int, int]:
        """Width and height that suit all takes from all sides."""
        if self.focus is not None:
            return suitable_size(pixels, 1.0)
        widest = 0.0
        for name, layers in self.takes.items():
            seen = survey(layers.result.character, layers.frames, self.numbers[name])
            front = facing(layers.result)
            widest = max(widest, *(seen_aspect(seen.outlines, direction(v, front)) for v in self.views))
        return suitable_size(pixels, widest, narrowest=0.45)

    def still(self, size: tuple[int, int], progress: Progress | None) -> Picture:
        """The sheet of the frames asked for."""
        pictures, captions = [], []
        for (name, layer), view in product(self.layers, self.views):
            for picture, number in zip(self._shots(name, layer, view, size), self.numbers[name], strict=True):
                pictures.append(picture)
                captions.append(self._caption(name, layer, view, number))
                if progress is not None:
                    progress("render", len(pictures), self.cells)
        return self._page(self._in_rows(pictures), self._in_rows(captions))

    def film(self, size: tuple[int, int], progress: Progress | None) -> Iterator[Picture]:
        """The sheet for every moment of the film; a take that ends early holds its last frame."""
        shown = [(name, layer, view) for (name, layer), view in product(self.layers, self.views)]
        shown = self._in_rows(shown)
        count = max(len(n) for n in self.numbers.values())
        cells = [self._shots(name, layer, view, size) for name, layer, view in shown]
        captions = [self._caption(name, layer, view, None) for name, layer, view in shown]
        now: list[Picture] = []
        for moment in range(count):
            after = [next(cell, now[place] if now else None) for place, cell in enumerate(cells)]
            now = [picture for picture in after if picture is not None]
            yield _even(self._page(now, captions))
            if progress is not None:
                progress("render", moment + 1, count)

    def _in_rows(self, cells: list[_Cell]) -> list[_Cell]:
        """Cells listed by take and layer, in the order in which they fill the rows of the sheet."""
        each = len(cells) // len(self.layers)
        if self.columns != len(self.layers) or each == 1:
            return cells
        return [cell for place in range(each) for cell in cells[place::each]]

    def _shots(self, name: str, layer: str, view: str, size: tuple[int, int]) -> Iterator[Picture]:
        layers = self.takes[name]
        # all layers from one camera: that of the plain skin
        frames = layers.frames if layers.plain is None else layers.plain
        setting = set_up(
            layers.result,
            frames,
            self.numbers[name],
            size,
            view,
            camera="auto" if self.moving else "follow",
            smoothing=FOLLOW_SECONDS if self.moving else 0.0,
            fine=self.cells == 1 and not self.moving,
            focus=self.focus,
        )
        return shots(setting, self.layers[name, layer], skeleton=self.skeleton)

    def _caption(self, name: str, layer: str, view: str, number: int | None) -> str:
        words = [name] if name else []
        if not name or len({layer for _, layer in self.layers}) > 1:
            words.append(layer)
        words.append(view.replace("_", " "))
        if number is not None and len(self.numbers[name]) > 1:
            words.append(f"{self.takes[name].frames.times[number]:.2f} s")
        if number is not None and layer == "difference":
            words.append(range_text([_seen(self.takes[name], self.focus, number)]))
        return ", ".join(words)

    def _page(self, pictures: list[Picture], captions: list[str]) -> Picture:
        bars = list(dict.fromkeys(layer.bar for layer in self.layers.values() if layer.bar is not None))
        if len(pictures) == 1 and not bars:
            return pictures[0]
        page = pictures[0] if len(pictures) == 1 else arranged(pictures, captions, self.columns)
        return with_bars(page, [bar.drawn(2 * caption_height(pictures[0].shape[0])) for bar in bars])


def shared_bars(
    takes: Mapping[str, Layers],
    numbers: Mapping[str, Sequence[int]],
    layers: Sequence[str],
    focus: Focus | None,
    scale: float | None,
) -> dict[str, ColourBar]:
    """The colours of layers whose numbers all takes of a sheet share."""
    bars = {}
    if "difference" in layers:
        greatest, end = max(t.greatest(set(numbers[name])) for name, t in takes.items()), scale
        if focus is not None and scale is None:  # the rest of the body may have more, which the bar then says
            seen = (_seen(t, focus, n) for name, t in takes.items() for n in set(numbers[name]))
            end = displacement_bar(max(float(np.abs(d).max(initial=0.0)) for d in seen)).high
        bars["difference"] = displacement_bar(greatest, end)
    if "perimeter" in layers:
        grown = [t.growth for t in takes.values() if t.growth is not None]
        ranges = [g.range(set(numbers[name])) for name, g in zip(takes, grown, strict=True)]
        least, most = min(low for low, _ in ranges), max(high for _, high in ranges)
        bars["perimeter"] = perimeter_bar(least, most, grown[0].since, scale)
    return bars


def _seen(layers: Layers, focus: Focus | None, number: int) -> Floats:
    """How far the muscles moved the skin outwards in a frame [mm], of all vertices or those in focus."""
    moved = layers.displacements(number)
    if focus is None:
        return np.concatenate(moved)
    assert layers.plain is not None
    take = layers.result
    part = find_part(focus, take.character.skeleton, facing(Take(take.character)))
    near = [part.near(joints_of(take, number), points) for points in layers.plain[number].points]
    return np.concatenate([values[own] for values, own in zip(moved, near, strict=True)])


def _require_some(takes: Mapping[str, Layers], layers: Sequence[str], views: Sequence[str]) -> None:
    """Refuse what cannot be drawn before anything is."""
    for what, given in (("take", takes), ("layer", layers), ("view", views)):
        if not given:
            raise EcorcheError(f"no {what} is asked for", where="render", remedy="Name at least one")
    for asked in (layers, views):
        for name in asked:
            if list(asked).count(name) > 1:
                raise EcorcheError(f"{name!r} is asked for twice", where="render", remedy="Name it once")
    for name in layers:
        for take in takes.values():
            take.require(name)


def _numbers(frame: int | Sequence[int], layers: Layers) -> list[int]:
    asked = [frame] if isinstance(frame, int) else list(frame)
    if not asked:
        raise EcorcheError("no frame is asked for", where="render", remedy="Name at least one")
    return [frame_number(n, len(layers.frames), layers.result.character.name) for n in asked]


def _even(page: Picture) -> Picture:
    """The page with an even number of rows and columns, as films need: the last is repeated."""
    return np.pad(page, ((0, page.shape[0] % 2), (0, page.shape[1] % 2), (0, 0)), mode="edge")


def _and_more(first: Picture, others: Iterator[Picture]) -> Iterator[Picture]:
    yield first
    yield from others
