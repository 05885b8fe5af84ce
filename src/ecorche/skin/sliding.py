"""Skin that slides over muscles: each vertex keeps its distance to the muscle below it.

Text 000, sections 4.2 and 4.3, as corrected in `docs/concepts/sliding.md`. With v and a the vertex's
coordinates in the section through it, b the height of the muscle's surface there and σ its side,
``δ = σ b + L_fat − v`` along S_d brings it to its bind distance; several muscles move it by
``Σ w² δ S_d / Σ w``. The coordinates are the *posed* vertex's, so skin is pushed out by the fibres that
are now below it and is never dragged along them. L_fat is what the very same kernel measured at bind:
the difference from bind is zero bit for bit where the muscles and the skin are those of the bind.

Three things are added. Of what v, a and t have changed since bind only the share κ counts (`influence`):
where skin and path do not follow the same joints, ``δ = σ (b − b_bind)`` at the bind place remains, the
change of the muscle's own height. On a coarse skin b is read nearer to the muscle's middle, by as much in
every pose. A muscle has a gain, by which its δ is multiplied. And δ saturates, before the gain: with
``l = s_f C_T`` at the bind t, the muscle's own half-axis there, δ becomes ``δ (1 − (δ/l)² 4/27)`` and from
``δ = 3/2 l`` on stays l; inwards the same with `BRIDGED` l, because taut skin and fat bridge the hollow
beside a tensed muscle, which is narrower than a slack one, and do not line it. The slope is continuous, 1 at
δ = 0 and 0 at the ends. So a path that leaves its limb, or a muscle edited beyond sense, moves no vertex by
more than the muscle is thick.

Over a bent muscle the section is that of the vertex's bind place between two stations of the posed centre
line (`CentreLines`), and S_d is that of the place.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import get_num_threads

from ecorche.base.lanes import EIGHT, WIDTH, rows_of_lanes
from ecorche.base.threads import worth_sharing
from ecorche.errors import EcorcheError, MeshError
from ecorche.muscles.centre_lines import STATIONS
from ecorche.muscles.packed_sections import PackedSections
from ecorche.muscles.sections import Sections
from ecorche.skin.influence import Influences
from ecorche.skin.layout import Points
from ecorche.skin.muscle_groups import group_by_muscles
from ecorche.skin.sliding_groups import (
    FIRST,
    FOLLOW,
    GROUPS_TOGETHER,
    KEPT,
    LAST,
    LIMIT,
    LINE,
    MINUS_SIGMA,
    PUSH,
    SHARES,
    STAY_A,
    STAY_T,
    SlidingLayout,
    slide_alone,
    slide_shared,
)

Floats = npt.NDArray[np.float64]

SATURATED = 1.5
"""From so many half-axes on, δ is one half-axis."""


class SlidingEntries(NamedTuple):
    """Muscles below the vertices of a skin, vertex by vertex: vertex i owns ``starts[i]`` to ``starts[i+1]``.

    Attributes:
        starts: Borders of the vertices' entries, (vertices + 1,).
        muscles: Rising within a vertex, (entries,).
        lines: The bent line of each, or −1 of a straight muscle, (entries,).
        stations: The first of the two stations it lies between, (entries,).
        shares: How much these two count, (entries, 2).
        kept: In the columns `PUSH` to `STAY_A` of `sliding_groups`, (entries, KEPT).
    """

    starts: npt.NDArray[np.int32]
    muscles: npt.NDArray[np.int32]
    lines: npt.NDArray[np.int32]
    stations: npt.NDArray[np.int32]
    shares: Points
    kept: Points


class SlidingSkin:
    """The displacement of one skin by its muscles, ready to be applied frame after frame.

    Args:
        points: Bind positions of the skin [m], shape (vertices, 3), float32.
        bind: The muscles at bind.
        influences: Which muscles move which vertices.
        gains: What each muscle's displacement is multiplied by, 0 or more, shape (M,); 1 without.

    Attributes:
        vertex_count: How many vertices the skin has.
        layout: What the kernels need and no frame changes.
    """

    def __init__(
        self, points: Points, bind: Sections, influences: Influences, gains: npt.ArrayLike | None = None
    ) -> None:
        if int(influences.muscles.max(initial=-1)) >= len(bind):
            raise EcorcheError(
                f"the influences name muscle {int(influences.muscles.max())}, but there are {len(bind)}",
                remedy="Use the muscles that the influences were found with",
            )
        self.vertex_count, self._influences = influences.vertex_count, influences
        self._lines = bind.line_rows
        self._line_count = int(self._lines.max(initial=-1)) + 1
        groups = group_by_muscles(influences, len(bind))
        own, self._entries = groups.entries >= 0, groups.entries

        def lanes(values: npt.NDArray[np.float32]) -> Floats:
            return np.where(own, np.append(values, np.float32(0.0))[groups.entries], 0.0)

        spans, near = _stations_near(lanes(influences.place), own, self._lines[groups.muscles])
        together = groups.starts[np.append(np.arange(0, len(groups.vertices), GROUPS_TOGETHER), -1)]
        self._rows = rows_of_lanes((len(groups.muscles), KEPT), EIGHT)
        self.layout = SlidingLayout(
            vertices=groups.vertices,
            starts=groups.starts,
            muscles=groups.muscles,
            spans=spans,
            near=near,
            rows=self._rows,
            most_rows=int(np.diff(together).max(initial=0)),
        )
        self._rows[:, MINUS_SIGMA] = lanes(-influences.side)
        self._rows[:, FOLLOW] = lanes(influences.follow)
        stays = 1.0 - influences.follow
        self._rows[:, STAY_T], self._rows[:, STAY_A] = (
            lanes(influences.t * stays),
            lanes(influences.read - influences.follow * influences.a),
        )
        self._run(bind, self._fitting(points).copy(), learn=True)
        limit = SATURATED * self._rows[:, LIMIT]  # what the kernel leaves there when it learns
        share = _shares(influences) * _checked_gains(gains, len(bind))[influences.muscles]
        self._rows[:, PUSH] = lanes(share.astype(np.float32)) * limit
        self._rows[:, LIMIT] = 1.0 / limit

    @property
    def is_shared(self) -> bool:
        """Whether the skin is so large that several threads displace it; skinning runs right before."""
        return worth_sharing(len(self.layout.vertices) * EIGHT // WIDTH, after=self.vertex_count // WIDTH)

    @property
    def kept_bytes(self) -> int:
        """Memory the prepared layout takes; all of it is read once a frame."""
        return sum(array.nbytes for array in self.layout if isinstance(array, np.ndarray))

    @property
    def stations_read(self) -> npt.NDArray[np.bool_]:
        """What of the muscles is read: their stations (M, STATIONS), of a straight muscle all or none."""
        read = np.zeros((len(self._lines), STATIONS), np.bool_)
        for muscle, span in zip(self.layout.muscles, self.layout.spans, strict=True):
            read[muscle, span[FIRST] : span[LAST] + 1] = True
            if span[LINE] < 0:
                read[muscle] = True
        return read

    def entries(self) -> SlidingEntries:
        """The same vertex by vertex, for programs that treat one at a time."""
        influences, layout = self._influences, self.layout
        # the last group repeats a vertex in its spare lanes: one row and lane of each entry will do
        row, lane = np.nonzero(self._entries >= 0)
        where = np.empty((len(influences.muscles), 2), np.int64)
        where[self._entries[row, lane]] = np.stack([row, lane], axis=1)
        row, lane = where.T
        span = layout.spans[row]
        bent = span[:, LINE] >= 0
        station = np.clip(np.floor(influences.place), 0, STATIONS - 2).astype(np.int64)
        station = np.where(bent, station, 0)
        share = np.zeros((len(row), 2), np.float32)
        first = (span[:, SHARES] + station - span[:, FIRST])[bent]
        for end in range(2):
            share[bent, end] = layout.near[first + end, lane[bent]]
        return SlidingEntries(
            starts=influences.starts,
            muscles=influences.muscles,
            lines=np.where(bent, span[:, LINE], -1).astype(np.int32),
            stations=station.astype(np.int32),
            shares=share,
            kept=layout.rows[row, :, lane],
        )

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
        if points.shape != (self.vertex_count, 3):
            raise MeshError(
                f"the points have shape {points.shape}", remedy=f"Give {self.vertex_count} points"
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
        if self.is_shared:
            slide_shared(self.layout, table, lines, points, learn, get_num_threads())
        else:
            slide_alone(self.layout, table, lines, points, learn)


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


def _stations_near(
    place: Floats, own: npt.NDArray[np.bool_], line: npt.NDArray[np.int32]
) -> tuple[npt.NDArray[np.int32], Points]:
    """Which stations of a bent muscle matter to the vertices of each row, and how much.

    The spans (rows, SPAN) are the row's bent line, or −1 over a straight muscle, the first and the last
    station, and where the row begins in the second array (stations, 8): the share of each station in each
    lane's place, 1 at the station and 0 from its neighbours on. A lane without the row's muscle stands at
    the first station.
    """
    bent = line >= 0
    first = np.where(own, place, np.inf).min(axis=1)
    last = np.where(own, place, -np.inf).max(axis=1)
    low = np.clip(np.floor(np.where(bent, first, 0.0)), 0, STATIONS - 2).astype(np.int64)
    high = np.maximum(np.ceil(np.where(bent, last, 0.0)).astype(np.int64), low + 1)
    counts = np.where(bent, high - low + 1, 0)
    begins = np.cumsum(counts) - counts
    row = np.repeat(np.arange(len(place)), counts)
    station = low[row] + np.arange(len(row)) - begins[row]
    near = rows_of_lanes((len(row),), EIGHT)
    near[...] = np.maximum(1.0 - np.abs(np.where(own, place, low[:, None])[row] - station[:, None]), 0.0)
    return np.stack([line, low, high, begins], axis=1).astype(np.int32), near
