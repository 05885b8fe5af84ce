"""Animation of an H-Anim humanoid: time sensors, interpolators, and the routes between them.

Each time sensor is one clip. Interpolators are sampled at every key time of any of them, so each
key is met exactly; straight lines and arcs between keys lose nothing by that.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from ecorche.base.names import unique
from ecorche.base.rotations import slerp_xyzw
from ecorche.base.transforms import compose, inverse
from ecorche.io.x3d.nodes import Floats, Node, Scene, metadata, scaling, text_of, xyzw_from_sfrotation
from ecorche.io.x3d.skeleton import Humanoid
from ecorche.skeleton.motion import Motion

MOST_MATRICES = 1 << 25
"""Frames times joints a clip may have (4 GB of matrices); more is refused before memory runs out."""

_WIDTHS = {"rotation": 4, "scaleOrientation": 4, "translation": 3, "scale": 3, "center": 3}
_INTERPOLATORS = ("OrientationInterpolator", "PositionInterpolator")


@dataclass(frozen=True, eq=False)
class _Channel:
    joint: int
    field: str
    keys: Floats  # (keys,) fractions of the cycle
    values: Floats  # (keys, 3), or (keys, 4) as quaternions xyzw


def read_motions(scene: Scene, humanoid: Humanoid) -> tuple[Motion, ...]:
    """Every clip that moves joints of the humanoid, in the order of their time sensors in the file."""
    clips: dict[int, tuple[Node, list[_Channel]]] = {}
    clocks = _clocks(scene)
    for route in scene.routes:
        source, target = scene.names.get(route.source), scene.names.get(route.target)
        if source is None or target is None:
            missing = route.source if source is None else route.target
            raise scene.error(f"a ROUTE names {missing!r}, which no DEF defines", route.line)
        joint = humanoid.number(target)
        wanted = route.target_field.removeprefix("set_").removesuffix("_changed")
        if joint is None or source.kind not in _INTERPOLATORS or wanted not in _WIDTHS:
            continue
        if wanted == "center":
            humanoid.notes.append(f"moving centers are not read (line {route.line})")
            continue
        for clock in clocks[id(source)]:
            _, channels = clips.setdefault(id(clock), (clock, []))
            channels.append(_channel(scene, source, joint, wanted))
    taken: set[str] = set()
    ordered = sorted(clips.values(), key=lambda clip: clip[0].line)
    return tuple(_motion(scene, humanoid, clock, channels, taken) for clock, channels in ordered)


def _clocks(scene: Scene) -> dict[int, list[Node]]:
    """The time sensors that drive each interpolator, by its identity."""
    found: dict[int, list[Node]] = defaultdict(list)
    for route in scene.routes:
        source, target = scene.names.get(route.source), scene.names.get(route.target)
        fraction = route.target_field.removeprefix("set_") == "fraction"
        if source is not None and target is not None and source.kind == "TimeSensor" and fraction:
            found[id(target)].append(source)
    return found


def _channel(scene: Scene, node: Node, joint: int, wanted: str) -> _Channel:
    width = _WIDTHS[wanted]
    keys = scene.floats(node, "key", 1)[:, 0]
    values = scene.floats(node, "keyValue", width)
    if not len(keys) or len(keys) != len(values):
        raise scene.error(f"{node.kind} has {len(keys)} keys but {len(values)} values", node.line)
    if (np.diff(keys) < 0.0).any():
        raise scene.error(f"the keys of {node.kind} do not rise", node.line)
    return _Channel(joint, wanted, keys, xyzw_from_sfrotation(values) if width == 4 else values)


def _motion(
    scene: Scene, humanoid: Humanoid, clock: Node, channels: list[_Channel], taken: set[str]
) -> Motion:
    cycle = float(scene.vector(clock, "cycleInterval", (1.0,))[0])
    if cycle <= 0.0:
        raise scene.error(f"a cycle of {cycle:g} seconds is none", clock.line)
    kept = metadata(clock, "start")
    start = 0.0 if kept is None else float(scene.vector(kept, "value", (0.0,))[0])
    fractions = np.unique(np.concatenate([c.keys for c in channels]))
    if len(fractions) * len(humanoid.joints) > MOST_MATRICES:
        raise scene.error(f"a clip of {len(fractions)} frames is too long to hold", clock.line)
    times = start + fractions * cycle
    rising = np.concatenate([[True], np.diff(times) > 0.0])
    fractions, times = fractions[rising], times[rising]
    name = unique(text_of(clock, "description") or clock.name or "clip", taken)
    return Motion(name, humanoid.skeleton, times, _local(scene, humanoid, channels, fractions))


def _local(scene: Scene, humanoid: Humanoid, channels: list[_Channel], fractions: Floats) -> Floats:
    """``parent_from_joint`` (frames, joints, 4, 4): joints without channels keep their own fields."""
    skeleton = humanoid.skeleton
    by_joint: dict[int, dict[str, _Channel]] = defaultdict(dict)
    for channel in channels:
        by_joint[channel.joint][channel.field] = channel
    local = np.repeat(skeleton.rest_local[None], len(fractions), axis=0)
    for joint, own in by_joint.items():
        node, frame = humanoid.joints[joint], humanoid.frames[joint]
        centre = scene.vector(node, "center", (0.0, 0.0, 0.0))
        turn = _values(scene, node, own, "rotation", (0.0, 0.0, 1.0, 0.0), fractions)
        move = _values(scene, node, own, "translation", (0.0, 0.0, 0.0), fractions)
        scale = _values(scene, node, own, "scale", (1.0, 1.0, 1.0), fractions)
        along = _values(scene, node, own, "scaleOrientation", (0.0, 0.0, 1.0, 0.0), fractions)
        if (scale == 0.0).any():
            raise scene.error(f"joint {skeleton.names[joint]!r} is scaled to nothing", node.line)
        own_matrix = (
            compose(move + centre, turn) @ scaling(scale, along) @ compose(-centre, (0.0, 0.0, 0.0, 1.0))
        )
        # M_joint = M_parent · (frame · X · frame⁻¹), and world_from_joint = M_joint · bind
        change = frame @ own_matrix @ inverse(frame)
        parent = skeleton.parents[joint]
        above = skeleton.bind_inverse[parent] if parent >= 0 else np.eye(4)
        local[:, joint] = above @ change @ skeleton.bind_world[joint]
    return local


def _values(
    scene: Scene,
    node: Node,
    own: dict[str, _Channel],
    field: str,
    default: tuple[float, ...],
    fractions: Floats,
) -> Floats:
    """A field's values at the fractions, (frames, 3) or quaternions (frames, 4)."""
    channel = own.get(field)
    if channel is None:
        value = scene.vector(node, field, default)
        return np.repeat(
            (xyzw_from_sfrotation(value) if len(default) == 4 else value)[None], len(fractions), axis=0
        )
    last = len(channel.keys) - 1
    key = np.clip(np.searchsorted(channel.keys, fractions, side="right") - 1, 0, last)
    after = np.minimum(key + 1, last)
    gap = channel.keys[after] - channel.keys[key]
    u = np.clip((fractions - channel.keys[key]) / np.where(gap > 0.0, gap, 1.0), 0.0, 1.0)
    a, b = channel.values[key], channel.values[after]
    if len(default) == 4:
        return np.where(u[:, None] == 0.0, a, slerp_xyzw(a, b, u))
    return np.where(u[:, None] == 0.0, a, a + (b - a) * u[:, None])
