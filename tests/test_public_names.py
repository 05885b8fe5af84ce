"""The public names and how they are called, frozen: what other people's programs rely on.

A change is a decision. After one, write the snapshot anew and tell it in CHANGELOG.md:

    python tests/test_public_names.py
"""

from __future__ import annotations

import difflib
import inspect
import sys
from collections.abc import Iterator
from pathlib import Path

import ecorche

SNAPSHOT = Path(__file__).parent / "snapshots" / "public_names.txt"


def _called(name: str, what: object) -> str:
    """A name with its parameters, their types and defaults; a default object is told by its type."""
    try:
        signature = inspect.signature(what)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return name
    plain = [
        p.replace(default=f"<{type(p.default).__name__}>")
        if p.default is not p.empty and " at 0x" in repr(p.default)
        else p
        for p in signature.parameters.values()
    ]
    return f"{name}{signature.replace(parameters=plain)}"


def _members(name: str, kind: type) -> Iterator[str]:
    """What a class offers beside its constructor: its fields are told there."""
    for member in sorted(vars(kind)):
        if member.startswith("_") or member in getattr(kind, "__dataclass_fields__", ()):
            continue
        found = inspect.getattr_static(kind, member)
        if isinstance(found, staticmethod | classmethod):
            yield f"    {_called(f'{name}.{member}', getattr(kind, member))}"
        elif inspect.isfunction(found):
            yield f"    {_called(f'{name}.{member}', found)}"
        else:
            yield f"    {name}.{member}"


def public_names() -> str:
    """Every public name, one a line, members of a class below it."""
    lines: list[str] = []
    for name in sorted(ecorche.__all__):
        what = getattr(ecorche, name)
        if inspect.isclass(what):
            exception = issubclass(what, Exception)
            lines += [_called(name, what), *([] if exception else _members(name, what))]
        else:
            lines.append(_called(name, what))
    return "\n".join(lines) + "\n"


def test_public_names_are_as_frozen() -> None:
    frozen, now = SNAPSHOT.read_text(), public_names()
    change = difflib.unified_diff(frozen.splitlines(), now.splitlines(), "frozen", "now", n=0, lineterm="")
    told = "\n".join(change)
    assert frozen == now, f"{told}\nif this is meant: python tests/test_public_names.py, and tell the change"


if __name__ == "__main__":
    SNAPSHOT.parent.mkdir(exist_ok=True)
    SNAPSHOT.write_text(public_names())
    sys.stdout.write(f"{SNAPSHOT}: {len(ecorche.__all__)} names\n")
