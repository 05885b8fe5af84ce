"""One frame of a body: pose, skeleton, muscles, skin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ecorche.body.compile import Body, morphed_points, skinned_points
from ecorche.body.frames import Frame, Frames, PointSet
from ecorche.dynamics.setting import Dynamics
from ecorche.errors import MotionError
from ecorche.skeleton.kinematics import difference_from_bind
from ecorche.skeleton.motion import Motion

if TYPE_CHECKING:
    from ecorche.body.lines import LineMotion


@dataclass(frozen=True, eq=False)
class Pose:
    """Where the joints are at one moment.

    Attributes:
        local: ``parent_from_joint``, shape (joints, 4, 4).
        time: Seconds.
        morph_weights: Weight of each blend shape by ``"mesh/morph"``; others stay at rest.
        posed: Points of every mesh from a posed cache [m], which replace our skinning; or None.
        activation: Of each muscle, 0 to 1, shape (muscles,); None for muscles at rest.
    """

    local: npt.NDArray[np.float64]
    time: float = 0.0
    morph_weights: Mapping[str, float] = field(default_factory=dict)
    posed: tuple[PointSet, ...] | None = None
    activation: npt.NDArray[np.float64] | None = None


def evaluate(body: Body, pose: Pose) -> Frame:
    """The skin of a body in a pose."""
    moved = difference_from_bind(body.character.skeleton, pose.local)
    points = posed_points(body, pose, moved)
    return Frame(time=pose.time, points=points, normals=body.normals.apply(points))


def posed_points(body: Body, pose: Pose, moved: npt.NDArray[np.float64]) -> tuple[PointSet, ...]:
    """Points of every mesh after blend shapes, skinning and muscles, each (vertices, 3) [m]."""
    active, active_lofts, _ = body.activations(pose.activation)
    all_joints = moved if body.lofts is None else body.lofts.extended(moved, active_lofts)
    bare = (None,) * len(body.character.meshes)
    if pose.posed is not None:
        points, morphed = pose.posed, False
        if body.lofts is not None:
            # the cache's skinning is another: what muscle joints add to ours is added to it
            still = body.lofts.at_rest(moved)
            with_muscles, without = (skinned_points(body, joints, bare) for joints in (all_joints, still))
            points = tuple(p + (w - n) for p, w, n in zip(points, with_muscles, without, strict=True))
    else:
        shapes = tuple(morphed_points(mesh, pose.morph_weights) for mesh in body.character.meshes)
        points, morphed = skinned_points(body, all_joints, shapes), any(s is not None for s in shapes)
    if body.muscles is None:
        return points
    if not morphed:
        # a posed cache's points are its own
        return body.muscles.displaced(points, moved, active, in_place=pose.posed is None)
    # a blend shape moves skin over muscles without their doing: they act on the skin without it
    unmorphed = skinned_points(body, all_joints, bare)
    displaced = body.muscles.displaced(unmorphed, moved, active)
    return tuple(p + (d - b) for p, d, b in zip(points, displaced, unmorphed, strict=True))


class LiveFrames:
    """Frames of a body in motion, computed when asked for.

    Args:
        body: The compiled character.
        motion: Its joints over time, on the body's own skeleton.
        posed: A posed cache with as many frames, which replaces our skinning.
        activation: Of each muscle, (frames, muscles); None asks the body's own source about this motion.
        dynamics: Whether muscles on action lines swing after the bones.
        whole: The motion that this one is a part of, and the numbers of its first and last frame there: what
            has a history begins there; None where it is the whole.

    Attributes:
        activation: Of each muscle, shape (frames, muscles); None for a body without muscles.
    """

    def __init__(
        self,
        body: Body,
        motion: Motion,
        posed: Frames | None = None,
        activation: npt.NDArray[np.float64] | None = None,
        *,
        dynamics: Dynamics = Dynamics.OFF,
        whole: tuple[Motion, int, int] | None = None,
    ) -> None:
        if motion.skeleton is not body.character.skeleton:
            raise MotionError(
                f"motion {motion.name!r} is made for another skeleton",
                where=body.character.name,
                remedy="Retarget it to this character first",
            )
        if posed is not None and len(posed) != motion.frame_count:
            raise MotionError(
                f"the posed cache has {len(posed)} frames, motion {motion.name!r} has {motion.frame_count}",
                where=body.character.name,
                remedy="Use the motion that the cache was made with",
            )
        self.body, self.motion, self.posed = body, motion, posed
        self.times = motion.times
        if activation is None and body.activation is not None:
            activation = body.activation.over(motion)
        self.activation = activation
        self.dynamics, self._whole = dynamics, whole

    @cached_property
    def lines(self) -> LineMotion | None:
        """The muscles on action lines through the motion; None for a body without."""
        if self.body.lines is None:
            return None
        if self._whole is None:
            return self.body.lines.over(self.motion, self.dynamics)
        motion, first, last = self._whole
        return self.body.lines.over(motion, self.dynamics).part(first, last)

    @property
    def line_notes(self) -> tuple[str, ...]:
        """Lines that did not come to rest, a sentence each; none before anything has asked where they are."""
        lines: LineMotion | None = self.__dict__.get("lines")
        return () if lines is None else lines.notes

    def line_points(self, index: int) -> npt.NDArray[np.float64]:
        """Vertices of all muscles on action lines in a frame [m], (vertices, 3); none of a body without."""
        if self.lines is None:
            return np.zeros((0, 3))
        active = None if self.activation is None else self.activation[index]
        return self.lines.points(index, self.body.activations(active)[2])

    def __len__(self) -> int:
        return self.motion.frame_count

    def __getitem__(self, index: int) -> Frame:
        motion = self.motion
        return evaluate(
            self.body,
            Pose(
                local=motion.local[index],
                time=float(motion.times[index]),
                morph_weights={name: float(w[index]) for name, w in motion.morph_weights.items()},
                posed=None if self.posed is None else self.posed[index].points,
                activation=None if self.activation is None else self.activation[index],
            ),
        )
