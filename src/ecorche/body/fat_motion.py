"""The fat of a body through a motion, from its first frame on.

Between frames the bone's frame goes along the polynomial of fifth degree that has the place, velocity and
acceleration of both (`dynamics.trajectory`), held nodes along a cubic, so that no frame kicks. Gravity acts
less what it does at bind. The motion's own accelerations are felt more and more in its first moments, and fat
begins where it comes to rest in the first pose.

A frame depends on all before: frames are best asked for in order. Now and then the state is kept, so that one
that lies behind is soon found again; the same from a kept state as without.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import numpy.typing as npt
from numba import get_num_threads

from ecorche.base.smooth_step import smooth_step
from ecorche.body.fat import BodyFat, upright
from ecorche.dynamics.trajectory import acceleration_between, derivatives
from ecorche.errors import EcorcheError
from ecorche.skeleton.kinematics import difference_from_bind
from ecorche.skeleton.motion import Motion

Floats = npt.NDArray[np.float64]

PIECES = 240
"""The frame's acceleration is constant for one such part of a second at most."""
FADE_IN = 0.25
"""After so many seconds accelerations are felt fully."""
MOST = (150.0, 40.0, 2000.0)
"""No more of a bone's acceleration [m/s²], turning [rad/s] and its change [rad/s²] is felt: people do not
move so, but motions leap, from a reference pose into the first frame and where they are cut."""
SETTLING = 20.0
"""How fast fat loses speed while it comes to rest, before it is looked at [1/s]."""
_SETTLED, _LONGEST = 1e-3, 40
"""Slower than this [m/s] it is at rest; so many twentieths of a second are waited at most."""
_KEPT_EVERY = 32
"""The state of every so manieth frame is kept."""
_WINDOW = 8
"""Held nodes of so many frames are kept, as those next to them ask for them again."""


