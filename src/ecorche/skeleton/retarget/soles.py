"""The soles of the feet: where they are, where the floor is, when a foot is planted, how far it slides.

A skeleton has no soles, so they are drawn under its joints at bind: a heel below the ankle, a ball
below the toe joint and a tip below the toes' end, all on one plane square to the foot. A character
that stands on the floor at bind has its soles there; a skeleton that hangs elsewhere (BVH files
count from the hips) has them at the height of its toes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecorche.base.rotations import normalise, rotate_xyzw
from ecorche.skeleton.retarget.figure import Figure

Floats = npt.NDArray[np.float64]

GROUNDED = 0.15  # of leg length: toes this near above height zero stand on a floor there
CONTACT_HEIGHT = 0.035  # of leg length: a lower sole may be planted
FLOOR_DRIFT = 0.1  # of leg length: how far a captured floor may rise along the way
CONTACT_SPEED = 0.5  # leg lengths a second: a slower sole may be planted
STEP_GAP = 0.2  # [s] a foot that leaves the floor for less has not made a step
STEP_PERCENTILE = 25.0  # of a planted sole's heights during one step: the height it stands at
FLOOR_PERCENTILE = 5.0  # of the lowest sole's heights over a motion: the floor it was made on


@dataclass(frozen=True, eq=False)
class Sole:
    """One sole at bind: points that ankle and toe joint carry along.

    Attributes:
        ankle: The ankle joint.
        toe: The toe joint, or the ankle where there is none.
        heel, ball: From the ankle to the sole below it and below the toe joint [m], shape (3,).
        tip: From the toe joint to the sole below the toes' end [m], shape (3,).
        axes: Unit columns left, up, forward of the foot, shape (3, 3).
    """

    ankle: int
    toe: int
    heel: Floats
    ball: Floats
    tip: Floats
    axes: Floats

    def places(self, positions: Floats, turned_xyzw: Floats) -> Floats:
        """Heel, ball and tip over time, (frames, 3 points, 3) [m].

        Positions (frames, joints, 3) and turns since bind (frames, joints, 4) are of all joints.
        """
        ankle, toe = positions[:, self.ankle], positions[:, self.toe]
        return np.stack(
            [
                ankle + rotate_xyzw(turned_xyzw[:, self.ankle], self.heel),
                ankle + rotate_xyzw(turned_xyzw[:, self.ankle], self.ball),
                toe + rotate_xyzw(turned_xyzw[:, self.toe], self.tip),
            ],
            axis=1,
        )


def soles_of(figure: Figure) -> tuple[Sole, Sole]:
    """The left and the right sole."""
    return _sole(figure, "l"), _sole(figure, "r")


def floor_at_bind(figure: Figure) -> float:
    """The height [m] along the body's up axis of the floor the figure stands on at bind."""
    up = figure.axes[:, 1]
    toes = [figure.tips[_toe(figure, side)] @ up for side in "lr"]
    toes += [figure.heads[figure.joints[f"{side}_talocrural"]] @ up for side in "lr"]
    lowest = float(min(toes))
    return 0.0 if 0.0 <= lowest <= GROUNDED * figure.leg_length else lowest


def _toe(figure: Figure, side: str) -> int:
    for name in ("metatarsophalangeal_2", "tarsometatarsal_2", "metatarsophalangeal_1"):
        joint = figure.joint(f"{side}_{name}")
        if joint is not None:
            return joint
    return figure.joints[f"{side}_talocrural"]


def _sole(figure: Figure, side: str) -> Sole:
    knee, ankle = figure.joints[f"{side}_knee"], figure.joints[f"{side}_talocrural"]
    toe = _toe(figure, side)
    head, end = figure.heads[ankle], figure.tips[toe]
    ball = figure.heads[toe] if toe != ankle else end
    down = -figure.axes[:, 1]
    forward = normalise(ball - head)
    # legs may be spread at bind with the feet square to them: down lies in the plane of shank and foot
    across = np.cross(normalise(head - figure.heads[knee]), forward)
    if np.linalg.norm(across) > 0.2:
        across = normalise(across)
        down = normalise(down - across * (down @ across))
    floor = floor_at_bind(figure)
    up = figure.axes[:, 1]
    # one plane, square to `down`, through the floor point below the lower of ball and tip
    lower = ball if ball @ up <= end @ up else end
    anchor = lower + down * ((lower @ up - floor) / max(float(-down @ up), 0.5))
    forward = normalise(forward - down * (forward @ down))
    axes = np.column_stack([np.cross(-down, forward), -down, forward])

    def below(point: Floats) -> Floats:
        return np.asarray(point + down * ((anchor - point) @ down))

    start = figure.heads[toe]
    return Sole(ankle, toe, below(head) - head, below(ball) - head, below(end) - start, axes)


def lowest(places: tuple[Floats, Floats]) -> Floats:
    """The height of the lowest heel or ball of both feet, shape (frames,) [m].

    Tips do not count: rigs disagree on where toes end, and toes bend.
    """
    return np.asarray(np.minimum(places[0][:, :2, 1].min(axis=1), places[1][:, :2, 1].min(axis=1)))


