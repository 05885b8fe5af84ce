"""How often a surface winds round a point: 0 outside, 1 inside, 2 where a skin that crosses itself is twice.

After A. van Oosterom and J. Strackee, *The solid angle of a plane triangle* (IEEE Transactions on Biomedical
Engineering, 1983): the triangles' solid angles, summed. Told exactly and slowly, for a few points.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def winding_numbers(places: npt.ArrayLike, points: npt.ArrayLike, triangles: npt.ArrayLike) -> Floats:
    """The winding number at each place (K, 3) of a surface: points (V, 3), triangles (T, 3)."""
    corners = np.asarray(points, np.float64)[np.asarray(triangles, np.int64)]
    found = []
    for place in np.asarray(places, np.float64).reshape(-1, 3):
        a, b, c = np.moveaxis(corners - place, 1, 0)
        far_a, far_b, far_c = (np.linalg.norm(v, axis=1) for v in (a, b, c))
        over = np.sum(a * np.cross(b, c), axis=1)
        under = far_a * far_b * far_c
        for one, other, third in ((a, b, far_c), (b, c, far_a), (c, a, far_b)):
            under += np.sum(one * other, axis=1) * third
        found.append(np.sum(np.arctan2(over, under)) / (2.0 * np.pi))
    return np.array(found)
