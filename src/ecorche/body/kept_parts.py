"""What compiling a body found, for compiling it again after an edit.

A person who drags a muscle compiles the body with every move. Skinning, normals and garments depend on the
character alone, and a muscle's place on the skin on that muscle alone: they are kept here. A body compiled
with what was kept is the body compiled afresh, byte for byte.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from ecorche.skin.found_before import FoundBefore

if TYPE_CHECKING:
    from ecorche.body.character import Character
    from ecorche.body.lines import BodyLines
    from ecorche.document.files import Rig

Part = TypeVar("Part")


class KeptParts:
    """Parts of the body that was compiled last.

    Attributes:
        found: Where muscles lie on the skin.
        lines: Meshes on action lines, with the character and the rig they were made of.
    """

    def __init__(self) -> None:
        self.found = FoundBefore()
        self.lines: tuple[Character, Rig, BodyLines | None] | None = None
        self._parts: dict[str, tuple[tuple[object, ...], object]] = {}

    def part(self, name: str, made_of: tuple[object, ...], make: Callable[[], Part]) -> Part:
        """The part of that name as it was made of the same things, else made now.

        Args:
            name: What is kept; one of each.
            made_of: All that it depends on. Things that do not compare by value count as the same only if
                they are the very same objects.
            make: Makes it.
        """
        known = self._parts.get(name)
        if known is None or len(known[0]) != len(made_of) or not _are_same(known[0], made_of):
            known = self._parts[name] = made_of, make()
        return known[1]  # type: ignore[return-value]


def _are_same(one: tuple[object, ...], other: tuple[object, ...]) -> bool:
    return all(a is b or (isinstance(a, str) and a == b) for a, b in zip(one, other, strict=True))
