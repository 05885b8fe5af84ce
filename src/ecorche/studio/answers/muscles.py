"""Answers of the muscle builder: each calls the library, and gives what it made to the document."""

from __future__ import annotations

import base64
import binascii
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ecorche.body import edit_any_muscle, edit_spindles
from ecorche.body.add_mesh_muscle import added_from_mesh
from ecorche.body.add_spindles import End, added_between, added_from_template, template_names
from ecorche.body.drag_found_ends import dragged_end
from ecorche.body.edit_muscles import removed, resized
from ecorche.body.edit_wraps import with_wrap
from ecorche.body.edited_rig import Edited, require_known
from ecorche.body.find_muscles_again import found_again, regions_of_skin
from ecorche.body.lofted_specs import lofted_muscles_of
from ecorche.body.mirror_muscles import mirrored, mirrored_side
from ecorche.body.muscle_in_pose import at_bind, direction_at_bind, muscle_in_pose
from ecorche.body.muscle_over_length import muscle_over_length
from ecorche.body.muscle_specs import scapulae_of
from ecorche.document.lofted_spec import LoftedMuscleSpec
from ecorche.document.muscle_spec import MuscleSpec
from ecorche.errors import EcorcheError, ReadError
from ecorche.muscles.activation import bulge_from_activation
from ecorche.studio.answers.table import Answers, answering
from ecorche.studio.messages import muscles as asking
from ecorche.studio.messages.base import Done, Edit, WithArrays
from ecorche.studio.session import Session

ANSWERS: Answers = {}

NO_SWEEP = ((0.0, 0.0),) * 4


def _muscle(session: Session, name: str) -> MuscleSpec | LoftedMuscleSpec:
    rig = session.document.rig
    require_known(rig, name)
    spec = rig.spec.muscles
    return spec.named[name] if name in spec.named else spec.lofted[name]


def _taken(
    session: Session, asked: Edit, edited: Edited, label: str, names: Sequence[str] = ()
) -> tuple[str, ...]:
    """The edit as the document's next step; what was done, a sentence each."""
    return session.document.edit(edited, label, areas=("muscles",), names=names, gesture=asked.gesture)


def _made(session: Session, asked: Edit, edited: Edited, label: str) -> asking.MadeMuscles:
    """The same, with the names that were not there before, or are other muscles now."""
    before, after = session.document.rig.spec.muscles, edited.rig.spec.muscles
    held = {name: muscle for (*_, name), muscle in before.each()}
    names = [name for (*_, name), muscle in after.each() if held.get(name) != muscle]
    names += [name for name in after.lines if name not in before.lines]
    lines = _taken(session, asked, edited, label, names)
    return asking.MadeMuscles(lines=lines, names=tuple(names))


@answering(ANSWERS, asking.MuscleGet)
def detail(session: Session, asked: asking.MuscleGet) -> asking.MuscleDetail:
    """One muscle in numbers."""
    muscle = _muscle(session, asked.name)
    rig, skeleton = session.document.rig, session.document.character.skeleton
    spindle = wrap = None
    if isinstance(muscle, MuscleSpec):
        spindle = asking.SpindleTold(
            belly=muscle.belly,
            scale=muscle.scale,
            thickness=muscle.thickness,
            sweep=muscle.sweep or (NO_SWEEP, NO_SWEEP),
            neighbourhood=muscle.influence.neighbourhood,
            weighting=muscle.influence.weighting,
            radius=muscle.influence.radius,
            outward=muscle.outward,
        )
    else:
        held = muscle.wrap
        wrap = asking.WrapTold(
            shape="none" if held is None else held.shape,
            joint=None if held is None else held.joint,
            radius=None if held is None else held.radius,
        )
    return asking.MuscleDetail(
        name=asked.name,
        kind="lofted" if spindle is None else "named",
        muscle=muscle.muscle,
        group=muscle.group,
        joints=tuple(point.joint for point in muscle.path),
        max_force=muscle.max_force,
        force_source=muscle.force_source if isinstance(muscle, MuscleSpec) else "",
        largest_bulge=muscle.largest_bulge,
        influence=muscle.influence.joints,
        painted=muscle.influence.painted is not None,
        actions=tuple(
            asking.ActionTold(joint=a.joint, degrees=a.degrees, weight=a.weight) for a in muscle.actions
        ),
        spindle=spindle,
        wrap=wrap,
        rings=len(muscle.rings) if isinstance(muscle, LoftedMuscleSpec) else 0,
        gain=rig.spec.muscles.gains.get(muscle.group, 1.0),
        carriers=(
            *skeleton.names,
            *(blade.name for blade in scapulae_of(rig, skeleton) if spindle is not None),
        ),
    )


