"""Muscles of a rig, edited: removed, kept, merged, marked on the skin, drawn, resized, attached elsewhere.

Every edit gives a whole rig, checked, and says what it did. Muscles found in the skin can be edited in every
way; those of the template be removed, kept and resized, and anything else in the file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from ecorche.base.names import suggestion
from ecorche.base.signed_pieces import SignedPieces
from ecorche.body.character import Character
from ecorche.body.extract_muscles import most_telling, specs_of
from ecorche.body.fit_for_muscles import times_a_person
from ecorche.body.lofted_specs import lofted_muscles_of
from ecorche.body.muscle_specs import muscles_of
from ecorche.body.place_muscles import bind_points, rounded
from ecorche.document.files import Rig
from ecorche.document.lofted_spec import LoftedMuscleSpec
from ecorche.document.muscle_spec import MuscleSpec
from ecorche.document.problems import told_as_document_error
from ecorche.document.spec import RigSpec
from ecorche.errors import DocumentError, EcorcheError
from ecorche.muscles.extraction.drawn import muscle_between
from ecorche.muscles.extraction.marked import marked_muscle
from ecorche.muscles.extraction.redrawn import merged as merged_muscles
from ecorche.muscles.extraction.redrawn import reattached, surface_of
from ecorche.muscles.extraction.redrawn import resized as resized_muscle
from ecorche.muscles.fit import TISSUE
from ecorche.muscles.lofted import LoftedMuscle
from ecorche.muscles.lofted_actions import actions_of
from ecorche.muscles.paths import paths_at
from ecorche.muscles.scapula import with_scapulae
from ecorche.skeleton.naming.recognise import recognise

Floats = npt.NDArray[np.float64]

SAME_PLACE = 0.5
"""A muscle that has this share of the marked skin already is told."""


@dataclass(frozen=True, eq=False)
class Edited:
    """A rig after an edit, and what was done, a sentence each."""

    rig: Rig
    lines: tuple[str, ...]


def removed(rig: Rig, names: Sequence[str]) -> Edited:
    """The rig without some muscles of either kind; branches of theirs become muscles of their own."""
    for name in names:
        _require_known(rig, name)
    spec, gone = rig.spec.muscles, set(names)
    orphans = [n for n, m in spec.lofted.items() if m.joins in gone and n not in gone]
    lofted = {
        name: muscle.model_copy(update={"joins": None}) if name in orphans else muscle
        for name, muscle in spec.lofted.items()
        if name not in gone
    }
    named = {name: muscle for name, muscle in spec.named.items() if name not in gone}
    lines = [f"removed: {_listed(names)}"]
    if orphans:
        lines.append(f"no longer branches of a muscle: {_listed(orphans)}")
    edited = _with(rig, named, lofted)
    for what, before, after in (
        ("gains of groups without muscles", spec.gains, edited.spec.muscles.gains),
        ("painted maps that no other muscle has", rig.spec.maps, edited.spec.maps),
    ):
        if set(before) > set(after):
            lines.append(f"{what} went too: {_listed([n for n in before if n not in after])}")
    return Edited(edited, tuple(lines))


def kept(rig: Rig, character: Character, count: int) -> Edited:
    """The rig with only so many muscles: of those found in the skin, where it has some, else of all.

    Found ones are kept by prominence times length, those of a template by thickness times length.
    """
    found = lofted_muscles_of(rig, character.skeleton)
    if found:
        names = {m.name for m in most_telling(found, character.skeleton, count)}
        gone = [m.name for m in found if m.name not in names]
        by = f"kept {len(names)} of {len(found)} muscles found in the skin, by prominence times length"
        if rig.spec.muscles.named:
            by += f"; the {len(rig.spec.muscles.named)} others stay"
    else:
        names = _thickest(rig, character, count)
        gone = [n for n in rig.spec.muscles.named if n not in names]
        by = f"kept {len(names)} of {len(rig.spec.muscles.named)} muscles, by thickness times length"
    if not gone:
        return Edited(rig, (by,))
    edited = removed(rig, gone)
    return Edited(edited.rig, (by, *edited.lines))


def _thickest(rig: Rig, character: Character, count: int) -> set[str]:
    """Names of the template's muscles whose half-thickness times length is greatest."""
    if count < 0:
        raise EcorcheError(f"{count} muscles cannot be kept", where="--keep", remedy="Give 0 or more")
    muscles, scapulae = muscles_of(rig, character.skeleton)
    if not muscles:
        return set()
    paths = paths_at(
        with_scapulae(character.skeleton, scapulae),
        [list(zip(m.joints, m.positions, strict=True)) for m in muscles],
        [m.name for m in muscles],
    )
    size = np.array([m.scale * m.thickness.max() for m in muscles]) * paths.bind.lengths
    return {muscles[n].name for n in np.argsort(-size, kind="stable")[:count]}


