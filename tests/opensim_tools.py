"""OpenSim's own tools, run on files: the answers that ours are held against."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ecorche.biomech.coordinate_tables import poses_from_columns
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
    return poses_from_columns(model, table.columns, degrees=table.degrees, where=table.source)


def scale_tool(
    opensim: Any,
    model: Path,
    markers: Path,
    pairs: Mapping[tuple[str, str], list[str]],
    weights: Mapping[str, float],
    span: tuple[float, float],
    mass: float,
    folder: Path,
) -> Path:
    """A model by OpenSim's ScaleTool: bodies by the distance of one pair of markers each, markers placed."""
    measurements = "".join(
        f"<Measurement name='m{k}'><apply>true</apply><MarkerPairSet><objects><MarkerPair><markers>{a} {b}"
        "</markers></MarkerPair></objects></MarkerPairSet><BodyScaleSet><objects>"
        + "".join(f"<BodyScale name='{body}'><axes>X Y Z</axes></BodyScale>" for body in bodies)
        + "</objects></BodyScaleSet></Measurement>"
        for k, ((a, b), bodies) in enumerate(pairs.items())
    )
    tasks = "".join(
        f"<IKMarkerTask name='{name}'><apply>true</apply><weight>{weight}</weight></IKMarkerTask>"
        for name, weight in weights.items()
    )
    for file in (model, markers):  # the tool takes names from its own folder on
        shutil.copyfile(file, folder / file.name)
    times = f"<marker_file>{markers.name}</marker_file><time_range>{span[0]} {span[1]}</time_range>"
    setup = folder / "scale.xml"
    setup.write_text(
        f"<OpenSimDocument Version='30000'><ScaleTool name='subject'><mass>{mass}</mass>"
        f"<GenericModelMaker><model_file>{model.name}</model_file></GenericModelMaker>"
        "<ModelScaler><apply>true</apply><scaling_order>measurements</scaling_order>"
        f"<MeasurementSet><objects>{measurements}</objects></MeasurementSet>{times}"
        "<preserve_mass_distribution>false</preserve_mass_distribution></ModelScaler>"
        f"<MarkerPlacer><apply>true</apply><IKTaskSet><objects>{tasks}</objects></IKTaskSet>{times}"
        f"<output_motion_file>pose.mot</output_motion_file><output_model_file>theirs.osim</output_model_file>"
        "<max_marker_movement>-1</max_marker_movement></MarkerPlacer></ScaleTool></OpenSimDocument>"
    )
    assert opensim.ScaleTool(str(setup)).run()
    return folder / "theirs.osim"
