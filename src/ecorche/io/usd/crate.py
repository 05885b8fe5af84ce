"""A look at a binary USD file before OpenUSD opens it, for the kinds of damage that would crash it.

Floating-point arrays with few distinct values are stored as a table and compressed indices into it.
OpenUSD (26.11) does not check those indices; a damaged one reads memory that is not there and ends
the process. So does a prim that lists a child twice. Here both are looked at. Whatever else may be
wrong with a file is left to OpenUSD, which refuses it in words. The layout follows OpenUSD's published
crate format.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator
from pathlib import Path

import lz4.block
import numpy as np
import numpy.typing as npt

from ecorche.errors import ReadError

MAGIC = b"PXR-USDC"
SIZES = {7: 2, 8: 4, 9: 8}
"""Crate type numbers of half, float and double, and their bytes."""

_TOKEN_VECTOR, _TIME_SAMPLES = 41, 46
_ARRAY, _INLINED, _COMPRESSED = 1 << 63, 1 << 62, 1 << 61
_PAYLOAD = (1 << 48) - 1


def require_sound(path: Path) -> None:
    """Refuse a binary file with damage that OpenUSD would not survive."""
    with path.open("rb") as file:
        if file.read(len(MAGIC)) != MAGIC:
            return
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            for value in _values(data):
                kind, offset = (value >> 48) & 0xFF, value & _PAYLOAD
                compressed = value & _ARRAY and value & _COMPRESSED
                if compressed and kind in SIZES and not _is_sound_table(data, offset, SIZES[kind]):
                    raise _damaged(path, "a compressed array that points outside its own table")
                if kind == _TOKEN_VECTOR and not _is_sound_list(data, offset):
                    raise _damaged(path, "a list of names in which one stands twice")


def _damaged(path: Path, what: str) -> ReadError:
    return ReadError(f"holds {what}", where=path, remedy="The file is damaged: export it again")


def _values(data: mmap.mmap) -> Iterator[int]:
    """Descriptions of all values that are stored apart, those of time samples too.

    A structure we cannot follow ends the search: then OpenUSD will not follow it either.
    """
    try:
        waiting = _field_values(data).tolist()
    except (struct.error, ValueError, lz4.block.LZ4BlockError, IndexError):
        return
    seen: set[int] = set()  # damaged time samples may lead back to themselves
    while waiting:
        value = waiting.pop()
        if value & _INLINED or value in seen:
            continue
        seen.add(value)
        if (value >> 48) & 0xFF == _TIME_SAMPLES:
            waiting.extend(_sampled_values(data, value & _PAYLOAD))
        else:
            yield value


def _field_values(data: mmap.mmap) -> npt.NDArray[np.uint64]:
    """The 64-bit value descriptions of all fields."""
    (contents,) = struct.unpack_from("<q", data, 16)
    (sections,) = struct.unpack_from("<Q", data, contents)
    for number in range(min(sections, 64)):
        name, start, _ = struct.unpack_from("<16sqq", data, contents + 8 + 32 * number)
        if name.rstrip(b"\0") == b"FIELDS":
            count, names = struct.unpack_from("<QQ", data, start)
            (packed,) = struct.unpack_from("<Q", data, start + 16 + names)
            at = start + 24 + names
            return np.frombuffer(_unpacked(data[at : at + packed]), np.uint64, count)
    raise ValueError("no fields")


def _sampled_values(data: mmap.mmap, offset: int) -> list[int]:
    """Value descriptions inside a time sample table: two jumps, then a count and the values."""
    try:
        (jump,) = struct.unpack_from("<q", data, offset)
        times = offset + jump
        (jump,) = struct.unpack_from("<q", data, times + 8)
        (count,) = struct.unpack_from("<Q", data, times + 8 + jump)
        return [int(v) for v in np.frombuffer(data, np.uint64, count, times + 16 + jump)]
    except (struct.error, ValueError):
        return []


def _is_sound_list(data: mmap.mmap, offset: int) -> bool:
    """Whether a list of names, such as those of a prim's children, has each but once."""
    try:
        (count,) = struct.unpack_from("<Q", data, offset)
        names = np.frombuffer(data, np.uint32, count, offset + 8)
    except (struct.error, ValueError, OverflowError):
        return True  # it ends outside the file, which OpenUSD finds
    return bool(len(np.unique(names)) == count)


def _is_sound_table(data: mmap.mmap, offset: int, size: int) -> bool:
    """Whether every index of a table array lies in its table; arrays coded otherwise are sound."""
    try:
        width = 8 if tuple(data[8:11]) >= (0, 7, 0) else 4
        skipped = 4 if tuple(data[8:11]) < (0, 5, 0) else 0
        count = int.from_bytes(data[offset + skipped : offset + skipped + width], "little")
        at = offset + skipped + width
        if data[at : at + 1] != b"t":
            return True
        (entries,) = struct.unpack_from("<I", data, at + 1)
        at += 5 + size * entries
        (packed,) = struct.unpack_from("<Q", data, at)
        indices = _integers(_unpacked(data[at + 8 : at + 8 + packed]), count)
    except (struct.error, ValueError, IndexError, lz4.block.LZ4BlockError):
        # not even readable: OpenUSD would decode leftovers of memory as indices
        return False
    return bool(count == 0 or (indices.min() >= 0 and indices.max() < entries))


def _unpacked(packed: bytes) -> bytes:
    """LZ4 as crate files use it: a count of chunks, 0 for a single one without a length of its own."""
    if not packed:
        raise ValueError("nothing to unpack")
    if packed[0] == 0:
        return _unpacked_chunk(packed[1:])
    chunks, at = [], 1
    for _ in range(packed[0]):
        (length,) = struct.unpack_from("<i", packed, at)
        if length < 0:
            raise ValueError("a chunk of negative length")
        chunks.append(_unpacked_chunk(packed[at + 4 : at + 4 + length]))
        at += 4 + length
    return b"".join(chunks)


def _unpacked_chunk(chunk: bytes) -> bytes:
    # a byte of LZ4 never becomes more than 255
    return bytes(lz4.block.decompress(chunk, uncompressed_size=255 * len(chunk) + 64))


def _integers(coded: bytes, count: int) -> npt.NDArray[np.int64]:
    """Crate's integer coding: differences, each the commonest one or stored in 1, 2 or 4 bytes."""
    common = np.frombuffer(coded, np.int32, 1)[0]
    marks = np.frombuffer(coded, np.uint8, (2 * count + 7) // 8, 4)
    codes = ((marks[:, None] >> np.array([0, 2, 4, 6], np.uint8)) & 3).reshape(-1)[:count]
    widths = np.array([0, 1, 2, 4])[codes]
    starts = 4 + len(marks) + np.cumsum(widths) - widths
    stored = np.frombuffer(coded, np.uint8)
    differences = np.full(count, common, np.int64)
    for code, kind in ((1, np.int8), (2, np.int16), (3, np.int32)):
        chosen = np.flatnonzero(codes == code)
        places = starts[chosen, None] + np.arange(np.dtype(kind).itemsize)
        differences[chosen] = np.ascontiguousarray(stored[places]).view(kind)[:, 0]
    # OpenUSD adds up in 32 bits, where sums wrap
    total: npt.NDArray[np.int64] = np.cumsum(differences).astype(np.int32).astype(np.int64)
    return total
