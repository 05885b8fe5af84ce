"""Whether a C3D file holds together, looked at before a library reads it: damaged ones crash it.

A file is 512-byte blocks: a header, the parameters as a chain of records, and the frames. Every record must
lie within the parameters and be exactly as long as its sizes say, and the frames that the header promises
must be there.
"""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np

from ecorche.errors import ReadError

BLOCK = 512
_SIZES = {-1: 1, 1: 1, 2: 2, 4: 4}
_NUMBERS = {84: "<", 85: "<", 86: ">"}
"""Byte order of whole numbers by the processor that wrote the file; of DEC's only floats are odd."""
NEEDED = (("POINT", "USED"), ("POINT", "SCALE"), ("POINT", "RATE"), ("POINT", "FRAMES"), ("ANALOG", "USED"))
_CHANNELS = 10_000


def require_sound(path: Path) -> None:
    """Refuse a file that is no C3D, is cut off, or whose parameters do not hold together."""
    data = path.read_bytes()
    if len(data) < 2 * BLOCK or data[1] != 0x50 or data[0] == 0:
        raise ReadError("is no C3D file", where=path, remedy="Choose a .c3d file")
    start = (data[0] - 1) * BLOCK
    if start + 4 > len(data):
        _refuse(path, "its parameters begin beyond its end")
    order = _NUMBERS.get(data[start + 3])
    if order is None:
        _refuse(path, f"it was written by an unknown kind of processor ({data[start + 3]})")
    end = min(len(data), start + max(1, data[start + 2]) * BLOCK)
    found = _records(data, start + 4, end, order or "<", path)
    _require_frames(data, found, order or "<", path)


def _records(data: bytes, at: int, end: int, order: str, path: Path) -> dict[tuple[str, str], bytes]:
    """Raw values of all parameters by group and name, the chain walked to its end."""
    groups: dict[int, str] = {}
    values: list[tuple[int, str, bytes]] = []
    while at + 2 <= end:
        length, number = struct.unpack_from("bb", data, at)
        if length == 0:
            break
        name = data[at + 2 : at + 2 + abs(length)].decode("latin-1")
        at += 2 + abs(length)
        if at + 3 > end or number == 0:
            _refuse(path, f"the record {name!r} of its parameters is broken")
        (step,) = struct.unpack_from(order + "h", data, at)
        beyond = end if step == 0 else at + step
        if step < 0 or beyond > end:
            _refuse(path, f"the record {name!r} of its parameters leads beyond them")
        if number < 0:
            groups[-number] = name
            if at + 3 + data[at + 2] != beyond:  # nor is a group the last record
                _refuse(path, f"the group {name!r} is not as long as its record")
        else:
            values.append((number, name, _value(data, at + 2, beyond, step == 0, name, path)))
        if step == 0:
            break
        at = beyond
    return {(groups.get(number, ""), name): value for number, name, value in values}


def _value(data: bytes, at: int, beyond: int, last: bool, name: str, path: Path) -> bytes:
    (kind,) = struct.unpack_from("b", data, at)
    count = data[at + 1] if at + 1 < beyond else 99
    sizes = data[at + 2 : at + 2 + count]
    if kind not in _SIZES or count > 7 or at + 2 + count > beyond:
        _refuse(path, f"the parameter {name!r} has no kind or no size")
    size = _SIZES[kind] * int(np.prod([int(one) for one in sizes])) if count else _SIZES[kind]
    told = at + 2 + count + size  # where a description begins with its length
    if told >= len(data) or (not last and told + 1 + data[told] != beyond):
        _refuse(path, f"the parameter {name!r} is not as long as its record")
    return data[at + 2 + count : told]


def _require_frames(data: bytes, found: dict[tuple[str, str], bytes], order: str, path: Path) -> None:
    """The frames that the header promises must be in the file, and the parameters must not contradict it."""
    points, analog, first, last = struct.unpack_from(order + "4H", data, 2)
    block, samples = struct.unpack_from(order + "2H", data, 16)
    for group, name in NEEDED:
        if (group, name) not in found:
            _refuse(path, f"it has no parameter {group}:{name}")
    used = int.from_bytes(found["POINT", "USED"][:2], "little" if order == "<" else "big")
    channels = int.from_bytes(found["ANALOG", "USED"][:2], "little" if order == "<" else "big")
    if used != points or channels * samples != analog or channels > _CHANNELS:
        _refuse(
            path,
            f"its header has {points} points and {analog} analogue samples a frame, its parameters {used} "
            f"and {channels} channels {samples} times",
        )
    for name, each in (("SCALE", 4), ("OFFSET", 2), ("GEN_SCALE", 0), ("RATE", 0)):
        least = max(each * channels, 0 if each else 4)
        if channels and len(found.get(("ANALOG", name), b"")) < least:
            _refuse(path, f"its parameter ANALOG:{name} is missing or too short for {channels} channels")
    size = 4 if found["POINT", "SCALE"][3:4] >= b"\x80" or order == ">" else 2  # a negative scale: floats
    needed = (last - first + 1) * (4 * points + analog) * size
    if last < first or block < 2 or (block - 1) * BLOCK + needed > len(data):
        _refuse(path, f"it is cut off: {last - first + 1} frames need {needed} bytes")


def _refuse(path: Path, what: str) -> None:
    raise ReadError(what, where=path, remedy="It is damaged: take it from the recording system again")
