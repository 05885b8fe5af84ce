"""The server of the studio, until it is interrupted."""

from __future__ import annotations

import socket
import threading
import webbrowser
from collections.abc import Callable

import uvicorn

from ecorche.errors import EcorcheError
from ecorche.studio.app import make_app
from ecorche.studio.hub import Hub

LARGEST_MESSAGE = 16 * 1024 * 1024
"""Bytes of the largest message that a page may send."""


def serve(hub: Hub, *, host: str, port: int, browser: bool, say: Callable[[str], None]) -> None:
    """Serve the studio until interrupted.

    Args:
        hub: All that is open.
        host: The address to listen on.
        port: The port; 0 takes any that is free.
        browser: Whether to open the page in the browser.
        say: Told the address.
    """
    app = make_app(hub)
    with listening(host, port) as listener:
        address = f"http://{host}:{listener.getsockname()[1]}/"
        settings = uvicorn.Config(
            app,
            log_level="warning",
            ws_max_size=LARGEST_MESSAGE,
            ws_per_message_deflate=False,
            lifespan="off",
        )
        server = uvicorn.Server(settings)
        say(f"the studio is at {address}; Ctrl-C ends it")
        if browser:
            threading.Timer(0.5, webbrowser.open, (address,)).start()
        server.run(sockets=[listener])


def listening(host: str, port: int) -> socket.socket:
    """A socket that listens; a port in use is told."""
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen()
    except OSError as error:
        listener.close()
        raise EcorcheError(
            f"the port {port} is not free ({error.strerror})",
            where=host,
            remedy="Give another with --port, or 0 for any that is free",
        ) from None
    return listener
