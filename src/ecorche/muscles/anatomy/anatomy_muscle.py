"""A muscle of an anatomy folder, ready to be posed: surface, action lines, what holds it, what is doubted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecorche.muscles.anatomy.folder import AnatomyMesh

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Attachment:
    """Where one bone holds a muscle.

    Attributes:
        bone: Name of the bone.
        joint: The joint the bone moves with.
        place: Where [m], shape (3,).
        vertices: The muscle's vertices that go with the bone, rising, shape (n,).
        source: ``"site"``, ``"touch"``, ``"nearest"`` or ``"ahead"``: what told of it. A bone ahead is
            beyond a gap that a tendon crosses: no vertex goes with it.
    """

    bone: str
    joint: int
    place: Floats
    vertices: Ints
    source: str


@dataclass(frozen=True, eq=False, repr=False)
class AnatomyLine:
    """One action line at bind, from the origin to the insertion.

    Attributes:
        nodes: Its nodes [m], shape (n, 3); the first and last are attachment nodes.
        joints: The joint each node goes with at bind, shape (n,). At the ends the joint of the bone that
            holds it; between them that of the nearest bone on the way from the one joint to the other, never
            turning back.
        clearance: How far each node is from that bone's surface [m], shape (n,).
        held: Whether a node is bound: the two ends, and nodes at a hold on the way, shape (n,). The others
            may slide and be pushed out of deflectors.
        tendon: Whether each segment is tendon, shape (n − 1,).
        area: Area of the muscle's section that the line stands for at each node [m²], shape (n,).
        origin_bone, insertion_bone: Names of the bones at its ends.
        above: For held nodes beside a joint, the joint above it from which they follow it in part, −1 for
            others, shape (n,).
        share: How much of its joint's turning since bind each follows, shape (n,).
    """

    nodes: Floats
    joints: Ints
    clearance: Floats
    held: Bools
    tendon: Bools
    area: Floats
    origin_bone: str
    insertion_bone: str
    above: Ints
    share: Floats

    @property
    def length(self) -> float:
        """Along its nodes [m]."""
        return float(np.linalg.norm(np.diff(self.nodes, axis=0), axis=1).sum())

    def __repr__(self) -> str:
        return f"AnatomyLine({self.origin_bone} → {self.insertion_bone}, {len(self.nodes)} nodes)"


@dataclass(frozen=True, eq=False, repr=False)
class AnatomyMuscle:
    """One muscle with its lines.

    Attributes:
        name: As its file is named; of one that was made as a mirror image, the other's with its side changed.
        mesh: Its surface at bind.
        lines: Its action lines, side by side.
        origin, insertion: What holds its ends, at least one each.
        between: What holds it on the way.
        report: Sentences about what was doubtful; empty where everything was plain.
    """

    name: str
    mesh: AnatomyMesh
    lines: tuple[AnatomyLine, ...]
    origin: tuple[Attachment, ...]
    insertion: tuple[Attachment, ...]
    between: tuple[Attachment, ...] = ()
    report: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"AnatomyMuscle({self.name!r}, {len(self.lines)} lines, {len(self.mesh.points)} vertices)"
