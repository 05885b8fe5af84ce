"""Skin that slides over muscles: each vertex keeps its distance to the muscle below it.

Text 000, sections 4.2 and 4.3, as EQUATIONS "Shapes" corrects them. With v and a the vertex's
coordinates in the section through it, b the height of the muscle's surface there and σ its side,
``δ = σ b + L_fat − v`` along S_d brings it to its bind distance; several muscles move it by
``Σ w² δ S_d / Σ w``. The coordinates are the *posed* vertex's, so skin is pushed out by the fibres that
are now below it and is never dragged along them. L_fat is what the very same kernel measured at bind:
the difference from bind is zero bit for bit where the muscles and the skin are those of the bind.

Over a bent muscle the section is found on its centre line near the bind place (`CentreLines`), and S_d is
that of the place. Straight muscles skip it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit, prange

from ecorche.base.lanes import (
    broadcast,
    gather_points,
    larger,
    load,
    multiply_add,
    rows_of_lanes,
    square_root,
    store,
    where_less,
)
from ecorche.base.threads import threads_for
from ecorche.errors import EcorcheError, MeshError
from ecorche.muscles.centre_lines import REACH, STATIONS, TINY
from ecorche.muscles.sections import ENDS, RIM, Sections
from ecorche.skin.influence import Influences
from ecorche.skin.layout import Points, group_vertices, write_group
from ecorche.skin.weights import SkinWeights

Floats = npt.NDArray[np.float64]

_ENDS, _WHOLE_END = np.float32(ENDS), np.float32(2.0 * ENDS)
_PARABOLA = np.float32(0.25 / ENDS)
_OVER_RIM, _ROOT_RIM = np.float32(1.0 / RIM), np.float32(np.sqrt(RIM))

# columns of the table that a frame's muscles are packed into
_ORIGIN, _ALONG, _OUT, _SIDE, _BELLY, _BULGE, _HEIGHT, _SWEPT, _CURVES = 0, 3, 6, 9, 12, 13, 14, 15, 16
_COLUMNS = _CURVES + 21

# columns of a station of a bent muscle: its plane, and the steps from the station before
_NORMAL, _OFFSET, _STEP, _STEP_OUT, _STEP_SIDE, _OVER_STEP = 0, 3, 4, 7, 10, 13
_STATION_COLUMNS = 14
_SEGMENTS = STATIONS - 1
_REACHED, _TINY = np.float32(REACH * _SEGMENTS), np.float32(TINY)


class SlidingSkin:
    """The displacement of one skin by its muscles, ready to be applied frame after frame.

    Args:
        points: Bind positions of the skin [m], shape (vertices, 3), float32.
        bind: The muscles at bind.
        influences: Which muscles move which vertices.
    """

    def __init__(self, points: Points, bind: Sections, influences: Influences) -> None:
        if int(influences.muscles.max(initial=-1)) >= len(bind):
            raise EcorcheError(
                f"the influences name muscle {int(influences.muscles.max())}, but there are {len(bind)}",
                remedy="Use the muscles that the influences were found with",
            )
        self._muscle_count = len(bind)
        self._vertex_count = influences.vertex_count
        moved = np.flatnonzero(np.diff(influences.starts))
        starts = np.append(influences.starts[moved], np.int32(len(influences.muscles)))
        # muscles take the place of joints: groups of sixteen vertices share one set of muscles
        groups = group_vertices(SkinWeights(starts, influences.muscles, influences.weights))
        sides = group_vertices(SkinWeights(starts, influences.muscles, influences.side))
        self._vertices = moved.astype(np.int32)[groups.vertices]
        self._starts, self._muscles = groups.starts, groups.joints
        self._weights, self._sides = groups.weights, sides.weights
        self._places = group_vertices(SkinWeights(starts, influences.muscles, influences.t)).weights
        self._bent = _bent(bind)
        self._rest = rows_of_lanes((len(groups.joints),))
        self._run(bind, self._fitting(points).copy(), learn=True)

    @property
    def kept_bytes(self) -> int:
        """Memory the prepared layout takes; all of it is read once a frame."""
        kept = (self._vertices, self._starts, self._muscles, self._weights, self._sides, self._rest)
        return sum(array.nbytes for array in (*kept, self._places))

    def apply(self, posed: Sections, points: Points, out: Points | None = None) -> Points:
        """Skinned positions after the muscles below have moved them [m], shape (vertices, 3).

        Args:
            posed: The muscles in this frame.
            points: Skinned positions [m], shape (vertices, 3), float32.
            out: Where to write; C-contiguous float32 (vertices, 3); it may be ``points`` itself.
        """
        points = self._fitting(points)
        if out is None:
            out = points.copy()
        elif out.shape != points.shape or out.dtype != np.float32 or not out.flags.c_contiguous:
            raise MeshError(
                f"the output array is {out.dtype} of shape {out.shape}",
                remedy=f"Give C-contiguous float32 of shape {points.shape}",
            )
        elif out is not points:
            out[...] = points
        self._run(posed, out, learn=False)
        return out

    def _fitting(self, points: Points) -> Points:
        # a kernel does not look where it reads and writes: what does not fit is refused here
        if points.shape != (self._vertex_count, 3):
            raise MeshError(
                f"the points have shape {points.shape}", remedy=f"Give {self._vertex_count} points"
            )
        return np.ascontiguousarray(points, np.float32)

    def _run(self, sections: Sections, points: Points, *, learn: bool) -> None:
        if len(sections) != self._muscle_count:
            raise EcorcheError(
                f"{len(sections)} muscles move a skin that was bound to {self._muscle_count}",
                remedy="Give all muscles of the bind, in its order",
            )
        if not np.array_equal(_bent(sections), self._bent):
            raise EcorcheError(
                "muscles that are bent at bind are straight in the pose, or the other way round",
                remedy="Make both with path_sections, or both with chord_sections",
            )
        with threads_for(len(self._vertices)):
            _slide(
                self._vertices,
                self._starts,
                self._muscles,
                self._weights,
                self._sides,
                self._places,
                self._rest,
                _packed(sections),
                self._bent,
                _packed_lines(sections),
                points,
                learn,
            )


def _bent(sections: Sections) -> npt.NDArray[np.bool_]:
    """Which muscles follow a bent line, shape (M,)."""
    return np.zeros(len(sections), np.bool_) if sections.lines is None else sections.lines.bent


def _packed_lines(sections: Sections) -> Points:
    """The stations of the bent lines as the kernel reads them, relative to the muscles' origins."""
    lines = sections.lines
    if lines is None:
        return np.zeros((0, STATIONS, _STATION_COLUMNS), np.float32)
    table = np.empty((len(sections), STATIONS, _STATION_COLUMNS), np.float32)
    _pack_lines(sections.origin, lines.points, lines.along, lines.out, lines.side, lines.length, table)
    return table


