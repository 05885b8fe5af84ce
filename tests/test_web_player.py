"""A character's page in a real browser: the same skin as on the processor, blends, and what it says."""

from __future__ import annotations

import base64
import json
import os
import shutil
import struct
import subprocess
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from conftest import ROOT, Command, Figure, skip_or_fail
from ecorche.base import transforms
from ecorche.body.compile import compile_body
from ecorche.body.evaluator import Evaluator
from ecorche.body.sample_poses import sample_poses
from ecorche.body.vertex_program import VertexProgram, vertex_program
from ecorche.errors import EcorcheError, MissingPackageError
from ecorche.io.formats import read_character
from ecorche.io.gltf.geometry import geometry_of
from ecorche.io.playback import joint_keys
from ecorche.skeleton.kinematics import difference_from_bind
from ecorche.skeleton.motion import Motion
from ecorche.web import page as web_page
from ecorche.web.carried import VERSION, Clip, write_figure
from ecorche.web.page import FIGURE, LIBRARY, PAGE, README, write_page
from extracted_people import extracted
from rigged_people import person, rigged

Floats = npt.NDArray[np.float64]
Points = npt.NDArray[np.float32]

WEB = ROOT / "tests" / "web"
PEOPLE = (
    "female_average_cmu_mb",
    "male_average_cmu_mb",
    "male_dressed_mixamo",
    "male_muscular_cmu_mb",
    "male_muscular_mixamo",
    "male_slim_cmu_mb",
)
HORSE = "mesh2motion/horse-animations.glb"
POSES = 6
CLOSE = 1e-5
"""Asked for of positions [m]."""
TURNED = 0.5
"""Asked for of normals [degrees], on all but one in a thousand."""


