"""Write a take as USD: point samples, or a UsdSkel character, in metres, +Y up; or over its own asset."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from pxr import Sdf, Tf, Usd, UsdGeom, UsdSkel

from ecorche.base.files import require_folder, whole_file
from ecorche.body.character import Character
from ecorche.body.take import Take
from ecorche.errors import WriteError
from ecorche.io.formats import WriteOptions, Written
from ecorche.io.usd.materials import texture_names
from ecorche.io.usd.package import pack
from ecorche.io.usd.stage import quiet, reason
from ecorche.io.usd.values import valid_name
from ecorche.io.usd.write_clips import clips_folder, join_clips, write_clips
from ecorche.io.usd.write_override import write_override
from ecorche.io.usd.write_points import FrameSamples, keep_binding, require_frames, write_frames
from ecorche.io.usd.write_scene import Scene, shape_weights
from ecorche.io.usd.write_skeleton import TimeLine, time_line, write_animation, write_skeleton
from ecorche.io.usd.write_skin import write_extents, write_skinned
from ecorche.skeleton.motion import Motion
from ecorche.version import __version__


def write(path: Path, take: Take, options: WriteOptions) -> Written:
    """Write a take whole, or not at all; what was written and how well it fits.

    A still take, one without frames, is always written as a skeleton with its meshes at bind.
    """
    if options.usd_as == "override" and path.suffix.lower() == ".usdz":
        raise WriteError(
            "a package holds all it refers to, an override does not",
            where=path,
            remedy="Write a .usdc or .usda",
        )
    if options.usd_clips and (
        options.usd_as != "points" or take.frames is None or path.suffix.lower() == ".usdz"
    ):
        raise WriteError(
            "clips are ranges of frames of points, in files beside each other",
            where=path,
            remedy="Bake a motion to .usdc or .usda, with --usd-as points",
        )
    notes: list[str] = []
    write_file(path, lambda file, target: _write_layer(file, target, take, options, notes))
    return Written(tuple(notes))


def write_file(path: Path, write_layer: Callable[[Path, Path], None]) -> None:
    """Write a .usd, .usdc, .usda or .usdz file whole, or not at all.

    Args:
        path: The file.
        write_layer: Writes a binary layer to a file, and the textures of its target beside that.
    """
    with quiet(), whole_file(path) as partial, readable_usd_errors(path):
        if path.suffix.lower() == ".usdz":
            _write_package(partial, path, write_layer)
        elif path.suffix.lower() == ".usda":
            # a text layer lives in memory as a whole: stream to the binary form, then convert
            crate = partial.with_suffix(".usdc")
            try:
                write_layer(crate, path)
                Sdf.Layer.FindOrOpen(str(crate)).Export(str(partial))
            finally:
                crate.unlink(missing_ok=True)
        else:
            write_layer(partial, path)


@contextlib.contextmanager
def readable_usd_errors(path: Path) -> Iterator[None]:
    """OpenUSD's refusals in our words; a full disk is told as such."""
    try:
        yield
    except Tf.ErrorException as error:
        if shutil.disk_usage(path.parent).free < 1_000_000:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)) from error
        raise WriteError(f"cannot be written ({reason(error)})", where=path) from error


def _write_package(partial: Path, path: Path, write_layer: Callable[[Path, Path], None]) -> None:
    """Write a .usdz: the layer and its textures in one uncompressed archive."""
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.stem}.") as folder:
        inner = Path(folder) / f"{valid_name(path.stem)}.usdc"
        write_layer(inner, inner)
        pack(partial, Path(folder), inner.name)


def _write_layer(file: Path, target: Path, take: Take, options: WriteOptions, notes: list[str]) -> None:
    """Write a binary layer to ``file``, and the textures of ``target`` beside it."""
    if options.usd_as == "override":
        write_override(file, target, take, notes)
        if options.tangents:
            notes.append("an override holds no tangents: those of the asset stay")
        return
    line = time_line(_times(take), take.samples)
    if options.usd_clips:
        with clips_folder(target) as folder:
            _write_clips(file, folder, target, take, options, line, notes)
        return
    texture = write_textures(target, take.character)
    layer = Sdf.Layer.CreateNew(str(file))
    stage = Usd.Stage.Open(layer)
    _write_metadata(stage, take, line)
    if take.frames is not None and options.usd_as == "points":
        _write_points(stage, take, line, texture, options.tangents, notes)
    else:
        _write_skeletal(stage, take, options.morph_targets, line, texture, notes)
    layer.Save()


def _times(take: Take) -> np.ndarray[Any, np.dtype[np.float64]]:
    if take.frames is not None:
        return take.frames.times
    motions = _motions(take)
    return motions[0].times if motions else np.zeros(1)


