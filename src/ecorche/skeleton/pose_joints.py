"""A pose told and changed joint by joint: by a joint's own angles, by turns about the body's axes, by hand.

A joint's rotation is what limits are judged by (`enforce_limits`): against the nearest named joint above,
relative to the H-Anim default pose, in axes aligned with the world in that pose (+X left, +Y up, +Z forward).
A root, or a pelvis that carries the spine, is turned against the world, and has no limits. With limits
enforced a limb that is asked for more stops at the nearest admissible rotation, and how far it was held
back is told.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ecorche.base.names import suggestion
from ecorche.base.rotations import (
    inverse_xyzw,
    matrix_from_xyzw,
    multiply_xyzw,
    normalise,
    rotate_xyzw,
    rotation_vector_from_xyzw,
)
from ecorche.errors import SkeletonError
from ecorche.skeleton.default_pose import default_from_bind
from ecorche.skeleton.enforce_limits import enforce_limits, judged_against, since_default, turned_local
from ecorche.skeleton.joints import IDENTITY, Joint
from ecorche.skeleton.motion import held
from ecorche.skeleton.skeleton import Skeleton, world_from_local
from ecorche.skeleton.turns import turns_from_xyzw, xyzw_from_turns

Floats = npt.NDArray[np.float64]


class Posed(NamedTuple):
    """A pose after a joint was turned.

    Attributes:
        local: ``parent_from_joint``, shape (joints, 4, 4).
        held_degrees: By how far the joint was held back at its limits; zero where it was not.
    """

    local: Floats
    held_degrees: float


@dataclass(frozen=True)
class PosedJoint:
    """How one joint stands in a pose.

    Attributes:
        joint, canonical: The rig's name, and the H-Anim name if it has one.
        model: Name of its joint model; None where it has none.
        parameters: The model's own angles by name [degrees].
        turns: Angles about left, up and forward [degrees], see `turns`.
        beyond_degrees: How far it would have to be turned back to be within its limits.
    """

    joint: str
    canonical: str | None
    model: str | None
    parameters: Mapping[str, float]
    turns: tuple[float, float, float]
    beyond_degrees: float


@dataclass(frozen=True, eq=False)
class PosableJoints:
    """The joints of one skeleton with their models, ready to be posed.

    Attributes:
        skeleton: The joints.
        canonical_names: Of each joint its H-Anim name, or one its model goes by, else None.
        models: Joint models by these names.
    """

    skeleton: Skeleton
    canonical_names: Sequence[str | None]
    models: Mapping[str, Joint]

    @cached_property
    def above(self) -> list[int | None]:
        """The joint each one is judged against, None for one that places the whole body."""
        return judged_against(self.skeleton, self.canonical_names)

    @cached_property
    def default_xyzw(self) -> Floats:
        """What turns each bone from bind to the default pose, in the world, (joints, 4)."""
        return default_from_bind(self.skeleton, self.canonical_names)

    def number(self, joint: str) -> int:
        """The number of the joint of that name; an unknown one is refused with the nearest."""
        return self.skeleton.index(joint)

    def model(self, joint: int) -> Joint | None:
        """The model that limits a joint, if any does."""
        name = self.canonical_names[joint]
        return None if name is None or self.above[joint] is None else self.models.get(name)

    def bases(self, local: Floats) -> Floats:
        """How what each joint is judged against is turned in the world, xyzw (joints, 4)."""
        turned = self._turned(local)
        return np.stack([np.array(IDENTITY) if a is None else turned[a] for a in self.above])

    def rotations(self, local: Floats) -> Floats:
        """The rotation of each joint as its model understands it, xyzw (joints, 4)."""
        return multiply_xyzw(inverse_xyzw(self.bases(local)), self._turned(local))

    def tell(self, local: Floats) -> tuple[PosedJoint, ...]:
        """How every joint stands in a pose of local matrices (joints, 4, 4)."""
        rotations = self.rotations(local)
        return tuple(self._told(joint, rotations[joint]) for joint in range(len(rotations)))

    def tell_one(self, local: Floats, joint: str) -> PosedJoint:
        """How one joint stands in a pose of local matrices (joints, 4, 4)."""
        number = self.number(joint)
        return self._told(number, self.rotations(local)[number])

    def _told(self, joint: int, rotation: Floats) -> PosedJoint:
        model = self.model(joint)
        parameters: dict[str, float] = {}
        beyond = 0.0
        if model is not None:
            angles = np.degrees(model.parameters(rotation))
            parameters = dict(zip(model.parameter_names, angles.tolist(), strict=True))
            beyond = _degrees_between(rotation, model.clamp(rotation)[0])
        left, up, forward = turns_from_xyzw(rotation).tolist()
        return PosedJoint(
            joint=self.skeleton.names[joint],
            canonical=self.canonical_names[joint],
            model=None if model is None else model.model,
            parameters=parameters,
            turns=(left, up, forward),
            beyond_degrees=beyond,
        )

    def with_rotation(
        self, local: Floats, joint: str, rotation_xyzw: npt.ArrayLike, *, limits: bool = True
    ) -> Posed:
        """The pose with one joint at a rotation, as its model understands it; all below goes along."""
        number = self.number(joint)
        wanted = np.asarray(rotation_xyzw, np.float64)
        if wanted.shape != (4,) or not np.isfinite(wanted).all() or not np.linalg.norm(wanted) > 1e-9:
            raise SkeletonError(
                f"the rotation {wanted.tolist()} is no quaternion", where=joint, remedy="Give x, y, z and w"
            )
        wanted = normalise(wanted)
        model = self.model(number)
        kept = wanted if model is None or not limits else model.clamp(wanted)[0]
        base, now = self.bases(local)[number], self.rotations(local)[number]
        turn = multiply_xyzw(multiply_xyzw(base, multiply_xyzw(kept, inverse_xyzw(now))), inverse_xyzw(base))
        parent = self.skeleton.parents[number]
        above = np.eye(3) if parent < 0 else world_from_local(self.skeleton.parents, local)[parent, :3, :3]
        posed = np.array(local, np.float64)
        posed[number, :3, :3] = turned_local(posed[number, :3, :3], above, turn)
        return Posed(posed, _degrees_between(wanted, kept))

    def with_parameters(
        self, local: Floats, joint: str, degrees: Mapping[str, float], *, limits: bool = True
    ) -> Posed:
        """The pose with some of a joint's own angles [degrees] at these values, the others as they are."""
        number = self.number(joint)
        model = self.model(number)
        if model is None:
            raise SkeletonError(
                "it has no joint model, so no angles of its own",
                where=joint,
                remedy="Give it a model, or turn it about left, up and forward",
            )
        now = self.rotations(local)[number]
        angles = dict(zip(model.parameter_names, model.parameters(now).tolist(), strict=True))
        for name, value in degrees.items():
            if name not in angles:
                raise SkeletonError(
                    f"a {model.model} joint has no angle {name!r}",
                    where=joint,
                    remedy=suggestion(name, model.parameter_names),
                )
            angles[name] = float(np.radians(value))
        return self.with_rotation(local, joint, model.turned_to(now, list(angles.values())), limits=limits)

    def with_turns(
        self, local: Floats, joint: str, degrees: Sequence[float], *, limits: bool = True
    ) -> Posed:
        """The pose with a joint at turns about left, up and forward [degrees], see `turns`."""
        return self.with_rotation(local, joint, xyzw_from_turns(list(degrees)), limits=limits)

    def turned(self, local: Floats, joint: str, turn_xyzw: npt.ArrayLike, *, limits: bool = True) -> Posed:
        """The pose with a joint turned from where it is, about axes of the world, xyzw (4,)."""
        number = self.number(joint)
        base, now = self.bases(local)[number], self.rotations(local)[number]
        turn = multiply_xyzw(multiply_xyzw(inverse_xyzw(base), turn_xyzw), base)
        return self.with_rotation(local, joint, multiply_xyzw(turn, now), limits=limits)

    def within_limits(self, local: Floats) -> Posed:
        """The pose with every joint within its limits, and by how far the worst was beyond."""
        kept, report = enforce_limits(held(self.skeleton, local), self.canonical_names, self.models)
        return Posed(kept.local[0], max((row.worst_degrees for row in report.rows), default=0.0))

    def default_pose(self) -> Floats:
        """The pose in which all rotations are zero, ``parent_from_joint`` (joints, 4, 4)."""
        skeleton = self.skeleton
        linear = matrix_from_xyzw(self.default_xyzw) @ skeleton.bind_world[:, :3, :3]
        local = skeleton.bind_local.copy()
        for joint, parent in enumerate(skeleton.parents):
            above = np.eye(3) if parent < 0 else linear[parent]
            local[joint, :3, :3] = np.linalg.inv(above) @ linear[joint]
        return local

    def segments(self, joint: int) -> tuple[Floats, Floats]:
        """Directions, in the default pose, of what the joint hangs on and of what hangs on it, (3,) each.

        Zero where there is none: above a root, and where two joints are in one place.
        """
        heads, tips = self.skeleton.bind_world[:, :3, 3], self.skeleton.tail_positions()
        base = self.above[joint]
        above = np.zeros(3)
        if base is not None:
            above = rotate_xyzw(self.default_xyzw[base], normalise(heads[joint] - heads[base]))
        below = rotate_xyzw(self.default_xyzw[joint], normalise(tips[joint] - heads[joint]))
        return above, below

    def bone_length(self, joint: int) -> float:
        """From the joint to its bone's tip at bind [m], else from what it hangs on; never zero."""
        heads, tips = self.skeleton.bind_world[:, :3, 3], self.skeleton.tail_positions()
        parent = self.skeleton.parents[joint]
        spread = float(np.ptp(heads, axis=0).max()) if len(heads) > 1 else 1.0
        lengths = [np.linalg.norm(tips[joint] - heads[joint])]
        lengths += [np.linalg.norm(heads[joint] - heads[parent])] if parent >= 0 else []
        return next((float(x) for x in lengths if x > 1e-3 * spread), 0.05 * spread or 1.0)

    def _turned(self, local: Floats) -> Floats:
        world = world_from_local(self.skeleton.parents, local)
        return since_default(self.skeleton, world, self.default_xyzw)


def _degrees_between(a: Floats, b: Floats) -> float:
    """The angle [degrees] from one rotation to another; exactly zero where they are the same bit for bit."""
    if (a == b).all():
        return 0.0
    return float(np.degrees(np.linalg.norm(rotation_vector_from_xyzw(multiply_xyzw(b, inverse_xyzw(a))))))
