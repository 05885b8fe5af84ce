"""Activation curves: a table in CSV, seconds in the first column and a muscle or group in each other one.

    time,biceps brachii,"vastus lateralis, left"
    0.0,0.0,0.1
    0.5,0.8,0.1
    1.0,,0.3

The first row names the columns; names with commas are quoted, as spreadsheets do. An empty cell is no key.
Between keys activation is smooth and never leaves their values.
"""

from __future__ import annotations

import csv
import os

import numpy as np
import numpy.typing as npt

from ecorche.base.files import require_file
from ecorche.errors import ReadError

Floats = npt.NDArray[np.float64]


def read_activation(path: str | os.PathLike[str]) -> dict[str, tuple[Floats, Floats]]:
    """Times [s] and activations 0 to 1, both (keys,), by the name of the column."""
    path = require_file(path)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = [(number, row) for number, row in enumerate(csv.reader(file), 1) if any(row)]
    except (UnicodeDecodeError, csv.Error) as error:
        raise ReadError(f"is no table in CSV ({error})", where=path, remedy="Save it as CSV, UTF-8") from None
    header = [name.strip() for name in rows[0][1]] if rows else []
    if len(header) < 2 or header[0].lower() not in ("time", "seconds", "t"):
        raise ReadError(
            "its first row does not begin with 'time' and name muscles",
            where=path,
            remedy='Begin it such as: time,biceps brachii,"vastus lateralis, left"',
        )
    names = header[1:]
    if len(set(names)) < len(names) or not all(names):
        twice = next(name for name in names if not name or names.count(name) > 1)
        raise ReadError(f"two columns are named {twice!r}", where=path, remedy="Name each column once")
    keys: dict[str, tuple[list[float], list[float]]] = {name: ([], []) for name in names}
    for number, row in rows[1:]:
        if len(row) > len(header):
            raise ReadError(
                f"a row has {len(row)} cells for {len(header)} columns",
                where=f"{path}, row {number}",
                remedy="Quote names and numbers that contain commas",
            )
        time = _number(row[0], f"{path}, row {number}, column 'time'")
        for name, cell in zip(names, row[1:], strict=False):
            if cell.strip():
                value = _number(cell, f"{path}, row {number}, column {name!r}")
                if not 0.0 <= value <= 1.0:
                    raise ReadError(
                        f"the activation {value:g} is not between 0 and 1",
                        where=f"{path}, row {number}, column {name!r}",
                        remedy="Give shares of full activation, not percent or newtons",
                    )
                if keys[name][0] and time <= keys[name][0][-1]:
                    raise ReadError(
                        "times do not rise", where=f"{path}, row {number}", remedy="Sort the rows by time"
                    )
                keys[name][0].append(time)
                keys[name][1].append(value)
    for name, (times, _) in keys.items():
        if not times:
            raise ReadError(f"column {name!r} is empty", where=path, remedy="Fill it or leave it out")
    return {name: (np.array(times), np.array(values)) for name, (times, values) in keys.items()}


def _number(text: str, where: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = np.nan
    if not np.isfinite(value):
        raise ReadError(f"{text.strip()!r} is no number", where=where, remedy="Write it as 0.25")
    return value
