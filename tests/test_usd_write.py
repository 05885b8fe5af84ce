"""What we write as USD: read back bit for bit, compliant, deterministic, streamed."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from characters import bending, tube
from ecorche.body.frames import Frame, MemoryFrames
from ecorche.body.take import Take
from ecorche.errors import WriteError
from ecorche.io import gltf
from ecorche.io.formats import WriteOptions
from ecorche.io.usd import compliance_problems, read_character, write_take
from usd_takes import (
    PNG,
    POINTS,
    SKELETON,
    played,
    require_same_meshes,
    rich_character,
    same_bits,
    swinging,
)


@pytest.mark.parametrize("suffix", [".usdc", ".usda", ".usd", ".usdz"])
def test_points_read_back_bit_for_bit(tmp_path: Path, suffix: str) -> None:
    character = rich_character()
    motion = swinging(character.skeleton)
    take = played(character, motion)
    path = tmp_path / f"out{suffix}"
    write_take(path, take, POINTS)
    back = read_character(path)
    require_same_meshes(character, back)
    assert back.skeleton.names == character.skeleton.names
    assert np.array_equal(back.skeleton.tails, character.skeleton.tails)
    assert np.array_equal(back.skeleton.bind_world, character.skeleton.bind_world)
    assert same_bits(back.meshes[2].own_bind, character.meshes[2].own_bind)
    assert [i.data for i in back.images] == [PNG]
    for mine, other in zip(character.materials, back.materials, strict=True):
        assert mine.name == other.name
        assert np.allclose(mine.base_color, other.base_color)
        assert mine.base_color_image == other.base_color_image
        assert mine.double_sided == other.double_sided
    assert back.materials[0].extra == character.materials[0].extra
    assert back.notes == ()
    assert back.cache is not None
    assert take.frames is not None
    assert np.array_equal(back.cache.times, take.frames.times)
    for index in range(len(take.frames)):
        for one, two in zip(take.frames[index].points, back.cache[index].points, strict=True):
            assert same_bits(one, two)
        for before, after in zip(take.frames[index].normals, back.cache[index].normals, strict=True):
            assert same_bits(before, after)
    assert np.abs(back.motions[0].local - motion.local).max() < 1e-6


def test_a_second_trip_changes_nothing(tmp_path: Path) -> None:
    """What we read from our own file we write as the same file."""
    character = rich_character()
    motion = swinging(character.skeleton)
    take = played(character, motion)
    first, second = tmp_path / "a" / "out.usda", tmp_path / "b" / "out.usda"
    for path in (first, second):
        path.parent.mkdir()
    write_take(first, take, POINTS)
    back = read_character(first)
    write_take(second, Take(replace(back, name="rich"), back.motions[0], back.cache), POINTS)
    one, two = first.read_text().splitlines(), second.read_text().splitlines()
    assert len(one) == len(two)
    # rotations pass through matrices once more: nothing else may differ
    differ = [a for a, b in zip(one, two, strict=True) if a != b]
    assert all(a.lstrip()[0].isdigit() for a in differ)
    assert len(differ) <= motion.frame_count


@pytest.mark.parametrize("suffix", [".usdc", ".usda", ".usdz"])
@pytest.mark.parametrize("options", [POINTS, SKELETON])
def test_same_input_same_bytes(tmp_path: Path, suffix: str, options: WriteOptions) -> None:
    character = rich_character()
    take = played(character, swinging(character.skeleton), "dual_quaternion")
    contents = []
    for number in (0, 1):
        path = tmp_path / f"{number}" / f"out{suffix}"
        path.parent.mkdir()
        write_take(path, take, options)
        contents.append(path.read_bytes())
    assert contents[0] == contents[1]
    made = {p.name for p in (tmp_path / "0").iterdir()}
    assert made == {f"out{suffix}"} | ({"out_textures"} if suffix != ".usdz" else set())


@pytest.mark.parametrize("suffix", [".usdc", ".usda", ".usdz"])
@pytest.mark.parametrize("options", [POINTS, SKELETON])
def test_files_are_compliant(tmp_path: Path, suffix: str, options: WriteOptions) -> None:
    character = rich_character()
    path = tmp_path / f"out{suffix}"
    write_take(path, played(character, swinging(character.skeleton), "contour"), options)
    assert compliance_problems(path) == []
    still = tmp_path / f"still{suffix}"
    write_take(still, Take(character), options)
    assert compliance_problems(still) == []


def test_the_validators_can_complain(data: Path) -> None:
    assert any("MissingMetersPerUnit" in c for c in compliance_problems(data / "usdskel" / "lbs.usda"))


def test_posed_points_are_not_skinned_again(tmp_path: Path) -> None:
    from pxr import Usd, UsdSkel

    character = tube()
    path = tmp_path / "out.usdc"
    write_take(path, played(character, bending(character)), POINTS)
    stage = Usd.Stage.Open(str(path))
    cache = UsdSkel.Cache()
    roots = [UsdSkel.Root(p) for p in stage.Traverse() if p.IsA(UsdSkel.Root)]
    assert len(roots) == 1
    cache.Populate(roots[0], Usd.PrimDefaultPredicate)
    assert cache.ComputeSkelBindings(roots[0], Usd.PrimDefaultPredicate) == []


def test_velocities_extents_and_times(tmp_path: Path) -> None:
    from pxr import Usd, UsdGeom

    character = tube()
    motion = replace(bending(character, frames=5), times=np.array([0.5, 0.75, 1.0, 1.25, 1.5]))
    take = played(character, motion)
    assert take.frames is not None
    path = tmp_path / "out.usdc"
    write_take(path, take, POINTS)
    stage = Usd.Stage.Open(str(path))
    assert stage.GetTimeCodesPerSecond() == 4.0
    assert (stage.GetStartTimeCode(), stage.GetEndTimeCode()) == (2.0, 6.0)
    mesh = UsdGeom.Mesh(stage.GetPrimAtPath("/tube/tube"))
    assert mesh.GetPointsAttr().GetTimeSamples() == [2.0, 3.0, 4.0, 5.0, 6.0]
    assert np.array_equal(mesh.GetPointsAttr().Get(), character.meshes[0].mesh.points)
    points = np.stack([take.frames[i].points[0] for i in range(5)]).astype(np.float64)
    expected = np.gradient(points, motion.times, axis=0)
    written = np.stack([mesh.GetVelocitiesAttr().Get(code) for code in range(2, 7)])
    assert np.abs(written - expected).max() < 1e-5
    box = np.array(mesh.GetExtentAttr().Get(6.0))
    assert np.array_equal(box, [points[4].min(axis=0).astype("f4"), points[4].max(axis=0).astype("f4")])


def test_uneven_times_are_exact(tmp_path: Path) -> None:
    character = tube()
    times = np.array([0.0, 0.008333, 0.025, 0.7])
    motion = replace(bending(character, frames=4), times=times)
    write_take(tmp_path / "out.usdc", played(character, motion), POINTS)
    back = read_character(tmp_path / "out.usdc")
    assert np.abs(back.motions[0].times - times).max() < 1e-12


@pytest.mark.parametrize(
    "name",
    [
        "human/male_dressed_mixamo.glb",
        "human/female_average_cmu_mb.glb",
        "mesh2motion/human-male.glb",
        "mesh2motion/horse-animations.glb",
    ],
)
def test_real_characters_survive(data: Path, tmp_path: Path, name: str) -> None:
    character = gltf.read_character(data / name)
    path = tmp_path / "out.usdc"
    write_take(path, Take(character), POINTS)
    back = read_character(path)
    require_same_meshes(character, back)
    assert compliance_problems(path) == []
    assert [m.name for m in back.materials] == [m.name for m in character.materials]
    assert [m.extra for m in back.materials] == [m.extra for m in character.materials]
    assert [i.data for i in back.images] == [i.data for i in character.images]
    assert [m.name for m in back.motions] == [m.name for m in character.motions]
    for one, two in zip(character.motions, back.motions, strict=True):
        assert np.allclose(one.times, two.times, atol=1e-9)
        assert np.abs(one.world() - two.world()).max() < 2e-4


STREAM = """
import resource, sys
from pathlib import Path
import numpy as np
from characters import tube
from ecorche.body.frames import Frame
from ecorche.body.take import Take
from ecorche.io.formats import WriteOptions
from ecorche.io.usd import write_take

