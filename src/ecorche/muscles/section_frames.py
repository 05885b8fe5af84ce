"""Which way each muscle's section faces: its long axis and the direction in which it bulges.

The bulge direction S_d of text 000, posed as follows. A joint carries the bind direction along, ``q S_d⁰``;
the smallest rotation that takes the carried line of the muscle, ``q · OI⁰``, to its line now takes it on.

A straight muscle has one S_d for its whole line: from the origin and from the insertion this gives two
directions perpendicular to OI; the angle about OI between them is blended, by default wholly the origin's.

A muscle with via points follows the same rule at every place of its path. There the line is the path's
tangent, the two joints are those of the nodes before and after, and the two directions are blended by the
share of the way between them. So a part of the path whose nodes ride on one limb turns with that limb,
as its skin does: twist an upper arm, and the belly of its biceps twists with it. At bind the directions
are those of the chord OI, taken by the smallest rotation to the first segment and then along the path
without twisting (parallel transport). Two limits: nodes whose joints are twisted by half a turn against
each other leave no direction halfway between them, and a path folded back onto its own bind direction by
half a turn leaves its rotation undecided. No human joint comes near either.

``along``, ``out`` and ``side`` are right-handed: ``side = along × out``. Seen in a mirror, along
and out are mirrored, side is mirrored and opposite.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ecorche.base.checks import require_finite
from ecorche.base.rotations import normalise, rotate_xyzw, shortest_arc_xyzw
from ecorche.base.transforms import nearest_rotation
from ecorche.errors import EcorcheError
from ecorche.muscles.paths import Paths, PosedPaths, taken_vectors

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False)
class SectionFrames:
    """The bulge directions of M muscles at bind, ready to be posed.

    Attributes:
        paths: Where the muscles run.
        out: Unit bulge direction at bind, perpendicular to the line OI, shape (M, 3).
        weight: For straight muscles: 0 where the origin alone says how the section turns, 1 the insertion,
            shape (M,).
    """

    paths: Paths
    out: Floats
    weight: Floats

    @cached_property
    def bent(self) -> npt.NDArray[np.bool_]:
        """Which muscles have via points, shape (M,)."""
        bent: npt.NDArray[np.bool_] = np.diff(self.paths.starts) > 2
        return bent

    @property
    def bind(self) -> PosedFrames:
        """The frames in the bind pose."""
        along, still = _chord(self.paths.bind), np.zeros(self.paths.muscle_count)
        turn = np.tile(np.eye(3), (self.paths.skeleton.joint_count, 1, 1))
        return PosedFrames(self, self.paths.bind, turn, along, self.out, still)

    def posed(self, world: npt.ArrayLike, *, near: npt.ArrayLike | None = None) -> PosedFrames:
        """The frames in a pose of ``world_from_joint`` (..., joints, 4, 4); ``near`` as in `moved`."""
        return self.moved(self.paths.difference(world), near=near)

    def moved(self, difference: npt.ArrayLike, *, near: npt.ArrayLike | None = None) -> PosedFrames:
        """The frames for differences from bind ``M − I`` (..., joints, 4, 4).

        Args:
            difference: See `difference_from_bind`.
            near: Twists (..., M) [rad] of a moment before. Without it the twist between the two ends
                is the one within half a turn; with it, the one nearest to ``near``, so that
                blended frames stay continuous when the ends twist against each other past it.
        """
        difference = np.asarray(difference, np.float64)
        posed = self.paths.moved(difference)
        turn = nearest_rotation(np.eye(3) + difference[..., :3, :3])
        along = _chord(posed)
        out = self._carried(turn, self.paths.origins, along)
        blended = self.weight > 0.0
        twist = np.zeros(along.shape[:-1])
        if blended.any():
            other = self._carried(turn, self.paths.insertions, along)
            side = np.cross(along, out)
            twist = np.arctan2(np.sum(side * other, axis=-1), np.sum(out * other, axis=-1))
            # both ends agree to the last bit at bind; their difference must be zero there, not 1e-17
            twist = np.where((out == other).all(axis=-1), 0.0, twist)
            if near is not None:
                twist = twist + 2.0 * np.pi * np.round((np.asarray(near) - twist) / (2.0 * np.pi))
            angle = (self.weight * twist)[..., None]
            out = np.cos(angle) * out + np.sin(angle) * side
        return PosedFrames(self, posed, turn, along, out, np.where(blended, twist, 0.0))

    def _carried(self, turn: Floats, nodes: Integers, along: Floats) -> Floats:
        """The bulge directions carried by the joints of some nodes, then turned the short way to OI."""
        turn = turn[..., self.paths.joints[nodes], :, :]
        carried_along = (turn @ _chord(self.paths.bind)[..., None])[..., 0]
        return turned(carried_along, along, (turn @ self.out[..., None])[..., 0])

    @cached_property
    def _by_segment(self) -> Floats:
        """The bulge direction at bind on the segment that ends at each node, shape (N, 3)."""
        path, starts = self.paths.bind, self.paths.starts
        count = np.diff(starts)
        out, before = self.out, _chord(path)
        by_segment = np.zeros(path.points.shape)
        for rank in range(1, int(count.max(initial=0))):
            reached = np.minimum(starts[:-1] + rank, starts[1:] - 1)
            onward = path.directions[reached]
            out = rotate_xyzw(shortest_arc_xyzw(before, onward), out)
            by_segment[reached[count > rank]] = out[count > rank]
            before = onward
        return by_segment

    def bind_segments(self) -> tuple[Floats, Floats]:
        """Unit direction and S_d at bind of the segment that ends at each node, (N, 3); zero at origins."""
        return self.paths.bind.directions, self._by_segment

    def bind_directions(self, node: Integers, share: Floats) -> tuple[Floats, Floats]:
        """Unit tangents and bulge directions at bind, (..., M, K, 3), at places of `PosedPaths.places`."""
        _, tangents = self.paths.bind.on(node, share)
        segment = taken_vectors(self.paths.bind.directions, node)
        turn = shortest_arc_xyzw(segment, tangents)
        return tangents, normalise(rotate_xyzw(turn, taken_vectors(self._by_segment, node)))


@dataclass(frozen=True, eq=False, repr=False)
class PosedFrames:
    """The section frames in one pose, or in a batch of poses with the leading axes ``...``.

    Attributes:
        frames: What was posed.
        path: The paths in that pose.
        turn: How the joints have turned since bind, shape (..., joints, 3, 3).
        along: Unit direction from origin to insertion, shape (..., M, 3).
        out: Unit bulge direction S_d, perpendicular to it, shape (..., M, 3); of a muscle with via points
            that of its chord, as if it were straight.
        twist: How far the insertion's direction is turned from the origin's about OI [rad], shape
            (..., M); zero where the origin alone counts.
    """

    frames: SectionFrames
    path: PosedPaths
    turn: Floats
    along: Floats
    out: Floats
    twist: Floats

    @property
    def side(self) -> Floats:
        """The other axis S of the section, ``along × out``, shape (..., M, 3)."""
        return np.cross(self.along, self.out)

    def at(self, t: npt.ArrayLike) -> tuple[Floats, Floats, Floats]:
        """Points [m], unit tangents and bulge directions (..., M, K, 3) at parameters t (K,) or (M, K).

        On straight paths the latter two are ``along`` and ``out`` all the way.
        """
        return self.on(*self.path.places(t))

    def on(self, node: Integers, share: Floats) -> tuple[Floats, Floats, Floats]:
        """Points [m], unit tangents and bulge directions (..., M, K, 3) at places of `PosedPaths.places`."""
        points, tangents = self.path.on(node, share)
        joints = self.path.paths.joints
        bind_tangents, bind_out = self.frames.bind_directions(node, share)
        blended = np.zeros(points.shape)
        for joint, part in ((joints[node - 1], 1.0 - share), (joints[node], share)):
            turn = taken_vectors(self.turn.reshape(*self.turn.shape[:-2], 9), joint)
            turn = turn.reshape(*turn.shape[:-1], 3, 3)
            carried = (turn @ bind_tangents[..., None])[..., 0], (turn @ bind_out[..., None])[..., 0]
            blended += part[..., None] * turned(carried[0], tangents, carried[1])
        straight = ~self.frames.bent[:, None, None]
        out = np.where(straight, self.out[..., None, :], normalise(blended))
        return points, np.where(straight, self.along[..., None, :], tangents), out


def turned(a: Floats, b: Floats, across: Floats) -> Floats:
    """Vectors perpendicular to unit ``a``, taken along by the smallest rotation from a to unit ``b``.

    ``w − (w · (b − a)) (a + b) / (1 + a · b)``, which is w to the last bit where b is a. Where b is opposite
    to a no rotation is smallest, and the vector stays as it is. All of shape (..., 3).
    """
    cosine = 1.0 + np.sum(a * b, axis=-1, keepdims=True)
    apart = np.sum(across * (b - a), axis=-1, keepdims=True)
    share: Floats = np.where(cosine > 1e-12, apart / np.where(cosine > 1e-12, cosine, 1.0), 0.0)
    return across - share * (a + b)


def section_frames(paths: Paths, outwards: npt.ArrayLike, *, weight: npt.ArrayLike = 0.0) -> SectionFrames:
    """Section frames that bulge outwards: the part of each direction (M, 3) perpendicular to OI at bind.

    ``weight`` of the insertion is between 0 and 1, one number or (M,). A direction along the
    muscle itself is refused: no bulge direction follows from it.
    """
    wanted = np.array(outwards, np.float64)
    weights = np.array(np.broadcast_to(np.asarray(weight, np.float64), (paths.muscle_count,)))
    if wanted.shape != (paths.muscle_count, 3):
        raise EcorcheError(
            f"bulge directions have shape {wanted.shape} for {paths.muscle_count} muscles",
            where="section frames",
            remedy="Give three numbers a muscle",
        )
    require_finite(wanted, "the bulge direction of muscle", "section frames", EcorcheError)
    if not ((weights >= 0.0) & (weights <= 1.0)).all():
        raise EcorcheError(
            "a weight of the insertion is not between 0 and 1",
            where="section frames",
            remedy="0 is the origin's direction, 1 the insertion's",
        )
    along = _chord(paths.bind)
    wanted = normalise(wanted)
    across = wanted - np.sum(wanted * along, axis=-1, keepdims=True) * along
    lost = ~(np.linalg.norm(across, axis=-1) > 1e-6)
    if lost.any():
        raise EcorcheError(
            f"the bulge direction of {paths.names[int(np.argmax(lost))]!r} points along the muscle",
            where="section frames",
            remedy="Choose one across it, such as from the bone to the skin",
        )
    # taken out twice: the first remainder of a nearly parallel direction is still a little oblique
    across = normalise(across)
    across = across - np.sum(across * along, axis=-1, keepdims=True) * along
    return SectionFrames(paths, normalise(across), weights)


def _chord(path: PosedPaths) -> Floats:
    """Unit directions from origin to insertion, shape (..., M, 3)."""
    chord = path.insertions - path.origins
    lengths = np.linalg.norm(chord, axis=-1)
    closed = ~(lengths > 1e-9)
    if closed.any():
        raise EcorcheError(
            f"{path.paths.names[int(np.argwhere(closed)[0][-1])]!r} ends where it begins",
            where="section frames",
            remedy="Move its origin and insertion apart, or split it at a via point",
        )
    return normalise(chord)
