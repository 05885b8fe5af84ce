"""The skin of a crowd, frame by frame: members of one body type and level of detail together.

Memory is taken once, for as many members of each kind as any frame shows, and written anew every frame.
Seen by a camera, muscles that move skin by less than a pixel fade out (`MuscleBudget`), and members far away
are shown by coarser meshes (`DetailChoice`). Both depend on where members are alone, so a film is the same
whenever it is made. A budget of time depends on the machine: it is for what is shown live, not for files.
"""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecorche.body.budget import MuscleBudget, muscle_lift
from ecorche.body.crowd import Crowd
from ecorche.body.detail_choice import DetailChoice
from ecorche.body.evaluator import Evaluator
from ecorche.body.instance_evaluator import InstanceEvaluator
from ecorche.body.lod import Level
from ecorche.body.vertex_program import VertexProgram
from ecorche.errors import EcorcheError

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Points = npt.NDArray[np.float32]

MIDDLE = 0.55
"""How high above its place a member counts as being, as a share of its height."""


@dataclass(frozen=True, eq=False)
class Eye:
    """Who looks at a crowd.

    Attributes:
        place: Where the camera is [m], (3,).
        pixel: Angle of a pixel [rad].
    """

    place: Floats
    pixel: float


@dataclass(frozen=True, eq=False)
class Seen:
    """Members of one body type and level of detail in a frame.

    Attributes:
        body_type, level: Which.
        members: Their numbers, (n,).
        points: Their positions [m], (n, vertices, 3); good until the next frame.
        normals: Unit normals, (n, places, 3), likewise.
    """

    body_type: int
    level: int
    members: Ints
    points: Points
    normals: Points


