"""Springs in steps as long as a frame: implicit midpoint, or backward Euler.

Text 004 sets implicit integration aside because it damps the very jiggle that is wanted. That is true of
backward Euler, `share` = 1: an oscillation of angular frequency ω loses as by a damping ratio of about ω h/2
more. The implicit midpoint, `share` = ½, loses nothing, and its error is in the frequency: ω h is taken for
2 atan(ω h/2). With the change Δ of the velocities, u' = u + h (v + s Δ), v' = v + Δ, s being the share, the
equations of motion at the time s h within the step, taken as linear there, are

    (M + s h C + s² h² K) Δ = h f(u + s h v, v, t + s h).

They are solved by conjugate gradients with the diagonal before them. K leaves out what would make it
indefinite: springs that are pressed together resist sideways no less than if they had their length.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit, prange

from ecorche.dynamics.spring_steps import MOST, Way
from ecorche.dynamics.springs import Springs, spring_forces
from ecorche.dynamics.trajectory import acceleration_at, place_at
from ecorche.errors import EcorcheError

Floats = npt.NDArray[np.float64]

_CHUNK = 2048
"""Sums go over so many points, and then over those sums: the same on any number of threads."""


class ImplicitSprings:
    """Springs on their way in long steps.

    Args:
        springs: The springs.
        step: No step is longer [s].
        share: ½ for the implicit midpoint, 1 for backward Euler.
        tolerance: Of the residual, relative to what drives it.
        most: Bound of the trajectories' acceleration that is felt [m/s²].

    Attributes:
        offsets, velocities: u [m] and u̇ [m/s], (N, 3).
        accelerations: Mean of the last step [m/s²], (N, 3).
        iterations: Of conjugate gradients in the last step.
    """

    def __init__(
        self,
        springs: Springs,
        *,
        step: float,
        share: float = 0.5,
        tolerance: float = 1e-4,
        most: float = MOST,
    ) -> None:
        if not 0.5 <= share <= 1.0:
            raise EcorcheError(
                f"a share of {share:g} is not stable",
                where=springs.where,
                remedy="Choose 0.5 for the implicit midpoint, up to 1 for backward Euler",
            )
        if not step > 0.0:
            raise EcorcheError(
                f"a step of {step:g} s leads nowhere", where=springs.where, remedy="Give one above 0"
            )
        self.springs, self.step, self.share, self.tolerance = springs, step, share, tolerance
        self._most = most
        self.offsets = np.zeros((springs.point_count, 3))
        self.velocities, self.accelerations = np.zeros_like(self.offsets), np.zeros_like(self.offsets)
        self.iterations = 0
        free = np.isfinite(springs.masses)
        self._masses = np.where(free, springs.masses, 1.0)
        self._free = free.astype(np.float64)
        _, _, numbers = springs.ends
        self._ends = springs.stiffness[numbers], springs.damping[numbers]

    def advance(self, way: Way) -> int:
        """Go a way; how many steps it took. There are no spheres here."""
        if len(way.radii):
            raise EcorcheError(
                "spheres push springs in short steps only",
                where=self.springs.where,
                remedy="Take `SpringSteps`, or no spheres",
            )
        count = max(1, int(np.ceil(way.seconds / self.step - 1e-9)))
        for number in range(count):
            self._step(way, way.seconds / count, (number + self.share) / count)
        return count

    def _step(self, way: Way, h: float, middle: float) -> None:
        springs, s = self.springs, self.share
        seconds = way.seconds * middle
        places, bent = np.empty_like(self.offsets), np.empty_like(self.offsets)
        _along(way.places, seconds, places, bent)
        felt = way.felt[0] + middle * (way.felt[1] - way.felt[0])
        bent *= felt / (1.0 + (np.linalg.norm(bent, axis=1, keepdims=True) / self._most) ** 4) ** 0.25
        offsets = self.offsets + s * h * self.velocities
        own = np.stack([springs.own_stiffness, springs.own_damping]) * self._free
        more = np.zeros_like(own)
        if way.stiffening is not None:
            stiffer = way.stiffening[0] + middle * (way.stiffening[1] - way.stiffening[0])
            more = own * np.stack([stiffer - 1.0, np.sqrt(stiffer) - 1.0])
        force = spring_forces(springs, places, offsets, self.velocities)
        force -= more[0, :, None] * offsets + (more[1] + way.drag * self._masses)[:, None] * self.velocities
        force -= self._masses[:, None] * bent
        if way.push is not None:
            force += way.push
        force *= h * self._free[:, None]
        own = own + more
        diagonal = self._masses * (1.0 + s * h * way.drag) + s * h * (own[1] + s * h * own[0])
        starts, others, _ = springs.ends
        along = np.empty((len(others), 4))
        _tangents(starts, others, *self._ends, s * h, places, offsets, along)
        change = np.zeros_like(force)
        self.iterations = _solve(
            starts, others, along, diagonal, force, change, self.tolerance, 20 + springs.point_count
        )
        self.offsets = self.offsets + h * (self.velocities + s * change)
        self.velocities, self.accelerations = self.velocities + change, change / h
        if not np.isfinite(self.offsets).all():
            raise EcorcheError(
                f"the springs fly apart with steps of {1e3 * h:.2f} ms",
                where=springs.where,
                remedy="Take shorter steps or more damping; a push that is far too strong does it as well",
            )


@njit(cache=True, parallel=True)  # type: ignore[untyped-decorator]
def _along(path: Any, s: Any, places: Any, bent: Any) -> None:
    for i in prange(len(places)):
        for x in range(3):
            places[i, x] = place_at(path, i, x, s)
            bent[i, x] = acceleration_at(path, i, x, s)


@njit(cache=True, parallel=True)  # type: ignore[untyped-decorator]
def _tangents(starts: Any, others: Any, k: Any, c: Any, sh: Any, y: Any, u: Any, along: Any) -> None:
    """Of every end: √(what acts along the spring) x̂, and what acts in all directions."""
    for i in prange(len(y)):
        for e in range(starts[i], starts[i + 1]):
            j = others[e]
            rest = length = 0.0
            for x in range(3):
                a = y[j, x] - y[i, x]
                along[e, x] = a + u[j, x] - u[i, x]
                rest += a * a
                length += along[e, x] ** 2
            rest, length = np.sqrt(rest), np.sqrt(length)
            sideways = sh * sh * k[e] * max(0.0, 1.0 - rest / length) if length > 0.0 else 0.0
            root = np.sqrt(max(0.0, sh * c[e] + sh * sh * k[e] - sideways)) / max(length, 1e-12)
            for x in range(3):
                along[e, x] *= root
            along[e, 3] = sideways


@njit(cache=True, parallel=True)  # type: ignore[untyped-decorator]
def _times(starts: Any, others: Any, along: Any, diagonal: Any, p: Any, result: Any) -> None:
    """The matrix of the step times a vector."""
    for i in prange(len(p)):
        rx, ry, rz = diagonal[i] * p[i, 0], diagonal[i] * p[i, 1], diagonal[i] * p[i, 2]
        for e in range(starts[i], starts[i + 1]):
            j = others[e]
            dx, dy, dz = p[i, 0] - p[j, 0], p[i, 1] - p[j, 1], p[i, 2] - p[j, 2]
            pull = along[e, 0] * dx + along[e, 1] * dy + along[e, 2] * dz
            rx += pull * along[e, 0] + along[e, 3] * dx
            ry += pull * along[e, 1] + along[e, 3] * dy
            rz += pull * along[e, 2] + along[e, 3] * dz
        result[i, 0], result[i, 1], result[i, 2] = rx, ry, rz


@njit(cache=True, parallel=True)  # type: ignore[untyped-decorator]
def _product(a: Any, b: Any) -> Any:
    chunks = (len(a) + _CHUNK - 1) // _CHUNK
    part = np.zeros(chunks)
    for chunk in prange(chunks):
        total = 0.0
        for i in range(chunk * _CHUNK, min(len(a), (chunk + 1) * _CHUNK)):
            total += a[i, 0] * b[i, 0] + a[i, 1] * b[i, 1] + a[i, 2] * b[i, 2]
        part[chunk] = total
    whole = 0.0
    for chunk in range(chunks):
        whole += part[chunk]
    return whole


@njit(cache=True, parallel=True)  # type: ignore[untyped-decorator]
def _solve(
    starts: Any, others: Any, along: Any, diagonal: Any, b: Any, x: Any, tolerance: Any, most: Any
) -> Any:
    """Conjugate gradients from x = 0; how many iterations they took."""
    n = len(b)
    before = np.empty((n, 3))
    for i in prange(n):
        for k in range(3):
            total = diagonal[i]
            for e in range(starts[i], starts[i + 1]):
                total += along[e, k] ** 2 + along[e, 3]
            before[i, k] = 1.0 / total
    r, z, q = b.copy(), before * b, np.empty((n, 3))
    p = z.copy()
    size, rz = _product(b, before * b), _product(r, z)
    for number in range(most):
        if rz <= tolerance * tolerance * size:
            return number
        _times(starts, others, along, diagonal, p, q)
        step = rz / _product(p, q)
        for i in prange(n):
            for k in range(3):
                x[i, k] += step * p[i, k]
                r[i, k] -= step * q[i, k]
                z[i, k] = before[i, k] * r[i, k]
        last, rz = rz, _product(r, z)
        for i in prange(n):
            for k in range(3):
                p[i, k] = z[i, k] + (rz / last) * p[i, k]
    return most
