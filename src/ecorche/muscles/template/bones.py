"""Bones of the template as ellipsoids, for action lines to go round; right side, mirrored for the left.

Coordinates are those of `segments`. Measures are rounded from Gray's Anatomy (41st ed.): shafts, and the
heads and condyles at their ends, over which tendons bend. Of the trunk there is the rib cage alone. The
forearm's is the upper radius, taken to lie on the line that a forearm turns about: round it the biceps winds
its tendon when the hand is turned palm down.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ecorche.base.rotations import normalise
from ecorche.muscles.anatomy.bones import BoneEllipsoid
from ecorche.muscles.template.muscle import ARM, FOREARM, SHANK, THIGH, THORAX, Vector
from ecorche.muscles.template.segments import segments
from ecorche.skeleton.naming.recognise import Naming
from ecorche.skeleton.naming.vocabulary import mirrored
from ecorche.skeleton.skeleton import Skeleton


@dataclass(frozen=True)
class TemplateBone:
    """An ellipsoid with the axes of its segment.

    Attributes:
        name: Of the bone, without side.
        segment: Which carries it; of a paired bone the right one.
        centre: In segment coordinates.
        radii: Along the segment's axes, in its units.
    """

    name: str
    segment: str
    centre: Vector
    radii: Vector


BONES = (
    TemplateBone("humeral head", ARM, (0.0, 0.02, 0.0), (0.075, 0.075, 0.075)),
    TemplateBone("humerus", ARM, (0.0, 0.5, 0.0), (0.035, 0.5, 0.035)),
    TemplateBone("humeral condyles", ARM, (0.0, 0.98, 0.0), (0.09, 0.05, 0.05)),
    TemplateBone("radius", FOREARM, (0.0, 0.25, 0.0), (0.04, 0.27, 0.04)),
    TemplateBone("femur", THIGH, (0.0, 0.5, 0.0), (0.035, 0.5, 0.035)),
    TemplateBone("femoral condyles", THIGH, (0.0, 0.985, -0.01), (0.09, 0.055, 0.065)),
    TemplateBone("tibia", SHANK, (0.0, 0.5, 0.0), (0.04, 0.48, 0.04)),
    TemplateBone("rib cage", THORAX, (0.0, -0.2, 0.03), (0.66, 0.33, 0.16)),
)


def template_bones(skeleton: Skeleton, naming: Naming) -> tuple[BoneEllipsoid, ...]:
    """The bones of both sides at bind, of the segments that a skeleton has."""
    parts = segments(skeleton, naming)
    found = []
    for bone in BONES:
        paired = mirrored(bone.segment) != bone.segment
        sides = ((bone.segment, ", right"), (mirrored(bone.segment), ", left"))
        for segment, side in sides if paired else ((bone.segment, ""),):
            if segment not in parts:
                continue
            part = parts[segment]
            units = np.linalg.norm(part.frame[:3, :3], axis=0)
            axes = normalise(part.frame[:3, :3].T).T
            if np.linalg.det(axes) < 0.0:  # segments of the trunk count to the right
                axes = axes * np.array([-1.0, 1.0, 1.0])
            found.append(
                BoneEllipsoid(
                    bone.name + side,
                    part.joint,
                    part.point(bone.centre),
                    axes,
                    np.array(bone.radii) * units,
                    1.0,
                )
            )
    return tuple(found)
