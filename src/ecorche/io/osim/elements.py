"""Children of XML elements: asked for by name, refused where they are missing or wrong."""

from __future__ import annotations

from xml.etree.ElementTree import Element

import numpy as np

from ecorche.errors import ReadError


def child(element: Element, tag: str, where: str) -> Element:
    """The child of that tag."""
    found = element.find(tag)
    if found is None:
        raise ReadError(
            f"<{element.tag}> has no <{tag}>", where=where, remedy="Add it, or save the file anew"
        )
    return found


def text(element: Element, tag: str, where: str) -> str:
    """What a child says."""
    return (child(element, tag, where).text or "").strip()


def numbers(element: Element, tag: str, where: str, count: int | None = None) -> list[float]:
    """The finite numbers a child holds, so many if ``count`` is given."""
    words = text(element, tag, where).split()
    try:
        values = [float(word) for word in words]
    except ValueError:
        values = [float("nan")]
    if not np.isfinite(values).all() or (count is not None and len(values) != count) or not values:
        wanted = "numbers" if count is None else f"{count} numbers"
        raise ReadError(
            f"<{tag}> is not {wanted}: {' '.join(words)[:60]!r}", where=where, remedy=f"Give {wanted}"
        )
    return values


def is_true(element: Element, tag: str, otherwise: bool) -> bool:
    """A child's true or false; ``otherwise`` where there is none."""
    found = element.find(tag)
    return otherwise if found is None else (found.text or "").strip().lower() == "true"


def members(element: Element | None) -> list[Element]:
    """The elements of a set, ``<objects>`` in between."""
    inner = None if element is None else element.find("objects")
    return [] if inner is None else list(inner)
