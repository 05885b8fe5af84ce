"""Retargeting: limbs point as the source's, feet stay on the floor, nothing flips, pops or gets lost."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from ecorche.base.rotations import matrix_from_xyzw, normalise
from ecorche.errors import MotionError
from ecorche.io.bvh import read_motion
from ecorche.io.formats import read_character
from ecorche.skeleton.motion import Motion, bind_pose
from ecorche.skeleton.naming import recognise
from ecorche.skeleton.resample import resample
from ecorche.skeleton.retarget import Retargeted, retarget
from ecorche.skeleton.skeleton import Skeleton, local_from_world
from ecorche.skeleton.standing import standing_figure

Floats = npt.NDArray[np.float64]
CLIPS = ("02_01", "02_03", "13_13", "13_39")
CHARACTERS = (
    "human/male_average_cmu_mb",
    "human/female_average_cmu_mb",
    "human/male_dressed_mixamo",
    "mesh2motion/human-male",
)
LIMBS = (
    *((f"{s}_shoulder", f"{s}_elbow") for s in "lr"),
    *((f"{s}_elbow", f"{s}_radiocarpal") for s in "lr"),
    *((f"{s}_hip", f"{s}_knee") for s in "lr"),
    *((f"{s}_knee", f"{s}_talocrural") for s in "lr"),
    *((f"{s}_talocrural", f"{s}_metatarsophalangeal_2") for s in "lr"),
)


@pytest.fixture(scope="module")
def skeletons(data: Path) -> dict[str, Skeleton]:
    return {name: read_character(data / f"{name}.glb").skeleton for name in CHARACTERS}


@pytest.fixture(scope="module")
def clips(data: Path) -> dict[str, Motion]:
    return {clip: read_motion(data / "cmu" / f"{clip}.bvh") for clip in CLIPS}


def directions(motion: Motion, start: str, end: str) -> Floats:
    naming = recognise(motion.skeleton)
    a, b = naming.joint(start), naming.joint(end)
    assert a is not None
    assert b is not None
    heads = motion.world()[..., :3, 3]
    return normalise(heads[:, b] - heads[:, a])


def worst_angle(a: Floats, b: Floats) -> float:
    return float(np.degrees(2.0 * np.arcsin(np.clip(np.linalg.norm(a - b, axis=-1) / 2.0, 0, 1))).max())


def in_other_axes(skeleton: Skeleton, seed: int = 1) -> Skeleton:
    """The same joints at the same places with random axes of their own."""
    q = normalise(np.random.default_rng(seed).normal(size=(skeleton.joint_count, 4)))
    world = skeleton.bind_world.copy()
    world[:, :3, :3] = matrix_from_xyzw(q)
    local = local_from_world(skeleton.parents, world)
    tails = np.full((skeleton.joint_count, 3), np.nan)
    return Skeleton(skeleton.names, skeleton.parents, local, local, tails)


@pytest.mark.parametrize("character", CHARACTERS)
@pytest.mark.parametrize("clip", CLIPS)
def test_directions_are_kept_and_the_lower_foot_stands(
    skeletons: dict[str, Skeleton], clips: dict[str, Motion], clip: str, character: str
) -> None:
    """Measured here from joint positions alone, not taken from the report."""
    source = clips[clip]
    moved = retarget(source, skeletons[character])
    for start, end in LIMBS:
        assert worst_angle(directions(source, start, end), directions(moved.motion, start, end)) < 0.01
    assert moved.report.worst_direction_error < 0.01
    assert set(moved.report.direction_error) >= {"spine", "neck", "left foot", "right forearm"}
    assert abs(moved.report.floor_offset) < 1e-9


@pytest.mark.parametrize("clip", CLIPS)
def test_planted_feet_slide_no_more_than_the_source_and_stay_above_the_floor(
    skeletons: dict[str, Skeleton], clips: dict[str, Motion], clip: str
) -> None:
    for character in ("human/male_average_cmu_mb", "mesh2motion/human-male"):
        report = retarget(clips[clip], skeletons[character], mode="planted").report
        assert report.skate is not None
        assert report.skate_source is not None
        assert report.skate.planted > 0.2
        assert report.skate.distance < 1.05 * report.skate_source.distance
        assert -0.001 < report.floor_offset < 0.015
        assert report.out_of_reach < 0.005


def test_a_walk_on_a_floor_that_climbs_stays_on_the_floor(
    skeletons: dict[str, Skeleton], clips: dict[str, Motion]
) -> None:
    """The floor of this capture rises by 4 cm along the way; each step must reach the floor all the same."""
    source = clips["02_01"].part(1, 343)
    target = skeletons["human/male_average_cmu_mb"]
    feet = [recognise(target).joint(f"{s}_metatarsophalangeal_2") or 0 for s in "lr"]
    for mode in ("directions", "planted"):
        height = retarget(source, target, mode=mode).motion.world()[:, feet, 1, 3]
        height = height.min(axis=1) - target.bind_world[feet, 1, 3].min()
        for part in np.array_split(height, 4):  # at least a step each
            assert abs(part.min()) < 0.01


def test_steps_that_float_are_put_on_the_floor(clips: dict[str, Motion]) -> None:
    """A capture whose left steps all stand two centimetres too high still walks on the floor."""
    figure = standing_figure()
    walk = resample(clips["02_01"].part(1, 343), rate=60.0)
    names = recognise(walk.skeleton)
    floating = {"l_talocrural": 0.02, "r_talocrural": -0.005}
    skeleton = walk.skeleton
    bind, local = skeleton.bind_local.copy(), walk.local.copy()
    for ankle, more in floating.items():  # the shanks get shorter or longer below the same knees
        joint = names.joint(ankle)
        assert joint is not None
        for matrices in (bind, local):
            shank = matrices[..., joint, :3, 3]
            shank *= 1.0 - more / np.linalg.norm(bind[joint, :3, 3])
    limping = Skeleton(skeleton.names, skeleton.parents, bind, bind, skeleton.tails)
    moved = retarget(Motion("limp", limping, walk.times, local), figure, mode="planted")
    ball = [figure.index(f"{s}_metatarsophalangeal_2") for s in "lr"]
    lowest = moved.motion.world()[:, ball, 1, 3].min(axis=0)
    np.testing.assert_allclose(lowest, figure.bind_world[ball, 1, 3], atol=0.006)
    assert abs(moved.report.floor_offset) < 0.0125


def test_a_reference_pose_before_the_motion_is_told(clips: dict[str, Motion]) -> None:
    whole = clips["02_01"]
    assert "frame 0 leaps into the motion" in str(retarget(whole, standing_figure()).report)
    assert "leaps" not in str(retarget(whole.part(1, 20), standing_figure()).report)


def knee_bends(motion: Motion) -> Floats:
    """Knee flexion [deg] (frames, 2), negative where a knee bends the wrong way."""
    naming = recognise(motion.skeleton)
    heads = motion.world()[..., :3, 3]
    hips = [naming.joint(f"{s}_hip") for s in "lr"]
    left = normalise(heads[:, hips[0]] - heads[:, hips[1]])
    result = []
    for side in "lr":
        u = directions(motion, f"{side}_hip", f"{side}_knee")
        v = directions(motion, f"{side}_knee", f"{side}_talocrural")
        cross = np.cross(u, v)
        bend = np.degrees(np.arctan2(np.linalg.norm(cross, axis=-1), np.sum(u * v, axis=-1)))
        result.append(np.where(np.sum(cross * left, axis=-1) < 0.0, -bend, bend))
    return np.stack(result, axis=-1)


@pytest.mark.parametrize("clip", CLIPS)
def test_planted_knees_bend_forward_and_do_not_pop(
    skeletons: dict[str, Skeleton], clips: dict[str, Motion], clip: str
) -> None:
    """Knees never straighten or fold the wrong way, and turn as smoothly as the source's."""
    source = clips[clip]
    theirs = knee_bends(source)[1:]  # frame 0 is a T-pose put before the clip
    for character in CHARACTERS:
        ours = knee_bends(retarget(source, skeletons[character], mode="planted").motion)[1:]
        assert ours.min() > 8.0
        for order in (1, 2):
            fastest = [np.abs(np.diff(bends, order, axis=0)).max() for bends in (theirs, ours)]
            assert fastest[1] < fastest[0] + 0.75  # degrees a 120th of a second


