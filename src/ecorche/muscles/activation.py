"""How much each muscle works: activation, force and bulge, and where activation comes from.

Three words, never mixed: ``activation`` α from 0 to 1; ``force`` F in newtons, α = F / F_max;
``bulge`` T ≥ 1, the shape ratio that text 000 calls tension, T = 1 + α (T_max − 1).

Sources give the activation of M muscles over a motion, (frames, M): `Constant`, `Curves` of keys,
`JointDriven` by the angles of the joints a muscle acts on, and `Anticipating`, where activation rises
before the motion and is released as the bones move. The last is the thesis's section 4.6 (text 002)
as a filter in seconds: speeds are per second, counted in the direction of the muscle's action,
clipped and with a smooth onset, so that nothing pops and the frame rate does not matter. Its n frames
and its linear ramp are replaced by a smooth window of ``lead`` seconds ahead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
import numpy.typing as npt

from ecorche.base.names import suggestion
from ecorche.base.rotations import normalise, xyzw_from_matrix
from ecorche.base.smooth_step import smooth_step
from ecorche.base.transforms import nearest_rotation
from ecorche.errors import EcorcheError
from ecorche.muscles.activation_in_time import spread_in_time
from ecorche.skeleton.kinematics import difference_from_bind
from ecorche.skeleton.motion import Motion
from ecorche.skeleton.naming import Naming, canonical_name
from ecorche.skeleton.skeleton import Skeleton

Floats = npt.NDArray[np.float64]

LARGEST_BULGE = 1.3
"""T_max: the bulge of a fully active muscle where nothing else is said."""

_FADE = np.radians(30.0)  # within this of half a turn an angle about an axis fades out, before it wraps
_GRID = 32  # steps of the anticipation's clock in one lead time


def bulge_from_activation(activation: npt.ArrayLike, largest: npt.ArrayLike = LARGEST_BULGE) -> Floats:
    """The bulge T = 1 + α (T_max − 1); ``largest`` is T_max ≥ 1, one number or one a muscle."""
    alpha = _fraction(activation, "activation")
    top = np.asarray(largest, np.float64)
    if not (np.isfinite(top) & (top >= 1.0)).all():
        raise EcorcheError(
            "the largest bulge is below 1 or not a number", remedy="Choose 1 or more, such as 1.3"
        )
    return np.asarray(1.0 + alpha * (top - 1.0))


def activation_from_force(force: npt.ArrayLike, strongest: npt.ArrayLike) -> Floats:
    """The activation α = F / F_max of forces F [N] (..., M) and the strongest forces (M,) [N]."""
    force, limit = np.asarray(force, np.float64), _strongest(strongest)
    alpha = force / limit
    if not ((alpha >= 0.0) & (alpha <= 1.0)).all():
        worst = np.argwhere(~((alpha >= 0.0) & (alpha <= 1.0)))[0]
        muscle = int(worst[-1]) if len(worst) else 0
        raise EcorcheError(
            f"the force {np.broadcast_to(force, alpha.shape)[tuple(worst)]:.6g} N of muscle {muscle} is not"
            " between 0 and its strongest force",
            remedy="Muscles only pull: give forces from 0 to F_max, or raise F_max",
        )
    return np.asarray(alpha)


def force_from_activation(activation: npt.ArrayLike, strongest: npt.ArrayLike) -> Floats:
    """The force F = α F_max [N] of activations (..., M) and the strongest forces (M,) [N]."""
    return np.asarray(_fraction(activation, "activation") * _strongest(strongest))


class ActivationSource(Protocol):
    """Anything that says how active each muscle is over a motion."""

    def over(self, motion: Motion) -> Floats:
        """Activation from 0 to 1, shape (frames, M)."""
        ...


class Constant:
    """The same activation all the time: one number for each muscle, shape (M,)."""

    def __init__(self, activation: npt.ArrayLike) -> None:
        self.activation = np.atleast_1d(_fraction(activation, "activation"))

    def over(self, motion: Motion) -> Floats:
        """Activation, shape (frames, M)."""
        return np.tile(self.activation, (motion.frame_count, 1))


class Curves:
    """Activation keyed over time: for each muscle its key times [s] and values.

    ``"smooth"`` is a monotone cubic (PCHIP): between two keys it never leaves their values.
    Before the first and after the last key their values hold.
    """

    def __init__(
        self,
        keys: Sequence[tuple[npt.ArrayLike, npt.ArrayLike]],
        interpolation: Literal["smooth", "linear"] = "smooth",
    ) -> None:
        if interpolation not in ("smooth", "linear"):
            remedy = suggestion(interpolation, ("smooth", "linear"))
            raise EcorcheError(f"there is no interpolation {interpolation!r}", remedy=remedy)
        self.interpolation = interpolation
        self.keys: list[tuple[Floats, Floats]] = []
        for muscle, (given_times, given_values) in enumerate(keys):
            where = f"activation curve {muscle}"
            times = np.atleast_1d(np.asarray(given_times, np.float64))
            values = np.atleast_1d(_fraction(given_values, "activation", where))
            if times.ndim != 1 or times.shape != values.shape or len(times) == 0:
                remedy = "Give at least one key, and a value for each time"
                raise EcorcheError(f"{times.size} times for {values.size} values", where=where, remedy=remedy)
            if not (np.isfinite(times).all() and (np.diff(times) > 0.0).all()):
                raise EcorcheError("its times do not rise", where=where, remedy="Give each key a later time")
            self.keys.append((times, values))

    def at(self, times: npt.ArrayLike) -> Floats:
        """Activation at times [s] (frames,), shape (frames, M)."""
        from scipy.interpolate import PchipInterpolator

        times = np.asarray(times, np.float64)
        columns = []
        for key_times, values in self.keys:
            if self.interpolation == "linear" or len(key_times) < 2:
                columns.append(np.interp(times, key_times, values))
            else:
                held = np.clip(times, key_times[0], key_times[-1])
                with np.errstate(over="ignore"):  # values of 1e-310 have no reciprocal, and need none
                    curve = PchipInterpolator(key_times, values)
                # the cubic stays between the keys but for rounding
                columns.append(np.clip(curve(held), values.min(), values.max()))
        return np.stack(columns, axis=-1) if columns else np.zeros((*times.shape, 0))

    def over(self, motion: Motion) -> Floats:
        """Activation at the motion's times, shape (frames, M)."""
        return self.at(motion.times)


