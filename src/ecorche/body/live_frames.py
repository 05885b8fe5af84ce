"""Frames of a body in motion, computed when asked for."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ecorche.body.compile import Body, morphed_points, skinned_points
from ecorche.body.evaluate import PlainSkin, Pose, plain_skin, posed_points, skin_correction
from ecorche.body.frames import Frame, Frames, PointSet
from ecorche.dynamics.setting import Dynamics
from ecorche.errors import MotionError
from ecorche.skeleton.kinematics import difference_from_bind
from ecorche.skeleton.motion import Motion
from ecorche.skin.time_filter import Following, around

if TYPE_CHECKING:
    from ecorche.body.ecorche_surfaces import EcorcheSurfaces
    from ecorche.body.fat_motion import FatMotion
    from ecorche.body.lines import LineMotion
    from ecorche.body.spring_motion import SpringMotion

Floats = npt.NDArray[np.float64]
Singles = npt.NDArray[np.float32]

KEPT = 64
"""Corrections of so many frames are kept, as those next to them ask for them again."""
AHEAD = 8
"""The plain skin of so many frames is kept: the filter in time looks ahead at frames that are shown next."""


class LiveFrames:
    """Frames of a body in motion.

    Args:
        body: The compiled character.
        motion: Its joints over time, on the body's own skeleton.
        posed: A posed cache with as many frames, which replaces our skinning.
        activation: Of each muscle, (frames, muscles); None asks the body's own source about this motion.
        dynamics: What swings after the bones.
        samples: Every so manieth frame of the motion is a frame, the others lie between two of them.
        shown_from: Time of the first frame that is shown [s]: before it what swings may settle.

    Attributes:
        activation: Of each muscle, shape (frames, muscles); None for a body without muscles.
    """

    def __init__(
        self,
        body: Body,
        motion: Motion,
        posed: Frames | None = None,
        activation: Floats | None = None,
        *,
        dynamics: Dynamics = Dynamics.OFF,
        samples: int = 1,
        shown_from: float | None = None,
    ) -> None:
        if motion.skeleton is not body.character.skeleton:
            raise MotionError(
                f"motion {motion.name!r} is made for another skeleton",
                where=body.character.name,
                remedy="Retarget it to this character first",
            )
        if posed is not None and len(posed) != motion.frame_count:
            raise MotionError(
                f"the posed cache has {len(posed)} frames, motion {motion.name!r} has {motion.frame_count}",
                where=body.character.name,
                remedy="Use the motion that the cache was made with",
            )
        self.body, self.motion, self.posed = body, motion, posed
        self.times = motion.times
        if activation is None and body.activation is not None:
            activation = body.activation.over(motion)
        self.activation, self.dynamics = activation, dynamics
        self.samples, self._shown_from = samples, shown_from
        self._whole, self._first = self, 0
        self._corrections: OrderedDict[int, Singles] = OrderedDict()
        self._plain: OrderedDict[int, PlainSkin] = OrderedDict()
        self._still: OrderedDict[int, tuple[PointSet, ...]] = OrderedDict()

    def part(self, first: int, last: int) -> LiveFrames:
        """The frames from the first to the last as they are in the whole.

        What looks around in time, or has a history, sees what was cut away.
        """
        cut = object.__new__(type(self))
        cut.body, cut.dynamics = self.body, self.dynamics
        cut.samples, cut._shown_from = self.samples, self._shown_from
        cut.posed = None if self.posed is None else _Part(self.posed, first, last)
        cut.motion = self.motion.part(first, last)
        cut.times = cut.motion.times
        cut.activation = None if self.activation is None else self.activation[first : last + 1]
        cut._whole, cut._first = self._whole, self._first + first
        return cut

    @cached_property
    def lines(self) -> LineMotion | None:
        """The muscles on action lines through the motion; None for a body without."""
        if self.body.lines is None:
            return None
        if self._whole is self:
            return self.body.lines.over(self.motion, self.dynamics)
        whole = self._whole.lines
        assert whole is not None
        return whole.part(self._first, self._first + len(self) - 1)

    @property
    def line_notes(self) -> tuple[str, ...]:
        """Lines that did not come to rest, a sentence each; none before anything has asked where they are."""
        lines: LineMotion | None = self.__dict__.get("lines")
        return () if lines is None else lines.notes

    def line_points(self, index: int) -> Floats:
        """Vertices of all muscles on action lines in a frame [m], (vertices, 3); none of a body without."""
        if self.lines is None:
            return np.zeros((0, 3))
        active = None if self.activation is None else self.activation[index]
        return self.lines.points(index, self.body.activations(active)[2])

    @cached_property
    def fat(self) -> FatMotion | None:
        """The fat through the whole motion; None for a body without any that moves."""
        if self._whole is not self:
            return self._whole.fat
        fat = self.body.fat
        if fat is None:
            return None
        from ecorche.body.fat_motion import FatMotion

        beneath = None if fat.surfaces is None else self._beneath
        return FatMotion(
            fat,
            self.motion,
            samples=self.samples,
            beneath=beneath,
            shown_from=self._shown_from,
            meets=None if fat.contact is None else self._pressing,
        )

    def fat_displacements(self, index: int) -> list[Floats]:
        """How far every node of each region of fat is from rest in a frame [m], each (nodes, 3)."""
        assert self.fat is not None
        return self.fat.at(self._first + index)

    @cached_property
    def springs(self) -> SpringMotion | None:
        """The masses and springs through the whole motion; None for a body without."""
        if self._whole is not self:
            return self._whole.springs
        if self.body.springs is None:
            return None
        from ecorche.body.spring_motion import SpringMotion

        return SpringMotion(
            self.body.springs,
            self.motion,
            self._spring_places,
            activation=self.activation,
            samples=self.samples,
            shown_from=self._shown_from,
        )

    def _spring_places(self, index: int) -> Floats:
        """Where masses are in a frame without dynamics [m]."""
        springs = self.body.springs
        assert springs is not None
        moved = difference_from_bind(self.body.character.skeleton, self.motion.local[index])
        beneath = None if springs.surfaces is None else self._surface_points(springs.surfaces, index)
        return springs.places(self._without_dynamics(index, moved)[springs.mesh], moved, beneath)

    def _without_dynamics(self, index: int, moved: Floats) -> tuple[PointSet, ...]:
        """Points of every mesh in a frame by its pose alone; those of the last few frames are kept."""
        found = self._still.get(index)
        if found is None:
            correction = self._filtered(index)
            found = posed_points(self.body, self.pose(index), moved, correction, self._plain.pop(index, None))
            self._still[index] = found
            if len(self._still) > 2 * AHEAD:
                self._still.popitem(last=False)
        return found

    def _pressing(self, index: int, displacements: list[Floats]) -> Floats:
        """What presses on the skin over fat in a frame, see `FatContact`."""
        fat = self.body.fat
        assert fat is not None
        assert fat.contact is not None
        moved = difference_from_bind(self.body.character.skeleton, self.motion.local[index])
        bare = (None,) * len(self.body.character.meshes)
        skin = skinned_points(self.body.without_muscles(), moved, bare)[fat.mesh]
        return fat.contact.pressing(skin + fat.further(skin, moved, displacements))

    def _beneath(self, index: int) -> Floats:
        """Points of the muscles' surfaces in a frame [m]."""
        assert self.body.fat is not None
        assert self.body.fat.surfaces is not None
        return self._surface_points(self.body.fat.surfaces, index)

    def _surface_points(self, surfaces: EcorcheSurfaces, index: int) -> Floats:
        """Points of some surfaces of the muscles in a frame [m]."""
        moved = difference_from_bind(self.body.character.skeleton, self.motion.local[index])
        meshes = None if self.body.lines is None else self.line_points(index)
        bulge = self.body.bulge(None if self.activation is None else self.activation[index])
        return surfaces.points(moved, bulge, meshes).astype(np.float64)

    @property
    def whole_motion(self) -> Motion:
        """The motion that this one is a part of, and that what has a history begins with."""
        return self._whole.motion

    @property
    def _remembering(self) -> FatMotion | SpringMotion | None:
        """What has a history that must be kept."""
        return self.fat if self.springs is None else self.springs

    def state(self) -> bytes | None:
        """What is remembered of the frames asked for so far; None where every frame is by itself."""
        remembering = self._remembering
        return None if remembering is None else remembering.state()

    def go_on_from(self, state: bytes) -> None:
        """Stand where a state was taken."""
        assert self._remembering is not None
        self._remembering.go_on_from(state)

    def __len__(self) -> int:
        return self.motion.frame_count

    def __getitem__(self, index: int) -> Frame:
        if self._whole is not self:
            return self._whole[self._first + index]
        pose = self.pose(index)
        moved = difference_from_bind(self.body.character.skeleton, pose.local)
        if self.body.springs is not None and self.springs is not None:
            points = self.body.springs.displaced(self._without_dynamics(index, moved), self.springs.at(index))
            return Frame(time=pose.time, points=points, normals=self.body.normals.apply(points))
        correction = self._filtered(index)
        plain = self._plain.pop(index, None)
        points = posed_points(self.body, pose, moved, correction, plain)
        if self.fat is not None:
            still = points
            if any(morphed_points(m, pose.morph_weights) is not None for m in self.body.character.meshes):
                bare = dict.fromkeys(self.body.morph_weights_at_rest(), 0.0)
                still = posed_points(self.body, replace(pose, morph_weights=bare), moved, correction, plain)
            coupling, skin = self.body.coupling, still[self.fat.fat.mesh]
            held = None if coupling is None else coupling.folds.held(skin, moved)
            points = self.fat.fat.displaced(points, skin, moved, self.fat.at(index), held)
            if coupling is not None:
                points = coupling.over_bones(points, moved)
        return Frame(time=pose.time, points=points, normals=self.body.normals.apply(points))

    def pose(self, index: int) -> Pose:
        """The pose of a frame."""
        motion = self.motion
        return Pose(
            local=motion.local[index],
            time=float(motion.times[index]),
            morph_weights={name: float(w[index]) for name, w in motion.morph_weights.items()},
            posed=None if self.posed is None else self.posed[index].points,
            activation=None if self.activation is None else self.activation[index],
        )

    def _filtered(self, index: int) -> Singles | None:
        """What the coupling asks for at a moment, filtered in time; None for a body without.

        It is filtered over frames, and between two of them goes straight: a frame is the same however many
        moments lie between.
        """
        if self.body.coupling is None:
            return None
        frame, further = divmod(index, self.samples)
        found = self._filtered_frame(frame)
        if further:
            before, now, after = self.times[[index - further, index, index - further + self.samples]]
            share = np.float32((now - before) / (after - before))
            found = found + share * (self._filtered_frame(frame + 1) - found)
        return found

    def _filtered_frame(self, frame: int) -> Singles:
        """The same in a frame."""
        assert self.body.coupling is not None
        spec = self.body.coupling.spec
        if spec.time_filter == "following":
            return self._followed[frame]
        first, weights = around(self.times[:: self.samples], frame, spec.seconds)
        total = np.zeros(self.body.coupling.rings.place_count)
        for number, weight in enumerate(weights.tolist(), start=first):
            total += weight * self._correction(self.samples * number)
        return total.astype(np.float32)

    @cached_property
    def _followed(self) -> list[Singles]:
        """The same from what was alone, of all frames."""
        assert self.body.coupling is not None
        follow, every = Following(self.body.coupling.spec.seconds), range(0, len(self.times), self.samples)
        return [follow.at(float(self.times[n]), self._correction(n)) for n in every]

    def _correction(self, index: int) -> Singles:
        """What the coupling asks for in a frame by itself, (places,)."""
        found = self._corrections.get(index)
        if found is None:
            pose = self.pose(index)
            moved = difference_from_bind(self.body.character.skeleton, pose.local)
            meshes = None if self.body.lines is None else self.line_points(index)
            plain = plain_skin(self.body, pose, moved)
            found = skin_correction(self.body, pose, moved, meshes=meshes, plain=plain)
            self._corrections[index], self._plain[index] = found, plain
            for kept, most in ((self._corrections, KEPT), (self._plain, AHEAD)):
                if len(kept) > most:
                    kept.popitem(last=False)
        return found


class _Part:
    """Frames from the first to the last of some."""

    def __init__(self, frames: Frames, first: int, last: int) -> None:
        self._frames, self._first = frames, first
        self.times = frames.times[first : last + 1]

    def __len__(self) -> int:
        return len(self.times)

    def __getitem__(self, index: int) -> Frame:
        return self._frames[self._first + index]
