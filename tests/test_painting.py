"""Painted weights: written out, painted, read back from every format, and kept in the rig."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from typer.testing import CliRunner

from ecorche.base.mesh import Attribute
from ecorche.body.character import Character
from ecorche.body.compile import compile_body
from ecorche.body.painting import attribute_name, painted_on, with_attribute, with_weights, without_weights
from ecorche.body.rig import create_rig
from ecorche.body.take import Take
from ecorche.cli.main import app
from ecorche.document.bind import BindMesh
from ecorche.document.files import Rig, read_rig, write_rig
from ecorche.errors import DocumentError, MeshError, ReadError
from ecorche.io.formats import read_character, write_take
from ecorche.io.masks import read_mask, write_mask

Floats = npt.NDArray[np.float64]
BICEPS = "biceps brachii, long head, right"


@pytest.fixture(scope="module")
def man(data: Path) -> Character:
    return read_character(data / "human" / "male_muscular_cmu_mb.glb")


@pytest.fixture(scope="module")
def rig(data: Path, man: Character, tmp_path_factory: pytest.TempPathFactory) -> Rig:
    folder = tmp_path_factory.mktemp("painting")
    made = create_rig(man, data / "human" / "male_muscular_cmu_mb.glb", folder / "man.ecorche")
    write_rig(folder / "man.ecorche", made)
    return read_rig(folder / "man.ecorche")


def _painted(man: Character) -> Floats:
    """A ramp over the right arm."""
    points = man.body().mesh.points.astype(np.float64)
    return np.clip((-points[:, 0] - 0.2) * 3.0, 0.0, 1.0)


def _bind(man: Character) -> BindMesh:
    mesh = man.body().mesh
    return BindMesh(mesh.name, mesh.points, mesh.face_counts, mesh.face_indices)


@pytest.mark.parametrize("suffix", [".glb", ".usdc", ".usda", ".gltf"])
def test_weights_go_out_as_an_attribute_and_come_back(man: Character, tmp_path: Path, suffix: str) -> None:
    weights, name = _painted(man), attribute_name(BICEPS)
    file = tmp_path / f"painted{suffix}"
    write_take(file, Take(with_attribute(man, man.body().name, name, weights)))
    back = painted_on(read_character(file), name, _bind(man))
    assert back.note == ""
    np.testing.assert_allclose(back.weights, weights, atol=1e-7)


def test_a_mesh_an_exporter_reordered_is_carried_over_its_surface(man: Character) -> None:
    body, weights = man.body(), _painted(man)
    order = np.random.default_rng(3).permutation(body.mesh.vertex_count)
    place = np.argsort(order).astype(np.int32)
    mesh = replace(
        body.mesh,
        points=body.mesh.points[order],
        normals=None,
        face_indices=place[body.mesh.face_indices],
        attributes=(Attribute("_muscle_x", weights[order].astype(np.float32)),),
        morphs=(),
        uv=None,
    )
    other = replace(man, meshes=(replace(body, mesh=mesh, weights=None),))
    brought = painted_on(other, "muscle_x", _bind(man))
    assert "carried over the surface" in brought.note
    np.testing.assert_allclose(brought.weights, weights, atol=1e-5)


def test_painted_weights_are_kept_and_move_the_skin(rig: Rig, man: Character, tmp_path: Path) -> None:
    weights = _painted(man)
    written = write_rig(tmp_path / "man.ecorche", with_weights(rig, BICEPS, weights))
    again = read_rig(tmp_path / "man.ecorche")
    assert again.spec == written
    muscles = compile_body(man, rig=again).muscles
    assert muscles is not None
    mine = muscles.influences.muscles == muscles.musculature.names.index(BICEPS)
    assert set(muscles.influences.vertices()[mine].tolist()) <= set(np.flatnonzero(weights).tolist())
    assert mine.sum() > 100
    back = without_weights(again, BICEPS)
    assert back.maps == {}
    assert back.spec.muscles == rig.spec.muscles


def test_two_muscles_may_share_a_map_and_part_again(rig: Rig, man: Character) -> None:
    other = "biceps brachii, short head, right"
    first = with_weights(rig, BICEPS, _painted(man))
    (name,) = first.maps
    named = dict(first.spec.muscles.named)
    reach = named[other].influence.model_copy(update={"painted": name})
    named[other] = named[other].model_copy(update={"influence": reach})
    muscles = first.spec.muscles.model_copy(update={"named": named})
    shared = replace(first, spec=first.spec.model_copy(update={"muscles": muscles}))
    assert set(without_weights(shared, BICEPS).maps) == {name}
    repainted = with_weights(shared, BICEPS, 0.5 * _painted(man))
    assert len(repainted.maps) == 2
    np.testing.assert_array_equal(repainted.maps[name], shared.maps[name])


def test_what_cannot_be_weights_is_refused(rig: Rig, man: Character, tmp_path: Path) -> None:
    weights = _painted(man)
    with pytest.raises(DocumentError, match=r"no muscle 'biceps'"):
        with_weights(rig, "biceps", weights)
    with pytest.raises(DocumentError, match=r"3 weights for the 13380 vertices"):
        with_weights(rig, BICEPS, weights[:3])
    weights[7] = np.nan
    with pytest.raises(MeshError, match=r"weight of vertex 7 is nan"):
        with_weights(rig, BICEPS, weights)
    with pytest.raises(MeshError, match=r"no mesh has an attribute 'muscle_x'"):
        painted_on(man, "muscle_x", _bind(man))
    mask = tmp_path / "mask.csv"
    mask.write_text("vertex,weight\n3,0.5\n99999,1\n")
    with pytest.raises(ReadError, match=r"line 3: there is no vertex 99999"):
        read_mask(mask, 13380)
    mask.write_text("0.5\n0.25\n")
    with pytest.raises(ReadError, match=r"shape \(2,\) for 3 vertices"):
        read_mask(mask, 3)
    np.testing.assert_array_equal(read_mask(mask, 2), [0.5, 0.25])
    mask.write_text("1,2,3\n")
    with pytest.raises(ReadError, match="3 numbers in a line"):
        read_mask(mask, 3)


@pytest.mark.parametrize("suffix", [".npy", ".csv", ".txt"])
def test_masks_are_read_as_written(tmp_path: Path, suffix: str) -> None:
    values = np.array([0.0, 0.25, 1.0, 0.0, 0.125])
    write_mask(tmp_path / f"mask{suffix}", values)
    np.testing.assert_array_equal(read_mask(tmp_path / f"mask{suffix}", 5), values)


def test_the_command_writes_paints_and_forgets(rig: Rig, man: Character, tmp_path: Path) -> None:
    folder, run = tmp_path, CliRunner()
    target = Path(rig.source)
    shown = run.invoke(app, ["weights", str(target), BICEPS])
    assert shown.exit_code == 0, shown.output
    assert "moves" in shown.output
    done = run.invoke(app, ["weights", str(target), BICEPS, "-o", str(folder / "found.csv")])
    assert done.exit_code == 0, done.output
    found = read_mask(folder / "found.csv", man.body().mesh.vertex_count)
    assert (found > 0.0).sum() > 20
    done = run.invoke(app, ["weights", str(target), BICEPS, "--from", str(folder / "found.csv")])
    assert done.exit_code == 0, done.output
    assert read_rig(target).spec.muscles.named[BICEPS].influence.painted
    assert "(painted)" in run.invoke(app, ["weights", str(target), BICEPS]).output
    assert run.invoke(app, ["weights", str(target), BICEPS, "--found"]).exit_code == 0
    assert read_rig(target).maps == {}
