"""Activation takes a muscle's time, exactly, at any frame rate; a part of a take is a part of the whole."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from benchmarks.muscle_people import EXAMPLES, rigged
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad

from ecorche.body.live_frames import LiveFrames
from ecorche.body.muscle_specs import muscles_of
from ecorche.body.muscles import named_activation
from ecorche.body.perform import perform
from ecorche.io.keyframes import read_keyframes
from ecorche.muscles.activation_in_time import REACH, spread_in_time

Floats = npt.NDArray[np.float64]


def _mean_around(moment: float, times: Floats, values: Floats, reach: float) -> float:
    """The mean of the broken line under a raised cosine, by quadrature."""

    def weighted(away: float) -> float:
        window = (1.0 + np.cos(np.pi * away / reach)) / (2.0 * reach)
        return float(window * np.interp(moment + away, times, values))

    corners = times[np.abs(times - moment) < reach] - moment
    return float(quad(weighted, -reach, reach, points=corners, limit=200)[0])


@given(
    steps=st.lists(st.floats(0.002, 0.2), min_size=1, max_size=8),
    seed=st.integers(0, 1000),
    reach=st.sampled_from([0.01, REACH, 0.3]),
)
@settings(max_examples=40, deadline=None)
def test_it_is_the_mean_under_a_raised_cosine(steps: list[float], seed: int, reach: float) -> None:
    times = np.cumsum([0.3, *steps])
    values = np.random.default_rng(seed).uniform(size=(len(times), 2))
    found = spread_in_time(times, values, reach)
    for muscle in range(2):
        column = values[:, muscle]
        fitting = np.minimum(reach, np.minimum(times - times[0], times[-1] - times))[1:-1]
        inner = [_mean_around(t, times, column, r) for t, r in zip(times[1:-1], fitting, strict=True)]
        expected = [column[0], *inner, column[-1]]
        np.testing.assert_allclose(found[:, muscle], expected, atol=1e-9)
    assert ((found >= values.min(axis=0) - 1e-12) & (found <= values.max(axis=0) + 1e-12)).all()


def test_what_is_held_stays_to_the_last_bit() -> None:
    held = np.tile([0.0, 0.3, 1.0], (50, 1))
    assert (spread_in_time(np.arange(50) / 120.0, held) == held).all()
    assert (spread_in_time(np.zeros(1), held[:1]) == held[:1]).all()


def test_one_wild_frame_is_hardly_seen_and_a_steady_rise_stays_in_step() -> None:
    times = np.arange(121) / 120.0
    wild = np.full((121, 1), 0.5)
    wild[60] = 1.0
    assert np.abs(spread_in_time(times, wild) - 0.5).max() < 0.2 * 0.5
    rise = np.linspace(0.0, 1.0, 121)[:, None]
    np.testing.assert_allclose(spread_in_time(times, rise), rise, atol=1e-12)


@pytest.mark.parametrize("source", ["joints", "motion", "anticipating"])
@pytest.mark.parametrize("limits", [False, True])
def test_a_part_of_a_take_has_the_activations_of_the_whole(data: Path, source: str, limits: bool) -> None:
    path = data / "human" / "male_average_cmu_mb.glb"
    character, rig = rigged(path)
    curl = read_keyframes(EXAMPLES / "curl.pose", character.skeleton)
    muscles, _ = muscles_of(rig, character.skeleton)
    activation = named_activation(source, character, rig, muscles)

    def performed(frames: tuple[int, int] | None) -> LiveFrames:
        take = perform(
            character, curl, rig=rig, rate=30.0, frames=frames, limits=limits, activation=activation
        ).take
        assert isinstance(take.frames, LiveFrames)
        return take.frames

    whole, part = performed(None), performed((20, 26))
    assert whole.activation is not None
    assert part.activation is not None
    np.testing.assert_array_equal(part.activation, whole.activation[20:27])
    assert part.activation.max() > 0.1
    # alone it would not know what lies around it
    alone = activation.over(part.motion)
    assert np.abs(alone - part.activation).max() > 1e-3
    skin = whole.body.character.meshes.index(character.body())
    np.testing.assert_array_equal(part[3].points[skin], whole[23].points[skin])
