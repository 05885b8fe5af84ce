"""Keyframes: a small text file in which a person writes poses and motions down.

    # a nod; anything after a # is a comment
    clip nod
    rate 30                    # frames a second
    zero bind                  # angles count from the character's bind pose (or: standing)
    interpolation smooth       # or: linear, step
    loop no                    # yes: the end joins the start
    repeat 1                   # how many times a loop is played

    at 0                       # seconds
        skullbase  0 0 0       # degrees about the character's own left, up and forward axes
    at 0.4
        skullbase  25 0 0
        move       0 -0.01 0   # the whole body, metres to its left, up and forward
    at 0.8
        skullbase  0 0 0
        move       0 0 0

Joints go by their canonical H-Anim name or by the file's own name; ``trunk`` and ``neck`` share their
angles evenly among all joints of the spine there. A joint is keyed only where it is written. Angles follow
the right hand: about the left axis a positive turn bows forward, swings a leg back and bends a knee; the
turn about up is made first, then about forward, then about left, within the parent joint. All
angles zero is the bind pose bit for bit. `keyframes_write` writes a pose so.

``zero bind`` is for one character, or for all that are bound in the same pose. ``zero standing``
counts from the anatomical standing position, arms hanging, as gait analysis does: such a file is a
motion of the standing figure and suits any human character by retargeting.

``smooth`` is the monotone piecewise cubic of Fritsch and Carlson (1980), per angle: no jump in
speed, no overshoot past a key. ``loop`` joins end and start as smoothly; ``move`` may then end elsewhere than
it began, and the next round goes on from there.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.interpolate import PchipInterpolator

from ecorche.base.names import suggestion
from ecorche.base.rotations import matrix_from_xyzw
from ecorche.errors import MotionError, ReadError
from ecorche.skeleton.motion import Motion
from ecorche.skeleton.naming import Naming, canonical_name, recognise
from ecorche.skeleton.naming.vocabulary import NECK, TRUNK
from ecorche.skeleton.retarget.figure import Figure, figure_of
from ecorche.skeleton.skeleton import Skeleton
from ecorche.skeleton.standing import standing_figure
from ecorche.skeleton.turns import xyzw_from_turns

Floats = npt.NDArray[np.float64]

MOVE = "move"
_CHAINS = {"trunk": TRUNK, "neck": NECK}
_CHOICES = {
    "zero": ("bind", "standing"),
    "interpolation": ("smooth", "linear", "step"),
    "loop": ("no", "yes"),
}
_MOST_FRAMES = 10_000_000  # more is a slip of the pen, and would not fit in memory


@dataclass
class Keyframes:
    """What a keyframe file says: settings, and per joint the times [s] and values of its keys."""

    clip: str
    rate: float = 30.0
    zero: str = "bind"
    interpolation: str = "smooth"
    loop: bool = False
    repeat: int = 1
    end: float = 0.0
    keys: dict[str, dict[float, tuple[float, float, float]]] = field(default_factory=dict)
    lines: dict[str, int] = field(default_factory=dict)  # where a name is first written
    path: Path = Path()


def read_keyframes(
    path: str | os.PathLike[str], skeleton: Skeleton, mapping: Mapping[str, str] | None = None
) -> Motion:
    """The motion in a keyframe file: on ``skeleton`` where its angles count from bind.

    Where they count from standing the motion is the standing figure's, to be retargeted as any
    other. ``mapping`` is of joint names to canonical names, where they are not recognised.
    """
    return motion_of(parse_keyframes(path), skeleton, mapping)


def motion_of(keyframes: Keyframes, skeleton: Skeleton, mapping: Mapping[str, str] | None = None) -> Motion:
    """The motion that keyframes are, on ``skeleton`` where they count from bind; see `read_keyframes`."""
    if keyframes.zero == "standing":
        return _motion(keyframes, standing_figure(), None)
    return _motion(keyframes, skeleton, mapping)


def read_motion(path: Path, clip: str | None = None) -> Motion:
    """The motion in a keyframe file whose angles count from standing, on the standing figure."""
    keyframes = parse_keyframes(path)
    if clip is not None and clip != keyframes.clip:
        raise MotionError(f"there is no clip {clip!r}", where=path, remedy=suggestion(clip, [keyframes.clip]))
    if keyframes.zero == "bind":
        raise MotionError(
            "its angles count from the bind pose of a character, which is not given",
            where=path,
            remedy="Read it with read_keyframes(path, skeleton), or write 'zero standing' and angles that"
            " count from there",
        )
    return _motion(keyframes, standing_figure(), None)


def parse_keyframes(path: str | os.PathLike[str]) -> Keyframes:
    """What a keyframe file says, checked, without a character."""
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ReadError("it is not a text file", where=path, remedy="Give a keyframe file") from None
    return keyframes_of(text, path)


def keyframes_of(text: str, path: Path) -> Keyframes:
    """What the text of a keyframe file says, checked; ``path`` names it in messages."""
    found = Keyframes(path.stem, path=path)
    time: float | None = None
    for number, line in enumerate(text.splitlines(), 1):
        words = line.split("#", 1)[0].split()
        if not words:
            continue
        where = f"{path}, line {number}"
        if words[0] == "at":
            time = _time(words, time, where)
            found.end = time
        elif time is None:
            _setting(found, words, where)
        else:
            _key(found, words, time, number, where)
    if time is None:
        raise ReadError(
            "it has no keys", where=path, remedy="Write 'at 0' and joints with three angles below"
        )
    if not found.keys:
        raise ReadError("no joint is keyed", where=path, remedy="Write joints with three angles below 'at'")
    if (found.end * found.repeat) * found.rate > _MOST_FRAMES:
        raise ReadError("it would have too many frames", where=path, remedy="Write times in seconds")
    if found.loop:
        _close(found)
    return found


def _setting(found: Keyframes, words: list[str], where: str) -> None:
    name, values = words[0], words[1:]
    known = ("clip", "rate", "zero", "interpolation", "loop", "repeat", "at")
    if name not in known:
        raise ReadError(f"{name!r} is no setting", where=where, remedy=suggestion(name, known))
    value = " ".join(values)
    if name == "clip":
        if not value:
            raise ReadError("the clip has no name", where=where, remedy="Write one word or more")
        found.clip = value
    elif name == "rate":
        (found.rate,) = _numbers(values, 1, where)
        if not 0.0 < found.rate <= 100_000.0:
            raise ReadError(
                f"the rate {value} is not above zero", where=where, remedy="Write frames a second"
            )
    elif name == "repeat":
        if not value.isdecimal() or not 1 <= int(value) <= 1_000_000:
            raise ReadError(
                f"repeat {value!r} is no count", where=where, remedy="Write a whole number from 1"
            )
        found.repeat = int(value)
    elif value not in _CHOICES[name]:
        raise ReadError(
            f"{name} {value!r} is not known", where=where, remedy=suggestion(value, _CHOICES[name])
        )
    elif name == "loop":
        found.loop = value == "yes"
    else:
        setattr(found, name, value)


def _time(words: list[str], before: float | None, where: str) -> float:
    (time,) = _numbers(words[1:], 1, where)
    if time != 0.0 and before is None:
        raise ReadError(f"the first key is at {time:g} s", where=where, remedy="Begin with 'at 0'")
    if before is not None and time <= before:
        raise ReadError(
            f"{time:g} s is not later than {before:g} s", where=where, remedy="Write keys in rising order"
        )
    return time


def _key(found: Keyframes, words: list[str], time: float, number: int, where: str) -> None:
    if len(words) < 4:
        raise ReadError(
            f"{words[0]!r} needs three numbers", where=where, remedy="Write a name, then left, up and forward"
        )
    name = " ".join(words[:-3])
    x, y, z = _numbers(words[-3:], 3, where)
    keys = found.keys.setdefault(name, {})
    if time in keys:
        raise ReadError(
            f"{name!r} is keyed twice at {time:g} s", where=where, remedy="Remove one of the lines"
        )
    keys[time] = (x, y, z)
    found.lines.setdefault(name, number)


def _numbers(words: list[str], count: int, where: str) -> list[float]:
    try:
        values = [float(word) for word in words]
    except ValueError:
        values = []
    if len(values) != count or not all(math.isfinite(v) and abs(v) < 1e9 for v in values):
        raise ReadError(
            f"{' '.join(words)!r} is not {count} finite number{'s' * (count > 1)}",
            where=where,
            remedy="Mend the line",
        )
    return values


def _close(found: Keyframes) -> None:
    """Give every joint a key at the loop's end, equal to the one at its start."""
    if found.end <= 0.0:
        raise ReadError("a loop needs keys at two times or more", where=found.path, remedy="Add a later 'at'")
    for name, keys in found.keys.items():
        where = f"{found.path}, line {found.lines[name]}"
        if 0.0 not in keys:
            raise ReadError(f"{name!r} loops but is not keyed at 0 s", where=where, remedy="Key it there")
        if name != MOVE and keys.setdefault(found.end, keys[0.0]) != keys[0.0]:
            raise ReadError(
                f"{name!r} ends its loop in other angles than it began with",
                where=where,
                remedy="Make them equal, leave the last away, or write 'loop no'",
            )
        keys.setdefault(found.end, keys[0.0])


