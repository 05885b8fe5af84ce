"""The compiled passes that pose muscle meshes on action lines: vertices, volumes, factors, sums.

Each vertex comes as two vectors p + κ q, p the published shape and q how it spreads for its volume. The
volume of a muscle is then a cubic in κ. Triangles are summed in fixed chunks and chunks in order, so that
the bytes do not depend on the number of threads.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ecorche.base import threads  # noqa: F401  settings that come before the first parallel kernel
from ecorche.muscles.lines.contraction import volume_root
from ecorche.muscles.lines.cubic import point_on_line
from ecorche.muscles.lines.turns import (
    added_four,
    between,
    blended,
    four_dot,
    product,
    rotated,
    scaled_four,
    unit_four,
)
from ecorche.muscles.triples import cross, dot, plus, read, scaled

from numba import njit, prange  # isort: skip  after the settings

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]
Bools = npt.NDArray[np.bool_]


class VertexPlan(NamedTuple):
    """All muscles' vertices one after another; fields as in `MuscleOnLines`."""

    muscle: Ints
    node: Ints
    t: Floats
    weight: Floats
    span: Ints
    blend: Floats
    offset: Floats
    own: Floats
    base: Floats
    local: Floats
    centre: Floats
    tensed: Floats
    rise: Floats
    knot: Ints
    basis: Floats
    held: Ints
    hold: Floats
    points: Floats
    curved: Bools


class Solids(NamedTuple):
    """Triangles (C, 3) that enclose volumes, cut into chunks of one muscle each.

    Chunk c holds the triangles ``begin[c]`` to ``end[c] − 1`` of ``muscle[c]``, seen from the vertex
    ``seen_from[c]``, the same for all chunks of a muscle: far from the world's origin nothing cancels.
    """

    triangles: Ints
    begin: Ints
    end: Ints
    muscle: Ints
    seen_from: Ints


@njit(parallel=True, cache=True)  # type: ignore[untyped-decorator]
def pose_vertices(
    plan: VertexPlan,
    nodes: Floats,
    turns: Floats,
    values: Floats,
    slopes: Floats,
    moved: Floats,
    joints: Floats,
    activation: Floats,
    shape: Floats,
    spread: Floats,
    turned: Floats,
) -> None:
    """Each vertex as p + κ q: ``shape`` p and ``spread`` q, (V, 3).

    Also how its frame has turned since bind, quaternions (V, 4).
    """
    for v in prange(len(plan.muscle)):
        n, w, k = np.int64(plan.node[v, 0]), plan.weight[v], plan.knot[v, 0]
        place = point_on_line(nodes, turns, n, plan.t[v, 0], plan.curved[v, 0])
        turn = blended(turns, plan.span[v, 0, 0], plan.blend, plan.span[v, 0, 2], plan.span[v, 0, 1])
        root = np.sqrt(
            plan.basis[v, 0, 0] * values[k]
            + plan.basis[v, 0, 1] * slopes[k]
            + plan.basis[v, 0, 2] * values[k + 1]
            + plan.basis[v, 0, 3] * slopes[k + 1]
        )
        n = np.int64(plan.node[v, 1])
        if n >= 0:
            k = plan.knot[v, 1]
            other_place = point_on_line(nodes, turns, n, plan.t[v, 1], plan.curved[v, 1])
            other = blended(turns, plan.span[v, 1, 0], plan.blend, plan.span[v, 1, 2], plan.span[v, 1, 1])
            other_root = np.sqrt(
                plan.basis[v, 1, 0] * values[k]
                + plan.basis[v, 1, 1] * slopes[k]
                + plan.basis[v, 1, 2] * values[k + 1]
                + plan.basis[v, 1, 3] * slopes[k + 1]
            )
            root += w * (other_root - root)
            place = plus(place, w, plus(other_place, -1.0, place))
            turn = product(turn, _one_of_two(plan.offset, v, 0))
            turn = between(turn, product(other, _one_of_two(plan.offset, v, 1)), w)
        alpha = activation[plan.muscle[v]]
        x, y, z = read(plan.local, v)
        grown_x = root * (1.0 + alpha * plan.tensed[v, 0]) * (x - plan.centre[v, 0])
        grown_y = root * (1.0 + alpha * plan.tensed[v, 1]) * (y - plan.centre[v, 1])
        free = 1.0 - plan.hold[v, 0] - plan.hold[v, 1]
        at = plan.centre[v, 0] + grown_x, plan.centre[v, 1] + grown_y, z
        own = _four(plan.own, v)
        stretched = (0.0, 0.0, 0.0)
        if free < 1.0:
            # bones carry place and frame; a mean of two places would shrink what two frames turn apart
            point, base = read(plan.points, v), read(plan.base, v)
            place, mixed = scaled(free, place), scaled_four(free, turn)
            at = plus(scaled(free, at), 1.0 - free, (x, y, z))
            for side in range(2):
                hold, j = plan.hold[v, side], plan.held[v, side]
                if hold > 0.0:
                    bone = product(_four(joints, j), own)
                    carried = _carried(moved, j, base)
                    place = plus(place, hold, carried)
                    mixed = added_four(mixed, hold if four_dot(bone, turn) >= 0.0 else -hold, bone)
                    # what a joint that scales does more than turn
                    rigid = plus(carried, 1.0, rotated(bone, (x, y, z)))
                    stretched = plus(stretched, hold, plus(_carried(moved, j, point), -1.0, rigid))
            turn = unit_four(mixed)
        out = scaled(plan.rise[v] * free, rotated(turn, (grown_x, grown_y, 0.0)))
        at = plus(plus(place, 1.0, rotated(turn, at)), 1.0, stretched)
        for i in range(3):
            shape[v, i], spread[v, i] = at[i], out[i]
        since = product(turn, (-own[0], -own[1], -own[2], own[3]))
        for i in range(4):
            turned[v, i] = since[i]


