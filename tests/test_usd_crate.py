"""Damaged tables and lists in binary USD files are found before OpenUSD trusts them."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

from ecorche.errors import ReadError
from ecorche.io.usd import read_character
from ecorche.io.usd.crate import require_sound
from usd_scenes import RIG, mesh, scene


def written(path: Path, values: np.ndarray) -> Path:
    """A file with one array of numbers, at rest and over time."""
    from pxr import Sdf, Usd, Vt

    stage = Usd.Stage.CreateNew(str(path))
    prim = stage.DefinePrim("/a")
    prim.CreateAttribute("still", Sdf.ValueTypeNames.FloatArray).Set(Vt.FloatArray.FromNumpy(values))
    moving = prim.CreateAttribute("moving", Sdf.ValueTypeNames.DoubleArray)
    for code in range(3):
        moving.Set(Vt.DoubleArray.FromNumpy(np.roll(values, code).astype(np.float64)), code)
    stage.Save()
    return path


@pytest.mark.parametrize(("count", "distinct"), [(20, 3), (1000, 200), (200_000, 900), (2_000_000, 1)])
def test_sound_files_pass(tmp_path: Path, count: int, distinct: int) -> None:
    rng = np.random.default_rng(0)
    values = rng.random(distinct).astype(np.float32)[rng.integers(0, distinct, count)]
    require_sound(written(tmp_path / "a.usdc", values))


@pytest.mark.parametrize("name", ["still", "moving"])
def test_an_index_outside_its_table_is_refused(tmp_path: Path, name: str) -> None:
    """Every byte after the table is damaged in turn: some make an index that is too large."""
    table = np.array([0.123, 0.456, 0.789], np.float32)
    values = table[np.random.default_rng(1).integers(0, 3, 40)]
    path = written(tmp_path / "a.usdc", values)
    sound = path.read_bytes()
    number = table[0] if name == "still" else np.float64(table[0])
    start = sound.find(number.tobytes())
    assert start > 0

    def damaged(at: int) -> str:
        path.write_bytes(sound[:at] + b"\x6f" + sound[at + 1 :])
        try:
            require_sound(path)
        except ReadError as error:
            return str(error)
        return ""

    messages = [m for at in range(3 * number.nbytes, 3 * number.nbytes + 30) if (m := damaged(start + at))]
    assert len(messages) > 3
    assert all("points outside its own table" in message for message in messages)


def test_a_child_that_stands_twice_is_refused(tmp_path: Path) -> None:
    """OpenUSD 26.11 ends the process on such a file, most of the times it opens it."""
    from pxr import Usd

    path = tmp_path / "a.usdc"
    stage = Usd.Stage.CreateNew(str(path))
    for name in "abcdefgh":
        stage.DefinePrim(f"/{name}")
    stage.Save()
    require_sound(path)
    sound = path.read_bytes()
    listed = sound.find(struct.pack("<Q", 8))  # how many children there are, then who they are
    first = sound[listed + 8 : listed + 12]
    path.write_bytes(sound[: listed + 8] + 8 * first + sound[listed + 40 :])
    with pytest.raises(ReadError, match=r"a list of names in which one stands twice.*export it again"):
        read_character(path)


def test_text_and_rubbish_are_not_its_business(tmp_path: Path) -> None:
    require_sound(scene(tmp_path, RIG, mesh()))
    for size in (8, 20, 100):
        rubbish = tmp_path / "rubbish.usdc"
        rubbish.write_bytes(b"PXR-USDC" + bytes(range(256))[:size])
        require_sound(rubbish)
        with pytest.raises(ReadError):
            read_character(rubbish)
