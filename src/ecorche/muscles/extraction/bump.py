"""A section of the skin, and the bumps in it: what extraction passes from step to step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Cut:
    """One section of one region of the skin.

    Attributes:
        region: Number of the region.
        rank: Which section of its region, 0 at the region's start; neighbours differ by 1.
        along: Where it lies along the region's axis, from 0 to 1.
        origin: Where the region's axis meets the section [m], shape (3,).
        frame: Rows x, y (in the section) and z (along the axis), right-handed, orthonormal, shape (3, 3).
            Curved cutting surfaces have the frame of their middle.
        points: The curve, counter-clockwise seen against z where it is closed [m], shape (P, 3).
        flat: The same in (x, y) [m], shape (P, 2); curved surfaces are unrolled.
        closed: Whether the last point is joined to the first.
        upward: Unit normals of a curved cutting surface at the points, shape (P, 3); None of a plane.
        piece: Number of the piece of skin it lies on, which hangs together.
    """

    region: int
    rank: int
    along: float
    origin: Floats
    frame: Floats
    points: Floats
    flat: Floats
    closed: bool
    upward: Floats | None = None
    piece: int = 0

    def normal(self, point: int) -> Floats:
        """The cutting surface's unit normal at one of the points, counted round, shape (3,)."""
        normal: Floats = self.frame[2] if self.upward is None else self.upward[point % len(self.points)]
        return normal


@dataclass(frozen=True, eq=False)
class Bump:
    """A stretch of a section that stands out.

    Attributes:
        cut: Number of the section it is in.
        first, last: Its first and last point in the section's curve, both belonging to it; ``last`` may be
            past the end of a closed curve, and is then counted round it.
        top: The point that stands out most.
        prominence: How far that point stands out over what the section would be without the bump [m].
        weights: How much each of its points tells of the muscle, 1 at the top, shape (last − first + 1,).
    """

    cut: int
    first: int
    last: int
    top: int
    prominence: float
    weights: Floats
