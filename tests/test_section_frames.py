"""Section frames: exact at bind, orthonormal, rigid, mirrored, and never flipping in human motion."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from characters import mirrored_matrices
from ecorche.base.rotations import matrix_from_xyzw, normalise, xyzw_from_axis_angle
from ecorche.base.transforms import compose, nearest_rotation
from ecorche.errors import EcorcheError
from ecorche.io.bvh import read_motion
from ecorche.io.formats import read_character
from ecorche.muscles.paths import Paths, paths_at
from ecorche.muscles.section_frames import SectionFrames, section_frames
from ecorche.skeleton.naming import recognise
from ecorche.skeleton.retarget import retarget
from ecorche.skeleton.skeleton import Skeleton, local_from_world, world_from_local

Floats = npt.NDArray[np.float64]
CLIPS = ("02_01", "02_03", "13_13", "13_39")
PARENTS = np.array([-1, 0, 1], np.int32)
OUT = np.array([[0.0, 0.2, 1.0], [0.0, 1.0, 0.3]])


def arm() -> Skeleton:
    """Shoulder, elbow and wrist along +x, with axes of their own."""
    world = np.tile(np.eye(4), (3, 1, 1))
    random = np.random.default_rng(4)
    world[:, :3, :3] = matrix_from_xyzw(normalise(random.normal(size=(3, 4))))
    world[:, :3, 3] = np.array([[0.0, 1.4, 0.0], [0.3, 1.4, 0.0], [0.55, 1.4, 0.0]])
    local = local_from_world(PARENTS, world)
    return Skeleton(("arm", "forearm", "hand"), PARENTS, local, local.copy(), np.full((3, 3), np.nan))


def muscles(skeleton: Skeleton) -> Paths:
    """A straight one and one with two via points that leave the plane."""
    straight = [(0, [0.02, 1.4, 0.03]), (1, [0.35, 1.41, 0.02])]
    bent = [(0, [0.0, 1.45, 0.0]), (0, [0.2, 1.46, 0.02]), (1, [0.36, 1.43, 0.05]), (2, [0.6, 1.4, 0.03])]
    return paths_at(skeleton, [straight, bent], ["straight", "bent"])


def frames_with(weight: float) -> SectionFrames:
    return section_frames(muscles(arm()), OUT, weight=weight)


def poses(count: int, size: float, seed: int = 0) -> Floats:
    skeleton, random = arm(), np.random.default_rng(seed)
    axis = normalise(random.normal(size=(count, 3, 3)))
    turn = compose(np.zeros(3), xyzw_from_axis_angle(axis, random.uniform(-size, size, (count, 3))))
    return np.asarray(skeleton.bind_local @ turn)


@pytest.mark.parametrize("weight", [0.0, 0.3, 1.0])
def test_bind_is_exact_bit_for_bit(weight: float) -> None:
    frames = frames_with(weight)
    world = frames.paths.skeleton.bind_world
    t = np.linspace(0.0, 1.0, 11)
    for posed in (frames.posed(world), frames.posed(np.tile(world, (2, 1, 1, 1)))):
        for axis in ("along", "out", "side"):
            now = getattr(posed, axis).reshape(-1, 2, 3)[-1]
            assert now.tobytes() == getattr(frames.bind, axis).tobytes()
        assert not posed.twist.any()
        for now, then in zip(posed.at(t), frames.bind.at(t), strict=True):
            assert now.reshape(-1, *then.shape)[-1].tobytes() == then.tobytes()


@pytest.mark.parametrize("weight", [0.0, 0.3, 1.0])
def test_near_bind_frames_change_little(weight: float) -> None:
    """Continuous through bind: a turn of 1e-9 turns the frame by no more than a few of it."""
    frames = frames_with(weight)
    posed = frames.posed(world_from_local(PARENTS, poses(20, 1e-9)))
    assert np.abs(posed.out - frames.out).max() < 1e-8


@pytest.mark.parametrize("weight", [0.0, 0.5, 1.0])
def test_frames_are_right_handed_and_orthonormal_everywhere(weight: float) -> None:
    posed = frames_with(weight).posed(world_from_local(PARENTS, poses(50, 1.2)))
    axes = np.stack([posed.along, posed.out, posed.side], axis=-1)
    np.testing.assert_allclose(
        np.swapaxes(axes, -1, -2) @ axes, np.broadcast_to(np.eye(3), axes.shape), atol=1e-14
    )
    np.testing.assert_allclose(np.linalg.det(axes), 1.0, atol=1e-13)
    _, tangents, out = posed.at(np.linspace(0.0, 1.0, 21))
    np.testing.assert_allclose(np.sum(tangents * out, axis=-1), 0.0, atol=1e-13)
    np.testing.assert_allclose(np.linalg.norm(out, axis=-1), 1.0, atol=1e-13)


def test_the_origin_alone_says_how_the_section_turns() -> None:
    """Turning the forearm about the line of the muscle turns the section by weight × angle."""
    skeleton = arm()
    origin, insertion = [0.0, 1.4, 0.05], [0.4, 1.4, 0.05]
    paths = paths_at(skeleton, [[(0, origin), (1, insertion)]])
    angle = 0.8
    world = skeleton.bind_world.copy()
    turn = matrix_from_xyzw(xyzw_from_axis_angle([1.0, 0.0, 0.0], angle))
    world[1, :3, :3] = turn @ world[1, :3, :3]
    # the insertion stays where it is
    world[1, :3, 3] = np.array(insertion) + turn @ (world[1, :3, 3] - np.array(insertion))
    for weight in (0.0, 0.25, 1.0):
        posed = section_frames(paths, [[0.0, 1.0, 0.0]], weight=weight).posed(world)
        expected = [0.0, np.cos(weight * angle), np.sin(weight * angle)]
        np.testing.assert_allclose(posed.out[0], expected, atol=1e-14)
        assert posed.twist[0] == pytest.approx(angle if weight else 0.0, abs=1e-14)


def test_bending_turns_the_section_without_twist() -> None:
    """The written formula by hand: the elbow bends, the smallest rotation takes OI⁰ to OI."""
    frames = frames_with(0.0)
    skeleton = frames.paths.skeleton
    local = skeleton.bind_local.copy()
    local[1] = local[1] @ compose(np.zeros(3), xyzw_from_axis_angle(normalise([1.0, 1.0, 0.0]), 1.5))
    posed = frames.posed(world_from_local(PARENTS, local))
    for m in range(2):
        a, b = frames.bind.along[m], posed.along[m]
        axis = np.cross(a, b)
        turn = matrix_from_xyzw(
            xyzw_from_axis_angle(normalise(axis), np.arctan2(np.linalg.norm(axis), a @ b))
        )
        np.testing.assert_allclose(posed.out[m], turn @ frames.out[m], atol=1e-14)


@pytest.mark.parametrize("weight", [0.0, 0.5, 1.0])
def test_rigid_root_motion_commutes(weight: float) -> None:
    frames = frames_with(weight)
    world = world_from_local(PARENTS, poses(6, 0.8))
    rigid = compose([3.0, -2.0, 0.5], xyzw_from_axis_angle(normalise([1.0, 2.0, -1.0]), 2.5))
    still, moved = frames.posed(world), frames.posed(rigid @ world)
    t = np.linspace(0.0, 1.0, 9)
    np.testing.assert_allclose(moved.out, still.out @ rigid[:3, :3].T, atol=1e-13)
    np.testing.assert_allclose(moved.at(t)[2], still.at(t)[2] @ rigid[:3, :3].T, atol=1e-12)


@pytest.mark.parametrize("weight", [0.0, 0.5])
def test_a_mirrored_pose_gives_mirrored_frames_and_the_opposite_side(weight: float) -> None:
    frames = frames_with(weight)
    skeleton, paths = frames.paths.skeleton, frames.paths
    bind, mirror = mirrored_matrices(skeleton.bind_local), np.array([-1.0, 1.0, 1.0])
    twin = replace(skeleton, bind_local=bind, rest_local=bind)
    other = section_frames(
        Paths(twin, paths.starts, paths.joints, paths.local * mirror), OUT * mirror, weight=weight
    )
    local, t = poses(6, 0.8), np.linspace(0.0, 1.0, 9)
    a = frames.posed(world_from_local(PARENTS, local))
    b = other.posed(world_from_local(PARENTS, mirrored_matrices(local)))
    np.testing.assert_allclose(b.along, a.along * mirror, atol=1e-13)
    np.testing.assert_allclose(b.out, a.out * mirror, atol=1e-13)
    np.testing.assert_allclose(b.side, -a.side * mirror, atol=1e-13)
    np.testing.assert_allclose(b.at(t)[2], a.at(t)[2] * mirror, atol=1e-13)


def test_along_a_bent_path_nothing_twists_at_bind() -> None:
    """Parallel transport: from place to place the bulge direction changes along the tangent only."""
    posed = frames_with(0.0).bind
    _, tangents, out = posed.at(np.linspace(0.0, 1.0, 20_001))
    change = np.diff(out, axis=1)
    middle_t, middle_out = tangents[:, 1:] + tangents[:, :-1], out[:, 1:] + out[:, :-1]
    twist = np.sum(change * np.cross(normalise(middle_t), normalise(middle_out)), axis=-1)
    turned = np.linalg.norm(np.diff(tangents, axis=1), axis=-1)
    assert turned.sum(axis=-1)[1] > 0.3  # it is bent
    assert np.abs(twist).sum(axis=-1).max() < 1e-4 * turned.sum(axis=-1)[1]
    np.testing.assert_allclose(out[0], np.broadcast_to(posed.out[0], out[0].shape), atol=1e-15)
    np.testing.assert_allclose(tangents[0], np.broadcast_to(posed.along[0], out[0].shape), atol=1e-14)


def test_between_nodes_of_one_joint_the_frame_is_rigid_with_it() -> None:
    """And beyond, at every node, it is the node's own joint that says how it turns."""
    frames = frames_with(0.0)
    skeleton = frames.paths.skeleton
    local = skeleton.bind_local.copy()
    local[0] = local[0] @ compose(np.zeros(3), xyzw_from_axis_angle(normalise([1.0, 0.3, 0.2]), 1.1))
    local[1] = local[1] @ compose(np.zeros(3), xyzw_from_axis_angle(normalise([0.1, 1.0, 0.4]), 0.9))
    world = world_from_local(PARENTS, local)
    posed, turn = frames.posed(world), world[:, :3, :3] @ np.linalg.inv(skeleton.bind_world[:, :3, :3])
    # nodes 2 and 3 of all are the bent muscle's first two, both on the upper arm
    node = np.array([[1, 1], [3, 3]])
    share = np.array([[0.1, 0.5], [0.1, 0.5]])
    then, now = frames.bind.on(node, share), posed.on(node, share)
    moved = then[0][1] @ turn[0].T + world[0, :3, 3] - turn[0] @ skeleton.bind_world[0, :3, 3]
    np.testing.assert_allclose(now[0][1], moved, atol=1e-13)
    np.testing.assert_allclose(now[1][1], then[1][1] @ turn[0].T, atol=1e-13)
    np.testing.assert_allclose(now[2][1], then[2][1] @ turn[0].T, atol=1e-13)
    for node_number, joint in ((4, 1), (5, 2)):
        place = np.array([[1], [node_number]]), np.ones((2, 1))
        then, now = frames.bind.on(*place), posed.on(*place)
        carried = [turn[joint] @ axis[1, 0] for axis in then[1:]]
        across = np.cross(carried[0], now[1][1, 0])
        angle = np.arctan2(np.linalg.norm(across), carried[0] @ now[1][1, 0])
        least = matrix_from_xyzw(xyzw_from_axis_angle(normalise(across), angle))
        np.testing.assert_allclose(now[2][1, 0], least @ carried[1], atol=1e-13)