@dataclass(frozen=True)
class Action:
    """What a muscle does to a joint, one row of an action table.

    Attributes:
        joint: The character's own name of the joint, such as ``"LeftForeArm"``; where it has no joint of
            that name, the canonical one counts, such as ``"l_elbow"``.
        axis: The axis it turns about, in world axes at bind; any length.
        degrees: Angles from bind about that axis where the muscle begins to work and where it works
            fully; falling where it turns the other way. Within 180 degrees of bind.
        weight: Activation at the end of that range, 0 to 1.
    """

    joint: str
    axis: tuple[float, float, float]
    degrees: tuple[float, float]
    weight: float = 1.0

    def __post_init__(self) -> None:
        where = f"action on {self.joint!r}"
        if not (np.isfinite(self.axis).all() and np.linalg.norm(self.axis) > 0.0):
            raise EcorcheError(
                "its axis has no direction", where=where, remedy="Give three numbers, not all 0"
            )
        start, end = self.degrees
        if not (abs(start) < 180.0 and abs(end) < 180.0 and start != end):
            raise EcorcheError(
                f"its range {start:g} to {end:g} degrees is empty or beyond half a turn",
                where=where,
                remedy="Give two different angles between -180 and 180",
            )
        if not 0.0 <= self.weight <= 1.0:
            raise EcorcheError(
                f"its weight {self.weight:g} is not between 0 and 1", where=where, remedy="Mend it"
            )


