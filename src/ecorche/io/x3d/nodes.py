"""Nodes of an X3D or VRML97 scene, whichever encoding they came in, and the values in their fields."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ecorche.base.rotations import normalise, xyzw_from_axis_angle
from ecorche.base.transforms import compose, inverse
from ecorche.errors import ReadError

Floats = npt.NDArray[np.float64]
Value: TypeAlias = str | tuple[str, ...]
"""Numbers and XML attributes as text; VRML97's strings as a tuple."""

MOST_NODES = 500_000
"""Nodes a scene may have when every USE is followed; more is refused, not walked."""
_LARGEST = 1e9  # a number beyond is damage, and would overflow further down


@dataclass(eq=False)
class Node:
    """One node: its type, its DEF name, its plain fields, and the nodes in its other fields."""

    kind: str
    line: int
    name: str | None = None  # DEF
    fields: dict[str, Value] = field(default_factory=dict)
    nodes: list[tuple[str, Node]] = field(default_factory=list)  # (field, node), in file order

    def below(self, *fields: str) -> list[Node]:
        """The nodes in any of the given fields; in all fields when none is given."""
        return [node for name, node in self.nodes if not fields or name in fields]

    def first(self, field: str) -> Node | None:
        """The node in a field, None when it is empty."""
        return next((node for name, node in self.nodes if name == field), None)


@dataclass(frozen=True)
class Route:
    """Events that go from one node's field to another's."""

    source: str
    source_field: str
    target: str
    target_field: str
    line: int


@dataclass(eq=False)
class Scene:
    """A whole file: its nodes, names, routes, what its numbers mean, and how to complain about it."""

    path: Path
    roots: list[Node]
    names: dict[str, Node]
    routes: list[Route]
    metres_per_unit: float = 1.0
    prototypes: frozenset[str] = frozenset()  # types the file itself declares

    def error(self, what: str, line: int, remedy: str = "The file is damaged: export it again") -> ReadError:
        """A message about one line of this file."""
        return ReadError(what, where=f"{self.path.name}, line {line}", remedy=remedy)

    def walk(self) -> Iterator[tuple[Node, Floats]]:
        """Every node under the scene's roots with ``world_from_parent`` of its place, in file order.

        A node used twice comes twice. Humanoids are not entered.
        """
        count = 0
        pile = [(node, np.eye(4)) for node in reversed(self.roots)]
        while pile:
            node, world = pile.pop()
            count += 1
            if count > MOST_NODES:
                raise self.error("the scene unfolds to too many nodes", node.line)
            yield node, world
            if node.kind in HUMANOIDS:
                continue
            inner = world @ self.transform(node) if node.kind == "Transform" else world
            pile.extend((child, inner) for child in reversed(node.below()))

    def floats(self, node: Node, name: str, width: int) -> Floats:
        """The numbers of a field as rows of ``width``; no rows when the field is absent."""
        text = node.fields.get(name, "")
        words = text.replace(",", " ").split() if isinstance(text, str) else list(text)
        try:
            numbers = np.array(words, np.float64)
        except ValueError:
            word = next(w for w in words if not _is_number(w))
            raise self.error(f"{word!r} in field {name!r} of {node.kind} is no number", node.line) from None
        if not (np.abs(numbers) < _LARGEST).all():  # also catches nan
            bad = words[int(np.argmin(np.abs(numbers) < _LARGEST))]
            raise self.error(f"{bad} in field {name!r} of {node.kind} is out of any range", node.line)
        if len(numbers) % width:
            raise self.error(
                f"field {name!r} of {node.kind} has {len(numbers)} numbers, not a multiple of {width}",
                node.line,
            )
        return numbers.reshape(-1, width)

    def vector(self, node: Node, name: str, default: tuple[float, ...]) -> Floats:
        """A field of one fixed-size value."""
        rows = self.floats(node, name, len(default))
        if len(rows) > 1:
            raise self.error(f"field {name!r} of {node.kind} has more than {len(default)} numbers", node.line)
        return rows[0] if len(rows) else np.array(default)

    def integers(self, node: Node, name: str) -> npt.NDArray[np.int64]:
        """A field of whole numbers."""
        numbers = self.floats(node, name, 1)[:, 0]
        whole = np.rint(numbers)
        if (whole != numbers).any():
            bad = numbers[int(np.argmax(whole != numbers))]
            raise self.error(f"{bad:g} in field {name!r} of {node.kind} is no whole number", node.line)
        return whole.astype(np.int64)

    def transform(self, node: Node) -> Floats:
        """The matrix (4, 4) of a node with the fields of a Transform, as X3D composes them."""
        centre = self.vector(node, "center", (0.0, 0.0, 0.0))
        local = compose(
            self.vector(node, "translation", (0.0, 0.0, 0.0)) + centre,
            xyzw_from_sfrotation(self.vector(node, "rotation", (0.0, 0.0, 1.0, 0.0))),
        )
        scale = self.vector(node, "scale", (1.0, 1.0, 1.0))
        if (scale == 0.0).any():
            raise self.error(f"{node.kind} has zero scale", node.line, "Give it a scale other than zero")
        along = xyzw_from_sfrotation(self.vector(node, "scaleOrientation", (0.0, 0.0, 1.0, 0.0)))
        return local @ scaling(scale, along) @ compose(-centre, (0.0, 0.0, 0.0, 1.0))


def scaling(scale: npt.ArrayLike, along_xyzw: npt.ArrayLike) -> Floats:
    """Matrices (..., 4, 4) that scale (..., 3) along axes turned by quaternions (..., 4)."""
    turn = compose((0.0, 0.0, 0.0), along_xyzw)
    return turn @ compose((0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0), scale) @ inverse(turn)


def xyzw_from_sfrotation(rows: npt.ArrayLike) -> Floats:
    """Unit quaternions (..., 4) of X3D rotations (..., 4): axis, then angle [rad]; no axis, no turn."""
    rows = np.asarray(rows, np.float64)
    axis = normalise(rows[..., :3])
    turning = np.linalg.norm(rows[..., :3], axis=-1) > 0.0
    return xyzw_from_axis_angle(axis, np.where(turning, rows[..., 3], 0.0))


HUMANOIDS = ("HAnimHumanoid", "Humanoid")
JOINTS = ("HAnimJoint", "Joint")
SEGMENTS = ("HAnimSegment", "Segment")
SITES = ("HAnimSite", "Site")
DISPLACERS = ("HAnimDisplacer", "Displacer")


def text_of(node: Node, name: str) -> str | None:
    """A field of one string, None when absent or empty."""
    value = node.fields.get(name)
    if isinstance(value, tuple):
        value = value[0] if value else None
    return value or None


def strings_of(node: Node, name: str) -> list[str]:
    """A field of several strings: in XML each in quotes of its own."""
    value = node.fields.get(name, "")
    if isinstance(value, tuple):
        return list(value)
    quoted = re.findall(r'"((?:[^"\\]|\\.)*)"', value)
    return [re.sub(r"\\(.)", r"\1", q) for q in quoted] or ([value.strip()] if value.strip() else [])


def flag_of(node: Node, name: str, default: bool) -> bool:
    """A field that is true or false."""
    value = text_of(node, name)
    return default if value is None else value.strip().lower() == "true"


def metadata(node: Node, name: str) -> Node | None:
    """What we once wrote into a node's metadata under a name."""
    for found in node.below("metadata"):
        for entry in (found, *found.below("value")):
            if text_of(entry, "name") == name and text_of(entry, "reference") == "ecorche":
                return entry
    return None


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True
