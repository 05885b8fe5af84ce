"""Steps of the integrators that elastic lines are compared with: explicit Euler, midpoint, Runge–Kutta of
fourth and of embedded fifth order, backward Euler.

Explicit ones are tables of coefficients (Cash and Karp's for the fifth order) and one loop. Backward Euler
takes forces at the end of the step to first order, which gives

    (M − dt ∂f/∂V − dt² ∂f/∂X) V' = M V + dt f − dt (∂f/∂V) V,   X' = X + dt V'.

The thesis prints ``− dt V`` for the last term of the system (4.18). That slip, and another that is not in
print but easily made, can be chosen, to see what they do.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
import numpy.typing as npt
from numba import njit

from ecorche.muscles.lines.bundle_forces import bundle_terms
from ecorche.muscles.lines.elastic import ElasticPlan
from ecorche.muscles.lines.fields import FieldLaws
from ecorche.muscles.lines.relaxation import accelerations

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Tableau:
    """An explicit method: what each stage takes of earlier ones (s, s), and the step of all (s,)."""

    stages: Floats
    step: Floats


def _tableau(rows: list[list[float]], step: list[float]) -> Tableau:
    stages = np.zeros((len(step), len(step)))
    for n, row in enumerate(rows):
        stages[n + 1, : len(row)] = row
    return Tableau(stages, np.array(step))


EULER = _tableau([], [1.0])
MIDPOINT = _tableau([[0.5]], [0.0, 1.0])
RUNGE_KUTTA_4 = _tableau([[0.5], [0.0, 0.5], [0.0, 0.0, 1.0]], [1 / 6, 1 / 3, 1 / 3, 1 / 6])
CASH_KARP = _tableau(
    [
        [1 / 5],
        [3 / 40, 9 / 40],
        [3 / 10, -9 / 10, 6 / 5],
        [-11 / 54, 5 / 2, -70 / 27, 35 / 27],
        [1631 / 55296, 175 / 512, 575 / 13824, 44275 / 110592, 253 / 4096],
    ],
    [37 / 378, 0.0, 250 / 621, 125 / 594, 0.0, 512 / 1771],
)
EMBEDDED: Floats = np.array([2825 / 27648, 0.0, 18575 / 48384, 13525 / 55296, 277 / 14336, 1 / 4])
"""The fourth-order step of Cash and Karp's stages."""


class Implicit(IntEnum):
    """Backward Euler, as it should be and with a slip."""

    RIGHT = 0
    AS_PRINTED = 1
    """``− dt V`` for ``− dt (∂f/∂V) V``."""
    OLD_SPEED = 2
    """``X' = X + dt V``: the speed of the step's beginning moves the nodes."""


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def stages_of(
    plan: ElasticPlan,
    fields: FieldLaws,
    placed: Floats,
    bundle: int,
    stages: Floats,
    dt: float,
    x: Floats,
    v: Floats,
    y: Floats,
    speeds: Floats,
    slopes: Floats,
) -> None:
    """Speeds and accelerations (s, n, 3) of all stages of a step from x, v."""
    nothing = np.empty((0, 3, 3))
    for s in range(len(stages)):
        for n in range(len(v)):
            for i in range(3):
                at, speed = x[n, i], v[n, i]
                for k in range(s):
                    at += dt * stages[s, k] * speeds[k, n, i]
                    speed += dt * stages[s, k] * slopes[k, n, i]
                y[n, i], speeds[s, n, i] = at, speed
        accelerations(plan, fields, placed, bundle, y, speeds[s], nothing, slopes[s])


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def explicit_step(
    plan: ElasticPlan,
    fields: FieldLaws,
    placed: Floats,
    bundle: int,
    stages: Floats,
    step: Floats,
    dt: float,
    x: Floats,
    v: Floats,
) -> None:
    """One step of dt [s] of a `Tableau`: places x (points, 3) [m] and velocities v (n, 3) [m/s], in place."""
    y, speeds, slopes = x.copy(), np.empty((len(step), *v.shape)), np.empty((len(step), *v.shape))
    stages_of(plan, fields, placed, bundle, stages, dt, x, v, y, speeds, slopes)
    for s in range(len(step)):
        x[: len(v)] += dt * step[s] * speeds[s]
        v += dt * step[s] * slopes[s]


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def implicit_step(
    plan: ElasticPlan,
    fields: FieldLaws,
    placed: Floats,
    bundle: int,
    kind: int,
    dt: float,
    x: Floats,
    v: Floats,
) -> None:
    """One step of dt [s] of backward Euler, of an `Implicit` kind, in place."""
    free, springs = len(v), range(plan.springs[bundle], plan.springs[bundle + 1])
    force, diagonal = np.empty((free, 3)), np.empty((free, 3, 3))
    below = np.empty((len(plan.block_rows), 3, 3))
    accelerations(plan, fields, placed, bundle, x, v, below[:0], force)
    right = v + dt * force - dt * v
    bundle_terms(plan, fields, placed, bundle, x, force, diagonal, below, True, True)
    if kind != Implicit.AS_PRINTED:
        right = v + dt * force  # damping and drag are linear: what is left of f is force of place alone
    system = (1.0 + dt * plan.drag[bundle]) * np.eye(3 * free)
    for n in range(free):
        system[3 * n : 3 * n + 3, 3 * n : 3 * n + 3] += dt * dt * diagonal[n]
    for s in springs:
        a, b, block = plan.ends[s, 0], plan.ends[s, 1], plan.ends[s, 2]
        d = x[b] - x[a]
        damped = dt * plan.stretch[s, 2] / np.sum(d * d) * d.reshape(3, 1) * d
        for end in (a, b):
            if end < free:
                system[3 * end : 3 * end + 3, 3 * end : 3 * end + 3] += damped
        if block >= 0:
            coupled = dt * dt * below[block] - damped
            system[3 * a : 3 * a + 3, 3 * b : 3 * b + 3] = coupled
            system[3 * b : 3 * b + 3, 3 * a : 3 * a + 3] = coupled.T
    after = np.linalg.solve(system, right.reshape(3 * free)).reshape(free, 3)
    x[:free] += dt * (v if kind == Implicit.OLD_SPEED else after)
    v[:] = after
