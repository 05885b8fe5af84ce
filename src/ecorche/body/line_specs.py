"""Muscles on action lines, read from a rig; `spelled_lines` writes them.

Numbers go through text unchanged; only places are turned from the frame of their joint, and angles from
degrees, to rounding. Surfaces are in the rig's arrays, as they were modelled.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import numpy.typing as npt

from ecorche.base.rotations import matrix_from_xyzw
from ecorche.base.transforms import transform_points
from ecorche.body.muscle_specs import scapulae_of
from ecorche.body.spelled_joints import bind_rotation, joint_number, spot
from ecorche.document.files import Rig
from ecorche.document.line_spec import (
    AdmissibleSpec,
    BoundNodeSpec,
    ElasticSpec,
    FreeNodeSpec,
    LineSpec,
    MobileNodeSpec,
)
from ecorche.errors import DocumentError
from ecorche.muscles.activation import Action
from ecorche.muscles.line_muscle import ActionLine, Admissible, Elastic, LineAttachment, LineMuscle
from ecorche.muscles.lines.admissible import BoundNode, CollisionNode, Node
from ecorche.muscles.lines.attached import Attached
from ecorche.muscles.lines.fields import Field, FieldEllipsoid
from ecorche.muscles.lines.mobile import Freedom, MobileNode
from ecorche.muscles.scapula import with_scapulae
from ecorche.skeleton.skeleton import Skeleton

Floats = npt.NDArray[np.float64]
Place = tuple[str | int, ...]


def line_muscles_of(
    rig: Rig, skeleton: Skeleton, only: Collection[str] | None = None
) -> tuple[LineMuscle, ...]:
    """The muscles of a rig on action lines, or some; unknown joints are refused with the nearest name."""
    names = [name for name in rig.spec.muscles.lines if only is None or name in only]
    reader = _Reader(rig, skeleton)
    return tuple(reader.muscle(name) for name in names)


def bent_with(rig: Rig, names: Collection[str]) -> frozenset[str]:
    """Some muscles on lines, and all whose lines carry what bends theirs or share nodes with them."""
    muscles, found, asked = rig.spec.muscles, set(names), list(names)
    shared: dict[str, set[str]] = {}
    for name, muscle in muscles.lines.items():
        for node in (node for line in muscle.lines for node in line.nodes):
            if isinstance(node, FreeNodeSpec) and node.shared is not None:
                shared.setdefault(node.shared, set()).add(name)
    while asked:
        name = asked.pop()
        lines = muscles.lines[name].lines
        bending = {field for line in lines for field in line.fields}
        on_lines = (one.on_line for field in bending for one in muscles.fields[field].ellipsoids)
        others = {on.muscle for on in on_lines if on is not None}
        others |= set().union(*(having for having in shared.values() if name in having))
        asked += sorted(others - found)
        found |= others
    return frozenset(found)


def line_muscle_of(rig: Rig, skeleton: Skeleton, name: str) -> LineMuscle:
    """One muscle of a rig on action lines."""
    return _Reader(rig, skeleton).muscle(name)


def action_line_of(rig: Rig, skeleton: Skeleton, muscle: str, number: int) -> ActionLine:
    """One line of a muscle, without its surface."""
    spec = rig.spec.muscles.lines[muscle].lines[number]
    return _Reader(rig, skeleton).line(spec, ("muscles", "lines", muscle, "lines", number))


def fields_of(rig: Rig, skeleton: Skeleton, only: Collection[str] | None = None) -> dict[str, Field]:
    """What bends a rig's action lines, by name; or some of it."""
    reader = _Reader(rig, skeleton)
    names = [name for name in rig.spec.muscles.fields if only is None or name in only]
    return {name: reader.field(name) for name in names}


def fields_that_bend(rig: Rig, muscles: Collection[str]) -> frozenset[str]:
    """Names of the fields that act on lines of some muscles."""
    lines = rig.spec.muscles.lines
    return frozenset(field for name in muscles for line in lines[name].lines for field in line.fields)


