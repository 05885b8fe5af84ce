"""Fewer muscles where nobody sees them: by distance, and by the time a frame may take.

A muscle that tenses lifts the skin over it by some millimetres. Seen from afar that is less than a pixel, and
then it need not be computed: its gain fades from 1 to 0 while what it does shrinks from two pixels to one.
Where a frame takes longer than it may, pixels count as larger, until it does not; where there is time to
spare, as smaller again. No gain changes faster than within `FADE` seconds, so nothing pops, whatever the
camera does.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ecorche.base.smooth_step import smooth_step
from ecorche.body.vertex_program import VertexProgram
from ecorche.errors import EcorcheError
from ecorche.skin.sliding import SATURATED
from ecorche.skin.sliding_groups import PUSH

Floats = npt.NDArray[np.float64]

PIXEL = 2.0 * np.tan(np.radians(45.0) / 2.0) / 1080.0
"""Angle of a pixel [rad] in a picture 1,080 high of a camera that sees 45°."""
FADE = 0.4
"""Seconds in which a muscle comes or goes."""
COARSEST = 64.0
"""Pixels count at most so many times as large."""
_EASING = 0.5  # how much of what is missing to the budget is made up for in one frame


def muscle_lift(program: VertexProgram) -> Floats:
    """How far each muscle lifts the skin when it is wholly tense [m], (muscles,)."""
    lift, body, first = np.zeros(program.muscle_count), program.body, program.spindle_count
    if body.muscles is not None:
        # a push is the share of the half-axis that is saturated at
        share = program.sliding.kept[:, PUSH].astype(np.float64) / SATURATED
        np.maximum.at(lift, program.sliding.muscles, share)
        lift[:first] *= body.muscles.largest_bulge - 1.0
    if body.lofts is not None:
        found = body.lofts.lofts
        half_axes = np.sqrt([shape.largest for shape in found.shapes])
        lift[first:] = half_axes * found.gains * ([muscle.largest_bulge - 1.0 for muscle in found.muscles])
    return lift


class MuscleBudget:
    """The gains of all muscles of a crowd, from frame to frame.

    Args:
        program: Of the character.
        pixel: Angle of a pixel [rad].
        seconds: How long a frame may take; None asks for nothing.

    Attributes:
        coarseness: How many times as large pixels count for the time's sake.
    """

    def __init__(self, program: VertexProgram, *, pixel: float = PIXEL, seconds: float | None = None) -> None:
        if not pixel > 0.0 or not (seconds is None or seconds > 0.0):
            raise EcorcheError(
                f"a budget of {seconds} s and pixels of {pixel} rad is none", remedy="Give positive numbers"
            )
        self._lift, self._pixel, self._seconds = muscle_lift(program), pixel, seconds
        self._gain: Floats | None = None
        self.coarseness = 1.0

    def wanted(self, distance: npt.ArrayLike) -> Floats:
        """How much of each muscle is to be shown so far from the camera [m] (n,), 0 to 1, (n, muscles)."""
        away = np.maximum(np.asarray(distance, np.float64), 1e-3)
        pixels = self._lift / (away[:, None] * self._pixel * self.coarseness)
        return smooth_step(pixels - 1.0)

    def begin_anew(self) -> None:
        """The next frame is another time or another view: nothing fades into it."""
        self._gain = None

    def step(self, distance: npt.ArrayLike, elapsed: float, taken: float | None = None) -> Floats:
        """The gains of the next frame, (n, muscles).

        Args:
            distance: Of each instance from the camera [m], (n,).
            elapsed: Seconds since the last frame.
            taken: Seconds that evaluating the last frame took; needed where the budget has a time.
        """
        away = np.asarray(distance, np.float64)
        for what, values in (("distance", away), ("time", np.array([elapsed, taken or 0.0]))):
            if not (np.isfinite(values).all() and (values >= 0.0).all()):
                raise EcorcheError(f"a {what} of {values.min():g} is none", remedy="Give numbers from 0 on")
        if self._seconds is not None and taken is not None:
            pace = (max(taken, 1e-9) / self._seconds) ** _EASING
            self.coarseness = float(np.clip(self.coarseness * pace, 1.0, COARSEST))
        wanted = self.wanted(away)
        if self._gain is None or self._gain.shape != wanted.shape:
            self._gain = wanted
        else:
            most = elapsed / FADE
            self._gain = self._gain + np.clip(wanted - self._gain, -most, most)
        return self._gain
