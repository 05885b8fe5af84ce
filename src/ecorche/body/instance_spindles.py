"""Muscles that skin slides over, of up to sixteen instances, side by side, as the skin reads them.

Where some muscles are shown in none of them, fewer are posed: those that lift the skin most first, all, half
of them, a quarter, and so on, as many as it takes.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ecorche.base.lanes import WIDTH, rows_of_lanes
from ecorche.body.muscles import BodyMuscles
from ecorche.muscles.instance_posing import eight_memory, pose_instances
from ecorche.muscles.packed_sections import COLUMNS, STATION_COLUMNS, SWEPT
from ecorche.muscles.posing_plan import PosingPlan
from ecorche.skin.instance_skin import GAIN
from ecorche.skin.sliding import SlidingEntries

Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]

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
        self._plans: list[tuple[int, PosingPlan]] = []
        most, whole = len(lift), muscles.musculature.plan(read)
        lines = read[whole.line_rows >= 0]
        self._dense = np.full(lines.shape, -1, np.int32)
        self._dense[lines] = np.arange(lines.sum())
        while most >= FEWEST or not self._plans:
            of_these = read & (self._rank < most)[:, None]
            plan = whole if most == len(lift) else muscles.musculature.plan(of_these)
            self._plans.append((most, plan))
            most //= 2
        self._bulging, self.swept = muscles.largest_bulge - 1.0, whole.rows[:, SWEPT].copy()
        self._memory = eight_memory(whole)
        self._bulge = np.empty((WIDTH, len(lift)))
        self.table = rows_of_lanes((len(lift) * COLUMNS,))
        self.table[...] = whole.rows.reshape(-1, 1)
        self._gain = self.table.reshape(len(lift), COLUMNS, WIDTH)[:, GAIN]
        self.stations = rows_of_lanes((max(int(lines.sum()), 1) * STATION_COLUMNS,))
        self.shown = np.ones(len(lift), np.bool_)

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
        count = len(moved)
        active, bulge, fine = active[:, : len(self.shown)], self._bulge[:count], fine[:count]
        # what is no number is no activation either
        fine &= ((active >= 0.0) & (active <= 1.0)).all(axis=1)
        np.multiply(active, self._bulging, out=bulge)
        bulge += 1.0
        self._gain[:, :count] = gain.T
        rows = self._dense.ravel()
        pose_instances(plan, moved, bulge, rows, self._memory, self.table, self.stations, fine)
