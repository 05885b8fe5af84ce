"""Muscles for a rig: placed on the skeleton, fitted under the skin, written as plain numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ecorche.base.names import listed, suggestion
from ecorche.body.alignment import skeleton_of
from ecorche.body.character import Character, SkinnedMesh
from ecorche.body.fit_for_muscles import require_fit_for_muscles, times_a_person
from ecorche.body.muscle_specs import muscle_specs, muscles_of
from ecorche.document.files import Rig
from ecorche.document.joint_spec import VirtualScapulaSpec
from ecorche.document.muscle_spec import MuscleSpec
from ecorche.document.problems import told_as_document_error
from ecorche.document.spec import RigSpec
from ecorche.errors import DocumentError, EcorcheError, SkeletonError
from ecorche.muscles.fit import TISSUE, Moved, fit_to_skin
from ecorche.muscles.template.place import LeftOut, Placement, place
from ecorche.muscles.transfer import Figure, transferred
from ecorche.skeleton.naming.recognise import Naming, recognise

DECIMALS = 9
"""Of numbers in a new rig file: a millionth of a millimetre, and text a person can read."""
TOLD = 3
"""How many names stand for many in a sentence."""


@dataclass(frozen=True, eq=False)
class MuscleReport:
    """What became of a set of muscles on one character.

    Attributes:
        placed: How many muscles it has.
        scapulae: Shoulder blades it got, as it has none of its own.
        left_out: Muscles it cannot have, and why.
        moved: Path points drawn in under the skin, and how far.
        tight: Muscles that have too little room under the skin, with how much [m].
        notes: What else the placement tells, a sentence each.
        lost_gains: Groups that a gain was for and that have no muscle here.
    """

    placed: int
    scapulae: tuple[str, ...]
    left_out: tuple[LeftOut, ...]
    moved: tuple[Moved, ...]
    tight: tuple[tuple[str, float], ...]
    notes: tuple[str, ...]
    lost_gains: tuple[str, ...]

    def lines(self) -> list[str]:
        """The report in sentences; long lists end in a count."""
        told = [f"{self.placed} muscles placed and fitted under the skin"]
        if self.scapulae:
            told.append(f"virtual shoulder blades added: {listed(self.scapulae, TOLD)}")
        if self.left_out:
            names = listed([left.name for left in self.left_out], TOLD)
            reasons = list(dict.fromkeys(left.reason for left in self.left_out))
            more = _and_more(len(reasons) - 1, "reason")
            told.append(f"{len(self.left_out)} left out: {names}; {reasons[0]}{more}")
        if self.lost_gains:
            told.append(f"gains left out, of groups without a muscle here: {listed(self.lost_gains, TOLD)}")
        if self.moved:
            far = max(self.moved, key=lambda m: m.distance)
            told.append(
                f"{len(self.moved)} path points drawn in under the skin, at most by"
                f" {1000.0 * far.distance:.0f} mm (point {far.point} of {far.muscle!r})"
            )
        if self.tight:
            worst = max(self.tight, key=lambda t: t[1])
            told.append(
                f"{len(self.tight)} muscles have too little room under the skin: {worst[0]!r}"
                f" lacks {1000.0 * worst[1]:.1f} mm"
            )
        if self.notes:
            told.append(f"{self.notes[0]}{_and_more(len(self.notes) - 1, 'note')}")
        return told


def template_placement(character: Character, naming: Naming) -> Placement:
    """The anatomical template at its places on a humanoid, not yet fitted; others are refused."""
    from ecorche.muscles.template import TEMPLATE

    placement = place(TEMPLATE, character.skeleton, naming)
    if not placement.muscles:
        why = next((n for n in naming.notes if n.startswith("not recognised")), "no limb has its joints")
        raise SkeletonError(
            f"is no humanoid that human muscles could be given to ({why})",
            where=character.source or character.name,
            remedy="Name its joints (--mapping FILE) if it is one. For another creature take the muscles that"
            " show in its skin (--muscles extract) or those of a finished rig (--template RIG), or make a rig"
            " without any (--without-muscles)",
        )
    return placement


def rig_placement(
    template: Rig, character: Character, naming: Naming, joint_map: Mapping[str, str] | None = None
) -> Placement:
    """The muscles of a finished rig at their places on another character, not yet fitted.

    Args:
        template: The rig; it holds the skeleton it was made for, so its character is not needed.
        character: Who gets the muscles, human or creature.
        naming: What that character's joints are.
        joint_map: Joint of the template to joint of the character, where names do not tell.
    """
    if not template.spec.muscles.named:
        what, remedy = "no muscles", "Give a rig that `ecorche rig` gave some"
        if template.spec.muscles.lofted:
            what, remedy = (
                "only muscles found in its own skin",
                "Find this character's own: --muscles extract",
            )
        elif template.spec.muscles.lines:
            what, remedy = (
                "only meshes on action lines",
                "Build this character's own: --as-lines or --anatomy",
            )
        raise DocumentError(f"has {what} to give", where=template.source, remedy=remedy)
    source = skeleton_of(template.bind)
    muscles, scapulae = muscles_of(template, source)
    known = Figure(source, recognise(source, template.spec.skeleton.mapping or None))
    placement = transferred(muscles, scapulae, known, Figure(character.skeleton, naming), joint_map)
    if not placement.muscles:
        raise SkeletonError(
            f"none of the template's {len(muscles)} muscles has a place here"
            f" ({placement.left_out[0].reason})",
            where=character.source or character.name,
            remedy='Name more pairs of joints in a joint map: {"joint of the template": "joint here", …}',
        )
    return placement


def with_manner_of(rig: Rig, template: Rig) -> Rig:
    """The rig with what a template says of all its muscles: what keeps volume, what activates, gains.

    Muscles of every kind stay the rig's own; `with_muscles` leaves out gains that are left without any.
    """
    own = rig.spec.muscles
    manner = template.spec.muscles.model_copy(
        update={"named": own.named, "lofted": own.lofted, "lines": own.lines, "fields": own.fields}
    )
    return replace(rig, spec=rig.spec.model_copy(update={"muscles": manner}))


def with_muscles(
    rig: Rig,
    character: Character,
    placement: Placement,
    *,
    gains: Mapping[str, float] | None = None,
) -> tuple[Rig, MuscleReport]:
    """A rig with muscles in place of those it had, fitted under its body's skin.

    Args:
        rig: The rig.
        character: Its character.
        placement: The muscles at their places, of any size.
        gains: How much of their effect on the skin is shown, by group of muscles; those the rig has of other
            groups stay. Gains whose group has no muscle here are left out, and told.
    """
    _require_groups(placement, gains or {})
    body = character.body(rig.spec.body)
    assert body.weights is not None  # a rig's body is skinned
    points = bind_points(character, body)
    naming = recognise(character.skeleton, rig.spec.skeleton.mapping or None)
    require_fit_for_muscles(character, points, body.weights, naming)
    # a child's skin is thinner and a giant's thicker: the same body in another size gets the same muscles
    tissue = TISSUE * times_a_person(character.skeleton, naming)
    fitted, fit = fit_to_skin(
        placement.muscles, placement.skeleton, points, body.mesh.triangles(), tissue=tissue
    )
    named, blades = muscle_specs(fitted, placement.scapulae, character.skeleton)
    groups = {muscle.group for muscle in fitted}
    groups |= {loft.group for loft in rig.spec.muscles.lofted.values()}
    groups |= {line.group for line in rig.spec.muscles.lines.values()}
    wanted = {**rig.spec.muscles.gains, **(gains or {})}
    kept = {group: gain for group, gain in wanted.items() if group in groups}
    report = MuscleReport(
        placed=len(fitted),
        scapulae=tuple(blades),
        left_out=(*placement.left_out, *fit.left_out),
        moved=fit.moved,
        tight=fit.exposed,
        notes=(*fit.skin_notes, *placement.notes),
        lost_gains=tuple(group for group in wanted if group not in kept),
    )
    spec = rig.spec
    with told_as_document_error(rig.source):
        spec = spec.model_copy(
            update={
                "skeleton": spec.skeleton.model_copy(
                    update={
                        "virtual_scapulae": {
                            name: VirtualScapulaSpec.model_validate(rounded(blade.model_dump()))
                            for name, blade in blades.items()
                        }
                    }
                ),
                "muscles": spec.muscles.model_copy(
                    update={
                        "named": {
                            name: MuscleSpec.model_validate(rounded(muscle.model_dump()))
                            for name, muscle in named.items()
                        },
                        "gains": kept,
                    }
                ),
                "notes": (*spec.notes, *report.lines()),
            }
        )
        spec = RigSpec.model_validate(spec.model_dump())  # copies are not checked
    return replace(rig, spec=spec), report


def bind_points(character: Character, mesh: SkinnedMesh) -> npt.NDArray[np.floating]:
    """Where a mesh's vertices are in the skeleton's bind pose [m], shape (vertices, 3)."""
    if mesh.own_bind is None:
        return mesh.mesh.points
    from ecorche.body.compile import compile_body, skinned_points

    still = np.zeros((character.skeleton.joint_count, 4, 4))
    posed = skinned_points(compile_body(character), still, (None,) * len(character.meshes))
    return posed[character.meshes.index(mesh)]


def rounded(value: Any) -> Any:
    """Plain values with their numbers at `DECIMALS`, and no minus before a zero."""
    if isinstance(value, float):
        return round(value, DECIMALS) + 0.0
    if isinstance(value, dict):
        return {key: rounded(entry) for key, entry in value.items()}
    return tuple(map(rounded, value)) if isinstance(value, tuple) else value


def _require_groups(placement: Placement, gains: Mapping[str, float]) -> None:
    groups = sorted({muscle.group for muscle in placement.muscles} - {""})
    for group in gains:
        if group not in groups:
            raise EcorcheError(
                f"no muscle is one of the {group!r}",
                where="gains",
                remedy=suggestion(group, groups, at_most=40),
            )


def _and_more(count: int, noun: str) -> str:
    """`` (and 3 more notes)``; nothing for none."""
    return f" (and {count} more {noun}{'' if count == 1 else 's'})" if count else ""
