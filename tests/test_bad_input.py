"""Each kind of bad input: one readable message, exit code 2, no traceback, nothing left behind."""

from __future__ import annotations

import json
import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import skip_or_fail
from ecorche.cli import main as cli

Glb = tuple[dict[str, Any], bytearray]


def open_glb(path: Path) -> Glb:
    data = path.read_bytes()
    size = struct.unpack_from("<I", data, 12)[0]
    return json.loads(data[20 : 20 + size]), bytearray(data[20 + size + 8 :])


def save_glb(path: Path, glb: Glb) -> None:
    text = json.dumps(glb[0]).encode()
    text += b" " * (-len(text) % 4)
    chunks = struct.pack("<II", len(text), 0x4E4F534A) + text
    chunks += struct.pack("<II", len(glb[1]), 0x004E4942) + bytes(glb[1])
    path.write_bytes(struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks)


def run(
    *arguments: object, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> tuple[int, str]:
    """Run the command in this process; exit code and what it printed as error."""
    monkeypatch.setattr(sys, "argv", ["ecorche", *map(str, arguments)])
    with pytest.raises(SystemExit) as stop:
        cli.run()
    return int(stop.value.code or 0), capsys.readouterr().err


@pytest.fixture
def refused(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """The message of a command that must end with exit code 2 and without a traceback."""

    def attempt(*arguments: object) -> str:
        code, message = run(*arguments, capsys=capsys, monkeypatch=monkeypatch)
        assert code == 2
        assert "Traceback" not in message
        assert message.startswith("ecorche: ")
        return message

    return attempt


@pytest.fixture
def man(data: Path, tmp_path: Path) -> Path:
    """A copy of a real character that a test may damage."""
    return Path(shutil.copy(data / "human" / "male_average_cmu_mb.glb", tmp_path / "man.glb"))


def _accessor_start(glb: Glb, attribute: str) -> int:
    document = glb[0]
    accessor = document["accessors"][document["meshes"][0]["primitives"][0]["attributes"][attribute]]
    view = document["bufferViews"][accessor["bufferView"]]
    return int(view.get("byteOffset", 0) + accessor.get("byteOffset", 0))


def test_a_truncated_file(man: Path, refused: Callable[..., str]) -> None:
    man.write_bytes(man.read_bytes()[:400_000])
    message = refused("info", man)
    assert "man.glb" in message
    assert "truncated" in message or "cut short" in message


def test_a_file_that_is_not_gltf(man: Path, refused: Callable[..., str]) -> None:
    man.write_text("once upon a time")
    assert "not a glTF" in refused("info", man) or "not glTF" in refused("info", man)


def test_a_file_that_does_not_exist(tmp_path: Path, refused: Callable[..., str]) -> None:
    assert "there is no such file" in refused("info", tmp_path / "nobody.glb")


def test_an_unknown_suffix(tmp_path: Path, refused: Callable[..., str]) -> None:
    (tmp_path / "man.glbb").write_bytes(b"")
    assert "'.glb'" in refused("info", tmp_path / "man.glbb")


def test_an_index_out_of_range(man: Path, refused: Callable[..., str]) -> None:
    glb = open_glb(man)
    primitive = glb[0]["meshes"][0]["primitives"][0]
    view = glb[0]["bufferViews"][glb[0]["accessors"][primitive["indices"]]["bufferView"]]
    glb[1][view.get("byteOffset", 0) : view.get("byteOffset", 0) + 4] = b"\xff\xff\xff\x7f"
    save_glb(man, glb)
    message = refused("info", man)
    assert "Body" in message
    assert "only 0 to 13379 exist" in message or "13379" in message


def test_a_position_that_is_not_a_number(man: Path, refused: Callable[..., str]) -> None:
    glb = open_glb(man)
    at = _accessor_start(glb, "POSITION") + 12 * 77
    glb[1][at : at + 4] = struct.pack("<f", float("nan"))
    save_glb(man, glb)
    message = refused("info", man)
    assert "vertex 77 is not a finite number" in message


def test_a_vertex_without_weights(man: Path, refused: Callable[..., str]) -> None:
    glb = open_glb(man)
    at = _accessor_start(glb, "WEIGHTS_0") + 16 * 123
    glb[1][at : at + 16] = bytes(16)
    save_glb(man, glb)
    assert "vertex 123 has no weight at all" in refused("info", man)


def test_a_cycle_in_the_joint_tree(man: Path, refused: Callable[..., str]) -> None:
    glb = open_glb(man)
    names = [n["name"] for n in glb[0]["nodes"]]
    hand, arm = names.index("LeftHand"), names.index("LeftArm")
    glb[0]["nodes"][names.index("LeftShoulder")]["children"].remove(arm)
    glb[0]["nodes"][hand].setdefault("children", []).append(arm)
    save_glb(man, glb)
    message = refused("info", man)
    assert "LeftArm" in message or "LeftHand" in message
    assert "cycle" in message


def test_a_joint_of_zero_scale(man: Path, refused: Callable[..., str]) -> None:
    glb = open_glb(man)
    glb[0]["nodes"][3]["scale"] = [0.0, 0.0, 0.0]
    save_glb(man, glb)
    message = refused("info", man)
    assert "zero scale" in message
    assert glb[0]["nodes"][3]["name"] in message


def test_no_skin(man: Path, refused: Callable[..., str]) -> None:
    glb = open_glb(man)
    del glb[0]["skins"]
    for node in glb[0]["nodes"]:
        node.pop("skin", None)
    save_glb(man, glb)
    assert "skin" in refused("bake", man, "-o", man.with_suffix(".usdc"))


def test_a_motion_without_a_matching_joint(man: Path, tmp_path: Path, refused: Callable[..., str]) -> None:
    motion = tmp_path / "snake.bvh"
    motion.write_text(
        "HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 3 Zrotation Yrotation Xrotation\n"
        "JOINT b\n{\nOFFSET 0 0 1\nCHANNELS 3 Zrotation Yrotation Xrotation\n"
        "End Site\n{\nOFFSET 0 0 1\n}\n}\n}\n"
        "MOTION\nFrames: 1\nFrame Time: 0.04\n0 0 0 0 0 0\n"
    )
    message = refused("bake", man, "--motion", motion, "-o", tmp_path / "out.usdc")
    assert "match" in message
    assert "mapping" in message


def test_a_motion_without_frames(data: Path, man: Path, tmp_path: Path, refused: Callable[..., str]) -> None:
    text = (data / "cmu" / "02_03.bvh").read_text()
    motion = tmp_path / "still.bvh"
    motion.write_text(text[: text.index("MOTION")] + "MOTION\nFrames: 0\nFrame Time: 0.0083\n")
    assert "no frames" in refused("bake", man, "--motion", motion, "-o", tmp_path / "out.usdc")


def test_a_motion_with_a_missing_column(
    data: Path, man: Path, tmp_path: Path, refused: Callable[..., str]
) -> None:
    lines = (data / "cmu" / "02_03.bvh").read_text().rstrip().splitlines()
    lines[-3] = " ".join(lines[-3].split()[:-1])
    motion = tmp_path / "short.bvh"
    motion.write_text("\n".join(lines))
    message = refused("bake", man, "--motion", motion, "-o", tmp_path / "out.usdc")
    assert "95" in message
    assert "96" in message


def test_a_document_from_a_newer_version(man: Path, tmp_path: Path, refused: Callable[..., str]) -> None:
    rig = tmp_path / "man.ecorche"
    rig.write_text(json.dumps({"version": 99, "name": "man"}))
    message = refused("bake", rig, "-o", tmp_path / "out.usdc")
    assert "newer" in message
    assert "99" in message


def test_an_output_folder_that_does_not_exist(man: Path, tmp_path: Path, refused: Callable[..., str]) -> None:
    message = refused("bake", man, "-o", tmp_path / "nowhere" / "out.usdc")
    assert "nowhere" in message
    assert "does not exist" in message


def test_an_output_suffix_that_nobody_writes(man: Path, tmp_path: Path, refused: Callable[..., str]) -> None:
    assert ".usdc" in refused("bake", man, "-o", tmp_path / "out.max")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 100 kB."""
    folder = tmp_path / "small"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=100k", "tmpfs", folder], capture_output=True, check=False
    )
    if mounted.returncode != 0:
        skip_or_fail("a small file system needs the right to mount one")
    yield folder
    subprocess.run(["umount", "-l", folder], check=True)


def test_a_full_disk(data: Path, man: Path, small_disk: Path, refused: Callable[..., str]) -> None:
    target = small_disk / "out.usdc"
    message = refused("bake", man, "--motion", data / "cmu" / "02_03.bvh", "-o", target)
    assert "the disk is full" in message
    assert not target.exists()
    assert not list(small_disk.glob("*.partial*"))


@pytest.mark.parametrize("suffix", [".glb", ".usda", ".npz", ".pc2"])
def test_a_disk_that_fills_up_while_writing(
    man: Path, small_disk: Path, refused: Callable[..., str], suffix: str
) -> None:
    message = refused("convert", man, small_disk / f"out{suffix}")
    assert "the disk is full" in message
    assert not [p for p in small_disk.iterdir() if p.stat().st_size]


def test_a_folder_that_may_not_be_written_to() -> None:
    """Root may write anywhere, so root drops its rights first."""
    from ecorche.base.files import whole_file
    from ecorche.errors import WriteError

    locked = Path(tempfile.mkdtemp())
    locked.chmod(0o555)
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    try:
        with pytest.raises(WriteError, match="not allowed"), whole_file(locked / "out.usdc") as partial:
            partial.write_bytes(b"points")
    finally:
        if root:
            os.seteuid(0)
        locked.rmdir()


def test_control_c_leaves_nothing_half_written_and_the_bake_resumes(
    data: Path, man: Path, tmp_path: Path
) -> None:
    target = tmp_path / "walk.usdc"
    command: list[str | Path] = [sys.executable, "-m", "ecorche", "bake", man, "-o", target]
    command += ["-m", data / "cmu" / "13_13.bvh", "--rate", "2000"]
    # what a shell runs in the background ignores interrupts, and so would its children
    child = subprocess.Popen(
        command,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    state = tmp_path / ".walk.usdc.baking" / "state.json"
    deadline = time.monotonic() + 90
    while not state.exists() and time.monotonic() < deadline and child.poll() is None:
        time.sleep(0.01)
    child.send_signal(signal.SIGINT)
    _, message = child.communicate(timeout=60)
    assert child.returncode == 130
    assert "interrupted" in message
    assert "Traceback" not in message
    assert not target.exists()
    assert sorted(p.name for p in tmp_path.iterdir()) == [".walk.usdc.baking", "man.glb"]
    assert json.loads(state.read_text())["done"] > 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["render", "MAN", "-o", "x.jpg"], "'.jpg' is no picture or film. Use .png, .mp4 or .gif"),
        (["render", "MAN", "-o", "x.mp4", "--frame", "3"], "--frame: one frame makes one picture"),
        (["render", "MAN", "-o", "x.png", "--frame", "3", "--sheet", "4"], "one frame makes one picture"),
        (["render", "MAN", "-o", "x.gif", "--sheet", "4"], "--sheet: a contact sheet is a picture"),
        (["render", "MAN", "-o", "x.png", "--scale", "5"], "--scale: no layer shows it. Give --layers too"),
        (["render", "x.pc2", "-o", "x.png"], "x.pc2: holds points without joints"),
        (["render", "x.npz", "-o", "x.png"], "Bake to .usdc or .glb too"),
        (["render", "x.bvh", "-o", "x.png"], "x.bvh: is a motion, not a character. Put it on one"),
        (["info", "x.stl"], "x.stl: is a surface without joints"),
        (["convert", "x.ecorche", "x.glb"], "x.ecorche: is a rig, not a character"),
        (["convert", "MAN", "x.bvh"], "Use one of .glb"),
        (["rebind", "MAN", "MAN"], "a rig file's name ends in .ecorche"),
        (["rebind", "x.ecorche", "MAN", "--mesh", "Body"], "--mesh: 'Body' is no pair of meshes"),
        (["rig", "MAN", "-o", "x.ecorche"], "x.ecorche: is there already, and may hold edits"),
        (["bake", "MAN", "-m", "x.pose", "--clip", "run", "-o", "x.npz"], "there is no clip 'run'"),
    ],
)
def test_the_wrong_file_or_option(
    man: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    refused: Callable[..., str],
    arguments: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    for suffix in ("pc2", "npz", "bvh", "stl", "ecorche"):
        (tmp_path / f"x.{suffix}").touch()
    (tmp_path / "x.pose").write_text("at 0\n    skullbase 0 0 0\n")
    assert message in refused(*[str(man) if a == "MAN" else a for a in arguments])


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_a_terminal_gets_colour_unless_it_asks_for_none(tmp_path: Path) -> None:
    import pty

    for environment, coloured in (({}, True), ({"NO_COLOR": "1"}, False)):
        ours, theirs = pty.openpty()
        command = [sys.executable, "-m", "ecorche", "info", str(tmp_path / "none.glb")]
        base = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR")}
        done = subprocess.run(command, stderr=theirs, env={**base, "TERM": "xterm", **environment})
        os.close(theirs)
        message = os.read(ours, 4096).decode()
        os.close(ours)
        assert done.returncode == 2
        assert "there is no such file" in message
        assert ("\033" in message) == coloured


def test_output_that_cannot_be_printed(man: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "ecorche", "info", str(man)],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert "ecorche: No space left on device" in done.stderr


def test_nan_in_a_mapping_file(man: Path, tmp_path: Path, refused: Callable[..., str]) -> None:
    mapping = tmp_path / "names.json"
    mapping.write_text('{"Hips": 3}')
    assert "table of names" in refused("info", man, "--mapping", mapping)


def test_a_range_that_is_none(man: Path, tmp_path: Path, refused: Callable[..., str]) -> None:
    assert "10-50" in refused("bake", man, "-o", tmp_path / "x.usdc", "--frames", "ten")
    assert "0-0" in refused("bake", man, "-o", tmp_path / "x.usdc", "--frames", "5-9")


def test_weights_that_do_not_sum_to_one_are_said(
    man: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    glb = open_glb(man)
    at = _accessor_start(glb, "WEIGHTS_0") + 16 * 5
    weights = np.frombuffer(bytes(glb[1][at : at + 16]), "<f4") * np.float32(0.5)
    glb[1][at : at + 16] = weights.astype("<f4").tobytes()
    save_glb(man, glb)
    monkeypatch.setattr(sys, "argv", ["ecorche", "check", str(man)])
    with pytest.raises(SystemExit) as stop:
        cli.run()
    assert stop.value.code == 1
    assert "the weights of 1 vertices did not sum to one" in capsys.readouterr().out
