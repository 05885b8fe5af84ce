"""Limbs that keep their volume when a joint bends.

Blending joints loses flesh at a bent elbow or knee: on its outer side corners are cut, on the inner one the
skin folds into itself. Flesh hardly changes its volume, so what is lost comes out round the joint. A segment
of the limb, from the middle of the bone before the joint to that of the bone behind, is closed by caps over
its two borders. Its skin is moved out along the normals, most on the bellies beside the joint, less at the
joint itself, which is bone under skin, and not at all at the caps, until it holds as much as at bind. The
volume is a cubic of that one number: Newton's method finds it in two steps.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit, prange

from ecorche.base.threads import threads_for
from ecorche.skin.limb_segments import LimbSegment

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_STEPS = 2
"""Of Newton's method."""


class _Packed(NamedTuple):
    """Segments one after another, as `_volumes` reads them.

    Attributes:
        vertices, profiles: Of all, (n,), (n,).
        starts: Of each segment's vertices, triangles, borders, (segments + 1, 3).
        triangles: Numbered within all vertices, (triangles, 3).
        edges: Of all caps, numbered so, (edges, 2).
        edge_starts: Of each border, (borders + 1,).
    """

    vertices: Ints
    profiles: Floats
    starts: Ints
    triangles: Ints
    edges: Ints
    edge_starts: Ints


def _packed(segments: Sequence[LimbSegment]) -> _Packed:
    none, pairs = np.zeros(0, np.int64), np.zeros((0, 2), np.int64)
    sizes = [(len(s.vertices), len(s.triangles), len(s.borders)) for s in segments]
    starts = np.concatenate([np.zeros((1, 3), np.int64), np.cumsum(np.reshape(sizes, (-1, 3)), axis=0)])
    borders = [edges + first for s, first in zip(segments, starts[:, 0], strict=False) for edges in s.borders]
    return _Packed(
        np.concatenate([none, *(s.vertices for s in segments)]),
        np.concatenate([np.zeros(0), *(s.profile for s in segments)]),
        starts.astype(np.int64),
        np.concatenate(
            [np.zeros((0, 3), np.int64)]
            + [s.triangles + first for s, first in zip(segments, starts[:, 0], strict=False)]
        ),
        np.concatenate([pairs, *borders]),
        np.cumsum([0, *map(len, borders)]),
    )


class KeptVolume:
    """Segments of one skin's limbs, kept at the volumes they have at bind.

    Args:
        points: The skin at bind [m], (vertices, 3).
        segments: See `limb_segments`.

    Attributes:
        segments: The same.
        volumes: Of them at bind [m³], (segments,).
    """

    def __init__(self, points: npt.ArrayLike, segments: Iterable[LimbSegment]) -> None:
        at = np.asarray(points, np.float32)
        self.segments = tuple(segments)
        self._packed = _packed(self.segments)
        self.volumes = self._cubics(at, np.zeros_like(at))[:, 0]

    def correction(
        self, points: npt.NDArray[np.float32], normals: npt.NDArray[np.float32]
    ) -> npt.NDArray[np.float32]:
        """How far each vertex moves out along its normal [m], (vertices,)."""
        found, cubics = np.zeros(len(points)), self._cubics(points, normals)
        for segment, volume, cubic in zip(self.segments, self.volumes.tolist(), cubics.tolist(), strict=True):
            if cubic[0] != volume:  # else it is as at bind, to the last bit
                found[segment.vertices] += _root(cubic, volume) * segment.profile
        return found.astype(np.float32)

    def _cubics(self, points: npt.NDArray[np.float32], normals: npt.NDArray[np.float32]) -> Floats:
        """Coefficients of each segment's volume [m³] by how far it comes out [m], (segments, 4)."""
        found = np.empty((len(self.segments), 4))
        with threads_for(len(self._packed.vertices) // 16):
            _volumes(points, normals, *self._packed, found)
        return found


def _root(cubic: Sequence[float], volume: float) -> float:
    """How far a segment comes out [m] to hold a volume [m³]."""
    a, b, c, d = cubic
    out = 0.0
    for _ in range(_STEPS):
        growing = b + out * (2.0 * c + out * 3.0 * d)
        if growing <= 0.0:
            break
        out += (volume - (a + out * (b + out * (c + out * d)))) / growing
    return out


@njit(forceinline=True)  # type: ignore[untyped-decorator]
def _box(a: Any, b: Any, c: Any) -> Any:
    """Volume of the box that three vectors span."""
    return (
        (a[1] * b[2] - a[2] * b[1]) * c[0]
        + (a[2] * b[0] - a[0] * b[2]) * c[1]
        + (a[0] * b[1] - a[1] * b[0]) * c[2]
    )


@njit(parallel=True, cache=True)  # type: ignore[untyped-decorator]
def _volumes(
    points: npt.NDArray[np.float32],
    normals: npt.NDArray[np.float32],
    vertices: Ints,
    profiles: Floats,
    starts: Ints,
    triangles: Ints,
    edges: Ints,
    edge_starts: Ints,
    found: Floats,
) -> None:
    """Coefficients of the volumes by how far segments come out; caps stay where they are."""
    at, along = np.empty((len(vertices), 3)), np.empty((len(vertices), 3))
    for segment in prange(len(found)):
        first, last = starts[segment, 0], starts[segment + 1, 0]
        middle = np.zeros(3)
        for row in range(first, last):
            for axis in range(3):
                at[row, axis] = points[vertices[row], axis]
                along[row, axis] = profiles[row] * normals[vertices[row], axis]
                middle[axis] += at[row, axis]
        for row in range(first, last):
            for axis in range(3):
                at[row, axis] -= middle[axis] / (last - first)
        sums = np.zeros(4)
        for triangle in range(starts[segment, 1], starts[segment + 1, 1]):
            i, j, k = triangles[triangle, 0], triangles[triangle, 1], triangles[triangle, 2]
            a = at[i, 0], at[i, 1], at[i, 2]
            b = at[j, 0], at[j, 1], at[j, 2]
            c = at[k, 0], at[k, 1], at[k, 2]
            u = along[i, 0], along[i, 1], along[i, 2]
            v = along[j, 0], along[j, 1], along[j, 2]
            w = along[k, 0], along[k, 1], along[k, 2]
            sums[0] += _box(a, b, c)
            sums[1] += _box(u, b, c) + _box(a, v, c) + _box(a, b, w)
            sums[2] += _box(a, v, w) + _box(u, b, w) + _box(u, v, c)
            sums[3] += _box(u, v, w)
        for border in range(starts[segment, 2], starts[segment + 1, 2]):
            # each edge begins where another ends: the middle of the beginnings is that of the border
            x, y, z = 0.0, 0.0, 0.0
            count = edge_starts[border + 1] - edge_starts[border]
            for edge in range(edge_starts[border], edge_starts[border + 1]):
                x += at[edges[edge, 0], 0] / count
                y += at[edges[edge, 0], 1] / count
                z += at[edges[edge, 0], 2] / count
            for edge in range(edge_starts[border], edge_starts[border + 1]):
                i, j = edges[edge, 0], edges[edge, 1]
                sums[0] += _box((at[i, 0], at[i, 1], at[i, 2]), (at[j, 0], at[j, 1], at[j, 2]), (x, y, z))
        for power in range(4):
            found[segment, power] = sums[power] / 6.0
