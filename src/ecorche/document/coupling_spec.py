"""What a rig file says about how the skin is bound to what lies beneath, region by region."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Literal

from pydantic import Field

from ecorche.document.fields import MapName, Share, Spec

Coupling = Literal["plain", "muscles", "height_field", "fascia"]
"""Skinning alone; each muscle moves the skin in its own way (those of the template let it slide over them,
found ones are joints); the skin keeps its distance to muscles and bones; or to a membrane that bridges the
gaps between them."""

Thickness = Annotated[float, Field(ge=0.0, le=1.0)]
Seconds = Annotated[float, Field(ge=0.0, le=2.0)]


class CouplingSpec(Spec):
    """How the skin follows what lies beneath. Numbers marked *or a map* may be the name of a painted one.

    A height field or fascia corrects skinning, and is as good as that is: where one is asked for anywhere and
    neither rig nor character file names a method, the body is skinned by contour.
    """

    everywhere: Coupling = "muscles"
    """The coupling where `regions` says nothing. A height field or fascia leaves head, hands and feet to
    plain skinning unless they are named."""
    regions: Mapping[str, Coupling] = Field(default_factory=dict)
    """By region (head, neck, trunk, upper_arms, forearms, hands, thighs, lower_legs, feet) or by the name of
    a joint, which stands for it and those below it."""
    intensity: Share | MapName = 1.0
    """How much of the correction is shown, or a map."""
    stiffness: Share | MapName = 0.5
    """How strongly the correction is smoothed over the skin, or a map."""
    thickness: Thickness | MapName | None = None
    """Of fat and skin over the muscles [m], or a map (times 5 cm): thick tissue shows less of their relief.
    None measures it at bind."""
    slide: Share | MapName = 0.3
    """How freely the skin slides along itself to even out how it is stretched, or a map."""
    seconds: Seconds = 0.04
    """Length of the filter in time [s]; 0 for none."""
    time_filter: Literal["centred", "following"] = "centred"
    """Centred looks as far ahead as back and delays nothing; following knows only what was, as live use."""
    subdivision: Annotated[int, Field(ge=0, le=3)] = 0
    """How often the skin is divided last of all: as it is written and drawn it then has four times as many
    faces each time, and goes smoothly through its vertices. 0 leaves it as it is."""
    contact: bool = True
    """Whether skin gives way where it would pass through skin."""
    bones: tuple[str, ...] = ()
    """Meshes of the character that are bones: the skin keeps its distance to them too."""

    def maps(self) -> Iterator[tuple[str, str]]:
        """Fields that name a map, and its name."""
        for field in ("intensity", "stiffness", "thickness", "slide"):
            value = getattr(self, field)
            if isinstance(value, str):
                yield field, value
