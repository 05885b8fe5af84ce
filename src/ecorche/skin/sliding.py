"""Skin that slides over muscles: each vertex keeps its distance to the muscle below it.

Text 000, sections 4.2 and 4.3, as EQUATIONS "Shapes" corrects them. With v and a the vertex's
coordinates in the section through it, b the height of the muscle's surface there and σ its side,
``δ = σ b + L_fat − v`` along S_d brings it to its bind distance; several muscles move it by
``Σ w² δ S_d / Σ w``. The coordinates are the *posed* vertex's, so skin is pushed out by the fibres that
are now below it and is never dragged along them. L_fat is what the very same kernel measured at bind:
the difference from bind is zero bit for bit where the muscles and the skin are those of the bind.

Three things are added. Of what v, a and t have changed since bind only the share κ counts (`influence`):
where skin and path do not follow the same joints, ``δ = σ (b − b_bind)`` at the bind place remains, the
change of the muscle's own height. A muscle has a gain, by which its δ is multiplied. And δ saturates, before
the gain: with ``l = s_f C_T`` at the bind t, the muscle's own half-axis there, δ becomes
``δ (1 − (δ/l)² 4/27)`` and from ``δ = 3/2 l`` on stays l; inwards the same with `BRIDGED` l, because taut
skin and fat bridge the hollow beside a tensed muscle, which is narrower than a slack one, and do not line
it. The slope is continuous, 1 at δ = 0 and 0 at the ends. So a path that leaves its limb, or a muscle edited
beyond sense, moves no vertex by more than the muscle is thick.

Over a bent muscle the section is that of the vertex's bind place between two stations of the posed centre
line (`CentreLines`), and S_d is that of the place.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit, prange

from ecorche.base.lanes import (
    broadcast,
    gather_points,
    load,
    multiply_add,
    rows_of_lanes,
    square_root,
    store,
    where_less,
)
from ecorche.base.threads import worth_sharing
from ecorche.errors import EcorcheError, MeshError
from ecorche.muscles.centre_lines import STATIONS
from ecorche.muscles.packed_sections import (
    ALONG,
    BELLY,
    BULGE,
    CURVES,
    HEIGHT,
    ORIGIN,
    OUT,
    OVER,
    SIDE,
    STATION_ALONG,
    STATION_OUT,
    STATION_POINT,
    STATION_SIDE,
    STATION_T,
    SWEPT,
    PackedSections,
)
from ecorche.muscles.sections import ENDS, RIM, Sections
from ecorche.skin.influence import Influences
from ecorche.skin.layout import Points, write_group
from ecorche.skin.muscle_groups import group_by_muscles

Floats = npt.NDArray[np.float64]

BRIDGED = 0.4
"""Inwards δ saturates at this part of what it does outwards: taut skin and fat bridge a hollow."""
SATURATED = 1.5
"""From so many half-axes on, δ is one half-axis."""

_LOWEST, _HIGHEST = np.float32(-ENDS), np.float32(1.0 + ENDS)
_FIRST, _LAST, _PARABOLA = np.float32(ENDS), np.float32(1.0 - ENDS), np.float32(0.25 / ENDS)
_BEYOND_RIM, _OVER_RIM, _ROOT_RIM = np.float32(3.0 * RIM), np.float32(0.25 / RIM), np.float32(np.sqrt(RIM))
_BRIDGED, _SOONER = np.float32(BRIDGED), np.float32(1.0 / BRIDGED)
_ZERO, _ONE, _THIRD = np.float32(0.0), np.float32(1.0), np.float32(1.0 / 3.0)

# the lanes a row keeps: w² gain / Σ w times the saturated δ, one over it, L_fat, place between stations, σ,
# κ, and what κ leaves of the bind: t (1 − κ), a (1 − κ)
_PUSH, _OVER, _REST, _PLACE, _SIGMA, _FOLLOW, _STAY_T, _STAY_A, _KEPT = 0, 1, 2, 3, 4, 5, 6, 7, 8


class SlidingSkin:
    """The displacement of one skin by its muscles, ready to be applied frame after frame.

    Args:
        points: Bind positions of the skin [m], shape (vertices, 3), float32.
        bind: The muscles at bind.
        influences: Which muscles move which vertices.
        gains: What each muscle's displacement is multiplied by, 0 or more, shape (M,); 1 without.
    """

    def __init__(
        self, points: Points, bind: Sections, influences: Influences, gains: npt.ArrayLike | None = None
    ) -> None:
        if int(influences.muscles.max(initial=-1)) >= len(bind):
            raise EcorcheError(
                f"the influences name muscle {int(influences.muscles.max())}, but there are {len(bind)}",
                remedy="Use the muscles that the influences were found with",
            )
        self._vertex_count = influences.vertex_count
        self._lines = bind.line_rows
        self._line_count = int(self._lines.max(initial=-1)) + 1
        groups = group_by_muscles(influences, len(bind))
        self._vertices, self._starts, self._muscles = groups.vertices, groups.starts, groups.muscles
        own = groups.entries >= 0

        def lanes(values: npt.NDArray[np.float32]) -> Floats:
            return np.where(own, np.append(values, np.float32(0.0))[groups.entries], 0.0)

        bent = self._lines[groups.muscles] >= 0
        self._spans = _station_spans(lanes(influences.place), own, bent)
        self._rows = rows_of_lanes((len(groups.muscles), _KEPT))
        # a lane without this muscle stands at the row's first station, and is moved by nothing
        self._rows[:, _PLACE] = np.where(own, lanes(influences.place), np.maximum(self._spans[:, :1], 0))
        self._rows[:, _SIGMA] = lanes(influences.side)
        self._rows[:, _FOLLOW] = lanes(influences.follow)
        stays = 1.0 - influences.follow
        self._rows[:, _STAY_T], self._rows[:, _STAY_A] = (
            lanes(influences.t * stays),
            lanes(influences.a * stays),
        )
        self._run(bind, self._fitting(points).copy(), learn=True)
        limit = SATURATED * self._rows[:, _OVER]  # what the kernel leaves there when it learns
        share = _shares(influences) * _checked_gains(gains, len(bind))[influences.muscles]
        self._rows[:, _PUSH] = lanes(share.astype(np.float32)) * limit
        self._rows[:, _OVER] = 1.0 / limit

    @property
    def kept_bytes(self) -> int:
        """Memory the prepared layout takes; all of it is read once a frame."""
        kept = (self._vertices, self._starts, self._muscles, self._spans, self._rows)
        return sum(array.nbytes for array in kept)

    @property
    def stations_read(self) -> npt.NDArray[np.bool_]:
        """What of the muscles is read: their stations (M, STATIONS), of a straight muscle all or none."""
        read = np.zeros((len(self._lines), STATIONS), np.bool_)
        for muscle, (first, last) in zip(self._muscles, self._spans, strict=True):
            read[muscle, first : last + 1] = True
            if first < 0:
                read[muscle] = True
        return read

    def apply(self, posed: Sections | PackedSections, points: Points, out: Points | None = None) -> Points:
        """Skinned positions after the muscles below have moved them [m], shape (vertices, 3).

        Args:
            posed: The muscles in this frame; packed, at least with the `stations_read`.
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

    def _run(self, posed: Sections | PackedSections, points: Points, *, learn: bool) -> None:
        if isinstance(posed, Sections):
            line_rows, (table, lines) = posed.line_rows, posed.packed
            bent_alike = line_rows is self._lines or np.array_equal(line_rows, self._lines)
        else:
            table, lines = posed
            bent_alike = len(lines) == self._line_count
        if len(table) != len(self._lines):
            raise EcorcheError(
                f"{len(table)} muscles move a skin that was bound to {len(self._lines)}",
                remedy="Give all muscles of the bind, in its order",
            )
        if not bent_alike:
            raise EcorcheError(
                "muscles that are bent at bind are straight in the pose, or the other way round",
                remedy="Give the same muscles, with the same via points",
            )
        slide = _slide_shared if worth_sharing(len(self._vertices)) else _slide_alone
        slide(
            self._vertices,
            self._starts,
            self._muscles,
            self._spans,
            self._rows,
            self._lines,
            table,
            lines,
            points,
            learn,
        )


