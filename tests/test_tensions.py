"""Torques shared over muscles: optimal as an interior-point solver has it, and what cannot be is named."""

from __future__ import annotations

from typing import Any

import clarabel
import numpy as np
import numpy.typing as npt
import pytest
from scipy import optimize, sparse

from ecorche.biomech.muscle_state import MuscleState
from ecorche.biomech.tensions import RESERVE, Tensions, Wanted, muscle_tensions
from ecorche.errors import EcorcheError

Floats = npt.NDArray[np.float64]


class Body:
    """Muscles at random over joints, and torques that they can make, or a few times as much."""

    def __init__(
        self, muscles: int, joints: int, frames: int = 1, *, load: float = 1.0, seed: int = 1
    ) -> None:
        rng = np.random.default_rng(seed)
        self.arms = rng.normal(scale=0.05, size=(muscles, joints))
        for m in range(muscles):
            away = np.arange(joints) != m % joints
            self.arms[m, away & (rng.random(joints) < 0.7)] = 0.0
        self.strongest = rng.uniform(100.0, 1500.0, muscles)
        effort = np.clip(rng.normal(0.1, 0.3, (2, muscles)), 0.0, 0.9)
        phase = 0.5 - 0.5 * np.cos(np.linspace(0.0, np.pi, frames))[:, None]
        efforts = (1.0 - phase) * effort[0] + phase * effort[1]
        self.torques = load * (efforts * self.strongest) @ self.arms
        self.muscles = [f"m{k}" for k in range(muscles)]
        self.joints = [f"j{k}" for k in range(joints)]

    def solved(self, **choices: Any) -> Tensions:
        given = {"torques": self.torques, "moment_arms": self.arms, **choices}
        return muscle_tensions(
            given.pop("moment_arms"),
            given.pop("torques"),
            self.strongest,
            muscles=self.muscles,
            coordinates=self.joints,
            **given,
        )


def interior_point(A: Floats, b: Floats, q: Floats, linear: Floats, low: Floats, reserve: float) -> Floats:
    """Efforts of Σ q x² + linear x + Σ (r / reserve)² by clarabel."""
    n, m = A.shape
    P = sparse.diags(np.r_[2.0 * q, np.full(m, 2.0 / reserve**2)]).tocsc()
    one, none = sparse.eye(n), sparse.csc_matrix((n, m))
    rows: Any = [[sparse.csc_matrix(A.T), sparse.eye(m)], [-one, none], [one, none]]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
    cones = [clarabel.ZeroConeT(m), clarabel.NonnegativeConeT(2 * n)]
    solver = clarabel.DefaultSolver(
        P,
        np.r_[linear, np.zeros(m)],
        sparse.csc_matrix(sparse.bmat(rows)),
        np.r_[b, -low, np.ones(n)],
        cones,
        settings,
    )
    return np.array(solver.solve().x)[:n]


@pytest.mark.parametrize(("muscles", "joints"), [(6, 2), (40, 10), (120, 20)])
@pytest.mark.parametrize("load", [1.0, 3.0])
def test_the_least_activation_is_that_of_an_interior_point_solver(
    muscles: int, joints: int, load: float
) -> None:
    """With passive forces, bounds, and measured activation for some; to a millionth of F_max."""
    body, rng = Body(muscles, joints, load=load), np.random.default_rng(5)
    gain, passive = body.strongest * rng.uniform(0.3, 1.2, muscles), 0.02 * body.strongest
    nothing = np.zeros(muscles)
    state = MuscleState(gain, passive, nothing, nothing, nothing, nothing, np.zeros(muscles, np.bool_))
    measured = np.where(rng.random(muscles) < 0.3, rng.random(muscles), np.nan)
    found = body.solved(state=state, least=0.01, wanted=Wanted(measured[None], 2.0))
    w = np.where(np.isnan(measured), 0.0, 2.0)
    peer = interior_point(
        body.arms * gain[:, None],
        body.torques[0] - passive @ body.arms,
        1.0 + w,
        -2.0 * w * np.nan_to_num(measured),
        np.full(muscles, 0.01),
        RESERVE,
    )
    # where torques are beyond the muscles the peer itself gets no closer than a few millionths
    assert np.abs(found.activation[0] - peer).max() < (1e-6 if load == 1.0 else 1e-5)
    assert found.force[0] == pytest.approx(gain * found.activation[0] + passive)


