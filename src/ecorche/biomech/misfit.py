"""Recordings whose markers are nowhere near the model's in its best pose: refused, with the likeliest cause.

Poses, factors and marker places can be computed from them all the same, and mean nothing. What a recording of
the right subject leaves is some centimetres at most, with markers put on by eye too.
"""

from __future__ import annotations

import numpy as np

from ecorche.base.recordings import MarkerRecording
from ecorche.biomech.inverse_kinematics import MarkerMotion
from ecorche.biomech.model import MusculoskeletalModel
from ecorche.errors import MotionError

FAR_FROM_SCALED = 0.1
"""From the markers of a model as large as its subject [m], root mean square: beyond, it is not scaled."""
FAR_FROM_POSED = 0.2
"""From those of a model in its best poses [m], root mean square over all frames: beyond, it is not solved."""
TOGETHER = 0.5
"""Share of the error that all markers have in common, from which the recording as a whole is elsewhere."""


def require_near(
    model: MusculoskeletalModel, markers: MarkerRecording, motion: MarkerMotion, at_most: float
) -> None:
    """Refuse a solved recording whose markers are farther than so much from the model's.

    Args:
        model: In whose poses.
        markers: That were measured.
        motion: What `inverse_kinematics` made of them.
        at_most: Root mean square over all frames and markers [m].
    """
    rms = float(np.sqrt(np.mean(motion.rms**2)))
    if rms <= at_most:
        return
    worst = int(motion.rms.argmax())
    numbers = [[marker.name for marker in model.markers].index(name) for name in motion.markers]
    seen = markers.positions[worst, [markers.names.index(name) for name in motion.markers]]
    away = np.nanmean(seen - model.marker_positions(motion.q[worst])[numbers], axis=0)
    free = {coordinate.name for coordinate in model.coordinates if not coordinate.locked} & set(model.root)
    if not free and np.linalg.norm(away) > TOGETHER * motion.rms[worst]:
        lies, back = (f"({', '.join(f'{x:.2f}' for x in way.round(2) + 0.0)}) m" for way in (away, -away))
        remedy = (
            f"The model is fixed to the ground and the recording lies {lies} from it, in the model's axes:"
            f" move the recording by {back}, or let the model's root move"
        )
    else:
        remedy = (
            "It is of another subject or model, in other axes or another unit, or its markers carry other"
            " names than the model's: mend that, or choose another recording"
        )
    raise MotionError(
        f"its markers are {1e3 * rms:.0f} mm rms from the model's in its best pose, more than"
        f" {1e3 * at_most:.0f} mm",
        where=markers.source,
        remedy=remedy,
    )
