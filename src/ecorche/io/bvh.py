"""BVH: motion capture as text, a joint tree followed by one line of numbers a frame.

Written here rather than taken from `pybvh` 0.9 (MIT, maintained, and the oracle of our tests): that
package models one root with exactly six channels and no position channels below it, cannot say in
which row a value is missing, and needs matplotlib at run time. Reading is as fast (15 to 20 ms for
344 frames of 38 joints).

What the format leaves open, and what we take it to mean:

- *Bind and rest* are the pose of the offsets alone, every angle zero.
- *Position channels* replace the joint's OFFSET along their axes, as Blender and MotionBuilder read
  them; an axis without a channel keeps its OFFSET.
- *Rotation channels* multiply in the order they are listed, each about the axes left by those before.
- *End Sites* are bone tips (`Skeleton.tails`), not joints.
- *Unit*: none is written. The skeleton's largest extent at zero angles is about a person's height
  (a T-pose is as wide as it is high). The unit that brings it between 1.2 and 2.4 m is taken:
  metres, the CMU database's 1/0.45 inch, inches, centimetres or millimetres, whose ranges do not
  overlap. Where none does, the numbers are metres. Retargeting scales by leg length, so it never
  depends on this.
- *Up* is +Y.
- *Frame time*: a decimal that is 1/N cut or rounded to the digits written (``.0083333``) is 1/N.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ecorche.base.names import suggestion
from ecorche.base.rotations import matrix_from_xyzw, multiply_xyzw, xyzw_from_axis_angle
from ecorche.errors import MotionError, ReadError, SkeletonError
from ecorche.skeleton.motion import Motion
from ecorche.skeleton.skeleton import Skeleton, world_from_local

Floats = npt.NDArray[np.float64]

METRES_PER_UNIT = {
    "metre": 1.0,
    "CMU unit": 0.0254 / 0.45,
    "inch": 0.0254,
    "centimetre": 0.01,
    "millimetre": 0.001,
}
PERSON_HEIGHT = (1.2, 2.4)  # [m]
_LARGEST = 1e9  # a number beyond is damage, and would overflow further down
_AXES = {"x": 0, "y": 1, "z": 2}


@dataclass
class _Joint:
    """A joint as the hierarchy writes it, in the file's unit."""

    name: str
    parent: int
    offset: Floats | None = None
    channels: list[tuple[str, int]] | None = None  # ("position" | "rotation", axis)
    tips: list[Floats] = field(default_factory=list)


def read_motion(path: Path, clip: str | None = None) -> Motion:
    """The one motion a BVH file holds, named after the file, on the skeleton it describes."""
    path = Path(path)
    if clip is not None and clip != path.stem:
        raise MotionError(f"there is no clip {clip!r}", where=path, remedy=suggestion(clip, [path.stem]))
    lines = _lines(path)
    start = next((i for i, (_, text) in enumerate(lines) if text.split()[0].upper() == "MOTION"), None)
    if start is None:
        raise ReadError(
            "it has no MOTION part", where=path, remedy="The file is cut short or not BVH: export it again"
        )
    joints = _hierarchy(lines[:start], path)
    values, frame_time = _values(lines[start + 1 :], joints, path)
    local, bind = _local(joints, values)

    parents = np.array([j.parent for j in joints], np.int32)
    unit = metres_per_unit(_extent(parents, bind, [j.tips for j in joints]))
    local[..., :3, 3] *= unit
    bind[..., :3, 3] *= unit
    tails = np.array([np.mean(j.tips, axis=0) * unit if j.tips else np.full(3, np.nan) for j in joints])
    try:
        skeleton = Skeleton(tuple(j.name for j in joints), parents, bind, bind.copy(), tails)
    except SkeletonError as error:
        raise ReadError(error.what, where=path, remedy=error.remedy) from None
    return Motion(path.stem, skeleton, np.arange(len(local), dtype=np.float64) * frame_time, local)


def _extent(parents: npt.NDArray[np.int32], bind: Floats, tips: list[list[Floats]]) -> float:
    """The largest side of the box around all joints and bone tips at zero angles, in file units."""
    heads = world_from_local(parents, bind)[:, :3, 3]
    points = [heads, *(heads[j] + tip for j, row in enumerate(tips) for tip in row)]
    stacked = np.vstack(points)
    return float(np.ptp(stacked, axis=0).max())


