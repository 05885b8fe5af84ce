"""One more muscle for a rig from a surface: a mesh on action lines, built as those of an anatomy folder are.

A mesh needs bones: they say what it is attached to, and what its lines bend round. So the rig, or the
character, has to have some.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ecorche.base.names import listed, unique
from ecorche.body.anatomy_rig import with_anatomy
from ecorche.body.bones import compile_bones
from ecorche.body.character import Character
from ecorche.body.edited_rig import Edited, require_free
from ecorche.document.files import Rig
from ecorche.document.problems import told_as_document_error
from ecorche.document.spec import RigSpec
from ecorche.errors import EcorcheError
from ecorche.muscles.anatomy.folder import AnatomyFolder, AnatomyMesh

TOLD = 4


def added_from_mesh(
    rig: Rig, character: Character, mesh: AnatomyMesh, bones: Mapping[str, int] | None = None
) -> Edited:
    """The rig with one more muscle, a mesh on action lines.

    Args:
        rig: The rig.
        character: Its character.
        mesh: The muscle's surface in the character's frame at bind; the muscle is called as it is.
        bones: Joints of the meshes of the character that are bones, by name; they serve where the rig has no
            bones of its own.

    Raises:
        EcorcheError: Neither has bones, or the mesh cannot be built.
    """
    require_free(rig, mesh.name)
    folder, known = _folder(rig, character, mesh, bones or {})
    held = rig.spec.muscles
    alone = replace(
        rig,
        spec=rig.spec.model_copy(
            update={"muscles": held.model_copy(update={"lines": {}, "fields": {}}), "notes": ()}
        ),
        surfaces={},
    )
    built, report = with_anatomy(
        alone, character, folder, known, bulk=rig.spec.body_type.bulk, complete=False
    )
    new = built.spec.muscles
    # a field keeps its name where it is the same bone; another of that name gets a number
    names, taken = {}, set(held.fields)
    for name, field in new.fields.items():
        names[name] = name if held.fields.get(name) == field else unique(name, taken)
    surfaces, lines, used = dict(rig.surfaces), dict(held.lines), set(rig.surfaces)
    for name, muscle in new.lines.items():
        surface = unique(muscle.surface, used)
        surfaces[surface] = built.surfaces[muscle.surface]
        lines[name] = muscle.model_copy(
            update={
                "surface": surface,
                "lines": tuple(
                    line.model_copy(update={"fields": tuple(names[field] for field in line.fields)})
                    for line in muscle.lines
                ),
            }
        )
    fields = {**held.fields, **{names[name]: field for name, field in new.fields.items()}}
    muscles = held.model_copy(update={"lines": lines, "fields": fields})
    with told_as_document_error(rig.source):
        spec = rig.spec.model_copy(update={"muscles": muscles, "coupling": built.spec.coupling})
        spec = RigSpec.model_validate(spec.model_dump())  # copies are not checked
    made = replace(rig, spec=spec, surfaces=surfaces, bones=rig.bones or built.bones)
    doubts = [f"{name!r}: {doubt}" for name, told in report.doubts.items() for doubt in told]
    added = [name for name in lines if name not in held.lines]
    count = sum(len(lines[name].lines) for name in added)
    told = [f"{listed(added, TOLD)} added: a mesh on {count} action lines"]
    if report.covered:
        told.append("the skin lies over muscles that are meshes by a fascia now")
    return Edited(made, (*told, *doubts[:TOLD]))


def _folder(
    rig: Rig, character: Character, mesh: AnatomyMesh, bones: Mapping[str, int]
) -> tuple[AnatomyFolder, dict[str, int]]:
    """The mesh with the bones of the rig, else of the character, and the joints these move with."""
    found = compile_bones(rig, character.skeleton)
    if found is not None:
        meshes = [
            AnatomyMesh(bone.name, bone.points, np.asarray(bone.triangles, np.int64)) for bone in found.bones
        ]
        known = {bone.name: bone.joint for bone in found.bones}
    else:
        meshes = [
            AnatomyMesh(
                other.name,
                np.asarray(other.mesh.points, np.float64),
                np.asarray(other.mesh.triangles(), np.int64),
            )
            for other in character.meshes
            if other.name in bones
        ]
        known = dict(bones)
    if not meshes:
        raise EcorcheError(
            "neither the rig nor its character has bones, and a muscle that is a mesh is attached to them",
            where=f"muscle {mesh.name!r}",
            remedy="Build the rig from an anatomy folder with bones (ecorche rig --anatomy FOLDER), or draw"
            " the muscle between two points",
        )
    return AnatomyFolder((mesh,), tuple(meshes)), known
