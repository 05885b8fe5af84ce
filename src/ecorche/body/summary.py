"""A character in words and numbers, for `ecorche info` and for programs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ecorche.body.character import Character, SkinnedMesh
from ecorche.body.problems import problems
from ecorche.skeleton.naming import recognise
from ecorche.skeleton.skeleton import Skeleton


@dataclass(frozen=True)
class MeshSummary:
    """One mesh in numbers; ``influences`` reads such as ``1–4 joints a vertex``."""

    name: str
    is_body: bool
    vertices: int
    faces: int
    influences: str
    morphs: int
    materials: int


@dataclass(frozen=True)
class JointSummary:
    """One joint: its H-Anim name where recognised, its role, and how many vertices it moves.

    ``depth`` counts the joints above it; joints come with all that hangs on them before the next.
    """

    name: str
    canonical: str | None
    role: str
    depth: int
    vertices: int


@dataclass(frozen=True)
class MotionSummary:
    """One clip of the file."""

    name: str
    frames: int
    seconds: float


@dataclass(frozen=True)
class Summary:
    """Everything `ecorche info` shows."""

    name: str
    size_text: str
    units_text: str
    convention: str
    meshes: tuple[MeshSummary, ...]
    joints: tuple[JointSummary, ...]
    motions: tuple[MotionSummary, ...]
    baked_frames: int
    notes: tuple[str, ...]
    problems: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return asdict(self)


def summarise(character: Character, mapping: Mapping[str, str] | None = None) -> Summary:
    """Look a character over."""
    naming = recognise(character.skeleton, mapping)
    moved = np.zeros(character.skeleton.joint_count, np.int64)
    for mesh in character.meshes:
        if mesh.weights is not None:
            moved += np.bincount(mesh.weights.joints, minlength=len(moved))
    depth: list[int] = []
    for parent in character.skeleton.parents:
        depth.append(0 if parent < 0 else depth[parent] + 1)
    skinned = any(m.weights is not None for m in character.meshes)
    body = character.body() if skinned else None
    return Summary(
        name=character.name,
        size_text=_size(character),
        units_text=f"{character.metres_per_unit:g} m a unit, {character.up_axis} up",
        convention=naming.convention,
        meshes=tuple(_mesh(m, m is body) for m in character.meshes),
        joints=tuple(
            JointSummary(
                character.skeleton.names[j], naming.canonical[j], naming.roles[j], depth[j], int(moved[j])
            )
            for j in _down_the_tree(character.skeleton)
        ),
        motions=tuple(
            MotionSummary(m.name, m.frame_count, float(m.times[-1] - m.times[0])) for m in character.motions
        ),
        baked_frames=0 if character.cache is None else len(character.cache),
        notes=(*character.notes, *naming.notes),
        problems=tuple(problems(character)),
    )


def _down_the_tree(skeleton: Skeleton) -> Iterator[int]:
    """Joint numbers as an outline lists them: each joint, then everything below it."""
    waiting = [j for j, parent in enumerate(skeleton.parents) if parent < 0][::-1]
    while waiting:
        joint = waiting.pop()
        yield joint
        waiting += reversed(skeleton.children[joint])


def _mesh(mesh: SkinnedMesh, is_body: bool) -> MeshSummary:
    influences = "stands still"
    if mesh.weights is not None:
        counts = np.diff(mesh.weights.starts)
        low, high = (int(counts.min()), int(counts.max())) if len(counts) else (0, 0)
        joints = (
            f"{low} joint" if low == high == 1 else f"{low} joints" if low == high else f"{low}–{high} joints"
        )
        influences = f"{joints} a vertex"
    used = {s.material for s in mesh.mesh.subsets} | {mesh.mesh.material}
    return MeshSummary(
        mesh.name,
        is_body,
        mesh.mesh.vertex_count,
        len(mesh.mesh.face_counts),
        influences,
        len(mesh.mesh.morphs),
        len(used - {None}),
    )


def _size(character: Character) -> str:
    points = [m.mesh.points for m in character.meshes if m.mesh.vertex_count]
    if not points:
        return "no surface"
    everything = np.concatenate(points)
    width, height, depth = everything.max(axis=0) - everything.min(axis=0)
    return f"{height:.2f} m tall, {width:.2f} m wide, {depth:.2f} m deep"
