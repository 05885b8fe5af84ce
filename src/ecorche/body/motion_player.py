"""One body in one motion, for a person who looks: any moment at once, with muscles and without.

A moment between two frames lies between their poses as `resample` has it. A moment is shown by its pose
alone, so that one may go anywhere: what the skin's coupling filters in time is left unfiltered. At a frame
of a body without such a filter it is the frame a bake writes, bit for bit. What swings has a history and is
computed from the first frame on (`dynamic_frames`).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ecorche.body.compile import Body
from ecorche.body.evaluate import Pose, evaluate
from ecorche.body.frames import Frame
from ecorche.errors import MotionError
from ecorche.muscles.keyed_activation import KeyedActivation
from ecorche.muscles.keyed_curves import KeyedCurves
from ecorche.muscles.line_muscle import LineMuscle
from ecorche.muscles.lofted import LoftedMuscle
from ecorche.muscles.muscle import Muscle
from ecorche.skeleton.kinematics import difference_from_bind
from ecorche.skeleton.motion import Motion
from ecorche.skeleton.resample import resample

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class MotionPlayer:
    """A body, its joints over time, and how active its muscles are.

    Attributes:
        body: The body.
        motion: On its character's skeleton, as `perform` has retargeted it.
        curves: Activation of the muscles they name; all others are as active as the body's source says.
    """

    body: Body
    motion: Motion
    curves: KeyedCurves = field(default_factory=KeyedCurves)

    def __post_init__(self) -> None:
        if self.motion.skeleton is not self.body.character.skeleton:
            raise MotionError(
                f"motion {self.motion.name!r} is made for another skeleton",
                where=self.body.character.name,
                remedy="Load it again",
            )

    def __repr__(self) -> str:
        return f"MotionPlayer({self.motion!r}, {len(self.curves)} curves)"

    def with_body(self, body: Body) -> MotionPlayer:
        """The same motion with a body compiled of an edited rig."""
        player = replace(self, body=body)
        # an edited shape does not ask the motion again how active its muscle is
        if "source_activation" in self.__dict__ and _is_same(body.activation, self.body.activation):
            player.__dict__["source_activation"] = self.source_activation
        return player

    def with_curves(self, curves: KeyedCurves) -> MotionPlayer:
        """The same with other curves; those of muscles that are not there are refused."""
        player = replace(self, curves=curves)
        if "source_activation" in self.__dict__:
            player.__dict__["source_activation"] = self.source_activation
        _ = player.activation
        return player

    @property
    def begins(self) -> float:
        """Time of the first frame [s]."""
        return float(self.motion.times[0])

    @property
    def ends(self) -> float:
        """Time of the last frame [s]."""
        return float(self.motion.times[-1])

    def frame_at(self, time: float) -> int:
        """The frame at or before a time [s]; the first or the last beyond them."""
        near = 1e-6 / self.motion.rate
        return int(np.clip(np.searchsorted(self.motion.times, time + near, "right") - 1, 0, len(self) - 1))

    def __len__(self) -> int:
        return self.motion.frame_count

    @staticmethod
    def muscles_of(body: Body) -> tuple[Muscle | LoftedMuscle | LineMuscle, ...]:
        """All muscles of a body, in the order of activations."""
        return (
            *(() if body.muscles is None else body.muscles.musculature.muscles),
            *(() if body.lofts is None else body.lofts.lofts.muscles),
            *(() if body.lines is None else body.lines.designed),
        )

    @cached_property
    def muscles(self) -> tuple[Muscle | LoftedMuscle | LineMuscle, ...]:
        """All muscles, in the order of activations."""
        return self.muscles_of(self.body)

    @cached_property
    def source_activation(self) -> Floats | None:
        """Of all muscles in all frames without curves, (frames, muscles); None for a body without."""
        return None if self.body.activation is None else self.body.activation.over(self.motion)

    @cached_property
    def activation(self) -> Floats | None:
        """Of all muscles in all frames, (frames, muscles); None for a body without any."""
        source = self.source_activation
        if source is None or not len(self.curves):
            return source
        return KeyedActivation(self.muscles, self.curves.curves, _Known(source)).over(self.motion)

    def activation_at(self, time: float) -> Floats | None:
        """Of all muscles at a time [s], between two frames a straight way, (muscles,)."""
        if self.activation is None:
            return None
        first = self.frame_at(time)
        last = min(first + 1, len(self) - 1)
        before, after = self.motion.times[[first, last]]
        share = 0.0 if last == first else float(np.clip((time - before) / (after - before), 0.0, 1.0))
        now: Floats = self.activation[first]
        return now if share < 1e-6 else now + share * (self.activation[last] - now)

    def pose_at(self, time: float) -> Pose:
        """Joints, blend shapes and activation at a time [s]; the first or last frame's beyond them."""
        time = min(max(time, self.begins), self.ends)
        motion = resample(self.motion, times=[time])
        return Pose(
            local=motion.local[0],
            time=time,
            morph_weights={name: float(w[0]) for name, w in motion.morph_weights.items()},
            activation=self.activation_at(time),
        )

    def at(self, time: float) -> Frame:
        """The skin over its muscles at a time [s]."""
        return evaluate(self.body, self.pose_at(time))

    def plain_at(self, time: float) -> Frame:
        """The same by skinning alone."""
        return evaluate(self._plain, replace(self.pose_at(time), activation=None))

    @cached_property
    def _plain(self) -> Body:
        return self.body.without_muscles()

    def moved_at(self, time: float) -> Floats:
        """``M − I`` of the joints at a time [s], (joints, 4, 4)."""
        return difference_from_bind(self.motion.skeleton, self.pose_at(time).local)


def _is_same(one: Any, other: Any) -> bool:
    """Whether two things say the same, as far down as they consist of arrays and numbers."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        return np.array_equal(one, other)
    if hasattr(one, "__dict__"):
        mine, its = vars(one), vars(other)
        return mine.keys() == its.keys() and all(_is_same(mine[name], its[name]) for name in mine)
    return bool(one == other)


@dataclass(frozen=True, eq=False)
class _Known:
    """Activation that has been found already."""

    activation: Floats

    def over(self, motion: Motion) -> Floats:
        assert motion.frame_count == len(self.activation)
        return self.activation
