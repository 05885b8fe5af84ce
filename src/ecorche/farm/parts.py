"""Parts of a shot: ranges of its frames, baked apart and put together again without a seam.

A part is a file in the folder ``NAME.parts`` beside the shot's file ``NAME``: one line of JSON that says what
it is a part of, its frames as float32 one after another, and the SHA-256 of all that. It appears whole or not
at all. Parts are taken for the same bake where all that their frames depend on is the same to the bit, or,
from processors that round otherwise, so near that it comes from the same files.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ecorche.base.files import readable_write_errors, require_folder, whole_file
from ecorche.body.bake import Progress, bake, take_key
from ecorche.body.frames import Frame, Frames, PointSet
from ecorche.body.history import live_frames
from ecorche.body.spool import Remembering
from ecorche.body.take import Take
from ecorche.errors import EcorcheError, MotionError, ReadError
from ecorche.farm.versions import processor
from ecorche.version import __version__

SUFFIX = ".frames"
"""Of a part's file."""
_DIGEST = hashlib.sha256().digest_size
_NEAR = 1e-9
"""What comes from the same files differs by less on any processor, relative to the sum of sizes."""

Shapes = list[list[int] | None]


@dataclass(frozen=True)
class Origin:
    """What a part is a part of.

    Attributes:
        key: All that frames depend on, to the bit.
        said: What was said, which is the same on any processor.
        felt: Sums over what was computed from it, near each other on all processors.
        sizes: The sums of their absolute values.
        processor: What computed it.
    """

    key: str
    said: str
    felt: tuple[float, ...]
    sizes: tuple[float, ...]
    processor: str

    def near(self, other: Origin) -> bool:
        """Whether both come from the same files, on whatever processors."""
        return (
            self.said == other.said
            and len(self.felt) == len(other.felt)
            and bool(np.all(np.abs(np.subtract(self.felt, other.felt)) <= _NEAR * np.array(self.sizes)))
        )


def origin(take: Take) -> Origin:
    """What the frames of a take depend on."""
    live, rig = live_frames(take.frames), take.rig
    said = hashlib.sha256(f"{__version__} {take.samples} {len(take.frames or ())}".encode())
    for mesh in take.character.meshes:
        said.update(mesh.name.encode() + mesh.mesh.face_indices.tobytes())
    if rig is not None:
        said.update(rig.spec.model_dump_json(exclude={"notes"}).encode())
    arrays: list[npt.NDArray[np.floating]] = [mesh.mesh.points for mesh in take.character.meshes]
    if live is not None:
        methods = [type(skinning).__name__ for skinning in live.body.skinnings]
        said.update(repr((methods, live.dynamics.value, live.samples)).encode())
        arrays += [live.whole_motion.times, live.whole_motion.local]
        if live.activation is not None:
            arrays.append(live.activation)
    sums = [_sums(array) for array in arrays]
    return Origin(
        key=take_key(take),
        said=said.hexdigest(),
        felt=tuple(felt for felt, _ in sums),
        sizes=tuple(size for _, size in sums),
        processor=processor(),
    )


def _sums(array: npt.NDArray[np.floating]) -> tuple[float, float]:
    """A sum that changes with any of an array's values and their order, and that of the values' sizes."""
    flat = array.astype(np.float64).ravel()
    return float(np.sum(flat * (1.5 + np.sin(np.arange(flat.size))))), float(np.sum(np.abs(flat)) + 1.0)


@dataclass(frozen=True)
class Ranges:
    """How frames of a shot are numbered, and the moments that lie in them.

    Args:
        first: Number of the shot's first frame: that of `--frames`.
        moments: Frames of the take.
        samples: Moments a frame.
    """

    first: int
    moments: int
    samples: int

    @property
    def last(self) -> int:
        """Number of the shot's last frame."""
        return self.first + (self.moments - 1) // self.samples

    def moments_of(self, first: int, last: int) -> tuple[int, int]:
        """The first moment of some frames, and the one after their last."""
        if not self.first <= first <= last <= self.last:
            raise MotionError(
                f"frames {first}-{last} were asked for, but the shot has frames {self.first}-{self.last}",
                where="--part",
                remedy="Choose frames within that range",
            )
        start = self.samples * (first - self.first)
        return start, min(self.samples * (last + 1 - self.first), self.moments)

    def split(self, frames: int) -> list[tuple[int, int]]:
        """All frames in ranges of so many."""
        return [(a, min(a + frames - 1, self.last)) for a in range(self.first, self.last + 1, frames)]


