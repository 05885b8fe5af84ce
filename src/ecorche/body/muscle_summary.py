"""The muscles of a rig in numbers: lengths and volume over a range of poses, and how much skin each moves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ecorche.base.names import suggestion
from ecorche.base.rotations import xyzw_from_axis_angle
from ecorche.base.transforms import compose
from ecorche.body.character import Character
from ecorche.body.compile import Body, compile_body
from ecorche.body.joint_limits import joint_limits
from ecorche.body.lines import BodyLines
from ecorche.body.lofts import BodyLofts
from ecorche.body.muscles import BodyMuscles
from ecorche.document.files import Rig
from ecorche.errors import EcorcheError
from ecorche.muscles.line_muscle import LineMuscle
from ecorche.muscles.line_musculature import LineMusculature
from ecorche.muscles.lines.admissible import CollisionNode
from ecorche.muscles.loft import THINNEST
from ecorche.muscles.lofted import LoftedMuscle
from ecorche.muscles.lofted_posing import Lofts
from ecorche.muscles.muscle import Muscle
from ecorche.muscles.musculature import Musculature
from ecorche.muscles.scapula import VirtualScapula, difference_with
from ecorche.muscles.volume import contract
from ecorche.skeleton.enforce_limits import enforce_limits
from ecorche.skeleton.kinematics import difference_from_bind
from ecorche.skeleton.motion import Motion
from ecorche.skeleton.skeleton import Skeleton

Floats = npt.NDArray[np.float64]

STEP = 15.0
"""Between poses of one joint [degrees]."""
CHUNK = 256
"""Poses at a time: memory does not grow with the length of a motion."""
LINE_POSES = 16
"""Of each chunk, so many poses at most are measured of muscles that are meshes: each is a whole mesh."""


@dataclass(frozen=True)
class MuscleSummary:
    """One muscle; lengths in metres.

    Attributes:
        name, muscle, group: What it is.
        length: At bind.
        shortest, longest: Over the range of poses.
        volume_cm3: At bind.
        volume_error: Largest departure from that volume over the range, as a share of it.
        held: In which share of the poses it is too long to keep its volume, its belly as thin as can be.
        vertices: How many vertices of the body's skin it moves.
        max_force: F_max [N].
        gain: How much of its effect on the skin is shown.
        found: Whether it was found in the skin; else it is one of the template, or drawn like one.
        prominence: How far the skin over a found one stands out [m]; 0 where nobody measured it.
        lines: Action lines of a muscle that is a mesh; 0 of others. Its vertices are its own.
        attachments: Bones at its origin and its insertion.
        doubts: How many things were not certain when it was built.
    """

    name: str
    muscle: str
    group: str
    length: float
    shortest: float
    longest: float
    volume_cm3: float
    volume_error: float
    held: float
    vertices: int
    max_force: float
    gain: float
    found: bool = False
    prominence: float = 0.0
    lines: int = 0
    attachments: str = ""
    doubts: int = 0


@dataclass(frozen=True)
class MusclesSummary:
    """All muscles, and the poses their ranges are told over; notes name those that could not be compiled."""

    over: str
    poses: int
    muscles: tuple[MuscleSummary, ...]
    notes: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Plain values, for JSON."""
        return asdict(self)

    def about(self, text: str) -> MusclesSummary:
        """Only the muscles whose name, muscle or group contains a text; a text that none has is refused."""
        wanted = text.casefold()
        rows = tuple(
            row
            for row in self.muscles
            if any(wanted in word.casefold() for word in (row.name, row.muscle, row.group))
        )
        if not rows:
            known = dict.fromkeys(
                word for row in self.muscles for word in (row.muscle, row.group, row.name) if word
            )
            raise EcorcheError(
                f"no muscle or group has {text!r} in its name",
                where="--muscle",
                remedy=suggestion(text, list(known)),
            )
        return replace(self, muscles=rows)


