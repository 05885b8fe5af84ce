"""Rings of points round muscles carried by the flesh they lie in; for compiled loops.

Each muscle is drawn by itself, so that any number of threads gives the same bits.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit, prange

import ecorche.base.threads  # noqa: F401  settings that must precede the first parallel kernel
from ecorche.base.quads import WIDTH, quad, read_quad, write_quad, write_rows
from ecorche.muscles.flesh_shares import FleshShares, step_of
from ecorche.muscles.ring_volume import dilation, tried_volumes
from ecorche.muscles.triples import read

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Singles = npt.NDArray[np.float32]

# columns of a ring: its centre and unit directions at bind, the half-axis along side at bind and how that
# follows the belly's, how much it swells by dilation
CENTRE, OUT, SIDE, THICK, MOVING, SWELLING, RING_COLUMNS = 0, 3, 6, 9, 10, 11, 12
# columns of a muscle: half-axis along out over that along side; the mean squared thickness times the length
# as a quadratic of the belly's change
SCALE, CONSTANT, GRADIENT, SQUARE, MUSCLE_COLUMNS = 0, 1, 2, 3, 4


class FleshRings(NamedTuple):
    """What no frame changes of M muscles of R rings, whose A sides make G fours.

    Attributes:
        rings: Numbers of each ring, in the columns above, (M R, RING_COLUMNS).
        muscles: Numbers of each muscle, in the columns above, (M, MUSCLE_COLUMNS).
        cosines, sines: Of the sides' angles by fours, (G, 4).
        vertices: Borders of the muscles' vertices, (M + 1,).
        used: First and last ring of each that has vertices, (M, 2); a pointed end has none.
    """

    rings: Floats
    muscles: Floats
    cosines: Floats
    sines: Floats
    vertices: Ints
    used: Ints


@njit(cache=True)  # type: ignore[untyped-decorator]
def held(
    kept: FleshRings, flesh: FleshShares, moved: Floats, change: Floats, bulge: Floats, volumes: Floats
) -> None:
    """What the carried surfaces hold before they dilate [m³], (M,); arguments as in `draw`."""
    points, swelling, memory = _memory(kept, flesh)
    for muscle in range(len(kept.muscles)):
        _carry(kept, flesh, muscle, moved, change[muscle], bulge[muscle], points, swelling)
        tried_volumes(points, swelling, len(kept.rings) // len(kept.muscles), memory)
        volumes[muscle] = memory[0, 1]


@njit(parallel=True, cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def draw(
    kept: FleshRings,
    flesh: FleshShares,
    volumes: Floats,
    moved: Floats,
    change: Floats,
    lengthened: Floats,
    bulge: Floats,
    vertices: Floats,
) -> None:
    """Vertices (V, 3) of all muscles in a frame [m], in flesh that is blended linearly.

    Args:
        kept: What no frame changes.
        flesh: What moves the flesh round the rings.
        volumes: What each surface holds at bind [m³], (M,).
        moved: ``M − I`` of the joints, (joints, 16).
        change: Of the belly's thickness [m], (M,).
        lengthened: Length over that at bind, (M,).
        bulge: T, (M,).
        vertices: What is filled.
    """
    for number in prange(len(kept.muscles)):
        muscle = np.int64(number)  # not without signs, or what is called would be compiled twice
        points, swelling, memory = _memory(kept, flesh)
        _carry(kept, flesh, muscle, moved, change[muscle], bulge[muscle], points, swelling)
        _dilate(kept, muscle, volumes, change, lengthened, points, swelling, memory, vertices)


@njit(parallel=True, cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def shape(kept: FleshRings, flesh: FleshShares, change: Floats, bulge: Floats, still: Singles) -> None:
    """Points of all rings at bind (M R A, 3) [m] with the thickness of a frame; arguments as in `draw`."""
    for number in prange(len(kept.muscles)):
        muscle = np.int64(number)  # not without signs, or what is called would be compiled twice
        points, _, _ = _memory(kept, flesh)
        _shape(kept, flesh, muscle, change[muscle], bulge[muscle], points)
        for i in range(len(points)):
            for k in range(3):
                still[muscle * len(points) + i, k] = points[i, k]


@njit(parallel=True, cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def draw_carried(
    kept: FleshRings,
    flesh: FleshShares,
    volumes: Floats,
    still: Singles,
    carried: Singles,
    change: Floats,
    lengthened: Floats,
    bulge: Floats,
    vertices: Floats,
) -> None:
    """As `draw`, where the flesh has taken the points that `shape` gave, however it did, (M R A, 3) [m]."""
    for number in prange(len(kept.muscles)):
        muscle = np.int64(number)  # not without signs, or what is called would be compiled twice
        points, swelling, memory = _memory(kept, flesh)
        _shape(kept, flesh, muscle, change[muscle], bulge[muscle], points)
        first = muscle * len(points)
        for i in range(len(points)):
            for k in range(3):
                # as steps, so that at bind nothing is rounded
                points[i, k] += np.float64(carried[first + i, k]) - np.float64(still[first + i, k])
        for ring in range(len(kept.rings) // len(kept.muscles)):
            _swell(kept, muscle, ring, points, swelling)
        _dilate(kept, muscle, volumes, change, lengthened, points, swelling, memory, vertices)


@njit(inline="always")  # type: ignore[untyped-decorator]
def _memory(kept: FleshRings, flesh: FleshShares) -> tuple[Floats, Floats, Floats]:
    """For points of a muscle, how they move by dilation, and two rings of them."""
    size = int(flesh.named[-1, WIDTH - 1]) + 1
    sides = size // (len(kept.rings) // len(kept.muscles))
    return np.empty((size, WIDTH)), np.empty((size, WIDTH)), np.empty((1 + 6 * sides, WIDTH))


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _carry(
    kept: FleshRings,
    flesh: FleshShares,
    muscle: int,
    moved: Floats,
    change: float,
    bulge: float,
    points: Floats,
    swelling: Floats,
) -> None:
    """Points of a muscle (R A, 4) where the flesh takes them, and what they change by as κ grows by one."""
    groups, none = len(kept.cosines), quad(0.0)
    count = len(kept.rings) // len(kept.muscles)
    for ring in range(count):
        row = muscle * count + ring
        for group in range(groups):
            x, y, z = _shaped(kept, muscle, row, group, change, bulge)
            step = step_of(flesh, moved, row, group, groups, (x, y, z), 1.0)
            there = (x + step[0], y + step[1], z + step[2], none)
            write_rows(points, flesh.named, ring * groups + group, WIDTH, 0, there)
        _swell(kept, muscle, ring, points, swelling)


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def _shape(
    kept: FleshRings, flesh: FleshShares, muscle: int, change: float, bulge: float, points: Floats
) -> None:
    """Points of a muscle (R A, 4) at bind, with the thickness of a frame."""
    groups, none = len(kept.cosines), quad(0.0)
    for place in range(len(flesh.named)):
        row = muscle * (len(kept.rings) // len(kept.muscles)) + place // groups
        x, y, z = _shaped(kept, muscle, row, place % groups, change, bulge)
        write_rows(points, flesh.named, place, WIDTH, 0, (x, y, z, none))


@njit(inline="always")  # type: ignore[untyped-decorator]
def _shaped(kept: FleshRings, muscle: int, row: int, group: int, change: float, bulge: float) -> Any:
    """Four points of a ring at bind, three quads, with the thickness of a frame."""
    rings = kept.rings
    thick = rings[row, THICK] + change * rings[row, MOVING]
    half_out, half_side = thick * (kept.muscles[muscle, SCALE] * bulge), thick / bulge
    centre, out, side = read(rings, row, CENTRE), read(rings, row, OUT), read(rings, row, SIDE)
    across, beside = half_out * read_quad(kept.cosines, group), half_side * read_quad(kept.sines, group)
    return (
        centre[0] + (across * out[0] + beside * side[0]),
        centre[1] + (across * out[1] + beside * side[1]),
        centre[2] + (across * out[2] + beside * side[2]),
    )


@njit(inline="always")  # type: ignore[untyped-decorator]
def _swell(kept: FleshRings, muscle: int, ring: int, points: Floats, swelling: Floats) -> None:
    """What a ring's points change by as κ grows by one: they go away from the outmost."""
    count = len(kept.rings) // len(kept.muscles)
    sides = len(points) // count
    much, outmost = kept.rings[muscle * count + ring, SWELLING], read_quad(points, ring * sides)
    for i in range(ring * sides, (ring + 1) * sides):
        write_quad(swelling, i, much * (read_quad(points, i) - outmost))


