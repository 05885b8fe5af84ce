"""Elastic lines at rest, found directly: where the energy of springs and fields is least.

The thesis lets masses swing until friction has stopped them (`relaxation`); that ellipsoid fields have a
closed derivative (`base.ellipsoid`) it did not know. With it Newton's method finds the same rest in a few
steps, each the solution of a small sparse system (`block_solve`), for a line alone a block-tridiagonal one.
So that it never leaves the valley it began in, and never fails on what Newton's method alone would:

- no node steps farther than 5 cm, lest a line be thrown over a bone;
- a step must lower the energy (Armijo), or is halved;
- stiffness is taken without the parts that can be negative until steps are short, then with all of them as
  long as that stays positive definite: the last steps then converge quadratically, and only to a true rest;
- where that does not help the step is damped more and more (Levenberg), in the end down the plain gradient.

A line is at rest when the undamped step is below the tolerance, and then that step is not taken: rest in,
rest out, bit for bit. Bundles go in parallel, each through all frames of a batch.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
from numba import njit, prange

import ecorche.base.threads  # noqa: F401  settings that must precede the first parallel kernel
from ecorche.base.compiled_once import NO, YES
from ecorche.muscles.lines.block_solve import factorise, solve
from ecorche.muscles.lines.bundle_forces import bundle_terms
from ecorche.muscles.lines.elastic import ElasticLines, ElasticPlan
from ecorche.muscles.lines.field_places import FieldBinding, place_ellipsoid
from ecorche.muscles.lines.fields import PLACED, FieldLaws
from ecorche.muscles.lines.posed_lines import (
    ElasticReport,
    ElasticState,
    carry_points,
    checked_poses,
    designed_state,
    place_on_joints,
    pose_attachments,
    step_between,
)

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]

FARTHEST = 0.05
"""No node steps farther than this [m]."""
TOLERANCE = 1e-6
"""A line is at rest when no node would step farther than this [m]."""
MOST_ROUNDS = 200
_AT_ONCE = 256  # frames in memory at once
_SHORT = 0.005  # steps below this [m] are tried with the true stiffness


def rest_at_bind(lines: ElasticLines) -> tuple[Floats, ElasticState, ElasticReport]:
    """The lines at rest at bind, from their design: nodes (N, 3) [m], the state to go on from, a report."""
    bind = np.zeros((lines.joint_count, 4, 4))
    return equilibrium(lines, bind, designed_state(lines))


def equilibrium(
    lines: ElasticLines, moved: Floats, state: ElasticState, *, tolerance: float = TOLERANCE
) -> tuple[Floats, ElasticState, ElasticReport]:
    """All lines at rest in one pose or in one after another.

    Args:
        lines: The lines.
        moved: ``M − I`` of each joint since bind, (J, 4, 4) or, of F frames, (F, J, 4, 4).
        state: Where to begin: `rest_at_bind`, or what the frame before left.
        tolerance: How near to rest [m].

    Returns:
        Nodes [m] (N, 3) or (F, N, 3), the state after the last frame, and a report that names lines that did
        not come to rest; these are where they got to.
    """
    poses = checked_poses(lines, moved, state)
    frames, bundles = len(poses), len(lines.plan.rows) - 1
    rounds = np.zeros((frames, bundles), np.int32)
    remaining = np.zeros((frames, bundles))
    nodes = np.empty((frames, len(lines.points), 3))
    points, before = state.points, state.moved
    for first in range(0, frames, _AT_ONCE):
        part = poses[first : first + _AT_ONCE]
        found = np.empty((len(part), *points.shape))
        placed = np.empty((len(part), len(lines.binding.joints), PLACED))
        at = slice(first, first + len(part))
        _find(
            lines.plan,
            lines.fields,
            lines.binding,
            part,
            before,
            points,
            tolerance,
            found,
            placed,
            rounds[at],
            remaining[at],
        )
        nodes[at] = found[:, lines.points]
        points, before = found[-1], part[-1]
    report = ElasticReport(
        lines.names,
        remaining[:, lines.bundles] <= tolerance,
        rounds[:, lines.bundles],
        remaining[:, lines.bundles],
    )
    after = replace(
        state, points=points.copy(), moved=before.copy(), velocities=np.zeros_like(state.velocities)
    )
    return nodes if np.ndim(moved) == 4 else nodes[0], after, report


@njit(parallel=True, cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _find(
    plan: ElasticPlan,
    fields: FieldLaws,
    binding: FieldBinding,
    poses: Floats,
    before: Floats,
    start: Floats,
    tolerance: float,
    points: Floats,
    placed: Floats,
    rounds: Ints,
    remaining: Floats,
) -> None:
    """Points (F, P, 3) at rest for poses (F, J, 4, 4), from points in the pose ``before``."""
    frames = len(poses)
    steps = np.empty((frames, poses.shape[1], 3, 4))
    for f in prange(frames):
        pose_attachments(plan, poses[f], points[f])
        place_on_joints(plan, binding, poses[f], points[f], placed[f])
        if f == 0:
            step_between(before, poses[f], steps[f])
        else:
            step_between(poses[np.int64(f) - 1], poses[f], steps[f])
    for level in range(len(plan.levels) - 1):
        for f in prange(frames):
            for at in range(plan.level_borders[level], plan.level_borders[level + 1]):
                place_ellipsoid(binding, np.int64(plan.on_lines[at]), poses[f], points[f], placed[f])
        for at in prange(plan.levels[level + 1] - plan.levels[level]):
            bundle = np.int64(plan.level_bundles[plan.levels[level] + np.int64(at)])
            _follow(plan, fields, bundle, steps, start, tolerance, points, placed, rounds, remaining)


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _follow(
    plan: ElasticPlan,
    fields: FieldLaws,
    bundle: int,
    steps: Floats,
    start: Floats,
    tolerance: float,
    points: Floats,
    placed: Floats,
    rounds: Ints,
    remaining: Floats,
) -> None:
    """One bundle through all frames."""
    first, last = plan.rows[bundle], plan.rows[bundle + 1]
    count, anchors = last - first, plan.anchors[bundle + 1] - plan.anchors[bundle]
    blocks = plan.columns[last] - plan.columns[first]
    x, trial = np.empty((count + anchors, 3)), np.empty((count + anchors, 3))
    force, step = np.empty((count, 3)), np.empty((count, 3))
    diagonal, inverse = np.empty((count, 3, 3)), np.empty((count, 3, 3))
    below, lower = np.empty((blocks, 3, 3)), np.empty((blocks, 3, 3))
    x[:count] = start[first:last]
    for f in range(len(steps)):
        carry_points(plan, bundle, steps[f], x)
        for n in range(anchors):
            x[count + n] = points[f, plan.anchor_points[plan.anchors[bundle] + n]]
        trial[:] = x
        rounds[f, bundle], remaining[f, bundle] = _newton(
            plan, fields, placed[f], bundle, tolerance, x, trial, force, step, diagonal, inverse, below, lower
        )
        points[f, first:last] = x[:count]


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _newton(
    plan: ElasticPlan,
    fields: FieldLaws,
    placed: Floats,
    bundle: int,
    tolerance: float,
    x: Floats,
    trial: Floats,
    force: Floats,
    step: Floats,
    diagonal: Floats,
    inverse: Floats,
    below: Floats,
    lower: Floats,
) -> tuple[int, float]:
    """Bring one bundle's points x to rest, in place: rounds taken, and what step [m] remains."""
    count, first = len(force), plan.rows[bundle]
    damping, exact, largest = 0.0, NO, np.inf
    energy = bundle_terms(plan, fields, placed, bundle, x, force, diagonal, below, YES, exact)
    least = 1e-9 * plan.softest[bundle]
    for turn in range(MOST_ROUNDS):
        while True:
            inverse[:] = diagonal
            lower[:] = below
            for n in range(count):
                for i in range(3):
                    inverse[n, i, i] += damping + least
            if factorise(plan.update_starts, plan.updates, first, inverse, lower):
                break
            if exact:
                exact = NO
                bundle_terms(plan, fields, placed, bundle, x, force, diagonal, below, YES, exact)
            elif damping < 1e12 * plan.softest[bundle]:
                damping = max(10.0 * damping, plan.softest[bundle])
            else:
                return turn, np.inf
        solve(plan.columns, plan.block_rows, first, inverse, lower, force, step)
        square, slope = 0.0, 0.0
        for n in range(count):
            square = max(square, step[n, 0] ** 2 + step[n, 1] ** 2 + step[n, 2] ** 2)
            slope += force[n, 0] * step[n, 0] + force[n, 1] * step[n, 1] + force[n, 2] * step[n, 2]
        size = np.sqrt(square)
        if damping == 0.0:
            largest = size
            if size <= tolerance:
                return turn, size
        elif size <= tolerance:
            return turn, largest  # nothing lowers the energy any more
        share = min(1.0, FARTHEST / size)
        wanted = exact or size < _SHORT
        lower_energy = energy
        went = False
        for _ in range(10):
            for n in range(count):
                for i in range(3):
                    trial[n, i] = x[n, i] + share * step[n, i]
            lower_energy = bundle_terms(
                plan, fields, placed, bundle, trial, force, diagonal, below, YES, wanted
            )
            if lower_energy <= energy - 1e-4 * share * slope + 1e-15 * energy:
                went = True
                break
            share *= 0.5
        if went:
            x[:count] = trial[:count]
            energy, exact = lower_energy, wanted
            damping = 0.0 if damping < plan.softest[bundle] else 0.1 * damping
        else:
            exact = NO
            energy = bundle_terms(plan, fields, placed, bundle, x, force, diagonal, below, YES, exact)
            damping = max(10.0 * damping, plan.softest[bundle])
            if damping > 1e12 * plan.softest[bundle]:
                return turn, largest
    return MOST_ROUNDS, largest