def _frame_times(found: Keyframes) -> Floats:
    """Steps of the rate, and the very end where it falls between two steps."""
    end = found.end * (found.repeat if found.loop else 1)
    times = np.arange(math.floor(end * found.rate + 1e-6) + 1) / found.rate
    return times if end - times[-1] < 1e-6 / found.rate else np.append(times, end)


def _values(found: Keyframes, name: str, times: Floats) -> Floats:
    """The three values of a joint over time, (frames, 3)."""
    keys = found.keys[name]
    at, values = np.array(sorted(keys)), np.array([keys[t] for t in sorted(keys)])
    travel = np.zeros(3)
    rounds = np.zeros(len(times))
    if found.loop:
        travel = values[-1] - values[0]
        rounds = np.minimum(np.floor(times / found.end + 1e-9), found.repeat - 1)
        times = np.clip(times - rounds * found.end, 0.0, found.end)
        # a round before and one after, so that speed is the same where they join
        at = np.concatenate([at[:-1] - found.end, at, at[1:] + found.end])
        values = np.concatenate([values[:-1] - travel, values, values[1:] + travel])
    times = np.clip(times, at[0], at[-1])
    if len(at) == 1:
        result = np.repeat(values, len(times), axis=0)
    elif found.interpolation == "smooth":
        result = np.asarray(PchipInterpolator(at, values)(times))
    elif found.interpolation == "linear":
        result = np.stack([np.interp(times, at, values[:, i]) for i in range(3)], axis=-1)
    else:
        result = values[np.searchsorted(at, times + 1e-9, side="right") - 1]
    # a time on a key takes what is written there, not what a polynomial rounds it to
    nearest = np.clip(np.searchsorted(at, times - 1e-9), 0, len(at) - 1)
    on_key = np.abs(at[nearest] - times) <= 1e-9
    result = np.where(on_key[:, None], values[nearest], result)
    return np.asarray(result + rounds[:, None] * travel)


