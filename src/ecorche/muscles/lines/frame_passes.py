"""The compiled passes behind `frames`: Z axes of nodes, X from node to node, both ends blended in angle."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from ecorche.muscles.triples import cross, dot, plus, read, scaled, times, turned, unit

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]


@njit(cache=True)  # type: ignore[untyped-decorator]
def line_axes(starts: Ints, nodes: Floats, axes: Floats) -> int:
    """The Z of every node, (N, 3); the number of a line without length or with bad numbers, or −1.

    A segment without length has the direction of the one before it, at a line's start that of the next.
    """
    for line in range(len(starts) - 1):
        first, last = starts[line], starts[line + 1] - 1
        before = (0.0, 0.0, 0.0)
        for n in range(first, last):
            step = plus(read(nodes, n + 1), -1.0, read(nodes, n))
            length = dot(step, step)
            if not length < np.inf:
                return line
            if length > 1e-24 and dot(before, before) == 0.0:
                before = unit(step)
        if dot(before, before) == 0.0:
            return line
        for n in range(first, last + 1):
            after = before
            if n < last:
                step = plus(read(nodes, n + 1), -1.0, read(nodes, n))
                if dot(step, step) > 1e-24:
                    after = unit(step)
            if n == first:
                before = after
            both = plus(before, 1.0, after)
            z = before if n == last or not dot(both, both) > 1e-18 else unit(both)
            axes[n, 0], axes[n, 1], axes[n, 2] = z
            before = after
    return -1


@njit(inline="always")  # type: ignore[untyped-decorator]
def _put(frames: Floats, n: int, x: tuple[float, ...], z: tuple[float, ...]) -> None:
    y = cross(z, x)
    for k in range(3):
        frames[n, k, 0], frames[n, k, 1], frames[n, k, 2] = x[k], y[k], z[k]


@njit(cache=True)  # type: ignore[untyped-decorator]
def spread_frames(starts: Ints, axes: Floats, across: Floats, frames: Floats) -> None:
    """Frames of all nodes from the X of each first node, (L, 3), by the smallest rotations."""
    for line in range(len(starts) - 1):
        x = read(across, line)
        for n in range(starts[line], starts[line + 1]):
            if n > starts[line]:
                x = turned(read(axes, n - 1), read(axes, n), x)
            _put(frames, n, x, read(axes, n))


@njit(cache=True)  # type: ignore[untyped-decorator]
def _carried(turn: Floats, joint: int, frames: Floats, n: int, z: tuple[float, ...]) -> tuple[float, ...]:
    """The X of a node at bind, carried by a joint and then the short way to z."""
    bind_x = frames[n, 0, 0], frames[n, 1, 0], frames[n, 2, 0]
    bind_z = frames[n, 0, 2], frames[n, 1, 2], frames[n, 2, 2]
    return turned(times(turn, joint, bind_z), z, times(turn, joint, bind_x))  # type: ignore[no-any-return]


@njit(cache=True)  # type: ignore[untyped-decorator]
def pose_frames(
    starts: Ints,
    references: Ints,
    bind: Floats,
    ratio: Floats,
    turn: Floats,
    nodes: Floats,
    near: Floats,
    frames: Floats,
    twist: Floats,
) -> int:
    """See `LineFrames.posed`; ``turn`` (joints, TURN) from `pose_joints`. −1, or the line that cannot be."""
    axes = np.empty(nodes.shape)
    bad = line_axes(starts, nodes, axes)
    if bad >= 0:
        return int(bad)
    across = np.empty((len(starts) - 1, 3))
    for line in range(len(starts) - 1):
        n = starts[line]
        x = _carried(turn, references[line, 0], bind, n, read(axes, n))
        across[line, 0], across[line, 1], across[line, 2] = x
    spread_frames(starts, axes, across, frames)
    for line in range(len(starts) - 1):
        n = starts[line + 1] - 1
        x = frames[n, 0, 0], frames[n, 1, 0], frames[n, 2, 0]
        y = frames[n, 0, 1], frames[n, 1, 1], frames[n, 2, 1]
        other = _carried(turn, references[line, 1], bind, n, read(axes, n))
        # other − x, not other: exactly zero where both ends agree to the last bit, as they do at bind
        angle = np.arctan2(dot(y, plus(other, -1.0, x)), dot(x, other))
        angle += 2.0 * np.pi * np.round((near[line] - angle) / (2.0 * np.pi))
        twist[line] = angle
        if angle == 0.0:
            continue
        for n in range(starts[line], starts[line + 1]):
            x = frames[n, 0, 0], frames[n, 1, 0], frames[n, 2, 0]
            y = frames[n, 0, 1], frames[n, 1, 1], frames[n, 2, 1]
            part = ratio[n] * angle
            _put(frames, n, plus(scaled(np.cos(part), x), np.sin(part), y), read(axes, n))
    return -1
