"""The built-in figure: its skeleton, bones, skin and weights, and the commands that use it."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import igl
import numpy as np
import numpy.typing as npt
import pytest
import trimesh
from typer.testing import CliRunner

import ecorche
from ecorche.base.mesh import Mesh
from ecorche.base.signed_distance import SignedSurface
from ecorche.body.figure import ecorche_figure
from ecorche.body.figure.skeleton import figure_skeleton
from ecorche.body.live_frames import LiveFrames
from ecorche.cli.main import app
from ecorche.muscles.fit import fit_to_skin
from ecorche.muscles.spindle_mesh import Stations, spindle_surfaces
from ecorche.muscles.template import TEMPLATE
from ecorche.muscles.template.place import place
from ecorche.skeleton.kinematics import difference_from_bind
from ecorche.skeleton.naming import recognise
from ecorche.skeleton.naming.vocabulary import mirrored
from ecorche.skeleton.skeleton import Skeleton

Floats = npt.NDArray[np.float64]
EXAMPLES = Path(__file__).parent.parent / "examples"


@pytest.fixture(scope="module")
def figure() -> ecorche.Character:
    return ecorche_figure()


@pytest.fixture(scope="module")
def skeleton() -> Skeleton:
    return figure_skeleton()


def _surface(mesh: Mesh) -> trimesh.Trimesh:
    return trimesh.Trimesh(mesh.points.astype(float), mesh.triangles(), process=False)


def _mirrored_rows(points: npt.NDArray[np.float32]) -> npt.NDArray[np.intp]:
    """The row that is each row's mirror image, bit for bit."""
    rows = {(x, y, z): row for row, (x, y, z) in enumerate(points.tolist())}
    return np.array([rows[(-x, y, z)] for x, y, z in points.tolist()])


def test_segments_have_the_lengths_of_drillis_and_contini(skeleton: Skeleton) -> None:
    heads = dict(zip(skeleton.names, skeleton.bind_world[:, :3, 3], strict=True))
    for near, far, share in (
        ("l_hip", "l_knee", 0.245),
        ("l_knee", "l_talocrural", 0.246),
        ("l_shoulder", "l_elbow", 0.186),
        ("l_elbow", "l_radiocarpal", 0.146),
    ):
        assert np.linalg.norm(heads[far] - heads[near]) / 1.75 == pytest.approx(share, abs=0.002)


def test_every_joint_has_its_canonical_name_and_a_mirror_image(skeleton: Skeleton) -> None:
    assert recognise(skeleton).canonical == skeleton.names
    assert {"l_acromioclavicular", "r_sternoclavicular", "l_metatarsophalangeal_2"} <= {*skeleton.names}
    heads = skeleton.bind_world[:, :3, 3]
    for joint, name in enumerate(skeleton.names):
        other = skeleton.index(mirrored(name))
        assert heads[other] == pytest.approx(heads[joint] * (-1.0, 1.0, 1.0), abs=1e-15)


def test_arms_are_bound_at_45_degrees(skeleton: Skeleton) -> None:
    arm = (
        skeleton.bind_world[skeleton.index("l_elbow"), :3, 3]
        - skeleton.bind_world[skeleton.index("l_shoulder"), :3, 3]
    )
    assert np.degrees(np.arctan2(arm[0], -arm[1])) == pytest.approx(45.0, abs=5.0)


def test_the_skin_is_one_closed_surface_of_a_person_s_size(figure: ecorche.Character) -> None:
    skin = _surface(figure.mesh("skin").mesh)
    assert skin.is_watertight
    assert skin.is_winding_consistent
    assert skin.body_count == 1
    assert skin.euler_number == 2  # no handle: fingers, ears and armpits are not welded
    assert 0.055 < skin.volume < 0.080
    assert skin.extents[1] == pytest.approx(1.75, abs=0.01)
    assert 10_000 <= len(skin.vertices) <= 24_000


def test_the_skin_does_not_cut_itself(figure: ecorche.Character) -> None:
    mesh = figure.mesh("skin").mesh
    points, triangles = mesh.points.astype(float), mesh.triangles().astype(np.int64)
    normals = _surface(mesh).vertex_normals
    # just inside is inside once, just outside is outside: an overlap would wind twice or not at all
    for side, wound in ((-1e-3, 1.0), (1e-3, 0.0)):
        found = igl.fast_winding_number(points, triangles, points + side * normals)
        assert np.abs(found - wound).max() < 0.5


