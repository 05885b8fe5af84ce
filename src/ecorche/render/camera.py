"""Where the camera stands: which way a character faces, and how to frame all it does."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecorche.base.names import suggestion
from ecorche.base.rotations import normalise
from ecorche.body.take import Take
from ecorche.errors import EcorcheError
from ecorche.skeleton.skeleton import Skeleton, world_from_local

Floats = npt.NDArray[np.float64]

VIEWS: dict[str, tuple[float, float]] = {
    "front": (0.0, 4.0),
    "three_quarter": (38.0, 8.0),
    "side": (90.0, 4.0),
    "back": (180.0, 4.0),
}
"""View to degrees from the character's front towards its left, and degrees above the horizon."""

FIELD_OF_VIEW = 26.0
"""Vertical opening [degrees]: a portrait lens, so that limbs keep their proportions."""

MARGIN = 1.12
"""How much larger the frame is than what happens in it."""


@dataclass(frozen=True, eq=False)
class Camera:
    """A camera for each of some moments; a fixed camera has equal rows.

    Attributes:
        targets: What it looks at [m], shape (moments, 3).
        offset: From target to camera [m], shape (3,).
    """

    targets: Floats
    offset: Floats


def facing(take: Take) -> Floats:
    """Unit horizontal direction the character faces at the start, shape (3,).

    At bind its left and right joints tell it, whatever way the file's author turned the character.
    From there it turns with the trunk: with the joints that limbs hang on, not with the limbs,
    which swing. Without names of left and right it is +Z, as glTF has it.
    """
    skeleton = take.character.skeleton
    bind = skeleton.bind_world
    pairs = _mirrored_pairs(skeleton)
    to_left = sum((bind[left, :3, 3] - bind[right, :3, 3] for left, right in pairs), start=np.zeros(3))
    to_left[1] = 0.0
    if np.linalg.norm(to_left) < 1e-9:
        return np.array([0.0, 0.0, 1.0])
    front: Floats = normalise(np.cross(to_left, (0.0, 1.0, 0.0)))
    trunk = _trunk(skeleton, pairs)
    if take.motion is None or not trunk:
        return front
    world = world_from_local(skeleton.parents, take.motion.local[0])[trunk, :3, :3]
    turned = (world @ np.linalg.inv(bind[trunk, :3, :3]) @ front).mean(axis=0) * (1.0, 0.0, 1.0)
    return front if np.linalg.norm(turned) < 1e-3 else normalise(turned)


def _trunk(skeleton: Skeleton, pairs: list[tuple[int, int]]) -> list[int]:
    """Joints that are neither left nor right and that something left or right hangs on."""
    sided = {joint for pair in pairs for joint in pair}
    above = {int(skeleton.parents[joint]) for joint in sided}
    return sorted(above - sided - {-1})


_LEFT = re.compile(
    r"[Ll]eft|LEFT"
    r"|(?<![A-Za-z])[Ll](?![A-Za-z])"  # hip_L, l_thigh
    r"|(?<![A-Za-z])L(?=[A-Z])"  # LHipJoint
    r"|(?<=[a-z0-9])L(?![A-Za-z])"  # shoulderL
)
_OPPOSITE = {"left": "right", "Left": "Right", "LEFT": "RIGHT", "l": "r", "L": "R"}


def _mirrored_pairs(skeleton: Skeleton) -> list[tuple[int, int]]:
    """Joints whose names differ only in a word for left and one for right."""
    number = {name: joint for joint, name in enumerate(skeleton.names)}
    pairs = []
    for name, joint in number.items():
        for found in _LEFT.finditer(name):
            other = number.get(name[: found.start()] + _OPPOSITE[found.group()] + name[found.end() :])
            if other is not None:
                pairs.append((joint, other))
                break
    return pairs


