"""What lines share before they are relaxed: state and report, posed attachments and guesses.

The result of a relaxation depends on where it begins: a line may rest on either side of a bone. So a state
goes in and comes out, and holds all history there is. From frame to frame each moving point is first carried
along by the joints of the attachments before and after it, blended by its share of the way: a body that moves
as a whole so finds its lines at rest, and a pose given twice gives the same bits twice.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from numba import njit

from ecorche.errors import EcorcheError
from ecorche.muscles.lines.elastic import ElasticLines, ElasticPlan
from ecorche.muscles.lines.field_places import FieldBinding, moved_by, place_ellipsoid

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class ElasticState:
    """Where lines are, to go on from.

    Attributes:
        points: Of the lines [m], shape (P, 3).
        velocities: Of the moving points [m/s], shape (D, 3).
        moved: The pose they are in, ``M − I`` of each joint since bind, shape (J, 4, 4).
        pace: Time step of each bundle's relaxation [s], shape (B,).
    """

    points: Floats
    velocities: Floats
    moved: Floats
    pace: Floats


@dataclass(frozen=True, eq=False)
class ElasticReport:
    """How relaxing went, for F frames and L lines.

    Attributes:
        names: Of the lines.
        settled: Whether a line came to rest, shape (F, L).
        rounds: Iterations or steps taken, shape (F, L).
        remaining: How far from rest the farthest node still is, roughly [m], shape (F, L).
    """

    names: tuple[str, ...]
    settled: npt.NDArray[np.bool_]
    rounds: Ints
    remaining: Floats

    def notes(self) -> list[str]:
        """A sentence for each line that did not come to rest, with how often."""
        return [
            f"line '{self.names[n]}' did not come to rest in {count} of {len(self.settled)} frames"
            f" (first in frame {int(np.argmin(self.settled[:, n]))}, up to {1e3 * left:.2g} mm away)"
            for n, count in enumerate((~self.settled).sum(axis=0))
            if count
            for left in [float(self.remaining[~self.settled[:, n], n].max())]
        ]


def designed_state(lines: ElasticLines) -> ElasticState:
    """The lines as designed at bind, before any field has bent them."""
    bundles, moving = len(lines.plan.rows) - 1, int(lines.plan.rows[-1])
    return ElasticState(
        lines.designed.copy(),
        np.zeros((moving, 3)),
        np.zeros((lines.joint_count, 4, 4)),
        np.full(bundles, 0.01),
    )


def checked_poses(lines: ElasticLines, moved: Floats, state: ElasticState) -> Floats:
    """Poses (F, J, 4, 4), contiguous; what does not fit the lines is refused."""
    poses = np.ascontiguousarray(moved, np.float64)
    poses = poses[None] if poses.ndim == 3 else poses
    if poses.shape[1:] != (lines.joint_count, 4, 4):
        raise EcorcheError(
            f"the pose has shape {poses.shape[1:]}, but the lines are bound to {lines.joint_count} joints",
            where="elastic lines",
            remedy="Pose the skeleton the lines were compiled for",
        )
    bad = ~np.isfinite(poses)
    if bad.any():
        frame, joint = np.argwhere(bad)[0][:2]
        hung = [n for n, j in enumerate(lines.plan.anchor_joints) if j == joint]
        rows = set(lines.plan.rows[-1] + np.array(hung, int))
        named = [
            name
            for n, name in enumerate(lines.names)
            if rows.intersection(lines.points[lines.starts[n] : lines.starts[n + 1]].tolist())
        ]
        raise EcorcheError(
            f"joint {joint} is nowhere in frame {frame}: its matrix is not finite",
            where=f"elastic line '{named[0]}'" if named else "elastic lines",
            remedy="Repair that frame of the motion",
        )
    fits = state.points.shape == lines.designed.shape and state.moved.shape == poses.shape[1:]
    if not fits or len(state.pace) != len(lines.plan.rows) - 1:
        raise EcorcheError(
            "the state to go on from belongs to other lines",
            where="elastic lines",
            remedy="Begin anew from the lines' own rest at bind",
        )
    return poses


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def pose_attachments(plan: ElasticPlan, moved: Floats, points: Floats) -> None:
    """Attached points of a frame [m], into the rows of ``points`` (P, 3) after the moving ones."""
    first = plan.rows[-1]
    for n in range(len(plan.anchor_joints)):
        p = plan.anchor_places[n]
        x, y, z = moved_by(moved, plan.anchor_joints[n], p[0], p[1], p[2])
        points[first + n, 0], points[first + n, 1], points[first + n, 2] = x, y, z


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def place_on_joints(
    plan: ElasticPlan, binding: FieldBinding, moved: Floats, points: Floats, placed: Floats
) -> None:
    """The ellipsoids joints carry."""
    for n in plan.on_joints:
        place_ellipsoid(binding, n, moved, points, placed)


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def step_between(before: Floats, after: Floats, step: Floats) -> None:
    """How each joint moved from one pose to another, ``M₂ M₁⁻¹ − I = (M₂ − M₁) M₁⁻¹``, as (J, 3, 4)."""
    for j in range(len(step)):
        m = before[j]
        a, b, c = 1.0 + m[0, 0], m[0, 1], m[0, 2]
        d, e, f = m[1, 0], 1.0 + m[1, 1], m[1, 2]
        g, h, k = m[2, 0], m[2, 1], 1.0 + m[2, 2]
        over = 1.0 / (a * (e * k - f * h) - b * (d * k - f * g) + c * (d * h - e * g))
        for i in range(3):
            x, y, z = after[j, i, 0] - m[i, 0], after[j, i, 1] - m[i, 1], after[j, i, 2] - m[i, 2]
            u = over * (x * (e * k - f * h) + y * (f * g - d * k) + z * (d * h - e * g))
            v = over * (x * (c * h - b * k) + y * (a * k - c * g) + z * (b * g - a * h))
            w = over * (x * (b * f - c * e) + y * (c * d - a * f) + z * (a * e - b * d))
            step[j, i, 0], step[j, i, 1], step[j, i, 2] = u, v, w
            shift = after[j, i, 3] - m[i, 3]
            step[j, i, 3] = shift - (u * m[0, 3] + v * m[1, 3] + w * m[2, 3])


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def carry_points(plan: ElasticPlan, bundle: int, step: Floats, x: Floats) -> None:
    """Carry a bundle's moving points (n, 3), in place, as the joints around them have stepped."""
    first = plan.rows[bundle]
    for n in range(plan.rows[bundle + 1] - first):
        one, other, share = plan.carriers[first + n, 0], plan.carriers[first + n, 1], plan.carried[first + n]
        px, py, pz = x[n, 0], x[n, 1], x[n, 2]
        for i in range(3):
            s, t = step[one, i], step[other, i]
            near = s[0] * px + s[1] * py + s[2] * pz + s[3]
            far = t[0] * px + t[1] * py + t[2] * pz + t[3]
            x[n, i] += near + share * (far - near)


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def carried_bundle(plan: ElasticPlan, bundle: int, step: Floats, points: Floats) -> Floats:
    """A bundle's points [m]: its moving ones, carried, and then those it is anchored at, (n + anchors, 3)."""
    first, count = plan.rows[bundle], plan.rows[bundle + 1] - plan.rows[bundle]
    anchors = plan.anchor_points[plan.anchors[bundle] : plan.anchors[bundle + 1]]
    x = np.empty((count + len(anchors), 3))
    x[:count] = points[first : first + count]
    carry_points(plan, bundle, step, x)
    for n in range(len(anchors)):
        x[count + n] = points[anchors[n]]
    return x
