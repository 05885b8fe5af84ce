"""Planted feet: put the target's soles where the source's are, and bend its legs to reach them.

Two-bone inverse kinematics in closed form. The knee keeps the plane it bends in: the axis is that of
the bend itself where the leg is bent, and fades to the axis the thigh carries where it is straight, so
that a nearly straight leg cannot flip. A straight leg's knee angle is infinitely sensitive to distance;
before it gets there the pelvis is lowered, smoothly in time, so that knees neither lock nor pop.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ecorche.base.rotations import (
    inverse_xyzw,
    multiply_xyzw,
    normalise,
    rotate_xyzw,
    shortest_arc_xyzw,
    xyzw_from_axis_angle,
)
from ecorche.skeleton.retarget.figure import Figure
from ecorche.skeleton.retarget.soles import Sole

Floats = npt.NDArray[np.float64]

STRAIGHTEST = 0.997  # of leg length: hip to ankle never gets longer; a knee bent by about 9 degrees
SETTLE = 0.15  # [s] within which pelvis and feet are moved out of the way and back again
ROLL = 0.012  # of leg length: heel and ball heights that count as alike when a foot rolls over
SOFTNESS = 0.004  # of leg length: how gently toes that would sink are held up
FADE = 0.15  # sine of the knee's bend below which the thigh's own axis takes over


def wanted_ankles(
    source_places: Floats,
    source_floor: Floats,
    target: Figure,
    sole: Sole,
    turns: Floats,
    scale: float,
    floor: float,
    times: Floats,
) -> Floats:
    """Where an ankle must be [m], (frames, 3), for its sole to stand where the source's stands.

    ``source_floor`` (frames,) is the height its steps stand at, see `soles.settling`.
    While the heel is down the heels coincide, while the ball is down those do, in between a smooth
    mixture, because the feet may be of different length. A sole that would sink into the floor, as
    captured ones do by a centimetre or so, is held up, smoothly in time: jitter that hips and feet of a
    capture share must not be taken from the feet alone, or knees would shake.
    """
    near = ROLL * target.leg_length / scale
    nearness = 1.0 / (np.maximum(source_places[:, :2, 1] - source_floor[:, None], 0.0) + near)
    weights = (nearness / nearness.sum(axis=1, keepdims=True))[..., None]
    points = np.stack([rotate_xyzw(turns[:, sole.ankle], point) for point in (sole.heel, sole.ball)], axis=1)
    ankle: Floats = np.sum(weights * (scale * source_places[:, :2] - points), axis=1)
    ankle[:, 1] += floor - scale * source_floor
    ankle[:, 1] += _envelope(floor - (ankle[:, 1] + points[..., 1].min(axis=1)), times)
    return ankle


def _held_up(sunk: Floats, leg_length: float) -> Floats:
    """How far to raise something that is ``sunk`` [m] into the floor: a smooth maximum with zero."""
    soft = SOFTNESS * leg_length
    return np.asarray(0.5 * (sunk + np.sqrt(sunk**2 + soft**2)))


def lifted_toes(target: Figure, sole: Sole, turns: Floats, ankle: Floats, floor: float) -> Floats:
    """Turns of a toe joint (frames, 4), bent up where its tip would sink into the floor.

    A character's toes may be longer than the source's; bending them disturbs nothing else.
    """
    toe = ankle + rotate_xyzw(turns[:, sole.ankle], target.heads[sole.toe] - target.heads[sole.ankle])
    left = rotate_xyzw(turns[:, sole.toe], sole.axes[:, 0])
    tip = rotate_xyzw(turns[:, sole.toe], sole.tip)
    reach = np.linalg.norm(tip - left * np.sum(tip * left, axis=-1, keepdims=True), axis=-1)
    reach = np.maximum(reach, 1e-9)
    raised = tip[:, 1] + _held_up(floor - toe[:, 1] - tip[:, 1], target.leg_length)
    now, then = (np.arcsin(np.clip(y / reach, -0.99, 0.99)) for y in (tip[:, 1], raised))
    return multiply_xyzw(xyzw_from_axis_angle(left, now - then), turns[:, sole.toe])


def pelvis_drop(hips: list[Floats], ankles: list[Floats], lengths: list[float], times: Floats) -> Floats:
    """How far to lower the pelvis [m], (frames,), for both legs to reach without straightening."""
    needed = np.zeros(len(times))
    for hip, ankle, length in zip(hips, ankles, lengths, strict=True):
        across = np.linalg.norm((hip - ankle)[:, [0, 2]], axis=-1)
        tallest = np.sqrt(np.maximum((STRAIGHTEST * length) ** 2 - across**2, 0.0))
        needed = np.maximum(needed, (hip - ankle)[:, 1] - tallest)
    return _envelope(needed, times)


def _envelope(needed: Floats, times: Floats) -> Floats:
    """A smooth curve (frames,) over `SETTLE` seconds that is nowhere below ``needed`` nor below zero."""
    needed = np.maximum(needed, 0.0)
    if len(times) < 2:
        return needed
    # the largest need within a window, averaged over the same window: smooth, and never too little
    first = np.searchsorted(times, times - SETTLE / 2.0)
    last = np.searchsorted(times, times + SETTLE / 2.0, side="right")
    peak = np.array([needed[i:j].max() for i, j in zip(first, last, strict=True)])
    drop = np.empty(len(times))
    for frame, (i, j) in enumerate(zip(first, last, strict=True)):
        weight = 1.0 + np.cos(2.0 * np.pi * (times[i:j] - times[frame]) / SETTLE)
        drop[frame] = weight @ peak[i:j] / weight.sum()
    return drop


def bend_leg(
    figure: Figure, side: str, turns: Floats, hip: Floats, ankle: Floats, hinge: Floats
) -> tuple[Floats, Floats, Floats]:
    """New turns of hip and knee (frames, 4) that bring the ankle from where it is to ``ankle``.

    ``hip`` is where the hip is (frames, 3), ``hinge`` the knee's axis at bind (3,). Also returns by
    how much the ankle stays short [m], (frames,): zero unless it is out of reach.
    """
    h, k, a = (figure.joints[f"{side}_{n}"] for n in ("hip", "knee", "talocrural"))
    thigh, shank = figure.heads[k] - figure.heads[h], figure.heads[a] - figure.heads[k]
    upper, lower = float(np.linalg.norm(thigh)), float(np.linalg.norm(shank))
    u, v = normalise(rotate_xyzw(turns[:, h], thigh)), normalise(rotate_xyzw(turns[:, k], shank))
    axis = bend_axis(u, v, rotate_xyzw(turns[:, h], hinge))

    aim = ankle - hip
    wanted = np.linalg.norm(aim, axis=-1)
    shortest = abs(upper - lower) + 0.02 * (upper + lower)
    reach = np.clip(wanted, shortest, STRAIGHTEST * (upper + lower))
    aim = normalise(aim)
    swing = shortest_arc_xyzw(normalise(upper * u + lower * v), aim)
    axis = rotate_xyzw(swing, axis)
    axis = normalise(axis - aim * np.sum(axis * aim, axis=-1, keepdims=True))
    at_hip = np.arccos(np.clip((upper**2 + reach**2 - lower**2) / (2.0 * upper * reach), -1.0, 1.0))
    at_ankle = np.arccos(np.clip((lower**2 + reach**2 - upper**2) / (2.0 * lower * reach), -1.0, 1.0))
    new_u = rotate_xyzw(xyzw_from_axis_angle(axis, -at_hip), aim)
    new_v = rotate_xyzw(xyzw_from_axis_angle(axis, at_ankle), aim)

    result = []
    for joint, old, new in ((h, u, new_u), (k, v, new_v)):
        carried = multiply_xyzw(swing, turns[:, joint])
        result.append(multiply_xyzw(shortest_arc_xyzw(rotate_xyzw(swing, old), new), carried))
    return result[0], result[1], np.abs(wanted - reach)


def bend_axis(u: Floats, v: Floats, carried: Floats) -> Floats:
    """The axis a knee bends about (frames, 3), for thigh and shank directions and the thigh's own axis.

    A knee bent the wrong way (a straight leg plus noise) is mirrored to the right side first, which
    is continuous and leaves a part along the carried axis that is never negative.
    """
    cross = np.cross(u, v)
    along = np.sum(cross * carried, axis=-1, keepdims=True)
    cross = np.where(along < 0.0, cross - 2.0 * along * carried, cross)
    return normalise(cross + FADE * carried)


def hinge_at_bind(figure: Figure, side: str, turns: Floats, positions: Floats) -> Floats:
    """The knee's axis at bind (3,), learnt from how the knee bends in a motion; else sideways.

    ``turns`` and ``positions`` are those of the figure itself. Flexion, shank going back, is
    positive about it.
    """
    h, k, a = (figure.joints[f"{side}_{n}"] for n in ("hip", "knee", "talocrural"))
    u = normalise(positions[:, k] - positions[:, h])
    v = normalise(positions[:, a] - positions[:, k])
    bends = rotate_xyzw(inverse_xyzw(turns[:, h]), np.cross(u, v))
    # from a straight leg pointing down, the shank goes back about the axis to the left
    sideways = figure.axes[:, 0]
    bends = bends[bends @ sideways > 0.0]
    learnt = bends.sum(axis=0) if len(bends) else np.zeros(3)
    axis = learnt + 0.05 * len(turns) * sideways
    along = normalise(figure.heads[k] - figure.heads[h])
    return normalise(axis - along * (axis @ along))
