"""A muscle that is a mesh, mirrored to the other side: its surface, its lines, and what bends them.

Left and right joints pair by what they are recognised as, else by their names; the plane halves the pairs.
Turns are mirrored as turns are: an angle leads a mobile node of the right as the same one does on the left.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ecorche.base.names import listed
from ecorche.base.rotations import matrix_from_xyzw, normalise, xyzw_from_matrix
from ecorche.base.transforms import transform_points
from ecorche.body.character import Character
from ecorche.body.edited_lines import AnyNode, Lines
from ecorche.body.edited_rig import Edited, require_free
from ecorche.body.spelled_joints import bind_rotation, numbers
from ecorche.document.fields import Vector
from ecorche.document.files import Rig
from ecorche.document.line_spec import (
    BoundNodeSpec,
    EllipsoidSpec,
    FieldSpec,
    FreeNodeSpec,
    LineMuscleSpec,
    LineSpec,
)
from ecorche.document.surfaces import MuscleSurface
from ecorche.errors import EcorcheError, SkeletonError
from ecorche.muscles.anatomy.mirror import SagittalPlane
from ecorche.skeleton.naming.recognise import recognise
from ecorche.skeleton.naming.vocabulary import mirrored as mirrored_canonical

Floats = npt.NDArray[np.float64]

ASKEW = 0.02
"""Paired joints further from each other's image than this are told [m]."""
_SIDES = ("left", "right"), ("Left", "Right"), ("LEFT", "RIGHT"), ("l", "r"), ("L", "R")


def mirrored_muscle(
    rig: Rig, character: Character, muscle: str, *, name: str | None = None, instead: bool = False
) -> Edited:
    """The rig with a muscle on action lines on the other side too.

    Args:
        rig: The rig.
        character: Its character.
        muscle: Which.
        name: Of the image; None exchanges left and right in the muscle's name.
        instead: Whether it may take the place of a muscle on lines of that name.

    Raises:
        EcorcheError: The names tell no sides, or the other side has such a muscle already.
    """
    lines = Lines(rig, character)
    spec, sides = lines.muscle(muscle), _Sides(lines)
    called = name or other_side(muscle)
    if called is None or called == muscle:
        raise EcorcheError(
            f"the name {muscle!r} tells no side",
            where=rig.source,
            remedy="Say what its image is to be called",
        )
    if not (instead and called in rig.spec.muscles.lines):
        require_free(rig, called)
    fields, made = dict(rig.spec.muscles.fields), []
    named: dict[str, str] = {}
    for field in dict.fromkeys(f for line in spec.lines for f in line.fields):
        named[field], new = sides.field(field, muscle, called)
        if new is not None:
            fields[named[field]] = new
            made.append(named[field])
    surface = other_side(spec.surface) or f"{spec.surface}, mirrored"
    if any(m.surface == surface for n, m in rig.spec.muscles.lines.items() if n != called):
        surface = f"{surface}, of {called}"
    image = LineMuscleSpec.model_validate(
        spec.model_dump()
        | {
            "side": {"left": "right", "right": "left"}.get(spec.side or "", spec.side),
            "surface": surface,
            "lines": tuple(sides.line(line, named).model_dump() for line in spec.lines),
            "attachments": tuple(
                held.model_dump()
                | {"joint": sides.joint(held.joint), "bone": other_side(held.bone) or held.bone}
                for held in spec.attachments
            ),
            "actions": tuple(
                a.model_dump() | {"joint": sides.joint(a.joint), "axis": sides.axis(a.axis)}
                for a in spec.actions
            ),
        }
    )
    held = sides.surface(rig.surfaces[spec.surface])
    muscles = {**rig.spec.muscles.lines, called: image}
    done = lines.with_lines(muscles, fields, {surface: held}, check=[called])
    told = [f"{called!r} is the mirror image of {muscle!r}, in {len(image.lines)} lines"]
    if made:
        told.append(f"new fields: {listed(made, 4)}")
    told += sides.askew(spec)
    return Edited(done.rig, tuple(told))


