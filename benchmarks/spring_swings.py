"""How the skin of a muscular man's leg swings in captured landings and a run, and how that is measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.signal import butter, sosfiltfilt

from benchmarks.bodies import DATA
from ecorche.body.character import Character
from ecorche.body.live_frames import LiveFrames
from ecorche.body.perform import perform
from ecorche.body.rig import create_rig
from ecorche.document.files import Rig
from ecorche.document.springs_spec import SpringsSpec
from ecorche.io.formats import read_character, read_motion
from ecorche.muscles.activation import Constant
from ecorche.skeleton.kinematics import difference_from_bind

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Place = tuple[str, tuple[float, float], tuple[float, float]]

MOTIONS = {
    "jump, landing": ("13_13", (256, 330)),
    "forward jump, landing": ("13_39", (210, 284)),
    "run": ("02_03", (40, 114)),
}
"""File of each, and frames at 120 Hz."""
PREROLL = 0.3
LEG: dict[str, Place] = {
    "calf": ("RightLeg", (0.15, 0.5), (0.0, -1.0)),
    "over the tibia": ("RightLeg", (0.3, 0.8), (0.7, 0.7)),
    "thigh, in front": ("RightUpLeg", (0.3, 0.75), (0.0, 1.0)),
}
"""Joint, from where to where along its bone, and which way skin looks: x, to the left, and z, forwards."""
SLOWEST = 5.0
"""What is slower is no swing [Hz]."""
WATCHED = 0.5
"""So long after a landing a swing is measured [s]."""


@cache
def man() -> tuple[Character, Rig]:
    """The muscular man and his rig."""
    character = read_character(DATA / "human" / "male_muscular_cmu_mb.glb")
    assert character.source is not None
    return character, create_rig(character, character.source, "man.ecorche")


def rig_with(**said: Any) -> Rig:
    """His rig with other springs."""
    _, rig = man()
    return replace(rig, spec=rig.spec.model_copy(update={"springs": SpringsSpec(**said)}))


def frames_of(motion: str, active: float | None = None, *, every: int = 1, **said: Any) -> LiveFrames:
    """The man in a motion, or every so many of its frames, with other springs, all muscles so active."""
    character, _ = man()
    file, (first, last) = MOTIONS[motion]
    live = perform(
        character,
        read_motion(DATA / "cmu" / f"{file}.bvh"),
        rig=rig_with(**said),
        rate=120.0 / every,
        frames=(first // every, last // every),
        preroll=PREROLL,
        dynamics="springs",
        activation=None if active is None else Constant(np.full(man()[1].spec.muscles.count, active)),
    ).take.frames
    assert isinstance(live, LiveFrames)
    return live


@cache
def part_of_skin(place: Place) -> Ints:
    """Vertices of the skin along a bone that look a way."""
    character, rig = man()
    mesh = character.body(rig.spec.body)
    assert mesh.weights is not None
    joint = character.skeleton.names.index(place[0])
    joints, shares = mesh.weights.padded()
    own = np.where(joints == joint, shares, 0.0).sum(axis=1) > 0.7
    head, tip = character.skeleton.bind_world[joint, :3, 3], character.skeleton.tail_positions()[joint]
    points = mesh.mesh.points.astype(np.float64)
    along = (points - head) @ (tip - head) / np.sum((tip - head) ** 2)
    axis = head + along[:, None] * (tip - head)
    aside = points - axis
    facing = aside[:, [0, 2]] @ place[2] / np.maximum(np.linalg.norm(aside, axis=1), 1e-9)
    return np.flatnonzero(own & (along > place[1][0]) & (along < place[1][1]) & (facing > 0.8))


@dataclass(frozen=True, eq=False)
class Swings:
    """Some places of a skin through a motion.

    Attributes:
        times: Of the frames [s], (F,).
        offsets: Of each place, how far its vertices are from where they are without dynamics, in the axes of
            their bone at bind [m], (F, vertices, 3).
        without: Of each place, where its middle is without, by the same axes and from bind [m], (F, 3).
        heights: Of the knee, where a landing is seen [m], (F,).
    """

    times: Floats
    offsets: dict[str, Floats]
    without: dict[str, Floats]
    heights: Floats

    @property
    def landing(self) -> int:
        """The frame in which the knee is thrown up the most."""
        rate = 1.0 / float(np.median(np.diff(self.times)))
        smooth = sosfiltfilt(butter(2, 20.0, fs=rate, output="sos"), self.heights)
        within = max(3, len(smooth) // 8)
        return within + int(np.argmax(np.gradient(np.gradient(smooth))[within:-within]))


def swings(live: LiveFrames, places: Mapping[str, Place] = LEG) -> Swings:
    """Places of the man's skin through a motion, frame by frame."""
    springs, motion = live.body.springs, live.springs
    assert springs is not None
    assert motion is not None
    skeleton = live.body.character.skeleton
    bind = live.body.character.meshes[springs.mesh].mesh.points.astype(np.float64)
    knee = skeleton.names.index("RightLeg")
    offsets: dict[str, list[Floats]] = {name: [] for name in places}
    without: dict[str, list[Floats]] = {name: [] for name in places}
    heights = []
    for index in range(len(live)):
        frame = live[index].points[springs.mesh].astype(np.float64)
        away = springs.on_skin(motion.steps.offsets)
        moved = difference_from_bind(skeleton, live.pose(index).local)
        heights.append(float((moved[knee] + np.eye(4))[1] @ skeleton.bind_world[knee, :, 3]))
        for name, place in places.items():
            own = part_of_skin(place)
            bone = moved[skeleton.names.index(place[0])] + np.eye(4)
            turn = bone[:3, :3]
            offsets[name].append(away[own] @ turn)
            still = (frame[own] - away[own] - bone[:3, 3]) @ turn - bind[own]
            without[name].append(still.mean(axis=0))
    return Swings(
        np.asarray(live.times),
        {name: np.array(rows) for name, rows in offsets.items()},
        {name: np.array(rows) for name, rows in without.items()},
        np.array(heights),
    )


