"""Write a take as X3D 4.0: an H-Anim humanoid with its skin, and its animation.

Joints get their canonical H-Anim names where they have one; what X3D has no field for, the rig's own
names, axes and bone tips, is kept in metadata, so that the character comes back as it was. All
skinned meshes share one set of skin points, one mesh after another. The skin moves as X3D moves
it, by plain linear skinning; how far the take's frames depart from that is measured and said.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ecorche.base.files import whole_file
from ecorche.base.mesh import Mesh
from ecorche.body.character import Character, Material, SkinnedMesh
from ecorche.body.take import Take
from ecorche.errors import WriteError
from ecorche.io.formats import WriteOptions, Written
from ecorche.io.x3d.pose import joint_fields
from ecorche.io.x3d.text import XmlText, exact, identifier, is_xml, numbers, quoted
from ecorche.skeleton.kinematics import difference_from_bind
from ecorche.skeleton.motion import Motion
from ecorche.skeleton.naming import JOINTS, recognise
from ecorche.skeleton.skeleton import Skeleton
from ecorche.version import __version__

SHOWN_DEPARTURE = 1e-5
"""Departures from linear skinning smaller than this [m] are rounding, not worth a note."""


def write_take(path: Path, take: Take, options: WriteOptions) -> Written:  # noqa: ARG001
    """Write the character with the take's motion, or a still one with all its motions."""
    character = take.character
    if take.motion is None and take.frames is not None:
        raise WriteError(
            "X3D moves the skin by its joints, but the motion of this take's joints is not known",
            where=path,
            remedy="Write USD (.usdc) instead, which holds points over time",
        )
    motions = character.motions if take.motion is None else (take.motion,)
    notes = _left_out(character) + _departure(take)
    with whole_file(path) as partial, partial.open("w", encoding="utf-8", newline="\n") as file:
        xml = XmlText(file)
        xml.line('<?xml version="1.0" encoding="UTF-8"?>')
        with xml.inside("X3D", profile="Immersive", version="4.0"):
            with xml.inside("head"):
                xml.element("component", name="HAnim", level="1")
                xml.element("meta", name="title", content=path.name)
                xml.element("meta", name="generator", content=f"Ecorche {__version__}")
            with xml.inside("Scene"):
                _SceneWriter(xml, character).write(motions)
    return Written(tuple(notes))


def _has_vertex_normals(mesh: Mesh) -> bool:
    return mesh.normals is not None and len(mesh.normals) == mesh.vertex_count


def _left_out(character: Character) -> list[str]:
    """What the character has and X3D's humanoid does not hold."""
    notes = [
        f"The name {name!r} has characters that XML does not allow; they were replaced."
        for name in (*character.skeleton.names, *(m.name for m in character.meshes))
        if not is_xml(name)
    ]
    all_skinned = all(_has_vertex_normals(m.mesh) for m in character.meshes if m.weights is not None)
    for mesh in character.meshes:
        lost = []
        surface = mesh.mesh
        if surface.morphs:
            lost.append("blend shapes")
        if surface.attributes:
            lost.append("extra attributes")
        if surface.normals is not None and not _has_vertex_normals(surface):
            lost.append("normals of single corners")
        elif surface.normals is not None and mesh.weights is None:
            lost.append("normals of a mesh without weights")
        elif surface.normals is not None and not all_skinned:
            lost.append("normals, which either all skinned meshes have or none")
        if surface.subdivision != "none":
            lost.append("its subdivision scheme")
        if mesh.own_bind is not None:
            lost.append("a bind pose of its own (its points were brought to the character's)")
        if mesh.weights is None and len(_parts(surface)) > 1:
            lost.append("several materials on a mesh without weights (it comes back as several meshes)")
        if lost:
            notes.append(f"X3D has no place for what mesh {mesh.name!r} has: {', '.join(lost)}.")
    return notes


def _departure(take: Take) -> list[str]:
    """How far the frames are from the linear skinning that X3D will show."""
    if take.frames is None or take.motion is None:
        return []
    from ecorche.skin.linear import LinearSkinning

    character, motion = take.character, take.motion
    skinnings = [
        None if m.weights is None else LinearSkinning(_bind_points(m), m.weights) for m in character.meshes
    ]
    most = 0.0
    for number in range(min(len(take.frames), motion.frame_count)):
        frame = take.frames[number]
        difference = difference_from_bind(character.skeleton, motion.local[number])
        for mesh, skinning, points in zip(character.meshes, skinnings, frame.points, strict=True):
            shown = mesh.mesh.points if skinning is None else skinning.apply(difference)
            most = max(most, float(np.abs(points - shown).max(initial=0.0)))
    if most < SHOWN_DEPARTURE:
        return []
    return [f"X3D shows plain linear skinning; the take's skin departs from it by up to {1e3 * most:.3g} mm."]


