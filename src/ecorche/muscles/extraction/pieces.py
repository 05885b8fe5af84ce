"""Which parts of a skin hang together: no muscle goes from one piece, as a mannequin's plates, to another."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]


def pieces_of(triangles: Ints, vertex_count: int) -> Ints:
    """The number of the piece that each vertex is of, (vertices,)."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    ends = np.concatenate([triangles[:, :2], triangles[:, 1:]]).T
    edges = coo_matrix((np.ones(ends.shape[1]), ends), (vertex_count, vertex_count))
    return np.asarray(connected_components(edges, directed=False)[1], np.int64)
