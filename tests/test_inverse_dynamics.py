"""Joint moments of a walk: OpenSim's own tool, what is left at the root, and forces that cannot be."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from biomech_models import GRAVITY, arm_mjcf
from conftest import Figure, skip_or_fail
from ecorche.base.recordings import ForceRecording
from ecorche.biomech.ground_forces import at_times
from ecorche.biomech.inverse_dynamics import inverse_dynamics
from ecorche.biomech.inverse_kinematics import inverse_kinematics
from ecorche.biomech.mujoco_model import MujocoModel
from ecorche.biomech.opensim_model import OpensimModel
from ecorche.errors import EcorcheError, MotionError
from ecorche.io.external_loads import read_external_loads
from ecorche.io.opensim_storage import write_table
from ecorche.io.trc import read_trc
from opensim_tools import inverse_dynamics_tool
from osim_models import ARM_FILE, WALKER_FILE, opensim_package

Floats = npt.NDArray[np.float64]
ASKED = 0.05  # of the root mean square of OpenSim's moment, of each coordinate


@pytest.fixture(scope="module")
def opensim(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with opensim_package(tmp_path_factory.mktemp("opensim")) as package:
        yield package


@dataclass(frozen=True, eq=False)
class Walk:
    model: OpensimModel
    times: Floats
    q: Floats
    forces: tuple[ForceRecording, ...]


@pytest.fixture(scope="module")
def walk(opensim: Any, data: Path) -> Walk:
    """From the first foot's middle stance to the second's, both plates measured."""
    model = OpensimModel(data / WALKER_FILE)
    markers = read_trc(data / "walk" / "markers_walk.trc").between(0.5, 1.2)
    forces = read_external_loads(data / "walk" / "grf_walk.xml").forces
    return Walk(model, markers.times, inverse_kinematics(model, markers).q, forces)


@pytest.fixture(scope="module")
def arm() -> MujocoModel:
    try:
        import mujoco
    except ImportError:
        skip_or_fail("the package mujoco is not installed")
    return MujocoModel(mujoco.MjModel.from_xml_string(arm_mjcf()))


def test_moments_of_the_walk_are_opensims(
    opensim: Any, walk: Walk, data: Path, tmp_path: Path, figure: Figure
) -> None:
    """The same smoothed coordinates and ground forces: within a thousandth, of every coordinate.

    Theirs has a moment of the knee cap apart; ours is the sum that the knee has to give. At the ends the two
    splines differ: ten frames there are left out.
    """
    mine = inverse_dynamics(walk.model, walk.times, walk.q, walk.forces)
    joints = walk.model._joints
    everything = np.array([joints.all_values(q) for q in mine.q])
    write_table(
        tmp_path / "q.sto",
        "Coordinates",
        mine.times,
        {n: everything[:, k] for k, n in enumerate(joints.names)},
    )
    loads = data / "walk" / "grf_walk.xml"
    span = (float(mine.times[0]), float(mine.times[-1]))
    table = inverse_dynamics_tool(opensim, data / WALKER_FILE, tmp_path / "q.sto", loads, span, tmp_path)
    np.testing.assert_allclose(table.times, mine.times, atol=1e-9)
    worst = 0.0
    for coordinate, unit in zip(mine.names, mine.units, strict=True):
        theirs = table.column(f"{coordinate}_{'moment' if unit == 'N m' else 'force'}")
        if coordinate.startswith("knee_angle"):
            theirs = theirs + table.column(f"{coordinate}_beta_force")
        inside = slice(10, -10)
        off = np.sqrt(((mine.of(coordinate) - theirs)[inside] ** 2).mean())
        worst = max(worst, float(off / np.sqrt((theirs[inside] ** 2).mean())))
    figure("inverse dynamics of a walk against OpenSim, worst coordinate, share of rms", worst, ASKED, "1")
    assert worst < 1e-3 < ASKED


def test_what_is_left_at_the_root_is_said(walk: Walk) -> None:
    """With both plates a tenth of the weight at most; without any, all of it, and that they lack is said."""
    weight = sum(body.mass for body in walk.model.bodies) * GRAVITY
    measured = inverse_dynamics(walk.model, walk.times, walk.q, walk.forces)
    assert measured.residual_force < 0.1 * weight
    assert len(measured.notes) == 1
    assert measured.notes[0].startswith(f"Left at the root: {measured.residual_force:.0f} N (")
    alone = inverse_dynamics(walk.model, walk.times, walk.q)
    assert alone.residual_force == pytest.approx(weight, rel=0.1)
    assert "in 0.50 to 1.20 s: no ground force was given. Moments of joints between" in alone.notes[1]
    half = inverse_dynamics(walk.model, walk.times, walk.q, walk.forces[:1])
    assert "a ground force is missing or wrong" in half.notes[1]
    first = float(half.notes[1].split(" in ")[1].split(" to ")[0])
    assert 0.83 < first < 0.95  # the left foot, left out here, touches down at 0.83 s


def test_forces_far_from_their_foot_are_refused(walk: Walk) -> None:
    right, left = walk.forces
    with pytest.raises(
        MotionError,
        match=r"force 'Right_GRF': acts 0\.\d+ m from 'calcn_l' \(it is 0\.\d+ m from 'calcn_r'\). Check",
    ):
        inverse_dynamics(
            walk.model,
            walk.times,
            walk.q,
            walk.forces,
            bodies={"Right_GRF": "calcn_l", "Left_GRF": "calcn_r"},
        )
    moved = replace(right, point=right.point + np.array([1.0, 0.0, 0.0]))
    with pytest.raises(
        MotionError, match=r"force 'Right_GRF': acts \d\.\d+ m from 'calcn_r'. Check the plate's axes"
    ):
        inverse_dynamics(walk.model, walk.times, walk.q, [moved, left])
    millimetres = replace(right, point=right.point * 1000.0)
    with pytest.raises(MotionError, match=r"acts \d+\.\d+ m from 'calcn_r'.*origin and unit"):
        inverse_dynamics(walk.model, walk.times, walk.q, [millimetres])
    turned = replace(right, force=-right.force)
    with pytest.raises(MotionError, match=r"force 'Right_GRF': pulls 'calcn_r' down. .* turn its sign"):
        inverse_dynamics(walk.model, walk.times, walk.q, [turned, left])


def test_forces_must_name_a_body_and_cover_the_motion(walk: Walk) -> None:
    right = walk.forces[0]
    with pytest.raises(MotionError, match=r"force 'Right_GRF' does not say which body it acts on"):
        inverse_dynamics(walk.model, walk.times, walk.q, [replace(right, body=None)])
    with pytest.raises(
        EcorcheError, match=r"force 'Right_GRF': there is no body 'calcn_rr'. Did you mean 'calcn_r'"
    ):
        inverse_dynamics(walk.model, walk.times, walk.q, [replace(right, body="calcn_rr")])
    with pytest.raises(MotionError, match=r"there is no force 'Right_GFR'. Did you mean 'Right_GRF'"):
        inverse_dynamics(walk.model, walk.times, walk.q, [right], bodies={"Right_GFR": "calcn_r"})
    with pytest.raises(
        MotionError, match=r"was measured from 0 to 2.3885 s, and is asked for from 0.5 to 3.*Cut"
    ):
        inverse_dynamics(walk.model, np.linspace(0.5, 3.0, len(walk.times)), walk.q, [right])
    gap = replace(right, force=np.where(np.arange(len(right.times))[:, None] == 2000, np.nan, right.force))
    with pytest.raises(MotionError, match=r"force 'Right_GRF' has no number at 1 s"):
        inverse_dynamics(walk.model, walk.times, walk.q, [gap])


def test_coordinates_with_gaps_are_refused(arm: MujocoModel) -> None:
    times, q = np.arange(20) / 100.0, np.zeros((20, 2))
    q[7, 1] = np.nan
    with pytest.raises(MotionError, match=r"frame 7 at 0.07 s has no number for 'elbow'. Fill the gap first"):
        inverse_dynamics(arm, times, q)
    with pytest.raises(MotionError, match=r"coordinates of shape \(20, 3\) for 20 frames of 2"):
        inverse_dynamics(arm, times, np.zeros((20, 3)))


def test_a_model_without_masses_is_refused(arm: MujocoModel) -> None:
    import mujoco

    light = MujocoModel(mujoco.MjModel.from_xml_string(arm_mjcf(masses=1e-9)))
    with pytest.raises(EcorcheError, match=r"no body of the model has a mass.*Give its bodies masses"):
        inverse_dynamics(light, np.arange(20) / 100.0, np.zeros((20, 2)))


def test_a_segment_that_lacks_its_mass_is_named(opensim: Any, data: Path, tmp_path: Path) -> None:
    """Markers lie on it, and the other shin has one; frames between joints may weigh nothing."""
    text = (data / WALKER_FILE).read_text()
    light = re.sub(r'(<Body name="tibia_r">.*?<mass>)[^<]*', r"\g<1>0", text, count=1, flags=re.DOTALL)
    (tmp_path / "light.osim").write_text(light)
    model = OpensimModel(tmp_path / "light.osim")
    found = inverse_dynamics(model, np.arange(20) / 100.0, np.tile(model.defaults(), (20, 1)))
    assert found.notes[0] == "'tibia_r': no mass, so moments count nothing for it."
    # what hangs fast on the ground weighs nothing and need not
    arm26 = OpensimModel(data / ARM_FILE)
    poses = np.tile(arm26.defaults(), (20, 1))
    assert inverse_dynamics(arm26, np.arange(20) / 100.0, poses).notes == ()


def test_a_force_carried_to_other_times_is_the_same_wrench() -> None:
    """Between two samples, force and moment about a fixed point are halfway, wherever the point wanders."""
    rng = np.random.default_rng(1)
    one = ForceRecording(
        "a", np.array([0.0, 1.0]), *rng.normal(size=(3, 2, 3)) * [[[100.0]], [[1.0]], [[5.0]]]
    )
    half = at_times(one, np.array([0.5]))
    np.testing.assert_allclose(half.force[0], one.force.mean(axis=0))
    about = np.cross(one.point, one.force) + one.moment
    np.testing.assert_allclose(np.cross(half.point, half.force)[0] + half.moment[0], about.mean(axis=0))
    np.testing.assert_allclose(at_times(one, one.times).moment, one.moment, atol=1e-12)


def test_smoothing_takes_noise_out_of_moments(arm: MujocoModel) -> None:
    """A slow swing with a tenth of a degree of noise: smoothed, the moments come near those of the swing."""
    times = np.arange(300) / 100.0
    swing = np.stack([0.5 * np.sin(3.0 * times), 1.0 + 0.5 * np.cos(2.0 * times)], axis=1)
    noisy = swing + np.random.default_rng(0).normal(size=swing.shape) * np.deg2rad(0.1)
    true = inverse_dynamics(arm, times, swing, cutoff=None).moments
    raw, smooth = (inverse_dynamics(arm, times, noisy, cutoff=cutoff).moments for cutoff in (None, 4.0))
    inside = slice(20, -20)
    errors = [float(np.sqrt(((one - true)[inside] ** 2).mean())) for one in (raw, smooth)]
    assert errors[1] < 0.02 * errors[0]
    assert errors[1] < 0.05 * float(np.abs(true).max())
