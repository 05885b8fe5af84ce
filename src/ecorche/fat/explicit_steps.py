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

from typing import Any

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


LOOKS = 8
"""After so many steps it is looked whether anything has flown off."""


def stable_step(fastest: float, sheared: float, viscosity: float) -> float:
    """The step to take [s] where the fastest mode has ω, and by shear alone ω_s [rad/s]."""
    fast, slowed = (1.0 + 2.0 * BETA) * fastest**2, viscosity * sheared**2
    return float(SAFETY * (np.sqrt(slowed**2 + 4.0 * fast) - slowed) / fast)


@njit(inline="always")  # type: ignore[untyped-decorator]
def _ready(
    at: Any,
    place: Any,
    speed: Any,
    delay: Any,
    ahead: Any,
    nothing: Any,
    outside: Floats,
    sheared: Floats,
    pressed: Floats,
    near: Floats,
    far: Floats,
) -> None:
    """Write what forces are computed from for eight nodes, and the forces they begin with."""
    write_run(sheared, at, place + delay * speed)
    write_run(pressed, at, place + ahead * speed)
    write_run(near, at, run_from(outside, at))
    write_run(far, at, nothing)


@njit(inline="always")  # type: ignore[untyped-decorator]
def _press(touching: Ints, planes: Floats, whole: int, displacement: Floats, near: Floats) -> None:
    """Add to the forces on nodes those of the planes that they are behind, see `take_steps`."""
    for number in range(len(touching)):
        i, x, y, z = touching[number], planes[number, 0], planes[number, 1], planes[number, 2]
        j, k = i + whole, i + 2 * whole
        missing = planes[number, 3] - (x * displacement[i] + y * displacement[j] + z * displacement[k])
        force = planes[number, 4] * max(missing, np.float32(0.0))
        near[i] += force * x
        near[j] += force * y
        near[k] += force * z


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def take_steps(
    solid: tuple[Ints, int, int, int, float, float, Floats, Floats, Floats],
    nodes: Ints,
    held: Ints,
    target: Floats,
    inverse: Floats,
    places: Floats,
    outside: Floats,
    touching: Ints,
    planes: Floats,
    motion: Floats,
    viscosity: float,
    drag: Floats,
    step: float,
    count: int,
    displacement: Floats,
    velocity: Floats,
    sheared: Floats,
    pressed: Floats,
    near: Floats,
    far: Floats,
) -> bool:
    """Let P times ``count`` steps of ``step`` seconds pass; False where a node flies over a voxel at once.

    Flat arrays are in the order of `voxel_forces`.

    Args:
        solid: What `add_forces` asks for first.
        nodes: Where eights of nodes begin, of which at least one is there, (R,).
        held, target: Nodes that are held, (H,), and where they are at the end of each of the P pieces [m from
            rest], (P, 3, H); they go there evenly.
        inverse: 1 / mass of the nodes [1/kg], 0 for those that are not free, (whole,).
        places: Of the nodes in the frame, at rest [m], (3 whole,).
        outside: Forces from outside [N], (3 whole,).
        touching, planes: Nodes that meet something, (T,), the way out of it, how far they must have gone that
            way from rest [m], and the force on them by what is missing [N/m], (T, 5).
        motion: Of the frame: its acceleration less gravity, angular velocity and acceleration, (P, 9).
        viscosity: τ [s].
        drag: What share of its velocity in the frame a node loses [1/s], (P,).
        displacement, velocity: [m] and [m/s], (3 whole,); changed.
        sheared, pressed, near, far: Memory to work in, (3 whole,).
    """
    runs, row, slab, whole, size, stiffening, shear, bulk, room = solid
    dt, delay, nothing = broadcast_eight(step), broadcast_eight(viscosity), broadcast_eight(np.float32(0.0))
    two, ahead = broadcast_eight(np.float32(2.0)), broadcast_eight(np.float32(BETA) * step)
    for number in range(len(nodes)):
        for axis in range(3):
            at = nodes[number] + axis * whole
            place, speed = run_from(displacement, at), run_from(velocity, at)
            _ready(at, place, speed, delay, ahead, nothing, outside, sheared, pressed, near, far)
    _press(touching, planes, whole, displacement, near)
    fastest, done, seconds = nothing, 0, count * step
    for piece in range(len(motion)):
        now = motion[piece]
        ax, ay, az = broadcast_eight(now[0]), broadcast_eight(now[1]), broadcast_eight(now[2])
        ox, oy, oz = broadcast_eight(now[3]), broadcast_eight(now[4]), broadcast_eight(now[5])
        fx, fy, fz = broadcast_eight(now[6]), broadcast_eight(now[7]), broadcast_eight(now[8])
        slowed = broadcast_eight(drag[piece])
        for axis in range(3):
            for n in range(len(held)):
                at = axis * whole + held[n]
                velocity[at] = (target[piece, axis, n] - displacement[at]) / seconds
        for _ in range(count):
            add_forces(
                runs, row, slab, whole, size, stiffening, shear, bulk, room, sheared, pressed, near, far
            )
            for number in range(len(nodes)):
                i = nodes[number]
                j, k = i + whole, i + 2 * whole
                light = run_from(inverse, i)
                free = where_less(nothing, light, dt, nothing)
                u, v, w = run_from(velocity, i), run_from(velocity, j), run_from(velocity, k)
                a, b, c = run_from(displacement, i), run_from(displacement, j), run_from(displacement, k)
                # where it is in the frame, for what turning does to it
                x, y, z = run_from(places, i) + a, run_from(places, j) + b, run_from(places, k) + c
                p, q, r = (
                    two * u + (oy * z - oz * y),
                    two * v + (oz * x - ox * z),
                    two * w + (ox * y - oy * x),
                )
                felt_x = (ax + (fy * z - fz * y) + (oy * r - oz * q)) + slowed * u
                felt_y = (ay + (fz * x - fx * z) + (oz * p - ox * r)) + slowed * v
                felt_z = (az + (fx * y - fy * x) + (ox * q - oy * p)) + slowed * w
                u = u + free * ((run_from(near, i) + run_from(far, i)) * light - felt_x)
                v = v + free * ((run_from(near, j) + run_from(far, j)) * light - felt_y)
                w = w + free * ((run_from(near, k) + run_from(far, k)) * light - felt_z)
                fastest = larger(larger(fastest, u * u), larger(v * v, w * w))
                a, b, c = a + dt * u, b + dt * v, c + dt * w
                write_run(velocity, i, u)
                write_run(velocity, j, v)
                write_run(velocity, k, w)
                write_run(displacement, i, a)
                write_run(displacement, j, b)
                write_run(displacement, k, c)
                _ready(i, a, u, delay, ahead, nothing, outside, sheared, pressed, near, far)
                _ready(j, b, v, delay, ahead, nothing, outside, sheared, pressed, near, far)
                _ready(k, c, w, delay, ahead, nothing, outside, sheared, pressed, near, far)
            _press(touching, planes, whole, displacement, near)
            done += 1
            if done % LOOKS == 0 or done == count * len(motion):
                write_run(far, 0, fastest)
                for lane in range(VOXELS):
                    if not far[lane] * step * step < size * size:
                        return False
                write_run(far, 0, nothing)
        for axis in range(3):
            for n in range(len(held)):
                displacement[axis * whole + held[n]] = target[piece, axis, n]
    return True
