"""Skin that does not pass through skin: where limbs fold on themselves they press each other flat and bulge.

A line along every vertex's normal looks for skin that faces it. In front, that is the gap to it; behind, skin
has passed through skin, by as much. Both sides give way, by half each where both can. What is pressed in
comes out beside the contact, over a stretch around it, so that the volume stays: flesh that folds bulges, as
far as there is a gap to bulge into. First some lines, far apart, tell where there is anything to meet; in the
end lines are asked again a few times, for what is left.

Nothing begins or ends at once, so that a little change of the pose is a little change of the skin: how much a
line counts is smooth (`facing_lines`), and where the skin is crumpled so that lines tell nothing it goes with
the skin round it.

Every part of a body has its own far side behind it: lines go back a third as far as that is at bind,
so that fingers and ears do not take themselves for others. Skin that is behind skin at bind already, as in
many a mouth, may stay as deep there as it is. The lines ask the tree of `ray_tree`, not all pairs.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ecorche.base.ray_tree import RayTree
from ecorche.skin.along_normals import along_normals
from ecorche.skin.facing_lines import AHEAD, FARTHEST, FacingLines, fans, filled, met
from ecorche.skin.two_rings import TwoRings

Points = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int32]
Flags = npt.NDArray[np.bool_]

_THICKEST = 4.0
"""How thick a body is taken to be at most, in reaches."""
_BENEATH = 0.02
"""How far beneath the skin lines begin that ask how thick a body is, as a share of the reach: not on it."""
_OF_THICKNESS = 0.25
"""How deep, as a share of how thick the body is there at bind, skin is still said to have passed."""
_APART = 0.25
"""How far lines stand apart, as a share of the reach, that ask where there is anything to meet."""
_ASKED_AGAIN = 3
"""How often lines are asked what is left."""
_MOST_ROUNDS = 100
"""Of smoothing, to spread a bulge."""
_EVEN_ROUNDS = 2
"""Of smoothing of what is pressed."""
_LEAST = 2e-5
"""How deep skin may be behind skin and still touches it, as a share of the reach: rounding is as large."""
_ENOUGH = 5e-4
"""And when what is left is not asked for again."""
_AROUND = 3.0
"""How far bulges are spread, see `TwoRings.smoothed`."""
_BESIDE = 3.0
"""Skin bulges where it is pressed less than what comes from round there by so many times."""
_MOST_BULGE, _HIGHEST, _LOWEST = 6.0, 0.1, 5e-4
"""How many times what is spread beside a contact may come out there, at most, and how far at most, as a share
of the reach: where there is little room beside not all of it does; and below which height none does."""


class SkinContact:
    """One skin, asked frame after frame whether it passes through itself.

    Args:
        points, normals: At bind [m] and unit, (vertices, 3).
        triangles: Outwards, (triangles, 3).
        rings: Its vertices' neighbours.
        reach: How deep skin may have passed through skin [m], at most.
        span: How far from the contact what is pressed in comes out [m].
        rounds: How often both sides give way.
        gives: Which vertices give way, (vertices,); the others hold what they meet. None: all.

    Attributes:
        area: Of the skin round each place at bind [m²], (places,).
    """

    def __init__(
        self,
        points: Points,
        normals: Points,
        triangles: npt.ArrayLike,
        rings: TwoRings,
        *,
        reach: float = 0.05,
        span: float = 0.015,
        rounds: int = 4,
        gives: Flags | None = None,
    ) -> None:
        self._tree, self._rings, self._rounds = RayTree(points, triangles), rings, rounds
        self._least, self._enough = np.float32(_LEAST * reach), np.float32(_ENOUGH * reach)
        self._lowest, self._highest = np.float32(_LOWEST * reach), np.float32(_HIGHEST * reach)
        speaker = rings.speakers()
        self._gives = np.ones(len(speaker), np.float32)
        if gives is not None:
            self._gives = gives[speaker].astype(np.float32)
        self._looking = speaker[self._gives > 0.0]
        self._remembered = np.full(len(points), -1, np.int32)
        edge = float(np.median(rings.square_edge))
        self._apart = max(1, int(_APART * reach / max(np.sqrt(edge), 1e-6)))
        self._few = speaker[rings.apart(self._gives > 0.0, self._apart)]
        self._remembered_few = np.full(len(self._few), -1, np.int32)
        self._fans = fans(rings.place[self._tree.triangles], rings.place_count)
        # so many rounds of smoothing spread a point over the span
        self._bulge_rounds = int(np.clip(2.0 * span**2 / max(edge, 1e-12), 2, _MOST_ROUNDS))
        corners = points[self._tree.triangles]
        area = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
        self.area = np.bincount(
            rings.place[self._tree.triangles].ravel(), np.repeat(area / 6.0, 3), rings.place_count
        ).astype(np.float32)
        far, beneath = np.full(len(points), _THICKEST * reach, np.float32), np.float32(_BENEATH * reach)
        behind = self._tree.cast(points - beneath * normals, -normals, far)
        thick = np.where(behind.triangles >= 0, beneath + behind.distances, far)[speaker]
        # beside a rim, whose own lines go along the skin, it is as thin
        row = np.repeat(np.arange(rings.place_count), np.diff(rings.near_starts))
        least = thick.copy()
        np.minimum.at(least, row, thick[rings.near])
        self._thick = least[rings.place].astype(np.float32)
        self._reach = np.minimum(np.float32(FARTHEST) * self._thick, np.float32(reach))
        self._resting = np.zeros(rings.place_count, np.float32)
        at_bind, _ = self._ask(self._looking, points, normals)
        self._resting[at_bind.places] = np.maximum(-at_bind.gaps, np.float32(0.0))

    def passed(self, points: Points, normals: Points) -> Points:
        """How far each vertex is behind skin that faces it [m], (vertices,); 0 where it is not."""
        self._tree.fit(points)
        reach = np.float32(_OF_THICKNESS) * self._thick
        hits = self._tree.cast(points, normals, reach, facing=True, both_ways=True)
        return np.where(hits.distances < 0.0, -hits.distances, np.float32(0.0))

    def lines(self, points: Points, normals: Points) -> FacingLines:
        """Lines of the skin now, (vertices, 3) each, that meet it, near or behind."""
        self._tree.fit(points)
        return self._ask(self._near_something(points, normals), points, normals)[0]

    def correction(self, points: Points, normals: Points) -> Points:
        """How far each vertex moves along its normal [m], (vertices,)."""
        rings, near = self._rings, np.zeros(self._rings.place_count, np.bool_)
        self._tree.fit(points)
        looking = self._near_something(points, normals)
        lines, found = self._ask(looking, points, normals)
        pressed = self._pressed(lines, points, normals)
        if not pressed.any():
            return np.zeros(len(points), np.float32)
        pressed = np.maximum(pressed, self._gives * rings.smoothed(pressed, 1.0, _EVEN_ROUNDS))
        before, moved = np.zeros_like(pressed), lines.given_way(self._bulge(pressed) - pressed, self._rounds)
        near[rings.place[looking]] = found
        looking = self._looking[(near | (moved != 0.0))[rings.place[self._looking]]]
        for _ in range(_ASKED_AGAIN):
            there = along_normals(points, normals, moved, rings.place)
            self._tree.fit(there, (moved != before)[rings.place])
            lines, found = self._ask(looking, there, normals)
            pressed = self._pressed(lines, there, normals)
            before, moved, looking = moved, moved - pressed, looking[found]
            if pressed.max() < self._enough:
                break
        return moved[rings.place]

    def _near_something(self, points: Points, normals: Points) -> Ints:
        """Vertices whose lines may meet skin: those round the few of which one does."""
        few, rings = self._few, self._rings
        hits = self._tree.cast(
            points[few], normals[few], self._reach[few], facing=True, both_ways=True,
            remembered=self._remembered_few,
        )  # fmt: skip
        met = np.zeros(rings.place_count, np.bool_)
        met[rings.place[few[hits.triangles >= 0]]] = True
        return self._looking[rings.around(met, self._apart + 2)[rings.place[self._looking]]]

    def _ask(self, looking: Ints, points: Points, normals: Points) -> tuple[FacingLines, Flags]:
        """The lines of some vertices in a pose, and which of them met anything."""
        rings, remembered, reach = self._rings, self._remembered[looking], self._reach
        hits = self._tree.cast(
            points[looking], normals[looking], reach[looking], facing=True, both_ways=True,
            remembered=remembered,
        )  # fmt: skip
        self._remembered[looking] = remembered
        through = np.flatnonzero(hits.distances < 0.0)
        behind, ahead = looking[through], np.full(len(looking), np.inf, np.float32)
        ahead[through] = self._tree.cast(
            points[behind], normals[behind], np.float32(-AHEAD) * hits.distances[through], facing=True
        ).distances
        lines = met(
            looking, hits, ahead, self._tree.triangles, self._fans, points, normals, reach, rings.place,
            self._gives, self._resting, 2.0 * float(self._highest),
        )  # fmt: skip
        return lines, hits.distances < 2.0 * self._highest

    def _pressed(self, lines: FacingLines, points: Points, normals: Points) -> Points:
        """How far each place gives way to what it meets [m], (places,)."""
        rings = self._rings
        own = -lines.given_way(np.zeros(rings.place_count, np.float32), self._rounds)
        if own.max(initial=0.0) < self._least:
            return np.zeros_like(own)
        told = filled(
            own, rings.starts, rings.members, rings.weights, rings.speakers(), self._tree.triangles,
            *self._fans, points, normals,
        )  # fmt: skip
        return np.asarray(self._gives * told)

    def _bulge(self, pressed: Points) -> Points:
        """What comes out beside places that are pressed in so far [m], (places,)."""
        spread = self._rings.smoothed(pressed, 1.0, self._bulge_rounds, _AROUND)
        beside = self._gives * np.maximum(spread - np.float32(_BESIDE) * pressed, np.float32(0.0))
        room = float(self.area @ beside)
        out = min(float(self.area @ pressed) / room, _MOST_BULGE) if room > 0.0 else 0.0
        bulge = np.float32(out) * beside
        bulge /= np.sqrt(np.float32(1.0) + (bulge / self._highest) ** 2)
        return np.asarray(np.maximum(bulge - self._lowest, np.float32(0.0)))
