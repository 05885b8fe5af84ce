"""Points of muscles' paths that several joints move, as linear skinning moves the skin over them.

A point in flesh between joints, as in the fold of an armpit or on a nape, rides on none of them: held by one
it would leave the skin as the others bend. Its ``M − I`` is the mean of theirs by its shares.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecorche.errors import EcorcheError

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

Shares = tuple[tuple[int, float], ...]
"""The joints a path point moves with and how much each counts, together 1; empty for its one joint alone."""
SUM_TOLERANCE = 1e-6


@dataclass(frozen=True, eq=False)
class NodeShares:
    """Which nodes of paths several joints move: B nodes, K joints of theirs one after another.

    Attributes:
        nodes: Their numbers, rising, shape (B,).
        starts: Node b has the joints ``starts[b]`` to ``starts[b + 1] − 1``, shape (B + 1,).
        joints: Which joints, shape (K,).
        shares: How much each counts, of a node together 1, shape (K,).
    """

    nodes: Integers
    starts: Integers
    joints: Integers
    shares: Floats

    def __post_init__(self) -> None:
        if len(self.nodes):
            together = np.add.reduceat(self.shares, self.starts[:-1])
            if not (self.shares > 0.0).all() or np.abs(together - 1.0).max() > SUM_TOLERANCE:
                raise EcorcheError(
                    "the shares of the joints that move a point are not above zero and together 1",
                    where="muscle paths",
                    remedy="Divide them by their sum",
                )

    @property
    def owners(self) -> Integers:
        """The node each joint of theirs moves, shape (K,)."""
        return np.repeat(self.nodes, np.diff(self.starts))

    def mean(self, parts: Floats) -> Floats:
        """Of vectors one a joint of theirs (..., K, 3) the mean of each node, (..., B, 3)."""
        if not len(self.nodes):
            return np.zeros((*parts.shape[:-2], 0, 3))
        return np.asarray(np.add.reduceat(self.shares[:, None] * parts, self.starts[:-1], axis=-2))


def node_shares(shares: Sequence[Shares]) -> NodeShares:
    """The nodes among all that have shares, one tuple a node."""
    nodes = [node for node, own in enumerate(shares) if own]
    flat = [pair for node in nodes for pair in shares[node]]
    return NodeShares(
        nodes=np.array(nodes, np.int64),
        starts=np.cumsum([0, *(len(shares[node]) for node in nodes)]).astype(np.int64),
        joints=np.array([joint for joint, _ in flat], np.int64),
        shares=np.array([share for _, share in flat], np.float64),
    )