def _shares(influences: Influences) -> Floats:
    """``w² / Σ w`` of each entry, shape (entries,)."""
    vertices, weights = influences.vertices(), influences.weights.astype(np.float64)
    shares: Floats = weights**2 / np.bincount(vertices, weights, influences.vertex_count)[vertices]
    return shares


def _checked_gains(gains: npt.ArrayLike | None, count: int) -> Floats:
    values = np.ones(count) if gains is None else np.asarray(gains, np.float64)
    if values.shape != (count,):
        raise EcorcheError(f"{count} muscles have gains of shape {values.shape}", remedy="Give one each")
    bad = ~((values >= 0.0) & (values < np.inf))
    if bad.any():
        muscle = int(np.argmax(bad))
        raise EcorcheError(
            f"the gain of muscle {muscle} is {values[muscle]}", remedy="Give 0 or more; 1 changes nothing"
        )
    return values


def _station_spans(
    place: Floats, own: npt.NDArray[np.bool_], bent: npt.NDArray[np.bool_]
) -> npt.NDArray[np.int32]:
    """First station interval of each row's vertices and the one after the last, (rows, 2); −1 if straight."""
    first = np.where(own, place, np.inf).min(axis=1)
    last = np.where(own, place, -np.inf).max(axis=1)
    low = np.clip(np.floor(np.where(bent, first, 0.0)), 0, STATIONS - 2)
    high = np.maximum(np.ceil(np.where(bent, last, 0.0)), low + 1)
    return np.where(bent[:, None], np.stack([low, high], axis=1), -1).astype(np.int32)


