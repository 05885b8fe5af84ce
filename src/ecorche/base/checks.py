"""Checks on arrays that end in one clear message."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ecorche.errors import EcorcheError


def require_finite(
    values: npt.NDArray[np.floating], what: str, where: object, error: type[EcorcheError]
) -> None:
    """Refuse NaN and infinity, naming the first row that holds one."""
    bad = ~np.isfinite(values)
    if bad.any():
        row = int(np.argmax(bad.reshape(len(values), -1).any(axis=1)))
        raise error(
            f"{what} {row} is not a finite number ({int(bad.sum())} such values)",
            where=where,
            remedy="Export the file again, or repair these values",
        )


def require_indices(
    indices: npt.NDArray[np.integer], size: int, what: str, where: object, error: type[EcorcheError]
) -> None:
    """Refuse indices outside ``0 … size - 1``, naming the first."""
    bad = (indices < 0) | (indices >= size)
    if bad.any():
        first = int(np.argmax(bad))
        raise error(
            f"{what} {first} is {int(indices.flat[first])}, but only 0 to {size - 1} exist",
            where=where,
            remedy="The file is damaged: export it again",
        )
