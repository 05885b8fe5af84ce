"""A take as a glTF file: skeleton, skins, meshes, looks, and how they move."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ecorche.base import transforms
from ecorche.base.files import require_folder
from ecorche.body.character import Character, SkinnedMesh
from ecorche.body.take import Take
from ecorche.errors import EcorcheError, MotionError, WriteError
from ecorche.io.departure import ENOUGH, Departure, departures
from ecorche.io.formats import WriteOptions, Written
from ecorche.io.gltf.buffer import VERTICES, BufferWriter, write_container
from ecorche.io.gltf.file import Json
from ecorche.io.gltf.geometry import add_tangents, first_corners, geometry_of, parts, write_primitives
from ecorche.io.gltf.materials import extensions_of, kept_aside, write_images, write_materials
from ecorche.io.gltf.nodes import SCENE_ROOT
from ecorche.io.gltf.skeleton import AT_BIND, SAME_PLACE
from ecorche.io.playback import NO_SCALE, JointKeys, inverse_binds, joint_keys
from ecorche.skeleton.motion import Motion
from ecorche.skeleton.skeleton import Skeleton

Floats = npt.NDArray[np.float64]

GENERATOR = f"ecorche {version('ecorche')}"


class WrittenMesh(NamedTuple):
    """A mesh of the character as the file has it.

    Attributes:
        number: In the character.
        entry: In the file.
        vertices: Vertex of the mesh behind each written vertex.
        corners: A corner of the mesh that shows each written vertex.
    """

    number: int
    entry: int
    vertices: npt.NDArray[np.int64]
    corners: npt.NDArray[np.int64]


Carry = Callable[[BufferWriter, list[WrittenMesh]], Json]
"""Puts more into a file's buffer, and gives the extras that tell of it."""


@dataclass
class _Draft:
    """The file under construction."""

    take: Take
    buffer: BufferWriter = field(default_factory=BufferWriter)
    nodes: list[Json] = field(default_factory=list)
    skins: list[Json] = field(default_factory=list)
    meshes: list[Json] = field(default_factory=list)
    animations: list[Json] = field(default_factory=list)
    mesh_nodes: dict[int, int] = field(default_factory=dict)
    written: list[WrittenMesh] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    errors: dict[str, Json] = field(default_factory=dict)

    @property
    def character(self) -> Character:
        return self.take.character


def write_take(path: Path, take: Take, options: WriteOptions, carry: Carry | None = None) -> Written:
    """Write a take to a .glb, or a .gltf with its .bin; returns what the file could not say exactly.

    ``carry`` adds what players that know of it read.
    """
    path = Path(path)
    require_folder(path)
    try:
        return _write(path, take, options, carry)
    except EcorcheError as error:
        if error.where is None:
            raise type(error)(error.what, where=path, remedy=error.remedy) from error
        raise


def _write(path: Path, take: Take, options: WriteOptions, carry: Carry | None) -> Written:
    draft = _Draft(take)
    motions = [take.motion] if take.motion is not None else []
    if take.frames is None and take.motion is None:
        motions = list(take.character.motions)
    for motion in motions:
        if motion.skeleton.joint_count != take.character.skeleton.joint_count:
            raise MotionError(f"motion {motion.name!r} has other joints than the character")
    clips = [_keys(draft, motion) for motion in motions]
    found = _departures(draft, clips[0] if clips else None, options)
    roots = _write_skeleton(draft, any(len(c.times) for c in clips))
    materials = _write_meshes(draft, found, options.tangents)
    for motion, keys in zip(motions, clips, strict=True):
        _write_animation(draft, keys, motion, found)
    if take.frames is not None and not motions and found:
        _write_cache_animation(draft, found)
    scene = {"nodes": [*roots, *draft.mesh_nodes.values()]}
    extras = {} if carry is None else {"extras": carry(draft.buffer, draft.written)}
    write_container(path, {**_content(draft, scene, materials), **extras}, draft.buffer)
    return Written(tuple(draft.notes))


def _keys(draft: _Draft, motion: Motion) -> JointKeys:
    keys = joint_keys(motion)
    if keys.shear > 1e-5:
        draft.notes.append(
            f"clip {motion.name!r}: joints are sheared by up to {keys.shear:.2g}, which glTF cannot say"
        )
    if keys.delay:
        draft.notes.append(f"clip {motion.name!r} starts {keys.delay:g} s later: glTF begins at zero")
    if len(keys.times) > 1 and (np.diff(keys.times) <= 0.0).any():
        raise MotionError(
            f"motion {motion.name!r}: its frames are too close for glTF's 32-bit times",
            remedy="Resample it, or let it start at zero",
        )
    return keys


