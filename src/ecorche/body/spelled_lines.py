"""Muscles on action lines as the rig file spells them; `line_specs` reads them back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from ecorche.base.rotations import xyzw_from_matrix
from ecorche.base.transforms import transform_points
from ecorche.body.place_muscles import rounded
from ecorche.body.spelled_joints import bind_rotation, numbers
from ecorche.document.line_spec import (
    AdmissibleSpec,
    AttachmentSpec,
    BoundNodeSpec,
    ElasticSpec,
    EllipsoidSpec,
    FieldSpec,
    FreedomSpec,
    FreeNodeSpec,
    LineMuscleSpec,
    LineSpec,
    MobileNodeSpec,
    OnLineSpec,
)
from ecorche.document.muscle_spec import ActionSpec
from ecorche.document.surfaces import MuscleSurface
from ecorche.muscles.line_muscle import ActionLine, Admissible, LineMuscle
from ecorche.muscles.lines.admissible import BoundNode, CollisionNode, Node
from ecorche.muscles.lines.fields import Field
from ecorche.skeleton.skeleton import Skeleton

Floats = npt.NDArray[np.float64]


def new_line_specs(
    muscles: Sequence[LineMuscle], fields: Mapping[str, Field], skeleton: Skeleton
) -> tuple[dict[str, LineMuscleSpec], dict[str, FieldSpec], dict[str, MuscleSurface]]:
    """What a new rig file says of muscles, of the fields that bend them, and their surfaces; rounded."""
    specs, surfaces = line_specs(muscles, skeleton)
    used = {name for muscle in muscles for line in muscle.lines for name in line.fields}
    bent = field_specs({name: field for name, field in fields.items() if name in used}, skeleton, {})
    return (
        {name: LineMuscleSpec.model_validate(rounded(spec.model_dump())) for name, spec in specs.items()},
        {name: FieldSpec.model_validate(rounded(spec.model_dump())) for name, spec in bent.items()},
        surfaces,
    )


def line_specs(
    muscles: Sequence[LineMuscle], skeleton: Skeleton
) -> tuple[dict[str, LineMuscleSpec], dict[str, MuscleSurface]]:
    """Muscles on lines by name as a rig file holds them, and their surfaces; `line_muscles_of` inverts it."""
    specs = {muscle.name: _muscle_spec(muscle, skeleton) for muscle in muscles}
    surfaces = {}
    for muscle in muscles:
        rows = [
            np.stack([np.full(len(held.sits.vertices), row), held.sits.vertices], axis=1)
            for row, held in enumerate(muscle.attachments)
        ]
        attached = np.concatenate([np.zeros((0, 2), np.int32), *rows]).astype(np.int32)
        triangles = np.asarray(muscle.triangles, np.int32)
        surfaces[muscle.surface] = MuscleSurface(
            np.asarray(muscle.points, np.float64),
            triangles,
            attached,
            None if muscle.room is None else muscle.room.astype(np.float32),
        )
    return specs, surfaces


def field_specs(
    fields: Mapping[str, Field], skeleton: Skeleton, lines: Mapping[str, OnLineSpec]
) -> dict[str, FieldSpec]:
    """Fields by name as a rig file holds them; ``lines`` says which muscle's line each name of one means."""
    found = {}
    for name, field in fields.items():
        ellipsoids = []
        for one in field.ellipsoids:
            radii = numbers(np.asarray(one.radii, np.float64))
            if one.joint is None:
                assert one.line is not None
                on_line = lines[one.line].model_copy(update={"place": one.place})
                turn = tuple(xyzw_from_matrix(one.axes).tolist())
                ellipsoids.append(
                    EllipsoidSpec(on_line=on_line, centre=numbers(one.centre), turn=turn, radii=radii)
                )
                continue
            turn = tuple(xyzw_from_matrix(bind_rotation(skeleton, one.joint).T @ one.axes).tolist())
            ellipsoids.append(
                EllipsoidSpec(
                    joint=skeleton.names[one.joint],
                    centre=_local(skeleton, one.joint, one.centre),
                    turn=turn,
                    radii=radii,
                )
            )
        found[name] = FieldSpec(
            ellipsoids=tuple(ellipsoids), kind=field.kind, mode=field.mode, strength=field.strength,
            reach=field.reach, rounding=field.rounding, blend=field.blend,
        )  # fmt: skip
    return found


