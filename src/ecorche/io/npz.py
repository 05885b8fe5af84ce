"""NPZ: everything over time as plain NumPy arrays, written frame by frame.

One mesh, the body or the one named in the options, gives

    points    (frames, vertices, 3) float32, metres, +Y up
    normals   (frames, vertices or corners, 3) float32; absent where the mesh has none
    times     (frames,) float64, seconds
    faces     (triangles, 3) int32; (faces, n) where all faces have n corners
    face_counts, face_indices   only where polygons differ in size; ``faces`` are then triangles

With ``mesh="*"`` every mesh is written, its arrays prefixed with its name: ``Body/points``,
``Body/faces``; ``times`` is shared. ``numpy.load`` opens the file without pickle; arrays are
stored uncompressed, so that they can be mapped into memory.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ecorche.base.files import whole_file
from ecorche.base.mesh import Mesh
from ecorche.body.frames import Frames
from ecorche.body.take import Take
from ecorche.io.formats import WriteOptions, Written
from ecorche.io.posed import chosen_mesh, frames_of

ALL_MESHES = "*"


def write_take(path: Path, take: Take, options: WriteOptions) -> Written:
    """Write points, normals, times and faces, whole or not at all, with one frame in memory."""
    frames = frames_of(take)
    character = take.character
    several = options.mesh == ALL_MESHES
    chosen = range(len(character.meshes)) if several else [chosen_mesh(character, options.mesh)]
    with whole_file(path) as partial, zipfile.ZipFile(partial, "w", zipfile.ZIP_STORED) as archive:
        _add(archive, "times", np.asarray(frames.times, np.float64))
        for number in chosen:
            mesh = character.meshes[number].mesh
            prefix = f"{mesh.name}/" if several else ""
            for name, values in _faces(mesh).items():
                _add(archive, prefix + name, values)
            for name in ("points", "normals"):
                _add_frames(archive, prefix + name, frames, name, number)
    if several or len(character.meshes) == 1:
        return Written()
    return Written((f'Mesh {character.meshes[chosen[0]].name!r} was written; mesh="*" writes all.',))


def _faces(mesh: Mesh) -> dict[str, npt.NDArray[np.int32]]:
    corners = np.unique(mesh.face_counts)
    if len(corners) == 1:
        return {"faces": mesh.face_indices.reshape(-1, int(corners[0]))}
    triangles = mesh.triangles() if len(corners) else np.zeros((0, 3), np.int32)
    return {"faces": triangles, "face_counts": mesh.face_counts, "face_indices": mesh.face_indices}


def _add(archive: zipfile.ZipFile, name: str, values: npt.NDArray[np.generic]) -> None:
    with archive.open(_entry(name), "w", force_zip64=True) as member:
        np.lib.format.write_array(member, np.ascontiguousarray(values), allow_pickle=False)


def _add_frames(archive: zipfile.ZipFile, name: str, frames: Frames, what: str, number: int) -> None:
    """One array of all frames, one frame after another; nothing where there are no normals."""
    values = _values(frames, what, number)
    first = next(values)
    if first is None:
        return
    with archive.open(_entry(name), "w", force_zip64=True) as member:
        head = io.BytesIO()
        shape = (len(frames), *first.shape)
        np.lib.format.write_array_header_1_0(head, {"descr": "<f4", "fortran_order": False, "shape": shape})
        member.write(head.getvalue())
        member.write(first.tobytes())
        for frame in values:
            assert frame is not None
            member.write(frame.tobytes())


def _values(frames: Frames, what: str, number: int) -> Iterator[npt.NDArray[np.float32] | None]:
    for index in range(len(frames)):
        values = getattr(frames[index], what)[number]
        yield None if values is None else np.ascontiguousarray(values, "<f4")


def _entry(name: str) -> zipfile.ZipInfo:
    """An entry without the time of day, so that equal content gives equal bytes."""
    return zipfile.ZipInfo(f"{name}.npy", date_time=(1980, 1, 1, 0, 0, 0))
