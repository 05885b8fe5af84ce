"""A closer look at a part of the body: which joints, and how much round them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecorche.base.names import suggestion
from ecorche.errors import EcorcheError
from ecorche.render.camera import FIELD_OF_VIEW, Camera
from ecorche.skeleton.naming import canonical_name, recognise
from ecorche.skeleton.skeleton import Skeleton

Floats = npt.NDArray[np.float64]

WIDER = 0.75
"""How much is seen round joints when nobody says a radius: as a share of how far they reach."""


@dataclass(frozen=True)
class Focus:
    """The part of a body to look at.

    Attributes:
        joints: Names of one or more joints, in the file or canonical, such as ``"r_elbow"``; the camera
            looks at their middle.
        radius: How far round that middle everything is seen [m]; None takes what suits the joints.
    """

    joints: tuple[str, ...]
    radius: float | None = None

    def __post_init__(self) -> None:
        if not self.joints:
            raise EcorcheError("no joint is named", where="focus", remedy="Name one, such as r_elbow")
        if self.radius is not None and not 1e-6 < self.radius < 1e6:
            raise EcorcheError(
                f"a radius of {self.radius:g} m is asked for", where="focus", remedy="Give metres above 0"
            )


@dataclass(frozen=True, eq=False)
class Part:
    """A focus found on a skeleton: joint numbers, radius [m], and whether it is on the right side."""

    joints: tuple[int, ...]
    radius: float
    right: bool

    def near(self, world: Floats, points: npt.NDArray[np.floating]) -> npt.NDArray[np.bool_]:
        """Which points [m] (points, 3) lie within the radius, for joints' ``world_from_joint``; (points,)."""
        middle = world[list(self.joints), :3, 3].mean(axis=0)
        return np.asarray(np.linalg.norm(points - middle, axis=1) <= self.radius)

    def camera(self, worlds: Floats, towards: Floats, aspect: float) -> Camera:
        """A camera that keeps the part in the middle of each frame.

        Args:
            worlds: ``world_from_joint`` at each moment, (moments, joints, 4, 4).
            towards: Unit vector from the part to the camera, shape (3,).
            aspect: Width over height of the picture.
        """
        middles = worlds[..., :3, 3][:, list(self.joints)].mean(axis=1)
        narrower = np.arctan(np.tan(np.radians(0.5 * FIELD_OF_VIEW)) * min(1.0, aspect))
        return Camera(middles, self.radius / np.sin(narrower) * towards)


def find_part(focus: Focus, skeleton: Skeleton, front: Floats) -> Part:
    """The joints of a focus on a skeleton that faces ``front`` at bind, shape (3,)."""
    canonical = recognise(skeleton).canonical
    joints = tuple(_joint(name, skeleton, canonical) for name in focus.joints)
    places = skeleton.bind_world[:, :3, 3]
    middle = places[list(joints)].mean(axis=0)
    radius = focus.radius
    if radius is None:
        near = list(joints) if len(joints) > 1 else _neighbours(skeleton, joints[0])
        tips = [*places[near], *([] if len(joints) > 1 else [skeleton.tail_positions()[joints[0]]])]
        reach = np.linalg.norm(np.array(tips) - middle, axis=1)
        radius = WIDER * (2.0 if len(joints) > 1 else 1.0) * float(np.nanmax(reach))
        if not radius > 1e-6:
            raise EcorcheError(
                f"{focus.joints[0]!r} has no bone that would say how much to show",
                where="focus",
                remedy="Give a radius in metres",
            )
    left = np.cross((0.0, 1.0, 0.0), front)
    everything = 0.5 * ((places @ left).min() + (places @ left).max())
    return Part(joints, radius, bool(middle @ left < everything - 1e-3 * np.ptp(places @ left)))


def _joint(name: str, skeleton: Skeleton, canonical: tuple[str | None, ...]) -> int:
    if name in skeleton.names:
        return skeleton.index(name)
    known_as = canonical_name(name)
    if known_as is not None and known_as in canonical:
        return canonical.index(known_as)
    known = [*(n for n in canonical if n is not None), *skeleton.names]
    raise EcorcheError(f"there is no joint {name!r}", where="focus", remedy=suggestion(name, known))


def _neighbours(skeleton: Skeleton, joint: int) -> list[int]:
    above = int(skeleton.parents[joint])
    return [joint, *skeleton.children[joint], *([above] if above >= 0 else [])]
