"""Elastic action lines: nodes on bones, moving nodes between them, springs of tendon and belly.

Thesis sections 4.4.1, 4.5.1 and 4.7.1, and `docs/concepts/action-lines.md`: unit masses, each drawn along
its segments by

    f = Σ [k (‖L‖ − l) + c (L̇ · L̂)] L̂,   V̇ = −γ V + Σ f + fields.

What differs from print: damping has the sign that takes energy away; rest lengths are not the designed ones
over ten, which is no equilibrium where stiffness varies, but ``l = L − τ/k`` with one tension τ for the whole
line: a designed straight line then rests as it is, and fields alone bend it. τ is nine tenths of what the
first slack segment would need, so every spring stays drawn.

*Lines that share a moving node* are a bundle and are relaxed together, as one small sparse system
(`elimination`); a line alone is a bundle of one. A shared node feels every field that any of its lines
names, each once. Two lines that share a whole segment have two springs there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ecorche.errors import EcorcheError
from ecorche.muscles.lines.field_places import FieldBinding
from ecorche.muscles.lines.fields import FieldLaws

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int32]

DYNAMIC = -1
"""In place of a joint: a node that moves."""


@dataclass(frozen=True, eq=False)
class ElasticLine:
    """One line as designed at bind.

    Attributes:
        name: Of the line.
        nodes: At bind [m], shape (n, 3), n ≥ 2; usually on a straight line.
        joints: That carry attachment nodes, `DYNAMIC` of moving ones, shape (n,); both ends are carried.
        tendon: Which segments are tendon, shape (n − 1,); None: all are belly.
        fields: Names of the fields that act on its moving nodes.
        shared: Names of nodes, by number: nodes of one name are one node of several lines.
        stiffness: Of a belly segment [N/m].
        tendon_ratio: How many times stiffer a tendon's segment is.
        tension: τ [N]; None: nine tenths of what the first slack segment would need.
        damping: c of every segment [N s/m].
        drag: γ of every node [N s/m]; enough by default that no line swings over a bone.
    """

    name: str
    nodes: Floats
    joints: Sequence[int]
    tendon: Sequence[bool] | None = None
    fields: Sequence[str] = ()
    shared: Mapping[int, str] = field(default_factory=dict)
    stiffness: float = 300.0
    tendon_ratio: float = 10.0
    tension: float | None = None
    damping: float = 1.0
    drag: float = 20.0

    def springs(self) -> tuple[Floats, Floats, float]:
        """Stiffness [N/m] and rest length [m] of each segment, and the tension [N] at bind."""
        lengths = np.linalg.norm(np.diff(self.nodes, axis=0), axis=1)
        tendon = np.zeros(len(lengths), bool) if self.tendon is None else np.asarray(self.tendon, bool)
        stiffness = np.where(tendon, self.stiffness * self.tendon_ratio, self.stiffness)
        tension = 0.9 * float(np.min(stiffness * lengths)) if self.tension is None else self.tension
        return stiffness, lengths - tension / stiffness, tension

    def checked(self, joint_count: int, fields: Mapping[str, int]) -> ElasticLine:
        """This line; what makes no line is refused."""
        where, nodes, joints = f"line '{self.name}'", np.asarray(self.nodes, np.float64), self.joints

        def refuse(what: str, remedy: str) -> None:
            raise EcorcheError(what, where=where, remedy=remedy)

        if nodes.ndim != 2 or nodes.shape[1:] != (3,) or len(nodes) < 2 or not np.isfinite(nodes).all():
            refuse("its nodes are no places", "Give at least two nodes of three finite numbers")
        if len(joints) != len(nodes) or (self.tendon is not None and len(self.tendon) != len(nodes) - 1):
            refuse(
                f"{len(nodes)} nodes have {len(joints)} joints",
                "Give a joint for each node and a material for each segment between two",
            )
        if joints[0] == DYNAMIC or joints[-1] == DYNAMIC:
            refuse("an end of it hangs free", "Bind its first and last node to a joint")
        wrong = [j for j in joints if j != DYNAMIC and not 0 <= j < joint_count]
        if wrong:
            refuse(f"there is no joint {wrong[0]}", f"Bind its nodes to joints 0 to {joint_count - 1}")
        lost = [name for name in self.fields if name not in fields]
        if lost:
            refuse(f"there is no field '{lost[0]}'", f"Choose among {', '.join(fields) or 'none'}")
        if not np.linalg.norm(np.diff(nodes, axis=0), axis=1).min() > 1e-9:
            refuse("two neighbouring nodes coincide", "Spread its nodes along it")
        numbers = np.array([self.stiffness, self.tendon_ratio, self.damping, self.drag, self.tension or 0.0])
        if not (np.isfinite(numbers).all() and numbers[:2].min() > 0.0 and numbers[2:].min() >= 0.0):
            refuse("its springs are no springs", "Give a stiffness above zero, and no negative number")
        if not self.springs()[1].min() >= 0.0:
            refuse(
                f"a tension of {self.tension} N needs springs shorter than nothing",
                "Lower the tension, or make it stiffer",
            )
        return self


class ElasticPlan(NamedTuple):
    """All lines, laid out for compiled loops. Points are nodes, shared ones once: moving ones first.

    B bundles, D moving points in the order of their elimination, P points, S springs. Within a bundle numbers
    of points and blocks count from 0, and its attached points follow its moving ones.

    Attributes:
        rows: Borders of the bundles' moving points, shape (B + 1,).
        anchors: Borders of the bundles' attached points, shape (B + 1,), and which points these are.
        anchor_points: See ``anchors``.
        anchor_joints, anchor_places: Joint and bind place [m] of the points from D on, (P − D,), (P − D, 3).
        springs: Borders of the bundles' springs, shape (B + 1,).
        ends: The two points of a spring and its block, −1 at an attachment, within the bundle, (S, 3).
        stretch: Stiffness [N/m], rest length [m] and damping [N s/m] of a spring, (S, 3).
        drag: Of a bundle [N s/m], shape (B,).
        softest: Of a bundle's slowest way to move, roughly [N/m], shape (B,).
        columns, block_rows, update_starts, updates: See `block_solve`.
        acting_starts, acting: Borders and numbers of the fields that act on each moving point.
        carriers, carried: Two joints that carry a moving point's guess, (D, 2), and the second's share, (D,).
        levels, level_bundles: Borders of the levels, and their bundles.
        on_joints: Ellipsoids that joints carry.
        level_borders, on_lines: Borders by level, and ellipsoids to be placed before that level.
    """

    rows: Ints
    anchors: Ints
    anchor_points: Ints
    anchor_joints: Ints
    anchor_places: Floats
    springs: Ints
    ends: Ints
    stretch: Floats
    drag: Floats
    softest: Floats
    columns: Ints
    block_rows: Ints
    update_starts: Ints
    updates: Ints
    acting_starts: Ints
    acting: Ints
    carriers: Ints
    carried: Floats
    levels: Ints
    level_bundles: Ints
    on_joints: Ints
    level_borders: Ints
    on_lines: Ints


@dataclass(frozen=True, eq=False)
class ElasticLines:
    """All elastic lines of a body, compiled.

    Attributes:
        names: Of the L lines.
        starts: Borders of their N nodes, shape (L + 1,).
        points: The point of each node, shape (N,).
        bundles: The bundle of each line, shape (L,).
        designed: Points as designed, at bind [m], shape (P, 3).
        joint_count: Of the skeleton.
        plan, fields, binding: The same for compiled loops.
    """

    names: tuple[str, ...]
    starts: Ints
    points: Ints
    bundles: Ints
    designed: Floats
    joint_count: int
    plan: ElasticPlan
    fields: FieldLaws
    binding: FieldBinding

    def lengths(self, nodes: Floats) -> Floats:
        """Length of each segment [m] (..., N − L) of nodes (..., N, 3), line after line."""
        lengths: Floats = np.linalg.norm(np.diff(nodes, axis=-2), axis=-1)
        return np.delete(lengths, self.starts[1:-1] - 1, axis=-1)