def direction(view: str, front: Floats, *, from_right: bool = False) -> Floats:
    """Unit vector from the subject to the camera of a named view, shape (3,).

    ``from_right`` moves a camera that would stand to the character's left to its right.
    """
    if view not in VIEWS:
        raise EcorcheError(f"there is no view {view!r}", where="render", remedy=suggestion(view, VIEWS))
    turn, rise = np.radians(VIEWS[view])
    left = np.cross((0.0, 1.0, 0.0), front) * (-1.0 if from_right else 1.0)
    level = np.cos(turn) * front + np.sin(turn) * left
    up = np.array([0.0, 1.0, 0.0])
    towards: Floats = np.cos(rise) * level + np.sin(rise) * up
    return towards


def frame_subject(
    outlines: Floats, times: Floats, towards: Floats, aspect: float, *, follow: bool, smoothing: float = 0.0
) -> Camera:
    """A camera that keeps everything in the picture, at one distance for the whole motion.

    Args:
        outlines: Some points of the surface at each moment [m], shape (moments, points, 3).
        times: Seconds, shape (moments,).
        towards: Unit vector from subject to camera, shape (3,).
        aspect: Width over height of the picture.
        follow: Whether the camera travels with the subject over the ground, or stands still. It
            never rises with a jump, or nobody would see the jump.
        smoothing: How slowly it follows [s].
    """
    everything = outlines.reshape(-1, 3)
    middle = 0.5 * (everything.min(axis=0) + everything.max(axis=0))
    targets = np.tile(middle, (len(outlines), 1))
    if follow:
        path = 0.5 * (outlines.min(axis=1) + outlines.max(axis=1))
        targets[:, ::2] = _smoothed(path, times, smoothing)[:, ::2]
    right = normalise(np.cross((0.0, 1.0, 0.0), towards))
    axes = np.stack([right, np.cross(towards, right), towards])
    seen = (outlines - targets[:, None, :]) @ axes.T  # right, up, towards the camera
    high = np.tan(np.radians(FIELD_OF_VIEW) / 2.0) / MARGIN
    slopes = np.array([high * aspect, high])
    distance = _distance(seen, slopes)
    for _ in range(8):  # perspective: centre what is seen, not the box, and move in again
        flat = seen[..., :2] / (distance - seen[..., 2:])
        shift = 0.5 * (flat.min(axis=(0, 1)) + flat.max(axis=(0, 1))) * distance
        targets = targets + shift @ axes[:2]
        seen = seen - np.array([*shift, 0.0])
        distance = _distance(seen, slopes)
    return Camera(targets, distance * towards)


def seen_aspect(outlines: Floats, towards: Floats) -> float:
    """Width over height of the subject in all its poses, wherever it goes, as seen from that direction."""
    path = 0.5 * (outlines.min(axis=1) + outlines.max(axis=1)) * (1.0, 0.0, 1.0)
    right = normalise(np.cross((0.0, 1.0, 0.0), towards))
    flat = (outlines - path[:, None, :]) @ np.stack([right, np.cross(towards, right)]).T
    width, height = np.ptp(flat, axis=(0, 1))
    return float(width / max(height, 1e-9))


def _distance(seen: Floats, slopes: Floats) -> float:
    """How far the camera must stand so that all points lie inside the opening."""
    return float((seen[..., 2] + (np.abs(seen[..., :2]) / slopes).max(axis=-1)).max())


def _smoothed(path: Floats, times: Floats, seconds: float) -> Floats:
    """A path (moments, 3) through a Gaussian window in time, so that the camera does not bob.

    Beyond its ends the path goes on as its own point reflection: a steady walk stays centred.
    """
    if len(times) < 2 or seconds <= 0.0:
        return path
    when = np.concatenate([2.0 * times[0] - times[:0:-1], times, 2.0 * times[-1] - times[-2::-1]])
    where = np.concatenate([2.0 * path[0] - path[:0:-1], path, 2.0 * path[-1] - path[-2::-1]])
    smooth = np.empty_like(path)
    for moment, time in enumerate(times):
        near = np.abs(when - time) <= 4.0 * seconds
        weights = np.exp(-0.5 * ((when[near] - time) / seconds) ** 2)
        smooth[moment] = weights @ where[near] / weights.sum()
    return smooth
