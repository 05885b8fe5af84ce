"""A bake as a layer over the original USD asset: the asset stays, its meshes move as the take does."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from pxr import Sdf, Usd, UsdGeom, UsdSkel

from conftest import Command
from ecorche.body.perform import perform
from ecorche.body.take import Take
from ecorche.errors import WriteError
from ecorche.io.formats import WriteOptions, read_character, write_take
from ecorche.io.usd import compliance_problems
from rigged_people import person
from usd_scenes import RIG, mesh, scene
from usd_takes import POINTS, SKELETON, played, swinging

OVERRIDE = WriteOptions(usd_as="override")


@pytest.mark.parametrize("suffix", [".usda", ".usdc"])
def test_a_person_moves_by_the_layer_and_the_asset_stays(data: Path, tmp_path: Path, suffix: str) -> None:
    asset, folder = tmp_path / "assets" / "man.usdc", tmp_path / "shot 1"
    asset.parent.mkdir()
    folder.mkdir()
    write_take(asset, Take(person(data / "human" / "male_dressed_mixamo.glb")), SKELETON)
    before = asset.read_bytes()
    character = read_character(asset)
    take = played(character, swinging(character.skeleton, 4), "dual_quaternion")
    path = folder / f"bake{suffix}"
    written = write_take(path, take, OVERRIDE)
    assert written.notes == ("overrides 2 meshes of man.usdc, whose joints keep their own animation",)
    assert asset.read_bytes() == before
    layer = Sdf.Layer.FindOrOpen(str(path))
    assert list(layer.subLayerPaths) == ["../assets/man.usdc"]
    # nothing but opinions over what the asset has
    found: list[Sdf.Path] = []
    layer.Traverse("/", found.append)
    assert {layer.GetPrimAtPath(p).specifier for p in found if p.IsPrimPath()} == {Sdf.SpecifierOver}
    assert compliance_problems(path) == []
    stage = Usd.Stage.Open(str(path))
    assert UsdGeom.GetStageMetersPerUnit(stage) == 1.0
    back = read_character(path)
    assert take.frames is not None
    assert back.cache is not None
    assert [m.name for m in back.meshes] == [m.name for m in character.meshes]
    # the codes of the asset's own clips stand between ours
    rows = {round(float(t), 6): n for n, t in enumerate(back.cache.times)}
    for number in range(4):
        frame = back.cache[rows[round(float(take.frames.times[number]), 6)]]
        for ours, theirs in zip(take.frames[number].points, frame.points, strict=True):
            assert np.abs(ours - theirs).max() < 1e-6


@pytest.mark.parametrize("orientation", ["rightHanded", "leftHanded"])
def test_points_are_told_in_the_space_of_a_mesh_in_centimetres_turned_and_scaled(
    tmp_path: Path, orientation: str
) -> None:
    above = """
    double3 xformOp:translate = (3, 4, 5)
    float3 xformOp:rotateXYZ = (-90, 20, 0)
    float3 xformOp:scale = (2, 2, 2)
    uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:rotateXYZ", "xformOp:scale"]
"""
    handed = f'        uniform token orientation = "{orientation}"\n'
    asset = scene(tmp_path, RIG, mesh(more=handed), above=above, metres="0.01", up="Z")
    character = read_character(asset)
    take = perform(character, character.motions[0]).take
    assert take.frames is not None
    write_take(tmp_path / "over.usda", take, OVERRIDE)
    stage = Usd.Stage.Open(str(tmp_path / "over.usda"))
    # OpenUSD has nothing left to skin
    UsdSkel.BakeSkinning(UsdSkel.Root(next(p for p in stage.Traverse() if p.IsA(UsdSkel.Root))))
    body = next(p for p in stage.Traverse() if p.GetName() == "Body")
    attribute = UsdGeom.Mesh(body).GetPointsAttr()
    for number, code in enumerate(attribute.GetTimeSamples()):
        matrix = np.array(UsdGeom.Xformable(body).ComputeLocalToWorldTransform(code)).T
        world = np.array(attribute.Get(code)) @ matrix[:3, :3].T + matrix[:3, 3]
        ours = 0.01 * np.stack([world[:, 0], world[:, 2], -world[:, 1]], axis=1)
        np.testing.assert_allclose(ours, take.frames[number].points[0], atol=1e-6)
    assert attribute.GetNumTimeSamples() == len(take.frames)


def test_an_instance_is_opened(tmp_path: Path) -> None:
    scene(tmp_path, RIG, mesh(), metres="0.01", up="Z", name="hero.usda")
    shot = tmp_path / "shot.usda"
    head = '#usda 1.0\n(\n metersPerUnit = 0.01\n upAxis = "Z"\n timeCodesPerSecond = 24\n)\n'
    shot.write_text(
        head + 'def "Hero" (instanceable = true\n prepend references = @./hero.usda@) {}\n', encoding="utf-8"
    )
    character = read_character(shot)
    take = perform(character, character.motions[0]).take
    written = write_take(tmp_path / "over.usdc", take, OVERRIDE)
    assert any("is no instance any more" in note for note in written.notes)
    cache = read_character(tmp_path / "over.usdc").cache
    assert cache is not None
    assert take.frames is not None
    np.testing.assert_allclose(cache[1].points[0], take.frames[1].points[0], atol=1e-6)


def test_what_cannot_be_overridden_is_refused(data: Path, tmp_path: Path, ecorche: Command) -> None:
    man = data / "human" / "male_average_cmu_mb.glb"
    said = ecorche("bake", man, "-o", tmp_path / "a.usdc", "--usd-as", "override", code=2)
    assert "needs a USD asset to lie over, and male_average_cmu_mb.glb is none" in " ".join(said.split())
    assert not (tmp_path / "a.usdc").exists()
    asset = scene(tmp_path, RIG, mesh(), metres="0.01", up="Z")
    character = read_character(asset)
    take = perform(character, character.motions[0]).take
    with pytest.raises(WriteError, match="a package holds all it refers to"):
        write_take(tmp_path / "a.usdz", take, OVERRIDE)
    with pytest.raises(WriteError, match="a still character has nothing"):
        write_take(tmp_path / "a.usdc", Take(character), OVERRIDE)
    write_take(tmp_path / "cache.usdc", take, POINTS)
    ecorche("convert", tmp_path / "cache.usdc", tmp_path / "over.usda", "--usd-as", "override")
    assert "subLayers" in (tmp_path / "over.usda").read_text()
