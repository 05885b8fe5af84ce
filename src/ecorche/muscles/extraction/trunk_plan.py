"""Which joints are trunk, neck and head, and where limbs join the trunk: on people by name, else by shape.

By shape, for creatures: limbs are pairs of equal chains on one joint, left and right of a midplane; what
lies between the pairs is the trunk; of the chains that leave it in the midplane the one that is thickest at
its end carries the head, the others are tails. Nothing here looks at which way is up in the world.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from ecorche.skeleton.naming import Naming
from ecorche.skeleton.skeleton import Skeleton

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

LONG_LIMB = 0.2
"""Chains longer than this share of the skeleton's extent can be limbs; ears and fins are shorter."""
EQUAL_LIMBS = 0.15
"""By how much the lengths of a left and a right limb may differ, as a share."""


@dataclass(frozen=True, eq=False)
class LimbRoot:
    """Where a limb joins the trunk.

    Attributes:
        name: Such as ``"left shoulder"``.
        kind: ``"shoulder"`` for the pair next to the head, else ``"hip"``.
        side: 1 on the left, −1 on the right.
        girdle: The joint that ties the limb to the trunk (clavicle, shoulder blade), or the ball itself.
        ball: The shoulder or hip joint.
        next: The elbow or knee.
    """

    name: str
    kind: str
    side: int
    girdle: int
    ball: int
    next: int


@dataclass(frozen=True, eq=False)
class TrunkPlan:
    """The trunk of a character at bind.

    Attributes:
        spine: Joints from the hips' end to the neck's base.
        neck: Joints from the neck's base to the skull's, both included; empty where there is no neck.
        roots: Where limbs join it.
        part: What each joint belongs to, (joints,): 0 trunk, 1 neck, 2 head, 3 tail;
            10 + k the limb of root k, from its ball on; girdles are trunk.
        left, front: Unit vectors to its left and to its belly's side, (3,).
        start, end: Where its axis begins, at the hips, and ends, at the neck's base [m], (3,).
    """

    spine: tuple[int, ...]
    neck: tuple[int, ...]
    roots: tuple[LimbRoot, ...]
    part: Ints
    left: Floats
    front: Floats
    start: Floats
    end: Floats

    @property
    def axis(self) -> Floats:
        """Unit vector from the hips to the neck, (3,)."""
        return _unit(self.end - self.start)

    def limb(self, root: LimbRoot) -> int:
        """What ``part`` says of the limb's joints."""
        return 10 + self.roots.index(root)


def plan_trunk(skeleton: Skeleton, naming: Naming, points: Floats, dominant: Ints) -> TrunkPlan | str:
    """The trunk of a character, or why it is not recognised.

    Args:
        skeleton: Its joints.
        naming: Their names.
        points: Its skin [m], (V, 3).
        dominant: The joint that moves each vertex most, (V,).
    """
    humanoid = any(naming.joint(f"{s}_shoulder") is not None for s in "lr")
    return _named(skeleton, naming) if humanoid else _by_shape(skeleton, naming, points, dominant)


