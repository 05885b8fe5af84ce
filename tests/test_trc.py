"""Marker files and ground forces: units, gaps, names, and what is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ecorche.base.recordings import Y_UP_FROM_Z_UP, ForceRecording, MarkerRecording
from ecorche.errors import MotionError, ReadError, WriteError
from ecorche.io.external_loads import read_external_loads
from ecorche.io.opensim_storage import read_table, write_table
from ecorche.io.trc import read_trc, write_trc

WALK = Path("walk", "markers_walk.trc")


def trc(
    path: Path,
    unit: str = "mm",
    rows: str = "1\t0.0\t1\t2\t3\t4\t5\t6\n2\t0.01\t1\t2\t3\t4\t5\t6\n",
    frames: int = 2,
) -> Path:
    path.write_text(
        "PathFileType\t4\t(X/Y/Z)\tx.trc\n"
        "DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames\n"
        f"100\t100\t{frames}\t2\t{unit}\t100\t1\t{frames}\n"
        "Frame#\tTime\tknee\t\t\theel\t\t\n\t\tX1\tY1\tZ1\tX2\tY2\tZ2\n\n" + rows
    )
    return path


def test_a_walk_is_read_in_metres(data: Path) -> None:
    markers = read_trc(data / WALK)
    assert (len(markers.names), markers.positions.shape, markers.gaps()) == (41, (238, 41, 3), {})
    assert markers.rate == pytest.approx(100.0)
    np.testing.assert_allclose(markers.of("R.Shoulder")[0], [-0.652630, 1.529542, -0.094520], atol=1e-12)
    assert 1.4 < markers.positions[..., 1].max() < 1.8  # a person stands upright along y


@pytest.mark.parametrize(("unit", "metres"), [("mm", 1e-3), ("m", 1.0), ("cm", 0.01), ("in", 0.0254)])
def test_lengths_follow_the_unit_of_the_file(tmp_path: Path, unit: str, metres: float) -> None:
    np.testing.assert_allclose(
        read_trc(trc(tmp_path / "a.trc", unit)).positions[0, 1], np.array([4, 5, 6]) * metres
    )


def test_gaps_are_nan_and_never_zero(tmp_path: Path) -> None:
    rows = "1\t0.0\t\t\t\t4\t5\t6\n2\t0.01\t0.0\t0\t0.000\t4\tNaN\t6\n3\t0.02\t0\t1\t2\t\t\t\n"
    markers = read_trc(trc(tmp_path / "a.trc", rows=rows, frames=3))
    gaps = np.isnan(markers.positions)
    assert gaps.all(axis=2).tolist() == [[True, False], [True, True], [False, True]]
    assert (gaps.any(axis=2) == gaps.all(axis=2)).all()  # a marker is seen or it is not
    assert markers.gaps() == {"knee": 2, "heel": 2}
    assert markers.notes == ("Marker 'knee' is exactly zero in 1 frames: taken for gaps.",)
    assert markers.positions[2, 0].tolist() == [0.0, 0.001, 0.002]


def test_what_is_written_is_read_again(data: Path, tmp_path: Path) -> None:
    markers = read_trc(data / WALK)
    positions = markers.positions.copy()
    positions[3, 5] = np.nan
    made = MarkerRecording(markers.names, markers.times, positions)
    write_trc(tmp_path / "again.trc", made)
    again = read_trc(tmp_path / "again.trc")
    assert again.names == markers.names
    np.testing.assert_array_equal(again.times, markers.times)
    np.testing.assert_allclose(again.positions, positions, rtol=0.0, atol=1e-15)
    with pytest.raises(WriteError, match=r"cannot be named 'a\\tb'"):
        write_trc(tmp_path / "bad.trc", MarkerRecording(("a\tb",), np.arange(2.0), np.zeros((2, 1, 3))))


def test_opensim_reads_the_same(data: Path, tmp_path: Path) -> None:
    from osim_models import opensim_package

    with opensim_package(tmp_path) as opensim:
        theirs = opensim.TimeSeriesTableVec3(str(data / WALK))
        ours = read_trc(data / WALK)
        assert tuple(theirs.getColumnLabels()) == ours.names
        for row in (0, 100, 237):
            flat = [theirs.getRowAtIndex(row)[k].to_numpy() for k in range(41)]
            np.testing.assert_allclose(np.array(flat) * 1e-3, ours.positions[row], rtol=0.0, atol=1e-12)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"unit": "furlong"}, r"its unit of length is 'furlong'. Write one of mm, cm"),
        ({"rows": "1\t0.0\t1\t2\t3\n", "frames": 1}, r"line 7: has 5 cells where 2 markers need 8"),
        ({"rows": "1\t0.0\t1\t2\t3\t4\t5\tx\n", "frames": 1}, r"line 7: holds a word that is no number"),
        ({"rows": "1\t0.0\t1\t2\t3\t4\t5\tinf\n", "frames": 1}, r"holds an infinite number"),
        ({"frames": 3}, r"promises NumFrames=3, but it has 2"),
        ({"rows": "", "frames": 0}, r"it has no frames"),
        ({"rows": "1\t0.0\t1\t2\t3\t4\t5\t6\n2\t0.0\t1\t2\t3\t4\t5\t6\n"}, r"line 8: times do not rise"),
    ],
)
def test_bad_files_are_refused(tmp_path: Path, change: dict[str, object], message: str) -> None:
    with pytest.raises(ReadError, match=message):
        read_trc(trc(tmp_path / "bad.trc", **change))  # type: ignore[arg-type]


def test_other_files_and_doubled_names_are_refused(tmp_path: Path) -> None:
    path = trc(tmp_path / "a.trc")
    path.write_text(path.read_text().replace("heel", "knee"))
    with pytest.raises(ReadError, match=r"markers have the same name: 'knee'"):
        read_trc(path)
    path.write_text("hello\n" * 8)
    with pytest.raises(ReadError, match=r"does not begin with 'PathFileType'"):
        read_trc(path)
    path.write_bytes(bytes(range(128, 256)) * 9)
    with pytest.raises(ReadError, match=r"is no text"):
        read_trc(path)


def test_recordings_are_cut_turned_and_checked(data: Path) -> None:
    markers = read_trc(data / WALK)
    part = markers.between(0.5, 1.0)
    assert (len(part.times), part.times[0]) == (51, 0.5)
    with pytest.raises(MotionError, match=r"no frame lies between 9 and 10 s. Choose times from 0 to 2.37"):
        markers.between(9.0, 10.0)
    with pytest.raises(MotionError, match=r"there is no marker 'R.shulder'. Did you mean 'R.Shoulder'"):
        markers.of("R.shulder")
    z_up = markers.turned(Y_UP_FROM_Z_UP.T)
    np.testing.assert_array_equal(z_up.positions[..., 2], markers.positions[..., 1])
    np.testing.assert_array_equal(z_up.turned(Y_UP_FROM_Z_UP).positions, markers.positions)
    with pytest.raises(MotionError, match=r"positions of shape \(2, 3\) for 2 frames of 1 markers"):
        MarkerRecording(("a",), np.arange(2.0), np.zeros((2, 3)))
    with pytest.raises(MotionError, match=r"times are not evenly spaced: 0.5 s after 1 s"):
        _ = MarkerRecording(("a",), np.array([0.0, 1.0, 1.5, 2.5]), np.zeros((4, 1, 3))).rate
    with pytest.raises(MotionError, match=r"force 'left': a point of shape \(1, 3\) for 2 samples"):
        ForceRecording("left", np.arange(2.0), np.zeros((2, 3)), np.zeros((1, 3)), np.zeros((2, 3)))


def test_ground_forces_of_the_walk(data: Path) -> None:
    """Both feet together carry the person's weight, on average over a stride."""
    right, left = read_external_loads(data / "walk" / "grf_walk.xml").forces
    assert (right.body, left.body) == ("calcn_r", "calcn_l")
    table = read_table(data / "walk" / "grf_walk.mot")
    np.testing.assert_array_equal(right.force[:, 1], table.column("ground_force_r_vy"))
    np.testing.assert_array_equal(left.moment[:, 1], table.column("ground_torque_l_y"))
    with pytest.raises(ReadError, match=r"there is no column 'ground_force_r_vv'. Did you mean"):
        table.column("ground_force_r_vv")


