"""Answers of the action-line editor: each calls the library, and gives what it made to the document."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import numpy.typing as npt

from ecorche.base.rotations import matrix_from_xyzw, normalise, xyzw_from_matrix
from ecorche.body import edit_fields, edit_lines, edit_muscle_lines
from ecorche.body.compile import of_its_type
from ecorche.body.edit_segments import with_segments
from ecorche.body.edited_rig import Edited
from ecorche.body.line_specs import fields_of, fields_that_bend
from ecorche.body.lines import BodyLines, compile_lines
from ecorche.body.live_lines import LiveLines
from ecorche.body.mirror_lines import mirrored_muscle
from ecorche.body.shown_lines import (
    ShownLine,
    dragged_to_bind,
    ellipsoid_dragged_to_bind,
    line_weights,
    shown_ellipsoids,
    shown_lines,
)
from ecorche.document.files import Rig
from ecorche.document.line_spec import OnLineSpec
from ecorche.errors import EcorcheError
from ecorche.muscles.lines.line_paths import PosedPaths
from ecorche.studio.answers.table import Answers, answering
from ecorche.studio.line_details import lines_told
from ecorche.studio.messages import lines as asking
from ecorche.studio.messages.base import Done, Edit, WithArrays
from ecorche.studio.session import Session

ANSWERS: Answers = {}
Floats = npt.NDArray[np.float64]
KINDS = {"free": 2, "mobile": 3}


def _taken(session: Session, asked: Edit, edited: Edited, label: str, *names: str) -> Done:
    """The edit as the document's next step."""
    lines = session.document.edit(
        edited, label, areas=("muscles", "lines"), names=names, gesture=asked.gesture
    )
    session.kept.pop("lines.trial", None)
    return Done(lines=lines)


@answering(ANSWERS, asking.LinesGet)
def get(session: Session, asked: asking.LinesGet) -> asking.LinesTold:
    """The lines of a muscle in numbers."""
    document = session.document
    return lines_told(document.rig, document.character, document.body.lines, document.revision, asked.muscle)


@answering(ANSWERS, asking.ForgetRest)
def anew(session: Session, _: asking.ForgetRest) -> Done:
    """Let elastic lines come to rest anew, from bind."""
    session.forget_rest()
    return Done(lines=("elastic lines came to rest anew from bind",))


@answering(ANSWERS, asking.LinesShow)
def show(session: Session, asked: asking.LinesShow) -> WithArrays:
    """Lines in the pose that the page shows."""
    begun = time.perf_counter()
    rig = session.document.rig
    if asked.trial is not None and asked.muscle is not None:
        rig, live = _tried(session, asked.trial, asked.muscle)
        lines, moved, posed = live.lines, live.moved, live.posed
        points = live.points(_active(session, lines))
    else:
        session.kept.pop("lines.trial", None)
        found = _here(session)
        if found is None:
            return _told((), {}, [], 0, trial=False, begun=begun)
        lines, moved, posed = found
        moment = session.shown
        points = np.zeros((0, 3))
        if asked.muscle in lines.names:
            points = moment.live.line_points(moment.index)
    chosen = asked.muscle if asked.muscle in lines.names else None
    shown = shown_lines(lines, moved, posed)
    acting = None if chosen is None else fields_that_bend(rig, [chosen])
    fields = fields_of(rig, session.document.body.character.skeleton, acting)
    ellipsoids = []
    for one in shown_ellipsoids(lines, fields, moved, posed):
        matrix = np.eye(4)
        matrix[:3, :3], matrix[:3, 3] = one.axes * one.radii, one.centre
        ellipsoids.append(
            asking.ShownEllipsoidTold(
                field=one.field, number=one.number, matrix=tuple(matrix.ravel().tolist())
            )
        )
    arrays: dict[str, npt.NDArray[Any]] = {}
    count = 0
    if chosen is not None:
        number = lines.names.index(chosen)
        starts, bound = lines.musculature.meshes.starts, lines.musculature.meshes.muscles[number]
        arrays["mesh"] = points[starts[number] : starts[number + 1]].astype(np.float32)
        arrays["triangles"] = bound.triangles.astype(np.uint32)
        arrays["weights"] = line_weights(lines, chosen).astype(np.float32)
        count = len(bound.lines)
    return _told(shown, arrays, ellipsoids, count, trial=asked.trial is not None, begun=begun)


