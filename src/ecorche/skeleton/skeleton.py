"""The joint tree of a character: names, parents, and its bind and rest poses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ecorche.base import transforms
from ecorche.base.checks import require_finite
from ecorche.base.names import suggestion
from ecorche.errors import SkeletonError

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Skeleton:
    """Joints in an order where parents come before children; metres, +Y up.

    Bind is the pose in which the skin was attached; rest is the pose the file's nodes stand in,
    which may be another. All matrices act on column vectors.

    Attributes:
        names: Joint names as the file spells them, unique.
        parents: Parent number of each joint, -1 at a root, shape (joints,).
        bind_local: ``parent_from_joint`` in the bind pose, shape (joints, 4, 4).
        rest_local: ``parent_from_joint`` in the rest pose, shape (joints, 4, 4).
        tails: Tip of each bone in its joint's own frame [m], shape (joints, 3); NaN where the
            file does not say.
    """

    names: tuple[str, ...]
    parents: npt.NDArray[np.int32]
    bind_local: Floats
    rest_local: Floats
    tails: Floats

    def __post_init__(self) -> None:
        count = len(self.names)
        if len(set(self.names)) != count:
            seen: set[str] = set()
            twice = next(n for n in self.names if n in seen or seen.add(n))  # type: ignore[func-returns-value]
            raise SkeletonError(f"two joints are named {twice!r}", remedy="Rename one of them")
        for field in ("bind_local", "rest_local"):
            matrices = getattr(self, field)
            if matrices.shape != (count, 4, 4):
                raise SkeletonError(f"{field} has shape {matrices.shape} for {count} joints")
            require_finite(matrices, f"{field} of joint", "skeleton", SkeletonError)
            flat = np.abs(np.linalg.det(matrices[:, :3, :3])) < 1e-18
            if flat.any():
                raise SkeletonError(
                    f"joint {self.names[int(np.argmax(flat))]!r} has zero scale",
                    remedy="Give it a scale other than zero and export again",
                )
        late = self.parents >= np.arange(count)
        if late.any():
            raise SkeletonError(
                f"joint {self.names[int(np.argmax(late))]!r} stands before its parent",
                remedy="Order the joints parents first, see parents_first",
            )

    def __repr__(self) -> str:
        return f"Skeleton({self.joint_count} joints: {', '.join(self.names[:4])}, …)"

    @property
    def joint_count(self) -> int:
        """How many joints the skeleton has."""
        return len(self.names)

    @cached_property
    def bind_world(self) -> Floats:
        """``world_from_joint`` in the bind pose, shape (joints, 4, 4)."""
        return world_from_local(self.parents, self.bind_local)

    @cached_property
    def rest_world(self) -> Floats:
        """``world_from_joint`` in the rest pose, shape (joints, 4, 4)."""
        return world_from_local(self.parents, self.rest_local)

    @cached_property
    def bind_inverse(self) -> Floats:
        """``joint_from_world`` in the bind pose, shape (joints, 4, 4)."""
        return transforms.inverse(self.bind_world)

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """The joints below each joint."""
        found: list[list[int]] = [[] for _ in self.names]
        for joint, parent in enumerate(self.parents):
            if parent >= 0:
                found[parent].append(joint)
        return tuple(tuple(c) for c in found)

    def index(self, name: str) -> int:
        """The number of the joint of that name."""
        try:
            return self.names.index(name)
        except ValueError:
            raise SkeletonError(f"there is no joint {name!r}", remedy=suggestion(name, self.names)) from None

    def tail_positions(self) -> Floats:
        """Bone tips at bind [m], shape (joints, 3): the file's, else the mean of the child joints,
        else the joint continued along its own bone by half its parent's length."""
        heads = self.bind_world[:, :3, 3]
        tips = transforms.transform_points(self.bind_world, self.tails[:, None, :])[:, 0]
        for joint in range(self.joint_count):
            if np.isfinite(tips[joint]).all():
                continue
            below = [c for c in self.children[joint] if np.linalg.norm(heads[c] - heads[joint]) > 1e-9]
            parent = self.parents[joint]
            if below:
                tips[joint] = heads[below].mean(axis=0)
            elif parent >= 0:
                tips[joint] = heads[joint] + 0.5 * (heads[joint] - heads[parent])
            else:
                tips[joint] = heads[joint]
        return tips


def world_from_local(parents: npt.NDArray[np.int32], local: Floats) -> Floats:
    """``world_from_joint`` (..., joints, 4, 4) of local matrices (..., joints, 4, 4)."""
    world = np.array(local, np.float64)
    for joint, parent in enumerate(parents):
        if parent >= 0:
            world[..., joint, :, :] = world[..., parent, :, :] @ local[..., joint, :, :]
    return world


def local_from_world(parents: npt.NDArray[np.int32], world: Floats) -> Floats:
    """``parent_from_joint`` (..., joints, 4, 4) of world matrices (..., joints, 4, 4)."""
    local = np.array(world, np.float64)
    has_parent = parents >= 0
    above = world[..., parents[has_parent], :, :]
    local[..., has_parent, :, :] = transforms.inverse(above) @ world[..., has_parent, :, :]
    return local


def parents_first(parents: Sequence[int], names: Sequence[str]) -> list[int]:
    """An order of the joints in which parents come first; joints keep their order otherwise.

    A cycle is refused with the names along it.
    """
    order: list[int] = []
    placed = [False] * len(parents)
    for start in range(len(parents)):
        chain: list[int] = []
        joint = start
        while joint >= 0 and not placed[joint]:
            if joint in chain:
                loop = " → ".join(names[j] for j in [*chain[chain.index(joint) :], joint])
                raise SkeletonError(
                    f"the joint tree has a cycle: {loop}", remedy="Give one of them another parent"
                )
            chain.append(joint)
            joint = parents[joint]
        for joint in reversed(chain):
            placed[joint] = True
            order.append(joint)
    return order
