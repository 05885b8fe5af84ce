"""What a muscle found in the skin bends round, changed: its kind, its radius, its centre, or nothing at all.

Its rings stay where they are at bind; the line they are laid on is another, so that they move otherwise.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from ecorche.base.rotations import normalise
from ecorche.body.character import Character
from ecorche.body.edited_rig import Edited, found_muscle, joint_called, with_found
from ecorche.document.files import Rig
from ecorche.errors import EcorcheError
from ecorche.muscles.extraction.laying import laid
from ecorche.muscles.extraction.redrawn import crossed_joint, space_rings_of
from ecorche.muscles.loft_frames import bind_axes
from ecorche.muscles.lofted import LoftedMuscle, Wrap
from ecorche.muscles.lofted_actions import actions_of
from ecorche.skeleton.skeleton import Skeleton

Floats = npt.NDArray[np.float64]

Shape = Literal["none", "sphere", "cylinder", "ball"]
SHAPES: tuple[Shape, ...] = ("none", "sphere", "cylinder", "ball")
FIRST_RADIUS = 0.6
"""Of a wrap that nobody gave a radius: so many times how far the muscle's middle is from the joint."""


def with_wrap(
    rig: Rig,
    character: Character,
    name: str,
    shape: Shape | None = None,
    *,
    radius: float | None = None,
    centre: npt.ArrayLike | None = None,
    joint: str | None = None,
    other_side: bool = False,
) -> Edited:
    """The rig with another obstacle for a muscle found in the skin; None leaves as it is.

    Args:
        rig: The rig.
        character: Its character.
        name: The muscle.
        shape: A sphere at a hinge, a cylinder along a bone, a ball in its socket, or none.
        radius: [m].
        centre: In the world at bind [m], (3,); of a cylinder a point of its axis.
        joint: The joint it moves with; a new wrap takes the joint that the muscle crosses, a ball the one
        above.
        other_side: Whether the muscle is to pass it on the other side than before.
    """
    muscle = found_muscle(rig, character, name)
    if shape is not None and shape not in SHAPES:
        raise EcorcheError(
            f"there is no wrap {shape!r}", where=name, remedy=f"Choose one of {', '.join(SHAPES)}"
        )
    skeleton = character.skeleton
    wanted = (muscle.wrap.shape if muscle.wrap else "none") if shape is None else shape
    if wanted == "none":
        if radius is not None or centre is not None or joint is not None or other_side:
            raise EcorcheError(
                f"{name!r} bends round nothing", where=name, remedy="Choose a sphere, cylinder or ball first"
            )
        wrap, line = None, f"{name!r} runs straight"
    else:
        wrap = _wrap(muscle, wanted, skeleton)
        if joint is not None:
            wrap = replace(wrap, joint=joint_called(character, joint))
        if radius is not None:
            if not (np.isfinite(radius) and radius > 0.0):
                raise EcorcheError(
                    f"{radius} m is no radius", where=name, remedy="Give one above 0, in metres"
                )
            wrap = replace(wrap, radius=float(radius))
        if centre is not None:
            place = np.asarray(centre, np.float64)
            if place.shape != (3,) or not np.isfinite(place).all():
                raise EcorcheError("its centre is no place", where=name, remedy="Give three finite numbers")
            wrap = replace(wrap, centre=place)
        if other_side:
            wrap = replace(wrap, axis=-wrap.axis)
        line = (
            f"{name!r} bends round a {wanted} of {1e3 * wrap.radius:.0f} mm on {skeleton.names[wrap.joint]!r}"
        )
    changed = replace(muscle, wrap=wrap)
    hinge = skeleton.bind_world[_crossed(muscle, skeleton), :3, 3]
    made = laid(changed, space_rings_of(muscle), hinge)
    if not len(made.rings.u):
        raise EcorcheError(
            "none of its rings would lie on its line any more",
            where=f"muscle {name!r}",
            remedy="Choose a smaller radius, or a centre nearer to where it was",
        )
    lines = [line]
    if (lost := len(muscle.rings.u) - len(made.rings.u)) > 0:
        lines.append(f"{lost} of its {len(muscle.rings.u)} rings are no longer on its line")
    made = replace(made, actions=actions_of(made, skeleton))
    return Edited(with_found(rig, character, made), tuple(lines))


def _crossed(muscle: LoftedMuscle, skeleton: Skeleton) -> int:
    return crossed_joint(muscle.joints, bind_axes(muscle, [muscle.crossing]).points[0], skeleton)


def _wrap(muscle: LoftedMuscle, shape: Literal["sphere", "cylinder", "ball"], skeleton: Skeleton) -> Wrap:
    """The muscle's wrap in another shape, or a first one at the joint it crosses."""
    hinge = _crossed(muscle, skeleton)
    socket = int(skeleton.parents[hinge])
    carrier = socket if shape == "ball" and socket >= 0 else hinge
    held = muscle.wrap
    if held is None:
        head = skeleton.bind_world[hinge, :3, 3].copy()
        middle = bind_axes(muscle, [muscle.crossing])
        away = float(
            np.linalg.norm(middle.points[0] + muscle.rings.centre.mean(axis=0)[0] * middle.out[0] - head)
        )
        axis = np.cross(middle.out[0], middle.along[0])
        held = Wrap("sphere", carrier, head, normalise(axis), max(FIRST_RADIUS * away, 1e-3))
    elif "ball" in (shape, held.shape) and shape != held.shape:
        held = replace(held, joint=carrier)
    if shape == "cylinder" and held.shape != "cylinder":
        # along the bone, on the side the curve passes
        bone = normalise(skeleton.tail_positions()[hinge] - skeleton.bind_world[hinge, :3, 3])
        sense = float(np.sign(bone @ held.axis)) or 1.0
        held = replace(held, axis=sense * bone)
    elif shape != "cylinder" and held.shape == "cylinder":
        middle = bind_axes(muscle, [muscle.crossing])
        held = replace(held, axis=normalise(np.cross(middle.out[0], middle.along[0])))
    return replace(held, shape=shape)
