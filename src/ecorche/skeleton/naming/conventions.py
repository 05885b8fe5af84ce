"""The naming conventions of common rigs, each as a table from its names to the canonical ones.

Names are compared as `key` folds them: without case, with one underscore for any of ``. - space _``,
and without a namespace. A value is a canonical joint, or one of the marks

    @trunk, @neck   a joint of that chain; `spine` says which vertebra, by its place in the chain
    @chain          Rigify's one chain from pelvis to head, split by its numbers
    @twist, @helper, @leaf   a joint with a role of its own and no canonical name

The tables hold facts about other people's rigs: the names their documentation and files use.
In a row, ``{s}`` is the side as the rig spells it and ``*`` the side as H-Anim does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from ecorche.skeleton.naming.vocabulary import ALIASES, JOINTS

Row = tuple[str, str]

FINGERS = {"thumb": 1, "index": 2, "middle": 3, "ring": 4, "pinky": 5, "little": 5}


@dataclass(frozen=True)
class Convention:
    """How one family of rigs names its joints.

    Attributes:
        name: What we call it, such as ``"mixamo"``.
        prefix: What is taken off the front of a folded name before it is looked up.
        table: Folded name to canonical name or mark.
    """

    name: str
    prefix: re.Pattern[str]
    table: Mapping[str, str]

    def target(self, joint_name: str) -> str | None:
        """What this convention says about a joint's name; None when it does not know it."""
        return self.table.get(self.prefix.sub("", key(joint_name), count=1))


def key(name: str) -> str:
    """A joint's name folded for comparison: no namespace, no case, one kind of separator."""
    bare = re.split(r"[:|]", name)[-1] or name
    return re.sub(r"[\s._\-]+", "_", bare).strip("_").casefold()


def finger_joint(ray: int, place: int) -> str | None:
    """A finger's joint without its side's letter: place 0 at the wrist, 1 the knuckle, 2 and 3 beyond.

    Ray 1 is the thumb, which has no place 3; None where there is no such joint.
    """
    names = [f"*_carpometacarpal_{ray}", f"*_metacarpophalangeal_{ray}"]
    if ray == 1:
        names.append("*_carpal_interphalangeal_1")
    else:
        names += [f"*_carpal_{part}_interphalangeal_{ray}" for part in ("proximal", "distal")]
    return names[place] if 0 <= place < len(names) else None


def toe_joint(ray: int, place: int) -> str | None:
    """A toe's joint without its side's letter: place 0 at the ball of the foot, 1 and 2 beyond."""
    names = [f"*_metatarsophalangeal_{ray}"]
    if ray == 1:
        names.append("*_tarsal_interphalangeal_1")
    else:
        names += [f"*_tarsal_{part}_interphalangeal_{ray}" for part in ("proximal", "distal")]
    return names[place] if 0 <= place < len(names) else None


def _finger_rows(pattern: str, fingers: Iterable[str], joints: str | Iterable[str] = "123") -> Iterator[Row]:
    """Rows of all fingers: ``{f}`` is the finger, ``{j}`` the joint, three of them a finger.

    The first of the three is the knuckle, but on the thumb the joint at the wrist.
    """
    for finger in fingers:
        ray = FINGERS[finger]
        for number, joint in enumerate(joints):
            target = finger_joint(ray, number if ray == 1 else number + 1)
            if target is not None:
                yield pattern.replace("{f}", finger).replace("{j}", joint), target


def _limb_rows(*names: str) -> Iterator[Row]:
    """Rows of a side's clavicle, shoulder, elbow, wrist, hip, knee, ankle and ball, in that order."""
    targets: tuple[str, ...] = ("sternoclavicular", "shoulder", "elbow", "radiocarpal")
    targets += ("hip", "knee", "talocrural", "metatarsophalangeal_2")
    yield from ((name, f"*_{target}") for name, target in zip(names, targets, strict=True))


