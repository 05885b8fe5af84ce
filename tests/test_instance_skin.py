"""Skin of sixteen instances at once: shared among any number of threads it is the same, and shared evenly."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ecorche.skin.instance_skin import ENTRY_WORK, TILE, skin_instances, tile_work
from played_people import instances


def test_any_number_of_parts_writes_every_vertex(data: Path) -> None:
    evaluator, moved, active = instances(data / "human" / "male_muscular_cmu_mb.glb", False)
    shape = (len(moved), len(evaluator.program.points), 3)
    points = np.full(shape, np.nan, np.float32)
    evaluator.apply(moved, active, points=points)
    spindles, joints = evaluator._spindles, evaluator._joints
    assert spindles is not None
    count = min(16, len(moved))
    evaluator._pose(moved[:count], active[:count], np.ones_like(active[:count]))
    joints.pose(moved[:count], active[:count, :0], active[:count, :0], np.ones(count, np.bool_))
    for parts in (1, 2, 3, 7, 64, 1000):
        out = np.full((count, shape[1] * 3), np.nan, np.float32)
        skin_instances(
            evaluator._skin,
            joints.minus,
            spindles.table[0],
            spindles.stations[0],
            spindles.shown,
            evaluator._at,
            evaluator._deltas,
            out,
            parts,
        )
        assert out.tobytes() == points[:count].tobytes(), parts


def test_parts_are_even_where_muscles_lie_together() -> None:
    """A thousand vertices without muscles, then a thousand with three each."""
    starts = np.concatenate([np.zeros(1000), 3 * np.arange(1001)]).astype(np.int32)
    plain, full = tile_work(starts)
    assert plain.tolist() == [*range(0, 2000, TILE), 2000]
    assert full[-1] == 2000 + ENTRY_WORK * 3000
    half = np.searchsorted(full, full[-1] / 2)
    heaviest = np.diff(full).max()
    assert abs(full[half] - full[-1] / 2) <= heaviest
    assert half > len(plain) // 2
