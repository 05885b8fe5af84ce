"""First and second neighbours of vertices."""

from __future__ import annotations

import numpy as np

from ecorche.skin.two_rings import two_rings


def test_neighbours_are_those_of_two_steps_along_edges_by_the_shortest_way() -> None:
    rng = np.random.default_rng(3)
    fan = np.stack([np.zeros(149, np.int64), np.arange(1, 150), np.arange(2, 151)], axis=1)
    triangles = np.concatenate([fan, rng.integers(20, 60, (30, 3))])
    points = np.concatenate([rng.normal(size=(151, 3)), [[9.0, 9.0, 9.0]]])  # the last has no triangle
    rings = two_rings(points, triangles)
    edges: dict[int, dict[int, float]] = {vertex: {} for vertex in range(152)}
    for corners in triangles.tolist():
        for a, b in zip(corners, corners[1:] + corners[:1], strict=True):
            if a != b:
                edges[a][b] = edges[b][a] = float(np.linalg.norm(points[a] - points[b]))
    place = rings.place
    for vertex in range(152):
        way = dict(edges[vertex])
        for near, first in edges[vertex].items():
            for beyond, second in edges[near].items():
                way[beyond] = min(way.get(beyond, np.inf), first + second)
        way[vertex] = 0.5 * min(edges[vertex].values(), default=1.0)
        wanted = sorted(way.items(), key=lambda one: one[1])[:96]
        row = slice(rings.starts[place[vertex]], rings.starts[place[vertex] + 1])
        assert rings.members[row].tolist() == [int(place[number]) for number, _ in wanted]
        np.testing.assert_allclose(rings.weights[row], [1.0 / way for _, way in wanted], rtol=1e-6)
