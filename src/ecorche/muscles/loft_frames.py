"""Which way the sections of a muscle found in the skin face, along its root curve and in any pose.

At bind: the muscle's ``outward``, made perpendicular to the line from origin to insertion, is taken by the
smallest rotation to the tangent of each place; along a plane curve that is parallel transport, without steps.

In a pose the joint whose skin lies over it carries tangent and direction of bind along, and the smallest
rotation takes the carried tangent to that of the posed curve (as in `section_frames`). So a belly twists with
the limb it lies on, whatever joints its ends are on.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ecorche.base.rotations import normalise
from ecorche.errors import EcorcheError
from ecorche.muscles.lofted import LoftedMuscle
from ecorche.muscles.root_curves import root_curves
from ecorche.muscles.section_frames import turned

Floats = npt.NDArray[np.float64]


class SectionAxes(NamedTuple):
    """Places on a root curve and the axes of the sections there, each (..., 3).

    Attributes:
        points: On the curve [m].
        along: Unit tangent.
        out: Unit, towards the skin, perpendicular to it.
        side: ``along × out``.
    """

    points: Floats
    along: Floats
    out: Floats
    side: Floats


def bind_axes(muscle: LoftedMuscle, u: npt.ArrayLike) -> SectionAxes:
    """Root curve and section axes of a muscle at bind, at shares ``u`` (K,) of its length from the origin.

    In these axes its rings are told: a point ``(x, y)`` of a section is ``points + x out + y side``.
    """
    joints = [*muscle.joints, 0 if muscle.wrap is None else muscle.wrap.joint]
    curve = root_curves([muscle], max(joints) + 1).bind
    points, tangents = (value[0] for value in curve.at(np.asarray(u, np.float64)))
    out = directions_at_bind(muscle, tangents)
    return SectionAxes(points, tangents, out, np.cross(tangents, out))


def directions_at_bind(muscle: LoftedMuscle, tangents: Floats) -> Floats:
    """Unit directions towards the skin at bind (K, 3), where the root curve has the tangents (K, 3)."""
    chord = np.asarray(muscle.ends[1], np.float64) - muscle.ends[0]
    chord = chord / np.linalg.norm(chord)
    out = np.asarray(muscle.outward, np.float64)
    length = np.linalg.norm(out)
    out = out / length if length > 0.0 else out
    out = out - (out @ chord) * chord
    if not (np.isfinite(length) and np.linalg.norm(out) > 1e-3):
        raise EcorcheError(
            "its outward direction has no length or points along the muscle",
            where=f"muscle {muscle.name!r}",
            remedy="Choose one across it, such as from the bone to the skin",
        )
    # taken out twice: the first remainder of a nearly parallel direction is still a little oblique
    out = out / np.linalg.norm(out)
    out = out - (out @ chord) * chord
    out = out / np.linalg.norm(out)
    found = turned(np.broadcast_to(chord, tangents.shape), tangents, np.broadcast_to(out, tangents.shape))
    return normalise(found)


def posed_axes(
    muscle: LoftedMuscle, points: Floats, tangents: Floats, at_bind: Floats, turn: Floats
) -> SectionAxes:
    """Section axes in a pose where the root curve has points and tangents (K, 3).

    Args:
        muscle: The muscle.
        points: On its root curve [m], (K, 3).
        tangents: There, unit, (K, 3).
        at_bind: Tangents of the same places at bind, (K, 3).
        turn: Rotation of the joint whose skin lies over it, (3, 3).
    """
    carried = directions_at_bind(muscle, at_bind) @ turn.T
    out = normalise(turned(at_bind @ turn.T, tangents, carried))
    return SectionAxes(points, tangents, out, np.cross(tangents, out))
