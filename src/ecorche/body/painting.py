"""Painted weights: which skin a muscle moves, drawn by hand in any program and kept in the rig.

What was found for a muscle goes out as a vertex attribute; what was painted comes back from one. Where the
painted mesh is another than the body's (an exporter split or reordered its vertices) the values are carried
over its surface.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ecorche.base.mesh import Attribute, Mesh
from ecorche.base.names import suggestion, unique
from ecorche.body.character import Character
from ecorche.body.spelled_joints import spot
from ecorche.body.transfer import plan_transfer
from ecorche.document.bind import BindMesh
from ecorche.document.files import Rig
from ecorche.document.lofted_spec import LoftedMuscleSpec
from ecorche.document.muscle_spec import MuscleSpec
from ecorche.document.problems import told_as_document_error
from ecorche.document.spec import MapRef, RigSpec
from ecorche.errors import DocumentError, MeshError

Floats = npt.NDArray[np.float64]

SAME_PLACE = 1e-4
"""Vertices in the same order within this part of the body's height of each other are the same."""


@dataclass(frozen=True, eq=False)
class Painted:
    """Weights of a muscle a vertex of the body, (vertices,), and what a person should know about them."""

    weights: Floats
    note: str = ""


def attribute_name(muscle: str) -> str:
    """A muscle's name as glTF and USD allow attributes to be called: ``muscle_biceps_brachii_right``."""
    return "muscle_" + re.sub(r"[^A-Za-z0-9]+", "_", muscle).strip("_").lower()


def with_attribute(character: Character, body: str, name: str, weights: Floats) -> Character:
    """The character with weights as an attribute of its body, to be painted on."""
    attribute = Attribute(name, weights.astype(np.float32))
    return replace(
        character,
        meshes=tuple(
            replace(m, mesh=replace(m.mesh, attributes=(*m.mesh.attributes, attribute)))
            if m.name == body
            else m
            for m in character.meshes
        ),
    )


def painted_on(character: Character, name: str, body: BindMesh) -> Painted:
    """The weights painted on any mesh of a character under an attribute's name, on a rig's body."""
    holding = [(mesh.mesh, found) for mesh in character.meshes if (found := _attribute(mesh.mesh, name))]
    if not holding:
        known = sorted({a.name for m in character.meshes for a in m.mesh.attributes})
        raise MeshError(
            f"no mesh has an attribute {name!r}", where=character.source, remedy=suggestion(name, known)
        )
    mesh, attribute = max(holding, key=lambda pair: (pair[0].name == body.name, pair[0].vertex_count))
    where = f"{character.source}, mesh {mesh.name!r}, attribute {attribute.name!r}"
    values = np.asarray(attribute.flat())
    if values.dtype.kind == "u" and (attribute.file_type or "").startswith("NORMALISED"):
        values = values / float(np.iinfo(values.dtype).max)
    values = np.asarray(values, np.float64).reshape(len(values), -1)[:, 0]
    if attribute.interpolation == "corner" and len(values) == len(mesh.face_indices):
        values = _by_vertex(values, mesh)
    if len(values) != mesh.vertex_count:
        raise MeshError(
            f"holds {len(values)} values for {mesh.vertex_count} vertices",
            where=where,
            remedy="Paint it by vertex",
        )
    require_weights(values, where)
    there = BindMesh(mesh.name, mesh.points, mesh.face_counts, mesh.face_indices)
    height = float(np.ptp(body.points[:, 1])) if len(body.points) else 1.0
    if len(there.points) == len(body.points):
        apart = np.linalg.norm(there.points - body.points, axis=1).max(initial=0.0)
        if apart <= SAME_PLACE * height:
            return Painted(values)
    plan = plan_transfer(there, body, body.points.astype(np.float64))
    farthest = 1e3 * float(plan.distances.max(initial=0.0))
    carried = np.asarray(plan.carry(values), np.float64)
    return Painted(
        carried,
        f"{len(there.points):,} painted vertices are not the body's {len(body.points):,}:"
        f" carried over the surface, up to {farthest:.2g} mm away",
    )


def with_weights(rig: Rig, muscle: str, weights: Floats, about: str = "") -> Rig:
    """The rig with painted weights for one muscle, in place of those found or painted before."""
    spec = _muscle(rig, muscle)
    body = rig.bind.mesh(rig.spec.body or rig.bind.meshes[0].name, rig.source)
    if len(weights) != len(body.points):
        raise DocumentError(
            f"there are {len(weights)} weights for the {len(body.points)} vertices of {body.name!r}",
            where=rig.source,
            remedy="Give one a vertex",
        )
    require_weights(weights, rig.source)
    bare = without_weights(rig, muscle)
    name = spec.influence.painted
    if name is None or name in bare.maps:  # a map that another muscle shares stays as it is
        wanted = f"weights of {re.sub(r'[^A-Za-z0-9]+', ' ', muscle)}".strip()[:60]
        name = unique(wanted, set(bare.maps))
    maps = {**bare.spec.maps, name: MapRef(mesh=body.name, about=about)}
    painted = spec.model_copy(update={"influence": spec.influence.model_copy(update={"painted": name})})
    return _changed(bare, muscle, painted, maps, {**bare.maps, name: weights.astype(np.float32)})


