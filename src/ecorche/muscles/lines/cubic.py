"""An action line as a smooth curve: a cubic between every two nodes, with the nodes' own tangents.

From section 4.4.1 of text 002: a polyline that bends over few nodes shows its corners; a C1 curve through
the nodes, whose tangents are the Z axes of their frames, does not. The piece between nodes P and Q, a
distance L apart, is the Hermite cubic with the derivatives ``L z_P`` and ``L z_Q``. In the parameter t of its
piece a point moves at L a unit at both ends; so measured in metres of polyline it moves at one, on both sides
of a node alike: the curve is C1. Frames along it are those of the two nodes, slerped, then taken the
short way onto the curve's tangent.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from ecorche.base.compiled_once import NO
from ecorche.muscles.lines.turns import laid_along, slerp, turn_of_frame
from ecorche.muscles.triples import dot, plus, read, scaled, unit

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]

_GAUSS = tuple(zip(*(row.tolist() for row in np.polynomial.legendre.leggauss(8)), strict=True))
# on a quarter circle of one piece eight places measure the curve to 1e-9 of its length


@njit(cache=True)  # type: ignore[untyped-decorator]
def cubic_point(nodes: Floats, turns: Floats, n: int, t: float) -> Any:
    """The place [m] and the derivative by t of the piece from node n on; ``turns`` (N, 4) of the nodes."""
    p, q = read(nodes, n), read(nodes, n + 1)
    step = plus(q, -1.0, p)
    length = np.sqrt(dot(step, step))
    a, b = _tangent(turns, n), _tangent(turns, n + 1)
    u = 1.0 - t
    # p + t² (3 − 2t) (q − p) and the two tangents: exact at t = 0
    place = plus(p, t * t * (3.0 - 2.0 * t), step)
    place = plus(plus(place, length * t * u * u, a), -length * t * t * u, b)
    speed = scaled(6.0 * t * u, step)
    speed = plus(plus(speed, length * u * (1.0 - 3.0 * t), a), length * t * (3.0 * t - 2.0), b)
    return place, speed


@njit(cache=True)  # type: ignore[untyped-decorator]
def point_on_line(nodes: Floats, turns: Floats, n: int, t: float, curved: bool) -> Any:
    """The place [m] a share t from node n to the next."""
    if curved:
        return cubic_point(nodes, turns, n, t)[0]
    p = read(nodes, n)
    return plus(p, t, plus(read(nodes, n + 1), -1.0, p))


@njit(inline="always")  # type: ignore[untyped-decorator]
def _tangent(turns: Floats, n: int) -> Any:
    x, y, z, w = turns[n, 0], turns[n, 1], turns[n, 2], turns[n, 3]
    return 2.0 * (x * z + y * w), 2.0 * (y * z - x * w), 1.0 - 2.0 * (x * x + y * y)


@njit(cache=True)  # type: ignore[untyped-decorator]
def place_on_line(nodes: Floats, turns: Floats, n: int, t: float, curved: bool) -> Any:
    """The place [m] a share t from node n to the next, and the frame there as a quaternion."""
    a = turns[n, 0], turns[n, 1], turns[n, 2], turns[n, 3]
    b = turns[n + 1, 0], turns[n + 1, 1], turns[n + 1, 2], turns[n + 1, 3]
    turn = slerp(a, b, t)
    if not curved:
        return point_on_line(nodes, turns, n, t, NO), turn
    place, speed = cubic_point(nodes, turns, n, t)
    if dot(speed, speed) > 1e-24:
        turn = laid_along(turn, unit(speed))
    return place, turn


@njit(cache=True)  # type: ignore[untyped-decorator]
def segment_length(nodes: Floats, turns: Floats, n: int, curved: bool) -> float:
    """From node n to the next, along the line [m]."""
    step = plus(read(nodes, n + 1), -1.0, read(nodes, n))
    if not curved:
        return float(np.sqrt(dot(step, step)))
    whole = 0.0
    for at, weight in _GAUSS:
        _, speed = cubic_point(nodes, turns, n, 0.5 + 0.5 * at)
        whole += 0.5 * weight * np.sqrt(dot(speed, speed))
    return whole


@njit(cache=True)  # type: ignore[untyped-decorator]
def node_turns(starts: Ints, frames: Floats, turns: Floats) -> None:
    """The frames (N, 3, 3) as quaternions (N, 4), each on the side of the one before it on its line."""
    for line in range(len(starts) - 1):
        for n in range(starts[line], starts[line + 1]):
            q = turn_of_frame(frames, n)
            sign = 1.0
            if n > starts[line]:
                p = turns[n - 1]
                if p[0] * q[0] + p[1] * q[1] + p[2] * q[2] + p[3] * q[3] < 0.0:
                    sign = -1.0
            for k in range(4):
                turns[n, k] = sign * q[k]


@njit(cache=True)  # type: ignore[untyped-decorator]
def joint_turns(moved: Floats, turns: Floats) -> None:
    """How joints of ``M − I`` (joints, 4, 4) have turned, as quaternions (joints, 4).

    Exact of rigid joints; of one that scales its columns are brought to unit length first.
    """
    frame = np.empty((1, 3, 3))
    for j in range(len(moved)):
        for column in range(3):
            length = 0.0
            for row in range(3):
                frame[0, row, column] = moved[j, row, column] + (1.0 if row == column else 0.0)
                length += frame[0, row, column] ** 2
            frame[0, :, column] /= max(np.sqrt(length), 1e-300)
        x, y, z, w = turn_of_frame(frame, 0)
        over = 1.0 / np.sqrt(x * x + y * y + z * z + w * w)
        turns[j, 0], turns[j, 1], turns[j, 2], turns[j, 3] = x * over, y * over, z * over, w * over


@njit(cache=True)  # type: ignore[untyped-decorator]
def segment_lengths(
    starts: Ints, curved: npt.NDArray[np.bool_], nodes: Floats, turns: Floats, lengths: Floats
) -> None:
    """Of all segments [m], packed, (N − L,)."""
    for line in range(len(starts) - 1):
        for n in range(starts[line], starts[line + 1] - 1):
            lengths[n - line] = segment_length(nodes, turns, n, curved[line])


@njit(cache=True)  # type: ignore[untyped-decorator]
def places_on_lines(
    nodes: Floats, turns: Floats, first: Ints, t: Floats, curved: npt.NDArray[np.bool_]
) -> tuple[Floats, Floats]:
    """Places (K, 3) [m] and quaternions (K, 4) at shares ``t`` (K,) from nodes ``first`` (K,) to the next."""
    places, turned = np.empty((len(t), 3)), np.empty((len(t), 4))
    for k in range(len(t)):
        place, turn = place_on_line(nodes, turns, np.int64(first[k]), t[k], curved[k])
        for i in range(3):
            places[k, i] = place[i]
        for i in range(4):
            turned[k, i] = turn[i]
    return places, turned


@njit(cache=True)  # type: ignore[untyped-decorator]
def points_on_lines(nodes: Floats, turns: Floats, first: Ints, t: Floats, curved: bool) -> Floats:
    """Places (K, 3) [m] at shares ``t`` (K,) from nodes ``first`` (K,) to the next."""
    places = np.empty((len(t), 3))
    for k in range(len(t)):
        place = point_on_line(nodes, turns, np.int64(first[k]), t[k], curved)
        for i in range(3):
            places[k, i] = place[i]
    return places
