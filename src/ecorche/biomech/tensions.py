"""How hard each muscle pulls: torques of joints shared out over muscles, frame by frame.

Text 004, 3.1: muscles outnumber joint torques, and of all forces that make the torques those with the least
sum of squares are taken. Two costs:

- ``cost="tension"``: the text's Σ f², with 0 ≤ f ≤ F_max.
- ``cost="activation"``: Σ a^p, where a muscle's force is a times what it can do at its length and speed, plus
  what it resists when stretched (`muscle_state`). Measured activity (EMG) enters as Σ w (a − a_emg)² on the
  muscles it was measured on, so that muscles that work against each other show; on request their neighbours
  are drawn to the time courses it shows (`synergies`).

What muscles cannot make is never dropped: each coordinate has a reserve, so costly that it is used only
there, (r / reserve)² for a torque r, and the result names all that use it. Coordinates of the floating base
are not driven by muscles at all; what they need is the residual of the measurement, told apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from ecorche.base.names import suggestion
from ecorche.biomech.dual_newton import solve_frames
from ecorche.biomech.muscle_state import MuscleState
from ecorche.biomech.synergies import synergy_targets
from ecorche.errors import EcorcheError

Floats = npt.NDArray[np.float64]
Cost = Literal["tension", "activation"]

RESERVE = 0.1
"""Torque of a reserve that costs as much as one muscle's full effort [N·m], where nothing else is said."""
TOLD = 0.05
"""Reserves that make more than this share of their coordinate's largest torque are told."""
SLIGHT = 0.05
"""Those below this [N m], as of fingers that nothing measures, are told together."""


@dataclass(frozen=True, eq=False)
class Wanted:
    """Activation that was measured, as a soft target.

    Attributes:
        activation: Of all muscles, NaN where nothing was measured, (frames, M).
        weight: w, how much a distance to it costs against the activation itself.
        synergies: Numbers of time courses that muscles beside the measured ones are drawn to, averaged over;
            the measured ones then follow their activation times a factor (`synergies`). None leaves all
            others to the least effort.
    """

    activation: Floats
    weight: float = 1.0
    synergies: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class Tensions:
    """What muscles and reserves do.

    Attributes:
        force: Of each muscle along its tendon [N], (frames, M).
        activation: Active share of what each muscle could do, 0 to 1, (frames, M).
        reserve: Torque that muscles lack, 0 for base coordinates [N·m], (frames, C).
        residual: Torque of base coordinates, 0 for the others [N·m], (frames, C).
        share: Largest reserve over the largest torque, 0 for base coordinates, (C,).
        short: Names of coordinates whose share is above `TOLD`.
        notes: What was found, in words.
        steps: Newton steps of each frame, (frames,).
    """

    force: Floats
    activation: Floats
    reserve: Floats
    residual: Floats
    share: Floats
    short: tuple[str, ...]
    notes: tuple[str, ...]
    steps: npt.NDArray[np.int64]


