"""A rig with other muscles on action lines, whole and checked: what every edit of lines ends in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from ecorche.base.names import suggestion
from ecorche.base.transforms import transform_points
from ecorche.body.character import Character
from ecorche.body.edited_rig import Edited
from ecorche.body.line_specs import action_line_of, fields_of, fields_that_bend, line_muscle_of
from ecorche.body.muscle_specs import scapulae_of
from ecorche.body.place_muscles import rounded
from ecorche.body.spelled_joints import numbers
from ecorche.document.fields import Vector
from ecorche.document.files import Rig
from ecorche.document.line_spec import (
    BoundNodeSpec,
    FieldSpec,
    FreeNodeSpec,
    LineMuscleSpec,
    LineSpec,
    MobileNodeSpec,
)
from ecorche.document.problems import told_as_document_error
from ecorche.document.spec import RigSpec
from ecorche.document.surfaces import MuscleSurface
from ecorche.errors import DocumentError, EcorcheError
from ecorche.muscles.line_muscle import Admissible
from ecorche.muscles.line_musculature import require_lines
from ecorche.muscles.lines.line_paths import LinePaths, require_order
from ecorche.muscles.scapula import with_scapulae
from ecorche.skeleton.skeleton import Skeleton

Floats = npt.NDArray[np.float64]
AnyNode = BoundNodeSpec | FreeNodeSpec | MobileNodeSpec


@dataclass(frozen=True, eq=False)
class Lines:
    """The muscles on action lines of a rig on its character, as an editor asks for them.

    Attributes:
        rig: The rig.
        character: Its character.
    """

    rig: Rig
    character: Character

    @cached_property
    def skeleton(self) -> Skeleton:
        """The character's joints and, after them, the shoulder blades the rig adds."""
        bones = self.character.skeleton
        return with_scapulae(bones, scapulae_of(self.rig, bones))

    def muscle(self, name: str) -> LineMuscleSpec:
        """A muscle on action lines; another name is refused with the nearest."""
        known = self.rig.spec.muscles.lines
        if name not in known:
            raise DocumentError(
                f"there is no muscle {name!r} on action lines",
                where=self.rig.source,
                remedy=suggestion(name, known) or "Make some: ecorche rig CHARACTER --as-lines admissible",
            )
        return known[name]

    def line(self, name: str, number: int) -> LineSpec:
        """One line of a muscle."""
        lines = self.muscle(name).lines
        if not 0 <= number < len(lines):
            raise DocumentError(
                f"{name!r} has no line {number}",
                where=self.rig.source,
                remedy=f"Count from 0 to {len(lines) - 1}",
            )
        return lines[number]

    def spoken(self, name: str, number: int) -> str:
        """What a sentence calls a line."""
        return repr(name) if len(self.muscle(name).lines) == 1 else f"line {number + 1} of {name!r}"

    def node(self, name: str, number: int, row: int) -> AnyNode:
        """One node of a line."""
        nodes = self.line(name, number).nodes
        if not 0 <= row < len(nodes):
            raise DocumentError(
                f"line {number} of {name!r} has no node {row}",
                where=self.rig.source,
                remedy=f"Count from 0 to {len(nodes) - 1}",
            )
        return nodes[row]

    def field(self, name: str) -> FieldSpec:
        """A field of the rig."""
        fields = self.rig.spec.muscles.fields
        if name not in fields:
            raise DocumentError(
                f"there is no field {name!r}", where=self.rig.source, remedy=suggestion(name, fields)
            )
        return fields[name]

    def joint(self, name: str) -> int:
        """The number of a joint or shoulder blade."""
        names = self.skeleton.names
        if name not in names:
            raise EcorcheError(
                f"there is no joint {name!r}", where=self.rig.source, remedy=suggestion(name, names)
            )
        return names.index(name)

    def designed(self, name: str, number: int) -> Floats:
        """Nodes of a line as designed, in the world at bind [m], shape (n, 3); mobile ones at rest."""
        return action_line_of(self.rig, self.character.skeleton, name, number).places()

    def lying(self, name: str, number: int) -> Floats:
        """Nodes of a line as it lies at bind [m], shape (n, 3): an admissible one pushed out of its fields.

        Elastic lines are told as designed: their springs are measured there.
        """
        muscle = line_muscle_of(self.rig, self.character.skeleton, name)
        if not isinstance(muscle.path, Admissible):
            return muscle.lines[number].places()
        fields = fields_of(self.rig, self.character.skeleton, fields_that_bend(self.rig, [name]))
        scapulae = scapulae_of(self.rig, self.character.skeleton)
        paths = LinePaths(self.skeleton, [muscle], fields, scapulae)
        return np.asarray(paths.bind[paths.starts[number] : paths.starts[number + 1]])

    def local(self, joint: str, place: Floats) -> Vector:
        """A place in the world at bind [m], shape (3,), in a joint's own frame."""
        inverse = self.skeleton.bind_inverse[self.joint(joint)]
        return numbers(np.round(transform_points(inverse, np.asarray(place, np.float64)[None])[0], 9) + 0.0)

    def with_lines(
        self,
        muscles: Mapping[str, LineMuscleSpec],
        fields: Mapping[str, FieldSpec] | None = None,
        surfaces: Mapping[str, MuscleSurface] | None = None,
        *,
        check: Sequence[str] = (),
    ) -> Self:
        """The rig with these muscles on lines and fields in place of its own, checked as a file is.

        Args:
            muscles: All muscles on lines.
            fields: All fields; None keeps them.
            surfaces: More surfaces; those that no muscle names any more go.
            check: Names of muscles whose lines are also tried: whether they can be compiled.
        """
        before = self.rig.spec.muscles
        groups = {m.group for _, m in before.each()} | {m.group for m in muscles.values()}
        aside = self.rig.spec.skeleton.set_aside
        if aside is not None:  # they may come back
            groups |= {m.group for m in aside.muscles.values()} | {m.group for m in aside.lofted.values()}
        changed = before.model_copy(
            update={
                "lines": dict(muscles),
                "fields": dict(before.fields if fields is None else fields),
                "gains": {group: gain for group, gain in before.gains.items() if group in groups},
            }
        )
        with told_as_document_error(self.rig.source):
            spec = self.rig.spec.model_copy(update={"muscles": changed})
            spec = RigSpec.model_validate(spec.model_dump())  # copies are not checked
        named = {muscle.surface for muscle in muscles.values()}
        held = {n: s for n, s in {**self.rig.surfaces, **(surfaces or {})}.items() if n in named}
        made = replace(self, rig=replace(self.rig, spec=spec, surfaces=held))
        made.require_compilable(check)
        return made

    def with_muscle(self, name: str, muscle: LineMuscleSpec) -> Self:
        """The rig with one muscle changed, and tried."""
        return self.with_lines({**self.rig.spec.muscles.lines, name: muscle}, check=[name])

    def with_line(self, name: str, number: int, changes: Mapping[str, Any]) -> Self:
        """The rig with fields of one line changed, by their names in the file."""
        line = self.line(name, number)
        muscle = self.muscle(name)
        with told_as_document_error(f"{self.rig.source}, {name}, line {number}"):
            made = LineSpec.model_validate(line.model_dump() | _plain(changes))
        lines = tuple(made if row == number else one for row, one in enumerate(muscle.lines))
        return self.with_muscle(name, muscle.model_copy(update={"lines": lines}))

    def require_compilable(self, names: Sequence[str]) -> None:
        """Refuse muscles whose lines are no lines, such as an admissible one with a field that attracts."""
        if not names:
            return
        fields = fields_of(self.rig, self.character.skeleton, fields_that_bend(self.rig, names))
        scapulae = scapulae_of(self.rig, self.character.skeleton)
        springs = False
        for name in names:
            muscle = line_muscle_of(self.rig, self.character.skeleton, name)
            require_lines(muscle, self.skeleton, fields)
            if isinstance(muscle.path, Admissible):
                LinePaths(self.skeleton, [muscle], fields, scapulae)
            else:
                springs = True
        ellipsoids = (one for field in self.rig.spec.muscles.fields.values() for one in field.ellipsoids)
        if springs and any(one.on_line is not None for one in ellipsoids):
            elastic = [n for n, m in self.rig.spec.muscles.lines.items() if m.path.model == "elastic"]
            muscles = [line_muscle_of(self.rig, self.character.skeleton, n) for n in elastic]
            require_order(muscles, fields_of(self.rig, self.character.skeleton))


