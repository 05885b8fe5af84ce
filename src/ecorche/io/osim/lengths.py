"""Lengths and moment arms of the muscles of an OpenSim model.

Coordinates that follow others follow them here too, so a moment arm about a knee's angle holds what the
knee cap adds, as in OpenSim.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from ecorche.io.osim.model import OsimModel
from ecorche.muscles.lines.moment_arms import MomentArms, moment_arms
from ecorche.muscles.lines.wrapped_path import PlacedSurface, TightPath, tight_path

Floats = npt.NDArray[np.float64]


def muscle_path(model: OsimModel, muscle: str, given: Mapping[str, float]) -> TightPath:
    """Where a muscle runs in the ground's frame, for some coordinates [rad or m]."""
    values = model.values(given)
    return _path(model, muscle, values, model.bodies(values))


def muscle_lengths(
    model: OsimModel, given: Mapping[str, float], muscles: Sequence[str] | None = None
) -> dict[str, float]:
    """Length of each muscle [m] by name, for some coordinates [rad or m], the others at their defaults."""
    values = model.values(given)
    bodies = model.bodies(values)
    return {name: _path(model, name, values, bodies).length for name in muscles or model.muscles}


def muscle_moment_arms(
    model: OsimModel,
    given: Mapping[str, float],
    coordinates: Sequence[str],
    muscles: Sequence[str] | None = None,
    *,
    step: float = 0.005,
) -> MomentArms:
    """Moment arms of muscles (rows) about coordinates (columns)."""
    names = list(muscles or model.muscles)

    def lengths_of(q: Floats) -> Floats:
        now = {**given, **dict(zip(coordinates, q.tolist(), strict=True))}
        found = muscle_lengths(model, now, names)
        return np.array([found[name] for name in names])

    values = model.values(given)
    return moment_arms(lengths_of, [values[name] for name in coordinates], step=step)


def _path(
    model: OsimModel, muscle: str, values: Mapping[str, float], bodies: Mapping[str, Floats]
) -> TightPath:
    path = model.muscles[muscle]
    numbers = [k for k, point in enumerate(path.points) if point.counts(values)]
    places = []
    for k in numbers:
        point = path.points[k]
        frame = bodies[point.body]
        places.append(frame[:3, :3] @ point.at(values) + frame[:3, 3])
    surfaces = []
    for name, first, last in path.wraps:
        inside = [n for n, k in enumerate(numbers) if first <= k <= last]
        one = model.surfaces[name]
        if inside and one.surface.active:
            frame = bodies[one.body] @ one.body_from_surface
            surfaces.append(PlacedSurface(one.surface, frame, inside[0], inside[-1]))
    return tight_path(np.array(places), surfaces, muscle)
