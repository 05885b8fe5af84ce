"""Characters with fewer triangles."""

from __future__ import annotations

from dataclasses import replace

import igl
import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from scipy.sparse.csgraph import reverse_cuthill_mckee

from ecorche.base.mesh import triangle_mesh
from ecorche.body.character import Character, SkinnedMesh
from ecorche.skin.weights import SkinWeights


def decimated(character: Character, faces: npt.NDArray[np.int64], count: int) -> Character:
    """Some faces of a character's only mesh, brought to so many triangles; each vertex keeps its weights."""
    body = character.meshes[0]
    assert body.weights is not None
    used, corners = np.unique(body.mesh.triangles()[faces], return_inverse=True)
    points = body.mesh.points[used].astype(np.float64)
    made = igl.decimate(points, corners.reshape(-1, 3), count)
    # decimating leaves vertices in no order; as every exporter does, neighbours are put together
    order = reverse_cuthill_mckee(csr_array(igl.adjacency_matrix(made[1])))
    triangles, born = np.argsort(order)[made[1]], used[made[-1]][order]
    weights = body.weights
    counts = np.diff(weights.starts)[born]
    starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    entry = np.repeat(weights.starts[born] - starts[:-1], counts) + np.arange(starts[-1])
    mesh = SkinnedMesh(
        triangle_mesh(body.name, made[0][order], triangles),
        SkinWeights(starts, weights.joints[entry], weights.weights[entry]),
    )
    return replace(character, meshes=(mesh,))
