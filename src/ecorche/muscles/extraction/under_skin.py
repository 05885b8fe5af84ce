"""Muscles kept under the skin: each ring is bounded by the skin's own section in the ring's plane.

Text 001 fits ellipses to sections and stops there. But rings are evened out along a muscle and laid across
its root curve, and curved cutting surfaces are laid flat: each takes them a little out of the skin. So the
skin has the last word, cut by the plane each ring lies in.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ecorche.muscles.extraction.ellipses import Ellipse, within
from ecorche.muscles.loft_frames import bind_axes
from ecorche.muscles.lofted import LoftedMuscle

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

NEAR = 1.5
"""Skin further from a ring's centre than this many of its long half-axes is not asked."""
STEPS = 40
"""Points of the skin's section on a ring's long half-axis."""
OUT = np.array([1.0, 0.0])


def bounded(muscle: LoftedMuscle, points: Floats, triangles: Ints) -> LoftedMuscle:
    """The muscle with no ring out of the skin, but for a stated share of its half-axes.

    Args:
        muscle: The muscle.
        points: The skin at bind [m], (V, 3).
        triangles: Vertex numbers, (T, 3).
    """
    rings = muscle.rings
    axes = bind_axes(muscle, rings.u)
    centre, half, angle = rings.centre.copy(), rings.half_axes.copy(), rings.angle.copy()
    for n in range(len(rings.u)):
        frame = np.stack([axes.out[n], axes.side[n], axes.along[n]])
        local = (points - axes.points[n] - centre[n] @ frame[:2]) @ frame.T
        curve = _section(local, triangles, float(half[n].max()))
        if len(curve):
            ellipse = within(Ellipse(np.zeros(2), half[n], float(angle[n])), curve, OUT)
            centre[n] += ellipse.centre
            half[n], angle[n] = ellipse.half_axes, ellipse.angle
    return replace(muscle, rings=replace(rings, centre=centre, half_axes=half, angle=angle))


def _section(local: Floats, triangles: Ints, size: float) -> Floats:
    """Close points of the skin (V, 3) where its last coordinate is zero, near the origin, (P, 2) [m]."""
    above = local[:, 2] > 0.0
    near = np.linalg.norm(local[:, :2], axis=1) < NEAR * size
    corners = above[triangles]
    cut = np.asarray(corners.any(axis=1) & ~corners.all(axis=1))
    cut[cut] = near[triangles[cut]].any(axis=1)
    here = local[triangles[cut]]
    ahead = np.roll(here, -1, axis=1)
    low, high = here[..., 2], ahead[..., 2]
    crossing = (low > 0.0) != (high > 0.0)
    share = (low / np.where(crossing, low - high, 1.0))[..., None]
    places = (here + share * (ahead - here))[crossing][:, :2].reshape(-1, 2, 2)
    start, way = places[:, 0], places[:, 1] - places[:, 0]
    count = np.ceil(np.linalg.norm(way, axis=1) * (STEPS / size)).astype(np.int64) + 1
    which = np.repeat(np.arange(len(count)), count)
    step = np.arange(len(which)) - np.repeat(np.cumsum(count) - count, count)
    return np.asarray(start[which] + (step / count[which])[:, None] * way[which])
