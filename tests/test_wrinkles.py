"""Folds at joints that bend."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ecorche.body.evaluate import LiveFrames
from ecorche.body.perform import perform
from ecorche.errors import SkeletonError
from ecorche.io.formats import read_character, read_motion
from ecorche.skeleton.kinematics import difference_from_bind
from ecorche.skin.wrinkles import FlexionWrinkles, Folds


def test_a_bent_elbow_folds_on_its_inner_side_only(data: Path) -> None:
    character = read_character(data / "human" / "male_muscular_cmu_mb.glb")
    mesh, skeleton = character.meshes[0], character.skeleton
    assert mesh.weights is not None
    curl = Path(__file__).parents[1] / "examples" / "curl.pose"
    frames = perform(character, read_motion(curl)).take.frames
    assert isinstance(frames, LiveFrames)
    joint = skeleton.index("LeftForeArm")
    wrinkles = FlexionWrinkles(mesh.mesh.points, mesh.weights, skeleton, [Folds(joint, depth=0.003)])
    still = np.zeros((skeleton.joint_count, 4, 4))
    assert not wrinkles.depths(still).any()
    deepest = []
    for number in range(0, len(frames), 8):
        moved = difference_from_bind(skeleton, frames.motion.local[number])
        depths = wrinkles.depths(moved)
        assert (depths >= 0.0).all()
        deepest.append(depths.max())
    assert 0.0015 < max(deepest) <= 0.003  # vertices do not lie at the bottom of a groove
    assert np.abs(np.diff(deepest)).max() < 0.002  # they come and go
    moved = difference_from_bind(skeleton, frames.motion.local[len(frames) // 2])
    depths = wrinkles.depths(moved)
    folded = depths > 0.0005
    assert 5 < folded.sum() < 400
    elbow, hand = (skeleton.bind_world[skeleton.index(n), :3, 3] for n in ("LeftForeArm", "LeftHand"))
    assert np.linalg.norm(mesh.mesh.points[folded] - elbow, axis=1).max() < 0.08
    # the inner side is where the hand goes
    posed = moved + np.eye(4)
    goes = posed[skeleton.index("LeftHand")] @ [*hand, 1.0]
    seen = np.linalg.solve(posed[skeleton.index("LeftArm")], goes)[:3] - elbow
    assert ((mesh.mesh.points[folded] - elbow) @ seen > 0.0).mean() > 0.95


def test_a_root_does_not_fold(data: Path) -> None:
    character = read_character(data / "human" / "male_slim_cmu_mb.glb")
    mesh = character.meshes[0]
    assert mesh.weights is not None
    with pytest.raises(SkeletonError, match="does not bend"):
        FlexionWrinkles(mesh.mesh.points, mesh.weights, character.skeleton, [Folds(0)])
