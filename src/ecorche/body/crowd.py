"""A crowd: one character many times, each member with a motion, a phase, a pace and a body type of its own.

Everything is a function of time: the same crowd at the same moment is the same, whatever was asked before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecorche.base.rotations import slerp_xyzw
from ecorche.base.transforms import compose, decompose
from ecorche.body.body_variants import body_variants
from ecorche.body.character import Character
from ecorche.body.compile import Body, compile_body
from ecorche.body.crowd_cast import Cast, Reach, drawn_cast
from ecorche.body.evaluator import Evaluator
from ecorche.body.perform import perform
from ecorche.body.vertex_program import VertexProgram, vertex_program
from ecorche.document.files import Rig
from ecorche.errors import EcorcheError
from ecorche.skeleton.kinematics import difference_from_bind
from ecorche.skeleton.motion import Motion
from ecorche.skeleton.motion_loop import MotionLoop, even_clip, motion_loop

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

MOMENTS = 24
"""Moments of a loop at which its reach and its lowest point are measured, on every body type."""
BYTES_A_VERTEX = 800
"""Memory that a vertex of a member takes while it is drawn: measured, the triangles' and the driver's too."""
MARGIN = 0.05
"""What skin may reach further between those moments [m]."""


@dataclass(frozen=True, eq=False)
class ClipOnCharacter:
    """A clip on the character, as a loop.

    Attributes:
        loop: The loop.
        activation: Of all muscles of each body type, (types, frames, muscles).
        lift: How far it is raised so that no skin is below the ground [m].
        reach: How far the skin reaches.
        notes: What a person should know, a sentence each.
    """

    loop: MotionLoop
    activation: Floats
    lift: float
    reach: Reach
    notes: tuple[str, ...] = ()


class Crowd:
    """Members of a crowd over time.

    Args:
        character: The character as its file has it.
        rigs: The rig, of each body type.
        programs: The character's vertex program, of each body type.
        clips: What they do.
        cast: Who does what, where.
        travelling: Whether members travel as their clips do; else they stay where they are.
    """

    def __init__(
        self,
        character: Character,
        rigs: Sequence[Rig],
        programs: Sequence[VertexProgram],
        clips: Sequence[ClipOnCharacter],
        cast: Cast,
        *,
        travelling: bool = True,
    ) -> None:
        self.character = character
        self.rigs, self.programs, self.clips = tuple(rigs), tuple(programs), tuple(clips)
        self.cast, self.travelling = cast, travelling
        self.skeleton = programs[0].body.character.skeleton
        self._starts = np.cumsum([0, *(clip.loop.motion.frame_count for clip in clips)])
        local = np.concatenate([clip.loop.motion.local for clip in clips])
        self._parts = decompose(local)  # once for all frames, in place of `resample.between`
        rest = local - compose(*self._parts)  # shear: zero for most characters
        self._rest = rest if np.abs(rest).max() > 1e-12 else None
        self._active = np.concatenate([clip.activation for clip in clips], axis=1)
        self._roots = np.flatnonzero(self.skeleton.parents < 0)

    def __repr__(self) -> str:
        return f"Crowd({len(self)} members, {len(self.programs)} body types, {len(self.clips)} clips)"

    def __len__(self) -> int:
        return len(self.cast)

    def of_type(self, body_type: int) -> Ints:
        """Numbers of the members of a body type, rising."""
        return np.flatnonzero(self.cast.body_type == body_type)

    def whereabouts(self, members: Ints, time: float) -> Floats:
        """Points on the ground that members move about, at a time [s], [m] (n, 3)."""
        cast = self.cast
        at = np.zeros((len(members), 3))
        at[:, ::2] = cast.place[members]
        if self.travelling:
            speed = np.array([clip.loop.speed for clip in self.clips])[cast.clip[members]]
            way = speed * cast.pace[members] * time
            at[:, 0] += way * np.sin(cast.heading[members])
            at[:, 2] += way * np.cos(cast.heading[members])
        return at

    def placement(self, members: Ints, time: float) -> Floats:
        """``world_from_lane`` of members at a time [s], (n, 4, 4): heading and whereabouts."""
        turn = self.cast.heading[members]
        made = np.zeros((len(members), 4, 4))
        made[:, 0, 0] = made[:, 2, 2] = np.cos(turn)
        made[:, 0, 2], made[:, 2, 0] = np.sin(turn), -np.sin(turn)
        made[:, 1, 1] = made[:, 3, 3] = 1.0
        made[:, :3, 3] = self.whereabouts(members, time)
        return made

    def local(self, members: Ints, time: float) -> Floats:
        """Local joint matrices of members at a time [s], where they are, (n, joints, 4, 4)."""
        local = self.lane_local(members, time)
        local[:, self._roots] = self.placement(members, time)[:, None] @ local[:, self._roots]
        return local

    def lane_local(self, members: Ints, time: float) -> Floats:
        """The same about the point on the ground that each member moves about, heading along +Z."""
        before, fraction = self._frames(members, time)
        way, turn, size = ((part[before], part[before + 1]) for part in self._parts)
        share = fraction[:, None, None]
        local = compose(
            way[0] + share * (way[1] - way[0]),
            slerp_xyzw(*turn, np.broadcast_to(fraction[:, None], turn[0].shape[:-1])),
            size[0] + share * (size[1] - size[0]),
        )
        if self._rest is not None:
            a, b = self._rest[before], self._rest[before + 1]
            local += a + share[..., None] * (b - a)
        lift = np.array([clip.lift for clip in self.clips])[self.cast.clip[members]]
        local[:, self._roots, 1, 3] += lift[:, None]
        return local

    def difference(self, members: Ints, time: float) -> Floats:
        """``M − I`` of members' joints at a time [s], (n, joints, 4, 4)."""
        return difference_from_bind(self.skeleton, self.local(members, time))

    def activation(self, members: Ints, time: float) -> Floats:
        """Of all muscles of members at a time [s], 0 to 1, (n, muscles)."""
        before, fraction = self._frames(members, time)
        kind, rest = self.cast.body_type[members], fraction[:, None]
        return np.asarray((1.0 - rest) * self._active[kind, before] + rest * self._active[kind, before + 1])

    def _frames(self, members: Ints, time: float) -> tuple[Ints, Floats]:
        """The frame at or before a time, among those of all loops, and how far on the way to the next."""
        cast = self.cast
        clip = cast.clip[members]
        length = np.array([one.loop.length for one in self.clips])[clip]
        steps = np.diff(self._starts)[clip] - 1
        turns = cast.phase[members] + cast.pace[members] * time / length
        at = (turns - np.floor(turns)) * steps
        before = np.minimum(at.astype(np.int64), steps - 1)
        return self._starts[clip] + before, at - before


