"""Answers about what the view shows."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import numpy.typing as npt

from ecorche.base.names import suggestion
from ecorche.base.rotations import normalise
from ecorche.body.evaluate import Pose, evaluate
from ecorche.body.muscle_summary import skin_moved_by
from ecorche.body.payload import packed_payload
from ecorche.errors import EcorcheError
from ecorche.skeleton.kinematics import difference_from_bind
from ecorche.studio.answers.table import Answers, answering
from ecorche.studio.messages.base import Done, WithArrays
from ecorche.studio.messages.view import (
    ActivationSet,
    FatTold,
    FrameTold,
    PickTold,
    ProgramTold,
    ViewFat,
    ViewFrame,
    ViewPick,
    ViewProgram,
    ViewRest,
    ViewScene,
)
from ecorche.studio.picking import picked
from ecorche.studio.scene import joined_normals, joined_points, joint_worlds
from ecorche.studio.session import Moment, Session
from ecorche.web.carried import program_for_pages

ANSWERS: Answers = {}
Floats = npt.NDArray[np.float64]
Points = npt.NDArray[np.float32]


@answering(ANSWERS, ViewScene)
def scene(session: Session, _: ViewScene) -> WithArrays:
    """What stays the same until an edit."""
    reply, arrays = session.scene.told(session.drawn(session.posed), session.document.revision)
    return WithArrays(reply, arrays)


@answering(ANSWERS, ViewFrame)
def frame(session: Session, asked: ViewFrame) -> WithArrays:
    """The pose or the moment of the motion that the page shows."""
    begun = time.perf_counter()
    moment = session.shown
    live, index = moment.live, moment.index
    body = live.body
    arrays: dict[str, npt.NDArray[Any]] = {"joints": joint_worlds(moment)}
    active = None if live.activation is None else live.activation[index]
    if active is not None:
        arrays["activation"] = active.astype(np.float32)
    moved = difference_from_bind(body.character.skeleton, live.motion.local[index])
    played = asked.payload and asked.colour != "displacement" and playable(session, moment)
    shown = None
    if played:
        bulge = body.bulge(active)
        arrays["payload"] = packed_payload(moved[None], bulge[None]).view(np.float32)
    else:
        shown = moment.frame or live[index]
        arrays["points"], arrays["normals"] = joined_points(shown), joined_normals(shown)
    if asked.muscles and session.drawn(moment).surfaces.vertex_count:
        arrays["muscles"] = session.drawn(moment).points(index, shown)
    if asked.fat:
        arrays["fat"] = session.scene.fat.points(moment, moved)
    plain = None
    if asked.plain or asked.colour == "displacement":
        posed = live.pose(index)
        plain = evaluate(
            body.without_muscles(), Pose(posed.local, posed.time, posed.morph_weights, posed.posed)
        )
    if asked.plain and plain is not None:
        arrays["plain"], arrays["plain_normals"] = joined_points(plain), joined_normals(plain)
    limits = None
    if asked.colour == "displacement" and plain is not None and shown is not None:
        values = [
            _outward(a, b, mesh.mesh.triangles())
            for a, b, mesh in zip(plain.points, shown.points, body.character.meshes, strict=True)
        ]
        limits = _coloured(arrays, np.concatenate(values), "mm")
    elif asked.colour in ("weights", "activation") and asked.of is not None:
        limits = _coloured(arrays, _weights(session, moment, asked), "")
    return WithArrays(
        FrameTold(
            revision=session.document.revision,
            time=moment.time,
            range=limits,
            seconds=time.perf_counter() - begun,
        ),
        arrays,
    )


def _coloured(arrays: dict[str, npt.NDArray[Any]], values: Floats, unit: str) -> tuple[float, float, str]:
    arrays["values"] = values.astype(np.float32)
    return float(values.min(initial=0.0)), float(values.max(initial=0.0)), unit


def _outward(plain: Points, shown: Points, triangles: npt.NDArray[np.int32]) -> Floats:
    """How far muscles moved each vertex outwards [mm], (vertices,)."""
    corners = plain[triangles].astype(np.float64)
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    sums = [np.bincount(triangles.ravel(), np.repeat(across[:, k], 3), len(plain)) for k in range(3)]
    up = normalise(np.stack(sums, axis=1).astype(np.float64))
    return np.asarray(1000.0 * np.einsum("vi,vi->v", (shown - plain).astype(np.float64), up))


def _weights(session: Session, moment: Moment, asked: ViewFrame) -> Floats:
    """How much a muscle or a joint moves every vertex of all meshes, 0 to 1."""
    body, of = moment.live.body, asked.of
    character = body.character
    values = [np.zeros(mesh.mesh.vertex_count) for mesh in character.meshes]
    if of in character.skeleton.names:
        joint = character.skeleton.names.index(of)
        for row, mesh in enumerate(character.meshes):
            if mesh.weights is not None:
                joints, weights = mesh.weights.padded()
                values[row] = np.where(joints == joint, weights, 0.0).sum(axis=1).astype(np.float64)
    elif of in body.muscle_names:
        main = [told.body for told in session.scene.skin.meshes]
        if of not in session.document.rig.spec.muscles.lines:
            values[main.index(True)] = skin_moved_by(body, of)
        if asked.colour == "activation" and moment.live.activation is not None:
            level = float(moment.live.activation[moment.index, body.muscle_names.index(of)])
            values = [level * v for v in values]
    else:
        known = [*character.skeleton.names, *body.muscle_names]
        raise EcorcheError(f"there is no muscle or joint {of!r}", remedy=suggestion(str(of), known))
    return np.concatenate(values)


def playable(session: Session, moment: Moment) -> bool:
    """Whether the vertex program plays a moment: it knows joints and activation, no blend shapes and nothing
    that swings."""
    live = moment.live
    if moment.frame is not None:
        return False
    if live.body is not session.scene.body or live.posed is not None or session.scene.program[0] is None:
        return False
    return not any(weights[moment.index] for weights in live.motion.morph_weights.values())


@answering(ANSWERS, ViewFat)
def fat(session: Session, _: ViewFat) -> WithArrays:
    """The fat."""
    found = session.scene.fat
    reply = FatTold(
        revision=session.document.revision,
        regions=tuple(part.name for part in found.fat.parts),
        notes=found.fat.notes,
    )
    return WithArrays(reply, {"triangles": found.triangles()})


@answering(ANSWERS, ViewProgram)
def program(session: Session, _: ViewProgram) -> WithArrays:
    """The vertex program, for a page that runs it by itself."""
    made, why = session.scene.program
    revision = session.document.revision
    if made is None:
        return WithArrays(ProgramTold(revision=revision, carried=None, why=why))
    carried, constants = program_for_pages(made)
    return WithArrays(ProgramTold(revision=revision, carried=carried, why=None), constants)


@answering(ANSWERS, ViewPick)
def pick(session: Session, asked: ViewPick) -> PickTold:
    """What a ray meets first."""
    return picked(session, asked)


@answering(ANSWERS, ActivationSet)
def activate(session: Session, asked: ActivationSet) -> Done:
    """Work some muscles by hand."""
    names = session.document.body.muscle_names
    for name, value in asked.values.items():
        if name not in names:
            raise EcorcheError(f"there is no muscle {name!r}", remedy=suggestion(name, names))
        if value is not None and not 0.0 <= value <= 1.0:
            raise EcorcheError(f"an activation of {value:g} was given", where=name, remedy="Give 0 to 1")
    for name, value in asked.values.items():
        if value is None:
            session.activation.pop(name, None)
        else:
            session.activation[name] = value
    return Done()


@answering(ANSWERS, ViewRest)
def rest(session: Session, _: ViewRest) -> Done:
    """Back to bind."""
    session.rest()
    return Done()
