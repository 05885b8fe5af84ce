"""The shaders compiled for a device."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from ecorche.gpu import shaders
from ecorche.gpu.device import require_wgpu, told_in_words
from ecorche.gpu.modules import MODULES

_KINDS = {"uniform": "uniform", "read": "read-only-storage", "write": "storage"}
_compiled: WeakKeyDictionary[Any, tuple[tuple[str, ...], dict[str, Module]]] = WeakKeyDictionary()


class Module(NamedTuple):
    """Attributes:
    layout: Of its one bind group.
    steps: Its pipelines by their entry points.
    """

    layout: Any
    steps: dict[str, Any]


def compiled_modules(device: Any, told: Iterable[str]) -> dict[str, Module]:
    """All modules on a device, compiled once for all characters; ``told`` as for `shaders.shader`."""
    names = tuple(told)
    known = _compiled.get(device)
    if known is None or known[0] != names:
        with told_in_words("the shaders could not be compiled"):
            known = names, {name: _compile(device, name, names) for name in MODULES}
        _compiled[device] = known
    return known[1]


def _compile(device: Any, name: str, told: Iterable[str]) -> Module:
    visibility = require_wgpu().ShaderStage.COMPUTE
    table = MODULES[name]
    layout = device.create_bind_group_layout(
        entries=[
            {"binding": number, "visibility": visibility, "buffer": {"type": _KINDS[kind]}}
            for number, kind in enumerate(table.buffers.values())
        ]
    )
    module = device.create_shader_module(code=shaders.shader(table.files, told), label=name)
    pipeline_layout = device.create_pipeline_layout(bind_group_layouts=[layout])
    return Module(
        layout,
        {
            step: device.create_compute_pipeline(
                layout=pipeline_layout, compute={"module": module, "entry_point": step}, label=step
            )
            for step in table.steps
        },
    )
