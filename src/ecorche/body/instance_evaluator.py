"""What plays a vertex program, whatever processor it runs on."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from ecorche.body.vertex_program import VertexProgram

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
