"""Coordinates of a model as tables: by name, in degrees or radians, to poses and back.

OpenSim since version 4 names the column of a coordinate by its path, ``/jointset/hip_r/hip_flexion_r/value``;
before, and in motions, by its name. Only angles are in degrees where a table says so; the model knows which.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from ecorche.base.names import listed
from ecorche.biomech.model import MusculoskeletalModel
from ecorche.errors import MotionError

Floats = npt.NDArray[np.float64]


def poses_from_columns(
    model: MusculoskeletalModel, columns: Mapping[str, Floats], *, degrees: bool, where: str = "table"
) -> Floats:
    """Poses [rad and m], (rows, coordinates), of columns (rows,); one is asked for each coordinate."""
    by_name: dict[str, Floats] = {}
    for column, values in columns.items():
        parts = column.strip("/").split("/")
        if len(parts) > 1 and parts[-1] != "value":
            continue  # a speed, an activation
        by_name[parts[-2] if len(parts) > 1 else column] = values
    missing = [c.name for c in model.coordinates if c.name not in by_name]
    if missing:
        raise MotionError(
            f"there is no column for {listed(missing, 5)}",
            where=where,
            remedy=f"Name a column for each coordinate of {model.name!r}",
        )
    return np.stack(
        [
            np.deg2rad(by_name[c.name])
            if degrees and c.unit == "rad"
            else np.asarray(by_name[c.name], np.float64)
            for c in model.coordinates
        ],
        axis=1,
    )


def columns_from_poses(model: MusculoskeletalModel, q: Floats, *, degrees: bool = False) -> dict[str, Floats]:
    """Columns (rows,) by coordinate of poses [rad and m], (rows, coordinates)."""
    return {
        c.name: np.rad2deg(q[:, k]) if degrees and c.unit == "rad" else np.asarray(q[:, k])
        for k, c in enumerate(model.coordinates)
    }
