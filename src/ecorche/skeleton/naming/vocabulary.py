"""The canonical joint names: the H-Anim 2 tree of a human body, its levels and its segments.

The vocabulary is that of ISO/IEC 19774-1:2019 (Humanoid Animation, architecture): one root, the
pelvis, 24 vertebrae, the skull with eyes and jaw, and two arms and legs down to every phalanx.
Each joint moves one segment, the bone or body part beyond it. The level of articulation (LOA)
says how detailed a skeleton is that has the joint: 0 is the root alone, 1 a simple figure, 2 a
figure with fingers, 3 one with every vertebra, 4 one with every bone of hand and foot.

Where the standard's levels 1 and 2 speak of one joint for the whole forefoot, without a number,
we take the second ray, which is the axis of the foot; the unnumbered names are aliases.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

TRUNK = (*(f"vl{i}" for i in range(5, 0, -1)), *(f"vt{i}" for i in range(12, 0, -1)))
"""The joints below the lumbar and thoracic vertebrae, from the pelvis up."""
NECK = tuple(f"vc{i}" for i in range(7, 0, -1))
"""The joints below the cervical vertebrae, from the chest up."""


@dataclass(frozen=True)
class CanonicalJoint:
    """One joint of the canonical human tree.

    Attributes:
        name: Its H-Anim 2 name, such as ``"l_knee"``.
        parent: The name of the joint above it, None for the root.
        segment: The body part it moves, such as ``"l_calf"``.
        level: The level of articulation, 0 to 4, from which on a skeleton has it.
    """

    name: str
    parent: str | None
    segment: str
    level: int


def _spine() -> Iterator[CanonicalJoint]:
    level_one, level_two = {"vl5"}, {"vl3", "vl1", "vt10", "vt6", "vt1", "vc4", "vc2"}
    parent = "humanoid_root"
    for name in (*TRUNK, *NECK):
        level = 1 if name in level_one else 2 if name in level_two else 3
        yield CanonicalJoint(name, parent, name[1:], level)
        parent = name
    yield CanonicalJoint("skullbase", parent, "skull", 1)
    for part in ("eyelid", "eyeball", "eyebrow"):
        for side in "lr":
            yield CanonicalJoint(f"{side}_{part}_joint", "skullbase", f"{side}_{part}", 3)
    yield CanonicalJoint("temporomandibular", "skullbase", "jaw", 3)


def _leg(side: str) -> Iterator[CanonicalJoint]:
    def joint(name: str, parent: str, segment: str, level: int) -> CanonicalJoint:
        above = parent if parent == "sacroiliac" else f"{side}_{parent}"
        return CanonicalJoint(f"{side}_{name}", above, f"{side}_{segment}", level)

    yield joint("hip", "sacroiliac", "thigh", 1)
    yield joint("knee", "hip", "calf", 1)
    yield joint("talocrural", "knee", "talus", 1)
    yield joint("talocalcaneonavicular", "talocrural", "navicular", 4)
    for ray in (1, 2, 3):
        yield joint(f"cuneonavicular_{ray}", "talocalcaneonavicular", f"cuneiform_{ray}", 4)
    yield joint("calcaneocuboid", "talocrural", "calcaneus", 4)
    yield joint("transversetarsal", "calcaneocuboid", "cuboid", 4)
    for ray in range(1, 6):
        axis = ray == 2
        base = f"cuneonavicular_{ray}" if ray <= 3 else "transversetarsal"
        ball = f"metatarsophalangeal_{ray}"
        yield joint(f"tarsometatarsal_{ray}", base, f"metatarsal_{ray}", 2 if axis else 4)
        yield joint(ball, f"tarsometatarsal_{ray}", f"tarsal_proximal_phalanx_{ray}", 1 if axis else 4)
        if ray == 1:
            yield joint("tarsal_interphalangeal_1", ball, "tarsal_distal_phalanx_1", 4)
        else:
            middle = f"tarsal_proximal_interphalangeal_{ray}"
            yield joint(middle, ball, f"tarsal_middle_phalanx_{ray}", 2 if axis else 4)
            yield joint(f"tarsal_distal_interphalangeal_{ray}", middle, f"tarsal_distal_phalanx_{ray}", 4)


def _arm(side: str) -> Iterator[CanonicalJoint]:
    def joint(name: str, parent: str, segment: str, level: int) -> CanonicalJoint:
        above = parent if parent == "vt1" else f"{side}_{parent}"
        return CanonicalJoint(f"{side}_{name}", above, f"{side}_{segment}", level)

    yield joint("sternoclavicular", "vt1", "clavicle", 2)
    yield joint("acromioclavicular", "sternoclavicular", "scapula", 2)
    yield joint("shoulder", "acromioclavicular", "upperarm", 1)
    yield joint("elbow", "shoulder", "forearm", 1)
    yield joint("radiocarpal", "elbow", "carpal", 1)
    carpals = {"1": "trapezium", "2": "trapezoid", "3": "capitate", "4_5": "hamate"}
    for rays, bone in carpals.items():
        yield joint(f"midcarpal_{rays}", "radiocarpal", bone, 4)
    for ray in range(1, 6):
        base = f"midcarpal_{ray}" if ray <= 3 else "midcarpal_4_5"
        knuckle = f"metacarpophalangeal_{ray}"
        yield joint(f"carpometacarpal_{ray}", base, f"metacarpal_{ray}", 2)
        yield joint(knuckle, f"carpometacarpal_{ray}", f"carpal_proximal_phalanx_{ray}", 2)
        if ray == 1:
            yield joint("carpal_interphalangeal_1", knuckle, "carpal_distal_phalanx_1", 2)
        else:
            middle = f"carpal_proximal_interphalangeal_{ray}"
            yield joint(middle, knuckle, f"carpal_middle_phalanx_{ray}", 2)
            yield joint(f"carpal_distal_interphalangeal_{ray}", middle, f"carpal_distal_phalanx_{ray}", 2)


def _tree() -> Iterator[CanonicalJoint]:
    yield CanonicalJoint("humanoid_root", None, "sacrum", 0)
    yield CanonicalJoint("sacroiliac", "humanoid_root", "pelvis", 1)
    for side in "lr":
        yield from _leg(side)
    yield from _spine()
    for side in "lr":
        yield from _arm(side)


JOINTS: dict[str, CanonicalJoint] = {joint.name: joint for joint in _tree()}
"""Every canonical joint by its name, parents before children."""

SEGMENTS: dict[str, str] = {joint.segment: joint.name for joint in JOINTS.values()}
"""Every segment by its name, and the joint that moves it."""

MAIN_JOINTS = (
    "humanoid_root",
    *(
        f"{side}_{name}"
        for side in "lr"
        for name in ("hip", "knee", "talocrural", "shoulder", "elbow", "radiocarpal")
    ),
    "skullbase",
)
"""The joints without which a skeleton is hardly a human's."""


