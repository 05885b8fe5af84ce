"""Whether skin and what is worn on it follow the same joints, though one may know joints the other lacks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from numba import njit, prange
from scipy import sparse
from scipy.spatial import cKDTree

from ecorche.base.near_triangles import NearTriangles
from ecorche.skin.weights import SkinWeights

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Weights = sparse.csr_array

MOSTLY = 0.5
"""The part of a joint's skin that has to be covered before its cover's joint stands for it."""


@dataclass(frozen=True, eq=False)
class SharedJoints:
    """Joints and weights of the body's vertices and of another mesh's, by common joint numbers.

    Attributes:
        body_joints, body_weights: Padded, shape (vertices, influences) each.
        joints, weights: The same of the other mesh, shape (points, influences) each.
    """

    body_joints: npt.NDArray[np.int32]
    body_weights: npt.NDArray[np.float32]
    joints: npt.NDArray[np.int32]
    weights: npt.NDArray[np.float32]

    def overlap(self, points: Ints, near: NearTriangles, triangles: Ints) -> Floats:
        """How far a point's skin weights and those of the skin near it agree, 0 to 1, shape (entries,).

        Args:
            points: The point that each row of ``near`` belongs to, shape (rows,).
            near: Triangles near the points.
            triangles: The body's triangles, shape (triangles, 3).
        """
        result = np.zeros(len(near.triangles))
        _overlap(
            points[near.rows()],
            self.joints,
            self.weights,
            triangles[near.triangles],
            near.barycentric,
            self.body_joints,
            self.body_weights,
            result,
        )
        return result


def shared_joints(
    body_points: Floats, body_weights: SkinWeights, points: Floats, weights: SkinWeights, near: float
) -> SharedJoints:
    """Give joints that only one of the meshes knows the number of the joint that stands for them there.

    A joint of the body alone (a twist joint, a finger that a lesser mesh leaves out) is taken for the joint
    that its skin's cover follows, if most of its skin is covered within ``near`` [m]: bare arms beside a
    vest are not. A joint of the other mesh alone (skirt, hair) is taken for the one that most of the skin
    nearest to its vertices follows.
    """
    count = 1 + int(max(body_weights.joints.max(initial=0), weights.joints.max(initial=0)))
    for_body, for_other = np.arange(count), np.arange(count)
    of_body, of_other = _table(body_weights, for_body), _table(weights, for_other)
    strangers = np.flatnonzero(_known(of_other) & ~_known(of_body))
    if len(strangers):
        nearest = np.asarray(cKDTree(body_points).query(points)[1])
        together = of_other[:, strangers].T @ of_body[nearest]
        for_other[strangers] = together.toarray().argmax(axis=1)
        of_other = _table(weights, for_other)
    strangers = np.flatnonzero(_known(of_body) & ~_known(of_other))
    if len(strangers):
        tree = cKDTree(points)
        gap, nearest = (np.asarray(x) for x in tree.query(body_points))
        # a coarse mesh covers what lies between its vertices too
        spacing = np.asarray(tree.query(points, k=[min(4, len(points))])[0])[:, 0]
        covered = gap <= near + spacing[nearest]
        strange = of_body[:, strangers]
        together = strange[covered].T @ of_other[nearest[covered]]
        share = strange[covered].sum(axis=0) / strange.sum(axis=0)
        for_body[strangers] = np.where(share > MOSTLY, together.toarray().argmax(axis=1), strangers)
    body_joints, body_table = body_weights.padded()
    joints, table = weights.padded()
    return SharedJoints(
        for_body[body_joints].astype(np.int32), body_table, for_other[joints].astype(np.int32), table
    )


def _table(weights: SkinWeights, number: npt.NDArray[np.integer]) -> Weights:
    """The weights as a sparse matrix (vertices, joints), by the joints' numbers."""
    entries = weights.weights.astype(np.float64), number[weights.joints], weights.starts
    return sparse.csr_array(entries, shape=(weights.vertex_count, len(number)))


def _known(table: Weights) -> npt.NDArray[np.bool_]:
    """Which joints have weight at all, (joints,)."""
    return np.asarray(table.sum(axis=0)) > 0.0


@njit(parallel=True, cache=True)  # type: ignore[untyped-decorator]
def _overlap(
    point: Ints,
    joints: npt.NDArray[np.int32],
    weights: npt.NDArray[np.float32],
    corners: Ints,
    barycentric: Floats,
    body_joints: npt.NDArray[np.int32],
    body_weights: npt.NDArray[np.float32],
    result: Floats,
) -> None:
    for entry in prange(len(point)):
        p = point[entry]
        shared = 0.0
        for slot in range(joints.shape[1]):
            joint = joints[p, slot]
            own = weights[p, slot]
            for earlier in range(slot):  # two joints may have got one number: their weights belong together
                if joints[p, earlier] == joint:
                    own = 0.0
            if own == 0.0:
                continue
            for later in range(slot + 1, joints.shape[1]):
                if joints[p, later] == joint:
                    own += weights[p, later]
            theirs = 0.0
            for corner in range(3):
                v = corners[entry, corner]
                for other in range(body_joints.shape[1]):
                    if body_joints[v, other] == joint:
                        theirs += barycentric[entry, corner] * body_weights[v, other]
            shared += min(own, theirs)
        result[entry] = shared
