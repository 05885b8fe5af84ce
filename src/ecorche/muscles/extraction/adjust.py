"""Muscles of a template adjusted to those found in the skin: where they bulge, how thick, how wide.

Our own method; text 001 knows no template. A found muscle and a template's lie over each other where the
template's belly runs inside the found ellipses, in their direction and next under the skin. A found bump may
be several muscles side by side: they share it. The outer face of each template's muscle is then fitted to the
outer face of the ellipses by least squares over belly, thickness, arch and fullness, held to what they were
as a person's anatomy differs and no more; widths are scaled so that those that share a bump fill it, except
on the trunk, where a bump is a part of a broad muscle. In the end all are shrunk out of the tissue under the
skin, as when they were first fitted, from the whole way or a part of it, whichever then is nearest; one that
so lost more than it gained stays as it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import least_squares

from ecorche.base.signed_pieces import SignedPieces
from ecorche.muscles.extraction.matching import Face, FoundShape, TemplateLines, matched
from ecorche.muscles.growing_muscles import GrowingMuscles
from ecorche.muscles.lofted import LoftedMuscle
from ecorche.muscles.muscle import Muscle
from ecorche.muscles.musculature import Musculature
from ecorche.muscles.spindle import Spindles, spindle_from_numbers
from ecorche.muscles.template.place import TENDON

Floats = npt.NDArray[np.float64]

BELLY_SPREAD, SIZE_SPREAD, FULLNESS_SPREAD = 0.08, 0.25, 0.2
"""How much people differ: the belly's place, the logarithm of the thickness, the fullness of each half."""
NOISE = 0.002
"""How well the skin shows a muscle's outer face [m]."""
NARROWEST, WIDEST = 0.8, 1.25
"""What a width may have to be multiplied by; it goes halfway there."""
FARTHEST = 0.12
"""How far a belly may be moved, share of the muscle's length."""
THICKER = np.log(1.5)
"""Logarithm of how many times as thick a muscle may become, or as thin."""
STEPS = (1.0, 0.5, 0.25)
"""How far towards what was found a muscle is taken; the one counts that comes nearest under the skin."""
LEAST_LEFT = 0.7
"""A muscle that would keep less than this share of its belly's section under the skin stays as it was."""


class Adjustment(NamedTuple):
    """How one muscle of a template was changed; lengths in metres, before and after.

    Attributes:
        muscle: Its name.
        found: The muscle found in the skin that showed it.
        belly: Where its belly lies, share of its length.
        thickness: Half of it, towards the skin, at the belly.
        width: Half of it, across.
        off: How far its outer face is from that of the found one, root mean square.
    """

    muscle: str
    found: str
    belly: tuple[float, float]
    thickness: tuple[float, float]
    width: tuple[float, float]
    off: tuple[float, float]


@dataclass(frozen=True, eq=False)
class Adjusted:
    """A template's muscles, adjusted.

    Attributes:
        muscles: All of them, in order; those that were not matched as they were.
        adjustments: What was changed.
        alone: Names of found muscles that no muscle of the template lies in.
        exposed: Names of adjusted muscles that still come nearer to the skin than the tissue, with how much.
    """

    muscles: tuple[Muscle, ...]
    adjustments: tuple[Adjustment, ...]
    alone: tuple[str, ...]
    exposed: tuple[tuple[str, float], ...]


