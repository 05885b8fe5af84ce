"""Nodes pushed out of ellipsoids, all of them at once: out of their union.

Thesis section 4.8.1 projects a collision node onto the surface of one ellipsoid, and owns in 4.8.3 that it
may then lie inside another, and that projecting again and again need not end. It names the union as one
implicit surface as a way out; this is it.

Inside, a node flows outwards until it leaves the union, and stops there. Each ellipsoid is measured in its
own unit ball by the gauge g from a pole o within it: 0 at the pole, 1 on the surface, straight in between,

    g = (o·d + sqrt((o·d)² + c d·d)) / c,    d = u − o,   c = 1 − o·o,

and the direction is the sum of the gauges' unit gradients with weights that fall as ``exp(−g / 0.15)``. On
the surface of the union the ellipsoid just left weighs most, so the flow always leads out and never along
or in:

- a node that ends is outside every ellipsoid, to the last digit;
- a node that has just got inside is moved by as little, squarely to the surface;
- a node moves continuously with pose and ellipsoids, and so do the lengths that follow from it.

No way out of a solid is continuous everywhere. Nearest points jump on a whole sheet in the middle; here only
the lines that join the poles are left. Each node has poles of its own, at `DEPTH` of the way from the
centre to the surface *behind* the side it lay on at bind: a path drawn through the middle of a bone stays
on its side until it has all but left the bone at the back.

What comes next is the shortest way: see `admissible`, which draws held nodes tight over the union.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt
from numba import njit

from ecorche.muscles.lines.fields import CENTRE, PLACED, RADII
from ecorche.muscles.triples import dot, plus, scaled

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]

DEPTH: Final = 0.7
"""Where poles lie: this share of the way from centre to surface, on the side turned away."""
BEHIND: Final = 0.35
"""A node held on one side of an ellipsoid stays before a plane this share of its reach behind the centre."""
BLEND: Final = 0.15
"""Gauges differing by this much have weights differing by a factor e."""
FORGOTTEN: Final = 36.0 * BLEND
"""A gauge larger by this weighs less than the last digit of the other."""
STRIDE: Final = 0.12
"""Length of a step of the flow, as a share of the smallest radius."""
STEPS: Final = 600
"""So many steps at most; who is not outside by then is led out along a straight line."""
BALL: Final = PLACED
"""Column after those of `fields`: the square of a deflector's largest radius [m²], and a hair more.

