"""glTF in and out: the door. Bad files end here in one clear message, whatever is wrong with them."""

from __future__ import annotations

import contextlib
import struct
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ecorche.body.character import Character
from ecorche.body.take import Take
from ecorche.errors import EcorcheError, ReadError, SkeletonError
from ecorche.io.formats import WriteOptions, Written
from ecorche.io.gltf.file import GltfFile, open_gltf
from ecorche.io.gltf.read import character_of, motion_of
from ecorche.skeleton.motion import Motion

DAMAGE = (
    KeyError,
    IndexError,
    TypeError,
    ValueError,
    AttributeError,
    ArithmeticError,
    RecursionError,
    MemoryError,
    struct.error,
)
"""What a part of the wrong shape ends in where no check of ours names it first."""


def read_character(path: Path) -> Character:
    """The rigged character in a .glb or .gltf file, in metres and +Y up."""
    file = open_gltf(Path(path))
    with _readable(file):
        return character_of(file)


def read_motion(path: Path, clip: str | None = None) -> Motion:
    """A clip of a .glb or .gltf file, on that file's own skeleton."""
    file = open_gltf(Path(path))
    with _readable(file):
        return motion_of(file, clip)


def write_take(path: Path, take: Take, options: WriteOptions | None = None) -> Written:
    """Write a take to a .glb, or a .gltf with its .bin; returns what the file could not say exactly."""
    from ecorche.io.gltf import write  # reading needs none of its kernels

    return write.write_take(Path(path), take, options or WriteOptions())


@contextlib.contextmanager
def _readable(file: GltfFile) -> Iterator[None]:
    """Every error names the file; damage no check foresaw names the part being read."""
    try:
        with np.errstate(all="ignore"):  # overflowing numbers are refused by checks on the results
            yield
    except SkeletonError as error:
        where = file.where() if error.where is None else f"{file.path.name}, {error.where}"
        raise ReadError(error.what, where=where, remedy=error.remedy) from error
    except EcorcheError as error:
        if error.where is not None and file.path.name in error.where:
            raise
        where = file.where() if error.where is None else f"{file.path.name}, {error.where}"
        raise type(error)(error.what, where=where, remedy=error.remedy) from error
    except DAMAGE as error:
        raise file.error(
            f"what it holds is not what glTF prescribes ({type(error).__name__}: {error})"
        ) from error
