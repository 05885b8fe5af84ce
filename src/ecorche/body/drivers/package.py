"""A folder with everything that plays drivers: the table, and evaluators that need nothing else."""

from __future__ import annotations

import os
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import numpy as np

from ecorche.base.files import require_folder, whole_file
from ecorche.body.as_joints import JointedCharacter
from ecorche.body.drivers.learn import POSES as LEARNT_FROM
from ecorche.body.drivers.learn import learn_drivers
from ecorche.body.drivers.measure import DriverError, driver_error
from ecorche.body.drivers.table import DriverTable, write_table
from ecorche.body.sample_poses import sample_poses
from ecorche.document.files import Rig
from ecorche.errors import WriteError
from ecorche.skeleton.motion import Motion

TABLE, EVALUATORS = "drivers.json", ("drivers.mjs", "blender_drivers.py")
POSES = 48
"""Poses over which the error is told; others than those the drivers have learnt from."""


def require_package_folder(folder: Path) -> None:
    """Refuse a place where no folder is or can be made, before any work is done."""
    if folder.is_dir():
        require_folder(folder / TABLE)
    elif folder.exists():
        raise WriteError("is a file, not a folder", where=folder, remedy="Name a folder")
    else:
        require_folder(folder)


def write_drivers(
    folder: str | os.PathLike[str], jointed: JointedCharacter, rig: Rig, *, poses: int = LEARNT_FROM
) -> list[str]:
    """Learn the drivers of a character's muscle joints and write them to a folder; what was measured.

    Args:
        folder: Where; it is made if it is not there.
        jointed: The character with its muscles as joints.
        rig: Its rig, whose limits hold for the poses that are learnt from.
        poses: How many these are.
    """
    require_package_folder(Path(folder))
    return write_package(Path(folder), jointed, learn_drivers(jointed, rig, poses=poses), rig)


def write_package(
    folder: Path, jointed: JointedCharacter, table: DriverTable, rig: Rig, motion: Motion | None = None
) -> list[str]:
    """Write a table and its evaluators to a folder; what was measured, a sentence each.

    Args:
        folder: Where; it is made if it is not there.
        jointed: The character with its muscles as joints.
        table: Its drivers.
        rig: Its rig, whose limits hold for the poses that are measured.
        motion: A motion over which the error is measured too, on the character's own skeleton.
    """
    require_package_folder(folder)
    folder.mkdir(exist_ok=True)
    own = jointed.body.character
    drawn = sample_poses(own, rig, POSES, seed=11, motions=())
    measured = {"poses": driver_error(jointed, table, drawn.local)}
    if motion is not None:
        chosen = np.unique(np.linspace(0, motion.frame_count - 1, POSES).astype(np.int64))
        measured[motion.name] = driver_error(jointed, table, motion.local[chosen])
    write_table(folder / TABLE, replace(table, errors={n: _millimetres(e) for n, e in measured.items()}))
    for name in EVALUATORS:
        with whole_file(folder / name) as partial:
            partial.write_bytes(files("ecorche.body.drivers").joinpath(name).read_bytes())
    return [
        *(f"drivers, {name}: {error}" for name, error in measured.items()),
        f"{folder}: {len(table.drivers)} muscle joints driven by {len(table.joints)} joints;"
        f" {', '.join((TABLE, *EVALUATORS))}",
    ]


def _millimetres(error: DriverError) -> dict[str, float]:
    """An error as the table tells it."""
    values = {
        "rms": error.rms,
        "largest": error.largest,
        "rms_of_drivers": error.of_drivers[0],
        "largest_of_drivers": error.of_drivers[1],
        "rms_of_muscles": error.displaced[0],
        "largest_of_muscles": error.displaced[1],
    }
    return {name: float(f"{1e3 * value:.3g}") for name, value in values.items()}
