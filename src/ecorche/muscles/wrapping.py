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

A curve is some numbers in the columns below. Four are drawn and read at a time, in `quads`: of what a curve
is not, something is computed too, no number perhaps, and left.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt
from numba import njit

from ecorche.base.quad_angles import angle_of, sine_cosine
from ecorche.base.quads import (
    all_above,
    like,
    nearest_whole,
    read_quad,
    square_roots,
    where_above,
    write_quad,
)
from ecorche.muscles.triples import cross, dot, plus, read_vector, scaled, write_vector

Floats = npt.NDArray[np.float64]

STRAIGHT: Final = 0
SPHERE: Final = 1
CYLINDER: Final = 2
BALL: Final = 3

# columns of a curve: its ends; the arc's centre at its start, and the directions to its start, onwards and
# along the axis; of the lines before and after it; radius, rise a radian, angle (0: a straight line), arc
# length a radian; lengths of the first line, of the wrapped curve, of the straight one and, blended, of the
# curve; how much of it is wrapped; Φ; one over the arc length a radian
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
SLOWNESS: Final = 34
COLUMNS: Final = 35

MIDST_AT_BIND: Final = 0.75 * np.pi
"""Φ at bind [rad] is within half a turn of this: from −45° on, as ends may be told a little behind."""
AT_BIND_OF_BALL: Final = 0.5 * np.pi
"""In place of Φ at bind where the shorter way is taken [rad]: more than 270° round is no way at all."""

FADE = np.radians(20.0)
SINE_OF_FADE = np.sin(FADE)
BACK = 1.0 - np.cos(FADE)
TINY = 1e-9  # a circle of this radius [m] is no obstacle
LEAST_LEAN = 1e-6
_NOTHING = 1e-30
THIRD = np.pi / 3.0
TURN = 2.0 * np.pi


@njit(forceinline=True)  # type: ignore[untyped-decorator]
def _above_zero(a: Any) -> Any:
    """The larger of each number and zero; zero of what is no number."""
    return where_above(a, like(a, 0.0), a, like(a, 0.0))


@njit(forceinline=True)  # type: ignore[untyped-decorator]
def _size(a: Any) -> Any:
    return where_above(a, like(a, 0.0), a, 0.0 - a)


@njit(forceinline=True)  # type: ignore[untyped-decorator]
def _one_over(a: Any, least: float, otherwise: float) -> Any:
    """One over each number above ``least``, of others ``otherwise``."""
    return where_above(a, like(a, least), 1.0 / a, like(a, otherwise))


@njit(forceinline=True)  # type: ignore[untyped-decorator]
def _step(x: Any) -> Any:
    """0 up to x = 0, 1 from x = 1, 3x² − 2x³ between."""
    x = _above_zero(x)
    x = where_above(x, like(x, 1.0), like(x, 1.0), x)
    return x * x * (3.0 - 2.0 * x)


@njit(forceinline=True)  # type: ignore[untyped-decorator]
def _upright(shape: int, psi: Any) -> Any:
    """How far to tilt from the axis' plane, for the plane of the centre tilted by ``psi`` within half a turn.

    Wholly up to 60° of either sense of that plane, not at all at 90°, C1 between. Over a ball, which is gone
    round in one sense only, not at all from 120° on.
    """
    size = _size(psi)
    if shape == BALL:
        x = size * (1.0 / THIRD) - 1.0
        x = where_above(x, like(x, 1.0), like(x, 1.0), x)
        tilt = (1.0 + x * (1.0 + x * (3.0 * x - 5.0))) * THIRD
    else:
        x = (size - 0.5 * np.pi) * (6.0 / np.pi)
        tilt = (0.25 * (x * x) - 7.0 / 12.0) * x * np.pi
        tilt = where_above(size, like(size, 2.0 * THIRD), size - np.pi, tilt)
    tilt = where_above(size, like(size, THIRD), tilt, size)
    return where_above(like(psi, 0.0), psi, 0.0 - tilt, tilt)