def floor_of_motion(places: tuple[Floats, Floats]) -> float:
    """The height [m] of the floor a motion was made on: a low percentile of its lowest sole."""
    return float(np.percentile(lowest(places), FLOOR_PERCENTILE))


@dataclass(frozen=True)
class FootSkate:
    """How much planted feet slide.

    Attributes:
        mean_speed: Mean horizontal speed of a planted sole [cm/s].
        worst_speed: The largest [cm/s].
        distance: All sliding of both feet added up [cm].
        planted: How long feet were planted, both added up [s].
    """

    mean_speed: float
    worst_speed: float
    distance: float
    planted: float

    def __str__(self) -> str:
        return f"{self.mean_speed:.1f} cm/s ({self.distance:.0f} cm in {self.planted:.1f} s)"


def contacts(
    places: tuple[Floats, Floats], floor: float, times: Floats, leg_length: float
) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int8]]:
    """Which point of each sole is planted from each frame to the next: 0 heel, 1 ball, -1 none.

    A point is planted while it is the lower of the two, slow, and near the floor: near the height at
    which feet stand around that time, because the floor of a capture may rise by centimetres along
    the way. Shapes (frames - 1,); ``places`` are heel, ball and tip, (frames, 3, 3) each.
    """
    points, heights = zip(*(_lower_point(p, times, leg_length) for p in places), strict=True)
    standing = np.min(heights, axis=0)
    known = standing < floor + FLOOR_DRIFT * leg_length
    if not known.any():
        return np.full_like(points[0], -1), np.full_like(points[1], -1)
    local_floor = np.interp(times[:-1], times[:-1][known], standing[known])
    left, right = (
        np.where(height < local_floor + CONTACT_HEIGHT * leg_length, point, -1).astype(np.int8)
        for point, height in zip(points, heights, strict=True)
    )
    return left, right


def _lower_point(places: Floats, times: Floats, leg_length: float) -> tuple[npt.NDArray[np.int8], Floats]:
    """The lower of heel (0) and ball (1) from each frame to the next, and its height, infinite if fast."""
    if len(times) < 2:
        return np.zeros(0, np.int8), np.zeros(0)
    height = np.maximum(places[1:, :2, 1], places[:-1, :2, 1])
    speed = np.linalg.norm(np.diff(places[:, :2], axis=0), axis=-1) / np.diff(times)[:, None]
    point = np.argmin(height, axis=1)
    row = np.arange(len(point))
    slow = speed[row, point] < CONTACT_SPEED * leg_length
    return point.astype(np.int8), np.where(slow, height[row, point], np.inf)


def settling(places: Floats, planted: npt.NDArray[np.int8], floor: float, times: Floats) -> Floats:
    """How far to lower a foot [m], (frames,), for each of its steps to stand on the floor.

    Captured feet stand a centimetre or two above or below it, each step otherwise. A step is put down
    as a whole, by the height it keeps for most of its time, so that landing and leaving keep their shape;
    between two steps the correction goes over smoothly.
    """
    height = places[:, :2, 1].min(axis=1) - floor
    ends = np.flatnonzero(np.diff(np.concatenate([[False], planted >= 0, [False]])))
    if not len(ends):
        return np.zeros(len(times))
    within_step = np.flatnonzero(times[ends[2::2]] - times[ends[1:-1:2]] < STEP_GAP)
    ends = np.delete(ends, np.concatenate([2 * within_step + 1, 2 * within_step + 2]))
    knots, values = [], []
    for first, last in ends.reshape(-1, 2):  # planted from frame `first` to frame `last`
        low = float(np.percentile(height[first : last + 1], STEP_PERCENTILE))
        knots += [times[first], times[last]]
        values += [low, low]
    after = np.clip(np.searchsorted(knots, times, side="right"), 1, len(knots) - 1)
    before = after - 1
    start, stop = np.array(knots)[before], np.array(knots)[after]
    t = np.clip((times - start) / (stop - start), 0.0, 1.0)
    t = t * t * (3.0 - 2.0 * t)
    return np.asarray((1.0 - t) * np.array(values)[before] + t * np.array(values)[after])


def skate(
    places: tuple[Floats, Floats],
    planted: tuple[npt.NDArray[np.int8], npt.NDArray[np.int8]],
    times: Floats,
    scale: float = 1.0,
) -> FootSkate:
    """The sliding of soles while ``planted`` says they should not; lengths are times ``scale``."""
    speeds, seconds = [np.zeros(0)], [np.zeros(0)]
    for points, point in zip(places, planted, strict=True):
        at = np.flatnonzero(point >= 0)
        step = points[at + 1, point[at]] - points[at, point[at]]
        seconds.append(np.diff(times)[at])
        speeds.append(100.0 * scale * np.linalg.norm(step[:, [0, 2]], axis=-1) / seconds[-1])
    speed, duration = np.concatenate(speeds), np.concatenate(seconds)
    if not len(speed):
        return FootSkate(0.0, 0.0, 0.0, 0.0)
    total, distance = float(duration.sum()), float((speed * duration).sum())
    return FootSkate(distance / total, float(speed.max()), distance, total)
