"""One sigmoid spindle fitted to the markers over it: the 27 numbers that cost least.

A. Murai and others, 2016, section 3.2; the cost is in `spindle_cost`, with what is changed there. The
published optimiser, interior reflective Newton, works on the whole Jacobian; `bounded_newton` comes as near
to the markers, within a hundredth, from the normal equations in three fifths of the time.

Changed here:

* The text takes the polar axis from a bone; a section that lies aslant to it could not be fitted. Four axes
  are tried with the undeformed spindle, and from the best of them its turn is one more unknown, constant over
  the motion.
* ε is drawn back into [0, 1) by residuals; what little is left outside is brought in at the end by less
  slope.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ecorche.biomech.bounded_newton import Least, least
from ecorche.biomech.spindle_cost import ECCENTRICITIES, Cost, OverSpindle, Residuals, corners
from ecorche.muscles.spindle import Floats

TURNS: Floats = np.radians([0.0, 45.0, 90.0, 135.0])
"""Polar axes that are tried, from the one given."""
TRIED_FRAMES = 40
"""Frames, evenly over the motion, on which they are tried."""
TRIED_TOLERANCE, TOLERANCE = 1e-3, 1e-5
"""A search has come to rest when a step lowers the cost by a smaller share; of tries, and of what stays."""
MOST_STEPS = 100


@dataclass(frozen=True, eq=False)
class SpindleFit:
    """What was found for one spindle.

    Attributes:
        name: Of the spindle.
        coefficients: α, β and γ of the nine quantities, (9, 3).
        undeformed: The nine quantities of the best spindle that does not deform, (9,).
        turn: The polar axis that fitted best, from the one given [rad].
        undeformed_turn: The same of the undeformed one [rad].
        before: Mean distance of markers from the undeformed spindle [m], that of each marker at rest, or its
            mean over the motion, taken out: what changes. after: From the deforming one.
        bare_before: The same with nothing taken out [m]. bare_after: Likewise.
        volume: Standard deviation of the volume, as a share of its mean.
        seam: Largest step of the radius at the belly over the frames [m].
        steps: That the optimiser took.
        notes: What a person should know.
    """

    name: str
    coefficients: Floats
    undeformed: Floats
    turn: float
    undeformed_turn: float
    before: float
    after: float
    bare_before: float
    bare_after: float
    volume: float
    seam: float
    steps: int
    notes: tuple[str, ...]


def fit_spindle(over: OverSpindle, cost: Cost) -> SpindleFit:
    """The 27 numbers of one spindle that bring it nearest to its markers."""
    alone = np.ones((len(over.lengths), 1))
    count = len(over.lengths) - over.rest
    some = np.unique(np.linspace(0, count - 1, min(count, TRIED_FRAMES)).round().astype(np.int64))
    seen = np.unique(over.frame[over.moving])
    if len(seen) and not np.isin(some, seen).any():
        some = seen[:TRIED_FRAMES]
    tried = [
        _solved(Residuals(over, alone, cost, float(turn), some), tolerance=TRIED_TOLERANCE) for turn in TURNS
    ]
    best = tried[int(np.argmin([one.cost for one in tried]))].unknowns
    still = Residuals(over, alone, cost, float(best[-1]))
    plain = _solved(still, best)
    triangle, notes = corners(over.lengths, over.tensions)
    moving = Residuals(over, triangle.weights, cost, float(plain.unknowns[-1]))
    found = plain  # where neither length nor tension varies nothing tells how it deforms
    if triangle.weights.shape[1] > 1:
        found = _solved(moving, moving.spread(plain.unknowns[:-1], float(plain.unknowns[-1])))
    unknowns = _within(found.unknowns, triangle.weights)
    quantities = moving.quantities(unknowns)
    volume, _ = moving.volumes(quantities)
    before, after = still.errors(plain.unknowns), moving.errors(unknowns)
    if not found.settled:
        notes = (*notes, f"the search stopped after {MOST_STEPS} steps before it had settled")
    return SpindleFit(
        name=over.name,
        coefficients=unknowns[:-1].reshape(9, -1) @ triangle.terms,
        undeformed=plain.unknowns[:-1],
        turn=_half_turn(float(found.unknowns[-1])),
        undeformed_turn=_half_turn(float(plain.unknowns[-1])),
        before=float(np.abs(moving.changing(before)[over.moving]).mean()),
        after=float(np.abs(moving.changing(after)[over.moving]).mean()),
        bare_before=float(np.abs(before[over.moving]).mean()),
        bare_after=float(np.abs(after[over.moving]).mean()),
        volume=float(volume.std() / volume.mean()),
        seam=moving.seam(quantities),
        steps=plain.steps + found.steps,
        notes=notes,
    )


def _within(unknowns: Floats, weights: Floats) -> Floats:
    """The unknowns with ε's slopes made smaller about its mean, until it is in bounds in every frame."""
    made = unknowns.copy()
    rows = made[:-1].reshape(9, -1)
    values = weights @ rows[8]
    middle = float(np.clip(values.mean(), ECCENTRICITIES[0] + 1e-3, ECCENTRICITIES[1] - 1e-3))
    low, high = float((values - values.mean()).min()), float((values - values.mean()).max())
    share = min(
        1.0,
        (ECCENTRICITIES[1] - middle) / max(high, 1e-12),
        (ECCENTRICITIES[0] - middle) / min(low, -1e-12),
    )
    rows[8] = middle + share * (rows[8] - values.mean())
    return made


def _half_turn(turn: float) -> float:
    """The same axis of an ellipse, from −90° up to 90° [rad]."""
    return (turn + np.pi / 2) % np.pi - np.pi / 2


def _solved(residuals: Residuals, start: Floats | None = None, *, tolerance: float = TOLERANCE) -> Least:
    """The least cost within the bounds."""
    low, high = residuals.bounds
    inside = 1e-3 * (high - low)  # the search begins off the walls
    return least(
        residuals.value,
        residuals.normal,
        np.clip(residuals.start() if start is None else start, low + inside, high - inside),
        (low, high),
        residuals.scale,
        tolerance=tolerance,
        most_steps=MOST_STEPS,
    )
