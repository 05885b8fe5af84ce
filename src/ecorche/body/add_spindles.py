"""More spindles for a rig: single muscles of the anatomical template, and one between two points of the body.

Both are fitted under the character's skin as the whole template is, and stand beside the muscles that are
there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ecorche.base.names import listed, suggestion
from ecorche.base.rotations import normalise
from ecorche.body.character import Character
from ecorche.body.edit_spindles import one_spindle, with_actions_of_path, with_spindle
from ecorche.body.edited_rig import Edited, require_free, with_muscles
from ecorche.body.fit_for_muscles import times_a_person
from ecorche.body.muscle_specs import scapulae_of
from ecorche.body.place_muscles import bind_points, template_placement
from ecorche.body.place_muscles import with_muscles as with_placed_muscles
from ecorche.body.under_skin import skin_of
from ecorche.document.files import Rig
from ecorche.document.spec import RigSpec
from ecorche.errors import EcorcheError, SkeletonError
from ecorche.muscles.extraction.redrawn import on_bone
from ecorche.muscles.fit import LIMB, fit_to_skin
from ecorche.muscles.muscle import Muscle, Reach
from ecorche.muscles.scapula import with_scapulae
from ecorche.muscles.spindle import spindle_from_numbers
from ecorche.muscles.template.place import TENDON
from ecorche.skeleton.naming.recognise import recognise

Floats = npt.NDArray[np.float64]

HALF_WIDTH = 0.085
"""Of a belly, as a share of the muscle's length, before the room under the skin is asked."""
FLATNESS = 0.75
"""Half-axis towards the skin over the one across."""
ON_SKIN = 0.003
"""A point less deep than this lies on the skin: the muscle is attached below it [m]."""
BELOW = 0.015
"""How far below, at most, on a person [m]; half of the way to the bone where that is less."""
SKIN_SHARE = 0.05
"""A joint that carries less than this share of the skin over a muscle does not belong to its influence."""
STRENGTH = 3e5
"""Force by the area of the thickest section [N/m²], within what physiologists measure."""
GUESSED = "our estimate, by the area of its thickest section"
TOLD = 6


@dataclass(frozen=True)
class End:
    """Where a muscle is attached.

    Attributes:
        place: In the world at bind [m]; on the skin, or below it.
        joint: The joint, or virtual scapula, it moves with; None is the one that carries most of the skin
        there.
    """

    place: tuple[float, float, float]
    joint: str | None = None


def template_names(rig: Rig, character: Character) -> tuple[str, ...]:
    """The template's muscles that this character can have and the rig does not; none for no humanoid."""
    naming = recognise(character.skeleton, rig.spec.skeleton.mapping or None)
    try:
        placement = template_placement(character, naming)
    except SkeletonError:
        return ()
    there = {*rig.spec.muscles.named, *rig.spec.muscles.lofted, *rig.spec.muscles.lines}
    return tuple(muscle.name for muscle in placement.muscles if muscle.name not in there)


