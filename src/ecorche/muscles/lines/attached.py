"""Vertices of a muscle that sit on a bone go with the bone, and those near them partly.

An action line tilts against the bone it is attached to, and a broad attachment that tilts with it lifts off.
So the vertices of an attachment follow the joint of their bone rigidly; from there the line takes over
smoothly along the surface.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecorche.base.smooth_step import smooth_step
from ecorche.muscles.lines.surface_graph import SurfaceGraph

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False, repr=False)
class Attached:
    """Vertices that sit on the bone of one joint.

    Attributes:
        vertices: Their numbers, (n,).
        joint: That moves the bone.
        reach: How far over the surface vertices follow it partly [m].
    """

    vertices: npt.NDArray[np.integer]
    joint: int
    reach: float


def rigid_shares(graph: SurfaceGraph, attached: Sequence[Attached]) -> tuple[Ints, Floats]:
    """The two joints that hold each vertex most, (V, 2), and how much, (V, 2), 0 to 1 together."""
    count = len(graph.points)
    joints = sorted({site.joint for site in attached})
    shares = np.zeros((count, max(len(joints), 2)))
    sitting = np.zeros(shares.shape, bool)
    for site in attached:
        column = joints.index(site.joint)
        way = graph.ways(np.asarray(site.vertices, np.int64), max(site.reach, 1e-9))
        near = 1.0 - smooth_step(way / site.reach) if site.reach > 0.0 else (way == 0.0).astype(np.float64)
        shares[:, column] = np.maximum(shares[:, column], near)
        sitting[site.vertices, column] = True
    # who sits on a bone follows no other, unless it sits on both
    held = sitting.any(axis=1)
    shares[held] = sitting[held]
    two = np.sort(np.argsort(-shares, axis=1, kind="stable")[:, :2], axis=1)
    share = np.take_along_axis(shares, two, axis=1)
    share = share / np.maximum(share.sum(axis=1, keepdims=True), 1.0)
    numbers = np.array([*joints, 0, 0], np.int32)
    return np.where(share > 0.0, numbers[two], 0).astype(np.int32), share
