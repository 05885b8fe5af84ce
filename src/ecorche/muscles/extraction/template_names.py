"""What a muscle found in a person's skin is called: after the template's muscle that lies there.

The template is placed on the very skeleton, so that "there" is told by bones alone, lying or standing: how
much of the found muscle's skin lies over a template's muscle, seen along the way that one faces; how much of
that one's belly lies under this skin; whether both face and run the same way, cross the same joints and are
as large; and whether another muscle lies over it, which then is what shows. A swelling hardly longer than
wide, as a buttock, does not say which way it runs. No two found muscles show the same head: all are named at
once, so that together they fit best.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations

import numpy as np
import numpy.typing as npt

from ecorche.base.rotations import normalise
from ecorche.muscles.extraction.rings import SpaceRings
from ecorche.muscles.lofted import LoftedMuscle
from ecorche.muscles.muscle import Muscle
from ecorche.muscles.template import TEMPLATE, place
from ecorche.skeleton.naming import Naming
from ecorche.skeleton.skeleton import Skeleton

Floats = npt.NDArray[np.float64]

SAMPLES = 33
"""Places along a template's muscle that are compared."""
BELLY = 0.25
"""Its belly reaches so far to either side of its middle, share of its length."""
DEPTH_COUNTS = 0.3
"""How much less it counts that a muscle lies deep under the skin than that it lies beside."""
HIDDEN_COUNTS = 0.5
"""How much less muscles agree where another lies over the template's."""
FAR = 4.0
"""Muscles further apart than this many of their half-widths are not compared."""
HIDES = 0.7
"""How far to its sides a muscle hides what lies under it, share of half its width."""
LEAST = 0.33
"""Muscles that agree less than this are not the same."""
BELLY_COUNTS, WAY_COUNTS, JOINTS_COUNT = 0.6, 0.7, 0.5
"""How much less two muscles agree whose bellies, ways or joints have nothing in common."""
TRUNK_COUNTS = 0.3
"""What a joint of spine, neck or girdle, several of which share one bend, counts against one of a limb."""
BULK_COUNTS = 0.12
"""Power of the ratio of both bellies' sections with which a thin muscle agrees less with a large swelling."""


class TemplateNames:
    """The template's muscles on one skeleton that can show in a skin; none where it is no person's."""

    def __init__(self, skeleton: Skeleton, naming: Naming) -> None:
        placed = place(TEMPLATE, skeleton, naming)
        self._parents = placed.skeleton.parents
        self._counts = np.full(placed.skeleton.joint_count, TRUNK_COUNTS)
        for joint, name in enumerate(naming.canonical):
            if name is not None and name.startswith(("l_", "r_")) and "clavicular" not in name:
                self._counts[joint] = 1.0
        self.muscles: tuple[Muscle, ...] = tuple(m for m in placed.muscles if m.reach.joints)
        self._lines = [_Line(m) for m in self.muscles]
        for (one, under), (other, over) in permutations(zip(self.muscles, self._lines, strict=True), 2):
            if one.muscle != other.muscle and under.near(over.points, under.half + over.half):
                under.hide(over)

    def named(self, found: Sequence[LoftedMuscle], rings: Sequence[SpaceRings]) -> list[LoftedMuscle]:
        """The muscles, each called after the template's that it shows best, and as strong.

        Where two show heads of one muscle, each is called after its head.
        """
        from scipy.optimize import linear_sum_assignment

        if not self.muscles or not found:
            return list(found)
        agree = self.agreement(found, rings)
        # in doubt a muscle keeps its own name: a column for each, at what it takes to be called otherwise
        choices = np.concatenate([agree, np.full((len(found), len(found)), LEAST)], axis=1)
        rows, columns = linear_sum_assignment(-choices)
        shown = {int(f): int(c) for f, c in zip(rows, columns, strict=True) if c < len(self.muscles)}
        called = Counter((self.muscles[m].muscle, _side(self.muscles[m])) for m in shown.values())
        named = list(found)
        for number, m in shown.items():
            known = self.muscles[m]
            alone = called[known.muscle, _side(known)] == 1
            named[number] = replace(
                found[number],
                muscle=known.muscle if alone else known.name.rpartition(", ")[0],
                group=known.group,
                max_force=known.max_force,
            )
        return named

    def agreement(self, found: Sequence[LoftedMuscle], rings: Sequence[SpaceRings]) -> Floats:
        """How well each found muscle shows each of the template's, 0 to 1, (found, template)."""
        return np.array(
            [
                [
                    line.under(r) * self._crossing(f, m)
                    for line, m in zip(self._lines, self.muscles, strict=True)
                ]
                for f, r in zip(found, rings, strict=True)
            ]
        )

    def _crossing(self, found: LoftedMuscle, known: Muscle) -> float:
        """How far both cross the same joints, 0 to 1, as far as that counts."""
        ours = self._between(*found.joints)
        theirs = self._between(known.joints[0], known.joints[-1])
        both, either = (sum(self._counts[list(which)]) for which in (ours & theirs, ours | theirs))
        return float(1.0 - JOINTS_COUNT * (1.0 - both / max(either, 1e-9)))

    def _between(self, one: int, other: int) -> set[int]:
        """The joints that move one against the other: those on the way between them, without the topmost."""
        above = [set(), set()]  # type: list[set[int]]
        for chain, joint in zip(above, (one, other), strict=True):
            while joint >= 0:
                chain.add(joint)
                joint = int(self._parents[joint])
        return above[0] ^ above[1]


