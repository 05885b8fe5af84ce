"""A pose written as a keyframe file, so that a person can read it, change it, and load it again."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ecorche.base.files import require_folder, whole_file
from ecorche.base.names import listed
from ecorche.base.transforms import nearest_rotation
from ecorche.errors import MotionError, WriteError
from ecorche.io.keyframes import MOVE, Keyframes, keyframes_of, motion_of, moved_joint, parse_keyframes
from ecorche.skeleton.naming import canonical_name, recognise
from ecorche.skeleton.retarget.figure import figure_of
from ecorche.skeleton.skeleton import Skeleton
from ecorche.skeleton.turns import turns_from_matrix

Floats = npt.NDArray[np.float64]

SAME = 1e-6
"""What a pose file cannot say is told where it is more than this: metres, or parts of one."""


def write_pose(
    path: str | os.PathLike[str],
    skeleton: Skeleton,
    local: Floats,
    mapping: Mapping[str, str] | None = None,
) -> tuple[str, ...]:
    """Write one pose of a character, counted from its bind pose; `read_keyframes` gives it back.

    A pose file holds a rotation a joint and one movement of the whole body. What else a pose has,
    such as joints that are stretched or out of place, is not written and told.

    Args:
        path: The file, ``.pose``.
        skeleton: The character's joints.
        local: ``parent_from_joint``, shape (joints, 4, 4).
        mapping: Joint names to canonical names, where they are not recognised.

    Returns:
        What the file does not say, a sentence each.
    """
    path = Path(path)
    if path.suffix.lower() != ".pose":
        raise WriteError("a pose file's name ends in .pose", where=path, remedy="Give that suffix")
    require_folder(path)
    text, lines = pose_text(skeleton, local, mapping)
    with whole_file(path) as partial:
        partial.write_text(text, encoding="utf-8")
    return lines


def pose_text(
    skeleton: Skeleton, local: Floats, mapping: Mapping[str, str] | None = None
) -> tuple[str, tuple[str, ...]]:
    """The text of a pose file, and what it does not say; see `write_pose`."""
    local = np.asarray(local, np.float64)
    if local.shape != skeleton.bind_local.shape:
        raise MotionError(f"a pose of shape {local.shape} is not one of {skeleton.joint_count} joints")
    naming = recognise(skeleton, mapping)
    figure = figure_of(skeleton, naming)
    axes = np.eye(3) if figure is None else figure.axes
    # the inverse of what reading does: L = B + B M⁻¹ A (R − I) Aᵀ M
    before = skeleton.bind_local[:, :3, :3] @ skeleton.bind_inverse[:, :3, :3]
    change = (
        np.linalg.inv(before) @ (local - skeleton.bind_local)[:, :3, :3] @ skeleton.bind_inverse[:, :3, :3]
    )
    turned = np.eye(3) + axes.T @ change @ axes
    rotation = nearest_rotation(turned)
    turns = turns_from_matrix(rotation)
    stretched = np.abs(turned - rotation).max(axis=(1, 2)) > SAME
    root, carried = moved_joint(skeleton, naming, figure)
    shift = local[:, :3, 3] - skeleton.bind_local[:, :3, 3]
    move = (np.linalg.inv(carried @ axes)) @ shift[root]
    away = np.linalg.norm(shift, axis=1) > SAME
    away[root] = False
    lines = ["# a pose: degrees about the character's own left, up and forward axes, from its bind pose"]
    lines += ["zero bind", "at 0"]
    unnamed: list[str] = []
    for joint, (own, angles) in enumerate(zip(skeleton.names, turns, strict=True)):
        if not np.abs(angles).max() > 1e-9:
            continue
        name = _name(own, naming.canonical[joint], skeleton)
        if name is None:
            unnamed.append(own)
        else:
            lines.append(f"    {name}  {_numbers(angles)}")
    lines.append(f"    {MOVE}  {_numbers(move)}")
    told = []
    for what, names in (
        (
            "stretched or sheared joints stand as at bind",
            [skeleton.names[j] for j in np.flatnonzero(stretched)],
        ),
        ("joints out of their place stand as at bind", [skeleton.names[j] for j in np.flatnonzero(away)]),
        ("joints whose names cannot be written stand as at bind", unnamed),
    ):
        if names:
            told.append(f"{what}: {listed(names, 6)}")
    return "\n".join(lines) + "\n", tuple(told)


def read_pose(
    path: str | os.PathLike[str], skeleton: Skeleton, mapping: Mapping[str, str] | None = None
) -> Floats:
    """The pose of a character in a pose file, ``parent_from_joint`` (joints, 4, 4).

    Of a motion it is the last frame. A file whose angles count from standing is a motion to retarget.
    """
    return _pose(parse_keyframes(path), skeleton, mapping)


def pose_from_text(
    text: str, name: str, skeleton: Skeleton, mapping: Mapping[str, str] | None = None
) -> Floats:
    """The pose in the text of a pose file, as `read_pose` gives it; ``name`` is the file's in messages."""
    return _pose(keyframes_of(text, Path(name)), skeleton, mapping)


def _pose(keyframes: Keyframes, skeleton: Skeleton, mapping: Mapping[str, str] | None) -> Floats:
    if keyframes.zero != "bind":
        raise MotionError(
            "its angles count from standing, not from this character's bind pose",
            where=keyframes.path,
            remedy="Load it as a motion",
        )
    pose: Floats = motion_of(keyframes, skeleton, mapping).local[-1]
    return pose


def _name(own: str, canonical: str | None, skeleton: Skeleton) -> str | None:
    """By what a joint goes in the file: its H-Anim name where that says the same without a mapping."""
    if (
        canonical is not None
        and canonical_name(canonical) == canonical
        and (canonical not in skeleton.names or canonical == own)
        and recognise(skeleton).canonical[skeleton.index(own)] == canonical
    ):
        return canonical
    words = own.split()
    writable = " ".join(words) == own and "#" not in own and bool(words)
    return own if writable and words[0] not in ("at", MOVE) else canonical


def _numbers(values: Floats) -> str:
    return "  ".join(f"{v + 0.0:.10g}" for v in np.where(np.abs(values) < 1e-10, 0.0, values))
