"""Muscles that are meshes on action lines, compiled: joints and activations in, the vertices of muscles out.

The skin follows them by its coupling (`coupling`), not by a way of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from itertools import pairwise
from typing import Self

import numpy as np
import numpy.typing as npt

from ecorche.body.bones import BodyBones, compile_bones
from ecorche.body.character import Character
from ecorche.body.kept_parts import KeptParts
from ecorche.body.line_specs import bent_with, fields_of, fields_that_bend, line_muscles_of
from ecorche.body.muscle_specs import scapulae_of
from ecorche.document.files import Rig
from ecorche.dynamics.material import oscillation_on_lines
from ecorche.dynamics.setting import Dynamics
from ecorche.muscles.activation import bulge_from_activation
from ecorche.muscles.anatomy.body_type import BodyType
from ecorche.muscles.line_muscle import LineMuscle
from ecorche.muscles.line_musculature import LineMusculature
from ecorche.muscles.lines.line_paths import PosedPaths
from ecorche.skeleton.kinematics import difference_from_bind
from ecorche.skeleton.motion import Motion

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class BodyLines:
    """Mesh muscles of one character; constant over time.

    Attributes:
        designed: All that the rig has, in its order: activations are given for these.
        musculature: Those of them that could be compiled.
        bones: What they give way to; None for a rig without meshes of bones.
    """

    designed: tuple[LineMuscle, ...]
    musculature: LineMusculature
    bones: BodyBones | None = None

    def __repr__(self) -> str:
        return f"BodyLines({self.musculature})"

    @property
    def names(self) -> tuple[str, ...]:
        """Of the compiled muscles."""
        return tuple(muscle.name for muscle in self.musculature.muscles)

    def bulge(self, activation: Floats | None) -> Floats:
        """The bulge T of every muscle of the rig, (D,), of its activation (D,); None is at rest."""
        if activation is None:
            return np.ones(len(self.designed))
        return bulge_from_activation(activation, np.array([m.largest_bulge for m in self.designed]))

    def points(self, moved: Floats, activation: Floats | None = None) -> Floats:
        """Vertices of all compiled muscles [m], (V, 3), of one pose alone: without history.

        Args:
            moved: ``M − I`` of the character's joints, (joints, 4, 4).
            activation: Of every muscle of the rig, (D,), 0 to 1; None for muscles at rest.
        """
        paths = self.musculature.paths.posed(moved[None])
        return self.posed_points(moved, paths.nodes[0], paths.elongation[0], activation)

    def over(self, motion: Motion, dynamics: Dynamics = Dynamics.OFF) -> LineMotion:
        """The muscles' lines through a motion of the character's skeleton."""
        return LineMotion(self, motion, dynamics)

    def posed_points(
        self, moved: Floats, nodes: Floats, elongation: Floats, activation: Floats | None = None
    ) -> Floats:
        """Vertices of all compiled muscles [m], (V, 3), on lines that are posed already.

        Args:
            moved: ``M − I`` of the character's joints, (joints, 4, 4).
            nodes: Of all lines [m], (N, 3), and the elongation of their segments, (N − L,).
            elongation: See ``nodes``.
            activation: Of every muscle of the rig, (D,), 0 to 1; None for muscles at rest.
        """
        active = None if activation is None else np.asarray(activation)[self.musculature.kept]
        return self.musculature.posed(moved, nodes, elongation, active).points

    def feed(self, update: Callable[[bytes], object]) -> None:
        """Give everything that the muscles depend on to a hash, so that a bake knows its own."""
        meshes, paths = self.musculature.meshes, self.musculature.paths
        for array in (meshes.bind, meshes.starts, paths.bind, paths.starts, self.musculature.tendon):
            update(np.ascontiguousarray(array).tobytes())
        if self.bones is not None:
            update(self.bones.bind.tobytes() + self.bones.triangles.tobytes())
            update(repr([(bone.name, bone.joint) for bone in self.bones.bones]).encode())
        for muscle in self.designed:
            told: list[object] = [muscle.name, muscle.path, muscle.volume, muscle.largest_bulge]
            for line in muscle.lines:
                told += [line.joints, line.fields, line.curved, line.blend, line.references, line.flesh]
                told += [repr(vars(node)) for node in line.nodes]
            told += [(held.sits.joint, held.sits.reach) for held in muscle.attachments]
            update(repr(told).encode())
            if muscle.room is not None:
                update(muscle.room.tobytes())


class LineMotion:
    """The muscles of a body in a motion, frame by frame.

    Lines of admissible paths without dynamics are a function of the pose alone and found when asked for.
    Elastic lines and oscillation have a history: they go through the motion once, from its first frame on,
    and are kept; a part of a motion is therefore cut from the whole (`part`).

    Args:
        lines: The muscles.
        motion: On the character's skeleton.
        dynamics: Whether they swing after the bones.

    Attributes:
        notes: What did not come to rest, and what hung limp, a sentence each.
    """

    def __init__(self, lines: BodyLines, motion: Motion, dynamics: Dynamics = Dynamics.OFF) -> None:
        self.lines, self.motion, self.dynamics = lines, motion, dynamics
        self.notes: tuple[str, ...] = ()
        self._kept: tuple[Floats, Floats] | None = None
        if lines.musculature.paths.has_history or dynamics is Dynamics.OSCILLATION:
            self._kept = self._through()

    @classmethod
    def held(cls, lines: BodyLines, motion: Motion, nodes: Floats, elongation: Floats) -> Self:
        """Lines that somebody else has found in every frame: nodes (F, N, 3) [m], elongations (F, N − L)."""
        made = object.__new__(cls)
        made.lines, made.motion, made.dynamics, made.notes = lines, motion, Dynamics.OFF, ()
        made._kept = nodes, elongation
        return made

    def __len__(self) -> int:
        return self.motion.frame_count

    def moved(self, index: int) -> Floats:
        """``M − I`` of the character's joints in a frame, (joints, 4, 4)."""
        return difference_from_bind(self.motion.skeleton, self.motion.local[index])

    def paths(self, index: int) -> PosedPaths:
        """The lines themselves in a frame; without how elastic ones came to rest."""
        moved = self.moved(index)
        paths = self.lines.musculature.paths
        if self._kept is None:
            return paths.posed(moved[None])
        nodes, elongation = (array[index : index + 1] for array in self._kept)
        return paths.unreported(nodes, elongation)

    def points(self, index: int, activation: Floats | None = None) -> Floats:
        """Vertices of all compiled muscles in a frame [m], (V, 3)."""
        moved = difference_from_bind(self.motion.skeleton, self.motion.local[index])
        if self._kept is None:
            return self.lines.points(moved, activation)
        nodes, elongation = (array[index] for array in self._kept)
        return self.lines.posed_points(moved, nodes, elongation, activation)

    def part(self, first: int, last: int) -> LineMotion:
        """The frames from the first to the last as they are in the whole."""
        cut = object.__new__(LineMotion)
        cut.lines, cut.dynamics, cut.notes = self.lines, self.dynamics, self.notes
        cut.motion = self.motion.part(first, last)
        cut._kept = None
        if self._kept is not None:
            nodes, elongation = self._kept
            cut._kept = nodes[first : last + 1], elongation[first : last + 1]
        return cut

    def _through(self) -> tuple[Floats, Floats]:
        muscles = self.lines.musculature
        found = muscles.paths.posed(difference_from_bind(self.motion.skeleton, self.motion.local))
        self.notes = tuple(
            f"{note[:1].upper()}{note[1:]}." for note in (*found.unsettled, *found.indifferent)
        )
        if self.dynamics is not Dynamics.OSCILLATION:
            return found.nodes, found.elongation
        starts = muscles.frames.starts
        swinging = oscillation_on_lines(
            starts,
            muscles.frames.nodes,
            _tendon_nodes(starts, muscles.tendon),
            where="muscles on action lines",
        )
        nodes, _ = swinging.over(self.motion.times, found.nodes)
        before, after = (_segments(starts, places) for places in (found.nodes, nodes))
        return nodes, found.elongation * before / np.maximum(after, 1e-12)


