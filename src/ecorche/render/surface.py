"""One mesh on the stage, in as many pieces as it has materials."""

from __future__ import annotations

import io
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ecorche.base.mesh import Mesh, triangle_corners
from ecorche.base.rotations import normalise
from ecorche.body.character import Character, Image, Material
from ecorche.errors import ReadError

Points = npt.NDArray[np.float32]


class Surface:
    """A mesh that is shown with new points and normals every frame.

    Where normals or texture coordinates belong to face corners, corners are drawn in place of
    vertices, so that hard edges stay hard.

    Args:
        pv: The pyvista module.
        plotter: The stage's plotter.
        mesh: The surface.
        character: Whose materials and images it uses.
        plain: The look of faces without a material, or with one that says nothing: pure white,
            which is what formats assume when an author chose no colour.
    """

    def __init__(self, pv: Any, plotter: Any, mesh: Mesh, character: Character, plain: Material) -> None:
        looks = {number: _look(character, number, plain) for number in _faces_by_material(mesh)}
        textured = mesh.uv is not None and any(look.base_color_image is not None for look in looks.values())
        hard = mesh.normals is not None and len(mesh.normals) != len(mesh.points)
        split = hard or (textured and mesh.uv is not None and mesh.uv.interpolation == "corner")
        self._rows = mesh.face_indices if split else None
        self._triangles = mesh.triangles()
        corners = triangle_corners(mesh.face_counts)
        drawn = corners if split else self._triangles
        count = len(mesh.face_indices) if split else len(mesh.points)
        face = np.repeat(np.arange(len(mesh.face_counts)), mesh.face_counts - 2)
        self._pieces = []
        self.actors = []
        for number, faces in _faces_by_material(mesh).items():
            look = looks[number]
            piece = pv.PolyData.from_regular_faces(
                np.zeros((count, 3), np.float32), drawn[np.isin(face, faces)]
            )
            piece.point_data.active_normals = np.zeros((count, 3), np.float32)
            actor = plotter.add_mesh(
                piece,
                color=look.base_color[:3],
                opacity=look.base_color[3],
                pbr=True,
                metallic=look.metallic,
                roughness=look.roughness,
                smooth_shading=True,
                copy_mesh=False,
            )
            if textured and look.base_color_image is not None:
                piece.active_texture_coordinates = _uv(mesh, split)
                texture = _texture(pv, character.images[look.base_color_image])
                actor.GetProperty().SetBaseColorTexture(texture)
            self._pieces.append(piece)
            self.actors.append(actor)

    def update(self, points: Points, normals: Points | None) -> None:
        """Show the mesh with these points [m] (vertices, 3) and normals, a vertex or a corner each."""
        if normals is None:
            normals = smooth_normals(points, self._triangles)
        if self._rows is not None:
            if len(normals) == len(points):
                normals = normals[self._rows]
            points = points[self._rows]
        for piece in self._pieces:
            piece.points = points
            piece.point_data.active_normals = normals


class PaintedSurface:
    """A surface whose vertices carry a colour each, new every frame.

    Args:
        pv: The pyvista module.
        plotter: The stage's plotter.
        triangles: Vertex triples, shape (triangles, 3).
        count: How many vertices.
        gloss: ``"wet"`` as flesh, ``"clay"`` for its shape, ``"matt"`` so that colours read as on the bar,
            ``"none"`` without light.
        culling: ``"front"`` to show only the inside, or None.
    """

    def __init__(
        self,
        pv: Any,
        plotter: Any,
        triangles: npt.NDArray[np.int32],
        count: int,
        gloss: Literal["wet", "clay", "matt", "none"],
        culling: Literal["front"] | None = None,
    ) -> None:
        self._mesh = mesh = pv.PolyData.from_regular_faces(np.zeros((count, 3), np.float32), triangles)
        mesh.point_data.active_normals = np.zeros((count, 3), np.float32)
        mesh.point_data["colour"] = np.zeros((count, 3), np.uint8)
        looks: dict[str, Any] = {
            "wet": {"pbr": True, "metallic": 0.0, "roughness": 0.42, "smooth_shading": True},
            "clay": {"ambient": 0.3, "diffuse": 0.26, "specular": 0.0, "smooth_shading": True},
            "matt": {"ambient": 0.62, "diffuse": 0.12, "specular": 0.0, "smooth_shading": True},
            "none": {"lighting": False},
        }
        self.actor = plotter.add_mesh(
            mesh, scalars="colour", rgb=True, copy_mesh=False, culling=culling, **looks[gloss]
        )

    def update(self, points: Points, normals: Points, colours: npt.NDArray[np.uint8]) -> None:
        """Show these points [m], unit normals and sRGB colours, each (vertices, 3)."""
        self._mesh.points = points
        self._mesh.point_data.active_normals = normals
        self._mesh.point_data["colour"] = colours


def vertex_normals(mesh: Mesh, points: Points, normals: Points | None) -> Points:
    """A normal for every vertex (vertices, 3), whatever a frame holds: for each vertex, corner, or none."""
    if normals is not None and len(normals) == len(points):
        return normals
    return smooth_normals(points, mesh.triangles())


def smooth_normals(points: Points, triangles: npt.NDArray[np.int32]) -> Points:
    """Area-weighted vertex normals (vertices, 3), for surfaces that carry none."""
    corners = points[triangles].astype(np.float64)
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    index = triangles.reshape(-1)
    total = np.stack(
        [np.bincount(index, np.repeat(across[:, axis], 3), minlength=len(points)) for axis in range(3)],
        axis=1,
    )
    return normalise(total).astype(np.float32)


def _faces_by_material(mesh: Mesh) -> dict[int | None, npt.NDArray[np.int64]]:
    """Face numbers of each material of a mesh; faces of no subset have the mesh's own."""
    material = np.full(len(mesh.face_counts), -1 if mesh.material is None else mesh.material)
    for subset in mesh.subsets:
        if subset.material is not None:
            material[subset.faces] = subset.material
    return {(None if m < 0 else int(m)): np.flatnonzero(material == m) for m in np.unique(material)}


def _look(character: Character, number: int | None, plain: Material) -> Material:
    if number is None:
        return plain
    material = character.materials[number]
    untold = material.base_color == (1.0, 1.0, 1.0, 1.0) and material.base_color_image is None
    return plain if untold else material


def _uv(mesh: Mesh, split: bool) -> Points:
    """Texture coordinates of everything drawn, origin at the lower left."""
    assert mesh.uv is not None
    uv = np.asarray(mesh.uv.flat(), np.float32)[:, :2]
    return uv[mesh.face_indices] if split and mesh.uv.interpolation == "vertex" else uv


def _texture(pv: Any, image: Image) -> Any:
    from PIL import Image as Pillow

    try:
        with Pillow.open(io.BytesIO(image.data)) as opened:
            pixels = np.asarray(opened.convert("RGB"))
    except (OSError, SyntaxError, ValueError, Pillow.DecompressionBombError) as error:
        raise ReadError(
            f"the texture cannot be decoded ({error})",
            where=f"image {image.name!r}",
            remedy="Replace it by a PNG or JPEG picture",
        ) from error
    texture = pv.Texture(np.ascontiguousarray(pixels))
    texture.SetUseSRGBColorSpace(True)
    texture.interpolate = True
    texture.mipmap = True
    return texture
