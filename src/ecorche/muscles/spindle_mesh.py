"""A closed triangle surface round every spindle, at any resolution, on a straight or bent path.

Rings of vertices stand on the sections, which are perpendicular to the path (J. Ramos and C. Larboulette,
2013); ring by ring they make a tube whose ends are a flat cap, or a single point where the muscle begins with
no thickness. Which vertices and triangles there are depends on the bind shape alone, so one set of triangles
serves all frames. The vertices lie on the surface; on a straight path the mesh's volume tends to the exact
one with the second power of rings and of sides. On a bent path that is the volume of the straightened muscle
as long as the sweep is zero and the path's radius of curvature exceeds the thickness (Pappus).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecorche.errors import EcorcheError
from ecorche.muscles.spindle import Floats, Spindles, refuse_where
from ecorche.muscles.volume import SpindleStates

Ints = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Stations:
    """Where the rings of a frame stand: places and section frames along M paths, R to each.

    Attributes:
        points: On the path [m], shape (M, R, 3), at the surface's ``t``, by arc length.
        along: Unit tangents, origin to insertion, shape (M, R, 3).
        out: Unit S_d, perpendicular to ``along``, shape (M, R, 3). S is along × out.
    """

    points: Floats
    along: Floats
    out: Floats


def straight_stations(
    origins: npt.ArrayLike, insertions: npt.ArrayLike, out: npt.ArrayLike, t: Floats
) -> Stations:
    """Stations at ``t`` (M, R) on straight lines; ends [m] (M, 3), and S_d (M, 3), made perpendicular."""
    start, end = np.asarray(origins, np.float64), np.asarray(insertions, np.float64)
    span = end - start
    length = np.linalg.norm(span, axis=-1, keepdims=True)
    refuse_where(~(length[:, 0] > 0.0), "origin and insertion coincide", "Move origin and insertion apart")
    along = span / length
    direction = np.asarray(out, np.float64)
    direction = direction - (direction * along).sum(axis=-1, keepdims=True) * along
    size = np.linalg.norm(direction, axis=-1, keepdims=True)
    refuse_where(
        ~(size[:, 0] > 1e-9),
        "its direction S_d runs along the muscle or has no length",
        "Give a direction across the muscle, such as outwards from the bone",
    )
    points = start[:, None] + t[..., None] * span[:, None]
    rows = points.shape
    unit = direction / size
    return Stations(points, np.broadcast_to(along[:, None], rows), np.broadcast_to(unit[:, None], rows))


@dataclass(frozen=True, eq=False)
class SpindleSurfaces:
    """Vertices and triangles round M muscles, one muscle after another; the same in every frame.

    Attributes:
        t: Where each ring stands between origin and insertion, shape (M, R); one ring is on the belly.
        sides: Vertices of a ring.
        vertex_starts: First vertex of each muscle and, last, their number, shape (M + 1,).
        triangle_starts: First triangle of each muscle and, last, their number, shape (M + 1,).
        triangles: Vertex triples, counter-clockwise seen from outside, shape (triangles, 3).
        uv: Texture coordinates of the triangles' corners, shape (triangles, 3, 2): u once round the muscle
            from S_d towards S, v from origin 0 to insertion 1. Cut along S_d.
    """

    t: Floats
    sides: int
    vertex_starts: Ints
    triangle_starts: Ints
    triangles: Ints
    uv: Floats
    _kept: npt.NDArray[np.intp]  # of each muscle's centre, rings, centre: the vertices that are used

    @property
    def used_rings(self) -> npt.NDArray[np.int64]:
        """First and last ring of each muscle that has vertices, shape (M, 2): a pointed end has none."""
        places = np.stack(
            [self._kept[self.vertex_starts[:-1] + 1], self._kept[self.vertex_starts[1:] - 2]], axis=1
        )
        own = places % (self.t.shape[1] * self.sides + 2)  # the middle of the origin is before the rings
        return np.asarray((own - 1) // self.sides, np.int64)

    def points(self, states: SpindleStates, stations: Stations) -> Floats:
        """Positions of all vertices [m] in one frame, shape (vertices, 3)."""
        rings = self.ring_points(states, stations)
        count = len(rings)
        ends = rings[:, [0, -1]].mean(axis=2)
        around = rings.reshape(count, rings.shape[1] * rings.shape[2], 3)
        everything = np.concatenate([ends[:, :1], around, ends[:, 1:]], axis=1)
        return np.asarray(everything.reshape(-1, 3)[self._kept])

    def ring_points(self, states: SpindleStates, stations: Stations) -> Floats:
        """Points on the rings [m] in one frame, from S_d towards S, shape (M, R, sides, 3)."""
        count, rings = self.t.shape
        if states.thickness.shape != (count, 2, 4):
            raise EcorcheError(
                f"the state holds thicknesses of shape {states.thickness.shape}",
                remedy=f"Give one frame of the {count} muscles this surface was made for",
            )
        for name in ("points", "along", "out"):
            value = getattr(stations, name)
            if value.shape != (count, rings, 3):
                raise EcorcheError(
                    f"the stations' {name} have shape {value.shape}",
                    remedy=f"Give shape {(count, rings, 3)}: one row for each t of the surface",
                )
            refuse_where(
                ~np.isfinite(value).all(axis=(1, 2)),
                f"the {name} of its stations are not finite numbers",
                "Check the pose and the path of this muscle",
            )
        side = np.cross(stations.along, stations.out)
        sweep = states.spindles.sweep_at(self.t)
        centres = stations.points + sweep[..., :1] * stations.out + sweep[..., 1:] * side
        half_out, half_side = states.half_axes(self.t)
        angle = 2.0 * np.pi * np.arange(self.sides) / self.sides
        return np.asarray(
            centres[:, :, None]
            + (half_out[..., None] * np.cos(angle))[..., None] * stations.out[:, :, None]
            + (half_side[..., None] * np.sin(angle))[..., None] * side[:, :, None]
        )


def spindle_surfaces(spindles: Spindles, *, rings: int = 24, sides: int = 16) -> SpindleSurfaces:
    """The surfaces' vertices and triangles, with ``rings`` sections and ``sides`` vertices round each."""
    if rings < 3 or sides < 3:
        raise EcorcheError(
            f"{rings} rings of {sides} sides enclose no muscle", remedy="Give at least 3 rings and 3 sides"
        )
    count = len(spindles)
    size = rings * sides + 2  # centre of the origin, the rings, centre of the insertion
    pointed = np.stack([spindles.thickness[:, 0, 0], spindles.thickness[:, 1, 3]], axis=1) == 0.0
    triangles, uv, kept, faces, vertices = [], [], [], [0], [0]
    t = ring_places(spindles.belly, rings)
    for muscle in range(count):
        first, last = int(pointed[muscle, 0]), rings - 1 - int(pointed[muscle, 1])
        corners, around = _triangles(rings, sides, first, last)
        used = np.r_[0, 1 + first * sides : 1 + (last + 1) * sides, size - 1]
        number = np.zeros(size, np.int32)
        number[used] = np.arange(len(used))
        height = np.r_[0.0, np.repeat(t[muscle], sides), 1.0]
        triangles.append(number[corners] + vertices[-1])
        uv.append(np.stack([around / sides, height[corners]], axis=-1))
        kept.append(used + muscle * size)
        faces.append(faces[-1] + len(corners))
        vertices.append(vertices[-1] + len(used))
    return SpindleSurfaces(
        t=t,
        sides=sides,
        vertex_starts=np.array(vertices, np.int32),
        triangle_starts=np.array(faces, np.int32),
        triangles=np.concatenate([np.zeros((0, 3), np.int32), *triangles]).astype(np.int32),
        uv=np.concatenate([np.zeros((0, 3, 2)), *uv]),
        _kept=np.concatenate([np.zeros(0, np.intp), *kept]).astype(np.intp),
    )