def without_weights(rig: Rig, muscle: str) -> Rig:
    """The rig with the weights of one muscle found again; a painted map nobody else uses goes."""
    spec = _muscle(rig, muscle)
    name = spec.influence.painted
    found = spec.model_copy(update={"influence": spec.influence.model_copy(update={"painted": None})})
    shared = any(m.influence.painted == name for (*_, n), m in rig.spec.muscles.each() if n != muscle)
    gone = set() if name is None or shared else {name}
    maps = {n: ref for n, ref in rig.spec.maps.items() if n not in gone}
    return _changed(rig, muscle, found, maps, {n: v for n, v in rig.maps.items() if n not in gone})


def with_map(rig: Rig, name: str, values: Floats, about: str = "") -> Rig:
    """The rig with a painted map of its body, in place of one of that name; fields may then name it."""
    body = rig.bind.mesh(rig.spec.body or rig.bind.meshes[0].name, rig.source)
    require_weights(values, rig.source)
    maps = {**rig.spec.maps, name: MapRef(mesh=body.name, about=about)}
    with told_as_document_error(rig.source):
        spec = RigSpec.model_validate({**rig.spec.model_dump(), "maps": maps})
    return replace(rig, spec=spec, maps={**rig.maps, name: values.astype(np.float32)})


def without_map(rig: Rig, name: str) -> Rig:
    """The rig without a map; one that a field names is refused."""
    _require_map(rig, name)
    kept = {other: ref for other, ref in rig.spec.maps.items() if other != name}
    with told_as_document_error(rig.source):
        spec = RigSpec.model_validate({**rig.spec.model_dump(), "maps": kept})
    return replace(rig, spec=spec, maps={other: v for other, v in rig.maps.items() if other != name})


def map_values(rig: Rig, name: str) -> Floats:
    """What a map of one number a vertex holds, (vertices,)."""
    _require_map(rig, name)
    values = np.asarray(rig.maps[name], np.float64)
    if values.ndim != 1:
        raise DocumentError(
            f"the map {name!r} holds several numbers a vertex", where=rig.source, remedy="Choose another"
        )
    return values


def _require_map(rig: Rig, name: str) -> None:
    if name not in rig.maps:
        raise DocumentError(
            f"there is no map {name!r}", where=rig.source, remedy=suggestion(name, list(rig.maps))
        )


def painted_values(rig: Rig, place: Sequence[str], name: str, body: str) -> Floats:
    """What a map says of every vertex, (vertices,).

    Args:
        rig: The rig.
        place: Of the field that names the map, in the rig's file.
        name: The map.
        body: The mesh it has to be painted on.
    """
    where = spot(rig, place)
    if name not in rig.maps:
        raise DocumentError(f"there is no map {name!r}", where=where, remedy="Paint it, or leave it out")
    if rig.spec.maps[name].mesh != body:
        raise DocumentError(
            f"the map {name!r} is painted on {rig.spec.maps[name].mesh!r}, the body is {body!r}",
            where=where,
            remedy="Paint it on the body",
        )
    return np.asarray(rig.maps[name], np.float64)


def require_weights(weights: Floats, where: object) -> None:
    """Refuse weights that are not between 0 and 1, naming the vertex."""
    bad = ~((weights >= 0.0) & (weights <= 1.0))
    if bad.any():
        vertex = int(np.argmax(bad))
        raise MeshError(
            f"the weight of vertex {vertex} is {weights[vertex]:g} ({int(bad.sum())} such vertices)",
            where=where,
            remedy="Paint from 0 to 1",
        )


def _muscle(rig: Rig, name: str) -> MuscleSpec | LoftedMuscleSpec:
    known = {of: muscle for (*_, of), muscle in rig.spec.muscles.each()}
    if name not in known:
        raise DocumentError(
            f"there is no muscle {name!r}", where=rig.source, remedy=suggestion(name, list(known))
        )
    return known[name]


def _changed(
    rig: Rig,
    name: str,
    muscle: MuscleSpec | LoftedMuscleSpec,
    maps: Mapping[str, MapRef],
    values: Mapping[str, npt.NDArray[np.generic]],
) -> Rig:
    muscles = rig.spec.muscles.with_muscle(name, muscle)
    return replace(rig, spec=rig.spec.model_copy(update={"muscles": muscles, "maps": maps}), maps=values)


def _attribute(mesh: Mesh, name: str) -> Attribute | None:
    """The attribute of that name, spelled as any of our formats spells it."""
    wanted = name.removeprefix("_").removeprefix("primvars:").lower()
    for attribute in mesh.attributes:
        if attribute.name.removeprefix("_").removeprefix("primvars:").lower() == wanted:
            return attribute
    return None


def _by_vertex(values: Floats, mesh: Mesh) -> Floats:
    """Mean of a vertex's corners."""
    total = np.bincount(mesh.face_indices, values, mesh.vertex_count)
    return np.asarray(total / np.maximum(np.bincount(mesh.face_indices, minlength=mesh.vertex_count), 1))
