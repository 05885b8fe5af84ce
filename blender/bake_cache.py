"""Bake to a cache: every vertex in every frame in a PC2 file, played by a Mesh Cache modifier."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import bpy
import numpy as np
from bpy_extras.io_utils import ExportHelper

from .bake import FrameRange, end_preview, place_behind_armature, without_earlier
from .bake_shape_keys import remove_keys
from .messages import package, told
from .scene_character import armature_of, armature_place
from .scene_motion import SceneMotion

MODIFIER = "Ecorche Cache"


class ObjectFrames:
    """Frames of a take with every mesh in its object's own space, as modifiers want them."""

    def __init__(self, frames: Any, scene: Any, played: SceneMotion) -> None:
        self.frames, self.times = frames, frames.times
        back = scene.object_from_character(scene.armature, played.armature_world)
        world = np.array(scene.armature.matrix_world, np.float64) @ back
        self.matrices = np.linalg.inv(played.object_world) @ world

    def __len__(self) -> int:
        return len(self.frames)

    def __getitem__(self, index: int) -> Any:
        frame = self.frames[index]
        points = tuple(
            (p.astype(np.float64) @ m[:3, :3].T + m[:3, 3]).astype(np.float32)
            for p, m in zip(frame.points, self.matrices[index], strict=True)
        )
        return replace(frame, points=points, normals=(None,) * len(points))


class BakeCache(bpy.types.Operator, ExportHelper, FrameRange):
    """Bake every vertex of every frame to PC2 files, played by Mesh Cache modifiers."""

    bl_idname, bl_label = "ecorche.bake_cache", "Bake to Cache"
    bl_options = {"REGISTER", "UNDO"}
    filename_ext = ".pc2"

    filter_glob: bpy.props.StringProperty(default="*.pc2", options={"HIDDEN"})

    def execute(self, context: Any) -> set[str]:
        """Bake."""
        return told(self, lambda: self._bake(context))

    def _bake(self, context: Any) -> list[str]:
        ecorche, armature = package(), armature_of(context)
        live, played, take = self.take(armature, context)
        frames = ObjectFrames(take.frames, live.scene, played)
        kept = (
            replace(take, frames=[frames[n] for n in range(len(frames))])
            if len(live.scene.meshes) > 1
            else None
        )
        target = Path(bpy.path.abspath(self.filepath))
        end_preview(armature)
        lines = []
        for number, thing in enumerate(live.scene.meshes):
            file = target if number == 0 else target.with_name(f"{target.stem} {number + 1}{target.suffix}")
            written = replace(take, frames=frames)
            if kept is not None:
                written = replace(take, frames=KeptFrames(kept.frames, frames.times))
            ecorche.write_take(file, written, ecorche.WriteOptions(mesh=thing.name))
            remove_keys(thing)
            self._play(thing, armature, file, played)
            lines.append(f"{file}: {len(frames)} frames of {thing.name!r}")
        return lines

    def _play(self, thing: Any, armature: Any, file: Path, played: SceneMotion) -> None:
        """The modifier that plays a file in place of what the Armature modifier gives."""
        without_earlier(thing, MODIFIER)
        modifier = thing.modifiers.new(MODIFIER, "MESH_CACHE")
        modifier.cache_format, modifier.filepath = "PC2", str(file)
        modifier.deform_mode, modifier.interpolation = "OVERWRITE", "LINEAR"
        modifier.frame_start, modifier.frame_scale = float(played.frames[0]), 1.0
        place_behind_armature(thing, modifier, armature_place(thing, armature))


class KeptFrames(list[Any]):
    """Frames in memory, for several files."""

    def __init__(self, frames: list[Any], times: np.ndarray) -> None:
        super().__init__(frames)
        self.times = times


class RemoveBake(bpy.types.Operator):
    """Remove what was baked to shape keys or to a cache; files stay."""

    bl_idname, bl_label = "ecorche.remove_bake", "Remove Bake"
    bl_options = {"REGISTER", "UNDO"}

    def execute(self, context: Any) -> set[str]:
        """Remove it."""
        return told(self, lambda: self._remove(context))

    def _remove(self, context: Any) -> list[str]:
        from .scene_character import follows

        armature = armature_of(context)
        for thing in context.scene.objects:
            if follows(thing, armature):
                remove_keys(thing)
                cache = thing.modifiers.get(MODIFIER)
                if cache is not None:
                    thing.modifiers.remove(cache)
        return []


CLASSES = (BakeCache, RemoveBake)
