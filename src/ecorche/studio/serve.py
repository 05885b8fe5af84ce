"""The server of the studio, until it is interrupted."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
import webbrowser
from collections.abc import Callable

import uvicorn

from ecorche.errors import EcorcheError
from ecorche.studio.access import access
from ecorche.studio.app import make_app
from ecorche.studio.guard import Guard
from ecorche.studio.hub import Hub
from ecorche.studio.incoming import LARGEST_MESSAGE

NEAR = 20
"""Ports after one that is taken that are looked at for a free one."""


def serve(
    hub: Hub, *, host: str, port: int, browser: bool, say: Callable[[str], None], token: str | None = None
) -> None:
    """Serve the studio until interrupted.

    Args:
        hub: All that is open.
        host: The address to listen on.
        port: The port; 0 takes any that is free.
        browser: Whether to open the page in the browser.
        say: Told the address.
        token: What visitors must know; beyond this machine one is made where none is given.
    """
    app = make_app(hub)
    with listening(host, port) as listener:
        rules = access(host, listener.getsockname()[1], token)
        settings = uvicorn.Config(
            Guard(app, rules),
            log_level="warning",
            access_log=False,  # an address may hold the token
            ws="websockets-sansio",
            ws_max_size=LARGEST_MESSAGE,
            ws_per_message_deflate=False,
            lifespan="off",
            server_header=False,
            timeout_graceful_shutdown=5,
        )
        server = uvicorn.Server(settings)
        say(f"the studio is at {rules.address}; Ctrl-C ends it")
        if rules.token is not None and token is None:
            say("whoever has this address may work in this folder; nothing is encrypted: trust the network")
        if browser:
            threading.Timer(0.5, webbrowser.open, (rules.address,)).start()
        try:
            with contextlib.suppress(KeyboardInterrupt):  # how a studio is ended
                server.run(sockets=[listener])
        finally:
            hub.close()
        say("the studio has ended; what was not saved is kept beside its file")


def listening(host: str, port: int) -> socket.socket:
    """A socket that listens; a port in use is told, and one that is free."""
    try:
        return _bound(host, port)
    except OSError as error:
        refused = error
    free = next((other for other in range(port + 1, min(port + NEAR, 65536)) if _is_free(host, other)), None)
    near = "" if free is None else f"{free}, which is, "
    raise EcorcheError(
        f"the port {port} is not free ({refused.strerror or refused})"
        if port
        else f"cannot listen there ({refused.strerror or refused})",
        where=host,
        remedy=f"Give another with --port: {near}or 0 for any that is free"
        if port
        else "Give another --host",
    ) from None


def _bound(host: str, port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    try:
        if os.name == "posix":  # elsewhere it would share a port that is taken
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen()
    except BaseException:
        listener.close()
        raise
    return listener


def _is_free(host: str, port: int) -> bool:
    try:
        _bound(host, port).close()
    except OSError:
        return False
    return True