@njit(cache=True)  # type: ignore[untyped-decorator]
def _pack_lines(
    origin: Floats,
    points: Floats,
    along: Floats,
    out: Floats,
    side: Floats,
    length: Floats,
    table: Points,
) -> None:
    for i in range(len(table)):
        for station in range(STATIONS):
            row = table[i, station]
            row[_OVER_STEP] = _SEGMENTS / length[i]
            offset = 0.0
            for k in range(3):
                from_origin = points[i, station, k] - origin[i, k]
                offset += from_origin * along[i, station, k]
                row[_NORMAL + k] = along[i, station, k]
                # the first station holds the value itself, each later one the step that leads to it
                row[_STEP + k], row[_STEP_OUT + k] = from_origin, out[i, station, k]
                row[_STEP_SIDE + k] = side[i, station, k]
                if station > 0:
                    row[_STEP + k] = points[i, station, k] - points[i, station - 1, k]
                    row[_STEP_OUT + k] = out[i, station, k] - out[i, station - 1, k]
                    row[_STEP_SIDE + k] = side[i, station, k] - side[i, station - 1, k]
            row[_OFFSET] = offset


def _packed(sections: Sections) -> Points:
    """A row of float32 numbers a muscle, as the kernel reads them."""
    table = np.empty((len(sections), _COLUMNS), np.float32)
    vectors = (sections.origin, sections.along, sections.out, sections.side)
    numbers = (sections.length, sections.bulge, sections.scale, sections.belly)
    _pack(*vectors, *numbers, sections.thickness, sections.sweep, table)
    return table


@njit(cache=True)  # type: ignore[untyped-decorator]
def _pack(
    origin: Floats,
    along: Floats,
    out: Floats,
    side: Floats,
    length: Floats,
    bulge: Floats,
    scale: Floats,
    belly: Floats,
    thickness: Floats,
    sweep: Floats,
    table: Points,
) -> None:
    """Fill the table; in NumPy this would take longer than the displacement itself."""
    for i in range(len(table)):
        row = table[i]
        for k in range(3):
            row[_ORIGIN + k] = origin[i, k]
            row[_ALONG + k] = along[i, k] / length[i]
            row[_OUT + k] = out[i, k]
            row[_SIDE + k] = side[i, k]
        row[_BELLY], row[_BULGE], row[_HEIGHT] = belly[i], bulge[i], scale[i] * bulge[i]
        row[_SWEPT] = 1.0 if np.any(sweep[i] != 0.0) else 0.0
        _pack_curve(thickness[i], belly[i], row, _CURVES)
        _pack_curve(sweep[i, :, :, 0], belly[i], row, _CURVES + 7)
        _pack_curve(sweep[i, :, :, 1], belly[i], row, _CURVES + 14)


