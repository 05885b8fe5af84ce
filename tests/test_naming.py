"""Which joint is which: by name in every convention we know, and by a mapping."""

from __future__ import annotations

from pathlib import Path

import pytest

from ecorche.errors import SkeletonError
from ecorche.io.formats import read_character, read_motion
from ecorche.skeleton.naming import JOINTS, SEGMENTS, Naming, canonical_name, mirrored, recognise
from ecorche.skeleton.naming.sites import FEATURE_POINTS, feature_point, site_name
from ecorche.skeleton.naming.spine import neck_vertebrae, trunk_vertebrae
from ecorche.skeleton.naming.vocabulary import ALIASES, MAIN_JOINTS, NECK, TRUNK
from ecorche.skeleton.skeleton import Skeleton
from rigs import skeleton_of


def names_of(skeleton: Skeleton) -> tuple[Naming, dict[str, str | None], dict[str, str]]:
    naming = recognise(skeleton)
    canonical = dict(zip(skeleton.names, naming.canonical, strict=True))
    return naming, canonical, dict(zip(skeleton.names, naming.roles, strict=True))


def test_vocabulary_is_one_tree_of_146_joints_and_segments() -> None:
    assert len(JOINTS) == len(SEGMENTS) == 146
    seen: set[str | None] = {None}
    for joint in JOINTS.values():
        assert joint.parent in seen
        seen.add(joint.name)
    assert [sum(j.level <= level for j in JOINTS.values()) for level in range(5)] == [1, 18, 71, 94, 146]
    assert [JOINTS[j].segment for j in ("vl5", "vt1", "vc7", "l_knee", "r_radiocarpal")] == [
        *("l5", "t1", "c7", "l_calf", "r_carpal")
    ]


def test_a_skeleton_of_a_lower_level_is_closed_under_parents_that_exist() -> None:
    """Going up from any joint, the nearest ancestor of its level exists: nothing hangs in the air."""
    for joint in JOINTS.values():
        above = joint.parent
        while above is not None and JOINTS[above].level > joint.level:
            above = JOINTS[above].parent
        assert (above is None) == (joint.name == "humanoid_root")


def test_left_and_right_are_mirror_images() -> None:
    for name, joint in JOINTS.items():
        twin = JOINTS[mirrored(name)]
        assert mirrored(twin.name) == name
        assert twin.parent == (mirrored(joint.parent) if joint.parent else None)
        assert (twin.level, twin.segment) == (joint.level, mirrored(joint.segment))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("HumanoidRoot", "humanoid_root"),
        ("l_ankle", "l_talocrural"),
        ("r_midtarsal", "r_tarsometatarsal_2"),
        ("l_wrist", "l_radiocarpal"),
        ("r_index1", "r_metacarpophalangeal_2"),
        ("l_pinky0", "l_carpometacarpal_5"),
        ("L_KNEE", "l_knee"),
    ],
)
def test_older_spellings_are_understood(old: str, new: str) -> None:
    assert canonical_name(old) == new


def test_aliases_lead_to_joints() -> None:
    assert set(ALIASES.values()) <= set(JOINTS)
    assert not set(ALIASES) & set(JOINTS)
    assert canonical_name("flipper") is None


def test_feature_points_lie_on_segments() -> None:
    assert set(FEATURE_POINTS.values()) <= set(SEGMENTS)
    assert feature_point(site_name("l_acromion")) == "l_acromion"
    assert feature_point("l_hand_tip") is None
    for point, segment in FEATURE_POINTS.items():
        assert FEATURE_POINTS[mirrored(point)] == mirrored(segment)


def test_spine_joints_get_vertebrae_by_their_place() -> None:
    assert trunk_vertebrae(1) == ["vl5"]
    assert trunk_vertebrae(3) == ["vl5", "vl1", "vt7"]
    assert trunk_vertebrae(17) == list(TRUNK)
    assert neck_vertebrae(2) == ["vc7", "vc4"]
    for table, names in ((trunk_vertebrae, TRUNK), (neck_vertebrae, NECK)):
        for count in range(1, 40):
            found = [v for v in table(count) if v is not None]
            assert len(found) == min(count, len(names))
            assert [names.index(v) for v in found] == sorted({names.index(v) for v in found})


REAL = {
    "human/male_average_cmu_mb.glb": "cmu",
    "human/female_average_cmu_mb.glb": "cmu",
    "human/male_muscular_mixamo.glb": "mixamo",
    "human/male_dressed_mixamo.glb": "mixamo",
    "mesh2motion/human-male.glb": "mesh2motion",
}