def test_twist_past_half_a_turn_is_followed_from_a_moment_before() -> None:
    frames = frames_with(0.5)
    skeleton = frames.paths.skeleton
    along, near, previous = frames.bind.along[0], None, frames.out[0]
    pivot = frames.paths.bind.insertions[0]
    for angle in np.linspace(0.0, 5.0, 101):
        world = skeleton.bind_world.copy()
        turn = matrix_from_xyzw(xyzw_from_axis_angle(along, angle))
        world[1, :3, :3] = turn @ world[1, :3, :3]
        world[1, :3, 3] = pivot + turn @ (world[1, :3, 3] - pivot)
        posed = frames.posed(world, near=near)
        near = posed.twist
        assert posed.twist[0] == pytest.approx(angle, abs=1e-12)
        assert np.linalg.norm(posed.out[0] - previous) < 0.026  # half of 0.05 rad
        previous = posed.out[0]


@pytest.fixture(scope="module")
def person(data: Path) -> tuple[Skeleton, SectionFrames]:
    """Hand-placed biceps, rectus femoris, vastus and gastrocnemius of both sides on a real person."""
    skeleton = read_character(data / "human" / "male_average_cmu_mb.glb").skeleton
    naming, heads = recognise(skeleton), skeleton.bind_world[:, :3, 3]

    def joint(name: str) -> int:
        found = naming.joint(name)
        assert found is not None
        return found

    def between(a: str, b: str, share: float, offset: tuple[float, float, float]) -> Floats:
        return np.asarray((1.0 - share) * heads[joint(a)] + share * heads[joint(b)] + offset)

    lines: list[list[tuple[int, npt.ArrayLike]]] = []
    out: list[tuple[float, float, float]] = []
    for side in "lr":
        clavicle, shoulder, elbow, wrist, hip, knee, ankle = (
            f"{side}_{name}"
            for name in ("sternoclavicular", "shoulder", "elbow", "radiocarpal", "hip", "knee", "talocrural")
        )
        patella = (joint(hip), between(hip, knee, 0.93, (0.0, 0.0, 0.06)))
        shin = (joint(knee), between(knee, ankle, 0.12, (0.0, 0.0, 0.05)))
        lines += [
            [
                (joint(clavicle), between(shoulder, elbow, 0.0, (0.0, 0.02, 0.03))),
                (joint(elbow), between(elbow, wrist, 0.15, (0.0, 0.01, 0.02))),
            ],
            [(joint("humanoid_root"), between(hip, knee, 0.0, (0.0, 0.05, 0.05))), patella, shin],
            [(joint(hip), between(hip, knee, 0.3, (0.0, 0.0, 0.05))), patella, shin],
            [
                (joint(hip), between(hip, knee, 0.96, (0.0, 0.0, -0.03))),
                (joint(ankle), between(knee, ankle, 1.0, (0.0, -0.03, -0.05))),
            ],
        ]
        out += [(0.0, 0.3, 1.0), (0.0, 0.0, 1.0), (0.0, 0.0, 1.0), (0.0, 0.0, -1.0)]
    return skeleton, section_frames(paths_at(skeleton, lines), out)