@answering(ANSWERS, asking.MusclePlacesGet)
def places(session: Session, asked: asking.MusclePlacesGet) -> WithArrays:
    """One muscle in the pose that the page shows."""
    there = muscle_in_pose(session.document.rig, session.document.character, asked.name, _local(session))
    reply = asking.MusclePlaces(
        name=asked.name,
        points=tuple(_vector(point) for point in there.points),
        belly=_vector(there.belly),
        outward=_vector(there.outward),
        depth=there.depth,
        length=there.length,
        wrap=None if there.wrap is None else _vector(there.wrap),
    )
    return WithArrays(reply, {"line": there.line.astype(np.float32)})


@answering(ANSWERS, asking.VolumeGet)
def volume(session: Session, asked: asking.VolumeGet) -> asking.VolumeTold:
    """A muscle over its length."""
    muscle, document = _muscle(session, asked.name), session.document
    bulge = float(bulge_from_activation(asked.activation, muscle.largest_bulge))
    if not 0 < len(asked.shares) <= 200:
        raise EcorcheError(f"{len(asked.shares)} lengths were asked for", remedy="Ask for 1 to 200")
    rows = muscle_over_length(document.rig, document.character, asked.name, asked.shares, bulge=bulge)
    return asking.VolumeTold(
        length=rows[0].length / rows[0].share,
        rows=tuple(
            asking.AtLengthTold(share=r.share, volume=r.volume, half_axes=r.half_axes, held=r.held)
            for r in rows
        ),
    )


@answering(ANSWERS, asking.MovePoint)
def move_point(session: Session, asked: asking.MovePoint) -> Done:
    """Put a point of a muscle's path elsewhere."""
    muscle, document = _muscle(session, asked.name), session.document
    count = len(muscle.path)
    if not 0 <= asked.number < count:
        raise EcorcheError(f"{asked.name!r} has no point {asked.number}", remedy=f"Choose 0 to {count - 1}")
    joint = asked.joint or muscle.path[asked.number].joint
    to = at_bind(document.rig, document.character, joint, asked.to, _local(session))
    move = edit_spindles.moved_point if isinstance(muscle, MuscleSpec) else dragged_end
    edited = move(document.rig, document.character, asked.name, asked.number, to, asked.joint)
    words = "origin" if asked.number == 0 else "insertion" if asked.number == count - 1 else "via point"
    return Done(lines=_taken(session, asked, edited, f"move the {words} of {asked.name}", [asked.name]))


@answering(ANSWERS, asking.SetJoint)
def set_joint(session: Session, asked: asking.SetJoint) -> Done:
    """Let a point of a muscle's path move with another joint."""
    muscle, document = _muscle(session, asked.name), session.document
    rest = document.character.skeleton.bind_local
    there = muscle_in_pose(document.rig, document.character, asked.name, rest).points
    if not 0 <= asked.number < len(there):
        raise EcorcheError(f"{asked.name!r} has no point {asked.number}", remedy="Choose one it has")
    move = edit_spindles.moved_point if isinstance(muscle, MuscleSpec) else dragged_end
    edited = move(
        document.rig, document.character, asked.name, asked.number, there[asked.number], asked.joint
    )
    label = f"put a point of {asked.name} on {asked.joint}"
    return Done(lines=_taken(session, asked, edited, label, [asked.name]))


@answering(ANSWERS, asking.AddVia)
def add_via(session: Session, asked: asking.AddVia) -> Done:
    """Put a via point half-way after a point."""
    document = session.document
    edited = edit_spindles.added_via(document.rig, document.character, asked.name, asked.after)
    return Done(lines=_taken(session, asked, edited, f"add a via point to {asked.name}", [asked.name]))


@answering(ANSWERS, asking.RemoveVia)
def remove_via(session: Session, asked: asking.RemoveVia) -> Done:
    """Take a via point out."""
    document = session.document
    edited = edit_spindles.removed_via(document.rig, document.character, asked.name, asked.number)
    return Done(lines=_taken(session, asked, edited, f"take a via point out of {asked.name}", [asked.name]))


@answering(ANSWERS, asking.SetThickness)
def set_thickness(session: Session, asked: asking.SetThickness) -> Done:
    """Change one control value of the thickness."""
    document = session.document
    edited = edit_spindles.moved_thickness_control(
        document.rig, document.character, asked.name, asked.half, asked.number, asked.value
    )
    return Done(lines=_taken(session, asked, edited, f"thickness of {asked.name}", [asked.name]))


