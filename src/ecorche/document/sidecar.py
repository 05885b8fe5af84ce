"""The arrays file beside a rig file: per-vertex numbers, as a NumPy ``.npz`` without pickles.

Same arrays, same bytes, anywhere: nothing is compressed (compressors differ between machines),
nothing is dated, numbers are little-endian. Any NumPy opens it with ``np.load``.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from ecorche.errors import DocumentError

Arrays = Mapping[str, npt.NDArray[np.generic]]

LARGEST_FILE = 1 << 32
MOST_ARRAYS = 10_000
_KINDS = "fiubU"  # numbers, truth values and text: nothing that runs code when read
_NO_DATE = (1980, 1, 1, 0, 0, 0)


def arrays_to_bytes(arrays: Arrays) -> bytes:
    """The file's content, the arrays in order of their names."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_STORED) as archive:
        for name in sorted(arrays):
            array = np.ascontiguousarray(arrays[name])
            entry = zipfile.ZipInfo(f"{name}.npy", _NO_DATE)
            entry.create_system = 3  # else the writing machine's kind would show
            entry.external_attr = 0o644 << 16
            body = io.BytesIO()
            np.lib.format.write_array(
                body, array.astype(array.dtype.newbyteorder("<"), copy=False), (1, 0), allow_pickle=False
            )
            archive.writestr(entry, body.getvalue())
    return content.getvalue()


def arrays_from_bytes(content: bytes, where: object) -> dict[str, npt.NDArray[np.generic]]:
    """The arrays of a file's content, read-only."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            entries = archive.infolist()
            if len(entries) > MOST_ARRAYS:
                raise DocumentError(
                    f"holds {len(entries)} arrays; {MOST_ARRAYS} at most are read", where=where
                )
            return {
                entry.filename.removesuffix(".npy"): _array(archive, entry, f"{where}, {entry.filename}")
                for entry in entries
            }
    except (zipfile.BadZipFile, EOFError, OSError, NotImplementedError, RuntimeError, UnicodeError):
        raise _damaged(where) from None


def _array(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, where: str) -> npt.NDArray[np.generic]:
    if entry.compress_type != zipfile.ZIP_STORED:
        raise DocumentError("is compressed", where=where, remedy="Write it uncompressed, with np.savez")
    data = io.BytesIO(archive.read(entry))
    try:
        version = np.lib.format.read_magic(data)
        if version != (1, 0):
            raise ValueError
        shape, fortran_order, dtype = np.lib.format.read_array_header_1_0(data)
    except ValueError:
        raise _damaged(where) from None
    if dtype.kind not in _KINDS or fortran_order:
        raise DocumentError(
            f"holds {dtype} {'by columns' if fortran_order else ''}".strip(),
            where=where,
            remedy="Write plain numbers, rows first",
        )
    body = data.getbuffer()[data.tell() :]
    count = 1
    for length in shape:
        count *= length  # Python integers: a forged shape cannot overflow
    if count < 0 or count * dtype.itemsize != len(body):
        raise _damaged(where)
    return np.frombuffer(body, dtype, count).reshape(shape).astype(dtype.newbyteorder("="), copy=False)


def _damaged(where: object) -> DocumentError:
    return DocumentError(
        "is damaged or cut short", where=where, remedy="Restore it from version control or a backup"
    )
