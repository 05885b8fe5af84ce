"""Read a whole character from a USD stage: the skeleton most meshes use, its meshes and motions."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pxr import Usd, UsdGeom, UsdSkel

from ecorche.base.mesh import Mesh
from ecorche.base.names import suggestion
from ecorche.body.character import Character
from ecorche.errors import MotionError, ReadError
from ecorche.io.usd.cache import UsdFrames
from ecorche.io.usd.materials import MaterialReader
from ecorche.io.usd.mesh import ReadMesh, read_usd_mesh
from ecorche.io.usd.skeleton import (
    DrivenShapes,
    Rig,
    animation_codes,
    bound_animation,
    one_joint_rig,
    read_motion_at,
    read_rig,
)
from ecorche.io.usd.skin import MeshPrim
from ecorche.io.usd.stage import (
    Space,
    bounded_memory,
    moving_ancestors,
    open_stage,
    prim_title,
    size_on_disk,
    space_of,
)
from ecorche.io.usd.values import steady_value
from ecorche.skeleton.motion import Motion


@dataclass(frozen=True, eq=False)
class Contents:
    """The prims of a stage that concern us, in the order the stage lists them."""

    meshes: tuple[MeshPrim, ...]
    skeletons: tuple[Any, ...]
    animations: tuple[Any, ...]


def contents_of(stage: Any, notes: list[str]) -> Contents:
    """Find meshes to show, skeletons and animations; what is left out is noted."""
    meshes, skeletons, animations, others = [], [], [], Counter[str]()
    purposes: dict[str, list[str]] = defaultdict(list)
    predicate = Usd.TraverseInstanceProxies(Usd.PrimDefaultPredicate)
    for prim in Usd.PrimRange(stage.GetPseudoRoot(), predicate):
        if prim.IsA(UsdSkel.Skeleton):
            skeletons.append(prim)
        elif prim.IsA(UsdSkel.Animation):
            animations.append(prim)
        elif prim.IsA(UsdGeom.Mesh):
            purpose = str(UsdGeom.Imageable(prim).ComputePurpose())
            if purpose in ("proxy", "guide"):
                purposes[purpose].append(str(prim.GetPath()))
            elif _is_shown(prim, notes):
                meshes.append(prim)
        elif prim.IsA(UsdGeom.Gprim):
            others[prim.GetTypeName()] += 1
    for purpose, paths in sorted(purposes.items()):
        which = f"mesh {paths[0]} is" if len(paths) == 1 else f"{len(paths)} meshes are"
        notes.append(f"{which} left out: the purpose is {purpose!r}")
    for kind, count in sorted(others.items()):
        notes.append(f"only meshes are read: {count} of type {kind} left out")
    return Contents(_mesh_prims(meshes), tuple(skeletons), tuple(animations))


def _is_shown(prim: Any, notes: list[str]) -> bool:
    if str(UsdGeom.Imageable(prim).ComputeVisibility(Usd.TimeCode.EarliestTime())) == "invisible":
        notes.append(f"mesh {prim.GetPath()} is left out: it is invisible")
        return False
    return True


def _mesh_prims(prims: list[Any]) -> tuple[MeshPrim, ...]:
    titles = Counter(prim_title(prim) for prim in prims)
    return tuple(
        MeshPrim(
            prim,
            prim_title(prim) if titles[prim_title(prim)] == 1 else str(prim.GetPath()).lstrip("/"),
            _skeleton_of(prim),
            bool(UsdSkel.Root.Find(prim)),
        )
        for prim in prims
    )


def _skeleton_of(prim: Any) -> Any:
    """The Skeleton prim a mesh is bound to, by UsdSkel or by our own relationship; or None."""
    kept = prim.GetRelationship("ecorche:skeleton")
    targets = kept.GetForwardedTargets() if kept else []
    found = prim.GetStage().GetPrimAtPath(targets[0]) if targets else None
    if not found:
        found = UsdSkel.BindingAPI(prim).GetInheritedSkeleton()
    found = found.GetPrim() if found else None
    return found if found and found.IsA(UsdSkel.Skeleton) else None


def choose_rig(contents: Contents, space: Space, notes: list[str]) -> Rig | None:
    """The skeleton most meshes are bound to, else the first; others are noted."""
    if not contents.skeletons:
        return None
    paths = [str(prim.GetPath()) for prim in contents.skeletons]
    users = Counter(str(m.skeleton.GetPath()) for m in contents.meshes if m.skeleton is not None)
    best = max(range(len(paths)), key=lambda number: (users[paths[number]], -number))
    for number, path in enumerate(paths):
        if number != best:
            notes.append(
                f"skeleton {path} is left out, its {users[path]} meshes stand still:"
                f" {paths[best]} is used by {users[paths[best]]}"
            )
    return read_rig(contents.skeletons[best], space, notes)


def read_character_from(path: Path) -> Character:
    """The character in a file."""
    stage = open_stage(path)
    with bounded_memory(size_on_disk(stage)):
        return _character(path, stage)


def _character(path: Path, stage: Any) -> Character:
    notes: list[str] = []
    space = space_of(stage, notes)
    contents = contents_of(stage, notes)
    if not contents.meshes:
        raise ReadError("it shows no mesh", where=path, remedy="Export the character with its meshes")
    posed = any(mesh.posed for mesh in contents.meshes)
    rig = choose_rig(contents, space, notes)
    if rig is None:
        if not posed:
            raise ReadError(
                "it has no skeleton and no posed points",
                where=path,
                remedy="Export the character with its skeleton, or read it as a plain surface",
            )
        notes.append("the file has no skeleton: a single joint at the origin stands in for it")
        rig = one_joint_rig(space)

    looks = MaterialReader(stage, notes)
    meshes = [read_usd_mesh(mesh, rig, space, looks.number_of, notes) for mesh in contents.meshes]
    _note_moving_still_meshes(meshes, posed, notes)
    motions, codes = _motions(contents, rig, meshes, posed, notes)
    cache = UsdFrames(path, stage, meshes, space, codes, motions[0]) if posed else None
    made = Character(
        name=path.stem,
        skeleton=rig.skeleton,
        meshes=tuple(mesh.skinned for mesh in meshes),
        motions=tuple(motions),
        materials=tuple(looks.materials),
        images=tuple(looks.images),
        cache=cache,
        notes=tuple(notes),
        source=str(path),
        metres_per_unit=space.metres_per_unit,
        up_axis=space.up_axis,
    )
    if posed or any(mesh.skinned.weights is not None for mesh in meshes):
        return made
    from ecorche.body.automatic_weights import with_automatic_weights

    return with_automatic_weights(made)


def _note_moving_still_meshes(meshes: list[ReadMesh], posed: bool, notes: list[str]) -> None:
    notes.extend(
        f"{mesh.source.where} moves by its transform, not by joints: it stands still here"
        for mesh in meshes
        if not posed and mesh.skinned.weights is None and moving_ancestors(mesh.source.prim)
    )


def _driven_shapes(meshes: list[ReadMesh]) -> DrivenShapes:
    driven: DrivenShapes = {}
    for mesh in meshes:
        for token, shape in mesh.shapes.items():
            driven.setdefault(token, []).append((mesh.skinned.name, shape))
    return driven


def _motions(
    contents: Contents, rig: Rig, meshes: list[ReadMesh], posed: bool, notes: list[str]
) -> tuple[list[Motion], list[float]]:
    """The clips, the bound one first; a posed cache's frames fall on the first one's times."""
    targets = _driven_shapes(meshes)
    bound = bound_animation(rig)
    codes = animation_codes(rig, bound)
    motions = []
    if posed:
        for mesh in meshes:
            codes.update(UsdGeom.Mesh(mesh.source.prim).GetPointsAttr().GetTimeSamples())
            for xformable in moving_ancestors(mesh.source.prim):
                codes.update(xformable.GetTimeSamples())
        if bound is None:
            notes.append("the posed cache comes without joint motion: its skeleton stands still at rest")
    if bound is not None or codes:
        motions.append(read_motion_at(rig, bound, sorted(codes), targets, notes))
    for animation in contents.animations:
        if bound is not None and animation.GetPath() == bound.GetPath():
            continue
        if _fits(rig, animation):
            clip_codes = sorted(animation_codes(rig, animation))
            motions.append(read_motion_at(rig, animation, clip_codes, targets, notes))
        else:
            notes.append(f"animation {animation.GetPath()} moves no joint of the skeleton and is left out")
    return motions, sorted(codes)


def _fits(rig: Rig, animation: Any) -> bool:
    tokens = [str(t) for t in steady_value(UsdSkel.Animation(animation).GetJointsAttr()) or []]
    return bool((rig.joint_numbers(tokens) >= 0).any())


def read_motion_from(path: Path, clip: str | None) -> Motion:
    """The bound animation of a file's skeleton, or the clip of that name."""
    stage = open_stage(path)
    with bounded_memory(size_on_disk(stage)):
        return _motion(path, stage, clip)