def _bind_points(mesh: SkinnedMesh) -> npt.NDArray[np.float32]:
    """The mesh's points at the character's bind pose."""
    if mesh.own_bind is None or mesh.weights is None:
        return mesh.mesh.points
    weights = mesh.weights
    vertex = np.repeat(np.arange(weights.vertex_count), np.diff(weights.starts))
    homogeneous = np.concatenate([mesh.mesh.points, np.ones((len(mesh.mesh.points), 1))], axis=1)
    moved = np.einsum("eab,eb->ea", mesh.own_bind[weights.joints, :3], homogeneous[vertex])
    points = np.zeros((weights.vertex_count, 3))
    np.add.at(points, vertex, moved * weights.weights[:, None].astype(np.float64))
    return points.astype(np.float32)


class _SceneWriter:
    def __init__(self, xml: XmlText, character: Character) -> None:
        self.xml, self.character, self.skeleton = xml, character, character.skeleton
        self.skinned = [m for m in character.meshes if m.weights is not None]
        self.starts = np.cumsum([0, *(m.mesh.vertex_count for m in self.skinned)])
        self.canonical = recognise(self.skeleton).canonical
        self.names = _joint_identifiers(self.skeleton, self.canonical)
        self.looks: set[int] = set()

    def write(self, motions: tuple[Motion, ...]) -> None:
        self._viewpoint(motions)
        with self.xml.inside(
            "HAnimHumanoid",
            DEF="humanoid",
            name=self.character.name,
            version="2.0",
            info='"humanoidVersion=2.0"',
        ):
            self._joints()
            for name in self.names:
                self.xml.element("HAnimJoint", USE=name, containerField="joints")
            for joint, canonical in enumerate(self.canonical):
                if canonical is not None:
                    self.xml.element("HAnimSegment", USE=f"segment_{joint}", containerField="segments")
            self._skin()
        for mesh in self.character.meshes:
            if mesh.weights is None:
                self._still(mesh.mesh)
        for number, motion in enumerate(motions):
            self._clip(number, motion)

    def _viewpoint(self, motions: tuple[Motion, ...]) -> None:
        """A camera from the front that frames the figure, wherever its first motion takes it."""
        worlds = motions[0].world() if motions else self.skeleton.bind_world[None]
        heads = worlds[:, :, :3, 3].reshape(-1, 3)
        points = np.concatenate([heads, *([] if motions else (m.mesh.points for m in self.character.meshes))])
        low, high = points.min(axis=0), points.max(axis=0)
        middle, size = 0.5 * (low + high), float((high - low).max())
        stand = middle + np.array([0.0, 0.0, 1.6 * size])
        self.xml.element(
            "Viewpoint", description="front", position=numbers(stand), centerOfRotation=numbers(middle)
        )

    # -- joints

    def _joints(self) -> None:
        """The joint tree, nested; without recursion, since chains may be long."""
        pile = [
            (joint, False) for joint in reversed(range(len(self.names))) if self.skeleton.parents[joint] < 0
        ]
        while pile:
            joint, done = pile.pop()
            if done:
                self.xml.close("HAnimJoint")
                continue
            self._open_joint(joint)
            pile.append((joint, True))
            pile.extend((child, False) for child in reversed(self.skeleton.children[joint]))

    def _open_joint(self, joint: int) -> None:
        skeleton, canonical = self.skeleton, self.canonical[joint]
        index, weight = self._influences(joint)
        fields = {
            "DEF": self.names[joint],
            "name": canonical or skeleton.names[joint],
            "center": exact(skeleton.bind_world[joint, :3, 3]),
        }
        if skeleton.parents[joint] < 0:
            fields["containerField"] = "skeleton"
        rest = joint_fields(skeleton, joint, skeleton.rest_local[joint][None])
        fields |= {name: exact(values[0]) for name, values in rest.items()}
        if len(index):
            fields |= {"skinCoordIndex": numbers(index), "skinCoordWeight": numbers(weight)}
        self.xml.open("HAnimJoint", **fields)
        with self.xml.inside("MetadataSet", **_NOTES):
            self._note("MetadataString", "joint", quoted([skeleton.names[joint]]))
            if not np.array_equal(skeleton.bind_world[joint, :3, :3], np.eye(3)):
                self._note("MetadataDouble", "axes", exact(skeleton.bind_world[joint, :3, :3]))
            if np.isfinite(skeleton.tails[joint]).all():
                self._note("MetadataDouble", "tail", exact(skeleton.tails[joint]))
        if canonical is not None:
            self.xml.element("HAnimSegment", DEF=f"segment_{joint}", name=JOINTS[canonical].segment)

    def _note(self, kind: str, name: str, value: str, field: str = "value") -> None:
        """Metadata of ours; ``field`` is where it stands: alone in a node, or in a set."""
        self.xml.element(kind, name=name, reference="ecorche", value=value, containerField=field)

    def _influences(self, joint: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]:
        """The skin points a joint moves and their weights."""
        index, weight = [], []
        for mesh, start in zip(self.skinned, self.starts[:-1], strict=True):
            assert mesh.weights is not None
            entries = np.flatnonzero(mesh.weights.joints == joint)
            index.append(np.searchsorted(mesh.weights.starts, entries, side="right") - 1 + start)
            weight.append(mesh.weights.weights[entries])
        if not index:
            return np.zeros(0, np.int64), np.zeros(0, np.float32)
        return np.concatenate(index), np.concatenate(weight)

    # -- surfaces

    def _skin(self) -> None:
        if not self.skinned:
            return
        points = np.concatenate([_bind_points(m) for m in self.skinned])
        self.xml.element("Coordinate", DEF="skin_points", containerField="skinCoord", point=numbers(points))
        normals = all(_has_vertex_normals(m.mesh) for m in self.skinned)
        if normals:
            vectors = np.concatenate([m.mesh.normals for m in self.skinned if m.mesh.normals is not None])
            self.xml.element(
                "Normal", DEF="skin_normals", containerField="skinNormal", vector=numbers(vectors)
            )
        for mesh, start in zip(self.skinned, self.starts[:-1], strict=True):
            for part in _parts(mesh.mesh):
                with self.xml.inside("Shape", containerField="skin"):
                    self._appearance(part.material)
                    self._faces(mesh.mesh, part, int(start), skin=True, normals=normals)

    def _still(self, mesh: Mesh) -> None:
        """A mesh that no joint moves."""
        for part in _parts(mesh):
            with self.xml.inside("Shape"):
                self._appearance(part.material)
                self._faces(mesh, part, 0, skin=False, normals=False)

    def _faces(self, mesh: Mesh, part: _Part, start: int, *, skin: bool, normals: bool) -> None:
        counts = mesh.face_counts[part.faces].astype(np.int64)
        begin = np.cumsum(mesh.face_counts, dtype=np.int64)[part.faces] - counts
        slots = np.repeat(begin - (np.cumsum(counts) - counts), counts) + np.arange(int(counts.sum()))
        fields = {"coordIndex": numbers(_with_ends(mesh.face_indices[slots] + start, counts))}
        look = None if part.material is None else self.character.materials[part.material]
        if mesh.double_sided or (look is not None and look.double_sided):
            fields["solid"] = "false"
        if mesh.normals is None:
            fields["creaseAngle"] = "3.14159"
        uv = mesh.uv
        if uv is not None:
            rows = mesh.face_indices[slots] if uv.interpolation == "vertex" else slots
            chosen = rows if uv.indices is None else uv.indices[rows]
            fields["texCoordIndex"] = numbers(_with_ends(chosen, counts))
        with self.xml.inside("IndexedFaceSet", **fields):
            with self.xml.inside("MetadataSet", **_NOTES):
                self._note("MetadataString", "mesh", quoted([mesh.name]))
                if skin:
                    self._note("MetadataInteger", "points", f"{start} {mesh.vertex_count}")
                if part.subset is not None:
                    self._note("MetadataString", "subset", quoted([part.subset]))
                if len(part.faces) != len(mesh.face_counts):
                    self._note("MetadataInteger", "faces", numbers(part.faces))
            if skin:
                self.xml.element("Coordinate", USE="skin_points")
            else:
                self.xml.element("Coordinate", point=numbers(mesh.points))
            if normals:
                self.xml.element("Normal", USE="skin_normals")
            if uv is not None:
                self.xml.element("TextureCoordinate", point=numbers(uv.values))

    def _appearance(self, material: int | None) -> None:
        if material is None:
            with self.xml.inside("Appearance"):
                self._note("MetadataString", "material", "", field="metadata")
                self.xml.element("Material")
            return
        name = f"look_{material}"
        if material in self.looks:
            self.xml.element("Appearance", USE=name)
            return
        self.looks.add(material)
        look: Material = self.character.materials[material]
        with self.xml.inside("Appearance", DEF=name):
            self._note("MetadataString", "material", quoted([look.name]), field="metadata")
            self.xml.element(
                "PhysicalMaterial",
                baseColor=numbers(np.array(look.base_color[:3])),
                transparency=f"{1.0 - look.base_color[3]:.9g}",
                metallic=f"{look.metallic:.9g}",
                roughness=f"{look.roughness:.9g}",
            )
            if look.base_color_image is not None:
                image = self.character.images[look.base_color_image]
                data = base64.b64encode(image.data).decode()
                self.xml.element("ImageTexture", url=quoted([f"data:{image.mime_type};base64,{data}"]))

    # -- animation

    def _clip(self, number: int, motion: Motion) -> None:
        """A time sensor, an interpolator for every field that is not at rest, and their routes."""
        first, last = float(motion.times[0]), float(motion.times[-1])
        cycle = last - first if last > first else 1.0
        clock = f"clip_{number}"
        sensor = {"DEF": clock, "description": motion.name, "cycleInterval": exact(np.array([cycle]))}
        sensor |= {"loop": "true", "enabled": "true" if number == 0 else "false"}
        with self.xml.inside("TimeSensor", **sensor):
            if first != 0.0:
                self._note("MetadataDouble", "start", exact(np.array([first])), field="metadata")
        keys = exact((motion.times - first) / cycle)
        for joint, name in enumerate(self.names):
            moving = dict(joint_fields(self.skeleton, joint, motion.local[:, joint]).items())
            rest = dict(joint_fields(self.skeleton, joint, self.skeleton.rest_local[joint][None]).items())
            if joint == 0:
                moving.setdefault("rotation", np.tile([0.0, 0.0, 1.0, 0.0], (motion.frame_count, 1)))
            for field in sorted({*moving, *rest}):
                values = moving.get(field)
                if values is None:
                    values = np.tile(_DEFAULTS[field], (motion.frame_count, 1))
                if joint != 0 and field in rest and (values == rest[field]).all():
                    continue
                kind = "OrientationInterpolator" if values.shape[1] == 4 else "PositionInterpolator"
                source = f"{clock}_{joint}_{field}"
                self.xml.element(kind, DEF=source, key=keys, keyValue=numbers(values))
                self._route(clock, "fraction_changed", source, "set_fraction")
                self._route(source, "value_changed", name, field)

    def _route(self, source: str, source_field: str, target: str, target_field: str) -> None:
        self.xml.element(
            "ROUTE", fromNode=source, fromField=source_field, toNode=target, toField=target_field
        )


