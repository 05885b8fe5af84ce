"""Fit the muscles to a body's skin at bind: every muscle inside, filling the room it has.

Our own method, in four steps, all muscles at once:

1. Path points outside the skin, or nearer to it than the tissue between, move inwards.
2. S_d turns from the template's hint towards the nearest skin, about the path at the belly.
3. Where a path runs close under the skin, the belly's centre is swept inwards (the spindle's arch), so
   that the muscle keeps its thickness and spreads towards the bone, as muscles do.
4. Half-width and s_f begin at the template's, larger where skin is near but not touched, and shrink by
   Gauss-Newton steps on the most exposed points of the surface until none is within the tissue.

How deep a point lies is told in `base.signed_distance` (also for open skins) and `base.signed_pieces` (eyes
in the skin, limbs pushed into a trunk). A muscle whose belly lies well outside the skin belongs to a part
that has none, such as the legs of a bust, and is left out. Muscles may overlap each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ecorche.base.signed_pieces import SignedPieces
from ecorche.errors import EcorcheError, MeshError
from ecorche.muscles.limb_room import limb_room
from ecorche.muscles.muscle import Muscle
from ecorche.muscles.paths import Paths, paths_at
from ecorche.muscles.section_frames import SectionFrames, section_frames
from ecorche.muscles.spindle import Spindles, spindle_from_numbers
from ecorche.muscles.spindle_mesh import ring_places
from ecorche.muscles.template.place import TENDON, LeftOut
from ecorche.skeleton.skeleton import Skeleton

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

TISSUE = 0.002
"""Skin and fat over a muscle [m], at least."""
MOST_GROWTH = 1.5
"""How much thicker than the template's a muscle may become."""
LEAST_GROWTH = 0.6
"""And how much thinner, before it is shrunk out of the skin."""
MOST_ARCH = 1.0
"""How far the belly may be swept inwards, in half-thicknesses: then the path runs on its outer face."""
RINGS, SIDES = 24, 16
"""Points of a muscle's surface that are fitted: those of `spindle_surfaces` as it comes."""
LIMB = 0.06
"""Width of a limb as a share of the muscles' extent."""
OTHER_UNIT = 10.0
"""A skin so many times as large as the muscles, or smaller, is in another unit."""
STEPS = 20
FULLNESS = 0.5
"""Of both halves of a muscle, where the skin leaves room for it."""
CLOSE = 1e-5
"""A muscle this much within the tissue [m] is fitted."""
SLENDERING = 4.0
"""How much rather a half of a muscle is made slender than the whole muscle is made small."""


@dataclass(frozen=True, eq=False)
class Moved:
    """A path point that lay outside the skin or too near to it."""

    muscle: str
    point: int
    distance: float  # [m]