def _both_sides(rows: Iterable[Row], left: str = "l", right: str = "r") -> Iterator[Row]:
    for name, target in rows:
        yield name.replace("{s}", left), target.replace("*", "l")
        yield name.replace("{s}", right), target.replace("*", "r")


def _h_anim() -> Iterator[Row]:
    yield from ((key(name), name) for name in JOINTS)
    yield from ((key(old), new) for old, new in ALIASES.items())


def _makehuman() -> Iterator[Row]:
    """The MakeHuman and MPFB rig named "default"."""
    yield from (("root", "humanoid_root"), ("head", "skullbase"), ("jaw", "temporomandibular"))
    yield from ((f"spine0{i}", "@trunk") for i in range(1, 6))
    yield from ((f"neck0{i}", "@neck") for i in range(1, 4))
    yield from _both_sides(_makehuman_side())


def _makehuman_side() -> Iterator[Row]:
    names: tuple[str, ...] = ("clavicle_{s}", "upperarm01_{s}", "lowerarm01_{s}", "wrist_{s}")
    names += ("upperleg01_{s}", "lowerleg01_{s}", "foot_{s}", "toe2_1_{s}")
    yield from _limb_rows(*names)
    yield from (("shoulder01_{s}", "*_acromioclavicular"), ("eye_{s}", "*_eyeball_joint"))
    yield from ((f"{part}02_{{s}}", "@twist") for part in ("upperarm", "lowerarm", "upperleg", "lowerleg"))
    yield from (("pelvis_{s}", "@helper"), ("breast_{s}", "@helper"))
    yield from ((f"metacarpal{ray - 1}_{{s}}", f"*_carpometacarpal_{ray}") for ray in range(2, 6))
    for ray in range(1, 6):
        for number in range(1, 4):
            finger = finger_joint(ray, number - 1 if ray == 1 else number)
            toe = toe_joint(ray, number - 1)
            yield from ((f"finger{ray}_{number}_{{s}}", t) for t in [finger] if t)
            yield from ((f"toe{ray}_{number}_{{s}}", t) for t in [toe] if t)


def _cmu() -> Iterator[Row]:
    """The Carnegie Mellon motions as BVH, and MakeHuman's rig "cmu_mb" made for them."""
    yield from (("hips", "humanoid_root"), ("head", "skullbase"))
    yield from ((name, "@trunk") for name in ("lowerback", "spine", "spine1"))
    yield from ((name, "@neck") for name in ("neck", "neck1"))
    yield from (("lhipjoint", "@helper"), ("rhipjoint", "@helper"))
    yield from _both_sides([("{s}thumb", "*_carpometacarpal_1")])
    yield from _both_sides(_biped_side(), "left", "right")
    rows = [("{s}fingerbase", "*_carpometacarpal_2"), ("{s}handfinger1", "*_metacarpophalangeal_2")]
    rows.append(("{s}handindex1", "*_metacarpophalangeal_2"))
    yield from _both_sides(rows, "left", "right")


def _biped_side() -> Iterator[Row]:
    """The limb names that the CMU motions and Mixamo share."""
    yield from _limb_rows(
        *("{s}shoulder", "{s}arm", "{s}forearm", "{s}hand", "{s}upleg", "{s}leg", "{s}foot", "{s}toebase")
    )


def _mixamo() -> Iterator[Row]:
    yield from (("hips", "humanoid_root"), ("head", "skullbase"), ("headtop_end", "@leaf"))
    yield from ((name, "@trunk") for name in ("spine", "spine1", "spine2"))
    yield ("neck", "@neck")
    yield from _both_sides(_biped_side(), "left", "right")
    yield from _both_sides(_finger_rows("{s}hand{f}{j}", list(FINGERS)[:5]), "left", "right")
    ends = [("{s}toe_end", "@leaf"), ("{s}eye", "*_eyeball_joint")]
    ends += [(f"{{s}}hand{finger}4", "@leaf") for finger in FINGERS]
    yield from _both_sides(ends, "left", "right")