def added_from_template(rig: Rig, character: Character, names: Sequence[str]) -> Edited:
    """The rig with some more muscles of the anatomical template, fitted as with all others of it.

    Args:
        rig: The rig; what it has stays as it is.
        character: Its character.
        names: Of single muscles, such as ``"deltoid, middle, right"``.
    """
    for name in names:
        require_free(rig, name)
    naming = recognise(character.skeleton, rig.spec.skeleton.mapping or None)
    placement = template_placement(character, naming)
    known = {muscle.name for muscle in placement.muscles}
    for name in names:
        if name in known:
            continue
        why = next((left.reason for left in placement.left_out if left.name == name), None)
        raise EcorcheError(
            f"the template has no muscle {name!r}" if why is None else f"{name!r} has no place here: {why}",
            where="the anatomical template",
            remedy=suggestion(name, sorted(known)) if why is None else "Choose another",
        )
    # all of them, since those of a limb share its room
    bare = replace(rig, spec=rig.spec.model_copy(update={"notes": ()}))
    whole, _ = with_placed_muscles(with_muscles(bare, {}, {}), character, placement, gains={})
    fitted = whole.spec.muscles.named
    if lost := [name for name in names if name not in fitted]:
        raise EcorcheError(
            f"{lost[0]!r} has no skin round it",
            where=character.source or character.name,
            remedy="Choose a muscle of a part that has skin",
        )
    blades = whole.spec.skeleton.virtual_scapulae
    needed = {point.joint for name in names for point in fitted[name].path} & blades.keys()
    held = rig.spec.skeleton.virtual_scapulae
    new = {name: blades[name] for name in blades if name in needed and name not in held}
    spec = rig.spec
    if new:
        spec = spec.model_copy(
            update={"skeleton": spec.skeleton.model_copy(update={"virtual_scapulae": {**held, **new}})}
        )
        spec = RigSpec.model_validate(spec.model_dump())
    made = replace(rig, spec=spec)
    named = {**spec.muscles.named, **{name: fitted[name] for name in names}}
    lines = [f"added from the template: {listed([*names], TOLD)}"]
    if new:
        lines.append(f"virtual shoulder blades added: {listed([*new], TOLD)}")
    return Edited(with_muscles(made, named, spec.muscles.lofted), tuple(lines))


def added_between(rig: Rig, character: Character, name: str, origin: End, insertion: End) -> Edited:
    """The rig with one more spindle from point to point, as thick as the room under the skin suggests.

    It bulges towards the skin, may move the skin over it, and works at the joints it crosses.

    Args:
        rig: The rig.
        character: Its character.
        name: Of the new muscle.
        origin, insertion: Where it is attached, on two joints.
    """
    require_free(rig, name)
    scapulae = scapulae_of(rig, character.skeleton)
    extended = with_scapulae(character.skeleton, scapulae)
    skin, tissue = skin_of(character, rig)
    body = character.body(rig.spec.body)
    points = np.asarray(bind_points(character, body), np.float64)
    assert body.weights is not None  # a rig's body is skinned
    ends = [np.asarray(end.place, np.float64) for end in (origin, insertion)]
    joints = []
    for end, place in zip((origin, insertion), ends, strict=True):
        if place.shape != (3,) or not np.isfinite(place).all():
            raise EcorcheError(
                "an end is no place", where=name, remedy="Give three finite numbers, in metres"
            )
        called = end.joint or character.skeleton.names[_carrier(points, *body.weights.padded(), place)]
        if called not in extended.names:
            raise EcorcheError(
                f"there is no joint {called!r}", where=name, remedy=suggestion(called, extended.names)
            )
        joints.append(extended.names.index(called))
    if joints[0] == joints[1]:
        raise EcorcheError(
            f"both ends move with {extended.names[joints[0]]!r}: it would never change its length",
            where=name,
            remedy="Choose a point on the other side of a joint, or name another joint for one end",
        )
    person = times_a_person(
        character.skeleton, recognise(character.skeleton, rig.spec.skeleton.mapping or None)
    )
    depth, outward = skin.depth(np.array(ends))
    lines, placed = [], []
    for word, place, joint, deep in zip(("origin", "insertion"), ends, joints, depth, strict=True):
        below = place
        if deep < ON_SKIN * person:
            bone = on_bone(place, joint, extended)
            way = bone - place
            far = float(np.linalg.norm(way))
            step = min(0.5 * far, BELOW * person)
            below = place + way * (step / max(far, 1e-12))
            lines.append(f"its {word} lies {1e3 * step:.0f} mm below the skin, towards the bone")
        placed.append(below)
    positions = np.array(placed)
    length = float(np.linalg.norm(positions[1] - positions[0]))
    if length < 1e-3 * person:
        raise EcorcheError("both ends lie in one place", where=name, remedy="Choose two points apart")
    shape = spindle_from_numbers(
        length,
        HALF_WIDTH * length,
        scale=FLATNESS,
        tendon_origin=TENDON * HALF_WIDTH * length,
        tendon_insertion=TENDON * HALF_WIDTH * length,
    )
    middle = skin.depth(positions.mean(axis=0)[None])[1]
    bare = Muscle(
        name=name,
        muscle=name,
        group="",
        joints=(joints[0], joints[1]),
        positions=positions,
        outward=_across(np.concatenate([outward, middle]), positions[1] - positions[0]),
        thickness=shape.thickness[0],
        sweep=shape.sweep[0],
        belly=0.5,
        scale=FLATNESS,
    )
    extent = float(np.linalg.norm(np.ptp(points, axis=0)))
    if skin.depth(positions.mean(axis=0)[None])[0][0] < -0.5 * LIMB * extent:
        raise EcorcheError(
            "it would lie outside the skin", where=name, remedy="Choose points with flesh between them"
        )
    fitted, report = fit_to_skin(
        [bare], extended, points, body.mesh.triangles(), tissue=tissue, extent=extent
    )
    muscle = replace(fitted[0], max_force=STRENGTH * _thickest(fitted[0]), force_source=GUESSED)
    made = with_spindle(rig, character, muscle)
    reach = _skin_over(made, character, name, points)
    made = with_spindle(made, character, replace(muscle, reach=Reach(joints=reach)))
    made = with_actions_of_path(made, character, name)
    spec = made.spec.muscles.named[name]
    half = spec.thickness[0][3]
    acts = ", ".join(repr(action.joint) for action in spec.actions) or "no joint"
    first = (
        f"{name!r} runs from {spec.path[0].joint!r} to {spec.path[-1].joint!r}, {1e3 * length:.0f} mm,"
        f" {2e3 * half:.0f} mm wide and {2e3 * half * spec.scale:.0f} mm thick; it works at {acts}"
    )
    return Edited(made, (first, *lines, *report.notes))


