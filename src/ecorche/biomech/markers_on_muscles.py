"""Which marker lies on which muscle: the muscle beneath it, frame by frame, the nearest of each segment.

A. Murai and others, 2016, section 3.2: in each frame, for each segment of a muscle's path between
neighbouring origin, via points and insertion, so many markers nearest to it. Changed here: a marker counts
for one muscle only, the one whose surface, by its rough radius, is nearest beneath it. As printed a marker is
nearest to deep muscles too, which it says nothing about.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecorche.errors import EcorcheError
from ecorche.muscles.around_path import PathFrames
from ecorche.muscles.spindle import Bools, Floats

Ints = npt.NDArray[np.int64]

REACH = 0.08
"""A marker further than this from a path of unknown radius lies on no muscle [m]."""
LEAST_REACH = 0.02
"""The same from the rough surface of a muscle [m], where that is thinner than this; else its radius."""
PER_SEGMENT = 4
"""Markers of each segment that count, the nearest ones."""
THROUGH = 1e-3
"""A path nearer to a joint's centre than this runs through it [m]."""


@dataclass(frozen=True, eq=False)
class Markers:
    """Markers, or the vertices of sculpted or scanned skins, over F frames.

    Attributes:
        positions: [m], shape (F, K, 3).
        seen: Which of them were seen, shape (F, K); None for all. Positions of others do not count.
    """

    positions: Floats
    seen: Bools | None = None

    def __post_init__(self) -> None:
        shape = self.positions.shape
        if self.positions.ndim != 3 or shape[2] != 3 or 0 in shape:
            raise EcorcheError(
                f"the markers have shape {shape}", remedy="Give at least one of each: (frames, markers, 3)"
            )
        if self.seen is not None and self.seen.shape != shape[:2]:
            raise EcorcheError(
                f"which markers are seen has shape {self.seen.shape}",
                remedy=f"Give (frames, markers), here {shape[:2]}",
            )
        bad = ~np.isfinite(self.positions).all(axis=2)
        if self.seen is not None:
            bad &= self.seen
        if bad.any():
            frame, marker = (int(i) for i in np.unravel_index(int(np.argmax(bad)), bad.shape))
            raise EcorcheError(
                f"its position is not a finite number ({int(bad.sum())} such positions)",
                where=f"marker {marker}, frame {frame}",
                remedy="Fill the gap, or say by `seen` that it was not seen there",
            )

    @property
    def frame_count(self) -> int:
        """Number of frames."""
        return len(self.positions)


@dataclass(frozen=True, eq=False)
class Assigned:
    """N marker positions on their spindles, in order of spindle, frame, segment and distance.

    Attributes:
        spindle: Number of the spindle, (N,).
        frame: (N,). marker: (N,).
        along: Share of the path's length, (N,).
        theta: From the polar axis [rad], (N,).
        distance: From the path [m], (N,).
        alone: Markers that lie on no muscle in any frame, ascending.
    """

    spindle: Ints
    frame: Ints
    marker: Ints
    along: Floats
    theta: Floats
    distance: Floats
    alone: Ints


def markers_on_muscles(
    paths: Sequence[PathFrames],
    markers: Markers,
    radii: npt.ArrayLike = 0.0,
    *,
    per_segment: int = PER_SEGMENT,
    reach: float | None = None,
) -> Assigned:
    """Assign markers to the spindles beneath them.

    Args:
        paths: Of the spindles, as many frames as there are of the markers.
        markers: The markers.
        radii: Rough radii of the spindles [m], one number or (M,): a thick muscle lies nearer beneath a
            marker than its path tells.
        per_segment: How many markers of each segment count, the nearest ones.
        reach: How far from a muscle's rough surface a marker may lie [m]; None is `REACH` where no radius is
            given, else the radius, and `LEAST_REACH` at least.
    """
    if (reach is not None and not reach > 0.0) or per_segment < 1:
        raise EcorcheError(
            f"reach {reach} or {per_segment} markers a segment is not possible",
            remedy="Give a reach above 0 m and at least 1 marker",
        )
    frames, count = markers.positions.shape[:2]
    seen = np.ones((frames, count), np.bool_) if markers.seen is None else markers.seen
    places = np.where(seen[..., None], markers.positions, 0.0)
    rough = np.broadcast_to(np.asarray(radii, np.float64), (len(paths),))
    limits = (
        np.where(rough > 0.0, np.maximum(rough, LEAST_REACH), REACH) if reach is None else rough * 0.0 + reach
    )
    best = np.full((frames, count), np.inf)
    owner = np.full((frames, count), -1)
    along, theta, distance = (np.zeros((frames, count)) for _ in range(3))
    segment = np.zeros((frames, count), np.int64)
    for number, path in enumerate(paths):
        if len(path) != frames:
            raise EcorcheError(
                f"a path has {len(path)} frames and the markers have {frames}",
                where=f"muscle {number}",
                remedy="Give both over the same frames",
            )
        limit = float(limits[number])
        near = _near(path, places, seen, limit + float(rough[number]))
        if not len(near):
            continue
        found = path.around(places[:, near])
        depth = found.distance - rough[number]
        here = best[:, near]
        mine = seen[:, near] & ~found.past & (depth < np.minimum(here, limit))
        f, k = np.nonzero(mine)
        to = (f, near[k])
        best[to], owner[to] = depth[f, k], number
        along[to], theta[to], distance[to] = found.along[f, k], found.theta[f, k], found.distance[f, k]
        segment[to] = found.segment[f, k]
    alone = np.flatnonzero((owner < 0).all(axis=0))
    f, k = np.nonzero(owner >= 0)
    order = np.lexsort((k, best[f, k], segment[f, k], f, owner[f, k]))
    f, k = f[order], k[order]
    keys = np.stack([owner[f, k], f, segment[f, k]], axis=1)
    new = np.ones(len(f), np.bool_)
    new[1:] = (keys[1:] != keys[:-1]).any(axis=1)
    rank = np.arange(len(f)) - np.maximum.accumulate(np.where(new, np.arange(len(f)), 0))
    keep = rank < per_segment
    f, k = f[keep], k[keep]
    return Assigned(owner[f, k], f, k, along[f, k], theta[f, k], distance[f, k], alone)


def joint_on_path(path: PathFrames, centres: Floats) -> tuple[int, int] | None:
    """Frame and joint where a path runs through a joint's centre, between its ends; None where it does not.

    There the muscle has no lever, nothing says on which side of the joint it lies, and its polar angle jumps.

    Args:
        path: Of the muscle.
        centres: Of the joints [m], (F, J, 3).
    """
    found = path.around(centres)
    ends = np.minimum(found.along, 1.0 - found.along) * path.lengths[:, None]
    through = (found.distance < THROUGH) & (ends > THROUGH)
    if not through.any():
        return None
    frame, joint = np.unravel_index(int(np.argmax(through)), through.shape)
    return int(frame), int(joint)


def _near(path: PathFrames, places: Floats, seen: Bools, reach: float) -> Ints:
    """Markers that come within reach of the path's box in some frame; the others need not be asked."""
    low, high = path.nodes.min(axis=1) - reach, path.nodes.max(axis=1) + reach
    inside = ((places >= low[:, None]) & (places <= high[:, None])).all(axis=2)
    return np.flatnonzero((inside & seen).any(axis=0))