@pytest.mark.parametrize("clip", CLIPS)
@pytest.mark.parametrize("weight", [0.0, 0.5, 1.0])
def test_no_frame_flips_in_captured_motion(
    person: tuple[Skeleton, SectionFrames], data: Path, clip: str, weight: float
) -> None:
    """Far from the one singular pose, and from frame to frame hardly faster than the fastest joint."""
    skeleton, frames = person
    frames = replace(frames, weight=np.full(frames.paths.muscle_count, weight))
    motion = retarget(read_motion(data / "cmu" / f"{clip}.bvh"), skeleton).motion
    world = motion.world()[1:]  # the first frame of these clips is a T-pose, a cut away from the second
    posed = frames.posed(world)
    turn = nearest_rotation(np.eye(3) + frames.paths.difference(world)[..., :3, :3])
    for nodes in (frames.paths.origins, frames.paths.insertions):
        carried = (turn[:, frames.paths.joints[nodes]] @ frames.bind.along[..., None])[..., 0]
        opening = np.degrees(np.arccos(np.clip(np.sum(carried * posed.along, axis=-1), -1.0, 1.0)))
        assert opening.max() < 120.0  # 180 is where a flip would be
    assert np.abs(np.degrees(posed.twist)).max() < 120.0
    between = np.swapaxes(turn[:-1], -1, -2) @ turn[1:]
    joint_step = np.arccos(np.clip((np.trace(between, axis1=-2, axis2=-1) - 1.0) / 2.0, -1.0, 1.0)).max()
    t = np.linspace(0.0, 1.0, 7)
    for directions in (posed.out, posed.at(t)[2]):
        step = 2.0 * np.arcsin(np.linalg.norm(np.diff(directions, axis=0), axis=-1) / 2.0)
        assert step.max() < 1.25 * joint_step


