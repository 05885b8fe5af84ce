"""Nodes that are led from place to place by one degree of freedom of a joint.

Thesis section 4.8.1. A mobile node has a place for the joint at rest (θ₀) and one for either extreme:

    θ ≥ θ₀:  t = (θ − θ₀) / (θ_max − θ₀),  X = X₀ + f(t) (X_max − X₀)
    θ < θ₀:  t = (θ₀ − θ) / (θ₀ − θ_min),  X = X₀ + f(t) (X_min − X₀)

The second t is printed the other way round, which jumps at θ₀. f is linear (t) or parabolic (t²); the
parabola starts with no slope, so a node passes through θ₀ smoothly. Beyond an extreme the node stays there.

Places are those of a joint that carries the node, in its place at bind. θ is an angle of the reference joint
relative to the one above it: the turn since bind, or, with a joint model, the anatomist's angle (`joints`):
``S · T = A⁻¹ R F⁻¹ A``. That is ``before ⊗ D ⊗ after``, with D what the joint has turned since bind.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, Self

import numpy as np
import numpy.typing as npt
from numba import njit

from ecorche.base.rotations import inverse_xyzw, multiply_xyzw, normalise, xyzw_from_matrix
from ecorche.errors import EcorcheError
from ecorche.muscles.lines.adherence import relative_change, swing_and_twist, turn_of
from ecorche.muscles.lines.turns import product
from ecorche.skeleton.default_pose import default_from_bind
from ecorche.skeleton.joints import Joint, Revolute
from ecorche.skeleton.skeleton import Skeleton

Floats = npt.NDArray[np.float64]
FreedomKind = Literal["angle", "twist", "swing_x", "swing_y"]

KINDS: Final = ("angle", "twist", "swing_x", "swing_y")
SHAPES: Final = ("linear", "parabolic")


@dataclass(frozen=True, eq=False)
class Freedom:
    """One degree of freedom of a joint, measured in any pose.

    Attributes:
        joint: The reference joint.
        kind: ``"angle"`` about the frame's z axis (a hinge's), ``"twist"`` about it (a limb's), or a
            component of the swing vector.
        before_xyzw, after_xyzw: Make angles of the joint's turn since bind, see the head of the file.
    """

    joint: int
    kind: FreedomKind
    before_xyzw: Floats
    after_xyzw: Floats

    @classmethod
    def since_bind(cls, joint: int, kind: FreedomKind, axes: npt.ArrayLike) -> Self:
        """Angles that are zero at bind, in a frame whose axes at bind are the columns of ``axes`` (3, 3)."""
        frame = xyzw_from_matrix(axes)
        return cls(joint, kind, inverse_xyzw(frame), frame)

    @classmethod
    def of_model(
        cls,
        joint: int,
        kind: FreedomKind,
        model: Joint,
        skeleton: Skeleton,
        canonical_names: Sequence[str | None],
    ) -> Self:
        """The angles of a joint model, which are zero in its canonical pose and not, as a rule, at bind."""
        if (kind == "angle") != isinstance(model, Revolute):
            raise EcorcheError(
                f"a {model.model} joint has no {kind!r}",
                where=f"mobile node, joint {skeleton.names[joint]!r}",
                remedy="Take 'angle' of a revolute joint; 'twist', 'swing_x' or 'swing_y' of any other",
            )
        default = default_from_bind(skeleton, canonical_names)
        above = int(skeleton.parents[joint])
        parent = default[above if above >= 0 else joint]
        a, f = model.anatomical_frame_xyzw, model.canonical_offset_xyzw
        before = multiply_xyzw(inverse_xyzw(a), parent)
        after = multiply_xyzw(multiply_xyzw(inverse_xyzw(default[joint]), inverse_xyzw(f)), a)
        return cls(joint, kind, normalise(before), normalise(after))


@dataclass(frozen=True, eq=False)
class MobileNode:
    """A node that one degree of freedom moves between three places.

    Attributes:
        joint: Carries the node.
        freedom: What leads it.
        low, rest, high: θ_min, θ₀ and θ_max [rad]; an extreme may equal θ₀, then that side does nothing.
        at_low, at_rest, at_high: Places on the carrying joint, as it is at bind [m], shape (3,).
        shape: ``"linear"`` or ``"parabolic"``.
    """

    joint: int
    freedom: Freedom
    low: float
    rest: float
    high: float
    at_low: Floats
    at_rest: Floats
    at_high: Floats
    shape: Literal["linear", "parabolic"] = "parabolic"

    def checked(self, where: str) -> MobileNode:
        """This node; what makes none is refused."""
        places = np.array([self.at_low, self.at_rest, self.at_high], np.float64)
        if places.shape != (3, 3) or not np.isfinite(places).all():
            raise EcorcheError(
                "a mobile node's places are not finite",
                where=where,
                remedy="Give three places, each three numbers",
            )
        if not self.low <= self.rest <= self.high or not self.low < self.high:
            raise EcorcheError(
                f"a mobile node's angles {self.low:g}, {self.rest:g} and {self.high:g} do not rise",
                where=where,
                remedy="Give the lowest, the resting and the highest angle in radians",
            )
        for what, value, choices in (("kind", self.freedom.kind, KINDS), ("shape", self.shape, SHAPES)):
            if value not in choices:
                raise EcorcheError(
                    f"a mobile node's {what} is {value!r}", where=where, remedy=f"Choose {', '.join(choices)}"
                )
        return self


@njit(cache=True, error_model="numpy")  # type: ignore[untyped-decorator]
def freedom_angle(moved: Floats, joint: int, base: int, kind: int, before: Any, after: Any) -> Any:
    """The angle [rad] of a degree of freedom; ``kind`` counts in `KINDS`, quaternions are xyzw."""
    change, _ = relative_change(moved, joint, base)
    q = product(product(before, turn_of(change)), after)
    swing, twist = swing_and_twist(q, (0.0, 0.0, 1.0))
    if kind == 2:
        return swing[0]
    if kind == 3:
        return swing[1]
    return twist


@njit(forceinline=True)  # type: ignore[untyped-decorator]
def phase(theta: Any, low: Any, rest: Any, high: Any, parabolic: bool) -> Any:
    """How far the node has gone, 0 to 1, and whether towards the high extreme."""
    up = theta >= rest
    width = high - rest if up else rest - low
    t = min(abs(theta - rest) / width, 1.0) if width > 0.0 else 0.0
    return t * t if parabolic else t, up
