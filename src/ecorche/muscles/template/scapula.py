"""The virtual scapula: how a shoulder blade follows the arm on a rig that has none.

Inman, Saunders and Abbott (1944, J. Bone Joint Surg. 26:1) found that of every 15 degrees by which the arm
rises, 10 happen between humerus and scapula and 5 between scapula and trunk, after a setting phase in the
first 30 degrees where the scapula hardly moves. We take a third of the elevation beyond the setting phase,
and in it the cubic that starts at rest and meets that line in value and slope.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

SETTING_PHASE = np.radians(30.0)
SCAPULAR_SHARE = 1.0 / 3.0


def scapula_upward_rotation(elevation: npt.ArrayLike) -> Floats:
    """How far the scapula has turned upward on the trunk [rad] when the arm is raised by ``elevation`` [rad].

    Elevation is the angle between the hanging and the present direction of the upper arm, on the trunk, in
    any plane; below zero (the arm pressed to the body) the scapula rests. Any shape.
    """
    raised = np.maximum(np.asarray(elevation, np.float64), 0.0)
    u = np.minimum(raised / SETTING_PHASE, 1.0)
    setting = SETTING_PHASE * u * u * (2.0 - u)
    return np.asarray(SCAPULAR_SHARE * (setting + np.maximum(raised - SETTING_PHASE, 0.0)))
