"""Rig files on disk: the text a person edits, and beside it the arrays that belong to it.

The arrays file carries a part of its own hash in its name, and the rig file states the whole
hash. Writing therefore never touches the pair that is there: first the new arrays appear under
a new name, then one rename replaces the rig file, then arrays nobody names any more go. Stopped
at any moment, the folder holds the old pair or the new pair, each complete.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from pydantic import ValidationError

from ecorche.base.files import require_file, require_folder, whole_file
from ecorche.base.names import suggestion
from ecorche.document.bind import BindShape, arrays_from_bind, bind_from_arrays
from ecorche.document.bones import BoneSurfaces, arrays_from_bones, bones_from_arrays
from ecorche.document.migrate import migrate
from ecorche.document.problems import document_error
from ecorche.document.sidecar import LARGEST_FILE, arrays_from_bytes, arrays_to_bytes
from ecorche.document.spec import ArraysRef, RigSpec
from ecorche.document.surfaces import (
    MuscleSurface,
    arrays_from_surfaces,
    require_surfaces,
    surfaces_from_arrays,
)
from ecorche.document.text import layout, lines_of, parse, spelled
from ecorche.errors import DocumentError, EcorcheError, WriteError

LARGEST_TEXT = 1 << 26


@dataclass(frozen=True, eq=False)
class Rig:
    """A rig: what a person edits, and the numbers that go with it.

    Attributes:
        spec: The text.
        bind: The shape it was made for.
        maps: Values a vertex of each map the spec names, (vertices,) or (vertices, components).
        source: The file it came from, for messages.
        surfaces: Meshes of the muscles on action lines, by the names the spec gives them.
        bones: Meshes of bones; None for a rig that has none.
    """

    spec: RigSpec
    bind: BindShape
    maps: Mapping[str, npt.NDArray[np.generic]] = field(default_factory=dict)
    source: str = ""
    surfaces: Mapping[str, MuscleSurface] = field(default_factory=dict)
    bones: BoneSurfaces | None = None


def read_rig(path: str | os.PathLike[str]) -> Rig:
    """The rig in a file, with its arrays; an older version of the format is brought up to date."""
    path = require_file(path)
    require_rig_name(path, DocumentError)
    spec = spec_from_text(_text_of(path), path)
    if spec.arrays is None:
        raise DocumentError(
            "names no arrays file", where=f"{path}, arrays", remedy="Create the rig again with Ecorche"
        )
    arrays_path = path.with_name(spec.arrays.file)
    content = _arrays_content(arrays_path, spec.arrays, path)
    return _rig_of(spec, content, path, arrays_path)


def rig_from_content(text: str, content: bytes, where: object) -> Rig:
    """The rig of a rig file's text and the bytes of its arrays file; ``where`` names it in messages."""
    spec = spec_from_text(text, where)
    if spec.arrays is None or hashlib.sha256(content).hexdigest() != spec.arrays.sha256:
        raise DocumentError(
            "its arrays are not those it was written with", where=where, remedy="Read the rig file again"
        )
    return _rig_of(spec, content, where, where)


def _rig_of(spec: RigSpec, content: bytes, where: object, arrays_where: object) -> Rig:
    arrays = arrays_from_bytes(content, arrays_where)
    bind = bind_from_arrays(arrays, arrays_where)
    # the text is what a person edits: a map taken out of it is gone
    maps = {name: arrays[f"maps/{name}"] for name in spec.maps if f"maps/{name}" in arrays}
    surfaces = surfaces_from_arrays(arrays, (m.surface for m in spec.muscles.lines.values()), arrays_where)
    rig = Rig(spec, bind, maps, str(where), surfaces, bones_from_arrays(arrays, arrays_where))
    unnamed = [n.removeprefix("maps/") for n in arrays if n.startswith("maps/") and n[5:] not in spec.maps]
    _require_maps(rig, where, unnamed)
    _require_surfaces(rig, where)
    return rig


