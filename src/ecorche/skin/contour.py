"""Contour skinning: each vertex turns as part of a cross-section around its limb's axis.

Thesis section 5.5.1, equations (5.5) and (5.6): positions are blended, rotations are blended as
quaternions and renormalised, so that twisting a limb turns its sections without shrinking them.
Swing and twist are weighted apart, because skin slides over a limb's axis more than along it.

Changed here, so that any rig's ordinary skin weights will do:

- The origin of a vertex's section is not a blend of joint positions, which suits only weights made for
  it, but a point on the limb's axis: for every influence the nearest point of that bone, blended with
  the skin weights. It moves by linear blending, under which points on a twist axis stay put.
- Rotations are those relative to bind, turned to the hemisphere of the strongest influence before the
  sum. A joint's stretch is blended linearly and applied within the section, as in `dual_quaternion`.
- Every long bone in a chain gets a second frame: the joint without its own twist about the bone. A
  vertex at the bone's head follows that frame, at its tip the joint itself, in between a share of each:
  its *twist weight* rises along the bone while its *swing weight* is the file's skin weight. Which bones
  count as long is decided by the skeleton alone (`twist_spread`), so meshes that meet stay closed.
- All is a difference from bind: with section origin p and offset o = v − p,

      v' = v + Σ w (M − I) p + (S − I) o + (R − I) S o

  which at bind is v, bit for bit.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit, prange

from ecorche.base.lanes import broadcast, load, multiply_add, where_less
from ecorche.skeleton.skeleton import Skeleton
from ecorche.skin.grouped import GroupedSkinning, blended_stretch, strongest_rotation
from ecorche.skin.layout import Points, read_group, write_group
from ecorche.skin.rigid import cofactors_of, rigid_parts
from ecorche.skin.weights import SkinWeights, weights_from_entries

Floats = npt.NDArray[np.float64]


class ContourSkinning(GroupedSkinning):
    """Contour skinning of one mesh, ready to be applied frame after frame.

    Args:
        points: Bind positions [m], shape (vertices, 3), float32.
        weights: Skin weights of those vertices; they weight positions and swing.
        skeleton: The skeleton at bind: its bones are the axes of the sections.
        spread: How far each joint's own twist is spread along its bone, 0 (it acts as the skin
            weights say) to 1 (from nothing at the bone's head to all of it at the tip), shape
            (joints,); by default `twist_spread`.
    """

    def __init__(
        self, points: Points, weights: SkinWeights, skeleton: Skeleton, spread: Floats | None = None
    ) -> None:
        self._parents = skeleton.parents
        self._heads = skeleton.bind_world[:, :3, 3]
        self._axes, along, centres = _sections(points, weights, skeleton)
        spread = twist_spread(skeleton) if spread is None else np.asarray(spread, np.float64)
        self._twisted = np.flatnonzero((spread > 0.0) & (self._parents >= 0))
        frame = np.full(skeleton.joint_count, -1)
        frame[self._twisted] = skeleton.joint_count + np.arange(len(self._twisted))
        super().__init__(points, _weights_apart(weights, spread, along, frame))
        self.joint_count = skeleton.joint_count  # the twistless frames beyond them are made here
        self._centres = self._groups.gather(centres)

    def _skin(self, difference: Floats, given: Points, out: Points) -> None:
        difference = difference[: self.joint_count]
        frames = np.concatenate([difference, self._without_twist(difference)])
        parts = rigid_parts(frames)
        minus = np.ascontiguousarray(-frames[:, :3, :], np.float32).reshape(-1, 12)
        rotations = parts.rotation_xyzw.astype(np.float32)
        minus_stretch = (-parts.stretch_difference).astype(np.float32).reshape(-1, 9)
        _skin(*self.layout, given, self._centres, minus, rotations, minus_stretch, parts.stretched, out)

    def _without_twist(self, difference: Floats) -> Floats:
        """``M T⁻¹ − I`` of the joints whose twist T about their bone is spread, (twisted, 4, 4)."""
        relative, found = (np.empty((len(self._twisted), 4, 4)) for _ in range(2))
        _relative(difference, self._twisted, self._parents, relative)
        turns = rigid_parts(relative).rotation_xyzw
        _take_twist_out(difference, self._twisted, turns, self._axes, self._heads, found)
        return found


def twist_spread(skeleton: Skeleton) -> Floats:
    """How far each joint's twist is spread along its bone, 0 to 1, shape (joints,).

    Full for limb bones at least 0.7 times as long as the longest limb bone of their chains, none below
    0.5 times: on a person upper arms, forearms, thighs and shins. A limb bone leads from a joint with a
    parent to one child that goes on itself. It does not branch: a chest turns in one piece; something
    follows at its tip: so does a head; and it does not carry the whole body, as the bone from the
    floor to the hips that some rigs have.
    """
    heads, tails = skeleton.bind_world[:, :3, 3], skeleton.tail_positions()
    lengths = np.linalg.norm(tails - heads, axis=1)
    going_on = [[c for c in below if skeleton.children[c]] for below in skeleton.children]
    carries_all = np.zeros(skeleton.joint_count, bool)
    branches = any(len(below) > 1 for below in going_on)
    limb = np.zeros(skeleton.joint_count, bool)
    for joint, parent in enumerate(skeleton.parents):
        above_all = parent < 0 or carries_all[parent]
        carries_all[joint] = branches and above_all and len(going_on[joint]) == 1
        if parent >= 0 and len(going_on[joint]) == 1 and not carries_all[joint]:
            gap = np.linalg.norm(heads[going_on[joint][0]] - tails[joint])
            limb[joint] = gap < 0.2 * lengths[joint]
    bones = np.where(limb, lengths, 0.0)
    longest, below_longest = bones.copy(), bones.copy()
    for joint, parent in enumerate(skeleton.parents):
        if parent >= 0:
            longest[joint] = max(longest[joint], longest[parent])
    for joint in range(skeleton.joint_count - 1, -1, -1):
        parent = skeleton.parents[joint]
        if parent >= 0:
            below_longest[parent] = max(below_longest[parent], below_longest[joint])
    longest = np.maximum(longest, below_longest)
    share = np.divide(bones, longest, out=np.zeros_like(bones), where=longest > 0.0)
    return np.clip((share - 0.5) / 0.2, 0.0, 1.0)


def _sections(points: Points, weights: SkinWeights, skeleton: Skeleton) -> tuple[Floats, Floats, Points]:
    """Bone directions (joints, 3); where along its bone each influence sits, 0 to 1 (influences,);
    and each vertex's section origin [m] (vertices, 3).

    Sums run in a fixed order, so that equal vertices of two meshes get equal bits.
    """
    heads = skeleton.bind_world[:, :3, 3]
    bones = skeleton.tail_positions() - heads
    lengths = np.linalg.norm(bones, axis=1)
    axes = bones / np.where(lengths > 0.0, lengths, 1.0)[:, None]
    axes[lengths == 0.0] = [0.0, 1.0, 0.0]

    vertex = np.repeat(np.arange(weights.vertex_count), np.diff(weights.starts))
    joint, weight = weights.joints, weights.weights.astype(np.float64)
    offset = points.astype(np.float64)[vertex] - heads[joint]
    reach = offset[:, 0] * axes[joint, 0] + offset[:, 1] * axes[joint, 1] + offset[:, 2] * axes[joint, 2]
    length = lengths[joint]
    along = np.clip(reach / np.where(length > 0.0, length, 1.0), 0.0, 1.0)
    nearest = heads[joint] + along[:, None] * bones[joint]
    total = np.bincount(vertex, weight, minlength=weights.vertex_count)
    centres = np.empty((weights.vertex_count, 3), np.float32)
    for axis in range(3):
        blended = np.bincount(vertex, weight * nearest[:, axis], minlength=weights.vertex_count)
        centres[:, axis] = blended / total
    return axes, along, centres


def _weights_apart(
    weights: SkinWeights, spread: Floats, along: Floats, frame: npt.NDArray[np.int64]
) -> SkinWeights:
    """Weights over the joints and their twistless frames: each influence shared between the two."""
    vertex = np.repeat(np.arange(weights.vertex_count), np.diff(weights.starts))
    has_frame = frame[weights.joints] >= 0
    kept = np.where(has_frame, 1.0 - spread[weights.joints] * (1.0 - along), 1.0)
    weight = weights.weights.astype(np.float64)
    return weights_from_entries(
        np.concatenate([vertex, vertex[has_frame]]),
        np.concatenate([weights.joints, frame[weights.joints][has_frame]]),
        np.concatenate([weight * kept, (weight * (1.0 - kept))[has_frame]]),
        weights.vertex_count,
        max(int(frame.max(initial=0)) + 1, len(frame)),
        "contour skinning",
    )


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _relative(
    difference: Floats, joints: npt.NDArray[np.int64], parents: npt.NDArray[np.int64], found: Floats
) -> None:
    """``P⁻¹ M − I`` of some joints, where P is of their parents; its upper left 3 × 3 alone."""
    p, cofactors = np.empty((3, 3)), np.empty((3, 3))
    for row in range(len(joints)):
        own, above = difference[joints[row]], difference[parents[joints[row]]]
        for i in range(3):
            for j in range(3):
                p[i, j] = above[i, j] + (1.0 if i == j else 0.0)
        determinant = cofactors_of(p, cofactors)
        for i in range(3):
            for j in range(3):
                total = 0.0
                for k in range(3):
                    total += cofactors[k, i] * (own[k, j] - above[k, j])
                # in what is flat nothing turns
                found[row, i, j] = total / determinant if determinant != 0.0 else 0.0


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _take_twist_out(
    difference: Floats,
    joints: npt.NDArray[np.int64],
    turns: Floats,
    axes: Floats,
    heads: Floats,
    found: Floats,
) -> None:
    """``M T⁻¹ − I`` of some joints, where T is the twist about their bones in how they turn."""
    back = np.zeros((4, 4))
    for row in range(len(joints)):
        joint, turn = joints[row], turns[row]
        axis, head, own = axes[joint], heads[joint], difference[joints[row]]
        along = turn[0] * axis[0] + turn[1] * axis[1] + turn[2] * axis[2]
        length = np.sqrt(along * along + turn[3] * turn[3])
        # where the bone ends up opposite to itself there is no twist to be told
        scale = 1.0 / length if length > 1e-12 else 0.0
        x, y, z = -along * axis[0] * scale, -along * axis[1] * scale, -along * axis[2] * scale
        w = turn[3] * scale if length > 1e-12 else 1.0
        xx, yy, zz, xy, yz, zx = x * x, y * y, z * z, x * y, y * z, z * x
        back[0, 0], back[0, 1], back[0, 2] = -2.0 * (yy + zz), 2.0 * (xy - z * w), 2.0 * (zx + y * w)
        back[1, 0], back[1, 1], back[1, 2] = 2.0 * (xy + z * w), -2.0 * (xx + zz), 2.0 * (yz - x * w)
        back[2, 0], back[2, 1], back[2, 2] = 2.0 * (zx - y * w), 2.0 * (yz + x * w), -2.0 * (xx + yy)
        for i in range(3):
            back[i, 3] = -(back[i, 0] * head[0] + back[i, 1] * head[1] + back[i, 2] * head[2])
        for i in range(4):
            for j in range(4):
                total = own[i, j] + back[i, j]
                for k in range(4):
                    total += own[i, k] * back[k, j]
                found[row, i, j] = total


@njit(parallel=True, cache=True)  # type: ignore[untyped-decorator]
def _skin(
    vertices: npt.NDArray[np.int32],
    starts: npt.NDArray[np.int64],
    joints: npt.NDArray[np.int32],
    weights: Points,
    bind: Points,
    given: Points,
    centres: Points,
    minus: Points,
    rotations: Points,
    minus_stretch: Points,
    stretched: bool,
    out: Points,
) -> None:
    for group in prange(len(vertices)):
        zero = broadcast(np.float32(0.0))
        first, last = starts[group], starts[group + 1]
        x, y, z = read_group(bind, given, vertices, group)
        cx, cy, cz = load(centres, 3 * group), load(centres, 3 * group + 1), load(centres, 3 * group + 2)
        ox, oy, oz = x - cx, y - cy, z - cz

        px, py, pz, pw = strongest_rotation(rotations, joints, weights, first, last)

        ax, ay, az, aw = zero, zero, zero, zero
        sum_x, sum_y, sum_z = zero, zero, zero
        for row in range(first, last):
            q, m, w = rotations[joints[row]], minus[joints[row]], load(weights, row)
            sum_x = multiply_add(w, cx * m[0] + cy * m[1] + cz * m[2] + m[3], sum_x)
            sum_y = multiply_add(w, cx * m[4] + cy * m[5] + cz * m[6] + m[7], sum_y)
            sum_z = multiply_add(w, cx * m[8] + cy * m[9] + cz * m[10] + m[11], sum_z)
            along = px * q[0] + py * q[1] + pz * q[2] + pw * q[3]
            w = where_less(along, zero, -w, w)
            ax = multiply_add(w, broadcast(q[0]), ax)
            ay = multiply_add(w, broadcast(q[1]), ay)
            az = multiply_add(w, broadcast(q[2]), az)
            aw = multiply_add(w, broadcast(q[3]), aw)

        if stretched:
            sx, sy, sz = blended_stretch(minus_stretch, joints, weights, first, last, ox, oy, oz)
            ox, oy, oz = ox - sx, oy - sy, oz - sz
            sum_x, sum_y, sum_z = sum_x + sx, sum_y + sy, sum_z + sz

        # what is subtracted at bind must be plus zero: a coordinate of minus zero keeps its sign
        factor = np.float32(-2.0) / (ax * ax + ay * ay + az * az + aw * aw)
        tx = ay * oz - az * oy + aw * ox
        ty = az * ox - ax * oz + aw * oy
        tz = ax * oy - ay * ox + aw * oz
        sum_x = multiply_add(factor, ay * tz - az * ty, sum_x)
        sum_y = multiply_add(factor, az * tx - ax * tz, sum_y)
        sum_z = multiply_add(factor, ax * ty - ay * tx, sum_z)
        write_group(out, vertices, group, x - sum_x, y - sum_y, z - sum_z)
