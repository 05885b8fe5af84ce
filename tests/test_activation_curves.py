"""Activation from a table: read strictly, found by name, part or group, smooth between keys; edited."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ecorche.errors import EcorcheError, ReadError, WriteError
from ecorche.io.activation import read_activation, write_activation
from ecorche.muscles.activation import Constant, Curves
from ecorche.muscles.edit_curves import curves_of, scaled, shifted, tensed, thinned
from ecorche.muscles.keyed_activation import KeyedActivation
from ecorche.muscles.muscle import Muscle
from ecorche.skeleton.motion import Motion, bind_pose
from ecorche.skeleton.standing import standing_figure

Floats = npt.NDArray[np.float64]
CURVES = {
    "biceps, long, left": (np.array([0.0, 0.1, 1.0]), np.array([0.0, 0.7, 1.0 / 3.0])),
    "soleus": (np.array([0.1, 0.4]), np.array([1.0, 0.25])),
}
STORAGE = "states\nversion=1\nnRows=2\nnColumns=3\ninDegrees=no\nendheader\n"


def _muscle(name: str, muscle: str, group: str) -> Muscle:
    shape = np.full((2, 4), 0.02)
    ends = np.array([[0.0, 0.0, 0.0], [0.0, 0.3, 0.0]])
    return Muscle(name, muscle, group, (0, 1), ends, np.eye(3)[2], shape, np.zeros((2, 4, 2)), 0.5, 1.0)


MUSCLES = (
    _muscle("biceps, long, left", "biceps", "elbow flexors"),
    _muscle("biceps, short, left", "biceps", "elbow flexors"),
    _muscle("brachialis, left", "brachialis", "elbow flexors"),
    _muscle("soleus, left", "soleus", "plantarflexors"),
)


def _motion(times: list[float]) -> Motion:
    pose = bind_pose(standing_figure())
    return Motion("still", pose.skeleton, np.array(times), np.repeat(pose.local, len(times), axis=0))


def _written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "curves.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_the_nearer_name_wins_and_others_keep_their_source(tmp_path: Path) -> None:
    path = _written(
        tmp_path, 'time,elbow flexors,biceps,"biceps, long, left"\n0,0.1,0.2,0.3\n1,0.1,0.2,0.9\n'
    )
    source = KeyedActivation(MUSCLES, read_activation(path), Constant(np.full(4, 0.5)))
    active = source.over(_motion([0.0, 0.5, 1.0, 2.0]))
    np.testing.assert_allclose(active[:, 1], 0.2)
    np.testing.assert_allclose(active[:, 2], 0.1)
    np.testing.assert_allclose(active[:, 3], 0.5)
    np.testing.assert_allclose(active[:, 0], [0.3, 0.6, 0.9, 0.9])


def test_empty_cells_are_no_keys(tmp_path: Path) -> None:
    keys = read_activation(_written(tmp_path, "time,biceps,soleus\n0,0,\n0.5,,1\n\n1,1,0\n"))
    np.testing.assert_array_equal(keys["biceps"], [[0.0, 1.0], [0.0, 1.0]])
    np.testing.assert_array_equal(keys["soleus"], [[0.5, 1.0], [1.0, 0.0]])


def test_an_unknown_muscle_is_refused_with_the_nearest(tmp_path: Path) -> None:
    keys = read_activation(_written(tmp_path, "time,bicep\n0,0\n"))
    with pytest.raises(EcorcheError, match=r"no muscle or group 'bicep'.*biceps"):
        KeyedActivation(MUSCLES, keys, Constant(np.zeros(4)))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "does not begin with 'time'"),
        ("biceps,soleus\n0,0\n", "does not begin with 'time'"),
        ("time,biceps,biceps\n0,0,0\n", "two columns are named 'biceps'"),
        ("time,biceps\n0,50\n", r"row 2, column 'biceps': the activation 50 is not between 0 and 1"),
        ("time,biceps\n0,nan\n", r"row 2, column 'biceps': 'nan' is no number"),
        ("time,biceps\nx,0\n", r"row 2, column 'time': 'x' is no number"),
        ("time,biceps\n1,0\n0,0\n", "times do not rise"),
        ("time,biceps\n0,0,3\n", "3 cells for 2 columns"),
        ("time,biceps\n0,\n", "column 'biceps' is empty"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ReadError, match=message):
        read_activation(_written(tmp_path, text))


# written, and read again


def test_csv_keeps_every_key_to_the_last_bit(tmp_path: Path) -> None:
    path = tmp_path / "curves.csv"
    write_activation(path, CURVES)
    found = read_activation(path)
    assert list(found) == list(CURVES)
    for name, (times, values) in CURVES.items():
        assert found[name][0].tobytes() == times.tobytes()
        assert found[name][1].tobytes() == values.tobytes()
    again = tmp_path / "again.csv"
    write_activation(again, found)
    assert again.read_bytes() == path.read_bytes()


@pytest.mark.parametrize(
    ("naming", "column"),
    [("path", "/forceset/biceps,_long,_left/activation"), ("dot", "biceps,_long,_left.activation")],
)
def test_opensim_s_storage_holds_the_same_curves(
    tmp_path: Path, naming: Literal["path", "dot"], column: str
) -> None:
    path = tmp_path / "curves.sto"
    write_activation(path, CURVES, naming=naming)
    lines = path.read_text().splitlines()
    assert lines[1:6] == ["version=1", "nRows=4", "nColumns=3", "inDegrees=no", "endheader"]
    assert lines[6].split("\t")[:2] == ["time", column]
    found = read_activation(path)
    assert list(found) == ["biceps,_long,_left", "soleus"]
    for (times, values), of_file in zip(CURVES.values(), found.values(), strict=True):
        np.testing.assert_array_equal(of_file[0], [0.0, 0.1, 0.4, 1.0])
        np.testing.assert_allclose(Curves([of_file]).at(times)[:, 0], values, atol=1e-15)
    # and its names lead to our muscles
    active = KeyedActivation(MUSCLES, found, Constant(np.zeros(4))).over(_motion([0.1, 0.4]))
    np.testing.assert_allclose(active[:, [0, 3]], [[0.7, 1.0], [found["biceps,_long,_left"][1][2], 0.25]])
    assert not active[:, 1:3].any()


def test_states_that_opensim_computed_are_read(data: Path) -> None:
    """Published results of a flexing arm: activations among lengths of fibres, angles and speeds."""
    folder = data / "arm26" / "reference" / "ComputedMuscleControl" / "Results"
    keys = read_activation(folder / "arm26_states.sto")
    assert list(keys) == ["TRIlong", "TRIlat", "TRImed", "BIClong", "BICshort", "BRA"]
    times, values = keys["BIClong"]
    assert len(times) == 441
    assert times[0] == 0.03
    assert (values[0], values[1]) == (0.02, 0.02044965)
    # controls also hold motors that pull both ways: told, not dropped
    with pytest.raises(ReadError, match=r"column 'r_elbow_flex_reserve': the activation -0\.005"):
        read_activation(folder / "arm26_controls.sto")
    # a file of angles alone, whose header counts its columns wrong, as OpenSim left it
    with pytest.raises(
        ReadError, match=r"column '/jointset/ground_pelvis/pelvis_tilt/value': the activation -0\.0002"
    ):
        read_activation(data / "walk" / "coordinates.sto")


def test_a_newer_header_and_columns_between_others_are_read(tmp_path: Path) -> None:
    path = tmp_path / "moco.sto"
    names = ("/jointset/hip/flexion/value", "/forceset/leg/soleus_r/activation", "/forceset/soleus_r/force")
    path.write_text(
        "inDegrees=no\nnum_controls=3\nDataType=double\nversion=3\nOpenSimVersion=4.5\nendheader\n"
        + "\t".join(["time", *names])
        + "\n0\t-2.5\t0.5\t900\n  1.0\t 3.0\t 0.75\t 800\n"
    )
    keys = read_activation(path)
    assert list(keys) == ["soleus_r"]
    np.testing.assert_array_equal(keys["soleus_r"], [[0.0, 1.0], [0.5, 0.75]])
    plain = tmp_path / "controls.sto"
    plain.write_text("endheader\ntime\t/forceset/soleus_r\n0\t0.5\n")
    assert list(read_activation(plain)) == ["soleus_r"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no line 'endheader'"),
        ("endheader\n", "does not name a time and muscles"),
        ("DataType=Vec3\nendheader\ntime\ta\n0\t1,2,3\n", "holds 'Vec3'"),
        (STORAGE + "time\ta\tb\n0\t0\t0\n", "promises 2 rows, but it has 1"),
        (STORAGE + "time\ta\tb\n0\t0\n1\t0\t0\n", "line 8: is not 3 numbers"),
        (STORAGE + "time\ta\tb\n0\t0\tx\n1\t0\t0\n", "line 8: is not 3 numbers"),
        (STORAGE + "time\ta\tb\n0\t0\tnan\n1\t0\t0\n", "line 8: the value of 'b' is not a finite"),
        (STORAGE + "time\ta\tb\n1\t0\t0\n1\t0\t0\n", "line 9: times do not rise"),
        (STORAGE + "time\ta\tb\n0\t0\t2\n1\t0\t0\n", r"0 s, column 'b': the activation 2 is not"),
        (STORAGE + "time\ta.activation\t/f/a/activation\n0\t0\t0\n1\t0\t0\n", "two columns are named 'a'"),
        ("endheader\ntime\ta\n", "it has no rows"),
    ],
)
def test_what_is_wrong_in_storage_is_named(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "bad.sto"
    path.write_text(text)
    with pytest.raises(ReadError, match=message):
        read_activation(path)


@given(st.binary(max_size=200), st.sampled_from(["", STORAGE, STORAGE + "time\ta\tb\n"]))
@settings(max_examples=60)
def test_damaged_storage_is_refused_in_words(damage: bytes, head: str) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "damaged.sto"
        path.write_bytes(head.encode() + damage)
        told = ""
        try:
            told = ", ".join(read_activation(path))
        except ReadError as refused:
            told = str(refused)
        assert told


def test_curves_that_cannot_be_written_are_named(tmp_path: Path) -> None:
    with pytest.raises(WriteError, match="there are no curves"):
        write_activation(tmp_path / "a.csv", {})
    with pytest.raises(WriteError, match=r"curve 'soleus': the activation 2 is not between"):
        write_activation(tmp_path / "a.csv", {"biceps": ([0.0], [0.5]), "soleus": ([0.0], [2.0])})
    with pytest.raises(WriteError, match=r"'\.txt' is no kind of file.*\.sto for OpenSim"):
        write_activation(tmp_path / "a.txt", CURVES)
    with pytest.raises(WriteError, match="cannot be named 'a/b'"):
        write_activation(tmp_path / "a.sto", {"a/b": ([0.0], [0.5])})
    with pytest.raises(WriteError, match="cannot be named 'a b'"):
        write_activation(tmp_path / "a.sto", {"a b": ([0.0], [0.5]), "a_b": ([0.0], [0.5])})
    with pytest.raises(WriteError, match="no way 'slash' to name columns"):
        write_activation(tmp_path / "a.sto", CURVES, naming="slash")  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())
    with pytest.raises(EcorcheError, match="two curves are for 'elbow flexors'"):
        KeyedActivation(
            MUSCLES, {"elbow flexors": ([0.0], [0.5]), "elbow_flexors": ([0.0], [0.6])}, Constant([0.0] * 4)
        )


# edited


@given(st.integers(0, 1000), st.sampled_from([0.001, 0.01, 0.1]))
@settings(max_examples=30)
def test_thinned_curves_stay_within_the_tolerance(seed: int, tolerance: float) -> None:
    rng = np.random.default_rng(seed)
    times = np.arange(120) / 30.0
    values = np.clip(np.convolve(rng.uniform(-0.5, 1.5, 140), np.hanning(21) / 10.0, "valid"), 0.0, 1.0)
    some, kept = thinned((times, values), tolerance)
    assert len(some) <= len(times)
    assert np.abs(Curves([(some, kept)]).at(times)[:, 0] - values).max() <= tolerance
    assert np.isin(some, times).all()


def test_a_smooth_curve_needs_few_keys_and_an_idle_muscle_one() -> None:
    times = np.arange(240) / 60.0
    bump = 0.8 * np.exp(-((times - 2.0) ** 2) / 0.1)
    made = curves_of(["biceps", "soleus"], times, np.stack([bump, np.zeros(240)], axis=-1))
    assert 3 <= len(made["biceps"][0]) <= 25
    assert made["soleus"][0].tolist() == [0.0]
    assert made["soleus"][1].tolist() == [0.0]
    with pytest.raises(EcorcheError, match=r"activations \(240,\) are not for 240 frames of 1 muscles"):
        curves_of(["biceps"], times, bump)


def test_without_a_tolerance_every_key_is_kept_that_is_needed() -> None:
    times, values = np.arange(174) / 120.0, np.random.default_rng(0).random(174)
    values[60:120] = 0.0  # work, rest, and work
    kept, found = thinned((times, values), 0.0)
    assert len(kept) < 130
    assert np.abs(Curves([(kept, found)]).at(times)[:, 0] - values).max() < 1e-15


def test_edits_do_what_they_say_and_stay_in_range() -> None:
    curve = (np.array([0.0, 1.0, 2.0]), np.array([0.1, 0.6, 0.0]))
    np.testing.assert_allclose(scaled(curve, 2.0)[1], [0.2, 1.0, 0.0])
    np.testing.assert_allclose(shifted(curve, -0.5)[0], [-0.5, 0.5, 1.5])
    held = Curves([tensed(curve, 1.5, 3.0, 0.5)])
    times = np.linspace(-1.0, 5.0, 601)
    before, after = Curves([curve]).at(times)[:, 0], held.at(times)[:, 0]
    loaded = (times >= 1.5) & (times <= 3.0)
    assert (after[loaded] >= 0.5 - 1e-12).all()
    away = (times < 1.0) | (times > 3.2)
    np.testing.assert_allclose(after[away], before[away], atol=0.02)
    assert np.abs(np.diff(after)).max() < 0.06  # it is eased, not switched
    for wrong in ((2.0, 1.0, 0.5, 0.1), (1.0, 2.0, 1.5, 0.1), (1.0, 2.0, 0.5, 0.0)):
        with pytest.raises(EcorcheError, match="cannot be"):
            tensed(curve, *wrong)
    with pytest.raises(EcorcheError, match="gain of -1"):
        scaled(curve, -1.0)
