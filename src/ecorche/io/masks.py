"""Mask files: one number a vertex.

``.npy`` holds an array (vertices,). ``.csv`` and ``.txt`` hold either one number a line, as many as there are
vertices, or lines of a vertex's number and its value, where vertices that are not named are 0:

    vertex,weight
    4711,0.25
    4712,1
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ecorche.base.files import require_file, require_folder, whole_file
from ecorche.errors import ReadError, WriteError

Floats = npt.NDArray[np.float64]

SUFFIXES = (".npy", ".csv", ".txt")


def read_mask(path: str | os.PathLike[str], vertex_count: int) -> Floats:
    """The values of a mask for that many vertices, shape (vertices,)."""
    path = require_file(path)
    values = _array(path) if path.suffix.lower() == ".npy" else _lines(path, vertex_count)
    if values.shape != (vertex_count,):
        raise ReadError(
            f"holds values of shape {values.shape} for {vertex_count} vertices",
            where=path,
            remedy="Give one number a vertex of the body",
        )
    return values


def write_mask(path: str | os.PathLike[str], values: Floats) -> None:
    """Write a mask: all values in ``.npy``, those above 0 by number in ``.csv`` and ``.txt``."""
    path = Path(path)
    require_folder(path)
    if path.suffix.lower() not in SUFFIXES:
        raise WriteError(
            f"{path.suffix!r} is no kind of mask file", where=path, remedy=f"Choose {', '.join(SUFFIXES)}"
        )
    with whole_file(path) as partial:
        if path.suffix.lower() == ".npy":
            with partial.open("wb") as file:
                np.save(file, values.astype(np.float32), allow_pickle=False)
        else:
            rows = "".join(f"{vertex},{values[vertex]:.6g}\n" for vertex in np.flatnonzero(values > 0.0))
            partial.write_text(f"vertex,weight\n{rows}", encoding="utf-8", newline="\n")


def _array(path: Path) -> Floats:
    try:
        values = np.load(path, allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        raise ReadError(f"is no NumPy array ({error})", where=path, remedy="Save it with np.save") from None
    if not isinstance(values, np.ndarray) or values.dtype.kind not in "fiub":
        raise ReadError("holds no numbers", where=path, remedy="Save one array of numbers with np.save")
    return np.asarray(values, np.float64)


def _lines(path: Path, vertex_count: int) -> Floats:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ReadError("is not text in UTF-8", where=path, remedy="Save it as UTF-8") from None
    rows = [
        (number, line.replace(";", ",").replace(",", " ").split())
        for number, line in enumerate(text.splitlines(), 1)
        if line.strip() and not line.lstrip().startswith("#")
    ]
    if rows and any(character.isalpha() for character in rows[0][1][0]):
        rows = rows[1:]
    if not rows:
        raise ReadError("is empty", where=path, remedy="Write a number a vertex")
    if all(len(cells) == 1 for _, cells in rows):
        return np.array([_number(cells[0], path, number) for number, cells in rows])
    values = np.zeros(vertex_count)
    for number, cells in rows:
        if len(cells) != 2:
            raise ReadError(
                f"{len(cells)} numbers in a line",
                where=f"{path}, line {number}",
                remedy="Write a vertex's number and its value",
            )
        vertex = _number(cells[0], path, number)
        if vertex != int(vertex) or not 0 <= vertex < vertex_count:
            raise ReadError(
                f"there is no vertex {cells[0]}",
                where=f"{path}, line {number}",
                remedy=f"The body's vertices are numbered from 0 to {vertex_count - 1}",
            )
        values[int(vertex)] = _number(cells[1], path, number)
    return values


def _number(text: str, path: Path, line: int) -> float:
    try:
        value = float(text)
    except ValueError:
        value = np.nan
    if not np.isfinite(value):
        raise ReadError(f"{text!r} is no number", where=f"{path}, line {line}", remedy="Write it as 0.25")
    return value
