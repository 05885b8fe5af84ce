"""One mesh that is many copies of another, to be drawn at once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ecorche.base.mesh import Mesh


def repeated_mesh(mesh: Mesh, count: int) -> Mesh:
    """So many copies of a mesh as one, vertices and faces of the first first; looks are kept."""
    copies = np.arange(count, dtype=np.int32)
    uv = mesh.uv
    if uv is not None:
        values = uv.flat()
        if uv.interpolation in ("vertex", "corner"):
            values = np.tile(values, (count, *(1,) * (values.ndim - 1)))
        uv = replace(uv, values=values, indices=None)
    faces = len(mesh.face_counts)
    return replace(
        mesh,
        points=np.tile(mesh.points, (count, 1)),
        face_counts=np.tile(mesh.face_counts, count),
        face_indices=(copies[:, None] * mesh.vertex_count + mesh.face_indices).reshape(-1),
        normals=None if mesh.normals is None else np.tile(mesh.normals, (count, 1)),
        uv=uv,
        attributes=(),
        subsets=tuple(
            replace(subset, faces=(copies[:, None] * faces + subset.faces).reshape(-1))
            for subset in mesh.subsets
        ),
        morphs=(),
    )
