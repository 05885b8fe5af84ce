"""Value clips: ranges of frames in files of their own, joined by a small layer that opens what is looked at.

What does not move stands in a topology layer under the joining one. A clip ends with the frame that the next
begins with, so that moments between frames are the same as in one file.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pxr import Sdf, Usd, UsdGeom, Vt

from ecorche.body.take import Take
from ecorche.errors import WriteError
from ecorche.io.usd.write_points import FrameSamples, windows
from ecorche.io.usd.write_scene import Scene


@dataclass(frozen=True)
class ClipNames:
    """Files of a clip set.

    Attributes:
        folder: Their folder, beside the joining layer.
        topology, manifest: Files in it.
        clips: The same of each clip, with the time code it begins at.
        first, last: Time codes of all.
    """

    folder: str
    topology: str
    manifest: str
    clips: tuple[tuple[str, float], ...]
    first: float
    last: float


@contextlib.contextmanager
def clips_folder(target: Path) -> Iterator[Path]:
    """A folder that becomes the clips' folder of a target if the block succeeds, in place of an older one."""
    folder = target.with_name(f"{target.stem}_clips")
    if folder.exists():
        strange = [p.name for p in folder.iterdir() if not p.name.startswith(f"{target.stem}.")]
        if strange:
            raise WriteError(
                f"{folder.name} holds other files than clips: {strange[0]}",
                where=target,
                remedy="Move them away, or give another name with -o",
            )
    partial = folder.with_name(f".{folder.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir()
    try:
        yield partial
        if folder.exists():
            shutil.rmtree(folder)
        partial.replace(folder)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def write_clips(
    folder: Path, target: Path, scene: Scene, take: Take, codes: list[float], size: int
) -> ClipNames:
    """Write clips of so many frames each, and their manifest.

    Args:
        folder: Where.
        target: The joining layer, by which they are called.
        scene: The character on the topology's stage.
        take: Whose frames.
        codes: Time code of each frame.
        size: Frames a clip.
    """
    frames = take.frames
    assert frames is not None
    starts = list(range(0, len(frames), size))
    names = tuple((f"{target.stem}.{start:06d}.usdc", codes[start]) for start in starts)
    # what the meshes are at bind is the topology's to say
    meshes = [replace(mesh, mesh=replace(mesh.mesh, normals=None)) for mesh in take.character.meshes]
    first, current = frames[0], None
    for number, before, frame, after in windows(frames):
        if number % size == 0:
            if current is not None:
                current.write(codes[number], before, frame, after)
                current.layer.Save()
            layer = Sdf.Layer.CreateNew(str(folder / names[number // size][0]))
            stage = Usd.Stage.Open(layer)
            stage.SetTimeCodesPerSecond(scene.schemas[0].GetPrim().GetStage().GetTimeCodesPerSecond())
            schemas = [_over(stage, schema.GetPrim().GetPath()) for schema in scene.schemas]
            current = FrameSamples(layer, schemas, meshes, first, len(frames) > 1)
        assert current is not None
        current.write(codes[number], before, frame, after)
    assert current is not None
    current.layer.Save()
    layers = [Sdf.Layer.FindOrOpen(str(folder / name)) for name, _ in names]
    manifest = f"{target.stem}.manifest.usda"
    Usd.ClipsAPI.GenerateClipManifestFromLayers(layers, scene.root).Export(str(folder / manifest))
    return ClipNames(
        f"{target.stem}_clips", f"{target.stem}.topology.usdc", manifest, names, codes[0], codes[-1]
    )


def _over(stage: Any, path: Any) -> Any:
    prim = stage.OverridePrim(path)
    prim.SetTypeName("Mesh")
    schema = UsdGeom.Mesh(prim)
    schema.CreatePointsAttr()
    schema.CreateExtentAttr()
    return schema


def join_clips(stage: Any, root: Any, names: ClipNames) -> None:
    """Join clips and topology on a stage, by paths relative to it, and save it."""
    layer = stage.GetRootLayer()
    layer.subLayerPaths.append(f"./{names.folder}/{names.topology}")
    layer.defaultPrim = root.name
    clips = Usd.ClipsAPI(stage.OverridePrim(root))
    clips.SetClipPrimPath(str(root))
    clips.SetClipAssetPaths(
        Sdf.AssetPathArray([Sdf.AssetPath(f"./{names.folder}/{name}") for name, _ in names.clips])
    )
    clips.SetClipActive(Vt.Vec2dArray([(code, number) for number, (_, code) in enumerate(names.clips)]))
    clips.SetClipTimes(Vt.Vec2dArray([(code, code) for code in (names.first, names.last)]))
    clips.SetClipManifestAssetPath(Sdf.AssetPath(f"./{names.folder}/{names.manifest}"))
    layer.Save()
