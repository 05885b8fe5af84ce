"""Bodies with mesh muscles in keyed motions: each joint through its whole range and back, there and there.

The dog's joints go as far as its model says; the leg's ankle from 20° up to 30° down. A swing takes two
seconds.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.line_muscle_bodies import RangedBody, dog, leg
from ecorche.body.live_frames import LiveFrames
from ecorche.body.perform import perform
from ecorche.skeleton.motion import Motion

SECONDS, RATE = 2.0, 30.0
"""How long a swing takes [s], and its frames a second."""


def swing(body: RangedBody, joint: str) -> LiveFrames:
    """A body whose joint goes from bind to one end of its range, to the other and back, as it is rigged."""
    count = round(SECONDS * RATE) + 1
    shares = np.sin(np.linspace(0.0, 2.0 * np.pi, count))
    local = np.stack([body.posed({joint: float(share)}) for share in shares])
    motion = Motion(joint, body.character.skeleton, np.arange(count) / RATE, local)
    frames = perform(body.character, motion, rig=body.rig).take.frames
    assert isinstance(frames, LiveFrames)
    return frames


def motions() -> Iterator[tuple[str, str, LiveFrames, LiveFrames]]:
    """Who does what: with the skin over its muscles, and by plain skinning."""
    for who, made in (("dog", dog), ("man's leg", leg)):
        body = made()
        for joint in body.ranges:
            live = swing(body, joint)
            yield who, joint, live, LiveFrames(live.body.without_muscles(), live.motion)