def _motion(path: Path, stage: Any, clip: str | None) -> Motion:
    notes: list[str] = []
    space = space_of(stage, notes)
    contents = contents_of(stage, notes)
    rig = choose_rig(contents, space, notes)
    if rig is None:
        raise MotionError(
            "it has no skeleton", where=path, remedy="Export the animation together with its Skeleton prim"
        )
    meshes = [
        read_usd_mesh(mesh, rig, space, lambda _prim: None, notes)
        for mesh in contents.meshes
        if mesh.skeleton == rig.prim
    ]
    motions, _ = _motions(contents, rig, meshes, False, notes)
    if not motions:
        raise MotionError("it has no animation", where=path, remedy="Export it with its SkelAnimation")
    if clip is None:
        return motions[0]
    for motion in motions:
        if motion.name == clip:
            return motion
    raise MotionError(
        f"there is no animation {clip!r}", where=path, remedy=suggestion(clip, [m.name for m in motions])
    )


def read_mesh_from(path: Path) -> Mesh:
    """The one surface of a file, where it stands; several become one, in order."""
    stage = open_stage(path)
    with bounded_memory(size_on_disk(stage)):
        return _mesh(path, stage)


def _mesh(path: Path, stage: Any) -> Mesh:
    notes: list[str] = []
    space = space_of(stage, notes)
    contents = contents_of(stage, notes)
    if not contents.meshes:
        raise ReadError("it shows no mesh", where=path, remedy="Export it with its meshes")
    meshes = [read_usd_mesh(m, None, space, lambda _prim: None, notes).skinned.mesh for m in contents.meshes]
    if len(meshes) == 1:
        return meshes[0]
    borders = np.cumsum([0] + [mesh.vertex_count for mesh in meshes])
    return Mesh(
        name=path.stem,
        points=np.concatenate([mesh.points for mesh in meshes]),
        face_counts=np.concatenate([mesh.face_counts for mesh in meshes]),
        face_indices=np.concatenate(
            [mesh.face_indices + np.int32(start) for mesh, start in zip(meshes, borders, strict=False)]
        ).astype(np.int32),
    )


def names_by_prim(path: Path) -> dict[str, dict[str, str]]:
    """Names of joints and meshes by the names of their prims, or the last part of their joint paths."""
    joints: dict[str, str] = {}
    meshes: dict[str, str] = {}
    stage = open_stage(path)
    for prim in stage.Traverse():
        if prim.IsA(UsdGeom.Mesh):
            meshes[prim.GetName()] = prim_title(prim)
        elif prim.IsA(UsdSkel.Skeleton):
            skeleton = UsdSkel.Skeleton(prim)
            tokens = [str(token).rsplit("/", 1)[-1] for token in skeleton.GetJointsAttr().Get()]
            joints.update(zip(tokens, skeleton.GetJointNamesAttr().Get() or tokens, strict=True))
    return {"joints": joints, "meshes": meshes}
