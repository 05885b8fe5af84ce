"""How many segments of tendon and belly an action line has: its nodes laid anew along it as it lies at bind.

Ends stay. Bound, mobile and shared nodes between them keep their places and take the nearest of the new
nodes' stead; the others are spread evenly over the tendon of the origin, the belly, and the tendon of the
insertion. What the line says of each node or segment is carried over by the way along it.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from ecorche.body.character import Character
from ecorche.body.edited_lines import AnyNode, Lines, relaid, told
from ecorche.body.edited_rig import Edited
from ecorche.document.files import Rig
from ecorche.document.line_spec import FieldSpec, FreeNodeSpec, LineSpec
from ecorche.errors import EcorcheError

Floats = npt.NDArray[np.float64]

TENDON = 0.12
"""A tendon where there was none is this share of the line."""
MOST = 64
"""No line has more segments."""


def segment_counts(line: LineSpec) -> tuple[int, int, int]:
    """Segments of the origin's tendon, of what lies between, and of the insertion's tendon.

    Bands of tendon within the belly count as belly.
    """
    flags = line.tendon or (False,) * (len(line.nodes) - 1)
    belly = [k for k, flag in enumerate(flags) if not flag]
    return belly[0], belly[-1] + 1 - belly[0], len(flags) - 1 - belly[-1]


def with_segments(
    rig: Rig,
    character: Character,
    muscle: str,
    line: int,
    *,
    origin: int | None = None,
    belly: int | None = None,
    insertion: int | None = None,
) -> Edited:
    """The rig with a line of so many segments.

    Args:
        rig: The rig.
        character: Its character.
        muscle, line: Which; lines count from 0.
        origin, insertion: Segments of the tendons at its ends; None keeps them, 0 makes them belly.
        belly: Segments between the tendons, at least 1; None keeps them.
    """
    lines = Lines(rig, character)
    spec = lines.line(muscle, line)
    before = segment_counts(spec)
    given = (origin, belly, insertion)
    wanted = tuple(was if asked is None else int(asked) for was, asked in zip(before, given, strict=True))
    if min(wanted) < 0 or wanted[1] < 1 or sum(wanted) > MOST:
        raise EcorcheError(
            f"a line cannot have {wanted[0]}, {wanted[1]} and {wanted[2]} segments",
            where=f"{muscle}, line {line}",
            remedy=f"Give a belly of at least 1, no negative number, and at most {MOST} in all",
        )
    done = f"{lines.spoken(muscle, line)} has {wanted[0]} + {wanted[1]} + {wanted[2]} segments"
    if wanted == before:
        return Edited(rig, (f"{done} already",))
    places = lines.lying(muscle, line)
    arc = _arc(places)
    at = _spread(arc, before, wanted)
    rows, lost = _kept(spec, arc, at)
    _lay_kept(at, arc, rows)
    nodes = _nodes(spec, arc, at, rows)
    laid = np.stack([np.interp(at, arc, places[:, axis]) for axis in range(3)], axis=1)
    middle = 0.5 * (at[1:] + at[:-1])
    segment = np.clip(np.searchsorted(arc, middle, "right") - 1, 0, len(arc) - 2)
    flags = np.array(spec.tendon or (False,) * (len(arc) - 1))[segment]
    flags[: wanted[0]], flags[len(flags) - wanted[2] :] = True, True
    if wanted[0] == 0 and before[0] > 0:
        flags[middle < arc[before[0]]] = False
    if wanted[2] == 0 and before[2] > 0:
        flags[middle > arc[-1 - before[2]]] = False
    isometric = np.array(spec.isometric)
    changes: dict[str, Any] = {
        "nodes": relaid(lines, nodes, laid, ratios=True),
        "tendon": tuple(map(bool, flags)) if flags.any() else (),
        "isometric": tuple(zip(*(np.interp(at, arc, v).tolist() for v in isometric.T), strict=True))
        if len(isometric)
        else (),
        "exclusive": tuple(map(bool, np.array(spec.exclusive)[segment])) if spec.exclusive else (),
    }
    made_line = LineSpec.model_validate(spec.model_dump() | _dumped(changes))
    old = lines.muscle(muscle)
    own = tuple(made_line if n == line else one for n, one in enumerate(old.lines))
    muscles = {**rig.spec.muscles.lines, muscle: old.model_copy(update={"lines": own})}
    fields = {n: _carried(f, muscle, line, arc, at) for n, f in rig.spec.muscles.fields.items()}
    made = lines.with_lines(muscles, fields, check=[muscle])
    more = [f"no room was left for its {spec.nodes[row].kind} node {row}: it went" for row in lost]
    return told(done, made, *more)


def _arc(places: Floats) -> Floats:
    """The way along nodes [m], (n,)."""
    return np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(places, axis=0), axis=1))])


def _spread(arc: Floats, before: tuple[int, ...], wanted: tuple[int, ...]) -> Floats:
    """Where the new nodes lie along the line [m]: as they lay where a part keeps its count, else evenly."""
    first, last = before[0], len(arc) - 1 - before[2]
    borders = [0.0, arc[first], arc[last], arc[-1]]
    if wanted[0] > 0 and before[0] == 0:
        borders[1] = TENDON * arc[-1]
    if wanted[2] > 0 and before[2] == 0:
        borders[2] = (1.0 - TENDON) * arc[-1]
    borders[1] = 0.0 if wanted[0] == 0 else borders[1]
    borders[2] = arc[-1] if wanted[2] == 0 else borders[2]
    if not borders[1] < borders[2]:  # tendons that were long leave the new one's belly no room
        borders[1], borders[2] = 1.0 / 3.0 * arc[-1], 2.0 / 3.0 * arc[-1]
    parts = []
    cuts = [0, first, last, len(arc) - 1]
    for part in range(3):
        if wanted[part] == 0:
            continue
        low, high = borders[part], borders[part + 1]
        old = arc[cuts[part] : cuts[part + 1] + 1]
        same = wanted[part] == before[part] and low == old[0] and high == old[-1]
        parts.append((old if same else np.linspace(low, high, wanted[part] + 1))[:-1])
    return np.concatenate([*parts, [arc[-1]]])


def _kept(spec: LineSpec, arc: Floats, at: Floats) -> tuple[dict[int, int], list[int]]:
    """Which new node takes each old one's stead that keeps its place, and those that nothing is left for."""
    rows: dict[int, int] = {0: 0}
    lost, last = [], len(at) - 1
    firm = [
        row
        for row, node in enumerate(spec.nodes[1:-1], start=1)
        if not isinstance(node, FreeNodeSpec) or node.shared is not None
    ]
    for place, row in enumerate(firm):
        after = len(firm) - 1 - place
        low, high = max(rows.values()) + 1, last - 1 - after
        choices = range(low, max(high, low) + 1)
        best = min(choices, key=lambda n: abs(at[min(n, last)] - arc[row]))
        if best >= last:
            lost.append(row)
            continue
        rows[row] = best
    rows[len(spec.nodes) - 1] = last
    return rows, lost


