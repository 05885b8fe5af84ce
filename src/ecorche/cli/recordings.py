"""Measured markers, as commands take them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ecorche.errors import EcorcheError

if TYPE_CHECKING:
    from ecorche.base.recordings import MarkerRecording


def read_markers(path: Path, up: str, start: float | None, end: float | None) -> MarkerRecording:
    """Markers of a .trc or .c3d file, +Y up, from a second to another; ``up`` is the file's axis, y or z."""
    from ecorche.base.recordings import Y_UP_FROM_Z_UP

    if up not in ("y", "z"):
        raise EcorcheError(f"no axis {up!r} points up", where="--up", remedy="Choose y or z")
    if path.suffix.lower() == ".c3d":
        from ecorche.io.c3d import read_c3d

        markers = read_c3d(path).markers
    elif path.suffix.lower() == ".trc":
        from ecorche.io.trc import read_trc

        markers = read_trc(path)
    else:
        raise EcorcheError("is no file of markers", where=path, remedy="Give a .trc or .c3d file")
    if up == "z":
        markers = markers.turned(Y_UP_FROM_Z_UP)
    if start is not None or end is not None:
        first = float(markers.times[0]) if start is None else start
        markers = markers.between(first, float(markers.times[-1]) if end is None else end)
    return markers
