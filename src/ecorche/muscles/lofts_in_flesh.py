"""Muscles found in the skin, posed in the flesh they lie in: so they stay under the skin in any pose.

Text 001 draws a muscle on its root curve. But a thread between two bones, tight over a sphere, knows nothing
of the skin, and the skin goes along with it only in part (`loft_plan`): posed, muscles stood out of it. Here
every point of a muscle's surface goes with the flesh (`loft_flesh`), which the muscle joints move and let
bulge as the length of the root curve and the tension ask.

The volume is that of the surface as it is drawn (`ring_volume`). The flesh having bulged towards the skin, a
section grows or shrinks by κ on its other sides: the outmost point stays where it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ecorche.base.rotations import normalise
from ecorche.muscles.loft_flesh import SIDES, STATIONS, moved
from ecorche.muscles.loft_frames import SectionAxes
from ecorche.muscles.posed_lofts import PosedLofts, section_points
from ecorche.muscles.ring_volume import dilation_to, volume_within

Floats = npt.NDArray[np.float64]

_PLACES, _ANGLES = np.linspace(0.0, 1.0, STATIONS), 2.0 * np.pi * np.arange(SIDES) / SIDES


@dataclass(frozen=True, eq=False, repr=False)
class LoftsInFlesh(PosedLofts):
    """The muscles in one pose, in the flesh round them."""

    @cached_property
    def dilation(self) -> Floats:
        """κ of each muscle, (M,): how much more than the flesh it has dilated."""
        rings = [self._by_dilation(number) for number in range(len(self.lofts.muscles))]
        if not rings:
            return np.zeros(0)
        still, at_rest, by_dilation = (np.stack(one) for one in zip(*rings, strict=True))
        return dilation_to(volume_within(still), at_rest, by_dilation)

    def axes(self, muscle: int, u: npt.ArrayLike) -> SectionAxes:
        """Places and section axes of a muscle at shares ``u`` (K,) of its length."""
        u = np.asarray(u, np.float64)
        still, carried = self.lofts.axes_at_bind(muscle, u), self.lofts.flesh[muscle].middle(self._joints, u)
        along, out = (v + (carried[:, :, :3] @ v[..., None])[..., 0] for v in (still.along, still.out))
        along = normalise(along)
        out = normalise(out - np.sum(out * along, axis=1)[:, None] * along)
        return SectionAxes(moved(carried, still.points), along, out, np.cross(along, out))

    def sections(self, muscle: int, u: npt.ArrayLike) -> tuple[SectionAxes, Floats, Floats]:
        """As on a root curve, if the flesh round every section were turned as one."""
        u = np.asarray(u, np.float64)
        return self.axes(muscle, u), *self._shape(muscle, u, float(self.dilation[muscle]))

    def rings(self, muscle: int, u: npt.ArrayLike, angle: npt.ArrayLike) -> Floats:
        """Points of the surface [m] at shares u (K,), at angles (A,) from out to side [rad], (K, A, 3)."""
        u, angle = np.asarray(u, np.float64), np.asarray(angle, np.float64)
        still, shape = self.lofts.axes_at_bind(muscle, u), self._shape(muscle, u, self.dilation[muscle])
        points = section_points(still, *shape, angle)
        return self.lofts.flesh[muscle].carried(self._joints, u, angle, points)

    def volumes(self) -> Floats:
        """Of the muscles [m³], (M,)."""
        found = []
        for number, (shape, kappa) in enumerate(zip(self.lofts.shapes, self.dilation, strict=True)):
            at_bind, at_rest, by_dilation = self._by_dilation(number)
            share = float(volume_within(at_rest + kappa * by_dilation) / volume_within(at_bind))
            found.append(share * float(shape.volume(self.lofts.curves.bind.lengths[number])))
        return np.array(found)

    @cached_property
    def _joints(self) -> Floats:
        """``M − I`` of the skeleton's joints and then of the muscle joints, (joints + K, 4, 4)."""
        return np.concatenate([self.difference, self.lofts.difference(self.difference, self.bulge)])

    def _shape(self, muscle: int, u: Floats, kappa: float) -> tuple[Floats, Floats]:
        """Stretches (K, 2, 2) and centres (K, 2) [m] of sections at bind, dilated by κ."""
        shape = self.lofts.shapes[muscle]
        stretch, centre = shape.at(u)
        more = kappa * shape.bulging(u)
        centre[:, 0] -= more * np.linalg.norm(stretch[:, 0], axis=-1)
        return stretch * (1.0 + more)[:, None, None], centre

    def _by_dilation(self, muscle: int) -> tuple[Floats, Floats, Floats]:
        """Rings at bind, posed without dilation, and what they change by as κ grows by one."""
        flesh, (still, at_bind) = self.lofts.flesh[muscle], self.lofts.rings_at_bind[muscle]
        dilated = section_points(still, *self._shape(muscle, _PLACES, 1.0), _ANGLES)
        at_rest, whole = (
            flesh.carried(self._joints, _PLACES, _ANGLES, points) for points in (at_bind, dilated)
        )
        return at_bind + flesh.inset, at_rest, whole - at_rest