def _departures(draft: _Draft, keys: JointKeys | None, options: WriteOptions) -> list[Departure] | None:
    """Morph targets for what the take's skin does beyond linear skinning; states their error."""
    frames, character = draft.take.frames, draft.character
    if frames is None:
        return None
    if draft.take.motion is not None and len(frames) != draft.take.motion.frame_count:
        raise WriteError(
            f"the take has {len(frames)} frames of skin and {draft.take.motion.frame_count} of joints",
            remedy="Bake the take anew",
        )
    weights = [_morph_weights(mesh, draft.take.motion, len(frames)) for mesh in character.meshes]
    found = departures(character, keys, weights, frames, options.morph_targets)
    for mesh, departure in zip(character.meshes, found, strict=True):
        draft.errors[mesh.name] = {
            "morph_targets": len(departure.targets),
            "max_error_mm": _rounded(1e3 * departure.worst),
            "rms_error_mm": _rounded(1e3 * departure.rms),
            "max_error_of_linear_skinning_mm": _rounded(1e3 * departure.linear_worst),
        }
        if departure.linear_worst > ENOUGH:
            draft.notes.append(
                f"mesh {mesh.name!r}: its skin departs from linear skinning by up to"
                f" {1e3 * departure.linear_worst:.3g} mm; {len(departure.targets)} morph targets leave"
                f" {1e3 * departure.worst:.3g} mm at most, {1e3 * departure.rms:.3g} mm rms"
            )
    return found


def _rounded(value: float) -> float:
    return float(f"{value:.4g}")


def _morph_weights(mesh: SkinnedMesh, motion: Motion | None, frames: int) -> Floats:
    """Weights of a mesh's own blend shapes over time, shape (frames, morphs)."""
    columns = []
    for morph in mesh.mesh.morphs:
        held = np.full(frames, morph.weight)
        curve = None if motion is None else motion.morph_weights.get(f"{mesh.name}/{morph.name}")
        columns.append(held if curve is None else np.asarray(curve, np.float64))
    return np.stack(columns, axis=1) if columns else np.zeros((frames, 0))


# ---- skeleton ----


def _write_skeleton(draft: _Draft, animated: bool) -> list[int]:
    """A node a joint, in the skeleton's order; the roots."""
    skeleton = draft.character.skeleton
    for joint, name in enumerate(skeleton.names):
        node: Json = {"name": name}
        if skeleton.children[joint]:
            node["children"] = list(skeleton.children[joint])
        node.update(_node_transform(draft, skeleton.rest_local[joint], name, animated))
        if np.isfinite(skeleton.tails[joint]).all():
            node["extras"] = {"tail": skeleton.tails[joint].tolist()}
        draft.nodes.append(node)
    roots = [int(j) for j in np.flatnonzero(skeleton.parents < 0)]
    if len(roots) > 1:  # the joints of a glTF skin hang on one node
        draft.nodes.append({"name": "skeleton", "children": roots, "extras": {SCENE_ROOT: True}})
        return [len(draft.nodes) - 1]
    return roots


def _node_transform(draft: _Draft, local: Floats, name: str, animated: bool) -> Json:
    if float(transforms.shear(local)) > 1e-6:
        if not animated:
            return {"matrix": local.T.reshape(-1).tolist()}
        draft.notes.append(f"joint {name!r} is sheared at rest, which an animated glTF node cannot be")
    translation, rotation, scale = transforms.decompose(local)
    transform: Json = {}
    if translation.any():
        transform["translation"] = translation.tolist()
    if np.abs(rotation[:3]).max() > 0.0:
        transform["rotation"] = rotation.tolist()
    if np.abs(scale - 1.0).max() > NO_SCALE:
        transform["scale"] = scale.tolist()
    return transform


def _write_skin(draft: _Draft, skeleton: Skeleton, own_bind: Floats | None) -> int:
    """A skin over all joints."""
    matrices = inverse_binds(skeleton, own_bind).transpose(0, 2, 1).reshape(-1, 16)
    skin: Json = {
        "inverseBindMatrices": draft.buffer.accessor(np.ascontiguousarray(matrices)),
        "joints": list(range(skeleton.joint_count)),
    }
    place = skeleton.rest_world[0] @ skeleton.bind_inverse[0]
    if own_bind is not None or np.abs(place - np.eye(4)).max() > SAME_PLACE:
        # a reader would else take the topmost joint's rest for the place the mesh stands at
        skin["extras"] = {AT_BIND: True}
    draft.skins.append(skin)
    return len(draft.skins) - 1


