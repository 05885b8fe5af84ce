"""Muscles found in the skin, ready to be posed: root curves, shapes, and muscles as joints.

Text 001, "Muscle Deformation": the root curve says where a muscle runs and how long it is, its shape reads
that and keeps the volume. See `wrapping`, `loft`, `posed_lofts` and `loft_joints`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from functools import cached_property
from typing import NoReturn

import numpy as np
import numpy.typing as npt

from ecorche.base.names import suggestion
from ecorche.errors import EcorcheError
from ecorche.muscles.activation import bulge_from_activation
from ecorche.muscles.extended_joints import difference_of, extend
from ecorche.muscles.loft import Loft, loft
from ecorche.muscles.loft_flesh import SIDES, STATIONS, Flesh
from ecorche.muscles.loft_frames import SectionAxes, directions_at_bind
from ecorche.muscles.loft_joints import NO_SCAPULAE, NO_VECTORS, pose_muscle_joints
from ecorche.muscles.loft_plan import (
    ALONG,
    FRAME,
    LARGEST_BULGE,
    OUT,
    POINT,
    SIDE,
    StandingJoints,
    standing_joints,
)
from ecorche.muscles.loft_rings import LoftRings
from ecorche.muscles.lofted import LoftedMuscle
from ecorche.muscles.lofts_in_flesh import LoftsInFlesh
from ecorche.muscles.muscle_joints import MuscleJoints
from ecorche.muscles.packed_plans import packed
from ecorche.muscles.posed_joints import MOVED, TURN, pose_joints
from ecorche.muscles.posed_lofts import PosedLofts, section_points
from ecorche.muscles.root_curves import Numbers, PosedCurves, RootCurves, root_curves
from ecorche.skeleton.skeleton import Skeleton

Floats = npt.NDArray[np.float64]

JOINTS_PER_MUSCLE = 3


class Lofts:
    """All muscles found in the skin of one character, ready to be posed, also as joints (`JointedMuscles`).

    Args:
        muscles: The muscles.
        skeleton: Of the character.
        joints_per_muscle: How many muscle joints each gets on every limb that carries it, over the stretch
            of its rings.
        carriers: The joints that carry muscle joints of each muscle; None is the one it lies on.
        gains: By how much more each swells than its volume and tension ask for, (M,); None is 1, as much.

    Attributes:
        curves: The root curves.
        shapes: The shapes at bind.
        joints: The muscle joints at bind.
        standing: How these stand on root curves and limbs.
        joint_places: Where along its muscle each stands at bind, share of the length, (K,).
        gains: As given, (M,).
    """

    def __init__(
        self,
        muscles: Sequence[LoftedMuscle],
        skeleton: Skeleton,
        *,
        joints_per_muscle: int = JOINTS_PER_MUSCLE,
        carriers: Sequence[Sequence[int]] | None = None,
        gains: Sequence[float] | None = None,
    ) -> None:
        if joints_per_muscle < 1:
            raise EcorcheError(
                f"{joints_per_muscle} joints a muscle were asked for", remedy="Give one or more"
            )
        self.muscles = tuple(muscles)
        _check(self.muscles)
        self.curves: RootCurves = root_curves(self.muscles, skeleton.joint_count)
        self.shapes: tuple[Loft, ...] = tuple(loft(m.rings, f"muscle {m.name!r}") for m in self.muscles)
        self.gains = np.ones(len(self.muscles)) if gains is None else np.array(gains, np.float64)
        self._find_flesh: Callable[[], tuple[Flesh, ...]] | None = None
        self._drawn: tuple[Floats, int, LoftRings] | None = None
        hung = carriers or [(m.carrier,) for m in self.muscles]
        self.standing = standing_joints(
            self.muscles, self.curves, self.shapes, self.gains, joints_per_muscle, hung
        )
        self.joint_places = self.standing.places
        self._rest = np.zeros(len(self.muscles))
        self._kept, bind = self._keep(np.float64)
        self.joints = self._muscle_joints(skeleton, self.standing, np.asarray(bind, np.float64))

    def _keep(self, dtype: npt.DTypeLike) -> tuple[Numbers, Numbers]:
        """What compiled loops in such numbers keep (`packed`), and the muscle joints' frames at bind."""
        groups = self.curves.plan.side_by_side(dtype)
        plan, count, joints = self.standing.plan(groups), len(self.joint_places), self.curves.joint_count
        bind = np.zeros((len(plan.joint_named), FRAME, groups.kept.shape[2]), dtype)
        turn = np.tile(np.eye(3, 4, dtype=dtype).ravel(), (joints, 1))
        still, bulge = np.zeros((joints, MOVED), dtype), np.ones(len(self.muscles), dtype)
        kept, rows = packed(joints, groups, plan, bind), np.empty((count, MOVED), dtype)
        pose_muscle_joints(kept, still, turn, bulge, (0.0, 0.0, 0.0), bind, rows)
        return packed(joints, groups, plan, bind), bind

    @cached_property
    def kept_for_skin(self) -> Numbers:
        """What `skin_rows_of` keeps."""
        return self._keep(np.float32)[0]

    def __repr__(self) -> str:
        return f"Lofts({len(self.muscles)} muscles, {len(self.joints.names)} joints)"

    @property
    def names(self) -> tuple[str, ...]:
        """Of the muscles."""
        return self.curves.names

    def lengths(self, difference: npt.ArrayLike) -> Floats:
        """Of the root curves [m], (..., M), for ``M − I`` of the joints (..., joints, 4, 4)."""
        return self.curves.moved(difference).lengths

    def posed(self, difference: npt.ArrayLike, bulge: npt.ArrayLike = 1.0) -> PosedLofts:
        """The muscles for ``M − I`` of the joints (joints, 4, 4) and T, one number or (M,)."""
        moved, tension = self._inputs(difference, np.broadcast_to(bulge, (len(self.muscles),)))
        curves = self.curves.moved(moved)
        turn = np.zeros((len(moved), TURN))
        flat = np.empty((len(moved), MOVED))
        if not pose_joints(self.standing.turning, NO_SCAPULAE, NO_VECTORS, moved, flat, turn):
            raise self._refusal()
        kind = PosedLofts if self._find_flesh is None else LoftsInFlesh
        return kind(self, moved, curves, turn, tension)

    def axes_at_bind(self, muscle: int, u: Floats) -> SectionAxes:
        """Places and section axes of a muscle at bind, at shares ``u`` (K,) of its length."""
        points, tangents = (v[0] for v in PosedCurves(self.curves.bind.rows[muscle : muscle + 1]).at(u))
        out = directions_at_bind(self.muscles[muscle], tangents)
        return SectionAxes(points, tangents, out, np.cross(tangents, out))

    def within(self, find_flesh: Callable[[], tuple[Flesh, ...]]) -> Lofts:
        """The same muscles, drawn in the flesh round each, which is looked for when they are first drawn."""
        result = copy(self)
        result._find_flesh, result._drawn = find_flesh, None
        for known in ("flesh", "rings_told"):
            result.__dict__.pop(known, None)
        return result

    @cached_property
    def flesh(self) -> tuple[Flesh, ...]:
        """What moves the flesh round each; empty where they are drawn on their root curves."""
        return () if self._find_flesh is None else self._find_flesh()

    @cached_property
    def rings_told(self) -> LoftRings:
        """Rings in the flesh where that is told: by these the muscles keep their volume."""
        places = np.tile(np.linspace(0.0, 1.0, STATIONS), (len(self.muscles), 1))
        return LoftRings(self, places, SIDES)

    def rings_in_flesh(self, u: Floats, sides: int) -> LoftRings:
        """Rings in the flesh at shares u (M, K); kept as long as the same ones are asked for again."""
        drawn = self._drawn
        if drawn is None or drawn[1] != sides or not np.array_equal(drawn[0], u):
            drawn = self._drawn = u.copy(), sides, LoftRings(self, u, sides)
        return drawn[2]

    def rings_at_bind(self, muscle: int, stations: int, sides: int) -> Floats:
        """Points of a muscle's surface at bind [m], evenly along and round it, (stations, sides, 3)."""
        u, angle = np.linspace(0.0, 1.0, stations), 2.0 * np.pi * np.arange(sides) / sides
        return section_points(self.axes_at_bind(muscle, u), *self.shapes[muscle].at(u), angle)

    def difference(self, skeleton_difference: Floats, bulge: Floats) -> Floats:
        """``M − I`` of the muscle joints, (K, 4, 4): see `JointedMuscles`."""
        result = np.empty((len(self.joint_places), 4, 4))
        moved = np.ascontiguousarray(skeleton_difference, np.float64)
        tension = np.array(bulge, np.float64)  # for what may not be written to, all would be compiled again
        fits = moved.ndim == 3 and tension.ndim == 1
        if not (fits and difference_of(self._kept, moved, tension, result)):
            self._inputs(moved, tension)  # what cannot be is refused in words there
            raise self._refusal()
        return result

    def extended(self, skeleton_difference: Floats, activation: Floats | None) -> Floats:
        """``M − I`` of the skeleton's joints and then of the muscle joints, (joints + K, 4, 4).

        Args:
            skeleton_difference: Of the skeleton's joints, (joints, 4, 4).
            activation: Of the muscles, 0 to 1, (M,); None is at rest.
        """
        moved = np.ascontiguousarray(skeleton_difference, np.float64)
        active = self._rest if activation is None else np.ascontiguousarray(activation, np.float64)
        result = np.empty((self.curves.joint_count + len(self.joint_places), 4, 4))
        fits = moved.shape[1:] == (4, 4) and active.ndim == 1
        if not (fits and extend(self._kept, moved, active, result)):
            self.refuse(moved, active)
        return result

    def refuse(self, skeleton_difference: Floats, activation: Floats) -> NoReturn:
        """Say why muscles cannot be posed so."""
        self._inputs(skeleton_difference, np.ones(activation.shape))
        bulge_from_activation(activation, self.standing.of_muscles[:, LARGEST_BULGE])
        raise self._refusal()

    def _inputs(self, difference: npt.ArrayLike, bulge: npt.ArrayLike) -> tuple[Floats, Floats]:
        moved = np.ascontiguousarray(difference, np.float64)
        tension = np.ascontiguousarray(bulge, np.float64)
        count = self.curves.joint_count
        if moved.shape != (count, 4, 4) or tension.shape != (len(self.muscles),):
            raise EcorcheError(
                f"matrices of shape {moved.shape} and bulges of {tension.shape} do not fit {count} joints and"
                f" {len(self.muscles)} muscles",
                where="muscles found in the skin",
                remedy=f"Give shapes ({count}, 4, 4) and ({len(self.muscles)},)",
            )
        if not (tension > 0.0).all():
            raise EcorcheError(
                "a bulge is not a positive number",
                where="muscles found in the skin",
                remedy="Give 1 for a muscle at rest and more for one under tension, such as 1.3",
            )
        return moved, tension

    def _refusal(self) -> EcorcheError:
        return EcorcheError(
            "a joint that a muscle hangs on is scaled to nothing, or not a number",
            where="muscles found in the skin",
            remedy="Check the pose",
        )

    def _muscle_joints(self, skeleton: Skeleton, standing: StandingJoints, bind: Floats) -> MuscleJoints:
        owner = standing.muscles
        taken, names = set(skeleton.names), []
        first = np.searchsorted(owner, np.arange(len(self.muscles)))
        for k, muscle in enumerate(owner):
            name = f"{self.muscles[muscle].name}, {k - first[muscle] + 1}"
            while name in taken:
                name += " (muscle)"
            taken.add(name)
            names.append(name)
        frames = np.moveaxis(bind, 1, -1).reshape(-1, FRAME)[: len(owner)]
        world = np.tile(np.eye(4), (len(owner), 1, 1))
        for column, at in enumerate((ALONG, OUT, SIDE, POINT)):
            world[:, :3, column] = frames[:, at : at + 3]
        return MuscleJoints(tuple(names), owner, standing.carriers, world)


def _check(muscles: tuple[LoftedMuscle, ...]) -> None:
    names = [m.name for m in muscles]
    for muscle in muscles:
        where = f"muscle {muscle.name!r}"
        if names.count(muscle.name) > 1:
            raise EcorcheError("two muscles have this name", where=where, remedy="Rename one of them")
        if muscle.joins and (muscle.joins not in names or muscle.joins == muscle.name):
            others = [n for n in names if n != muscle.name]
            raise EcorcheError(
                f"it joins {muscle.joins!r}, and no other muscle is named so",
                where=where,
                remedy=suggestion(muscle.joins, others),
            )
        if not 0.0 <= muscle.crossing <= 1.0:
            raise EcorcheError(
                f"its crossing {muscle.crossing:g} is not on the muscle", where=where, remedy="Give 0 to 1"
            )
