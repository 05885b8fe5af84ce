"""Materials and textures of USD files, both ways.

A material's UsdPreviewSurface gives colour, metalness, roughness and texture. Its whole shading
network travels along as text in ``Material.extra["usd"]``, with texture files replaced by numbers
into the character's images, and is written back as it was. Looks of other formats are written as
a UsdPreviewSurface, with their own description kept in an attribute ``ecorche:looks``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from pathlib import PurePosixPath
from typing import Any

from pxr import Ar, Gf, Sdf, Usd, UsdShade

from ecorche.base.confined import is_within
from ecorche.base.names import unique
from ecorche.body.character import Character, Image, Material
from ecorche.io.usd.stage import prim_title
from ecorche.io.usd.values import unique_names

MIME_TYPES = {".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".webp": "image/webp"}
SUFFIXES = {"image/png": ".png", "image/jpeg": ".jpg", "image/webp": ".webp"}
PLACEHOLDER = "ecorche-image-"
"""Stands for a texture file in the text of a shading network, followed by the image's number."""


class MaterialReader:
    """Collects a stage's materials and images, numbered in the order the stage lists them.

    Args:
        stage: The stage.
        notes: Told of textures that cannot be had.
    """

    def __init__(self, stage: Any, notes: list[str]) -> None:
        self.materials: list[Material] = []
        self.images: list[Image] = []
        self._stage, self._notes = stage, notes
        self._numbers: dict[str, int] = {}
        self._image_numbers: dict[str, int | None] = {}
        root = stage.GetDefaultPrim()
        for asset in (root.GetAttribute("ecorche:images").Get() if root else None) or []:
            self._image(asset)
        for prim in stage.Traverse():
            if prim.IsA(UsdShade.Material):
                self._numbered(UsdShade.Material(prim))

    def number_of(self, prim: Any) -> int | None:
        """The number of the material bound to a prim itself or, for meshes, above it; or None."""
        material, _ = UsdShade.MaterialBindingAPI(prim).ComputeBoundMaterial()
        return self._numbered(material) if material else None

    def _numbered(self, material: Any) -> int:
        path = str(material.GetPath())
        if path not in self._numbers:
            self._numbers[path] = len(self.materials)
            self.materials.append(self._read(material))
        return self._numbers[path]

    def _read(self, material: Any) -> Material:
        prim = material.GetPrim()
        name = prim_title(prim)
        extra: dict[str, Any] = {}
        kept = prim.GetAttribute("ecorche:looks")
        if kept and kept.Get() is not None:
            extra.update(json.loads(str(kept.Get())))
        else:
            network = self._network(material)
            if network is not None:
                extra["usd"] = {"network": network}
        surface, _, _ = material.ComputeSurfaceSource()
        if not surface or str(surface.GetIdAttr().Get()) != "UsdPreviewSurface":
            return Material(name, extra=extra)
        color, image, alpha = self._color(surface)
        opacity = _number(surface, "opacity", alpha)
        return Material(
            name,
            base_color=(*color, opacity),
            metallic=_number(surface, "metallic", 0.0),
            roughness=_number(surface, "roughness", 0.5),
            base_color_image=image,
            double_sided=bool(prim.GetAttribute("ecorche:doubleSided").Get()),
            extra=extra,
        )

    def _color(self, surface: Any) -> tuple[tuple[float, float, float], int | None, float]:
        """Base colour, the number of its texture, and its opacity; a texture's scale is its colour."""
        grey = (0.18, 0.18, 0.18)
        source = surface.GetInput("diffuseColor")
        producers = source.GetValueProducingAttributes() if source else []
        if not producers:
            return grey, None, 1.0
        shader = UsdShade.Shader(producers[0].GetPrim())
        if shader and str(shader.GetIdAttr().Get()) == "UsdUVTexture":
            file = shader.GetInput("file")
            image = self._image(file.Get()) if file else None
            scale = shader.GetInput("scale")
            tint = scale.Get() if scale else None
            return ((1.0, 1.0, 1.0), image, 1.0) if tint is None else (tuple(tint[:3]), image, tint[3])
        value = producers[0].Get()
        return (grey if value is None else (value[0], value[1], value[2])), None, 1.0

    def _image(self, asset: Any) -> int | None:
        """The number of a texture file, read once; None, and a note, where it cannot be had."""
        if asset is None or not asset.path:
            return None
        key = asset.resolvedPath or asset.path
        if key not in self._image_numbers:
            self._image_numbers[key] = self._read_image(asset)
        return self._image_numbers[key]

    def _read_image(self, asset: Any) -> int | None:
        file = PurePosixPath(re.sub(r"^.*\[|\]$", "", asset.path.replace("\\", "/")))
        mime = MIME_TYPES.get(file.suffix.lower())
        if mime is None:
            self._notes.append(f"texture {asset.path!r} is not PNG, JPEG or WebP: only its name is kept")
            return None
        resolved = asset.resolvedPath
        if resolved and not is_within(resolved.partition("[")[0]):
            self._notes.append(
                f"texture {asset.path!r} is outside of the opened folder: only its name is kept"
            )
            return None
        opened = Ar.GetResolver().OpenAsset(Ar.ResolvedPath(resolved)) if resolved else None
        if not opened:
            self._notes.append(f"texture {asset.path!r} cannot be found: only its name is kept")
            return None
        with opened as content:
            data = bytes(content.GetBuffer())
        self.images.append(Image(file.stem, mime, data))
        return len(self.images) - 1

    def _network(self, material: Any) -> str | None:
        """The shading network as text, or None where it reaches outside its material."""
        prim = material.GetPrim()
        flat = self._stage.GetRootLayer()
        masked = Usd.Stage.OpenMasked(flat, Usd.StagePopulationMask([prim.GetPath()]))
        flat = masked.Flatten(False)
        source = prim.GetPath()
        if prim.IsInstanceProxy() or not flat.GetPrimAtPath(source):
            return None
        text = Sdf.Layer.CreateAnonymous(".usda")
        Sdf.CopySpec(flat, source, text, Sdf.Path("/Material"))
        outside: list[Any] = []

        def visit(path: Any) -> None:
            spec = text.GetObjectAtPath(path)
            if isinstance(spec, Sdf.AttributeSpec):
                targets = list(spec.connectionPathList.GetAddedOrExplicitItems())
                outside.extend(t for t in targets if not t.HasPrefix(Sdf.Path("/Material")))
                if isinstance(spec.default, Sdf.AssetPath):
                    composed = prim.GetStage().GetAttributeAtPath(
                        path.ReplacePrefix(Sdf.Path("/Material"), source)
                    )
                    number = self._image(composed.Get())
                    name = spec.default.path if number is None else f"{PLACEHOLDER}{number}"
                    spec.default = Sdf.AssetPath(name)

        text.Traverse(Sdf.Path("/Material"), visit)
        return None if outside else str(text.ExportToString())


