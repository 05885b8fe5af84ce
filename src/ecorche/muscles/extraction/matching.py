"""Which muscles of a template are those that show in a skin: they lie in the found ellipses, and along them.

Our own measure; see `adjust`. On the trunk the ellipses are flat and lie close under the skin: they say how
broad a muscle is and where its outer face lies, not how deep it goes. So a template's muscle that a flat one
is called after, told by bones (`template_names`), need not lie in its ellipses but under them, over less of
its belly and deeper.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ecorche.base.rotations import normalise
from ecorche.muscles.extraction.redrawn import space_rings_of
from ecorche.muscles.loft import loft
from ecorche.muscles.loft_frames import bind_axes
from ecorche.muscles.lofted import LoftedMuscle
from ecorche.muscles.muscle import Muscle
from ecorche.muscles.musculature import Musculature

Floats = npt.NDArray[np.float64]

BELLY = 0.5
"""A muscle's belly is where it has this share of its thickness."""
OVERLAP = 0.5
"""Of the shorter of both bellies, this share lies within the other."""
ALIKE = np.cos(np.radians(35.0))
"""Cosine between their directions, at least."""
WITHIN = 1.1
"""The template's centre line lies within this radius of the ellipse, 1 on it."""
UNDER = 0.6
"""Its outer face lies at most this share of its own thickness below the ellipse's."""
FLAT = 0.6
"""Ellipses are flat whose short axis is less than this share of the long one: the trunk's are, by half."""
SEEN = 5
"""A face that is seen at fewer places along a muscle says nothing of its shape."""
CALLED_OVERLAP, CALLED_ALIKE, CALLED_UNDER, CALLED_SEEN = 0.15, np.cos(np.radians(50.0)), 1.25, 4
"""The same of a muscle that a flat one is called after: the top of a buttock shows a fifth of it and hardly a
direction, and a strong back stands far out over the template's muscles."""
COVERED = 0.5
"""A muscle that others lie over by more than this share of its width is not what shows."""
SAMPLES = 41
"""Places along a muscle that are compared."""


def matched(template: Musculature, found: Sequence[LoftedMuscle]) -> dict[int, list[int]]:
    """Numbers of the template's muscles that each found one shows; each of them once, where it fits best."""
    lines = TemplateLines(template)
    best: dict[int, tuple[float, int]] = {}
    for number, muscle in enumerate(found):
        one = FoundShape(muscle)
        for m, known in enumerate(template.muscles):
            if not set(known.reach.joints or known.joints) & set(muscle.reach or muscle.joints):
                continue
            score = one.overlap(lines, m, under=one.flat and _called_after(muscle, known))
            if score > best.get(m, (0.0, -1))[0]:
                best[m] = score, number
    pairs: dict[int, list[int]] = {}
    for m, (_, number) in sorted(best.items()):
        if lines.covered(m) <= COVERED:
            pairs.setdefault(number, []).append(m)
    return dict(sorted(pairs.items()))


def _called_after(found: LoftedMuscle, known: Muscle) -> bool:
    """Whether a found muscle is called after a template's, or after the whole of which that is a head."""
    name, _, side = known.name.rpartition(", ")
    return found.muscle in (known.muscle, name) and found.name.endswith(f", {side}")


class TemplateLines:
    """The template's muscles at places along them: t (K,); centres, tangents, out, side (M, K, 3)."""

    def __init__(self, template: Musculature) -> None:
        spindles = template.spindles
        self.t = np.linspace(0.02, 0.98, SAMPLES)
        self.points, self.along, self.out = template.frames.bind.at(np.tile(self.t, (len(spindles), 1)))
        self.side = np.cross(self.along, self.out)
        self.half = spindles.thickness_at(self.t)
        self.scale = spindles.scale
        sweep = spindles.sweep_at(self.t)
        self.centre = self.points + sweep[..., :1] * self.out + sweep[..., 1:] * self.side
        self.length = spindles.bind_length

    def covered(self, m: int) -> float:
        """How much of a muscle's width at the belly other muscles lie over, share of it."""
        k = int(np.argmax(self.half[m]))
        away = self.centre - self.centre[m, k]
        ahead = np.abs(away @ self.along[m, k])
        near = np.argmin(ahead, axis=1)
        rows = np.arange(len(near))
        half, thick = self.half[rows, near], self.scale * self.half[rows, near]
        beside = ahead[rows, near] < self.length * (self.t[1] - self.t[0])
        over = away[rows, near] @ self.out[m, k] + thick - thick[m]
        at, own = away[rows, near] @ self.side[m, k], half[m]
        shared = np.minimum(at + half, own) - np.maximum(at - half, -own)
        covers = beside & (over > 0.3 * thick[m]) & (over < 4.0 * (thick + thick[m])) & (rows != m)
        return float(np.where(covers, np.maximum(shared, 0.0), 0.0).sum() / (2.0 * own))


class Face(NamedTuple):
    """The outer face of a found muscle over a path: where along it (K,), and how high over it [m] (K,)."""

    t: Floats
    height: Floats
    every: Floats

    def off(self, outer: Floats, tissue: float) -> float:
        """How far an outer face (samples,) at every place is from it, root mean square [m]."""
        if len(self.t) == 0:
            return 0.0
        own = np.interp(self.t, self.every, outer)
        return float(np.sqrt(np.mean((own - self.height + tissue) ** 2)))


