"""Models made as large as their subjects: OpenSim's own tool, known factors, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from biomech_models import write_arm_osim
from conftest import Command, Figure
from ecorche.base.recordings import MarkerRecording
from ecorche.biomech.inverse_kinematics import inverse_kinematics
from ecorche.biomech.opensim_model import OpensimModel
from ecorche.biomech.opensim_scaling import scale_to_subject
from ecorche.biomech.scaling import segment_scales, still_markers
from ecorche.errors import EcorcheError, MotionError
from ecorche.io.opensim_storage import read_table
from ecorche.io.trc import read_trc, write_trc
from opensim_tools import poses, scale_tool
from osim_models import ARM_FILE, WALKER_FILE, opensim_package

Floats = npt.NDArray[np.float64]
WALK = Path("walk", "markers_walk.trc")
ARM_MARKERS = Path("arm26", "reference", "InverseKinematics", "arm26_elbow_flex.trc")
PAIRS = {  # of markers, and the bodies they measure
    ("R.ASIS", "L.ASIS"): ["pelvis"],
    ("R.Shoulder", "L.Clavicle"): ["torso"],
    **{
        pair: [f"{body}_{side}" for body in bodies]
        for side, up in (("r", "R"), ("l", "L"))
        for pair, bodies in {
            (f"{up}.TH1", f"{up}.Knee"): ["femur", "patella"],
            (f"{up}.SH1", f"{up}.Ankle"): ["tibia", "talus", "calcn", "toes"],
            (f"{up}.Biceps", f"{up}.Elbow"): ["humerus", "ulna", "radius", "hand"],
        }.items()
    },
}


@pytest.fixture(scope="module")
def opensim(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with opensim_package(tmp_path_factory.mktemp("opensim")) as package:
        yield package


@pytest.fixture(scope="module")
def walker(opensim: Any, data: Path) -> OpensimModel:
    return OpensimModel(data / WALKER_FILE)


def by_body() -> dict[str, list[tuple[str, str]]]:
    return {body: [pair] for pair, bodies in PAIRS.items() for body in bodies}


def test_a_subject_is_scaled_as_by_opensims_tool(
    opensim: Any, walker: OpensimModel, data: Path, tmp_path: Path, figure: Figure
) -> None:
    """The same pairs and weight, a frame of the walk: the same masses, muscles, joints and marker places."""
    frame = read_trc(data / WALK).between(0.7, 0.7)
    still = replace(frame, times=np.arange(5) / 100.0, positions=np.tile(frame.positions, (5, 1, 1)))
    write_trc(tmp_path / "still.trc", still)
    made = scale_to_subject(data / WALKER_FILE, still, tmp_path / "mine.osim", pairs=by_body(), mass=70.0)
    weights, folder = dict.fromkeys(still.names, 1.0), tmp_path / "theirs"
    folder.mkdir()
    span = (0.0, 0.04)
    model, markers = data / WALKER_FILE, tmp_path / "still.trc"
    theirs = scale_tool(opensim, model, markers, PAIRS, weights, span, 70.0, folder)
    one, other = OpensimModel(tmp_path / "mine.osim"), OpensimModel(theirs)
    assert sum(body.mass for body in one.bodies) == pytest.approx(70.0)
    np.testing.assert_allclose([b.mass for b in one.bodies], [b.mass for b in other.bodies], rtol=1e-6)
    for what in ("optimal_fibre_length", "tendon_slack_length", "max_force"):
        mine, peers = ([getattr(m, what) for m in model.muscles] for model in (one, other))
        np.testing.assert_allclose(mine, peers, rtol=1e-5)
    q = walker.defaults()
    apart = np.abs(one.body_transforms(q) - other.body_transforms(q)).max()
    assert apart < 1e-7
    places = [{m.name: np.array(m.place) for m in model.markers} for model in (one, other)]
    assert set(places[1]) == set(still.names)  # theirs leaves out those that were not measured
    free = [name for name in still.names if name in made.placed]
    for name in set(still.names) - set(free):
        np.testing.assert_allclose(places[0][name], places[1][name], atol=1e-9)
    # what it moves goes where its own pose has it, which it does not solve to the end: ours fits better
    (pose,) = poses(other, read_table(folder / "pose.mot"))[:1]
    frames = dict(zip([body.name for body in other.bodies], other.body_transforms(pose), strict=True))
    for name in free:
        turn, origin = frames[_on(other, name)][:3, :3], frames[_on(other, name)][:3, 3]
        np.testing.assert_allclose(turn.T @ (frame.of(name)[0] - origin), places[1][name], atol=1e-5)
    worst = max(float(np.linalg.norm(places[0][name] - places[1][name])) for name in free)
    figure("placed markers of a scaled model against OpenSim's tool", worst, 0.01, "m")
    assert worst < 0.01
    assert inverse_kinematics(one, frame).rms[0] < inverse_kinematics(other, frame).rms[0]
    assert len(made.placed) == 20
    assert made.mass == pytest.approx(70.0)


def test_placed_markers_lie_where_they_were_seen(walker: OpensimModel, data: Path, tmp_path: Path) -> None:
    """In the pose of the still recording; those that the file fixes, and those named, stay."""
    still = read_trc(data / WALK).between(0.7, 0.7)
    made = scale_to_subject(data / WALKER_FILE, still, tmp_path / "a.osim", keep=["R.TH1"])
    assert "R.TH1" not in made.placed
    assert "R.ASIS" not in made.placed  # fixed in the file
    again = inverse_kinematics(OpensimModel(tmp_path / "a.osim"), still)
    errors = dict(zip(again.markers, again.errors[0], strict=True))
    placed = np.array([errors[name] for name in made.placed])
    assert np.sqrt((placed**2).mean()) < 0.3 * made.rms
    before = dict(zip(made.markers, made.errors, strict=True))
    assert again.rms[0] < made.rms
    assert errors["R.TH1"] > 0.3 * before["R.TH1"]


def test_known_factors_are_found_again(
    opensim: Any, walker: OpensimModel, data: Path, tmp_path: Path
) -> None:
    """A subject made by OpenSim, each segment of its own size, seen in another pose."""
    rng = np.random.default_rng(0)
    wanted = {body.name: float(rng.uniform(0.9, 1.1)) for body in walker.bodies}
    subject = opensim.Model(str(data / WALKER_FILE))
    state, factors = subject.initSystem(), opensim.ScaleSet()
    for body, size in wanted.items():
        one = opensim.Scale()
        one.setSegmentName(body)
        one.setScaleFactors(opensim.Vec3(size))
        one.setApply(True)
        factors.cloneAndAppend(one)
    subject.scale(state, factors, False, -1.0)
    subject.printToXML(str(tmp_path / "subject.osim"))
    person = OpensimModel(tmp_path / "subject.osim")
    q = person.defaults() + rng.uniform(0.05, 0.2, len(person.coordinates))
    markers = MarkerRecording(
        tuple(marker.name for marker in person.markers), np.zeros(1), person.marker_positions(q)[None]
    )
    found = {one.body: one for one in segment_scales(walker, markers)}
    inner = [
        b
        for b in found.values()
        if b.pairs and all(_on(walker, a) == _on(walker, c) == b.body for a, c in b.pairs)
    ]
    assert len(inner) >= 10
    for one in inner:
        assert one.factor == pytest.approx(wanted[one.body], rel=1e-9)
    assert found["patella_r"].taken_from == "femur_r"
    assert found["hand_l"].factor == found["radius_l"].factor
    made = scale_to_subject(data / WALKER_FILE, markers, tmp_path / "mine.osim")
    assert made.rms < 0.5 * made.rms_before


def _on(model: OpensimModel, marker: str) -> str:
    return next(one.body for one in model.markers if one.name == marker)


def test_muscles_keep_their_proportions_and_masses_their_density(
    walker: OpensimModel, data: Path, tmp_path: Path
) -> None:
    """Fibre to tendon stays, both change as the muscle's whole length; masses as the cube of the size."""
    still = read_trc(data / WALK).between(0.7, 0.7)
    made = scale_to_subject(data / WALKER_FILE, still, tmp_path / "a.osim")
    scaled = OpensimModel(tmp_path / "a.osim")
    pose = walker.defaults()
    longer = scaled.muscle_lengths(pose) / walker.muscle_lengths(pose)
    for k, (before, after) in enumerate(zip(walker.muscles, scaled.muscles, strict=True)):
        ratio = after.optimal_fibre_length / after.tendon_slack_length
        assert ratio == pytest.approx(before.optimal_fibre_length / before.tendon_slack_length, rel=1e-9)
        assert after.optimal_fibre_length / before.optimal_fibre_length == pytest.approx(longer[k], rel=2e-3)
        assert after.max_force == before.max_force
    for size, before_body, after_body in zip(made.scales, walker.bodies, scaled.bodies, strict=True):
        assert after_body.mass == pytest.approx(before_body.mass * size.factor**3, rel=1e-9)


