"""OpenSim's storage, `.sto` and `.mot`: a header, tab-separated names, and a row of numbers a time.

    activations
    version=1
    nRows=2
    nColumns=3
    inDegrees=no
    endheader
    time	/forceset/soleus_r/activation	/forceset/recfem_r/activation
    0.0	0.1	0.0
    0.5	0.8	0.0

OpenSim since version 4 names columns by the path of what they belong to; before, it wrote
``soleus_r.activation``. Files of states hold activations among lengths, forces and coordinates: then the
activations are read (`read_storage`). A file without such columns, as of controls, is read whole, each column
as a muscle. Any other table is read by `read_table`: whether its angles are in degrees it says, and which of
its columns are angles the model knows. Part of OpenSim takes a space for the end of a name: names are written
with underscores instead, and found again by them (`KeyedActivation`). The number of columns in a header is
not looked at: files that OpenSim wrote and reads have a wrong one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt

from ecorche.base.files import require_file, whole_file
from ecorche.base.names import suggestion
from ecorche.errors import ReadError, WriteError

Floats = npt.NDArray[np.float64]
Naming = Literal["path", "dot"]

_ACTIVATION = re.compile(r"^(?:.*/)?([^/]+?)[./]activation$")


@dataclass(frozen=True, eq=False)
class StorageTable:
    """A table over time as its file has it.

    Attributes:
        times: [s], (rows,), rising.
        columns: Values by the name of the column, (rows,); NaN where the file has it.
        degrees: Whether the file says that its angles are in degrees.
        source: The file, for messages.
    """

    times: Floats
    columns: Mapping[str, Floats]
    degrees: bool
    source: str

    def column(self, name: str) -> Floats:
        """One column, (rows,); an unknown name is refused with the nearest one."""
        if name not in self.columns:
            raise ReadError(
                f"there is no column {name!r}", where=self.source, remedy=suggestion(name, self.columns)
            )
        return self.columns[name]


def read_table(path: str | os.PathLike[str]) -> StorageTable:
    """Any storage file or motion, `.sto` or `.mot`: coordinates, forces, whatever its columns are."""
    path = require_file(path)
    header, names, lines = _parts(path)
    table = _numbers(path, header, names, lines, gaps=True)
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ReadError(f"two columns are named {twice!r}", where=path, remedy="Name each column once")
    columns = {name: table[:, k].copy() for k, name in enumerate(names) if k > 0}
    return StorageTable(
        table[:, 0].copy(), columns, header.get("inDegrees", "no").strip().lower() == "yes", str(path)
    )


def write_table(
    path: str | os.PathLike[str],
    title: str,
    times: Floats,
    columns: Mapping[str, Floats],
    *,
    degrees: bool = False,
) -> None:
    """Write columns (rows,) at times [s] (rows,) as OpenSim reads them; say if angles are in degrees."""
    for name in columns:
        if not name or re.search(r"\s", name):
            raise WriteError(f"a column cannot be named {name!r}", where=path, remedy="Leave spaces out")
    table = np.column_stack([times, *columns.values()])
    with whole_file(path) as partial, partial.open("w", encoding="utf-8", newline="\n") as file:
        file.write(f"{title}\nversion=1\nnRows={len(times)}\nnColumns={len(columns) + 1}\n")
        file.write(f"inDegrees={'yes' if degrees else 'no'}\nendheader\n")
        file.write("\t".join(["time", *columns]) + "\n")
        file.writelines("\t".join(map(repr, row)) + "\n" for row in table.tolist())


def read_storage(path: Path) -> tuple[Floats, dict[str, Floats]]:
    """Times [s] (rows,), and values (rows,) by the name of the muscle."""
    header, names, lines = _parts(path)
    table = _numbers(path, header, names, lines, gaps=False)
    return table[:, 0].copy(), _muscles(path, names, table)


def write_storage(
    path: Path, title: str, times: Floats, columns: Mapping[str, Floats], naming: Naming = "path"
) -> None:
    """Write activations (rows,) by muscle at times [s] (rows,); spaces in names become underscores."""
    if naming not in ("path", "dot"):
        raise WriteError(
            f"there is no way {naming!r} to name columns", where=path, remedy="Choose 'path' or 'dot'"
        )
    called = [name.replace(" ", "_") for name in columns]
    for name, short in zip(columns, called, strict=True):
        if not short or re.search(r"[\s/]", short) or called.count(short) > 1:
            raise WriteError(
                f"a column cannot be named {name!r}",
                where=path,
                remedy="Give it a name of its own, without tabs and slashes",
            )
    form = "/forceset/{}/activation" if naming == "path" else "{}.activation"
    table = np.column_stack([times, *columns.values()])
    with whole_file(path) as partial, partial.open("w", encoding="utf-8", newline="\n") as file:
        file.write(f"{title}\nversion=1\nnRows={len(times)}\nnColumns={len(columns) + 1}\ninDegrees=no\n")
        file.write("endheader\n")
        file.write("\t".join(["time", *map(form.format, called)]) + "\n")
        file.writelines("\t".join(map(repr, row)) + "\n" for row in table.tolist())


def _numbers(
    path: Path, header: Mapping[str, str], names: list[str], lines: list[tuple[int, str]], *, gaps: bool
) -> Floats:
    """The rows as numbers, times rising; NaN only where gaps are allowed, and never as a time."""
    table = np.empty((len(lines), len(names)))
    for row, (number, line) in enumerate(lines):
        cells = line.split()
        try:
            if len(cells) != len(names):
                raise ValueError
            table[row] = [float(cell) for cell in cells]
        except ValueError:
            raise ReadError(
                f"is not {len(names)} numbers",
                where=f"{path}, line {number}",
                remedy="Give a number for each column, apart by tabs",
            ) from None
        bad = np.isinf(table[row]) | (np.isnan(table[row]) & (not gaps))
        bad[0] |= np.isnan(table[row, 0])
        if bad.any():
            column = names[int(np.argmax(bad))]
            raise ReadError(
                f"the value of {column!r} is not a finite number",
                where=f"{path}, line {number}",
                remedy="Mend it, or take the column out",
            )
    if header.get("nRows", str(len(lines))) != str(len(lines)):
        raise ReadError(
            f"its header promises {header['nRows']} rows, but it has {len(lines)}",
            where=path,
            remedy="It is cut off or was edited by hand: mend its header",
        )
    times = table[:, 0]
    if len(times) == 0:
        raise ReadError("it has no rows", where=path, remedy="Choose another file")
    if (np.diff(times) <= 0.0).any():
        number = lines[int(np.argmax(np.diff(times) <= 0.0)) + 1][0]
        raise ReadError("times do not rise", where=f"{path}, line {number}", remedy="Sort the rows by time")
    return table


def _parts(path: Path) -> tuple[dict[str, str], list[str], list[tuple[int, str]]]:
    """The header's values, the names of the columns, and the lines of numbers with their own numbers."""
    try:
        text = path.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise ReadError("is no text", where=path, remedy="Choose a file that OpenSim wrote") from None
    ends = next((n for n, line in enumerate(text) if line.strip().lower() == "endheader"), None)
    if ends is None:
        raise ReadError(
            "has no line 'endheader'", where=path, remedy="Choose a storage file that OpenSim wrote"
        )
    header = dict(line.strip().split("=", 1) for line in text[:ends] if "=" in line)
    if header.get("DataType", "double") != "double":
        raise ReadError(
            f"holds {header['DataType']!r}, not plain numbers", where=path, remedy="Choose another file"
        )
    lines = [(n, line) for n, line in enumerate(text[ends + 1 :], ends + 2) if line.strip()]
    names = [name.strip() for name in lines[0][1].strip().split("\t")] if lines else []
    if len(names) < 2 or names[0].lower() != "time":
        raise ReadError(
            "does not name a time and muscles after its header",
            where=path,
            remedy="Name the columns in one line, apart by tabs",
        )
    return header, names, lines[1:]


def _muscles(path: Path, names: list[str], table: Floats) -> dict[str, Floats]:
    found = [(_ACTIVATION.match(name), column) for column, name in enumerate(names) if column > 0]
    chosen = [(match[1], column) for match, column in found if match is not None]
    if not chosen:
        chosen = [(names[column].removeprefix("/forceset/"), column) for _, column in found]
    columns: dict[str, Floats] = {}
    for name, column in chosen:
        if name in columns or not name:
            raise ReadError(f"two columns are named {name!r}", where=path, remedy="Name each column once")
        columns[name] = table[:, column].copy()
    return columns
