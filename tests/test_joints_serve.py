"""The serve of the results: Euler's twist jumps near its singularity, swing and twist stay calm."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from benchmarks.euler_versus_swing_twist import draw, measure


def test_the_jump_is_eulers_and_not_the_arms() -> None:
    found = measure()
    euler, ours = (np.abs(found.rate(angle)) for angle in (found.euler_twist, found.swing_twist))
    assert found.beyond == 0.0  # a human shoulder can do this
    assert euler.max() > 4.0 * found.arm_speed.max()
    assert ours.max() < found.arm_speed.max()
    # at the same moment Euler's flexion rises as steeply, while the arm itself does nothing special
    jump = int(np.argmax(euler))
    assert np.abs(found.rate(found.euler_flexion))[jump] > 0.5 * euler[jump]
    assert 5.0 < found.times[jump] < 7.0
    assert found.nearest_lock < 10.0
    assert found.nearest_opposite > 60.0


def test_the_figure_is_drawn(tmp_path: Path) -> None:
    picture = tmp_path / "serve.png"
    draw(measure(), picture)
    assert picture.read_bytes().startswith(b"\x89PNG")