def test_skin_and_weights_are_mirrored_bit_for_bit(figure: ecorche.Character) -> None:
    skin, names = figure.mesh("skin"), figure.skeleton.names
    other = _mirrored_rows(skin.mesh.points)
    assert skin.weights is not None
    joints, weights = skin.weights.padded()
    table = np.zeros((len(joints), len(names)), np.float32)
    np.add.at(table, (np.arange(len(joints))[:, None], joints), weights)
    swap = [names.index(mirrored(name)) for name in names]
    side = skin.mesh.points[:, 0] != 0.0
    assert np.array_equal(table[other][:, swap][side], table[side])


def test_weights_are_few_and_do_not_leak(figure: ecorche.Character) -> None:
    skin, names = figure.mesh("skin"), figure.skeleton.names
    assert skin.weights is not None
    assert np.diff(skin.weights.starts).max() <= 4
    joints, weights = skin.weights.padded()
    table = np.zeros((len(joints), len(names)))
    np.add.at(table, (np.arange(len(joints))[:, None], joints), weights)
    assert table.sum(axis=1) == pytest.approx(1.0, abs=1e-5)
    x, y, _ = skin.mesh.points.T
    flank = (np.abs(x) < 0.15) & (y > 0.9) & (y < 1.2)
    arm = [j for j, name in enumerate(names) if name[2:] in ("shoulder", "elbow", "radiocarpal")]
    assert flank.sum() > 500
    assert table[flank][:, arm].max() == 0.0
    # a finger's two outer bones share no vertex with another finger's
    fingers = [
        table[
            :, [names.index(f"l_carpal_{part}_interphalangeal_{ray}") for part in ("proximal", "distal")]
        ].sum(axis=1)
        for ray in (2, 3, 4, 5)
    ]
    assert max(np.minimum(a, b).max() for a, b in pairwise(fingers)) < 0.02
    left = [j for j, name in enumerate(names) if name.startswith(("l_hip", "l_knee", "l_sho", "l_elb"))]
    assert table[x < -0.08][:, left].max() == 0.0


def test_bones_are_closed_and_lie_inside_the_skin(figure: ecorche.Character) -> None:
    bones = figure.mesh("bones")
    surface = _surface(bones.mesh)
    assert surface.is_watertight
    assert surface.is_winding_consistent
    assert surface.area_faces.min() > 1e-9  # a thousandth of a square millimetre
    pieces = surface.split(only_watertight=False)
    assert len(pieces) > 150
    assert min(piece.volume for piece in pieces) > 0.0
    assert bones.weights is not None
    assert (np.diff(bones.weights.starts) == 1).all()
    assert (bones.weights.weights == 1.0).all()
    skin = figure.mesh("skin").mesh
    depth, _ = SignedSurface(skin.points, skin.triangles()).depth(bones.mesh.points)
    assert depth.min() > 0.001


def test_the_skin_is_the_body(figure: ecorche.Character) -> None:
    assert figure.body().name == "skin"


def test_every_muscle_fits_under_the_skin(figure: ecorche.Character) -> None:
    placed = place(TEMPLATE, figure.skeleton, recognise(figure.skeleton))
    assert not placed.left_out
    assert not placed.scapulae  # it has shoulder blades of its own
    skin = figure.mesh("skin").mesh
    _, report = fit_to_skin(placed.muscles, placed.skeleton, skin.points, skin.triangles())
    assert not report.exposed
    assert max(moved.distance for moved in report.moved) < 0.025


def test_no_muscle_leaves_the_skin_of_a_bent_elbow(figure: ecorche.Character, tmp_path: Path) -> None:
    """The film of `make demo`: tendons at its outer side came through by 11 mm, flexors by 16."""
    rig = ecorche.create_rig(figure, tmp_path / "figure.glb", tmp_path / "figure.ecorche")
    curl = ecorche.read_keyframes(EXAMPLES / "curl.pose", figure.skeleton)
    frames = ecorche.perform(figure, curl, rig=rig).take.frames
    assert isinstance(frames, LiveFrames)
    muscles, held = frames.body.muscles, 48
    assert muscles is not None
    assert frames.activation is not None
    difference = difference_from_bind(figure.skeleton, frames.motion.local[held])
    posed, states = muscles.musculature.posed(difference, muscles.bulge(frames.activation[held]))
    surfaces = spindle_surfaces(muscles.musculature.spindles, rings=20, sides=12)
    points = surfaces.points(states, Stations(*posed.at(surfaces.t)))
    skin, triangles = frames[held].points[0].astype(float), figure.mesh("skin").mesh.triangles()
    outside = igl.fast_winding_number(skin, triangles.astype(np.int64), points) < 0.5
    far = np.where(outside, np.abs(SignedSurface(skin, triangles).depth(points)[0]), 0.0)
    elbow = {figure.skeleton.index(f"{side}_elbow") for side in "lr"}
    for number, muscle in enumerate(muscles.musculature.muscles):
        if elbow & set(muscle.joints):
            own = slice(surfaces.vertex_starts[number], surfaces.vertex_starts[number + 1])
            assert far[own].max() < 0.006, muscle.name


