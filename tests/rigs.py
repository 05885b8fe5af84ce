"""Small skeletons for tests: from an indented list of names, and real ones without their names."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ecorche.skeleton.skeleton import Skeleton, local_from_world, parents_first

Floats = npt.NDArray[np.float64]


def skeleton_at(names: list[str], parents: list[int], points: npt.ArrayLike) -> Skeleton:
    """A skeleton of joints that stand at given points [m], unturned, in any order."""
    order = parents_first(parents, names)
    place = {old: new for new, old in enumerate(order)}
    above = np.array([place[parents[o]] if parents[o] >= 0 else -1 for o in order], np.int32)
    world = np.tile(np.eye(4), (len(order), 1, 1))
    world[:, :3, 3] = np.asarray(points, np.float64)[order]
    local = local_from_world(above, world)
    return Skeleton(
        tuple(names[o] for o in order), above, local, local.copy(), np.full((len(order), 3), np.nan)
    )


def skeleton_of(listing: str) -> Skeleton:
    """A skeleton of an indented list of names, two spaces a level; positions mean nothing."""
    names: list[str] = []
    parents: list[int] = []
    open_joints: list[int] = []
    for line in listing.strip("\n").splitlines():
        depth = (len(line) - len(line.lstrip())) // 2
        del open_joints[depth:]
        parents.append(open_joints[-1] if open_joints else -1)
        open_joints.append(len(names))
        names.append(line.strip())
    points = [(0.1 * i, 0.37 * ((i * 7) % 11), 0.2 * ((i * 5) % 13)) for i in range(len(names))]
    return skeleton_at(names, parents, points)


def unnamed(skeleton: Skeleton, seed: int, turn: float = 0.0) -> tuple[Skeleton, list[str]]:
    """The same skeleton with meaningless names, in shuffled order, turned about +Y by radians.

    Also returns the old names in the new order.
    """
    shuffled = np.random.default_rng(seed).permutation(skeleton.joint_count)
    place = np.argsort(shuffled)
    parents = [int(place[skeleton.parents[o]]) if skeleton.parents[o] >= 0 else -1 for o in shuffled]
    old = [skeleton.names[o] for o in shuffled]
    order = parents_first(parents, old)
    back = {o: i for i, o in enumerate(order)}
    spin = np.eye(4)
    spin[0, 0] = spin[2, 2] = np.cos(turn)
    spin[0, 2], spin[2, 0] = np.sin(turn), -np.sin(turn)
    keep = shuffled[order]
    above = np.array([back[parents[o]] if parents[o] >= 0 else -1 for o in order], np.int32)
    local = local_from_world(above, (spin @ skeleton.bind_world)[keep])
    stripped = Skeleton(
        tuple(f"bone_{i:03d}" for i in range(len(order))), above, local, local.copy(), skeleton.tails[keep]
    )
    return stripped, [old[o] for o in order]
