"""Skin that slides along itself until it is stretched evenly."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
import trimesh

from ecorche.base.threads import at_most_threads
from ecorche.skin.even_stretch import EvenStretch
from ecorche.skin.two_rings import two_rings

Points = npt.NDArray[np.float32]


@pytest.fixture(scope="module")
def sheet() -> tuple[Points, npt.NDArray[np.int64]]:
    """A flat square of 21 × 21 vertices, 10 cm wide, facing up."""
    x, y = np.meshgrid(np.linspace(0.0, 0.1, 21), np.linspace(0.0, 0.1, 21), indexing="ij")
    a = np.arange(441).reshape(21, 21)[:-1, :-1].ravel()
    triangles = np.concatenate([np.stack([a, a + 21, a + 1], 1), np.stack([a + 1, a + 21, a + 22], 1)])
    return np.stack([x, y, np.zeros_like(x)], -1).reshape(-1, 3).astype(np.float32), triangles


def test_a_stretched_sheet_evens_out(sheet: tuple[Points, npt.NDArray[np.int64]]) -> None:
    points, triangles = sheet
    up = np.tile(np.array([0.0, 0.0, 1.0], np.float32), (441, 1))
    inner = ((points[:, :2] > 0.001) & (points[:, :2] < 0.099)).all(axis=1)
    # a strip in the middle is drawn to twice its width, its neighbours gather
    x = points[:, 0].astype(np.float64)
    drawn = points.copy()
    drawn[:, 0] = np.where(inner, np.interp(x, [0.0, 0.04, 0.06, 0.1], [0.0, 0.03, 0.07, 0.1]), x)

    def unevenness(at: Points) -> float:
        step = np.diff(at[:, 0].reshape(21, 21)[:, 10])
        return float(np.std(step) / np.mean(step))

    slid = [
        EvenStretch(points, up, two_rings(points, triangles), inner, rounds=rounds).along(drawn, up)
        for rounds in (4, 60)
    ]
    assert unevenness(drawn) > 0.4
    assert unevenness(drawn + slid[0]) < 0.85 * unevenness(drawn)
    assert unevenness(drawn + slid[1]) < 0.3 * unevenness(drawn)
    for step in slid:
        assert not step[:, 2].any()  # it stays in its plane
        assert not step[~inner].any()  # held where it does not slide
    still = EvenStretch(points, up, two_rings(points, triangles), inner)
    assert not still.along(points, up).any()
    with at_most_threads(1):
        found = EvenStretch(points, up, two_rings(points, triangles), inner, rounds=4).along(drawn, up)
    np.testing.assert_array_equal(found, slid[0])


def test_it_slides_along_a_ball_and_not_out_of_it() -> None:
    ball = trimesh.creation.icosphere(4, radius=0.1)
    points, triangles = np.asarray(ball.vertices, np.float32), np.asarray(ball.faces, np.int64)
    up = (points / 0.1).astype(np.float32)
    skin = EvenStretch(points, up, two_rings(points, triangles), np.ones(len(points)))
    assert not skin.along(points, up).any()
    rng = np.random.default_rng(2)
    shaken = points + 0.003 * rng.normal(size=points.shape)
    normals = (shaken / np.linalg.norm(shaken, axis=1)[:, None]).astype(np.float32)
    shaken = (0.1 * normals).astype(np.float32)
    step = skin.along(shaken, normals)
    assert np.abs(step).max() > 1e-3
    assert np.abs(np.sum(step * normals, axis=1)).max() < 1e-7
    before, after = (np.linalg.norm(at - points, axis=1) for at in (shaken, shaken + step))
    assert np.sqrt(np.mean(after**2)) < 0.7 * np.sqrt(np.mean(before**2))


def test_skin_on_both_sides_of_a_seam_slides_alike(sheet: tuple[Points, npt.NDArray[np.int64]]) -> None:
    points, triangles = sheet
    seam = np.arange(10 * 21, 11 * 21)
    right = points[triangles][:, :, 0].max(axis=1) > 0.0501
    renamed = np.arange(441)
    renamed[seam] = np.arange(441, 462)
    faces = np.where(right[:, None], renamed[triangles], triangles)
    whole, cut = points, np.concatenate([points, points[seam]])
    bent = whole.copy()
    bent[:, 0] += (0.003 * np.sin(40.0 * whole[:, 1])).astype(np.float32)
    found = []
    for at, corners, posed in ((whole, triangles, bent), (cut, faces, np.concatenate([bent, bent[seam]]))):
        up = np.tile(np.array([0.0, 0.0, 1.0], np.float32), (len(at), 1))
        share = (at[:, 0] > 0.001) & (at[:, 0] < 0.099)
        found.append(EvenStretch(at, up, two_rings(at, corners), share).along(posed, up))
    assert np.abs(found[0]).max() > 1e-4
    np.testing.assert_array_equal(found[1][:441], found[0])
    np.testing.assert_array_equal(found[1][441:], found[0][seam])
