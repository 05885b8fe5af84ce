"""Point masses and springs: forces, order of the steps, what is conserved, how long a step may be."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest
from numba import get_num_threads, set_num_threads
from scipy.integrate import solve_ivp
from scipy.spatial import cKDTree

from ecorche.dynamics.implicit_springs import ImplicitSprings
from ecorche.dynamics.spring_layout import SpringLayout
from ecorche.dynamics.spring_steps import SpringSteps, Way, still
from ecorche.dynamics.springs import SAFE, Springs, damping_of, spring_forces
from ecorche.dynamics.trajectory import polynomial_between
from ecorche.errors import EcorcheError

Floats = npt.NDArray[np.float64]


def lattice(
    count: int = 60, *, ratio: float = 0.05, own: float = 5.0, held: int = 0, seed: int = 0
) -> tuple[Springs, Floats]:
    """Points strewn in a cube of a metre, with springs between those that are near; the first may be held."""
    random = np.random.default_rng(seed)
    places = random.random((count, 3))
    pairs = cKDTree(places).query_pairs(0.35, output_type="ndarray").astype(np.int64)
    masses = random.uniform(0.5, 2.0, count)
    masses[:held] = np.inf
    stiffness = random.uniform(50.0, 200.0, len(pairs))
    damping = damping_of(ratio, stiffness, (1.0 / masses)[pairs].sum(axis=1))
    loose = np.full(count, own)
    return Springs(masses, pairs, stiffness, damping, loose, 0.05 * loose * (ratio > 0.0)), places


def struck(springs: Springs, places: Floats, **said: object) -> SpringSteps:
    """The springs with every point that can at a speed of some cm/s."""
    steps = SpringSteps(springs, places, most=1e9, **said)  # type: ignore[arg-type]
    free = np.isfinite(springs.masses)[:, None]
    steps.velocities = 0.05 * np.random.default_rng(1).normal(size=places.shape) * free
    force = spring_forces(springs, places, steps.offsets, steps.velocities)
    steps.accelerations = force * springs.inverse_masses[:, None]
    return steps


def swaying(places: Floats, seconds: float) -> Floats:
    """Coefficients of places that turn and shrink on their way."""
    end = places @ np.array([[0.9, 0.2, 0.0], [-0.2, 0.9, 0.0], [0.0, 0.0, 1.0]]) + [0.3, 0.0, 0.1]
    speeds = np.stack([0.2 * np.roll(places, 1, axis=1), 0.1 * places]) / seconds
    return polynomial_between(seconds, places, end, speeds, np.stack([0.5 * places, -places]) / seconds**2)


def test_forces_are_the_gradient_of_energy_and_of_the_printed_form() -> None:
    springs, places = lattice()
    random = np.random.default_rng(2)
    u, v = 0.05 * random.normal(size=(2, *places.shape))
    undamped = replace(springs, damping=0.0 * springs.damping, own_damping=0.0 * springs.own_damping)
    force = spring_forces(undamped, places, u, v)
    for point, axis in ((0, 0), (17, 1), (59, 2)):
        nudge = np.zeros_like(u)
        nudge[point, axis] = 1e-6
        up, down = (springs.energy(places, u + sign * nudge, v) for sign in (1.0, -1.0))
        assert force[point, axis] == pytest.approx(-(up - down) / 2e-6, rel=1e-6)
    x, total = places + u, np.zeros_like(u)
    for (i, j), k, c in zip(springs.pairs, springs.stiffness, springs.damping, strict=True):
        length, rest = np.linalg.norm(x[j] - x[i]), np.linalg.norm(places[j] - places[i])
        unit = (x[j] - x[i]) / length
        pull = k * (length - rest) * unit + c * ((v[j] - v[i]) @ unit) * unit
        total[i] += pull
        total[j] -= pull
    total -= springs.own_stiffness[:, None] * u + springs.own_damping[:, None] * v
    np.testing.assert_allclose(spring_forces(springs, places, u, v), total, atol=1e-12)


@pytest.mark.parametrize("ratio", [0.0, 0.05, 0.2])
def test_steps_are_of_second_order(ratio: float) -> None:
    """Halving a step makes the error a quarter, also with damping and on a moving way, against SciPy."""
    springs, places = lattice(20, ratio=ratio, held=3)
    way = Way(1.0, swaying(places, 1.0))
    start = struck(springs, places, precision="double")
    free = np.isfinite(springs.masses)[:, None]

    def slope(t: float, state: Floats) -> Floats:
        u, v = state.reshape(2, -1, 3)
        powers = t ** np.arange(6)
        second = np.array([0.0, 0.0, 2.0, 6.0 * t, 12.0 * t * t, 20.0 * t**3])
        y, bent = (np.einsum("k,knx->nx", w, way.places) for w in (powers, second))
        a = spring_forces(springs, y, u, v) * springs.inverse_masses[:, None] - free * bent
        return np.concatenate([v.ravel(), a.ravel()])

    begin = np.concatenate([start.offsets.ravel(), start.velocities.ravel()])
    exact = solve_ivp(slope, (0.0, 1.0), begin, rtol=1e-10, atol=1e-12).y[:, -1]
    first = slope(0.0, begin)[len(begin) // 2 :].reshape(-1, 3)
    errors = []
    for step in (0.01, 0.005, 0.0025):
        steps = struck(springs, places, precision="double", step=step)
        steps.accelerations = first
        steps.advance(way)
        found = np.concatenate([steps.offsets.ravel(), steps.velocities.ravel()])
        errors.append(float(np.abs(found - exact).max()))
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert (orders > 1.85).all(), (errors, orders)


def test_half_step_velocities_would_be_of_first_order() -> None:
    """What the text prints: the damping of w. Here by hand, so that the claim about it can fail."""
    omega, ratio, orders, errors = 10.0, 0.2, [], []
    turning = omega * np.sqrt(1.0 - ratio**2)
    exact = np.exp(-ratio * omega) * (np.cos(turning) + ratio * omega / turning * np.sin(turning))
    for count in (200, 400, 800):
        h, x, v = 1.0 / count, 1.0, 0.0
        a = -(omega**2) * x
        for _ in range(count):
            w = v + 0.5 * h * a
            x += h * w
            a = -(omega**2) * x - 2.0 * ratio * omega * w
            v = w + 0.5 * h * a
        errors.append(abs(x - exact))
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert (np.abs(orders - 1.0) < 0.2).all()


def test_energy_never_grows_without_work() -> None:
    springs, places = lattice(own=0.0)
    for ratio, most in ((0.0, 1.02), (0.01, 1.0), (0.2, 1.0)):
        damped = replace(
            springs,
            damping=damping_of(ratio, springs.stiffness, springs.inverse_masses[springs.pairs].sum(axis=1)),
        )
        steps = struck(damped, places, precision="double")
        steps.step *= 0.25 if ratio == 0.0 else 1.0
        held = [springs.energy(places, steps.offsets, steps.velocities)]
        for _ in range(400):
            steps.advance(still(places, 4.0 * steps.step))
            held.append(springs.energy(places, steps.offsets, steps.velocities))
        assert max(held) <= most * held[0], ratio
        if ratio == 0.0:  # and is kept: Verlet's swings about its value without drift
            assert min(held[-50:]) > 0.98 * held[0]
        else:  # what is left is the body as a whole, which nothing brakes
            whole = 0.5 * np.linalg.norm(springs.masses @ steps.velocities) ** 2 / springs.masses.sum()
            assert held[-1] < held[0]
            assert whole <= held[-1]


@pytest.mark.parametrize("precision", ["single", "double"])
def test_momentum_is_conserved(precision: str) -> None:
    springs, places = lattice(own=0.0)
    steps = struck(springs, places, precision=precision)
    before = springs.masses @ steps.velocities
    spin = np.sum(springs.masses[:, None] * np.cross(places, steps.velocities), axis=0)
    steps.advance(still(places, 2.0))
    # both ends see the same force to the bit; what is left is the rounding of sums
    error = 1e-14 if precision == "double" else 3e-6
    np.testing.assert_allclose(springs.masses @ steps.velocities, before, atol=error * len(places))
    after = np.cross(places + steps.offsets, steps.velocities)
    turned = np.sum(springs.masses[:, None] * after, axis=0)
    np.testing.assert_allclose(turned, spin, atol=2e-3 * np.abs(spin).max() + 1e-3)


def test_single_precision_is_as_double_and_any_number_of_threads_the_same() -> None:
    springs, places = lattice(300, held=20)
    random = np.random.default_rng(3)
    way = Way(
        0.5,
        swaying(places, 0.5),
        stiffening=random.uniform(1.0, 4.0, (2, 300)),
        push=random.normal(size=(300, 3)),
        felt=(0.2, 0.9),
        drag=0.7,
        spheres=np.stack([places[:2] * (k == 0) for k in range(6)]),
        radii=np.array([0.2, 0.15]),
    )
    found = {}
    for precision in ("single", "double"):
        steps = struck(springs, places, precision=precision, contact=np.full(300, 50.0), rounds=2)
        steps.advance(way)
        found[precision] = steps
    scale = np.abs(found["double"].offsets).max()
    assert scale > 0.01
    np.testing.assert_allclose(found["single"].offsets, found["double"].offsets, atol=2e-5 * scale)
    assert (found["single"].offsets[:20] == 0.0).all()
    threads = get_num_threads()
    try:
        set_num_threads(1)
        alone = struck(springs, places, contact=np.full(300, 50.0), rounds=2)
        alone.advance(way)
    finally:
        set_num_threads(threads)
    assert alone.offsets.tobytes() == found["single"].offsets.tobytes()
    assert alone.velocities.tobytes() == found["single"].velocities.tobytes()


@pytest.mark.parametrize("precision", ["single", "double"])
def test_what_is_at_rest_stays_so_to_the_bit(precision: str) -> None:
    springs, places = lattice(held=5)
    steps = SpringSteps(springs, places + 7.3, precision=precision)
    steps.advance(still(places + 7.3, 0.5))
    assert not steps.offsets.any()
    assert not steps.velocities.any()
    # so does what travels steadily
    gliding = np.zeros((6, *places.shape))
    gliding[0], gliding[1] = places, [1.0, -2.0, 0.5]
    steps.advance(Way(0.5, gliding))
    assert not steps.offsets.any()


def test_the_step_is_stable_and_not_much_shorter_than_it_must_be() -> None:
    springs, places = lattice(ratio=0.03)
    bound, known = springs.fastest(places), springs.power_iteration(places, 400)
    mass = np.repeat(springs.masses, 3)
    matrix = np.zeros((3 * springs.point_count,) * 2)
    for (i, j), k, unit in zip(springs.pairs, springs.stiffness, springs.directions(places)[0], strict=True):
        block = k * np.outer(unit, unit)
        for a, b, sign in ((i, i, 1), (j, j, 1), (i, j, -1), (j, i, -1)):
            matrix[3 * a : 3 * a + 3, 3 * b : 3 * b + 3] += sign * block
    matrix += np.diag(np.repeat(springs.own_stiffness, 3))
    exact = float(np.linalg.eigvalsh(matrix / np.sqrt(np.outer(mass, mass)))[-1])
    assert known == pytest.approx(exact, rel=0.01)
    assert exact <= bound <= 2.0 * exact
    usual = struck(springs, places)
    began = springs.energy(places, usual.offsets, usual.velocities)
    usual.advance(still(places, 2000 * usual.step))
    assert springs.energy(places, usual.offsets, usual.velocities) < 0.01 * began
    too_long = struck(springs, places, step=2.2 / np.sqrt(exact))
    with pytest.raises(EcorcheError, match=r"fly apart .*Take shorter steps or more damping"):
        too_long.advance(still(places, 4000 * too_long.step))


def test_the_limit_of_the_step_is_that_of_one_oscillation() -> None:
    """h² ω² + 4 h γ ≤ 4, on both its sides."""
    for ratio in (0.0, 0.05, 0.3):
        springs = Springs(
            np.ones(1), np.zeros((0, 2), np.int64), np.zeros(0), np.zeros(0), np.full(1, 100.0),
            np.full(1, 20.0 * ratio),
        )  # fmt: skip
        longest = 2.0 / (20.0 * ratio + np.sqrt((20.0 * ratio) ** 2 + 100.0))
        for share, grows in ((0.97, False), (1.03, True)):
            steps = SpringSteps(springs, np.zeros((1, 3)), step=share * longest, precision="double")
            steps.velocities[:] = 1e-6
            steps.accelerations = -20.0 * ratio * steps.velocities
            steps.advance(still(np.zeros((1, 3)), 400 * steps.step))
            energy = springs.energy(np.zeros((1, 3)), steps.offsets, steps.velocities)
            assert (energy > 1e-10) == grows, (ratio, share)


def test_slowed_springs_take_the_step_and_give_way_as_before() -> None:
    """Heavier where they must be and nowhere else; a push is answered as before, and nothing flies apart."""
    springs, places = lattice(held=5)
    stiff = replace(springs, stiffness=np.where(np.arange(len(springs.pairs)) % 9 == 0, 1e4, 100.0))
    step = 2.0 * stiff.stable_step(places)
    slow = stiff.slowed(places, step)
    assert slow.stable_step(places) >= step * (1.0 - 1e-12)
    enough = stiff.longest_steps(places, evenly=True) * SAFE >= step
    assert 0.1 < enough.mean() < 0.9
    np.testing.assert_array_equal(slow.masses[enough], stiff.masses[enough])
    assert (slow.masses[~enough] > stiff.masses[~enough]).all()
    np.testing.assert_array_equal(slow.stiffness, stiff.stiffness)
    steps = struck(slow, places, step=step)
    began = slow.energy(places, steps.offsets, steps.velocities)
    for _ in range(100):
        steps.advance(still(places, 20 * step))
        assert slow.energy(places, steps.offsets, steps.velocities) < began


@pytest.mark.parametrize(("share", "order"), [(0.5, 2.0), (1.0, 1.0)])
def test_implicit_steps_have_their_order_and_are_stable_when_long(share: float, order: float) -> None:
    springs, places = lattice(20, held=2)
    way = Way(0.5, swaying(places, 0.5))
    fine = struck(springs, places, precision="double", step=2e-4, rounds=2)
    fine.accelerations -= np.isfinite(springs.masses)[:, None] * 2.0 * way.places[2]
    fine.advance(way)
    errors = []
    for step in (0.01, 0.005, 0.0025):
        steps = ImplicitSprings(springs, step=step, share=share, tolerance=1e-10, most=1e9)
        steps.velocities = struck(springs, places).velocities
        steps.advance(way)
        errors.append(float(np.abs(steps.offsets - fine.offsets).max()))
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert (np.abs(orders - order) < 0.25).all(), (errors, orders)
    long = ImplicitSprings(springs, step=0.5, share=share)
    long.velocities = struck(springs, places).velocities
    began = springs.energy(places, long.offsets, long.velocities)
    for _ in range(40):
        long.advance(still(places, 0.5))
        assert springs.energy(places, long.offsets, long.velocities) < 1.2 * began


def test_a_push_is_answered_by_k_times_the_way() -> None:
    springs = Springs(
        np.array([1.0, np.inf]),
        np.array([[0, 1]]),
        np.array([50.0]),
        np.array([4.0]),
        np.zeros(2),
        np.zeros(2),
    )
    places = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 0.3]])
    steps = SpringSteps(springs, places, precision="double")
    steps.advance(still(places, 20.0, push=np.array([[0.0, 0.0, -2.0], [0.0, 0.0, 0.0]])))
    np.testing.assert_allclose(steps.offsets, [[0.0, 0.0, -0.04], [0.0, 0.0, 0.0]], atol=1e-9)


def test_the_layout_holds_every_spring_at_both_ends() -> None:
    springs, places = lattice(100, held=7)
    layout = SpringLayout(springs, places)
    np.testing.assert_array_equal(np.sort(layout.order), np.arange(100))
    found = np.zeros(100)
    for group in range(layout.groups):
        for row in range(layout.starts[group], layout.starts[group + 1]):
            for lane in range(16):
                number = 16 * group + lane
                if layout.stiffness[row, lane] > 0.0:
                    found[layout.order[number]] += layout.stiffness[row, lane]
                else:
                    assert layout.others[row, lane] == number
    wanted = np.bincount(springs.pairs.ravel(), np.repeat(springs.stiffness, 2), 100)
    wanted[:7] = 0.0
    np.testing.assert_allclose(found, wanted, rtol=1e-6)
    values = np.random.default_rng(0).normal(size=(3, 100)).astype(np.float32)
    np.testing.assert_array_equal(layout.tables(layout.lanes(values))[0], values.T)
    both = np.stack([values.T, 2.0 * values.T]).astype(np.float64)
    np.testing.assert_array_equal(layout.tables(layout.rows(both)), both)


def test_what_cannot_be_is_refused() -> None:
    springs, places = lattice()
    for said, message in (
        ({"masses": -springs.masses}, "point 0 cannot have a mass of"),
        ({"stiffness": springs.stiffness * np.nan}, "spring 0 cannot have a stiffness of nan"),
        ({"own_damping": -springs.own_damping}, "point 0 cannot have a damping of its own of"),
        ({"damping": springs.damping[1:]}, r"damping .* is not for 60 points"),
        ({"pairs": springs.pairs + 60}, "there are 60. Name points from 0 on"),
        ({"pairs": springs.pairs * 0}, "spring 0 begins and ends at point 0"),
    ):
        with pytest.raises(EcorcheError, match=message):
            replace(springs, **said)
    with pytest.raises(EcorcheError, match="there is no precision 'half'"):
        SpringSteps(springs, places, precision="half")
    with pytest.raises(EcorcheError, match="a step of 0 s leads nowhere"):
        SpringSteps(springs, places, step=0.0)
    with pytest.raises(EcorcheError, match=r"a step of -1 s leads nowhere"):
        springs.slowed(places, -1.0)
    with pytest.raises(EcorcheError, match=r"a share of 0.3 is not stable"):
        ImplicitSprings(springs, step=0.01, share=0.3)
