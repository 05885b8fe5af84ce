"""What one page has for itself: its pose, the muscles it works by hand, and what it is shown of them."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ecorche.body.drawn_muscles import DrawnMuscles
from ecorche.body.frames import Frame
from ecorche.body.lines import LineMotion
from ecorche.body.live_frames import LiveFrames
from ecorche.body.live_lines import LiveLines
from ecorche.document.files import Rig
from ecorche.errors import EcorcheError
from ecorche.skeleton.motion import Motion
from ecorche.studio.document import OpenDocument
from ecorche.studio.messages.base import Event
from ecorche.studio.scene import Scene

if TYPE_CHECKING:
    from ecorche.studio.workspace import Workspace

Floats = npt.NDArray[np.float64]

RESTS = 32
"""Of so many states of the rig it is remembered where elastic lines lay."""


@dataclass(frozen=True, eq=False)
class Moment:
    """What a page shows: a frame of live frames.

    Attributes:
        live: The frames.
        index: Of the frame.
        time: On the motion's clock [s].
        frame: What is shown of the skin in place of the live frame: what swings was computed ahead.
    """

    live: LiveFrames
    index: int
    time: float
    frame: Frame | None = None


@dataclass(eq=False)
class Session:
    """One page.

    Attributes:
        opened: The file it works on, shared with other pages; None while nothing is open.
        tell: Sends an event to this page.
        local: Its pose, ``parent_from_joint``, (joints, 4, 4).
        activation: Muscles worked by hand, by name, 0 to 1.
        moment: What it shows in place of its pose, such as a moment of a motion; None is the pose.
        kept: What the areas keep for this page, by their name.
        space: All that the server has open; None where it serves one document without a folder.
    """

    opened: OpenDocument | None
    tell: Callable[[Event], None]
    local: Floats = field(init=False)
    activation: dict[str, float] = field(default_factory=dict)
    moment: Callable[[], Moment] | None = None
    kept: dict[str, Any] = field(default_factory=dict)
    space: Workspace | None = None
    _scene: Scene | None = None
    _drawn: DrawnMuscles | None = None
    _lines: LiveLines | None = None
    _rests: list[tuple[Rig, LiveLines]] = field(default_factory=list)
    _pose: tuple[int, Floats, tuple[tuple[str, float], ...], Moment] | None = None

    def __post_init__(self) -> None:
        self.rest()

    @property
    def document(self) -> OpenDocument:
        """The file it works on; refused while nothing is open."""
        if self.opened is None:
            raise EcorcheError("nothing is open", remedy="Open a file first")
        return self.opened

    def show(self, document: OpenDocument | None) -> None:
        """Work on another file, from bind."""
        self.opened, self.moment = document, None
        self.kept.clear()
        self._scene = self._drawn = self._lines = self._pose = None
        self.rest()

    @property
    def scene(self) -> Scene:
        """What stays the same until an edit."""
        if self._scene is None or self._scene.body is not self.document.body:
            self._scene = Scene(self.document.body, self.document.rig)
        return self._scene

    def drawn(self, moment: Moment) -> DrawnMuscles:
        """The muscles of a moment's frames."""
        if self._drawn is None or self._drawn.body is not moment.live.body:
            self._drawn = DrawnMuscles(moment.live)
        return self._drawn.over(moment.live)

    def rest(self) -> None:
        """Back to bind, no muscle worked by hand."""
        self.local = np.zeros((0, 4, 4))
        if self.opened is not None:
            self.local = np.array(self.opened.character.skeleton.bind_local)
        self.activation.clear()
        self.forget_rest()

    @property
    def lines(self) -> LiveLines | None:
        """The action lines in the page's pose: elastic ones go on from where they rest, through edits too."""
        body = self.document.body
        if body.lines is None:
            self._lines = None
            return None
        if self._lines is None or self._lines.skeleton is not body.character.skeleton:
            self._lines = LiveLines(body.lines, body.character.skeleton)
            self._rests.clear()
        elif self._lines.lines is not body.lines:
            # what is undone lies as it lay then: a line that was led round something need not find back
            known = next((live for rig, live in self._rests if rig is self.document.rig), None)
            same_pose = known is not None and np.array_equal(known.local, self._lines.local)
            before = known if known is not None and same_pose else self._lines
            self._lines = before.taken_over(body.lines)
        if not np.array_equal(self._lines.local, self.local):
            self._lines.pose(self.local)
        self._rests[:] = [(rig, live) for rig, live in self._rests if rig is not self.document.rig]
        self._rests.append((self.document.rig, copy(self._lines)))
        del self._rests[:-RESTS]
        return self._lines

    def forget_rest(self) -> None:
        """Let elastic lines come to rest anew, from bind."""
        self._lines = self._pose = None
        self._rests.clear()

    @property
    def shown(self) -> Moment:
        """What the page shows now."""
        return self.posed if self.moment is None else self.moment()

    @property
    def posed(self) -> Moment:
        """The page's own pose."""
        key = self.document.revision, self.local, tuple(sorted(self.activation.items()))
        kept = self._pose
        if kept is None or kept[0] != key[0] or kept[1] is not key[1] or kept[2] != key[2]:
            self._pose = (*key, self._one_frame())
        assert self._pose is not None
        return self._pose[3]

    def _one_frame(self) -> Moment:
        body = self.document.body
        motion = Motion("pose", body.character.skeleton, np.zeros(1), self.local[None])
        live = LiveFrames(body, motion)
        if self.activation and live.activation is not None:
            live.activation = self.by_hand(live.activation)
        lines = self.lines
        if lines is not None and lines.lines.musculature.paths.has_history:
            nodes, elongation = lines.posed.nodes, lines.posed.elongation
            live.lines = LineMotion.held(lines.lines, motion, nodes, elongation)
        return Moment(live, 0, 0.0)

    def by_hand(self, activation: Floats) -> Floats:
        """Activations (frames, muscles) with those of muscles that are worked by hand."""
        changed, names = activation.copy(), self.document.body.muscle_names
        for name, value in self.activation.items():
            if name in names:  # it may be gone by an edit or undo
                changed[:, names.index(name)] = value
        return changed
