"""Muscles of a measured walk as OpenSim has them: lengths, speeds, moment arms, moments; its own optimum."""

from __future__ import annotations

import os
import tempfile
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
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

    def active_state(self) -> MuscleState:
        """The same without what fibres resist when stretched."""
        able = self.state()
        return replace(able, passive=0.0 * able.passive)

    def optimised_state(self) -> MuscleState:
        """What OpenSim's static optimisation takes them to be able to do.

        It leaves passive forces out, and its strength of a muscle has another angle of the fibres than its
        own muscles have (see the tests of the curves).
        """
        able, sizes = self.active_state(), self.sizes
        slip = np.cos(np.arcsin(sizes.thickness / (able.fibre_length / sizes.optimal_length))) / able.cosine
        return replace(able, active=able.active * slip)

    def lacking(self, force: Floats) -> Floats:
        """Of the moments, what muscles that pull so hard [N], (frames, M), do not make [N·m]."""
        return np.asarray(self.moments - np.einsum("fm,fmc->fc", force, self.moment_arms))


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
        joints = [model.getCoordinateSet().get(name) for name in JOINTS]
        for f in _posed(model, state, names, splines, at):
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


def _posed(model: Any, state: Any, names: Sequence[str], splines: Any, times: Floats) -> Iterator[int]:
    """Numbers of frames, each with the model posed and moving as it is then."""
    slopes = splines.derivative()
    for f, at in enumerate(times):
        for name, value, slope in zip(names, splines(at), slopes(at), strict=True):
            coordinate = model.getCoordinateSet().get(name)
            if not coordinate.getLocked(state):
                coordinate.setValue(state, float(value), False)
                coordinate.setSpeedValue(state, float(slope))
        model.assemble(state)
        yield f


def muscles_of_opensim(data: Path, times: Floats, activation: Floats) -> tuple[Floats, Floats]:
    """Active and passive forces of OpenSim's own muscles, with rigid tendons, at some times of the walk.

    Args:
        data: Where the walk is.
        times: [s], (frames,).
        activation: (frames, M).

    Returns:
        Along the tendons [N], (frames, M) each; the damping of fibres is in the passive ones.
    """
    active, passive = np.empty(activation.shape), np.empty(activation.shape)
    with tempfile.TemporaryDirectory() as folder, opensim_in(Path(folder)) as opensim:
        model, names, _, splines = _prepared(opensim, data)
        muscles = [model.getMuscles().get(k) for k in range(model.getMuscles().getSize())]
        for muscle in muscles:
            muscle.set_ignore_tendon_compliance(True)
        state = model.initSystem()
        for f in _posed(model, state, names, splines, times):
            for muscle, level in zip(muscles, activation[f], strict=True):
                muscle.setActivation(state, float(level))
            model.realizeDynamics(state)
            active[f] = [muscle.getActiveFiberForceAlongTendon(state) for muscle in muscles]
            passive[f] = [muscle.getPassiveFiberForceAlongTendon(state) for muscle in muscles]
    return active, passive


def static_optimisation_tool(
    opensim: Any,
    model: str,
    coordinates: str,
    span: tuple[float, float],
    every: int,
    *,
    precision: float,
    steps: int,
    loads: Path | None = None,
) -> tuple[list[str], Floats, Floats]:
    """OpenSim's StaticOptimization, Σ a², of files in the working folder.

    Args:
        opensim: The package.
        model, coordinates: Names of files; coordinates are taken as they are.
        span: First and last time [s].
        every: Frames of the coordinates from one that is solved to the next; both ends are solved too.
        precision, steps: When it is content, and how long it tries.
        loads: External ones.

    Returns:
        Names of columns, the first of which is time; activations and forces, frame by frame.
    """
    tool = opensim.AnalyzeTool()
    tool.setName("it")
    tool.setModelFilename(model)
    tool.setCoordinatesFileName(coordinates)
    if loads is not None:
        tool.setExternalLoadsFileName(str(loads))
    tool.setLowpassCutoffFrequency(-1)
    tool.setInitialTime(span[0])
    tool.setFinalTime(span[1])
    tool.setResultsDir(".")
    optimum = opensim.StaticOptimization()
    optimum.setStartTime(span[0])
    optimum.setEndTime(span[1])
    optimum.setStepInterval(every)
    optimum.setUseModelForceSet(True)
    optimum.setActivationExponent(2)
    optimum.setUseMusclePhysiology(True)
    optimum.setConvergenceCriterion(precision)
    optimum.setMaxIterations(steps)
    tool.updAnalysisSet().cloneAndAppend(optimum)
    tool.printToXML("tool.xml")
    opensim.AnalyzeTool("tool.xml", True).run()
    columns, activation = storage(Path("it_StaticOptimization_activation.sto"))
    forces, force = storage(Path("it_StaticOptimization_force.sto"))
    return columns, activation, force[:, [forces.index(name) for name in columns]]


@dataclass(frozen=True, eq=False)
class Optimum:
    """What OpenSim's static optimisation finds.

    Attributes:
        times: [s], (frames,).
        activation, force: Of the muscles [-, N], (frames, M).
        reserve: Torques of the reserves of `JOINTS` [N·m], (frames, 12).
        seconds: That its tool took.
    """

    times: Floats
    activation: Floats
    force: Floats
    reserve: Floats
    seconds: float


def opensim_optimum(data: Path, start: float, end: float, every: int) -> Optimum:
    """What OpenSim's StaticOptimization finds, every so many thousandths of a second."""
    with tempfile.TemporaryDirectory() as folder, opensim_in(Path(folder)) as opensim:
        model = _prepared(opensim, data)[0]
        names = [model.getMuscles().get(k).getName() for k in range(model.getMuscles().getSize())]
        begin = time.perf_counter()
        columns, activation, force = static_optimisation_tool(
            opensim,
            "model.osim",
            "q.sto",
            (start, end),
            every,
            precision=1e-6,
            steps=500,
            loads=data / "walk" / "grf_walk.xml",
        )
        took = time.perf_counter() - begin
    muscles = [columns.index(name) for name in names]
    reserves = [columns.index(f"reserve_{name}") for name in JOINTS]
    return Optimum(activation[:, 0], activation[:, muscles], force[:, muscles], force[:, reserves], took)
