"""Point masses and springs about where the motion carries them.

Text 004 (2016), 3.3: masses at the vertices of skin and muscles, springs with dampers between them, velocity
Verlet. The force on point i from j is

    f = k (|x_ij| − l) x̂ + c (v_ij · x̂) x̂,    x_ij = x_j − x_i,  v_ij = v_j − v_i,  x̂ = x_ij / |x_ij|.

What we change:

- Every point has a trajectory y(t), where it would be without any dynamics, and the rest length of a spring
  is what its ends are apart there: l = |y_ij|. So the quasi-static body is at rest in every pose, not only at
  bind. We follow u = x − y, which obeys m ü = f − m ÿ. With u = 0 forces are zero to the bit, and single
  precision is enough: what is kept is small. Dampers see u̇, so that steady motion is not held back.
- A spring from a point to its own place on the trajectory (a dynamic muscle's to the quasi-static one) has
  the length 0 and no direction: f = −k u − c u̇.
- The text does not state its masses, and its c = √k/50 is a damping ratio only with them. Here masses are
  kilograms and a damper is said as a ratio ζ: c = 2 ζ √(k μ), μ the reduced mass of its two ends.
- Velocity Verlet with the damping of half-step velocities is of first order. `spring_steps` solves for the
  velocity at the end of the step, and is of second.
- Points may have an infinite mass: they go with their trajectory, as bones do.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit, prange

from ecorche.errors import EcorcheError

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

SAFE = 0.95
"""Share of the longest stable step that is taken."""


@dataclass(frozen=True, eq=False)
class Springs:
    """Masses and the springs between them; constant over time.

    Attributes:
        masses: Of the points [kg], infinite for those that go with their trajectory, (N,).
        pairs: The two points of each spring, (S, 2).
        stiffness: Of each spring [N/m], (S,).
        damping: Of its damper [N s/m], (S,).
        own_stiffness: Of the spring to a point's own place [N/m], 0 for none, (N,).
        own_damping: Of its damper [N s/m], (N,).
        where: What the points belong to, for messages.
    """

    masses: Floats
    pairs: Ints
    stiffness: Floats
    damping: Floats
    own_stiffness: Floats
    own_damping: Floats
    where: str = "springs"

    def __post_init__(self) -> None:
        count, springs = len(self.masses), len(self.pairs)
        for values, wanted, what in (
            (self.pairs, (springs, 2), "pairs"),
            (self.stiffness, (springs,), "stiffness"),
            (self.damping, (springs,), "damping"),
            (self.own_stiffness, (count,), "own_stiffness"),
            (self.own_damping, (count,), "own_damping"),
        ):
            if values.shape != wanted:
                raise EcorcheError(
                    f"{what} {values.shape} is not for {count} points and {springs} springs",
                    where=self.where,
                    remedy=f"Give {wanted}",
                )
        if not (self.masses > 0.0).all():
            point = int(np.argmin(self.masses > 0.0))
            raise EcorcheError(
                f"point {point} cannot have a mass of {self.masses[point]:g} kg",
                where=self.where,
                remedy="Give a mass above 0, or infinity for a point that is held",
            )
        for values, what in (
            (self.stiffness, "stiffness"),
            (self.damping, "damping"),
            (self.own_stiffness, "stiffness of its own"),
            (self.own_damping, "damping of its own"),
        ):
            fine = (values >= 0.0) & (values < np.inf)
            if not fine.all():
                one = int(np.argmin(fine))
                thing = "point" if what.endswith("own") else "spring"
                raise EcorcheError(
                    f"{thing} {one} cannot have a {what} of {values[one]:g}",
                    where=self.where,
                    remedy="Give 0 or more",
                )
        if springs and (self.pairs.min() < 0 or self.pairs.max() >= count):
            raise EcorcheError(
                f"a spring ends at point {int(self.pairs.max())}, there are {count}",
                where=self.where,
                remedy="Name points from 0 on",
            )
        if (self.pairs[:, 0] == self.pairs[:, 1]).any():
            one = int(np.argmax(self.pairs[:, 0] == self.pairs[:, 1]))
            raise EcorcheError(
                f"spring {one} begins and ends at point {int(self.pairs[one, 0])}",
                where=self.where,
                remedy="Say it as the point's own stiffness, or leave it out",
            )

    @property
    def point_count(self) -> int:
        """N."""
        return len(self.masses)

    @property
    def spring_count(self) -> int:
        """Springs between two points, and those of points to their own place."""
        return len(self.pairs) + int(np.count_nonzero(self.own_stiffness))

    @cached_property
    def inverse_masses(self) -> Floats:
        """[1/kg], 0 for points that are held, (N,)."""
        return 1.0 / self.masses

    @cached_property
    def ends(self) -> tuple[Ints, Ints, Ints]:
        """Every spring at both ends: where those of each point begin (N + 1,), the other point, the spring.

        Points that are held have none: nothing moves them.
        """
        at, other = self.pairs.T.reshape(-1), self.pairs[:, ::-1].T.reshape(-1)
        spring = np.tile(np.arange(len(self.pairs)), 2)
        free = np.isfinite(self.masses)[at]
        at, other, spring = at[free], other[free], spring[free]
        order = np.lexsort((other, at))
        starts = np.concatenate([[0], np.cumsum(np.bincount(at, minlength=self.point_count))])
        return starts.astype(np.int64), other[order], spring[order]

    def directions(self, places: Floats) -> tuple[Floats, Floats]:
        """Unit vectors (S, 3) from the first to the second end of each spring, and lengths [m] (S,).

        ``places`` are those of the points [m], (N, 3); a spring without a length has the direction 0.
        """
        along = places[self.pairs[:, 1]] - places[self.pairs[:, 0]]
        length = np.linalg.norm(along, axis=1)
        return along / np.where(length > 0.0, length, 1.0)[:, None], length

    def energy(self, places: Floats, offsets: Floats, velocities: Floats) -> float:
        """What springs and masses hold [J], offsets u [m] and their velocities [m/s] being (N, 3)."""
        _, rest = self.directions(places)
        _, length = self.directions(places + offsets)
        free = np.isfinite(self.masses)
        moving = 0.5 * np.sum(self.masses[free, None] * velocities[free] ** 2)
        strained = 0.5 * np.sum(self.stiffness * (length - rest) ** 2)
        return float(moving + strained + 0.5 * np.sum(self.own_stiffness[:, None] * offsets**2))

    def fastest(self, places: Floats) -> float:
        """A bound of the square of the fastest angular frequency about rest at some places [1/s²].

        For each spring (x̂·(a − b))² ≤ (1/m_a + 1/m_b) (m_a (x̂·a)² + m_b (x̂·b)²), so that no frequency
        exceeds the largest eigenvalue of any point's own sum of k (1/m_a + 1/m_b) x̂ x̂ᵀ.
        """
        return float(self._largest(places, self.stiffness, self.own_stiffness).max(initial=0.0))

    def strongest(self, places: Floats) -> float:
        """The same bound of the strongest damping: how fast it takes speed away, at most [1/s]."""
        return float(self._largest(places, self.damping, self.own_damping).max(initial=0.0))

    def _largest(self, places: Floats, between: Floats, own: Floats, *, evenly: bool = False) -> Floats:
        """The largest eigenvalue of each point's own sum, 0 for points that are held, (N,).

        ``evenly`` takes (x̂·(a − b))² ≤ 2 (x̂·a)² + 2 (x̂·b)² instead, without the 2 where one end is held:
        where masses differ this is no better, but a point's own sum then depends on no other mass.
        """
        unit, _ = self.directions(places)
        inverse = self.inverse_masses[self.pairs]
        weights = np.repeat(inverse.sum(axis=1, keepdims=True), 2, axis=1)
        if evenly:
            weights = inverse * np.where(inverse > 0.0, 1.0, 0.0).sum(axis=1, keepdims=True)
        blocks = np.zeros((self.point_count, 9))
        outer = (unit[:, :, None] * unit[:, None, :]).reshape(-1, 9)
        for end in (0, 1):
            for k in range(9):
                share = between * weights[:, end] * outer[:, k]
                blocks[:, k] += np.bincount(self.pairs[:, end], share, self.point_count)
        matrices = blocks.reshape(-1, 3, 3)
        matrices[:, [0, 1, 2], [0, 1, 2]] += (own * self.inverse_masses)[:, None]
        free = np.isfinite(self.masses)
        result = np.zeros(self.point_count)
        result[free] = np.linalg.eigvalsh(matrices[free])[:, 2]
        return result

    def power_iteration(self, places: Floats, rounds: int = 100) -> float:
        """The same by power iteration: from below, the nearer the more rounds [1/s²]."""
        unit, _ = self.directions(places)
        free = np.isfinite(self.masses)
        root = np.sqrt(self.inverse_masses)
        # any beginning that no symmetry of a body makes empty
        vector = np.sin(1.0 + np.arange(3.0 * self.point_count) ** 1.5).reshape(-1, 3) * free[:, None]
        found = 0.0
        for _ in range(rounds):
            vector /= np.linalg.norm(vector) or 1.0
            scaled = root[:, None] * vector
            pull = self.stiffness * np.sum(
                unit * (scaled[self.pairs[:, 0]] - scaled[self.pairs[:, 1]]), axis=1
            )
            force = self.own_stiffness[:, None] * scaled
            for axis in range(3):
                along = pull * unit[:, axis]
                force[:, axis] += np.bincount(self.pairs[:, 0], along, self.point_count)
                force[:, axis] -= np.bincount(self.pairs[:, 1], along, self.point_count)
            vector = root[:, None] * force
            found = float(np.linalg.norm(vector))
        return found

    def longest_steps(self, places: Floats, *, evenly: bool = False) -> Floats:
        """How long a step may be by what each point takes part in [s], (N,); infinite where nothing swings.

        Steps as `spring_steps` takes them are stable while h² ω² + 4 h γ ≤ 4, ω² and γ being the point's own
        bounds as in `fastest` and `strongest`. For ``evenly`` see `_largest`.
        """
        square = self._largest(places, self.stiffness, self.own_stiffness, evenly=evenly)
        damped = self._largest(places, self.damping, self.own_damping, evenly=evenly)
        slowing = damped + np.sqrt(damped**2 + square)
        swings = slowing > 0.0
        return np.where(swings, 2.0 / np.where(swings, slowing, 1.0), np.inf)

    def stable_step(self, places: Floats) -> float:
        """The step [s] to take at these places: `SAFE` of the longest that is stable by either bound."""
        bounds = (self.longest_steps(places, evenly=evenly).min(initial=np.inf) for evenly in (False, True))
        return SAFE * float(max(bounds))

    def slowed(self, places: Floats, step: float) -> Springs:
        """The springs with heavier masses where steps of ``step`` [s] would be too long for them.

        What holds them stays as stiff: how far they give way is the same, how fast they swing is not.
        """
        if not step > 0.0:
            raise EcorcheError(
                f"a step of {step:g} s leads nowhere", where=self.where, remedy="Give one above 0"
            )
        # of a mass times n, ω² and γ are an nth: with n = (h/h_longest)² both terms of the limit fit
        short = step / (SAFE * self.longest_steps(places, evenly=True))
        return replace(self, masses=self.masses * np.maximum(1.0, short) ** 2)


def damping_of(ratio: npt.ArrayLike, stiffness: Floats, inverse_mass: Floats) -> Floats:
    """Dampers [N s/m] of a ratio, of springs [N/m] between ends of whose masses 1/m add up to so much."""
    mass = 1.0 / np.where(inverse_mass > 0.0, inverse_mass, np.inf)
    return np.asarray(2.0 * np.asarray(ratio) * np.sqrt(stiffness * mass))


@njit(cache=True, parallel=True)  # type: ignore[untyped-decorator]
def _forces(
    starts: Any, others: Any, springs: Any, k: Any, c: Any, own: Any, y: Any, u: Any, v: Any, result: Any
) -> None:
    for i in prange(len(y)):
        fx, fy, fz = -own[0, i] * u[i, 0], -own[0, i] * u[i, 1], -own[0, i] * u[i, 2]
        fx -= own[1, i] * v[i, 0]
        fy -= own[1, i] * v[i, 1]
        fz -= own[1, i] * v[i, 2]
        for e in range(starts[i], starts[i + 1]):
            j, s = others[e], springs[e]
            ax, ay, az = y[j, 0] - y[i, 0], y[j, 1] - y[i, 1], y[j, 2] - y[i, 2]
            bx, by, bz = u[j, 0] - u[i, 0], u[j, 1] - u[i, 1], u[j, 2] - u[i, 2]
            dx, dy, dz = ax + bx, ay + by, az + bz
            rest = np.sqrt(ax * ax + ay * ay + az * az)
            length = np.sqrt(dx * dx + dy * dy + dz * dz)
            if length == 0.0:
                continue
            # |a + b| − |a| without the loss of digits that taking them from each other means
            stretch = (bx * (ax + dx) + by * (ay + dy) + bz * (az + dz)) / (rest + length)
            rate = ((v[j, 0] - v[i, 0]) * dx + (v[j, 1] - v[i, 1]) * dy + (v[j, 2] - v[i, 2]) * dz) / length
            pull = (k[s] * stretch + c[s] * rate) / length
            fx += pull * dx
            fy += pull * dy
            fz += pull * dz
        result[i, 0], result[i, 1], result[i, 2] = fx, fy, fz


def spring_forces(springs: Springs, places: Floats, offsets: Floats, velocities: Floats) -> Floats:
    """Forces on all points [N], (N, 3); those of points that are held are not asked for and are 0.

    Args:
        springs: Between them.
        places: Of their trajectories y [m], (N, 3).
        offsets: u [m], (N, 3).
        velocities: u̇ [m/s], (N, 3).
    """
    result = np.empty_like(offsets)
    own = np.stack([springs.own_stiffness, springs.own_damping]) * np.isfinite(springs.masses)
    _forces(*springs.ends, springs.stiffness, springs.damping, own, places, offsets, velocities, result)
    return result
