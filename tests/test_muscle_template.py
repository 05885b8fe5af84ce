"""The anatomical template: complete, mirrored, in place on real people, and pulling the right way."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from anatomical_poses import AnatomicalPoses
from conftest import Figure
from ecorche.body.character import Character
from ecorche.errors import SkeletonError
from ecorche.io.formats import read_character
from ecorche.muscles.fit import fit_to_skin
from ecorche.muscles.musculature import Musculature, musculature
from ecorche.muscles.scapula import scapula_upward_rotation
from ecorche.muscles.template import (
    RIGHT_SIDE,
    TEMPLATE,
    Placement,
    place,
    segment_frames,
    segments,
)
from ecorche.muscles.template.directions import axis_of
from ecorche.skeleton.naming import JOINTS, Naming, recognise
from ecorche.skeleton.skeleton import Skeleton
from ecorche.skeleton.standing import standing_figure

Floats = npt.NDArray[np.float64]

PEOPLE = (
    "human/male_muscular_cmu_mb.glb",
    "human/male_average_cmu_mb.glb",
    "human/male_slim_cmu_mb.glb",
    "human/female_average_cmu_mb.glb",
    "human/male_muscular_mixamo.glb",
    "human/male_dressed_mixamo.glb",
    "mesh2motion/human-male.glb",
)

BY_NAME = {muscle.name: muscle for muscle in TEMPLATE}

EXCEPTIONS = {
    # turning the whole collar bone about its inner end takes the blade's inner border down, not up
    ("rhomboid major", "sternoclavicular", "elevation"),
    ("levator scapulae", "sternoclavicular", "elevation"),
}
"""Muscle, joint and direction whose sign may be wrong on some rig, and why."""


@cache
def _person(path: Path) -> tuple[Character, Naming, Placement]:
    character = read_character(path)
    naming = recognise(character.skeleton)
    return character, naming, place(TEMPLATE, character.skeleton, naming)


# ---- the table ----


def test_there_are_over_a_hundred_muscles_with_unique_names_and_sound_numbers() -> None:
    assert len(TEMPLATE) >= 100
    assert len({m.name for m in TEMPLATE}) == len(TEMPLATE)
    for m in TEMPLATE:
        assert 0.0 < m.belly < 1.0, m.name
        assert m.thickness > 0.0, m.name
        assert m.flatness > 0.0, m.name
        assert m.max_force > 0.0, m.name
        assert m.force_source, m.name
        assert m.actions, m.name
        assert all(0.0 < a.weight <= 1.0 for a in m.actions), m.name
        assert len(m.path) >= 2, m.name
        assert m.path == (m.origin, *m.via, m.insertion)
        assert np.linalg.norm(m.outward) > 0.0, m.name
        moves = (*m.actions, *m.resists)
        for segment in (m.limb, *m.skin, *(p.segment for p in m.path), *(a.joint for a in moves)):
            assert segment in JOINTS, (m.name, segment)


def test_flat_muscles_are_several_spindles_of_one_name() -> None:
    heads = {
        name: [m.head for m in RIGHT_SIDE if m.muscle == name] for name in {m.muscle for m in RIGHT_SIDE}
    }
    assert heads["pectoralis major"] == ["clavicular", "sternal", "abdominal"]
    assert heads["trapezius"] == ["upper", "middle", "lower"]
    assert heads["deltoid"] == ["anterior", "middle", "posterior"]
    assert len(heads["latissimus dorsi"]) == 3
    assert len(heads["triceps brachii"]) == 3


def test_the_left_side_is_the_mirror_image_of_the_right() -> None:
    half = len(RIGHT_SIDE)
    for right, left in zip(TEMPLATE[:half], TEMPLATE[half:], strict=True):
        assert (right.side, left.side) == ("right", "left")
        assert left.mirrored() == right
        assert left == replace(
            right,
            side="left",
            path=left.path,
            limb=left.limb,
            skin=left.skin,
            outward=left.outward,
            actions=left.actions,
            resists=left.resists,
        )


def test_forces_are_those_of_the_published_arm(data: Path) -> None:
    """The arm26 model carries six muscles of Holzbaur et al. 2005."""
    names = {
        "TRIlong": "triceps brachii, long head, right",
        "TRIlat": "triceps brachii, lateral head, right",
        "TRImed": "triceps brachii, medial head, right",
        "BIClong": "biceps brachii, long head, right",
        "BICshort": "biceps brachii, short head, right",
        "BRA": "brachialis, right",
    }
    force = {m.name: m.max_force for m in TEMPLATE}
    published = {
        muscle.get("name"): float(muscle.findtext("max_isometric_force", ""))
        for muscle in ElementTree.parse(data / "arm26" / "arm26.osim").iter("Thelen2003Muscle")
    }
    for theirs, ours in names.items():
        assert force[ours] == pytest.approx(published[theirs], abs=0.06)


def test_an_unknown_direction_is_refused_with_the_nearest() -> None:
    with pytest.raises(SkeletonError, match=r"'r_elbow' has no direction 'flexon'.*flexion"):
        axis_of("r_elbow", "flexon", "right")


# ---- frames and placing ----


def test_in_the_default_pose_frames_point_right_along_and_forward() -> None:
    skeleton = standing_figure()
    frames = segment_frames(skeleton, recognise(skeleton))
    for name, frame in frames.items():
        x, y, z = (frame[:3, :3] / np.linalg.norm(frame[:3, :3], axis=0)).T
        assert x @ (-1, 0, 0) > 0.98, name
        foot = "talocrural" in name or "metatarso" in name
        hangs = name[:2] in ("r_", "l_") and not name.endswith("clavicular")
        assert y @ ((0, 0, 1) if foot else (0, -1, 0) if hangs else (0, 1, 0)) > 0.98, name
        assert z @ ((0, 1, 0) if foot else (0, 0, 1)) > 0.98, name


def test_limb_frames_reach_from_joint_to_joint_in_any_bind_pose(data: Path) -> None:
    for path in PEOPLE:
        character, naming, _ = _person(data / path)
        parts = segments(character.skeleton, naming)
        heads = character.skeleton.bind_world[:, :3, 3]
        for near, far in (
            ("shoulder", "elbow"),
            ("elbow", "radiocarpal"),
            ("hip", "knee"),
            ("knee", "talocrural"),
        ):
            for side in "lr":
                joint = naming.joint(f"{side}_{far}")
                assert joint is not None
                assert np.allclose(parts[f"{side}_{near}"].point((0, 1, 0)), heads[joint], atol=1e-9)


@pytest.mark.parametrize("path", PEOPLE)
def test_every_muscle_finds_its_place_on_real_people(data: Path, path: str) -> None:
    _, _, placement = _person(data / path)
    assert len(placement.muscles) + len(placement.left_out) == len(TEMPLATE)
    assert all("metacarpophalangeal" in left.reason for left in placement.left_out), placement.left_out
    assert len(placement.left_out) <= (4 if "cmu" in path else 0)
    for m in placement.muscles:
        assert np.isfinite(m.positions).all()
        assert len(set(m.joints)) >= 2
        assert max(m.joints) < placement.skeleton.joint_count
        assert np.isclose(np.linalg.norm(m.outward), 1.0)
        assert 0.001 < m.thickness[0, 3] < 0.1, m.name


def test_left_and_right_lie_symmetrically_on_a_symmetric_body() -> None:
    skeleton = standing_figure()
    by_name = {m.name: m for m in place(TEMPLATE, skeleton, recognise(skeleton)).muscles}
    mirror = np.array([-1.0, 1.0, 1.0])
    assert len(by_name) == len(TEMPLATE)
    for name, m in by_name.items():
        if name.endswith("right"):
            twin = by_name[name.removesuffix("right") + "left"]
            assert np.allclose(twin.positions, mirror * m.positions, atol=1e-12), name
            assert np.allclose(twin.outward, mirror * m.outward, atol=1e-12), name


def test_a_bust_and_a_one_armed_man_get_the_muscles_they_can_have() -> None:
    whole = standing_figure()
    everyone = {m.name: m for m in place(TEMPLATE, whole, recognise(whole)).muscles}

    one_armed = _without(whole, {"l_sternoclavicular"})
    placed = place(TEMPLATE, one_armed, recognise(one_armed))
    out = {left.name: left.reason for left in placed.left_out}
    assert "biceps brachii, long head, left" in out
    assert "l_shoulder" in out["biceps brachii, long head, left"]
    assert not any(name.endswith("right") for name in out)
    for m in placed.muscles:
        assert np.allclose(m.positions, everyone[m.name].positions, atol=1e-9), m.name

    bust = _without(whole, {"l_hip", "r_hip"})
    kept = {m.name for m in place(TEMPLATE, bust, recognise(bust)).muscles}
    assert "pectoralis major, sternal, right" in kept
    assert "sternocleidomastoid, sternal, left" in kept
    assert not any("femoris" in name or "rectus abdominis" in name for name in kept)


def test_a_rig_without_fingers_keeps_the_long_finger_muscles() -> None:
    whole = standing_figure()
    bare = _without(whole, {f"r_metacarpophalangeal_{n}" for n in (2, 3, 4, 5)})
    placement = place(TEMPLATE, bare, recognise(bare))
    assert "extensor digitorum, right" in {m.name for m in placement.muscles}
    assert any(
        "extensor digitorum, right" in note and "r_metacarpophalangeal_3" in note for note in placement.notes
    )


def test_one_joint_for_all_fingers_closes_the_fist(data: Path) -> None:
    """The CMU rig has one finger joint a hand: the long finger muscles reach it and work with it."""
    character, naming, placement = _person(data / PEOPLE[0])
    flexor = next(m for m in placement.muscles if m.name == "flexor digitorum superficialis, right")
    assert flexor.joints[-1] == naming.joint("r_metacarpophalangeal_2")
    assert character.skeleton.names[flexor.joints[-1]] in {action.joint for action in flexor.actions}
    assert not any("superficialis" in note for note in placement.notes)


def _without(skeleton: Skeleton, roots: set[str]) -> Skeleton:
    """The skeleton without these joints and all below them."""
    gone: set[int] = set()
    for joint, parent in enumerate(skeleton.parents):
        if skeleton.names[joint] in roots or int(parent) in gone:
            gone.add(joint)
    keep = [j for j in range(skeleton.joint_count) if j not in gone]
    new = {old: i for i, old in enumerate(keep)}
    parents = np.array(
        [new[int(skeleton.parents[j])] if skeleton.parents[j] >= 0 else -1 for j in keep], np.int32
    )
    return Skeleton(
        tuple(skeleton.names[j] for j in keep),
        parents,
        skeleton.bind_local[keep],
        skeleton.rest_local[keep],
        skeleton.tails[keep],
    )


# ---- pulling the right way ----


class Lengthening:
    """How muscles lengthen when a joint of a person in the default pose turns a little."""

    def __init__(self, muscles: Musculature, poses: AnatomicalPoses) -> None:
        self.poses = poses
        self._muscles = muscles
        self._number = {name: number for number, name in enumerate(muscles.names)}
        self._found: dict[tuple[str, str, str], Floats] = {}

    def of(self, muscle: str, joint: str, direction: str) -> float:
        """Change of length per angle, a central difference [m/rad]."""
        key = (joint, direction, BY_NAME[muscle].side)
        if key not in self._found:
            raised = [(joint, "abduction", 90.0)] if direction.startswith("horizontal") else []
            ends = [self.poses.difference([*raised, (joint, direction, a)], key[2]) for a in (-0.1, 0.1)]
            back, there = self._muscles.posed(np.stack(ends))[0].path.lengths
            self._found[key] = (there - back) / np.radians(0.2)
        return float(self._found[key][self._number[muscle]])

    def wrong_actions(self) -> tuple[set[tuple[str, str, str]], int]:
        """Actions of the table that a muscle's line does not have, and how many there are in all."""
        wrong, count = set(), 0
        for m in self._muscles.muscles:
            for action in BY_NAME[m.name].actions:
                if action.joint in self.poses.parts:
                    count += 1
                    if not self.of(m.name, action.joint, action.direction) < 0.0:
                        base = action.joint.removeprefix("l_").removeprefix("r_")
                        wrong.add((m.muscle, base, action.direction))
        return wrong, count


