"""One frame of a body: pose, skeleton, muscles, skin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ecorche.body.compile import Body, morphed_points, skinned_points
from ecorche.body.frames import Frame, PointSet
from ecorche.skeleton.kinematics import difference_from_bind

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Pose:
    """Where the joints are at one moment.

    Attributes:
        local: ``parent_from_joint``, shape (joints, 4, 4).
        time: Seconds.
        morph_weights: Weight of each blend shape by ``"mesh/morph"``; others stay at rest.
        posed: Points of every mesh from a posed cache [m], which replace our skinning; or None.
        activation: Of each muscle, 0 to 1, shape (muscles,); None for muscles at rest.
    """

    local: Floats
    time: float = 0.0
    morph_weights: Mapping[str, float] = field(default_factory=dict)
    posed: tuple[PointSet, ...] | None = None
    activation: Floats | None = None


class PlainSkin(NamedTuple):
    """A coupled body by skinning alone, or of a posed cache; without blend shapes of ours.

    Attributes:
        points: Of every mesh, each (vertices, 3) [m].
        up: Unit normals of the mesh that is coupled, (vertices, 3).
    """

    points: tuple[PointSet, ...]
    up: PointSet


def evaluate(body: Body, pose: Pose) -> Frame:
    """The skin of a body in a pose."""
    moved = difference_from_bind(body.character.skeleton, pose.local)
    points = posed_points(body, pose, moved)
    return Frame(time=pose.time, points=points, normals=body.normals.apply(points))


def posed_points(
    body: Body,
    pose: Pose,
    moved: Floats,
    correction: npt.NDArray[np.float32] | None = None,
    plain: PlainSkin | None = None,
) -> tuple[PointSet, ...]:
    """Points of every mesh after blend shapes, skinning, muscles and coupling, each (vertices, 3) [m].

    Args:
        body: The body.
        pose: The pose.
        moved: ``M − I`` of its joints, (joints, 4, 4).
        correction: What the coupling asks for, filtered in time; None takes that of this pose alone.
        plain: The body by skinning alone, where it is at hand.
    """
    shapes = tuple(morphed_points(mesh, pose.morph_weights) for mesh in body.character.meshes)
    if body.coupling is None:
        return _by_muscles(body, pose, moved, shapes)
    if plain is None:
        plain = plain_skin(body, pose, moved)
    if correction is None:
        correction = skin_correction(body, pose, moved, plain=plain)
    bare, muscled = (None,) * len(shapes), None
    if body.coupling.by_muscles.any():
        muscled = _by_muscles(body, pose, moved, bare)
    points = plain.points
    if pose.posed is None and any(shape is not None for shape in shapes):
        points = skinned_points(body.without_muscles(), moved, shapes)
    return body.coupling.applied(points, plain.points, muscled, correction, moved, plain.up)


def skin_correction(
    body: Body,
    pose: Pose,
    moved: Floats,
    *,
    meshes: Floats | None = None,
    plain: PlainSkin | None = None,
) -> npt.NDArray[np.float32]:
    """What a body's coupling asks for in a pose: see `BodyCoupling.correction`.

    Args:
        body: A body with a coupling.
        pose: The pose.
        moved: ``M − I`` of its joints, (joints, 4, 4).
        meshes: Vertices of muscles that are meshes; None poses them without history.
        plain: The body by skinning alone, where it is at hand.
    """
    assert body.coupling is not None
    if meshes is None and body.lines is not None:
        meshes = body.lines.points(moved, body.activations(pose.activation)[2])
    points, up = plain_skin(body, pose, moved) if plain is None else plain
    return body.coupling.correction(points, moved, body.bulge(pose.activation), meshes, up)


def plain_skin(body: Body, pose: Pose, moved: Floats) -> PlainSkin:
    """A body with a coupling in a pose by skinning alone."""
    assert body.coupling is not None
    points = pose.posed
    if points is None:
        points = skinned_points(body.without_muscles(), moved, (None,) * len(body.character.meshes))
    return PlainSkin(points, body.coupling.up(points[body.coupling.skin]))


def _by_muscles(
    body: Body, pose: Pose, moved: Floats, shapes: tuple[PointSet | None, ...]
) -> tuple[PointSet, ...]:
    """Points after blend shapes, skinning and what each muscle does in its own way."""
    active, active_lofts, _ = body.activations(pose.activation)
    bare = (None,) * len(body.character.meshes)
    if pose.posed is not None:
        points, morphed = pose.posed, False
        if body.lofts is not None:
            # the cache's skinning is another: what muscle joints add to ours is added to it
            with_muscles = skinned_points(body, moved, bare, active_lofts)
            without = skinned_points(body, body.lofts.at_rest(moved), bare)
            points = tuple(p + (w - n) for p, w, n in zip(points, with_muscles, without, strict=True))
    else:
        points = skinned_points(body, moved, shapes, active_lofts)
        morphed = any(s is not None for s in shapes)
    if body.muscles is None:
        return points
    if not morphed:
        # a posed cache's points are its own
        return body.muscles.displaced(points, moved, active, in_place=pose.posed is None)
    # a blend shape moves skin over muscles without their doing: they act on the skin without it
    unmorphed = skinned_points(body, moved, bare, active_lofts)
    displaced = body.muscles.displaced(unmorphed, moved, active)
    return tuple(p + (d - b) for p, d, b in zip(points, displaced, unmorphed, strict=True))
