"""All muscles that are meshes on action lines, on one character: pose in, vertices out.

A muscle that cannot be compiled is left out by name with the reason; the others work.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from ecorche.errors import EcorcheError
from ecorche.muscles.anatomy.body_type import BodyType, thickened
from ecorche.muscles.bone import Bone
from ecorche.muscles.line_muscle import ActionLine, Elastic, LineMuscle
from ecorche.muscles.lines.bound_again import BoundBefore
from ecorche.muscles.lines.contraction import isometric_profile
from ecorche.muscles.lines.fields import Field
from ecorche.muscles.lines.frames import LineFrames, line_frames
from ecorche.muscles.lines.line_mesh import LineMeshes, PosedLineMeshes
from ecorche.muscles.lines.line_paths import LinePaths, elastic_line
from ecorche.muscles.lines.muscle_on_lines import MuscleOnLines, muscle_on_lines
from ecorche.muscles.scapula import VirtualScapula, difference_with, with_scapulae
from ecorche.skeleton.skeleton import Skeleton

Floats = npt.NDArray[np.float64]


class LineMusculature:
    """Muscles that are meshes, compiled; constant over time.

    Args:
        skeleton: The character's joints, which carry them.
        muscles: As designed.
        fields: What bends their lines, by name.
        body: How muscular the body is.
        scapulae: Virtual shoulder blades that carry some of them, numbered after the joints.
        bones: What they give way to.
        before: The muscles before an edit: those that it left alone are not bound again.

    Attributes:
        muscles: Those that could be compiled.
        kept: Their numbers among those given, (M,).
        left_out: Why each of the others could not, by name.
        paths: Where lines run.
        frames: How they are turned.
        meshes: What surrounds them.
        bound: How each mesh hangs on its lines, for a musculature after an edit to take over.
        tendon: Whether each segment is tendon, (N − L,).
        line_starts: Lines of muscle m are ``line_starts[m]`` to ``line_starts[m + 1] − 1``, (M + 1,).
        notes: What a person should know about how meshes were bound and lines came to rest.
    """

    def __init__(
        self,
        skeleton: Skeleton,
        muscles: Sequence[LineMuscle],
        fields: Mapping[str, Field],
        body: BodyType | None = None,
        scapulae: Sequence[VirtualScapula] = (),
        bones: Sequence[Bone] = (),
        before: LineMusculature | None = None,
    ) -> None:
        self.scapulae = tuple(scapulae)
        skeleton = with_scapulae(skeleton, scapulae)
        self.left_out: dict[str, str] = {}
        chosen = self._each(muscles, lambda muscle: require_lines(muscle, skeleton, fields))
        # all at once; where that fails, whoever fails alone is left out
        paths, chosen = self._together(chosen, lambda some: LinePaths(skeleton, some, fields, scapulae))
        frames = _frames(paths, chosen)
        sigma, exclusive = _isometric(chosen), _exclusive(chosen)
        starts = np.cumsum([0, *(len(muscle.lines) for muscle in chosen)])
        bound: list[MuscleOnLines] = []
        bulk = (body or BodyType()).bulk

        def bind(muscle: LineMuscle) -> None:
            first = int(starts[chosen.index(muscle)])
            own = range(first, first + len(muscle.lines))
            known = before and before.bound.again(muscle, frames, own, sigma, exclusive, bulk)
            bound.append(known or _bound(muscle, frames, own, sigma, exclusive, body or BodyType()))

        kept = self._each(chosen, bind)
        if len(kept) < len(chosen):  # lines without a mesh are not worth their time
            paths = LinePaths(skeleton, kept, fields, scapulae)
            frames = _frames(paths, kept)
            sigma, exclusive = _isometric(kept), _exclusive(kept)
            starts = np.cumsum([0, *(len(muscle.lines) for muscle in kept)])
            bound = []
            chosen = kept
            kept = self._each(kept, bind)
        numbers = {id(muscle): number for number, muscle in enumerate(muscles)}
        self.muscles = tuple(kept)
        self.kept = np.array([numbers[id(muscle)] for muscle in kept], np.int64)
        self.line_starts = starts
        self.paths, self.frames = paths, frames
        self.bound = BoundBefore(
            frames, sigma, exclusive, bulk, {m.name: m for m in kept}, {m.name: m for m in bound}
        )
        self.meshes = LineMeshes(frames, bound, bones)
        flags = [line.tendon or (False,) * (len(line.nodes) - 1) for m in self.muscles for line in m.lines]
        self.tendon = np.array([flag for line in flags for flag in line], np.bool_)
        self.notes = (
            *(f"Muscle {m.name!r}: {note}." for m in self.meshes.muscles for note in m.report.notes),
            *(f"At bind {note}." for note in paths.report),
            *(f"Muscle {name!r} is left out: {why}." for name, why in self.left_out.items()),
        )

    def __repr__(self) -> str:
        return f"LineMusculature({len(self.muscles)} muscles, {len(self.paths.names)} lines)"

    def posed(
        self, moved: Floats, nodes: Floats, elongation: Floats, activation: Floats | None = None
    ) -> PosedLineMeshes:
        """The meshes of one pose.

        Args:
            moved: ``M − I`` of the character's joints since bind, (joints, 4, 4).
            nodes: Of the lines [m], (N, 3), and the elongation of their segments, (N − L,), from `paths`.
            elongation: See ``nodes``.
            activation: Of the muscles, 0 to 1, (M,); None is at rest.
        """
        moved = difference_with(moved, self.scapulae)
        frames = self.frames.posed(nodes, moved).frames
        return self.meshes.posed(nodes, frames, moved, activation, elongation=elongation)

    def lengths(self, elongation: Floats) -> Floats:
        """Mean length of each muscle's lines [m], (..., M), of elongations (..., N − L)."""
        segments = self.meshes.lengths / elongation
        begin = self.frames.starts[:-1] - np.arange(self.frames.line_count)
        lines = np.add.reduceat(segments, begin, axis=-1)
        return np.asarray(np.add.reduceat(lines, self.line_starts[:-1], axis=-1) / np.diff(self.line_starts))

    def _each(self, muscles: Sequence[LineMuscle], do: Callable[[LineMuscle], object]) -> list[LineMuscle]:
        """The muscles for which something works; the reason for each other is kept."""
        kept = []
        for muscle in muscles:
            try:
                do(muscle)
            except EcorcheError as error:
                self.left_out[muscle.name] = error.what
            else:
                kept.append(muscle)
        return kept

    def _together(
        self, muscles: Sequence[LineMuscle], make: Callable[[Sequence[LineMuscle]], LinePaths]
    ) -> tuple[LinePaths, list[LineMuscle]]:
        try:
            return make(muscles), list(muscles)
        except EcorcheError:
            alone = [muscle for muscle in muscles if not isinstance(muscle.path, Elastic)]
            kept = self._each(alone, lambda muscle: make([muscle]))
            lost = {id(muscle) for muscle in alone} - {id(muscle) for muscle in kept}
            rest = [muscle for muscle in muscles if id(muscle) not in lost]
            return make(rest), rest