def test_the_command_reports_and_writes(ecorche: Command, opensim: Any, data: Path, tmp_path: Path) -> None:
    write_trc(tmp_path / "still.trc", read_trc(data / WALK).between(0.7, 0.71))
    out = ecorche(
        "scale", data / WALKER_FILE, "--static", tmp_path / "still.trc", "-o", tmp_path / "subject.osim",
        "--pair", "femur_r=R.ASIS,R.Knee", "--mass", 70, "--start", 0.7, "--end", 0.7,
    )  # fmt: skip
    lines = {line.split()[0]: line for line in out.splitlines()}
    assert "R.ASIS–R.Knee" in lines["femur_r"]
    assert lines["patella_r"].endswith("as femur_r")
    assert lines["mass:"] == "mass: 85.27 to 70.00 kg"
    assert "mm scaled, at most" in lines["markers:"]
    assert OpensimModel(tmp_path / "subject.osim").bodies[0].name == "pelvis"


def test_the_command_refuses_what_it_cannot_use(
    ecorche: Command, opensim: Any, data: Path, tmp_path: Path
) -> None:
    model, still = data / WALKER_FILE, tmp_path / "still.trc"
    write_trc(still, read_trc(data / WALK).between(0.7, 0.71))
    rest = ("--static", still, "-o", tmp_path / "a.osim")
    said = ecorche("scale", model, *rest, "--pair", "femur_r=R.ASIS", code=2)
    assert "names no body and two markers. Write it as femur_r=R.ASIS,R.Knee" in said
    assert "Did you mean 'femur_r'" in ecorche(
        "scale", model, *rest, "--pair", "femr_r=R.ASIS,R.Knee", code=2
    )
    assert "there is no marker 'R.Kne' to measure 'femur_r' by" in ecorche(
        "scale", model, *rest, "--pair", "femur_r=R.ASIS,R.Kne", code=2
    )
    assert "there is no marker 'R.Hip' to keep" in ecorche("scale", model, *rest, "--keep", "R.Hip", code=2)
    assert "a mass of -3 kg" in ecorche("scale", model, *rest, "--mass", -3, code=2)
    assert "no axis 'x' points up" in ecorche("scale", model, *rest, "--up", "x", code=2)
    assert "cannot be scaled from a .xml" in ecorche("scale", tmp_path / "a.xml", *rest, code=2)
    said = ecorche("scale", model, "--static", tmp_path / "a.mot", "-o", tmp_path / "a.osim", code=2)
    assert "Give a .trc or .c3d file" in said
    said = ecorche("scale", model, "--static", data / WALK, "-o", tmp_path / "a.osim", code=2)
    assert "of 41 markers move by more than 10 mm. Choose a recording of somebody who stands still" in said
    assert not (tmp_path / "a.osim").exists()
    own = tmp_path / "own.osim"
    own.write_bytes(model.read_bytes())
    said = ecorche("scale", own, "--static", still, "-o", own, code=2)
    assert "would be written over, and is read" in said
    assert own.read_bytes() == model.read_bytes()


