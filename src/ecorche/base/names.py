"""Names: the nearest known one to a misspelt one, a free one where it is taken, and many in one line."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name most like ``name``, or None when none is."""
    known = list(known)
    folded = {k.casefold(): k for k in known}
    found = get_close_matches(name.casefold(), list(folded), n=1, cutoff=0.6)
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
