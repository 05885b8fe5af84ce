"""What a muscle of MuJoCo can do at a length and speed: its own curves, and no tendon.

MuJoCo's muscle is an actuator whose length is that of the path. The range of this length that the model says
is a range of fibre lengths; with it the path's length and speed are those of fibres, in optimal lengths:

    L0 = (l_high − l_low) / (r_high − r_low),   L = r_low + (l − l_low) / L0,   V = v / (L0 · v_max)
    f = F_max · (a · FL(L) · FV(V) + FP(L))

Where that line leads to a path of L0 and a "tendon" of less than no length, nothing is wrong: MuJoCo knows no
tendon, and the model is to be taken at its word. Formulas are those of ``mju_muscleGain`` and
``mju_muscleBias``, for all frames and muscles at once; a test holds them to rounding against MuJoCo.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ecorche.biomech.muscle_state import MuscleState

Floats = npt.NDArray[np.float64]

LEAST = 1e-15
"""By which MuJoCo divides at least."""
MUSCLE_BIAS = 2
"""MuJoCo's number for actuators with a muscle's passive force, ``mjBIAS_MUSCLE``."""


@dataclass(frozen=True, eq=False)
class MujocoMuscles:
    """Numbers of M muscles, each (M,); lengths and forces are those of the path.

    Attributes:
        strongest: F_max, active, at the optimal length, standing still [N].
        shortest_path: Low end of the range of lengths [m].
        optimal_length: L0, path length that is one optimal length of fibres [m].
        shortest: The low end in optimal lengths.
        least, most: Lengths between which fibres are active [optimal lengths].
        fastest: Speed of shortening at which no force is left [optimal lengths a second].
        most_fast: FV of the fastest lengthening.
        stiffness: Passive force at the length where its line begins, times two [N].
        passive_length, passive_shortest, passive_most: As L0, the low end and ``most``, of the passive force,
            for which a file may say other numbers.
    """

    strongest: Floats
    shortest_path: Floats
    optimal_length: Floats
    shortest: Floats
    least: Floats
    most: Floats
    fastest: Floats
    most_fast: Floats
    stiffness: Floats
    passive_length: Floats
    passive_shortest: Floats
    passive_most: Floats

    def state(self, length: npt.ArrayLike, velocity: npt.ArrayLike) -> MuscleState:
        """What muscles can do with paths of a length [m] and velocity [m/s], (..., M) each."""
        path, speed = np.asarray(length, np.float64), np.asarray(velocity, np.float64)
        fibre = self.shortest + (path - self.shortest_path) / np.maximum(LEAST, self.optimal_length)
        rate = speed / np.maximum(LEAST, self.optimal_length * self.fastest)
        active = self.strongest * _active(fibre, self.least, self.most) * _fast(rate, self.most_fast)
        along = (path - self.shortest_path) / np.maximum(LEAST, self.passive_length)
        passive = self.stiffness * _passive(self.passive_shortest + along, self.passive_most)
        return MuscleState(
            active,
            passive,
            np.zeros_like(path),
            fibre * self.optimal_length,
            np.array(speed),
            np.ones_like(path),
            np.asarray(fibre <= self.least),
        )


def mujoco_muscles(model: Any, actuators: npt.NDArray[np.int64]) -> MujocoMuscles:
    """The muscles of a compiled model that are these actuators, all of the kind muscle."""
    gear = model.actuator_gear[actuators, 0]  # an actuator's length is gear times that of its path
    low, high = model.actuator_lengthrange[actuators].T / gear
    gain, bias = model.actuator_gainprm[actuators], model.actuator_biasprm[actuators]
    for_one = np.maximum(LEAST, model.actuator_acc0[actuators])
    force, passive = (np.where(p[:, 2] < 0.0, p[:, 3] / for_one, p[:, 2]) * gear for p in (gain, bias))
    pulls = model.actuator_biastype[actuators] == MUSCLE_BIAS
    optimal, passive_length = ((high - low) / np.maximum(LEAST, p[:, 1] - p[:, 0]) for p in (gain, bias))
    return MujocoMuscles(
        force,
        low,
        optimal,
        np.array(gain[:, 0]),
        np.array(gain[:, 4]),
        np.array(gain[:, 5]),
        np.array(gain[:, 6]),
        np.array(gain[:, 8]),
        np.where(pulls, passive * bias[:, 7], 0.0),
        passive_length,
        np.array(bias[:, 0]),
        np.array(bias[:, 5]),
    )


def _share(part: Floats, whole: Floats) -> Floats:
    return np.asarray(part / np.maximum(LEAST, whole))


def _active(length: Floats, least: Floats, most: Floats) -> Floats:
    """FL: 0 at both ends, 1 at the optimal length, four parabolas."""
    rise, fall = 0.5 * (least + 1.0), 0.5 * (1.0 + most)
    inside = [
        length < least,
        length <= rise,
        length <= 1.0,
        length <= fall,
        length <= most,
    ]
    values = [
        np.zeros_like(length),
        0.5 * _share(length - least, rise - least) ** 2,
        1.0 - 0.5 * _share(1.0 - length, 1.0 - rise) ** 2,
        1.0 - 0.5 * _share(length - 1.0, fall - 1.0) ** 2,
        0.5 * _share(most - length, most - fall) ** 2,
    ]
    return np.select(inside, values, 0.0)


def _fast(rate: Floats, most: Floats) -> Floats:
    """FV: 0 at the fastest shortening, 1 standing still, ``most`` where fibres are pulled out."""
    over = most - 1.0
    values = [np.zeros_like(rate), (rate + 1.0) ** 2, most - _share((over - rate) ** 2, over)]
    return np.select([rate <= -1.0, rate <= 0.0, rate <= over], values, np.broadcast_to(most, rate.shape))


def _passive(length: Floats, most: Floats) -> Floats:
    """FP over its value at ``most``: nothing up to the optimal length, a parabola to halfway, then a line."""
    half = 0.5 * (1.0 + most)
    bent, straight = _share(length - 1.0, half - 1.0), _share(length - half, half - 1.0)
    return np.select([length <= 1.0, length <= half], [np.zeros_like(length), 0.5 * bent**2], 0.5 + straight)
