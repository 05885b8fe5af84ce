"""Joint moments of a motion, with the measured forces of the ground.

Text 004, section 3.1, applies recursive inverse dynamics to the joint angles. Here the model does it
(`MusculoskeletalModel.inverse_dynamics`), frame by frame, on coordinates that are smoothed first. Ground
forces are those that were measured, applied to the bodies they are said to act on; no contact is made up.

A floating body has nobody to hold it: the force and moment left at its root say how well motion, masses and
ground forces agree. They are reported, and where ground forces are missing they are the ground's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ecorche.base.names import listed, other_side, suggestion
from ecorche.base.recordings import ForceRecording, rate_of
from ecorche.biomech.filtering import low_pass, rates
from ecorche.biomech.ground_forces import at_times, in_frame, on_bodies, require_near
from ecorche.biomech.model import LEAST_MASS, MusculoskeletalModel, require_masses
from ecorche.errors import MotionError

Floats = npt.NDArray[np.float64]

CUTOFF = 6.0
"""Of coordinates [Hz], as is usual for walking."""
MISSING = 0.25
"""Share of the body's weight at the root from which a ground force must be missing."""
CONTACT = 0.03
"""Time [s] that it must last: at the very ends of a recording accelerations are not sure."""


@dataclass(frozen=True, eq=False)
class JointMoments:
    """Forces of coordinates over time.

    Attributes:
        times: [s], (frames,).
        names: Of the coordinates.
        units: ``"N m"`` of a turn, ``"N"`` of a shift.
        q, qd, qdd: Smoothed coordinates and their rates [rad or m, by second], (frames, coordinates).
        moments: [N m or N], (frames, coordinates); those of the root are residuals.
        root: Names of the root's coordinates.
        residual_force: Root mean square over frames of the force left at the root [N]; 0 without a root.
        residual_moment: The same of the moment [N m].
        notes: What was left at the root, and where ground forces are missing.
    """

    times: Floats
    names: tuple[str, ...]
    units: tuple[str, ...]
    q: Floats
    qd: Floats
    qdd: Floats
    moments: Floats
    root: tuple[str, ...]
    residual_force: float
    residual_moment: float
    notes: tuple[str, ...] = field(default=())

    def of(self, coordinate: str) -> Floats:
        """Of one coordinate over time [N m or N], (frames,)."""
        if coordinate not in self.names:
            raise MotionError(
                f"there is no coordinate {coordinate!r}", remedy=suggestion(coordinate, self.names)
            )
        return np.asarray(self.moments[:, self.names.index(coordinate)])


def inverse_dynamics(
    model: MusculoskeletalModel,
    times: Floats,
    q: npt.ArrayLike,
    forces: Sequence[ForceRecording] = (),
    *,
    bodies: Mapping[str, str] | None = None,
    cutoff: float | None = CUTOFF,
    force_cutoff: float | None = None,
) -> JointMoments:
    """Joint moments of a motion.

    Args:
        model: With masses.
        times: Evenly spaced [s], (frames,).
        q: Coordinates [rad or m], (frames, coordinates).
        forces: Measured, in the model's ground frame; the body of each is its own, or in ``bodies``.
        bodies: The body by the name of a force.
        cutoff: Of coordinates [Hz]; None takes them as they are.
        force_cutoff: Of forces [Hz]; None takes them as they are.
    """
    require_masses(model)
    poses = _whole(model, times, q)
    if cutoff is not None:
        poses = low_pass(poses, rate_of(times), cutoff)
    speeds, accelerations = rates(times, poses)
    ground = tuple(at_times(force, times, force_cutoff) for force in on_bodies(model, forces, bodies))
    require_near(model, poses, ground)
    moments = np.array(
        [
            model.inverse_dynamics(poses[k], speeds[k], accelerations[k], in_frame(ground, k))
            for k in range(len(times))
        ]
    )
    names = tuple(coordinate.name for coordinate in model.coordinates)
    shifts, turns = (
        [k for k, c in enumerate(model.coordinates) if c.name in model.root and c.unit == unit]
        for unit in ("m", "rad")
    )
    force, moment = (float(np.sqrt((moments[:, k] ** 2).sum(axis=1).mean())) for k in (shifts, turns))
    return JointMoments(
        times,
        names,
        tuple("N m" if coordinate.unit == "rad" else "N" for coordinate in model.coordinates),
        poses,
        speeds,
        accelerations,
        moments,
        model.root,
        force,
        moment,
        tuple(_notes(model, times, moments[:, shifts], force, moment, bool(ground))),
    )


