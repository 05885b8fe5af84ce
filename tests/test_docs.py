"""What the pages name exists: pictures, paths, options, links, targets, results."""

from __future__ import annotations

import re
import subprocess

from conftest import ROOT


def test_the_page_on_farms_shows_what_was_measured() -> None:
    from benchmarks.readme import farm_tables

    results = (ROOT / "benchmarks" / "RESULTS.md").read_text()
    shown = re.search(
        r"<!-- results -->\n(.*?)\n<!-- /results -->", (ROOT / "docs" / "farm.md").read_text(), re.DOTALL
    )
    assert shown is not None
    assert shown[1] == farm_tables(results)
    assert shown[1].count("| 160 muscles |") == 2


def made_by_tests(name: str) -> bool:
    """Whether one of the tests that `make studio-pictures` runs leaves a picture for the handbook."""
    tests = re.findall(r"tests/test_studio_\w+\.py", (ROOT / "Makefile").read_text())
    texts = [(ROOT / test).read_text() for test in tests]
    return any("for_the_handbook" in text and f'"{name}"' in text for text in texts)


def test_pictures_of_pages_are_small_and_made_by_the_pages_own_commands() -> None:
    shown = []
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
        text = page.read_text()
        for link in re.findall(r"!\[[^\]]+\]\((\S+\.(?:png|jpg))\)", text):
            picture = page.parent / link
            shown.append(picture.name)
            assert picture.stat().st_size < 300_000
            if picture.stem.startswith("studio-"):  # of the page, by a test of it: `make studio-pictures`
                assert made_by_tests(picture.stem.removeprefix("studio-")), link
                continue
            made = rf"\$ ecorche (?:render|crowd) .*-o {picture.name}"
            if picture.suffix == ".jpg":  # of a report, as a browser shows it
                made = rf"    ecorche report .*-o {picture.stem}.html"
            assert re.search(rf"^{made}$", text, flags=re.MULTILINE), link
    assert sorted(shown) == sorted(file.name for file in (ROOT / "docs" / "pictures").iterdir())


def test_paths_that_the_house_is_told_by_exist() -> None:
    """Folders, files and tests that pages name in code marks, from the root, the package or the tests."""
    homes = [ROOT, ROOT / "src" / "ecorche", ROOT / "tests", ROOT / "src" / "ecorche" / "muscles"]
    for page in ("CONTRIBUTING.md", "docs/muscles.md", "docs/guide.md"):
        named = re.findall(r"`([a-z_]+(?:/[a-z_]+)*(?:/|\.py))`", (ROOT / page).read_text())
        for path in named:
            assert any((home / path).exists() for home in homes), f"{page}: {path}"
        assert len(named) >= (10 if page == "CONTRIBUTING.md" else 1)
    for layer in re.findall(r"`(base < [^`]+)`", (ROOT / "CONTRIBUTING.md").read_text()):
        for folder in re.split(r" < |, ", layer):
            assert (ROOT / "src" / "ecorche" / folder).is_dir(), folder


def test_options_that_pages_name_exist() -> None:
    from typer.main import get_command

    from ecorche.cli.main import app

    verbs = get_command(app).commands  # type: ignore[attr-defined]
    known = {verb: {o for p in c.params for o in p.opts} | {"--help"} for verb, c in verbs.items()}
    for page in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        text = page.read_text()
        for verb, rest in re.findall(r"^\s*(?:\$ )?ecorche (\w+)(.*?)(?:#.*)?$", text, flags=re.MULTILINE):
            assert set(re.findall(r"(?<!\S)--?[a-z][a-z-]*", rest)) <= known[verb], (
                f"{page.name}: {verb}{rest}"
            )
        for option in re.findall(r"`(--[a-z-]+)", text):
            assert any(option in options for options in known.values()), f"{page.name}: {option}"


def test_links_lead_somewhere() -> None:
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]:
        for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
            assert (page.parent / link).exists(), f"{page.name}: {link}"


def test_the_readme_shows_the_results_that_were_measured() -> None:
    from benchmarks.readme import table

    results = (ROOT / "benchmarks" / "RESULTS.md").read_text()
    shown = re.search(
        r"<!-- results -->\n(.*?)\n<!-- /results -->", (ROOT / "README.md").read_text(), re.DOTALL
    )
    assert shown is not None
    assert shown[1] == table(results)
    assert shown[1].count("\n") >= 8


def test_targets_that_pages_name_are_made_by_the_makefile() -> None:
    """Both in blocks and in sentences; nothing is built: make says what it would do."""
    named = set[str]()
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")):
        named |= {*re.findall(r"(?:^    |`)make ([a-z-]+)", page.read_text(), flags=re.MULTILINE)}
    assert len(named) >= 8
    done = subprocess.run(["make", "-n", *sorted(named)], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
