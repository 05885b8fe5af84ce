"""FBX in and out and Alembic out, through Blender out of process; what comes back is what was written."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from characters import bending, tube
from conftest import ROOT, Command, Figure, skip_or_fail
from ecorche.body.muscle_meshes import with_muscle_meshes
from ecorche.body.perform import perform
from ecorche.body.take import Take
from ecorche.errors import ReadError, WriteError
from ecorche.io.formats import read_character, read_motion, write_take
from ecorche.io.usd.values import valid_name
from jointed_people import MAN, captured, jointed
from rigged_people import person
from test_usd_anatomy import whole_rig
from usd_takes import played, swinging


@pytest.fixture
def blender(monkeypatch: pytest.MonkeyPatch) -> str:
    """A Python that has Blender, which commands find too."""
    python = os.environ.get("ECORCHE_BPY", str(ROOT / ".venv-bpy" / "bin" / "python"))
    if not Path(python).exists():
        skip_or_fail("no Blender: set ECORCHE_BPY to a Python that has bpy")
    monkeypatch.setenv("ECORCHE_BLENDER_PYTHON", python)
    return python


def test_a_dressed_person_comes_back_from_fbx(
    data: Path, tmp_path: Path, blender: str, figure: Figure
) -> None:
    """Dual quaternions and all: FBX gets blend shapes for what its linear skinning does not do."""
    character = person(data / "human" / "male_dressed_mixamo.glb")
    take = played(character, swinging(character.skeleton, 10), "dual_quaternion")
    assert take.frames is not None
    write_take(tmp_path / "man.fbx", take)
    back = read_character(tmp_path / "man.fbx")
    # Blender has an order of joints and meshes of its own
    assert sorted(back.skeleton.names) == sorted(character.skeleton.names)
    assert sorted(m.name for m in back.meshes) == sorted(m.name for m in character.meshes)
    places = [back.meshes.index(back.mesh(m.name)) for m in character.meshes]
    for one, other in zip((back.meshes[p] for p in places), character.meshes, strict=True):
        assert np.array_equal(one.mesh.face_counts, other.mesh.face_counts)
        assert np.array_equal(one.mesh.face_indices, other.mesh.face_indices)
        assert np.abs(one.mesh.points - other.mesh.points).max() < 1e-5
    (motion,) = back.motions
    assert motion.name == "swing"
    np.testing.assert_allclose(motion.times, take.frames.times, atol=1e-6)
    theirs = perform(back, motion).take.frames
    assert theirs is not None
    worst = max(
        float(np.abs(theirs[f].points[place] - take.frames[f].points[m]).max())
        for f in range(10)
        for m, place in enumerate(places)
    )
    figure("FBX through Blender and back, ten frames", worst * 1e3, 0.1, "mm")
    assert worst < 1e-4


def test_muscle_joints_come_back_from_fbx(data: Path, tmp_path: Path, blender: str, figure: Figure) -> None:
    """Joints that dilate: USD, through which they go, rounds scales, and Blender leaves some out."""
    made = jointed(data / MAN)
    motion = made.motion(captured(data / MAN, data / "cmu" / "13_39.bvh"))
    written = write_take(tmp_path / "man.fbx", Take(replace(made.character, motions=(motion,))))
    assert not any("half precision" in note for note in written.notes)
    back = read_character(tmp_path / "man.fbx")
    (found,) = back.motions
    np.testing.assert_allclose(found.times, motion.times, atol=1e-6)
    ours, theirs = perform(made.character, motion).take.frames, perform(back, found).take.frames
    assert ours is not None
    assert theirs is not None
    worst = max(
        float(np.abs(theirs[f].points[0] - ours[f].points[0]).max()) for f in range(motion.frame_count)
    )
    figure("Muscle joints through FBX and back, thirty frames", worst * 1e3, 0.1, "mm")
    assert worst < 1e-4


def test_muscle_joints_are_exported_as_fbx(
    data: Path, tmp_path: Path, blender: str, ecorche: Command
) -> None:
    rig, motion = tmp_path / "man.ecorche", data / "cmu" / "13_39.bvh"
    ecorche("rig", data / MAN, "-o", rig)
    ecorche("export", rig, "-m", motion, "--frames", "100-103", "-o", tmp_path / "man.fbx", "-q")
    back = read_character(tmp_path / "man.fbx")
    assert back.motions[0].frame_count == 4
    assert len(back.skeleton.names) > 2 * len(person(data / MAN).skeleton.names)


def test_convert_goes_both_ways(data: Path, tmp_path: Path, blender: str, ecorche: Command) -> None:
    man = data / "human" / "male_average_cmu_mb.glb"
    ecorche("convert", man, tmp_path / "man é 1.fbx")
    ecorche("convert", tmp_path / "man é 1.fbx", tmp_path / "back.glb")
    ours, back = person(man), read_character(tmp_path / "back.glb")
    assert set(ours.skeleton.names) <= set(back.skeleton.names)
    assert np.abs(ours.meshes[0].mesh.points - back.meshes[0].mesh.points).max() < 1e-4
    # still moved by the same joints
    rows = [back.skeleton.names.index(name) for name in ours.skeleton.names]
    places = back.skeleton.bind_world[rows, :3, 3] - ours.skeleton.bind_world[:, :3, 3]
    assert np.abs(places).max() < 1e-4
    weights, theirs = ours.meshes[0].weights, back.meshes[0].weights
    assert weights is not None
    assert theirs is not None
    assert (np.array(rows)[weights.strongest()] == theirs.strongest()).mean() > 0.999


def test_a_clip_of_an_fbx_moves_others(tmp_path: Path, blender: str) -> None:
    character = tube()
    motion = replace(bending(character), name="bend it")
    still = replace(motion, name="hold it", local=np.repeat(motion.local[:1], motion.frame_count, axis=0))
    written = write_take(tmp_path / "tube.fbx", Take(replace(character, motions=(motion, still))))
    assert any("left out: 'hold it'" in note for note in written.notes)
    found = read_motion(tmp_path / "tube.fbx", "bend it")
    np.testing.assert_allclose(found.times, motion.times, atol=1e-6)
    # frames of a pause, and those after a late start, are all there
    pause = replace(bending(character, 9), times=0.5 + np.arange(9) / 24.0)
    pause.local[3:7] = pause.local[3]
    write_take(tmp_path / "pause.fbx", Take(replace(character, motions=(pause,))))
    found = read_motion(tmp_path / "pause.fbx")
    np.testing.assert_allclose(found.times, pause.times, atol=1e-6)
    assert np.array_equal(found.local[6], found.local[3])
    assert np.abs(found.local[7] - found.local[6]).max() > 1e-3
    (tmp_path / "text.fbx").write_text("; FBX 6.1.0 project file")
    with pytest.raises(ReadError, match="is not binary FBX"):
        read_character(tmp_path / "text.fbx")
    damaged = tmp_path / "damaged.fbx"
    damaged.write_bytes((tmp_path / "tube.fbx").read_bytes()[:2000])
    with pytest.raises(ReadError, match="Blender refuses"):
        read_character(damaged)


def worst_in_alembic(blender: str, path: Path, take: Take, rate: float) -> float:
    """How far an Alembic file is from a take as Blender reads it, in all frames of all meshes [m]."""
    assert take.frames is not None
    write_take(path, take)
    frames = range(len(take.frames))
    script, out = Path(__file__).parent / "blender" / "read_abc.py", path.with_suffix(".npz")
    subprocess.run(
        [blender, script, path, out, ",".join(map(str, frames)), str(rate)],
        check=True,
        capture_output=True,
        timeout=120,
    )
    worst = 0.0
    with np.load(out) as theirs:
        assert len(theirs) == len(frames) * len(take.character.meshes)
        for number, mesh in enumerate(take.character.meshes):
            for frame in frames:
                found = theirs[f"{valid_name(mesh.name)}/{frame}"]
                worst = max(worst, float(np.abs(found - take.frames[frame].points[number]).max()))
    return worst


def test_alembic_holds_skin_muscles_and_bones(
    data: Path, tmp_path: Path, blender: str, figure: Figure
) -> None:
    character = tube()
    layered, _ = with_muscle_meshes(perform(character, bending(character), rig=whole_rig(character)).take)
    assert len(layered.character.meshes) == 6
    man = person(data / "human" / "male_dressed_mixamo.glb")
    dressed = played(man, swinging(man.skeleton, 6), "dual_quaternion")
    worst = max(
        worst_in_alembic(blender, tmp_path / "tube.abc", layered, 4.0),
        worst_in_alembic(blender, tmp_path / "man.abc", dressed, 30.0),
    )
    figure("Alembic in Blender, skin, muscles and bones", worst * 1e3, 0.1, "mm")
    assert worst < 1e-4


def test_without_blender_it_is_said_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ecorche: Command
) -> None:
    for name in ("ECORCHE_BLENDER_PYTHON", "ECORCHE_BLENDER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    write_take(tmp_path / "tube.glb", Take(tube()))
    said = " ".join(ecorche("convert", tmp_path / "tube.glb", tmp_path / "a.fbx", code=2).split())
    assert ".fbx files need Blender, and there is none" in said
    assert "pip install bpy" in said
    assert "ECORCHE_BLENDER_PYTHON" in said
    assert not (tmp_path / "a.fbx").exists()
    monkeypatch.setenv("ECORCHE_BLENDER_PYTHON", str(tmp_path / "nowhere"))
    with pytest.raises(WriteError, match="Blender cannot be started"):
        write_take(tmp_path / "a.fbx", Take(tube()))