def ranges_of(take: Take, kept: tuple[int, int] | None) -> Ranges:
    """The frames of a take of which some were kept."""
    return Ranges(0 if kept is None else kept[0], len(take.frames or ()), take.samples)


def parts_folder(target: Path) -> Path:
    """Where the parts of a shot's file stand."""
    return target.with_name(f"{target.name}.parts")


def part_path(target: Path, first: int, last: int) -> Path:
    """The file of a part."""
    return parts_folder(target) / f"{first:08d}-{last:08d}{SUFFIX}"


class _PartFrames:
    """Moments of a take from one to before another."""

    def __init__(self, frames: Frames, start: int, stop: int) -> None:
        self._frames, self._start = frames, start
        self.times = frames.times[start:stop]

    def __len__(self) -> int:
        return len(self.times)

    def __getitem__(self, index: int) -> Frame:
        return self._frames[self._start + index]

    def state(self) -> bytes | None:
        return self._frames.state() if isinstance(self._frames, Remembering) else None

    def go_on_from(self, state: bytes) -> None:
        assert isinstance(self._frames, Remembering)
        self._frames.go_on_from(state)


def bake_part(
    target: Path, take: Take, ranges: Ranges, first: int, last: int, progress: Progress | None = None
) -> bool:
    """Bake some frames of a take to their file; whether there was anything to do.

    Interrupted, it goes on where it was; a part that is already there is left as it is.
    """
    assert take.frames is not None
    start, stop = ranges.moments_of(first, last)
    require_folder(target)
    path, made = part_path(target, first, last), origin(take)
    if path.exists():
        found = read_part(path)
        if found is not None and found.origin.key == made.key:
            return False
    with readable_write_errors(path):
        path.parent.mkdir(exist_ok=True)
    part = replace(take, frames=_PartFrames(take.frames, start, stop))
    key = f"{made.key} {start} {stop}"
    bake(path, part, lambda where, baked: _write(where, baked, made, start), progress, key)
    return True


def _write(path: Path, take: Take, made: Origin, start: int) -> None:
    assert take.frames is not None
    digest, first = hashlib.sha256(), take.frames[0]
    shapes: Shapes = []
    for points, normals in zip(first.points, first.normals, strict=True):
        shapes += [list(points.shape), None if normals is None else list(normals.shape)]
    head = {"origin": asdict(made), "start": start, "count": len(take.frames), "shapes": shapes}
    with whole_file(path) as partial, partial.open("wb") as file:
        line = json.dumps(head).encode() + b"\n"
        file.write(line)
        digest.update(line)
        for index in range(len(take.frames)):
            frame = take.frames[index]
            for points, normals in zip(frame.points, frame.normals, strict=True):
                for array in (points, normals):
                    if array is not None:
                        data = np.ascontiguousarray(array, np.float32).tobytes()
                        file.write(data)
                        digest.update(data)
        file.write(digest.digest())


