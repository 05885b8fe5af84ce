"""A page that shows a body in motion with what its muscles did: one HTML file that opens anywhere.

Pictures of the body's layers, frame by frame, and plots over the same time; a slider, or a hand on any plot,
moves all of them together. The page's looks and its script are `report.html` beside this file.
"""

from __future__ import annotations

import html
import io
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files

import numpy as np
import numpy.typing as npt

from ecorche.base.web_page import data_uri, write_page
from ecorche.biomech.result_panels import Check, Curve, Panel, Section
from ecorche.render.colour_bar import ColourBar
from ecorche.render.focus import Focus
from ecorche.render.layer_sheet import shared_bars
from ecorche.render.layers import Layers
from ecorche.render.plot_svg import TimeAxis, plot
from ecorche.render.sheet import require_pillow
from ecorche.render.shots import Progress, nearest_frames, set_up, shots

Floats = npt.NDArray[np.float64]

PIXELS = 400 * 640
"""Of each picture, in a shape that suits the subject."""
QUALITY = 72
"""Of the pictures' compression (WebP), of 100."""
CAPTIONS = {"result": "Skin", "muscles": "Muscles by activation", "perimeter": "Perimeter of limbs"}


@dataclass(frozen=True, eq=False)
class Filmstrip:
    """A layer of a body over time.

    Attributes:
        caption: What it shows.
        pictures: WebP files, first to last.
        bar: What its colours mean; None where they mean nothing.
    """

    caption: str
    pictures: tuple[bytes, ...]
    bar: ColourBar | None


@dataclass(frozen=True, eq=False)
class Report:
    """Everything the page shows.

    Attributes:
        title: Of the page.
        subtitle: What was put together, in a sentence.
        times: Of the samples of all curves, evenly spaced [s], (samples,).
        picture_times: Of the pictures [s], (pictures,).
        axis: Of all plots; marks and spans in its unit.
        strips: Layers of the body.
        checks: What to look at first.
        sections: Plots.
        notes: What else a person should know.
    """

    title: str
    subtitle: str
    times: Floats
    picture_times: Floats
    axis: TimeAxis
    strips: tuple[Filmstrip, ...]
    checks: tuple[Check, ...]
    sections: tuple[Section, ...]
    notes: tuple[str, ...]


def filmstrips(
    body: Layers,
    times: npt.ArrayLike,
    *,
    layers: Sequence[str] = ("result", "muscles"),
    view: str = "three_quarter",
    focus: Focus | None = None,
    size: tuple[int, int] | None = None,
    progress: Progress | None = None,
) -> tuple[Filmstrip, ...]:
    """Pictures of a body's layers at some times [s], from a camera that goes along.

    Args:
        body: The take and its layers.
        times: [s], (pictures,); the nearest frames are shown.
        layers: Of `ALL_LAYERS`; muscles are coloured by activation.
        view: One of the sides.
        focus: A part of the body to look at from near; None shows all of it.
        size: Width and height of each [pixels]; None takes a shape that suits the subject.
        progress: Told of every picture.
    """
    numbers = nearest_frames(body.frames.times, np.asarray(times, np.float64))
    frames = body.frames if body.plain is None else body.plain
    setting = set_up(body.result, frames, numbers, size or PIXELS, view, fine=False, focus=focus)
    for name in layers:
        body.require(name)
    bars = shared_bars({"": body}, {"": numbers}, layers, focus, None)
    found: list[Filmstrip] = []
    for name in layers:
        layer = body.layer(name, colouring="activation", bar=bars.get(name))
        pictures = []
        for picture in shots(setting, layer):
            pictures.append(_compressed(picture))
            if progress is not None:
                progress("pictures", len(found) * len(numbers) + len(pictures), len(layers) * len(numbers))
        found.append(Filmstrip(CAPTIONS.get(name, name), tuple(pictures), layer.bar))
    return tuple(found)


def write_report(path: str | os.PathLike[str], report: Report) -> None:
    """Write the page, whole or not at all."""
    curves: list[Curve] = []
    text = files("ecorche.render").joinpath("report.html").read_text(encoding="utf-8")
    head, _, body = text.partition("<!-- body -->")
    parts = {
        "title": html.escape(report.title),
        "subtitle": html.escape(report.subtitle),
        "strips": "".join(_strip(strip) for strip in report.strips),
        "checks": "".join(
            f'<li class="{"fine" if check.fine else "doubt"}">{html.escape(check.said)}</li>'
            for check in report.checks
        ),
        "legend": _legend(report.sections),
        "sections": "".join(_section(section, report.axis, curves) for section in report.sections),
        "notes": "".join(f"<li>{html.escape(note)}</li>" for note in report.notes),
        "last": str(len(report.times) - 1),
    }
    for name, content in parts.items():
        body = body.replace(f"<!-- {name} -->", content)
    write_page(path, report.title, head, body.replace("<!-- data -->", _data(report, curves)))


