"""The studio's page in a real browser: what it shows, what is chosen, and its own device's skin."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from conftest import Figure
from ecorche.document.files import write_rig
from rigged_people import rigged
from studio_pages import served, visited

SEEN = Path(__file__).parent / "fixtures" / "studio-figure.png"
"""The built-in figure as the page showed it when somebody looked last and found it good."""
CLOSE = 1e-5
"""Asked for between the server's skin and that of the page's device [m]."""


@pytest.fixture(scope="module")
def man(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A rig of a real person in a folder of its own."""
    folder = tmp_path_factory.mktemp("studio")
    source = data / "human" / "male_muscular_cmu_mb.glb"
    shutil.copy(source, folder / "man.glb")
    rig = rigged(source)
    reference = rig.spec.character.model_copy(update={"path": "man.glb"})
    named = replace(rig, spec=rig.spec.model_copy(update={"character": reference}))
    write_rig(folder / "man.ecorche", named)
    return folder / "man.ecorche"


def test_what_the_page_shows(man: Path, tmp_path: Path) -> None:
    with served(man) as server:
        seen = visited("look", server, tmp_path, {"out": str(tmp_path / "look")})
    assert seen["chosen"]["kind"] == "muscle"
    assert seen["listed"] == seen["chosen"]["name"]
    assert seen["theme"] == "dark"
    skin, muscles = (
        np.asarray(Image.open(tmp_path / f"look-{n}.png").convert("RGB"), np.int16)
        for n in ("skin", "muscles")
    )
    view = np.s_[60:780, 240:920]
    # red flesh, which plain skin does not have
    red = [(part[view][..., 0] > part[view][..., 1] + 50).mean() for part in (skin, muscles)]
    assert red[0] < 0.001
    assert red[1] > 0.03


def test_the_page_plays_the_skin_itself(man: Path, tmp_path: Path, figure: Figure) -> None:
    """By WebGPU, from the payload: the same skin as the server's, and it moves."""
    active = {"biceps brachii, long head, left": 1.0, "rectus femoris, right": 0.8}
    with served(man) as server:
        told = visited("device", server, tmp_path, {"active": active}, webgpu=True)
    assert told["complete"]
    assert told["moved"] > 0.003
    assert told["apart"] < CLOSE
    figure("the studio's page by WebGPU, against the server's skin", told["apart"], CLOSE, "m")


def test_it_looks_as_it_did(tmp_path: Path) -> None:
    """A picture of the built-in figure, but for what a renderer's version may change."""
    out = tmp_path / "figure.png"
    with served() as server:
        visited("figure", server, tmp_path, {"out": str(out)})
    now, before = (Image.open(path).convert("RGB") for path in (out, SEEN))
    assert now.size == before.size
    # blurred, so that edges may lie half a pixel further
    small = (now.width // 4, now.height // 4)
    apart = np.abs(
        np.asarray(now.resize(small, Image.Resampling.BOX), np.float64)
        - np.asarray(before.resize(small, Image.Resampling.BOX), np.float64)
    ).max(axis=2)
    assert apart.mean() < 1.5
    assert np.quantile(apart, 0.995) < 30.0
