"""NPZ: everything over time as plain NumPy arrays, written frame by frame.

One mesh, the body or the one named in the options, gives

    points    (frames, vertices, 3) float32, metres, +Y up
    normals   (frames, vertices or corners, 3) float32; absent where the mesh has none
    tangents  (frames, corners, 4) float32, where asked for: x, y, z and the bitangent's sign
    times     (frames,) float64, seconds
    faces     (triangles, 3) int32; (faces, n) where all faces have n corners
    face_counts, face_indices   only where polygons differ in size; ``faces`` are then triangles

Meshes under a scope, such as muscles, are written too, prefixed: ``Muscles/biceps/points``.
With ``mesh="*"`` every mesh is written, its arrays prefixed with its name: ``Body/points``,
``Body/faces``; ``times`` is shared. ``numpy.load`` opens the file without pickle; arrays are
stored uncompressed, so that they can be mapped into memory.
"""

from __future__ import annotations

import io
import itertools
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ecorche.base.checks import require_finite
from ecorche.base.files import require_file, whole_file
from ecorche.base.mesh import Mesh
from ecorche.base.npy import ARCHIVE_FAILURES, LONGEST_HEADER, npy_header
from ecorche.body.frames import Frame, Frames, PointSet
from ecorche.body.take import Take
from ecorche.errors import ReadError
from ecorche.io.formats import WriteOptions, Written
from ecorche.io.posed import chosen_mesh, frames_of
from ecorche.skin.tangents import Tangents, no_tangents

ALL_MESHES = "*"


def write_take(path: Path, take: Take, options: WriteOptions) -> Written:
    """Write points, normals, times and faces, whole or not at all, with one frame in memory."""
    frames = frames_of(take)
    character = take.character
    several = options.mesh == ALL_MESHES
    notes: list[str] = []
    one = 0 if several else chosen_mesh(character, options.mesh)
    scoped = [n for n, mesh in enumerate(character.meshes) if mesh.scope is not None and n != one]
    chosen = list(range(len(character.meshes))) if several else [one, *scoped]
    with whole_file(path) as partial, zipfile.ZipFile(partial, "w", zipfile.ZIP_STORED) as archive:
        _add(archive, "times", np.asarray(frames.times, np.float64))
        for number in chosen:
            mesh = character.meshes[number].mesh
            scope = character.meshes[number].scope
            prefix = f"{mesh.name}/" if several or number != one else ""
            prefix = f"{scope}/{prefix}" if prefix and scope is not None else prefix
            for name, values in _faces(mesh).items():
                _add(archive, prefix + name, values)
            for name in ("points", "normals"):
                _add_frames(archive, prefix + name, (getattr(f, name)[number] for f in _each(frames)), frames)
            if options.tangents:
                _add_tangents(archive, f"{prefix}tangents", mesh, frames, number, notes)
    if not several and len(character.meshes) > len(chosen):
        notes.append(
            f'Mesh {character.meshes[chosen[0]].name!r} was written; the name "*" instead writes all.'
        )
    return Written(tuple(notes))


def _faces(mesh: Mesh) -> dict[str, npt.NDArray[np.int32]]:
    corners = np.unique(mesh.face_counts)
    if len(corners) == 1:
        return {"faces": mesh.face_indices.reshape(-1, int(corners[0]))}
    triangles = mesh.triangles() if len(corners) else np.zeros((0, 3), np.int32)
    return {"faces": triangles, "face_counts": mesh.face_counts, "face_indices": mesh.face_indices}


def _add(archive: zipfile.ZipFile, name: str, values: npt.NDArray[np.generic]) -> None:
    with archive.open(_entry(name), "w", force_zip64=True) as member:
        np.lib.format.write_array(member, np.ascontiguousarray(values), allow_pickle=False)


def _add_frames(
    archive: zipfile.ZipFile, name: str, values: Iterator[PointSet | None], frames: Frames
) -> None:
    """One array of all frames, one frame after another; nothing where there are no values."""
    first = next(values)
    if first is None:
        return
    with archive.open(_entry(name), "w", force_zip64=True) as member:
        head = io.BytesIO()
        shape = (len(frames), *first.shape)
        np.lib.format.write_array_header_1_0(head, {"descr": "<f4", "fortran_order": False, "shape": shape})
        member.write(head.getvalue())
        for frame in itertools.chain([first], values):
            assert frame is not None
            member.write(np.ascontiguousarray(frame, "<f4").tobytes())


