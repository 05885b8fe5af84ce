"""C3D trials written by ezc3d: markers, channels, and force plates against ezc3d's own."""

from __future__ import annotations

import sys
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from conftest import skip_or_fail
from ecorche.errors import MissingPackageError, ReadError
from ecorche.io.c3d import read_c3d
from ecorche.io.force_plates import Plate, plate_forces

Floats = npt.NDArray[np.float64]
CORNERS = np.array([[0.5, 0.0, 0.01], [0.0, 0.0, 0.0], [0.0, 0.4, 0.0], [0.5, 0.4, 0.01]])


@pytest.fixture(scope="module")
def ezc3d() -> Any:
    try:
        import ezc3d as package
    except ImportError:
        skip_or_fail("the package ezc3d is not installed")
    return package


@cache
def _writer() -> ProcessPoolExecutor:
    """A process of its own: where OpenSim is loaded too, ezc3d reads but cannot write."""
    return ProcessPoolExecutor(1, mp_context=get_context("spawn"))


def trial(path: Path, kind: int, unit: str = "mm", **changes: Any) -> Floats:
    """Write two markers at 100 Hz, one with a gap, and a plate at 1 kHz; the markers as written [unit]."""
    return _writer().submit(_write, path, kind, unit, changes).result()


def _write(path: Path, kind: int, unit: str, changes: dict[str, Any]) -> Floats:
    import ezc3d

    rng, frames, channels = np.random.default_rng(kind), 20, 8 if kind == 3 else 6
    size = {"mm": 1.0, "m": 1e-3}[unit]
    file = ezc3d.c3d()
    groups = file["parameters"]
    points = np.ones((4, 2, frames))
    points[:3] = rng.normal(size=(3, 2, frames)) * 100.0 * size
    points[:3, 1, 5] = np.nan
    groups["POINT"]["RATE"]["value"] = [100]
    groups["POINT"]["LABELS"]["value"] = changes.get("labels", ("heel", "toe"))
    groups["POINT"]["UNITS"]["value"] = (changes.get("named", unit),)
    file["data"]["points"] = points
    volts = rng.normal(size=(1, channels + 1, frames * 10)) * 20.0
    volts[0, 2 if kind != 3 else slice(4, 8)] -= 700.0 if kind != 3 else 180.0
    volts[0, :channels, -15:] *= 1e-3  # nobody stands there
    if kind != 3:
        volts[0, 3:6] *= 100.0 * size
    groups["ANALOG"]["RATE"]["value"] = [1000]
    groups["ANALOG"]["LABELS"]["value"] = (*(f"f{k}" for k in range(channels)), "soleus")
    moments = (unit if kind == 1 else f"N{unit}",) * 2 + (f"N{unit}",)
    groups["ANALOG"]["UNITS"]["value"] = (
        *("N",) * (channels - 3),
        *(moments if kind != 3 else ("N",) * 3),
        "V",
    )
    file["data"]["analogs"] = volts
    plate = groups["FORCE_PLATFORM"]
    plate["USED"]["value"] = np.array([1])
    plate["TYPE"]["value"] = np.array([kind])
    plate["CORNERS"]["value"] = CORNERS.T[:, :, None] * 1e3 * size
    origin = np.array([[120.0], [200.0], [-45.0]]) if kind == 3 else np.array([[0.7], [0.3], [-36.0]])
    plate["ORIGIN"]["value"] = origin * size
    plate["CHANNEL"]["value"] = np.arange(1, channels + 1)[:, None] + changes.get("shift", 0)
    matrix = np.eye(6) * 1.1 + rng.normal(size=(6, 6)) * 0.01
    plate["CAL_MATRIX"]["value"] = matrix[:, :, None]
    file.write(str(path))
    return points


@pytest.mark.parametrize("kind", [1, 2, 3, 4])
def test_plates_are_those_of_ezc3d(ezc3d: Any, tmp_path: Path, kind: int) -> None:
    """Force, point and free moment in the laboratory, while somebody stands on it."""
    path = tmp_path / "trial.c3d"
    trial(path, kind)
    theirs = ezc3d.c3d(str(path), extract_forceplat_data=True)["data"]["platform"][0]
    (plate,) = read_c3d(path).plates
    stood = np.linalg.norm(plate.force, axis=1) > 50.0
    assert stood.sum() == 185
    assert (plate.force[stood, 2] > 400.0).all()  # up: what the plate does to the person
    np.testing.assert_allclose(plate.force, theirs["force"].T, atol=1e-9)
    np.testing.assert_allclose(plate.point[stood], theirs["center_of_pressure"].T[stood] * 1e-3, atol=1e-9)
    np.testing.assert_allclose(plate.moment[stood], theirs["Tz"].T[stood] * 1e-3, atol=1e-9)
    # untouched, the point is the middle: no division by nearly nothing
    np.testing.assert_allclose(plate.point[~stood], np.tile(CORNERS.mean(axis=0), (15, 1)), atol=1e-9)
    if kind != 1:  # there theirs is force times arm, not arm times force
        whole = np.cross(plate.point - CORNERS.mean(axis=0), plate.force) + plate.moment
        np.testing.assert_allclose(whole, theirs["moment"].T * 1e-3, atol=1e-9)  # in every sample


