"""The sigmoid spindle: closed volumes, exact derivatives, true ellipses, what is held outside its range."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from scipy.integrate import quad

from ecorche.errors import EcorcheError
from ecorche.muscles.sigmoid_spindle import (
    FLAT,
    LARGEST_ECCENTRICITY,
    PARAMETERS,
    SigmoidSpindles,
    even_shares,
    half_square,
    half_square_gradient,
    halves_of,
    polar_ellipse,
    quantities,
    radius_jacobian,
    side_by_side,
    sigmoid,
)

Floats = npt.NDArray[np.float64]


def spindles(count: int, seed: int) -> SigmoidSpindles:
    """Random ones whose quantities are sound from 0.15 to 0.3 m and up to 300 N."""
    rng = np.random.default_rng(seed)
    low = np.tile([1.0, 3.0, 0.01, 0.002], 2)
    high = np.tile([5.0, 12.0, 0.03, 0.008], 2)
    made = np.zeros((count, 9, 3))
    made[:, :8, 2] = rng.uniform(low, high, (count, 8))
    made[:, 8, 2] = rng.uniform(0.3, 0.6, count)
    made[:, :, 0] = rng.uniform(-0.3, 0.3, (count, 9)) * made[:, :, 2]
    made[:, :, 1] = rng.uniform(-1e-3, 1e-3, (count, 9)) * made[:, :, 2]
    return SigmoidSpindles(made, *even_shares(np.ones(count, int)))


def test_there_are_27_numbers() -> None:
    assert PARAMETERS == 27
    assert spindles(1, 0).coefficients.size == 27


def test_a_half_s_square_is_the_integral_of_its_radius_squared() -> None:
    rng = np.random.default_rng(1)
    for k in rng.uniform([-3, -12, -0.02, -0.01], [9, 25, 0.05, 0.02], (60, 4)):
        integral = quad(lambda x, k=k: float(sigmoid(k, np.array(x))) ** 2, 0, 1, epsabs=0, epsrel=1e-13)[0]
        assert float(half_square(k)) == pytest.approx(integral, rel=1e-11, abs=1e-19)


def test_the_square_does_not_lose_digits_where_the_sigmoid_is_flat() -> None:
    for k2 in (0.0, 1e-300, -1e-9, 0.99 * FLAT, -0.99 * FLAT, 1.01 * FLAT):
        k = np.array([0.7, k2, 0.03, 0.004])
        nodes, weights = np.polynomial.legendre.leggauss(12)
        exact = float(np.sum(weights / 2 * sigmoid(k, (nodes + 1) / 2) ** 2))
        assert float(half_square(k)) == pytest.approx(exact, rel=1e-12)


def test_derivatives_of_the_square_are_those_by_a_complex_step() -> None:
    rng = np.random.default_rng(2)
    k = rng.uniform([-3, 0.5, 0.0, 0.0], [9, 25, 0.05, 0.02], (100, 4))
    square, gradient = half_square_gradient(k)
    np.testing.assert_allclose(square, half_square(k), rtol=1e-15)
    for n in range(4):
        step = k.astype(complex)
        step[:, n] += 1e-30j
        np.testing.assert_allclose(gradient[:, n], half_square(step).imag / 1e-30, rtol=1e-9, atol=1e-14)
    k[:, 1] = rng.uniform(-FLAT, FLAT, 100)
    _, gradient = half_square_gradient(k)
    for n in range(4):
        step = k.astype(complex)
        step[:, n] += 1e-30j
        np.testing.assert_allclose(gradient[:, n], half_square(step).imag / 1e-30, rtol=1e-6, atol=1e-12)


def test_the_jacobian_by_all_27_is_that_of_complex_step_and_differences() -> None:
    rng = np.random.default_rng(3)
    made = spindles(1, 4).coefficients[0]
    count = 200
    lengths, tensions = rng.uniform(0.15, 0.3, count), rng.uniform(0.0, 300.0, count)
    along, theta = rng.uniform(0.0, 1.0, count), rng.uniform(-np.pi, np.pi, count)
    radius, jacobian = radius_jacobian(made, lengths, tensions, along, theta)
    half, x = halves_of(along)

    def direct(coefficients: npt.NDArray[np.complexfloating] | Floats) -> npt.NDArray[np.complexfloating]:
        values = quantities(coefficients[None], lengths, tensions)
        k = np.where((half == 0)[:, None], values[:, :4], values[:, 4:8])
        return np.asarray(sigmoid(k, x) * polar_ellipse(values[:, 8], theta), complex)

    np.testing.assert_allclose(radius, direct(made).real, rtol=1e-14)
    for row in range(9):
        for column in range(3):
            step = made.astype(complex)
            step[row, column] += 1e-30j
            exact = direct(step).imag / 1e-30
            np.testing.assert_allclose(jacobian[:, row, column], exact, rtol=1e-9, atol=1e-13)
            near = 1e-6 * max(abs(made[row, column]), 1e-5)
            up, down = made.copy(), made.copy()
            up[row, column] += near
            down[row, column] -= near
            numeric = (direct(up) - direct(down)).real / (2.0 * near)
            scale = np.abs(numeric).max() + 1e-12
            np.testing.assert_allclose(jacobian[:, row, column] / scale, numeric / scale, atol=2e-5)


def test_sections_are_ellipses_in_the_polar_angle() -> None:
    theta = np.linspace(0.0, 2.0 * np.pi, 181)
    for e in (0.0, 0.4, 0.95):
        r = polar_ellipse(e, theta)
        x, y = r * np.cos(theta), r * np.sin(theta)
        np.testing.assert_allclose(x**2 + y**2 / (1.0 - e**2), 1.0, atol=1e-13)
    # the printed form is none, but for a circle: at 45° it lies well outside
    assert np.sqrt(1.0 - 0.95**2 * 0.5) > 1.6 * polar_ellipse(0.95, np.pi / 4)


def test_the_volume_is_that_of_a_mesh_of_the_surface() -> None:
    made = spindles(3, 5)
    lengths, tensions = np.array([0.16, 0.22, 0.3]), np.array([0.0, 100.0, 300.0])
    states = made.states(lengths, tensions)
    assert not states.held.any()
    t = (np.arange(4000) + 0.5) / 4000
    theta = np.linspace(0.0, 2.0 * np.pi, 721)
    for m in range(3):
        r = np.stack([states.radius(t, np.full(len(t), a))[m] for a in theta[:-1]], axis=1)
        area = 0.5 * np.sum(r**2, axis=1) * (theta[1] - theta[0])
        assert states.volumes()[m] == pytest.approx(float(area.mean() * lengths[m]), rel=1e-6)


def test_both_halves_are_read_from_their_own_end() -> None:
    made = spindles(1, 6)
    mirrored = made.coefficients.copy()
    mirrored[:, :4], mirrored[:, 4:8] = made.coefficients[:, 4:8], made.coefficients[:, :4]
    other = SigmoidSpindles(mirrored, made.muscle, made.share)
    t, theta = np.linspace(0.0, 1.0, 40), np.linspace(0.0, 3.0, 40)
    one = made.states([0.2], [50.0]).radius(t, theta)
    np.testing.assert_allclose(
        one[:, t != 0.5], other.states([0.2], [50.0]).radius(1 - t, theta)[:, t != 0.5]
    )


def test_the_seam_is_what_the_halves_differ_by_at_the_belly() -> None:
    states = spindles(5, 7).states(np.full(5, 0.2), np.zeros(5))
    low, high = states.radius([0.5], [0.0])[:, 0], states.radius([0.5 + 1e-12], [0.0])[:, 0]
    np.testing.assert_allclose(states.seam, np.abs(high - low), atol=1e-10)


def test_what_leaves_the_bounds_is_held_and_marked() -> None:
    made = np.zeros((3, 9, 3))
    made[:, :8, 2] = np.tile([2.0, 6.0, 0.02, 0.004], 2)
    made[:, 8] = [0.0, 0.01, 0.3]  # ε grows with tension
    made[2, [3, 7], 1] = -1.5e-4  # and here the ends grow thin with it
    bundle = SigmoidSpindles(made, *even_shares([1, 1, 1]))
    states = bundle.states(np.full((2, 3), 0.2), [[0.0, 0.0, 0.0], [10.0, 90.0, 60.0]])
    assert states.held.tolist() == [[False, False, False], [False, True, True]]
    assert states.eccentricity[1, 1] == LARGEST_ECCENTRICITY
    t = (np.arange(200_000) + 0.5) / 200_000
    radius = states.radius(t, np.zeros(len(t)))
    assert radius.min() == 0.0
    assert np.isfinite(radius).all()
    # the held volume is that of what is left
    area = np.pi * np.sqrt(1.0 - states.eccentricity[1, 2] ** 2) * radius[1, 2] ** 2
    assert states.volumes()[1, 2] == pytest.approx(float(area.mean() * 0.2), rel=1e-6)


def test_a_spindle_that_has_vanished_has_no_volume() -> None:
    made = np.zeros((1, 9, 3))
    made[0, :8, 2] = np.tile([2.0, 6.0, 0.02, -0.03], 2)
    states = SigmoidSpindles(made, *even_shares([1])).states([0.2], [0.0])
    assert states.held.all()
    assert states.volumes() == 0.0


def test_a_larger_body_has_the_same_shape_larger() -> None:
    made = spindles(4, 8)
    rng = np.random.default_rng(9)
    lengths, tensions = rng.uniform(0.15, 0.3, (6, 4)), rng.uniform(0.0, 300.0, (6, 4))
    small = made.states(lengths, tensions)
    t, theta = rng.uniform(0, 1, 20), rng.uniform(0, 6, 20)
    for size, strength in ((1.3, None), (0.7, 0.9)):
        force = size**2 if strength is None else strength
        large = made.scaled(size, strength).states(size * lengths, force * tensions)
        np.testing.assert_allclose(large.radius(t, theta), size * small.radius(t, theta), rtol=1e-12)
        np.testing.assert_allclose(large.volumes(), size**3 * small.volumes(), rtol=1e-12)


def test_thin_spindles_side_by_side_share_a_muscle() -> None:
    muscle, share = even_shares([1, 4])
    assert muscle.tolist() == [0, 1, 1, 1, 1]
    one = spindles(1, 10).coefficients
    flat = SigmoidSpindles(np.repeat(one, 5, axis=0), muscle, share)
    states = flat.states(np.full(5, 0.2), [120.0, 480.0])
    # each of the four bears 120 N of the 480, as the first alone does
    np.testing.assert_allclose(states.values, np.repeat(states.values[:1], 5, axis=0), rtol=1e-15)
    np.testing.assert_allclose(states.muscle_volumes(), states.volumes()[0] * np.array([1.0, 4.0]))
    borders = np.array([[0.0, 0, 0], [0, 0, 1]]), np.array([[4.0, 0, 0], [4, 0, 1]])
    paths = side_by_side(*borders, 4)
    assert paths.shape == (4, 2, 3)
    np.testing.assert_allclose(paths[:, 0, 0], [0.5, 1.5, 2.5, 3.5])


def test_impossible_spindles_are_refused() -> None:
    made = spindles(2, 11)
    for lengths, tensions, message in (
        ([0.2, 0.0], [0.0, 0.0], "muscle 1: its length is not a positive number"),
        ([[0.2, 0.2], [0.2, np.nan]], np.zeros((2, 2)), "muscle 1, frame 1: its length"),
        ([0.2, 0.2], [np.inf, 0.0], "muscle 0: its tension is not a finite number"),
        ([0.2], [0.0, 0.0], r"lengths \(1,\) and tensions \(2,\) do not fit 2 spindles of 2 muscles"),
    ):
        with pytest.raises(EcorcheError, match=message):
            made.states(lengths, tensions)
    with pytest.raises(EcorcheError, match="size is not a positive number"):
        made.scaled(0.0)
    with pytest.raises(EcorcheError, match=r"coefficients has shape \(2, 9, 2\)"):
        SigmoidSpindles(made.coefficients[:, :, :2], made.muscle, made.share)
    with pytest.raises(EcorcheError, match="muscle 0: a coefficient is not a finite number"):
        SigmoidSpindles(made.coefficients * np.nan, made.muscle, made.share)
    with pytest.raises(EcorcheError, match="do not add up to 1"):
        SigmoidSpindles(made.coefficients, np.array([0, 0]), np.array([0.5, 0.6]))
    with pytest.raises(EcorcheError, match="its share in the muscle's tension is not positive"):
        SigmoidSpindles(made.coefficients, made.muscle, np.array([1.0, 0.0]))
    with pytest.raises(EcorcheError, match="muscle 1: it has no spindle"):
        even_shares([1, 0])
    with pytest.raises(EcorcheError, match="borders of the flat muscle have shapes"):
        side_by_side(np.zeros((2, 3)), np.zeros((3, 3)), 2)
    with pytest.raises(EcorcheError, match="cannot be 0 spindles"):
        side_by_side(np.zeros((2, 3)), np.zeros((2, 3)), 0)
