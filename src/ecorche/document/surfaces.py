"""Meshes of muscles in the arrays file: vertices, triangles, and which vertices sit on bones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecorche.base.names import suggestion
from ecorche.errors import DocumentError

PREFIX = "surfaces/"


@dataclass(frozen=True, eq=False, repr=False)
class MuscleSurface:
    """The mesh of a muscle at bind, as it was modelled.

    Attributes:
        points: [m], shape (vertices, 3), float64.
        triangles: Shape (triangles, 3), int32.
        attached: Number of an attachment of the muscle, and a vertex that sits on it, shape (n, 2), int32.
        room: To the nearest place of the skin from each vertex [m], shape (vertices, 3), float32; None: it
            swells freely.
    """

    points: npt.NDArray[np.float64]
    triangles: npt.NDArray[np.int32]
    attached: npt.NDArray[np.int32]
    room: npt.NDArray[np.float32] | None = None

    def __repr__(self) -> str:
        return f"MuscleSurface({len(self.points)} vertices, {len(self.triangles)} triangles)"

    def sitting_on(self, attachment: int) -> npt.NDArray[np.int32]:
        """The vertices that sit on an attachment."""
        return np.asarray(self.attached[self.attached[:, 0] == attachment, 1])


def arrays_from_surfaces(surfaces: Mapping[str, MuscleSurface]) -> dict[str, npt.NDArray[np.generic]]:
    """Surfaces as named arrays."""
    arrays: dict[str, npt.NDArray[np.generic]] = {}
    for name, surface in surfaces.items():
        arrays[f"{PREFIX}{name}/points"] = surface.points.astype(np.float64, copy=False)
        arrays[f"{PREFIX}{name}/triangles"] = surface.triangles.astype(np.int32, copy=False)
        arrays[f"{PREFIX}{name}/attached"] = surface.attached.astype(np.int32, copy=False)
        if surface.room is not None:
            arrays[f"{PREFIX}{name}/room"] = surface.room.astype(np.float32, copy=False)
    return arrays


def surfaces_from_arrays(
    arrays: Mapping[str, npt.NDArray[np.generic]], names: Iterable[str], where: object
) -> dict[str, MuscleSurface]:
    """The surfaces of these names; a name without arrays is left out, arrays that are no surface refused."""
    found = {}
    for name in dict.fromkeys(names):
        parts = {part: arrays.get(f"{PREFIX}{name}/{part}") for part in ("points", "triangles", "attached")}
        if parts["points"] is None:
            continue
        for part, kind, columns in (("points", "f", 3), ("triangles", "i", 3), ("attached", "i", 2)):
            array = parts[part]
            if array is None or array.dtype.kind != kind or array.ndim != 2 or array.shape[1] != columns:
                raise _broken(name, f"its {part} are missing or of the wrong shape", where)
        room = arrays.get(f"{PREFIX}{name}/room")
        if room is not None and (room.dtype.kind != "f" or room.shape != parts["points"].shape):
            raise _broken(name, "its room is not one direction a vertex", where)
        found[name] = MuscleSurface(
            np.asarray(parts["points"], np.float64),
            np.asarray(parts["triangles"], np.int32),
            np.asarray(parts["attached"], np.int32),
            None if room is None else np.asarray(room, np.float32),
        )
    return found


def require_surfaces(
    surfaces: Mapping[str, MuscleSurface], wanted: Mapping[str, tuple[str, int]], where: object
) -> None:
    """Refuse surfaces that are missing or cannot be.

    Args:
        surfaces: Those held.
        wanted: Surface and number of attachments of each muscle, by the muscle's place in the file.
        where: The rig, for messages.
    """
    for place, (name, attachments) in wanted.items():
        if name not in surfaces:
            raise DocumentError(
                f"there is no surface {name!r} in the arrays file",
                where=f"{where}, {place}",
                remedy=suggestion(name, list(surfaces)),
            )
        surface = surfaces[name]
        count = len(surface.points)
        if not np.isfinite(surface.points).all():
            vertex = int(np.argmax(~np.isfinite(surface.points).all(axis=1)))
            raise _broken(name, f"the position of vertex {vertex} is not a number", where)
        if surface.room is not None and not np.isfinite(surface.room).all():
            vertex = int(np.argmax(~np.isfinite(surface.room).all(axis=1)))
            raise _broken(name, f"the room of vertex {vertex} is not a number", where)
        if len(surface.triangles) == 0:
            raise _broken(name, "it has no triangles", where)
        if surface.triangles.min() < 0 or surface.triangles.max() >= count:
            raise _broken(name, "it has triangles of vertices that do not exist", where)
        number, vertex_of = surface.attached.T if len(surface.attached) else (np.zeros(0, np.int32),) * 2
        if (number < 0).any() or (number >= attachments).any():
            raise DocumentError(
                f"vertices of the surface {name!r} sit on attachment {int(number.max())}, but there are"
                f" {attachments}",
                where=f"{where}, {place}",
                remedy="Keep the attachments in number and order; change their joints instead",
            )
        if (vertex_of < 0).any() or (vertex_of >= count).any():
            raise _broken(name, "vertices that do not exist are attached", where)


def _broken(name: str, what: str, where: object) -> DocumentError:
    return DocumentError(
        f"the surface {name!r} is no mesh: {what}",
        where=where,
        remedy="Restore the arrays file from version control, or create the rig again",
    )
