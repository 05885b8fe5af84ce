"""The vertex program on a GPU (here one in software): as on the processor, and what is refused."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conftest import Command, Figure, skip_or_fail
from ecorche.body.payload import packed_payload
from ecorche.body.vertex_program import VertexProgram
from ecorche.errors import EcorcheError, MissingPackageError
from ecorche.gpu import device
from ecorche.gpu.choice import open_evaluator
from ecorche.gpu.device import device_names, open_device, shared_device
from ecorche.gpu.evaluator import GpuEvaluator
from played_people import COUNT, Floats, evaluated, instances

SLIM = "human/male_slim_cmu_mb.glb"
CASES = [
    ("human/female_average_cmu_mb.glb", False),
    ("human/male_average_cmu_mb.glb", False),
    ("human/male_dressed_mixamo.glb", False),
    ("human/male_muscular_cmu_mb.glb", False),
    ("human/male_muscular_cmu_mb.glb", True),
    ("human/male_muscular_mixamo.glb", False),
    (SLIM, False),
    ("mesh2motion/horse-animations.glb", True),
]


@cache
def _gpu() -> Any:
    try:
        return open_device()
    except MissingPackageError as error:
        skip_or_fail(str(error))


def _on_gpu(program: VertexProgram, count: int = COUNT, **options: Any) -> GpuEvaluator:
    return GpuEvaluator(program, _gpu(), count, **options)


@pytest.mark.parametrize(("name", "found"), CASES)
def test_it_agrees_with_the_processor(data: Path, name: str, found: bool, figure: Figure) -> None:
    evaluator, moved, active = instances(data / name, found)
    gpu = _on_gpu(evaluator.program)
    points, normals = evaluated(evaluator, moved, active)
    gpu_points, gpu_normals = evaluated(gpu, moved, active)
    off = np.abs(points - gpu_points).max()
    chord = np.linalg.norm(normals - gpu_normals, axis=-1)
    angle = np.quantile(np.degrees(2.0 * np.arcsin(np.minimum(0.5 * chord, 1.0))), 0.999)
    figure(f"GPU against processor, {Path(name).stem}{', found muscles' if found else ''}", off, 1e-5, "m")
    assert off < 1e-5
    assert angle < 0.5
    # the muscles do something
    plain = np.empty_like(points)
    gpu.apply(moved, active, points=plain, muscles=False)
    assert np.abs(plain - points).max() > 3e-3


@pytest.mark.parametrize("found", [False, True])
def test_at_bind_all_instances_are_the_bind_mesh(data: Path, found: bool) -> None:
    evaluator, moved, _ = instances(data / SLIM, found)
    points, normals = evaluated(_on_gpu(evaluator.program), np.zeros_like(moved), None)
    assert all(one.tobytes() == evaluator.program.points.tobytes() for one in points)
    assert all(one.tobytes() == evaluator.program.places.authored.tobytes() for one in normals)


def test_far_from_the_origin_it_is_as_exact(data: Path) -> None:
    """A kilometre away float32 positions are 0.06 mm apart: what is skinned is not off by more."""
    evaluator, moved, active = instances(data / SLIM, False)
    far = moved.copy()
    far[:, :, 0, 3] += 1024.0
    gpu = _on_gpu(evaluator.program)
    near_points, _ = evaluated(gpu, moved, active)
    far_points, _ = evaluated(gpu, far, active)
    expected = (near_points.astype(np.float64) + np.array([1024.0, 0.0, 0.0])).astype(np.float32)
    assert np.abs(far_points - expected).max() <= 2 * np.spacing(np.float32(1024.0))


def test_split_buffers_change_no_bit(data: Path) -> None:
    evaluator, moved, active = instances(data / SLIM, False)
    whole = _on_gpu(evaluator.program)
    split = _on_gpu(evaluator.program, largest_buffer=1_600_000)
    assert len(whole.buffers) == 1
    assert len(split.buffers) > 2
    for a, b in zip(evaluated(whole, moved, active), evaluated(split, moved, active), strict=True):
        assert a.tobytes() == b.tobytes()


def test_results_stay_on_the_device_until_they_are_read(data: Path) -> None:
    evaluator, moved, active = instances(data / SLIM, False)
    gpu, program = _on_gpu(evaluator.program), evaluator.program
    with pytest.raises(EcorcheError, match="no frame has been played yet"):
        gpu.read()
    bulge = program.body.bulge(np.ones(program.muscle_count))
    payload = packed_payload(moved, 1.0 + active * (bulge - 1.0))
    gpu.play(payload)
    points, normals = gpu.read()
    for a, b in zip((points, normals), evaluated(gpu, moved, active), strict=True):
        assert a.tobytes() == b.tobytes()
    (buffers,) = gpu.buffers
    assert buffers.points.size == points.nbytes


def test_a_muscle_fades_as_on_the_processor(data: Path) -> None:
    evaluator, moved, active = instances(data / SLIM, True)
    gain = np.random.default_rng(3).random((COUNT, evaluator.program.muscle_count))
    mine, its = (np.empty((COUNT, len(evaluator.program.points), 3), np.float32) for _ in range(2))
    evaluator.apply(moved, active, points=mine, gain=gain)
    _on_gpu(evaluator.program).apply(moved, active, points=its, gain=gain)
    assert np.abs(mine - its).max() < 1e-5


def _with(values: Floats, value: float) -> Floats:
    changed = values.copy()
    changed[2, 1] = value
    return changed


def test_what_does_not_fit_is_refused(data: Path) -> None:
    evaluator, moved, active = instances(data / SLIM, False)
    program = evaluator.program
    gpu, room = _on_gpu(program), np.zeros((COUNT, len(program.points), 3), np.float32)
    with pytest.raises(EcorcheError, match="0 instances were given, and there is room for 1 to 21"):
        gpu.apply(moved[:0], points=room[:0])
    with pytest.raises(EcorcheError, match="no instances of a character with 31 joints"):
        gpu.apply(moved[:, 1:], points=room)
    with pytest.raises(EcorcheError, match="22 instances were given"):
        gpu.apply(np.concatenate([moved, moved[:1]]))
    with pytest.raises(EcorcheError, match=r"activations have shape \(21, 159\)"):
        gpu.apply(moved, active[:, 1:], points=room)
    with pytest.raises(EcorcheError, match="the array for positions is float64"):
        gpu.apply(moved, active, points=room.astype(np.float64))
    fixed = room.copy()
    fixed.flags.writeable = False
    with pytest.raises(EcorcheError, match="the array for positions is read-only"):
        gpu.apply(moved, active, points=fixed)
    with pytest.raises(EcorcheError, match="activation"):
        gpu.apply(moved, _with(active, 1.2))
    with pytest.raises(EcorcheError, match=r"muscle 1 of instance 2 has the bulge .* and the gain 2"):
        gpu.apply(moved, active, gain=_with(active, 2.0))
    lost = moved.copy()
    lost[4, 3] = np.nan
    with pytest.raises(EcorcheError, match="the joints of instance 4 are not all numbers"):
        gpu.apply(lost, active)
    flat = moved.copy()
    flat[5, :, :3, :3] = -np.eye(3)
    with pytest.raises(EcorcheError, match="of instance 5 is scaled to nothing"):
        gpu.apply(flat, active)
    with pytest.raises(EcorcheError, match="room for 0 instances"):
        _on_gpu(program, 0)
    with pytest.raises(EcorcheError, match=r"take [\d,]+ bytes, and a buffer of this GPU holds 100,000"):
        _on_gpu(program, largest_buffer=100_000)


def test_a_device_that_is_not_there_is_told(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _gpu()
    with pytest.raises(EcorcheError, match="there is no GPU named 'voodoo'") as told:
        open_device("voodoo")
    assert device_names()[0] in str(told.value)
    with pytest.raises(EcorcheError, match=r"there is no device 'tpu'\. Choose one of cpu, gpu, auto"):
        open_evaluator(instances(data / SLIM, False)[0].program, device="tpu")
    monkeypatch.setattr(device, "_adapters", list)
    with pytest.raises(MissingPackageError, match=r"no GPU was found.*mesa-vulkan-drivers"):
        open_device()
    monkeypatch.undo()
    monkeypatch.setitem(sys.modules, "wgpu", None)
    with pytest.raises(MissingPackageError, match=r"pip install \"ecorche\[gpu\]\""):
        open_device()


def test_a_device_that_is_lost_is_told(data: Path) -> None:
    _gpu()
    evaluator, moved, active = instances(data / SLIM, False)
    own = open_device()
    gpu = GpuEvaluator(evaluator.program, own, COUNT)
    own.destroy()
    with pytest.raises(EcorcheError, match=r"the GPU was lost, or refused \(.*\). Make the evaluator anew"):
        evaluated(gpu, moved, active)


def test_evaluators_share_a_device_until_it_is_lost(data: Path) -> None:
    _gpu()
    evaluator, moved, active = instances(data / SLIM, False)
    first, second = shared_device(), shared_device()
    assert first is second
    first.destroy()
    assert shared_device() is not first
    points, _ = evaluated(GpuEvaluator(evaluator.program, capacity=COUNT), moved, active)
    assert np.isfinite(points).all()


def test_bake_on_the_gpu(data: Path, tmp_path: Path, ecorche: Command) -> None:
    _gpu()
    man = tmp_path / "man.glb"
    man.write_bytes((data / SLIM).read_bytes())
    ecorche("rig", man)
    rig, walk = man.with_suffix(".ecorche"), data / "cmu" / "02_01.bvh"
    for name in ("cpu", "gpu"):
        ecorche("bake", rig, "-m", walk, "--frames", "0-20", "--device", name, "-o", tmp_path / f"{name}.npz")
    with np.load(tmp_path / "cpu.npz") as cpu, np.load(tmp_path / "gpu.npz") as gpu:
        assert len(cpu["points"]) == 21
        assert np.abs(cpu["points"] - gpu["points"]).max() < 1e-5
        assert np.linalg.norm(cpu["normals"] - gpu["normals"], axis=-1).max() < 0.01
    told = ecorche(
        "bake", rig, "-m", walk, "--coupling", "fascia", "--device", "gpu", "-o", tmp_path / "x.npz", code=2
    )
    assert "cannot be played in real time: a coupling" in told
    assert "--device cpu" in told
    assert not (tmp_path / "x.npz").exists()
