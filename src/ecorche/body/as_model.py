"""A rig as a musculoskeletal model: bodies, muscles on paths with what they wrap round, masses, forces.

Every joint of the skeleton is a body, and so is a virtual scapula. Bodies stand in world axes at bind, so
that every coordinate is 0 there; each turns against the one above it about x, then y, then z, and the root
also shifts. Of a muscle its path is told as a rig has it:

- those of the template by their points;
- those found in the skin by origin, insertion and the sphere or cylinder that lies in their way, no larger
  than to leave both outside, with the side on which they pass it; round a sphere that is as good as never
  gone more than half round, the shorter way (`_takes_shorter_way`);
- those that are meshes on action lines, a path a line, by the nodes that are fixed to a joint. Nodes that
  give way to bones or follow a joint only in part are no points of a bone, and are left out: how much longer
  or shorter such a path then is, is told (`path_errors`).

What a muscle can do comes from its shape: its cross-section is the largest of the shape, which times the
length of its fibres is its volume. What of the path is not fibre is tendon, slack at bind. F_max is the rig's
where it has one, else the cross-section times the specific tension.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from ecorche.base.names import unique
from ecorche.base.rotations import normalise
from ecorche.base.transforms import nearest_rotation
from ecorche.body.character import Character
from ecorche.body.compile import Body, compile_body
from ecorche.body.sample_poses import sample_poses
from ecorche.body.segment_masses import SegmentMasses, segment_masses
from ecorche.document.files import Rig
from ecorche.errors import DocumentError
from ecorche.muscles.line_musculature import LineMusculature
from ecorche.muscles.lines.admissible import BoundNode
from ecorche.muscles.lofted import Wrap
from ecorche.muscles.lofted_posing import Lofts
from ecorche.muscles.musculature import Musculature
from ecorche.muscles.scapula import VirtualScapula, difference_with, with_scapulae
from ecorche.muscles.volume import contract
from ecorche.muscles.wrapping import PHI, SHARE
from ecorche.skeleton.kinematics import difference_from_bind
from ecorche.skeleton.motion import Motion

Floats = npt.NDArray[np.float64]

SPECIFIC_TENSION = 3.0e5
"""What a muscle pulls with a square metre of cross-section [N/m²]; 30 N/cm² is a usual figure."""
LEAST_MASS = 1e-3
"""Of a body without flesh of its own [kg], at 1 cm from its centre: no solver takes none."""
_OUTSIDE = 1.0 - 1e-6
"""Share of the distance to an end that a wrap's radius may have: rounded, the end stays outside."""
_POSES, _SEED = 200, 2
"""Drawn poses that say how far round paths go; others than those in which lengths are compared."""
_RARELY = 0.02
"""Share of them in which a path may go more than half round and still be told to take the shorter way."""
_STATIONS = 201
_MOST_FIBRE = 0.95
"""Share of a path that is fibre at most: some tendon there is."""


class ModelBody(NamedTuple):
    """A body of the model.

    Attributes:
        name: Unique.
        parent: Its number; −1 is the ground.
        head: Where its joint is at bind [m], (3,).
        mass: [kg].
        centre: Of mass, from the head [m], (3,).
        inertia: About that [kg m²], (3, 3).
    """

    name: str
    parent: int
    head: Floats
    mass: float
    centre: Floats
    inertia: Floats


class ModelWrap(NamedTuple):
    """What a path bends round.

    Attributes:
        shape: A cylinder is as long as it takes.
        body: Number of the body it moves with.
        centre: From the body's head [m], (3,).
        axis: Of a cylinder, unit, (3,).
        radius: [m].
        side: From the centre to where the path passes at bind, unit, (3,); None: whichever way is shorter.
        ends: From the centre to origin and insertion at bind [m], (2, 3).
    """

    shape: Literal["sphere", "cylinder"]
    body: int
    centre: Floats
    axis: Floats
    radius: float
    side: Floats | None
    ends: Floats

    @property
    def at_end(self) -> bool:
        """Whether an end of the path lies on the sphere at bind."""
        return self.shape == "sphere" and bool(
            self.radius >= _OUTSIDE * np.linalg.norm(self.ends, axis=1).min()
        )


class ModelMuscle(NamedTuple):
    """A muscle of the model.

    Attributes:
        name: Unique.
        bodies: Of its points, origin first, (P,).
        points: From the heads of these at bind [m], (P, 3).
        wrap: What lies between its two points; None for nothing.
        length: At bind [m].
        volume: [m³].
        cross_section: [m²].
        fibre_length: Optimal [m].
        slack_length: Of the tendon [m].
        max_force: [N].
    """

    name: str
    bodies: tuple[int, ...]
    points: Floats
    wrap: ModelWrap | None
    length: float
    volume: float
    cross_section: float
    fibre_length: float
    slack_length: float
    max_force: float


