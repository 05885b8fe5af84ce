"""Muscles of a measured walk as OpenSim has them: lengths, speeds, moment arms, moments; its own optimum."""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import interpolate, signal

from ecorche.biomech.muscle_curves import Millard
from ecorche.biomech.muscle_state import MuscleSizes, MuscleState, muscle_sizes, with_rigid_tendon

Floats = npt.NDArray[np.float64]

PELVIS = ("pelvis_tilt", "pelvis_list", "pelvis_rotation", "pelvis_tx", "pelvis_ty", "pelvis_tz")
LEG = ("hip_flexion", "hip_adduction", "hip_rotation", "knee_angle", "ankle_angle", "mtp_angle")
JOINTS = tuple(f"{name}_{side}" for side in "rl" for name in LEG)
CURVES = Millard(0.25, 0.77, 1.9, 0.75, damping=0.01)
"""Of all 80 muscles of the walker."""
SMOOTH = 8.0
"""Corner of the low-pass that the measured angles go through before they are differentiated twice [Hz]."""


@dataclass(frozen=True, eq=False)
class Walk:
    """Frames of a walk.

    Attributes:
        times: [s], (frames,).
        sizes: Of the muscles.
        lengths, velocities: Of their paths [m, m/s], (frames, M).
        moment_arms: About the legs' `JOINTS` [m], (frames, M, 12).
        moments: That the muscles have to make [N·m], (frames, 12).
        residual: Force at the pelvis that nothing measured accounts for [N], (frames,).
    """

    times: Floats
    sizes: MuscleSizes
    lengths: Floats
    velocities: Floats
    moment_arms: Floats
    moments: Floats
    residual: Floats

    def state(self) -> MuscleState:
        """What the muscles can do."""
        return with_rigid_tendon(self.sizes, CURVES, self.lengths, self.velocities)