class _Reader:
    """From a rig's spec to muscles on a character's skeleton and the shoulder blades that the rig adds."""

    def __init__(self, rig: Rig, skeleton: Skeleton) -> None:
        self.rig, self.skeleton = rig, with_scapulae(skeleton, scapulae_of(rig, skeleton))

    def muscle(self, name: str) -> LineMuscle:
        spec = self.rig.spec.muscles.lines[name]
        place: Place = ("muscles", "lines", name)
        surface = self.rig.surfaces.get(spec.surface)
        if surface is None:
            raise DocumentError(
                f"there is no surface {spec.surface!r}",
                where=spot(self.rig, (*place, "surface")),
                remedy="Restore the rig's arrays file, or create the rig again",
            )
        for row, action in enumerate(spec.actions):
            self.joint(action.joint, (*place, "actions", row, "joint"))
        attachments = tuple(
            LineAttachment(
                Attached(
                    surface.sitting_on(row),
                    self.joint(held.joint, (*place, "attachments", row, "joint")),
                    held.reach,
                ),
                held.end,
                held.bone,
                held.source,
            )
            for row, held in enumerate(spec.attachments)
        )
        return LineMuscle(
            name=name,
            points=surface.points,
            triangles=surface.triangles,
            lines=tuple(self.line(one, (*place, "lines", row)) for row, one in enumerate(spec.lines)),
            surface=spec.surface,
            muscle=spec.muscle,
            group=spec.group,
            side=spec.side or "",
            path=_path(spec.path),
            attachments=attachments,
            volume=spec.volume,
            largest_bulge=spec.largest_bulge,
            max_force=spec.max_force,
            actions=tuple(Action(a.joint, a.axis, a.degrees, a.weight) for a in spec.actions),
            doubts=spec.doubts,
            room=None if surface.room is None else surface.room.astype(np.float64),
        )

    def line(self, spec: LineSpec, place: Place) -> ActionLine:
        references = None
        if spec.references is not None:
            first, last = (
                self.joint(joint, (*place, "references", row)) for row, joint in enumerate(spec.references)
            )
            references = first, last
        return ActionLine(
            nodes=tuple(self.node(node, (*place, "nodes", row)) for row, node in enumerate(spec.nodes)),
            tendon=spec.tendon,
            fields=spec.fields,
            shared={
                row: node.shared
                for row, node in enumerate(spec.nodes)
                if isinstance(node, FreeNodeSpec) and node.shared is not None
            },
            references=references,
            blend=spec.blend,
            outward=None if spec.outward is None else np.array(spec.outward),
            curved=spec.curved,
            isometric=np.array(spec.isometric) if spec.isometric else None,
            exclusive=spec.exclusive,
            flesh=spec.flesh,
        )

    def node(self, spec: BoundNodeSpec | FreeNodeSpec | MobileNodeSpec, place: Place) -> Node:
        if isinstance(spec, FreeNodeSpec):
            return CollisionNode(
                spec.ratio,
                None if spec.offset is None else np.array(spec.offset),
                None if spec.side is None else np.array(spec.side),
            )
        joint = self.joint(spec.joint, (*place, "joint"))
        if isinstance(spec, BoundNodeSpec):
            above = None
            if spec.relative_to is not None:
                above = self.joint(spec.relative_to, (*place, "relative_to"))
            axis = None if spec.axis is None else np.array(spec.axis)
            return BoundNode(self.placed(joint, spec.at), joint, spec.swing, spec.twist, axis, above)
        led_by = self.joint(spec.freedom.joint, (*place, "freedom", "joint"))
        low, rest, high = np.radians([spec.low, spec.rest, spec.high]).tolist()
        return MobileNode(
            joint,
            Freedom.since_bind(led_by, spec.freedom.kind, matrix_from_xyzw(_unit(spec.freedom.frame))),
            low, rest, high,
            self.placed(joint, spec.at_low),
            self.placed(joint, spec.at_rest),
            self.placed(joint, spec.at_high),
            spec.shape,
        )  # fmt: skip

    def field(self, name: str) -> Field:
        muscles = self.rig.spec.muscles
        spec, place = muscles.fields[name], ("muscles", "fields", name)
        ellipsoids = []
        for row, one in enumerate(spec.ellipsoids):
            turn = matrix_from_xyzw(_unit(one.turn))
            radii = np.array(one.radii)
            if one.joint is not None:
                joint = self.joint(one.joint, (*place, "ellipsoids", row, "joint"))
                axes = bind_rotation(self.skeleton, joint) @ turn
                ellipsoids.append(FieldEllipsoid(self.placed(joint, one.centre), radii, axes, joint))
            else:
                assert one.on_line is not None
                carrier = muscles.lines[one.on_line.muscle]
                number = one.on_line.line
                several = len(carrier.lines) > 1
                line = f"{one.on_line.muscle}, line {number + 1}" if several else one.on_line.muscle
                ellipsoids.append(
                    FieldEllipsoid(np.array(one.centre), radii, turn, None, line, one.on_line.place)
                )
        return Field(
            name,
            tuple(ellipsoids),
            spec.kind,
            spec.mode,
            spec.strength,
            spec.reach,
            spec.rounding,
            spec.blend,
        )

    def joint(self, name: str, place: Place) -> int:
        return joint_number(self.rig, name, self.skeleton.names, place)

    def placed(self, joint: int, at: Sequence[float]) -> Floats:
        """A place in a joint's own frame, in the world at bind [m], shape (3,)."""
        return np.asarray(transform_points(self.skeleton.bind_world[joint], np.array([at]))[0])


def _path(spec: AdmissibleSpec | ElasticSpec) -> Admissible | Elastic:
    if isinstance(spec, AdmissibleSpec):
        return Admissible(spec.subdivisions, spec.tightening)
    return Elastic(spec.stiffness, spec.tendon_ratio, spec.tension, spec.damping, spec.drag)


def _unit(xyzw: Sequence[float]) -> Floats:
    turn = np.array(xyzw)
    return np.asarray(turn / np.linalg.norm(turn))
