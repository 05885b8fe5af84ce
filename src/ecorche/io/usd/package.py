"""Pack a layer and its textures as .usdz: an uncompressed archive whose files start at multiples of 64.

Written here and not by OpenUSD, whose packages hold the hour they were made: the same take must
give the same bytes.
"""

from __future__ import annotations

import shutil
import struct
import zipfile
from pathlib import Path

from ecorche.errors import WriteError

ALIGNMENT = 64
_LOCAL_HEADER = 30
_PADDING_FIELD = 0x1986
_LARGEST = 2**32 - 1


def pack(package: Path, folder: Path, first: str) -> None:
    """Pack all files below a folder; ``first`` is the layer that opens.

    Args:
        package: The archive to make.
        folder: What to pack; names in the archive are relative to it.
        first: Name of the root layer, which must stand first.
    """
    others = sorted(str(p.relative_to(folder).as_posix()) for p in folder.rglob("*") if p.is_file())
    names = [first, *(name for name in others if name != first)]
    with zipfile.ZipFile(package, "w", zipfile.ZIP_STORED) as archive:
        for name in names:
            _add(archive, folder / name, name)
    if package.stat().st_size > _LARGEST:
        raise WriteError(
            "a .usdz cannot be larger than 4 GB", where=package.name, remedy="Write a .usdc instead"
        )


def _add(archive: zipfile.ZipFile, file: Path, name: str) -> None:
    entry = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
    entry.file_size = file.stat().st_size
    if entry.file_size > _LARGEST:
        raise WriteError("a .usdz cannot hold a file over 4 GB", where=name, remedy="Write a .usdc instead")
    assert archive.fp is not None
    start = archive.fp.tell() + _LOCAL_HEADER + len(name.encode()) + 4
    padding = -start % ALIGNMENT
    entry.extra = struct.pack("<HH", _PADDING_FIELD, padding) + bytes(padding)
    with archive.open(entry, "w") as out, file.open("rb") as source:
        shutil.copyfileobj(source, out, 1 << 20)