@cache
def _placed_lines(path: Path) -> Lengthening:
    character, naming, placement = _person(path)
    muscles = musculature(placement.muscles, character.skeleton, placement.scapulae)
    return Lengthening(muscles, AnatomicalPoses(character.skeleton, naming))


KNOWN = (
    ("biceps brachii, long head", "r_elbow", "flexion", -1),
    ("biceps brachii, short head", "r_elbow", "flexion", -1),
    ("brachialis", "r_elbow", "flexion", -1),
    ("triceps brachii, long head", "r_elbow", "flexion", 1),
    ("triceps brachii, lateral head", "r_elbow", "flexion", 1),
    ("triceps brachii, medial head", "r_elbow", "flexion", 1),
    ("biceps femoris, long head", "r_knee", "flexion", -1),
    ("semitendinosus", "r_knee", "flexion", -1),
    ("semimembranosus", "r_knee", "flexion", -1),
    ("gastrocnemius, medial", "r_knee", "flexion", -1),
    ("gastrocnemius, lateral", "r_knee", "flexion", -1),
    ("vastus lateralis", "r_knee", "flexion", 1),
    ("vastus medialis", "r_knee", "flexion", 1),
    ("rectus femoris", "r_knee", "flexion", 1),
    ("soleus, medial", "r_talocrural", "plantarflexion", -1),
    ("soleus, lateral", "r_talocrural", "plantarflexion", -1),
    ("tibialis anterior", "r_talocrural", "plantarflexion", 1),
    ("deltoid, middle", "r_shoulder", "abduction", -1),
    ("latissimus dorsi, middle", "r_shoulder", "abduction", 1),
    ("rectus abdominis", "vl5", "flexion", -1),
    ("erector spinae, longissimus", "vl5", "flexion", 1),
    ("erector spinae, iliocostalis", "vl5", "flexion", 1),
    ("gluteus maximus, upper", "r_hip", "extension", -1),
    ("gluteus maximus, lower", "r_hip", "extension", -1),
    ("splenius capitis", "skullbase", "ipsilateral rotation", -1),
)


