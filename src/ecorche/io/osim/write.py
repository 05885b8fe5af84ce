"""A rig as an OpenSim model (.osim): bodies on custom joints, Millard muscles, wrap objects.

Every joint turns about x, then y, then z of its body. A sphere or cylinder that is passed on one side stands
with its x axis towards that side, and only its half ``+x`` is wrapped round. Not so a sphere on which a path
ends: OpenSim tells sides by where the ends are, and from one on the sphere it would go round the wrong way.
There the shorter way is right until the line of the ends gets to the other side of the centre.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from xml.etree import ElementTree

import numpy as np
import numpy.typing as npt

from ecorche.base.files import whole_file
from ecorche.body.as_model import ModelBody, ModelMuscle, ModelWrap, RigModel, axes_of, xyz_angles

Floats = npt.NDArray[np.float64]

VERSION = "40500"
_AXES = (("1", "1 0 0", "x"), ("2", "0 1 0", "y"), ("3", "0 0 1", "z"))


def write_osim(path: str | os.PathLike[str], model: RigModel) -> None:
    """Write a rig's model as .osim."""
    document = ElementTree.Element("OpenSimDocument", Version=VERSION)
    root = ElementTree.SubElement(document, "Model", name=model.name or "rig")
    ElementTree.SubElement(root, "Ground", name="ground")
    _leaf(root, "gravity", "0 -9.80665 0")
    _leaf(root, "length_units", "meters")
    _leaf(root, "force_units", "N")
    bodies, joints, forces = (_set(root, name) for name in ("BodySet", "JointSet", "ForceSet"))
    wraps = [_body(bodies, body) for body in model.bodies]
    for body in model.bodies:
        _joint(joints, body, model)
    for muscle in model.muscles:
        if muscle.wrap is not None:
            _wrap(wraps[muscle.wrap.body], muscle.wrap, muscle)
        _muscle(forces, muscle, model)
    ElementTree.indent(document)
    with whole_file(path) as partial:
        ElementTree.ElementTree(document).write(partial, encoding="utf-8", xml_declaration=True)


def _leaf(parent: ElementTree.Element, tag: str, text: object) -> None:
    ElementTree.SubElement(parent, tag).text = str(text)


def _set(parent: ElementTree.Element, tag: str) -> ElementTree.Element:
    """A set's list of objects."""
    return ElementTree.SubElement(ElementTree.SubElement(parent, tag, name=tag.lower()), "objects")


def _numbers(values: Iterable[float]) -> str:
    return " ".join(f"{float(value):.17g}" for value in values)


def _body(bodies: ElementTree.Element, body: ModelBody) -> ElementTree.Element:
    """The body, and the list of what paths wrap round on it."""
    element = ElementTree.SubElement(bodies, "Body", name=body.name)
    wraps = _set(element, "WrapObjectSet")
    i = body.inertia
    _leaf(element, "mass", f"{body.mass:.17g}")
    _leaf(element, "mass_center", _numbers(body.centre))
    _leaf(element, "inertia", _numbers((i[0, 0], i[1, 1], i[2, 2], i[0, 1], i[0, 2], i[1, 2])))
    return wraps