@dataclass(frozen=True, eq=False)
class FitReport:
    """What was done to fit the muscles.

    Attributes:
        moved: Path points that were moved, and how far.
        width: Half-width as a multiple of the template's, shape (M,).
        thickness: Half-thickness along S_d as a multiple of the template's, shape (M,).
        arch: How far each belly was swept inwards [m], shape (M,).
        turned: How far S_d was turned from the hint [rad], shape (M,).
        exposed: Names of muscles that still come nearer to the skin than the tissue, with how much [m].
        left_out: Muscles of parts that have no skin.
        skin_notes: What is particular about the skin.
    """

    moved: tuple[Moved, ...]
    width: Floats
    thickness: Floats
    arch: Floats
    turned: Floats
    exposed: tuple[tuple[str, float], ...]
    left_out: tuple[LeftOut, ...] = ()
    skin_notes: tuple[str, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """What a person should know, in sentences."""
        moved = [
            f"point {m.point} of {m.muscle!r} was moved {m.distance * 1e3:.1f} mm inwards, under the skin"
            for m in self.moved
        ]
        tight = [
            f"{name!r} has {gap * 1e3:.1f} mm too little room under the skin" for name, gap in self.exposed
        ]
        out = [f"{left.name!r} was left out: {left.reason}" for left in self.left_out]
        return (*self.skin_notes, *out, *moved, *tight)


def fit_to_skin(
    muscles: Sequence[Muscle],
    skeleton: Skeleton,
    points: npt.ArrayLike,
    triangles: npt.ArrayLike,
    *,
    tissue: float = TISSUE,
) -> tuple[tuple[Muscle, ...], FitReport]:
    """The muscles fitted under a skin at bind, without those of parts that have none; and what that took.

    Args:
        muscles: Muscles of any size at about the right place.
        skeleton: The joints they ride on, virtual ones included.
        points: The skin's vertices at bind [m], shape (vertices, 3).
        triangles: Its triangles, counter-clockwise seen from outside, shape (triangles, 3).
        tissue: Least thickness of skin and fat over the muscles [m].
    """
    corners = np.asarray(triangles, np.int64)
    if corners.ndim != 2 or corners.shape[1] != 3 or not len(corners):
        raise EcorcheError(
            f"the skin's triangles have shape {corners.shape}",
            where="fitting muscles",
            remedy="Give the body's mesh, three corners a triangle",
        )
    places = np.asarray(points, np.float64)
    skin = SignedPieces(places, corners)
    if skin.inside_out:
        raise MeshError(
            "the skin is inside out: its triangles run clockwise seen from outside, so no muscle has room",
            where="fitting muscles",
            remedy="Flip its faces, so that the normals point outwards, and export again",
        )
    covered, left_out = _covered(tuple(muscles), skin, places[corners].reshape(-1, 3))
    widths = np.array([_half_width(muscle) for muscle in covered])
    flatness = np.array([muscle.scale for muscle in covered])
    placed, moved = _drawn_in(covered, skin, tissue)
    paths = paths_at(
        skeleton,
        [list(zip(muscle.joints, muscle.positions, strict=True)) for muscle in placed],
        [muscle.name for muscle in placed],
    )
    hinted = section_frames(paths, [muscle.outward for muscle in placed])
    frames, turned = _turned_to_skin(hinted, placed, skin)
    shape = _Shape(paths, frames, placed, widths, widths * flatness)
    shape.fill_limbs(placed, skeleton, skin, tissue)
    shape.sweep(skin, tissue)
    shape.grow(tissue)
    exposed = shape.shrink(skin, tissue)
    spindles = shape.spindles()
    fitted = tuple(
        replace(
            muscle,
            outward=frames.out[m],
            thickness=spindles.thickness[m],
            sweep=spindles.sweep[m],
            scale=float(spindles.scale[m]),
        )
        for m, muscle in enumerate(placed)
    )
    report = FitReport(
        moved=moved,
        width=shape.side / widths,
        thickness=shape.out / (widths * flatness),
        arch=shape.arch,
        turned=turned,
        exposed=tuple((paths.names[m], float(exposed[m])) for m in np.flatnonzero(exposed > 0.0)),
        left_out=left_out,
        skin_notes=skin.notes,
    )
    return fitted, report


def _half_width(muscle: Muscle) -> float:
    """The half-axis along S at the belly [m]."""
    return float(muscle.thickness[0, 3])


def _covered(
    muscles: tuple[Muscle, ...], skin: SignedPieces, surface: Floats
) -> tuple[tuple[Muscle, ...], tuple[LeftOut, ...]]:
    """The muscles whose bellies have skin round them, and the others; a skin of another body is refused."""
    path = np.concatenate([muscle.positions for muscle in muscles])
    size, skin_size = (float(np.linalg.norm(np.ptp(x, axis=0))) for x in (path, surface))
    ratio = skin_size / size
    limb = LIMB * size
    depth = skin.depth([_belly_centre(muscle) for muscle in muscles])[0]
    out = depth < -0.5 * limb
    if ratio > OTHER_UNIT or (ratio < 1.0 / OTHER_UNIT and out.mean() > 0.5):
        told = f"{ratio:,.0f} times as large as" if ratio > 1.0 else f"{1.0 / ratio:,.0f} times smaller than"
        raise MeshError(
            f"the skin is {told} the skeleton's muscles",
            where="fitting muscles",
            remedy="Export mesh and skeleton in one unit, with their scale applied",
        )
    # a part of a skin (a bust, with its head) lies where a part of the skeleton is; one elsewhere stands out
    beyond = max(
        (path.min(axis=0) - surface.min(axis=0)).max(), (surface.max(axis=0) - path.max(axis=0)).max()
    )
    if out.all() or (out.mean() > 1.0 / 3.0 and beyond > 2.0 * limb):
        raise MeshError(
            f"the skin is not where the skeleton is: {out.sum()} of {len(out)} muscles lie more than"
            f" {50.0 * limb:.0f} cm outside it, and it reaches {beyond:.2g} m beyond them",
            where="fitting muscles",
            remedy="Put mesh and skeleton in one place, apply their transforms, and bind again",
        )
    left_out = tuple(
        LeftOut(muscles[m].name, f"it has no skin, its belly lies {-100.0 * depth[m]:.0f} cm outside")
        for m in np.flatnonzero(out)
    )
    return tuple(muscle for muscle, without in zip(muscles, out, strict=True) if not without), left_out


def _belly_centre(muscle: Muscle) -> Floats:
    """Where the belly's centre lies on the path [m], shape (3,)."""
    along = np.cumsum([0.0, *np.linalg.norm(np.diff(muscle.positions, axis=0), axis=1)])
    return np.array([np.interp(muscle.belly * along[-1], along, column) for column in muscle.positions.T])


def _drawn_in(
    muscles: tuple[Muscle, ...], skin: SignedPieces, tissue: float
) -> tuple[tuple[Muscle, ...], tuple[Moved, ...]]:
    """The muscles with all path points under the skin, deep enough for a tendon of their width."""
    counts = [len(muscle.positions) for muscle in muscles]
    starts = np.cumsum([0, *counts])
    before = np.concatenate([muscle.positions for muscle in muscles])
    after = before.copy()
    tendon = np.repeat([TENDON * _half_width(m) * max(1.0, m.scale) for m in muscles], counts)
    wanted = tissue + MOST_GROWTH * tendon
    first = np.setdiff1d(np.arange(len(before)), starts[1:] - 1)  # the node that begins each segment
    share: Floats = np.linspace(0.0, 1.0, 7)[:, None]
    for _ in range(STEPS):  # inwards from one side may come near the other, as in hands and feet
        places = (1.0 - share) * after[first, None] + share * after[first + 1, None]
        depth, outward = skin.depth(places)
        lacking = wanted[first, None] - depth
        segment, sample = np.nonzero(lacking > 1e-6)
        if not len(segment):
            break
        # the smallest move of both ends that takes the place between them in; each node, the largest of its
        u = share[sample, 0]
        need = lacking[segment, sample] / ((1.0 - u) ** 2 + u**2)
        size = np.concatenate([(1.0 - u) * need, u * need])
        node = np.concatenate([first[segment], first[segment] + 1])
        step = size[:, None] * np.tile(-outward[segment, sample], (2, 1))
        order = np.argsort(size, kind="stable")
        largest = np.zeros(after.shape)
        largest[node[order]] = step[order]
        after += largest
        moving = (largest != 0.0).any(axis=1)
        first = first[moving[first] | moving[first + 1]]
    distance = np.linalg.norm(after - before, axis=1)
    moved = tuple(
        Moved(muscle.name, int(row - start), float(distance[row]))
        for muscle, start, end in zip(muscles, starts[:-1], starts[1:], strict=True)
        for row in range(start, end)
        if distance[row] > 1e-6
    )
    placed = tuple(
        replace(muscle, positions=after[start:end])
        for muscle, start, end in zip(muscles, starts[:-1], starts[1:], strict=True)
    )
    return placed, moved


def _turned_to_skin(
    frames: SectionFrames, muscles: tuple[Muscle, ...], skin: SignedPieces
) -> tuple[SectionFrames, Floats]:
    """The frames with S_d halfway to the nearest skin, less where skin and hint disagree; the angles.

    Directions are averaged over the belly, so that a muscle between two sides of a limb does not choose
    one of them by a hair's breadth. The angle at the belly is the angle about OI: transport keeps it.
    """
    belly = np.array([muscle.belly for muscle in muscles])
    t = np.clip(belly[:, None] + np.linspace(-0.2, 0.2, 5), 0.0, 1.0)
    points, along, out = frames.bind.at(t)
    _, outward = skin.depth(points)
    # a belly's own path may lie as deep as half a limb; the hint tells which of the sides is meant
    agreement = np.maximum(np.sum(outward * out, axis=-1, keepdims=True), 0.0)
    towards = out + agreement * outward
    side = np.cross(along, out)
    sine = np.sum(towards * side, axis=(-1, -2))
    cosine = np.sum(towards * out, axis=(-1, -2))
    angle = np.arctan2(sine, cosine)
    chord = frames.bind.along
    new = np.cos(angle)[:, None] * frames.out + np.sin(angle)[:, None] * np.cross(chord, frames.out)
    return section_frames(frames.paths, new, weight=frames.weight), np.abs(angle)


class _Shape:
    """Numbers of all muscles while they are fitted: half-axes at the belly and arch [m], (M,) each."""

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
        self.arch = np.zeros(len(side))
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
        )

    def centres(self) -> Floats:
        """The rings' centres [m], shape (M, R, 3)."""
        return self.points + self.spindles().sweep_at(self.t)[..., :1] * self.outward

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
