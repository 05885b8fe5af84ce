"""What to draw of a joint's limits in a pose: the spherical polygon, arcs of hinge and twist, the frame.

All places are in the world [m], about the joint where it is in that pose. The limits hang on what the joint
is judged against (`pose_joints`), and so does the anatomical frame.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecorche.base.rotations import (
    inverse_xyzw,
    matrix_from_xyzw,
    multiply_xyzw,
    normalise,
    rotate_xyzw,
    rotation_vector_from_xyzw,
    shortest_arc_xyzw,
    swing_twist_xyzw,
    xyzw_from_axis_angle,
    xyzw_from_rotation_vector,
)
from ecorche.skeleton.joint_angles import knee_angles, twist_angle
from ecorche.skeleton.joints import X_AXIS, Z_AXIS, BallAndSocket, Joint, Knee, Revolute, Swing
from ecorche.skeleton.pose_joints import PosableJoints
from ecorche.skeleton.skeleton import world_from_local
from ecorche.skeleton.spherical_polygon import SphericalPolygon

Floats = npt.NDArray[np.float64]

STEP = np.radians(2.5)
"""Sides and arcs are drawn by points this close [rad]."""
SPHERE = 0.6
"""The sphere's radius, as a part of the bone's length."""
TWIST_RADIUS = 0.35
"""The twist's arc about the limb, as a part of the sphere's radius."""
PIVOT = 0.94
"""A limb so much along its hinge (cosine) turns about itself: the arc then begins at the frame's x."""


@dataclass(frozen=True, eq=False)
class Arc:
    """A range of one angle.

    Attributes:
        angle: The parameter's name.
        degrees: Lowest, highest and current angle.
        centre: Shape (3,).
        points: From the lowest to the highest angle, shape (points, 3).
        zero, needle: Where the angle is zero, and where it is now, shape (3,) each.
        beyond: Whether the angle is beyond the range.
    """

    angle: str
    degrees: tuple[float, float, float]
    centre: Floats
    points: Floats
    zero: Floats
    needle: Floats
    beyond: bool


@dataclass(frozen=True, eq=False)
class LimitDrawing:
    """One joint's limits and how it stands to them.

    Attributes:
        joint: The rig's name.
        model: Name of its joint model.
        centre: The joint, shape (3,).
        radius: Of the sphere [m].
        frame: The anatomical frame's axes as unit columns, shape (3, 3).
        frame_xyzw: The same as a rotation.
        offset_xyzw: The canonical offset as a turn about axes of the world.
        canonical: Where the limb points in the canonical pose, a unit direction, shape (3,).
        limb: Where it points now, shape (3,); a hinge's is that of its bone.
        inside: Whether it may point there.
        corners: Of the spherical polygon on the sphere, (corners, 3); None for hinges.
        border: Its sides, closed, shape (points, 3); None for hinges.
        bend: The arc of a hinge's or knee's bending; None for the others.
        twist: The arc of the twist at the current swing; None for hinges.
    """

    joint: str
    model: str
    centre: Floats
    radius: float
    frame: Floats
    frame_xyzw: Floats
    offset_xyzw: Floats
    canonical: Floats
    limb: Floats
    inside: bool
    corners: Floats | None
    border: Floats | None
    bend: Arc | None
    twist: Arc | None


def limit_drawing(joints: PosableJoints, local: Floats, joint: str) -> LimitDrawing | None:
    """What to draw of a joint's limits in a pose (joints, 4, 4); None for a joint without a model."""
    number = joints.number(joint)
    model = joints.model(number)
    if model is None:
        return None
    base, rotation = joints.bases(local)[number], joints.rotations(local)[number]
    centre = world_from_local(joints.skeleton.parents, local)[number, :3, 3]
    radius = SPHERE * joints.bone_length(number)
    frame = multiply_xyzw(base, model.anatomical_frame_xyzw)
    _, excess = model.clamp(rotation)
    pen = _Pen(centre, radius, frame, model.in_frame(rotation))
    corners = border = bend = twist = None
    polygon = polygon_of(model)
    canonical, limb = Z_AXIS, rotate_xyzw(swing_twist_xyzw(pen.local)[0], Z_AXIS)
    if polygon is not None:
        corners, border = pen.on_sphere(polygon.corners), pen.on_sphere(sampled_border(polygon))
    if isinstance(model, Revolute):
        below = joints.segments(number)[1]
        # where the bone points with all angles zero, in the frame's own axes
        to_frame = multiply_xyzw(inverse_xyzw(model.anatomical_frame_xyzw), model.canonical_offset_xyzw)
        canonical = rotate_xyzw(to_frame, below)
        if not canonical.any() or abs(canonical[2]) > PIVOT:
            canonical = X_AXIS
        limb = rotate_xyzw(pen.local, canonical)
        bend = pen.hinge(model, canonical, bool(excess.twist > 0.0))
    elif isinstance(model, Knee):
        bend = pen.flexion(model, bool(excess.swing > 0.0))
    if not isinstance(model, Revolute):
        twist = pen.twist(model, bool(excess.twist > 0.0))
    return LimitDrawing(
        joint=joint,
        model=model.model,
        centre=centre,
        radius=radius,
        frame=matrix_from_xyzw(frame),
        frame_xyzw=frame,
        offset_xyzw=multiply_xyzw(multiply_xyzw(base, model.canonical_offset_xyzw), inverse_xyzw(base)),
        canonical=rotate_xyzw(frame, canonical),
        limb=rotate_xyzw(frame, limb),
        inside=not bool(excess.swing > 0.0),
        corners=corners,
        border=border,
        bend=bend,
        twist=twist,
    )