def _segments(starts: npt.NDArray[np.int32], nodes: Floats) -> Floats:
    """Lengths of all segments [m], (..., N − L)."""
    lengths: Floats = np.linalg.norm(np.diff(nodes, axis=-2), axis=-1)
    return np.delete(lengths, starts[1:-1] - 1, axis=-1)


def _tendon_nodes(starts: npt.NDArray[np.int32], tendon: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Whether each node has tendon on both sides, (N,); ends have it on one."""
    flags = np.ones(int(starts[-1]), np.bool_)
    for line, (a, b) in enumerate(pairwise(starts)):
        own = tendon[a - line : b - line - 1]
        flags[a : b - 1] &= own
        flags[a + 1 : b] &= own
    return flags


def compile_lines(
    character: Character,
    rig: Rig,
    *,
    only: Collection[str] | None = None,
    before: BodyLines | None = None,
) -> BodyLines | None:
    """The muscles of a rig that are meshes on action lines; None where it has none.

    Args:
        character: The character.
        rig: Its rig.
        only: Names of the muscles that count, with those whose lines theirs depend on; None is all.
        before: The same body before an edit: what the edit left alone is taken over.
    """
    chosen = rig.spec.muscles.lines if only is None else bent_with(rig, only)
    designed = line_muscles_of(rig, character.skeleton, chosen)
    if not designed:
        return None
    said = rig.spec.body_type
    # fields that act on nothing here may be on lines that are not here
    acting = None if only is None else fields_that_bend(rig, chosen)
    fields = fields_of(rig, character.skeleton, acting)
    body = BodyType(bulk=said.bulk, fat=said.fat)
    blades = scapulae_of(rig, character.skeleton)
    bones = compile_bones(rig, character.skeleton)
    solid = () if bones is None else bones.bones
    known = None if before is None else before.musculature
    muscles = LineMusculature(character.skeleton, designed, fields, body, blades, solid, known)
    return BodyLines(designed, muscles, bones)


def compile_lines_again(character: Character, rig: Rig, kept: KeptParts) -> BodyLines | None:
    """As `compile_lines`, sooner where something was kept of the body before an edit."""
    before = None
    if kept.lines is not None and kept.lines[0] is character:
        _, was, before = kept.lines
        if _same_lines(was, rig):
            return before
    made = compile_lines(character, rig, before=before)
    kept.lines = character, rig, made
    return made


def _same_lines(one: Rig, other: Rig) -> bool:
    """Whether nothing that meshes on action lines depend on differs."""
    a, b = one.spec, other.spec
    if a.muscles.lines != b.muscles.lines or a.muscles.fields != b.muscles.fields:
        return False
    if a.body_type != b.body_type or a.skeleton.virtual_scapulae != b.skeleton.virtual_scapulae:
        return False
    if one.bones is not other.bones or list(one.surfaces) != list(other.surfaces):
        return False
    return all(surface is other.surfaces[name] for name, surface in one.surfaces.items())
