"""A posed cache in a USD file: one frame read at a time, whatever the file's length."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from pxr import UsdGeom

from ecorche.body.frames import Frame, PointSet
from ecorche.errors import MeshError
from ecorche.io.usd.mesh import ReadMesh, normals_in_order
from ecorche.io.usd.stage import (
    Space,
    bounded_memory,
    move_points,
    moving_ancestors,
    quiet,
    readable_read_errors,
    size_on_disk,
    turn_normals,
    world_from_prim,
)
from ecorche.io.usd.values import floats3
from ecorche.skeleton.kinematics import difference_from_bind
from ecorche.skeleton.motion import Motion

if TYPE_CHECKING:
    from ecorche.skin.methods import Skinning


class UsdFrames:
    """Points, and normals where the file samples them, of every mesh of a stage over time.

    A mesh that USD itself skins is skinned here, so that frames are whole.

    Args:
        path: The file, for messages.
        stage: The open stage; kept open while the frames are in use.
        meshes: The character's meshes.
        space: The stage's units.
        codes: Time codes of the frames, rising.
        motion: The joints at the same times.
    """

    def __init__(
        self,
        path: Path,
        stage: Any,
        meshes: Sequence[ReadMesh],
        space: Space,
        codes: Sequence[float],
        motion: Motion,
    ) -> None:
        self._path, self._stage, self._meshes = path, stage, tuple(meshes)
        self._space, self._codes, self._motion = space, tuple(codes), motion
        self._still = [
            None
            if moving_ancestors(mesh.source.prim)
            else space.ours_from_stage @ world_from_prim(mesh.source.prim)
            for mesh in meshes
        ]
        self._bytes = size_on_disk(stage)
        self._skinnings: dict[int, Skinning] = {}
        self.times: npt.NDArray[np.float64] = space.seconds(codes)

    def __len__(self) -> int:
        return len(self._codes)

    def __getitem__(self, index: int) -> Frame:
        code = self._codes[index]
        frame = int(np.arange(len(self))[index])
        with quiet(), readable_read_errors(self._path), bounded_memory(self._bytes):
            read = [self._mesh(number, frame, code) for number in range(len(self._meshes))]
        return Frame(float(self.times[frame]), tuple(p for p, _ in read), tuple(n for _, n in read))

    def _mesh(self, number: int, frame: int, code: float) -> tuple[PointSet, PointSet | None]:
        """Points and normals of one mesh at a time code."""
        mesh = self._meshes[number]
        schema = UsdGeom.Mesh(mesh.source.prim)
        points = floats3(schema.GetPointsAttr().Get(code), "points", mesh.source.where)
        at_bind = mesh.skinned.mesh.vertex_count
        if len(points) != at_bind:
            raise MeshError(
                f"it has {len(points)} points at time code {code:g}, but {at_bind} at bind",
                where=mesh.source.where,
                remedy="Export it with a fixed topology",
            )
        if not np.isfinite(points).all():
            raise MeshError(
                f"a point at time code {code:g} is not a finite number",
                where=mesh.source.where,
                remedy="Export the cache again",
            )
        if mesh.skinned_by_usd:
            return self._skinned(number, frame, move_points(mesh.ours_from_prim, points)), None
        still = self._still[number]
        place = (
            self._space.ours_from_stage @ world_from_prim(mesh.source.prim, code) if still is None else still
        )
        return move_points(place, points), self._normals(mesh, schema, code, place)

    def _normals(
        self, mesh: ReadMesh, schema: Any, code: float, place: npt.NDArray[np.float64]
    ) -> PointSet | None:
        attribute = schema.GetNormalsAttr()
        if attribute.GetNumTimeSamples() == 0:
            return None
        normals = floats3(attribute.Get(code), "normals", mesh.source.where)
        surface = mesh.skinned.mesh
        ordered = normals_in_order(
            normals,
            str(schema.GetNormalsInterpolation()),
            surface.face_indices,
            surface.vertex_count,
            mesh.corner_order,
        )
        return None if ordered is None else turn_normals(place, ordered)

    def _skinned(self, number: int, frame: int, points: PointSet) -> PointSet:
        # skinning compiles code: only a cache that mixes posed and skinned meshes pays for it
        from ecorche.body.compile import morphed_points
        from ecorche.skin.methods import make_skinning

        mesh = self._meshes[number].skinned
        assert mesh.weights is not None
        if number not in self._skinnings:
            self._skinnings[number] = make_skinning(
                mesh.skinning or "linear", mesh.mesh.points, mesh.weights, self._motion.skeleton
            )
        weights = {name: float(w[frame]) for name, w in self._motion.morph_weights.items()}
        morphed = morphed_points(mesh, weights)
        if morphed is not None:
            points = points + (morphed - mesh.mesh.points)
        difference = difference_from_bind(self._motion.skeleton, self._motion.local[frame])
        return self._skinnings[number].apply(difference, points)