class JointAngles:
    """The angles since bind that an action table speaks of, on one skeleton.

    A joint's rotation is taken relative to the nearest body joint above it, so that twist and helper
    joints between them do not count. Rows whose joint the skeleton lacks are left out and told in ``notes``.
    """

    def __init__(self, skeleton: Skeleton, naming: Naming, table: Sequence[Sequence[Action]]) -> None:
        self.skeleton = skeleton
        self.muscle_count = len(table)
        rows = [(muscle, action) for muscle, actions in enumerate(table) for action in actions]
        number = {name: _joint(skeleton, naming, name) for name in sorted({a.joint for _, a in rows})}
        self.notes = tuple(
            f"no joint is {name!r}: actions on it are left out" for name in number if number[name] is None
        )
        rows = [(m, a) for m, a in rows if number[a.joint] is not None]
        self.muscles = np.array([m for m, _ in rows], np.int64)
        self.joints = np.array([number[a.joint] for _, a in rows], np.int64)
        self.above = np.array([_above(skeleton, naming, int(j)) for j in self.joints], np.int64)
        self.axes = normalise(np.array([a.axis for _, a in rows], np.float64).reshape(-1, 3))
        self.ranges = np.radians(np.array([a.degrees for _, a in rows], np.float64).reshape(-1, 2))
        self.weights = np.array([a.weight for _, a in rows], np.float64)

    def of(self, difference: Floats) -> tuple[Floats, Floats]:
        """Angles [rad] and how well each is defined, both (..., rows), for ``M − I`` (..., joints, 4, 4).

        The angle is the twist about the axis, between −π and π. It means nothing where the rest of the
        rotation is half a turn: from 150 degrees of it on, definedness falls smoothly from 1 to 0.
        """
        # many rows speak of few joints
        pairs, row = np.unique(np.stack([self.joints, self.above], axis=-1), axis=0, return_inverse=True)
        joints, above = pairs.T
        turn = np.eye(3) + difference[..., :3, :3]
        own = nearest_rotation(turn[..., joints, :, :])
        parent = nearest_rotation(turn[..., np.maximum(above, 0), :, :])
        parent = np.where((above >= 0)[:, None, None], parent, np.eye(3))
        q = xyzw_from_matrix(np.swapaxes(parent, -1, -2) @ own)[..., row.reshape(-1), :]
        sine, cosine = np.sum(q[..., :3] * self.axes, axis=-1), q[..., 3]
        defined = smooth_step(np.hypot(sine, cosine) / np.sin(0.5 * _FADE))
        return 2.0 * np.arctan2(sine, cosine), defined

    def over(self, motion: Motion) -> tuple[Floats, Floats]:
        """The same for each frame of a motion, (frames, rows)."""
        if motion.skeleton.names != self.skeleton.names:
            raise EcorcheError(
                "it is made for another skeleton than the muscles",
                where=f"motion {motion.name!r}",
                remedy="Retarget it first",
            )
        return self.of(difference_from_bind(self.skeleton, motion.local))

    def together(self, rows: Floats) -> Floats:
        """Activation of each muscle (..., M) of its rows' activations (..., rows): 1 − Π (1 − w a).

        Any action alone suffices, several add up without ever passing 1.
        """
        idle = np.ones((*rows.shape[:-1], self.muscle_count))
        for row, muscle in enumerate(self.muscles):
            idle[..., muscle] *= 1.0 - self.weights[row] * rows[..., row]
        return np.asarray(1.0 - idle)


class JointDriven:
    """Activation from the pose: a muscle works as the joints it acts on turn its way.

    Each action rises with a smooth onset over its range of angles, and fades before the opposite of
    bind, where an angle wraps. `at` is a function of the pose alone; `over` a motion it takes the time
    that a muscle takes (`spread_in_time`), so that a joint that jumps makes no skin twitch far from it.
    """

    def __init__(self, skeleton: Skeleton, naming: Naming, table: Sequence[Sequence[Action]]) -> None:
        self.angles = JointAngles(skeleton, naming, table)
        self.notes = self.angles.notes

    def at(self, difference: Floats) -> Floats:
        """Activation (..., M) for differences from bind ``M − I`` (..., joints, 4, 4)."""
        return self._activation(*self.angles.of(difference))

    def _activation(self, angle: Floats, defined: Floats) -> Floats:
        start, end = self.angles.ranges[:, 0], self.angles.ranges[:, 1]
        onset = smooth_step((angle - start) / (end - start))
        # full at both ends of the range, zero where the angle wraps
        furthest = np.maximum(np.abs(start), np.abs(end))
        closing = smooth_step((np.pi - np.abs(angle)) / np.minimum(_FADE, np.pi - furthest))
        return self.angles.together(onset * closing * defined)

    def over(self, motion: Motion) -> Floats:
        """Activation over a motion of the same skeleton, shape (frames, M)."""
        return spread_in_time(motion.times, self._activation(*self.angles.over(motion)))


