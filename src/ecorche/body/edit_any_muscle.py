"""What applies to every muscle that moves the skin itself: its name, its twin, its numbers, whose skin it
moves.

For spindles and for muscles found in the skin; every edit gives a whole rig, checked, and says what it did.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from ecorche.base.names import unique
from ecorche.body.character import Character
from ecorche.body.edited_rig import Edited, joint_called, require_free, require_known, with_muscles
from ecorche.body.place_muscles import rounded
from ecorche.body.spelled_joints import spot
from ecorche.document.files import Rig
from ecorche.document.lofted_spec import LoftedMuscleSpec
from ecorche.document.muscle_spec import MuscleSpec
from ecorche.document.problems import told_as_document_error
from ecorche.errors import DocumentError, EcorcheError


def renamed(rig: Rig, name: str, new_name: str) -> Edited:
    """The rig with a muscle under another name; it keeps its place, its branches and its painted weights."""
    require_known(rig, name)
    if new_name == name:
        return Edited(rig, (f"{name!r} keeps its name",))
    require_free(rig, new_name)
    spec = rig.spec.muscles
    named = {new_name if n == name else n: m for n, m in spec.named.items()}
    lofted = {
        new_name if n == name else n: m.model_copy(update={"joins": new_name}) if m.joins == name else m
        for n, m in spec.lofted.items()
    }
    return Edited(with_muscles(rig, named, lofted), (f"{name!r} is called {new_name!r} now",))


def duplicated(rig: Rig, name: str, new_name: str | None = None) -> Edited:
    """The rig with a muscle a second time, right after the first; without a name it gets a number."""
    require_known(rig, name)
    spec = rig.spec.muscles
    taken = {*spec.named, *spec.lofted, *spec.lines}
    called = unique(name, taken) if new_name is None else new_name
    if new_name is not None:
        require_free(rig, new_name)
    named: dict[str, MuscleSpec] = {}
    for n, spindle in spec.named.items():
        named[n] = spindle
        if n == name:
            named[called] = spindle
    lofted: dict[str, LoftedMuscleSpec] = {}
    for n, loft in spec.lofted.items():
        lofted[n] = loft
        if n == name:
            lofted[called] = loft
    return Edited(with_muscles(rig, named, lofted), (f"{called!r} is a copy of {name!r}",))


def with_max_force(rig: Rig, name: str, newtons: float) -> Edited:
    """The rig with the force of a muscle at full activation [N]."""
    spec = _muscle(rig, name)
    changes: dict[str, object] = {"max_force": newtons}
    if isinstance(spec, MuscleSpec) and newtons != spec.max_force:
        changes["force_source"] = ""  # what was published is not this number
    return Edited(_with(rig, name, changes), (f"{name!r} pulls with {newtons:.0f} N at most",))


def with_largest_bulge(rig: Rig, name: str, bulge: float) -> Edited:
    """The rig with the bulge of a muscle at full activation, 1 to 3."""
    return Edited(
        _with(rig, name, {"largest_bulge": bulge}), (f"{name!r} bulges by {bulge:.2f} at full activation",)
    )


def with_words(rig: Rig, name: str, *, muscle: str | None = None, group: str | None = None) -> Edited:
    """The rig with what a muscle is a part of, and one of; None leaves either as it is.

    A gain of the group it leaves goes, where it was the last of it.
    """
    given = {"muscle": muscle, "group": group}
    changes: dict[str, object] = {key: word for key, word in given.items() if word is not None}
    words = {"muscle": "part of", "group": "one of"}
    lines = [f"{name!r} is {words[key]} {word!r}" for key, word in changes.items()]
    edited = _with(rig, name, changes)
    gone = [g for g in rig.spec.muscles.gains if g not in edited.spec.muscles.gains]
    if gone:
        lines.append(f"the gain of {gone[0]!r} went: no muscle is one of them any more")
    return Edited(edited, tuple(lines))


def with_influence(
    rig: Rig,
    character: Character,
    name: str,
    *,
    joints: Sequence[str] | None = None,
    neighbourhood: Literal["automatic", "fitted", "half_space", "radial"] | None = None,
    weighting: Literal["binary", "spline"] | None = None,
    radius: float | None = None,
) -> Edited:
    """The rig with another part of the skin for a muscle; None leaves a field as it is.

    Args:
        rig: The rig.
        character: Its character.
        name: The muscle.
        joints: Whose skin it may move; none of them makes it a deep muscle.
        neighbourhood: The vertices over it, on its outer side, or round it. Of spindles alone.
        weighting: All alike, or by how thick it is there. Of spindles alone.
        radius: How far a radial neighbourhood reaches [m]; 0 is half as much again as the muscle. Of spindles
            alone.
    """
    spec = _muscle(rig, name)
    influence = spec.influence.model_dump()
    own: dict[str, object] = {"neighbourhood": neighbourhood, "weighting": weighting, "radius": radius}
    asked = {key: value for key, value in own.items() if value is not None}
    if asked and isinstance(spec, LoftedMuscleSpec):
        raise EcorcheError(
            f"{name!r} was found in the skin: it moves the skin over its rings, without {next(iter(asked))}",
            where=rig.source,
            remedy="Choose whose skin it moves, or paint its weights",
        )
    if asked.get("radius") == 0.0:
        asked["radius"] = None
    lines = [
        f"{key} of {name!r}: {'as the muscle is thick' if value is None else value}"
        for key, value in asked.items()
    ]
    if joints is not None:
        for joint in joints:
            joint_called(character, joint)
        influence["joints"] = tuple(joints)
        whose = ", ".join(map(repr, joints)) or "none: it is a deep muscle"
        lines.append(f"{name!r} may move the skin of {whose}")
    return Edited(_with(rig, name, {"influence": influence | asked}), tuple(lines))


def _muscle(rig: Rig, name: str) -> MuscleSpec | LoftedMuscleSpec:
    require_known(rig, name)
    spec = rig.spec.muscles
    return spec.named[name] if name in spec.named else spec.lofted[name]


def _with(rig: Rig, name: str, changes: dict[str, object]) -> Rig:
    """The rig with fields of one muscle changed, whole and checked."""
    held, spec = _muscle(rig, name), rig.spec.muscles
    kind = "named" if isinstance(held, MuscleSpec) else "lofted"
    with told_as_document_error(spot(rig, ("muscles", kind, name))):
        changed = type(held).model_validate(held.model_dump() | rounded(changes))
    if isinstance(changed, MuscleSpec):
        return with_muscles(rig, {**spec.named, name: changed}, spec.lofted)
    if isinstance(changed, LoftedMuscleSpec):
        return with_muscles(rig, spec.named, {**spec.lofted, name: changed})
    raise DocumentError(f"{name!r} is a muscle of another kind", where=rig.source)
