"""Values of one skin brought to another: painted maps survive a new topology.

Each new vertex takes the value of the closest old surface point that faces the same way.
Vertices without such a point nearby (a new pocket, the inside of a mouth) are filled in from
their neighbours, so that values change as little as possible over the new surface.

After R. Abdrashitov, K. Raichstat, J. Monsen, D. Hill, "Robust Skin Weights Transfer via Weight
Inpainting", SIGGRAPH Asia 2023 Technical Communications. Changed here: the search goes on to the
nearest point that does face the same way, where the paper gives the vertex up; the fill is
harmonic with equal weights on edges, which also works on meshes with bad triangles; coincident
vertices count as one, so seams stay closed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import splu
from scipy.spatial import cKDTree

from ecorche.base.closest_point import TriangleSurface
from ecorche.base.mesh import coincident_groups, triangle_corners
from ecorche.base.rotations import normalise
from ecorche.document.bind import BindMesh

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

LEAST_COSINE = 0.5
"""An old surface point has to face within 60° of the new vertex."""
FARTHEST = 0.05
"""And to lie within this part of the old mesh's diagonal."""


@dataclass(frozen=True, eq=False)
class Transfer:
    """Where each new vertex takes its value from.

    Attributes:
        corners: Three old vertices a new vertex, shape (vertices, 3).
        barycentric: Their weights, shape (vertices, 3).
        trusted: Whether that place is near and faces the same way, shape (vertices,).
        distances: How far away it is, after aligning [m], shape (vertices,).
        points: The new vertices, aligned [m], shape (vertices, 3).
        group: Number of the place each new vertex lies at, equal for coincident ones, (vertices,).
        edges: Pairs of neighbouring places, shape (edges, 2).
    """

    corners: Ints
    barycentric: Floats
    trusted: npt.NDArray[np.bool_]
    distances: Floats
    points: Floats
    group: npt.NDArray[np.int32]
    edges: Ints

    def carry(self, values: npt.NDArray[np.generic], *, labels: bool = False) -> npt.NDArray[np.generic]:
        """Old values a vertex (old vertices, ...) on the new vertices, of the same type.

        Labels, and values that are true or false, are taken from the nearest vertex; numbers are
        interpolated, whole numbers then rounded.
        """
        if labels or values.dtype.kind not in "fiu":
            nearest = self.corners[np.arange(len(self.corners)), np.argmax(self.barycentric, axis=1)]
            taken: npt.NDArray[np.generic] = values[nearest[self._nearest_trusted()]]
            return taken
        numbers: Floats = values.astype(np.float64)
        columns = numbers.reshape(len(values), -1)
        carried = np.einsum("vc,vcn->vn", self.barycentric, columns[self.corners])
        self._fill(carried)
        # an average lies between its parts; rounding must not carry it out of the painted range
        carried = np.clip(carried, columns.min(axis=0), columns.max(axis=0))
        if values.dtype.kind in "iu":
            carried = np.rint(carried)
        result: npt.NDArray[np.generic] = carried.reshape(len(carried), *values.shape[1:]).astype(
            values.dtype
        )
        return result

    def _nearest_trusted(self) -> Ints:
        """Each vertex itself where it is trusted, else the trusted one next to it in space."""
        own = np.arange(len(self.trusted))
        if self.trusted.all() or not self.trusted.any():
            return own
        good = np.flatnonzero(self.trusted)
        bad = np.flatnonzero(~self.trusted)
        own[bad] = good[cKDTree(self.points[good]).query(self.points[bad])[1]]
        return own

    def _fill(self, values: Floats) -> None:
        """Replace values of untrusted vertices by the smoothest surface through the trusted ones.

        A piece of the mesh without any trusted vertex keeps the values of its closest points.
        """
        count = int(self.group.max(initial=-1)) + 1
        support = np.bincount(self.group, weights=self.trusted, minlength=count)
        if (support > 0).all():  # coincident vertices may differ in trust: the trusted one decides
            open_places = np.zeros(0, np.int64)
        else:
            graph = sparse.coo_array(
                (np.ones(len(self.edges)), (self.edges[:, 0], self.edges[:, 1])), shape=(count, count)
            )
            _, piece = connected_components(graph, directed=False)
            anchored = np.bincount(piece, weights=support)[piece] > 0
            open_places = np.flatnonzero((support == 0) & anchored)
        at_place = np.zeros((count, values.shape[1]))
        np.add.at(at_place, self.group[self.trusted], values[self.trusted])
        at_place /= np.maximum(support, 1.0)[:, None]
        if len(open_places):
            both = (graph + graph.T).tocsr()
            laplacian = sparse.csr_array(sparse.diags_array(np.asarray(both.sum(axis=1)).reshape(-1)) - both)
            rows = laplacian[open_places]
            at_place[open_places] = splu(rows[:, open_places].tocsc()).solve(-(rows @ at_place))
        known = support > 0
        known[open_places] = True
        filled = ~self.trusted & known[self.group]
        values[filled] = at_place[self.group[filled]]


def plan_transfer(old: BindMesh, new: BindMesh, placed: Floats) -> Transfer:
    """Find for each new vertex its place on the old mesh.

    Args:
        old: The mesh that has the values.
        new: The mesh that wants them.
        placed: Its points, aligned with the old mesh [m], shape (vertices, 3).
    """
    old_triangles = old.face_indices[triangle_corners(old.face_counts)]
    triangles = new.face_indices[triangle_corners(new.face_counts)]
    old_points = old.points.astype(np.float64)
    old_normals = vertex_normals(old_points, old_triangles, coincident_groups(old.points))
    surface = TriangleSurface(old_points, old_triangles, old_normals)
    diagonal = float(np.linalg.norm(np.ptp(old.points, axis=0)))
    group = coincident_groups(new.points)
    facing = vertex_normals(placed, triangles, group)
    hits = surface.closest(placed, facing=facing, least_cosine=LEAST_COSINE, within=FARTHEST * diagonal)
    trusted = hits.triangles >= 0
    if not trusted.all():
        rest = surface.closest(placed[~trusted])
        hits.triangles[~trusted] = rest.triangles
        hits.barycentric[~trusted] = rest.barycentric
        hits.distances[~trusted] = rest.distances
    places = group[triangles].astype(np.int64)
    edges = np.concatenate([places[:, [0, 1]], places[:, [1, 2]], places[:, [2, 0]]])
    edges = edges[edges[:, 0] != edges[:, 1]]
    return Transfer(
        corners=old_triangles[hits.triangles].astype(np.int64),
        barycentric=hits.barycentric,
        trusted=trusted,
        distances=hits.distances,
        points=placed,
        group=group,
        edges=np.unique(np.sort(edges, axis=1), axis=0),
    )


def vertex_normals(points: Floats, triangles: npt.NDArray[np.int32], group: npt.NDArray[np.int32]) -> Floats:
    """Unit normals (vertices, 3), weighted by area, equal for vertices of one group."""
    corners = points[triangles]
    area = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    total = np.zeros((int(group.max(initial=0)) + 1, 3))
    for corner in range(3):
        np.add.at(total, group[triangles[:, corner]], area)
    return normalise(total)[group]
