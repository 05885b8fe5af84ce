"""From a raw centroid curve to the nodes of an action line: smooth, evenly spaced, inside the muscle."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.ndimage import gaussian_filter1d

from ecorche.base.rotations import normalise
from ecorche.base.signed_distance import SignedSurface

Floats = npt.NDArray[np.float64]

FINE = 129
"""Points a curve is smoothed at."""
SMOOTH = (0.05, 0.08, 0.12, 0.18, 0.27)
"""Standard deviation of the smoothing, share of the curve's length: the first that bends gently."""
GENTLE = np.cos(np.radians(45.0))
"""Least cosine between neighbouring segments of a line that bends gently."""
FEWEST, MOST = 5, 17
"""Nodes of a line."""
SPACING = 1.5
"""Nodes are about so many mean radii of the muscle apart."""
DEPTH = 0.25
"""A node nearer to the surface than this share of the muscle's radius there is moved inwards."""


def line_nodes(curve: Floats, ends: tuple[Floats, Floats], radius: float) -> Floats:
    """The nodes (n, 3) [m] of a line through raw centroids (m, 3) between two attachment places (3,).

    Args:
        curve: Centroids from origin to insertion [m].
        ends: Where the line is attached [m].
        radius: Mean radius of the muscle about the line [m]: it decides how many nodes there are.
    """
    fine = resampled(np.vstack([ends[0], curve, ends[1]]), FINE)
    chord = ends[0] + np.linspace(0.0, 1.0, FINE)[:, None] * (ends[1] - ends[0])
    bend = fine - chord
    # offsets from the chord are zero at both ends: continued oddly they stay so
    long = np.vstack([-bend[:0:-1], bend, -bend[-2::-1]])
    nodes = fine
    for smooth in SMOOTH:
        fine = chord + gaussian_filter1d(long, smooth * FINE, axis=0, mode="nearest")[FINE - 1 : 2 * FINE - 1]
        length = float(arc_lengths(fine)[-1])
        count = int(np.clip(np.ceil(length / max(SPACING * radius, 1e-9)) + 1, FEWEST, MOST))
        nodes = resampled(fine, count)
        nodes[0], nodes[-1] = ends
        steps = normalise(np.diff(nodes, axis=0))
        if (np.sum(steps[1:] * steps[:-1], axis=1) > GENTLE).all():
            break
    return nodes


def resampled(line: Floats, count: int) -> Floats:
    """Points evenly spaced along a polyline [m], shape (count, 3)."""
    at = arc_lengths(line)
    keep = np.concatenate([[True], np.diff(at) > 0.0])
    wanted = np.linspace(0.0, at[-1], count)
    return np.stack([np.interp(wanted, at[keep], line[keep, axis]) for axis in range(3)], axis=1)


def arc_lengths(line: Floats) -> Floats:
    """How far along a polyline each of its points lies [m], shape (n,)."""
    return np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(line, axis=0), axis=1))])


def kept_inside(nodes: Floats, surface: SignedSurface, radius: Floats) -> Floats:
    """Nodes moved in where they lie outside or, between the ends, close under the surface, shape (n, 3).

    Args:
        nodes: The nodes [m].
        surface: The muscle.
        radius: Radius of the muscle at each node [m], shape (n,).
    """
    moved = nodes.copy()
    wanted = DEPTH * radius
    wanted[[0, -1]] = 0.0
    for _ in range(8):
        depth, outward = surface.depth(moved)
        lack = np.clip(wanted - depth, 0.0, None)
        if not (lack > 1e-6).any():
            break
        lack[1:-1] *= 0.7  # in a thin part the other side is near: no overshooting
        moved -= lack[:, None] * outward
    return moved
