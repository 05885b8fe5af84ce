"""Every message between the page and the server, defined once: a file an area.

`ecorche.studio.typescript` writes the page's side of them, `web/studio/src/messages.ts`, from here.
"""

from __future__ import annotations

from ecorche.studio.messages import body, document, files, joints, lines, motion, muscles, view
from ecorche.studio.messages.base import Event, Request

_AREAS = (body, document, joints, lines, motion, muscles, view, files)

REQUESTS: dict[str, type[Request]] = {kind.named(): kind for area in _AREAS for kind in area.REQUESTS}
"""What a page may ask, by its ``type``."""
EVENTS: dict[str, type[Event]] = {kind.named(): kind for area in _AREAS for kind in area.EVENTS}
"""What the server tells without being asked, by its ``event``."""
