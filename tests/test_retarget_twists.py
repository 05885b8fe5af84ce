"""Twist joints of a limb share its twist; with a motion of their own they keep it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from scipy.spatial.transform import Rotation

from ecorche.io.bvh import read_motion
from ecorche.skeleton.motion import Motion
from ecorche.skeleton.retarget import retarget
from ecorche.skeleton.skeleton import Skeleton, local_from_world
from ecorche.skeleton.standing import standing_figure

Floats = npt.NDArray[np.float64]
FRAMES = 60

# twist joint, limb's joint, its far end, how far along
TWISTS = tuple(
    (f"{name}_{side}", f"{side}_{limb}", f"{side}_{end}", along)
    for side in "lr"
    for name, limb, end, along in (
        ("upperarm_twist_01", "shoulder", "elbow", 0.0),
        ("upperarm_twist_02", "shoulder", "elbow", 0.5),
        ("lowerarm_twist_02", "elbow", "radiocarpal", 0.3),
        ("lowerarm_twist_01", "elbow", "radiocarpal", 0.8),
        ("thigh_twist_01", "hip", "knee", 0.25),
        ("calf_twist_01", "knee", "talocrural", 0.5),
    )
)


def unreal_like(scale: float = 1.0) -> Skeleton:
    """The standing figure with the twist joints of a game's character, and one helper on one of them."""
    figure = standing_figure()
    names, parents = list(figure.names), figure.parents.tolist()
    heads = list(figure.bind_world[:, :3, 3])
    for name, limb, end, along in TWISTS:
        a, b = (figure.bind_world[figure.index(n), :3, 3] for n in (limb, end))
        names.append(name)
        parents.append(figure.index(limb))
        heads.append((1.0 - along) * a + along * b)
    names.append("attach_watch")
    parents.append(names.index("lowerarm_twist_01_l"))
    heads.append(heads[-1])
    world = np.tile(np.eye(4), (len(names), 1, 1))
    world[:, :3, 3] = scale * np.array(heads)
    up = np.array(parents, np.int32)
    local = local_from_world(up, world)
    return Skeleton(tuple(names), up, local, local, np.full((len(names), 3), np.nan))


def bone(skeleton: Skeleton, limb: str, end: str) -> Floats:
    heads = skeleton.bind_world[:, :3, 3]
    along = heads[skeleton.index(end)] - heads[skeleton.index(limb)]
    return np.asarray(along / np.linalg.norm(along))


def wrung(skeleton: Skeleton) -> tuple[Motion, dict[str, tuple[Rotation, Floats]]]:
    """All limbs swing and twist, forearms through more than half a turn; and what was put in."""
    t = np.linspace(0.0, 1.0, FRAMES)
    local = np.tile(skeleton.bind_local, (FRAMES, 1, 1, 1))
    put_in = {}
    for side in "lr":
        for joint, limb, end, twist, swing in (
            ("shoulder", "shoulder", "elbow", 110.0, 70.0),
            ("radiocarpal", "elbow", "radiocarpal", 230.0, 40.0),
            ("hip", "hip", "knee", -50.0, 80.0),
            ("talocrural", "knee", "talocrural", 25.0, -20.0),
        ):
            axis = bone(skeleton, f"{side}_{limb}", f"{side}_{end}")
            across = np.cross(axis, [0.3, 0.1, 1.0])
            across /= np.linalg.norm(across)
            swung = Rotation.from_rotvec(np.radians(swing * np.sin(3.0 * t))[:, None] * across)
            angle = np.radians(twist) * t
            turned = swung * Rotation.from_rotvec(angle[:, None] * axis)
            local[:, skeleton.index(f"{side}_{joint}"), :3, :3] = turned.as_matrix()
            put_in[f"{side}_{limb}"] = swung, angle
    return Motion("wring", skeleton, t, local), put_in


