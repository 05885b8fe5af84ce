"""Where each muscle runs: a line from origin to insertion through points that ride on the joints.

Text 000 has straight action lines, the thesis polylines whose nodes are bound to joints; both are
this one type. Posed as a difference from bind, ``p + (M − I) p``, so that in the bind pose points
and lengths are the bind ones bit for bit.

Lengths and moment arms are those of the polyline. The line a shape follows is rounded at the via
points: at a corner between unit directions u and v, and for arc length s within r of it, the
polyline is moved by ``(v − u)(r − |s|)² / 4r``. In the polyline's own arc length that is
continuously differentiable, the tangent turning from u to v in their plane. The reach is
``r = rounding · a b / (a + b)`` for segment lengths a and b, so that with a rounding of at most one
half neighbouring corners never meet, and the reach changes smoothly as the segments do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ecorche.base.checks import require_finite, require_indices
from ecorche.base.rotations import normalise
from ecorche.base.transforms import transform_points
from ecorche.errors import EcorcheError
from ecorche.skeleton.skeleton import Skeleton

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

SHORTEST = 1e-6
"""Two neighbouring nodes nearer than this [m] have no direction between them, and are refused."""


@dataclass(frozen=True, eq=False, repr=False)
class Paths:
    """The lines of M muscles through N nodes, each node fixed in the frame of one joint.

    The first node of a muscle is its origin, the last its insertion, between them are via points.

    Attributes:
        skeleton: The joints the nodes ride on.
        starts: Muscle m has the nodes ``starts[m]`` to ``starts[m + 1] − 1``, shape (M + 1,).
        joints: The joint of each node, shape (N,).
        local: Position in that joint's own frame [m], shape (N, 3).
        names: What the muscles are called, for messages; numbered when none are given.
        rounding: How far corners at via points are rounded, 0 (not at all) to 0.5.
    """

    skeleton: Skeleton
    starts: Integers
    joints: Integers
    local: Floats
    names: tuple[str, ...] = ()
    rounding: float = 0.5

    def __post_init__(self) -> None:
        nodes, where = len(self.joints), "muscle paths"
        starts_well = len(self.starts) > 0 and self.starts[0] == 0 and self.starts[-1] == nodes
        if not starts_well or self.local.shape != (nodes, 3):
            raise EcorcheError(
                f"starts ends at {self.starts[-1:].tolist()}, there are {nodes} joints and positions of shape"
                f" {self.local.shape}",
                where=where,
                remedy="Give one joint and one position a node, and starts from 0 to the number of nodes",
            )
        if not self.names:
            object.__setattr__(self, "names", tuple(f"muscle {m}" for m in range(self.muscle_count)))
        if len(self.names) != self.muscle_count:
            raise EcorcheError(
                f"{len(self.names)} names for {self.muscle_count} muscles",
                where=where,
                remedy="Name each once",
            )
        few = np.diff(self.starts) < 2
        if few.any():
            raise EcorcheError(
                f"{self.names[int(np.argmax(few))]!r} has fewer than two nodes",
                where=where,
                remedy="Give it an origin and an insertion",
            )
        if not 0.0 <= self.rounding <= 0.5:
            raise EcorcheError(
                f"a rounding of {self.rounding} is not between 0 and 0.5", where=where, remedy="Choose one"
            )
        require_indices(self.joints, self.skeleton.joint_count, "the joint of node", where, EcorcheError)
        require_finite(self.local, "the position of node", where, EcorcheError)
        self._require_length(self.bind.segment_lengths, "at bind")

    def __repr__(self) -> str:
        return f"Paths({self.muscle_count} muscles, {len(self.joints)} nodes)"

    @property
    def muscle_count(self) -> int:
        """How many muscles there are."""
        return len(self.starts) - 1

    @cached_property
    def origins(self) -> Integers:
        """The node at the origin of each muscle, shape (M,)."""
        return self.starts[:-1]

    @cached_property
    def insertions(self) -> Integers:
        """The node at the insertion of each muscle, shape (M,)."""
        return self.starts[1:] - 1

    @cached_property
    def bind_points(self) -> Floats:
        """The nodes at bind [m], shape (N, 3)."""
        world = self.skeleton.bind_world[self.joints]
        return transform_points(world, self.local[:, None, :])[:, 0]

    @cached_property
    def bind(self) -> PosedPaths:
        """The paths in the bind pose."""
        return PosedPaths(self, self.bind_points)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a person should know: muscles that no joint can lengthen."""
        still = np.array(
            [np.ptp(self.joints[a:b]) == 0 for a, b in zip(self.starts[:-1], self.starts[1:], strict=True)]
        )
        return tuple(
            f"muscle {self.names[m]!r} has both ends on joint"
            f" {self.skeleton.names[int(self.joints[self.starts[m]])]!r}: its length never changes"
            for m in np.flatnonzero(still)
        )

    def posed(self, world: npt.ArrayLike) -> PosedPaths:
        """The paths in a pose of ``world_from_joint`` matrices (..., joints, 4, 4)."""
        return self.moved(self.difference(world))

    def difference(self, world: npt.ArrayLike) -> Floats:
        """``M − I`` of every joint for ``world_from_joint`` (..., joints, 4, 4): zero in the bind pose."""
        world = np.asarray(world, np.float64)
        self._require_joints(world)
        return np.asarray((world - self.skeleton.bind_world) @ self.skeleton.bind_inverse)

    def moved(self, difference: npt.ArrayLike) -> PosedPaths:
        """The paths for differences from bind ``M − I`` (..., joints, 4, 4), see `difference_from_bind`."""
        difference = np.asarray(difference, np.float64)
        self._require_joints(difference)
        change = difference[..., self.joints, :3, :]
        p = self.bind_points
        step = (
            change[..., 0] * p[:, :1]
            + change[..., 1] * p[:, 1:2]
            + change[..., 2] * p[:, 2:]
            + change[..., 3]
        )
        # twice subtracted, so that a coordinate of minus zero keeps its sign at bind
        posed = PosedPaths(self, p - (0.0 - step))
        self._require_length(posed.segment_lengths, "in a pose")
        return posed

    def _require_joints(self, matrices: Floats) -> None:
        if matrices.shape[-3:] != (self.skeleton.joint_count, 4, 4):
            raise EcorcheError(
                f"matrices of shape {matrices.shape} do not fit {self.skeleton.joint_count} joints",
                where="muscle paths",
                remedy="Give one 4×4 matrix a joint of the skeleton the muscles are bound to",
            )

    def _require_length(self, lengths: Floats, when: str) -> None:
        """Refuse nodes that coincide; ``lengths`` (..., N), zero at origins."""
        bad = ~(lengths >= SHORTEST)
        bad[..., self.origins] = False
        if bad.any():
            first = np.argwhere(bad)[0]
            node = int(first[-1])
            m = int(np.searchsorted(self.starts, node, side="right")) - 1
            frame = f", frame {', '.join(str(i) for i in first[:-1])}" if len(first) > 1 else ""
            rank = node - int(self.starts[m])
            straight = self.starts[m + 1] - self.starts[m] == 2
            what = "zero length" if straight else f"no distance between its nodes {rank - 1} and {rank}"
            raise EcorcheError(
                f"{self.names[m]!r} has {what} {when}{frame}",
                where="muscle paths",
                remedy="Move its origin, insertion or via points apart, or to the right joints",
            )


