"""A look over all frames before the first picture: how large, how far, where the ground is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecorche.body.character import Character
from ecorche.body.frames import Frames
from ecorche.errors import EcorcheError

Floats = npt.NDArray[np.float64]

OUTLINE_POINTS = 2_000
NEAR_GROUND = 0.06
"""Share of the subject's size within which feet count as standing on y = 0."""


@dataclass(frozen=True, eq=False)
class Survey:
    """What the camera and the stage must know of some frames.

    Attributes:
        outlines: Some points of the surfaces a frame, the outermost included [m], (frames, points, 3).
        size: The subject's largest side in its most common pose [m].
        ground: Height of the ground [m].
    """

    outlines: Floats
    size: float
    ground: float


def survey(character: Character, frames: Frames, numbers: Sequence[int]) -> Survey:
    """Look over the frames of those numbers."""
    shown = [i for i, m in enumerate(character.meshes) if len(m.mesh.face_counts)]
    if not shown:
        raise EcorcheError(
            "there is no surface to show",
            where=character.source or character.name,
            remedy="Give a mesh with faces",
        )
    total = sum(character.meshes[i].mesh.vertex_count for i in shown)
    stride = max(1, total // OUTLINE_POINTS)
    outlines, sides, lowest = [], [], []
    for number in numbers:
        frame = frames[number]
        points = np.concatenate([frame.points[i] for i in shown]).astype(np.float64)
        outermost = np.concatenate([points.argmin(axis=0), points.argmax(axis=0)])
        outlines.append(np.concatenate([points[::stride], points[outermost]]))
        sides.append(np.ptp(points, axis=0).max())
        lowest.append(points[:, 1].min())
    size = max(float(np.median(sides)), 1e-6)
    return Survey(np.array(outlines), size, _ground(character, shown, min(lowest), size))


def _ground(character: Character, shown: list[int], lowest: float, size: float) -> float:
    """Zero for a character that stands there at bind and does not fall below; else its lowest point."""
    at_bind = min(float(character.meshes[i].mesh.points[:, 1].min()) for i in shown)
    stands_on_zero = abs(at_bind) < NEAR_GROUND * size and lowest > -NEAR_GROUND * size
    return 0.0 if stands_on_zero else float(lowest)