@pytest.mark.parametrize("mode", ["directions", "planted"])
def test_no_joint_flips(skeletons: dict[str, Skeleton], clips: dict[str, Motion], mode: str) -> None:
    """From frame to frame no joint of the target turns much faster than the fastest of the source."""
    source = clips["02_03"].part(1, clips["02_03"].frame_count - 1)

    def fastest(motion: Motion) -> float:
        local = motion.local[..., :3, :3]
        local = local / np.linalg.norm(local, axis=-2, keepdims=True)
        step = np.swapaxes(local[:-1], -1, -2) @ local[1:]
        return float(
            np.degrees(np.arccos(np.clip((np.trace(step, axis1=-2, axis2=-1) - 1) / 2, -1, 1))).max()
        )

    for character in CHARACTERS:
        moved = retarget(source, skeletons[character], mode=mode).motion
        assert fastest(moved) < 1.5 * fastest(source) + 1.0


def test_hands_and_feet_are_the_right_way_round(
    skeletons: dict[str, Skeleton], clips: dict[str, Motion]
) -> None:
    """In the T-pose that begins a CMU clip palms face down, thumbs forward, and soles the floor."""
    for character in CHARACTERS:
        moved = retarget(clips["02_01"].part(0, 0), skeletons[character]).motion
        naming = recognise(moved.skeleton)
        heads = moved.world()[0, :, :3, 3]
        for side in "lr":
            wrist, elbow = naming.joint(f"{side}_radiocarpal"), naming.joint(f"{side}_elbow")
            thumb = naming.joint(f"{side}_carpometacarpal_1") or naming.joint(f"{side}_metacarpophalangeal_1")
            assert wrist is not None
            assert elbow is not None
            assert thumb is not None
            along, across = normalise(heads[wrist] - heads[elbow]), heads[thumb] - heads[wrist]
            across = normalise(across - along * (across @ along))
            assert across[2] > 0.5
        turn = moved.world()[0] @ moved.skeleton.bind_inverse
        for side in "lr":
            up = turn[naming.joint(f"{side}_talocrural"), :3, :3] @ [0.0, 1.0, 0.0]
            assert up[1] > 0.95
        head = turn[naming.joint("skullbase"), :3, :3]
        assert head[1, 1] > 0.95
        assert head[2, 2] > 0.95