def _rigify() -> Iterator[Row]:
    """Blender's Rigify, human: its metarig and, by prefix, its DEF and ORG bones."""
    yield ("spine", "@chain")
    yield from ((f"spine_{i:03d}", "@chain") for i in range(1, 12))
    yield from (("jaw", "temporomandibular"), ("jaw_master", "@helper"))
    yield from _both_sides(_rigify_side())


def _rigify_side() -> Iterator[Row]:
    names: tuple[str, ...] = ("shoulder_{s}", "upper_arm_{s}", "forearm_{s}", "hand_{s}")
    yield from _limb_rows(*names, "thigh_{s}", "shin_{s}", "foot_{s}", "toe_{s}")
    yield from _finger_rows("f_{f}_0{j}_{s}", list(FINGERS)[1:5])
    yield from _finger_rows("thumb_0{j}_{s}", ["thumb"])
    yield from ((f"palm_0{ray - 1}_{{s}}", f"*_carpometacarpal_{ray}") for ray in range(2, 6))
    yield from ((f"{part}_{{s}}_001", "@twist") for part in ("upper_arm", "forearm", "thigh", "shin"))
    yield from ((f"{part}_{{s}}", "@helper") for part in ("pelvis", "breast", "heel_02"))
    yield ("eye_{s}", "*_eyeball_joint")


def _vrm() -> Iterator[Row]:
    """VRM's humanoid bone names, which many exporters also give to the joints (VRM 0 and 1)."""
    yield from (("hips", "humanoid_root"), ("head", "skullbase"), ("jaw", "temporomandibular"))
    yield from (("spine", "@trunk"), ("chest", "@trunk"), ("upperchest", "@trunk"), ("neck", "@neck"))
    yield from _both_sides(_vrm_side("{s}", ("proximal", "intermediate", "distal"), "toes"), "left", "right")
    # VRM 1 moved the thumb's names by one joint: by_name settles which version it is
    yield from _both_sides([("{s}thumbmetacarpal", "*_carpometacarpal_1")], "left", "right")
    yield from _both_sides([("{s}eye", "*_eyeball_joint")], "left", "right")


def _vroid() -> Iterator[Row]:
    """VRoid Studio's own joints, the usual ones under a VRM's humanoid names."""
    yield from (("c_hips", "humanoid_root"), ("c_head", "skullbase"))
    yield from ((name, "@trunk") for name in ("c_spine", "c_chest", "c_upperchest"))
    yield ("c_neck", "@neck")
    yield from _both_sides(_vrm_side("{s}_", "123", "toebase"))


def _vrm_side(side: str, joints: str | Iterable[str], toe: str) -> Iterator[Row]:
    names: tuple[str, ...] = ("shoulder", "upperarm", "lowerarm", "hand", "upperleg", "lowerleg", "foot", toe)
    yield from _limb_rows(*(side + name for name in names))
    yield from _finger_rows(side + "{f}{j}", ("thumb", "index", "middle", "ring", "little"), joints)


def _smpl() -> Iterator[Row]:
    """SMPL's joints as its Blender and FBX files name them."""
    yield from _smpl_rows("l", "r")


def _smpl_x() -> Iterator[Row]:
    """SMPL-H's and SMPL-X's joints."""
    yield ("jaw", "temporomandibular")
    yield from _smpl_rows("left", "right")
    yield from _both_sides(_finger_rows("{s}_{f}{j}", list(FINGERS)[:5]), "left", "right")
    yield from _both_sides([("{s}_eye_smplhf", "*_eyeball_joint")], "left", "right")


def _smpl_rows(left: str, right: str) -> Iterator[Row]:
    yield from (("pelvis", "humanoid_root"), ("neck", "@neck"), ("head", "skullbase"))
    yield from ((f"spine{i}", "@trunk") for i in (1, 2, 3))
    names: tuple[str, ...] = ("{s}_collar", "{s}_shoulder", "{s}_elbow", "{s}_wrist")
    names += ("{s}_hip", "{s}_knee", "{s}_ankle", "{s}_foot")
    yield from _both_sides(_limb_rows(*names), left, right)
    # SMPL's one joint past the wrist stands at the knuckles and moves all fingers
    yield from _both_sides([("{s}_hand", "*_metacarpophalangeal_3")], left, right)


