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
    ways = np.full(shares.shape, np.inf)
    for site in attached:
        column = joints.index(site.joint)
        way = graph.ways(np.asarray(site.vertices, np.int64), max(site.reach, 1e-9))
        way[site.vertices] = 0.0
        near = 1.0 - smooth_step(way / site.reach) if site.reach > 0.0 else (way == 0.0).astype(np.float64)
        shares[:, column] = np.maximum(shares[:, column], near)
        ways[:, column] = np.minimum(ways[:, column], way)
    shares *= _partings(ways)
    two = np.sort(np.argsort(-shares, axis=1, kind="stable")[:, :2], axis=1)
    share = np.take_along_axis(shares, two, axis=1)
    share = share / np.maximum(share.sum(axis=1, keepdims=True), 1.0)
    numbers = np.array([*joints, 0, 0], np.int32)
    return np.where(share > 0.0, numbers[two], 0).astype(np.int32), share


def _partings(ways: Floats) -> Floats:
    """How much of each vertex the bones leave to one another, (V, joints), by the ways to what sits on them.

    All to who sits on a bone, nothing to who sits on another, and half each where two are as far: so what
    lies between two bones goes over from the one to the other evenly. Who sits on two goes with both.
    """
    left = np.ones(ways.shape)
    for one in range(ways.shape[1]):
        for other in range(ways.shape[1]):
            own, far = ways[:, one], ways[:, other]
            rivals = np.isfinite(own) & np.isfinite(far) & (own + far > 0.0)
            if one != other:
                left[rivals, one] *= smooth_step(far[rivals] / (own + far)[rivals])
    return left
