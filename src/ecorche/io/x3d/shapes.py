"""Shapes of a scene: polygons, texture coordinates and materials."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass, field
from urllib.parse import unquote

import numpy as np
import numpy.typing as npt

from ecorche.base.mesh import Attribute
from ecorche.body.character import Image, Material
from ecorche.io.x3d.nodes import Floats, Node, Scene, flag_of, metadata, strings_of

Ints = npt.NDArray[np.int64]
_MIME = {".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg"}
_UNLIT_ROUGHNESS = 0.7


@dataclass(frozen=True, eq=False)
class Polygons:
    """Faces of one shape over its Coordinate node's points.

    Attributes:
        coordinates: The Coordinate node.
        counts: Corners of each face, shape (faces,).
        corners: Point of each corner, shape (corners,).
        uv: Texture coordinates, (n, 2) and the row of each corner; or None.
        dropped: Faces of fewer than three corners, which were left out.
    """

    coordinates: Node
    counts: Ints
    corners: Ints
    uv: tuple[npt.NDArray[np.float32], Ints] | None
    dropped: int


def polygons(scene: Scene, geometry: Node) -> Polygons | None:
    """The faces of a geometry node; None for kinds that are no polygons over points."""
    coordinates = geometry.first("coord")
    if coordinates is None or coordinates.kind not in ("Coordinate", "CoordinateDouble"):
        return None
    if geometry.kind == "IndexedFaceSet":
        listed = scene.integers(geometry, "coordIndex")
        counts, corners, kept, slots = _faces(listed)
    elif geometry.kind in ("IndexedTriangleSet", "TriangleSet"):
        if geometry.kind == "TriangleSet":
            corners = np.arange(len(scene.floats(coordinates, "point", 3)))
        else:
            corners = scene.integers(geometry, "index")
        corners = corners[: len(corners) - len(corners) % 3]
        counts = np.full(len(corners) // 3, 3, np.int64)
        kept, slots = np.ones(len(counts), bool), np.arange(len(corners))
    else:
        return None
    uv = _texture_corners(scene, geometry, corners, slots)
    if not flag_of(geometry, "ccw", default=True):
        turn = _reversed_within(counts)
        corners = corners[turn]
        uv = None if uv is None else (uv[0], uv[1][turn])
    return Polygons(coordinates, counts, corners, uv, int((~kept).sum()))


def _faces(listed: Ints) -> tuple[Ints, Ints, npt.NDArray[np.bool_], Ints]:
    """Counts, corners, which faces were kept, and each kept corner's place in the list.

    Faces end with -1, the last may do without; those with fewer than three corners are left out.
    """
    if len(listed) and listed[-1] >= 0:
        listed = np.append(listed, -1)
    ends = np.flatnonzero(listed < 0)
    starts = np.concatenate([[0], ends[:-1] + 1]) if len(ends) else ends
    sizes = ends - starts
    present = sizes > 0  # two ends in a row enclose no face
    kept = sizes[present] >= 3
    use = np.zeros(len(listed), bool)
    for_slot = np.repeat(sizes >= 3, sizes + 1)
    use[: len(for_slot)] = for_slot
    use &= listed >= 0
    slots = np.flatnonzero(use)
    return sizes[sizes >= 3], listed[slots], kept, slots


def _reversed_within(counts: Ints) -> Ints:
    """Places of all corners with each face's order turned round."""
    starts = np.repeat(np.cumsum(counts) - counts, counts)
    step = np.arange(int(counts.sum())) - starts
    turned: Ints = starts + np.repeat(counts, counts) - 1 - step
    return turned


def _texture_corners(
    scene: Scene, geometry: Node, corners: Ints, slots: Ints
) -> tuple[npt.NDArray[np.float32], Ints] | None:
    node = geometry.first("texCoord")
    if node is None or node.kind != "TextureCoordinate":
        return None
    values = scene.floats(node, "point", 2).astype(np.float32)
    listed = scene.integers(geometry, "texCoordIndex")
    if not len(values):
        return None
    if len(listed) and len(slots) and slots.max() >= len(listed):
        raise scene.error(f"texCoordIndex of {geometry.kind} ends before coordIndex", geometry.line)
    chosen = listed[slots] if len(listed) else corners
    if len(chosen) and (chosen.min() < 0 or chosen.max() >= len(values)):
        bad = int(chosen[(chosen < 0) | (chosen >= len(values))][0])
        raise scene.error(f"texture coordinate {bad} is wanted, but only {len(values)} exist", geometry.line)
    return values, chosen


