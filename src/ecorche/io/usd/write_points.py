"""Write a performance as point samples: what any program plays, whatever made the skin move.

The default value of each mesh is its bind pose, its samples are the frames. The skeleton and its
animation stand beside the meshes under a SkelRoot of their own; each mesh keeps its weights in
``ecorche:bind:`` attributes, so that the whole character can be read back and USD does not skin
posed points a second time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from pxr import Sdf, UsdGeom, Vt

from ecorche.base.mesh import Mesh
from ecorche.body.character import SkinnedMesh
from ecorche.body.frames import Frame, Frames, PointSet
from ecorche.errors import WriteError
from ecorche.io.usd.values import TANGENTS
from ecorche.io.usd.write_mesh import extent, keep_bind_normals, vectors, whole_numbers, write_bind_normals
from ecorche.io.usd.write_skeleton import usd_matrices

if TYPE_CHECKING:
    from ecorche.skin.tangents import Tangents

BYTES_BETWEEN_SAVES = 64_000_000
"""Samples are saved, and leave memory, whenever this much has gathered."""


def keep_binding(
    prim: Any, mesh: SkinnedMesh, skeleton: Any, tokens: Sequence[str], shapes: list[Any]
) -> None:
    """Keep on a posed mesh how it hangs on the skeleton.

    Args:
        prim: The mesh's prim.
        mesh: The mesh.
        skeleton: Path of the Skeleton prim.
        tokens: What animations call each of its blend shapes.
        shapes: Path of each of its blend shapes.
    """
    kind = Sdf.ValueTypeNames

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
    layer: Any,
    schemas: Sequence[Any],
    meshes: Sequence[SkinnedMesh],
    frames: Frames,
    codes: Sequence[float],
    tangents: bool,
    notes: list[str],
) -> None:
    """Write points, velocities, normals and extents of every mesh over time, in bounded memory.

    Where asked for, tangents are a primvar a corner: x, y, z and the bitangent's sign.

    Velocities [m/s] are central differences, one-sided at the ends. They lag a frame behind the
    points, since they need the next one.
    """
    require_frames(frames)
    samples = FrameSamples(layer, schemas, meshes, frames[0], len(frames) > 1)
    if tangents:
        samples.add_tangents(notes)
    for number, before, frame, after in windows(frames):
        samples.write(codes[number], before, frame, after)


def require_frames(frames: Frames) -> None:
    """Refuse to write nothing."""
    if not len(frames):
        raise WriteError("there are no frames to write", remedy="Choose a motion that has some")


class FrameSamples:
    """Writes frames of all meshes to a layer, and saves it now and then.

    Args:
        layer: The layer.
        schemas: The UsdGeomMesh of each mesh.
        meshes: The meshes.
        first: Any frame of them.
        has_velocities: Whether there is more than one frame.
    """

    def __init__(
        self,
        layer: Any,
        schemas: Sequence[Any],
        meshes: Sequence[SkinnedMesh],
        first: Frame,
        has_velocities: bool,
    ) -> None:
        self.layer, self._meshes, self._waiting = layer, meshes, 0
        self._outs = [
            _MeshSamples(layer, schema, mesh, normals, has_velocities)
            for schema, mesh, normals in zip(schemas, meshes, first.normals, strict=True)
        ]

    def add_tangents(self, notes: list[str]) -> None:
        """Write tangents too, from here on; where a mesh cannot have them, a note."""
        for out, mesh in zip(self._outs, self._meshes, strict=True):
            out.add_tangents(mesh.mesh, notes)

    def write(self, code: float, before: Frame, frame: Frame, after: Frame) -> None:
        """Write one frame, between its neighbours."""
        for index, out in enumerate(self._outs):
            self._waiting += out.write(code, frame, index, before, after)
        if self._waiting > BYTES_BETWEEN_SAVES:
            self.layer.Save()
            self._waiting = 0


def windows(frames: Frames) -> Iterator[tuple[int, Frame, Frame, Frame]]:
    """Each frame with its neighbours, itself at the ends; every frame is read once."""
    before = current = frames[0]
    for number in range(len(frames)):
        after = frames[number + 1] if number + 1 < len(frames) else current
        yield number, before, current, after
        before, current = current, after


class _MeshSamples:
    """Writes the samples of one mesh.

    Args:
        layer: The layer.
        schema: The UsdGeomMesh at bind.
        mesh: The mesh.
        first_normals: Its normals in the first frame, or None where frames have none.
        has_velocities: Whether there is more than one frame.
    """

    def __init__(
        self,
        layer: Any,
        schema: Any,
        mesh: SkinnedMesh,
        first_normals: PointSet | None,
        has_velocities: bool,
    ) -> None:
        self._layer, self._shape = layer, mesh.mesh.points.shape
        self._schema = schema
        self._tangents: tuple[Any, Tangents] | None = None
        path = schema.GetPrim().GetPath()
        self._points, self._extent = path.AppendProperty("points"), path.AppendProperty("extent")
        self._velocities = path.AppendProperty("velocities") if has_velocities else None
        self._normals, self._normals_shape = None, None
        if has_velocities:
            schema.CreateVelocitiesAttr()
        if first_normals is None or mesh.mesh.subdivision != "none":
            keep_bind_normals(schema, mesh.mesh)
        else:
            self._normals, self._normals_shape = path.AppendProperty("normals"), first_normals.shape
            write_bind_normals(schema, mesh.mesh)
            schema.CreateNormalsAttr()
            schema.SetNormalsInterpolation("vertex" if first_normals.shape == self._shape else "faceVarying")

    def add_tangents(self, mesh: Mesh, notes: list[str]) -> None:
        """Write tangents too, from here on; where the mesh cannot have them, a note."""
        # compiled code is only loaded where it is asked for
        from ecorche.skin.tangents import Tangents, no_tangents

        reason = no_tangents(mesh, self._normals is not None)
        if reason is not None:
            notes.append(f"mesh {mesh.name!r} is written without tangents: {reason}")
            return
        primvar = UsdGeom.PrimvarsAPI(self._schema).CreatePrimvar(
            TANGENTS, Sdf.ValueTypeNames.Float4Array, UsdGeom.Tokens.faceVarying
        )
        self._tangents = primvar.GetAttr().GetPath(), Tangents(mesh)

    def write(self, code: float, frame: Frame, index: int, before: Frame, after: Frame) -> int:
        """Write one frame; how many bytes that was."""
        points, normals = frame.points[index], frame.normals[index]
        self._require(points, "points", self._shape)
        self._layer.SetTimeSample(self._points, code, vectors(points))
        self._layer.SetTimeSample(self._extent, code, extent(points))
        size = points.nbytes
        if self._velocities is not None:
            self._layer.SetTimeSample(self._velocities, code, vectors(_velocity(before, after, index)))
            size += points.nbytes
        if self._normals is not None:
            normals = self._require(normals, "normals", self._normals_shape)
            self._layer.SetTimeSample(self._normals, code, vectors(normals))
            size += normals.nbytes
            if self._tangents is not None:
                path, maker = self._tangents
                values = maker.apply(points, normals)
                self._layer.SetTimeSample(path, code, Vt.Vec4fArray.FromNumpy(values))
                size += values.nbytes
        return size

    def _require(self, array: PointSet | None, what: str, shape: tuple[int, ...] | None) -> PointSet:
        found = None if array is None else array.shape
        if array is None or found != shape:
            raise WriteError(
                f"a frame has {what} of shape {found} where {shape} is expected",
                where=self._points.GetPrimPath(),
                remedy="Bake the take anew",
            )
        return array


def _velocity(before: Frame, after: Frame, index: int) -> npt.NDArray[np.float32]:
    """Mean velocity [m/s] between two frames, (vertices, 3)."""
    seconds = after.time - before.time
    return (after.points[index] - before.points[index]) * np.float32(1.0 / seconds if seconds > 0.0 else 0.0)