def _joint(joints: ElementTree.Element, body: ModelBody, model: RigModel) -> None:
    above = None if body.parent < 0 else model.bodies[body.parent]
    element = ElementTree.SubElement(joints, "CustomJoint", name=f"{body.name}_joint")
    _leaf(element, "socket_parent_frame", f"{body.name}_above")
    _leaf(element, "socket_child_frame", f"/bodyset/{body.name}")
    coordinates = ElementTree.SubElement(element, "coordinates")
    for axis in axes_of(body):
        coordinate = ElementTree.SubElement(coordinates, "Coordinate", name=f"{body.name}_{axis}")
        wide = 100.0 if axis.startswith("t") else np.pi
        _leaf(coordinate, "default_value", 0)
        _leaf(coordinate, "range", _numbers((-wide, wide)))
        _leaf(coordinate, "clamped", "false")
    frame = ElementTree.SubElement(
        ElementTree.SubElement(element, "frames"), "PhysicalOffsetFrame", name=f"{body.name}_above"
    )
    _leaf(frame, "socket_parent", "/ground" if above is None else f"/bodyset/{above.name}")
    _leaf(frame, "translation", _numbers(body.head if above is None else body.head - above.head))
    _leaf(frame, "orientation", "0 0 0")
    transform = ElementTree.SubElement(element, "SpatialTransform")
    for kind in ("rotation", "translation"):
        for number, direction, axis in _AXES:
            one = ElementTree.SubElement(transform, "TransformAxis", name=f"{kind}{number}")
            own = axis if kind == "rotation" else f"t{axis}"
            moves = own in axes_of(body)
            _leaf(one, "coordinates", f"{body.name}_{own}" if moves else "")
            _leaf(one, "axis", direction)
            if moves:
                function = ElementTree.SubElement(one, "LinearFunction", name="function")
                _leaf(function, "coefficients", "1 0")
            else:
                _leaf(ElementTree.SubElement(one, "Constant", name="function"), "value", 0)


def _wrap(wraps: ElementTree.Element, wrap: ModelWrap, muscle: ModelMuscle) -> None:
    kind = "WrapSphere" if wrap.shape == "sphere" else "WrapCylinder"
    element = ElementTree.SubElement(wraps, kind, name=f"{muscle.name}_wrap")
    _leaf(element, "active", "true")
    _leaf(element, "xyz_body_rotation", _numbers(xyz_angles(_standing(wrap))))
    _leaf(element, "translation", _numbers(wrap.centre))
    shorter = wrap.side is None or (wrap.shape == "sphere" and wrap.at_end)
    _leaf(element, "quadrant", "all" if shorter else "+x")
    _leaf(element, "radius", f"{wrap.radius:.17g}")
    if wrap.shape == "cylinder":
        _leaf(element, "length", f"{2.0 * muscle.length:.17g}")


def _standing(wrap: ModelWrap) -> Floats:
    """Axes of a wrap object, in columns: x towards the side, z along a cylinder, (3, 3)."""
    x = wrap.side
    if x is None:
        return np.eye(3)
    z = wrap.axis - (wrap.axis @ x) * x
    z = z / np.linalg.norm(z)
    return np.column_stack([x, np.cross(z, x), z])


def _muscle(forces: ElementTree.Element, muscle: ModelMuscle, model: RigModel) -> None:
    element = ElementTree.SubElement(forces, "Millard2012EquilibriumMuscle", name=muscle.name)
    path = ElementTree.SubElement(element, "GeometryPath", name="path")
    points = ElementTree.SubElement(ElementTree.SubElement(path, "PathPointSet"), "objects")
    for number, (body, place) in enumerate(zip(muscle.bodies, muscle.points, strict=True)):
        point = ElementTree.SubElement(points, "PathPoint", name=f"{muscle.name}-P{number + 1}")
        _leaf(point, "socket_parent_frame", f"/bodyset/{model.bodies[body].name}")
        _leaf(point, "location", _numbers(place))
    around = ElementTree.SubElement(ElementTree.SubElement(path, "PathWrapSet"), "objects")
    if muscle.wrap is not None:
        wrap = ElementTree.SubElement(around, "PathWrap", name="pathwrap")
        _leaf(wrap, "wrap_object", f"{muscle.name}_wrap")
        _leaf(wrap, "method", "hybrid")
        _leaf(wrap, "range", "-1 -1")
    _leaf(element, "max_isometric_force", f"{muscle.max_force:.17g}")
    _leaf(element, "optimal_fiber_length", f"{muscle.fibre_length:.17g}")
    _leaf(element, "tendon_slack_length", f"{muscle.slack_length:.17g}")
    _leaf(element, "pennation_angle_at_optimal", 0)
