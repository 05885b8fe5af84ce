"""Frames of a body in motion played some at once: to an evaluator a frame is one instance more."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ecorche.body.frames import Frame, PointSet
from ecorche.body.instance_evaluator import InstanceEvaluator, Points
from ecorche.body.live_frames import LiveFrames
from ecorche.errors import EcorcheError
from ecorche.skeleton.kinematics import difference_from_bind

TOGETHER = 16
"""Frames that are played at once."""


class PlayedFrames:
    """Frames as `LiveFrames` tells their poses, computed by an evaluator.

    Args:
        live: The poses.
        evaluator: Of the same body, with room for `TOGETHER` instances.

    Attributes:
        live: As given.
        evaluator: As given.
    """

    def __init__(self, live: LiveFrames, evaluator: InstanceEvaluator) -> None:
        where = live.body.character.source or live.body.character.name
        for name, weights in live.motion.morph_weights.items():
            if np.any(weights):
                raise EcorcheError(
                    f"the motion moves the blend shape {name!r}, which is not played from a payload",
                    where=where,
                    remedy="Bake it on the processor: --device cpu",
                )
        if live.posed is not None:
            raise EcorcheError(
                "its skin is a cache, not skinning",
                where=where,
                remedy="Bake it on the processor: --device cpu",
            )
        self.live, self.evaluator, self.times = live, evaluator, live.times
        program = evaluator.program
        shape = (TOGETHER, len(program.points), 3)
        self._points: Points = np.empty(shape, np.float32)
        self._normals: Points = np.empty((TOGETHER, len(program.places.vertices), 3), np.float32)
        self._first = -TOGETHER

    def __len__(self) -> int:
        return len(self.live)

    def __getitem__(self, index: int) -> Frame:
        if not 0 <= index - self._first < TOGETHER:
            self._play(index)
        row, program = index - self._first, self.evaluator.program
        points = tuple(self._points[row, a:b].copy() for a, b in pairwise(program.borders))
        shaded = [mesh.mesh.subdivision == "none" for mesh in program.body.character.meshes]
        normals: tuple[PointSet | None, ...] = tuple(
            self._normals[row, a:b].copy() if yes else None
            for yes, (a, b) in zip(shaded, pairwise(program.place_borders), strict=True)
        )
        return Frame(time=float(self.times[index]), points=points, normals=normals)

    def _play(self, first: int) -> None:
        live, last = self.live, min(first + TOGETHER, len(self.live))
        moved = difference_from_bind(live.body.character.skeleton, live.motion.local[first:last])
        active = None if live.activation is None else live.activation[first:last]
        count = last - first
        self.evaluator.apply(moved, active, points=self._points[:count], normals=self._normals[:count])
        self._first = first
