"""Measured ground forces as OpenSim keeps them: a `.mot` of columns, and an XML with what acts where.

    <ExternalForce name="Right_GRF">
        <applied_to_body>calcn_r</applied_to_body>
        <force_identifier>ground_force_r_v</force_identifier>   (columns ...vx, ...vy, ...vz)
        <point_identifier>ground_force_r_p</point_identifier>
        <torque_identifier>ground_torque_r_</torque_identifier>

Newtons, metres and newton metres, in the ground's frame. A frame without contact is a force of zero. Forces
that are switched off, ``<appliesForce>false`` (before OpenSim 4 ``<isDisabled>true``), are left out.
"""

from __future__ import annotations

import os
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import NamedTuple
from xml.etree.ElementTree import Element

import numpy as np
import numpy.typing as npt

from ecorche.base.files import require_file
from ecorche.base.recordings import ForceRecording
from ecorche.errors import ReadError
from ecorche.io.opensim_storage import StorageTable, read_table

Floats = npt.NDArray[np.float64]


class ExternalLoads(NamedTuple):
    """Forces of an XML.

    Attributes:
        forces: Those that act.
        notes: Which are switched off.
        data: The file that their numbers are from.
    """

    forces: tuple[ForceRecording, ...]
    notes: tuple[str, ...]
    data: Path


def read_external_loads(
    path: str | os.PathLike[str], data: str | os.PathLike[str] | None = None
) -> ExternalLoads:
    """The forces of an XML; their numbers from the file it names, or from ``data``."""
    path = require_file(path)
    try:
        root = ElementTree.parse(path).getroot()
    except (ElementTree.ParseError, LookupError, ValueError) as error:  # encodings too
        raise ReadError(f"is no XML: {error}", where=path, remedy="Save it again from OpenSim") from None
    loads = root if root.tag == "ExternalLoads" else root.find("ExternalLoads")
    if loads is None:
        raise ReadError("holds no <ExternalLoads>", where=path, remedy="Choose a file of external loads")
    named = Path(data) if data is not None else path.parent / (loads.findtext("datafile") or "").strip()
    table = read_table(named)
    all_of_them = list(loads.iter("ExternalForce"))
    if not all_of_them:
        raise ReadError("holds no <ExternalForce>", where=path, remedy="Add one for each plate")
    off = [one.get("name", "") for one in all_of_them if _switched_off(one)]
    found = [
        _force(one, table, f"{path}, force {one.get('name')!r}")
        for one in all_of_them
        if not _switched_off(one)
    ]
    notes = tuple(f"force {name!r} is switched off, and left out" for name in off)
    return ExternalLoads(tuple(found), notes, named)


def _switched_off(one: Element) -> bool:
    said = [(one.findtext(tag) or "").strip().lower() for tag in ("appliesForce", "isDisabled")]
    return said[0] == "false" or said[1] == "true"


def force_from_table(
    table: StorageTable, name: str, force: str, point: str, torque: str | None = None, body: str | None = None
) -> ForceRecording:
    """One force from columns whose names begin so and end in x, y and z."""

    def three(start: str) -> Floats:
        return np.stack([table.column(f"{start}{axis}") for axis in "xyz"], axis=1)

    pushed, places = three(force), three(point)
    turned = np.zeros_like(pushed) if torque is None else three(torque)
    for what, values in (("force", pushed), ("point", places), ("moment", turned)):
        if np.isnan(values).any():
            row = int(np.argmax(np.isnan(values).any(axis=1)))
            raise ReadError(
                f"force {name!r} has no number for its {what} at {table.times[row]:g} s",
                where=table.source,
                remedy="Write zero where nothing touches the plate",
            )
    return ForceRecording(name, table.times, pushed, places, turned, body)


def _force(one: Element, table: StorageTable, where: str) -> ForceRecording:
    def told(tag: str) -> str:
        said = (one.findtext(tag) or "").strip()
        return "" if said.lower() == "unassigned" else said

    for tag in ("force_expressed_in_body", "point_expressed_in_body"):
        if told(tag) not in ("", "ground", "/ground"):
            raise ReadError(
                f"<{tag}> is {told(tag)!r}, not the ground",
                where=where,
                remedy="Express it in the ground's frame",
            )
    for tag in ("applied_to_body", "force_identifier", "point_identifier"):
        if not told(tag):
            raise ReadError(f"<{tag}> is missing", where=where, remedy="Say it, or leave the force out")
    return force_from_table(
        table,
        one.get("name", ""),
        told("force_identifier"),
        told("point_identifier"),
        told("torque_identifier") or None,
        told("applied_to_body").rsplit("/", 1)[-1],
    )
