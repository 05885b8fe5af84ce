"""Activations of an arm and of a walk: those of OpenSim's static optimisation."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from benchmarks.tensions import accounted, correlations, cost, left_out, solved, walkers_emg
from benchmarks.walking_muscles import (
    measured_walk,
    muscles_of_opensim,
    opensim_optimum,
    static_optimisation_tool,
    storage,
)
from scipy import interpolate, signal

from conftest import Figure
from ecorche.biomech.muscle_curves import Thelen
from ecorche.biomech.muscle_state import muscle_sizes, with_rigid_tendon
from ecorche.biomech.tensions import muscle_tensions
from osim_models import ARM_FILE, opensim_package

Floats = npt.NDArray[np.float64]
ARM_JOINTS = ("r_shoulder_elev", "r_elbow_flex")
CURVES = Thelen(0.5, 4.0, 0.6, 0.033, 0.3, 1.8)


def arm_files(opensim: Any, data: Path) -> None:
    """The arm with reserves, and its published motion, in the working folder."""
    model = opensim.Model(str(data / ARM_FILE))
    for name in ARM_JOINTS:
        actuator = opensim.CoordinateActuator(name)
        actuator.setName(f"reserve_{name}")
        actuator.setOptimalForce(1.0)
        actuator.setMinControl(-1000.0)
        actuator.setMaxControl(1000.0)
        model.addForce(actuator)
    model.finalizeConnections()
    model.printToXML("arm.osim")
    results = data / "arm26" / "reference" / "ComputedMuscleControl" / "Results"
    columns, table = storage(results / "arm26_Kinematics_q.sto")
    times = np.arange(0.032, 0.988, 0.002)
    angles = interpolate.make_interp_spline(table[:, 0], np.radians(table[:, 1:]), k=5)(times)
    sections: Any = signal.butter(4, 6.0, fs=500.0, output="sos")
    angles = signal.sosfiltfilt(sections, angles, axis=0)  # the published motion trembles
    rows = ["\t".join(repr(float(v)) for v in (t, *row)) for t, row in zip(times, angles, strict=True)]
    head = ["q", "version=1", f"nRows={len(rows)}", "nColumns=3", "inDegrees=no", "endheader"]
    Path("q.sto").write_text("\n".join([*head, "\t".join(columns), *rows]) + "\n")


def arm_moments(opensim: Any, times: Floats) -> Floats:
    tool = opensim.InverseDynamicsTool()
    tool.setModelFileName("arm.osim")
    tool.setCoordinatesFileName("q.sto")
    tool.setLowpassCutoffFrequency(-1)
    tool.setStartTime(0.05)
    tool.setEndTime(0.97)
    tool.setResultsDir(".")
    tool.setOutputGenForceFileName("moments.sto")
    excluded = opensim.ArrayStr()
    excluded.append("Muscles")
    tool.setExcludedForces(excluded)
    tool.run()
    columns, table = storage(Path("moments.sto"))
    names = [f"{name}_moment" for name in ARM_JOINTS]
    return np.stack([np.interp(times, table[:, 0], table[:, columns.index(name)]) for name in names], axis=1)


def test_an_arms_activations_are_those_of_opensim(data: Path, tmp_path: Path, figure: Figure) -> None:
    """Six Thelen muscles over a published motion, our curves throughout; and near the published activations.

    Those were made by another method, with elastic tendons and muscles that take their time.
    """
    with opensim_package(tmp_path) as opensim:
        arm_files(opensim, data)
        columns, table, _ = static_optimisation_tool(
            opensim, "arm.osim", "q.sto", (0.1, 0.95), 25, precision=1e-8, steps=1000
        )
        times, theirs = table[:, 0], table[:, 1:7]
        moments = arm_moments(opensim, times)
        model = opensim.Model("arm.osim")
        state = model.initSystem()
        muscles = [model.getMuscles().get(name) for name in columns[1:7]]
        sizes = muscle_sizes(
            columns[1:7],
            [muscle.getMaxIsometricForce() for muscle in muscles],
            [muscle.getOptimalFiberLength() for muscle in muscles],
            [muscle.getTendonSlackLength() for muscle in muscles],
            pennation=[muscle.getPennationAngleAtOptimalFiberLength() for muscle in muscles],
            fastest=[muscle.getMaxContractionVelocity() for muscle in muscles],
        )
        _, motion = storage(Path("q.sto"))
        splines = interpolate.make_interp_spline(motion[:, 0], motion[:, 1:], k=5)
        lengths, speeds = np.empty((len(times), 6)), np.empty((len(times), 6))
        arms = np.empty((len(times), 6, 2))
        for f, time in enumerate(times):
            for c, name in enumerate(ARM_JOINTS):
                coordinate = model.getCoordinateSet().get(name)
                coordinate.setValue(state, float(splines(time)[c]), False)
                coordinate.setSpeedValue(state, float(splines.derivative()(time)[c]))
            model.realizeVelocity(state)
            for m, muscle in enumerate(muscles):
                lengths[f, m], speeds[f, m] = muscle.getLength(state), muscle.getLengtheningSpeed(state)
                for c, name in enumerate(ARM_JOINTS):
                    about = model.getCoordinateSet().get(name)
                    arms[f, m, c] = muscle.computeMomentArm(state, about)
    able = with_rigid_tendon(sizes, CURVES, lengths, speeds)
    names: dict[str, Any] = {"muscles": sizes.names, "coordinates": ARM_JOINTS}
    found = muscle_tensions(
        arms,
        moments,
        sizes.strongest,
        state=replace(able, passive=0.0 * able.passive),  # which OpenSim leaves out here
        least=0.01,
        reserve=1.0,
        **names,
    )
    met = np.einsum("fm,fmc->fc", able.active * theirs, arms) + table[:, 7:9]
    assert met == pytest.approx(moments, abs=0.005)  # so both solve the same problem
    away = np.abs(found.activation - theirs)
    figure("an arm's activations against OpenSim's static optimisation", float(away.max()), 1e-4, "of full")
    assert away.max() < 1e-4
    results = data / "arm26" / "reference" / "ComputedMuscleControl" / "Results"
    columns, table = storage(results / "arm26_states.sto")
    published = np.stack(
        [
            np.interp(times, table[:, 0], table[:, columns.index(f"{name}.activation")])
            for name in sizes.names
        ],
        axis=1,
    )
    apart = float(np.abs(found.activation - published).mean())
    figure("an arm's activations against the published ones, mean", apart, 0.1, "of full")
    assert apart < 0.1
    for name in ("BIClong", "TRIlat"):
        m = sizes.names.index(name)
        likeness = float(np.corrcoef(found.activation[:, m], published[:, m])[0, 1])
        figure(f"{name} against its published activation", likeness, 0.8, "correlation")
        assert likeness > 0.8


def test_a_walks_activations_are_those_of_opensim(data: Path, tmp_path: Path, figure: Figure) -> None:
    """Eighty Millard muscles in frames all over it; moments by OpenSim, what muscles can do by our curves.

    OpenSim's strength of a muscle has another angle of its fibres (see the curves' tests): taken over here.
    With the right one it is our activations that its own muscles make the moments with.
    """
    with opensim_package(tmp_path):
        theirs = opensim_optimum(data, 0.5, 1.75, 250)
    walk = measured_walk(data, [float(t) for t in theirs.times])
    assert len(walk.times) == 7
    taken, strongest = walk.optimised_state(), walk.sizes.strongest
    assert taken.active * theirs.activation == pytest.approx(theirs.force, abs=1e-3)
    assert walk.lacking(theirs.force) == pytest.approx(theirs.reserve, abs=1e-4)  # so both solve one problem
    found = solved(walk, state=taken, reserve=1.0)
    away = np.abs(found.force - theirs.force) / strongest
    figure("a walk's muscle forces against OpenSim's, largest", float(away.max()), 1e-3, "F_max")
    figure("a walk's muscle forces against OpenSim's, mean", float(away.mean()), 2e-5, "F_max")
    assert away.max() < 1e-3
    assert away.mean() < 2e-5
    assert (cost(found) < cost(theirs)).all()
    own = solved(walk, state=walk.active_state(), reserve=1.0)
    force, _ = muscles_of_opensim(data, walk.times, own.activation)
    assert walk.lacking(force) == pytest.approx(own.reserve, abs=1e-8)
    force, _ = muscles_of_opensim(data, walk.times, theirs.activation)
    assert np.abs(walk.lacking(force) - theirs.reserve).max() > 3.0


def test_the_walkers_emg_is_of_the_right_side(data: Path, tmp_path: Path) -> None:
    """Activations of the right leg go with it, those of the left do not."""
    with opensim_package(tmp_path):
        walk = measured_walk(data, [float(t) for t in np.arange(0.5, 1.751, 0.1)])
    found, emg = solved(walk), walkers_emg(data)
    assert found.notes == ()
    right, left = (np.array(list(correlations(walk, emg, found, side).values())) for side in "rl")
    assert right.mean() > 0.3
    assert left.mean() < 0.0
    assert (right > left).sum() >= 8


def test_emg_of_nine_channels_predicts_the_tenth(data: Path, tmp_path: Path, figure: Figure) -> None:
    """By their synergies better than without EMG in most; not so where the nine run backwards."""
    with opensim_package(tmp_path):
        walk = measured_walk(data, [float(t) for t in np.arange(0.5, 1.751, 0.02)])
    emg = walkers_emg(data)
    rows = [left_out(accounted(walk, data), emg, channel) for channel in emg.channels]
    rise = sum(row.synergies > row.without for row in rows)
    more = float(np.mean([row.synergies - row.without for row in rows]))
    figure("channels predicted better by the nine others", rise, 6, "of 10")
    figure("mean rise of their correlation", more, 0.05, "")
    assert rise >= 6
    assert more > 0.05
    assert np.mean([row.backwards - row.without for row in rows]) < 0.0
