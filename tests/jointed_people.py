"""Real people with their muscles as joints, made once."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ecorche.body.as_joints import JointedCharacter, jointed_character, skinned_as
from ecorche.body.drivers.learn import learn_drivers
from ecorche.body.drivers.table import DriverTable
from ecorche.io.formats import read_motion
from ecorche.skeleton.motion import Motion
from ecorche.skeleton.resample import resample
from ecorche.skeleton.retarget import retarget
from ecorche.skin.linear import LinearSkinning
from rigged_people import person, rigged

MAN, DRESSED = "human/male_muscular_cmu_mb.glb", "human/male_dressed_mixamo.glb"
RATE = 24


@cache
def jointed(path: Path, influences: int | None = 4) -> JointedCharacter:
    return jointed_character(person(path), rigged(path), influences=influences)


@cache
def driven(path: Path) -> DriverTable:
    """Drivers learnt from fewer poses than the command takes, to be sooner."""
    return learn_drivers(jointed(path), rigged(path), poses=400)


@cache
def captured(path: Path, clip: Path) -> Motion:
    """Thirty frames of a captured motion, without the reference pose it begins with."""
    motion = resample(retarget(read_motion(clip), person(path).skeleton).motion, rate=RATE)
    return motion.part(4, 33)


def shown(made: JointedCharacter, difference: npt.NDArray[np.float64]) -> list[npt.NDArray[np.float32]]:
    """Points of every mesh [m] by linear skinning to all joints, ``M − I`` (joints, 4, 4)."""
    points = []
    for mesh in made.character.meshes:
        assert mesh.weights is not None
        points.append(LinearSkinning(mesh.mesh.points, mesh.weights).apply(skinned_as(mesh, difference)))
    return points
