"""Spindles of a rig edited as a person does by hand: points dragged, curves drawn, sizes typed.

Every edit gives a whole rig, checked, and says what it did. A spindle is a muscle of the template or one
drawn like it (`MuscleSpec`); what applies to muscles found in the skin as well is in `edit_any_muscle`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ecorche.base.names import suggestion
from ecorche.base.transforms import transform_points
from ecorche.body.character import Character
from ecorche.body.edited_rig import Edited, require_known, with_muscles
from ecorche.body.muscle_specs import muscle_specs, muscles_of, scapulae_of
from ecorche.body.place_muscles import rounded
from ecorche.body.spelled_joints import numbers, spot
from ecorche.body.under_skin import skin_of
from ecorche.document.files import Rig
from ecorche.document.muscle_spec import MuscleSpec
from ecorche.document.problems import told_as_document_error
from ecorche.errors import DocumentError, EcorcheError
from ecorche.muscles.muscle import Muscle
from ecorche.muscles.musculature import Musculature, musculature
from ecorche.muscles.path_actions import path_actions
from ecorche.muscles.scapula import with_scapulae
from ecorche.muscles.spindle_controls import moved_sweep, moved_thickness, with_belly

Floats = npt.NDArray[np.float64]

ENDS = {"origin": 0, "insertion": -1}
NEVER_INSIDE = 1e-3
"""A point moved further out of the skin than this is told [m]."""


def spindle_of(rig: Rig, name: str) -> MuscleSpec:
    """A spindle of a rig; a muscle of another kind, or none, is refused."""
    require_known(rig, name)
    if name not in rig.spec.muscles.named:
        raise DocumentError(
            f"{name!r} was found in the skin: it has rings, and neither via points nor curves",
            where=rig.source,
            remedy="Resize it, move its ends or change its wrap instead",
        )
    return rig.spec.muscles.named[name]


def one_spindle(rig: Rig, character: Character, name: str) -> Musculature:
    """One spindle of a rig, compiled by itself: its path, section frames and shape."""
    alone = with_muscles(rig, {name: spindle_of(rig, name)}, {})
    muscles, scapulae = muscles_of(alone, character.skeleton)
    return musculature(muscles, character.skeleton, scapulae, volume=rig.spec.muscles.volume)


def moved_point(
    rig: Rig, character: Character, name: str, number: int, place: npt.ArrayLike, joint: str | None = None
) -> Edited:
    """The rig with a point of a spindle's path elsewhere.

    Args:
        rig: The rig.
        character: Its character.
        name: The muscle.
        number: Of the point: 0 is the origin, the last the insertion; negative counts from there.
        place: Where it shall be, in the world at bind [m], shape (3,).
        joint: The joint, or virtual scapula, it shall move with; None leaves it on its own. An end on another
            joint makes the muscle act on other joints: its actions are then read off its path.
    """
    spec = spindle_of(rig, name)
    row = _row(spec, number, name)
    point = spec.path[row]
    onto = point.joint if joint is None else joint
    at = _local(rig, character, onto, place)
    before = _world(rig, character, point.joint, point.at)
    path = [*spec.path]
    path[row] = point.model_copy(update={"joint": onto, "at": at})
    far = float(np.linalg.norm(np.asarray(place, np.float64) - before))
    line = f"the {_point_name(spec, row)} of {name!r} moved by {1e3 * far:.1f} mm"
    if onto != point.joint:
        line = f"the {_point_name(spec, row)} of {name!r} is on {onto!r} now, {1e3 * far:.1f} mm from before"
    edited = _with(rig, character, name, path=tuple(path))
    lines = [line]
    if onto != point.joint and row in (0, len(path) - 1):
        edited = with_actions_of_path(edited, character, name)
        acts = ", ".join(repr(a.joint) for a in edited.spec.muscles.named[name].actions) or "no joint"
        lines.append(f"it works at {acts} now, by its path")
    return Edited(edited, (*lines, *_told_outside(rig, character, np.asarray(place, np.float64), row)))


def added_via(
    rig: Rig,
    character: Character,
    name: str,
    after: int,
    place: npt.ArrayLike | None = None,
    joint: str | None = None,
) -> Edited:
    """The rig with one more point on a spindle's path.

    Args:
        rig: The rig.
        character: Its character.
        name: The muscle.
        after: The new point follows this one, 0 being the origin.
        place: In the world at bind [m], (3,); None is half-way to the next point.
        joint: What it moves with; None is what the point before it does in the first half of the muscle, and
            what the one after it does in the second.
    """
    spec = spindle_of(rig, name)
    if not 0 <= after < len(spec.path) - 1:
        raise EcorcheError(
            f"no point of {name!r} can follow point {after}",
            where=name,
            remedy=f"Give 0 to {len(spec.path) - 2}: before the insertion",
        )
    first, second = spec.path[after], spec.path[after + 1]
    ends = [_world(rig, character, p.joint, p.at) for p in (first, second)]
    where = np.mean(ends, axis=0) if place is None else np.asarray(place, np.float64)
    if joint is None:
        joint = first.joint if after < (len(spec.path) - 1) / 2 else second.joint
    new = first.model_copy(update={"joint": joint, "at": _local(rig, character, joint, where)})
    path = (*spec.path[: after + 1], new, *spec.path[after + 1 :])
    edited = _with(rig, character, name, path=path)
    told = _told_outside(rig, character, where, after + 1)
    return Edited(edited, (f"{name!r} passes a point on {joint!r}, its number {after + 1}", *told))


def removed_via(rig: Rig, character: Character, name: str, number: int) -> Edited:
    """The rig with a spindle that no longer passes one of its via points; its ends cannot go."""
    spec = spindle_of(rig, name)
    row = _row(spec, number, name)
    if row in (0, len(spec.path) - 1):
        raise EcorcheError(
            f"the {_point_name(spec, row)} of {name!r} cannot be taken out",
            where=name,
            remedy="Move it, or remove the muscle",
        )
    edited = _with(rig, character, name, path=(*spec.path[:row], *spec.path[row + 1 :]))
    return Edited(edited, (f"{name!r} no longer passes its point {row}",))


def moved_thickness_control(
    rig: Rig, character: Character, name: str, half: int, number: int, value: float
) -> Edited:
    """The rig with one control value of a spindle's thickness changed [m]; see `moved_thickness`."""
    spec = spindle_of(rig, name)
    found = moved_thickness(np.array(spec.thickness), spec.belly, half, number, value)
    edited = _with(rig, character, name, thickness=found.values)
    now = 1e3 * found.values[half, number]
    line = f"thickness of {name!r}: value {number} of the {_half_name(half)} half is {now:.1f} mm"
    return Edited(edited, (line, *found.held))