@pytest.mark.parametrize("muscles", [6, 40, 120])
def test_the_least_tension_is_that_of_an_interior_point_solver(muscles: int) -> None:
    """Σ f² with the torques met: reserves take next to nothing where muscles can do it."""
    body = Body(muscles, max(2, muscles // 6))
    found = body.solved(cost="tension", reserve=1e-3)
    price = body.strongest**2 / np.mean(body.strongest**2)
    A = body.arms * body.strongest[:, None]
    peer = interior_point(A, body.torques[0], price, 0.0 * price, 0.0 * price, 1e-3)
    assert np.abs(found.force[0] / body.strongest - peer).max() < 1e-6
    assert np.abs(found.force @ body.arms - body.torques).max() < 1e-6 * np.abs(body.torques).max()
    assert found.short == found.notes == ()


@pytest.mark.parametrize("power", [1.3, 1.5, 3.0, 4.0])
def test_other_powers_are_those_of_a_general_solver(power: float) -> None:
    body = Body(12, 3)
    found = body.solved(power=power)
    A = body.arms * body.strongest[:, None]

    def cost(y: Floats) -> float:
        return float(np.sum(y[:12] ** power) + np.sum(y[12:] ** 2))

    def slope(y: Floats) -> Floats:
        return np.concatenate([power * y[:12] ** (power - 1.0), 2.0 * y[12:]])

    met = np.hstack([A.T, RESERVE * np.eye(3)])
    peer = optimize.minimize(
        cost,
        np.concatenate([np.full(12, 0.3), np.zeros(3)]),
        jac=slope,
        bounds=[(0.0, 1.0)] * 12 + [(-np.inf, np.inf)] * 3,
        constraints=optimize.LinearConstraint(met, body.torques[0], body.torques[0]),
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 2000},
    )
    assert cost(np.concatenate([found.activation[0], found.reserve[0] / RESERVE])) <= cost(peer.x) + 1e-10
    assert np.abs(found.activation[0] - peer.x[:12]).max() < 1e-5  # as near as the general solver gets


def test_the_power_one_is_a_linear_program() -> None:
    body = Body(30, 6)
    found = body.solved(power=1.0, reserve=1e-3).activation[0]
    A = body.arms * body.strongest[:, None]
    peer = optimize.linprog(np.ones(30), A_eq=A.T, b_eq=body.torques[0], bounds=(0.0, 1.0))
    assert peer.status == 0
    assert found.sum() == pytest.approx(peer.fun, rel=1e-6)


@pytest.mark.parametrize("power", [1.0, 1.5, 2.0, 3.0])
@pytest.mark.parametrize("load", [1.0, 3.0])
def test_no_muscle_could_do_better(power: float, load: float) -> None:
    """The conditions of an optimum: torques met; marginal costs equal worth inside bounds, and not beyond."""
    body = Body(60, 12, load=load)
    found = body.solved(power=power)
    x, rest = found.activation[0], found.reserve[0]
    A = body.arms * body.strongest[:, None]
    scale = np.abs(A).sum(axis=0)
    assert (np.abs(x @ A + rest - body.torques[0]) <= 1e-8 * scale).all()
    worth = A @ (2.0 * rest / RESERVE**2)
    dear = power * x ** (power - 1.0) + (2e-4 * x if power == 1.0 else 0.0)
    inside = (x > 1e-6) & (x < 1.0)
    size = 1.0 + np.abs(A) @ np.abs(2.0 * rest / RESERVE**2)
    assert (np.abs(dear - worth)[inside] <= 1e-7 * size[inside]).all()
    assert (worth[x == 0.0] <= dear[x == 0.0] + 1e-7 * size[x == 0.0]).all()
    assert (worth[x == 1.0] >= dear[x == 1.0] - 1e-7 * size[x == 1.0]).all()
    assert ((x >= 0.0) & (x <= 1.0)).all()


@pytest.mark.parametrize("cost", ["tension", "activation"])
@pytest.mark.parametrize("load", [1.0, 3.0])
def test_warm_and_cold_starts_end_alike_and_bytes_repeat(cost: str, load: float) -> None:
    body = Body(60, 12, frames=20, load=load)
    together = body.solved(cost=cost)
    alone = [body.solved(cost=cost, torques=body.torques[f : f + 1]).force[0] for f in range(20)]
    assert together.force == pytest.approx(np.array(alone), abs=1e-7 * body.strongest.min())
    assert together.force.tobytes() == body.solved(cost=cost).force.tobytes()
    if load == 1.0:
        assert together.steps[1:].mean() < together.steps[0]


@pytest.mark.parametrize("power", [1.5, 3.0])
def test_warm_and_cold_starts_end_alike_for_other_powers(power: float) -> None:
    body = Body(60, 12, frames=10)
    together = body.solved(power=power).activation
    alone = [body.solved(power=power, torques=body.torques[f : f + 1]).activation[0] for f in range(10)]
    assert together == pytest.approx(np.array(alone), abs=1e-6)


def test_slight_reserves_are_told_together() -> None:
    arms = np.array([[0.05, 0.0, 0.0], [0.0, 0.04, 0.0], [0.0, 0.0, 0.04]])
    found = muscle_tensions(
        arms,
        np.array([[-0.02, -0.01, -8.0]]),
        1000.0,
        muscles=["a", "b", "c"],
        coordinates=["thumb", "finger", "knee"],
    )
    assert found.short == ("thumb", "finger", "knee")
    assert [note.partition(":")[0] for note in found.notes[:1]] == ["knee"]
    assert found.notes[1:] == (
        "reserves make more than 5% of the torque, but less than 0.05 N·m, of thumb, finger",
    )


def test_what_muscles_cannot_make_is_taken_by_reserves_and_named() -> None:
    """A joint without a muscle, one whose muscles pull one way only, one that is overloaded, and the base."""
    arms = np.array([[0.05, 0.0, 0.0, 0.0], [-0.05, 0.0, 0.0, 0.0], [0.0, 0.04, 0.0, 0.0]])
    torques = np.array([[70.0, -8.0, 5.0, 300.0], [10.0, 20.0, 0.0, 200.0]])
    found = muscle_tensions(
        arms,
        torques,
        1000.0,
        muscles=["flexor", "extensor", "one way"],
        coordinates=["elbow", "knee", "jaw", "pelvis_ty"],
        base=["pelvis_ty"],
    )
    assert found.reserve == pytest.approx(np.array([[20, -8, 5, 0], [0, 0, 0, 0]]), abs=2e-3)
    assert found.residual == pytest.approx(np.array([[0, 0, 0, 300], [0, 0, 0, 200]]))
    assert found.short == ("elbow", "knee", "jaw")
    assert found.notes == (
        "elbow: a reserve makes up to 20 N·m, 29% of the largest torque (frame 0): muscles are too weak,"
        " or needed elsewhere",
        "knee: a reserve makes up to 8 N·m, 40% of the largest torque (frame 0): no muscle turns it that way",
        "no muscle crosses jaw (5 N·m): reserves make up to so much there, all of it",
    )
    assert found.activation[0] == pytest.approx([1.0, 0.0, 0.0])


def test_muscles_that_work_against_each_other_show_where_emg_says_so() -> None:
    """Both antagonists rise with their EMG, the torque stays; one that was not measured rests."""
    arms, torques = np.array([[0.04], [-0.04], [-0.03]]), np.array([[4.0]])
    names: dict[str, Any] = {"muscles": ["biceps", "triceps", "anconeus"], "coordinates": ["elbow"]}
    calm = muscle_tensions(arms, torques, 500.0, **names)
    assert calm.activation[0, 1:] == pytest.approx([0.0, 0.0], abs=1e-12)
    before = calm.activation[0]
    for level in (0.2, 0.4, 0.6):
        measured = Wanted(np.array([[level + 0.2, level, np.nan]]), 10.0)
        tense = muscle_tensions(arms, torques, 500.0, wanted=measured, **names)
        assert (tense.activation[0, :2] > before[:2] + 0.1).all()
        assert tense.activation[0, :2] == pytest.approx([level + 0.2, level], abs=0.1)
        assert tense.force @ arms == pytest.approx(torques, abs=0.01)
        before = tense.activation[0]
    weightless = muscle_tensions(arms, torques, 500.0, wanted=Wanted(measured.activation, 0.0), **names)
    assert weightless.activation == pytest.approx(calm.activation, abs=1e-12)


def test_equal_muscles_share_alike_and_force_grows_with_torque() -> None:
    body = np.array([[0.05], [0.05], [0.05], [-0.05]])
    torques = np.array([[30.0], [60.0]])
    names: dict[str, Any] = {"muscles": list("abcd"), "coordinates": ["j"], "reserve": 1e-3}
    for cost in ("tension", "activation"):
        force = muscle_tensions(body, torques, 800.0, cost=cost, **names).force
        assert force == pytest.approx(np.array([[200, 200, 200, 0], [400, 400, 400, 0]]), abs=1e-3)


def test_tension_and_activation_differ_as_they_should() -> None:
    """Two muscles on one joint: shares go with r for Σ f², with r F² for Σ (f / F)²."""
    arms, strongest = np.array([[0.02], [0.04]]), np.array([1000.0, 300.0])
    names: dict[str, Any] = {"muscles": ["a", "b"], "coordinates": ["j"], "reserve": 1e-4}
    tension = muscle_tensions(arms, [[5.0]], strongest, cost="tension", **names).force[0]
    assert tension[0] / tension[1] == pytest.approx(0.5, rel=1e-6)
    activation = muscle_tensions(arms, [[5.0]], strongest, **names).force[0]
    assert activation[0] / activation[1] == pytest.approx(0.5 * (1000 / 300) ** 2, rel=1e-6)


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"cost": "effort"}, "the cost 'effort' is unknown. Choose 'tension' or 'activation'"),
        ({"power": 0.5}, "the power is 0.5. Give 1 or more"),
        ({"cost": "tension", "power": 3.0}, "takes no muscle state, EMG or power"),
        ({"least": -0.1}, "muscle 'm0': the least effort is -0.1. Give 0 to 1"),
        ({"least": 0.5, "most": 0.4}, "muscle 'm0': its least effort is above its most"),
        ({"reserve": 0.0}, "a reserve is not above 0"),
        ({"base": ["k"]}, "base: no coordinate 'k'"),
        ({"torques": [[1.0, np.nan]]}, "coordinate 'j1', frame 0: a torque is not a number"),
        ({"torques": [[1.0]]}, r"torques \(1, 1\) do not fit 6 muscles and 2 coordinates"),
        ({"wanted": Wanted(np.full((1, 6), 1.5))}, "muscle 'm0', frame 0: measured activation is 1.5"),
        ({"wanted": Wanted(np.full((1, 5), 0.5))}, r"has the shape \(1, 5\), not \(1, 6\)"),
        ({"wanted": Wanted(np.full((1, 6), 0.5), -1.0)}, "the weight of EMG is -1. Give 0 or more"),
    ],
)
def test_bad_requests_are_refused(choices: dict[str, Any], message: str) -> None:
    with pytest.raises(EcorcheError, match=message):
        Body(6, 2).solved(**choices)