def _motions(take: Take) -> list[Motion]:
    """What the joints do: the take's motion, or all of a still character's clips."""
    if take.motion is not None:
        return [take.motion]
    return list(take.character.motions) if take.frames is None else []


def _write_metadata(stage: Any, take: Take, line: TimeLine) -> None:
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.y)
    stage.SetTimeCodesPerSecond(line.rate)
    stage.SetFramesPerSecond(line.rate)
    if take.frames is not None or _motions(take):
        codes = line.codes(_times(take))
        stage.SetStartTimeCode(codes[0])
        stage.SetEndTimeCode(codes[-1])
    stage.GetRootLayer().customLayerData = {"creator": f"ecorche {__version__}"}


def write_textures(target: Path, character: Character) -> Callable[[int], str]:
    """Write a character's images to a folder beside the target; the asset path of each."""
    names = texture_names(character)
    folder = target.with_name(f"{target.stem}_textures")
    if character.images:
        require_folder(target)
        folder.mkdir(exist_ok=True)
        for name, image in zip(names, character.images, strict=True):
            with whole_file(folder / name) as partial:
                partial.write_bytes(image.data)
    return lambda number: f"./{folder.name}/{names[number]}"


def _write_points(
    stage: Any, take: Take, line: TimeLine, texture: Callable[[int], str], tangents: bool, notes: list[str]
) -> None:
    assert take.frames is not None
    scene = _write_posable(stage, take, line, texture, notes)
    codes, meshes = line.codes(take.frames.times), take.character.meshes
    write_frames(stage.GetRootLayer(), scene.schemas, meshes, take.frames, codes, tangents, notes)


def _write_clips(
    file: Path,
    folder: Path,
    target: Path,
    take: Take,
    options: WriteOptions,
    line: TimeLine,
    notes: list[str],
) -> None:
    """Write what does not move and the clips to a folder, and to ``file`` the layer that joins them."""
    assert take.frames is not None
    require_frames(take.frames)
    # textures stand beside the topology, which names them
    still = folder / f"{target.stem}.topology.usdc"
    layer = Sdf.Layer.CreateNew(str(still))
    stage = Usd.Stage.Open(layer)
    _write_metadata(stage, take, line)
    scene = _write_posable(stage, take, line, write_textures(still, take.character), notes)
    FrameSamples(layer, scene.schemas, take.character.meshes, take.frames[0], len(take.frames) > 1)
    layer.Save()
    if options.tangents:
        notes.append("clips hold no tangents")
    names = write_clips(folder, target, scene, take, line.codes(take.frames.times), options.usd_clips)
    joined = Usd.Stage.Open(Sdf.Layer.CreateNew(str(file)))
    _write_metadata(joined, take, line)
    join_clips(joined, scene.root, names)
    notes.append(f"{len(names.clips)} clips of {options.usd_clips} frames stand in {names.folder}")


def _write_posable(
    stage: Any, take: Take, line: TimeLine, texture: Callable[[int], str], notes: list[str]
) -> Scene:
    """Write a character at bind, with its joints in motion beside it, whose meshes USD does not skin."""
    character = take.character
    scene = Scene(stage, take, "Xform", texture, notes)
    UsdSkel.Root.Define(stage, scene.rig)
    skeleton_path = scene.rig.AppendChild("Skeleton")
    skeleton = write_skeleton(stage, skeleton_path, character.skeleton)
    if take.motion is not None:
        path = skeleton_path.AppendChild(valid_name(take.motion.name or "motion"))
        weights = shape_weights(character.meshes, scene.tokens, take.motion)
        write_animation(stage, path, take.motion, line, weights, keep_matrices=True, notes=notes)
        UsdSkel.BindingAPI.Apply(skeleton.GetPrim()).CreateAnimationSourceRel().SetTargets([path])
    for schema, mesh, shapes, tokens in zip(
        scene.schemas, character.meshes, scene.shapes, scene.tokens, strict=True
    ):
        keep_binding(schema.GetPrim(), mesh, skeleton_path, tokens, shapes)
    return scene


def _write_skeletal(
    stage: Any, take: Take, most: int, line: TimeLine, texture: Callable[[int], str], notes: list[str]
) -> None:
    boxes = None
    if take.frames is not None:
        # compiled code is only loaded where there are frames to compare with
        from ecorche.io.usd.write_departure import with_departure_shapes

        take, boxes = with_departure_shapes(take, most, notes)
    scene = Scene(stage, take, "SkelRoot", texture, notes)
    character = take.character
    write_skinned(stage, scene, character.meshes, character.skeleton, _motions(take), line, notes)
    if boxes is not None:
        write_extents(stage, scene, boxes, line.codes(_times(take)))
