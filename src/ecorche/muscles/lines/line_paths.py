"""All action lines of a body in a pose, whichever model they follow, in one packed array.

Admissible lines are a function of the pose alone, elastic ones of the poses before as well: their state goes
in and comes out. Elongation comes from the models too, because a tendon that slides knows better than its
nodes how long it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ecorche.base.threads import at_most_threads
from ecorche.errors import EcorcheError
from ecorche.muscles.line_muscle import Admissible, Elastic, LineMuscle
from ecorche.muscles.lines.admissible import AdmissibleLine, AdmissiblePaths, CollisionNode
from ecorche.muscles.lines.elastic import DYNAMIC, ElasticLine, ElasticLines
from ecorche.muscles.lines.elastic_compile import elastic_lines, require_relaxable
from ecorche.muscles.lines.equilibrium import equilibrium, rest_at_bind
from ecorche.muscles.lines.fields import Field, FieldEllipsoid
from ecorche.muscles.lines.posed_lines import ElasticReport, ElasticState
from ecorche.muscles.scapula import VirtualScapula, difference_with
from ecorche.skeleton.skeleton import Skeleton

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

PRESSED = 1e-6
"""Springs shorter than they rest by more than this are pressed together [m]."""

LineState: TypeAlias = ElasticState | None
"""What elastic lines go on from; None for a body without any."""


@dataclass(frozen=True, eq=False)
class PosedPaths:
    """Lines over F frames.

    Attributes:
        nodes: [m], shape (F, N, 3).
        elongation: Bind length over length now of every segment, (F, N − L).
        slack: How often the belly of each line was as short as it may be, so that tendons gave way, (L,).
        rest: How elastic lines came to rest.
        state: To go on from.
        limp: Of which lines two neighbouring springs were pressed together in a frame, by name, how often:
            the node between them may then rest in many places.
    """

    nodes: Floats
    elongation: Floats
    slack: Ints
    rest: ElasticReport
    state: LineState
    limp: Mapping[str, int] = field(default_factory=dict)

    @property
    def unsettled(self) -> tuple[str, ...]:
        """A sentence for each elastic line that did not come to rest."""
        return tuple(self.rest.notes())

    @property
    def indifferent(self) -> tuple[str, ...]:
        """A sentence for each elastic line that hung limp."""
        return tuple(
            f"line '{name}' hung limp in {count} of {len(self.nodes)} frames: its springs are longer than its"
            " way, and where it lies depends on the frames before"
            for name, count in self.limp.items()
        )


class LinePaths:
    """The lines of some muscles, one after another, ready to be posed.

    Args:
        skeleton: Whose joints carry them.
        muscles: Whose lines they are.
        fields: What bends them, by name.
        scapulae: Virtual shoulder blades, the last joints of ``skeleton``, which follow the others.

    Attributes:
        starts: Line l owns nodes ``starts[l]`` to ``starts[l + 1] − 1``, (L + 1,).
        names: Of the lines.
        bind: All nodes at bind [m], (N, 3).
        report: What did not come to rest at bind, a sentence each.
        bending: Field and number of each ellipsoid that acts on elastic lines, as these have them compiled.
    """

    def __init__(
        self,
        skeleton: Skeleton,
        muscles: Sequence[LineMuscle],
        fields: Mapping[str, Field],
        scapulae: Sequence[VirtualScapula] = (),
    ) -> None:
        self._scapulae = tuple(scapulae)
        lines = [(m.path, m.line_name(k), line) for m in muscles for k, line in enumerate(m.lines)]
        self.names = tuple(name for _, name, _ in lines)
        self.starts = np.cumsum([0, *(len(line.nodes) for _, _, line in lines)]).astype(np.int32)
        self._admissible: list[tuple[AdmissiblePaths, Ints, Ints, Ints]] = []
        self._elastic: tuple[ElasticLines, ElasticState, Ints, Ints] | None = None
        manners = dict.fromkeys(path for path, *_ in lines if isinstance(path, Admissible))
        for manner in manners:
            own = [k for k, (path, *_) in enumerate(lines) if path == manner]
            designed = [
                AdmissibleLine(
                    lines[k][1], lines[k][2].nodes, lines[k][2].tendon,
                    _deflectors(lines[k][1], lines[k][2].fields, fields), lines[k][2].flesh,
                )
                for k in own
            ]  # fmt: skip
            with at_most_threads(1):  # thousands of small questions: waking a thread takes longer than each
                paths = AdmissiblePaths(
                    skeleton, designed, tightening=manner.tightening, subdivisions=manner.subdivisions
                )
            self._admissible.append((paths, *self._of(own)))
        springs = [k for k, (path, *_) in enumerate(lines) if isinstance(path, Elastic)]
        self.report: tuple[str, ...] = ()
        self.bending: tuple[tuple[str, int], ...] = ()
        if springs:
            named = {name for k in springs for name in lines[k][2].fields}
            drawn = [
                elastic_line(muscle, k)
                for muscle in muscles
                for k in range(len(muscle.lines))
                if isinstance(muscle.path, Elastic)
            ]
            bending = [field for name, field in fields.items() if name in named]
            compiled = elastic_lines(drawn, bending, skeleton.joint_count)
            self.bending = tuple((field.name, n) for field in bending for n in range(len(field.ellipsoids)))
            self._unpressed = [line.springs()[1] for line in drawn]
            _, state, report = rest_at_bind(compiled)
            self._elastic = compiled, state, *self._of(springs)[1:]
            self.report = tuple(report.notes())
        self._lengths = np.ones(int(self.starts[-1]) - len(lines))
        at_bind = self.posed(np.zeros((1, skeleton.joint_count - len(scapulae), 4, 4)))
        self.bind = at_bind.nodes[0]

    def __repr__(self) -> str:
        return f"LinePaths({len(self.names)} lines, {len(self.bind)} nodes)"

    @property
    def has_history(self) -> bool:
        """Whether where lines are depends on where they were."""
        return self._elastic is not None

    @property
    def springs(self) -> tuple[ElasticLines, ElasticState] | None:
        """The elastic lines compiled, and their state at rest at bind; None for a body without any."""
        return None if self._elastic is None else self._elastic[:2]

    def posed(self, moved: Floats, state: LineState = None) -> PosedPaths:
        """The lines through some poses, one after another.

        Args:
            moved: ``M − I`` of the character's joints since bind, (F, joints, 4, 4).
            state: What a call before left; None begins from rest at bind.
        """
        moved = difference_with(np.asarray(moved), self._scapulae)
        frames, lines = len(moved), len(self.names)
        nodes = np.empty((frames, int(self.starts[-1]), 3))
        elongation = np.ones((frames, int(self.starts[-1]) - lines))
        slack = np.zeros(lines, np.int64)
        for paths, own, rows, segments in self._admissible:
            for f in range(frames):
                slid = paths.tendons.slid(paths.nodes(moved[f]))
                nodes[f, rows] = slid.nodes
                elongation[f, segments] = paths.tendons.lengths / np.maximum(slid.lengths, 1e-300)
                slack[own] += slid.slack
        after, told = (
            state,
            ElasticReport((), np.ones((0, 0), bool), np.zeros((0, 0), np.int32), np.zeros((0, 0))),
        )
        limp: dict[str, int] = {}
        if self._elastic is not None:
            compiled, rest, rows, segments = self._elastic
            found, after, told = equilibrium(compiled, np.asarray(moved), rest if state is None else state)
            nodes[:, rows] = found
            bind = compiled.lengths(rest.points[compiled.points])
            lengths = compiled.lengths(found)
            elongation[:, segments] = bind / np.maximum(lengths, 1e-300)
            limp = self._limp(compiled, lengths)
        return PosedPaths(nodes, elongation, slack, told, after, limp)

    def unreported(self, nodes: Floats, elongation: Floats) -> PosedPaths:
        """Lines posed before of which nodes (F, N, 3) [m] and elongations (F, N − L) alone are left."""
        names = () if self._elastic is None else self._elastic[0].names
        count = len(names)
        rest = ElasticReport(
            names, np.ones((1, count), bool), np.zeros((1, count), np.int32), np.zeros((1, count))
        )
        return PosedPaths(nodes, elongation, np.zeros(len(self.names), np.int64), rest, None)

    def _limp(self, compiled: ElasticLines, lengths: Floats) -> dict[str, int]:
        """In how many frames lines are limp, by name, those that are; lengths [m], (F, segments)."""
        found, first = {}, 0
        for name, rest in zip(compiled.names, self._unpressed, strict=True):
            pressed = lengths[:, first : first + len(rest)] < rest - PRESSED
            first += len(rest)
            count = int((pressed[:, 1:] & pressed[:, :-1]).any(axis=1).sum())
            if count:
                found[name] = count
        return found

    def _of(self, lines: Sequence[int]) -> tuple[Ints, Ints, Ints]:
        """Some lines, their nodes and their segments, by number."""
        nodes = [np.arange(self.starts[k], self.starts[k + 1]) for k in lines]
        segments = [own[:-1] - k for k, own in zip(lines, nodes, strict=True)]
        return np.array(lines), np.concatenate(nodes), np.concatenate(segments)


def require_order(muscles: Sequence[LineMuscle], fields: Mapping[str, Field]) -> None:
    """Refuse elastic lines that bend each other in a circle."""
    lines = [elastic_line(m, k) for m in muscles if isinstance(m.path, Elastic) for k in range(len(m.lines))]
    named = {name for line in lines for name in line.fields}
    acting = [field for name, field in fields.items() if name in named]
    if any(one.line is not None for field in acting for one in field.ellipsoids):
        require_relaxable(lines, acting)


def elastic_line(muscle: LineMuscle, number: int) -> ElasticLine:
    """One line of an elastic muscle as springs: free nodes move, the others are attachments."""
    line, path = muscle.lines[number], muscle.path
    assert isinstance(path, Elastic)
    return ElasticLine(
        muscle.line_name(number),
        line.places(),
        [DYNAMIC if isinstance(node, CollisionNode) else node.joint for node in line.nodes],
        line.tendon or None,
        line.fields,
        line.shared,
        stiffness=path.stiffness,
        tendon_ratio=path.tendon_ratio,
        tension=path.tension,
        damping=path.damping,
        drag=path.drag,
    )


def _deflectors(line: str, names: Sequence[str], fields: Mapping[str, Field]) -> tuple[FieldEllipsoid, ...]:
    """The ellipsoids in the way of an admissible line; fields that do something else to it are refused."""
    found: list[FieldEllipsoid] = []
    for name in names:
        one_field = fields[name]
        if one_field.kind != "repel" or any(one.joint is None for one in one_field.ellipsoids):
            raise EcorcheError(
                f"the field {name!r} attracts, or is carried by a line",
                where=f"line {line!r}",
                remedy="An admissible line knows fields on joints that repel: make the line elastic,"
                " or take the field off it",
            )
        found += one_field.ellipsoids
    return tuple(found)
