"""``--coupling``: how the skin is bound to what lies beneath, said on the command line."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import typer

if TYPE_CHECKING:
    from ecorche.body.character import Character
    from ecorche.document.files import Rig

NUMBERS = {
    "intensity": 1.0,
    "stiffness": 1.0,
    "thickness": 1.0,
    "slide": 1.0,
    "seconds": 2.0,
    "subdivision": 3.0,
}
"""What may be said in numbers, and the largest."""
UNPAINTED = ("seconds", "subdivision")
"""Of these, what is the same everywhere."""
WORDS: dict[str, dict[str, str | bool]] = {
    "time_filter": {"centred": "centred", "following": "following"},
    "contact": {"on": True, "off": False},
}
"""What may be said in words."""

COUPLING: Any = typer.Option(
    [],
    "--coupling",
    metavar="[REGION=]COUPLING",
    help="How the skin follows what is beneath: muscles, plain, height_field or fascia; or so in a region or"
    " from a joint on, such as hands=plain; or intensity, stiffness, thickness or slide = a number, a map of"
    " the rig, or a file of painted values; or subdivision = 1 to 3, seconds = a number that it is filtered"
    " over, time_filter = centred or following, contact = on or off. Again for more.",
)


def require_rig_for(texts: list[str], rig: Rig | None, without_muscles: bool) -> Rig | None:
    """The rig; a coupling that is asked for without one, or without muscles, is refused."""
    from ecorche.errors import EcorcheError

    if texts and (rig is None or without_muscles):
        raise EcorcheError(
            "there is nothing beneath the skin to bind it to",
            where="--coupling",
            remedy="Leave out --without-muscles" if rig else "Make a rig first: ecorche rig CHARACTER",
        )
    return rig


def with_coupling(rig: Rig, texts: list[str], character: Character) -> Rig:
    """The rig with its skin bound as the texts say; what they do not speak of stays."""
    from ecorche.base.names import suggestion
    from ecorche.body.choose_coupling import with_coupling as rig_with_coupling
    from ecorche.document.coupling_spec import Coupling
    from ecorche.errors import EcorcheError

    if not texts:
        return rig
    kinds: tuple[str, ...] = get_args(Coupling)
    said = rig.spec.coupling.model_dump()
    for text in texts:
        what, is_part, value = (part.strip() for part in text.rpartition("="))
        if is_part and what in NUMBERS:
            rig, said[what] = _number(rig, what, value, character)
            continue
        if is_part and what in WORDS:
            if value not in WORDS[what]:
                raise EcorcheError(
                    f"{what} cannot be {value!r}",
                    where=f"--coupling {text}",
                    remedy=f"Say {' or '.join(WORDS[what])}",
                )
            said[what] = WORDS[what][value]
            continue
        if value not in kinds:
            raise EcorcheError(
                f"there is no coupling {value!r}", where=f"--coupling {text}", remedy=suggestion(value, kinds)
            )
        if is_part:
            said["regions"] = {**said["regions"], what: value}
        else:
            said["everywhere"] = value
    return rig_with_coupling(rig, character, said, "--coupling")


def _number(rig: Rig, what: str, text: str, character: Character) -> tuple[Rig, float | str]:
    """A number, or a map; painted values from a file become a map of the rig."""
    from ecorche.base.names import unique
    from ecorche.cli.painted import painted_in
    from ecorche.document.spec import MapRef
    from ecorche.errors import EcorcheError

    most, painted = NUMBERS[what], what not in UNPAINTED
    try:
        number = float(text)
    except ValueError:
        pass
    else:
        whole = what == "subdivision"
        if 0.0 <= number <= most and not (whole and number % 1.0):
            return rig, int(number) if whole else number
        raise EcorcheError(
            f"{text} is not {'a whole number ' if whole else ''}between 0 and {most:g}",
            where=f"--coupling {what}",
            remedy="Give such a number",
        )
    if text in rig.maps and painted:
        return rig, text
    if not Path(text).is_file() or not painted:
        raise EcorcheError(
            f"{text!r} is no number" + (", no map of the rig and no file" if painted else ""),
            where=f"--coupling {what}",
            remedy=f"Give a number from 0 to {most:g}"
            + (", or a painted .npy or .csv file" if painted else ""),
        )
    values = painted_in(Path(text), what, character, rig)
    name = unique(what, set(rig.maps))
    body = character.body(rig.spec.body).name
    ref = MapRef(mesh=body, about=f"painted in {Path(text).name}")
    spec = rig.spec.model_copy(update={"maps": {**rig.spec.maps, name: ref}})
    return replace(rig, spec=spec, maps={**rig.maps, name: values.weights.astype("float32")}), name
