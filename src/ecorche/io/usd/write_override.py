"""Write a performance as a layer over the original asset: its meshes' points in time, and nothing it has.

The layer has the original as its sublayer, by a path relative to itself, and the original's units, axes and
time codes. Points are told in each mesh's own space. Posed points must not be skinned a second time: the
meshes' joint weights and blend shapes are blocked, and kept in ``ecorche:bind:`` attributes; where that does
not help a SkelRoot becomes a plain Xform, as OpenUSD's own bake makes it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from pxr import Gf, Sdf, Usd, UsdGeom, UsdSkel

from ecorche.base.mesh import Mesh
from ecorche.body.character import Character, SkinnedMesh
from ecorche.body.frames import Frame, Frames
from ecorche.body.take import Take
from ecorche.errors import WriteError
from ecorche.io.usd.mesh import reversed_corners
from ecorche.io.usd.read import contents_of
from ecorche.io.usd.skin import MeshPrim, has_influences
from ecorche.io.usd.stage import Space, move_points, open_stage, space_of, turn_normals, world_from_prim
from ecorche.io.usd.write_points import keep_binding, write_frames
from ecorche.io.usd.write_skeleton import TimeLine
from ecorche.version import __version__

SUFFIXES = (".usd", ".usda", ".usdc", ".usdz")


def write_override(file: Path, target: Path, take: Take, notes: list[str]) -> None:
    """Write a binary layer to ``file`` that overrides the file the take's character was read from.

    Args:
        file: The layer.
        target: What it will be called, in the same folder.
        take: The take.
        notes: Told of what stays as it is in the original.
    """
    original = _original(take, target)
    if take.frames is None:
        raise WriteError(
            "a still character has nothing to override its asset with",
            where=target,
            remedy="Bake it in a motion: ecorche bake CHARACTER --motion FILE --usd-as override",
        )
    below = open_stage(original)
    space = space_of(below, [])
    left_out: list[str] = []
    prims = contents_of(below, left_out).meshes
    _require_same(prims, take.character, original)
    layer = Sdf.Layer.CreateNew(str(file))
    layer.subLayerPaths.append(_relative(original, target))
    stage = Usd.Stage.Open(layer)
    codes = TimeLine(space.codes_per_second).codes(take.frames.times)
    _write_metadata(stage, below, codes)
    paths = [mesh.prim.GetPath() for mesh in prims]
    _open_instances(stage, paths, notes)
    _stop_skinning(stage, prims, take.character, notes)
    schemas = []
    for path in paths:
        schemas.append(UsdGeom.Mesh(stage.OverridePrim(path)))
        schemas[-1].CreatePointsAttr()
        schemas[-1].CreateExtentAttr()
        shading = UsdGeom.PrimvarsAPI(schemas[-1]).GetPrimvar("normals")
        if shading and shading.HasAuthoredValue():
            shading.GetAttr().Block()  # they would hide the normals of the frames
    # what the asset says at bind stays its own
    meshes = [replace(m, mesh=replace(m.mesh, normals=None)) for m in take.character.meshes]
    placed = _PlacedFrames(take.frames, codes, [stage.GetPrimAtPath(p) for p in paths], meshes, space)
    write_frames(layer, schemas, meshes, placed, codes, False, notes)
    counted = "1 mesh" if len(paths) == 1 else f"{len(paths)} meshes"
    notes.append(f"overrides {counted} of {original.name}, whose joints keep their own animation")
    if left_out:
        notes.append(f"what was not read of {original.name} is not overridden: {'; '.join(left_out)}")
    layer.Save()


def _original(take: Take, target: Path) -> Path:
    source = Path(take.character.source) if take.character.source else None
    if source is None or source.suffix.lower() not in SUFFIXES or not source.exists():
        told = f"{source.name} is none" if source is not None else "the character comes from no file"
        raise WriteError(
            f"an override needs a USD asset to lie over, and {told}",
            where=target,
            remedy="Give a character in USD, or convert it first: ecorche convert CHARACTER ASSET.usdc",
        )
    return source


def _relative(original: Path, target: Path) -> str:
    """The asset path of the original seen from the target."""
    path = Path(os.path.relpath(original.resolve(), target.resolve().parent)).as_posix()
    return path if path.startswith("../") else f"./{path}"


def _require_same(prims: Sequence[MeshPrim], character: Character, original: Path) -> None:
    """Refuse takes whose meshes are not those of the asset, vertex by vertex."""
    first = Usd.TimeCode.EarliestTime()
    found = [(p.name, len(UsdGeom.Mesh(p.prim).GetPointsAttr().Get(first))) for p in prims]
    ours = [(m.name, m.mesh.vertex_count) for m in character.meshes]
    for (name, size), (own, count) in zip(found, ours, strict=False):
        if (name, size) != (own, count):
            raise WriteError(
                f"mesh {own!r} has {count} vertices in the take, {name!r} has {size} in the asset",
                where=original,
                remedy="Bake without --coupling subdivision, or write --usd-as points",
            )
    if len(found) != len(ours):
        raise WriteError(
            f"the take has {len(ours)} meshes, the asset {len(found)}",
            where=original,
            remedy="Write --usd-as points",
        )


def _write_metadata(stage: Any, below: Any, codes: Sequence[float]) -> None:
    UsdGeom.SetStageMetersPerUnit(stage, UsdGeom.GetStageMetersPerUnit(below))
    UsdGeom.SetStageUpAxis(stage, UsdGeom.GetStageUpAxis(below))
    # another rate than the sublayer's would stretch its time
    stage.SetTimeCodesPerSecond(below.GetTimeCodesPerSecond())
    stage.SetFramesPerSecond(below.GetFramesPerSecond())
    stage.SetStartTimeCode(codes[0])
    stage.SetEndTimeCode(codes[-1])
    root = below.GetDefaultPrim()
    if root:
        stage.GetRootLayer().defaultPrim = root.GetName()
    stage.GetRootLayer().customLayerData = {"creator": f"ecorche {__version__}"}


def _open_instances(stage: Any, paths: Sequence[Any], notes: list[str]) -> None:
    """Make instances that hold a mesh editable: what is shared cannot be overridden alone."""
    for path in paths:
        while stage.GetPrimAtPath(path).IsInstanceProxy():
            above = stage.GetPrimAtPath(path)
            while not above.IsInstance():
                above = above.GetParent()
            above.SetInstanceable(False)
            notes.append(f"{above.GetPath()} is no instance any more: its meshes have points of their own")


def _stop_skinning(stage: Any, meshes: Sequence[MeshPrim], character: Character, notes: list[str]) -> None:
    """Let USD not skin posed points once more; what they hang on is kept for the way back."""
    paths = {mesh.prim.GetPath() for mesh in meshes}
    for source, mesh in zip(meshes, character.meshes, strict=True):
        prim = stage.OverridePrim(source.prim.GetPath())
        binding = UsdSkel.BindingAPI(prim)
        if source.skeleton is None or mesh.weights is None or not has_influences(prim):
            continue
        tokens = binding.GetBlendShapesAttr().Get() or []
        keep_binding(
            prim, mesh, source.skeleton.GetPath(), tokens, binding.GetBlendShapeTargetsRel().GetTargets()
        )
        if not binding.GetGeomBindTransformAttr().HasAuthoredValue():
            binding.CreateGeomBindTransformAttr(Gf.Matrix4d(1.0))
        for attribute in (binding.GetJointIndicesAttr(), binding.GetJointWeightsAttr()):
            if attribute.HasAuthoredValue():
                attribute.Block()
        if len(tokens):
            binding.GetBlendShapesAttr().Block()
            binding.GetBlendShapeTargetsRel().SetTargets([])
    for root in [prim for prim in stage.Traverse() if prim.IsA(UsdSkel.Root)]:
        if any(path in paths for path in _skinned_below(root)):
            # the binding is inherited from above: nothing less than OpenUSD's own way helps
            stage.OverridePrim(root.GetPath()).SetTypeName("Xform")
            notes.append(f"{root.GetPath()} is an Xform here: a SkelRoot would skin posed points once more")


def _skinned_below(root: Any) -> list[Any]:
    """Paths of what USD skins below a SkelRoot."""
    cache, schema, predicate = UsdSkel.Cache(), UsdSkel.Root(root), Usd.PrimDefaultPredicate
    cache.Populate(schema, predicate)
    return [
        query.GetPrim().GetPath()
        for binding in cache.ComputeSkelBindings(schema, predicate)
        for query in binding.GetSkinningTargets()
        if query.HasJointInfluences() or query.HasBlendShapes()
    ]


class _PlacedFrames:
    """Frames in the spaces of the prims they are written to.

    Args:
        frames: In metres, +Y up.
        codes: Time code of each.
        prims: The mesh prims on the composed stage.
        meshes: The meshes they were read as.
        space: The stage's units.
    """

    def __init__(
        self,
        frames: Frames,
        codes: Sequence[float],
        prims: Sequence[Any],
        meshes: Sequence[SkinnedMesh],
        space: Space,
    ) -> None:
        self._frames, self._codes, self._prims, self._space = frames, codes, prims, space
        self._corners = [_their_corners(prim, mesh.mesh) for prim, mesh in zip(prims, meshes, strict=True)]
        self.times = frames.times

    def __len__(self) -> int:
        return len(self._frames)

    def __getitem__(self, index: int) -> Frame:
        frame, points, normals = self._frames[index], [], []
        for number, prim in enumerate(self._prims):
            place = self._space.ours_from_stage @ world_from_prim(prim, self._codes[index])
            back = np.asarray(np.linalg.inv(place), np.float64)
            points.append(move_points(back, frame.points[number]))
            normal, order = frame.normals[number], self._corners[number]
            if normal is not None:
                normal = turn_normals(back, normal)
                if order is not None and len(normal) == len(order):
                    normal = normal[order]
            normals.append(normal)
        return Frame(frame.time, tuple(points), tuple(normals))


def _their_corners(prim: Any, mesh: Mesh) -> npt.NDArray[np.int64] | None:
    """Where faces were reversed in reading, our corner of each of the file's; else None."""
    indices = UsdGeom.Mesh(prim).GetFaceVertexIndicesAttr().Get(Usd.TimeCode.EarliestTime())
    if np.array_equal(np.array(indices), mesh.face_indices):
        return None
    return reversed_corners(mesh.face_counts)  # twice reversed is as it was
