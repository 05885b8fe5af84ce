"""Drivers: a table gives the muscle joints of any pose, the same in every language."""

from __future__ import annotations

import json
import shutil
import subprocess
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from conftest import Figure, skip_or_fail
from ecorche.base import transforms
from ecorche.body.drivers.measure import driver_error, half_and_half
from ecorche.body.drivers.package import EVALUATORS, TABLE, write_package
from ecorche.body.drivers.table import moved_by, read_table, write_table
from ecorche.body.drivers.terms import products, terms
from ecorche.body.sample_poses import sample_poses
from ecorche.errors import ReadError
from jointed_people import MAN, captured, driven, jointed
from rigged_people import rigged

CLIPS = ("cmu/02_01.bvh", "cmu/02_03.bvh", "cmu/13_13.bvh", "cmu/13_39.bvh")


def test_at_bind_and_wherever_the_whole_body_is_turned_drivers_give_nothing(data: Path) -> None:
    table, own = driven(data / MAN), jointed(data / MAN).body.character.skeleton
    local = table.muscle_local(own, own.bind_local)
    np.testing.assert_allclose(local, jointed(data / MAN).character.skeleton.bind_local[31:], atol=1e-15)
    root = own.bind_local.copy()
    root[0] = root[0] @ transforms.compose([1.0, 2.0, 3.0], [0.6, 0.0, 0.0, 0.8])
    np.testing.assert_allclose(table.muscle_local(own, root), local, atol=1e-12)


def test_the_other_side_of_a_quaternion_is_the_same_turn(data: Path) -> None:
    table, own = driven(data / MAN), jointed(data / MAN).body.character.skeleton
    turns = table.turns(own, sample_poses(jointed(data / MAN).body.character, None, 3, seed=2).local)
    assert np.array_equal(table.outputs(turns), table.outputs(-turns))


def test_what_is_far_beyond_any_pose_stays_within_what_was_seen(data: Path) -> None:
    table = driven(data / MAN)
    turns = np.tile([0.7, -0.7, 0.1, 0.05], (len(table.joints), 1))
    given = table.outputs(turns)
    for driver, values in zip(table.drivers, given, strict=True):
        assert (values >= driver.lowest).all()
        assert (values <= driver.highest).all()
    assert (transforms.decompose(moved_by(given))[2] > 0.2).all()


@pytest.mark.parametrize("clip", CLIPS)
def test_on_captured_motions_drivers_are_near_the_muscles(data: Path, clip: str, figure: Figure) -> None:
    """None of these poses was learnt from."""
    made, motion = jointed(data / MAN), captured(data / MAN, data / clip)
    error = driver_error(made, driven(data / MAN), motion.local[::4])
    assert error.rms < 0.6 * error.displaced[0], error
    assert error.of_drivers[0] < 0.4 * error.displaced[0], error
    figure(f"drivers against the muscles, {clip}, rms", error.rms * 1e3, 0.6, "mm")
    figure(f"drivers against the muscles, {clip}, largest", error.largest * 1e3, 6.0, "mm")


def test_halfway_between_two_clips_drivers_are_near_the_muscles(data: Path, figure: Figure) -> None:
    made = jointed(data / MAN)
    for one, other in ((0, 3), (1, 2)):
        clips = [captured(data / MAN, data / CLIPS[n]) for n in (one, other)]
        error = driver_error(made, driven(data / MAN), half_and_half(clips[0], clips[1], 8))
        assert error.rms < 0.6 * error.displaced[0], error
        name = " and ".join(Path(CLIPS[n]).stem for n in (one, other))
        figure(f"drivers against the muscles, halfway between {name}, rms", error.rms * 1e3, 0.6, "mm")
        figure(f"drivers, halfway between {name}, largest", error.largest * 1e3, 6.0, "mm")


def test_a_table_is_written_and_read_alike(data: Path, tmp_path: Path) -> None:
    table, own = driven(data / MAN), jointed(data / MAN).body.character.skeleton
    write_table(tmp_path / "a.json", table)
    back = read_table(tmp_path / "a.json")
    write_table(tmp_path / "b.json", table)
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()
    local = captured(data / MAN, data / CLIPS[3]).local[3]
    np.testing.assert_allclose(back.muscle_local(own, local), table.muscle_local(own, local), atol=1e-6)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"format": "ecorche drivers", "version": 2}',
        '{"format": "ecorche drivers", "version": 1}',
    ],
)
def test_what_is_no_table_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "drivers.json").write_text(text)
    with pytest.raises(ReadError, match="drivers"):
        read_table(tmp_path / "drivers.json")


