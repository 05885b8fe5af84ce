"""Which muscles of a model run where a muscle of a rig runs, whatever they are called.

Muscles found in a skin, meshes, and rigs in another language have no names that a model knows. Both are taken
to the character's bind pose (`model_on_character`, `body.muscle_courses`), and how far a muscle of the model
is from being one of the rig's is a number without unit, the sum of

- how far the rig's belly is from the model's path, root mean square, over the radius of the belly;
- 5 (1 − |cosine|) of the angle between both, in the mean along the belly: 30° apart cost 0.7;
- how far origin and insertion are from those of the model, together, over the length of the muscle;
- 0.5 for each of these that lies on another segment of the body;
- 0.25 where the model's muscle does not lie next to the skin (`surface_muscles`) and cannot show.

A model's path is a line on bone or over a joint, and the belly lies outside it, so a radius or two is near.
The nearest is a match where that number is at most `MOST`. Neighbours compete: what another muscle of the rig
has nearer costs as much more as that is nearer. A muscle takes the best, and those that are worse by less
than `SPREAD`, the stronger and nearer counting more. The numbers were chosen on the template's muscles of
three people, whose names are known, under one model of legs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecorche.base.rotations import normalise
from ecorche.biomech.model_on_character import PlacedPath
from ecorche.body.muscle_courses import Course
from ecorche.skeleton.naming.recognise import Naming
from ecorche.skeleton.skeleton import Skeleton

Floats = npt.NDArray[np.float64]
Segment = Callable[[int], int]

MOST = 4.0
"""What is further is no match."""
SPREAD = 0.5
"""So much further than the nearest a muscle has no more share."""
_SLANT, _OTHER_SEGMENT, _DEEP = 5.0, 0.5, 0.25


@dataclass(frozen=True, eq=False)
class Nearness:
    """How far muscles of a model are from those of a rig.

    Attributes:
        rig, model: Their names.
        cost: As the head of this file says, infinite where a path is not on the character, (rig, model).
        distance: Of the rig's bellies from the model's paths, root mean square [m], (rig, model).
    """

    rig: tuple[str, ...]
    model: tuple[str, ...]
    cost: Floats
    distance: Floats

    def shares(self, strength: Floats) -> Floats:
        """How much each of the model's muscles, of such strengths (model,), counts in each of the rig's.

        (rig, model), not normalised; rows are zero where none is near.
        """
        if not self.cost.size:
            return np.zeros(self.cost.shape)
        least = self.cost.min(axis=0)
        # infinite is what is not on the character
        rival = self.cost + np.where(
            np.isfinite(least), self.cost - np.where(np.isfinite(least), least, 0.0), 0.0
        )
        best = rival.argmin(axis=1)[:, None]
        near = np.take_along_axis(self.cost, best, axis=1) <= MOST
        worse = np.where(near, rival - np.take_along_axis(rival, best, axis=1), np.inf)
        return np.asarray(strength * np.clip(1.0 - worse / SPREAD, 0.0, 1.0) ** 2)


def nearness(
    courses: Sequence[Course],
    paths: Sequence[PlacedPath | None],
    names: Sequence[str],
    segment: Segment,
    shows: npt.NDArray[np.bool_] | None = None,
) -> Nearness:
    """How far each of the model's muscles is from each of a rig's.

    Args:
        courses: The rig's muscles.
        paths: The model's, on the same character; None for those that are not on it.
        names: Of these.
        segment: Gives the part of the body that a joint belongs to, see `segments_of`.
        shows: Which of the model's lie next to the skin, (model,); None takes all as if they did.
    """
    cost = np.full((len(courses), len(paths)), np.inf)
    distance = np.full(cost.shape, np.nan)
    for row, course in enumerate(courses):
        belly = course.belly if len(course.belly) > 1 else course.ends
        along = normalise(np.gradient(belly, axis=0))
        length = _length(np.concatenate([course.ends[:1], course.belly, course.ends[1:]]))
        for column, path in enumerate(paths):
            if path is None:
                continue
            away, onwards = _from_line(belly, path.points)
            apart = float(np.sqrt(np.mean(away**2)))
            slant = 1.0 - float(np.mean(np.abs(np.sum(along * onwards, axis=1))))
            # a muscle that was found may have its ends the other way round
            cost[row, column] = (
                apart / course.radius
                + _SLANT * slant
                + min(
                    float(np.linalg.norm(course.ends - ends, axis=1).sum()) / length
                    + _OTHER_SEGMENT
                    * sum(segment(a) != segment(b) for a, b in zip(course.joints, on, strict=True))
                    for ends, on in (
                        (path.points[[0, -1]], (path.joints[0], path.joints[-1])),
                        (path.points[[-1, 0]], (path.joints[-1], path.joints[0])),
                    )
                )
            )
            distance[row, column] = apart
    if shows is not None:
        cost = cost + np.where(shows, 0.0, _DEEP)
    return Nearness(tuple(course.name for course in courses), tuple(names), cost, distance)


def segments_of(skeleton: Skeleton, naming: Naming) -> Segment:
    """The joint that a joint's part of the body is called by: itself, or the nearest above with a name.

    Of a skeleton no joint of which is recognised, each joint is a part. Virtual scapulae, whose numbers come
    after the joints, are one each.
    """
    known = [name is not None for name in naming.canonical]
    part = list(range(skeleton.joint_count))
    if any(known):
        for joint, parent in enumerate(skeleton.parents.tolist()):
            if not known[joint] and parent >= 0:
                part[joint] = part[parent]
    return lambda joint: part[joint] if joint < len(part) else joint


def _length(points: Floats) -> float:
    return float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())


def _from_line(points: Floats, line: Floats) -> tuple[Floats, Floats]:
    """Distances of points (N, 3) from a line of pieces [m], (N,), and directions of these there, (N, 3)."""
    start, step = line[:-1], np.diff(line, axis=0)
    square = np.sum(step**2, axis=1)
    share = np.einsum("nkx,kx->nk", points[:, None] - start, step) / np.where(square > 0.0, square, 1.0)
    foot = start + np.clip(share, 0.0, 1.0)[..., None] * step
    away = np.linalg.norm(points[:, None] - foot, axis=2)
    nearest = away.argmin(axis=1)
    return away[np.arange(len(points)), nearest], normalise(step[nearest])