@dataclass(frozen=True, eq=False, repr=False)
class RigModel:
    """A rig as a model; metres, kilograms, newtons, +Y up.

    Attributes:
        name: Of the character.
        bodies: Parents before children.
        muscles: As the rig has them: template, found, meshes.
        notes: What a person should know.
        body: What it was made of.
        scapulae: Bodies that follow the arm in the rig; they come after the skeleton's.
    """

    name: str
    bodies: tuple[ModelBody, ...]
    muscles: tuple[ModelMuscle, ...]
    notes: tuple[str, ...]
    body: Body
    scapulae: tuple[VirtualScapula, ...]

    def __repr__(self) -> str:
        return f"RigModel({len(self.bodies)} bodies, {len(self.muscles)} muscles)"

    @property
    def coordinates(self) -> tuple[str, ...]:
        """Names of all coordinates: turns about x, y, z of every body; of roots, shifts before them."""
        return tuple(f"{body.name}_{axis}" for body in self.bodies for axis in axes_of(body))

    def pose(self, difference: npt.ArrayLike) -> Floats:
        """Values of the coordinates [rad or m] for ``M − I`` of the character's joints (joints, 4, 4)."""
        moved = difference_with(np.asarray(difference, np.float64), self.scapulae)
        turns = nearest_rotation(np.eye(3) + moved[:, :3, :3])
        found: list[float] = []
        for number, body in enumerate(self.bodies):
            own = turns[number]
            if body.parent >= 0:
                own = turns[body.parent].T @ own
            else:
                found += (moved[number, :3, :3] @ body.head + moved[number, :3, 3]).tolist()
            found += xyz_angles(own)
        return np.array(found)

    def lengths(self, difference: npt.ArrayLike) -> Floats:
        """Lengths of the rig's own paths [m], in the order of the muscles, (M,); see `pose`."""
        moved = np.asarray(difference, np.float64)
        parts = [np.zeros(0)]
        if self.body.muscles is not None:
            parts.append(self.body.muscles.musculature.posed(moved)[0].path.lengths)
        if self.body.lofts is not None:
            parts.append(self.body.lofts.lofts.lengths(moved))
        if self.body.lines is not None:
            meshes = self.body.lines.musculature
            nodes = meshes.paths.posed(moved[None]).nodes[0]
            parts.append(np.array([_polyline(nodes[a:b]) for a, b in pairwise(meshes.paths.starts)]))
        return np.concatenate(parts)

    def path_errors(self, motion: Motion) -> Floats:
        """By how much paths through fixed points alone are longer than the rig's own [m], (frames, M).

        Not a number for muscles that wrap round something: that is up to whoever reads the model.
        """
        rows = []
        for local in motion.local:
            moved = difference_from_bind(motion.skeleton, local)
            every = difference_with(moved, self.scapulae)
            here = []
            for muscle in self.muscles:
                at = muscle.points + [self.bodies[b].head for b in muscle.bodies]
                m = every[list(muscle.bodies)]
                at = at + np.einsum("pij,pj->pi", m[:, :3, :3], at) + m[:, :3, 3]
                here.append(np.nan if muscle.wrap is not None else _polyline(at))
            rows.append(np.array(here) - self.lengths(moved))
        return np.array(rows)


def axes_of(body: ModelBody) -> tuple[str, ...]:
    """What a body's coordinates are called after its name."""
    return ("x", "y", "z") if body.parent >= 0 else ("tx", "ty", "tz", "x", "y", "z")


