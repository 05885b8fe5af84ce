"""Dual quaternion skinning: joints' motions blended as screws, so that twisting keeps its volume.

Kavan et al., "Skinning with dual quaternions" (2007), in UsdSkel's reading: quaternions are turned to
the hemisphere of the joint with the largest weight, and a joint's stretch, which no dual quaternion
holds, is blended linearly and applied before the rigid part.

Changed here: all is evaluated as a difference from bind. With ``b`` the blended rotation (vector a,
scalar w, not normalised), ``d`` the blended dual part and ``u = v + Σ w (S − I) v``,

    v' = u + 2 (a × (a × u + w u) + w d_v − d_w a + a × d_v) / |b|²

in which every term but v is zero at bind; v comes back bit for bit. |b| is never zero: the joint with
the largest weight contributes at least its weight.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit, prange

from ecorche.base.lanes import (
    broadcast,
    load,
    multiply_add,
    where_less,
)
from ecorche.base.rotations import multiply_xyzw
from ecorche.base.threads import threads_for
from ecorche.skin.layout import Points, checked, group_vertices, read_group, write_group
from ecorche.skin.rigid import rigid_parts
from ecorche.skin.weights import SkinWeights


class DualQuaternionSkinning:
    """Dual quaternion skinning of one mesh, ready to be applied frame after frame.

    Args:
        points: Bind positions [m], shape (vertices, 3), float32.
        weights: Skin weights of those vertices.
    """

    def __init__(self, points: Points, weights: SkinWeights) -> None:
        self._groups = group_vertices(weights)
        self._bind = self._groups.gather(points)

    def apply(
        self,
        difference: npt.NDArray[np.float64],
        points: Points | None = None,
        out: Points | None = None,
    ) -> Points:
        """Skinned positions [m], shape (vertices, 3), in the mesh's own vertex order.

        Args:
            difference: How far each joint is from bind, ``M − I``, shape (joints, 4, 4).
            points: Positions to use in place of the bind positions, such as morphed ones.
            out: Where to write; it must be C-contiguous float32 (vertices, 3).
        """
        groups = self._groups
        given, out = checked(groups, difference, points, out)
        parts = rigid_parts(difference)
        translation = np.zeros((len(difference), 4))
        translation[:, :3] = 0.5 * difference[:, :3, 3]
        dual = multiply_xyzw(translation, parts.rotation_xyzw)
        screws = np.concatenate([parts.rotation_xyzw, dual], axis=1).astype(np.float32)
        minus_stretch = (-parts.stretch_difference).astype(np.float32).reshape(-1, 9)
        with threads_for(len(groups.vertices)):
            _skin(
                groups.vertices,
                groups.starts,
                groups.joints,
                groups.weights,
                self._bind,
                given,
                screws,
                minus_stretch,
                parts.stretched,
                out,
            )
        return out


@njit(parallel=True, cache=True)  # type: ignore[untyped-decorator]
def _skin(
    vertices: npt.NDArray[np.int32],
    starts: npt.NDArray[np.int64],
    joints: npt.NDArray[np.int32],
    weights: Points,
    bind: Points,
    given: Points,
    screws: Points,
    minus_stretch: Points,
    stretched: bool,
    out: Points,
) -> None:
    for group in prange(len(vertices)):
        zero = broadcast(np.float32(0.0))
        first, last = starts[group], starts[group + 1]
        ux, uy, uz = read_group(bind, given, vertices, group)
        if stretched:
            sx, sy, sz = zero, zero, zero
            for row in range(first, last):
                s, w = minus_stretch[joints[row]], load(weights, row)
                sx = multiply_add(w, ux * s[0] + uy * s[1] + uz * s[2], sx)
                sy = multiply_add(w, ux * s[3] + uy * s[4] + uz * s[5], sy)
                sz = multiply_add(w, ux * s[6] + uy * s[7] + uz * s[8], sz)
            ux, uy, uz = ux - sx, uy - sy, uz - sz

        # the rotation of each lane's strongest joint
        q = screws[joints[first]]
        px, py, pz, pw = broadcast(q[0]), broadcast(q[1]), broadcast(q[2]), broadcast(q[3])
        strongest = load(weights, first)
        for row in range(first + 1, last):
            q, w = screws[joints[row]], load(weights, row)
            px = where_less(strongest, w, broadcast(q[0]), px)
            py = where_less(strongest, w, broadcast(q[1]), py)
            pz = where_less(strongest, w, broadcast(q[2]), pz)
            pw = where_less(strongest, w, broadcast(q[3]), pw)
            strongest = where_less(strongest, w, w, strongest)

        ax, ay, az, aw = zero, zero, zero, zero
        dx, dy, dz, dw = zero, zero, zero, zero
        for row in range(first, last):
            q, w = screws[joints[row]], load(weights, row)
            along = px * q[0] + py * q[1] + pz * q[2] + pw * q[3]
            w = where_less(along, zero, -w, w)
            ax = multiply_add(w, broadcast(q[0]), ax)
            ay = multiply_add(w, broadcast(q[1]), ay)
            az = multiply_add(w, broadcast(q[2]), az)
            aw = multiply_add(w, broadcast(q[3]), aw)
            dx = multiply_add(w, broadcast(q[4]), dx)
            dy = multiply_add(w, broadcast(q[5]), dy)
            dz = multiply_add(w, broadcast(q[6]), dz)
            dw = multiply_add(w, broadcast(q[7]), dw)

        # minus two over |b|²: what is subtracted at bind must be plus zero, so that a coordinate of
        # minus zero keeps its sign
        factor = np.float32(-2.0) / (ax * ax + ay * ay + az * az + aw * aw)
        cx = ay * uz - az * uy + aw * ux
        cy = az * ux - ax * uz + aw * uy
        cz = ax * uy - ay * ux + aw * uz
        mx = (ay * cz - az * cy) + (aw * dx - dw * ax) + (ay * dz - az * dy)
        my = (az * cx - ax * cz) + (aw * dy - dw * ay) + (az * dx - ax * dz)
        mz = (ax * cy - ay * cx) + (aw * dz - dw * az) + (ax * dy - ay * dx)
        zx, zy, zz = zero + factor * mx, zero + factor * my, zero + factor * mz
        write_group(out, vertices, group, ux - zx, uy - zy, uz - zz)
