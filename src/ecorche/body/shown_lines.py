"""What an editor draws of action lines in a pose: curves and nodes, ellipsoids, and the mesh each line moves.

And the way back: where at bind a node is that somebody has dragged to a place in a pose.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from ecorche.base.rotations import (
    matrix_from_xyzw,
    rotation_vector_from_xyzw,
    xyzw_from_matrix,
    xyzw_from_rotation_vector,
)
from ecorche.base.transforms import nearest_rotation
from ecorche.body.lines import BodyLines
from ecorche.errors import EcorcheError
from ecorche.muscles.line_muscle import ActionLine
from ecorche.muscles.lines.admissible import BoundNode, CollisionNode
from ecorche.muscles.lines.cubic import node_turns, points_on_lines
from ecorche.muscles.lines.field_places import place_ellipsoid
from ecorche.muscles.lines.fields import AXES, CENTRE, PLACED, RADII, Field, FieldEllipsoid
from ecorche.muscles.lines.line_paths import PosedPaths
from ecorche.muscles.scapula import difference_with

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Kind = Literal["bound", "free", "mobile"]

PIECES = 8
"""A segment is drawn as so many straight pieces."""


@dataclass(frozen=True, eq=False)
class ShownLine:
    """One line in a pose.

    Attributes:
        muscle, number: Which it is.
        nodes: [m], (n, 3).
        kinds: Of the nodes.
        follows: How much of its joint's swing and twist each bound node follows, (n, 2); 1 of others.
        curve: Places along the line [m], ``pieces`` a segment and the last node, (pieces (n − 1) + 1, 3).
        tendon: Whether each segment is tendon, (n − 1,).
        elongation: Bind length over length now of each segment, (n − 1,).
        settled: Whether an elastic line came to rest.
    """

    muscle: str
    number: int
    nodes: Floats
    kinds: tuple[Kind, ...]
    follows: Floats
    curve: Floats
    tendon: Bools
    elongation: Floats
    settled: bool


@dataclass(frozen=True, eq=False)
class ShownEllipsoid:
    """One ellipsoid of a field in a pose.

    Attributes:
        field, number: Which it is.
        centre: [m], (3,).
        axes: As columns, (3, 3).
        radii: Along these [m], (3,).
    """

    field: str
    number: int
    centre: Floats
    axes: Floats
    radii: Floats


def shown_lines(lines: BodyLines, moved: Floats, posed: PosedPaths) -> tuple[ShownLine, ...]:
    """All lines of a body in a pose.

    Args:
        lines: Of the body.
        moved: ``M − I`` of the character's joints, (joints, 4, 4).
        posed: Where they lie; the last frame counts.
    """
    muscles = lines.musculature
    frames, starts = muscles.frames, muscles.frames.starts
    places = posed.nodes[-1]
    turns = np.empty((len(places), 4))
    extended = difference_with(moved, muscles.scapulae)
    node_turns(starts, frames.posed(places, extended).frames, turns)
    at_rest = np.atleast_1d(np.all(posed.rest.settled, axis=0))
    restless = {name for number, name in enumerate(posed.rest.names) if not at_rest[number]}
    shown, line = [], 0
    for muscle in muscles.muscles:
        for number, designed in enumerate(muscle.lines):
            a, b = int(starts[line]), int(starts[line + 1])
            first = np.repeat(np.arange(a, b - 1), PIECES).astype(np.int32)
            t = np.tile(np.arange(PIECES) / PIECES, b - a - 1)
            curve = points_on_lines(places, turns, first, t, bool(frames.curved[line]))
            shown.append(
                ShownLine(
                    muscle.name,
                    number,
                    places[a:b].copy(),
                    tuple(map(_kind, designed.nodes)),
                    np.array([_follows(node) for node in designed.nodes]),
                    np.concatenate([curve, places[b - 1 : b]]),
                    muscles.tendon[a - line : b - line - 1].copy(),
                    posed.elongation[-1][a - line : b - line - 1].copy(),
                    muscle.line_name(number) not in restless,
                )
            )
            line += 1
    return tuple(shown)


def shown_ellipsoids(
    lines: BodyLines, fields: Mapping[str, Field], moved: Floats, posed: PosedPaths
) -> tuple[ShownEllipsoid, ...]:
    """Ellipsoids of fields in a pose; those on lines that are not compiled are left out.

    Args:
        lines: Of the body.
        fields: Of the rig, by name, see `fields_of`; or some of them.
        moved: ``M − I`` of the character's joints, (joints, 4, 4).
        posed: Where the lines lie; the last frame counts.
    """
    extended = np.ascontiguousarray(difference_with(moved, lines.musculature.scapulae), np.float64)
    on_lines = _on_lines(lines, extended, posed)
    shown = []
    for name, field in fields.items():
        for number, one in enumerate(field.ellipsoids):
            if one.joint is None:
                placed = on_lines.get((name, number))
                if placed is not None:
                    axes = placed[AXES : AXES + 9].reshape(3, 3).T.copy()
                    centre, radii = placed[CENTRE : CENTRE + 3].copy(), placed[RADII : RADII + 3].copy()
                    shown.append(ShownEllipsoid(name, number, centre, axes, radii))
                continue
            linear = np.eye(3) + extended[one.joint, :3, :3]
            centre = one.centre + extended[one.joint, :3, :3] @ one.centre + extended[one.joint, :3, 3]
            axes = linear @ one.axes
            size = np.linalg.norm(axes, axis=0)
            shown.append(ShownEllipsoid(name, number, centre, nearest_rotation(axes), one.radii * size))
    return tuple(shown)


def line_weights(lines: BodyLines, muscle: str) -> Floats:
    """How much each vertex of a muscle follows each of its lines, (V, lines), rows summing to 1.

    What a bone holds follows that instead (`MuscleOnLines.hold`), and is told by its region all the same.
    """
    number = _number(lines, muscle)
    bound = lines.musculature.meshes.muscles[number]
    starts, count = lines.musculature.frames.starts, len(bound.lines)
    of_node = np.repeat(np.arange(len(starts) - 1), np.diff(starts)) - bound.lines[0]
    weights = np.zeros((len(bound.points), count))
    rows = np.arange(len(bound.points))
    weights[rows, of_node[bound.node[:, 0]]] += 1.0 - bound.weight
    two = bound.node[:, 1] >= 0
    weights[rows[two], of_node[bound.node[two, 1]]] += bound.weight[two]
    return weights


def dragged_to_bind(
    lines: BodyLines, moved: Floats, posed: PosedPaths, muscle: str, line: int, node: int, to: npt.ArrayLike
) -> Floats:
    """Where a node lies at bind [m], shape (3,), that was dragged to a place in the world of a pose.

    How far it was dragged is turned back as the joints have turned that carry it; at bind it is what was
    dragged. Then `moved_node` sets it.
    """
    muscles = lines.musculature
    number = _number(lines, muscle)
    designed = muscles.muscles[number].lines[line]
    row = int(muscles.frames.starts[int(muscles.line_starts[number]) + line]) + node
    by = np.asarray(to, np.float64) - posed.nodes[-1][row]
    extended = difference_with(moved, muscles.scapulae)
    return np.asarray(designed.places()[node] + _turn(designed, node, extended).T @ by)


def ellipsoid_dragged_to_bind(
    lines: BodyLines, one: FieldEllipsoid, shown: ShownEllipsoid, moved: Floats, centre: Floats, axes: Floats
) -> tuple[Floats, Floats]:
    """Centre [m], (3,), and axes as columns, (3, 3), at bind of an ellipsoid put elsewhere in a pose.

    Args:
        lines: Of the body.
        one: The ellipsoid at bind, see `fields_of`.
        shown: The same in the pose, before it was moved.
        moved: ``M − I`` of the character's joints, (joints, 4, 4).
        centre: Where it is now [m].
        axes: How it is turned now, as columns.
    """
    turned = nearest_rotation(shown.axes @ np.linalg.inv(one.axes))
    at_bind = nearest_rotation(turned.T @ axes)
    if one.joint is None:
        return one.centre + turned.T @ (centre - shown.centre), at_bind
    extended = difference_with(moved, lines.musculature.scapulae)[one.joint]
    return np.linalg.solve(np.eye(3) + extended[:3, :3], centre - extended[:3, 3]), at_bind


def _turn(line: ActionLine, row: int, moved: Floats) -> Floats:
    """How a node's surroundings have turned since bind, (3, 3)."""

    def of(joint: int) -> Floats:
        return nearest_rotation(np.eye(3) + moved[joint, :3, :3])

    node = line.nodes[row]
    if not isinstance(node, CollisionNode):
        return of(node.joint)
    firm = [k for k, one in enumerate(line.nodes) if not isinstance(one, CollisionNode)]
    before, after = line.nodes[max(k for k in firm if k < row)], line.nodes[min(k for k in firm if k > row)]
    assert not isinstance(before, CollisionNode)
    assert not isinstance(after, CollisionNode)
    start, end = of(before.joint), of(after.joint)
    between = rotation_vector_from_xyzw(xyzw_from_matrix(start.T @ end))
    return np.asarray(start @ matrix_from_xyzw(xyzw_from_rotation_vector(node.ratio * between)))


