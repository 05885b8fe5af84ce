"""A thread drawn tight from origin to insertion, over the sphere of a joint or round the cylinder of a bone.

Text 001 (Yang and Zhang, 2006), "Bending Around a Joint" and "Bending Around a Bone". What is wrong there:
the angles of its equation (2) are singular where ``r + x = 0``; the sign of each root is left to the user,
and most choices are no wrapped path at all; the difference ``θ₂ − θ₁`` is off by a turn for half of the
configurations; nothing says when the thread leaves the surface, nor on which side it runs when the centre
crosses its line.
Here both shapes come down to a circle in a plane, with normal ``N``, seen from which the thread goes round
counter-clockwise (`Wrap.axis` stores that side). With ends at distances ρ₁, ρ₂ from its centre and Φ from the
first to the second:

    ℓ = sqrt(ρ² − r²),  δ = atan2(ℓ, r),  Δ = Φ − δ₁ − δ₂,  Λ = ℓ₁ + rΔ + ℓ₂

Δ ≤ 0 is a straight line; else a line, an arc (a helix where the ends differ in height by z) and a line, of
length ``hypot(Λ, z)``. Length and tangent are continuous through first contact. Φ is taken within half a turn
of its value at bind, which itself lies within −45° … 315°.

Rules for what the text leaves open; with them curves are continuous in any motion of ends and obstacle:

- *An end inside.* The circle is as small as it takes to let the end lie on it: its radius is the smallest of
  r, ρ₁ and ρ₂. An end may so pass through the axis; there the circle is a point.
- *A sphere's plane* holds both ends and the centre. Where the centre comes near the line of the ends (within
  half a radius) that plane whirls, and where it stands across the stored axis its sense is undecided; there
  it gives way to the plane through the ends that lies most squarely to the axis, which cuts the sphere in a
  smaller circle. Collinear points so have a path: over the top of the sphere, as the axis says.
- *Where no path is continuous* the wrapped curve is blended into the straight line: over the last 20° before
  Φ is half a turn from bind, where a sphere's circle has less than half its radius, where the line of the
  ends is within 20° of a sphere's axis. No joint of a body comes near these;
  the blend keeps a film from jumping.
- *A ball* is a sphere in a joint that turns every way. There no axis goes along with both bones, and a centre
  that gets to the other side has come past the line as often as through it: going on round would throw the
  thread from straight to once about the ball. So it takes the shorter way. Its axis says only on which side
  of the centre a thread close to it runs; with the centre half the circle's radius on the other side it is
  straight. The axis is carried by the socket, and from there by the smallest rotation that takes the line of
  the ends from bind to where it is: a limb that twists does not turn it.

A curve is a row of numbers in the columns below. Four are drawn and read at a time, in `quads` and almost
without a branch: of what a curve is not, something is computed too, no number perhaps, and left.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt
from numba import njit

from ecorche.base.quad_angles import angle_of, nearest_whole, sine_cosine
from ecorche.base.quads import quad, read_rows, smallest, square_roots, where_above, write_rows
from ecorche.muscles.triples import cross, dot, plus, scaled

Floats = npt.NDArray[np.float64]
Naturals = npt.NDArray[np.uint32]

STRAIGHT: Final = 0
SPHERE: Final = 1
CYLINDER: Final = 2
BALL: Final = 3

# columns of a curve: its ends; the arc's centre at its start, and the directions to its start, onwards and
# along the axis; of the lines before and after it; radius, rise a radian, angle (0: a straight line), arc
# length a radian; lengths of the first line, of the wrapped curve, of the straight one and, blended, of the
# curve; how much of it is wrapped; Φ
ORIGIN: Final = 0
INSERTION: Final = 3
CENTRE: Final = 6
OUTWARDS: Final = 9
ONWARDS: Final = 12
AXIS: Final = 15
BEFORE: Final = 18
AFTER: Final = 21
RADIUS: Final = 24
RISE: Final = 25
ANGLE: Final = 26
SPEED: Final = 27
FIRST: Final = 28
WRAPPED: Final = 29
CHORD: Final = 30
LENGTH: Final = 31
SHARE: Final = 32
PHI: Final = 33
COLUMNS: Final = 36  # they are read by fours

MIDST_AT_BIND: Final = 0.75 * np.pi
"""Φ at bind [rad] is within half a turn of this: from −45° on, as ends may be told a little behind."""
AT_BIND_OF_BALL: Final = 0.5 * np.pi
"""In place of Φ at bind where the shorter way is taken [rad]: more than 270° round is no way at all."""

_FADE = np.radians(20.0)
_SINE_OF_FADE = np.sin(_FADE)
_BACK = 1.0 - np.cos(_FADE)
_TINY = 1e-9  # a circle of this radius [m] is no obstacle
_LEAST_LEAN = 1e-6
_THIRD = np.pi / 3.0
_TURN = 2.0 * np.pi


@njit(inline="always")  # type: ignore[untyped-decorator]
def _above_zero(a: Any) -> Any:
    """The larger of each number and zero; zero of what is no number."""
    return where_above(a, quad(0.0), a, quad(0.0))


@njit(inline="always")  # type: ignore[untyped-decorator]
def _size(a: Any) -> Any:
    return where_above(a, quad(0.0), a, quad(0.0) - a)


@njit(inline="always")  # type: ignore[untyped-decorator]
def _one_over(a: Any, least: float, otherwise: float) -> Any:
    """One over each number above ``least``, of others ``otherwise``."""
    return where_above(a, quad(least), 1.0 / a, quad(otherwise))


@njit(inline="always")  # type: ignore[untyped-decorator]
def _step(x: Any) -> Any:
    """0 up to x = 0, 1 from x = 1, 3x² − 2x³ between."""
    x = _above_zero(x)
    x = where_above(x, quad(1.0), quad(1.0), x)
    return x * x * (3.0 - 2.0 * x)


@njit(inline="always")  # type: ignore[untyped-decorator]
def _upright(shape: int, psi: Any) -> Any:
    """How far to tilt from the axis' plane, for the plane of the centre tilted by ``psi`` within half a turn.

    Wholly up to 60° of either sense of that plane, not at all at 90°, C1 between. Over a ball, which is gone
    round in one sense only, not at all from 120° on.
    """
    size = _size(psi)
    if shape == BALL:
        x = size * (1.0 / _THIRD) - 1.0
        x = where_above(x, quad(1.0), quad(1.0), x)
        tilt = (1.0 + x * (1.0 + x * (3.0 * x - 5.0))) * _THIRD
    else:
        x = (size - 0.5 * np.pi) * (6.0 / np.pi)
        tilt = (0.25 * (x * x) - 7.0 / 12.0) * x * np.pi
        tilt = where_above(size, quad(2.0 * _THIRD), size - np.pi, tilt)
    tilt = where_above(size, quad(_THIRD), tilt, size)
    return where_above(quad(0.0), psi, quad(0.0) - tilt, tilt)


@njit(inline="always")  # type: ignore[untyped-decorator]
def _axis_of_ball(axis: Any, bind_chord: Any, now: Any) -> Any:
    """Where the line of the ends takes an axis, and how much that counts: nothing with the line reversed."""
    cosine = 1.0 + dot(bind_chord, now)
    share = dot(axis, plus(now, -1.0, bind_chord)) / cosine
    share = where_above(cosine, quad(1e-12), share, quad(0.0))
    return plus(axis, quad(0.0) - share, plus(bind_chord, 1.0, now)), _step(cosine * (1.0 / _BACK))


@njit(inline="always")  # type: ignore[untyped-decorator]
def _circle_on_sphere(
    shape: int, origin: Any, chord: Any, distance: Any, centre: Any, axis: Any, radius: Any
) -> Any:
    """Centres, normals, radii of the circles on spheres that are gone round, and how much they count."""
    zero, one = quad(0.0), quad(1.0)
    t = scaled(_one_over(distance, _TINY, 0.0), chord)
    upright = plus(axis, zero - dot(axis, t), t)
    lean = square_roots(dot(upright, upright))
    upright = scaled(_one_over(lean, _LEAST_LEAN, 0.0), upright)
    counts = where_above(lean, quad(_LEAST_LEAN), _step(lean * (1.0 / _SINE_OF_FADE)), zero)
    counts = where_above(distance, quad(_TINY), counts, zero)
    away = plus(centre, -1.0, origin)
    away = plus(away, zero - dot(away, t), t)
    off = square_roots(dot(away, away))
    # the normal of the plane that holds the centre
    plane = cross(t, scaled(_one_over(off, _TINY, 0.0), away))
    cosine = dot(plane, upright)
    squarely = _size(cosine) if shape == SPHERE else cosine
    plain = where_above(off, 0.5 * radius, where_above(squarely, quad(0.5), one, zero), zero)
    normal = scaled(where_above(cosine, zero, one, zero - one), plane)
    if smallest(plain) > 0.0:
        return centre, normal, radius, counts
    sideways = cross(t, upright)
    tilt = _step(2.0 * off / radius) * _upright(shape, angle_of(dot(plane, sideways), cosine))
    sine, cosine = sine_cosine(tilt)
    tilted = plus(scaled(cosine, upright), sine, sideways)
    height = dot(away, tilted)
    inner = square_roots(_above_zero(radius * radius - height * height))
    faded = counts * _step(2.0 * inner / radius)
    if shape == BALL:
        near = _step(1.0 + 2.0 * off * dot(plane, tilted) / inner)
        faded = where_above(inner, zero, faded * near, faded)
    return (
        _either(plain, zero, centre, plus(centre, zero - height, tilted)),
        _either(plain, zero, normal, tilted),
        where_above(plain, zero, radius, inner),
        where_above(plain, zero, counts, faded),
    )


@njit(inline="always")  # type: ignore[untyped-decorator]
def wrap(
    shape: int,
    origin: Any,
    insertion: Any,
    centre: Any,
    axis: Any,
    bind_chord: Any,
    radius: Any,
    at_bind: Any,
    curves: Floats,
    named: Naturals,
    row: int,
) -> None:
    """Four curves from origin to insertion [m], into rows of ``curves`` (…, COLUMNS).

    Args:
        shape: `STRAIGHT`, `SPHERE`, `CYLINDER` or `BALL`, the same for all four.
        origin, insertion, centre: Three quads each [m].
        axis: Unit direction, see `Wrap`, as the obstacle carries it.
        bind_chord: Unit, from origin to insertion at bind, as the obstacle carries it.
        radius: Of sphere or cylinder [m].
        at_bind: Φ at bind [rad].
        curves: Where to write.
        named, row: Which rows, see `write_rows`.
    """
    zero, one = quad(0.0), quad(1.0)
    chord = plus(insertion, -1.0, origin)
    straight = square_roots(dot(chord, chord))
    ix, iy, iz = insertion
    write_rows(curves, named, row, COLUMNS, ORIGIN, (origin[0], origin[1], origin[2], ix))
    if shape == STRAIGHT:
        write_rows(curves, named, row, COLUMNS, INSERTION + 1, (iy, iz, zero, zero))
        write_rows(curves, named, row, COLUMNS, RADIUS, (zero, zero, zero, zero))
        write_rows(curves, named, row, COLUMNS, FIRST, (zero, zero, straight, straight))
        write_rows(curves, named, row, COLUMNS, SHARE, (zero, zero, zero, zero))
        return
    counts, middle, normal, r = one, centre, axis, radius
    if shape == BALL:
        axis, counts = _axis_of_ball(axis, bind_chord, scaled(_one_over(straight, 0.0, 1.0), chord))
    if shape != CYLINDER:
        middle, normal, r, share = _circle_on_sphere(shape, origin, chord, straight, centre, axis, radius)
        counts = counts * share
    a, b = plus(origin, -1.0, middle), plus(insertion, -1.0, middle)
    low, high = dot(a, normal), dot(b, normal)
    a, b = plus(a, zero - low, normal), plus(b, zero - high, normal)
    square_a, square_b = dot(a, a), dot(b, b)
    far_a, far_b = square_roots(square_a), square_roots(square_b)
    r = where_above(r, far_a, far_a, r)
    r = where_above(r, far_b, far_b, r)
    phi = angle_of(dot(cross(a, b), normal), dot(a, b))
    phi = phi + _TURN * nearest_whole((at_bind - phi) * (1.0 / _TURN))
    # as products: exactly zero of an end on the circle
    before, after = square_roots((far_a - r) * (far_a + r)), square_roots((far_b - r) * (far_b + r))
    # δ₁ + δ₂ at once
    angle = phi - angle_of(r * (before + after), r * r - before * after)
    counts = where_above(
        r, quad(_TINY), where_above(phi, zero, where_above(angle, zero, counts, zero), zero), zero
    )
    angle = where_above(counts, zero, angle, zero)
    counts = counts * _step((np.pi - _size(phi - at_bind)) * (1.0 / _FADE))
    flat = before + r * angle + after
    climb = (high - low) / flat
    slope = square_roots(1.0 + climb * climb)
    ux, uy, uz = scaled(1.0 / square_a, plus(scaled(r, a), before, cross(normal, a)))
    inwards = scaled(1.0 / square_b, plus(scaled(r, b), zero - after, cross(normal, b)))
    onwards, over = cross(normal, (ux, uy, uz)), 1.0 / slope
    bx, by, bz = scaled(over, plus(onwards, climb, normal))
    fx, fy, fz = scaled(over, plus(cross(normal, inwards), climb, normal))
    cx, cy, cz = plus(middle, low + climb * before, normal)
    length = flat * slope
    blended = where_above(counts, zero, straight + counts * (length - straight), straight)
    write_rows(curves, named, row, COLUMNS, INSERTION + 1, (iy, iz, cx, cy))
    write_rows(curves, named, row, COLUMNS, CENTRE + 2, (cz, ux, uy, uz))
    write_rows(curves, named, row, COLUMNS, ONWARDS, (onwards[0], onwards[1], onwards[2], normal[0]))
    write_rows(curves, named, row, COLUMNS, AXIS + 1, (normal[1], normal[2], bx, by))
    write_rows(curves, named, row, COLUMNS, BEFORE + 2, (bz, fx, fy, fz))
    write_rows(curves, named, row, COLUMNS, RADIUS, (r, climb * r, angle, r * slope))
    write_rows(curves, named, row, COLUMNS, FIRST, (before * slope, length, straight, blended))
    write_rows(curves, named, row, COLUMNS, SHARE, (counts, phi, zero, zero))


@njit(inline="always")  # type: ignore[untyped-decorator]
def along(curves: Floats, named: Naturals, row: int, share: Any) -> Any:
    """Points [m] and unit tangents of four curves, each at a share of its length from the origin, 0 to 1.

    Without a branch: of what a curve is not, whatever its row holds is computed and left.

    Args:
        curves: Rows as `wrap` writes them, (…, COLUMNS).
        named, row: Which curves, see `read_rows`.
        share: One quad.
    """
    ox, oy, oz, ix = read_rows(curves, named, row, COLUMNS, ORIGIN)
    iy, iz, cx, cy = read_rows(curves, named, row, COLUMNS, INSERTION + 1)
    cz, ux, uy, uz = read_rows(curves, named, row, COLUMNS, CENTRE + 2)
    vx, vy, vz, ax = read_rows(curves, named, row, COLUMNS, ONWARDS)
    ay, az, bx, by = read_rows(curves, named, row, COLUMNS, AXIS + 1)
    bz, fx, fy, fz = read_rows(curves, named, row, COLUMNS, BEFORE + 2)
    radius, rise, angle, speed = read_rows(curves, named, row, COLUMNS, RADIUS)
    first, length, straight, _ = read_rows(curves, named, row, COLUMNS, FIRST)
    part, _, _, _ = read_rows(curves, named, row, COLUMNS, SHARE)
    zero, one = quad(0.0), quad(1.0)
    origin, insertion, axis = (ox, oy, oz), (ix, iy, iz), (ax, ay, az)
    outwards, onwards, before, after = (ux, uy, uz), (vx, vy, vz), (bx, by, bz), (fx, fy, fz)
    chord = plus(insertion, -1.0, origin)
    point, tangent = (
        plus(origin, share, chord),
        scaled(where_above(straight, zero, 1.0 / straight, one), chord),
    )

    at = share * length
    onto = at - first
    theta = onto / speed
    sine, cosine = sine_cosine(theta)
    turning = plus(scaled(radius * cosine, onwards), zero - radius * sine, outwards)
    turning = scaled(1.0 / speed, plus(turning, rise, axis))
    place = plus((cx, cy, cz), rise * theta, axis)
    place = plus(plus(place, radius * cosine, outwards), radius * sine, onwards)
    arc = speed * angle
    direction = _either(arc, onto, turning, after)
    place = _either(arc, onto, place, plus(insertion, at - length, after))
    direction = _either(onto, zero, direction, before)
    place = _either(onto, zero, place, plus(origin, at, before))

    rest = one - part
    blended = plus(scaled(part * length, direction), rest, chord)
    blended = scaled(one / square_roots(dot(blended, blended)), blended)
    direction = _either(one, part, blended, direction)
    place = _either(one, part, plus(scaled(part, place), rest, point), place)
    return _either(part, zero, place, point), _either(part, zero, direction, tangent)


@njit(inline="always")  # type: ignore[untyped-decorator]
def _either(a: Any, b: Any, yes: Any, no: Any) -> Any:
    """Of four vectors each, ``yes`` where ``a > b``, else ``no``."""
    return (
        where_above(a, b, yes[0], no[0]),
        where_above(a, b, yes[1], no[1]),
        where_above(a, b, yes[2], no[2]),
    )
