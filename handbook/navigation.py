"""The order of the handbook's pages. A page that is in `docs/` and not here fails a test.

A page listed here before it is written is left out of the site.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

NAVIGATION: dict[str, tuple[str, ...]] = {
    "Start": (
        "tutorial.md",
        "studio.md",
        "guide.md",
        "keyframes.md",
        "coming-from.md",
        "gallery.md",
        "limits.md",
    ),
    "Muscles": ("muscles.md", "extraction.md", "action_lines.md"),
    "Flesh": ("skin.md", "fat.md", "springs.md"),
    "Biomechanics": ("musculoskeletal.md", "identification.md"),
    "Pipeline": (
        "pipeline.md",
        "blender.md",
        "drivers.md",
        "farm.md",
        "crowds.md",
        "realtime.md",
        "web.md",
    ),
    "Concepts": (
        "concepts/overview.md",
        "concepts/joints.md",
        "concepts/paths.md",
        "concepts/spindle.md",
        "concepts/bulge.md",
        "concepts/sliding.md",
        "concepts/found-muscles.md",
        "concepts/hybrid-skinning.md",
        "concepts/action-lines.md",
        "concepts/contour.md",
        "concepts/fat.md",
        "concepts/springs.md",
        "concepts/tensions.md",
        "concepts/identification.md",
        "concepts/real-time.md",
    ),
    "Reference": (
        "reference/commands.md",
        "rig-file.md",
        "reference/rig-format.md",
        "reference/results.md",
        "reference/changelog.md",
        "reference/contributing.md",
    ),
}
"""Pages by section; ``index.md`` stands before them."""


def listed_pages() -> list[str]:
    """All pages in their order."""
    return ["index.md", *(page for pages in NAVIGATION.values() for page in pages)]


def unlisted(docs: Path) -> list[str]:
    """Pages of a folder that no section lists."""
    known = {*listed_pages()}
    found = (path.relative_to(docs).as_posix() for path in sorted(docs.rglob("*.md")))
    return [page for page in found if page not in known]


def as_mkdocs(present: Iterable[str]) -> list[dict[str, object]]:
    """The navigation as MkDocs takes it, of the pages that are there."""
    there = {*present}
    sections = {title: [page for page in pages if page in there] for title, pages in NAVIGATION.items()}
    nav: list[dict[str, object]] = [{"Home": "index.md"}]
    nav += [{title: pages} for title, pages in sections.items() if pages]
    return nav
