"""Secondary motion: the linear oscillator exactly, at any frame rate, bounded, and without a kick."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp
from scipy.signal import butter, filtfilt

from conftest import Figure
from ecorche.base.threads import at_most_threads
from ecorche.dynamics.material import MATERIALS, Material, oscillation_on_lines
from ecorche.dynamics.oscillation import FADE_IN, Oscillation, OscillationState
from ecorche.dynamics.setting import Dynamics, dynamics_named
from ecorche.dynamics.trajectory import HALO, derivatives
from ecorche.errors import EcorcheError
from ecorche.io.bvh import read_motion

Floats = npt.NDArray[np.float64]
WIDE = 1e6  # a limit so wide that nothing is bounded


def along_x(x: Floats) -> Floats:
    """One point that moves along x, (F, 1, 3)."""
    return np.stack([x, np.zeros_like(x), np.zeros_like(x)], axis=-1)[:, None]


def long_since(offset: float = 0.0, velocity: float = 0.0, time: float = 0.0) -> OscillationState:
    """A state of a motion that began long ago, so that all of its accelerations are felt."""
    return OscillationState(time, np.array([[offset, 0, 0]]), np.array([[velocity, 0, 0]]), time - 100.0)


def offsets(oscillation: Oscillation, times: Floats, x: Floats, state: OscillationState) -> Floats:
    """Offsets along x after the first frame, (F − 1,)."""
    return np.asarray(oscillation.over(times, along_x(x), state)[0][:, 0, 0] - x[1:])


# the trajectory between frames


@given(st.lists(st.floats(0.005, 0.1), min_size=6, max_size=12), st.integers(0, 1000))
@settings(max_examples=40)
def test_derivatives_of_polynomials_are_exact_at_uneven_times(steps: list[float], seed: int) -> None:
    times = np.cumsum([0.0, *steps])
    place = np.polynomial.Polynomial(np.random.default_rng(seed).normal(size=4))
    velocity, acceleration = derivatives(times, along_x(place(times)))[..., 0, 0]
    np.testing.assert_allclose(velocity, place.deriv()(times), atol=1e-8)
    np.testing.assert_allclose(acceleration, place.deriv(2)(times), atol=1e-6)


def test_inner_frames_are_of_sixth_order() -> None:
    errors = []
    for rate in (20.0, 40.0):
        times = np.arange(round(2 * rate) + 1) / rate
        velocity, _ = derivatives(times, along_x(np.sin(5.0 * times)))[..., 0, 0]
        errors.append(np.abs(velocity - 5.0 * np.cos(5.0 * times))[HALO:-HALO].max())
    assert 55.0 < errors[0] / errors[1] < 70.0


# analytic truths


@pytest.mark.parametrize("rate", [24.0, 30.0, 120.0])
@pytest.mark.parametrize(("frequency", "zeta"), [(4.0, 0.2), (12.0, 0.05), (6.0, 0.999), (6.0, 1.0)])
def test_free_oscillation_is_the_damped_cosine(rate: float, frequency: float, zeta: float) -> None:
    times = np.arange(40) / rate
    found = offsets(Oscillation(frequency, zeta, [WIDE]), times, np.full(40, 0.7), long_since(0.01, 0.2))
    omega = 2.0 * np.pi * frequency
    turning = omega * np.sqrt(1.0 - zeta**2)
    sine = np.sin(turning * times) / turning if zeta < 1.0 else times
    expected = np.exp(-zeta * omega * times) * (
        0.01 * np.cos(turning * times) + (0.2 + zeta * omega * 0.01) * sine
    )
    np.testing.assert_allclose(found, expected[1:], atol=1e-14)


def test_the_answer_to_a_step_of_acceleration_overshoots_by_the_textbook_s_figure() -> None:
    """A point thrown upward with 9 m/s² sags to −9 / ω², past it by exp(−πζ / √(1 − ζ²)), π / ω_d after."""
    zeta, frequency, rate = 0.3, 5.0, 240.0
    omega = 2.0 * np.pi * frequency
    turning = omega * np.sqrt(1.0 - zeta**2)
    times = np.arange(2400) / rate
    found = offsets(Oscillation(frequency, zeta, [WIDE]), times, 4.5 * times**2, long_since())
    assert found[-1] == pytest.approx(-9.0 / omega**2, rel=1e-9)
    overshoot = found.min() / found[-1] - 1.0
    assert overshoot == pytest.approx(np.exp(-np.pi * zeta / np.sqrt(1.0 - zeta**2)), abs=0.002)
    assert times[1:][np.argmin(found)] == pytest.approx(np.pi / turning, abs=1.0 / rate)


@pytest.mark.parametrize("ratio", [0.2, 0.6, 1.0, 1.5, 3.0])
def test_a_shaken_point_answers_with_the_textbook_s_amplitude_and_phase(ratio: float) -> None:
    zeta, frequency = 0.15, 4.0
    omega = 2.0 * np.pi * frequency
    shaking = ratio * omega
    times = np.arange(6 * 240) / 240.0
    found = offsets(Oscillation(frequency, zeta, [WIDE]), times, 0.01 * np.sin(shaking * times), long_since())
    answer = 0.01 * shaking**2 / (omega**2 - shaking**2 + 2j * zeta * omega * shaking)
    expected = np.imag(answer * np.exp(1j * shaking * times[1:]))
    late = times[1:] > 3.0  # the free swing of the start has died away
    np.testing.assert_allclose(found[late], expected[late], atol=2e-4 * abs(answer))


@given(st.lists(st.floats(0.005, 0.1), min_size=8, max_size=14), st.integers(0, 1000))
@settings(max_examples=15)
def test_it_is_the_differential_equation_s_solution_between_uneven_frames(
    steps: list[float], seed: int
) -> None:
    times = np.cumsum([0.3, *steps])
    place = np.polynomial.Polynomial(np.random.default_rng(seed).normal(size=4))  # which frames tell exactly
    found = offsets(Oscillation(5.0, 0.3, [WIDE]), times, place(times), long_since(0.02, 0.1, 0.3))
    omega = 2.0 * np.pi * 5.0

    def rates(t: float, state: Floats) -> list[float]:
        return [state[1], -place.deriv(2)(t) - 0.6 * omega * state[1] - omega**2 * state[0]]

    solved = solve_ivp(rates, (0.3, times[-1]), [0.02, 0.1], "DOP853", times, rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(found, solved.y[0][1:], atol=1e-8)


# what must never happen


def test_what_rests_stays_exactly_and_steady_travel_moves_nothing() -> None:
    times = np.arange(50) / 24.0
    oscillation = Oscillation(6.0, 0.2, [0.02, 0.02])
    still = np.tile(np.random.default_rng(1).normal(size=(2, 3)), (50, 1, 1))
    swung, state = oscillation.over(times, still)
    assert (swung == still).all()
    assert not state.offset.any()
    assert not state.velocity.any()
    travelling = still + times[:, None, None] * np.array([3.0, 0.1, -2.0])
    np.testing.assert_allclose(oscillation.over(times, travelling)[0], travelling, atol=1e-12)


def test_energy_decays_once_the_motion_has_stopped() -> None:
    rate = 60.0
    times = np.arange(181) / rate
    x = 0.3 * np.clip(times / 0.4, 0.0, 1.0) ** 2 * (3.0 - 2.0 * np.clip(times / 0.4, 0.0, 1.0))
    oscillation = Oscillation(5.0, 0.1, [WIDE])
    places, state = along_x(x), None
    energies = []
    for frame in range(30, 170):
        _, state = oscillation.over(times, places, state, last=frame)
        energies.append(np.sum(state.velocity**2) + (10.0 * np.pi) ** 2 * np.sum(state.offset**2))
    assert energies[0] > 1e-3
    assert (np.diff(energies) < 0.0).all()
    assert energies[-1] < 1e-4 * energies[0]


def test_nothing_passes_its_limit_and_attachments_do_not_move() -> None:
    rng = np.random.default_rng(3)
    times = np.arange(200) / 30.0
    places = np.cumsum(rng.normal(size=(200, 4, 3)), axis=0)  # leaps of a metre a frame
    limit = np.array([0.0, 0.001, 0.02, 0.0])
    swung, state = Oscillation(6.0, 0.05, limit).over(times, places)
    drift = np.linalg.norm(swung - places, axis=2)
    assert (swung[:, [0, 3]] == places[:, [0, 3]]).all()
    assert (drift[:, 1:3] < limit[1:3]).all()
    assert (drift[:, 1:3].max(axis=0) > 0.99 * limit[1:3]).all()
    assert np.isfinite(state.offset).all()


def test_the_bound_is_smooth_and_leaves_small_offsets() -> None:
    oscillation = Oscillation(6.0, 0.2, [0.02])
    x = np.linspace(-0.2, 0.2, 4001)
    shown = oscillation.bounded(along_x(x))[:, 0, 0]
    slopes = np.diff(shown) / np.diff(x)
    assert ((slopes > 0.0) & (slopes <= 1.0)).all()  # farther is farther, and never magnified
    assert np.abs(np.diff(slopes)).max() < 0.005
    assert shown[np.searchsorted(x, 0.001)] == pytest.approx(x[np.searchsorted(x, 0.001)], rel=0.002)


@pytest.mark.parametrize("shaking", [0.7, 1.5, 3.0, 6.0])
def test_a_motion_begins_without_a_kick(shaking: float) -> None:
    """In the midst of shaking, at its greatest acceleration: no more swing than there is later."""
    times = np.arange(480) / 120.0
    x = 0.05 * np.cos(2.0 * np.pi * shaking * times)
    swung, _ = Oscillation(6.0, 0.2, [WIDE]).over(times, along_x(x))
    offset = swung[:, 0, 0] - x
    early, late = np.abs(offset[times < 1.0]), np.abs(offset[times > 2.0]).max()
    assert offset[0] == 0.0
    assert early.max() < 1.1 * late
    assert early[1] < 1e-4 * late
    if shaking < 1.0:  # without the fading in it would be half as much again
        sudden = offsets(Oscillation(6.0, 0.2, [WIDE]), times, x, long_since())
        assert np.abs(sudden).max() > 1.4 * late


# frame rates, parts and threads


def captured(data: Path, clip: str) -> tuple[Floats, Floats]:
    """Middles of limbs and trunk in a captured motion, at its 120 frames a second.

    Without what swings faster than 10 Hz: noise and impacts, which 24 frames a second cannot hold. As
    captured, with that, offsets at 24 and at 120 frames a second differ by up to 38 % of the largest.
    """
    motion = read_motion(data / "cmu" / f"{clip}.bvh")
    motion = motion.part(1, motion.frame_count - 1)  # the first frame is a T-pose, a cut away
    joints, names = motion.world()[..., :3, 3], motion.skeleton.names
    ends = (("UpLeg", "Leg"), ("Leg", "Foot"), ("Arm", "ForeArm"))
    pairs = [(side + a, side + b) for side in ("Left", "Right") for a, b in ends] + [("Spine1", "Neck")]
    middles = [0.5 * (joints[:, names.index(a)] + joints[:, names.index(b)]) for a, b in pairs]
    smooth = filtfilt(*butter(4, 10.0 / 60.0), np.stack(middles, axis=1), axis=0)
    return motion.times - motion.times[0], np.ascontiguousarray(smooth)


@pytest.mark.parametrize("clip", ["02_01", "02_03", "13_13", "13_39"])
def test_captured_motion_swings_the_same_at_24_30_60_and_120_frames(
    data: Path, clip: str, figure: Figure
) -> None:
    times, places = captured(data, clip)
    belly = MATERIALS["belly"]
    oscillation = Oscillation(belly.frequency, belly.damping, np.full(places.shape[1], belly.limit))
    expected = oscillation.over(times, places)[0] - places
    largest = np.linalg.norm(expected, axis=2).max(axis=0)
    assert (largest > 0.002).all()
    worst = 0.0
    for every in (2, 4, 5):
        some = slice(None, None, every)
        found = oscillation.over(times[some], places[some])[0] - places[some]
        apart = np.linalg.norm(found - expected[some], axis=2) / largest
        # how the motion would go on is unknown at its last frames
        worst = max(worst, float(apart[:-HALO].max()))
        assert apart[-HALO:].max() < 0.15
    figure(f"oscillation of {clip} at 24, 30, 60 against 120 frames a second", 100.0 * worst, 5.0, "%")
    assert worst < 0.05


def test_parts_go_on_as_the_whole_bit_for_bit_on_any_number_of_threads() -> None:
    rng = np.random.default_rng(2)
    times = np.cumsum(rng.uniform(0.02, 0.05, 60))
    places = np.cumsum(rng.normal(scale=0.02, size=(60, 300, 3)), axis=0)
    oscillation = Oscillation(rng.uniform(2.0, 9.0, 300), 0.2, rng.uniform(0.0, 0.03, 300))
    whole, end = oscillation.over(times, places)
    with at_most_threads(1):
        alone, _ = oscillation.over(times, places)
    assert whole.tobytes() == alone.tobytes()
    parts, state, done = [], None, 0
    for last in (4, 5, 33, 59):
        seen = slice(max(done - HALO, 0), last + 1 + HALO)
        some, state = oscillation.over(times[seen], places[seen], state, last=last - seen.start)
        parts.append(some)
        done = last
    assert np.concatenate(parts).tobytes() == whole.tobytes()
    assert state is not None
    assert state.velocity.tobytes() == end.velocity.tobytes()


def test_after_its_memory_a_motion_begun_in_the_middle_is_the_same() -> None:
    times = np.arange(600) / 60.0
    x = 0.1 * np.sin(7.0 * times) + 0.05 * np.sin(19.0 * times)
    oscillation = Oscillation(5.0, 0.2, [WIDE])
    whole = oscillation.over(times, along_x(x))[0][:, 0, 0] - x
    late = oscillation.over(times[200:], along_x(x[200:]))[0][:, 0, 0] - x[200:]
    begun = max(FADE_IN[0], FADE_IN[1] / 5.0) + oscillation.memory(0.01)
    known = times[200:] - times[200] > begun
    assert known.any()
    assert np.abs(late - whole[200:])[known].max() < 0.01 * np.abs(whole).max()


# lines, materials, setting


def test_lines_swing_between_their_ends_and_tendons_are_stiff() -> None:
    starts = np.array([0, 5, 8], np.int32)
    nodes = np.zeros((8, 3))
    nodes[:5, 0] = [0.0, 0.05, 0.1, 0.15, 0.2]
    nodes[5:, 1] = [0.0, 0.1, 0.2]
    tendon = np.array([False, True, False, False, False, False, False, False])
    made = oscillation_on_lines(starts, nodes, tendon)
    belly = MATERIALS["belly"].limit
    np.testing.assert_allclose(
        made.limit, [0.0, 0.75 * MATERIALS["tendon"].limit, belly, 0.75 * belly, 0.0, 0.0, belly, 0.0]
    )
    assert made.frequency[1] == MATERIALS["tendon"].frequency
    assert MATERIALS["tendon"].stiffness == pytest.approx(10.0 * MATERIALS["belly"].stiffness, rel=0.02)
    assert Material(1.0, 0.5, 0.1).stiffness == pytest.approx(4.0 * np.pi**2)


def test_dynamics_is_one_setting_with_named_choices() -> None:
    assert dynamics_named("oscillation") is Dynamics.OSCILLATION
    assert Dynamics.OSCILLATION.has_history
    assert not dynamics_named("off").has_history
    with pytest.raises(EcorcheError, match=r"no dynamics 'ocillation'.*oscillation"):
        dynamics_named("ocillation")
    with pytest.raises(EcorcheError, match=r"Known: 'off', 'oscillation'"):
        dynamics_named("jelly")


def test_what_is_wrong_is_named() -> None:
    with pytest.raises(EcorcheError, match=r"biceps: point 1 cannot have a frequency of 0 Hz.*such as 6"):
        Oscillation([5.0, 0.0], 0.2, [0.1, 0.1], where="biceps")
    with pytest.raises(EcorcheError, match=r"point 0 cannot have a damping ratio of 1\.5"):
        Oscillation(5.0, 1.5, [0.1])
    with pytest.raises(EcorcheError, match="point 0 cannot have a limit of nan m"):
        Oscillation(5.0, 0.5, [np.nan])
    one = Oscillation(5.0, 0.5, [0.1])
    with pytest.raises(EcorcheError, match=r"places \(2, 2, 3\) are not for 2 frames of 1 points"):
        one.over([0.0, 1.0], np.zeros((2, 2, 3)))
    with pytest.raises(EcorcheError, match="times do not rise"):
        one.over([1.0, 1.0], np.zeros((2, 1, 3)))
    places = np.zeros((3, 1, 3))
    places[2, 0, 1] = np.inf
    with pytest.raises(EcorcheError, match="point 0 is nowhere in frame 2"):
        one.over([0.0, 1.0, 2.0], places)
    with pytest.raises(EcorcheError, match=r"state of 1 points at 0\.5 s is of no frame"):
        one.over([0.0, 1.0, 2.0], np.zeros((3, 1, 3)), long_since(time=0.5))
    with pytest.raises(EcorcheError, match="frame 3 is not among frames 0 to 2"):
        one.over([0.0, 1.0, 2.0], np.zeros((3, 1, 3)), last=3)
