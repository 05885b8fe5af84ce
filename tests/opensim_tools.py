"""OpenSim's own tools, run on files: the answers that ours are held against."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ecorche.biomech.model import MusculoskeletalModel
from ecorche.io.opensim_storage import StorageTable, read_table

Floats = npt.NDArray[np.float64]


def inverse_kinematics_tool(
    opensim: Any,
    model: Path,
    markers: Path,
    weights: Mapping[str, float],
    span: tuple[float, float],
    folder: Path,
    accuracy: float = 1e-5,
) -> StorageTable:
    """Coordinates by OpenSim's InverseKinematicsTool."""
    tool = opensim.InverseKinematicsTool()
    tool.set_model_file(str(model))
    tool.setMarkerDataFileName(str(markers))
    tool.setStartTime(span[0])
    tool.setEndTime(span[1])
    tool.setOutputMotionFileName(str(folder / "ik.mot"))
    tool.setResultsDir(str(folder))
    tool.set_accuracy(accuracy)
    tool.set_report_errors(False)
    for name, weight in weights.items():
        task = opensim.IKMarkerTask()
        task.setName(name)
        task.setApply(True)
        task.setWeight(weight)
        tool.upd_IKTaskSet().cloneAndAppend(task)
    assert tool.run()
    return read_table(folder / "ik.mot")


def inverse_dynamics_tool(
    opensim: Any, model: Path, coordinates: Path, loads: Path | None, span: tuple[float, float], folder: Path
) -> StorageTable:
    """Forces of coordinates by OpenSim's InverseDynamicsTool, of coordinates as they are."""
    tool = opensim.InverseDynamicsTool()
    tool.setModelFileName(str(model))
    tool.setCoordinatesFileName(str(coordinates))
    tool.setLowpassCutoffFrequency(-1.0)
    tool.setStartTime(span[0])
    tool.setEndTime(span[1])
    tool.setResultsDir(str(folder))
    tool.setOutputGenForceFileName("id.sto")
    if loads is not None:
        tool.setExternalLoadsFileName(str(loads))
    without = opensim.ArrayStr()
    without.append("Muscles")
    without.append("Actuators")
    tool.setExcludedForces(without)
    assert tool.run()
    return read_table(folder / "id.sto")


def poses(model: MusculoskeletalModel, table: StorageTable) -> Floats:
    """Rows of a table as poses of a model, (rows, coordinates)."""
    return np.stack(
        [
            np.deg2rad(table.column(c.name)) if table.degrees and c.unit == "rad" else table.column(c.name)
            for c in model.coordinates
        ],
        axis=1,
    )