def moved_sweep_control(
    rig: Rig,
    character: Character,
    name: str,
    half: int,
    number: int,
    outwards: float,
    sideways: float,
) -> Edited:
    """The rig with one control offset of a spindle's sweep changed [m]; see `moved_sweep`."""
    spec = spindle_of(rig, name)
    found = moved_sweep(_sweep(spec), spec.belly, half, number, outwards, sideways)
    edited = _with(rig, character, name, sweep=found.values)
    line = (
        f"sweep of {name!r}: offset {number} of the {_half_name(half)} half is"
        f" {1e3 * outwards:.1f} mm outwards, {1e3 * sideways:.1f} mm sideways"
    )
    return Edited(edited, (line,))


def moved_belly(rig: Rig, character: Character, name: str, share: float) -> Edited:
    """The rig with a spindle's belly at another share of its length; see `with_belly`."""
    spec = spindle_of(rig, name)
    thickness, sweep = with_belly(np.array(spec.thickness), _sweep(spec), spec.belly, share)
    edited = _with(rig, character, name, belly=share, thickness=thickness.values, sweep=sweep.values)
    return Edited(
        edited, (f"the belly of {name!r} lies at {100.0 * share:.0f} % of its length", *thickness.held)
    )


def scaled(rig: Rig, character: Character, name: str, scale: float) -> Edited:
    """The rig with a spindle of another scale: half-axis towards the skin over the one across."""
    edited = _with(rig, character, name, scale=scale)
    return Edited(edited, (f"the section of {name!r} is {scale:.2f} times as deep as wide",))


def turned_outward(rig: Rig, character: Character, name: str, outward: npt.ArrayLike | None = None) -> Edited:
    """The rig with a spindle that bulges in another direction.

    Args:
        rig: The rig.
        character: Its character.
        name: The muscle.
        outward: In world axes at bind, of any length; None is towards the nearest skin from its belly.
    """
    one = one_spindle(rig, character, name)
    points, along, _ = one.frames.bind.at(one.spindles.belly[:, None])
    if outward is None:
        skin, _ = skin_of(character, rig)
        direction = np.asarray(skin.depth(points[0])[1][0], np.float64)
    else:
        direction = np.asarray(outward, np.float64)
    if direction.shape != (3,) or not np.isfinite(direction).all() or not np.linalg.norm(direction) > 0.0:
        raise EcorcheError(
            f"{direction.tolist()} is no direction", where=name, remedy="Give three numbers, such as 0, 0, 1"
        )
    direction = direction / np.linalg.norm(direction)
    if np.linalg.norm(np.cross(direction, along[0, 0])) < 0.05:
        raise EcorcheError(
            f"{name!r} runs that way: it bulges across its path",
            where=name,
            remedy="Choose a direction across it",
        )
    edited = _with(rig, character, name, outward=numbers(direction))
    return Edited(edited, (f"{name!r} bulges towards {', '.join(f'{v:.2f}' for v in direction)}",))


