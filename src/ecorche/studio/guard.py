"""The rules of `ecorche.studio.access` around any ASGI application, on every way in."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from ecorche.studio.access import SECURITY_HEADERS, Access, Refused

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

MOST_VISITORS = 32
"""WebSockets open at a time."""


class Guard:
    """Lets in whom the rules allow, and puts the headers of safety on every answer.

    Args:
        app: What is guarded.
        access: The rules.
    """

    def __init__(self, app: App, access: Access) -> None:
        self.app, self.access = app, access
        self._visitors = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or hand it on."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        headers: dict[str, str] = {}
        twice = False
        for name, value in scope["headers"]:
            key = name.decode("latin-1").lower()
            twice |= key in headers and key in ("host", "origin")
            headers[key] = value.decode("latin-1")
        query = scope.get("query_string", b"").decode("latin-1")
        talks = scope["type"] == "websocket"
        reads = not talks and scope["method"] in ("GET", "HEAD")
        refused = self.access.refusal("websocket" if talks else "page" if reads else "change", headers, query)
        if twice:
            refused = Refused(400, "This request names its host twice")
        if talks and refused is None and self._visitors >= MOST_VISITORS:
            refused = Refused(503, f"{MOST_VISITORS} pages are open already: close some")
        if talks:
            await self._talk(scope, receive, send, refused)
        elif refused is not None:
            await _answer(send, refused.status, refused.why)
        elif reads and self.access.greets(query):
            cookie = f"{self.access.cookie}={self.access.secret}; HttpOnly; SameSite=Strict; Path=/"
            path = "/" + scope["path"].lstrip("/\\")  # never another site's
            await _answer(
                send,
                303,
                "",
                [(b"location", path.encode("ascii", "ignore")), (b"set-cookie", cookie.encode())],
            )
        else:
            await self.app(scope, receive, _with_headers(send))

    async def _talk(self, scope: Scope, receive: Receive, send: Send, refused: Refused | None) -> None:
        if refused is not None:
            await receive()  # the wish to connect
            # before it is accepted: the browser sees HTTP 403 and no socket
            await send({"type": "websocket.close", "code": 1008, "reason": refused.why[:120]})
            return
        self._visitors += 1
        try:
            await self.app(scope, receive, send)
        finally:
            self._visitors -= 1


def _with_headers(send: Send) -> Send:
    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            given = [(n, v) for n, v in message.get("headers", []) if n.lower() != b"server"]
            names = {n.lower().decode("latin-1") for n, _ in given}
            more = [(n.encode(), v.encode()) for n, v in SECURITY_HEADERS.items() if n not in names]
            message = {**message, "headers": [*given, *more]}
        await send(message)

    return sent


async def _answer(
    send: Send, status: int, why: str, headers: list[tuple[bytes, bytes]] | None = None
) -> None:
    body = why.encode()
    start = {
        "type": "http.response.start",
        "status": status,
        "headers": [
            (b"content-type", b"text/plain; charset=utf-8"),
            (b"content-length", str(len(body)).encode()),
            *(headers or []),
        ],
    }
    await _with_headers(send)(start)
    await send({"type": "http.response.body", "body": body})
