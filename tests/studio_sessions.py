"""Pages of the studio as its server sees them: messages as they travel, without a browser."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from ecorche.studio.document import OpenDocument
from ecorche.studio.hub import Hub
from ecorche.studio.opening import opened

Arrays = dict[str, npt.NDArray[Any]]


@cache
def figure_document() -> OpenDocument:
    """The built-in figure; tests leave it as it was."""
    return opened(None)


class Page:
    """A page as the server sees it.

    Attributes:
        heard: The events it was told.
    """

    def __init__(self, document: OpenDocument) -> None:
        self.hub, self.heard = Hub(lambda: document), list[dict[str, Any]]()
        self._loop = asyncio.new_event_loop()
        self.session = self._loop.run_until_complete(self.hub.enter(self._hear))
        assert self.heard.pop()["event"] == "files.hello"

    def close(self) -> None:
        """It goes."""
        self.hub.leave(self.session)
        self.hub.close()
        self._loop.close()

    def _hear(self, message: str | bytes) -> None:
        self.heard.append(json.loads(message))

    def send(self, text: str) -> tuple[dict[str, Any], Arrays]:
        """The answer to a message, as it travels."""
        answer = self._loop.run_until_complete(self.hub.answer(self.session, text))
        self._loop.run_until_complete(asyncio.sleep(0))  # events that were told meanwhile
        if isinstance(answer, str):
            return json.loads(answer), {}
        length = int.from_bytes(answer[:4], "little")
        told = json.loads(answer[4 : 4 + length])
        first, arrays = -(-(4 + length) // 8) * 8, {}
        for entry in told.pop("arrays"):
            count = int(np.prod(entry["shape"]))
            assert entry["offset"] % 8 == 0
            flat = np.frombuffer(answer, entry["dtype"], count, first + entry["offset"])
            arrays[entry["name"]] = flat.reshape(entry["shape"])
        return told, arrays

    def ask(self, kind: str, **fields: Any) -> tuple[dict[str, Any], Arrays]:
        told, arrays = self.send(json.dumps({"id": 5, "type": kind, **fields}))
        assert told["id"] == 5
        assert "error" not in told, told
        return told["ok"], arrays

    def refused(self, kind: str, **fields: Any) -> str:
        told, _ = self.send(json.dumps({"id": 6, "type": kind, **fields}))
        assert told["id"] == 6
        error = told["error"]
        return " | ".join(str(error[part]) for part in ("where", "what", "remedy"))


Pages = Callable[[OpenDocument], Page]


@pytest.fixture
def pages() -> Iterator[Pages]:
    """Opens pages, which are gone after the test."""
    opened_pages: list[Page] = []

    def open_page(document: OpenDocument) -> Page:
        opened_pages.append(Page(document))
        return opened_pages[-1]

    yield open_page
    for page in opened_pages:
        page.close()
