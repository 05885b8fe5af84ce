"""Which processor runs the shaders, and what is said where there is none or it goes away.

Everything stays within what every WebGPU device promises: no feature and no limit is asked for.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from types import ModuleType
from typing import Any

from ecorche.errors import EcorcheError, MissingPackageError

_shared: Any = None
_opening = Lock()
DRIVER = "Install a driver for Vulkan (Debian, Ubuntu: sudo apt-get install mesa-vulkan-drivers libvulkan1)"
"""What to do where no device is found; Mesa's drivers have one that runs on any processor, lavapipe."""


def require_wgpu() -> ModuleType:
    """The package wgpu, or the command that installs it."""
    try:
        import wgpu
    except ImportError:
        raise MissingPackageError(
            "the vertex pipeline on a GPU needs the package wgpu", remedy='Run: pip install "ecorche[gpu]"'
        ) from None
    module: ModuleType = wgpu
    return module


def device_names() -> list[str]:
    """The devices of this machine, as `open_device` knows them."""
    return [_name(adapter) for adapter in _adapters()]


def open_device(name: str | None = None) -> Any:
    """A device to run shaders on, a ``wgpu.GPUDevice``.

    Args:
        name: Part of its name, in any case, such as ``"nvidia"``; None takes the fastest there is.
    """
    adapters = _adapters()
    if not adapters:
        raise MissingPackageError("no GPU was found, and no driver that stands in for one", remedy=DRIVER)
    chosen = adapters if name is None else [a for a in adapters if name.lower() in _name(a).lower()]
    if not chosen:
        raise EcorcheError(
            f"there is no GPU named {name!r}",
            remedy=f"Choose one of {', '.join(map(_name, adapters))}; or {DRIVER[0].lower()}{DRIVER[1:]}",
        )
    with told_in_words("a device could not be opened"):
        return min(chosen, key=_slowness).request_device_sync(label="ecorche")


def shared_device() -> Any:
    """The fastest device, one for the whole process: each keeps some 20 MB that are never given back.

    Where it was lost, as when a driver starts anew, another one is opened.
    """
    global _shared
    with _opening:
        if _shared is None or _is_lost(_shared):
            _shared = open_device()
        return _shared


def _is_lost(device: Any) -> bool:
    wgpu = require_wgpu()
    try:
        device.create_buffer(size=16, usage=wgpu.BufferUsage.COPY_DST).destroy()
    except (wgpu.GPUError, RuntimeError):
        return True
    return False


@contextmanager
def told_in_words(what: str) -> Iterator[None]:
    """Errors of a device as ours: one that is lost, or has no memory left, cannot go on."""
    wgpu = require_wgpu()
    try:
        yield
    except MemoryError as error:
        raise EcorcheError(
            f"{what}: the GPU has no memory left", remedy="Give fewer instances, or close other programs"
        ) from error
    except (wgpu.GPUError, RuntimeError) as error:
        reason = " ".join(str(error).split())
        raise EcorcheError(
            f"{what}: the GPU was lost, or refused ({reason[:300]})",
            remedy="Make the evaluator anew; where that fails, choose another device or the processor",
        ) from error


def _adapters() -> list[Any]:
    with _quiet_about_screens():
        adapters: list[Any] = require_wgpu().gpu.enumerate_adapters_sync()
    # through OpenGL a device may lack compute shaders; Vulkan, Metal and DX12 have them
    return [a for a in adapters if not a.info["backend_type"].startswith("OpenGL")]


@contextmanager
def _quiet_about_screens() -> Iterator[None]:
    """Without a screen drivers look for one, and where no folder is named for it they print an error."""
    named = "XDG_RUNTIME_DIR"
    if named in os.environ:
        yield
        return
    os.environ[named] = tempfile.gettempdir()
    try:
        yield
    finally:
        del os.environ[named]


def _name(adapter: Any) -> str:
    info = adapter.info
    return f"{info['device']} ({info['adapter_type']}, {info['backend_type']})"


def _slowness(adapter: Any) -> int:
    order = ("DiscreteGPU", "IntegratedGPU", "VirtualGPU", "CPU")
    kind = adapter.info["adapter_type"]
    return order.index(kind) if kind in order else len(order)