def require_rig_name(path: Path, error: type[EcorcheError]) -> None:
    """Refuse a path that cannot be a rig's, before anything is read or computed."""
    if path.suffix.lower() != ".ecorche":
        raise error("a rig file's name ends in .ecorche", where=path, remedy="Give a file with that suffix")


def spec_from_text(text: str, where: object) -> RigSpec:
    """The spec in the text of a rig file; anything wrong is told with file, line and field."""
    current = migrate(parse(text, where), where)
    try:
        return RigSpec.model_validate(frozen(current))
    except ValidationError as error:
        raise document_error(error, current, lines_of(text, where), where) from None


def frozen(value: Any) -> Any:
    """Plain values with tuples for lists, as the read-only spec holds them."""
    if isinstance(value, dict):
        return {key: frozen(v) for key, v in value.items()}
    return tuple(frozen(v) for v in value) if isinstance(value, list) else value


def text_from_spec(spec: RigSpec) -> str:
    """The text of a rig file: fields in the order of the format, maps and joints as they were given."""
    return layout(spec.model_dump(mode="json")) + "\n"


def write_rig(path: str | os.PathLike[str], rig: Rig) -> RigSpec:
    """Write a rig and its arrays, both or neither; returns the spec as written.

    An arrays file that the rig named before, and that no rig beside it names, is removed.
    """
    path = Path(path)
    require_rig_name(path, WriteError)
    require_folder(path)
    spec, arrays, content = _content(rig, path)
    arrays_path = path.with_name(arrays.file)
    before = {p.name for p in path.parent.glob(f"{_escaped(path.name)}.{'[0-9a-f]' * 12}.npz")}
    if not (arrays_path.is_file() and arrays_path.read_bytes() == content):
        with whole_file(arrays_path) as partial:
            partial.write_bytes(content)
    try:
        with whole_file(path) as partial:
            partial.write_text(text_from_spec(spec), encoding="utf-8", newline="\n")
    except BaseException:
        if arrays.file not in before:
            arrays_path.unlink(missing_ok=True)
        raise
    _remove_unnamed(path.parent, before - {arrays.file})
    return spec


def rig_to_content(rig: Rig, name: str) -> tuple[str, bytes]:
    """The text of a rig file of that name, and the bytes of the arrays file it names; nothing is written."""
    spec, _, content = _content(rig, Path(name))
    return text_from_spec(spec), content


def _content(rig: Rig, path: Path) -> tuple[RigSpec, ArraysRef, bytes]:
    """What is written of a rig: its spec, which names its arrays, and these as bytes."""
    _require_maps(rig, path)
    _require_surfaces(rig, path)
    named = {muscle.surface for muscle in rig.spec.muscles.lines.values()}
    content = arrays_to_bytes(
        {
            **arrays_from_bind(rig.bind),
            **{f"maps/{name}": a for name, a in rig.maps.items()},
            **arrays_from_surfaces({name: s for name, s in rig.surfaces.items() if name in named}),
            **arrays_from_bones(None if rig.bones is None else rig.bones.checked(path)),
        }
    )
    digest = hashlib.sha256(content).hexdigest()
    arrays = ArraysRef(file=f"{path.name}.{digest[:12]}.npz", sha256=digest)
    return rig.spec.model_copy(update={"arrays": arrays}), arrays, content


def _remove_unnamed(folder: Path, names: set[str]) -> None:
    """Remove arrays files that no rig in the folder names: a copied rig shares its original's."""
    if not names:
        return
    for other in folder.glob("*.ecorche"):
        with contextlib.suppress(OSError):
            text = other.read_text(encoding="utf-8", errors="replace")
            names = {name for name in names if name not in text}
    for name in names:
        with contextlib.suppress(OSError):
            (folder / name).unlink(missing_ok=True)


