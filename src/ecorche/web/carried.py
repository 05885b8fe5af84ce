"""What a glTF carries of its muscles: all that any WebGPU program needs to play them, in ``extras``.

The file stays an ordinary skinned character; whoever knows nothing of muscles skins it plainly. What is more
is in ``extras.ecorche``: the vertex program as shaders with their buffers and steps, its constants in buffer
views, how active muscles are in each clip, and which vertex of the program each written vertex is. A program
that plays it needs to know the payload (`body.payload`) and nothing else of us.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from ecorche.body import payload
from ecorche.body.take import Take
from ecorche.body.vertex_program import VertexProgram
from ecorche.errors import MotionError
from ecorche.gpu.chunk import ROW_BYTES, bytes_each, learnt_bytes
from ecorche.gpu.device_plan import DevicePlan, device_plan
from ecorche.gpu.evaluator import FLAT
from ecorche.gpu.modules import MODULES
from ecorche.gpu.shaders import WORKGROUP, shader
from ecorche.io.formats import WriteOptions, Written
from ecorche.io.gltf.buffer import BufferWriter
from ecorche.io.gltf.write import WrittenMesh, write_take
from ecorche.io.playback import joint_keys
from ecorche.skeleton.motion import Motion
from ecorche.skin.smoothing import has_corner_normals

VERSION = 1
"""Of what is carried; it goes up with any change that a player must know of."""
LEAST = 16
"""Bytes of the smallest buffer: none may be empty."""

Floats = npt.NDArray[np.float64]
Json = dict[str, Any]


class Views(Protocol):
    """Where bytes are kept."""

    def view(self, data: bytes) -> int:
        """Keep bytes; their number."""
        ...


class Clip(NamedTuple):
    """A motion on the character's own skeleton, and how active its muscles are in it.

    Attributes:
        motion: The motion.
        activation: 0 to 1, (frames, muscles); None is at rest throughout.
    """

    motion: Motion
    activation: Floats | None = None


def write_figure(path: Path, program: VertexProgram, clips: Sequence[Clip]) -> Written:
    """Write a character with its muscles and clips to a .glb; returns what the file could not say exactly."""
    for clip in clips:
        shape = (clip.motion.frame_count, program.muscle_count)
        if clip.activation is not None and clip.activation.shape != shape:
            raise MotionError(
                f"clip {clip.motion.name!r} has activations of shape {clip.activation.shape}",
                where=path,
                remedy=f"Give shape {shape}",
            )
    # a player repeats a clip from zero: one that began later would stand still first, each time
    clips = [clip._replace(motion=_from_zero(clip.motion)) for clip in clips]
    character = replace(program.body.character, motions=tuple(clip.motion for clip in clips), cache=None)

    def carry(buffer: BufferWriter, meshes: list[WrittenMesh]) -> Json:
        return {"ecorche": _carried(buffer, program, clips, meshes)}

    written = write_take(path, Take(character), WriteOptions(morph_targets=0), carry)
    return Written((*written.notes, *_not_played(clips)))


def _from_zero(motion: Motion) -> Motion:
    return replace(motion, times=motion.times - motion.times[0])


def _not_played(clips: Sequence[Clip]) -> list[str]:
    moving = [clip.motion.name for clip in clips if clip.motion.morph_weights]
    if not moving:
        return []
    return [f"clip {moving[0]!r} moves blend shapes, which are not played with muscles; bake it to show them"]


def _carried(buffer: Views, program: VertexProgram, clips: Sequence[Clip], meshes: list[WrittenMesh]) -> Json:
    plan, body = device_plan(program), program.body
    names = [] if body.muscles is None else [muscle.name for muscle in body.muscles.musculature.muscles]
    names += [] if body.lofts is None else [muscle.name for muscle in body.lofts.lofts.muscles]
    return {
        "version": VERSION,
        "payload": {
            "version": payload.VERSION,
            "joints": program.joint_count,
            "muscles": program.muscle_count,
        },
        "joints": {
            "nodes": list(range(program.joint_count)),
            "bind_inverse": _view(buffer, body.character.skeleton.bind_inverse.astype("<f8")),
            "turning": np.flatnonzero(plan.turning).tolist(),
            "flat": FLAT,
        },
        "muscles": {
            "names": names,
            "largest_bulge": body.bulge(np.ones(program.muscle_count)).tolist(),
        },
        "clips": [_clip(buffer, clip, program.muscle_count) for clip in clips],
        "meshes": [_mesh(buffer, program, mesh) for mesh in meshes],
        "program": _program(buffer, plan),
    }


class _Blobs:
    """Bytes by their numbers, for what is no file."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []

    def view(self, data: bytes) -> int:
        """Keep bytes; their number."""
        self.parts.append(data)
        return len(self.parts) - 1


def program_for_pages(program: VertexProgram) -> tuple[str, dict[str, npt.NDArray[np.uint8]]]:
    """The same without a file, for a page that asks a server: JSON without clips and meshes, and the bytes of
    each view by its number."""
    blobs = _Blobs()
    told = _carried(blobs, program, [], [])
    return json.dumps(told), {str(n): np.frombuffer(part, np.uint8) for n, part in enumerate(blobs.parts)}


def _view(buffer: Views, values: npt.NDArray[Any]) -> int:
    data = values.tobytes()
    return buffer.view(data + bytes(max(LEAST - len(data), 0)))


def _clip(buffer: Views, clip: Clip, muscle_count: int) -> Json:
    motion = clip.motion
    active = np.zeros((motion.frame_count, muscle_count)) if clip.activation is None else clip.activation
    return {
        "name": motion.name,
        "frames": motion.frame_count,
        "times": _view(buffer, joint_keys(motion).times.astype("<f4")),
        "activation": _view(buffer, active.astype("<f4")),
    }


def _mesh(buffer: Views, program: VertexProgram, mesh: WrittenMesh) -> Json:
    """Which point and which normal of the program each written vertex shows; a cage has no normals."""
    of = program.body.character.meshes[mesh.number].mesh
    entry: Json = {
        "mesh": mesh.entry,
        "points": _view(buffer, (mesh.vertices + program.borders[mesh.number]).astype("<u4")),
    }
    if of.subdivision == "none":
        place = mesh.corners if has_corner_normals(of) else mesh.vertices
        entry["normals"] = _view(buffer, (place + program.place_borders[mesh.number]).astype("<u4"))
    return entry


def _program(buffer: Views, plan: DevicePlan) -> Json:
    constants = {"plan": np.frombuffer(plan.uniform, np.uint8), **plan.arrays}
    learnt = learnt_bytes(plan)
    modules: list[Json] = []
    for name, table in MODULES.items():
        module: Json = {
            "name": name,
            "code": shader(table.files, plan.told),
            "buffers": [{"name": bound, "use": use} for bound, use in table.buffers.items()],
            "steps": [
                {"entry": step, "threads": plan.told[counted]}
                for step, counted in table.steps.items()
                if plan.told[counted]
            ],
        }
        modules.append(module)
    if learnt["bind_frames"]:
        # at bind: kept after its module has run, which then runs again
        modules[0]["kept_at_bind"] = {
            "from": "posed",
            "offset": ROW_BYTES * plan.told["at_frames"],
            "to": "bind_frames",
            "bytes": learnt["bind_frames"],
        }
    return {
        "workgroup": WORKGROUP,
        "constants": {name: _view(buffer, array) for name, array in constants.items()},
        "learnt": learnt,
        "instance": bytes_each(plan),
        "modules": modules,
    }
