"""Muscles found in the skin, posed in the flesh they lie in: so they stay under the skin in any pose.

Text 001 draws a muscle on its root curve. But a thread between two bones, tight over a sphere, knows nothing
of the skin, and the skin goes along with it only in part (`loft_plan`): posed, muscles stood out of it. Here
every point of a muscle's surface goes with the flesh (`loft_flesh`), which the muscle joints move and let
bulge as the length of the root curve and the tension ask.

The volume is that of the surface as it is drawn (`ring_volume`). The flesh having bulged towards the skin, a
section grows or shrinks by κ on its other sides: the outmost point stays where it is, and none comes nearer
to the skin by more than it is away.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ecorche.base.rotations import normalise
from ecorche.muscles.loft_flesh import moved
from ecorche.muscles.loft_frames import SectionAxes
from ecorche.muscles.loft_rings import dilated
from ecorche.muscles.posed_lofts import PosedLofts, section_points
from ecorche.muscles.ring_volume import dilation_to, volume_within

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class LoftsInFlesh(PosedLofts):
    """The muscles in one pose, in the flesh round them."""

    @cached_property
    def dilation(self) -> Floats:
        """κ of each muscle, (M,): how much more than the flesh it has dilated."""
        return dilation_to(self.lofts.rings_told.volumes, *self._told)

    def axes(self, muscle: int, u: npt.ArrayLike) -> SectionAxes:
        """Places and section axes of a muscle at shares ``u`` (K,) of its length."""
        u = np.asarray(u, np.float64)
        still = self.lofts.axes_at_bind(muscle, u)
        carried = self.lofts.flesh[muscle].middle(self._joints, u, still.points)
        along, out = (v + (carried[:, :, :3] @ v[..., None])[..., 0] for v in (still.along, still.out))
        along = normalise(along)
        out = normalise(out - np.sum(out * along, axis=1)[:, None] * along)
        return SectionAxes(moved(carried, still.points), along, out, np.cross(along, out))

    def sections(self, muscle: int, u: npt.ArrayLike) -> tuple[SectionAxes, Floats, Floats]:
        """As on a root curve, if the flesh round every section were turned as one."""
        u = np.asarray(u, np.float64)
        return self.axes(muscle, u), *dilated(self.lofts.shapes[muscle], u, self.dilation[muscle])

    def rings(self, muscle: int, u: npt.ArrayLike, angle: npt.ArrayLike) -> Floats:
        """Points of the surface [m] at shares u (K,), at angles (A,) from out to side [rad], (K, A, 3)."""
        u, angle = np.asarray(u, np.float64), np.asarray(angle, np.float64)
        axes, shape = self.lofts.axes_at_bind(muscle, u), self.lofts.shapes[muscle]
        flesh = self.lofts.flesh[muscle]
        still, whole = (section_points(axes, *dilated(shape, u, kappa), angle) for kappa in (0.0, 1.0))
        points = still + self.dilation[muscle] * flesh.held_in(u, angle, whole - still)
        return flesh.carried(self._joints, u, angle, still, points)

    def all_rings(self, u: Floats, sides: int) -> Floats:
        """Points of all surfaces [m] at shares u (M, K), evenly round them, (M, K, sides, 3)."""
        at_rest, by_dilation = self.lofts.rings_in_flesh(u, sides).carried(self._joints)
        return np.asarray((at_rest + self.dilation[:, None, None, None] * by_dilation)[..., :3])

    def volumes(self) -> Floats:
        """Of the muscles [m³], (M,)."""
        at_rest, by_dilation = self._told
        drawn = volume_within(at_rest + self.dilation[:, None, None, None] * by_dilation)
        shapes = zip(self.lofts.shapes, self.lofts.curves.bind.lengths, strict=True)
        at_bind = np.array([float(shape.volume(length)) for shape, length in shapes])
        return np.asarray(drawn / self.lofts.rings_told.volumes * at_bind)

    @cached_property
    def _joints(self) -> Floats:
        """``M − I`` of the skeleton's joints and then of the muscle joints, (joints + K, 4, 4)."""
        return np.concatenate([self.difference, self.lofts.difference(self.difference, self.bulge)])

    @cached_property
    def _told(self) -> tuple[Floats, Floats]:
        """Rings where the flesh is told, without dilation, and what they change by as κ grows by one."""
        return self.lofts.rings_told.carried(self._joints)
