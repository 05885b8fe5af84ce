"""What of a take carries history: whether its frames may be baked apart, and if not, why."""

from __future__ import annotations

from ecorche.body.finer_skin import FinerFrames
from ecorche.body.frames import Frames
from ecorche.body.instance_evaluator import InstanceEvaluator
from ecorche.body.live_frames import LiveFrames
from ecorche.body.muscle_meshes import MuscleFrames
from ecorche.body.played_frames import PlayedFrames
from ecorche.body.take import Take
from ecorche.dynamics.setting import Dynamics


def live_frames(frames: Frames | None) -> LiveFrames | None:
    """The frames as they are computed, beneath what makes them finer, adds muscles or plays them."""
    frames = _of_skin(frames)
    if isinstance(frames, PlayedFrames):
        frames = frames.live
    return frames if isinstance(frames, LiveFrames) else None


def player_of(frames: Frames | None) -> InstanceEvaluator | None:
    """What plays the frames, where that is not the processor frame by frame."""
    frames = _of_skin(frames)
    return frames.evaluator if isinstance(frames, PlayedFrames) else None


def _of_skin(frames: Frames | None) -> Frames | None:
    if isinstance(frames, FinerFrames):
        frames = frames.coarse
    return frames.skin if isinstance(frames, MuscleFrames) else frames


def history(take: Take) -> tuple[str, ...]:
    """What makes a frame depend on all before it, a sentence each; none where frames may be baked apart.

    A part of such a take is exact too, as it goes through the motion from the first frame on, but saves
    nothing. Retargeting, limits, activation and filters that look a few frames around are not among them:
    they see the whole motion whatever part is baked.
    """
    live = live_frames(take.frames)
    if live is None:
        return ()
    found = []
    if live.body.fat is not None:
        found.append("fat swings")
    if live.body.springs is not None:
        found.append("masses swing on springs")
    if live.body.lines is not None and live.body.lines.musculature.paths.has_history:
        found.append("elastic action lines begin where they were in the frame before")
    if live.dynamics is Dynamics.OSCILLATION:
        found.append("muscles on action lines swing")
    if live.body.coupling is not None and live.body.coupling.spec.time_filter == "following":
        found.append("the coupling's filter in time follows what was")
    return tuple(found)
