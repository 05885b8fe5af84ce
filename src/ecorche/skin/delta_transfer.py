"""What the muscles do to the body's skin, brought to what is worn on it: cloth, hair cards, lesser meshes.

Our own method. At bind every vertex of the other mesh looks at the body's triangles about as near as the
nearest, takes the closest point of each, and blends them, nearer ones more. The closest point of one
triangle moves no faster than the vertex that looks at it, and weights fade to nothing at the border, so
neighbouring vertices follow nearly the same skin also where a single closest point would leap: in an
armpit, between the legs, from finger to finger. On the skin itself the blend is the skin's own interpolation.

Only skin that follows the same joints counts: where its skin weights and the vertex's overlap little, a
triangle counts as lying further away, so an arm never moves the cloth of the flank. What lies further off
than `Falloff.near` follows less, beyond `Falloff.far` not at all.

A frame adds the blended displacements as they are, in posed space. The cloth is carried by the same joints
as the skin below it, so the displacement is already turned as both are; left out is only that a change of
the displacement along the skin tilts the gap between skin and cloth, which is gap times slope: 1 mm for
1 cm of air where the displacement changes by 1 mm a centimetre.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from numba import njit, prange
from scipy import sparse

from ecorche.base.checks import require_finite, require_indices
from ecorche.base.closest_point import TriangleSurface
from ecorche.base.near_triangles import triangles_within
from ecorche.base.signed_distance import SignedSurface
from ecorche.base.smooth_step import smooth_step
from ecorche.base.threads import threads_for
from ecorche.errors import EcorcheError, MeshError
from ecorche.skin.shared_joints import SharedJoints, shared_joints
from ecorche.skin.weights import SkinWeights

Entries = tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.float64]]
"""Rows, columns and values of a sparse matrix."""
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Points = npt.NDArray[np.float32]

NEAR, FAR = 1 / 87.5, 1 / 17.5
"""The default fall-off, in the body's greatest extent: 2 cm and 10 cm for 1.75 m."""
BENEATH = (NEAR / 4.0, NEAR * 0.75)
"""The same below the skin, 5 mm and 15 mm: lesser meshes of the body cut a little into it, bones and eyes lie
deeper and stay where the joints put them."""
WIDEST = 0.3
"""How far aside of the nearest the blended skin reaches at most, in the far distance: 3 cm likewise."""
FINEST = 0.002
"""How far aside it reaches for a point on the skin itself, in the far distance: 0.2 mm likewise."""
SIDEWAYS = 1.4
"""How far aside it reaches, in the distance of the nearest: the further off, the more skin is blended."""
AGREEING = 0.3
"""Overlap of skin weights from which on skin counts as following the same joints."""
LEAST = 1e-3
"""Smaller parts of a blend are left out."""
AT_ONCE = 4096


@dataclass(frozen=True)
class Falloff:
    """How much of the body's displacement reaches a vertex: all up to ``near``, none from ``far`` on [m]."""

    near: float
    far: float

    def __post_init__(self) -> None:
        if not 0.0 <= self.near < self.far < np.inf:
            raise EcorcheError(
                f"a fall-off from {self.near} m to {self.far} m cannot be drawn",
                remedy="Give a near distance of at least 0 and a far one above it",
            )

    def share(self, distance: npt.ArrayLike) -> Floats:
        """1 up to near, 0 from far on, level at both."""
        return smooth_step((self.far - np.asarray(distance, np.float64)) / (self.far - self.near))