@njit(inline="always")  # type: ignore[untyped-decorator]
def _four(rows: Floats, row: int) -> tuple[float, ...]:
    return rows[row, 0], rows[row, 1], rows[row, 2], rows[row, 3]


@njit(inline="always")  # type: ignore[untyped-decorator]
def _one_of_two(rows: Floats, row: int, which: int) -> tuple[float, ...]:
    return rows[row, which, 0], rows[row, which, 1], rows[row, which, 2], rows[row, which, 3]


@njit(inline="always")  # type: ignore[untyped-decorator]
def _carried(moved: Floats, j: int, point: tuple[float, ...]) -> tuple[float, ...]:
    """A point of bind where a joint takes it."""
    return (
        point[0] + dot((moved[j, 0, 0], moved[j, 0, 1], moved[j, 0, 2]), point) + moved[j, 0, 3],
        point[1] + dot((moved[j, 1, 0], moved[j, 1, 1], moved[j, 1, 2]), point) + moved[j, 1, 3],
        point[2] + dot((moved[j, 2, 0], moved[j, 2, 1], moved[j, 2, 2]), point) + moved[j, 2, 3],
    )


@njit(parallel=True, cache=True)  # type: ignore[untyped-decorator]
def sum_volumes(solids: Solids, asked: Bools, shape: Floats, spread: Floats, volume: Floats) -> None:
    """The volume of each muscle that is asked for as a cubic in κ, (M, 4) [m³]."""
    volume[asked] = 0.0
    count = len(solids.begin)
    parts = np.zeros((count, 4))
    for chunk in prange(count):
        if not asked[solids.muscle[chunk]]:
            continue
        triangles = solids.triangles
        origin = read(shape, solids.seen_from[chunk])
        constant, linear, square, cube = 0.0, 0.0, 0.0, 0.0
        for n in range(solids.begin[chunk], solids.end[chunk]):
            i, j, k = triangles[n, 0], triangles[n, 1], triangles[n, 2]
            a, b = plus(read(shape, i), -1.0, origin), plus(read(shape, j), -1.0, origin)
            c = plus(read(shape, k), -1.0, origin)
            p, q, r = read(spread, i), read(spread, j), read(spread, k)
            bc, qr = cross(b, c), cross(q, r)
            mixed = plus(cross(b, r), 1.0, cross(q, c))
            constant += dot(a, bc)
            linear += dot(a, mixed) + dot(p, bc)
            square += dot(a, qr) + dot(p, mixed)
            cube += dot(p, qr)
        parts[chunk, 0], parts[chunk, 1] = constant / 6.0, linear / 6.0
        parts[chunk, 2], parts[chunk, 3] = square / 6.0, cube / 6.0
    for chunk in range(count):
        for i in range(4):  # zeros of those not asked for
            volume[solids.muscle[chunk], i] += parts[chunk, i]


@njit(cache=True)  # type: ignore[untyped-decorator]
def find_factors(volume: Floats, wanted: Floats, factor: Floats, held: Bools) -> None:
    """κ of each muscle that shall keep its volume."""
    for m in range(len(wanted)):
        if wanted[m] > 0.0:
            factor[m], held[m] = volume_root(volume[m], wanted[m])


@njit(parallel=True, cache=True)  # type: ignore[untyped-decorator]
def combine(
    muscle: Ints, bind: Floats, rest: Floats, shape: Floats, spread: Floats, factor: Floats, points: Floats
) -> None:
    """Bind plus what has changed since by the same arithmetic, (V, 3)."""
    for v in prange(len(muscle)):
        kappa = factor[muscle[v]]
        for i in range(3):
            points[v, i] = bind[v, i] + ((shape[v, i] - rest[v, i]) + kappa * spread[v, i])
