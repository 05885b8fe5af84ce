"""What a rig file says about masses and springs in muscles and skin. Metres, newtons, pascals and seconds."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Annotated

from pydantic import Field, model_validator

from ecorche.document.fields import Positive, Share, Spec, Vector, refusal
from ecorche.document.muscle_spec import Name


class BlowSpec(Spec):
    """A blow: a force that swells and fades, on skin over one bone that looks towards where it comes from."""

    joint: str
    """The joint whose bone is hit, by the character's own name."""
    along: Share = 0.5
    """Where on the bone, from the joint, 0, to its tip, 1."""
    radius: Positive = 0.04
    """How wide it is [m]."""
    force: Vector
    """All of it at its strongest [N], in the world's axes."""
    start: float = 0.0
    """When it begins [s], on the motion's own clock."""
    seconds: Positive = 0.02
    """How long it takes [s]; its impulse is 2/π of force × seconds."""


class BallSpec(Spec):
    """A ball that moves and pushes skin out of itself; what it does to the bones is the motion's matter."""

    radius: Positive
    """[m]."""
    path: Annotated[tuple[tuple[float, float, float, float], ...], Field(min_length=1)]
    """Times [s] and places of its centre [m], rising: a smooth curve leads through them, and it rests before
    and after."""

    @model_validator(mode="after")
    def _require_rising(self) -> BallSpec:
        times = [key[0] for key in self.path]
        if any(b <= a for a, b in itertools.pairwise(times)):
            raise refusal("its times do not rise", "Give each place a later time", place=("path",))
        return self


class SpringsSpec(Spec):
    """Masses on springs, where a bake asks for them by `--dynamics springs`. Lengths are a person's, and are
    taken in the character's size; moduli and densities do not depend on it, so that small bodies jiggle
    faster."""

    muscle: Positive = 2000.0
    """Shear modulus of muscles at rest [Pa]: how firmly they are held where bones and activation put them."""
    tension: Annotated[float, Field(ge=1.0, le=100.0)] = 4.0
    """How many times as firmly at full activation; they then swing √ of it times as fast."""
    tissue: Positive = 2000.0
    """Shear modulus of what lies between skin and muscle or bone [Pa]."""
    skin: Annotated[float, Field(ge=0.0, le=1e5)] = 100.0
    """How many times as stiff springs between neighbours of the skin are as those that hold muscles."""
    surface: Annotated[float, Field(ge=0.0, le=1e5)] = 1000.0
    """The same of springs between neighbours on a muscle's surface."""
    damping: Share = 0.12
    """Damping ratio of the springs that hold muscles and skin."""
    ring: Share = 0.01
    """Damping ratio of those between neighbours: what is stiff rings."""
    reach: Positive = 0.02
    """Skin is held by all muscle and bone so much farther away than the nearest [m]."""
    muscularity: Annotated[float, Field(ge=0.2, le=1.0)] = 1.0
    """How thick muscles are, share of what they are: the rest is softer tissue, and the skin stays."""
    realtime: bool = False
    """Fewer masses and longer steps, for a body that moves while one looks: patches of skin 2 cm wide move as
    one, head, hands and feet go with their bones, and muscles stretch more easily along themselves."""
    intensity: Share = 1.0
    """How much of the motion is shown."""
    blows: Mapping[Name, BlowSpec] = Field(default_factory=dict)
    """Forces on the skin, by any name."""
    balls: Mapping[Name, BallSpec] = Field(default_factory=dict)
    """Things that move and push the skin, by any name."""
