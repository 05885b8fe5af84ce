"""Skin weights: which joints move a vertex, and how much; any number of influences."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecorche.base.checks import require_finite, require_indices
from ecorche.errors import MeshError


@dataclass(frozen=True, eq=False, repr=False)
class SkinWeights:
    """Influences of each vertex, in rows: vertex i owns entries ``starts[i]`` to ``starts[i+1]``.

    Within a vertex joints are in rising order, each at most once, weights positive and summing to
    one. Equal vertices on two meshes therefore move bit for bit alike.

    Attributes:
        starts: Row borders, shape (vertices + 1,), int32.
        joints: Joint numbers, shape (influences,), int32.
        weights: Weights, shape (influences,), float32.
        normalised: How many vertices had weights that did not sum to one within 1e-3.
    """

    starts: npt.NDArray[np.int32]
    joints: npt.NDArray[np.int32]
    weights: npt.NDArray[np.float32]
    normalised: int = 0

    def __repr__(self) -> str:
        return f"SkinWeights({self.vertex_count} vertices, {len(self.joints)} influences)"

    @property
    def vertex_count(self) -> int:
        """How many vertices have weights."""
        return len(self.starts) - 1

    def padded(self) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]:
        """Joints and weights as (vertices, most influences), padded with joint 0 and weight 0."""
        counts = np.diff(self.starts)
        width = max(int(counts.max(initial=1)), 1)
        slot = np.arange(len(self.joints)) - np.repeat(self.starts[:-1], counts)
        row = np.repeat(np.arange(self.vertex_count), counts)
        joints = np.zeros((self.vertex_count, width), np.int32)
        weights = np.zeros((self.vertex_count, width), np.float32)
        joints[row, slot] = self.joints
        weights[row, slot] = self.weights
        return joints, weights

    def strongest(self) -> npt.NDArray[np.int32]:
        """The joint that moves each vertex most, the first of several, (vertices,)."""
        joints, shares = self.padded()
        return np.asarray(joints[np.arange(len(joints)), shares.argmax(axis=1)], np.int32)


def rigid_weights(vertex_count: int, joint: int) -> SkinWeights:
    """Every vertex wholly on one joint."""
    return SkinWeights(
        np.arange(vertex_count + 1, dtype=np.int32),
        np.full(vertex_count, joint, np.int32),
        np.ones(vertex_count, np.float32),
    )


def is_rigid(weights: SkinWeights) -> bool:
    """Whether all vertices follow one joint and no other."""
    return bool((weights.joints == weights.joints[:1]).all())


def one_joint_each(weights: SkinWeights) -> bool:
    """Whether every vertex follows one joint alone, as those of bones do."""
    return bool((np.diff(weights.starts) == 1).all())


def weights_from_table(
    joints: npt.ArrayLike, weights: npt.ArrayLike, joint_count: int, where: object
) -> SkinWeights:
    """Weights of a table with a fixed number of influences a vertex, (vertices, influences) each.

    Repeated joints are added up, zero weights left out, sums brought to one (and counted).
    A vertex without any weight is refused.
    """
    joints = np.asarray(joints, np.int64)
    table = np.asarray(weights, np.float64)
    require_finite(table, "the weights of vertex", where, MeshError)
    vertex = np.repeat(np.arange(len(table)), table.shape[1])
    return weights_from_entries(vertex, joints.reshape(-1), table.reshape(-1), len(table), joint_count, where)


def weights_from_entries(
    vertices: npt.ArrayLike,
    joints: npt.ArrayLike,
    weights: npt.ArrayLike,
    vertex_count: int,
    joint_count: int,
    where: object,
) -> SkinWeights:
    """Weights of a list of (vertex, joint, weight) entries in any order, shapes (entries,)."""
    vertex, joint = np.asarray(vertices, np.int64), np.asarray(joints, np.int64)
    weight = np.asarray(weights, np.float64)
    require_finite(weight, "weight", where, MeshError)
    if (weight < 0.0).any():
        bad = int(vertex[int(np.argmax(weight < 0.0))])
        raise MeshError(
            f"vertex {bad} has a negative weight", where=where, remedy="Repaint or normalise the weights"
        )
    used = weight > 0.0
    vertex, joint, weight = vertex[used], joint[used], weight[used]
    require_indices(joint, joint_count, "joint index", where, MeshError)
    require_indices(vertex, vertex_count, "vertex index", where, MeshError)

    key, entry = np.unique(vertex * joint_count + joint, return_inverse=True)
    total = np.bincount(entry, weights=weight, minlength=len(key))
    vertex, joint = key // joint_count, key % joint_count
    sums = np.bincount(vertex, weights=total, minlength=vertex_count)
    if (sums <= 0.0).any():
        raise MeshError(
            f"vertex {int(np.argmax(sums <= 0.0))} has no weight at all ({int((sums <= 0.0).sum())} such"
            " vertices)",
            where=where,
            remedy="Bind these vertices to a joint and export again",
        )
    normalised = int((np.abs(sums - 1.0) > 1e-3).sum())
    starts = np.searchsorted(vertex, np.arange(vertex_count + 1)).astype(np.int32)
    # weights that already sum to one in float32 stay as they are, bit for bit
    share = np.where(np.abs(sums[vertex] - 1.0) > 1e-6, total / sums[vertex], total)
    return SkinWeights(starts, joint.astype(np.int32), share.astype(np.float32), normalised)