def polygon_of(model: Joint) -> SphericalPolygon | None:
    """The polygon of a joint that has one."""
    return model.polygon if isinstance(model, Swing | BallAndSocket) else None


def sampled_border(polygon: SphericalPolygon) -> Floats:
    """The sides of a polygon as unit directions (points, 3), from its first corner around and back to it."""
    points = []
    for a, b in zip(polygon.corners, np.roll(polygon.corners, -1, axis=0), strict=True):
        arc = rotation_vector_from_xyzw(shortest_arc_xyzw(a, b))
        count = int(np.ceil(np.linalg.norm(arc) / STEP)) or 1
        parts = np.arange(count) / count
        points.append(rotate_xyzw(xyzw_from_rotation_vector(parts[:, None] * arc), a))
    return np.concatenate([*points, polygon.corners[:1]])


def twist_limits(model: Joint, local: Floats) -> tuple[float, float]:
    """Lowest and highest twist [rad] with the swing of ``S · T`` (4,)."""
    match model:
        case Knee():
            low, high = model.twist_range(knee_angles(local)[0])
        case BallAndSocket():
            swing = rotation_vector_from_xyzw(swing_twist_xyzw(local)[0])
            low, high = model.twist.limits(swing[:2])
        case Swing():
            return -model.play, model.play
        case _:
            return 0.0, 0.0
    return float(low), float(high)


def parameter_ranges(model: Joint, rotation_xyzw: npt.ArrayLike) -> dict[str, tuple[float, float]]:
    """Between which angles [degrees] each of a joint's own parameters may be, at a rotation (4,).

    A swing's are the widest the polygon has anywhere; a twist's are those at the current swing.
    """
    twist = twist_limits(model, model.in_frame(rotation_xyzw))
    match model:
        case Revolute():
            ranges = {"angle": (model.low, model.high)}
        case Knee():
            ranges = {"flexion": (model.flexion_low, model.flexion_high), "twist": twist}
        case _:
            polygon = polygon_of(model)
            assert polygon is not None
            swings = rotation_vector_from_xyzw(shortest_arc_xyzw(Z_AXIS, sampled_border(polygon)))
            ranges = {
                "swing_x": (float(swings[:, 0].min()), float(swings[:, 0].max())),
                "swing_y": (float(swings[:, 1].min()), float(swings[:, 1].max())),
                "twist": twist,
            }
    return {
        name: (float(np.degrees(ranges[name][0])), float(np.degrees(ranges[name][1])))
        for name in model.parameter_names
    }


@dataclass(frozen=True, eq=False)
class _Pen:
    """Draws about a centre, in an anatomical frame (4,), of a joint at ``S · T`` (4,)."""

    centre: Floats
    radius: float
    frame: Floats
    local: Floats

    def on_sphere(self, directions: Floats) -> Floats:
        return self.centre + self.radius * rotate_xyzw(self.frame, directions)

    def hinge(self, model: Revolute, zero: Floats, beyond: bool) -> Arc:
        angle = float(twist_angle(swing_twist_xyzw(self.local)[1]))
        return self._arc("angle", (model.low, model.high, angle), Z_AXIS, zero, beyond)

    def flexion(self, model: Knee, beyond: bool) -> Arc:
        angle = float(knee_angles(self.local)[0])
        return self._arc("flexion", (model.flexion_low, model.flexion_high, angle), X_AXIS, Z_AXIS, beyond)

    def twist(self, model: Joint, beyond: bool) -> Arc:
        """About the limb where it points, from what is no twist in that swing."""
        swing, twist = swing_twist_xyzw(self.local)
        angle = float(twist_angle(twist))
        if isinstance(model, Knee):
            flexion, sideways, angle = (float(a) for a in knee_angles(self.local))
            tilt = xyzw_from_axis_angle(np.array([0.0, 1.0, 0.0]), sideways)
            swing = multiply_xyzw(xyzw_from_axis_angle(X_AXIS, flexion), tilt)
        carried = _Pen(
            self.centre + self.radius * rotate_xyzw(self.frame, rotate_xyzw(swing, Z_AXIS)),
            TWIST_RADIUS * self.radius,
            multiply_xyzw(self.frame, swing),
            self.local,
        )
        return carried._arc("twist", (*twist_limits(model, self.local), angle), Z_AXIS, X_AXIS, beyond)

    def _arc(
        self, name: str, angles: tuple[float, float, float], axis: Floats, zero: Floats, beyond: bool
    ) -> Arc:
        low, high, now = angles
        steps = np.linspace(low, high, int(np.ceil((high - low) / STEP)) + 1)
        at = np.concatenate([steps, [now]])
        places = self.on_sphere(rotate_xyzw(xyzw_from_axis_angle(axis, at), normalise(zero)))
        degrees = (float(np.degrees(low)), float(np.degrees(high)), float(np.degrees(now)))
        return Arc(name, degrees, self.centre, places[:-1], self.on_sphere(zero), places[-1], beyond)
