"""One muscle mesh bound to its action lines: everything about it that no pose changes.

A vertex that follows two lines keeps a frame of its own between theirs. How each line's frame stood to it at
bind is kept (``offset``); so frames that were chosen differently on two lines never fight, and only how the
lines have turned since bind is blended.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecorche.base.checks import require_finite, require_indices
from ecorche.base.rotations import inverse_xyzw, multiply_xyzw, rotate_xyzw, slerp_xyzw
from ecorche.errors import MeshError
from ecorche.muscles.lines.attached import Attached, rigid_shares
from ecorche.muscles.lines.contraction import (
    VolumeRule,
    along_nodes,
    belly_rise,
    cubic_basis,
    knots,
    section_centroids,
)
from ecorche.muscles.lines.flesh_surface import Part, part_of
from ecorche.muscles.lines.frames import LineFrames
from ecorche.muscles.lines.mapping import Mapping, map_to_line
from ecorche.muscles.lines.regions import grow_regions
from ecorche.muscles.lines.room import swelling_share
from ecorche.muscles.lines.surface_graph import SurfaceGraph

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]
Bools = npt.NDArray[np.bool_]

END_REACH = 0.25
"""Share of a line's length over which what lies beyond its end holds on to the bone."""


@dataclass(frozen=True)
class MappingReport:
    """What a person should know about how a mesh was bound.

    Attributes:
        muscle: Its name.
        lost: Piece and number of vertices that no planes of a line enclose: they go rigidly with an end.
        beyond: Number of vertices past the ends of their line, which go rigidly with them.
        open_pieces: Number of pieces without an inside: their volume is not held.
        notes: The same in sentences, empty where all is well.
    """

    muscle: str
    lost: tuple[tuple[int, int], ...]
    beyond: int
    open_pieces: int
    notes: tuple[str, ...]


@dataclass(frozen=True, eq=False, repr=False)
class MuscleOnLines:
    """A mesh bound to lines.

    Attributes:
        name: Of the muscle.
        points: At bind [m], (V, 3).
        triangles: (T, 3).
        lines: Numbers of the lines that drive it.
        node: The node before each vertex's place on its first and second line, −1 for no second, (V, 2).
        t: Share of the way to the next node, (V, 2).
        weight: Of the second line, (V,).
        span: First node and number of nodes that count in its frame, and where their weights begin in
            ``blend``, (V, 2, 3).
        blend: Weights of nodes, (W,).
        offset: From a line's frame to the vertex's own at bind, as quaternions, (V, 2, 4).
        own: That frame of its own, as quaternions, (V, 4).
        base: Its place on the line, or between the two lines, at bind [m], (V, 3).
        local: The vertex in its own frame [m], (V, 3).
        centre: What it swells away from, x and y [m], (V, 2): the middle of its section there, nearer
            to the vertex where it has little room.
        tensed: σ − 1 of x and y under full activation, (V, 2).
        rise: g, how much the factor for the volume scales it, (V,).
        knot: The knot of e before each place, counted over all lines, (V, 2).
        basis: What values and slopes of two knots count, (V, 2, 4).
        held: The two joints that hold it, (V, 2).
        hold: How much, (V, 2).
        closed: Triangles that enclose the muscle's volume, (C, 3); none where it is not held.
        part: Its surface, for what presses on it.
        report: What a person should know.
    """

    name: str
    points: Floats
    triangles: Ints
    lines: tuple[int, ...]
    node: Ints
    t: Floats
    weight: Floats
    span: Ints
    blend: Floats
    offset: Floats
    own: Floats
    base: Floats
    local: Floats
    centre: Floats
    tensed: Floats
    rise: Floats
    knot: Ints
    basis: Floats
    held: Ints
    hold: Floats
    closed: Ints
    part: Part
    report: MappingReport

    def __repr__(self) -> str:
        return f"MuscleOnLines({self.name!r}, {len(self.points)} vertices, {len(self.lines)} lines)"