def _thickest(muscle: Muscle) -> float:
    """Area of its thickest section [m²]."""
    return float(np.pi * muscle.scale * muscle.thickness.max() ** 2)


def _carrier(
    points: Floats, joints: npt.NDArray[np.integer], shares: npt.NDArray[np.floating], place: Floats
) -> int:
    """The joint that carries most of the skin vertex nearest to a place."""
    near = int(np.argmin(np.sum((points - place) ** 2, axis=1)))
    return int(joints[near, np.argmax(shares[near])])


def _across(directions: Floats, chord: Floats) -> Floats:
    """The mean of directions (n, 3), across a muscle; of any direction across it where they cancel."""
    way = normalise(chord)
    out = directions.sum(axis=0)
    out = out - (out @ way) * way
    if np.linalg.norm(out) > 0.1:
        return normalise(out)
    return normalise(np.cross(way, np.eye(3)[int(np.abs(way).argmin())]))


def _skin_over(rig: Rig, character: Character, name: str, points: Floats) -> tuple[int, ...]:
    """The joints that carry the skin over a spindle, most of it first."""
    body = character.body(rig.spec.body)
    assert body.weights is not None
    joints, shares = body.weights.padded()
    one = one_spindle(rig, character, name)
    t = np.linspace(0.1, 0.9, 17)
    places, _, out = (v[0] for v in one.frames.bind.at(t))
    half = one.spindles.thickness_at(t)[0] * one.spindles.scale
    sweep = one.spindles.sweep_at(t)[0]
    surface = places + (sweep[:, 0] + half)[:, None] * out
    near = [int(np.argmin(np.sum((points - place) ** 2, axis=1))) for place in surface]
    total = np.bincount(joints[near].ravel(), shares[near].ravel(), character.skeleton.joint_count)
    order = np.argsort(-total, kind="stable")
    return tuple(int(j) for j in order if total[j] > SKIN_SHARE * total.sum())
