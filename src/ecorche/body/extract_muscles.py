"""Muscles for a rig, found in its character's own skin: any creature whose muscles show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ecorche.body.character import Character
from ecorche.body.lofted_specs import lofted_specs
from ecorche.body.place_muscles import bind_points, rounded
from ecorche.document.files import Rig
from ecorche.document.lofted_spec import LoftedMuscleSpec
from ecorche.document.problems import told_as_document_error
from ecorche.document.spec import RigSpec
from ecorche.errors import SkeletonError
from ecorche.muscles.extraction.build import Extraction, extract_muscles
from ecorche.muscles.lofted_actions import actions_of
from ecorche.skeleton.naming.recognise import recognise


@dataclass(frozen=True, eq=False)
class ExtractionReport:
    """What was found in a skin, in sentences.

    Attributes:
        extraction: All that was found, with sections and bumps.
        regions: How many muscles each region has.
    """

    extraction: Extraction
    regions: Mapping[str, int]

    def lines(self) -> list[str]:
        """The report, a sentence each; reasons are told region by region."""
        told = [f"{len(self.extraction.muscles)} muscles found in the skin"]
        told += [f"{region}: left to plain skinning, {reason}" for region, reason in self.extraction.left_out]
        return [*told, *self.extraction.notes]


def found_in_skin(character: Character, rig: Rig) -> Extraction:
    """The muscles that show in the skin of a rig's character."""
    body = character.body(rig.spec.body)
    assert body.weights is not None  # a rig's body is skinned
    naming = recognise(character.skeleton, rig.spec.skeleton.mapping or None)
    found = extract_muscles(
        bind_points(character, body),
        body.mesh.triangles(),
        body.weights.padded(),
        character.skeleton,
        naming,
    )
    acting = [replace(m, actions=m.actions or actions_of(m, character.skeleton)) for m in found.muscles]
    return replace(found, muscles=tuple(acting))


def with_extracted_muscles(
    rig: Rig, character: Character, *, gains: Mapping[str, float] | None = None
) -> tuple[Rig, ExtractionReport]:
    """A rig with the muscles that show in its character's skin, in place of those found before.

    Args:
        rig: The rig; muscles of the template stay as they are.
        character: Its character.
        gains: How much of the muscles' effect on the skin is shown, by group.
    """
    found = found_in_skin(character, rig)
    if not found.muscles:
        reasons = "; ".join(f"{region}: {reason}" for region, reason in found.left_out[:3])
        raise SkeletonError(
            "no muscles show in the skin" + (f" ({reasons})" if reasons else ""),
            where=character.source or character.name,
            remedy="Take the anatomical template for a humanoid (--muscles template), mark a region"
            " (ecorche muscles RIG --mark MASK), or make a rig without any (--without-muscles)",
        )
    per_region: dict[str, int] = {}
    for muscle in found.muscles:
        per_region[muscle.group] = per_region.get(muscle.group, 0) + 1
    report = ExtractionReport(found, per_region)
    lofted = {
        name: LoftedMuscleSpec.model_validate(rounded(spec.model_dump()))
        for name, spec in lofted_specs(found.muscles, character.skeleton).items()
    }
    return with_lofted(rig, lofted, gains=gains, notes=report.lines()[:1]), report


def with_lofted(
    rig: Rig,
    lofted: Mapping[str, LoftedMuscleSpec],
    *,
    gains: Mapping[str, float] | None = None,
    notes: list[str] | None = None,
) -> Rig:
    """The rig with other muscles found in the skin; gains of groups that are gone go with them."""
    muscles = rig.spec.muscles
    groups = {m.group for m in muscles.named.values()} | {m.group for m in lofted.values()}
    kept = {group: gain for group, gain in muscles.gains.items() if group in groups} | dict(gains or {})
    spec = rig.spec.model_copy(
        update={
            "muscles": muscles.model_copy(update={"lofted": dict(lofted), "gains": kept}),
            "notes": (*rig.spec.notes, *(notes or ())),
        }
    )
    with told_as_document_error(rig.source):
        spec = RigSpec.model_validate(spec.model_dump())  # copies are not checked
    return replace(rig, spec=spec)
