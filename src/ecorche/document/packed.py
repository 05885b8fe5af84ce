"""A rig as one piece of bytes, for programs that keep it in files of their own."""

from __future__ import annotations

import struct

from ecorche.document.files import Rig, rig_from_content, rig_to_content
from ecorche.errors import DocumentError

MAGIC = b"ECORCHE-RIG\0"
HEADER = struct.Struct("<12sQ")


def pack_rig(rig: Rig) -> bytes:
    """A rig, its text and its arrays, as bytes; the same rig gives the same bytes."""
    text, arrays = rig_to_content(rig, "packed.ecorche")
    content = text.encode("utf-8")
    return HEADER.pack(MAGIC, len(content)) + content + arrays


def unpack_rig(data: bytes, where: object = "packed rig") -> Rig:
    """The rig that was packed; ``where`` names it in messages."""
    if len(data) < HEADER.size or not data.startswith(MAGIC):
        raise DocumentError("holds no packed rig", where=where, remedy="Read the rig file again")
    _, size = HEADER.unpack_from(data)
    text = data[HEADER.size : HEADER.size + size]
    if len(text) != size:
        raise DocumentError("the packed rig is cut off", where=where, remedy="Read the rig file again")
    return rig_from_content(text.decode("utf-8"), data[HEADER.size + size :], where)
