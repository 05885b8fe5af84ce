"""The shortest way from point to point over an ellipsoid: straight, along a geodesic, and straight again.

A tight thread leaves a point along a tangent of the ellipsoid. Tangency does not depend on scale, so in the
ellipsoid's unit ball the points where tangents from p touch are the circle ``u·p = 1``: one angle tells them
apart. From there the thread goes on along the geodesic, ``x'' = −(x'ᵀ A x' / |A x|²) A x`` with
``A = diag(1/e²)``, until a tangent of its own reaches the other point. Angle and arc length are found by
Newton's method, from the thread that lies in one plane through both points; that plane is also what OpenSim
takes for the answer, which is longer. Where the shortest is far from it, a coarse thread is drawn tight
first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from ecorche.base.ellipsoid import foot, nearest_points
from ecorche.base.rotations import normalise

Floats = npt.NDArray[np.float64]

STEPS = 160
"""Steps of the fourth-order Runge–Kutta method along a geodesic."""


@dataclass(frozen=True, eq=False)
class Detour:
    """A way round something.

    Attributes:
        start, end: Where it meets the surface and leaves it [m], (3,).
        arc: Length in between [m].
    """

    start: Floats
    end: Floats
    arc: float

    def length(self, p: Floats, q: Floats) -> float:
        """Of the way from p to q [m]."""
        return float(np.linalg.norm(self.start - p) + self.arc + np.linalg.norm(q - self.end))


def over_ellipsoid(p: Floats, q: Floats, radii: Floats, towards: Floats) -> Detour | None:
    """The shortest way from p to q over an ellipsoid, by a point of it over which a thread is laid first.

    The thread is drawn tight from there; it may slide to another side if it has no hold on that one. None: it
    slides off altogether.

    Args:
        p, q: In the ellipsoid's own frame [m], (3,), outside of it.
        radii: Of the ellipsoid [m], (3,).
        towards: A point of its surface [m], (3,).
    """
    flat = _in_plane(p / radii, q / radii, towards / radii)
    if flat is None:
        return None
    flat *= radii
    longest = _length(np.vstack([p, flat, q])) * (1.0 + 1e-4)
    found = _solved(p, q, radii, flat)
    if found is not None and found.length(p, q) <= longest:
        return found
    # too far to begin from: a coarse thread, drawn tight by hand
    thread = np.vstack([p, flat[:: (len(flat) - 1) // 32], q])
    _draw(radii, thread)
    touching = np.sum((thread / radii) ** 2, axis=1) < 1.0 + 1e-5
    touching[[0, -1]] = False
    if np.count_nonzero(touching) < 2:
        return None
    return _solved(p, q, radii, thread[touching])


def _length(points: Floats) -> float:
    return float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())


def _solved(p: Floats, q: Floats, radii: Floats, guess: Floats) -> Detour | None:
    """The geodesic from p to q near points along one (n, 3) [m], by Newton's method; None: none is found."""
    basis = _circle(p / radii)
    first = guess[0] / radii
    unknown = np.array([np.arctan2(basis[2] @ first, basis[1] @ first), _length(guess)])
    scale = float(np.max(radii))
    state = np.empty(6)
    for _ in range(60):
        wrong = _miss(p, q, radii, basis, unknown, state)
        if np.abs(wrong).max() < 1e-13:
            break
        jacobian = np.empty((2, 2))
        for k, width in enumerate((1e-6, 1e-6 * scale)):
            ends = []
            for sign in (1.0, -1.0):
                other = unknown.copy()
                other[k] += sign * width
                ends.append(_miss(p, q, radii, basis, other, state))
            jacobian[:, k] = (ends[0] - ends[1]) / (2.0 * width)
        try:
            step = np.linalg.solve(jacobian, -wrong)
        except np.linalg.LinAlgError:
            return None
        unknown = unknown + step / max(abs(step[0]) / 0.3, abs(step[1]) / (0.3 * scale), 1.0)
    wrong = _miss(p, q, radii, basis, unknown, state)
    if not np.abs(wrong).max() < 1e-10 or unknown[1] <= 0.0 or (q - state[:3]) @ state[3:] < 0.0:
        return None
    return Detour(_touch(basis, unknown[0]) * radii, state[:3].copy(), float(unknown[1]))


