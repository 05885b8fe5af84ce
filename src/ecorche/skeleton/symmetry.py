"""Left and right of a skeleton: which joint mirrors which, and the plane between them, at bind.

Joints are paired by their canonical names, ``l_…`` and ``r_…``; others, as of creatures, by the words for
left and right in their own names. The plane is the one that pairs mirror each other across best.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecorche.base.names import other_side, side_of
from ecorche.errors import SkeletonError
from ecorche.skeleton.naming.recognise import Naming
from ecorche.skeleton.naming.vocabulary import mirrored
from ecorche.skeleton.skeleton import Skeleton

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Symmetry:
    """The two sides of a skeleton.

    Attributes:
        partner: The joint of the other side, a joint's own number in the middle, −1 where there is none,
            shape (joints,).
        normal: Unit, from right to left, shape (3,).
        offset: ``normal · point`` of the plane's points [m].
        misfit: How far each joint's image misses its partner at bind [m], shape (joints,); 0 without one.
    """

    partner: npt.NDArray[np.int64]
    normal: Floats
    offset: float
    misfit: Floats

    def side(self, points: npt.ArrayLike) -> Floats:
        """Signed distance of points [m] (..., 3) from the plane, positive on the left, shape (...,)."""
        return np.asarray(np.asarray(points, np.float64) @ self.normal - self.offset)

    def image(self, points: npt.ArrayLike) -> Floats:
        """The mirror image of points [m] (..., 3)."""
        here = np.asarray(points, np.float64)
        return np.asarray(here - 2.0 * self.side(here)[..., None] * self.normal)

    def image_of_direction(self, vectors: npt.ArrayLike) -> Floats:
        """The mirror image of directions (..., 3)."""
        given = np.asarray(vectors, np.float64)
        return np.asarray(given - 2.0 * (given @ self.normal)[..., None] * self.normal)

    def image_of_axis(self, axes: npt.ArrayLike) -> Floats:
        """The mirror image of axes that things turn about, right-handed before and after, (..., 3)."""
        return -self.image_of_direction(axes)


def symmetry_of(skeleton: Skeleton, naming: Naming) -> Symmetry:
    """The two sides of a skeleton; one without any pair of joints is refused."""
    partner = np.arange(skeleton.joint_count)
    known = {name: j for j, name in enumerate(naming.canonical) if name is not None}
    plain = {name: j for j, name in enumerate(skeleton.names)}
    for joint, name in enumerate(skeleton.names):
        canonical = naming.canonical[joint]
        if canonical is not None:
            partner[joint] = known.get(mirrored(canonical), -1)
        elif (other := other_side(name)) is not None:
            partner[joint] = plain.get(other, -1)
    # a pair is mutual; canonical names of one joint may be missing on the other side
    for joint in range(skeleton.joint_count):
        if partner[joint] >= 0 and partner[partner[joint]] != joint:
            partner[joint] = -1
    heads = skeleton.bind_world[:, :3, 3]
    paired = np.flatnonzero((partner >= 0) & (partner != np.arange(len(partner))))
    apart = heads[paired] - heads[partner[paired]]
    if not len(paired) or not (np.linalg.norm(apart, axis=1) > 1e-6).any():
        raise SkeletonError(
            "no joint has a partner on the other side, so there is no plane to mirror across",
            remedy="Name its joints (a mapping to canonical names), or give them names with left and right",
        )
    normal = _normal(apart, [_is_left(skeleton, naming, int(j)) for j in paired])
    offset = float(np.median(0.5 * (heads[paired] + heads[partner[paired]]) @ normal))
    symmetry = Symmetry(partner, normal, offset, np.zeros(len(partner)))
    far = np.linalg.norm(symmetry.image(heads) - heads[partner], axis=1)
    return Symmetry(partner, normal, offset, np.where(partner >= 0, far, 0.0))


def _normal(apart: Floats, left: list[bool]) -> Floats:
    """The direction from right to left that most pairs (P, 3) agree on."""
    towards = np.where(np.array(left)[:, None], apart, -apart)
    total = towards.sum(axis=0)
    if not np.linalg.norm(total) > 1e-6:
        total = towards[np.argmax(np.linalg.norm(towards, axis=1))]
    normal = np.asarray(total / np.linalg.norm(total))
    axis = int(np.abs(normal).argmax())
    if abs(normal[axis]) > 0.999:  # a body modelled along the axes, but for a hand's breadth of bind pose
        exact = np.zeros(3)
        exact[axis] = np.sign(normal[axis])
        return exact
    return normal


def _is_left(skeleton: Skeleton, naming: Naming, joint: int) -> bool:
    canonical = naming.canonical[joint]
    if canonical is not None:
        return canonical.startswith("l_")
    return side_of(skeleton.names[joint]) == "left"
