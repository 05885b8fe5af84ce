"""An adult's joints: types, signs, ranges, and the default pose they are told in."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from ecorche.base.rotations import rotate_xyzw, xyzw_from_axis_angle
from ecorche.errors import SkeletonError
from ecorche.io.formats import read_character, read_motion
from ecorche.skeleton.default_pose import default_from_bind
from ecorche.skeleton.human_limits import human_joint, human_joint_names, human_joints
from ecorche.skeleton.human_spine import SEGMENTS, spinal_spans
from ecorche.skeleton.joints import BallAndSocket, Knee, Revolute, Swing
from ecorche.skeleton.naming.recognise import recognise
from ecorche.skeleton.naming.vocabulary import JOINTS

Floats = npt.NDArray[np.float64]

LEFT, RIGHT, UP, DOWN = (1.0, 0.0, 0.0), (-1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, -1.0, 0.0)
FORWARD, BACK = (0.0, 0.0, 1.0), (0.0, 0.0, -1.0)

TYPES = {
    Revolute: ("r_elbow", "r_radioulnar", "l_metacarpophalangeal_2", "l_metatarsophalangeal_1"),
    Knee: ("l_knee", "r_knee"),
    Swing: ("l_radiocarpal", "r_carpometacarpal_1"),
    BallAndSocket: ("l_shoulder", "r_hip", "l_talocrural", "vl5", "vt6", "vc1", "skullbase"),
}


def largest(name: str, axis: tuple[float, float, float]) -> float:
    """How far [degrees] a joint turns about an axis, in the default pose's axes, before it is stopped."""
    degrees = np.arange(0.0, 180.0, 0.25)
    _, excess = human_joint(name).clamp(xyzw_from_axis_angle(np.array(axis), np.radians(degrees)))
    return float(degrees[np.argmax(excess.beyond)] if excess.beyond.any() else 180.0)


@pytest.mark.parametrize(("kind", "name"), [(k, n) for k, names in TYPES.items() for n in names])
def test_joints_have_the_types_of_the_thesis(kind: type, name: str) -> None:
    assert isinstance(human_joint(name), kind)


@pytest.mark.parametrize("name", human_joint_names())
def test_standing_still_is_within_every_limit(name: str) -> None:
    assert not human_joint(name).clamp([0.0, 0.0, 0.0, 1.0])[1].beyond


@pytest.mark.parametrize(
    ("name", "axis", "expected"),
    [
        ("r_hip", RIGHT, 140.0),  # flexion
        ("l_hip", RIGHT, 140.0),
        ("r_hip", LEFT, 30.0),  # extension
        ("r_hip", BACK, 45.0),  # abduction
        ("l_hip", FORWARD, 45.0),
        ("r_hip", DOWN, 45.0),  # outward
        ("l_hip", UP, 45.0),
        ("r_knee", LEFT, 160.0),
        ("r_knee", RIGHT, 10.0),
        ("l_talocrural", RIGHT, 45.0),  # toes up
        ("l_talocrural", LEFT, 50.0),
        ("r_talocrural", FORWARD, 35.0),  # sole inward
        ("l_talocrural", BACK, 35.0),
        ("r_shoulder", LEFT, 60.0),  # extension
        ("l_shoulder", LEFT, 60.0),
        ("r_shoulder", DOWN, 65.0),  # outward, arm hanging
        ("l_shoulder", DOWN, 80.0),  # inward
        ("r_elbow", RIGHT, 150.0),
        ("l_elbow", RIGHT, 150.0),
        ("l_elbow", LEFT, 10.0),
        ("r_radioulnar", DOWN, 90.0),  # supination
        ("l_radioulnar", UP, 90.0),
        ("l_radioulnar", DOWN, 85.0),
        ("r_radiocarpal", FORWARD, 80.0),  # flexion towards the palm
        ("l_radiocarpal", BACK, 80.0),
        ("l_radiocarpal", FORWARD, 70.0),
        ("r_radiocarpal", RIGHT, 20.0),  # towards the thumb
        ("r_carpal_proximal_interphalangeal_3", FORWARD, 110.0),
        ("l_carpal_proximal_interphalangeal_3", BACK, 110.0),
        ("vc1", UP, 40.0),
        ("vc1", DOWN, 40.0),
    ],
)
def test_ranges_are_those_written_down_on_both_sides(
    name: str, axis: tuple[float, float, float], expected: float
) -> None:
    assert abs(largest(name, axis) - expected) <= 0.5


def test_the_arm_reaches_up_but_not_through_the_body() -> None:
    shoulder = human_joint("r_shoulder")
    flexed = xyzw_from_axis_angle(np.array(RIGHT), np.radians(np.arange(0.0, 181.0, 5.0)))
    assert not shoulder.clamp(flexed)[1].beyond.any()
    into_the_ribs = xyzw_from_axis_angle(np.array(FORWARD), np.radians(40.0))
    assert shoulder.clamp(into_the_ribs)[1].swing > np.radians(20.0)
    # raised sideways to the top, the arm has to turn outward
    assert shoulder.clamp(xyzw_from_axis_angle(np.array(BACK), np.pi))[1].twist > np.radians(20.0)