def with_actions_of_path(rig: Rig, character: Character, name: str) -> Rig:
    """The rig with what a spindle does to joints read off its path."""
    one = one_spindle(rig, character, name)
    found = path_actions(one.frames.paths, 0, character.skeleton, one.scapulae)
    acting = [{"joint": a.joint, "axis": a.axis, "degrees": a.degrees, "weight": a.weight} for a in found]
    return _with(rig, character, name, actions=tuple(acting))


def with_spindle(rig: Rig, character: Character, muscle: Muscle) -> Rig:
    """The rig with a spindle, new, or in the place of the one of its name; rounded like all that it holds."""
    scapulae = scapulae_of(rig, character.skeleton)
    (spec,) = muscle_specs([muscle], scapulae, character.skeleton)[0].values()
    held = rig.spec.muscles
    with told_as_document_error(rig.source):
        new = MuscleSpec.model_validate(rounded(spec.model_dump()))
    edited = with_muscles(rig, {**held.named, muscle.name: new}, held.lofted)
    one_spindle(edited, character, muscle.name)  # what no spindle can be is refused here
    return edited


def _with(rig: Rig, character: Character, name: str, **changes: Any) -> Rig:
    """The rig with fields of one spindle changed, whole and checked: as a file, and as a shape."""
    spec = rig.spec.muscles
    plain = {key: _plain(value) for key, value in changes.items()}
    values = spec.named[name].model_dump() | rounded(plain)
    if plain.get("sweep") is not None and not np.any(np.array(plain["sweep"])):
        values["sweep"] = None
    with told_as_document_error(spot(rig, ("muscles", "named", name))):
        changed = MuscleSpec.model_validate(values)
    edited = with_muscles(rig, {**spec.named, name: changed}, spec.lofted)
    one_spindle(edited, character, name)
    return edited


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return _tuples(value.tolist())
    if isinstance(value, tuple) and value and hasattr(value[0], "model_dump"):
        return tuple(entry.model_dump() for entry in value)
    return value


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def _sweep(spec: MuscleSpec) -> Floats:
    return np.zeros((2, 4, 2)) if spec.sweep is None else np.array(spec.sweep, np.float64)


def _row(spec: MuscleSpec, number: int, name: str) -> int:
    count = len(spec.path)
    if not -count <= number < count:
        raise EcorcheError(
            f"{name!r} has no point {number}", where=name, remedy=f"Choose 0 to {count - 1}, origin first"
        )
    return number % count


def _point_name(spec: MuscleSpec, row: int) -> str:
    return "origin" if row == 0 else "insertion" if row == len(spec.path) - 1 else f"via point {row}"


def _half_name(half: int) -> str:
    return "insertion's" if half else "origin's"


def _joint_frame(rig: Rig, character: Character, joint: str) -> tuple[Floats, Floats]:
    """``world_from_joint`` at bind of a joint or virtual scapula, and its inverse, (4, 4) each."""
    extended = with_scapulae(character.skeleton, scapulae_of(rig, character.skeleton))
    if joint not in extended.names:
        raise EcorcheError(
            f"there is no joint {joint!r}", where=character.source, remedy=suggestion(joint, extended.names)
        )
    number = extended.names.index(joint)
    return extended.bind_world[number], extended.bind_inverse[number]


def _local(rig: Rig, character: Character, joint: str, place: npt.ArrayLike) -> tuple[float, float, float]:
    """A place in the world at bind [m], in a joint's frame."""
    where = np.asarray(place, np.float64)
    if where.shape != (3,) or not np.isfinite(where).all():
        raise EcorcheError(
            f"{np.asarray(place).tolist()} is no place", remedy="Give three finite numbers, in metres"
        )
    x, y, z = numbers(transform_points(_joint_frame(rig, character, joint)[1], where[None])[0])
    return x, y, z


def _world(rig: Rig, character: Character, joint: str, at: Sequence[float]) -> Floats:
    """A place in a joint's frame, in the world at bind [m], (3,)."""
    frame = _joint_frame(rig, character, joint)[0]
    return np.asarray(transform_points(frame, np.array([at], np.float64))[0])


def _told_outside(rig: Rig, character: Character, place: Floats, row: int) -> list[str]:
    """A sentence where a point of a path lies outside the skin."""
    skin, _ = skin_of(character, rig)
    depth = float(skin.depth(place[None])[0][0])
    return [f"point {row} lies {-1e3 * depth:.0f} mm outside the skin"] if depth < -NEVER_INSIDE else []
