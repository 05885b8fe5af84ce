"""How strong a muscle is at its length and speed: the curves of Hill's muscle, as OpenSim has them.

The force of a muscle along its tendon, with the activation a from 0 to 1, is

    F = F_max (a f_L(l) f_V(v) + f_P(l) + β v) cos φ

l is the length of its fibres over their optimal length, v their speed over the fastest they can shorten with
(v < 0 shortens), φ their angle to the tendon: fibres lie in a layer of constant thickness. Two sets of
curves:

- `Thelen`: Thelen (2003, J. Biomech. Eng. 125:70), with OpenSim's straight line at high speeds of
  lengthening. The force–speed curve depends on activation: a muscle that is half active shortens more slowly.
  So its force is not a multiple of a; where a multiple is asked for (`MuscleState.active`) the curve is that
  of a = 1, as OpenSim's static optimisation has it.
- `Millard`: Millard and others (2013, J. Biomech. Eng. 135:021005), smooth pieces with values for each corner
  (`bezier_curves`), and a little damping β.

`muscle_state` takes lengths and speeds of paths to the forces.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import numpy.typing as npt

from ecorche.biomech.bezier_curves import BezierCurve, through

Floats = npt.NDArray[np.float64]


class Curves(Protocol):
    """Forces over F_max of a muscle's fibres and tendon."""

    @property
    def damping(self) -> float:
        """β: force of fibres that lengthen as fast as they can shorten, over F_max."""

    def shortest(self) -> float:
        """The length below which fibres give no force, over their optimal length."""

    def active(self, length: npt.ArrayLike) -> Floats:
        """Of fully active fibres at rest, at lengths over the optimal length."""

    def passive(self, length: npt.ArrayLike) -> Floats:
        """Of fibres that are not active, at lengths over the optimal length."""

    def speed(self, velocity: npt.ArrayLike, activation: npt.ArrayLike = 1.0) -> Floats:
        """Factor of the active force at velocities over the fastest shortening; negative shortens."""

    def tendon(self, length: npt.ArrayLike) -> Floats:
        """Of the tendon at lengths over its slack length."""


@dataclass(frozen=True)
class Thelen:
    """Thelen's curves of 2003: a bell, two exponentials and two hyperbolas.

    Attributes:
        active_width: Width γ of the bell exp(−(l − 1)²/γ).
        passive_shape: Exponent of the passive force.
        passive_strain: Strain of fibres whose passive force is F_max.
        tendon_strain: Strain of a tendon under F_max.
        shape: A_f, curvature of the force–speed curve.
        lengthening: Most that fast lengthening multiplies the force by, as far as the curve bends.
        straight_from: That share of `lengthening`, beyond which the curve is straight.
    """

    active_width: float = 0.45
    passive_shape: float = 5.0
    passive_strain: float = 0.6
    tendon_strain: float = 0.04
    shape: float = 0.25
    lengthening: float = 1.4
    straight_from: float = 0.95
    damping: float = 0.0

    def shortest(self) -> float:
        """Fibres of this muscle give force at any length; only their angle bounds it."""
        return 0.01

    def active(self, length: npt.ArrayLike) -> Floats:
        """The bell."""
        l = np.asarray(length, np.float64)  # noqa: E741
        return np.asarray(np.exp(-((l - 1.0) ** 2) / self.active_width))

    def passive(self, length: npt.ArrayLike) -> Floats:
        """An exponential of the strain, 1 at `passive_strain`."""
        strain = np.maximum(np.asarray(length, np.float64) - 1.0, 0.0) / self.passive_strain
        return np.asarray(np.expm1(self.passive_shape * strain) / np.expm1(self.passive_shape))

    def speed(self, velocity: npt.ArrayLike, activation: npt.ArrayLike = 1.0) -> Floats:
        """Hill's hyperbola below zero, another above it, of the speed over 0.25 + 0.75 a."""
        v = np.asarray(velocity, np.float64) / (0.25 + 0.75 * np.asarray(activation, np.float64))
        slow = np.clip(v, -1.0, 0.0)
        shortening = (1.0 + slow) / (1.0 - slow / self.shape)
        bend, top = (2.0 + 2.0 / self.shape) / (self.lengthening - 1.0), self.lengthening
        last = self.straight_from * top  # the hyperbola tends to its top, but never gets there
        turn = (last - 1.0) / (bend * (top - last))
        there = np.clip(v, 0.0, turn)
        hyperbola = (1.0 + bend * top * there) / (1.0 + bend * there)
        steepness = bend * (top - 1.0) / (1.0 + bend * turn) ** 2
        lengthening = hyperbola + steepness * np.maximum(v - turn, 0.0)
        return np.asarray(np.where(v < 0.0, shortening, lengthening))

    def tendon(self, length: npt.ArrayLike) -> Floats:
        """An exponential toe up to a third of F_max, then straight."""
        strain = np.maximum(np.asarray(length, np.float64) - 1.0, 0.0)
        toe_force, k = 0.33, 3.0
        rise = np.exp(k)
        toe = 99.0 * self.tendon_strain * rise / (166.0 * rise - 67.0)
        stiffness = 0.67 / (self.tendon_strain - toe)
        bent = toe_force * np.expm1(k * np.minimum(strain, toe) / toe) / np.expm1(k)
        return np.asarray(np.where(strain <= toe, bent, toe_force + stiffness * (strain - toe)))


