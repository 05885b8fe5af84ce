"""How far it is round limbs, and arms that tense against themselves: seen in the skin, not in the joints."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from conftest import ROOT, Figure
from ecorche.body.limb_perimeters import LEVELS, LimbPerimeters
from ecorche.body.perform import perform
from ecorche.cli.main import app
from ecorche.cli.model_results import GivenResults, what_moves
from ecorche.cli.subject import read_subject
from ecorche.errors import EcorcheError
from ecorche.io.opensim_storage import read_storage, read_table
from ecorche.render.layers import Layers
from osim_models import opensim_package
from rigged_people import person

MAN = Path("human", "male_muscular_cmu_mb.glb")


def test_a_tape_round_a_limb_says_what_a_plane_section_is_long(data: Path, figure: Figure) -> None:
    """Against trimesh, which cuts meshes by planes of its own, at the middle of all eight bones."""
    import trimesh

    character = person(data / MAN)
    skeleton, mesh = character.skeleton, character.body().mesh
    limbs = LimbPerimeters(character, character.meshes.index(character.body()))
    found = limbs.measure(mesh.points, skeleton.bind_world)
    assert found.shape == (8, len(LEVELS))
    solid = trimesh.Trimesh(mesh.points, mesh.triangles(), process=False)
    worst = 0.0
    for row, name in enumerate(limbs.names):
        head = skeleton.index(name)
        tail = skeleton.children[head][0]
        a, b = skeleton.bind_world[head, :3, 3], skeleton.bind_world[tail, :3, 3]
        middle = 0.5 * (a + b)
        cut = trimesh.intersections.mesh_plane(solid, b - a, middle)
        at = cut.mean(axis=1)
        own = (np.linalg.norm(at - middle, axis=1) < 0.13) & (at[:, 0] * middle[0] > 0.0)
        around = np.linalg.norm(np.diff(cut[own], axis=1), axis=2).sum()
        worst = max(worst, abs(found[row, len(LEVELS) // 2] - around))
    figure("perimeters at mid-limb against plane sections of trimesh", 1e3 * worst, 0.01, "mm")
    assert worst < 1e-5
    # nothing is measured where a plane runs into the trunk or round a joint
    assert np.isnan(found[:, [0, -1]]).all()
    # moved as a whole it measures the same; twice as large, twice as much
    turn = np.eye(4)
    turn[:3, :3], turn[:3, 3] = [[0, 0, 1], [1, 0, 0], [0, 1, 0]], (1.0, 2.0, 3.0)
    points = mesh.points.astype(np.float64) @ turn[:3, :3].T + turn[:3, 3]
    np.testing.assert_allclose(limbs.measure(points, turn @ skeleton.bind_world), found, atol=1e-6)
    larger = skeleton.bind_world.copy()
    larger[:, :3, 3] *= 2.0
    np.testing.assert_allclose(limbs.measure(2.0 * mesh.points, larger), 2.0 * found, atol=1e-6)


def test_a_character_without_limbs_is_refused(data: Path) -> None:
    character = person(data / MAN)
    bare = replace(character, meshes=tuple(replace(mesh, weights=None) for mesh in character.meshes))
    with pytest.raises(EcorcheError, match="no arms or legs that can be measured"):
        LimbPerimeters(bare, 0)


def test_an_arm_that_tenses_against_itself_swells_and_does_not_move(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, figure: Figure
) -> None:
    """Text 004, figure 5: with EMG biceps and triceps pull at once; without, the solver gives none of it."""
    monkeypatch.chdir(tmp_path)
    subprocess.run([sys.executable, ROOT / "examples" / "co_contraction.py"], check=True, timeout=60)
    model = data / "arm26" / "arm26.osim"
    rig = tmp_path / "man.ecorche"
    _run("rig", data / MAN, "-o", rig)
    with opensim_package(tmp_path):
        told = ["--coordinates", "hold.mot", "-q"]
        _run("solve", model, *told, "-o", "calm")
        _run(
            "solve",
            model,
            *told,
            "--emg",
            "emg.sto",
            "--emg-table",
            "emg.csv",
            "--emg-weight",
            10,
            "-o",
            "tensed",
        )
        grown, moved = {}, {}
        for name in ("calm", "tensed"):
            folder = tmp_path / name
            subject = read_subject(rig)
            given = GivenResults(model, folder / "coordinates.sto", folder / "activations.sto")
            moves = what_moves(subject, None, None, None, given)
            take = perform(
                subject.character,
                moves.motion,
                rig=subject.rig,
                source_mapping=moves.mapping,
                activation=moves.activation,
            ).take
            assert take.motion is not None
            most = round(2.2 * 60.0)
            body = Layers(take)
            assert body.growth is not None
            grown[name] = body.growth.measured(most)
            moved[name] = np.ptp(take.motion.local, axis=0).max()
    active = {name: read_storage(tmp_path / name / "activations.sto")[1] for name in grown}
    # both antagonists, against none: what holds the forearm up is the flexors' alone
    assert min(active["tensed"][m][most] for m in ("BIClong", "TRIlat", "TRImed")) > 0.6
    assert max(active["calm"][m].max() for m in ("TRIlat", "TRImed")) < 0.01
    for name in grown:
        angles = read_table(tmp_path / name / "coordinates.sto").columns
        assert max(np.ptp(column) for column in angles.values()) < 1e-9
        assert moved[name] < 1e-9
    # the right upper arm swells about its middle, nothing else does
    upper = grown["tensed"][0]
    swollen = LEVELS[int(np.nanargmax(upper))]
    figure(
        "co-contraction, growth of the upper arm's perimeter, at least", float(np.nanmax(upper)), 8.0, "mm"
    )
    assert np.nanmax(upper) > 8.0
    assert 0.3 < swollen < 0.8
    assert np.nanmax(np.abs(grown["tensed"][2:])) < 0.05  # legs and the other arm
    assert np.nanmax(np.abs(grown["calm"])) < 0.05


def _run(*arguments: object) -> None:
    done = CliRunner().invoke(app, [str(a) for a in arguments])
    assert done.exit_code == 0, done.output
