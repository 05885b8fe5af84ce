"""Regions of a body, so that one may say "hands" and mean every joint of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TypeVar

from ecorche.base.names import suggestion
from ecorche.errors import DocumentError
from ecorche.skeleton.naming.conventions import key
from ecorche.skeleton.naming.recognise import Naming
from ecorche.skeleton.skeleton import Skeleton

REGIONS: dict[str, tuple[str, ...]] = {
    "trunk": ("humanoid_root", "sacroiliac", "vl5", "l_sternoclavicular", "r_sternoclavicular"),
    "neck": ("vc7", "vc6", "vc5", "vc4", "vc3", "vc2", "vc1"),
    "head": ("skullbase",),
    "upper_arms": ("l_shoulder", "r_shoulder"),
    "forearms": ("l_elbow", "r_elbow"),
    "hands": ("l_radiocarpal", "r_radiocarpal"),
    "thighs": ("l_hip", "r_hip"),
    "lower_legs": ("l_knee", "r_knee"),
    "feet": ("l_talocrural", "r_talocrural"),
}
"""Where each begins, by canonical joint names; it goes on to where another begins."""

WORDS: dict[str, frozenset[str]] = {
    "head": frozenset(("head", "skull", "jaw", "face")),
    "hands": frozenset(("hand", "hands", "finger", "fingers", "forepaw")),
    "feet": frozenset(("foot", "feet", "toe", "toes", "paw", "paws", "hoof", "hooves")),
}
"""Words in the names of a creature's joints with which the regions begin that are usually left alone."""

Value = TypeVar("Value")


def joint_regions(skeleton: Skeleton, naming: Naming) -> tuple[str | None, ...]:
    """The region each joint is in, (joints,); None above the first that is known."""
    starts = {joint: region for region, joints in REGIONS.items() for joint in joints}
    return _below(skeleton, [starts.get(name or "") for name in naming.canonical])


def regions_by_any_name(skeleton: Skeleton, naming: Naming) -> tuple[str | None, ...]:
    """The same; of creatures, none of whose joints has a canonical name, their own names tell.

    Only head, hands and feet are known then.
    """
    if any(naming.canonical):
        return joint_regions(skeleton, naming)
    return _below(skeleton, [_by_word(name) for name in skeleton.names])


def _below(skeleton: Skeleton, begins: Sequence[str | None]) -> tuple[str | None, ...]:
    """Regions from where they begin, down to where others do."""
    found: list[str | None] = []
    for parent, region in zip(skeleton.parents.tolist(), begins, strict=True):
        found.append(region or (found[parent] if parent >= 0 else None))
    return tuple(found)


def _by_word(name: str) -> str | None:
    """The region a joint's name speaks of."""
    words = set(re.split(r"[^a-z]+", key(name)))
    return next((region for region, known in WORDS.items() if not words.isdisjoint(known)), None)


def by_joint(
    said: Mapping[str, Value], otherwise: Value, skeleton: Skeleton, naming: Naming, where: object
) -> Sequence[Value]:
    """What is said of each joint, (joints,), by region or by the name of a joint, which counts for all below.

    What is said of a joint comes before what is said of its region.
    """
    regions = regions_by_any_name(skeleton, naming)
    for name in said:
        if name not in REGIONS and name not in skeleton.names:
            raise DocumentError(
                f"there is no region and no joint {name!r}",
                where=where,
                remedy=suggestion(name, [*REGIONS, *skeleton.names]),
            )
        if name in REGIONS and name not in skeleton.names and name not in regions:
            raise DocumentError(
                f"no joint of this character is known to be of the {name}",
                where=where,
                remedy="Name a joint of the character instead; it counts for all below it",
            )
    told: list[Value | None] = []
    for name, parent in zip(skeleton.names, skeleton.parents.tolist(), strict=True):
        told.append(said[name] if name in said else told[parent] if parent >= 0 else None)
    return [
        own if own is not None else said.get(region or "", otherwise)
        for own, region in zip(told, regions, strict=True)
    ]
