"""Which way each muscle's section faces: its long axis and the direction in which it bulges.

The bulge direction S_d of text 000, posed as follows. The joint at the origin carries the bind
direction along, ``q_O S_d⁰``; the smallest rotation that takes the carried line of the muscle,
``q_O · OI⁰``, to its line now takes it on. The same from the insertion gives a second direction
perpendicular to OI; the angle about OI between the two is blended, by default wholly the origin's.

On a bent path the frame of the chord OI is taken by the smallest rotation to the first segment, and
then along the path without twisting (parallel transport). A straight path keeps the chord's frame.

``along``, ``out`` and ``side`` are right-handed: ``side = along × out``. Seen in a mirror, along
and out are mirrored, side is mirrored and opposite.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecorche.base.checks import require_finite
from ecorche.base.rotations import normalise, rotate_xyzw, shortest_arc_xyzw
from ecorche.base.transforms import nearest_rotation
from ecorche.errors import EcorcheError
from ecorche.muscles.paths import Paths, PosedPaths

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class SectionFrames:
    """The bulge directions of M muscles at bind, ready to be posed.

    Attributes:
        paths: Where the muscles run.
        out: Unit bulge direction at bind, perpendicular to the line OI, shape (M, 3).
        weight: 0 where the origin alone says how the section turns, 1 the insertion, shape (M,).
    """

    paths: Paths
    out: Floats
    weight: Floats

    @property
    def bind(self) -> PosedFrames:
        """The frames in the bind pose."""
        along = _chord(self.paths.bind)
        return PosedFrames(self.paths.bind, along, self.out, np.zeros(self.paths.muscle_count))

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
        along = _chord(posed)
        out = self._carried(difference, self.paths.origins, along)
        blended = self.weight > 0.0
        twist = np.zeros(along.shape[:-1])
        if blended.any():
            other = self._carried(difference, self.paths.insertions, along)
            side = np.cross(along, out)
            twist = np.arctan2(np.sum(side * other, axis=-1), np.sum(out * other, axis=-1))
            # both ends agree to the last bit at bind; their difference must be zero there, not 1e-17
            twist = np.where((out == other).all(axis=-1), 0.0, twist)
            if near is not None:
                twist = twist + 2.0 * np.pi * np.round((np.asarray(near) - twist) / (2.0 * np.pi))
            angle = (self.weight * twist)[..., None]
            out = np.cos(angle) * out + np.sin(angle) * side
        return PosedFrames(posed, along, out, np.where(blended, twist, 0.0))

    def _carried(self, difference: Floats, nodes: npt.NDArray[np.int64], along: Floats) -> Floats:
        """The bulge directions carried by the joints of some nodes, then turned the short way to OI."""
        joints = self.paths.joints[nodes]
        turn = nearest_rotation(np.eye(3) + difference[..., joints, :3, :3])
        bind_along = _chord(self.paths.bind)
        carried_along = (turn @ bind_along[..., None])[..., 0]
        carried_out = (turn @ self.out[..., None])[..., 0]
        return rotate_xyzw(shortest_arc_xyzw(carried_along, along), carried_out)


@dataclass(frozen=True, eq=False, repr=False)
class PosedFrames:
    """The section frames in one pose, or in a batch of poses with the leading axes ``...``.

    Attributes:
        path: The paths in that pose.
        along: Unit direction from origin to insertion, shape (..., M, 3).
        out: Unit bulge direction S_d, perpendicular to it, shape (..., M, 3).
        twist: How far the insertion's direction is turned from the origin's about OI [rad], shape
            (..., M); zero where the origin alone counts.
    """

    path: PosedPaths
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
        points, tangents = self.path.at(t)
        node, _ = self.path.segment(t)
        paths = self.path.paths
        starts, directions = paths.starts, self.path.directions
        count = np.diff(starts)
        out = self.out
        before = self.along
        by_segment = np.zeros(self.path.points.shape)
        for rank in range(1, int(count.max(initial=0))):
            reached = np.minimum(starts[:-1] + rank, starts[1:] - 1)
            onward = directions[..., reached, :]
            out = rotate_xyzw(shortest_arc_xyzw(before, onward), out)
            by_segment[..., reached[count > rank], :] = out[..., count > rank, :]
            before = onward
        flat = node.reshape(*node.shape[:-2], -1, 1)
        segment_out = np.take_along_axis(by_segment, flat, axis=-2).reshape(tangents.shape)
        segment_along = np.take_along_axis(directions, flat, axis=-2).reshape(tangents.shape)
        return points, tangents, rotate_xyzw(shortest_arc_xyzw(segment_along, tangents), segment_out)


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
