"""Which muscles of a model lie next to the skin: those that can show, and be identified from markers.

Text 004 takes 300 of 989 so, by hand. Here every muscle is a cord of its volume along its path at the
character's bind (`model_on_character`). From stations along the middle of it one goes straight out to the
nearest skin. A station lies free where no other muscle's cord is met on the way, and a muscle is next to the
skin where a share of its stations do. A model's paths are lines over bone, so cords reach into each other:
one is in the way only where its line is nearer to the skin.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ecorche.base.signed_pieces import SignedPieces
from ecorche.biomech.model_on_character import PlacedPath

Floats = npt.NDArray[np.float64]

FREE = 0.3
"""A muscle is next to the skin where so large a share of its stations lies free."""
STATIONS = 15
MIDDLE = (0.15, 0.85)
"""Stations lie between these shares of the path; beyond is tendon."""
PIECES = 60
"""Of each line, when it is asked what is in the way."""


def free_shares(paths: Sequence[PlacedPath | None], skin: SignedPieces) -> Floats:
    """Share of each muscle that lies free under the skin, 0 to 1, (muscles,); 0 where it has no path there.

    Args:
        paths: Muscles on a character, see `paths_on_character`.
        skin: Of the same character at bind.
    """
    there = [k for k, path in enumerate(paths) if path is not None]
    known = [path for path in paths if path is not None]
    found = np.zeros(len(paths))
    if not known:
        return found
    lines = np.array([_along(path.points, np.linspace(0.0, 1.0, PIECES)) for path in known])
    radii = np.array([path.radius for path in known])
    depths = skin.depth(lines)[0] * (-1.0 if skin.inside_out else 1.0)
    for row, path in enumerate(known):
        stations = _along(path.points, np.linspace(*MIDDLE, STATIONS))
        deep, out = skin.depth(stations)
        deep, out = (-deep, -out) if skin.inside_out else (deep, out)
        covered = np.zeros(STATIONS, bool)
        for other, line in enumerate(lines):
            if other == row:
                continue
            # how far along the way out, and how far beside it, each piece of the other line is
            away = line - stations[:, None]
            along = np.einsum("skx,sx->sk", away, out)
            beside = np.linalg.norm(away - along[..., None] * out[:, None], axis=2)
            nearer = (depths[other] < deep[:, None] - 0.25 * radii[other]) & (along > 0.0)
            covered |= (nearer & (beside < radii[other])).any(axis=1)
        found[there[row]] = 1.0 - covered.mean()
    return found


def surface_muscles(paths: Sequence[PlacedPath | None], skin: SignedPieces) -> npt.NDArray[np.bool_]:
    """Which muscles of a model lie next to a character's skin, (muscles,)."""
    return np.asarray(free_shares(paths, skin) >= FREE)


def _along(points: Floats, share: Floats) -> Floats:
    """Points of a line of pieces at shares 0 to 1 of its length, (S, 3)."""
    arc = np.append(0.0, np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1)))
    return np.column_stack([np.interp(share * arc[-1], arc, axis) for axis in points.T])
