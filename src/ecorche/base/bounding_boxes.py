"""A tree of boxes round many small things: a query skips whatever lies in a box it cannot concern.

Nodes are numbered as in a heap: the root is 1, the children of n are 2n and 2n+1, so no links are stored.
Every node of a level holds the same number of places and is cut at the median along its longest side,
which takes one partition a level. Where the members do not fill all places some are repeated; that changes
no answer. When members move, `fitted` gives the boxes anew; the tree itself stays.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

LARGEST_LEAF = 4


@dataclass(frozen=True, eq=False)
class BoxTree:
    """Members in the order of the tree's leaves, and a box a node.

    Attributes:
        members: Member at each place; leaf ``n`` holds ``leaf_size`` places from
            ``(n - leaf_count) * leaf_size`` on, shape (places,).
        boxes: Lower and upper corner of each node [m], row 0 unused, shape (2 * leaf_count, 2, 3).
    """

    members: Ints
    boxes: Floats

    @property
    def leaf_count(self) -> int:
        """How many leaves there are: the number of the first of them."""
        return len(self.boxes) // 2

    def fitted(self, lower: Floats, upper: Floats) -> BoxTree:
        """The tree with boxes round the members' lower and upper corners [m], (members, 3) each."""
        return BoxTree(self.members, _boxes(lower[self.members], upper[self.members], self.leaf_count))


def box_tree(lower: Floats, upper: Floats, largest_leaf: int = LARGEST_LEAF) -> BoxTree:
    """A tree of the members with these lower and upper corners [m], (members, 3) each; at least one."""
    count = len(lower)
    leaves = 1
    while leaves * largest_leaf < count:
        leaves *= 2
    leaf_size = -(-count // leaves)
    members = np.arange(leaves * leaf_size) % count
    centres = np.ascontiguousarray((lower + upper)[members].T)
    nodes = 1
    while nodes < leaves:
        blocks = centres.reshape(3, nodes, -1)
        size = blocks.shape[2]
        longest = (blocks.max(axis=2) - blocks.min(axis=2)).argmax(axis=0)
        along = blocks[longest, np.arange(nodes)]
        order = np.argpartition(along, size // 2, axis=1) + size * np.arange(nodes)[:, None]
        members, centres = members[order.reshape(-1)], centres.take(order.reshape(-1), axis=1)
        nodes *= 2
    return BoxTree(members, _boxes(lower[members], upper[members], leaves))


def _boxes(lower: Floats, upper: Floats, leaves: int) -> Floats:
    """Boxes (2 * leaves, 2, 3) of all nodes, from corners of the places in order (places, 3)."""
    boxes = np.zeros((2 * leaves, 2, 3))
    boxes[leaves:, 0] = lower.reshape(leaves, -1, 3).min(axis=1)
    boxes[leaves:, 1] = upper.reshape(leaves, -1, 3).max(axis=1)
    first = leaves
    while first > 1:
        below = boxes[first : 2 * first].reshape(first // 2, 2, 2, 3)
        boxes[first // 2 : first, 0] = below[:, :, 0].min(axis=1)
        boxes[first // 2 : first, 1] = below[:, :, 1].max(axis=1)
        first //= 2
    return boxes
