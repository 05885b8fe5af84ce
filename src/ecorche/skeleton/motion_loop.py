"""A motion that goes on for ever: where a clip is most like itself it is joined to itself.

Two moments of a clip are sought whose poses and velocities agree best, seen each from its own heading, at
least `SHORTEST` of the clip apart. What lies between is the loop. Over its last moments it becomes what came
before its first, or where the clip begins there what differs is made up for bit by bit, so that its end is
its beginning, bit for bit. A loop goes straight ahead, along +Z: what it
turns is taken out bit by bit, and it is told apart how far it travels and what it does about that way.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecorche.base.smooth_step import smooth_step
from ecorche.base.transforms import inverse
from ecorche.errors import MotionError
from ecorche.skeleton.motion import Motion
from ecorche.skeleton.resample import between, resample
from ecorche.skeleton.skeleton import Skeleton, world_from_local

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

SHORTEST = 0.4
"""A loop is at least this share of the clip."""
BLEND = 0.3
"""Seconds over which the end of a loop becomes its beginning, at most; a quarter of the clip where that is
less."""
CANDIDATES = 240
"""Moments of a clip that are compared with one another, at most."""
CLOSED = 0.005
"""A clip that ends so near to where it began, rms over joints [m], or a usual frame's step from there, is a
loop as it is."""
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
        share: Frame of the clip; at the seam, how much of another is in it, and which: (frames,) each.
        gap: How far apart the two moments are that were joined, places, turns and velocities, rms over
            joints [m].
    """

    motion: Motion
    speed: float
    frames: tuple[int, int]
    share: tuple[Ints, Floats, Ints]
    gap: float

    def __repr__(self) -> str:
        return f"MotionLoop({self.motion.name!r}, {self.length:.2f} s, {self.speed:.2f} m/s)"

    @property
    def length(self) -> float:
        """Seconds."""
        return float(self.motion.times[-1])

    def carried(self, values: Floats) -> Floats:
        """What belongs to frames of the clip (frames, ...), for those of the loop."""
        now, share, early = self.share
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
    body = _moving(matrices)
    world = matrices[:, body][..., :3, 3]
    turned = (matrices @ clip.skeleton.bind_inverse)[:, body][..., :3, :3]
    rate, count = clip.rate, clip.frame_count
    blend = max(0, min(round(BLEND * rate), (count - 2) // 4))
    first, last, gap = _alike(world, turned, rate, blend)
    now = np.arange(first, last + 1)
    share = np.zeros(len(now))
    if blend:
        share[len(now) - 1 - blend :] = smooth_step(np.arange(blend + 1) / blend)
    else:
        share[-1] = 1.0
    poses = [np.concatenate([world[[f]], _levers(turned[[f]])], axis=1)[0] for f in (first, last)]
    turn, shift = _onto(*poses)
    local = clip.local[now].copy()
    ground = _Ground(clip.skeleton, matrices[0], body)
    known = first > blend  # what came before; a clip's very first frame often is a T
    early = np.where(share > 0.0, now - (last - first) if known else first, now)
    for place in np.flatnonzero(share > 0.0):
        other = ground.moved(clip.local[early[place]], _planar(turn, shift))
        if not known:
            other = local[place] @ inverse(clip.local[last]) @ other
        local[place] = between(local[place], other, np.full(len(other), share[place]))
    local, speed = _straightened(ground, local, turn, (last - first) / rate)
    local[-1] = local[0]
    motion = Motion(clip.name, clip.skeleton, np.arange(len(now)) / rate, local)
    return MotionLoop(motion, speed, (first, last), (now, share, early), gap)


class _Ground:
    """Moves whole poses over the ground: the topmost joints that move, not those that hold the scene.

    Args:
        skeleton: The skeleton.
        world: ``world_from_joint`` in any frame, (joints, 4, 4).
        body: Joints that move, (joints,).
    """

    def __init__(self, skeleton: Skeleton, world: Floats, body: npt.NDArray[np.bool_]) -> None:
        self.skeleton, self.body = skeleton, body
        below = np.zeros(len(body), np.bool_)
        for joint, parent in enumerate(skeleton.parents):
            below[joint] = parent >= 0 and (below[parent] or body[parent])
        self._tops = np.flatnonzero(body & ~below)
        above = skeleton.parents[self._tops]
        self._above = np.where((above >= 0)[:, None, None], world[above], np.eye(4))

    def moved(self, local: Floats, by: Floats) -> Floats:
        """Local matrices (..., joints, 4, 4) of the same poses moved by world matrices (..., 4, 4)."""
        made, above = local.copy(), self._above
        made[..., self._tops, :, :] = (
            inverse(above) @ by[..., None, :, :] @ above @ local[..., self._tops, :, :]
        )
        return made


def _alike(world: Floats, turned: Floats, rate: float, blend: int) -> tuple[int, int, float]:
    """First and last frame of the best loop, and how far apart they are [m].

    Of joints at ``world`` (frames, joints, 3) that have turned since bind (frames, joints, 3, 3).
    """
    count = len(world)
    if count < 4:
        return 0, count - 1, 0.0
    step = max(1, -(-count // CANDIDATES))
    places = np.unique(np.append(np.arange(0, count, step), count - 1))
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
    ends = [np.concatenate([centred[f], levers[places[f]]]) for f in (0, -1)]
    turn, _ = _onto(*ends)
    off = ends[0] @ _planar(turn, np.zeros(3))[:3, :3].T - ends[1]
    about = world - world.mean(axis=1, keepdims=True) * (1.0, 0.0, 1.0)
    steps = np.diff(np.concatenate([about, levers], axis=1), axis=0)
    usual = float(np.median([_rms(step, world.shape[1]) for step in steps]))
    nearest = max(CLOSED, 1.25 * usual)
    if _rms(off, world.shape[1]) < nearest:  # exporters often leave out the last frame
        return 0, count - 1, float(apart[0, -1])
    cost = apart + _TURNED * np.abs(np.arctan2(across, along))
    long_enough = places[None, :] - places[:, None] >= max(SHORTEST * (count - 1), blend + 1, 2)
    if not long_enough.any():
        return 0, count - 1, 0.0
    cost[~long_enough] = np.inf
    one, other = np.unravel_index(int(np.argmin(cost)), cost.shape)
    return int(places[one]), int(places[other]), float(apart[one, other])


def _rms(off: Floats, joints: int) -> float:
    """Of differences (points, 3), over so many joints [m]."""
    return float(np.sqrt((off**2).sum() / joints))


def _moving(matrices: Floats) -> npt.NDArray[np.bool_]:
    """Joints that move at all, (joints,), or all if none do: what holds the scene is no part of a pose."""
    moving = np.ptp(matrices, axis=0).max(axis=(1, 2)) > 1e-6
    return moving if moving.any() else np.ones_like(moving)


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


def _straightened(ground: _Ground, local: Floats, turn: float, length: float) -> tuple[Floats, float]:
    """The same poses going straight ahead about a point that does so evenly, and its speed [m/s]."""
    count, skeleton = len(local), ground.skeleton
    matrices = world_from_local(skeleton.parents, local)
    middle = matrices[:, ground.body][..., :3, 3].mean(axis=1) * (1.0, 0.0, 1.0)
    done = np.linspace(0.0, 1.0, count)
    back = _planar(-turn * done, np.zeros((count, 3)))[:, :3, :3]
    steps = np.einsum("fij,fj->fi", 0.5 * (back[1:] + back[:-1]), np.diff(middle, axis=0))
    path = np.concatenate([np.zeros((1, 3)), np.cumsum(steps, axis=0)])
    way = path[-1]
    speed = float(np.linalg.norm(way)) / length
    heading = np.arctan2(way[0], way[2])
    if speed < TRAVELS:
        speed, heading = 0.0, _facing(ground, local, -turn * done)
    path = path - done[:, None] * way
    path -= path.mean(axis=0)
    turned = -turn * done - heading
    shift = path @ _planar(-heading, np.zeros(3))[:3, :3].T
    # each pose is turned about its own middle
    own = np.einsum("fij,fj->fi", _planar(turned, np.zeros((count, 3)))[:, :3, :3], middle)
    return ground.moved(local, _planar(turned, shift - own)), speed


def _facing(ground: _Ground, local: Floats, turned: Floats) -> float:
    """Which way a body that stays faces on average, as the angle from +Z towards +X [rad].

    It is where +Z at bind has gone with the joints, all of which count alike.
    """
    skeleton = ground.skeleton
    world = world_from_local(skeleton.parents, local)[..., :3, :3]
    since_bind = (world @ skeleton.bind_inverse[:, :3, :3])[:, ground.body]
    front = since_bind[..., 2].mean(axis=1)  # of +Z at bind
    c, s = np.cos(turned), np.sin(turned)
    x = (c * front[:, 0] + s * front[:, 2]).mean()
    z = (-s * front[:, 0] + c * front[:, 2]).mean()
    return float(np.arctan2(x, z))
