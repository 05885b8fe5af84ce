"""What a ray from the camera meets first: skin, muscle, bone or joint, as they are posed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ecorche.base.mesh import triangle_corners
from ecorche.base.ray_tree import RayTree
from ecorche.errors import EcorcheError
from ecorche.skeleton.kinematics import difference_from_bind
from ecorche.studio.messages.view import Layer, PickTold, ViewPick
from ecorche.studio.scene import drawn_names, joint_worlds
from ecorche.studio.session import Moment, Session

Floats = npt.NDArray[np.float64]
Points = npt.NDArray[np.float32]

FAR = 1e4
"""Nothing further off is met [m]."""
JOINT_RADIUS = 0.012
"""How near a joint a ray has to pass, as a share of the character's height."""


class _Surface(NamedTuple):
    """A layer that a ray may meet.

    Attributes:
        points, bind: Where its vertices are, and were at bind [m], (vertices, 3).
        triangles: Of it, (triangles, 3).
        names: Of its parts.
        part: Number of the part that each vertex belongs to, (vertices,).
        joint: The joint that each vertex moves with most; −1 where that is the nearest bone's, (vertices,).
    """

    points: Points
    bind: Points
    triangles: npt.NDArray[np.int32]
    names: tuple[str, ...]
    part: npt.NDArray[np.int64]
    joint: npt.NDArray[np.int64]


def picked(session: Session, asked: ViewPick) -> PickTold:
    """What a ray meets first among the layers that are asked for."""
    direction = np.asarray(asked.direction, np.float64)
    length = float(np.linalg.norm(direction))
    if not np.isfinite(length) or length == 0.0 or not np.isfinite(asked.origin).all():
        raise EcorcheError("the ray has no direction", remedy="Give three numbers that are not all zero")
    origin, direction = np.asarray(asked.origin, np.float64), direction / length
    moment, best = session.shown, PickTold(kind=None)
    skeleton = session.document.body.character.skeleton
    if "skeleton" in asked.layers:  # joints are drawn over all else
        near = _nearest_joint(moment, origin, direction)
        if near is not None:
            joint, distance = near
            at = joint_worlds(moment)[joint, :3, 3]
            return PickTold(
                kind="skeleton",
                name=skeleton.names[joint],
                point=_vector(at),
                bind=_vector(skeleton.bind_world[joint, :3, 3]),
                joint=skeleton.names[joint],
                distance=distance,
            )
    for layer in asked.layers:
        surface = _surface(session, moment, layer)
        if surface is None or not len(surface.triangles):
            continue
        told = _met(session, layer, surface, origin, direction)
        if told.distance is not None and (best.distance is None or told.distance < best.distance):
            best = told
    return best


def _met(session: Session, layer: Layer, surface: _Surface, origin: Floats, direction: Floats) -> PickTold:
    tree = RayTree(surface.points, surface.triangles)
    origins, directions = origin[None].astype(np.float32), direction[None].astype(np.float32)
    hits = tree.cast(origins, directions, np.full(1, FAR, np.float32))
    number = int(hits.triangles[0])
    if number < 0:
        return PickTold(kind=None)
    corners = surface.triangles[number]
    posed = surface.points[corners].astype(np.float64)
    distance = float(hits.distances[0])
    point = origin + distance * direction
    shares = np.linalg.lstsq(np.vstack([posed.T, np.ones(3)]), np.append(point, 1.0), rcond=None)[0]
    normal = np.cross(posed[1] - posed[0], posed[2] - posed[0])
    normal /= max(float(np.linalg.norm(normal)), 1e-30)
    nearest = corners[int(np.argmax(shares))]
    joint = int(surface.joint[nearest])
    skeleton = session.document.body.character.skeleton
    at_bind = shares @ surface.bind[corners].astype(np.float64)
    if joint < 0:
        joint = _joint_below(session, at_bind)
    return PickTold(
        kind=layer,
        name=surface.names[int(surface.part[nearest])],
        point=_vector(point),
        bind=_vector(at_bind),
        normal=_vector(normal),
        joint=skeleton.names[joint],
        distance=distance,
    )


