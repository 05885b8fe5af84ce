"""How far each joint has moved since bind.

Skinning needs ``M = world_from_joint · bind_inverse`` of every joint, as a *difference from
bind* ``D = M − I``: with local matrices ``L`` and their bind values ``B``,

    E = parent_bind (L − B) bind_inverse,   D = D_parent + E + D_parent E,

so that D is exactly zero in the bind pose and accurate near it, without a special case. One pose is computed
in compiled code, many of them joint by joint for all at once: the same to rounding.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ecorche.skeleton.skeleton import Skeleton

Floats = npt.NDArray[np.float64]


def difference_from_bind(skeleton: Skeleton, local: Floats) -> Floats:
    """``M − I`` of every joint for local matrices (..., joints, 4, 4); same shape."""
    difference = np.empty(local.shape)
    if local.shape == skeleton.bind_local.shape and local.dtype == np.float64:
        from ecorche.skeleton.one_pose import pose_difference

        bind = skeleton.bind_local, skeleton.bind_world, skeleton.bind_inverse
        pose_difference(skeleton.parents, *bind, np.ascontiguousarray(local), difference)
        return difference
    change = local - skeleton.bind_local
    for joint, parent in enumerate(skeleton.parents):
        step = change[..., joint, :, :] @ skeleton.bind_inverse[joint]
        if parent < 0:
            difference[..., joint, :, :] = step
        else:
            step = skeleton.bind_world[parent] @ step
            above = difference[..., parent, :, :]
            difference[..., joint, :, :] = above + step + above @ step
    return difference