class FollowedSkin:
    """The body's surface at bind, to ask which of its triangles a point follows and how much.

    Args:
        points: The body at bind [m], shape (vertices, 3).
        triangles: Its triangles, shape (triangles, 3).
        weights: Its skin weights; without them distance alone decides.
        falloff: What happens away from the skin; None is 2 cm to 10 cm for a body 1.75 m large.
    """

    def __init__(
        self,
        points: npt.ArrayLike,
        triangles: npt.ArrayLike,
        weights: SkinWeights | None = None,
        *,
        falloff: Falloff | None = None,
    ) -> None:
        self.points, self.weights = _checked(points, weights, "body"), weights
        self.triangles = np.asarray(triangles, np.int64).reshape(-1, 3)
        require_indices(self.triangles, len(self.points), "body triangle corner", None, MeshError)
        size = (float(np.ptp(self.points, axis=0).max()) if len(self.points) else 0.0) or 1.0
        self.falloff = falloff or Falloff(NEAR * size, FAR * size)
        self._beneath = Falloff(BENEATH[0] * size, BENEATH[1] * size)
        self._surface = TriangleSurface(self.points, self.triangles)
        self._far = self.falloff.far
        self._widest, self._finest = WIDEST * self._far, FINEST * self._far
        sides = self._surface.corners[:, 1:] - self._surface.corners[:, :1]
        areas = np.linalg.norm(np.cross(sides[:, 0], sides[:, 1]), axis=1)
        self._has_sides = bool((areas > 0.0).any())
        self._areas = np.maximum(areas, 1e-6 * self._finest**2)  # a triangle without area still is a place

    @cached_property
    def _sides(self) -> SignedSurface:
        return SignedSurface(self.points, self.triangles)

    def depth(self, points: npt.ArrayLike) -> Floats:
        """How deep points (points, 3) lie under the skin [m], negative outside; on it if it has no sides."""
        asked = np.asarray(points, np.float64)
        return self._sides.depth(asked)[0] if self._has_sides else np.zeros(len(asked))

    def shared_joints(self, points: Floats, weights: SkinWeights | None) -> SharedJoints | None:
        """The joints of the body and of another mesh, by common numbers; None where none are known."""
        if self.weights is None or weights is None or not len(self.triangles) or not len(points):
            return None
        return shared_joints(self.points, self.weights, points, weights, self.falloff.near)

    def share(self, points: Floats, distances: Floats) -> Floats:
        """How much points follow the skin that is so far off [m], 0 to 1."""
        share = self.falloff.share(distances)
        near = np.flatnonzero(share > 0.0)
        share[near] *= self._beneath.share(np.maximum(self.depth(points[near]), 0.0))
        return share

    def _reach(self, nearest: Floats) -> Floats:
        """How far skin is blended in [m], of the distance of the nearest skin [m]."""
        aside = np.minimum(SIDEWAYS * nearest, self._widest)
        return np.asarray(np.minimum(np.sqrt(nearest**2 + aside**2 + self._finest**2), self._far))

    def blends(
        self, points: Floats, asked: Ints, joints: SharedJoints | None, distances: Floats
    ) -> list[Entries]:
        """Parts of body vertices in the points ``asked``; each point's sum to one.

        Distances [m] of the skin that these points follow are written to ``distances``.
        """
        found: list[Entries] = []
        closest = self._surface.closest(points[asked], within=self._far).distances
        asked, reach = asked[closest < self._far], self._reach(closest[closest < self._far])
        while len(asked):
            near = triangles_within(self._surface, points[asked], reach)
            away = near.distances
            if joints is not None:
                overlap = joints.overlap(asked, near, self.triangles)
                # skin of other joints counts as too far off, whatever is nearer
                away = away + self._far * smooth_step(1.0 - overlap / AGREEING)
            least = np.minimum.reduceat(away, near.starts[:-1])
            wanted = self._reach(least)
            # what lies beyond the reach cannot be nearer: the reach is enough if it is all that is wanted
            enough = (wanted <= reach) | (reach >= self._far)
            settled = enough & (least < self._far)
            distances[asked[settled]] = least[settled]
            row = near.rows()
            room = np.maximum(wanted**2 - least**2, self._finest**2)
            part = np.maximum(1.0 - (away**2 - least[row] ** 2) / room[row], 0.0) ** 2
            part *= self._areas[near.triangles] * settled[row]
            part /= np.maximum(np.add.reduceat(part, near.starts[:-1]), 1e-300)[row]
            kept = part > LEAST
            found.append(
                (
                    np.repeat(asked[row[kept]], 3),
                    self.triangles[near.triangles[kept]].reshape(-1),
                    (part[kept, None] * near.barycentric[kept]).reshape(-1),
                )
            )
            asked, reach = asked[~enough], np.clip(2.0 * reach[~enough], 0.2 * self._far, self._far)
        return found