@dataclass(frozen=True, eq=False, repr=False)
class PosedPaths:
    """The paths in one pose, or in a batch of poses with the leading axes ``...``.

    Attributes:
        paths: What was posed.
        points: The nodes [m], shape (..., N, 3).
    """

    paths: Paths
    points: Floats

    @cached_property
    def _step(self) -> Floats:
        """From the node before to each node (..., N, 3) [m]; zero at origins."""
        step = np.zeros(self.points.shape)
        step[..., 1:, :] = self.points[..., 1:, :] - self.points[..., :-1, :]
        step[..., self.paths.origins, :] = 0.0
        return step

    @cached_property
    def segment_lengths(self) -> Floats:
        """Distance of each node from the one before [m], shape (..., N); zero at origins."""
        return np.asarray(np.linalg.norm(self._step, axis=-1))

    @cached_property
    def directions(self) -> Floats:
        """Unit direction in which each node is reached, shape (..., N, 3); zero at origins."""
        return normalise(self._step)

    @cached_property
    def arc(self) -> Floats:
        """Arc length from the origin to each node [m], shape (..., N)."""
        arc = self.segment_lengths.copy()
        starts = self.paths.starts
        for rank in range(1, int(np.diff(starts).max(initial=0))):  # node by node: the same sum in any batch
            node = starts[:-1][np.diff(starts) > rank] + rank
            arc[..., node] += arc[..., node - 1]
        return arc

    @property
    def lengths(self) -> Floats:
        """The length of each muscle [m], shape (..., M)."""
        return self.arc[..., self.paths.insertions]

    @property
    def origins(self) -> Floats:
        """Where the muscles begin [m], shape (..., M, 3)."""
        return self.points[..., self.paths.origins, :]

    @property
    def insertions(self) -> Floats:
        """Where the muscles end [m], shape (..., M, 3)."""
        return self.points[..., self.paths.insertions, :]

    def places(self, t: npt.ArrayLike) -> tuple[Integers, Floats]:
        """Where on the nodes t lies: the node that ends the segment, and the share of it that is done.

        ``t`` from 0 at the origin to 1 at the insertion by arc length, shape (K,) or (M, K); both results
        have the shape (..., M, K). Values outside 0 … 1 are refused.
        """
        t = np.asarray(t, np.float64)
        if not ((t >= 0.0) & (t <= 1.0)).all():
            raise EcorcheError("a parameter along a muscle is not between 0 and 1", remedy="Clip it first")
        s = self.lengths[..., None] * t
        starts = self.paths.starts
        node = np.broadcast_to(starts[:-1, None] + 1, s.shape).copy()
        for rank in range(1, int(np.diff(starts).max(initial=2)) - 1):
            via = np.minimum(starts[:-1] + rank, starts[1:] - 1)
            inner = (np.diff(starts) > rank + 1)[:, None]
            node += inner & (s >= self.arc[..., via, None])
        share = 1.0 - (_taken(self.arc, node) - s) / _taken(self.segment_lengths, node)
        return node, np.clip(share, 0.0, 1.0)

    def at(self, t: npt.ArrayLike) -> tuple[Floats, Floats]:
        """Points [m] and unit tangents, both (..., M, K, 3), at parameters t (K,) or (M, K).

        t is a fraction of the length, 0 at the origin; corners at via points are rounded.
        """
        return self.on(*self.places(t))

    def on(self, node: Integers, share: Floats) -> tuple[Floats, Floats]:
        """Points [m] and unit tangents, both (..., M, K, 3), at a share of the segments that end at nodes.

        ``node`` and ``share`` are as `places` gives them, (M, K) for all poses or (..., M, K).
        """
        lengths, directions = self.segment_lengths, self.directions
        along = taken_vectors(directions, node)
        length = _taken(lengths, node)
        points = taken_vectors(self.points, node) - ((1.0 - share) * length)[..., None] * along
        tangents = along.copy()
        starts = self.paths.starts
        first, last = starts[:-1, None], starts[1:, None] - 1
        for corner, sign, away in ((node - 1, -1.0, share), (node, 1.0, 1.0 - share)):
            inner = (corner > first) & (corner < last)
            after = np.where(inner, corner + 1, corner)
            a, b = _taken(lengths, corner), _taken(lengths, after)
            reach = np.where(inner, self.paths.rounding * a * b / np.where(inner, a + b, 1.0), 0.0)
            near = np.maximum(reach - away * length, 0.0)
            turn = taken_vectors(directions, after) - taken_vectors(directions, corner)
            part = near / np.where(reach > 0.0, 2.0 * reach, 1.0)
            points += (0.5 * part * near)[..., None] * turn
            tangents += (sign * part)[..., None] * turn
        return points, normalise(tangents)

    def arc_at(self, node: Integers, share: Floats) -> Floats:
        """Arc length from the origin [m], (..., M, K), at a share of the segments that end at nodes."""
        arc: Floats = _taken(self.arc, node) - (1.0 - share) * _taken(self.segment_lengths, node)
        return arc

    def length_gradient(self) -> Floats:
        """How the length of its muscle grows as a node moves: (..., N, 3), metres per metre."""
        gradient = self.directions.copy()
        onward = np.ones(len(self.paths.joints), bool)
        onward[self.paths.insertions] = False
        node = np.flatnonzero(onward)
        gradient[..., node, :] -= self.directions[..., node + 1, :]
        return gradient

    def moment_arms(self, joint: int, centre: npt.ArrayLike) -> Floats:
        """Moment arms of all muscles about three world axes at a joint [m per rad], shape (..., M, 3).

        ``centre`` is where the joint stands in the pose, ``world[..., joint, :3, 3]``. The product
        with a unit axis is minus the derivative of the length as the joint, and all below it,
        turns about that axis: positive where the pulling muscle turns it that way.
        """
        below = _below(self.paths.skeleton, joint)[self.paths.joints]
        lever = self.points - np.asarray(centre, np.float64)[..., None, :]
        by_node = np.cross(lever, self.length_gradient()) * below[:, None]
        return -np.add.reduceat(by_node, self.paths.origins, axis=-2)


