"""Muscles for a rig, found in its character's own skin: any creature whose muscles show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ecorche.base.names import listed
from ecorche.body.character import Character, SkinnedMesh
from ecorche.body.lofted_specs import lofted_specs
from ecorche.body.place_muscles import bind_points, rounded
from ecorche.document.files import Rig
from ecorche.document.lofted_spec import LoftedMuscleSpec
from ecorche.document.problems import told_as_document_error
from ecorche.document.spec import RigSpec
from ecorche.errors import EcorcheError, SkeletonError
from ecorche.muscles.extraction.build import Extraction, extract_muscles
from ecorche.muscles.extraction.redrawn import surface_of
from ecorche.muscles.fit import TISSUE
from ecorche.muscles.lofted import LoftedMuscle
from ecorche.muscles.lofted_actions import actions_of
from ecorche.skeleton.naming.recognise import recognise
from ecorche.skeleton.skeleton import Skeleton
from ecorche.skin.weights import is_rigid

LIES_IN = 0.02
"""A muscle that lies on more than this share of a region's sections lies in it."""
OUTSIDE = 0.005
"""Rings are bounded by the skin they were found in; what lies so far outside it on a person is wrong [m]."""
TOLD = 3
"""So many names in one line of a report."""


@dataclass(frozen=True, eq=False)
class ExtractionReport:
    """What was found in a skin, in sentences.

    Attributes:
        extraction: All that was found, with sections and bumps.
        regions: How many muscles each region has.
        kept: How many of the muscles found were kept.
    """

    extraction: Extraction
    regions: Mapping[str, int]
    kept: int

    def lines(self) -> list[str]:
        """The report, a sentence each; reasons are told region by region."""
        found = len(self.extraction.muscles)
        told = [f"{found} muscles found in the skin"]
        if self.kept < found:
            told[0] += f", the {self.kept} kept for which prominence times length is greatest"
        told += _refusals(self.extraction)
        return [*told, *self.extraction.notes]


def _refusals(extraction: Extraction) -> list[str]:
    """Why some regions have no muscles, a sentence for each reason."""
    told = {extraction.regions[track.region] for track in extraction.tracks}
    told |= {region for region, _ in extraction.left_out}
    silent = [
        (region, _nothing_of_its_own(extraction, number))
        for number, region in enumerate(extraction.regions)
        if region not in told
    ]
    regions: dict[str, list[str]] = {}
    for region, reason in (*extraction.left_out, *silent):
        regions.setdefault(reason, []).append(region)
    return [
        f"{'; '.join(where)}: "
        + (reason if "plain skinning" in reason else f"left to plain skinning, {reason}")
        for reason, where in regions.items()
    ]


def _nothing_of_its_own(extraction: Extraction, region: int) -> str:
    """Why a region has no muscles: nothing shows there, or muscles found from another region lie there."""
    others = _lying_in(extraction, region)
    if not others:
        return "no muscle shows there"
    return (
        f"no muscle shows in these sections themselves; found from beside, {listed(others, TOLD)}"
        f" {'reaches' if len(others) == 1 else 'reach'} into them, the rest is left to plain skinning"
    )


def _lying_in(extraction: Extraction, region: int) -> list[str]:
    """Muscles of other regions whose bumps lie on the skin that a region's sections cross."""
    from scipy.spatial import cKDTree

    curves = [cut.points for cut in extraction.cuts if cut.region == region]
    if not curves:
        return []
    own = np.concatenate(curves)
    found = []
    for muscle, track in zip(extraction.muscles, extraction.tracks, strict=True):
        bumps = [extraction.bumps[b] for b in track.bumps]
        rows = [
            extraction.cuts[b.cut].points[np.arange(b.first, b.last + 1) % len(extraction.cuts[b.cut].points)]
            for b in bumps
        ]
        middles = np.array([row.mean(axis=0) for row in rows])
        apart = np.median(np.linalg.norm(np.diff(middles, axis=0), axis=1)) if len(rows) > 1 else 0.0
        near = np.asarray(cKDTree(np.concatenate(rows)).query(own)[0]) <= 0.5 * apart
        if track.region != region and near.mean() > LIES_IN:
            found.append(muscle.name)
    return found


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
    muscles = [
        replace(m, actions=m.actions or actions_of(m, character.skeleton), prominence=t.prominence)
        for m, t in zip(found.muscles, found.tracks, strict=True)
    ]
    notes = (*found.notes, *_skin_elsewhere(character, rig), *_crossing_skin(character, rig, muscles))
    return replace(found, muscles=tuple(muscles), notes=notes)


def _skin_elsewhere(character: Character, rig: Rig) -> list[str]:
    """What other meshes are skin of, a sentence if there is any: muscles are sought in one mesh alone."""
    body = character.body(rig.spec.body)
    own = _carried_joints(body)
    naming = recognise(character.skeleton, rig.spec.skeleton.mapping or None)
    known = [name is not None for name in naming.canonical]
    elsewhere: dict[str, set[int]] = {}
    for mesh in character.meshes:
        if mesh.weights is None or is_rigid(mesh.weights):  # a prop, an eye or a bone
            continue
        others = _carried_joints(mesh) - own
        if any(known):  # hair and skirts have joints of their own
            others = {joint for joint in others if known[joint]}
        if others:
            elsewhere[mesh.name] = others
    if not elsewhere:
        return []
    joints = sorted(set().union(*elsewhere.values()))
    named = ", ".join(character.skeleton.names[joint] for joint in joints[:6])
    named += f" and {len(joints) - 6} more" if len(joints) > 6 else ""
    return [
        f"Muscles were sought in {body.name!r} alone, which has no skin of {named}: join it with the meshes"
        f" that have ({', '.join(map(repr, list(elsewhere)[:3]))}{', …' if len(elsewhere) > 3 else ''})."
    ]


