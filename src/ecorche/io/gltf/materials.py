"""Materials and images of a glTF file, in and out.

A material's JSON travels along whole. Its texture references are rewritten to numbers of images,
with the sampler beside them, because glTF's own texture list is not part of a character.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ecorche.body.character import Image, Material
from ecorche.errors import ReadError
from ecorche.io.gltf.file import GltfFile, Json

SAMPLER = "ecorche_sampler"
"""Key beside a texture reference that holds the glTF sampler."""

LOOKS = "ecorche_looks"
"""Extra of a material that came from another format: that format's own description."""

WEBP = "image/webp"
"""An image only an extension may refer to."""


def read_images(file: GltfFile) -> tuple[tuple[Image, ...], dict[int, int]]:
    """The images whose bytes are there, and their number by glTF image; missing ones are noted."""
    images: list[Image] = []
    numbers: dict[int, int] = {}
    for index, entry in enumerate(file.entries("images")):
        file.reading = f"image {index} ({file.name(entry, 'unnamed')})"
        if "bufferView" in entry:
            data = bytes(file.view(entry["bufferView"])[0])
        else:
            try:
                data = file.uri(entry.get("uri"))
            except ReadError as error:
                file.notes.append(f"image {index} is left out: {error.what}")
                continue
        mime = str(entry.get("mimeType") or _mime_type(data))
        numbers[index] = len(images)
        images.append(Image(file.name(entry, f"image_{index}"), mime, data))
    return tuple(images), numbers


def _mime_type(data: bytes) -> str:
    """The kind of an image by its first bytes."""
    if data[:2] == b"\xff\xd8":
        return "image/jpeg"
    return WEBP if data[:4] == b"RIFF" and data[8:12] == b"WEBP" else "image/png"


def read_materials(file: GltfFile, images: dict[int, int]) -> tuple[Material, ...]:
    """All materials, in file order."""
    found = []
    for index, entry in enumerate(file.entries("materials")):
        file.reading = f"material {index} ({file.name(entry, 'unnamed')})"
        raw = copy.deepcopy(entry)
        for holder, key in list(_texture_references(raw)):
            reference = holder[key]
            texture = file.item("textures", reference["index"])
            source = texture.get("source", _extension_source(texture))
            if source not in images:
                file.notes.append(
                    f"material {file.name(entry, str(index))!r} loses its {key}: the image is missing"
                )
                del holder[key]
                continue
            reference["index"] = images[source]
            if "sampler" in texture:
                reference[SAMPLER] = dict(file.item("samplers", texture["sampler"]))
        found.append(_material(file, raw, index))
    return tuple(found)


def _extension_source(texture: Json) -> Any:
    """The image of a texture that only an extension names, such as WebP."""
    extensions = texture.get("extensions")
    for extension in (extensions or {}).values() if isinstance(extensions, dict) else ():
        if isinstance(extension, dict) and "source" in extension:
            return extension["source"]
    return None


def _material(file: GltfFile, raw: Json, index: int) -> Material:
    surface = raw.get("pbrMetallicRoughness", {})
    color = file.floats(surface, "baseColorFactor", 4, [1.0, 1.0, 1.0, 1.0])
    texture = surface.get("baseColorTexture")
    extras = raw.get("extras")
    looks = extras.get(LOOKS) if isinstance(extras, dict) else None
    return Material(
        name=file.name(raw, f"material_{index}"),
        base_color=(float(color[0]), float(color[1]), float(color[2]), float(color[3])),
        metallic=float(surface.get("metallicFactor", 1.0)),
        roughness=float(surface.get("roughnessFactor", 1.0)),
        base_color_image=texture["index"] if isinstance(texture, dict) else None,
        double_sided=raw.get("doubleSided") is True,
        extra={**(looks if isinstance(looks, dict) else {}), "gltf": raw},
    )


def _texture_references(material: Json) -> Iterator[tuple[Json, str]]:
    """Every texture reference below a material: its holder and key."""
    todo: list[Any] = [material]
    while todo:
        holder = todo.pop()
        for key, value in holder.items():
            if not isinstance(value, dict) or key == "extras":
                continue
            if key.endswith("Texture") and "index" in value:
                yield holder, key
            todo.append(value)


def write_materials(
    materials: Sequence[Material], images: Sequence[Image], needed: Sequence[tuple[int, bool]]
) -> Json:
    """glTF ``materials``, ``textures`` and ``samplers``; ``needed`` lists (material, force both sides)."""
    textures: list[Json] = []
    samplers: list[Json] = []

    def place(entries: list[Json], entry: Json) -> int:
        if entry not in entries:
            entries.append(entry)
        return entries.index(entry)

    written = []
    for number, both_sides in needed:
        raw = copy.deepcopy(materials[number].extra.get("gltf")) or _plain(materials[number])
        for holder, key in list(_texture_references(raw)):
            image = holder[key]["index"]
            texture: Json = {"source": image}
            if images[image].mime_type == WEBP:
                texture = {"extensions": {"EXT_texture_webp": texture}}
            sampler = holder[key].pop(SAMPLER, None)
            if sampler is not None:
                texture["sampler"] = place(samplers, sampler)
            holder[key]["index"] = place(textures, texture)
        if both_sides:
            raw["doubleSided"] = True
        written.append(raw)
    return {k: v for k, v in (("materials", written), ("textures", textures), ("samplers", samplers)) if v}


def extensions_of(entries: Json) -> list[str]:
    """The extensions that written materials and textures use, sorted."""
    found: set[str] = set()
    todo: list[Any] = [entries]
    while todo:
        value = todo.pop()
        if isinstance(value, dict):
            found.update(value.get("extensions", {}))
            todo.extend(v for k, v in value.items() if k != "extras")
        elif isinstance(value, list):
            todo.extend(value)
    return sorted(found)


def _plain(material: Material) -> Json:
    """glTF's description of a material that came from another format."""
    surface: Json = {
        "baseColorFactor": list(material.base_color),
        "metallicFactor": material.metallic,
        "roughnessFactor": material.roughness,
    }
    if material.base_color_image is not None:
        surface["baseColorTexture"] = {"index": material.base_color_image}
    raw: Json = {"name": material.name, "pbrMetallicRoughness": surface}
    if material.double_sided:
        raw["doubleSided"] = True
    if material.base_color[3] < 1.0:
        raw["alphaMode"] = "BLEND"
    if material.extra:
        raw["extras"] = {LOOKS: copy.deepcopy(dict(material.extra))}
    return raw


def kept_aside(materials: Sequence[Material]) -> list[str]:
    """Materials of other formats, by name, whose description says more than glTF will show."""
    return [m.name for m in materials if m.extra and "gltf" not in m.extra]


ImageWriter = Callable[[Image], int]
"""Stores an image's bytes and returns its buffer view."""


def write_images(images: Sequence[Image], store: ImageWriter) -> list[Json]:
    """glTF ``images``, each in a buffer view."""
    return [{"name": i.name, "mimeType": i.mime_type, "bufferView": store(i)} for i in images]
