"""The right shoulder: where the upper arm points, and how far it turns about itself there.

The canonical pose has the arm raised sideways by 90° (thesis 3.3.6), so that the singular direction,
straight across the chest, is out of reach. In the anatomical frame, z is the arm, swing x takes it
forward, swing y upward, and twist is positive outward, zero with the elbow's bend pointing forward.

The arm's motion on the trunk, collar bone and shoulder blade included, because most rigs raise
the arm with this joint alone. Directions are given as on a globe: height above the horizontal,
and angle forward from straight sideways [degrees].

Corners in the principal planes are the norms of the American Academy of Orthopaedic Surgeons, Joint Motion
(1965): flexion 180, extension 60, abduction 180, horizontal flexion 135 and extension 45. The outline
between them is drawn by us after the shape of the sinus of Engin and Tuemer (1989), not digitised from it.
Twist at 90° of abduction, 70 inward and 90 outward, is that of Norkin and White, Measurement of Joint Motion
(4th ed.); the other keys are ours, spanning 135° to 160°, where Wang et al. (1998) report averages of
94° to 157° depending on direction. Raising the arm sideways to the top asks for outward twist, as in life.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ecorche.base.rotations import (
    inverse_xyzw,
    rotate_xyzw,
    rotation_vector_from_xyzw,
    shortest_arc_xyzw,
    xyzw_from_axis_angle,
)
from ecorche.skeleton.joints import Z_AXIS, BallAndSocket, Quaternion
from ecorche.skeleton.reach import anatomical_frame
from ecorche.skeleton.spherical_polygon import SphericalPolygon
from ecorche.skeleton.twist_field import TwistField

Floats = npt.NDArray[np.float64]

OUTLINE = (
    (-75, 135),  # hanging, a hand's breadth before the body
    (-45, 130),  # hand on the other hip
    (0, 135),  # straight across the chest
    (45, 125),
    (80, 115),
    (80, 180),  # upright, leaning over the head
    (80, -90),
    (45, -40),
    (0, -45),  # sideways and back
    (-30, -90),  # straight back
    (-45, -115),  # hand on the small of the back
    (-75, -135),
)
"""Height and forward angle of each corner."""

TWISTS = (
    (-90, 0, -80, 65),
    (-60, 90, -65, 85),
    (-60, -90, -105, 40),
    (-30, -90, -135, 0),
    (-45, 130, -45, 105),
    (0, 0, -70, 90),
    (0, 90, -40, 115),
    (0, 135, -40, 115),
    (0, -45, -75, 80),
    (45, 0, -30, 125),
    (45, 90, 10, 160),
    (45, 125, 10, 160),
    (45, -40, -35, 115),
    (88, 0, 35, 190),
)
"""Height, forward angle, lowest and highest twist at each key. Pure flexion by f twists by f here."""


def right_shoulder() -> BallAndSocket:
    """The right shoulder as a ball-and-socket joint."""
    frame = anatomical_frame(limb=(-1, 0, 0), x=(0, 1, 0))
    outline, keys = np.array(OUTLINE, np.float64), np.array(TWISTS, np.float64)
    swings = shortest_arc_xyzw(Z_AXIS, _anatomical_directions(keys[:, :2], frame))
    offset = xyzw_from_axis_angle(Z_AXIS, -0.5 * np.pi)
    return BallAndSocket(
        anatomical_frame_xyzw=frame,
        canonical_offset_xyzw=(float(offset[0]), float(offset[1]), float(offset[2]), float(offset[3])),
        polygon=SphericalPolygon(_anatomical_directions(outline, frame)),
        twist=TwistField(
            rotation_vector_from_xyzw(swings)[:, :2], np.radians(keys[:, 2]), np.radians(keys[:, 3])
        ),
    )


def _anatomical_directions(globe: Floats, frame: Quaternion) -> Floats:
    """Directions (n, 3) in the anatomical frame, of height and forward angle [degrees] (n, 2)."""
    height, forward = np.radians(globe).T
    world = np.stack(
        [-np.cos(height) * np.cos(forward), np.sin(height), np.cos(height) * np.sin(forward)], axis=1
    )
    return rotate_xyzw(inverse_xyzw(frame), world)