@pytest.mark.parametrize("mode", ["directions", "planted"])
def test_each_takes_its_part(mode: str) -> None:
    motion, put_in = wrung(standing_figure())
    target = unreal_like(1.2)
    moved = retarget(motion, target, mode=mode)
    world = moved.motion.world()[..., :3, :3]
    for name, limb, end, along in TWISTS:
        if mode == "planted" and limb[2:] in ("hip", "knee"):
            continue  # those legs are bent anew
        swung, angle = put_in[limb]
        axis = bone(target, limb, end)
        part = Rotation.from_rotvec((along * angle)[:, None] * axis)
        if limb.endswith(("shoulder", "hip")):  # nothing above moves here
            expected = (swung * part).as_matrix()
        else:
            expected = world[:, target.index(limb)] @ part.as_matrix()
        np.testing.assert_allclose(world[:, target.index(name)], expected, atol=1e-9)
    assert set(moved.report.shared_twist) == {name for name, *_ in TWISTS}
    assert not set(moved.report.shared_twist) & set(moved.report.unmatched_target)
    assert "share their limb's twist: upperarm_twist_01_l" in str(moved.report)


def test_what_hangs_on_a_twist_joint_goes_along_and_nothing_else_moves() -> None:
    motion, _ = wrung(standing_figure())
    target = unreal_like(1.2)
    moved = retarget(motion, target).motion
    assert (moved.local[:, -1] == target.bind_local[-1]).all()
    bare = standing_figure()
    local = bare.bind_local.copy()
    local[:, :3, 3] *= 1.2
    plain = retarget(motion, Skeleton(bare.names, bare.parents, local, local, 1.2 * bare.tails)).motion
    np.testing.assert_allclose(
        moved.world()[:, : bare.joint_count, :3, :3], plain.world()[..., :3, :3], atol=1e-12
    )


def test_a_twist_joint_with_a_motion_of_its_own_keeps_it() -> None:
    source = unreal_like()
    motion, _ = wrung(source)
    j = source.index("lowerarm_twist_01_r")
    own = Rotation.from_rotvec(np.linspace(0.0, 1.0, FRAMES)[:, None] * [0.0, 1.0, 0.0]).as_matrix()
    motion.local[:, j, :3, :3] = own
    moved = retarget(motion, unreal_like(1.2))
    np.testing.assert_allclose(moved.motion.local[:, j, :3, :3], own, atol=1e-9)
    assert moved.report.shared_twist == ()


def test_a_joint_that_carries_the_elbow_keeps_its_place() -> None:
    """In line above the elbow a twist joint must not twist what hangs below it."""
    figure = unreal_like()
    parents = figure.parents.copy()
    order = list(range(figure.joint_count))
    twist, elbow = figure.index("upperarm_twist_02_l"), figure.index("l_elbow")
    order.remove(twist)
    order.insert(elbow, twist)
    parents[elbow] = twist
    place = {old: new for new, old in enumerate(order)}
    above = np.array([place[parents[o]] if parents[o] >= 0 else -1 for o in order], np.int32)
    local = local_from_world(above, figure.bind_world[order])
    names = tuple(figure.names[o] for o in order)
    target = Skeleton(names, above, local, local, figure.tails[order])
    moved = retarget(wrung(standing_figure())[0], target)
    assert (moved.motion.local[:, target.index("upperarm_twist_02_l")] == local[place[twist]]).all()
    assert "upperarm_twist_02_l" in moved.report.unmatched_target


def test_real_motion_is_shared_smoothly(data: Path) -> None:
    """Twist joints turn no faster than the joints whose twist they share."""
    target = unreal_like()
    for clip in ("02_03", "13_39"):
        motion = read_motion(data / "cmu" / f"{clip}.bvh")
        moved = retarget(motion.part(1, motion.frame_count - 1), target).motion
        local = moved.local[..., :3, :3]
        step = Rotation.from_matrix((np.swapaxes(local[:-1], -1, -2) @ local[1:]).reshape(-1, 3, 3))
        speed = step.magnitude().reshape(-1, target.joint_count).max(axis=0)
        for name, limb, end, _ in TWISTS:
            shared = limb if limb.endswith(("shoulder", "hip")) else end
            assert speed[target.index(name)] <= speed[target.index(shared)] + 1e-6
