"""The options of `ecorche bake` as settings of a shot: which there are, and how their values are read."""

from __future__ import annotations

import inspect
import math
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from types import NoneType
from typing import Any, get_args, get_type_hints

from ecorche.base.names import suggestion
from ecorche.cli.bake import bake
from ecorche.errors import EcorcheError

OWN = frozenset({"output", "split", "part", "stitch", "threads", "quiet"})
"""Options that a list of shots decides on by itself."""
_WORDS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


@dataclass(frozen=True)
class BakeOption:
    """One option.

    Attributes:
        name: As it is called in a list, without dashes in front.
        parameter: As the function `bake` calls it.
        kind: Type of its values.
        default: Where nothing is said.
        least: The smallest number; None for any.
        most: The largest.
    """

    name: str
    parameter: str
    kind: Any
    default: Any
    least: float | None
    most: float | None

    def value(self, told: object, where: str) -> Any:
        """What is written in a list as the function wants it."""
        where = f"{where}, {self.name}"
        if self.kind == list[str]:
            values = told if isinstance(told, list) else [t.strip() for t in str(told).split(";")]
            if not all(isinstance(v, str) and v for v in values):
                raise EcorcheError(f"{told!r} is no list of words", where=where)
            return values
        if self.kind is bool:
            found = told if isinstance(told, bool) else _WORDS.get(str(told).strip().casefold())
            if found is None:
                raise EcorcheError(
                    f"{told!r} is neither yes nor no", where=where, remedy="Write true or false"
                )
            return found
        if isinstance(told, bool | list | dict):
            raise EcorcheError(f"{told!r} is not a value for it", where=where)
        if issubclass(self.kind, Enum):
            choices = [str(choice.value) for choice in self.kind]
            if str(told) not in choices:
                raise EcorcheError(
                    f"there is no {told!r}", where=where, remedy=suggestion(str(told), choices)
                )
            return self.kind(str(told))
        if self.kind in (int, float):
            return self._number(told, where)
        return self.kind(str(told))

    def _number(self, told: object, where: str) -> Any:
        try:
            number = self.kind(str(told))
        except ValueError:
            number = math.nan
        low, high = (-math.inf if self.least is None else self.least, self.most or math.inf)
        if not low <= number <= high or not math.isfinite(number):
            whole = "whole number" if self.kind is int else "number"
            raise EcorcheError(
                f"{told!r} is no {whole} from {low:g} to {high:g}", where=where, remedy="Change it"
            )
        return number


def bake_options() -> dict[str, BakeOption]:
    """All options by their names in a list."""
    found, kinds = {}, get_type_hints(bake)
    for parameter, info in inspect.signature(bake).parameters.items():
        kind = kinds[parameter]
        known = [k for k in get_args(kind) if k is not NoneType]
        kind = known[0] if NoneType in get_args(kind) else kind
        name = parameter.replace("_", "-")
        told = info.default
        found[name] = BakeOption(name, parameter, kind, told.default, told.min, told.max)
    return found


def shot_options(settings: Mapping[str, object], folder: Path, where: str) -> dict[str, Any]:
    """The arguments of `bake` for a shot; files are told from the folder of its list.

    An unknown setting is refused with the nearest.
    """
    known = bake_options()
    options = {option.parameter: option.default for option in known.values()}
    allowed = [name for name in known if name not in OWN]
    for name, told in settings.items():
        if name in OWN:
            raise EcorcheError(
                f"{name!r} is not for a shot to say", where=where, remedy="It is an option of ecorche shots"
            )
        if name not in allowed:
            raise EcorcheError(
                f"there is no setting {name!r}",
                where=where,
                remedy=suggestion(name, ["name", "format", *allowed], at_most=40),
            )
        option = known[name]
        value = option.value(told, where)
        options[option.parameter] = (folder / value) if option.kind is Path else value
    return options


def command_line(options: Mapping[str, Any]) -> str:
    """The command that does the same, for a shell."""
    words = ["ecorche", "bake"]
    if options["character"] is not None:
        words.append(str(options["character"]))
    for option in bake_options().values():
        value = options[option.parameter]
        if option.name == "character" or value in (option.default, None, ...):
            continue
        name = f"--{option.name}"
        values = value if isinstance(value, list) else [value]
        for one in values:
            words += [name] if one is True else [name, str(one.value if isinstance(one, Enum) else one)]
    return shlex.join(words)