@answering(ANSWERS, asking.SetSweep)
def set_sweep(session: Session, asked: asking.SetSweep) -> Done:
    """Change one control offset of the sweep."""
    document = session.document
    edited = edit_spindles.moved_sweep_control(
        document.rig,
        document.character,
        asked.name,
        asked.half,
        asked.number,
        asked.outwards,
        asked.sideways,
    )
    return Done(lines=_taken(session, asked, edited, f"sweep of {asked.name}", [asked.name]))


@answering(ANSWERS, asking.SetNumbers)
def set_numbers(session: Session, asked: asking.SetNumbers) -> Done:
    """Change some numbers and words of a muscle, all of them one step."""
    character, rig, name = session.document.character, session.document.rig, asked.name
    require_known(rig, name)
    lines: list[str] = []
    words: list[str] = []

    def take(edited: Edited, word: str) -> None:
        nonlocal rig
        rig = edited.rig
        lines.extend(edited.lines)
        words.append(word)

    if asked.belly is not None:
        take(edit_spindles.moved_belly(rig, character, name, asked.belly), "belly")
    if asked.scale is not None:
        take(edit_spindles.scaled(rig, character, name, asked.scale), "scale")
    if asked.largest_bulge is not None:
        take(edit_any_muscle.with_largest_bulge(rig, name, asked.largest_bulge), "bulge")
    if asked.max_force is not None:
        take(edit_any_muscle.with_max_force(rig, name, asked.max_force), "force")
    if asked.muscle is not None or asked.group is not None:
        told = edit_any_muscle.with_words(rig, name, muscle=asked.muscle, group=asked.group)
        take(told, "group" if asked.group is not None else "muscle")
    if asked.resize is not None:
        take(resized(rig, character, name, asked.resize), "size")
    if not words:
        raise EcorcheError("nothing was to be changed", where=name, remedy="Give a number or a word")
    label = f"{', '.join(words)} of {name}"
    return Done(lines=_taken(session, asked, Edited(rig, tuple(lines)), label, [name]))


@answering(ANSWERS, asking.SetOutward)
def set_outward(session: Session, asked: asking.SetOutward) -> Done:
    """Turn the direction in which a spindle bulges."""
    document = session.document
    towards = asked.towards
    direction = (
        None
        if towards is None
        else direction_at_bind(document.rig, document.character, asked.name, towards, _local(session))
    )
    edited = edit_spindles.turned_outward(document.rig, document.character, asked.name, direction)
    return Done(lines=_taken(session, asked, edited, f"bulge direction of {asked.name}", [asked.name]))


@answering(ANSWERS, asking.SetInfluence)
def set_influence(session: Session, asked: asking.SetInfluence) -> Done:
    """Change whose skin a muscle moves."""
    document = session.document
    edited = edit_any_muscle.with_influence(
        document.rig,
        document.character,
        asked.name,
        joints=asked.joints,
        neighbourhood=asked.neighbourhood,
        weighting=asked.weighting,
        radius=asked.radius,
    )
    return Done(lines=_taken(session, asked, edited, f"influence of {asked.name}", [asked.name]))


@answering(ANSWERS, asking.SetWrap)
def set_wrap(session: Session, asked: asking.SetWrap) -> Done:
    """Change what a muscle found in the skin bends round."""
    document, centre = session.document, None
    if asked.centre is not None:
        found = {m.name: m for m in lofted_muscles_of(document.rig, document.character.skeleton)}
        wrap = found[asked.name].wrap if asked.name in found else None
        if wrap is None:
            raise EcorcheError(f"{asked.name!r} bends round nothing", remedy="Choose a shape first")
        joint = document.character.skeleton.names[wrap.joint]
        centre = at_bind(document.rig, document.character, joint, asked.centre, _local(session))
    edited = with_wrap(
        document.rig,
        document.character,
        asked.name,
        asked.shape,
        radius=asked.radius,
        centre=centre,
        other_side=asked.other_side,
    )
    return Done(lines=_taken(session, asked, edited, f"wrap of {asked.name}", [asked.name]))


@answering(ANSWERS, asking.Rename)
def rename(session: Session, asked: asking.Rename) -> Done:
    """Call a muscle otherwise."""
    edited = edit_any_muscle.renamed(session.document.rig, asked.name, asked.to)
    return Done(lines=_taken(session, asked, edited, f"rename {asked.name}", [asked.name, asked.to]))


