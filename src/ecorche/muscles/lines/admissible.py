"""Real-time action lines: paths of nodes that follow joints and are drawn tight over bones, without springs.

Thesis section 4.8. A line has three kinds of node:

- *bound* to a joint, wholly or by its adherence (`adherence`); the ends of a line are bound;
- *mobile*, led by one degree of freedom of a joint (`mobile`);
- *collision* nodes, at a ratio between the two other nodes that enclose them, then pushed out of ellipsoids
  on joints, of all at once (`deflection`).

Added to the text: a collision node may have an offset from the straight line at bind, which turns with
the joints of the enclosing nodes by the ratio, so that lines found in muscles start where they were found;
ellipsoids that hold such a node at bind count for it as much smaller as lets it lie on them. And bones
touch a muscle's flesh, not its line: ellipsoids may count as larger for a line by its `flesh`.

A straight line between two bones may pass on the other side of a joint, where no node is inside anything. A
collision node with a `side` is therefore *held* there by the deflector nearest to it at bind: it stays before
a plane behind that one's centre, and starts in front of it if it must. The side turns with both bones by the
ratio, so it faces outwards however far a joint bends. Held nodes are then drawn tight, there and back: each
goes between its neighbours and is pushed out again. So the path takes the shortest way over the union, on
its side. Free nodes, without a side, are pushed once, as in the text; driven right through an ellipsoid
they have to jump at its back, held ones never get there.

Each is a function of the pose alone and continuous in it; what that excludes is told where it is computed.
Nodes are pushed, not what lies between: where nodes are farther apart than an ellipsoid's radius a line
cuts its corners. `subdivisions` puts more nodes on a path than a mesh needs; the mesh hangs on every so
manyth.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from ecorche.base.ellipsoid import signed_distances
from ecorche.errors import EcorcheError
from ecorche.muscles.lines.admissible_passes import place_deflectors, pose_lines
from ecorche.muscles.lines.admissible_plan import LinePlan, in_frames, plan_of
from ecorche.muscles.lines.deflection import DEFLECTOR
from ecorche.muscles.lines.fields import FieldEllipsoid
from ecorche.muscles.lines.mobile import MobileNode
from ecorche.muscles.lines.tendons import Tendons
from ecorche.skeleton.skeleton import Skeleton

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class BoundNode:
    """A node on a joint.

    Attributes:
        place: At bind [m], shape (3,).
        joint: Number of the joint.
        swing, twist: Share of the joint's swing and twist that it follows, 0 to 1.
        axis: Direction of the limb at bind, shape (3,); None: from the joint to the tip of its bone.
        relative_to: The joint above, from which swing and twist are seen; None: its parent.
    """

    place: Floats
    joint: int
    swing: float = 1.0
    twist: float = 1.0
    axis: Floats | None = None
    relative_to: int | None = None


@dataclass(frozen=True, eq=False)
class CollisionNode:
    """A node between two others, pushed out of the line's deflectors.

    Attributes:
        ratio: Of the way from the bound or mobile node before it to the one after it, 0 to 1, rising along
            the line.
        offset: From there to the node at bind [m], shape (3,); None: none, and the node is pushed at bind
            too.
        side: Direction at bind on which it is held, shape (3,); None: it is pushed away from the centres of
            deflectors as it lies at bind, and not held.
    """

    ratio: float
    offset: Floats | None = None
    side: Floats | None = None


Node = BoundNode | CollisionNode | MobileNode


@dataclass(frozen=True, eq=False)
class AdmissibleLine:
    """One action line as it is designed.

    Attributes:
        name: For messages.
        nodes: From origin to insertion, at least two; the first and last are bound or mobile.
        tendon: Whether each segment is tendon; empty: all belly.
        deflectors: Ellipsoids on joints that push its collision nodes out; may be shared between lines.
        flesh: How thick the muscle is between the line and bones it passes by [m]: deflectors on joints
            between those of its ends count as so much larger, but no larger than lets the line lie where it
            does at bind.
    """

    name: str
    nodes: tuple[Node, ...]
    tendon: tuple[bool, ...] = ()
    deflectors: tuple[FieldEllipsoid, ...] = field(default=())
    flesh: float = 0.0


def line_through(
    name: str,
    places: npt.ArrayLike,
    joints: Sequence[int],
    held: Sequence[bool],
    *,
    tendon: Sequence[bool] = (),
    deflectors: Sequence[FieldEllipsoid] = (),
    hold: bool = True,
) -> AdmissibleLine:
    """A line through places (n, 3) [m] at bind: held nodes on their joints, the others between them.

    The others' ratio is that of arc length between the held nodes that enclose them. Both ends are held.
    With ``hold`` each of the others stays on its side of the deflector nearest to it.
    """
    points = np.asarray(places, np.float64)
    firm = np.array(held, np.bool_)
    if points.ndim != 2 or points.shape[1:] != (3,) or not len(points) == len(joints) == len(firm) >= 2:
        raise EcorcheError(
            f"{len(joints)} joints and {len(firm)} flags do not fit places of shape {points.shape}",
            where=f"line {name!r}",
            remedy="Give a joint and a flag for each of two or more places",
        )
    firm[[0, -1]] = True
    arc = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
    anchors = np.flatnonzero(firm)
    nodes: list[Node] = []
    for k, place in enumerate(points):
        if firm[k]:
            nodes.append(BoundNode(place, int(joints[k])))
            continue
        after = int(anchors[np.searchsorted(anchors, k)])
        before = int(anchors[np.searchsorted(anchors, k) - 1])
        ratio = float((arc[k] - arc[before]) / max(arc[after] - arc[before], 1e-300))
        offset = place - (points[before] + ratio * (points[after] - points[before]))
        side = outwards(place, deflectors) if hold and deflectors else None
        nodes.append(CollisionNode(ratio, offset, side))
    return AdmissibleLine(name, tuple(nodes), tuple(tendon), tuple(deflectors))


def outwards(place: Floats, deflectors: Sequence[FieldEllipsoid]) -> Floats:
    """Unit direction at a place away from the nearest of some ellipsoids, (3,)."""
    axes = np.array([one.axes for one in deflectors], np.float64)
    apart = place - np.array([one.centre for one in deflectors], np.float64)
    radii = np.array([one.radii for one in deflectors], np.float64)
    distances, normals = signed_distances(in_frames(axes, apart), radii)
    nearest = int(np.argmin(distances))
    return np.asarray(axes[nearest] @ normals[nearest])


def finer(line: AdmissibleLine, pieces: int) -> AdmissibleLine:
    """The same line with collision nodes between all nodes, so that each segment becomes so many pieces.

    Its flags for tendons are left out: they belong to the segments as designed.
    """
    nodes: list[Node] = [*line.nodes[:1]]
    for a, b in pairwise(line.nodes):
        low = a.ratio if isinstance(a, CollisionNode) else 0.0
        high = b.ratio if isinstance(b, CollisionNode) else 1.0
        ends = [node for node in (a, b) if isinstance(node, CollisionNode)]
        offsets = [getattr(node, "offset", None) for node in (a, b)]
        start, end = (np.zeros(3) if o is None else np.asarray(o, np.float64) for o in offsets)
        side = next((node.side for node in ends if node.side is not None), None)
        for k in range(1, pieces):
            share = k / pieces
            offset = None if all(o is None for o in offsets) else start + share * (end - start)
            nodes.append(CollisionNode(low + share * (high - low), offset, side))
        nodes.append(b)
    return AdmissibleLine(line.name, tuple(nodes), (), line.deflectors, line.flesh)


class AdmissiblePaths:
    """All admissible lines of a body, ready to be posed.

    Args:
        skeleton: Whose joints carry them.
        lines: As designed.
        tightening: How often held nodes are drawn tight after the first push.
        subdivisions: Pieces of path to each segment as designed.

    Attributes:
        starts: Line l owns nodes ``starts[l]`` to ``starts[l + 1] − 1`` of the path, (L + 1,).
        bind: All of these at bind [m], (N, 3).
        tendons: Turns them into what a mesh hangs on, see `Tendons.slid`: as many nodes as were designed.
    """

    def __init__(
        self,
        skeleton: Skeleton,
        lines: Sequence[AdmissibleLine],
        *,
        tightening: int = 8,
        subdivisions: int = 1,
    ) -> None:
        self.skeleton, self.lines = skeleton, tuple(lines)
        self.tightening = tightening
        self.plan: LinePlan
        self.plan, self._deflectors = plan_of(skeleton, [finer(line, subdivisions) for line in self.lines])
        self.starts: Ints = self.plan.starts
        self.bind = self.nodes(np.zeros((skeleton.joint_count, 4, 4)))
        designed = np.cumsum([0, *(len(line.nodes) for line in self.lines)])
        names = [line.name for line in self.lines]
        self.tendons = Tendons(designed, self.bind, self._flags(), names, subdivisions=subdivisions)

    def __repr__(self) -> str:
        return f"AdmissiblePaths({len(self.lines)} lines, {len(self.plan.kind)} nodes)"

    def nodes(self, moved: npt.ArrayLike, out: Floats | None = None) -> Floats:
        """All nodes [m], (..., N, 3), for joints moved by ``M − I`` since bind, (..., joints, 4, 4)."""
        joints = np.ascontiguousarray(moved, np.float64)
        count = self.skeleton.joint_count
        if joints.shape[-3:] != (count, 4, 4):
            raise EcorcheError(
                f"a pose of shape {joints.shape} does not fit {count} joints",
                where="action lines",
                remedy="Give M − I of every joint of the skeleton the lines are bound to",
            )
        batch = joints.shape[:-3]
        posed = np.empty((*batch, len(self.plan.kind), 3)) if out is None else out
        placed = np.empty((len(self._deflectors.joints), DEFLECTOR))
        for at in np.ndindex(batch):
            place_deflectors(self._deflectors, joints[at], placed)
            pose_lines(self.plan, joints[at], placed, self.tightening, posed[at])
        if not np.isfinite(posed).all():
            node = int(np.argwhere(~np.isfinite(posed))[0, -2])
            line = int(np.searchsorted(self.starts, node, "right")) - 1
            raise EcorcheError(
                f"its node {node - int(self.starts[line])} comes out as not a number",
                where=f"line {self.lines[line].name!r}",
                remedy="Check the pose: every joint needs finite numbers and a scale other than zero",
            )
        return posed

    def _flags(self) -> Bools:
        flags = []
        for line in self.lines:
            segments = len(line.nodes) - 1
            if line.tendon and len(line.tendon) != segments:
                raise EcorcheError(
                    f"{len(line.tendon)} tendon flags for {segments} segments",
                    where=f"line {line.name!r}",
                    remedy="Give one a segment, or none",
                )
            flags.append(np.array(line.tendon or [False] * segments, np.bool_))
        return np.concatenate([np.zeros(0, np.bool_), *flags])
