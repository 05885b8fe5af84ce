"""What becomes of mesh muscles when joints go through their range: the figures that tell good from bad.

python -m benchmarks.line_muscle_shapes

A dog's front muscles while shoulder, elbow and wrist go through the ranges that its model states, each alone
and all corners together; a man's calf while his ankle goes through 50°.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from benchmarks.line_muscle_bodies import RangedBody, dog, leg
from ecorche.base.rotations import inverse_xyzw, multiply_xyzw, normalise, rotate_xyzw, slerp_xyzw
from ecorche.base.signed_distance import SignedSurface
from ecorche.base.signed_pieces import SignedPieces
from ecorche.body.compile import Body, compile_body
from ecorche.body.evaluate import Pose, evaluate
from ecorche.io.anatomy_folder import bones_of_character
from ecorche.muscles.lines.cubic import node_turns
from ecorche.muscles.lines.line_mesh import LineMeshes, PosedLineMeshes
from ecorche.muscles.lines.muscle_on_lines import MuscleOnLines
from ecorche.skeleton.kinematics import difference_from_bind

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

STEPS = 5
"""Poses over the range of each joint alone."""
TIMES, MORE = 1.5, 1e-3
"""How deep a muscle may go into bones: so many times as deep as at bind, and so much more [m]."""
TENSED = 0.5
"""Activation of all muscles while they are measured."""


@dataclass(frozen=True, eq=False)
class Shape:
    """Figures of all muscles of a body in one pose; arrays are by muscle, (M,).

    Attributes:
        finite: Whether every vertex is a number.
        volume: Of each muscle over that at bind; nan of those that enclose none.
        published: The same by the published rule alone.
        off: How far attached vertices are from where their bone carries them [m].
        turned: Triangles turned by more than 90° against the frame they are mapped to.
        depth: How deep each muscle's deepest vertex lies in a bone [m], 0 where none does.
        points: Vertices of all muscles [m], (V, 3).
    """

    finite: bool
    volume: Floats
    published: Floats
    off: Floats
    turned: Ints
    depth: Floats
    points: Floats


class Measured:
    """Muscles of a body to be measured in poses.

    Args:
        body: The rigid meshes of its character are the bones.
    """

    def __init__(self, body: RangedBody) -> None:
        self.body, self.character, self.lines = body, body.character, body.lines
        self.meshes: LineMeshes = body.lines.musculature.meshes
        self.names = body.lines.names
        self.triangles = np.array([len(mesh.triangles) for mesh in self.meshes.muscles])

    def points(self, local: Floats) -> Floats:
        """Vertices of all muscles [m], (V, 3), in a pose, local matrices (joints, 4, 4)."""
        return self._posed(difference_from_bind(self.character.skeleton, local))[0].points

    def _posed(self, moved: Floats) -> tuple[PosedLineMeshes, Floats]:
        """The meshes in a pose, and the frames of their lines."""
        muscles = self.lines.musculature
        path = muscles.paths.posed(moved[None])
        nodes, frames = path.nodes[0], muscles.frames.posed(path.nodes[0], moved).frames
        active = np.full(len(self.names), TENSED)
        return self.meshes.posed(nodes, frames, moved, active, elongation=path.elongation[0]), frames

    def shape(self, local: Floats) -> Shape:
        """The figures of a pose, local matrices (joints, 4, 4)."""
        moved = difference_from_bind(self.character.skeleton, local)
        result, frames = self._posed(moved)
        points = result.points
        return Shape(
            bool(np.isfinite(points).all()),
            np.array([_volume(now, mesh.closed) for now, mesh in self._each(points)]) / self.volumes,
            result.published,
            np.array([_off(now, mesh, moved) for now, mesh in self._each(points)]),
            self._turned(frames, moved, points),
            self.depths(points, moved),
            points,
        )

    def too_deep(self, shape: Shape) -> Floats:
        """How much deeper in bones each muscle lies than it may [m], (M,); negative where it may."""
        return shape.depth - (TIMES * self.at_bind + MORE)

    def outside(self, points: Floats, local: Floats) -> Floats:
        """How far each muscle's furthest vertex lies outside the skin [m], (M,), negative inside."""
        number = self.character.meshes.index(self.character.body())
        skin = evaluate(self._plain, Pose(local)).points[number]
        depth, _ = SignedSurface(skin, self.character.meshes[number].mesh.triangles()).depth(points)
        return np.asarray(np.maximum.reduceat(-depth, self.meshes.starts[:-1]))

    @cached_property
    def _plain(self) -> Body:
        return compile_body(self.character)

    @cached_property
    def volumes(self) -> Floats:
        """At bind [m³], (M,); nan of those that enclose none."""
        return np.array([_volume(mesh.points, mesh.closed) or np.nan for mesh in self.meshes.muscles])

    @cached_property
    def at_bind(self) -> Floats:
        """How deep muscles lie in bones at bind [m], (M,)."""
        return self.depths(self.meshes.bind, np.zeros((self.character.skeleton.joint_count, 4, 4)))

    @cached_property
    def _bones(self) -> list[tuple[SignedPieces, Floats, Floats, int]]:
        """Solid, corners of its box [m], and joint of every bone."""
        found = []
        joints = bones_of_character(self.character)
        for mesh in self.character.meshes:
            if mesh.name in joints:
                points = mesh.mesh.points.astype(np.float64)
                solid = SignedPieces(points, mesh.mesh.triangles())
                found.append((solid, points.min(axis=0), points.max(axis=0), joints[mesh.name]))
        return found

    def depths(self, points: Floats, moved: Floats) -> Floats:
        """How deep each muscle's deepest vertex lies in a bone [m], (M,)."""
        deepest = np.zeros(len(points))
        for solid, low, high, joint in self._bones:
            # into the frame in which the bone has not moved
            back = np.linalg.inv(np.eye(4) + moved[joint])
            seen = points @ back[:3, :3].T + back[:3, 3]
            near = np.flatnonzero(((seen > low) & (seen < high)).all(axis=1))
            if len(near):
                deepest[near] = np.maximum(deepest[near], solid.depth(seen[near])[0])
        return np.maximum.reduceat(deepest, self.meshes.starts[:-1])

    def _each(self, points: Floats) -> Iterator[tuple[Floats, MuscleOnLines]]:
        for number, mesh in enumerate(self.meshes.muscles):
            yield points[self.meshes.starts[number] : self.meshes.starts[number + 1]], mesh

    def _turned(self, frames: Floats, moved: Floats, points: Floats) -> Ints:
        since = self._since_bind(frames, moved)
        count = np.zeros(len(self.meshes.muscles), np.int64)
        for number, mesh in enumerate(self.meshes.muscles):
            own = slice(self.meshes.starts[number], self.meshes.starts[number + 1])
            quaternions = since[own][mesh.triangles]
            # the frame of a triangle: the mean of its corners'
            sign = np.sign(np.sum(quaternions * quaternions[:, :1], axis=2, keepdims=True))
            carried = rotate_xyzw(
                normalise((np.where(sign == 0.0, 1.0, sign) * quaternions).sum(axis=1)),
                _normals(mesh.points[mesh.triangles]),
            )
            now = _normals(points[own][mesh.triangles])
            count[number] = int((np.sum(carried * now, axis=1) < 0.0).sum())
        return count

    def _since_bind(self, frames: Floats, moved: Floats) -> Floats:
        """How the frame of each vertex has turned since bind, quaternions (V, 4).

        On the line, or between two lines; of a vertex that sits on a bone more than not, the bone's.
        """
        lines = self.meshes.lines
        turns = np.empty((2, len(lines.nodes), 4))
        node_turns(lines.starts, lines.frames, turns[0])
        node_turns(lines.starts, frames, turns[1])
        joints = np.empty((len(moved), 4))
        node_turns(np.array([0, len(moved)], np.int32), np.eye(3) + moved[:, :3, :3], joints)
        found = []
        for mesh in self.meshes.muscles:
            both = []
            for k in (0, 1):
                n, t = np.maximum(mesh.node[:, k], 0), mesh.t[:, k : k + 1]
                now = normalise((1.0 - t) * turns[:, n] + t * turns[:, n + 1])
                both.append(multiply_xyzw(now[1], inverse_xyzw(now[0])))
            own = np.where((mesh.weight > 0.0)[:, None], slerp_xyzw(both[0], both[1], mesh.weight), both[0])
            most = mesh.hold.argmax(axis=1)
            rows = np.arange(len(own))
            sits = mesh.hold[rows, most] > 0.5
            own[sits] = joints[mesh.held[rows, most]][sits]
            found.append(own)
        return np.concatenate(found)


