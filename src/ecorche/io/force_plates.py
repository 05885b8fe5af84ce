"""Force plates of types 1 to 4: from their channels to force, point and moment in the laboratory's frame.

The types are those of the C3D format:

| type | channels |
|---|---|
| 1 | Fx Fy Fz, point x and y, free moment |
| 2 | Fx Fy Fz Mx My Mz, about an origin below the surface |
| 3 | Fx12 Fx34 Fy14 Fy23 Fz1 Fz2 Fz3 Fz4 of four corner sensors |
| 4 | six channels that a 6 × 6 matrix makes into those of type 2 |

A plate's axes come from its corners: x from the second to the first, y from the fourth to the first, z
away from x and y, mostly down. Channels are taken to hold what the plate does to the person, as files of the
common makers do. A file's own range of frames for zeroing is not applied: files that name one are mostly
zeroed already. Where a plate is pressed with less than `LEAST` its point is the middle of the surface, and
the moment is about that: the same wrench, without a division by nearly nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecorche.base.recordings import ForceRecording
from ecorche.errors import ReadError

Floats = npt.NDArray[np.float64]

LEAST = 10.0
"""Force across the surface [N] below which there is no point of application."""


@dataclass(frozen=True, eq=False)
class Plate:
    """Where a plate is and how it is read.

    Attributes:
        name: For messages.
        kind: Its type, 1 to 4.
        corners: In the laboratory [m], (4, 3): the quadrants (+x, +y), (−x, +y), (−x, −y), (+x, −y).
        origin: Type 1: unused. Types 2 and 4: from the transducer's origin to the middle of the surface, in
            the plate's frame [m]. Type 3: half the distances of the sensors along x and y, and their height
            [m].
        calibration: Of type 4, (6, 6).
    """

    name: str
    kind: int
    corners: Floats
    origin: Floats
    calibration: Floats | None = None

    def axes(self) -> Floats:
        """``lab_from_plate``, (3, 3)."""
        one, two, three, four = self.corners
        x = (one + four) - (two + three)
        y = (one + two) - (three + four)
        z = np.cross(x, y)
        if not np.isfinite(self.corners).all() or not np.linalg.norm(z) > 1e-9:
            raise ReadError(
                "its corners span no surface", where=self.name, remedy="Measure the corners and mend the file"
            )
        x, z = x / np.linalg.norm(x), z / np.linalg.norm(z)
        return np.stack([x, np.cross(z, x), z], axis=1)


def plate_forces(plate: Plate, channels: Floats, times: Floats) -> ForceRecording:
    """What a plate did to the person, from its channels [N, N m, m], (samples, channels)."""
    reader, count = _READERS.get(plate.kind, (None, 0))
    if reader is None:
        raise ReadError(
            f"is of type {plate.kind}", where=plate.name, remedy="Types 1, 2, 3 and 4 can be read"
        )
    if channels.shape[1] != count:
        raise ReadError(
            f"of type {plate.kind} has {channels.shape[1]} channels, not {count}",
            where=plate.name,
            remedy="Mend FORCE_PLATFORM:CHANNEL",
        )
    force, moment = reader(plate, channels)  # about the middle of the surface, in the plate's frame
    pressed = np.abs(force[:, 2]) >= LEAST
    down = np.where(pressed, force[:, 2], 1.0)
    point = np.zeros_like(force)
    point[:, 0] = np.where(pressed, -moment[:, 1] / down, 0.0)
    point[:, 1] = np.where(pressed, moment[:, 0] / down, 0.0)
    free = moment - np.cross(point, force)
    turn = plate.axes().T
    return ForceRecording(
        plate.name, times, force @ turn, point @ turn + plate.corners.mean(axis=0), free @ turn
    )


def _first(plate: Plate, channels: Floats) -> tuple[Floats, Floats]:
    del plate
    force = channels[:, :3]
    point = np.column_stack([channels[:, 3:5], np.zeros(len(channels))])
    free = np.zeros_like(force)
    free[:, 2] = channels[:, 5]
    return force, free + np.cross(point, force)


def _second(plate: Plate, channels: Floats) -> tuple[Floats, Floats]:
    force, moment = channels[:, :3], channels[:, 3:]
    # z points away from the surface's upper side, so the surface lies at minus z of the transducer; some
    # files hold the way from the surface to the transducer instead
    to_surface = plate.origin if plate.origin[2] <= 0.0 else -plate.origin
    return force, moment - np.cross(to_surface, force)


def _third(plate: Plate, channels: Floats) -> tuple[Floats, Floats]:
    fx12, fx34, fy14, fy23, fz1, fz2, fz3, fz4 = channels.T
    a, b, height = plate.origin.tolist()
    force = np.column_stack([fx12 + fx34, fy14 + fy23, fz1 + fz2 + fz3 + fz4])
    moment = np.column_stack(
        [
            b * (fz1 + fz2 - fz3 - fz4),
            a * (-fz1 + fz2 + fz3 - fz4),
            b * (fx34 - fx12) + a * (fy14 - fy23),
        ]
    )
    to_surface = np.array([0.0, 0.0, -abs(height)])
    return force, moment - np.cross(to_surface, force)


def _fourth(plate: Plate, channels: Floats) -> tuple[Floats, Floats]:
    if plate.calibration is None or plate.calibration.shape != (6, 6):
        raise ReadError(
            "of type 4 has no calibration of 6 × 6", where=plate.name, remedy="Add FORCE_PLATFORM:CAL_MATRIX"
        )
    return _second(plate, channels @ plate.calibration.T)


_READERS: dict[int, tuple[Callable[[Plate, Floats], tuple[Floats, Floats]] | None, int]] = {
    1: (_first, 6),
    2: (_second, 6),
    3: (_third, 8),
    4: (_fourth, 6),
}
