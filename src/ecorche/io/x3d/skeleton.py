"""The joints of an H-Anim humanoid.

An H-Anim joint is a transform about its center, given in the humanoid's own coordinates; with all
joints at their defaults the figure stands in its binding pose and every joint's matrix is the
identity. So bind is the pose of the centers, and the file's own rotations, translations and
scales are the rest pose.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ecorche.base.names import unique
from ecorche.base.transforms import inverse
from ecorche.io.x3d.nodes import (
    HUMANOIDS,
    JOINTS,
    MOST_NODES,
    SEGMENTS,
    SITES,
    Floats,
    Node,
    Scene,
    metadata,
    strings_of,
    text_of,
)
from ecorche.skeleton.skeleton import Skeleton, local_from_world


@dataclass(frozen=True)
class Site:
    """A named point of the body: where it is at bind [m], and the joint that carries it."""

    name: str
    joint: str
    position: tuple[float, float, float]


@dataclass(eq=False)
class Humanoid:
    """A humanoid node, its skeleton, and where everything that hangs on a joint was found."""

    node: Node
    world: Floats  # world_from_humanoid, in metres
    skeleton: Skeleton
    joints: list[Node]  # in the skeleton's order
    frames: list[Floats]  # world_from_(the joint's parent frame at bind), (4, 4) each
    shapes: list[tuple[Node, int, Floats]]  # Shape, joint, world_from_shape at bind
    sites: list[Site]
    notes: list[str] = field(default_factory=list)

    def number(self, joint: Node) -> int | None:
        """A joint node's number in the skeleton."""
        return next((i for i, node in enumerate(self.joints) if node is joint), None)


@dataclass(eq=False)
class _Gathered:
    joints: list[Node] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    frames: list[Floats] = field(default_factory=list)
    shapes: list[tuple[Node, int, Floats]] = field(default_factory=list)
    sites: list[tuple[Node, int, Floats]] = field(default_factory=list)
    twice: list[str] = field(default_factory=list)


def find_humanoid(scene: Scene) -> Humanoid:
    """The scene's humanoid; the first, with a note, where there are several."""
    found = [(node, world) for node, world in scene.walk() if node.kind in HUMANOIDS]
    if not found:
        raise scene.error(
            "there is no humanoid in the scene",
            1,
            "Give a file with an HAnimHumanoid (or a Humanoid in VRML97)",
        )
    node, world = found[0]
    unit = np.diag([scene.metres_per_unit] * 3 + [1.0])
    humanoid = _humanoid(scene, node, unit @ world @ scene.transform(node))
    others = {id(other) for other, _ in found} - {id(node)}
    if others:
        humanoid.notes.append(f"{len(others)} more humanoids of the scene were not read")
    return humanoid


def _humanoid(scene: Scene, node: Node, world: Floats) -> Humanoid:
    gathered = _gather(scene, node, world)
    place = {id(joint): i for i, joint in enumerate(gathered.joints)}
    if not gathered.joints:
        raise scene.error("the humanoid has no joints", node.line, "Give it a skeleton of HAnimJoint nodes")
    _reorder(gathered, [place[id(j)] for j in node.below("joints") if id(j) in place])
    joints, frames = gathered.joints, gathered.frames
    notes = [f"joint {name!r} is used twice; its second place was left out" for name in gathered.twice]
    taken: set[str] = set()
    names = []
    for number, joint in enumerate(joints):
        wanted = _joint_name(joint) or f"joint_{number}"
        names.append(unique(wanted, taken))
        if names[-1] != wanted:
            notes.append(f"a second joint named {wanted!r} is called {names[-1]!r}")
    parents = np.array(gathered.parents, np.int32)
    bind = np.stack(
        [
            frame @ _at(_center(scene, joint)) @ _axes(scene, joint)
            for frame, joint in zip(frames, joints, strict=True)
        ]
    )
    rest = rest_world(scene, parents, joints, frames, bind)
    tails = np.stack([_tail(scene, joint) for joint in joints])
    skeleton = Skeleton(
        tuple(names), parents, local_from_world(parents, bind), local_from_world(parents, rest), tails
    )
    sites = [
        Site(text_of(site, "name") or site.name or "", names[joint], _position(place))
        for site, joint, place in gathered.sites
    ]
    return Humanoid(node, world, skeleton, joints, frames, gathered.shapes, sites, notes)