@pytest.mark.parametrize("path", [PEOPLE[0], PEOPLE[4], PEOPLE[6]])
def test_muscles_shorten_and_lengthen_as_everyone_knows(data: Path, path: str) -> None:
    lines = _placed_lines(data / path)
    for name, joint, direction, sign in KNOWN:
        for side in ("right", "left"):
            sided = joint.replace("r_", "l_") if side == "left" else joint
            change = lines.of(f"{name}, {side}", sided, direction)
            assert sign * change > 1e-3, (name, side, joint, direction, change)


@pytest.mark.parametrize("path", [PEOPLE[0], PEOPLE[4], PEOPLE[6]])
def test_the_action_table_agrees_with_the_lines(data: Path, path: str, figure: Figure) -> None:
    wrong, count = _placed_lines(data / path).wrong_actions()
    assert count > 300
    figure(f"template actions wrong, {Path(path).stem}", len(wrong), 2, "actions")
    assert wrong <= EXCEPTIONS


@pytest.mark.parametrize("path", PEOPLE)
def test_lines_drawn_under_a_skin_still_pull_the_right_way(data: Path, path: str, figure: Figure) -> None:
    character, _, placement = _person(data / path)
    body = character.body().mesh
    fitted, _ = fit_to_skin(placement.muscles, placement.skeleton, body.points, body.triangles())
    muscles = musculature(fitted, character.skeleton, placement.scapulae)
    wrong, count = Lengthening(muscles, _placed_lines(data / path).poses).wrong_actions()
    assert count > 300
    figure(
        f"template actions whose sign is wrong under the skin, {Path(path).stem}", len(wrong), 2, "actions"
    )
    assert wrong <= EXCEPTIONS


