"""Left and right: the sagittal plane, which surface mirrors which, and what one side lacks.

Nothing here reads a name or counts on vertex order. The plane is found from the bones: of the three axes the
one whose mirror image lies best on the bones themselves, then refined, each point of the image pairing with
the nearest bone. Two surfaces mirror each other if the image of each lies on the other; one that mirrors
itself crosses the plane.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree

from ecorche.muscles.anatomy.folder import AnatomyMesh

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

SAME = 0.02
"""Mean distance of a surface from another's mirror image at which they are a pair, share of its extent."""
SAMPLES = 6_000
"""Points of the bones that the plane is found from."""
ROUNDS = 8
"""Of refining it."""
LATERAL = 0.01
"""A joint further from the plane than this share of the extent is beside it."""


@dataclass(frozen=True, eq=False)
class SagittalPlane:
    """The plane between left and right.

    Attributes:
        normal: Unit, shape (3,).
        offset: ``normal · point`` of its points [m].
        misfit: Mean distance of the mirror image from what it shall lie on [m].
    """

    normal: Floats
    offset: float
    misfit: float

    def side(self, points: Floats) -> Floats:
        """Signed distance of points [m] (..., 3) from the plane, shape (...,)."""
        return np.asarray(points @ self.normal - self.offset)

    def mirrored(self, points: Floats) -> Floats:
        """The image of points [m] (..., 3)."""
        return np.asarray(points - 2.0 * self.side(points)[..., None] * self.normal)


def sagittal_plane(meshes: Sequence[AnatomyMesh]) -> SagittalPlane:
    """The plane across which surfaces, together, mirror best; their own axes are a body's first guess."""
    points = np.concatenate([mesh.points for mesh in meshes])
    tree = cKDTree(points)
    points = points[:: max(1, len(points) // SAMPLES)]
    middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
    tried = [_refined(points, tree, axis, float(axis @ middle)) for axis in np.eye(3)]
    return min(tried, key=lambda plane: plane.misfit)


def _refined(points: Floats, tree: cKDTree, normal: Floats, offset: float) -> SagittalPlane:
    """Bring a plane to where each point's image meets its nearest: half of them, the better, decide."""
    for _ in range(ROUNDS):
        image = points - 2.0 * (points @ normal - offset)[:, None] * normal
        far, partner = (np.asarray(found) for found in tree.query(image))
        good = far <= np.median(far)
        here, there = points[good], tree.data[partner[good]]
        apart, between = here - there, 0.5 * (here + there)
        wide = np.abs(apart @ normal) > 0.1 * np.abs(apart @ normal).max()
        turned = np.linalg.eigh(apart[wide].T @ apart[wide])[1][:, -1] if wide.sum() > 10 else normal
        if abs(turned @ normal) > 0.9:
            normal = turned * np.sign(turned @ normal)
        offset = float(np.median(between @ normal))
    image = points - 2.0 * (points @ normal - offset)[:, None] * normal
    return SagittalPlane(normal, offset, float(np.mean(tree.query(image)[0])))


def limb_joints(
    heads: Floats, parents: npt.NDArray[np.int32], plane: SagittalPlane, extent: float
) -> list[int]:
    """Joints that limbs begin with: beside the plane, with a parent in it. Heads [m], shape (joints, 3)."""
    beside = np.abs(plane.side(heads)) > LATERAL * extent
    return [j for j, parent in enumerate(parents) if beside[j] and parent >= 0 and not beside[parent]]


@dataclass(frozen=True, eq=False)
class MirrorPairs:
    """Which of some surfaces mirror each other.

    Attributes:
        partner: The number of each one's image, its own if it mirrors itself, −1 if there is none, (n,).
        misfit: Mean distance of image and partner [m], shape (n,); infinite without one.
    """

    partner: Ints
    misfit: Floats


def mirror_pairs(meshes: Sequence[AnatomyMesh], plane: SagittalPlane) -> MirrorPairs:
    """The pairs among surfaces: each other's best match, within `SAME` of their extent."""
    centres = np.array([mesh.centre for mesh in meshes])
    extents = np.array([float(np.linalg.norm(np.ptp(mesh.points, axis=0))) for mesh in meshes])
    images = plane.mirrored(centres)
    misfits = np.full((len(meshes), len(meshes)), np.inf)
    for one, mesh in enumerate(meshes):
        near = np.linalg.norm(centres - images[one], axis=1) < 0.15 * np.maximum(extents, extents[one])
        alike = (extents < 1.3 * extents[one]) & (extents > extents[one] / 1.3)
        image = plane.mirrored(mesh.points)
        for other in np.flatnonzero(near & alike):
            misfits[one, other] = meshes[int(other)].surface.closest(image).distances.mean()
    both = np.maximum(misfits, misfits.T)
    best = both.argmin(axis=1)
    rows = np.arange(len(meshes))
    paired = (both[rows, best] < SAME * extents) & (best[best] == rows)
    return MirrorPairs(np.where(paired, best, -1), np.where(paired, both[rows, best], np.inf))


def mirrored_mesh(mesh: AnatomyMesh, plane: SagittalPlane, name: str) -> AnatomyMesh:
    """The mirror image of a surface, facing outwards as it did."""
    return AnatomyMesh(name, plane.mirrored(mesh.points), np.ascontiguousarray(mesh.triangles[:, ::-1]))
