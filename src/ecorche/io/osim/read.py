"""OpenSim models, `.osim` of version 4: as much as it takes to say where muscles run.

Bodies, joints (pin, slider, weld and custom), coordinates with coordinate couplers, wrap surfaces, and of
each muscle its path: fixed, moving and conditional points, and surfaces to wrap round.
"""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping
from pathlib import Path
from xml.etree.ElementTree import Element

import numpy as np
import numpy.typing as npt

from ecorche.base.names import suggestion
from ecorche.errors import ReadError
from ecorche.io.osim.elements import child, is_true, members, numbers, text
from ecorche.io.osim.functions import Constant, Function, Linear, Scaled, read_function
from ecorche.io.osim.model import (
    Axis,
    BodySurface,
    Coordinate,
    Coupling,
    OsimJoint,
    OsimModel,
    OsimPath,
    PathPoint,
    direction,
    placed,
)
from ecorche.muscles.lines.wrapped_path import WrapSurface
from ecorche.skeleton.skeleton import parents_first

Floats = npt.NDArray[np.float64]

_QUADRANTS = {
    sign + axis: (k, -1 if sign == "-" else 1) for k, axis in enumerate("xyz") for sign in ("", "+", "-")
}
_MOTIONS = ("rotation1", "rotation2", "rotation3", "translation1", "translation2", "translation3")


def read_osim(path: Path | str) -> OsimModel:
    """Read a model."""
    path = Path(path)
    try:
        root = ElementTree.parse(path).getroot()
    except OSError as error:
        raise ReadError(f"cannot be opened: {error.strerror}", where=path, remedy="Check the path") from None
    except ElementTree.ParseError as error:
        raise ReadError(f"is no XML: {error}", where=path, remedy="Save it again from OpenSim") from None
    model = root.find("Model")
    version = root.get("Version", "0")
    if model is None or not version.isdigit() or int(version) < 40000:
        raise ReadError(
            f"is no OpenSim model of version 4 (<{root.tag}>, version {version})",
            where=path,
            remedy="Open it in OpenSim 4 or later, and save it",
        )
    file = path.name
    joints, coordinates = _joints(model, file)
    surfaces = _surfaces(model, {joint.child for joint in joints}, file)
    muscles, notes = _muscles(model, {joint.child for joint in joints}, coordinates, surfaces, file)
    return OsimModel(
        model.get("name", path.stem),
        joints,
        coordinates,
        _couplings(model, coordinates, file),
        surfaces,
        muscles,
        notes,
    )


def _last(name: str) -> str:
    """The last name of a component's path."""
    return name.rstrip("/").rsplit("/", 1)[-1]


def _known(name: str, choices: Mapping[str, object] | set[str], what: str, where: str) -> str:
    if name not in choices:
        raise ReadError(f"there is no {what} {name!r}", where=where, remedy=suggestion(name, sorted(choices)))
    return name


def _joints(model: Element, file: str) -> tuple[tuple[OsimJoint, ...], dict[str, Coordinate]]:
    coordinates: dict[str, Coordinate] = {}
    joints: list[OsimJoint] = []
    for element in members(model.find("JointSet")):
        where = f"{file}, joint {element.get('name')!r}"
        for one in element.iterfind("coordinates/Coordinate"):
            name = one.get("name", "")
            low, high = (
                numbers(one, "range", where, 2) if one.find("range") is not None else (-np.inf, np.inf)
            )
            value = (
                numbers(one, "default_value", where, 1)[0] if one.find("default_value") is not None else 0.0
            )
            coordinates[name] = Coordinate(name, value, low, high, is_true(one, "locked", False))
        joints.append(_joint(element, where))
    for joint in joints:
        for axis in (*joint.turns, *joint.shifts):
            for name in axis.coordinates:
                _known(name, coordinates, "coordinate", f"{file}, joint {joint.name!r}")
    of_body = {joint.child: k for k, joint in enumerate(joints)}
    if len(of_body) != len(joints):
        raise ReadError("a body hangs on two joints", where=file, remedy="Loops of bodies cannot be read")
    parents = [of_body.get(joint.parent, -1) for joint in joints]
    for joint, parent in zip(joints, parents, strict=True):
        if parent < 0 and joint.parent != "ground":
            _known(joint.parent, {*of_body, "ground"}, "body", f"{file}, joint {joint.name!r}")
    order = parents_first(parents, [joint.name for joint in joints])
    return tuple(joints[k] for k in order), coordinates


