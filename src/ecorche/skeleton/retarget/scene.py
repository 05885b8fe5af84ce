"""Source and target of a retargeting side by side: feet, floors, sizes, and what was solved."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecorche.base.rotations import xyzw_from_matrix
from ecorche.skeleton.motion import Motion
from ecorche.skeleton.retarget.figure import Figure, common_ancestor
from ecorche.skeleton.retarget.soles import (
    Sole,
    contacts,
    floor_at_bind,
    floor_of_motion,
    lowest,
    soles_of,
)
from ecorche.skeleton.retarget.turns import Performed

Floats = npt.NDArray[np.float64]

LEAP = 0.5  # in an entry of a rotation's matrix: about 30 degrees


@dataclass(frozen=True, eq=False)
class Scene:
    """Source and target side by side: what both modes need."""

    source: Figure
    target: Figure
    moved: Performed
    times: Floats
    leaps_in: bool  # whether frame 0 is a pose put before the motion, see `leaps_in`
    soles: tuple[tuple[Sole, Sole], tuple[Sole, Sole]]  # source's, target's
    source_places: tuple[Floats, Floats]  # heel, ball, tip of both feet, (frames, 3, 3)
    source_floor: float
    floor: float
    scale: float
    body: Floats  # correction of the whole figure, xyzw
    carrier: int  # the target joint that travels

    @staticmethod
    def of(motion: Motion, source: Figure, target: Figure, moved: Performed) -> Scene:
        """Look at both figures and at the motion as the source performs it."""
        soles = soles_of(source), soles_of(target)
        left, right = (sole.places(moved.positions, moved.turns) for sole in soles[0])
        upper = [target.joints[n] for n in ("l_shoulder", "r_shoulder", "skullbase") if n in target.joints]
        return Scene(
            source,
            target,
            moved,
            motion.times,
            leaps_in(motion),
            soles,
            (left, right),
            floor_of_motion((left, right)),
            floor_at_bind(target),
            target.leg_length / source.leg_length,
            xyzw_from_matrix(source.axes @ target.axes.T),
            common_ancestor(target.skeleton, [target.joints["l_hip"], target.joints["r_hip"], *upper]),
        )

    @property
    def clock(self) -> Floats:
        """Times for what is smoothed in time, (frames,) [s]: a pose put before the motion is far away."""
        return np.append(self.times[0] - 10.0, self.times[1:]) if self.leaps_in else self.times

    def hip_centres(self, positions: Floats) -> tuple[Floats, Floats]:
        """Midpoints between the hips over time, source's and target's, (frames, 3) [m]."""
        theirs, ours = (
            np.asarray(0.5 * (p[:, f.joints["l_hip"]] + p[:, f.joints["r_hip"]]))
            for f, p in ((self.source, self.moved.positions), (self.target, positions))
        )
        return theirs, ours

    def planted(self) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int8]]:
        """Which point of the source's soles is planted when, see `contacts`."""
        return contacts(self.source_places, self.source_floor, self.times, self.source.leg_length)

    def standing(self) -> npt.NDArray[np.bool_]:
        """True for frames in which a foot of the source is planted, (frames,)."""
        left, right = self.planted()
        between = (left >= 0) | (right >= 0)
        return np.asarray(np.append(between, False) | np.append(False, between))

    def height_above_floor(self) -> Floats:
        """How high the target's lowest sole should be above its floor, (frames,) [m].

        Zero while a foot of the source is planted, whatever a few centimetres of noise say; else
        the source's height, times the scale, above where it was last and will next be planted.
        """
        height = lowest(self.source_places)
        standing = self.standing()
        floor = np.full(len(height), self.source_floor)
        if standing.any():
            floor = np.interp(self.times, self.times[standing], height[standing])
        return np.asarray(self.scale * (height - floor))


def leaps_in(motion: Motion) -> bool:
    """Whether a motion leaps from its first frame to the second and not on, as captures with a T-pose do."""
    if motion.frame_count < 3:
        return False
    leap, following = np.abs(np.diff(motion.local[:3, :, :3, :3], axis=0)).max(axis=(1, 2, 3))
    return bool(leap > max(LEAP, 5.0 * following))


@dataclass(frozen=True, eq=False)
class Solved:
    """Turns and positions of the target's joints, and which source joint leads each."""

    turns: Floats
    positions: Floats
    leader: dict[int, int]
    out_of_reach: float = 0.0

    def places(self, scene: Scene) -> tuple[Floats, Floats]:
        """Heel, ball and tip of both feet, (frames, 3, 3) each [m]."""
        left, right = (sole.places(self.positions, self.turns) for sole in scene.soles[1])
        return left, right
