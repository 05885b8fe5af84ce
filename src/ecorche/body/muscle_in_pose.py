"""One muscle in a pose, as a person takes hold of it: its points, its line, its belly, what it bends round.

And back: where a place or direction in a pose is at bind, where edits are made.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecorche.base.names import suggestion
from ecorche.base.rotations import normalise
from ecorche.body.character import Character
from ecorche.body.edit_spindles import one_spindle
from ecorche.body.edited_rig import found_muscle, require_known
from ecorche.body.muscle_specs import scapulae_of
from ecorche.document.files import Rig
from ecorche.errors import EcorcheError
from ecorche.muscles.loft import loft
from ecorche.muscles.loft_frames import bind_axes
from ecorche.muscles.root_curves import root_curves
from ecorche.muscles.scapula import difference_with, with_scapulae
from ecorche.skeleton.kinematics import difference_from_bind

Floats = npt.NDArray[np.float64]

ALONG = np.linspace(0.0, 1.0, 49)
"""Where its line is told."""


@dataclass(frozen=True, eq=False)
class MuscleInPose:
    """One muscle in one pose.

    Attributes:
        points: Origin, via points, insertion [m], shape (points, 3).
        line: The line that its sections are on, from origin to insertion [m], shape (K, 3).
        belly: Where on it the belly is [m], shape (3,).
        outward: Unit, in which it bulges there, shape (3,).
        depth: Half-axis of the section there, outwards, at bind [m].
        length: Of its path [m].
        wrap: Centre of what it bends round [m], shape (3,); None for nothing.
    """

    points: Floats
    line: Floats
    belly: Floats
    outward: Floats
    depth: float
    length: float
    wrap: Floats | None = None


def muscle_in_pose(rig: Rig, character: Character, name: str, local: npt.ArrayLike) -> MuscleInPose:
    """A spindle, or a muscle found in the skin, in a pose.

    Args:
        rig: The rig.
        character: Its character.
        name: The muscle.
        local: ``parent_from_joint`` of the character's joints, (joints, 4, 4).
    """
    require_known(rig, name)
    moved = difference_from_bind(character.skeleton, np.asarray(local, np.float64))
    if name in rig.spec.muscles.named:
        one = one_spindle(rig, character, name)
        frames = one.frames.moved(difference_with(moved, one.scapulae))
        line, _, _ = frames.at(ALONG)
        belly, _, out = frames.at(one.spindles.belly[:, None])
        return MuscleInPose(
            points=frames.path.points,
            line=line[0],
            belly=belly[0, 0],
            outward=out[0, 0],
            depth=float(one.spindles.scale[0] * one.spindles.thickness[0, 0, 3]),
            length=float(frames.path.lengths[0]),
        )
    muscle = found_muscle(rig, character, name)
    curves = root_curves([muscle], character.skeleton.joint_count).moved(moved)
    widest = float(muscle.rings.u[muscle.rings.half_axes.prod(axis=1).argmax()])
    points, _ = curves.at(np.array([0.0, widest, 1.0]))
    turn = moved[muscle.carrier, :3, :3] + np.eye(3)
    wrap = muscle.wrap
    return MuscleInPose(
        points=points[0, [0, 2]],
        line=curves.at(ALONG)[0][0],
        belly=points[0, 1],
        outward=normalise(turn @ bind_axes(muscle, [widest]).out[0]),
        depth=float(np.sqrt(loft(muscle.rings).largest)),
        length=float(curves.lengths[0]),
        wrap=None if wrap is None else _carried(moved[wrap.joint], wrap.centre),
    )


def at_bind(rig: Rig, character: Character, joint: str, place: npt.ArrayLike, local: npt.ArrayLike) -> Floats:
    """Where a place [m] (3,) that moves with a joint, or virtual scapula, in a pose is at bind, (3,)."""
    scapulae = scapulae_of(rig, character.skeleton)
    names = with_scapulae(character.skeleton, scapulae).names
    if joint not in names:
        raise EcorcheError(
            f"there is no joint {joint!r}", where=character.source, remedy=suggestion(joint, names)
        )
    moved = difference_from_bind(character.skeleton, np.asarray(local, np.float64))
    matrix = np.eye(4) + difference_with(moved, scapulae)[names.index(joint)]
    x, y, z = np.asarray(place, np.float64)
    return np.asarray(np.linalg.solve(matrix, np.array([x, y, z, 1.0]))[:3])


def direction_at_bind(
    rig: Rig, character: Character, name: str, direction: npt.ArrayLike, local: npt.ArrayLike
) -> Floats:
    """What a direction (3,) across a spindle's belly in a pose is at bind, (3,)."""
    one = one_spindle(rig, character, name)
    moved = difference_from_bind(character.skeleton, np.asarray(local, np.float64))
    t = one.spindles.belly[:, None]
    axes = []
    for frames in (one.frames.bind, one.frames.moved(difference_with(moved, one.scapulae))):
        _, along, out = (v[0, 0] for v in frames.at(t))
        axes.append(np.stack([out, np.cross(along, out), along]))
    bind, posed = axes
    return np.asarray((posed @ np.asarray(direction, np.float64)) @ bind)


def _carried(moved: Floats, place: Floats) -> Floats:
    return np.asarray(place + (moved[:3, :3] @ place + moved[:3, 3]))