def _joint(element: Element, where: str) -> OsimJoint:
    frames = {
        frame.get("name", ""): (
            _last(text(frame, "socket_parent", where)),
            placed(numbers(frame, "translation", where, 3), numbers(frame, "orientation", where, 3)),
        )
        for frame in element.iterfind("frames/PhysicalOffsetFrame")
    }
    ends = []
    for tag in ("socket_parent_frame", "socket_child_frame"):
        name = _last(text(element, tag, where))
        ends.append(frames.get(name, (name, np.eye(4))))
    (parent, in_parent), (body, in_child) = ends
    led = tuple(c.get("name", "") for c in element.iterfind("coordinates/Coordinate"))
    turns: tuple[Axis, ...] = ()
    shifts: tuple[Axis, ...] = ()
    if element.tag == "PinJoint":
        turns = (Axis(led, Linear((1.0, 0.0)), np.array([0.0, 0.0, 1.0])),)
    elif element.tag == "SliderJoint":
        shifts = (Axis(led, Linear((1.0, 0.0)), np.array([1.0, 0.0, 0.0])),)
    elif element.tag == "CustomJoint":
        motions = [_axis(element, motion, where) for motion in _MOTIONS]
        turns, shifts = tuple(motions[:3]), tuple(motions[3:])
    elif element.tag != "WeldJoint":
        raise ReadError(
            f"a {element.tag} cannot be read",
            where=where,
            remedy="Make it a CustomJoint, PinJoint, SliderJoint or WeldJoint",
        )
    return OsimJoint(element.get("name", ""), parent, body, in_parent, in_child, turns, shifts)


def _axis(element: Element, motion: str, where: str) -> Axis:
    found = element.find(f"SpatialTransform/TransformAxis[@name='{motion}']")
    if found is None:
        return Axis((), Constant(0.0), np.array([1.0, 0.0, 0.0]))
    where = f"{where}, {motion}"
    names = (found.findtext("coordinates") or "").split()
    holder = found if found.find("function") is None else child(found, "function", where)
    function: Function = read_function(holder, where)
    if isinstance(function, Constant):
        names = []
    return Axis(tuple(names), function, direction(numbers(found, "axis", where, 3), where))


def _couplings(model: Element, coordinates: Mapping[str, Coordinate], file: str) -> tuple[Coupling, ...]:
    found = []
    for element in members(model.find("ConstraintSet")):
        if element.tag != "CoordinateCouplerConstraint" or not is_true(element, "isEnforced", True):
            continue
        where = f"{file}, constraint {element.get('name')!r}"
        name = _known(text(element, "dependent_coordinate_name", where), coordinates, "coordinate", where)
        leaders = tuple(text(element, "independent_coordinate_names", where).split())
        for leader in leaders:
            _known(leader, coordinates, "coordinate", where)
        function = read_function(child(element, "coupled_coordinates_function", where), where)
        if element.find("scale_factor") is not None:
            function = Scaled(function, numbers(element, "scale_factor", where, 1)[0])
        found.append(Coupling(leaders, function, name))
    return tuple(found)


def _surfaces(model: Element, bodies: set[str], file: str) -> dict[str, BodySurface]:
    found: dict[str, BodySurface] = {}
    ground = model.find("Ground")
    for body in [*([] if ground is None else [ground]), *members(model.find("BodySet"))]:
        for element in members(body.find("WrapObjectSet")):
            name = element.get("name", "")
            where = f"{file}, wrap surface {name!r}"
            shape = _shape(element, where)
            if shape is None:
                continue
            frame = placed(
                numbers(element, "translation", where, 3), numbers(element, "xyz_body_rotation", where, 3)
            )
            owner = "ground" if body.tag == "Ground" else _known(body.get("name", ""), bodies, "body", where)
            found[name] = BodySurface(name, owner, shape, frame)
    return found