def _plain(changes: Mapping[str, Any]) -> dict[str, Any]:
    """Changes as plain values a spec reads: models dumped, lists as tuples, numbers rounded."""

    def plain(value: Any) -> Any:
        if hasattr(value, "model_dump"):
            return plain(value.model_dump())
        if isinstance(value, dict):
            return {key: plain(entry) for key, entry in value.items()}
        return tuple(plain(entry) for entry in value) if isinstance(value, list | tuple) else value

    return {key: rounded(plain(value)) for key, value in changes.items()}


def relaid(lines: Lines, nodes: Sequence[AnyNode], places: Floats, *, ratios: bool) -> tuple[AnyNode, ...]:
    """Nodes (n) that keep their kind, held to lie at places (n, 3) [m] in the world at bind.

    Args:
        lines: The rig.
        nodes: Of one line; both ends bound or mobile.
        places: Where they shall lie; of mobile ones at rest, the extremes move along.
        ratios: Whether the ratios of free nodes are found anew, by the way along the line.
    """
    firm = [row for row, node in enumerate(nodes) if node.kind != "free"]
    arc = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(places, axis=0), axis=1))])
    made: list[AnyNode] = []
    for row, node in enumerate(nodes):
        place = places[row]
        if isinstance(node, BoundNodeSpec):
            made.append(node.model_copy(update={"at": _same(node.at, lines.local(node.joint, place))}))
        elif isinstance(node, MobileNodeSpec):
            by = np.array(lines.local(node.joint, place)) - np.array(node.at_rest)
            if np.abs(by).max() < 2e-9:
                made.append(node)
                continue
            moved = {
                name: numbers(np.round(np.array(getattr(node, name)) + by, 9) + 0.0)
                for name in ("at_low", "at_rest", "at_high")
            }
            made.append(node.model_copy(update=moved))
        else:
            before, after = max(f for f in firm if f < row), min(f for f in firm if f > row)
            ratio = node.ratio
            if ratios:
                ratio = float((arc[row] - arc[before]) / max(arc[after] - arc[before], 1e-300))
            offset = place - (places[before] + ratio * (places[after] - places[before]))
            none = node.offset is None and np.abs(offset).max() < 1e-9
            changed = {"ratio": ratio, "offset": None if none else numbers(np.round(offset, 9) + 0.0)}
            made.append(node.model_copy(update=changed))
    return tuple(made)


def _same(before: Vector, after: Vector) -> Vector:
    """What the file said, where the change is rounding alone."""
    return before if max(abs(a - b) for a, b in zip(before, after, strict=True)) < 2e-9 else after


def told(done: str, lines: Lines, *more: str) -> Edited:
    """The rig after an edit and what was done."""
    return Edited(lines.rig, (done, *more))