def test_a_wrist_bends_as_a_source_that_bends_its_palm(
    skeletons: dict[str, Skeleton], clips: dict[str, Motion]
) -> None:
    """CMU's motions turn the hand about the forearm in one joint and bend it in the next."""
    source = clips["02_03"].part(1, 173)
    for character in ("human/male_dressed_mixamo", "mesh2motion/human-male"):
        moved = retarget(source, skeletons[character])
        naming = recognise(moved.motion.skeleton)
        turned = moved.motion.world()[..., :3, :3] @ moved.motion.skeleton.bind_inverse[:, :3, :3]
        theirs = source.world()[..., :3, :3]
        for side, palm in (("l", "LeftFingerBase"), ("r", "RightFingerBase")):
            hand, finger = naming.joint(f"{side}_radiocarpal"), naming.joint(f"{side}_metacarpophalangeal_2")
            assert hand is not None
            assert finger is not None
            ours = turned[:, hand] @ turned[0, hand].T
            palms = theirs[:, source.skeleton.index(palm)]
            np.testing.assert_allclose(ours, palms @ palms[0].T, atol=1e-6)
            # so that no finger stands away from the hand
            bend = np.swapaxes(turned[:, hand], -1, -2) @ turned[:, finger]
            assert np.trace(bend, axis1=-2, axis2=-1).min() > 1.0 + 2.0 * np.cos(np.radians(35.0))
        assert not {"LeftHand", "RightHand"} & set(moved.report.unmatched_source)


def test_the_same_skeleton_passes_bit_for_bit(clips: dict[str, Motion]) -> None:
    motion = clips["02_03"]
    s = motion.skeleton
    copy = Skeleton(s.names, s.parents.copy(), s.bind_local.copy(), s.rest_local, s.tails)
    for mode in ("directions", "planted"):
        moved = retarget(motion, copy, mode=mode)
        assert (moved.motion.local == motion.local).all()
        assert moved.motion.skeleton is copy
        assert moved.report.mode == "unchanged"


def test_joint_axes_do_not_matter(skeletons: dict[str, Skeleton], clips: dict[str, Motion]) -> None:
    """Only where joints are counts, not how their axes lie: all joints end up at the same places."""
    source = resample(clips["13_13"], rate=10.0)
    target = skeletons["human/male_average_cmu_mb"]
    plain = Skeleton(
        target.names, target.parents, target.bind_local, target.rest_local, np.full_like(target.tails, np.nan)
    )
    for mode in ("directions", "planted"):
        a, b = retarget(source, plain, mode=mode), retarget(source, in_other_axes(target), mode=mode)
        np.testing.assert_allclose(a.motion.world()[..., :3, 3], b.motion.world()[..., :3, 3], atol=1e-9)


