"""The motion of one page: which moment it shows, what swings, its activation curves and their history."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ecorche.body.compile import Body
from ecorche.body.dynamic_frames import DynamicFrames
from ecorche.body.live_frames import LiveFrames
from ecorche.body.motion_player import MotionPlayer
from ecorche.body.perform import perform
from ecorche.document.files import Rig
from ecorche.document.spec import SkeletonSpec
from ecorche.dynamics.setting import Dynamics, dynamics_named
from ecorche.errors import EcorcheError
from ecorche.io.formats import read_motion
from ecorche.muscles.keyed_curves import KeyedCurves
from ecorche.skeleton.motion import Motion
from ecorche.studio.history import History
from ecorche.studio.session import Moment, Session

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Loading:
    """How a motion was asked for.

    Attributes:
        motion: As it was read.
        file: Its name; None for a clip of the character.
        feet: See `perform`.
        rate: Frames a second; None keeps its own.
        limits: Whether joints stay within limits; None is what the rig says.
    """

    motion: Motion
    file: str | None
    feet: str
    rate: float | None
    limits: bool | None


@dataclass(eq=False)
class PlayedMotion:
    """What one page plays.

    Attributes:
        session: The page.
        time: Which moment is shown [s].
        dynamics: What swings.
        ahead: Its frames, computed so far; None for none.
        lines: What loading told, a sentence each.
    """

    session: Session
    time: float = 0.0
    dynamics: Dynamics = Dynamics.OFF
    ahead: DynamicFrames | None = None
    lines: tuple[str, ...] = ()
    _loading: Loading | None = None
    _player: MotionPlayer | None = None
    _skeleton: SkeletonSpec | None = None
    _rig: Rig | None = None
    _local: Floats | None = None
    _history: History[KeyedCurves] = field(default_factory=lambda: History(KeyedCurves(), "among the curves"))

    @property
    def player(self) -> MotionPlayer | None:
        """The player of the body as it is now; None where no motion is loaded."""
        if self._loading is None or self._player is None:
            return None
        rig, body = self.session.document.rig, self.session.document.body
        if rig is not self._rig:
            if _moves_otherwise(self._skeleton, rig.spec.skeleton, self._loading.limits):
                self._perform()
            elif self._player.body is not body:
                self._player = self._player.with_body(body)
            if self._player.curves is not self._known(body):
                self._player = self._player.with_curves(self._known(body))
            self._rig = rig
            self._restart()
        return self._player

    @property
    def curves(self) -> KeyedCurves:
        """The activation curves, also those of muscles that are not there now."""
        return self._history.now.state

    @property
    def undo_label(self) -> str | None:
        """What undoing curves would take back."""
        return self._history.undo_label

    @property
    def redo_label(self) -> str | None:
        """What it would do again."""
        return self._history.redo_label

    @property
    def loading(self) -> Loading | None:
        """How the motion was asked for; None for none."""
        return self._loading

    @property
    def is_shown(self) -> bool:
        """Whether the page shows the motion: a pose that was changed since is shown in its place."""
        return self._player is not None and self._local is self.session.local

    def load(self, loading: Loading) -> None:
        """Play another motion."""
        before = self._loading, self._player
        self._loading = loading
        try:
            self._perform()
        except EcorcheError:
            self._loading, self._player = before
            raise
        assert self._player is not None
        self.time = self._player.begins
        self._restart()
        self.show()

    def drop(self) -> None:
        """Forget the motion."""
        self._loading = self._player = self.ahead = self._local = None
        self.lines = ()
        self.session.moment = None

    def show(self) -> None:
        """Show it in place of the pose."""
        if self._player is not None:
            self._local = self.session.local
            self.session.moment = self.moment

    def pose_from_here(self) -> None:
        """Make the moment that is shown the page's pose, and show that."""
        if (player := self.player) is not None:
            self.session.local = player.pose_at(self.time).local
            self.session.moment = None

    def seek(self, time: float) -> bool:
        """Show a moment [s]; whether it lacks what swings, which is not computed that far."""
        player = self.required()
        self.time = min(max(time, player.begins), player.ends)
        self.show()
        return self.ahead is not None and player.frame_at(self.time) >= self.ahead.computed

    def required(self) -> MotionPlayer:
        """The player; refused where no motion is loaded."""
        if (player := self.player) is None:
            raise EcorcheError("no motion is loaded", remedy="Load one first")
        return player

    def moment(self) -> Moment:
        """What the page shows."""
        player = self.player
        if player is None or not self.is_shown:
            self.session.moment = None
            return self.session.posed
        time, frame = self.time, None
        if self.ahead is not None:
            frame = self.ahead.at(time)
            if frame is not None:  # what swings is known at frames alone
                time = frame.time
        pose = player.pose_at(time)
        weights = {name: np.array([weight]) for name, weight in pose.morph_weights.items()}
        one = Motion(player.motion.name, player.motion.skeleton, np.array([time]), pose.local[None], weights)
        active = None if pose.activation is None else self.session.by_hand(pose.activation[None])
        live = LiveFrames(player.body, one, activation=active)
        return Moment(live, 0, time, frame)

    def swing(self, name: str) -> None:
        """Choose what swings."""
        dynamics, before = dynamics_named(name), self.dynamics
        self.dynamics = dynamics
        try:
            self._restart()
        except EcorcheError:
            self.dynamics = before
            self._restart()
            raise

    def change(self, curves: KeyedCurves, label: str, gesture: str | None = None) -> None:
        """Take other curves as the next step; those that no muscle here follows are refused."""
        player = self._player
        if player is not None:  # refuses what it cannot play before anything has changed
            self._player = self.required().with_curves(curves)
        self._history.take(curves, label, gesture=gesture)
        self._restart()

    def step(self, by: int) -> str:
        """Undo (−1) or redo (1) a change of curves; what it was."""
        step = self._history.undo() if by < 0 else self._history.redo()
        if self._player is not None:
            self._player = self._player.with_curves(self._known(self._player.body))
        self._restart()
        return step.label

    def _perform(self) -> None:
        """Put the motion on the character."""
        document, asked = self.session.document, self._loading
        assert asked is not None
        rig = document.rig
        done = perform(
            document.character,
            asked.motion,
            feet=asked.feet,
            rate=asked.rate,
            rig=rig,
            limits=asked.limits,
            muscles=False,
        )
        assert done.take.motion is not None  # one was given
        self._player = MotionPlayer(document.body, done.take.motion, self._known(document.body))
        self._rig, self._skeleton = rig, rig.spec.skeleton
        reports = (done.retargeting, done.limits)
        self.lines = tuple(
            line for report in reports if report is not None for line in str(report).split("\n")
        )

    def _known(self, body: Body) -> KeyedCurves:
        """Curves that muscles of a body follow: an edit may have taken some away."""
        curves = self.curves
        muscles = MotionPlayer.muscles_of(body)
        called = {word for muscle in muscles for word in (muscle.name, muscle.muscle, muscle.group)}
        gone = [n for n in curves.curves if n not in called and n.replace("_", " ") not in called]
        for name in gone:
            curves = curves.without_curve(name)
        return curves

    def _restart(self) -> None:
        """Begin anew with what swings."""
        self.ahead = None
        if self._player is not None and self.dynamics is not Dynamics.OFF:
            self.ahead = DynamicFrames(self._player, self.dynamics.value, self.session.document.rig)


def motion_from(session: Session, path: Path, clip: str | None) -> Motion:
    """The motion in a file; a hand-written one is made for the character."""
    if path.suffix.lower() == ".pose":
        from ecorche.io.keyframes import read_keyframes

        return read_keyframes(path, session.document.character.skeleton)
    return read_motion(path, clip)


def _moves_otherwise(before: SkeletonSpec | None, now: SkeletonSpec, limits: bool | None) -> bool:
    """Whether a motion has to be put on the character anew: names, or limits that it is kept within."""
    if before is None or before.mapping != now.mapping:
        return True
    enforced = limits or (limits is None and "enforce" in (before.limits, now.limits))
    return bool(enforced and before != now)
