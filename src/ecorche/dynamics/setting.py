"""The one `dynamics` setting: which method lets flesh lag behind the bones."""

from __future__ import annotations

from enum import StrEnum

from ecorche.base.names import suggestion
from ecorche.errors import EcorcheError


class Dynamics(StrEnum):
    """How flesh lags behind and swings after.

    There is one such setting for a whole body; each method has a value here and a file beside this one.
    """

    OFF = "off"
    """Each frame depends on its own pose alone."""
    OSCILLATION = "oscillation"
    """Muscles swing about where the bones carry them (`oscillation`); frames then depend on those before."""

    FAT = "fat"
    """Fat swings between muscles and skin, an elastic solid; frames then depend on those before."""

    SPRINGS = "springs"
    """Muscles and skin swing as masses on springs, bones do not; frames then depend on those before."""

    @property
    def has_history(self) -> bool:
        """Whether a frame depends on the frames before, so that a bake must begin early or keep a state."""
        return self is not Dynamics.OFF


def dynamics_named(name: str) -> Dynamics:
    """The setting of that name; another is refused with the choices."""
    try:
        return Dynamics(name)
    except ValueError:
        raise EcorcheError(
            f"there is no dynamics {name!r}",
            where="dynamics",
            remedy=suggestion(name, [d.value for d in Dynamics]),
        ) from None