def merged(rig: Rig, character: Character, one: str, other: str, name: str | None = None) -> Edited:
    """The rig with two muscles found in the skin made one, whose ellipses cover both.

    Args:
        rig: The rig.
        character: Its character.
        one, other: The muscles.
        name: Of the new muscle; None is the first one's.
    """
    if one == other:
        raise EcorcheError(f"{one!r} is one muscle already", where="--merge", remedy="Name two muscles")
    first, second = _found(rig, character, one), _found(rig, character, other)
    called = name or one
    if called not in (one, other):
        _require_free(rig, called)
    joined = merged_muscles(first, second, called, character.skeleton)
    joined = replace(joined, actions=actions_of(joined, character.skeleton))
    lofted: dict[str, LoftedMuscleSpec] = {}
    for n, muscle in rig.spec.muscles.lofted.items():
        if n == one:
            lofted |= specs_of([joined], character.skeleton)
        elif n != other:
            branch = muscle.joins in (one, other)
            lofted[n] = muscle.model_copy(update={"joins": called}) if branch else muscle
    lines = [f"merged {one!r} and {other!r}: {called!r}"]
    if first.painted or second.painted:
        lines.append("painted weights of the two went; those of the new muscle are found")
    out = _outside(joined, character, rig)
    if out > 0.001:
        lines.append(f"it leaves the skin by up to {1e3 * out:.0f} mm between the two")
    return Edited(_with(rig, rig.spec.muscles.named, lofted), tuple(lines))


def marked(rig: Rig, character: Character, mask: npt.ArrayLike, name: str) -> Edited:
    """The rig with one more muscle, found in a marked region of the skin.

    Args:
        rig: The rig.
        character: Its character.
        mask: How much each vertex of the body is marked, shape (vertices,).
        name: Of the new muscle.
    """
    _require_free(rig, name)
    body = character.body(rig.spec.body)
    assert body.weights is not None  # a rig's body is skinned
    values = np.asarray(mask, np.float64)
    if values.shape != (body.mesh.vertex_count,):
        raise EcorcheError(
            f"the mask has shape {values.shape} for {body.mesh.vertex_count} vertices",
            where=name,
            remedy="Give one number a vertex of the body",
        )
    found = marked_muscle(
        name,
        values,
        bind_points(character, body),
        body.mesh.triangles(),
        body.weights.padded(),
        character.skeleton,
        recognise(character.skeleton, rig.spec.skeleton.mapping or None),
    )
    muscle = replace(found.muscle, actions=actions_of(found.muscle, character.skeleton))
    lines = [f"{name!r} was found in {found.region}", *found.notes]
    lines += _there_already(rig, character, values)
    return Edited(_with_one_more(rig, character, muscle), tuple(lines))


def added(
    rig: Rig,
    character: Character,
    name: str,
    joints: tuple[str, str],
    radius: float,
    towards: npt.ArrayLike | None = None,
) -> Edited:
    """The rig with one more plain muscle between two bones, under the skin.

    Args:
        rig: The rig.
        character: Its character.
        name: Of the new muscle.
        joints: Whose bones its origin and insertion are on.
        radius: Of its thickest section [m].
        towards: On which side of the bones it lies, in world axes at bind; None is where the skin is nearest.
    """
    _require_free(rig, name)
    skeleton = character.skeleton
    skin, tissue = _skin(character, rig)
    origin, insertion = (_joint(character, joint) for joint in joints)
    drawn = muscle_between(
        name,
        (origin, insertion),
        radius,
        skin,
        skeleton,
        tissue=tissue,
        towards=None if towards is None else np.asarray(towards, np.float64),
    )
    drawn = replace(drawn, group="", reach=_moved_by(drawn, character, rig))
    muscle = replace(drawn, actions=actions_of(drawn, skeleton))
    length = float(np.linalg.norm(np.diff(muscle.ends, axis=0)))
    line = f"{name!r} runs from {joints[0]!r} to {joints[1]!r}, {1e3 * length:.0f} mm"
    return Edited(_with_one_more(rig, character, muscle), (line,))