def _number(surface: Any, name: str, default: float) -> float:
    """A plain number input of a surface; the default where it is absent or textured."""
    source = surface.GetInput(name)
    value = source.Get() if source and not source.HasConnectedSource() else None
    return default if value is None else float(value)


# --- writing ---------------------------------------------------------------------------------


def texture_names(character: Character) -> list[str]:
    """A file name for each image of a character, each once."""
    taken: set[str] = set()
    return [
        unique(re.sub(r"[^A-Za-z0-9_-]", "_", image.name) or "texture", taken)
        + SUFFIXES.get(image.mime_type, ".png")
        for image in character.images
    ]


def write_materials(
    stage: Any, scope: Any, character: Character, texture: Callable[[int], str], notes: list[str]
) -> list[Any]:
    """Write a character's materials below a scope; the UsdShade materials in the same order.

    Args:
        stage: The stage.
        scope: Path of the scope to make.
        character: Whose materials.
        texture: The asset path of an image, by its number.
        notes: Told of looks that USD's preview surface cannot show.
    """
    if not character.materials:
        return []
    stage.DefinePrim(scope, "Scope")
    names = unique_names([m.name or "material" for m in character.materials])
    written = []
    for name, material in zip(names, character.materials, strict=True):
        path = scope.AppendChild(name)
        usd = material.extra.get("usd")
        network = usd.get("network") if isinstance(usd, Mapping) else None
        if isinstance(network, str):
            _copy_network(stage, path, network, texture)
        else:
            _preview_surface(stage, path, material, character, texture, notes)
        prim = stage.GetPrimAtPath(path)
        if name != material.name:
            prim.SetDisplayName(material.name)
        written.append(UsdShade.Material(prim))
    return written


