"""Skin that does not pass through skin: where limbs fold on themselves they press each other flat and bulge.

A line along every vertex's normal looks for skin that faces it. In front, that is the gap to it; behind, skin
has passed through skin, by as much. Either side gives way by half along its normal. What is pressed in comes
out beside the contact, over a stretch around it, so that the volume stays: flesh that folds bulges.

Every part of a body has its own far side behind it: lines go back a quarter as far as that is at bind,
so that fingers and ears do not take themselves for others. Skin that is behind skin at bind already, as in
many a mouth, may stay as deep there as it is. The lines ask the tree of `ray_tree`, not all pairs.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from ecorche.base.ray_tree import RayTree
from ecorche.skin.along_normals import along_normals
from ecorche.skin.two_rings import TwoRings

Points = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int32]

_OF_THICKNESS = 0.25
"""How far lines go back at most, as a share of how thick the body is there at bind."""
_BENEATH = 0.02
"""How far beneath the skin lines begin that ask how thick a body is, as a share of the reach: not on it."""
_MOST_ROUNDS = 100
"""Of smoothing, to spread a bulge."""
_EVEN_ROUNDS = 2
"""Of smoothing of what is pressed."""
_LEAST = 2e-5
"""How deep skin may be behind skin and still touches it, as a share of the reach: rounding is as large."""
_MOST_BULGE = 6.0
"""How many times what is spread beside a contact may come out there, at most: where there is little room
beside not all of it does."""


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
        gives: npt.NDArray[np.bool_] | None = None,
    ) -> None:
        self._tree, self._rings, self._rounds = RayTree(points, triangles), rings, rounds
        self._remembered = np.full(len(points), -1, np.int32)
        self._least = np.float32(_LEAST * reach)
        speaker = rings.speakers()
        self._looking = speaker if gives is None else speaker[gives[speaker]]
        # so many rounds of smoothing spread a point over the span
        edge = float(np.median(rings.square_edge))
        self._bulge_rounds = int(np.clip(2.0 * span**2 / max(edge, 1e-12), 2, _MOST_ROUNDS))
        far, beneath = np.full(len(points), reach / _OF_THICKNESS, np.float32), np.float32(_BENEATH * reach)
        behind = self._tree.cast(points - beneath * normals, -normals, far)
        thick = np.where(behind.triangles >= 0, beneath + behind.distances, far)
        self._reach = (_OF_THICKNESS * thick).astype(np.float32)
        self._resting = self.passed(points, normals)[self._looking]
        faces = np.asarray(triangles, np.int64)
        area = np.linalg.norm(
            np.cross(points[faces[:, 1]] - points[faces[:, 0]], points[faces[:, 2]] - points[faces[:, 0]]),
            axis=1,
        )
        self._area = np.bincount(
            rings.place[faces].ravel(), np.repeat(area / 6.0, 3), minlength=rings.place_count
        ).astype(np.float32)

    def passed(self, points: Points, normals: Points) -> Points:
        """How far each vertex is behind skin that faces it [m], (vertices,); 0 where it is not."""
        self._tree.fit(points)
        hits = self._tree.cast(
            points, normals, self._reach, facing=True, both_ways=True, remembered=self._remembered
        )
        through = hits.distances < 0.0
        return np.where(through, -hits.distances, np.float32(0.0))

    def correction(self, points: Points, normals: Points) -> Points:
        """How far each vertex moves along its normal [m], (vertices,)."""
        nothing = np.zeros(self._rings.place_count, np.float32)
        skin = _SkinThroughSkin(
            self._tree, self._rings, self._looking, self._reach, self._resting, self._remembered
        )
        skin.begin(points, normals)
        pressed = self._pressed(skin, nothing, nothing)
        if not (pressed > 0.0).any():
            return np.zeros(len(points), np.float32)
        beside = self._rings.smoothed(pressed, 1.0, self._bulge_rounds)
        beside = np.where(pressed > 0.0, np.float32(0.0), beside)
        room = float(self._area @ beside)
        out = min(float(self._area @ pressed) / room, _MOST_BULGE) if room > 0.0 else 0.0
        bulged = np.float32(out) * beside
        bulged[bulged < self._least] = 0.0
        # what bulges into skin is pressed again
        return (bulged - self._pressed(skin, pressed, bulged))[self._rings.place]

    def _pressed(self, skin: _SkinThroughSkin, pressed: Points, bulged: Points) -> Points:
        """How far each place gives way [m], (places,), beginning with ``pressed``."""
        for _ in range(self._rounds):
            passed = np.float32(0.5) * skin.passed(bulged - pressed)
            if passed.max(initial=0.0) < self._least:
                break
            # nowhere less than half the way, and no steps beside
            pressed = pressed + np.maximum(self._rings.smoothed(passed, 0.5, _EVEN_ROUNDS), passed)
        return pressed


class _SkinThroughSkin:
    """How far skin is behind skin as it is moved to and fro in one frame.

    Only lines are asked again that moved, or near whose beginning or end something did.

    Args:
        tree: Of the skin.
        rings: Its neighbours.
        looking: Vertices whose lines are asked.
        reach: How far each vertex's line goes [m], (vertices,).
        resting: How far those that look are behind skin at bind [m], which does not count, (looking,).
        remembered: The leaf each vertex's line met last, (vertices,).
    """

    def __init__(
        self, tree: RayTree, rings: TwoRings, looking: Ints, reach: Points, resting: Points, remembered: Ints
    ) -> None:
        self._tree, self._rings, self._looking = tree, rings, looking
        self._reach, self._resting, self._remembered = reach, resting, remembered

    def begin(self, points: Points, normals: Points) -> None:
        """With a skin where nothing gives way, (vertices, 3)."""
        self._points, self._normals, self._by = points, normals, np.zeros(self._rings.place_count, np.float32)
        self._tree.fit(points)
        self._distances = np.empty(len(self._looking), np.float32)
        self._hit = np.empty(len(self._looking), np.int32)
        self._ask(np.arange(len(self._looking), dtype=np.int32), points)

    def passed(self, by: Points) -> Points:
        """How far each place is behind skin [m], (places,), when each has moved so far along its normal."""
        rings, changed = self._rings, by != self._by
        if changed.any():
            now = along_normals(self._points, self._normals, by, rings.place)
            self._tree.fit(now, changed[rings.place])
            again = _near_a_change(
                self._looking, rings.place, rings.near_starts, rings.near, self._tree.triangles, self._hit,
                changed,
            )  # fmt: skip
            self._ask(again, now)
            self._by = by
        found = np.zeros(rings.place_count, np.float32)
        found[rings.place[self._looking]] = np.maximum(-self._distances - self._resting, np.float32(0.0))
        return found

    def _ask(self, which: Ints, points: Points) -> None:
        vertices = self._looking[which]
        remembered = self._remembered[vertices]
        hits = self._tree.cast(
            points[vertices], self._normals[vertices], self._reach[vertices], facing=True, both_ways=True,
            remembered=remembered,
        )  # fmt: skip
        self._remembered[vertices] = remembered
        self._distances[which], self._hit[which] = hits.distances, hits.triangles


@njit(cache=True)  # type: ignore[untyped-decorator]
def _near_a_change(
    looking: Ints,
    place: Ints,
    starts: Ints,
    near: Ints,
    triangles: Ints,
    hit: Ints,
    changed: npt.NDArray[np.bool_],
) -> Ints:
    """Which lines begin, or met something, at a place that changed or next to one."""
    close = changed.copy()
    for here in range(len(changed)):
        if changed[here]:
            for entry in range(starts[here], starts[here + 1]):
                close[near[entry]] = True
    found, many = np.empty(len(looking), np.int32), 0
    for row in range(len(looking)):
        again = close[place[looking[row]]]
        if hit[row] >= 0:
            for corner in range(3):
                again |= close[place[triangles[hit[row], corner]]]
        if again:
            found[many] = row
            many += 1
    return found[:many]
