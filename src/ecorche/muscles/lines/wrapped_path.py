"""Paths through points that wrap round surfaces where they meet them: cylinders of a length, and ellipsoids.

The rules are those of OpenSim's wrap objects, so that models made there mean the same here; ways round are
exact, by `wrapping` for cylinders and `geodesic` for ellipsoids.

- A segment with an end inside a surface goes straight through it.
- *Cylinder without a side*: a segment that cuts it goes the shorter way round.
- *Cylinder with a side* (half of it, along x or y): a segment that cuts it goes round by that half. One
  that does not goes round all the same if it passes on the other side: with one end on the half's side,
  where its point nearest to the axis is not; with both ends on the other side, always.
- Where both points of contact lie beyond a cylinder's ends it is not there.
- *Ellipsoid*: a segment that cuts it goes round; it is laid over the given half, or else the near side, and
  drawn tight. A thread that finds no hold there slides to where it does. (OpenSim keeps it in the plane in
  which it was laid, where it is not the shortest.)
- Of a path's segments the first that cuts a surface wraps round it, else the one that grows least.

With several surfaces each is wrapped with the others' contacts standing, in turn, until nothing changes: the
path then is tight. (OpenSim stops when a turn changes less than half a millimetre, and where there is but one
surface it does not slide contacts along a cylinder until the path is straight when unrolled.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np
import numpy.typing as npt

from ecorche.base.transforms import inverse
from ecorche.errors import EcorcheError
from ecorche.muscles.lines.geodesic import Detour, over_ellipsoid, side_of_chord
from ecorche.muscles.root_curves import one_curve
from ecorche.muscles.wrapping import AFTER, ANGLE, BEFORE, CYLINDER, FIRST, SPEED, WRAPPED

Floats = npt.NDArray[np.float64]

TURNS = 60
"""Rounds over several surfaces at most."""
ENOUGH = 1e-12
"""A path is tight when a round changes its length by less [m]."""


@dataclass(frozen=True)
class WrapSurface:
    """A surface in its own frame.

    Attributes:
        kind: ``"cylinder"`` about z, or ``"ellipsoid"``.
        sizes: Radii [m]; of a cylinder radius, radius and half its length.
        side: Axis and sign of the half that is wrapped round, or None.
        active: Whether it is there at all.
    """

    kind: Literal["cylinder", "ellipsoid"]
    sizes: tuple[float, float, float]
    side: tuple[int, int] | None = None
    active: bool = True

    def checked(self, where: str) -> WrapSurface:
        """This surface; what makes none is refused."""
        if not (np.isfinite(self.sizes).all() and min(self.sizes) > 0.0):
            raise EcorcheError(
                f"the sizes {self.sizes} make no {self.kind}", where=where, remedy="Give lengths above zero"
            )
        return self


@dataclass(frozen=True, eq=False)
class PlacedSurface:
    """A surface in a pose, and the part of a path that may wrap round it.

    Attributes:
        surface: Its shape.
        world_from_surface: Where it is, (4, 4).
        first, last: Points of the path, by number, between which it may wrap.
    """

    surface: WrapSurface
    world_from_surface: Floats
    first: int
    last: int


@dataclass(frozen=True, eq=False)
class TightPath:
    """A path in a pose.

    Attributes:
        places: Points and contacts in order [m], (n, 3).
        carriers: What carries each: −1 for a point of the path, else the number of a surface, (n,).
        arcs: Length over surfaces between a place and the next, 0 where it is straight [m], (n − 1,).
        length: Of the whole [m].
        settled: Whether the rounds over several surfaces came to an end.
    """

    places: Floats
    carriers: npt.NDArray[np.int64]
    arcs: Floats
    length: float
    settled: bool = True


def tight_path(points: Floats, surfaces: Sequence[PlacedSurface], name: str = "") -> TightPath:
    """The path through points (n, 3) [m], drawn tight round surfaces in its way."""
    if len(points) < 2 or not np.isfinite(points).all():
        raise EcorcheError(
            "its points are fewer than two, or not finite",
            where=f"path {name!r}",
            remedy="Check its points and the pose",
        )
    frames = [(one.world_from_surface, inverse(one.world_from_surface)) for one in surfaces]
    places, carriers = list(points), [-1] * len(points)
    numbers = list(range(len(points)))
    arcs = [0.0] * len(surfaces)
    last, settled = np.inf, False
    order = list(range(len(surfaces)))
    for turn in range(TURNS if len(surfaces) > 1 else 1):
        blocked = [False] * len(surfaces)
        for k in order:
            if k in carriers:
                at = carriers.index(k)
                del places[at : at + 2], carriers[at : at + 2], numbers[at : at + 2]
            at, found, blocked[k] = _best(places, carriers, numbers, surfaces[k], frames[k], name)
            if found is not None:
                frame = frames[k][0]
                contacts = [frame[:3, :3] @ end + frame[:3, 3] for end in (found.start, found.end)]
                places[at:at], carriers[at:at], numbers[at:at] = contacts, [k, k], [-1, -1]
                arcs[k] = found.arc
        length = _length(places, carriers, arcs)
        settled = len(surfaces) < 2 or abs(length - last) < ENOUGH
        if settled:
            break
        last = length
        if turn == 0 and 0 not in carriers and blocked[1]:
            order[:2] = 1, 0  # a contact may have stood inside the second: begin with that one
    length = _length(places, carriers, arcs)
    along = [arcs[a] if a == b >= 0 else 0.0 for a, b in pairwise(carriers)]
    return TightPath(np.array(places), np.array(carriers), np.array(along), length, settled)


def _length(places: Sequence[Floats], carriers: Sequence[int], arcs: Sequence[float]) -> float:
    total = 0.0
    for n in range(len(places) - 1):
        a, b = carriers[n], carriers[n + 1]
        total += arcs[a] if a == b >= 0 else float(np.linalg.norm(places[n + 1] - places[n]))
    return total


def _best(
    places: Sequence[Floats],
    carriers: Sequence[int],
    numbers: Sequence[int],
    one: PlacedSurface,
    frames: tuple[Floats, Floats],
    name: str,
) -> tuple[int, Detour | None, bool]:
    """Which segment wraps round a surface: where its contacts go, how, and whether an end stood inside."""
    into = frames[1]
    best: tuple[float, int, Detour] | None = None
    inside = False
    for at in range(numbers.index(one.first), numbers.index(one.last)):
        if carriers[at] == carriers[at + 1] >= 0:
            continue
        p, q = (into[:3, :3] @ place + into[:3, 3] for place in (places[at], places[at + 1]))
        detour, cuts, within = _round(one.surface, p, q, name)
        inside = inside or within
        if detour is None:
            continue
        ends = np.linalg.norm(detour.start - p) + np.linalg.norm(q - detour.end)
        grows = float(ends + detour.arc - np.linalg.norm(q - p))
        if cuts:
            return at + 1, detour, inside
        if best is None or grows < best[0]:
            best = grows, at + 1, detour
    return (0, None, inside) if best is None else (best[1], best[2], inside)


def _round(surface: WrapSurface, p: Floats, q: Floats, name: str) -> tuple[Detour | None, bool, bool]:
    """How a segment goes round a surface, both in its frame; whether it cuts it, and has an end inside."""
    radii = np.array(surface.sizes)
    if surface.kind == "cylinder":
        return _round_cylinder(surface, p, q)
    if min(np.sum((p / radii) ** 2), np.sum((q / radii) ** 2)) < 1.0 - 1e-4:
        return None, False, True
    near = side_of_chord(p, q, radii)
    if near is None:
        return None, False, False
    by = near.copy()
    if surface.side is not None:
        axis, sign = surface.side
        by[axis] = sign * abs(by[axis])
    detour = over_ellipsoid(p, q, radii, by)
    if detour is None:
        detour = over_ellipsoid(p, q, radii, near)
    if detour is None:
        raise EcorcheError(
            "no shortest way over an ellipsoid was found",
            where=f"path {name!r}",
            remedy="Move its points away from the surface, or turn the surface a little",
        )
    return detour, True, False


def _round_cylinder(surface: WrapSurface, p: Floats, q: Floats) -> tuple[Detour | None, bool, bool]:
    radius, _, half = surface.sizes
    if min(np.hypot(p[0], p[1]), np.hypot(q[0], q[1])) < radius:
        return None, False, True
    step = q - p
    square = step[0] ** 2 + step[1] ** 2
    share = -(p[0] * step[0] + p[1] * step[1]) / square if square > 0.0 else 0.0
    nearest = p + share * step
    cuts = bool(np.hypot(nearest[0], nearest[1]) < radius and 0.0 < share < 1.0)
    if surface.side is None:
        if not cuts:
            return None, False, False
        sense = 1.0 if p[0] * q[1] - p[1] * q[0] >= 0.0 else -1.0
    else:
        axis, sign = surface.side
        on = [bool(point[axis] * sign >= 0.0) for point in (p, q)]
        if any(on) and not cuts and not (on[0] != on[1] and nearest[axis] * sign < 0.0):
            return None, False, False
        sense = _sense_by(axis, sign, radius, p, q)
    detour = _helix(p, q, radius, sense)
    if detour is None or min(abs(detour.start[2]), abs(detour.end[2])) > half:
        return None, False, False
    return detour, cuts, False


def _sense_by(axis: int, sign: int, radius: float, p: Floats, q: Floats) -> float:
    """Which way round goes by a half: the one whose contacts lie on it, the first before the last."""
    on: dict[float, list[bool]] = {}
    for sense in (1.0, -1.0):
        contacts = []
        for point, way in ((p, sense), (q, -sense)):
            away = np.hypot(point[0], point[1])
            at = np.arctan2(point[1], point[0]) + way * np.arccos(min(radius / away, 1.0))
            contacts.append((np.cos(at), np.sin(at), 0.0)[axis] * sign >= 0.0)
        on[sense] = contacts
    for end in (0, 1):
        if on[1.0][end] != on[-1.0][end]:
            return 1.0 if on[1.0][end] else -1.0
    turn = np.arctan2(p[0] * q[1] - p[1] * q[0], p[0] * q[0] + p[1] * q[1])
    shorter = 1.0 if turn >= 0.0 else -1.0
    return shorter if on[1.0][0] else -shorter  # both lie on it, or neither: then the long way comes by


def _helix(p: Floats, q: Floats, radius: float, sense: float) -> Detour | None:
    """The tight thread round a cylinder about z, counter-clockwise for a sense of 1."""
    row = one_curve(CYLINDER, p, q, np.zeros(3), np.array([0.0, 0.0, sense]), radius, np.pi)
    if not row[ANGLE] > 0.0:
        return None
    arc = float(row[SPEED] * row[ANGLE])
    rest = row[WRAPPED] - row[FIRST] - arc
    return Detour(p + row[FIRST] * row[BEFORE : BEFORE + 3], q - rest * row[AFTER : AFTER + 3], arc)
