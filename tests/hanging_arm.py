"""An arm that hangs down and bends at the elbow, and action lines along it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ecorche.base.ellipsoid import signed_distances
from ecorche.base.rotations import (
    matrix_from_xyzw,
    xyzw_from_rotation_vector,
)
from ecorche.muscles.lines.admissible import (
    AdmissibleLine,
    AdmissiblePaths,
    BoundNode,
    CollisionNode,
)
from ecorche.muscles.lines.fields import FieldEllipsoid
from ecorche.muscles.lines.mobile import Freedom, MobileNode
from ecorche.skeleton.kinematics import difference_from_bind
from ecorche.skeleton.skeleton import Skeleton

Floats = npt.NDArray[np.float64]
IDENTITY = np.array([0.0, 0.0, 0.0, 1.0])
ELBOW = np.array([0.0, -0.3, 0.0])
DOWN = np.array([0.0, -1.0, 0.0])
ORIGIN, INSERTION = np.array([0.0, -0.1, 0.05]), np.array([0.0, -0.5, 0.03])


def arm() -> Skeleton:
    """An upper arm that hangs down from a body, and a forearm below it."""
    local = np.tile(np.eye(4), (3, 1, 1))
    local[2, :3, 3] = ELBOW
    tails = np.array([[0.0, 0.2, 0.0], [0.0, -0.3, 0.0], [0.0, -0.25, 0.0]])
    return Skeleton(("body", "arm", "forearm"), np.array([-1, 0, 1], np.int32), local, local.copy(), tails)


ARM = arm()


def turned(*rotations: npt.ArrayLike, scale: float = 1.0) -> Floats:
    """M − I of all joints, for a turn xyzw of each relative to the one above."""
    local = ARM.bind_local.copy()
    for joint, q in enumerate(rotations):
        local[joint, :3, :3] = scale**joint * matrix_from_xyzw(q)
    return difference_from_bind(ARM, local)


def bent(angle: float, about: npt.ArrayLike = (1.0, 0.0, 0.0)) -> Floats:
    """The forearm turned by rotation vector ``angle`` times an axis."""
    return turned(IDENTITY, IDENTITY, xyzw_from_rotation_vector(angle * np.asarray(about, float)))


def any_pose(rng: np.random.Generator, largest: float = 1.5) -> Floats:
    vectors = rng.normal(size=(3, 3))
    vectors *= largest * rng.random((3, 1)) / np.linalg.norm(vectors, axis=1, keepdims=True)
    return turned(*xyzw_from_rotation_vector(vectors))


def paths(*nodes: Any, **options: Any) -> AdmissiblePaths:
    deflectors = tuple(options.pop("deflectors", ()))
    tendon = tuple(options.pop("tendon", ()))
    return AdmissiblePaths(ARM, [AdmissibleLine("line", nodes, tendon, deflectors)], **options)


def carried(moved: Floats, joint: int, place: npt.ArrayLike) -> Floats:
    p = np.asarray(place, np.float64)
    went: Floats = p + moved[joint, :3, :3] @ p + moved[joint, :3, 3]
    return went


def ball(radius: float = 0.03, joint: int = 1, centre: npt.ArrayLike = ELBOW) -> FieldEllipsoid:
    return FieldEllipsoid(np.asarray(centre, float), np.full(3, radius), joint=joint)


def over_the_elbow(
    count: int, *deflectors: FieldEllipsoid, side: Floats | None, **options: Any
) -> AdmissiblePaths:
    inner = [CollisionNode((k + 1) / (count + 1), None, side) for k in range(count)]
    return paths(
        BoundNode(ORIGIN, 1), *inner, BoundNode(INSERTION, 2), deflectors=deflectors or (ball(),), **options
    )


def depth(line: AdmissiblePaths, moved: Floats, deflectors: Any) -> float:
    """How deep the deepest inner node lies in any of the ellipsoids [m]."""
    inner = line.nodes(moved)[1:-1]
    deepest = 0.0
    for one in deflectors:
        matrix = np.eye(4) + moved[one.joint]
        local = (inner - matrix[:3, 3]) @ np.linalg.inv(matrix[:3, :3]).T - one.centre
        deepest = max(deepest, -float(signed_distances(local @ one.axes, one.radii)[0].min()))
    return deepest


def mobile(kind: Any = "twist", shape: Any = "linear", rest: float = 0.0, **more: Any) -> MobileNode:
    axes = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]]).T  # z along +y
    freedom = more.pop("freedom", Freedom.since_bind(2, kind, axes))
    places = np.array([[0.0, -0.3, 0.02], [0.0, -0.3, 0.03], [0.02, -0.3, 0.05]])
    low, high = more.pop("low", -1.0), more.pop("high", 2.0)
    return MobileNode(1, freedom, low, rest, high, places[0], places[1], places[2], shape)
