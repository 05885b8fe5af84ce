"""Moment arms of any path: how much shorter a muscle gets as a joint turns.

``r = −∂L/∂q``, in metres per radian: positive where the pulling muscle increases the coordinate, as OpenSim
and `paths` have it (MuJoCo gives ``+∂L/∂q``).

Two ways, one the check of the other:

- `moment_arms` asks only for lengths as a function of coordinates, so it serves every path: through points,
  wrapped, admissible, elastic. Coupled coordinates are folded in by what is asked: move them with the one
  they follow. Central differences with steps that shrink, extrapolated to none at all (Ridders, 1982), with
  an estimate of the error; it is large at a kink, such as first contact.
- `moment_arms_of_nodes` is exact where the nodes' own velocities are known: a length grows by the sum over
  its segments of direction times difference of velocity. The points where a tight path meets and leaves a
  moving obstacle count as nodes that the obstacle carries: the path is the shortest, so that they also
  slide along it changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecorche.errors import EcorcheError

Floats = npt.NDArray[np.float64]

SHRINK = 1.6
"""Each step is so many times smaller than the one before."""
ROWS = 8
"""Steps at most."""


@dataclass(frozen=True, eq=False)
class MomentArms:
    """Moment arms of M lengths about C coordinates.

    Attributes:
        values: ``−∂L/∂q`` [m/rad, or m/m for a sliding coordinate], (M, C).
        errors: Estimates of how wrong these are, (M, C).
    """

    values: Floats
    errors: Floats


def moment_arms(
    lengths_of: Callable[[Floats], npt.ArrayLike], coordinates: npt.ArrayLike, *, step: float = 0.02
) -> MomentArms:
    """Moment arms of all lengths about all coordinates, by differences.

    Args:
        lengths_of: Gives lengths [m], (M,), for coordinates, (C,).
        coordinates: Where, (C,) [rad or m].
        step: The largest step taken.
    """
    at = np.array(coordinates, np.float64)
    if at.ndim != 1 or not np.isfinite(at).all() or not step > 0.0:
        raise EcorcheError(
            f"coordinates of shape {at.shape} and a step of {step} give no moment arms",
            where="moment arms",
            remedy="Give finite coordinates in a row, and a step above zero",
        )
    values, errors = [], []
    for number in range(len(at)):
        value, error = _ridders(lengths_of, at, number, step)
        values.append(-value)
        errors.append(error)
    count = len(np.atleast_1d(np.asarray(lengths_of(at), np.float64)))
    shape = (len(at), count)
    return MomentArms(np.array(values).reshape(shape).T.copy(), np.array(errors).reshape(shape).T.copy())


def _ridders(
    lengths_of: Callable[[Floats], npt.ArrayLike], at: Floats, number: int, step: float
) -> tuple[Floats, Floats]:
    """Derivative of lengths by one coordinate, and the estimated error, each (M,)."""

    def slope(width: float) -> Floats:
        ends = []
        for sign in (1.0, -1.0):
            q = at.copy()
            q[number] += sign * width
            ends.append(np.atleast_1d(np.asarray(lengths_of(q), np.float64)))
        # by what the step came to in floating point, which is not quite twice the width
        rise: Floats = ends[0] - ends[1]
        taken = (at[number] + width) - (at[number] - width)
        return np.asarray(rise / taken, np.float64)

    rows = [[slope(step)]]
    best, error = rows[0][0], np.full(rows[0][0].shape, np.inf)
    for level in range(1, ROWS):
        row = [slope(step / SHRINK**level)]
        for order in range(1, level + 1):
            factor = SHRINK ** (2 * order)
            finer, coarser = row[order - 1], rows[level - 1][order - 1]
            value = (factor * finer - coarser) / (factor - 1.0)
            row.append(value)
            # a value is as wrong as it differs from what it was made of
            wrong = np.maximum(np.abs(value - finer), np.abs(value - coarser))
            better = wrong < error
            best, error = np.where(better, value, best), np.where(better, wrong, error)
        rows.append(row)
    return best, error


def line_lengths(nodes: npt.ArrayLike, starts: npt.ArrayLike) -> Floats:
    """Lengths [m], (..., L), of packed lines through nodes (..., N, 3)."""
    points, borders = np.asarray(nodes, np.float64), np.asarray(starts, np.int64)
    steps = np.zeros(points.shape[:-1])
    steps[..., 1:] = np.linalg.norm(np.diff(points, axis=-2), axis=-1)
    steps[..., borders[:-1]] = 0.0
    return np.add.reduceat(steps, borders[:-1], axis=-1)


def length_gradients(nodes: npt.ArrayLike, starts: npt.ArrayLike) -> Floats:
    """How the length of its line grows as each node moves, (..., N, 3); nodes that coincide pull nowhere."""
    points, borders = np.asarray(nodes, np.float64), np.asarray(starts, np.int64)
    steps = np.diff(points, axis=-2)
    lengths = np.linalg.norm(steps, axis=-1, keepdims=True)
    directions: Floats = steps / np.where(lengths > 0.0, lengths, 1.0)
    directions[..., borders[1:-1] - 1, :] = 0.0  # from one line to the next
    gradients = np.zeros(points.shape)
    gradients[..., 1:, :] += directions
    gradients[..., :-1, :] -= directions
    return gradients


def moment_arms_of_nodes(nodes: npt.ArrayLike, starts: npt.ArrayLike, velocities: npt.ArrayLike) -> Floats:
    """Moment arms [m/rad], (L, C), of lines through nodes (N, 3) with velocities ``∂p/∂q`` (C, N, 3)."""
    gradients = length_gradients(nodes, starts)
    by_node = np.sum(np.asarray(velocities, np.float64) * gradients, axis=-1)
    return -np.add.reduceat(by_node, np.asarray(starts, np.int64)[:-1], axis=-1).T


def velocities_about(
    nodes: npt.ArrayLike, moves: npt.ArrayLike, axes: npt.ArrayLike, centres: npt.ArrayLike
) -> Floats:
    """``∂p/∂q`` (C, N, 3) of nodes (N, 3) as coordinates turn some of them.

    Args:
        nodes: In the pose [m].
        moves: Which nodes each coordinate moves, (C, N).
        axes: Unit axis of each coordinate in the pose, (C, 3).
        centres: A point on it [m], (C, 3).
    """
    arms = np.asarray(nodes, np.float64)[None] - np.asarray(centres, np.float64)[:, None]
    turned = np.cross(np.asarray(axes, np.float64)[:, None], arms)
    return np.where(np.asarray(moves, np.bool_)[..., None], turned, 0.0)