def _motion(found: Keyframes, skeleton: Skeleton, mapping: Mapping[str, str] | None) -> Motion:
    naming = recognise(skeleton, mapping)
    figure = figure_of(skeleton, naming)
    axes = np.eye(3) if figure is None else figure.axes
    times = _frame_times(found)
    local = np.tile(skeleton.bind_local, (len(times), 1, 1, 1))
    turned: dict[int, str] = {}
    for name in found.keys:
        values = _values(found, name, times)
        if name == MOVE:
            root, carried = moved_joint(skeleton, naming, figure)
            local[:, root, :3, 3] += values @ (carried @ axes).T
            continue
        joints = _joints(found, name, skeleton, naming.canonical)
        for joint in joints:
            if joint in turned:
                raise MotionError(
                    f"{name!r} and {turned[joint]!r} are the same joint",
                    where=f"{found.path}, line {found.lines[name]}",
                    remedy="Use one of the names",
                )
            turned[joint] = name
            # as a difference from bind, B + B M⁻¹ A (R − I) Aᵀ M: no turn leaves bind bit for bit
            change = axes @ (matrix_from_xyzw(xyzw_from_turns(values / len(joints))) - np.eye(3)) @ axes.T
            before = skeleton.bind_local[joint, :3, :3] @ skeleton.bind_inverse[joint, :3, :3]
            local[:, joint, :3, :3] += before @ change @ skeleton.bind_world[joint, :3, :3]
    return Motion(found.clip, skeleton, times, local)


def moved_joint(skeleton: Skeleton, naming: Naming, figure: Figure | None) -> tuple[int, Floats]:
    """The joint that moves the whole body, and what brings a world vector to its parent's axes (3, 3)."""
    root = naming.joint("humanoid_root")
    root = (0 if figure is None else figure.pelvis) if root is None else root
    above = skeleton.parents[root]
    return root, np.eye(3) if above < 0 else skeleton.bind_inverse[above, :3, :3]


def _joints(found: Keyframes, name: str, skeleton: Skeleton, canonical: tuple[str | None, ...]) -> list[int]:
    """The joints a name in the file means: one, or a chain of the spine."""
    if name in skeleton.names:
        return [skeleton.index(name)]
    wanted = canonical_name(name)
    if wanted is not None and wanted in canonical:
        return [canonical.index(wanted)]
    chain = [canonical.index(v) for v in _CHAINS.get(name, ()) if v in canonical]
    if chain:
        return chain
    known = [*(c for c in canonical if c is not None), *skeleton.names, *_CHAINS, MOVE]
    raise MotionError(
        f"the character has no joint {name!r}",
        where=f"{found.path}, line {found.lines[name]}",
        remedy=suggestion(name, dict.fromkeys(known)),
    )
