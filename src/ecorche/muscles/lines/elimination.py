"""In which order the nodes of a bundle are eliminated, and what that fills in: done once, for every solve.

A line is a chain: its matrix is block-tridiagonal, and elimination from end to end fills nothing in. Lines
that share nodes make a tree or a net of chains; there a node with the fewest neighbours left goes next, so
chains are eaten up from their free ends and the shared nodes come last. One code so solves both: for a chain
it is the block-tridiagonal factorisation, step by step.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Elimination:
    """How to factorise a symmetric matrix of blocks, L D Lᵀ.

    Attributes:
        order: The nodes in the order in which they are eliminated.
        slots: For each place in that order the places of its later neighbours; the blocks below the diagonal
            are numbered through, in this order.
        updates: For each place what its elimination changes: two block numbers of its column and the block
            number, or −1 − place for a diagonal one, from which their product is taken.
    """

    order: list[int]
    slots: list[list[int]]
    updates: list[list[tuple[int, int, int]]]

    def slot(self, one: int, other: int) -> int:
        """The number of the block between two places."""
        first, second = min(one, other), max(one, other)
        return sum(len(rows) for rows in self.slots[:first]) + self.slots[first].index(second)


def elimination(count: int, pairs: Iterable[tuple[int, int]]) -> Elimination:
    """For ``count`` nodes of which ``pairs`` are joined by springs."""
    joined: list[set[int]] = [set() for _ in range(count)]
    for a, b in pairs:
        if a != b:
            joined[a].add(b)
            joined[b].add(a)
    left, order, later = set(range(count)), list[int](), list[set[int]]()
    while left:
        node = min(left, key=lambda n: (len(joined[n]), n))
        left.remove(node)
        order.append(node)
        later.append(set(joined[node]))
        for other in joined[node]:
            joined[other] |= joined[node]
            joined[other] -= {other, node}
    place = {node: n for n, node in enumerate(order)}
    slots = [sorted(place[node] for node in nodes) for nodes in later]
    numbers, number = dict[tuple[int, int], int](), 0
    for column, rows in enumerate(slots):
        for row in rows:
            numbers[column, row] = number
            number += 1
    updates = [
        [
            (numbers[column, a], numbers[column, b], -1 - a if a == b else numbers[a, b])
            for i, a in enumerate(rows)
            for b in rows[i:]
        ]
        for column, rows in enumerate(slots)
    ]
    return Elimination(order, slots, updates)
