"""Admissible lines as arrays: what compiled code reads (`admissible_passes`), and what is refused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from ecorche.base.ellipsoid import signed_distances
from ecorche.base.rotations import normalise
from ecorche.errors import EcorcheError
from ecorche.muscles.lines.deflection import BEHIND, DEPTH
from ecorche.muscles.lines.field_places import FieldBinding
from ecorche.muscles.lines.fields import FieldEllipsoid
from ecorche.muscles.lines.mobile import KINDS, MobileNode
from ecorche.skeleton.skeleton import Skeleton

if TYPE_CHECKING:
    from ecorche.muscles.lines.admissible import AdmissibleLine, BoundNode

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]

BOUND: Final = 0
MOBILE: Final = 1
COLLISION: Final = 2

# columns of `LinePlan.numbers`: of a bound node the joint's centre, the limb's axis, shares of swing and of
# twist;
# of a mobile one its places low and high, angles, shape, and the quaternions before and after;
# of a collision node its ratio, the side it is held on, and by how much it lies
# behind the holding plane at bind
CENTRE, AXIS, SWING, TWIST = 0, 3, 6, 7
AT_LOW, AT_HIGH, LOW, REST, HIGH, PARABOLIC, BEFORE, AFTER = 0, 3, 6, 7, 8, 9, 10, 14
RATIO, SIDE, LEVEL = 0, 1, 4
COLUMNS = 18


class LinePlan(NamedTuple):
    """N nodes of L lines, and their deflectors.

    Attributes:
        starts: Borders of the lines, (L + 1,).
        kind: `BOUND`, `MOBILE` or `COLLISION`, (N,).
        joint: That carries a node, (N,); of a collision node −1.
        base: The joint above, −1 for none, (N,); of a mobile node above its reference joint.
        reference: Reference joint of a mobile node, (N,).
        freedom: Which degree of freedom, by its place in `KINDS`, (N,).
        enclosing: Nodes before and after a collision node, (N, 2).
        place: At bind [m]: of a bound node, of a mobile one at rest; a collision node's offset, (N, 3).
        numbers: See the columns above, (N, COLUMNS).
        side: First row of a collision node in ``sides``, (N,).
        holds: Which of its line's deflectors holds a collision node on its side, −1 for none, (N,).
        sides: Pole and factor of every collision node and deflector of its line, (…, 4).
        which: Deflectors of all lines, by number.
        of_line: Borders of each line's in ``which``, (L + 1,).
    """

    starts: Ints
    kind: Ints
    joint: Ints
    base: Ints
    reference: Ints
    freedom: Ints
    enclosing: Ints
    place: Floats
    numbers: Floats
    side: Ints
    holds: Ints
    sides: Floats
    which: Ints
    of_line: Ints


def plan_of(skeleton: Skeleton, lines: Sequence[AdmissibleLine]) -> tuple[LinePlan, FieldBinding]:
    """The arrays of lines on a skeleton, and their deflectors; what makes no line is refused by name."""
    from ecorche.muscles.lines.admissible import BoundNode, CollisionNode

    starts = np.cumsum([0, *(len(line.nodes) for line in lines)], dtype=np.int32)
    count = int(starts[-1])
    kind, joint, base = (np.full(count, value, np.int32) for value in (BOUND, -1, -1))
    reference, freedom, side = (np.zeros(count, np.int32) for _ in range(3))
    enclosing, holds = np.zeros((count, 2), np.int32), np.full(count, -1, np.int32)
    place, numbers = np.zeros((count, 3)), np.zeros((count, COLUMNS))
    heads, tips = skeleton.bind_world[:, :3, 3], skeleton.tail_positions()
    deflectors, which, of_line = _deflectors(lines, skeleton)
    binding = _binding(deflectors)
    sides, rows = [np.zeros((0, 4))], 0
    for line, spec in enumerate(lines):
        where = f"line {spec.name!r}"
        first = int(starts[line])
        _require_ends(spec, where)
        for n, node in enumerate(spec.nodes, first):
            if isinstance(node, BoundNode):
                _bind(node, n, skeleton, heads, tips, where, (joint, base, place, numbers))
            elif isinstance(node, MobileNode):
                node.checked(where)
                kind[n], joint[n] = MOBILE, _joint(node.joint, skeleton, where)
                reference[n] = _joint(node.freedom.joint, skeleton, where)
                base[n], freedom[n] = skeleton.parents[reference[n]], KINDS.index(node.freedom.kind)
                place[n] = node.at_rest
                numbers[n] = [
                    *node.at_low, *node.at_high, node.low, node.rest, node.high, node.shape == "parabolic",
                    *node.freedom.before_xyzw, *node.freedom.after_xyzw,
                ]  # fmt: skip
            else:
                kind[n], numbers[n, RATIO] = COLLISION, node.ratio
                place[n] = 0.0 if node.offset is None else np.asarray(node.offset, np.float64)
        _enclose(spec, first, kind, numbers, enclosing, where)
        own = which[of_line[line] : of_line[line + 1]]
        centres, axes, radii = binding.centres[own], binding.axes[own], binding.radii[own]
        passed = joints_between(int(joint[first]), int(joint[starts[line + 1] - 1]), skeleton)[1:-1]
        larger = 1.0 + np.where(
            np.isin(binding.joints[own], passed), spec.flesh / radii.min(axis=1, initial=np.inf), 0.0
        )
        for n, node in enumerate(spec.nodes, first):
            if isinstance(node, CollisionNode):
                side[n], rows = rows, rows + len(own)
                a, b = enclosing[n]
                at = place[a] + node.ratio * (place[b] - place[a]) + place[n]
                towards = None if node.side is None else _side(node.side, where)
                local = in_frames(axes, at - centres)
                pole = local if towards is None else in_frames(axes, towards)
                sides.append(_sides(local / radii, pole / radii, larger, sunk=node.offset is not None))
                if towards is not None and len(own):
                    k = holds[n] = int(np.argmin(signed_distances(local, radii)[0]))
                    numbers[n, SIDE : SIDE + 3] = towards
                    reach = float(np.linalg.norm(radii[k] * (axes[k].T @ towards)))
                    # how far it lies behind the plane that will hold it, never above zero: bind is not held
                    numbers[n, LEVEL] = min(0.0, float(towards @ (at - centres[k])) + BEHIND * reach)
    if not (np.isfinite(place).all() and np.isfinite(numbers).all()):
        bad = int(np.argmax(~(np.isfinite(place).all(axis=1) & np.isfinite(numbers).all(axis=1))))
        line = int(np.searchsorted(starts, bad, "right")) - 1
        raise EcorcheError(
            f"its node {bad - int(starts[line])} holds a number that is not finite",
            where=f"line {lines[line].name!r}",
            remedy="Give finite places, shares and angles",
        )
    plan = LinePlan(
        starts, kind, joint, base, reference, freedom, enclosing, place, numbers, side, holds,
        np.concatenate(sides), which, of_line,
    )  # fmt: skip
    return plan, binding


def joints_between(start: int, end: int, skeleton: Skeleton) -> list[int]:
    """The joints of the tree from one joint to another, both included."""

    def upwards(joint: int) -> list[int]:
        found = []
        while joint >= 0:
            found.append(joint)
            joint = int(skeleton.parents[joint])
        return found

    first, last = upwards(start), upwards(end)
    shared = set(first) & set(last)
    meeting = [joint for joint in first if joint in shared][:1]
    # where both hang below a joint that holds no bone on the way, it is passed through all the same
    up, down = ([joint for joint in way if joint not in shared] for way in (first, last))
    return up + meeting + down[::-1]


def _joint(number: int, skeleton: Skeleton, where: str) -> int:
    if not 0 <= number < skeleton.joint_count:
        raise EcorcheError(
            f"a node is bound to joint {number}, but only 0 to {skeleton.joint_count - 1} exist",
            where=where,
            remedy="Bind it to a joint of this skeleton",
        )
    return number


def _require_ends(spec: AdmissibleLine, where: str) -> None:
    from ecorche.muscles.lines.admissible import CollisionNode

    if len(spec.nodes) < 2:
        raise EcorcheError(
            "it has fewer than two nodes", where=where, remedy="Give it an origin and an insertion"
        )
    if isinstance(spec.nodes[0], CollisionNode) or isinstance(spec.nodes[-1], CollisionNode):
        raise EcorcheError(
            "a collision node stands at its end", where=where, remedy="Begin and end with nodes on joints"
        )


def _bind(
    node: BoundNode,
    n: int,
    skeleton: Skeleton,
    heads: Floats,
    tips: Floats,
    where: str,
    into: tuple[Ints, Ints, Floats, Floats],
) -> None:
    joint, base, place, numbers = into
    j = joint[n] = _joint(node.joint, skeleton, where)
    above = int(skeleton.parents[j]) if node.relative_to is None else node.relative_to
    base[n] = above if above < 0 else _joint(above, skeleton, where)
    place[n] = np.asarray(node.place, np.float64)
    axis = tips[j] - heads[j] if node.axis is None else np.asarray(node.axis, np.float64)
    if not (0.0 <= node.swing <= 1.0 and 0.0 <= node.twist <= 1.0):
        raise EcorcheError(
            f"an adherence of {node.swing:g} and {node.twist:g} is not between 0 and 1",
            where=where,
            remedy="1 follows the joint wholly, 0 not at all",
        )
    if (node.swing < 1.0 or node.twist < 1.0) and not np.linalg.norm(axis) > 1e-9:
        raise EcorcheError(
            f"joint {skeleton.names[j]!r} has no direction to tell swing from twist",
            where=where,
            remedy="Give the node an axis",
        )
    numbers[n, CENTRE : CENTRE + 3] = heads[j]
    numbers[n, AXIS : AXIS + 3] = normalise(axis)
    numbers[n, SWING], numbers[n, TWIST] = node.swing, node.twist


def _enclose(
    spec: AdmissibleLine, first: int, kind: Ints, numbers: Floats, enclosing: Ints, where: str
) -> None:
    """Find the nodes before and after each collision node; ratios have to rise between them."""
    end = first + len(spec.nodes)
    before, last = first, 0.0
    for n in range(first, end):
        if kind[n] != COLLISION:
            before, last = n, 0.0
            continue
        after = next(k for k in range(n, end) if kind[k] != COLLISION)
        enclosing[n] = before, after
        ratio = numbers[n, RATIO]
        if not last <= ratio <= 1.0:
            raise EcorcheError(
                f"the ratio {ratio:g} of its node {n - first} does not lie between {last:g} and 1",
                where=where,
                remedy="Collision nodes between the same two nodes have ratios from 0 to 1 that rise",
            )
        last = ratio


def _deflectors(
    lines: Sequence[AdmissibleLine], skeleton: Skeleton
) -> tuple[list[FieldEllipsoid], Ints, Ints]:
    """All deflectors, each once; the numbers of every line's; borders of these."""
    found: dict[int, int] = {}
    deflectors: list[FieldEllipsoid] = []
    which: list[int] = []
    borders = [0]
    for spec in lines:
        for number, one in enumerate(spec.deflectors):
            where = f"line {spec.name!r}, deflector {number}"
            one.require_place(where)
            if one.joint is None:
                raise EcorcheError(
                    "it is not carried by a joint", where=where, remedy="Bind the deflector to a joint"
                )
            _joint(one.joint, skeleton, where)
            if id(one) not in found:
                found[id(one)] = len(deflectors)
                deflectors.append(one)
            which.append(found[id(one)])
        borders.append(len(which))
    return deflectors, np.array(which, np.int32), np.array(borders, np.int32)