def _lay_kept(at: Floats, arc: Floats, rows: dict[int, int]) -> None:
    """Lay kept nodes where they were, in place; those between them lie evenly where they no longer rise."""
    for row, node in rows.items():
        at[node] = arc[row]
    for low, high in pairwise(sorted(rows.values())):
        if not (np.diff(at[low : high + 1]) > 1e-9).all():
            at[low : high + 1] = np.linspace(at[low], at[high], high - low + 1)


def _nodes(spec: LineSpec, arc: Floats, at: Floats, rows: dict[int, int]) -> list[AnyNode]:
    """The new nodes, of which free ones are yet to be placed."""
    held = {new: spec.nodes[old] for old, new in rows.items()}
    free = [k for k, node in enumerate(spec.nodes) if isinstance(node, FreeNodeSpec)]
    made: list[AnyNode] = []
    for n, place in enumerate(at):
        if n in held:
            made.append(held[n])
            continue
        side = None
        if free:
            nearest = min(free, key=lambda k: abs(arc[k] - place))
            node = spec.nodes[nearest]
            assert isinstance(node, FreeNodeSpec)
            side = node.side
        made.append(FreeNodeSpec(kind="free", ratio=0.5, offset=(0.0, 0.0, 0.0), side=side))
    return made


def _carried(field: FieldSpec, muscle: str, line: int, arc: Floats, at: Floats) -> FieldSpec:
    """A field whose ellipsoids keep their places along the line that carries them."""
    made = []
    for one in field.ellipsoids:
        on = one.on_line
        if on is not None and on.muscle == muscle and on.line == line:
            along = float(np.interp(on.place, np.arange(len(arc)), arc))
            place = round(float(np.interp(along, at, np.arange(len(at)))), 9)
            one = one.model_copy(update={"on_line": on.model_copy(update={"place": place})})
        made.append(one)
    return field.model_copy(update={"ellipsoids": tuple(made)})


def _dumped(changes: dict[str, Any]) -> dict[str, Any]:
    return {**changes, "nodes": tuple(node.model_dump() for node in changes["nodes"])}
