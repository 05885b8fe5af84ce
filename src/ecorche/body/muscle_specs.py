"""Muscles as the rig file spells them, and back: joints by name, places in the frames of joints.

Numbers go through text unchanged; only path points are turned into the frame of their joint and back,
to rounding.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ecorche.base.transforms import transform_points
from ecorche.body.spelled_joints import joint_number, numbers, spot
from ecorche.document.files import Rig
from ecorche.document.joint_spec import VirtualScapulaSpec
from ecorche.document.muscle_spec import ActionSpec, HalfSweep, InfluenceSpec, MuscleSpec, PathPointSpec
from ecorche.errors import DocumentError
from ecorche.muscles.activation import Action
from ecorche.muscles.muscle import Floats, Muscle, Reach
from ecorche.muscles.paths import SHORTEST
from ecorche.muscles.scapula import VirtualScapula, with_scapulae
from ecorche.skeleton.skeleton import Skeleton


def muscles_of(rig: Rig, skeleton: Skeleton) -> tuple[tuple[Muscle, ...], tuple[VirtualScapula, ...]]:
    """The muscles of a rig on its character's joints, and the shoulder blades the character lacks.

    Joints named that neither the character nor the rig has are refused, with the nearest name.
    """
    scapulae = scapulae_of(rig, skeleton)
    extended = with_scapulae(skeleton, scapulae)
    return (
        tuple(_muscle(rig, name, spec, skeleton, extended) for name, spec in rig.spec.muscles.named.items()),
        scapulae,
    )


def muscle_specs(
    muscles: Sequence[Muscle], scapulae: Sequence[VirtualScapula], skeleton: Skeleton
) -> tuple[dict[str, MuscleSpec], dict[str, VirtualScapulaSpec]]:
    """Muscles and virtual shoulder blades by name, as a rig file holds them; the inverse of `muscles_of`.

    Args:
        muscles: The muscles, their joints numbered as in ``skeleton`` and after it the scapulae.
        scapulae: The virtual shoulder blades.
        skeleton: The character's own joints.
    """
    extended = with_scapulae(skeleton, scapulae)
    blades = {
        scapula.name: VirtualScapulaSpec(
            girdle=skeleton.names[scapula.girdle],
            thorax=skeleton.names[scapula.thorax],
            arm=skeleton.names[scapula.arm],
            axis=numbers(scapula.axis),
            hanging=numbers(scapula.hanging),
            arm_direction=numbers(scapula.arm_direction),
        )
        for scapula in scapulae
    }
    return {muscle.name: _spec(muscle, extended) for muscle in muscles}, blades


def scapulae_of(rig: Rig, skeleton: Skeleton) -> tuple[VirtualScapula, ...]:
    """The shoulder blades that a rig gives its character."""
    found = []
    for name, spec in rig.spec.skeleton.virtual_scapulae.items():
        place = ("skeleton", "virtual_scapulae", name)
        if name in skeleton.names:
            raise DocumentError(
                f"the character has a joint {name!r} of its own",
                where=spot(rig, place),
                remedy="Give the virtual scapula another name, here and in the muscles' paths",
            )
        girdle, thorax, arm = (
            joint_number(rig, getattr(spec, field), skeleton.names, (*place, field))
            for field in ("girdle", "thorax", "arm")
        )
        found.append(
            VirtualScapula(
                name=name,
                girdle=girdle,
                thorax=thorax,
                arm=arm,
                pivot=skeleton.bind_world[arm, :3, 3].copy(),
                axis=np.array(spec.axis),
                hanging=np.array(spec.hanging),
                arm_direction=np.array(spec.arm_direction),
            )
        )
    return tuple(found)


def _muscle(rig: Rig, name: str, spec: MuscleSpec, skeleton: Skeleton, extended: Skeleton) -> Muscle:
    place = ("muscles", "named", name)
    joints = tuple(
        joint_number(rig, point.joint, extended.names, (*place, "path", row, "joint"))
        for row, point in enumerate(spec.path)
    )
    local = np.array([point.at for point in spec.path])
    positions = transform_points(extended.bind_world[list(joints)], local[:, None])[:, 0]
    lengths = np.linalg.norm(np.diff(positions, axis=0), axis=1)
    if (lengths < SHORTEST).any():
        row = int(np.argmin(lengths))
        raise DocumentError(
            f"the points {row} and {row + 1} of the path are in one place: the muscle has no length there",
            where=spot(rig, (*place, "path", row + 1, "at")),
            remedy="Move them apart, or take one out",
        )
    for row, action in enumerate(spec.actions):
        joint_number(rig, action.joint, skeleton.names, (*place, "actions", row, "joint"))
    reach = spec.influence
    return Muscle(
        name=name,
        muscle=spec.muscle,
        group=spec.group,
        joints=joints,
        positions=positions,
        outward=np.array(spec.outward),
        thickness=np.array(spec.thickness),
        sweep=np.zeros((2, 4, 2)) if spec.sweep is None else np.array(spec.sweep),
        belly=spec.belly,
        scale=spec.scale,
        reach=Reach(
            neighbourhood=reach.neighbourhood,
            weighting=reach.weighting,
            joints=tuple(
                joint_number(rig, joint, skeleton.names, (*place, "influence", "joints", row))
                for row, joint in enumerate(reach.joints)
            ),
            radius=reach.radius,
            painted=reach.painted or "",
        ),
        max_force=spec.max_force,
        force_source=spec.force_source,
        largest_bulge=spec.largest_bulge,
        actions=tuple(Action(a.joint, a.axis, a.degrees, a.weight) for a in spec.actions),
    )


def _spec(muscle: Muscle, extended: Skeleton) -> MuscleSpec:
    local = transform_points(extended.bind_inverse[list(muscle.joints)], muscle.positions[:, None])[:, 0]
    thickness, sweep = muscle.thickness.tolist(), muscle.sweep
    reach = muscle.reach
    return MuscleSpec(
        muscle=muscle.muscle,
        group=muscle.group,
        path=tuple(
            PathPointSpec(joint=extended.names[joint], at=numbers(at))
            for joint, at in zip(muscle.joints, local, strict=True)
        ),
        outward=numbers(muscle.outward),
        belly=float(muscle.belly),
        scale=float(muscle.scale),
        thickness=(tuple(thickness[0]), tuple(thickness[1])),
        sweep=(_half_sweep(sweep[0]), _half_sweep(sweep[1])) if sweep.any() else None,
        largest_bulge=float(muscle.largest_bulge),
        max_force=float(muscle.max_force),
        force_source=muscle.force_source,
        influence=InfluenceSpec(
            neighbourhood=reach.neighbourhood,
            weighting=reach.weighting,
            radius=reach.radius,
            joints=tuple(extended.names[joint] for joint in reach.joints),
            painted=reach.painted or None,
        ),
        actions=tuple(
            ActionSpec(joint=a.joint, axis=a.axis, degrees=a.degrees, weight=a.weight) for a in muscle.actions
        ),
    )


def _half_sweep(offsets: Floats) -> HalfSweep:
    a, b, c, d = ((out, side) for out, side in offsets.tolist())
    return a, b, c, d
