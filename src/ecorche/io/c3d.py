"""C3D: markers, analogue channels and force plates of one trial, read by the package `ezc3d`.

Lengths are converted by the file's own unit, moments by that of their channels. A point that the file marks
as invalid is a gap: NaN. Axes stay those of the laboratory, mostly +Z up: `MarkerRecording.turned` takes them
to a model's.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ecorche.base.files import require_file
from ecorche.base.names import listed
from ecorche.base.recordings import AnalogRecording, ForceRecording, MarkerRecording
from ecorche.errors import MissingPackageError, ReadError
from ecorche.io.c3d_structure import require_sound
from ecorche.io.force_plates import Plate, plate_forces
from ecorche.io.trc import metres_in

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class C3dTrial:
    """What one file holds.

    Attributes:
        markers: All points that are named.
        analog: All channels, those of the plates among them; None without any.
        plates: What each force plate did to the person.
    """

    markers: MarkerRecording
    analog: AnalogRecording | None
    plates: tuple[ForceRecording, ...]


def read_c3d(path: str | os.PathLike[str]) -> C3dTrial:
    """Read a trial."""
    path = require_file(path)
    try:
        import ezc3d
    except ImportError:
        raise MissingPackageError(
            "C3D files need the package ezc3d", where=path, remedy='Run: pip install "ecorche[biomech]"'
        ) from None
    require_sound(path)
    try:
        file = ezc3d.c3d(str(path))
    except (OSError, RuntimeError, ValueError, IndexError) as error:
        reason = " ".join(str(error).split())
        raise ReadError(f"is no C3D file that can be read ({reason})", where=path) from None
    groups, data, header = file["parameters"], file["data"], file["header"]
    unit = metres_in(_text(groups, "POINT", "UNITS", ["mm"])[0], path)
    start, rate = int(header["points"]["first_frame"]), float(header["points"]["frame_rate"])
    markers = _markers(groups, data, unit, start, rate, path)
    analog = _analog(groups, data, start / rate if rate > 0.0 else 0.0)
    plates = () if analog is None else tuple(_plates(groups, analog, unit, path))
    return C3dTrial(markers, analog, plates)


def _values(groups: Any, group: str, name: str) -> Floats | None:
    if group not in groups or name not in groups[group]:
        return None
    return np.asarray(groups[group][name]["value"], np.float64)


def _text(groups: Any, group: str, name: str, otherwise: list[str] | None = None) -> list[str]:
    """Strings of a parameter, and of those that carry on when there are more than 255."""
    found: list[str] = []
    for number in ["", *map(str, range(2, 100))]:
        if group not in groups or name + number not in groups[group]:
            break
        found += [str(word).strip() for word in groups[group][name + number]["value"]]
    return found or list(otherwise or [])


def _markers(groups: Any, data: Any, unit: float, start: int, rate: float, path: Path) -> MarkerRecording:
    points = np.asarray(data["points"], np.float64)
    frames, names = points.shape[2], _text(groups, "POINT", "LABELS")[: points.shape[1]]
    names += [f"point_{k}" for k in range(len(names), points.shape[1])]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ReadError(
            f"points have the same name: {listed(twice, 5)}", where=path, remedy="Name each point once"
        )
    positions = np.ascontiguousarray(points[:3].transpose(2, 1, 0)) * unit
    residuals = np.asarray(data["meta_points"]["residuals"], np.float64).reshape(points.shape[1], frames)
    positions[(residuals.T < 0.0) | np.isnan(positions).any(axis=2)] = np.nan
    times = (start + np.arange(frames)) / rate if frames else np.zeros(0)
    return MarkerRecording(tuple(names), times, positions, (), str(path))


def _analog(groups: Any, data: Any, start: float) -> AnalogRecording | None:
    values = np.asarray(data["analogs"], np.float64)
    rate = _values(groups, "ANALOG", "RATE")
    if values.size == 0 or rate is None or not rate.ravel()[0] > 0.0:
        return None
    count, samples = values.shape[1:]
    names = _text(groups, "ANALOG", "LABELS")[:count]
    names += [f"channel_{k}" for k in range(len(names), count)]
    units = (_text(groups, "ANALOG", "UNITS") + [""] * count)[:count]
    times = start + np.arange(samples) / rate.ravel()[0]
    return AnalogRecording(tuple(names), tuple(units), times, np.ascontiguousarray(values[0].T))


def _plates(groups: Any, analog: AnalogRecording, unit: float, path: Path) -> list[ForceRecording]:
    used = _values(groups, "FORCE_PLATFORM", "USED")
    count = 0 if used is None or used.size == 0 else int(used.ravel()[0])
    kinds, corners, origins, wires, matrices = (
        _values(groups, "FORCE_PLATFORM", name)
        for name in ("TYPE", "CORNERS", "ORIGIN", "CHANNEL", "CAL_MATRIX")
    )
    if not count:
        return []
    if (
        kinds is None
        or corners is None
        or origins is None
        or wires is None
        or count < 0
        or [kinds.size, corners.size, origins.size] != [count, 12 * count, 3 * count]
        or wires.size == 0
        or wires.size % count
    ):
        raise ReadError(
            f"its {count} force plates have no TYPE, CORNERS, ORIGIN and CHANNEL, or another number of them",
            where=path,
            remedy="Mend its group FORCE_PLATFORM",
        )
    found = []
    for k in range(count):
        kind, name = int(kinds.ravel()[k]), f"plate {k + 1}"
        numbers = wires.reshape(-1, count)[:, k].astype(int)
        numbers = numbers[numbers > 0] - 1
        if (numbers >= len(analog.names)).any():
            raise ReadError(
                f"{name} reads channel {numbers.max() + 1} of {len(analog.names)}",
                where=path,
                remedy="Mend FORCE_PLATFORM:CHANNEL",
            )
        matrix = None
        if matrices is not None and matrices.size == 36 * count:
            # it makes forces and moments of the channels, these in the unit of lengths
            matrix = matrices.reshape(6, 6, count)[:, :, k] * np.repeat([1.0, unit], 3)[:, None]
        plate = Plate(
            f"{path}, {name}",
            kind,
            corners.reshape(3, 4, -1)[:, :, k].T * unit,
            origins.reshape(3, -1)[:, k] * unit,
            matrix,
        )
        channels = _in_si(plate, analog, numbers, unit)
        one = plate_forces(plate, channels, analog.times)
        found.append(ForceRecording(name, one.times, one.force, one.point, one.moment))
    return found


def _in_si(plate: Plate, analog: AnalogRecording, numbers: npt.NDArray[np.int64], unit: float) -> Floats:
    """Channels of a plate in newtons, newton metres and metres; of type 4 as they are, its matrix does it."""
    channels = analog.values[:, numbers].copy()
    if plate.kind in (1, 2):
        for column in range(3, min(6, channels.shape[1])):
            told = re.sub("[^a-z]", "", analog.units[numbers[column]].lower())
            is_point = plate.kind == 1 and column < 5
            length = told if is_point else told.removeprefix("n")
            channels[:, column] *= {"mm": 1e-3, "cm": 1e-2, "m": 1.0}.get(length, unit)
    return channels