def rig_model(character: Character, rig: Rig, *, specific_tension: float = SPECIFIC_TENSION) -> RigModel:
    """A rig as a musculoskeletal model.

    Args:
        character: The rig's character.
        rig: With muscles of any kind.
        specific_tension: Force of a square metre of cross-section [N/m²].
    """
    if not specific_tension > 0.0:
        raise DocumentError(
            f"a specific tension of {specific_tension:g} N/m² pulls nothing",
            where=rig.source,
            remedy="Give some 300000 N/m², which is 30 N/cm²",
        )
    body = compile_body(character, rig=rig)
    scapulae = _scapulae(body)
    skeleton = with_scapulae(body.character.skeleton, scapulae)
    mesh = body.character.body(rig.spec.body)
    assert mesh.weights is not None  # body() gives skinned meshes only
    heads = skeleton.bind_world[:, :3, 3]
    own = len(body.character.skeleton.names)
    masses = segment_masses(mesh.mesh.points, mesh.mesh.triangles(), mesh.weights, heads[:own])
    taken: set[str] = set()
    bodies = tuple(
        _body(unique(_plain(name), taken), int(skeleton.parents[k]), heads[k], masses, k)
        for k, name in enumerate(skeleton.names)
    )
    muscles = [*_spindles(body), *_lofts(body, rig), *_lines(body)]
    if not muscles:
        raise DocumentError(
            "has no muscles to make a model of", where=rig.source, remedy="Make a rig with `ecorche rig`"
        )
    taken = set()
    found = tuple(_muscle(m, unique(_plain(m.name), taken), heads, specific_tension) for m in muscles)
    flesh, muscle = sum(b.mass for b in bodies), 1e6 * sum(m.volume for m in found)
    notes = [f"{flesh:.1f} kg of flesh, {muscle:,.0f} cm³ of muscles among it"]
    bare = [b.name for b in bodies if b.mass == LEAST_MASS]
    if bare:
        notes.append(f"{len(bare)} bodies have no flesh of their own and weigh a gram each")
    if scapulae:
        notes.append(
            "shoulder blades that follow the arm in the rig are bodies with coordinates of their own"
        )
    return RigModel(body.character.name, bodies, found, tuple(notes), body, scapulae)


class _Drawn(NamedTuple):
    """A muscle in world places at bind; its shape's largest section [m²] and volume [m³]."""

    name: str
    joints: tuple[int, ...]
    points: Floats
    wrap: ModelWrap | None
    length: float
    volume: float
    largest: float
    max_force: float


def _scapulae(body: Body) -> tuple[VirtualScapula, ...]:
    if body.muscles is not None and body.muscles.musculature.scapulae:
        return body.muscles.musculature.scapulae
    return () if body.lines is None else body.lines.musculature.scapulae


def _plain(name: str) -> str:
    """A name of letters, digits and underlines: model files make paths of names."""
    return re.sub(r"\W+", "_", name).strip("_") or "unnamed"


def _body(name: str, parent: int, head: Floats, masses: SegmentMasses, joint: int) -> ModelBody:
    if joint < len(masses.masses) and masses.masses[joint] > LEAST_MASS:
        centre = masses.centres[joint] - head
        return ModelBody(name, parent, head, float(masses.masses[joint]), centre, masses.inertias[joint])
    return ModelBody(name, parent, head, LEAST_MASS, np.zeros(3), LEAST_MASS * 1e-4 * np.eye(3))


def _spindles(body: Body) -> Iterator[_Drawn]:
    if body.muscles is None:
        return
    muscles: Musculature = body.muscles.musculature
    paths, shapes = muscles.frames.paths, muscles.spindles
    volumes = contract(shapes, shapes.bind_length, volume=muscles.volume).volumes()
    thick = shapes.thickness_at(np.linspace(0.0, 1.0, _STATIONS)).max(axis=-1)
    for m, muscle in enumerate(muscles.muscles):
        own = slice(int(paths.starts[m]), int(paths.starts[m + 1]))
        yield _Drawn(
            muscle.name,
            tuple(paths.joints[own].tolist()),
            paths.bind_points[own],
            None,
            float(shapes.bind_length[m]),
            float(volumes[m]),
            float(np.pi * shapes.scale[m] * thick[m] ** 2),
            muscle.max_force,
        )


def _lofts(body: Body, rig: Rig) -> Iterator[_Drawn]:
    if body.lofts is None:
        return
    lofts: Lofts = body.lofts.lofts
    shorter = _takes_shorter_way(lofts, body.character, rig)
    for muscle, shape, length, short in zip(
        lofts.muscles, lofts.shapes, lofts.curves.bind.lengths, shorter, strict=True
    ):
        ends, wrap = np.asarray(muscle.ends, np.float64), None
        if muscle.wrap is not None:
            side = None
            if not short:
                # right-handed round the axis, from origin to insertion
                side = normalise(np.cross(ends[1] - ends[0], muscle.wrap.axis))
            wrap = ModelWrap(
                "cylinder" if muscle.wrap.shape == "cylinder" else "sphere",
                muscle.wrap.joint,
                np.asarray(muscle.wrap.centre, np.float64),
                normalise(np.asarray(muscle.wrap.axis, np.float64)),
                _clear_of(ends, muscle.wrap),
                side,
                ends - muscle.wrap.centre,
            )
        yield _Drawn(
            muscle.name,
            muscle.joints,
            ends,
            wrap,
            float(length),
            float(shape.volume(length)),
            float(np.pi * shape.largest),
            muscle.max_force,
        )


