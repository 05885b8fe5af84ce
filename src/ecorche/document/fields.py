"""What all parts of a rig file have in common: strict reading, and values that many fields hold."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from ecorche.base.names import suggestion


class Spec(BaseModel):
    """Values of one part of the rig file: read-only, of exactly the stated types and names."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=True, allow_inf_nan=False, use_attribute_docstrings=True
    )

    @model_validator(mode="before")
    @classmethod
    def _refuse_unknown_fields(cls, values: object) -> object:
        # before pydantic's own refusal, which does not know the names that would have been right
        if isinstance(values, Mapping):
            for name in values:
                if name not in cls.model_fields:
                    raise PydanticCustomError(
                        "unknown_field",
                        "unknown field '{name}'",
                        {"name": name, "remedy": suggestion(str(name), cls.model_fields)},
                    )
        return values


def refusal(what: str, remedy: str, *, place: tuple[str | int, ...] = ()) -> PydanticCustomError:
    """Say what is wrong with a value and how to mend it; ``place`` leads on from where it is raised."""
    return PydanticCustomError("refused", "{what}", {"what": what, "remedy": remedy, "place": place})


def _require_direction(v: tuple[float, float, float]) -> tuple[float, float, float]:
    if math.hypot(*v) < 1e-6:
        raise refusal("the direction has no length", "Give a vector other than zero")
    return v


Vector = tuple[float, float, float]
Direction = Annotated[Vector, AfterValidator(_require_direction)]
Degrees = Annotated[float, Field(ge=-360.0, le=360.0)]
Share = Annotated[float, Field(ge=0.0, le=1.0)]
Positive = Annotated[float, Field(gt=0.0)]
MapName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_ .-]{0,63}$")]
