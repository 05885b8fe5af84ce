"""The arrays file beside a rig file: per-vertex numbers, as a NumPy ``.npz`` without pickles.

Same arrays, same bytes, anywhere: nothing is compressed (compressors differ between machines),
nothing is dated, numbers are little-endian. Any NumPy opens it with ``np.load``.
"""

from __future__ import annotations

import io
import math
import re
import struct
import zipfile
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from ecorche.errors import DocumentError

Arrays = Mapping[str, npt.NDArray[np.generic]]

LARGEST_FILE = 1 << 32
MOST_ARRAYS = 10_000
_KINDS = "fiubU"  # numbers, truth values and text: nothing that runs code when read
_HEADER = re.compile(
    rb"\x93NUMPY\x01\x00(?P<size>..)\{'descr': '(?P<kind>[<>|][A-Za-z]\d{0,9})', 'fortran_order':"
    rb" (?P<columns_first>True|False), 'shape': \((?P<shape>(\d{1,18}(, ?|(?=\))))*)\), \} *\n",
    re.DOTALL,
)
_ZIP_FAILURES = (
    zipfile.BadZipFile,
    EOFError,
    OSError,
    NotImplementedError,
    RuntimeError,
    ValueError,
    struct.error,
)
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
    except (
        zipfile.BadZipFile,
        EOFError,
        OSError,
        NotImplementedError,
        RuntimeError,
        ValueError,
        struct.error,
    ):
        raise _damaged(where) from None


def _array(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, where: str) -> npt.NDArray[np.generic]:
    if entry.compress_type != zipfile.ZIP_STORED:
        raise DocumentError("is compressed", where=where, remedy="Write it uncompressed, with np.savez")
    data = archive.read(entry)
    # NumPy's own reader of headers takes any Python literal and fails in as many ways
    header = _HEADER.match(data)
    start = header.end() if header else 0
    if header is None or int.from_bytes(header["size"], "little") != start - 10:
        raise _damaged(where)
    kind, columns_first = header["kind"].decode(), header["columns_first"] == b"True"
    if kind[1] not in _KINDS or columns_first:
        raise DocumentError(
            f"holds {kind!r}{' by columns' if columns_first else ''}",
            where=where,
            remedy="Write plain numbers, rows first",
        )
    try:
        dtype = np.dtype(kind)
    except TypeError:
        raise _damaged(where) from None
    shape = tuple(int(length) for length in header["shape"].split(b",") if length.strip())
    if math.prod(shape) * dtype.itemsize != len(data) - start or dtype.itemsize == 0:
        raise _damaged(where)
    values: npt.NDArray[np.generic] = np.frombuffer(data, dtype, math.prod(shape), start)
    return values.reshape(shape).astype(dtype.newbyteorder("="), copy=False)


def _damaged(where: object) -> DocumentError:
    return DocumentError(
        "is damaged or cut short", where=where, remedy="Restore it from version control or a backup"
    )
