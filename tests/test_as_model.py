"""Rigs as musculoskeletal models: what MuJoCo and OpenSim read of them is what the rig has."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import trimesh
from typer.testing import CliRunner

from conftest import Figure
from ecorche.body.as_model import LEAST_MASS, RigModel, rig_model
from ecorche.body.rig import create_rig
from ecorche.body.sample_poses import sample_poses
from ecorche.body.segment_masses import DENSITY, segment_masses
from ecorche.cli.main import app
from ecorche.errors import DocumentError, MeshError
from ecorche.io.mjcf import FIBRE_RANGE, write_mjcf
from ecorche.io.osim.write import write_osim
from ecorche.skeleton.kinematics import difference_from_bind
from ecorche.skin.weights import weights_from_table
from extracted_people import both_skins, extracted
from osim_models import Peer, opensim_package
from rigged_people import person, rigged

Floats = npt.NDArray[np.float64]

MAN = Path("human", "male_muscular_cmu_mb.glb")
WOMAN = Path("human", "female_average_cmu_mb.glb")
ASKED = 1e-4  # metres


@pytest.fixture(scope="module")
def opensim(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with opensim_package(tmp_path_factory.mktemp("opensim")) as package:
        yield package


@cache
def _template(path: Path) -> RigModel:
    return rig_model(person(path), rigged(path))


@cache
def _found(path: Path) -> RigModel:
    return rig_model(*extracted(path))


def _poses(path: Path, count: int) -> Floats:
    """``M − I`` of a person's joints in drawn poses, (poses, joints, 4, 4)."""
    character = person(path)
    drawn = sample_poses(character, rigged(path), count, motions=())
    return difference_from_bind(character.skeleton, drawn.local)


class InMujoco:
    """A written model, read by MuJoCo."""

    def __init__(self, path: Path, model: RigModel) -> None:
        import mujoco

        self.mujoco, self.names = mujoco, [muscle.name for muscle in model.muscles]
        self.model = mujoco.MjModel.from_xml_path(str(path))
        self.data = mujoco.MjData(self.model)
        self.addresses = [int(self.model.joint(name).qposadr[0]) for name in model.coordinates]

    def lengths(self, pose: Floats) -> Floats:
        self.data.qpos[self.addresses] = pose
        self.mujoco.mj_fwdPosition(self.model, self.data)
        return np.array([self.data.ten_length[self.model.tendon(name).id] for name in self.names])


def test_a_bar_of_two_joints_weighs_what_it_holds() -> None:
    bar = trimesh.creation.box((0.1, 0.2, 0.6)).subdivide().subdivide().subdivide().subdivide()
    points, lower = np.asarray(bar.vertices), np.asarray(bar.vertices)[:, 2] < 0.0
    weights = weights_from_table(
        np.where(lower, 0, 1)[:, None], np.ones((len(points), 1), np.float32), 3, "bar"
    )
    heads = np.array([[0.0, 0.0, -0.3], [0.0, 0.0, 0.0], [0.0, 0.0, 0.3]])
    found = segment_masses(points, bar.faces, weights, heads)
    half = DENSITY * 0.1 * 0.2 * 0.3
    # flesh goes with the nearest vertex, and those in the middle are of the upper half
    assert found.masses == pytest.approx([half, half, 0.0], rel=0.08)
    assert found.masses.sum() == pytest.approx(2.0 * half, rel=0.02)
    np.testing.assert_allclose(found.centres, [[0, 0, -0.15], [0, 0, 0.15], [0, 0, 0.3]], atol=0.012)
    box = half / 12.0 * np.array([0.2**2 + 0.3**2, 0.1**2 + 0.3**2, 0.1**2 + 0.2**2])
    np.testing.assert_allclose(found.inertias[1], np.diag(box), atol=0.2 * box.max())
    assert not found.inertias[2].any()
    with pytest.raises(MeshError, match="nothing is inside the skin"):
        segment_masses(points, bar.faces[:, ::-1], weights, heads)


