"""One small arm twice, as MJCF and as .osim: two hinges, a slide that follows, a muscle and a ligament."""

from __future__ import annotations

from pathlib import Path
from typing import Any

GRAVITY = 9.80665
BODIES = {  # mass, centre of mass, inertia about it
    "upper": (2.0, (0.01, -0.15, 0.02), (0.02, 0.004, 0.018)),
    "fore": (1.3, (0.0, -0.12, 0.0), (0.011, 0.002, 0.012)),
    "cap": (0.4, (0.0, 0.01, 0.0), (0.001, 0.0012, 0.0011)),
}
HINGES = {"upper": (0.0, 0.0, 0.0), "fore": (0.0, -0.3, 0.0), "cap": (0.05, -0.28, 0.0)}
FOLLOWS = (0.02, -0.03, 0.01)  # of the cap's slide along x: constant, linear and quadratic in the elbow
MUSCLE = (("upper", (0.03, -0.02, 0.0)), ("upper", (0.04, -0.2, 0.01)), ("fore", (0.03, -0.06, 0.0)))
BAND = (("upper", (-0.02, -0.25, 0.0)), ("fore", (-0.015, -0.05, 0.01)))
MARKERS = {
    "elbow": ("upper", (0.0, -0.3, 0.03)),
    "wrist": ("fore", (0.01, -0.25, 0.0)),
    "cap": ("cap", (0.03, 0.0, 0.0)),
}


def _words(values: tuple[float, ...]) -> str:
    return " ".join(map(repr, values))


def _inner(body: str) -> str:
    mass, centre, inertia = BODIES[body]
    sites = [f'<site name="{name}" pos="{_words(at)}"/>' for name, (on, at) in MARKERS.items() if on == body]
    for label, path in (("m", MUSCLE), ("b", BAND)):
        sites += [
            f'<site name="{label}{k}" pos="{_words(at)}"/>' for k, (on, at) in enumerate(path) if on == body
        ]
    return f'<inertial mass="{mass}" pos="{_words(centre)}" diaginertia="{_words(inertia)}"/>' + "".join(
        sites
    )


def arm_mjcf(masses: float = 1.0, extra: str = "") -> str:
    """The arm as MJCF, y up; ``masses`` times as heavy, with more equalities if given."""
    text = f"""<mujoco><option gravity="0 {-GRAVITY} 0"/><compiler angle="radian"/><worldbody>
      <body name="upper"><joint name="shoulder" axis="0 0 1" range="-2 2"/>{_inner("upper")}
        <body name="fore" pos="{_words(HINGES["fore"])}">
          <joint name="elbow" axis="0 0 1" range="0 2.5"/>{_inner("fore")}</body>
        <body name="cap" pos="{_words(HINGES["cap"])}">
          <joint name="slide" type="slide" axis="1 0 0"/>{_inner("cap")}</body>
      </body></worldbody>
      <equality><joint joint1="slide" joint2="elbow" polycoef="{_words(FOLLOWS)} 0 0"/>{extra}</equality>
      <tendon><spatial name="flexor_tendon"><site site="m0"/><site site="m1"/><site site="m2"/></spatial>
        <spatial name="band" springlength="0.1"><site site="b0"/><site site="b1"/></spatial></tendon>
      <actuator><muscle name="flexor" tendon="flexor_tendon" force="800"
        lengthrange="0.2 0.4" range="0.5 1.5"/></actuator>
    </mujoco>"""
    for mass, _, inertia in BODIES.values():
        text = text.replace(f'mass="{mass}"', f'mass="{mass * masses}"')
        text = text.replace(_words(inertia), _words(tuple(masses * one for one in inertia)))
    return text


def write_arm_osim(opensim: Any, path: Path, masses: float = 1.0) -> None:
    """The same arm as OpenSim writes it."""
    model = opensim.Model()
    model.setName("arm")
    parts = {}
    for name, (mass, centre, inertia) in BODIES.items():
        moments = opensim.Inertia(*(masses * one for one in inertia))
        parts[name] = opensim.Body(name, masses * mass, opensim.Vec3(*centre), moments)
        model.addBody(parts[name])
    zero = opensim.Vec3(0)
    parents = {"upper": model.getGround(), "fore": parts["upper"], "cap": parts["upper"]}
    for body, coordinate in (("upper", "shoulder"), ("fore", "elbow"), ("cap", "slide")):
        kind = opensim.SliderJoint if body == "cap" else opensim.PinJoint
        at = opensim.Vec3(*HINGES[body])
        joint = kind(f"{body}_joint", parents[body], at, zero, parts[body], zero, zero)
        joint.updCoordinate().setName(coordinate)
        joint.updCoordinate().setDefaultClamped(body != "cap")
        joint.updCoordinate().setRangeMin(0.0 if body == "fore" else -2.0)
        joint.updCoordinate().setRangeMax(2.5 if body == "fore" else 2.0)
        model.addJoint(joint)
    coupler = opensim.CoordinateCouplerConstraint()
    coupler.setName("cap_follows")
    names = opensim.ArrayStr()
    names.append("elbow")
    coupler.setIndependentCoordinateNames(names)
    coupler.setDependentCoordinateName("slide")
    constant, linear, square = FOLLOWS
    coupler.setFunction(
        opensim.PolynomialFunction(opensim.Vector.createFromMat(_array(square, linear, constant)))
    )
    model.addConstraint(coupler)
    muscle = opensim.Thelen2003Muscle("flexor", 800.0, 0.2, 0.1, 0.1)
    band = opensim.Ligament()
    band.setName("band")
    band.setRestingLength(0.1)
    for force, path_points in ((muscle, MUSCLE), (band, BAND)):
        route = force.updGeometryPath()
        for k, (body, at) in enumerate(path_points):
            route.appendNewPathPoint(f"{force.getName()}{k}", parts[body], opensim.Vec3(*at))
        model.addForce(force)
    for name, (body, at) in MARKERS.items():
        model.addMarker(opensim.Marker(name, parts[body], opensim.Vec3(*at)))
    model.finalizeConnections()
    model.printToXML(str(path))


def _array(*values: float) -> Any:
    import numpy as np

    return np.array(values)