@njit(inline="always")  # type: ignore[untyped-decorator]
def _least(a: Any, b: Any) -> Any:
    return where_less(a, b, a, b)


@njit(inline="always")  # type: ignore[untyped-decorator]
def _most(a: Any, b: Any) -> Any:
    return where_less(b, a, a, b)


@njit(inline="always")  # type: ignore[untyped-decorator]
def _dot(table: Points, row: int, at: int, x: Any, y: Any, z: Any) -> Any:
    """The product of lanes of vectors with one vector of a row."""
    # number by number, here and below: a view of the row would be counted, which costs more than the product
    so_far = z * broadcast(table[row, at + 2])
    return multiply_add(x, broadcast(table[row, at]), multiply_add(y, broadcast(table[row, at + 1]), so_far))


@njit(inline="always")  # type: ignore[untyped-decorator]
def _soft_clamp(t: Any) -> Any:
    """`sections.soft_clamp`: t held within 0 … 1, with a parabola at either end."""
    t = _least(_most(t, broadcast(_LOWEST)), broadcast(_HIGHEST))
    before, after = _most(_FIRST - t, broadcast(_ZERO)), _most(t - _LAST, broadcast(_ZERO))
    return multiply_add(before * before - after * after, broadcast(_PARABOLA), t)


@njit(inline="always")  # type: ignore[untyped-decorator]
def _curve(table: Points, row: int, at: int, m: Any, p: Any) -> Any:
    """One of the curves of `Sections.curves`, m below and p above the belly."""
    below = multiply_add(
        m,
        multiply_add(m, broadcast(table[row, at + 3]), broadcast(table[row, at + 2])),
        broadcast(table[row, at + 1]),
    )
    above = multiply_add(
        p,
        multiply_add(p, broadcast(table[row, at + 6]), broadcast(table[row, at + 5])),
        broadcast(table[row, at + 4]),
    )
    return multiply_add(m, below, multiply_add(p, above, broadcast(table[row, at])))


@njit(inline="always")  # type: ignore[untyped-decorator]
def _near(place: Any, station: int) -> Any:
    """The share of one station in places: 1 at the station, falling to 0 at the next on either side."""
    nearness = _least(place - np.float32(station - 1), np.float32(station + 1) - place)
    return _most(nearness, broadcast(_ZERO))