def muscle_tensions(
    moment_arms: npt.ArrayLike,
    torques: npt.ArrayLike,
    strongest: npt.ArrayLike,
    *,
    muscles: Sequence[str],
    coordinates: Sequence[str],
    cost: Cost = "activation",
    power: float = 2.0,
    state: MuscleState | None = None,
    least: npt.ArrayLike = 0.0,
    most: npt.ArrayLike = 1.0,
    base: Sequence[str] = (),
    reserve: npt.ArrayLike = RESERVE,
    wanted: Wanted | None = None,
) -> Tensions:
    """Forces and activations of M muscles that make the torques of C coordinates at the least cost.

    Args:
        moment_arms: Torque of each muscle for one newton [m], (frames, M, C), or (M, C) for all frames.
        torques: [N·m; N where the coordinate is a length], (frames, C).
        strongest: F_max [N], (M,).
        muscles, coordinates: Their names.
        cost: ``"tension"`` or ``"activation"``.
        power: p of the activation's cost, from 1. Powers far above 2 are slow, and may be refused.
        state: What muscles can do at each frame, (frames, M) or (M,); F_max at any length if none.
        least, most: Bounds of the activation or of f / F_max, 0 to 1, one number or one a muscle.
        base: Coordinates of the floating base.
        reserve: Torque of a reserve that costs as much as one full effort, one number or one a coordinate.
        wanted: Measured activation; for ``cost="activation"``.
    """
    arms, asked, limit = _inputs(moment_arms, torques, strongest, muscles, coordinates)
    frames, count = len(asked), len(muscles)
    _check_choices(cost, power, wanted, state, base, coordinates)
    low, high = (_bounds(value, what, muscles) for value, what in ((least, "least"), (most, "most")))
    if not (low <= high).all():
        name = muscles[int(np.argmin(low <= high))]
        raise EcorcheError("its least effort is above its most", where=f"muscle {name!r}", remedy="Swap them")
    strength = np.broadcast_to(np.asarray(reserve, np.float64), (len(coordinates),))
    if not (np.isfinite(strength) & (strength > 0.0)).all():
        raise EcorcheError("a reserve is not above 0", where="muscle tensions", remedy=f"Take {RESERVE} N·m")
    gain = np.broadcast_to(limit, (frames, count))
    passive = np.zeros((frames, count))
    weight, target = np.zeros((frames, count)), np.zeros((frames, count))
    price = np.ones(count)
    if cost == "tension":
        price = limit**2 / np.mean(limit**2)
    elif state is not None:
        gain, passive = (_of_state(value, frames, muscles) for value in (state.active, state.passive))
    if wanted is not None:
        weight, target = _target(wanted, frames, muscles)
    driven = np.array([name not in base for name in coordinates])
    every = np.broadcast_to(arms, (frames, *arms.shape[1:]))
    held = np.einsum("fm,fmc->fc", passive, every)
    missing = np.where(driven, asked - held, 0.0)
    if wanted is not None and wanted.synergies:
        drawn = synergy_targets(
            every * driven * gain[..., None], missing, wanted.activation, wanted.synergies
        )
        weight, target = _target(replace(wanted, activation=drawn), frames, muscles)
    effort, left = np.empty((frames, count)), np.empty(asked.shape)
    steps = np.empty(frames, np.int64)
    solve_frames(
        np.ascontiguousarray(arms * driven),
        np.array(gain, order="C"),  # a copy, as views that cannot be written to are compiled for apart
        np.ascontiguousarray(missing),
        price,
        power,
        weight,
        target,
        low,
        high,
        0.5 * strength**2,
        effort,
        left,
        steps,
    )
    if (steps < 0).any():
        raise EcorcheError(
            f"no activations of power {power:g} were found",
            where=f"frame {int(np.argmax(steps < 0))}",
            remedy="Take a power nearer to 2, or a stronger reserve",
        )
    force = gain * effort + passive
    residual = np.where(driven, 0.0, asked - np.einsum("fm,fmc->fc", force, every))
    left = np.where(driven, left, 0.0)
    peak = np.abs(asked).max(axis=0, initial=0.0)
    share = np.abs(left).max(axis=0, initial=0.0) / np.where(peak > 0.0, peak, np.inf)
    notes = _notes(coordinates, left, share, arms * gain[..., None], driven)
    short = tuple(name for name, part in zip(coordinates, share, strict=True) if part > TOLD)
    return Tensions(force, effort, left, residual, share, short, notes, steps)


def _notes(
    coordinates: Sequence[str], left: Floats, share: Floats, able: Floats, driven: npt.NDArray[np.bool_]
) -> tuple[str, ...]:
    """In words, what reserves had to do and why; joints without muscles in one sentence."""
    notes, bare, slight = [], [], []
    for c, name in enumerate(coordinates):
        if not driven[c] or share[c] <= TOLD:
            continue
        frame = int(np.argmax(np.abs(left[:, c])))
        torque, pulls = left[frame, c], able[frame if len(able) > 1 else 0, :, c]
        if not able[..., c].any():
            bare.append(f"{name} ({abs(torque):.3g} N·m)")
            continue
        if abs(torque) < SLIGHT:
            slight.append(name)
            continue
        if not (pulls * torque > 0.0).any():
            why = "no muscle turns it that way"
        else:
            why = "muscles are too weak, or needed elsewhere"
        notes.append(
            f"{name}: a reserve makes up to {abs(torque):.3g} N·m, {share[c]:.0%} of the largest torque"
            f" (frame {frame}): {why}"
        )
    if slight:
        notes.append(
            f"reserves make more than {TOLD:.0%} of the torque, but less than {SLIGHT:g} N·m, of"
            f" {', '.join(slight)}"
        )
    if bare:
        notes.append(f"no muscle crosses {', '.join(bare)}: reserves make up to so much there, all of it")
    return tuple(notes)


