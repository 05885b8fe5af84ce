"""Say which joint of a rig is which joint of the body.

By names first, then by shape; a mapping given by a person overrides both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from ecorche.base.names import suggestion
from ecorche.errors import SkeletonError
from ecorche.skeleton.naming.by_name import match_names
from ecorche.skeleton.naming.by_shape import match_shape
from ecorche.skeleton.naming.roles import Role, role_by_name, roles
from ecorche.skeleton.naming.vocabulary import JOINTS, RADIOULNAR, canonical_name
from ecorche.skeleton.skeleton import Skeleton


@dataclass(frozen=True)
class Naming:
    """What each joint of a skeleton is called in the canonical vocabulary, and what it is for.

    Attributes:
        convention: ``"mixamo"``, ``"cmu"``, … ; ``"shape"`` where the names said nothing and the
            joints' positions did; ``"given"`` where only a mapping did; ``"unknown"``.
        canonical: The canonical name of each joint, None where it has none, shape (joints,).
        roles: What each joint is for, shape (joints,).
        notes: What a person should know about the recognition, a sentence each.
    """

    convention: str
    canonical: tuple[str | None, ...]
    roles: tuple[Role, ...]
    notes: tuple[str, ...]

    def joint(self, canonical: str) -> int | None:
        """The number of the joint that has this canonical name, None when no joint has."""
        try:
            return self.canonical.index(canonical)
        except ValueError:
            return None


def recognise(skeleton: Skeleton, mapping: Mapping[str, str] | None = None) -> Naming:
    """Find the canonical name and the role of every joint.

    ``mapping`` says for some joints, by their name in the file, which canonical joint they are;
    it overrides what is recognised. Names that do not exist are refused with the nearest one.
    """
    return _recognised(skeleton, tuple((mapping or {}).items()))


@lru_cache(maxsize=16)  # asked for by many parts of one command; by shape it takes a third of a second
def _recognised(skeleton: Skeleton, mapping: tuple[tuple[str, str], ...]) -> Naming:
    given = _checked(skeleton, dict(mapping))
    match = match_names(skeleton)
    told = [role_by_name(name) for name in skeleton.names]
    if match is not None:
        convention, canonical, notes = match.convention, list(match.canonical), list(match.notes)
        told = [said or by_name for said, by_name in zip(match.told, told, strict=True)]
    else:
        shape = match_shape(skeleton)
        convention = "unknown" if shape.refusal else "shape"
        canonical = [shape.canonical.get(joint) for joint in range(skeleton.joint_count)]
        told = [shape.told.get(joint, by_name) for joint, by_name in enumerate(told)]
        notes = shape.notes
        if shape.refusal and not given:
            notes.append(f"not recognised as a humanoid: {shape.refusal}")
    if given:
        _override(skeleton, canonical, given, notes)
        convention = "given" if convention == "unknown" else convention
    return Naming(convention, tuple(canonical), roles(skeleton, canonical, told), tuple(notes))


def _checked(skeleton: Skeleton, mapping: Mapping[str, str]) -> dict[int, str]:
    """The mapping by joint number, with canonical spellings."""
    given: dict[int, str] = {}
    for name, wanted in mapping.items():
        canonical = canonical_name(wanted)
        if canonical is None:
            raise SkeletonError(
                f"{wanted!r} is no canonical joint name",
                where=f"mapping of joint {name!r}",
                remedy=suggestion(wanted, [*JOINTS, *RADIOULNAR]),
            )
        if canonical in given.values():
            raise SkeletonError(f"two joints are mapped to {canonical!r}", where="mapping", remedy="Keep one")
        given[skeleton.index(name)] = canonical
    return given


def _override(
    skeleton: Skeleton, canonical: list[str | None], given: Mapping[int, str], notes: list[str]
) -> None:
    for joint, wanted in given.items():
        for other, had in enumerate(canonical):
            if had == wanted and other != joint:
                canonical[other] = None
                notes.append(
                    f"{wanted!r} is {skeleton.names[joint]!r} by the mapping given,"
                    f" not {skeleton.names[other]!r} as recognised"
                )
        canonical[joint] = wanted
