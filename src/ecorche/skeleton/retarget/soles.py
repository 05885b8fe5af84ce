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
CONTACT_SPEED = 0.5  # leg lengths a second: a slower sole may be planted
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


def contacts(places: Floats, floor: float, times: Floats, leg_length: float) -> npt.NDArray[np.int8]:
    """Which point of a sole is planted from each frame to the next: 0 heel, 1 ball, -1 none.

    A point is planted while it is the lower of the two, near the floor, and slow. Shape
    (frames - 1,); ``places`` are heel, ball and tip, (frames, 3, 3).
    """
    if len(times) < 2:
        return np.zeros(0, np.int8)
    points = places[:, :2]
    height = np.maximum(points[1:, :, 1], points[:-1, :, 1]) - floor
    speed = np.linalg.norm(np.diff(points, axis=0), axis=-1) / np.diff(times)[:, None]
    point = np.argmin(height, axis=1)
    row = np.arange(len(point))
    low = height[row, point] < CONTACT_HEIGHT * leg_length
    slow = speed[row, point] < CONTACT_SPEED * leg_length
    return np.where(low & slow, point, -1).astype(np.int8)


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