class CrowdFrames:
    """Frames of a crowd, asked for in the order of time.

    Args:
        crowd: The crowd.
        levels: Coarser meshes, nearest first; members nearer than all are shown by the character's own.
        eye: Who looks; None shows every member whole, in all detail.
        fading: Whether muscles fade that move skin by less than a pixel of the eye.
        seconds: How long evaluating a frame may take, for what is shown live; None for files.
        evaluator_for: What evaluates so many instances of a vertex program at most.

    Attributes:
        taken: Seconds that evaluating the last frame took, poses included.
        shown: Share of the muscles that move skin at all that were there, wholly or in part, in the last
            frame.
    """

    def __init__(
        self,
        crowd: Crowd,
        *,
        levels: Sequence[Level] = (),
        eye: Eye | None = None,
        fading: bool = True,
        seconds: float | None = None,
        evaluator_for: Callable[[VertexProgram, int], InstanceEvaluator] | None = None,
    ) -> None:
        self.crowd, self.eye = crowd, eye
        self.levels = tuple(sorted(levels, key=lambda level: level.beyond))
        self._make = evaluator_for or (lambda program, _: Evaluator(program))
        self._evaluators: dict[tuple[int, int], InstanceEvaluator] = {}
        self._room: dict[tuple[int, int], tuple[Points, Points]] = {}
        height = float(np.ptp(crowd.programs[0].points[:, 1]))
        self._middle = np.array([0.0, MIDDLE * height, 0.0])
        # the nearest first: sixteen of them are evaluated side by side, and fade together
        self._members = [self._by_distance(crowd.of_type(kind)) for kind in range(len(crowd.programs))]
        self._budgets: list[MuscleBudget | None] = [
            None if eye is None or not fading else MuscleBudget(program, pixel=eye.pixel, seconds=seconds)
            for program in crowd.programs
        ]
        self._choices = [DetailChoice([level.beyond for level in self.levels]) for _ in crowd.programs]
        self._moving = [muscle_lift(program) > 0.0 for program in crowd.programs]
        self._before: float | None = None
        self.taken, self.shown = 0.0, 1.0

    def program(self, body_type: int, level: int) -> VertexProgram:
        """Of a body type in a level of detail."""
        if level == 0:
            return self.crowd.programs[body_type]
        return self.levels[level - 1].programs[body_type]

    def distance(self, members: Ints, time: float) -> Floats:
        """Of members from the eye at a time [m], (n,); zero where nobody looks."""
        if self.eye is None:
            return np.zeros(len(members))
        at = self.crowd.whereabouts(members, time) + self._middle
        return np.asarray(np.linalg.norm(at - self.eye.place, axis=1))

    def capacity(self, times: Floats) -> dict[tuple[int, int], int]:
        """How many members of each body type and level frames at these times show at most."""
        most: dict[tuple[int, int], int] = {}
        for kind, members in enumerate(self._members):
            choice = DetailChoice([level.beyond for level in self.levels])
            for time in times:
                levels, counts = np.unique(choice.step(self.distance(members, time)), return_counts=True)
                for level, count in zip(levels.tolist(), counts.tolist(), strict=True):
                    most[kind, level] = max(most.get((kind, level), 0), count)
        return most

    def frame(self, time: float) -> list[Seen]:
        """All members at a time [s]; its arrays are written anew.

        Where time goes back, as when a loop begins again, muscles and details are those of a first frame.
        """
        if not np.isfinite(time):
            raise EcorcheError(f"{time} is no time", where="crowd", remedy="Give seconds")
        if self._before is not None and time < self._before:
            for choice, budget in zip(self._choices, self._budgets, strict=True):
                choice.begin_anew()
                if budget is not None:
                    budget.begin_anew()
            self._before = None
        elapsed = 0.0 if self._before is None else time - self._before
        there, all_of_them, seen = 0, 0, []
        started = clock.perf_counter()
        everybody = np.arange(len(self.crowd))
        moved, active = self.crowd.difference(everybody, time), self.crowd.activation(everybody, time)
        for kind, members in enumerate(self._members):
            if not len(members):
                continue
            distance, budget = self.distance(members, time), self._budgets[kind]
            gain = None
            if budget is not None:
                gain = budget.step(distance, elapsed, None if self._before is None else self.taken)
                there += int(np.count_nonzero(gain[:, self._moving[kind]]))
                all_of_them += len(gain) * int(self._moving[kind].sum())
            level_of = self._choices[kind].step(distance)
            for level in np.unique(level_of).tolist():
                rows = np.flatnonzero(level_of == level)
                own = members[rows]
                of_level = None if gain is None or (gain[rows] == 1.0).all() else gain[rows]
                seen.append(self._evaluated(kind, level, own, moved[own], active[own], of_level))
        self.taken, self._before = clock.perf_counter() - started, time
        self.shown = there / all_of_them if all_of_them else 1.0
        return seen

    def _evaluated(
        self, kind: int, level: int, members: Ints, moved: Floats, active: Floats, gain: Floats | None
    ) -> Seen:
        points, normals = self._arrays(kind, level, len(members))
        evaluator = self._evaluators.get((kind, level))
        if evaluator is None:
            program = self.program(kind, level)
            evaluator = self._evaluators[kind, level] = self._make(program, len(self._members[kind]))
        evaluator.apply(moved, active, points=points, normals=normals, gain=gain)
        return Seen(kind, level, members, points, normals)

    def _arrays(self, kind: int, level: int, count: int) -> tuple[Points, Points]:
        """Room for so many members, kept for the next frame."""
        found = self._room.get((kind, level))
        if found is None or len(found[0]) < count:
            program = self.program(kind, level)
            found = (
                np.empty((count, len(program.points), 3), np.float32),
                np.empty((count, len(program.places.vertices), 3), np.float32),
            )
            self._room[kind, level] = found
        return found[0][:count], found[1][:count]

    def _by_distance(self, members: Ints) -> Ints:
        return members[np.argsort(self.distance(members, 0.0), kind="stable")]


def require_seconds(seconds: float) -> None:
    """Refuse a length of time that no picture is made of [s]."""
    if not 0.0 < seconds <= 3600.0:
        raise EcorcheError(f"{seconds:g} seconds are asked for", where="seconds", remedy="Give 0.05 to 3600")


def moments(seconds: float, rate: float) -> Floats:
    """The times of frames, so many a second, for so long [s]; one frame at least."""
    require_seconds(seconds)
    if not 1.0 <= rate <= 240.0:
        raise EcorcheError(f"{rate:g} frames a second are asked for", where="rate", remedy="Give 1 to 240")
    return np.arange(max(1, round(seconds * rate))) / rate