def in_frames(axes: Floats, v: Floats) -> Floats:
    """Vectors of the world, one a frame (D, 3) or one for all (3,), in frames (D, 3, 3), as (D, 3)."""
    return np.asarray(np.einsum("dij,di->dj", axes, np.broadcast_to(v, axes.shape[:2])))


def _sides(u: Floats, towards: Floats, larger: Floats, *, sunk: bool) -> Floats:
    """Pole and factor of D ellipsoids for one node, (D, 4).

    Args:
        u: Where it lies at bind before it is pushed, in the unit ball of each, (D, 3).
        towards: The direction it is pushed to there, (D, 3).
        larger: How many times as large they count at most, (D,).
        sunk: Whether it may lie inside at bind; what holds it is then as much smaller for it.
    """
    rows = np.ones((len(u), 4))
    if sunk:
        size = np.linalg.norm(u, axis=1)
        rows[:, 3] = np.where(size < larger, np.maximum(size * (1.0 - 1e-9), 1e-3), larger)
    rows[:, :3] = -DEPTH * normalise(towards)
    return rows


def _side(side: Floats, where: str) -> Floats:
    direction = np.asarray(side, np.float64)
    if direction.shape != (3,) or not np.linalg.norm(direction) > 1e-9:
        raise EcorcheError(
            f"the side {side} of a collision node is no direction", where=where, remedy="Give three numbers"
        )
    return normalise(direction)


def _binding(deflectors: Sequence[FieldEllipsoid]) -> FieldBinding:
    count = len(deflectors)
    return FieldBinding(
        centres=np.array([one.centre for one in deflectors], np.float64).reshape(count, 3),
        axes=np.array([one.axes for one in deflectors], np.float64).reshape(count, 3, 3),
        radii=np.array([one.radii for one in deflectors], np.float64).reshape(count, 3),
        joints=np.array([one.joint for one in deflectors], np.int32),
        segments=np.full((count, 2), -1, np.int32),
        shares=np.zeros(count),
        directions=np.zeros((count, 3)),
        offsets=np.zeros((count, 3)),
    )
