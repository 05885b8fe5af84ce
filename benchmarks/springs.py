"""Muscles and skin as masses on springs: landings, a run and a blow on a muscular man, and how fast."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.signal import butter, sosfiltfilt

from benchmarks import plots
from benchmarks.bodies import DATA
from benchmarks.timing import fastest_by_turns
from ecorche.body.character import Character
from ecorche.body.live_frames import LiveFrames
from ecorche.body.perform import perform
from ecorche.body.rig import create_rig
from ecorche.document.files import Rig
from ecorche.document.springs_spec import BlowSpec, SpringsSpec
from ecorche.dynamics.implicit_springs import ImplicitSprings
from ecorche.dynamics.spring_steps import SpringSteps, still
from ecorche.dynamics.springs import Springs, damping_of
from ecorche.io.formats import read_character, read_motion
from ecorche.muscles.activation import Constant

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

FIGURE = Path(__file__).with_name("figures") / "springs.png"
MOTIONS = {
    "jump, landing": ("13_13", (250, 350)),
    "forward jump, landing": ("13_39", (205, 305)),
    "run": ("02_03", (20, 150)),
}
"""File of each, and frames at 120 Hz."""
PREROLL = 0.5
LEG = {
    "calf": ("RightLeg", (0.15, 0.5), (0.0, -1.0)),
    "over the tibia": ("RightLeg", (0.3, 0.8), (0.7, 0.7)),
    "thigh, in front": ("RightUpLeg", (0.3, 0.75), (0.0, 1.0)),
}
"""Joint, from where to where along its bone, and which way skin looks: x, to the left, and z, forwards."""


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


def frames_of(motion: str, active: float | None = None, **said: Any) -> LiveFrames:
    """The man in a motion, with other springs, all muscles as active as said."""
    character, _ = man()
    file, part = MOTIONS[motion]
    live = perform(
        character,
        read_motion(DATA / "cmu" / f"{file}.bvh"),
        rig=rig_with(**said),
        frames=part,
        preroll=PREROLL,
        dynamics="springs",
        activation=None if active is None else Constant(np.full(man()[1].spec.muscles.count, active)),
    ).take.frames
    assert isinstance(live, LiveFrames)
    return live


def part_of_skin(place: tuple[str, tuple[float, float], tuple[float, float]]) -> Ints:
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


def swings(live: LiveFrames, places: Mapping[str, Any]) -> tuple[Floats, dict[str, Floats]]:
    """Times [s] and, for each place, how far its skin is from where it is without dynamics [m], (frames, 3)."""
    springs, motion = live.body.springs, live.springs
    assert springs is not None
    assert motion is not None
    masses = {name: springs.welded[part_of_skin(place)] for name, place in places.items()}
    found: dict[str, list[Floats]] = {name: [] for name in places}
    for index in range(len(live)):
        _ = live[index]
        for name, own in masses.items():
            found[name].append(motion.steps.offsets[own].mean(axis=0))
    return np.asarray(live.times), {name: np.array(rows) for name, rows in found.items()}


@dataclass(frozen=True)
class Swing:
    """How something swings: its largest [m], its frequency [Hz], and until a fifth of it is left [s]."""

    largest: float
    frequency: float
    decay: float


def swing(times: Floats, offsets: Floats) -> Swing:
    """Amplitude, frequency and decay of what is left above 5 Hz, along the direction in which most of it is."""
    rate = 1.0 / float(np.median(np.diff(times)))
    fast = sosfiltfilt(butter(2, 5.0, "high", fs=rate, output="sos"), offsets, axis=0)
    _, _, axes = np.linalg.svd(fast - fast.mean(axis=0), full_matrices=False)
    along = fast @ axes[0]
    spectrum = np.abs(np.fft.rfft(along * np.hanning(len(along)), 8 * len(along)))
    frequency = float(np.fft.rfftfreq(8 * len(along), 1.0 / rate)[np.argmax(spectrum)])
    size = np.linalg.norm(fast, axis=1)
    peak = int(np.argmax(size))
    left = np.flatnonzero(size[peak:] > 0.2 * size[peak])
    return Swing(
        float(np.linalg.norm(offsets, axis=1).max()), frequency, float(times[peak + left[-1]] - times[peak])
    )