def muscle_on_lines(
    name: str,
    points: npt.ArrayLike,
    triangles: npt.ArrayLike,
    lines: LineFrames,
    own: Sequence[int],
    *,
    attached: Sequence[Attached] | None = None,
    isometric: npt.ArrayLike | None = None,
    exclusive: npt.ArrayLike | None = None,
    border_angle: float | None = None,
    volume: VolumeRule | None = None,
    room: Floats | None = None,
) -> MuscleOnLines:
    """Bind a mesh to one or several action lines.

    Args:
        name: Of the muscle. points: At bind [m], (V, 3). triangles: (T, 3); open, non-manifold, in pieces:
            any mesh will do. lines: All action lines of the body. own: Numbers of those that drive the
            muscle. attached: Vertices that sit on bones; None takes those past the ends of the lines.
            isometric: σ of x and y a node under full activation, packed, (N, 2); None is 1, no change.
            exclusive: Segments of branching tendons, whose vertices follow one line only, packed, (N − L,).
            border_angle: See `grow_regions`. volume: ``"exact"`` holds the volume of closed pieces,
            ``"thesis"`` does not; None is exact where a piece is closed. room: To the nearest place of the
            skin from each vertex [m], (V, 3), see `room`; None swells freely.

    Raises:
        MeshError: A number is not finite, there are no triangles, or a line does not exist.
    """
    places, faces = np.array(points, np.float64), np.array(triangles, np.int32)
    sigma = np.ones((len(lines.nodes), 2)) if isometric is None else np.asarray(isometric, np.float64)
    alone = None if exclusive is None else np.asarray(exclusive, np.bool_)
    _check(name, places, faces, lines, own, sigma, alone)
    graph = SurfaceGraph(places, faces)
    mappings = [map_to_line(places, lines, line) for line in own]
    regions = grow_regions(graph, lines, own, mappings, border_angle=border_angle, exclusive=alone)
    two = np.stack([regions.first, np.maximum(regions.second, 0)], axis=1)
    rows = np.arange(len(places))[:, None]

    def of_lines(name_of: str) -> Floats:
        """A field of the mappings to each vertex's two lines, (V, 2, …)."""
        return np.asarray(np.stack([getattr(m, name_of) for m in mappings], axis=1)[rows, two], np.float64)

    weight, parts = regions.weight, np.stack([1.0 - regions.weight, regions.weight], axis=1)
    turn, place = of_lines("turn"), of_lines("place")
    own_turn = np.where((weight > 0.0)[:, None], slerp_xyzw(turn[:, 0], turn[:, 1], weight), turn[:, 0])
    origin = np.sum(parts[..., None] * place, axis=1)
    local = rotate_xyzw(inverse_xyzw(own_turn), places - origin)
    fields = _along_lines(places, faces, lines, own, mappings, regions.first, sigma)
    centre, tensed, rise = (np.sum(parts[..., None] * f[rows, two], axis=1) for f in fields[:3])
    if room is not None:
        middle = np.concatenate([centre, local[:, 2:]], axis=1)
        share = swelling_share(rotate_xyzw(own_turn, local - middle), room)
        centre = local[:, :2] + share[:, None] * (centre - local[:, :2])
    held, hold = rigid_shares(graph, _attachments(lines, own, mappings, regions.first, attached))
    closed = graph.closed_triangles() if volume != "thesis" else np.zeros((0, 3), np.int64)
    span, blend = _spans(lines, own, mappings, two, regions.second >= 0)
    node = of_lines("node").astype(np.int32)
    node[regions.second < 0, 1] = -1
    return MuscleOnLines(
        name=name,
        points=places,
        triangles=faces,
        lines=tuple(int(line) for line in own),
        node=node,
        t=of_lines("t"),
        weight=weight,
        span=span,
        blend=blend,
        offset=multiply_xyzw(inverse_xyzw(turn), own_turn[:, None]),
        own=own_turn,
        base=origin,
        local=local,
        centre=centre,
        tensed=tensed,
        rise=rise[:, 0],
        knot=fields[3][rows, two].astype(np.int32),
        basis=fields[4][rows, two],
        held=held,
        hold=hold,
        closed=closed.astype(np.int32),
        part=part_of(graph, np.any(hold >= 1.0 - 1e-12, axis=1)),
        report=_report(name, graph, mappings, regions.first),
    )


def _check(
    name: str,
    points: Floats,
    triangles: Ints,
    lines: LineFrames,
    own: Sequence[int],
    sigma: Floats,
    exclusive: Bools | None,
) -> None:
    where = f"muscle {name!r}"
    if points.ndim != 2 or points.shape[1:] != (3,):
        raise MeshError(f"its points have shape {points.shape}", where=where, remedy="Give (vertices, 3)")
    require_finite(points, "the position of vertex", where, MeshError)
    if triangles.ndim != 2 or triangles.shape[1:] != (3,) or len(triangles) == 0:
        raise MeshError("it has no triangles", where=where, remedy="Export it as a triangle mesh")
    require_indices(triangles, len(points), "triangle corner", where, MeshError)
    if len(own) == 0 or len(set(own)) < len(own) or not all(0 <= line < lines.line_count for line in own):
        raise MeshError(
            f"it is to follow the action lines {list(own)}",
            where=where,
            remedy=f"Name one or more different lines from 0 to {lines.line_count - 1}",
        )
    if sigma.shape != (len(lines.nodes), 2) or not (np.isfinite(sigma) & (sigma > 0.0)).all():
        raise MeshError(
            "its isometric scaling is not two positive numbers a node",
            where=where,
            remedy="Give 1 where contraction changes nothing, and more where it swells",
        )
    if exclusive is not None and exclusive.shape != (len(lines.nodes) - lines.line_count,):
        raise MeshError(
            f"exclusive segments have shape {exclusive.shape}",
            where=where,
            remedy=f"Give one value a segment, {len(lines.nodes) - lines.line_count} in all",
        )


