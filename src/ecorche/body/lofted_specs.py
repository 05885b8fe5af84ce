"""Muscles found in the skin as the rig file spells them, and back.

Numbers go through text unchanged; only places are turned into the frame of their joint and back, and angles
into degrees, to rounding.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ecorche.base.transforms import transform_points
from ecorche.body.spelled_joints import joint_number, numbers, spot
from ecorche.document.files import Rig
from ecorche.document.lofted_spec import LoftedInfluenceSpec, LoftedMuscleSpec, RingSpec, WrapSpec
from ecorche.document.muscle_spec import ActionSpec, PathPointSpec
from ecorche.errors import DocumentError
from ecorche.muscles.activation import Action
from ecorche.muscles.lofted import Floats, LoftedMuscle, Rings, Wrap
from ecorche.muscles.paths import SHORTEST
from ecorche.skeleton.skeleton import Skeleton


def lofted_muscles_of(rig: Rig, skeleton: Skeleton) -> tuple[LoftedMuscle, ...]:
    """The muscles of a rig that were found in its skin; unknown joints are refused with the nearest name."""
    return tuple(_muscle(rig, name, spec, skeleton) for name, spec in rig.spec.muscles.lofted.items())


def lofted_specs(muscles: Sequence[LoftedMuscle], skeleton: Skeleton) -> dict[str, LoftedMuscleSpec]:
    """Muscles found in a skin by name, as a rig file holds them; the inverse of `lofted_muscles_of`."""
    return {muscle.name: _spec(muscle, skeleton) for muscle in muscles}


def _muscle(rig: Rig, name: str, spec: LoftedMuscleSpec, skeleton: Skeleton) -> LoftedMuscle:
    place = ("muscles", "lofted", name)
    origin, insertion = (
        joint_number(rig, point.joint, skeleton.names, (*place, "path", row, "joint"))
        for row, point in enumerate(spec.path)
    )
    ends = np.stack(
        [
            _placed(skeleton, joint, point.at)
            for joint, point in zip((origin, insertion), spec.path, strict=True)
        ]
    )
    if np.linalg.norm(ends[1] - ends[0]) < SHORTEST:
        raise DocumentError(
            "origin and insertion are in one place: the muscle has no length",
            where=spot(rig, (*place, "path", 1, "at")),
            remedy="Move them apart",
        )
    for row, action in enumerate(spec.actions):
        joint_number(rig, action.joint, skeleton.names, (*place, "actions", row, "joint"))
    return LoftedMuscle(
        name=name,
        muscle=spec.muscle,
        group=spec.group,
        joints=(origin, insertion),
        ends=ends,
        outward=np.array(spec.outward),
        rings=Rings(
            u=np.array([ring.u for ring in spec.rings]),
            centre=np.array([ring.centre for ring in spec.rings]),
            half_axes=np.array([ring.half_axes for ring in spec.rings]),
            angle=np.radians([ring.angle for ring in spec.rings]),
        ),
        wrap=None if spec.wrap is None else _wrap(rig, spec.wrap, skeleton, (*place, "wrap", "joint")),
        crossing=spec.crossing,
        joins=spec.joins or "",
        painted=spec.influence.painted or "",
        reach=tuple(
            joint_number(rig, joint, skeleton.names, (*place, "influence", "joints", row))
            for row, joint in enumerate(spec.influence.joints)
        ),
        max_force=spec.max_force,
        largest_bulge=spec.largest_bulge,
        actions=tuple(Action(a.joint, a.axis, a.degrees, a.weight) for a in spec.actions),
        prominence=spec.prominence,
    )


def _wrap(rig: Rig, spec: WrapSpec, skeleton: Skeleton, place: Sequence[str | int]) -> Wrap:
    joint = joint_number(rig, spec.joint, skeleton.names, place)
    axis = np.array(spec.axis)
    return Wrap(
        shape=spec.shape,
        joint=joint,
        centre=_placed(skeleton, joint, spec.centre),
        axis=axis / np.linalg.norm(axis),
        radius=spec.radius,
    )


def _placed(skeleton: Skeleton, joint: int, at: Sequence[float]) -> Floats:
    """A place in a joint's own frame, in the world at bind [m], shape (3,)."""
    return np.asarray(transform_points(skeleton.bind_world[joint], np.array([at]))[0])


def _spec(muscle: LoftedMuscle, skeleton: Skeleton) -> LoftedMuscleSpec:
    rings, wrap = muscle.rings, muscle.wrap
    origin, insertion = (
        PathPointSpec(joint=skeleton.names[joint], at=_local(skeleton, joint, at))
        for joint, at in zip(muscle.joints, muscle.ends, strict=True)
    )
    return LoftedMuscleSpec(
        muscle=muscle.muscle,
        group=muscle.group,
        path=(origin, insertion),
        wrap=None
        if wrap is None
        else WrapSpec(
            shape=wrap.shape,
            joint=skeleton.names[wrap.joint],
            centre=_local(skeleton, wrap.joint, wrap.centre),
            axis=numbers(wrap.axis),
            radius=float(wrap.radius),
        ),
        outward=numbers(muscle.outward),
        rings=tuple(
            RingSpec(u=u, centre=(out, side), half_axes=(a, b), angle=angle)
            for u, (out, side), (a, b), angle in zip(
                rings.u.tolist(),
                rings.centre.tolist(),
                rings.half_axes.tolist(),
                np.degrees(rings.angle).tolist(),
                strict=True,
            )
        ),
        crossing=float(muscle.crossing),
        joins=muscle.joins or None,
        prominence=float(muscle.prominence),
        largest_bulge=float(muscle.largest_bulge),
        max_force=float(muscle.max_force),
        influence=LoftedInfluenceSpec(
            joints=tuple(skeleton.names[joint] for joint in muscle.reach), painted=muscle.painted or None
        ),
        actions=tuple(
            ActionSpec(joint=a.joint, axis=a.axis, degrees=a.degrees, weight=a.weight) for a in muscle.actions
        ),
    )


def _local(skeleton: Skeleton, joint: int, at: Floats) -> tuple[float, float, float]:
    """A place in the world at bind [m] in a joint's own frame."""
    return numbers(transform_points(skeleton.bind_inverse[joint], at[None])[0])
