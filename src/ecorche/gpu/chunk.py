"""Some instances of a character on a device: their buffers, and the steps that play them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ecorche.gpu.device import require_wgpu
from ecorche.gpu.device_plan import FRAME_ROWS, DevicePlan
from ecorche.gpu.modules import MODULES
from ecorche.gpu.pipelines import Module
from ecorche.gpu.shaders import WORKGROUP

ROW_BYTES = 16
"""Bytes of four float32, in which posed things are counted."""
_LEAST = 16
"""Bytes of the smallest buffer: none may be empty."""


class Constants(NamedTuple):
    """Buffers of a character that all its instances read.

    Attributes:
        plan: The uniform of `DevicePlan`.
        names, numbers, skin_names, skin_numbers, place_names, place_numbers: As in `DevicePlan`.
        bind_frames: Of the muscle joints, as this device poses them at bind.
        rest: L_fat of every muscle below every vertex [m], as this device measures it at bind.
        at_bind: What surface frames make of authored normals at bind, on this device.
    """

    plan: Any
    names: Any
    numbers: Any
    skin_names: Any
    skin_numbers: Any
    place_names: Any
    place_numbers: Any
    bind_frames: Any
    rest: Any
    at_bind: Any


@dataclass(frozen=True, eq=False)
class InstanceBuffers:
    """Instances ``first`` to ``first + count − 1`` of an evaluator, on the device.

    Attributes:
        first, count: Which instances there is room for.
        payload: As `payload` lays it out.
        points: Positions [m], float32 (count, vertices, 3), without gaps; also a vertex buffer.
        normals: Unit normals, float32 (count, places, 3), without gaps; also a vertex buffer.
        posed: Muscles in this frame, rows of four float32: see `device_plan`.
        deltas: How muscles displaced each vertex [m], float32 (count, vertices, 3); next to nothing where
            nothing is worn.
    """

    first: int
    count: int
    payload: Any
    points: Any
    normals: Any
    posed: Any
    deltas: Any


def bytes_each(plan: DevicePlan) -> dict[str, int]:
    """Bytes of one instance in each of the buffers."""
    told = plan.told
    vectors = 12 * told["vertex_count"]
    return {
        "payload": 4 * told["payload_stride"],
        "points": vectors,
        "normals": 12 * told["place_count"],
        "posed": ROW_BYTES * told["posed_stride"],
        "deltas": vectors if told["worn_count"] else 0,
    }


def learnt_bytes(plan: DevicePlan) -> dict[str, int]:
    """Bytes of each of the buffers that a device fills itself at bind, once for all instances."""
    return {
        "bind_frames": ROW_BYTES * FRAME_ROWS * plan.told["muscle_joint_count"],
        "rest": 4 * plan.entry_count,
        "at_bind": 12 * plan.told["place_count"],
    }


def upload_constants(device: Any, plan: DevicePlan) -> Constants:
    """Everything that is the same in every frame, on the device."""
    usage = require_wgpu().BufferUsage

    def filled(data: bytes, kind: int) -> Any:
        return device.create_buffer_with_data(data=data + bytes(max(_LEAST - len(data), 0)), usage=kind)

    def empty(size: int) -> Any:
        return device.create_buffer(size=max(size, _LEAST), usage=usage.STORAGE | usage.COPY_DST)

    return Constants(
        plan=filled(plan.uniform, usage.UNIFORM),
        **{name: filled(array.tobytes(), usage.STORAGE) for name, array in plan.arrays.items()},
        **{name: empty(size) for name, size in learnt_bytes(plan).items()},
    )


class Chunk:
    """Instances that share their buffers.

    Args:
        device: A ``wgpu.GPUDevice``.
        modules: The shaders.
        plan, constants: Of the character.
        first, count: Which instances they are.

    Attributes:
        buffers: Of these instances.
    """

    def __init__(
        self,
        device: Any,
        modules: dict[str, Module],
        plan: DevicePlan,
        constants: Constants,
        first: int,
        count: int,
    ) -> None:
        usage = require_wgpu().BufferUsage
        kind = usage.STORAGE | usage.COPY_SRC | usage.COPY_DST | usage.VERTEX
        sizes = {name: max(count * size, _LEAST) for name, size in bytes_each(plan).items()}
        made = {name: device.create_buffer(size=size, usage=kind, label=name) for name, size in sizes.items()}
        self.buffers = InstanceBuffers(first, count, **made)
        self._device, self._modules, self._constants = device, modules, constants
        self._plan, self._told = plan, plan.told
        self._run = device.create_buffer(size=_LEAST, usage=usage.UNIFORM | usage.COPY_DST)
        bound = {**constants._asdict(), **made, "run": self._run}
        self._groups = {
            name: self._group(name, [bound[buffer] for buffer in table.buffers])
            for name, table in MODULES.items()
        }

    def _group(self, module: str, buffers: list[Any]) -> Any:
        return self._device.create_bind_group(
            layout=self._modules[module].layout,
            entries=[
                {"binding": number, "resource": {"buffer": buffer, "offset": 0, "size": buffer.size}}
                for number, buffer in enumerate(buffers)
            ],
        )

    def learn(self, still: bytes) -> None:
        """Keep of the bind, told as the payload of one instance, what frames are measured against.

        The steps that play a frame measure it, so at bind nothing is left, bit for bit.
        """
        self._device.queue.write_buffer(self.buffers.payload, 0, still)
        self._say(learn=True)
        encoder = self._device.create_command_encoder()
        self._encode(encoder, "muscles", 1)
        frames = learnt_bytes(self._plan)["bind_frames"]
        if frames:
            at = ROW_BYTES * self._told["at_frames"]
            encoder.copy_buffer_to_buffer(self.buffers.posed, at, self._constants.bind_frames, 0, frames)
            self._encode(encoder, "muscles", 1)
        self._encode(encoder, "skin", 1)
        self._encode(encoder, "normals", 1)
        self._device.queue.submit([encoder.finish()])
        self._say(learn=False)

    def _say(self, *, learn: bool) -> None:
        self._device.queue.write_buffer(self._run, 0, np.array([learn, 0, 0, 0], np.uint32))

    def play(self, payload: Any, *, shaded: bool) -> None:
        """Play a payload (n,); ``shaded`` asks for normals too."""
        self._device.queue.write_buffer(self.buffers.payload, 0, payload)
        encoder = self._device.create_command_encoder()
        for module in MODULES:
            if shaded or module != "normals":
                self._encode(encoder, module, len(payload))
        self._device.queue.submit([encoder.finish()])

    def _encode(self, encoder: Any, module: str, instances: int) -> None:
        """Steps one after another, a thread for each thing and instance; without things none."""
        work = encoder.begin_compute_pass()
        work.set_bind_group(0, self._groups[module])
        for step, counted in MODULES[module].steps.items():
            if self._told[counted]:
                work.set_pipeline(self._modules[module].steps[step])
                work.dispatch_workgroups(-(-self._told[counted] // WORKGROUP), instances)
        work.end()

    def read(self, name: str, count: int) -> Any:
        """The first numbers of one of its buffers, float32 (count,)."""
        if not count:
            return np.zeros(0, np.float32)
        data = self._device.queue.read_buffer(getattr(self.buffers, name), 0, 4 * count)
        return np.frombuffer(data, np.float32)