# ---- meshes ----


def _write_meshes(draft: _Draft, found: list[Departure] | None, tangents: bool) -> Json:
    """All meshes, the skins they use, and their materials."""
    character = draft.character
    needed: dict[tuple[int, bool], int] = {}
    for mesh in character.meshes:
        for _, _, material in parts(mesh.mesh):
            if material is not None:
                needed.setdefault((material, mesh.mesh.double_sided), -1)
    # every material keeps its number; both-sided variants of one-sided ones come after
    variants = [(m, False) for m in range(len(character.materials))]
    for material, both_sides in needed:
        one_sided = not character.materials[material].double_sided
        if both_sides and one_sided:
            variants.append((material, True))
            needed[material, both_sides] = len(variants) - 1
        else:
            needed[material, both_sides] = material
    shared_skin: int | None = None
    for number, mesh in enumerate(character.meshes):
        if not len(mesh.mesh.face_counts):
            draft.notes.append(f"mesh {mesh.name!r} has no faces, which glTF does not allow: left out")
            continue
        node: Json = {"name": mesh.name, "mesh": len(draft.meshes)}
        if mesh.weights is not None:
            if mesh.own_bind is not None:
                node["skin"] = _write_skin(draft, character.skeleton, mesh.own_bind)
            else:
                if shared_skin is None:
                    shared_skin = _write_skin(draft, character.skeleton, None)
                node["skin"] = shared_skin
        departure = found[number] if found else None
        draft.meshes.append(_mesh_entry(draft, number, departure, needed, tangents))
        draft.nodes.append(node)
        draft.mesh_nodes[number] = len(draft.nodes) - 1
    draft.notes += [
        f"material {name!r}: only its base colour, metalness and roughness are shown in glTF; the rest of its"
        " description is kept for the way back"
        for name in kept_aside(character.materials)
    ]
    return write_materials(character.materials, character.images, variants)


def _mesh_entry(
    draft: _Draft,
    number: int,
    departure: Departure | None,
    materials: dict[tuple[int, bool], int],
    tangents: bool,
) -> Json:
    mesh = draft.character.meshes[number]
    geometry = geometry_of(mesh.mesh)
    corners = first_corners(geometry.corners, len(geometry.source))
    draft.written.append(WrittenMesh(number, len(draft.meshes), geometry.source, corners))
    if tangents:
        add_tangents(mesh.mesh, geometry)
    draft.notes += geometry.notes
    most = 0 if mesh.weights is None else int(np.diff(mesh.weights.starts).max(initial=0))
    if most > 4:
        draft.notes.append(
            f"mesh {mesh.name!r}: some vertices follow {most} joints; players that read only four differ"
        )
    count = len(geometry.source)
    targets, names, weights = [], [], []
    for morph in mesh.mesh.morphs:
        dense = np.zeros((mesh.mesh.vertex_count, 3), np.float32)
        dense[morph.vertices] = morph.offsets
        written = dense[geometry.source]
        touched = np.flatnonzero(written.any(axis=1)).astype(np.int32)
        targets.append({"POSITION": draft.buffer.offsets(touched, written[touched], count)})
        names.append(morph.name)
        weights.append(morph.weight)
    if departure is not None:
        for k, offsets in enumerate(departure.targets):
            written = offsets[geometry.source]
            touched = np.flatnonzero(written.any(axis=1)).astype(np.int32)
            target = {"POSITION": draft.buffer.offsets(touched, written[touched], count)}
            if departure.normals is not None and "NORMAL" in geometry.columns:
                turned = departure.normals[k][geometry.source]
                target["NORMAL"] = draft.buffer.accessor(turned, VERTICES)
            targets.append(target)
            names.append(f"skin_{k}")
            weights.append(float(departure.resting[k]))
    if departure is not None and departure.normals is not None and mesh.mesh.morphs:
        # glTF wants the same arrays in every target of a primitive
        still = draft.buffer.offsets(np.zeros(0, np.int32), np.zeros((0, 3), np.float32), count)
        for target in targets[: len(mesh.mesh.morphs)]:
            target["NORMAL"] = still
    entry = write_primitives(draft.buffer, mesh.mesh, geometry, mesh.weights, targets, materials)
    if targets:
        entry["weights"] = weights
        entry["extras"] = {**entry.get("extras", {}), "targetNames": names}
    return entry


# ---- animation ----


