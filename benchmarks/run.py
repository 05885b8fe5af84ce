"""Measure everything and write benchmarks/RESULTS.md, and the README's table of it, anew.

python -m benchmarks.run [--only NAME]
"""

from __future__ import annotations

import argparse
import importlib
import re
from pathlib import Path

from benchmarks import readme
from ecorche.base.files import whole_file

SECTIONS = (
    "machine",
    "skinning",
    "muscles",
    "bake",
    "agreement",
    "euler_versus_swing_twist",
    "spindle_volume",
    "template_volume",
    "identification",
    "muscle_surfaces",
    "skin_layers",
    "skin_over_muscles",
    "muscles_apart",
    "muscle_studies",
    "muscles_outside",
    "extraction",
    "dog_muscles",
    "hybrid",
    "elastic_lines",
    "line_muscles",
    "line_muscle_shapes",
    "fat",
    "tensions",
    "full_body",
    "springs",
    "crowds",
    "crowd_detail",
    "farm",
    "studio",
)
"""Modules of this package in the order of the report; each has a function ``section() -> str``."""

RESULTS = Path(__file__).with_name("RESULTS.md")

HEAD = """# Results

Written by `make bench` (`python -m benchmarks.run`); every figure below comes from running it.
"""


def _kept() -> dict[str, str]:
    """The sections of the last report, by name."""
    if not RESULTS.exists():
        return {}
    parts = re.split(r"^<!-- section: (\w+) -->\n", RESULTS.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {name: text.strip() for name, text in zip(parts[1::2], parts[2::2], strict=True)}


def main() -> None:
    """Run the chosen sections and keep the others as they were."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=SECTIONS, action="append", help="measure this section alone")
    only = parser.parse_args().only
    sections = _kept()
    for name in SECTIONS:
        if only is None or name in only or (name == "machine" and "machine" not in sections):
            print(f"measuring: {name}", flush=True)
            sections[name] = importlib.import_module(f"benchmarks.{name}").section().strip()
    text = [HEAD, *(f"<!-- section: {n} -->\n{sections[n]}\n" for n in SECTIONS if n in sections)]
    with whole_file(RESULTS) as path:
        path.write_text("\n".join(text), encoding="utf-8")
    readme.update()
    readme.update_farm()
    print(f"written: {RESULTS.relative_to(Path.cwd()) if RESULTS.is_relative_to(Path.cwd()) else RESULTS}")


if __name__ == "__main__":
    main()
