"""A rig with other muscles, whole and checked: what every edit of muscles ends in, and what it asks first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ecorche.base.names import suggestion
from ecorche.body.character import Character
from ecorche.body.extract_muscles import specs_of
from ecorche.body.lofted_specs import lofted_muscles_of
from ecorche.document.files import Rig
from ecorche.document.line_spec import LineMuscleSpec
from ecorche.document.lofted_spec import LoftedMuscleSpec
from ecorche.document.muscle_spec import MuscleSpec
from ecorche.document.problems import told_as_document_error
from ecorche.document.spec import RigSpec
from ecorche.errors import DocumentError, EcorcheError
from ecorche.muscles.lofted import LoftedMuscle


@dataclass(frozen=True, eq=False)
class Edited:
    """A rig after an edit, and what was done, a sentence each."""

    rig: Rig
    lines: tuple[str, ...]


def with_muscles(
    rig: Rig,
    named: Mapping[str, MuscleSpec],
    lofted: Mapping[str, LoftedMuscleSpec],
    lines: Mapping[str, LineMuscleSpec] | None = None,
) -> Rig:
    """The rig with these muscles, without painted maps, gains and meshes that belonged to others alone.

    Args:
        rig: The rig.
        named, lofted: All of these kinds.
        lines: All that are meshes on action lines; None leaves them as they are.
    """
    kept = rig.spec.muscles.lines if lines is None else lines
    update = {"named": dict(named), "lofted": dict(lofted), "lines": dict(kept)}
    muscles = rig.spec.muscles.model_copy(update=update)
    left = [m for _, m in muscles.each()]
    aside = rig.spec.skeleton.set_aside
    if aside is not None:  # they may come back
        left += [*aside.muscles.values(), *aside.lofted.values()]
    groups = {m.group for m in left} | {m.group for m in muscles.lines.values()}
    before = {m.influence.painted for _, m in rig.spec.muscles.each()}
    unused = before - {m.influence.painted for m in left}
    gains = {group: gain for group, gain in muscles.gains.items() if group in groups}
    maps = {name: of for name, of in rig.spec.maps.items() if name not in unused}
    spec = rig.spec.model_copy(update={"muscles": muscles.model_copy(update={"gains": gains}), "maps": maps})
    with told_as_document_error(rig.source):
        spec = RigSpec.model_validate(spec.model_dump())  # copies are not checked
    surfaces = rig.surfaces
    if lines is not None:
        used = {muscle.surface for muscle in kept.values()}
        surfaces = {n: v for n, v in surfaces.items() if n in used}
    values = {n: v for n, v in rig.maps.items() if n not in unused}
    return replace(rig, spec=spec, maps=values, surfaces=surfaces)


def with_found(rig: Rig, character: Character, muscle: LoftedMuscle) -> Rig:
    """The rig with a muscle like those found in the skin, new, or in the place of the one of its name."""
    lofted = {**rig.spec.muscles.lofted, **specs_of([muscle], character.skeleton)}
    return with_muscles(rig, rig.spec.muscles.named, lofted)


def found_muscle(rig: Rig, character: Character, name: str) -> LoftedMuscle:
    """A muscle found in the skin; one of the template is told where to edit it."""
    require_known(rig, name)
    if name in rig.spec.muscles.named:
        raise DocumentError(
            f"{name!r} is a muscle of the template, not one found in the skin",
            where=rig.source,
            remedy="Edit its path and thickness in the file",
        )
    return next(m for m in lofted_muscles_of(rig, character.skeleton) if m.name == name)


def require_known(rig: Rig, name: str) -> None:
    """Refuse the name of a muscle that the rig does not have, or that only its file can change."""
    if name in rig.spec.muscles.lines:
        raise DocumentError(
            f"{name!r} is a mesh on action lines",
            where=rig.source,
            remedy="Edit it under muscles.lines in the file, or take it out there",
        )
    known = [name for (*_, name), _ in rig.spec.muscles.each()]
    if name not in known:
        raise DocumentError(f"there is no muscle {name!r}", where=rig.source, remedy=suggestion(name, known))


def require_free(rig: Rig, name: str) -> None:
    """Refuse a name that a new muscle cannot have."""
    if not name.strip():
        raise EcorcheError("a muscle needs a name", where=rig.source, remedy="Give one that is not empty")
    if name in _names(rig):
        raise DocumentError(
            f"there is a muscle {name!r} already", where=rig.source, remedy="Give another name"
        )


def joint_called(character: Character, name: str) -> int:
    """The number of a joint; an unknown one is refused with the nearest."""
    names = character.skeleton.names
    if name not in names:
        raise EcorcheError(
            f"there is no joint {name!r}", where=character.source, remedy=suggestion(name, names)
        )
    return names.index(name)


def _names(rig: Rig) -> list[str]:
    return [*(name for (*_, name), _ in rig.spec.muscles.each()), *rig.spec.muscles.lines]
