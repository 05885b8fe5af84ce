"""Over which angles of a joint a muscle goes from rest to full work, told from the bind pose.

Ranges are ours, after the ranges of motion in Kendall (5th ed.): a muscle begins to work a little past the
default pose, in which a standing person rests, and works fully near the end of the everyday range. They are
told from the default pose, a character is bound in any other: what the bind pose has done of the way already
is taken off. At bind itself no muscle works either. Elbow extensors begin shortly before the arm is straight,
for past it there is nowhere to go.

A joint that bends under load works the muscles that would straighten it: they yield, and tense. Which load
is on a joint no pose tells, so the template names the directions each muscle commonly resists (`resists`),
with a weight, and they count like actions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import numpy.typing as npt

from ecorche.base.rotations import inverse_xyzw, multiply_xyzw, rotate_xyzw
from ecorche.muscles.activation import Action
from ecorche.muscles.template.directions import axis_of
from ecorche.muscles.template.muscle import DIGITS, TemplateMuscle
from ecorche.muscles.template.muscle import Action as Directed
from ecorche.muscles.template.segments import Segment
from ecorche.skeleton.default_pose import default_from_bind
from ecorche.skeleton.naming.recognise import Naming
from ecorche.skeleton.skeleton import Skeleton

Floats = npt.NDArray[np.float64]

FULL_AT: dict[str, dict[str, float]] = {
    "shoulder": {
        "flexion": 120.0,
        "abduction": 120.0,
        "extension": 50.0,
        "horizontal adduction": 100.0,
        "horizontal abduction": 60.0,
        "internal rotation": 80.0,
        "external rotation": 70.0,
    },
    "elbow": {"flexion": 120.0, "extension": 20.0, "pronation": 80.0, "supination": 80.0},
    "hip": {"flexion": 90.0},
    "knee": {"flexion": 100.0},
    "radiocarpal": {"flexion": 60.0, "extension": 50.0},
    "talocrural": {"plantarflexion": 40.0},
}
"""Degrees from the default pose at which a muscle works fully."""
FULL_ELSEWHERE = 40.0
FIRST_AT: dict[str, dict[str, float]] = {
    # a hanging arm is often turned in a little, and a turn in also counts as moving across the chest
    "shoulder": {"internal rotation": 20.0, "horizontal adduction": 30.0, "horizontal abduction": 30.0},
    "elbow": {"extension": -20.0},
}
"""Degrees from the default pose at which a muscle begins to work, where that is not `FIRST`."""
FIRST = 5.0
"""Degrees from bind, at least, and elsewhere from the default pose, at which a muscle begins to work."""
LEAST_SPAN = 20.0
MOST = 150.0


class WorkingRanges:
    """Turns the template's directions into axes and angles of one skeleton at bind."""

    def __init__(self, skeleton: Skeleton, naming: Naming, parts: Mapping[str, Segment]) -> None:
        self._skeleton, self._naming, self._parts = skeleton, naming, parts
        self._default_from_bind = default_from_bind(skeleton, naming.canonical)

    def actions(self, muscle: TemplateMuscle) -> tuple[Action, ...]:
        """What works a muscle on this skeleton; actions on joints it lacks are left out."""
        return self.of((*muscle.actions, *muscle.resists), muscle.side)

    def of(self, actions: Iterable[Directed], side: str) -> tuple[Action, ...]:
        """The same of any directions that a muscle of that side works in."""
        found = []
        for action in actions:
            joint = self._naming.joint(action.joint)
            if joint is None and action.joint[2:].startswith(DIGITS) and action.joint in self._parts:
                joint = self._parts[action.joint].joint  # the finger that stands in for all
            if joint is None:
                continue
            parent = self._above(joint)
            default = self._default_from_bind[joint]
            above = np.array([0.0, 0.0, 0.0, 1.0]) if parent < 0 else self._default_from_bind[parent]
            axis = np.array(axis_of(action.joint, action.direction, side))
            # how far bind is along already: the turn of the joint on its parent from default to bind
            q = multiply_xyzw(above, inverse_xyzw(default))
            done = float(np.degrees(2.0 * np.arctan2(q[:3] @ axis, q[3])))
            done = (done + 180.0) % 360.0 - 180.0
            base = action.joint.split("_", 1)[-1]
            first = FIRST_AT.get(base, {}).get(action.direction, FIRST)
            full = FULL_AT.get(base, {}).get(action.direction, FULL_ELSEWHERE)
            start = float(np.clip(first - done, FIRST, MOST - LEAST_SPAN))
            end = float(np.clip(full - done, start + LEAST_SPAN, MOST))
            x, y, z = rotate_xyzw(inverse_xyzw(above), axis)
            name = self._skeleton.names[joint]
            found.append(Action(name, (float(x), float(y), float(z)), (start, end), action.weight))
        return tuple(found)

    def _above(self, joint: int) -> int:
        above = int(self._skeleton.parents[joint])
        while above >= 0 and self._naming.canonical[above] is None:
            above = int(self._skeleton.parents[above])
        return above
