"""What every picture script asks its caller: where to draw, and which of the names it knows."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent
DATA = Path(os.environ.get("ECORCHE_DATA", HERE.parent.parent / "shared" / "data"))
"""Real people and creatures."""


def asked(
    about: str | None,
    folder: str,
    known: Mapping[str, Iterable[str]],
    needed: Sequence[str] = ("human",),
) -> tuple[Path, dict[str, list[str]]]:
    """Read a script's command line, and stop in words where it is wrong or the data is missing.

    Args:
        about: The script's docstring; its first line is the help.
        folder: Where in ``out/`` pictures go unless the caller says otherwise.
        known: By option, the names one may choose from.
        needed: Folders of the data that the script reads.

    Returns:
        The output folder, and by option the names chosen: all where an option is not given.
    """
    parser = argparse.ArgumentParser(description=about.splitlines()[0] if about else None)
    parser.add_argument("folder", type=Path, nargs="?", default=Path("out") / folder)
    for option, names in known.items():
        parser.add_argument(f"--{option}", help=f"Some of {', '.join(names)}")
    given = parser.parse_args()
    if absent := [f"{name}/" for name in needed if not (DATA / name).is_dir()]:
        parser.exit(2, f"{DATA}: no {' and '.join(absent)}; set ECORCHE_DATA to the folder that holds them\n")
    return given.folder, {
        option: _chosen(getattr(given, option), list(names), parser) for option, names in known.items()
    }


def _chosen(text: str | None, known: list[str], parser: argparse.ArgumentParser) -> list[str]:
    names = known if text is None else [name.strip() for name in text.split(",")]
    for name in names:
        if name not in known:
            parser.error(f"there is no {name!r}; known: {', '.join(known)}")
    return names
