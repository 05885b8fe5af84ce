"""Painted maps of coupling and fat, from the command line and in the rig file, on a man's arms."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from benchmarks.muscle_people import motion_file, rigged

from conftest import Command
from ecorche.document.files import read_rig, write_rig
from ecorche.io.formats import read_character

Floats = npt.NDArray[np.float64]
NUMBERS = {"intensity": (1.0, 0.3), "stiffness": (0.1, 0.9), "thickness": (0.0, 0.03), "slide": (0.0, 1.0)}
"""What is said of the right side and of the left."""
TIMES = {"thickness": 0.05}
"""What 1 on a map means."""


@pytest.fixture(scope="module")
def man(data: Path) -> Path:
    return data / "human" / "male_muscular_cmu_mb.glb"


@pytest.fixture(scope="module")
def left(man: Path) -> Floats:
    """1 on the left half of his body, (vertices,)."""
    return (read_character(man).meshes[0].mesh.points[:, 0] > 0.0).astype(np.float64)


@pytest.fixture
def arms(man: Path, tmp_path: Path) -> Path:
    """A rig of the man with muscles of his upper arms alone, over which the skin lies."""
    _, rig = rigged(man)
    kept = {n: m for n, m in rig.spec.muscles.named.items() if "biceps brach" in n or "triceps brach" in n}
    assert len(kept) > 6
    gains = {"named": kept, "gains": {}}
    spec = rig.spec.model_copy(
        update={
            "muscles": rig.spec.muscles.model_copy(update=gains),
            "character": rig.spec.character.model_copy(update={"path": man.name}),
        }
    )
    shutil.copy(man, tmp_path)
    write_rig(tmp_path / "arms.ecorche", replace(rig, spec=spec))
    return tmp_path / "arms.ecorche"


def couplings(said: dict[str, object]) -> list[str]:
    texts = ["plain", "upper_arms=fascia", "forearms=height_field"]
    return [
        part for text in [*texts, *(f"{k}={v}" for k, v in said.items())] for part in ("--coupling", text)
    ]


def test_each_map_of_a_coupling_counts(
    data: Path, arms: Path, tmp_path: Path, left: Floats, ecorche: Command
) -> None:
    motion = ("-m", motion_file(data, "curl"), "--frames", "42-42")

    def baked(said: dict[str, object]) -> Floats:
        ecorche("bake", arms, "-o", tmp_path / "a.npz", *motion, *couplings(said))
        return np.asarray(np.load(tmp_path / "a.npz")["points"][0], np.float64)

    right_side, left_side = ({f: n[side] for f, n in NUMBERS.items()} for side in (0, 1))
    right, other = baked(dict(right_side)), baked(dict(left_side))
    maps: dict[str, object] = {}
    for field, (there, here) in NUMBERS.items():
        file = tmp_path / f"{field}.npy"
        np.save(file, (there + (here - there) * left) / TIMES.get(field, 1.0))
        maps[field] = file
    painted = baked(maps)
    # nothing of one arm reaches the other
    assert np.abs(painted - np.where(left[:, None] > 0.0, other, right)).max() < 1e-6
    # and each of the numbers counts
    for field, (_, here) in NUMBERS.items():
        changed = np.abs(baked({**right_side, field: here}) - right).max()
        assert changed > 2e-5, (field, changed)


def test_a_rig_records_maps_and_they_are_checked(
    arms: Path, tmp_path: Path, left: Floats, ecorche: Command
) -> None:
    np.save(tmp_path / "left.npy", left)
    told = ecorche("weights", arms, "--map", "belly", "--from", tmp_path / "left.npy")
    assert "the map 'belly' is there" in told
    assert "above 0 at 6,596 vertices" in ecorche("weights", arms, "--map", "belly")
    ecorche("weights", arms, "--map", "belly", "-o", tmp_path / "out.npy")
    np.testing.assert_array_equal(np.load(tmp_path / "out.npy"), left)
    ecorche("weights", arms, "--map", "belly", "-o", tmp_path / "out.glb")
    ecorche("weights", arms, "--map", "again", "--from", tmp_path / "out.glb", "--attribute", "belly")
    np.testing.assert_array_equal(read_rig(arms).maps["again"], left.astype(np.float32))
    text = json.loads(arms.read_text(encoding="utf-8"))
    text["fat"] = {"regions": {"flank": {"mask": "belly", "thickness": 0.03, "voxel": 0.05}}}
    text["coupling"] = {"slide": "again"}
    arms.write_text(json.dumps(text), encoding="utf-8")
    rig = read_rig(arms)
    assert rig.spec.fat.regions["flank"].mask == "belly"
    told = ecorche("weights", arms, "--map", "belly", "--found", code=2)
    assert "there is no map 'belly'" in told
    assert "belly" in read_rig(arms).maps
    del text["fat"]
    arms.write_text(json.dumps(text), encoding="utf-8")
    assert "is gone" in ecorche("weights", arms, "--map", "belly", "--found")
    assert set(read_rig(arms).maps) == {"again"}


def test_maps_that_are_none_are_refused(arms: Path, tmp_path: Path, left: Floats, ecorche: Command) -> None:
    files = {"short.npy": left[:100], "wide.npy": np.stack([left, left], axis=1), "nan.npy": left.copy()}
    files["nan.npy"][7] = np.nan
    files["large.npy"] = 2.0 * left
    for name, values in files.items():
        np.save(tmp_path / name, values)
    (tmp_path / "text.csv").write_text("vertex,weight\n3,much\n", encoding="utf-8")
    (tmp_path / "far.csv").write_text("vertex,weight\n99999,1\n", encoding="utf-8")
    (tmp_path / "broken.npy").write_bytes(b"no numbers")
    before = arms.read_bytes(), sorted(p.name for p in tmp_path.iterdir())
    cases = {
        "short.npy": "shape (100,) for 13380 vertices",
        "wide.npy": "shape (13380, 2)",
        "nan.npy": "vertex 7 is nan",
        "large.npy": "is 2",
        "text.csv": "line 2: 'much' is no number",
        "far.csv": "there is no vertex 99999",
        "broken.npy": "is no NumPy array",
    }
    for name, told in cases.items():
        for command in (
            ("bake", arms, "-o", tmp_path / "a.npz", "--coupling", f"slide={tmp_path / name}"),
            ("weights", arms, "--map", "belly", "--from", tmp_path / name),
        ):
            assert told in ecorche(*command, code=2)
    for text, told in {
        "slide=nowhere.npy": "is no number, no map of the rig and no file",
        "intensity=nan": "nan is not between 0 and 1",
        "stiffness=-0.1": "-0.1 is not between 0 and 1",
        "thickness=inf": "inf is not between 0 and 1",
        "seconds=3": "3 is not between 0 and 2",
        "seconds=map": "'map' is no number",
        "hand=plain": "no region and no joint 'hand'. Did you mean",
        "hands=fasca": "there is no coupling 'fasca'",
        "=plain": "no region and no joint ''",
        "slide=": "is no number",
        f"slide={tmp_path}": "is no number",
    }.items():
        message = ecorche("bake", arms, "-o", tmp_path / "a.npz", "--coupling", text, code=2)
        assert told in message
    assert "no map 'belly'" in ecorche("weights", arms, "--map", "belly", code=2)
    named = ecorche("weights", arms, "--map", "a/b", "--from", tmp_path / "nan.npy", code=2)
    assert "vertex 7" in named
    assert before == (arms.read_bytes(), sorted(p.name for p in tmp_path.iterdir()))


def test_maps_in_the_rig_file_that_were_spoiled_are_refused(
    arms: Path, tmp_path: Path, left: Floats, ecorche: Command
) -> None:
    np.save(tmp_path / "left.npy", left)
    ecorche("weights", arms, "--map", "left", "--from", tmp_path / "left.npy")
    rig = read_rig(arms)
    text = json.loads(arms.read_text(encoding="utf-8"))
    for section, told in (
        ({"coupling": {"slide": "lfet"}}, "there is no map 'lfet'"),
        ({"fat": {"regions": {"x": {"mask": "lfet"}}}}, "there is no map 'lfet'"),
        ({"fat": {"regions": {"x": {}}}}, "the fat is nowhere"),
        ({"fat": {"regions": {"x": {"place": "ears"}}}}, "fat.regions.x.place"),
        ({"fat": {"regions": {"x": {"place": "belly", "poisson": 0.5}}}}, "poisson"),
        ({"fat": {"regions": {"x": {"place": "belly", "voxel": -1.0}}}}, "voxel"),
    ):
        arms.write_text(json.dumps({**text, **section}), encoding="utf-8")
        message = ecorche("bake", arms, "-o", tmp_path / "a.npz", "--dynamics", "fat", code=2)
        assert told in message
    spoiled = left.astype(np.float32)
    spoiled[11] = np.nan
    arms.write_text(json.dumps(text), encoding="utf-8")
    write_rig(arms, replace(rig, maps={"left": spoiled}))  # nothing names it yet
    text = json.loads(arms.read_text(encoding="utf-8"))
    for section in ({"coupling": {"stiffness": "left"}}, {"fat": {"regions": {"x": {"mask": "left"}}}}):
        arms.write_text(json.dumps({**text, **section}), encoding="utf-8")
        message = ecorche("bake", arms, "-o", tmp_path / "a.npz", code=2)
        assert "the map 'left' holds nan at vertex 11" in message
    assert not (tmp_path / "a.npz").exists()


@pytest.mark.parametrize(
    "option", [("--preroll", "-1"), ("--preroll", "61"), ("--samples", "0"), ("--samples", "65")]
)
def test_absurd_times_are_refused(
    man: Path, tmp_path: Path, ecorche: Command, option: tuple[str, str]
) -> None:
    told = ecorche("bake", man, "-o", tmp_path / "a.npz", "--dynamics", "fat", *option, code=2)
    assert option[0] in told
    assert "or equal to" in told
    assert list(tmp_path.iterdir()) == []