def _along_lines(
    points: Floats,
    triangles: Ints,
    lines: LineFrames,
    own: Sequence[int],
    mappings: Sequence[Mapping],
    first: npt.NDArray[np.int64],
    sigma: Floats,
) -> tuple[Floats, ...]:
    """Centres, σ − 1, g, knots and basis of every vertex on each of the lines, (V, lines, …)."""
    found: tuple[list[Floats], ...] = ([], [], [], [], [])
    for k, (line, mapping) in enumerate(zip(own, mappings, strict=True)):
        begin, end = int(lines.starts[line]), int(lines.starts[line + 1])
        nodes = lines.nodes[begin:end]
        at = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(nodes, axis=0), axis=1))])
        region = triangles[(first[triangles] == k).any(axis=1)]
        knot, basis = cubic_basis(knots(nodes), mapping.along)
        found[0].append(section_centroids(points, region, mapping, at))
        found[1].append(along_nodes(nodes, sigma[begin:end], mapping.along) - 1.0)
        found[2].append(belly_rise(float(at[-1]), mapping.along)[:, None])
        found[3].append((knot + begin + line).astype(np.float64))
        found[4].append(basis)
    return tuple(np.stack(column, axis=1) for column in found)


def _spans(
    lines: LineFrames,
    own: Sequence[int],
    mappings: Sequence[Mapping],
    two: npt.NDArray[np.int64],
    both: Bools,
) -> tuple[Ints, Floats]:
    """Which nodes count in the frames of each vertex's two lines, (V, 2, 3), and how much, (W,)."""
    widest = max(m.blend.shape[1] for m in mappings)
    padded = np.stack([np.pad(m.blend, ((0, 0), (0, widest - m.blend.shape[1]))) for m in mappings], axis=1)
    weights = padded[np.arange(len(two))[:, None], two]
    low = np.argmax(weights > 0.0, axis=2)
    high = widest - np.argmax(weights[:, :, ::-1] > 0.0, axis=2)
    high[~both, 1] = low[~both, 1]
    places = np.arange(widest)
    counted = (places >= low[..., None]) & (places < high[..., None])
    begin = np.concatenate([[0], np.cumsum((high - low).ravel())[:-1]]).reshape(low.shape)
    first = np.asarray(lines.starts)[np.asarray(own)][two] + low
    return np.stack([first, high - low, begin], axis=2).astype(np.int32), weights[counted]


def _attachments(
    lines: LineFrames,
    own: Sequence[int],
    mappings: Sequence[Mapping],
    first: npt.NDArray[np.int64],
    attached: Sequence[Attached] | None,
) -> list[Attached]:
    """As given, or the vertices past each end of each line."""
    if attached is not None:
        return list(attached)
    found = []
    for k, line in enumerate(own):
        nodes = lines.nodes[lines.starts[line] : lines.starts[line + 1]]
        reach = END_REACH * float(np.linalg.norm(np.diff(nodes, axis=0), axis=1).sum())
        for column, side in enumerate((-1, 1)):
            vertices = np.flatnonzero((first == k) & (mappings[k].end == side))
            if len(vertices):
                found.append(Attached(vertices, int(lines.joints[line, column]), reach))
    return found


def _report(
    name: str, graph: SurfaceGraph, mappings: Sequence[Mapping], first: npt.NDArray[np.int64]
) -> MappingReport:
    rows = np.arange(len(first))
    lost = np.stack([m.lost for m in mappings], axis=1)[rows, first]
    beyond = np.stack([m.end for m in mappings], axis=1)[rows, first] != 0
    by_piece = np.bincount(graph.piece[lost], minlength=graph.piece_count)
    pieces = tuple((int(p), int(by_piece[p])) for p in np.flatnonzero(by_piece))
    closed = np.unique(graph.piece[graph.closed_triangles().ravel()])
    count = len(np.unique(graph.piece[graph.triangles]))
    gaping = count - len(closed)
    notes = [
        f"{count} vertices of piece {piece + 1} lie where no planes of an action line enclose them and go"
        " rigidly with its nearer end"
        for piece, count in pieces
    ]
    if gaping:
        notes.append(f"{gaping} of {count} pieces are open: their volume is not held")
    return MappingReport(name, pieces, int(beyond.sum()), gaping, tuple(notes))
