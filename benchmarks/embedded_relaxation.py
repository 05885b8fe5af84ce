"""Elastic lines swung to rest by an embedded Runge–Kutta pair, the other method of the thesis's Table 4.1.

Fifth order, with the fourth-order step of the same stages beside it (Cash and Karp, as the thesis's source
has it): where they differ, the step is too long. Otherwise as `ecorche.muscles.lines.relaxation`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit, prange

from benchmarks.integrators import CASH_KARP, EMBEDDED, stages_of
from ecorche.muscles.lines.elastic import ElasticLines, ElasticPlan
from ecorche.muscles.lines.field_places import FieldBinding
from ecorche.muscles.lines.fields import PLACED, FieldLaws
from ecorche.muscles.lines.posed_lines import (
    ElasticReport,
    ElasticState,
    carried_bundle,
    checked_poses,
    place_on_joints,
    pose_attachments,
    step_between,
)

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]

EMBEDDED_ERROR = 1e-8
"""What a step may be off by [m], and a hundred times this [m/s]. With more, steps grow until the stiffest
springs tremble within it: within 5 µm of rest one line in ten fails to come at 1e-7, all at 1e-6."""


def relax_embedded(
    lines: ElasticLines,
    moved: Floats,
    state: ElasticState,
    *,
    tolerance: float,
    error: float = EMBEDDED_ERROR,
    most_steps: int = 20_000,
) -> tuple[Floats, ElasticState, ElasticReport]:
    """As `relax`, by the embedded fifth order steered by its residual; for fields on joints only."""
    poses = checked_poses(lines, moved, state)
    frames, bundles = len(poses), len(lines.plan.rows) - 1
    rounds, remaining = np.zeros((frames, bundles), np.int32), np.zeros((frames, bundles))
    points, pace, before = state.points.copy(), state.pace.copy(), state.moved
    placed, nodes = np.empty((len(lines.binding.joints), PLACED)), np.empty((frames, len(lines.points), 3))
    for f, pose in enumerate(poses):
        _swing(
            lines.plan, lines.fields, lines.binding, pose, before, CASH_KARP.stages, CASH_KARP.step,
            tolerance, error, most_steps, points, pace, placed, rounds[f], remaining[f],
        )  # fmt: skip
        nodes[f], before = points[lines.points], pose
    far = remaining[:, lines.bundles]
    report = ElasticReport(lines.names, far <= tolerance, rounds[:, lines.bundles], far)
    after = ElasticState(points, np.zeros_like(state.velocities), before.copy(), pace)
    return nodes if np.ndim(moved) == 4 else nodes[0], after, report


@njit(parallel=True, cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _swing(
    plan: ElasticPlan,
    fields: FieldLaws,
    binding: FieldBinding,
    pose: Floats,
    before: Floats,
    stages: Floats,
    step: Floats,
    tolerance: float,
    error: float,
    most_steps: int,
    points: Floats,
    pace: Floats,
    placed: Floats,
    rounds: Ints,
    remaining: Floats,
) -> None:
    moves = np.empty((len(pose), 3, 4))
    step_between(before, pose, moves)
    pose_attachments(plan, pose, points)
    place_on_joints(plan, binding, pose, points, placed)
    for at in prange(len(plan.rows) - 1):
        bundle = np.int64(at)
        first, last = plan.rows[bundle], plan.rows[bundle + 1]
        x = carried_bundle(plan, bundle, moves, points)
        rounds[bundle], remaining[bundle], pace[bundle] = _embedded(
            plan, fields, placed, bundle, stages, step, tolerance, error, most_steps, x, last - first,
            pace[bundle],
        )  # fmt: skip
        points[first:last] = x[: last - first]


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _embedded(
    plan: ElasticPlan,
    fields: FieldLaws,
    placed: Floats,
    bundle: int,
    stages: Floats,
    step: Floats,
    tolerance: float,
    error: float,
    most_steps: int,
    x: Floats,
    count: int,
    pace: float,
) -> tuple[int, float, float]:
    v, left = np.zeros((count, 3)), np.inf
    y, speeds, slopes = x.copy(), np.empty((len(step), count, 3)), np.empty((len(step), count, 3))
    softest, drag = plan.softest[bundle], plan.drag[bundle]
    fourth = EMBEDDED
    for turn in range(most_steps):
        stages_of(plan, fields, placed, bundle, stages, pace, x, v, y, speeds, slopes)
        left = 0.0
        for n in range(count):
            force, speed = 0.0, 0.0
            for i in range(3):
                force += (slopes[0, n, i] + drag * v[n, i]) ** 2
                speed += v[n, i] ** 2
            left = max(left, np.sqrt(force) / softest, np.sqrt(speed / softest))
        if left <= tolerance:
            return turn, left, pace
        worst = 0.0
        for n in range(count):
            for i in range(3):
                place, speed = 0.0, 0.0
                for s in range(len(step)):
                    place += (step[s] - fourth[s]) * speeds[s, n, i]
                    speed += (step[s] - fourth[s]) * slopes[s, n, i]
                worst = max(worst, abs(pace * place) / error, abs(pace * speed) / (100.0 * error))
        if not worst <= 1.0:
            pace *= max(0.1, 0.9 * worst**-0.25) if worst < np.inf else 0.1
            continue
        for s in range(len(step)):
            x[:count] += pace * step[s] * speeds[s]
            v += pace * step[s] * slopes[s]
        pace *= min(5.0, 0.9 * max(worst, 1e-9) ** -0.2)
    return most_steps, left, pace
