"""Muscles that skin slides over, of up to sixteen instances, side by side, as the skin reads them.

Each instance is posed as one alone is, and then they are laid side by side. Where some muscles are shown in
none of them, fewer are posed: those that lift the skin most first, all, half of them, a quarter, and so on,
as many as it takes.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit, prange

from ecorche.base.lane_transpose import transpose
from ecorche.base.lanes import WIDTH, rows_of_lanes
from ecorche.body.muscles import BodyMuscles
from ecorche.muscles.packed_sections import COLUMNS, STATION_COLUMNS, SWEPT
from ecorche.muscles.posing import PosedTables, pose, posing_memory
from ecorche.muscles.posing_plan import PosingPlan
from ecorche.skin.instance_skin import GAIN
from ecorche.skin.sliding import SlidingEntries

Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Points = npt.NDArray[np.float32]

FEWEST = 8
"""Below so many muscles nothing is saved by posing fewer."""


class InstanceSpindles:
    """Memory for such muscles of sixteen instances of a character.

    Args:
        muscles: The muscles, joined to the character.
        lift: How far each can lift the skin [m], (M,): see `budget`.

    Attributes:
        table: Muscles in the columns of `packed_sections` and `GAIN`, (muscles · COLUMNS, 16).
        stations: The stations that are read, (stations · STATION_COLUMNS, 16).
        swept: Whether each muscle sweeps outwards (1) or sideways too (2), (M,).
        shown: Whether any instance shows each muscle, (M,).
    """

    def __init__(self, muscles: BodyMuscles, lift: Floats) -> None:
        read = muscles.sliding.stations_read
        self._rank = np.argsort(np.argsort(-lift, kind="stable"))
        self._plans: list[tuple[int, PosingPlan, Ints]] = []
        most, whole = len(lift), muscles.musculature.plan(read)
        lines = read[whole.line_rows >= 0]
        self._dense = np.full(lines.shape, -1, np.int32)
        self._dense[lines] = np.arange(lines.sum())
        while most >= FEWEST or not self._plans:
            of_these = read & (self._rank < most)[:, None]
            of_lines = of_these[whole.line_rows >= 0]
            plan = whole if most == len(lift) else muscles.musculature.plan(of_these)
            self._plans.append((most, plan, np.flatnonzero(of_lines).astype(np.int64)))
            most //= 2
        self._largest, self.swept = muscles.largest_bulge, whole.rows[:, SWEPT].copy()
        self._tables = PosedTables._make(
            np.stack([part] * WIDTH) for part in posing_memory(whole, exact=False)
        )
        self.table = rows_of_lanes((len(lift) * COLUMNS,))
        self.stations = rows_of_lanes((max(int(lines.sum()), 1) * STATION_COLUMNS,))
        self.shown = np.ones(len(lift), np.bool_)

    @property
    def kept_bytes(self) -> int:
        """Memory of it."""
        return sum(array.nbytes for array in (*self._tables, self.table, self.stations))

    def stations_of(self, entries: SlidingEntries) -> npt.NDArray[np.int32]:
        """The first of the two stations of each entry, counted through those that are read, −1 for none."""
        first = self._dense[entries.lines, entries.stations] if self._dense.size else entries.lines
        return np.where(entries.lines >= 0, first, -1).astype(np.int32)

    def pose(self, moved: Floats, active: Floats, gain: Floats, fine: Bools) -> None:
        """Pose them: see `InstanceJoints.pose`; of these muscles, (instances, M)."""
        self.shown[:] = gain.any(axis=0)
        if not self.shown.any():
            return
        needed = int(self._rank[self.shown].max()) + 1
        plan, read = next((plan, read) for most, plan, read in reversed(self._plans) if most >= needed)
        _pose(plan, self._largest, moved, active, self._tables, fine)
        tables = self._tables
        _lay(
            plan.muscles,
            read,
            self._dense.ravel(),
            tables.table,
            tables.lines,
            gain,
            self.table,
            self.stations,
        )


@njit(parallel=True, cache=True)  # type: ignore[untyped-decorator]
def _pose(
    plan: PosingPlan, largest: Floats, moved: Floats, activation: Floats, tables: PosedTables, fine: Bools
) -> None:
    for lane in prange(len(moved)):
        bulge = np.empty(len(largest))
        for muscle in range(len(largest)):
            active = activation[lane, muscle]
            if not (active >= 0.0 and active <= 1.0):
                fine[lane] = False
            bulge[muscle] = 1.0 + active * (largest[muscle] - 1.0)
        own = PosedTables(
            tables.moved[lane],
            tables.turn[lane],
            tables.nodes[lane],
            tables.overs[lane],
            tables.places[lane],
            tables.numbers[lane],
            tables.stations[lane],
            tables.table[lane],
            tables.lines[lane],
        )
        if not pose(plan, moved[lane], bulge, own):
            fine[lane] = False


@njit(parallel=True, cache=True)  # type: ignore[untyped-decorator]
def _lay(
    muscles: npt.NDArray[np.uint32],
    read: Ints,
    dense: npt.NDArray[np.int32],
    table: Points,
    lines: Points,
    gain: Floats,
    table_lanes: Points,
    station_lanes: Points,
) -> None:
    """Posed muscles of all instances (16, …) side by side (…, 16)."""
    apart, lines_apart = table[0].size, lines[0].size
    for number in prange(len(muscles)):
        at = COLUMNS * np.int64(muscles[number])
        for part in range(0, COLUMNS, WIDTH):
            transpose(table, at + part, apart, table_lanes, WIDTH * (at + part), WIDTH, WIDTH)
        for lane in range(len(gain)):
            table_lanes[at + GAIN, lane] = gain[lane, np.int64(muscles[number])]
    for number in prange(len(read)):
        to = WIDTH * STATION_COLUMNS * np.int64(dense[read[number]])
        transpose(lines, STATION_COLUMNS * read[number], lines_apart, station_lanes, to, WIDTH, WIDTH)
