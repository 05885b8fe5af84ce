"""Muscles found in a finished skin: the whole way from skin and skeleton to muscles that move.

Text 001, "Muscle Extraction": sections, bumps (`regions`), bumps linked, ellipses, muscles.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy.typing as npt

from ecorche.base.closest_point import TriangleSurface
from ecorche.muscles.extraction.bump import Bump, Cut
from ecorche.muscles.extraction.limbs import LeftOut
from ecorche.muscles.extraction.linking import Track, linked
from ecorche.muscles.extraction.overlap import parted
from ecorche.muscles.extraction.pairs import LONE, lone
from ecorche.muscles.extraction.regions import Region, joined, regions_of
from ecorche.muscles.extraction.rings import SpaceRings, space_rings
from ecorche.muscles.extraction.template_names import TemplateNames
from ecorche.muscles.lofted import LoftedMuscle
from ecorche.skeleton.naming import Naming
from ecorche.skeleton.skeleton import Skeleton


@dataclass(frozen=True, eq=False, repr=False)
class Extraction:
    """What was found in a skin.

    Attributes:
        muscles: The muscles, with names of their own.
        tracks: The track of each muscle; its bumps are numbers into ``bumps``.
        regions: Names of the regions that ``Cut.region`` counts.
        cuts: All sections.
        bumps: All bumps; ``Bump.cut`` counts ``cuts``.
        left_out: Parts left to plain skinning, and why.
        notes: What a person should know, a sentence each.
    """

    muscles: tuple[LoftedMuscle, ...]
    tracks: tuple[Track, ...]
    regions: tuple[str, ...]
    cuts: tuple[Cut, ...]
    bumps: tuple[Bump, ...]
    left_out: tuple[LeftOut, ...]
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        return f"Extraction({len(self.muscles)} muscles, {len(self.cuts)} sections, {len(self.bumps)} bumps)"


def extract_muscles(
    points: npt.ArrayLike,
    triangles: npt.ArrayLike,
    weights: tuple[npt.ArrayLike, npt.ArrayLike],
    skeleton: Skeleton,
    naming: Naming,
) -> Extraction:
    """Find the muscles that show in a skin.

    Args:
        points: The skin at bind [m], shape (V, 3); vertices split at seams are joined where they coincide.
        triangles: Vertex numbers, shape (T, 3).
        weights: Joints and weights of each vertex, shapes (V, K) each, padded with weight 0.
        skeleton: The character's joints.
        naming: Their names, as far as they are known.
    """
    skin = joined(points, triangles, weights)
    regions, left_out = regions_of(skin, skeleton, naming)
    surface = TriangleSurface(skin.points, skin.triangles)
    return _assembled(regions, TemplateNames(skeleton, naming), left_out, surface)


def _assembled(
    regions: Sequence[Region], known: TemplateNames, left_out: list[LeftOut], skin: TriangleSurface
) -> Extraction:
    """All regions' muscles together, each with a name of its own."""
    cuts: list[Cut] = []
    bumps: list[Bump] = []
    found: list[Track] = []
    notes: list[str] = []
    for number, region in enumerate(regions):
        links = linked(region.cuts, region.bumps, prominent=region.prominent, long=region.long)
        first = len(found)
        found += [
            Track(
                number,
                tuple(len(bumps) + b for b in track.bumps),
                track.prominence,
                first + track.joins if track.joins >= 0 else -1,
            )
            for track in links.tracks
        ]
        if links.slight or links.short:
            notes.append(
                f"{region.name}: of {len(links.tracks) + links.slight + links.short} swellings {links.slight}"
                f" stand out too little and {links.short} are too short to be muscles."
            )
        bumps += [replace(b, cut=b.cut + len(cuts)) for b in region.bumps]
        cuts += [replace(c, region=number) for c in region.cuts]
    sides = [regions[t.region].side for t in found]
    kept, taken = parted([t.bumps for t in found], bumps, cuts, sides)
    made: list[tuple[int, LoftedMuscle, SpaceRings]] = []
    for n, (track, own) in enumerate(zip(found, kept, strict=True)):
        region = regions[track.region]
        if not own:
            better = regions[found[taken[n]].region].name
            notes.append(f"{region.name}: a swelling is the muscle that {better} shows better.")
            continue
        row = [bumps[b] for b in own]
        rings = space_rings(cuts, row, [region.ellipse(cuts[b.cut], b) for b in row])
        muscle = region.muscle(rings)
        if isinstance(muscle, str):
            notes.append(f"{region.name}: a swelling was left to plain skinning, {muscle}.")
            continue
        made.append((n, muscle, rings))
    midplane = next((r.midplane for r in regions if r.midplane is not None), None)
    if midplane is not None:
        # only where muscles were sought on the other side too: what was refused there shows nothing
        sought = {(r.side, _without_side(r.name)) for r in regions}
        paired = [
            side if (-side, _without_side(regions[track.region].name)) in sought else 0
            for side, track in zip(sides, found, strict=True)
        ]
        alone = lone([rings for *_, rings in made], [paired[n] for n, *_ in made], midplane, skin)
        for one in alone:
            name = regions[found[made[one][0]].region].name
            notes.append(f"{name}: a swelling was left to plain skinning, {LONE}.")
        made = [m for one, m in enumerate(made) if one not in alone]
    numbered = {n: number for number, (n, *_) in enumerate(made)}
    muscles = [muscle for _, muscle, _ in made]
    tracks = [
        replace(found[n], bumps=kept[n], prominence=max(bumps[b].prominence for b in kept[n]))
        for n in numbered
    ]
    tracks = [replace(t, joins=numbered.get(t.joins, -1)) for t in tracks]
    names = _unique([m.name for m in muscles])
    muscles = [
        replace(m, name=name, muscle=name, joins=names[t.joins] if t.joins >= 0 else "")
        for m, name, t in zip(muscles, names, tracks, strict=True)
    ]
    return Extraction(
        tuple(known.named(muscles, [rings for *_, rings in made])),
        tuple(tracks),
        tuple(r.name for r in regions),
        tuple(cuts),
        tuple(bumps),
        tuple(left_out),
        tuple(notes),
    )


def _without_side(region: str) -> str:
    """The name of a region of the trunk without ``"left"`` or ``"right"``."""
    return region.removeprefix("left ").removeprefix("right ")


def _unique(names: Sequence[str]) -> list[str]:
    """Names told apart by a number before the side: ``"thigh front, left"``, ``"thigh front 2, left"``."""
    given: list[str] = []
    for name in names:
        stem, comma, side = name.partition(", ")
        number, wanted = 1, name
        while wanted in given:
            number += 1
            wanted = f"{stem} {number}{comma}{side}"
        given.append(wanted)
    return given
