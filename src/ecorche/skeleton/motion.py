"""A motion: the joints of one skeleton, and its blend-shape weights, over time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from ecorche.base.checks import require_finite
from ecorche.errors import MotionError
from ecorche.skeleton.skeleton import Skeleton, world_from_local

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Motion:
    """Local joint matrices at given times.

    Matrices, not angles: a bind pose copied from the skeleton is then exactly the bind pose.

    Attributes:
        name: The clip's name.
        skeleton: The skeleton it is made for.
        times: Seconds, strictly rising, shape (frames,).
        local: ``parent_from_joint``, shape (frames, joints, 4, 4).
        morph_weights: Weight of each blend shape over time, ``"mesh/morph"`` to (frames,).
    """

    name: str
    skeleton: Skeleton
    times: Floats
    local: Floats
    morph_weights: Mapping[str, Floats] = field(default_factory=dict)

    def __post_init__(self) -> None:
        where = f"motion {self.name!r}"
        if len(self.times) == 0:
            raise MotionError("it has no frames", where=where, remedy="Choose another motion")
        if self.local.shape != (len(self.times), self.skeleton.joint_count, 4, 4):
            raise MotionError(
                f"its matrices have shape {self.local.shape} for {len(self.times)} times and"
                f" {self.skeleton.joint_count} joints",
                where=where,
            )
        require_finite(self.times, "the time of frame", where, MotionError)
        require_finite(self.local, "a joint in frame", where, MotionError)
        if (np.diff(self.times) <= 0.0).any():
            raise MotionError(
                f"frame {int(np.argmax(np.diff(self.times) <= 0.0)) + 1} is not later than the one before",
                where=where,
                remedy="Give the times in rising order",
            )

    def __repr__(self) -> str:
        return f"Motion({self.name!r}, {self.frame_count} frames, {self.rate:.6g} a second)"

    @property
    def frame_count(self) -> int:
        """How many frames the motion has."""
        return len(self.times)

    @property
    def rate(self) -> float:
        """Mean frames per second; 24 for a single frame."""
        if len(self.times) < 2:
            return 24.0
        return (len(self.times) - 1) / float(self.times[-1] - self.times[0])

    def part(self, first: int, last: int) -> Motion:
        """Frames ``first`` to ``last``, both included, at their own times."""
        if not 0 <= first <= last < self.frame_count:
            raise MotionError(
                f"frames {first}-{last} were asked for, but it has frames 0-{self.frame_count - 1}",
                where=f"motion {self.name!r}",
                remedy="Choose frames within that range",
            )
        chosen = slice(first, last + 1)
        return replace(
            self,
            times=np.ascontiguousarray(self.times[chosen]),
            local=np.ascontiguousarray(self.local[chosen]),
            morph_weights={name: w[chosen] for name, w in self.morph_weights.items()},
        )

    def world(self) -> Floats:
        """``world_from_joint``, shape (frames, joints, 4, 4)."""
        return world_from_local(self.skeleton.parents, self.local)


def held(skeleton: Skeleton, local: Floats, name: str = "pose") -> Motion:
    """A motion of one frame that holds a pose of local matrices (joints, 4, 4)."""
    return Motion(name, skeleton, np.zeros(1), np.asarray(local, np.float64)[None])


def bind_pose(skeleton: Skeleton) -> Motion:
    """One frame in the bind pose, exactly."""
    return held(skeleton, skeleton.bind_local, "bind")


def rest_pose(skeleton: Skeleton) -> Motion:
    """One frame in the rest pose of the file's nodes."""
    return held(skeleton, skeleton.rest_local, "rest")