def _normals(corners: Floats) -> Floats:
    return np.asarray(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]))


def _volume(points: Floats, triangles: npt.NDArray[np.integer]) -> float:
    a, b, c = np.moveaxis(points[triangles] - points[0], 1, 0)
    return float(np.sum(a * np.cross(b, c)) / 6.0)


def _off(now: Floats, mesh: MuscleOnLines, moved: Floats) -> float:
    """How far vertices (V, 3) that sit on one bone are from where it takes them [m]."""
    worst = 0.0
    for side in (0, 1):
        rows = mesh.hold[:, side] >= 1.0 - 1e-12
        matrix, bind = moved[mesh.held[rows, side]], mesh.points[rows]
        carried = bind + matrix[:, :3, 3] + (matrix[:, :3, :3] @ bind[..., None])[..., 0]
        worst = max(worst, float(np.linalg.norm(now[rows] - carried, axis=1).max(initial=0.0)))
    return worst


@dataclass(frozen=True, eq=False)
class Worst:
    """The worst figures over poses.

    Attributes:
        finite: Whether all vertices were numbers.
        volume, published: Greatest change of a muscle's volume [share], ours and by the published rule.
        off: Of attachments from their bones [m].
        turned: Share of all triangles turned over, in the worst pose.
        too_deep: By muscle, how much deeper in bones it was than it may be [m]; those that were.
    """

    finite: bool
    volume: float
    published: float
    off: float
    turned: float
    too_deep: dict[str, float]


