"""Muscles of a musculoskeletal model or of a rig over a motion, as an identification takes them.

A path is given even nodes along it, always as many: where a muscle touches what it wraps round, points come
and go, and segments with them. Lengths are the muscle's own. The polar axis is fixed to the bone at the
origin in the reference pose, the model's own or bind, so that angles mean the same in every motion and on
every body of like build.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ecorche.base.transforms import nearest_rotation
from ecorche.biomech.identification import Track
from ecorche.biomech.model import MusculoskeletalModel, PathPoints
from ecorche.body.as_model import SPECIFIC_TENSION, RigModel
from ecorche.errors import EcorcheError, MotionError
from ecorche.muscles.around_path import PathFrames, carried_axis
from ecorche.muscles.scapula import difference_with
from ecorche.skeleton.kinematics import difference_from_bind
from ecorche.skeleton.motion import Motion

Floats = npt.NDArray[np.float64]

NODES = 5
"""Of a path, evenly along it."""
ACROSS = 0.3
"""Sine of the angle between a path and a direction, from which on that lies across it."""


class Moving(NamedTuple):
    """All that an identification asks of a body's motion.

    Attributes:
        tracks: The muscles.
        centres: Of joints [m], (F, J, 3).
        joints: Their names.
        span: How large the body is [m], from one end of its muscles to the other.
    """

    tracks: list[Track]
    centres: Floats
    joints: tuple[str, ...]
    span: float


def model_tracks(
    model: MusculoskeletalModel, q: Floats, tensions: Mapping[str, Floats], *, fat: float = 0.0
) -> Moving:
    """Muscles of a model.

    Args:
        model: With muscles.
        q: Poses [rad or m], (F, coordinates).
        tensions: Of the muscles by name [N], (F,).
        fat: Between muscles and markers [m].
    """
    missing = [muscle.name for muscle in model.muscles if muscle.name not in tensions]
    if missing:
        raise MotionError(
            f"the tension of {missing[0]!r} is not told ({len(missing)} of {len(model.muscles)} muscles)",
            where=model.name,
            remedy="Give a file with a column for every muscle, as `ecorche solve` writes forces.sto",
        )
    start = model.defaults()
    places = {body.name: k for k, body in enumerate(model.bodies)}
    frames = np.stack([model.body_transforms(pose) for pose in q])
    then = model.body_transforms(start)
    lengths = np.stack([model.muscle_lengths(pose) for pose in q])
    routes, first = [model.muscle_paths(pose) for pose in q], model.muscle_paths(start)
    tracks = []
    for number, muscle in enumerate(model.muscles):
        body = places.get(first[muscle.name].bodies[0])
        turns = np.tile(np.eye(3), (len(q), 1, 1))
        if body is not None:
            turns = frames[:, body, :3, :3] @ then[body, :3, :3].T
        nodes = np.stack([even_nodes(route[muscle.name].points) for route in routes])
        path = _path(muscle.name, nodes, even_nodes(first[muscle.name].points), turns)
        radius = float(np.sqrt(muscle.max_force / SPECIFIC_TENSION / np.pi))
        tracks.append(
            Track(
                muscle.name,
                path,
                np.asarray(tensions[muscle.name], np.float64),
                lengths=lengths[:, number],
                radius=radius,
                fat=fat,
            )
        )
    joints = [name for name in places if not _lies_in_muscles(name, model, first)]
    centres = frames[:, :, :3, 3][:, [places[name] for name in joints]]
    return Moving(tracks, centres, tuple(joints), _span(tracks))


def rig_tracks(model: RigModel, motion: Motion, activation: Floats, *, fat: float = 0.0) -> Moving:
    """Muscles of a rig.

    Args:
        model: The rig as a model: it says how strong and how thick muscles are.
        motion: Of the rig's character.
        activation: Of its muscles in the order of `Body.activation`, (F, muscles).
        fat: Between muscles and markers [m].
    """
    moved = np.stack([difference_from_bind(motion.skeleton, local) for local in motion.local])
    still = np.zeros_like(moved[:1])
    every = np.stack([difference_with(one, model.scapulae) for one in moved])
    turns = nearest_rotation(np.eye(3) + every[..., :3, :3])
    then, now = _rig_nodes(model, still), _rig_nodes(model, moved)
    lengths = np.stack([model.lengths(one) for one in moved])
    owner = _owners(model)
    tracks = []
    for number, muscle in enumerate(model.muscles):
        path = _path(muscle.name, now[number], then[number][0], turns[:, muscle.bodies[0]])
        tracks.append(
            Track(
                muscle.name,
                path,
                activation[:, owner[number]] * muscle.max_force,
                lengths=lengths[:, number],
                radius=float(np.sqrt(muscle.cross_section / np.pi)),
                fat=fat,
            )
        )
    heads = np.stack([body.head for body in model.bodies])
    centres = heads + np.einsum("fjab,jb->fja", every[..., :3, :3], heads) + every[..., :3, 3]
    return Moving(tracks, centres, tuple(body.name for body in model.bodies), _span(tracks))


def _lies_in_muscles(body: str, model: MusculoskeletalModel, routes: Mapping[str, PathPoints]) -> bool:
    """Whether a body is none that muscles move about, but one that they run over, as a knee cap."""
    if any(other.parent == body for other in model.bodies):
        return False
    over = [route for route in routes.values() if body in route.bodies]
    return bool(over) and all(body not in (route.bodies[0], route.bodies[-1]) for route in over)


def even_nodes(points: Floats, count: int = NODES) -> Floats:
    """A polyline (n, 3) as so many nodes evenly along it, (count, 3)."""
    reached = np.append(0.0, np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1)))
    at = np.linspace(0.0, reached[-1], count)
    return np.stack([np.interp(at, reached, points[:, axis]) for axis in range(3)], axis=1)


def _path(name: str, nodes: Floats, reference: Floats, turns: Floats) -> PathFrames:
    """A path (F, n, 3) whose polar axis the origin's bone carries from the reference pose (n, 3)."""
    along = reference[1] - reference[0]
    axis = _across(along / np.linalg.norm(along))
    try:
        polar = carried_axis(axis, turns, along, nodes[:, 1] - nodes[:, 0])
    except EcorcheError as error:
        raise EcorcheError(error.what, where=f"muscle {name!r}, {error.where}", remedy=error.remedy) from None
    return PathFrames(nodes, polar, name=name)