# ---- inside the skin ----


@pytest.mark.parametrize(
    ("path", "inside"), [(PEOPLE[0], 0.95), (PEOPLE[2], 0.95), (PEOPLE[3], 0.95), (PEOPLE[4], 0.95)]
)
def test_lines_lie_inside_the_skin_at_bind(data: Path, path: str, inside: float, figure: Figure) -> None:
    """Fitting to the skin comes after; the template alone must already be close."""
    igl = pytest.importorskip("igl")
    character, _, placement = _person(data / path)
    body = character.body().mesh
    t = np.linspace(0.0, 1.0, 9)[:, None]
    points = np.concatenate(
        [
            a + t * (b - a)
            for m in placement.muscles
            for a, b in zip(m.positions, m.positions[1:], strict=False)
        ]
    )
    triangles = body.triangles().astype(np.int64)
    turns = igl.fast_winding_number(body.points.astype(np.float64), triangles, points)
    share = float(np.mean(np.abs(turns) > 0.5))
    figure(f"template path points inside the skin, {Path(path).stem}", share, inside, "share")
    assert share >= inside


# ---- the virtual scapula ----


def test_the_scapula_turns_one_for_two_of_the_arm() -> None:
    raised = np.radians([-10.0, 0.0, 30.0, 90.0, 180.0])
    turned = scapula_upward_rotation(raised)
    assert np.allclose(np.degrees(turned), [0.0, 0.0, 10.0, 30.0, 60.0])
    fine = np.linspace(-0.5, np.pi, 20001)
    slope = np.gradient(scapula_upward_rotation(fine), fine)
    assert (slope >= -1e-12).all()
    assert np.abs(np.diff(slope)).max() < 1e-3
    beyond = fine > np.radians(31.0)
    assert np.allclose((1.0 - slope[beyond]) / slope[beyond], 2.0)
