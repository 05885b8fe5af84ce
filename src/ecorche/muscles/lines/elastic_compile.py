"""From designed lines and fields to the plan that is relaxed."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise

import numpy as np
import numpy.typing as npt

from ecorche.errors import EcorcheError
from ecorche.muscles.lines.elastic import DYNAMIC, ElasticLine, ElasticLines, ElasticPlan
from ecorche.muscles.lines.elimination import Elimination, elimination
from ecorche.muscles.lines.field_places import FieldBinding
from ecorche.muscles.lines.fields import Field, FieldLaws
from ecorche.muscles.lines.order import Bends, relaxation_order

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]


def elastic_lines(lines: Sequence[ElasticLine], fields: Sequence[Field], joint_count: int) -> ElasticLines:
    """Compile lines and the fields they name; joints are numbered 0 to ``joint_count − 1``."""
    _require_distinct([line.name for line in lines], "line")
    _require_distinct([field.name for field in fields], "field")
    number = {field.checked().name: n for n, field in enumerate(fields)}
    for line in lines:
        line.checked(joint_count, number)
    nodes = _Nodes(lines)
    bundles = _bundles(len(lines), nodes)
    count = max(bundles, default=-1) + 1
    parts = [_Bundle([n for n, b in enumerate(bundles) if b == bundle], nodes) for bundle in range(count)]
    # moving points first, bundle by bundle in the order of elimination
    ordered = [point for part in parts for point in part.moving]
    moving = len(ordered)
    ordered += [point for point in range(nodes.count) if nodes.joints[point] != DYNAMIC]
    row = {point: n for n, point in enumerate(ordered)}
    order = relaxation_order([line.name for line in lines], bundles, _bends(lines, fields))
    binding, level_of = _binding(lines, fields, nodes, row, bundles, order, joint_count)
    level_borders, on_lines = _packed(
        [[n for n, at in enumerate(level_of) if at == v] for v in range(len(order))]
    )
    level_starts, level_bundles = _packed(order)
    acting_starts, acting = _packed([sorted(number[f] for f in nodes.fields[p]) for p in ordered[:moving]])
    anchors, anchor_points = _packed([[row[point] for point in part.attached] for part in parts])
    columns, block_rows = _packed([rows for part in parts for rows in part.plan.slots])
    update_starts, updates = _packed_rows([u for part in parts for u in part.plan.updates], 3)
    springs, ends = _packed_rows([part.ends for part in parts], 3)
    stretch = [s for part in parts for s in part.stretch]
    plan = ElasticPlan(
        rows=_borders(len(part.moving) for part in parts),
        anchors=anchors,
        anchor_points=anchor_points,
        anchor_joints=_ints(nodes.joints[point] for point in ordered[moving:]),
        anchor_places=np.array([nodes.places[p] for p in ordered[moving:]], np.float64).reshape(-1, 3),
        springs=springs,
        ends=ends,
        stretch=np.array(stretch, np.float64).reshape(-1, 3),
        drag=np.array([part.drag for part in parts], np.float64),
        softest=np.array([part.softest for part in parts], np.float64),
        columns=columns,
        block_rows=block_rows,
        update_starts=update_starts,
        updates=updates,
        acting_starts=acting_starts,
        acting=acting,
        carriers=np.array([nodes.carriers[p] for p in ordered[:moving]], np.int32).reshape(-1, 2),
        carried=np.array([nodes.carried[p] for p in ordered[:moving]], np.float64),
        levels=level_starts,
        level_bundles=level_bundles,
        on_joints=_ints(n for n, at in enumerate(level_of) if at < 0),
        level_borders=level_borders,
        on_lines=on_lines,
    )
    return ElasticLines(
        names=tuple(line.name for line in lines),
        starts=_borders(len(line.nodes) for line in lines),
        points=_ints(row[point] for points in nodes.of_lines for point in points),
        bundles=_ints(bundles),
        designed=np.array([nodes.places[point] for point in ordered], np.float64).reshape(-1, 3),
        joint_count=joint_count,
        plan=plan,
        fields=FieldLaws(
            _ints(field.law() for field in fields),
            np.array([field.numbers() for field in fields], np.float64).reshape(-1, 4),
            _borders(len(field.ellipsoids) for field in fields),
        ),
        binding=binding,
    )


def require_relaxable(lines: Sequence[ElasticLine], fields: Sequence[Field]) -> None:
    """Refuse lines that bend each other in a circle."""
    bundles = _bundles(len(lines), _Nodes(lines))
    relaxation_order([line.name for line in lines], bundles, _bends(lines, fields))


class _Nodes:
    """The points of all lines, shared nodes once, with what acts on and carries them."""

    def __init__(self, lines: Sequence[ElasticLine]) -> None:
        self.lines = lines
        self.places: list[Floats] = []
        self.joints: list[int] = []
        self.fields: list[set[str]] = []
        self.carriers: list[tuple[int, int]] = []
        self.carried: list[float] = []
        self.of_lines: list[list[int]] = []
        named: dict[str, int] = {}
        for line in lines:
            arcs = [0.0, *accumulate(np.linalg.norm(np.diff(line.nodes, axis=0), axis=1).tolist())]
            carried = [n for n, joint in enumerate(line.joints) if joint != DYNAMIC]
            points = []
            for n, joint in enumerate(line.joints):
                place, name = np.asarray(line.nodes[n], np.float64), line.shared.get(n)
                point = named.get(name) if name is not None else None
                if point is None:
                    point = len(self.places)
                    self.places.append(place)
                    self.joints.append(int(joint))
                    self.fields.append(set())
                    before, after = max(c for c in carried if c <= n), min(c for c in carried if c >= n)
                    self.carriers.append((int(line.joints[before]), int(line.joints[after])))
                    whole = arcs[after] - arcs[before]
                    self.carried.append((arcs[n] - arcs[before]) / whole if whole > 0.0 else 0.0)
                    if name is not None:
                        named[name] = point
                elif self.joints[point] != joint or np.abs(self.places[point] - place).max() > 1e-6:
                    raise EcorcheError(
                        f"its node {n}, shared as '{name}', is another place or joint in another line",
                        where=f"line '{line.name}'",
                        remedy="Give one place and one joint to nodes of one name",
                    )
                if joint == DYNAMIC:
                    self.fields[point] |= set(line.fields)
                points.append(point)
            self.of_lines.append(points)
        self.count = len(self.places)


class _Bundle:
    """Lines that are relaxed together: numbers of their points, springs between these."""

    def __init__(self, members: list[int], nodes: _Nodes) -> None:
        points = list(dict.fromkeys(point for line in members for point in nodes.of_lines[line]))
        free = [point for point in points if nodes.joints[point] == DYNAMIC]
        self.attached = [point for point in points if nodes.joints[point] != DYNAMIC]
        at = {point: n for n, point in enumerate(free)}
        segments = [pair for line in members for pair in pairwise(nodes.of_lines[line])]
        joined = [(at[a], at[b]) for a, b in segments if a in at and b in at]
        self.plan: Elimination = elimination(len(free), joined)
        self.moving = [free[n] for n in self.plan.order]
        at = {point: n for n, point in enumerate([*self.moving, *self.attached])}
        count = len(free)
        self.ends: list[tuple[int, int, int]] = []
        for a, b in segments:
            one, other = at[a], at[b]
            block = self.plan.slot(one, other) if one < count and other < count and one != other else -1
            self.ends.append((one, other, block))
        self.stretch: list[tuple[float, float, float]] = []
        self.softest, self.drag = np.inf, 0.0
        for number in members:
            line = nodes.lines[number]
            stiffness, rest, tension = line.springs()
            self.stretch += [
                (float(k), float(rest_length), line.damping)
                for k, rest_length in zip(stiffness, rest, strict=True)
            ]
            self.drag = max(self.drag, line.drag)
            # a string's slowest swing: tension over a segment's length, times 4 sin² of half a wave's share
            mean = float(np.linalg.norm(np.diff(line.nodes, axis=0), axis=1).mean())
            swing = 4.0 * np.sin(0.5 * np.pi / len(stiffness)) ** 2
            self.softest = min(self.softest, max(tension / mean, 1e-3 * line.stiffness) * swing)


def _bundles(count: int, nodes: _Nodes) -> list[int]:
    """The bundle of each line: those joined by moving points are one."""
    bundle = list(range(count))
    first: dict[int, int] = {}
    for line, points in enumerate(nodes.of_lines):
        for point in points:
            if nodes.joints[point] == DYNAMIC:
                old, new = bundle[line], bundle[first.setdefault(point, line)]
                bundle = [min(old, new) if b in (old, new) else b for b in bundle]
    numbers = {b: n for n, b in enumerate(dict.fromkeys(bundle))}
    return [numbers[b] for b in bundle]


def _bends(lines: Sequence[ElasticLine], fields: Sequence[Field]) -> list[Bends]:
    numbers = {line.name: n for n, line in enumerate(lines)}
    found = []
    for field in fields:
        for one in field.ellipsoids:
            if one.line is None:
                continue
            if one.line not in numbers:
                raise EcorcheError(
                    f"there is no line '{one.line}' to carry it",
                    where=f"field '{field.name}'",
                    remedy=f"Choose among {', '.join(numbers) or 'none'}",
                )
            bent = [n for n, line in enumerate(lines) if field.name in line.fields]
            found += [Bends(numbers[one.line], n, field.name) for n in bent]
    return found


def _binding(
    lines: Sequence[ElasticLine],
    fields: Sequence[Field],
    nodes: _Nodes,
    row: dict[int, int],
    bundles: list[int],
    order: list[list[int]],
    joint_count: int,
) -> tuple[FieldBinding, list[int]]:
    """What carries each ellipsoid, and the level before which it is placed, −1 of those on joints."""
    numbers = {line.name: n for n, line in enumerate(lines)}
    level = {bundle: v for v, bundles_of in enumerate(order) for bundle in bundles_of}
    parts: list[tuple[int, tuple[int, int], float, Floats, Floats]] = []
    levels = []
    everything = [(field, one) for field in fields for one in field.ellipsoids]
    for field, one in everything:
        where = f"field '{field.name}'"
        if one.joint is not None:
            if not 0 <= one.joint < joint_count:
                raise EcorcheError(
                    f"there is no joint {one.joint} to carry it",
                    where=where,
                    remedy=f"Choose 0 to {joint_count - 1}",
                )
            parts.append((one.joint, (-1, -1), 0.0, np.zeros(3), np.zeros(3)))
            levels.append(-1)
            continue
        line = numbers[str(one.line)]
        points = nodes.of_lines[line]
        if not 0.0 <= one.place <= len(points) - 1:
            raise EcorcheError(
                f"its place {one.place:g} is not on line '{one.line}'",
                where=where,
                remedy=f"Give a number from 0 to {len(points) - 1}",
            )
        n = min(int(one.place), len(points) - 2)
        a, b, share = nodes.places[points[n]], nodes.places[points[n + 1]], one.place - n
        along = b - a
        offset = np.asarray(one.centre, np.float64) - (a + share * along)
        segment = row[points[n]], row[points[n + 1]]
        parts.append((int(lines[line].joints[0]), segment, share, along / np.linalg.norm(along), offset))
        levels.append(min(level[bundles[line]] + 1, len(order) - 1))
    ellipsoids = [one for _, one in everything]
    return FieldBinding(
        centres=_triples([one.centre for one in ellipsoids]),
        axes=np.array([one.axes for one in ellipsoids], np.float64).reshape(-1, 3, 3),
        radii=_triples([one.radii for one in ellipsoids]),
        joints=_ints(part[0] for part in parts),
        segments=np.array([part[1] for part in parts], np.int32).reshape(-1, 2),
        shares=np.array([part[2] for part in parts], np.float64),
        directions=_triples([part[3] for part in parts]),
        offsets=_triples([part[4] for part in parts]),
    ), levels


def _require_distinct(names: list[str], what: str) -> None:
    twice = next((name for n, name in enumerate(names) if name in names[:n]), None)
    if twice is not None:
        raise EcorcheError(f"two {what}s are named '{twice}'", remedy="Give each a name of its own")


def _ints(values: object) -> Ints:
    return np.array(list(values), np.int32)  # type: ignore[call-overload]


def _triples(rows: Sequence[npt.ArrayLike]) -> Floats:
    return np.array(rows, np.float64).reshape(-1, 3)


def _borders(counts: object) -> Ints:
    return _ints(accumulate(counts, initial=0))  # type: ignore[call-overload]


def _packed(rows: Sequence[Sequence[int]]) -> tuple[Ints, Ints]:
    return _borders(len(r) for r in rows), _ints(value for r in rows for value in r)


def _packed_rows(rows: Sequence[Sequence[tuple[int, ...]]], width: int) -> tuple[Ints, Ints]:
    values = [value for r in rows for value in r]
    return _borders(len(r) for r in rows), np.array(values, np.int32).reshape(-1, width)
