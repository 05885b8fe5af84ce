"""What of muscle joints stays the same from frame to frame: where they stand, what carries them.

Text 001, "Skin Deformation". A muscle changes length as a whole, but the skin over it is not dragged along
its fibres: a muscle joint that lies the share u from the origin at bind has moved to

    s = u L₀ + (L − L₀) h(u)

in a muscle of length L, with h a smooth step at the crossing of the joint between the muscle's ends. Before
it a muscle joint keeps its distance from the origin, behind it from the insertion; what the length has
changed by is taken up between. h rises by at most 1.9 a unit, so s rises with u down to half the length; of
still shorter muscles the shares s/L stay those of half the length.

Under the skin a belly is bound to its limb, and only its tendons cross a joint. So a muscle joint goes with
the limb that carries it, and from there towards the root curve only by the share `following`: nothing at the
crossing, at most `FOLLOW` half a muscle away. (Joints that ride on the curve itself, as the text has them,
pinch the skin at a joint that bends: the line from an origin beyond the joint swings about it.) Where skin
over a muscle follows several limbs, each of them carries muscle joints of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ecorche.base.quads import in_lanes
from ecorche.base.smooth_step import smooth_step
from ecorche.muscles.loft import Loft
from ecorche.muscles.loft_frames import directions_at_bind
from ecorche.muscles.lofted import LoftedMuscle
from ecorche.muscles.posed_joints import MOVED
from ecorche.muscles.root_curves import MUSCLE, CurveGroups, Numbers, PosedCurves, RootCurves

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Naturals = npt.NDArray[np.uint32]

STEEPEST = 1.9
"""The greatest slope of h; below 2, so that places stay in order down to half the length."""
_ROUNDED = 0.1
_WIDTH = 1.0 / STEEPEST + _ROUNDED

FOLLOW = 0.3
"""How much of a root curve's way beside its limb the skin goes along with at most."""

# columns of a piece of a shape between two rings: coefficients of ``(u − knot)⁰ … ⁶`` of a section's area as
# a share of the largest, and the knot where it begins
AREA, KNOT, PIECE_COLUMNS = 0, 7, 8
# columns of a muscle
GAIN, LARGEST_BULGE, MUSCLE_COLUMNS = 0, 1, 2
# quads of muscles, as their root curves are grouped: m₀, m₁, m₂, length at bind, first piece
MOMENTS, AT_BIND, FIRST_PIECE, MUSCLE_KEPT = 0, 3, 4, 5
# quads of places on them: their shares u, h(u)
SHARE, GIVING, PLACE_KEPT = 0, 1, 2
# rows of muscle joints: where the matrices of the joints that carry them are, their places, themselves
JOINT_CARRIER, JOINT_PLACE, JOINT_ROW, JOINT_NAMED = 0, 1, 2, 3
# columns of a place in a frame: point and (1 + κ w) T, tangent and (1 + κ w) / T
ON_CURVE, ONWARDS, PLACE = 0, 4, 8
# quads of muscle joints: tangent, out and point on the curve at bind, how much they follow it, where the
# section's centre is from there, outwards and sideways
BIND_ALONG, BIND_OUT, BIND_POINT, FOLLOWING, MIDDLE, JOINT_KEPT = 0, 3, 6, 9, 10, 12

# quads of muscle joints' frames
POINT, ALONG, OUT, SIDE, FRAME = 0, 3, 6, 9, 12


def giving(u: npt.ArrayLike, crossing: float) -> Floats:
    """h(u): how much of a change of length lies between the origin and the share u."""
    centre = np.clip(crossing, 0.5 * _WIDTH, 1.0 - 0.5 * _WIDTH)
    x = np.asarray(u, np.float64) - (centre - 0.5 * _WIDTH)
    rising, falling = np.clip(x, 0.0, _ROUNDED), np.clip(_WIDTH - x, 0.0, _ROUNDED)
    even = np.clip(x - _ROUNDED, 0.0, _WIDTH - 2.0 * _ROUNDED)
    # the integral of a slope that rises from 0, holds, and falls to 0
    before = 0.5 * rising**2 / _ROUNDED
    after = 0.5 * (_ROUNDED - falling**2 / _ROUNDED)
    return np.asarray(STEEPEST * (before + even + after))


