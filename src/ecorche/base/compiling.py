"""While Numba compiles, Python does not look for garbage.

A function is compiled by way of hundreds of thousands of small objects that stay until it is done. To look
through them for garbage again and again takes a quarter of the time, and finds next to none.
"""

# ruff: noqa: ARG002  Numba fixes the arguments of listeners

from __future__ import annotations

import gc
from threading import Lock

from numba.core import event


class _NoSearch(event.Listener):  # type: ignore[misc]
    """Holds the search for garbage from the first compilation that begins to the last that ends."""

    def __init__(self) -> None:
        self._lock, self._under_way, self._held = Lock(), 0, False

    def on_start(self, event: event.Event) -> None:
        with self._lock:
            self._under_way += 1
            if self._under_way == 1 and gc.isenabled():
                gc.disable()
                self._held = True

    def on_end(self, event: event.Event) -> None:
        with self._lock:
            self._under_way -= 1
            if self._under_way == 0 and self._held:
                gc.enable()
                self._held = False


event.register("numba:compile", _NoSearch())