def _muscle_spec(muscle: LineMuscle, skeleton: Skeleton) -> LineMuscleSpec:
    path: AdmissibleSpec | ElasticSpec
    if isinstance(muscle.path, Admissible):
        path = AdmissibleSpec(subdivisions=muscle.path.subdivisions, tightening=muscle.path.tightening)
    else:
        spring = muscle.path
        path = ElasticSpec(
            model="elastic", stiffness=spring.stiffness, tendon_ratio=spring.tendon_ratio,
            tension=spring.tension, damping=spring.damping, drag=spring.drag,
        )  # fmt: skip
    return LineMuscleSpec(
        muscle=muscle.muscle,
        group=muscle.group,
        side=muscle.side or None,
        surface=muscle.surface,
        lines=tuple(_line_spec(line, skeleton) for line in muscle.lines),
        path=path,
        attachments=tuple(
            AttachmentSpec(
                joint=skeleton.names[held.sits.joint],
                bone=held.bone,
                end=held.end,
                reach=float(held.sits.reach),
                source=held.source,
            )
            for held in muscle.attachments
        ),
        volume=muscle.volume,
        largest_bulge=float(muscle.largest_bulge),
        max_force=float(muscle.max_force),
        actions=tuple(
            ActionSpec(joint=a.joint, axis=a.axis, degrees=a.degrees, weight=a.weight) for a in muscle.actions
        ),
        doubts=muscle.doubts,
    )


def _line_spec(line: ActionLine, skeleton: Skeleton) -> LineSpec:
    references = None
    if line.references is not None:
        references = skeleton.names[line.references[0]], skeleton.names[line.references[1]]
    return LineSpec(
        nodes=tuple(_node_spec(node, line.shared.get(row), skeleton) for row, node in enumerate(line.nodes)),
        tendon=tuple(bool(flag) for flag in line.tendon),
        fields=line.fields,
        references=references,
        blend=line.blend,
        outward=None if line.outward is None else numbers(line.outward),
        curved=line.curved,
        flesh=line.flesh,
        isometric=() if line.isometric is None else tuple((float(x), float(y)) for x, y in line.isometric),
        exclusive=tuple(bool(flag) for flag in line.exclusive),
    )


def _node_spec(
    node: Node, shared: str | None, skeleton: Skeleton
) -> BoundNodeSpec | FreeNodeSpec | MobileNodeSpec:
    if isinstance(node, CollisionNode):
        return FreeNodeSpec(
            kind="free",
            ratio=float(node.ratio),
            offset=None if node.offset is None else numbers(node.offset),
            side=None if node.side is None else numbers(node.side),
            shared=shared,
        )
    name = skeleton.names[node.joint]
    if isinstance(node, BoundNode):
        return BoundNodeSpec(
            kind="bound",
            joint=name,
            at=_local(skeleton, node.joint, node.place),
            swing=float(node.swing),
            twist=float(node.twist),
            axis=None if node.axis is None else numbers(node.axis),
            relative_to=None if node.relative_to is None else skeleton.names[node.relative_to],
        )
    low, rest, high = np.degrees([node.low, node.rest, node.high]).tolist()
    x, y, z, w = node.freedom.after_xyzw.tolist()
    return MobileNodeSpec(
        kind="mobile",
        joint=name,
        freedom=FreedomSpec(
            joint=skeleton.names[node.freedom.joint], kind=node.freedom.kind, frame=(x, y, z, w)
        ),
        low=low, rest=rest, high=high,
        at_low=_local(skeleton, node.joint, node.at_low),
        at_rest=_local(skeleton, node.joint, node.at_rest),
        at_high=_local(skeleton, node.joint, node.at_high),
        shape=node.shape,
    )  # fmt: skip


def _local(skeleton: Skeleton, joint: int, at: Floats) -> tuple[float, float, float]:
    """A place in the world at bind [m] in a joint's own frame."""
    return numbers(transform_points(skeleton.bind_inverse[joint], np.asarray(at)[None])[0])
