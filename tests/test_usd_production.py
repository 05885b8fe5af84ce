"""USD files as studios make them, judged by OpenUSD's own skinning of the same file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from pxr import Usd, UsdGeom, UsdSkel

from ecorche.body.perform import perform
from ecorche.io.formats import WriteOptions, read_character, write_take
from usd_scenes import RIG, mesh, scene


def by_openusd(path: Path, name: str = "Body") -> npt.NDArray[np.float64]:
    """A mesh as OpenUSD bakes it, in metres and +Y up, at every sample (frames, vertices, 3)."""
    stage: Any = Usd.Stage.Open(str(path))
    root = next(p for p in stage.Traverse() if p.IsA(UsdSkel.Root))
    UsdSkel.BakeSkinning(UsdSkel.Root(root))
    prim = next(p for p in stage.Traverse() if p.GetName() == name)
    frames = []
    for code in UsdGeom.Mesh(prim).GetPointsAttr().GetTimeSamples():
        matrix = np.array(UsdGeom.Xformable(prim).ComputeLocalToWorldTransform(code)).T
        points = np.array(UsdGeom.Mesh(prim).GetPointsAttr().Get(code), np.float64)
        frames.append(points @ matrix[:3, :3].T + matrix[:3, 3])
    world: npt.NDArray[np.float64] = UsdGeom.GetStageMetersPerUnit(stage) * np.stack(frames)
    if UsdGeom.GetStageUpAxis(stage) == "Z":
        world = np.stack([world[..., 0], world[..., 2], -world[..., 1]], axis=-1)
    return world


def by_us(path: Path) -> npt.NDArray[np.float32]:
    character = read_character(path)
    frames = perform(character, character.motions[0]).take.frames
    assert frames is not None
    return np.stack([frames[i].points[0] for i in range(len(frames))])


SMILE = """
        uniform token[] skel:blendShapes = ["smile"]
        rel skel:blendShapeTargets = </Root/Body/Smile>
        def BlendShape "Smile"
        {
            uniform vector3f[] offsets = [(0, 0, 1), (0, 0, 2)]
            uniform int[] pointIndices = [3, 1]
            uniform vector3f[] inbetweens:half = [(0, 1, 1), (0, 0, 0)] ( weight = 0.5 )
            uniform vector3f[] inbetweens:early = [(1, 0, 0), (0, 3, 0)] ( weight = 0.2 )
        }
"""


def test_in_between_shapes_are_passed_on_the_way(tmp_path: Path) -> None:
    weights = (-0.3, 0.0, 0.1, 0.2, 0.3, 0.5, 0.9, 1.0, 1.7)
    samples = ", ".join(f"{12 + i}: [{w}]" for i, w in enumerate(weights))
    rig = RIG.replace("{ 12: [0], 24: [0.5] }", f"{{ {samples} }}")
    path = scene(tmp_path, rig.replace("24: [(0.7", "20: [(0.7"), mesh(more=SMILE))
    character = read_character(path)
    assert [m.name for m in character.meshes[0].mesh.morphs] == ["smile", "smile.early", "smile.half"]
    assert any("2 in-between shapes of 'smile' became blend shapes" in note for note in character.notes)
    np.testing.assert_allclose(by_us(path), by_openusd(path), atol=1e-6)
    # and as plain shapes on the way out
    take = perform(character, character.motions[0]).take
    again = tmp_path / "again.usda"
    write_take(again, take, WriteOptions(usd_as="skeleton"))
    np.testing.assert_allclose(by_openusd(again), by_openusd(path), atol=1e-6)


@pytest.mark.parametrize("up", ["Y", "Z"])
@pytest.mark.parametrize("samples", ["= (3, 4, 5)", ".timeSamples = { 1: (3, 4, 5) }"])
def test_a_place_that_is_sampled_once_holds(tmp_path: Path, samples: str, up: str) -> None:
    """Exporters write transforms that never change as one sample, without a default value."""
    above = f"""
    double3 xformOp:translate{samples}
    float3 xformOp:rotateXYZ{samples.replace("3, 4, 5", "-90, 20, 0")}
    float3 xformOp:scale = (2, 2, 2)
    uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:rotateXYZ", "xformOp:scale"]
"""
    path = scene(tmp_path, RIG, mesh(), above=above, metres="0.01", up=up)
    np.testing.assert_allclose(by_us(path), by_openusd(path), atol=1e-6)


def test_an_instance_is_what_it_instances(tmp_path: Path) -> None:
    scene(tmp_path, RIG, mesh(more=SMILE), metres="0.01", up="Z", name="hero.usda")
    shot = tmp_path / "shot.usda"
    head = '#usda 1.0\n(\n metersPerUnit = 0.01\n upAxis = "Z"\n timeCodesPerSecond = 24\n)\n'
    shot.write_text(
        head + 'def "Hero" (instanceable = true\n prepend references = @./hero.usda@) {}\n', encoding="utf-8"
    )
    np.testing.assert_array_equal(by_us(shot), by_us(tmp_path / "hero.usda"))
