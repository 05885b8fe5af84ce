"""Muscles that skin slides over, of instances side by side by sixteens, as the skin reads them.

Every thread poses sixteen instances. Where some muscles are shown in none of them, fewer are posed: those
that lift the skin most first, all, half of them, a quarter, and so on, as many as it takes.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import get_num_threads, njit, prange

from ecorche.base.lanes import WIDTH, rows_of_lanes
from ecorche.body.muscles import BodyMuscles
from ecorche.muscles.instance_posing import EightPosed, eight_memory, pose_instances
from ecorche.muscles.packed_sections import COLUMNS, STATION_COLUMNS, SWEPT
from ecorche.muscles.posing_plan import PosingPlan
from ecorche.skin.instance_skin import GAIN
from ecorche.skin.sliding import SlidingEntries

Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
Points = npt.NDArray[np.float32]

MOST = 8
"""So many threads pose at once at most: each has memory of its own."""
FEWEST = 8
"""Below so many muscles nothing is saved by posing fewer."""


class InstanceSpindles:
    """Memory for such muscles of some instances of a character.

    Args:
        muscles: The muscles, joined to the character.
        lift: How far each can lift the skin [m], (M,): see `budget`.

    Attributes:
        table: Muscles in the columns of `packed_sections` and `GAIN`, (sixteens, muscles · COLUMNS, 16).
        stations: The stations that are read, (sixteens, stations · STATION_COLUMNS, 16).
        swept: Whether each muscle sweeps outwards (1) or sideways too (2), (M,).
        shown: Whether any instance shows each muscle, (M,).
    """

    def __init__(self, muscles: BodyMuscles, lift: Floats) -> None:
        read = muscles.sliding.stations_read
        self._rank = np.argsort(np.argsort(-lift, kind="stable"))
        self._plans: list[tuple[int, PosingPlan]] = []
        most, whole = len(lift), muscles.musculature.plan(read)
        lines = read[whole.line_rows >= 0]
        self._dense = np.full(lines.shape, -1, np.int32)
        self._dense[lines] = np.arange(lines.sum())
        self._rows = self._dense.ravel()
        while most >= FEWEST or not self._plans:
            of_these = read & (self._rank < most)[:, None]
            plan = whole if most == len(lift) else muscles.musculature.plan(of_these)
            self._plans.append((most, plan))
            most //= 2
        self._largest, self.swept = muscles.largest_bulge, whole.rows[:, SWEPT].copy()
        sixteens = min(get_num_threads(), MOST)
        self._memory = EightPosed._make(np.stack([part] * sixteens) for part in eight_memory(whole))
        self._bulge = np.empty((sixteens * WIDTH, len(lift)))
        self.table = rows_of_lanes((sixteens, len(lift) * COLUMNS))
        self.table[...] = whole.rows.reshape(-1, 1)
        self.stations = rows_of_lanes((sixteens, max(int(lines.sum()), 1) * STATION_COLUMNS))
        self.shown = np.ones(len(lift), np.bool_)

    @property
    def most(self) -> int:
        """So many instances are posed at once."""
        return len(self._bulge)

    @property
    def kept_bytes(self) -> int:
        """Memory of it."""
        return sum(array.nbytes for array in (*self._memory, self._bulge, self.table, self.stations))

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
        plan = next(plan for most, plan in reversed(self._plans) if most >= needed)
        _pose(
            plan,
            moved,
            active,
            gain,
            self._largest,
            self._rows,
            self._bulge,
            self._memory,
            self.table,
            self.stations,
            fine,
        )


@njit(parallel=True, cache=True)  # type: ignore[untyped-decorator]
def _pose(
    plan: PosingPlan,
    moved: Floats,
    active: Floats,
    gain: Floats,
    largest: Floats,
    station_rows: npt.NDArray[np.int32],
    bulge: Floats,
    memory: EightPosed,
    table: Points,
    stations: Points,
    fine: Bools,
) -> None:
    """See `pose_instances`: sixteen instances a thread."""
    for sixteen in prange(-(-len(moved) // WIDTH)):
        first, last = WIDTH * sixteen, min(WIDTH * sixteen + WIDTH, len(moved))
        own = EightPosed(
            memory.own_moved[sixteen],
            memory.own_turn[sixteen],
            memory.moved[sixteen],
            memory.turn[sixteen],
            memory.nodes[sixteen],
            memory.overs[sixteen],
            memory.fine[sixteen],
        )
        for instance in range(first, last):
            for muscle in range(len(largest)):
                activation = active[instance, muscle]
                # what is no number is no activation either
                if not (activation >= 0.0 and activation <= 1.0):
                    fine[instance] = False
                bulge[instance, muscle] = 1.0 + activation * (largest[muscle] - 1.0)
                table[sixteen, COLUMNS * muscle + GAIN, instance - first] = gain[instance, muscle]
        pose_instances(
            plan,
            moved[first:last],
            bulge[first:last],
            station_rows,
            own,
            table[sixteen],
            stations[sixteen],
            fine[first:last],
        )