def ring_places(belly: Floats, rings: int) -> Floats:
    """Where the rings stand, (M, rings): even on each side of the belly, which itself carries one."""
    before = np.clip(np.rint(belly * (rings - 1)), 1, rings - 2)[:, None]
    step = np.arange(rings)
    share = belly[:, None]
    ahead = share * step / before
    behind = share + (1.0 - share) * (step - before) / (rings - 1 - before)
    places: Floats = np.where(step < before, ahead, behind)
    places[:, -1] = 1.0
    return places


def _triangles(rings: int, sides: int, first: int, last: int) -> tuple[npt.NDArray[np.intp], Floats]:
    """Vertex triples of the tube from ring ``first`` to ``last`` and its ends; their corners' steps round."""
    j = np.arange(sides)
    after = (j + 1) % sides
    low = 1 + np.arange(first, last)[:, None] * sides
    a, b, c, d = low + j, low + after, low + sides + after, low + sides + j
    tube = np.stack([a, b, c, a, c, d], axis=-1).reshape(-1, 3)
    tube_u = np.broadcast_to(
        np.stack([j, j + 1, j + 1, j, j + 1, j], axis=-1), (last - first, sides, 6)
    ).reshape(-1, 3)
    begin, end = 1 + first * sides, 1 + last * sides
    centre = np.zeros(sides, np.intp)
    front = np.stack([centre, begin + after, begin + j], axis=-1)
    back = np.stack([centre + rings * sides + 1, end + j, end + after], axis=-1)
    front_u = np.stack([j + 0.5, j + 1.0, j + 0.0], axis=-1)
    back_u = np.stack([j + 0.5, j + 0.0, j + 1.0], axis=-1)
    return np.concatenate([front, tube, back]), np.concatenate([front_u, tube_u, back_u])
