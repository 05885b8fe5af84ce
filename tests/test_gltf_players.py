"""What others make of our glTF: the Khronos validator, three.js in a browser, Blender."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from conftest import ROOT, Figure, skip_or_fail
from ecorche.body.take import Take
from ecorche.io.formats import WriteOptions, read_character, write_take
from gltf_takes import CHARACTERS, FRAMES, RATE, many_influences, real_take, squares, twisted, two_roots

WEB = ROOT / "tests" / "web"
TEN = np.linspace(0, FRAMES - 1, 10).astype(int)
CLOSE = 1e-4
"""A tenth of a millimetre."""

PLAYED = (
    ("human/male_average_cmu_mb.glb", "linear"),
    ("human/male_dressed_mixamo.glb", "linear"),
    ("human/male_dressed_mixamo.glb", "dual_quaternion"),
    ("mesh2motion/horse-animations.glb", "linear"),
    ("mesh2motion/human-male.glb", "dual_quaternion"),
)


@pytest.fixture(scope="module")
def node() -> str:
    found = shutil.which("node")
    if found is None or not (WEB / "node_modules").is_dir():
        skip_or_fail("no Node.js or no tests/web/node_modules: run `npm ci` in tests/web")
    return str(found)


@pytest.fixture(scope="module")
def takes(data: Path, tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Path, Take]]:
    """Takes written to glTF, linear and not."""
    folder = tmp_path_factory.mktemp("takes")
    made = []
    for name, skinning in PLAYED:
        take = real_take(data, name, skinning)
        path = folder / f"{Path(name).stem}_{skinning}.glb"
        write_take(path, take)
        made.append((path, take))
    return made


def points_of(take: Take) -> list[npt.NDArray[np.float32]]:
    """Ours, for each mesh, in ten frames (10, vertices, 3)."""
    assert take.frames is not None
    frames = [take.frames[int(i)] for i in TEN]
    return [np.stack([f.points[m] for f in frames]) for m in range(len(take.character.meshes))]


def reports(node: str, files: list[Path]) -> dict[str, Any]:
    done = subprocess.run(
        [node, "validate.mjs", *map(str, files)], cwd=WEB, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_the_khronos_validator_finds_nothing_wrong(
    node: str, data: Path, takes: list[tuple[Path, Take]], tmp_path: Path
) -> None:
    files = [path for path, _ in takes]
    for name in CHARACTERS:
        for suffix in (".glb", ".gltf"):
            files.append(tmp_path / f"{Path(name).stem}{suffix}")
            write_take(files[-1], Take(read_character(data / name)))
    odd = (Take(squares()), Take(many_influences()), Take(two_roots()), twisted())
    for number, take in enumerate(odd):
        files.append(tmp_path / f"odd_{number}.glb")
        write_take(files[-1], take)
    files.append(tmp_path / "tangents.glb")
    write_take(files[-1], Take(read_character(data / CHARACTERS[2])), WriteOptions(tangents=True))
    for file, report in reports(node, files).items():
        assert report["errors"] == 0, (file, report["messages"])
        assert report["warnings"] == 0, (file, report["messages"])


def test_the_validator_would_say_so(node: str, tmp_path: Path) -> None:
    broken = tmp_path / "broken.gltf"
    broken.write_text('{"asset": {"version": "2.0"}, "scene": 4}')
    assert reports(node, [broken])[str(broken)]["errors"] > 0


def test_three_js_in_a_browser_shows_the_same(
    node: str, takes: list[tuple[Path, Take]], tmp_path: Path, figure: Figure
) -> None:
    browser = (
        os.environ.get("ECORCHE_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    )
    if browser is None:
        skip_or_fail("no Chromium: install it or set ECORCHE_CHROMIUM")
    jobs = []
    for path, take in takes:
        assert take.motion is not None
        times = [float(np.float32(take.motion.times[i])) for i in TEN]
        jobs.append({"file": str(path), "times": times, "out": str(tmp_path / f"{path.stem}.f32")})
    request = tmp_path / "request.json"
    request.write_text(json.dumps({"browser": browser, "jobs": jobs}))
    done = subprocess.run(
        [node, "play.mjs", str(request)], cwd=WEB, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    worst = 0.0
    for (_, take), job, counts in zip(takes, jobs, json.loads(done.stdout), strict=True):
        assert counts == [m.mesh.vertex_count for m in take.character.meshes]
        theirs = np.fromfile(str(job["out"]), "<f4").reshape(10, -1, 3)
        ours = np.concatenate(points_of(take), axis=1)
        np.testing.assert_allclose(theirs, ours, atol=CLOSE, rtol=0)
        worst = max(worst, float(np.abs(theirs - ours).max()))
    figure("glTF in three.js in Chromium, five takes, ten frames each", worst * 1e3, 0.1, "mm")


def test_blender_shows_the_same(takes: list[tuple[Path, Take]], tmp_path: Path, figure: Figure) -> None:
    python = Path(os.environ.get("ECORCHE_BPY", ROOT / ".venv-bpy" / "bin" / "python"))
    if not python.exists():
        skip_or_fail("no Blender: make .venv-bpy with bpy 4.5, or set ECORCHE_BPY to its python")
    script = ROOT / "tests" / "blender" / "read_gltf.py"
    worst = 0.0
    for path, take in takes:
        out = tmp_path / f"{path.stem}.npz"
        done = subprocess.run(
            [str(python), str(script), str(path), str(RATE), str(out), *map(str, TEN)],
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, done.stderr
        with np.load(out) as theirs:
            assert set(theirs) == {m.name for m in take.character.meshes}
            for mesh, ours in zip(take.character.meshes, points_of(take), strict=True):
                # Blender takes the vertices each primitive uses, primitive after primitive
                triangles = mesh.mesh.triangles()
                order = np.concatenate([np.unique(triangles[s.faces]) for s in mesh.mesh.subsets])
                np.testing.assert_allclose(theirs[mesh.name], ours[:, order], atol=CLOSE, rtol=0)
                worst = max(worst, float(np.abs(theirs[mesh.name] - ours[:, order]).max()))
    figure("glTF in Blender 4.5, five takes, ten frames each", worst * 1e3, 0.1, "mm")
