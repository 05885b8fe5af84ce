"""How requests are answered: a file an area, a function a request. Nothing is computed here that the library
cannot do."""

from __future__ import annotations

from ecorche.studio.answers import body, document, files, joints, lines, motion, muscles, poses, view
from ecorche.studio.answers.table import Answer, Answers

_AREAS: tuple[Answers, ...] = (
    body.ANSWERS,
    document.ANSWERS,
    joints.ANSWERS,
    lines.ANSWERS,
    motion.ANSWERS,
    muscles.ANSWERS,
    poses.ANSWERS,
    view.ANSWERS,
    files.ANSWERS,
)

ANSWERS: dict[str, Answer] = {kind.named(): answer for area in _AREAS for kind, answer in area.items()}
"""What answers a request, by its ``type``."""