def _data(report: Report, curves: Sequence[Curve]) -> str:
    """What the script reads, as JSON that cannot end its element."""
    nearest = nearest_frames(report.picture_times, report.times)
    axis = report.axis
    told = {
        "times": [round(float(t), 4) for t in report.times],
        "shown": [round(float(v), 3) for v in np.linspace(axis.low, axis.high, len(report.times))],
        "unit": axis.label,
        "pictures": nearest,
        "curves": [[_number(v) for v in curve.values] for curve in curves],
    }
    return json.dumps(told, separators=(",", ":"), allow_nan=False).replace("</", "<\\/")


def _number(value: float) -> float | None:
    return float(f"{value:.4g}") if np.isfinite(value) else None


def _strip(strip: Filmstrip) -> str:
    pictures = "".join(
        f'<img alt="{html.escape(strip.caption)}, picture {k + 1} of {len(strip.pictures)}"'
        f' src="{data_uri(picture, "image/webp")}"{"" if k == 0 else " hidden"}>'
        for k, picture in enumerate(strip.pictures)
    )
    bar = "" if strip.bar is None else _bar(strip.bar)
    caption = f"<figcaption>{html.escape(strip.caption)}</figcaption>"
    return f'<figure class="strip">{caption}<div class="pictures">{pictures}</div>{bar}</figure>'


def _bar(bar: ColourBar) -> str:
    """A colour bar as a gradient with its numbers."""
    colours = ",".join(f"rgb{tuple(anchor)}" for anchor in bar.anchors)
    numbers = "".join(f"<span>{html.escape(text)}</span>" for text in bar.numbers())
    return (
        f'<div class="bar"><div class="ramp" style="background:linear-gradient(90deg,{colours})"></div>'
        f'<div class="numbers">{numbers}</div><div class="what">{html.escape(bar.label)}</div></div>'
    )


def _legend(sections: Sequence[Section]) -> str:
    """What lines mean, of those that are drawn."""
    words: Mapping[str, str] = {
        "right": "right",
        "left": "left",
        "emg": "measured (EMG)",
        "reserve": "reserve",
        "middle": "no side",
    }
    drawn = {c.kind for section in sections for panel in section.panels for c in panel.curves}
    return "".join(
        f'<label><input type="checkbox" checked data-kind="{kind}">{_sample(kind)}{said}</label>'
        for kind, said in words.items()
        if kind in drawn
    )


def _sample(kind: str) -> str:
    area = '<rect class="area" x="0" y="4" width="26" height="8"/>' if kind == "emg" else ""
    return f'<svg class="sample" viewBox="0 0 26 12">{area}<path class="curve {kind}" d="M0 6H26"/></svg>'


def _section(section: Section, axis: TimeAxis, curves: list[Curve]) -> str:
    panels = "".join(_panel(panel, axis, curves) for panel in section.panels)
    told = f"<p>{html.escape(section.told)}</p>" if section.told else ""
    flagged = sum(panel.flagged for panel in section.panels)
    mark = f' <span class="doubt">{flagged} flagged</span>' if flagged else ""
    return (
        f"<details open><summary>{html.escape(section.title)} <small>{len(section.panels)}</small>{mark}"
        f'</summary>{told}<div class="panels">{panels}</div></details>'
    )


def _panel(panel: Panel, axis: TimeAxis, curves: list[Curve]) -> str:
    keys = []
    for curve in panel.curves:
        keys.append(
            f'<span class="key {curve.kind}">{_sample(curve.kind)}{html.escape(curve.label)}'
            f' <output data-curve="{len(curves)}"></output></span>'
        )
        curves.append(curve)
    kind = "doubt" if panel.flagged else "told"
    told = f'<span class="{kind}">{html.escape(panel.told)}</span>' if panel.told or panel.flagged else ""
    return (
        f"<figure><figcaption>{html.escape(panel.title)}{told}</figcaption>{plot(panel, axis)}"
        f'<div class="keys">{"".join(keys)}</div></figure>'
    )


def _compressed(picture: npt.NDArray[np.uint8]) -> bytes:
    content = io.BytesIO()
    require_pillow()[0].fromarray(picture).save(content, format="WEBP", quality=QUALITY, method=4)
    return content.getvalue()
