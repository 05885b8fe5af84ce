"""The web application: the page, and the socket that all else goes through."""

from __future__ import annotations

import asyncio
from importlib.resources import files
from pathlib import Path

from starlette.applications import Starlette
from starlette.responses import HTMLResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.websockets import WebSocket, WebSocketDisconnect

from ecorche.errors import EcorcheError, MissingPackageError
from ecorche.studio.hub import Hub
from ecorche.studio.wire import packed_error

WAITING = 256
"""Messages that may wait for a page before it counts as gone."""


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

    async def page(_: object) -> Response:
        return HTMLResponse(index, headers={"cache-control": "no-store"})

    async def socket(connection: WebSocket) -> None:
        await serve_page(hub, connection)

    return Starlette(
        routes=[
            Route("/", page),
            WebSocketRoute("/socket", socket),
            Mount("/assets", StaticFiles(directory=folder / "assets")),
        ]
    )


async def serve_page(hub: Hub, connection: WebSocket) -> None:
    """Answer one page until it goes: requests one after another, events as they come."""
    await connection.accept()
    waiting: asyncio.Queue[str | bytes | None] = asyncio.Queue()

    def send(message: str | bytes) -> None:
        waiting.put_nowait(message if waiting.qsize() < WAITING else None)

    try:
        session = await hub.enter(send)
    except EcorcheError as error:
        await connection.send_text(packed_error(None, error))
        await connection.close()
        return
    sender = asyncio.create_task(_sending(connection, waiting))
    try:
        while not sender.done():
            text = await connection.receive_text()
            send(await hub.answer(session, text))
    except (WebSocketDisconnect, RuntimeError, KeyError):
        pass  # it has gone, or sent bytes, which no page of ours does
    finally:
        sender.cancel()
        hub.leave(session)


async def _sending(connection: WebSocket, waiting: asyncio.Queue[str | bytes | None]) -> None:
    while (message := await waiting.get()) is not None:
        if isinstance(message, bytes):
            await connection.send_bytes(message)
        else:
            await connection.send_text(message)
    await connection.close()
