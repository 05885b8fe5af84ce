"""Points all over the bones of a body that hold what lies above them.

A shaft has vertices at its ends and hardly any between: who held skin by vertices alone would leave a shin
loose. So points are strewn over the surfaces, and each goes with its triangle.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ecorche.body.firm_parts import FirmParts
from ecorche.body.spring_places import one_a_cell, strewn, strewn_shares

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class BonePoints:
    """Points of bones.

    Attributes:
        at_bind: [m], (n, 3).
        weights: How much each joint moves each, (n, joints).
    """

    at_bind: Floats
    weights: sparse.csr_matrix

    def __len__(self) -> int:
        return len(self.at_bind)

    def some(self, which: Ints) -> BonePoints:
        """Those of some numbers."""
        return BonePoints(self.at_bind[which], self.weights[which])

    def posed(self, moved: Floats) -> Floats:
        """Where they are [m], (n, 3), for ``M − I`` of the joints (joints, 4, 4)."""
        matrix = (self.weights @ moved.reshape(len(moved), 16)).reshape(-1, 4, 4)
        turned = (matrix[:, :3, :3] @ self.at_bind[:, :, None])[:, :, 0]
        return np.asarray(self.at_bind + turned + matrix[:, :3, 3])


def bone_points(firm: FirmParts, edge: float, joint_count: int) -> BonePoints:
    """One point of the bones' surfaces in each cube of an edge [m] that they pass through."""
    at_bind, shares = strewn(firm.points, firm.triangles), strewn_shares()
    chosen = one_a_cell(at_bind, edge)
    triangle, place = np.divmod(chosen, len(shares))
    in_triangle = sparse.csr_matrix(
        (shares[place].ravel(), firm.triangles[triangle].ravel(), 3 * np.arange(len(chosen) + 1)),
        shape=(len(chosen), len(firm.points)),
    )
    joints, weights = firm.weights.padded()
    by_vertex = sparse.csr_matrix(
        (weights.astype(np.float64).ravel(), joints.ravel(), joints.shape[1] * np.arange(len(joints) + 1)),
        shape=(len(joints), joint_count),
    )
    moved_by = sparse.csr_matrix(in_triangle @ by_vertex)
    moved_by.eliminate_zeros()
    return BonePoints(at_bind[chosen], moved_by)