def paths_at(
    skeleton: Skeleton,
    muscles: Sequence[Sequence[tuple[int, npt.ArrayLike]]],
    names: Sequence[str] = (),
    *,
    rounding: float = 0.5,
) -> Paths:
    """Paths through bind positions in the world: for each muscle its (joint, position [m]) in order."""
    nodes = [node for muscle in muscles for node in muscle]
    joints = np.array([joint for joint, _ in nodes], np.int64)
    points = np.array([np.asarray(point, np.float64) for _, point in nodes]).reshape(-1, 3)
    require_indices(joints, skeleton.joint_count, "the joint of node", "muscle paths", EcorcheError)
    local = transform_points(skeleton.bind_inverse[joints], points[:, None, :])[:, 0]
    starts = np.cumsum([0, *(len(muscle) for muscle in muscles)], dtype=np.int64)
    return Paths(skeleton, starts, joints, local, tuple(names), rounding)


def _below(skeleton: Skeleton, joint: int) -> npt.NDArray[np.bool_]:
    """Which joints move with a joint: itself and all below it, shape (joints,)."""
    moves = np.zeros(skeleton.joint_count, bool)
    moves[joint] = True
    for other in range(joint + 1, skeleton.joint_count):
        parent = skeleton.parents[other]
        moves[other] = parent >= 0 and moves[parent]
    return moves


def _taken(values: Floats, node: Integers) -> Floats:
    """Values (..., N) of the nodes (..., M, K); either may lack the leading axes."""
    return taken_vectors(values[..., None], node)[..., 0]


def taken_vectors(values: Floats, node: Integers) -> Floats:
    """Vectors (..., N, 3) of the nodes (..., M, K); either may lack the leading axes."""
    if node.ndim == 2 or values.ndim == 2:
        return values[..., node, :]
    flat = node.reshape(*node.shape[:-2], -1, 1)
    return np.take_along_axis(values, flat, axis=-2).reshape(*node.shape, values.shape[-1])