def _crossing_skin(character: Character, rig: Rig, muscles: Sequence[LoftedMuscle]) -> list[str]:
    """A sentence where muscles lie outside the nearest skin and inside the whole: there it crosses itself."""
    from ecorche.base.winding import winding_numbers
    from ecorche.body.under_skin import skin_of

    if not muscles:
        return []
    skin, tissue = skin_of(character, rig)
    allowed = OUTSIDE * tissue / TISSUE  # in the character's size
    names, places, far = [], [], []
    for muscle in muscles:
        shown = surface_of(muscle, np.linspace(muscle.rings.u[0], muscle.rings.u[-1], 15), 24).reshape(-1, 3)
        out = skin.depth(shown)[0] * (1.0 if skin.inside_out else -1.0)
        if out.max() > allowed:
            names.append(muscle.name)
            places.append(shown[np.argmax(out)])
            far.append(float(out.max()))
    body = character.body(rig.spec.body)
    winds = np.abs(winding_numbers(np.array(places), bind_points(character, body), body.mesh.triangles()))
    crossing = {name: out for name, out, times in zip(names, far, winds, strict=True) if times > 0.5}
    if not crossing:
        return []
    return [
        f"The skin crosses itself at {listed([*crossing], TOLD)}: up to {1e3 * max(crossing.values()):.0f} mm"
        " of what was found are outside the skin nearest by. Bind the character in a pose in which nothing"
        " goes through anything, or remove what is wrong."
    ]


def _carried_joints(mesh: SkinnedMesh) -> set[int]:
    """The joints that move some of a mesh by more than half."""
    assert mesh.weights is not None
    return set(np.unique(mesh.weights.joints[mesh.weights.weights > 0.5]).tolist())


def with_extracted_muscles(
    rig: Rig,
    character: Character,
    *,
    gains: Mapping[str, float] | None = None,
    keep: int | None = None,
) -> tuple[Rig, ExtractionReport]:
    """A rig with the muscles that show in its character's skin, in place of those found before.

    Args:
        rig: The rig; muscles of the template stay as they are.
        character: Its character.
        gains: How much of the muscles' effect on the skin is shown, by group.
        keep: How many are kept, by `most_telling`; None keeps all.
    """
    found = found_in_skin(character, rig)
    if not found.muscles:
        reasons = ". ".join(_refusals(found))
        elsewhere = _skin_elsewhere(character, rig)
        raise SkeletonError(
            "no muscles show in the skin" + (f" ({reasons})" if reasons else ""),
            where=character.source or character.name,
            remedy=" ".join(elsewhere)
            or "Take the anatomical template for a humanoid (--muscles template), or make a rig without"
            " any (--without-muscles) and mark a region of the skin (ecorche muscles RIG --mark MASK)",
        )
    per_region: dict[str, int] = {}
    for track in found.tracks:
        region = found.regions[track.region]
        per_region[region] = per_region.get(region, 0) + 1
    kept = found.muscles if keep is None else most_telling(found.muscles, character.skeleton, keep)
    taken = set(rig.spec.muscles.named)
    kept = apart_from(kept, taken)
    report = ExtractionReport(found, per_region, len(kept))
    specs = specs_of(kept, character.skeleton)
    return with_lofted(rig, specs, gains=gains, notes=report.lines()[:1]), report


def most_telling(muscles: Sequence[LoftedMuscle], skeleton: Skeleton, count: int) -> tuple[LoftedMuscle, ...]:
    """The muscles for which prominence times length is greatest, in the order they had.

    Those that a person marked or drew, of no known prominence, come first. A branch whose trunk is not among
    them is a muscle of its own.
    """
    from ecorche.muscles.root_curves import root_curves

    if count < 0:
        raise EcorcheError(f"{count} muscles cannot be kept", where="--keep", remedy="Give 0 or more")
    lengths = root_curves(muscles, skeleton.joint_count).bind.lengths if muscles else np.zeros(0)
    telling = np.array([m.prominence or np.inf for m in muscles]) * lengths
    order = np.argsort(-telling, kind="stable")[:count]
    kept = [muscles[n] for n in sorted(order.tolist())]
    names = {m.name for m in kept}
    return tuple(m if m.joins in names else replace(m, joins="") for m in kept)


def apart_from(muscles: Sequence[LoftedMuscle], taken: set[str]) -> tuple[LoftedMuscle, ...]:
    """The muscles, renamed where another muscle of the rig has their name."""
    renamed = {m.name: f"{m.name} (found)" for m in muscles if m.name in taken}
    return tuple(
        replace(m, name=renamed.get(m.name, m.name), joins=renamed.get(m.joins, m.joins)) for m in muscles
    )


def specs_of(muscles: Sequence[LoftedMuscle], skeleton: Skeleton) -> dict[str, LoftedMuscleSpec]:
    """Muscles found in the skin by name, as a rig file holds them, rounded like all it holds."""
    return {
        name: LoftedMuscleSpec.model_validate(rounded(spec.model_dump()))
        for name, spec in lofted_specs(muscles, skeleton).items()
    }


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