def other_side(name: str) -> str | None:
    """A name with left and right exchanged, words or single letters; None where it tells no side."""
    for left, right in _SIDES:
        single = len(left) == 1
        for one, other in ((left, right), (right, left)):
            # single letters stand alone: l_hip, hip.L; words may run into others: LeftArm
            pattern = rf"(?<![A-Za-z]){one}(?![A-Za-z])" if single else one
            if re.search(pattern, name):
                return re.sub(pattern, other, name)
    return None


@dataclass(frozen=True, eq=False)
class _Sides:
    """Left and right of a character."""

    lines: Lines

    @cached_property
    def partner(self) -> list[int]:
        """The joint on the other side of each, its own in the middle."""
        skeleton = self.lines.skeleton
        mapping = self.lines.rig.spec.skeleton.mapping or None
        canonical = recognise(self.lines.character.skeleton, mapping).canonical
        known = {name: number for number, name in enumerate(canonical) if name is not None}
        found = []
        for number, name in enumerate(skeleton.names):
            own = canonical[number] if number < len(canonical) else None
            by_name = other_side(name)
            if own is not None and mirrored_canonical(own) in known:
                found.append(known[mirrored_canonical(own)])
            elif by_name in skeleton.names:
                found.append(skeleton.names.index(by_name))
            else:
                found.append(number)
        return found

    @cached_property
    def plane(self) -> SagittalPlane:
        """Between them."""
        heads = self.lines.skeleton.bind_world[:, :3, 3]
        pairs = [(a, b) for a, b in enumerate(self.partner) if a < b and self.partner[b] == a]
        apart = np.array([heads[b] - heads[a] for a, b in pairs]).reshape(-1, 3)
        if not len(apart) or not np.linalg.norm(apart, axis=1).max() > 1e-6:
            raise SkeletonError(
                "no joints of a left and a right side were recognised",
                where=self.lines.character.source,
                remedy="Say what the joints are in skeleton.mapping of the rig",
            )
        normal = normalise(np.linalg.svd(apart, full_matrices=False)[2][0])
        # a body that stands straight in its axes has a plane that does, to rounding
        axis = int(np.argmax(np.abs(normal)))
        normal = np.eye(3)[axis] if abs(normal[axis]) > 1.0 - 1e-6 else normal
        middle = np.array([0.5 * (heads[a] + heads[b]) for a, b in pairs])
        return SagittalPlane(normal, float(np.median(middle @ normal)), 0.0)

    def joint(self, name: str) -> str:
        skeleton = self.lines.skeleton
        return skeleton.names[self.partner[self.lines.joint(name)]]

    def place(self, joint: str, at: Sequence[float]) -> Vector:
        """Of a place in a joint's own frame, the image in the frame of the joint on the other side."""
        world = transform_points(
            self.lines.skeleton.bind_world[self.lines.joint(joint)], np.array([at], np.float64)
        )
        return self.lines.local(self.joint(joint), self.plane.mirrored(world)[0])

    def direction(self, of: Sequence[float]) -> Vector:
        vector = np.array(of)
        normal = self.plane.normal
        return numbers(np.round(vector - 2.0 * float(vector @ normal) * normal, 9) + 0.0)

    def axis(self, of: Sequence[float]) -> Vector:
        """What the image turns about by the same angle."""
        return numbers(-np.array(self.direction(of)) + 0.0)

    def turn(self, axes: Floats) -> tuple[float, ...]:
        """A frame whose angles are those of the image, (3, 3): each axis as `axis` takes it."""
        image = np.stack([np.array(self.axis(column)) for column in axes.T], axis=1)
        return tuple(normalise(xyzw_from_matrix(image)).tolist())

    def line(self, line: LineSpec, fields: dict[str, str]) -> LineSpec:
        return line.model_copy(
            update={
                "nodes": tuple(self.node(node) for node in line.nodes),
                "fields": tuple(fields[name] for name in line.fields),
                "references": None if line.references is None else tuple(map(self.joint, line.references)),
                "outward": None if line.outward is None else self.direction(line.outward),
            }
        )

    def node(self, node: AnyNode) -> AnyNode:
        if isinstance(node, FreeNodeSpec):
            return node.model_copy(
                update={
                    "offset": None if node.offset is None else self.direction(node.offset),
                    "side": None if node.side is None else self.direction(node.side),
                    "shared": None
                    if node.shared is None
                    else other_side(node.shared) or f"{node.shared}, mirrored",
                }
            )
        changed: dict[str, object] = {"joint": self.joint(node.joint)}
        if isinstance(node, BoundNodeSpec):
            changed["at"] = self.place(node.joint, node.at)
            changed["axis"] = None if node.axis is None else self.direction(node.axis)
            changed["relative_to"] = None if node.relative_to is None else self.joint(node.relative_to)
        else:
            changed |= {
                at: self.place(node.joint, getattr(node, at)) for at in ("at_low", "at_rest", "at_high")
            }
            freedom = node.freedom
            frame = self.turn(matrix_from_xyzw(normalise(np.array(freedom.frame))))
            changed["freedom"] = freedom.model_copy(
                update={"joint": self.joint(freedom.joint), "frame": frame}
            )
        return node.model_copy(update=changed)

    def field(self, name: str, muscle: str, called: str) -> tuple[str, FieldSpec | None]:
        """The name of a field's image, and the field where the rig has none of that name."""
        field = self.lines.field(name)
        middle = all(one.joint is not None and self.joint(one.joint) == one.joint for one in field.ellipsoids)
        swapped = other_side(name)
        if swapped is None and middle:
            return name, None
        swapped = swapped or f"{name}, mirrored"
        if swapped in self.lines.rig.spec.muscles.fields:
            return swapped, None
        ellipsoids = tuple(self.ellipsoid(one, muscle, called) for one in field.ellipsoids)
        return swapped, field.model_copy(update={"ellipsoids": ellipsoids})

    def ellipsoid(self, one: EllipsoidSpec, muscle: str, called: str) -> EllipsoidSpec:
        axes = matrix_from_xyzw(normalise(np.array(one.turn)))
        if one.joint is not None:
            joint = self.lines.joint(one.joint)
            partner = self.partner[joint]
            world = bind_rotation(self.lines.skeleton, joint) @ axes
            image = bind_rotation(self.lines.skeleton, partner).T @ matrix_from_xyzw(self.turn(world))
            return one.model_copy(
                update={
                    "joint": self.joint(one.joint),
                    "centre": self.place(one.joint, one.centre),
                    "turn": tuple(normalise(xyzw_from_matrix(image)).tolist()),
                }
            )
        on = one.on_line
        assert on is not None
        carrier = called if on.muscle == muscle else other_side(on.muscle) or on.muscle
        centre = self.plane.mirrored(np.array([one.centre]))[0]
        return one.model_copy(
            update={
                "on_line": on.model_copy(update={"muscle": carrier}),
                "centre": numbers(np.round(centre, 9) + 0.0),
                "turn": self.turn(axes),
            }
        )

    def surface(self, surface: MuscleSurface) -> MuscleSurface:
        """The image, facing outwards as it did."""
        room = surface.room
        if room is not None:
            normal = self.plane.normal.astype(np.float32)
            room = room - 2.0 * (room @ normal)[:, None] * normal
        return replace(
            surface,
            points=self.plane.mirrored(surface.points),
            triangles=np.ascontiguousarray(surface.triangles[:, ::-1]),
            room=room,
        )

    def askew(self, muscle: LineMuscleSpec) -> list[str]:
        """A sentence where joints of a muscle do not lie as their images do."""
        heads = self.lines.skeleton.bind_world[:, :3, 3]
        used = {n.joint for line in muscle.lines for n in line.nodes if not isinstance(n, FreeNodeSpec)}
        told = []
        for name in sorted(used):
            number = self.lines.joint(name)
            far = float(np.linalg.norm(self.plane.mirrored(heads[number]) - heads[self.partner[number]]))
            if far > ASKEW:
                image = f"{1e3 * far:.0f} mm from the image of {name!r}"
                told.append(f"{self.joint(name)!r} is {image}: look at the mesh there")
        return told
