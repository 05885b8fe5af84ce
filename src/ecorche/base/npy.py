"""The head of a stored NumPy array, read strictly.

NumPy's own reader of headers takes any Python literal and fails in as many ways on a damaged
file; this one knows exactly what NumPy writes for plain arrays, and nothing else.
"""

from __future__ import annotations

import math
import re
import struct
import zipfile
from dataclasses import dataclass

import numpy as np

ARCHIVE_FAILURES = (
    zipfile.BadZipFile,
    EOFError,
    OSError,
    NotImplementedError,
    RuntimeError,
    ValueError,
    struct.error,
)
"""What opening and reading a damaged ``.npz`` archive may raise."""

LONGEST_HEADER = 10 + 65535
"""Bytes that hold any header of NPY version 1."""

_HEADER = re.compile(
    rb"\x93NUMPY\x01\x00(?P<size>..)\{'descr': '(?P<kind>[<>|][A-Za-z]\d{0,9})', 'fortran_order':"
    rb" (?P<columns_first>True|False), 'shape': \((?P<shape>(\d{1,18}(, ?|(?=\))))*)\), \} *\n",
    re.DOTALL,
)


@dataclass(frozen=True)
class NpyHeader:
    """What the head of a stored array says.

    Attributes:
        start: Where the numbers begin [bytes].
        kind: NumPy's name of the element type, such as ``<f4``.
        columns_first: Whether the array is stored column after column.
        shape: Its shape.
    """

    start: int
    kind: str
    columns_first: bool
    shape: tuple[int, ...]

    @property
    def dtype(self) -> np.dtype[np.generic]:
        """The element type; ValueError where there is no such type or it has no size."""
        try:
            dtype = np.dtype(self.kind)
        except TypeError as error:
            raise ValueError(str(error)) from error
        if dtype.itemsize == 0:
            raise ValueError(f"{self.kind} elements have no size")
        return dtype

    @property
    def size(self) -> int:
        """How many bytes the numbers take; a Python number, which an absurd shape cannot overflow."""
        return math.prod(self.shape) * self.dtype.itemsize


def npy_header(data: bytes) -> NpyHeader:
    """Read the head of a stored array; ValueError where it is not as NumPy writes it."""
    found = _HEADER.match(data)
    if found is None or int.from_bytes(found["size"], "little") != found.end() - 10:
        raise ValueError("the head of the array is damaged")
    return NpyHeader(
        start=found.end(),
        kind=found["kind"].decode(),
        columns_first=found["columns_first"] == b"True",
        shape=tuple(int(length) for length in found["shape"].split(b",") if length.strip()),
    )
