"""Build the handbook, as ``make handbook`` does.

    python -m handbook.build [OUTPUT_FOLDER] [--without-pictures]

Everything the site needs is in its folder: it opens from a disk without a network.
"""

from __future__ import annotations

import argparse
import json
import logging
import shutil
import sys
import tempfile
from pathlib import Path

from mkdocs.commands.build import build as build_site
from mkdocs.config import load_config
from mkdocs.exceptions import MkDocsException
from pygments.formatters import HtmlFormatter

from ecorche.version import __version__
from handbook.commands import commands_page
from handbook.darkroom import ROOT, Darkroom, RunFailed
from handbook.equations import Equations
from handbook.gallery import gallery_page
from handbook.navigation import as_mkdocs, unlisted
from handbook.rig_format import rig_format_page
from handbook.staging import PageError, stage

SCHEMA = ROOT / "docs" / "schema" / "ecorche-rig.schema.json"


def build(output: Path, room: Darkroom | None) -> int:
    """Write the site to a folder, whole or not at all; the number of its pages.

    Args:
        output: The site's folder; what was there is replaced.
        room: Where commands are run for pictures; None leaves those out.
    """
    if missing := unlisted(ROOT / "docs"):
        raise PageError(f"pages without a place in handbook/navigation.py: {', '.join(missing)}")
    output = output.resolve()  # the generator takes paths from its own file
    output.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=output.parent, prefix=".handbook-") as scratch:
        pages, site = Path(scratch) / "pages", Path(scratch) / "site"
        pages.mkdir()
        present = stage(pages, room)
        (pages / "reference").mkdir(exist_ok=True)
        made = {
            "reference/commands.md": commands_page(),
            "reference/rig-format.md": rig_format_page(json.loads(SCHEMA.read_text(encoding="utf-8"))),
            "gallery.md": gallery_page(room, pages),
        }
        for page, text in made.items():
            (pages / page).write_text(text, encoding="utf-8")
        _write_style(pages / "style.css")
        present += made
        config = load_config(
            config_file=(Path(__file__).parent / "mkdocs.yml").open("rb"),
            docs_dir=str(pages),
            site_dir=str(site),
            nav=as_mkdocs(present),
            copyright=f"Ecorche {__version__}, Apache-2.0",
            strict=True,
        )
        config.markdown_extensions.append(Equations())
        build_site(config)
        shutil.rmtree(output, ignore_errors=True)
        site.rename(output)
    return len(present)


def _write_style(path: Path) -> None:
    """Our own style, and colours of code for light and dark."""
    light = HtmlFormatter(style="default").get_style_defs(".codehilite")
    dark = HtmlFormatter(style="github-dark").get_style_defs('[data-bs-theme="dark"] .codehilite')
    own = (Path(__file__).parent / "style.css").read_text(encoding="utf-8")
    path.write_text(f"{light}\n{dark}\n{own}", encoding="utf-8")


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description="Build the handbook.")
    parser.add_argument("output", type=Path, nargs="?", default=ROOT / "out" / "handbook")
    parser.add_argument("--without-pictures", action="store_true", help="Run no commands for pictures")
    parser.add_argument(
        "--cache", type=Path, default=ROOT / ".cache" / "handbook", help="Where runs are kept"
    )
    given = parser.parse_args()
    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    try:
        count = build(given.output, None if given.without_pictures else Darkroom(given.cache))
    except (PageError, RunFailed, MkDocsException) as error:
        print(f"handbook: {error}", file=sys.stderr)
        return 2
    print(f"{given.output / 'index.html'}: {count} pages")
    return 0


if __name__ == "__main__":
    sys.exit(main())