class DeltaTransfer:
    """The body's displacements on the vertices of another mesh, ready to be applied frame after frame.

    Args:
        skin: The body's skin.
        points: The other mesh in the same bind pose [m], shape (points, 3).
        weights: Skin weights of the other mesh, on the body's joints; without them distance alone decides.

    Attributes:
        distances: How far each point is from the skin it follows [m], infinite where there is none within
            the fall-off, shape (points,).
        matrix: The body's displacements to those of the mesh, shape (points, vertices); rows sum up to 1.
    """

    def __init__(self, skin: FollowedSkin, points: npt.ArrayLike, weights: SkinWeights | None = None) -> None:
        others = _checked(points, weights, "other mesh")
        joints = skin.shared_joints(others, weights)
        self.distances = np.full(len(others), np.inf)
        parts = [
            skin.blends(others, np.arange(first, min(first + AT_ONCE, len(others))), joints, self.distances)
            for first in range(0, len(others), AT_ONCE)
        ]
        share = skin.share(others, self.distances)
        self.matrix = _matrix([e for part in parts for e in part], (len(others), len(skin.points)), share)
        self._moved = np.flatnonzero(np.diff(self.matrix.indptr))

    def apply(self, deltas: Points, points: Points, out: Points | None = None) -> Points:
        """Skinned points moved by what the muscles do to the skin below them [m], shape (points, 3).

        Args:
            deltas: How the muscles displaced each body vertex in this frame [m], (vertices, 3), float32.
            points: Skinned positions of the other mesh [m], (points, 3), float32.
            out: Where to write; C-contiguous float32 (points, 3); it may be ``points`` itself.
        """
        count, vertices = self.matrix.shape
        _require_points(deltas, vertices, "displacements of the body")
        _require_points(points, count, "points")
        if out is None:
            out = np.empty((count, 3), np.float32)
        _require_points(out, count, "output array")
        if out is not points:
            out[:] = points
        with threads_for(len(self.matrix.data) // 64):
            _add(self.matrix.indptr, self.matrix.indices, self.matrix.data, self._moved, deltas, out)
        return out


def _matrix(entries: list[Entries], shape: tuple[int, int], share: Floats) -> sparse.csr_array:
    """Entries as a matrix, each row summing to its share."""
    rows, columns, parts = (np.concatenate(x) for x in zip(_NO_ENTRIES, *entries, strict=True))
    matrix = sparse.csr_array(sparse.coo_array((parts, (rows, columns)), shape=shape))
    matrix.sum_duplicates()
    matrix = sparse.csr_array(sparse.diags_array(share / np.maximum(matrix.sum(axis=1), 1e-300)) @ matrix)
    matrix.eliminate_zeros()
    matrix.sort_indices()
    return matrix.astype(np.float32)


_NO_ENTRIES: Entries = np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0)


def _checked(points: npt.ArrayLike, weights: SkinWeights | None, what: str) -> Floats:
    """Points of a mesh as numbers to reckon with, if they and its weights fit together."""
    result = np.asarray(points, np.float64)
    if result.ndim != 2 or result.shape[1] != 3:
        raise MeshError(f"the points of the {what} have shape {result.shape}", remedy="Give (points, 3)")
    require_finite(result, f"the {what}'s point", None, MeshError)
    if weights is not None and weights.vertex_count != len(result):
        raise MeshError(
            f"the {what} has {len(result)} points but weights for {weights.vertex_count}",
            remedy="Give the weights of the same mesh",
        )
    return result


def _require_points(array: npt.NDArray[np.generic], count: int, what: str) -> None:
    if array.shape != (count, 3) or array.dtype != np.float32 or not array.flags.c_contiguous:
        raise MeshError(
            f"the {what} is {array.dtype} of shape {array.shape}",
            remedy=f"Give C-contiguous float32 of shape ({count}, 3)",
        )


@njit(parallel=True, cache=True)  # type: ignore[untyped-decorator]
def _add(
    starts: npt.NDArray[np.int32],
    vertices: npt.NDArray[np.int32],
    parts: Points,
    moved: Ints,
    deltas: Points,
    out: Points,
) -> None:
    for number in prange(len(moved)):
        point = moved[number]
        # the sum begins at plus zero and is subtracted: without a displacement even a minus zero stays
        x = y = z = np.float32(0.0)
        for entry in range(starts[point], starts[point + 1]):
            vertex, part = vertices[entry], parts[entry]
            x -= part * deltas[vertex, 0]
            y -= part * deltas[vertex, 1]
            z -= part * deltas[vertex, 2]
        out[point, 0] -= x
        out[point, 1] -= y
        out[point, 2] -= z
