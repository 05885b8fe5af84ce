"""Muscle meshes made by formula, with the lines they hang on: cylinders, spindles, U-shaped sheets."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from scipy.spatial.transform import Rotation

from ecorche.muscles.lines.frames import LineFrames, line_frames

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]


def tube(
    place: Callable[[float, float], npt.ArrayLike], rings: int = 33, around: int = 24, *, folded: bool = False
) -> tuple[Floats, Ints]:
    """A closed mesh of ``place(u, v)``: u from end to end, v round, both 0 to 1.

    Ends are fans about a pole in their middle, or, for ``folded`` sheets, strips between v and 1 − v.
    """
    ring = np.array([[place(u, k / around) for k in range(around)] for u in np.linspace(0.0, 1.0, rings)])
    points, k, triangles = ring.reshape(-1, 3), np.arange(around), []
    after, last = (k + 1) % around, (rings - 1) * around
    for r in range(rings - 1):
        a, b = r * around, (r + 1) * around
        triangles += [np.stack([a + k, a + after, b + after], 1), np.stack([a + k, b + after, b + k], 1)]
    if folded:
        one, other = k[: around // 2], -k[: around // 2] % around
        next_one, next_other = one + 1, (other - 1) % around
        strip = np.concatenate(
            [np.stack([other, next_one, one], 1), np.stack([other, next_other, next_one], 1)]
        )
        strip = strip[(strip != strip[:, [1, 2, 0]]).all(axis=1)]
        triangles += [strip, strip[:, ::-1] + last]
    else:
        south, north = rings * around, rings * around + 1
        points = np.concatenate([points, ring[[0, -1]].mean(axis=1)])
        triangles += [np.stack([0 * k + south, after, k], 1)]
        triangles += [np.stack([0 * k + north, last + k, last + after], 1)]
    return points, np.concatenate(triangles).astype(np.int32)


def spindle(length: float = 0.2, radius: float = 0.02, ends: float = 0.3) -> tuple[Floats, Ints]:
    """Along z from 0 to ``length``; ``ends`` is the radius there as a share, 1 makes a cylinder."""

    def place(u: float, v: float) -> npt.ArrayLike:
        r = radius * (ends + (1.0 - ends) * np.sin(np.pi * u) ** 2)
        return [r * np.cos(2.0 * np.pi * v), r * np.sin(2.0 * np.pi * v), length * u]

    return tube(place)


def straight_line(length: float = 0.2, count: int = 9) -> LineFrames:
    """Along z from joint 0 to joint 1."""
    nodes = np.zeros((count, 3))
    nodes[:, 2] = np.linspace(0.0, length, count)
    return line_frames([0, count], nodes, [[0, 1]], outward=[1.0, 0.0, 0.0])


def bent(lines: LineFrames, angle: float, shorter: float = 1.0) -> tuple[Floats, Floats]:
    """A straight line along z bent to an arc of ``angle`` [rad] and scaled; its nodes, and joints."""
    z = lines.nodes[:, 2] * shorter
    length = z[-1]
    a = z / length * angle
    if angle:
        nodes = length / angle * np.stack([1.0 - np.cos(a), 0.0 * a, np.sin(a)], axis=1)
    else:
        nodes = np.stack([0.0 * a, 0.0 * a, z], axis=1)
    moved = np.zeros((2, 4, 4))
    turn = Rotation.from_rotvec([0.0, angle, 0.0]).as_matrix()
    moved[1, :3, :3] = turn - np.eye(3)
    moved[1, :3, 3] = nodes[-1] - turn @ lines.nodes[-1]
    return nodes, moved


def u_shape(
    gap: float = 0.04, depth: float = 0.1, thick: float = 0.008, length: float = 0.15, meeting: float = 1.0
) -> tuple[Floats, Ints, LineFrames, Floats]:
    """A deltoid: a sheet whose section is a U, with a line in each arm and one in its bow.

    The arms lie ``gap`` apart and are ``depth`` long; at the far end the section is ``meeting`` times as big.
    Returned are points, triangles, lines, and how far round the U each vertex is, 0 to 1.
    """
    radius, arm = gap / 2.0, depth
    whole = 2.0 * arm + np.pi * radius

    def middle(s: float) -> tuple[Floats, Floats]:
        """Place and normal of the U's middle line at arc s from one tip, in x and y."""
        if s < arm:
            return np.array([-radius, arm - s]), np.array([-1.0, 0.0])
        if s < arm + np.pi * radius:
            a = np.pi + (s - arm) / radius
            out = np.array([np.cos(a), np.sin(a)])
            return radius * out, out
        return np.array([radius, s - arm - np.pi * radius]), np.array([1.0, 0.0])

    def place(u: float, v: float) -> npt.ArrayLike:
        side, along = (1.0, 2.0 * v) if v < 0.5 else (-1.0, 2.0 - 2.0 * v)
        at, out = middle(whole * along)
        size = 1.0 + u * (meeting - 1.0)
        # rims are closed by letting the thickness fall at the tips
        rim = min(1.0, 12.0 * along, 12.0 * (1.0 - along)) + 0.05
        xy = size * (at + side * 0.5 * thick * rim * out)
        return [xy[0], xy[1], length * u]

    points, triangles = tube(place, rings=17, around=96, folded=True)
    nodes = []
    for s in (0.5 * arm, 0.5 * whole, whole - 0.5 * arm):
        at = middle(s)[0]
        sizes = np.linspace(1.0, meeting, 7)
        nodes.append(np.column_stack([sizes[:, None] * at, np.linspace(0.0, length, 7)]))
    lines = line_frames([0, 7, 14, 21], np.concatenate(nodes), [[0, 1]] * 3, outward=[0.0, 1.0, 0.0])
    v = np.tile(np.arange(96) / 96, 17)
    return points, triangles, lines, np.where(v < 0.5, 2.0 * v, 2.0 - 2.0 * v)


def mesh_volume(points: Floats, triangles: Ints) -> float:
    """Enclosed by a closed mesh [m³]."""
    a, b, c = np.moveaxis(points[triangles] - points.mean(axis=0), 1, 0)
    return float(np.sum(a * np.cross(b, c)) / 6.0)
