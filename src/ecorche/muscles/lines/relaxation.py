"""Elastic lines brought to rest by letting them swing: Runge–Kutta of fourth order, its step adapted.

Thesis section 4.7: unit masses, damped springs, drag; the kinetic energy steers the step. A step in which the
kinetic energy of some node more than doubles is taken back and halved (not where all stood still); after
n good steps twice the step is tried, and each time that fails n grows by one. What is added, as that
rule alone lets a step just beyond stability swing up slowly, by less than a doubling at a time:

- the energy of springs, fields and motion together never exceeds what the call began with. True motion only
  loses energy; so whatever is changed between calls (a field, a stiffness, the pose), nothing explodes;
- no node moves more than 5 cm in a step.

``steer="total"`` instead takes back every step in which the total energy grows: it can take longer steps.

`equilibrium` finds the same rest and is faster by far; this is the published method, and one that can be
stopped and watched at any time: the state holds velocities and paces to go on with.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt
from numba import njit, prange

import ecorche.base.threads  # noqa: F401  settings that must precede the first parallel kernel
from ecorche.base.compiled_once import NO
from ecorche.errors import EcorcheError
from ecorche.muscles.lines.bundle_forces import bundle_terms
from ecorche.muscles.lines.elastic import ElasticLines, ElasticPlan
from ecorche.muscles.lines.equilibrium import FARTHEST
from ecorche.muscles.lines.field_places import FieldBinding, place_ellipsoid
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

KINETIC, TOTAL = 0, 1
_STILL = 1e-12  # kinetic energy [J] of a line that stands still
_GOOD = 4  # steps after which twice the step is tried
_SHORTEST, _LONGEST = 1e-7, 0.5  # steps [s]


def relax(
    lines: ElasticLines,
    moved: Floats,
    state: ElasticState,
    *,
    steer: Literal["kinetic", "total"] = "kinetic",
    tolerance: float = 1e-6,
    most_steps: int = 20_000,
) -> tuple[Floats, ElasticState, ElasticReport]:
    """Let all lines swing to rest in one pose or in one after another.

    Args:
        lines: The lines.
        moved: ``M − I`` of each joint since bind, (J, 4, 4) or, of F frames, (F, J, 4, 4).
        state: Where to begin, velocities and paces included.
        steer: What the step is chosen by.
        tolerance: A line is at rest when force over its softest stiffness and, over its slowest swing,
            speed are below this [m].
        most_steps: After so many steps of a frame a line is left where it is.

    Returns:
        As `equilibrium`. A line that was left in motion goes on from there in the next call; from frame to
        frame of a batch each begins at rest.
    """
    if steer not in ("kinetic", "total"):
        raise EcorcheError(f"nothing is steered by '{steer}'", remedy="Choose kinetic or total")
    poses = checked_poses(lines, moved, state)
    frames, bundles = len(poses), len(lines.plan.rows) - 1
    rounds = np.zeros((frames, bundles), np.int32)
    remaining = np.zeros((frames, bundles))
    nodes = np.empty((frames, len(lines.points), 3))
    points, velocities, pace = state.points.copy(), state.velocities.copy(), state.pace.copy()
    before, law = state.moved, TOTAL if steer == "total" else KINETIC
    placed = np.empty((len(lines.binding.joints), PLACED))
    for f in range(frames):
        if f > 0:
            velocities[:] = 0.0
        _swing(
            lines.plan, lines.fields, lines.binding, poses[f], before, law, tolerance, most_steps,
            points, velocities, pace, placed, rounds[f], remaining[f],
        )  # fmt: skip
        nodes[f] = points[lines.points]
        before = poses[f]
    far = remaining[:, lines.bundles]
    report = ElasticReport(lines.names, far <= tolerance, rounds[:, lines.bundles], far)
    after = ElasticState(points, velocities, before.copy(), pace)
    return nodes if np.ndim(moved) == 4 else nodes[0], after, report


@njit(parallel=True, cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _swing(
    plan: ElasticPlan,
    fields: FieldLaws,
    binding: FieldBinding,
    pose: Floats,
    before: Floats,
    steer: int,
    tolerance: float,
    most_steps: int,
    points: Floats,
    velocities: Floats,
    pace: Floats,
    placed: Floats,
    rounds: Ints,
    remaining: Floats,
) -> None:
    """One frame, in place."""
    step = np.empty((len(pose), 3, 4))
    step_between(before, pose, step)
    pose_attachments(plan, pose, points)
    place_on_joints(plan, binding, pose, points, placed)
    for level in range(len(plan.levels) - 1):
        for at in range(plan.level_borders[level], plan.level_borders[level + 1]):
            place_ellipsoid(binding, np.int64(plan.on_lines[at]), pose, points, placed)
        for at in prange(plan.levels[level + 1] - plan.levels[level]):
            bundle = np.int64(plan.level_bundles[plan.levels[level] + np.int64(at)])
            first, last = plan.rows[bundle], plan.rows[bundle + 1]
            x = carried_bundle(plan, bundle, step, points)
            rounds[bundle], remaining[bundle], pace[bundle] = _runge_kutta(
                plan,
                fields,
                placed,
                bundle,
                steer,
                tolerance,
                most_steps,
                x,
                velocities[first:last],
                pace[bundle],
            )
            points[first:last] = x[: last - first]


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def accelerations(
    plan: ElasticPlan,
    fields: FieldLaws,
    placed: Floats,
    bundle: int,
    x: Floats,
    v: Floats,
    nothing: Floats,
    out: Floats,
) -> float:
    """Accelerations [m/s²] of unit masses at x (points, 3) with velocities v (n, 3); gives the energy [J]."""
    energy: float = bundle_terms(plan, fields, placed, bundle, x, out, nothing, nothing, NO, NO)
    count = len(v)
    for s in range(plan.springs[bundle], plan.springs[bundle + 1]):
        a, b, c = plan.ends[s, 0], plan.ends[s, 1], plan.stretch[s, 2]
        dx, dy, dz = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[b, 2] - x[a, 2]
        square = max(dx * dx + dy * dy + dz * dz, 1e-18)
        rate = 0.0
        if a < count:
            rate -= v[a, 0] * dx + v[a, 1] * dy + v[a, 2] * dz
        if b < count:
            rate += v[b, 0] * dx + v[b, 1] * dy + v[b, 2] * dz
        pull = c * rate / square
        if a < count:
            out[a, 0] += pull * dx
            out[a, 1] += pull * dy
            out[a, 2] += pull * dz
        if b < count:
            out[b, 0] -= pull * dx
            out[b, 1] -= pull * dy
            out[b, 2] -= pull * dz
    drag = plan.drag[bundle]
    for n in range(count):
        for i in range(3):
            out[n, i] -= drag * v[n, i]
    return energy


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _runge_kutta(
    plan: ElasticPlan,
    fields: FieldLaws,
    placed: Floats,
    bundle: int,
    steer: int,
    tolerance: float,
    most_steps: int,
    x: Floats,
    v: Floats,
    pace: float,
) -> tuple[int, float, float]:
    """Let one bundle swing to rest, in place: steps taken, what distance [m] remains, the pace [s] it has."""
    count = len(v)
    y, w, nothing = x.copy(), np.empty((count, 3)), np.empty((0, 3, 3))
    slopes, speeds, final = np.empty((4, count, 3)), np.empty((4, count, 3)), np.empty((count, 3))
    softest, drag = plan.softest[bundle], plan.drag[bundle]
    slowest = np.sqrt(softest)
    energy = accelerations(plan, fields, placed, bundle, x, v, nothing, slopes[0])
    moving = 0.0
    for n in range(count):
        moving += 0.5 * (v[n, 0] ** 2 + v[n, 1] ** 2 + v[n, 2] ** 2)
    total = energy + moving
    ceiling, good, needed, doubled, left = total, 0, _GOOD, False, np.inf
    for turn in range(most_steps):
        left = 0.0
        for n in range(count):
            f = np.sqrt(
                (slopes[0, n, 0] + drag * v[n, 0]) ** 2
                + (slopes[0, n, 1] + drag * v[n, 1]) ** 2
                + (slopes[0, n, 2] + drag * v[n, 2]) ** 2
            )
            speed = np.sqrt(v[n, 0] ** 2 + v[n, 1] ** 2 + v[n, 2] ** 2)
            left = max(left, f / softest, speed / slowest)
        if left <= tolerance:
            v[:] = 0.0
            return turn, left, pace
        for stage in range(4):
            for n in range(count):
                for i in range(3):
                    if stage == 0:
                        speeds[0, n, i] = v[n, i]
                    else:
                        part = pace if stage == 3 else 0.5 * pace
                        y[n, i] = x[n, i] + part * speeds[stage - 1, n, i]
                        speeds[stage, n, i] = v[n, i] + part * slopes[stage - 1, n, i]
            if stage > 0:
                accelerations(plan, fields, placed, bundle, y, speeds[stage], nothing, slopes[stage])
        leap, before, after, moving = 0.0, 0.0, 0.0, 0.0
        for n in range(count):
            here, there, far = 0.0, 0.0, 0.0
            for i in range(3):
                ahead = speeds[0, n, i] + 2.0 * (speeds[1, n, i] + speeds[2, n, i]) + speeds[3, n, i]
                faster = slopes[0, n, i] + 2.0 * (slopes[1, n, i] + slopes[2, n, i]) + slopes[3, n, i]
                y[n, i] = x[n, i] + pace / 6.0 * ahead
                w[n, i] = v[n, i] + pace / 6.0 * faster
                here += 0.5 * v[n, i] ** 2
                there += 0.5 * w[n, i] ** 2
                far += (y[n, i] - x[n, i]) ** 2
            leap, before, after, moving = max(leap, far), max(before, here), max(after, there), moving + there
        energy = accelerations(plan, fields, placed, bundle, y, w, nothing, final)
        highest = total if steer == TOTAL else ceiling
        fine = energy + moving <= highest * (1.0 + 1e-12) and leap <= FARTHEST * FARTHEST
        if steer == KINETIC and before > _STILL and after > 2.0 * before:
            fine = False
        if not fine:
            if pace <= _SHORTEST:
                return turn, left, pace
            pace *= 0.5
            if doubled:
                needed += 1
            good, doubled = 0, False
            continue
        x[:count] = y[:count]
        v[:] = w
        slopes[0] = final
        total = energy + moving
        good, doubled = good + 1, False
        if good >= needed:
            good = 0
            if 2.0 * pace <= _LONGEST:
                pace *= 2.0
                doubled = True
    return most_steps, left, pace