def following(u: npt.ArrayLike, crossing: float) -> Floats:
    """How much a muscle joint at the share u follows the root curve in place of its limb."""
    return np.asarray(FOLLOW * smooth_step(2.0 * np.abs(np.asarray(u, np.float64) - crossing)))


class LoftPlan(NamedTuple):
    """All numbers of M muscles and their K muscle joints that stay the same from frame to frame.

    They lie W side by side, four of float64 or eight of float32. Every limb that carries a muscle carries a
    muscle joint at each of its P places, in their order.

    Attributes:
        joint_count: K.
        turned: Where the matrices of joints are whose rotations are needed, (groups, W).
        muscles: Gain and T_max, (M, MUSCLE_COLUMNS).
        pieces: Of all muscles' shapes, in the columns above, (pieces, PIECE_COLUMNS).
        knots: Between a shape's pieces, of muscles grouped as in `CurveGroups`, (groups, most, W).
        muscle_kept: Of these muscles, (groups, MUSCLE_KEPT, W).
        place_named, place_kept: Of their places, (groups, P, W) and (groups, P, PLACE_KEPT, W).
        joint_named, joint_kept: Of the muscle joints, (groups, JOINT_NAMED, W) and (groups, JOINT_KEPT, W).
    """

    joint_count: int
    turned: Naturals
    muscles: Floats
    pieces: Numbers
    knots: Numbers
    muscle_kept: Numbers
    place_named: Naturals
    place_kept: Numbers
    joint_named: Naturals
    joint_kept: Numbers


