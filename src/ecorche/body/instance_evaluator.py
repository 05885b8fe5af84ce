"""What plays a vertex program, whatever processor it runs on."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from ecorche.body.vertex_program import VertexProgram
from ecorche.errors import EcorcheError

Floats = npt.NDArray[np.float64]
Points = npt.NDArray[np.float32]


class InstanceEvaluator(Protocol):
    """What plays a vertex program: `Evaluator` on the processor, `GpuEvaluator` within 1e-5 m of it."""

    program: VertexProgram

    def apply(
        self,
        difference: Floats,
        activation: npt.ArrayLike | None = None,
        *,
        points: Points,
        normals: Points | None = None,
        gain: npt.ArrayLike | None = None,
        muscles: bool = True,
    ) -> None:
        """Positions, and normals where they are asked for, of n instances."""
        ...


def require_output(array: Points, shape: tuple[int, ...], what: str, where: object = None) -> None:
    """Refuse an array that results cannot be written to, before any work."""
    if array.shape != shape or array.dtype != np.float32 or not array.flags.c_contiguous:
        raise EcorcheError(
            f"the array for {what} is {array.dtype} of shape {array.shape}",
            where=where,
            remedy=f"Give C-contiguous float32 of shape {shape}",
        )
    if not array.flags.writeable:
        raise EcorcheError(f"the array for {what} is read-only", where=where, remedy="Give one of your own")
