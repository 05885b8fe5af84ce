"""Bones as ellipsoids that push action lines aside.

Text 002, 4.4.1 and 4.8.1: ellipsoids keep lines out of bones. There they are placed by hand; here each bone
is cut across its longest direction into pieces until each piece is stout or small, and each piece gets the
ellipsoid of its own second moments, scaled to lie on its surface on average. So a shaft is a few ellipsoids
in a row, a vertebra one. An ellipsoid is as good as its coverage says: the share of the piece's surface
that lies within `CLOSE` of it, as a ratio of sizes.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ecorche.muscles.anatomy.folder import Bones

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

STOUT = 2.2
"""A piece up to so many times as long as it is wide is not cut further."""
MOST = 16
"""Pieces of one bone."""
LEAST = 24
"""Vertices below which a piece is not cut."""
CLOSE = 0.35
"""How far a surface may be from its ellipsoid to count as covered, as a ratio of sizes."""
NEAR = 1.5
"""A deflector concerns a line that comes as near to it as so many of its smallest radii."""
CLEAR = 0.98
"""A deflector that holds a node of a line at bind is shrunk until the node is outside by this ratio."""


@dataclass(frozen=True, eq=False)
class BoneEllipsoid:
    """Part of a bone as an ellipsoid at bind.

    Attributes:
        bone: Name of the bone.
        joint: The joint it moves with.
        centre: [m], shape (3,).
        axes: Unit axes as columns, right-handed, shape (3, 3).
        radii: [m], shape (3,), the greatest last.
        coverage: Share of the piece's surface that lies close to the ellipsoid, 0 to 1.
    """

    bone: str
    joint: int
    centre: Floats
    axes: Floats
    radii: Floats
    coverage: float

    def level(self, points: Floats) -> Floats:
        """1 on the ellipsoid, less inside, more outside, as a ratio of sizes, (n,); points [m] (n, 3)."""
        return np.asarray(np.linalg.norm((points - self.centre) @ self.axes / self.radii, axis=-1))


def bone_ellipsoids(bones: Bones) -> tuple[BoneEllipsoid, ...]:
    """All bones as ellipsoids, bone by bone."""
    found: list[BoneEllipsoid] = []
    for mesh, joint in zip(bones.meshes, bones.joints, strict=True):
        corners = mesh.points[mesh.triangles]
        area = 0.5 * np.linalg.norm(
            np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1
        )
        middle = corners.mean(axis=1)
        found += [
            _fitted(mesh.name, int(joint), middle[piece], area[piece]) for piece in _pieces(middle, area)
        ]
    return tuple(found)


def deflectors_near(
    ellipsoids: Sequence[BoneEllipsoid], nodes: Floats, flesh: float = 0.0, passed: Collection[int] = ()
) -> tuple[BoneEllipsoid, ...]:
    """The ellipsoids that concern a line, shrunk where needed so that none holds a node at bind.

    Args:
        ellipsoids: All of them.
        nodes: The line's nodes at bind [m], shape (n, 3).
        flesh: How thick the muscle is about it [m]: bones it passes concern it from so much further.
        passed: Joints between those of its ends.
    """
    share = np.linspace(0.0, 1.0, 5)[:-1, None, None]
    path = np.concatenate([(nodes[:-1] + share * np.diff(nodes, axis=0)).reshape(-1, 3), nodes[-1:]])
    inner = path[(path != nodes[0]).any(axis=1) & (path != nodes[-1]).any(axis=1)]
    found = []
    for ellipsoid in ellipsoids:
        level = ellipsoid.level(inner)
        gap = (level - 1.0) * ellipsoid.radii.min()
        if gap.min() > NEAR * ellipsoid.radii.min() + (flesh if ellipsoid.joint in passed else 0.0):
            continue
        shrunk = min(1.0, CLEAR * float(level.min()))
        if shrunk > 0.2:  # a line through a bone's middle is not pushed out of it
            found.append(replace(ellipsoid, radii=ellipsoid.radii * shrunk))
    return tuple(found)


def _pieces(points: Floats, area: Floats) -> list[Ints]:
    """Triangles (by middle [m] and area [m²]) in pieces that are stout; the longest is cut first."""
    pieces = [np.arange(len(points))]
    while len(pieces) < MOST:
        sizes = [_moments(points[piece], area[piece]) for piece in pieces]
        long = [
            float(np.sqrt(size[1][2])) if _is_long(size[1]) and len(piece) > LEAST else 0.0
            for size, piece in zip(sizes, pieces, strict=True)
        ]
        worst = int(np.argmax(long))
        if long[worst] == 0.0:
            break
        centre, _, axes = sizes[worst]
        piece = pieces.pop(worst)
        ahead = (points[piece] - centre) @ axes[:, 2] > 0.0
        if ahead.all() or not ahead.any():
            pieces.append(piece)
            break
        pieces += [piece[~ahead], piece[ahead]]
    return pieces


def _is_long(spread: Floats) -> bool:
    return bool(spread[2] > STOUT**2 * max(float(spread[1]), 1e-18))


def _moments(points: Floats, area: Floats) -> tuple[Floats, Floats, Floats]:
    """Centre [m], variances [m²] rising, and their directions as columns."""
    weight = area / max(float(area.sum()), 1e-30)
    centre = weight @ points
    offset = points - centre
    spread, axes = np.linalg.eigh((offset * weight[:, None]).T @ offset)
    return centre, np.maximum(spread, 0.0), axes


def _fitted(name: str, joint: int, points: Floats, area: Floats) -> BoneEllipsoid:
    centre, spread, axes = _moments(points, area)
    axes = axes * (np.linalg.det(axes) or 1.0)
    radii = np.maximum(np.sqrt(3.0 * spread), 0.15 * np.sqrt(3.0 * spread[2]) + 1e-6)
    level = np.linalg.norm((points - centre) @ axes / radii, axis=1)
    radii = radii * float(area @ level / max(float(area.sum()), 1e-30))
    level = np.linalg.norm((points - centre) @ axes / radii, axis=1)
    close = np.abs(level - 1.0) < CLOSE
    return BoneEllipsoid(name, joint, centre, axes, radii, float(area[close].sum() / max(area.sum(), 1e-30)))
