"""Fat that is pressed by other skin: a thigh against a belly, an arm against a breast.

Every line along a normal that finds itself behind other skin (`contact`) presses both ends apart with the
same force, as far as the fat at both ends is soft: pressure times what both yield to it is how deep the line
is. What is no fat does not yield. So all forces together are none in every frame, and at bind there are none.
Until the next frame a force becomes less as what it presses on gives way (`ElasticGrid.meet`): fat is pressed
out of the other limb and no farther.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from ecorche.base.mesh import triangle_mesh
from ecorche.body.fat import FatPart
from ecorche.skin.contact import SkinContact
from ecorche.skin.normals import Normals
from ecorche.skin.two_rings import two_rings

Floats = npt.NDArray[np.float64]
Points = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int32]

_YIELDS = 0.1
"""How far fat yields to a pressure as large as Young's modulus, as a share of how thick it is: it cannot
come out beneath, and hardly beside."""
_REACH = 0.1
"""How deep limbs of a person may be in each other by their bones alone [m]."""
_DEEPEST = 0.5
"""No more is asked of fat than to yield by this share of its thickness."""


class FatContact:
    """The skin over the fat of one body against itself.

    Args:
        points: The skin at bind [m], (vertices, 3).
        triangles: Outwards, (triangles, 3).
        parts: The fat below it.
        size: How many times the size of a person the body is.
    """

    def __init__(
        self, points: Points, triangles: npt.NDArray[np.integer], parts: Iterable[FatPart], size: float
    ) -> None:
        self._normals = Normals([triangle_mesh("skin", points, np.asarray(triangles, np.int32))])
        self._rings = rings = two_rings(points, triangles)
        self._contact = SkinContact(points, self._up(points), triangles, rings, reach=_REACH * size)
        fat, yields, most = np.zeros((3, len(points)))
        for part in parts:
            own = part.vertices
            fat[own] += part.shown
            yields[own] += part.shown * _YIELDS * part.most / part.grid.tissue.young
            most[own] += part.shown * _DEEPEST * part.most
        speaker = rings.speakers()
        self._fat, self._yields, self._most = fat[speaker], yields[speaker], most[speaker]

    def _up(self, points: Points) -> Points:
        (normals,) = self._normals.apply([points])
        assert normals is not None
        return normals

    def pressing(self, points: Points) -> Floats:
        """Force [N] and stiffness [N/m] at every vertex of a skin [m] (vertices, 3), (vertices, 4)."""
        up = self._up(points)
        lines = self._contact.lines(points, up)
        speaker = self._rings.speakers()
        found = np.zeros((len(points), 4))
        found[speaker] = _pressing(
            lines.places, lines.corners, lines.shares, lines.gaps, up[speaker], self._contact.area,
            self._fat, self._yields, self._most,
        )  # fmt: skip
        return found


@njit(cache=True)  # type: ignore[untyped-decorator]
def _pressing(
    places: Ints,
    corners: Ints,
    shares: Points,
    gaps: Points,
    normals: Points,
    area: Points,
    fat: Floats,
    yields: Floats,
    most: Floats,
) -> Any:
    """Force and stiffness at places, (places, 4)."""
    found = np.zeros((len(yields), 4))
    for line in range(len(places)):
        here = places[line]
        soft, deepest, there = yields[here], most[here], 0.0
        for k in range(3):
            there += shares[line, k] * fat[corners[line, k]]
            soft += shares[line, k] * yields[corners[line, k]]
            deepest += shares[line, k] * most[corners[line, k]]
        if gaps[line] >= 0.0 or soft <= 0.0 or deepest <= 0.0:
            continue
        deep = -gaps[line] / (1.0 + (gaps[line] / deepest) ** 2) ** 0.5
        # both sides have lines: each stands for half; where fat ends so does what presses on it
        share = fat[here] + there - fat[here] * there
        stiff = 0.5 * share**2 * area[here] / soft
        found[here, 3] += stiff
        for k in range(3):
            found[corners[line, k], 3] += shares[line, k] * stiff
        for axis in range(3):
            force = stiff * deep * normals[here, axis]
            found[here, axis] -= force
            for k in range(3):
                found[corners[line, k], axis] += shares[line, k] * force
    return found