def _named(skeleton: Skeleton, naming: Naming) -> TrunkPlan | str:
    """A humanoid's trunk."""
    heads = skeleton.bind_world[:, :3, 3]
    vertebrae = [j for j, c in enumerate(naming.canonical) if c and c[:2] in ("vl", "vt")]
    necks = [j for j, c in enumerate(naming.canonical) if c and c[:2] == "vc"]
    skull = naming.joint("skullbase")
    roots = []
    for side, letter in ((1, "l"), (-1, "r")):
        for kind, ball, below, girdles in (
            ("shoulder", "shoulder", "elbow", ("sternoclavicular", "acromioclavicular")),
            ("hip", "hip", "knee", ("sacroiliac",)),
        ):
            joint, following = naming.joint(f"{letter}_{ball}"), naming.joint(f"{letter}_{below}")
            if joint is None or following is None:
                continue
            girdle = next(
                (g for g in (naming.joint(f"{letter}_{n}") for n in girdles) if g is not None), joint
            )
            name = f"{'left' if side > 0 else 'right'} {kind}"
            roots.append(LimbRoot(name, kind, side, girdle, joint, following))
    pelvis = naming.joint("humanoid_root")
    if pelvis is None:
        pelvis = naming.joint("sacroiliac")
    hips = [r.ball for r in roots if r.kind == "hip"]
    shoulders = [r.ball for r in roots if r.kind == "shoulder"]
    neck = tuple(j for j in (*necks, skull) if j is not None)
    low = heads[hips].mean(axis=0) if len(hips) == 2 else None
    if low is None:
        lowest = pelvis if pelvis is not None else (vertebrae[0] if vertebrae else None)
        low = heads[lowest] if lowest is not None else None
    if neck:
        high = heads[neck[0]]
    elif len(shoulders) == 2:
        high = heads[shoulders].mean(axis=0)
    else:
        high = None
    if low is None or high is None or np.linalg.norm(high - low) < 1e-6:
        return "the joints of the spine are not known, so there is no axis to cut along"
    left = _across(heads, roots)
    if left is None:
        return "no left and right limb tell where the trunk's middle is"
    return _plan(skeleton, tuple(vertebrae), neck, skull, tuple(roots), left, low, high, ())


def _by_shape(skeleton: Skeleton, naming: Naming, points: Floats, dominant: Ints) -> TrunkPlan | str:
    """A creature's trunk."""
    heads = skeleton.bind_world[:, :3, 3]
    subtrees = _subtrees(skeleton)
    pairs = _limb_pairs(skeleton, naming, subtrees)
    if not pairs:
        return "no pair of equal limbs hangs on one joint, so the trunk is not recognised"
    in_limbs = {j for _, a, b in pairs for j in (*subtrees[a], *subtrees[b])}
    bases = sorted({parent for parent, _, _ in pairs})
    path = set(bases)
    for one, other in combinations(bases, 2):
        path |= set(_path(skeleton, one, other))
    left = _unit(sum((_lateral(heads, subtrees, a, b) for _, a, b in pairs), np.zeros(3)))
    middle = np.mean([0.5 * (heads[a] + heads[b]) for _, a, b in pairs], axis=0)
    chains = _midline_chains(skeleton, subtrees, path, in_limbs, left, middle)
    if not chains:
        return "no neck leaves the trunk between its limbs"
    thick = [_thickness_at_end(heads, chain, points, dominant, subtrees) for chain in chains]
    neck_chain = chains[int(np.argmax(thick))]
    if max(thick) <= 0.0:
        return "no chain of joints between the limbs carries a head's skin"
    skull = _skull(skeleton, neck_chain, points, dominant)
    neck = neck_chain[: neck_chain.index(skull) + 1]
    by_nearness = sorted(pairs, key=lambda p: float(np.linalg.norm(_base(heads, p) - heads[neck[0]])))
    high = heads[neck[0]]
    far = by_nearness[-1]
    low = _ball_middle(skeleton, heads, subtrees, far) if len(pairs) > 1 else heads[min(path)]
    if np.linalg.norm(high - low) < 1e-6:
        return "the trunk has no length"
    axis = _unit(high - low)
    outside = [(heads[chain[-1]] - low) @ axis / np.linalg.norm(high - low) for chain in chains]
    tails = tuple(  # a chain within the trunk, such as ribs, is a part of it
        chain[0]
        for chain, along in zip(chains, outside, strict=True)
        if chain is not neck_chain and not 0.0 < along < 1.0
    )
    ends = np.mean([heads[subtrees[c][-1]] for p in pairs for c in p[1:]], axis=0)
    belly = ends - 0.5 * (low + high)
    belly = belly - (belly @ axis) * axis - (belly @ left) * left
    if np.linalg.norm(belly) > 1e-6 and np.cross(left, axis) @ belly < 0.0:
        left = -left
    roots = []
    for rank, (_, a, b) in enumerate(by_nearness):
        kind = "shoulder" if rank == 0 else "hip"
        for girdle in (a, b):
            ball, following = _ball(skeleton, heads, subtrees, girdle)
            side = 1 if (heads[ball] - middle) @ left > 0.0 else -1
            which = f" {rank}" if rank > 1 else ""
            roots.append(
                LimbRoot(
                    f"{'left' if side > 0 else 'right'} {kind}{which}", kind, side, girdle, ball, following
                )
            )
    roots.sort(key=lambda r: (r.kind != "shoulder", r.name))
    spine = tuple(_path(skeleton, far[0], by_nearness[0][0]))
    return _plan(skeleton, spine, tuple(neck), skull, tuple(roots), left, low, high, tails)