def uv_attribute(uv: tuple[npt.NDArray[np.float32], Ints], corners: Ints, vertices: int) -> Attribute:
    """Texture coordinates a vertex where the file's indices are the vertices', else a corner."""
    values, chosen = uv
    if len(values) == vertices and np.array_equal(chosen, corners):
        return Attribute("st", values, "vertex")
    return Attribute("st", values, "corner", chosen.astype(np.int32))


@dataclass(eq=False)
class Looks:
    """The materials and images of a scene, each once."""

    scene: Scene
    materials: list[Material] = field(default_factory=list)
    images: list[Image] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    _numbers: dict[tuple[int, bool], int] = field(default_factory=dict)
    _image_numbers: dict[int, int | None] = field(default_factory=dict)

    def number(self, shape: Node) -> int | None:
        """The number of a shape's material, None when it has none."""
        appearance = shape.first("appearance")
        geometry = shape.first("geometry")
        if appearance is None or _noted_material(appearance) == "":
            return None
        double = geometry is not None and not flag_of(geometry, "solid", default=True)
        key = id(appearance), double
        if key not in self._numbers:
            self._numbers[key] = len(self.materials)
            self.materials.append(self._material(appearance, double))
        return self._numbers[key]

    def _material(self, appearance: Node, double: bool) -> Material:
        scene, node = self.scene, appearance.first("material")
        texture = appearance.first("texture")
        if node is not None and texture is None:
            texture = node.first("baseTexture") or node.first("diffuseTexture")
        image = None if texture is None else self._image(texture)
        name = _noted_material(appearance) or (
            appearance.name or (node.name if node is not None else None) or f"material_{len(self.materials)}"
        )
        if node is None:
            return Material(name, (1.0, 1.0, 1.0, 1.0), base_color_image=image, double_sided=double)
        alpha = 1.0 - float(scene.vector(node, "transparency", (0.0,))[0])
        if node.kind == "PhysicalMaterial":
            red, green, blue = scene.vector(node, "baseColor", (1.0, 1.0, 1.0))
            metallic = float(scene.vector(node, "metallic", (1.0,))[0])
            roughness = float(scene.vector(node, "roughness", (1.0,))[0])
        else:
            colour = "emissiveColor" if node.kind == "UnlitMaterial" else "diffuseColor"
            red, green, blue = scene.vector(node, colour, (0.8, 0.8, 0.8))
            metallic, roughness = 0.0, _UNLIT_ROUGHNESS
        base = (float(red), float(green), float(blue), alpha)
        return Material(name, base, metallic, roughness, image, double)

    def _image(self, texture: Node) -> int | None:
        if id(texture) not in self._image_numbers:
            self._image_numbers[id(texture)] = None
            image = self._read_image(texture)
            if image is not None:
                self._image_numbers[id(texture)] = len(self.images)
                self.images.append(image)
        return self._image_numbers[id(texture)]

    def _read_image(self, texture: Node) -> Image | None:
        """The first of the texture's addresses that is in the file itself or lies beside it."""
        for url in strings_of(texture, "url"):
            name = texture.name or "texture"
            if url.startswith("data:image/") and ";base64," in url:
                mime, data = url[5:].split(";base64,", 1)
                try:
                    return Image(name, mime, base64.b64decode(data, validate=True))
                except binascii.Error:
                    raise self.scene.error(
                        "the image in the texture's url is damaged", texture.line
                    ) from None
            local = unquote(url)
            mime_type = _MIME.get(local[local.rfind(".") :].lower())
            if "://" in url or mime_type is None or local.startswith("/"):
                continue
            beside = (self.scene.path.parent / local).resolve()
            if beside.is_relative_to(self.scene.path.parent.resolve()) and beside.is_file():
                return Image(beside.stem, mime_type, beside.read_bytes())
        self.notes.append(f"no image of the {texture.kind} in line {texture.line} lies beside the file")
        return None


def _noted_material(appearance: Node) -> str | None:
    """The material's name as our own writer noted it, empty where there was none to write."""
    kept = metadata(appearance, "material")
    return None if kept is None else next(iter(strings_of(kept, "value")), "")


def shape_name(shape: Node) -> str | None:
    """What a shape is called: as our own writer noted it, else by its DEF."""
    geometry = shape.first("geometry")
    kept = None if geometry is None else metadata(geometry, "mesh")
    noted = None if kept is None else next(iter(strings_of(kept, "value")), None)
    return noted or shape.name


def points_of(scene: Scene, coordinates: Node) -> Floats:
    """The points of a Coordinate node in its own space, shape (points, 3)."""
    return scene.floats(coordinates, "point", 3)