class Anticipating:
    """Muscles tense before the motion and let go as the bones move.

    Activation at a moment is the mean, under a smooth window, of how fast the joints will turn the
    muscle's way in the next ``lead`` seconds: it rises that long before the motion begins, and is
    gone when it ends. Before the first and after the last frame the pose is taken to hold.

    Args:
        skeleton: The skeleton of the motions.
        naming: Which of its joints is which.
        table: The actions of each muscle; only the direction of their ranges counts.
        lead: How long before the motion activation rises [s].
        speeds: Degrees per second at which activation begins and at which it is full.
    """

    def __init__(
        self,
        skeleton: Skeleton,
        naming: Naming,
        table: Sequence[Sequence[Action]],
        *,
        lead: float = 0.25,
        speeds: tuple[float, float] = (15.0, 240.0),
    ) -> None:
        if not (np.isfinite(lead) and lead > 0.0):
            raise EcorcheError(
                f"a lead time of {lead:g} s is not positive", remedy="Choose one, such as 0.25"
            )
        if not (0.0 <= speeds[0] < speeds[1] < np.inf):
            raise EcorcheError(
                f"speeds of {speeds[0]:g} and {speeds[1]:g} degrees a second do not rise",
                remedy="Choose two, such as 15 and 240",
            )
        self.angles = JointAngles(skeleton, naming, table)
        self.notes = self.angles.notes
        self.lead = float(lead)
        self.speeds = (float(np.radians(speeds[0])), float(np.radians(speeds[1])))

    def over(self, motion: Motion) -> Floats:
        """Activation over a motion of the same skeleton, shape (frames, M)."""
        angle, defined = self.angles.over(motion)
        start, end = self.angles.ranges[:, 0], self.angles.ranges[:, 1]
        forward = np.unwrap(angle, axis=0) * np.sign(end - start)
        step = self.lead / _GRID
        # a clock of its own, tied to time zero: cutting or resampling the motion does not shift it
        first = int(np.floor(motion.times[0] / step)) - 1
        last = int(np.ceil((motion.times[-1] + self.lead) / step)) + 2
        clock = np.asarray(step * np.arange(first, last + 1), np.float64)
        # speeds over a quarter of the lead time, whatever the frame rate
        half = 0.125 * self.lead
        later, earlier = (_smooth(clock + h, motion.times, forward) for h in (half, -half))
        speed = (later - earlier) / (2.0 * half)
        slow, fast = self.speeds
        drive = smooth_step((speed - slow) / (fast - slow)) * _held(clock, motion.times, defined)
        window = 1.0 - np.cos(2.0 * np.pi * (np.arange(_GRID) + 0.5) / _GRID)
        ahead = np.zeros((len(clock) - _GRID, drive.shape[1]))
        for k, share in enumerate(window / window.sum()):
            # half a step between clock and window: the mean of two neighbours
            ahead += share * 0.5 * (drive[k : k + len(ahead)] + drive[k + 1 : k + 1 + len(ahead)])
        rows = np.clip(_held(motion.times, clock[: len(ahead)], ahead), 0.0, 1.0)
        return self.angles.together(rows)


def table_for(
    names: Sequence[str], actions: Mapping[str, Sequence[Action]]
) -> tuple[tuple[Action, ...], ...]:
    """The action table of muscles in order, of actions by muscle name; unknown names are refused."""
    for name in actions:
        if name not in names:
            raise EcorcheError(
                f"there is no muscle {name!r}", where="actions", remedy=suggestion(name, names)
            )
    return tuple(tuple(actions.get(name, ())) for name in names)


def _joint(skeleton: Skeleton, naming: Naming, name: str) -> int | None:
    """The joint the character calls so, else the one that is canonically called so."""
    if name in skeleton.names:
        return skeleton.names.index(name)
    canonical = canonical_name(name)
    return None if canonical is None else naming.joint(canonical)


def _above(skeleton: Skeleton, naming: Naming, joint: int) -> int:
    """The nearest body joint above, -1 where there is none.

    Above a joint with a canonical name it is the next with one; above another, as in a horse or a tail,
    whatever is no twist joint.
    """
    named = naming.canonical[joint] is not None
    above = int(skeleton.parents[joint])
    while above >= 0 and (naming.canonical[above] is None if named else naming.roles[above] == "twist"):
        above = int(skeleton.parents[above])
    return above


def _held(wanted: Floats, times: Floats, values: Floats) -> Floats:
    """Values (frames, rows) at other times, linear between frames and held beyond them."""
    columns = [np.interp(wanted, times, column) for column in values.T]
    return np.stack(columns, axis=-1) if columns else np.zeros((len(wanted), 0))


def _smooth(wanted: Floats, times: Floats, values: Floats) -> Floats:
    """The same with local cubics between frames: a coarse frame rate then hardly changes speeds."""
    from scipy.interpolate import CubicHermiteSpline

    if len(times) < 2:
        return _held(wanted, times, values)
    slopes = np.gradient(values, times, axis=0)
    curve = CubicHermiteSpline(times, values, slopes, axis=0)
    return np.asarray(curve(np.clip(wanted, times[0], times[-1])), np.float64)


def _fraction(values: npt.ArrayLike, what: str, where: object = None) -> Floats:
    values = np.asarray(values, np.float64)
    if not ((values >= 0.0) & (values <= 1.0)).all():
        bad = values[~((values >= 0.0) & (values <= 1.0))].flat[0]
        raise EcorcheError(f"the {what} {bad:g} is not between 0 and 1", where=where, remedy="Give 0 to 1")
    return values


def _strongest(values: npt.ArrayLike) -> Floats:
    values = np.asarray(values, np.float64)
    if not (np.isfinite(values) & (values > 0.0)).all():
        raise EcorcheError("a strongest force F_max is not positive", remedy="Give newtons above 0")
    return values