class StandingJoints(NamedTuple):
    """Where K muscle joints stand, P on every limb that carries one of M muscles.

    Attributes:
        muscles: The muscle of each, (K,).
        carriers: The joint of the skeleton that carries each, (K,).
        rows: Its place, counted through all muscles, (K,).
        turning: Which joints' rotations are needed, (joints,).
        of_muscles: Gain and T_max, (M, MUSCLE_COLUMNS).
        pieces, knots: Of the muscles' shapes, (pieces, PIECE_COLUMNS), and what lies between them, (M, most).
        of_shapes: In the quads of muscles above, (M, MUSCLE_KEPT).
        of_places: In the quads of places, (M, P, PLACE_KEPT).
        of_joints: In the quads of joints, (M P, JOINT_KEPT).
    """

    muscles: Ints
    carriers: Ints
    rows: Ints
    turning: npt.NDArray[np.bool_]
    of_muscles: Floats
    pieces: Floats
    knots: Floats
    of_shapes: Floats
    of_places: Floats
    of_joints: Floats

    @property
    def places(self) -> Floats:
        """The share of its muscle's length at which each stands at bind, (K,)."""
        return np.asarray(self.of_places[..., SHARE].ravel()[self.rows])

    def plan(self, groups: CurveGroups) -> LoftPlan:
        """Their constants beside root curves, as many side by side and as precise."""
        dtype, lanes = groups.kept.dtype, groups.named[:, MUSCLE]
        width, (count, per_muscle) = lanes.shape[1], self.of_places.shape[:2]

        def grouped(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
            return np.ascontiguousarray(np.moveaxis(values[lanes], 1, -1))

        named = np.column_stack([self.carriers * MOVED, self.rows * PLACE, np.arange(len(self.rows)) * MOVED])
        return LoftPlan(
            len(self.rows),
            in_lanes(MOVED * np.flatnonzero(self.turning).astype(np.uint32), width),
            self.of_muscles,
            np.asarray(self.pieces.astype(dtype)),
            grouped(self.knots.astype(dtype)),
            grouped(self.of_shapes.astype(dtype)),
            grouped(PLACE * np.arange(count * per_muscle, dtype=np.uint32).reshape(count, per_muscle)),
            grouped(self.of_places.astype(dtype)),
            in_lanes(named.astype(np.uint32), width),
            in_lanes(self.of_joints[self.rows].astype(dtype), width),
        )


def standing_joints(
    muscles: Sequence[LoftedMuscle],
    curves: RootCurves,
    shapes: Sequence[Loft],
    gains: Floats,
    per_muscle: int,
    carriers: Sequence[Sequence[int]],
) -> StandingJoints:
    """Muscle joints on muscles: ``per_muscle`` on every joint that carries one, over the stretch of rings."""
    count = len(muscles)
    of_places, of_joints = (
        np.zeros((count, per_muscle, PLACE_KEPT)),
        np.zeros((count, per_muscle, JOINT_KEPT)),
    )
    of_shapes = np.zeros((count, MUSCLE_KEPT))
    knots = np.full((count, max((len(shape.cubics) for shape in shapes), default=1) - 1), np.inf)
    for number, (muscle, shape) in enumerate(zip(muscles, shapes, strict=True)):
        u = _spread(shape, per_muscle)
        of_places[number, :, SHARE], of_places[number, :, GIVING] = u, giving(u, muscle.crossing)
        points, tangents = (v[0] for v in PosedCurves(curves.bind.rows[number : number + 1]).at(u))
        row = of_joints[number]
        row[:, BIND_ALONG : BIND_ALONG + 3] = tangents
        row[:, BIND_OUT : BIND_OUT + 3] = directions_at_bind(muscle, tangents)
        row[:, BIND_POINT : BIND_POINT + 3], row[:, FOLLOWING] = points, following(u, muscle.crossing)
        row[:, MIDDLE : MIDDLE + 2] = shape.at(u)[1]
        of_shapes[number, MOMENTS : MOMENTS + 3] = shape.moments
        knots[number, : len(shape.cubics) - 1] = shape.knots[1:-1]
    of_shapes[:, AT_BIND] = curves.bind.lengths
    of_shapes[:, FIRST_PIECE] = np.cumsum([0, *(len(shape.cubics) for shape in shapes)])[:-1]
    # every limb that carries a muscle carries a joint at each of its places
    owner = np.repeat(np.arange(count), [per_muscle * len(limbs) for limbs in carriers])
    carrier = np.array([limb for limbs in carriers for limb in limbs for _ in range(per_muscle)], np.int64)
    turning = np.zeros(curves.joint_count, np.bool_)
    turning[curves.plan.joints.ravel()] = True
    turning[[*(m.carrier for m in muscles), *carrier]] = True
    return StandingJoints(
        owner,
        carrier,
        owner * per_muscle + np.arange(len(owner)) % per_muscle,
        turning,
        np.column_stack([gains, [muscle.largest_bulge for muscle in muscles]]),
        np.concatenate([np.zeros((0, PIECE_COLUMNS)), *map(_areas, shapes)]),
        knots,
        of_shapes,
        of_places,
        of_joints.reshape(-1, JOINT_KEPT),
    )


def _spread(shape: Loft, per_muscle: int) -> Floats:
    """Shares of the length over the stretch of the rings, (per_muscle,)."""
    first, last = shape.knots[1], shape.knots[-2]
    if last <= first:
        # a single ring tells no stretch: half of the way to both ends
        first, last = 0.5 * first, 0.5 * (1.0 + last)
    return np.asarray(first + (last - first) * (np.arange(per_muscle) + 0.5) / per_muscle)


def _areas(shape: Loft) -> Floats:
    """``det S`` of a shape over the largest as polynomials, (pieces, PIECE_COLUMNS)."""
    rows = np.zeros((len(shape.cubics), PIECE_COLUMNS))
    for row, cubic in zip(rows, shape.cubics, strict=True):
        out, across, side = cubic[:, 0], cubic[:, 1], cubic[:, 2]
        row[AREA : AREA + 7] = (np.convolve(out, side) - np.convolve(across, across)) / shape.largest
    rows[:, KNOT] = shape.knots[:-1]
    return rows
