"""USD in and out: the door to this folder."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import ecorche.io.usd.needed  # noqa: F401  before what imports OpenUSD
from ecorche.base.mesh import Mesh
from ecorche.body.character import Character
from ecorche.body.take import Take
from ecorche.io.formats import WriteOptions, Written
from ecorche.io.usd.read import names_by_prim, read_character_from, read_mesh_from, read_motion_from
from ecorche.io.usd.stage import quiet, readable_read_errors
from ecorche.io.usd.validate import complaints
from ecorche.io.usd.write import write
from ecorche.io.usd.write_skeleton import without_scale
from ecorche.skeleton.motion import Motion


def read_character(path: Path) -> Character:
    """The character in a USD file: skeleton, meshes, motions, looks and, where it has one, posed cache."""
    with readable_read_errors(path):
        with quiet() as said:
            character = read_character_from(path)
        return replace(character, notes=(*said, *character.notes)) if said else character


def read_motion(path: Path, clip: str | None = None) -> Motion:
    """The motion of a USD file's skeleton; ``clip`` names one SkelAnimation of several."""
    with readable_read_errors(path), quiet():
        return read_motion_from(path, clip)


def read_mesh(path: Path) -> Mesh:
    """The surface in a USD file."""
    with readable_read_errors(path), quiet():
        return read_mesh_from(path)


def write_take(path: Path, take: Take, options: WriteOptions) -> Written:
    """Write a take as .usd, .usda, .usdc or .usdz; `WriteOptions.usd_as` says how its skin moves."""
    return write(path, take, options)


def compliance_problems(path: Path) -> list[str]:
    """What OpenUSD's own validators find wrong with a file, a sentence each."""
    with readable_read_errors(path), quiet():
        return complaints(path)


def animated(motion: Motion) -> Motion:
    """A motion as a skeletal file of ours says it, before its scales are rounded to half precision."""
    return without_scale(motion.skeleton, [motion])[1][0]


def prim_names(path: Path) -> dict[str, dict[str, str]]:
    """What joints and meshes of a file of ours are called, by the names USD has for them."""
    with readable_read_errors(path), quiet():
        return names_by_prim(path)
