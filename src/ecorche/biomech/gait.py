"""When feet meet and leave the ground, by the force under them, and the walking cycle between.

A foot is down while the vertical force on it is above `DOWN`, a usual threshold for clean force plates; what
lasts less than `LEAST` is noise or a blow. A cycle goes from one heel strike of a foot to its next.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np

from ecorche.base.recordings import ForceRecording

DOWN = 20.0
"""Vertical force above which a foot is on the ground [N]."""
LEAST = 0.1
"""What a contact must last [s]."""


@dataclass(frozen=True)
class GaitEvent:
    """A foot that meets or leaves the ground.

    Attributes:
        time: [s].
        foot: The body the force acts on, or the name of the force where that is not said.
        kind: What happens.
    """

    time: float
    foot: str
    kind: Literal["heel strike", "toe off"]


@dataclass(frozen=True)
class GaitCycle:
    """From one heel strike of a foot to its next: times [s], and which foot."""

    start: float
    end: float
    foot: str


def gait_events(forces: Sequence[ForceRecording], threshold: float = DOWN) -> tuple[GaitEvent, ...]:
    """Heel strikes and toe offs in order of time; forces are +Y up.

    A foot that is down when the recording begins or ends has no event there. Several plates under one foot
    are one force.
    """
    found: list[GaitEvent] = []
    feet = list(dict.fromkeys(force.body or force.name for force in forces))
    for foot in feet:
        own = [force for force in forces if (force.body or force.name) == foot]
        times = own[0].times
        vertical = sum((np.interp(times, one.times, one.force[:, 1]) for one in own), np.zeros(len(times)))
        down = (vertical > threshold).astype(np.int8)
        edges = np.flatnonzero(np.diff(down)) + 1
        starts = [0, *edges.tolist(), len(times)]
        for begin, end in pairwise(starts):
            if not down[begin] or times[end - 1] - times[begin] < LEAST:
                continue
            if begin > 0:
                found.append(GaitEvent(float(times[begin]), foot, "heel strike"))
            if end < len(times):
                found.append(GaitEvent(float(times[end]), foot, "toe off"))
    return tuple(sorted(found, key=lambda event: event.time))


def gait_cycle(events: Sequence[GaitEvent], start: float, end: float) -> GaitCycle | None:
    """The first whole cycle between two times [s]; None where there is none."""
    cycles = [
        GaitCycle(first.time, second.time, first.foot)
        for number, first in enumerate(events)
        for second in events[number + 1 :]
        if first.foot == second.foot and first.kind == second.kind == "heel strike"
    ]
    inside = [one for one in cycles if one.start >= start - 1e-9 and one.end <= end + 1e-9]
    return min(inside, key=lambda one: (one.start, one.end), default=None)