def fast_part(times: Floats, ways: Floats) -> Floats:
    """What is left of ways (F, …) above `SLOWEST`, without a lag."""
    rate = 1.0 / float(np.median(np.diff(times)))
    return np.asarray(sosfiltfilt(butter(2, SLOWEST, "high", fs=rate, output="sos"), ways, axis=0))


@dataclass(frozen=True)
class Swing:
    """How a place swings.

    Attributes:
        size: Root mean square of what is above `SLOWEST`, over its vertices and `WATCHED` from the landing
            on [m].
        largest: The farthest its middle is from where it is without [m].
        frequency: Of most of the swing [Hz].
        decay: Until a fifth of it is left [s].
    """

    size: float
    largest: float
    frequency: float
    decay: float


def swing(found: Swings, place: str, landing: int) -> Swing:
    """Amplitude, frequency and decay at a place from a frame on."""
    ways = found.offsets[place]
    fast = fast_part(found.times, ways)
    rate = 1.0 / float(np.median(np.diff(found.times)))
    begin = max(0, landing - 2)
    watched = fast[begin : begin + round(WATCHED * rate)]
    middle = watched.mean(axis=1)
    _, _, axes = np.linalg.svd(middle - middle.mean(axis=0), full_matrices=False)
    along = (middle - middle.mean(axis=0)) @ axes[0]
    spectrum = np.abs(np.fft.rfft(along * np.hanning(len(along)), 16 * len(along)))
    frequency = float(np.fft.rfftfreq(16 * len(along), 1.0 / rate)[np.argmax(spectrum)])
    size = np.linalg.norm(middle, axis=1)
    peak = int(np.argmax(size))
    left = np.flatnonzero(size[peak:] > 0.2 * size[peak])
    return Swing(
        float(np.sqrt(np.mean(np.sum(watched**2, axis=2)))),
        float(np.linalg.norm(ways.mean(axis=1), axis=1).max()),
        frequency,
        float(left[-1]) / rate,
    )
