"""On which processor a vertex program runs: the one that was asked for, or an error."""

from __future__ import annotations

from dataclasses import replace

from ecorche.body.evaluator import Evaluator
from ecorche.body.instance_evaluator import InstanceEvaluator
from ecorche.body.live_frames import LiveFrames
from ecorche.body.played_frames import TOGETHER, PlayedFrames
from ecorche.body.take import Take
from ecorche.body.vertex_program import VertexProgram, vertex_program
from ecorche.errors import EcorcheError, MissingPackageError
from ecorche.gpu.device import device_names, require_wgpu
from ecorche.gpu.evaluator import GpuEvaluator

DEVICES = ("cpu", "gpu", "auto")
"""What computes the skin."""


def open_evaluator(program: VertexProgram, capacity: int = 1, device: str = "cpu") -> InstanceEvaluator:
    """A program ready to be played as up to ``capacity`` instances.

    ``auto`` takes a GPU where there is a real one, else the processor: a GPU in software is slower. ``gpu``
    takes any, and where there is none raises what to install.
    """
    if _on_gpu(device):
        return GpuEvaluator(program, capacity=capacity)
    return Evaluator(program)


def _on_gpu(device: str) -> bool:
    if device not in DEVICES:
        raise EcorcheError(f"there is no device {device!r}", remedy=f"Choose one of {', '.join(DEVICES)}")
    return device == "gpu" or (device == "auto" and has_gpu())


def has_gpu() -> bool:
    """Whether there is a GPU that is no stand-in in software."""
    try:
        require_wgpu()
    except MissingPackageError:
        return False
    return any("(CPU," not in name for name in device_names())


def played_on(take: Take, device: str) -> Take:
    """The take with its frames computed there; on the processor they are as they were.

    An error tells what of it cannot be played from a payload.
    """
    if not _on_gpu(device):
        return take
    if not isinstance(take.frames, LiveFrames):
        raise EcorcheError(
            "there is nothing to compute: its frames are given",
            where=take.character.source or take.character.name,
            remedy="Leave out --device",
        )
    evaluator = GpuEvaluator(vertex_program(take.frames.body), capacity=TOGETHER)
    return replace(take, frames=PlayedFrames(take.frames, evaluator))
