"""Action lines that are edited while they rest: where elastic ones lie survives a change of what they are.

An elastic line rests where the frames before left it. `LiveLines` holds that rest for an editor: it goes to
the pose that is asked for from the one it is in, in steps a motion would take, and hands its rest on to the
body an edit has made. Nodes that are in both keep their places; new nodes of a line that was laid anew begin
along where it lay; and everything then comes to rest from there. Lines that the edit left alone are at rest
already and stay, bit for bit.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ecorche.base.rotations import slerp_xyzw
from ecorche.base.transforms import compose, decompose
from ecorche.body.lines import BodyLines
from ecorche.errors import EcorcheError
from ecorche.muscles.lines.elastic import ElasticLines
from ecorche.muscles.lines.line_paths import PosedPaths
from ecorche.muscles.lines.posed_lines import ElasticState
from ecorche.skeleton.kinematics import difference_from_bind
from ecorche.skeleton.skeleton import Skeleton

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]

STRIDE = np.radians(8.0)
"""No joint turns farther from one step to the next on the way to a pose [rad]: a fast motion's frame."""
WAY = 0.02
"""Nor moves farther within its parent [m]."""


class LiveLines:
    """The lines of a body in the pose an editor shows.

    Args:
        lines: Of the body.
        skeleton: Of the character.

    Attributes:
        lines: See above.
        local: The pose the lines are in, (joints, 4, 4).
        posed: Where they lie in it, one frame.
    """

    def __init__(self, lines: BodyLines, skeleton: Skeleton) -> None:
        self.lines, self.skeleton = lines, skeleton
        self.local: Floats = skeleton.bind_local.copy()
        self.posed: PosedPaths = self._paths(self.local[None], None)

    def __repr__(self) -> str:
        return f"LiveLines({self.lines.musculature.paths})"

    @property
    def moved(self) -> Floats:
        """``M − I`` of the joints in the pose the lines are in, (joints, 4, 4)."""
        return difference_from_bind(self.skeleton, self.local)

    def pose(self, local: npt.ArrayLike) -> PosedPaths:
        """Go to a pose of the joints, local matrices (joints, 4, 4), and come to rest there."""
        wanted = np.asarray(local, np.float64)
        if wanted.shape != self.local.shape or not np.isfinite(wanted).all():
            raise EcorcheError(
                f"a pose of shape {wanted.shape} is none of {len(self.local)} joints, or not finite",
                where="action lines",
                remedy="Give one local matrix a joint",
            )
        history = self.lines.musculature.paths.has_history
        way = _way(self.local, wanted) if history else wanted[None]
        self.posed = self._paths(way, self.posed.state)
        self.local = wanted.copy()
        return self.posed

    def taken_over(self, lines: BodyLines) -> LiveLines:
        """The lines of the body after an edit, in the same pose, from where these rest."""
        made = object.__new__(LiveLines)
        made.lines, made.skeleton, made.local = lines, self.skeleton, self.local.copy()
        state = None
        old, new = (part.musculature.paths.springs for part in (self.lines, lines))
        if new is not None:
            state = new[1]
            known = old is not None and old[0].joint_count == new[0].joint_count
            if old is not None and known and self.posed.state is not None:
                state = _handed_on(old[0], self.posed.state, new[0], new[1])
            else:  # nothing to go on from but bind
                way = _way(self.skeleton.bind_local, self.local)
                state = made._paths(way, state).state
        made.posed = made._paths(self.local[None], state)
        return made

    def points(self, activation: Floats | None = None) -> Floats:
        """Vertices of all compiled muscles in this pose [m], (V, 3); activation is of every muscle."""
        return self.lines.posed_points(self.moved, *self._last, activation)

    @property
    def _last(self) -> tuple[Floats, Floats]:
        """Nodes and elongations of the lines as they lie."""
        return self.posed.nodes[-1], self.posed.elongation[-1]

    def _paths(self, way: Floats, state: ElasticState | None) -> PosedPaths:
        paths = self.lines.musculature.paths
        found = paths.posed(difference_from_bind(self.skeleton, np.ascontiguousarray(way)), state)
        last = slice(len(found.nodes) - 1, None)
        return replace(found, nodes=found.nodes[last], elongation=found.elongation[last], limp={})


def _way(start: Floats, end: Floats) -> Floats:
    """Poses from one to another, the last included, (F, joints, 4, 4): joints turn and move evenly."""
    places, turns, scales = decompose(np.stack([start, end]))
    cosine = np.minimum(np.abs(np.sum(turns[0] * turns[1], axis=-1)), 1.0)
    angle = float(2.0 * np.arccos(cosine).max(initial=0.0))
    far = float(np.linalg.norm(places[1] - places[0], axis=-1).max(initial=0.0))
    count = max(1, int(np.ceil(max(angle / STRIDE, far / WAY) - 1e-9)))
    between = []
    for step in range(1, count):
        share = step / count
        turned = slerp_xyzw(turns[0], turns[1], np.full(len(start), share))
        sizes = scales[0] + share * (scales[1] - scales[0])
        between.append(compose(places[0] + share * (places[1] - places[0]), turned, sizes))
    return np.stack([*between, end])


def _handed_on(old: ElasticLines, state: ElasticState, new: ElasticLines, rest: ElasticState) -> ElasticState:
    """A state for new lines in the pose of the old ones' state: what lines of one name share is kept."""
    points = rest.points.copy()
    step = state.moved
    known = {name: number for number, name in enumerate(old.names)}
    first_old, first_new = int(old.plan.rows[-1]), int(new.plan.rows[-1])
    for number, name in enumerate(new.names):
        rows = new.points[new.starts[number] : new.starts[number + 1]]
        if name not in known:
            points[rows] = _carried(points[rows], new.plan.carriers, new.plan.carried, rows, first_new, step)
            continue
        a, b = old.starts[known[name]], old.starts[known[name] + 1]
        before = old.points[a:b]
        if len(before) == len(rows):
            same = (before < first_old) == (rows < first_new)
            points[rows[same]] = state.points[before[same]]
            lay = state.points[before]
        else:
            same = np.zeros(len(rows), bool)
            lay = _along(old.designed[before], state.points[before], new.designed[rows])
        left = ~same & (rows < first_new)
        points[rows[left]] = lay[left]
    return ElasticState(points, np.zeros_like(rest.velocities), state.moved.copy(), rest.pace.copy())


def _along(before: Floats, lay: Floats, after: Floats) -> Floats:
    """Where nodes (m, 3) of a line laid anew begin [m]: at their share of the way along it."""

    def share(places: Floats) -> Floats:
        arc = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(places, axis=0), axis=1))])
        return np.asarray(arc / max(float(arc[-1]), 1e-300))

    at = share(after)
    return np.stack([np.interp(at, share(before), lay[:, axis]) for axis in range(3)], axis=1)


def _carried(
    places: Floats, carriers: Ints, shares: Floats, rows: Ints, moving: int, moved: Floats
) -> Floats:
    """Points of a line [m] at bind, taken into a pose by the joints that carry them."""
    made = places.copy()
    for k, row in enumerate(rows):
        if row >= moving:
            continue
        one, other = carriers[row]
        near, far = (moved[j, :3, :3] @ places[k] + moved[j, :3, 3] for j in (one, other))
        made[k] += near + shares[row] * (far - near)
    return made