def test_a_person_weighs_as_one_and_both_sides_alike(data: Path) -> None:
    model = _template(data / MAN)
    mass = {body.name: body.mass for body in model.bodies}
    assert 55.0 < sum(mass.values()) < 85.0
    assert mass["LeftUpLeg"] == pytest.approx(mass["RightUpLeg"], rel=0.03)
    assert 0.08 < mass["LeftUpLeg"] / sum(mass.values()) < 0.16
    # a virtual scapula has no skin
    assert mass["virtual_scapula_left"] == LEAST_MASS
    assert all(np.linalg.eigvalsh(body.inertia)[0] > 0.0 for body in model.bodies)


def test_fibres_times_cross_section_are_the_volume_and_the_rigs_force_stays(data: Path) -> None:
    model = _template(data / MAN)
    spec = rigged(data / MAN).spec.muscles.named
    for muscle, (name, told) in zip(model.muscles, spec.items(), strict=True):
        assert muscle.fibre_length * muscle.cross_section == pytest.approx(muscle.volume)
        assert muscle.fibre_length + muscle.slack_length == pytest.approx(muscle.length)
        assert 0.0 < muscle.fibre_length < muscle.length
        if told.max_force:
            assert muscle.max_force == told.max_force, name
    weak = rig_model(*extracted(data / MAN), specific_tension=1.0e5)
    for one, other in zip(weak.muscles, _found(data / MAN).muscles, strict=True):
        if other.max_force == pytest.approx(3.0e5 * other.cross_section):
            assert one.max_force == pytest.approx(other.max_force / 3.0)


def test_every_path_of_the_template_is_as_long_in_mujoco(data: Path, tmp_path: Path, figure: Figure) -> None:
    model, file = _template(data / MAN), tmp_path / "man.xml"
    write_mjcf(file, model)
    peer = InMujoco(file, model)
    worst = max(
        float(np.abs(peer.lengths(model.pose(moved)) - model.lengths(moved)).max())
        for moved in _poses(data / MAN, 24)
    )
    figure("lengths of a rig's muscles in MuJoCo, 24 poses", 1e3 * worst, 1e3 * ASKED, "mm")
    assert worst < 1e-9
    assert peer.model.body_mass.sum() == pytest.approx(sum(body.mass for body in model.bodies))
    for number, muscle in enumerate(model.muscles):
        # as MuJoCo reckons them
        low, high = peer.model.actuator_lengthrange[number]
        fibre = (high - low) / (FIBRE_RANGE[1] - FIBRE_RANGE[0])
        assert fibre == pytest.approx(muscle.fibre_length)
        assert low - FIBRE_RANGE[0] * fibre == pytest.approx(muscle.slack_length)
        assert peer.model.actuator_gainprm[number, 2] == pytest.approx(muscle.max_force)


def test_every_path_of_the_template_is_as_long_in_opensim(
    opensim: Any, data: Path, tmp_path: Path, figure: Figure
) -> None:
    model, file = _template(data / MAN), tmp_path / "man.osim"
    write_osim(file, model)
    peer, worst = Peer(opensim, file), 0.0
    for moved in _poses(data / MAN, 4):
        peer.pose(dict(zip(model.coordinates, model.pose(moved).tolist(), strict=True)))
        there = np.array([peer.length(muscle.name) for muscle in model.muscles])
        worst = max(worst, float(np.abs(there - model.lengths(moved)).max()))
    figure("lengths of a rig's muscles in OpenSim, 4 poses", 1e3 * worst, 1e3 * ASKED, "mm")
    assert worst < 1e-9
    for muscle in model.muscles[::20]:
        read = peer.model.getMuscles().get(muscle.name)
        assert read.getMaxIsometricForce() == pytest.approx(muscle.max_force)
        assert read.getOptimalFiberLength() == pytest.approx(muscle.fibre_length)
        assert read.getTendonSlackLength() == pytest.approx(muscle.slack_length)
    assert peer.model.getTotalMass(peer.state) == pytest.approx(sum(body.mass for body in model.bodies))


