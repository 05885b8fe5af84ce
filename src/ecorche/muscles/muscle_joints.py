"""Muscles as joints: what any engine that skins a mesh can play, without knowing of muscles.

Text 001, "Skin Deformation": a muscle is some joints along its root curve, which turn with it and dilate as
it does. Here they are leaves of the joint tree: nothing hangs below a dilated joint, so nothing is sheared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class MuscleJoints:
    """The K muscle joints of one character at bind.

    Attributes:
        names: One each, such as ``"biceps, left, 2"``; unique, also among the skeleton's joints.
        muscles: The muscle each belongs to, shape (K,).
        parents: The joint of the skeleton each hangs on, shape (K,).
        bind_world: ``world_from_joint`` at bind, rigid, shape (K, 4, 4): x runs along the muscle, y outwards,
            z to the side.
    """

    names: tuple[str, ...]
    muscles: npt.NDArray[np.int64]
    parents: npt.NDArray[np.int64]
    bind_world: Floats

    def __repr__(self) -> str:
        return f"MuscleJoints({len(self.names)} joints of {len(np.unique(self.muscles))} muscles)"


class JointedMuscles(Protocol):
    """Muscles that can be played as joints."""

    @property
    def joints(self) -> MuscleJoints:
        """The muscle joints at bind."""
        ...

    def difference(self, skeleton_difference: Floats, bulge: Floats) -> Floats:
        """``M − I`` of the muscle joints, (K, 4, 4): exactly zero at bind and bulge 1.

        ``M`` is ``bind_world`` undone, dilated along y and z (never along x), turned and moved: a posed
        ``world_from_joint`` is ``(I + difference) @ bind_world`` and its columns are perpendicular.

        Args:
            skeleton_difference: ``M − I`` of the character's joints, (joints, 4, 4).
            bulge: T of each muscle, (muscles,).
        """
        ...


class JoinedMuscles:
    """Muscles of several kinds as joints of one character, one kind after the other.

    Args:
        parts: The muscles of each kind, and how many there are.
    """

    def __init__(self, parts: Sequence[tuple[JointedMuscles, int]]) -> None:
        self._parts = tuple(parts)
        firsts = np.cumsum([0, *(count for _, count in parts)])
        joints = [part.joints for part, _ in parts]
        self.joints = MuscleJoints(
            tuple(name for one in joints for name in one.names),
            np.concatenate([one.muscles + first for one, first in zip(joints, firsts, strict=False)]),
            np.concatenate([one.parents for one in joints]),
            np.concatenate([one.bind_world for one in joints]),
        )

    def difference(self, skeleton_difference: Floats, bulge: Floats) -> Floats:
        """``M − I`` of the muscle joints, (K, 4, 4): see `JointedMuscles`."""
        found, first = [], 0
        for part, count in self._parts:
            found.append(part.difference(skeleton_difference, bulge[first : first + count]))
            first += count
        return np.concatenate(found)