@pytest.fixture(scope="module")
def browser() -> str:
    found = os.environ.get("ECORCHE_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        skip_or_fail("no Chromium: install it or set ECORCHE_CHROMIUM")
    if shutil.which("node") is None or not (WEB / "node_modules").is_dir():
        skip_or_fail("no Node.js or no tests/web/node_modules: run `npm ci` in tests/web")
    return str(found)


def visit(browser: str, jobs: Sequence[dict[str, Any]], folder: Path, *, webgpu: bool = True) -> list[str]:
    """Open pages one after another; what each says, nothing where it plays."""
    request = folder / "request.json"
    request.write_text(json.dumps({"browser": browser, "webgpu": webgpu, "jobs": list(jobs)}))
    done = subprocess.run(
        ["node", "player.mjs", str(request)], cwd=WEB, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    said: list[str] = json.loads(done.stdout)
    return said


@cache
def program_of(path: Path, found: bool = False) -> VertexProgram:
    character, rig = extracted(path) if found else (person(path), rigged(path))
    return vertex_program(compile_body(character, rig=rig))


def drawn_clip(path: Path, program: VertexProgram) -> Clip:
    """Poses throughout the range of the joints as a clip, a second each, muscles active at random."""
    poses = sample_poses(person(path), rigged(path), POSES)
    return as_clip("drawn", program, poses.local)


def as_clip(name: str, program: VertexProgram, local: Floats) -> Clip:
    motion = Motion(name, program.body.character.skeleton, np.arange(float(len(local))), local)
    return Clip(motion, np.random.default_rng(8).random((len(local), program.muscle_count)))


def on_processor(program: VertexProgram, difference: Floats, active: Floats) -> tuple[Points, Points]:
    """Positions and normals of each instance, as the file repeats vertices."""
    points = np.empty((len(difference), len(program.points), 3), np.float32)
    normals = np.empty((len(difference), len(program.places.vertices), 3), np.float32)
    Evaluator(program).apply(difference, active, points=points, normals=normals)
    sources = [geometry_of(mesh.mesh).source for mesh in program.body.character.meshes]
    of_points = np.concatenate([s + b for s, b in zip(sources, program.borders, strict=False)])
    of_normals = np.concatenate([s + b for s, b in zip(sources, program.place_borders, strict=False)])
    return points[:, of_points], normals[:, of_normals]


def in_browser(file: Path, program: VertexProgram, instances: int) -> tuple[Points, Points]:
    """What a page has drawn, (instances, written vertices, 3) each."""
    counts = [len(geometry_of(mesh.mesh).source) for mesh in program.body.character.meshes]
    borders = np.cumsum([0, *np.repeat(counts, 2)])[1:-1]
    numbers = np.fromfile(file, "<f4").reshape(instances, -1, 3)
    parts = np.split(numbers, borders, axis=1)
    return np.concatenate(parts[::2], axis=1), np.concatenate(parts[1::2], axis=1)


def angles(a: Points, b: Points) -> Floats:
    """Between unit vectors [degrees]."""
    apart = np.linalg.norm(a.astype(np.float64) - b, axis=-1)
    return np.asarray(np.degrees(2.0 * np.arcsin(np.clip(0.5 * apart, 0.0, 1.0))))


def frames_of(count: int) -> list[dict[str, Any]]:
    return [{"clips": [[0, float(frame), 1.0]]} for frame in range(count)]


def test_a_browser_shows_the_same_skin(browser: str, data: Path, tmp_path: Path, figure: Figure) -> None:
    """All people with the whole template, and a horse with the muscles found in its skin."""
    jobs, expected = [], []
    for name in (*(f"human/{one}.glb" for one in PEOPLE), HORSE):
        path = data / name
        program = program_of(path, found=name == HORSE)
        if name == HORSE:
            local = np.concatenate([motion.local[10:12] for motion in person(path).motions[:POSES]])
            clip = as_clip("horse", program, local[:POSES])
        else:
            clip = drawn_clip(path, program)
        folder = tmp_path / path.stem
        write_page(folder, program, [clip])
        out = folder / "skin.f32"
        jobs.append({"page": str(folder / PAGE), "instances": frames_of(POSES), "out": str(out)})
        expected.append((name, program, clip, out))
    assert visit(browser, jobs, tmp_path) == [""] * len(jobs)
    worst, share = 0.0, 0.0
    for name, program, clip, out in expected:
        assert clip.activation is not None
        moved = difference_from_bind(program.body.character.skeleton, clip.motion.local)
        points, normals = on_processor(program, moved, clip.activation)
        plain, _ = on_processor(program, moved, np.zeros_like(clip.activation))
        theirs, their_normals = in_browser(out, program, POSES)
        apart, off = np.abs(theirs - points).max(), (angles(their_normals, normals) > TURNED).mean()
        assert apart < CLOSE, name
        assert off < 1e-3, name
        assert np.abs(points - plain).max() > 1e-3  # muscles that do nothing would agree too
        worst, share = max(worst, float(apart)), max(share, float(off))
    figure("the browser beside the processor, six people and a horse", worst * 1e3, CLOSE * 1e3, "mm")
    figure("normals there off by more than half a degree", share * 100.0, 0.1, "%")


def test_clips_are_blended_with_their_muscles(browser: str, data: Path, tmp_path: Path) -> None:
    path = data / "human" / "male_muscular_cmu_mb.glb"
    program, skeleton = program_of(path), person(path).skeleton
    whole = drawn_clip(path, program)
    assert whole.activation is not None
    clips = [Clip(whole.motion.part(3 * n, 3 * n + 2), whole.activation[3 * n : 3 * n + 3]) for n in range(2)]
    # the second clip is cut from the middle of a motion, and plays from its own first frame
    assert clips[1].motion.times[0] == 3.0
    write_page(tmp_path / "out", program, clips)
    share, out = 0.3, tmp_path / "skin.f32"
    both = [[0, 1.0, 1.0 - share], [1, 1.0, share]]
    half = {"clips": [[0, 1.0, 1.0]], "tension": 0.5}
    job = {"page": str(tmp_path / "out" / PAGE), "instances": [{"clips": both}, half], "out": str(out)}
    assert visit(browser, [job], tmp_path) == [""]
    keys = [joint_keys(clip.motion) for clip in clips]
    t, q, s = ([getattr(k, part)[1] for k in keys] for part in ("translation", "rotation_xyzw", "scale"))
    turned = slerp(q[0].astype(np.float64), q[1].astype(np.float64), share)
    local = transforms.compose((1 - share) * t[0] + share * t[1], turned, (1 - share) * s[0] + share * s[1])
    of = [clip.activation[1] for clip in clips if clip.activation is not None]
    active = np.stack([(1 - share) * of[0] + share * of[1], 1.0 - 0.5 * (1.0 - of[0])])
    moved = difference_from_bind(skeleton, np.stack([local, clips[0].motion.local[1]]))
    points, normals = on_processor(program, moved, active)
    theirs, their_normals = in_browser(out, program, 2)
    assert np.abs(theirs - points).max() < CLOSE
    assert (angles(their_normals, normals) > TURNED).mean() < 1e-3


def test_clips_are_blended_in_step_and_faded_without_a_jump(browser: str, data: Path, tmp_path: Path) -> None:
    """Two clips of other lengths and a pose: what is played, how far it is and how much it counts."""
    path = data / "human" / "male_slim_cmu_mb.glb"
    program = program_of(path)
    whole = drawn_clip(path, program)
    clips = [Clip(whole.motion.part(first, last)) for first, last in ((0, 2), (1, 4), (3, 3))]
    write_page(tmp_path / "out", program, clips)
    blends = [(0.0, 0.7), (0.25, 1.5), (0.5, 0.1), (1.0, 0.6)]
    acts: list[dict[str, Any]] = [{"blend": [0, 1, share], "seconds": s} for share, s in blends]
    # a pose has no pace: the clip beside it keeps its own, and is alone when it is played
    acts += [{"blend": [0, 2, 0.5], "seconds": 0.5}, {"play": [0, 0.0], "seconds": 0.5}]
    # a fade begins where the one before it has come to
    acts += [{"play": [1, 0.5], "seconds": 0.2}, {"play": [2, 0.5], "seconds": 0.001}]
    acts += [{"play": [1, 0.5], "seconds": 0.001}, {"seconds": 0.6}]
    # and a blend goes on from the clip that is seen most
    acts += [{"play": [0, 0.4], "seconds": 0.3}, {"blend": [0, 2, 0.1], "seconds": 0.0}]
    job = {"page": str(tmp_path / "out" / PAGE), "acts": acts, "out": str(tmp_path / "acts.json")}
    assert visit(browser, [job], tmp_path) == [""]
    told = json.loads((tmp_path / "acts.json").read_text())
    one, other = (float(np.ptp(clip.motion.times)) for clip in clips[:2])
    phase = 0.0
    for (share, seconds), (first, second, _) in zip(blends, told, strict=False):
        phase = (phase + seconds / ((1.0 - share) * one + share * other)) % 1.0
        assert (first["weight"], second["weight"]) == (1.0 - share, share)
        for clip in (first, second):
            assert clip["phase"] == (pytest.approx(phase, abs=1e-6) if clip["weight"] else None)
    posed, alone, fading, third, back, done, late, blended = told[len(blends) :]
    assert [clip["weight"] for clip in posed] == [0.5, 0.0, 0.5]
    assert posed[0]["phase"] == pytest.approx((phase + 0.5 / one) % 1.0, abs=1e-6)
    assert [clip["weight"] for clip in alone] == [1.0, 0.0, 0.0]
    assert alone[0]["phase"] == pytest.approx(0.5 / one, abs=1e-6)
    weights = [[clip["weight"] for clip in clips] for clips in (fading, third, back)]
    assert weights[0] == pytest.approx([0.6, 0.4, 0.0], abs=1e-6)
    assert weights[1] == pytest.approx([0.6, 0.4, 0.0], abs=0.01)
    assert weights[2] == pytest.approx([0.6, 0.4, 0.0], abs=0.01)
    assert back[1]["phase"] == pytest.approx(0.202 / other, abs=1e-6)
    assert [clip["weight"] for clip in done] == [0.0, 1.0, 0.0]
    assert [clip["weight"] for clip in late] == pytest.approx([0.75, 0.25, 0.0])
    assert blended[0]["phase"] == pytest.approx(0.3 / one, abs=1e-6)


def slerp(a: Floats, b: Floats, share: float) -> Floats:
    """Between unit quaternions the short way, row by row."""
    b = np.where(np.sum(a * b, axis=-1, keepdims=True) < 0.0, -b, b)
    angle = np.arccos(np.clip(np.sum(a * b, axis=-1, keepdims=True), -1.0, 1.0))
    sine = np.maximum(np.sin(angle), 1e-12)
    turned = np.where(
        angle < 1e-6,
        (1.0 - share) * a + share * b,
        (np.sin((1.0 - share) * angle) * a + np.sin(share * angle) * b) / sine,
    )
    return np.asarray(turned / np.linalg.norm(turned, axis=-1, keepdims=True))


def test_at_bind_the_skin_is_the_bind_mesh(browser: str, data: Path, tmp_path: Path) -> None:
    path = data / "human" / "male_dressed_mixamo.glb"
    program = program_of(path)
    still = as_clip("still", program, person(path).skeleton.bind_local[None])._replace(activation=None)
    write_page(tmp_path / "out", program, [still])
    out = tmp_path / "skin.f32"
    job = {"page": str(tmp_path / "out" / PAGE), "instances": frames_of(1), "out": str(out)}
    assert visit(browser, [job], tmp_path) == [""]
    theirs, _ = in_browser(out, program, 1)
    source = [mesh.mesh.points[geometry_of(mesh.mesh).source] for mesh in person(path).meshes]
    assert np.abs(theirs[0] - np.concatenate(source)).max() < 1e-6


def test_the_page_plays_from_a_file(browser: str, data: Path, ecorche: Command, tmp_path: Path) -> None:
    """Written by the command; one figure and a crowd are seen, move, and tense."""
    path = data / "human" / "male_muscular_cmu_mb.glb"
    ecorche("rig", path, "-o", tmp_path / "man.ecorche")
    out = tmp_path / "out"
    walk, run = data / "cmu" / "02_01.bvh", data / "cmu" / "02_03.bvh"
    command = ("export", tmp_path / "man.ecorche", "--web", out, "-m", walk, "-m", run, "--rate", 30)
    assert "160 muscles, 2 clips, 25 figures in a crowd" in ecorche(*command)
    assert {file.name for file in out.iterdir()} == {PAGE, FIGURE, README, *LIBRARY}
    # three.js is within, and so is its licence
    assert (out / "LICENSES.txt").read_text() in (out / PAGE).read_text()
    shots = [
        {"count": 1, "seconds": 0.5, "out": str(tmp_path / "one.png")},
        {"count": 1, "seconds": 0.3, "out": str(tmp_path / "later.png")},
        {"count": 1, "seconds": 0.0, "set": {"tension": "1"}, "out": str(tmp_path / "tense.png")},
        {"count": 25, "seconds": 0.1, "out": str(tmp_path / "crowd.png")},
    ]
    assert visit(browser, [{"page": str(out / PAGE), "shots": shots}], tmp_path) == [""]
    one, later, tense, crowd = (picture(Path(str(shot["out"]))) for shot in shots)
    # a figure stands out from what is behind it
    assert 0.03 < figure_share(one) < 0.3
    assert 0.03 < figure_share(crowd) < 0.6
    assert (np.abs(one - later).max(axis=2) > 30).mean() > 0.01
    changed = (np.abs(tense - later).max(axis=2) > 8).mean()
    assert 0.001 < changed < 0.2


def picture(path: Path) -> npt.NDArray[np.int16]:
    from PIL import Image

    with Image.open(path) as image:
        return np.asarray(image.convert("RGB"), np.int16)


def figure_share(pixels: npt.NDArray[np.int16]) -> float:
    """How much of a picture is of the clay's colour, which nothing else is: red far above blue."""
    return float((pixels[..., 0] - pixels[..., 2] > 25).mean())


def small_page(data: Path, folder: Path) -> Path:
    path = data / "human" / "male_slim_cmu_mb.glb"
    program = program_of(path)
    write_page(folder, program, [drawn_clip(path, program)])
    return folder / PAGE


def test_without_webgpu_the_page_says_so(browser: str, data: Path, tmp_path: Path) -> None:
    page = small_page(data, tmp_path / "out")
    (said,) = visit(browser, [{"page": str(page)}], tmp_path, webgpu=False)
    assert said.startswith("no-webgpu: This browser")
    assert "WebGPU" in said


def test_what_cannot_be_played_is_said(browser: str, data: Path, tmp_path: Path) -> None:
    """Muscles of a newer version, none at all, a broken file, shaders that are none, a lost device, a mob."""
    page = small_page(data, tmp_path / "out")
    text, glb = page.read_text(), (page.parent / FIGURE).read_bytes()
    newer = altered(glb, lambda extras: extras["ecorche"].update(version=VERSION + 1))
    payload = altered(glb, lambda extras: extras["ecorche"]["payload"].update(version=2))
    bare = altered(glb, lambda extras: extras.pop("ecorche"))
    nonsense = altered(glb, lambda extras: extras["ecorche"]["program"]["modules"][1].update(code="fn"))
    jobs: list[dict[str, Any]] = []
    for number, data_in in enumerate((newer, payload, bare, glb[:1000], nonsense)):
        file = tmp_path / f"{number}.html"
        file.write_text(text.replace(base64.b64encode(glb).decode(), base64.b64encode(data_in).decode()))
        jobs.append({"page": str(file)})
    jobs[-1]["ends"] = True
    jobs.append({"page": str(page), "ends": True, "lose": True})
    jobs.append({"page": str(page), "ends": True, "show": 10_000})
    said = visit(browser, jobs, tmp_path)
    assert said[0].startswith("newer-version: The muscles in this glTF are of version 2 (payload 1)")
    assert "Take the player of the Ecorche that wrote the file" in said[0]
    assert said[1].startswith("newer-version: The muscles in this glTF are of version 1 (payload 2)")
    assert said[2].startswith("not-a-figure: This glTF carries no muscles")
    assert said[3].startswith("not-a-figure: This is no glTF file")
    assert said[4].startswith("refused: The GPU refused the muscles")
    assert said[5].startswith("device-lost: The graphics device was lost")
    assert said[6].startswith("too-large: The points of 10000 figures take")


def altered(glb: bytes, change: Callable[[dict[str, Any]], object]) -> bytes:
    """A .glb whose extras were changed."""
    (length,) = struct.unpack_from("<I", glb, 12)
    content = json.loads(glb[20 : 20 + length])
    change(content["extras"])
    head = json.dumps(content).encode()
    head += b" " * (-len(head) % 4)
    rest = glb[20 + length :]
    total = 20 + len(head) + len(rest)
    return struct.pack("<4sII", b"glTF", 2, total) + struct.pack("<I4s", len(head), b"JSON") + head + rest


def test_the_file_is_valid_and_an_ordinary_character(data: Path, tmp_path: Path) -> None:
    """The validator finds nothing wrong, and whoever knows nothing of muscles reads it as any other."""
    if shutil.which("node") is None or not (WEB / "node_modules").is_dir():
        skip_or_fail("no Node.js or no tests/web/node_modules: run `npm ci` in tests/web")
    files = []
    for name, found in (("human/male_dressed_mixamo.glb", False), (HORSE, True)):
        program = program_of(data / name, found)
        files.append(tmp_path / Path(name).name)
        write_figure(
            files[-1], program, [as_clip("one", program, person(data / name).skeleton.rest_local[None])]
        )
        assert read_character(files[-1]).skeleton.joint_count == program.joint_count
    done = subprocess.run(
        ["node", "validate.mjs", *map(str, files)], cwd=WEB, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    for report in json.loads(done.stdout).values():
        assert (report["errors"], report["warnings"]) == (0, 0), report["messages"]


def test_what_cannot_be_exported_is_refused(
    data: Path, ecorche: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = data / "human" / "male_slim_cmu_mb.glb"
    out = tmp_path / "out"
    assert "character without muscles" in ecorche("export", path, "--web", out, code=2)
    assert "Give -o FILE or --web FOLDER" in ecorche("export", path, code=2)
    assert "Leave it out, or --web" in ecorche("export", path, "--web", out, "-o", "x.glb", code=2)
    several = ("export", path, "-o", tmp_path / "x.glb", "-m", "a.bvh", "-m", "b.bvh")
    assert "Give one, or several with --web" in ecorche(*several, code=2)
    assert not out.exists()
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "README.md").write_text("of somebody")
    said = ecorche("export", path, "--web", theirs, code=2)
    assert "holds a file README.md that is no page's of ours, and would be written over" in said
    assert (theirs / "README.md").read_text() == "of somebody"
    (tmp_path / "mailed").mkdir()  # the page alone, without the rest of its folder
    shutil.copy(small_page(data, tmp_path / "ours"), tmp_path / "mailed")
    assert write_page(tmp_path / "mailed", program_of(path), [drawn_clip(path, program_of(path))]) == ()
    program = program_of(path)
    with pytest.raises(EcorcheError, match="no clip to play"):
        write_page(out, program, [])
    with pytest.raises(EcorcheError, match="crowd of 0"):
        write_page(out, program, [drawn_clip(path, program)], crowd=0)
    with pytest.raises(EcorcheError, match=r"activations of shape \(1, 3\)"):
        write_page(out, program, [drawn_clip(path, program)._replace(activation=np.zeros((1, 3)))])
    monkeypatch.setattr(web_page, "files", lambda _: tmp_path)
    with pytest.raises(MissingPackageError, match="tools/build-web"):
        write_page(out, program, [drawn_clip(path, program)])
