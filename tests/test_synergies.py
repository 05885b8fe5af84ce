"""What EMG of some muscles says about the others: courses found again, a hidden muscle recovered."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from ecorche.biomech.synergies import COUNTS, courses, synergy_targets
from ecorche.biomech.tensions import Wanted, muscle_tensions
from ecorche.errors import EcorcheError

Floats = npt.NDArray[np.float64]
TIMES: Floats = np.linspace(0.0, 1.0, 80)
BURSTS: Floats = np.exp(-0.5 * ((TIMES[:, None] - np.array([0.2, 0.5, 0.8])) / 0.07) ** 2)
MUSCLES, JOINTS = 12, 6
NAMES: dict[str, Any] = {
    "muscles": [f"m{k}" for k in range(MUSCLES)],
    "coordinates": [f"c{k}" for k in range(JOINTS)],
}
HIDDEN = 8
"""The first muscle without EMG."""


def limb(seed: int) -> tuple[Floats, Floats, Floats, Floats]:
    """Moment arms that turn with the pose (frames, M, C), F_max, activations of three courses, torques."""
    rng = np.random.default_rng(seed)
    weights = rng.uniform(0.05, 0.3, (3, MUSCLES)) * (rng.uniform(size=(3, MUSCLES)) < 0.6)
    ways = rng.normal(scale=0.04, size=(2, MUSCLES, JOINTS))
    turn = 2.0 * np.pi * TIMES[:, None, None]
    arms, strongest = ways[0] * np.cos(turn) + ways[1] * np.sin(turn), rng.uniform(300.0, 1500.0, MUSCLES)
    activation = BURSTS @ weights
    return arms, strongest, activation, np.einsum("fm,fmc->fc", activation * strongest, arms)


def recorded(activation: Floats, loudness: Floats) -> Floats:
    """Activation by EMG of the first muscles, each as loud as its electrode lies, NaN for the others."""
    result = np.full(activation.shape, np.nan)
    seen = activation[:, :HIDDEN]
    result[:, :HIDDEN] = loudness[:HIDDEN] * seen / np.maximum(seen.max(axis=0), 1e-12)
    return result


def test_the_courses_of_sums_are_found_again() -> None:
    mixed = BURSTS @ np.random.default_rng(5).dirichlet(np.full(3, 0.5), 9).T
    found = courses(mixed, 3)
    assert found.max(axis=0) == pytest.approx(1.0)
    likeness = np.corrcoef(found.T, BURSTS.T)[:3, 3:]
    assert sorted(likeness.argmax(axis=1)) == [0, 1, 2]
    assert likeness.max(axis=1).min() > 0.999
    assert np.array_equal(found, courses(mixed, 3))
    assert courses(BURSTS[:, :1] * np.ones(4), 1).shape == (len(TIMES), 1)
    assert courses(np.zeros((len(TIMES), 4)), 2).shape == (len(TIMES), 0)


@pytest.mark.parametrize("seed", range(4))
def test_a_muscle_without_emg_is_recovered_from_the_courses_of_others(seed: int) -> None:
    """Least effort misses it; loudness of channels does not matter; torques are met as before."""
    arms, strongest, activation, torques = limb(seed)
    loudness = np.random.default_rng(seed).uniform(0.2, 1.0, MUSCLES)
    wanted = Wanted(recorded(activation, loudness), 100.0, COUNTS)
    plain = muscle_tensions(arms, torques, strongest, **NAMES)
    drawn = muscle_tensions(arms, torques, strongest, wanted=wanted, **NAMES)
    away, before = (np.abs(one.activation - activation)[:, HIDDEN:].mean() for one in (drawn, plain))
    assert away < 0.35 * before
    assert np.einsum("fm,fmc->fc", drawn.force, arms) == pytest.approx(torques, abs=0.02)


def test_limbs_that_no_muscle_joins_follow_their_own_channels_or_none() -> None:
    """Two limbs beside each other: as each alone; without channels on it, a limb is left to least effort."""
    parts, able = [limb(seed) for seed in (1, 2)], np.zeros((len(TIMES), 2 * MUSCLES, 2 * JOINTS))
    for k, (arms, strongest, _, _) in enumerate(parts):
        able[:, k * MUSCLES : (k + 1) * MUSCLES, k * JOINTS : (k + 1) * JOINTS] = arms * strongest[:, None]
    torques = np.concatenate([part[3] for part in parts], axis=1)
    emg = [recorded(part[2], np.ones(MUSCLES)) for part in parts]
    both = synergy_targets(able, torques, np.concatenate(emg, axis=1), (2, 3))
    for k in range(2):
        some = slice(k * MUSCLES, (k + 1) * MUSCLES)
        alone = synergy_targets(able[:, some, k * JOINTS :][:, :, :JOINTS], parts[k][3], emg[k], (2, 3))
        assert both[:, some] == pytest.approx(alone, abs=1e-9)
    one = synergy_targets(able, torques, np.concatenate([emg[0], np.full_like(emg[1], np.nan)], axis=1), (3,))
    assert np.isfinite(one[:, :MUSCLES]).all()
    assert np.isnan(one[:, MUSCLES:]).all()


def test_gaps_and_too_few_channels_are_refused() -> None:
    arms, strongest, activation, torques = limb(0)
    able = arms * strongest[:, None]
    emg = recorded(activation, np.ones(MUSCLES))
    with pytest.raises(EcorcheError, match=r"8 channels on a limb have no 9 courses.*Ask for 1 to 8"):
        synergy_targets(able, torques, emg, (3, 9))
    emg[4, 2] = np.nan
    with pytest.raises(EcorcheError, match=r"muscle 2, measured in frame 0: measured activity has gaps"):
        synergy_targets(able, torques, emg, (3,))
