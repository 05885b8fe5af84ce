"""Stand a new character into the old one's shoes: matched joints, and new skin moved onto old bones.

Before a map can move to another mesh by closest points, arm must lie on arm: the two may differ
in height, proportions, pose, and in how their joints are called and turned. Joints are matched
by name, else by what they are in anatomy. Each bone of the new skeleton is then turned and
stretched onto its old counterpart, and the new skin follows by its own weights.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree

from ecorche.base.rotations import normalise
from ecorche.base.transforms import transform_points
from ecorche.body.character import Character, SkinnedMesh
from ecorche.document.bind import BindShape
from ecorche.skeleton.naming.recognise import recognise
from ecorche.skeleton.skeleton import Skeleton, local_from_world
from ecorche.skin.weights import SkinWeights

Floats = npt.NDArray[np.float64]

SHORTEST_BONE = 1e-4
"""Joints nearer to each other than this [m] say nothing about a direction."""
PULL_OF_PARENT = 1e-3
"""How much a bone that leaves its twist open follows the bone above it."""

SAMPLES = 2000
"""About how many vertices decide which way of aligning is best."""


@dataclass(frozen=True)
class JointMatch:
    """Which old joint is which new one.

    Attributes:
        pairs: Old joint name to new joint name.
        missing: Old joints without a new one.
        added: New joints without an old one.
        canonical: New joint name to H-Anim name, where it was recognised.
        by_hand: Old joints whose H-Anim name a person gave, where recognition says otherwise.
    """

    pairs: Mapping[str, str]
    missing: tuple[str, ...]
    added: tuple[str, ...]
    canonical: Mapping[str, str]
    by_hand: frozenset[str]

    @property
    def renamed(self) -> dict[str, str]:
        """The pairs whose names differ."""
        return {old: new for old, new in self.pairs.items() if old != new}


def match_joints(old: BindShape, mapping: Mapping[str, str], new: Skeleton) -> JointMatch:
    """Match joints by name, else by their H-Anim name.

    Args:
        old: The shape the rig was made for.
        mapping: The rig's own mapping of old joint names to H-Anim names.
        new: The new skeleton.
    """
    old_skeleton = skeleton_of(old)
    kept = {joint: name for joint, name in mapping.items() if joint in new.names}
    old_names = recognise(old_skeleton, {j: n for j, n in mapping.items() if j in old.joint_names}).canonical
    new_names = recognise(new, kept).canonical
    by_itself = dict(zip(old.joint_names, recognise(old_skeleton).canonical, strict=True))
    pairs = {name: name for name in old.joint_names if name in new.names}
    by_canonical = {c: n for n, c in zip(new.names, new_names, strict=True) if c is not None}
    for name, canonical in zip(old.joint_names, old_names, strict=True):
        target = by_canonical.get(canonical) if canonical is not None else None
        if name not in pairs and target is not None and target not in pairs.values():
            pairs[name] = target
    taken = set(pairs.values())
    return JointMatch(
        pairs={name: pairs[name] for name in old.joint_names if name in pairs},
        missing=tuple(n for n in old.joint_names if n not in pairs),
        added=tuple(n for n in new.names if n not in taken),
        canonical={n: c for n, c in zip(new.names, new_names, strict=True) if c is not None},
        by_hand=frozenset(j for j, name in mapping.items() if by_itself.get(j) != name),
    )


def skeleton_of(shape: BindShape) -> Skeleton:
    """The joints of a kept shape as a skeleton that rests at bind."""
    local = local_from_world(shape.joint_parents, shape.joint_world)
    tails = np.full((len(shape.joint_names), 3), np.nan)
    return Skeleton(shape.joint_names, shape.joint_parents, local, local, tails)


@dataclass(frozen=True, eq=False)
class Alignment:
    """Ways from the new character to the old one.

    Attributes:
        joints: One affine map ``old_from_new`` a new joint, (joints, 4, 4); None where too few
            joints match.
        whole: One map for the whole character, (4, 4).
    """

    joints: Floats | None
    whole: Floats

    def place(self, mesh: SkinnedMesh, old_points: npt.NDArray[np.float32]) -> Floats:
        """The bind points [m] (vertices, 3) of a new mesh, where the old mesh is.

        Joints of one name may sit at different heights in two rigs on one body (spines above
        all). So the mesh is tried bone by bone, as a whole, and where it stands, and the way
        that comes nearest to the old mesh's points [m] (old vertices, 3) is taken.
        """
        ways = [np.asarray(mesh.mesh.points, np.float64), transform_points(self.whole, mesh.mesh.points)]
        if self.joints is not None and mesh.weights is not None:
            maps = self.joints if mesh.own_bind is None else self.joints @ mesh.own_bind
            ways.append(_moved_by_joints(mesh.mesh.points, mesh.weights, maps))
        tree = cKDTree(old_points)
        every = max(1, len(mesh.mesh.points) // SAMPLES)
        return min(ways, key=lambda points: float(np.mean(tree.query(points[::every])[0])))


def _moved_by_joints(bind_points: npt.NDArray[np.float32], skin: SkinWeights, maps: Floats) -> Floats:
    """Points (vertices, 3) moved by one map a joint (joints, 4, 4), blended by their weights."""
    points = bind_points.astype(np.float64)
    joints, weights = skin.padded()
    moved = np.zeros_like(points)
    for slot in range(joints.shape[1]):
        own = maps[joints[:, slot]]
        moved += weights[:, slot, None] * (np.einsum("vij,vj->vi", own[:, :3, :3], points) + own[:, :3, 3])
    moved /= weights.sum(axis=1, dtype=np.float64)[:, None]
    return moved


def align(old: BindShape, new: Character, match: JointMatch) -> Alignment:
    """How each part of the new character gets to where that part of the old one is."""
    skeleton = new.skeleton
    old_index = {name: number for number, name in enumerate(old.joint_names)}
    partner = np.full(skeleton.joint_count, -1)
    for old_name, new_name in match.pairs.items():
        partner[skeleton.index(new_name)] = old_index[old_name]
    matched = partner >= 0
    new_heads = skeleton.bind_world[:, :3, 3]
    old_heads = np.where(matched[:, None], old.joint_world[partner, :3, 3], np.nan)
    below = _nearest_matched_below(skeleton, matched)
    size = _size(old_heads, new_heads, below, matched)
    if matched.sum() < 3 or size is None:
        return Alignment(None, _boxes_aligned(old, new))

    turn = _rotation(_centred(old_heads[matched]), _centred(new_heads[matched]), np.eye(3), pull=1e-9)
    whole = _affine(size * turn, new_heads[matched].mean(axis=0), old_heads[matched].mean(axis=0))
    maps = np.empty((skeleton.joint_count, 4, 4))
    turns = np.empty((skeleton.joint_count, 3, 3))
    for joint, parent in enumerate(skeleton.parents):
        above = turn if parent < 0 else turns[parent]
        if not matched[joint]:
            turns[joint] = above
            maps[joint] = whole if parent < 0 else maps[parent]
            continue
        bones = new_heads[below[joint]] - new_heads[joint]
        targets = old_heads[below[joint]] - old_heads[joint]
        turns[joint] = _rotation(targets, bones, above)
        linear = turns[joint] @ _stretch(targets, bones, size)
        maps[joint] = _affine(linear, new_heads[joint], old_heads[joint])
    return Alignment(maps, whole)


def _nearest_matched_below(skeleton: Skeleton, matched: npt.NDArray[np.bool_]) -> list[list[int]]:
    """For each joint the matched joints below it with no other matched joint between."""
    below: list[list[int]] = [[] for _ in skeleton.names]
    for joint in range(skeleton.joint_count - 1, -1, -1):
        parent = int(skeleton.parents[joint])
        if parent >= 0:
            below[parent] += [joint] if matched[joint] else below[joint]
    return below


def _size(
    old_heads: Floats, new_heads: Floats, below: list[list[int]], matched: npt.NDArray[np.bool_]
) -> float | None:
    """How much larger the old character is: the median over its bones, whatever their pose."""
    ratios = []
    for joint in np.flatnonzero(matched):
        for child in below[joint]:
            length = float(np.linalg.norm(new_heads[child] - new_heads[joint]))
            if length > SHORTEST_BONE:
                ratios.append(float(np.linalg.norm(old_heads[child] - old_heads[joint])) / length)
    return float(np.median(ratios)) if ratios and np.median(ratios) > 0.0 else None


def _rotation(targets: Floats, bones: Floats, prior: Floats, *, pull: float = PULL_OF_PARENT) -> Floats:
    """The rotation that best takes bones to targets, (n, 3) each; ``prior`` decides what they leave open."""
    long = (np.linalg.norm(bones, axis=1) > SHORTEST_BONE) & (np.linalg.norm(targets, axis=1) > SHORTEST_BONE)
    agreement = normalise(targets[long]).T @ normalise(bones[long]) + pull * prior
    u, _, vt = np.linalg.svd(agreement)
    turn: Floats = u @ np.diag([1.0, 1.0, np.linalg.det(u @ vt)]) @ vt
    return turn


def _stretch(targets: Floats, bones: Floats, size: float) -> Floats:
    """The whole body's size across, and along a single bone as much as that bone needs."""
    if len(bones) != 1 or np.linalg.norm(bones[0]) <= SHORTEST_BONE:
        return size * np.eye(3)
    along = normalise(bones[0])
    ratio = float(np.linalg.norm(targets[0]) / np.linalg.norm(bones[0]))
    return size * np.eye(3) + (ratio - size) * np.outer(along, along)


def _affine(linear: Floats, source: Floats, target: Floats) -> Floats:
    """The map with that linear part that takes the point ``source`` to ``target``."""
    matrix = np.eye(4)
    matrix[:3, :3] = linear
    matrix[:3, 3] = target - linear @ source
    return matrix


def _centred(points: Floats) -> Floats:
    centred: Floats = points - points.mean(axis=0)
    return centred


def _boxes_aligned(old: BindShape, new: Character) -> Floats:
    """For skeletons that share no joints: equal heights, standing on the same spot."""
    old_points = np.concatenate([m.points for m in old.meshes]).astype(np.float64)
    new_points = np.concatenate([m.mesh.points for m in new.meshes]).astype(np.float64)
    height = float(np.ptp(old_points[:, 1])) / max(float(np.ptp(new_points[:, 1])), 1e-9)
    return _affine(height * np.eye(3), _standing_spot(new_points), _standing_spot(old_points))


def _standing_spot(points: Floats) -> Floats:
    """The middle of the floor of the points' bounding box."""
    low, high = points.min(axis=0), points.max(axis=0)
    return np.array([(low[0] + high[0]) / 2.0, low[1], (low[2] + high[2]) / 2.0])