@pytest.mark.parametrize("file", REAL)
def test_real_characters_are_recognised_whole(data: Path, file: str) -> None:
    naming, canonical, roles = names_of(read_character(data / file).skeleton)
    assert naming.convention == REAL[file]
    assert naming.notes == ()
    assert set(MAIN_JOINTS) <= set(canonical.values())
    named = [c for c in canonical.values() if c is not None]
    assert len(named) == len(set(named))
    for name, role in roles.items():
        assert (role == "joint") == (canonical[name] is not None)


def test_mesh2motion_leaves_and_root_are_told_apart(data: Path) -> None:
    _, canonical, roles = names_of(read_character(data / "mesh2motion/human-male.glb").skeleton)
    assert roles["root"] == "root"
    assert {n for n, r in roles.items() if r == "leaf"} == {n for n in roles if "leaf" in n}
    assert canonical["thumb_01_l"] == "l_carpometacarpal_1"
    assert canonical["index_01_l"] == "l_metacarpophalangeal_2"
    assert [canonical[f"spine_0{i}"] for i in (1, 2, 3)] == ["vl5", "vl1", "vt7"]


def test_motion_and_character_of_cmu_agree(data: Path) -> None:
    _, body, _ = names_of(read_character(data / "human/male_average_cmu_mb.glb").skeleton)
    naming, motion, roles = names_of(read_motion(data / "cmu/02_01.bvh").skeleton)
    assert naming.convention == "cmu"
    assert roles["LHipJoint"] == "helper"
    shared = body.keys() & motion.keys()
    assert len(shared) >= 27
    assert all(body[name] == motion[name] for name in shared)


def test_a_horse_is_no_human(data: Path) -> None:
    naming = recognise(read_character(data / "mesh2motion/horse-animations.glb").skeleton)
    assert naming.convention == "unknown"
    assert set(naming.canonical) == {None}
    assert "not recognised as a humanoid: the trunk does not stand upright" in naming.notes[0]


def side(listing: str, left: str, right: str) -> str:
    return listing.replace("{s}", left) + listing.replace("{s}", right)


MIXAMO = (
    """
Hips
  Spine
    Spine1
      Spine2
        Neck
          Head
            HeadTop_End
"""
    + side(
        """        {s}Shoulder
          {s}Arm
            {s}ForeArm
              {s}Hand
                {s}HandThumb1
                  {s}HandThumb2
                    {s}HandThumb3
                      {s}HandThumb4
""",
        "Left",
        "Right",
    )
    + side(
        """  {s}UpLeg
    {s}Leg
      {s}Foot
        {s}ToeBase
          {s}Toe_End
""",
        "Left",
        "Right",
    )
)


@pytest.mark.parametrize(
    "prefix", ["mixamorig:", "", "mixamorig1:", "mixamorig_", "mixamorig", "Boss|mixamorig9:"]
)
def test_mixamo_with_any_prefix(prefix: str) -> None:
    lines = [line for line in MIXAMO.splitlines() if line]
    listing = "\n".join(" " * (len(s) - len(s.lstrip())) + prefix + s.strip() for s in lines)
    naming, canonical, roles = names_of(skeleton_of(listing))
    assert naming.convention == "mixamo"
    assert set(MAIN_JOINTS) <= set(canonical.values())
    assert canonical[prefix + "LeftHandThumb1"] == "l_carpometacarpal_1"
    assert [roles[prefix + n] for n in ("HeadTop_End", "LeftToe_End", "LeftHandThumb4")] == ["leaf"] * 3


UNREAL = """
root
  pelvis
    spine_01
      spine_02
        spine_03
          neck_01
            head
{arms}{legs}  ik_foot_root
    ik_foot_l
    ik_foot_r
  ik_hand_root
    ik_hand_gun
      ik_hand_l
      ik_hand_r
""".replace(
    "{arms}",
    side(
        """          clavicle_{s}
            upperarm_{s}
              upperarm_twist_01_{s}
              lowerarm_{s}
                lowerarm_twist_01_{s}
                hand_{s}
                  index_metacarpal_{s}
                    index_01_{s}
                      index_02_{s}
                        index_03_{s}
""",
        "l",
        "r",
    ),
).replace(
    "{legs}",
    side(
        """    thigh_{s}
      thigh_twist_01_{s}
      calf_{s}
        calf_twist_01_{s}
        foot_{s}
          ball_{s}
""",
        "l",
        "r",
    ),
)


def test_unreal_twist_and_ik_joints_have_roles() -> None:
    naming, canonical, roles = names_of(skeleton_of(UNREAL))
    assert naming.convention == "unreal"
    assert set(MAIN_JOINTS) <= set(canonical.values())
    assert {n for n, r in roles.items() if r == "twist"} == {n for n in roles if "twist" in n}
    assert {n for n, r in roles.items() if r == "helper"} == {n for n in roles if n.startswith("ik_")}
    assert roles["root"] == "root"
    assert canonical["index_metacarpal_r"] == "r_carpometacarpal_2"