@dataclass(frozen=True, eq=False)
class Part:
    """A finished part on disk.

    Attributes:
        path: Its file.
        origin: What it is a part of.
        start: Its first moment.
        count: How many there are.
        shapes: Of points and normals, mesh after mesh.
        data: Where its frames begin in the file.
    """

    path: Path
    origin: Origin
    start: int
    count: int
    shapes: Shapes
    data: int

    @property
    def stop(self) -> int:
        """The moment after its last."""
        return self.start + self.count

    @property
    def frame_bytes(self) -> int:
        """Size of a frame."""
        return 4 * sum(int(np.prod(shape)) for shape in self.shapes if shape is not None)

    def frame(self, index: int, time: float) -> Frame:
        """One of its frames."""
        with self.path.open("rb") as file:
            file.seek(self.data + index * self.frame_bytes)
            flat = np.frombuffer(file.read(self.frame_bytes), np.float32)
        arrays: list[PointSet | None] = []
        place = 0
        for shape in self.shapes:
            size = 0 if shape is None else int(np.prod(shape))
            arrays.append(None if shape is None else flat[place : place + size].reshape(shape))
            place += size
        return Frame(time, tuple(a for a in arrays[0::2] if a is not None), tuple(arrays[1::2]))


def read_part(path: Path) -> Part | None:
    """A part's file, checked to the last byte; None for one that is damaged."""
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            line = file.readline()
            left = path.stat().st_size - _DIGEST - len(line)
            digest.update(line)
            while left > 0:
                block = file.read(min(left, 1 << 20))
                if not block:
                    return None
                digest.update(block)
                left -= len(block)
            if left < 0 or file.read() != digest.digest():
                return None
    except OSError as error:
        raise ReadError(f"cannot be read ({error.strerror or error})", where=path) from error
    head = json.loads(line)
    known = {field.name for field in fields(Origin)}
    told: dict[str, Any] = {
        name: tuple(v) if isinstance(v, list) else v for name, v in head["origin"].items()
    }
    if set(told) != known:
        return None
    return Part(path, Origin(**told), head["start"], head["count"], head["shapes"], len(line))


class _Stitched:
    """Frames from parts, in order."""

    def __init__(self, parts: Sequence[Part], times: npt.NDArray[np.float64]) -> None:
        self.times, self._of = times, list[Part]()
        for part in parts:
            self._of += [part] * (part.stop - len(self._of))

    def __len__(self) -> int:
        return len(self.times)

    def __getitem__(self, index: int) -> Frame:
        part = self._of[index]
        return part.frame(index - part.start, float(self.times[index]))


class MissingPartsError(EcorcheError):
    """Frames of a shot are not there yet."""

    exit_code = 1


def stitched(target: Path, take: Take, ranges: Ranges) -> tuple[Take, tuple[str, ...]]:
    """The take with its frames from parts, and what a person should know about them.

    Parts that are missing, damaged or of another bake are an error that tells which frames to bake.
    """
    assert take.frames is not None
    own, used, notes = origin(take), list[Part](), list[str]()
    others, damaged = 0, 0
    reached = 0
    for path in sorted(parts_folder(target).glob(f"*{SUFFIX}")):
        part = read_part(path)
        if part is None:
            damaged += 1
        elif not own.near(part.origin):
            others += 1
        else:
            used.append(part)
    chosen, gaps = list[Part](), list[tuple[int, int]]()
    for part in sorted(used, key=lambda part: (part.start, -part.stop)):
        if part.start > reached:
            gaps.append((reached, part.start))
        if part.stop > reached:
            chosen.append(part)
            reached = part.stop
    if reached < ranges.moments:
        gaps.append((reached, ranges.moments))
    if gaps:
        told = ", ".join(
            f"{ranges.first + a // ranges.samples}-{ranges.first + (b - 1) // ranges.samples}"
            for a, b in gaps
        )
        why = [f"{damaged} damaged"] * bool(damaged) + [f"{others} of another bake or version"] * bool(others)
        raise MissingPartsError(
            f"frames {told} are missing" + (f"; of the parts there are {' and '.join(why)}" if why else ""),
            where=parts_folder(target),
            remedy=f"Bake them with --part {told.split(', ')[0]}",
        )
    foreign = sorted({part.origin.processor for part in chosen if part.origin.key != own.key})
    if foreign:
        notes.append(
            f"parts were computed on {', '.join(foreign)}, others on {own.processor}: the same within 1e-6,"
            " not to the bit"
        )
    return replace(take, frames=_Stitched(chosen, take.frames.times)), tuple(notes)