def _aliases() -> Iterator[tuple[str, str]]:
    yield from (("HumanoidRoot", "humanoid_root"), ("skull_base", "skullbase"))
    for side in "lr":
        for old, new in (
            ("ankle", "talocrural"),
            ("subtalar", "talocalcaneonavicular"),
            ("midtarsal", "tarsometatarsal_2"),
            ("metatarsal", "metatarsophalangeal_2"),
            ("tarsometatarsal", "tarsometatarsal_2"),
            ("metatarsophalangeal", "metatarsophalangeal_2"),
            ("tarsal_interphalangeal", "tarsal_proximal_interphalangeal_2"),
            ("calcaneuscuboid", "calcaneocuboid"),
            ("wrist", "radiocarpal"),
            ("thumb1", "carpometacarpal_1"),
            ("thumb2", "metacarpophalangeal_1"),
            ("thumb3", "carpal_interphalangeal_1"),
        ):
            yield f"{side}_{old}", f"{side}_{new}"
        for ray, finger in enumerate(("index", "middle", "ring", "pinky"), start=2):
            yield f"{side}_{finger}0", f"{side}_carpometacarpal_{ray}"
            yield f"{side}_{finger}1", f"{side}_metacarpophalangeal_{ray}"
            yield f"{side}_{finger}2", f"{side}_carpal_proximal_interphalangeal_{ray}"
            yield f"{side}_{finger}3", f"{side}_carpal_distal_interphalangeal_{ray}"


ALIASES: dict[str, str] = dict(_aliases())
"""Older H-Anim spellings (1.0, 1.1 and ISO/IEC 19774:2005), and the unnumbered ones, to ours."""


RADIOULNAR = ("l_radioulnar", "r_radioulnar")
"""Joints the thesis adds (3.2): the radius turning about the ulna, a leaf below the elbow beside the wrist.

The standard lets an author append leaves; no rig's names say them, so a mapping must.
"""


def canonical_name(name: str) -> str | None:
    """The canonical spelling of an H-Anim joint name of any version; None when it is none."""
    if name in JOINTS or name in RADIOULNAR:
        return name
    if name in ALIASES:
        return ALIASES[name]
    return _FOLDED.get(name.casefold())


_FOLDED = {name.casefold(): name for name in JOINTS} | {old.casefold(): new for old, new in ALIASES.items()}


def mirrored(canonical: str) -> str:
    """The same joint on the other side of the body; a joint of the middle is its own."""
    if canonical.startswith("l_"):
        return "r_" + canonical[2:]
    if canonical.startswith("r_"):
        return "l_" + canonical[2:]
    return canonical
