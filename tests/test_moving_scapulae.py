"""Shoulder blades that a motion lacks follow the arms; those that it moves, and arms' directions, stay."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

import ecorche
from ecorche.base.rotations import xyzw_from_axis_angle
from ecorche.base.transforms import compose
from ecorche.body.figure import ecorche_figure
from ecorche.muscles.moving_scapulae import with_moving_scapulae
from ecorche.muscles.scapula import scapula_upward_rotation
from ecorche.skeleton.motion import Motion, bind_pose
from ecorche.skeleton.naming import recognise
from ecorche.skeleton.retarget import retarget

Floats = npt.NDArray[np.float64]
EXAMPLES = Path(__file__).parent.parent / "examples"
BLADES = ("r_acromioclavicular", "l_acromioclavicular")


def _raised(angles: Floats) -> Motion:
    """The figure's arms raised sideways from bind by angles [rad]."""
    skeleton = ecorche_figure().skeleton
    local = np.tile(skeleton.bind_local, (len(angles), 1, 1, 1))
    for name, sign in (("l_shoulder", 1.0), ("r_shoulder", -1.0)):
        turn = compose(np.zeros(3), xyzw_from_axis_angle(np.array([0.0, 0.0, sign]), angles))
        local[:, skeleton.index(name)] = local[:, skeleton.index(name)] @ turn
    return Motion("raise", skeleton, np.arange(float(len(angles))), local)


def _turned(motion: Motion, name: str) -> Floats:
    """Rotations in the world since bind (frames, 3, 3)."""
    joint = motion.skeleton.index(name)
    return np.asarray(motion.world()[:, joint, :3, :3] @ motion.skeleton.bind_inverse[joint, :3, :3])


def test_they_turn_by_the_rhythm_and_arms_keep_their_directions() -> None:
    skeleton = ecorche_figure().skeleton
    before = _raised(np.radians([0.0, 20.0, 60.0, 110.0]))
    blades = {skeleton.index(name) for name in BLADES}
    after, moving = with_moving_scapulae(before, recognise(skeleton), blades)
    assert set(moving) == blades
    heads = skeleton.bind_world[:, :3, 3]
    arm = heads[skeleton.index("l_elbow")] - heads[skeleton.index("l_shoulder")]
    down = np.arctan2(np.hypot(arm[0], arm[2]), -arm[1])
    directions = _turned(before, "l_shoulder") @ (arm / np.linalg.norm(arm))
    elevation = np.arccos(-directions[:, 1])
    expected = scapula_upward_rotation(elevation) - scapula_upward_rotation(down)
    turned = _turned(after, "l_acromioclavicular")
    np.testing.assert_allclose(
        np.arctan2(turned[:, 1, 0], turned[:, 0, 0]), expected, atol=1e-3
    )  # the thorax leans a little
    assert np.degrees(expected[3]) > 30.0
    for name in ("l_shoulder", "r_shoulder", "l_elbow", "r_radiocarpal"):
        np.testing.assert_allclose(_turned(after, name), _turned(before, name), atol=1e-12)
    # it turns about its own joint, which stays; the shoulder goes along; the other side mirrors it
    places, still = (m.world()[..., :3, 3] for m in (after, before))
    for joint in blades:
        np.testing.assert_allclose(places[:, joint], still[:, joint], atol=1e-12)
    shoulders = [places[:, skeleton.index(f"{side}_shoulder")] for side in "lr"]
    np.testing.assert_allclose(shoulders[0] * (-1.0, 1.0, 1.0), shoulders[1], atol=1e-12)
    assert 0.005 < np.linalg.norm(shoulders[0][3] - shoulders[0][0]) < 0.06


def test_bind_stays_bit_for_bit_and_blades_that_move_are_left_alone() -> None:
    skeleton = ecorche_figure().skeleton
    still = {skeleton.index(name) for name in BLADES}
    bind = bind_pose(skeleton)
    assert (with_moving_scapulae(bind, recognise(skeleton), still)[0].local == bind.local).all()
    raised = _raised(np.radians([60.0]))
    assert with_moving_scapulae(raised, recognise(skeleton), {0, 1}) == (raised, ())


def test_a_motion_without_shoulder_blades_gets_them_and_a_note() -> None:
    figure = ecorche_figure()
    raising = ecorche.read_keyframes(EXAMPLES / "raise.pose", figure.skeleton)
    assert not set(BLADES) & set(raising.skeleton.names)
    done = ecorche.perform(figure, raising)
    assert done.retargeting is not None
    assert any("no shoulder blades: 'r_acromioclavicular'" in note for note in done.retargeting.notes)
    assert not set(BLADES) & set(done.retargeting.unmatched_target)
    alone = retarget(raising, figure.skeleton).motion
    assert done.take.motion is not None
    for name in ("l_shoulder", "r_elbow"):
        np.testing.assert_allclose(_turned(done.take.motion, name), _turned(alone, name), atol=1e-9)


def test_a_motion_that_has_them_is_followed() -> None:
    figure = ecorche_figure()
    raised = _raised(np.radians([0.0, 60.0]))
    assert ecorche.perform(figure, raised).take.motion is raised
    # the same joints on a skeleton a little larger, which is retargeted
    larger = raised.skeleton.bind_local.copy()
    larger[:, :3, 3] *= 1.1
    skeleton = replace(raised.skeleton, bind_local=larger, rest_local=larger)
    local = raised.local.copy()
    local[..., :3, 3] *= 1.1
    done = ecorche.perform(figure, Motion("raise", skeleton, raised.times, local))
    assert done.retargeting is not None
    assert not any("shoulder blades" in note for note in done.retargeting.notes)
    assert done.take.motion is not None
    turned = _turned(done.take.motion, "l_acromioclavicular")
    assert np.abs(turned[1] - turned[0]).max() == pytest.approx(0.0, abs=1e-9)
