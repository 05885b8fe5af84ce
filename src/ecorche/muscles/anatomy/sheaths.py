"""Which nodes of an action line are held on the way: by sites, by sheaths of tendons, by the flesh around.

Between two nodes that are held a line is drawn straight, over the bones in its way. That is how a muscle
crosses one joint. One that crosses several would leave the limb as they bend, so it is held on the bones in
between wherever it lies on them, as fascia does, and tendons are held wherever they lie on a bone, as
sheaths and retinacula do. About a joint such nodes follow it only in part, more and more from the one bone
to the other: on the inner side of a bend two nodes that different bones hold would else pass each other, and
the line would run back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ecorche.muscles.anatomy.anatomy_muscle import AnatomyLine
from ecorche.muscles.anatomy.holds import Hold, with_ancestors
from ecorche.muscles.anatomy.node_places import FINE, arc_lengths, resampled
from ecorche.skeleton.skeleton import Skeleton

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

SHEATH = 0.03
"""Share of a line's length up to which its tendon lies on a bone, and is held there."""
CORD = 0.2
"""Share of its thickest section below which a muscle is a cord like a tendon, whatever it is called."""
ALONG = 0.12
"""Share of a line's length up to which a bone between those of its ends has the muscle lie along it."""
BEND = np.tan(np.radians(55.0))
"""Nodes nearer to a joint along the line than so many times the line's distance from it follow it in part:
enough for a bend of 110°."""


def with_held_nodes(
    lines: Sequence[AnatomyLine], between: Sequence[Hold], skeleton: Skeleton
) -> tuple[AnatomyLine, ...]:
    """The lines of one muscle, side by side, with all nodes held that go rigidly with their joint.

    The muscle lies on a bone where the nearest of its lines does: so its lines are held together.

    Args:
        lines: With only their ends held.
        between: What holds the muscle on the way.
        skeleton: The joints.
    """
    return tuple(_held(line, lines, between, skeleton) for line in lines)


def _held(
    line: AnatomyLine, lines: Sequence[AnatomyLine], between: Sequence[Hold], skeleton: Skeleton
) -> AnatomyLine:
    nodes, joints = line.nodes, line.joints.copy()
    cord = np.concatenate([[True], line.tendon]) & np.concatenate([line.tendon, [True]])
    cord |= line.area < CORD * line.area.max()
    gap = _nearest_line(line, lines)
    on_the_way = (joints != joints[0]) & (joints != joints[-1])
    held = (cord & (gap < SHEATH * line.length)) | (on_the_way & (gap < ALONG * line.length))
    above, share = np.full(len(nodes), -1), np.ones(len(nodes))
    for k, (head, other, part) in _about_joints(nodes, joints, skeleton).items():
        if held[k] and 0 < k < len(nodes) - 1:
            joints[k], above[k], share[k] = head, other, part
            held[k] = other >= 0
    spacing = line.length / (len(nodes) - 1)
    for hold in between:
        away = np.linalg.norm(nodes - hold.place, axis=1)
        node = int(np.argmin(away))
        if away[node] < spacing and line.joints[node] == hold.joint:
            held[node] = True
            joints[node], above[node], share[node] = hold.joint, -1, 1.0
    held[[0, -1]] = True
    return replace(line, joints=joints, held=held, above=above, share=share)


def _nearest_line(line: AnatomyLine, lines: Sequence[AnatomyLine]) -> Floats:
    """How near the muscle is to the bones of each node's joint [m], (n,): as the nearest of its lines."""
    share = arc_lengths(line.nodes) / line.length
    nearest = line.clearance.copy()
    for other in lines:
        theirs = arc_lengths(other.nodes) / other.length
        row = np.abs(theirs[None] - share[:, None]).argmin(axis=1)
        same = other.joints[row] == line.joints
        nearest[same] = np.minimum(nearest, other.clearance[row])[same]
    return nearest


def _about_joints(nodes: Floats, joints: Ints, skeleton: Skeleton) -> dict[int, tuple[int, int, float]]:
    """Nodes beside a joint that the line crosses: that joint, the one above, and how much of it they follow.

    Where two joints are no links of one chain the one above is −1.
    """
    along = arc_lengths(nodes)
    fine = resampled(nodes, FINE)
    reached = np.linspace(0.0, along[-1], FINE)
    found: dict[int, tuple[int, int, float]] = {}
    nearest = np.full(len(nodes), np.inf)
    for k in np.flatnonzero(joints[1:] != joints[:-1]):
        before, after = int(joints[k]), int(joints[k + 1])
        down = before in with_ancestors(after, skeleton)
        below, above = (after, before) if down else (before, after)
        chained = above in with_ancestors(below, skeleton)
        away = np.linalg.norm(fine - skeleton.bind_world[below, :3, 3], axis=1)
        ahead = (along - reached[away.argmin()]) / max(BEND * float(away.min()), 1e-9)
        for node in np.flatnonzero((np.abs(ahead) < 1.0) & (np.abs(ahead) < nearest)).tolist():
            nearest[node] = abs(ahead[node])
            part = 0.5 + 0.5 * float(ahead[node] if down else -ahead[node])
            found[node] = (below, above, part) if chained else (int(joints[node]), -1, 1.0)
    return found
