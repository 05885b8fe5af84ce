"""Template muscles of a rig adjusted to what its character's skin shows; their names stay."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ecorche.base.names import listed
from ecorche.body.character import Character
from ecorche.body.extract_muscles import found_in_skin, most_telling
from ecorche.body.muscle_specs import muscle_specs, muscles_of
from ecorche.body.place_muscles import rounded
from ecorche.body.under_skin import skin_of
from ecorche.document.files import Rig
from ecorche.document.muscle_spec import MuscleSpec
from ecorche.document.problems import told_as_document_error
from ecorche.document.spec import RigSpec
from ecorche.errors import DocumentError
from ecorche.muscles.extraction.adjust import Adjusted, adjusted
from ecorche.muscles.musculature import musculature

TOLD = 6
"""So many names in one line of a report."""


@dataclass(frozen=True, eq=False)
class AdjustmentReport:
    """What was adjusted.

    Attributes:
        found: How many muscles show in the skin.
        counted: How many of them were to count.
        result: The muscles, and what was changed of which.
    """

    found: int
    counted: int
    result: Adjusted

    def lines(self) -> list[str]:
        """The report, a sentence each."""
        done, alone = self.result.adjustments, self.result.alone
        those = "them" if self.counted == self.found else f"the {self.counted} most telling of them"
        told = [
            f"{self.found} muscles show in the skin; {len(done)} of the template's were adjusted to {those}"
        ]
        if done:
            thick = max(done, key=lambda a: abs(a.thickness[1] - a.thickness[0]))
            belly = max(done, key=lambda a: abs(a.belly[1] - a.belly[0]))
            told.append(
                f"most: {thick.muscle!r} from {1e3 * thick.thickness[0]:.0f} to"
                f" {1e3 * thick.thickness[1]:.0f} mm of half-thickness, the belly of {belly.muscle!r} from"
                f" {100.0 * belly.belly[0]:.0f} to {100.0 * belly.belly[1]:.0f} % of its length"
            )
        if alone:
            told.append(
                f"{len(alone)} that show lie over none of the template's closely enough to adjust it:"
                f" {listed(alone, TOLD)} (--muscles extract has them)"
            )
        if self.result.exposed:
            name, gap = max(self.result.exposed, key=lambda e: e[1])
            told.append(
                f"{len(self.result.exposed)} adjusted muscles have too little room under the skin:"
                f" {name!r} lacks {1e3 * gap:.1f} mm"
            )
        return told


def with_adjusted_muscles(
    rig: Rig, character: Character, *, keep: int | None = None
) -> tuple[Rig, AdjustmentReport]:
    """A rig whose template muscles are adjusted to those that show in its character's skin.

    Muscles that do not show stay as they are; muscles that show and lie over none of the template's are left
    out, and told: skin that both slides over one muscle and follows another would move twice.

    Args:
        rig: A rig with muscles of the template, or of another rig.
        character: Its character.
        keep: Of the muscles that show, how many count, by prominence times length; None is all.
    """
    if not rig.spec.muscles.named:
        raise DocumentError(
            "has no template muscles to adjust",
            where=rig.source,
            remedy="Give it some first (ecorche rig), or find muscles alone: --muscles extract",
        )
    shown = found_in_skin(character, rig).muscles
    found = shown if keep is None else most_telling(shown, character.skeleton, keep)
    muscles, scapulae = muscles_of(rig, character.skeleton)
    skin, tissue = skin_of(character, rig)
    result = adjusted(musculature(muscles, character.skeleton, scapulae), found, skin, tissue=tissue)
    report = AdjustmentReport(len(shown), len(found), result)
    changed = {a.muscle for a in result.adjustments}
    specs, _ = muscle_specs([m for m in result.muscles if m.name in changed], scapulae, character.skeleton)
    named = {
        name: MuscleSpec.model_validate(rounded(specs[name].model_dump())) if name in changed else spec
        for name, spec in rig.spec.muscles.named.items()
    }
    with told_as_document_error(rig.source):
        spec = rig.spec.model_copy(
            update={
                "muscles": rig.spec.muscles.model_copy(update={"named": named}),
                "notes": (*rig.spec.notes, *report.lines()),
            }
        )
        spec = RigSpec.model_validate(spec.model_dump())  # copies are not checked
    return replace(rig, spec=spec), report
