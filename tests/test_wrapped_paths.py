"""Rules by which paths wrap, geodesics, and OpenSim files that are refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ecorche.base.rotations import rotation_vector_from_xyzw, xyzw_from_matrix
from ecorche.errors import EcorcheError, ReadError
from ecorche.io.osim import OsimModel, muscle_lengths, read_osim
from ecorche.muscles.lines.geodesic import over_ellipsoid, side_of_chord
from ecorche.muscles.lines.wrapped_path import PlacedSurface, TightPath, WrapSurface, tight_path


@pytest.fixture(scope="module")
def arm(data: Path) -> OsimModel:
    return read_osim(data / "arm26" / "arm26.osim")


def test_a_segment_wraps_by_the_rules() -> None:
    def path(p: Any, q: Any, side: tuple[int, int] | None = None, half: float = 1.0) -> TightPath:
        surface = WrapSurface("cylinder", (0.1, 0.1, half), side)
        return tight_path(np.array([p, q], float), [PlacedSurface(surface, np.eye(4), 0, 1)])

    cut, past = ((-0.3, 0.05, 0.0), (0.3, 0.05, 0.0)), ((-0.3, 0.2, 0.0), (0.3, 0.2, 0.0))
    near = path(*cut)
    assert near.places[1][1] > 0.05
    assert path(*cut, (1, -1)).places[1][1] < 0.0  # by its half, although that is the longer way
    assert path(*cut, (1, -1)).length > near.length
    assert len(path(*past).places) == 2
    assert len(path(*past, (1, 1)).places) == 2
    assert len(path(*past, (1, -1)).places) == 4  # on the other side of its half: always
    assert len(path((-0.05, 0.0, 0.0), (0.3, 0.0, 0.0)).places) == 2  # an end inside
    assert len(path((-0.3, 0.05, 2.0), (0.3, 0.05, 2.0)).places) == 2  # beyond the cylinder's end
    assert len(path((-0.3, 0.05, 2.0), (0.3, 0.05, 2.0), half=2.5).places) == 4


def test_geodesics_on_a_ball_are_great_circles() -> None:
    rng = np.random.default_rng(8)
    radius, found = 0.04, 0
    for _ in range(60):
        p, q = rng.normal(size=(2, 3)) * 0.08
        away = np.linalg.norm(p), np.linalg.norm(q)
        if min(away) < 1.05 * radius:
            continue
        near = side_of_chord(p, q, np.full(3, radius))
        if near is None:
            continue
        found += 1
        detour = over_ellipsoid(p, q, np.full(3, radius), near)
        assert detour is not None
        angle = np.arccos(p @ q / (away[0] * away[1])) - sum(np.arccos(radius / d) for d in away)
        assert detour.arc == pytest.approx(radius * angle, abs=1e-10)
    assert found > 10


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('Version="40000"', 'Version="30000"', "no OpenSim model of version 4"),
        ("<radius>0.016</radius>", "<radius>-1</radius>", "wrap surface 'TRI': the sizes"),
        ("<radius>0.016</radius>", "<radius>wide</radius>", "<radius> is not 1 numbers: 'wide'"),
        ("<quadrant>z</quadrant>", "<quadrant>w</quadrant>", "its quadrant is 'w'"),
        ("<WeldJoint", "<BallJoint", "a BallJoint cannot be read"),
        (
            "/bodyset/r_humerus</socket_parent_frame>",
            "/bodyset/nobody</socket_parent_frame>",
            "no body 'nobody'",
        ),
        (
            "<coordinates>r_elbow_flex</coordinates>",
            "<coordinates>r_elbow</coordinates>",
            "no coordinate 'r_elbow'",
        ),
        ("</Model>", "", "is no XML"),
    ],
)
def test_bad_models_are_refused(data: Path, tmp_path: Path, old: str, new: str, message: str) -> None:
    text = (data / "arm26" / "arm26.osim").read_text()
    assert old in text
    text = text.replace(old, new)
    if "Ball" in new:
        text = text.replace("</WeldJoint>", "</BallJoint>")
    file = tmp_path / "bad.osim"
    file.write_text(text)
    with pytest.raises((ReadError, EcorcheError), match=message):
        read_osim(file)


def test_a_surface_that_cannot_be_wrapped_round_is_told(data: Path, tmp_path: Path, arm: OsimModel) -> None:
    assert arm.notes == ()
    text = (data / "arm26" / "arm26.osim").read_text()
    text = text.replace('<WrapCylinder name="TRI">', '<WrapTorus name="TRI">', 1)
    start = text.index('<WrapTorus name="TRI">')
    end = text.index("</WrapCylinder>", start)
    file = tmp_path / "torus.osim"
    file.write_text(text[:end] + "</WrapTorus>" + text[end + len("</WrapCylinder>") :])
    notes = read_osim(file).notes
    assert len(notes) == 4
    assert "muscle 'TRIlat' does not wrap round 'TRI', which is a WrapTorus" in notes


def test_unknown_names_are_refused(arm: OsimModel) -> None:
    with pytest.raises(EcorcheError, match="there is no coordinate 'elbow'"):
        muscle_lengths(arm, {"elbow": 1.0})
    with pytest.raises(ReadError, match="cannot be opened"):
        read_osim("nowhere.osim")
    turn = arm.bodies(arm.values({"r_elbow_flex": 0.7}))["r_ulna_radius_hand"][:3, :3]
    assert np.linalg.norm(rotation_vector_from_xyzw(xyzw_from_matrix(turn))) == pytest.approx(0.7)