@dataclass(frozen=True)
class Millard:
    """Millard's curves of 2013; each number is a place or a slope of a curve.

    Attributes:
        shortest_active, shoulder, longest_active: Lengths where the active curve begins to rise, turns
            shallow, and ends, over the optimal length.
        shoulder_slope: Slope of the shallow part of the active curve.
        least_active: The lowest value of the active curve; 0 unless a model needs a muscle that never rests.
        passive_slack, passive_strain: Strains of fibres at which passive force begins and is F_max.
        tendon_strain: Strain of a tendon under F_max.
        lengthening: Most that fast lengthening multiplies the force by.
        concentric_slopes, eccentric_slopes: Of the force–speed curve at the fastest speed and just before it.
        isometric_slope: Of the force–speed curve at rest.
        damping: β.
    """

    shortest_active: float = 0.4441
    shoulder: float = 0.73
    longest_active: float = 1.8123
    shoulder_slope: float = 0.8616
    least_active: float = 0.0
    passive_slack: float = 0.0
    passive_strain: float = 0.7
    tendon_strain: float = 0.049
    lengthening: float = 1.4
    concentric_slopes: tuple[float, float] = (0.0, 0.25)
    eccentric_slopes: tuple[float, float] = (0.0, 0.15)
    isometric_slope: float = 5.0
    damping: float = 0.1
    _active: BezierCurve = field(init=False, repr=False, compare=False)
    _passive: BezierCurve = field(init=False, repr=False, compare=False)
    _speed: BezierCurve = field(init=False, repr=False, compare=False)
    _tendon: BezierCurve = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_active", self._active_curve())
        object.__setattr__(self, "_passive", self._passive_curve())
        object.__setattr__(self, "_speed", self._speed_curve())
        object.__setattr__(self, "_tendon", self._tendon_curve())

    def _active_curve(self) -> BezierCurve:
        begin, shoulder, end, half_top = self.shortest_active, self.shoulder, self.longest_active, 0.05
        at_shoulder = 1.0 - self.shoulder_slope * (1.0 - half_top - shoulder)
        return through(
            (begin, self.least_active, 0.0),
            (0.5 * (begin + shoulder), 0.5 * at_shoulder, 1.25 * at_shoulder / (shoulder - begin)),
            (0.5 * (shoulder + 1.0 - half_top), 0.5 * (at_shoulder + 1.0), self.shoulder_slope),
            (1.0, 1.0, 0.0),
            (0.5 * (1.0 + half_top + end), 0.5, -1.0 / (end - 1.0 - 2.0 * half_top)),
            (end, self.least_active, 0.0),
            curviness=1.0,
        )

    def _passive_curve(self) -> BezierCurve:
        begin, end, foot = 1.0 + self.passive_slack, 1.0 + self.passive_strain, 0.2
        stiffness = 2.0 / (end - begin)
        toe = min(0.1 / stiffness, 0.1 * (end - begin))
        knots = (begin, 0.0, 0.0), (begin + toe, 0.5 * foot * toe, foot), (end, 1.0, stiffness)
        return through(*knots, curviness=0.75)

    def _speed_curve(self) -> BezierCurve:
        near = 0.9
        (c_last, c_near), (e_last, e_near) = self.concentric_slopes, self.eccentric_slopes
        return through(
            (-1.0, 0.0, c_last),
            (-near, 0.5 * (1.0 - near) * (c_near + c_last), c_near),
            (0.0, 1.0, self.isometric_slope),
            (near, self.lengthening - 0.5 * (1.0 - near) * (e_near + e_last), e_near),
            (1.0, self.lengthening, e_last),
            curviness=(0.6, 0.6, 0.9, 0.9),
        )

    def _tendon_curve(self) -> BezierCurve:
        strain, toe_force = self.tendon_strain, 2.0 / 3.0
        stiffness = 1.375 / strain
        toe = strain + (toe_force - 1.0) / stiffness
        foot, middle = 0.1 * toe, strain + (0.5 * toe_force - 1.0) / stiffness
        rise = 0.5 * toe_force / (middle - foot)
        bend = 0.5 * (foot + middle)
        return through(
            (1.0, 0.0, 0.0),
            (1.0 + bend, rise * (bend - foot), rise),
            (1.0 + toe, toe_force, stiffness),
            curviness=0.5,
        )

    def shortest(self) -> float:
        """Fibres go slack where the active curve begins."""
        return self.shortest_active

    def active(self, length: npt.ArrayLike) -> Floats:
        """Steep, shallow, the top at 1, and down again."""
        return np.maximum(self._active.value(length), 0.0)

    def passive(self, length: npt.ArrayLike) -> Floats:
        """A toe, then ever steeper up to F_max, then straight."""
        return self._passive.value(length)

    def speed(self, velocity: npt.ArrayLike, activation: npt.ArrayLike = 1.0) -> Floats:
        """The same at any activation."""
        return np.maximum(self._speed.value(velocity), 0.0) + np.zeros(np.shape(activation))

    def tendon(self, length: npt.ArrayLike) -> Floats:
        """A toe, then straight."""
        return self._tendon.value(length)