def _copy_network(stage: Any, path: Any, network: str, texture: Callable[[int], str]) -> None:
    source = Sdf.Layer.CreateAnonymous(".usda")
    source.ImportFromString(network)
    layer = stage.GetRootLayer()
    Sdf.CopySpec(source, Sdf.Path("/Material"), layer, path)

    def visit(below: Any) -> None:
        spec = layer.GetObjectAtPath(below)
        if isinstance(spec, Sdf.AttributeSpec) and isinstance(spec.default, Sdf.AssetPath):
            name = spec.default.path
            if name.startswith(PLACEHOLDER):
                spec.default = Sdf.AssetPath(texture(int(name.removeprefix(PLACEHOLDER))))

    layer.Traverse(path, visit)


def _preview_surface(
    stage: Any,
    path: Any,
    material: Material,
    character: Character,
    texture: Callable[[int], str],
    notes: list[str],
) -> None:
    """A UsdPreviewSurface of the values every format shares."""
    usd_material = UsdShade.Material.Define(stage, path)
    surface = UsdShade.Shader.Define(stage, path.AppendChild("Surface"))
    surface.CreateIdAttr("UsdPreviewSurface")
    kind = Sdf.ValueTypeNames
    red, green, blue, alpha = material.base_color
    gltf = material.extra.get("gltf") or {"alphaMode": "BLEND"}
    blending = gltf.get("alphaMode", "OPAQUE")
    opacity = surface.CreateInput("opacity", kind.Float)
    opacity.Set(alpha if blending != "OPAQUE" else 1.0)
    if blending == "MASK":
        surface.CreateInput("opacityThreshold", kind.Float).Set(float(gltf.get("alphaCutoff", 0.5)))
    color = surface.CreateInput("diffuseColor", kind.Color3f)
    if material.base_color_image is None:
        color.Set(Gf.Vec3f(red, green, blue))
    else:
        reader = UsdShade.Shader.Define(stage, path.AppendChild("Coordinates"))
        reader.CreateIdAttr("UsdPrimvarReader_float2")
        reader.CreateInput("varname", kind.String).Set(_uv_name(character, material))
        pixels = UsdShade.Shader.Define(stage, path.AppendChild("BaseColor"))
        pixels.CreateIdAttr("UsdUVTexture")
        pixels.CreateInput("file", kind.Asset).Set(Sdf.AssetPath(texture(material.base_color_image)))
        pixels.CreateInput("sourceColorSpace", kind.Token).Set("sRGB")
        pixels.CreateInput("wrapS", kind.Token).Set("repeat")
        pixels.CreateInput("wrapT", kind.Token).Set("repeat")
        pixels.CreateInput("scale", kind.Float4).Set(Gf.Vec4f(red, green, blue, alpha))
        pixels.CreateInput("st", kind.Float2).ConnectToSource(reader.CreateOutput("result", kind.Float2))
        color.ConnectToSource(pixels.CreateOutput("rgb", kind.Float3))
        if blending != "OPAQUE" and "gltf" in material.extra:  # hair, lashes, lace
            opacity.ConnectToSource(pixels.CreateOutput("a", kind.Float))
    surface.CreateInput("metallic", kind.Float).Set(material.metallic)
    surface.CreateInput("roughness", kind.Float).Set(material.roughness)
    usd_material.CreateSurfaceOutput().ConnectToSource(surface.CreateOutput("surface", kind.Token))
    prim = usd_material.GetPrim()
    if material.double_sided:
        prim.CreateAttribute("ecorche:doubleSided", kind.Bool, True).Set(True)
    if material.extra:
        text = json.dumps(material.extra, sort_keys=True)
        prim.CreateAttribute("ecorche:looks", kind.String, True).Set(text)
        described = " ".join(str(d) for d in material.extra.values()).replace("baseColorTexture", "")
        if any(part in described for part in ("Texture", "KHR_texture_transform", "'texCoord'")):
            notes.append(
                f"material {material.name!r}: USD shows its base colour texture alone, as it lies; the rest"
                " of its description is kept for the way back"
            )


def _uv_name(character: Character, material: Material) -> str:
    """The name the texture coordinates of the first mesh of that material are written under."""
    number = character.materials.index(material)
    for mesh in (skinned.mesh for skinned in character.meshes):
        if mesh.uv is not None and number in (mesh.material, *(s.material for s in mesh.subsets)):
            return uv_primvar_name(mesh.uv.name)
    return "st"


def uv_primvar_name(name: str) -> str:
    """USD calls the primary texture coordinates ``st``, whatever another format called them."""
    return name if name == "st" or re.fullmatch(r"st\d*|UVMap\w*|map\d+", name) else "st"
