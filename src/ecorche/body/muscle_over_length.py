"""One muscle at other lengths than at bind: its volume and its thickness, for a plot.

The numbers are those of a bake: the rule that keeps the volume of a spindle (`muscles.volume`) or of a muscle
found in the skin (`muscles.loft`), asked at given lengths instead of in poses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecorche.body.character import Character
from ecorche.body.edit_spindles import one_spindle
from ecorche.body.edited_rig import found_muscle, require_known
from ecorche.document.files import Rig
from ecorche.errors import EcorcheError
from ecorche.muscles.loft import THINNEST, loft
from ecorche.muscles.root_curves import root_curves
from ecorche.muscles.volume import contract

Floats = npt.NDArray[np.float64]

SHARES = (0.5, 0.75, 1.0, 1.25, 1.5)
"""Lengths as shares of that at bind: what text 000 measures its volume over, and more."""
ALONG = np.linspace(0.0, 1.0, 201)
"""Where the thickest section is looked for."""


@dataclass(frozen=True)
class MuscleAtLength:
    """A muscle at one length.

    Attributes:
        share: Of the length at bind.
        length: [m].
        volume: [m³].
        half_axes: Of its thickest section, towards the skin and across for a spindle, the longer and the
            shorter for a muscle found in the skin [m].
        held: Whether it is too long to keep its volume, its belly as thin as can be.
    """

    share: float
    length: float
    volume: float
    half_axes: tuple[float, float]
    held: bool


def muscle_over_length(
    rig: Rig,
    character: Character,
    name: str,
    shares: Sequence[float] = SHARES,
    *,
    bulge: float = 1.0,
) -> tuple[MuscleAtLength, ...]:
    """A muscle at some lengths.

    Args:
        rig: The rig.
        character: Its character.
        name: A spindle, or a muscle found in the skin.
        shares: Lengths as shares of that at bind, above 0.
        bulge: T: sections so many times as deep, and by as much narrower; 1 is at rest.
    """
    require_known(rig, name)
    relative = np.asarray(shares, np.float64)
    if not (relative.ndim == 1 and np.isfinite(relative).all() and (relative > 0.0).all()):
        raise EcorcheError("a length is not above 0", where=name, remedy="Give shares such as 0.5 and 1.5")
    if not (np.isfinite(bulge) and bulge > 0.0):
        raise EcorcheError(f"there is no bulge of {bulge}", where=name, remedy="Give 1 or more")
    if name in rig.spec.muscles.named:
        return _spindle(rig, character, name, relative, bulge)
    return _loft(rig, character, name, relative, bulge)


def _spindle(
    rig: Rig, character: Character, name: str, relative: Floats, bulge: float
) -> tuple[MuscleAtLength, ...]:
    one = one_spindle(rig, character, name)
    lengths = relative[:, None] * one.spindles.bind_length
    states = contract(one.spindles, lengths, bulge=bulge, volume=one.volume)
    out, side = (axes[:, 0] for axes in states.half_axes(ALONG))
    thickest = (out * side).argmax(axis=1)
    rows = np.arange(len(relative))
    return _rows(
        relative,
        lengths[:, 0],
        states.volumes()[:, 0],
        np.stack([out[rows, thickest], side[rows, thickest]], axis=1),
        states.held[:, 0],
    )


def _loft(
    rig: Rig, character: Character, name: str, relative: Floats, bulge: float
) -> tuple[MuscleAtLength, ...]:
    muscle = found_muscle(rig, character, name)
    length = float(root_curves([muscle], character.skeleton.joint_count).bind.lengths[0])
    shape = loft(muscle.rings)
    kappa = shape.dilation(relative)
    stretch, _ = shape.at(ALONG)
    swollen = 1.0 + kappa[:, None] * shape.bulging(ALONG)
    tense = np.array([[bulge, 0.0], [0.0, 1.0 / bulge]])
    sections = np.linalg.svd(tense @ stretch, compute_uv=False)
    thickest = (np.linalg.det(stretch) * swollen**2).argmax(axis=1)
    rows = np.arange(len(relative))
    axes = sections[thickest] * swollen[rows, thickest, None]
    return _rows(relative, relative * length, shape.volume(relative * length, kappa), axes, kappa <= THINNEST)


def _rows(
    relative: Floats, lengths: Floats, volumes: Floats, axes: Floats, held: npt.NDArray[np.bool_]
) -> tuple[MuscleAtLength, ...]:
    return tuple(
        MuscleAtLength(float(share), float(length), float(volume), (float(a), float(b)), bool(thin))
        for share, length, volume, (a, b), thin in zip(relative, lengths, volumes, axes, held, strict=True)
    )
