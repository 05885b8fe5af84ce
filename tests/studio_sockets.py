"""A page of the studio without a browser: the socket as the page uses it."""

from __future__ import annotations

import json
import secrets
from contextlib import ExitStack
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlencode, urlsplit

from websockets.sync.client import ClientConnection, connect

from studio_pages import Server


class Socket:
    """One page's connection.

    Attributes:
        key: What the page calls itself.
        events: What it was told, in order.
    """

    def __init__(
        self, server: Server, *, file: str | None = None, key: str | None = None, **options: Any
    ) -> None:
        self.key, self.events, self._next = key or secrets.token_hex(16), list[dict[str, Any]](), 1
        query = {"page": self.key} | ({} if file is None else {"file": file})
        address = urlsplit(server.address)
        options.setdefault("origin", f"{address.scheme}://{address.netloc}")
        self._open = ExitStack()
        self.raw: ClientConnection = self._open.enter_context(
            connect(
                f"ws://{address.netloc}/socket?{urlencode(query)}",
                max_size=None,
                open_timeout=60,
                proxy=None,
                **options,
            )
        )
        self.hello = self.told()

    def told(self, seconds: float = 60.0) -> dict[str, Any]:
        """The next message."""
        message = self.raw.recv(seconds)
        if isinstance(message, bytes):
            length = int.from_bytes(message[:4], "little")
            return dict(json.loads(message[4 : 4 + length]))
        return dict(json.loads(message))

    def send(self, kind: str, number: int | None = None, **fields: Any) -> int:
        """Ask without waiting; the request's number."""
        if number is None:
            number, self._next = self._next, self._next + 1
        self.raw.send(json.dumps({"id": number, "type": kind, **fields}))
        return number

    def answer(self, number: int | None) -> dict[str, Any]:
        """The answer to a request; events before it are kept."""
        while True:
            told = self.told()
            if "event" in told:
                self.events.append(told)
            elif told.get("id") == number:
                return told

    def ask(self, kind: str, **fields: Any) -> dict[str, Any]:
        """The answer to a request that is granted."""
        told = self.answer(self.send(kind, **fields))
        assert "error" not in told, told
        return dict(told["ok"])

    def refused(self, kind: str, **fields: Any) -> str:
        """Why a request is refused."""
        error = self.answer(self.send(kind, **fields))["error"]
        return " | ".join(str(error[part]) for part in ("where", "what", "remedy"))

    def heard(self, event: str) -> dict[str, Any]:
        """The next event of a kind."""
        for told in list(self.events):
            self.events.remove(told)
            if told["event"] == event:
                return told
        while True:
            told = self.told()
            if told.get("event") == event:
                return told

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()
