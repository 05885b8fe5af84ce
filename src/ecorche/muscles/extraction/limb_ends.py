"""Where the last bone of a limb ends that no joint ends: a man's lower leg without joints of the feet.

The bone's own tip says so where the file knows it. Else the skin does: it is cut across on its way out from
the hinge, and behind the thickest place of calf or forearm it grows thinner up to ankle or wrist and thicker
again in foot or hand. Skin that only tapers, such as a stump, is limb up to its end.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ecorche.base import transforms
from ecorche.base.rotations import normalise
from ecorche.muscles.extraction.limbs import girths, joints_between, sections
from ecorche.skeleton.skeleton import Skeleton

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

HALF_WAY = 0.4, 0.7
"""Skin within these shares of the way to the farthest tells the axis: calves and feet would turn it."""
THICKEST = 0.15, 0.5
"""Calf and forearm are thickest within these shares of the way from hinge to fingertip or sole."""
SWELLS = 1.1
"""By this factor hands and feet are thicker again than wrist and ankle."""


def limb_end(
    skeleton: Skeleton, joint: int, points: Floats, triangles: Ints, weights: tuple[Ints, Floats]
) -> Floats | None:
    """Where file or skin say that a joint's bone ends [m], (3,); None where neither does.

    Args:
        skeleton: The character's joints.
        joint: The hinge the bone begins at.
        points: The skin at bind [m], (V, 3).
        triangles: Vertex numbers, (T, 3).
        weights: Joints and weights of each vertex, (V, K) each.
    """
    start = skeleton.bind_world[joint, :3, 3]
    tip = transforms.transform_points(skeleton.bind_world[joint], skeleton.tails[joint][None])[0]
    if np.isfinite(tip).all():
        return np.asarray(tip)
    own = np.isin(weights[0], joints_between(skeleton, joint, -1))
    moved = np.sum(np.where(own, weights[1], 0.0), axis=1)
    away = points[moved > 0.5] - start
    if len(away) == 0:
        return None
    far = np.linalg.norm(away, axis=1)
    half_way = away[(far >= HALF_WAY[0] * far.max()) & (far <= HALF_WAY[1] * far.max())]
    if len(half_way) == 0 or np.linalg.norm(half_way.mean(axis=0)) < 1e-9:
        return None
    axis = normalise(half_way.mean(axis=0))
    front = normalise(np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))]))
    cuts = sections(start, float((away @ axis).max()) * axis, front, points, triangles, moved)
    along, girth = np.array([cut.along for cut in cuts]), girths(cuts)
    belly = (along >= THICKEST[0]) & (along <= THICKEST[1])
    if not belly.any():
        return None
    thinnest = int(np.argmax(np.where(belly, girth, 0.0)))
    for n in range(thinnest, len(cuts)):
        if girth[n] < girth[thinnest]:
            thinnest = n
        elif girth[n] > SWELLS * girth[thinnest]:
            return np.asarray(cuts[thinnest].points.mean(axis=0))
    return np.asarray(cuts[-1].points.mean(axis=0))