def test_external_loads_that_cannot_be_used_are_refused(tmp_path: Path) -> None:
    times = np.arange(3.0)
    columns = {f"{start}{axis}": np.ones(3) for start in ("f_v", "f_p", "f_t") for axis in "xyz"}
    write_table(tmp_path / "f.mot", "forces", times, columns)
    force = (
        "<ExternalForce name='a'><applied_to_body>foot</applied_to_body>{}"
        "<force_identifier>f_v</force_identifier><point_identifier>f_p</point_identifier></ExternalForce>"
    )

    def loads(text: str) -> Path:
        path = tmp_path / "loads.xml"
        path.write_text(f"<OpenSimDocument>{text}</OpenSimDocument>")
        return path

    whole = "<ExternalLoads><objects>{}</objects><datafile>f.mot</datafile></ExternalLoads>"
    (one,), notes, _ = read_external_loads(loads(whole.format(force.format(""))))
    assert not one.moment.any()
    assert notes == ()
    for off in ("<appliesForce>false</appliesForce>", "<isDisabled> true </isDisabled>"):
        both = force.format("") + force.format(off).replace("'a'", "'b'")
        (one,), notes, _ = read_external_loads(loads(whole.format(both)))
        assert (one.name, notes) == ("a", ("force 'b' is switched off, and left out",))
    frame = "<force_expressed_in_body>foot</force_expressed_in_body>"
    with pytest.raises(ReadError, match=r"force 'a': <force_expressed_in_body> is 'foot', not the ground"):
        read_external_loads(loads(whole.format(force.format(frame))))
    with pytest.raises(ReadError, match=r"<applied_to_body> is missing"):
        read_external_loads(loads(whole.format(force.format("").replace("foot", ""))))
    with pytest.raises(ReadError, match=r"holds no <ExternalForce>"):
        read_external_loads(loads(whole.format("")))
    with pytest.raises(ReadError, match=r"holds no <ExternalLoads>"):
        read_external_loads(loads(""))
    columns["f_px"] = np.array([1.0, np.nan, 1.0])
    write_table(tmp_path / "f.mot", "forces", times, columns)
    with pytest.raises(ReadError, match=r"force 'a' has no number for its point at 1 s"):
        read_external_loads(loads(whole.format(force.format(""))))


def test_tables_keep_gaps_and_say_degrees(tmp_path: Path) -> None:
    path = tmp_path / "a.mot"
    write_table(path, "x", np.arange(2.0), {"hip": np.array([1.0, np.nan])}, degrees=True)
    table = read_table(path)
    assert table.degrees
    np.testing.assert_array_equal(table.column("hip"), [1.0, np.nan])
    path.write_text(path.read_text().replace("nan", "inf"))
    with pytest.raises(ReadError, match=r"line 9: the value of 'hip' is not a finite number"):
        read_table(path)
    with pytest.raises(WriteError, match=r"a column cannot be named 'a b'"):
        write_table(path, "x", np.arange(2.0), {"a b": np.arange(2.0)})
    write_table(path, "x", np.arange(2.0), {"hip": np.arange(2.0), "knee": np.arange(2.0)})
    path.write_text(path.read_text().replace("knee", "hip"))
    with pytest.raises(ReadError, match=r"two columns are named 'hip'"):
        read_table(path)
