"""An arm with a biceps over two via points, and skin on it that can be moved by hand."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ecorche.base.rotations import matrix_from_xyzw, xyzw_from_axis_angle
from ecorche.muscles.paths import paths_at
from ecorche.muscles.section_frames import SectionFrames, section_frames
from ecorche.muscles.sections import Sections, path_sections
from ecorche.muscles.spindle import Spindles, spindle_from_numbers
from ecorche.muscles.volume import contract
from ecorche.skeleton.kinematics import difference_from_bind
from ecorche.skeleton.skeleton import Skeleton, local_from_world
from ecorche.skin.influence import influence
from ecorche.skin.sliding import SlidingSkin
from ecorche.skin.weights import rigid_weights
from muscle_patches import Floats, Points

PARENTS = np.array([-1, 0, 1], np.int32)
ELBOW = 0.3


@dataclass(frozen=True, eq=False)
class BentArm:
    """A chest at the shoulder, an upper arm along ±x with its skin, a forearm; the muscle is in front (+z).

    The muscle's origin is on the chest and on the arm's axis, then two via points on the arm, then the
    forearm.
    """

    skeleton: Skeleton
    frames: SectionFrames
    spindles: Spindles
    points: Points
    mirror: float

    @cached_property
    def bind(self) -> Sections:
        return self.sections(np.zeros((3, 4, 4)), 1.0)

    @cached_property
    def skin(self) -> SlidingSkin:
        found = influence(self.points, rigid_weights(len(self.points), 1), self.bind, [[1]])
        return SlidingSkin(self.points, self.bind, found)

    def difference(self, twist: float = 0.0, bend: float = 0.0, whole: Floats | None = None) -> Floats:
        """``M − I`` with the arm twisted and the elbow bent [degrees], and all moved by ``whole``."""
        local = self.skeleton.bind_local.copy()
        about_x = matrix_from_xyzw(xyzw_from_axis_angle([1.0, 0.0, 0.0], np.radians(twist)))
        about_y = matrix_from_xyzw(xyzw_from_axis_angle([0.0, -1.0, 0.0], np.radians(bend)))
        local[1, :3, :3] = local[1, :3, :3] @ about_x
        local[2, :3, :3] = local[2, :3, :3] @ about_y
        if whole is not None:
            local[0] = whole @ local[0]
        return difference_from_bind(self.skeleton, local)

    def sections(self, difference: Floats, bulge: float) -> Sections:
        posed = self.frames.moved(difference)
        return path_sections(posed, contract(self.spindles, posed.path.lengths, bulge=bulge))

    def pose(
        self, twist: float = 0.0, bend: float = 0.0, bulge: float = 1.0, whole: Floats | None = None
    ) -> tuple[Points, Points, Sections]:
        """The skin rigid with the arm, the same displaced by the muscle, and the muscle."""
        difference = self.difference(twist, bend, whole)
        plain = self._with_arm(self.points.astype(np.float64), difference).astype(np.float32)
        posed = self.sections(difference, bulge)
        return plain, self.skin.apply(posed, plain), posed

    def exact(self, twist: float, bend: float, bulge: float, points: Floats | None = None) -> Floats:
        """How much skin at bind ``points`` is displaced, in float64 and with full weight, (points, 3) [m]."""
        points = self.points.astype(np.float64) if points is None else points
        difference = self.difference(twist, bend)
        posed, rest = self.sections(difference, bulge), self.bind.coordinates(0, points)
        plain = self._with_arm(points, difference)
        now = posed.coordinates(0, plain, rest.place)
        assert posed.lines is not None
        out = posed.lines.places(0, plain, rest.place).out
        return np.asarray(((now.height - now.v) - (rest.height - rest.v))[:, None] * out)

    @staticmethod
    def _with_arm(points: Floats, difference: Floats) -> Floats:
        return np.asarray(points + points @ difference[1, :3, :3].T + difference[1, :3, 3])


def bent_arm(mirror: float = 1.0) -> BentArm:
    """The arm along +x, or with a mirror of −1 its mirror image along −x."""
    world = np.tile(np.eye(4), (3, 1, 1))
    world[2, 0, 3] = mirror * ELBOW
    local = local_from_world(PARENTS, world)
    skeleton = Skeleton(("chest", "arm", "forearm"), PARENTS, local, local.copy(), np.full((3, 3), np.nan))
    place = [(0, 0.0, 0.0, 0.0), (1, 0.02, 0.002, 0.02), (1, 0.24, -0.001, 0.025), (2, 0.335, 0.0, 0.005)]
    paths = paths_at(skeleton, [[(joint, [mirror * x, y, z]) for joint, x, y, z in place]], ["biceps"])
    spindles = spindle_from_numbers(
        paths.bind.lengths, 0.024, belly=np.array([0.5]), tendon_origin=0.004, tendon_insertion=0.004
    )
    x, angle = np.meshgrid(np.linspace(0.0, 0.3, 61), np.linspace(-1.6, 1.6, 41), indexing="ij")
    points = np.stack([mirror * x, 0.045 * np.sin(angle), 0.045 * np.cos(angle)], axis=-1)
    frames = section_frames(paths, [[0.0, 0.0, 1.0]])
    return BentArm(skeleton, frames, spindles, points.reshape(-1, 3).astype(np.float32), mirror)


def mirrored_arm() -> BentArm:
    return bent_arm(-1.0)
