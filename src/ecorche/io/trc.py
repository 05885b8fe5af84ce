"""Marker trajectories, `.trc`: five lines of header, then a row a frame, apart by tabs.

Lengths are converted by the unit the file names. An empty cell, a word like ``NaN``, or all three numbers
exactly zero, which no camera measures, is a gap: NaN. The axes stay as they are in the file.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ecorche.base.files import require_file, whole_file
from ecorche.base.names import listed
from ecorche.base.recordings import MarkerRecording
from ecorche.errors import ReadError, WriteError

Floats = npt.NDArray[np.float64]

METRES = {
    "mm": 1e-3,
    "cm": 1e-2,
    "dm": 0.1,
    "m": 1.0,
    "meters": 1.0,
    "metres": 1.0,
    "in": 0.0254,
    "ft": 0.3048,
}
"""Of each unit a file of markers may name."""
_GAPS = {"", "nan", "-nan", "na", "n/a", "-nan(ind)", "nan(ind)", "1.#qnan", "-1.#ind"}


def metres_in(unit: str, where: object) -> float:
    """How many metres a unit of length has."""
    factor = METRES.get(unit.strip().lower())
    if factor is None:
        raise ReadError(
            f"its unit of length is {unit.strip()!r}", where=where, remedy=f"Write one of {', '.join(METRES)}"
        )
    return factor


def read_trc(path: str | os.PathLike[str]) -> MarkerRecording:
    """The markers of a file."""
    path = require_file(path)
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise ReadError("is no text", where=path, remedy="Choose a .trc file") from None
    if len(lines) < 6 or not lines[0].split() or lines[0].split()[0] != "PathFileType":
        raise ReadError(
            "does not begin with 'PathFileType' and a header", where=path, remedy="Choose a .trc file"
        )
    header = dict(zip(lines[1].split(), lines[2].split(), strict=False))
    scale = metres_in(header.get("Units", "none"), path)
    names = _names(lines[3], path)
    rows = [(n, line.rstrip("\r\n").split("\t")) for n, line in enumerate(lines[5:], 6) if line.strip()]
    table = np.array([_row(cells, len(names), f"{path}, line {n}") for n, cells in rows])
    for key, found in (("NumMarkers", len(names)), ("NumFrames", len(rows))):
        if header.get(key, str(found)) != str(found):
            raise ReadError(
                f"its header promises {key}={header[key]}, but it has {found}",
                where=path,
                remedy="It is cut off or was edited by hand: mend it",
            )
    if not len(rows):
        raise ReadError("it has no frames", where=path, remedy="Choose another file")
    times = table[:, 0].copy()
    if np.isnan(times).any() or (np.diff(times) <= 0.0).any():
        bad = np.isnan(times) | np.concatenate([[False], np.diff(times) <= 0.0])
        raise ReadError(
            "times do not rise",
            where=f"{path}, line {rows[int(np.argmax(bad))][0]}",
            remedy="Sort the rows by time",
        )
    positions = table[:, 1:].reshape(len(rows), len(names), 3)
    notes = _mark_gaps(positions, names)
    return MarkerRecording(names, times, positions * scale, notes, str(path))


def write_trc(path: str | os.PathLike[str], markers: MarkerRecording) -> None:
    """Write markers in millimetres, gaps as empty cells."""
    count, rate = len(markers.names), markers.rate
    for name in markers.names:
        if not name.strip() or "\t" in name or "\n" in name:
            raise WriteError(f"a marker cannot be named {name!r}", where=path, remedy="Leave tabs out")
    with whole_file(path) as partial, partial.open("w", encoding="utf-8", newline="\n") as file:
        file.write(f"PathFileType\t4\t(X/Y/Z)\t{Path(path).name}\n")
        file.write("DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\t")
        file.write(f"OrigNumFrames\n{rate:g}\t{rate:g}\t{len(markers.times)}\t{count}\tmm\t{rate:g}\t1\t")
        file.write(f"{len(markers.times)}\n")
        file.write("\t".join(["Frame#", "Time", *(f"{name}\t\t" for name in markers.names)]) + "\n")
        axes = "\t".join(f"{axis}{k + 1}" for k in range(count) for axis in "XYZ")
        file.write(f"\t\t{axes}\n\n")
        for number, (time, frame) in enumerate(zip(markers.times, markers.positions, strict=True), 1):
            cells = ["" if np.isnan(value) else repr(float(value) * 1e3) for value in frame.ravel()]
            file.write("\t".join([str(number), repr(float(time)), *cells]) + "\n")


def _names(line: str, path: Path) -> tuple[str, ...]:
    """Marker names stand over the first of their three columns."""
    names = tuple(name.strip() for name in line.split("\t")[2:] if name.strip())
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ReadError(
            f"markers have the same name: {listed(twice, 5)}", where=path, remedy="Name each marker once"
        )
    if not names:
        raise ReadError(
            "its fourth line names no markers", where=path, remedy="Name them, apart by three tabs"
        )
    return names


def _row(cells: list[str], markers: int, where: str) -> list[float]:
    """Time and coordinates of one frame; NaN where there is none."""
    wanted = 2 + 3 * markers
    while len(cells) > wanted and not cells[-1].strip():
        cells = cells[:-1]  # tabs at the end of a line
    if len(cells) != wanted:
        raise ReadError(
            f"has {len(cells)} cells where {markers} markers need {wanted}",
            where=where,
            remedy="Leave the cell of a missing marker empty, between its tabs; else the file is cut off",
        )
    try:
        values = [float("nan") if cell.strip().lower() in _GAPS else float(cell) for cell in cells[1:wanted]]
    except ValueError:
        raise ReadError("holds a word that is no number", where=where, remedy="Mend the cell") from None
    if np.isinf(values).any():
        raise ReadError("holds an infinite number", where=where, remedy="Leave the cell empty")
    return values


def _mark_gaps(positions: Floats, names: tuple[str, ...]) -> tuple[str, ...]:
    """Make whole markers of half gaps and exact zeros NaN; say which zeros."""
    zero = (positions == 0.0).all(axis=2)
    positions[zero | np.isnan(positions).any(axis=2)] = np.nan
    counts = zero.sum(axis=0)
    return tuple(
        f"Marker {name!r} is exactly zero in {count} frames: taken for gaps."
        for name, count in zip(names, counts.tolist(), strict=True)
        if count
    )