def _surface(session: Session, moment: Moment, layer: Layer) -> _Surface | None:
    """A layer in a moment; None for one that has no surface."""
    body = moment.live.body
    character = body.character
    if layer == "skin":
        frame = moment.live[moment.index]
        meshes = [mesh.mesh for mesh in character.meshes]
        firsts = np.cumsum([0, *(mesh.vertex_count for mesh in meshes)])
        triangles = [mesh.face_indices[triangle_corners(mesh.face_counts)] for mesh in meshes]
        joints = [
            np.zeros(mesh.mesh.vertex_count, np.int64)
            if mesh.weights is None
            else _strongest(*mesh.weights.padded())
            for mesh in character.meshes
        ]
        return _Surface(
            np.concatenate(frame.points),
            np.concatenate([mesh.points for mesh in meshes]),
            np.concatenate([t + f for t, f in zip(triangles, firsts, strict=False)]).astype(np.int32),
            tuple(mesh.name for mesh in meshes),
            np.repeat(np.arange(len(meshes)), np.diff(firsts)),
            np.concatenate(joints),
        )
    if layer == "muscles":
        drawn = session.drawn(moment)
        count = drawn.surfaces.vertex_count
        return _Surface(
            drawn.points(moment.index),
            drawn.at_bind(),
            drawn.surfaces.triangles,
            drawn_names(body),
            drawn.surfaces.muscle,
            np.full(count, -1),
        )
    if layer == "bones" and session.scene.bones is not None:
        bones = session.scene.bones
        moved = difference_from_bind(character.skeleton, moment.live.motion.local[moment.index])
        sizes = [len(bone.points) for bone in bones.bones]
        return _Surface(
            bones.points(moved).astype(np.float32),
            bones.bind.astype(np.float32),
            bones.triangles,
            bones.names,
            np.repeat(np.arange(len(sizes)), sizes),
            bones.joint.astype(np.int64),
        )
    return None


def _strongest(joints: npt.NDArray[np.int32], weights: Points) -> npt.NDArray[np.int64]:
    """The joint that moves each vertex most, (vertices,)."""
    return np.take_along_axis(joints, np.argmax(weights, axis=1)[:, None], axis=1)[:, 0].astype(np.int64)


def _joint_below(session: Session, at_bind: Floats) -> int:
    """The joint whose bone is nearest to a place at bind."""
    skeleton = session.document.body.character.skeleton
    heads, tips = skeleton.bind_world[:, :3, 3], skeleton.tail_positions()
    along = tips - heads
    size = np.einsum("ji,ji->j", along, along)
    share = np.clip(np.einsum("ji,ji->j", at_bind - heads, along) / np.where(size > 0.0, size, 1.0), 0.0, 1.0)
    return int(np.argmin(np.linalg.norm(heads + share[:, None] * along - at_bind, axis=1)))


def _nearest_joint(moment: Moment, origin: Floats, direction: Floats) -> tuple[int, float] | None:
    """The joint that a ray passes by closely, and how far along the ray; None for none."""
    heads = joint_worlds(moment)[:, :3, 3].astype(np.float64)
    along = (heads - origin) @ direction
    apart = np.linalg.norm(origin + along[:, None] * direction - heads, axis=1)
    height = max((float(np.ptp(m.mesh.points[:, 1])) for m in moment.live.body.character.meshes), default=1.0)
    near = (apart < JOINT_RADIUS * height) & (along > 0.0)
    if not near.any():
        return None
    joint = int(np.argmin(np.where(near, along, np.inf)))
    return joint, float(along[joint])


def _vector(values: npt.NDArray[np.floating]) -> tuple[float, float, float]:
    x, y, z = (float(v) for v in values)
    return x, y, z