@njit(inline="always")  # type: ignore[untyped-decorator]
def _dilate(
    kept: FleshRings,
    muscle: int,
    volumes: Floats,
    change: Floats,
    lengthened: Floats,
    points: Floats,
    swelling: Floats,
    memory: Floats,
    vertices: Floats,
) -> None:
    """Vertices of one muscle, dilated until it holds what its length and thickness ask for."""
    tried_volumes(points, swelling, len(kept.rings) // len(kept.muscles), memory)
    d, own = change[muscle], kept.muscles
    more = d * (own[muscle, GRADIENT] + d * own[muscle, SQUARE]) / own[muscle, CONSTANT]
    kappa = dilation(memory, volumes[muscle] * (lengthened[muscle] * (1.0 + more)))
    _write(kept, muscle, points, swelling, kappa, vertices)


@njit(cache=True)  # type: ignore[untyped-decorator]
def _write(
    kept: FleshRings, muscle: int, points: Floats, swelling: Floats, kappa: float, vertices: Floats
) -> None:
    """Vertices of one muscle: middle of its origin, the rings that are used, middle of its insertion."""
    sides = len(points) // (len(kept.rings) // len(kept.muscles))
    first, last = kept.vertices[muscle], kept.vertices[muscle + 1] - 1
    begin = kept.used[muscle, 0] * sides
    for i in range(begin, (kept.used[muscle, 1] + 1) * sides):
        for k in range(3):
            vertices[first + 1 + i - begin, k] = points[i, k] + kappa * swelling[i, k]
    for k in range(3):
        origin = insertion = 0.0
        for side in range(sides):
            origin += points[side, k]
            insertion += points[len(points) - 1 - side, k]
        vertices[first, k], vertices[last, k] = origin / sides, insertion / sides