@answering(ANSWERS, asking.Duplicate)
def duplicate(session: Session, asked: asking.Duplicate) -> asking.MadeMuscles:
    """A muscle a second time."""
    edited = edit_any_muscle.duplicated(session.document.rig, asked.name)
    return _made(session, asked, edited, f"duplicate {asked.name}")


@answering(ANSWERS, asking.Remove)
def remove(session: Session, asked: asking.Remove) -> Done:
    """Take muscles out."""
    edited = removed(session.document.rig, asked.names)
    what = asked.names[0] if len(asked.names) == 1 else f"{len(asked.names)} muscles"
    return Done(lines=_taken(session, asked, edited, f"remove {what}", asked.names))


@answering(ANSWERS, asking.Mirror)
def mirror(session: Session, asked: asking.Mirror) -> asking.MadeMuscles:
    """Put muscles on the other side as they are on theirs."""
    document = session.document
    if asked.side is not None:
        edited = mirrored_side(document.rig, document.character, asked.side)
        return _made(session, asked, edited, f"mirror the {asked.side} side")
    if not asked.names:
        raise EcorcheError("no muscle was named", remedy="Choose one, or a side")
    edited = mirrored(document.rig, document.character, asked.names)
    what = asked.names[0] if len(asked.names) == 1 else f"{len(asked.names)} muscles"
    return _made(session, asked, edited, f"mirror {what}")


@answering(ANSWERS, asking.TemplateGet)
def template(session: Session, _: asking.TemplateGet) -> asking.ChoicesTold:
    """The template's muscles that this character can have and does not."""
    return asking.ChoicesTold(names=template_names(session.document.rig, session.document.character))


@answering(ANSWERS, asking.RegionsGet)
def regions(session: Session, _: asking.RegionsGet) -> asking.ChoicesTold:
    """The regions of the skin in which muscles can be looked for."""
    return asking.ChoicesTold(names=regions_of_skin(session.document.rig, session.document.character))


@answering(ANSWERS, asking.AddFromTemplate)
def add_template(session: Session, asked: asking.AddFromTemplate) -> asking.MadeMuscles:
    """Add muscles of the anatomical template."""
    edited = added_from_template(session.document.rig, session.document.character, asked.names)
    what = asked.names[0] if len(asked.names) == 1 else f"{len(asked.names)} muscles"
    return _made(session, asked, edited, f"add {what}")


@answering(ANSWERS, asking.AddBetween)
def add_between(session: Session, asked: asking.AddBetween) -> asking.MadeMuscles:
    """Add a spindle between two points."""
    ends = [End(end.place, end.joint) for end in (asked.origin, asked.insertion)]
    edited = added_between(session.document.rig, session.document.character, asked.name, *ends)
    return _made(session, asked, edited, f"add {asked.name}")


@answering(ANSWERS, asking.FindMuscles)
def find(session: Session, asked: asking.FindMuscles) -> asking.MadeMuscles:
    """Find the muscles that show in the skin."""
    edited = found_again(session.document.rig, session.document.character, asked.regions)
    return _made(session, asked, edited, "find muscles in the skin")


@answering(ANSWERS, asking.AddMesh)
def add_mesh(session: Session, asked: asking.AddMesh) -> asking.MadeMuscles:
    """Add a muscle from a surface."""
    from ecorche.io.anatomy_folder import SUFFIXES, bones_of_character, placed_mesh

    name = Path(asked.file)
    if name.suffix.lower() not in SUFFIXES:
        raise ReadError(
            "is no surface that a muscle can be made from",
            where=name.name,
            remedy=f"Give a file of {', '.join(SUFFIXES)}",
        )
    try:
        data = base64.b64decode(asked.data, validate=True)
    except (binascii.Error, ValueError):
        raise ReadError("did not arrive whole", where=name.name, remedy="Try once more") from None
    character = session.document.character
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"muscle{name.suffix.lower()}"
        file.write_bytes(data)
        try:
            mesh = placed_mesh(file, character.up_axis, character.metres_per_unit, name.stem)
        except EcorcheError as error:
            raise ReadError(error.what, where=name.name, remedy=error.remedy) from error
    edited = added_from_mesh(session.document.rig, character, mesh, bones_of_character(character))
    return _made(session, asked, edited, f"add {name.stem}")


def _local(session: Session) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """``parent_from_joint`` of what the page shows, (joints, 4, 4)."""
    moment = session.shown
    return np.asarray(moment.live.motion.local[moment.index], np.float64)


def _vector(values: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> tuple[float, float, float]:
    x, y, z = (float(v) for v in values)
    return x, y, z
