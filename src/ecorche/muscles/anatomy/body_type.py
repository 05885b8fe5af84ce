"""How muscular a body is: one number thickens every muscle of a folder about its lines.

The package has one pair of body-type numbers, ``bulk`` and ``fat``; fat belongs to the layer over the muscles
and is not used here. A bulk of 1 is the body as it was modelled; 1.2 makes every section a fifth wider and a
fifth thicker. Attachments stay where they are: the change grows from nothing at both ends of a line to all of
it over the first quarter, C1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecorche.base.smooth_step import smooth_step
from ecorche.errors import EcorcheError

Floats = npt.NDArray[np.float64]

GROWING = 0.25
"""Share of a line over which the change grows to its full size."""


@dataclass(frozen=True)
class BodyType:
    """The two numbers of a body: muscle bulk, 1 as modelled, and fat, 0 as modelled."""

    bulk: float = 1.0
    fat: float = 0.0

    def __post_init__(self) -> None:
        if not (np.isfinite(self.bulk) and 0.3 <= self.bulk <= 3.0):
            raise EcorcheError(
                f"a muscle bulk of {self.bulk} is no body's", remedy="Give a number from 0.3 to 3"
            )
        if not np.isfinite(self.fat):
            raise EcorcheError(f"fat of {self.fat} is no number", remedy="Give 0 for the body as modelled")


def thickened(points: Floats, lines: Sequence[Floats], held: npt.NDArray[np.int64], body: BodyType) -> Floats:
    """A muscle's vertices [m] (vertices, 3) with its sections scaled about its lines, shape (vertices, 3).

    Args:
        points: The vertices.
        lines: The nodes of each line [m], (n, 3) each.
        held: Vertices at attachments: they stay.
        body: The body type; its bulk alone counts here.
    """
    moved = np.array(points)
    if body.bulk == 1.0:
        return moved
    foot, along = nearest_on_lines(points, lines)
    edge = np.minimum(along, 1.0 - along) / GROWING
    grown = smooth_step(np.clip(edge, 0.0, 1.0))
    grown[held] = 0.0
    moved += (body.bulk - 1.0) * grown[:, None] * (points - foot)
    return moved


def nearest_on_lines(points: Floats, lines: Sequence[Floats]) -> tuple[Floats, Floats]:
    """The nearest place on any line [m] (points, 3), and its share of that line's length, shape (points,)."""
    best = np.full(len(points), np.inf)
    foot, along = np.zeros_like(points), np.zeros(len(points))
    for nodes in lines:
        steps = np.diff(nodes, axis=0)
        lengths = np.linalg.norm(steps, axis=1)
        before = np.concatenate([[0.0], np.cumsum(lengths)])
        for k, step in enumerate(steps):
            share = np.clip((points - nodes[k]) @ step / max(float(step @ step), 1e-30), 0.0, 1.0)
            place = nodes[k] + share[:, None] * step
            far = np.linalg.norm(points - place, axis=1)
            nearer = far < best
            best[nearer], foot[nearer] = far[nearer], place[nearer]
            along[nearer] = ((before[k] + share * lengths[k]) / max(before[-1], 1e-30))[nearer]
    return foot, along
