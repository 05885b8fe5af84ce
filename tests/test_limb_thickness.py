"""How thick a limb is round its bone, by direction."""

from __future__ import annotations

import numpy as np
import pytest

from ecorche.skin.limb_thickness import thickness_round, thickness_towards

ANGLES = np.linspace(0.0, 2.0 * np.pi, 90, endpoint=False)
AXIS = np.array([2.0, -1.0, 2.0]) / 3.0
ACROSS = np.array([1.0, 2.0, 0.0]) / np.sqrt(5.0)
ASIDE = np.cross(AXIS, ACROSS)
DIRECTIONS = np.cos(ANGLES)[:, None] * ACROSS + np.sin(ANGLES)[:, None] * ASIDE
HEAD = np.array([0.1, 1.0, -0.2])


def test_a_section_that_is_off_its_bone_and_flat_is_told_exactly() -> None:
    thick = 0.05 + 0.01 * np.cos(ANGLES - 0.3) + 0.006 * np.sin(2.0 * ANGLES)
    along = np.random.default_rng(0).normal(size=len(ANGLES))
    points = HEAD + thick[:, None] * DIRECTIONS + along[:, None] * AXIS
    told = thickness_round(points, HEAD, AXIS, np.ones(len(ANGLES)))
    found = [thickness_towards(told, direction) for direction in DIRECTIONS]
    np.testing.assert_allclose(found, thick, atol=1e-12)
    # what a direction has along the bone does not matter
    assert thickness_towards(told, DIRECTIONS[7] + 0.5 * AXIS) == pytest.approx(thick[7], abs=1e-12)


def test_a_cylinder_beside_its_bone_is_told_within_a_twentieth() -> None:
    points = HEAD + 0.015 * ACROSS + 0.05 * DIRECTIONS
    told = thickness_round(points, HEAD, AXIS, np.ones(len(ANGLES)))
    exact = 0.015 * np.cos(ANGLES) + np.sqrt(0.05**2 - (0.015 * np.sin(ANGLES)) ** 2)
    found = np.array([thickness_towards(told, direction) for direction in DIRECTIONS])
    np.testing.assert_allclose(found, exact, rtol=0.05)


def test_points_that_do_not_count_change_nothing_and_no_direction_is_too_thin() -> None:
    thick = np.where(np.cos(ANGLES) > 0.0, 0.1, 0.001)
    points = HEAD + thick[:, None] * DIRECTIONS
    told = thickness_round(points, HEAD, AXIS, np.ones(len(ANGLES)))
    far = np.concatenate([points, HEAD + np.ones((5, 3))])
    same = thickness_round(far, HEAD, AXIS, np.repeat([1.0, 0.0], [len(points), 5]))
    np.testing.assert_allclose(told, same, atol=1e-12)
    mean = np.mean(thick)
    assert thickness_towards(told, -ACROSS) >= 0.25 * mean * (1.0 - 1e-9)
    assert thickness_towards(told, ACROSS) > 0.08
