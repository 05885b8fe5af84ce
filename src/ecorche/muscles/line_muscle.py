"""A muscle that is a mesh on action lines, at bind: what a person decides about it, and nothing derived.

Texts 002 (chapter 4) and 003. The lines are designed once; `Admissible` or `Elastic` says how they find
their way in a pose.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from ecorche.muscles.activation import Action
from ecorche.muscles.lines.admissible import BoundNode, CollisionNode, Node
from ecorche.muscles.lines.attached import Attached
from ecorche.muscles.lines.contraction import VolumeRule

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]

MESH_BULGE = 1.3
"""T_max of a muscle that is a mesh."""
End = Literal["origin", "insertion", "between"]


@dataclass(frozen=True)
class Admissible:
    """Lines drawn tight over bones; see `lines.admissible`."""

    subdivisions: int = 1
    tightening: int = 8


@dataclass(frozen=True)
class Elastic:
    """Springs that fields bend; see `lines.elastic` for what the numbers mean."""

    stiffness: float = 300.0
    tendon_ratio: float = 10.0
    tension: float | None = None
    damping: float = 1.0
    drag: float = 8.0


@dataclass(frozen=True, eq=False)
class ActionLine:
    """One action line, from the origin to the insertion.

    Attributes:
        nodes: As designed; the first and last are bound or mobile.
        tendon: Whether each segment is tendon; empty is all belly.
        fields: Names of the fields that act on its free nodes.
        shared: Names of nodes that elastic lines share, by number.
        references: Joints that carry the directions of both ends; None is those of the ends.
        blend: The insertion's share in the directions between; None is the share of the way there.
        outward: Where X points at the origin at bind, shape (3,); None is any direction across.
        curved: Whether it is a C1 curve through its nodes.
        isometric: σ of x and y a node at full activation, (n, 2); None follows the largest bulge.
        exclusive: Segments of branching tendons; empty is none.
        flesh: How thick the muscle is between an admissible line and bones it passes by [m].
    """

    nodes: tuple[Node, ...]
    tendon: tuple[bool, ...] = ()
    fields: tuple[str, ...] = ()
    shared: Mapping[int, str] = field(default_factory=dict)
    references: tuple[int, int] | None = None
    blend: float | None = None
    outward: Floats | None = None
    curved: bool = True
    isometric: Floats | None = None
    exclusive: tuple[bool, ...] = ()
    flesh: float = 0.0

    @property
    def joints(self) -> tuple[int, int]:
        """The joints of its two ends."""
        first, last = self.nodes[0], self.nodes[-1]
        assert not isinstance(first, CollisionNode)
        assert not isinstance(last, CollisionNode)
        return first.joint, last.joint

    def places(self) -> Floats:
        """Its nodes as designed [m], shape (n, 3); mobile ones at rest."""
        places = np.zeros((len(self.nodes), 3))
        fixed = [k for k, node in enumerate(self.nodes) if not isinstance(node, CollisionNode)]
        for k in fixed:
            node = self.nodes[k]
            assert not isinstance(node, CollisionNode)
            places[k] = node.place if isinstance(node, BoundNode) else node.at_rest
        for k, node in enumerate(self.nodes):
            if isinstance(node, CollisionNode):
                before = max(n for n in fixed if n < k)
                after = min(n for n in fixed if n > k)
                places[k] = places[before] + node.ratio * (places[after] - places[before])
                places[k] += 0.0 if node.offset is None else node.offset
        return places


@dataclass(frozen=True, eq=False)
class LineAttachment:
    """Where a bone holds a muscle.

    Attributes:
        sits: Which vertices sit on it, the joint that moves it, and how far it counts.
        end: Which part of the muscle that is.
        bone: Its name.
        source: What told of it.
    """

    sits: Attached
    end: End
    bone: str = ""
    source: str = ""


@dataclass(frozen=True, eq=False, repr=False)
class LineMuscle:
    """One muscle mesh on lines.

    Attributes:
        name: Its own name.
        muscle: What it is a part of.
        group: What it is one of.
        side: ``"left"``, ``"right"``, ``"middle"``, or empty where nobody knows.
        surface: Name of its mesh; muscles may share one.
        points: Its vertices as modelled [m], shape (V, 3).
        triangles: Shape (T, 3).
        lines: Its action lines.
        path: How they find their way.
        attachments: What holds it; none: what lies past the ends of its lines goes with their joints.
        volume: Whether closed meshes keep their volume.
        largest_bulge: T_max.
        max_force: F_max [N].
        actions: What it does to joints, strongest first.
        doubts: What was not certain when it was built.
        room: To the nearest place of the skin from each vertex [m], (V, 3), see `lines.room`; None: it swells
            freely.
    """

    name: str
    points: Floats
    triangles: Ints
    lines: tuple[ActionLine, ...]
    surface: str = "surface"
    muscle: str = ""
    group: str = ""
    side: Literal["left", "right", "middle", ""] = ""
    path: Admissible | Elastic = field(default_factory=Admissible)
    attachments: tuple[LineAttachment, ...] = ()
    volume: VolumeRule = "exact"
    largest_bulge: float = MESH_BULGE
    max_force: float = 0.0
    actions: tuple[Action, ...] = ()
    doubts: tuple[str, ...] = ()
    room: Floats | None = None

    def __repr__(self) -> str:
        return f"LineMuscle({self.name!r}, {len(self.lines)} lines, {len(self.points)} vertices)"

    def line_name(self, number: int) -> str:
        """What messages call one of its lines."""
        return self.name if len(self.lines) == 1 else f"{self.name}, line {number + 1}"
