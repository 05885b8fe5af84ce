"""The muscles' thickness, sweep and fullness while they are fitted: steps 3 to 5 of `muscles.fit`.

A ring of a muscle whose centre lies deeper than its radius needs no question at all, and a point asked about
once lies, when it has moved, at most that much less deep.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ecorche.base.signed_pieces import SignedPieces
from ecorche.muscles.limb_room import limb_room
from ecorche.muscles.muscle import Muscle
from ecorche.muscles.paths import Paths
from ecorche.muscles.section_frames import SectionFrames
from ecorche.muscles.spindle import Spindles, spindle_from_numbers
from ecorche.muscles.spindle_mesh import ring_places
from ecorche.muscles.template.place import TENDON
from ecorche.skeleton.skeleton import Skeleton

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

MOST_GROWTH = 1.5
"""How much thicker than the template's a muscle may become."""
LEAST_GROWTH = 0.6
"""And how much thinner, before it is shrunk out of the skin."""
MOST_ARCH = 1.0
"""How far the belly may be swept inwards, in half-thicknesses: then the path runs on its outer face."""
RINGS, SIDES = 24, 16
"""Points of a muscle's surface that are fitted: those of `spindle_surfaces` as it comes."""
FULLNESS = 0.5
"""Of both halves of a muscle, where the skin leaves room for it."""
CLOSE = 1e-5
"""A muscle this much within the tissue [m] is fitted."""
SLENDERING = 4.0
"""How much rather a half of a muscle is made slender than the whole muscle is made small."""
STEPS = 20


