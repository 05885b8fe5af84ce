"""A joint's motion taken apart into what quaternions can blend and what they cannot.

``M = T · R · S``: a stretch S first (symmetric), then a rotation R, then a translation T. This is the
polar decomposition, found by Newton's iteration ``R ← (R + R⁻ᵀ) / 2`` (Higham 1986), which leaves the
identity untouched to the last bit. UsdSkel factors its joint matrices the same way; a mirroring
matrix has a stretch with negative determinant in both.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from numba import njit

Floats = npt.NDArray[np.float64]

_VISIBLE_STRETCH = 1e-7  # below float32's resolution a stretch changes nothing


@dataclass(frozen=True, eq=False)
class RigidParts:
    """Rotation and stretch of some motions.

    Attributes:
        rotation_xyzw: Unit quaternions, shape (joints, 4).
        stretch_difference: ``S − I``, shape (joints, 3, 3).
        stretched: Whether any stretch is large enough to be seen in float32.
    """

    rotation_xyzw: Floats
    stretch_difference: Floats
    stretched: bool


def rigid_parts(difference: Floats) -> RigidParts:
    """The parts of motions given as ``M − I``, shape (joints, 4, 4); exact where that is zero.

    A matrix that flattens space has no rotation of its own: all of it counts as stretch.
    """
    rotation, stretch = _polar(np.ascontiguousarray(difference, np.float64))
    return RigidParts(rotation, stretch, bool(np.max(np.abs(stretch), initial=0.0) > _VISIBLE_STRETCH))


@njit(cache=True)  # type: ignore[untyped-decorator]
def cofactors_of(m: Floats, out: Floats) -> float:
    """Write the cofactor matrix of ``m`` (3, 3) to ``out``; its determinant."""
    for i in range(3):
        a, b = (i + 1) % 3, (i + 2) % 3
        for j in range(3):
            c, d = (j + 1) % 3, (j + 2) % 3
            out[i, j] = m[a, c] * m[b, d] - m[a, d] * m[b, c]
    return m[0, 0] * out[0, 0] + m[0, 1] * out[0, 1] + m[0, 2] * out[0, 2]  # type: ignore[no-any-return]


@njit(cache=True)  # type: ignore[untyped-decorator]
def _polar(difference: Floats) -> tuple[Floats, Floats]:
    count = len(difference)
    rotations = np.empty((count, 4))
    stretches = np.empty((count, 3, 3))
    linear, r, cofactors = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
    for joint in range(count):
        largest = 0.0
        for i in range(3):
            for j in range(3):
                linear[i, j] = difference[joint, i, j] + (1.0 if i == j else 0.0)
                largest = max(largest, abs(linear[i, j]))
        determinant = cofactors_of(linear, cofactors)
        flat = abs(determinant) <= 1e-12 * largest**3
        for i in range(3):
            for j in range(3):
                if flat:
                    r[i, j] = 1.0 if i == j else 0.0
                else:
                    r[i, j] = linear[i, j] if determinant > 0.0 else -linear[i, j]
        # from any start the error soon squares at each step; flat matrices never enter
        step = 0.0 if flat else 1.0
        for _ in range(100):
            if step <= 1e-15:
                break
            determinant = cofactors_of(r, cofactors)
            # while far away, bring the volume to one first: large scales then cost no extra steps
            size = abs(determinant) ** (-1.0 / 3.0) if step > 0.1 else 1.0
            step = 0.0
            for i in range(3):
                for j in range(3):
                    new = 0.5 * (size * r[i, j] + cofactors[i, j] / (size * determinant))
                    step = max(step, abs(new - r[i, j]))
                    r[i, j] = new
        _quaternion(r, rotations[joint])
        for i in range(3):
            for j in range(3):
                total = 0.0
                for k in range(3):
                    total += r[k, i] * linear[k, j]
                stretches[joint, i, j] = total - (1.0 if i == j else 0.0)
    return rotations, stretches


@njit(cache=True)  # type: ignore[untyped-decorator]
def _quaternion(r: Floats, out: Floats) -> None:
    """The unit quaternion xyzw of a rotation matrix, from its largest component."""
    trace = r[0, 0] + r[1, 1] + r[2, 2]
    if trace > 0.0:
        w = 0.5 * np.sqrt(1.0 + trace)
        out[3] = w
        for i in range(3):
            a, b = (i + 1) % 3, (i + 2) % 3
            out[i] = (r[b, a] - r[a, b]) / (4.0 * w)
        return
    i = 0
    for axis in range(1, 3):
        if r[axis, axis] > r[i, i]:
            i = axis
    a, b = (i + 1) % 3, (i + 2) % 3
    largest = 0.5 * np.sqrt(1.0 + r[i, i] - r[a, a] - r[b, b])
    out[i] = largest
    out[a] = (r[i, a] + r[a, i]) / (4.0 * largest)
    out[b] = (r[i, b] + r[b, i]) / (4.0 * largest)
    out[3] = (r[b, a] - r[a, b]) / (4.0 * largest)
