"""Bones that skin lies over."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import trimesh

from ecorche.body.bones import BodyBones, bones_beneath
from ecorche.muscles.bone import Bone


def box(middle: tuple[float, float, float], name: str = "", joint: int = 0) -> Bone:
    solid = trimesh.creation.box((0.04, 0.04, 0.02))
    return Bone(name, joint, np.asarray(solid.vertices) + middle, np.asarray(solid.faces, np.int32))


def skin_above(*x: float) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    points = np.array([[at, 0.003, 0.0] for at in x], np.float32)
    return points, np.tile(np.array([0.0, 0.0, 1.0], np.float32), (len(points), 1))


def test_only_bones_with_nothing_between_them_and_the_skin_count() -> None:
    bones = BodyBones(
        (
            box((0.0, 0.0, -0.05), "bare"),
            box((0.1, 0.0, -0.05), "under a muscle", 1),
            box((0.2, 0.0, -0.5), "deep", 2),
            box((0.3, 0.0, -0.05), "at a far place", 3),
        )
    )
    muscle = box((0.1, 0.0, -0.02))
    flesh = muscle.points.astype(np.float32), muscle.triangles
    found = bones_beneath(bones, *skin_above(0.001, 0.101, 0.201), *flesh, 0.06)
    assert found is not None
    assert found.names == ("bare",)
    # two at their joints: vertices go with these
    both = bones_beneath(bones, *skin_above(0.001, 0.301), *flesh, 0.06)
    assert both is not None
    assert both.names == ("bare", "at a far place")
    moved = np.zeros((4, 4, 4))
    moved[3, 0, 3] = 0.25
    shift = both.points(moved) - both.bind
    np.testing.assert_allclose(shift[:8], 0.0, atol=1e-12)
    np.testing.assert_allclose(shift[8:], [[0.25, 0.0, 0.0]] * 8, atol=1e-12)
    assert bones_beneath(bones, *skin_above(0.101), *flesh, 0.06) is None
