"""Fit the muscles to a body's skin at bind: every muscle inside, filling the room it has.

Our own method, all muscles at once:

1. Path points outside the skin, or nearer to it than the tissue between, move inwards.
2. S_d turns from the template's hint towards the nearest skin, about the path at the belly.
3. On a limb the muscles become as thick as the skin is away from the bone (`muscles.limb_room`); elsewhere
   they grow where skin is near but not touched.
4. Where a path runs close under the skin, the belly's centre is swept inwards (the spindle's arch), so
   that the muscle keeps its thickness and spreads towards the bone, as muscles do; in a thick limb outwards.
5. Half-width, s_f and fullness shrink by Gauss-Newton steps on the most exposed points of the surface until
   none is within the tissue.

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
from ecorche.muscles.growing_muscles import MOST_GROWTH, GrowingMuscles
from ecorche.muscles.muscle import Muscle
from ecorche.muscles.paths import paths_at
from ecorche.muscles.section_frames import SectionFrames, section_frames
from ecorche.muscles.template.place import TENDON, LeftOut
from ecorche.skeleton.skeleton import Skeleton

Floats = npt.NDArray[np.float64]

TISSUE = 0.002
"""Skin and fat over a muscle [m], at least."""
LIMB = 0.06
"""Width of a limb as a share of the muscles' extent."""
OTHER_UNIT = 10.0
"""A skin so many times as large as the muscles, or smaller, is in another unit."""
SQUEEZED = 0.25
"""A muscle this much smaller than the template's is told."""
STEPS = 20


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
        squeezed: Names of muscles with hardly any room, and what share of the template's size they kept.
        left_out: Muscles of parts that have no skin.
        skin_notes: What is particular about the skin.
    """

    moved: tuple[Moved, ...]
    width: Floats
    thickness: Floats
    arch: Floats
    turned: Floats
    exposed: tuple[tuple[str, float], ...]
    squeezed: tuple[tuple[str, float], ...] = ()
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
        tight += [
            f"{name!r} has hardly any room under the skin: it kept {100.0 * share:.0f} % of its size"
            for name, share in self.squeezed
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
    extent: float | None = None,
) -> tuple[tuple[Muscle, ...], FitReport]:
    """The muscles fitted under a skin at bind, without those of parts that have none; and what that took.

    Args:
        muscles: Muscles of any size at about the right place.
        skeleton: The joints they ride on, virtual ones included.
        points: The skin's vertices at bind [m], shape (vertices, 3).
        triangles: Its triangles, counter-clockwise seen from outside, shape (triangles, 3).
        tissue: Least thickness of skin and fat over the muscles [m].
        extent: How large what the muscles belong to is [m], for a few of many; None is that of them all.
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
    if skin.two_sided:
        raise MeshError(
            "the skin encloses nothing: its faces are there twice, once turned round, so no muscle has room",
            where="fitting muscles",
            remedy="Take out the faces that look inwards, and export again",
        )
    if skin.inside_out:
        raise MeshError(
            "the skin is inside out: its triangles run clockwise seen from outside, so no muscle has room",
            where="fitting muscles",
            remedy="Flip its faces, so that the normals point outwards, and export again",
        )
    covered, left_out = _covered(tuple(muscles), skin, places[corners].reshape(-1, 3), extent)
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
    shape = GrowingMuscles(paths, frames, placed, widths, widths * flatness)
    shape.fill_limbs(placed, skeleton, skin, tissue)
    shape.sweep(skin, tissue)
    shape.grow(tissue)
    exposed = shape.shrink(skin, tissue)
    spindles = shape.spindles()
    kept = np.minimum(shape.side / widths, shape.out / (widths * flatness))
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
        squeezed=tuple((paths.names[m], float(kept[m])) for m in np.flatnonzero(kept < SQUEEZED)),
        left_out=left_out,
        skin_notes=skin.notes,
    )
    return fitted, report


def _half_width(muscle: Muscle) -> float:
    """The half-axis along S at the belly [m]."""
    return float(muscle.thickness[0, 3])


def _covered(
    muscles: tuple[Muscle, ...], skin: SignedPieces, surface: Floats, extent: float | None
) -> tuple[tuple[Muscle, ...], tuple[LeftOut, ...]]:
    """The muscles whose bellies have skin round them, and the others; a skin of another body is refused."""
    path = np.concatenate([muscle.positions for muscle in muscles])
    size, skin_size = (float(np.linalg.norm(np.ptp(x, axis=0))) for x in (path, surface))
    size = size if extent is None else extent
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
