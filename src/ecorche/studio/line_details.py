"""A muscle on action lines as the editor's messages tell it: places in the world at bind, names, numbers."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ecorche.base.rotations import matrix_from_xyzw, normalise, xyzw_from_matrix
from ecorche.base.transforms import transform_points
from ecorche.body.character import Character
from ecorche.body.edit_fields import ellipsoid_at_bind
from ecorche.body.edit_segments import segment_counts
from ecorche.body.edited_lines import AnyNode, Lines
from ecorche.body.lines import BodyLines
from ecorche.body.mirror_lines import other_side
from ecorche.body.shown_lines import line_weights
from ecorche.document.files import Rig
from ecorche.document.line_spec import BoundNodeSpec, FreeNodeSpec, LineMuscleSpec, MobileNodeSpec
from ecorche.muscles.lines.contraction import isometric_profile
from ecorche.studio.messages import lines as asking

Floats = npt.NDArray[np.float64]


def lines_told(
    rig: Rig, character: Character, body: BodyLines | None, revision: int, name: str
) -> asking.LinesTold:
    """The lines of a muscle in numbers."""
    here = Lines(rig, character)
    muscle = here.muscle(name)
    compiled = None if body is None or name not in body.names else line_weights(body, name).mean(axis=0)
    acting = dict.fromkeys(field for line in muscle.lines for field in line.fields)
    numbers = {k: v for k, v in muscle.path.model_dump().items() if k != "model"}
    left_out = None if body is None else body.musculature.left_out.get(name)
    notes = () if body is None else body.musculature.notes
    return asking.LinesTold(
        revision=revision,
        muscle=name,
        path=asking.PathTold(model=muscle.path.model, numbers=numbers),
        lines=tuple(
            _line(here, name, number, muscle, None if compiled is None else float(compiled[number]))
            for number in range(len(muscle.lines))
        ),
        fields=tuple(_field(here, field) for field in acting),
        other_fields=tuple(field for field in rig.spec.muscles.fields if field not in acting),
        joints=here.skeleton.names,
        left_out=left_out,
        notes=(*muscle.doubts, *(note for note in notes if f"{name!r}" in note)),
        image=other_side(name),
    )


def _line(
    here: Lines, name: str, number: int, muscle: LineMuscleSpec, region: float | None
) -> asking.LineTold:
    line = muscle.lines[number]
    count = len(line.nodes)
    scales = np.array(line.isometric) if line.isometric else None
    if scales is None:
        bulge = muscle.largest_bulge
        scales = isometric_profile([0, count], height=bulge, width=1.0 / bulge)
    places = here.designed(name, number)
    return asking.LineTold(
        nodes=tuple(
            _node(here, node, place, (float(x), float(y)))
            for node, place, (x, y) in zip(line.nodes, places, scales, strict=True)
        ),
        segments=segment_counts(line),
        tendon=line.tendon or (False,) * (count - 1),
        fields=line.fields,
        references=line.references,
        blend=line.blend,
        outward=line.outward,
        curved=line.curved,
        flesh=line.flesh,
        own_isometric=bool(line.isometric),
        region=region,
    )


def _node(here: Lines, node: AnyNode, place: Floats, scale: tuple[float, float]) -> asking.NodeTold:
    bound = node if isinstance(node, BoundNodeSpec) else None
    free = node if isinstance(node, FreeNodeSpec) else None
    return asking.NodeTold(
        kind=node.kind,
        place=_vector(place),
        joint=None if isinstance(node, FreeNodeSpec) else node.joint,
        swing=1.0 if bound is None else bound.swing,
        twist=1.0 if bound is None else bound.twist,
        axis=None if bound is None else bound.axis,
        relative_to=None if bound is None else bound.relative_to,
        ratio=None if free is None else free.ratio,
        shared=None if free is None else free.shared,
        led=_led(here, node) if isinstance(node, MobileNodeSpec) else None,
        isometric=scale,
    )


def _led(here: Lines, node: MobileNodeSpec) -> asking.LedTold:
    world = here.skeleton.bind_world[here.joint(node.joint)]
    low, rest, high = transform_points(world, np.array([node.at_low, node.at_rest, node.at_high]))
    frame = matrix_from_xyzw(normalise(np.array(node.freedom.frame)))
    return asking.LedTold(
        joint=node.freedom.joint,
        kind=node.freedom.kind,
        axis=_vector(frame[:, 2]),
        degrees=(node.low, node.rest, node.high),
        places=(_vector(low), _vector(rest), _vector(high)),
        shape=node.shape,
    )


def _field(here: Lines, name: str) -> asking.FieldTold:
    field = here.field(name)
    ellipsoids = []
    for number, one in enumerate(field.ellipsoids):
        centre, axes = ellipsoid_at_bind(here.rig, here.character, name, number)
        x, y, z, w = xyzw_from_matrix(axes).tolist()
        on = one.on_line
        ellipsoids.append(
            asking.EllipsoidTold(
                joint=one.joint,
                on_line=None if on is None else (on.muscle, on.line, on.place),
                centre=_vector(centre),
                turn=(x, y, z, w),
                radii=one.radii,
            )
        )
    muscles = here.rig.spec.muscles.lines.values()
    return asking.FieldTold(
        name=name,
        kind=field.kind,
        mode=field.mode,
        strength=field.strength,
        reach=field.reach,
        rounding=field.rounding,
        blend=field.blend,
        ellipsoids=tuple(ellipsoids),
        acts_on=sum(name in line.fields for muscle in muscles for line in muscle.lines),
    )


def _vector(values: Floats) -> asking.Vector:
    x, y, z = values.tolist()
    return x, y, z
