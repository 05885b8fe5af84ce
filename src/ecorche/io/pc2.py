"""PC2 point caches: the points of one mesh a frame, for modifiers that replace a mesh's motion.

The file is little-endian: "POINTCACHE2\\0", version (1), number of points, start frame, frames a
sample (float32), number of samples, then points as float32. There is no unit, no axis and no
time in it: we write metres, +Y up, sample 0 at frame 0, one sample a frame of the take. Which
frame rate that is, the writer's notes say.
"""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ecorche.base.checks import require_finite
from ecorche.base.files import require_file, whole_file
from ecorche.body.frames import Frame
from ecorche.body.take import Take
from ecorche.errors import EcorcheError, ReadError
from ecorche.io.formats import WriteOptions, Written
from ecorche.io.posed import chosen_mesh, frames_of, rate_of

HEADER = struct.Struct("<12siiffi")
MAGIC = b"POINTCACHE2\0"


def write_take(path: Path, take: Take, options: WriteOptions) -> Written:
    """Write the points of one mesh, frame by frame, whole or not at all."""
    frames = frames_of(take)
    number = chosen_mesh(take.character, options.mesh)
    mesh = take.character.meshes[number].mesh
    rate, even = rate_of(frames.times)
    rate /= take.samples
    with whole_file(path) as partial, partial.open("wb") as file:
        file.write(HEADER.pack(MAGIC, 1, mesh.vertex_count, 0.0, 1.0 / take.samples, len(frames)))
        for index in range(len(frames)):
            file.write(np.ascontiguousarray(frames[index].points[number], "<f4").data)
    notes = [f"PC2 holds no time: play mesh {mesh.name!r} at {rate:.6g} frames a second."]
    if not even:
        notes.append("The frames are not evenly spaced in time, which PC2 cannot say: resample them first.")
    if len(take.character.meshes) > 1:
        notes.append(f"PC2 holds one mesh: {mesh.name!r} was written.")
    return Written(tuple(notes))


class PointCache:
    """The frames of a PC2 file, read from disk one at a time; they have no normals.

    Args:
        path: The file.
        rate: Frames per second, which the file does not say.
    """

    def __init__(self, path: str | Path, rate: float = 24.0) -> None:
        self.path = require_file(path)
        if not (np.isfinite(rate) and rate > 0.0):
            raise EcorcheError(f"{rate} frames a second are no rate", where=self.path, remedy="Give 24 or so")
        with self.path.open("rb") as file:
            head = file.read(HEADER.size)
        size = self.path.stat().st_size
        if len(head) < HEADER.size or not head.startswith(MAGIC):
            raise ReadError("does not begin as a PC2 file does", where=self.path, remedy="Give a PC2 file")
        _, version, points, start, step, samples = HEADER.unpack(head)
        if version != 1:
            raise ReadError(f"is of PC2 version {version}; only 1 is known", where=self.path)
        if points < 0 or samples < 1 or size != HEADER.size + 12 * points * samples:
            raise ReadError(
                f"promises {samples} samples of {points} points, which its {size} bytes do not hold",
                where=self.path,
                remedy="The file is damaged or incomplete: write it again",
            )
        if not (np.isfinite([start, step]).all() and step > 0.0):
            raise ReadError(f"starts at frame {start} with {step} frames a sample", where=self.path)
        self.point_count = int(points)
        self.times: npt.NDArray[np.float64] = (start + step * np.arange(samples)) / rate

    def __len__(self) -> int:
        return len(self.times)

    def __getitem__(self, index: int) -> Frame:
        index = range(len(self))[index]
        with self.path.open("rb") as file:
            file.seek(HEADER.size + 12 * self.point_count * index)
            data = file.read(12 * self.point_count)
        points = np.frombuffer(data, "<f4").astype(np.float32).reshape(-1, 3)
        require_finite(points, f"in sample {index}, the position of vertex", self.path, ReadError)
        return Frame(float(self.times[index]), (points,), (None,))


def read_frames(path: str | Path, rate: float = 24.0) -> PointCache:
    """The frames of a PC2 file at a given frame rate."""
    return PointCache(path, rate)