def adjusted(
    template: Musculature, found: Sequence[LoftedMuscle], skin: SignedPieces, *, tissue: float
) -> Adjusted:
    """A template's muscles, fitted under a skin, adjusted to those found in it.

    Args:
        template: The muscles at bind.
        found: Those found in the skin.
        skin: The skin at bind.
        tissue: Least thickness of skin and fat over the muscles [m].
    """
    lines = TemplateLines(template)
    pairs = matched(template, found)
    shape = _shape_of(template)
    before = _numbers(shape)
    off: dict[int, tuple[float, Face]] = {}
    for number, members in pairs.items():
        one = FoundShape(found[number])
        if not one.flat:  # a flat one shows a part of their widths only
            _widen(shape, lines, members, one)
        for m in members:
            face = one.face_over(lines, m)
            off[m] = face.off(shape.outer(m, lines.t), tissue), face
            _fit(shape, m, face, tissue)
    changed = sorted(off)
    if not changed:
        return Adjusted(template.muscles, (), tuple(m.name for m in found), ())
    tries = [_under_skin(template, before.towards(shape, step), changed, skin, tissue) for step in STEPS]
    muscles = list(template.muscles)
    whose = {m: number for number, members in pairs.items() for m in members}
    told, narrow = [], []
    for row, m in enumerate(changed):
        was, face = off[m]
        fitting = [
            (face.off(one.shape.outer(m, lines.t), tissue), rank)
            for rank, one in enumerate(tries)
            if one.shape.section(m) >= LEAST_LEFT * before.section(m)
        ]
        now, rank = min(fitting, default=(np.inf, -1))
        if now > was:
            continue
        best = tries[rank]
        muscles[m] = replace(
            muscles[m],
            belly=float(best.spindles.belly[row]),
            thickness=best.spindles.thickness[row],
            sweep=best.spindles.sweep[row],
            scale=float(best.spindles.scale[row]),
        )
        if best.exposed[row] > 0.0:
            narrow.append((muscles[m].name, float(best.exposed[row])))
        told.append(
            Adjustment(
                muscles[m].name,
                found[whose[m]].name,
                (float(before.belly[m]), float(best.shape.belly[m])),
                (float(before.out[m]), float(best.shape.out[m])),
                (float(before.side[m]), float(best.shape.side[m])),
                (was, now),
            )
        )
    alone = [m.name for number, m in enumerate(found) if number not in pairs]
    return Adjusted(tuple(muscles), tuple(told), tuple(alone), tuple(narrow))


class _Shape:
    """Numbers of spindles while they are adjusted: belly, half-axes, arch outwards and lean [m], fullness."""

    def __init__(
        self, belly: Floats, side: Floats, out: Floats, arch: Floats, lean: Floats, fullness: Floats
    ) -> None:
        self.belly, self.side, self.out = belly, side, out
        self.arch, self.lean, self.fullness = arch, lean, fullness

    def outer(self, m: int, t: Floats) -> Floats:
        """How high over its path a muscle's outer face lies [m], (K,)."""
        return _outer(t, self.belly[m], self.out[m], self.arch[m], self.fullness[0, m], self.fullness[1, m])

    def section(self, m: int) -> float:
        """Product of a muscle's half-axes at the belly [m²]."""
        return float(self.out[m] * self.side[m])

    def towards(self, other: _Shape, step: float) -> _Shape:
        """These numbers a step, 0 to 1, towards others."""
        ours, theirs = vars(self), vars(other)
        return _Shape(**{name: (1.0 - step) * ours[name] + step * theirs[name] for name in ours})


def _numbers(shape: _Shape) -> _Shape:
    return shape.towards(shape, 0.0)


def _shape_of(template: Musculature) -> _Shape:
    """The numbers that make the template's spindles, as `spindle_from_numbers` takes them."""
    s = template.spindles
    b = s.thickness[:, 0, 3]
    ends = s.thickness[:, [0, 1], [0, 3]].T
    beside = s.thickness[:, [0, 1], [1, 2]].T
    fullness = np.clip((beside - ends) / np.maximum(b - ends, 1e-9), 0.0, 1.0)
    return _Shape(
        s.belly.copy(),
        b.copy(),
        s.scale * b,
        s.sweep[:, 0, 3, 0].copy(),
        s.sweep[:, 0, 3, 1].copy(),
        fullness,
    )


def _outer(t: Floats, belly: float, out: float, arch: float, first: float, second: float) -> Floats:
    """The outer face of a spindle over its path [m], (K,)."""
    made = spindle_from_numbers(
        1.0, 1.0, belly=belly, tendon_origin=TENDON, tendon_insertion=TENDON,
        fullness_origin=first, fullness_insertion=second, arch=1.0,
    )  # fmt: skip
    return np.asarray(out * made.thickness_at(t)[0] + arch * made.sweep_at(t)[0, :, 0])