def test_the_unit_of_the_source_does_not_matter(
    skeletons: dict[str, Skeleton], clips: dict[str, Motion]
) -> None:
    source = resample(clips["02_01"], rate=10.0)
    s = source.skeleton
    big = np.ones((4, 4))
    big[:3, 3] = 37.0
    scaled = Skeleton(s.names, s.parents, s.bind_local * big, s.rest_local * big, s.tails * 37.0)
    large = Motion(source.name, scaled, source.times, source.local * big)
    target = skeletons["human/male_average_cmu_mb"]
    for mode in ("directions", "planted"):
        a, b = retarget(source, target, mode=mode), retarget(large, target, mode=mode)
        np.testing.assert_allclose(a.motion.local, b.motion.local, atol=1e-9)
        assert b.report.scale == pytest.approx(a.report.scale / 37.0)


def test_a_turned_world_turns_the_result(skeletons: dict[str, Skeleton], clips: dict[str, Motion]) -> None:
    """Walking in another direction is the same walk turned about the vertical."""
    source = resample(clips["02_01"], rate=10.0)
    turn = np.eye(4)
    turn[:3, :3] = [[0, 0, 1], [0, 1, 0], [-1, 0, 0]]
    local = source.local.copy()
    local[:, 0] = turn @ local[:, 0]
    turned = Motion(source.name, source.skeleton, source.times, local)
    target = skeletons["human/male_average_cmu_mb"]
    for mode in ("directions", "planted"):
        a, b = retarget(source, target, mode=mode), retarget(turned, target, mode=mode)
        np.testing.assert_allclose(turn @ a.motion.world(), b.motion.world(), atol=1e-9)


def test_a_source_that_stands_along_z_is_turned_upright(
    skeletons: dict[str, Skeleton], clips: dict[str, Motion]
) -> None:
    source = resample(clips["02_01"], rate=10.0)
    lie = np.eye(4)
    lie[:3, :3] = [[1, 0, 0], [0, 0, -1], [0, 1, 0]]  # +Y up becomes +Z up
    s = source.skeleton
    world = lie @ s.bind_world
    world[:, :3, :3] = np.eye(3)
    bind = local_from_world(s.parents, world)
    moved = lie @ source.world() @ np.linalg.inv(s.bind_world)
    # the same places and turns, seen in a world whose third axis is up
    posed = moved @ np.linalg.inv(lie) @ world
    local = local_from_world(s.parents, posed)
    z_up = Motion("z", Skeleton(s.names, s.parents, bind, bind, s.tails @ lie[:3, :3].T), source.times, local)
    target = skeletons["human/male_average_cmu_mb"]
    a, b = retarget(source, target), retarget(z_up, target)
    assert "stands along z" in b.report.notes[0]
    np.testing.assert_allclose(a.motion.world()[..., :3, 3], b.motion.world()[..., :3, 3], atol=1e-6)


def test_a_jump_leaves_the_floor_as_high_as_its_legs_are_long(
    skeletons: dict[str, Skeleton], clips: dict[str, Motion]
) -> None:
    source = clips["13_13"]

    def rise(motion: Motion) -> float:
        naming = recognise(motion.skeleton)
        toes = [naming.joint(f"{s}_metatarsophalangeal_2") for s in "lr"]
        height = np.min([motion.world()[:, toe or 0, 1, 3] for toe in toes], axis=0)
        return float(height.max() - np.percentile(height, 5))

    moved = retarget(source, skeletons["human/male_average_cmu_mb"])
    assert rise(source) > 0.25
    assert rise(moved.motion) == pytest.approx(moved.report.scale * rise(source), rel=0.1)


def test_spines_of_any_length_and_missing_joints(clips: dict[str, Motion]) -> None:
    """A figure without clavicles, neck or toes and with one spine joint still walks as the source does."""
    figure = standing_figure()
    drop = {"vl1", "vt7", "vc7", "vc4", "l_sternoclavicular", "r_sternoclavicular"}
    drop |= {n for n in figure.names if "phalangeal" in n or "carpometa" in n}
    keep = [j for j, n in enumerate(figure.names) if n not in drop]
    parents = []
    for j in keep:
        p = int(figure.parents[j])
        while p >= 0 and p not in keep:
            p = int(figure.parents[p])
        parents.append(keep.index(p) if p >= 0 else -1)
    up = np.array(parents, np.int32)
    local = local_from_world(up, figure.bind_world[keep])
    target = Skeleton(tuple(figure.names[j] for j in keep), up, local, local, figure.tails[keep])
    for mode in ("directions", "planted"):
        moved = retarget(clips["02_01"], target, mode=mode)
        assert "LeftShoulder" in moved.report.unmatched_source
        if mode == "directions":
            for start, end in LIMBS[:8]:
                a, b = directions(clips["02_01"], start, end), directions(moved.motion, start, end)
                assert worst_angle(a, b) < 0.01


