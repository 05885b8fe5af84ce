"""A motion that goes on for ever: where a clip is most like itself it is joined to itself.

Two moments of a clip are sought whose poses and velocities agree best, seen each from its own heading, at
least `SHORTEST` of the clip apart. What lies between is the loop. Over its last moments it becomes what came
before its first, so that its end is its beginning, bit for bit. A loop goes straight ahead, along +Z: what it
turns is taken out bit by bit, and it is told apart how far it travels and what it does about that way.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecorche.base.smooth_step import smooth_step
from ecorche.errors import MotionError
from ecorche.skeleton.motion import Motion
from ecorche.skeleton.resample import between, resample
from ecorche.skeleton.skeleton import Skeleton, world_from_local

Floats = npt.NDArray[np.float64]

SHORTEST = 0.4
"""A loop is at least this share of the clip."""
BLEND = 0.3
"""Seconds over which the end of a loop becomes its beginning, at most; a quarter of the clip where that is
less."""
CANDIDATES = 240
"""Moments of a clip that are compared with one another, at most."""
TRAVELS = 0.3
"""A loop slower than this [m/s] stays where it is, and what it drifts is taken out."""
_MOVING = 0.12  # a velocity counts as the way it makes in so long [s]
_LEVER = 0.06  # a joint's turn counts as the way of points so far from it [m]
_TURNED = 0.02  # a turn of one radian counts as so many metres


@dataclass(frozen=True, eq=False, repr=False)
class MotionLoop:
    """One turn of a motion that is repeated.

    Attributes:
        motion: From 0 to the loop's length [s], on the character's skeleton, about a point that goes straight
            ahead along +Z at `speed`; the last frame is the first, bit for bit.
        speed: Of that point [m/s].
        frames: First and last frame of the clip at its mean rate.
        share: Frame of the clip and, at the seam, how much of the pose one loop earlier is in it:
            (frames,) and (frames,).
        gap: How far apart the two moments are that were joined, places, turns and velocities, rms over
            joints [m].
    """

    motion: Motion
    speed: float
    frames: tuple[int, int]
    share: tuple[npt.NDArray[np.int64], Floats]
    gap: float

    def __repr__(self) -> str:
        return f"MotionLoop({self.motion.name!r}, {self.length:.2f} s, {self.speed:.2f} m/s)"

    @property
    def length(self) -> float:
        """Seconds."""
        return float(self.motion.times[-1])

    def carried(self, values: Floats) -> Floats:
        """What belongs to frames of the clip (frames, ...), for those of the loop."""
        now, share = self.share
        before = now - (len(now) - 1)
        early = np.where(share > 0.0, before, now)
        rest = share.reshape(-1, *(1,) * (values.ndim - 1))
        return np.asarray((1.0 - rest) * values[now] + rest * values[early])


def even_clip(motion: Motion) -> Motion:
    """The motion from 0 on, its frames as far apart as they are on average; two where it has but one."""
    if motion.frame_count == 1:
        local = np.repeat(motion.local, 2, axis=0)
        return Motion(motion.name, motion.skeleton, np.array([0.0, 1.0]), local)
    even = resample(
        motion, times=np.linspace(float(motion.times[0]), float(motion.times[-1]), motion.frame_count)
    )
    return Motion(motion.name, motion.skeleton, even.times - even.times[0], even.local)


def motion_loop(clip: Motion) -> MotionLoop:
    """The loop in a clip whose frames are as far apart as one another (`even_clip`)."""
    if clip.morph_weights:
        raise MotionError(
            f"motion {clip.name!r} moves blend shapes, which a loop does not", remedy="Use even_clip"
        )
    matrices = clip.world()
    world = matrices[..., :3, 3]
    turned = (matrices @ clip.skeleton.bind_inverse)[..., :3, :3]
    rate, count = clip.rate, clip.frame_count
    blend = max(0, min(round(BLEND * rate), (count - 2) // 4))
    first, last, gap = _alike(world, turned, rate, blend)
    now = np.arange(first, last + 1)
    share = np.zeros(len(now))
    if blend:
        share[len(now) - 1 - blend :] = smooth_step(np.arange(blend + 1) / blend)
    else:
        share[-1] = 1.0
    turn, shift = _onto(
        *(np.concatenate([world[[f]], _levers(turned[[f]])], axis=1)[0] for f in (first, last))
    )
    local = clip.local[now].copy()
    roots = np.flatnonzero(clip.skeleton.parents < 0)
    for place in np.flatnonzero(share > 0.0):
        early = clip.local[now[place] - (last - first)].copy()
        early[roots] = _planar(turn, shift) @ early[roots]
        local[place] = between(local[place], early, np.full(len(early), share[place]))
    local, speed = _straightened(clip.skeleton, local, turn, (last - first) / rate)
    local[-1] = local[0]
    motion = Motion(clip.name, clip.skeleton, np.arange(len(now)) / rate, local)
    return MotionLoop(motion, speed, (first, last), (now, share), gap)


def _alike(world: Floats, turned: Floats, rate: float, blend: int) -> tuple[int, int, float]:
    """First and last frame of the best loop, and how far apart they are [m].

    Of joints at ``world`` (frames, joints, 3) that have turned since bind (frames, joints, 3, 3).
    """
    count = len(world)
    begin = min(blend + 1, count - 2)  # what is before the first frame is needed, and often begins in a T
    if begin < 0 or count < 4:
        return 0, count - 1, 0.0
    step = max(1, -(-count // CANDIDATES))
    places = np.arange(begin, count, step)
    levers = _levers(turned)
    moving = np.gradient(np.concatenate([world, levers], axis=1), 1.0 / rate, axis=0)[places]
    at = world[places]
    centred = at - at.mean(axis=1, keepdims=True) * (1.0, 0.0, 1.0)
    features = np.concatenate([centred, levers[places], _MOVING * moving], axis=1)  # (places, 8 joints, 3)
    x, y, z = (features[..., axis] for axis in range(3))
    size = (features**2).sum(axis=(1, 2))
    along, across = x @ x.T + z @ z.T, z @ x.T - x @ z.T
    squared = size[:, None] + size[None, :] - 2.0 * (np.hypot(along, across) + y @ y.T)
    apart = np.sqrt(np.maximum(squared, 0.0) / world.shape[1])
    cost = apart + _TURNED * np.abs(np.arctan2(across, along))
    long_enough = places[None, :] - places[:, None] >= max(SHORTEST * (count - 1), blend + 1, 2)
    if not long_enough.any():
        return 0, count - 1, 0.0
    cost[~long_enough] = np.inf
    one, other = np.unravel_index(int(np.argmin(cost)), cost.shape)
    return int(places[one]), int(places[other]), float(apart[one, other])


def _levers(turned: Floats) -> Floats:
    """Points at the ends of short levers on joints, seen from those, (frames, 3 joints, 3)."""
    return np.asarray(_LEVER * np.moveaxis(turned, -1, 1).reshape(len(turned), -1, 3))


def _onto(source: Floats, target: Floats) -> tuple[float, Floats]:
    """Turn about +Y [rad] and shift (3,) over the ground that bring a pose nearest to another.

    A pose is where its joints are and, after them, its levers: (4 joints, 3).
    """
    joints = len(source) // 4
    a, b = source[:joints].mean(axis=0), target[:joints].mean(axis=0)
    p, q = source.copy(), target.copy()
    p[:joints] -= a
    q[:joints] -= b
    turn = float(np.arctan2((p[:, 2] * q[:, 0] - p[:, 0] * q[:, 2]).sum(), (p[:, ::2] * q[:, ::2]).sum()))
    shift = (b - (_planar(turn, np.zeros(3))[:3, :3] @ a)) * (1.0, 0.0, 1.0)
    return turn, shift


def _planar(turn: float | Floats, shift: Floats) -> Floats:
    """A turn about +Y [rad] and then a shift, as matrices (..., 4, 4)."""
    c, s = np.cos(turn), np.sin(turn)
    made = np.zeros((*np.shape(turn), 4, 4))
    made[..., 0, 0], made[..., 0, 2], made[..., 2, 0], made[..., 2, 2] = c, s, -s, c
    made[..., 1, 1] = made[..., 3, 3] = 1.0
    made[..., :3, 3] = shift
    return made


def _straightened(skeleton: Skeleton, local: Floats, turn: float, length: float) -> tuple[Floats, float]:
    """The same poses going straight ahead about a point that does so evenly, and its speed [m/s]."""
    count, roots = len(local), np.flatnonzero(skeleton.parents < 0)
    world = world_from_local(skeleton.parents, local)[..., :3, 3]
    middle = world.mean(axis=1) * (1.0, 0.0, 1.0)
    done = np.linspace(0.0, 1.0, count)
    back = _planar(-turn * done, np.zeros((count, 3)))[:, :3, :3]
    steps = np.einsum("fij,fj->fi", 0.5 * (back[1:] + back[:-1]), np.diff(middle, axis=0))
    path = np.concatenate([np.zeros((1, 3)), np.cumsum(steps, axis=0)])
    way = path[-1]
    speed = float(np.linalg.norm(way)) / length
    heading = np.arctan2(way[0], way[2])
    if speed < TRAVELS:
        speed, heading = 0.0, _facing(skeleton, local, -turn * done)
    path = path - done[:, None] * way
    path -= path.mean(axis=0)
    turned = -turn * done - heading
    shift = path @ _planar(-heading, np.zeros(3))[:3, :3].T
    # each pose is turned about its own middle
    own = np.einsum("fij,fj->fi", _planar(turned, np.zeros((count, 3)))[:, :3, :3], middle)
    local = local.copy()
    local[:, roots] = _planar(turned, shift - own)[:, None] @ local[:, roots]
    return local, speed


def _facing(skeleton: Skeleton, local: Floats, turned: Floats) -> float:
    """Which way a body that stays faces on average, as the angle from +Z towards +X [rad].

    It is where +Z at bind has gone with the joints, all of which count alike.
    """
    world = world_from_local(skeleton.parents, local)[..., :3, :3]
    front = (world @ skeleton.bind_inverse[:, :3, :3])[..., :, 2].mean(axis=1)  # of +Z at bind
    c, s = np.cos(turned), np.sin(turned)
    x = (c * front[:, 0] + s * front[:, 2]).mean()
    z = (-s * front[:, 0] + c * front[:, 2]).mean()
    return float(np.arctan2(x, z))
