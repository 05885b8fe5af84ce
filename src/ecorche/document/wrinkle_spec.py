"""What a rig file says about folds of the skin at joints that bend. Metres and degrees."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ecorche.document.fields import Positive, Spec


class WrinklesSpec(Spec):
    """The folds at one place; what is left out is as on a person of the character's size."""

    depth: Annotated[float, Field(ge=0.0)] | None = None
    """Of a full groove [m]; 0 draws none."""
    width: Positive | None = None
    """From groove to groove [m]; the skin's edges should be shorter than half of it."""
    full: Annotated[float, Field(gt=0.0, le=180.0)] | None = None
    """Bend from bind at which they are full."""
