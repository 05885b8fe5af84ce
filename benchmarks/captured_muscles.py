"""The twenty muscles of `captured_lines` given meshes: spindles about their lines, flat about two."""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt

from benchmarks.captured_lines import crossing
from ecorche.base.rotations import normalise
from ecorche.muscles.line_muscle import ActionLine, Elastic, LineMuscle
from ecorche.muscles.lines.admissible import BoundNode, CollisionNode
from ecorche.muscles.lines.elastic import ElasticLine
from ecorche.muscles.lines.elastic_compile import elastic_lines
from ecorche.muscles.lines.equilibrium import rest_at_bind
from ecorche.muscles.lines.fields import Field
from ecorche.skeleton.skeleton import Skeleton

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]

RINGS, AROUND = 33, 12
"""Some four hundred vertices, as many as a muscle of the dog has."""
RADIUS, AT_ENDS = 0.018, 0.3
"""Of the belly [m], and that share of it at the ends."""


def muscles_on(skeleton: Skeleton) -> tuple[list[LineMuscle], dict[str, Field]]:
    """The muscles, and the fields that bend their lines, by name."""
    lines, fields = zip(*crossing(skeleton, 1), strict=True)
    known = [field for some in fields for field in some]
    compiled = elastic_lines(lines, known, skeleton.joint_count)
    nodes, _, _ = rest_at_bind(compiled)
    resting = np.split(nodes, compiled.starts[1:-1])
    own: dict[str, list[int]] = {}
    for number, line in enumerate(lines):
        own.setdefault(re.sub(r" \d$", "", line.name), []).append(number)
    muscles = [
        LineMuscle(
            name,
            *_spindle([resting[k] for k in numbers]),
            tuple(_action_line(lines[k]) for k in numbers),
            path=Elastic(),
        )
        for name, numbers in own.items()
    ]
    return muscles, {field.name: field for field in known}


def _action_line(line: ElasticLine) -> ActionLine:
    places, last = np.asarray(line.nodes, np.float64), len(line.nodes) - 1
    inner = [CollisionNode(k / last) for k in range(1, last)]
    ends = [BoundNode(places[k], int(line.joints[k])) for k in (0, last)]
    return ActionLine((ends[0], *inner, ends[1]), tuple(line.tendon or ()), tuple(line.fields))


def _spindle(lines: list[Floats]) -> tuple[Floats, Ints]:
    """A closed mesh about the middle of some lines (n, 3), as much broader as they lie apart."""
    share, at = np.linspace(0.0, 1.0, RINGS), np.linspace(0.0, 1.0, len(lines[0]))
    fine = np.array([[np.interp(share, at, line[:, i]) for i in range(3)] for line in lines]).swapaxes(1, 2)
    middle, apart = fine.mean(axis=0), 0.5 * (fine[-1] - fine[0])
    along = normalise(np.gradient(middle, axis=0))
    across = apart if len(lines) > 1 else np.broadcast_to([0.3, 0.2, 1.0], along.shape)
    x = normalise(across - np.sum(across * along, axis=1, keepdims=True) * along)
    y = np.cross(along, x)
    radius = RADIUS * (AT_ENDS + (1.0 - AT_ENDS) * np.sin(np.pi * share) ** 2)
    broad = radius + np.linalg.norm(apart, axis=1)
    turn = 2.0 * np.pi * np.arange(AROUND) / AROUND
    ring = middle[:, None] + (broad[:, None] * np.cos(turn))[..., None] * x[:, None]
    ring += (radius[:, None] * np.sin(turn))[..., None] * y[:, None]
    k, last = np.arange(AROUND), (RINGS - 1) * AROUND
    after, triangles = (k + 1) % AROUND, []
    for a in range(0, last, AROUND):
        b = a + AROUND
        triangles += [np.stack([a + k, a + after, b + after], 1), np.stack([a + k, b + after, b + k], 1)]
    poles = RINGS * AROUND + np.array([0, 1])
    triangles += [np.stack([0 * k + poles[0], after, k], 1)]
    triangles += [np.stack([0 * k + poles[1], last + k, last + after], 1)]
    return np.concatenate([ring.reshape(-1, 3), middle[[0, -1]]]), np.concatenate(triangles).astype(np.int32)
