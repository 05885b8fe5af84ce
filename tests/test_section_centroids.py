"""The middle of a muscle's sections, along its line."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from ecorche.muscles.lines.contraction import section_centroids
from ecorche.muscles.lines.mapping import Mapping

Floats = npt.NDArray[np.float64]


def leaning_tube(rings: int) -> tuple[Floats, npt.NDArray[np.int64]]:
    """A square tube along z, its middle from x = 0 to 1 cm; one of its sides has most of the vertices."""
    outline = np.concatenate(
        [
            np.stack([np.linspace(-1.0, 1.0, 20, endpoint=False), np.full(20, -1.0)], axis=1),
            [[1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]],
        ]
    )
    z = np.linspace(0.0, 0.1, rings)
    points = np.empty((rings, len(outline), 3))
    points[..., :2] = 0.02 * outline
    points[..., 0] += 0.1 * z[:, None]
    points[..., 2] = z[:, None]
    ring, n = np.arange((rings - 1) * len(outline)) // len(outline) * len(outline), len(outline)
    a = np.arange((rings - 1) * n)
    b = ring + (a + 1) % n
    return points.reshape(-1, 3), np.concatenate(
        [np.stack([a, b, b + n], axis=1), np.stack([a, b + n, a + n], axis=1)]
    )


def mapped(points: Floats, along: Floats) -> Mapping:
    """To a line on the z axis."""
    count = len(points)
    place = points * [0.0, 0.0, 1.0]
    return Mapping(
        node=np.zeros(count, np.int32),
        t=along / 0.1,
        place=place,
        blend=np.full((count, 2), 0.5),
        turn=np.tile([0.0, 0.0, 0.0, 1.0], (count, 1)),
        distance=np.linalg.norm(points - place, axis=1),
        along=along,
        end=np.zeros(count, np.int8),
        lost=np.zeros(count, np.bool_),
    )


@pytest.mark.parametrize("rings", [6, 31])
def test_the_middle_is_the_outlines_however_its_vertices_are_spread(rings: int) -> None:
    points, triangles = leaning_tube(rings)
    at = np.linspace(0.0, 0.1, 4)
    found = section_centroids(points, triangles, mapped(points, points[:, 2]), at)
    inside = (points[:, 2] > 0.01) & (points[:, 2] < 0.09)
    np.testing.assert_allclose(found[inside, 0], 0.1 * points[inside, 2], atol=1e-12)
    np.testing.assert_allclose(found[:, 1], 0.0, atol=1e-12)


def test_past_the_last_sections_the_middle_is_kept_and_without_any_it_is_the_line() -> None:
    points, triangles = leaning_tube(11)
    beyond = section_centroids(points, triangles, mapped(points, points[:, 2]), np.array([-0.1, 0.05, 0.3]))
    assert np.ptp(beyond[points[:, 2] > 0.099, 0]) == 0.0
    level = mapped(points, np.full(len(points), 0.05))
    assert (section_centroids(points, triangles, level, np.array([0.0, 0.1])) == 0.0).all()