def _add_tangents(
    archive: zipfile.ZipFile, name: str, mesh: Mesh, frames: Frames, number: int, notes: list[str]
) -> None:
    reason = no_tangents(mesh, frames[0].normals[number] is not None)
    if reason is not None:
        notes.append(f"Mesh {mesh.name!r} is written without tangents: {reason}.")
        return
    maker = Tangents(mesh)

    def values() -> Iterator[PointSet]:
        for frame in _each(frames):
            normals = frame.normals[number]
            assert normals is not None
            yield maker.apply(frame.points[number], normals)

    _add_frames(archive, name, values(), frames)


def _each(frames: Frames) -> Iterator[Frame]:
    return (frames[index] for index in range(len(frames)))


def _entry(name: str) -> zipfile.ZipInfo:
    """An entry without the time of day, so that equal content gives equal bytes."""
    return zipfile.ZipInfo(f"{name}.npy", date_time=(1980, 1, 1, 0, 0, 0))


class ArrayFrames:
    """The frames of an NPZ file that holds one mesh, mapped from disk."""

    def __init__(self, path: str | Path) -> None:
        self.path = require_file(path)
        try:
            arrays = _mapped_arrays(self.path)
        except ARCHIVE_FAILURES as error:
            raise ReadError(
                f"is not an NPZ file that can be read ({error})",
                where=self.path,
                remedy="The file is damaged or incomplete: write it again",
            ) from error
        for name in ("times", "points", "faces"):
            if name not in arrays:
                raise ReadError(
                    f"has no array {name!r}",
                    where=self.path,
                    remedy="Write it with one mesh, points and times",
                )
        self.times = np.asarray(arrays["times"], np.float64)
        self._points, self._normals = arrays["points"], arrays.get("normals")
        self.faces = np.asarray(arrays["faces"])
        shapes = {name: values.shape for name, values in arrays.items()}
        frames = len(self.times) if self.times.ndim == 1 else -1
        if self._points.shape != (frames, *self._points.shape[1:2], 3) or frames < 1:
            raise ReadError(f"its arrays do not fit together: {shapes}", where=self.path)
        if self._normals is not None and (self._normals.ndim != 3 or len(self._normals) != frames):
            raise ReadError(f"its arrays do not fit together: {shapes}", where=self.path)
        require_finite(self.times, "the time of frame", self.path, ReadError)

    def __len__(self) -> int:
        return len(self.times)

    def __getitem__(self, index: int) -> Frame:
        index = range(len(self))[index]
        points = np.asarray(self._points[index], np.float32)
        require_finite(points, f"in frame {index}, the position of vertex", self.path, ReadError)
        normals = None if self._normals is None else np.asarray(self._normals[index], np.float32)
        return Frame(float(self.times[index]), (points,), (normals,))


def read_frames(path: str | Path) -> ArrayFrames:
    """The frames of an NPZ file as we write it for one mesh."""
    return ArrayFrames(path)


def _mapped_arrays(path: Path) -> dict[str, npt.NDArray[np.generic]]:
    """The arrays of an uncompressed NPZ file, mapped from disk, not read."""
    size = path.stat().st_size
    arrays: dict[str, npt.NDArray[np.generic]] = {}
    with zipfile.ZipFile(path) as archive, path.open("rb") as file:
        for entry in archive.infolist():
            if entry.compress_type != zipfile.ZIP_STORED or entry.flag_bits & 1:
                raise ValueError(f"{entry.filename} is compressed or encrypted")
            file.seek(entry.header_offset + 26)
            name_size, extra_size = (int.from_bytes(file.read(2), "little") for _ in range(2))
            file.seek(entry.header_offset + 30 + name_size + extra_size)
            offset = file.tell()
            header = npy_header(file.read(LONGEST_HEADER))
            if header.kind[1] not in "fiu" or header.columns_first:
                raise ValueError(f"{entry.filename} holds {header.kind}, not plain numbers in rows")
            if offset + header.start + header.size > size:
                raise ValueError(f"{entry.filename} promises {header.shape}, more than the file holds")
            name = entry.filename.removesuffix(".npy")
            arrays[name] = (
                np.memmap(path, header.dtype, "r", offset + header.start, header.shape)
                if header.size
                else np.zeros(header.shape, header.dtype)
            )
    return arrays