@njit(inline="always")  # type: ignore[untyped-decorator]
def _bent_place(
    lines: Points, line: int, over: Any, first: int, last: int, place: Any, x: Any, y: Any, z: Any
) -> Any:
    """`CentreLines.places` of sixteen points: t, v and a before the sweep, what a² is short by, and S_d."""
    k = first
    w = _near(place, k)
    foot_x = w * lines[line, k, STATION_POINT]
    foot_y = w * lines[line, k, STATION_POINT + 1]
    foot_z = w * lines[line, k, STATION_POINT + 2]
    along_x = w * lines[line, k, STATION_ALONG]
    along_y = w * lines[line, k, STATION_ALONG + 1]
    along_z = w * lines[line, k, STATION_ALONG + 2]
    out_x = w * lines[line, k, STATION_OUT]
    out_y = w * lines[line, k, STATION_OUT + 1]
    out_z = w * lines[line, k, STATION_OUT + 2]
    side_x = w * lines[line, k, STATION_SIDE]
    side_y = w * lines[line, k, STATION_SIDE + 1]
    side_z = w * lines[line, k, STATION_SIDE + 2]
    t = w * lines[line, k, STATION_T]
    for k in range(first + 1, last + 1):
        w = _near(place, k)
        foot_x = multiply_add(w, broadcast(lines[line, k, STATION_POINT]), foot_x)
        foot_y = multiply_add(w, broadcast(lines[line, k, STATION_POINT + 1]), foot_y)
        foot_z = multiply_add(w, broadcast(lines[line, k, STATION_POINT + 2]), foot_z)
        along_x = multiply_add(w, broadcast(lines[line, k, STATION_ALONG]), along_x)
        along_y = multiply_add(w, broadcast(lines[line, k, STATION_ALONG + 1]), along_y)
        along_z = multiply_add(w, broadcast(lines[line, k, STATION_ALONG + 2]), along_z)
        out_x = multiply_add(w, broadcast(lines[line, k, STATION_OUT]), out_x)
        out_y = multiply_add(w, broadcast(lines[line, k, STATION_OUT + 1]), out_y)
        out_z = multiply_add(w, broadcast(lines[line, k, STATION_OUT + 2]), out_z)
        side_x = multiply_add(w, broadcast(lines[line, k, STATION_SIDE]), side_x)
        side_y = multiply_add(w, broadcast(lines[line, k, STATION_SIDE + 1]), side_y)
        side_z = multiply_add(w, broadcast(lines[line, k, STATION_SIDE + 2]), side_z)
        t = multiply_add(w, broadcast(lines[line, k, STATION_T]), t)
    x, y, z = x - foot_x, y - foot_y, z - foot_z
    slid = multiply_add(x, along_x, multiply_add(y, along_y, z * along_z))
    t = multiply_add(slid, broadcast(over), t)
    # never zero: between opposite directions a lane must stay a number
    tiny = broadcast(np.float32(1e-6))
    long_out = multiply_add(out_x, out_x, multiply_add(out_y, out_y, out_z * out_z))
    long_side = multiply_add(side_x, side_x, multiply_add(side_y, side_y, side_z * side_z))
    shorten = broadcast(_ONE) / square_root(_most(long_out, tiny))
    out_x, out_y, out_z = out_x * shorten, out_y * shorten, out_z * shorten
    v = multiply_add(x, out_x, multiply_add(y, out_y, z * out_z))
    a = multiply_add(x, side_x, multiply_add(y, side_y, z * side_z))
    return t, v, a, _most(long_side, tiny), out_x, out_y, out_z