def _inputs(
    moment_arms: npt.ArrayLike,
    torques: npt.ArrayLike,
    strongest: npt.ArrayLike,
    muscles: Sequence[str],
    coordinates: Sequence[str],
) -> tuple[Floats, Floats, Floats]:
    arms, asked = np.asarray(moment_arms, np.float64), np.asarray(torques, np.float64)
    limit = np.broadcast_to(np.asarray(strongest, np.float64), (len(muscles),))
    arms = arms[None] if arms.ndim == 2 else arms
    size = len(muscles), len(coordinates)
    if (
        asked.ndim != 2
        or asked.shape[1] != size[1]
        or arms.shape[1:] != size
        or len(arms) not in (1, len(asked))
    ):
        raise EcorcheError(
            f"moment arms {arms.shape} and torques {asked.shape} do not fit {size[0]} muscles"
            f" and {size[1]} coordinates",
            where="muscle tensions",
            remedy="Give moment arms (frames, muscles, coordinates) and torques (frames, coordinates)",
        )
    for values, what in ((arms, "moment arm"), (asked, "torque")):
        if not np.isfinite(values).all():
            place = np.argwhere(~np.isfinite(values))[0]
            raise EcorcheError(
                f"a {what} is not a number",
                where=f"coordinate {coordinates[place[-1]]!r}, frame {place[0]}",
                remedy="Mend the motion or leave the frame out",
            )
    if not (np.isfinite(limit) & (limit > 0.0)).all():
        name = muscles[int(np.argmin(np.isfinite(limit) & (limit > 0.0)))]
        raise EcorcheError("F_max is not above 0", where=f"muscle {name!r}", remedy="Give newtons above 0")
    return arms, asked, limit


def _check_choices(
    cost: str,
    power: float,
    wanted: Wanted | None,
    state: MuscleState | None,
    base: Sequence[str],
    coordinates: Sequence[str],
) -> None:
    if cost not in ("tension", "activation"):
        raise EcorcheError(f"the cost {cost!r} is unknown", remedy="Choose 'tension' or 'activation'")
    if not (np.isfinite(power) and power >= 1.0):
        raise EcorcheError(f"the power is {power:g}", where="muscle tensions", remedy="Give 1 or more")
    if cost == "tension" and (wanted is not None or state is not None or power != 2.0):
        raise EcorcheError(
            "the cost 'tension' takes no muscle state, EMG or power",
            where="muscle tensions",
            remedy="Choose the cost 'activation'",
        )
    for name in base:
        if name not in coordinates:
            raise EcorcheError(f"no coordinate {name!r}", where="base", remedy=suggestion(name, coordinates))


def _bounds(given: npt.ArrayLike, what: str, muscles: Sequence[str]) -> Floats:
    values = np.array(np.broadcast_to(np.asarray(given, np.float64), (len(muscles),)))
    good = (values >= 0.0) & (values <= 1.0)
    if not good.all():
        bad = int(np.argmin(good))
        raise EcorcheError(
            f"the {what} effort is {values[bad]:g}", where=f"muscle {muscles[bad]!r}", remedy="Give 0 to 1"
        )
    return values


def _of_state(given: Floats, frames: int, muscles: Sequence[str]) -> Floats:
    if given.shape not in ((len(muscles),), (frames, len(muscles))):
        raise EcorcheError(
            f"the muscle state has the shape {given.shape} for {frames} frames and {len(muscles)} muscles",
            where="muscle tensions",
            remedy="Make it of the same frames and muscles",
        )
    return np.broadcast_to(given, (frames, len(muscles)))


def _target(wanted: Wanted, frames: int, muscles: Sequence[str]) -> tuple[Floats, Floats]:
    """Weights and targets (frames, M); what was not measured has the weight 0."""
    if wanted.activation.shape != (frames, len(muscles)):
        raise EcorcheError(
            f"measured activation has the shape {wanted.activation.shape}, not ({frames}, {len(muscles)})",
            where="wanted",
            remedy="Give every frame and muscle, NaN for what was not measured",
        )
    known = ~np.isnan(wanted.activation)
    inside = (wanted.activation >= 0.0) & (wanted.activation <= 1.0)
    if not (inside | ~known).all():
        frame, muscle = (int(k) for k in np.argwhere(known & ~inside)[0])
        raise EcorcheError(
            f"measured activation is {wanted.activation[frame, muscle]:g}",
            where=f"muscle {muscles[muscle]!r}, frame {frame}",
            remedy="Normalise it to 0 to 1",
        )
    if not (np.isfinite(wanted.weight) and wanted.weight >= 0.0):
        raise EcorcheError(f"the weight of EMG is {wanted.weight:g}", where="wanted", remedy="Give 0 or more")
    return np.where(known, wanted.weight, 0.0), np.where(known, wanted.activation, 0.0)
