"""Poses of a model from a table that somebody has already: what inverse kinematics of another program wrote.

OpenSim names a column ``pelvis_tilt``, or, since version 4, by the path of the coordinate's value,
``/jointset/ground_pelvis/pelvis_tilt/value``; tables of states hold speeds and more besides. Angles are in
degrees where the file says so, shifts never.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from ecorche.base.names import listed
from ecorche.biomech.model import MusculoskeletalModel
from ecorche.errors import MotionError

Floats = npt.NDArray[np.float64]

_VALUE = re.compile(r"^(?:.*/)?([^/]+)/value$")
_FEW = 3
"""Coordinates of a model that a table must have, or it is of another model; of smaller ones half."""


def coordinates_from_columns(
    model: MusculoskeletalModel, columns: Mapping[str, Floats], *, degrees: bool, where: object
) -> tuple[Floats, tuple[str, ...]]:
    """Poses [rad or m], (rows, coordinates), and notes of what the table does not say.

    Args:
        model: Whose coordinates they are.
        columns: Values by the name of the column, (rows,).
        degrees: Whether angles are in degrees.
        where: The table, for messages.
    """
    named: dict[str, Floats] = {}
    for column, values in columns.items():
        found = _VALUE.match(column)
        named[found[1] if found else column] = values
    known = [coordinate.name for coordinate in model.coordinates]
    has = [name for name in known if name in named]
    if len(has) < min(_FEW, (len(known) + 1) // 2):
        raise MotionError(
            f"of {len(known)} coordinates of the model it has {len(has)}; its columns are"
            f" {listed(list(columns), 4)}",
            where=where,
            remedy=f"Give a table with columns such as {listed(known, 3)}",
        )
    poses = np.empty((len(next(iter(named.values()))), len(known)))
    for k, coordinate in enumerate(model.coordinates):
        if coordinate.name not in named:
            poses[:, k] = coordinate.default
            continue
        values = named[coordinate.name]
        gaps = ~np.isfinite(values)
        if gaps.any():
            raise MotionError(
                f"coordinate {coordinate.name!r} has no number in row {int(np.argmax(gaps)) + 1}",
                where=where,
                remedy="Fill the gap first, or leave these rows out",
            )
        poses[:, k] = np.radians(values) if degrees and coordinate.unit == "rad" else values
    return poses, _notes(model, named, poses, degrees)


def _notes(
    model: MusculoskeletalModel, named: Mapping[str, Floats], poses: Floats, degrees: bool
) -> tuple[str, ...]:
    told = []
    missing = [c.name for c in model.coordinates if c.name not in named and not c.locked]
    if missing:
        told.append(f"the table does not tell {listed(missing, 4)}: they stay at the model's own values")
    turns = [k for k, coordinate in enumerate(model.coordinates) if coordinate.unit == "rad"]
    if turns and not degrees and np.abs(poses[:, turns]).max() > 4.0 * np.pi:
        k = turns[int(np.argmax(np.abs(poses[:, turns]).max(axis=0)))]
        most = np.abs(poses[:, k]).max()
        told.append(f"{model.coordinates[k].name!r} turns by {most:.0f} radians: are they degrees?")
    return tuple(told)
