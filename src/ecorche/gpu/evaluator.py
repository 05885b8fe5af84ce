"""A vertex program on a GPU: from joints and bulges to skin and normals, everything posed on the device.

A frame sends the payload and nothing else; the device poses muscles, skins, slides and shades by compute
shaders, and keeps the result. Instances of a crowd share what is constant. Where their buffers would be
larger than the device takes they are split; what cannot fit at all is refused.
"""

from __future__ import annotations

from threading import RLock
from typing import Any

import numpy as np
import numpy.typing as npt

from ecorche.body.instance_evaluator import require_output
from ecorche.body.payload import packed_payload, payload_type
from ecorche.body.vertex_program import VertexProgram
from ecorche.errors import EcorcheError
from ecorche.gpu.chunk import Chunk, InstanceBuffers, bytes_each, upload_constants
from ecorche.gpu.device import shared_device, told_in_words
from ecorche.gpu.device_plan import device_plan
from ecorche.gpu.pipelines import compiled_modules
from ecorche.gpu.shaders import WORKGROUP
from ecorche.muscles.activation import bulge_from_activation

Floats = npt.NDArray[np.float64]
Points = npt.NDArray[np.float32]

FLAT = 1e-5
"""Volume of a joint's unit axes below which float32 tell no rotation."""


