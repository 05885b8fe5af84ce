"""Muscles of a rig, edited: removed, kept, merged, marked on the skin, drawn, resized, attached elsewhere.

Every edit gives a whole rig, checked, and says what it did. Muscles found in the skin can be edited in every
way; those of the template be removed, kept and resized, those that are meshes be removed, and anything else
elsewhere (`edit_spindles`, `edit_lines`) or in the file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from ecorche.base.names import listed
from ecorche.body.character import Character
from ecorche.body.edited_rig import (
    Edited,
    found_muscle,
    joint_called,
    require_free,
    require_known,
    with_found,
    with_muscles,
)
from ecorche.body.extract_muscles import most_telling, specs_of
from ecorche.body.lofted_specs import lofted_muscles_of
from ecorche.body.muscle_specs import muscles_of
from ecorche.body.place_muscles import bind_points, rounded
from ecorche.body.under_skin import apart, joints_of_skin_over, outside, shares_that_follow, skin_of
from ecorche.document.files import Rig
from ecorche.document.lofted_spec import LoftedMuscleSpec
from ecorche.document.muscle_spec import MuscleSpec
from ecorche.errors import EcorcheError
from ecorche.muscles.extraction.drawn import muscle_between
from ecorche.muscles.extraction.marked import MARKED, marked_muscle
from ecorche.muscles.extraction.redrawn import merged as merged_muscles
from ecorche.muscles.extraction.redrawn import reattached
from ecorche.muscles.extraction.redrawn import resized as resized_muscle
from ecorche.muscles.lofted_actions import actions_of
from ecorche.muscles.paths import paths_at
from ecorche.muscles.scapula import with_scapulae
from ecorche.skeleton.naming.recognise import recognise

SAME_PLACE = 0.5
"""A muscle that has this share of the marked skin already is told."""
SHOWN = 0.001
"""A muscle further out of the skin than this is told [m]."""
TOLD = 8
"""So many names in one line."""


def removed(rig: Rig, names: Sequence[str]) -> Edited:
    """The rig without some muscles of any kind; branches of theirs become muscles of their own."""
    for name in names:
        if name not in rig.spec.muscles.lines:
            require_known(rig, name)
    spec, gone = rig.spec.muscles, dict.fromkeys(names)
    orphans = [n for n, m in spec.lofted.items() if m.joins in gone and n not in gone]
    lofted = {
        name: muscle.model_copy(update={"joins": None}) if name in orphans else muscle
        for name, muscle in spec.lofted.items()
        if name not in gone
    }
    named = {name: muscle for name, muscle in spec.named.items() if name not in gone}
    lines = [f"removed: {listed([*gone], TOLD)}"]
    if orphans:
        lines.append(f"no longer branches of a muscle: {listed(orphans, TOLD)}")
    meshes = {name: muscle for name, muscle in spec.lines.items() if name not in gone}
    edited = with_muscles(rig, named, lofted, meshes if len(meshes) < len(spec.lines) else None)
    for what, before, after in (
        ("gains of groups without muscles", spec.gains, edited.spec.muscles.gains),
        ("painted maps that no other muscle has", rig.spec.maps, edited.spec.maps),
    ):
        if set(before) > set(after):
            lines.append(f"{what} went too: {listed([n for n in before if n not in after], TOLD)}")
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
    first, second = found_muscle(rig, character, one), found_muscle(rig, character, other)
    if one == other:
        raise EcorcheError(f"{one!r} is one muscle already", where="--merge", remedy="Name two muscles")
    called = one if name is None else name
    if called not in (one, other):
        require_free(rig, called)
    gap, thickest = apart(first, second), max(float(m.rings.half_axes.max()) for m in (first, second))
    if gap > thickest:
        raise EcorcheError(
            f"{one!r} and {other!r} are {1e3 * gap:.0f} mm apart, and no thicker than"
            f" {1e3 * thickest:.0f} mm: one muscle over both would be no muscle",
            where="--merge",
            remedy="Name two that lie side by side, or one behind the other",
        )
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
    edited = with_muscles(rig, rig.spec.muscles.named, lofted)
    out = outside(edited, character, called)
    if out > SHOWN:
        lines.append(f"it leaves the skin by up to {1e3 * out:.0f} mm between the two")
    return Edited(edited, tuple(lines))


def marked(rig: Rig, character: Character, mask: npt.ArrayLike, name: str) -> Edited:
    """The rig with one more muscle, found in a marked region of the skin.

    Args:
        rig: The rig.
        character: Its character.
        mask: How much each vertex of the body is marked, shape (vertices,).
        name: Of the new muscle.
    """
    require_free(rig, name)
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
    lines += [
        f"{100.0 * share:.0f} % of the marked skin follow {other!r} already: remove it or merge both"
        for other, share in shares_that_follow(rig, character, values > MARKED * values.max())
        if share > SAME_PLACE
    ]
    return Edited(with_found(rig, character, muscle), tuple(lines))


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
    require_free(rig, name)
    skeleton = character.skeleton
    skin, tissue = skin_of(character, rig)
    origin, insertion = (joint_called(character, joint) for joint in joints)
    drawn = muscle_between(
        name,
        (origin, insertion),
        radius,
        skin,
        skeleton,
        tissue=tissue,
        towards=None if towards is None else np.asarray(towards, np.float64),
    )
    drawn = replace(drawn, group="", reach=joints_of_skin_over(drawn, character, rig))
    muscle = replace(drawn, actions=actions_of(drawn, skeleton))
    length = float(np.linalg.norm(np.diff(muscle.ends, axis=0)))
    line = f"{name!r} runs from {joints[0]!r} to {joints[1]!r}, {1e3 * length:.0f} mm"
    return Edited(with_found(rig, character, muscle), (line,))


def resized(rig: Rig, character: Character, name: str, factor: float) -> Edited:
    """The rig with a muscle so many times as thick; its outer face stays where it is, under the skin."""
    if not (np.isfinite(factor) and 0.05 <= factor <= 20.0):
        raise EcorcheError(
            f"{name!r} cannot be {factor:g} times as thick", where="--resize", remedy="Give 0.05 to 20"
        )
    require_known(rig, name)
    line = f"{name!r} is {factor:g} times as thick"
    spec = rig.spec.muscles
    if name in spec.named:
        thick = _resized_spindle(spec.named[name], factor)
        return Edited(with_muscles(rig, {**spec.named, name: thick}, spec.lofted), (line,))
    muscle = resized_muscle(found_muscle(rig, character, name), factor)
    edited = with_found(rig, character, muscle)
    return Edited(edited, (line, *_further_out(edited, rig, character, name)))


def moved_end(rig: Rig, character: Character, name: str, end: str, joint: str) -> Edited:
    """The rig with the origin or insertion of a muscle found in the skin on another bone.

    Its rings stay where they are.
    """
    if end not in ("origin", "insertion"):
        raise EcorcheError(
            f"{end!r} is no end of a muscle", where="--move-end", remedy="Choose origin or insertion"
        )
    muscle, number = found_muscle(rig, character, name), joint_called(character, joint)
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
    line = f"the {end} of {name!r} is on {joint!r} now, {1e3 * far:.0f} mm from where it was"
    edited = with_found(rig, character, moved)
    return Edited(edited, (line, *_further_out(edited, rig, character, name)))


def _further_out(rig: Rig, before: Rig, character: Character, name: str) -> list[str]:
    """A sentence where a changed muscle leaves the skin and did not before."""
    out = outside(rig, character, name)
    if out <= SHOWN or out <= outside(before, character, name) + SHOWN:
        return []
    return [f"it leaves the skin by up to {1e3 * out:.0f} mm"]


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
