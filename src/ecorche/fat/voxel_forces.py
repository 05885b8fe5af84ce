"""Elastic forces of cubic voxels on their corners, eight voxels side by side.

The thesis approximates the operators of the Lamé equation by differences (5.4.3), which are not those of a
free surface, and measures strain by the linear ``½ (∇d + ∇dᵀ)``, which takes a turn for a swelling: a cube
that sags by a fifth of its edge grows by a tenth. Here every voxel is a finite element with the energy

    E = ∫ ½ μ (F : F − 3) − μ (J − 1) + ½ (λ + μ) (J / V − 1)² dV,   F = I + ∇d,   J = det F,

whose forces for small displacements are those of the Lamé equation, to which a turn is nothing at all, and
which holds the true volume J; V is 1, or more where something came in from elsewhere. Forces of a voxel are
opposite and equal; surfaces are free of stress without being told. Tissue stiffens as its fibres are drawn
straight, which linear elasticity knows nothing of: with ``Q = F : F − 3 − 2 (J − 1)``, which is the square of
a small shear, the energy of shear ½ μ Q gets ¼ κ μ Q² more (Yeoh's model), of Q at the middle of a voxel.
Small strains do not notice.

Within a voxel each component of d is ``Σ c_s ξ^s₁ η^s₂ ζ^s₃`` with s over the eight corners of a cube and ξ,
η, ζ from −1 to 1. The c_s are sums and differences of the corners' values, which a cascade of additions
gives; these terms and their derivatives are orthogonal over the voxel, so F : F is a sum of their squares.
Volume is taken at the middle of a voxel alone: integrated in full, almost incompressible voxels could not
bend ("locking").
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from ecorche.base.lane_runs import run_from, write_run
from ecorche.base.lanes import broadcast_eight

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int32]

VOXELS = 8
"""How many voxels, neighbours along the last axis, are computed at once."""


@njit(forceinline=True)  # type: ignore[untyped-decorator]
def _cascade(a: Any) -> Any:
    """Sums and differences along the three axes: from corners 000, 001, 010 … to terms of these names."""
    b0, b1, b2, b3 = a[0] + a[1], a[1] - a[0], a[2] + a[3], a[3] - a[2]
    b4, b5, b6, b7 = a[4] + a[5], a[5] - a[4], a[6] + a[7], a[7] - a[6]
    c0, c2, c1, c3 = b0 + b2, b2 - b0, b1 + b3, b3 - b1
    c4, c6, c5, c7 = b4 + b6, b6 - b4, b5 + b7, b7 - b5
    return c0 + c4, c1 + c5, c2 + c6, c3 + c7, c4 - c0, c5 - c1, c6 - c2, c7 - c3


@njit(forceinline=True)  # type: ignore[untyped-decorator]
def _spread(g: Any) -> Any:
    """What terms, without the first, which is nothing, give to the corners: `_cascade` transposed."""
    a0, a1, a2, a3 = -g[0], g[0], g[1] - g[2], g[1] + g[2]
    a4, a5, a6, a7 = g[3] - g[4], g[3] + g[4], g[5] - g[6], g[5] + g[6]
    b0, b1, b2, b3 = a0 - a2, a1 - a3, a0 + a2, a1 + a3
    b4, b5, b6, b7 = a4 - a6, a5 - a7, a4 + a6, a5 + a7
    return b0 - b4, b1 - b5, b2 - b6, b3 - b7, b0 + b4, b1 + b5, b2 + b6, b3 + b7


@njit(inline="always")  # type: ignore[untyped-decorator]
def _corners(values: Floats, start: int, row: int, slab: int) -> Any:
    """Values at the corners 000, 001, 010 … of eight voxels, the first of which begins at ``start``."""
    return (
        run_from(values, start),
        run_from(values, start + 1),
        run_from(values, start + row),
        run_from(values, start + row + 1),
        run_from(values, start + slab),
        run_from(values, start + slab + 1),
        run_from(values, start + slab + row),
        run_from(values, start + slab + row + 1),
    )


@njit(inline="always")  # type: ignore[untyped-decorator]
def _take(near: Floats, far: Floats, start: int, row: int, slab: int, given: Any) -> None:
    """Subtract what voxels give from the forces at their corners; neighbours share corners, so in turn."""
    write_run(near, start, run_from(near, start) - given[0])
    write_run(far, start + 1, run_from(far, start + 1) - given[1])
    start += row
    write_run(near, start, run_from(near, start) - given[2])
    write_run(far, start + 1, run_from(far, start + 1) - given[3])
    start += slab - row
    write_run(near, start, run_from(near, start) - given[4])
    write_run(far, start + 1, run_from(far, start + 1) - given[5])
    start += row
    write_run(near, start, run_from(near, start) - given[6])
    write_run(far, start + 1, run_from(far, start + 1) - given[7])


@njit(forceinline=True)  # type: ignore[untyped-decorator]
def _slopes(a: Any) -> Any:
    """The terms 100, 010 and 001 of `_cascade` alone."""
    b0, b1, b2, b3 = a[0] + a[1], a[2] + a[3], a[4] + a[5], a[6] + a[7]
    return (
        (b2 + b3) - (b0 + b1),
        (b1 + b3) - (b0 + b2),
        ((a[1] - a[0]) + (a[3] - a[2])) + ((a[5] - a[4]) + (a[7] - a[6])),
    )


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def add_forces(
    runs: Ints,
    row: int,
    slab: int,
    whole: int,
    size: float,
    stiffening: float,
    shear: Floats,
    bulk: Floats,
    room: Floats,
    sheared: Floats,
    pressed: Floats,
    near: Floats,
    far: Floats,
) -> None:
    """Add the elastic forces on all nodes to ``near + far``.

    Nodes lie along the last axis first; so do voxels, each under the number of its first corner.

    Args:
        runs: Where eights of voxels begin, of which at least one is there, (R,).
        row, slab, whole: How far apart neighbours along the middle and the first axis, and components, are.
        size: Of a voxel h [m].
        stiffening: κ.
        shear, bulk: ``μ h / 16`` and ``(λ + μ) h / 16 V²`` of voxels [N/m], 0 where there is none, (whole,).
        room: ``V − 1`` of them, (whole,).
        sheared, pressed: Displacements for F : F and for J [m], (3 whole,); the same unless there is
            viscosity.
        near, far: Forces of voxels on their corners nearer to and farther from the beginning of a row [N],
            (3 whole,): what was written a moment ago is read again at once only if it lies at the same place.
    """
    fibres, two = broadcast_eight(np.float32(stiffening)), broadcast_eight(np.float32(2.0))
    two_thirds, third = broadcast_eight(np.float32(2.0 / 3.0)), broadcast_eight(np.float32(1.0 / 3.0))
    across, along = broadcast_eight(np.float32(4.0 * size)), broadcast_eight(np.float32(0.25 / size))
    for run in range(len(runs)):
        at = runs[run]
        # ∇d at the middle, row by row
        u1, u2, u3 = _slopes(_corners(pressed, at, row, slab))
        v1, v2, v3 = _slopes(_corners(pressed, at + whole, row, slab))
        w1, w2, w3 = _slopes(_corners(pressed, at + 2 * whole, row, slab))
        gx, gy, gz, hx, hy, hz = u1 * along, u2 * along, u3 * along, v1 * along, v2 * along, v3 * along
        kx, ky, kz = w1 * along, w2 * along, w3 * along
        # cofactors of it, and what they and it add to those of I: ∂J/∂F − I; J − 1 likewise
        cxx, cxy, cxz = hy * kz - hz * ky, hz * kx - hx * kz, hx * ky - hy * kx
        cyx, cyy, cyz = gz * ky - gy * kz, gx * kz - gz * kx, gy * kx - gx * ky
        czx, czy, czz = gy * hz - gz * hy, gz * hx - gx * hz, gx * hy - gy * hx
        further = (cxx + cyy + czz) + (gx * cxx + gy * cxy + gz * cxz)
        swelling = (gx + hy + kz) + further
        squares = (gx * gx + gy * gy + gz * gz) + (hx * hx + hy * hy + hz * hz)
        drawn = squares + (kx * kx + ky * ky + kz * kz) - two * further
        cxx, cxy, cxz = cxx + (hy + kz), cxy - hx, cxz - kx
        cyx, cyy, cyz = cyx - gy, cyy + (gx + kz), cyz - ky
        czx, czy, czz = czx - gz, czy - hz, czz + (gx + hy)
        mu = run_from(shear, at)
        pressure = across * run_from(bulk, at) * (swelling - run_from(room, at))
        more = mu * fibres * drawn
        rest, second, last = pressure - across * (mu + more), mu * two_thirds, mu * third
        _, x1, x2, x3, x4, x5, x6, x7 = _cascade(_corners(sheared, at, row, slab))
        _, y1, y2, y3, y4, y5, y6, y7 = _cascade(_corners(sheared, at + whole, row, slab))
        _, z1, z2, z3, z4, z5, z6, z7 = _cascade(_corners(sheared, at + 2 * whole, row, slab))
        # viscosity answers the rate of strain: what is sheared but not pressed, and the same transposed
        t4 = mu * (x4 + (x4 - u1)) + more * u1 + rest * cxx + pressure
        t2 = mu * (x2 + (y4 - v1)) + more * u2 + rest * cxy
        t1 = mu * (x1 + (z4 - w1)) + more * u3 + rest * cxz
        given = _spread((t1, t2, second * x3, t4, second * x5, second * x6, last * x7))
        _take(near, far, at, row, slab, given)
        t2 = mu * (y2 + (y2 - v2)) + more * v2 + rest * cyy + pressure
        t4 = mu * (y4 + (x2 - u2)) + more * v1 + rest * cyx
        t1 = mu * (y1 + (z2 - w2)) + more * v3 + rest * cyz
        given = _spread((t1, t2, second * y3, t4, second * y5, second * y6, last * y7))
        _take(near, far, at + whole, row, slab, given)
        t1 = mu * (z1 + (z1 - w3)) + more * w3 + rest * czz + pressure
        t4 = mu * (z4 + (x1 - u3)) + more * w1 + rest * czx
        t2 = mu * (z2 + (y1 - v3)) + more * w2 + rest * czy
        given = _spread((t1, t2, second * z3, t4, second * z5, second * z6, last * z7))
        _take(near, far, at + 2 * whole, row, slab, given)