def _write_animation(draft: _Draft, keys: JointKeys, motion: Motion, found: list[Departure] | None) -> None:
    """One clip: every joint that leaves its rest, and every blend shape that moves."""
    skeleton = draft.character.skeleton
    animation = _Animation(draft, keys.times)
    translation, rotation, scale = (p.astype(np.float32) for p in transforms.decompose(skeleton.rest_local))
    scale = np.where(np.abs(scale - 1.0) <= NO_SCALE, np.float32(1.0), scale)
    for joint in range(skeleton.joint_count):
        turned = keys.rotation_xyzw[:, joint]
        if (keys.translation[:, joint] != translation[joint]).any():
            animation.channel(joint, "translation", keys.translation[:, joint])
        # the first joint's rotation is always there: a clip in which nothing moves still has its length
        if joint == 0 or _differs(turned, rotation[joint]):
            animation.channel(joint, "rotation", turned)
        if (keys.scale[:, joint] != scale[joint]).any():
            animation.channel(joint, "scale", keys.scale[:, joint])
    for number, mesh in enumerate(draft.character.meshes):
        own = any(f"{mesh.name}/{m.name}" in motion.morph_weights for m in mesh.mesh.morphs)
        added = found[number].weights if found else np.zeros((len(keys.times), 0), np.float32)
        if own or added.shape[1]:
            weights = _morph_weights(mesh, motion, len(keys.times)).astype(np.float32)
            animation.weights(number, np.concatenate([weights, added], axis=1))
    animation.finish(keys.name)


def _differs(turned: npt.NDArray[np.float32], rest: npt.NDArray[np.float32]) -> bool:
    """Whether rotations (frames, 4) are others than ``rest``, q and -q being one."""
    same = (turned == rest).all(axis=1) | (turned == -rest).all(axis=1)
    return not bool(same.all())


def _write_cache_animation(draft: _Draft, found: list[Departure]) -> None:
    """Frames of skin alone, when nobody knows the joints: only weights move."""
    assert draft.take.frames is not None
    times = np.asarray(draft.take.frames.times, np.float64)
    delay = max(-float(times[0]), 0.0)
    if delay:
        draft.notes.append(f"the cache starts {delay:g} s later: glTF begins at zero")
    animation = _Animation(draft, (times + delay).astype(np.float32))
    for number, departure in enumerate(found):
        if departure.weights.shape[1]:
            own = _morph_weights(draft.character.meshes[number], None, len(times)).astype(np.float32)
            animation.weights(number, np.concatenate([own, departure.weights], axis=1))
    animation.finish("cache")


class _Animation:
    """One glTF animation whose channels share their key times."""

    def __init__(self, draft: _Draft, times: npt.NDArray[np.float32]) -> None:
        self.draft = draft
        self.times = times
        self.input: int | None = None
        self.channels: list[Json] = []
        self.samplers: list[Json] = []

    def channel(self, node: int, path: str, values: npt.NDArray[np.float32]) -> None:
        if self.input is None:
            self.input = self.draft.buffer.accessor(self.times[:, None], bounds=True)
        output = self.draft.buffer.accessor(np.ascontiguousarray(values))
        self.channels.append({"sampler": len(self.samplers), "target": {"node": node, "path": path}})
        self.samplers.append({"input": self.input, "interpolation": "LINEAR", "output": output})

    def weights(self, mesh: int, values: npt.NDArray[np.float32]) -> None:
        if mesh in self.draft.mesh_nodes:
            self.channel(self.draft.mesh_nodes[mesh], "weights", values.reshape(-1, 1))

    def finish(self, name: str) -> None:
        if self.channels:
            self.draft.animations.append({"name": name, "channels": self.channels, "samplers": self.samplers})


# ---- the whole ----


def _content(draft: _Draft, scene: Json, materials: Json) -> Json:
    """The file's JSON, without its buffer."""
    asset: Json = {"version": "2.0", "generator": GENERATOR}
    if draft.errors:
        asset["extras"] = {"ecorche": {"skin": draft.errors}}
    images = write_images(draft.character.images, lambda image: draft.buffer.view(image.data))
    extensions = extensions_of(materials)
    lists: Json = {
        "extensionsUsed": extensions,
        "extensionsRequired": [e for e in extensions if e == "EXT_texture_webp"],
        "nodes": draft.nodes,
        "meshes": draft.meshes,
        "skins": draft.skins,
        "animations": draft.animations,
        **materials,
        "images": images,
        "accessors": draft.buffer.accessors,
        "bufferViews": draft.buffer.views,
    }
    return {
        "asset": asset,
        "scene": 0,
        "scenes": [scene],
        **{key: value for key, value in lists.items() if value},
    }
