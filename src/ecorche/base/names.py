"""Names: the nearest known one to a misspelt one, a free one where it is taken, the one of the other side of
a body, and many in one line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches

SIDE_WORD = re.compile(
    r"(?P<word>(?<![A-Za-z])(?:left|right|LEFT|RIGHT)|Left|Right)(?![a-z])"
    r"|(?:^|(?<=[_.\-: ,|]))(?P<letter>[lLrR])(?=$|[_.\-: ,|])"
    r"|^(?P<capital>[LR])(?=[A-Z][a-z])"
)
"""The word or letter in a name that says which side it is on: ``LeftArm``, ``l_knee``, ``arm.R``,
``LThumb``."""
_OTHER = {"left": "right", "right": "left", "l": "r", "r": "l"}


def nearest(name: str, known: Iterable[str], *, alike: float = 0.6) -> str | None:
    """The known name most like ``name``, or None when none is ``alike``, from 0 to 1."""
    known = list(known)
    folded = {k.casefold(): k for k in known}
    found = get_close_matches(name.casefold(), list(folded), n=1, cutoff=alike)
    return folded[found[0]] if found else None


def suggestion(name: str, known: Iterable[str], *, at_most: int = 12) -> str:
    """A remedy sentence for an unknown name: the nearest one, those it is a part of, or the choices."""
    known = list(known)
    best = nearest(name, known)
    if best is not None:
        return f"Did you mean {best!r}?"
    known = [k for k in known if name and name.casefold() in k.casefold()] or known
    return f"Known: {listed(known, at_most)}" if known else "There is none to choose from"


def listed(names: Sequence[str], at_most: int) -> str:
    """Names for a sentence, the first of them where they are many."""
    more = f" and {len(names) - at_most} more" if len(names) > at_most else ""
    return ", ".join(map(repr, names[:at_most])) + more


def unique(name: str, taken: set[str]) -> str:
    """The name, or the name with the first free number after it; it is then taken."""
    number, candidate = 2, name
    while candidate in taken:
        candidate = f"{name}.{number}"
        number += 1
    taken.add(candidate)
    return candidate


def side_of(name: str) -> str | None:
    """``"left"`` or ``"right"``, whichever the first word for a side in a name says; None without one."""
    found = SIDE_WORD.search(name)
    if found is None:
        return None
    return "left" if found.group().casefold().startswith("l") else "right"


def other_side(name: str) -> str | None:
    """The name with its first word for a side changed to the other, spelled alike; None without one."""
    found = SIDE_WORD.search(name)
    if found is None:
        return None
    word = found.group()
    other = _OTHER[word.casefold()]
    other = other.upper() if word.isupper() else other.capitalize() if word[0].isupper() else other
    return name[: found.start()] + other + name[found.end() :]
