"""Arrays of many kinds in one buffer, and where each begins: a shader may read eight buffers, not thirty."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


class Packed:
    """Arrays one after another, as numbers of one type.

    Args:
        dtype: ``np.uint32`` or ``np.float32``.

    Attributes:
        starts: Where each array begins, counted in numbers, by its name.
    """

    def __init__(self, dtype: npt.DTypeLike) -> None:
        self.starts: dict[str, int] = {}
        self._dtype, self._parts, self._end = np.dtype(dtype), [np.zeros(0, dtype)], 0

    def add(self, name: str, values: npt.NDArray[Any]) -> None:
        """Put an array at the end, row by row."""
        part = np.ascontiguousarray(values, self._dtype).ravel()
        self.starts[name], self._end = self._end, self._end + len(part)
        self._parts.append(part)

    @property
    def array(self) -> npt.NDArray[Any]:
        """All of them, (numbers,)."""
        return np.concatenate(self._parts)
