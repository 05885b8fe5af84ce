"""A bone at bind: a solid that moves with one joint."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, eq=False, repr=False)
class Bone:
    """One bone.

    Attributes:
        name: What it is called.
        joint: Number of the joint that carries it.
        points: Its vertices at bind [m], (V, 3).
        triangles: Numbers of its vertices, (T, 3).
    """

    name: str
    joint: int
    points: npt.NDArray[np.float64]
    triangles: npt.NDArray[np.int32]

    def __repr__(self) -> str:
        return f"Bone({self.name!r}, {len(self.points)} vertices)"
