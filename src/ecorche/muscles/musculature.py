"""All muscles of one body together: where they run, which way they face, and their shapes.

Everything here is constant; `posed` gives one frame of it. Muscles keep the order they were given in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ecorche.base.checks import require_finite
from ecorche.errors import EcorcheError
from ecorche.muscles.muscle import Muscle
from ecorche.muscles.packed_sections import PackedSections
from ecorche.muscles.paths import paths_at
from ecorche.muscles.posing import CHANGE, LENGTH, PosedTables, pose, posing_memory
from ecorche.muscles.posing_plan import PosingPlan, posing_plan
from ecorche.muscles.scapula import VirtualScapula, difference_with, with_scapulae
from ecorche.muscles.section_frames import PosedFrames, SectionFrames, section_frames
from ecorche.muscles.sections import Sections, path_sections, posed_sections
from ecorche.muscles.spindle import Spindles
from ecorche.muscles.volume import SpindleStates, VolumeRule, contract
from ecorche.skeleton.skeleton import Skeleton

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Musculature:
    """The muscles of a body at bind.

    Attributes:
        muscles: What each muscle is; numbers of joints are those of ``frames.paths.skeleton``.
        scapulae: Shoulder blades the character's skeleton lacks; they follow its joints in the numbering.
        frames: Paths and bulge directions.
        spindles: Shapes.
        volume: What keeps their volume.
    """

    muscles: tuple[Muscle, ...]
    scapulae: tuple[VirtualScapula, ...]
    frames: SectionFrames
    spindles: Spindles
    volume: VolumeRule = "exact"

    def __repr__(self) -> str:
        return f"Musculature({len(self.muscles)} muscles)"

    @property
    def names(self) -> tuple[str, ...]:
        """The muscles' names, in order."""
        return tuple(muscle.name for muscle in self.muscles)

    def posed(
        self, difference: npt.ArrayLike, bulge: npt.ArrayLike = 1.0
    ) -> tuple[PosedFrames, SpindleStates]:
        """Frames and shapes for the character's joints ``M − I`` (..., joints, 4, 4) away from bind.

        ``bulge`` T is one number or one a muscle, (..., M).
        """
        given = np.asarray(difference, np.float64)
        require_finite(given, "row", "the joints' matrices of a pose", EcorcheError)
        moved = difference_with(given, self.scapulae)
        frames = self.frames.moved(moved)
        return frames, contract(self.spindles, frames.path.lengths, bulge=bulge, volume=self.volume)

    def plan(self, read: npt.NDArray[np.bool_] | None = None) -> PosingPlan:
        """What posing needs that no frame changes.

        ``read`` (M, STATIONS) says which stations are wanted, as `SlidingSkin.stations_read` does; None wants
        everything.
        """
        return posing_plan(self.frames, self.spindles, self.scapulae, self.volume, read)

    @cached_property
    def _whole(self) -> PosingPlan:
        return self.plan()

    def sections(self, difference: npt.ArrayLike, bulge: npt.ArrayLike = 1.0) -> Sections:
        """The muscles' cross-sections in one pose, as the skin over them needs them; in compiled code.

        ``difference`` (joints, 4, 4) and ``bulge`` are as in `posed`, of one frame.
        """
        tension = np.ascontiguousarray(bulge, np.float64)
        if tension.shape == ():
            tension = np.full(len(self.muscles), float(tension))
        tables = posing_memory(self._whole, exact=True)
        if self._pose(self._whole, np.ascontiguousarray(difference, np.float64), tension, tables):
            return posed_sections(self.spindles, self._whole, tension, tables)
        # what cannot be is refused in words there
        return path_sections(*self.posed(difference, bulge))

    def packed(self, plan: PosingPlan, difference: Floats, bulge: Floats) -> PackedSections:
        """The muscles in one pose as the skin reads them, and of them only what a plan is for.

        ``difference`` (joints, 4, 4) and ``bulge`` (M,) are C-contiguous float64.
        """
        tables = posing_memory(plan, exact=False)
        if self._pose(plan, difference, bulge, tables):
            return PackedSections(tables.table, tables.lines)
        return path_sections(*self.posed(difference, bulge)).packed

    def contracted(self, plan: PosingPlan, difference: Floats, bulge: Floats) -> tuple[Floats, Floats]:
        """Lengths of all paths [m] and changes of the bellies' thickness [m] in one pose, each (M,).

        Of a plan with any station of every muscle; arguments as for `packed`.
        """
        tables = posing_memory(plan, exact=False)
        if self._pose(plan, difference, bulge, tables):
            return tables.numbers[:, LENGTH].copy(), tables.numbers[:, CHANGE].copy()
        _, states = self.posed(difference, bulge)
        return states.lengths, states.thickness[:, 0, 3] - self.spindles.thickness[:, 0, 3]

    def _pose(self, plan: PosingPlan, difference: Floats, bulge: Floats, tables: PosedTables) -> bool:
        joints = len(plan.turning) - len(self.scapulae)
        fits = difference.shape == (joints, 4, 4) and bulge.shape == (len(self.muscles),)
        return bool(fits and pose(plan, difference, bulge, tables))


def musculature(
    muscles: Sequence[Muscle],
    skeleton: Skeleton,
    scapulae: Sequence[VirtualScapula] = (),
    *,
    volume: VolumeRule = "exact",
) -> Musculature:
    """The muscles of a character, ready to be posed.

    Args:
        muscles: The muscles.
        skeleton: The character's joints.
        scapulae: Its virtual shoulder blades, numbered after the joints.
        volume: ``"exact"`` keeps the volume of the shapes, ``"two_cone"`` that of two cones.
    """
    paths = paths_at(
        with_scapulae(skeleton, scapulae),
        [list(zip(muscle.joints, muscle.positions, strict=True)) for muscle in muscles],
        [muscle.name for muscle in muscles],
    )
    spindles = Spindles(
        thickness=np.array([muscle.thickness for muscle in muscles]).reshape(-1, 2, 4),
        sweep=np.array([muscle.sweep for muscle in muscles]).reshape(-1, 2, 4, 2),
        belly=np.array([muscle.belly for muscle in muscles]),
        scale=np.array([muscle.scale for muscle in muscles]),
        bind_length=paths.bind.lengths,
    )
    outward = np.array([muscle.outward for muscle in muscles]).reshape(-1, 3)
    return Musculature(tuple(muscles), tuple(scapulae), section_frames(paths, outward), spindles, volume)