def side_of_chord(p: Floats, q: Floats, radii: Floats) -> Floats | None:
    """The point of an ellipsoid that a straight line from p to q passes nearest inside; None: it misses."""
    a, b = p / radii, (q - p) / radii
    half, rest = a @ b, a @ a - 1.0
    square = b @ b
    root = half * half - square * rest
    if root <= 0.0:
        return None
    first, last = (-half - np.sqrt(root)) / square, (-half + np.sqrt(root)) / square
    if first <= 0.0 or last >= 1.0:
        return None
    middle = p + 0.5 * (first + last) * (q - p)
    return nearest_points(middle, radii)


def _circle(p: Floats) -> Floats:
    """Of the circle where tangents from p, outside of the unit ball, touch: centre and two axes, (3, 3)."""
    square = float(p @ p)
    centre = p / square
    radius = np.sqrt(max(1.0 - 1.0 / square, 0.0))
    across = normalise(np.cross(p, np.eye(3)[int(np.argmin(np.abs(p)))]))
    return np.array([centre, radius * across, radius * np.cross(p, across) / np.sqrt(square)])


def _touch(basis: Floats, psi: float) -> Floats:
    point: Floats = basis[0] + np.cos(psi) * basis[1] + np.sin(psi) * basis[2]
    return point


def _in_plane(p: Floats, q: Floats, by: Floats) -> Floats | None:
    """Points along the thread over the unit ball in the plane of p, q and a point it goes by, (n, 3)."""
    normal = np.cross(p - by, q - by)
    if not np.linalg.norm(normal) > 1e-12:
        return None
    normal = normalise(normal)
    centre = (by @ normal) * normal
    x = normalise(by - centre)
    y = np.cross(normal, x)
    radius = float(np.sqrt(max(1.0 - float(centre @ centre), 0.0)))
    ends = []
    for point in (p, q):
        across, along = (point - centre) @ x, (point - centre) @ y
        away = np.hypot(across, along)
        if away < radius:
            return None
        turn = np.arccos(radius / away)
        at = np.arctan2(along, across)  # zero at `by`
        ends.append(at - np.sign(at) * turn)
    at = np.linspace(ends[0], ends[1], 65)[:, None]
    along_it: Floats = centre + radius * (np.cos(at) * x + np.sin(at) * y)
    return along_it


def _miss(p: Floats, q: Floats, radii: Floats, basis: Floats, unknown: Floats, state: Floats) -> Floats:
    """By how much the tangent at the end of a geodesic misses q: off the surface, and sideways [m]."""
    start = _touch(basis, unknown[0]) * radii
    direction = normalise(start - p)
    state[:3], state[3:] = start, direction
    _follow(1.0 / radii**2, state, unknown[1] / STEPS)
    normal = normalise(state[:3] / radii**2)
    away = q - state[:3]
    return np.array([away @ normal, away @ np.cross(normal, state[3:])])


@njit(forceinline=True)  # type: ignore[untyped-decorator]
def _bend(a: Any, s: Any, out: Any) -> None:
    gx, gy, gz = a[0] * s[0], a[1] * s[1], a[2] * s[2]
    turn = a[0] * s[3] * s[3] + a[1] * s[4] * s[4] + a[2] * s[5] * s[5]
    turn /= gx * gx + gy * gy + gz * gz
    out[0], out[1], out[2] = s[3], s[4], s[5]
    out[3], out[4], out[5] = -turn * gx, -turn * gy, -turn * gz


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _follow(a: Floats, state: Floats, h: float) -> None:
    """Go so many steps of length h along the geodesic from place and direction (6,), in place."""
    k1, k2, k3, k4 = np.empty(6), np.empty(6), np.empty(6), np.empty(6)
    for _ in range(STEPS):
        _bend(a, state, k1)
        _bend(a, state + 0.5 * h * k1, k2)
        _bend(a, state + 0.5 * h * k2, k3)
        _bend(a, state + h * k3, k4)
        state += h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)


@njit(cache=True)  # type: ignore[untyped-decorator]
def _draw(radii: Floats, thread: Floats) -> None:
    """Draw a thread (n, 3) over an ellipsoid tight: each point goes between its neighbours, and out."""
    n = len(thread)
    for _ in range(4 * n * n):
        most = 0.0
        for k in range(1, n - 1):
            x = 0.5 * (thread[k - 1] + thread[k + 1])
            x = thread[k] + 1.5 * (x - thread[k])
            u = x / radii
            if u[0] * u[0] + u[1] * u[1] + u[2] * u[2] < 1.0:
                a, b, c, _ = foot(x[0], x[1], x[2], radii[0], radii[1], radii[2])
                x[0], x[1], x[2] = a, b, c
            most = max(most, np.abs(x - thread[k]).max())
            thread[k] = x
        if most < 1e-9:
            break
