"""Models of an arm and of a walking person, poses for them, and the same models in OpenSim itself."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from conftest import skip_or_fail
from ecorche.io.osim import OsimModel

Floats = npt.NDArray[np.float64]
Pose = dict[str, float]

ARM_FILE, WALKER_FILE = Path("arm26", "arm26.osim"), Path("walk", "subject_walk_scaled.osim")
LENGTH = 1e-4  # metres, asked for
ARM, SHARE = 5e-4, 0.01  # moment arms: metres, or this share
LEG = ("hip_flexion_r", "hip_adduction_r", "hip_rotation_r", "knee_angle_r", "ankle_angle_r")


@contextmanager
def opensim_package(folder: Path) -> Iterator[Any]:
    """OpenSim, working in a folder, as it leaves a log where it is imported."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import opensim as package

        package.Logger.setLevelString("off")
        yield package
    except ImportError:
        skip_or_fail("the package opensim is not installed")
    finally:
        os.chdir(before)


class Peer:
    """A model in OpenSim itself."""

    def __init__(self, opensim: Any, path: Path) -> None:
        self.model = opensim.Model(str(path))
        self.state = self.model.initSystem()

    def pose(self, pose: Pose) -> None:
        for coordinate in self.model.getCoordinateSet():
            if not coordinate.getLocked(self.state):
                value = pose.get(coordinate.getName(), coordinate.getDefaultValue())
                coordinate.setValue(self.state, value, False)
        self.model.assemble(self.state)
        self.model.realizePosition(self.state)

    def length(self, muscle: str) -> float:
        return float(self.model.getMuscles().get(muscle).getLength(self.state))

    def moment_arm(self, muscle: str, coordinate: str) -> float:
        about = self.model.getCoordinateSet().get(coordinate)
        return float(self.model.getMuscles().get(muscle).computeMomentArm(self.state, about))

    def slope(self, muscle: str, pose: Pose, coordinate: str) -> float:
        """Minus the derivative of its own length."""
        ends = []
        for step in (1e-3, -1e-3):
            self.pose({**pose, coordinate: pose[coordinate] + step})
            ends.append(self.length(muscle))
        self.pose(pose)
        return (ends[1] - ends[0]) / 2e-3

    def points(self, muscle: str) -> Floats:
        path = self.model.getMuscles().get(muscle).getGeometryPath().getCurrentPath(self.state)
        places = [path.get(i).getLocationInGround(self.state) for i in range(path.getSize())]
        return np.array([[place.get(k) for k in range(3)] for place in places])


def arm_poses() -> list[Pose]:
    return [
        {"r_shoulder_elev": float(np.radians(shoulder)), "r_elbow_flex": float(np.radians(elbow))}
        for shoulder in range(-80, 171, 25)
        for elbow in (5, 45, 85, 125)
    ]


def walking(data: Path, model: OsimModel, count: int) -> list[Pose]:
    """Frames of a measured walk; what follows other coordinates, and where the body is, left out."""
    lines = (data / "walk" / "coordinates.sto").read_text().splitlines()
    head = lines.index("endheader") + 1
    names = [column.split("/")[-2] if "/" in column else column for column in lines[head].split("\t")]
    rows = lines[head + 1 :: max(1, (len(lines) - head) // count)][:count]
    return [
        {
            name: float(value)
            for name, value in zip(names, row.split("\t"), strict=True)
            if name in model.free and not name.startswith(("pelvis_t", "mtp"))
        }
        for row in rows
    ]


def stretched(model: OsimModel, count: int) -> list[Pose]:
    """Poses anywhere in six tenths of the legs' ranges."""
    rng = np.random.default_rng(7)
    return [
        {
            name: float(0.6 * rng.uniform(model.coordinates[name].low, model.coordinates[name].high))
            for name in (*LEG, *(name[:-1] + "l" for name in LEG))
        }
        for _ in range(count)
    ]
