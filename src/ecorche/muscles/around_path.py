"""Where things lie round a muscle's path: how far along, how far out, and at which angle from a polar axis.

A. Murai and others, 2016, figure 3: cylindrical polar coordinates whose axis is the path, a polyline from
origin over via points to insertion. The text gives each half the frame of its nearest bone; where the bones
turn against each other the two frames then disagree at the belly and the section jumps. Here there is one
polar axis: carried from segment to segment by the least rotation, and where the insertion's bone says where
it points there, what is left between the two is spread evenly over the path.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecorche.errors import EcorcheError
from ecorche.muscles.spindle import Bools, Floats

SHORTEST = 1e-6
"""A path or segment shorter than this [m] has no direction."""
FOLDED = 1e-6
"""Segments whose directions add up to less than this square have turned right back."""


@dataclass(frozen=True, eq=False)
class Around:
    """Places of K points round a path in F frames.

    Attributes:
        along: Share of the path's length, 0 at the origin and 1 at the insertion, shape (F, K).
        distance: From the path [m], shape (F, K).
        theta: Angle from the polar axis [rad], shape (F, K).
        segment: The segment of the path that is nearest, shape (F, K).
        past: Whether the point lies past an end of the path, shape (F, K).
    """

    along: Floats
    distance: Floats
    theta: Floats
    segment: npt.NDArray[np.int64]
    past: Bools


class PathFrames:
    """A path through F frames with a polar axis along it.

    Args:
        nodes: Origin, via points and insertion [m], shape (F, n, 3).
        polar: Where the polar axis points at the origin, shape (F, 3) or (3,); it need not be square to the
            path.
        polar_end: The same at the insertion; None lets the axis go its own way.
        name: What messages call the muscle.

    Attributes:
        lengths: Of the path [m], shape (F,).
        reached: Length up to each node [m], shape (F, n).
        tangents: Directions of the segments, shape (F, n − 1, 3).
        axes: The polar axis on each segment, square to it, shape (F, n − 1, 3).
    """

    def __init__(
        self,
        nodes: npt.ArrayLike,
        polar: npt.ArrayLike,
        polar_end: npt.ArrayLike | None = None,
        *,
        name: str = "",
    ) -> None:
        self.nodes = np.asarray(nodes, np.float64)
        self._where = f"muscle {name!r}" if name else "muscle"
        if self.nodes.ndim != 3 or self.nodes.shape[1] < 2 or self.nodes.shape[2] != 3:
            raise EcorcheError(
                f"its path has shape {self.nodes.shape}",
                where=self._where,
                remedy="Give origin and insertion, or more nodes, a frame: (frames, nodes, 3)",
            )
        self._refuse(~np.isfinite(self.nodes).all(axis=(1, 2)), "its path is not finite", "Repair it")
        steps = np.diff(self.nodes, axis=1)
        sizes = np.linalg.norm(steps, axis=2)
        self.reached = np.concatenate([np.zeros((len(steps), 1)), np.cumsum(sizes, axis=1)], axis=1)
        self.lengths = self.reached[:, -1]
        self._refuse(
            self.lengths < SHORTEST,
            "it has no length: origin and insertion coincide",
            "Move them apart; lengths are in metres",
        )
        self._refuse(
            sizes.min(axis=1) < SHORTEST,
            "two of its nodes coincide",
            "Take one of them out, or move it along the path",
        )
        self.tangents = steps / sizes[..., None]
        self.axes = self._transported(polar, polar_end)

    def __len__(self) -> int:
        return len(self.nodes)

    def around(self, points: npt.ArrayLike) -> Around:
        """Where points [m], (F, K, 3) or (K, 3), lie round the path in each frame."""
        places = np.asarray(points, np.float64)
        places = np.broadcast_to(places, (len(self), *places.shape[-2:]))
        best = np.full(places.shape[:2], np.inf)
        share, owner = np.zeros_like(best), np.zeros(best.shape, np.int64)
        sizes = np.diff(self.reached, axis=1)
        for k in range(self.tangents.shape[1]):
            away = places - self.nodes[:, None, k]
            reach = np.clip(np.einsum("fkc,fc->fk", away, self.tangents[:, k]), 0.0, sizes[:, k, None])
            away = away - reach[..., None] * self.tangents[:, None, k]
            square = np.einsum("fkc,fkc->fk", away, away)
            nearer = square < best
            best = np.where(nearer, square, best)
            share = np.where(nearer, reach, share)
            owner = np.where(nearer, k, owner)
        rows = np.arange(len(self))[:, None]
        at = self.reached[rows, owner] + share
        foot = self.nodes[rows, owner] + share[..., None] * self.tangents[rows, owner]
        axis = self.axes[rows, owner]
        side = np.cross(self.tangents[rows, owner], axis)
        out = places - foot
        theta = np.arctan2(np.einsum("fkc,fkc->fk", out, side), np.einsum("fkc,fkc->fk", out, axis))
        beyond = np.einsum("fkc,fkc->fk", out, self.tangents[rows, owner])
        # nearest to an end and still further on: no segment lies square below
        small = 1e-9 * self.lengths[:, None]
        ends = ((at <= 0.0) & (beyond < -small)) | ((at >= self.lengths[:, None]) & (beyond > small))
        return Around(at / self.lengths[:, None], np.sqrt(best), theta, owner, ends)

    def places(self, along: npt.ArrayLike, theta: npt.ArrayLike, distance: npt.ArrayLike) -> Floats:
        """Points [m], (F, K, 3), at shares of the length, angles [rad] and distances [m], (K,) or (F, K)."""
        t, angle, out = (
            np.broadcast_to(np.asarray(v, np.float64), (len(self), np.shape(v)[-1]))
            for v in (along, theta, distance)
        )
        at = np.clip(t, 0.0, 1.0) * self.lengths[:, None]
        owner = np.sum(at[..., None] >= self.reached[:, None, 1:-1], axis=2)
        rows = np.arange(len(self))[:, None]
        tangent, axis = self.tangents[rows, owner], self.axes[rows, owner]
        foot = self.nodes[rows, owner] + (at - self.reached[rows, owner])[..., None] * tangent
        side = np.cross(tangent, axis)
        result: Floats = foot + out[..., None] * (
            np.cos(angle)[..., None] * axis + np.sin(angle)[..., None] * side
        )
        return result

    def _transported(self, polar: npt.ArrayLike, polar_end: npt.ArrayLike | None) -> Floats:
        first = self._square(polar, 0)
        axes = [first]
        for k in range(1, self.tangents.shape[1]):
            before, after = self.tangents[:, k - 1], self.tangents[:, k]
            both = before + after
            size = np.einsum("fc,fc->f", both, both)
            self._refuse(size < FOLDED, "its path turns right back on itself", "Move the node where it does")
            axis = axes[-1] - (2.0 * np.einsum("fc,fc->f", axes[-1], after) / size)[:, None] * both
            axes.append(axis / np.linalg.norm(axis, axis=1, keepdims=True))
        carried = np.stack(axes, axis=1)
        if polar_end is None:
            return carried
        last, wanted = self.tangents[:, -1], self._square(polar_end, -1)
        twist = np.arctan2(
            np.einsum("fc,fc->f", np.cross(carried[:, -1], wanted), last),
            np.einsum("fc,fc->f", carried[:, -1], wanted),
        )
        twist = np.unwrap(twist)  # a bone that turns on past 180° drags the axis along
        middle = 0.5 * (self.reached[:, 1:] + self.reached[:, :-1]) / self.lengths[:, None]
        span = np.maximum(middle[:, -1:] - middle[:, :1], 1e-12)
        turn = (
            twist[:, None] * (middle - middle[:, :1]) / span if middle.shape[1] > 1 else 0.5 * twist[:, None]
        )
        side = np.cross(self.tangents, carried)
        return np.asarray(np.cos(turn)[..., None] * carried + np.sin(turn)[..., None] * side)

    def _square(self, direction: npt.ArrayLike, segment: int) -> Floats:
        """A direction made square to a segment and of length 1, (F, 3)."""
        given = np.broadcast_to(np.asarray(direction, np.float64), (len(self), 3))
        self._refuse(~np.isfinite(given).all(axis=1), "its polar axis is not finite", "Give a direction")
        along = self.tangents[:, segment]
        across = given - np.einsum("fc,fc->f", given, along)[:, None] * along
        size = np.linalg.norm(across, axis=1)
        self._refuse(
            size <= 1e-6 * np.linalg.norm(given, axis=1),
            "its polar axis runs along the path",
            "Choose a direction across the muscle, such as out of the body",
        )
        return np.asarray(across / size[:, None])

    def _refuse(self, bad: npt.ArrayLike, what: str, remedy: str) -> None:
        flags = np.asarray(bad)
        if flags.any():
            raise EcorcheError(what, where=f"{self._where}, frame {int(np.argmax(flags))}", remedy=remedy)


def carried_axis(
    axis: npt.ArrayLike, turns: npt.ArrayLike, path_then: npt.ArrayLike, paths: Floats
) -> Floats:
    """A polar axis carried by a bone, and from there the least way to the path, (F, 3).

    A bone alone would let the axis fall into the path where the muscle swings against it.

    Args:
        axis: At the reference pose, (3,).
        turns: Of the bone since then, matrices (F, 3, 3).
        path_then: Direction of the path there, (3,).
        paths: Direction of the path in each frame, (F, 3).
    """
    rotation = np.asarray(turns, np.float64)
    start = np.asarray(path_then, np.float64) / np.linalg.norm(path_then)
    given = np.asarray(axis, np.float64)
    square = given - (given @ start) * start
    carried, before = rotation @ square, rotation @ start
    after = paths / np.linalg.norm(paths, axis=1, keepdims=True)
    both = before + after
    size = np.einsum("fc,fc->f", both, both)
    if (size < FOLDED).any():
        raise EcorcheError(
            "the path points back along its bone",
            where=f"frame {int(np.argmax(size < FOLDED))}",
            remedy="Choose another bone to carry the polar axis",
        )
    result: Floats = carried - (2.0 * np.einsum("fc,fc->f", carried, after) / size)[:, None] * both
    return result