class GpuEvaluator:
    """A vertex program on a device, ready to be played frame after frame.

    Threads may share it, but wait for each other.

    Args:
        program: Of the character.
        device: A ``wgpu.GPUDevice``; None takes the fastest there is, which all such evaluators share.
        capacity: How many instances there is room for.
        largest_buffer: Bytes that a buffer may have; None is as much as the device takes.
    """

    def __init__(
        self,
        program: VertexProgram,
        device: Any = None,
        capacity: int = 1,
        *,
        largest_buffer: int | None = None,
    ) -> None:
        if capacity < 1:
            raise EcorcheError(f"room for {capacity} instances was asked for", remedy="Give 1 or more")
        self.program, self.capacity = program, capacity
        self._plan = device_plan(program)
        self._where = program.body.character.source or program.body.character.name
        self._kind = payload_type(program.joint_count, program.muscle_count)
        self._largest = program.body.bulge(np.ones(program.muscle_count))
        self._one_at_a_time = RLock()
        device = shared_device() if device is None else device
        together = self._instances_together(device, largest_buffer)
        modules = compiled_modules(device, self._plan.told)
        with told_in_words("the character could not be uploaded"):
            constants = upload_constants(device, self._plan)
            self._chunks = [
                Chunk(device, modules, self._plan, constants, first, min(together, capacity - first))
                for first in range(0, capacity, together)
            ]
            joints, muscles = program.joint_count, program.muscle_count
            still = packed_payload(np.zeros((1, joints, 4, 4)), np.ones((1, muscles)))
            self._chunks[0].learn(still.tobytes())
        self._played = 0

    def __repr__(self) -> str:
        return f"GpuEvaluator({self.program}, {self.capacity} instances in {len(self._chunks)} chunks)"

    @property
    def buffers(self) -> tuple[InstanceBuffers, ...]:
        """What lies on the device: chunks of instances, in their order."""
        return tuple(chunk.buffers for chunk in self._chunks)

    def apply(
        self,
        difference: Floats,
        activation: npt.ArrayLike | None = None,
        *,
        points: Points | None = None,
        normals: Points | None = None,
        gain: npt.ArrayLike | None = None,
        muscles: bool = True,
    ) -> None:
        """Play one frame of n instances, and fetch what is asked for: as `Evaluator.apply`.

        Args:
            difference: ``M − I`` of the skeleton's joints, (n, joints, 4, 4).
            activation: Of the muscles, 0 to 1, (n, muscles); None is at rest.
            points: Where to write positions [m], C-contiguous float32 (n, vertices, 3); None leaves them.
            normals: Where to write unit normals, (n, places, 3); None leaves them out.
            gain: How much of each muscle is shown, 0 to 1, (n, muscles) or what extends to it; None is all.
            muscles: False leaves muscles out: plain skinning.
        """
        difference = np.asarray(difference, np.float64)
        joints = self.program.joint_count
        if difference.ndim != 4 or difference.shape[1:] != (joints, 4, 4):
            raise EcorcheError(
                f"matrices of shape {difference.shape} are no instances of a character with {joints} joints",
                where=self._where,
                remedy=f"Give shape (instances, {joints}, 4, 4)",
            )
        count = len(difference)
        active = self.program.of_muscles(activation, 0.0, count, "activations")
        shown = self.program.of_muscles(gain if muscles else 0.0, 1.0, count, "gains")
        for out, what, vertices in (
            (points, "positions", self.program.points),
            (normals, "normals", self.program.places.vertices),
        ):
            if out is not None:
                require_output(out, (count, len(vertices), 3), what, self._where)
        bulge = bulge_from_activation(active, self._largest)
        with self._one_at_a_time:
            self.play(packed_payload(difference, bulge, shown), shaded=normals is not None)
            self._fetch(points, normals)

    def play(self, payload: npt.NDArray[Any], *, shaded: bool = True) -> None:
        """Play one frame of n instances, (n,) of `payload_type`, and leave the result on the device.

        Without ``shaded`` normals stay as they were.
        """
        self._require_payload(payload)
        payload = np.ascontiguousarray(payload)
        with self._one_at_a_time, told_in_words("the frame could not be played"):
            for chunk in self._chunks:
                part = payload[chunk.buffers.first : chunk.buffers.first + chunk.buffers.count]
                if len(part):
                    chunk.play(part, shaded=shaded)
            self._played = len(payload)

    def read(self) -> tuple[Points, Points]:
        """Positions [m] (n, vertices, 3) and unit normals (n, places, 3) of the frame played last."""
        if not self._played:
            raise EcorcheError("no frame has been played yet", where=self._where, remedy="Call `play` first")
        with self._one_at_a_time:
            points = np.empty((self._played, len(self.program.points), 3), np.float32)
            normals = np.empty((self._played, len(self.program.places.vertices), 3), np.float32)
            self._fetch(points, normals)
        return points, normals

    def _fetch(self, points: Points | None, normals: Points | None) -> None:
        with told_in_words("the result could not be fetched"):
            for chunk in self._chunks:
                for name, out in (("points", points), ("normals", normals)):
                    if out is not None:
                        part = out[chunk.buffers.first : chunk.buffers.first + chunk.buffers.count]
                        part[...] = chunk.read(name, part.size).reshape(part.shape)

    def _instances_together(self, device: Any, largest: int | None) -> int:
        """How many instances a buffer holds, as this device says, at most."""
        limits = device.limits
        if largest is None:
            largest = min(limits["max-storage-buffer-binding-size"], limits["max-buffer-size"])
        threads = WORKGROUP * limits["max-compute-workgroups-per-dimension"]
        constant = {name: array.nbytes for name, array in self._plan.arrays.items()}
        each = bytes_each(self._plan)
        worst = max({**constant, **each}.items(), key=lambda item: item[1])
        if worst[1] > largest:
            raise EcorcheError(
                f"its {worst[0].replace('_', ' ')} take {worst[1]:,} bytes, and a buffer of this GPU holds"
                f" {largest:,}",
                where=self._where,
                remedy="Choose a coarser mesh, or play it on the processor",
            )
        things = max(self._plan.told["vertex_count"], self._plan.told["place_count"])
        if things > threads:
            raise EcorcheError(
                f"it has {things:,} vertices or normals, and this GPU starts {threads:,} threads at once",
                where=self._where,
                remedy="Choose a coarser mesh, or play it on the processor",
            )
        fitting: int = largest // max(each.values())
        return min(fitting, int(limits["max-compute-workgroups-per-dimension"]))

    def _require_payload(self, payload: npt.NDArray[Any]) -> None:
        """A shader does not look what it is given: what cannot be is refused here."""
        if payload.dtype != self._kind or payload.ndim != 1:
            joints, muscles = self.program.joint_count, self.program.muscle_count
            raise EcorcheError(
                f"the payload has {payload.ndim} axes and {payload.dtype.itemsize} bytes an instance",
                where=self._where,
                remedy=f"Give one axis of `payload_type({joints}, {muscles})`, {self._kind.itemsize} bytes",
            )
        if not 1 <= len(payload) <= self.capacity:
            raise EcorcheError(
                f"{len(payload)} instances were given, and there is room for 1 to {self.capacity}",
                where=self._where,
                remedy="Make the evaluator with more capacity, or play them in parts",
            )
        for part in ("way", "joints", "muscles"):
            bad = ~np.isfinite(payload[part]).reshape(len(payload), -1).all(axis=1)
            if bad.any():
                raise EcorcheError(
                    f"the {part} of instance {int(np.argmax(bad))} are not all numbers",
                    where=self._where,
                    remedy="Check its pose and activation",
                )
        bulge, gain = payload["muscles"][..., 0], payload["muscles"][..., 1]
        bad = ~((bulge > 0.0) & (gain >= 0.0) & (gain <= 1.0))
        if bad.any():
            instance, muscle = np.argwhere(bad)[0]
            raise EcorcheError(
                f"muscle {muscle} of instance {instance} has the bulge {bulge[instance, muscle]:g} and the"
                f" gain {gain[instance, muscle]:g}",
                where=self._where,
                remedy="Give a bulge above 0, which is 1 at rest, and a gain from 0 to 1",
            )
        self._require_rotations(payload["joints"])

    def _require_rotations(self, rows: npt.NDArray[np.float32]) -> None:
        """The joints that muscles hang on have a rotation: none is flat, or scaled to nothing."""
        turning = np.flatnonzero(self._plan.turning)
        axes = np.eye(3, dtype=np.float32) - rows[:, turning, :, :3]
        lengths = np.sqrt(np.einsum("...ij,...ij->...j", axes, axes))
        volume = np.einsum("...i,...i->...", axes[..., 0], np.cross(axes[..., 1], axes[..., 2]))
        bad = ~(np.abs(volume) > FLAT * lengths.prod(axis=-1))
        if bad.any():
            instance, number = np.argwhere(bad)[0]
            name = self.program.body.character.skeleton.names[turning[number]]
            raise EcorcheError(
                f"joint {name!r} of instance {instance} is scaled to nothing, and a muscle hangs on it",
                where=self._where,
                remedy="Check the pose",
            )