def test_helper_joints_keep_their_place_or_the_motion_of_their_namesake(clips: dict[str, Motion]) -> None:
    source = clips["02_03"]
    s = source.skeleton

    def with_helper(skeleton: Skeleton, lengthen: float) -> Skeleton:
        arm = skeleton.index("LeftForeArm")
        bind = np.concatenate([skeleton.bind_local, np.eye(4)[None]])
        bind[:, :3, 3] *= lengthen
        bind[-1, :3, 3] = [0.1, 0, 0]
        parents = np.append(skeleton.parents, arm).astype(np.int32)
        tails = np.full((len(bind), 3), np.nan)
        return Skeleton((*skeleton.names, "ik_prop"), parents, bind, bind, tails)

    target = with_helper(s, 1.2)
    still = retarget(source, target).motion
    assert (still.local[:, -1] == target.bind_local[-1]).all()
    wave = np.tile(np.eye(4), (source.frame_count, 1, 1))
    angle = np.linspace(0, 2, source.frame_count)
    wave[:, 0, 0] = wave[:, 1, 1] = np.cos(angle)
    wave[:, 1, 0], wave[:, 0, 1] = np.sin(angle), -np.sin(angle)
    wave[:, :3, 3] = [0.1, 0, 0]
    local = np.concatenate([source.local, wave[:, None]], axis=1)
    waving = Motion("w", with_helper(s, 1.0), source.times, local)
    moved = retarget(waving, target).motion
    np.testing.assert_allclose(moved.local[:, -1, :3, :3], wave[:, :3, :3], atol=1e-9)


def test_creatures_are_matched_by_name(data: Path) -> None:
    horse = read_character(data / "mesh2motion" / "horse-animations.glb")
    walk = next(m for m in horse.motions if m.name == "Walk")
    assert (retarget(walk, horse.skeleton).motion.local == walk.local).all()
    s = horse.skeleton
    pony_bind = s.bind_local.copy()
    pony_bind[:, :3, 3] *= 0.5
    pony = Skeleton(s.names, s.parents, pony_bind, pony_bind, s.tails * 0.5)
    moved = retarget(walk, pony)
    assert moved.report.mode == "names"
    assert moved.report.scale == pytest.approx(0.5)
    expected = walk.world()
    # within the rounding of the file's single-precision rotations
    np.testing.assert_allclose(moved.motion.world()[..., :3, :3], expected[..., :3, :3], atol=5e-5)
    np.testing.assert_allclose(moved.motion.world()[..., :3, 3], 0.5 * expected[..., :3, 3], atol=5e-5)


def test_nothing_in_common_is_said_and_a_mapping_mends_it(data: Path, clips: dict[str, Motion]) -> None:
    horse = read_character(data / "mesh2motion" / "horse-animations.glb").skeleton
    with pytest.raises(MotionError, match=r"none of its 31 joints \('Hips', .* matches .*mapping"):
        retarget(clips["02_01"], horse)
    with pytest.raises(MotionError, match="no retargeting mode 'feet'"):
        retarget(clips["02_01"], horse, mode="feet")
    figure = standing_figure()
    odd = Skeleton(
        tuple(f"q{j}" for j in range(figure.joint_count)),
        figure.parents,
        figure.bind_local,
        figure.rest_local,
        figure.tails,
    )
    given = {f"q{j}": name for j, name in enumerate(figure.names)}
    mapped = retarget(clips["02_01"], odd, mapping=given)
    named = retarget(clips["02_01"], figure)
    assert (mapped.motion.local == named.motion.local).all()


def test_the_report_reads_well(skeletons: dict[str, Skeleton], clips: dict[str, Motion]) -> None:
    moved: Retargeted = retarget(clips["02_01"], skeletons["mesh2motion/human-male"])
    text = str(moved.report)
    assert "retargeted (directions): 26 joints matched" in text
    assert "foot skate" in text
    assert "soles are tilted" in text
    assert ("LeftForeArm", "lowerarm_l") in moved.report.matched
    assert "LHipJoint" in moved.report.unmatched_source
    assert "index_02_l" in moved.report.unmatched_target


def test_one_frame_is_enough(skeletons: dict[str, Skeleton], clips: dict[str, Motion]) -> None:
    for mode in ("directions", "planted"):
        pose = retarget(bind_pose(clips["02_01"].skeleton), skeletons["human/male_average_cmu_mb"], mode=mode)
        assert pose.motion.frame_count == 1
        assert abs(pose.report.floor_offset) < 0.01
