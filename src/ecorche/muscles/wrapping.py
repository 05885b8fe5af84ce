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

A curve is a row of numbers in the columns below. It is drawn one by one, and read four curves at a time.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt
from numba import njit

from ecorche.base.quad_angles import sine_cosine
from ecorche.base.quads import quad, read_rows, square_roots, where_above
from ecorche.muscles.triples import cross, dot, plus, scaled, turned, unit, write

Floats = npt.NDArray[np.float64]
Naturals = npt.NDArray[np.uint32]

STRAIGHT: Final = 0
SPHERE: Final = 1
CYLINDER: Final = 2
BALL: Final = 3

# columns of a curve: its ends; the arc's centre at its start, and the directions to its start, onwards and
# along the axis; of the lines before and after it; radius, rise a radian, angle (0: a straight line), arc
# length a radian; lengths of the first line, of the wrapped curve, of the straight one and, blended, of the
# curve; how much of it is wrapped
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
COLUMNS: Final = 36  # columns are read by fours

EARLIEST_AT_BIND: Final = -0.25 * np.pi
"""The least Φ at bind [rad]: below zero, as ends one above the other may be told a little behind."""
AT_BIND_OF_BALL: Final = 0.5 * np.pi
"""In place of Φ at bind where the shorter way is taken [rad]: more than 270° round is no way at all."""

_FADE = np.radians(20.0)
_SINE_OF_FADE = np.sin(_FADE)
_BACK = 1.0 - np.cos(_FADE)
_TINY = 1e-9  # a circle of this radius [m] is no obstacle


@njit(inline="always")  # type: ignore[untyped-decorator]
def _step(x: Any) -> Any:
    """0 up to x = 0, 1 from x = 1, 3x² − 2x³ between."""
    x = min(max(x, 0.0), 1.0)
    return x * x * (3.0 - 2.0 * x)


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _upright(shape: int, psi: Any) -> Any:
    """How far to tilt from the axis' plane, for the plane of the centre tilted by ``psi`` within half a turn.

    Wholly up to 60° of either sense of that plane, not at all at 90°, C1 between. Over a ball, which is gone
    round in one sense only, not at all from 120° on.
    """
    size = abs(psi)
    third = np.pi / 3.0
    if size <= third:
        tilt = size
    elif shape == BALL:
        x = min(size / third - 1.0, 1.0)
        tilt = (1.0 + x * (1.0 + x * (3.0 * x - 5.0))) * third
    elif size >= 2.0 * third:
        tilt = size - np.pi
    else:
        x = (size - 0.5 * np.pi) * 6.0 / np.pi
        tilt = (-7.0 / 12.0 + 0.25 * x * x) * x * np.pi
    return tilt if psi >= 0.0 else -tilt


@njit(inline="always")  # type: ignore[untyped-decorator]
def _axis_of_ball(axis: Any, bind_chord: Any, chord: Any) -> Any:
    """Where the line of the ends takes an axis, and how much that counts: nothing with the line reversed."""
    now = unit(chord)
    return turned(bind_chord, now, axis), _step((1.0 + dot(bind_chord, now)) / _BACK)


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _circle_on_sphere(shape: int, origin: Any, insertion: Any, centre: Any, axis: Any, radius: Any) -> Any:
    """Centre, normal, radius of the circle on a sphere that is gone round, and how much it counts."""
    chord = plus(insertion, -1.0, origin)
    distance = np.sqrt(dot(chord, chord))
    t = scaled(1.0 / distance, chord) if distance > _TINY else (0.0, 0.0, 0.0)
    upright = plus(axis, -dot(axis, t), t)
    lean = np.sqrt(dot(upright, upright))
    if not (distance > _TINY and lean > 1e-6):
        return centre, axis, 0.0, 0.0
    upright = scaled(1.0 / lean, upright)
    counts = _step(lean / _SINE_OF_FADE)
    away = plus(centre, -1.0, origin)
    away = plus(away, -dot(away, t), t)
    off = np.sqrt(dot(away, away))
    if not off > _TINY:
        return centre, upright, radius, counts
    # the normal of the plane that holds the centre
    plane = cross(t, scaled(1.0 / off, away))
    cosine = dot(plane, upright)
    if off >= 0.5 * radius and (cosine >= 0.5 or (cosine <= -0.5 and shape == SPHERE)):
        return centre, scaled(1.0 if cosine > 0.0 else -1.0, plane), radius, counts
    sideways = cross(t, upright)
    tilt = _step(2.0 * off / radius) * _upright(shape, np.arctan2(dot(plane, sideways), cosine))
    normal = plus(scaled(np.cos(tilt), upright), np.sin(tilt), sideways)
    height = dot(away, normal)
    inner = np.sqrt(max(radius * radius - height * height, 0.0))
    counts *= _step(2.0 * inner / radius)
    if shape == BALL and inner > 0.0:
        counts *= _step(1.0 + 2.0 * off * dot(plane, normal) / inner)
    return plus(centre, -height, normal), normal, inner, counts


