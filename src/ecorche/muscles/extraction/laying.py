"""Rings in space laid on a muscle's root curve: found, drawn or changed, all muscles get theirs here."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ecorche.muscles.extraction.rings import SpaceRings
from ecorche.muscles.loft_frames import SectionAxes, bind_axes
from ecorche.muscles.lofted import LoftedMuscle, Rings
from ecorche.muscles.section_frames import turned

Floats = npt.NDArray[np.float64]

RINGS = 7
"""Rings kept of a muscle, evenly spaced."""
SAMPLES = 257
"""Of a root curve, to find where rings lie on it."""
MARGIN = 0.03
"""Rings nearer to an end than this share of the length are left out."""
NO_RINGS = Rings(np.zeros(0), np.zeros((0, 2)), np.zeros((0, 2)), np.zeros(0))


def laid(muscle: LoftedMuscle, rings: SpaceRings, hinge: Floats) -> LoftedMuscle:
    """The muscle with rings in space laid on its root curve, each where the curve passes it squarely.

    A ring that faces another way than the curve is turned to it, as large as it was. Rings that the curve
    does not pass are left out, be it all of them.

    Args:
        muscle: Its ends, its obstacle and its outward direction count.
        rings: The rings.
        hinge: The joint it crosses [m], shape (3,).
    """
    shares = np.linspace(0.0, 1.0, SAMPLES)
    line = bind_axes(muscle, shares)
    feet = [_foot(line, shares, centre) for centre in rings.centre]
    kept: list[int] = []
    for n, foot in enumerate(feet):
        last = (feet[kept[-1]] or 0.0) if kept else 0.0
        if foot is not None and MARGIN < foot < 1.0 - MARGIN and foot > last + 1e-3:
            kept.append(n)
    if not kept:
        return replace(muscle, rings=NO_RINGS)
    if len(kept) > RINGS:
        kept = [kept[round(k)] for k in np.linspace(0, len(kept) - 1, RINGS)]
    u = np.array([feet[n] for n in kept], np.float64)
    axes = bind_axes(muscle, u)
    basis = np.stack([axes.out, axes.side], axis=1)
    values, vectors = np.linalg.eigh(rings.form[kept])
    normal = vectors[:, :, 0] * np.sign(np.sum(vectors[:, :, 0] * axes.along, axis=1))[:, None]
    half = np.sqrt(np.maximum(values[:, 1:], 1e-12))
    arms = np.stack(
        [turned(normal, axes.along, vectors[:, :, k]) * half[:, k - 1, None] for k in (1, 2)], axis=1
    )
    flat = np.einsum("rix,rkx->rik", arms, basis)
    values, vectors = np.linalg.eigh(np.einsum("rik,ril->rkl", flat, flat))
    centre = np.einsum("rkx,rx->rk", basis, rings.centre[kept] - axes.points)
    crossing = _foot(line, shares, hinge)
    if crossing is None:
        crossing = float(np.argmin(np.linalg.norm(line.points - hinge, axis=1)) / (SAMPLES - 1))
    return replace(
        muscle,
        rings=Rings(
            u,
            centre,
            np.sqrt(np.maximum(values, 1e-12)),
            np.arctan2(vectors[:, 1, 0], vectors[:, 0, 0]),
        ),
        crossing=float(np.clip(crossing, 0.02, 0.98)),
    )


def _foot(line: SectionAxes, shares: Floats, place: Floats) -> float | None:
    """The share of a curve where a place lies square to it, the nearest of them; None where nowhere does."""
    ahead = np.sum((place - line.points) * line.along, axis=1)
    here = np.flatnonzero((ahead[:-1] >= 0.0) & (ahead[1:] < 0.0))
    if len(here) == 0:
        return None
    best = int(here[np.argmin(np.linalg.norm(line.points[here] - place, axis=1))])
    part = ahead[best] / (ahead[best] - ahead[best + 1])
    return float(shares[best] + part * (shares[best + 1] - shares[best]))