def test_wrapped_paths_are_as_long_in_both_in_19_of_20_drawn_poses(
    opensim: Any, data: Path, tmp_path: Path, figure: Figure
) -> None:
    """A path drawn across a joint's centre gives way to a smaller circle here alone: see `wrapping`."""
    model, poses = _found(data / MAN), _poses(data / MAN, 200)
    write_mjcf(tmp_path / "man.xml", model)
    write_osim(tmp_path / "man.osim", model)
    in_mujoco, in_opensim = InMujoco(tmp_path / "man.xml", model), Peer(opensim, tmp_path / "man.osim")
    wrapped = np.array([muscle.wrap is not None for muscle in model.muscles])
    assert wrapped.sum() > 20
    # these end on the sphere, and never leave it on the other side
    ending = [
        number
        for number, muscle in enumerate(model.muscles)
        if muscle.name.startswith(("thigh_back_inner", "lower_leg_inner", "forearm_outer"))
    ]
    assert len(ending) == 6
    apart: dict[str, list[Floats]] = {"MuJoCo": [], "OpenSim": []}
    for moved in poses:
        pose, ours = model.pose(moved), model.lengths(moved)
        in_opensim.pose(dict(zip(model.coordinates, pose.tolist(), strict=True)))
        others = np.array([in_opensim.length(muscle.name) for muscle in model.muscles])
        apart["MuJoCo"].append(np.abs(in_mujoco.lengths(pose) - ours))
        apart["OpenSim"].append(np.abs(others - ours))
    for format_, errors in apart.items():
        far = np.array(errors)
        share = float(np.mean(far[:, wrapped] < ASKED))
        figure(f"wrapped paths as long in {format_}, 200 poses", 100.0 * share, 100.0, "%")
        assert share > 0.95, format_
        assert far[:, ~wrapped].max() < 1e-9, format_
        assert far[:, ending].max() < 1e-6, format_


def _without_side(model: RigModel) -> set[str]:
    """Muscles round a sphere that take the shorter way."""
    return {
        muscle.name
        for muscle in model.muscles
        if muscle.wrap is not None and muscle.wrap.shape == "sphere" and muscle.wrap.side is None
    }


def test_paths_that_never_go_past_halfway_take_the_shorter_way(
    opensim: Any, data: Path, tmp_path: Path
) -> None:
    """With a side MuJoCo would go round ankles that turn in, where the path is straight: 29 mm too long."""
    model, poses = _found(data / WOMAN), _poses(data / WOMAN, 200)
    shorter = _without_side(model)
    ankles = {"lower_leg_inner_left", "lower_leg_inner_right"}
    assert ankles < shorter
    # in deep bends these go past halfway
    assert not shorter & {"lower_leg_front_left", "lower_leg_front_right"}
    write_mjcf(tmp_path / "woman.xml", model)
    write_osim(tmp_path / "woman.osim", model)
    in_mujoco, in_opensim = InMujoco(tmp_path / "woman.xml", model), Peer(opensim, tmp_path / "woman.osim")
    columns = [k for k, muscle in enumerate(model.muscles) if muscle.name in ankles]
    apart: dict[str, list[Floats]] = {"MuJoCo": [], "OpenSim": []}
    for moved in poses:
        pose, ours = model.pose(moved), model.lengths(moved)
        in_opensim.pose(dict(zip(model.coordinates, pose.tolist(), strict=True)))
        others = np.array([in_opensim.length(muscle.name) for muscle in model.muscles])
        apart["MuJoCo"].append(np.abs(in_mujoco.lengths(pose) - ours))
        apart["OpenSim"].append(np.abs(others - ours))
    for format_, errors in apart.items():
        far = np.array(errors)
        assert (far.max(axis=0) < ASKED).sum() >= 11, format_
        assert far[:, columns].max() < ASKED, format_


def test_paths_over_two_joints_or_past_halfway_keep_their_side(data: Path) -> None:
    model = _found(data / MAN)
    shorter = _without_side(model)
    # an end of these lies on the sphere, which moves with their origin
    assert {"forearm_inner_left", "forearm_outer_left", "lower_leg_inner_right"} < shorter
    two_joints = ("thigh_front", "upper_arm", "thigh_back", "abdomen_back")
    kept = [muscle.name for muscle in model.muscles if muscle.name.startswith(two_joints)]
    assert len(kept) >= 10
    assert not shorter & set(kept)