_NOTES = {"name": "notes", "reference": "ecorche", "containerField": "metadata"}
_DEFAULTS = {
    "rotation": (0.0, 0.0, 1.0, 0.0),
    "scaleOrientation": (0.0, 0.0, 1.0, 0.0),
    "translation": (0.0, 0.0, 0.0),
    "scale": (1.0, 1.0, 1.0),
}


def _joint_identifiers(skeleton: Skeleton, canonical: tuple[str | None, ...]) -> list[str]:
    """DEF names: H-Anim recommends its own name after a prefix."""
    return [
        f"hanim_{name}" if name is not None else f"joint_{joint}_{identifier(skeleton.names[joint])}"
        for joint, name in enumerate(canonical)
    ]


@dataclass(frozen=True, eq=False)
class _Part:
    """Faces of a mesh that look alike."""

    faces: npt.NDArray[np.int64]
    material: int | None
    subset: str | None  # the name of the subset they are


def _parts(mesh: Mesh) -> list[_Part]:
    """A mesh's faces by subset, then those in none; every face once."""
    left = np.ones(len(mesh.face_counts), bool)
    parts: list[_Part] = []
    for subset in mesh.subsets:
        faces = subset.faces[left[subset.faces]].astype(np.int64)
        left[faces] = False
        if len(faces):
            material = mesh.material if subset.material is None else subset.material
            parts.append(_Part(faces, material, subset.name))
    if left.any() or not parts:
        parts.append(_Part(np.flatnonzero(left), mesh.material, None))
    return parts


def _with_ends(corners: npt.NDArray[np.integer], counts: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """X3D's list of faces: each face's corners, then -1."""
    ends = np.cumsum(counts)
    return np.insert(corners.astype(np.int64), ends, -1)
