"""Measured forces on bodies at the times of a motion, and whether they can be true.

A force is carried from its own times to those of the motion as a wrench: force, and moment about the ground's
origin. Its point of application is kept for looking at; near zero force it may be anywhere and does no harm.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from ecorche.base.names import suggestion
from ecorche.base.recordings import ForceRecording, rate_of
from ecorche.biomech.filtering import low_pass
from ecorche.biomech.model import ExternalForce, MusculoskeletalModel, index_of
from ecorche.errors import MotionError

Floats = npt.NDArray[np.float64]

REACH = 0.35
"""Distance [m] from a body's origin, centre of mass or markers within which a force on it can act."""
PRESSED = 0.05
"""Share of the body's weight from which a force is contact."""


def on_bodies(
    model: MusculoskeletalModel, forces: Sequence[ForceRecording], bodies: Mapping[str, str] | None = None
) -> tuple[ForceRecording, ...]:
    """Forces with the body each acts on: as the file says, or by the name of the force."""
    names = [body.name for body in model.bodies]
    given = dict(bodies or {})
    for name in given:
        if name not in [force.name for force in forces]:
            raise MotionError(
                f"there is no force {name!r}", remedy=suggestion(name, [force.name for force in forces])
            )
    found = []
    for force in forces:
        body = given.get(force.name, force.body)
        if body is None:
            raise MotionError(
                f"force {force.name!r} does not say which body it acts on",
                remedy="Name the body of each force",
            )
        index_of(body, names, "body", f"{model.name}, force {force.name!r}")
        found.append(replace(force, body=body))
    return tuple(found)


def at_times(force: ForceRecording, times: Floats, cutoff: float | None = None) -> ForceRecording:
    """A force at other times [s], smoothed before if a cut-off [Hz] is given."""
    if times[0] < force.times[0] - 1e-9 or times[-1] > force.times[-1] + 1e-9:
        raise MotionError(
            f"force {force.name!r} was measured from {force.times[0]:g} to {force.times[-1]:g} s, and is "
            f"asked for from {times[0]:g} to {times[-1]:g} s",
            remedy="Cut the motion to the times of the forces",
        )
    wrench = np.hstack([force.force, np.cross(force.point, force.force) + force.moment])
    if not np.isfinite(wrench).all():
        at = float(force.times[int(np.argmax(~np.isfinite(wrench).all(axis=1)))])
        raise MotionError(
            f"force {force.name!r} has no number at {at:g} s",
            remedy="Write zero where nothing touches the plate",
        )
    if cutoff is not None:
        wrench = low_pass(wrench, rate_of(force.times), cutoff)
    now = np.stack([np.interp(times, force.times, column) for column in wrench.T], axis=1)
    point = np.stack([np.interp(times, force.times, column) for column in force.point.T], axis=1)
    moment = now[:, 3:] - np.cross(point, now[:, :3])
    return ForceRecording(force.name, times, now[:, :3], point, moment, force.body)


def in_frame(forces: Sequence[ForceRecording], frame: int) -> list[ExternalForce]:
    """What acts on bodies in one frame."""
    return [
        ExternalForce(force.body or "", force.force[frame], force.point[frame], force.moment[frame])
        for force in forces
    ]


def require_near(model: MusculoskeletalModel, q: Floats, forces: Sequence[ForceRecording]) -> None:
    """Refuse forces that do not act near their body, or that pull it down: the plate's frame is wrong."""
    weight = sum(body.mass for body in model.bodies) * float(np.linalg.norm(model.gravity))
    places = _places(model, q, {force.body or "" for force in forces})
    for force in forces:
        pressed = np.linalg.norm(force.force, axis=1) > PRESSED * weight
        if weight <= 0.0 or not pressed.any():
            continue
        where = f"force {force.name!r}"
        apart = {
            body: float(np.median(_distance(spots[pressed], force.point[pressed])))
            for body, spots in places.items()
        }
        nearest = min(apart, key=lambda body: apart[body])
        if apart[force.body or ""] > REACH:
            other = f" (it is {apart[nearest]:.2f} m from {nearest!r})" if apart[nearest] <= REACH else ""
            raise MotionError(
                f"acts {apart[force.body or '']:.2f} m from {force.body!r}{other}",
                where=where,
                remedy="Check the plate's axes, origin and unit, and which foot is on which plate",
            )
        up = -np.array(model.gravity) / np.linalg.norm(model.gravity)
        if float((force.force[pressed] @ up).mean()) < 0.0:
            raise MotionError(
                f"pulls {force.body!r} down",
                where=where,
                remedy="It is what the body does to the plate, or the plate's frame is wrong: turn its sign",
            )


def _places(model: MusculoskeletalModel, q: Floats, bodies: set[str]) -> dict[str, Floats]:
    """Points by which a body is found: origin, centre of mass, markers; (frames, points, 3) by name."""
    names = [body.name for body in model.bodies]
    local = {
        body: np.array(
            [
                (0.0, 0.0, 0.0),
                model.bodies[names.index(body)].centre_of_mass,
                *(marker.place for marker in model.markers if marker.body == body),
            ]
        )
        for body in sorted(bodies)
    }
    found: dict[str, list[Floats]] = {body: [] for body in local}
    for pose in q:
        frames = model.body_transforms(pose)
        for body, points in local.items():
            frame = frames[names.index(body)]
            found[body].append(points @ frame[:3, :3].T + frame[:3, 3])
    return {body: np.array(points) for body, points in found.items()}


def _distance(spots: Floats, points: Floats) -> Floats:
    """From each point (frames, 3) to the nearest of its frame's spots (frames, spots, 3) [m]."""
    return np.asarray(np.linalg.norm(spots - points[:, None], axis=2).min(axis=1))
