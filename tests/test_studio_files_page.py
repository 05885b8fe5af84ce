"""Files in the studio's page, in a real browser: saved, dropped, lost, recovered, rebound."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from characters import tube
from ecorche.body.take import Take
from ecorche.document.files import read_rig
from ecorche.io.formats import write_take
from ecorche.studio.recovery import kept
from studio_folders import Scene, tube_scene
from studio_pages import Server, served, visited

MARKUP = "<img src=x onerror=alert(1)>"


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return tube_scene(tmp_path)


def between(name: str) -> dict[str, object]:
    return {"name": name, "origin": {"place": [0.05, 0.2, 0]}, "insertion": {"place": [0.05, 0.8, 0]}}


def muscles(path: Path) -> list[str]:
    return list(read_rig(path).spec.muscles.named)


def test_files_as_a_person_meets_them(scene: Scene, tmp_path: Path) -> None:
    given = {
        "add": between(MARKUP),
        "again": between("second"),
        "broken": ["broken.glb", "no character"],
        "out": str(tmp_path / "files"),
    }
    with served(scene.root / "tube.ecorche") as server:
        seen = visited("files", server, tmp_path, given)
    assert seen["others"] == "1 other page"
    assert (seen["images"], seen["alerts"]) == (0, [])
    assert (seen["before"], seen["answered"], seen["after"], seen["still"]) == (1, 1, 2, 2)
    assert seen["refusal"]["where"] == "broken.glb"
    assert any("broken.glb" in listed for listed in seen["listed"])
    assert seen["address"] == "?file=copy.ecorche"
    assert muscles(scene.root / "tube.ecorche") == [MARKUP, "second"]
    assert (scene.root / "copy.ecorche").read_text().replace("copy.ecorche", "tube.ecorche") == (
        scene.root / "tube.ecorche"
    ).read_text()
    assert {name for name in scene.names() if name.startswith(".")} == set()


def test_a_killed_server_is_back_and_the_work_with_it(scene: Scene, tmp_path: Path) -> None:
    path, ready = scene.root / "tube.ecorche", tmp_path / "ready"
    server = Server(path)
    port = str(urlsplit(server.address).port)
    given = {
        "add": between("flexor"),
        "lost": between("lost"),
        "ready": str(ready),
        "out": str(tmp_path / "killed"),
    }
    with ThreadPoolExecutor(1) as pool:
        visit = pool.submit(visited, "killed", server, tmp_path, given)
        while not ready.exists() and not visit.done():
            time.sleep(0.05)
        server.kill()
        time.sleep(1.0)  # people do not see a server that is back at once
        with served(path, "--port", port):
            seen = visit.result()
    assert "started anew" in seen["told"]  # what came while it was away is told as lost, not done in silence
    assert "was not saved" in seen["notice"]
    assert seen["before"] == []
    assert seen["recovered"] == ["flexor"]
    assert seen["dirty"]
    assert muscles(path) == ["flexor"]
    assert kept(path) == []


def test_a_rig_whose_character_moved_and_a_character_without_rig(scene: Scene, tmp_path: Path) -> None:
    write_take(scene.root / "tube.glb", Take(tube(rings=5, around=6, radius=0.15)))
    write_take(scene.root / "bare.glb", Take(tube(rings=5, around=6, radius=0.2)))
    with served(scene.root / "tube.ecorche") as server:
        seen = visited("moved", server, tmp_path, {"out": str(tmp_path / "moved")}, ready=False)
    assert "by up to 50 mm" in seen["problem"]
    assert seen["refused"]
    assert read_rig(scene.root / "tube.ecorche").bind.meshes[0].points[:, 0].max() > 0.14
