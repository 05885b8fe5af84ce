"""Open a USD stage quietly, and know how its coordinates become ours: metres, +Y up.

OpenUSD prints warnings to the error stream and throws errors of its own; here the first become
notes and the second one `ReadError`.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from pxr import Sdf, Tf, Usd, UsdGeom, UsdUtils

from ecorche.base import transforms
from ecorche.base.confined import confined, require_within
from ecorche.errors import EcorcheError, ReadError
from ecorche.io.usd.crate import require_sound

Floats = npt.NDArray[np.float64]

_LAYERS = (".usd", ".usda", ".usdc", ".usdz", ".abc", ".vdb", "")
"""Suffixes of what a stage is composed of."""

MEMORY_TO_READ = 1 << 30
"""Bytes any file may take to be read."""

MEMORY_A_BYTE = 64
"""Further bytes of memory a byte of a compressed file may become."""


@contextlib.contextmanager
def quiet() -> Iterator[list[str]]:
    """Collect what OpenUSD would print to the error stream as sentences, in order."""
    said: list[str] = []
    listener = UsdUtils.CoalescingDiagnosticDelegate()
    try:
        yield said
    finally:
        for item in listener.TakeUncoalescedDiagnostics():
            sentence = _decoded(item, "commentary")
            if sentence not in said:
                said.append(sentence)
        del listener


def _decoded(speaker: Any, attribute: str | None = None) -> str:
    """What OpenUSD says, in one line; damaged files make it quote bytes that are no text."""
    try:
        return _without_addresses(str(getattr(speaker, attribute) if attribute else speaker))
    except UnicodeDecodeError:
        return "it holds bytes that are no text"


def _without_addresses(text: str) -> str:
    """A diagnostic without memory addresses and surplus white space: the same on every run."""
    text = re.sub(r"\s*\((?:instantiating|recomposing) stage on stage [^)]*\)", "", text)
    return " ".join(re.sub(r"\s*<?0x[0-9a-f]+>?", "", text).split())


@contextlib.contextmanager
def readable_read_errors(path: Path) -> Iterator[None]:
    """Turn OpenUSD's exceptions, and the surprises of damaged values, into one message on ``path``."""
    try:
        # numbers that are none are found by checks with a message; NumPy need not warn of them first
        with np.errstate(all="ignore"):
            yield
    except EcorcheError as error:
        if error.where is not None and error.where.startswith(str(path)):
            raise
        where = str(path) if error.where is None else f"{path}, {error.where}"
        raise type(error)(error.what, where=where, remedy=error.remedy) from error
    except Tf.ErrorException as error:
        raise ReadError(
            f"is not a readable USD file ({reason(error)})", where=path, remedy="Export it again"
        ) from error
    except (RuntimeError, ValueError, TypeError, LookupError, ArithmeticError, MemoryError) as error:
        first_line = str(error).strip().partition("\n")[0]
        raise ReadError(
            f"holds values that do not fit together ({type(error).__name__}: {first_line})",
            where=path,
            remedy="The file is damaged: export it again",
        ) from error


def reason(error: Exception) -> str:
    """The first sentence of an OpenUSD exception, without its place in OpenUSD's source."""
    text = _decoded(error)
    found = re.search(r"' at line \d+ in file \S+ : '(.*?)'(?: Error in '|$)", text)
    return re.sub(r"pxrInternal\w*::", "", found.group(1) if found else text).rstrip(".")[:300]


