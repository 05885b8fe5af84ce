"""All muscles of one body together: where they run, which way they face, and their shapes.

Everything here is constant; `posed` gives one frame of it. Muscles keep the order of the placement.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecorche.muscles.paths import paths_at
from ecorche.muscles.section_frames import PosedFrames, SectionFrames, section_frames
from ecorche.muscles.spindle import Spindles, spindle_from_numbers
from ecorche.muscles.template.place import PlacedMuscle, Placement
from ecorche.muscles.volume import SpindleStates, contract
from ecorche.skeleton.skeleton import Skeleton

Floats = npt.NDArray[np.float64]

TENDON = 0.15
"""Half-width of a tendon where it meets the bone, as a share of the belly's."""


@dataclass(frozen=True, eq=False, repr=False)
class Musculature:
    """The muscles of a body at bind.

    Attributes:
        placed: What each muscle is and where its path runs.
        frames: Paths and bulge directions.
        spindles: Shapes.
    """

    placed: tuple[PlacedMuscle, ...]
    frames: SectionFrames
    spindles: Spindles

    def __repr__(self) -> str:
        return f"Musculature({len(self.placed)} muscles)"

    @property
    def names(self) -> tuple[str, ...]:
        """The muscles' names, in order."""
        return tuple(muscle.template.name for muscle in self.placed)

    def posed(
        self, difference: npt.ArrayLike, bulge: npt.ArrayLike = 1.0
    ) -> tuple[PosedFrames, SpindleStates]:
        """Frames and shapes for joints ``M − I`` (..., joints, 4, 4) away from bind.

        ``bulge`` T is one number or one a muscle, (..., M). Volume is kept exactly.
        """
        frames = self.frames.moved(difference)
        return frames, contract(self.spindles, frames.path.lengths, bulge=bulge)


def musculature(placement: Placement, skeleton: Skeleton) -> Musculature:
    """The placed muscles with the template's own proportions, not yet fitted to a skin."""
    placed = placement.muscles
    paths = paths_at(
        skeleton,
        [list(zip(muscle.joints.tolist(), muscle.positions, strict=True)) for muscle in placed],
        [muscle.template.name for muscle in placed],
    )
    half_widths = np.array([muscle.half_width for muscle in placed])
    spindles = spindle_from_numbers(
        paths.bind.lengths,
        half_widths,
        belly=[muscle.template.belly for muscle in placed],
        scale=[muscle.template.flatness for muscle in placed],
        tendon_origin=TENDON * half_widths,
        tendon_insertion=TENDON * half_widths,
    )
    return Musculature(placed, section_frames(paths, [muscle.outward for muscle in placed]), spindles)