class FatMotion:
    """The fat of one body in one motion.

    Args:
        fat: The fat.
        motion: On the character's skeleton.
        samples: Every so manieth frame of it is a frame, and those between lie between two frames.
        beneath: Gives points of the muscles' surfaces in a frame of the motion; None for a body without.
        shown_from: Time of the first frame that is shown [s]: before it fat settles; None shows all.
        outside: Gives forces on the vertices of the body's mesh [N], (vertices, 3), in a frame, which act
            until the next.
        meets: Gives what presses on these vertices, see `FatContact`, in a frame in which nodes are displaced
            so far; None where nothing does.
    """

    def __init__(
        self,
        fat: BodyFat,
        motion: Motion,
        *,
        samples: int = 1,
        beneath: Callable[[int], Floats] | None = None,
        shown_from: float | None = None,
        outside: Callable[[int], Floats] | None = None,
        meets: Callable[[int, list[Floats]], Floats] | None = None,
    ) -> None:
        self.fat, self.motion, self.samples = fat, motion, samples
        self._beneath, self._outside, self._meets = beneath, outside, meets
        self._begins = float(motion.times[0])
        self._shown_from = self._begins if shown_from is None else shown_from
        self._grids = [part.grid.at_rest() for part in fat.parts]
        self._pool = ThreadPoolExecutor(max(1, min(len(fat.parts), get_num_threads())))
        self._times = np.ascontiguousarray(motion.times[::samples])
        # the bone's frame of every part as four points: where it begins, and the ends of its axes
        places = np.empty((len(self._times), len(fat.parts), 4, 3))
        for number in range(len(self._times)):
            moved = self._moved(number)
            for part, place in zip(fat.parts, places[number], strict=True):
                turned, place[0] = part.frame(moved)
                place[1:] = turned.T
        self._places = places.reshape(len(places), -1, 3)
        self._speeds = derivatives(self._times, self._places)
        self._held_in: OrderedDict[int, list[Floats]] = OrderedDict()
        self._grown_in: dict[int, list[Floats]] = {}
        self._kept: dict[int, bytes] = {}
        self._frame = -1

    def __len__(self) -> int:
        return self.motion.frame_count

    def at(self, index: int) -> list[Floats]:
        """Displacements of all nodes of every part from rest in a frame [m], each (nodes, 3)."""
        if index < self._frame:
            before = max((k for k in self._kept if k <= index), default=-1)
            self._frame = -1
            if before >= 0:
                self.go_on_from(self._kept[before])
        numbers = range(len(self._grids))
        while self._frame < index:
            if self._frame < 0:
                self._window(0)
                self._settle()
            else:
                self._push(self._frame)
                self._window(self._frame // self.samples)
                self._grow(self._frame)
                list(self._pool.map(self._pass_on, numbers))
            self._frame += 1
            if self._frame % _KEPT_EVERY == 0 and self._frame not in self._kept:
                self._kept[self._frame] = self.state()
        return [grid.displacements for grid in self._grids]

    def state(self) -> bytes:
        """All that is remembered of the frames so far: keep it to go on from there."""
        arrays = [a for grid in self._grids for a in (grid.displacement, grid.velocity)]
        return b"".join([np.int64(self._frame).tobytes(), *(a.tobytes() for a in arrays)])

    def go_on_from(self, state: bytes) -> None:
        """Stand where a state of the same fat in the same motion was taken."""
        sizes = [grid.displacement.nbytes for grid in self._grids]
        if len(state) != 8 + 2 * sum(sizes):
            raise EcorcheError(
                "the state is of other fat", where="fat", remedy="Begin with the motion's first frame"
            )
        self._frame, start = int(np.frombuffer(state[:8], np.int64)[0]), 8
        for grid, size in zip(self._grids, sizes, strict=True):
            for array in (grid.displacement, grid.velocity):
                array[:] = np.frombuffer(state[start : start + size], np.float32)
                start += size

    def _moved(self, number: int) -> Floats:
        return difference_from_bind(self.motion.skeleton, self.motion.local[number * self.samples])

    def _window(self, interval: int) -> None:
        """Where held nodes are in the frames that a part of the motion looks at."""
        for number in range(max(interval - 1, 0), min(interval + 3, len(self._times))):
            if number not in self._held_in:
                beneath = None if self._beneath is None else self._beneath(number * self.samples)
                moved = self._moved(number)
                self._held_in[number] = [part.held_to(moved, beneath) for part in self.fat.parts]
                if len(self._held_in) > _WINDOW:
                    self._held_in.popitem(last=False)

    def _grow(self, frame: int) -> None:
        """How much larger bones make voxels in a frame and in the next."""
        kept = self._grown_in
        self._grown_in = {number: kept[number] for number in (frame, frame + 1) if number in kept}
        for number in (frame, frame + 1):
            if number not in kept:
                moved = difference_from_bind(self.motion.skeleton, self.motion.local[number])
                self._grown_in[number] = [
                    grid.grown_in(part.carried(moved))
                    for grid, part in zip(self._grids, self.fat.parts, strict=True)
                ]

    def _settle(self) -> None:
        """Come to rest in the first pose."""
        for grid, part, held in zip(self._grids, self.fat.parts, self._held_in[0], strict=True):
            nodes = part.carried(self._moved(0))
            grid.fill(grid.grown_in(nodes))
            nodes[grid.held] = held
            grid.displace(nodes)
        moving = list(range(len(self._grids)))
        for _ in range(_LONGEST):
            self._push(0)
            list(self._pool.map(self._wait, moving))
            moving = [n for n in moving if np.abs(self._grids[n].velocities).max() >= _SETTLED]
            if not moving:
                break
        for grid in self._grids:
            grid.displace(grid.displacements)

    def _wait(self, number: int) -> None:
        """Let a moment pass in the first pose."""
        motion = self._frame_motion(number, 0, np.zeros(1), np.zeros(1))
        self._grids[number].advance_through(
            0.05, motion, self._held_in[0][number][None], np.full(1, SETTLING)
        )

    def _pass_on(self, number: int) -> None:
        """Go on from this frame to the next."""
        grid, interval = self._grids[number], self._frame // self.samples
        begin, end = self.motion.times[self._frame : self._frame + 2] - self._times[interval]
        count = max(1, int(np.ceil((end - begin) * PIECES - 1e-6)))
        borders = np.linspace(begin, end, count + 1)
        middles = 0.5 * (borders[:-1] + borders[1:])
        times = self._times[interval] + middles
        felt = smooth_step((times - self._begins) / FADE_IN)
        # bones that draw flesh apart make none thinner: more comes in from round it
        begun, ended = (self._grown_in[frame][number] for frame in (self._frame, self._frame + 1))
        grid.fill(0.5 * (begun + ended))
        grid.advance_through(
            float(end - begin),
            self._frame_motion(number, interval, middles, felt),
            self._held(number, interval, borders[1:]),
            self._drag(times),
        )

    def _drag(self, times: Floats) -> Floats:
        """Before anything is shown fat loses its speed fast, less and less in the second half."""
        left, whole = self._shown_from - times, self._shown_from - self._begins
        return SETTLING * smooth_step(2.0 * left / max(whole, 1e-9))

    def _push(self, frame: int) -> None:
        """Let what presses on the skin in a frame act on the nodes below it."""
        if self._outside is None and self._meets is None:
            return
        moved = difference_from_bind(self.motion.skeleton, self.motion.local[frame])
        if self._outside is not None:
            forces = np.asarray(self._outside(frame), np.float64)
            for part, grid in zip(self.fat.parts, self._grids, strict=True):
                grid.push(part.skin.forces_on_nodes(forces[part.vertices]) @ part.frame(moved)[0])
        if self._meets is not None:
            pressing = self._meets(frame, [grid.displacements for grid in self._grids])
            for part, grid in zip(self.fat.parts, self._grids, strict=True):
                on_nodes = part.skin.forces_on_nodes(pressing[part.vertices])
                nodes = np.flatnonzero(on_nodes[:, 3])
                forces, stiffness = on_nodes[nodes, :3] @ part.frame(moved)[0], on_nodes[nodes, 3]
                grid.meet(nodes, forces / stiffness[:, None], stiffness)

    def _held(self, number: int, interval: int, seconds: Floats) -> Floats:
        """Where held nodes are so long after the frame that an interval begins with, from rest [m]."""
        first, last = max(interval - 1, 0), min(interval + 2, len(self._times) - 1)
        before, start, end, after = (self._held_in[k][number] for k in (first, interval, interval + 1, last))
        t = self._times
        length = t[interval + 1] - t[interval]
        leaving = (end - before) * (length / (t[interval + 1] - t[first]))
        arriving = (after - start) * (length / (t[last] - t[interval]))
        x = (seconds / length)[:, None, None]
        way = x * x * (3.0 - 2.0 * x)
        return np.asarray(start + way * (end - start) + x * (1.0 - x) * ((1.0 - x) * leaving - x * arriving))

    def _frame_motion(self, number: int, interval: int, seconds: Floats, felt: Floats) -> Floats:
        """How the bone's frame moves so long after a frame (P,), as `FrameMotion.row`, (P, 9).

        ``felt`` is the share of its accelerations that are felt, (P,).
        """
        own = slice(4 * number, 4 * number + 4)
        place, sag = self._places[interval, own] + np.zeros((len(seconds), 1, 1)), self.fat.parts[number].sag
        speed = acceleration = np.zeros_like(place)
        if interval + 1 < len(self._times):
            velocity, change = self._speeds[:, interval : interval + 2, own]
            way = self._places[interval + 1, own] - place[0]
            length = float(self._times[interval + 1] - self._times[interval])
            a, b, c, d = acceleration_between.py_func(
                length, way, velocity[0], velocity[1], change[0], change[1]
            )
            s = seconds[:, None, None]
            acceleration = a + s * (b + s * (c + s * d))
            speed = velocity[0] + s * (a + s * (b / 2.0 + s * (c / 3.0 + s * d / 4.0)))
            place = place + s * (velocity[0] + s * (a / 2.0 + s * (b / 6.0 + s * (c / 12.0 + s * d / 20.0))))
        turned = upright(place[:, 1], place[:, 2])
        share, gravity = felt[:, None], self.fat.gravity
        pull = share * _bounded(acceleration[:, 0], MOST[0]) - gravity
        turning, faster = (
            share * _bounded(_axis(np.einsum("pxa,pbx->pab", turned, axes[:, 1:])), most)
            for axes, most in ((speed, MOST[1]), (acceleration, MOST[2]))
        )
        felt_there = np.einsum("px,pxa->pa", pull, turned) + (1.0 - sag) * gravity
        return np.concatenate([felt_there, turning, faster], axis=1)


def _bounded(vectors: Floats, most: float) -> Floats:
    """Vectors (P, 3) shorter than ``most``; those of half the length are a hundredth shorter."""
    length = np.linalg.norm(vectors, axis=1, keepdims=True) / most
    return np.asarray(vectors / (1.0 + length**4) ** 0.25)


def _axis(matrices: Floats) -> Floats:
    """The vectors w (P, 3) with w × v the skew part of matrices (P, 3, 3) times v."""
    skew = 0.5 * (matrices - matrices.swapaxes(1, 2))
    return np.stack([skew[:, 2, 1], skew[:, 0, 2], skew[:, 1, 0]], axis=1)