def test_the_bulge_of_the_thigh_faces_forwards_in_a_walk(
    person: tuple[Skeleton, SectionFrames], data: Path
) -> None:
    """As an animator would see it: the vastus bulges to the front of the thigh, in every frame."""
    skeleton, frames = person
    motion = retarget(read_motion(data / "cmu" / "02_01.bvh"), skeleton).motion
    world = motion.world()
    posed = frames.posed(world)
    hip = frames.paths.joints[frames.paths.origins[2]]
    front = (world[:, hip, :3, :3] @ np.linalg.inv(skeleton.bind_world[hip, :3, :3]))[..., 2]
    assert np.sum(front * posed.out[:, 2], axis=-1).min() > 0.9


def test_bad_directions_are_refused_in_words() -> None:
    paths = muscles(arm())
    with pytest.raises(EcorcheError, match="'straight' points along the muscle"):
        section_frames(paths, [paths.bind.directions[1], OUT[1]])
    with pytest.raises(EcorcheError, match="'bent' points along the muscle"):
        section_frames(paths, [OUT[0], [0.0, 0.0, 0.0]])
    with pytest.raises(EcorcheError, match=r"shape \(1, 3\) for 2 muscles"):
        section_frames(paths, OUT[:1])
    with pytest.raises(EcorcheError, match="not a finite number"):
        section_frames(paths, OUT * np.nan)
    with pytest.raises(EcorcheError, match="not between 0 and 1"):
        section_frames(paths, OUT, weight=1.5)
    ring = paths_at(arm(), [[(0, [0.0, 1.0, 0.0]), (0, [0.1, 1.0, 0.0]), (0, [0.0, 1.0, 0.0])]], ["ring"])
    with pytest.raises(EcorcheError, match="'ring' ends where it begins"):
        section_frames(ring, [[0.0, 0.0, 1.0]])
