"""A right arm as a folder of meshes: two bones and the muscle in front of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.spatial.transform import Rotation

from ecorche import Character
from ecorche.io.stl import stl_bytes
from line_muscles import spindle

Floats = npt.NDArray[np.float64]
Z_UP = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])
"""Our axes to those of a file with z up."""


def write_arm(folder: Path, man: Character, axes: Floats) -> Path:
    """The meshes under a person's skin, turned to the axes of the file that they belong to."""
    world = man.skeleton.bind_world
    shoulder, elbow, wrist = (
        world[man.skeleton.names.index(name), :3, 3] for name in ("RightArm", "RightForeArm", "RightHand")
    )
    shapes = {
        "bones/humerus": (shoulder, elbow, 0.013, 0.8),
        "bones/forearm": (elbow, wrist, 0.013, 0.8),
        "muscles/biceps": (_beside(elbow, shoulder, wrist), _beside(elbow, wrist, shoulder), 0.02, 0.3),
    }
    for name, (start, end, radius, ends) in shapes.items():
        points, triangles = spindle(float(np.linalg.norm(end - start)), radius, ends)
        turn, _ = Rotation.align_vectors([end - start], [[0.0, 0.0, 1.0]])
        placed = (turn.apply(points) + start) @ axes.T
        file = folder / f"{name}.stl"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(stl_bytes(placed.astype(np.float32), triangles))
    return folder


def _beside(elbow: Floats, end: Floats, other: Floats) -> Floats:
    """A point on a bone on the inner side of the bent elbow."""
    along = (end - elbow) / np.linalg.norm(end - elbow)
    inner = other - elbow - (other - elbow) @ along * along
    return 0.6 * elbow + 0.4 * end + 0.013 * inner / np.linalg.norm(inner)