def resized(rig: Rig, character: Character, name: str, factor: float) -> Edited:
    """The rig with a muscle so many times as thick; its outer face stays where it is, under the skin."""
    if not (np.isfinite(factor) and 0.05 <= factor <= 20.0):
        raise EcorcheError(
            f"{name!r} cannot be {factor:g} times as thick", where="--resize", remedy="Give 0.05 to 20"
        )
    _require_known(rig, name)
    line = f"{name!r} is {factor:g} times as thick"
    spec = rig.spec.muscles
    if name in spec.named:
        thick = _resized_spindle(spec.named[name], factor)
        return Edited(_with(rig, {**spec.named, name: thick}, spec.lofted), (line,))
    before = _found(rig, character, name)
    muscle = resized_muscle(before, factor)
    lines = [line]
    out = _outside(muscle, character, rig)
    if out > _outside(before, character, rig) + 0.001:
        lines.append(f"it leaves the skin by up to {1e3 * out:.0f} mm")
    return Edited(_with_changed(rig, character, muscle), tuple(lines))


def moved_end(rig: Rig, character: Character, name: str, end: str, joint: str) -> Edited:
    """The rig with the origin or insertion of a muscle found in the skin on another bone.

    Its rings stay where they are.
    """
    if end not in ("origin", "insertion"):
        raise EcorcheError(
            f"{end!r} is no end of a muscle", where="--move-end", remedy="Choose origin or insertion"
        )
    muscle, number = _found(rig, character, name), _joint(character, joint)
    which: Literal[0, 1] = 0 if end == "origin" else 1
    if number == muscle.joints[1 - which]:
        raise EcorcheError(
            f"both ends of {name!r} would move with {joint!r}: it would never change its length",
            where="--move-end",
            remedy="Name another joint",
        )
    moved = reattached(muscle, which, number, character.skeleton)
    moved = replace(moved, actions=actions_of(moved, character.skeleton))
    far = float(np.linalg.norm(moved.ends[which] - muscle.ends[which]))
    lines = (f"the {end} of {name!r} is on {joint!r} now, {1e3 * far:.0f} mm from where it was",)
    return Edited(_with_changed(rig, character, moved), lines)


def _resized_spindle(muscle: MuscleSpec, factor: float) -> MuscleSpec:
    """A template's muscle so many times as thick, its belly as much further in."""
    values = np.array(muscle.thickness)
    sweep = np.zeros((2, 4, 2)) if muscle.sweep is None else np.array(muscle.sweep)
    inwards = (factor - 1.0) * muscle.scale * float(values[0, 3])
    rise = np.array([0.0, 2.0 / 3.0, 1.0, 1.0])  # a parabola that leaves the end and is level at the belly
    sweep[0, :, 0] -= inwards * rise
    sweep[1, :, 0] -= inwards * rise[::-1]
    changed = muscle.model_dump() | {
        "thickness": tuple(map(tuple, (factor * values).tolist())),
        "sweep": tuple(tuple(map(tuple, half)) for half in sweep.tolist()),
    }
    return MuscleSpec.model_validate(rounded(changed))


def _with_changed(rig: Rig, character: Character, muscle: LoftedMuscle) -> Rig:
    changed = specs_of([muscle], character.skeleton)
    lofted = {n: changed.get(n, m) for n, m in rig.spec.muscles.lofted.items()}
    return _with(rig, rig.spec.muscles.named, lofted)


def _with_one_more(rig: Rig, character: Character, muscle: LoftedMuscle) -> Rig:
    lofted = {**rig.spec.muscles.lofted, **specs_of([muscle], character.skeleton)}
    return _with(rig, rig.spec.muscles.named, lofted)