def _shape(element: Element, where: str) -> WrapSurface | None:
    quadrant = (element.findtext("quadrant") or "all").strip().lower()
    if quadrant not in _QUADRANTS and quadrant != "all":
        raise ReadError(f"its quadrant is {quadrant!r}", where=where, remedy="Say all, x, -x, y, -y, z or -z")
    side = _QUADRANTS.get(quadrant)
    active = is_true(element, "active", True)
    if element.tag == "WrapCylinder":
        radius, length = numbers(element, "radius", where, 1)[0], numbers(element, "length", where, 1)[0]
        return WrapSurface("cylinder", (radius, radius, 0.5 * length), side, active).checked(where)
    if element.tag == "WrapSphere":
        radius = numbers(element, "radius", where, 1)[0]
        return WrapSurface("ellipsoid", (radius, radius, radius), side, active).checked(where)
    if element.tag == "WrapEllipsoid":
        a, b, c = numbers(element, "dimensions", where, 3)
        return WrapSurface("ellipsoid", (a, b, c), side, active).checked(where)
    return None  # told of where a muscle names it


def _muscles(
    model: Element,
    bodies: set[str],
    coordinates: Mapping[str, Coordinate],
    surfaces: Mapping[str, BodySurface],
    file: str,
) -> tuple[dict[str, OsimPath], tuple[str, ...]]:
    paths: dict[str, OsimPath] = {}
    notes: list[str] = []
    for element in members(model.find("ForceSet")):
        geometry = element.find("GeometryPath")
        if geometry is None:
            continue
        name = element.get("name", "")
        where = f"{file}, muscle {name!r}"
        points = tuple(
            _point(one, bodies, coordinates, where) for one in members(geometry.find("PathPointSet"))
        )
        if len(points) < 2:
            raise ReadError("its path has fewer than two points", where=where, remedy="Give it two or more")
        wraps = []
        for one in members(geometry.find("PathWrapSet")):
            surface = _last(text(one, "wrap_object", where))
            if surface not in surfaces:
                kind = model.find(f".//*[@name='{surface}']")
                what = "is nowhere in the file" if kind is None else f"is a {kind.tag}"
                notes.append(f"muscle {name!r} does not wrap round {surface!r}, which {what}")
                continue
            first, last = (int(v) for v in numbers(one, "range", where, 2))
            wraps.append(
                (surface, first - 1 if first >= 1 else 0, last - 1 if last >= 1 else len(points) - 1)
            )
        paths[name] = OsimPath(name, points, tuple(wraps))
    return paths, tuple(notes)


def _point(
    element: Element, bodies: set[str], coordinates: Mapping[str, Coordinate], where: str
) -> PathPoint:
    body = _known(_last(text(element, "socket_parent_frame", where)), {*bodies, "ground"}, "body", where)
    name = element.get("name", "")
    if element.tag == "MovingPathPoint":
        axes = ("x", "y", "z")
        moving = tuple(read_function(child(element, f"{a}_location", where), where) for a in axes)
        movers = tuple(
            _known(_last(text(element, f"socket_{a}_coordinate", where)), coordinates, "coordinate", where)
            for a in axes
        )
        return PathPoint(name, body, np.zeros(3), moving, movers)
    place = np.array(numbers(element, "location", where, 3))
    if element.tag == "PathPoint":
        return PathPoint(name, body, place)
    if element.tag == "ConditionalPathPoint":
        coordinate = _known(
            _last(text(element, "socket_coordinate", where)), coordinates, "coordinate", where
        )
        low, high = numbers(element, "range", where, 2)
        return PathPoint(name, body, place, condition=(coordinate, low, high))
    raise ReadError(f"a {element.tag} cannot be read", where=where, remedy="Make it a PathPoint")