def require_lines(muscle: LineMuscle, skeleton: Skeleton, fields: Mapping[str, Field]) -> None:
    """Refuse what makes no muscle, before all are compiled together."""
    numbers = {name: number for number, name in enumerate(fields)}
    for k, line in enumerate(muscle.lines):
        for name in line.fields:
            if name in fields:
                fields[name].checked()
        if isinstance(muscle.path, Elastic):
            elastic_line(muscle, k).checked(skeleton.joint_count, numbers)
    for attachment in muscle.attachments:
        if not 0 <= attachment.sits.joint < skeleton.joint_count:
            raise EcorcheError(
                f"it is attached to joint {attachment.sits.joint}, which does not exist",
                where=f"muscle {muscle.name!r}",
                remedy="Attach it to a joint of this skeleton",
            )


def _frames(paths: LinePaths, muscles: Sequence[LineMuscle]) -> LineFrames:
    lines = [line for muscle in muscles for line in muscle.lines]
    if not lines:
        return line_frames([0], np.zeros((0, 3)), np.zeros((0, 2), np.int32), names=())
    made = line_frames(
        paths.starts,
        paths.bind,
        [line.joints for line in lines],
        references=[line.references or line.joints for line in lines],
        outward=[
            _outward(line, paths.bind[a:b])
            for line, (a, b) in zip(lines, pairwise(paths.starts), strict=True)
        ],
        curved=[line.curved for line in lines],
        names=paths.names,
    )
    ratio = made.ratio.copy()
    for line, (a, b) in zip(lines, pairwise(paths.starts), strict=True):
        if line.blend is not None:
            ratio[a + 1 : b - 1] = line.blend
    return replace(made, ratio=ratio)


def _outward(line: ActionLine, nodes: Floats) -> Floats:
    """Its own, unless that points along the line; else the axis of the world most across it."""
    along = nodes[1] - nodes[0]
    along = along / max(float(np.linalg.norm(along)), 1e-300)
    if line.outward is not None:
        wanted = line.outward / np.linalg.norm(line.outward)
        if np.linalg.norm(np.cross(wanted, along)) > 1e-3:
            return np.asarray(wanted)
    return np.asarray(np.eye(3)[int(np.argmin(np.abs(along)))])


def _isometric(muscles: Sequence[LineMuscle]) -> Floats:
    """σ of x and y of all nodes, (N, 2)."""
    rows = [np.zeros((0, 2))]
    for muscle in muscles:
        for line in muscle.lines:
            profile = isometric_profile(
                [0, len(line.nodes)], height=muscle.largest_bulge, width=1.0 / muscle.largest_bulge
            )
            rows.append(profile if line.isometric is None else line.isometric)
    return np.concatenate(rows)


def _exclusive(muscles: Sequence[LineMuscle]) -> npt.NDArray[np.bool_]:
    flags = [line.exclusive or (False,) * (len(line.nodes) - 1) for m in muscles for line in m.lines]
    return np.array([flag for line in flags for flag in line], np.bool_)


def _bound(
    muscle: LineMuscle,
    frames: LineFrames,
    own: range,
    sigma: Floats,
    exclusive: npt.NDArray[np.bool_],
    body: BodyType,
) -> MuscleOnLines:
    sitting = [attachment.sits.vertices for attachment in muscle.attachments]
    held = np.unique(np.concatenate([np.zeros(0, np.int64), *sitting])).astype(np.int64)
    nodes = [frames.nodes[frames.starts[line] : frames.starts[line + 1]] for line in own]
    return muscle_on_lines(
        muscle.name,
        thickened(muscle.points, nodes, held, body) if body.bulk != 1.0 else muscle.points,
        muscle.triangles,
        frames,
        list(own),
        attached=[a.sits for a in muscle.attachments if len(a.sits.vertices)] or None,
        isometric=sigma,
        exclusive=exclusive,
        volume=muscle.volume,
        room=muscle.room,
    )
