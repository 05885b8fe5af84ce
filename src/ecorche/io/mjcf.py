"""A rig as a MuJoCo model (MJCF): bodies on hinges, muscles on spatial tendons with what they wrap round.

MuJoCo tells a muscle's optimal fibre length and slack tendon by its range: with ``range = (r₀, r₁)`` and
``lengthrange = (l₀, l₁)`` they are ``(l₁ − l₀) / (r₁ − r₀)`` and ``l₀ − r₀`` times that. So both are written
exactly, over the range in which a fibre makes force. Spheres and cylinders have a site on the side on which
the path passes; it lies outside of them, as one inside would let the path run through. MuJoCo lets go of a
path once an end has got round to the other side of that site. So over a sphere between its ends, as a knee,
it stands a little ahead, the way the insertion goes round: the joint may then bend deeper, as in a squat.
A sphere that is told without a side has no site, and the shorter way is taken (`body.as_model`). Before 4.0
sites were compared otherwise, and more paths went the wrong way; without one all of 3.2 to 4.0 do the same.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from xml.etree import ElementTree

import numpy as np
import numpy.typing as npt

from ecorche.base.files import whole_file
from ecorche.base.rotations import normalise
from ecorche.body.as_model import ModelBody, ModelMuscle, ModelWrap, RigModel, axes_of

Floats = npt.NDArray[np.float64]

FIBRE_RANGE = (0.5, 1.6)
"""Of a fibre's length over the optimal one, between which it makes force, by MuJoCo's own curve."""
_AXES = {"x": "1 0 0", "y": "0 1 0", "z": "0 0 1"}
_OUTSIDE = 1.3
"""Where the site of a side stands, in radii."""
_AHEAD = np.radians(15.0)
"""How far ahead of the side at bind. From 10° to 20° do as well in people's walks, runs and jumps."""
_OPPOSITE = np.cos(np.radians(150.0))
"""Cosine between directions to both ends at bind, below which a sphere lies between them."""
_SITE = 0.004  # m, how large points of paths are drawn


def write_mjcf(path: str | os.PathLike[str], model: RigModel) -> None:
    """Write a rig's model as MJCF."""
    root = ElementTree.Element("mujoco", model=model.name or "rig")
    ElementTree.SubElement(root, "compiler", angle="radian", autolimits="true")
    ElementTree.SubElement(root, "option", gravity="0 -9.80665 0")
    world = ElementTree.SubElement(root, "worldbody")
    tendons, actuators = ElementTree.Element("tendon"), ElementTree.Element("actuator")
    elements: list[ElementTree.Element] = []
    for body in model.bodies:
        parent, at = (world, body.head) if body.parent < 0 else (elements[body.parent], body.head)
        if body.parent >= 0:
            at = body.head - model.bodies[body.parent].head
        elements.append(_body(parent, body, at))
    for muscle in model.muscles:
        _muscle(muscle, elements, tendons, actuators)
    root.extend([tendons, actuators])
    ElementTree.indent(root)
    with whole_file(path) as partial:
        ElementTree.ElementTree(root).write(partial, encoding="utf-8")


def _numbers(values: Iterable[float]) -> str:
    return " ".join(f"{float(value):.12g}" for value in values)


def _body(parent: ElementTree.Element, body: ModelBody, at: Floats) -> ElementTree.Element:
    element = ElementTree.SubElement(parent, "body", name=body.name, pos=_numbers(at))
    for axis in axes_of(body):
        kind = "slide" if axis.startswith("t") else "hinge"
        ElementTree.SubElement(element, "joint", name=f"{body.name}_{axis}", type=kind, axis=_AXES[axis[-1]])
    i = body.inertia
    ElementTree.SubElement(
        element,
        "inertial",
        pos=_numbers(body.centre),
        mass=f"{body.mass:.12g}",
        fullinertia=_numbers((i[0, 0], i[1, 1], i[2, 2], i[0, 1], i[0, 2], i[1, 2])),
    )
    return element


def _side(wrap: ModelWrap) -> Floats:
    """Where the site of a side stands, from the centre, unit, (3,)."""
    assert wrap.side is not None
    origin, insertion = normalise(wrap.ends)
    # elsewhere a path would be wrapped that should run straight
    if wrap.shape == "cylinder" or wrap.at_end or origin @ insertion > _OPPOSITE:
        return wrap.side
    return np.asarray(np.cos(_AHEAD) * wrap.side + np.sin(_AHEAD) * np.cross(wrap.axis, wrap.side))


def _muscle(
    muscle: ModelMuscle,
    elements: list[ElementTree.Element],
    tendons: ElementTree.Element,
    actuators: ElementTree.Element,
) -> None:
    tendon = ElementTree.SubElement(tendons, "spatial", name=muscle.name, width="0.004")
    for number, (body, place) in enumerate(zip(muscle.bodies, muscle.points, strict=True)):
        name = f"{muscle.name}_p{number + 1}"
        ElementTree.SubElement(elements[body], "site", name=name, pos=_numbers(place), size=f"{_SITE}")
        if number and muscle.wrap is not None:
            wrap, around = muscle.wrap, {"geom": f"{muscle.name}_wrap"}
            size = [wrap.radius] if wrap.shape == "sphere" else [wrap.radius, muscle.length]
            geom = {"name": around["geom"], "type": wrap.shape, "size": _numbers(size), "group": "4"}
            geom |= {"pos": _numbers(wrap.centre), "contype": "0", "conaffinity": "0", "mass": "0"}
            if wrap.shape == "cylinder":
                geom["zaxis"] = _numbers(wrap.axis)
            ElementTree.SubElement(elements[wrap.body], "geom", geom)
            if wrap.side is not None:
                around["sidesite"] = f"{muscle.name}_side"
                at = _numbers(wrap.centre + _OUTSIDE * wrap.radius * _side(wrap))
                site = {"name": around["sidesite"], "pos": at, "size": f"{_SITE}", "group": "4"}
                ElementTree.SubElement(elements[wrap.body], "site", site)
            ElementTree.SubElement(tendon, "geom", around)
        ElementTree.SubElement(tendon, "site", site=name)
    lengths = [muscle.slack_length + share * muscle.fibre_length for share in FIBRE_RANGE]
    told = {"name": muscle.name, "tendon": muscle.name, "force": f"{muscle.max_force:.12g}"}
    told |= {"range": _numbers(FIBRE_RANGE), "lengthrange": _numbers(lengths)}
    ElementTree.SubElement(actuators, "muscle", told)