def _unreal() -> Iterator[Row]:
    """Unreal's mannequins, old and new; MakeHuman's "game_engine" rig has the same names."""
    yield from (("pelvis", "humanoid_root"), ("head", "skullbase"))
    yield from ((f"spine_0{i}", "@trunk") for i in range(1, 8))
    yield from ((f"neck_0{i}", "@neck") for i in range(1, 4))
    yield from _both_sides(_unreal_side())


def _unreal_side() -> Iterator[Row]:
    names: tuple[str, ...] = ("clavicle_{s}", "upperarm_{s}", "lowerarm_{s}", "hand_{s}")
    yield from _limb_rows(*names, "thigh_{s}", "calf_{s}", "foot_{s}", "ball_{s}")
    yield from _finger_rows("{f}_0{j}_{s}", list(FINGERS)[:5])
    yield from (
        (f"{f}_metacarpal_{{s}}", f"*_carpometacarpal_{ray}") for f, ray in FINGERS.items() if ray > 1
    )


def _mesh2motion() -> Iterator[Row]:
    """Mesh2Motion's human: Unreal's names, with a leaf joint at every tip."""
    yield from _unreal()
    yield ("head_leaf", "@leaf")
    tips = [(f"{finger}_04_leaf_{{s}}", "@leaf") for finger in FINGERS]
    yield from _both_sides([*tips, ("ball_leaf_{s}", "@leaf")])


def _opensim() -> Iterator[Row]:
    """Bodies of OpenSim's models of the whole body, and of those that MuJoCo users made of them."""
    yield from (("pelvis", "humanoid_root"), ("torso", "@trunk"), ("head", "skullbase"))
    names: tuple[str, ...] = ("clavicle_{s}", "humerus_{s}", "ulna_{s}", "hand_{s}")
    yield from _both_sides(_limb_rows(*names, "femur_{s}", "tibia_{s}", "talus_{s}", "toes_{s}"))
    yield from _both_sides([("scapula_{s}", "*_acromioclavicular"), ("radius_{s}", "*_radioulnar")])
    # hands in their bones, as myo-sim has them, begin with this one
    yield from _both_sides([("lunate_{s}", "*_radiocarpal")])
    yield from _both_sides([("calcn_{s}", "@helper"), ("patella_{s}", "@helper")])
    # models of one arm name the side first
    yield from (("base", "@trunk"), ("thorax", "@trunk"))
    yield from _both_sides([("{s}_humerus", "*_shoulder"), ("{s}_ulna_radius_hand", "*_elbow")])


_NOTHING = r"(?!)"
_TABLES: dict[str, tuple[str, Callable[[], Iterator[Row]]]] = {
    "h-anim": (r"^hanim_", _h_anim),
    "makehuman": (_NOTHING, _makehuman),
    "cmu": (_NOTHING, _cmu),
    "mixamo": (r"^mixamorig\d*_?", _mixamo),
    "rigify": (r"^(def|org)_", _rigify),
    "vrm": (_NOTHING, _vrm),
    "vroid": (r"^(normalized_)?j_(bip|adj)_", _vroid),
    "smpl": (r"^[mf]_avg_", _smpl),
    "smpl-x": (_NOTHING, _smpl_x),
    "unreal": (_NOTHING, _unreal),
    "mesh2motion": (_NOTHING, _mesh2motion),
    "opensim": (_NOTHING, _opensim),
}
"""Name to prefix and rows; where two tables know a rig equally well the earlier one is meant."""


@cache
def conventions() -> tuple[Convention, ...]:
    """All conventions we know, built when first asked for."""
    return tuple(
        Convention(name, re.compile(prefix), dict(rows())) for name, (prefix, rows) in _TABLES.items()
    )
