"""`--model`, `--coordinates`, `--activations`, `--muscle-map`: results of a model, on a character."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import typer

from ecorche.errors import EcorcheError

if TYPE_CHECKING:
    from ecorche.biomech.model import MusculoskeletalModel
    from ecorche.biomech.muscles_by_place import Nearness
    from ecorche.cli.subject import Subject
    from ecorche.muscles.activation import ActivationSource
    from ecorche.skeleton.motion import Motion

MODEL: Any = typer.Option(
    None, help="A musculoskeletal model (.osim, MJCF) whose finished results move the character."
)
COORDINATES: Any = typer.Option(None, help="With --model: its coordinates over time (.mot, .sto).")
ACTIVATIONS: Any = typer.Option(
    None, help="With --model: activations of its muscles (.sto, .csv), put on those of the rig."
)
MUSCLE_MAP: Any = typer.Option(
    None, help="With activations: a CSV with muscle,model that says whose activation a muscle shows."
)


class GivenResults(NamedTuple):
    """The files of the four options above; None where one was not given."""

    model: Path | None
    coordinates: Path | None
    activations: Path | None
    muscle_map: Path | None = None


class ModelResults(NamedTuple):
    """A model's results, ready for a character.

    Attributes:
        motion: Of the model's skeleton.
        mapping: Canonical names of its joints, where they are not recognised.
        activation: Of the rig's muscles; None where none was given.
        notes: What a person should know.
    """

    motion: Motion
    mapping: dict[str, str] | None
    activation: ActivationSource | None
    notes: tuple[str, ...]


class Moves(NamedTuple):
    """How a character moves and how active its muscles are, by whatever a person said.

    Attributes:
        motion: None for the character's baked frames or bind.
        mapping: Canonical names of the motion's joints, where they are not recognised.
        activation: None where the rig's own shall be taken.
        notes: What a person should know.
    """

    motion: Motion | None
    mapping: dict[str, str] | None
    activation: ActivationSource | None
    notes: tuple[str, ...]


def what_moves(
    subject: Subject,
    motion: Path | None,
    clip: str | None,
    activation: str | None,
    given: GivenResults,
    *,
    without_muscles: bool = False,
) -> Moves:
    """A motion and an activation from files and clips, or a model's results in their place."""
    from ecorche.cli.activation import activation_source
    from ecorche.cli.subject import clip_note, subject_motion

    said = {"--motion": motion, "--clip": clip, "--activation": activation if given.activations else None}
    results = model_results(given, subject, said)
    source = None if without_muscles else activation_source(activation, subject)
    if results is None:
        chosen = subject_motion(subject.character, motion, clip)
        return Moves(chosen, None, source, tuple(clip_note(subject.character, chosen, clip)))
    if results.activation is not None and not without_muscles:
        source = results.activation
    return Moves(results.motion, results.mapping, source, results.notes)


def model_results(
    given: GivenResults,
    subject: Subject,
    said_too: Mapping[str, object],
    *,
    others: Literal["rig", "rest"] = "rig",
) -> ModelResults | None:
    """Results that were asked for; None where none were.

    ``said_too`` are options that say the same. Muscles that the model has not do what the rig says, or rest.
    """
    model, coordinates, activations, muscle_map = given
    if model is None:
        for option, said_alone in (
            ("--coordinates", coordinates),
            ("--activations", activations),
            ("--muscle-map", muscle_map),
        ):
            if said_alone is not None:
                raise EcorcheError(
                    "whose they are is not said", where=option, remedy="Give the model: --model FILE"
                )
        return None
    for option, said in said_too.items():
        if said is not None:
            raise EcorcheError(
                "the model's results say that already", where=option, remedy="Leave out this, or --model"
            )
    if coordinates is None:
        raise EcorcheError(
            "how the model moves is not said", where="--model", remedy="Give --coordinates FILE (.mot, .sto)"
        )
    from ecorche.biomech.coordinate_tables import some_poses_from_columns
    from ecorche.biomech.model_motion import body_mapping, model_motion
    from ecorche.biomech.read_model import read_model
    from ecorche.io.opensim_storage import read_table

    read, table = read_model(model), read_table(coordinates)
    poses, notes = some_poses_from_columns(read, table.columns, degrees=table.degrees, where=table.source)
    motion = model_motion(read, table.times, poses, coordinates.stem)
    mapping = body_mapping(motion.skeleton)
    if activations is None:
        if muscle_map is not None:
            raise EcorcheError(
                "there is nothing to put on muscles", where="--muscle-map", remedy="Give --activations FILE"
            )
        return ModelResults(motion, mapping, None, notes)
    span = float(table.times[0]), float(table.times[-1])
    source, told = _activation(activations, span, muscle_map, read, subject, others)
    return ModelResults(motion, mapping, source, (*notes, *told))


