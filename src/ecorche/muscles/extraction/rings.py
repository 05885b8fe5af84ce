"""The ellipses of one muscle in space, smoothed along it: from a track of bumps towards a loft."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecorche.base.rotations import normalise
from ecorche.muscles.extraction.bump import Bump, Cut
from ecorche.muscles.extraction.ellipses import Ellipse

Floats = npt.NDArray[np.float64]

SMOOTH = 2.0
"""Width of the Gaussian, in sections, that evens ellipses out along a muscle."""


@dataclass(frozen=True, eq=False)
class SpaceRings:
    """Ellipses in space, from a muscle's first section to its last.

    Attributes:
        top: The skin's point that stands out most in each section [m], shape (R, 3).
        centre: Of the ellipses [m], shape (R, 3).
        form: ``Σ a² e eᵀ`` of each ellipse's half-axes a along e [m²], shape (R, 3, 3).
        outward: Unit vectors in the sections from the centres to the skin, shape (R, 3).
        along: Where the sections lie along their region, shape (R,).
    """

    top: Floats
    centre: Floats
    form: Floats
    outward: Floats
    along: Floats


def space_rings(cuts: Sequence[Cut], bumps: Sequence[Bump], ellipses: Sequence[Ellipse]) -> SpaceRings:
    """The smoothed ellipses of the bumps of one muscle, in order along it.

    Args:
        cuts: The sections that ``Bump.cut`` counts.
        bumps: The muscle's bumps.
        ellipses: The ellipse of each, in its section's (x, y).
    """
    tops, centres, forms, out = [], [], [], []
    for bump, ellipse in zip(bumps, ellipses, strict=True):
        cut = cuts[bump.cut]
        place = _in_space(cut, bump, ellipse)
        tops.append(place[0])
        centres.append(place[1])
        forms.append(place[2])
        out.append(place[3])
    along = np.array([cuts[b.cut].along for b in bumps])
    ranks = np.array([cuts[b.cut].rank for b in bumps], float)
    pull = np.exp(-0.5 * ((ranks[:, None] - ranks) / SMOOTH) ** 2)
    # weights are balanced so that a straight row of centres stays where it is, up to the ends
    moment = np.sum(pull * (ranks - ranks[:, None]), axis=1, keepdims=True)
    second = np.sum(pull * (ranks - ranks[:, None]) ** 2, axis=1, keepdims=True)
    lines = pull * (second - moment * (ranks - ranks[:, None]))
    lines /= lines.sum(axis=1, keepdims=True)
    means = pull / pull.sum(axis=1, keepdims=True)
    return SpaceRings(
        lines @ np.stack(tops),
        lines @ np.stack(centres),
        np.tensordot(means, np.stack(forms), axes=1),
        normalise(means @ np.stack(out)),
        along,
    )


def _in_space(cut: Cut, bump: Bump, ellipse: Ellipse) -> tuple[Floats, Floats, Floats, Floats]:
    """Top, centre, form and outward of an ellipse in space; a curved section is laid flat at the top."""
    count = len(cut.points)

    def across(line: Floats) -> Floats:
        here = bump.top % count
        if cut.closed:
            return np.asarray(line[(here + 1) % count] - line[(here - 1) % count])
        return np.asarray(line[min(here + 1, count - 1)] - line[max(here - 1, 0)])

    top = cut.points[bump.top % count]
    along, flat_along = across(cut.points), across(cut.flat)
    scale = np.linalg.norm(along), np.linalg.norm(flat_along)
    if min(scale) < 1e-12:
        along, flat_along = cut.frame[0], np.array([1.0, 0.0])
    along, flat_along = normalise(along), normalise(flat_along)
    up = cut.normal(bump.top)
    normal = up - (up @ along) * along
    # the body is on the left of the curve, seen against z; so outwards is to its right
    outward = np.cross(along, normalise(normal)) if np.linalg.norm(normal) > 1e-9 else cut.frame[1]
    flat_outward = np.array([flat_along[1], -flat_along[0]])
    basis = np.stack([along, outward])
    flat_basis = np.stack([flat_along, flat_outward])
    centre = top + (flat_basis @ (ellipse.centre - cut.flat[bump.top % count])) @ basis
    axes = (ellipse.axes() @ flat_basis.T) @ basis * ellipse.half_axes[:, None]
    return top, centre, axes.T @ axes, outward
