"""Which way a muscle faces at every node of its action lines: frames that never flip.

From section 4.4.2 of text 002. Z is the normal of the plane that halves the corner at a node, at an end the
direction of its segment. At both ends a reference joint carries the X of bind along, and the smallest
rotation from the Z it carries to the Z of now takes it on (`triples.turned`, the same rule as in
`section_frames`). From each end X goes from node to node, and the two answers are blended in angle.

What is changed, and why:

* Text 002 finds the next X as the one of the largest ``x_i · x_{i+1}`` (it prints the smallest): the shadow
  of x_i on the next plane, which turns over where two Zs stand a right angle apart. Here the whole frame is
  kept as near as can be, ``x_i · x_{i+1} + y_i · y_{i+1}`` is largest: that is again the smallest rotation.
  It agrees with the shadow to the second order in the bend, fails only where both corners fold back
  entirely, and one way is the other's inverse; so the two answers differ by one and the same angle at every
  node of a line, its ``twist``. With none, the frames are those of least turning, the minimum of (4.4); with
  a twist they turn by up to 2 % more on an even bend. (The minimum of (4.5) as printed turns by a quarter
  more: its term of the moment before outweighs the rest, and inner frames never move.)
* Twist is measured from bind: at bind X goes from the origin's end to all other nodes, so the twist is zero
  there, and the frames posed at bind are those of bind to the last bit.

**Without history** frames are a pure function of the pose, continuous as long as the two ends are twisted
against each other by less than half a turn. No function of the pose alone can go on: a whole turn is
the same pose as none. **With history** (``near``, the twists of the moment before) the twist nearest to it is
taken and frames stay continuous for any number of turns.

Limits: an end that points opposite to where its reference joint carries it, and a corner folded
back entirely, leave the direction undecided.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from ecorche.base.checks import require_finite
from ecorche.errors import EcorcheError
from ecorche.muscles.lines.frame_passes import line_axes, pose_frames, spread_frames
from ecorche.muscles.loft_joints import NO_SCAPULAE, NO_VECTORS
from ecorche.muscles.posed_joints import MOVED, TURN, pose_joints

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False, repr=False)
class PosedLineFrames:
    """The frames in one pose, or in a batch of poses with the leading axes ``...``.

    Attributes:
        frames: Columns x, y, z of every node, z along its line, shape (..., N, 3, 3).
        twist: How far the insertion's X is turned from the origin's about each line since bind [rad], (...,
            L).
    """

    frames: Floats
    twist: Floats


@dataclass(frozen=True, eq=False, repr=False)
class LineFrames:
    """The action lines of a body at bind with their frames, ready to be posed.

    Attributes:
        names: Of the lines, L.
        starts: Line l owns the nodes ``starts[l]`` to ``starts[l + 1] − 1``, shape (L + 1,).
        nodes: At bind [m], (N, 3).
        joints: That the first and the last node of each line are attached to, (L, 2).
        references: Joints that carry the X of both ends, (L, 2).
        ratio: The insertion's share in the blend at each node, 0 to 1, (N,).
        curved: Which lines are C1 curves through their nodes, others are polylines, (L,).
        frames: At bind, (N, 3, 3).
    """

    names: tuple[str, ...]
    starts: Ints
    nodes: Floats
    joints: Ints
    references: Ints
    ratio: Floats
    curved: Bools
    frames: Floats

    def __repr__(self) -> str:
        return f"LineFrames({len(self.names)} lines, {len(self.nodes)} nodes)"

    @property
    def line_count(self) -> int:
        """How many lines there are."""
        return len(self.names)

    def posed(
        self, nodes: npt.ArrayLike, moved: npt.ArrayLike, *, near: npt.ArrayLike | None = None
    ) -> PosedLineFrames:
        """The frames of posed nodes (..., N, 3) [m] for ``M − I`` of the joints (..., joints, 4, 4).

        Args:
            nodes: Where the path model puts them.
            moved: The pose, see `difference_from_bind`.
            near: Twists of the moment before (..., L) [rad]; None gives those within half a turn of bind.
        """
        places = np.ascontiguousarray(nodes, np.float64)
        joints = np.ascontiguousarray(moved, np.float64)
        batch = places.shape[:-2]
        if places.shape[-2:] != self.nodes.shape or joints.shape[:-3] != batch or joints.shape[-2:] != (4, 4):
            raise EcorcheError(
                f"nodes of shape {places.shape} and joints of {joints.shape} do not fit each other or"
                f" {len(self.nodes)} nodes",
                where="frames of action lines",
                remedy=f"Give shapes (..., {len(self.nodes)}, 3) and (..., joints, 4, 4)",
            )
        if joints.shape[-3] <= int(self.references.max(initial=-1)):
            line = int(np.argmax(self.references.max(axis=1)))
            raise EcorcheError(
                f"its reference joint {int(self.references[line].max())} does not exist: the pose has"
                f" {joints.shape[-3]} joints",
                where=f"action line {self.names[line]!r}",
                remedy="Pose the skeleton the lines were made for",
            )
        start = np.zeros((*batch, self.line_count))
        before = start if near is None else np.broadcast_to(np.asarray(near, np.float64), start.shape)
        frames, twist = np.empty((*places.shape, 3)), np.empty(start.shape)
        for at in np.ndindex(batch):
            self._pose(places[at], joints[at], np.ascontiguousarray(before[at]), frames[at], twist[at])
        return PosedLineFrames(frames, twist)

    def through(
        self, nodes: npt.ArrayLike, moved: npt.ArrayLike, *, near: npt.ArrayLike | None = None
    ) -> PosedLineFrames:
        """The frames of a motion, nodes (F, N, 3) and joints (F, joints, 4, 4): each near the one before.

        The first is near ``near`` (L,), None is bind.
        """
        twist = np.zeros(self.line_count) if near is None else np.asarray(near, np.float64)
        found = []
        for places, joints in zip(np.asarray(nodes), np.asarray(moved), strict=True):
            found.append(self.posed(places, joints, near=twist))
            twist = found[-1].twist
        return PosedLineFrames(
            np.array([f.frames for f in found]).reshape(-1, *self.frames.shape),
            np.array([f.twist for f in found]).reshape(-1, self.line_count),
        )

    def _pose(self, nodes: Floats, moved: Floats, near: Floats, frames: Floats, twist: Floats) -> None:
        turning = np.zeros(len(moved), np.bool_)
        turning[self.references.ravel()] = True
        flat, turn = np.empty((len(moved), MOVED)), np.zeros((len(moved), TURN))
        if not pose_joints(turning, NO_SCAPULAE, NO_VECTORS, moved, flat, turn):
            raise EcorcheError(
                "a joint that carries an end of a line is scaled to nothing, or not a number",
                where="frames of action lines",
                remedy="Check the pose",
            )
        bad = pose_frames(
            self.starts, self.references, self.frames, self.ratio, turn, nodes, near, frames, twist
        )
        if bad >= 0:
            raise _no_length(self.names[bad], nodes[self.starts[bad] : self.starts[bad + 1]])


def line_frames(
    starts: npt.ArrayLike,
    nodes: npt.ArrayLike,
    joints: npt.ArrayLike,
    *,
    references: npt.ArrayLike | None = None,
    outward: npt.ArrayLike | None = None,
    ratio: npt.ArrayLike | None = None,
    curved: npt.ArrayLike = True,
    names: Sequence[str] | None = None,
) -> LineFrames:
    """Action lines with frames at bind.

    Args:
        starts: Of the lines among the nodes, (L + 1,).
        nodes: At bind [m], (N, 3).
        joints: That carry the first and the last node of each line, (L, 2).
        references: Joints that carry the frames of both ends, (L, 2), None is ``joints``. Text 002 lets
            the shoulder carry the biceps' lower end, so that the tendon does not twist with the forearm.
        outward: Where X shall point at the first node, such as from bone to skin, (3,) or (L, 3); None is the
            axis of the world that lies most across the line.
        ratio: The insertion's share at inner nodes, one number or (L,); None is the share of the way there.
        curved: Whether lines are C1 curves through their nodes, one value or (L,).
        names: Of the lines, L; None numbers them.
    """
    first = np.ascontiguousarray(starts, np.int32).reshape(-1)
    places = np.array(nodes, np.float64)
    count = len(first) - 1
    known = tuple(names) if names is not None else tuple(f"line {k + 1}" for k in range(count))
    if count < 0 or len(known) != count or first[0] != 0 or first[-1] != len(places):
        raise EcorcheError(
            f"{len(known)} names and starts of shape {first.shape} do not fit {len(places)} nodes",
            where="action lines",
            remedy="Starts begin with 0, end with the number of nodes, and are one more than the lines",
        )
    require_finite(places, "the position of node", "action lines", EcorcheError)
    short = np.diff(first) < 2
    if short.any():
        raise EcorcheError(
            "it has fewer than two nodes",
            where=f"action line {known[int(np.argmax(short))]!r}",
            remedy="Give it an origin and an insertion",
        )
    ends = _joint_pairs(joints, count, "joints", known)
    carriers = ends if references is None else _joint_pairs(references, count, "reference joints", known)
    axes = _axes(first, places, known)
    across = _across(axes[first[:-1]], outward, known)
    frames = np.empty((len(places), 3, 3))
    spread_frames(first, axes, across, frames)
    return LineFrames(
        known,
        first,
        places,
        ends,
        carriers,
        _ratios(first, places, ratio, known),
        np.array(np.broadcast_to(np.asarray(curved, np.bool_), (count,))),
        frames,
    )


def _joint_pairs(joints: npt.ArrayLike, count: int, what: str, names: Sequence[str]) -> Ints:
    pairs = np.array(joints, np.int32)
    if pairs.shape != (count, 2):
        raise EcorcheError(
            f"{what} have shape {pairs.shape} for {count} lines",
            where="action lines",
            remedy="Give two a line: of its origin and of its insertion",
        )
    wrong = (pairs < 0).any(axis=1)
    if wrong.any():
        line = int(np.argmax(wrong))
        raise EcorcheError(
            f"it is attached to joint {int(pairs[line].min())}, which does not exist",
            where=f"action line {names[line]!r}",
            remedy="Number joints from 0",
        )
    return pairs


def _axes(starts: Ints, nodes: Floats, names: Sequence[str]) -> Floats:
    axes = np.empty(nodes.shape)
    bad = line_axes(starts, nodes, axes)
    if bad >= 0:
        raise _no_length(names[bad], nodes[starts[bad] : starts[bad + 1]])
    return axes


def _across(z: Floats, outward: npt.ArrayLike | None, names: Sequence[str]) -> Floats:
    """The X of each first node at bind, (L, 3)."""
    if outward is None:
        wanted = np.eye(3)[np.argmin(np.abs(z), axis=1)]
    else:
        wanted = np.array(np.broadcast_to(np.asarray(outward, np.float64), z.shape))
        require_finite(wanted, "the outward direction of line", "action lines", EcorcheError)
    for _ in range(2):
        # taken out twice: the first remainder of a nearly parallel direction is still a little oblique
        wanted = wanted - np.sum(wanted * z, axis=1, keepdims=True) * z
        length = np.linalg.norm(wanted, axis=1, keepdims=True)
        lost = ~(length[:, 0] > 1e-9)
        if lost.any():
            raise EcorcheError(
                "its outward direction points along the line",
                where=f"action line {names[int(np.argmax(lost))]!r}",
                remedy="Choose one across it, such as from the bone to the skin",
            )
        wanted = wanted / length
    return np.asarray(wanted)


def _ratios(starts: Ints, nodes: Floats, ratio: npt.ArrayLike | None, names: Sequence[str]) -> Floats:
    shares = np.zeros(len(nodes))
    given = None if ratio is None else np.broadcast_to(np.asarray(ratio, np.float64), (len(names),))
    for line, (first, end) in enumerate(pairwise(starts)):
        if given is None:
            steps = np.linalg.norm(np.diff(nodes[first:end], axis=0), axis=1)
            shares[first + 1 : end] = np.cumsum(steps) / steps.sum()
        elif 0.0 <= given[line] <= 1.0:
            shares[first + 1 : end - 1] = given[line]
        else:
            raise EcorcheError(
                f"its blend ratio is {given[line]:g}",
                where=f"action line {names[line]!r}",
                remedy="0 is the origin's direction, 1 the insertion's",
            )
        shares[end - 1] = 1.0
    return shares


def _no_length(name: str, nodes: Floats) -> EcorcheError:
    if not np.isfinite(nodes).all():
        return EcorcheError(
            "a node is not a number", where=f"action line {name!r}", remedy="Check the pose and its path"
        )
    return EcorcheError(
        "all its nodes are at one place",
        where=f"action line {name!r}",
        remedy="Move its origin and insertion apart",
    )