@njit(inline="always")  # type: ignore[untyped-decorator]
def _pack_curve(control: Floats, belly: float, row: Points, at: int) -> None:
    """The coefficients of `Sections.curves` from control values (2, 4)."""
    row[at] = control[0, 3]
    for half in range(2):
        # read from the belly outwards: the origin half runs backwards
        first, step = (3, -1) if half == 0 else (0, 1)
        width = -belly if half == 0 else 1.0 - belly
        p0, p1 = control[half, first], control[half, first + step]
        p2, p3 = control[half, first + 2 * step], control[half, first + 3 * step]
        row[at + 3 * half + 1] = 3.0 * (p1 - p0) / width
        row[at + 3 * half + 2] = 3.0 * (p2 - 2.0 * p1 + p0) / width**2
        row[at + 3 * half + 3] = (p3 - 3.0 * p2 + 3.0 * p1 - p0) / width**3


@njit(inline="always")  # type: ignore[untyped-decorator]
def _ramp(x: Any) -> Any:
    """``max(x, 0)`` with a parabola in place of the corner."""
    zero, whole = broadcast(np.float32(0.0)), broadcast(_WHOLE_END)
    near = larger(x + _ENDS, zero)
    near = where_less(near, whole, near, whole)
    return multiply_add(near * near, broadcast(_PARABOLA), larger(x - _ENDS, zero))


@njit(inline="always")  # type: ignore[untyped-decorator]
def _curve(row: Points, at: int, m: Any, p: Any) -> Any:
    """One of the curves of `Sections.curves`, m below and p above the belly."""
    below = multiply_add(
        m, multiply_add(m, broadcast(row[at + 3]), broadcast(row[at + 2])), broadcast(row[at + 1])
    )
    above = multiply_add(
        p, multiply_add(p, broadcast(row[at + 6]), broadcast(row[at + 5])), broadcast(row[at + 4])
    )
    return multiply_add(m, below, multiply_add(p, above, broadcast(row[at])))


@njit(inline="always")  # type: ignore[untyped-decorator]
def _behind(station: Points, x: Any, y: Any, z: Any) -> Any:
    """How far points are past a station's plane [m]."""
    so_far = multiply_add(z, broadcast(station[2]), -broadcast(station[_OFFSET]))
    return multiply_add(x, broadcast(station[0]), multiply_add(y, broadcast(station[1]), so_far))


@njit(inline="always")  # type: ignore[untyped-decorator]
def _unit_clamp(x: Any) -> Any:
    """Lanes clamped to 0 … 1."""
    one = broadcast(np.float32(1.0))
    x = larger(x, broadcast(np.float32(0.0)))
    return where_less(x, one, x, one)


@njit(inline="always")  # type: ignore[untyped-decorator]
def _length(x: Any, y: Any, z: Any) -> Any:
    # never zero: between opposite directions a lane of weight zero must stay a number
    square = multiply_add(x, x, multiply_add(y, y, z * z))
    return square_root(larger(square, broadcast(np.float32(1e-12))))