def _told(
    shown: tuple[ShownLine, ...],
    arrays: dict[str, npt.NDArray[Any]],
    ellipsoids: list[asking.ShownEllipsoidTold],
    count: int,
    *,
    trial: bool,
    begun: float,
) -> WithArrays:
    told, nodes, curves = [], 0, 0
    for line in shown:
        told.append(
            asking.ShownLineTold(
                muscle=line.muscle,
                number=line.number,
                nodes=(nodes, len(line.nodes)),
                curve=(curves, len(line.curve)),
                settled=line.settled,
            )
        )
        nodes, curves = nodes + len(line.nodes), curves + len(line.curve)
    none = np.zeros((0, 3), np.float32)
    kinds = [
        KINDS.get(kind, 0 if share.min() == 1.0 else 1)
        for line in shown
        for kind, share in zip(line.kinds, line.follows, strict=True)
    ]
    flags = [
        np.append(np.repeat(line.tendon, (len(line.curve) - 1) // len(line.tendon)), False) for line in shown
    ]
    arrays = {
        **arrays,
        "nodes": np.concatenate([none, *(line.nodes for line in shown)]).astype(np.float32),
        "kinds": np.array(kinds, np.uint8),
        "curves": np.concatenate([none, *(line.curve for line in shown)]).astype(np.float32),
        "tendon": np.concatenate([np.zeros(0, bool), *flags]).astype(np.uint8),
    }
    reply = asking.LinesShown(
        lines=tuple(told),
        ellipsoids=tuple(ellipsoids),
        mesh_lines=count,
        trial=trial,
        seconds=time.perf_counter() - begun,
    )
    return WithArrays(reply, arrays)


def _active(session: Session, lines: BodyLines) -> Floats | None:
    """How active muscles on lines are in what the page shows, in the order of ``lines.designed``."""
    moment = session.shown
    body, activation = moment.live.body, moment.live.activation
    if activation is None or body.lines is None:
        return None
    level = dict(zip(body.muscle_names, activation[moment.index], strict=True))
    return np.array([level[muscle.name] for muscle in lines.designed])


def _here(session: Session) -> tuple[BodyLines, Floats, PosedPaths] | None:
    """The lines of the body, what the joints have moved, and where the lines lie in what the page shows."""
    if session.moment is None:
        live = session.lines
        return None if live is None else (live.lines, live.moved, live.posed)
    moment = session.shown
    motion = moment.live.lines
    if motion is None:
        return None
    return motion.lines, motion.moved(moment.index), motion.paths(moment.index)


def _tried(
    session: Session, trial: asking.MoveNode | asking.PlaceEllipsoid, muscle: str
) -> tuple[Rig, LiveLines]:
    """The rig after an edit, and the lines of one muscle after it, which go on from the try before."""
    edited = _moved(session, trial) if isinstance(trial, asking.MoveNode) else _placed(session, trial)
    character, rig = of_its_type(session.document.character, edited.rig)
    assert rig is not None
    alone = compile_lines(character, rig, only=[muscle])
    live = session.lines
    if alone is None or live is None:
        raise EcorcheError(f"there is no muscle {muscle!r} on action lines", remedy="Choose another")
    kept = session.kept.get("lines.trial")
    gesture = (trial.gesture, muscle)
    before = (
        kept[1]
        if kept is not None and kept[0] == gesture and np.array_equal(kept[1].local, live.local)
        else live
    )
    made = before.taken_over(alone)
    session.kept["lines.trial"] = (gesture, made)
    return edited.rig, made


def _moved(session: Session, asked: asking.MoveNode) -> Edited:
    document, to = session.document, np.array(asked.to)
    if asked.posed:
        found = _here(session)
        if found is not None:
            lines, moved, posed = found
            to = dragged_to_bind(lines, moved, posed, asked.muscle, asked.line, asked.node, to)
    return edit_lines.moved_node(
        document.rig, document.character, asked.muscle, asked.line, asked.node, to, asked.extreme
    )


def _placed(session: Session, asked: asking.PlaceEllipsoid) -> Edited:
    document = session.document
    rig, character = document.rig, document.character
    centre = None if asked.centre is None else np.array(asked.centre)
    turn = asked.turn
    found = _here(session)
    if asked.posed and found is not None and (centre is not None or turn is not None):
        lines, moved, posed = found
        field = fields_of(rig, character.skeleton, [asked.field])
        for one in shown_ellipsoids(lines, field, moved, posed):
            if one.number == asked.number:
                at = one.centre if centre is None else centre
                axes = one.axes if turn is None else matrix_from_xyzw(normalise(np.array(turn)))
                known = field[asked.field].ellipsoids[asked.number]
                centre, axes = ellipsoid_dragged_to_bind(lines, known, one, moved, at, axes)
                turn = None if turn is None else tuple(xyzw_from_matrix(axes).tolist())
    carrier: edit_fields.Carrier | None = asked.joint
    if asked.on_line is not None:
        muscle, line, place = asked.on_line
        carrier = OnLineSpec(muscle=muscle, line=line, place=place)
    return edit_fields.placed_ellipsoid(
        rig,
        character,
        asked.field,
        asked.number,
        centre=centre,
        turn=turn,
        radii=asked.radii,
        carrier=carrier,
    )


@answering(ANSWERS, asking.MoveNode)
def move_node(session: Session, asked: asking.MoveNode) -> Done:
    """A node elsewhere."""
    return _taken(session, asked, _moved(session, asked), f"move a node of {asked.muscle}", asked.muscle)


@answering(ANSWERS, asking.PlaceEllipsoid)
def place_ellipsoid(session: Session, asked: asking.PlaceEllipsoid) -> Done:
    """An ellipsoid moved, turned, sized or carried by something else."""
    return _taken(session, asked, _placed(session, asked), f"place an ellipsoid of {asked.field}")


@answering(ANSWERS, asking.NodeKindSet)
def node_kind(session: Session, asked: asking.NodeKindSet) -> Done:
    """A node of another kind."""
    document = session.document
    edited = edit_lines.with_node_kind(
        document.rig, document.character, asked.muscle, asked.line, asked.node, asked.kind, asked.joint
    )
    return _taken(session, asked, edited, f"make a node {asked.kind}", asked.muscle)


@answering(ANSWERS, asking.AdherenceSet)
def adherence(session: Session, asked: asking.AdherenceSet) -> Done:
    """How much of its joint's swing and twist a bound node follows."""
    document = session.document
    edited = edit_lines.with_adherence(
        document.rig,
        document.character,
        asked.muscle,
        asked.line,
        asked.node,
        asked.swing,
        asked.twist,
        axis=asked.axis,
        relative_to=asked.relative_to,
    )
    return _taken(session, asked, edited, "change a node's adherence", asked.muscle)


@answering(ANSWERS, asking.FreedomSet)
def freedom(session: Session, asked: asking.FreedomSet) -> Done:
    """What leads a mobile node."""
    document = session.document
    edited = edit_lines.with_freedom(
        document.rig,
        document.character,
        asked.muscle,
        asked.line,
        asked.node,
        led_by=asked.led_by,
        kind=asked.kind,
        axis=asked.axis,
        degrees=asked.degrees,
        shape=asked.shape,
    )
    return _taken(session, asked, edited, "change what leads a node", asked.muscle)


@answering(ANSWERS, asking.SegmentsSet)
def segments(session: Session, asked: asking.SegmentsSet) -> Done:
    """How many segments of tendon and belly a line has."""
    document = session.document
    edited = with_segments(
        document.rig,
        document.character,
        asked.muscle,
        asked.line,
        origin=asked.origin,
        belly=asked.belly,
        insertion=asked.insertion,
    )
    return _taken(session, asked, edited, "change a line's segments", asked.muscle)


@answering(ANSWERS, asking.LineChange)
def change(session: Session, asked: asking.LineChange) -> Done:
    """What a line says beside its nodes."""
    document = session.document
    given = asked.model_fields_set - {"type", "muscle", "line", "gesture"}
    changes = {name: getattr(asked, name) for name in type(asked).model_fields if name in given}
    edited = edit_lines.changed_line(document.rig, document.character, asked.muscle, asked.line, changes)
    return _taken(session, asked, edited, "change a line", asked.muscle)


@answering(ANSWERS, asking.LineAdd)
def add_line(session: Session, asked: asking.LineAdd) -> Done:
    """One more line."""
    document = session.document
    edited = edit_muscle_lines.added_line(document.rig, document.character, asked.muscle, like=asked.like)
    return _taken(session, asked, edited, f"add a line to {asked.muscle}", asked.muscle)


@answering(ANSWERS, asking.LineRemove)
def remove_line(session: Session, asked: asking.LineRemove) -> Done:
    """One line fewer."""
    document = session.document
    edited = edit_muscle_lines.removed_line(document.rig, document.character, asked.muscle, asked.line)
    return _taken(session, asked, edited, f"remove a line of {asked.muscle}", asked.muscle)


@answering(ANSWERS, asking.PathModelSet)
def path_model(session: Session, asked: asking.PathModelSet) -> Done:
    """How a muscle's lines find their way."""
    document = session.document
    edited = edit_muscle_lines.with_path_model(
        document.rig, document.character, asked.muscle, asked.model, **asked.numbers
    )
    return _taken(session, asked, edited, f"make lines {asked.model}", asked.muscle)


@answering(ANSWERS, asking.LineFieldsSet)
def line_fields(session: Session, asked: asking.LineFieldsSet) -> Done:
    """What acts on a line."""
    document = session.document
    edited = edit_fields.with_fields_on_line(
        document.rig, document.character, asked.muscle, asked.line, asked.fields
    )
    return _taken(session, asked, edited, "change what acts on a line", asked.muscle)


@answering(ANSWERS, asking.LinesMirror)
def mirror(session: Session, asked: asking.LinesMirror) -> Done:
    """A muscle on the other side too."""
    document = session.document
    edited = mirrored_muscle(
        document.rig, document.character, asked.muscle, name=asked.name, instead=asked.instead
    )
    return _taken(session, asked, edited, f"mirror {asked.muscle}", asked.muscle)


@answering(ANSWERS, asking.FieldAdd)
def add_field(session: Session, asked: asking.FieldAdd) -> Done:
    """A new field of one ellipsoid."""
    document = session.document
    edited = edit_fields.added_field_at_line(
        document.rig,
        document.character,
        asked.name,
        (asked.muscle, asked.line),
        joint=asked.joint,
        centre=asked.centre,
        radius=asked.radius,
        kind=asked.kind,
    )
    return _taken(session, asked, edited, f"add the field {asked.name}", asked.muscle)


@answering(ANSWERS, asking.FieldRemove)
def remove_field(session: Session, asked: asking.FieldRemove) -> Done:
    """A field removed."""
    document = session.document
    edited = edit_fields.removed_field(document.rig, document.character, asked.field)
    return _taken(session, asked, edited, f"remove the field {asked.field}")


@answering(ANSWERS, asking.FieldChange)
def change_field(session: Session, asked: asking.FieldChange) -> Done:
    """How a field acts."""
    document = session.document
    given = asked.model_fields_set - {"type", "field", "gesture"}
    changes = {name: getattr(asked, name) for name in type(asked).model_fields if name in given}
    edited = edit_fields.changed_field(document.rig, document.character, asked.field, changes)
    return _taken(session, asked, edited, f"change the field {asked.field}")


@answering(ANSWERS, asking.EllipsoidAdd)
def add_ellipsoid(session: Session, asked: asking.EllipsoidAdd) -> Done:
    """One more ellipsoid in a field."""
    document = session.document
    edited = edit_fields.copied_ellipsoid(document.rig, document.character, asked.field, asked.like)
    return _taken(session, asked, edited, f"add an ellipsoid to {asked.field}")


@answering(ANSWERS, asking.EllipsoidRemove)
def remove_ellipsoid(session: Session, asked: asking.EllipsoidRemove) -> Done:
    """One ellipsoid of a field fewer."""
    document = session.document
    edited = edit_fields.removed_ellipsoid(document.rig, document.character, asked.field, asked.number)
    return _taken(session, asked, edited, f"remove an ellipsoid of {asked.field}")
