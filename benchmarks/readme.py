"""The main figures of RESULTS.md as the table of the README, between its markers."""

from __future__ import annotations

import re
from pathlib import Path

from ecorche.base.files import whole_file

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "RESULTS.md"
README = ROOT / "README.md"
FARM = ROOT / "docs" / "farm.md"

SKINNING = {
    "**Ecorche, linear**": "**Ecorche**, linear skinning, a million vertices",
    "UsdSkel, linear": "UsdSkel",
    "Blender, armature modifier": "Blender's armature modifier",
    "MuJoCo's skin": "MuJoCo's skin (with normals)",
    "**Ecorche, linear and normals**": "Ecorche with normals",
    "libigl, linear": "libigl",
}
BAKE = (
    "read the person",
    "skin and normals of all frames",
    "write .usdc",
    "write .glb",
)


def _rows(text: str) -> list[list[str]]:
    """The cells of every table row of a markdown text."""
    return [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in text.splitlines()
        if line.startswith("|")
    ]


def table(results: str) -> str:
    """The README's table of a results file's text."""
    rows = _rows(results)
    lines = ["| what | figure |", "|---|---|"]
    for start, title in SKINNING.items():
        for row in rows:
            if row[0].startswith(start):
                lines.append(f"| {title} | {row[1]} ms, {row[3]} × a memory copy of the same bytes |")
                break
    muscles = re.search(r"Muscles add (\d+ %) to skinning with normals", results)
    hero = re.search(
        r"A hero of (.*?) \(.*?\n([\d.]+ ms) a frame with normals, of it muscles ([\d.]+ ms)", results
    )
    if muscles is not None:
        lines.append(
            f"| 160 muscles on a person of 13,380 vertices | add {muscles[1]} to skinning with normals |"
        )
    if hero is not None:
        lines.append(f"| A hero of {hero[1]}, a frame with normals | {hero[2]}, of it muscles {hero[3]} |")
    for start in BAKE:
        for row in rows:
            if row[0].startswith(start):
                lines.append(f"| A real person on a 344-frame walk: {row[0]} | {row[2]} |")
                break
    agreement = results.partition("## Agreement")[2].partition("<!-- section")[0]
    lines += [f"| Largest difference, {row[0]} | {row[1]} |" for row in _rows(agreement)[2:]]
    return "\n".join(lines)


def farm_tables(results: str) -> str:
    """What the page on farms shows of a results file's text: all but the title."""
    found = re.search(r"^## Shots on a farm\n(.*?)(?=^<!-- section|\Z)", results, re.MULTILINE | re.DOTALL)
    return "not measured yet" if found is None else found[1].strip()


def update() -> None:
    """Put the table between the README's markers."""
    _fill(README, table(RESULTS.read_text(encoding="utf-8")))


def update_farm() -> None:
    """Put what farms cost between the markers of their page."""
    _fill(FARM, farm_tables(RESULTS.read_text(encoding="utf-8")))


def _fill(page: Path, shown: str) -> None:
    filled = re.sub(
        r"(<!-- results -->\n).*?(<!-- /results -->)",
        lambda found: f"{found[1]}{shown}\n{found[2]}",
        page.read_text(encoding="utf-8"),
        flags=re.DOTALL,
    )
    with whole_file(page) as path:
        path.write_text(filled, encoding="utf-8")