character = tube(rings=200, around=100)
count = character.meshes[0].mesh.vertex_count

class Endless:
    times = np.arange(500) / 30.0
    def __len__(self):
        return 500
    def __getitem__(self, index):
        points = character.meshes[0].mesh.points + np.float32(1e-3 * index**2)
        return Frame(float(self.times[index]), (points,), (None,))

before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
write_take(Path(sys.argv[1]), Take(character, None, Endless()), WriteOptions())
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def test_frames_stream_through_bounded_memory(tmp_path: Path) -> None:
    """240 MB of samples pass through a fraction of that."""
    path = tmp_path / "long.usdc"
    done = subprocess.run(
        [sys.executable, "-c", STREAM, path],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parent,
        check=True,
    )
    assert path.stat().st_size > 239e6
    assert int(done.stdout) * 1024 < 150e6


def test_write_errors_are_told(tmp_path: Path) -> None:
    character = tube()
    take = played(character, bending(character))
    with pytest.raises(WriteError, match=r"no way 'spline' to write USD. Known: 'points', 'skeleton'"):
        WriteOptions(usd_as="spline")
    with pytest.raises(WriteError, match="does not exist"):
        write_take(tmp_path / "nowhere" / "out.usdc", take, POINTS)
    wrong = MemoryFrames([Frame(0.0, (np.zeros((3, 3), np.float32),), (None,))])
    with pytest.raises(WriteError, match="points of shape"):
        write_take(tmp_path / "out.usdc", Take(character, None, wrong), POINTS)
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_leaves_nothing_behind(tmp_path: Path) -> None:
    """A limit on file size stands in for a full disk: the write fails half-way."""
    script = STREAM.replace(
        "before =", "resource.setrlimit(resource.RLIMIT_FSIZE, (2_000_000, -1))\nbefore ="
    )
    done = subprocess.run(
        [sys.executable, "-c", script, tmp_path / "out.usdc"],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parent,
    )
    assert "WriteError" in done.stderr.splitlines()[-1], done.stderr[-2000:]
    assert list(tmp_path.iterdir()) == []