class _Line:
    """A template's muscle at places along it: points, way, out (K, 3); t (K,); half its width [m].

    ``hidden`` says where another lies on it, (K,).
    """

    def __init__(self, muscle: Muscle) -> None:
        steps = np.diff(muscle.positions, axis=0)
        length = np.concatenate([[0.0], np.cumsum(np.linalg.norm(steps, axis=1))])
        self.t = np.linspace(0.05, 0.95, SAMPLES)
        at = self.t * length[-1]
        self.points = np.stack([np.interp(at, length, muscle.positions[:, k]) for k in range(3)], axis=1)
        self.low, self.high = self.points.min(axis=0), self.points.max(axis=0)
        self.way = normalise(np.gradient(self.points, axis=0))
        out = muscle.outward - (self.way @ muscle.outward)[:, None] * self.way
        self.out = out / np.maximum(np.linalg.norm(out, axis=1), 1e-9)[:, None]
        self.half = float(muscle.thickness.max())
        self.thick = muscle.scale * self.half
        self.belly = np.abs(self.t - muscle.belly) <= BELLY
        self.hidden = np.zeros(SAMPLES, bool)

    def under(self, rings: SpaceRings) -> float:
        """How well it lies under found rings and along them, 0 to 1."""
        axes = np.sqrt(np.maximum(np.linalg.eigvalsh(rings.form), 0.0))
        wide, area = axes[:, -1], axes[:, -1] * axes[:, -2]
        if not self.near(rings.top, FAR * (self.half + float(wide.max()))):
            return 0.0
        away = rings.top[:, None] - self.points
        over = np.sum(away * self.out, axis=-1)
        aside = np.linalg.norm(away - over[..., None] * self.out, axis=-1)
        aside = np.maximum(aside - self.half, 0.0)
        deep = DEPTH_COUNTS * np.maximum(over - self.thick, 0.0)
        gap = np.where(over > -self.half, np.hypot(aside, deep), np.inf)
        facing = np.maximum(0.5 + 0.5 * rings.outward @ self.out.T, 0.0)
        lies = np.exp(-((gap / (0.5 * (wide[:, None] + self.half))) ** 2)) * facing
        nearest = np.argmax(lies, axis=1)
        belly = ((gap <= wide[:, None]) & (facing > 0.5)).any(axis=0)[self.belly].mean()
        steps = np.gradient(rings.top, axis=0)
        alike = np.abs(np.sum(normalise(steps) * self.way[nearest], axis=1))
        slender = np.clip(np.linalg.norm(steps, axis=1).sum() / (2.0 * np.median(wide)) - 1.0, 0.0, 1.0)
        parts = lies.max(axis=1) * (1.0 - WAY_COUNTS * slender * (1.0 - alike))
        parts = parts * (1.0 - HIDDEN_COUNTS * self.hidden[nearest])
        bulk = min(self.half * self.thick / max(float(area.max()), 1e-12), 1.0) ** BULK_COUNTS
        agree = np.average(parts, weights=area) * (1.0 - BELLY_COUNTS * (1.0 - belly)) * bulk
        return float(agree)

    def near(self, points: Floats, reach: float) -> bool:
        """Whether the boxes around it and around points come as near to each other as this [m]."""
        apart = np.maximum(self.low - points.max(axis=0), points.min(axis=0) - self.high)
        return bool((apart < reach).all())

    def hide(self, other: _Line) -> None:
        """Mark where another muscle lies on this one."""
        away = other.points - self.points[:, None]
        over = np.sum(away * self.out[:, None], axis=-1)
        aside = np.linalg.norm(away - over[..., None] * self.out[:, None], axis=-1)
        both = self.thick + other.thick
        on = (over > 0.5 * both) & (over < 1.5 * both) & (aside < HIDES * other.half)
        self.hidden |= on.any(axis=1)


def _side(muscle: Muscle) -> str:
    return muscle.name.rpartition(", ")[2]
