"""Frames of what swings, computed ahead of a person who looks, a little at a time.

What swings depends on all frames before, so frames are computed from the first on and kept. Whoever shows
them asks for a little computing between other work (`advance`), shows what there is, and throws all of it
away when anything has changed.
"""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np

from ecorche.body.compile import Body
from ecorche.body.frames import Frame, PointSet
from ecorche.body.live_frames import LiveFrames
from ecorche.body.motion_player import MotionPlayer
from ecorche.body.preroll import with_preroll
from ecorche.document.files import Rig
from ecorche.dynamics.setting import Dynamics, dynamics_named
from ecorche.errors import EcorcheError

MOST_BYTES = 1 << 30
"""Points of frames are kept up to so much memory; what comes after that is not computed."""
PREROLL = 0.5
"""So long before its first frame the body goes from bind into its pose, so that nothing swings yet [s]."""


class DynamicFrames:
    """The frames of a player with what swings.

    Args:
        player: Body, motion and activation.
        dynamics: ``"oscillation"``, ``"fat"`` or ``"springs"``.
        rig: The rig that the body was compiled of, which says how it swings; None for none.
        preroll: See `PREROLL` [s].
        most_bytes: See `MOST_BYTES`.

    Attributes:
        dynamics: As given.
        possible: So many frames can be kept.
        notes: What was left out and why, a sentence each.
    """

    def __init__(
        self,
        player: MotionPlayer,
        dynamics: str,
        rig: Rig | None = None,
        *,
        preroll: float = PREROLL,
        most_bytes: int = MOST_BYTES,
    ) -> None:
        self.dynamics = dynamics_named(dynamics)
        self._player, self._rig, self._preroll = player, rig, preroll
        self._live: LiveFrames | None = None
        self._before = self._settled = 0
        self._points: list[tuple[PointSet, ...]] = []
        self.notes: tuple[str, ...] = ()
        points = sum(len(mesh.mesh.points) for mesh in player.body.character.meshes)
        self.possible = min(len(player), max(1, most_bytes // max(12 * points, 1)))
        if self.possible < len(player):
            self.notes = (
                f"memory holds {self.possible} of {len(player)} frames: load the motion at a lower rate",
            )

    def __repr__(self) -> str:
        return f"DynamicFrames({self.dynamics.value}, {self.computed} of {len(self._player)} frames)"

    @property
    def computed(self) -> int:
        """So many frames there are, from the first on."""
        return len(self._points)

    @property
    def share(self) -> float:
        """How much of the work is done, what comes before the first frame too, 0 to 1."""
        if self._live is None:
            return 0.0
        return (self._settled + self.computed) / (self._before + self.possible)

    @property
    def is_done(self) -> bool:
        """Whether no more frames will be computed."""
        return self.computed >= self.possible

    def advance(self, seconds: float) -> int:
        """Compute for about so long, a frame at least, and tell how many there are then.

        The first call compiles what swings, which may take longer.
        """
        until = time.perf_counter() + seconds
        while not self.is_done:
            live = self._frames()
            if self._settled < self._before:
                swinging = live.fat or live.springs
                if swinging is not None:
                    swinging.at(self._settled)
                self._settled += 1
            else:
                self._points.append(live[self.computed + self._before].points)
            if time.perf_counter() >= until:
                break
        return self.computed

    def frame(self, index: int) -> Frame | None:
        """A frame; None where it is not computed yet."""
        if not 0 <= index < self.computed:
            return None
        body, points = self._player.body, self._points[index]
        when = float(self._player.motion.times[index])
        return Frame(time=when, points=points, normals=body.normals.apply(points))

    def at(self, time: float) -> Frame | None:
        """The frame at or before a time [s]; None where it is not computed yet."""
        return self.frame(self._player.frame_at(time))

    def _frames(self) -> LiveFrames:
        if self._live is None:
            player = self._player
            motion, self._before = with_preroll(player.motion, self._preroll)
            body = _swinging(player.body, self.dynamics, self._rig)
            activation = player.activation
            if activation is not None:  # as in the first frame while it gets there
                still = np.broadcast_to(activation[:1], (self._before, activation.shape[1]))
                activation = np.concatenate([still, activation])
            self._live = LiveFrames(
                body, motion, activation=activation, dynamics=self.dynamics, shown_from=player.begins
            )
            parts = (body.fat, body.springs)
            told = (note for part in parts if part is not None for note in part.notes)
            self.notes = tuple(dict.fromkeys((*self.notes, *told)))
        return self._live


def _swinging(body: Body, dynamics: Dynamics, rig: Rig | None) -> Body:
    """The body with what swings."""
    if dynamics is Dynamics.OSCILLATION and body.lines is None:
        raise EcorcheError(
            "there are no muscles that could swing: those that are meshes do",
            where=body.character.name,
            remedy="Make the rig with muscles that are meshes, or choose fat or springs",
        )
    if dynamics is Dynamics.FAT:
        from ecorche.body.compile_fat import compile_fat

        return replace(body, fat=compile_fat(body, rig))
    if dynamics is Dynamics.SPRINGS:
        from ecorche.body.compile_springs import compile_springs

        return replace(body, springs=compile_springs(body, rig))
    return body
