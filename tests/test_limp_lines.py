"""An elastic line whose springs are longer than its way hangs limp, and is named."""

from __future__ import annotations

import numpy as np
import pytest

from ecorche.body.lines import BodyLines
from ecorche.muscles.line_muscle import ActionLine, Elastic, LineMuscle
from ecorche.muscles.line_musculature import LineMusculature
from ecorche.muscles.lines.admissible import BoundNode, CollisionNode
from ecorche.skeleton.motion import Motion
from ecorche.skeleton.skeleton import Skeleton
from line_muscles import spindle

SEGMENTS, LENGTH = 8, 0.2


def hanging(tendons: int) -> tuple[Skeleton, BodyLines]:
    """A muscle along z between two joints, so many of its segments at either end of tendon."""
    local = np.tile(np.eye(4), (2, 1, 1))
    local[1, 2, 3] = LENGTH
    skeleton = Skeleton(
        ("top", "end"), np.array([-1, 0], np.int32), local, local.copy(), np.full((2, 3), np.nan)
    )
    free = tuple(CollisionNode(k / SEGMENTS, np.zeros(3)) for k in range(1, SEGMENTS))
    line = ActionLine(
        (BoundNode(np.zeros(3), 0), *free, BoundNode(np.array([0.0, 0.0, LENGTH]), 1)),
        tuple(k < tendons or k >= SEGMENTS - tendons for k in range(SEGMENTS)),
    )
    muscle = LineMuscle("calf", *spindle(), (line,), path=Elastic())
    return skeleton, BodyLines((muscle,), LineMusculature(skeleton, [muscle], {}))


@pytest.mark.parametrize(("tendons", "limp"), [(1, False), (2, True)])
def test_long_tendons_hang_limp_where_short_ones_are_drawn(tendons: int, limp: bool) -> None:
    skeleton, lines = hanging(tendons)
    local = np.tile(skeleton.bind_local, (3, 1, 1, 1))
    local[1, 1, 2, 3], local[2, 1, 2, 3] = 0.7 * LENGTH, 0.42 * LENGTH
    notes = lines.over(Motion("shorter", skeleton, np.arange(3.0), local)).notes
    assert any("Line 'calf' hung limp in 1 of 3 frames" in note for note in notes) == limp