def metres_per_unit(extent: float) -> float:
    """The length unit [m] that makes ``extent`` a person's height; 1 when none does."""
    low, high = PERSON_HEIGHT
    return next((unit for unit in METRES_PER_UNIT.values() if low <= extent * unit <= high), 1.0)


def _lines(path: Path) -> list[tuple[int, str]]:
    """Lines that say something, with their numbers; ``#`` and ``//`` lines are comments."""
    try:
        text = path.read_text(encoding="utf-8-sig", errors="strict")
    except UnicodeDecodeError:
        raise ReadError("it is not a text file", where=path, remedy="Give a BVH file") from None
    stripped = ((number, line.strip()) for number, line in enumerate(text.splitlines(), 1))
    lines = [(n, line) for n, line in stripped if line and not line.startswith(("#", "//"))]
    if not lines or lines[0][1].split()[0].upper() != "HIERARCHY":
        raise ReadError("it does not begin with HIERARCHY", where=path, remedy="Give a BVH file")
    return lines[1:] if lines[0][1].upper() == "HIERARCHY" else [(lines[0][0], lines[0][1][9:]), *lines[1:]]


def _hierarchy(lines: list[tuple[int, str]], path: Path) -> list[_Joint]:
    """The joints, parents first, in the order their channels stand in a frame."""
    words = [(n, word) for n, line in lines for word in re.sub(r"([{}])", r" \1 ", line).split()]
    joints: list[_Joint] = []
    open_blocks: list[int] = []  # joint number; -1 - joint inside an End Site
    at = 0

    def bad(what: str, line: int, remedy: str = "Mend that line or export the file again") -> ReadError:
        return ReadError(what, where=f"{path}, line {line}", remedy=remedy)

    def numbers(count: int, what: str) -> Floats:
        nonlocal at
        line, found = words[at - 1][0], words[at : at + count]
        try:
            values = np.array([float(word) for _, word in found])
        except ValueError:
            values = np.empty(0)
        if len(values) != count or not (np.abs(values) < _LARGEST).all():
            raise bad(f"{what} needs {count} finite numbers", line)
        at += count
        return values

    while at < len(words):
        line, word = words[at]
        at += 1
        kind = word.upper()
        if kind in ("ROOT", "JOINT", "END"):
            if (kind == "ROOT") != (not open_blocks):
                raise bad(f"{word} stands {'inside' if open_blocks else 'outside'} a joint", line)
            if open_blocks and open_blocks[-1] < 0:
                raise bad(f"{word} stands inside an End Site", line)
            opening = next((i for i in range(at, len(words)) if words[i][1] in "{}"), len(words))
            if opening == len(words) or words[opening][1] != "{":
                raise bad(f"{word} has no opening brace", line)
            name = " ".join(w for _, w in words[at:opening])
            at = opening + 1
            if kind == "END":
                open_blocks.append(-1 - open_blocks[-1])
                continue
            if not name:
                raise bad(f"{word} has no name", line)
            joints.append(_Joint(name, open_blocks[-1] if open_blocks else -1))
            open_blocks.append(len(joints) - 1)
        elif kind == "}":
            if not open_blocks:
                raise bad("a closing brace has no opening one", line)
            open_blocks.pop()
        elif kind in ("OFFSET", "CHANNELS") and not open_blocks:
            raise bad(f"{word} stands outside a joint", line)
        elif kind == "OFFSET":
            block, offset = open_blocks[-1], numbers(3, "OFFSET")
            if block < 0:
                joints[-1 - block].tips.append(offset)
            else:
                joints[block].offset = offset
        elif kind == "CHANNELS":
            if open_blocks[-1] < 0:
                raise bad("an End Site has channels", line)
            count = int(numbers(1, "CHANNELS")[0])
            listed = [w for _, w in words[at : at + count]] if 0 <= count <= 6 else []
            channels = [_channel(w) for w in listed]
            if len(channels) != count or None in channels or len(set(channels)) != count:
                raise bad(
                    f"CHANNELS of {joints[open_blocks[-1]].name!r} are not {count} different ones of"
                    " Xposition … Zrotation",
                    line,
                )
            joints[open_blocks[-1]].channels = [c for c in channels if c is not None]
            at += count
        else:
            raise bad(f"{word!r} is none of ROOT, JOINT, End Site, OFFSET, CHANNELS or a brace", line)

    end = lines[-1][0] if lines else 1
    if open_blocks:
        raise bad(f"{len(open_blocks)} opening brace(s) are never closed", end)
    if not joints:
        raise bad("there is no ROOT", end)
    for joint in joints:
        if joint.offset is None:
            raise ReadError(f"joint {joint.name!r} has no OFFSET", where=path, remedy="Export the file again")
    if not any(joint.channels for joint in joints):
        raise ReadError("no joint has channels", where=path, remedy="Export the file with its animation")
    return joints


