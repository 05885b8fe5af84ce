"""Which muscle and which bone each attachment site belongs to, though names are misspelt.

A site is a small surface named ``bone=muscle``. The name proposes, the place decides:

- muscle: those compete whose bare name (no kind, side or number) is like the site's by at least `ALIKE`
  (ratio of `difflib`) and no more than `AS_ALIKE` less so than the best. The nearest surface takes it, where
  a name that is not exactly the site's counts as `MISNAMED` further away, and one only alike in proportion
  more. So a wrong or missing side is mended by the place. None takes it from further than `IN_REACH`.
- bone: the bone whose surface is nearest, unless a bone of exactly the name lies less than `NEXT_TO`
  further. A site further from every bone than the touching distance is told (a ligament has no bone).

Every mended name and every site that nobody takes is told.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache

import numpy as np
import numpy.typing as npt

from ecorche.muscles.anatomy.folder import AnatomyMesh, Bones, squashed

Floats = npt.NDArray[np.float64]

ALIKE = 0.85
"""Least likeness of two bare names, 0 to 1, at which they may mean the same muscle."""
AS_ALIKE = 0.06
"""Names that are less alike than the best by no more than this compete with it by place."""
IN_REACH = 0.015
"""How far a site may lie from the surface of its muscle, share of the anatomy's extent: 15 mm for a metre."""
MISNAMED = 0.003
"""What another side or number in the name counts as in distance, share of the extent; so does every
`AS_ALIKE` of unlikeness."""
NEXT_TO = 0.002
"""How much further than the nearest bone the bone of the site's name may be, share of the extent."""
SIDE = re.compile(r"(?<=[_. ])([LR])(?=$|[_. (\d])|(?<=\d)([LR])$")


@dataclass(frozen=True, eq=False)
class Site:
    """Where a muscle is attached, as somebody marked it.

    Attributes:
        name: The file's name.
        muscle, bone: Numbers of what it joins.
        place: Its centre [m], shape (3,).
        radius: Its extent [m].
    """

    name: str
    muscle: int
    bone: int
    place: Floats
    radius: float

    @property
    def bone_word(self) -> str:
        """What its name calls the bone, without sides and numbers: rib, sternum, ligament."""
        return bare(self.name.split("=")[0])


@cache
def bare(name: str) -> str:
    """A name without its kind, its side and numbers, for comparing: ``MUSCm.biceps_L`` → ``biceps``."""
    name = re.sub(r"\(\d+\)|\.\d+$|[\d]+$", "", name)
    name = SIDE.sub("", name)
    name = re.sub(r"^(?:MUSC|BONE|SITE|muscle_|bone_|site_)?(?:[Mm]{1,2}[._ ]+)?", "", name)
    return re.sub(r"[^a-z]", "", squashed(name))


def matched_sites(
    sites: Sequence[AnatomyMesh], muscles: Sequence[AnatomyMesh], bones: Bones, extent: float
) -> tuple[tuple[Site, ...], tuple[str, ...]]:
    """The sites that a muscle takes, and a sentence for every doubt."""
    bare_names = [bare(mesh.name) for mesh in muscles]
    found, doubts, unclaimed = [], [], []
    asked: dict[str, Floats] = {}
    for mesh in sites:
        _, _, wanted = mesh.name.rpartition("=")
        place = mesh.centre
        if wanted not in asked:
            key = bare(wanted)
            asked[wanted] = np.array([_likeness(key, other) for other in bare_names])
        alike = asked[wanted]
        if alike.max(initial=0.0) < ALIKE:
            unclaimed.append(wanted)
            continue
        rivals = np.flatnonzero(alike >= max(ALIKE, alike.max() - AS_ALIKE))
        far = np.array([float(muscles[int(m)].surface.closest(place[None]).distances[0]) for m in rivals])
        exact = np.array([squashed(muscles[int(m)].name) == squashed(wanted) for m in rivals])
        unlike = np.where(exact, 0.0, 1.0 + (alike.max() - alike[rivals]) / AS_ALIKE)
        best = int(np.argmin(far + MISNAMED * extent * unlike))
        muscle = int(rivals[best])
        if far[best] > IN_REACH * extent:
            doubts.append(
                f"Site {mesh.name!r} is {1e3 * far[best]:.0f} mm from {muscles[muscle].name!r}, the nearest"
                " muscle of such a name: nobody takes it."
            )
            continue
        bone = _bone(mesh.name, place, bones, extent, doubts)
        if not exact[best]:
            doubts.append(
                f"Site {mesh.name!r} is taken for {muscles[muscle].name!r}, {1e3 * far[best]:.1f} mm off."
            )
        found.append(
            Site(mesh.name, muscle, bone, place, float(np.linalg.norm(np.ptp(mesh.points, axis=0)) / 2))
        )
    if unclaimed:
        names = sorted(set(unclaimed))
        doubts.append(
            f"{len(unclaimed)} sites are for muscles that the folder does not hold: {', '.join(names)}."
        )
    return tuple(found), tuple(doubts)


@cache
def _likeness(one: str, other: str) -> float:
    return 1.0 if one == other else SequenceMatcher(None, one, other, autojunk=False).ratio()


def _bone(name: str, place: Floats, bones: Bones, extent: float, doubts: list[str]) -> int:
    """The bone a site lies on."""
    nearest, far = bones.nearest(place[None])
    bone, distance = int(nearest[0]), float(far[0])
    key = squashed(name.split("=")[0])
    exact = [row for row, other in enumerate(bones.names) if squashed(other) == key]
    if exact and exact[0] != bone:
        named = float(bones.distances(exact[0], place[None])[0])
        if named - distance < NEXT_TO * extent:
            return exact[0]
        doubts.append(
            f"Site {name!r} lies on {bones.names[bone]!r}, {1e3 * (named - distance):.0f} mm nearer than the"
            " bone it is named after."
        )
    if distance > bones.touching:
        doubts.append(f"Site {name!r} lies on no bone; {bones.names[bone]!r} is {1e3 * distance:.0f} mm off.")
    return bone
