"""`--model`, `--coordinates`, `--activations`: what OpenSim or MuJoCo have solved already, on a character."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import typer

from ecorche.errors import EcorcheError

if TYPE_CHECKING:
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
    model: Path | None,
    coordinates: Path | None,
    activations: Path | None,
    *,
    without_muscles: bool = False,
) -> Moves:
    """A motion and an activation from files and clips, or a model's results in their place."""
    from ecorche.cli.activation import activation_source
    from ecorche.cli.subject import clip_note, subject_motion

    said = {"--motion": motion, "--clip": clip, "--activation": activation if activations else None}
    results = model_results(model, coordinates, activations, subject, said)
    source = None if without_muscles else activation_source(activation, subject)
    if results is None:
        chosen = subject_motion(subject.character, motion, clip)
        return Moves(chosen, None, source, tuple(clip_note(subject.character, chosen, clip)))
    if results.activation is not None and not without_muscles:
        source = results.activation
    return Moves(results.motion, results.mapping, source, results.notes)


def model_results(
    model: Path | None,
    coordinates: Path | None,
    activations: Path | None,
    subject: Subject,
    said_too: Mapping[str, object],
    *,
    others: Literal["rig", "rest"] = "rig",
) -> ModelResults | None:
    """Results that were asked for; None where none were.

    ``said_too`` are options that say the same. Muscles that the model has not do what the rig says, or rest.
    """
    if model is None:
        for option, given in (("--coordinates", coordinates), ("--activations", activations)):
            if given is not None:
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
        return ModelResults(motion, mapping, None, notes)
    source, told = _activation(activations, {m.name: m.max_force for m in read.muscles}, subject, others)
    return ModelResults(motion, mapping, source, (*notes, *told))


def _activation(
    path: Path, strength: dict[str, float], subject: Subject, others: Literal["rig", "rest"]
) -> tuple[ActivationSource, tuple[str, ...]]:
    """Activations of a model's muscles as those of a rig's."""
    from ecorche.base.names import suggestion
    from ecorche.biomech.muscle_map import map_muscles
    from ecorche.body.muscles import rig_activation
    from ecorche.cli.activation import all_muscles
    from ecorche.io.activation import read_activation
    from ecorche.muscles.activation import Constant, Curves
    from ecorche.muscles.keyed_activation import KeyedActivation

    if subject.rig is None or subject.rig.spec.muscles.count == 0:
        raise EcorcheError(
            "there are no muscles to activate",
            where="--activations",
            remedy="Make a rig first: ecorche rig CHARACTER, and give the .ecorche file",
        )
    given = read_activation(path)
    unknown = [name for name in given if name not in strength]
    if unknown:
        raise EcorcheError(
            f"the model has no muscle {unknown[0]!r}", where=path, remedy=suggestion(unknown[0], strength)
        )
    muscles = all_muscles(subject)
    found = map_muscles(
        [(m.name, m.muscle) for m in muscles], list(given), [strength[name] for name in given]
    )
    if not found.matched.any():
        raise EcorcheError(
            "none of its muscles is one of the rig's",
            where=path,
            remedy="Give a rig with named muscles: ecorche rig CHARACTER --muscles template",
        )
    import numpy as np

    times = np.unique(np.concatenate([when for when, _ in given.values()]))
    active = np.clip(found.activation(Curves(list(given.values()), "linear").at(times)), 0.0, 1.0)
    curves = {name: (times, active[:, k]) for k, name in enumerate(found.rig) if found.matched[k]}
    rest = Constant(np.zeros(len(muscles)))
    alone = rest if others == "rest" else rig_activation(subject.character, subject.rig, muscles)
    return KeyedActivation(muscles, curves, alone), found.notes(
        "rest" if others == "rest" else "follow the joints"
    )
