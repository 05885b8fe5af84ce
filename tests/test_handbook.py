"""The handbook: every page has its place, what is generated is whole, and nothing is fetched to read it."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from handbook.build import build
from handbook.darkroom import Darkroom, RunFailed
from handbook.equations import mathml
from handbook.gallery import GALLERY, HELPERS
from handbook.navigation import NAVIGATION, as_mkdocs, listed_pages, unlisted
from handbook.staging import FENCE, PageError, evened, page_commands, page_files, with_links, with_pictures
from typer.main import get_command

from conftest import ROOT
from ecorche.cli.main import app

CONCEPTS = sorted((ROOT / "docs" / "concepts").glob("*.md"))


class _Page(HTMLParser):
    """What a page fetches, what it links to, and the names in it that links may lead to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.links: list[str] = []
        self.names: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if "id" in given:
            self.names.add(given["id"])
        if tag in {"img", "script", "iframe", "source"} and "src" in given:
            self.fetched.append(given["src"])
        if tag == "link" and given.get("rel") in {"stylesheet", "icon", "shortcut icon", "preload"}:
            self.fetched.append(given["href"])
        if tag == "a" and "href" in given:
            self.links.append(given["href"])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site without pictures that take long; a warning of the generator is an error."""
    folder = tmp_path_factory.mktemp("handbook") / "site"
    build(folder, None)
    return folder


def test_every_page_has_its_place() -> None:
    assert unlisted(ROOT / "docs") == [], "give it a line in handbook/navigation.py"
    pages = listed_pages()
    assert len(pages) == len({*pages})


def test_a_page_without_a_place_is_found(tmp_path: Path) -> None:
    (tmp_path / "concepts").mkdir()
    for page in ("index.md", "guide.md", "lost.md", "concepts/astray.md"):
        (tmp_path / page).write_text("# A page\n")
    assert unlisted(tmp_path) == ["concepts/astray.md", "lost.md"]
    # one that is listed and not there is left out, and so is a section without any
    assert as_mkdocs(["index.md", "guide.md"]) == [{"Home": "index.md"}, {"Start": ["guide.md"]}]


def test_the_site_has_every_page_and_reading_it_fetches_nothing(site: Path) -> None:
    pages = {path: _Page(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}
    there = {path.relative_to(site).with_suffix(".md").as_posix() for path in pages}
    written = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    assert written | {"gallery.md", "reference/commands.md", "reference/rig-format.md"} <= there
    for path, page in pages.items():
        if path.name == "404.html":  # its links are a server's
            continue
        for file in page.fetched:
            assert not re.match(r"(?:https?:)?//", file), f"{path.name} fetches {file}"
            assert (path.parent / file).exists(), f"{path.name}: {file}"
        for link in page.links:
            target, _, name = link.partition("#")
            if re.match(r"https?:|mailto:", target):
                continue
            led = (path.parent / target).resolve() if target else path
            assert led.exists(), f"{path.name}: {link}"
            if name and led in pages:
                assert name in pages[led].names, f"{path.name}: {link}"
    for sheet in site.rglob("*.css"):
        fetched = re.findall(
            r"(?:url\(|@import\s+)[\"']?(https?:[^\"')]+)", sheet.read_text(encoding="utf-8")
        )
        assert fetched == [], sheet.name


def test_the_command_reference_has_every_option_of_every_verb(site: Path) -> None:
    page = (site / "reference" / "commands.html").read_text(encoding="utf-8")
    for name, verb in get_command(app).commands.items():  # type: ignore[attr-defined]
        section = re.search(rf'<h2 id="{name}">(.*?)(?=<h2 |<footer|$)', page, flags=re.DOTALL)
        assert section is not None, name
        for parameter in verb.params:
            shown = (
                [parameter.metavar] if parameter.metavar and parameter.param_type_name == "argument" else []
            )
            for option in shown or parameter.opts:
                assert re.search(rf"(?<![\w-]){re.escape(option)}(?![\w-])", section[1]), f"{name} {option}"


def test_the_format_reference_has_every_field_of_the_schema(site: Path) -> None:
    page = (site / "reference" / "rig-format.html").read_text(encoding="utf-8")
    schema = json.loads((ROOT / "docs" / "schema" / "ecorche-rig.schema.json").read_text())
    for name, part in {"the-file": schema, **schema["$defs"]}.items():
        section = re.search(rf'<h2 id="{name.lower()}">(.*?)(?=<h2 |<footer|$)', page, flags=re.DOTALL)
        assert section is not None, name
        for field in part.get("properties", {}):
            assert f"<code>{field}</code>" in section[1], f"{name}.{field}"


def test_concepts_have_an_equation_a_source_a_change_and_code(site: Path) -> None:
    assert len(CONCEPTS) >= 15
    homes = [ROOT / "src" / "ecorche"]
    for page in CONCEPTS:
        text = page.read_text(encoding="utf-8")
        made = (site / "concepts" / f"{page.stem}.html").read_text(encoding="utf-8")
        assert made.count("<math") == text.count("$$") // 2 + _inline_equations(text), page.name
        assert "<merror" not in made
        assert re.search(r"[Tt]exts? 00[0-4]", text), page.name
        if page.stem == "overview":
            continue
        titles = re.findall(r"^## (.+)$", text, flags=re.MULTILINE)
        told = ["The equation", "Where it is from", "What we changed, and why", "Where the code is"]
        assert titles == told, page.name
        code = re.findall(r"`([a-z_]+(?:/[a-z_]+)*(?:/|\.py))`", text.partition("## Where the code is")[2])
        assert code, page.name
        for path in code:
            assert any((home / path).exists() for home in homes), f"{page.name}: {path}"


def _inline_equations(text: str) -> int:
    return len(re.findall(r"\$[^$\n]+\$", re.sub(r"^\$\$\n.*?\n\$\$$", "", text, flags=re.M | re.S)))


def test_equations_become_mathml() -> None:
    assert mathml("x^2", display=False).startswith("<math")
    assert "<msup><mi>x</mi><mn>2</mn></msup>" in mathml("x^2", display=False)
    assert 'display="block"' in mathml("x", display=True)


def test_the_gallery_shows_every_example() -> None:
    shown = {entry.example for entry in GALLERY}
    files = {path.name for path in (ROOT / "examples").iterdir() if path.suffix in {".py", ".pose"}}
    assert shown == files - HELPERS
    pages = {*listed_pages()}
    for entry in GALLERY:
        assert entry.page in pages
        assert any(f"examples/{entry.example}" in command for command in entry.commands)


def test_sections_are_few_enough_for_one_line() -> None:
    assert len(NAVIGATION) <= 8


def test_runs_are_kept_until_something_changes(tmp_path: Path) -> None:
    room = Darkroom(tmp_path)
    count = "import pathlib; p = pathlib.Path('made.txt'); p.write_text('x')"
    command = f'python -c "{count}"'
    first = room.run("count", [command], files={"a.txt": "one"})
    assert (first / "made.txt").read_text() == "x"
    (first / "made.txt").write_text("kept")
    assert room.run("count", [command], files={"a.txt": "one"}) == first
    assert (first / "made.txt").read_text() == "kept"
    other = room.run("count", [command], files={"a.txt": "two"})
    assert other != first
    assert not first.exists()
    # what fails leaves no run that looks finished
    for wrong in ("python -c 1/0", "rm -rf nothing"):
        with pytest.raises(RunFailed, match=re.escape(wrong)):
            room.run("fails", [wrong])
    assert not list(tmp_path.glob("fails-*"))


def test_the_tutorial_shows_only_what_its_commands_make() -> None:
    text = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
    made = {command.split(" -o ")[-1].split()[0] for command in page_commands(text) if " -o " in command}
    shown = re.findall(r"<!-- shows (\S+): ", text)
    assert len(shown) >= 4
    assert {*shown} <= made
    assert [*page_files(text)] == ["arm.pose"]


def test_pages_are_made_ready_for_the_generator(tmp_path: Path) -> None:
    page = with_links(
        "[a](../benchmarks/RESULTS.md#x) [b](fat.md) [c](../examples/curl.pose)", "docs/a.md", "a.md"
    )
    assert page == "[a](reference/results.md#x) [b](fat.md) [c](examples/curl.pose)"
    assert with_links("[a](docs/fat.md)", "CHANGELOG.md", "reference/changelog.md") == "[a](../fat.md)"
    with pytest.raises(PageError, match=r"docs/a\.md: \.\./pyproject\.toml leads out of the handbook"):
        with_links("[a](../pyproject.toml)", "docs/a.md", "a.md")
    with pytest.raises(PageError, match=r"docs/guide\.md: there is no docs/none\.png"):
        with_pictures("<!-- shows none.png: Nothing -->", "guide.md", tmp_path, None)
    assert evened("text\n- one\n- two\n") == "text\n\n- one\n- two\n"
    assert evened("```csv a.csv\n- 1\n```\n") == "`a.csv`\n\n```csv\n- 1\n```\n"
    assert FENCE.search("```python\nx\n```") is not None
