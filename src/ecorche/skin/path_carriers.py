"""Which joints carry each part of a muscle's path, and how far they are those that carry the skin over it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecorche.muscles.sections import SectionCoordinates
from ecorche.skin.weights import SkinWeights

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PathCarriers:
    """The joints that carry the stations of M muscles' paths (`centre_lines.stations`).

    Attributes:
        joints: Joints of the two nodes each station lies between, shape (M, stations, 2).
        share: Its share of the way from one to the other, shape (M, stations).
    """

    joints: npt.NDArray[np.int64]
    share: Floats

    def overlap(
        self,
        muscle: int,
        at: SectionCoordinates,
        weights: SkinWeights,
        vertices: npt.NDArray[np.int64],
    ) -> Floats:
        """How much vertices and their places on a path follow the same joint, 0 to 1, (vertices,).

        Squares of common shares are summed: 1 where both ride on one joint, one half where both ride half on
        each of two. For between joints blended skin and a straight piece of a path part in a deep bend,
        however alike their shares.

        Args:
            muscle: Which muscle.
            at: Where the vertices lie in its sections.
            weights: Skin weights of all vertices.
            vertices: Which of them are asked about, shape (vertices,).
        """
        last = self.share.shape[1] - 1
        # a straight muscle has no stations to belong to: its t says the place
        place = np.where(at.place > 0.0, at.place, last * np.clip(at.t, 0.0, 1.0))
        before = np.clip(np.floor(place).astype(np.int64), 0, last - 1)
        rows = np.arange(len(vertices))
        first = weights.starts[vertices]
        counts = weights.starts[vertices + 1] - first
        row = np.repeat(rows, counts)
        entry = np.arange(len(row)) + np.repeat(first - np.cumsum(counts) + counts, counts)
        joint_count = 1 + max(int(self.joints.max(initial=0)), int(weights.joints.max(initial=0)))
        carried = np.zeros((len(vertices), joint_count))
        for station, part in ((before, 1.0 - (place - before)), (before + 1, place - before)):
            share = self.share[muscle, station]
            for end, of_it in ((0, 1.0 - share), (1, share)):
                np.add.at(carried, (rows, self.joints[muscle, station, end]), part * of_it)
        common = np.minimum(weights.weights[entry], carried[row, weights.joints[entry]])
        return np.asarray(np.bincount(row, common**2, minlength=len(vertices)), np.float64)
