"""Time passes in an elastic solid, in explicit steps:

    v ← v + dt M⁻¹ f(d + τ v, d + β dt v),   d ← d + dt v,

with elastic forces f of shear and pressure (`voxel_forces`) and the viscosity τ of shear. Pressure of an
almost incompressible tissue that were as viscous would force steps ten times smaller and damp nothing one
sees; it gets the small β that keeps the fastest waves, which nobody sees either, from feeding each other.

A mode of the frequency ω is stable for ``(1 + 2 β) dt² ω² + 2 τ dt ω_s² < 4``, with ω_s what shear alone
gives it. On a grid ω is at most about ``2 c / h`` with the speed c of pressure waves, and somewhat more at
corners, which have less mass.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from numba import njit

from ecorche.base.lane_runs import run_from, write_run
from ecorche.base.lanes import broadcast_eight, larger, where_less
from ecorche.fat.voxel_forces import VOXELS, add_forces

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int32]

SAFETY = 0.9
"""Of the largest stable step, how much is taken: where much is deformed a solid is stiffer."""
BETA = 0.1
"""How many steps the pressure is ahead, β."""


def stable_step(fastest: float, sheared: float, viscosity: float) -> float:
    """The step to take [s] where the fastest mode has ω, and by shear alone ω_s [rad/s]."""
    fast, slowed = (1.0 + 2.0 * BETA) * fastest**2, viscosity * sheared**2
    return float(SAFETY * (np.sqrt(slowed**2 + 4.0 * fast) - slowed) / fast)


@njit(cache=True)  # type: ignore[untyped-decorator]
def take_steps(
    solid: tuple[Ints, int, int, int, float, Floats, Floats],
    inverse: Floats,
    places: Floats,
    held: Ints,
    target: Floats,
    motion: Floats,
    viscosity: float,
    step: float,
    count: int,
    displacement: Floats,
    velocity: Floats,
    sheared: Floats,
    pressed: Floats,
    force: Floats,
) -> bool:
    """Let ``count`` steps of ``step`` seconds pass; False where a node flies farther than a voxel at once.

    Flat arrays are in the order of `voxel_forces`.

    Args:
        solid: What `add_forces` asks for first.
        inverse: 1 / mass of the nodes [1/kg], 0 for those that are not free, (whole,).
        places: Of the nodes in the frame, at rest [m], (3 whole,).
        held, target: Nodes that are held, (H,), and where they are at the end [m from rest], (H, 3).
        motion: Of the frame: its acceleration less gravity, angular velocity and acceleration, (9,).
        viscosity: τ [s].
        displacement, velocity: [m] and [m/s], (3 whole,); changed.
        sheared, pressed, force: Memory to work in, (3 whole,).
    """
    runs, row, slab, whole, size, shear, bulk = solid
    dt, delay, nothing = broadcast_eight(step), broadcast_eight(viscosity), broadcast_eight(np.float32(0.0))
    two, ahead = broadcast_eight(np.float32(2.0)), broadcast_eight(np.float32(BETA) * step)
    ax, ay, az = broadcast_eight(motion[0]), broadcast_eight(motion[1]), broadcast_eight(motion[2])
    ox, oy, oz = broadcast_eight(motion[3]), broadcast_eight(motion[4]), broadcast_eight(motion[5])
    fx, fy, fz = broadcast_eight(motion[6]), broadcast_eight(motion[7]), broadcast_eight(motion[8])
    for number in range(count):
        left = np.float32(1.0 / (count - number))
        for n in range(len(held)):
            for axis in range(3):
                at = axis * whole + held[n]
                way = (target[n, axis] - displacement[at]) * left
                displacement[at] += way
                velocity[at] = way / step
        for at in range(0, 3 * whole, VOXELS):
            place, speed = run_from(displacement, at), run_from(velocity, at)
            write_run(sheared, at, place + delay * speed)
            write_run(pressed, at, place + ahead * speed)
            write_run(force, at, nothing)
        add_forces(runs, row, slab, whole, size, shear, bulk, sheared, pressed, force)
        for i in range(0, whole, VOXELS):
            j, k = i + whole, i + 2 * whole
            light = run_from(inverse, i)
            free = where_less(nothing, light, dt, nothing)
            u, v, w = run_from(velocity, i), run_from(velocity, j), run_from(velocity, k)
            # where it is in the frame, for what turning does to it
            x = run_from(places, i) + run_from(displacement, i)
            y = run_from(places, j) + run_from(displacement, j)
            z = run_from(places, k) + run_from(displacement, k)
            p, q, r = two * u + (oy * z - oz * y), two * v + (oz * x - ox * z), two * w + (ox * y - oy * x)
            u = u + free * (run_from(force, i) * light - (ax + (fy * z - fz * y) + (oy * r - oz * q)))
            v = v + free * (run_from(force, j) * light - (ay + (fz * x - fx * z) + (oz * p - ox * r)))
            w = w + free * (run_from(force, k) * light - (az + (fx * y - fy * x) + (ox * q - oy * p)))
            write_run(velocity, i, u)
            write_run(velocity, j, v)
            write_run(velocity, k, w)
            write_run(displacement, i, run_from(displacement, i) + free * u)
            write_run(displacement, j, run_from(displacement, j) + free * v)
            write_run(displacement, k, run_from(displacement, k) + free * w)
        fastest = nothing
        for at in range(0, 3 * whole, VOXELS):
            speed = where_less(nothing, run_from(inverse, at % whole), run_from(velocity, at), nothing)
            fastest = larger(fastest, speed * speed)
        write_run(force, 0, fastest)
        for lane in range(VOXELS):
            if not force[lane] * step * step < size * size:
                return False
    return True