@njit(inline="always")  # type: ignore[untyped-decorator]
def _slide_group(
    group: int,
    vertices: npt.NDArray[np.int32],
    starts: npt.NDArray[np.int64],
    muscles: npt.NDArray[np.int32],
    spans: npt.NDArray[np.int32],
    rows: Points,
    line_rows: npt.NDArray[np.int32],
    table: Points,
    lines: Points,
    points: Points,
    learn: bool,
) -> None:
    x, y, z = gather_points(points, vertices, group)
    zero, one = broadcast(_ZERO), broadcast(_ONE)
    sum_x, sum_y, sum_z = broadcast(_ZERO), broadcast(_ZERO), broadcast(_ZERO)
    for row in range(starts[group], starts[group + 1]):
        muscle = muscles[row]
        kept = _KEPT * row
        if spans[row, 0] >= 0:
            t, v, a, long_side, out_x, out_y, out_z = _bent_place(
                lines,
                line_rows[muscle],
                table[muscle, OVER],
                spans[row, 0],
                spans[row, 1],
                load(rows, kept + _PLACE),
                x,
                y,
                z,
            )
        else:
            from_x, from_y, from_z = (
                x - table[muscle, ORIGIN],
                y - table[muscle, ORIGIN + 1],
                z - table[muscle, ORIGIN + 2],
            )
            t = _dot(table, muscle, ALONG, from_x, from_y, from_z)
            v = _dot(table, muscle, OUT, from_x, from_y, from_z)
            a = _dot(table, muscle, SIDE, from_x, from_y, from_z)
            out_x, out_y, out_z = (
                broadcast(table[muscle, OUT]),
                broadcast(table[muscle, OUT + 1]),
                broadcast(table[muscle, OUT + 2]),
            )
            long_side = one
        follow = load(rows, kept + _FOLLOW)
        t = multiply_add(t, follow, load(rows, kept + _STAY_T))
        d = _soft_clamp(t) - table[muscle, BELLY]
        m, p = _least(d, zero), _most(d, zero)
        thickness = _most(_curve(table, muscle, CURVES, m, p), broadcast(np.float32(1e-12)))
        # most muscles sweep outwards only, and subtracting zero changes no bit
        if table[muscle, SWEPT] > 0.5:
            v = v - _curve(table, muscle, CURVES + 7, m, p)
        if table[muscle, SWEPT] > 1.5:
            # a is short by the blended side's length, and the sweep with it
            a = a - _curve(table, muscle, CURVES + 14, m, p) * square_root(long_side)
        # a is short by the blended side's length, its part of the bind is not
        a = (
            multiply_add(a, follow, load(rows, kept + _STAY_A) * square_root(long_side))
            * table[muscle, BULGE]
        )
        inside = one - a * a / (thickness * thickness * long_side)
        s = _most(inside + _BEYOND_RIM, zero) * _OVER_RIM
        root = where_less(s, one, s * s * _ROOT_RIM, square_root(_most(inside, zero)))
        # minus σ b − v, and its difference from bind
        apart = v * follow - load(rows, kept + _SIGMA) * (thickness * table[muscle, HEIGHT] * root)
        if learn:
            store(rows, kept + _REST, apart)
            store(rows, kept + _OVER, thickness * table[muscle, HEIGHT])
        else:
            off = (apart - load(rows, kept + _REST)) * load(rows, kept + _OVER)
            # outwards, which is negative here, up to the limit; inwards skin bridges a hollow sooner
            off = where_less(off, zero, _most(off, broadcast(-_ONE)), _least(off * _SOONER, one))
            cubic = off - off * off * off * _THIRD
            minus = load(rows, kept + _PUSH) * where_less(off, zero, cubic, cubic * _BRIDGED)
            sum_x = multiply_add(minus, out_x, sum_x)
            sum_y = multiply_add(minus, out_y, sum_y)
            sum_z = multiply_add(minus, out_z, sum_z)
    if not learn:
        # subtracted, so that a coordinate that is minus zero keeps its sign at bind
        write_group(points, vertices, group, x - sum_x, y - sum_y, z - sum_z)


@njit(cache=True)  # type: ignore[untyped-decorator]
def _slide_alone(
    vertices: npt.NDArray[np.int32],
    starts: npt.NDArray[np.int64],
    muscles: npt.NDArray[np.int32],
    spans: npt.NDArray[np.int32],
    rows: Points,
    line_rows: npt.NDArray[np.int32],
    table: Points,
    lines: Points,
    points: Points,
    learn: bool,
) -> None:
    for group in range(len(vertices)):
        _slide_group(group, vertices, starts, muscles, spans, rows, line_rows, table, lines, points, learn)


@njit(parallel=True, cache=True)  # type: ignore[untyped-decorator]
def _slide_shared(
    vertices: npt.NDArray[np.int32],
    starts: npt.NDArray[np.int64],
    muscles: npt.NDArray[np.int32],
    spans: npt.NDArray[np.int32],
    rows: Points,
    line_rows: npt.NDArray[np.int32],
    table: Points,
    lines: Points,
    points: Points,
    learn: bool,
) -> None:
    for group in prange(len(vertices)):
        _slide_group(group, vertices, starts, muscles, spans, rows, line_rows, table, lines, points, learn)
