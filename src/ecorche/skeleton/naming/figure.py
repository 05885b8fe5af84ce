"""A skeleton as points and a tree, with the questions recognition by shape asks of it.

Nothing here looks at names or at the order of joints: where a choice between equals must be made,
positions make it, so that a shuffled skeleton gives the same answer.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ecorche.skeleton.skeleton import Skeleton

Floats = npt.NDArray[np.float64]
UP = np.array([0.0, 1.0, 0.0])


class Figure:
    """Where the joints stand at bind and which hangs on which.

    Attributes:
        points: Joint positions at bind [m], shape (joints, 3).
        parents: The joint above each, -1 at a root.
        children: The joints below each.
        tips: The file's own bone tips at bind [m], shape (joints, 3), NaN where it gives none.
    """

    def __init__(self, skeleton: Skeleton) -> None:
        self.points: Floats = skeleton.bind_world[:, :3, 3]
        self.parents = [int(p) for p in skeleton.parents]
        self.children = skeleton.children
        rotation = skeleton.bind_world[:, :3, :3]
        self.tips: Floats = self.points + np.einsum("jab,jb->ja", rotation, skeleton.tails)

    @cached_property
    def height(self) -> float:
        """From the lowest joint to the highest [m]."""
        return float(np.ptp(self.points[:, 1])) if len(self.points) else 0.0

    @cached_property
    def below(self) -> list[list[int]]:
        """Every joint's subtree, itself included."""
        found: list[list[int]] = [[j] for j in range(len(self.parents))]
        for joint in reversed(range(len(self.parents))):
            if self.parents[joint] >= 0:
                found[self.parents[joint]] += found[joint]
        return found

    def ends(self, joint: int) -> list[int]:
        """The childless joints at and below a joint."""
        return [j for j in self.below[joint] if not self.children[j]]

    def path(self, above: int, joint: int) -> list[int]:
        """The joints from just under ``above`` down to ``joint``; from the root with -1."""
        found = []
        while joint != above and joint >= 0:
            found.append(joint)
            joint = self.parents[joint]
        return found[::-1]

    def common(self, a: int, b: int) -> int:
        """The lowest joint above or at both, -1 when there is none."""
        over_a = {-1, *self.path(-1, a)}
        while b not in over_a:
            b = self.parents[b]
        return b

    def distance(self, a: int, b: int) -> float:
        """Between two joints [m]."""
        return float(np.linalg.norm(self.points[a] - self.points[b]))

    def arc(self, joints: Iterable[int]) -> float:
        """Length along a chain of joints [m]."""
        return float(np.linalg.norm(np.diff(self.points[list(joints)], axis=0), axis=1).sum())

    def lowest(self, joints: Iterable[int]) -> int:
        """The lowest of some joints; of equally low ones the one placed first along z, then x."""
        return min(joints, key=lambda j: (round(float(self.points[j, 1]), 9), *self._place(j)))

    def highest(self, joints: Iterable[int]) -> int:
        """The highest of some joints."""
        return min(joints, key=lambda j: (-round(float(self.points[j, 1]), 9), *self._place(j)))

    def farthest(self, start: int, joints: Iterable[int]) -> int:
        """The joint with the longest way along the tree from ``start``, which is above them all."""
        return min(
            joints,
            key=lambda j: (-round(self.arc([start, *self.path(start, j)]), 9), *self._place(j)),
        )

    def _place(self, joint: int) -> tuple[float, float]:
        return float(self.points[joint, 2]), float(self.points[joint, 0])
