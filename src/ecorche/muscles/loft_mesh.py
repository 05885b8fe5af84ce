"""A closed triangle surface round every muscle found in the skin, at any resolution, in any pose.

Text 001: adjacent ellipses are lofted into a closed surface, and Hermite curves close it at both ends
(`loft`). Where a muscle branches off another the text places an auxiliary transition curve, in a similar way
to Ekoule et al. (1991). Here that curve is the trunk's own section where the branch leaves it, drawn in a
little so that it lies inside the trunk: the branch's surface starts on it, tangent to the trunk, and Hermite
curves take it to the branch's first ring, tangent there too. Every muscle stays one closed surface of its
own, and of trunk and branch together no place between them is outside.

Which vertices and triangles there are depends on the bind shape alone. On a straight path a mesh's volume
tends to the exact one with the second power of rings and of sides. On a bent path (Pappus) it is that of the
straightened muscle as long as sections are centred on it; those that lie outside of a bend by c hold more
there, by their area times c times the angle.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ecorche.errors import EcorcheError
from ecorche.muscles.lofted_posing import Lofts
from ecorche.muscles.posed_lofts import PosedLofts

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]

DRAWN_IN = 0.97
"""Size of the transition curve, of the trunk's section it lies in."""
_STEP = 1e-5  # of u, over which the surface's slope along the muscle is taken


@dataclass(frozen=True, eq=False)
class _Junction:
    """Where a branch leaves its trunk.

    Attributes:
        trunk: Number of the trunk.
        at: Share of the trunk's root curve.
        end: 0 where the branch's origin joins, 1 its insertion.
        ring: Share of the branch's root curve from which on it has its own shape.
        turn: From the branch's angle round to the trunk's [rad].
        sense: 1, or −1 where the two run against each other.
        inset: By how much rings between the two are drawn in to be under the skin, along the branch's own
            section axes (out, side, along) [m], (K, sides, 3).
    """

    trunk: int
    at: float
    end: int
    ring: float
    turn: float
    sense: float
    inset: Floats

    def bridging(self, u: Floats) -> npt.NDArray[np.bool_]:
        """Which of the branch's rings, at shares u of its root curve, are between the two."""
        return np.asarray((u - self.ring) * (1 - 2 * self.end) < 0.0)


@dataclass(frozen=True, eq=False, repr=False)
class LoftSurfaces:
    """Vertices and triangles round M muscles, one muscle after another; the same in every frame.

    Attributes:
        u: Where each ring stands between origin and insertion, shape (M, R).
        sides: Vertices of a ring.
        vertex_starts: First vertex of each muscle and, last, their number, shape (M + 1,).
        triangle_starts: First triangle of each muscle and, last, their number, shape (M + 1,).
        triangles: Vertex triples, counter-clockwise seen from outside, shape (triangles, 3).
        uv: Texture coordinates of the triangles' corners, shape (triangles, 3, 2): once round the muscle from
            out towards side, and from origin 0 to insertion 1.
    """

    u: Floats
    sides: int
    vertex_starts: Ints
    triangle_starts: Ints
    triangles: Ints
    uv: Floats
    _junctions: tuple[_Junction | None, ...]

    def points(self, posed: PosedLofts) -> Floats:
        """Positions of all vertices [m] in one frame, shape (vertices, 3)."""
        if len(posed.lofts.muscles) != len(self.u):
            raise EcorcheError(
                f"a pose of {len(posed.lofts.muscles)} muscles does not fit surfaces of {len(self.u)}",
                remedy="Give a pose of the muscles these surfaces were made for",
            )
        count, angle = len(self.u), 2.0 * np.pi * np.arange(self.sides) / self.sides
        everywhere = posed.all_rings(np.pad(self.u, ((0, 0), (1, 1)), constant_values=(0.0, 1.0)), self.sides)
        rings, ends = everywhere[:, 1:-1], everywhere[:, [0, -1], 0]
        for muscle, junction in enumerate(self._junctions):
            if junction is not None:
                between = junction.bridging(self.u[muscle])
                rings[muscle, between] = _bridge(posed, muscle, junction, self.u[muscle, between], angle)
                ends[muscle, junction.end] = rings[muscle, -junction.end].mean(axis=0)
        around = rings.reshape(count, self.u.shape[1] * self.sides, 3)
        return np.concatenate([ends[:, :1], around, ends[:, 1:]], axis=1).reshape(-1, 3)


def loft_surfaces(lofts: Lofts, *, rings: int = 24, sides: int = 20) -> LoftSurfaces:
    """The surfaces' vertices and triangles, with ``rings`` sections and ``sides`` vertices round each."""
    if rings < 3 or sides < 3:
        raise EcorcheError(
            f"{rings} rings of {sides} sides enclose no muscle", remedy="Give at least 3 rings and 3 sides"
        )
    count = len(lofts.muscles)
    junctions = tuple(_junction(lofts, muscle) for muscle in range(count))
    u = np.empty((count, rings))
    for muscle, junction in enumerate(junctions):
        # an end that joins another muscle has a ring of its own, any other is a point
        begin = 0 if junction is not None and junction.end == 0 else 1
        end = 0 if junction is not None and junction.end == 1 else 1
        u[muscle] = np.linspace(0.0, 1.0, rings + begin + end)[begin : begin + rings]
    corners, around = _triangles(rings, sides)
    size = rings * sides + 2
    heights = np.concatenate([np.zeros((count, 1)), np.repeat(u, sides, axis=1), np.ones((count, 1))], axis=1)
    numbers = np.arange(count)[:, None, None] * size
    uv = np.stack([np.broadcast_to(around / sides, (count, *around.shape)), heights[:, corners]], axis=-1)
    angle = 2.0 * np.pi * np.arange(sides) / sides
    junctions = tuple(
        None if one is None else _under_skin(lofts, muscle, one, u[muscle, one.bridging(u[muscle])], angle)
        for muscle, one in enumerate(junctions)
    )
    return LoftSurfaces(
        u=u,
        sides=sides,
        vertex_starts=(size * np.arange(count + 1)).astype(np.int32),
        triangle_starts=(len(corners) * np.arange(count + 1)).astype(np.int32),
        triangles=(corners + numbers).reshape(-1, 3).astype(np.int32),
        uv=uv.reshape(-1, 3, 2),
        _junctions=junctions,
    )


