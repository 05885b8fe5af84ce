"""Muscles bound before, taken over where an edit elsewhere has changed nothing about them.

Binding a mesh takes far longer than seeing that lines lie as they did. What is taken over is the same to the
last bit as what binding it again would give; only numbers of nodes and lines move up or down.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ecorche.muscles.line_muscle import LineMuscle
from ecorche.muscles.lines.frames import LineFrames
from ecorche.muscles.lines.muscle_on_lines import MuscleOnLines

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class BoundBefore:
    """What muscles were bound to, and what came of it.

    Attributes:
        frames: All lines.
        sigma: Isometric scales of their nodes, (N, 2).
        exclusive: Of their segments, (N − L,).
        bulk: How muscular the body was.
        designed: The muscles, by name.
        bound: The same muscles bound, by name.
    """

    frames: LineFrames
    sigma: Floats
    exclusive: npt.NDArray[np.bool_]
    bulk: float
    designed: Mapping[str, LineMuscle]
    bound: Mapping[str, MuscleOnLines]

    def again(
        self,
        muscle: LineMuscle,
        frames: LineFrames,
        own: range,
        sigma: Floats,
        exclusive: npt.NDArray[np.bool_],
        bulk: float,
    ) -> MuscleOnLines | None:
        """A muscle bound to lines ``own`` of ``frames``, if it was before and nothing about it differs."""
        bound, was = self.bound.get(muscle.name), self.designed.get(muscle.name)
        if bound is None or was is None or bulk != self.bulk or not _same_mesh(muscle, was):
            return None
        if len(bound.lines) != len(own) or not len(own):
            return None
        before, count = bound.lines[0], len(own)
        a, b = (
            lines.starts[first : first + count + 1]
            for lines, first in ((self.frames, before), (frames, own[0]))
        )
        if not np.array_equal(np.diff(a), np.diff(b)):
            return None
        old, new = slice(int(a[0]), int(a[-1])), slice(int(b[0]), int(b[-1]))
        lines_old, lines_new = slice(before, before + count), slice(own[0], own[0] + count)
        segments_old = slice(old.start - before, old.stop - before - count)
        segments_new = slice(new.start - own[0], new.stop - own[0] - count)
        pairs: list[tuple[npt.NDArray[Any], npt.NDArray[Any]]] = [
            (self.frames.nodes[old], frames.nodes[new]),
            (self.frames.frames[old], frames.frames[new]),
            (self.frames.ratio[old], frames.ratio[new]),
            (self.frames.curved[lines_old], frames.curved[lines_new]),
            (self.frames.joints[lines_old], frames.joints[lines_new]),
            (self.frames.references[lines_old], frames.references[lines_new]),
            (self.sigma[old], sigma[new]),
            (self.exclusive[segments_old], exclusive[segments_new]),
        ]
        if not all(np.array_equal(one, other) for one, other in pairs):
            return None
        return _renumbered(bound, own, new.start - old.start)


def _renumbered(bound: MuscleOnLines, own: range, nodes: int) -> MuscleOnLines:
    """The muscle on the same lines under other numbers, whose nodes are so many further on."""
    lines = own[0] - bound.lines[0]
    if nodes == 0 and lines == 0:
        return bound
    span = bound.span.copy()
    span[..., 0] += nodes
    return replace(
        bound,
        lines=tuple(own),
        node=np.where(bound.node >= 0, bound.node + nodes, bound.node).astype(np.int32),
        span=span,
        knot=(bound.knot + nodes + lines).astype(np.int32),
    )


def _same_mesh(one: LineMuscle, other: LineMuscle) -> bool:
    """Whether two muscles have one mesh, held alike."""
    if one.volume != other.volume or (one.room is None) != (other.room is None):
        return False
    held = one.attachments, other.attachments
    if len(held[0]) != len(held[1]):
        return False
    for a, b in zip(*held, strict=True):
        if a.sits.joint != b.sits.joint or a.sits.reach != b.sits.reach:
            return False
        if not np.array_equal(a.sits.vertices, b.sits.vertices):
            return False
    arrays: list[tuple[npt.NDArray[Any], npt.NDArray[Any]]] = [
        (one.points, other.points),
        (one.triangles, other.triangles),
    ]
    if one.room is not None and other.room is not None:
        arrays.append((one.room, other.room))
    return all(a is b or np.array_equal(a, b) for a, b in arrays)