Most places lie outside the ball about most ellipsoids, and need no further question.
"""
DEFLECTOR: Final = PLACED + 1
"""Columns of a deflector in a pose."""


@njit(inline="always")  # type: ignore[untyped-decorator]
def in_ball(placed: Floats, e: int, size: Any, x: Any) -> Any:
    """A place in the unit ball of ellipsoid e, whose radii are taken ``size`` times."""
    dx, dy, dz = x[0] - placed[e, CENTRE], x[1] - placed[e, CENTRE + 1], x[2] - placed[e, CENTRE + 2]
    return (
        (placed[e, 0] * dx + placed[e, 1] * dy + placed[e, 2] * dz) / (placed[e, RADII] * size),
        (placed[e, 3] * dx + placed[e, 4] * dy + placed[e, 5] * dz) / (placed[e, RADII + 1] * size),
        (placed[e, 6] * dx + placed[e, 7] * dy + placed[e, 8] * dz) / (placed[e, RADII + 2] * size),
    )


@njit(inline="always")  # type: ignore[untyped-decorator]
def _from_ball(placed: Floats, e: int, size: Any, g: Any) -> Any:
    """A gradient in the unit ball as one in the world."""
    gx, gy, gz = (
        g[0] / (placed[e, RADII] * size),
        g[1] / (placed[e, RADII + 1] * size),
        g[2] / (placed[e, RADII + 2] * size),
    )
    return (
        placed[e, 0] * gx + placed[e, 3] * gy + placed[e, 6] * gz,
        placed[e, 1] * gx + placed[e, 4] * gy + placed[e, 7] * gz,
        placed[e, 2] * gx + placed[e, 5] * gy + placed[e, 8] * gz,
    )


@njit(inline="always")  # type: ignore[untyped-decorator]
def enclose(placed: Floats, e: int) -> None:
    """Write the ball about ellipsoid e, whose other columns are known."""
    largest = max(placed[e, RADII], placed[e, RADII + 1], placed[e, RADII + 2])
    placed[e, BALL] = (1.0 + 1e-9) * largest * largest


@njit(inline="always")  # type: ignore[untyped-decorator]
def _holds(placed: Floats, e: int, size: Any, x: Any) -> Any:
    """Whether ellipsoid e, its radii taken ``size`` times, holds a place."""
    d = plus(x, -1.0, (placed[e, CENTRE], placed[e, CENTRE + 1], placed[e, CENTRE + 2]))
    if dot(d, d) >= placed[e, BALL] * max(size * size, 1.0):
        return False
    u = in_ball(placed, e, size, x)
    return dot(u, u) < 1.0


@njit(inline="always")  # type: ignore[untyped-decorator]
def is_outside(placed: Floats, which: Ints, first: int, end: int, sides: Floats, side: int, x: Any) -> bool:
    """Whether a place lies outside of all ellipsoids, see `pushed_out`."""
    outside = True
    for k in range(first, end):
        if _holds(placed, which[k], sides[side + k - first, 3], x):
            outside = False
            break
    return outside


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _outwards(placed: Floats, which: Ints, first: int, end: int, sides: Floats, side: int, x: Any) -> Any:
    """Unit direction of the flow; zero where all gradients cancel."""
    least = np.inf
    flow = (0.0, 0.0, 0.0)
    for k in range(first, end):
        row = side + k - first
        pole, size = (sides[row, 0], sides[row, 1], sides[row, 2]), sides[row, 3]
        d = plus(in_ball(placed, which[k], size, x), -1.0, pole)
        c = 1.0 - dot(pole, pole)
        b = dot(pole, d)
        root = np.sqrt(b * b + c * dot(d, d))
        if not root > 0.0:
            continue
        g = (b + root) / c
        if g - least > FORGOTTEN:
            continue
        n = _from_ball(placed, which[k], size, plus(scaled(1.0 + b / root, pole), c / root, d))
        strength = min(g, 1.0) / np.sqrt(dot(n, n))
        if g < least:  # weights are relative to the deepest so far
            flow = scaled(np.exp((g - least) / BLEND), flow)
            least = g
        flow = plus(flow, strength * np.exp((least - g) / BLEND), n)
    size = np.sqrt(dot(flow, flow))
    return scaled(1.0 / size, flow) if size > 1e-12 else (0.0, 0.0, 0.0)


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def pushed_out(placed: Floats, which: Ints, first: int, end: int, sides: Floats, side: int, x: Any) -> Any:
    """The place x [m], or where it leaves the union of some ellipsoids.

    Args:
        placed: Ellipsoids in the pose, see `fields` and `BALL`, (E, DEFLECTOR).
        which: Numbers of ellipsoids; those from ``first`` to ``end − 1`` are meant.
        first, end: See there.
        sides: Pole in the unit ball, three numbers, and factor on the radii, (…, 4).
        side: Row of the first of the ellipsoids meant.
        x: Three numbers [m].
    """
    if is_outside(placed, which, first, end, sides, side, x):
        return x
    smallest = np.inf
    for k in range(first, end):
        e = which[k]
        radius = min(placed[e, RADII], placed[e, RADII + 1], placed[e, RADII + 2])
        smallest = min(smallest, radius * sides[side + k - first, 3])
    stride = STRIDE * smallest
    for _ in range(STEPS):
        way = _outwards(placed, which, first, end, sides, side, x)
        if dot(way, way) == 0.0:
            break
        left = _exit(placed, which, first, end, sides, side, x, way, stride)
        if left <= stride:
            return plus(x, left, way)
        x = plus(x, stride, way)
    way = _away(placed, which, first, end, sides, side, x)
    return plus(x, _exit(placed, which, first, end, sides, side, x, way, np.inf), way)


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _exit(
    placed: Floats, which: Ints, first: int, end: int, sides: Floats, side: int, x: Any, way: Any, far: Any
) -> Any:
    """How far along a unit direction the union is left [m]: a line leaves each convex body but once.

    Anything beyond ``far`` [m] where that is farther.
    """
    at, more = 0.0, 1e-17
    while at <= far:
        y = plus(x, at, way)
        farthest = -1.0
        for k in range(first, end):
            size = sides[side + k - first, 3]
            if _holds(placed, which[k], size, y):
                u = in_ball(placed, which[k], size, x)
                v = plus(in_ball(placed, which[k], size, plus(x, 1.0, way)), -1.0, u)
                a, b = dot(v, v), dot(u, v)
                farthest = max(farthest, (np.sqrt(max(b * b - a * (dot(u, u) - 1.0), 0.0)) - b) / a)
        if farthest < 0.0:
            return at
        if farthest <= at:  # on the border but for rounding
            farthest = at + more
            more *= 2.0
        at = farthest
    return at


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _away(placed: Floats, which: Ints, first: int, end: int, sides: Floats, side: int, x: Any) -> Any:
    """A unit direction away from the pole of the first ellipsoid that holds x."""
    for k in range(first, end):
        row, e = side + k - first, which[k]
        if _holds(placed, e, sides[row, 3], x):
            pole = (sides[row, 0], sides[row, 1], sides[row, 2])
            back = dot(pole, pole) > 0.0
            v = _from_ball(placed, e, sides[row, 3], scaled(-1.0, pole) if back else (0.0, 0.0, 1.0))
            return scaled(1.0 / np.sqrt(dot(v, v)), v)
    return 0.0, 0.0, 1.0