def make_crowd(
    character: Character,
    rig: Rig,
    motions: Sequence[Motion],
    *,
    count: int,
    body_types: int = 4,
    seed: int = 0,
    travelling: bool = True,
    feet: str = "directions",
) -> Crowd:
    """A crowd of one character.

    Args:
        character: The character.
        rig: Its rig.
        motions: What its members do; those made for another skeleton are retargeted.
        count: How many members.
        body_types: How many body types, the character's own first.
        seed: Of all that is drawn.
        travelling: Whether members travel as their motions do; else they stay where they are.
        feet: How motions are carried to other proportions: ``"directions"`` or ``"planted"``.
    """
    if not motions:
        raise EcorcheError("there is no motion for the crowd", remedy="Give one or more")
    rigs = body_variants(rig, body_types)
    bodies = [compile_body(character, rig=one) for one in rigs]
    programs = [vertex_program(body) for body in bodies]
    clips = [on_character(character, rig, motion, programs, feet=feet) for motion in motions]
    reaches = [clip.reach for clip in clips]
    cast = drawn_cast(reaches, len(rigs), count, seed=seed, travelling=travelling)
    return Crowd(character, rigs, programs, clips, cast, travelling=travelling)


def on_character(
    character: Character,
    rig: Rig,
    motion: Motion,
    programs: Sequence[VertexProgram],
    *,
    feet: str = "directions",
) -> ClipOnCharacter:
    """A motion as a loop on the character, with the activations that a bake of it has."""
    performance = perform(character, motion, feet=feet, rig=rig, muscles=False)
    moved = performance.take.motion
    assert moved is not None  # of a performance
    notes = []
    if any(np.ptp(weights) > 0.0 for weights in moved.morph_weights.values()):
        notes.append(f"motion {motion.name!r}: its blend shapes stay at rest in a crowd")
    clip = even_clip(moved)
    loop = motion_loop(clip)
    active = np.stack([loop.carried(_activation(program.body, clip)) for program in programs])
    low, high = _extent(loop, active, programs)
    reach = Reach(*(float(side) + MARGIN for side in (high[0], -low[0], high[2], -low[2])))
    return ClipOnCharacter(loop, active, -float(low[1]), reach, tuple(notes))


def _activation(body: Body, clip: Motion) -> Floats:
    return np.zeros((clip.frame_count, 0)) if body.activation is None else body.activation.over(clip)


def _extent(loop: MotionLoop, active: Floats, programs: Sequence[VertexProgram]) -> tuple[Floats, Floats]:
    """Lowest and highest coordinates of the skin of all body types throughout a loop [m], (3,) each."""
    motion = loop.motion
    numbers = np.unique(np.linspace(0, motion.frame_count - 1, MOMENTS).round().astype(np.int64))
    moved = difference_from_bind(motion.skeleton, motion.local[numbers])
    low, high = np.full(3, np.inf), np.full(3, -np.inf)
    for kind, program in enumerate(programs):
        points = np.empty((len(numbers), len(program.points), 3), np.float32)
        Evaluator(program).apply(moved, active[kind, numbers], points=points)
        low = np.minimum(low, points.min(axis=(0, 1)))
        high = np.maximum(high, points.max(axis=(0, 1)))
    return low, high