def _escaped(name: str) -> str:
    """A file name as a glob pattern that matches only itself."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in name)


def _text_of(path: Path) -> str:
    if path.stat().st_size > LARGEST_TEXT:
        raise DocumentError(
            f"is larger than {LARGEST_TEXT >> 20} MB", where=path, remedy="Give a file that Ecorche wrote"
        )
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DocumentError(
            f"is not text in UTF-8 (byte {error.start})", where=path, remedy="Save it as UTF-8"
        ) from None


def _arrays_content(path: Path, ref: ArraysRef, rig: Path) -> bytes:
    restore = "Restore it from version control or a backup"
    if not path.is_file():
        raise DocumentError(f"its arrays file {ref.file!r} is missing", where=rig, remedy=restore)
    if path.stat().st_size > LARGEST_FILE:
        raise DocumentError(f"is larger than {LARGEST_FILE >> 30} GB", where=path, remedy=restore)
    content = path.read_bytes()
    if hashlib.sha256(content).hexdigest() != ref.sha256:
        raise DocumentError(
            f"is not the arrays file that {rig.name!r} was written with (its hash differs)",
            where=path,
            remedy=restore,
        )
    return content


def _require_maps(rig: Rig, where: object, unnamed: Sequence[str] = ()) -> None:
    """The maps named and the maps held are the same, each with a value for every vertex of its mesh."""
    for name, ref in rig.spec.maps.items():
        spot = f"{where}, maps.{name}"
        if name not in rig.maps:
            raise DocumentError("the map has no values", where=spot, remedy=suggestion(name, unnamed))
        mesh, values = rig.bind.mesh(ref.mesh, f"{spot}.mesh"), rig.maps[name]
        if values.ndim not in (1, 2) or len(values) != len(mesh.points):
            raise DocumentError(
                f"the map has shape {values.shape} for the {len(mesh.points)} vertices of mesh {mesh.name!r}",
                where=spot,
                remedy="Paint it again on this mesh",
            )
    for place, muscle in rig.spec.muscles.each():
        painted = muscle.influence.painted
        if painted is not None:
            spot = f"{where}, {spelled((*place, 'influence', 'painted'))}"
            _require_weights(rig.maps[painted], painted, spot)
    places: list[tuple[tuple[str, ...], str]] = []
    places += [(("coupling", at), painted) for at, painted in rig.spec.coupling.maps()]
    places += [(("fat", *at), painted) for at, painted in rig.spec.fat.maps()]
    for field_place, named in places:
        _require_weights(rig.maps[named], named, f"{where}, {spelled(field_place)}")
    for name in rig.maps:
        if name not in rig.spec.maps:
            raise DocumentError(
                f"there are values for a map {name!r} that the rig does not name",
                where=f"{where}, maps",
                remedy="Name it there, with the mesh it is painted on",
            )


def _require_surfaces(rig: Rig, where: object) -> None:
    """Every muscle on action lines has a mesh that can be one."""
    wanted = {
        spelled(("muscles", "lines", name, "surface")): (muscle.surface, len(muscle.attachments))
        for name, muscle in rig.spec.muscles.lines.items()
    }
    require_surfaces(rig.surfaces, wanted, where)


def _require_weights(values: npt.NDArray[np.generic], name: str, where: str) -> None:
    """A map that a field names has one number from 0 to 1 a vertex."""
    remedy = "Paint one number a vertex, from 0 to 1"
    if values.ndim != 1 or values.dtype.kind not in "fiub":
        raise DocumentError(f"the map {name!r} does not hold one number a vertex", where=where, remedy=remedy)
    numbers = values.astype(np.float64)
    outside = ~((numbers >= 0.0) & (numbers <= 1.0))
    if outside.any():
        vertex = int(np.argmax(outside))
        raise DocumentError(
            f"the map {name!r} holds {numbers[vertex]:g} at vertex {vertex}", where=where, remedy=remedy
        )
