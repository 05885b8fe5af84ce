"""Answers about a body as a whole."""

from __future__ import annotations

from ecorche.body.choose_body import coupled, sprung, typed
from ecorche.body.edited_rig import Edited
from ecorche.studio.answers.table import Answers, answering
from ecorche.studio.messages.base import Done
from ecorche.studio.messages.body import BodyCouple, BodyGet, BodySprings, BodyTold, BodyType
from ecorche.studio.session import Session

ANSWERS: Answers = {}


@answering(ANSWERS, BodyGet)
def told(session: Session, _: BodyGet) -> BodyTold:
    """What the rig says about the whole body."""
    spec = session.document.rig.spec
    coupling, springs = spec.coupling, spec.springs
    return BodyTold(
        bulk=spec.body_type.bulk,
        fat=spec.body_type.fat,
        coupling=coupling.everywhere,
        regions=tuple(coupling.regions.items()),
        intensity=_number(coupling.intensity),
        stiffness=_number(coupling.stiffness),
        slide=_number(coupling.slide),
        contact=coupling.contact,
        realtime=springs.realtime,
        muscularity=springs.muscularity,
        swing=springs.intensity,
        has_lines=bool(spec.muscles.lines),
        skinning=spec.skinning.method,
    )


@answering(ANSWERS, BodyType)
def of_type(session: Session, asked: BodyType) -> Done:
    """More or less muscular, leaner or heavier."""
    document = session.document
    made = typed(document.rig, document.character, bulk=asked.bulk, fat=asked.fat)
    return _edit(session, made, "the body type", asked.gesture)


@answering(ANSWERS, BodyCouple)
def couple(session: Session, asked: BodyCouple) -> Done:
    """How the skin follows what lies beneath."""
    document = session.document
    made = coupled(document.rig, document.character, _said(asked))
    return _edit(session, made, "the coupling of the skin", asked.gesture)


@answering(ANSWERS, BodySprings)
def spring(session: Session, asked: BodySprings) -> Done:
    """How muscles and skin jiggle as springs."""
    return _edit(session, sprung(session.document.rig, _said(asked)), "the springs", asked.gesture)


def _said(asked: BodyCouple | BodySprings) -> dict[str, object]:
    return asked.model_dump(exclude={"type", "gesture"}, exclude_none=True)


def _edit(session: Session, made: Edited, label: str, gesture: str | None) -> Done:
    return Done(lines=tuple(session.document.edit(made, label, areas=("body",), gesture=gesture)))


def _number(value: float | str) -> float | None:
    return None if isinstance(value, str) else value