def test_terms_are_those_of_the_page() -> None:
    assert len(terms(1)) == 3 + 6 + 10
    assert len(terms(3)) == 3 * 19 + 3 * 9
    x = np.array([2.0, 3.0, 5.0, 7.0, 11.0, 13.0])
    found = dict(zip(terms(2), products(x, terms(2)), strict=True))
    assert found[0, 0, 1] == 12.0
    assert found[2, 3] == 35.0
    assert (3, 4, 5) in found
    assert (0, 3, 4) not in found


def test_javascript_gives_the_same_without_anything_else(data: Path, tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None:
        skip_or_fail("no Node.js")
    made = jointed(data / MAN)
    told = write_package(tmp_path / "drivers", made, driven(data / MAN), rigged(data / MAN))
    before = (tmp_path / "drivers" / TABLE).read_bytes()
    assert write_package(tmp_path / "drivers", made, driven(data / MAN), rigged(data / MAN)) == told
    assert (tmp_path / "drivers" / TABLE).read_bytes() == before
    assert sorted(p.name for p in (tmp_path / "drivers").iterdir()) == sorted((TABLE, *EVALUATORS))
    assert "mm" in told[0]
    own, motion = made.body.character.skeleton, captured(data / MAN, data / CLIPS[1])
    turns = transforms.decompose(motion.local)[1]
    (tmp_path / "poses.json").write_text(
        json.dumps([dict(zip(own.names, pose.tolist(), strict=True)) for pose in turns[::6]])
    )
    (tmp_path / "run.mjs").write_text(
        'import { readFileSync } from "node:fs";\n'
        'import { MuscleDrivers } from "./drivers/drivers.mjs";\n'
        'const drivers = new MuscleDrivers(JSON.parse(readFileSync("drivers/drivers.json", "utf8")));\n'
        'const poses = JSON.parse(readFileSync("poses.json", "utf8"));\n'
        "console.log(JSON.stringify(poses.map((pose) => drivers.evaluate((name) => pose[name]))));\n"
    )
    done = subprocess.run([str(node), "run.mjs"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    table = read_table(tmp_path / "drivers" / TABLE)
    place = {driver.name: number for number, driver in enumerate(table.drivers)}
    for local, theirs in zip(motion.local[::6], json.loads(done.stdout), strict=True):
        ours = table.muscle_local(own, local)
        assert len(theirs) == len(place)
        for joint in theirs:
            said = transforms.compose(joint["translation"], joint["rotation"], joint["scale"])
            np.testing.assert_allclose(said, ours[place[joint["name"]]], atol=1e-12)


def test_javascript_moves_the_bone_where_a_mesh_is_called_alike(tmp_path: Path) -> None:
    node = shutil.which("node")
    if node is None:
        skip_or_fail("no Node.js")
    (tmp_path / "drivers.mjs").write_bytes(files("ecorche.body.drivers").joinpath("drivers.mjs").read_bytes())
    (tmp_path / "run.mjs").write_text(
        """
import { MuscleDrivers } from "./drivers.mjs";
const still = { translation: [1, 2, 3], rotation: [0, 0, 0, 1], scale: [1, 1, 1] };
const rows = Array(8).fill([0, 0, 0]), zero = Array(8).fill(0);
const muscle = { name: "arm", bind: still, driven_by: [0], coefficients: rows, lowest: zero,
  highest: zero };
const joint = { name: "root", bind_rotation: [0, 0, 0, 1] };
const table = { format: "ecorche drivers", version: 1, joints: [joint], terms: { 1: [[0], [1], [2]] } };
const part = () => ({ seen: [], fromArray(values) { this.seen = values; }, toArray: () => [0, 0, 0, 1] });
const thing = (name, isBone) => ({ name, isBone, position: part(), quaternion: part(), scale: part() });
for (const order of [[0, 1], [1, 0]]) {
  const named = [thing("arm", true), thing("arm", undefined)];
  const all = [thing("root", true), ...order.map((place) => named[place])];
  const root = { traverse: (visit) => all.forEach(visit) };
  new MuscleDrivers({ ...table, muscle_joints: [muscle] }).apply(root);
  console.log(JSON.stringify(named.map((one) => one.position.seen)));
}
"""
    )
    done = subprocess.run([str(node), "run.mjs"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["[[1,2,3],[]]"] * 2


def test_the_evaluators_import_nothing_that_is_not_theirs() -> None:
    module = files("ecorche.body.drivers").joinpath("drivers.mjs").read_text(encoding="utf-8")
    assert not [line for line in module.splitlines() if line.startswith("import")]
    script = files("ecorche.body.drivers").joinpath("blender_drivers.py").read_text(encoding="utf-8")
    imported = {line.split()[1] for line in script.splitlines() if line.startswith(("import ", "from "))}
    assert imported <= {"__future__", "json", "math", "sys", "pathlib", "typing", "bpy", "mathutils"}