def _plan(
    skeleton: Skeleton,
    spine: tuple[int, ...],
    neck: tuple[int, ...],
    skull: int | None,
    roots: tuple[LimbRoot, ...],
    left: Floats,
    low: Floats,
    high: Floats,
    tails: tuple[int, ...],
) -> TrunkPlan:
    axis = _unit(high - low)
    left = _unit(left - (left @ axis) * axis)
    start = {skull: 2} if skull is not None else {}
    start |= {j: 1 for j in neck if j != skull}
    start |= {root.girdle: 0 for root in roots}
    start |= {root.ball: 10 + k for k, root in enumerate(roots)}
    start |= dict.fromkeys(tails, 3)
    part = np.zeros(skeleton.joint_count, np.int64)
    for joint, parent in enumerate(skeleton.parents):
        part[joint] = start.get(joint, part[parent] if parent >= 0 else 0)
    return TrunkPlan(spine, neck, roots, part, left, np.cross(left, axis), low, high)


def _across(heads: Floats, roots: Sequence[LimbRoot]) -> Floats | None:
    """From the right limbs to the left ones."""
    ways = []
    for kind in ("shoulder", "hip"):
        of_kind = {r.side: heads[r.ball] for r in roots if r.kind == kind}
        if len(of_kind) == 2:
            ways.append(of_kind[1] - of_kind[-1])
    whole = sum(ways, np.zeros(3))
    return _unit(whole) if np.linalg.norm(whole) > 1e-6 else None


def _limb_pairs(
    skeleton: Skeleton, naming: Naming, subtrees: Sequence[Sequence[int]]
) -> list[tuple[int, int, int]]:
    """Pairs (joint they hang on, one, other) of equal long chains."""
    heads = skeleton.bind_world[:, :3, 3]
    extent = float(np.linalg.norm(np.ptp(heads, axis=0)))
    pairs = []
    for parent, children in enumerate(skeleton.children):
        limbs = [c for c in children if naming.roles[c] not in ("helper", "leaf")]
        lengths = {c: _reach(skeleton, heads, subtrees[c], c) for c in limbs}
        for one, other in combinations(limbs, 2):
            long = max(lengths[one], lengths[other])
            if long < LONG_LIMB * extent or abs(lengths[one] - lengths[other]) > EQUAL_LIMBS * long:
                continue
            apart = _lateral(heads, subtrees, one, other)
            if len(subtrees[one]) == len(subtrees[other]) and np.linalg.norm(apart) > 0.02 * extent:
                pairs.append((parent, one, other))
    return pairs


def _lateral(heads: Floats, subtrees: Sequence[Sequence[int]], one: int, other: int) -> Floats:
    """Between the middles of two limbs [m]."""
    across: Floats = heads[list(subtrees[one])].mean(axis=0) - heads[list(subtrees[other])].mean(axis=0)
    return across


def _base(heads: Floats, pair: tuple[int, int, int]) -> Floats:
    middle: Floats = 0.5 * (heads[pair[1]] + heads[pair[2]])
    return middle


def _ball_middle(
    skeleton: Skeleton, heads: Floats, subtrees: Sequence[Sequence[int]], pair: tuple[int, int, int]
) -> Floats:
    balls = [_ball(skeleton, heads, subtrees, girdle)[0] for girdle in pair[1:]]
    middle: Floats = heads[balls].mean(axis=0)
    return middle


