"""How stiff an elastic line may be at a time step before an integrator explodes: the thesis's Figure 4.17.

A line of six nodes whose springs rest at a tenth of their length, as there. Small swings of it are known in
closed form: along the line ``k μ`` and across ``0.9 k μ`` [1/s²], ``μ = 4 sin²(π j / 10)``, so that linear
theory tells where each explicit method grows; the line itself tells what really happens.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from numba import njit

from benchmarks.integrators import (
    CASH_KARP,
    EULER,
    MIDPOINT,
    RUNGE_KUTTA_4,
    Implicit,
    Tableau,
    explicit_step,
    implicit_step,
)
from ecorche.muscles.lines.bundle_forces import bundle_terms
from ecorche.muscles.lines.elastic import DYNAMIC, ElasticLine, ElasticLines, ElasticPlan
from ecorche.muscles.lines.elastic_compile import elastic_lines
from ecorche.muscles.lines.fields import PLACED, FieldLaws

Floats = npt.NDArray[np.float64]
Complexes = npt.NDArray[np.complex128]

STEPS: Floats = 1.0 / np.array([24.0, 30.0, 40.0, 50.0, 60.0, 75.0, 100.0])
STIFFEST = 1e9
COUNT = 1000
DRAG, DAMPING = 1.0, 0.5
EXPLICIT = {
    "explicit Euler": EULER,
    "midpoint": MIDPOINT,
    "Runge–Kutta 4": RUNGE_KUTTA_4,
    "Runge–Kutta 5 (Cash–Karp)": CASH_KARP,
}
IMPLICIT = {
    "backward Euler": Implicit.RIGHT,
    "backward Euler, (4.18) as printed": Implicit.AS_PRINTED,
    "backward Euler, nodes moved by the old speed": Implicit.OLD_SPEED,
}


def line_of(nodes: int, stiffness: float) -> tuple[ElasticLines, Floats, Floats]:
    """An even straight line of 30 cm, held at both ends, with its points [m] and velocities [m/s]."""
    places = np.linspace(0.0, 0.3, nodes)[:, None] * [1.0, 0.0, 0.0]
    joints = [0, *[DYNAMIC] * (nodes - 2), 0]
    line = ElasticLine("line", places, joints, stiffness=stiffness, drag=DRAG, damping=DAMPING)
    lines = elastic_lines([line], [], 1)
    moving = int(lines.plan.rows[-1])
    x = np.concatenate([lines.designed[:moving], lines.designed[lines.plan.anchor_points]])
    return lines, x, np.zeros((moving, 3))


def explodes(method: Tableau | Implicit, stiffness: float, dt: float) -> bool:
    """Whether a line of six nodes, pulled out of place by 2 cm or so, comes to ten times its energy."""
    lines, x, v = line_of(6, stiffness)
    x[:4] += 0.02 * np.random.default_rng(4).normal(size=(4, 3))
    if isinstance(method, Tableau):
        return bool(_explodes(lines.plan, lines.fields, method.stages, method.step, -1, dt, x, v))
    return bool(_explodes(lines.plan, lines.fields, EULER.stages, EULER.step, int(method), dt, x, v))


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _explodes(
    plan: ElasticPlan,
    fields: FieldLaws,
    stages: Floats,
    step: Floats,
    kind: int,
    dt: float,
    x: Floats,
    v: Floats,
) -> bool:
    nothing, force, placed = np.empty((0, 3, 3)), np.empty_like(v), np.empty((0, PLACED))
    most = 10.0 * bundle_terms(plan, fields, placed, 0, x, force, nothing, nothing, False, False)
    for _ in range(COUNT):
        if kind < 0:
            explicit_step(plan, fields, placed, 0, stages, step, dt, x, v)
        else:
            implicit_step(plan, fields, placed, 0, kind, dt, x, v)
        energy = bundle_terms(plan, fields, placed, 0, x, force, nothing, nothing, False, False)
        if not energy + 0.5 * np.sum(v * v) < most:
            return True
    return False


def stiffest(exploding: Callable[[float], bool]) -> float:
    """The stiffness [N/m] up to which nothing explodes, to 1 %: the first on a coarse scale, then halved.

    Infinite where nothing does up to `STIFFEST`.
    """
    scale = np.geomspace(0.1, STIFFEST, 41)
    first = next((n for n, k in enumerate(scale) if exploding(float(k))), None)
    if first is None:
        return float(np.inf)
    low, high = (float(scale[first - 1]) if first else 0.0), float(scale[first])
    while high > 1.01 * low:
        middle = float(np.sqrt(low * high)) if low else 0.1 * high
        low, high = (low, middle) if exploding(middle) else (middle, high)
    return low


def measured_limit(method: Tableau | Implicit, dt: float) -> float:
    """Critical stiffness [N/m] of the line at a time step [s]."""
    return stiffest(lambda stiffness: explodes(method, stiffness, dt))


def linear_limit(method: Tableau, dt: float) -> float:
    """The same by linear theory: where a swing of the line first grows from step to step."""
    return stiffest(lambda stiffness: bool(growth(method, dt * swings(stiffness)).max() > 1.0 + 1e-12))


def swings(stiffness: float) -> Complexes:
    """Rates z [1/s], complex, of all small swings ``exp(z t)`` of the six-node line, along and across."""
    mu = 4.0 * np.sin(0.1 * np.pi * np.arange(1, 5)) ** 2
    square = stiffness * np.concatenate([mu, 0.9 * mu])
    half = 0.5 * np.concatenate([DRAG + DAMPING * mu, np.full(4, DRAG)])
    root = np.sqrt((half * half - square).astype(complex))
    return np.concatenate([root - half, -root - half])


def growth(method: Tableau, z: Complexes) -> Floats:
    """Factor by which a method lets ``exp(z)`` grow in one step: |1 + z bᵀ (1 − z A)⁻¹ 1|."""
    ones = np.ones(len(method.step))
    systems = np.eye(len(ones)) - z[:, None, None] * method.stages
    stages = np.linalg.solve(systems, np.broadcast_to(ones[:, None], (len(z), len(ones), 1)))[..., 0]
    return np.asarray(np.abs(1.0 + z * (stages @ method.step)))


def stability() -> tuple[dict[str, Floats], dict[str, Floats]]:
    """Critical stiffness [N/m] of each method at each of `STEPS`: measured, and by theory where explicit."""
    methods: dict[str, Tableau | Implicit] = {**EXPLICIT, **IMPLICIT}
    measured = {name: np.array([measured_limit(m, dt) for dt in STEPS]) for name, m in methods.items()}
    theory = {name: np.array([linear_limit(m, dt) for dt in STEPS]) for name, m in EXPLICIT.items()}
    return measured, theory
