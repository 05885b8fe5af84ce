"""`ecorche rig --anatomy`: a real dog's muscles from a folder; meshes that are none are named."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from conftest import Figure
from ecorche.body.anatomy_rig import COVER, AnatomyReport, with_anatomy
from ecorche.body.character import Character
from ecorche.body.compile import Body, compile_body
from ecorche.body.evaluate import Pose, evaluate
from ecorche.body.rig import create_rig
from ecorche.cli.main import app
from ecorche.document.coupling_spec import CouplingSpec
from ecorche.document.files import Rig, read_rig, write_rig
from ecorche.errors import MeshError
from ecorche.io.anatomy_folder import bones_of_character, read_anatomy_folder
from ecorche.io.mujoco import read_character
from ecorche.skeleton.kinematics import difference_from_bind

pytest.importorskip("mujoco")

ARM = (
    "m.biceps_brachii", "m.brachialis", "m.triceps_brachii_long", "m.supraspinatus", "m.teres_major",
)  # fmt: skip


@pytest.fixture(scope="module")
def character(data: Path) -> Character:
    return read_character(data / "dog" / "dog.xml")


@pytest.fixture(scope="module")
def folder(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The left arm's muscles, all bones and sites, and muscles that are none."""
    made = tmp_path_factory.mktemp("dog")
    for kind in ("bones", "sites"):
        shutil.copytree(data / "dog" / kind, made / kind)
    (made / "muscles").mkdir()
    for file in (data / "dog" / "muscles").iterdir():
        if file.stem.removeprefix("MUSC").removesuffix("_L") in ARM:
            shutil.copy(file, made / "muscles")
    corners = [[0.1, 0.2, 0.3], [0.12, 0.2, 0.3], [0.1, 0.22, 0.3], [0.1, 0.2, 0.32]]
    faces = [[1, 3, 2], [1, 2, 4], [2, 3, 4], [1, 4, 3]]

    def obj(name: str, points: list[list[float]], triangles: list[list[int]]) -> None:
        rows = [f"v {' '.join(map(str, p))}" for p in points] + [
            f"f {' '.join(map(str, f))}" for f in triangles
        ]
        (made / "muscles" / f"{name}.obj").write_text("\n".join(rows) + "\n")

    obj("holes", [[float("nan"), 0.2, 0.3], *corners[1:]], faces)
    obj("cloud", corners, [])
    obj("far", [[x + 40.0, y, z] for x, y, z in corners], faces)
    return made


Built = tuple[Rig, AnatomyReport]


@pytest.fixture(scope="module")
def built(character: Character, folder: Path, data: Path, tmp_path_factory: pytest.TempPathFactory) -> Built:
    path = tmp_path_factory.mktemp("rig") / "dog.ecorche"
    bare = create_rig(character, data / "dog" / "dog.xml", path, muscles=False)
    read = read_anatomy_folder(folder, character.up_axis)
    rig, report = with_anatomy(bare, character, read, bones_of_character(character))
    write_rig(path, rig)
    return read_rig(path), report


@pytest.fixture(scope="module")
def body(character: Character, built: Built) -> Body:
    return compile_body(character, rig=built[0])


def test_meshes_that_are_none_are_named_and_the_others_are_built(built: Built) -> None:
    rig, report = built
    notes = " ".join(report.notes)
    assert "holes.obj was left out" in notes
    assert "cloud.obj was left out" in notes
    unread = [line for line in report.told() if line.startswith("The muscle ")]  # each of them, not only some
    assert len(unread) == len([note for note in report.notes if "was left out" in note]) >= 2
    assert "no bone" in report.left_out["far"]
    names = set(rig.spec.muscles.lines)
    # the right side was missing and is made
    assert len(names) == 2 * len([n for n in names if n.endswith("_L")])
    assert {"MUSCm.biceps_brachii_L", "MUSCm.biceps_brachii_R"} <= names
    assert any("far" in line for line in report.told())
    assert any("Left out: far" in note for note in rig.spec.notes)
    biceps = rig.spec.muscles.lines["MUSCm.biceps_brachii_L"]
    assert biceps.muscle == "biceps brachii"
    assert biceps.side == "left"
    assert {held.joint for held in biceps.attachments if held.end == "origin"} == {"scapula_L"}
    assert {held.joint for held in biceps.attachments if held.end == "insertion"} == {"lower_arm_L"}
    assert biceps.actions[0].joint in ("lower_arm_L", "upper_arm_L")
    assert 50.0 < biceps.max_force < 1000.0


def test_the_skin_lies_over_a_fascia_unless_the_rig_has_said_otherwise(
    character: Character, built: Built, folder: Path, body: Body
) -> None:
    rig, report = built
    assert rig.spec.coupling == COVER
    assert COVER.everywhere == "fascia"
    assert any("fascia" in line for line in report.told())
    assert body.coupling is not None
    assert body.coupling.rig_bones is not None
    # elbow, stifle and hock of both sides keep their volume
    assert len(body.coupling.volume.segments) == 6
    skin = character.meshes[body.coupling.skin]
    assert skin.name == "skin"
    still = evaluate(body, Pose(character.skeleton.bind_local)).points[body.coupling.skin]
    assert still.tobytes() == skin.mesh.points.tobytes()
    read = read_anatomy_folder(folder, character.up_axis)
    few = replace(read, muscles=tuple(m for m in read.muscles if "biceps" in m.name))
    said = CouplingSpec(everywhere="height_field", seconds=0.1)
    asked = replace(rig, spec=rig.spec.model_copy(update={"coupling": said}))
    other, told = with_anatomy(asked, character, few, bones_of_character(character))
    assert other.spec.coupling == said
    assert not any("fascia" in line for line in told.told())


