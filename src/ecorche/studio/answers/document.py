"""Answers about the open file."""

from __future__ import annotations

from typing import Literal

from ecorche.document.line_spec import LineMuscleSpec
from ecorche.document.spec import MusclesSpec
from ecorche.skeleton.naming.recognise import recognise
from ecorche.studio.answers.table import Answers, answering
from ecorche.studio.messages.base import Done
from ecorche.studio.messages.document import (
    DocumentGet,
    DocumentRedo,
    DocumentSave,
    DocumentTold,
    DocumentUndo,
    JointTold,
    MuscleTold,
)
from ecorche.studio.session import Session

ANSWERS: Answers = {}


@answering(ANSWERS, DocumentGet)
def told(session: Session, _: DocumentGet) -> DocumentTold:
    """The open file."""
    document = session.document
    character, spec = document.character, document.rig.spec
    skeleton = character.skeleton
    canonical = recognise(skeleton, spec.skeleton.mapping or None).canonical
    points = [mesh.mesh.points for mesh in character.meshes if len(mesh.mesh.points)]
    low = min((float(p[:, 1].min()) for p in points), default=0.0)
    high = max((float(p[:, 1].max()) for p in points), default=1.0)
    return DocumentTold(
        file=None if document.path is None else document.path.name,
        character=character.name,
        revision=document.revision,
        undo=document.undo_label,
        redo=document.redo_label,
        dirty=document.dirty,
        height=high - low,
        floor=low,
        joints=tuple(
            JointTold(name=name, canonical=known, parent=int(parent))
            for name, known, parent in zip(skeleton.names, canonical, skeleton.parents, strict=True)
        ),
        muscles=muscles_told(spec.muscles),
        clips=tuple(motion.name for motion in character.motions),
        limits=spec.skeleton.limits == "enforce",
        notes=(*character.notes, *document.notes),
    )


def muscles_told(spec: MusclesSpec) -> tuple[MuscleTold, ...]:
    """All muscles of a rig, as lists show them."""
    found: list[MuscleTold] = []
    for (_, kind, name), muscle in spec.each():
        which: Literal["named", "lofted"] = "named" if kind == "named" else "lofted"
        joints = tuple(dict.fromkeys(point.joint for point in muscle.path))
        found.append(
            MuscleTold(name=name, kind=which, muscle=muscle.muscle, group=muscle.group, joints=joints)
        )
    for name, line in spec.lines.items():
        found.append(
            MuscleTold(name=name, kind="lines", muscle=line.muscle, group=line.group, joints=_held_by(line))
        )
    return tuple(found)


def _held_by(muscle: LineMuscleSpec) -> tuple[str, ...]:
    ends = (node for line in muscle.lines for node in (line.nodes[0], line.nodes[-1]))
    return tuple(dict.fromkeys(node.joint for node in ends if node.kind != "free"))


@answering(ANSWERS, DocumentUndo)
def undo(session: Session, _: DocumentUndo) -> Done:
    """Take the last step back."""
    return Done(lines=(f"undone: {session.document.undo()}",))


@answering(ANSWERS, DocumentRedo)
def redo(session: Session, _: DocumentRedo) -> Done:
    """Do it again."""
    return Done(lines=(f"done again: {session.document.redo()}",))


@answering(ANSWERS, DocumentSave)
def save(session: Session, _: DocumentSave) -> Done:
    """Write the rig to its file."""
    name = session.document.save().name if session.space is None else session.space.file(session).save()
    return Done(lines=(f"saved {name}",))