@njit(forceinline=True)  # type: ignore[untyped-decorator]
def _axis_of_ball(axis: Any, bind_chord: Any, now: Any) -> Any:
    """Where the line of the ends takes an axis, and how much that counts: nothing with the line reversed."""
    cosine = 1.0 + dot(bind_chord, now)
    share = dot(axis, plus(now, -1.0, bind_chord)) / cosine
    share = where_above(cosine, like(cosine, 1e-12), share, like(cosine, 0.0))
    return plus(axis, 0.0 - share, plus(bind_chord, 1.0, now)), _step(cosine * (1.0 / BACK))


@njit(forceinline=True)  # type: ignore[untyped-decorator]
def _circle_on_sphere(
    shape: int, origin: Any, chord: Any, distance: Any, centre: Any, axis: Any, radius: Any
) -> Any:
    """Centres, normals, radii of the circles on spheres that are gone round, and how much they count."""
    zero, one = like(radius, 0.0), like(radius, 1.0)
    t = scaled(_one_over(distance, TINY, 0.0), chord)
    upright = plus(axis, zero - dot(axis, t), t)
    lean = square_roots(dot(upright, upright))
    upright = scaled(_one_over(lean, LEAST_LEAN, 0.0), upright)
    counts = where_above(lean, like(lean, LEAST_LEAN), _step(lean * (1.0 / SINE_OF_FADE)), zero)
    counts = where_above(distance, like(distance, TINY), counts, zero)
    away = plus(centre, -1.0, origin)
    away = plus(away, zero - dot(away, t), t)
    off = square_roots(dot(away, away))
    # the normal of the plane that holds the centre
    plane = cross(t, scaled(_one_over(off, TINY, 0.0), away))
    cosine = dot(plane, upright)
    squarely = _size(cosine) if shape == SPHERE else cosine
    plain = where_above(off, 0.5 * radius, where_above(squarely, like(squarely, 0.5), one, zero), zero)
    normal = scaled(where_above(cosine, zero, one, zero - one), plane)
    if all_above(plain, zero):
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
    at: int,
) -> None:
    """Four curves from origin to insertion [m], into quads of ``curves`` (…, COLUMNS, 4).

    Args:
        shape: `STRAIGHT`, `SPHERE`, `CYLINDER` or `BALL`, the same for all four.
        origin, insertion, centre: Three quads each [m].
        axis: Unit direction, see `Wrap`, as the obstacle carries it.
        bind_chord: Unit, from origin to insertion at bind, as the obstacle carries it.
        radius: Of sphere or cylinder [m].
        at_bind: Φ at bind [rad].
        curves, at: Where to write, from which quad on.
    """
    zero, one = like(radius, 0.0), like(radius, 1.0)
    chord = plus(insertion, -1.0, origin)
    straight = square_roots(dot(chord, chord))
    write_vector(curves, at + ORIGIN, origin)
    write_vector(curves, at + INSERTION, insertion)
    write_quad(curves, at + CHORD, straight)
    if shape == STRAIGHT:
        write_quad(curves, at + LENGTH, straight)
        write_quad(curves, at + ANGLE, zero)
        write_quad(curves, at + SHARE, zero)
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
    phi = phi + TURN * nearest_whole((at_bind - phi) * (1.0 / TURN))
    # as products: exactly zero of an end on the circle
    before, after = square_roots((far_a - r) * (far_a + r)), square_roots((far_b - r) * (far_b + r))
    # δ₁ + δ₂ at once
    angle = phi - angle_of(r * (before + after), r * r - before * after)
    counts = where_above(
        r, like(r, TINY), where_above(phi, zero, where_above(angle, zero, counts, zero), zero), zero
    )
    angle = where_above(counts, zero, angle, zero)
    counts = counts * _step((np.pi - _size(phi - at_bind)) * (1.0 / FADE))
    flat = before + r * angle + after
    climb = (high - low) / flat
    slope = square_roots(1.0 + climb * climb)
    outwards = scaled(1.0 / square_a, plus(scaled(r, a), before, cross(normal, a)))
    inwards = scaled(1.0 / square_b, plus(scaled(r, b), zero - after, cross(normal, b)))
    onwards, over = cross(normal, outwards), 1.0 / slope
    length = flat * slope
    write_vector(curves, at + BEFORE, scaled(over, plus(onwards, climb, normal)))
    write_vector(curves, at + AFTER, scaled(over, plus(cross(normal, inwards), climb, normal)))
    write_vector(curves, at + CENTRE, plus(middle, low + climb * before, normal))
    write_vector(curves, at + OUTWARDS, outwards)
    write_vector(curves, at + ONWARDS, onwards)
    write_vector(curves, at + AXIS, normal)
    write_quad(curves, at + RADIUS, r)
    write_quad(curves, at + RISE, climb * r)
    write_quad(curves, at + ANGLE, angle)
    write_quad(curves, at + SPEED, r * slope)
    write_quad(curves, at + SLOWNESS, 1.0 / (r * slope))
    write_quad(curves, at + FIRST, before * slope)
    write_quad(curves, at + WRAPPED, length)
    write_quad(curves, at + SHARE, counts)
    write_quad(curves, at + PHI, phi)
    blended = straight + counts * (length - straight)
    write_quad(curves, at + LENGTH, where_above(counts, zero, blended, straight))


