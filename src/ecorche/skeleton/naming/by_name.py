"""Recognise a rig by its joints' names: the convention that knows most of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ecorche.skeleton.naming.conventions import Convention, conventions, key
from ecorche.skeleton.naming.roles import Role
from ecorche.skeleton.naming.spine import neck_vertebrae, trunk_vertebrae
from ecorche.skeleton.naming.vocabulary import MAIN_JOINTS, mirrored
from ecorche.skeleton.skeleton import Skeleton

FEWEST_MAIN_JOINTS = 7
"""A convention counts as recognised when it names at least this many of the 14 main joints."""
FEWEST_OF_A_PART, KNOWN_OF_A_PART = 3, 0.9
"""A part of a body, such as a bust or an arm, has at least this many of them, as a limb has, and of all its
joints at least this share is known: a creature with some human names has a tail or ears besides."""


@dataclass(frozen=True)
class NameMatch:
    """What the names say: the convention, canonical names, roles told by its table, and remarks."""

    convention: str
    canonical: tuple[str | None, ...]
    told: tuple[Role | None, ...]
    notes: tuple[str, ...]


def match_names(skeleton: Skeleton) -> NameMatch | None:
    """The convention that knows most joints of the skeleton, or None when none knows a body."""
    best: tuple[int, NameMatch] | None = None
    for convention in conventions():
        targets = [convention.target(name) for name in skeleton.names]
        _settle_thumbs(skeleton, targets)
        _settle_toes(targets)
        known = sum(t is not None for t in targets)
        if best is None or known > best[0]:
            match = _resolved(skeleton, convention, targets)
            if _is_body(match.canonical) or _is_part(match.canonical, known):
                best = known, match
    return best[1] if best is not None else None


def _is_body(canonical: Sequence[str | None]) -> bool:
    found = {c for c in canonical if c in MAIN_JOINTS}
    pairs = sum(c.startswith("l_") and mirrored(c) in found for c in found)
    return len(found) >= FEWEST_MAIN_JOINTS and pairs >= 2


def _is_part(canonical: Sequence[str | None], known: int) -> bool:
    found = {c for c in canonical if c in MAIN_JOINTS}
    return len(found) >= FEWEST_OF_A_PART and known >= KNOWN_OF_A_PART * len(canonical)


def _resolved(skeleton: Skeleton, convention: Convention, targets: Sequence[str | None]) -> NameMatch:
    """Marks turned into vertebrae and roles, and every canonical name given at most once."""
    canonical: list[str | None] = [t if t is not None and not t.startswith("@") else None for t in targets]
    told: list[Role | None] = [_MARKED_ROLES.get(t or "") for t in targets]
    notes: list[str] = []
    chosen = _one_each(skeleton, canonical, targets, told, notes)
    marked = {mark: [j for j in chosen if targets[j] == mark] for mark in ("@trunk", "@neck", "@chain")}
    depth = _depths(skeleton)
    chain = sorted(marked["@chain"], key=lambda j: _bare(skeleton.names[j]))
    trunk = sorted(marked["@trunk"], key=lambda j: (depth[j], j))
    neck = sorted(marked["@neck"], key=lambda j: (depth[j], j))
    if len(chain) >= 3:
        # Rigify's human: pelvis, three for the trunk, two for the neck, head
        canonical[chain[0]], canonical[chain[-1]] = "humanoid_root", "skullbase"
        necks = 2 if len(chain) >= 6 else 1 if len(chain) >= 4 else 0
        trunk, neck = chain[1 : len(chain) - 1 - necks], chain[len(chain) - 1 - necks : -1]
    for joints, vertebrae in ((trunk, trunk_vertebrae), (neck, neck_vertebrae)):
        _assign(joints, vertebrae, canonical, told)
    return NameMatch(convention.name, tuple(canonical), tuple(told), tuple(notes))


_MARKED_ROLES: dict[str, Role] = {"@twist": "twist", "@helper": "helper", "@leaf": "leaf"}


def _assign(
    joints: Sequence[int],
    vertebrae: Callable[[int], list[str | None]],
    canonical: list[str | None],
    told: list[Role | None],
) -> None:
    for joint, vertebra in zip(joints, vertebrae(len(joints)), strict=True):
        canonical[joint] = vertebra
        if vertebra is None:
            told[joint] = "joint"


def _one_each(
    skeleton: Skeleton,
    canonical: list[str | None],
    targets: Sequence[str | None],
    told: list[Role | None],
    notes: list[str],
) -> list[int]:
    """The joints that keep what the table says of them, where several have one bare name.

    A Rigify file may hold a deforming and an original bone of one name: the deforming one is
    meant, the other helps. Otherwise the first joint keeps the name, and a note tells.
    """
    holder: dict[str, int] = {}
    for joint, target in enumerate(targets):
        if target is None or target in _MARKED_ROLES:
            continue
        name = skeleton.names[joint]
        slot = target if not target.startswith("@") else _bare(name)
        other = holder.get(slot)
        if other is None:
            holder[slot] = joint
            continue
        deforming = key(name).startswith("def_") and not key(skeleton.names[other]).startswith("def_")
        keep, drop = (joint, other) if deforming else (other, joint)
        holder[slot] = keep
        canonical[drop], told[drop] = None, "helper"
        if key(skeleton.names[drop]).startswith("org_") or key(skeleton.names[keep]).startswith("def_"):
            continue
        notes.append(
            f"joints {skeleton.names[keep]!r} and {skeleton.names[drop]!r} both mean {slot!r}:"
            " the first is taken, the second counts as a helper"
        )
    return sorted(holder.values())


def _bare(name: str) -> str:
    folded = key(name)
    return folded.removeprefix("def_").removeprefix("org_")


def _depths(skeleton: Skeleton) -> list[int]:
    depths: list[int] = []
    for parent in skeleton.parents:
        depths.append(depths[parent] + 1 if parent >= 0 else 0)
    return depths


def _settle_thumbs(skeleton: Skeleton, targets: list[str | None]) -> None:
    """With a thumb metacarpal (VRM 1), "proximal" is the knuckle; without (VRM 0) the wrist's joint.

    The table of VRM reads "proximal, intermediate, distal" as VRM 0 does; others have no such names.
    """
    spelt = {key(name): joint for joint, name in enumerate(skeleton.names)}
    for side, letter in (("left", "l"), ("right", "r")):
        proximal = spelt.get(f"{side}thumbproximal")
        if f"{side}thumbmetacarpal" in spelt and proximal is not None and targets[proximal] is not None:
            targets[proximal] = f"{letter}_metacarpophalangeal_1"


def _settle_toes(targets: list[str | None]) -> None:
    """A foot with one toe joint has it for all toes, whatever its number (MakeHuman's "no toes")."""
    for side in "lr":
        balls = [j for j, t in enumerate(targets) if t and t.startswith(f"{side}_metatarsophalangeal_")]
        if len(balls) == 1:
            targets[balls[0]] = f"{side}_metatarsophalangeal_2"