def summarise_muscles(character: Character, rig: Rig, motion: Motion | None = None) -> MusclesSummary | None:
    """The muscles of a rig in numbers; None where it has none.

    Args:
        character: The rig's character.
        rig: The rig.
        motion: Poses to tell the ranges over, on the character's skeleton. None goes through the limits of
            one joint after another, the rig's or an adult's; where no joint has a canonical name, through
            the character's own clips.
    """
    body = compile_body(character, rig=rig)
    if body.muscles is None and body.lofts is None and body.lines is None:
        return None
    over, poses = _poses(character, rig, motion, body)
    measured = _Measured(body)
    for local in poses:
        for first in range(0, len(local), CHUNK):
            measured.add(difference_from_bind(character.skeleton, local[first : first + CHUNK]))
    rows: list[MuscleSummary] = []
    if body.muscles is not None and measured.spindles is not None:
        rows += _spindle_rows(body.muscles, measured.spindles, measured.poses)
    if body.lofts is not None and measured.lofts is not None:
        rows += _loft_rows(body.lofts, measured.lofts, measured.poses)
    notes: tuple[str, ...] = ()
    if body.lines is not None and measured.lines is not None:
        rows += _line_rows(body.lines, measured.lines, measured.line_poses)
        notes = (*body.lines.musculature.notes, *measured.restless())
    return MusclesSummary(over, measured.poses, tuple(rows), notes)


class _Range:
    """Over some poses, (M,) each: lengths [m], worst volume error as a share, in how many poses held."""

    def __init__(self, at_bind: Floats, volume: Floats) -> None:
        self.at_bind, self.volume = at_bind, volume
        self.shortest, self.longest = at_bind.copy(), at_bind.copy()
        self.error, self.held = np.zeros(len(at_bind)), np.zeros(len(at_bind))

    def add(self, lengths: Floats, volumes: Floats, held: npt.NDArray[np.bool_]) -> None:
        """More poses, (poses, M) each."""
        self.shortest = np.minimum(self.shortest, lengths.min(axis=0))
        self.longest = np.maximum(self.longest, lengths.max(axis=0))
        kept = np.where(self.volume > 0.0, self.volume, 1.0)  # an open mesh has none to keep
        drift = np.where(self.volume > 0.0, np.abs(volumes / kept - 1.0), 0.0)
        self.error = np.maximum(self.error, drift.max(axis=0))
        self.held += held.sum(axis=0)


