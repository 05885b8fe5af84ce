"""Measured markers, ground forces and muscle activity, as commands take them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ecorche.base.names import listed, nearest, suggestion
from ecorche.errors import EcorcheError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ecorche.base.recordings import ForceRecording, MarkerRecording

    Floats = npt.NDArray[np.float64]


LATE = 0.05
"""Activations that begin later than the motion, or end earlier, by so many seconds are told."""


class MeasuredActivation(NamedTuple):
    """Muscle activity of a recording, on a model's muscles.

    Attributes:
        activation: 0 to 1, NaN where nothing was measured, (frames, muscles).
        notes: What was done to the channels; those treated alike in one sentence.
    """

    activation: Floats
    notes: tuple[str, ...]


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


def read_model_activation(
    path: Path, muscles: Sequence[str], first: float, last: float
) -> tuple[dict[str, tuple[Floats, Floats]], list[str]]:
    """Times [s] and activations by muscle of a .sto or .csv file, for a motion of some seconds, and notes.

    OpenSim writes reserves and residuals into the same file: what is no muscle is left out, and told.
    """
    from ecorche.io.activation import read_activation

    columns = read_activation(path, set(muscles))
    curves = {name: columns[name] for name in muscles if name in columns}
    others, absent = ([n for n in all_of_them if n not in curves] for all_of_them in (columns, muscles))
    for name in others:
        meant = nearest(name, absent, alike=0.8)
        if meant is not None or not curves:
            raise EcorcheError(
                f"the model has no muscle {name!r}", where=path, remedy=suggestion(name, absent)
            )
    notes = []
    if others:
        notes.append(f"no muscles of the model, and left out of {path.name}: {listed(others, 4)}")
    begins = min(float(times[0]) for times, _ in curves.values())
    ends = max(float(times[-1]) for times, _ in curves.values())
    spans = f"its activations run from {begins:g} to {ends:g} s, the motion from {first:g} to {last:g} s"
    if begins == ends:
        return curves, notes  # the same throughout
    if begins > last + LATE or ends < first - LATE:
        raise EcorcheError(spans, where=path, remedy="Give activations of the same recording")
    if begins > first + LATE or ends < last - LATE:
        notes.append(f"{spans}: outside of theirs the first and last of {path.name} are held")
    return curves, notes


class GroundForces(NamedTuple):
    """Measured forces, +Y up.

    Attributes:
        forces: Those that act.
        notes: What a person should know.
        files: All that were read.
    """

    forces: tuple[ForceRecording, ...]
    notes: tuple[str, ...]
    files: tuple[Path, ...]


def read_ground_forces(path: Path | None, up: str = "y") -> GroundForces:
    """Forces of OpenSim's .xml of external loads or of the plates of a .c3d file; none of no file."""
    from ecorche.base.recordings import Y_UP_FROM_Z_UP

    if path is None:
        return GroundForces((), (), ())
    if path.suffix.lower() == ".xml":
        from ecorche.io.external_loads import read_external_loads

        forces, notes, data = read_external_loads(path)
        return GroundForces(forces, notes, (path, data))
    if path.suffix.lower() == ".c3d":
        from ecorche.io.c3d import read_c3d

        plates = read_c3d(path).plates
        turned = tuple(one.turned(Y_UP_FROM_Z_UP) if up == "z" else one for one in plates)
        return GroundForces(turned, (), (path,))
    if path.suffix.lower() in (".mot", ".sto"):
        raise EcorcheError(
            "does not say which of its columns push which body",
            where=path,
            remedy="Give OpenSim's .xml of external loads, which says it and names this file",
        )
    raise EcorcheError(
        "holds no ground forces", where=path, remedy="Give OpenSim's .xml of external loads, or a .c3d file"
    )


def require_table(emg: Path | None, table: Path | None) -> None:
    """Refuse a recording of muscle activity without the table of its channels, and a table alone."""
    if (emg is None) != (table is None):
        raise EcorcheError(
            "a recording and its table belong together",
            where="--emg, --emg-table",
            remedy="Give both: which channel lies on which muscle nobody can guess",
        )


def read_measured_activation(
    path: Path, table: Path, muscles: Sequence[str], times: Floats
) -> MeasuredActivation:
    """Activity of a .sto or .c3d file at some times [s] on named muscles, by a table of its channels."""
    import numpy as np

    from ecorche.biomech.emg import envelopes, measured_activation, read_placements
    from ecorche.io.opensim_storage import read_table

    if path.suffix.lower() == ".c3d":
        from ecorche.io.c3d import read_c3d

        analog = read_c3d(path).analog
        if analog is None:
            raise EcorcheError("holds no analogue channels", where=path, remedy="Give another file of EMG")
        when, columns = analog.times, dict(zip(analog.names, analog.values.T, strict=True))
    else:
        read = read_table(path)
        when, columns = read.times, dict(read.columns)
    placements = read_placements(table)
    used = list(dict.fromkeys(one.channel for one in placements if one.channel in columns))
    if not used:
        raise EcorcheError(
            "none of its channels is one of the recording's",
            where=table,
            remedy=f"The recording has {', '.join(list(columns)[:6])}",
        )
    emg = envelopes(when, np.stack([columns[name] for name in used], axis=1), used)
    alike: dict[str, list[str]] = {}
    for note in emg.notes:
        channel, _, what = note.partition(": ")
        alike.setdefault(what, []).append(channel)
    notes = tuple(f"{', '.join(channels)}: {what}" for what, channels in alike.items())
    return MeasuredActivation(measured_activation(emg, placements, muscles, times), notes)