@njit(inline="always")  # type: ignore[untyped-decorator]
def _circle(shape: int, origin: Any, insertion: Any, centre: Any, axis: Any, radius: Any) -> Any:
    if shape != CYLINDER:
        return _circle_on_sphere(shape, origin, insertion, centre, axis, radius)
    return centre, axis, radius, 1.0


@njit(cache=True)  # type: ignore[untyped-decorator]
def bind_angle(shape: int, origin: Any, insertion: Any, centre: Any, axis: Any, radius: float) -> float:
    """Φ at bind [rad], counter-clockwise about ``axis`` from origin to insertion, from −45° to 315°."""
    middle, normal, _, _ = _circle(shape, origin, insertion, centre, axis, radius)
    a, b = plus(origin, -1.0, middle), plus(insertion, -1.0, middle)
    a, b = plus(a, -dot(a, normal), normal), plus(b, -dot(b, normal), normal)
    angle: float = np.arctan2(dot(cross(a, b), normal), dot(a, b))
    return angle if angle >= EARLIEST_AT_BIND else angle + 2.0 * np.pi


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
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
    row: int,
) -> None:
    """The curve from origin to insertion [m], into a row of ``curves`` (…, COLUMNS).

    Args:
        shape: `STRAIGHT`, `SPHERE`, `CYLINDER` or `BALL`.
        origin, insertion, centre: Three numbers each [m].
        axis: Unit direction, see `Wrap`, as the obstacle carries it.
        bind_chord: Unit, from origin to insertion at bind, as the obstacle carries it.
        radius: Of sphere or cylinder [m].
        at_bind: Φ at bind [rad], see `bind_angle`.
        curves: Where to write.
        row: Which row.
    """
    write(curves, row, ORIGIN, origin)
    write(curves, row, INSERTION, insertion)
    chord = plus(insertion, -1.0, origin)
    straight = np.sqrt(dot(chord, chord))
    curves[row, CHORD] = straight
    curves[row, LENGTH] = straight
    curves[row, ANGLE] = 0.0
    curves[row, SHARE] = 0.0
    if shape == STRAIGHT:
        return
    forward = 1.0
    if shape == BALL:
        axis, forward = _axis_of_ball(axis, bind_chord, chord)
    middle, normal, r, counts = _circle(shape, origin, insertion, centre, axis, radius)
    counts *= forward
    a, b = plus(origin, -1.0, middle), plus(insertion, -1.0, middle)
    low, high = dot(a, normal), dot(b, normal)
    a, b = plus(a, -low, normal), plus(b, -high, normal)
    square_a, square_b = dot(a, a), dot(b, b)
    r = min(r, np.sqrt(square_a), np.sqrt(square_b))
    if not (r > _TINY and counts > 0.0):
        return
    phi = np.arctan2(dot(cross(a, b), normal), dot(a, b))
    phi += 2.0 * np.pi * np.round((at_bind - phi) / (2.0 * np.pi))
    if not phi > 0.0:
        return
    before, after = np.sqrt(max(square_a - r * r, 0.0)), np.sqrt(max(square_b - r * r, 0.0))
    angle = phi - np.arctan2(before, r) - np.arctan2(after, r)
    if not angle > 0.0:
        return
    counts *= _step((np.pi - abs(phi - at_bind)) / _FADE)
    flat = before + r * angle + after
    climb = (high - low) / flat
    slope = np.sqrt(1.0 + climb * climb)
    outwards = scaled(1.0 / square_a, plus(scaled(r, a), before, cross(normal, a)))
    inwards = scaled(1.0 / square_b, plus(scaled(r, b), -after, cross(normal, b)))
    onwards, over = cross(normal, outwards), 1.0 / slope
    write(curves, row, BEFORE, scaled(over, plus(onwards, climb, normal)))
    write(curves, row, AFTER, scaled(over, plus(cross(normal, inwards), climb, normal)))
    write(curves, row, CENTRE, plus(middle, low + climb * before, normal))
    write(curves, row, OUTWARDS, outwards)
    write(curves, row, ONWARDS, onwards)
    write(curves, row, AXIS, normal)
    curves[row, RADIUS] = r
    curves[row, RISE] = climb * r
    curves[row, ANGLE] = angle
    curves[row, SPEED] = r * slope
    curves[row, FIRST] = before * slope
    curves[row, WRAPPED] = flat * slope
    curves[row, SHARE] = counts
    curves[row, LENGTH] = straight + counts * (flat * slope - straight)


@njit(inline="always")  # type: ignore[untyped-decorator]
def along(curves: Floats, named: Naturals, row: int, share: Any) -> Any:
    """Points [m] and unit tangents of four curves, each at a share of its length from the origin, 0 to 1.

    In `quads` and without a branch: of what a curve is not, whatever its row holds is computed and left.

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
