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
from ecorche.muscles.lines.deflection import BEHIND, enclose, is_outside, pushed_out
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
# what a line knows of its collision nodes in a pose: offset, the side they are held on, how far what holds
# them reaches there, and their share of the way between their neighbours
OFFSET, TOWARDS, REACH, SHARE, KNOWN = 0, 3, 6, 7, 8


@njit(cache=True)  # type: ignore[untyped-decorator]
def place_deflectors(ellipsoids: FieldBinding, moved: Floats, placed: Floats) -> None:
    """All deflectors in the pose, into ``placed`` (E, DEFLECTOR)."""
    nowhere = np.empty((0, 3))
    for n in range(len(ellipsoids.joints)):
        place_ellipsoid(ellipsoids, n, moved, nowhere, placed)
        enclose(placed, n)


@njit(parallel=True, cache=True)  # type: ignore[untyped-decorator]
def pose_lines(plan: LinePlan, moved: Floats, placed: Floats, tightening: int, nodes: Floats) -> None:
    """All nodes [m], (N, 3), for joints moved since bind (joints, 4, 4) and deflectors placed."""
    for number in prange(len(plan.starts) - 1):
        line = np.int64(number)  # a parallel loop counts without signs: what it calls would be compiled twice
        known = np.zeros((plan.starts[line + 1] - plan.starts[line], KNOWN))
        if _pose_line(plan, line, moved, placed, known, nodes):
            _draw_tight(plan, line, placed, known, tightening, nodes)


@njit(cache=True)  # type: ignore[untyped-decorator]
def _pose_line(
    plan: LinePlan, line: int, moved: Floats, placed: Floats, known: Floats, nodes: Floats
) -> bool:
    """The nodes of a line before they are drawn tight, and whether any has to be."""
    first, end, held = plan.starts[line], plan.starts[line + 1], False
    for n in range(first, end):
        if plan.kind[n] == BOUND:
            write(nodes, n, 0, _bound(plan, n, moved))
        elif plan.kind[n] != COLLISION:
            write(nodes, n, 0, _led(plan, n, moved))
    for n in range(first, end):
        if plan.kind[n] == COLLISION:
            a, b, ratio, own = plan.enclosing[n, 0], plan.enclosing[n, 1], plan.numbers[n, RATIO], n - first
            offset, start = _between(plan, n, moved, read(plan.place, n)), read(nodes, a)
            write(known, own, OFFSET, offset)
            x = plus(plus(start, ratio, plus(read(nodes, b), -1.0, start)), 1.0, offset)
            if plan.holds[n] >= 0:
                held = True
                side = unit(_between(plan, n, moved, read(plan.numbers, n, SIDE)))
                write(known, own, TOWARDS, side)
                known[own, REACH] = _reach(plan, line, n, placed, side)
                low, high = _ratio(plan, n - 1, a, b), _ratio(plan, n + 1, a, b)
                known[own, SHARE] = (ratio - low) / (high - low) if high > low else 0.5
                middle = read(placed, _holder(plan, line, n), MIDDLE)
                x = _in_front(middle, plan.numbers[n, LEVEL], known, own, x, LIFT)
            begin, stop = plan.of_line[line], plan.of_line[line + 1]
            write(nodes, n, 0, pushed_out(placed, plan.which, begin, stop, plan.sides, plan.side[n], x))
    return held


@njit(cache=True)  # type: ignore[untyped-decorator]
def _draw_tight(
    plan: LinePlan, line: int, placed: Floats, known: Floats, tightening: int, nodes: Floats
) -> None:
    """Put held nodes between their neighbours, offsets aside, and push them out: there and back, so often."""
    # arrays by themselves: handing on all of a plan for each node takes longer than what is done to it
    numbers, holds, which, sides, side = plan.numbers, plan.holds, plan.which, plan.sides, plan.side
    first, last, begin, stop = (
        plan.starts[line],
        plan.starts[line + 1] - 1,
        plan.of_line[line],
        plan.of_line[line + 1],
    )
    for sweep in range(2 * tightening):
        for step in range(1, last - first):
            n = first + step if sweep % 2 == 0 else last - step
            if holds[n] < 0:
                continue
            own = n - first
            before = plus(read(nodes, n - 1), -1.0, read(known, own - 1, OFFSET))
            after = plus(read(nodes, n + 1), -1.0, read(known, own + 1, OFFSET))
            x = plus(before, known[own, SHARE], plus(after, -1.0, before))
            x, now = plus(x, 1.0, read(known, own, OFFSET)), read(nodes, n)
            x = plus(now, DRAW, plus(x, -1.0, now))
            middle = read(placed, which[begin + holds[n]], MIDDLE)
            x = _in_front(middle, numbers[n, LEVEL], known, own, x, 0.0)
            if not is_outside(placed, which, begin, stop, sides, side[n], x):
                x = pushed_out(placed, which, begin, stop, sides, side[n], x)
            write(nodes, n, 0, x)


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


@njit(inline="always")  # type: ignore[untyped-decorator]
def _holder(plan: LinePlan, line: int, n: int) -> Any:
    """The deflector that holds a node on its side."""
    return plan.which[plan.of_line[line] + plan.holds[n]]


@njit(cache=True)  # type: ignore[untyped-decorator]
def _reach(plan: LinePlan, line: int, n: int, placed: Floats, side: Any) -> Any:
    """How far from its centre the deflector that holds a node reaches to its side [m]."""
    e, size = _holder(plan, line, n), plan.sides[plan.side[n] + plan.holds[n], 3]
    a = placed[e, RADII] * dot(read(placed, e, 0), side)
    b = placed[e, RADII + 1] * dot(read(placed, e, 3), side)
    c = placed[e, RADII + 2] * dot(read(placed, e, 6), side)
    return size * np.sqrt(a * a + b * b + c * c)


@njit(inline="always")  # type: ignore[untyped-decorator]
def _in_front(middle: Any, level: Any, known: Floats, own: int, x: Any, more: Any) -> Any:
    """x, moved to its side as far as a plane behind the middle of the deflector that holds it there.

    And on by so many times as much again, up to the plane that touches the deflector in front.
    """
    side, reach = read(known, own, TOWARDS), known[own, REACH]
    lack = max(dot(plus(middle, -1.0, x), side) - BEHIND * reach + level, 0.0)
    return plus(x, lack + min(more * lack, (1.0 + BEHIND) * reach), side)


@njit(inline="always")  # type: ignore[untyped-decorator]
def _ratio(plan: LinePlan, n: int, a: int, b: int) -> Any:
    return 0.0 if n == a else 1.0 if n == b else plan.numbers[n, RATIO]