@njit  # type: ignore[untyped-decorator]
def _bent_place(stations: Points, over_step: Any, place: Any, x: Any, y: Any, z: Any) -> Any:
    """`CentreLines.places` of sixteen points relative to the origin: t, v, a before the sweep, and S_d."""
    zero = broadcast(np.float32(0.0))
    first = stations[0]
    lowest = place * np.float32(_SEGMENTS) - _REACHED
    highest = place * np.float32(_SEGMENTS) + _REACHED
    at_x, at_y, at_z = broadcast(first[4]), broadcast(first[5]), broadcast(first[6])
    out_x, out_y, out_z = broadcast(first[7]), broadcast(first[8]), broadcast(first[9])
    side_x, side_y, side_z = broadcast(first[10]), broadcast(first[11]), broadcast(first[12])
    behind = _behind(first, x, y, z)
    # beyond the ends t runs on by length, but no farther from the bind place than within them
    before = larger(-larger(-behind, zero) * over_step, -larger(-lowest, zero))
    t = broadcast(np.float32(0.0))
    for k in range(1, STATIONS):
        station = stations[k]
        past = larger(behind, zero) + _TINY
        behind = _behind(station, x, y, z)
        share = past / (past + (larger(-behind, zero) + _TINY))
        lower = _unit_clamp(lowest - np.float32(k - 1))
        upper = _unit_clamp(highest - np.float32(k - 1))
        share = larger(where_less(share, upper, share, upper), lower)
        t = t + share
        at_x = multiply_add(share, broadcast(station[4]), at_x)
        at_y = multiply_add(share, broadcast(station[5]), at_y)
        at_z = multiply_add(share, broadcast(station[6]), at_z)
        out_x = multiply_add(share, broadcast(station[7]), out_x)
        out_y = multiply_add(share, broadcast(station[8]), out_y)
        out_z = multiply_add(share, broadcast(station[9]), out_z)
        side_x = multiply_add(share, broadcast(station[10]), side_x)
        side_y = multiply_add(share, broadcast(station[11]), side_y)
        side_z = multiply_add(share, broadcast(station[12]), side_z)
    after, most = larger(behind, zero) * over_step, larger(highest - np.float32(_SEGMENTS), zero)
    t = (t + before + where_less(after, most, after, most)) * np.float32(1.0 / _SEGMENTS)
    x, y, z = x - at_x, y - at_y, z - at_z
    shorten = np.float32(1.0) / _length(out_x, out_y, out_z)
    out_x, out_y, out_z = out_x * shorten, out_y * shorten, out_z * shorten
    v = multiply_add(x, out_x, multiply_add(y, out_y, z * out_z))
    a = multiply_add(x, side_x, multiply_add(y, side_y, z * side_z)) / _length(side_x, side_y, side_z)
    return t, v, a, out_x, out_y, out_z


@njit(parallel=True, cache=True)  # type: ignore[untyped-decorator]
def _slide(
    vertices: npt.NDArray[np.int32],
    starts: npt.NDArray[np.int64],
    muscles: npt.NDArray[np.int32],
    weights: Points,
    sides: Points,
    places: Points,
    rest: Points,
    table: Points,
    bent: npt.NDArray[np.bool_],
    lines: Points,
    points: Points,
    learn: bool,
) -> None:
    for group in prange(len(vertices)):
        x, y, z = gather_points(points, vertices, group)
        zero, one = broadcast(np.float32(0.0)), broadcast(np.float32(1.0))
        sum_x = broadcast(np.float32(0.0))
        sum_y = broadcast(np.float32(0.0))
        sum_z = broadcast(np.float32(0.0))
        sum_w = broadcast(np.float32(0.0))
        for entry in range(starts[group], starts[group + 1]):
            muscle = muscles[entry]
            row = table[muscle]
            from_x, from_y, from_z = x - row[0], y - row[1], z - row[2]
            if bent[muscle]:
                t, v, a, out_x, out_y, out_z = _bent_place(
                    lines[muscle], lines[muscle, 0, _OVER_STEP], load(places, entry), from_x, from_y, from_z
                )
            else:
                t = multiply_add(
                    from_x, broadcast(row[3]), multiply_add(from_y, broadcast(row[4]), from_z * row[5])
                )
                out_x, out_y, out_z = broadcast(row[6]), broadcast(row[7]), broadcast(row[8])
                v = multiply_add(from_x, out_x, multiply_add(from_y, out_y, from_z * row[8]))
                a = multiply_add(
                    from_x, broadcast(row[9]), multiply_add(from_y, broadcast(row[10]), from_z * row[11])
                )
            d = _ramp(t) - _ramp(t - one) - row[_BELLY]
            m, p = -larger(-d, zero), larger(d, zero)
            thickness = larger(_curve(row, _CURVES, m, p), broadcast(np.float32(1e-12)))
            if row[_SWEPT] != 0.0:  # most muscles are not, and subtracting zero changes no bit
                v = v - _curve(row, _CURVES + 7, m, p)
                a = a - _curve(row, _CURVES + 14, m, p)
            a = a * row[_BULGE] / thickness
            s = larger(one - a * a, zero) * _OVER_RIM
            cubic = s * s * (np.float32(2.5) - np.float32(1.5) * s)
            root = where_less(s, one, cubic, square_root(s)) * _ROOT_RIM
            # minus σ b − v, and its difference from bind
            apart = v - load(sides, entry) * (thickness * row[_HEIGHT] * root)
            if learn:
                store(rest, entry, apart)
            else:
                w = load(weights, entry)
                minus = w * w * (apart - load(rest, entry))
                sum_x = multiply_add(minus, out_x, sum_x)
                sum_y = multiply_add(minus, out_y, sum_y)
                sum_z = multiply_add(minus, out_z, sum_z)
                sum_w = sum_w + w
        if not learn:
            # subtracted, so that a coordinate that is minus zero keeps its sign at bind
            over = one / sum_w
            write_group(points, vertices, group, x - sum_x * over, y - sum_y * over, z - sum_z * over)