@pytest.mark.parametrize("kind", [1, 2, 4])
def test_metres_and_millimetres_are_the_same_trial(ezc3d: Any, tmp_path: Path, kind: int) -> None:
    for unit in ("mm", "m"):
        trial(tmp_path / f"{unit}.c3d", kind, unit)
    small, large = (read_c3d(tmp_path / f"{unit}.c3d") for unit in ("mm", "m"))
    np.testing.assert_allclose(small.markers.positions, large.markers.positions, atol=1e-7)
    if kind != 4:  # a matrix of type 4 has units of its own
        np.testing.assert_allclose(small.plates[0].point, large.plates[0].point, atol=1e-5)
        np.testing.assert_allclose(small.plates[0].moment, large.plates[0].moment, atol=1e-3)


def test_markers_and_channels(ezc3d: Any, tmp_path: Path) -> None:
    points = trial(tmp_path / "a.c3d", 2)
    found = read_c3d(tmp_path / "a.c3d")
    assert found.markers.names == ("heel", "toe")
    assert found.markers.gaps() == {"toe": 1}
    np.testing.assert_allclose(found.markers.positions, points[:3].transpose(2, 1, 0) * 1e-3, atol=1e-7)
    assert found.markers.rate == pytest.approx(100.0)
    assert found.analog is not None
    assert found.analog.names[-1] == "soleus"
    assert found.analog.units[-1] == "V"
    assert found.analog.times[1] - found.analog.times[0] == pytest.approx(0.001)
    assert found.analog.of("soleus").shape == (200,)
    assert found.analog.times[0] == found.markers.times[0]


def test_bad_trials_are_refused(ezc3d: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.c3d"
    path.write_bytes(b"not at all" * 99)
    with pytest.raises(ReadError, match=r"a.c3d: is no C3D file. Choose"):
        read_c3d(path)
    trial(path, 2, shift=3)
    with pytest.raises(ReadError, match=r"plate 1 reads channel 9 of 7. Mend FORCE_PLATFORM:CHANNEL"):
        read_c3d(path)
    trial(path, 2, labels=("toe", "toe"))
    with pytest.raises(ReadError, match=r"points have the same name: 'toe'"):
        read_c3d(path)
    trial(path, 2, named="yd")
    with pytest.raises(ReadError, match=r"its unit of length is 'yd'"):
        read_c3d(path)
    monkeypatch.setitem(sys.modules, "ezc3d", None)
    with pytest.raises(MissingPackageError, match=r'pip install "ecorche\[biomech\]"'):
        read_c3d(path)


def test_damaged_trials_are_refused_before_a_library_reads_them(ezc3d: Any, tmp_path: Path) -> None:
    path = tmp_path / "a.c3d"
    trial(path, 2)
    whole = path.read_bytes()
    for change, message in (
        (whole[:-2048], r"it is cut off: 20 frames need \d+ bytes. It is damaged"),
        (whole.replace(b"SCALE", b"SKALE"), r"it has no parameter POINT:SCALE"),
        (whole.replace(b"OFFSET", b"OFFSAT"), r"ANALOG:OFFSET is missing or too short for 7 channels"),
        (
            whole[:1024] + b"x" + whole[1024:],
            r"is not as long as its record|leads beyond|is broken|has no kind",
        ),
    ):
        path.write_bytes(change)
        with pytest.raises(ReadError, match=message):
            read_c3d(path)


def test_a_weight_on_a_corner_presses_there() -> None:
    """Type 3, by hand: 100 N up on the sensor at (+x, +y) only, which is sensor 1."""
    plate = Plate(
        "plate", 3, np.array([[1.0, 1, 0], [-1, 1, 0], [-1, -1, 0], [1, -1, 0]]), np.array([0.8, 0.9, 0.05])
    )
    one = plate_forces(plate, np.array([[0.0, 0, 0, 0, 100.0, 0, 0, 0]]), np.zeros(1))
    np.testing.assert_allclose(one.force, [[0.0, 0.0, 100.0]])
    np.testing.assert_allclose(one.point, [[0.8, 0.9, 0.0]])
    np.testing.assert_allclose(one.moment, np.zeros((1, 3)), atol=1e-12)


def test_plates_that_cannot_be_read_are_refused() -> None:
    flat = np.zeros((4, 3))
    with pytest.raises(ReadError, match=r"plate: is of type 7. Types 1, 2, 3 and 4 can be read"):
        plate_forces(Plate("plate", 7, CORNERS, np.zeros(3)), np.zeros((1, 6)), np.zeros(1))
    with pytest.raises(ReadError, match=r"of type 3 has 6 channels, not 8"):
        plate_forces(Plate("plate", 3, CORNERS, np.zeros(3)), np.zeros((1, 6)), np.zeros(1))
    with pytest.raises(ReadError, match=r"its corners span no surface"):
        plate_forces(Plate("plate", 2, flat, np.zeros(3)), np.zeros((1, 6)), np.zeros(1))
    with pytest.raises(ReadError, match=r"of type 4 has no calibration"):
        plate_forces(Plate("plate", 4, CORNERS, np.zeros(3)), np.zeros((1, 6)), np.zeros(1))
