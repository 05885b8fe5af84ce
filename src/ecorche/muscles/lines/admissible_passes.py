"""Admissible lines posed in compiled code: joints, then what lies between, then the drawing tight."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt
from numba import njit, prange

import ecorche.base.threads  # noqa: F401  settings that must precede the first parallel kernel
from ecorche.muscles.lines.adherence import adhering, carried, change_of_direction
from ecorche.muscles.lines.admissible_plan import (
    AFTER,
    AT_HIGH,
    AT_LOW,
    AXIS,
    BEFORE,
    BOUND,
    CENTRE,
    COLLISION,
    HIGH,
    LEVEL,
    LOW,
    PARABOLIC,
    RATIO,
    REST,
    SIDE,
    SWING,
    TWIST,
    LinePlan,
)
from ecorche.muscles.lines.deflection import BEHIND, pushed_out
from ecorche.muscles.lines.field_places import FieldBinding, place_ellipsoid
from ecorche.muscles.lines.fields import CENTRE as MIDDLE
from ecorche.muscles.lines.fields import RADII
from ecorche.muscles.lines.mobile import freedom_angle, phase
from ecorche.muscles.triples import dot, plus, read, unit, write

Floats = npt.NDArray[np.float64]

DRAW: Final = 1.3
"""A node drawn between its neighbours goes so many times the way (over-relaxation): tight sooner."""
LIFT: Final = 2.0
"""A node that starts behind what holds it is put so many times as far in front, up to touching it."""


@njit(cache=True)  # type: ignore[untyped-decorator]
def place_deflectors(ellipsoids: FieldBinding, moved: Floats, placed: Floats) -> None:
    """All deflectors in the pose, into ``placed`` (E, PLACED)."""
    nowhere = np.empty((0, 3))
    for n in range(len(ellipsoids.joints)):
        place_ellipsoid(ellipsoids, n, moved, nowhere, placed)


@njit(parallel=True, cache=True)  # type: ignore[untyped-decorator]
def pose_lines(plan: LinePlan, moved: Floats, placed: Floats, tightening: int, nodes: Floats) -> None:
    """All nodes [m], (N, 3), for joints moved since bind (joints, 4, 4) and deflectors placed."""
    for line in prange(len(plan.starts) - 1):
        first, end = plan.starts[line], plan.starts[line + 1]
        offsets = np.zeros((end - first, 6))  # of collision nodes: offset, and the side they are held on
        for n in range(first, end):
            if plan.kind[n] == BOUND:
                write(nodes, n, 0, _bound(plan, n, moved))
            elif plan.kind[n] != COLLISION:
                write(nodes, n, 0, _led(plan, n, moved))
        for n in range(first, end):
            if plan.kind[n] == COLLISION:
                a, b, ratio = plan.enclosing[n, 0], plan.enclosing[n, 1], plan.numbers[n, RATIO]
                offset = _between(plan, n, moved, read(plan.place, n))
                write(offsets, n - first, 0, offset)
                write(offsets, n - first, 3, unit(_between(plan, n, moved, read(plan.numbers, n, SIDE))))
                start = read(nodes, a)
                x = plus(plus(start, ratio, plus(read(nodes, b), -1.0, start)), 1.0, offset)
                write(nodes, n, 0, _out(plan, line, n, placed, read(offsets, n - first, 3), x, LIFT))
        if not (plan.holds[first:end] >= 0).any():
            continue
        for _ in range(tightening):
            for n in range(first + 1, end - 1):
                _tighten(plan, line, n, placed, offsets, nodes)
            for n in range(end - 2, first, -1):
                _tighten(plan, line, n, placed, offsets, nodes)


@njit(inline="always")  # type: ignore[untyped-decorator]
def _bound(plan: LinePlan, n: int, moved: Floats) -> Any:
    swing, twist = plan.numbers[n, SWING], plan.numbers[n, TWIST]
    centre, axis = read(plan.numbers, n, CENTRE), read(plan.numbers, n, AXIS)
    return adhering(moved, plan.joint[n], plan.base[n], read(plan.place, n), centre, axis, swing, twist)


@njit(inline="always")  # type: ignore[untyped-decorator]
def _led(plan: LinePlan, n: int, moved: Floats) -> Any:
    v = plan.numbers
    before = (v[n, BEFORE], v[n, BEFORE + 1], v[n, BEFORE + 2], v[n, BEFORE + 3])
    after = (v[n, AFTER], v[n, AFTER + 1], v[n, AFTER + 2], v[n, AFTER + 3])
    theta = freedom_angle(moved, plan.reference[n], plan.base[n], plan.freedom[n], before, after)
    share, up = phase(theta, v[n, LOW], v[n, REST], v[n, HIGH], v[n, PARABOLIC] > 0.0)
    place = read(plan.place, n)
    extreme = read(v, n, AT_HIGH) if up else read(v, n, AT_LOW)
    return carried(moved, plan.joint[n], plus(place, share, plus(extreme, -1.0, place)))


@njit(inline="always")  # type: ignore[untyped-decorator]
def _between(plan: LinePlan, n: int, moved: Floats, d: Any) -> Any:
    """A direction of bind, turned with the joints before and after a collision node by its ratio."""
    ratio = plan.numbers[n, RATIO]
    before = change_of_direction(moved, plan.joint[plan.enclosing[n, 0]], d)
    after = change_of_direction(moved, plan.joint[plan.enclosing[n, 1]], d)
    return plus(plus(d, 1.0 - ratio, before), ratio, after)


@njit(cache=True)  # type: ignore[untyped-decorator]
def _in_front(plan: LinePlan, line: int, n: int, placed: Floats, side: Any, x: Any, more: Any) -> Any:
    """x, moved to its side as far as a plane behind the centre of the deflector that holds it there.

    And on by so many times as much again, up to the plane that touches the deflector in front.
    """
    e, size = plan.which[plan.of_line[line] + plan.holds[n]], plan.sides[plan.side[n] + plan.holds[n], 3]
    a = placed[e, RADII] * dot(read(placed, e, 0), side)
    b = placed[e, RADII + 1] * dot(read(placed, e, 3), side)
    c = placed[e, RADII + 2] * dot(read(placed, e, 6), side)
    reach = size * np.sqrt(a * a + b * b + c * c)
    lack = dot(plus(read(placed, e, MIDDLE), -1.0, x), side) - BEHIND * reach + plan.numbers[n, LEVEL]
    lack = max(lack, 0.0)
    return plus(x, lack + min(more * lack, (1.0 + BEHIND) * reach), side)


@njit(inline="always")  # type: ignore[untyped-decorator]
def _out(plan: LinePlan, line: int, n: int, placed: Floats, side: Any, x: Any, more: Any) -> Any:
    if plan.holds[n] >= 0:
        x = _in_front(plan, line, n, placed, side, x, more)
    first, end = plan.of_line[line], plan.of_line[line + 1]
    return pushed_out(placed, plan.which, first, end, plan.sides, plan.side[n], x)


@njit(inline="always")  # type: ignore[untyped-decorator]
def _ratio(plan: LinePlan, n: int, a: int, b: int) -> Any:
    return 0.0 if n == a else 1.0 if n == b else plan.numbers[n, RATIO]


@njit(cache=True)  # type: ignore[untyped-decorator]
def _tighten(plan: LinePlan, line: int, n: int, placed: Floats, offsets: Floats, nodes: Floats) -> None:
    """Put a held collision node between its neighbours, offsets aside, and push it out."""
    if plan.holds[n] < 0:
        return
    a, b, first = plan.enclosing[n, 0], plan.enclosing[n, 1], plan.starts[line]
    low, high = _ratio(plan, n - 1, a, b), _ratio(plan, n + 1, a, b)
    share = (plan.numbers[n, RATIO] - low) / (high - low) if high > low else 0.5
    before = plus(read(nodes, n - 1), -1.0, read(offsets, n - 1 - first))
    after = plus(read(nodes, n + 1), -1.0, read(offsets, n + 1 - first))
    x = plus(plus(before, share, plus(after, -1.0, before)), 1.0, read(offsets, n - first))
    now = read(nodes, n)
    x = plus(now, DRAW, plus(x, -1.0, now))
    write(nodes, n, 0, _out(plan, line, n, placed, read(offsets, n - first, 3), x, 0.0))