def _across(along: Floats) -> Floats:
    """The first of the three axes that lies across a unit direction."""
    for axis in np.eye(3):
        if np.linalg.norm(np.cross(axis, along)) > ACROSS:
            return np.asarray(axis)
    raise AssertionError("one of three axes lies across any direction")


def _rig_nodes(model: RigModel, moved: Floats) -> list[Floats]:
    """Nodes of all paths of a rig [m], a muscle of the model each, (F, NODES, 3)."""
    found: list[Floats] = []
    body = model.body
    if body.muscles is not None:
        paths = body.muscles.musculature.frames.paths
        points = np.stack([body.muscles.musculature.posed(one)[0].path.points for one in moved])
        found += _each(points, paths.starts)
    if body.lofts is not None:
        curves = body.lofts.lofts.curves.moved(moved)
        points, _ = curves.at(np.linspace(0.0, 1.0, NODES))
        found += [points[:, k] for k in range(points.shape[1])]
    if body.lines is not None:
        lines = body.lines.musculature.paths
        found += _each(lines.posed(moved).nodes, lines.starts)
    return found


def _each(points: Floats, starts: Iterable[int]) -> list[Floats]:
    return [np.stack([even_nodes(frame[a:b]) for frame in points]) for a, b in pairwise(starts)]


def _owners(model: RigModel) -> list[int]:
    """Of each muscle of the model the rig's muscle: action lines of one mesh share it."""
    body, found = model.body, 0
    owners: list[int] = []
    for part in (
        None if body.muscles is None else body.muscles.musculature,
        None if body.lofts is None else body.lofts.lofts,
    ):
        if part is not None:
            owners += range(found, found + len(part.muscles))
            found += len(part.muscles)
    if body.lines is not None:
        for number, muscle in enumerate(body.lines.musculature.muscles):
            owners += [found + number] * len(muscle.lines)
    return owners


def _span(tracks: Sequence[Track]) -> float:
    """From one end of all paths to the other in the first frame [m]."""
    if not tracks:
        return 0.0
    nodes = np.concatenate([track.path.nodes[0] for track in tracks])
    return float(np.linalg.norm(np.ptp(nodes, axis=0)))
