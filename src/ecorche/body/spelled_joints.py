"""Joints by name and vectors by numbers, as a rig file spells them; unknown joints are refused."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ecorche.base.names import suggestion
from ecorche.base.rotations import matrix_from_xyzw, xyzw_from_matrix
from ecorche.document.fields import Vector
from ecorche.document.files import Rig
from ecorche.document.text import spelled
from ecorche.errors import DocumentError
from ecorche.skeleton.skeleton import Skeleton


def joint_number(rig: Rig, name: str, known: Sequence[str], place: Sequence[str | int]) -> int:
    """The number of a joint; an unknown one is refused with the field that names it."""
    try:
        return known.index(name)
    except ValueError:
        raise DocumentError(
            f"there is no joint {name!r}", where=spot(rig, place), remedy=suggestion(name, known)
        ) from None


def spot(rig: Rig, place: Sequence[str | int]) -> str:
    """A field of a rig, for messages."""
    return f"{rig.source}, {spelled(place)}" if rig.source else spelled(place)


def numbers(vector: npt.NDArray[np.float64]) -> Vector:
    """A vector (3,) as plain numbers."""
    x, y, z = vector.tolist()
    return x, y, z


def bind_rotation(skeleton: Skeleton, joint: int) -> npt.NDArray[np.float64]:
    """How a joint is turned at bind, without scale, shape (3, 3)."""
    return matrix_from_xyzw(xyzw_from_matrix(skeleton.bind_world[joint, :3, :3]))
