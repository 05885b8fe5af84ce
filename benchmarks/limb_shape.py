"""How limbs keep their shape: the girth of a forearm that is twisted, the volume of an elbow that is bent.

The forearm's hand is turned by 150° about the arm; girths are those of plane sections along the forearm, the
worst of twelve. The elbow is bent by 130°; the volume is that of the arm as far from the elbow as six tenths
of upper arm and forearm, closed by caps over its two borders.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
import trimesh

from benchmarks.bodies import DATA
from benchmarks.muscle_people import PEOPLE, rigged
from ecorche.base.rotations import normalise
from ecorche.body.compile import Body, compile_body
from ecorche.body.evaluate import Pose, evaluate
from ecorche.document.coupling_spec import CouplingSpec
from ecorche.skeleton.naming.recognise import recognise
from ecorche.skin.limb_segments import limb_segments
from ecorche.skin.two_rings import two_rings

Floats = npt.NDArray[np.float64]

TWIST, BEND = 150.0, 130.0
"""Degrees."""
ALONG = np.linspace(0.15, 0.9, 12)
"""Where girths are taken, as shares of the forearm."""
SEEN = 0.3
"""How much of a vertex the forearm must move for it to count as the forearm's."""


class Arm:
    """The right arm of a person.

    Args:
        person: One of `PEOPLE`.
    """

    def __init__(self, person: str) -> None:
        self.character, self.rig = rigged(DATA / "human" / f"{PEOPLE[person]}.glb")
        skeleton = self.character.skeleton
        found = (recognise(skeleton).joint(name) for name in ("r_elbow", "r_radiocarpal"))
        self.elbow, self.wrist = (joint for joint in found if joint is not None)
        self.heads = skeleton.bind_world[:, :3, 3]
        self.way = normalise(self.heads[self.wrist] - self.heads[self.elbow])
        self.body_mesh = self.character.meshes.index(self.character.body(self.rig.spec.body))

    def compiled(self, method: str, coupling: str) -> Body:
        """The person skinned by a method, with its skin so coupled."""
        spec = CouplingSpec.model_validate({"everywhere": coupling})
        rig = replace(self.rig, spec=self.rig.spec.model_copy(update={"coupling": spec}))
        return compile_body(self.character, rig=rig, skinning=method)

    def posed(self, body: Body, joint: int, axis: Floats, degrees: float) -> Floats:
        """The skin [m], (vertices, 3), with a joint turned about an axis of the world at bind."""
        skeleton = self.character.skeleton
        angle, k = np.radians(degrees), normalise(axis)
        cross = np.array([[0.0, -k[2], k[1]], [k[2], 0.0, -k[0]], [-k[1], k[0], 0.0]])
        turn = np.eye(3) + np.sin(angle) * cross + (1.0 - np.cos(angle)) * cross @ cross
        local, own = skeleton.bind_local.copy(), skeleton.bind_world[joint, :3, :3]
        moved = np.eye(4)
        moved[:3, :3] = np.linalg.inv(own) @ turn @ own
        local[joint] = local[joint] @ moved
        return evaluate(body, Pose(local)).points[self.body_mesh].astype(np.float64)

    def change_of_girth(self, body: Body) -> float:
        """The worst over the forearm when it is twisted, a share."""
        before, after = (
            np.array([self._girth(skin, share) for share in ALONG])
            for skin in (
                self.posed(body, self.wrist, self.way, 0.0),
                self.posed(body, self.wrist, self.way, TWIST),
            )
        )
        change = after / before - 1.0
        return float(change[np.abs(change).argmax()])

    def change_of_volume(self, body: Body) -> float:
        """Of the bent elbow's, a share."""
        axis = np.cross(self.way, [0.0, 0.0, 1.0])
        # towards the shoulder: up
        side = 1.0 if np.cross(axis, self.way)[2] > 0.0 else -1.0
        before, after = (
            self._volume(self.posed(body, self.elbow, axis, side * angle)) for angle in (0.0, BEND)
        )
        return after / before - 1.0

    @cached_property
    def _forearm(self) -> npt.NDArray[np.int64]:
        """Triangles of the forearm."""
        mesh = self.character.meshes[self.body_mesh]
        assert mesh.weights is not None
        joints, shares = mesh.weights.padded()
        own = np.isin(joints, [self.elbow, *self.character.skeleton.children[self.elbow]])
        triangles = mesh.mesh.triangles().astype(np.int64)
        return np.asarray(triangles[((own * shares).sum(axis=1) > SEEN)[triangles].all(axis=1)])

    def _girth(self, skin: Floats, share: float) -> float:
        """The longest line in which a plane cuts the forearm [m]."""
        at = (1.0 - share) * self.heads[self.elbow] + share * self.heads[self.wrist]
        cut = trimesh.Trimesh(skin, self._forearm, process=False).section(self.way, at)
        return 0.0 if cut is None else max(float(line.length(cut.vertices)) for line in cut.entities)

    @cached_property
    def _segment(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], list[npt.NDArray[np.int64]]]:
        """Vertices of the capped arm, its triangles and the edges of its borders, numbered within them."""
        mesh = self.character.meshes[self.body_mesh]
        assert mesh.weights is not None
        points, triangles = mesh.mesh.points, mesh.mesh.triangles()
        place = two_rings(points, triangles).place
        (found,) = limb_segments(
            points, triangles, place, mesh.weights, self.character.skeleton, [self.elbow]
        )
        return found.vertices, found.triangles, list(found.borders)

    def _volume(self, skin: Floats) -> float:
        """Of the capped segment [m³]."""
        vertices, triangles, borders = self._segment
        at = skin[vertices] - skin[vertices].mean(axis=0)
        total = _boxes(at[triangles[:, 0]], at[triangles[:, 1]], at[triangles[:, 2]])
        for edges in borders:
            total += _boxes(at[edges[:, 0]], at[edges[:, 1]], at[edges[:, 0]].mean(axis=0))
        return total / 6.0


def _boxes(a: Floats, b: Floats, c: Floats) -> float:
    return float(np.sum(np.cross(a, b) * c))


METHODS = {
    "linear": ("linear", "plain"),
    "dual quaternion": ("dual_quaternion", "plain"),
    "contour": ("contour", "plain"),
    "contour, fascia": ("contour", "fascia"),
}
"""What is shown beside each other: a method of skinning and a coupling."""


def table(person: str = "muscular man") -> str:
    """Girth and volume by method."""
    arm, rows = Arm(person), []
    for name, (method, coupling) in METHODS.items():
        body = arm.compiled(method, coupling)
        rows.append(
            f"| {name} | {100.0 * arm.change_of_girth(body):+.1f} %"
            f" | {100.0 * arm.change_of_volume(body):+.1f} % |"
        )
    head = f"| {person} | girth, forearm twisted by {TWIST:g}° | volume, elbow bent by {BEND:g}° |"
    return "\n".join([head, "|---|---|---|", *rows])


if __name__ == "__main__":
    print(table())
