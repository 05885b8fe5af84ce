"""Springs through time: velocity Verlet whose damping is solved for the end of the step.

A step of length h is

    w = v + h/2 a,   u' = u + h w,   v' = w + h/2 a'(u', v'),

where the damping in a' depends on v' itself: (M + h/2 C) v' = M w + h/2 f'. Text 004 leaves open what stands
in its place; w, which is at hand, costs an order. We take v* = w + h/2 a, which is v' but for h², and correct
it once: v' = w + h/2 a'(u', v*). One look at every spring makes a step of second order. For an oscillation of
angular frequency ω whose damper takes speed away at the rate γ = c/m it is stable while h² ω² + 4 h γ ≤ 4
(undamped velocity Verlet: h ω ≤ 2). Further `rounds` put v' for v* again: they converge to the exact solution
of the damping, and cost as much as a step each.

Between two frames points go along polynomials of fifth degree (`trajectory`): place, velocity and
acceleration are continuous, and no frame kicks. What is at rest stays so to the bit.

There are two kernels: sixteen points at a time in single precision (`spring_lanes`), and here a plain one in
double precision, with which tests and studies compare it. Everything is gathered; the bytes do not depend on
the number of threads.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit, prange

from ecorche.dynamics.spring_lanes import SpringLanes
from ecorche.dynamics.springs import Springs
from ecorche.dynamics.trajectory import acceleration_at, place_at
from ecorche.errors import EcorcheError

Floats = npt.NDArray[np.float64]

MOST = 150.0
"""No more of a trajectory's acceleration is felt [m/s²]; half of it is felt but for a hundredth. People
hardly move so, but motions leap, where they are cut."""
_NO_SPHERES: Floats = np.zeros((6, 0, 3))


@dataclass(frozen=True, eq=False)
class Way:
    """What happens to the points from one frame to the next.

    Attributes:
        seconds: How long it takes [s].
        places: Coefficients of the points' trajectories in the seconds since it began [m/sⁿ], (6, N, 3).
        stiffening: Times as stiff a point's own spring is at the beginning and at the end, (2, N); None is 1.
        push: Force on each point [N], (N, 3); None for none.
        felt: Share of the trajectories' acceleration that is felt at the beginning and at the end.
        drag: How fast everything loses speed besides [1/s].
        spheres: Coefficients of the centres of spheres that push points out, as ``places``, (6, K, 3).
        radii: Of the spheres [m], (K,).
    """

    seconds: float
    places: Floats
    stiffening: Floats | None = None
    push: Floats | None = None
    felt: tuple[float, float] = (1.0, 1.0)
    drag: float = 0.0
    spheres: Floats = field(default_factory=lambda: _NO_SPHERES)
    radii: Floats = field(default_factory=lambda: np.zeros(0))


def still(places: Floats, seconds: float, **said: Any) -> Way:
    """Points whose trajectories stay where they are [m], (N, 3)."""
    coefficients = np.zeros((6, *places.shape))
    coefficients[0] = places
    return Way(seconds, coefficients, **said)


class SpringSteps:
    """Springs on their way: where they are, and what moves them on.

    Args:
        springs: The springs.
        places: Of their trajectories at bind [m], (N, 3): the step is chosen there.
        step: No step is longer [s]; None takes `Springs.stable_step`.
        precision: ``"single"`` or ``"double"``.
        rounds: How often the damping is solved for in a step.
        contact: Stiffness with which a sphere pushes each point out [N/m], (N,); None for none.
        most: Bound of the acceleration that is felt [m/s²].

    Attributes:
        offsets, velocities, accelerations: u [m], u̇ [m/s] and ü [m/s²], (N, 3).
    """

    def __init__(
        self,
        springs: Springs,
        places: Floats,
        *,
        step: float | None = None,
        precision: str = "single",
        rounds: int = 1,
        contact: Floats | None = None,
        most: float = MOST,
    ) -> None:
        if precision not in ("single", "double"):
            raise EcorcheError(
                f"there is no precision {precision!r}",
                where=springs.where,
                remedy="Choose 'single' or 'double'",
            )
        self.springs = springs
        self.step = springs.stable_step(places) if step is None else step
        if not self.step > 0.0:
            raise EcorcheError(
                f"a step of {self.step:g} s leads nowhere", where=springs.where, remedy="Give one above 0"
            )
        self._most, self._rounds = most, rounds
        self._contact = np.zeros(springs.point_count) if contact is None else contact
        self.offsets = np.zeros((springs.point_count, 3))
        self.velocities, self.accelerations = np.zeros_like(self.offsets), np.zeros_like(self.offsets)
        self._single = SpringLanes(springs, places, self._contact) if precision == "single" else None

    def steps_for(self, seconds: float) -> int:
        """Into how many steps so long a way is divided."""
        return max(1, int(np.ceil(seconds / self.step - 1e-9)))

    def advance(self, way: Way) -> int:
        """Go a way; how many steps it took. What becomes infinite is refused: the step was too long."""
        count = self.steps_for(way.seconds)
        fixed = (way.seconds / count, count, *way.felt, way.drag, self._most, self._rounds)
        spring = np.ones((2, self.springs.point_count)) if way.stiffening is None else way.stiffening
        push = np.zeros_like(self.offsets) if way.push is None else way.push
        if self._single is not None:
            state = self._single.advance(
                fixed, way, spring, push, self.offsets, self.velocities, self.accelerations
            )
        else:
            state = self._double(fixed, way, spring, push)
        if not all(np.isfinite(s).all() for s in state):
            raise EcorcheError(
                f"the springs fly apart with steps of {1e6 * fixed[0]:.0f} µs",
                where=self.springs.where,
                remedy="Take shorter steps or more damping; a push that is far too strong does it as well",
            )
        self.offsets, self.velocities, self.accelerations = state
        return count

    def _double(self, fixed: Any, way: Way, spring: Floats, push: Floats) -> tuple[Floats, Floats, Floats]:
        springs = self.springs
        starts, others, numbers = springs.ends
        state = tuple(s.copy() for s in (self.offsets, self.velocities, self.accelerations))
        own = np.stack([springs.own_stiffness, springs.own_damping])
        _run_double(
            fixed, starts, others, springs.stiffness[numbers], springs.damping[numbers], own, spring,
            springs.inverse_masses, self._contact, way.places, push, way.spheres, way.radii, *state,
        )  # fmt: skip
        return state[0], state[1], state[2]


@njit(cache=True, parallel=True)  # type: ignore[untyped-decorator]
def _run_double(
    fixed: Any, starts: Any, others: Any, k: Any, c: Any, own: Any, spring: Any, inverse: Any,
    contact: Any, path: Any, push: Any, spheres: Any, radii: Any, u: Any, v: Any, a: Any,
) -> None:  # fmt: skip
    h, count, felt_first, felt_last, drag, most, rounds = fixed
    n = len(u)
    y, w, guess, fresh = np.empty((n, 3)), np.empty((n, 3)), np.empty((n, 3)), np.empty((n, 3))
    for number in range(1, count + 1):
        s = h * number
        share = number / count
        felt = felt_first + share * (felt_last - felt_first)
        for i in prange(n):
            for x in range(3):
                w[i, x] = v[i, x] + 0.5 * h * a[i, x]
                u[i, x] += h * w[i, x]
                guess[i, x] = w[i, x] + 0.5 * h * a[i, x]
                y[i, x] = place_at(path, i, x, s)
        for _ in range(rounds):
            for i in prange(n):
                stiffer = spring[0, i] + share * (spring[1, i] - spring[0, i])
                kk, cc = own[0, i] * stiffer, own[1, i] * np.sqrt(stiffer)
                fx = push[i, 0] - kk * u[i, 0] - cc * guess[i, 0]
                fy = push[i, 1] - kk * u[i, 1] - cc * guess[i, 1]
                fz = push[i, 2] - kk * u[i, 2] - cc * guess[i, 2]
                for e in range(starts[i], starts[i + 1]):
                    j = others[e]
                    ax, ay, az = y[j, 0] - y[i, 0], y[j, 1] - y[i, 1], y[j, 2] - y[i, 2]
                    bx, by, bz = u[j, 0] - u[i, 0], u[j, 1] - u[i, 1], u[j, 2] - u[i, 2]
                    dx, dy, dz = ax + bx, ay + by, az + bz
                    rest = np.sqrt(ax * ax + ay * ay + az * az)
                    length = np.sqrt(dx * dx + dy * dy + dz * dz)
                    if length == 0.0:
                        continue
                    stretch = (bx * (ax + dx) + by * (ay + dy) + bz * (az + dz)) / (rest + length)
                    rate = (
                        (guess[j, 0] - guess[i, 0]) * dx
                        + (guess[j, 1] - guess[i, 1]) * dy
                        + (guess[j, 2] - guess[i, 2]) * dz
                    ) / length
                    pull = (k[e] * stretch + c[e] * rate) / length
                    fx += pull * dx
                    fy += pull * dy
                    fz += pull * dz
                for ball in range(len(radii)):
                    px = y[i, 0] + u[i, 0] - place_at(spheres, ball, 0, s)
                    py = y[i, 1] + u[i, 1] - place_at(spheres, ball, 1, s)
                    pz = y[i, 2] + u[i, 2] - place_at(spheres, ball, 2, s)
                    away = np.sqrt(px * px + py * py + pz * pz)
                    out = contact[i] * max(radii[ball] / max(away, 1e-12) - 1.0, 0.0)
                    fx += out * px
                    fy += out * py
                    fz += out * pz
                free = 1.0 if inverse[i] > 0.0 else 0.0
                gx, gy, gz = (
                    acceleration_at(path, i, 0, s),
                    acceleration_at(path, i, 1, s),
                    acceleration_at(path, i, 2, s),
                )
                long = (gx * gx + gy * gy + gz * gz) / (most * most)
                less = free * felt / np.sqrt(np.sqrt(1.0 + long * long))
                slowed = 1.0 / (1.0 + 0.5 * h * drag)
                force = (fx, fy, fz)
                bent = (gx, gy, gz)
                for x in range(3):
                    speeding = inverse[i] * force[x] - less * bent[x] - drag * guess[i, x]
                    fresh[i, x] = guess[i, x] + slowed * (w[i, x] - guess[i, x] + 0.5 * h * speeding)
            for i in prange(n):
                for x in range(3):
                    guess[i, x] = fresh[i, x]
        for i in prange(n):
            for x in range(3):
                v[i, x] = guess[i, x]
                a[i, x] = (guess[i, x] - w[i, x]) * (2.0 / h)
