"""Where markers are on a model: a table of `marker,body,x,y,z` in metres, or OpenSim's XML of a marker set.

<Marker name="R.Knee">
    <socket_parent_frame>/bodyset/femur_r</socket_parent_frame>     (<body>femur_r</body> in older files)
    <location>0 -0.4 0.05</location>
"""

from __future__ import annotations

import csv
import math
import os
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path

from ecorche.base.files import require_file
from ecorche.errors import ReadError

Places = dict[str, tuple[str, tuple[float, float, float]]]
"""Body and place on it [m], by the name of a marker."""

COLUMNS = ["marker", "body", "x", "y", "z"]


def read_marker_places(path: str | os.PathLike[str]) -> Places:
    """Body and place [m] of each marker of a .csv or an OpenSim .xml file."""
    file = require_file(Path(path))
    suffix = file.suffix.lower()
    if suffix not in (".csv", ".xml"):
        raise ReadError(
            f"{suffix or 'a file without suffix'} holds no places of markers",
            where=file,
            remedy="Give a .csv with the columns marker,body,x,y,z, an OpenSim marker set (.xml)"
            " or a model (.osim)",
        )
    found: Places = {}
    for where, name, body, numbers in _table(file) if suffix == ".csv" else _marker_set(file):
        if not name or not body:
            raise ReadError("a marker has no name or no body", where=where, remedy="Write both")
        if name in found:
            raise ReadError(f"marker {name!r} is there twice", where=where, remedy="Leave one")
        try:
            x, y, z = (float(number) for number in numbers)
        except ValueError:
            x = y = z = math.nan
        if not all(map(math.isfinite, (x, y, z))):
            raise ReadError(
                f"the place of marker {name!r} is {' '.join(numbers)!r}",
                where=where,
                remedy="Write three numbers, in metres, in the frame of its body",
            )
        found[name] = body, (x, y, z)
    if not found:
        raise ReadError("holds no markers", where=file, remedy="Write one a line: marker,body,x,y,z")
    return found


def _table(file: Path) -> Iterator[tuple[str, str, str, list[str]]]:
    try:
        rows = list(csv.reader(file.read_text(encoding="utf-8-sig").splitlines()))
    except (UnicodeDecodeError, csv.Error) as error:
        raise ReadError(f"is no table ({error})", where=file, remedy="Save it as CSV, UTF-8") from None
    if not rows or [cell.strip().lower() for cell in rows[0]] != COLUMNS:
        raise ReadError(
            f"has no columns {', '.join(COLUMNS)}",
            where=f"{file}, line 1",
            remedy=f"Begin it with the line {','.join(COLUMNS)}",
        )
    for line, row in enumerate(rows[1:], start=2):
        cells = [cell.strip() for cell in row]
        if any(cells):
            yield f"{file}, line {line}", *(cells[:2] if len(cells) >= 2 else (cells[0], "")), cells[2:]


def _marker_set(file: Path) -> Iterator[tuple[str, str, str, list[str]]]:
    try:
        root = ElementTree.parse(file).getroot()
    except (ElementTree.ParseError, LookupError, ValueError) as error:  # encodings too
        raise ReadError(f"is no XML: {error}", where=file, remedy="Save it again from OpenSim") from None
    for one in root.iter("Marker"):
        name = one.get("name", "")
        frame = one.findtext("socket_parent_frame") or one.findtext("body") or ""
        body = frame.strip().rsplit("/", 1)[-1]
        yield f"{file}, marker {name!r}", name, body, (one.findtext("location") or "").split()