def _gather(scene: Scene, humanoid: Node, world: Floats) -> _Gathered:
    """Joints parents first, with the shapes and sites on them, by a walk in file order."""
    found = _Gathered()
    number: dict[int, int] = {}
    roots = humanoid.below("skeleton", "humanoidBody", "children")
    pile: list[tuple[Node, int, Floats]] = [(node, -1, world) for node in reversed(roots)]
    count = 0
    while pile:
        node, joint, place = pile.pop()
        count += 1
        if count > MOST_NODES:
            raise scene.error("the humanoid unfolds to too many nodes", node.line)
        inner = place
        if node.kind in JOINTS:
            if id(node) in number:
                found.twice.append(_joint_name(node) or "")
                continue
            number[id(node)] = len(found.joints)
            found.joints.append(node)
            found.parents.append(joint)
            found.frames.append(place)
            joint = number[id(node)]
        elif node.kind == "Transform":
            inner = place @ scene.transform(node)
        elif node.kind in SITES:
            if joint >= 0:
                found.sites.append((node, joint, place @ scene.transform(node)))
            continue  # what hangs on a site is gear or a viewpoint, not body
        elif node.kind == "Shape":
            found.shapes.append((node, joint, place))
            continue
        elif node.kind not in SEGMENTS and not node.below("children"):
            continue
        pile.extend((child, joint, inner) for child in reversed(node.below("children")))
    return found


def _reorder(gathered: _Gathered, listed: list[int]) -> None:
    """Put the joints in the order of the humanoid's own list, where it has all, parents first."""
    place = {old: new for new, old in enumerate(listed)}
    if len(place) != len(listed) or len(listed) != len(gathered.joints):
        return
    if any(p >= 0 and place[p] > place[j] for j, p in enumerate(gathered.parents)):
        return
    place[-1] = -1
    gathered.parents = [place[gathered.parents[old]] for old in listed]
    gathered.joints = [gathered.joints[old] for old in listed]
    gathered.frames = [gathered.frames[old] for old in listed]
    gathered.shapes = [(shape, place[joint], at) for shape, joint, at in gathered.shapes]
    gathered.sites = [(site, place[joint], at) for site, joint, at in gathered.sites]


def rest_world(
    scene: Scene, parents: np.ndarray, joints: list[Node], frames: list[Floats], bind: Floats
) -> Floats:
    """``world_from_joint`` (joints, 4, 4) of the pose the joints' own fields say."""
    moved: list[Floats] = []  # M of each joint: world_from_joint · bind_inverse
    for joint, (parent, frame) in enumerate(zip(parents, frames, strict=True)):
        above = moved[parent] if parent >= 0 else np.eye(4)
        moved.append(above @ frame @ scene.transform(joints[joint]) @ inverse(frame))
    return np.stack(moved) @ bind


def _at(point: Floats) -> Floats:
    matrix = np.eye(4)
    matrix[:3, 3] = point
    return matrix


def _position(matrix: Floats) -> tuple[float, float, float]:
    x, y, z = (float(v) for v in matrix[:3, 3])
    return x, y, z


def _center(scene: Scene, joint: Node) -> Floats:
    return scene.vector(joint, "center", (0.0, 0.0, 0.0))


def _joint_name(joint: Node) -> str | None:
    kept = metadata(joint, "joint")
    if kept is not None:
        return next(iter(strings_of(kept, "value")), None)
    return text_of(joint, "name") or joint.name


def _axes(scene: Scene, joint: Node) -> Floats:
    """The axes our own writer noted for a joint; H-Anim itself has none but the humanoid's."""
    matrix = np.eye(4)
    kept = metadata(joint, "axes")
    if kept is not None:
        rows = scene.floats(kept, "value", 9)
        if len(rows) != 1 or abs(np.linalg.det(rows[0].reshape(3, 3))) < 1e-12:
            raise scene.error("the axes noted for this joint are no axes", kept.line)
        matrix[:3, :3] = rows[0].reshape(3, 3)
    return matrix


def _tail(scene: Scene, joint: Node) -> Floats:
    kept = metadata(joint, "tail")
    return np.full(3, np.nan) if kept is None else scene.vector(kept, "value", (np.nan,) * 3)
