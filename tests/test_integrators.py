"""Integrators that elastic lines are compared with: of the order they claim, and stable where theory says."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.embedded_relaxation import relax_embedded
from benchmarks.integrators import (
    CASH_KARP,
    EMBEDDED,
    EULER,
    MIDPOINT,
    RUNGE_KUTTA_4,
    Implicit,
    Tableau,
    explicit_step,
    implicit_step,
)
from benchmarks.line_stability import DAMPING, DRAG, explodes, growth, line_of, linear_limit

from ecorche.muscles.lines.elastic_compile import elastic_lines
from ecorche.muscles.lines.equilibrium import equilibrium, rest_at_bind
from ecorche.muscles.lines.fields import PLACED
from elastic_scene import limbs

STIFFNESS, PULLED, SPAN = 300.0, 0.03, 0.1
EMBEDDED_4 = Tableau(CASH_KARP.stages, EMBEDDED)


def oscillator() -> tuple[float, float]:
    """Place [m] and speed [m/s] of a node between two springs, pulled along them, after `SPAN` seconds."""
    rate = 0.5 * (DRAG + 2.0 * DAMPING)
    swing = np.sqrt(2.0 * STIFFNESS - rate * rate)
    fading, turn = PULLED * np.exp(-rate * SPAN), swing * SPAN
    place = fading * (np.cos(turn) + rate / swing * np.sin(turn))
    return float(place), float(-fading * (swing + rate * rate / swing) * np.sin(turn))


def error(method: Tableau | Implicit, steps: int) -> float:
    """Of place [m] and speed [100 m/s] after so many steps, against the oscillator in closed form."""
    lines, x, v = line_of(3, STIFFNESS)
    x[0, 0] += PULLED
    for _ in range(steps):
        if isinstance(method, Tableau):
            explicit_step(
                lines.plan, lines.fields, np.empty((0, PLACED)), 0, method.stages, method.step,
                SPAN / steps, x, v,
            )  # fmt: skip
        else:
            implicit_step(lines.plan, lines.fields, np.empty((0, PLACED)), 0, int(method), SPAN / steps, x, v)
    place, speed = oscillator()
    assert np.abs(x[0, 1:]).max() == np.abs(v[0, 1:]).max() == 0.0
    return float(np.hypot(x[0, 0] - 0.15 - place, 0.01 * (v[0, 0] - speed)))


@pytest.mark.parametrize(
    ("method", "order"),
    [
        (EULER, 1),
        (Implicit.RIGHT, 1),
        (MIDPOINT, 2),
        (RUNGE_KUTTA_4, 4),
        (EMBEDDED_4, 4),
        (CASH_KARP, 5),
    ],
)
def test_each_method_nears_the_oscillator_with_its_order(method: Tableau | Implicit, order: int) -> None:
    many = 2000 if order == 1 else 40
    assert error(method, many) < 1e-3
    assert np.log2(error(method, many) / error(method, 2 * many)) == pytest.approx(order, abs=0.35)


def test_the_printed_system_does_not_near_the_oscillator_at_all() -> None:
    """It brakes by a drag of one that is not there, however short the step."""
    assert error(Implicit.AS_PRINTED, 4000) > 30.0 * error(Implicit.RIGHT, 4000)


def test_methods_bear_an_undamped_swing_as_textbooks_say() -> None:
    """Runge–Kutta 4 up to 2 √2, Euler and midpoint never."""
    below, above = 1j * np.array([0.01, 1.0, 2.82]), 1j * np.array([2.84])
    assert growth(RUNGE_KUTTA_4, below).max() < 1.0 < growth(RUNGE_KUTTA_4, above).min()
    for method in (EULER, MIDPOINT):
        assert growth(method, below).min() > 1.0
    assert growth(EULER, np.array([-1.99 + 0j])).max() < 1.0 < growth(EULER, np.array([-2.01 + 0j])).min()


@pytest.mark.parametrize("method", [EULER, MIDPOINT, RUNGE_KUTTA_4, CASH_KARP])
def test_lines_explode_where_linear_theory_says(method: Tableau) -> None:
    dt = 1.0 / 24.0
    limit = linear_limit(method, dt)
    assert not explodes(method, 0.95 * limit, dt)
    assert explodes(method, 1.25 * limit, dt)


def test_backward_euler_has_no_limit_and_gets_one_if_nodes_move_by_the_old_speed() -> None:
    """Which then lies between midpoint and Runge–Kutta 4, where the thesis had found backward Euler."""
    for dt in (1.0 / 24.0, 1.0 / 100.0):
        low, high = linear_limit(MIDPOINT, dt), linear_limit(RUNGE_KUTTA_4, dt)
        for stiffness in (low, high, 1e9):
            assert not explodes(Implicit.RIGHT, stiffness, dt)
        assert not explodes(Implicit.OLD_SPEED, low, dt)
        assert explodes(Implicit.OLD_SPEED, high, dt)


def test_the_embedded_method_rests_where_the_direct_solve_does() -> None:
    scene = limbs(3, 1)
    lines = elastic_lines(scene.lines, scene.fields, scene.joint_count)
    nodes, state, _ = rest_at_bind(lines)
    pushed = state.points.copy()
    pushed[: len(state.velocities)] += 1e-3
    begun = type(state)(pushed, state.velocities, state.moved, state.pace)
    swung, _, report = relax_embedded(lines, state.moved, begun, tolerance=5e-6)
    direct, _, _ = equilibrium(lines, state.moved, begun)
    assert report.settled.all()
    assert np.abs(swung - direct).max() < 1e-4
    assert np.abs(swung - nodes).max() < 1e-4
    *_, report = relax_embedded(lines, state.moved, begun, tolerance=5e-6, error=5e-5, most_steps=2000)
    assert not report.settled.any()  # it trembles within the error it may make