@contextmanager
def opensim_in(folder: Path) -> Iterator[Any]:
    """OpenSim, quiet, working in a folder."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import opensim
        opensim.Logger.setLevelString("off")
        yield opensim
    finally:
        os.chdir(before)


def storage(path: Path) -> tuple[list[str], Floats]:
    """Columns and numbers of a file of OpenSim."""
    lines = path.read_text().splitlines()
    head = next(k for k, line in enumerate(lines) if line.strip() == "endheader") + 1
    return lines[head].split(), np.array([[float(v) for v in line.split()] for line in lines[head + 1 :]])


def _prepared(opensim: Any, data: Path) -> tuple[Any, list[str], Floats, Any]:
    """The model with residuals and reserves, its coordinates in file order, their times and splines.

    Angles are low-passed, as OpenSim and we differentiate the same numbers twice; files are left in the
    working folder.
    """
    model = opensim.Model(str(data / "walk" / "subject_walk_scaled.osim"))
    for some, strength in ((PELVIS, 1000.0), (JOINTS, 1.0)):
        for name in some:
            actuator = opensim.CoordinateActuator(name)
            actuator.setName(f"reserve_{name}")
            actuator.setOptimalForce(strength)
            model.addForce(actuator)
    for force in model.updForceSet():
        actuator = opensim.CoordinateActuator.safeDownCast(force)
        if actuator is not None:
            actuator.setMinControl(-1000.0)
            actuator.setMaxControl(1000.0)
    model.finalizeConnections()
    model.printToXML("model.osim")
    columns, table = storage(data / "walk" / "coordinates.sto")
    names = [column.split("/")[-2] for column in columns[1:]]
    kneecaps = [k for k, name in enumerate(names, start=1) if name.endswith("_beta")]
    table[:, kneecaps] = np.radians(table[:, kneecaps])  # in degrees, in a file that says it has none
    rate = 1.0 / np.diff(table[:, 0]).mean()
    sections: Any = signal.butter(4, SMOOTH, fs=rate, output="sos")
    times, values = table[:, 0], np.asarray(signal.sosfiltfilt(sections, table[:, 1:], axis=0))
    rows = ["\t".join(repr(float(v)) for v in (t, *row)) for t, row in zip(times, values, strict=True)]
    head = ["q", "version=1", f"nRows={len(rows)}", f"nColumns={len(names) + 1}", "inDegrees=no", "endheader"]
    Path("q.sto").write_text("\n".join([*head, "\t".join(["time", *names]), *rows]) + "\n")
    return model, names, times, interpolate.make_interp_spline(times, values, k=5)


def measured_walk(data: Path, times: Sequence[float]) -> Walk:
    """The walk at some times, everything by OpenSim itself."""
    at = np.asarray(times, np.float64)
    with tempfile.TemporaryDirectory() as folder, opensim_in(Path(folder)) as opensim:
        model, names, _, splines = _prepared(opensim, data)
        moments, residual = _moments(opensim, data, at)
        state = model.initSystem()
        muscles = [model.getMuscles().get(k) for k in range(model.getMuscles().getSize())]
        sizes = muscle_sizes(
            [muscle.getName() for muscle in muscles],
            [muscle.getMaxIsometricForce() for muscle in muscles],
            [muscle.getOptimalFiberLength() for muscle in muscles],
            [muscle.getTendonSlackLength() for muscle in muscles],
            pennation=[muscle.getPennationAngleAtOptimalFiberLength() for muscle in muscles],
            fastest=[muscle.getMaxContractionVelocity() for muscle in muscles],
        )
        shape = len(at), len(muscles)
        lengths, velocities, arms = np.empty(shape), np.empty(shape), np.zeros((*shape, len(JOINTS)))
        slopes = splines.derivative()
        joints = [model.getCoordinateSet().get(name) for name in JOINTS]
        for f, time in enumerate(at):
            for name, value, slope in zip(names, splines(time), slopes(time), strict=True):
                coordinate = model.getCoordinateSet().get(name)
                if not coordinate.getLocked(state):
                    coordinate.setValue(state, float(value), False)
                    coordinate.setSpeedValue(state, float(slope))
            model.assemble(state)
            model.realizeVelocity(state)
            for m, muscle in enumerate(muscles):
                lengths[f, m], velocities[f, m] = muscle.getLength(state), muscle.getLengtheningSpeed(state)
                for c, joint in enumerate(joints):
                    if JOINTS[c][-1] == sizes.names[m][-1]:
                        arms[f, m, c] = muscle.computeMomentArm(state, joint)
        return Walk(at, sizes, lengths, velocities, arms, moments, residual)


def _moments(opensim: Any, data: Path, times: Floats) -> tuple[Floats, Floats]:
    """Moments and the root's residual by OpenSim's inverse dynamics.

    A knee's moment has that of the kneecap that follows it.
    """
    tool = opensim.InverseDynamicsTool()
    tool.setModelFileName("model.osim")
    tool.setCoordinatesFileName("q.sto")
    tool.setLowpassCutoffFrequency(-1)
    tool.setExternalLoadsFileName(str(data / "walk" / "grf_walk.xml"))
    tool.setStartTime(float(times[0]) - 0.01)
    tool.setEndTime(float(times[-1]) + 0.01)
    tool.setResultsDir(".")
    tool.setOutputGenForceFileName("moments.sto")
    excluded = opensim.ArrayStr()
    excluded.append("Muscles")
    excluded.append("actuators")
    tool.setExcludedForces(excluded)
    tool.run()
    columns, table = storage(Path("moments.sto"))
    result = np.empty((len(times), len(JOINTS)))
    for c, name in enumerate(JOINTS):
        column = table[:, columns.index(f"{name}_moment")]
        if name.startswith("knee_angle"):
            column = column + table[:, columns.index(f"{name}_beta_force")]
        result[:, c] = np.interp(times, table[:, 0], column)
    forces = [table[:, columns.index(f"{name}_force")] for name in PELVIS[3:]]
    return result, np.interp(times, table[:, 0], np.linalg.norm(forces, axis=0))


def opensim_optimum(data: Path, start: float, end: float, every: int) -> tuple[Floats, Floats, Floats]:
    """What OpenSim's StaticOptimization finds, every so many thousandths of a second.

    Returns:
        Times [s], activations (frames, 80), and the reserves of `JOINTS` [N·m] (frames, 12).
    """
    with tempfile.TemporaryDirectory() as folder, opensim_in(Path(folder)) as opensim:
        _prepared(opensim, data)
        tool = opensim.AnalyzeTool()
        tool.setName("walk")
        tool.setModelFilename("model.osim")
        tool.setCoordinatesFileName("q.sto")
        tool.setExternalLoadsFileName(str(data / "walk" / "grf_walk.xml"))
        tool.setLowpassCutoffFrequency(-1)
        tool.setInitialTime(start)
        tool.setFinalTime(end)
        tool.setResultsDir(".")
        optimum = opensim.StaticOptimization()
        optimum.setStartTime(start)
        optimum.setEndTime(end)
        optimum.setStepInterval(every)
        optimum.setUseModelForceSet(True)
        optimum.setActivationExponent(2)
        optimum.setUseMusclePhysiology(True)
        optimum.setConvergenceCriterion(1e-6)
        optimum.setMaxIterations(500)
        tool.updAnalysisSet().cloneAndAppend(optimum)
        tool.printToXML("tool.xml")
        opensim.AnalyzeTool("tool.xml", True).run()
        columns, table = storage(Path("walk_StaticOptimization_activation.sto"))
    reserves = table[:, [columns.index(f"reserve_{name}") for name in JOINTS]]
    return table[:, 0], table[:, 1:81], reserves
