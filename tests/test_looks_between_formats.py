"""Looks on their way between glTF and USD: what can be shown is, what cannot comes back unharmed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pxr import Usd, UsdShade

from characters import tube
from ecorche.base.mesh import Attribute
from ecorche.body.character import Character, Image, Material
from ecorche.body.take import Take
from ecorche.io.formats import read_character, write_take
from test_gltf_write import content_of
from usd_scenes import RIG, mesh, scene

GLOW = """
    def Scope "Looks"
    {
        def Material "glow"
        {
            token outputs:surface.connect = </Root/Looks/glow/Surface.outputs:surface>
            def Shader "Surface"
            {
                uniform token info:id = "UsdPreviewSurface"
                color3f inputs:diffuseColor = (0.1, 0.2, 0.3)
                color3f inputs:emissiveColor = (1, 2, 3)
                float inputs:opacity = 0.25
                token outputs:surface
            }
        }
    }
"""
BOUND = "\n        rel material:binding = </Root/Looks/glow>"


def test_a_usd_network_goes_through_gltf_and_back(tmp_path: Path) -> None:
    character = read_character(scene(tmp_path, RIG, mesh(more=BOUND), GLOW))
    notes = write_take(tmp_path / "a.glb", Take(character)).notes
    assert any("material 'glow': only its base colour" in note for note in notes)
    (written,) = content_of(tmp_path / "a.glb")["materials"]
    assert written["alphaMode"] == "BLEND"  # else a player would show it solid
    again = read_character(tmp_path / "a.glb")
    assert again.materials[0].extra["usd"] == character.materials[0].extra["usd"]
    write_take(tmp_path / "b.usda", Take(again))
    stage: Any = Usd.Stage.Open(str(tmp_path / "b.usda"))
    (material,) = [p for p in stage.Traverse() if p.IsA(UsdShade.Material)]
    surface, _, _ = UsdShade.Material(material).ComputeSurfaceSource()
    assert tuple(surface.GetInput("emissiveColor").Get()) == (1.0, 2.0, 3.0)


def dressed(*materials: Material, mime: str = "image/png", uv: tuple[str, ...] = ("st",)) -> Character:
    """A tube for each name of UVs, one material each, all sharing one texture."""
    character = tube()
    body = character.meshes[0]
    flat = np.zeros((body.mesh.vertex_count, 2), np.float32)
    meshes = tuple(
        replace(body, mesh=replace(body.mesh, name=f"tube_{n}", uv=Attribute(name, flat), material=n))
        for n, name in enumerate(uv)
    )
    return replace(
        character, meshes=meshes, materials=materials, images=(Image("fine-weave", mime, b"RIFF"),)
    )


@pytest.mark.parametrize("mode", ["OPAQUE", "MASK", "BLEND"])
def test_hair_cards_are_cut_out_in_usd_too(tmp_path: Path, mode: str) -> None:
    raw = {
        "name": "hair",
        "alphaMode": mode,
        "pbrMetallicRoughness": {"baseColorFactor": [1, 1, 1, 0.75], "baseColorTexture": {"index": 0}},
    }
    hair = Material("hair", (1.0, 1.0, 1.0, 0.75), base_color_image=0, extra={"gltf": raw})
    write_take(tmp_path / "a.usda", Take(dressed(hair)))
    stage: Any = Usd.Stage.Open(str(tmp_path / "a.usda"))
    surface = UsdShade.Shader(next(p for p in stage.Traverse() if p.GetName() == "Surface"))
    opacity = surface.GetInput("opacity")
    assert opacity.HasConnectedSource() == (mode != "OPAQUE")
    assert bool(surface.GetInput("opacityThreshold")) == (mode == "MASK")
    again = read_character(tmp_path / "a.usda")
    assert again.materials[0].base_color[3] == (1.0 if mode == "OPAQUE" else 0.75)
    assert again.materials[0].extra["gltf"] == raw


def test_textures_keep_their_kind_and_name(tmp_path: Path) -> None:
    plain = Material("cloth", base_color_image=0)
    write_take(tmp_path / "a.usdc", Take(dressed(plain, mime="image/webp")))
    assert (tmp_path / "a_textures" / "fine-weave.webp").read_bytes() == b"RIFF"
    (image,) = read_character(tmp_path / "a.usdc").images
    assert (image.name, image.mime_type) == ("fine-weave", "image/webp")


def test_each_texture_reads_the_coordinates_of_its_own_mesh(tmp_path: Path) -> None:
    looks = (Material("a", base_color_image=0), Material("b", base_color_image=0))
    write_take(tmp_path / "a.usda", Take(dressed(*looks, uv=("UVMap", "st"))))
    stage: Any = Usd.Stage.Open(str(tmp_path / "a.usda"))
    readers = [UsdShade.Shader(p) for p in stage.Traverse() if p.GetName() == "Coordinates"]
    assert [r.GetInput("varname").Get() for r in readers] == ["UVMap", "st"]


def test_what_gltf_does_to_polygons_is_told(tmp_path: Path) -> None:
    faces = """
        int[] faceVertexCounts = [4]
        int[] faceVertexIndices = [0, 1, 2, 3]
        point3f[] points = [(0, 0, 0), (1, 0, 0), (1, 3, 0), (0, 3, 0)]
"""
    character = read_character(scene(tmp_path, RIG, mesh(faces=faces)))
    assert write_take(tmp_path / "a.glb", Take(character)).notes == (
        "mesh 'Body' is a catmullClark cage; glTF shows the cage itself",
        "mesh 'Body': its polygons are cut to triangles, which is all glTF knows",
    )
