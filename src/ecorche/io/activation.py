"""Activation curves as files: read, and written again, by suffix.

| suffix | what |
|---|---|
| `.csv` | a table for people: seconds in the first column, a muscle or group in each other one |
| `.sto` | OpenSim's storage, see `opensim_storage` |

    time,biceps brachii,"vastus lateralis, left"
    0.0,0.0,0.1
    0.5,0.8,0.1
    1.0,,0.3

In CSV the first row names the columns; names with commas are quoted, as spreadsheets do. An empty cell is no
key. Between keys activation is smooth and never leaves their values.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Collection, Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ecorche.base.files import require_file, whole_file
from ecorche.errors import EcorcheError, ReadError, WriteError
from ecorche.io.opensim_storage import Naming, read_storage, write_storage
from ecorche.muscles.activation import Curves
from ecorche.muscles.keyed_activation import Keys

Floats = npt.NDArray[np.float64]


ROUNDING = 1e-6
"""So far outside of 0 to 1 solvers leave activations that are on the border; they are put on it."""


def read_activation(
    path: str | os.PathLike[str], muscles: Collection[str] | None = None
) -> dict[str, tuple[Floats, Floats]]:
    """Times [s] and activations 0 to 1, both (keys,), by the name of the column.

    Args:
        path: A ``.csv`` or ``.sto`` file.
        muscles: Names of columns that are muscles; None takes all for muscles. Others, such as reserves and
            residuals that OpenSim writes beside them, may have any value.
    """
    path = require_file(path)
    if path.suffix.lower() == ".sto":
        return _of_storage(path, muscles)
    names, rows = _csv_table(path)
    keys: dict[str, tuple[list[float], list[float]]] = {name: ([], []) for name in names}
    for number, row in rows:
        time = _number(row[0], f"{path}, row {number}, column 'time'")
        for name, cell in zip(names, row[1:], strict=False):
            if cell.strip():
                where = f"{path}, row {number}, column {name!r}"
                value = _number(cell, where)
                if muscles is None or name in muscles:
                    value = _share(value, where)
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


def write_activation(
    path: str | os.PathLike[str], curves: Mapping[str, Keys], *, naming: Naming = "path"
) -> None:
    """Write curves by name, in CSV or as OpenSim's storage, by the file's suffix.

    CSV keeps keys as they are. Storage has no empty cells: there every curve gets a value at every time at
    which any has a key.

    Args:
        path: A ``.csv`` or ``.sto`` file.
        curves: Times [s] and activations 0 to 1 of each muscle or group.
        naming: How storage calls its columns: ``"path"`` as ``/forceset/soleus_r/activation``, ``"dot"`` as
            ``soleus_r.activation``.
    """
    path = Path(path)
    if not curves:
        raise WriteError("there are no curves to write", where=path, remedy="Choose some muscles")
    try:
        checked = Curves(list(curves.values()))
    except EcorcheError as error:
        number = int(str(error.where).rsplit(" ", 1)[-1])
        name = list(curves)[number]
        raise WriteError(error.what, where=f"{path}, curve {name!r}", remedy=error.remedy) from None
    times = np.unique(np.concatenate([t for t, _ in checked.keys]))
    if path.suffix.lower() == ".sto":
        write_storage(path, "activations", times, dict(zip(curves, checked.at(times).T, strict=True)), naming)
        return
    if path.suffix.lower() != ".csv":
        raise WriteError(
            f"{path.suffix!r} is no kind of file for activation curves",
            where=path,
            remedy="Name it .csv, or .sto for OpenSim",
        )
    cells = [dict(zip(t.tolist(), v.tolist(), strict=True)) for t, v in checked.keys]
    with whole_file(path) as partial, partial.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["time", *curves])
        writer.writerows([time, *(column.get(time, "") for column in cells)] for time in times.tolist())


def _of_storage(path: Path, muscles: Collection[str] | None) -> dict[str, tuple[Floats, Floats]]:
    times, columns = read_storage(path)
    for name, values in columns.items():
        if muscles is not None and name not in muscles:
            continue
        outside = ~((values >= -ROUNDING) & (values <= 1.0 + ROUNDING))
        if outside.any():
            row = int(np.argmax(outside))
            _share(float(values[row]), f"{path}, {times[row]:g} s, column {name!r}")
        columns[name] = values.clip(0.0, 1.0)
    return {name: (times, values) for name, values in columns.items()}


def _csv_table(path: Path) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """Names of the columns after the first, and the rows with their numbers in the file."""
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
    for number, row in rows[1:]:
        if len(row) > len(header):
            raise ReadError(
                f"a row has {len(row)} cells for {len(header)} columns",
                where=f"{path}, row {number}",
                remedy="Quote names and numbers that contain commas",
            )
    return names, rows[1:]


def _share(value: float, where: str) -> float:
    if not -ROUNDING <= value <= 1.0 + ROUNDING:
        raise ReadError(
            f"the activation {value:g} is not between 0 and 1",
            where=where,
            remedy="Give shares of full activation, not percent or newtons",
        )
    return min(max(value, 0.0), 1.0)


def _number(text: str, where: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = np.nan
    if not np.isfinite(value):
        raise ReadError(f"{text.strip()!r} is no number", where=where, remedy="Write it as 0.25")
    return value
