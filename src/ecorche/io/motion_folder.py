"""All motions of a folder, and what of it is none."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ecorche.errors import EcorcheError, MotionError, ReadError
from ecorche.io.formats import MODULES, module_for, read_character, read_motion
from ecorche.io.keyframes import read_keyframes
from ecorche.skeleton.motion import Motion
from ecorche.skeleton.skeleton import Skeleton

ONE_MOTION = (".bvh", ".pose")
"""Files that are a motion and nothing else: one that cannot be read is an error, not skipped."""


@dataclass(frozen=True, eq=False)
class MotionFolder:
    """The motions of a folder.

    Attributes:
        motions: In the order of their files' names; of a file with several clips, all of them.
        skipped: Files that hold no motion, and why, a sentence each.
    """

    motions: tuple[Motion, ...]
    skipped: tuple[str, ...] = ()


def read_motion_folder(folder: Path, skeleton: Skeleton) -> MotionFolder:
    """Read the motions of a folder; its own folders are left alone.

    Args:
        folder: Where the files are.
        skeleton: Of whom will move so: angles of `.pose` files may count from its bind pose.
    """
    if not folder.is_dir():
        what = "is a file, not a folder of motions" if folder.exists() else "there is no such folder"
        raise ReadError(what, where=folder, remedy="Give a folder with .bvh, .glb, .usdc or .pose files")
    motions: list[Motion] = []
    skipped: list[str] = []
    for path in sorted(folder.iterdir()):
        if path.name.startswith("."):
            continue
        if path.is_dir():
            skipped.append(f"{path.name}: is a folder")
        elif not may_move(path):
            skipped.append(f"{path.name}: files of its kind hold no motion")
        elif path.suffix.lower() in ONE_MOTION:
            motions.append(_only_motion(path, skeleton))
        else:
            try:
                motions += _clips(path)
            except MotionError as error:
                skipped.append(f"{path.name}: {error.what}")
    if not motions:
        told = f"; skipped: {'; '.join(skipped)}" if skipped else ", it is empty"
        raise ReadError(
            f"there is no motion in the folder{told}",
            where=folder,
            remedy="Put .bvh, .glb, .usdc or .pose files there",
        )
    return MotionFolder(tuple(motions), tuple(skipped))


def may_move(path: Path) -> bool:
    """Whether files of this kind can hold motion."""
    if path.suffix.lower() not in MODULES:
        return False
    try:
        module_for(path, "read_motion", MotionError)
    except MotionError:
        return False
    return True


def _only_motion(path: Path, skeleton: Skeleton) -> Motion:
    return read_keyframes(path, skeleton) if path.suffix.lower() == ".pose" else read_motion(path)


def _clips(path: Path) -> tuple[Motion, ...]:
    """All clips of a file that may hold a character too."""
    try:
        found = read_character(path).motions
    except EcorcheError:
        return (read_motion(path),)  # joints in motion without skin; what is damaged is told here
    if not found:
        raise MotionError("it holds no animation", where=path)
    return found
