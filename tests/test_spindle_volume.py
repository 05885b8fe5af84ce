"""A muscle keeps its volume at any length and tension, and bind is given back bit for bit."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq

from ecorche.errors import EcorcheError
from ecorche.muscles.spindle import spindle_from_numbers
from ecorche.muscles.volume import MOVING, VolumeRule, contract, exact_volume, two_cone_volume
from spindle_shapes import bezier, random_spindles

RULES: tuple[VolumeRule, ...] = ("exact", "two_cone")


def test_the_exact_volume_is_the_integral_of_the_sections() -> None:
    spindles = random_spindles(30, 11)
    volumes = exact_volume(spindles.thickness, spindles.belly, spindles.scale, spindles.bind_length)
    for i in range(30):
        belly = float(spindles.belly[i])

        def area(t: float, i: int = i, belly: float = belly) -> float:
            return float(np.pi * spindles.scale[i] * bezier(spindles.thickness[i], belly, np.array(t)) ** 2)

        integral = sum(quad(area, a, b, epsabs=0, epsrel=1e-13)[0] for a, b in ((0.0, belly), (belly, 1.0)))
        assert volumes[i] == pytest.approx(integral * spindles.bind_length[i], rel=1e-12)


def test_the_two_cones_are_the_printed_ones() -> None:
    """Equation (6) of the text, in half-axes a and b, before it is simplified."""
    s = random_spindles(30, 12)
    b_o, b_c, b_i = s.thickness[:, 0, 0], s.thickness[:, 0, 3], s.thickness[:, 1, 3]
    a_o, a_c, a_i = s.scale * b_o, s.scale * b_c, s.scale * b_i
    oc, ci = s.belly * s.bind_length, (1 - s.belly) * s.bind_length
    printed = oc * np.pi * (2 * a_c * b_c + a_c * b_o + a_o * b_c + 2 * a_o * b_o) / 6
    printed += ci * np.pi * (2 * a_c * b_c + a_c * b_i + a_i * b_c + 2 * a_i * b_i) / 6
    np.testing.assert_allclose(
        two_cone_volume(s.thickness, s.belly, s.scale, s.bind_length), printed, rtol=1e-14
    )


@pytest.mark.parametrize("rule", RULES)
def test_bind_is_given_back_bit_for_bit(rule: VolumeRule) -> None:
    spindles = random_spindles(300, 13)
    bind = contract(spindles, spindles.bind_length, volume=rule)
    assert bind.thickness.tobytes() == spindles.thickness.tobytes()
    assert not bind.held.any()


@pytest.mark.parametrize("rule", RULES)
def test_the_chosen_volume_is_kept_from_half_to_one_and_a_half_lengths(rule: VolumeRule) -> None:
    spindles = random_spindles(500, 14)
    lengths = spindles.bind_length * np.linspace(0.5, 1.5, 21)[:, None]
    states = contract(spindles, lengths, volume=rule)
    measure = exact_volume if rule == "exact" else two_cone_volume
    bind = measure(spindles.thickness, spindles.belly, spindles.scale, spindles.bind_length)
    drift = measure(states.thickness, spindles.belly, spindles.scale, lengths) / bind - 1.0
    assert np.abs(drift[~states.held]).max() < 1e-13
    assert states.held.mean() < 0.05
    # shorter is thicker, and never held
    assert not states.held[:10].any()
    belly = states.thickness[..., 0, 3]
    assert np.all(np.diff(belly, axis=0)[~states.held[1:]] < 0.0)
    # tendons keep their thickness and the belly its slope
    np.testing.assert_array_equal(
        states.thickness[:, :, MOVING == 0.0],
        np.broadcast_to(spindles.thickness[:, MOVING == 0.0], (21, 500, 4)),
    )
    slope = 3.0 * (states.thickness[..., 0, 3] - states.thickness[..., 0, 2]) / spindles.belly
    np.testing.assert_allclose(
        slope[0],
        3.0 * (spindles.thickness[:, 0, 3] - spindles.thickness[:, 0, 2]) / spindles.belly,
        atol=1e-14,
    )
    assert states.thickness.min() >= 0.0


def test_the_closed_form_is_the_root_a_search_finds() -> None:
    spindles = random_spindles(20, 15)
    lengths = spindles.bind_length * 0.7
    found = contract(spindles, lengths).thickness[:, 0, 3]
    bind = exact_volume(spindles.thickness, spindles.belly, spindles.scale, spindles.bind_length)

    def excess(change: float, i: int) -> float:
        trial = spindles.thickness + change * MOVING
        return float((exact_volume(trial, spindles.belly, spindles.scale, lengths) / bind)[i] - 1.0)

    for i in range(20):
        change = brentq(excess, 0.0, 0.1, args=(i,), xtol=1e-16)
        assert found[i] == pytest.approx(spindles.thickness[i, 0, 3] + change, rel=1e-12)


def test_a_muscle_too_long_to_keep_its_volume_is_held_and_named() -> None:
    broad = {
        "tendon_origin": 0.03,
        "tendon_insertion": 0.03,
        "fullness_origin": 0.0,
        "fullness_insertion": 0.0,
    }
    spindles = spindle_from_numbers([0.3, 0.3], [0.031, 0.04], slope=[0.03, 0.0], **broad)
    states = contract(spindles, [[0.3, 0.3], [1.2, 0.33]])
    assert states.held.tolist() == [[False, False], [True, False]]
    # as thin as it can be: one control at zero, none below, and nothing jumps on the way there
    assert states.thickness[1, 0].min() == 0.0
    fine = np.linspace(0.3, 1.2, 4001)
    way = contract(spindles, np.stack([fine, fine], axis=1))
    first = int(np.argmax(way.held[:, 0]))
    assert first > 0
    assert way.held[first:, 0].all()
    assert abs(way.thickness[first, 0, 0, 3] - way.thickness[first - 1, 0, 0, 3]) < 2e-4
    assert states.volumes()[1, 0] > states.volumes()[0, 0]


def test_the_bulge_trades_one_half_axis_for_the_other() -> None:
    spindles = random_spindles(100, 16)
    t = np.linspace(0.0, 1.0, 33)
    lengths = spindles.bind_length * np.linspace(0.6, 1.2, 4)[:, None]
    slack = contract(spindles, lengths)
    tense = contract(spindles, lengths, bulge=np.array([1.0, 1.15, 1.3, 2.0])[:, None])
    out, side = slack.half_axes(t)
    wide, narrow = tense.half_axes(t)
    np.testing.assert_array_equal(wide[0], out[0])
    np.testing.assert_allclose(wide[2], 1.3 * out[2], rtol=1e-15)
    np.testing.assert_allclose(narrow[2], side[2] / 1.3, rtol=1e-15)
    np.testing.assert_allclose(wide * narrow, out * side, rtol=1e-15, atol=1e-30)
    np.testing.assert_array_equal(tense.volumes(), slack.volumes())


def test_frames_and_muscles_are_independent() -> None:
    spindles = random_spindles(6, 17)
    lengths = spindles.bind_length * np.random.default_rng(0).uniform(0.6, 1.3, (3, 2, 6))
    together = contract(spindles, lengths)
    assert together.thickness.shape == (3, 2, 6, 2, 4)
    np.testing.assert_array_equal(together.thickness[2, 1], contract(spindles, lengths[2, 1]).thickness)


def test_impossible_requests_are_refused() -> None:
    spindles = spindle_from_numbers([0.3, 0.2], 0.03)
    for lengths, message in (
        ([0.3, 0.0], "muscle 1: its length is not a positive number"),
        ([[0.3, 0.2], [np.nan, 0.2]], "muscle 0, frame 1: its length is not a positive number"),
        ([0.3], r"lengths of shape \(1,\) do not fit 2 muscles"),
        (0.3, r"lengths of shape \(\) do not fit 2 muscles"),
    ):
        with pytest.raises(EcorcheError, match=message):
            contract(spindles, lengths)
    for bulge, message in (
        (0.0, "muscle 0: its bulge is not a positive number"),
        ([1.0, -1.0], "muscle 1: its bulge"),
        (np.nan, "its bulge is not a positive number"),
        ([1.0, 1.0, 1.0], r"bulges of shape \(3,\) do not fit lengths of shape \(2,\)"),
    ):
        with pytest.raises(EcorcheError, match=message):
            contract(spindles, [0.3, 0.2], bulge=bulge)
    with pytest.raises(EcorcheError, match=r"no volume rule 'cones'.*'exact' and 'two_cone'"):
        contract(spindles, [0.3, 0.2], volume="cones")  # type: ignore[arg-type]
