"""The arrays file beside a rig file: per-vertex numbers, as a NumPy ``.npz`` without pickles.

Same arrays, same bytes, anywhere: nothing is compressed (compressors differ between machines),
nothing is dated, numbers are little-endian. Any NumPy opens it with ``np.load``.
"""

from __future__ import annotations

import io
import math
import zipfile
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from ecorche.base.npy import ARCHIVE_FAILURES, npy_header
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
    except ARCHIVE_FAILURES:
        raise _damaged(where) from None


def _array(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, where: str) -> npt.NDArray[np.generic]:
    if entry.compress_type != zipfile.ZIP_STORED:
        raise DocumentError("is compressed", where=where, remedy="Write it uncompressed, with np.savez")
    data = archive.read(entry)
    try:
        header = npy_header(data)
        if header.kind[1] not in _KINDS or header.columns_first:
            raise DocumentError(
                f"holds {header.kind!r}{' by columns' if header.columns_first else ''}",
                where=where,
                remedy="Write plain numbers, rows first",
            )
        if header.size != len(data) - header.start:
            raise _damaged(where)
    except ValueError:
        raise _damaged(where) from None
    values: npt.NDArray[np.generic] = np.frombuffer(data, header.dtype, math.prod(header.shape), header.start)
    return values.reshape(header.shape).astype(header.dtype.newbyteorder("="), copy=False)


def _damaged(where: object) -> DocumentError:
    return DocumentError(
        "is damaged or cut short", where=where, remedy="Restore it from version control or a backup"
    )