def _whole(model: MusculoskeletalModel, times: Floats, q: npt.ArrayLike) -> Floats:
    poses = np.asarray(q, np.float64)
    if poses.shape != (len(times), len(model.coordinates)):
        raise MotionError(
            f"coordinates of shape {poses.shape} for {len(times)} frames of {len(model.coordinates)}",
            where=model.name,
            remedy="Give (frames, coordinates)",
        )
    bad = ~np.isfinite(poses)
    if bad.any():
        frame = int(np.argmax(bad.any(axis=1)))
        names = [c.name for c, one in zip(model.coordinates, bad[frame], strict=True) if one]
        raise MotionError(
            f"frame {frame} at {times[frame]:g} s has no number for {listed(names, 5)}",
            where=model.name,
            remedy="Fill the gap first, or cut the motion there",
        )
    return poses


def _notes(
    model: MusculoskeletalModel, times: Floats, forces: Floats, force: float, moment: float, measured: bool
) -> list[str]:
    """What is left at the root, and the times at which the ground must have carried the body unmeasured."""
    light = _without_mass(model)
    about_masses = [f"{listed(light, 4)}: no mass, so moments count nothing for it."] if light else []
    if not model.root:
        return about_masses
    weight = sum(body.mass for body in model.bodies) * float(np.linalg.norm(model.gravity))
    share = 100.0 * force / weight if weight > 0.0 else float("nan")
    said = [
        *about_masses,
        f"Left at the root: {force:.0f} N ({share:.1f} % of the weight) and {moment:.1f} N m, rms.",
    ]
    runs = unmeasured_contacts(times, forces, weight)
    if runs:
        most = max(float(np.linalg.norm(forces[a : b + 1], axis=1).max()) for a, b in runs)
        spans = ", ".join(f"{times[a]:.2f} to {times[b]:.2f} s" for a, b in runs)
        why = "a ground force is missing or wrong" if measured else "no ground force was given"
        said.append(
            f"The root carries up to {most:.0f} N in {spans}: {why}. "
            "Moments of joints between the ground and the root are not to be trusted there."
        )
    return said


def _without_mass(model: MusculoskeletalModel) -> list[str]:
    """Bodies that should weigh something: that of the other side does, or markers lie on them.

    Others without mass are frames between joints, which models have for good reasons.
    """
    masses = {body.name: body.mass for body in model.bodies}
    here, there = (model.body_transforms(model.defaults() + turn) for turn in (0.0, 0.1))
    moves = {name: not np.allclose(a, b) for name, a, b in zip(masses, here, there, strict=True)}
    marked = {marker.body for marker in model.markers}
    return [
        name
        for name, mass in masses.items()
        if mass <= LEAST_MASS
        and moves[name]
        and (name in marked or masses.get(other_side(name) or "", 0.0) > LEAST_MASS)
    ]


def unmeasured_contacts(times: Floats, forces: Floats, weight: float) -> list[tuple[int, int]]:
    """First and last frame of each stretch in which the ground must have carried the body unmeasured.

    ``forces`` are those left at the root [N], (frames, axes); ``weight`` is the body's [N].
    """
    large = np.linalg.norm(forces, axis=1) > MISSING * weight
    return [(a, b) for a, b in _runs(large) if weight > 0.0 and times[b] - times[a] >= CONTACT]


def _runs(flags: npt.NDArray[np.bool_]) -> list[tuple[int, int]]:
    """First and last number of each stretch that is true."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], flags, [False]]).astype(np.int8)))
    return [(int(a), int(b) - 1) for a, b in edges.reshape(-1, 2)]