class GrowingMuscles:
    """Numbers of all muscles while they are fitted: half-axes at the belly, arch and lean [m], (M,) each."""

    def __init__(
        self,
        paths: Paths,
        frames: SectionFrames,
        muscles: tuple[Muscle, ...],
        side: Floats,
        out: Floats,
    ) -> None:
        self.lengths = paths.bind.lengths
        self.belly = np.array([muscle.belly for muscle in muscles])
        self.side, self.out = side.copy(), out.copy()
        self.arch, self.lean = np.zeros(len(side)), np.zeros(len(side))
        self.fullness = np.full((2, len(side)), FULLNESS)
        self.t = ring_places(self.belly, RINGS)
        self.points, along, self.outward = frames.bind.at(self.t)
        self.across = np.cross(along, self.outward)
        self.on_limb = np.zeros(len(side))  # how far each muscle's thickness is that of its limb, 0 to 1
        self.outermost = np.zeros(len(side))  # how far the belly may be swept outwards [m]
        self.depth = np.zeros(self.t.shape)  # of the rings' centres
        self.to_skin = np.zeros(self.points.shape)

    def spindles(self) -> Spindles:
        """The shapes as they are now."""
        return spindle_from_numbers(
            self.lengths,
            self.side,
            belly=self.belly,
            scale=self.out / self.side,
            tendon_origin=TENDON * self.side,
            tendon_insertion=TENDON * self.side,
            fullness_origin=self.fullness[0],
            fullness_insertion=self.fullness[1],
            arch=-self.arch,
            lean=self.lean,
        )

    def centres(self) -> Floats:
        """The rings' centres [m], shape (M, R, 3)."""
        sweep = self.spindles().sweep_at(self.t)
        return self.points + sweep[..., :1] * self.outward + sweep[..., 1:] * self.across

    def profile(self) -> Floats:
        """Thickness of the rings as a share of the belly's, shape (M, R)."""
        return self.spindles().thickness_at(self.t) / self.side[:, None]

    def rise(self) -> Floats:
        """How much of the arch each ring takes part in, shape (M, R)."""
        unit = spindle_from_numbers(self.lengths, 1.0, belly=self.belly, arch=1.0)
        return unit.sweep_at(self.t)[..., 0]

    def measure(self, skin: SignedPieces, which: Bools) -> None:
        """Ask how deep the rings' centres lie, and which way the skin is, for the muscles that moved."""
        self.depth[which], self.to_skin[which] = skin.depth(self.centres()[which])

    def fill_limbs(
        self, muscles: tuple[Muscle, ...], skeleton: Skeleton, skin: SignedPieces, tissue: float
    ) -> None:
        """Make the muscles of each limb as thick as its skin is away from its bone."""
        to_out, to_side = (offset[..., None] for offset in self.offsets())
        surfaces = (
            self.points[:, :, None] + to_out * self.outward[:, :, None] + to_side * self.across[:, :, None]
        )
        belly = np.arange(len(muscles)), np.abs(self.t - self.belly[:, None]).argmin(axis=1)
        room = limb_room(
            muscles,
            skeleton,
            skin,
            self.points[belly],
            self.outward[belly],
            np.stack([self.out, self.side]),
            surfaces.reshape(len(muscles), -1, 3),
        )
        ratio = (room.skin - tissue) / np.maximum(room.filled, 1e-9)
        ratio = np.clip(ratio, LEAST_GROWTH, MOST_GROWTH) ** room.share
        self.on_limb = room.share
        self.out *= ratio
        self.side *= ratio
        self.outermost = np.minimum(np.maximum(ratio - 1.0, 0.0) * room.from_bone, MOST_ARCH * self.out)

    def sweep(self, skin: SignedPieces, tissue: float) -> None:
        """Sweep each belly inwards until it has room, or by `MOST_ARCH`; in a thick limb outwards."""
        rise, thickness = self.rise(), self.out[:, None] * self.profile()
        self.measure(skin, np.ones(len(self.side), bool))
        enough = np.minimum(self.depth, tissue + 0.5 * thickness)
        middle = rise > 0.5
        facing = np.sum(self.to_skin * self.outward, axis=-1)
        lacking = (tissue + thickness - self.depth) * facing / np.maximum(rise, 0.5)
        wanted = np.where(middle & (facing > 0.3), lacking, -self.outermost[:, None]).max(axis=1)
        self.arch = np.clip(wanted, -self.outermost, MOST_ARCH * self.out)
        self.measure(skin, self.arch != 0.0)
        for last in (False, False, False, True):  # inwards for the belly can be outwards elsewhere: armpits
            worse = (self.depth < enough - CLOSE).any(axis=1) & (self.arch > 0.0)
            self.arch[worse] *= 0.0 if last else 0.5
            self.measure(skin, worse)

    def grow(self, tissue: float) -> None:
        """Thicken the muscles that lie next under the skin; deep ones have others over them."""
        at_belly = np.abs(self.t - self.belly[:, None]).argmin(axis=1)
        room = (self.depth[np.arange(len(self.out)), at_belly] - tissue) / self.out
        growth = np.clip(np.minimum(room, 1.0 + (3.0 * MOST_GROWTH - room) / 6.0), 1.0, MOST_GROWTH)
        growth **= 1.0 - self.on_limb
        self.out *= growth
        self.side *= np.sqrt(growth)

    def fuller(self) -> Floats:
        """How the rings' share of the belly grows with the fullness of each half, shape (2, M, R)."""
        before = np.clip(self.t / self.belly[:, None], 0.0, 1.0)
        after = np.clip((1.0 - self.t) / (1.0 - self.belly[:, None]), 0.0, 1.0)
        return (1.0 - TENDON) * np.stack([3.0 * u * (1.0 - u) ** 2 for u in (before, after)])

    def offsets(self) -> tuple[Floats, Floats]:
        """Of points on the rings from their centres, along S_d and S [m], shape (M, R, sides) each."""
        angle = 2.0 * np.pi * np.arange(SIDES) / SIDES
        profile = self.profile()[..., None]
        return (
            self.out[:, None, None] * profile * np.cos(angle),
            self.side[:, None, None] * profile * np.sin(angle),
        )

    def shrink(self, skin: SignedPieces, tissue: float) -> Floats:
        """Shrink the muscles out of the tissue; how much each still reaches into it [m], (M,)."""
        centres, fuller = self.centres(), self.fuller()
        to_out, to_side = self.offsets()
        # a point lies no less deep than another does, less their distance: most need never be asked about
        least = self.depth[..., None] - np.hypot(to_out, to_side)
        for _ in range(STEPS):
            near = np.nonzero(least < tissue - CLOSE)
            muscle, ring, _ = near
            out, across = self.outward[muscle, ring], self.across[muscle, ring]
            on_out, on_side = to_out[near], to_side[near]
            depth, outward = skin.depth(
                centres[muscle, ring] + on_out[:, None] * out + on_side[:, None] * across
            )
            least[near] = depth
            lacking = np.maximum(tissue - depth, 0.0)
            if not (lacking > CLOSE).any():
                break
            # how much nearer a point comes to the skin as each number of its muscle grows
            by_out = on_out * np.sum(outward * out, axis=-1)
            by_side = on_side * np.sum(outward * across, axis=-1)
            by_share = (by_out + by_side) / self.profile()[muscle, ring]
            room = self.fullness[:, muscle] > 0.0
            by_half = SLENDERING * by_share * fuller[:, muscle, ring] * room
            slopes = np.maximum(np.stack([by_out, by_side, *by_half]), 0.0)
            steps = lacking * slopes / np.maximum(np.sum(slopes**2, axis=0), 1e-12)
            less = np.zeros((4, len(self.side)))
            for row, step in zip(less, steps, strict=True):
                np.maximum.at(row, muscle, step)
            self.out *= np.exp(-np.minimum(less[0], 0.3))
            self.side *= np.exp(-np.minimum(less[1], 0.3))
            self.fullness = np.maximum(self.fullness - np.minimum(SLENDERING * less[2:], 0.2), 0.0)
            was_out, was_side = to_out, to_side
            to_out, to_side = self.offsets()
            least -= np.hypot(to_out - was_out, to_side - was_side)
        exposed = tissue - np.min(least, axis=(1, 2))
        return np.where(exposed > CLOSE, exposed, 0.0)