RIGIFY = """
root
  ORG-spine
  DEF-spine
    DEF-spine.001
      DEF-spine.002
        DEF-spine.003
          DEF-spine.004
            DEF-spine.005
              DEF-spine.006
{arms}{legs}    DEF-pelvis.L
  MCH-torso.parent
""".replace(
    "{arms}",
    side(
        """          DEF-shoulder.{s}
            DEF-upper_arm.{s}
              DEF-upper_arm.{s}.001
                DEF-forearm.{s}
                  DEF-forearm.{s}.001
                    DEF-hand.{s}
                      DEF-palm.01.{s}
                        DEF-f_index.01.{s}
                          DEF-f_index.02.{s}
                      DEF-thumb.01.{s}
""",
        "L",
        "R",
    ),
).replace(
    "{legs}",
    side(
        """    DEF-thigh.{s}
      DEF-thigh.{s}.001
        DEF-shin.{s}
          DEF-shin.{s}.001
            DEF-foot.{s}
              DEF-toe.{s}
""",
        "L",
        "R",
    ),
)


def test_rigify_deforming_bones_win_over_original_ones() -> None:
    naming, canonical, roles = names_of(skeleton_of(RIGIFY))
    assert naming.convention == "rigify"
    assert naming.notes == ()
    assert set(MAIN_JOINTS) <= set(canonical.values())
    chain = [canonical["DEF-spine" + (f".{i:03d}" if i else "")] for i in range(7)]
    assert chain == ["humanoid_root", "vl5", "vl1", "vt7", "vc7", "vc4", "skullbase"]
    assert canonical["ORG-spine"] is None
    assert roles["ORG-spine"] == "helper"
    assert roles["DEF-forearm.L.001"] == "twist"
    assert roles["MCH-torso.parent"] == roles["DEF-pelvis.L"] == "helper"


VRM_LIMBS = side(
    """      {s}Shoulder
        {s}UpperArm
          {s}LowerArm
            {s}Hand
{thumb}              {s}LittleProximal
                {s}LittleIntermediate
                  {s}LittleDistal
""",
    "left",
    "right",
)
VRM = """
hips
  spine
    chest
      neck
        head
          leftEye
{limbs}{legs}
""".replace(
    "{legs}",
    side("  {s}UpperLeg\n    {s}LowerLeg\n      {s}Foot\n        {s}Toes\n", "left", "right").rstrip("\n"),
)


@pytest.mark.parametrize(
    ("thumb", "meaning"),
    [
        (
            ("ThumbProximal", "ThumbIntermediate", "ThumbDistal"),
            ("carpometacarpal_1", "metacarpophalangeal_1", "carpal_interphalangeal_1"),
        ),
        (
            ("ThumbMetacarpal", "ThumbProximal", "ThumbDistal"),
            ("carpometacarpal_1", "metacarpophalangeal_1", "carpal_interphalangeal_1"),
        ),
    ],
    ids=["VRM 0", "VRM 1"],
)
def test_vrm_thumbs_of_both_versions(thumb: tuple[str, ...], meaning: tuple[str, ...]) -> None:
    arms = VRM_LIMBS
    for word in ("left", "right"):
        rows = "".join(" " * (14 + 2 * i) + word + joint + "\n" for i, joint in enumerate(thumb))
        arms = arms.replace("{thumb}", rows, 1)
    naming, canonical, _ = names_of(skeleton_of(VRM.replace("{limbs}", arms)))
    assert naming.convention == "vrm"
    assert naming.notes == ()
    assert set(MAIN_JOINTS) <= set(canonical.values())
    assert [canonical["left" + t] for t in thumb] == ["l_" + m for m in meaning]
    assert canonical["rightLittleProximal"] == "r_metacarpophalangeal_5"
    assert canonical["leftEye"] == "l_eyeball_joint"


def test_vroid_joints_and_its_physics() -> None:
    limbs = side(
        """        J_Bip_{s}_Shoulder
          J_Bip_{s}_UpperArm
            J_Bip_{s}_LowerArm
              J_Bip_{s}_Hand
                J_Bip_{s}_Little1
""",
        "L",
        "R",
    )
    legs = side("  J_Bip_{s}_UpperLeg\n    J_Bip_{s}_LowerLeg\n      J_Bip_{s}_Foot\n", "L", "R")
    listing = (
        "J_Bip_C_Hips\n  J_Bip_C_Spine\n    J_Bip_C_Chest\n      J_Bip_C_UpperChest\n        J_Bip_C_Neck\n"
        "          J_Bip_C_Head\n            J_Sec_Hair1_01\n" + limbs + legs
    )
    naming, canonical, roles = names_of(skeleton_of(listing))
    assert naming.convention == "vroid"
    assert set(MAIN_JOINTS) <= set(canonical.values())
    assert roles["J_Sec_Hair1_01"] == "helper"


