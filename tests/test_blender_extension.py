"""The Blender extension in real Blender: the zip installed, its operators run, its skin ours."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import ecorche
from arm_anatomy import Z_UP, write_arm
from conftest import ROOT, Figure, skip_or_fail
from ecorche import Character, Motion, Rig
from ecorche.body.compile import Body
from ecorche.body.drivers.measure import driven_difference
from ecorche.body.drivers.table import read_table
from ecorche.skeleton.skeleton import local_from_world
from jointed_people import shown

Floats = npt.NDArray[np.float64]
Points = npt.NDArray[np.float32]

MAN = Path("human") / "male_muscular_cmu_mb.glb"
MUSCLE = "biceps brachii, long head, right"
FRAMES = (0, 5, 10)
CLOSE = 1e-4
"""What is asked for: 0.1 mm."""
Y_UP = np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0], [0.0, -1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
"""Blender's axes to glTF's."""


def python_of(environment: str, variable: str, version: str) -> str:
    python = Path(os.environ.get(variable, ROOT / environment / "bin" / "python"))
    if not python.exists():
        skip_or_fail(f"no Blender: make {environment} with bpy {version}, or set {variable} to its python")
    needed = "import numba, scipy, pydantic, lz4, trimesh, shapely, robust_laplacian"
    if subprocess.run([python, "-c", needed], capture_output=True).returncode != 0:
        skip_or_fail(f"{environment} lacks what Ecorche needs: run tools/setup-peers")
    return str(python)


def run_in_blender(python: str, folder: Path, script: str, *arguments: object, ours: bool = True) -> str:
    """Run a script in a Blender whose extensions and settings are in a folder; what it prints."""
    environment = {**os.environ, "BLENDER_USER_RESOURCES": str(folder / "blender")}
    # threads of its NumPy would wait for work in a loop, and take a processor from other tests
    environment["OPENBLAS_NUM_THREADS"] = "1"
    environment.pop("PYTHONPATH", None)
    if ours:  # the very sources that are tested, compiled already
        environment["PYTHONPATH"] = str(ROOT / "src")
    done = subprocess.run(
        [python, str(ROOT / "tests" / "blender" / script), *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=500,
        env=environment,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The zip, built by its one command."""
    target = tmp_path_factory.mktemp("zip") / "ecorche-blender.zip"
    command = [sys.executable, str(ROOT / "tools" / "build-blender"), "-o", str(target)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return target


@dataclass(frozen=True, eq=False)
class Done:
    """What was done in Blender, and the same character here.

    Attributes:
        points: By step, (frames, vertices, 3) in Blender's order of vertices; and the poses.
        told: What was said and found.
        reported: What operators reported.
        folder: What was written.
        man: The character with Blender's bone tips.
        motion: What the armature does.
        file_rig: Of the file, as the command makes it.
    """

    points: Mapping[str, Any]
    told: Mapping[str, Any]
    reported: str
    folder: Path
    man: Character
    motion: Motion
    file_rig: Rig

    @cached_property
    def rig(self) -> Rig:
        """The template on the character with Blender's bone tips."""
        return ecorche.new_rig(self.man, "man.glb", "man.ecorche").rig

    @cached_property
    def order(self) -> npt.NDArray[np.int32]:
        """Blender takes the vertices each primitive uses, primitive after primitive."""
        mesh = self.man.meshes[0].mesh
        triangles = mesh.triangles()
        return np.concatenate([np.unique(triangles[subset.faces]) for subset in mesh.subsets])

    def written(self, name: str) -> tuple[Character, Floats]:
        """A character that Blender wrote, whose joints lie as its bones do, and its motion (frames, …)."""
        character = ecorche.read_character(self.folder / f"{name}.glb")
        names = self.points["names"].tolist()
        chosen = [names.index(joint) for joint in character.skeleton.names]
        world = Y_UP @ self.points["poses"][:, chosen]
        return character, local_from_world(character.skeleton.parents, world)

    def skin(self, body: Body, muscle: tuple[float, ...] | None = None, *, ordered: bool = False) -> Points:
        """Ours in the frames, each a pose by itself; with an activation of its own of one muscle.

        ``ordered`` says that vertices are in Blender's order already.
        """
        found = []
        for number, frame in enumerate(FRAMES):
            local, active = self.motion.local[frame], None
            if body.activation is not None:
                active = body.activation.over(replace(self.motion, times=np.zeros(1), local=local[None]))[0]
                if muscle is not None:
                    active[body.muscle_names.index(MUSCLE)] = muscle[number]
            pose = ecorche.Pose(local, activation=active)
            found.append(ecorche.evaluate(body, pose).points[0])
        return np.array(found) if ordered else np.array(found)[:, self.order]

    def take(self, rig: Rig, **said: Any) -> Points:
        """The frames of our own bake of them all."""
        frames = ecorche.perform(self.man, self.motion, rig=rig, limits=False, **said).take.frames
        assert frames is not None
        return np.array([frames[frame].points[0][self.order] for frame in FRAMES])

    def apart(self, step: str, ours: Points) -> float:
        """How far Blender's vertices are from ours at most [m]."""
        return float(np.linalg.norm(self.points[step] - ours, axis=-1).max())


KEYED = (0.0, 0.5, 1.0)
"""Activation of the one muscle in the three frames."""


def motion_in_blender(man: Character, points: Mapping[str, Any]) -> tuple[Character, Motion]:
    """The character with Blender's bone tips, and its motion, of what was written down there."""
    names = points["names"].tolist()
    chosen = [names.index(name) for name in man.skeleton.names]
    bone_from_joint = np.linalg.inv(Y_UP @ points["rest"][chosen]) @ man.skeleton.bind_world
    tips = points["tails"][chosen] @ Y_UP[:3, :3].T - man.skeleton.bind_world[:, :3, 3]
    tails = np.einsum("jba,jb->ja", man.skeleton.bind_world[:, :3, :3], tips)
    skeleton = replace(man.skeleton, tails=tails)
    local = local_from_world(skeleton.parents, Y_UP @ points["poses"][:, chosen] @ bone_from_joint)
    return replace(man, skeleton=skeleton), Motion("bent", skeleton, np.arange(len(local)) / 24.0, local)


@pytest.fixture(scope="module")
def done(archive: Path, data: Path, tmp_path_factory: pytest.TempPathFactory) -> Done:
    python, folder = python_of(".venv-bpy", "ECORCHE_BPY", "4.5"), tmp_path_factory.mktemp("extension")
    man = ecorche.read_character(data / MAN)
    rig = ecorche.create_rig(man, data / MAN, folder / "of the file.ecorche")
    ecorche.write_rig(folder / "of the file.ecorche", rig)
    anatomy = write_arm(folder / "arm", man, Z_UP)
    reported = run_in_blender(
        python, folder, "extension.py", archive, data / MAN, folder, folder / "of the file.ecorche", anatomy
    )
    told = json.loads((folder / "told.json").read_text(encoding="utf-8"))
    with np.load(folder / "points.npz") as points:
        arrays = dict(points)
    return Done(arrays, told, reported, folder, *motion_in_blender(man, arrays), rig)


def test_the_zip_holds_extension_licence_and_package(archive: Path) -> None:
    with zipfile.ZipFile(archive) as held:
        names = held.namelist()
        manifest = held.read("blender_manifest.toml").decode()
    assert {"__init__.py", "panel.py", "LICENSE.md", "blender_manifest.toml"} <= set(names)
    (wheel,) = [name for name in names if name.endswith(".whl")]
    assert f'"./{wheel}"' in manifest
    assert wheel.startswith(f"wheels/ecorche-{ecorche.__version__}-")
    assert "GPL-3.0-or-later" in manifest


def test_it_brings_the_package_and_says_what_is_missing(archive: Path, tmp_path: Path) -> None:
    python = python_of(".venv-bpy", "ECORCHE_BPY", "4.5")
    run_in_blender(python, tmp_path, "extension_alone.py", archive, tmp_path / "found.json", ours=False)
    found = json.loads((tmp_path / "found.json").read_text())
    assert found["package"].startswith(found["extensions"])
    assert "no mesh follows the armature 'Armature'. Parent one" in found["without a mesh"]
    assert "the Python package 'numba' is not installed in this Blender. Install it" in found["without numba"]
    assert found["switched off"]


def test_the_skin_in_blender_is_ours(done: Done, figure: Figure) -> None:
    plain, body = ecorche.compile_body(done.man), ecorche.compile_body(done.man, rig=done.rig)
    assert done.apart("plain", done.skin(plain)) < CLOSE
    ours = done.skin(body)
    worst = done.apart("template", ours)
    figure("the extension's preview in Blender 4.5, template given there", worst * 1e3, 0.1, "mm")
    assert worst < CLOSE
    assert done.apart("plain", ours) > 3e-3  # muscles do something
    of_file = done.skin(ecorche.compile_body(done.man, rig=done.file_rig))
    worst = done.apart("read", of_file)
    figure("the extension's preview in Blender 4.5, a rig file read there", worst * 1e3, 0.1, "mm")
    assert worst < CLOSE
    assert done.told["modifiers"] == ["Armature", "Ecorche Muscles", "Subdivision"]
    assert done.told["muscles"] == len(body.muscle_names)


def test_muscles_found_in_the_skin_are_shown(done: Done, figure: Figure) -> None:
    rig, _ = ecorche.new_rig(done.man, "man.glb", "man.ecorche", muscles="extract")
    body = ecorche.compile_body(done.man, rig=rig)
    assert set(done.told["found"]) == set(body.muscle_names)
    assert done.apart("extract", done.skin(body)) < 1e-3  # rounded joints find muscles a little elsewhere
    written, local = done.written("found")
    there = ecorche.compile_body(written, rig=ecorche.read_rig(done.folder / "found.ecorche"))
    own = replace(done.motion, skeleton=written.skeleton, local=local)
    ours = replace(done, man=written, motion=own).skin(there, ordered=True)
    worst = done.apart("extract", ours)
    figure("the extension's preview in Blender 4.5, muscles found there", worst * 1e3, 0.1, "mm")
    assert worst < CLOSE
    assert done.apart("plain", ours) > 3e-3


def test_the_template_adjusted_to_the_skin_is_shown_and_its_fat_swings(done: Done, figure: Figure) -> None:
    rig, _ = ecorche.new_rig(done.man, "man.glb", "man.ecorche", muscles="template+extract")
    ours = done.skin(ecorche.compile_body(done.man, rig=rig))
    worst = done.apart("template+extract", ours)
    figure("the extension's preview in Blender 4.5, template and skin", worst * 1e3, 0.1, "mm")
    assert worst < CLOSE
    assert done.apart("template", ours) > 1e-3  # the adjustment does something
    worst = done.apart("fat", done.take(rig, dynamics="fat"))
    figure("the extension's bake of fat in Blender 4.5", worst * 1e3, 0.1, "mm")
    assert worst < CLOSE
    assert done.apart("fat", done.take(rig)) > 3e-4  # it swings


def test_muscles_of_a_folder_are_shown_and_swing(done: Done, tmp_path: Path, figure: Figure) -> None:
    """In Blender with z up, here the same meshes with y up."""
    folder = write_arm(tmp_path, done.man, np.eye(3))
    rig, _ = ecorche.new_rig(done.man, "man.glb", "man.ecorche", muscles="anatomy", anatomy=folder)
    body = ecorche.compile_body(done.man, rig=rig)
    assert done.told["muscles of a folder"] == list(body.muscle_names) == ["biceps"]
    ours = done.skin(body)
    worst = done.apart("anatomy", ours)
    figure("the extension's preview in Blender 4.5, meshes of a folder", worst * 1e3, 0.1, "mm")
    assert worst < CLOSE
    assert done.apart("plain", ours) > 3e-3
    worst = done.apart("oscillation", done.take(rig, dynamics="oscillation"))
    figure("the extension's bake of swinging meshes in Blender 4.5", worst * 1e3, 0.1, "mm")
    assert worst < CLOSE
    assert done.apart("oscillation", done.take(rig)) > 3e-4


def test_operators_speak_of_buttons(done: Done) -> None:
    assert "Choose Anatomy in Give Muscles, or another Dynamics" in done.told["nothing swings"]
    assert "Choose Template or Extract in Give Muscles, or Bake to Cache" in done.told["meshes as joints"]
    assert "Info: the skin lies over them by a fascia, unless Coupling says otherwise" in done.reported


def test_bendy_bones_are_told_with_muscle_joints(done: Done) -> None:
    lines = [line for line in done.reported.splitlines() if "bendy" in line]
    assert lines == [
        "Info: muscle bones do not see how 1 bendy bones curve: RightForeArm. Set Segments to 1, or Bake to"
        " Cache, where that shows"
    ]


def test_posing_by_hand_is_followed(done: Done) -> None:
    assert done.told["posed by hand"] > 0.1
    assert done.told["and back"] == 0.0


def test_activation_is_keyed_saved_and_loaded(done: Done) -> None:
    body = ecorche.compile_body(done.man, rig=done.rig)
    keyed = done.skin(body, KEYED)
    assert done.points["activation"][list(FRAMES)] == pytest.approx(KEYED, abs=1e-6)
    assert done.apart("keyed", keyed) < CLOSE
    assert done.apart("loaded", keyed) < CLOSE
    assert done.apart("template", keyed) > 1e-3


def test_undo_gives_back_what_was(done: Done) -> None:
    assert done.told["undo"] == [True, done.told["muscles"], True]
    assert np.array_equal(done.points["undone"], done.points["keyed"])


def test_vertex_groups_are_painted_maps(done: Done) -> None:
    body = ecorche.compile_body(done.man, rig=done.rig)
    own = ecorche.skin_moved_by(body, MUSCLE)
    assert done.told["group"] == int((own > 0.0).sum())
    unpainted = ecorche.with_weights(done.rig, MUSCLE, np.zeros_like(own))
    ours = done.skin(ecorche.compile_body(done.man, rig=unpainted), KEYED)
    assert done.apart("unpainted", ours) < CLOSE
    assert done.apart("keyed", ours) > 1e-3
    assert np.array_equal(done.points["forgotten"], done.points["keyed"])


def test_couplings_are_chosen_and_painted(done: Done, figure: Figure) -> None:
    fascia = ecorche.with_coupling(done.rig, done.man, {"everywhere": "fascia"})
    worst = done.apart("fascia", done.skin(ecorche.compile_body(done.man, rig=fascia), KEYED))
    figure("the extension's preview in Blender 4.5, over a fascia", worst * 1e3, 0.1, "mm")
    assert worst < CLOSE
    values = np.zeros(done.man.meshes[0].mesh.vertex_count)
    none = ecorche.with_coupling(
        ecorche.with_map(fascia, "intensity", values), done.man, {"intensity": "intensity"}
    )
    ours = done.skin(ecorche.compile_body(done.man, rig=none), KEYED)
    assert done.apart("fascia by intensity 0", ours) < CLOSE
    assert done.apart("fascia", ours) > 1e-3


def test_bakes_are_the_take(done: Done, figure: Figure) -> None:
    body = ecorche.compile_body(done.man, rig=done.rig)

    class Keyed:
        def over(self, motion: Motion) -> Floats:
            assert body.activation is not None
            active = np.array(body.activation.over(motion))
            # as Blender eases between two keys
            active[:, body.muscle_names.index(MUSCLE)] = done.points["activation"]
            return active

    take = ecorche.perform(done.man, done.motion, rig=done.rig, activation=Keyed()).take
    assert take.frames is not None
    ours = np.array([take.frames[frame].points[0][done.order] for frame in FRAMES])
    for step, asked in (("shape keys", CLOSE), ("cache", CLOSE)):
        worst = done.apart(step, ours)
        figure(f"the extension's bake to {step} in Blender 4.5", worst * 1e3, 1e3 * asked, "mm")
        assert worst < asked
    assert done.told["keys"] <= 13
    assert done.told["preview after a bake"] is False
    assert done.told["cache modifiers"] == ["Armature", "Ecorche Cache", "Subdivision"]
    assert np.array_equal(done.points["after all bakes"], done.points["plain"])


def test_muscle_joints_follow_their_drivers_and_the_original_stays(done: Done, figure: Figure) -> None:
    # the table speaks of joints that lie as Blender's bones do, as those in the file that it wrote
    own, local = done.written("мышцы 1")
    made = ecorche.jointed_character(
        own, ecorche.read_rig(done.folder / "мышцы 1.ecorche"), joints_per_muscle=1
    )
    table = read_table(done.folder / "drivers.json")
    ours = np.array([shown(made, driven_difference(made, table, local[frame]))[0] for frame in FRAMES])
    worst = done.apart("muscle joints", ours)
    figure("the extension's muscle joints in Blender 4.5, against their table", worst * 1e3, 0.1, "mm")
    assert worst < CLOSE
    assert done.apart("plain", ours) > 1e-3  # and they do something
    assert done.told["bones"] == [own.skeleton.joint_count, made.character.skeleton.joint_count]
    assert np.array_equal(done.points["beside muscle joints"], done.points["plain"])


def test_muscle_joints_follow_bones_under_controls(done: Done, figure: Figure) -> None:
    """On a control rig of Rigify: turned and drawn limbs, bones that follow by constraints alone."""
    own = ecorche.read_character(done.folder / "controlled.glb")
    made = ecorche.jointed_character(
        own, ecorche.read_rig(done.folder / "controlled.ecorche"), joints_per_muscle=1
    )
    parents = dict(zip(own.skeleton.names, own.skeleton.parents.tolist(), strict=True))
    assert own.skeleton.names[parents["DEF-upper_arm.R"]] == "DEF-shoulder.R"
    assert own.skeleton.names[parents["DEF-thigh.L"]] == "DEF-spine"
    names = done.points["controlled names"].tolist()
    world = Y_UP @ done.points["controlled poses"][:, [names.index(name) for name in own.skeleton.names]]
    table = read_table(done.folder / "controlled.json")
    poses = local_from_world(own.skeleton.parents, world)
    ours = np.array([shown(made, driven_difference(made, table, local))[0] for local in poses])
    worst = done.apart("controlled", ours)
    figure("the extension's muscle joints under control bones, against their table", worst * 1e3, 0.1, "mm")
    assert worst < CLOSE
    assert done.apart("controlled, plain", ours) > 1e-3


def test_a_rig_file_from_blender_serves_the_command(done: Done) -> None:
    character = ecorche.read_character(done.folder / "мышцы 1.glb")
    rig = ecorche.read_rig(done.folder / "мышцы 1.ecorche")
    assert ecorche.check_rig(rig, character) == []
    assert done.apart("read back", done.skin(ecorche.compile_body(done.man, rig=done.rig))) < CLOSE


def test_scales_places_and_names_do_not_matter(done: Done) -> None:
    """Bones a hundred times as large in an armature of a hundredth, elsewhere, turned, in other alphabets."""
    assert done.told["renamed group"] == "кость 0"
    assert done.told["muscles of odd names"] == done.told["muscles"]
    assert done.apart("scaled", done.skin(ecorche.compile_body(done.man, rig=done.rig))) < CLOSE
    assert done.told["fitted again"] == done.told["muscles"]


@pytest.mark.parametrize(
    ("step", "message"),
    [
        ("no armature", "no armature is active. Select one"),
        ("no mesh", "no mesh follows the armature 'Armature'. Parent one to it with weights"),
        ("no muscles yet", "the armature 'Armature' has no muscles yet. Give it some"),
        ("no folder named", "an anatomy is a folder of meshes. Name the folder"),
        ("no such folder", "/nowhere: there is no such folder"),
        ("uneven scale", "the armature 'Скелет 1' has an uneven scale, 0.01 × 0.01 × 0.012. Apply it"),
        ("mirror before", "the modifier 'Зеркало' of '身体 (body)' makes other vertices before the armature"),
        ("bare vertices", "1 of 13380 vertices of '身体 (body)' follow no bone. Give them weights"),
        ("nothing deforms", "no bone of the armature 'Скелет 1' deforms. Switch Deform on"),
        ("edit mode", "the armature 'Скелет 1' is in edit mode. Leave it first"),
        ("no such group", "'Body' has no vertex group 'nowhere'. Paint one"),
        ("no such region", "there is no region and no joint 'tail'. Known: 'trunk'"),
        ("preserved volume", "the armature preserves the volume of 'Body', which shape keys cannot follow"),
        ("no frames", "frames 11 to 1 are none"),
        ("no such file", "none.ecorche: there is no such file"),
    ],
)
def test_what_cannot_be_is_a_message(done: Done, step: str, message: str) -> None:
    assert message in done.told[step]
    assert "Traceback" not in done.told[step]


def test_the_panel_shows_what_there_is(done: Done) -> None:
    assert done.told["panel without muscles"] == ["Give Muscles", "Read Rig…"]
    assert {"Live Preview", "Coupling: muscles", f"{done.told['muscles']} muscles"} <= set(done.told["panel"])
    lines = [line for line in done.told["panel of a message"] if line.startswith("word")]
    assert [len(line.split()) for line in lines] == [8, 4]  # 40 letters, as there is no window here


def test_no_second_usd_is_loaded(done: Done) -> None:
    assert done.told["second USD"] == []
    assert done.told["ours"] == str(ROOT / "src" / "ecorche" / "__init__.py")


def test_blender_5_shows_the_same(
    done: Done, archive: Path, data: Path, tmp_path: Path, figure: Figure
) -> None:
    python = python_of(".venv-bpy5", "ECORCHE_BPY5", "5.0")
    run_in_blender(python, tmp_path, "extension.py", archive, data / MAN, tmp_path, "smoke")
    told = json.loads((tmp_path / "told.json").read_text(encoding="utf-8"))
    assert told["blender"][0] == 5
    assert told["modifiers"] == done.told["modifiers"]
    with np.load(tmp_path / "points.npz") as points:
        worst = float(np.abs(points["template"] - done.points["template"]).max())
    figure("the extension's preview in Blender 5.0 against 4.5", worst * 1e3, 0.1, "mm")
    assert worst < CLOSE
