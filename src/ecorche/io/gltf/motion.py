"""Animations of a glTF file, sampled to motions.

Sampled at every key time of any channel, so that each key is met exactly. Straight-line channels
lose nothing by that. Channels with cubic or changing stepped keys are more than their keys:
then every gap is divided into steps of at most 1/60 s, which is noted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecorche.base.checks import require_finite
from ecorche.base.names import unique
from ecorche.base.rotations import normalise, slerp_xyzw
from ecorche.base.transforms import compose
from ecorche.errors import MotionError
from ecorche.io.gltf.file import GltfFile, Json
from ecorche.io.gltf.nodes import NodeTree
from ecorche.io.gltf.skeleton import Rig
from ecorche.skeleton.motion import Motion

Floats = npt.NDArray[np.float64]

FINE_STEP = 1.0 / 60.0
"""Longest step [s] between samples of curved or stepped keys."""

MOST_MATRICES = 1 << 23
"""Frames times joints a clip may have (1 GB of matrices); more is refused before memory runs out."""

WIDTHS = {"translation": 3, "rotation": 4, "scale": 3}


@dataclass(frozen=True, eq=False)
class Channel:
    """Keys of one property: times (keys,), values (keys, components), tangents or None."""

    times: Floats
    values: Floats
    interpolation: str
    tangents: tuple[Floats, Floats] | None
    turns: bool

    @property
    def bends(self) -> bool:
        """Whether straight lines between the keys would not say the same."""
        if self.interpolation == "CUBICSPLINE":
            return len(self.times) > 1
        if self.interpolation != "STEP":
            return False
        change = np.abs(self.values - self.values[0]).max(axis=1)
        if self.turns:  # q and -q are one rotation
            change = np.minimum(change, np.abs(self.values + self.values[0]).max(axis=1))
        return bool(change.max() > 1e-6)

    def at(self, times: Floats) -> Floats:
        """Values at the given times (frames, components); held before the first and after the last key."""
        last = len(self.times) - 1
        if last == 0:
            return np.repeat(self.values, len(times), axis=0)
        key = np.clip(np.searchsorted(self.times, times, side="right") - 1, 0, last)
        after = np.minimum(key + 1, last)
        gap = np.where(after > key, self.times[after] - self.times[key], 1.0)
        u = np.clip((times - self.times[key]) / gap, 0.0, 1.0)
        a, b = self.values[key], self.values[after]
        if self.interpolation == "STEP":
            return a
        if self.tangents is not None:
            into, out = self.tangents
            s, span = u[:, None], gap[:, None]
            value = (
                (2 * s**3 - 3 * s**2 + 1) * a
                + span * (s**3 - 2 * s**2 + s) * out[key]
                + (3 * s**2 - 2 * s**3) * b
                + span * (s**3 - s**2) * into[after]
            )
            return normalise(value) if self.turns else value
        if self.turns:
            return np.where(u[:, None] == 0.0, a, slerp_xyzw(a, b, u))
        return a + u[:, None] * (b - a)


def moved_nodes(file: GltfFile) -> set[int]:
    """All nodes some animation moves."""
    found: set[int] = set()
    for number, animation in enumerate(file.entries("animations")):
        file.reading = f"animation {number} ({file.name(animation, 'unnamed')})"
        for channel in _channels(file, animation):
            target = channel["target"]
            if target.get("path") in WIDTHS and "node" in target:
                file.item("nodes", target["node"])
                found.add(target["node"])
    return found


def clip_names(file: GltfFile) -> list[str]:
    """The name of each animation, made unique where two share one."""
    taken: set[str] = set()
    entries = enumerate(file.entries("animations"))
    return [unique(file.name(entry, f"animation_{n}"), taken) for n, entry in entries]


def _channels(file: GltfFile, animation: Json) -> list[Json]:
    channels = animation.get("channels")
    if not isinstance(channels, list) or not isinstance(animation.get("samplers"), list):
        raise file.error("it has no channels or samplers")
    for channel in channels:
        if not isinstance(channel, dict) or not isinstance(channel.get("target"), dict):
            raise file.error("a channel has no target")
    return channels


def read_motions(
    file: GltfFile,
    tree: NodeTree,
    rig: Rig,
    morphs: dict[int, list[tuple[str, str]]],
    only: str | None = None,
) -> list[Motion]:
    """Every clip, or only the one named, that moves the skeleton or a blend shape.

    ``morphs`` gives (mesh, morph) names by node, for the channels that animate their weights.
    """
    motions = []
    for name, animation in zip(clip_names(file), file.entries("animations"), strict=True):
        if only is not None and name != only:
            continue
        motion = _read_motion(file, tree, rig, morphs, animation, name)
        if motion is None:
            file.notes.append(f"clip {name!r} moves neither a joint nor a morph target and is left out")
        else:
            motions.append(motion)
    return motions


def _read_motion(
    file: GltfFile,
    tree: NodeTree,
    rig: Rig,
    morphs: dict[int, list[tuple[str, str]]],
    animation: Json,
    name: str,
) -> Motion | None:
    file.reading = f"animation {name!r}"
    joints: dict[int, dict[str, Channel]] = {}
    weights: dict[int, Channel] = {}
    others = 0
    for number, entry in enumerate(_channels(file, animation)):
        node, path = entry["target"].get("node"), entry["target"].get("path")
        file.reading = f"animation {name!r}, channel {number}"
        if node in rig.joint_of_node and path in WIDTHS:
            channel = _channel(file, animation, entry, WIDTHS[path], path == "rotation")
            joints.setdefault(rig.joint_of_node[node], {})[path] = channel
        elif node in morphs and path == "weights":
            weights[node] = _channel(file, animation, entry, len(morphs[node]), False)
        else:
            others += 1
    if others:
        file.notes.append(f"clip {name!r}: {others} channels move things other than the character")
    channels = [c for parts in joints.values() for c in parts.values()] + list(weights.values())
    if not channels:
        return None
    file.reading = f"animation {name!r}"
    times = _sample_times(file, channels, name, rig.skeleton.joint_count)
    local = np.repeat(rig.skeleton.rest_local[None], len(times), axis=0)
    for joint, parts in joints.items():
        rest = dict(zip(WIDTHS, tree.parts(rig.nodes[joint]), strict=True))
        t, r, s = (parts[p].at(times) if p in parts else rest[p] for p in WIDTHS)
        local[:, joint] = compose(t, r, s)
    curves: dict[str, Floats] = {}
    for node, channel in weights.items():
        values = channel.at(times)
        for column, (mesh, morph) in enumerate(morphs[node]):
            curves[f"{mesh}/{morph}"] = np.ascontiguousarray(values[:, column])
    return Motion(name, rig.skeleton, times, local, curves)


def _channel(file: GltfFile, animation: Json, entry: Json, width: int, turns: bool) -> Channel:
    """The keys of one channel, checked."""
    samplers, number = animation["samplers"], entry.get("sampler")
    if not isinstance(number, int) or not 0 <= number < len(samplers):
        raise file.error(f"its sampler {number!r} does not exist")
    sampler = samplers[number]
    interpolation = sampler.get("interpolation", "LINEAR")
    if interpolation not in ("LINEAR", "STEP", "CUBICSPLINE"):
        raise file.error(f"its interpolation {interpolation!r} is none that glTF knows")
    times = file.decoded(sampler.get("input"), "SCALAR")[:, 0].astype(np.float64)
    values = file.decoded(sampler.get("output")).astype(np.float64)
    cubic = interpolation == "CUBICSPLINE"
    if not len(times) or values.size != len(times) * width * (3 if cubic else 1):
        raise file.error(f"it has {len(times)} key times but {values.size} values of {width} components")
    where = file.where()
    require_finite(times, "key time", where, MotionError)
    require_finite(values, "key", where, MotionError)
    if (np.diff(times) <= 0.0).any():
        raise file.error(f"key {int(np.argmax(np.diff(times) <= 0.0)) + 1} is not later than the one before")
    tangents = None
    if cubic:
        into, values, out = np.moveaxis(values.reshape(len(times), 3, width), 1, 0)
        tangents = (into, out)
    values = values.reshape(len(times), width)
    if turns:
        if (np.linalg.norm(values, axis=1) < 1e-6).any():
            raise file.error("a rotation key is a quaternion of length zero")
        # a cubic's tangents belong to its keys as they are written
        values = values if cubic else normalise(values)
    return Channel(times, values, interpolation, tangents, turns)


def _sample_times(file: GltfFile, channels: list[Channel], name: str, joints: int) -> Floats:
    """Every key time of any channel, and steps between them where keys alone would not do."""
    times = np.unique(np.concatenate([c.times for c in channels]))
    if any(c.bends for c in channels) and len(times) > 1:
        gaps = np.diff(times)
        with np.errstate(over="ignore"):
            parts = np.maximum(np.ceil(gaps / FINE_STEP - 1e-6), 1.0)
        _require_memory(file, float(parts.sum()), joints)
        steps = parts.astype(np.int64)
        if (steps > 1).any():
            within = np.arange(int(steps.sum())) - np.repeat(np.cumsum(steps) - steps, steps)
            start = np.repeat(times[:-1], steps)
            fine = start + within * np.repeat(gaps / steps, steps)
            times = np.concatenate([fine, times[-1:]])
            file.notes.append(
                f"clip {name!r} has curved or stepped keys: sampled between them at 60 frames a second"
            )
    _require_memory(file, float(len(times)), joints)
    return times


def _require_memory(file: GltfFile, frames: float, joints: int) -> None:
    if frames * max(joints, 1) > MOST_MATRICES:
        raise file.error(
            f"{frames:.0f} frames of {joints} joints are more than memory should hold",
            "Split the clip, or check its key times",
        )