@pytest.mark.parametrize("pose", ["curl", "squat", "raise"])
def test_bones_stay_inside_the_skin_as_it_bends(figure: ecorche.Character, pose: str) -> None:
    motion = ecorche.read_keyframes(EXAMPLES / f"{pose}.pose", figure.skeleton)
    frames = ecorche.perform(figure, motion).take.frames
    assert frames is not None
    skin, bones = figure.mesh("skin").mesh, figure.mesh("bones").mesh
    posed = frames[len(frames) // 2].points
    found = igl.fast_winding_number(
        posed[0].astype(float), skin.triangles().astype(np.int64), posed[1].astype(float)
    )
    assert len(posed[1]) == bones.vertex_count
    assert (found > 0.5).mean() > 0.999


def _digest(figure: ecorche.Character) -> str:
    whole = hashlib.sha256()
    for mesh in figure.meshes:
        assert mesh.weights is not None
        for values in (mesh.mesh.points, mesh.mesh.face_indices, mesh.weights.joints, mesh.weights.weights):
            whole.update(values.tobytes())
    return whole.hexdigest()


def test_another_process_with_one_thread_makes_the_same_bytes(figure: ecorche.Character) -> None:
    code = "from test_figure import _digest, ecorche_figure; print(_digest(ecorche_figure()))"
    environment = os.environ | {"NUMBA_NUM_THREADS": "1", "PYTHONPATH": str(Path(__file__).parent)}
    told = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, env=environment
    )
    assert told.stdout.strip() == _digest(figure)


def test_commands_without_a_character_use_it(tmp_path: Path) -> None:
    run = CliRunner()
    told = run.invoke(app, ["info"])
    assert told.exit_code == 0, told.output
    assert "the built-in figure" in told.output
    assert "biceps brachii, long head, left" in told.output
    rig = tmp_path / "me.ecorche"
    told = run.invoke(app, ["rig", "-o", str(rig), "--without-muscles", "--coupling", "x=plain"])
    assert told.exit_code == 2
    assert "no region and no joint 'x'" in told.output
    assert list(tmp_path.iterdir()) == []
    told = run.invoke(app, ["rig", "-o", str(rig)])
    assert told.exit_code == 0, told.output
    assert (tmp_path / "figure.glb").exists()
    assert run.invoke(app, ["check", str(rig)]).exit_code == 0
    again = run.invoke(app, ["rig", "-o", str(rig)])
    assert again.exit_code == 2
    assert "may hold edits" in again.output
    told = run.invoke(app, ["rig", "-o", str(tmp_path / "other.ecorche"), "--without-muscles"])
    assert told.exit_code == 0, told.output  # the same figure serves both
    (tmp_path / "figure.glb").write_bytes(b"mine")
    refused = run.invoke(app, ["rig", "-o", str(tmp_path / "third.ecorche")])
    assert refused.exit_code == 2
    assert "is not the built-in figure" in refused.output
    assert (tmp_path / "figure.glb").read_bytes() == b"mine"


def test_the_figure_as_a_sample_is_what_it_is_in_memory(tmp_path: Path, figure: ecorche.Character) -> None:
    run, file = CliRunner(), tmp_path / "figure.glb"
    told = run.invoke(app, ["sample", "figure", "-o", str(file)])
    assert told.exit_code == 0, told.output
    read = ecorche.read_character(file)
    assert read.skeleton.names == figure.skeleton.names
    assert np.array_equal(read.body().mesh.points, figure.body().mesh.points)
    refused = run.invoke(app, ["sample", "figure", "-o", str(file), "--weight", "1"])
    assert refused.exit_code == 2
    assert "one man with one rig" in refused.output