def test_the_spine_adds_up_to_what_people_can_do() -> None:
    """Totals of lumbar, thoracic and cervical spine, as White and Panjabi's segments sum."""
    totals = {
        region: np.sum([v for n, v in SEGMENTS.items() if n.startswith(region)], axis=0)
        for region in ("vl", "vt", "vc")
    }
    np.testing.assert_array_equal(totals["vl"], [74, 29, 9])
    np.testing.assert_array_equal(totals["vt"], [76, 76, 71])
    np.testing.assert_array_equal(totals["vc"], [111, 56, 72])


def test_a_coarse_spine_moves_as_far_as_the_vertebrae_it_stands_for() -> None:
    spans = spinal_spans({"vl5", "vl1", "vt7"})
    assert spans["vl5"] == ["vl5", "vl4", "vl3", "vl2"]
    assert spans["vl1"][0] == "vl4"
    assert spans["vl1"][-1] == "vt8"
    assert spans["vt7"][-1] == "skullbase"
    assert spinal_spans({"l_hip"}) == {}
    assert spinal_spans(set(SEGMENTS)) == {name: [name] for name in SEGMENTS}


def test_a_rig_without_radioulnar_joints_may_turn_elbow_and_wrist() -> None:
    turn = xyzw_from_axis_angle(np.array(UP), np.radians(75.0))
    coarse, fine = human_joints(["l_elbow", "l_radiocarpal"]), human_joints(["l_elbow", "l_radioulnar"])
    assert not coarse["l_elbow"].clamp(turn)[1].beyond
    assert not coarse["l_radiocarpal"].clamp(turn)[1].beyond
    assert fine["l_elbow"].clamp(turn)[1].beyond
    assert not fine["l_radioulnar"].clamp(turn)[1].beyond


def test_a_lone_finger_joint_bends_for_the_whole_finger() -> None:
    joints = human_joints(["r_metacarpophalangeal_2"])
    fist = xyzw_from_axis_angle(np.array(FORWARD), np.radians(170.0))
    assert not joints["r_metacarpophalangeal_2"].clamp(fist)[1].beyond
    assert human_joint("r_metacarpophalangeal_2").clamp(fist)[1].beyond


def test_names_are_those_of_the_standard() -> None:
    extra = {"l_radioulnar", "r_radioulnar"}  # the thesis's addition
    unknown = set(human_joint_names()) - set(JOINTS) - extra
    assert not unknown


def test_an_unknown_joint_is_refused() -> None:
    with pytest.raises(
        SkeletonError, match=r"no limits are known for a joint 'l_sholder'\. Did you mean 'l_shoulder'"
    ):
        human_joint("l_sholder")


@pytest.mark.parametrize(
    "file",
    [
        "human/male_average_cmu_mb.glb",
        "human/male_muscular_mixamo.glb",
        "mesh2motion/human-male.glb",
        "cmu/02_01.bvh",
    ],
)
def test_bind_poses_are_turned_to_the_default_pose(data: Path, file: str) -> None:
    path = data / file
    skeleton = read_motion(path).skeleton if path.suffix == ".bvh" else read_character(path).skeleton
    names = recognise(skeleton).canonical
    turned = default_from_bind(skeleton, names)
    heads = skeleton.bind_world[:, :3, 3]
    joint_of = {name: j for j, name in enumerate(names) if name}

    def direction(start: str, end: str) -> Floats:
        bone = heads[joint_of[end]] - heads[joint_of[start]]
        return rotate_xyzw(turned[joint_of[start]], bone / np.linalg.norm(bone))

    for side in "lr":
        for start, end in (
            ("hip", "knee"),
            ("knee", "talocrural"),
            ("shoulder", "elbow"),
            ("elbow", "radiocarpal"),
        ):
            np.testing.assert_allclose(direction(f"{side}_{start}", f"{side}_{end}"), DOWN, atol=1e-9)
        foot = direction(f"{side}_talocrural", f"{side}_metatarsophalangeal_2")
        assert abs(foot[0]) < 1e-9
        assert foot[2] > 0.5
        if f"{side}_metacarpophalangeal_5" in joint_of:
            # palms inward: the index finger is before the little one, neither further out
            across = (
                heads[joint_of[f"{side}_metacarpophalangeal_2"]]
                - heads[joint_of[f"{side}_metacarpophalangeal_5"]]
            )
            across = rotate_xyzw(turned[joint_of[f"{side}_radiocarpal"]], across)
            assert across[2] > 2.0 * abs(across[0])


def test_doubled_or_missing_names_are_refused(data: Path) -> None:
    skeleton = read_motion(data / "cmu/02_01.bvh").skeleton
    with pytest.raises(SkeletonError, match="2 canonical names are given for 31 joints"):
        default_from_bind(skeleton, ["l_hip", None])
    with pytest.raises(SkeletonError, match="are both 'l_hip'"):
        default_from_bind(skeleton, ["l_hip"] * 2 + [None] * 29)