@contextlib.contextmanager
def bounded_memory(file_bytes: int) -> Iterator[None]:
    """Let this process take only so much more memory as files of that size can need.

    A damaged binary file may claim arrays of any length, and OpenUSD would fill the machine's memory
    with them before it finds the file too short; refused memory it reports like any other damage.
    Where the system does not tell a process's size, nothing is bounded.
    """
    try:
        import resource

        pages = int(Path("/proc/self/statm").read_text().split()[0])
    except (ImportError, OSError):
        yield
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = pages * resource.getpagesize() + MEMORY_TO_READ + MEMORY_A_BYTE * file_bytes
    for other in (soft, hard):
        wanted = wanted if other == resource.RLIM_INFINITY else min(wanted, other)
    resource.setrlimit(resource.RLIMIT_AS, (wanted, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def size_on_disk(stage: Any) -> int:
    """Bytes of all files a stage is composed of."""
    files = {layer.realPath.partition("[")[0] for layer in stage.GetUsedLayers()}
    return sum(Path(file).stat().st_size for file in files if file and Path(file).is_file())


def open_stage(path: Path) -> Any:
    """The composed stage of a file, as it is on disk now."""
    require_sound(path)
    with bounded_memory(path.stat().st_size):
        layer = Sdf.Layer.FindOrOpen(str(path))
        if layer is None:
            raise ReadError("is not a USD file", where=path, remedy="Export it again")
        layer.Reload()  # another reader in this process may hold an older version of the file
        _require_layers_within(layer, path)
    return Usd.Stage.Open(layer)


def _require_layers_within(layer: Any, path: Path) -> None:
    """Refuse layers outside of the folder that reading is confined to, before they are composed."""
    if not confined():
        return
    pending, seen = [layer], {layer.identifier}
    while pending:
        current = pending.pop()
        for named in chain(*UsdUtils.ExtractExternalReferences(current.identifier)):
            absolute = current.ComputeAbsolutePath(named)
            file = absolute.partition("[")[0]
            if not file or Path(file).suffix.lower() not in _LAYERS:
                continue  # textures are looked at one by one
            require_within(file, path)
            below = Sdf.Layer.FindOrOpen(absolute) if Path(file).is_file() else None
            if below is not None and below.identifier not in seen:
                seen.add(below.identifier)
                pending.append(below)


@dataclass(frozen=True, eq=False)
class Space:
    """The units and axes of a stage.

    Attributes:
        metres_per_unit: The stage's length unit [m].
        up_axis: ``"Y"`` or ``"Z"``.
        codes_per_second: Time codes in a second.
    """

    metres_per_unit: float
    up_axis: str
    codes_per_second: float

    @property
    def ours_from_stage(self) -> Floats:
        """The matrix that takes stage coordinates to metres, +Y up; shape (4, 4)."""
        matrix = np.eye(4)
        if self.up_axis == "Z":
            matrix[:3, :3] = [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]]
        matrix[:3, :3] *= self.metres_per_unit
        return matrix

    def seconds(self, codes: npt.ArrayLike) -> Floats:
        """Time codes as seconds."""
        return np.asarray(codes, np.float64) / self.codes_per_second


def space_of(stage: Any, notes: list[str]) -> Space:
    """Read a stage's units, axes and time unit."""
    metres = float(UsdGeom.GetStageMetersPerUnit(stage))
    if not UsdGeom.StageHasAuthoredMetersPerUnit(stage):
        notes.append("the file does not state metersPerUnit: USD's default, 1 cm, is taken")
    codes = float(stage.GetTimeCodesPerSecond())
    for value, name in ((metres, "metersPerUnit"), (codes, "timeCodesPerSecond")):
        if not (np.isfinite(value) and value > 0.0):
            raise ReadError(f"{name} is {value}", remedy="Set it to a positive number")
    axis = str(UsdGeom.GetStageUpAxis(stage))
    if axis not in ("Y", "Z"):
        raise ReadError(f"upAxis is {axis!r}", remedy='Set it to "Y" or "Z"')
    return Space(metres, axis, codes)


def matrix_of(value: Any) -> Floats:
    """OpenUSD matrices, which act on rows, as ours, which act on columns; shape (..., 4, 4)."""
    return np.swapaxes(np.array(value, np.float64), -1, -2).copy()


def world_from_prim(prim: Any, time: float | None = None) -> Floats:
    """``world_from_prim`` at a time code, or apart from animation where None; shape (4, 4)."""
    if time is not None:
        return matrix_of(UsdGeom.Imageable(prim).ComputeLocalToWorldTransform(Usd.TimeCode(time)))
    matrix, above = np.eye(4), prim
    while above and not above.IsPseudoRoot():
        xformable = UsdGeom.Xformable(above)
        if xformable:
            matrix = _steady_transform(xformable) @ matrix
            if xformable.GetResetXformStack():
                break
        above = above.GetParent()
    if not np.array_equal(matrix[3], [0.0, 0.0, 0.0, 1.0]):
        raise ReadError(f"the transform of {prim.GetPath()} is not affine", remedy="Export the file again")
    return matrix


def _steady_transform(xformable: Any) -> Floats:
    """``parent_from_prim`` by default values, or by earliest samples where it has samples alone."""
    sampled_alone = any(op.Get() is None for op in xformable.GetOrderedXformOps())
    code = Usd.TimeCode.EarliestTime() if sampled_alone else Usd.TimeCode.Default()
    return matrix_of(xformable.GetLocalTransformation(code))


def moving_ancestors(prim: Any) -> list[Any]:
    """The prim and those above it whose transform changes over time."""
    found = []
    while prim and not prim.IsPseudoRoot():
        xformable = UsdGeom.Xformable(prim)
        if xformable and xformable.TransformMightBeTimeVarying():
            found.append(xformable)
        prim = prim.GetParent()
    return found


def move_points(matrix: Floats, points: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Points moved by a matrix; the identity does not touch a bit."""
    if np.array_equal(matrix, np.eye(4)):
        return points
    return transforms.transform_points(matrix, points).astype(np.float32)


def turn_normals(matrix: Floats, normals: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Unit normals of a surface moved by a matrix; the identity does not touch unit normals.

    A normal whose length is more than 1e-3 off one is brought to it; a zero normal stays zero.
    """
    linear = matrix[:3, :3]
    if not np.array_equal(linear, np.eye(3)):
        sign = 1.0 if np.linalg.det(linear) > 0.0 else -1.0
        normals = (normals @ (np.linalg.inv(linear) * sign)).astype(np.float32)
    length = np.linalg.norm(normals.astype(np.float64), axis=-1, keepdims=True)
    off = (np.abs(length - 1.0) > 1e-3) & (length > 0.0)
    if off.any():
        normals = np.where(off, normals / np.where(off, length, 1.0), normals).astype(np.float32)
    return normals


def prim_title(prim: Any) -> str:
    """The name a person gave a prim: its display name, else its own."""
    return str(prim.GetDisplayName() or prim.GetName())