class FoundShape:
    """A found muscle's sections over the stretch where it shows."""

    def __init__(self, muscle: LoftedMuscle) -> None:
        u = np.linspace(muscle.rings.u[0], muscle.rings.u[-1], SAMPLES)
        self.axes = bind_axes(muscle, u)
        self.stretch, centre = loft(muscle.rings).at(u)
        self.middle = self.axes.points + centre[:, :1] * self.axes.out + centre[:, 1:] * self.axes.side
        self.basis = np.stack([self.axes.out, self.axes.side], axis=1)
        steps = np.linalg.norm(np.diff(self.middle, axis=0), axis=1)
        self.length = float(steps.sum())
        axes = np.linalg.svd(self.stretch, compute_uv=False)
        self.flat = bool(np.median(axes[:, 1] / axes[:, 0]) < FLAT)
        self.outward = normalise(space_rings_of(muscle).outward.mean(axis=0))

    def section(self, places: Floats) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
        """Which section each place (K, 3) is nearest to, and whether it lies beside them and not beyond."""
        away = places[:, None] - self.middle
        nearest = np.argmin(np.sum(away**2, axis=-1), axis=1)
        ahead = np.sum(away[np.arange(len(places)), nearest] * self.axes.along[nearest], axis=1)
        step = self.length / SAMPLES
        beyond = ((nearest == 0) & (ahead < -step)) | ((nearest == SAMPLES - 1) & (ahead > step))
        return nearest, ~beyond

    def on_circle(self, places: Floats, section: npt.NDArray[np.int64]) -> Floats:
        """Places (K, 3) in their sections with the ellipse as unit circle, (K, 2)."""
        flat = np.einsum("kix,kx->ki", self.basis[section], places - self.middle[section])
        return np.asarray(np.linalg.solve(self.stretch[section], flat[..., None])[..., 0])

    def aside(self, places: Floats, side: Floats, section: npt.NDArray[np.int64]) -> Floats:
        """How far places (K, 3) lie off the middle of their sections along ``side`` (K, 3), 1 at the edge."""
        flat = np.einsum("kix,kx->ki", self.basis[section], side)
        wide = np.linalg.norm(np.einsum("kij,kj->ki", self.stretch[section], flat), axis=1)
        off = np.abs(np.sum((places - self.middle[section]) * side, axis=1))
        return np.asarray(off / np.maximum(wide, 1e-9))

    def overlap(self, lines: TemplateLines, m: int, *, under: bool = False) -> float:
        """How much a template's muscle lies in this one, 0 to 1; 0 where it does not.

        With ``under`` it need only lie under it.
        """
        belly = lines.half[m] >= BELLY * lines.half[m].max()
        places = lines.centre[m][belly]
        section, beside = self.section(places)
        if under:
            radius = self.aside(places, lines.side[m][belly], section)
        else:
            radius = np.linalg.norm(self.on_circle(places, section), axis=1)
        inside = beside & (radius <= WITHIN)
        if not inside.any():
            return 0.0
        alike = np.abs(np.sum(lines.along[m][belly] * self.axes.along[section], axis=1))[inside].mean()
        step = lines.length[m] * (lines.t[1] - lines.t[0])
        shared = inside.sum() * step / min(belly.sum() * step, self.length)
        if alike < (CALLED_ALIKE if under else ALIKE) or shared < (CALLED_OVERLAP if under else OVERLAP):
            return 0.0
        face = self.face_over(lines, m)
        outer = lines.scale[m] * lines.half[m] + np.sum(
            (lines.centre[m] - lines.points[m]) * lines.out[m], axis=1
        )
        thick = float(lines.scale[m] * lines.half[m].max())
        if len(face.t) < (CALLED_SEEN if under else SEEN):
            return 0.0
        below = float(np.median(face.height - np.interp(face.t, lines.t, outer)))
        deepest = (CALLED_UNDER if under else UNDER) * 2.0 * thick
        if below > deepest or float(np.mean(lines.out[m] @ self.outward)) < 0.5:
            return 0.0
        return float(
            min(shared, 1.0) * alike * np.exp(-max(below, 0.0) / thick) / (1.0 + radius[inside].mean())
        )

    def face_over(self, lines: TemplateLines, m: int) -> Face:
        """The outer face over a template's muscle; of flat ellipses over its belly, as its ends lie deep."""
        on = lines.half[m] >= BELLY * lines.half[m].max() if self.flat else np.ones(len(lines.t), bool)
        face = self.face(lines.points[m][on], lines.out[m][on], lines.t[on])
        return face._replace(every=lines.t)

    def face(self, points: Floats, out: Floats, t: Floats) -> Face:
        """How far along ``out`` (K, 3) from a path's points (K, 3) the outer face of the ellipses lies."""
        section, beside = self.section(points)
        start = self.on_circle(points, section)
        way = np.linalg.solve(
            self.stretch[section], np.einsum("kix,kx->ki", self.basis[section], out)[..., None]
        )[..., 0]
        a = np.sum(way * way, axis=1)
        b = np.sum(start * way, axis=1)
        c = np.sum(start * start, axis=1) - 1.0
        root = b * b - a * c
        good = beside & (root > 0.0) & (a > 0.0)
        far = (-b + np.sqrt(np.maximum(root, 0.0))) / np.where(a > 0.0, a, 1.0)
        good &= far > 0.0
        return Face(t[good], far[good], t)

    def across(self, place: Floats, side: Floats) -> tuple[float, float]:
        """Middle and half-width of the section nearest to a place, along ``side`` from that place [m]."""
        section, _ = self.section(place[None])
        flat = self.basis[section[0]] @ side
        return float((self.middle[section[0]] - place) @ side), float(
            np.linalg.norm(self.stretch[section[0]] @ flat)
        )
