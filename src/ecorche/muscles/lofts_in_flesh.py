"""Muscles found in the skin, posed in the flesh they lie in: so they stay under the skin in any pose.

Text 001 draws a muscle on its root curve. But a thread between two bones, tight over a sphere, knows nothing
of the skin, and the skin goes along with it only in part (`loft_plan`): posed, muscles stood out of it. Here
a muscle is drawn as its muscle joints move. Every point of its surface goes with the flesh (`loft_flesh`),
and each section from there towards its place on the root curve, by the share that the skin over it follows.

The volume is that of the surface as it is drawn: its points are linear in the dilation κ, the volume within
is a cubic of κ, and κ is its root next to zero. The skin bulges as the length of the root curve asks: towards
it a section reaches as far as that, and what it swells more or less it does on its far side.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ecorche.base.rotations import normalise
from ecorche.muscles.loft_flesh import SIDES, STATIONS, Line, dilation_of, volume_within
from ecorche.muscles.loft_frames import SectionAxes
from ecorche.muscles.loft_plan import following, giving
from ecorche.muscles.posed_lofts import PosedLofts, section_points

Floats = npt.NDArray[np.float64]

_PLACES, _ANGLES = np.linspace(0.0, 1.0, STATIONS), 2.0 * np.pi * np.arange(SIDES) / SIDES


@dataclass(frozen=True, eq=False, repr=False)
class LoftsInFlesh(PosedLofts):
    """The muscles in one pose, in the flesh round them."""

    @cached_property
    def dilation(self) -> Floats:
        """κ of each muscle as it is drawn, (M,)."""
        return np.array([dilation_of(*self._by_dilation(n)) for n in range(len(self.lofts.muscles))])

    def axes(self, muscle: int, u: npt.ArrayLike) -> SectionAxes:
        """Places and section axes of a muscle at shares ``u`` (K,) of its length."""
        u = np.asarray(u, np.float64)
        still = self.lofts.axes_at_bind(muscle, u)
        line = self._line(muscle, u, still)
        turn = line.turn + line.turn @ line.carried[:, :, :3]
        along, out = (np.einsum("kij,kj->ki", turn, v) for v in (still.along, still.out))
        along = normalise(along)
        out = normalise(out - np.sum(out * along, axis=1)[:, None] * along)
        return SectionAxes(line.end, along, out, np.cross(along, out))

    def sections(self, muscle: int, u: npt.ArrayLike) -> tuple[SectionAxes, Floats, Floats]:
        """As on a root curve, if the flesh round every section were carried as one."""
        u = np.asarray(u, np.float64)
        return self.axes(muscle, u), *self._shape(muscle, u)

    def rings(self, muscle: int, u: npt.ArrayLike, angle: npt.ArrayLike) -> Floats:
        """Points of the surface [m] at shares u (K,), at angles (A,) from out to side [rad], (K, A, 3)."""
        u, angle = np.asarray(u, np.float64), np.asarray(angle, np.float64)
        still = self.lofts.axes_at_bind(muscle, u)
        points = section_points(still, *self._shape(muscle, u), angle)
        line = self._line(muscle, u, still)
        return self.lofts.flesh[muscle].carried(self.difference, u, angle, points, line)

    def volumes(self) -> Floats:
        """Of the muscles [m³], (M,): tension does not change them."""
        found = []
        for number, (shape, kappa) in enumerate(zip(self.lofts.shapes, self.dilation, strict=True)):
            at_bind, at_rest, by_dilation = self._by_dilation(number)
            share = volume_within(at_rest + kappa * by_dilation) / volume_within(at_bind)
            found.append(share * float(shape.volume(self.lofts.curves.bind.lengths[number])))
        return np.array(found)

    def _line(self, muscle: int, u: Floats, still: SectionAxes) -> Line:
        """Where flesh and root curve take sections of a muscle."""
        crossing = self.lofts.muscles[muscle].crossing
        ratio = max(float(self.curves.lengths[muscle] / self.lofts.curves.bind.lengths[muscle]), 0.5)
        slid = self.on_curve(muscle, (u + (ratio - 1.0) * giving(u, crossing)) / ratio)
        flesh = self.lofts.flesh[muscle]
        follows = following(u, crossing) * flesh.over(u)
        return flesh.line(self.difference, u, (still.points, still.along), slid, follows)

    def _shape(self, muscle: int, u: Floats) -> tuple[Floats, Floats]:
        """Stretches (K, 2, 2) and centres (K, 2) [m] of sections, as large as in the pose."""
        gain, bulge = self.lofts.gains[muscle], self.bulge[muscle]
        stretch, centre = self.lofts.shapes[muscle].at(u)
        stretch = stretch * (np.array([bulge, 1.0 / bulge]) ** gain)[:, None]
        own, shown = (factor**gain for factor in self._factors(muscle, u, self.dilation[muscle]))
        return _swollen(stretch, centre, own, shown)

    def _factors(self, muscle: int, u: Floats, kappa: float) -> tuple[Floats, Floats]:
        """How much larger than at bind sections are, and how much further the skin over them stands out."""
        w = self.lofts.shapes[muscle].bulging(u)
        return 1.0 + kappa * w, 1.0 + self.by_length[muscle] * self.lofts.flesh[muscle].over(u) * w

    def _by_dilation(self, muscle: int) -> tuple[Floats, Floats, Floats]:
        """Rings at bind, posed without dilation, and what they change by as κ grows by one."""
        still, at_bind = self.lofts.rings_at_bind[muscle]
        line, flesh = self._line(muscle, _PLACES, still), self.lofts.flesh[muscle]
        shape = self.lofts.shapes[muscle].at(_PLACES)
        at_rest, whole = (
            flesh.carried(
                self.difference,
                _PLACES,
                _ANGLES,
                section_points(still, *_swollen(*shape, *self._factors(muscle, _PLACES, kappa)), _ANGLES),
                line,
            )
            for kappa in (0.0, 1.0)
        )
        return at_bind, at_rest, whole - at_rest


def _swollen(stretch: Floats, centre: Floats, own: Floats, shown: Floats) -> tuple[Floats, Floats]:
    """Sections as much larger as ``own`` says (K,), that reach out as if they were larger by ``shown``."""
    outmost = np.linalg.norm(stretch[:, 0], axis=-1)
    centre = centre.copy()
    centre[:, 0] -= (own - shown) * outmost
    return stretch * own[:, None, None], centre
