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

from ecorche.base.lanes import broadcast, load, multiply_add, where_less
from ecorche.base.rotations import multiply_xyzw
from ecorche.skin.grouped import GroupedSkinning, blended_stretch, strongest_rotation
from ecorche.skin.layout import Points, read_group, write_group
from ecorche.skin.rigid import rigid_parts


class DualQuaternionSkinning(GroupedSkinning):
    """Dual quaternion skinning of one mesh, ready to be applied frame after frame."""

    def _skin(self, difference: npt.NDArray[np.float64], given: Points, out: Points) -> None:
        parts = rigid_parts(difference)
        translation = np.zeros((len(difference), 4))
        translation[:, :3] = 0.5 * difference[:, :3, 3]
        dual = multiply_xyzw(translation, parts.rotation_xyzw)
        screws = np.concatenate([parts.rotation_xyzw, dual], axis=1).astype(np.float32)
        minus_stretch = (-parts.stretch_difference).astype(np.float32).reshape(-1, 9)
        _skin(*self.layout, given, screws, minus_stretch, parts.stretched, out)


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
            sx, sy, sz = blended_stretch(minus_stretch, joints, weights, first, last, ux, uy, uz)
            ux, uy, uz = ux - sx, uy - sy, uz - sz

        px, py, pz, pw = strongest_rotation(screws, joints, weights, first, last)

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
