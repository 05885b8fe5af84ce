"""Springs, sixteen points at a time in single precision: the steps of `spring_steps`, fast.

What neighbours want to know of a point, its place on the trajectory, offset and velocity, is one record of a
cache line. A pass looks at every spring once, ends a step and begins the next; records are read from one
array and written to another, so that it does not matter who comes first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from numba import njit, prange

from ecorche.base.lane_records import gather_records, store_records
from ecorche.base.lanes import (
    WIDTH,
    broadcast,
    larger,
    load,
    multiply_add,
    rows_of_lanes,
    square_root,
    store,
    where_less,
)
from ecorche.base.threads import threads_for
from ecorche.dynamics.spring_layout import SpringLayout
from ecorche.dynamics.springs import Springs
from ecorche.dynamics.trajectory import place_at

if TYPE_CHECKING:
    from ecorche.dynamics.spring_steps import Way

Floats = npt.NDArray[np.float64]

_TILE = 8
"""Groups of sixteen that one thread takes at once."""


class SpringLanes:
    """The springs as lanes, and the memory that steps need."""

    def __init__(self, springs: Springs, places: Floats, contact: Floats) -> None:
        self.layout = layout = SpringLayout(springs, places)
        self.inverse = layout.lanes(springs.inverse_masses)
        self.constant = layout.lanes(np.stack([springs.own_stiffness, springs.own_damping, contact]))
        points = layout.groups * WIDTH
        self.now, self.after = rows_of_lanes((points,)), rows_of_lanes((points,))

    def advance(
        self, fixed: Any, way: Way, spring: Floats, push: Floats, *state: Floats
    ) -> tuple[Floats, Floats, Floats]:
        """Offsets, velocities and accelerations at the end of a way."""
        layout = self.layout
        own, path = layout.rows(np.stack(state)), layout.rows(way.places)
        said = layout.rows(np.concatenate([spring.T, push], axis=1)[None])
        h, count, first, last, drag, most, rounds = fixed
        numbers = np.array([h, first, last, drag, most], np.float32)
        spheres = np.ascontiguousarray(way.spheres, np.float64)
        with threads_for(int(layout.starts[-1])):
            _run_single(
                numbers, count, rounds, layout.starts, layout.others, layout.stiffness, layout.damping,
                self.inverse, self.constant, path, said, spheres, np.asarray(way.radii, np.float32),
                own, self.now, self.after,
            )  # fmt: skip
        offsets, velocities, accelerations = layout.tables(own)
        return offsets, velocities, accelerations


@njit(cache=True, inline="always")  # type: ignore[untyped-decorator]
def _place(path: Any, g: Any, axis: Any, s: Any) -> Any:
    value = load(path, 18 * g + 15 + axis)
    for k in range(4, -1, -1):
        value = value * s + load(path, 18 * g + 3 * k + axis)
    return value


@njit(cache=True, inline="always")  # type: ignore[untyped-decorator]
def _bending(path: Any, g: Any, axis: Any, s: Any) -> Any:
    row = 18 * g + axis
    inner = np.float32(12.0) * load(path, row + 12) + np.float32(20.0) * s * load(path, row + 15)
    return np.float32(2.0) * load(path, row + 6) + s * (np.float32(6.0) * load(path, row + 9) + s * inner)


@njit(cache=True, inline="always")  # type: ignore[untyped-decorator]
def _keep(records: Any, g: Any, y: Any, u: Any, v: Any) -> None:
    """Write what neighbours want to know."""
    first, zero = WIDTH * g, broadcast(np.float32(0.0))
    store_records(records, first, 0, (y[0], y[1], y[2], u[0], u[1], u[2], v[0], v[1]))
    store_records(records, first, 1, (v[2], zero, zero, zero, zero, zero, zero, zero))


@njit(cache=True, parallel=True)  # type: ignore[untyped-decorator]
def _begin(h: Any, path: Any, own: Any, records: Any) -> None:
    """The first half of the first step: offsets move on; w is kept in place of v, v* in place of a."""
    half = np.float32(0.5) * h
    for g in prange(len(own)):
        y = (_place(path, g, 0, h), _place(path, g, 1, h), _place(path, g, 2, h))
        base = 9 * g
        wx = load(own, base + 3) + half * load(own, base + 6)
        wy = load(own, base + 4) + half * load(own, base + 7)
        wz = load(own, base + 5) + half * load(own, base + 8)
        u = (load(own, base) + h * wx, load(own, base + 1) + h * wy, load(own, base + 2) + h * wz)
        v = (
            wx + half * load(own, base + 6),
            wy + half * load(own, base + 7),
            wz + half * load(own, base + 8),
        )
        _write(own, base, u, (wx, wy, wz), v)
        _keep(records, g, y, u, v)


@njit(cache=True, inline="always")  # type: ignore[untyped-decorator]
def _write(own: Any, base: Any, u: Any, w: Any, v: Any) -> None:
    for x in range(3):
        store(own, base + x, u[x])
        store(own, base + 3 + x, w[x])
        store(own, base + 6 + x, v[x])


@njit(cache=True, parallel=True)  # type: ignore[untyped-decorator]
def _pass(
    numbers: Any, s: Any, share: Any, kind: Any, starts: Any, others: Any, stiffness: Any, damping: Any,
    inverse: Any, constant: Any, path: Any, said: Any, spheres: Any, radii: Any, own: Any,
    now: Any, after: Any,
) -> None:  # fmt: skip
    """Look at every spring once. ``kind``: 0 corrects v* again, 1 goes on to the next step, 2 ends here."""
    h, first, last, drag, most = numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]
    half, one, zero = np.float32(0.5) * h, np.float32(1.0), np.float32(0.0)
    felt, slowed = first + share * (last - first), one / (one + half * drag)
    groups = len(own)
    for tile in prange((groups + _TILE - 1) // _TILE):
        tiny = broadcast(np.float32(1e-14))
        for g in range(tile * _TILE, min(groups, (tile + 1) * _TILE)):
            base = 9 * g
            ux, uy, uz = load(own, base), load(own, base + 1), load(own, base + 2)
            wx, wy, wz = load(own, base + 3), load(own, base + 4), load(own, base + 5)
            vx, vy, vz = load(own, base + 6), load(own, base + 7), load(own, base + 8)
            yx, yy, yz = _place(path, g, 0, s), _place(path, g, 1, s), _place(path, g, 2, s)
            stiffer = load(said, 5 * g)
            stiffer = stiffer + share * (load(said, 5 * g + 1) - stiffer)
            k = load(constant, 3 * g) * stiffer
            c = load(constant, 3 * g + 1) * square_root(stiffer)
            fx = load(said, 5 * g + 2) - k * ux - c * vx
            fy = load(said, 5 * g + 3) - k * uy - c * vy
            fz = load(said, 5 * g + 4) - k * uz - c * vz
            for row in range(starts[g], starts[g + 1]):
                qx, qy, qz, ox, oy, oz, rx, ry, rz = gather_records(now, others, row)
                ax, ay, az = qx - yx, qy - yy, qz - yz
                bx, by, bz = ox - ux, oy - uy, oz - uz
                dx, dy, dz = ax + bx, ay + by, az + bz
                dd = multiply_add(dx, dx, multiply_add(dy, dy, multiply_add(dz, dz, tiny)))
                aa = multiply_add(ax, ax, multiply_add(ay, ay, az * az))
                # k (|d| − |a|) / |d| + c rate / |d| with one root and one division
                both = dd + square_root(dd * aa)
                stretch = multiply_add(bx, ax + dx, multiply_add(by, ay + dy, bz * (az + dz)))
                rate = multiply_add(rx - vx, dx, multiply_add(ry - vy, dy, (rz - vz) * dz))
                damped = load(damping, row) * rate * both
                pull = multiply_add(load(stiffness, row) * stretch, dd, damped) / (dd * both)
                fx = multiply_add(pull, dx, fx)
                fy = multiply_add(pull, dy, fy)
                fz = multiply_add(pull, dz, fz)
            touch = load(constant, 3 * g + 2)
            for ball in range(len(radii)):
                px = yx + ux - np.float32(place_at(spheres, ball, 0, np.float64(s)))
                py = yy + uy - np.float32(place_at(spheres, ball, 1, np.float64(s)))
                pz = yz + uz - np.float32(place_at(spheres, ball, 2, np.float64(s)))
                away = square_root(px * px + py * py + pz * pz) + tiny
                out = touch * larger(radii[ball] / away - one, broadcast(zero))
                fx = fx + out * px
                fy = fy + out * py
                fz = fz + out * pz
            im = load(inverse, g)
            free = where_less(broadcast(zero), im, broadcast(felt), broadcast(zero))
            gx, gy, gz = _bending(path, g, 0, s), _bending(path, g, 1, s), _bending(path, g, 2, s)
            long = (gx * gx + gy * gy + gz * gz) / (most * most)
            less = free / square_root(square_root(one + long * long))
            vx2 = vx + slowed * (wx - vx + half * (im * fx - less * gx - drag * vx))
            vy2 = vy + slowed * (wy - vy + half * (im * fy - less * gy - drag * vy))
            vz2 = vz + slowed * (wz - vz + half * (im * fz - less * gz - drag * vz))
            if kind == 0:
                store(own, base + 6, vx2)
                store(own, base + 7, vy2)
                store(own, base + 8, vz2)
                _keep(after, g, (yx, yy, yz), (ux, uy, uz), (vx2, vy2, vz2))
                continue
            # half a step's change of speed
            ex, ey, ez = vx2 - wx, vy2 - wy, vz2 - wz
            if kind == 2:
                two = one / half
                _write(own, base, (ux, uy, uz), (vx2, vy2, vz2), (two * ex, two * ey, two * ez))
                continue
            wx, wy, wz = vx2 + ex, vy2 + ey, vz2 + ez
            ux, uy, uz = ux + h * wx, uy + h * wy, uz + h * wz
            vx, vy, vz = wx + ex, wy + ey, wz + ez
            t = s + h
            y = (_place(path, g, 0, t), _place(path, g, 1, t), _place(path, g, 2, t))
            _write(own, base, (ux, uy, uz), (wx, wy, wz), (vx, vy, vz))
            _keep(after, g, y, (ux, uy, uz), (vx, vy, vz))


@njit(cache=True)  # type: ignore[untyped-decorator]
def _run_single(
    numbers: Any, count: Any, rounds: Any, starts: Any, others: Any, stiffness: Any, damping: Any,
    inverse: Any, constant: Any, path: Any, said: Any, spheres: Any, radii: Any, own: Any,
    now: Any, after: Any,
) -> None:  # fmt: skip
    h = numbers[0]
    _begin(h, path, own, now)
    s = np.float32(0.0)
    for number in range(1, count + 1):
        s = s + h
        share = np.float32(number / count)
        for turn in range(1, rounds + 1):
            kind = 0 if turn < rounds else 1 if number < count else 2
            _pass(
                numbers, s, share, kind, starts, others, stiffness, damping, inverse, constant, path, said,
                spheres, radii, own, now, after,
            )  # fmt: skip
            now, after = after, now
