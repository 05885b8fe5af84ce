"""The web application: the page, files that are dropped on it, and the socket that all else goes through."""

from __future__ import annotations

import asyncio
import re
from importlib.resources import files
from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.websockets import WebSocket, WebSocketDisconnect

from ecorche.errors import EcorcheError, MissingPackageError
from ecorche.studio.folder import LONGEST_PATH
from ecorche.studio.hub import Hub
from ecorche.studio.upload import MOST_AT_ONCE, Upload
from ecorche.studio.wire import error_told, packed_error

WAITING = 256
"""Messages that may wait for a page before it counts as gone."""
UPLOAD_HEADER = "x-ecorche-upload"
"""A header that no page of another site can send without asking first."""

_KEY = re.compile(r"^[A-Za-z0-9_-]{16,64}$")


def built_page() -> Path:
    """The folder of the page, which is built with the package."""
    folder = Path(str(files("ecorche.studio") / "dist"))
    if not (folder / "index.html").is_file():
        raise MissingPackageError(
            "the studio's page is not built",
            remedy="Run tools/build-web in the source folder, or install the package anew",
        )
    return folder


def make_app(hub: Hub) -> Starlette:
    """The application over all that is open."""
    folder = built_page()
    index = (folder / "index.html").read_text(encoding="utf-8")
    uploads = asyncio.Semaphore(MOST_AT_ONCE)

    async def page(_: object) -> Response:
        return HTMLResponse(index, headers={"cache-control": "no-store"})

    async def socket(connection: WebSocket) -> None:
        await serve_page(hub, connection)

    async def upload(request: Request) -> Response:
        if hub.space is None or UPLOAD_HEADER not in request.headers or uploads.locked():
            return Response("files cannot be taken now", 503)
        async with uploads:
            return await _taken(hub, request)

    return Starlette(
        routes=[
            Route("/", page),
            Route("/upload", upload, methods=["POST"]),
            WebSocketRoute("/socket", socket),
            Mount("/assets", StaticFiles(directory=folder / "assets")),
        ]
    )


async def _taken(hub: Hub, request: Request) -> Response:
    """Put a file into the folder as it arrives."""
    assert hub.space is not None
    name, length = (
        request.query_params.get("name", "")[:LONGEST_PATH],
        request.headers.get("content-length", ""),
    )
    declared = int(length) if length.isascii() and length.isdigit() and len(length) < 20 else None
    try:
        with Upload(hub.space.folder, name, declared) as upload:
            async for chunk in request.stream():
                await asyncio.to_thread(upload.write, chunk)
            kept = await asyncio.to_thread(upload.finish)
    except EcorcheError as error:
        return JSONResponse({"error": error_told(error)}, 422, {"connection": "close"})
    except ClientDisconnect:
        return Response(status_code=400)
    await hub.in_worker(hub.space.tell_all)
    return JSONResponse({"name": kept})


async def serve_page(hub: Hub, connection: WebSocket) -> None:
    """Answer one page until it goes: requests one after another, events as they come."""
    await connection.accept()
    waiting: asyncio.Queue[str | bytes | None] = asyncio.Queue()

    def send(message: str | bytes) -> None:
        waiting.put_nowait(message if waiting.qsize() < WAITING else None)

    key = connection.query_params.get("page", "")
    wanted = connection.query_params.get("file")
    try:
        session = await hub.enter(
            send,
            key=key if _KEY.match(key) else None,
            wanted=None if not wanted else wanted[:LONGEST_PATH],
        )
    except EcorcheError as error:
        await connection.send_text(packed_error(None, error))
        await connection.close()
        return
    number = hub.connection_of(session)
    sender = asyncio.create_task(_sending(connection, waiting))
    try:
        while not sender.done():
            message = await connection.receive()
            if message["type"] != "websocket.receive":
                break
            text = message.get("text")
            send(await hub.answer(session, message.get("bytes", b"") if text is None else text))
    except (WebSocketDisconnect, RuntimeError):
        pass  # it has gone
    finally:
        sender.cancel()
        if hub.connection_of(session) == number:  # else its page is here again already
            hub.leave(session)


async def _sending(connection: WebSocket, waiting: asyncio.Queue[str | bytes | None]) -> None:
    while (message := await waiting.get()) is not None:
        if isinstance(message, bytes):
            await connection.send_bytes(message)
        else:
            await connection.send_text(message)
    await connection.close()
