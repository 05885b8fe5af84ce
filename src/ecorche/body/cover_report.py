"""How far the body shows through what it wears, over some frames of a take."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ecorche.body.compile import skinned_points
from ecorche.body.garments import CoverReport, covers
from ecorche.body.live_frames import LiveFrames

FRAMES = 10
"""So many frames are looked at, evenly spread: measuring one takes longer than baking one."""


@dataclass(frozen=True)
class WornThrough:
    """The worst frame of one garment."""

    garment: str
    frame: int
    report: CoverReport

    def __str__(self) -> str:
        return f"{self.garment!r}, frame {self.frame}: {self.report.line()}"


def worn_through(frames: LiveFrames, count: int = FRAMES) -> list[WornThrough]:
    """For each garment over a muscled body, the frame in which the body comes through it furthest."""
    body = frames.body
    if body.muscles is None or not any(body.muscles.garments):
        return []
    still = np.zeros((body.character.skeleton.joint_count, 4, 4))
    bind = skinned_points(body, still, (None,) * len(body.character.meshes))
    worn = covers(body.character, body.muscles.skin, bind)
    over_muscles = np.diff(body.muscles.influences.starts) > 0
    plain = LiveFrames(body.without_muscles(), frames.motion, frames.posed)
    worst: dict[int, WornThrough] = {}
    for frame in np.unique(np.linspace(0, len(frames) - 1, count).astype(int)).tolist():
        after, before = frames[frame].points, plain[frame].points
        for number, cover in enumerate(worn):
            if cover is None or not over_muscles[cover.covered].any():  # eyes cover skin that nothing moves
                continue
            skin = body.muscles.skin
            found = cover.check(after[skin], after[number], before[skin], before[number])
            if number not in worst or found.deepest > worst[number].report.deepest:
                worst[number] = WornThrough(body.character.meshes[number].name, frame, found)
    return [worst[number] for number in sorted(worst)]
