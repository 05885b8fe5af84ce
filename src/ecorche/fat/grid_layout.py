"""Where values of a grid's nodes and voxels lie in the flat arrays of kernels, so that few lanes are idle.

Kernels take eight neighbours along one axis at once. An eight may begin anywhere and run over the end of a
row, so that what counts is how many eights cover all voxels that are there: of the three axes the one is
taken along which they are fewest. Axes are exchanged in a ring, x for y for z for x, components of vectors
with them: that is a turn, and nothing a kernel computes depends on it.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ecorche.fat.voxel_forces import VOXELS

Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]
Flags = npt.NDArray[np.bool_]


class GridLayout:
    """The order of one grid.

    Args:
        voxels: Which are there, (X, Y, Z).

    Attributes:
        row, slab, whole: How far apart neighbours along the middle and the first axis, and components, are.
        voxel_runs: Where eights of voxels begin, each under the number of its first corner, (R,).
        node_runs: Where eights of nodes begin, (N,).
        places: Grid numbers of the nodes there are, (nodes, 3), in order.
        flat: Where each of them lies, (nodes,).
    """

    def __init__(self, voxels: Flags) -> None:
        self.row, self.slab, self.whole, self._turn = 0, 0, 0, 0
        self._shape = tuple(n + 1 for n in voxels.shape)
        nodes = touched(voxels)
        self.voxel_runs = self.node_runs = np.zeros(0, np.int32)
        for turn in range(3):
            runs = _eights(self._turned(voxels, turn))
            if turn == 0 or len(runs) < len(self.voxel_runs):
                self._turn, self.voxel_runs = turn, runs
        self.node_runs = _eights(self._turned(nodes, self._turn))
        shape = np.roll(self._shape, -self._turn)
        self.row, self.slab = int(shape[2]), int(shape[1] * shape[2])
        # an eight that begins at the last node reads seven beyond
        self.whole = -(-int(shape.prod()) // VOXELS) * VOXELS + VOXELS
        self.places = np.argwhere(nodes)
        self.flat = (np.roll(self.places, -self._turn, axis=1) @ [self.slab, self.row, 1]).astype(np.int32)

    def _turned(self, values: npt.NDArray[np.generic], turn: int) -> npt.NDArray[np.generic]:
        """Values of voxels or nodes (X, Y, Z) in the order of kernels, flat."""
        spread = np.zeros(self._shape, values.dtype)
        spread[: values.shape[0], : values.shape[1], : values.shape[2]] = values
        return spread.transpose(np.roll(range(3), -turn)).ravel()

    def spread(self, values: Doubles) -> Floats:
        """Values of voxels (X, Y, Z) in the order of kernels, (whole,)."""
        flat = np.zeros(self.whole, np.float32)
        turned = self._turned(values, self._turn)
        flat[: len(turned)] = turned
        return flat

    def vectors(self, of_nodes: npt.ArrayLike, into: Floats | None = None) -> Floats:
        """Vectors of the nodes (nodes, 3) in the order of kernels, (3 whole,)."""
        flat = np.zeros(3 * self.whole, np.float32) if into is None else into
        flat.reshape(3, -1)[:, self.flat] = np.roll(np.asarray(of_nodes, np.float32), -self._turn, axis=1).T
        return flat

    def of_nodes(self, flat: Floats) -> Doubles:
        """Vectors of the nodes (nodes, 3) from the order of kernels (3 whole,)."""
        return np.roll(flat.reshape(3, -1)[:, self.flat].T.astype(np.float64), self._turn, axis=1)

    def turned(self, vectors: Doubles) -> Floats:
        """Vectors in the grid's axes (..., 3) with components in the kernels' order, end to end."""
        return np.roll(vectors, -self._turn, axis=-1).astype(np.float32).ravel()


def touched(voxels: Flags) -> Flags:
    """Nodes (X + 1, Y + 1, Z + 1) at a corner of at least one of the voxels (X, Y, Z)."""
    nodes = np.zeros([n + 1 for n in voxels.shape], np.bool_)
    for i, j, k in np.ndindex(2, 2, 2):
        nodes[i : i + voxels.shape[0], j : j + voxels.shape[1], k : k + voxels.shape[2]] |= voxels
    return nodes


def _eights(there: npt.NDArray[np.generic]) -> Ints:
    """Where eights begin that cover all that is there, each as late as can be."""
    begins, end = [], 0
    for place in np.flatnonzero(there).tolist():
        if place >= end:
            begins.append(place)
            end = place + VOXELS
    return np.asarray(begins, np.int32)
