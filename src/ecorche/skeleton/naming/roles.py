"""What a joint is for: a body joint, a twist or helper joint, a leaf, or a root above the body.

Twist, helper and leaf joints carry no canonical name, but they keep the motion a file gives them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from ecorche.skeleton.naming.conventions import key
from ecorche.skeleton.skeleton import Skeleton

Role = Literal["joint", "twist", "helper", "leaf", "root"]
"""What a joint is for."""

_TWIST = re.compile(r"twist|(^|_)(fore|up|leg|arm)?roll(_|\d|$)|(^|_)tweak(_|$)")
_LEAF = re.compile(r"(^|_)(leaf|end|nub|tip|endsite|end_site|site)(_|\d|$)|end$|nub$")
_HELPER = re.compile(
    r"(^|_)(ik|fk|pole|ctrl|control|target|mch|helper|corrective|correctiveroot|bulge|prop|weapon|attach"
    r"|socket|sec|physics|jiggle|cloth|hair|skirt|dyn|interaction|center_of_mass)(_|\d|$)|corrective"
)


def role_by_name(name: str) -> Role | None:
    """The role a joint's name tells, None when it tells none."""
    folded = key(name)
    if _TWIST.search(folded):
        return "twist"
    if _HELPER.search(folded):
        return "helper"
    if _LEAF.search(folded):
        return "leaf"
    return None


def roles(
    skeleton: Skeleton, canonical: Sequence[str | None], told: Sequence[Role | None]
) -> tuple[Role, ...]:
    """The role of every joint.

    Joints with a canonical name are body joints; then what is told counts; then the tree: joints
    above the topmost body joint are roots, a joint with one body joint above and one below
    stands within a bone and is a twist joint, a childless continuation of a finger, toe or head is
    a leaf, and all others are helpers. Where no joint has a canonical name, as in a horse, all
    that are not told otherwise are body joints.
    """
    if not any(canonical):
        return tuple(said or "joint" for said in told)
    named_below = [0] * skeleton.joint_count
    for joint in reversed(range(skeleton.joint_count)):
        below = named_below[joint] + (canonical[joint] is not None)
        if skeleton.parents[joint] >= 0:
            named_below[skeleton.parents[joint]] += below
    named_above = [False] * skeleton.joint_count
    result: list[Role] = []
    for joint, parent in enumerate(skeleton.parents):
        if parent >= 0:
            named_above[joint] = named_above[parent] or canonical[parent] is not None
        said = told[joint]
        if canonical[joint] is not None:
            result.append("joint")
        elif said == "leaf" and skeleton.children[joint]:
            result.append("helper")
        elif said is not None:
            result.append(said)
        elif named_below[joint] and not named_above[joint]:
            result.append("root")
        elif named_below[joint]:
            result.append("twist" if _within_bone(skeleton, joint) else "helper")
        elif _ends_chain(skeleton, canonical, joint):
            result.append("leaf")
        else:
            result.append("helper")
    return tuple(result)


def _within_bone(skeleton: Skeleton, joint: int) -> bool:
    """True where the joint lies on the straight line from its parent to one of its children."""
    heads = skeleton.bind_world[:, :3, 3]
    start, here = heads[skeleton.parents[joint]], heads[joint]
    for child in skeleton.children[joint]:
        end = heads[child]
        whole = float(((end - start) ** 2).sum() ** 0.5)
        detour = float(((here - start) ** 2).sum() ** 0.5 + ((end - here) ** 2).sum() ** 0.5)
        along = float((here - start) @ (end - start))
        if whole > 0.0 and 0.05 * whole**2 < along < 0.95 * whole**2 and detour < 1.02 * whole:
            return True
    return False


_CHAIN_ENDS = ("interphalangeal", "metatarsophalangeal", "skullbase", "metacarpophalangeal")


def _ends_chain(skeleton: Skeleton, canonical: Sequence[str | None], joint: int) -> bool:
    """True for the only, childless joint below the last joint of a finger, a foot or the neck."""
    parent = int(skeleton.parents[joint])
    if parent < 0 or skeleton.children[joint] or len(skeleton.children[parent]) != 1:
        return False
    above = canonical[parent]
    return above is not None and any(end in above for end in _CHAIN_ENDS)