def worst(measured: Measured, poses: Iterable[dict[str, float]]) -> Worst:
    """The worst figures of a body over poses."""
    shapes = [measured.shape(measured.body.posed(shares)) for shares in poses]
    deep = np.max([measured.too_deep(shape) for shape in shapes], axis=0)
    return Worst(
        all(shape.finite for shape in shapes),
        float(np.nanmax([np.abs(shape.volume - 1.0) for shape in shapes])),
        float(np.max([np.abs(shape.published - 1.0) for shape in shapes])),
        float(np.max([shape.off for shape in shapes])),
        max(float(shape.turned.sum() / measured.triangles.sum()) for shape in shapes),
        {measured.names[m]: float(deep[m]) for m in np.argsort(-deep) if deep[m] > 0.0},
    )


def section() -> str:
    """The section of the results."""
    animal, limb = Measured(dog()), Measured(leg())
    rows = []
    for name, measured, poses in (
        ("dog: shoulder, elbow or wrist alone", animal, list(animal.body.alone(STEPS))),
        ("dog: all three at an end", animal, list(animal.body.corners())),
        ("leg: ankle, 20° up to 30° down", limb, list(limb.body.alone(STEPS))),
    ):
        found = worst(measured, poses)
        deep = ", ".join(f"{muscle} {1e3 * much:.1f}" for muscle, much in found.too_deep.items()) or "none"
        rows.append(
            f"| {name} | {len(poses)} | {'all' if found.finite else 'not all'} | {100 * found.volume:.1e} %"
            f" | {100 * found.published:.0f} % | {1e3 * found.off:.1e} mm | {100 * found.turned:.3f} %"
            f" | {deep} |"
        )
    still = limb.character.skeleton.bind_local
    skin = []
    for share in np.linspace(-1.0, 1.0, STEPS):
        local = limb.body.posed({"ankle": share}) if share else still
        skin.append(f"{1e3 * limb.outside(limb.shape(local).points, local).max():.1f}")
    return f"""## Mesh muscles through the range of joints

Worst muscle in the worst of some poses, all muscles activated by {TENSED:g}. Asked for: volume within 1 %,
attachments within 1 mm, at most 0.1 % of triangles turned by more than 90° against the frame they are mapped
to, and every muscle at most {TIMES:g} times as deep in bones as at bind plus {1e3 * MORE:g} mm.

| what | poses | finite | volume | published rule | attachments off | turned over | too deep in bones [mm] |
|---|---|---|---|---|---|---|---|
{chr(10).join(rows)}

With the shoulder past half its highest angle, humerus, ulna and radius go through the ribs themselves, as the
model's range lets them. Intercostals give way there to whichever side is nearer; where bones leave no room,
or beside what is held, some vertices stay deeper than at bind, within what is asked.

The leg's muscles reach furthest out of its skin, from 30° down over bind to 20° up: {", ".join(skin)} mm.
"""


if __name__ == "__main__":
    sys.stdout.write(section() + "\n")
