"""Muscles found in the skin in one pose: their sections and surfaces."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ecorche.muscles.loft_frames import SectionAxes, posed_axes
from ecorche.muscles.root_curves import PosedCurves

if TYPE_CHECKING:
    from ecorche.muscles.lofted_posing import Lofts

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class PosedLofts:
    """The muscles in one pose, on their root curves.

    Attributes:
        lofts: What was posed.
        difference: ``M − I`` of the joints, (joints, 4, 4).
        curves: Their root curves, one row a muscle.
        turn: Rotations of the joints, (joints, TURN).
        bulge: T of each muscle, (M,).
    """

    lofts: Lofts
    difference: Floats
    curves: PosedCurves
    turn: Floats
    bulge: Floats

    @cached_property
    def by_length(self) -> Floats:
        """κ that the length of its root curve asks of each muscle, (M,): with it the skin bulges."""
        relative = self.curves.lengths / self.lofts.curves.bind.lengths
        return np.array([float(s.dilation(r)) for s, r in zip(self.lofts.shapes, relative, strict=True)])

    @property
    def dilation(self) -> Floats:
        """κ of each muscle as it is drawn, (M,)."""
        return self.by_length

    def axes(self, muscle: int, u: npt.ArrayLike) -> SectionAxes:
        """Places and section axes of a muscle at shares ``u`` (K,) of its length."""
        one, u = self.lofts.muscles[muscle], np.asarray(u, np.float64)
        points, tangents = self.on_curve(muscle, u)
        turn = self.turn[one.carrier].reshape(3, 4)[:, :3]
        return posed_axes(one, points, tangents, self.lofts.axes_at_bind(muscle, u).along, turn)

    def sections(self, muscle: int, u: npt.ArrayLike) -> tuple[SectionAxes, Floats, Floats]:
        """Axes as above, stretches (K, 2, 2) and centres (K, 2) [m] of the sections along (out, side).

        A point of a section is ``points + (out, side) · (centre + stretch @ (cos φ, sin φ))``.
        """
        u = np.asarray(u, np.float64)
        shape, gain = self.lofts.shapes[muscle], self.lofts.gains[muscle]
        stretch, centre = shape.at(u)
        factor = (1.0 + self.dilation[muscle] * shape.bulging(u)) ** gain
        tension = np.array([self.bulge[muscle], 1.0 / self.bulge[muscle]]) ** gain
        return self.axes(muscle, u), stretch * factor[:, None, None] * tension[:, None], centre

    def rings(self, muscle: int, u: npt.ArrayLike, angle: npt.ArrayLike) -> Floats:
        """Points of the surface [m] at shares u (K,), at angles (A,) from out to side [rad], (K, A, 3)."""
        return section_points(*self.sections(muscle, u), np.asarray(angle, np.float64))

    def all_rings(self, u: Floats, sides: int) -> Floats:
        """Points of all surfaces [m] at shares u (M, K), evenly round them, (M, K, sides, 3)."""
        angle = 2.0 * np.pi * np.arange(sides) / sides
        found = [self.rings(muscle, one, angle) for muscle, one in enumerate(u)]
        return np.array(found).reshape(*u.shape, sides, 3)

    def volumes(self) -> Floats:
        """Of the straightened muscles [m³], (M,): tension does not change them."""
        shapes = zip(self.lofts.shapes, self.curves.lengths, self.dilation, strict=True)
        return np.array([float(shape.volume(length, kappa)) for shape, length, kappa in shapes])

    def on_curve(self, muscle: int, share: Floats) -> tuple[Floats, Floats]:
        """Points [m] and unit tangents of a root curve at shares (K,) of its length, (K, 3)."""
        points, tangents = PosedCurves(self.curves.rows[muscle : muscle + 1]).at(share)
        return points[0], tangents[0]


def section_points(axes: SectionAxes, stretch: Floats, centre: Floats, angle: Floats) -> Floats:
    """Points (K, A, 3) of sections at angles (A,) from out towards side."""
    flat = np.stack([np.cos(angle), np.sin(angle)], axis=-1) @ np.swapaxes(stretch, -1, -2) + centre[:, None]
    return np.asarray(
        axes.points[:, None] + flat[..., :1] * axes.out[:, None] + flat[..., 1:] * axes.side[:, None]
    )