def test_a_model_that_its_markers_do_not_fit_is_not_written(
    ecorche: Command, opensim: Any, data: Path, tmp_path: Path
) -> None:
    """An arm that is fixed to the ground, 0.8 m above where its own recording has it."""
    seen = read_trc(data / ARM_MARKERS).between(0.0, 0.1)
    write_trc(tmp_path / "low.trc", seen)
    high = replace(seen, positions=seen.positions + np.array([0.0, 0.8, 0.0]))
    write_trc(tmp_path / "high.trc", high)
    out = tmp_path / "arm.osim"
    said = ecorche("scale", data / ARM_FILE, "--static", tmp_path / "low.trc", "-o", out, code=2)
    assert "low.trc: its markers are 800 mm rms from the model's in its best pose, more than 100 mm" in said
    assert "lies (0.00, -0.80, 0.00) m from it" in said
    assert "move the recording by (0.00, 0.80, 0.00) m" in said
    assert not out.exists()
    assert "3 were placed" in ecorche("scale", data / ARM_FILE, "--static", tmp_path / "high.trc", "-o", out)
    assert out.exists()


def test_recordings_that_mislead_are_refused(
    opensim: Any, walker: OpensimModel, data: Path, tmp_path: Path
) -> None:
    still = read_trc(data / WALK).between(0.7, 0.7)
    with pytest.raises(MotionError, match=r"the markers span .* Mend the unit"):
        scale_to_subject(
            data / WALKER_FILE, replace(still, positions=still.positions * 1e3), tmp_path / "a.osim"
        )
    with pytest.raises(
        MotionError, match=r"'pelvis' would be .* times as large, by markers such as 'R.Heel' and 'L.Toe'"
    ):
        segment_scales(walker, _moved(still, "R.Heel", [2.0, 0.0, 0.0]), {"pelvis": [("R.Heel", "L.Toe")]})
    with pytest.raises(MotionError, match=r"'pelvis' cannot be measured from 'S2' to itself"):
        segment_scales(walker, still, {"pelvis": [("S2", "S2")]})
    write_arm_osim(opensim, tmp_path / "light.osim", masses=1e-9)
    arm = OpensimModel(tmp_path / "light.osim")
    seen = MarkerRecording(
        ("elbow", "wrist", "cap"), np.zeros(1), arm.marker_positions(np.array([0.2, 0.5]))[None]
    )
    with pytest.raises(EcorcheError, match=r"no body of the model has a mass to scale"):
        scale_to_subject(tmp_path / "light.osim", seen, tmp_path / "a.osim", mass=70.0)


def _moved(markers: MarkerRecording, name: str, by: list[float]) -> MarkerRecording:
    positions = markers.positions.copy()
    positions[:, markers.names.index(name)] += by
    return replace(markers, positions=positions)


def test_still_markers_bridge_gaps_and_name_what_moved() -> None:
    rng = np.random.default_rng(0)
    places = rng.normal(size=(4, 3))
    positions = np.tile(places, (20, 1, 1)) + rng.normal(size=(20, 4, 3)) * 1e-4
    positions[5:, 0] = np.nan
    positions[:, 1] += np.linspace(-0.1, 0.1, 20)[:, None]
    positions[:, 3] = np.nan
    still, notes = still_markers(MarkerRecording(("a", "b", "c", "d"), np.arange(20.0), positions))
    assert still.names == ("a", "b", "c")
    np.testing.assert_allclose(still.positions[0, 0], places[0], atol=3e-4)
    assert notes == ["Moved by more than 10 mm while standing: 'b'.", "Never seen: 'd'."]
