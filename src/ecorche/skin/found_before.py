"""What was found for each muscle over a skin, kept from one time to the next.

A person who edits one muscle wants the others left as they are, and to see it at once. Everything that is
found for a muscle is a function of the skin and of that muscle, so it is kept under a digest of all it
depends on: what is taken from here has the very bytes that finding it anew would give, and nobody has to say
what was edited.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

from ecorche.muscles.sections import Sections
from ecorche.skin.path_carriers import PathCarriers

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Array = npt.NDArray[np.generic]

TIMES = 3
"""So many times the number of muscles are kept: an edit that is undone is soon there again."""


class FoundBefore:
    """Vertices and their columns by muscle, as `influence` finds them before weak ones are faded out."""

    def __init__(self) -> None:
        self._kept: OrderedDict[bytes, tuple[Ints, Floats]] = OrderedDict()
        self._skin = b""
        self._most = 0

    def begin(self, skin: Sequence[Array | None], settings: object, count: int) -> None:
        """Say what is the same for all ``count`` muscles."""
        digest = blake2b(repr(settings).encode(), digest_size=16)
        for array in skin:
            digest.update(b"none" if array is None else f"{array.dtype}{array.shape}".encode())
            if array is not None:
                digest.update(array.tobytes())
        self._skin, self._most = digest.digest(), TIMES * count

    def key(
        self,
        bind: Sections,
        muscle: int,
        asked: object,
        painted: Floats | None,
        carriers: PathCarriers | None,
    ) -> bytes:
        """What a muscle's entries depend on, digested."""
        arrays: list[Array] = [
            bind.origin, bind.along, bind.out, bind.side, bind.length, bind.bulge, bind.scale, bind.belly,
            bind.thickness, bind.sweep,
        ]  # fmt: skip
        told = [array[muscle] for array in arrays]
        if carriers is not None:
            told += [carriers.joints[muscle], carriers.share[muscle]]
        line = None if bind.lines is None else bind.lines.line_of(muscle)
        if bind.lines is not None and line is not None:
            lines = bind.lines
            told += [array[line] for array in (lines.points, lines.along, lines.out, lines.t, lines.length)]
        if painted is not None:
            told.append(painted)
        digest = blake2b(self._skin, digest_size=16)
        kinds = (asked, line is not None, painted is not None, carriers is not None)
        digest.update(repr(kinds).encode())
        for array in told:
            digest.update(array.tobytes())
        return digest.digest()

    def found(self, key: bytes) -> tuple[Ints, Floats] | None:
        """Vertices (n,) and their eight columns (8, n); None where they must be found."""
        known = self._kept.get(key)
        if known is not None:
            self._kept.move_to_end(key)
        return known

    def keep(self, key: bytes, vertices: Ints, columns: Floats) -> None:
        """Keep them, in place of what has not been asked for the longest."""
        self._kept[key] = vertices, columns
        while len(self._kept) > self._most:
            self._kept.popitem(last=False)
