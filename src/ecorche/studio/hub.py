"""All that one server has open: documents, which pages share, and the pages."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial

from ecorche.base.confined import reading_only_within
from ecorche.errors import EcorcheError
from ecorche.studio.answers import ANSWERS
from ecorche.studio.document import OpenDocument
from ecorche.studio.messages.base import Event, Reply, Request, WithArrays
from ecorche.studio.messages.files import Hello
from ecorche.studio.session import Session
from ecorche.studio.wire import Numbered, Refused, packed_error, packed_event, packed_reply, request_of
from ecorche.studio.workspace import Workspace

Send = Callable[[str | bytes], None]

AWAY = 120.0
"""How long a page that lost its connection is waited for, with its pose and its last answers [s]."""
REMEMBERED = 512
"""Answers of a page that are kept, so that a request that comes again is not done again."""
LARGEST_REMEMBERED = 1 << 16
"""Bytes of an answer that is kept: one with arrays changed nothing, and is made again."""


@dataclass(eq=False)
class _Visitor:
    """A page that names itself, over several connections."""

    session: Session
    connection: int = 0
    answers: OrderedDict[int, str] = field(default_factory=OrderedDict)


class Hub:
    """Everything open.

    Computation is done by one thread, one request after another: compiled code has threads of its own, and
    documents change by whole steps.

    Args:
        source: The files and pages of a folder, or what opens the one document there is.
    """

    def __init__(self, source: Workspace | Callable[[], OpenDocument]) -> None:
        self.space = source if isinstance(source, Workspace) else None
        self._open = None if isinstance(source, Workspace) else source
        self._first = asyncio.Lock()
        self._document: OpenDocument | None = None
        self.sessions: list[Session] = []
        self._visitors: dict[str, _Visitor] = {}
        self._connections = 0
        self._worker = ThreadPoolExecutor(1, "ecorche-studio")

    async def in_worker(self, call: Callable[[], object]) -> object:
        """The result of a call, made where all computation is done."""
        return await asyncio.get_running_loop().run_in_executor(self._worker, call)

    async def enter(self, send: Send, *, key: str | None = None, wanted: str | None = None) -> Session:
        """A page that has come, or come back.

        Args:
            send: Sends it a message.
            key: What it calls itself, so that it is known again after its connection was lost.
            wanted: The file of the folder that it wants to see.
        """
        loop = asyncio.get_running_loop()
        known = None if key is None else self._visitors.get(key)

        early: list[str] | None = []  # told before the page was greeted

        def deliver(told: str) -> None:
            if early is None:
                send(told)
            else:
                early.append(told)

        def tell(event: Event) -> None:
            loop.call_soon_threadsafe(deliver, packed_event(event))

        def make() -> Session:
            if known is not None:
                known.session.tell = tell
                if self.space is not None:
                    self.space.come_back(known.session)
                return known.session
            if self.space is not None:
                session = Session(None, tell, space=self.space)
                self.space.enter(session, wanted)
                return session
            if self._document is None:
                assert self._open is not None
                self._document = self._open()
            session = Session(self._document, tell)
            self._document.listeners.append(tell)
            return session

        async with self._first:
            session = await self.in_worker(make)
        assert isinstance(session, Session)
        if known is None:
            self.sessions.append(session)
            if key is not None:
                self._visitors[key] = _Visitor(session)
        self._connections += 1
        if key is not None:
            self._visitors[key].connection = self._connections
        resumed = known is not None
        if self.space is not None:
            send(packed_event(self.space.hello(session, resumed=resumed)))
        else:
            send(packed_event(Hello(resumed=resumed, open=True, file=None, number=1)))
        waiting = early or []
        early = None
        for told in waiting:
            send(told)
        return session

    def leave(self, session: Session) -> None:
        """A page has gone, or lost its connection; one that names itself may come back for a while."""
        key, visitor = self._visitor(session)
        if visitor is None or key is None:
            self._forget(session)
            return
        connection = visitor.connection

        def forget() -> None:
            if visitor.connection == connection and self._visitors.get(key) is visitor:
                del self._visitors[key]
                self._forget(session)

        if self.space is not None:
            self._worker.submit(_quiet, partial(self.space.away, session))
        asyncio.get_running_loop().call_later(AWAY, forget)

    def connection_of(self, session: Session) -> int:
        """Which connection of its page is the last: one that was replaced leaves nobody."""
        visitor = self._visitor(session)[1]
        return 0 if visitor is None else visitor.connection

    def close(self) -> None:
        """End, once what was asked is done; unsaved work stays kept."""
        if self.space is not None:
            self._worker.submit(self.space.close).result()
        self._worker.shutdown()

    async def answer(self, session: Session, text: str | bytes) -> str | bytes:
        """The answer to a message of a page."""
        try:
            number, request = request_of(text)
        except Numbered as wrong:
            return packed_error(wrong.number, wrong.error)
        except EcorcheError as error:
            return packed_error(None, error)
        visitor = self._visitor(session)[1]
        answers = OrderedDict[int, str]() if visitor is None else visitor.answers
        answer = await self.in_worker(lambda: self._once(session, number, request, answers))
        assert isinstance(answer, str | bytes)
        return answer

    def _once(
        self, session: Session, number: int, request: Request, answers: OrderedDict[int, str]
    ) -> str | bytes:
        """The answer to a request; one that came before its page lost its connection is not done again."""
        if number in answers:
            return answers[number]
        try:
            answer = packed_reply(number, self._answered(session, request))
        except EcorcheError as error:
            answer = packed_error(number, error)
        except Exception as error:  # a page is told of what we did not foresee, and the server goes on
            logging.getLogger(__name__).exception("a request failed")
            what = f"this could not be done: {type(error).__name__}: {str(error)[:200]}"
            answer = packed_error(number, Refused(what, remedy="Undo, and report it"))
        if isinstance(answer, str) and len(answer) <= LARGEST_REMEMBERED:
            answers[number] = answer
            while len(answers) > REMEMBERED:
                answers.popitem(last=False)
        return answer

    def _answered(self, session: Session, request: Request) -> Reply | WithArrays:
        if self.space is None:
            return ANSWERS[request.named()](session, request)
        self.space.acting(session, request.named())
        try:
            with reading_only_within(self.space.folder.root):  # whatever a file names
                return ANSWERS[request.named()](session, request)
        finally:
            self.space.acting(None)

    def _visitor(self, session: Session) -> tuple[str | None, _Visitor | None]:
        for key, visitor in self._visitors.items():
            if visitor.session is session:
                return key, visitor
        return None, None

    def _forget(self, session: Session) -> None:
        self.sessions.remove(session)
        if self.space is not None:
            self._worker.submit(_quiet, partial(self.space.leave, session))
        elif session.opened is not None and session.tell in session.opened.listeners:
            session.opened.listeners.remove(session.tell)


def _quiet(call: Callable[[], object]) -> None:
    """Do something that nobody waits for; what goes wrong is logged."""
    try:
        call()
    except Exception:
        logging.getLogger(__name__).exception("a page could not be let go")
