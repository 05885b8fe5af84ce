"""Write a performance as point samples: what any program plays, whatever made the skin move.

The default value of each mesh is its bind pose, its samples are the frames. The skeleton and its
animation stand beside the meshes under a SkelRoot of their own; each mesh keeps its weights in
``ecorche:bind:`` attributes, so that the whole character can be read back and USD does not skin
posed points a second time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from pxr import Sdf, Vt

from ecorche.body.character import SkinnedMesh
from ecorche.body.frames import Frame, Frames
from ecorche.errors import WriteError
from ecorche.io.usd_write_mesh import extent, keep_bind_normals, vectors, whole_numbers, write_bind_normals
from ecorche.io.usd_write_skeleton import usd_matrices

BYTES_BETWEEN_SAVES = 64_000_000
"""Samples are saved, and leave memory, whenever this much has gathered."""


def keep_binding(
    schema: Any, mesh: SkinnedMesh, skeleton: Any, tokens: Sequence[str], shapes: list[Any]
) -> None:
    """Keep on a posed mesh how it hangs on the skeleton.

    Args:
        schema: The UsdGeomMesh.
        mesh: The mesh.
        skeleton: Path of the Skeleton prim.
        tokens: What animations call each of its blend shapes.
        shapes: Path of each of its blend shapes.
    """
    prim, kind = schema.GetPrim(), Sdf.ValueTypeNames

    def keep(name: str, type_name: Any, value: Any) -> None:
        prim.CreateAttribute(f"ecorche:bind:{name}", type_name, True).Set(value)

    prim.CreateRelationship("ecorche:skeleton", True).SetTargets([skeleton])
    if mesh.weights is not None:
        keep("influenceCounts", kind.IntArray, whole_numbers(np.diff(mesh.weights.starts)))
        keep("joints", kind.IntArray, whole_numbers(mesh.weights.joints))
        keep("weights", kind.FloatArray, Vt.FloatArray.FromNumpy(np.ascontiguousarray(mesh.weights.weights)))
    if mesh.own_bind is not None:
        keep("ownBind", kind.Matrix4dArray, usd_matrices(mesh.own_bind))
    if mesh.skinning is not None:
        keep("skinning", kind.Token, mesh.skinning)
    if shapes:
        keep("blendShapes", kind.TokenArray, Vt.TokenArray(list(tokens)))
        prim.CreateRelationship("ecorche:bind:blendShapeTargets", True).SetTargets(shapes)


def write_frames(
    layer: Any, schemas: Sequence[Any], meshes: Sequence[SkinnedMesh], frames: Frames, codes: Sequence[float]
) -> None:
    """Write points, velocities, normals and extents of every mesh over time, in bounded memory.

    Velocities [m/s] are central differences, one-sided at the ends. They lag a frame behind the
    points, since they need the next one.
    """
    if not len(frames):
        raise WriteError("there are no frames to write", remedy="Choose a motion that has some")
    outs = [
        _MeshSamples(layer, schema, mesh, frames[0].normals[number] is not None, len(frames) > 1)
        for number, (schema, mesh) in enumerate(zip(schemas, meshes, strict=True))
    ]
    waiting = 0
    for number, before, frame, after in _windows(frames):
        for index, out in enumerate(outs):
            waiting += out.write(codes[number], frame, index, before, after)
        if waiting > BYTES_BETWEEN_SAVES:
            layer.Save()
            waiting = 0


def _windows(frames: Frames) -> Iterator[tuple[int, Frame, Frame, Frame]]:
    """Each frame with its neighbours, itself at the ends; every frame is read once."""
    before = current = frames[0]
    for number in range(len(frames)):
        after = frames[number + 1] if number + 1 < len(frames) else current
        yield number, before, current, after
        before, current = current, after


class _MeshSamples:
    """Writes the samples of one mesh."""

    def __init__(
        self, layer: Any, schema: Any, mesh: SkinnedMesh, has_normals: bool, has_velocities: bool
    ) -> None:
        self._layer = layer
        path = schema.GetPrim().GetPath()
        self._points = path.AppendProperty("points")
        self._extent = path.AppendProperty("extent")
        self._velocities = path.AppendProperty("velocities") if has_velocities else None
        self._normals = None
        self._count = mesh.mesh.vertex_count
        if has_velocities:
            schema.CreateVelocitiesAttr()
        if has_normals and mesh.mesh.subdivision == "none":
            self._normals = path.AppendProperty("normals")
            write_bind_normals(schema, mesh.mesh)
            schema.CreateNormalsAttr()
            self._schema = schema
        else:
            keep_bind_normals(schema, mesh.mesh)

    def write(self, code: float, frame: Frame, index: int, before: Frame, after: Frame) -> int:
        """Write one frame; how many bytes that was."""
        points = frame.points[index]
        if points.shape != (self._count, 3):
            raise WriteError(
                f"a frame has points of shape {points.shape} for {self._count} vertices",
                where=self._points.GetPrimPath(),
            )
        size = points.nbytes
        self._layer.SetTimeSample(self._points, code, vectors(points))
        self._layer.SetTimeSample(self._extent, code, extent(points))
        if self._velocities is not None:
            self._layer.SetTimeSample(self._velocities, code, vectors(_velocity(before, after, index)))
            size += points.nbytes
        normals = frame.normals[index]
        if self._normals is not None and normals is not None:
            self._layer.SetTimeSample(self._normals, code, vectors(normals))
            kind = "vertex" if len(normals) == self._count else "faceVarying"
            if (
                self._schema.GetNormalsInterpolation() != kind
                or not self._schema.GetNormalsAttr().HasMetadata("interpolation")
            ):
                self._schema.SetNormalsInterpolation(kind)
            size += normals.nbytes
        return size


def _velocity(before: Frame, after: Frame, index: int) -> npt.NDArray[np.float32]:
    """Mean velocity [m/s] between two frames, (vertices, 3)."""
    seconds = after.time - before.time
    return (after.points[index] - before.points[index]) * np.float32(1.0 / seconds if seconds > 0.0 else 0.0)
