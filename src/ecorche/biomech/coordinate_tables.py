"""Coordinates of a model as tables: by name, in degrees or radians, to poses and back.

OpenSim since version 4 names the column of a coordinate by its path, ``/jointset/hip_r/hip_flexion_r/value``;
before, and in motions, by its name. Tables of states hold speeds and more besides. Only angles are in degrees
where a table says so; the model knows which.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from ecorche.base.names import listed
from ecorche.biomech.model import MusculoskeletalModel
from ecorche.errors import MotionError

Floats = npt.NDArray[np.float64]

FAR = 100.0
"""Shifts of a coordinate above this [m] are asked about."""
_FEW = 3
"""Coordinates of a model that a table must have, or it is of another model; of smaller ones half."""


def poses_from_columns(
    model: MusculoskeletalModel, columns: Mapping[str, Floats], *, degrees: bool, where: object = "table"
) -> Floats:
    """Poses [rad and m], (rows, coordinates), of columns (rows,); one is asked for each coordinate."""
    named = _by_name(columns)
    missing = [c.name for c in model.coordinates if c.name not in named]
    if missing:
        raise MotionError(
            f"there is no column for {listed(missing, 5)}",
            where=where,
            remedy=f"Name a column for each coordinate of {model.name!r}",
        )
    return _poses(model, named, degrees, where)


def some_poses_from_columns(
    model: MusculoskeletalModel, columns: Mapping[str, Floats], *, degrees: bool, where: object = "table"
) -> tuple[Floats, tuple[str, ...]]:
    """The same of a table that lacks some coordinates, which stay where the model has them; and notes."""
    named = _by_name(columns)
    known = [coordinate.name for coordinate in model.coordinates]
    has = [name for name in known if name in named]
    if len(has) < min(_FEW, (len(known) + 1) // 2):
        raise MotionError(
            f"of {len(known)} coordinates of the model it has {len(has)}; its columns are"
            f" {listed(list(columns), 4)}",
            where=where,
            remedy=f"Give a table with columns such as {listed(known, 3)}",
        )
    poses = _poses(model, named, degrees, where)
    told = []
    missing = [c.name for c in model.coordinates if c.name not in named and not c.locked]
    if missing:
        told.append(f"the table does not tell {listed(missing, 4)}: they stay at the model's own values")
    turns = [k for k, coordinate in enumerate(model.coordinates) if coordinate.unit == "rad"]
    if turns and not degrees and np.abs(poses[:, turns]).max() > 4.0 * np.pi:
        k = turns[int(np.argmax(np.abs(poses[:, turns]).max(axis=0)))]
        most = np.abs(poses[:, k]).max()
        told.append(f"{model.coordinates[k].name!r} turns by {most:.0f} radians: are they degrees?")
    for k, coordinate in enumerate(model.coordinates):
        most = np.abs(poses[:, k]).max()
        if coordinate.unit == "m" and most > FAR:
            told.append(f"{coordinate.name!r} is {most:.0f} m from the origin: are they millimetres?")
    return poses, tuple(told)


def columns_from_poses(model: MusculoskeletalModel, q: Floats, *, degrees: bool = False) -> dict[str, Floats]:
    """Columns (rows,) by coordinate of poses [rad and m], (rows, coordinates)."""
    return {
        c.name: np.rad2deg(q[:, k]) if degrees and c.unit == "rad" else np.asarray(q[:, k])
        for k, c in enumerate(model.coordinates)
    }


def _by_name(columns: Mapping[str, Floats]) -> dict[str, Floats]:
    """Values by the coordinate; speeds and activations are left out."""
    named: dict[str, Floats] = {}
    for column, values in columns.items():
        parts = column.strip("/").split("/")
        if len(parts) == 1 or parts[-1] == "value":
            named[column if len(parts) == 1 else parts[-2]] = np.asarray(values, np.float64)
    return named


def _poses(model: MusculoskeletalModel, named: Mapping[str, Floats], degrees: bool, where: object) -> Floats:
    poses = np.empty((len(next(iter(named.values()))), len(model.coordinates)))
    for k, coordinate in enumerate(model.coordinates):
        values = named.get(coordinate.name)
        if values is None:
            poses[:, k] = coordinate.default
            continue
        gaps = ~np.isfinite(values)
        if gaps.any():
            raise MotionError(
                f"coordinate {coordinate.name!r} has no number in row {int(np.argmax(gaps)) + 1}",
                where=where,
                remedy="Fill the gap first, or leave these rows out",
            )
        poses[:, k] = np.deg2rad(values) if degrees and coordinate.unit == "rad" else values
    return poses