@njit(inline="always")  # type: ignore[untyped-decorator]
def along(curves: Floats, at: int, share: Any) -> Any:
    """Points [m] and unit tangents of four curves, each at a share of its length from the origin, 0 to 1.

    Args:
        curves, at: Quads as `wrap` writes them, (…, COLUMNS, 4), and where they begin.
        share: One quad.
    """
    zero, one = like(share, 0.0), like(share, 1.0)
    origin, insertion = read_vector(curves, at + ORIGIN), read_vector(curves, at + INSERTION)
    chord, part = plus(insertion, -1.0, origin), read_quad(curves, at + SHARE)
    point = plus(origin, share, chord)
    tangent = scaled(_one_over(read_quad(curves, at + CHORD), 0.0, 1.0), chord)
    if all_above(like(part, _NOTHING), part):
        return point, tangent
    axis, outwards = read_vector(curves, at + AXIS), read_vector(curves, at + OUTWARDS)
    onwards, before = read_vector(curves, at + ONWARDS), read_vector(curves, at + BEFORE)
    after, length = read_vector(curves, at + AFTER), read_quad(curves, at + WRAPPED)
    radius, rise = read_quad(curves, at + RADIUS), read_quad(curves, at + RISE)
    speed, slowness = read_quad(curves, at + SPEED), read_quad(curves, at + SLOWNESS)
    done = share * length
    onto = done - read_quad(curves, at + FIRST)
    theta = onto * slowness
    sine, cosine = sine_cosine(theta)
    turning = plus(scaled(radius * cosine, onwards), zero - radius * sine, outwards)
    turning = scaled(slowness, plus(turning, rise, axis))
    place = plus(read_vector(curves, at + CENTRE), rise * theta, axis)
    place = plus(plus(place, radius * cosine, outwards), radius * sine, onwards)
    arc = speed * read_quad(curves, at + ANGLE)
    direction = _either(arc, onto, turning, after)
    place = _either(arc, onto, place, plus(insertion, done - length, after))
    direction = _either(onto, zero, direction, before)
    place = _either(onto, zero, place, plus(origin, done, before))
    rest = one - part
    if not all_above(like(part, _NOTHING), part * rest):
        blended = plus(scaled(part * length, direction), rest, chord)
        blended = scaled(one / square_roots(dot(blended, blended)), blended)
        direction = _either(one, part, blended, direction)
        place = _either(one, part, plus(scaled(part, place), rest, point), place)
    return _either(part, zero, place, point), _either(part, zero, direction, tangent)


@njit(forceinline=True)  # type: ignore[untyped-decorator]
def _either(a: Any, b: Any, yes: Any, no: Any) -> Any:
    """Of four vectors each, ``yes`` where ``a > b``, else ``no``."""
    return (
        where_above(a, b, yes[0], no[0]),
        where_above(a, b, yes[1], no[1]),
        where_above(a, b, yes[2], no[2]),
    )