def test_bind_is_exact_and_sides_act_alike(body: Body) -> None:
    assert body.lines is not None
    meshes = body.lines.musculature.meshes
    still = np.zeros((body.character.skeleton.joint_count, 4, 4))
    assert np.array_equal(body.lines.points(still, np.zeros(len(body.lines.designed))), meshes.bind)
    muscles = {muscle.name: muscle for muscle in body.lines.designed}
    for name, muscle in muscles.items():
        if name.endswith("_L"):
            other = muscles[f"{name[:-1]}R"]
            assert [a.joint[:-1] for a in muscle.actions] == [a.joint[:-1] for a in other.actions]


def test_bent_arms_are_finite_keep_volume_and_stay_on_their_bones(body: Body, figure: Figure) -> None:
    assert body.lines is not None
    skeleton, muscles = body.character.skeleton, body.lines.musculature
    drift, off = 0.0, 0.0
    for angle in (-0.6, 0.6):
        local = skeleton.bind_local.copy()
        turn = np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1.0]])
        for joint in ("upper_arm_L", "lower_arm_L", "hand_L"):
            number = skeleton.index(joint)
            frame = skeleton.bind_world[number, :3, :3]
            local[number, :3, :3] = local[number, :3, :3] @ frame.T @ turn @ frame
        moved = difference_from_bind(skeleton, local)
        paths = muscles.paths.posed(moved[None])
        posed = muscles.posed(moved, paths.nodes[0], paths.elongation[0], np.ones(len(muscles.muscles)))
        assert np.isfinite(posed.points).all()
        assert posed.held.all()
        for m, (muscle, mesh) in enumerate(zip(muscles.muscles, muscles.meshes.muscles, strict=True)):
            now = posed.points[muscles.meshes.starts[m] : muscles.meshes.starts[m + 1]]
            volumes = []
            for points in (mesh.points, now):
                a, b, c = np.moveaxis(points[mesh.closed] - points[0], 1, 0)
                volumes.append(np.sum(a * np.cross(b, c)))
            drift = max(drift, abs(volumes[1] / volumes[0] - 1.0))
            sitting = [held.sits for held in muscle.attachments]
            held, times = np.unique(np.concatenate([s.vertices for s in sitting]), return_counts=True)
            alone = held[times == 1]  # who sits on two bones goes with both
            for site in sitting:
                rows = np.intersect1d(site.vertices, alone)
                carried = mesh.points[rows] + mesh.points[rows] @ moved[site.joint, :3, :3].T
                carried += moved[site.joint, :3, 3]
                off = max(off, float(np.abs(now[rows] - carried).max(initial=0.0)))
    figure("dog's arm on action lines, volume", 100.0 * drift, 1.0, "%")
    figure("dog's arm on action lines, attachments off their bones", 1e3 * off, 1.0, "mm")
    assert drift < 1e-6
    assert off < 1e-3


def test_a_folder_without_any_muscle_that_can_be_built_is_refused(
    character: Character, folder: Path, data: Path, tmp_path: Path
) -> None:
    (tmp_path / "muscles").mkdir()
    shutil.copy(folder / "muscles" / "far.obj", tmp_path / "muscles")
    shutil.copytree(data / "dog" / "bones", tmp_path / "bones")
    bare = create_rig(character, data / "dog" / "dog.xml", tmp_path / "dog.ecorche", muscles=False)
    read = read_anatomy_folder(tmp_path, character.up_axis)
    with pytest.raises(MeshError, match="no muscle of the folder could be built"):
        with_anatomy(bare, character, read, bones_of_character(character))


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--anatomy", "dog", "--without-muscles"], "contradict each other"),
        (["--anatomy", "nowhere"], "there is no such folder"),
    ],
)
def test_options_that_make_no_sense(data: Path, tmp_path: Path, options: list[str], told: str) -> None:
    dog = str(data / "dog" / "dog.xml")
    done = CliRunner().invoke(app, ["rig", dog, *options, "-o", str(tmp_path / "dog.ecorche")])
    assert done.exit_code != 0
    assert told in f"{done.output} {done.exception}"
    assert list(tmp_path.iterdir()) == []


def test_the_whole_dog_in_one_command(data: Path, tmp_path: Path, figure: Figure) -> None:
    """In its own time: other work on the machine is no fault of ours."""
    from time import process_time

    path = tmp_path / "dog.ecorche"
    started = process_time()
    done = CliRunner().invoke(
        app, ["rig", "--anatomy", str(data / "dog"), str(data / "dog" / "dog.xml"), "-o", str(path)]
    )
    figure("the dog's 147 muscles rigged in one command", process_time() - started, 60.0, "s")
    assert done.exit_code == 0, done.output
    assert "149 muscles on" in done.output
    assert len(read_rig(path).spec.muscles.lines) == 149