def _ball(
    skeleton: Skeleton, heads: Floats, subtrees: Sequence[Sequence[int]], girdle: int
) -> tuple[int, int]:
    """The shoulder or hip joint of a limb, and the one after it.

    A limb of at least four bones begins with a shoulder blade or a half of the pelvis, one of fewer at the
    ball itself.
    """
    chain = [girdle]
    while below := skeleton.children[chain[-1]]:
        chain.append(max(below, key=lambda c: (_reach(skeleton, heads, subtrees[c], c), -c)))
    apart = [chain[0]]
    for joint in chain[1:]:
        if np.linalg.norm(heads[joint] - heads[apart[-1]]) > 0.02 * _reach(
            skeleton, heads, subtrees[girdle], girdle
        ):
            apart.append(joint)
    first = 1 if len(apart) > 4 else 0
    return apart[first], apart[min(first + 1, len(apart) - 1)]


def _reach(skeleton: Skeleton, heads: Floats, subtree: Sequence[int], root: int) -> float:
    """The longest way along the tree below a joint [m]."""
    far = {root: 0.0}
    for joint in subtree[1:]:
        parent = int(skeleton.parents[joint])
        far[joint] = far[parent] + float(np.linalg.norm(heads[joint] - heads[parent]))
    return max(far.values())


def _midline_chains(
    skeleton: Skeleton,
    subtrees: Sequence[Sequence[int]],
    trunk: set[int],
    in_limbs: set[int],
    left: Floats,
    middle: Floats,
) -> list[tuple[int, ...]]:
    """Chains that leave the trunk in its midplane, each down to its farthest joint."""
    heads = skeleton.bind_world[:, :3, 3]
    extent = float(np.linalg.norm(np.ptp(heads, axis=0)))
    chains = []
    for base in sorted(trunk):
        for child in skeleton.children[base]:
            if child in trunk or child in in_limbs or abs((heads[child] - middle) @ left) > 0.03 * extent:
                continue
            chain = [child]
            while below := skeleton.children[chain[-1]]:
                chain.append(max(below, key=lambda c: (_reach(skeleton, heads, subtrees[c], c), -c)))
            if float(np.linalg.norm(heads[chain[-1]] - heads[base])) > 0.1 * extent:
                chains.append(tuple(chain))
    return chains


def _thickness_at_end(
    heads: Floats, chain: Sequence[int], points: Floats, dominant: Ints, subtrees: Sequence[Sequence[int]]
) -> float:
    """How far the skin of a chain's far third is from its joints, in the middle [m]."""
    ends = list(chain[-max(len(chain) // 3, 1) :])
    below = subtrees[ends[0]]
    own = points[np.isin(dominant, below)]
    if len(own) == 0:
        return 0.0
    gaps = np.linalg.norm(own[:, None] - heads[list(below)], axis=-1).min(axis=1)
    return float(np.median(gaps))


def _skull(skeleton: Skeleton, chain: Sequence[int], points: Floats, dominant: Ints) -> int:
    """The first joint of a neck's chain with branches (ears, jaw); else the one with the largest skin."""
    for joint in chain[1:]:
        if len(skeleton.children[joint]) > 1:
            return joint
    spread = [
        float(np.linalg.norm(np.ptp(own, axis=0))) if len(own := points[dominant == j]) else 0.0
        for j in chain
    ]
    return chain[int(np.argmax(spread))]


def _subtrees(skeleton: Skeleton) -> list[list[int]]:
    """Every joint with all below it."""
    found = [[j] for j in range(skeleton.joint_count)]
    for joint in reversed(range(skeleton.joint_count)):
        if skeleton.parents[joint] >= 0:
            found[int(skeleton.parents[joint])] += found[joint]
    return [sorted(f) for f in found]


def _path(skeleton: Skeleton, start: int, end: int) -> list[int]:
    """The joints from one to another along the tree, both included."""
    up = [start]
    while skeleton.parents[up[-1]] >= 0:
        up.append(int(skeleton.parents[up[-1]]))
    down = [end]
    while down[-1] not in up:
        above = int(skeleton.parents[down[-1]])
        if above < 0:
            return [start, end]
        down.append(above)
    return up[: up.index(down[-1])] + down[::-1]


def _unit(vector: Floats) -> Floats:
    unit: Floats = vector / max(float(np.linalg.norm(vector)), 1e-12)
    return unit
