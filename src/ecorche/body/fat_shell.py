"""The outside of a region of fat as a mesh: the faces of its voxels that no other voxel shares."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ecorche.base.mesh import Mesh
from ecorche.body.fat import FatPart

Floats = npt.NDArray[np.float64]

_SQUARE = np.array([[0, 0], [1, 0], [1, 1], [0, 1]])


class FatShell:
    """The outside of one region.

    Args:
        part: The region.

    Attributes:
        part: As given.
        faces: Four vertices each, counter-clockwise seen from outside, (faces, 4).
    """

    def __init__(self, part: FatPart) -> None:
        self.part = part
        corners = _outer_faces(part.grid.voxels)  # (faces, 4, 3) grid numbers of nodes
        numbers = np.full(np.array(part.grid.voxels.shape) + 1, -1)
        numbers[tuple(part.grid.places.T)] = np.arange(len(part.grid.places))
        nodes = numbers[tuple(np.moveaxis(corners, -1, 0))]
        self._nodes, faces = np.unique(nodes, return_inverse=True)
        self.faces = faces.reshape(-1, 4).astype(np.int32)

    def mesh(self, name: str) -> Mesh:
        """The surface at bind."""
        return Mesh(
            name=name,
            points=(self.part.centre + self.part.grid.rest[self._nodes]).astype(np.float32),
            face_counts=np.full(len(self.faces), 4, np.int32),
            face_indices=self.faces.reshape(-1),
        )

    def points(self, moved: Floats, displacements: Floats) -> npt.NDArray[np.float32]:
        """Vertices in a frame [m], (vertices, 3).

        Args:
            moved: ``M − I`` of the joints, (joints, 4, 4).
            displacements: Of all nodes of the region from rest [m], (nodes, 3).
        """
        turned, origin = self.part.frame(moved)
        places = self.part.grid.rest[self._nodes] + displacements[self._nodes]
        return np.asarray(origin + places @ turned.T, np.float32)


def _outer_faces(voxels: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
    """Nodes round each outer face, (faces, 4, 3), counter-clockwise seen from outside."""
    padded, found = np.pad(voxels, 1), []
    for axis in range(3):
        first, second = (axis + 1) % 3, (axis + 2) % 3
        for way in (0, 1):
            beyond = np.roll(padded, 1 - 2 * way, axis)[1:-1, 1:-1, 1:-1]
            cells = np.argwhere(voxels & ~beyond)
            square = np.zeros((4, 3), np.int64)
            square[:, axis] = way
            # x × y = z and so on round: this order looks up the axis, and down it turned about
            square[:, [first, second]] = _SQUARE if way else _SQUARE[::-1]
            found.append(cells[:, None] + square)
    return np.concatenate(found)
