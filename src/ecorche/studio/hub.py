"""All that one server has open: documents, which pages share, and the pages."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from ecorche.errors import EcorcheError
from ecorche.studio.answers import ANSWERS
from ecorche.studio.document import OpenDocument
from ecorche.studio.messages.base import Event, Reply, Request, WithArrays
from ecorche.studio.session import Session
from ecorche.studio.wire import Numbered, Refused, packed_error, packed_event, packed_reply, request_of

Send = Callable[[str | bytes], None]


class Hub:
    """Everything open.

    Computation is done by one thread, one request after another: compiled code has threads of its own, and
    documents change by whole steps.

    Args:
        open_document: Opens what the command was given.
    """

    def __init__(self, open_document: Callable[[], OpenDocument]) -> None:
        self._open, self._first = open_document, asyncio.Lock()
        self._document: OpenDocument | None = None
        self.sessions: list[Session] = []
        self._worker = ThreadPoolExecutor(1, "ecorche-studio")

    async def in_worker(self, call: Callable[[], object]) -> object:
        """The result of a call, made where all computation is done."""
        return await asyncio.get_running_loop().run_in_executor(self._worker, call)

    def close(self) -> None:
        """End the worker, once it has done what it was given."""
        self._worker.shutdown()

    async def enter(self, send: Send) -> Session:
        """A page that has come."""
        loop = asyncio.get_running_loop()

        def tell(event: Event) -> None:
            loop.call_soon_threadsafe(send, packed_event(event))

        def make() -> Session:
            if self._document is None:
                self._document = self._open()
            session = Session(self._document, tell)
            self._document.listeners.append(tell)
            return session

        async with self._first:
            session = await self.in_worker(make)
        assert isinstance(session, Session)
        self.sessions.append(session)
        return session

    def leave(self, session: Session) -> None:
        """A page that has gone."""
        self.sessions.remove(session)
        if session.tell in session.document.listeners:
            session.document.listeners.remove(session.tell)

    async def answer(self, session: Session, text: str) -> str | bytes:
        """The answer to a message of a page."""
        number: int | None = None
        try:
            number, request = request_of(text)
            reply = await self.in_worker(lambda: _answered(session, request))
            assert isinstance(reply, Reply | WithArrays)
            return packed_reply(number, reply)
        except Numbered as wrong:
            return packed_error(wrong.number, wrong.error)
        except EcorcheError as error:
            return packed_error(number, error)
        except Exception as error:  # a page is told of what we did not foresee, and the server goes on
            logging.getLogger(__name__).exception("a request failed")
            told = Refused(
                f"this could not be done: {type(error).__name__}: {error}", remedy="Undo, and report it"
            )
            return packed_error(number, told)


def _answered(session: Session, request: Request) -> Reply | WithArrays:
    return ANSWERS[request.named()](session, request)
