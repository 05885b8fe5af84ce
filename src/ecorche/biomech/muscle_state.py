"""What muscles can do at the length and speed of their paths: fibres, tendons, and the force of each.

The curves are those of `muscle_curves`. The tendon is rigid by default (`with_rigid_tendon`): it keeps its
slack length, and fibres take up all the rest; or fibres and elastic tendon pull alike (`at_equilibrium`).
Fibres that would be shorter than they can be give no force: those muscles are slack, and told.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecorche.biomech.muscle_curves import Curves
from ecorche.errors import EcorcheError

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

STEEPEST = float(np.arccos(0.1))
"""The largest angle between fibres and tendon where nothing else is said [rad]."""


@dataclass(frozen=True, eq=False)
class MuscleSizes:
    """How big M muscles are; numbers of one muscle a row.

    Attributes:
        strongest: F_max, the force of fully active fibres at their optimal length [N], (M,).
        optimal_length: Of the fibres [m], (M,).
        slack_length: Of the tendon [m], (M,).
        pennation: Angle of fibres to the tendon at their optimal length [rad], (M,).
        fastest: Speed of shortening at which no force is left [optimal lengths a second], (M,).
        steepest: Largest angle of fibres to the tendon [rad], (M,).
        names: Of the muscles, for messages.
    """

    strongest: Floats
    optimal_length: Floats
    slack_length: Floats
    pennation: Floats
    fastest: Floats
    steepest: Floats
    names: tuple[str, ...]

    @property
    def thickness(self) -> Floats:
        """Of the layer that fibres lie in [m], (M,)."""
        return np.asarray(self.optimal_length * np.sin(self.pennation))


def muscle_sizes(
    names: Sequence[str],
    strongest: npt.ArrayLike,
    optimal_length: npt.ArrayLike,
    slack_length: npt.ArrayLike,
    *,
    pennation: npt.ArrayLike = 0.0,
    fastest: npt.ArrayLike = 10.0,
    steepest: npt.ArrayLike = STEEPEST,
) -> MuscleSizes:
    """Sizes of muscles, checked; a single number stands for all of them."""
    given = {
        "strongest": (strongest, 0.0, np.inf, False),
        "optimal_length": (optimal_length, 0.0, np.inf, False),
        "slack_length": (slack_length, 0.0, np.inf, True),
        "pennation": (pennation, 0.0, 0.5 * np.pi, True),
        "fastest": (fastest, 0.0, np.inf, False),
        "steepest": (steepest, 0.0, 0.5 * np.pi, False),
    }
    arrays: dict[str, Floats] = {}
    for what, (value, low, high, from_low) in given.items():
        array = np.asarray(value, np.float64)
        if array.shape not in ((), (len(names),)):
            raise EcorcheError(
                f"{what} has the shape {array.shape} for {len(names)} muscles",
                where="muscle sizes",
                remedy="Give one number, or one a muscle",
            )
        array = np.broadcast_to(array, (len(names),))
        good = ((array >= low) if from_low else (array > low)) & (array < high)
        if not good.all():
            worst = int(np.argmin(good))
            raise EcorcheError(
                f"{what} is {array[worst]:g}",
                where=f"muscle {names[worst]!r}",
                remedy=f"Give a number {'from' if from_low else 'above'} {low:g}"
                + (f" and below {high:g}" if np.isfinite(high) else ""),
            )
        arrays[what] = array
    return MuscleSizes(**arrays, names=tuple(names))


@dataclass(frozen=True, eq=False)
class MuscleState:
    """What muscles can do at each frame. All but `slack` are (..., M).

    Attributes:
        active: Force along the tendon for each unit of activation [N].
        passive: Force along the tendon of fibres stretched without activation [N].
        damping: Force along the tendon by the speed alone, β v; negative where fibres shorten [N]. It
            steadies simulations; a muscle whose three forces sum to less than 0 has none, as fibres cannot
            push.
        fibre_length: [m].
        fibre_velocity: [m/s]; negative shortens.
        cosine: Cosine of the angle between fibres and tendon.
        slack: Where the path is too short for fibres to pull at all: such muscles have no force.
    """

    active: Floats
    passive: Floats
    damping: Floats
    fibre_length: Floats
    fibre_velocity: Floats
    cosine: Floats
    slack: Bools


def with_rigid_tendon(
    sizes: MuscleSizes,
    curves: Curves,
    length: npt.ArrayLike,
    velocity: npt.ArrayLike,
    *,
    activation: npt.ArrayLike = 1.0,
) -> MuscleState:
    """The state of muscles from the length and speed of their paths, with tendons that do not stretch.

    Args:
        sizes: Of M muscles.
        curves: Of all of them.
        length: Of the paths, tendons included [m], (..., M).
        velocity: Of the paths [m/s], (..., M); negative shortens.
        activation: At which the force–speed curve is taken, where that depends on it, (..., M).
    """
    path, speed = (_paths(sizes, value, what) for value, what in ((length, "length"), (velocity, "velocity")))
    along = path - sizes.slack_length
    fibre = np.hypot(sizes.thickness, np.maximum(along, 0.0))
    slack = (along <= 0.0) | (fibre <= shortest_fibres(sizes, curves))
    fibre = np.where(slack, shortest_fibres(sizes, curves), fibre)
    cosine = np.sqrt(1.0 - np.minimum(sizes.thickness / fibre, 1.0) ** 2)
    fibre_velocity = np.where(slack, 0.0, speed * cosine)
    l, v = fibre / sizes.optimal_length, fibre_velocity / (sizes.optimal_length * sizes.fastest)  # noqa: E741
    force = np.where(slack, 0.0, sizes.strongest * cosine)
    active = force * curves.active(l) * curves.speed(v, activation)
    return MuscleState(
        active, force * curves.passive(l), force * curves.damping * v, fibre, fibre_velocity, cosine, slack
    )


def at_equilibrium(
    sizes: MuscleSizes, curves: Curves, length: npt.ArrayLike, activation: npt.ArrayLike
) -> MuscleState:
    """The state of muscles at rest whose fibres pull as hard as their elastic tendons.

    Args:
        sizes: Of M muscles; slack lengths above 0.
        curves: Of all of them.
        length: Of the paths, tendons included [m], (..., M).
        activation: At which fibres and tendons balance, 0 to 1, (..., M).
    """
    path = _paths(sizes, length, "length")
    if not (sizes.slack_length > 0.0).all():
        name = sizes.names[int(np.argmin(sizes.slack_length))]
        raise EcorcheError(
            "it has no tendon to stretch", where=f"muscle {name!r}", remedy="Take a rigid tendon"
        )
    level = np.broadcast_to(np.asarray(activation, np.float64), path.shape)
    least = shortest_fibres(sizes, curves)

    def pulls(along: Floats) -> tuple[Floats, Floats, Floats]:
        """Length of fibres this long along the tendon; active and passive force along it over F_max."""
        fibre = np.hypot(sizes.thickness, along)
        cosine, l = along / fibre, fibre / sizes.optimal_length  # noqa: E741
        return fibre, curves.active(l) * cosine, curves.passive(l) * cosine

    low = np.broadcast_to(np.sqrt(np.maximum(least**2 - sizes.thickness**2, 0.0)), path.shape)
    slack = path - low <= sizes.slack_length
    high = np.where(slack, low, path - sizes.slack_length)
    for _ in range(60):  # of the length along the tendon: at the low end the tendon pulls harder
        middle = 0.5 * (low + high)
        _, active, passive = pulls(middle)
        weaker = level * active + passive < curves.tendon((path - middle) / sizes.slack_length)
        low, high = np.where(weaker, middle, low), np.where(weaker, high, middle)
    along = 0.5 * (low + high)
    fibre, active, passive = pulls(along)
    force, still = np.where(slack, 0.0, sizes.strongest), np.zeros(path.shape)
    return MuscleState(force * active, force * passive, still, fibre, still, along / fibre, slack)


def shortest_fibres(sizes: MuscleSizes, curves: Curves) -> Floats:
    """The length of fibres below which muscles are slack [m], (M,): by their curve or their angle."""
    return np.maximum(curves.shortest() * sizes.optimal_length, sizes.thickness / np.sin(sizes.steepest))


def _paths(sizes: MuscleSizes, given: npt.ArrayLike, what: str) -> Floats:
    values = np.asarray(given, np.float64)
    if values.ndim == 0 or values.shape[-1] != len(sizes.names):
        raise EcorcheError(
            f"the {what} of paths has the shape {values.shape} for {len(sizes.names)} muscles",
            where="muscle state",
            remedy="Give one number a muscle in the last axis",
        )
    if not np.isfinite(values).all():
        place = tuple(int(k) for k in np.argwhere(~np.isfinite(values))[0])
        where = f"muscle {sizes.names[place[-1]]!r}" + (f", frame {place[0]}" if len(place) > 1 else "")
        raise EcorcheError(f"the {what} of its path is not a number", where=where, remedy="Mend the motion")
    return values
