"""Measured muscle activity: envelopes in step with the signal, tables read strictly, bad signals refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from ecorche.biomech.emg import Emg, Placement, envelopes, is_envelope, measured_activation, read_placements
from ecorche.errors import EcorcheError, ReadError

Floats = npt.NDArray[np.float64]
TIMES: Floats = np.arange(4000) / 1000.0
BURST: Floats = np.exp(-((TIMES - 2.0) ** 2) / (2 * 0.3**2))


def raw(level: Floats, seed: int = 3) -> Floats:
    """Noise as loud as a level, with mains hum at rest left out and a drift added."""
    noise = np.random.default_rng(seed).normal(size=len(TIMES))
    return np.asarray(0.4e-3 * level * noise + 2e-3 + 1e-3 * TIMES)


def test_the_envelope_of_a_burst_is_the_burst() -> None:
    """In step with it, whatever the drift; the envelope of noise wavers, so to what that leaves."""
    found = envelopes(TIMES, raw(BURST)[:, None], ["soleus"])
    level = found.activity[:, 0]
    assert level.max() == 1.0
    assert level.min() >= 0.0
    assert np.corrcoef(level, BURST)[0, 1] > 0.97
    middle = np.sum(level * TIMES) / np.sum(level)
    assert middle == pytest.approx(2.0, abs=0.03)
    assert found.notes[0].startswith(
        "soleus: band-passed 20 to 450 Hz, rectified, low-passed 6 Hz, normalised by its"
    )


def test_the_filter_is_not_late() -> None:
    """Turned round in time, a signal gives its envelope turned round."""
    one = envelopes(TIMES, raw(BURST)[:, None], ["a"]).activity[:, 0]
    other = envelopes(TIMES, raw(BURST)[::-1][:, None], ["a"]).activity[::-1, 0]
    assert one[500:-500] == pytest.approx(other[500:-500], abs=1e-3)


def test_the_unit_does_not_matter_and_full_effort_does() -> None:
    volts, millivolts = (envelopes(TIMES, scale * raw(BURST)[:, None], ["a"]) for scale in (1.0, 1e3))
    assert volts.activity == pytest.approx(millivolts.activity, abs=1e-12)
    top = float(envelopes(TIMES, raw(BURST)[:, None], ["a"]).notes[0].split("(")[1][:-1])
    half = envelopes(TIMES, raw(BURST)[:, None], ["a"], full_effort={"a": 2.0 * top})
    assert half.activity == pytest.approx(0.5 * volts.activity, rel=1e-3)
    assert "normalised by full effort" in half.notes[0]


def test_what_is_an_envelope_already_is_left_alone_and_told() -> None:
    both = np.stack([0.4 * BURST + 0.1, raw(BURST)], axis=1)
    found = envelopes(TIMES, both, ["done", "raw"])
    assert found.activity[:, 0] == pytest.approx(both[:, 0] / both[:, 0].max(), abs=1e-15)
    assert (
        found.notes[0] == "done: is an envelope already, kept as it is, normalised by its largest value (0.5)"
    )
    assert not is_envelope(np.abs(raw(BURST) - raw(BURST).mean()), 1000.0)  # rectified only
    assert not is_envelope(BURST - 0.5, 1000.0)


def test_the_walkers_emg_is_known_as_enveloped(data: Path) -> None:
    lines = (data / "walk" / "electromyography.sto").read_text().splitlines()
    head = lines.index("endheader") + 1
    names = lines[head].split("\t")[1:]
    table = np.array([[float(value) for value in line.split("\t")] for line in lines[head + 1 :]])
    found = envelopes(table[:, 0], table[:, 1:], names)
    assert all("is an envelope already" in note for note in found.notes)
    assert found.activity == pytest.approx(np.maximum(table[:, 1:], 0.0) / table[:, 1:].max(axis=0))
    cut = [note.split(":")[0] for note in found.notes if "below zero, cut" in note]
    assert cut == ["tibialis_anterior", "biceps_femoris"]


def test_bad_signals_are_refused() -> None:
    signal = raw(BURST)[:, None]
    broken = signal.copy()
    broken[1500] = np.nan
    with pytest.raises(EcorcheError, match=r"EMG channel 'soleus', 1.5 s: the signal is not a number"):
        envelopes(TIMES, broken, ["soleus"])
    with pytest.raises(
        EcorcheError, match=r"from 20 to 450 Hz and a low-pass of 6 Hz do not fit 500 samples"
    ):
        envelopes(2.0 * TIMES, signal, ["soleus"])
    with pytest.raises(EcorcheError, match=r"'soleus': it has no activity to normalise by. Leave it out"):
        envelopes(TIMES, 0.0 * signal, ["soleus"])
    with pytest.raises(EcorcheError, match=r"above its full effort 1e-05"):
        envelopes(TIMES, signal, ["soleus"], full_effort={"soleus": 1e-5})
    with pytest.raises(EcorcheError, match=r"no channel 'solus'. Did you mean 'soleus'\?"):
        envelopes(TIMES, signal, ["soleus"], full_effort={"solus": 1.0})
    with pytest.raises(EcorcheError, match=r"times are not evenly spaced"):
        envelopes(TIMES**2 + TIMES, signal, ["soleus"])
    with pytest.raises(EcorcheError, match=r"do not fit 2 channels"):
        envelopes(TIMES, signal, ["a", "b"])


def written(folder: Path, text: str) -> Path:
    path = folder / "channels.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_table_says_which_muscles_a_channel_lies_on(tmp_path: Path) -> None:
    text = "channel,muscle,side\ngastro,gasmed,right\ngastro,gaslat,both\n\nback,erector spinae,\n"
    placements = read_placements(written(tmp_path, text))
    assert [(one.channel, one.muscle) for one in placements] == [
        ("gastro", "gasmed_r"),
        ("gastro", "gaslat_r"),
        ("gastro", "gaslat_l"),
        ("back", "erector spinae"),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("muscle,channel\n", "line 1: the table has no columns channel, muscle, side"),
        ("channel,muscle,side\na,b,middle\n", "line 2: the side 'middle' is unknown"),
        ("channel,muscle,side\na,b\n", "line 2: .* is not channel, muscle, side"),
        ("channel,muscle,side\na,b,left\na,b,both\n", "line 3: 'a' lies on 'b_l' twice"),
    ],
)
def test_bad_tables_are_refused(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ReadError, match=message):
        read_placements(written(tmp_path, text))


def test_channels_reach_their_muscles_at_any_time() -> None:
    emg = Emg(TIMES, ("a", "b"), np.stack([0.0 * TIMES + 0.2, 0.25 * TIMES], axis=1), ("", ""))
    placed = [Placement("a", "m"), Placement("b", "m"), Placement("b", "n")]
    found = measured_activation(emg, placed, ["m", "n", "other"], [1.0, 2.0005])
    assert found[:, :2] == pytest.approx(np.array([[0.225, 0.25], [0.3500625, 0.500125]]))
    assert np.isnan(found[:, 2]).all()
    given: list[tuple[Any, str]] = [
        ((emg, [Placement("c", "m")], ["m"], [1.0]), "no channel 'c'"),
        ((emg, [Placement("a", "k")], ["m"], [1.0]), "no muscle 'k'"),
        ((emg, placed, ["m", "n"], [5.0]), "the motion runs from 5 to 5 s. Cut the motion"),
    ]
    for arguments, message in given:
        with pytest.raises(EcorcheError, match=message):
            measured_activation(*arguments)
