"""What a rig file says about fat that moves, region by region. Metres, pascals and seconds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Literal

from pydantic import Field, model_validator

from ecorche.document.fields import MapName, Positive, Share, Spec, refusal
from ecorche.document.muscle_spec import Name

Place = Literal["breasts", "belly", "buttocks", "thighs", "upper_arms"]
"""Where on a human body."""

Stiffer = Annotated[float, Field(ge=0.01, le=100.0)]


class FatRegionSpec(Spec):
    """Fat at one place of the body; of those with a left and a right side both. Numbers marked *or a map* may
    be the name of a painted one; what is None is as on a person of the character's size."""

    place: Place | None = None
    """Where it is found by the body's joints; None where `mask` says it."""
    mask: MapName | None = None
    """A map: how far each vertex belongs to it, 0 to 1, within `place` where that is said too."""
    thickness: Positive | MapName | None = None
    """Of the layer below the skin [m], or a map (times 5 cm); None measures it at bind."""
    least: Positive | None = None
    """Where the layer is thinner, nothing moves [m]."""
    deepest: Positive | None = None
    """No layer is taken for thicker [m]."""
    voxel: Positive | None = None
    """Edge of a voxel [m]; time taken grows with its fourth power as it gets smaller."""
    material: Name | None = None
    """A tissue by name (breast, belly, fat, soft, firm, gel); None is what suits the place."""
    young: Positive | None = None
    """Young's modulus, instead of the tissue's [Pa]."""
    poisson: Annotated[float, Field(ge=0.0, lt=0.5)] | None = None
    """Poisson's ratio, instead of the tissue's."""
    density: Positive | None = None
    """Instead of the tissue's [kg/m³]."""
    viscosity: Annotated[float, Field(ge=0.0)] | None = None
    """How long shear stress takes to follow a sudden strain, instead of the tissue's [s]."""
    stiffening: Annotated[float, Field(ge=0.0, le=100.0)] | None = None
    """By how many times its modulus it is stiffer when sheared by its thickness, instead of the tissue's."""
    stiffness: Stiffer | MapName = 1.0
    """How many times as stiff it is as the tissue, or a map (times 2: one half is as stiff)."""
    nodes: Annotated[int, Field(ge=1, le=16)] = 4
    """How many nodes of the fat a vertex of the skin goes with."""
    intensity: Share | MapName = 1.0
    """How much of its motion is shown, or a map."""
    sag: Share = 0.0
    """How much of its weight acts at bind too. 0 leaves the skin at bind as it was modelled: under its weight
    already; 1 is for skins modelled as if there were none."""

    @model_validator(mode="after")
    def _require_somewhere(self) -> FatRegionSpec:
        if self.place is None and self.mask is None:
            raise refusal("the fat is nowhere", "Name a place of the body, or a painted map as mask")
        return self

    def maps(self) -> Iterator[tuple[str, str]]:
        """Fields that name a map, and its name."""
        for field in ("mask", "thickness", "stiffness", "intensity"):
            value = getattr(self, field)
            if isinstance(value, str):
                yield field, value


class FatSpec(Spec):
    """Fat that moves where a bake asks for it by `--dynamics fat`."""

    regions: Mapping[Name, FatRegionSpec] = Field(default_factory=dict)
    """By any name. None given: breasts, belly and buttocks, where the layer is thick enough."""
    gravity: Annotated[float, Field(ge=0.0, le=100.0)] = 9.81
    """[m/s²], downwards."""

    def maps(self) -> Iterator[tuple[tuple[str, str, str], str]]:
        """Places of fields that name a map, and its name."""
        for name, region in self.regions.items():
            for field, painted in region.maps():
                yield ("regions", name, field), painted
