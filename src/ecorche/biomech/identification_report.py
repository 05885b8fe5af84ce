"""A page that shows how well muscles were identified: one HTML file, pictures within, before and after.

Markers' distances from the undeformed and from the identified spindle, muscle by muscle, and of each muscle
the radius that it has along its path when slack, tense, short and long.
"""

from __future__ import annotations

import html
import io
import os
from typing import Any

import numpy as np

from ecorche.base.web_page import data_uri, write_page
from ecorche.biomech.marker_distances import Compared, spindles_of
from ecorche.document.identified_spec import IdentifiedSpec
from ecorche.errors import MissingPackageError

BEFORE, AFTER = "#c4412f", "#1f5f99"
DRAWN = 60
"""Muscles whose radius is drawn, those with the most markers; the table has all."""

STYLE = """body{font:15px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;color:#222}
table{border-collapse:collapse;font-size:13px}
td,th{padding:.2rem .6rem;border-bottom:1px solid #ddd;text-align:right}
td:first-child,th:first-child,td:last-child{text-align:left}img{max-width:100%}"""


def write_report(
    path: str | os.PathLike[str], identified: IdentifiedSpec, compared: dict[str, Compared] | None = None
) -> None:
    """Write the page.

    Args:
        path: Of the HTML file.
        identified: What was found.
        compared: Distances on motions, by what they are called; drawn as histograms.
    """
    name = identified.subject or "Muscles"
    parts = [f"<h1>{html.escape(name)}: muscles identified from markers</h1>", _summary(identified)]
    for motion, distances in (compared or {}).items():
        parts.append(f"<h2>{html.escape(motion)}</h2>{_told(distances)}{_histogram(distances)}")
    parts += ["<h2>Before and after, muscle by muscle</h2>", _bars(identified), _table(identified)]
    parts += ["<h2>Radius along the path</h2>", _radii(identified), _left_out(identified)]
    write_page(path, name, f"<style>{STYLE}</style>", "".join(parts))


def _summary(identified: IdentifiedSpec) -> str:
    spindles = identified.spindles.values()
    count = sum(one.markers for one in spindles)
    before, after, bare_before, bare_after = (
        1e3 * sum(getattr(one, field) * one.markers for one in spindles) / max(count, 1)
        for field in ("before", "after", "bare_before", "bare_after")
    )
    notes = "".join(f"<li>{html.escape(note)}</li>" for note in identified.notes)
    return (
        f"<p>{len(identified.spindles)} spindles from {identified.frames} frames and {count:,} positions."
        f" Mean distance of markers, what lasts over the motion taken out: {before:.2f} mm undeformed,"
        f" {after:.2f} mm as identified. From the bare spindles: {bare_before:.2f} and"
        f" {bare_after:.2f} mm.</p><ul>{notes}</ul>"
    )


def _told(found: Compared) -> str:
    rows = "".join(
        f"<tr><td>{what}</td><td>{1e3 * np.abs(d).mean():.2f}</td><td>{1e3 * np.abs(d).std():.2f}</td></tr>"
        for what, d in (("undeformed", found.undeformed), ("as identified", found.identified))
    )
    return (
        "<table><tr><th>markers' distance [mm]</th><th>mean</th><th>standard deviation</th></tr>"
        f"{rows}</table><p>{found.told.capitalize()}.</p>"
    )


def _histogram(found: Compared) -> str:
    figure, axes = _panels(1, 1, (7.0, 2.6))
    edge = 1e3 * float(np.quantile(np.abs(found.undeformed), 0.99))
    bins = np.linspace(-edge, edge, 81)
    for values, colour, label in (
        (found.undeformed, BEFORE, "undeformed"),
        (found.identified, AFTER, "identified"),
    ):
        axes[0].hist(1e3 * values, bins, histtype="step", color=colour, lw=1.8, label=label)
    axes[0].set_xlabel("marker outside (+) or inside (−) [mm]")
    axes[0].set_yticks([])
    axes[0].legend(frameon=False)
    return _picture(figure, "Distances of markers before and after")


def _bars(identified: IdentifiedSpec) -> str:
    ordered = sorted(identified.spindles.items(), key=lambda pair: pair[1].before)
    figure, axes = _panels(1, 1, (7.0, 1.3 + 0.17 * len(ordered)))
    place = np.arange(len(ordered))
    before, after = (
        1e3 * np.array([getattr(one, field) for _, one in ordered]) for field in ("before", "after")
    )
    axes[0].hlines(place, after, before, color="0.75", lw=2.0)
    axes[0].plot(before, place, "o", color=BEFORE, ms=4, label="undeformed")
    axes[0].plot(after, place, "o", color=AFTER, ms=4, label="identified")
    axes[0].set_yticks(place, [name for name, _ in ordered], fontsize=7)
    axes[0].set_xlabel("mean distance of markers, what lasts taken out [mm]")
    axes[0].set_xlim(left=0.0)
    axes[0].legend(frameon=False, loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2)
    axes[0].margins(y=0.6 / max(len(ordered), 1))
    return _picture(figure, "Mean distance of each muscle's markers before and after")


