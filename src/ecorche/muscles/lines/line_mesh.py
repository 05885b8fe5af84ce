"""All muscle meshes of a body on their action lines, posed in compiled passes (`line_mesh_passes`).

Nodes, frames, elongations and activation go in, the vertices of all muscles come out. They are written as
bind plus what has changed since bind by the same arithmetic: bind is exact to the last bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from ecorche.errors import EcorcheError
from ecorche.muscles.bone import Bone
from ecorche.muscles.lines.contraction import elongation_knots, knots
from ecorche.muscles.lines.cubic import joint_turns, node_turns, segment_lengths
from ecorche.muscles.lines.flesh_surface import surface_of
from ecorche.muscles.lines.frames import LineFrames
from ecorche.muscles.lines.give_way import GivingWay
from ecorche.muscles.lines.line_mesh_passes import (
    Solids,
    VertexPlan,
    combine,
    find_factors,
    pose_vertices,
    sum_volumes,
)
from ecorche.muscles.lines.muscle_on_lines import MuscleOnLines
from ecorche.muscles.lines.unfold import unfold

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]
Bools = npt.NDArray[np.bool_]

CHUNK = 512
"""Triangles whose volume is summed in one go."""


@dataclass(frozen=True, eq=False, repr=False)
class PosedLineMeshes:
    """Muscle meshes in one pose, or in a batch of poses with the leading axes ``...``.

    Attributes:
        points: Vertices of all muscles [m], (..., V, 3).
        factor: κ of each muscle, (..., M): how much broader its belly is than the published rule makes it.
        published: Volume by the published rule alone, over that of bind, (..., M); 1 where none is held.
        held: Whether each muscle that shall keep its volume does, (..., M).
        elongation: e of every segment, initial over current length, (..., N − L).
    """

    points: Floats
    factor: Floats
    published: Floats
    held: Bools
    elongation: Floats


class LineMeshes:
    """The muscles of a body on their action lines, ready to be posed.

    Args:
        lines: All action lines of the body at bind.
        muscles: Bound to them.
        bones: What the muscles give way to, see `give_way`; none: they go through bones.

    Attributes:
        starts: Vertices of muscle m are ``starts[m]`` to ``starts[m + 1] − 1``, (M + 1,).
        bind: All vertices at bind [m], (V, 3).
        lengths: Of the segments at bind [m], (N − L,).
        volumes: Of the muscles at bind [m³], (M,); 0 where none is held.
    """

    def __init__(
        self, lines: LineFrames, muscles: Sequence[MuscleOnLines], bones: Sequence[Bone] = ()
    ) -> None:
        self.lines, self.muscles = lines, tuple(muscles)
        self.starts = np.cumsum([0, *(len(m.points) for m in self.muscles)]).astype(np.int32)
        self._plan = self._planned()
        self._solids = self._cut()
        at = [knots(lines.nodes[a:b]) for a, b in pairwise(lines.starts)]
        self._knots = np.concatenate([np.zeros(0), *at])
        self.bind = self._plan.points
        self.lengths = np.ones(len(lines.nodes) - lines.line_count)
        turns = np.empty((len(lines.nodes), 4))
        node_turns(lines.starts, lines.frames, turns)
        segment_lengths(lines.starts, lines.curved, lines.nodes, turns, self.lengths)
        self._joints = 1 + max((int(m.held.max(initial=0)) for m in self.muscles), default=0)
        self._surface = surface_of([m.part for m in self.muscles], self.starts, self.bind)
        self._among_bones = GivingWay(bones, self._surface) if bones and muscles else None
        if self._among_bones is not None:
            self._joints = max(self._joints, 1 + int(self._among_bones.joints.max()))
        count = len(self.bind)
        self._rest, self._zero = np.zeros((count, 3)), np.zeros(len(self.muscles))
        self.volumes = np.zeros(len(self.muscles))
        still = np.zeros((self._joints, 4, 4))
        spread, volume = np.empty((count, 3)), np.zeros((len(self.muscles), 4))
        turned = np.empty((count, 4))
        self._shape(lines.nodes, turns, self.lengths, still, self._zero, self._rest, spread, turned)
        self._all = np.ones(len(self.muscles), np.bool_)
        sum_volumes(self._solids, self._all, self._rest, spread, volume)
        self.volumes = volume[:, 0].copy()

    def __repr__(self) -> str:
        return f"LineMeshes({len(self.muscles)} muscles, {len(self.bind)} vertices)"

    def posed(
        self,
        nodes: npt.ArrayLike,
        frames: npt.ArrayLike,
        moved: npt.ArrayLike,
        activation: npt.ArrayLike | None = None,
        *,
        elongation: npt.ArrayLike | None = None,
        out: Floats | None = None,
    ) -> PosedLineMeshes:
        """The meshes of one pose, or of a batch of poses with the leading axes ``...``.

        Args:
            nodes: Of the lines [m], (..., N, 3).
            frames: Of the nodes, (..., N, 3, 3), from `LineFrames.posed`.
            moved: ``M − I`` of the joints, (..., joints, 4, 4).
            activation: Of the muscles, 0 to 1, (..., M); None is at rest.
            elongation: e of the segments, bind length over length now, (..., N − L), where the path model
                knows better than the nodes, as with tendons that slide; None measures the lines.
            out: Memory for the points, (..., V, 3).
        """
        places, turned = np.ascontiguousarray(nodes, np.float64), np.ascontiguousarray(frames, np.float64)
        joints = np.ascontiguousarray(moved, np.float64)
        batch = places.shape[:-2]
        wanted = (*batch, len(self.muscles))
        active = np.broadcast_to(np.zeros(1) if activation is None else np.asarray(activation), wanted)
        self._check(places, turned, joints, active)
        points = np.empty((*batch, *self.bind.shape)) if out is None else out
        factor, published, held = np.zeros(wanted), np.ones(wanted), np.ones(wanted, np.bool_)
        stretch = np.empty((*batch, len(self.lengths)))
        known = None if elongation is None else np.broadcast_to(np.asarray(elongation), stretch.shape)
        if known is not None and not ((known > 0.0) & (known < np.inf)).all():
            raise EcorcheError(
                "an elongation is not a positive number",
                where="muscles on action lines",
                remedy="Give bind length over length now of every segment, 1 at bind",
            )
        for at in np.ndindex(batch):
            now = None if known is None else np.ascontiguousarray(known[at], np.float64)
            alpha = np.ascontiguousarray(active[at], np.float64)
            stretch[at] = self._pose(
                places[at],
                turned[at],
                joints[at],
                alpha,
                now,
                points[at],
                factor[at],
                published[at],
                held[at],
            )
        if not np.isfinite(factor).all() or not np.isfinite(points).all():
            raise self._refusal(points.reshape(-1, *self.bind.shape))
        return PosedLineMeshes(points, factor, published, held, stretch)

    def _pose(
        self,
        nodes: Floats,
        frames: Floats,
        moved: Floats,
        activation: Floats,
        known: Floats | None,
        points: Floats,
        factor: Floats,
        published: Floats,
        held: Bools,
    ) -> Floats:
        lines, count = self.lines, len(self.bind)
        turns, now = np.empty((len(nodes), 4)), np.empty(len(self.lengths))
        node_turns(lines.starts, frames, turns)
        if known is None:
            segment_lengths(lines.starts, lines.curved, nodes, turns, now)
        else:
            now = self.lengths / known
        shape, spread = np.empty((count, 3)), np.empty((count, 3))
        turned = np.empty((count, 4))
        self._shape(nodes, turns, now, moved, activation, shape, spread, turned)
        volume = np.empty((len(self.muscles), 4))
        sum_volumes(self._solids, self._all, shape, spread, volume)
        find_factors(volume, self.volumes, factor, held)
        np.divide(volume[:, 0], self.volumes, out=published, where=self.volumes > 0.0)
        combine(self._plan.muscle, self.bind, self._rest, shape, spread, factor, points)
        aside = np.zeros((count, 3))
        changed = unfold(self._surface, turned, points, aside) > 0
        if changed:
            points += aside
        away = None if self._among_bones is None else self._among_bones.displacement(points, moved)
        if away is not None:
            aside += away
            changed = True
        if changed:  # what is pressed in here comes out elsewhere
            shape += aside
            asked = np.maximum.reduceat(np.abs(aside), self.starts[:-1]).any(axis=1)
            sum_volumes(self._solids, asked, shape, spread, volume)
            find_factors(volume, self.volumes, factor, held)
            combine(self._plan.muscle, self.bind, self._rest, shape, spread, factor, points)
        return self.lengths / np.maximum(now, 1e-300)

    def _shape(
        self,
        nodes: Floats,
        turns: Floats,
        lengths: Floats,
        moved: Floats,
        activation: Floats,
        shape: Floats,
        spread: Floats,
        turned: Floats,
    ) -> None:
        values, slopes = np.empty(len(self._knots)), np.empty(len(self._knots))
        elongation_knots(self.lines.starts, self.lengths, lengths, self._knots, values, slopes)
        joints = np.empty((self._joints, 4))
        joint_turns(moved[: self._joints], joints)
        active = np.array(activation, np.float64)  # what may not be written to would be compiled apart
        pose_vertices(self._plan, nodes, turns, values, slopes, moved, joints, active, shape, spread, turned)

    def _planned(self) -> VertexPlan:
        def floats(field: str, *tail: int) -> Floats:
            return np.concatenate([np.zeros((0, *tail)), *(getattr(m, field) for m in self.muscles)])

        def pairs(field: str) -> Ints:
            return np.concatenate([np.zeros((0, 2), np.int32), *(getattr(m, field) for m in self.muscles)])

        node, sizes = pairs("node"), np.diff(self.starts)
        line_of_node = np.repeat(np.arange(self.lines.line_count), np.diff(self.lines.starts))
        return VertexPlan(
            muscle=np.repeat(np.arange(len(sizes)), sizes).astype(np.int32),
            node=node,
            t=floats("t", 2),
            weight=floats("weight"),
            span=self._spans(),
            blend=floats("blend"),
            offset=floats("offset", 2, 4),
            own=floats("own", 4),
            base=floats("base", 3),
            local=floats("local", 3),
            centre=floats("centre", 2),
            tensed=floats("tensed", 2),
            rise=floats("rise"),
            knot=pairs("knot"),
            basis=floats("basis", 2, 4),
            held=pairs("held"),
            hold=floats("hold", 2),
            points=floats("points", 3),
            curved=np.ascontiguousarray(self.lines.curved[line_of_node[np.maximum(node, 0)]]),
        )

    def _spans(self) -> Ints:
        spans, begin = [np.zeros((0, 2, 3), np.int32)], 0
        for muscle in self.muscles:
            spans.append(muscle.span + np.array([0, 0, begin], np.int32))
            begin += len(muscle.blend)
        return np.concatenate(spans)

    def _cut(self) -> Solids:
        triangles, chunks, at = [np.zeros((0, 3), np.int32)], [], 0
        for number, muscle in enumerate(self.muscles):
            triangles.append((muscle.closed + self.starts[number]).astype(np.int32))
            for first in range(0, len(muscle.closed), CHUNK):
                last = min(first + CHUNK, len(muscle.closed))
                chunks.append((at + first, at + last, number, int(triangles[-1][0, 0])))
            at += len(muscle.closed)
        columns = np.array(chunks, np.int32).reshape(-1, 4).T
        return Solids(np.concatenate(triangles), *(np.ascontiguousarray(column) for column in columns))

    def _check(self, nodes: Floats, frames: Floats, moved: Floats, activation: Floats) -> None:
        batch, count = nodes.shape[:-2], len(self.lines.nodes)
        fits = nodes.shape[-2:] == (count, 3) and frames.shape == (*nodes.shape, 3)
        fits = fits and moved.shape[:-3] == batch and moved.shape[-2:] == (4, 4)
        if not fits or moved.shape[-3] < self._joints:
            raise EcorcheError(
                f"nodes of shape {nodes.shape}, frames of {frames.shape} and joints of {moved.shape} do not"
                f" fit {count} nodes and {self._joints} or more joints",
                where="muscles on action lines",
                remedy="Pose the lines and the skeleton the muscles were bound to",
            )
        if not ((activation >= 0.0) & (activation <= 1.0)).all():
            number = int(np.argwhere(~((activation >= 0.0) & (activation <= 1.0)))[0, -1])
            raise EcorcheError(
                "its activation is not between 0 and 1",
                where=f"muscle {self.muscles[number].name!r}",
                remedy="0 is at rest, 1 is full contraction",
            )

    def _refusal(self, points: Floats) -> EcorcheError:
        wrong = np.argwhere(~np.isfinite(points).all(axis=-1))
        vertex = int(wrong[0, 1]) if len(wrong) else 0
        name = self.muscles[int(np.searchsorted(self.starts, vertex, "right")) - 1].name
        return EcorcheError(
            "a vertex of it comes out as not a number",
            where=f"muscle {name!r}",
            remedy="Check the pose and the nodes of its action lines",
        )
