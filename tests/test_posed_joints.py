"""Rotations of joints in compiled code: those of NumPy's decomposition, whatever joints stand beside."""

from __future__ import annotations

import numpy as np
import pytest

from ecorche.base.transforms import nearest_rotation
from ecorche.muscles.posed_joints import MOVED, TURN, pose_joints

NO_SCAPULAE, NO_VECTORS = np.zeros((0, 3), np.int64), np.zeros((0, 4, 3))


def _joints() -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Ten joints: turned, then scaled, sheared, mirrored, at bind."""
    rng = np.random.default_rng(3)
    linear = nearest_rotation(rng.normal(size=(10, 3, 3)))
    linear[3] = linear[3] @ np.diag([2.0, 0.5, 3.0])
    linear[5] = linear[5] @ (np.eye(3) + 0.3 * rng.normal(size=(3, 3)))
    linear[6] = linear[6] @ np.diag([-1.0, 1.0, 1.0])
    linear[8] = np.eye(3)
    return linear


@pytest.mark.parametrize("bad", [None, 0.0, np.nan])
def test_rotations_are_the_nearest_and_what_has_none_is_refused(bad: float | None) -> None:
    linear = _joints()
    if bad is not None:
        linear[4] *= bad
    difference = np.zeros((10, 4, 4))
    difference[:, :3, :3] = linear - np.eye(3)
    turning = np.ones(10, bool)
    turning[2] = False
    moved, turn = np.full((10, MOVED), 7.0), np.full((10, TURN), 7.0)
    assert pose_joints(turning, NO_SCAPULAE, NO_VECTORS, difference, moved, turn) == (bad is None)
    if bad is not None:
        return
    np.testing.assert_array_equal(moved[turning].reshape(9, 3, 4), difference[turning, :3])
    found = turn.reshape(10, 3, 4)[:, :, :3]
    proper = turning & (np.arange(10) != 6)
    np.testing.assert_allclose(found[proper], nearest_rotation(linear[proper]), atol=1e-14)
    np.testing.assert_allclose(found[6] @ np.diag([-1.0, 1.0, 1.0]), linear[6], atol=1e-14)
    np.testing.assert_array_equal(found[8], np.eye(3))
    assert (moved[2] == 7.0).all()
    assert (turn[2] == 7.0).all()
    # alone, or beside others: the same bits
    for joint in np.flatnonzero(turning):
        alone, again = np.zeros(10, bool), np.empty((10, TURN))
        alone[joint] = True
        assert pose_joints(alone, NO_SCAPULAE, NO_VECTORS, difference, moved, again)
        assert again[joint].reshape(3, 4)[:, :3].tobytes() == found[joint].tobytes()
