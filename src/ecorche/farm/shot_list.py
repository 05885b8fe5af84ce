"""Shot lists: a CSV or TOML file with a shot a row, and what it does otherwise than the others.

A shot has a name and settings, which are the options of ``ecorche bake``. In TOML a table ``[defaults]``
holds for all shots that do not say otherwise; an empty cell of a CSV file says nothing.
"""

from __future__ import annotations

import csv
import io
import tomllib
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ecorche.base.files import require_file
from ecorche.base.names import suggestion
from ecorche.errors import EcorcheError, ReadError

FORMAT = "format"
"""The setting that says which kind of file a shot becomes."""
USUAL_FORMAT = "usdc"
_FORBIDDEN = frozenset('/\\:*?"<>|')
"""Characters that some file system does not take in a name."""


@dataclass(frozen=True)
class Shot:
    """One shot of a list.

    Attributes:
        name: What it is called, and its file.
        settings: Options as they are written in the list; for TOML with their types.
        where: The list and the row, for messages.
    """

    name: str
    settings: dict[str, Any]
    where: str

    def file_name(self) -> str:
        """Name and suffix of the file it becomes."""
        return f"{self.name}.{str(self.settings.get(FORMAT, USUAL_FORMAT)).lstrip('.').lower()}"


def read_shots(path: Path) -> list[Shot]:
    """The shots of a list in their order, with names that are names of files, each once."""
    suffix = path.suffix.lower()
    if suffix not in (".csv", ".toml"):
        raise ReadError(
            f"the suffix {suffix!r} is none of a shot list", where=path, remedy="Write .csv or .toml"
        )
    try:
        text = require_file(path).read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ReadError(
            f"is not UTF-8 (byte {error.start})", where=path, remedy="Save it as UTF-8"
        ) from error
    shots = list(_from_csv(text, path) if suffix == ".csv" else _from_toml(text, path))
    if not shots:
        raise ReadError("there is no shot in it", where=path, remedy="Write one a row")
    _require_apart(shots)
    return shots


def _from_csv(text: str, path: Path) -> Iterator[Shot]:
    first = text.split("\n", 1)[0]
    delimiter = ";" if ";" in first and "," not in first else ","
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        head = [title.strip() for title in next(rows, [])]
        _require_titles(head, path)
        for cells in rows:
            where = f"{path}, line {rows.line_num}"
            if not any(cell.strip() for cell in cells):
                continue
            if len(cells) != len(head):
                raise ReadError(
                    f"has {len(cells)} cells, the first line {len(head)}",
                    where=where,
                    remedy="Give every row a cell for each column",
                )
            told = {title: cell.strip() for title, cell in zip(head, cells, strict=True) if cell.strip()}
            yield _shot(told, where)
    except csv.Error as error:
        raise ReadError(f"is not CSV ({error})", where=f"{path}, line {rows.line_num}") from error


def _require_titles(head: list[str], path: Path) -> None:
    twice = sorted({title for title in head if head.count(title) > 1})
    if twice:
        raise ReadError(
            f"there are two columns {twice[0]!r}", where=f"{path}, line 1", remedy="Keep one of them"
        )
    if "name" not in head:
        raise ReadError(
            "has no column 'name'",
            where=f"{path}, line 1",
            remedy="Begin it with: name,character,motion and more options of ecorche bake",
        )


def _from_toml(text: str, path: Path) -> Iterator[Shot]:
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ReadError(f"is not TOML ({error})", where=path) from error
    for name in document:
        if name not in ("defaults", "shot"):
            raise ReadError(
                f"there is nothing called {name!r} in a shot list",
                where=path,
                remedy=suggestion(name, ["defaults", "shot"]),
            )
    defaults, shots = document.get("defaults", {}), document.get("shot", [])
    if not isinstance(defaults, dict) or "name" in defaults:
        raise ReadError("'defaults' is a table of options without a name", where=path)
    if not isinstance(shots, list) or not all(isinstance(shot, dict) for shot in shots):
        raise ReadError("'shot' is no list of tables", where=path, remedy="Begin each shot with [[shot]]")
    for number, own in enumerate(shots, start=1):
        yield _shot({**defaults, **own}, f"{path}, shot {number}")


def _shot(told: dict[str, Any], where: str) -> Shot:
    name = told.pop("name", None)
    if not isinstance(name, str) or not name.strip():
        raise ReadError("has no name", where=where, remedy="Give every shot a name")
    name = name.strip()
    bad = sorted({c for c in name if c in _FORBIDDEN or unicodedata.category(c) == "Cc"})
    if bad or name.startswith(".") or name.endswith("."):
        what = f"has {', '.join(map(repr, bad))}" if bad else "begins or ends with a full stop"
        raise ReadError(f"the name {name!r} {what}", where=where, remedy="Its file is called like it")
    return Shot(name, {key.replace("_", "-"): value for key, value in told.items()}, where)


def _require_apart(shots: list[Shot]) -> None:
    """Refuse two shots that some file system takes for one file."""
    seen: dict[str, Shot] = {}
    for shot in shots:
        same = unicodedata.normalize("NFC", shot.file_name()).casefold()
        before = seen.setdefault(same, shot)
        if before is not shot:
            first = before.where.rsplit(", ", 1)[-1]
            raise EcorcheError(
                f"the shot {shot.name!r} is there already ({first})",
                where=shot.where,
                remedy="Give each a name of its own",
            )
