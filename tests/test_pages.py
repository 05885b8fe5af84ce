"""Every command that a page shows is run, with what it is said to say.

Pages are found, not listed: whatever shows a command is followed. A page is followed in one folder, from top
to bottom; sections that begin anew have a folder of their own. `STAGES` says what lies in it beforehand:
short motions, so that commands as they are shown take little time.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.request import urlopen

import numpy as np
import numpy.typing as npt
import pytest
from typer.testing import CliRunner

from conftest import ROOT, skip_or_fail
from ecorche.base.recordings import MarkerRecording
from ecorche.biomech.model_tracks import model_tracks
from ecorche.biomech.opensim_model import OpensimModel
from ecorche.body.payload import payload_type
from ecorche.cli.main import app
from ecorche.document.files import read_rig
from ecorche.io.opensim_storage import write_table
from ecorche.io.trc import read_trc, write_trc
from osim_models import opensim_package
from studio_pages import served
from test_report import EMG

BLOCK = re.compile(
    r"^```(?P<language>\w+)(?: +(?P<beside>[^\n]+))?\n(?P<text>.*?)^```$|(?P<indented>(?:^    [^\n]*\n)+)",
    flags=re.MULTILINE | re.DOTALL,
)
"""Blocks of a page, fenced or indented: their language, what is said beside it, and their text."""
SHOWN = re.compile(r"^(?: +|\$ )(?:\$ )?ecorche [a-z]", flags=re.MULTILINE)
"""A line that a reader would take for a command, however it is written."""
EDITED = "biceps brachii, long head, right"
"""The muscle that the page on muscles edits."""
WALK = {
    "subject_walk_scaled.osim": "subject.osim",
    "markers_walk.trc": "walk.trc",
    "grf_walk.xml": "forces.xml",
    "grf_walk.mot": "grf_walk.mot",
    "electromyography.sto": "emg.sto",
}
"""Files of a measured walk under the names that pages give them."""
MAN = "human/male_muscular_cmu_mb.glb"

Stage = Callable[[Path, Path], None]
"""Puts into a folder what commands find there, from the folder of real data."""


def _pages() -> dict[str, str]:
    """All pages, by their path from the root."""
    paths = (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md")))
    return {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in paths}


def _sections(page: str) -> dict[str, str]:
    """A page by its titles; what stands before the first is called after nothing."""
    first, *others = re.split(r"^## ", page, flags=re.MULTILINE)
    return {"": first} | {part.partition("\n")[0]: part.partition("\n")[2] for part in others}


def _parts() -> dict[str, str]:
    """What is followed in a folder of its own, by page or by page and section: all of every page, once."""
    parts: dict[str, str] = {}
    for page, text in _pages().items():
        for title, section in _sections(text).items():
            own = f"{page}#{title}"
            name = own if own in STAGES else page
            parts[name] = parts.get(name, "") + section + "\n"
    return {name: text for name, text in parts.items() if SHOWN.search(text)}


def _program(text: str, folder: Path) -> str:
    """What a Python program says that succeeds."""
    done = subprocess.run([sys.executable, "-c", text], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, f"{text}\n{done.stderr}"
    return done.stdout


def command(line: str) -> str:
    """What an ``ecorche`` command says that succeeds: without starting Python, in a quarter of the time."""
    program, *arguments = shlex.split(line)
    assert program == "ecorche"
    if arguments[0] == "studio":
        return _studio(arguments[1:])
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, f"{line}\n{done.output}{done.exception}"
    return done.output


def _studio(arguments: list[str]) -> str:
    """What the studio says while it serves its page, which it does until it is interrupted."""
    with served(*arguments) as server:
        with urlopen(server.address, timeout=30) as page:
            assert b"Ecorche studio" in page.read()
        return "".join(server.said) + server.stop()


def _as_shown(line: str) -> str:
    """A line of output without what differs from build to build: numbers, quoted names, width of columns."""
    line = re.sub(r"'[^']*'", "'…'", line)
    return " ".join(re.sub(r"[-+]?[\d.,]*\d", "0", line).split())


def _commands(text: str) -> list[str]:
    """The commands of a part, as they will be run."""
    return [line for block in BLOCK.finditer(text) for line, _ in _of_block(block)]


def _of_block(block: re.Match[str]) -> list[tuple[str, list[str]]]:
    """Commands of a block, each with the lines that are shown below it."""
    found: list[tuple[str, list[str]]] = []
    if block["indented"]:
        lines = re.findall(r"^    (ecorche [a-z].*)$", block["indented"], flags=re.MULTILINE)
        return [(re.sub(r"\s+#.*", "", line), []) for line in lines]
    if block["language"] == "console":
        for line in block["text"].splitlines():
            if line.startswith("$ "):
                found.append((re.sub(r"\s+#.*", "", line.removeprefix("$ ")), []))
            elif line:
                found[-1][1].append(line)
    return found


def follow(text: str, folder: Path) -> str:
    """Do in a folder what a part of a page says, block after block; what its programs and commands say.

    Commands must succeed and say the lines shown below them. A block with a file's name beside its language
    is put into that file, one called ``edit`` is put into the muscle `EDITED` of ``man.ecorche``.
    """
    everything = ""
    for block in BLOCK.finditer(text):
        for line, shown in _of_block(block):
            output = command(line)
            everything += output
            said = {_as_shown(told) for told in output.splitlines()}
            for told in shown:
                assert _as_shown(told) in said, f"{line} does not say: {told}\n{output}"
        beside = block["beside"]
        if block["language"] == "python":
            everything += _program(block["text"], folder)
        elif beside == "edit":
            rig = json.loads((folder / "man.ecorche").read_text())
            rig["muscles"]["named"][EDITED] |= json.loads(block["text"])
            (folder / "man.ecorche").write_text(json.dumps(rig))
        elif beside and block["language"] != "console":
            (folder / beside).write_text(block["text"])
    return everything


def _files(**copies: str) -> Stage:
    """Files of the real data, by the stem of their copy."""

    def put(folder: Path, data: Path) -> None:
        for stem, source in copies.items():
            shutil.copy(data / source, folder / f"{stem}{Path(source).suffix}")

    return put


def _walk(frames: int) -> Stage:
    """The first frames of a captured walk: what pages do with it takes long enough."""

    def put(folder: Path, data: Path) -> None:
        head, rows = re.split(r"Frame Time:.*\n", (data / "cmu" / "02_01.bvh").read_text())
        head = re.sub(r"Frames:\s*\d+", f"Frames: {frames}", head)
        kept = "\n".join(rows.splitlines()[:frames])
        (folder / "walk.bvh").write_text(f"{head}Frame Time: 0.0083333\n{kept}\n")

    return put


def _rigged(folder: Path, data: Path) -> None:
    """The man and his rig."""
    for name, content in _man_and_rig(data).items():
        (folder / name).write_bytes(content)


@cache
def _man_and_rig(data: Path) -> dict[str, bytes]:
    """The man, and what ``ecorche rig man.glb`` writes beside him."""
    with TemporaryDirectory() as folder:
        man = Path(folder, "man.glb")
        shutil.copy(data / MAN, man)
        command(f"ecorche rig {man}")
        return {path.name: path.read_bytes() for path in Path(folder).iterdir()}


def _all(*stages: Stage) -> Stage:
    def put(folder: Path, data: Path) -> None:
        for stage in stages:
            stage(folder, data)

    return put


def _nothing(folder: Path, data: Path) -> None:
    """For pages that make all they need."""


def _pictures(folder: Path, data: Path) -> None:
    (folder / "names.json").write_text('{"LeftUpLeg": "l_hip"}')
    command("ecorche bake man.ecorche -m walk.bvh -o walk.usdc")
    (folder / "examples" / "flex.pose").write_text(
        "rate 30\nat 0\n    r_elbow 0 0 0\nat 0.1\n    r_elbow -90 0 0\n"
    )


def _nod(folder: Path, data: Path) -> None:
    """The motion that its page shows."""
    page = (ROOT / "docs" / "keyframes.md").read_text()
    shown = re.search(r"^    # a nod.*?(?=^\S)", page, flags=re.MULTILINE | re.DOTALL)
    assert shown is not None
    (folder / "nod.pose").write_text(re.sub(r"^    ", "", shown[0], flags=re.MULTILINE))


def _horse(folder: Path, data: Path) -> None:
    """The pairs of joints that the page on muscles shows."""
    page = (ROOT / "docs" / "muscles.md").read_text()
    (shown,) = (block["text"] for block in BLOCK.finditer(page) if block["beside"] == "horse.json")
    (folder / "horse.json").write_text(shown)
    (folder / "names.json").write_text('{"LeftUpLeg": "l_hip"}')


def _dog(folder: Path, data: Path) -> None:
    """The folder of meshes, and the model, which wants its own beside it."""
    shutil.copytree(data / "dog", folder, dirs_exist_ok=True)
    shutil.copytree(data / "dog", folder / "dog")


def _measured(start: float, end: float) -> Stage:
    """A measured walk, its markers for a few frames, under the names that pages give the files."""

    def put(folder: Path, data: Path) -> None:
        with opensim_package(folder):
            for name, copy in WALK.items():
                shutil.copyfile(data / "walk" / name, folder / copy)
        write_trc(folder / "walk.trc", read_trc(folder / "walk.trc").between(start, end))
        (folder / "emg.csv").write_text(EMG)

    return put


def _standing(folder: Path, data: Path) -> None:
    """A model, and one frame of a walk, twice, for somebody who stands still."""
    shutil.copyfile(folder / "subject.osim", folder / "model.osim")
    walk = read_trc(folder / "walk.trc")
    still = np.repeat(walk.positions[:1], 2, axis=0)
    write_trc(folder / "standing.trc", MarkerRecording(walk.names, walk.times[:2], still))


def _full_body(folder: Path, data: Path) -> None:
    """The model of a full body, made as its page says."""
    page = (ROOT / "docs" / "musculoskeletal.md").read_text()
    said = re.search(r"`(from myo_sim[^`]+)`", page)
    assert said is not None
    _program(f"from pathlib import Path; {said[1]}", folder)


def _tensing(folder: Path, data: Path) -> None:
    with opensim_package(folder):
        shutil.copyfile(data / "arm26" / "arm26.osim", folder / "arm26.osim")
    subprocess.run([sys.executable, ROOT / "examples" / "co_contraction.py"], check=True, timeout=60)


def _swelling(folder: Path, data: Path) -> None:
    """An arm moved in a known way, with few markers and dense ones that swell; and sculpted skins."""
    with opensim_package(folder):
        for name in ("subject", "other"):
            shutil.copyfile(data / "arm26" / "arm26.osim", folder / f"{name}.osim")
        model = OpensimModel(folder / "subject.osim")
    times = np.arange(80) / 50.0
    moving = np.clip((times - 0.5) / 0.1, 0.0, 1.0)
    angles = np.stack([0.2 * moving * np.sin(3.0 * times), 0.8 + 0.5 * moving * np.sin(5.0 * times)], axis=1)
    pulls = {
        muscle.name: moving * 60.0 * (1.0 + np.sin((4.0 + k) * times))
        for k, muscle in enumerate(model.muscles)
    }
    few = np.array([model.marker_positions(q) for q in angles])
    write_trc(folder / "few.trc", MarkerRecording(tuple(m.name for m in model.markers), times, few))
    rng, places = np.random.default_rng(7), []
    for track in model_tracks(model, angles, pulls).tracks:
        along, around = rng.uniform(0.1, 0.9, 20), rng.uniform(-1.5, 1.5, 20)
        swell = 0.02 + 3e-5 * track.tension[:, None] * np.ones(20)
        places.append(track.path.places(along, around, swell))
    dense = np.concatenate(places, axis=1) + rng.normal(0.0, 2e-4, (len(times), 20 * len(places), 3))
    names = tuple(f"m{k}" for k in range(dense.shape[1]))
    for name in ("dense", "other"):
        write_trc(folder / f"{name}.trc", MarkerRecording(names, times, dense))
    columns = {c.name: angles[:, k] for k, c in enumerate(model.coordinates)}
    write_table(folder / "other.sto", "Coordinates", times, columns)
    write_table(folder / "pulls.sto", "Tendon forces", times, pulls)
    hand = {f"hand_{kind}{axis}": 0.0 * times for kind in "vpt" for axis in "xyz"}
    write_table(folder / "held.sto", "Loads", times, hand)
    loads = (data / "walk" / "grf_walk.xml").read_text()
    loads = re.sub(r'<ExternalForce name="Left_GRF">.*?</ExternalForce>', "", loads, flags=re.DOTALL)
    for old, new in {
        "calcn_r": "r_ulna_radius_hand", "ground_force_r_v": "hand_v", "ground_force_r_p": "hand_p",
        "ground_torque_r_": "hand_t", "grf_walk.mot": "held.sto",
    }.items():  # fmt: skip
        loads = loads.replace(old, new)
    (folder / "forces.xml").write_text(loads)
    shutil.copy(data / MAN, folder / "man.glb")
    command("ecorche rig man.glb -o strong.ecorche --bulk 1.1")
    for frame, name in {0: "low", 20: "half", 40: "high"}.items():
        command(f"ecorche bake strong.ecorche -m examples/curl.pose --frames {frame}-{frame} -o {name}.npz")
        with np.load(folder / f"{name}.npz") as made:
            rows = [f"v {x:.7f} {y:.7f} {z:.7f}" for x, y, z in made["points"][0]]
            rows += ["f " + " ".join(str(k + 1) for k in face) for face in made["faces"]]
        (folder / f"{name}.obj").write_text("\n".join(rows) + "\n")


def _moves(folder: Path, data: Path) -> None:
    (folder / "moves").mkdir()
    for clip, name in {"02_01": "walk", "02_03": "run", "13_13": "jump"}.items():
        shutil.copy(data / "cmu" / f"{clip}.bvh", folder / "moves" / f"{name}.bvh")


def _blender(folder: Path, data: Path) -> None:
    """Nothing but a Blender to go through."""
    if not Path(os.environ["ECORCHE_BLENDER_PYTHON"]).exists():
        skip_or_fail("no Blender: set ECORCHE_BPY to a Python that has bpy")


STAGES: dict[str, Stage] = {
    "README.md": _walk(40),
    "docs/action_lines.md#": _all(_files(man=MAN), _dog),
    "docs/action_lines.md": _nothing,
    "docs/action_lines.md#Activation curves": _all(_rigged, _walk(12)),
    "docs/crowds.md": _moves,
    "docs/drivers.md": _nothing,
    "docs/extraction.md": _files(muscular=MAN, horse="mesh2motion/horse-animations.glb"),
    "docs/farm.md": _nothing,
    "docs/fat.md": _files(man=MAN, jump="cmu/13_13.bvh"),
    "docs/guide.md": _all(_rigged, _files(creature=MAN), _walk(13), _pictures),
    "docs/index.md": _all(_files(man=MAN), _walk(12)),
    "docs/keyframes.md": _all(_files(man=MAN), _nod),
    "docs/muscles.md#": _all(_files(man=MAN), _walk(12)),
    "docs/muscles.md": _files(
        dressed="human/male_dressed_mixamo.glb", horse="mesh2motion/horse-animations.glb"
    ),
    "docs/identification.md": _swelling,
    "docs/musculoskeletal.md": _all(_files(man=MAN), _measured(0.64, 0.78)),
    "docs/musculoskeletal.md#An arm that tenses against itself": _all(_files(man=MAN), _tensing),
    "docs/musculoskeletal.md#Full-body MuJoCo models": _all(_measured(0.64, 0.78), _full_body),
    "docs/musculoskeletal.md#Models in Python": _all(_measured(0.5, 0.9), _standing),
    "docs/pipeline.md": _blender,
    "docs/realtime.md": _nothing,
    "docs/rig-file.md#": _all(_files(man=MAN), _walk(12)),
    "docs/rig-file.md": _all(
        _files(man=MAN, woman="human/female_average_cmu_mb.glb", horse="mesh2motion/horse-animations.glb"),
        _horse,
    ),
    "docs/skin.md": _nothing,
    "docs/springs.md": _files(man=MAN, jump="cmu/13_13.bvh"),
    "docs/studio.md": _nothing,
    "docs/tutorial.md": _nothing,
    "docs/web.md": _nothing,
}
"""What lies in the folder of a page, or of a section that begins anew."""


@pytest.mark.parametrize("part", _parts())
def test_a_page_runs_and_says_what_it_shows(
    part: str, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pyvista")
    assert part in STAGES, f"say in STAGES what lies in the folder of {part}"
    python = os.environ.get("ECORCHE_BPY", str(ROOT / ".venv-bpy" / "bin" / "python"))
    monkeypatch.setenv("ECORCHE_BLENDER_PYTHON", python)
    monkeypatch.chdir(tmp_path)
    if part != "docs/tutorial.md":  # which promises to need nothing
        shutil.copytree(ROOT / "examples", tmp_path / "examples")
    STAGES[part](tmp_path, data)
    text = _parts()[part]
    said = follow(text, tmp_path)
    for line in _commands(text):  # what is to be written is there, and a picture shows something
        arguments = shlex.split(line)
        if "-o" in arguments and not {"--part", "--split", "--dry-run"} & {*arguments}:
            made = tmp_path / arguments[arguments.index("-o") + 1]
            least = 10_000 if made.suffix in {".png", ".mp4"} else 200
            assert made.is_dir() or made.stat().st_size > least, line
    if part in CHECKS:
        CHECKS[part](tmp_path, said)


def test_no_command_escapes() -> None:
    """Whatever looks like a command is one that is run; and no folder is made ready for nothing."""
    parts = _parts()
    for name, text in parts.items():
        assert len(SHOWN.findall(text)) == len(_commands(text)), name
    assert sum(len(SHOWN.findall(text)) for text in _pages().values()) == sum(
        len(_commands(text)) for text in parts.values()
    )
    assert {*STAGES} == {*parts}


def _check_web(folder: Path, said: str) -> None:
    page = (ROOT / "docs" / "web.md").read_text()
    named = re.findall(r"`([\w-]+\.(?:html|glb|js|d\.ts|txt))`", page)
    assert {path.name for path in (folder / "page").iterdir()} == {*named, "README.md"}
    # the library offers what the page calls
    declared = (folder / "page" / "ecorche-player.d.ts").read_text()
    for name in [
        "loadFigure",
        "requireWebGPU",
        "Crowd",
        "onLost",
        "actors",
        "play",
        "blend",
        "tension",
        "update",
    ]:
        assert re.search(rf"\b{name}\b", declared), name


def _check_muscles(folder: Path, said: str) -> None:
    def points(name: str) -> npt.NDArray[np.float32]:
        with np.load(folder / f"{name}.npz") as file:
            return np.asarray(file["points"])

    ways = ["joints", "motion", "anticipating", "half", "rest", "plain", "tense", "edited"]
    for one, other in combinations(ways, 2):  # each way of activation, and the edit, is seen in the skin
        assert 1e-4 < np.abs(points(one) - points(other)).max() < 0.05, f"{one}, {other}"


def _check_springs(folder: Path, said: str) -> None:
    page = (ROOT / "docs" / "springs.md").read_text()
    (shown,) = (block["text"] for block in BLOCK.finditer(page) if block["language"] == "json")
    rig = json.loads((folder / "man.ecorche").read_text()) | json.loads(shown)
    (folder / "man.ecorche").write_text(json.dumps(rig))
    assert "problem" not in command("ecorche check man.ecorche")


def _check_real_time(folder: Path, said: str) -> None:
    sizes = [payload_type(31, muscles).itemsize for muscles in (56, 0)]
    told = f"{sizes[0]:,} for 31 joints and 56 muscles, of which the muscles take {sizes[0] - sizes[1]}"
    assert told in (ROOT / "docs" / "realtime.md").read_text()


def _check_skin(folder: Path, said: str) -> None:
    assert '"everywhere": "fascia"' in (folder / "man.ecorche").read_text()


def _check_farm(folder: Path, said: str) -> None:
    made = sorted(path.name for path in (folder / "dailies").glob("[!.]*"))
    assert made == ["curl, calm.usdc", "curl, fascia.usdc", "curl, tense – 緊張.npz"]
    assert not (folder / "curl.usdc.parts").exists()
    by_csv, by_toml = (command(f"ecorche shots shots.{kind} -o here --dry-run") for kind in ("csv", "toml"))
    assert by_csv == by_toml


def _check_models(folder: Path, said: str) -> None:
    assert "mm rms, worst " in said
    assert re.search(r"knee: up to \d\d N m", said)
    assert "Left at the root: " in said
    assert "exchanged" not in said


def _check_tensing(folder: Path, said: str) -> None:
    told = (folder / "tensed.html").read_text(encoding="utf-8")
    assert "perimeter since the first frame [mm]" in told
    assert "activation [0 to 1]" in told


def _check_identification(folder: Path, said: str) -> None:
    ways = re.findall(r"the mean (falls|rises) by", said)
    assert len(ways) == 3
    # the third says that an arm is larger, which it is not
    assert ways[:2] == ["falls", "falls"]
    assert said.count("more harm than good") == ways.count("rises")


def _check_extraction(folder: Path, said: str) -> None:
    names = set(read_rig(folder / "muscular.ecorche").spec.muscles.lofted)
    assert {"calf, left", "my biceps"} <= names
    assert not {"upper arm front, left", "brachialis, left"} & names
    assert len(read_rig(folder / "few.ecorche").spec.muscles.lofted) == 10


def _check_rig_file(folder: Path, said: str) -> None:
    assert "unchanged" in said


CHECKS: dict[str, Callable[[Path, str], None]] = {
    "docs/rig-file.md#": _check_rig_file,
    "docs/extraction.md": _check_extraction,
    "docs/identification.md": _check_identification,
    "docs/musculoskeletal.md#Models in Python": _check_models,
    "docs/musculoskeletal.md#An arm that tenses against itself": _check_tensing,
    "docs/web.md": _check_web,
    "docs/muscles.md": _check_muscles,
    "docs/springs.md": _check_springs,
    "docs/realtime.md": _check_real_time,
    "docs/skin.md": _check_skin,
    "docs/farm.md": _check_farm,
}
"""What is asked of a folder after its page was followed."""