def _bridge(posed: PosedLofts, muscle: int, junction: _Junction, u: Floats, angle: Floats) -> Floats:
    """Rings (K, sides, 3) from the transition curve in the trunk to the branch's first ring of its own."""
    inner = junction.turn + junction.sense * angle
    along = posed.axes(junction.trunk, [junction.at]).along[0]
    start = posed.rings(junction.trunk, [junction.at], inner)[0]
    start = start.mean(axis=0) + DRAWN_IN * (start - start.mean(axis=0))
    sign = 1.0 - 2.0 * junction.end
    ring, further = posed.rings(muscle, [junction.ring, junction.ring + sign * _STEP], angle)
    # from the transition curve (0) to the ring (1); the slopes there are the trunk's and the branch's own
    span = junction.ring if junction.end == 0 else 1.0 - junction.ring
    leaving = ring.mean(axis=0) - start.mean(axis=0)
    first = float(leaving @ along) * along
    last = (further - ring) * (span / _STEP)
    x = np.clip((u if junction.end == 0 else 1.0 - u) / span, 0.0, 1.0)[:, None, None]
    bridge: Floats = (
        (1.0 + 2.0 * x) * (1.0 - x) ** 2 * start
        + x * (1.0 - x) ** 2 * first
        + x**2 * (3.0 - 2.0 * x) * ring
        + x**2 * (x - 1.0) * last
    )
    return bridge + junction.inset @ _across(posed, muscle, u) if junction.inset.any() else bridge


def _under_skin(lofts: Lofts, muscle: int, junction: _Junction, u: Floats, angle: Floats) -> _Junction:
    """The junction with its bridge drawn in to be under the skin."""
    draw_in = lofts.flesh[muscle].draw_in if lofts.flesh else None
    if draw_in is None or not len(u):
        return junction
    still = lofts.posed(np.zeros((lofts.curves.joint_count, 4, 4)))
    inset = draw_in(_bridge(still, muscle, junction, u, angle))
    return replace(junction, inset=inset @ np.swapaxes(_across(still, muscle, u), 1, 2))


def _across(posed: PosedLofts, muscle: int, u: Floats) -> Floats:
    """A muscle's section axes (out, side, along) at shares u (K,), a row each, (K, 3, 3)."""
    axes = posed.axes(muscle, u)
    return np.stack([axes.out, axes.side, axes.along], axis=1)


def _junction(lofts: Lofts, muscle: int) -> _Junction | None:
    """Where a muscle leaves the one it joins: at the trunk's place nearest to either of its ends, at bind."""
    branch = lofts.muscles[muscle]
    if not branch.joins:
        return None
    trunk = lofts.names.index(branch.joins)
    posed = lofts.posed(np.zeros((lofts.curves.joint_count, 4, 4)))
    share = np.linspace(0.0, 1.0, 513)
    path = posed.axes(trunk, share).points
    distance = np.linalg.norm(path - np.asarray(branch.ends)[:, None], axis=-1)
    end = int(distance[1].min() < distance[0].min())
    knots = lofts.shapes[trunk].knots
    # the trunk's own rings are told, its ends are drawn out of them
    at = float(np.clip(share[int(distance[end].argmin())], knots[1], knots[-2]))
    ring = float(lofts.shapes[muscle].knots[-2 if end else 1])
    there, here = posed.axes(trunk, [at]), posed.axes(muscle, [ring])
    sense = 1.0 if there.along[0] @ here.along[0] >= 0.0 else -1.0
    turn = float(np.arctan2(here.out[0] @ there.side[0], here.out[0] @ there.out[0]))
    return _Junction(trunk, at, end, ring, turn, sense, np.zeros((1, 1, 3)))


def _triangles(rings: int, sides: int) -> tuple[npt.NDArray[np.intp], Floats]:
    """Vertex triples of origin, rings and insertion; their corners' steps round."""
    j = np.arange(sides)
    after = (j + 1) % sides
    low = 1 + np.arange(rings - 1)[:, None] * sides
    a, b, c, d = low + j, low + after, low + sides + after, low + sides + j
    tube = np.stack([a, b, c, a, c, d], axis=-1).reshape(-1, 3)
    steps = np.stack([j, j + 1, j + 1, j, j + 1, j], axis=-1)
    tube_u = np.broadcast_to(steps, (rings - 1, sides, 6)).reshape(-1, 3)
    last = 1 + (rings - 1) * sides
    centre = np.zeros(sides, np.intp)
    front = np.stack([centre, 1 + after, 1 + j], axis=-1)
    back = np.stack([centre + rings * sides + 1, last + j, last + after], axis=-1)
    front_u = np.stack([j + 0.5, j + 1.0, j + 0.0], axis=-1)
    back_u = np.stack([j + 0.5, j + 0.0, j + 1.0], axis=-1)
    return np.concatenate([front, tube, back]), np.concatenate([front_u, tube_u, back_u])