def _takes_shorter_way(lofts: Lofts, character: Character, rig: Rig) -> list[bool]:
    """Whether what each muscle wraps round is told without a side.

    A ball always is. So is a sphere that moves with an end of the path, if in drawn poses the path as good as
    never goes more than half round: up to there the shorter way is the rig's own. A side would be one more
    thing that has to be right: programs compare it with the line of the ends, each in its own way, and seen
    edge on, as when an ankle turns in, they would go round what the rig leaves. Where both ends move against
    the sphere, as of muscles over two joints, their line passes its centre on either side: there the side
    decides.
    """
    poses = sample_poses(character, rig, _POSES, seed=_SEED)
    curves = lofts.curves.moved(difference_from_bind(character.skeleton, poses.local)).rows
    past = np.mean((curves[..., SHARE] > 0.0) & (curves[..., PHI] > np.pi), axis=0)
    return [
        muscle.wrap is not None
        and (
            muscle.wrap.shape == "ball"
            or (
                muscle.wrap.shape == "sphere"
                and muscle.wrap.joint in muscle.joints
                and bool(often <= _RARELY)
            )
        )
        for muscle, often in zip(lofts.muscles, past, strict=True)
    ]


def _clear_of(ends: Floats, wrap: Wrap) -> float:
    """The radius [m] that leaves both ends outside, as no format wraps a path that ends inside.

    So does the rig's own rule (`wrapping`): an end that turns about the centre is as far from it in any pose.
    """
    away = ends - wrap.centre
    if wrap.shape == "cylinder":
        away = np.cross(away, normalise(np.asarray(wrap.axis, np.float64)))
    return min(wrap.radius, _OUTSIDE * float(np.linalg.norm(away, axis=1).min()))


def _lines(body: Body) -> Iterator[_Drawn]:
    if body.lines is None:
        return
    meshes: LineMusculature = body.lines.musculature
    nodes, starts = meshes.paths.bind, meshes.paths.starts
    for m, muscle in enumerate(meshes.muscles):
        volume = abs(_enclosed(muscle.points, muscle.triangles)) / len(muscle.lines)
        for number, line in enumerate(muscle.lines):
            row = int(meshes.line_starts[m]) + number
            own = nodes[starts[row] : starts[row + 1]]
            segments = np.linalg.norm(np.diff(own, axis=0), axis=1)
            belly = segments[~meshes.tendon[starts[row] - row : starts[row + 1] - row - 1]].sum()
            held = [
                node for node in line.nodes if isinstance(node, BoundNode) and node.swing == node.twist == 1.0
            ]
            ends = np.array([node.place for node in held])
            yield _Drawn(
                muscle.line_name(number),
                tuple(node.joint for node in held),
                ends,
                None,
                float(segments.sum()),
                volume,
                volume / float(belly),
                muscle.max_force / len(muscle.lines),
            )


def _enclosed(points: Floats, triangles: npt.NDArray[np.integer]) -> float:
    """Volume of a closed mesh [m³]."""
    a, b, c = np.moveaxis((points - points.mean(axis=0))[triangles], 1, 0)
    return float(np.sum(a * np.cross(b, c)) / 6.0)


def _muscle(drawn: _Drawn, name: str, heads: Floats, specific_tension: float) -> ModelMuscle:
    fibre = min(drawn.volume / drawn.largest, _MOST_FIBRE * drawn.length)
    section = drawn.volume / fibre
    wrap = drawn.wrap
    if wrap is not None:
        wrap = wrap._replace(centre=wrap.centre - heads[wrap.body])
    return ModelMuscle(
        name,
        drawn.joints,
        drawn.points - heads[list(drawn.joints)],
        wrap,
        drawn.length,
        drawn.volume,
        section,
        fibre,
        drawn.length - fibre,
        drawn.max_force if drawn.max_force > 0.0 else specific_tension * section,
    )


def _polyline(points: Floats) -> float:
    return float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum())


def xyz_angles(turn: Floats) -> list[float]:
    """Angles [rad] about x, then the turned y, then the turned z, of a rotation (3, 3)."""
    y = np.arcsin(np.clip(turn[0, 2], -1.0, 1.0))
    return [float(np.arctan2(-turn[1, 2], turn[2, 2])), float(y), float(np.arctan2(-turn[0, 1], turn[0, 0]))]
