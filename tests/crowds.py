"""A crowd of a real person in real motions, made once."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
from benchmarks.decimated import decimated

from ecorche.body.character import Character
from ecorche.body.crowd import ClipOnCharacter, Crowd, make_crowd
from ecorche.body.crowd_cast import Cast
from ecorche.io.formats import read_motion
from rigged_people import person, rigged

CLIPS = ("02_01", "02_03", "13_13", "13_39")
COUNT = 20


def man(data: Path) -> Path:
    return data / "human" / "male_muscular_cmu_mb.glb"


@cache
def crowd(data: Path, *, travelling: bool = True) -> Crowd:
    """Twenty of two body types, in four motions."""
    motions = [read_motion(data / "cmu" / f"{clip}.bvh") for clip in CLIPS]
    path = man(data)
    return make_crowd(
        person(path), rigged(path), motions, count=COUNT, body_types=2, seed=3, travelling=travelling
    )


def with_cast(found: Crowd, cast: Cast) -> Crowd:
    """The same clips and bodies with other members."""
    return Crowd(found.character, found.rigs, found.programs, found.clips, cast, travelling=True)


def alone(found: Crowd, clip: int, *, body_type: int = 0, z: float = 0.0) -> Crowd:
    """One member at the origin, or so far along +Z [m], that begins its loop at its beginning."""
    one = np.ones(1)
    place = np.array([[0.0, z]])
    kinds = np.array([clip]), np.array([body_type])
    return with_cast(found, Cast(*kinds, phase=0.0 * one, pace=one, place=place, heading=0.0 * one))


def clip_named(found: Crowd, name: str) -> ClipOnCharacter:
    return next(clip for clip in found.clips if clip.loop.motion.name == name)


@cache
def coarse(data: Path, triangles: int = 6_000) -> Character:
    """The man with fewer triangles."""
    full = person(man(data))
    faces = np.arange(len(full.meshes[0].mesh.triangles()))
    return replace(decimated(full, faces, triangles), name="coarse", source="coarse.glb")