def _channel(word: str) -> tuple[str, int] | None:
    found = re.fullmatch(r"([xyz])(position|rotation)", word.lower())
    return (found[2], _AXES[found[1]]) if found else None


def _values(lines: list[tuple[int, str]], joints: list[_Joint], path: Path) -> tuple[Floats, float]:
    """The numbers of every frame, (frames, channels), and the seconds between frames."""
    columns = sum(len(j.channels or ()) for j in joints)
    head = " ".join(text for _, text in lines[:2])
    found = re.match(r"Frames\s*:?\s*(\S+)\s+Frame\s*Time\s*:?\s*(\S+)$", head, re.IGNORECASE)
    line = lines[0][0] if lines else "the last"
    if found is None:
        raise ReadError(
            "MOTION is not followed by 'Frames: N' and 'Frame Time: seconds'",
            where=f"{path}, line {line}",
            remedy="Add both lines",
        )
    count, frame_time = _count(found[1], path), _frame_time(found[2], path)
    rows = [text.split() for _, text in lines[2:]]
    if count == 0 or not rows:
        raise ReadError("it has no frames", where=path, remedy="Export the file with its animation")
    if sum(map(len, rows)) != count * columns:  # else the frames are merely wrapped otherwise
        for row, words in enumerate(rows, 1):
            if len(words) != columns:
                raise ReadError(
                    f"frame {row} has {len(words)} values where the joints have {columns} channels",
                    where=f"{path}, line {lines[row + 1][0]}",
                    remedy="Mend that line or export the file again",
                )
        raise ReadError(
            f"it says {count} frames and holds {len(rows)}",
            where=path,
            remedy="Mend the 'Frames:' line, or export the file again if it was cut short",
        )
    try:
        values = np.array([float(word) for row in rows for word in row])
    except ValueError:
        values = np.array([_number_or_nan(word) for row in rows for word in row])
    values = values.reshape(count, columns)
    bad = ~(np.abs(values) < _LARGEST)
    if bad.any():
        row, column = (int(i) for i in np.argwhere(bad)[0])
        raise ReadError(
            f"value {column + 1} of frame {row + 1} is not a finite number",
            where=path,
            remedy="Repair that frame or export the file again",
        )
    return values, frame_time


def _number_or_nan(word: str) -> float:
    try:
        return float(word)
    except ValueError:
        return float("nan")


def _count(word: str, path: Path) -> int:
    if not re.fullmatch(r"\d{1,9}", word):
        raise ReadError(f"'Frames: {word}' is not a count", where=path, remedy="Write a whole number")
    return int(word)


def _frame_time(word: str, path: Path) -> float:
    seconds = _number_or_nan(word)
    if not 1e-9 < seconds < _LARGEST:
        raise ReadError(
            f"'Frame Time: {word}' is not a time above zero",
            where=path,
            remedy="Write the seconds between frames, such as 0.0083333 for 120 a second",
        )
    digits = re.fullmatch(r"\d*\.(\d+)", word)
    rate = round(1.0 / seconds) if seconds < 1.0 else 0
    if digits and rate and abs(1.0 / rate - seconds) <= 10.0 ** -len(digits[1]):
        return 1.0 / rate
    return seconds


def _local(joints: list[_Joint], values: Floats) -> tuple[Floats, Floats]:
    """Local matrices of every frame (frames, joints, 4, 4) and at zero angles, in the file's unit."""
    bind = np.tile(np.eye(4), (len(joints), 1, 1))
    bind[:, :3, 3] = [j.offset for j in joints]
    local = np.tile(bind, (len(values), 1, 1, 1))
    column = 0
    for number, joint in enumerate(joints):
        turn: Floats | None = None
        for kind, axis in joint.channels or ():
            if kind == "position":
                local[:, number, axis, 3] = values[:, column]
            else:
                step = xyzw_from_axis_angle(np.eye(3)[axis], np.radians(values[:, column]))
                turn = step if turn is None else multiply_xyzw(turn, step)
            column += 1
        if turn is not None:
            local[:, number, :3, :3] = matrix_from_xyzw(turn)
    return local, bind