class _Measured:
    """Lengths and volumes of a body's muscles of all kinds."""

    def __init__(self, body: Body) -> None:
        self.poses = self.line_poses = 0
        self.lines: _Range | None = None
        self._restless: Counter[str] = Counter()
        self._meshes: LineMusculature | None = None
        if body.lines is not None:
            self._meshes = meshes = body.lines.musculature
            lengths = meshes.lengths(np.ones(len(meshes.tendon)))
            self._pieces = _ClosedPieces(meshes)
            self.lines = _Range(lengths, self._pieces.volumes(meshes.meshes.bind))
        self.spindles: _Range | None = None
        self.lofts: _Range | None = None
        self._musculature: Musculature | None = None
        self._shapes: Lofts | None = None
        if body.muscles is not None:
            self._musculature = body.muscles.musculature
            spindles = self._musculature.spindles
            still = contract(spindles, spindles.bind_length, volume=self._musculature.volume)
            self.spindles = _Range(spindles.bind_length, still.volumes())
        if body.lofts is not None:
            self._shapes = body.lofts.lofts
            lengths = self._shapes.curves.bind.lengths
            self.lofts = _Range(lengths, self._volumes(lengths[None])[0][0])

    def add(self, moved: Floats) -> None:
        """Poses as ``M − I`` of the character's joints, (poses, joints, 4, 4)."""
        self.poses += len(moved)
        muscles = self._musculature
        if muscles is not None and self.spindles is not None:
            lengths = muscles.frames.paths.moved(difference_with(moved, muscles.scapulae)).lengths
            states = contract(muscles.spindles, lengths, volume=muscles.volume)
            self.spindles.add(lengths, states.volumes(), states.held)
        if self._shapes is not None and self.lofts is not None:
            lengths = self._shapes.lengths(moved)
            self.lofts.add(lengths, *self._volumes(lengths))
        meshes = self._meshes
        if meshes is not None and self.lines is not None:
            some = moved[:: -(-len(moved) // LINE_POSES)]
            self.line_poses += len(some)
            paths = meshes.paths.posed(some)
            for name, settled in zip(paths.rest.names, paths.rest.settled.T, strict=True):
                self._restless[name] += int((~settled).sum())
            for pose, nodes, elongation in zip(some, paths.nodes, paths.elongation, strict=True):
                posed = meshes.posed(pose, nodes, elongation)
                volumes = self._pieces.volumes(posed.points)
                self.lines.add(meshes.lengths(elongation)[None], volumes[None], ~posed.held[None])

    def restless(self) -> list[str]:
        """A sentence for each line that did not come to rest somewhere."""
        return [
            f"Line {name!r} did not come to rest in {count} of {self.line_poses} poses."
            for name, count in self._restless.items()
            if count
        ]

    def _volumes(self, lengths: Floats) -> tuple[Floats, npt.NDArray[np.bool_]]:
        """Volumes of lofts of lengths (poses, M) [m³], and whether they are as thin as can be."""
        assert self._shapes is not None
        volumes, held = np.empty(lengths.shape), np.empty(lengths.shape, np.bool_)
        for number, (shape, still) in enumerate(
            zip(self._shapes.shapes, self._shapes.curves.bind.lengths, strict=True)
        ):
            kappa = shape.dilation(lengths[:, number] / still)
            volumes[:, number] = shape.volume(lengths[:, number], kappa)
            held[:, number] = kappa <= THINNEST
        return volumes, held


def _spindle_rows(muscles: BodyMuscles, over: _Range, poses: int) -> Iterator[MuscleSummary]:
    vertices = np.bincount(muscles.influences.muscles, minlength=len(muscles.gains))
    for m, muscle in enumerate(muscles.musculature.muscles):
        yield _row(muscle, over, m, poses, int(vertices[m]), float(muscles.gains[m]))


def _loft_rows(lofts: BodyLofts, over: _Range, poses: int) -> Iterator[MuscleSummary]:
    vertices = (lofts.over.weight > 0.0).sum(axis=1)
    for m, muscle in enumerate(lofts.lofts.muscles):
        row = _row(muscle, over, m, poses, int(vertices[m]), float(lofts.lofts.gains[m]))
        yield replace(row, found=True, prominence=muscle.prominence)


def _line_rows(lines: BodyLines, over: _Range, poses: int) -> Iterator[MuscleSummary]:
    sizes = np.diff(lines.musculature.meshes.starts)
    for m, muscle in enumerate(lines.musculature.muscles):
        row = _row(muscle, over, m, poses, int(sizes[m]), 1.0)
        ends = [
            ", ".join(dict.fromkeys(held.bone for held in muscle.attachments if held.end == end))
            for end in ("origin", "insertion")
        ]
        yield replace(
            row,
            lines=len(muscle.lines),
            attachments=" → ".join(ends) if all(ends) else "",
            doubts=len(muscle.doubts),
        )


class _ClosedPieces:
    """The closed pieces of all meshes together: what they enclose is asked once a pose."""

    def __init__(self, meshes: LineMusculature) -> None:
        closed = [muscle.closed for muscle in meshes.meshes.muscles]
        begins = meshes.meshes.starts[:-1]
        self._owner = np.repeat(np.arange(len(closed)), [len(triangles) for triangles in closed])
        self._count, self._seen_from = len(closed), begins[self._owner]
        self._corners = np.concatenate([np.zeros((0, 3), np.int64), *closed]).T + self._seen_from

    def volumes(self, points: Floats) -> Floats:
        """Volume that the closed pieces of each mesh enclose [m³], (M,); 0 where it has none."""
        x, y, z = (own[self._corners] - own[self._seen_from] for own in np.ascontiguousarray(points.T))
        six = x[0] * (y[1] * z[2] - z[1] * y[2])
        six += y[0] * (z[1] * x[2] - x[1] * z[2])
        six += z[0] * (x[1] * y[2] - y[1] * x[2])
        return np.bincount(self._owner, six, minlength=self._count) / 6.0


def _row(
    muscle: Muscle | LoftedMuscle | LineMuscle, over: _Range, m: int, poses: int, vertices: int, gain: float
) -> MuscleSummary:
    return MuscleSummary(
        name=muscle.name,
        muscle=muscle.muscle,
        group=muscle.group,
        length=float(over.at_bind[m]),
        shortest=float(over.shortest[m]),
        longest=float(over.longest[m]),
        volume_cm3=1e6 * float(over.volume[m]),
        volume_error=float(over.error[m]),
        held=float(over.held[m]) / max(poses, 1),
        vertices=vertices,
        max_force=muscle.max_force,
        gain=gain,
    )


def skin_moved_by(body: Body, muscle: str) -> Floats:
    """How much of each vertex of the body's skin a muscle moves, 0 to 1, shape (vertices,)."""
    if body.lofts is not None and muscle in body.lofts.lofts.names:
        return np.array(body.lofts.over.weight[body.lofts.lofts.names.index(muscle)])
    muscles = body.muscles
    if muscles is None or muscle not in muscles.musculature.names:
        raise EcorcheError(f"there is no muscle {muscle!r}", where=body.character.name)
    values = np.zeros(body.character.meshes[muscles.skin].mesh.vertex_count)
    mine = muscles.influences.muscles == muscles.musculature.names.index(muscle)
    values[muscles.influences.vertices()[mine]] = muscles.influences.weights[mine]
    return values


def _poses(character: Character, rig: Rig, motion: Motion | None, body: Body) -> tuple[str, Iterator[Floats]]:
    """What the ranges are told over, and its poses, ``parent_from_joint`` (poses, joints, 4, 4) each."""
    if motion is not None:
        return f"motion {motion.name!r}", iter([motion.local])
    if joint_limits(character.skeleton, rig, rig.spec.skeleton.mapping or None).models:
        crossed = _crossed(character.skeleton, body)
        return (
            "each joint's limits, one joint at a time from bind",
            _through_limits(character, rig, crossed),
        )
    if character.motions:
        return "the character's own clips", (clip.local for clip in character.motions)
    return "the bind pose alone: no joint has limits, give a --motion", iter(())


def _crossed(skeleton: Skeleton, body: Body) -> npt.NDArray[np.bool_]:
    """Which joints some muscle crosses, shape (joints,): turning another changes no muscle's length."""
    below = np.eye(skeleton.joint_count, dtype=bool)  # below[j, k]: joint k hangs on joint j or is it
    for joint, parent in enumerate(skeleton.parents):  # parents come first
        if parent >= 0:
            below[:, joint] |= below[:, parent]
    crossed = np.zeros(skeleton.joint_count, np.bool_)
    if body.muscles is not None:
        musculature = body.muscles.musculature
        paths = musculature.frames.paths
        nodes = below[:, _rides_on(skeleton, musculature.scapulae)[paths.joints]]
        some = np.logical_or.reduceat(nodes, paths.starts[:-1], axis=1)
        every = np.logical_and.reduceat(nodes, paths.starts[:-1], axis=1)
        crossed |= (some & ~every).any(axis=1)
        crossed[[s.arm for s in musculature.scapulae]] = True
    if body.lofts is not None:
        for muscle in body.lofts.lofts.muscles:
            nodes = below[:, [*muscle.joints, *(() if muscle.wrap is None else (muscle.wrap.joint,))]]
            crossed |= nodes.any(axis=1) & ~nodes.all(axis=1)
    if body.lines is not None:
        blades = body.lines.musculature.scapulae
        rides_on = _rides_on(skeleton, blades)
        for line in (line for muscle in body.lines.musculature.muscles for line in muscle.lines):
            held = [node.joint for node in line.nodes if not isinstance(node, CollisionNode)]
            nodes = below[:, rides_on[held]]
            crossed |= nodes.any(axis=1) & ~nodes.all(axis=1)
        crossed[[blade.arm for blade in blades]] = True
    return crossed


def _rides_on(skeleton: Skeleton, scapulae: Sequence[VirtualScapula]) -> npt.NDArray[np.int64]:
    """The character's joint that carries each joint and, after them, each virtual shoulder blade."""
    return np.array([*range(skeleton.joint_count), *(scapula.girdle for scapula in scapulae)])


def _through_limits(character: Character, rig: Rig, crossed: npt.NDArray[np.bool_]) -> Iterator[Floats]:
    """Each joint with limits that a muscle crosses, turned all ways about bind and brought within them."""
    skeleton = character.skeleton
    limits = joint_limits(skeleton, rig, rig.spec.skeleton.mapping or None)
    angles = np.radians(np.arange(-165.0, 166.0, STEP))
    axes = np.concatenate([np.eye(3), [[1.0, 1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 0.0, 1.0], [1.0, 0.0, -1.0]]])
    axes /= np.linalg.norm(axes, axis=1, keepdims=True)
    turns = compose(np.zeros(3), xyzw_from_axis_angle(axes[:, None], angles)).reshape(-1, 4, 4)
    for joint, name in enumerate(limits.names):
        if name is None or name not in limits.models or skeleton.parents[joint] < 0 or not crossed[joint]:
            continue
        local = np.tile(skeleton.bind_local, (len(turns), 1, 1, 1))
        # about the world's axes, so that all rigs turn alike
        frame = skeleton.bind_world[joint, :3, :3]
        local[:, joint, :3, :3] = local[:, joint, :3, :3] @ np.linalg.inv(frame) @ turns[:, :3, :3] @ frame
        clamped, _ = enforce_limits(
            Motion("limits", skeleton, np.arange(float(len(turns))), local),
            limits.names,
            {name: limits.models[name]},
        )
        yield clamped.local