def test_muscles_stay_round_their_joints_in_mujoco_through_a_jump(data: Path, tmp_path: Path) -> None:
    model, file = _found(data / MAN), tmp_path / "man.xml"
    write_mjcf(file, model)
    peer, motion = InMujoco(file, model), both_skins(data / MAN, data, "jump")[0].motion
    far = []
    for local in motion.local[:: max(1, len(motion.local) // 60)]:
        moved = difference_from_bind(motion.skeleton, local)
        far.append(np.abs(peer.lengths(model.pose(moved)) - model.lengths(moved)))
    other = [not muscle.name.startswith(("upper_arm_back", "thigh_front")) for muscle in model.muscles]
    assert np.array(far)[:, other].max() < ASKED
    # round the outside of elbow and knee; let go, they would be 110 mm off
    assert 1e-3 < np.max(far) < 0.01


def test_a_wrap_leaves_both_ends_outside(data: Path) -> None:
    model = _found(data / MAN)
    assert model.body.lofts is not None
    own = {muscle.name: muscle.wrap for muscle in model.body.lofts.lofts.muscles if muscle.wrap is not None}
    found = [muscle for muscle in model.muscles if muscle.wrap is not None]
    assert len(found) == len(own)
    for muscle, told in zip(found, own.values(), strict=True):
        assert muscle.wrap is not None
        heads = np.array([model.bodies[body].head for body in muscle.bodies])
        centre = model.bodies[muscle.wrap.body].head + muscle.wrap.centre
        least = np.linalg.norm(muscle.points + heads - centre, axis=1).min()
        assert muscle.wrap.radius < least
        assert muscle.wrap.at_end == (told.radius >= least)
        assert muscle.wrap.radius == pytest.approx(min(told.radius, least), rel=2e-6)


def test_what_is_no_model_is_refused(data: Path) -> None:
    character, file = person(data / MAN), data / MAN
    bare = create_rig(character, file, file.with_suffix(".ecorche"), muscles=False)
    with pytest.raises(DocumentError, match="has no muscles to make a model of"):
        rig_model(character, bare)
    with pytest.raises(DocumentError, match="a specific tension of 0 N/m² pulls nothing"):
        rig_model(character, rigged(file), specific_tension=0.0)


def _run(*arguments: object) -> tuple[int, str]:
    result = CliRunner().invoke(app, [str(a) for a in arguments])
    return result.exit_code, (result.output + str(result.exception or "")).replace("\n", " ")


def test_the_command_writes_reads_again_and_compares(data: Path, tmp_path: Path) -> None:
    rig = tmp_path / "man.ecorche"
    assert _run("rig", data / MAN, "-o", rig)[0] == 0
    code, told = _run("export", rig, "--as", "model", "-o", tmp_path / "man.xml")
    assert code == 0, told
    assert "160 of 160 muscles are as long as the rig's within 0.1 mm in 200 drawn poses" in told
    assert "man.xml: 33 bodies, 160 muscles, 0 of them round spheres or cylinders" in told
    code, told = _run("export", rig, "--as", "model", "-o", tmp_path / "man.glb")
    assert code != 0
    assert ".glb is no musculoskeletal model" in told
    assert not (tmp_path / "man.glb").exists()
    code, told = _run("export", rig, "--as", "model", "--rate", 30, "-o", tmp_path / "again.xml")
    assert code != 0
    assert "--rate: a model holds no motion and no skin" in told
    for option, message in (
        ("--specific-tension", "--specific-tension: joints pull nothing"),
        ("--crowd", "--crowd: there is no page for it"),
    ):
        code, told = _run("export", rig, option, 30, "-o", tmp_path / "again.glb")
        assert code != 0
        assert message in told
    assert not (tmp_path / "again.glb").exists()
    code, told = _run("export", data / MAN, "--as", "model", "-o", tmp_path / "again.xml")
    assert code != 0
    assert "is a character without muscles" in told
