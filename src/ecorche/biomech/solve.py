"""From poses and measured forces to what each muscle does: inverse dynamics, paths, tensions, in one go.

Text 004, section 3.1, its flow. Muscles pull with tendons that do not stretch, or as their model says itself
(MuJoCo's); their speeds are those of their paths, ``−arm · q̇``, so lengths, arms and speeds belong together
exactly. What ligaments, passive tendons and springs of the model do is taken from the moments first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecorche.base.recordings import ForceRecording
from ecorche.biomech.inverse_dynamics import CUTOFF, JointMoments, inverse_dynamics
from ecorche.biomech.model import MusculoskeletalModel, OwnMuscleCurves
from ecorche.biomech.muscle_curves import Curves, Millard
from ecorche.biomech.muscle_state import MuscleState, muscle_sizes, with_rigid_tendon
from ecorche.biomech.tensions import RESERVE, Cost, Tensions, Wanted, muscle_tensions
from ecorche.errors import EcorcheError

Floats = npt.NDArray[np.float64]
Progress = Callable[[str, int, int], None]

NOTHING = 1e-6
"""Moments up to this are rounding [N·m]."""


@dataclass(frozen=True, eq=False)
class Solved:
    """What a body did.

    Attributes:
        moments: Smoothed coordinates and what the joints had to do.
        lengths: Of the muscles' paths [m], (frames, M).
        tensions: What muscles and reserves do.
        notes: All that a person should know.
    """

    moments: JointMoments
    lengths: Floats
    tensions: Tensions
    notes: tuple[str, ...]


def solve_muscles(
    model: MusculoskeletalModel,
    times: Floats,
    q: npt.ArrayLike,
    forces: Sequence[ForceRecording] = (),
    *,
    bodies: Mapping[str, str] | None = None,
    cutoff: float | None = CUTOFF,
    force_cutoff: float | None = None,
    cost: Cost = "activation",
    power: float = 2.0,
    reserve: float = RESERVE,
    wanted: Wanted | None = None,
    curves: Curves | None = None,
    progress: Progress | None = None,
) -> Solved:
    """Forces and activations of a model's muscles in a motion.

    Args:
        model: With masses and muscles.
        times: Evenly spaced [s], (frames,).
        q: Coordinates [rad or m], (frames, coordinates).
        forces: Measured, in the model's ground frame.
        bodies: The body each acts on, by its name, where the recording does not say.
        cutoff, force_cutoff: Of the low-pass of coordinates and forces [Hz]; None takes them as they are.
        cost, power, reserve, wanted: See `muscle_tensions`.
        curves: Of the muscles, with rigid tendons; where none are given the model's own, if it has any, else
            Millard's.
        progress: Told how far it is: stage, done, total.
    """
    if not model.muscles:
        raise EcorcheError(
            "has no muscles to solve for", where=model.name, remedy="Give a model with muscles on its bones"
        )
    told = progress or (lambda *_: None)
    moments = inverse_dynamics(
        model, times, q, forces, bodies=bodies, cutoff=cutoff, force_cutoff=force_cutoff
    )
    count = len(times)
    lengths = np.empty((count, len(model.muscles)))
    arms = np.empty((count, len(model.muscles), len(model.coordinates)))
    held = np.zeros((count, len(model.coordinates)))
    for frame, pose in enumerate(moments.q):
        lengths[frame], arms[frame] = model.muscle_lengths(pose), model.moment_arms(pose)
        held[frame] = model.passive_moments(pose, moments.qd[frame])
        told("paths", frame + 1, count)
    names = tuple(muscle.name for muscle in model.muscles)
    state = None
    if cost == "activation":
        speeds = -np.einsum("fmc,fc->fm", arms, moments.qd)
        state = _state(model, lengths, speeds, curves)
    # coordinates that stand still by themselves ask nothing of muscles
    free = [k for k, coordinate in enumerate(model.coordinates) if not coordinate.locked]
    tensions = muscle_tensions(
        arms[:, :, free],
        (moments.moments - held)[:, free],
        [muscle.max_force for muscle in model.muscles],
        muscles=names,
        coordinates=[model.coordinates[k].name for k in free],
        cost=cost,
        power=power,
        state=state,
        base=[name for name in model.root if name in {model.coordinates[k].name for k in free}],
        reserve=reserve,
        wanted=wanted,
    )
    told("muscles", count, count)
    notes = [*moments.notes, *tensions.notes]
    if np.abs(held).max(initial=0.0) > NOTHING:
        most = np.unravel_index(np.abs(held).argmax(), held.shape)
        notes.append(
            f"ligaments, cartilage, springs and limits do up to {abs(held[most]):.3g} N·m"
            f" ({model.coordinates[most[1]].name}, frame {most[0]}): muscles make the rest"
        )
    if state is not None and state.slack.any():
        slack = [name for name, frames in zip(names, state.slack.T, strict=True) if frames.any()]
        notes.append(
            f"{len(slack)} muscles hang slack in some frames, such as {slack[0]!r}: they do not pull"
        )
    return Solved(moments, lengths, tensions, tuple(notes))


def _state(
    model: MusculoskeletalModel, lengths: Floats, speeds: Floats, curves: Curves | None
) -> MuscleState:
    """What muscles can do at lengths and speeds of their paths [m, m/s], (frames, M)."""
    if curves is None and isinstance(model, OwnMuscleCurves):
        return model.muscle_state(lengths, speeds)
    sizes = muscle_sizes(
        [muscle.name for muscle in model.muscles],
        [muscle.max_force for muscle in model.muscles],
        [muscle.optimal_fibre_length for muscle in model.muscles],
        [muscle.tendon_slack_length for muscle in model.muscles],
        pennation=[muscle.pennation for muscle in model.muscles],
        fastest=[muscle.max_velocity for muscle in model.muscles],
    )
    return with_rigid_tendon(sizes, curves or Millard(), lengths, speeds)
