"""Muscles found in the skin once more, in one region or all, kept beside those a rig has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ecorche.base.names import listed, suggestion
from ecorche.body.character import Character
from ecorche.body.edited_rig import Edited, with_muscles
from ecorche.body.extract_muscles import apart_from, found_in_skin, specs_of
from ecorche.body.place_muscles import bind_points
from ecorche.document.files import Rig
from ecorche.errors import EcorcheError
from ecorche.muscles.extraction.regions import skin_regions
from ecorche.skeleton.naming.recognise import recognise

TOLD = 6


def regions_of_skin(rig: Rig, character: Character) -> tuple[str, ...]:
    """The regions of a character's skin in which muscles can be looked for, such as ``"upper arm, left"``."""
    body = character.body(rig.spec.body)
    assert body.weights is not None  # a rig's body is skinned
    regions, _ = skin_regions(
        bind_points(character, body),
        body.mesh.triangles(),
        body.weights.padded(),
        character.skeleton,
        recognise(character.skeleton, rig.spec.skeleton.mapping or None),
    )
    return tuple(dict.fromkeys(region.name for region in regions))


def found_again(rig: Rig, character: Character, regions: Sequence[str] | None = None) -> Edited:
    """The rig with the muscles that show in its skin, beside those it has.

    One that was found before, and has its name still, is found anew; all others stay.

    Args:
        rig: The rig.
        character: Its character.
        regions: Where; None is everywhere. It takes as long for one as for all.
    """
    found = found_in_skin(character, rig)
    for region in regions or ():
        if region not in found.regions:
            raise EcorcheError(
                f"the skin has no region {region!r}",
                where=character.source or character.name,
                remedy=suggestion(region, found.regions, at_most=30),
            )
    wanted = set(found.regions if regions is None else regions)
    chosen = [
        muscle
        for muscle, track in zip(found.muscles, found.tracks, strict=True)
        if found.regions[track.region] in wanted
    ]
    where = "the skin" if regions is None else ", ".join(regions)
    if not chosen:
        told = dict(found.left_out)
        why = next((told[region] for region in wanted if region in told), "nothing stands out there")
        raise EcorcheError(
            f"no muscle shows in {where} ({why})",
            where=character.source or character.name,
            remedy="Draw one between two points, or take it from the template",
        )
    held = rig.spec.muscles
    names = {muscle.name for muscle in chosen} | held.lofted.keys()
    chosen = [m if m.joins in names else replace(m, joins="") for m in chosen]
    specs = specs_of(apart_from(chosen, {*held.named, *held.lines}), character.skeleton)
    again = [name for name in specs if name in held.lofted]
    lines = [f"{len(specs)} muscles found in {where}: {listed([*specs], TOLD)}"]
    if again:
        lines.append(f"found anew, in place of what was there: {listed(again, TOLD)}")
    return Edited(with_muscles(rig, held.named, {**held.lofted, **specs}), tuple(lines))