def _with(rig: Rig, named: Mapping[str, MuscleSpec], lofted: Mapping[str, LoftedMuscleSpec]) -> Rig:
    """The rig with these muscles, without painted maps and gains that belonged to others alone."""
    before = {m.influence.painted for _, m in rig.spec.muscles.each()}
    muscles = rig.spec.muscles.model_copy(update={"named": dict(named), "lofted": dict(lofted)})
    unused = before - {m.influence.painted for _, m in muscles.each()}
    groups = {m.group for _, m in muscles.each()}
    aside = rig.spec.skeleton.set_aside
    if aside is not None:
        groups |= {m.group for m in aside.muscles.values()} | {m.group for m in aside.lofted.values()}
    muscles = muscles.model_copy(
        update={"gains": {g: gain for g, gain in muscles.gains.items() if g in groups}}
    )
    spec = rig.spec.model_copy(
        update={"muscles": muscles, "maps": {n: m for n, m in rig.spec.maps.items() if n not in unused}}
    )
    with told_as_document_error(rig.source):
        spec = RigSpec.model_validate(spec.model_dump())  # copies are not checked
    return replace(rig, spec=spec, maps={n: v for n, v in rig.maps.items() if n not in unused})


def _found(rig: Rig, character: Character, name: str) -> LoftedMuscle:
    """A muscle found in the skin; one of the template is told where to edit it."""
    _require_known(rig, name)
    if name in rig.spec.muscles.named:
        raise DocumentError(
            f"{name!r} is a muscle of the template, not one found in the skin",
            where=rig.source,
            remedy="Edit its path and thickness in the file",
        )
    return next(m for m in lofted_muscles_of(rig, character.skeleton) if m.name == name)


def _require_known(rig: Rig, name: str) -> None:
    known = [n for (*_, n), _ in rig.spec.muscles.each()]
    if name not in known:
        raise DocumentError(f"there is no muscle {name!r}", where=rig.source, remedy=suggestion(name, known))


def _require_free(rig: Rig, name: str) -> None:
    if name in (n for (*_, n), _ in rig.spec.muscles.each()):
        raise DocumentError(
            f"there is a muscle {name!r} already", where=rig.source, remedy="Give another name"
        )


def _joint(character: Character, name: str) -> int:
    names = character.skeleton.names
    if name not in names:
        raise EcorcheError(
            f"there is no joint {name!r}", where=character.source, remedy=suggestion(name, names)
        )
    return names.index(name)


def _skin(character: Character, rig: Rig) -> tuple[SignedPieces, float]:
    """The body's skin at bind, and how thick skin and fat over a muscle are at least [m]."""
    body = character.body(rig.spec.body)
    naming = recognise(character.skeleton, rig.spec.skeleton.mapping or None)
    tissue = TISSUE * times_a_person(character.skeleton, naming)
    return SignedPieces(bind_points(character, body), body.mesh.triangles()), tissue


def _moved_by(muscle: LoftedMuscle, character: Character, rig: Rig) -> tuple[int, ...]:
    """The joints of the skin over a muscle, first the one it lies on, and those of its ends."""
    body = character.body(rig.spec.body)
    assert body.weights is not None  # a rig's body is skinned
    points = np.asarray(bind_points(character, body), np.float64)
    joints, shares = body.weights.padded()
    middles = surface_of(muscle, muscle.rings.u).mean(axis=1)
    near = np.unique([int(np.argmin(np.sum((points - place) ** 2, axis=1))) for place in middles])
    total = np.bincount(joints[near].ravel(), shares[near].ravel(), character.skeleton.joint_count)
    order = [int(j) for j in np.argsort(-total, kind="stable") if total[j] > 0.0]
    return tuple(dict.fromkeys((*order, *muscle.joints)))


def _outside(muscle: LoftedMuscle, character: Character, rig: Rig) -> float:
    """How far a muscle reaches out of the skin [m]; 0 where it does not."""
    skin, _ = _skin(character, rig)
    depth, _ = skin.depth(surface_of(muscle, np.linspace(0.05, 0.95, 31), 24))
    return max(-float(depth.min()), 0.0)


def _there_already(rig: Rig, character: Character, mask: Floats) -> list[str]:
    """A muscle found before that most of the marked skin follows."""
    if not rig.spec.muscles.lofted:
        return []
    from ecorche.body.compile import compile_body

    lofts = compile_body(character, rig=rig).lofts
    assert lofts is not None  # the rig has such muscles
    on = mask > 0.5 * mask.max()
    shares = (lofts.over.weight[:, on] > 0.5).mean(axis=1)
    return [
        f"{100.0 * share:.0f} % of the marked skin follow {muscle.name!r} already: remove it or merge both"
        for muscle, share in zip(lofts.lofts.muscles, shares, strict=True)
        if share > SAME_PLACE
    ]


def _listed(names: Sequence[str], most: int = 8) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(map(repr, names[:most])) + more
