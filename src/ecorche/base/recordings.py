"""What a laboratory measures over time: markers, force plates and analogue channels.

Metres, newtons and seconds, in the laboratory's frame as the file has it. A gap is NaN, never zero.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from ecorche.base.names import suggestion
from ecorche.errors import MotionError

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class MarkerRecording:
    """Where markers were.

    Attributes:
        names: Of the markers.
        times: [s], (frames,).
        positions: [m], (frames, markers, 3); NaN where a marker was not seen.
        notes: What was mended on the way in.
        source: The file, for messages.
    """

    names: tuple[str, ...]
    times: Floats
    positions: Floats
    notes: tuple[str, ...] = field(default=())
    source: str = "markers"

    def __post_init__(self) -> None:
        if self.positions.shape != (len(self.times), len(self.names), 3):
            raise MotionError(
                f"positions of shape {self.positions.shape} for {len(self.times)} frames of "
                f"{len(self.names)} markers",
                where=self.source,
                remedy="Give (frames, markers, 3)",
            )

    @property
    def rate(self) -> float:
        """Frames per second [Hz], of the whole recording."""
        return rate_of(self.times)

    def gaps(self) -> dict[str, int]:
        """Frames in which a marker was not seen, of those that have any, by name."""
        missing = np.isnan(self.positions).any(axis=2).sum(axis=0)
        return {name: int(count) for name, count in zip(self.names, missing, strict=True) if count}

    def of(self, name: str) -> Floats:
        """One marker's positions [m], (frames, 3)."""
        if name not in self.names:
            raise MotionError(
                f"there is no marker {name!r}", where=self.source, remedy=suggestion(name, self.names)
            )
        return np.asarray(self.positions[:, self.names.index(name)])

    def between(self, start: float, end: float) -> MarkerRecording:
        """The frames from one time to another [s], both included."""
        inside = (self.times >= start - 1e-9) & (self.times <= end + 1e-9)
        if not inside.any():
            raise MotionError(
                f"no frame lies between {start:g} and {end:g} s",
                where=self.source,
                remedy=f"Choose times from {self.times[0]:g} to {self.times[-1]:g}",
            )
        return replace(self, times=self.times[inside], positions=self.positions[inside])

    def turned(self, rotation: npt.ArrayLike) -> MarkerRecording:
        """The same in another frame, by a rotation (3, 3); see `Y_UP_FROM_Z_UP`."""
        return replace(self, positions=self.positions @ np.asarray(rotation, np.float64).T)


@dataclass(frozen=True, eq=False)
class ForceRecording:
    """What one plate, or another thing outside, did to a body.

    Attributes:
        name: Of the plate or of the force.
        times: [s], (samples,).
        force: On the body [N], (samples, 3).
        point: Where it acted [m], (samples, 3).
        moment: A free moment besides [N m], (samples, 3).
        body: The body it acted on, where the file says so.
    """

    name: str
    times: Floats
    force: Floats
    point: Floats
    moment: Floats
    body: str | None = None

    def __post_init__(self) -> None:
        for what in ("force", "point", "moment"):
            if getattr(self, what).shape != (len(self.times), 3):
                raise MotionError(
                    f"a {what} of shape {getattr(self, what).shape} for {len(self.times)} samples",
                    where=f"force {self.name!r}",
                    remedy="Give (samples, 3)",
                )

    def turned(self, rotation: npt.ArrayLike) -> ForceRecording:
        """The same in another frame, by a rotation (3, 3)."""
        turn = np.asarray(rotation, np.float64).T
        return replace(self, force=self.force @ turn, point=self.point @ turn, moment=self.moment @ turn)


@dataclass(frozen=True, eq=False)
class AnalogRecording:
    """Channels of an amplifier, as electromyography.

    Attributes:
        names: Of the channels.
        units: Of each, as the file writes them.
        times: [s], (samples,).
        values: (samples, channels).
    """

    names: tuple[str, ...]
    units: tuple[str, ...]
    times: Floats
    values: Floats

    def of(self, name: str) -> Floats:
        """One channel's values, (samples,)."""
        if name not in self.names:
            raise MotionError(f"there is no channel {name!r}", remedy=suggestion(name, self.names))
        return np.asarray(self.values[:, self.names.index(name)])


Y_UP_FROM_Z_UP = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])
"""Takes a laboratory with +Z up, as most are, to OpenSim's +Y up."""


def rate_of(times: Floats) -> float:
    """Samples per second [Hz] of even times; uneven ones are refused."""
    steps = np.diff(times)
    if len(steps) == 0:
        raise MotionError("one sample has no rate", remedy="Give two or more")
    mean = float(times[-1] - times[0]) / len(steps)
    if not mean > 0.0 or np.abs(steps - mean).max() > 0.02 * mean:
        at = int(np.argmax(np.abs(steps - mean)))
        raise MotionError(
            f"times are not evenly spaced: {steps[at]:g} s after {times[at]:g} s, {mean:g} s on average",
            remedy="Resample it first",
        )
    return 1.0 / mean
