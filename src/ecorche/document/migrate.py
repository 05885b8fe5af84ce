"""Rig files of older versions, brought up to date one version at a time.

A new version of the format adds one function here, from the version before it, and one file of
that older version to ``tests/fixtures``, which has to stay readable for ever.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ecorche.document.spec import VERSION
from ecorche.errors import DocumentError

Document = dict[str, Any]


def _without_muscles(document: Document) -> Document:
    """Version 1 had no muscles; all of version 2's new fields may be left out."""
    return document


def _without_lofted_muscles(document: Document) -> Document:
    """Version 2 had no muscles found in the skin; version 3's new fields may be left out."""
    return document


def _without_line_muscles(document: Document) -> Document:
    """Version 3 had no muscles on action lines and no body type; version 4's new fields may be left out."""
    return document


def _with_capped_springs(document: Document) -> Document:
    """Version 4 could cap how stiff springs are (`springs.cap`); version 5 has `springs.realtime` for that.

    What was capped runs in real time from then on, and the rig's notes say so.
    """
    springs = document.get("springs")
    if not isinstance(springs, dict) or "cap" not in springs:
        return document
    kept = {name: value for name, value in springs.items() if name != "cap"}
    if springs["cap"] is None:
        return {**document, "springs": kept}
    said = f"springs.cap of {springs['cap']!r} became springs.realtime, which keeps slow swings far better."
    notes = document.get("notes", [])
    told = [*notes, said] if isinstance(notes, list) else notes
    return {**document, "springs": {**kept, "realtime": True}, "notes": told}


MIGRATIONS: dict[int, Callable[[Document], Document]] = {
    1: _without_muscles,
    2: _without_lofted_muscles,
    3: _without_line_muscles,
    4: _with_capped_springs,
}
"""From this version to the next: takes the plain values of a file, returns new ones."""


def migrate(
    document: object,
    where: object,
    *,
    current: int = VERSION,
    migrations: Mapping[int, Callable[[Document], Document]] = MIGRATIONS,
) -> Document:
    """The values of a rig file, in the current version of the format."""
    if not isinstance(document, dict):
        raise DocumentError(
            "is no rig: the outermost value has to be an object in { }",
            where=where,
            remedy="Give a file that Ecorche wrote",
        )
    version = document.get("version")
    if "version" not in document:
        raise DocumentError(
            "the field 'version' is missing", where=where, remedy=f'Add "version": {current} at the top'
        )
    if type(version) is not int or version < 1:
        raise DocumentError(
            f"the version {version!r} is not a whole number from 1 on",
            where=f"{where}, version",
            remedy=f"Write it without quotes; the newest is {current}",
        )
    if version > current:
        raise DocumentError(
            f"written by a newer Ecorche (version {version}; this one reads up to {current})",
            where=where,
            remedy="Upgrade Ecorche: pip install --upgrade ecorche",
        )
    for step in range(version, current):
        document = {**migrations[step](document), "version": step + 1}
    return document
