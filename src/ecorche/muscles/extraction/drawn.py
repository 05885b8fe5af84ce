"""A plain muscle between two bones, drawn rather than found: as near to the skin as it has room.

Text 001, "Muscle Extraction": the user may add muscles that do not show. Such a muscle runs from bone to bone
over the joint between them, round in section, thickest in the middle; its belly is moved off its line towards
the skin as far as all of it stays under the skin.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ecorche.base.rotations import normalise
from ecorche.base.signed_pieces import SignedPieces
from ecorche.errors import EcorcheError
from ecorche.muscles.extraction.attach import OBSTACLE, SURFACE, Attachment
from ecorche.muscles.extraction.laying import laid
from ecorche.muscles.extraction.redrawn import crossed_joint, sphere_over, surface_of
from ecorche.muscles.extraction.rings import SpaceRings
from ecorche.muscles.lofted import LoftedMuscle, Rings
from ecorche.skeleton.skeleton import Skeleton

Floats = npt.NDArray[np.float64]

ALONG_BONE = 0.2
"""How far from its joint a muscle is attached to a bone, share of the bone: muscles move joints from near."""
PLACES = np.linspace(0.14, 0.86, 25)
"""Where it is asked whether it lies under the skin, shares of its length; every fourth place has a ring."""
SIDES = 16
"""Points of a ring that are asked whether they lie under the skin."""
STEPS = 41
"""Ways to move its belly, from the bone to the skin."""
_ONE_RING = Rings(np.array([0.5]), np.zeros((1, 2)), np.ones((1, 2)), np.zeros(1))


def muscle_between(
    name: str,
    joints: tuple[int, int],
    radius: float,
    skin: SignedPieces,
    skeleton: Skeleton,
    *,
    tissue: float,
    towards: Floats | None = None,
) -> LoftedMuscle:
    """A muscle between two bones, under the skin.

    Args:
        name: Its name.
        joints: The joints whose bones origin and insertion are on.
        radius: Of its thickest section [m].
        skin: The skin at bind.
        skeleton: The character's joints.
        tissue: Least thickness of skin and fat over it [m].
        towards: On which side of the bones it lies, in world axes at bind; None is where the skin is nearest.
    """
    if joints[0] == joints[1]:
        raise EcorcheError(
            "both ends would move with one joint: it would never change its length",
            where=name,
            remedy="Name two joints",
        )
    if not radius > 0.0:
        raise EcorcheError(f"it has no radius of {radius:g} m", where=name, remedy="Give one above 0")
    heads, tips = skeleton.bind_world[:, :3, 3], skeleton.tail_positions()
    on_bones = np.stack([heads[j] + ALONG_BONE * (tips[j] - heads[j]) for j in joints])
    middle = on_bones.mean(axis=0)
    chord = on_bones[1] - on_bones[0]
    if np.linalg.norm(chord) < 1e-6:
        raise EcorcheError("its bones lie in one place", where=name, remedy="Name two joints that do not")
    way = normalise(chord)
    out = _outward(name, middle, way, skin, towards)
    depth, _ = skin.depth(np.concatenate([on_bones, middle[None]]))
    if (depth <= tissue).any():
        raise EcorcheError(
            "its bones lie outside the skin, or just under it",
            where=name,
            remedy="Name two joints that have skin round them",
        )
    ends = tuple(
        Attachment(joint, place + SURFACE * high * out)
        for joint, place, high in zip(joints, on_bones, depth, strict=False)
    )
    hinge = crossed_joint(joints, middle, skeleton)
    at_hinge = float(skin.depth(heads[hinge][None])[0][0])
    bare = LoftedMuscle(
        name, name, "", joints, np.stack([ends[0].place, ends[1].place]), out, _ONE_RING, reach=joints
    )
    line = (1.0 - PLACES[:, None]) * ends[0].place + PLACES[:, None] * ends[1].place
    room = _Room(line, way, out, skin, tissue)

    def drawn(radius: float) -> LoftedMuscle | None:
        shift = room.shift(radius)
        if shift is None:
            return None
        rings = room.rings(radius, shift)
        # over the joint where that leaves it under the skin, else straight
        for wrap in (sphere_over(hinge, OBSTACLE * at_hinge, rings, (ends[0], ends[1]), skeleton), None):
            muscle = laid(replace(bare, wrap=wrap), rings, heads[hinge])
            if len(muscle.rings.u) < 3:
                continue
            shown = surface_of(muscle, np.linspace(muscle.rings.u[0], muscle.rings.u[-1], 15), SIDES)
            if (skin.depth(shown)[0] >= 0.8 * tissue).all():
                return muscle
        return None

    muscle = drawn(radius)
    if muscle is not None:
        return muscle
    low, high = 0.0, radius
    for _ in range(10):
        half = 0.5 * (low + high)
        low, high = (half, high) if drawn(half) is not None else (low, half)
    told = np.format_float_positional(1e3 * radius, precision=1, trim="-")
    raise EcorcheError(
        f"a radius of {told} mm has no room under the skin there",
        where=name,
        remedy=f"Give {np.floor(1e4 * low) / 1e4:g} m or less" if low >= 1e-4 else "Name other joints",
    )


def _outward(name: str, middle: Floats, way: Floats, skin: SignedPieces, towards: Floats | None) -> Floats:
    """Across the muscle, towards the skin, shape (3,)."""
    asked = skin.depth(middle[None])[1][0] if towards is None else np.asarray(towards, np.float64)
    length = float(np.linalg.norm(asked))
    out = asked - (asked @ way) * way
    if length > 0.0 and np.linalg.norm(out) > 0.2 * length:
        return normalise(out)
    if towards is not None:
        raise EcorcheError(
            "the side it shall lie on is along the muscle, or no direction",
            where=name,
            remedy="Give a direction across it, such as 0,0,1",
        )
    return normalise(np.cross(way, np.eye(3)[int(np.abs(way).argmin())]))


class _Room:
    """The room under the skin beside a line (R, 3) from origin to insertion."""

    def __init__(self, line: Floats, way: Floats, out: Floats, skin: SignedPieces, tissue: float) -> None:
        self.line, self.out, self.side, self.skin, self.tissue = line, out, np.cross(way, out), skin, tissue
        self.profile: Floats = np.sin(np.pi * PLACES) ** 0.7
        deepest = float(skin.depth(line)[0].max())
        self.shifts = np.linspace(-deepest, 2.0 * deepest, STEPS)

    def shift(self, radius: float) -> float | None:
        """How far the belly may be moved outwards [m] with all of it under the skin; None: no way."""
        angle = 2.0 * np.pi * np.arange(SIDES) / SIDES
        round_: Floats = np.cos(angle)[:, None] * self.out + np.sin(angle)[:, None] * self.side
        rings = self.line[:, None] + radius * self.profile[:, None, None] * round_
        moved = self.profile[:, None] * self.out
        tried = rings + self.shifts[:, None, None, None] * moved[:, None]
        good = np.asarray((self.skin.depth(tried)[0] >= self.tissue).all(axis=(1, 2)))
        if not good.any():
            return None
        # outwards from the line as far as there is room all the way; where there is none on it, the nearest
        start = int(np.argmin(np.where(good, np.abs(self.shifts), np.inf)))
        while start + 1 < len(good) and good[start + 1]:
            start += 1
        return float(self.shifts[start])

    def rings(self, radius: float, shift: float) -> SpaceRings:
        """The muscle's rings."""
        centre = self.line + shift * self.profile[:, None] * self.out
        half = radius * self.profile
        form = (half**2)[:, None, None] * (np.outer(self.out, self.out) + np.outer(self.side, self.side))
        top = centre + half[:, None] * self.out
        return SpaceRings(top, centre, form, np.tile(self.out, (len(half), 1)), PLACES.copy())