def _activation(
    path: Path,
    span: tuple[float, float],
    by_hand: Path | None,
    model: MusculoskeletalModel,
    subject: Subject,
    others: Literal["rig", "rest"],
) -> tuple[ActivationSource, tuple[str, ...]]:
    """Activations of a model's muscles as those of a rig's."""
    from ecorche.biomech.muscle_map import map_muscles, read_muscle_map
    from ecorche.body.muscles import rig_activation
    from ecorche.cli.activation import all_muscles
    from ecorche.cli.recordings import read_model_activation
    from ecorche.muscles.activation import Constant, Curves
    from ecorche.muscles.keyed_activation import KeyedActivation

    if subject.rig is None or subject.rig.spec.muscles.count == 0:
        raise EcorcheError(
            "there are no muscles to activate",
            where="--activations",
            remedy="Make a rig first: ecorche rig CHARACTER, and give the .ecorche file",
        )
    strength = {muscle.name: muscle.max_force for muscle in model.muscles}
    given, about_file = read_model_activation(path, [*strength], *span)
    muscles = all_muscles(subject)
    places, told = _places(model, list(given), subject)
    found = map_muscles(
        [(m.name, m.muscle) for m in muscles],
        list(given),
        [strength[name] for name in given],
        places=places,
        by_hand=None if by_hand is None else read_muscle_map(by_hand),
    )
    if not found.matched.any():
        raise EcorcheError(
            "none of its muscles is one of the rig's",
            where=path,
            remedy="Give a rig with named muscles (ecorche rig CHARACTER --muscles template),"
            " or say whose they are: --muscle-map FILE.csv",
        )
    import numpy as np

    times = np.unique(np.concatenate([when for when, _ in given.values()]))
    # means of shares are shares, but for rounding
    active = np.clip(found.activation(Curves(list(given.values()), "linear").at(times)), 0.0, 1.0)
    curves = {name: (times, active[:, k]) for k, name in enumerate(found.rig) if found.matched[k]}
    rest = Constant(np.zeros(len(muscles)))
    alone = rest if others == "rest" else rig_activation(subject.character, subject.rig, muscles)
    about = found.notes("rest" if others == "rest" else "follow the joints")
    return KeyedActivation(muscles, curves, alone), (*about_file, *about, *told)


def _places(
    model: MusculoskeletalModel, names: Sequence[str], subject: Subject
) -> tuple[Nearness | None, tuple[str, ...]]:
    """How far some of a model's muscles are from the rig's, and what a person should know of it."""
    from ecorche.base.names import listed
    from ecorche.biomech.model_on_character import paths_on_character
    from ecorche.biomech.muscles_by_place import nearness, segments_of
    from ecorche.biomech.surface_muscles import surface_muscles
    from ecorche.body.muscle_courses import muscle_courses
    from ecorche.body.under_skin import skin_of
    from ecorche.skeleton.naming import recognise

    assert subject.rig is not None
    rig, skeleton = subject.rig, subject.character.skeleton
    mapping = rig.spec.skeleton.mapping or None
    try:
        placed = paths_on_character(model, skeleton, mapping)
    except EcorcheError as error:
        return None, (f"muscles were sought by name alone: {error.what}",)
    by_name = {muscle.name: path for muscle, path in zip(model.muscles, placed, strict=True)}
    shown = surface_muscles(placed, skin_of(subject.character, rig)[0])
    told = [f"{int(shown.sum())} of the model's {len(placed)} muscles lie next to the skin"]
    absent = [name for name, path in by_name.items() if path is None]
    if absent:
        told.append(f"{listed(absent, 4)} are on bodies that the character has no joints for")
    column = {muscle.name: k for k, muscle in enumerate(model.muscles)}
    near = nearness(
        muscle_courses(rig, skeleton),
        [by_name[name] for name in names],
        names,
        segments_of(skeleton, recognise(skeleton, mapping)),
        shown[[column[name] for name in names]],
    )
    return near, tuple(told)