@pytest.mark.parametrize(("left", "right", "name"), [("L", "R", "smpl"), ("left", "right", "smpl-x")])
def test_smpl_and_smpl_x(left: str, right: str, name: str) -> None:
    legs = side("  {s}_Hip\n    {s}_Knee\n      {s}_Ankle\n        {s}_Foot\n", left, right)
    arms = side(
        "        {s}_Collar\n          {s}_Shoulder\n            {s}_Elbow\n              {s}_Wrist\n",
        left,
        right,
    )
    spine = "Pelvis\n" + legs + "  Spine1\n    Spine2\n      Spine3\n        Neck\n          Head\n"
    naming, canonical, _ = names_of(skeleton_of(spine + arms))
    assert naming.convention == name
    assert set(MAIN_JOINTS) <= set(canonical.values())
    assert canonical[f"{left}_Foot"] == "l_metatarsophalangeal_2"


def test_h_anim_names_are_their_own() -> None:
    lines: list[str] = []
    depth: dict[str, int] = {}

    def write(name: str) -> None:
        parent = JOINTS[name].parent
        depth[name] = depth[parent] + 1 if parent else 0
        lines.append("  " * depth[name] + name)
        for child in JOINTS.values():
            if child.parent == name:
                write(child.name)

    write("humanoid_root")
    skeleton = skeleton_of("\n".join(lines))
    naming = recognise(skeleton)
    assert naming.convention == "h-anim"
    assert naming.canonical == skeleton.names


def test_a_mapping_overrides_and_is_told(data: Path) -> None:
    skeleton = read_character(data / "human/male_average_cmu_mb.glb").skeleton
    plain = recognise(skeleton)
    naming = recognise(skeleton, {"Spine1": "vt1", "LThumb": "l_index1"})
    assert naming.joint("vt1") == skeleton.index("Spine1")
    assert naming.joint("l_metacarpophalangeal_2") == skeleton.index("LThumb")
    assert naming.canonical[skeleton.index("LeftHandFinger1")] is None
    assert naming.notes == (
        "'l_metacarpophalangeal_2' is 'LThumb' by the mapping given, not 'LeftHandFinger1' as recognised",
    )
    assert plain.joint("vt1") is None
    assert naming.joint("no_such_joint") is None


def test_bad_mappings_are_refused_with_the_nearest_name(data: Path) -> None:
    skeleton = read_character(data / "human/male_average_cmu_mb.glb").skeleton
    with pytest.raises(SkeletonError, match=r"'l_kne' is no canonical joint name. Did you mean 'l_knee'\?"):
        recognise(skeleton, {"LeftLeg": "l_kne"})
    with pytest.raises(SkeletonError, match=r"no joint 'LeftLeggg'. Did you mean 'LeftLeg'\?"):
        recognise(skeleton, {"LeftLeggg": "l_knee"})
    with pytest.raises(SkeletonError, match="two joints are mapped to 'l_knee'"):
        recognise(skeleton, {"LeftLeg": "l_knee", "LeftFoot": "l_knee"})


def test_a_mapping_alone_names_what_nothing_else_does() -> None:
    skeleton = skeleton_of("a\n  b\n    c")
    naming = recognise(skeleton, {"b": "l_hip", "c": "l_knee"})
    assert naming.convention == "given"
    assert naming.canonical == (None, "l_hip", "l_knee")
    assert naming.roles == ("root", "joint", "joint")


def test_two_joints_of_one_meaning_are_told() -> None:
    listing = MIXAMO + "  other:LeftUpLeg\n"
    naming, canonical, roles = names_of(skeleton_of(listing))
    assert canonical["LeftUpLeg"] == "l_hip"
    assert roles["other:LeftUpLeg"] == "helper"
    assert "joints 'LeftUpLeg' and 'other:LeftUpLeg' both mean 'l_hip'" in naming.notes[0]


def test_a_skeleton_is_recognised_once_however_often_it_is_asked_for() -> None:
    skeleton = skeleton_of("Hips\n  LeftUpLeg\n  thing")
    assert recognise(skeleton) is recognise(skeleton, {})
    mapped = recognise(skeleton, {"thing": "r_hip"})
    assert mapped is recognise(skeleton, {"thing": "r_hip"})
    assert mapped.canonical[2] == "r_hip" != recognise(skeleton).canonical[2]
