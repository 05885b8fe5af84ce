"""A patch of skin is evened over the same stretch however finely it is divided."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ecorche.skin.evened import EvenedPatch

Floats = npt.NDArray[np.float64]


def evened_bump(edge: float, span: float) -> tuple[Floats, Floats]:
    """How far from the middle of a sheet vertices of its patch are [m], and what is left of a bump there."""
    count = round(0.12 / edge) + 1
    x, y = (v.ravel() for v in np.meshgrid(*2 * [np.linspace(-0.06, 0.06, count)], indexing="ij"))
    points = np.stack([x, y, np.zeros_like(x)], axis=1)
    a = np.arange(count * count).reshape(count, count)[:-1, :-1].ravel()
    triangles = np.concatenate(
        [np.stack([a, a + count, a + 1], 1), np.stack([a + 1, a + count, a + count + 1], 1)]
    )
    away = np.hypot(x, y)
    patch = np.flatnonzero(away < 0.05)
    bump = np.exp(-((away[patch] / 0.01) ** 2))
    return away[patch], EvenedPatch(patch, points, triangles, span).of(bump[:, None])[:, 0]


def test_a_bump_is_evened_alike_on_coarse_and_fine_skin() -> None:
    coarse, fine = evened_bump(0.004, 0.01), evened_bump(0.002, 0.01)
    left = [values[away.argmin()] for away, values in (coarse, fine)]
    assert 0.2 < left[0] < 0.5
    assert abs(left[0] - left[1]) < 0.02
    # what is round the patch is nothing, and it goes there evenly
    assert all(np.abs(values[away > 0.045]).max() < 0.01 for away, values in (coarse, fine))


def test_vertices_at_one_place_stay_together() -> None:
    points = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0], [1, 0, 0], [0, 1, 0]])
    values = np.array([[1.0, 2.0, 3.0], [0.5, 0.0, -1.0], [1.0, 2.0, 3.0]])
    found = EvenedPatch(np.array([1, 3, 4]), points, np.array([[0, 1, 2], [4, 3, 5]]), 0.2).of(values)
    assert found[0].tobytes() == found[2].tobytes()
    assert (np.abs(found[0]) < np.abs(values[0])).all()