def _number(lines: BodyLines, muscle: str) -> int:
    names = lines.names
    if muscle not in names:
        why = lines.musculature.left_out.get(muscle, "no line of the rig has that name")
        raise EcorcheError(
            f"the muscle {muscle!r} is not compiled: {why}", remedy="Undo the edit, or mend the muscle"
        )
    return names.index(muscle)


def _kind(node: object) -> Kind:
    if isinstance(node, CollisionNode):
        return "free"
    return "bound" if isinstance(node, BoundNode) else "mobile"


def _follows(node: object) -> tuple[float, float]:
    return (node.swing, node.twist) if isinstance(node, BoundNode) else (1.0, 1.0)


def _on_lines(lines: BodyLines, moved: Floats, posed: PosedPaths) -> dict[tuple[str, int], Floats]:
    """Posed ellipsoids that elastic lines carry, by field and number, as `place_ellipsoid` makes them."""
    paths = lines.musculature.paths
    if paths.springs is None or posed.state is None:
        return {}
    binding, found = paths.springs[0].binding, {}
    placed = np.empty((len(binding.joints), PLACED))
    for row, which in enumerate(paths.bending):
        if binding.segments[row, 0] >= 0:
            place_ellipsoid(binding, row, moved, posed.state.points, placed)
            found[which] = placed[row].copy()
    return found
