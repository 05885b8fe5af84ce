"""Pages made ready for the generator: links that leave `docs/` led back, pictures put in, marks evened out.

Pages are written to be read on their own, as a forge shows them. What the site's Markdown takes otherwise is
rewritten on the way, never in the pages themselves.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path, PurePosixPath

from handbook.darkroom import ROOT, Darkroom

OUTSIDE = {
    "README.md": "index.md",
    "CHANGELOG.md": "reference/changelog.md",
    "CONTRIBUTING.md": "reference/contributing.md",
    "benchmarks/RESULTS.md": "reference/results.md",
}
"""Files outside `docs/`, from the root, and the page of the site that has them."""
ASSETS = {"examples": "examples", "benchmarks/figures": "reference/figures"}
"""Folders outside `docs/` that pages show files of, and where the site has them."""
RUN_BY_THE_BUILD = ("tutorial.md",)
"""Pages whose commands the build runs for their pictures."""
FENCE = re.compile(r"^```(\w+)(?: +([^\n]+))?\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL)
_SHOWS = re.compile(r"^<!-- shows (\S+): (.+?) -->$", flags=re.MULTILINE)
_LINK = re.compile(r"(\]\()([^)#:\s]+)((?:#[^)\s]*)?\))")


class PageError(Exception):
    """A page says something that the site cannot show; the message says what and where."""


def stage(target: Path, room: Darkroom | None) -> list[str]:
    """Put hand-written pages and what they show into a folder; the pages, from it.

    Args:
        target: An empty folder.
        room: Where a page's commands are run; None leaves the pictures out that they would make.
    """
    docs = ROOT / "docs"
    shutil.copytree(docs, target, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.md"))
    for folder, place in ASSETS.items():
        shutil.copytree(ROOT / folder, target / place, ignore=shutil.ignore_patterns("__pycache__"))
    written = [path.relative_to(docs).as_posix() for path in docs.rglob("*.md")]
    homes = {f"docs/{page}": page for page in written}
    homes |= {source: page for source, page in OUTSIDE.items() if source != "README.md"}
    for source, page in homes.items():
        text = (ROOT / source).read_text(encoding="utf-8")
        text = with_pictures(text, page, target, room)
        text = with_links(text, source, page)
        (target / page).parent.mkdir(parents=True, exist_ok=True)
        (target / page).write_text(evened(text), encoding="utf-8")
    return sorted(homes.values())


def page_commands(text: str) -> list[str]:
    """What a page tells its reader to run, in order."""
    return [
        re.sub(r"\s+#.*", "", line.removeprefix("$ "))
        for language, _, block in FENCE.findall(text)
        if language == "console"
        for line in block.splitlines()
        if line.startswith("$ ")
    ]


def page_files(text: str) -> dict[str, str]:
    """The files that a page tells its reader to write, by name."""
    return {beside: block for _, beside, block in FENCE.findall(text) if "." in beside}


def with_pictures(text: str, page: str, target: Path, room: Darkroom | None) -> str:
    """A page with pictures in place of ``<!-- shows FILE: caption -->``.

    The file is one of `docs/`, or one that the page's own commands make.
    """
    folder: Path | None = None

    def put(match: re.Match[str]) -> str:
        nonlocal folder
        file, caption = match.groups()
        above = "../" * page.count("/")
        if (ROOT / "docs" / file).is_file():
            return f"![{caption}]({above}{file})"
        if page not in RUN_BY_THE_BUILD:
            raise PageError(f"docs/{page}: there is no docs/{file}, and the page's commands are not run")
        if room is None:
            return f"*{caption} (Pictures were left out of this build.)*"
        if folder is None:
            print(f"running {page}", flush=True)
            given = [*(target / "examples").iterdir()]
            folder = room.run(page.removesuffix(".md"), page_commands(text), given, page_files(text))
        if not (folder / file).is_file():
            raise PageError(f"docs/{page}: none of its commands makes {file}")
        kept = target / page.removesuffix(".md") / file
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_bytes((folder / file).read_bytes())
        return f"![{caption}]({above}{page.removesuffix('.md')}/{file})"

    return _SHOWS.sub(put, text)


def with_links(text: str, source: str, page: str) -> str:
    """A page whose links lead to where things are in the site.

    Args:
        source: The page from the root of the project, such as ``docs/guide.md``.
        page: The same in the site, such as ``guide.md``.
    """

    def led(match: re.Match[str]) -> str:
        before, link, after = match.groups()
        place = os.path.normpath(PurePosixPath(source).parent / link)
        if not (ROOT / place).exists():  # of this build: a picture, a generated page
            return match[0]
        home = OUTSIDE.get(place)
        if home is None and place.startswith("docs/"):
            home = place.removeprefix("docs/")
        for folder, held in ASSETS.items():
            if home is None and place.startswith(f"{folder}/"):
                home = held + place.removeprefix(folder)
        if home is None:
            raise PageError(f"{source}: {link} leads out of the handbook")
        return f"{before}{os.path.relpath(home, PurePosixPath(page).parent)}{after}"

    return _outside_code(text, lambda part: _LINK.sub(led, part))


def evened(text: str) -> str:
    """Marks that the generator would not take: a list right below a line, a file beside a language."""

    def lists(part: str) -> str:
        lines: list[str] = []
        for line in part.split("\n"):
            item = re.match(r"(?:[-*]|\d+\.) ", line)
            after = lines[-1] if lines else ""
            if item and after and not re.match(r"\s|(?:[-*]|\d+\.) ", after):
                lines.append("")
            lines.append(line)
        return "\n".join(lines)

    def fences(match: re.Match[str]) -> str:
        language, beside, block = match.groups()
        named = f"`{beside}`\n\n" if beside and "." in beside else ""
        return f"{named}```{language}\n{block}```"

    return FENCE.sub(fences, _outside_code(text, lists))


def _outside_code(text: str, change: Callable[[str], str]) -> str:
    """Text changed everywhere but in fenced blocks."""
    parts, end = [], 0
    for match in FENCE.finditer(text):
        parts += [change(text[end : match.start()]), match[0]]
        end = match.end()
    return "".join([*parts, change(text[end:])])