def _table(identified: IdentifiedSpec) -> str:
    rows = "".join(
        f"<tr><td>{html.escape(name)}</td><td>{one.markers}</td><td>{1e3 * one.before:.2f}</td>"
        f"<td>{1e3 * one.after:.2f}</td><td>{1e3 * one.bare_before:.2f}</td>"
        f"<td>{1e3 * one.bare_after:.2f}</td><td>{1e2 * one.volume_deviation:.1f}</td>"
        f"<td>{1e3 * one.seam:.2f}</td>"
        f"<td>{1e2 * one.lengths[0]:.1f} … {1e2 * one.lengths[1]:.1f}</td><td>{one.tensions[1]:.0f}</td>"
        f"<td>{html.escape('; '.join(one.notes))}</td></tr>"
        for name, one in identified.spindles.items()
    )
    return (
        "<table><tr><th>spindle</th><th>positions</th><th>before [mm]</th><th>after [mm]</th>"
        "<th>bare before [mm]</th><th>bare after [mm]</th>"
        "<th>volume ± [%]</th><th>seam [mm]</th><th>length [cm]</th><th>tension to [N]</th>"
        f"<th>notes</th></tr>{rows}</table>"
    )


def _radii(identified: IdentifiedSpec) -> str:
    """Along the long axis of the section, at the four corners of what was seen, and undeformed."""
    chosen = sorted(identified.spindles, key=lambda name: -identified.spindles[name].markers)[:DRAWN]
    rows = -(-len(chosen) // 4)
    figure, axes = _panels(rows, 4, (10.0, 1.9 * rows + 0.4))
    t = np.linspace(0.0, 1.0, 101)
    for panel, name in zip(axes, chosen, strict=False):
        one = identified.spindles[name]
        for length, style in ((one.lengths[0], "-"), (one.lengths[1], "--")):
            for tension, colour in ((one.tensions[0], "#5b8a3c"), (one.tensions[1], AFTER)):
                states = spindles_of(identified, [name]).states([length], [tension])
                panel.plot(t, 1e3 * states.radius(t, 0.0 * t)[0], style, color=colour, lw=1.0)
        still = spindles_of(identified, [name], undeformed=True).states([one.lengths[0]], [0.0])
        panel.plot(t, 1e3 * still.radius(t, 0.0 * t)[0], color=BEFORE, lw=1.0)
        panel.set_title(name, fontsize=7)
        panel.tick_params(labelsize=7)
        panel.set_ylim(bottom=0.0)
    for panel in axes[len(chosen) :]:
        panel.set_visible(False)
    caption = (
        "<p>Radius [mm] from origin (0) to insertion (1): red undeformed, green slackest, blue most tense;"
        " full lines at the shortest and dashed at the longest path.</p>"
    )
    more = len(identified.spindles) - len(chosen)
    rest = f"<p>{more} more spindles with fewer markers are not drawn.</p>" if more else ""
    return caption + _picture(figure, "Radius of each muscle along its path") + rest


def _left_out(identified: IdentifiedSpec) -> str:
    if not identified.left_out:
        return ""
    rows = "".join(
        f"<tr><td>{html.escape(name)}</td><td>{html.escape(why)}</td></tr>"
        for name, why in identified.left_out.items()
    )
    return f"<h2>Not identified</h2><table>{rows}</table>"


def _panels(rows: int, columns: int, size: tuple[float, float]) -> tuple[Any, list[Any]]:
    """A figure of so many inches, drawn without a screen, and its axes in a row."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingPackageError(
            "the report's pictures need matplotlib", remedy="Install it: pip install 'ecorche[render]'"
        ) from None
    figure = Figure(figsize=size, layout="constrained")
    axes = np.atleast_1d(figure.subplots(rows, columns)).ravel().tolist()
    for one in axes:
        one.spines[["top", "right"]].set_visible(False)
        one.grid(alpha=0.25)
    return figure, axes


def _picture(figure: Any, alt: str) -> str:
    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=110, metadata={"Software": None})
    return f'<p><img alt="{html.escape(alt)}" src="{data_uri(content.getvalue(), "image/png")}"></p>'