def _widen(shape: _Shape, lines: TemplateLines, members: Sequence[int], one: FoundShape) -> None:
    """Widths and leans of the muscles that share a bump, so that together they are as wide as it, halfway."""
    middle = int(np.argmin(np.abs(lines.t - 0.5)))
    side = lines.side[members[0], middle]
    belly = [int(np.argmin(np.abs(lines.t - shape.belly[m]))) for m in members]
    places = np.stack([lines.centre[m, k] for m, k in zip(members, belly, strict=True)])
    here = places.mean(axis=0)
    at = (places - here) @ side
    half = shape.side[members]
    low, high = float((at - half).min()), float((at + half).max())
    centre, wide = one.across(here, side)
    factor = float(np.clip(2.0 * wide / max(high - low, 1e-9), NARROWEST, WIDEST)) ** 0.5
    for m, k, x in zip(members, belly, at, strict=True):
        goal = 0.5 * (centre - 0.5 * (low + high)) + (factor - 1.0) * (x - 0.5 * (low + high))
        sign = float(np.sign(lines.side[m, k] @ side)) or 1.0
        bound = 0.5 * shape.side[m]
        shape.lean[m] += sign * float(np.clip(goal, -bound, bound))
        shape.side[m] *= factor


def _fit(shape: _Shape, m: int, face: Face, tissue: float) -> None:
    """Belly, half-thickness, arch and fullness of one muscle by its outer face."""
    belly, out, arch = float(shape.belly[m]), float(shape.out[m]), float(shape.arch[m])
    full = shape.fullness[:, m].copy()
    goal = face.height - tissue

    def wrong(x: Floats) -> Floats:
        own = _outer(face.t, x[0], out * np.exp(x[1]), arch + out * x[2], x[3], x[4])
        return np.concatenate(
            [
                (own - goal) / (NOISE * np.sqrt(len(goal))),
                [
                    (x[0] - belly) / BELLY_SPREAD,
                    x[1] / SIZE_SPREAD,
                    x[2] / SIZE_SPREAD,
                    (x[3] - full[0]) / FULLNESS_SPREAD,
                    (x[4] - full[1]) / FULLNESS_SPREAD,
                ],
            ]
        )

    start = np.array([belly, 0.0, 0.0, *np.clip(full, 0.01, 0.99)])
    low = [max(belly - FARTHEST, 0.05), -THICKER, -1.0, 0.0, 0.0]
    high = [min(belly + FARTHEST, 0.95), THICKER, 1.0, 1.0, 1.0]
    start = np.clip(start, np.array(low) + 1e-6, np.array(high) - 1e-6)
    x = least_squares(wrong, start, bounds=(low, high)).x
    shape.belly[m], shape.out[m], shape.arch[m] = x[0], out * np.exp(x[1]), arch + out * x[2]
    shape.fullness[:, m] = x[3:]


class _Try(NamedTuple):
    """The changed muscles under the skin: numbers, spindles, and how far each is in the tissue still [m]."""

    shape: _Shape
    spindles: Spindles
    exposed: Floats


def _under_skin(
    template: Musculature, shape: _Shape, changed: Sequence[int], skin: SignedPieces, tissue: float
) -> _Try:
    """The changed muscles shrunk out of the tissue; ``shape`` takes their numbers."""
    from ecorche.muscles.paths import paths_at
    from ecorche.muscles.section_frames import section_frames

    muscles = [replace(template.muscles[m], belly=float(shape.belly[m])) for m in changed]
    paths = paths_at(
        template.frames.paths.skeleton,
        [list(zip(m.joints, m.positions, strict=True)) for m in muscles],
        [m.name for m in muscles],
    )
    frames = section_frames(paths, [m.outward for m in muscles])
    rows = list(changed)
    grown = GrowingMuscles(paths, frames, tuple(muscles), shape.side[rows], shape.out[rows])
    grown.arch, grown.lean = -shape.arch[rows], shape.lean[rows].copy()
    grown.fullness = shape.fullness[:, rows].copy()
    grown.measure(skin, np.ones(len(rows), bool))
    exposed = grown.shrink(skin, tissue)
    shape.side[rows], shape.out[rows], shape.fullness[:, rows] = grown.side, grown.out, grown.fullness
    return _Try(shape, grown.spindles(), exposed)
